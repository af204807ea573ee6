"""The exercises of the chapter on dot products."""

import itertools
import math

import numpy as np

import attention_book
from attention_book.exercises.building_blocks import in_float32
from attention_book.exercises.model import Case, Example, Exercise, Mistake, Step, prediction
from attention_book.exercises.shared_kinds import axis_of_one_lost, before_the_first_zero

CHAPTER = "01_dot_products"

_rng = np.random.default_rng(1)
_rng_more = np.random.default_rng(11)


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

_ZERO_AMONG_FEATURES = Case((np.array([2.5, 0, -1.5, 4]), np.array([3.0, 5, 0, 0.5])),
                            "zeros among the features", "products, summed")

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
    cases=(*_PAIRS, _ZERO_AMONG_FEATURES),
    naming=(Case((_gentle(7), _gentle(7)), "seven numbers each"),
            Case((_gentle(5), _gentle(5)), "five numbers each"), *_PAIRS[:2],
            _ZERO_AMONG_FEATURES),
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
        Mistake(
            id="feature-left-out",
            seen="One feature is left out of the sum, the first or the last.",
            question="Which numbers does your loop count through, and how many features are there?",
            ways=(lambda a, b: np.dot(a[:-1], b[:-1]), lambda a, b: np.dot(a[1:], b[1:]),
                  lambda a, b: sum(a[i - 1] * b[i - 1] for i in range(1, len(a))),
                  lambda a, b: _dot_in_a_loop(a, b) - a[0] * b[0]),
            step="the sum",
        ),
        Mistake(
            id="total-not-from-zero",
            seen="The sum holds something besides the products, each taken once: the total does "
                 "not begin at 0, or one product is added twice.",
            question="For vectors of one feature, what does your total hold before and after the "
                     "loop?",
            ways=(lambda a, b: 1 + np.dot(a, b), lambda a, b: np.dot([*a, a[0]], [*b, b[0]]),
                  lambda a, b: np.dot([*a, a[-1]], [*b, b[-1]])),
            step="the sum",
        ),
        Mistake(
            id="reversed",
            seen="One vector is read from its end, so the first feature of one meets the last of "
                 "the other.",
            question="Which features does your function multiply with each other, for vectors of "
                     "three?",
            ways=(lambda a, b: np.dot(a, b[::-1]), lambda a, b: np.convolve(a, b, mode="valid")[0],
                  lambda a, b: sum(x * y for x, y in zip(reversed(a), b, strict=True))),
            step="the products",
        ),
        Mistake(
            id="stops-at-zero",
            seen="The sum ends where a feature is 0; what comes after it is left out.",
            question="A product of 0 adds nothing. Does that hold for the features behind it?",
            ways=(lambda a, b: (a * b)[before_the_first_zero(a * b)].sum(),
                  lambda a, b: sum(itertools.takewhile(bool, map(float, a * b))),
                  lambda a, b: (a * b)[before_the_first_zero(a)].sum(),
                  lambda a, b: (a * b)[before_the_first_zero(b)].sum()),
            step="the sum",
        ),
        Mistake(
            id="sign-dropped",
            seen="A minus sign is lost, so features that disagree count as agreement.",
            question="Do [1, −1] and [−1, 1] agree? What does your function say?",
            ways=(lambda a, b: sum(abs(x * y) for x, y in zip(a, b, strict=True)),
                  lambda a, b: np.dot(np.abs(a), np.abs(b)), lambda a, b: abs(np.dot(a, b)),
                  lambda a, b: np.maximum(a * b, 0).sum()),
            step="the products",
        ),
        Mistake(
            id="rounded",
            seen="The result, or each product, is rounded.",
            question="What is 0.5 times 0.5, and what does your function make of it?",
            ways=(lambda a, b: (a * b).astype(int).sum(), lambda a, b: int(np.dot(a, b)),
                  lambda a, b: np.dot(a.astype(int), b.astype(int)),
                  lambda a, b: np.rint(a * b).sum(),
                  *(lambda a, b, digits=digits: np.round(np.dot(a, b), digits)
                    for digits in range(3))),
            step="the products",
        ),
        Mistake(
            id="distance",
            seen="The result measures how far apart the two vectors are, not how far they agree.",
            question="What does your function give for a vector and itself? Is that much agreement "
                     "or little?",
            ways=(lambda a, b: np.linalg.norm(a - b), lambda a, b: ((a - b) ** 2).sum(),
                  lambda a, b: np.abs(a - b).sum(), lambda a, b: -np.linalg.norm(a - b)),
            step="the products",
        ),
        Mistake(
            id="scaled-already",
            seen="The dot product is divided by √d; here it is wanted as it is.",
            question="What is the dot product of [1, 1] with itself, and what is yours?",
            ways=(lambda a, b: np.dot(a, b) / np.sqrt(len(a)),
                  lambda a, b: sum(a / len(a) ** 0.5 * b)),
            step="the sum",
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

_ONE_QUERY = Case((_rng_more.normal(size=(1, 3)).round(3), _rng_more.normal(size=(7, 3)).round(3)),
                  "one query")
_ONE_KEY = Case((_rng_more.normal(size=(3, 5)).round(3), _rng_more.normal(size=(1, 5)).round(3)),
                "one key")
_SCORE_CASES = (*_SCORE_CASES, Case(_ONE_KEY.args, "one key", "each query with each key"))
_SCORE_NAMING = (*_SCORE_NAMING, _ONE_QUERY, _ONE_KEY)


def _counting_features_by(count):
    """Return all scores, summed over ``count(q, k)`` features, or all where there are fewer."""
    return lambda q, k: q[:, : count(q, k)] @ k[:, : count(q, k)].T


def _counting_too_far(count):
    def scores(q, k):
        return [[sum(float(a[i] * b[i]) for i in range(count(q, k))) for b in k] for a in q]

    return scores


def _half_copied(lower):
    """Return all scores, of which those on one side of the diagonal come from the other side."""
    def scores(q, k):
        found = q @ k.T
        n = min(found.shape)
        square = found[:n, :n]
        found[:n, :n] = np.where(np.tri(n, k=-1) if lower else np.tri(n, k=-1).T, square.T, square)
        return found

    return scores


# Mistakes of the loops over queries, keys and features.
_LOOP_MISTAKES = (
    Mistake(
        id="features-left-out",
        seen="Not every feature is in the sum: the first or the last is left out, or they are "
             "counted by the length of another axis.",
        question="How many products does one score sum, and on which axis of q do you count them?",
        ways=(lambda q, k: q[:, :-1] @ k[:, :-1].T, lambda q, k: q[:, 1:] @ k[:, 1:].T,
              _counting_features_by(lambda q, k: len(q)),
              _counting_features_by(lambda q, k: len(k)),
              _counting_too_far(lambda q, k: len(q)), _counting_too_far(lambda q, k: len(k))),
        step="each query with each key",
    ),
    Mistake(
        id="last-key-only",
        seen="Only one column of the scores is filled, that of the last key or of the first.",
        question="How often does the line run that writes a score, and how many scores are there?",
        ways=(lambda q, k: q @ (k * (np.arange(len(k)) == len(k) - 1)[:, None]).T,
              lambda q, k: q @ (k * (np.arange(len(k)) == 0)[:, None]).T,
              lambda q, k: (q @ k.T) * np.eye(len(k))[-1]),
        step="each query with each key",
    ),
    Mistake(
        id="stops-early",
        seen="The last key, or the last query, has no scores: they are missing, or 0.",
        question="Which numbers does each of your loops count through, and how many keys and "
                 "queries are there?",
        ways=(lambda q, k: q @ k[:-1].T, lambda q, k: q[:-1] @ k.T,
              lambda q, k: np.pad(q @ k[:-1].T, ((0, 0), (0, 1))),
              lambda q, k: np.pad(q[:-1] @ k.T, ((0, 1), (0, 0))),
              lambda q, k: np.pad(q[:-1] @ k[:-1].T, ((0, 1), (0, 1)))),
        step="each query with each key",
    ),
    Mistake(
        id="half-copied",
        seen="The scores on one side of the diagonal are copied from the other side, as if query i "
             "with key j were the same as query j with key i.",
        question="The dot product of two vectors is the same in both orders. Are query i and key i "
                 "the same vector?",
        ways=(_half_copied(lower=True), _half_copied(lower=False)),
        step="each query with each key",
    ),
    Mistake(
        id="wrong-axis",
        seen="The products are summed over the queries or the keys, not over the features.",
        question="Of the axes query, key and feature, which one is summed away in a dot product?",
        ways=(lambda q, k: (q[:, None] * k).sum(axis=1), lambda q, k: (q[:, None] * k).sum(axis=0),
              lambda q, k: np.einsum("id,jd->id", q, k), lambda q, k: np.einsum("id,jd->jd", q, k)),
        step="each query with each key",
    ),
)

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
                  lambda q, k: np.diag(q @ k.T), lambda q, k: np.diag(q @ k.T)[:, None],
                  lambda q, k: (q * k).sum(axis=1, keepdims=True),
                  lambda q, k: np.diag(np.diag(q @ k.T))),
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
            id="listed-by-key",
            seen="The scores were listed key by key, and then cut into rows as if they were listed "
                 "query by query.",
            question="Which loop is the outer one where your scores are listed, and which axis of "
                     "the result comes first?",
            ways=(lambda q, k: (k @ q.T).reshape(len(q), len(k)),
                  lambda q, k: np.reshape(q @ k.T, (len(q), len(k)), order="C").T.reshape(
                      len(q), len(k))),
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
        *_LOOP_MISTAKES,
        Mistake(
            id="one-row-only",
            seen="The scores of a single query, or of a single key, come out; the others are "
                 "missing.",
            question="How many scores do two queries and three keys make?",
            ways=(*(lambda q, k, row=row: (q @ k.T)[row] for row in (0, -1, slice(1))),
                  *(lambda q, k, row=row: (k @ q.T)[row] for row in (0, -1)),
                  lambda q, k: q @ k[:1].T),
            step="each query with each key",
        ),
        Mistake(
            id="one-feature-only",
            seen="Each score is the product of a single feature: the total is overwritten in each "
                 "round, or returned in the first.",
            question="How many products does one score sum, and how many does yours?",
            ways=(lambda q, k: np.multiply.outer(q[:, -1], k[:, -1]),
                  lambda q, k: np.multiply.outer(q[:, 0], k[:, 0])),
            step="each query with each key",
        ),
        Mistake(
            id="total-not-reset",
            seen="The total is not set back to 0 for each pair: a score still holds those before "
                 "it.",
            question="What does your total hold when the loop comes to the second key?",
            ways=(lambda q, k: np.cumsum(q @ k.T, axis=1),
                  lambda q, k: np.cumsum(q @ k.T).reshape(len(q), len(k))),
            step="each query with each key",
        ),
        Mistake(
            id="mean-not-sum",
            seen="The products of a pair are averaged, not summed.",
            question="Twice as many features that agree: twice the agreement, or the same?",
            ways=(lambda q, k: (q[:, None] * k).mean(axis=-1), lambda q, k: q @ k.T / len(q.T)),
            step="each query with each key",
        ),
        Mistake(
            id="cosine",
            seen="Each score is divided by the lengths of its two vectors.",
            question="If a key is doubled, what should happen to its scores?",
            ways=(lambda q, k: [[_cosine(a, b) for b in k] for a in q],
                  lambda q, k: q @ k.T / np.outer(np.sqrt((q * q).sum(1)),
                                                  np.sqrt((k * k).sum(1)))),
            step="each query with each key",
        ),
        Mistake(
            id="distance",
            seen="The distances between queries and keys are measured, not their dot products.",
            question="What does your function give for a query and a key that are the same?",
            ways=(lambda q, k: ((q[:, None] - k) ** 2).sum(axis=-1),
                  lambda q, k: np.linalg.norm(q[:, None] - k, axis=-1)),
            step="each query with each key",
        ),
        axis_of_one_lost(_all_scores, "queries down, keys across"),
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

_ZERO_FEATURE = Case((np.array([0.0, 1.5, -2]), np.array([1.0, 2, 0])), "a zero among the features",
                     "vectors without a direction")
_ZERO_SUM = Case((np.array([2.0, -3, 1]), np.array([1.0, -2, 1])), "features that add up to zero",
                 "vectors without a direction")


def _similar_unless(excluded):
    """Return the cosine, or 0 where one of the vectors is ``excluded``."""
    return lambda a, b: 0.0 if excluded(a) or excluded(b) else _cosine(a, b)


def _made_of_cosine(change):
    """Return ways that change the finished cosine, for zero vectors or before them."""
    return (lambda a, b: change(_cosine_similarity(a, b)),
            _or_zero(lambda a, b: change(_cosine(a, b))), lambda a, b: change(_cosine(a, b)))


def _lengths_by(length):
    """Return ways with another rule for the lengths."""
    ways = (lambda a, b: a @ b / (length(a) * length(b)), lambda a, b: a @ b / length(a))
    return *ways, *map(_or_zero, ways)


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
        _ZERO_FEATURE,
        _ZERO_SUM,
    ),
    naming=(Case((_gentle(7), 3 * _gentle(7)), "seven numbers each"),
            Case((_gentle(5), 0.25 * _gentle(5)), "five numbers each"), _TINY, *_ZERO_CASES,
            _ZERO_FEATURE, _ZERO_SUM),
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
                  lambda a, b: _cosine(a, b) if a.any() or b.any() else 0.0,
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
        Mistake(
            id="zero-vector-misjudged",
            seen="A vector is taken for the zero vector that is none: it holds a zero, or its "
                 "features add up to zero.",
            question="Does your condition catch [0, 0] alone, or [0, 1] and [1, −1] too?",
            ways=(_similar_unless(lambda x: 0 in x), _similar_unless(lambda x: x.sum() == 0),
                  _similar_unless(lambda x: np.prod(x) == 0),
                  _similar_unless(lambda x: x[0] == 0), _similar_unless(lambda x: x[-1] == 0),
                  lambda a, b: _cosine(a, b) if a.all() or b.all() else 0.0,
                  lambda a, b: _cosine(a, b) if a.sum() or b.sum() else 0.0,
                  lambda a, b: _cosine(a, b) if (a * b).all() else 0.0),
            step="vectors without a direction",
        ),
        Mistake(
            id="sign-dropped",
            seen="Opposite directions do not come out as −1: the sign is lost.",
            question="What is the cosine of a vector and its opposite, and what is yours?",
            ways=(*_made_of_cosine(abs), *_made_of_cosine(lambda cosine: max(cosine, 0.0)),
                  *_made_of_cosine(lambda cosine: cosine**2)),
            step="the division by both lengths",
        ),
        Mistake(
            id="distance-not-similarity",
            seen="The result grows as the directions part: it is 1 minus the cosine.",
            question="What should a vector and itself give: 1, or 0?",
            ways=_made_of_cosine(lambda cosine: 1 - cosine),
            step="the division by both lengths",
        ),
        Mistake(
            id="angle-not-cosine",
            seen="The angle itself is returned, not its cosine.",
            question="What is the angle between a vector and itself, and what is its cosine?",
            ways=(*_made_of_cosine(np.arccos),
                  *_made_of_cosine(lambda cosine: np.degrees(np.arccos(cosine)))),
            step="the division by both lengths",
        ),
        Mistake(
            id="length-is-count",
            seen="The number of features, or its root, is taken for the length.",
            question="How long is the arrow from [0, 0] to [3, 4], and how many features has it?",
            ways=(*_lengths_by(len), *_lengths_by(lambda x: len(x) ** 0.5)),
            step="the lengths",
        ),
        Mistake(
            id="centred",
            seen="The mean of the features is taken off first: this is a correlation.",
            question="Does the direction of an arrow change when a number is taken off all its "
                     "features?",
            ways=(lambda a, b: _cosine_similarity(a - a.mean(), b - b.mean()),
                  lambda a, b: _cosine(a - a.mean(), b - b.mean()),
                  _or_zero(lambda a, b: np.corrcoef(a, b)[0, 1])),
            step="the lengths",
        ),
        Mistake(
            id="one-length-twice",
            seen="The length of one vector divides twice, and that of the other not at all.",
            question="If only b is doubled, what happens to your divisor?",
            ways=tuple(kind(function) for kind in (_or_zero, lambda function: function)
                       for function in (lambda a, b: a @ b / (a @ a), lambda a, b: a @ b / (b @ b),
                                        lambda a, b: a @ b / np.linalg.norm(a) ** 2)),
            step="the division by both lengths",
        ),
        Mistake(
            id="rounded",
            seen="The result is rounded.",
            question="Two keys differ a little in direction. Does your result still tell them "
                     "apart?",
            ways=tuple(lambda a, b, digits=digits: round(float(_cosine_similarity(a, b)), digits)
                       for digits in range(4)),
            step="the division by both lengths",
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


def _best_carried_over(q, k):
    s = q @ k.T
    record, found = -math.inf, []
    for row in s:
        if row.max() > record:
            record, best = row.max(), int(row.argmax())
        found.append(best)
    return found


def _last_rise(q, k):
    s = q @ k.T
    rises = np.diff(s, axis=-1, prepend=s[:, :1]) > 0
    return [int(np.flatnonzero(row)[-1]) if row.any() else 0 for row in rises]


def _first_fall(q, k):
    s = q @ k.T
    falls = np.diff(s, axis=-1, append=-np.inf) < 0
    return falls.argmax(axis=-1)


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
        Mistake(
            id="index-from-one",
            seen="The keys are counted from 1.",
            question="What does k[1] hold: the first key, or the second?",
            ways=(lambda q, k: (q @ k.T).argmax(axis=-1) + 1,
                  lambda q, k: [1 + int(np.argmax(k @ query)) for query in q]),
            step="the highest score of each row",
        ),
        Mistake(
            id="key-left-out",
            seen="One key is never considered, the first or the last.",
            question="Which numbers does your loop over the keys count through, and how many keys "
                     "are there?",
            ways=(lambda q, k: (q @ k[:-1].T).argmax(axis=-1),
                  lambda q, k: (q @ k[1:].T).argmax(axis=-1) + 1,
                  lambda q, k: (q @ k[1:].T).argmax(axis=-1)),
            step="the highest score of each row",
        ),
        Mistake(
            id="best-carried-over",
            seen="The best score of one query is kept when the next query begins.",
            question="When the loop comes to the second query, which score must its first key "
                     "beat?",
            ways=(_best_carried_over,
                  lambda q, k: [int((q @ k.T)[: i + 1].argmax()) % len(k) for i in range(len(q))]),
            step="the highest score of each row",
        ),
        Mistake(
            id="compared-with-neighbour",
            seen="Each score is compared with the one beside it, not with the best so far.",
            question="For the scores 1, 9, 2, 3, which one does your loop end with?",
            ways=(_last_rise, _first_fall),
            step="the highest score of each row",
        ),
        Mistake(
            id="second-best",
            seen="The key with the second highest dot product is chosen.",
            question="After a sort, where does the highest score stand?",
            ways=(lambda q, k: np.argsort(q @ k.T, axis=-1)[:, -2],
                  lambda q, k: np.argsort(-(q @ k.T), axis=-1)[:, 1]),
            step="the highest score of each row",
        ),
        Mistake(
            id="ranking-not-best",
            seen="There is a number for every key, not one for each query.",
            question="How many whole numbers should one query give?",
            ways=(lambda q, k: np.argsort(q @ k.T, axis=-1),
                  lambda q, k: np.argsort(-(q @ k.T), axis=-1),
                  lambda q, k: q @ k.T == (q @ k.T).max(axis=-1, keepdims=True),
                  lambda q, k: q @ k.T),
            step="the highest score of each row",
        ),
        Mistake(
            id="queries-with-queries",
            seen="The queries are compared with one another; the keys are not used.",
            question="Which line of your function looks at k?",
            ways=(lambda q, k: np.argmax(q @ q.T, axis=-1),
                  lambda q, k: [int(np.argmax(q @ query)) for query in q]),
            step="the scores",
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
_MORE_TOKENS = (Case(_tokens(5, 7, 2, 11), "wide values"), Case(_tokens(1, 3, 2, 5), "one token"),
                Case(_tokens(5, 3, 2, 1), "values of one feature"))
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

def _cut_at(width):
    """Return a projection by all matrices at once, cut into pieces of ``width(wq, wv)``."""
    def project(x, wq, wk, wv):
        together, d = x @ np.hstack([wq, wk, wv]), width(wq, wv)
        return together[:, :d], together[:, d:2 * d], together[:, 2 * d:3 * d]

    return project


def _with_width(result, width):
    """Return an array with columns cut off, or columns of zeros added."""
    return np.hstack([result, np.zeros((len(result), width))])[:, :width]


def _of_one_width(filled):
    """Return the projections in arrays as wide as the keys, ``filled(wq, wv)`` columns of them."""
    def project(x, wq, wk, wv):
        return tuple(_with_width((x @ w)[:, : filled(wq, wv)], wq.shape[1]) for w in (wq, wk, wv))

    return project


def _projections_times(scale, scaled):
    """Return the projections, those at the positions ``scaled`` times ``scale(x, wq)``."""
    return lambda x, *weights: [x @ w * (scale(x, weights[0]) if i in scaled else 1)
                                for i, w in enumerate(weights)]


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
            Case(_tokens(7, 3, 3, 3), "square matrices"), *_MORE_TOKENS),
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
        Mistake(
            id="another-order",
            seen="The three results are there, in another order than asked for.",
            question="Which of the three comes first in the text of the exercise, and which in "
                     "your return?",
            ways=tuple(map(_project_by, ((2, 1, 0), (1, 2, 0), (2, 0, 1)))),
            step="the order of the results",
        ),
        Mistake(
            id="scaled-already",
            seen="A projection is multiplied by a scale, which belongs to the scores.",
            question="Does the text of this exercise speak of a scale? Which step comes after the "
                     "projections?",
            ways=tuple(_projections_times(scale, scaled)
                       for scale in (lambda x, wq: wq.shape[1] ** -0.5,
                                     lambda x, wq: x.shape[1] ** -0.5)
                       for scaled in ((0,), (0, 1), (0, 1, 2))),
            step="each token times each matrix",
        ),
        Mistake(
            id="widths-mixed-up",
            seen="A result is not as wide as its own matrix: the values are as wide as the keys, "
                 "or what was joined is cut at other places.",
            question="How many columns have wq, wk and wv, and how many have your results?",
            ways=(_cut_at(lambda wq, wv: wq.shape[1]), _cut_at(lambda wq, wv: wv.shape[1]),
                  lambda x, *weights: np.array_split(x @ np.hstack(weights), 3, axis=1),
                  lambda x, *weights: np.split(x @ np.hstack(weights), 3, axis=1),
                  _of_one_width(lambda wq, wv: max(wq.shape[1], wv.shape[1])),
                  _of_one_width(lambda wq, wv: min(wq.shape[1], wv.shape[1])),
                  lambda x, wq, wk, wv: (x @ wq, x @ wk, (x @ wv)[:, : wk.shape[1]])),
            step="each token times each matrix",
        ),
        Mistake(
            id="one-token-only",
            seen="A single token is projected, and the others are missing.",
            question="How many rows should each result have for three tokens?",
            ways=tuple(lambda x, *weights, rows=rows: [x[rows] @ w for w in weights]
                       for rows in (0, -1, slice(1), slice(-1, None))),
            step="each token times each matrix",
        ),
        Mistake(
            id="tokens-turned",
            seen="x is turned on its side, so that features stand where tokens should; where their "
                 "numbers differ, this raises an error.",
            question="What is one row of x, and what is one row of x.T?",
            ways=(lambda x, *weights: [x.T @ w for w in weights],
                  lambda x, *weights: [np.einsum("mn,md->nd", x, w) for w in weights],
                  lambda x, *weights: [(w.T @ x).T for w in weights]),
            step="each token times each matrix",
        ),
        Mistake(
            id="joined",
            seen="The three results come as one array, side by side or one below the other.",
            question="How could your caller write q, k, v = project(x, wq, wk, wv)?",
            ways=(lambda x, *weights: x @ np.hstack(weights),
                  lambda x, *weights: np.concatenate([x @ w for w in weights], axis=1)[None],
                  lambda x, *weights: np.vstack([x @ w for w in weights])),
            step="the order of the results",
        ),
        axis_of_one_lost(_project, "each token times each matrix"),
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
        Mistake(
            id="one-token-only",
            seen="This is the shape of the scores of a single query, or of a single key.",
            question="How many tokens ask, and how many answer?",
            ways=((1, 5), (5,), 5, (7, 1), (7,), 7),
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


def _less_the_score_before(q, k):
    scores = np.cumsum(q @ k.T, axis=1)
    for j in range(1, len(k)):
        scores[:, j] -= scores[:, j - 1]
    return scores


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
        *_LOOP_MISTAKES,
        Mistake(
            id="score-before-taken-off",
            seen="The total still runs on; what is taken off it is a score before, not all that "
                 "the total held.",
            question="Before the third key, what does total hold, and how much of it is the score "
                     "of the second?",
            ways=(_less_the_score_before, lambda q, k: np.cumsum(q @ k.T, axis=1)
                  - np.pad(q @ k.T, ((0, 0), (1, 0)))[:, :-1]),
            step="one total for each pair",
        ),
        Mistake(
            id="one-total-for-a-query",
            seen="All scores of a query are the same: one total is written for all of its keys.",
            question="Which line should run once for each pair, and how often does it run?",
            ways=(lambda q, k: np.tile((q @ k.T).sum(axis=1, keepdims=True), len(k)),
                  lambda q, k: np.tile((q @ k.T)[:, -1:], len(k))),
            step="one total for each pair",
        ),
    ),
    variants=(_all_scores, _scores_in_loops, in_float32(_mended_all_scores),
              lambda q, k: np.einsum("id,jd->ij", q, k)),
    solution=_mended_all_scores,
    package=(attention_book.scores,),
    faulty=fault_all_scores,
)

EXERCISES = (_PREDICT, _DOT_PRODUCT, _ALL_SCORES, _COSINE, _BEST, _PROJECT, _FAULT)
