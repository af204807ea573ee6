"""The values of a moving figure, checked in Python as the rest of the package checks."""

import numbers as numeric

import numpy as np
import traitlets

from attention_book.validation import check_count, complain, describe


def numbers(default, *, least, most):
    """Return a trait that holds as many numbers as ``default``, each within bounds."""
    return _Numbers(default, least, most).tag(sync=True, figure=True)


def real(default, *, least, most):
    """Return a trait that holds one number within bounds."""
    return _Real(default, least, most).tag(sync=True, figure=True)


def count(default, *, least, most):
    """Return a trait that holds a whole number within bounds."""
    return _Count(default, least, most).tag(sync=True, figure=True)


def one_of(*values):
    """Return a trait that holds one of some texts; the first one if not set."""
    return _OneOf(values).tag(sync=True, figure=True)


def count_of(*values):
    """Return a trait that holds one of some whole numbers; the first one if not set."""
    return _CountOf(values).tag(sync=True, figure=True)


def fixed(value):
    """Return a trait for what the figure computes with, read-only: plain lists, numbers."""
    return traitlets.Any(value, read_only=True).tag(sync=True, figure=True)


def flag(default):
    """Return a trait that is True or False."""
    return _Flag(default).tag(sync=True, figure=True)


class _Real(traitlets.TraitType):
    def __init__(self, default, least, most):
        super().__init__(default)
        self.least, self.most = least, most

    def validate(self, _, value):
        return _within(self.name, value, self.least, self.most)


class _Count(_Real):
    def validate(self, _, value):
        value = check_count(self.name, value)
        if not self.least <= value <= self.most:
            complain(ValueError, self.name, value,
                     f"a whole number from {self.least} to {self.most}")
        return value


class _Numbers(traitlets.TraitType):
    def __init__(self, default, least, most):
        super().__init__(list(default))
        self.least, self.most, self.length = least, most, len(default)

    def validate(self, _, value):
        array = np.asarray(value, dtype=object)
        if array.shape != (self.length,):
            complain(ValueError, self.name, f"shape {array.shape}", f"{self.length} numbers")
        return [_within(self.name, x, self.least, self.most) for x in array]


class _OneOf(traitlets.TraitType):
    def __init__(self, values):
        super().__init__(values[0])
        self.values = values

    def validate(self, _, value):
        if value not in self.values:
            complain(ValueError, self.name, repr(value), " or ".join(map(repr, self.values)))
        return value


class _Flag(traitlets.TraitType):
    def validate(self, _, value):
        if not isinstance(value, bool):
            complain(TypeError, self.name, describe(value), "True or False")
        return value


class _CountOf(_OneOf):
    def validate(self, _, value):
        return super().validate(_, check_count(self.name, value))


def _within(name, value, least, most):
    if isinstance(value, bool) or not isinstance(value, numeric.Real):
        complain(TypeError, name, describe(value), f"a number from {least} to {most}")
    if not least <= value <= most:
        complain(ValueError, name, value, f"a number from {least} to {most}")
    return float(value)
