"""The exercises of the chapter on the stable softmax."""

import math

import numpy as np

import attention_book
from attention_book.exercises.building_blocks import (
    by_row,
    in_float32,
    reference_softmax,
    softmax,
    unstable_softmax,
)
from attention_book.exercises.model import Case, Example, Exercise, Mistake, Step, prediction

CHAPTER = "03_stable_softmax"

_rng = np.random.default_rng(3)
_EXAMPLE = np.log([1.0, 2.0, 5.0])
_LINE = np.array([0.5, -1.25, 2.0])
_GENTLE = _rng.normal(size=(5, 7)).round(3)
_POSITIVE = np.abs(_rng.normal(size=(3, 5))).round(3) + 0.25
_CUBE = _rng.normal(size=(2, 3, 5)).round(3)
# Multiples of 1/8: float32 holds them exactly.
_LARGE = np.array([[1000.0, 999.5, 996, 998.25, 1001], [1500, 1498, 1501.5, 1499, 1497.5]])
_LOW = np.array([[-1000.0, -1001.5, -998, -1003], [-2000, -1999.5, -2002, -2001]])
_FAR_APART = np.array([[0.5, 1.5, -0.5, 2.0, 0.25], [1000, 1001, 999, 1000.5, 998],
                       [-900, -901, -899.5, -902, -900.5]])
_WIDE = np.array([[0.0, -1000, 2.5, -40], [800, 0, -800, 801.5]])

_ROWS = "rows of gentle scores"
_FROM_LARGE = (
    Case((_LARGE,), "large scores", "the shift by the row's maximum"),
    Case((_LOW,), "very negative scores", "the shift by the row's maximum"),
    Case((_FAR_APART,), "rows far apart from one another", "one maximum for each row"),
    Case((_WIDE,), "scores far apart within a row", "the shift by the row's maximum"),
)
_JUDGING = (
    Case((_LINE,), "another row of three scores", "exponentials over their sum"),
    Case((_GENTLE,), _ROWS, "one sum for each row"),
    Case((_CUBE,), "scores with three axes", "the last axis"),
    Case((np.array([[3.0], [-2.0]]),), "rows of a single score", "one sum for each row"),
    *_FROM_LARGE,
)
_NAMING = (Case((_GENTLE,), _ROWS), Case((_POSITIVE,), "positive scores"),
           Case((_CUBE,), "three axes"), *_FROM_LARGE)


# --- softmax(x) -----------------------------------------------------------------------------------
def _unstable_row(row):
    exponentials = [math.exp(score) for score in row]  # raises where they overflow
    return [each / sum(exponentials) for each in exponentials]


def _global_max(x):
    e = np.exp(x - np.max(x))
    return e / e.sum(axis=-1, keepdims=True)


def _global_max_row_by_row(x):
    largest = np.max(x)
    return by_row(lambda row: np.exp(row - largest) / np.exp(row - largest).sum())(x)


def _down_the_columns(x):
    return np.moveaxis(by_row(softmax)(np.moveaxis(x, 0, -1)), -1, 0)


def _global_sum(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum()


def _absolute_row(row):
    largest = max(abs(score) for score in row)
    e = np.exp(row - largest)
    return e / e.sum()


def _solve_softmax(x):
    shifted = x - x.max(axis=-1, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _softmax_in_loops(x):
    if np.ndim(x) > 1:
        return [_softmax_in_loops(row) for row in x]
    largest = max(x)
    exponentials = [math.exp(score - largest) for score in x]
    return [each / sum(exponentials) for each in exponentials]


_SOFTMAX = Exercise(
    id="softmax",
    chapter=CHAPTER,
    title="Scores into weights",
    signature="softmax(x)",
    shapes="(..., n) → (..., n)",
    prompt="Write softmax(x) over the last axis. Every row of weights sums to one, for scores of "
           "any size.",
    hints=("The weights of a row are its exponentials, divided by their sum.",
           "An axis that is summed away can be kept with length one: keepdims=True.",
           "Adding one number to all scores of a row leaves its weights unchanged. Which number "
           "keeps every exponential from overflowing?"),
    example=Example((_EXAMPLE,), [0.125, 0.25, 0.625]),
    reference=by_row(reference_softmax),
    cases=_JUDGING,
    naming=_NAMING,
    mistakes=(
        Mistake(
            id="no-max-shift",
            seen="Gentle scores come out right, but the exponential of a large score overflows.",
            question="How large may a score be before np.exp gives inf, and which number could you "
                     "add to a whole row without changing its weights?",
            ways=(unstable_softmax, by_row(_unstable_row),
                  lambda x: np.exp(x - np.log(np.exp(x).sum(axis=-1, keepdims=True)))),
            step="the shift by the row's maximum",
        ),
        Mistake(
            id="global-max",
            seen="One maximum serves the whole array, so a row far below it underflows to 0/0.",
            question="For the row of the lowest scores, how large is its largest exponential after "
                     "your shift?",
            ways=(_global_max, _global_max_row_by_row),
            step="one maximum for each row",
        ),
        Mistake(
            id="wrong-axis",
            seen="The weights sum to one along another axis than the last.",
            question="Which axis of the scores runs over what is compared within one row?",
            ways=(lambda x: softmax(x, axis=0), _down_the_columns,
                  lambda x: softmax(x, axis=max(x.ndim - 2, 0))),
            step="the last axis",
        ),
        Mistake(
            id="global-sum",
            seen="The weights of all rows together sum to one.",
            question="What is the sum of each single row of your result, and what should it be?",
            ways=(_global_sum, lambda x: softmax(x.ravel()).reshape(x.shape),
                  lambda x: np.exp(x) / np.exp(x).sum()),
            step="one sum for each row",
        ),
        Mistake(
            id="sum-normalised",
            seen="The scores themselves are divided by their sum; no exponential is taken.",
            question="Can a weight be negative? What would make every score positive first?",
            ways=(lambda x: x / x.sum(axis=-1, keepdims=True),
                  lambda x: np.abs(x) / np.abs(x).sum(axis=-1, keepdims=True),
                  by_row(lambda row: [score / sum(row) for score in row])),
            step="exponentials over their sum",
        ),
        Mistake(
            id="max-of-absolute",
            seen="The largest absolute value is subtracted, which pushes negative rows far down.",
            question="For scores near -1000, what is left of their exponentials after your shift?",
            ways=(lambda x: np.exp(x - np.abs(x).max(axis=-1, keepdims=True))
                  / np.exp(x - np.abs(x).max(axis=-1, keepdims=True)).sum(axis=-1, keepdims=True),
                  by_row(_absolute_row)),
            step="the shift by the row's maximum",
        ),
        Mistake(
            id="clipped",
            seen="The scores are clipped, so that scores beyond the bound all look alike.",
            question="Do 1000 and 1001 get the same weight? Should they?",
            ways=(lambda x: unstable_softmax(np.clip(x, -500, 500)),
                  lambda x: unstable_softmax(np.minimum(x, 700)),
                  lambda x: softmax(np.clip(x, -80, 80)),
                  lambda x: softmax(np.clip(x, -20, 20)),
                  by_row(lambda row: _unstable_row([min(score, 88.0) for score in row]))),
            step="the shift by the row's maximum",
        ),
    ),
    variants=(
        _softmax_in_loops,
        in_float32(_solve_softmax),
        lambda x: np.exp(x - np.logaddexp.reduce(x, axis=-1, keepdims=True)),
        lambda x: 1 / np.exp(np.clip(x[..., None, :] - x[..., None], None, 700)).sum(axis=-1),
        lambda x: [softmax(row) for row in x] if x.ndim == 2 else softmax(x),
    ),
    solution=_solve_softmax,
    package=(attention_book.softmax,),
)


# --- predict_shifted_softmax ----------------------------------------------------------------------
_PREDICT = prediction(
    id="predict_shifted_softmax",
    chapter=CHAPTER,
    title="A thousand more on every score",
    signature="a list of three numbers",
    shapes="(3,)",
    prompt="The scores [0, log 2, log 5] have the weights [0.125, 0.25, 0.625]. Which weights have "
           "the scores [1000, 1000 + log 2, 1000 + log 5]? Write down three numbers, to two "
           "digits, before you run anything.",
    hints=("Weights are not negative and sum to one, whatever the scores.",
           "Write each exponential as a product: exp(1000 + s) = exp(1000) · exp(s).",
           "Which factor do the numerator and the denominator share?"),
    value=np.array([0.125, 0.25, 0.625]),
    tolerance=0.006,
    steps=(
        Step("scores", "[1000, 1000.693, 1001.609]"),
        Step("the shift by the row's maximum", "[-1.609, -0.916, 0]"),
        Step("exponentials", "[0.2, 0.4, 1], whose sum is 1.6"),
        Step("weights", "[0.125, 0.25, 0.625], the same as without the thousand"),
    ),
    mistakes=(
        Mistake(
            id="thousand-kept",
            seen="The thousand that was added to the scores appears in the weights.",
            question="What must the weights of a row sum to?",
            ways=([1000.125, 1000.25, 1000.625], [1000, 1000.69, 1001.61]),
            step="the shift by the row's maximum",
        ),
        Mistake(
            id="overflow",
            seen="Overflow was predicted: that is what one way of computing gives, not what the "
                 "weights are.",
            question="The quotient of two huge numbers can be small. Can you find it without "
                     "forming either of them?",
            ways=([math.nan] * 3, [math.inf] * 3),
            step="exponentials",
        ),
        Mistake(
            id="all-alike",
            seen="Equal weights were predicted, as if the thousand drowned the differences.",
            question="Does a weight depend on the scores themselves, or on their differences?",
            ways=([1 / 3] * 3, [0.33, 0.33, 0.34]),
            step="exponentials",
        ),
        Mistake(
            id="winner-takes-all",
            seen="All the weight went to the largest score, as if large scores were far apart.",
            question="How far is the largest score above the next one, before and after the shift?",
            ways=([0, 0, 1], [0.0, 0.01, 0.99]),
            step="weights",
        ),
    ),
    variants=([0.125, 0.25, 0.625], (0.13, 0.25, 0.62), np.array([0.125, 0.25, 0.625])),
)


# --- fault_log_softmax ----------------------------------------------------------------------------
def fault_log_softmax(x):
    largest = x.max(axis=-1, keepdims=True)
    shifted = x - largest
    total = np.exp(x).sum(axis=-1, keepdims=True)
    return shifted - np.log(total)


def _reference_log_softmax_row(row):
    largest = max(row)
    total = math.fsum(math.exp(score - largest) for score in row)
    return [score - largest - math.log(total) for score in row]


def _log_softmax(x):
    shifted = x - x.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def _log_softmax_in_loops(x):
    if np.ndim(x) > 1:
        return [_log_softmax_in_loops(row) for row in x]
    largest = max(x)
    total = sum(math.exp(score - largest) for score in x)
    return [score - largest - math.log(total) for score in x]


_FAULT = Exercise(
    id="fault_log_softmax",
    chapter=CHAPTER,
    title="Mend the log-softmax",
    signature="fault_log_softmax(x)",
    shapes="(..., n) → (..., n)",
    prompt="This listing should return the logarithm of the softmax over the last axis. One line "
           "is at fault. Find it, and change as little as you can.",
    hints=("Try scores whose weights you know: [0, log 2, log 5].",
           "The exponentials of the result should sum to one. For which scores do they?",
           "Which lines use the shifted scores, and which use the scores themselves?"),
    example=Example((_EXAMPLE,), [-2.0794415, -1.3862944, -0.4700036]),
    reference=by_row(_reference_log_softmax_row),
    cases=_JUDGING,
    naming=_NAMING,
    mistakes=(
        Mistake(
            id="shift-half-used",
            seen="One term uses the shifted scores and the other does not, so the result is off by "
                 "the maximum.",
            question="By how much is each row off, and where does that number come from?",
            ways=(fault_log_softmax,
                  lambda x: x - x.max(axis=-1, keepdims=True)
                  - np.logaddexp.reduce(x, axis=-1, keepdims=True)),
            step="the sum of the shifted exponentials",
        ),
        Mistake(
            id="scores-not-shifted",
            seen="The sum is taken over shifted scores, but is subtracted from unshifted ones.",
            question="By how much is each row off, and where does that number come from?",
            ways=(lambda x: x - np.log(np.exp(x - x.max(axis=-1, keepdims=True))
                                       .sum(axis=-1, keepdims=True)),
                  by_row(lambda row: row - np.log(np.exp(row - row.max()).sum()))),
            step="the difference of scores and logarithm",
        ),
        Mistake(
            id="no-max-shift",
            seen="The shift is gone: gentle scores come out right, large ones overflow.",
            question="What was the shift there for?",
            ways=(lambda x: x - np.log(np.exp(x).sum(axis=-1, keepdims=True)),
                  lambda x: np.log(unstable_softmax(x)),
                  by_row(lambda row: [score - math.log(sum(map(math.exp, row))) for score in row])),
            step="the shift by the row's maximum",
        ),
        Mistake(
            id="log-of-softmax",
            seen="The logarithm is taken of finished weights, and a weight that underflowed to 0 "
                 "gives −inf.",
            question="Is log(exp(s)) needed at all, or can you write down what it is?",
            ways=(lambda x: np.log(softmax(x)),
                  by_row(lambda row: np.log(softmax(row)))),
            step="the difference of scores and logarithm",
        ),
    ),
    variants=(_log_softmax_in_loops, in_float32(_log_softmax),
              lambda x: x - np.logaddexp.reduce(x, axis=-1, keepdims=True)),
    solution=_log_softmax,
    package=(attention_book.log_softmax,),
    faulty=fault_log_softmax,
)

EXERCISES = (_SOFTMAX, _PREDICT, _FAULT)
