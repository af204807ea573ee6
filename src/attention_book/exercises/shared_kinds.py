"""Kinds of mistake that several exercises have in common."""

import numpy as np

from attention_book.exercises.model import Mistake


def axis_of_one_lost(solve, step):
    """Return the mistake of a result whose axes of length 1 are gone.

    Parameters
    ----------
    solve : callable
        The right way.
    step : str
        The step at which the shape of the result is made.
    """
    def losing(drop):
        def answer(*args):
            result = solve(*args)
            return tuple(map(drop, result)) if isinstance(result, tuple) else drop(result)

        return answer

    return Mistake(
        id="axis-of-one-lost",
        seen="The numbers are right, but an axis of length 1 is gone from the result.",
        question="What should the result for a single row be: a table of one row, or no table?",
        ways=tuple(map(losing, (
            np.squeeze, lambda x: x[0] if x.ndim > 1 and len(x) == 1 else x,
            lambda x: x[:, 0] if x.ndim > 1 and x.shape[1] == 1 else x,
            lambda x: x.ravel() if 1 in x.shape else x))),
        step=step,
    )


def before_the_first_zero(factors):
    """Return True for the places of a row that come before its first zero."""
    return np.cumprod(np.asarray(factors) != 0, axis=-1).astype(bool)


def rounded_roots():
    """Return the ways to make a whole number of the root of d, each a function of d."""
    return (lambda d: int(d**0.5), lambda d: round(d**0.5), lambda d: int(np.ceil(d**0.5)),
            lambda d: d**0.5 // 1)
