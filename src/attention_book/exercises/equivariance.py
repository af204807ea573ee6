"""The exercise that asks for a test of permutation equivariance, and what judges it."""

import numpy as np

from attention_book.exercises.building_blocks import softmax
from attention_book.exercises.model import Case, Example, Exercise, Mistake, Watched

_SHUFFLE, _COMPARE = "the shuffle", "the comparison"

_rng = np.random.default_rng(40)


# --- Functions to be tested -----------------------------------------------------------------------
def _one_head(x):
    """Mix the rows by their contents."""
    return softmax(x @ x.T * x.shape[-1] ** -0.5) @ x


def _mean_for_all(x):
    return np.ones_like(x) * x.mean(axis=0)


def _row_by_row(x):
    return np.tanh(x[:, ::-1]) + x[:, :1]


def _with_places(features, step):
    """Return a head that adds to some features of each row ``step`` times the row's number."""
    def attend(x):
        result = _one_head(x)
        result[:, features] += step * np.arange(len(x))[:, None]
        return result

    return attend


def _growing_with_place(x):
    """Make each row larger by a thousandth for each place: no number is far off for its size."""
    return _one_head(x) * (1 + 0.001 * np.arange(len(x)))[:, None]


def _at(places):
    """Return a head that adds 1 to the rows in some places, wherever these rows come from."""
    def attend(x):
        result = _one_head(x)
        result[places] += 1
        return result

    return attend


def _running_mean(x):
    return np.cumsum(x, axis=0) / np.arange(1, len(x) + 1)[:, None]


def _ring(x):
    """Mix each row with both its neighbours: shifted or reversed rows give the same, moved."""
    return x + 0.5 * np.roll(x, 1, axis=0) + 0.5 * np.roll(x, -1, axis=0)


def _stretched(x):
    """Stretch the rows by what depends on their order; their sum stays."""
    return x + (x - x.mean(axis=0)) * (np.arange(len(x)) @ x)


def _second_half(x):
    """Add the mean of the later rows to all: orders that stay within the halves change nothing."""
    return x + x[len(x) // 2 :].mean(axis=0)


def _sorted_rows(x):
    return np.sort(x, axis=0)


def _summed_in_order(x):
    """Add the rows one after the other: another order gives other last digits."""
    total = np.zeros(x.shape[1])
    for row in np.exp(3 * x):
        total = total + row / 3
    return np.outer(x[:, 0], total)


def _planted(attend, note, n=7, d=5):
    """Return a case: a function to be tested, on tokens of its own.

    The tokens are multiples of 2**-20, so that plain sums of them are exact in any order.
    """
    x = np.ldexp(np.ldexp(_rng.normal(size=(n, d)), 20).round(), -20)
    return Case((Watched(attend), x, np.random.default_rng(0)), note, _COMPARE)


_CONTENTS = _planted(_one_head, "a head without positions (equivariant)")
_PLACES = _planted(_with_places(slice(None), 0.01),
                   "a head that adds a little for each place (not equivariant)")
_FIRST = _planted(_with_places([0], 1),
                  "a head that adds the row's number to the first feature (not equivariant)")
_LAST = _planted(_with_places([-1], 1),
                 "a head that adds the row's number to the last feature (not equivariant)")
_PAST = _planted(_running_mean, "the mean of all rows so far (not equivariant)")
_MEAN = _planted(_mean_for_all, "the mean of all rows, for every row (equivariant)")
_ROW = _planted(_row_by_row, "a function of each row alone (equivariant)")
_SORTED = _planted(_sorted_rows, "a function that sorts each column (not equivariant)")
_NEIGHBOURS = _planted(_ring, "rows in a ring, mixed with their neighbours (not equivariant)")
_STRETCHED = _planted(_stretched, "rows stretched by what depends on their order (not equivariant)")
_HALVES = _planted(_second_half, "rows plus the mean of the later half (not equivariant)", n=11)
_GROWING = _planted(_growing_with_place,
                    "a head whose rows grow a little with their place (not equivariant)")
_LAST_ROWS = _planted(_at(slice(-4, None)), "a head that adds 1 to the last rows (not equivariant)",
                      n=11)
_THIRDS = _planted(_at(slice(None, None, 3)),
                   "a head that adds 1 to every third row (not equivariant)", n=11)
_ROUNDED = _planted(_summed_in_order, "a sum over all rows, with rounding (equivariant)", d=11)


_PLANTED = (_CONTENTS, _PLACES, _FIRST, _LAST, _PAST, _MEAN, _ROW, _SORTED, _NEIGHBOURS,
            _STRETCHED, _HALVES, _GROWING, _LAST_ROWS, _THIRDS, _ROUNDED)
_ONE_FEATURE = _planted(_one_head, "a head, with five tokens of one feature (equivariant)", 5, 1)


def _reference_equivariance(attend, x, _):
    orders = [np.random.default_rng(seed).permutation(len(x)) for seed in range(12)]
    result = attend(x)
    return all(np.abs(attend(x[order]) - result[order]).max() < 1e-9 for order in orders)


# --- The exercise ---------------------------------------------------------------------------------
def _calls_of_attend(args, calls):
    """Say how attend was called, whatever the number of calls: the rows moved, or not."""
    x = args[1]
    found = {_how_it_was_called(x, *call) if len(call) == 1 else "other" for call in calls}
    order = ("rows moved", "features moved", "other", "rows in place")
    return next((kind for kind in order if kind in found), "never called")


def _how_it_was_called(x, given):
    if given.shape != x.shape:
        return "other"
    if np.array_equal(given, x):
        return "rows in place"
    if np.array_equal(_in_order(given), _in_order(x)):
        return "rows moved"
    same_features = np.array_equal(_in_order(given.T), _in_order(x.T))
    return "features moved" if same_features else "other"


def _in_order(rows):
    return rows[np.lexsort(rows.T)]


def _random_order(n, rng):
    return rng.permutation(n)


def _agree(attend, x, order):
    return np.allclose(attend(x[order]), attend(x)[order])


def _tries(agree=_agree, order=_random_order, trials=3):
    """Return a test: whether ``agree`` holds for some orders, drawn by ``order(n, rng)``."""
    return lambda attend, x, rng: all(agree(attend, x, order(len(x), rng)) for _ in range(trials))


def _once(agree, order=_random_order):
    return _tries(agree, order, trials=1)


def _shuffled_in_place(attend, x, rng):
    shuffled = x.copy()
    rng.shuffle(shuffled)
    return np.allclose(attend(shuffled), attend(x))


def _shuffled_itself(attend, x, rng):
    before = attend(x)
    rng.shuffle(x)
    return np.allclose(attend(x), before)


def _shuffled_apart(attend, x, rng):
    return np.allclose(attend(rng.permutation(x)), rng.permutation(attend(x)))


def _features_shuffled(attend, x, rng):
    order = rng.permutation(x.shape[1])
    return np.allclose(attend(x[:, order]), attend(x)[:, order])


def _for_each_number(compare):
    def test(attend, x, rng):
        order = rng.permutation(len(x))
        return compare(attend(x[order]), attend(x)[order])

    return test


def _on_every(reduce):
    """Return a way that compares only what ``reduce`` makes of the two results."""
    return _tries(lambda attend, x, order: np.allclose(reduce(attend(x[order])),
                                                       reduce(attend(x))))


def _put_back(attend, x, rng):
    order = rng.permutation(len(x))
    back = np.empty_like(attend(x))
    back[order] = attend(x[order])
    return bool(np.abs(back - attend(x)).max() < 1e-6)


def _row_by_row_in_lists(attend, x, rng):
    order = list(range(len(x)))
    while order == sorted(order):
        rng.shuffle(order)
    before, after = attend(x), attend(np.array([x[i] for i in order]))
    return all(abs(after[new] - before[old]).max() < 1e-8 for new, old in enumerate(order))


def _with_a_matrix(attend, x, rng):
    moved = rng.permutation(np.eye(len(x)))
    return bool((abs(moved @ attend(x) - attend(moved @ x)) < 1e-6).all())


def _solve_is_permutation_equivariant(attend, x, rng):
    order = rng.permutation(len(x))
    while np.array_equal(order, np.arange(len(x))):  # an order that moves nothing tests nothing
        order = rng.permutation(len(x))
    return np.allclose(attend(x[order]), attend(x)[order])


IS_PERMUTATION_EQUIVARIANT = Exercise(
    id="is_permutation_equivariant",
    chapter="04_weighted_values",
    title="Does the order matter?",
    signature="is_permutation_equivariant(attend, x, rng)",
    shapes="attend: (n, d) → (n, d), x: (n, d) → True or False",
    prompt="Write is_permutation_equivariant(attend, x, rng). attend is a function that takes "
           "tokens like x and gives one row for each. Test it on the tokens x, shuffled with rng: "
           "return True if the results are the same rows in the shuffled order, up to rounding, "
           "and False if not. x holds five different tokens or more. For example, a running sum "
           "makes 1, 3, 6 of the rows 1, 2, 3, and 2, 3, 6 of the rows 2, 1, 3. Moved along, the "
           "first result would be 3, 1, 6, so the answer is False.",
    hints=("You need two results of attend: one for x as it is, one for its rows in another order.",
           "A token has moved, so its result should be found where the token is now. Which of the "
           "two results must be put in order before they are compared?",
           "Keep the order as a list of row numbers, so that the same order can be applied twice. "
           "Then ask whether all numbers are close; the last digits may differ."),
    example=Example((Watched(lambda x: np.cumsum(x, axis=0)), np.arange(1.0, 6)[:, None],
                     np.random.default_rng(0)), False),
    reference=_reference_equivariance,
    cases=(*_PLANTED, _ONE_FEATURE),
    naming=_PLANTED,
    mistakes=(
        Mistake(
            id="always-true",
            seen="The answer is True without a look: attend is never called.",
            question="For which function should your test say False, and how would it find out?",
            ways=(lambda attend, x, rng: True,
                  lambda attend, x, rng: rng.permutation(x).shape == x.shape),
            step=_SHUFFLE,
        ),
        Mistake(
            id="permutes-input-only",
            seen="The input is shuffled, and its result is compared with the result in the old "
                 "order. A function that moves its rows along fails your test.",
            question="The third token is now the first. In which row of the new result should its "
                     "mixture be?",
            ways=(_tries(lambda attend, x, order: np.allclose(attend(x[order]), attend(x))),
                  _once(lambda attend, x, order: np.allclose(attend(x[order]), attend(x))),
                  _shuffled_in_place, _shuffled_itself),
            step=_COMPARE,
        ),
        Mistake(
            id="compares-shapes",
            seen="The rows are shuffled, but what the results hold decides nothing: every function "
                 "passes.",
            question="Two results of one shape can hold different numbers. Where does your test "
                     "look at the numbers?",
            ways=(_tries(lambda attend, x, order: attend(x[order]).shape == attend(x).shape),
                  _tries(lambda attend, x, order: attend(x[order]).shape == attend(x)[order].shape),
                  _once(lambda attend, x, order: len(attend(x[order])) == len(x))),
            step=_COMPARE,
        ),
        Mistake(
            id="identity-permutation",
            seen="attend never gets the rows in another order, so there is nothing to find.",
            question="Print the order that you use. Which token has moved?",
            ways=(_once(_agree, lambda n, rng: np.arange(n)),
                  _tries(_agree, lambda n, rng: np.sort(rng.permutation(n))),
                  lambda attend, x, rng: np.allclose(attend(x), attend(x.copy()))),
            step=_SHUFFLE,
        ),
        Mistake(
            id="permutes-output-only",
            seen="Only the result is shuffled: attend gets the rows in their old order every time.",
            question="What should be in another order when attend is called?",
            ways=(_tries(lambda attend, x, order: np.allclose(attend(x), attend(x)[order])),
                  lambda attend, x, rng: np.allclose(attend(x), rng.permutation(attend(x)))),
            step=_SHUFFLE,
        ),
        Mistake(
            id="different-orders",
            seen="Input and result are put in two different orders; or the result is put back with "
                 "the order itself, where its inverse would undo it.",
            question="Take the order [1, 2, 0] and three letters. Apply it once, and then once "
                     "more: are they back?",
            ways=(_tries(lambda attend, x, order: np.allclose(attend(x[order])[order], attend(x))),
                  _once(lambda attend, x, order: np.allclose(attend(x[order])[order], attend(x))),
                  _once(lambda attend, x, order: np.allclose(attend(x[order]),
                                                             attend(x)[np.argsort(order)])),
                  _shuffled_apart),
            step=_COMPARE,
        ),
        Mistake(
            id="exact-equality",
            seen="The results are compared digit by digit. A sum in another order rounds "
                 "differently, and that is no fault of attend.",
            question="What is 0.1 + 0.2 + 0.3 in Python, and what is 0.3 + 0.2 + 0.1?",
            ways=(_tries(lambda attend, x, order: np.array_equal(attend(x[order]),
                                                                 attend(x)[order])),
                  _once(lambda attend, x, order: (attend(x[order]) == attend(x)[order]).all())),
            step=_COMPARE,
        ),
        Mistake(
            id="coarse-comparison",
            seen="The results may differ by so much that a small influence of the place is missed.",
            question="How far apart may two results be that differ by rounding alone?",
            ways=tuple(_once(lambda attend, x, order, rtol=rtol, atol=atol: np.allclose(
                attend(x[order]), attend(x)[order], rtol, atol)) for rtol, atol in (
                    *((1e-5, far) for far in (0.1, 0.2, 0.5, 1, 2)),
                    *((far, 1e-8) for far in (0.01, 0.05, 0.1, 0.2, 0.5, 1)),
                    *((far, far) for far in (0.1, 0.5, 1)))),
            step=_COMPARE,
        ),
        Mistake(
            id="inverted-answer",
            seen="True and False are exchanged: equivariant functions get False.",
            question="Which answer does your last line give when the results agree?",
            ways=(lambda attend, x, rng: not _tries()(attend, x, rng),
                  lambda attend, x, rng: np.abs(attend(x[::-1]) - attend(x)[::-1]).max() > 1e-6),
            step=_COMPARE,
        ),
        Mistake(
            id="not-reduced",
            seen="There is an answer for each number or each row, not one for the function.",
            question="When do two arrays agree: if one of their numbers does, or if all do?",
            ways=(_for_each_number(np.isclose), _for_each_number(np.equal),
                  _for_each_number(lambda a, b: np.isclose(a, b).all(axis=1)),
                  _for_each_number(lambda a, b: np.isclose(a, b).all(axis=0))),
            step=_COMPARE,
        ),
        Mistake(
            id="one-special-order",
            seen="One special order is tried: reversed, shifted by one, or two rows exchanged. "
                 "Some functions that know places do not notice it.",
            question="What stays as it was in your order? Which orders could you get from rng, "
                     "that keep no pattern?",
            ways=(_once(_agree, lambda n, rng: np.arange(n)[::-1]),
                  _once(_agree, lambda n, rng: np.roll(np.arange(n), 1)),
                  lambda attend, x, rng: np.allclose(attend(x[::-1])[::-1], attend(x)),
                  _once(_agree, lambda n, rng: [1, 0, *range(2, n)]),
                  _once(_agree, lambda n, rng: [*range(n - 2), n - 1, n - 2])),
            step=_SHUFFLE,
        ),
        Mistake(
            id="permutes-features",
            seen="The columns are shuffled: each token keeps its place, and its features move.",
            question="What is a row of x, and what is a column? Which of them have an order that "
                     "attention might miss?",
            ways=(_features_shuffled,
                  lambda attend, x, rng: np.allclose(attend(x[:, ::-1]), attend(x)[:, ::-1])),
            step=_SHUFFLE,
        ),
        Mistake(
            id="rows-drawn-twice",
            seen="Some rows are drawn more than once, and others not at all: attend gets another "
                 "text, not the same one in another order.",
            question="In an order of five rows, how often should each row number occur?",
            ways=(_tries(order=lambda n, rng: rng.integers(0, n, n)),
                  _once(_agree, lambda n, rng: rng.integers(n, size=n)),
                  _once(_agree, lambda n, rng: rng.choice(n, n))),
            step=_SHUFFLE,
        ),
        Mistake(
            id="always-false",
            seen="The answer is False for every function.",
            question="Which function should pass your test, and what does your test make of it?",
            ways=(lambda attend, x, rng: False,
                  lambda attend, x, rng: np.allclose(attend(rng.permutation(x)), x + 1e3),
                  lambda attend, x, rng: np.allclose(attend(x), x + 1e3)),
            step=_COMPARE,
        ),
        Mistake(
            id="any-not-all",
            seen="It is enough for your test that one number, or one row, agrees.",
            question="Half of the rows agree and half do not. What should the answer be?",
            ways=(*(_once(lambda attend, x, order, some=some: some(
                      np.isclose(attend(x[order]), attend(x)[order])))
                    for some in (np.any, lambda close: close.all(axis=0).any())),
                  lambda attend, x, rng: any(
                      np.isclose(attend(x[order]), attend(x)[order]).any()
                      for order in (rng.permutation(len(x)) for _ in range(5)))),
            step=_COMPARE,
        ),
        Mistake(
            id="compares-one-feature",
            seen="One column of the results is compared, and what happens in the others is missed.",
            question="Which numbers of the two results have you not looked at?",
            ways=(_once(lambda attend, x, order: np.allclose(attend(x[order])[:, 0],
                                                             attend(x)[order][:, 0])),
                  _tries(lambda attend, x, order: np.allclose(attend(x[order])[:, 0],
                                                              attend(x)[order, 0])),
                  _tries(lambda attend, x, order: np.allclose(attend(x[order])[:, -1],
                                                              attend(x)[order, -1]))),
            step=_COMPARE,
        ),
        Mistake(
            id="compares-one-row",
            seen="One row of the results is compared, and what happens in the others is missed.",
            question="Which rows of the two results have you not looked at?",
            ways=tuple(kind(lambda attend, x, order, place=place: np.allclose(
                attend(x[order])[place], attend(x)[order[place]]))
                for kind, place in ((_once, 0), (_tries, 0), (_once, 1), (_once, -1))),
            step=_COMPARE,
        ),
        Mistake(
            id="compares-summaries",
            seen="Only a sum, a mean or a sorted list of the results is compared, which forgets "
                 "the rows they belong to.",
            question="Give every token the result of its neighbour: does your test notice?",
            ways=(_on_every(np.sum), _on_every(lambda result: result.mean(axis=0)),
                  _on_every(lambda result: np.sort(result, axis=0)),
                  _on_every(lambda result: np.sort(result, axis=None))),
            step=_COMPARE,
        ),
    ),
    variants=(
        _tries(),
        _once(_agree),
        _put_back,
        _row_by_row_in_lists,
        _once(_agree, lambda n, rng: np.argsort(rng.random(n))),
        _once(lambda attend, x, order: np.allclose(attend(x[order])[np.argsort(order)], attend(x))),
        _with_a_matrix,
    ),
    solution=_solve_is_permutation_equivariant,
    observe=_calls_of_attend,
)
