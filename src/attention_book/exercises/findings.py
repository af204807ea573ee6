"""What is wrong with an outcome, in general terms: the ids that every exercise shares."""

from dataclasses import dataclass

from numpy import isfinite

from attention_book.exercises.compare import describe, first_difference, fits_family
from attention_book.exercises.verdicts import number

_NOTHING = ("NoneType", "ellipsis", "NotImplementedType")
_KINDS = {"float": "decimal numbers (float32 or float64)", "int": "whole numbers",
          "bool": "booleans"}


@dataclass(frozen=True)
class Problem:
    """A general id, one sentence on what was seen, where, and a question that leads on."""

    id: str
    seen: str
    question: str
    first: str = ""  # the first difference: index, got, wanted


def no_answer(exercise, answer):
    """Return the problem with something that cannot be an answer at all, or None."""
    if type(answer).__name__ in _NOTHING:
        return _not_attempted(exercise, f"the answer is {_said(answer)}")
    if exercise.predicts and callable(answer):
        return Problem("not-a-value", "A function was handed in; this exercise asks for a value",
                       f"What do you predict? Write down {exercise.signature}.")
    if not exercise.predicts and not callable(answer):
        seen = f"{_capital(describe(answer))} was handed in, not a function"
        return Problem("not-a-function", seen, "Did you call your function? Hand in the function "
                       "itself, by its name without parentheses.")
    return None


def find_problem(exercise, case, outcome, wanted):
    """Return what is wrong with an outcome, or None."""
    if outcome.ended == "too-slow":
        return Problem("too-slow", "No result came within the time limit of a few seconds",
                       "Is there a loop whose condition never becomes false, or a function that "
                       "calls itself without end?")
    if outcome.ended == "raised":
        return _raised(exercise, outcome.error)
    if outcome.returned in _NOTHING:
        return _nothing(exercise, outcome)
    return (_wrong_form(exercise, outcome, wanted) or _wrong_values(exercise, outcome.parts, wanted)
            or _side_effects(exercise, case, outcome))


def hard_coded():
    """Return the problem with an answer that is right on the page's example alone."""
    return Problem("hard-coded", "The result is right for the example on the page, and for no "
                   "other input", "Which part of your function depends on its arguments?")


def calls_the_package(name):
    """Return the problem with an answer that leaves the work to the package."""
    return Problem("calls-the-package", f"The work is done by the package's own function {name}",
                   "Which steps does that function take? Write them yourself; functions of "
                   "earlier exercises may be called.")


def _not_attempted(exercise, seen):
    return Problem("not-attempted", f"Nothing to judge yet: {seen}",
                   f"What is the first step? Replace the ... by your answer and run this cell "
                   f'again; hint("{exercise.id}") gives a hint.')


def _raised(exercise, error):
    if error.kind == "NotImplementedError" or "ellipsis" in error.text:
        return _not_attempted(exercise, "a step is not written yet")
    text = f": {error.text}" if error.text else ""
    line = f", at your line `{error.line}`" if error.line else ""
    question = {
        "MemoryError": "How large is the largest array you make? A check allows 1 GiB.",
        "RecursionError": "Which call ends the chain of calls?",
    }.get(error.kind, "What are the shapes and values on that line, for this input?" if line else
          f"Can it be called as {exercise.signature}?")
    return Problem("raises", f"{error.kind}{text}{line}", question)


def _nothing(exercise, outcome):
    if outcome.returned == "NoneType" and outcome.printed.strip():
        return Problem("prints-instead-of-returning",
                       "The function printed something and returned None",
                       "How can another function go on working with what yours found?")
    value = {"NoneType": "None", "ellipsis": "...", "NotImplementedType": "NotImplemented"}
    return _not_attempted(exercise, f"the function returned {value[outcome.returned]}")


def _wrong_form(exercise, outcome, wanted):
    """Compare the number of parts, their shapes and what kind of values they hold."""
    if len(outcome.parts) != len(wanted):
        return _one_for_several(exercise, outcome.parts[0].described)
    first = outcome.parts[0]
    if exercise.parts and outcome.returned == "ndarray" and len(first.shape) < len(wanted[0].shape):
        # its rows have been taken for the results
        return _one_for_several(exercise, f"one array of shape {(len(wanted), *first.shape)}")
    for name, got, want in zip(_names(exercise), outcome.parts, wanted, strict=True):
        if got.family == "none":
            return _not_attempted(exercise, f"{name} is None")
        if got.shape != want.shape and got.family != "other":
            return _wrong_shape(exercise, name, got, want)
        if not fits_family(got.family, want.family) or got.values is None:
            kind = "wrong-shape" if got.shape == (-1,) else "wrong-dtype"
            several = kind == "wrong-shape" and outcome.returned == "tuple"
            question = ("Does your last line return more than was asked for?" if several else
                        "Which line makes it, and of which type are its values?")
            if exercise.predicts:
                question = f"Can you write it as {exercise.signature}?"
            return Problem(kind, f"{name} is {got.described}; wanted {_KINDS[want.family]}",
                           question)
    return None


def _one_for_several(exercise, described):
    names = ", ".join(exercise.parts)
    return Problem("wrong-shape", f"Wanted {len(exercise.parts)} results ({names}); got "
                   f"{described}", "What does your last line return?")


def _wrong_shape(exercise, name, got, want):
    seen = f"{name} has shape {got.shape}"
    if exercise.predicts:
        axes = len(want.shape) and want.shape[0]
        return Problem("wrong-shape", f"{seen}; wanted {axes or 'one'} number{'s' * (axes > 1)}",
                       "What does each number of the answer stand for?")
    return Problem("wrong-shape", f"{seen}; wanted {want.shape}",
                   f"Which axis of {exercise.shapes} does each of your axes stand for?"
                   if want.shape else "How does one value come of all those that you have?")


def _wrong_values(exercise, parts, wanted):
    for name, got, want in zip(_names(exercise), parts, wanted, strict=True):
        index = first_difference(got, want, exercise.tolerance)
        if index is None:
            continue
        came, due = got.values[index], want.values[index]
        place = "" if not index else f"index {index[0] if len(index) == 1 else index}: "
        first = f"{name + ', ' if exercise.parts else ''}{place}got {_value(came, got)}"
        first += "" if exercise.predicts else f", wanted {_value(due, want)}"
        if isfinite(due) and not isfinite(came):
            return Problem("not-finite", f"{name} holds {number(came)} where a number should be",
                           "Which step makes it: too large an exponential, 0/0, or inf − inf?",
                           first)
        return Problem("wrong-value", f"{name} has the right form, but not the right values",
                       "What should stand there? Work it out by hand for a small input, step by "
                       "step.", first)
    return None


def _side_effects(exercise, case, outcome):
    if outcome.changed is not None:
        name = exercise.argument_names[outcome.changed]
        return Problem("mutates-input", f"The result is right, but {name} no longer holds what the "
                       "caller put into it", f"Which line assigns into {name}, or uses an operator "
                       "such as -= on it?")
    if case.memory is not None and outcome.peak > case.memory:
        return Problem("too-much-memory", "The result is right, but too much is stored on the way",
                       "Which of your arrays grows fastest with the input?")
    return None


def _names(exercise):
    if exercise.predicts:
        return ("The prediction",)
    return tuple(f"Result {name}" for name in exercise.parts) or ("The result",)


def _capital(text):
    return text[0].upper() + text[1:]


def _value(value, part):
    return str(bool(value)) if part.family == "bool" else number(value)


def _said(answer):
    return {"ellipsis": "...", "NoneType": "None"}.get(type(answer).__name__, "NotImplemented")
