"""The exercises of the chapter on scaling."""

import itertools
import math

import numpy as np

import attention_book
from attention_book.exercises.building_blocks import by_row, in_float32, reference_softmax, softmax
from attention_book.exercises.model import Case, Example, Exercise, Mistake, Step, prediction
from attention_book.exercises.shared_kinds import (
    axis_of_one_lost,
    before_the_first_zero,
    rounded_roots,
)

CHAPTER = "02_scaling"

_rng = np.random.default_rng(2)


def _pair(n_query, n_key, d, size=1.0):
    """Return queries and keys."""
    decimals = 3 if size == 1 else 0  # float32 holds a sum of large products exactly
    return tuple((size * _rng.normal(size=(n, d))).round(decimals) for n in (n_query, n_key))


# --- scaled_scores(q, k) --------------------------------------------------------------------------
_DOTS, _SCALE = "the dot products", "the scale"
_ONE_FEATURE = Case(_pair(3, 5, 1), "vectors of one feature, where the scale is 1", _DOTS)
_SEVEN_FEATURES = Case(_pair(3, 5, 7), "vectors of seven features", _SCALE)
_SQUARE = Case(_pair(5, 5, 5), "as many queries as keys and features", _DOTS)
_THREE_FEATURES = Case(_pair(13, 11, 3), "more queries than keys", _SCALE)


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


def _divided_at_every_feature(q, k):
    """Return scores whose running total is divided once for each feature."""
    d = q.shape[-1]
    return q @ (k * d ** (-0.5 * np.arange(d, 0, -1))).T


def _divided_after_every_product_but_one(q, k):
    d = q.shape[-1]
    return q @ (k * d ** (-0.5 * np.minimum(np.arange(d, 0, -1), d - 1))).T


_MORE_PAIRS = np.random.default_rng(22)
_ONE_QUERY = Case(tuple(_MORE_PAIRS.normal(size=(n, 3)).round(3) for n in (1, 5)), "one query",
                  _DOTS)
_ONE_KEY = Case(tuple(_MORE_PAIRS.normal(size=(n, 3)).round(3) for n in (5, 1)), "one key", _DOTS)

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
    example=Example((np.array([[1.0, 2, 3, 2]]), np.array([[2.0, 1, 2, 4], [1, 0, -3, 2]])),
                    [[9.0, -2.0]]),
    reference=_reference_scores,
    cases=(
        _ONE_FEATURE,
        Case(_pair(1, 2, 4), "other vectors of four features", _SCALE),
        _SEVEN_FEATURES,
        _THREE_FEATURES,
        _SQUARE,
        Case(_pair(1, 1, 3), "one query and one key", _SCALE),
        Case(_pair(2, 3, 257), "vectors of 257 features", _SCALE),
        Case(_pair(2, 5, 11, size=300.0), "large features", _SCALE),
        _ONE_KEY,
    ),
    naming=(_SEVEN_FEATURES, _SQUARE, _THREE_FEATURES, _ONE_QUERY, _ONE_KEY),
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
            id="divide-by-sqrt-size",
            seen="The scale comes from how many numbers q or k holds in all.",
            question="Which of these numbers take part in one dot product?",
            ways=(lambda q, k: _dots(q, k) / np.sqrt(q.size),
                  lambda q, k: _dots(q, k) / np.sqrt(k.size)),
            step=_SCALE,
        ),
        Mistake(
            id="another-power-of-d",
            seen="The scale is a power of d, but not its square root.",
            question="What is the variance of a score before the scale, and what after yours?",
            ways=(lambda q, k: _dots(q * q.shape[-1] ** -0.25, k),
                  lambda q, k: _dots(q, k) / np.sqrt(np.sqrt(q.shape[-1])),
                  _scores_in_loops(lambda q, k: len(q[0]) ** -0.25),
                  lambda q, k: _dots(q, k) / q.shape[-1] ** 2, _scaled_on_both_sides(-0.75),
                  lambda q, k: _dots(q, k) / q.shape[-1] ** (1 / 3)),
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
            id="rounded",
            seen="The scores are rounded, to whole numbers or to a few decimals.",
            question="Two keys differ a little. Would your scores still tell them apart?",
            ways=(lambda q, k: _dots(q, k) // q.shape[-1] ** 0.5,
                  lambda q, k: np.round(_solve_scaled_scores(q, k)),
                  lambda q, k: _solve_scaled_scores(q, k).astype(int),
                  lambda q, k: np.round(_solve_scaled_scores(q, k), 1),
                  lambda q, k: np.round(_solve_scaled_scores(q, k), 2)),
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
            question="In your product, which of the two comes first, and what becomes of its rows?",
            ways=(lambda q, k: k @ q.T * q.shape[-1] ** -0.5, lambda q, k: k @ q.T,
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
            id="queries-with-queries",
            seen="Queries are compared with queries; the keys are not used.",
            question="If k changes, does your result?",
            ways=(lambda q, k: q @ q.T * q.shape[-1] ** -0.5, lambda q, k: q @ q.T),
            step=_DOTS,
        ),
        Mistake(
            id="keys-with-keys",
            seen="Keys are compared with keys; the queries are not used.",
            question="If q changes, does your result?",
            ways=(lambda q, k: k @ k.T * k.shape[-1] ** -0.5, lambda q, k: k @ k.T),
            step=_DOTS,
        ),
        Mistake(
            id="pairs-only",
            seen="Each query meets one key only, the one in the same row.",
            question="How many scores should two queries and three keys have?",
            ways=(lambda q, k: (q * k).sum(axis=-1) * q.shape[-1] ** -0.5,
                  lambda q, k: (q * k).sum(axis=-1),
                  lambda q, k: [a @ b / math.sqrt(len(a)) for a, b in zip(q, k, strict=False)],
                  lambda q, k: [a @ b for a, b in zip(q, k, strict=False)]),
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
        Mistake(
            id="root-rounded",
            seen="The root of d is rounded to a whole number: right where d is a square, and only "
                 "there.",
            question="What is the root of 7, and what do you divide by when d is 7?",
            ways=tuple(lambda q, k, root=root: _dots(q, k) / root(q.shape[-1])
                       for root in rounded_roots()),
            step=_SCALE,
        ),
        Mistake(
            id="constant-scale",
            seen="The scores are divided by the same number for every d.",
            question="By what do you divide when there are 4 features, and by what when there are "
                     "100?",
            ways=tuple(lambda q, k, c=c: _dots(q, k) / c for c in (2, 4, 8)),
            step=_SCALE,
        ),
        Mistake(
            id="half-for-a-root",
            seen="The scale holds d and a factor of two, where the root of d is wanted.",
            question="In which order does Python work out d ** 1 / 2, and what is it for d = 16?",
            ways=tuple(lambda q, k, scale=scale: _dots(q, k) * scale(q.shape[-1]) for scale in (
                lambda d: 0.5 / d, lambda d: 2 / d, lambda d: d / 2, lambda d: -d / 2,
                lambda d: 1 / (2 * d), lambda d: 2 * d)),
            step=_SCALE,
        ),
        Mistake(
            id="root-of-scores",
            seen="The root is taken of the scores, not of d.",
            question="What happens to the factor between two scores when you take their roots?",
            ways=(lambda q, k: np.copysign(np.abs(_dots(q, k)) ** 0.5, _dots(q, k)),
                  lambda q, k: np.sqrt(_dots(q, k)), lambda q, k: np.sqrt(np.abs(_dots(q, k))),
                  lambda q, k: np.sqrt(_dots(q, k) / q.shape[-1])),
            step=_SCALE,
        ),
        Mistake(
            id="divided-again-and-again",
            seen="The running total is divided at every feature, so the first products end up "
                 "much smaller than the last.",
            question="How often does your loop divide the product of the first feature?",
            ways=(_divided_at_every_feature, _divided_after_every_product_but_one),
            step=_SCALE,
        ),
        axis_of_one_lost(_solve_scaled_scores, _DOTS),
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
    (1, "one feature"), (2, "two features"), (64, "64 features"), (7, "seven features"),
    (43, "43 features"), (151, "151 features"), (10**4, "10,000 features")))


def _std_of_terms(d):
    total = 0
    for _ in range(d):
        total += 1  # the variance of one more product
    return math.sqrt(total)


def _solve_predicted_std(d):
    variance = d  # d independent products, of variance 1 each
    return variance**0.5


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
    naming=_NUMBERS[3:6],
    mistakes=(
        Mistake(
            id="variance",
            seen="The result is d, the variance of the score.",
            question="In which unit is your result, that of a score or that of a score squared? If "
                     "you added standard deviations: which quantity adds up instead?",
            ways=(lambda d: d, lambda d: float(sum(1 for _ in range(d))),
                  lambda d: np.ones(d).sum()),
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
            ways=(lambda d: math.sqrt(2 * d), lambda d: np.sqrt(d + d),
                  lambda d: 2 * (d / 2) ** 0.5, lambda d: 2 * d),
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
        Mistake(
            id="rounded",
            seen="The result is rounded.",
            question="Is the standard deviation for seven features a whole number?",
            ways=(math.isqrt, lambda d: int(math.sqrt(d)), lambda d: round(math.sqrt(d)),
                  lambda d: math.ceil(math.sqrt(d)), lambda d: round(math.sqrt(d), 1),
                  lambda d: round(math.sqrt(d), 2)),
            step="the standard deviation",
        ),
        Mistake(
            id="another-power-of-d",
            seen="The result is a power of d, but not its square root.",
            question="How does the standard deviation follow from the variance?",
            ways=(lambda d: d**0.25, lambda d: d**1.5, lambda d: d ** (1 / 3)),
            step="the standard deviation",
        ),
        Mistake(
            id="one-more-or-less",
            seen="The result is the root of d − 1 or of d + 1.",
            question="What is the score of one feature, and how large is its variance?",
            ways=(lambda d: (d - 1) ** 0.5, lambda d: math.sqrt(d + 1)),
            step="the sum of d products",
        ),
        Mistake(
            id="another-factor",
            seen="The result is the root of d times a number that does not belong there.",
            question="How large is the variance of the product of one feature of q and one of k, "
                     "and what does your function give for d = 1?",
            ways=(lambda d: (d / 2) ** 0.5, lambda d: 2 * math.sqrt(d), lambda d: d**0.5 / 2,
                  lambda d: (3 * d) ** 0.5, lambda d: math.sqrt(2 * d / math.pi)),
            step="the variance of one product",
        ),
        Mistake(
            id="half-for-a-root",
            seen="The result holds d and a factor of two, where the root of d is wanted.",
            question="In which order does Python work out d ** 1 / 2, and what is it for d = 16?",
            ways=(lambda d: d / 2, lambda d: 0.5 * d, lambda d: d // 2),
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
    solution=_solve_predicted_std,
)


# --- predict_scaled_std ---------------------------------------------------------------------------
_PREDICT_SCALED_STD = prediction(
    id="predict_scaled_std",
    chapter=CHAPTER,
    title="Louder queries",
    signature="one number, the standard deviation",
    shapes="one number",
    prompt="All features are independent and have mean 0. A key's features have variance 1, a "
           "query's have variance 9. There are d = 16 features, and the scores are divided by √d. "
           "What is the standard deviation of these scaled scores? Write the number down before "
           "you run anything.",
    hints=("Go step by step, and stay with variances while things are multiplied and added.",
           "One line of this chapter's argument changes: the mean of the square of one product.",
           "There are four steps: one product, the sum of 16, the root, the scale. Write down one "
           "number for each."),
    value=3.0,
    tolerance=0.05,
    steps=(Step("one product", "variance 9 · 1 = 9"),
           Step("the sum of 16 products", "variance 16 · 9 = 144"),
           Step("the standard deviation", "√144 = 12"),
           Step("the scale", "12 / √16 = 3")),
    mistakes=(
        Mistake(
            id="as-if-standard-normal",
            seen="This is the value for features that all have variance 1.",
            question="Which of the factors in mean(q²) · mean(k²) is not 1 here?",
            ways=(1.0, [1]),
            step="one product",
        ),
        Mistake(
            id="root-too-early",
            seen="One product was given variance 3: the standard deviation of a query's feature "
                 "stands where its variance belongs.",
            question="What is the mean of q² for one feature of a query?",
            ways=(math.sqrt(3), 1.73),
            step="one product",
        ),
        Mistake(
            id="variances-added",
            seen="One product was given variance 10: the two variances were added.",
            question="A query's feature and a key's are multiplied. What is the mean of the square "
                     "of that product?",
            ways=(math.sqrt(10), 3.16),
            step="one product",
        ),
        Mistake(
            id="variance",
            seen="This is a variance, with the scale or without it; or the given 9 was taken for a "
                 "standard deviation.",
            question="Which step leads from a variance to a standard deviation?",
            ways=(9.0, 36.0, 144.0),
            step="the standard deviation",
        ),
        Mistake(
            id="unscaled",
            seen="This is the standard deviation before the scores are divided.",
            question="What does dividing by √16 do to it?",
            ways=(12.0, "12"),
            step="the scale",
        ),
        Mistake(
            id="divide-by-d",
            seen="The scores were divided by 16; or the sum of 16 products was left out, which "
                 "comes to the same.",
            question="How many times larger does the sum of 16 products make the standard "
                     "deviation, and by which number is it divided then?",
            ways=(0.75, (0.75,)),
            step="the scale",
        ),
        Mistake(
            id="multiply-by-sqrt-d",
            seen="The scores were multiplied by √16 where they are divided by it.",
            question="Should the scale make the scores larger or smaller?",
            ways=(48.0, "48"),
            step="the scale",
        ),
        Mistake(
            id="spreads-added",
            seen="This is what adding or averaging the standard deviations 3 and 1 gives.",
            question="A query's feature and a key's are multiplied. Which of their numbers are "
                     "multiplied then, to find the variance of the product?",
            ways=(4.0, 2.0),
            step="one product",
        ),
        Mistake(
            id="variance-scaled",
            seen="A variance was divided by the scale as if it were a standard deviation: 9 by 4, "
                 "or 36 by 16.",
            question="Which of your numbers are variances, and which line makes a standard "
                     "deviation of them?",
            ways=(2.25, [2.25]),
            step="the standard deviation",
        ),
        Mistake(
            id="half-of-the-spread",
            seen="This is 12 divided by 2: half of the scores' standard deviation, or the root "
                 "taken twice.",
            question="By which number are the scores divided?",
            ways=(6.0, (6,)),
            step="the scale",
        ),
    ),
    variants=(3, np.float32(3), np.array(3.0)),
)


# --- entropy(p) -----------------------------------------------------------------------------------
_TERM, _SUM, _ZERO = "one term, p log p", "the sum over the last axis", "a weight of zero"
_LINE = Case((np.array([0.7, 0.2, 0.1]),), "one row", _TERM)
_ROWS = Case((softmax(_rng.normal(size=(3, 5))),), "three rows of five weights", _SUM)
_CUBE = Case((softmax(_rng.normal(size=(2, 3, 7))),), "weights with three axes", _SUM)
_WITH_ZEROS = Case((np.array([[0.5, 0, 0.25, 0.25, 0], [0.125, 0.5, 0, 0.25, 0.125]]),),
                   "rows with weights of zero", _ZERO)
_ONE_ROW = Case((np.array([[0.5, 0.125, 0.25, 0.125]]),), "a table of one row", _SUM)
_SMALL = Case((np.array([[1e-300, 1 - 1e-9, 1e-9], [0, 1e-30, 1], [1e-5, 2e-5, 1 - 3e-5]]),),
              "very small weights", _ZERO)
_ONE_HOT = Case((np.eye(5)[:3],), "rows where one token has all", _ZERO)


@by_row
def _reference_entropy(row):
    return -math.fsum(weight * math.log(weight) for weight in row if weight > 0)


def _in_loops(log, finish=lambda total, n: -total):
    """Return a way to take the entropy row by row; ``log`` is given positive weights only."""
    def entropy(row):
        total = 0.0
        for weight in row:
            if weight > 0:
                total += weight * log(weight)
        return finish(total, len(row))

    return by_row(entropy)


def _terms(p, log=np.log):
    return p * log(np.where(p > 0, p, 1))


def _raised_by(eps):
    """Return the ways to keep weights from zero by a number that is too large."""
    return (lambda p: -(p * np.log(p + eps)).sum(axis=-1),
            lambda p: -((p + eps) * np.log(p + eps)).sum(axis=-1),
            lambda p: -(p * np.log(np.maximum(p, eps))).sum(axis=-1),
            lambda p: -(np.maximum(p, eps) * np.log(np.maximum(p, eps))).sum(axis=-1))


def _solve_entropy(p):
    positive = p > 0
    logs = np.log(p, out=np.zeros(p.shape), where=positive)  # 0 where p is 0
    return -(p * logs).sum(axis=-1)


_ENTROPY = Exercise(
    id="entropy",
    chapter=CHAPTER,
    title="How evenly are the weights spread?",
    signature="entropy(p)",
    shapes="(..., n) → (...)",
    prompt="Write entropy(p): the entropy of the weights along the last axis, in nats, that is, "
           "with the natural logarithm. The axes before it stay. A weight of zero adds nothing: "
           "0 · log 0 counts as 0. In the example each 0.25 adds 0.25 · log 4, and 0.5 adds "
           "0.5 · log 2: together 1.5 · log 2.",
    hints=("Each weight adds one term, its own size times its logarithm. Weights are below 1: "
           "which sign do these logarithms have?",
           "Sum along the last axis only. With n equal weights the result is log n.",
           "np.log(0) is -inf, and 0 times -inf is nan. Give the logarithm another number to work "
           "on where the weight is zero, and its term is still 0."),
    example=Example((np.array([0.5, 0.25, 0.25]),), 1.5 * math.log(2)),
    reference=_reference_entropy,
    cases=(
        Case((np.full(5, 0.2),), "five equal weights", _TERM),
        _LINE,
        _ROWS,
        _CUBE,
        Case((np.ones((3, 1)),), "rows of a single weight", _SUM),
        _WITH_ZEROS,
        _ONE_HOT,
        _SMALL,
        _ONE_ROW,
    ),
    naming=(_LINE, _ROWS, _CUBE, _WITH_ZEROS, _ONE_HOT, _SMALL, _ONE_ROW),
    mistakes=(
        Mistake(
            id="wrong-sign",
            seen="The sign is turned around: the entropy of weights is never below 0.",
            question="Is the logarithm of a number between 0 and 1 positive or negative?",
            ways=(_in_loops(math.log, lambda total, n: total), lambda p: _terms(p).sum(axis=-1),
                  lambda p: (p * np.log(p)).sum(axis=-1),
                  lambda p: _terms(p, np.log2).sum(axis=-1), lambda p: _terms(p).mean(axis=-1)),
            step=_TERM,
        ),
        Mistake(
            id="bits",
            seen="The logarithm has base 2, so the result is in bits.",
            question="Which logarithm measures in nats, so that five equal weights give 1.609?",
            ways=(_in_loops(math.log2), lambda p: -_terms(p, np.log2).sum(axis=-1),
                  lambda p: -(p * np.log2(p)).sum(axis=-1)),
            step=_TERM,
        ),
        Mistake(
            id="base-ten",
            seen="The logarithm has base 10.",
            question="Which logarithm measures in nats, so that five equal weights give 1.609?",
            ways=(_in_loops(math.log10), lambda p: -_terms(p, np.log10).sum(axis=-1),
                  lambda p: -(p * np.log10(p)).sum(axis=-1)),
            step=_TERM,
        ),
        Mistake(
            id="mean-not-sum",
            seen="The terms of a row are averaged.",
            question="The weights already say how much each term counts. What does another "
                     "division by n do?",
            ways=(_in_loops(math.log, lambda total, n: -total / n),
                  lambda p: -_terms(p).mean(axis=-1), lambda p: -(p * np.log(p)).mean(axis=-1)),
            step=_SUM,
        ),
        Mistake(
            id="nan-at-zero",
            seen="Positive weights come out right, but a weight of zero spoils its whole row.",
            question="What is np.log(0), and what is 0 times that? Which number should the term "
                     "be?",
            ways=(lambda p: -(p * np.log(p)).sum(axis=-1),
                  lambda p: (p * np.log(1 / p)).sum(axis=-1),
                  by_row(lambda row: -sum(each * math.log(each) for each in row)),
                  lambda p: np.nan_to_num(-(p * np.log(p)).sum(axis=-1))),
            step=_ZERO,
        ),
        Mistake(
            id="large-epsilon",
            seen="The weights are raised a little so that none is zero, which shows in the result.",
            question="How far is log(p + eps) from log(p) for the weights you have, and how small "
                     "must eps be for that not to matter?",
            ways=tuple(way for eps in (0.1, 0.01, 1e-3, 1e-4) for way in _raised_by(eps)),
            step=_ZERO,
        ),
        Mistake(
            id="divided-by-its-maximum",
            seen="The entropy is divided by log n, so that equal weights give 1.",
            question="What should n equal weights give, 1 or log n?",
            ways=(lambda p: -_terms(p).sum(axis=-1) / np.log(p.shape[-1]),
                  _in_loops(math.log, lambda total, n: -total / math.log(n))),
            step=_SUM,
        ),
        Mistake(
            id="perplexity",
            seen="The exponential of the entropy is returned.",
            question="One token has all the weight. Which value is asked for, 0 or 1?",
            ways=(lambda p: np.exp(-_terms(p).sum(axis=-1)),
                  _in_loops(math.log, lambda total, n: math.exp(-total))),
            step=_SUM,
        ),
        Mistake(
            id="one-row-only",
            seen="A single row comes out right; weights with more axes raise an error.",
            question="For p of shape (3, 5), what does your function go through: numbers, or rows "
                     "of them?",
            ways=(lambda p: -sum(each * math.log(each) for each in p if each > 0),
                  lambda p: -p @ np.log(p), lambda p: -np.dot(p[p > 0], np.log(p))),
            step=_SUM,
        ),
        Mistake(
            id="wrong-axis",
            seen="The sum runs along another axis than the last.",
            question="Along which axis do the weights of one query sum to 1?",
            ways=(lambda p: -_terms(p).sum(axis=0), lambda p: -(p * np.log(p)).sum(axis=0),
                  lambda p: _in_loops(math.log)(np.moveaxis(p, 0, -1)),
                  lambda p: -_terms(p).sum(axis=1), lambda p: -(p * np.log(p)).sum(axis=1),
                  lambda p: -_terms(np.atleast_2d(p)).sum(axis=1),
                  lambda p: -_terms(p).sum(axis=max(p.ndim - 2, 0)),
                  lambda p: -(p * np.log(p)).sum(axis=max(p.ndim - 2, 0))),
            step=_SUM,
        ),
        Mistake(
            id="global-sum",
            seen="All rows are summed to a single number.",
            question="Three queries have three rows of weights. How many entropies do you expect?",
            ways=(lambda p: -_terms(p).sum(), lambda p: -(p * np.log(p)).sum(),
                  lambda p: -sum(each * math.log(each) for each in p.ravel() if each > 0),
                  lambda p: -(p[p > 0] @ np.log(p[p > 0]))),
            step=_SUM,
        ),
        Mistake(
            id="not-summed",
            seen="Each weight keeps a term of its own; nothing is summed.",
            question="How many numbers should one row of weights give?",
            ways=(lambda p: -_terms(p), lambda p: -p * np.log(p),
                  by_row(lambda row: [-p * math.log(p) if p > 0 else 0 for p in row])),
            step=_SUM,
        ),
        Mistake(
            id="weights-forgotten",
            seen="The logarithms are summed as they are, so rare tokens count as much as frequent "
                 "ones.",
            question="How much should the term of a weight near zero add to the whole?",
            ways=(lambda p: -np.log(p).sum(axis=-1),
                  lambda p: -np.log(np.where(p > 0, p, 1)).sum(axis=-1),
                  by_row(lambda row: -sum(math.log(each) for each in row if each > 0))),
            step=_TERM,
        ),
        Mistake(
            id="stops-at-zero",
            seen="The sum ends at a weight of zero; what comes after it is left out.",
            question="A weight of zero adds nothing. Does that hold for the weights behind it?",
            ways=(lambda p: -(_terms(p) * before_the_first_zero(p)).sum(axis=-1),
                  by_row(lambda row: -sum(each * math.log(each)
                                          for each in itertools.takewhile(bool, row)))),
            step=_ZERO,
        ),
        Mistake(
            id="largest-weight-only",
            seen="Only the largest weight of a row counts.",
            question="How many terms has the sum of a row of five weights?",
            ways=(lambda p: -_terms(p.max(axis=-1)), lambda p: -np.log(p.max(axis=-1)),
                  lambda p: p.max(axis=-1), lambda p: 1 - p.max(axis=-1)),
            step=_SUM,
        ),
        Mistake(
            id="squares-summed",
            seen="The weights are squared, where each should meet its logarithm.",
            question="Which function of a weight does the entropy multiply it with?",
            ways=(lambda p: (p * p).sum(axis=-1), lambda p: 1 - (p * p).sum(axis=-1),
                  lambda p: -np.log((p * p).sum(axis=-1))),
            step=_TERM,
        ),
        Mistake(
            id="axis-kept",
            seen="The numbers are right, but the summed axis is still there, with length 1.",
            question="Which shape is asked for, and is an axis that has been summed still in it?",
            ways=(lambda p: -_terms(p).sum(axis=-1, keepdims=True),
                  lambda p: -(p * np.log(p)).sum(axis=-1, keepdims=True),
                  by_row(lambda row: [-sum(each * math.log(each) for each in row if each > 0)])),
            step=_SUM,
        ),
        Mistake(
            id="axis-of-one-lost",
            seen="The numbers are right, but an axis of length 1 is gone from the result.",
            question="A table of one row has one entropy. Should that be a number, or a list of "
                     "one number?",
            ways=(lambda p: np.squeeze(_solve_entropy(p)),
                  lambda p: _solve_entropy(p)[0] if len(p) == 1 else _solve_entropy(p),
                  lambda p: _solve_entropy(np.squeeze(p)) if p.shape[-1] > 1 else np.zeros(len(p))),
            step=_SUM,
        ),
    ),
    variants=(
        _in_loops(math.log),
        in_float32(_solve_entropy),
        lambda p: -_terms(p).sum(axis=-1),
        lambda p: -np.nan_to_num(p * np.log(p)).sum(axis=-1),
        lambda p: -(p * np.log(p + 1e-12)).sum(axis=-1),
        lambda p: np.einsum("...i,...i->...", p, -np.log(np.maximum(p, 1e-300))),
        lambda p: [-(row[row > 0] @ np.log(row[row > 0])) for row in p]
        if p.ndim == 2 else -_terms(p).sum(-1),
    ),
    solution=_solve_entropy,
)


# --- fault_scaled_weights(q, k) -------------------------------------------------------------------
def fault_scaled_weights(q, k):
    s = q @ k.T  # (n_query, n_key)
    exponentials = np.exp(s)
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights / q.shape[-1] ** 0.5


_SOFTMAX = "the softmax"
_WEIGHTS_SQUARE = Case(_pair(5, 5, 5), "as many queries as keys and features", _SCALE)
_WEIGHTS_FEW = Case(_pair(3, 5, 7), "vectors of seven features", _SCALE)
_WEIGHTS_MANY = Case(_pair(7, 3, 29), "vectors of 29 features", _SCALE)


def _weights(scale, score=_dots):
    """Return a way to make weights of scores that are multiplied by ``scale(q, k)``."""
    return lambda q, k: softmax(score(q, k) * scale(q, k))


def _weights_by_query(scale):
    def weights(q, k):
        found = []
        for query in q:
            exponentials = [math.exp(query @ key * scale(q, k)) for key in k]
            found.append([each / sum(exponentials) for each in exponentials])
        return found

    return weights


def _exponentials_over(scale_above, scale_below):
    """Return a way that scales the scores apart, above and below the line of the fraction."""
    def weights(q, k):
        d, s = q.shape[-1], _dots(q, k)
        above, below = np.exp(s * d**scale_above), np.exp(s * d**scale_below)
        return above / below.sum(axis=-1, keepdims=True)

    return weights


def _solve_fault_scaled_weights(q, k):
    s = q @ k.T / q.shape[-1] ** 0.5  # scaled before the softmax
    exponentials = np.exp(s)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


_FAULT_SCALED_WEIGHTS = Exercise(
    id="fault_scaled_weights",
    chapter=CHAPTER,
    title="Weights that do not add up",
    signature="fault_scaled_weights(q, k)",
    shapes="(n_query, d), (n_key, d) → (n_query, n_key)",
    prompt="This listing should turn queries and keys into the weights of scaled dot-product "
           "attention. One mistake is planted in it. Run it on the example, where 1.099 is log 3, "
           "look at the row that comes out, and mend it.",
    hints=("What should each row of weights add up to, and what does it add up to here?",
           "Multiply one row of weights by a number: do its tokens share differently?",
           "The scale is there to keep the softmax from being saturated. Where must it act, then?"),
    example=Example((np.array([[2.0, 0, 0, 0]]),
                     np.array([[math.log(3), 0, 0, 0], [0.0, 5, 0, 0]])), [[0.75, 0.25]]),
    reference=lambda q, k: [reference_softmax(row) for row in _reference_scores(q, k)],
    cases=(
        Case(_pair(2, 3, 1), "vectors of one feature, where the scale is 1", _SOFTMAX),
        Case(_pair(1, 2, 4), "other vectors of four features", _SCALE),
        _WEIGHTS_FEW,
        _WEIGHTS_SQUARE,
        _WEIGHTS_MANY,
        Case(_pair(1, 1, 3), "one query and one key", _SCALE),
        Case(_pair(2, 5, 64, size=1.5), "vectors of 64 features", _SCALE),
    ),
    naming=(_WEIGHTS_FEW, _WEIGHTS_SQUARE, _WEIGHTS_MANY),
    mistakes=(
        Mistake(
            id="scaled-after-softmax",
            seen="The weights are scaled, not the scores: the rows no longer add up to 1.",
            question="Does dividing all weights of a row by one number change who gets the most "
                     "attention, and how much more of it?",
            ways=(fault_scaled_weights, lambda q, k: softmax(_dots(q, k)) * q.shape[-1] ** -0.5,
                  lambda q, k: np.divide(_weights_by_query(lambda q, k: 1)(q, k), len(k.T) ** 0.5)),
            step=_SCALE,
        ),
        Mistake(
            id="scaled-before-and-after",
            seen="The scores are scaled, and then the weights once more.",
            question="What do the rows add up to, and which line still changes that?",
            ways=(lambda q, k: softmax(_solve_scaled_scores(q, k)) * q.shape[-1] ** -0.5,
                  lambda q, k: _solve_fault_scaled_weights(q, k) / np.sqrt(q.shape[1])),
            step=_SCALE,
        ),
        Mistake(
            id="unscaled",
            seen="The rows add up to 1 again, but the scale is gone: it was taken out, or it "
                 "cancels.",
            question="A factor that stands above and below the line of a fraction cancels. What "
                     "must it multiply, so that it does not?",
            ways=(_weights(lambda q, k: 1), _weights_by_query(lambda q, k: 1),
                  _exponentials_over(0, 0),
                  lambda q, k: fault_scaled_weights(q, k)
                  / fault_scaled_weights(q, k).sum(axis=-1, keepdims=True)),
            step=_SCALE,
        ),
        Mistake(
            id="divide-by-d",
            seen="The scores are divided by d.",
            question="What is the variance of a score of d features, and what does dividing by d "
                     "make of it?",
            ways=(_weights(lambda q, k: 1 / q.shape[-1]),
                  _weights_by_query(lambda q, k: 1 / len(q[0]))),
            step=_SCALE,
        ),
        Mistake(
            id="multiply-by-sqrt-d",
            seen="The scale is turned around: the scores grow, and the softmax saturates more.",
            question="Should the factor be above or below 1 when d is large?",
            ways=(_weights(lambda q, k: q.shape[-1] ** 0.5),
                  _weights_by_query(lambda q, k: math.sqrt(len(q[0])))),
            step=_SCALE,
        ),
        Mistake(
            id="divide-by-sqrt-n-key",
            seen="The scale comes from the number of keys.",
            question="Over which axis does one dot product sum?",
            ways=(_weights(lambda q, k: len(k) ** -0.5),
                  _weights_by_query(lambda q, k: 1 / math.sqrt(len(k)))),
            step=_SCALE,
        ),
        Mistake(
            id="divide-by-sqrt-n-query",
            seen="The scale comes from the number of queries.",
            question="Over which axis does one dot product sum?",
            ways=(_weights(lambda q, k: len(q) ** -0.5),
                  _weights_by_query(lambda q, k: 1 / math.sqrt(len(q)))),
            step=_SCALE,
        ),
        Mistake(
            id="another-power-of-d",
            seen="The scale is a power of d, but not its square root.",
            question="What is the variance of a score before the scale, and what after yours?",
            ways=(_weights(lambda q, k: q.shape[-1] ** -0.25),
                  _weights(lambda q, k: q.shape[-1] ** -2.0)),
            step=_SCALE,
        ),
        Mistake(
            id="not-normalised",
            seen="The exponentials are not divided by the sum of their own row.",
            question="What should each row of weights add up to?",
            ways=(lambda q, k: np.exp(_solve_scaled_scores(q, k)), lambda q, k: np.exp(_dots(q, k)),
                  lambda q, k: softmax(_solve_scaled_scores(q, k).ravel()).reshape(len(q), -1)),
            step=_SOFTMAX,
        ),
        Mistake(
            id="axis-not-kept",
            seen="The sum of each row is used without its axis, so that numpy lines the rows up "
                 "with the columns; where their numbers differ, this raises an error.",
            question="A sum of shape (n_query,) meets scores of shape (n_query, n_key). With which "
                     "of the two axes is it lined up?",
            ways=(lambda q, k: np.exp(_solve_scaled_scores(q, k))
                  / np.exp(_solve_scaled_scores(q, k)).sum(axis=-1),
                  lambda q, k: np.exp(_dots(q, k)) / np.exp(_dots(q, k)).sum(axis=-1)),
            step=_SOFTMAX,
        ),
        Mistake(
            id="half-scaled",
            seen="The exponentials above the line and those that are summed below it come from "
                 "different scores.",
            question="Which scores go into the sum, and which into the exponentials that are "
                     "divided by it?",
            ways=(_exponentials_over(-0.5, 0), _exponentials_over(0, -0.5)),
            step=_SCALE,
        ),
        Mistake(
            id="exponentials-scaled",
            seen="Each exponential is raised or divided on its own, outside its exponent.",
            question="The scale must reach the scores. What does the exponential do to a factor "
                     "that stands outside it?",
            ways=(lambda q, k: np.exp(_dots(q, k)) / np.exp(_dots(q, k)).sum(-1, keepdims=True)
                  ** q.shape[-1] ** -0.5,
                  lambda q, k: np.exp(_dots(q, k)) * q.shape[-1] ** -0.5),
            step=_SCALE,
        ),
        Mistake(
            id="wrong-axis",
            seen="The weights add up to 1 along another axis than the keys.",
            question="Which axis of the scores runs over what one query compares?",
            ways=(lambda q, k: softmax(_solve_scaled_scores(q, k), axis=0),
                  lambda q, k: softmax(_dots(q, k), axis=0),
                  lambda q, k: softmax(_dots(q, k), axis=0) * q.shape[-1] ** -0.5),
            step=_SOFTMAX,
        ),
        Mistake(
            id="scores-returned",
            seen="The result holds scores; the softmax is gone.",
            question="Can a weight be negative?",
            ways=(_solve_scaled_scores, _dots),
            step=_SOFTMAX,
        ),
        Mistake(
            id="root-rounded",
            seen="The root of d is rounded to a whole number: right where d is a square, and only "
                 "there.",
            question="What is the root of 7, and what do you divide by when d is 7?",
            ways=tuple(_weights(lambda q, k, root=root: 1 / root(q.shape[-1]))
                       for root in rounded_roots()),
            step=_SCALE,
        ),
        Mistake(
            id="constant-scale",
            seen="The scores are divided by the same number for every d.",
            question="By what do you divide when there are 4 features, and by what when there are "
                     "100?",
            ways=tuple(_weights(lambda q, k, c=c: 1 / c) for c in (2, 4, 8)),
            step=_SCALE,
        ),
        Mistake(
            id="half-for-a-root",
            seen="The scale holds d and a factor of two, where the root of d is wanted.",
            question="In which order does Python work out d ** 1 / 2, and what is it for d = 16?",
            ways=(_weights(lambda q, k: 0.5 / q.shape[-1]), _weights(lambda q, k: 2 / q.shape[-1]),
                  _weights(lambda q, k: q.shape[-1] / 2)),
            step=_SCALE,
        ),
    ),
    variants=(
        _weights(lambda q, k: 1 / np.sqrt(q.shape[1])),
        _weights_by_query(lambda q, k: 1 / math.sqrt(len(q[0]))),
        in_float32(_weights(lambda q, k: q.shape[-1] ** -0.5)),
        lambda q, k: softmax(_scaled_on_both_sides(-0.25)(q, k)),
        lambda q, k: np.exp(np.einsum("id,jd->ij", q, k) / len(k.T) ** 0.5
                            - np.log(np.exp(_solve_scaled_scores(q, k)).sum(1))[:, None]),
    ),
    solution=_solve_fault_scaled_weights,
    package=((attention_book.attention, "return_weights"),),
    faulty=fault_scaled_weights,
)

EXERCISES = (_SCALED_SCORES, _PREDICTED_STD, _PREDICT_SCALED_STD, _ENTROPY, _FAULT_SCALED_WEIGHTS)
