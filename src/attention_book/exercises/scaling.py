"""The exercises of the chapter on scaling."""

import math

import numpy as np

import attention_book
from attention_book.exercises.building_blocks import by_row, in_float32, reference_softmax, softmax
from attention_book.exercises.model import Case, Example, Exercise, Mistake, Step, prediction

CHAPTER = "02_scaling"

_rng = np.random.default_rng(2)


def _pair(n_query, n_key, d, size=1.0):
    """Return queries and keys."""
    q, k = _rng.normal(size=(n_query, d)), _rng.normal(size=(n_key, d))
    return (size * q).round(3), (size * k).round(3)


# --- scaled_scores(q, k) --------------------------------------------------------------------------
_DOTS, _SCALE = "the dot products", "the scale"
_ONE_FEATURE = Case(_pair(3, 5, 1), "vectors of one feature, where the scale is 1", _DOTS)
_SEVEN_FEATURES = Case(_pair(3, 5, 7), "vectors of seven features", _SCALE)
_SQUARE = Case(_pair(5, 5, 5), "as many queries as keys and features", _DOTS)
_TWO_FEATURES = Case(_pair(7, 3, 2), "more queries than keys", _SCALE)


def _reference_scores(q, k):
    return [[math.fsum(a * b for a, b in zip(query, key, strict=True)) / math.sqrt(len(query))
             for key in k] for query in q]


def _dots(q, k):
    return q @ k.T


def _scores_in_loops(scale):
    """Return a way to score pair by pair, ``scale`` found from q and k."""
    def scores(q, k):
        found = np.zeros((len(q), len(k)))
        for i in range(len(q)):
            for j in range(len(k)):
                found[i, j] = sum(q[i] * k[j]) * scale(q, k)
        return found

    return scores


def _scaled_on_both_sides(exponent):
    return lambda q, k: (q * q.shape[-1] ** exponent) @ (k * k.shape[-1] ** exponent).T


def _cosines(q, k):
    lengths = np.linalg.norm(q, axis=-1)[:, None] * np.linalg.norm(k, axis=-1)
    return _dots(q, k) / lengths


def _cosines_of_unit_vectors(q, k):
    units = [x / np.sqrt((x * x).sum(axis=-1, keepdims=True)) for x in (q, k)]
    return _dots(*units)


def _solve_scaled_scores(q, k):
    d = q.shape[-1]
    return q @ k.T * d**-0.5  # (n_query, n_key)


def _scores_as_rows(q, k):
    root = math.sqrt(len(q[0]))
    return [[sum(a * b for a, b in zip(query, key, strict=True)) / root for key in k]
            for query in q]


_SCALED_SCORES = Exercise(
    id="scaled_scores",
    chapter=CHAPTER,
    title="Scores that do not grow with d",
    signature="scaled_scores(q, k)",
    shapes="(n_query, d), (n_key, d) → (n_query, n_key)",
    prompt="Write scaled_scores(q, k): the dot product of every query with every key, multiplied "
           "by the one factor that gives the scores variance 1 at any d, when all features are "
           "independent with mean 0 and variance 1.",
    hints=("Start from the scores as they are, one row for each query and one column for each key.",
           "Dividing a number by c divides its variance by c squared. What is the variance of a "
           "score of d features?",
           "The factor depends on one length only: on the axis that the dot product sums over. "
           "Take it from the shape of q."),
    example=Example((np.array([[1.0, 2, 3, 2]]), np.array([[2.0, 1, 2, 4], [1, 0, -1, 2]])),
                    [[9.0, 1.0]]),
    reference=_reference_scores,
    cases=(
        _ONE_FEATURE,
        _SEVEN_FEATURES,
        _TWO_FEATURES,
        _SQUARE,
        Case(_pair(1, 1, 3), "one query and one key", _SCALE),
        Case(_pair(2, 3, 257), "vectors of 257 features", _SCALE),
        Case(_pair(2, 5, 11, size=300.0), "large features", _SCALE),
    ),
    naming=(_SEVEN_FEATURES, _SQUARE, _TWO_FEATURES),
    mistakes=(
        Mistake(
            id="unscaled",
            seen="The dot products come out as they are, without a scale.",
            question="With four times as many features, how does the standard deviation of your "
                     "scores change?",
            ways=(_dots, _scores_in_loops(lambda q, k: 1), np.inner,
                  lambda q, k: np.einsum("id,jd->ij", q, k)),
            step=_SCALE,
        ),
        Mistake(
            id="divide-by-d",
            seen="The scores are divided by d in all, once or in two steps.",
            question="What is the variance of a score of d features, and what does dividing by d "
                     "make of it?",
            ways=(lambda q, k: _dots(q, k) / q.shape[-1], _scaled_on_both_sides(-0.5),
                  _scores_in_loops(lambda q, k: 1 / q.shape[-1]),
                  lambda q, k: (q[:, None] * k).mean(axis=-1)),
            step=_SCALE,
        ),
        Mistake(
            id="multiply-by-sqrt-d",
            seen="The scale is turned around: more features make the scores larger still.",
            question="Should the factor be above or below 1 when d is large?",
            ways=(lambda q, k: _dots(q, k) * q.shape[-1] ** 0.5, _scaled_on_both_sides(0.25),
                  _scores_in_loops(lambda q, k: math.sqrt(len(q[0])))),
            step=_SCALE,
        ),
        Mistake(
            id="divide-by-sqrt-n-key",
            seen="The scale comes from the number of keys.",
            question="Does one dot product change when another key is added? Over which axis does "
                     "it sum?",
            ways=(lambda q, k: _dots(q, k) / len(k) ** 0.5,
                  lambda q, k: _dots(q, k) / np.sqrt(_dots(q, k).shape[-1]),
                  _scores_in_loops(lambda q, k: len(k) ** -0.5)),
            step=_SCALE,
        ),
        Mistake(
            id="divide-by-sqrt-n-query",
            seen="The scale comes from the number of queries.",
            question="Does one dot product change when another query is added? Over which axis "
                     "does it sum?",
            ways=(lambda q, k: _dots(q, k) / np.sqrt(q.shape[0]),
                  lambda q, k: _dots(q * len(q) ** -0.25, k * len(q) ** -0.25),
                  _scores_in_loops(lambda q, k: len(q) ** -0.5)),
            step=_SCALE,
        ),
        Mistake(
            id="fourth-root",
            seen="The scores are divided by the fourth root of d only.",
            question="What is the variance of a score before the scale, and what is it after yours?",
            ways=(lambda q, k: _dots(q * q.shape[-1] ** -0.25, k),
                  lambda q, k: _dots(q, k) / np.sqrt(np.sqrt(q.shape[-1])),
                  _scores_in_loops(lambda q, k: len(q[0]) ** -0.25)),
            step=_SCALE,
        ),
        Mistake(
            id="divide-by-measured-std",
            seen="The scale is measured on these very scores, so each score depends on all others.",
            question="Which factor is known before any score is? What is it for a single score?",
            ways=(lambda q, k: _dots(q, k) / _dots(q, k).std(),
                  lambda q, k: _dots(q, k) / _dots(q, k).std(axis=-1, keepdims=True),
                  lambda q, k: (_dots(q, k) - _dots(q, k).mean()) / _dots(q, k).std(),
                  lambda q, k: _dots(q, k) / _dots(q, k).var()),
            step=_SCALE,
        ),
        Mistake(
            id="cosine",
            seen="Each score is divided by the lengths of its two vectors.",
            question="Two keys point the same way, and one is longer. Should a query give both the "
                     "same score?",
            ways=(_cosines, _cosines_of_unit_vectors),
            step=_SCALE,
        ),
        Mistake(
            id="transposed",
            seen="There is one row for each key; there should be one for each query.",
            question="In your product, which of the two stands first, and what becomes of its rows?",
            ways=(lambda q, k: k @ q.T * q.shape[-1] ** -0.5,
                  lambda q, k: _scores_in_loops(lambda k, q: len(q[0]) ** -0.5)(k, q)),
            step=_DOTS,
        ),
        Mistake(
            id="features-not-summed",
            seen="The product sums over another axis than the features; it raises an error where "
                 "the lengths differ.",
            question="A dot product runs over the features of both vectors. On which axis of q are "
                     "they, and on which of k, where your product sums?",
            ways=(lambda q, k: q @ k * q.shape[-1] ** -0.5, lambda q, k: q @ k,
                  lambda q, k: q.T @ k * q.shape[-1] ** -0.5, lambda q, k: q.T @ k,
                  lambda q, k: np.einsum("ij,jk->ik", q, k) / np.sqrt(q.shape[-1]),
                  lambda q, k: q * k * q.shape[-1] ** -0.5, lambda q, k: q * k),
            step=_DOTS,
        ),
        Mistake(
            id="weights-not-scores",
            seen="The result holds weights: a softmax was taken of the scores.",
            question="Which step of the computation is asked for, and which one comes after it?",
            ways=(lambda q, k: softmax(_solve_scaled_scores(q, k)),
                  lambda q, k: softmax(_dots(q, k))),
            step=_SCALE,
        ),
    ),
    variants=(
        _scores_as_rows,
        _scores_in_loops(lambda q, k: 1 / math.sqrt(k.shape[1])),
        _scaled_on_both_sides(-0.25),
        in_float32(lambda q, k: (q / math.sqrt(q.shape[-1])) @ k.T),
        lambda q, k: np.einsum("id,jd->ij", q, k) / np.sqrt(q.shape[1]),
        lambda q, k: (q[:, None, :] * k[None, :, :]).sum(axis=-1) / q.shape[-1] ** 0.5,
        lambda q, k: (k @ q.T / np.sqrt(len(k.T))).T,
    ),
    solution=_solve_scaled_scores,
    package=(attention_book.scores,),
)


# --- predicted_std(d) -----------------------------------------------------------------------------
_NUMBERS = tuple(Case((d,), note, "the standard deviation") for d, note in (
    (1, "one feature"), (2, "two features"), (64, "64 features"), (257, "257 features"),
    (10**6, "a million features")))


def _std_of_terms(d):
    total = 0
    for _ in range(d):
        total += 1  # the variance of one more product
    return math.sqrt(total)


_PREDICTED_STD = Exercise(
    id="predicted_std",
    chapter=CHAPTER,
    title="How large is a score?",
    signature="predicted_std(d)",
    shapes="a whole number → a number",
    prompt="Write predicted_std(d): the exact standard deviation of one score q · k as it is, "
           "without a scale. q and k have d features each, all independent and standard normal: "
           "mean 0, variance 1. Work it out; draw no random numbers.",
    hints=("Start with one product of a query's feature and a key's feature. How large is its "
           "variance?",
           "The score is a sum of d such products. Variances of independent terms add up; standard "
           "deviations do not.",
           "Undo the square only at the very end: the standard deviation of a quantity, times "
           "itself, is its variance."),
    example=Example((16,), 4.0),
    reference=lambda d: math.exp(math.log(d) / 2),
    cases=_NUMBERS,
    naming=_NUMBERS,
    mistakes=(
        Mistake(
            id="variance",
            seen="The result is d, the variance of the score.",
            question="In which unit is your result, that of a score or that of a score squared? If "
                     "you added standard deviations: which quantity adds up instead?",
            ways=(lambda d: d, lambda d: float(sum(1 for _ in range(d))), lambda d: np.ones(d).sum()),
            step="the standard deviation",
        ),
        Mistake(
            id="inverse",
            seen="The result is the factor that brings the score back to 1, not the score's size.",
            question="Does a sum of more terms spread more widely, or less?",
            ways=(lambda d: d**-0.5, lambda d: 1 / math.sqrt(d), lambda d: np.sqrt(d) / d),
            step="the standard deviation",
        ),
        Mistake(
            id="constant",
            seen="The result is the same for every d.",
            question="The features have this spread, or this mean, one by one. What happens to the "
                     "spread as d of their products are added?",
            ways=(lambda d: 1.0, lambda d: 0.0, lambda d: math.sqrt(2)),
            step="the sum of d products",
        ),
        Mistake(
            id="variances-added",
            seen="One product is given variance 2, as if a feature of q and one of k were added.",
            question="The mean of a product of independent numbers is the product of their means. "
                     "What is the mean of the square of one product, then?",
            ways=(lambda d: math.sqrt(2 * d), lambda d: np.sqrt(d + d), lambda d: 2 * (d / 2) ** 0.5),
            step="the variance of one product",
        ),
        Mistake(
            id="inverse-of-variance",
            seen="The result is one divided by d.",
            question="Does a sum of more terms spread more widely, or less?",
            ways=(lambda d: 1 / d, lambda d: d**-1.0),
            step="the standard deviation",
        ),
        Mistake(
            id="squared",
            seen="The result is d squared: the variance was squared where its root is wanted.",
            question="Which is squared to give the other: the standard deviation or the variance?",
            ways=(lambda d: d**2, lambda d: float(d) * d),
            step="the standard deviation",
        ),
    ),
    variants=(
        _std_of_terms,
        math.sqrt,
        lambda d: np.sqrt(np.float32(d)),
        lambda d: np.linalg.norm(np.ones(d)),
        lambda d: d / d**0.5,
    ),
    solution=lambda d: d**0.5,
)


# --- predict_scaled_std ---------------------------------------------------------------------------
_PREDICT_SCALED_STD = prediction(
    id="predict_scaled_std",
    chapter=CHAPTER,
    title="Louder queries",
    signature="one number, the standard deviation",
    shapes="one number",
    prompt="All features are independent and have mean 0. A key's features have variance 1, a "
           "query's have variance 4. There are d = 16 features, and the scores are divided by √d. "
           "What is the standard deviation of these scaled scores? Write the number down before "
           "you run anything.",
    hints=("Go step by step, and keep to variances as long as things are multiplied and added.",
           "The argument for variance 1 in this chapter has one line that changes: the mean of the "
           "square of one product.",
           "There are four steps: one product, the sum of 16, the root, the scale. Write down one "
           "number for each."),
    value=2.0,
    steps=(Step("one product", "variance 4 · 1 = 4"),
           Step("the sum of 16 products", "variance 16 · 4 = 64"),
           Step("the standard deviation", "√64 = 8"),
           Step("the scale", "8 / √16 = 2")),
    mistakes=(
        Mistake(
            id="as-if-standard-normal",
            seen="This is the value for features that all have variance 1.",
            question="Which of the factors in mean(q²) · mean(k²) is not 1 here?",
            ways=(1.0,),
            step="one product",
        ),
        Mistake(
            id="standard-deviation-for-variance",
            seen="One product was given variance 2: the standard deviation of a query's feature "
                 "stands where its variance belongs.",
            question="What is the mean of q² for one feature of a query?",
            ways=(1.4, 1.41, 1.414, 1.4142, math.sqrt(2)),
            step="one product",
        ),
        Mistake(
            id="variances-added",
            seen="One product was given variance 5: the two variances were added.",
            question="A query's feature and a key's are multiplied. What is the mean of the square "
                     "of that product?",
            ways=(2.2, 2.24, 2.236, 2.2361, math.sqrt(5)),
            step="one product",
        ),
        Mistake(
            id="products-not-summed",
            seen="The size of a single product was scaled; the sum of 16 is missing.",
            question="How does the variance change when 16 independent terms are added?",
            ways=(0.5 / 1.0,),
            step="the sum of 16 products",
        ),
        Mistake(
            id="variance",
            seen="This is a variance, before the scale or after it, or a variance that was scaled "
                 "like a standard deviation.",
            question="Which step leads from a variance to a standard deviation?",
            ways=(4.0, 16.0, 64.0),
            step="the standard deviation",
        ),
        Mistake(
            id="unscaled",
            seen="This is the standard deviation before the scores are divided.",
            question="What does dividing by √16 do to it?",
            ways=(8.0,),
            step="the scale",
        ),
        Mistake(
            id="multiply-by-sqrt-d",
            seen="The scores were multiplied by √16 where they are divided by it.",
            question="Should the scale make the scores larger or smaller?",
            ways=(32.0,),
            step="the scale",
        ),
    ),
    variants=(2, np.float32(2.0), np.array(2.0), [2.0][0]),
)
