"""Predictions in whatever form they are written: ``(7, 5)``, ``[7.0, 5.0]``, ``"7, 5"``."""

import ast

from numpy import asarray, float64, intp, isfinite, ndarray

from attention_book.exercises.compare import as_part

LONGEST_TEXT = 200  # characters; longer text is not read
_EXACT = 2.0**53  # beyond it, decimal numbers are not exact


def in_usual_form(value, wanted):
    """Return a predicted value as an array of the form that is wanted, where it can be read so.

    Parameters
    ----------
    value : object
        What was handed in. Text is read as a literal, and never run.
    wanted : Part
        The right value: whether it is one number, and of which family.

    Returns
    -------
    object
        An array of numbers; or the value itself, if it holds anything else.
    """
    value = _read_text(value)
    part = as_part(value)
    if part.family not in ("int", "float", "half") or part.values is None:
        return value
    numbers = asarray(value)
    if wanted.shape == () and numbers.shape == (1,):
        numbers = numbers[0]
    if wanted.family == "int":
        return _whole(numbers)
    return numbers.astype(float64)


def _read_text(value):
    """Return what literal the text writes, if it writes numbers; else the value itself."""
    if type(value) is ndarray and value.shape == () and value.dtype.kind == "U":
        value = value[()]
    if not issubclass(type(value), str) or len(value) > LONGEST_TEXT:
        return value
    try:
        read = ast.literal_eval(value.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value
    return read if type(read) in (int, float, list, tuple) else value


def _whole(numbers):
    """Return decimal numbers that are whole as whole numbers; others as they are."""
    exact = isfinite(numbers) & (abs(numbers) < _EXACT)
    if numbers.dtype.kind != "f" or not exact.all() or (numbers % 1 != 0).any():
        return numbers
    return numbers.astype(intp)
