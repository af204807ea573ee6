"""The exercises of the chapter on dot products."""

import itertools
import math

import numpy as np

import attention_book
from attention_book.exercises.building_blocks import in_float32
from attention_book.exercises.model import Case, Example, Exercise, Mistake, Step, prediction

CHAPTER = "01_dot_products"

_rng = np.random.default_rng(1)


def _gentle(*shape):
    return _rng.normal(size=shape).round(3)


# --- dot_product(a, b) ----------------------------------------------------------------------------
def _reference_dot(a, b):
    return math.fsum(float(x) * float(y) for x, y in zip(a, b, strict=True))


def _dot_in_a_loop(a, b):
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total


def _only_the_last_product(a, b):
    for i in range(len(a)):
        total = a[i] * b[i]
    return total


def _only_the_first_product(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
        return total


def _cosine(a, b):
    return a @ b / (np.linalg.norm(a) * np.linalg.norm(b))


_PAIRS = (
    Case((np.array([2.0, -3.0, 0.5]), np.array([1.5, 4.0, -2.0])), "another pair of three numbers",
         "products, summed"),
    Case((_gentle(7), _gentle(7)), "seven numbers each", "products, summed"),
    Case((np.array([1.5]), np.array([-2.5])), "one number each", "products, summed"),
    Case((np.array([1.0, 0, 2, 0, -1]), np.array([0, 3.0, 1, 5, 2])), "vectors at a right angle",
         "products, summed"),
    Case((np.array([3000.0, -250, 125]), np.array([-1000.0, 2000, 875])), "large numbers",
         "products, summed"),
    Case((2.0**-12 * np.array([3.0, 5]), 2.0**12 * np.array([7.0, 2])), "one small, one large",
         "products, summed"),
)

_DOT_PRODUCT = Exercise(
    id="dot_product",
    chapter=CHAPTER,
    title="How far two vectors agree",
    signature="dot_product(a, b)",
    shapes="(d,), (d,) → a number",
    prompt="Write dot_product(a, b): multiply the two vectors feature by feature, and sum. A loop "
           "is welcome.",
    hints=("How many products are there, and how many numbers should come out?",
           "Feature i of one vector meets feature i of the other, and no other feature.",
           "In a loop, the running total starts at 0 before the loop, and is returned after it."),
    example=Example((np.array([1.0, 2.0, 3.0]), np.array([4.0, -5.0, 6.0])), 12),
    reference=_reference_dot,
    cases=_PAIRS,
    naming=(Case((_gentle(7), _gentle(7)), "seven numbers each"),
            Case((_gentle(5), _gentle(5)), "five numbers each"), *_PAIRS[:2]),
    mistakes=(
        Mistake(
            id="elementwise",
            seen="The products are there, one for each feature, but they are not summed.",
            question="How many numbers should say how far two vectors agree?",
            ways=(lambda a, b: a * b, lambda a, b: [x * y for x, y in zip(a, b, strict=True)],
                  lambda a, b: np.einsum("i,i->i", a, b)),
            step="the sum",
        ),
        Mistake(
            id="outer-product",
            seen="Every feature of one vector is multiplied with every feature of the other.",
            question="Which features belong together?",
            ways=(np.outer, lambda a, b: a[:, None] * b, lambda a, b: a[:, None] @ b[None, :],
                  lambda a, b: np.outer(a, b).sum(axis=0), lambda a, b: np.outer(b, a), np.kron),
            step="the products",
        ),
        Mistake(
            id="cosine",
            seen="The lengths of the vectors are divided out, so that only the angle is left.",
            question="If a is doubled, what should happen to the dot product?",
            ways=(_cosine, lambda a, b: (a / math.sqrt((a**2).sum())) @ (b / math.sqrt(b @ b))),
            step="the sum",
        ),
        Mistake(
            id="product-of-sums",
            seen="Each vector is summed first, and then the two sums are multiplied.",
            question="Do [1, −1] and [1, −1] agree? What do your two sums say?",
            ways=(lambda a, b: a.sum() * b.sum(), lambda a, b: np.outer(a, b).sum(),
                  lambda a, b: sum(a) * sum(b)),
            step="the products",
        ),
        Mistake(
            id="mean-not-sum",
            seen="The products are averaged, not summed.",
            question="Twice as many features that agree: twice the agreement, or the same?",
            ways=(lambda a, b: (a * b).mean(), lambda a, b: _dot_in_a_loop(a, b) / len(a)),
            step="the sum",
        ),
        Mistake(
            id="one-product-only",
            seen="Only one of the products is returned: the total is overwritten in each round, or "
                 "returned in the first.",
            question="How often does your loop run before it returns, and what does the total hold "
                     "after the second round?",
            ways=(_only_the_last_product, _only_the_first_product),
            step="the sum",
        ),
        Mistake(
            id="one-vector-only",
            seen="A vector is multiplied with itself; the other one is not used.",
            question="Does your result change when only b changes, and when only a does?",
            ways=(lambda a, b: a @ a, lambda a, b: b @ b,
                  lambda a, b: sum(x * x for x in a), lambda a, b: sum(y * y for y in b)),
            step="the products",
        ),
        Mistake(
            id="added-not-multiplied",
            seen="The features are added to one another, not multiplied.",
            question="If a feature is 0 in one of the vectors, what should it contribute?",
            ways=(lambda a, b: (a + b).sum(), lambda a, b: sum(a) + sum(b), lambda a, b: a + b),
            step="the products",
        ),
    ),
    variants=(lambda a, b: a @ b, _dot_in_a_loop, in_float32(np.dot),
              lambda a, b: np.einsum("i,i->", a, b), lambda a, b: (a * b).sum(),
              lambda a, b: float(sum(a[i] * b[i] for i in range(len(a))))),
    solution=_dot_in_a_loop,
    package=(attention_book.scores,),
)


# --- all_scores(q, k) -----------------------------------------------------------------------------
def _reference_scores(q, k):
    return np.array([[_reference_dot(query, key) for key in k] for query in q])


def _all_scores(q, k):
    return q @ k.T


def _scores_in_loops(q, k):
    scores = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        for j in range(len(k)):
            scores[i, j] = np.dot(q[i], k[j])
    return scores


def _transposed_in_loops(q, k):
    return [[float(query @ key) for query in q] for key in k]


_Q, _K = np.array([[1.0, 0.0], [1.0, 2.0]]), np.array([[1.0, 0.0], [0.0, 1.0], [3.0, 3.0]])
_SCORE_CASES = (
    Case((np.array([[2.0, -1], [0.5, 3]]), np.array([[-1.0, 2], [4, 0.25], [1, 1.5]])),
         "two other queries, three other keys", "each query with each key"),
    Case((_gentle(7, 5), _gentle(11, 5)), "more keys than queries", "each query with each key"),
    Case((_gentle(11, 3), _gentle(2, 3)), "more queries than keys", "each query with each key"),
    Case((_gentle(5, 5), _gentle(5, 5)), "as many queries as keys as features",
         "queries down, keys across"),
    Case((_gentle(1, 3), _gentle(7, 3)), "one query", "each query with each key"),
    Case((_gentle(3, 1), _gentle(2, 1)), "one feature", "each query with each key"),
    Case((np.array([[1000.0, -2000], [250, 3]]), np.array([[-1500.0, 1000], [8, 2], [0, 0]])),
         "large numbers", "each query with each key"),
)
_SCORE_NAMING = (Case((_gentle(7, 5), _gentle(11, 5)), "more keys than queries"),
                 Case((_gentle(5, 5), _gentle(5, 5)), "all sizes alike"),
                 Case((_gentle(5, 3), _gentle(5, 3)), "as many queries as keys"),
                 Case((_gentle(7, 5), _gentle(5, 5)), "as many keys as features"))

_ALL_SCORES = Exercise(
    id="all_scores",
    chapter=CHAPTER,
    title="Every query with every key",
    signature="all_scores(q, k)",
    shapes="(n_query, d), (n_key, d) → (n_query, n_key)",
    prompt="Write all_scores(q, k): the dot product of every query with every key. Queries run "
           "down, keys across.",
    hints=("Row i of the result belongs to query i. What stands in its column j?",
           "Two loops do it, one over the queries and one over the keys.",
           "A matrix product takes rows of the left with columns of the right. What turns the rows "
           "of k into columns?"),
    example=Example((_Q, _K), [[1, 0, 3], [1, 2, 9]]),
    reference=_reference_scores,
    cases=_SCORE_CASES,
    naming=_SCORE_NAMING,
    mistakes=(
        Mistake(
            id="transposed",
            seen="The right numbers, but keys run down and queries across.",
            question="Which row of your result belongs to the first query?",
            ways=(lambda q, k: k @ q.T, lambda q, k: (q @ k.T).T, _transposed_in_loops,
                  lambda q, k: np.einsum("id,jd->ji", q, k)),
            step="queries down, keys across",
        ),
        Mistake(
            id="queries-with-queries",
            seen="The queries are compared with one another; the keys are not used.",
            question="Which line of your function looks at k?",
            ways=(lambda q, k: q @ q.T, lambda q, k: [[float(a @ b) for b in q] for a in q],
                  lambda q, k: np.einsum("id,jd->ij", q, q)),
            step="each query with each key",
        ),
        Mistake(
            id="keys-with-keys",
            seen="The keys are compared with one another; the queries are not used.",
            question="Which line of your function looks at q?",
            ways=(lambda q, k: k @ k.T, lambda q, k: [[float(a @ b) for b in k] for a in k]),
            step="each query with each key",
        ),
        Mistake(
            id="reshape-not-transpose",
            seen="The keys are poured into the wanted shape row by row, which mixes features of "
                 "different keys.",
            question="Does the first column of your reshaped k hold the first key?",
            ways=(lambda q, k: q @ k.reshape(k.shape[1], k.shape[0]),
                  lambda q, k: q @ np.resize(k, (k.shape[1], k.shape[0])),
                  lambda q, k: [[sum(query * np.ravel(k)[j::len(k)]) for j in range(len(k))]
                                for query in q]),
            step="the keys as columns",
        ),
        Mistake(
            id="no-transpose",
            seen="q @ k takes the rows of q with the columns of k, not with its rows.",
            question="What do the columns of k hold: one key each, or one feature of all keys?",
            ways=(lambda q, k: q @ k, lambda q, k: np.einsum("id,dj->ij", q, k),
                  lambda q, k: np.dot(q, k)),
            step="the keys as columns",
        ),
        Mistake(
            id="pairs-only",
            seen="Query i meets key i and no other key.",
            question="How many dot products do 7 queries and 11 keys make?",
            ways=(lambda q, k: (q * k).sum(axis=1), lambda q, k: np.einsum("id,id->i", q, k),
                  lambda q, k: [float(a @ b) for a, b in zip(q, k, strict=True)],
                  lambda q, k: np.diag(q @ k.T)),
            step="each query with each key",
        ),
        Mistake(
            id="elementwise",
            seen="Queries and keys are multiplied feature by feature, and nothing is summed.",
            question="Which axis should have been summed away?",
            ways=(lambda q, k: q * k, lambda q, k: q[:, None, :] * k[None, :, :]),
            step="each query with each key",
        ),
        Mistake(
            id="flattened",
            seen="The right numbers, but in one long row.",
            question="Where in your result does the row of query 1 begin?",
            ways=(lambda q, k: (q @ k.T).ravel(), lambda q, k: (k @ q.T).ravel(),
                  lambda q, k: [float(a @ b) for a in q for b in k]),
            step="queries down, keys across",
        ),
        Mistake(
            id="square-only",
            seen="As many keys are taken as there are queries.",
            question="Of 3 queries and 7 keys, how many scores are there, and how many are yours?",
            ways=(lambda q, k: [[float(q[i] @ k[j]) for j in range(len(q))] for i in range(len(q))],
                  lambda q, k: [[float(q[i] @ k[j]) for j in range(len(k))] for i in range(len(k))],
                  lambda q, k: q @ k[: len(q)].T),
            step="each query with each key",
        ),
        Mistake(
            id="scaled-already",
            seen="The dot products are divided by √d; here they are wanted as they are.",
            question="What is the dot product of [1, 0] with itself, and what is yours?",
            ways=(lambda q, k: q @ k.T / np.sqrt(q.shape[1]),
                  lambda q, k: q @ (k * k.shape[1] ** -0.5).T),
            step="each query with each key",
        ),
    ),
    variants=(_scores_in_loops, in_float32(_all_scores),
              lambda q, k: np.einsum("id,jd->ij", q, k), lambda q, k: (k @ q.T).T,
              lambda q, k: (q[:, None, :] * k).sum(axis=-1),
              lambda q, k: [[float(sum(a * b)) for b in k] for a in q]),
    solution=_all_scores,
    package=(attention_book.scores,),
)


# --- cosine_similarity(a, b) ----------------------------------------------------------------------
def _reference_cosine(a, b):
    # Each vector is brought to size 1 first, so that nothing over- or underflows.
    sizes = [max(map(abs, vector)) for vector in (a, b)]
    if not all(sizes):
        return 0.0
    a, b = ([float(x / size) for x in vector] for vector, size in zip((a, b), sizes, strict=True))
    return _reference_dot(a, b) / (math.hypot(*a) * math.hypot(*b))


def _cosine_similarity(a, b):
    lengths = np.linalg.norm(a) * np.linalg.norm(b)
    if lengths == 0:
        return 0.0
    return a @ b / lengths


def _cosine_in_a_loop(a, b):
    dot = squares_a = squares_b = 0.0
    for x, y in zip(a, b, strict=True):
        dot += x * y
        squares_a += x * x
        squares_b += y * y
    return dot / math.sqrt(squares_a) / math.sqrt(squares_b) if squares_a and squares_b else 0


def _or_zero(function):
    """Return 0 for a zero vector: what else is wrong with the function stays."""
    return lambda a, b: function(a, b) if a.any() and b.any() else 0.0


def _python_division(a, b):
    return float(a @ b) / float(np.linalg.norm(a) * np.linalg.norm(b))


def _with_epsilon(least):
    return lambda a, b: a @ b / (np.linalg.norm(a) * np.linalg.norm(b) + least)


def _at_least(least):
    return lambda a, b: a @ b / max(np.linalg.norm(a) * np.linalg.norm(b), least)


_ZERO = np.zeros(5)
_VECTOR = _gentle(5)
_ZERO_CASES = (
    Case((_ZERO, _VECTOR), "a is zero", "vectors without a direction"),
    Case((_VECTOR, _ZERO), "b is zero", "vectors without a direction"),
    Case((_ZERO, _ZERO), "both are zero", "vectors without a direction"),
)
_TINY = Case((2.0**-30 * np.array([3.0, 4, 12]), 2.0**-30 * np.array([5.0, -2, 7])), "tiny vectors",
             "the division by both lengths")

_COSINE = Exercise(
    id="cosine_similarity",
    chapter=CHAPTER,
    title="Agreement in direction alone",
    signature="cosine_similarity(a, b)",
    shapes="(d,), (d,) → a number",
    prompt="Write cosine_similarity(a, b): the dot product divided by both lengths. Where a vector "
           "is zero, return 0.0.",
    hints=("The length of a vector is the square root of its dot product with itself.",
           "Both lengths divide. The result lies between −1 and 1.",
           "A zero vector makes the divisor 0. Ask for that before you divide."),
    example=Example((np.array([3.0, 4.0]), np.array([4.0, 3.0])), 0.96),
    reference=_reference_cosine,
    cases=(
        Case((np.array([1.0, 2.0]), np.array([-2.0, 0.5])), "another pair of two numbers",
             "the division by both lengths"),
        Case((_gentle(7), 3 * _gentle(7)), "seven numbers each", "the division by both lengths"),
        Case((_VECTOR, -2.5 * _VECTOR), "opposite directions", "the division by both lengths"),
        Case((np.array([3000.0, -250, 125]), np.array([-1000.0, 2000, 875])), "large numbers",
             "the division by both lengths"),
        _TINY,
        *_ZERO_CASES,
    ),
    naming=(Case((_gentle(7), 3 * _gentle(7)), "seven numbers each"),
            Case((_gentle(5), 0.25 * _gentle(5)), "five numbers each"), _TINY, *_ZERO_CASES),
    mistakes=(
        Mistake(
            id="one-norm-missing",
            seen="Only one of the two lengths divides, so the result still grows with the other.",
            question="If b is doubled, what happens to your result, and what should happen?",
            ways=tuple(kind(function) for kind in (_or_zero, lambda function: function)
                       for function in (lambda a, b: a @ b / np.linalg.norm(a),
                                        lambda a, b: a @ b / np.linalg.norm(b))),
            step="the division by both lengths",
        ),
        Mistake(
            id="l1-norm",
            seen="The length is taken as the sum of absolute values.",
            question="How long is the vector [3, 4]?",
            ways=tuple(kind(lambda a, b: a @ b / (np.abs(a).sum() * np.abs(b).sum()))
                       for kind in (_or_zero, lambda function: function)),
            step="the lengths",
        ),
        Mistake(
            id="squared-norms",
            seen="The squares of the lengths divide: the square root is missing.",
            question="What is the cosine of a vector with itself, and what is yours?",
            ways=tuple(kind(function) for kind in (_or_zero, lambda function: function)
                       for function in (lambda a, b: a @ b / ((a @ a) * (b @ b)),
                                        lambda a, b: a @ b / ((a**2).sum() * (b**2).sum()))),
            step="the lengths",
        ),
        Mistake(
            id="nan-for-zero-vector",
            seen="A zero vector has no direction, and the division comes out as 0/0.",
            question="Which divisor must never be 0, and when is it?",
            ways=(_cosine, _python_division,
                  lambda a, b: _cosine(a, b) if a.any() else 0.0,
                  lambda a, b: _cosine(a, b) if b.any() else 0.0,
                  lambda a, b: _python_division(a, b) if a.any() else 0.0),
            step="vectors without a direction",
        ),
        Mistake(
            id="brackets-missing",
            seen="The dot product is divided by the first length and multiplied by the second.",
            question="In which order does Python work out x / y * z?",
            ways=(lambda a, b: a @ b / np.linalg.norm(a) * np.linalg.norm(b),
                  _or_zero(lambda a, b: a @ b / np.linalg.norm(a) * np.linalg.norm(b)),
                  lambda a, b: np.nan_to_num(a @ b / np.linalg.norm(a) * np.linalg.norm(b)),
                  _or_zero(lambda a, b: a @ b / np.linalg.norm(b) * np.linalg.norm(a))),
            step="the division by both lengths",
        ),
        Mistake(
            id="lengths-added",
            seen="The dot product is divided by the sum of the lengths, or the length of both "
                 "vectors together.",
            question="If both vectors are doubled, what happens to your divisor, and what to the "
                     "dot product?",
            ways=tuple(kind(function) for kind in (_or_zero, lambda function: function)
                       for function in (
                           lambda a, b: a @ b / (np.linalg.norm(a) + np.linalg.norm(b)),
                           lambda a, b: a @ b / np.sqrt(a @ a + b @ b))),
            step="the division by both lengths",
        ),
        Mistake(
            id="no-norms",
            seen="Nothing is divided: this is the dot product itself.",
            question="Between which two numbers must a cosine lie?",
            ways=(np.dot, lambda a, b: sum(a * b)),
            step="the division by both lengths",
        ),
        Mistake(
            id="epsilon-in-the-divisor",
            seen="A small number in the divisor avoids 0/0, but outweighs the lengths of tiny "
                 "vectors.",
            question="What is the cosine of a tiny vector with itself, in your function?",
            ways=tuple(kind(least) for kind in (_with_epsilon, _at_least)
                       for least in (1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12, 1e-15,
                                     1e-16)),
            step="vectors without a direction",
        ),
    ),
    variants=(_cosine_in_a_loop, in_float32(_cosine_similarity),
              lambda a, b: np.nan_to_num(_cosine(a, b)),
              lambda a, b: a @ b / math.sqrt((a @ a) * (b @ b)) if a.any() and b.any() else 0.0),
    solution=_cosine_similarity,
)


# --- best_key(q, k) -------------------------------------------------------------------------------
def _reference_best(q, k):
    found = []
    for query in q:
        scores = [_reference_dot(query, key) for key in k]
        found.append(scores.index(max(scores)))
    return np.array(found)


def _best_key(q, k):
    return np.argmax(q @ k.T, axis=-1)


def _best_in_loops(q, k):
    found = []
    for query in q:
        best = 0
        for j in range(len(k)):
            if np.dot(query, k[j]) > np.dot(query, k[best]):
                best = j
        found.append(best)
    return found


def _best_from_zero(index):
    """Return a search whose best score so far is 0, at ``index``, before it has seen any."""
    def best(q, k):
        found = []
        for query in q:
            highest, where = 0.0, index
            for j, key in enumerate(k):
                if query @ key > highest:
                    highest, where = query @ key, j
            found.append(where)
        return found

    return best


def _distances(q, k):
    return ((q[:, None, :] - k) ** 2).sum(axis=-1)


def _longest(k):
    return np.argmax((k**2).sum(axis=-1))


def _uneven(n, d):
    """Return keys of very different lengths, so that length, distance and angle disagree."""
    return _gentle(n, d) * np.geomspace(0.25, 3, n)[_rng.permutation(n), None]


_BEST = Exercise(
    id="best_key",
    chapter=CHAPTER,
    title="Where each query looks",
    signature="best_key(q, k)",
    shapes="(n_query, d), (n_key, d) → (n_query,) of whole numbers",
    prompt="Write best_key(q, k): for each query, the index of the key with the highest dot "
           "product.",
    hints=("First compute all scores. What shape do they have?",
           "An index is asked for, not a score: np.argmax, or a loop that remembers the best j.",
           "Each row belongs to one query. Along which axis do the keys run?"),
    example=Example((_Q, _K), [2, 2]),
    reference=_reference_best,
    cases=(
        Case((np.array([[-1.0, 0.5], [2, -3]]), np.array([[2.0, 1], [-0.5, 3], [1, -1]])),
             "two other queries, three other keys", "the highest score of each row"),
        Case((_gentle(7, 5), _uneven(11, 5)), "more keys than queries",
             "the highest score of each row"),
        Case((_gentle(11, 3), _uneven(5, 3)), "more queries than keys",
             "the highest score of each row"),
        Case((-np.abs(_gentle(7, 3)), np.abs(_gentle(5, 3))), "every score below zero",
             "the highest score of each row"),
        Case((_gentle(5, 5), _uneven(5, 5)), "all sizes alike", "the highest score of each row"),
        Case((1000 * _gentle(3, 2), 1000 * _gentle(7, 2)), "large numbers",
             "the highest score of each row"),
        Case((_gentle(3, 2), _gentle(1, 2)), "one key", "the highest score of each row"),
    ),
    naming=(Case((_gentle(13, 5), _uneven(11, 5)), "more queries than keys"),
            Case((_gentle(7, 3), _uneven(11, 3)), "more keys than queries"),
            Case((_gentle(11, 5), _uneven(11, 5)), "as many queries as keys"),
            Case((-np.abs(_gentle(7, 3)), np.abs(_gentle(5, 3))), "every score below zero")),
    mistakes=(
        Mistake(
            id="lowest",
            seen="The key with the lowest dot product is chosen.",
            question="Does a high dot product mean agreement or disagreement?",
            ways=(lambda q, k: np.argmin(q @ k.T, axis=-1),
                  lambda q, k: np.argmax(-(q @ k.T), axis=-1),
                  lambda q, k: np.argsort(q @ k.T, axis=-1)[:, 0]),
            step="the highest score of each row",
        ),
        Mistake(
            id="nearest-by-distance",
            seen="The key at the smallest distance is chosen, not the one with the highest dot "
                 "product.",
            question="A long key in the query's direction and a short one beside it: which has the "
                     "higher dot product, and which is nearer?",
            ways=(lambda q, k: _distances(q, k).argmin(axis=-1),
                  lambda q, k: [int(np.argmin([np.linalg.norm(query - key) for key in k]))
                                for query in q],
                  lambda q, k: np.abs(q[:, None, :] - k).sum(axis=-1).argmin(axis=-1)),
            step="the scores",
        ),
        Mistake(
            id="best-query-per-key",
            seen="For each key the best query is found, not for each query the best key.",
            question="How many numbers should come out: as many as queries, or as many as keys?",
            ways=(lambda q, k: np.argmax(q @ k.T, axis=0), lambda q, k: np.argmax(k @ q.T, axis=1),
                  lambda q, k: [int(np.argmax(q @ key)) for key in k]),
            step="the highest score of each row",
        ),
        Mistake(
            id="longest-key",
            seen="The same key is chosen for every query: the longest one.",
            question="Where does the query enter your choice?",
            ways=(lambda q, k: np.full(len(q), _longest(k)),
                  lambda q, k: [int(_longest(k))] * len(q),
                  lambda q, k: _longest(k),
                  lambda q, k: np.full(len(q), np.abs(k).sum(axis=-1).argmax())),
            step="the scores",
        ),
        Mistake(
            id="by-angle",
            seen="The keys are brought to one length first, so that only their direction counts.",
            question="Should a key that is twice as long have twice the score?",
            ways=(lambda q, k: np.argmax(q @ (k / np.linalg.norm(k, axis=-1, keepdims=True)).T,
                                         axis=-1),
                  lambda q, k: [int(np.argmax([_cosine(query, key) for key in k]))
                                for query in q]),
            step="the scores",
        ),
        Mistake(
            id="largest-size",
            seen="The score that is furthest from zero is chosen, be it negative.",
            question="Is a score of −9 more agreement than a score of 2?",
            ways=(lambda q, k: np.argmax(np.abs(q @ k.T), axis=-1),
                  lambda q, k: np.argmax((q @ k.T) ** 2, axis=-1)),
            step="the highest score of each row",
        ),
        Mistake(
            id="score-not-index",
            seen="The highest score itself is returned, not the index of its key.",
            question="Can your result be used to pick a key: k[best]?",
            ways=(lambda q, k: np.max(q @ k.T, axis=-1),
                  lambda q, k: [max(float(query @ key) for key in k) for query in q]),
            step="the highest score of each row",
        ),
        Mistake(
            id="key-not-index",
            seen="The keys themselves are returned, not their indices.",
            question="Which whole number says where a key stands in k?",
            ways=(lambda q, k: k[np.argmax(q @ k.T, axis=-1)],
                  lambda q, k: [max(k, key=lambda key, query=query: key @ query) for query in q]),
            step="the highest score of each row",
        ),
        Mistake(
            id="starts-at-zero",
            seen="The search starts from a best score of 0, so a row of scores below 0 has no best "
                 "key.",
            question="If every score is negative, which of them is ever larger than the one you "
                     "start with?",
            ways=tuple(_best_from_zero(index) for index in (0, -1)),
            step="the highest score of each row",
        ),
        Mistake(
            id="axis-kept",
            seen="The right indices, but each in a row of its own.",
            question="How many axes has your result, and how many are wanted?",
            ways=(lambda q, k: np.argmax(q @ k.T, axis=-1, keepdims=True),
                  lambda q, k: [[int(np.argmax(k @ query))] for query in q]),
            step="the highest score of each row",
        ),
        Mistake(
            id="one-for-all",
            seen="One index is found for all scores together.",
            question="Along which axis does your argmax look?",
            ways=(lambda q, k: np.argmax(q @ k.T),
                  lambda q, k: np.full(len(q), (q @ k.T).argmax())),
            step="the highest score of each row",
        ),
    ),
    variants=(_best_in_loops, in_float32(_best_key),
              lambda q, k: np.einsum("id,jd->ij", q, k).argmax(axis=1),
              lambda q, k: np.argsort(q @ k.T, axis=-1)[:, -1],
              lambda q, k: [int(np.argmax(k @ query)) for query in q]),
    solution=_best_key,
)


# --- project(x, wq, wk, wv) -----------------------------------------------------------------------
def _reference_projection(x, w):
    return [[math.fsum(float(a) * float(b) for a, b in zip(row, column, strict=True))
             for column in zip(*w.tolist(), strict=True)] for row in x]


def _reference_project(x, wq, wk, wv):
    return tuple(np.array(_reference_projection(x, w)) for w in (wq, wk, wv))


def _project(x, wq, wk, wv):
    return x @ wq, x @ wk, x @ wv


def _project_in_loops(x, *weights):
    results = []
    for w in weights:
        result = np.zeros((x.shape[0], w.shape[1]))
        for i in range(x.shape[0]):
            for j in range(w.shape[1]):
                result[i, j] = sum(x[i, m] * w[m, j] for m in range(x.shape[1]))
        results.append(result)
    return results


def _project_at_once(x, wq, wk, wv):
    together = x @ np.hstack([wq, wk, wv])
    return np.split(together, [wq.shape[1], wq.shape[1] + wk.shape[1]], axis=1)


def _tokens(n, d_model, d, d_v):
    return _gentle(n, d_model), *(_gentle(d_model, size) for size in (d, d, d_v))


def _project_by(chosen):
    """Make the three results with the matrices of these positions."""
    return lambda x, *weights: [x @ weights[i] for i in chosen]


_SHARING = [chosen for chosen in itertools.product(range(3), repeat=3) if len(set(chosen)) < 3]

_W = np.array([[1.0, 0], [0, 2]]), np.array([[0.0, 1], [1, 0]]), np.array([[1.0], [-1]])
_PROJECT_CASES = (
    Case((np.array([[2.0, -1], [0.5, 1], [3, 4]]), _W[1] - _W[0], _W[0] + 1, 3 * _W[2]),
         "three other tokens, other weights", "each token times each matrix"),
    Case(_tokens(7, 5, 3, 2), "all sizes different", "each token times each matrix"),
    Case(_tokens(5, 11, 7, 3), "more features than tokens", "each token times each matrix"),
    Case(_tokens(5, 5, 5, 5), "all sizes alike", "each token times each matrix"),
    Case(_tokens(1, 3, 2, 5), "one token", "each token times each matrix"),
    Case((np.array([[1000.0, -2000], [3, 250]]), 8 * _W[0], 8 * _W[1] - 1, 16 * _W[2]),
         "large numbers", "each token times each matrix"),
)

_PROJECT = Exercise(
    id="project",
    chapter=CHAPTER,
    title="One token, three roles",
    signature="project(x, wq, wk, wv)",
    shapes="(n, d_model), (d_model, d), (d_model, d), (d_model, d_v) → (n, d), (n, d), (n, d_v)",
    prompt="Write project(x, wq, wk, wv): return the queries, the keys and the values of all "
           "tokens, in this order. Tokens are rows.",
    hints=("A token is a row of length d_model. Which matrix turns it into a row of length d?",
           "Rows stand on the left of the matrix that projects them.",
           "Three products, one for each matrix, returned as three results."),
    example=Example((np.array([[1.0, 2], [3, 4], [5, 6]]), *_W),
                    ([[1, 4], [3, 8], [5, 12]], [[2, 1], [4, 3], [6, 5]], [[-1], [-1], [-1]])),
    reference=_reference_project,
    parts=("q", "k", "v"),
    cases=_PROJECT_CASES,
    naming=(Case(_tokens(7, 5, 3, 2), "all sizes different"),
            Case(_tokens(5, 5, 5, 5), "all sizes alike"),
            Case(_tokens(7, 3, 3, 3), "square matrices")),
    mistakes=(
        Mistake(
            id="weights-first",
            seen="The matrices act as in W x, where tokens are columns; here tokens are rows.",
            question="Which axis of x has the length d_model, and which axis of wq must it meet?",
            ways=(lambda x, wq, wk, wv: (wq @ x, wk @ x, wv @ x),
                  lambda x, wq, wk, wv: (wq.T @ x, wk.T @ x, wv.T @ x),
                  lambda x, wq, wk, wv: (wq.T @ x.T, wk.T @ x.T, wv.T @ x.T),
                  lambda x, wq, wk, wv: (wq @ x.T, wk @ x.T, wv @ x.T),
                  lambda x, wq, wk, wv: tuple((w @ x.T).T for w in (wq, wk, wv)),
                  lambda x, wq, wk, wv: (x @ wq.T, x @ wk.T, x @ wv.T),
                  lambda x, *weights: [np.einsum("nm,dm->nd", x, w) for w in weights]),
            step="each token times each matrix",
        ),
        Mistake(
            id="keys-values-swapped",
            seen="Keys and values have changed places.",
            question="In which order are the results returned, and which matrix makes the second?",
            ways=(lambda x, wq, wk, wv: (x @ wq, x @ wv, x @ wk),
                  lambda x, wq, wk, wv: _project_in_loops(x, wq, wv, wk)),
            step="the order of the results",
        ),
        Mistake(
            id="queries-keys-swapped",
            seen="Queries and keys have changed places.",
            question="In which order are the results returned, and which matrix makes the first?",
            ways=(lambda x, wq, wk, wv: (x @ wk, x @ wq, x @ wv),
                  lambda x, wq, wk, wv: _project_in_loops(x, wk, wq, wv)),
            step="the order of the results",
        ),
        Mistake(
            id="weights-shared",
            seen="One matrix is used for more than one of the three results.",
            question="Where does your function use wq, where wk, where wv?",
            ways=tuple(map(_project_by, _SHARING)),
            step="each token times each matrix",
        ),
        Mistake(
            id="one-after-another",
            seen="A result is projected again to make the next one; each should start from x.",
            question="What do the keys depend on: on the tokens, or on the queries?",
            ways=(lambda x, wq, wk, wv: (x @ wq, x @ wq @ wk, x @ wq @ wk @ wv),
                  lambda x, wq, wk, wv: (x @ wq, x @ wq @ wk, x @ wq @ wv),
                  lambda x, wq, wk, wv: (x @ wq, x @ wk, x @ wk @ wv)),
            step="each token times each matrix",
        ),
        Mistake(
            id="no-projection",
            seen="The tokens themselves are returned for one of the roles.",
            question="Which of your results still has d_model features?",
            ways=(lambda x, wq, wk, wv: (x, x, x), lambda x, wq, wk, wv: (x @ wq, x @ wk, x),
                  lambda x, wq, wk, wv: (x, x @ wk, x @ wv)),
            step="each token times each matrix",
        ),
    ),
    variants=(_project_in_loops, _project_at_once, in_float32(_project),
              lambda x, *weights: [np.einsum("nm,md->nd", x, w) for w in weights],
              lambda x, wq, wk, wv: ((wq.T @ x.T).T, (wk.T @ x.T).T, (wv.T @ x.T).T),
              lambda x, wq, wk, wv: [[list(row @ w) for row in x] for w in (wq, wk, wv)]),
    solution=_project,
)


# --- predict_score_shape --------------------------------------------------------------------------
_PREDICT = prediction(
    id="predict_score_shape",
    chapter=CHAPTER,
    title="The shape of all scores",
    signature="a shape: whole numbers in parentheses",
    shapes="(rows, columns)",
    prompt="Seven tokens ask and five tokens answer, each with d_model = 12 features. wq and wk "
           "have shape (12, 3). Which shape do the scores q @ k.T have? Write it down before "
           "you run anything.",
    hints=("First the shapes of q and k: what does a matrix of shape (12, 3) make of a row of 12?",
           "Transposing k swaps its two axes. Which axis of q must meet which axis of k.T?",
           "The axis on which they meet is summed away. Which two are left, and in which order?"),
    value=(7, 5),
    steps=(
        Step("q = x @ wq", "(7, 12) @ (12, 3) → (7, 3)"),
        Step("k = y @ wk", "(5, 12) @ (12, 3) → (5, 3)"),
        Step("k.T", "(3, 5)"),
        Step("q @ k.T", "(7, 3) @ (3, 5) → (7, 5)"),
    ),
    mistakes=(
        Mistake(
            id="transposed",
            seen="Keys run down and queries across in this shape.",
            question="Does row i of the scores belong to a query or to a key?",
            ways=((5, 7), [5, 7]),
            step="q @ k.T",
        ),
        Mistake(
            id="queries-with-queries",
            seen="This is the shape of the tokens of one sequence compared with one another.",
            question="Who asks here, and who answers?",
            ways=((7, 7), (5, 5)),
            step="k = y @ wk",
        ),
        Mistake(
            id="features-kept",
            seen="A feature axis is left over in this shape.",
            question="A dot product sums over the features. Can their number be in its shape?",
            ways=((7, 3), (5, 3), (3, 3), (3, 5), (7, 3, 5), (7, 5, 3), (3, 7)),
            step="q @ k.T",
        ),
        Mistake(
            id="not-projected",
            seen="The tokens' d_model features are still in this shape.",
            question="What does wq make of a row of 12 numbers?",
            ways=((12, 12), (7, 12), (5, 12), (12, 5), (12, 7), (7, 12, 5), (12, 3)),
            step="q = x @ wq",
        ),
        Mistake(
            id="count-not-shape",
            seen="This counts the scores; a shape says how they are laid out.",
            question="How many rows are there, and how many columns?",
            ways=(35, (35,), [35]),
            step="q @ k.T",
        ),
    ),
    variants=((7, 5), [7, 5], np.array([7, 5])),
)


# --- fault_all_scores -----------------------------------------------------------------------------
def fault_all_scores(q, k):
    scores = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        total = 0.0
        for j in range(len(k)):
            for feature in range(len(q[i])):
                total += q[i][feature] * k[j][feature]
            scores[i][j] = total
    return scores


def _mended_all_scores(q, k):
    scores = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        for j in range(len(k)):
            total = 0.0
            for feature in range(len(q[i])):
                total += q[i][feature] * k[j][feature]
            scores[i][j] = total
    return scores


def _last_feature_only(q, k):
    return np.outer(q[:, -1], k[:, -1])


def _first_feature_only(q, k):
    return np.outer(q[:, 0], k[:, 0])


_FAULT = Exercise(
    id="fault_all_scores",
    chapter=CHAPTER,
    title="Mend the loops over queries and keys",
    signature="fault_all_scores(q, k)",
    shapes="(n_query, d), (n_key, d) → (n_query, n_key)",
    prompt="This listing should return the dot product of every query with every key. One line is "
           "at fault. Find it, and change as little as you can.",
    hints=("Run it on two queries and three keys that you can multiply by hand. Which column is "
           "still right?",
           "What does total hold when the second key of a query begins?",
           "Which line should run once for each pair, and how often does it run?"),
    example=Example((_Q, _K), [[1, 0, 3], [1, 2, 9]]),
    reference=_reference_scores,
    cases=_SCORE_CASES,
    naming=_SCORE_NAMING,
    mistakes=(
        Mistake(
            id="total-not-reset",
            seen="The first column is right; each later score still holds those before it in its "
                 "row.",
            question="What does total hold when the loop comes to the second key?",
            ways=(fault_all_scores, lambda q, k: np.cumsum(q @ k.T, axis=1)),
            step="one total for each pair",
        ),
        Mistake(
            id="total-never-reset",
            seen="The first score is right; each later one still holds all those before it.",
            question="How often is total set to 0, and how often should it be?",
            ways=(lambda q, k: np.cumsum(q @ k.T).reshape(len(q), len(k)),
                  lambda q, k: np.add.accumulate((q @ k.T).ravel()).reshape(len(q), len(k))),
            step="one total for each pair",
        ),
        Mistake(
            id="one-feature-only",
            seen="Each score is the product of a single feature: the total is set anew for each.",
            question="How many products does one score sum, and how many does yours?",
            ways=(_last_feature_only, _first_feature_only),
            step="one total for each pair",
        ),
        Mistake(
            id="transposed",
            seen="The right numbers, but keys run down and queries across.",
            question="Which loop should choose the row of the result?",
            ways=(lambda q, k: k @ q.T, _transposed_in_loops),
            step="queries down, keys across",
        ),
    ),
    variants=(_all_scores, _scores_in_loops, in_float32(_mended_all_scores),
              lambda q, k: np.einsum("id,jd->ij", q, k)),
    solution=_mended_all_scores,
    package=(attention_book.scores,),
    faulty=fault_all_scores,
)

EXERCISES = (_PREDICT, _DOT_PRODUCT, _ALL_SCORES, _COSINE, _BEST, _PROJECT, _FAULT)
