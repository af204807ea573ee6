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
from attention_book.exercises.shared_kinds import axis_of_one_lost

CHAPTER = "03_stable_softmax"

_rng = np.random.default_rng(3)
_EXAMPLE = np.log([1.0, 2.0, 5.0])
_LINE = np.array([0.5, -1.25, 2.0])
_GENTLE = _rng.normal(size=(5, 7)).round(3)
_POSITIVE = np.abs(_rng.normal(size=(3, 5))).round(3) + 0.25
_EIGHTHS = (8 * _GENTLE).round() / 8
_CUBE = _rng.normal(size=(2, 3, 5)).round(3)
_SQUARE = _GENTLE[:, :5]
_SINGLE_SCORES = np.array([[3.0], [-2.0]])
_ONE_ROW = np.array([[0.5, -1.5, 2, 0.25, 1]])
# Multiples of 1/8: float32 holds them exactly.
_LARGE = np.array([[1000.0, 999.5, 996, 998.25, 1001], [1500, 1498, 1501.5, 1499, 1497.5]])
_LOW = np.array([[-1000.0, -1001.5, -998, -1003], [-2000, -1999.5, -2002, -2001]])
_FAR_APART = np.array([[0.5, 1.5, -0.5, 2.0, 0.25], [1000, 1001, 999, 1000.5, 998],
                       [-900, -901, -899.5, -902, -900.5]])
_WIDE = np.array([[0.0, -1000, 2.5, -40], [800, 0, -800, 801.5], [-1000, 0, -999.5, -1000]])

# In float32, the difference of two numbers near 1500 is known to 1.2e-4.
_LOG_TOLERANCE = (1e-4, 5e-4)

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
    Case((_SINGLE_SCORES,), "rows of a single score", "one sum for each row"),
    Case((_SQUARE,), "as many rows as scores in a row", "one sum for each row"),
    Case((_ONE_ROW,), "a table of one row", "one sum for each row"),
    *_FROM_LARGE,
)
_NAMING = (Case((_GENTLE,), _ROWS), Case((_POSITIVE,), "positive scores"),
           Case((_CUBE,), "three axes"), Case((_SQUARE,), "square"), Case((_ONE_ROW,), "one row"),
           Case((_SINGLE_SCORES,), "single scores"), *_FROM_LARGE)


# --- softmax(x) -----------------------------------------------------------------------------------
def _unstable_row(row):
    exponentials = [math.exp(score) for score in row]  # raises where they overflow
    return [each / sum(exponentials) for each in exponentials]


def _global_max(x):
    e = np.exp(x - np.max(x))
    return e / e.sum(axis=-1, keepdims=True)


def _global_max_and(least):
    return lambda x: (np.exp(x - x.max())
                      / (np.exp(x - x.max()).sum(axis=-1, keepdims=True) + least))


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


def _at_least_zero(x):
    """Return the row's maximum, or 0 where that is larger: low rows are not shifted."""
    return np.maximum(x.max(axis=-1, keepdims=True), 0)


def _largest_size(x):
    return np.abs(x).max(axis=-1, keepdims=True)


def _only_large(bound):
    """Return a shift that is 0 unless a score of the array is above the bound."""
    return lambda x: x.max(axis=-1, keepdims=True) if x.max() > bound else 0.0


def _largest_so_far(start):
    """Return a shift by the largest score of this row and all before it."""
    def shift(x):
        rows = x.max(axis=-1).ravel()
        return np.maximum(np.maximum.accumulate(rows), start).reshape(*x.shape[:-1], 1)

    return shift


def _exp_sum(x, axis=-1):
    return np.exp(x).sum(axis=axis, keepdims=True)


_EPSILONS = (1e-6, 1e-8, 1e-9, 1e-10, 1e-12)
_LOW_SHIFTS = (_at_least_zero, *map(_only_large, (0, 100, 700)))
_LOW_ROWS = {
    "seen": "Only large scores are shifted: in a row of very negative ones every exponential "
            "underflows to 0.",
    "question": "For a row of scores near -1000, which number do you subtract, and what is left of "
                "its exponentials?",
    "step": "the shift by the row's maximum",
}
_CARRIED = {
    "seen": "The maximum of one row is kept when the next row begins, so a row far below it "
            "underflows.",
    "question": "When the loop comes to the second row, where does the search for its maximum "
                "begin?",
    "step": "one maximum for each row",
}


def _less(shift):
    """Return a softmax that subtracts ``shift(x)`` from the scores."""
    return lambda x: unstable_softmax(x - shift(x))


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
                  lambda x: np.exp(x - np.log(np.exp(x).sum(axis=-1, keepdims=True))),
                  lambda x: np.exp(x) / (np.exp(x).sum(axis=-1, keepdims=True) + 1e-9)),
            step="the shift by the row's maximum",
        ),
        Mistake(
            id="global-max",
            seen="One maximum serves the whole array, so a row far below it underflows to 0/0.",
            question="For the row of the lowest scores, how large is its largest exponential after "
                     "your shift?",
            ways=(_global_max, _global_max_row_by_row, lambda x: np.nan_to_num(_global_max(x)),
                  *map(_global_max_and, (1e-6, 1e-8, 1e-9, 1e-10, 1e-12))),
            step="one maximum for each row",
        ),
        Mistake(
            id="wrong-axis",
            seen="The weights sum to one along another axis than the last.",
            question="Which axis of the scores runs over what is compared within one row?",
            ways=(lambda x: softmax(x, axis=0), _down_the_columns, lambda x: softmax(x, axis=1),
                  lambda x: softmax(x, axis=max(x.ndim - 2, 0)),
                  lambda x: np.exp(x) / np.exp(x).sum(axis=0),
                  lambda x: np.exp(x - x.max(axis=-1, keepdims=True))
                  / np.exp(x - x.max(axis=-1, keepdims=True)).sum(axis=0)),
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
                  by_row(lambda row: [score / sum(row) for score in row]),
                  by_row(lambda row: (row - row.min()) / (row - row.min()).sum())),
            step="exponentials over their sum",
        ),
        Mistake(
            id="max-of-absolute",
            seen="The largest absolute value is subtracted, which pushes negative rows far down.",
            question="For scores near -1000, what is left of their exponentials after your shift?",
            ways=(lambda x: np.exp(x - np.abs(x).max(axis=-1, keepdims=True))
                  / np.exp(x - np.abs(x).max(axis=-1, keepdims=True)).sum(axis=-1, keepdims=True),
                  by_row(_absolute_row), lambda x: unstable_softmax(x - np.abs(x).max()),
                  lambda x: np.nan_to_num(by_row(_absolute_row)(x))),
            step="the shift by the row's maximum",
        ),
        Mistake(
            id="not-the-maximum",
            seen="Something else than the row's maximum is subtracted, and a score far above it "
                 "still overflows.",
            question="After your shift, how large can the largest score of a row be?",
            ways=(_less(lambda x: x.mean(axis=-1, keepdims=True)),
                  _less(lambda x: x.min(axis=-1, keepdims=True)),
                  _less(lambda x: x[..., :1]), _less(lambda x: x[..., -1:]),
                  _less(lambda x: np.median(x, axis=-1, keepdims=True))),
            step="the shift by the row's maximum",
        ),
        Mistake(
            id="not-normalised",
            seen="The exponentials are not divided by their sum.",
            question="What do the numbers of a row of your result sum to?",
            ways=(lambda x: np.exp(x - x.max(axis=-1, keepdims=True)), np.exp,
                  by_row(lambda row: [math.exp(score - max(row)) for score in row])),
            step="exponentials over their sum",
        ),
        Mistake(
            id="divided-by-maximum",
            seen="The scores are divided by the row's maximum, which changes how far apart they "
                 "are.",
            question="Which change leaves the weights as they are: dividing all scores by one "
                     "number, or subtracting one from all?",
            ways=(lambda x: softmax(x / x.max(axis=-1, keepdims=True)),
                  lambda x: softmax(x / np.abs(x).max(axis=-1, keepdims=True)),
                  lambda x: softmax(x / x.max())),
            step="the shift by the row's maximum",
        ),
        Mistake(
            id="keepdims-missing",
            seen="A maximum or a sum has lost its axis, so it meets the scores along another one: "
                 "an error, or wrong values where the array is square.",
            question="The maxima of a (5, 7) array have shape (5,). How does NumPy line them up "
                     "with (5, 7), and which shape would do?",
            ways=(lambda x: np.exp(x - x.max(axis=-1)) / np.exp(x - x.max(axis=-1)).sum(axis=-1),
                  lambda x: np.exp(x - x.max(axis=-1, keepdims=True))
                  / np.exp(x - x.max(axis=-1, keepdims=True)).sum(axis=-1),
                  _less(lambda x: x.max(axis=-1)),
                  lambda x: np.exp(x) / np.exp(x).sum(axis=-1)),
            step="one sum for each row",
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
        Mistake(
            id="low-rows-not-shifted",
            ways=(*map(_less, _LOW_SHIFTS),
                  lambda x: np.nan_to_num(_less(_at_least_zero)(x)),
                  *(lambda x, least=least: np.exp(x - _at_least_zero(x))
                    / (_exp_sum(x - _at_least_zero(x)) + least) for least in _EPSILONS)),
            **_LOW_ROWS,
        ),
        Mistake(
            id="max-carried-over",
            ways=tuple(_less(_largest_so_far(start)) for start in (-np.inf, 0)),
            **_CARRIED,
        ),
        Mistake(
            id="another-base",
            seen="Another number than e is raised to the scores: 2 or 10, say.",
            question="How many times as much weight has a score that is larger by 1, in your "
                     "result and in np.exp?",
            ways=(lambda x: softmax(x * math.log(2)), lambda x: softmax(x * math.log(10)),
                  lambda x: np.power(2.0, x) / np.power(2.0, x).sum(axis=-1, keepdims=True),
                  by_row(lambda row: 10.0**row / sum(10.0**row)),
                  by_row(lambda row: 3.0 ** (row - max(row)) / sum(3.0 ** (row - max(row))))),
            step="exponentials over their sum",
        ),
        Mistake(
            id="sign-turned",
            seen="The lowest score of a row gets the largest weight.",
            question="Of exp(2) and exp(-2), which is larger, and which stands for a score of 2 in "
                     "your function?",
            ways=(lambda x: softmax(-x), lambda x: unstable_softmax(x.max(-1, keepdims=True) - x),
                  lambda x: unstable_softmax(-x)),
            step="exponentials over their sum",
        ),
        Mistake(
            id="logarithm-of-weights",
            seen="The result holds logarithms of weights, not weights.",
            question="Can a weight be negative?",
            ways=(lambda x: np.log(softmax(x)),
                  lambda x: x - np.logaddexp.reduce(x, axis=-1, keepdims=True)),
            step="exponentials over their sum",
        ),
        axis_of_one_lost(lambda x: softmax(np.asarray(x)), "one sum for each row"),
    ),
    variants=(
        _softmax_in_loops,
        in_float32(_solve_softmax),
        lambda x: np.exp(x - np.logaddexp.reduce(x, axis=-1, keepdims=True)),
        lambda x: 1 / np.exp(np.clip(x[..., None, :] - x[..., None], None, 700)).sum(axis=-1),
        lambda x: [softmax(row) for row in x] if x.ndim == 2 else softmax(x),
    ),
    solution=_solve_softmax,
    package=(attention_book.softmax, attention_book.log_softmax,
             (attention_book.attention, "return_weights")),
)


# --- log_sum_exp(x) -------------------------------------------------------------------------------
def _reference_log_sum_exp(row):
    largest = max(row)
    return largest + math.log(math.fsum(math.exp(score - largest) for score in row))


def _log_sum_exp(x):
    largest = x.max(axis=-1, keepdims=True)
    total = np.exp(x - largest).sum(axis=-1)
    return largest[..., 0] + np.log(total)


def _log_sum_exp_in_loops(x):
    if np.ndim(x) > 1:
        return [_log_sum_exp_in_loops(row) for row in x]
    largest = max(x)
    return largest + math.log(sum(math.exp(score - largest) for score in x))


def _log_mean_exp(x):
    return _log_sum_exp(x) - np.log(x.shape[-1])


_LOG_SUM_EXP = Exercise(
    id="log_sum_exp",
    chapter=CHAPTER,
    title="The logarithm of a sum of exponentials",
    signature="log_sum_exp(x)",
    shapes="(..., n) → (...)",
    prompt="Write log_sum_exp(x): for each row, the logarithm of the sum of its exponentials, "
           "for scores of any size.",
    hints=("First write it as its name says: np.log, of a sum, of np.exp. For which scores is that "
           "infinite?",
           "If m is subtracted from every score, by how much does the result change?",
           "Take m to be the row's maximum, and put back at the end what you took away."),
    example=Example((_EXAMPLE,), 2.0794415),
    reference=by_row(_reference_log_sum_exp),
    cases=_JUDGING,
    naming=_NAMING,
    mistakes=(
        Mistake(
            id="no-max-shift",
            seen="Gentle scores come out right; large ones overflow to inf, very negative ones "
                 "underflow to log(0).",
            question="If one number is subtracted from every score of a row, what happens to the "
                     "result?",
            ways=(lambda x: np.log(np.exp(x).sum(axis=-1)),
                  by_row(lambda row: math.log(sum(math.exp(score) for score in row))),
                  lambda x: np.log(np.einsum("...n->...", np.exp(x)))),
            step="the shift by the row's maximum",
        ),
        Mistake(
            id="max-not-added-back",
            seen="The maximum is subtracted before the exponential and never added again.",
            question="For a row of one score, what should the result be, and what is yours?",
            ways=(lambda x: np.log(np.exp(x - x.max(axis=-1, keepdims=True)).sum(axis=-1)),
                  by_row(lambda row: math.log(sum(math.exp(score - max(row)) for score in row)))),
            step="putting the maximum back",
        ),
        Mistake(
            id="mean-not-sum",
            seen="The exponentials are averaged, so the result is too small by the logarithm of "
                 "their number.",
            question="What is the result for n scores of 0: log(n), or 0?",
            ways=(_log_mean_exp, lambda x: np.log(np.exp(x).mean(axis=-1)),
                  by_row(lambda row: max(row) + math.log(sum(np.exp(row - max(row))) / len(row)))),
            step="the sum of the shifted exponentials",
        ),
        Mistake(
            id="sum-of-logs",
            seen="Logarithms are summed, where the logarithm of a sum is wanted.",
            question="Is log(a) + log(b) the same as log(a + b)?",
            ways=(lambda x: np.log(np.exp(x)).sum(axis=-1), lambda x: x.sum(axis=-1),
                  lambda x: np.log(x).sum(axis=-1),
                  lambda x: x.max(axis=-1) + (x - x.max(axis=-1, keepdims=True)).sum(axis=-1)),
            step="the sum of the shifted exponentials",
        ),
        Mistake(
            id="wrong-axis",
            seen="Another axis than the last is summed away.",
            question="Which axis is missing from the shape of your result?",
            ways=(lambda x: np.logaddexp.reduce(x, axis=0),
                  lambda x: np.log(np.exp(x).sum(axis=0)),
                  lambda x: np.logaddexp.reduce(x, axis=max(x.ndim - 2, 0))),
            step="the last axis",
        ),
        Mistake(
            id="axis-kept",
            seen="The axis that was summed away is still there, with length one.",
            question="A row of scores gives one number. How many does a (5, 7) array give, and in "
                     "which shape?",
            ways=(lambda x: np.logaddexp.reduce(x, axis=-1, keepdims=True),
                  lambda x: np.log(np.exp(x).sum(axis=-1, keepdims=True))),
            step="the shape of the result",
        ),
        Mistake(
            id="shapes-broadcast",
            seen="One term has kept its last axis and the other has not, so every row meets every "
                 "other.",
            question="What does NumPy make of the shapes (5, 1) and (5,) when they are added?",
            ways=(lambda x: x.max(axis=-1, keepdims=True)
                  + np.log(np.exp(x - x.max(axis=-1, keepdims=True)).sum(axis=-1)),
                  lambda x: x.max(axis=-1) + np.log(np.exp(x - x.max(axis=-1, keepdims=True))
                                                    .sum(axis=-1, keepdims=True)),
                  lambda x: x.max(axis=-1) + np.log(np.exp(x - x.max(axis=-1)).sum(axis=-1))),
            step="the shape of the result",
        ),
        Mistake(
            id="global-sum",
            seen="All rows are summed into one number.",
            question="How many numbers should come of an array with five rows?",
            ways=(lambda x: np.logaddexp.reduce(x.ravel()), lambda x: np.log(np.exp(x).sum())),
            step="one sum for each row",
        ),
        Mistake(
            id="global-max",
            seen="One maximum serves the whole array; a row far below it underflows to log(0).",
            question="For the row of the lowest scores, how large is its largest exponential after "
                     "your shift?",
            ways=(lambda x: x.max() + np.log(np.exp(x - x.max()).sum(axis=-1)),
                  lambda x: x.max() + np.log(np.exp(x - x.max()).sum(axis=-1) + 1e-12)),
            step="one maximum for each row",
        ),
        Mistake(
            id="maximum-alone",
            seen="The result is the row's maximum; the sum of the exponentials is missing.",
            question="What is the result for two scores of 0, and what is the larger of the two?",
            ways=(lambda x: x.max(axis=-1), by_row(max)),
            step="the sum of the shifted exponentials",
        ),
        Mistake(
            id="max-subtracted-again",
            seen="The maximum is subtracted at the end, instead of being put back.",
            question="For a row of one score, what should the result be, and what is yours?",
            ways=(lambda x: np.logaddexp.reduce(x, axis=-1) - 2 * x.max(axis=-1),
                  by_row(lambda row: math.log(sum(np.exp(row - max(row)))) - max(row))),
            step="putting the maximum back",
        ),
        Mistake(
            id="another-base",
            seen="The logarithm is taken to the base 2 or 10.",
            question="Which logarithm undoes np.exp?",
            ways=(lambda x: x.max(axis=-1) + np.log2(np.exp(x - x.max(axis=-1, keepdims=True))
                                                     .sum(axis=-1)),
                  lambda x: x.max(axis=-1) + np.log10(np.exp(x - x.max(axis=-1, keepdims=True))
                                                      .sum(axis=-1)),
                  lambda x: np.log2(np.exp(x).sum(axis=-1))),
            step="the sum of the shifted exponentials",
        ),
        Mistake(
            id="max-of-absolute",
            seen="The largest absolute value is subtracted, so that the exponentials of negative "
                 "rows underflow to log(0).",
            question="For scores near -1000, what is left of their exponentials after your shift?",
            ways=(lambda x: (_largest_size(x) + np.log(_exp_sum(x - _largest_size(x))))[..., 0],
                  lambda x: np.abs(x).max() + np.log(_exp_sum(x - np.abs(x).max()))[..., 0],
                  by_row(lambda row: np.log(sum(np.exp(row - max(map(abs, row)))))
                         + max(map(abs, row)))),
            step="the shift by the row's maximum",
        ),
        Mistake(
            id="low-rows-not-shifted",
            ways=tuple(lambda x, shift=shift: (shift(x) + np.log(_exp_sum(x - shift(x))))[..., 0]
                       for shift in _LOW_SHIFTS),
            **_LOW_ROWS,
        ),
        Mistake(
            id="max-carried-over",
            ways=tuple(lambda x, shift=shift: (shift(x) + np.log(_exp_sum(x - shift(x))))[..., 0]
                       for shift in map(_largest_so_far, (-np.inf, 0))),
            **_CARRIED,
        ),
        Mistake(
            id="one-too-many",
            seen="The sum holds a 1 besides the exponentials, as if the row had another score.",
            question="For a row of one score, what should the result be, and what is yours?",
            ways=(lambda x: np.logaddexp(0, np.logaddexp.reduce(x, axis=-1)),
                  lambda x: np.log1p(np.exp(x).sum(axis=-1)),
                  lambda x: x.max(axis=-1) + np.log(1 + _exp_sum(
                      x - x.max(axis=-1, keepdims=True))[..., 0])),
            step="the sum of the shifted exponentials",
        ),
        Mistake(
            id="log-not-taken",
            seen="A sum of exponentials is in the result as it is; its logarithm is not taken.",
            question="Which function undoes np.exp?",
            ways=(lambda x: np.exp(x).sum(axis=-1),
                  lambda x: _exp_sum(x - x.max(axis=-1, keepdims=True))[..., 0],
                  lambda x: x.max(axis=-1) + _exp_sum(x - x.max(axis=-1, keepdims=True))[..., 0]),
            step="the sum of the shifted exponentials",
        ),
        Mistake(
            id="axis-of-one-lost",
            seen="The numbers are right, but an axis of length 1 is gone from the result.",
            question="A table of one row gives one number. Should that be a number, or a list of "
                     "one number?",
            ways=(lambda x: np.squeeze(_log_sum_exp(x)),
                  lambda x: _log_sum_exp(x[0] if len(x) == 1 else x)),
            step="the shape of the result",
        ),
    ),
    variants=(_log_sum_exp_in_loops, in_float32(_log_sum_exp),
              lambda x: np.logaddexp.reduce(x, axis=-1),
              lambda x: x.max(axis=-1) - np.log(softmax(x).max(axis=-1))),
    solution=_log_sum_exp,
    package=(attention_book.log_sum_exp, attention_book.log_softmax),
)


# --- log_softmax(x) -------------------------------------------------------------------------------
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


def _shifted(x):
    return x - x.max(axis=-1, keepdims=True)


def _floored(least):
    return lambda x: np.log(softmax(x) + least)


def _infinity_replaced(number):
    return lambda x: np.nan_to_num(np.log(softmax(x)), neginf=number)


_GLOBAL_MAX_IN_LOG = Mistake(
    id="global-max",
    seen="One maximum serves the whole array; a row far below it underflows to log(0).",
    question="For the row of the lowest scores, how large is its largest exponential after your "
             "shift?",
    ways=(lambda x: x - x.max() - np.log(np.exp(x - x.max()).sum(axis=-1, keepdims=True)),
          lambda x: np.log(_global_max(x))),
    step="one maximum for each row",
)
_SUM_NOT_LOGGED = Mistake(
    id="sum-not-logged",
    seen="The sum itself is subtracted, not its logarithm.",
    question="Do the exponentials of a row of your result sum to one?",
    ways=(lambda x: x - x.max(axis=-1, keepdims=True)
          - np.exp(x - x.max(axis=-1, keepdims=True)).sum(axis=-1, keepdims=True),
          lambda x: x - np.exp(x).sum(axis=-1, keepdims=True),
          by_row(lambda row: row - row.max() - sum(np.exp(row - row.max())))),
    step="the sum of the shifted exponentials",
)
_GLOBAL_SUM_IN_LOG = Mistake(
    id="global-sum",
    seen="One sum serves all rows: the exponentials of the whole result sum to one.",
    question="What do the exponentials of a single row of your result sum to?",
    ways=(lambda x: x - np.logaddexp.reduce(x, axis=None),
          lambda x: x - x.max(axis=-1, keepdims=True)
          - np.log(np.exp(x - x.max(axis=-1, keepdims=True)).sum()),
          lambda x: np.log(_global_sum(x))),
    step="one sum for each row",
)
_KEEPDIMS_IN_LOG = Mistake(
    id="keepdims-missing",
    seen="A maximum or a sum has lost its axis, so it meets the scores along another one: an "
         "error, or wrong values where the array is square.",
    question="The sums of a (5, 7) array have shape (5,). How does NumPy line them up with (5, 7), "
             "and which shape would do?",
    ways=(lambda x: _shifted(x) - np.log(np.exp(_shifted(x)).sum(axis=-1)),
          lambda x: x - x.max(axis=-1) - np.log(np.exp(x - x.max(axis=-1)).sum(axis=-1)),
          lambda x: x - x.max(axis=-1) - np.log(_exp_sum(x - x.max(axis=-1))),
          lambda x: x - np.log(np.exp(x).sum(axis=-1))),
    step="one sum for each row",
)
_WRONG_AXIS_IN_LOG = Mistake(
    id="wrong-axis",
    seen="The exponentials of the result sum to one along another axis than the last.",
    question="Along which axis do the scores of one row run?",
    ways=(lambda x: x - np.logaddexp.reduce(x, axis=0, keepdims=True),
          lambda x: np.log(softmax(x, axis=0)),
          lambda x: x - np.logaddexp.reduce(x, axis=1, keepdims=True),
          lambda x: np.log(softmax(x, axis=max(x.ndim - 2, 0))),
          lambda x: _shifted(x) - np.log(_exp_sum(_shifted(x), axis=0))),
    step="the last axis",
)
_ONE_TOO_MANY_IN_LOG = Mistake(
    id="one-too-many",
    seen="The sum holds a 1 besides the exponentials, as if the row had another score.",
    question="Do the exponentials of a row of your result sum to one? What does np.log1p add?",
    ways=(lambda x: _shifted(x) - np.log1p(_exp_sum(_shifted(x))),
          lambda x: x - np.logaddexp(0, np.logaddexp.reduce(x, axis=-1, keepdims=True)),
          lambda x: x - np.log(1 + _exp_sum(x))),
    step="the sum of the shifted exponentials",
)
_ANOTHER_BASE_IN_LOG = Mistake(
    id="another-base",
    seen="The logarithm is taken to the base 2 or 10.",
    question="Which logarithm undoes np.exp?",
    ways=(lambda x: _shifted(x) - np.log2(_exp_sum(_shifted(x))),
          lambda x: _shifted(x) - np.log10(_exp_sum(_shifted(x))),
          lambda x: np.log2(softmax(x)), lambda x: np.log10(softmax(x)),
          lambda x: _log_softmax(x) / math.log(2), lambda x: _log_softmax(x) / math.log(10)),
    step="the sum of the shifted exponentials",
)
_SUM_ADDED_IN_LOG = Mistake(
    id="sum-added",
    seen="The logarithm of the sum is added, where the logarithm of a quotient is wanted.",
    question="Is log(a / b) the sum of two logarithms, or their difference?",
    ways=(lambda x: _shifted(x) + np.log(_exp_sum(_shifted(x))),
          lambda x: x + np.log(_exp_sum(x)),
          by_row(lambda row: [score - max(row) + math.log(sum(np.exp(row - max(row))))
                              for score in row])),
    step="the difference of scores and logarithm",
)
_MAX_OF_ABSOLUTE_IN_LOG = Mistake(
    id="max-of-absolute",
    seen="The largest absolute value is subtracted, so that the exponentials of negative rows "
         "underflow to log(0).",
    question="For scores near -1000, what is left of their exponentials after your shift?",
    ways=(lambda x: x - _largest_size(x) - np.log(_exp_sum(x - _largest_size(x))),
          lambda x: x - np.abs(x).max() - np.log(_exp_sum(x - np.abs(x).max()))),
    step="the shift by the row's maximum",
)
_LOW_ROWS_IN_LOG = Mistake(
    id="low-rows-not-shifted",
    ways=tuple(lambda x, shift=shift: x - shift(x) - np.log(_exp_sum(x - shift(x)))
               for shift in _LOW_SHIFTS),
    **_LOW_ROWS,
)
_MISTAKES_IN_LOG = (_GLOBAL_SUM_IN_LOG, _KEEPDIMS_IN_LOG, _WRONG_AXIS_IN_LOG, _ONE_TOO_MANY_IN_LOG,
                    _ANOTHER_BASE_IN_LOG, _SUM_ADDED_IN_LOG, _MAX_OF_ABSOLUTE_IN_LOG,
                    _LOW_ROWS_IN_LOG)
_SCORES_NOT_SHIFTED = Mistake(
    id="scores-not-shifted",
    seen="The sum is taken over shifted scores, but is subtracted from unshifted ones.",
    question="By how much is each row off, and where does that number come from?",
    ways=(lambda x: x - np.log(np.exp(x - x.max(axis=-1, keepdims=True))
                               .sum(axis=-1, keepdims=True)),
          by_row(lambda row: row - np.log(np.exp(row - row.max()).sum()))),
    step="the difference of scores and logarithm",
)


_LOG_SOFTMAX = Exercise(
    id="log_softmax",
    chapter=CHAPTER,
    title="The logarithm of the weights",
    signature="log_softmax(x)",
    shapes="(..., n) → (..., n)",
    prompt="Write log_softmax(x): the logarithm of the softmax over the last axis. It is finite "
           "also where a weight is too small for a float.",
    hints=("What is the logarithm of a quotient?",
           "What is the logarithm of exp(s)? Does exp(s) have to be computed for it?",
           "What is left to compute is the logarithm of a sum of exponentials. You know how."),
    example=Example((_EXAMPLE,), [-2.0794415, -1.3862944, -0.4700036]),
    reference=by_row(_reference_log_softmax_row),
    tolerance=_LOG_TOLERANCE,
    cases=_JUDGING,
    naming=_NAMING,
    mistakes=(
        Mistake(
            id="log-of-softmax",
            seen="The logarithm is taken of finished weights; a weight that underflowed to 0 has "
                 "none.",
            question="The weight is lost once it is 0. Which quantity, known before that, is its "
                     "logarithm?",
            ways=(lambda x: np.log(softmax(x)), by_row(lambda row: np.log(softmax(row))),
                  *map(_floored, (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12, 1e-15,
                                  1e-16, 1e-20, 1e-30, 1e-300)),
                  *map(_infinity_replaced, (0.0, -100.0, -1e9, np.finfo(float).min))),
            step="the difference of scores and logarithm",
        ),
        Mistake(
            id="no-max-shift",
            seen="Gentle scores come out right, but the exponential of a large score overflows.",
            question="Which number may be taken from a whole row without changing its weights?",
            ways=(lambda x: x - np.log(np.exp(x).sum(axis=-1, keepdims=True)),
                  lambda x: np.log(unstable_softmax(x)),
                  by_row(lambda row: [score - math.log(sum(map(math.exp, row))) for score in row])),
            step="the shift by the row's maximum",
        ),
        _SUM_NOT_LOGGED,
        _SCORES_NOT_SHIFTED,
        _GLOBAL_MAX_IN_LOG,
        Mistake(
            id="not-normalised",
            seen="The maximum is subtracted and nothing else; the exponentials of a row do not sum "
                 "to one.",
            question="What must the exponentials of a row of the result sum to?",
            ways=(lambda x: x - x.max(axis=-1, keepdims=True), lambda x: x,
                  by_row(lambda row: [score - max(row) for score in row])),
            step="the sum of the shifted exponentials",
        ),
        Mistake(
            id="wrong-sign",
            seen="The result has the opposite sign.",
            question="A weight lies between 0 and 1. Which sign has its logarithm?",
            ways=(lambda x: -_log_softmax(x), lambda x: -np.log(softmax(x))),
            step="the difference of scores and logarithm",
        ),
        *_MISTAKES_IN_LOG,
        Mistake(
            id="weights-not-logs",
            seen="The result holds the weights themselves, not their logarithms.",
            question="Can the logarithm of a number below 1 be positive?",
            ways=(lambda x: softmax(x), lambda x: unstable_softmax(x),
                  by_row(reference_softmax)),
            step="the difference of scores and logarithm",
        ),
        Mistake(
            id="sum-returned",
            seen="The result is the logarithm of the sum, one number for each row; the scores are "
                 "not in it.",
            question="How many weights has a row of three scores, and how many logarithms have "
                     "they?",
            ways=(_log_sum_exp, lambda x: _log_sum_exp(x)[..., None],
                  lambda x: np.log(np.exp(x).sum(axis=-1)), lambda x: np.log(_exp_sum(x))),
            step="the difference of scores and logarithm",
        ),
        axis_of_one_lost(lambda x: _log_softmax(np.asarray(x)), "one sum for each row"),
    ),
    variants=(_log_softmax_in_loops, in_float32(_log_softmax),
              lambda x: x - np.logaddexp.reduce(x, axis=-1, keepdims=True),
              lambda x: x - _log_sum_exp(x)[..., None]),
    solution=_log_softmax,
    package=(attention_book.log_softmax,),
)


# --- temperature_softmax(x, temperature) ----------------------------------------------------------
def _reference_temperature(x, temperature):
    return by_row(reference_softmax)(np.asarray(x, dtype=np.float64) / temperature)


def _temperature_softmax(x, temperature):
    scaled = x / temperature
    exponentials = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _temperature_in_loops(x, temperature):
    if np.ndim(x) > 1:
        return [_temperature_in_loops(row, temperature) for row in x]
    largest = max(x)
    exponentials = [math.exp((score - largest) / temperature) for score in x]
    return [each / sum(exponentials) for each in exponentials]


_TEMPERATURE = Exercise(
    id="temperature_softmax",
    chapter=CHAPTER,
    title="Sharper and flatter weights",
    signature="temperature_softmax(x, temperature)",
    shapes="(..., n), a number → (..., n)",
    prompt="Write temperature_softmax(x, temperature): a low temperature sharpens the weights "
           "towards the largest score, a high one flattens them, and 1 is the softmax itself.",
    hints=("Which weights come out as the temperature goes to 0? Which as it grows without end?",
           "The temperature changes how far apart the scores are.",
           "Dividing scores by a small temperature makes them large. What does that call for?"),
    example=Example((np.log([1.0, 4.0, 25.0]), 2.0), [0.125, 0.25, 0.625]),
    reference=_reference_temperature,
    cases=(
        Case((_LINE, 0.5), "another row of three scores, a low temperature",
             "the scores over the temperature"),
        Case((_GENTLE, 1.0), "gentle scores, temperature 1", "one sum for each row"),
        Case((_GENTLE, 2.5), "a high temperature", "the scores over the temperature"),
        Case((_CUBE, 0.75), "scores with three axes", "the last axis"),
        Case((_EIGHTHS, 1 / 512), "a temperature near zero", "the shift by the row's maximum"),
        Case((_GENTLE, 1e6), "a very high temperature", "the scores over the temperature"),
        Case((_LARGE, 2.0), "large scores", "the shift by the row's maximum"),
        Case((_LARGE, 8.0), "large scores, a high temperature", "the shift by the row's maximum"),
        Case((_LOW, 2.0), "very negative scores", "the shift by the row's maximum"),
        Case((_FAR_APART, 0.5), "rows far apart from one another", "one maximum for each row"),
        Case((_WIDE, 512.0), "scores far apart, a high temperature",
             "the scores over the temperature"),
    ),
    naming=(Case((_GENTLE, 2.5), "a high temperature"), Case((_GENTLE, 0.75), "a low temperature"),
            Case((_EIGHTHS, 1 / 512), "a temperature near zero"),
            Case((_LARGE, 2.0), "large scores"), Case((_LARGE, 8.0), "large scores, higher"),
            Case((_WIDE, 512.0), "scores far apart, a high temperature"),
            Case((_FAR_APART, 0.5), "rows far apart from one another"),
            Case((_LOW, 2.0), "very negative scores"), Case((_CUBE, 0.75), "three axes"),
            Case((_SQUARE, 0.75), "square")),
    mistakes=(
        Mistake(
            id="multiplied-by-temperature",
            seen="The scores are multiplied by the temperature, so that a high one sharpens.",
            question="Should a high temperature bring the scores closer together or push them "
                     "apart?",
            ways=(lambda x, t: softmax(x * t), lambda x, t: unstable_softmax(x * t),
                  by_row(lambda row, t: softmax(np.array([score * t for score in row]))),
                  lambda x, t: softmax(x) ** t / (softmax(x) ** t).sum(axis=-1, keepdims=True)),
            step="the scores over the temperature",
        ),
        Mistake(
            id="applied-after-softmax",
            seen="Finished weights are divided or multiplied by the temperature, and no longer sum "
                 "to one.",
            question="What do the weights of a row sum to, for temperature 2?",
            ways=(lambda x, t: softmax(x) / t, lambda x, t: softmax(x) * t,
                  lambda x, t: unstable_softmax(x) / t,
                  by_row(lambda row, t: [weight / t for weight in softmax(row)]),
                  lambda x, t: softmax(x) ** (1 / t), lambda x, t: softmax(x) ** t),
            step="the scores over the temperature",
        ),
        Mistake(
            id="ignored",
            seen="The temperature changes nothing: the result is the plain softmax.",
            question="Where does the temperature enter, and does it cancel again further on?",
            ways=(lambda x, t: softmax(x), lambda x, t: unstable_softmax(x),
                  lambda x, t: softmax(x) / t / (softmax(x) / t).sum(axis=-1, keepdims=True),
                  lambda x, t: unstable_softmax(x - x.max(axis=-1, keepdims=True) / t),
                  lambda x, t: softmax(x - t)),
            step="the scores over the temperature",
        ),
        Mistake(
            id="no-max-shift",
            seen="Divided by a small temperature, the scores grow large, and overflow.",
            question="Is the largest score of a row still small after the division?",
            ways=(lambda x, t: unstable_softmax(x / t),
                  by_row(lambda row, t: _unstable_row(row / t)),
                  lambda x, t: np.exp(x) ** (1 / t)
                  / (np.exp(x) ** (1 / t)).sum(axis=-1, keepdims=True)),
            step="the shift by the row's maximum",
        ),
        Mistake(
            id="powers-of-weights",
            seen="Finished weights are raised to a power and shared again; a weight that has "
                 "underflowed to 0 stays 0 at any temperature.",
            question="Of two scores 1000 apart, what is the smaller one's weight at temperature 1, "
                     "and what should it be at temperature 1000?",
            ways=(lambda x, t: softmax(x) ** (1 / t) / (softmax(x) ** (1 / t))
                  .sum(axis=-1, keepdims=True),
                  lambda x, t: softmax(np.log(softmax(x)) / t)),
            step="the scores over the temperature",
        ),
        Mistake(
            id="wrong-axis",
            seen="The weights sum to one along another axis than the last.",
            question="Which axis of the scores runs over what is compared within one row?",
            ways=(lambda x, t: softmax(x / t, axis=0),
                  lambda x, t: _down_the_columns(x / t),
                  lambda x, t: unstable_softmax((x / t).T).T),
            step="the last axis",
        ),
        Mistake(
            id="shift-not-divided",
            seen="The maximum of the undivided scores is subtracted from the divided ones.",
            question="After your shift, is the largest score of each row 0?",
            ways=(lambda x, t: np.exp(x / t - x.max(axis=-1, keepdims=True))
                  / np.exp(x / t - x.max(axis=-1, keepdims=True)).sum(axis=-1, keepdims=True),
                  by_row(lambda row, t: np.exp(row / t - row.max())
                         / sum(np.exp(row / t - row.max())))),
            step="the shift by the row's maximum",
        ),
        Mistake(
            id="another-power-of-the-temperature",
            seen="The scores are divided by another power of the temperature than the first: its "
                 "root, or its square.",
            question="With temperature 4, by how much should two scores that are 4 apart still "
                     "differ?",
            ways=tuple(lambda x, t, power=power: softmax(x / t**power)
                       for power in (0.5, 2, 3, 0.25)),
            step="the scores over the temperature",
        ),
        Mistake(
            id="temperature-bounded",
            seen="Temperatures beyond a bound all do the same: low ones, or high ones.",
            question="Which temperatures does your function change before it uses them?",
            ways=(*(lambda x, t, least=least: softmax(x / max(t, least))
                    for least in (1.0, 0.5, 0.1, 0.01)),
                  *(lambda x, t, most=most: softmax(x / min(t, most))
                    for most in (1.0, 2.0, 10.0, 100.0)),
                  lambda x, t: softmax(x / t) if t > 1 else softmax(x),
                  lambda x, t: softmax(x / t) if t < 1 else softmax(x)),
            step="the scores over the temperature",
        ),
        Mistake(
            id="rounded",
            seen="The divided scores are rounded to whole numbers, so scores that differ may get "
                 "the same weight.",
            question="What is 7 // 2, and what is 7 / 2?",
            ways=(lambda x, t: softmax(np.floor(x / t)), lambda x, t: softmax(np.rint(x / t)),
                  lambda x, t: softmax(np.trunc(x / t)), lambda x, t: unstable_softmax(x // t)),
            step="the scores over the temperature",
        ),
        Mistake(
            id="global-max",
            seen="One maximum serves the whole array, so a row far below it underflows to 0/0.",
            question="For the row of the lowest scores, how large is its largest exponential after "
                     "your shift?",
            ways=(lambda x, t: _global_max(x / t), lambda x, t: _global_max_row_by_row(x / t),
                  lambda x, t: np.nan_to_num(_global_max(x / t)),
                  *(lambda x, t, with_least=with_least: with_least(x / t)
                    for with_least in map(_global_max_and, _EPSILONS))),
            step="one maximum for each row",
        ),
        Mistake(
            id="global-sum",
            seen="The weights of all rows together sum to one.",
            question="What is the sum of each single row of your result, and what should it be?",
            ways=(lambda x, t: _global_sum(x / t), lambda x, t: np.exp(x / t) / np.exp(x / t).sum(),
                  lambda x, t: softmax((x / t).ravel()).reshape(x.shape)),
            step="one sum for each row",
        ),
        Mistake(
            id="keepdims-missing",
            seen="A maximum or a sum has lost its axis, so it meets the scores along another one: "
                 "an error, or wrong values where the array is square.",
            question="The maxima of a (5, 7) array have shape (5,). How does NumPy line them up "
                     "with (5, 7), and which shape would do?",
            ways=(lambda x, t: unstable_softmax(x / t - (x / t).max(axis=-1)),
                  lambda x, t: np.exp(_shifted(x / t)) / np.exp(_shifted(x / t)).sum(axis=-1),
                  lambda x, t: np.exp(x / t) / np.exp(x / t).sum(axis=-1)),
            step="one sum for each row",
        ),
        Mistake(
            id="not-normalised",
            seen="The exponentials are not divided by their sum.",
            question="What do the numbers of a row of your result sum to?",
            ways=(lambda x, t: np.exp(_shifted(x / t)), lambda x, t: np.exp(x / t),
                  lambda x, t: np.exp(_shifted(x)) ** (1 / t)),
            step="one sum for each row",
        ),
        Mistake(
            id="low-rows-not-shifted",
            ways=tuple(lambda x, t, shift=shift: _less(shift)(x / t) for shift in _LOW_SHIFTS),
            **_LOW_ROWS,
        ),
    ),
    variants=(_temperature_in_loops, in_float32(_temperature_softmax),
              lambda x, temperature: softmax(x * (1 / temperature)),
              lambda x, temperature: softmax((x - x.max(axis=-1, keepdims=True)) / temperature),
              lambda x, temperature: attention_book.softmax(x / temperature)),
    solution=_temperature_softmax,
)


# --- masked_softmax(x, mask) ----------------------------------------------------------------------
def _reference_masked_row(row, allowed):
    seen = [score for score, ok in zip(row, allowed, strict=True) if ok]
    weights = iter(reference_softmax(seen) if seen else ())
    return [next(weights) if ok else 0.0 for ok in allowed]


def _masked_softmax(x, mask):
    hidden = np.where(mask, x, -np.inf)
    largest = hidden.max(axis=-1, keepdims=True)
    exponentials = np.exp(hidden - np.where(np.isinf(largest), 0, largest))
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total == 0, 1, total)


def _masked_in_loops(x, mask):
    if np.ndim(x) > 1:
        return [_masked_in_loops(row, allowed) for row, allowed in zip(x, mask, strict=True)]
    if not any(mask):
        return [0.0] * len(x)
    largest = max(score for score, ok in zip(x, mask, strict=True) if ok)
    exponentials = [math.exp(score - largest) if ok else 0.0
                    for score, ok in zip(x, mask, strict=True)]
    return [each / sum(exponentials) for each in exponentials]


def _masked_by_picking(x, mask):
    weights = np.zeros(x.shape)
    for place in np.ndindex(x.shape[:-1]):
        if mask[place].any():
            weights[place][mask[place]] = softmax(x[place][mask[place]])
    return weights


def _zero_if_empty(function):
    """Mend the empty rows of a masked softmax: what else is wrong with it stays."""
    return lambda x, mask: np.where(mask.any(axis=-1, keepdims=True), function(x, mask), 0.0)


def _filled(fill):
    return lambda x, mask: softmax(np.where(mask, x, fill))


def _fill_added(fill):
    return lambda x, mask: softmax(x + np.where(mask, 0.0, fill))


_FILLS = (-1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -12, -15, -16, -20, -25, -30, -40, -50, -80,
          -99, -100, -999, -1e3, -9999, -1e4, -65504, -1e5, -1e6)


def _exponentials_masked(x, mask):
    return np.exp(x - x.max(axis=-1, keepdims=True)) * mask


def _shared(weights):
    return weights / weights.sum(axis=-1, keepdims=True)


def _shared_if_any(weights):
    total = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(total == 0, 1, total)

def _shared_if_positive(weights):
    total = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(total > 0, total, 1)


def _exponentials_of_allowed(x, mask):
    """Return the exponentials after a shift by the maximum of what is allowed in each row."""
    hidden = np.where(mask, x, -np.inf)
    return np.exp(hidden - np.where(mask.any(-1), hidden.max(axis=-1), 0)[..., None])


_MASK = np.array([[1, 1, 0, 1, 0, 1, 1], [0, 1, 1, 0, 1, 0, 0], [1, 0, 0, 0, 0, 0, 1],
                  [0, 0, 0, 0, 1, 0, 0], [1, 1, 1, 1, 1, 1, 0]], dtype=bool)
_CUBE_MASK = _CUBE < 0.75
_EMPTY_ROWS = _MASK & (np.arange(5) % 2 == 0)[:, None]
_LARGE_MASK = np.array([[1, 1, 0, 1, 0], [0, 1, 1, 0, 1]], dtype=bool)
_TOWER = np.array([[0.5, 1000, -0.25, 1.5, 2], [3, 0.125, 2000, -1, 1500]])
_TOWER_MASK = np.array([[1, 0, 1, 1, 1], [1, 1, 0, 1, 0]], dtype=bool)
_DEEP = np.array([[-2000000.0, 0.5, -2000001.5, 1, -2000000.5], [0, -3000001, -3000000, -2, -1.5]])
_DEEP_MASK = np.array([[1, 0, 1, 0, 1], [0, 1, 1, 0, 0]], dtype=bool)
_MASKED_HARD = (
    Case((_LARGE, _LARGE_MASK), "large scores", "the shift by the row's maximum"),
    Case((_TOWER, _TOWER_MASK), "masked scores that tower over the others",
         "the mask before the softmax"),
    Case((_DEEP, _DEEP_MASK), "allowed scores far below the masked ones",
         "the mask before the softmax"),
    Case((_GENTLE, _EMPTY_ROWS), "rows with nothing allowed", "rows with nothing allowed"),
)

_MASKED = Exercise(
    id="masked_softmax",
    chapter=CHAPTER,
    title="Weights for some positions only",
    signature="masked_softmax(x, mask)",
    shapes="(..., n), (..., n) of bool → (..., n)",
    prompt="Write masked_softmax(x, mask): the softmax over the positions where mask is True, and "
           "0 elsewhere. A row with nothing allowed gives zeros.",
    hints=("Which score has an exponential of exactly 0?",
           "np.where(mask, x, ...) chooses, position by position, between a score and something "
           "else.",
           "If every score of a row is hidden, what are its maximum and its sum? Neither may be "
           "used as it is."),
    example=Example((_EXAMPLE, np.array([True, False, True])), [1 / 6, 0, 5 / 6]),
    reference=by_row(_reference_masked_row),
    cases=(
        Case((_LINE, np.array([False, True, True])), "another row of three scores",
             "the mask before the softmax"),
        Case((_GENTLE, np.ones((5, 7), dtype=bool)), "everything allowed", "the softmax itself"),
        Case((_GENTLE, _MASK), "something allowed in every row", "the mask before the softmax"),
        Case((_CUBE, _CUBE_MASK), "scores with three axes", "the last axis"),
        *_MASKED_HARD,
        Case((_LARGE, np.zeros((2, 5), dtype=bool)), "nothing allowed at all",
             "rows with nothing allowed"),
    ),
    naming=(Case((_GENTLE, _MASK), "something allowed in every row"), *_MASKED_HARD,
            Case((_GENTLE, np.ones((5, 7), dtype=bool)), "everything allowed")),
    mistakes=(
        Mistake(
            id="masked-after-softmax",
            seen="Finished weights are set to 0, and what is left no longer sums to one.",
            question="Who gets the weight that was taken away from the masked positions?",
            ways=(lambda x, mask: softmax(x) * mask,
                  lambda x, mask: np.where(mask, unstable_softmax(x), 0.0),
                  by_row(lambda row, ok: [p if may else 0.0
                                          for p, may in zip(softmax(row), ok, strict=True)])),
            step="the mask before the softmax",
        ),
        Mistake(
            id="renormalised-too-late",
            seen="The mask comes after the exponentials, and the rest is divided by its sum: 0/0 "
                 "where a masked score towers over the others.",
            question="Whose maximum was subtracted, and what is then left of the allowed "
                     "exponentials?",
            ways=(lambda x, mask: _shared(softmax(x) * mask),
                  lambda x, mask: _shared(_exponentials_masked(x, mask)),
                  lambda x, mask: _shared_if_any(softmax(x) * mask),
                  lambda x, mask: np.nan_to_num(_shared(softmax(x) * mask)),
                  lambda x, mask: softmax(x) * mask
                  / ((softmax(x) * mask).sum(axis=-1, keepdims=True) + 1e-12)),
            step="the mask before the softmax",
        ),
        Mistake(
            id="scores-times-mask",
            seen="Masked scores are set to 0, and a score of 0 still has a weight.",
            question="What is exp(0)?",
            ways=(lambda x, mask: softmax(x * mask),
                  lambda x, mask: unstable_softmax(np.where(mask, x, 0.0)),
                  _zero_if_empty(lambda x, mask: softmax(x * mask)),
                  lambda x, mask: softmax(x * mask) * mask),
            step="the mask before the softmax",
        ),
        Mistake(
            id="nan-from-zero-times-inf",
            seen="The mask is multiplied by infinity, and 0 · inf is nan, so that no row survives.",
            question="What does your mask hold for the allowed scores, after the multiplication?",
            ways=(lambda x, mask: softmax(x + (1 - mask) * -np.inf),
                  lambda x, mask: np.nan_to_num(softmax(x + (1 - mask) * -np.inf)),
                  lambda x, mask: softmax(x * mask - np.inf * ~mask)),
            step="the mask before the softmax",
        ),
        Mistake(
            id="inverted-mask",
            seen="The weights lie where the mask is False.",
            question="Does True mean that a position may be attended to, or that it is hidden?",
            ways=(lambda x, mask: _masked_softmax(x, ~mask),
                  lambda x, mask: softmax(np.where(mask, -np.inf, x)),
                  lambda x, mask: softmax(np.where(mask, -1e9, x)),
                  lambda x, mask: softmax(x + np.where(mask, -1e9, 0.0)),
                  lambda x, mask: np.nan_to_num(softmax(np.where(mask, -np.inf, x)))),
            step="the mask before the softmax",
        ),
        Mistake(
            id="mask-ignored",
            seen="The mask changes nothing: the result is the plain softmax.",
            question="What should the weight of a masked position be?",
            ways=(lambda x, mask: softmax(x), lambda x, mask: unstable_softmax(x),
                  _zero_if_empty(lambda x, mask: softmax(x))),
            step="the mask before the softmax",
        ),
        Mistake(
            id="finite-fill",
            seen="Masked scores get a low but finite value, and keep weight where the allowed "
                 "scores are lower still.",
            question="How low may an allowed score be? Is there a fill below every one of them?",
            ways=tuple(kind(fill) for fill in _FILLS for kind in (
                _filled, _fill_added, lambda fill: _zero_if_empty(_filled(fill)))),
            step="the mask before the softmax",
        ),
        Mistake(
            id="nan-on-empty-row",
            seen="A row with nothing allowed becomes NaN: −inf − (−inf), or 0/0.",
            question="What are the maximum and the sum of a row whose every score is hidden?",
            ways=(_filled(-np.inf), lambda x, mask: softmax(x + np.log(mask)),
                  lambda x, mask: _shared(_masked_softmax(x, mask))),
            step="rows with nothing allowed",
        ),
        Mistake(
            id="uniform-on-empty-row",
            seen="A row with nothing allowed still gives weights, as if there were something to "
                 "attend to.",
            question="What do your weights sum to when every position is masked?",
            ways=(_filled(-1e9), _filled(-1e30), _filled(np.finfo(np.float64).min),
                  _fill_added(-1e9), _fill_added(-1e30),
                  lambda x, mask: np.nan_to_num(_filled(-np.inf)(x, mask), nan=1 / x.shape[-1])),
            step="rows with nothing allowed",
        ),
        Mistake(
            id="no-max-shift",
            seen="The mask is right, but nothing is subtracted before the exponential: large "
                 "scores overflow.",
            question="Which maximum keeps every allowed exponential between 0 and 1?",
            ways=(lambda x, mask: _shared(np.exp(x) * mask),
                  lambda x, mask: _shared_if_any(np.exp(x) * mask),
                  lambda x, mask: _shared(np.exp(np.where(mask, x, -np.inf))),
                  lambda x, mask: _shared_if_any(np.exp(np.where(mask, x, -np.inf))),
                  lambda x, mask: _shared_if_positive(np.exp(x) * mask),
                  lambda x, mask: _shared_if_positive(np.exp(np.where(mask, x, -np.inf))),
                  _zero_if_empty(lambda x, mask: _shared(np.exp(x) * mask))),
            step="the shift by the row's maximum",
        ),
        Mistake(
            id="global-sum",
            seen="The allowed positions of all rows together sum to one.",
            question="What is the sum of each single row of your result, and what should it be?",
            ways=(lambda x, mask: _masked_softmax(x.ravel(), mask.ravel()).reshape(x.shape),
                  lambda x, mask: _exponentials_of_allowed(x, mask)
                  / max(_exponentials_of_allowed(x, mask).sum(), 1e-300)),
            step="one sum for each row",
        ),
        Mistake(
            id="wrong-axis",
            seen="The weights sum to one along another axis than the last.",
            question="Which axis of the scores runs over what is compared within one row?",
            ways=(lambda x, mask: _masked_softmax(x.T, mask.T).T,
                  lambda x, mask: softmax(np.where(mask, x, -np.inf), axis=0),
                  lambda x, mask: np.nan_to_num(softmax(np.where(mask, x, -np.inf), axis=0))),
            step="the last axis",
        ),
        Mistake(
            id="low-rows-not-shifted",
            seen="The shift is never below 0, so allowed scores far below 0 underflow, and their "
                 "row is lost.",
            question="If all allowed scores of a row are near -1000, which number do you subtract?",
            ways=tuple(lambda x, mask, share=share, top=top: share(np.where(mask, np.exp(
                           np.where(mask, x - top(x, mask), 0)), 0))
                       for share in (_shared, _shared_if_any)
                       for top in (lambda x, mask: (x * mask).max(axis=-1, keepdims=True),
                                   lambda x, mask: np.max(x, axis=-1, keepdims=True, where=mask,
                                                          initial=0))),
            step="the shift by the row's maximum",
        ),
        Mistake(
            id="not-normalised",
            seen="The exponentials are not divided by the sum of their own row.",
            question="What do the weights of a row sum to?",
            ways=(_exponentials_of_allowed, lambda x, mask: np.exp(x) * mask,
                  _exponentials_masked),
            step="the softmax itself",
        ),
    ),
    variants=(_masked_in_loops, in_float32(_masked_softmax), _masked_by_picking,
              _zero_if_empty(_filled(-1e9)), _zero_if_empty(_filled(-np.inf)),
              lambda x, mask: attention_book.softmax(np.where(mask, x, -np.inf))),
    solution=_masked_softmax,
    package=((attention_book.softmax, "mask"), (attention_book.log_softmax, "mask"),
             (attention_book.attention, "mask")),
)


# --- fault_log_softmax ----------------------------------------------------------------------------
def fault_log_softmax(x):
    largest = x.max(axis=-1, keepdims=True)
    shifted = x - largest
    total = np.exp(x).sum(axis=-1, keepdims=True)
    return shifted - np.log(total)


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
    tolerance=_LOG_TOLERANCE,
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
        _SCORES_NOT_SHIFTED,
        _SUM_NOT_LOGGED,
        _GLOBAL_MAX_IN_LOG,
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
        *_MISTAKES_IN_LOG,
        Mistake(
            id="one-exponential-only",
            seen="The logarithm is taken of one exponential, that of the row's maximum, where the "
                 "sum of all is wanted.",
            question="Of how many numbers does your total hold the sum, for a row of three scores?",
            ways=(lambda x: _shifted(x) - np.log(np.exp(x.max(axis=-1, keepdims=True))),
                  lambda x: _shifted(x) - np.log(np.exp(x).max(axis=-1, keepdims=True)),
                  lambda x: _shifted(x) - x.max(axis=-1, keepdims=True)),
            step="the sum of the shifted exponentials",
        ),
        Mistake(
            id="not-normalised",
            seen="The maximum is subtracted and nothing else; the exponentials of a row do not sum "
                 "to one.",
            question="What must the exponentials of a row of the result sum to?",
            ways=(_shifted, lambda x: _shifted(x) - np.log(np.exp(_shifted(x)).max(-1))[..., None]),
            step="the sum of the shifted exponentials",
        ),
    ),
    variants=(_log_softmax_in_loops, in_float32(_log_softmax),
              lambda x: x - np.logaddexp.reduce(x, axis=-1, keepdims=True)),
    solution=_log_softmax,
    package=(attention_book.log_softmax,),
    faulty=fault_log_softmax,
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
        Mistake(
            id="not-normalised",
            seen="These are the exponentials, or multiples of them: they do not sum to 1.",
            question="What is the sum of your three numbers?",
            ways=([1, 2, 5], [0.2, 0.4, 1]),
            step="weights",
        ),
        Mistake(
            id="shares-of-scores",
            seen="The scores were divided by their sum; no exponential was taken.",
            question="A score of 0 is no lack of weight. What is its exponential?",
            ways=([0, 0.3, 0.7], [0, 0.301, 0.699]),
            step="exponentials",
        ),
        Mistake(
            id="order-turned",
            seen="The lowest score was given the largest weight.",
            question="Which of the three scores is the largest, and what should its weight be next "
                     "to the others?",
            ways=([0.625, 0.25, 0.125], [0.62, 0.25, 0.13]),
            step="exponentials",
        ),
        Mistake(
            id="almost-nothing",
            seen="Weights of almost nothing were predicted, as if the thousand divided them.",
            question="What must the weights of a row sum to?",
            ways=([0.000125, 0.00025, 0.000625], [0, 0, 0]),
            step="weights",
        ),
    ),
    variants=([0.125, 0.25, 0.625], (0.13, 0.25, 0.62), np.array([0.125, 0.25, 0.625])),
)


EXERCISES = (_PREDICT, _SOFTMAX, _LOG_SUM_EXP, _LOG_SOFTMAX, _TEMPERATURE, _MASKED, _FAULT)
