"""Inputs that no student has seen: of the same kind as the check's own, with other numbers."""

import random
from dataclasses import replace

import numpy as np

from attention_book.exercises.model import Watched

_SPREAD = 0.05  # how far a number moves, relative to itself
_GENTLE, _LARGEST = 4.0, 1000  # beyond: chosen so that float32 holds it exactly, or memory does
_MAY_GROW = {"n", "d", "n_query", "n_key", "n_tokens", "n_layers", "d_head", "bytes_per_value"}
_MAY_MULTIPLY = {"d_model"}  # stays a multiple of the number of heads


def hidden_cases(exercise, seed):
    """Return cases that judge an answer after the check's own, made from a class's seed.

    Each is one of the exercise's cases with every number a little different: what is tiny, masked
    or infinite stays so. Large numbers stay as they are: another one next to them may be out of
    float32's reach. Cases with a function keep it, in another order.
    """
    rng = np.random.default_rng([int.from_bytes(exercise.id.encode(), "big") % 2**63, seed])
    cases = [replace(case, args=varied(exercise, case.args, rng), note="another input")
             for case in exercise.cases if case.memory is None]
    if any(isinstance(arg, Watched) for case in cases for arg in case.args):
        random.Random(int(rng.integers(2**32))).shuffle(cases)
    return cases


def varied(exercise, args, rng):
    """Return arguments of the same kind, with other numbers."""
    if any(isinstance(arg, Watched) for arg in args):
        return tuple(np.random.default_rng(rng.integers(2**32))
                     if isinstance(arg, np.random.Generator) else arg for arg in args)
    arrays = [arg for arg in args if isinstance(arg, np.ndarray)]
    if any((np.abs(array[np.isfinite(array)]) > _GENTLE).any() for array in arrays):
        return args
    alone = all(array.dtype.kind in "iu" for array in arrays)
    return tuple(another(arg, name, alone, rng)
                 for arg, name in zip(args, exercise.argument_names, strict=True))


def another(arg, name, alone, rng):
    """Return another value for one argument; whole numbers change only ``alone``."""
    if isinstance(arg, np.ndarray):
        return moved(arg, rng) if arg.dtype.kind == "f" else arg
    if type(arg) is float:
        return arg * float(rng.uniform(1 - _SPREAD, 1 + _SPREAD))
    if type(arg) is int and alone and 1 < arg < _LARGEST:
        if name in _MAY_GROW:
            return arg + int(rng.integers(1, 4))
        if name in _MAY_MULTIPLY:
            return arg * int(rng.integers(2, 4))
    return arg


def moved(array, rng):
    """Move each number of an array a little; rows of weights still sum to 1."""
    result = array * rng.uniform(1 - _SPREAD, 1 + _SPREAD, array.shape).astype(array.dtype)
    if array.ndim and array.size and (array >= 0).all() and np.allclose(array.sum(axis=-1), 1):
        result /= result.sum(axis=-1, keepdims=True)
    return result
