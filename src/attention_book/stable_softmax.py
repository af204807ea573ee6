"""Softmax: scores into weights, without overflow.

This module alone decides what a row with nothing to attend to gives: zeros.
"""

import numpy as np

from attention_book.dot_products import quiet
from attention_book.validation import check_axis, check_floating, check_mask, working_type


@quiet
def softmax(x, axis=-1, *, mask=None):
    r"""Turn scores into weights that are not negative and sum to one.

    .. math:: p_j = \frac{e^{x_j - m}}{\sum_l e^{x_l - m}}, \qquad m = \max_l x_l

    Parameters
    ----------
    x : array_like, any shape with at least one axis
        Scores.
    axis : int
        The axis along which the weights sum to one.
    mask : array_like of bool, optional
        True where a score counts; it broadcasts against ``x``. What ``x`` holds elsewhere has no
        influence.

    Returns
    -------
    ndarray
        The weights, in the floating type of ``x`` (integers give float64), in the shape of ``x``
        broadcast with ``mask``. Where every score is masked or −inf, zeros. A score of +inf takes
        all the weight, shared equally if there are several: the limit as it grows. A NaN makes its
        own row NaN.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above.

    Notes
    -----
    Each weight is right within ``4 * eps * (1 + max(abs(x - m)))``, relative to itself. float16 is
    computed in float32. Subtracting the maximum is studied by Blanchard, Higham and Higham (2021).

    Examples
    --------
    >>> import numpy as np
    >>> softmax(np.array([1000.0, 1000.0, 0.0])).tolist()
    [0.5, 0.5, 0.0]
    >>> mask = np.array([True, True, False])
    >>> softmax(np.zeros(3), mask=mask).tolist()
    [0.5, 0.5, 0.0]
    """
    x, axis, dtype = _prepare(x, axis, mask)
    exponentials = np.exp(_shift(x))
    weights = exponentials / _row_sum(exponentials)
    return np.moveaxis(weights, -1, axis).astype(dtype, copy=False)


@quiet
def log_softmax(x, axis=-1, *, mask=None):
    r"""Return the logarithm of :func:`softmax`, right also where the softmax underflows to zero.

    .. math:: \log p_j = (x_j - m) - \log \sum_l e^{x_l - m}

    Parameters
    ----------
    x : array_like, any shape with at least one axis
        Scores.
    axis : int
        The axis along which the exponentials of the result sum to one.
    mask : array_like of bool, optional
        As in :func:`softmax`. A masked position gives −inf, and so does a row of nothing else.

    Returns
    -------
    ndarray
        Of the same shape and type as the softmax. Infinities and NaN are treated as there. What is
        too low for the type is −inf.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above.

    Notes
    -----
    Each is right within ``4 * eps * (1 + log(n) + abs(x - m))``, ``n`` the number of scores.

    Examples
    --------
    >>> import numpy as np
    >>> log_softmax(np.array([0.0, -1000.0])).tolist()
    [0.0, -1000.0]
    """
    x, axis, dtype = _prepare(x, axis, mask)
    shifted = _shift(x)
    result = shifted - np.log(_row_sum(np.exp(shifted)))
    return np.moveaxis(result, -1, axis).astype(dtype, copy=False)


@quiet
def log_sum_exp(x, axis=-1, *, mask=None):
    r"""Return the logarithm of the sum of exponentials along ``axis``.

    .. math:: \log \sum_j e^{x_j} = m + \log \sum_j e^{x_j - m}

    Parameters
    ----------
    x : array_like, any shape with at least one axis
        Scores.
    axis : int
        The axis that is summed, and gone from the result.
    mask : array_like of bool, optional
        As in :func:`softmax`: only the positions that are True are summed.

    Returns
    -------
    ndarray
        The shape of ``x``, broadcast with ``mask``, without ``axis``; the floating type of ``x``.
        The sum of nothing gives −inf, a +inf among the scores +inf, a NaN gives NaN.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above.

    Notes
    -----
    Right within ``4 * eps * (1 + log(n) + abs(result))``, ``n`` the number of scores.

    Examples
    --------
    >>> import numpy as np
    >>> float(log_sum_exp(np.array([1000.0, -1000.0])))
    1000.0
    """
    x, _, dtype = _prepare(x, axis, mask)
    result = _row_maximum(x) + np.log(_row_sum(np.exp(_shift(x))))
    return result[..., 0].astype(dtype, copy=False)


def _prepare(x, axis, mask):
    """Check the arguments; return the scores, with ``axis`` last and masked ones −inf."""
    x = check_floating("x", x, "(..., n)", min_axes=1)
    axis = check_axis(axis, x.ndim)
    dtype, x = x.dtype, x.astype(working_type(x.dtype), copy=False)
    if mask is not None:
        mask = check_mask(mask, x.shape, "the shape of x", kept_axes=(axis,))
        x = np.where(mask, x, x.dtype.type(-np.inf))
    # The sum is most accurate along an axis that is contiguous in memory.
    return np.ascontiguousarray(np.moveaxis(x, axis, -1)), axis, dtype


def _shift(x):
    """Subtract each row's maximum, so that the largest exponential is ``exp(0)``."""
    largest = _row_maximum(x)
    if np.isposinf(largest).any():  # the limit: only the infinite scores count, all alike
        x = np.where(np.isposinf(largest), np.where(np.isposinf(x), 0, -largest), x)
    return x - np.where(np.isinf(largest), 0, largest)


def _row_maximum(x):
    return x.max(axis=-1, keepdims=True, initial=-np.inf)


def _row_sum(exponentials):
    """Sum each row, with digits to spare. A row of zeros gives 1: divided by it, it stays zeros."""
    if exponentials.dtype.itemsize < 8:
        total = exponentials.sum(axis=-1, keepdims=True, dtype=np.float64)
    else:
        total = _compensated_sum(exponentials)
    return np.where(total == 0, 1, total).astype(exponentials.dtype)


def _compensated_sum(x):
    """Add each row's halves until one number is left, and then what the additions rounded off."""
    lost = np.zeros((*x.shape[:-1], 1), x.dtype)
    while x.shape[-1] > 1:
        half = x.shape[-1] // 2
        a, b, left_over = x[..., :half], x[..., half:2 * half], x[..., 2 * half:]
        total = a + b
        b_kept = total - a
        # Knuth's TwoSum: what an addition rounds off, exactly
        lost += ((a - (total - b_kept)) + (b - b_kept)).sum(axis=-1, keepdims=True)
        x = np.concatenate([total, left_over], axis=-1)
    return x.sum(axis=-1, keepdims=True) + lost
