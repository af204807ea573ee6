"""At which step of the computation a wrong value arises."""

from dataclasses import replace

from attention_book.exercises.compare import same_but_for_a_factor
from attention_book.exercises.naming import wanted

_SCORES = ("the dot products", "the scores")
_MISSING = ("not-attempted", "prints-instead-of-returning", "too-slow", "mutates-input")


def with_step(exercise, trial, attempt):
    """Return the trial with the step at which its value goes wrong.

    Parameters
    ----------
    exercise : Exercise
    trial : Trial
        The one to report. The page's example tests all steps at once and names none of them.
    attempt : callable
        Runs the answer on a case, and returns the trial.
    """
    if trial.problem.id not in ("wrong-value", "not-finite"):
        return trial
    step = trial.case.step or _first_that_fails(exercise, attempt)
    if step in _SCORES and _is_a_factor(exercise, attempt):
        step = next((case.step for case in exercise.cases if "scal" in case.step), step)
    return replace(trial, case=replace(trial.case, step=step))


def _first_that_fails(exercise, attempt):
    """Return the step of the first case that fails; earlier cases test the steps before it."""
    for case in exercise.cases:
        problem = attempt(case).problem
        if problem and problem.id not in _MISSING:
            return case.step
    return ""


def _is_a_factor(exercise, attempt):
    """Tell whether every result is the right one but for one factor, which d may change."""
    for case in exercise.cases:
        parts, right = attempt(case).outcome.parts, wanted(exercise, case)
        if len(parts) != 1 or not same_but_for_a_factor(parts[0], *right, exercise.tolerance):
            return False
    return True
