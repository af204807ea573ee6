"""At which step of the computation a wrong value arises."""

from dataclasses import replace

from attention_book.exercises.compare import parts_agree, same_but_for_a_factor
from attention_book.exercises.naming import wanted
from attention_book.exercises.probes import step_by_weights

_SCORES = ("the dot products", "the scores")
_MISSING = ("not-attempted", "prints-instead-of-returning", "too-slow", "mutates-input")
_ELSEWHERE = ("raises", "wrong-shape", "wrong-dtype")  # the case's step need not be theirs


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
    if trial.problem.id in _ELSEWHERE:
        return without_step(trial)
    if trial.problem.id not in ("wrong-value", "not-finite"):
        return trial
    step = (_of_a_part(exercise, trial) or step_by_weights(exercise, attempt)
            or _by_cases(exercise, trial, attempt))
    return replace(trial, case=replace(trial.case, step=step))


def without_step(trial):
    """Return the trial of a problem that the case's step does not tell."""
    return replace(trial, case=replace(trial.case, step=""))


def _by_cases(exercise, trial, attempt):
    """Return the step of the first case that fails, or say that it may be a later one."""
    step = trial.case.step or _first_that_fails(exercise, attempt)
    steps = list(dict.fromkeys(case.step for case in exercise.cases))
    scaled = [each for each in steps if "scal" in each]
    if step in _SCORES and scaled and _is_a_factor(exercise, attempt):
        return scaled[0]
    return step if step in ("", steps[-1]) else f"{step}, or a later one"


def _of_a_part(exercise, trial):
    """Return the step at which the first wrong part arises, where the exercise says so."""
    for part, step in exercise.part_steps.items():
        i = exercise.parts.index(part)
        pair = trial.outcome.parts[i : i + 1], wanted(exercise, trial.case)[i : i + 1]
        if not parts_agree(*pair, exercise.tolerance):
            return step
    return ""


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
