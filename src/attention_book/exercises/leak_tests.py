"""The exercise that asks for a leak test, and the tight and leaking functions that judge it."""

import numpy as np

from attention_book.exercises.building_blocks import softmax
from attention_book.exercises.model import Case, Example, Exercise, Mistake, Watched

_STEP = 0.1  # how far a row must change before a step shows
_TINY = _STEP / 2  # the rows of _X lie in the middle of a step


# --- Functions to be tested -----------------------------------------------------------------------
# No row of a tight one is computed from later rows, so that not even nan gets through.
def _row_by_row(row_of):
    """Return a function whose row i is ``row_of(x, i)``."""
    return lambda x: np.array([row_of(x, i) for i in range(len(x))]).reshape(x.shape)


def _mix(query, x):
    return softmax(x @ query / np.sqrt(len(query))) @ x


def _cut_off(x, i):
    return softmax(x @ x[i] / np.sqrt(len(x[i])))[: i + 1] @ x[: i + 1]


def _centred(x, i):
    x = x - x.mean(axis=0)
    return _mix(x[i], x[: i + 1])


def _steps(x):
    """Return whole numbers, which change only where ``x`` changes enough."""
    return np.floor(x / _STEP)


def _from_to(later, row):
    """Return a function that leaks from one row to one other."""
    def attend(x):
        out = np.array(x, dtype=float)
        out[row : row + 1] += _steps(x[later : later + 1]).sum(axis=0)
        return out

    return attend


def _running_mean(x):
    return np.cumsum(x, axis=0) / np.arange(1, len(x) + 1)[:, None]


def _row_before(x):
    return np.concatenate([x[:1], x[:-1]])


_CAUSAL_HEAD = _row_by_row(lambda x, i: _mix(x[i], x[: i + 1]))
_NO_MASK = _row_by_row(lambda x, i: _mix(x[i], x))
_ONE_AHEAD = _row_by_row(lambda x, i: _mix(x[i], x[: i + 2]))
_MASKED_AFTER = _row_by_row(_cut_off)
_MEAN_SUBTRACTED = _row_by_row(_centred)


def _reversed_rows(x):
    return np.array(x[::-1])


def _whole_text(x):
    return x + _steps(x).sum(axis=0)


def _from_here_on(x):
    return np.cumsum(_steps(x)[::-1], axis=0)[::-1]


def _there_and_back(x):
    """Return rows that leak into two features, by opposite amounts."""
    out = np.array(x, dtype=float)
    out[:, :2] += _steps(x).sum() * np.array([1, -1])
    return out


def _contrast(x):
    """Return rows that see of the others how many steps their first two features lie apart."""
    out = np.array(x, dtype=float)
    out[:, 0] += np.round((x[:, 1] - x[:, 0]) / _STEP).sum()
    return out


def _normed(x):
    """Return rows that see of each row its normalised features, rounded to halves."""
    z = (x - x.mean(axis=1, keepdims=True)) / (x.std(axis=1, keepdims=True) + 1e-9)
    out = np.array(x, dtype=float)
    out[:, 0] += np.round(2 * z[:, 1] - 4 * z[:, 0]).sum()
    return out


def _through_one_feature(x):
    """Return rows that see one feature of all rows."""
    return x + _steps(x[:, 3]).sum()


def _faint(x):
    """Return rows that see the whole text, and show little of it."""
    return x + 0.001 * _steps(x).sum()


_TIGHT = (np.tanh, _row_before, _running_mean, _CAUSAL_HEAD)

_X = (np.round(np.random.default_rng(7).normal(size=(7, 5)) * 15) + 0.5) * _STEP
_COLUMN = np.array([[1.0], [2.0], [3.0]])


def _args(attend, x=_X):
    return Watched(attend), x, np.random.default_rng(1)


# --- Telling answers apart by their calls of attend -----------------------------------------------
def _what_was_asked(args, calls):
    """Say in a word what the calls of ``attend`` could have found out."""
    x = np.asarray(args[1])
    asked = [call[0] for call in calls if call and call[0].dtype.kind in "biuf"]
    if len(asked) < 2:
        return ("not asked", "asked once")[len(asked)]
    if all(map(_equal, asked[::2], asked[1::2])):
        return "nothing changed"
    changed = [each for each in asked if not _equal(each, x)]
    if any(each.shape != x.shape for each in changed):
        return "something changed"
    if all(np.abs(each - x).max() < _TINY for each in changed):
        return "hardly changed"
    if all(_equal(np.sort(each, axis=0), np.sort(x, axis=0)) for each in changed):
        return "order changed"
    if all(_equal(each[-1], x[-1]) and not _equal(each[0], x[0]) for each in changed):
        return "past changed"
    return "something changed"


def _equal(one, other):
    return one.shape == other.shape and one.tobytes() == other.tobytes()


# --- leaks_future(attend, x, rng) -----------------------------------------------------------------
def _every_cut(n):
    return range(1, n)


def _alike(some, others, summed):
    """Tell whether rows are alike, or, where ``summed`` is given, what it makes of each row."""
    if summed:
        some, others = summed(some, axis=1), summed(others, axis=1)
    return np.allclose(some, others)


def _search(cuts=_every_cut, changed=lambda t: slice(t, None), compared=slice, by=10.0,
            summed=None, compare=_alike):
    """Return a test that changes the rows ``changed(t)`` and looks at the rows ``compared(t)``."""
    def leaks(attend, x, rng):
        out = attend(x)
        for t in cuts(len(x)):
            other = x.copy()
            other[changed(t)] += by * rng.normal(size=other[changed(t)].shape)
            if not compare(attend(other)[compared(t)], out[compared(t)], summed):
                return True
        return False

    return leaks


def _shifted(by, changed=lambda t: slice(t, None), summed=None, compared=slice):
    """Return a test that adds one number to the rows ``changed(t)``."""
    def leaks(attend, x, rng):
        out = attend(x)
        for t in range(1, len(x)):
            other = x.copy()
            other[changed(t)] += by
            if not _alike(attend(other)[compared(t)], out[compared(t)], summed):
                return True
        return False

    return leaks


def _multiplied(by):
    """Return a test that multiplies the later rows by one number."""
    def leaks(attend, x, rng):
        rows = np.arange(len(x))[:, None]
        return any(not np.allclose(attend(np.where(rows < t, x, by * x))[:t], attend(x)[:t])
                   for t in range(1, len(x)))

    return leaks


def _one_feature(feature, by=10.0):
    """Return a test that changes one feature of the later rows."""
    def leaks(attend, x, rng):
        for t in range(1, len(x)):
            other = x.copy()
            other[t:, feature] += by
            if not np.allclose(attend(other)[:t], attend(x)[:t]):
                return True
        return False

    return leaks


def _within(bound):
    return lambda some, others, summed: np.allclose(some, others, rtol=0, atol=bound)


def _only(t):
    return slice(t, t + 1)


def _from(t):
    return slice(t, None)


def _last(t):
    return slice(-1, None)


def _all(t):
    return slice(None)


def _random_cut(attend, x, rng):
    return _search(lambda n: [int(rng.integers(1, n))])(attend, x, rng)


def _slopes(attend, x, rng):
    for t in range(1, len(x)):
        nudged = x.copy()
        nudged[t:] += 1e-6
        if (np.abs(attend(nudged) - attend(x))[:t] / 1e-6 > 1e-4).any():
            return True
    return False


def _shapes_of_changed(attend, x, rng):
    changed = x + 10 * rng.normal(size=x.shape)
    return attend(changed).shape != attend(x).shape


def _shapes_of_beginnings(attend, x, rng):
    return any(attend(x[:t]).shape != attend(x)[:t].shape for t in range(1, len(x)))


def _shuffled(attend, x, rng):
    for t in range(1, len(x) - 1):
        changed = np.concatenate([x[:t], rng.permutation(x[t:])])
        if not np.allclose(attend(changed)[:t], attend(x)[:t]):
            return True
    return False


def _reversed(attend, x, rng):
    return any(not np.allclose(attend(np.concatenate([x[:t], x[:t - 1:-1]]))[:t], attend(x)[:t])
               for t in range(1, len(x)))


def _not_copied(attend, x, rng):
    for t in range(1, len(x)):
        changed = x
        changed[t:] += 10 * rng.normal(size=changed[t:].shape)
        if not np.allclose(attend(changed)[:t], attend(x)[:t]):
            return True
    return False


def _all_rows(attend, x, rng):
    for row in range(len(x) - 1):
        later = np.arange(len(x)) > row
        changed = np.where(later[:, None], rng.normal(size=x.shape), x)
        if np.allclose(attend(changed)[row], attend(x)[row]):
            return False
    return True


def _all_pairs(attend, x, rng):
    found = []
    for later in range(1, len(x)):
        changed = x.copy()
        changed[later] += rng.uniform(5, 15, size=x.shape[1])
        found += [not np.allclose(*rows) for rows in
                  zip(attend(changed)[:later], attend(x)[:later], strict=True)]
    return bool(np.all(found))


def _opposite(attend, x, rng):
    return not _solve(attend, x, rng)


def _true_if_close(attend, x, rng):
    out = attend(x)
    for t in range(1, len(x)):
        changed = x.copy()
        changed[t:] += 10
        if np.allclose(attend(changed)[:t], out[:t]):
            return True
    return False


def _true_if_close_to_new_rows(attend, x, rng):
    out = attend(x)
    for t in range(1, len(x)):
        changed = np.concatenate([x[:t], rng.normal(size=x[t:].shape)])
        if np.allclose(attend(changed)[:t], out[:t]):
            return True
    return False


def _true_if_all_close(attend, x, rng):
    out = attend(x)
    return all(np.allclose(attend(np.concatenate([x[:t], x[t:] + 10]))[:t], out[:t])
               for t in range(1, len(x)))


def _solve(attend, x, rng):
    out = attend(x)
    for t in range(1, len(x)):
        changed = x.copy()
        changed[t:] += 10 * rng.normal(size=changed[t:].shape)
        if not np.allclose(attend(changed)[:t], out[:t]):
            return True
    return False


def _pair_by_pair(attend, x, rng):
    out = attend(x)
    for later in range(len(x)):
        changed = x.copy()
        changed[later] = rng.normal(size=x.shape[1])
        other = attend(changed)
        if any((other[i] != out[i]).any() for i in range(later)):
            return True
    return False


def _by_beginnings(attend, x, rng):
    out = attend(x)
    return not all(np.allclose(attend(x[:t]), out[:t]) for t in range(1, len(x)))


def _by_nan(attend, x, rng):
    for t in range(1, len(x)):
        changed = x.copy()
        changed[t:] = np.nan
        if np.isnan(attend(changed)[:t]).any():
            return True
    return False


LEAKS_FUTURE = Exercise(
    id="leaks_future",
    chapter="05_causal_mask",
    title="A leak test",
    signature="leaks_future(attend, x, rng)",
    shapes="a function, (n, d), a random generator → True or False",
    prompt="Write leaks_future(attend, x, rng): True if any row of attend(x) depends on a later "
           "row of x, else False. attend takes an array of shape (n, d) and returns another; you "
           "may call it as often as you like, also with other arrays, but leave x as it is. A leak "
           "may be in one row alone, come from one later row alone, and stay hidden while the "
           "later rows change only a little, or in all features alike. If attend reverses the "
           "rows of [[1], [2], [3]], the answer is True: row 0 depends on row 2.",
    hints=("Look at attend from outside: which rows of the result may notice, if you change the "
           "rows of x from t on?",
           "Compare with the result for the unchanged x. Which rows must be equal, and for how "
           "many places t must you ask?",
           "For every t from 1 to n − 1: copy x, add large random numbers to rows t and later, and "
           "compare rows 0 to t − 1 of both results."),
    example=Example(_args(_reversed_rows, _COLUMN), True),
    reference=lambda attend, x, rng: attend.function not in _TIGHT,
    cases=(
        Case(_args(_running_mean, _COLUMN), "running means (tight)", "which rows change"),
        Case(_args(_CAUSAL_HEAD), "a causal head (tight)", "which rows are compared"),
        Case(_args(np.tanh), "each row by itself (tight)", "which rows are compared"),
        Case(_args(_row_before), "the row before (tight)", "which rows are compared"),
        Case(_args(_NO_MASK), "a head without a mask (leaks)", "which rows are compared"),
        Case(_args(_ONE_AHEAD), "a mask one too far to the right (leaks)",
             "which rows are compared"),
        Case(_args(_MASKED_AFTER), "weights zeroed after the softmax (leaks)",
             "which rows are compared"),
        Case(_args(_MEAN_SUBTRACTED), "the mean of the text subtracted first (leaks)",
             "which rows are compared"),
        *(Case(_args(_from_to(later, row)), f"row {later} of 7 seen by row {row} alone (leaks)",
               "the places that are tried") for later, row in ((1, 0), (6, 5), (3, 2), (6, 0))),
        Case(_args(_whole_text), "a sum over the whole text (leaks)",
             "how the rows are changed"),
        Case(_args(_from_here_on), "rows that see themselves and all later ones (leaks)",
             "how the rows are changed"),
        Case(_args(_there_and_back), "one feature gains what another loses (leaks)",
             "what is compared"),
        Case(_args(_contrast), "differences of two features, summed over the text (leaks)",
             "how the rows are changed"),
        Case(_args(_normed), "rows that are normalised before they leak (leaks)",
             "how the rows are changed"),
        Case(_args(_through_one_feature), "one feature of all rows (leaks)",
             "how the rows are changed"),
        Case(_args(_faint), "a faint sum over the whole text (leaks)", "what is compared"),
    ),
    naming=(Case(_args(_running_mean), "running means"), Case(_args(np.tanh), "own row"),
            Case(_args(_whole_text), "whole text"), Case(_args(_from_here_on), "from here on"),
            Case(_args(_from_to(6, 0)), "the last row to row 0"),
            *(Case(_args(_from_to(row + 1, row)), f"row {row + 1} to row {row}")
              for row in range(6)),
            Case(_args(_there_and_back), "opposite changes"),
            Case(_args(_contrast), "differences of features"),
            Case(_args(_normed), "normalised rows"),
            Case(_args(_through_one_feature), "one feature"),
            Case(_args(_faint), "a faint leak")),
    mistakes=(
        Mistake(
            id="always-false",
            seen="The answer is False without attend having been asked.",
            question="Which functions should be reported as leaking, and how could you catch one?",
            ways=(lambda attend, x, rng: False, lambda attend, x, rng: len(x) < 0),
            step="what attend is asked",
        ),
        Mistake(
            id="always-true",
            seen="The answer is True without attend having been asked.",
            question="Does a head with a right mask leak? What would show that it does not?",
            ways=(lambda attend, x, rng: True, lambda attend, x, rng: bool(len(x))),
            step="what attend is asked",
        ),
        Mistake(
            id="perturbs-the-past",
            seen="Earlier rows are changed. That later ones notice is no leak: they may look back.",
            question="Which rows of x are the future of row i of the result?",
            ways=(_search(changed=slice, compared=_from), _search(changed=slice, compared=_only),
                  _search(changed=slice, compared=_last),
                  _search(lambda n: [0], changed=_only, compared=lambda t: slice(1, None)),
                  _search(lambda n: range(n - 1), changed=_only,
                          compared=lambda t: slice(t + 1, None)),
                  _shifted(10.0, slice, compared=_from),
                  _shifted(10.0, lambda t: slice(1), compared=lambda t: slice(1, None))),
            step="which rows change",
        ),
        Mistake(
            id="checks-last-position-only",
            seen="Only the last row of x is ever changed, so a leak from any other is missed.",
            question="What if row 0 looks at row 1, and at nothing else?",
            ways=(_search(lambda n: [n - 1]),
                  _search(lambda n: [n - 1], compared=lambda t: _only(t - 1)),
                  _search(lambda n: [n - 1], compared=lambda t: _only(0))),
            step="the places that are tried",
        ),
        Mistake(
            id="change-too-small",
            seen="The rows are changed so little that a leak in the form of a step does not show.",
            question="A row is rounded before it leaks. How much must it change to be noticed?",
            ways=(*(_search(by=by) for by in (1e-12, 1e-9, 1e-6, 1e-4, 1e-3)), _slopes),
            step="how the rows are changed",
        ),
        Mistake(
            id="compares-shapes",
            seen="attend is asked, but no values of its rows are compared, only what is always "
                 "alike, such as shapes.",
            question="What differs between two results of attend when a leak is there: their shape "
                     "or their values?",
            ways=(_shapes_of_changed, _shapes_of_beginnings,
                  lambda attend, x, rng: attend(x).shape != x.shape),
            step="what is compared",
        ),
        Mistake(
            id="changes-nothing",
            seen="attend is asked twice about the same rows, so the results are equal whether it "
                 "leaks or not.",
            question="Just before you compare, in which rows do the two inputs of attend differ?",
            ways=(_not_copied, lambda attend, x, rng: not np.allclose(attend(x), attend(x)),
                  _search(changed=lambda t: slice(10**6, None))),
            step="which rows change",
        ),
        Mistake(
            id="counts-itself",
            seen="The rows that were changed themselves are compared too; of course they differ.",
            question="If you change row t and those after it, which rows of the result may differ "
                     "without a leak?",
            ways=(_search(compared=_all), _search(compared=lambda t: slice(t + 1)),
                  _search(compared=_from), _search(changed=_only, compared=_only),
                  _search(range, changed=_only, compared=_all),
                  _search(changed=slice, compared=slice), _search(changed=slice, compared=_all)),
            step="which rows are compared",
        ),
        Mistake(
            id="compares-with-x",
            seen="attend is asked once, and its result is compared with x instead of with another "
                 "result.",
            question="A row may well differ from the same row of x. What may it not depend on?",
            ways=(lambda attend, x, rng: not np.allclose(attend(x), x),
                  lambda attend, x, rng: (np.abs(attend(x) - x) > 1e-9).any()),
            step="what is compared",
        ),
        Mistake(
            id="checks-one-cut-only",
            seen="The text is cut at one place only, so a leak that does not cross it is missed.",
            question="Which leaks lie wholly before your cut, or wholly after it?",
            ways=(_search(lambda n: [n // 2]), _search(lambda n: [1]), _random_cut,
                  _search(lambda n: [n // 2], changed=_only),
                  _search(lambda n: [1], changed=_only)),
            step="the places that are tried",
        ),
        Mistake(
            id="one-cut-missing",
            seen="All places are tried but one, at the beginning or at the end.",
            question="For n = 2, which rows are changed and which compared? And which leaks are "
                     "there?",
            ways=(_search(lambda n: range(1, n - 1)), _search(lambda n: range(2, n)),
                  _search(lambda n: range(2, n - 1))),
            step="the places that are tried",
        ),
        Mistake(
            id="neighbours-only",
            seen="A row is compared only after a change to its next neighbour.",
            question="What if row 0 looks at the last row, and at nothing else?",
            ways=(_search(changed=_only, compared=lambda t: _only(t - 1)),
                  _search(lambda n: range(n - 1, 0, -1), changed=_only,
                          compared=lambda t: _only(t - 1)),
                  _shifted(10.0, changed=_only, compared=lambda t: _only(t - 1))),
            step="which rows are compared",
        ),
        Mistake(
            id="shuffles-the-future",
            seen="The later rows only change places; a leak through their mean does not notice.",
            question="What stays the same when rows change places, and could it leak?",
            ways=(_shuffled, _reversed),
            step="how the rows are changed",
        ),
        Mistake(
            id="same-change-everywhere",
            seen="The same number is added to all features of a row, so a leak of their "
                 "differences does not show.",
            question="What stays the same in a row when all of its features grow alike, and could "
                     "it leak?",
            ways=(*(_shifted(by) for by in (1.0, 10.0, 1000.0)), _shifted(1.0, _only),
                  _shifted(-10.0)),
            step="how the rows are changed",
        ),
        Mistake(
            id="multiplied-alike",
            seen="All features of a row are multiplied by one number, so a leak of the row after "
                 "it has been normalised does not show.",
            question="What is left of a row's length when the row is divided by it?",
            ways=tuple(_multiplied(by) for by in (10.0, 2.0, 1000.0)),
            step="how the rows are changed",
        ),
        Mistake(
            id="one-feature-changed",
            seen="One feature of the later rows is changed, and the others stay as they are.",
            question="What if a row leaks its third feature alone?",
            ways=(_one_feature(0), _one_feature(1), _one_feature(0, by=-3.0)),
            step="how the rows are changed",
        ),
        Mistake(
            id="coarse-comparison",
            seen="The results are compared so coarsely that a small leak does not show.",
            question="By how much may a row change that sees nothing of what was changed?",
            ways=(_search(compare=_within(1.0)), _search(compare=_within(0.5)),
                  _search(compare=_within(2.0)), _search(compare=_within(5.0))),
            step="what is compared",
        ),
        Mistake(
            id="compares-means",
            seen="Of each row a single number is compared, such as its mean, in which changes of "
                 "its features can cancel.",
            question="If one feature grows by as much as another one shrinks, what does your "
                     "comparison notice?",
            ways=(_search(summed=np.mean), _search(changed=_only, summed=np.mean),
                  _search(summed=np.sum), _shifted(10.0, summed=np.sum)),
            step="what is compared",
        ),
        Mistake(
            id="asks-for-all",
            seen="The answer is True only if every row leaks.",
            question="One row looks ahead and all others are tight. What should the answer be?",
            ways=(_all_rows, _all_pairs),
            step="how the findings are joined",
        ),
        Mistake(
            id="inverted",
            seen="True and False have changed places: tight functions are reported.",
            question="If two results agree in all earlier rows, is that a leak?",
            ways=(_opposite, _true_if_close, _true_if_all_close, _true_if_close_to_new_rows),
            step="what is compared",
        ),
    ),
    variants=(
        _pair_by_pair,
        _by_beginnings,
        _by_nan,
        _search(by=1.0),
        _search(by=0.1),
        _search(lambda n: range(n - 1, 0, -1), compared=lambda t: slice(t - 1, t)),
        lambda attend, x, rng: any(
            np.abs(attend(np.where(np.arange(len(x))[:, None] < t, x, -x)) - attend(x))[:t].max()
            > 1e-9 for t in range(1, len(x))),
    ),
    solution=_solve,
    observe=_what_was_asked,
)
