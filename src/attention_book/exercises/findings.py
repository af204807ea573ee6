"""What is wrong with an outcome, in general terms: the ids that every exercise shares."""

import re

from numpy import absolute, isfinite

from attention_book.exercises.absent import nothing
from attention_book.exercises.compare import first_difference
from attention_book.exercises.forms import names, wrong_form
from attention_book.exercises.model import Problem
from attention_book.exercises.verdicts import number

_CALLS = r"positional argument|keyword argument|required keyword|takes no argument|takes exactly"


def find_problem(exercise, case, outcome, wanted, begun=False):
    """Return what is wrong with an outcome, or None; ``begun`` after results for other inputs."""
    if outcome.ended == "too-slow":
        return Problem("too-slow", f"No result came within {outcome.limit:g} seconds, the limit "
                       "for all inputs together; it was passed on this one",
                       "Is there a loop whose condition never becomes false, or a function that "
                       "calls itself without end?")
    problem = nothing(exercise, outcome, begun)
    if problem is None and outcome.ended == "raised":
        problem = _raised(exercise, outcome.error)
    problem = (problem or wrong_form(exercise, outcome, wanted, begun)
               or _wrong_values(exercise, outcome.parts, wanted))
    if problem and outcome.changed is not None and outcome.calls:
        # a given function was then asked about other values than it seems
        return _wrote(exercise, outcome, f"{written(exercise, outcome)}, and what comes after "
                      "that is found with other values")
    return problem or _side_effects(exercise, case, outcome)


def hard_coded():
    """Return the problem with an answer that is right on the page's example alone."""
    return Problem("hard-coded", "The result is right for the example on the page, and for none of "
                   "the other inputs", "What of the example does your function rely on?")


def calls_the_package(name):
    """Return the problem with an answer that leaves the work to the package."""
    return Problem("calls-the-package", f"The work is done by the package's own function {name}",
                   "Which steps does that function take? Write them yourself; functions of "
                   "earlier exercises may be called.")


def written(exercise, outcome):
    """Say which argument was written to, or nothing."""
    if outcome.changed is None:
        return ""
    return f"{exercise.argument_names[outcome.changed]} no longer holds what the caller put into it"


def _raised(exercise, error):
    text = f": {error.text}" if error.text else ""
    line = f", at your line `{error.line}`" if error.line else ""
    return Problem("raises", f"{error.kind}{text}{line}", _about_the_error(exercise, error))


def _about_the_error(exercise, error):
    if error.kind == "MemoryError":
        return "How large is the largest array you make? A check allows 1 GiB."
    if error.kind == "RecursionError":
        return "Which call ends the chain of calls?"
    if exercise.predicts:
        return f"Can you write it as {exercise.signature}?"
    called = error.kind == "TypeError" and re.search(_CALLS, error.text)
    if called and not error.line:
        return f"Can it be called as {exercise.signature}?"
    if called:
        return "What does the call on that line hand over, and what does the function take?"
    if error.line:
        return "What are the shapes and values on that line, for this input?"
    return "What happens when you call it yourself, with an input like this one?"


def _wrong_values(exercise, parts, wanted):
    for name, got, want in zip(names(exercise), parts, wanted, strict=True):
        index = first_difference(got, want, exercise.tolerance)
        if index is None:
            continue
        came, due = got.values[index], want.values[index]
        place = "" if not index else f"index {index[0] if len(index) == 1 else index}: "
        first = f"{name + ', ' if exercise.parts else ''}{place}{_apart(exercise, came, due, want)}"
        if isfinite(due) and not isfinite(came):
            return Problem("not-finite", f"{name} holds {number(came)} where a number should be",
                           "Which step makes it: too large an exponential, 0/0, or inf − inf?",
                           first)
        if got.family == "int" and want.family == "float" and (want.values % 1 != 0).any():
            return Problem("wrong-dtype", f"{name} holds whole numbers; wanted decimal numbers",
                           "Which array or number is made first, and of which type is it? What "
                           "becomes of 0.75 when it is put into an array of whole numbers?", first)
        return Problem("wrong-value", f"{name} has the right form, but not the right values",
                       "What should stand there? Work it out by hand for a small input, step by "
                       "step.", first)
    return None


def _side_effects(exercise, case, outcome):
    if outcome.changed is not None:
        return _wrote(exercise, outcome,
                      f"The result is right, but {written(exercise, outcome)}", right=True)
    if case.memory is not None and outcome.peak > case.memory:
        return Problem("too-much-memory", "The result is right, but too much is stored on the way",
                       "Which of your arrays grows fastest with the input?",
                       beside="too much is stored on the way", right=True)
    return None


def _wrote(exercise, outcome, seen, right=False):
    name = exercise.argument_names[outcome.changed]
    return Problem("mutates-input", seen, f"Which line assigns into {name}, or uses an operator "
                   "such as -= on it?", right=right)


def _apart(exercise, came, due, part):
    """Say what came and what was wanted, with as many digits as tell them apart."""
    if part.family == "bool":
        came, due = bool(came), bool(due)
    elif abs(due) < 1e-14 * absolute(part.values[isfinite(part.values)]).max(initial=0):
        due = 0.0  # what rounding leaves of a zero, such as a cosine of 90 degrees
    if exercise.predicts:
        return f"got {number(came)}"
    digits = next((some for some in (4, 6, 8) if number(came, some) != number(due, some)), 10)
    return f"got {number(came, digits)}, wanted {number(due, digits)}"
