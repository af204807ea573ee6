"""The verdict put together: what was seen, on which input, at which step, and the question."""

from attention_book.exercises.findings import written
from attention_book.exercises.verdicts import Result, lines, show_arguments

_SMALL = 25  # numbers of a table that is shown whole
_LONGEST = 80  # characters of what an answer printed


def passed(exercise):
    """Return the verdict on a right answer."""
    if exercise.predicts:
        return Result(True, None, "\n".join(_steps(exercise)), exercise.id)
    notes = list(dict.fromkeys(case.note for case in exercise.judging))
    return Result(True, None, lines(("Right on", ", ".join(notes))), exercise.id)


def failed(exercise, problem, trial=None, mistake=None):
    """Return the verdict on a wrong answer: on the trial it failed, with the mistake's name."""
    case = trial.case if trial and not exercise.predicts else None
    step = (mistake and mistake.step) or (trial and trial.case.step)
    if exercise.predicts and not mistake:
        step = None  # where an unknown value goes astray is unknown, and the steps tell too much
    said = lines(
        ("Seen", mistake.seen if mistake else f"{problem.seen}."),
        ("Input", case and _input(exercise, case)),
        ("First difference", problem.first or (mistake and (problem.beside or problem.seen))),
        ("Also", trial and problem.id != "mutates-input" and written(exercise, trial.outcome)),
        ("It printed", trial and _first_line(trial.outcome.printed)),
        ("Step", step),
        ("After that", mistake and mistake.later and
         f"something goes wrong at a later step too: {mistake.later}. Begin with the first"),
        ("And more", mistake and mistake.partly and "not every wrong result comes of this alone"),
    )
    shown = _steps(exercise, step) if exercise.predicts and mistake else ()
    question = lines(("Question", mistake.question if mistake else problem.question))
    message = "\n".join(filter(None, (said, *shown, question)))
    return Result(False, mistake.id if mistake else problem.id, message, exercise.id)


def _input(exercise, case):
    shown = show_arguments(exercise.argument_names, case.args, _SMALL)
    return f"{case.note}; {shown}" if shown else case.note


def _first_line(printed):
    line = printed.strip().split("\n")[0]
    return line if len(line) <= _LONGEST else line[: _LONGEST - 3] + "..."


def _steps(exercise, until=None):
    """Show the steps of a predicted value, before the one at which a prediction goes astray."""
    found = []
    for step in exercise.steps:
        if step.name == until:
            return [*found, f"{step.name}: here your prediction leaves the computation"]
        found.append(f"{step.name}: {(until and step.before) or step.shown}")
    return found
