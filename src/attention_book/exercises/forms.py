"""Results of another form than is wanted: how many, of which shape, of which kind of value."""

import re

from attention_book.exercises.absent import missing
from attention_book.exercises.compare import fits_family
from attention_book.exercises.model import Problem

_KINDS = {"float": "decimal numbers (float32 or float64)", "int": "whole numbers",
          "bool": "booleans"}
_MORE = "Does your last line return more than was asked for?"


def wrong_form(exercise, outcome, wanted, begun):
    """Compare the number of parts, their shapes and what kind of values they hold."""
    first = outcome.parts[0]
    if len(outcome.parts) != len(wanted):
        return _one_for_several(exercise, outcome.several or first.described)
    if exercise.parts and outcome.returned == "ndarray" and len(first.shape) < len(wanted[0].shape):
        # its rows have been taken for the results
        return _one_for_several(exercise, f"one array of shape {(len(wanted), *first.shape)}")
    for position, (name, want) in enumerate(zip(names(exercise), wanted, strict=True)):
        got = outcome.parts[position]
        if got.family == "none":
            return missing(exercise, f"{name} is None", begun)
        if got.shape != want.shape and _too_many(exercise, outcome, want):
            return Problem("wrong-shape", f"{name} is {outcome.several}; wanted {_one(want)}",
                           _MORE)
        if got.shape != want.shape and got.family != "other":
            return _wrong_shape(exercise, position, name, got, want)
        if not fits_family(got.family, want.family) or got.values is None:
            return _wrong_kind(exercise, name, got, want)
    return None


def names(exercise):
    """Return what the parts of a result are called in a verdict."""
    if exercise.predicts:
        return ("The prediction",)
    return tuple(f"Result {name}" for name in exercise.parts) or ("The result",)


def _one_for_several(exercise, described):
    listed = ", ".join(exercise.parts)
    return Problem("wrong-shape", f"Wanted {len(exercise.parts)} results ({listed}); got "
                   f"{described}", "What does your last line return?")


def _too_many(exercise, outcome, want):
    """Tell whether a tuple of results, not of rows, stands where one result is wanted."""
    shape = outcome.parts[0].shape
    several = shape == (-1,) or len(shape) > len(want.shape)
    return bool(outcome.several) and several and not exercise.parts and not exercise.predicts


def _one(want):
    return f"one array of shape {want.shape}" if want.shape else "one value"


def _wrong_shape(exercise, position, name, got, want):
    seen = f"{name} has shape {got.shape}"
    if exercise.predicts:
        axes = len(want.shape) and want.shape[0]
        return Problem("wrong-shape", f"{seen}; wanted {axes or 'one'} number{'s' * (axes > 1)}",
                       "What does each number of the answer stand for?")
    question = "How does one value come of all those that you have?"
    if want.shape:
        axes = _axes(exercise, position)
        question = f"Which axis of the wanted {axes} does each of yours stand for?"
    return Problem("wrong-shape", f"{seen}; wanted {want.shape}", question)


def _axes(exercise, position):
    """Return the letters of a result's shape, ``(n_query, n_key)``, from the line of shapes."""
    result = exercise.shapes.rpartition("→")[2]
    return re.findall(r"\([^()]*\)", result)[position]


def _kind(exercise, want):
    """Say which kind of values is wanted; a count may be written as a decimal number."""
    counts = exercise.shapes.rpartition("→")[2].strip().startswith("a whole number")
    return "a whole number" if counts else _KINDS[want.family]


def _wrong_kind(exercise, name, got, want):
    if exercise.predicts:
        described = ("text that cannot be read as numbers" if got.described == "text"
                     else got.described)
        return Problem("wrong-shape" if got.shape == (-1,) else "wrong-dtype",
                       f"{name} is {described}; wanted {_KINDS[want.family]}",
                       f"Can you write it as {exercise.signature}?")
    return Problem("wrong-shape" if got.shape == (-1,) else "wrong-dtype",
                   f"{name} is {got.described}; wanted {_kind(exercise, want)}",
                   "Which line makes it, and of which type are its values?")
