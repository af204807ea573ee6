"""Masks: which query may attend to which key. Boolean, True = may attend."""

import numpy as np

from attention_book.validation import (
    as_array,
    check_count,
    check_length,
    check_size,
    complain,
    describe,
)


def causal_mask(n_query, n_key=None):
    r"""Let each position attend to itself and to those before it.

    .. math:: M_{ij} = \text{true where } j \le i + (n_\text{key} - n_\text{query})

    Parameters
    ----------
    n_query : int
        Number of queries.
    n_key : int, optional
        Number of keys; ``n_query`` if not given. The queries are the *last* ``n_query`` positions,
        so the last query sees every key. With more queries than keys the first rows see nothing.

    Returns
    -------
    ndarray of bool, (n_query, n_key)

    Raises
    ------
    TypeError, ValueError
        If a number is not a whole number of at least 0.

    Notes
    -----
    Masking the positions that come later is described by Vaswani et al. (2017), section 3.2.3.

    Examples
    --------
    >>> causal_mask(3).astype(int).tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> causal_mask(2, 5).astype(int).tolist()
    [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]
    """
    query_positions, key_positions = _positions(n_query, n_key)
    return key_positions <= query_positions


def sliding_window_mask(n_query, n_key=None, *, window):
    r"""Let each position attend to itself and to the ``window − 1`` positions before it.

    .. math:: \begin{aligned}
        M_{ij} &= \text{true where } p_i - \text{window} < j \le p_i, \\
        p_i &= i + (n_\text{key} - n_\text{query})
        \end{aligned}

    Parameters
    ----------
    n_query, n_key : int
        As in :func:`causal_mask`.
    window : int
        How many keys a query sees at most, its own among them; at least 1.

    Returns
    -------
    ndarray of bool, (n_query, n_key)

    Raises
    ------
    TypeError, ValueError
        If a number is not a whole number, or is too small.

    Notes
    -----
    Sliding windows for attention are described by Beltagy, Peters and Cohan (2020), section 3.1.

    Examples
    --------
    >>> sliding_window_mask(4, window=2).astype(int).tolist()
    [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]
    """
    window = check_count("window", window, least=1)
    query_positions, key_positions = _positions(n_query, n_key)
    window = min(window, key_positions.size)  # a wider one shows no more
    return (key_positions <= query_positions) & (key_positions > query_positions - window)


def padding_mask(lengths, n_key):
    """Let every query attend to the first ``lengths`` keys: the rest is padding.

    Parameters
    ----------
    lengths : array_like of int, any shape (...)
        How many keys of each sample are real, from 0 to ``n_key``.
    n_key : int
        Number of keys, padding included.

    Returns
    -------
    ndarray of bool, (..., 1, n_key)
        One row for each sample, for all its queries.

    Raises
    ------
    TypeError, ValueError
        If the lengths are not whole numbers, or lie outside 0 to ``n_key``.

    Examples
    --------
    >>> padding_mask([1, 3], 3).astype(int).tolist()
    [[[1, 0, 0]], [[1, 1, 1]]]
    """
    n_key = check_length("n_key", n_key)
    lengths = _check_lengths(lengths, n_key)
    check_size("n_key", (*lengths.shape, 1, n_key), bool)
    return np.arange(n_key) < lengths[..., None, None]


def _positions(n_query, n_key):
    """Return the queries' positions as a column (n_query, 1), the keys' as a row (n_key,)."""
    n_query = check_length("n_query", n_query)
    n_key = n_query if n_key is None else check_length("n_key", n_key)
    check_size("n_query, n_key", (n_query, n_key), bool)
    return np.arange(n_query)[:, None] + (n_key - n_query), np.arange(n_key)


def _check_lengths(lengths, n_key):
    wanted = f"whole numbers from 0 to n_key = {n_key}"
    array = as_array("lengths", lengths, wanted)
    if array.size == 0 and array.dtype == np.float64:
        array = array.astype(int)  # an empty list has no type of its own
    if array.dtype.kind not in "iu":
        complain(TypeError, "lengths", describe(array), wanted,
                 "Booleans are masks already." if array.dtype.kind == "b" else "")
    if array.size and (array.min() < 0 or array.max() > n_key):
        complain(ValueError, "lengths", f"values from {array.min()} to {array.max()}", wanted)
    return array
