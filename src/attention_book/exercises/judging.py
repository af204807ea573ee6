"""Judging an answer: run it on every case, find the first fault, and name it."""

import inspect
from dataclasses import dataclass, replace

from attention_book.exercises.compare import close, parts_agree
from attention_book.exercises.findings import (
    Problem,
    calls_the_package,
    find_problem,
    hard_coded,
    no_answer,
)
from attention_book.exercises.guard import Outcome, Runner
from attention_book.exercises.model import Case
from attention_book.exercises.naming import name_mistake, wanted
from attention_book.exercises.verdicts import Result, lines, show_arguments

JUDGING_SECONDS, NAMING_SECONDS = 4.0, 1.0  # together below six seconds
_NAMELESS = ("not-attempted", "prints-instead-of-returning", "too-slow")


@dataclass(frozen=True)
class Trial:
    """What came of an answer on one case, and what is wrong with that, or None."""

    case: Case
    outcome: Outcome
    problem: Problem | None


def judge(exercise, answer):
    """Return the :class:`Result` for an answer to an exercise."""
    problem = no_answer(exercise, answer) or _is_the_packages(exercise, answer)
    if problem:
        return _failed(exercise, problem)
    for case in (*exercise.judging, *exercise.naming):
        wanted(exercise, case)  # found before the answer can touch anything
    with Runner(exercise, JUDGING_SECONDS) as runner:
        trials = _until_first_fault(exercise, answer, runner)
        if trials[-1].problem is None:
            problem = _calls_the_package(exercise, answer, runner)
            return _failed(exercise, problem) if problem else _passed(exercise)
        runner.left = NAMING_SECONDS
        mistake = _name(exercise, answer, runner, trials[-1])
        if mistake is None and _only_the_example(exercise, answer, runner, trials):
            return _failed(exercise, hard_coded(), trials[-1])
        last = trials[-1] if mistake else _with_step(exercise, answer, runner, trials[-1])
    return _failed(exercise, last.problem, last, mistake)


def _try(exercise, answer, runner, case):
    outcome = runner.run(answer, case)
    return Trial(case, outcome, find_problem(exercise, case, outcome, wanted(exercise, case)))


def _until_first_fault(exercise, answer, runner):
    trials = []
    for case in exercise.judging:
        trials.append(_try(exercise, answer, runner, case))
        if trials[-1].problem:
            break
    return trials


def _name(exercise, answer, runner, first):
    """Run the answer on the naming inputs, and return the mistake that it makes, or None."""
    if first.problem.id in _NAMELESS:
        return None
    trials = [_try(exercise, answer, runner, case) for case in exercise.naming]
    return name_mistake(exercise, [trial.outcome for trial in trials],
                        [_is_wrong(exercise, trial) for trial in trials])


def _is_wrong(exercise, trial):
    """Tell whether the values are at fault, not only the type of number, or an argument."""
    if trial.problem is None or trial.problem.id == "mutates-input":
        return False
    right = trial.problem.id == "wrong-dtype" and parts_agree(
        trial.outcome.parts, wanted(exercise, trial.case), exercise.tolerance)
    return not right


def _with_step(exercise, answer, runner, trial):
    """Give a wrong value on the page's example the step of the first case that fails as well."""
    if trial.case.step or trial.problem.id not in ("wrong-value", "not-finite"):
        return trial
    for case in exercise.cases:
        problem = _try(exercise, answer, runner, case).problem
        if problem and problem.id not in _NAMELESS:
            return replace(trial, case=replace(trial.case, step=case.step))
    return trial


def _only_the_example(exercise, answer, runner, trials):
    """Tell whether an answer is right on the page's example and never again."""
    if exercise.example is None or trials[-1].problem.id in _NAMELESS:
        return False
    trials = [trials[0], *(_try(exercise, answer, runner, case) for case in exercise.cases)]
    if any(trial.problem is None or trial.problem.id in _NAMELESS for trial in trials[1:]):
        return False
    return trials[0].problem is None or _copied(exercise, trials)


def _copied(exercise, trials):
    """Tell whether every result is the page's value, rounded as it is printed there."""
    shown, value = trials[0].outcome, wanted(exercise, trials[0].case)
    return (len(shown.parts) == len(value)
            and all(trial.outcome.ended == "returned"
                    and parts_agree(trial.outcome.parts, shown.parts) for trial in trials)
            and all(got.shape == want.shape and close(got.values, want.values, (0.01, 0.01)).all()
                    for got, want in zip(shown.parts, value, strict=True)))


def _package_codes(exercise):
    """Return the code of the package's functions for the same thing, and the telling argument."""
    pairs = [each if isinstance(each, tuple) else (each, None) for each in exercise.package]
    return {inspect.unwrap(function).__code__: (function, argument)
            for function, argument in pairs}


def _is_the_packages(exercise, answer):
    for function, argument in _package_codes(exercise).values():
        if argument is None and (answer is function or answer is inspect.unwrap(function)):
            return calls_the_package(function.__name__)
    return None


def _calls_the_package(exercise, answer, runner):
    """Run a right answer once more and listen whether the package does its work."""
    codes, heard = _package_codes(exercise), []

    def listen(frame, event, _):
        if event == "call" and frame.f_code in codes:
            function, argument = codes[frame.f_code]
            if argument is None or frame.f_locals.get(argument) is not None:
                heard.append(function.__name__)

    for case in exercise.judging if codes else ():
        if case.memory is None:
            runner.run(answer, case, listen)
    return calls_the_package(heard[0]) if heard else None


def _passed(exercise):
    notes = list(dict.fromkeys(case.note for case in exercise.judging))
    if exercise.predicts:
        return Result(True, None, "\n".join(_steps(exercise)), exercise.id)
    return Result(True, None, lines(("Right on", ", ".join(notes))), exercise.id)


def _failed(exercise, problem, trial=None, mistake=None):
    case = trial.case if trial and not exercise.predicts else None
    step = (mistake and mistake.step) or (trial and trial.case.step)
    if exercise.predicts and not mistake:
        step = None  # where an unknown value goes astray is unknown, and the steps tell too much
    said = lines(
        ("Seen", mistake.seen if mistake else f"{problem.seen}."),
        ("Input", case and _input(exercise, case)),
        ("First difference", problem.first or (mistake and problem.seen)),
        ("It printed", trial and _first_line(trial.outcome.printed)),
        ("Step", step),
    )
    shown = _steps(exercise, step) if exercise.predicts and mistake else ()
    question = lines(("Question", mistake.question if mistake else problem.question))
    message = "\n".join(filter(None, (said, *shown, question)))
    return Result(False, mistake.id if mistake else problem.id, message, exercise.id)


def _input(exercise, case):
    shown = show_arguments(exercise.argument_names, case.args)
    return f"{case.note}; {shown}" if shown else case.note


def _first_line(printed):
    line = printed.strip().split("\n")[0]
    return line if len(line) <= 80 else line[:77] + "..."


def _steps(exercise, until=None):
    """Show the steps of a predicted value, before the one at which a prediction goes astray."""
    found = []
    for step in exercise.steps:
        if step.name == until:
            return [*found, f"{step.name}: here your prediction leaves the computation"]
        found.append(f"{step.name}: {step.shown}")
    return found
