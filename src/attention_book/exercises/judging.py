"""Judging an answer: run it on every case, find the first fault, and name it."""

import sys
from dataclasses import dataclass

from attention_book.exercises.absent import no_answer
from attention_book.exercises.compare import close, parts_agree
from attention_book.exercises.findings import find_problem, hard_coded
from attention_book.exercises.guard import Outcome, Runner
from attention_book.exercises.model import Case, Problem
from attention_book.exercises.naming import name_mistake, shows, wanted
from attention_book.exercises.packages import is_the_packages, leaves_it_to_the_package
from attention_book.exercises.reports import failed, passed
from attention_book.exercises.steps import with_step, without_step

IN_BROWSER = sys.platform == "emscripten"  # where loops in Python take several times as long
JUDGING_SECONDS, NAMING_SECONDS = (12.0, 2.0) if IN_BROWSER else (4.0, 1.0)
_NAMELESS = ("not-attempted", "prints-instead-of-returning", "too-slow")


@dataclass(frozen=True)
class Trial:
    """What came of an answer on one case, and what is wrong with that, or None."""

    case: Case
    outcome: Outcome
    problem: Problem | None


def judge(exercise, answer, runner=None, leaves_it=leaves_it_to_the_package):
    """Return the :class:`Result` for an answer to an exercise.

    ``runner`` runs the answer, and ``leaves_it`` finds out whether it only calls the package; both
    are given where the answer runs in another process.
    """
    problem = no_answer(exercise, answer) or is_the_packages(exercise, answer)
    if problem:
        return failed(exercise, problem)
    probes = exercise.probe.cases if exercise.probe else ()
    for case in (*exercise.judging, *exercise.naming, *probes):
        wanted(exercise, case)  # found before the answer can touch anything
    with runner or Runner(exercise, JUDGING_SECONDS) as runner:
        trials = _until_first_fault(exercise, answer, runner)
        fault = _fault(trials)
        if fault is None:
            problem = leaves_it(exercise, answer, runner)
            return failed(exercise, problem) if problem else passed(exercise)
        runner.left = NAMING_SECONDS
        mistake = _name(exercise, answer, runner, fault)
        if mistake is None and _only_the_example(exercise, answer, runner, trials):
            return failed(exercise, hard_coded(), without_step(fault))
        if mistake is None:
            fault = with_step(exercise, fault, lambda case: _try(exercise, answer, runner, case))
        else:
            fault = _where_it_shows(exercise, answer, runner, fault, mistake)
    return failed(exercise, fault.problem, fault, mistake)


def _try(exercise, answer, runner, case, begun=False):
    outcome = runner.run(answer, case)
    problem = find_problem(exercise, case, outcome, wanted(exercise, case), begun)
    return Trial(case, outcome, problem)


def _until_first_fault(exercise, answer, runner):
    """Run the judging cases up to a wrong result; side effects alone do not end this."""
    trials = []
    for case in exercise.judging:
        trials.append(_try(exercise, answer, runner, case, begun=bool(trials)))
        if trials[-1].problem and not trials[-1].problem.right:
            break
    return trials


def _fault(trials):
    """Return the trial to report: the wrong result, or else the first side effect, or None."""
    faulty = [trial for trial in trials if trial.problem]
    wrong = [trial for trial in faulty if not trial.problem.right]
    return next(iter(wrong or faulty), None)


def _name(exercise, answer, runner, fault):
    """Run the answer on the naming inputs, and return the mistake that it makes, or None."""
    if fault.problem.id in _NAMELESS or _only_writes(fault.problem):
        return None
    trials = [_try(exercise, answer, runner, case) for case in exercise.naming]
    return name_mistake(exercise, [trial.outcome for trial in trials],
                        [_is_wrong(exercise, trial) for trial in trials])


def _where_it_shows(exercise, answer, runner, fault, mistake):
    """Return the first wrong trial on an input on which this mistake alone goes wrong."""
    if shows(exercise, mistake.id, fault.case):
        return fault
    for case in exercise.cases:
        if case is not fault.case and shows(exercise, mistake.id, case):
            trial = _try(exercise, answer, runner, case)
            if trial.problem and trial.problem.id not in _NAMELESS:
                return trial
    return fault


def _only_writes(problem):
    return problem.id == "mutates-input" and problem.right


def _is_wrong(exercise, trial):
    """Tell whether the values are at fault, not only the type of number, or an argument."""
    if trial.problem is None or _only_writes(trial.problem):
        return False
    right = trial.problem.id == "wrong-dtype" and parts_agree(
        trial.outcome.parts, wanted(exercise, trial.case), exercise.tolerance)
    return not right


def _only_the_example(exercise, answer, runner, trials):
    """Tell whether an answer is right on the page's example and never again."""
    last = trials[-1].problem
    if exercise.example is None or last is None or last.id in (*_NAMELESS, "mutates-input"):
        return False
    trials = [trials[0], *(_try(exercise, answer, runner, case) for case in exercise.cases)]
    if any(trial.problem is None or trial.problem.id in _NAMELESS for trial in trials[1:]):
        return False
    if trials[0].problem is None and last.id != "wrong-dtype":
        return True
    return _copied(exercise, trials)


def _copied(exercise, trials):
    """Tell whether every result is the page's value, rounded as it is printed there."""
    shown, value = trials[0].outcome, wanted(exercise, trials[0].case)
    return (len(shown.parts) == len(value)
            and all(trial.outcome.ended == "returned"
                    and parts_agree(trial.outcome.parts, shown.parts) for trial in trials)
            and all(got.shape == want.shape and close(got.values, want.values, (0.01, 0.01)).all()
                    for got, want in zip(shown.parts, value, strict=True)))
