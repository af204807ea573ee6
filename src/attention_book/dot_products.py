"""Scores: how much each query agrees with each key."""

import numpy as np

from attention_book.validation import check_queries_keys, check_scale, working_type

# Overflow on the way, or the reader's own infinities, are dealt with where they arise.
quiet = np.errstate(over="ignore", under="ignore", invalid="ignore")


@quiet
def scores(q, k, *, scale=None):
    r"""Compare every query with every key.

    .. math:: S_{ij} = \text{scale} \cdot q_i \cdot k_j

    Parameters
    ----------
    q : array_like, (..., n_query, d_head)
        Queries.
    k : array_like, (..., n_key, d_head)
        Keys. Leading axes broadcast against those of ``q``.
    scale : float, optional
        Factor for every score, a number that their type holds; ``d_head**-0.5`` if not given.

    Returns
    -------
    ndarray, (..., n_query, n_key)
        The scores, in the inputs' floating type. Where a score does not fit that type it is
        infinite, without a warning.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above.

    Notes
    -----
    float16 is computed in float32. A dot product is summed in some order, so its rounding error is
    proportional to ``sum(abs(q * k))``, not to the score. It is at most that times
    ``(d_head / 2 + 2) * eps * scale``. The scale is that of Vaswani et al. (2017), section 3.2.1.

    Examples
    --------
    >>> import numpy as np
    >>> q = np.array([[1.0, 0.0], [1.0, 2.0]])
    >>> k = np.array([[1.0, 0.0], [0.0, 1.0], [3.0, 3.0]])
    >>> scores(q, k, scale=1.0).tolist()
    [[1.0, 0.0, 3.0], [1.0, 2.0, 9.0]]
    """
    q, k = check_queries_keys(q, k)
    work = working_type(q.dtype)
    k_columns = k.astype(work, copy=False).swapaxes(-1, -2)  # (..., d_head, n_key)
    result = product(q.astype(work, copy=False), k_columns, check_scale(scale, q.shape[-1], work))
    return result.astype(q.dtype, copy=False)  # (..., n_query, n_key)


@quiet
def product(a, b, scale=1.0):
    """Return ``scale * (a @ b)`` for arrays of one float type, safe from overflow on the way.

    Sums may overflow although their total, times the scale, fits the type. Such entries, and no
    others, are taken again, with every row of ``a`` and column of ``b`` divided by a power of two.
    """
    unscaled = a @ b
    result = unscaled if scale == 1 else unscaled * a.dtype.type(scale)
    if np.isfinite(unscaled).all():
        return result
    a_part, a_exponent = _mantissa_and_exponent(a, axis=-1)
    b_part, b_exponent = _mantissa_and_exponent(b, axis=-2)
    scale_part, scale_exponent = np.frexp(scale)
    again = a_part @ b_part * a.dtype.type(scale_part)
    again = np.ldexp(again, a_exponent + b_exponent + scale_exponent)
    return np.where(np.isfinite(unscaled) | np.isnan(again), result, again)


def _mantissa_and_exponent(x, axis):
    """Split ``x`` into parts of size at most 1 and, along ``axis``, one power of two."""
    sizes = np.where(np.isfinite(x), np.abs(x), 0)
    exponent = np.frexp(sizes.max(axis=axis, keepdims=True))[1]
    return np.ldexp(x, -exponent), exponent
