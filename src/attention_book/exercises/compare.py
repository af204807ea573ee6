"""Results as plain arrays, and whether two of them agree.

Every NumPy function here is held from import time, and works on plain arrays only: what a
learner's object says of itself, or puts in NumPy's namespace, counts for nothing.
"""

from dataclasses import dataclass

from numpy import absolute, array, asarray, errstate, float64, isfinite, isnan, ma, ndarray

LONGEST = 80  # characters of a description: a class may have any name
MOST_VALUES = 10**6  # a result larger than this is compared by its shape alone
TOLERANCE = 1e-4, 1e-6  # relative, absolute: float32 passes, exp(-10) instead of 0 does not
COUNTED = 1e-12, 1e-6  # the same for a count, which may come as a decimal number

_FAMILIES = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}


@dataclass(frozen=True)
class Part:
    """One array of a result: its shape, what its values are, and the values as float64."""

    shape: tuple
    family: str  # "bool", "int", "float", "half", "complex", "none" or "other"
    described: str
    values: ndarray | None


def as_part(value):
    """Turn what an answer returned into a :class:`Part`; may run code of the value's own class."""
    if value is None:
        return Part((), "none", "None", None)
    if unreadable := _unreadable(value):
        return Part((), "other", unreadable, None)
    try:
        base = asarray(value)
    except ValueError:  # rows of different lengths
        return Part((-1,), "other", f"{describe(value)} that is no regular array", None)
    family = _FAMILIES.get(base.dtype.kind, "other")
    if base.dtype.kind == "f" and base.dtype.itemsize == 2:
        family = "half"
    readable = base.size <= MOST_VALUES and family in ("bool", "int", "float", "half")
    values = array(base, dtype=float64) if readable else None
    said = f"shape {base.shape} of {base.dtype}" if family != "other" else describe(value)
    return Part(tuple(base.shape), family, said, values)


def _unreadable(value):
    """Say what a value, or one of its items, is that NumPy would only seem to read, or ""."""
    items = (value, *value) if type(value) in (list, tuple) else (value,)
    if any(issubclass(type(each), str | bytes) for each in items):
        return "text" if len(items) == 1 else f"{describe(value)} that holds text"
    if any(issubclass(type(each), ma.MaskedArray) and ma.getmaskarray(each).any()
           for each in items):
        return "a masked array, some entries of which are masked and hold no value"
    return ""


def describe(value):
    """Say what kind of thing a value is, in words that are the same on every machine."""
    name = type(value).__name__[:LONGEST]
    if type(value) is ndarray:
        kinds = {"O": "Python objects", "U": "text", "S": "text", "V": "records"}
        return f"an array of {kinds.get(value.dtype.kind, value.dtype)}, shape {value.shape}"
    return {"list": "a list", "tuple": "a tuple", "str": "text", "bytes": "text",
            "generator": "a generator", "dict": "a dict", "function": "a function",
            "coroutine": "a coroutine"}.get(name, f"a value of type {name}")


def close(got, wanted, tolerance=TOLERANCE):
    """Tell position by position whether two arrays of one shape agree; NaN agrees with NaN."""
    relative, least = tolerance
    with errstate(all="ignore"):
        near = absolute(got - wanted) <= least + relative * absolute(wanted)
        near &= isfinite(got) & isfinite(wanted)
        return near | (got == wanted) | (isnan(got) & isnan(wanted))


def fits_family(got, wanted):
    """Tell whether values of one family may stand where another is wanted."""
    return got == wanted or (wanted == "float" and got == "int")


def parts_agree(got, wanted, tolerance=TOLERANCE):
    """Tell whether two results are the same, whole and decimal numbers alike."""
    return len(got) == len(wanted) and all(
        _same(one, other, tolerance) for one, other in zip(got, wanted, strict=True))


def first_difference(got, wanted, tolerance=TOLERANCE):
    """Return the first index at which two parts of one shape differ, or None."""
    wrong = ~close(got.values, wanted.values, tolerance)
    if not wrong.any():
        return None
    return tuple(int(axis[0]) for axis in asarray(wrong).nonzero()) if got.shape else ()


def same_but_for_a_factor(got, wanted, tolerance=TOLERANCE):
    """Tell whether one array is another times a number that is neither zero nor infinite."""
    if got.shape != wanted.shape or got.values is None or not got.values.size:
        return False
    largest = absolute(wanted.values).argmax()
    with errstate(all="ignore"):
        factor = got.values.flat[largest] / wanted.values.flat[largest]
        return bool(isfinite(factor) and factor != 0
                    and close(got.values, factor * wanted.values, tolerance).all())


def telling(parts, whole=True):
    """Tell whether a result is too particular to be equal to another one by chance.

    Where it is not wanted ``whole``, some of it may be no number.
    """
    for part in parts:
        if part.family in ("float", "half") and part.values is not None:
            finite = isfinite(part.values)
            particular = (part.values != 0) & (part.values != 1) & finite
            if particular.any() and (finite.all() or not whole):
                return True
    return False


def _same(got, wanted, tolerance):
    number = ("int", "float", "half")
    if got.shape == wanted.shape == (-1,):
        return got.described == wanted.described  # rows of different lengths, both
    alike = got.family == wanted.family or (got.family in number and wanted.family in number)
    if got.shape != wanted.shape or not alike or got.values is None or wanted.values is None:
        return False
    return bool(close(got.values, wanted.values, tolerance).all())
