"""Small helpers that several chapters' references and ways of going wrong are written with."""

import math

import numpy as np


def reference_softmax(row):
    """Return the softmax of one list of finite scores, in float64, by the definition."""
    largest = max(row)
    exponentials = [math.exp(score - largest) for score in row]
    return [each / math.fsum(exponentials) for each in exponentials]


def reference_product(a, b):
    """Return the matrix product of two tables, summed exactly and rounded once."""
    return [[math.fsum(x * y for x, y in zip(row, column, strict=True))
             for column in zip(*b, strict=True)] for row in a]


def by_row(function):
    """Turn a function of one row into one of an array, applied along the last axis.

    Further arguments of the array's shape are handed over row by row, others as they are.
    """
    def rows(x, *others):
        x = np.asarray(x)
        flat = [np.asarray(other).reshape(-1, x.shape[-1]) if np.shape(other) == x.shape else None
                for other in others]
        found = [function(row, *(other if rows is None else rows[i]
                                 for other, rows in zip(others, flat, strict=True)))
                 for i, row in enumerate(x.reshape(-1, x.shape[-1]))]
        return np.array(found).reshape(x.shape[:-1] + np.shape(found)[1:])

    return rows


def in_float32(function):
    """Turn a function into one that computes in float32 throughout."""
    def narrow(*args):
        return function(*(arg.astype(np.float32) if isinstance(arg, np.ndarray)
                          and arg.dtype.kind == "f" else arg for arg in args))

    return narrow


def softmax(x, axis=-1):
    """Return the softmax as it is usually written."""
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def unstable_softmax(x):
    """Return the softmax without a shift."""
    return np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True)
