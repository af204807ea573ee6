"""The functions that judge a leak test are as tight, or leak, as the exercise says."""

import numpy as np
import pytest

from attention_book.exercises import catalogue, check
from attention_book.exercises.compare import as_part
from attention_book.exercises.naming import wanted

EXERCISE = catalogue()["leaks_future"]
CASES = [*EXERCISE.judging, *EXERCISE.naming]


def seen_by(attend, x, rng):
    """Return which rows of the result notice a change of which row of x, found by trying."""
    n, out = len(x), attend(x)
    found = np.zeros((n, n), dtype=bool)
    for j in range(n):
        for size in (0.3, 1.0, 30.0):
            changed = x.copy()
            changed[j] = changed[j] + size * rng.choice([-1, 1], size=x.shape[1])
            found[:, j] |= (attend(changed) != out).any(axis=1)
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.note)
def test_a_case_leaks_or_not_as_it_says(case):
    attend, x, _ = case.args
    leaks = bool(wanted(EXERCISE, case)[0].values)
    assert np.triu(seen_by(attend, x, np.random.default_rng(0)), k=1).any() == leaks
    if "(" in case.note:
        assert leaks == case.note.endswith("(leaks)")


@pytest.mark.parametrize("case", EXERCISE.naming, ids=lambda case: case.note)
def test_a_tiny_change_does_not_show_in_a_leak_that_names(case):
    attend, x, rng = case.args
    if not wanted(EXERCISE, case)[0].values:
        return
    for t in range(1, len(x)):
        changed = x.copy()
        changed[t:] += 0.02 * rng.choice([-1, 1], size=changed[t:].shape)
        assert (attend(changed)[:t] == attend(x)[:t]).all()


@pytest.mark.parametrize("asked", [
    [], [np.array(["a", "b"])], [np.array(3.0), np.array(None)], [np.zeros((0, 5))] * 3,
    [np.full((7, 5), np.nan), np.full((7, 5), np.inf)], [np.ones((7, 5), bool)] * 2,
    [np.ones(7), np.ones((7, 5), complex)]])
def test_whatever_attend_was_asked_can_be_put_in_a_word(asked):
    args = EXERCISE.naming[0].args
    assert isinstance(EXERCISE.observe(args, [(each,) for each in asked]), str)
    assert isinstance(EXERCISE.observe(args, [()] * 3), str)


def test_equal_answers_are_told_apart_by_what_attend_was_asked():
    names = ["always-false", "compares-shapes", "changes-nothing", "change-too-small"]
    outcomes = {check("leaks_future", EXERCISE.mistake(name).ways[0]).diagnosis for name in names}
    assert outcomes == set(names)
    case = EXERCISE.naming[-1]
    answers = [EXERCISE.mistake(name).ways[0](*case.args) for name in names]
    assert all(as_part(answer).values == 0 for answer in answers)
