"""One attention head: scores, weights, and the mixture of values."""

import numpy as np

from attention_book.dot_products import product, quiet, scores
from attention_book.masks import causal_mask
from attention_book.stable_softmax import softmax
from attention_book.validation import (
    check_attention_mask,
    check_flag,
    check_head,
    check_queries_keys_values,
    check_scale,
    in_working_type,
    working_type,
)


@quiet
def attention(q, k, v, *, mask=None, scale=None, return_weights=False):
    r"""Mix the values, each query by its own agreement with the keys.

    .. math:: \text{attention}(Q, K, V) = \text{softmax}(\text{scale} \cdot Q K^T) \, V

    Parameters
    ----------
    q : array_like, (..., n_query, d_head)
        Queries.
    k : array_like, (..., n_key, d_head)
        Keys.
    v : array_like, (..., n_key, d_value)
        Values, one for each key.
    mask : array_like of bool, broadcasts to (..., n_query, n_key), optional
        True where a query may attend to a key. What lies behind False has no influence on the
        result, whatever it holds. Without a mask every query attends to every key.
    scale : float, optional
        Factor for the scores, as in :func:`scores`; ``d_head**-0.5`` if not given.
    return_weights : bool
        Whether to return the weights too.

    Returns
    -------
    ndarray, (..., n_query, d_value)
        The mixtures, in the inputs' floating type (integers give float64). A query with nothing to
        attend to gets zeros. NaN or infinity that a query may attend to is passed on to its row.
        A score beyond the type counts as infinite: all of the weight, or none.
    ndarray, (..., n_query, n_key)
        The weights, if ``return_weights``.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above.

    Notes
    -----
    The formula is equation 1 of Vaswani et al. (2017), with Q, K and V as rows. Leading axes
    broadcast as in NumPy. float16 is computed in float32.

    Rounding errors are at most ``c * eps * (1 + s) * sum(w * abs(v))``, with the weights ``w`` and
    the row's largest ``s = scale * sum(abs(q * k))``, as long as ``c * eps * (1 + s)`` is small. In
    float16, with up to 8000 keys and 4000 features, ``c`` is 1. In the wider types it is at most
    ``12 + max(d_head, n_key / 2)``; ordinary numbers stay below 3. Values below the type's smallest
    normal number may come out as zero.

    Examples
    --------
    >>> import numpy as np
    >>> q = np.array([[0.0, 8.0]])
    >>> k = np.array([[9.0, 0.0], [0.0, 9.0]])
    >>> v = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    >>> attention(q, k, v).round(3).tolist()
    [[4.0, 5.0, 6.0]]
    """
    q, k, v = check_queries_keys_values(q, k, v)
    return_weights = check_flag("return_weights", return_weights)
    dtype = v.dtype
    scale = check_scale(scale, q.shape[-1], working_type(dtype))
    if mask is not None:
        mask = check_attention_mask(mask, q, k, v)
    q, k, v = in_working_type(q, k, v)

    s = scores(q, k, scale=scale)  # (..., n_query, n_key)
    weights = softmax(s, mask=mask)
    mixtures = weights @ v  # (..., n_query, d_value)
    if not np.isfinite(mixtures).all():
        attended = ~np.isneginf(s) if mask is None else ~np.isneginf(s) & mask
        mixtures = _mix_extremes(weights, v, attended)

    mixtures = mixtures.astype(dtype, copy=False)
    return (mixtures, weights.astype(dtype, copy=False)) if return_weights else mixtures


@quiet
def causal_attention(x, wq, wk, wv):
    r"""One whole causal head: every position mixes information from itself and those before it.

    .. math:: \begin{gathered}
        Q = X W_q, \quad K = X W_k, \quad V = X W_v, \\
        \text{softmax}\left(\frac{Q K^T}{\sqrt{d_\text{head}}} + M\right) V, \quad
        M_{ij} = -\infty \text{ where } j > i
        \end{gathered}

    Parameters
    ----------
    x : array_like, (..., n, d_model)
        One row for each token.
    wq, wk : array_like, (d_model, d_head)
        Weights of the projections to queries and keys. Leading axes broadcast.
    wv : array_like, (d_model, d_value)
        Weights of the projection to values.

    Returns
    -------
    ndarray, (..., n, d_value)
        Row i depends on rows 0 to i of ``x`` alone. In the inputs' floating type.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above.

    Notes
    -----
    Vaswani et al. (2017), sections 3.2.1 and 3.2.3. Queries, keys and values must fit the type.

    Examples
    --------
    >>> import numpy as np
    >>> x, eye = np.array([[1.0, 0.0], [0.0, 1.0]]), np.eye(2)
    >>> causal_attention(x, eye, eye, eye).round(3).tolist()
    [[1.0, 0.0], [0.33, 0.67]]
    """
    x, wq, wk, wv = check_head(x, wq, wk, wv)
    dtype = x.dtype
    x, wq, wk, wv = in_working_type(x, wq, wk, wv)

    q, k, v = (product(x, w) for w in (wq, wk, wv))  # (..., n, d)
    mask = causal_mask(x.shape[-2])
    return attention(q, k, v, mask=mask).astype(dtype, copy=False)


def _mix_extremes(weights, v, attended):
    """Return ``weights @ v`` where ``v`` holds NaN, infinity, or values near the largest float.

    A value that may not be attended to has no influence (plain arithmetic makes 0 · NaN a NaN);
    NaN and infinity that may be attended to are passed on; a mixture of finite values stays finite.
    """
    finite = np.where(np.isfinite(v), v, 0)
    mixtures = weights @ finite
    largest_half = np.finfo(v.dtype).max / 2
    halves = np.clip(weights @ (finite / 2), -largest_half, largest_half)
    mixtures = np.where(np.isfinite(mixtures), mixtures, 2 * halves)
    seen = attended.astype(v.dtype)
    for extreme, found in ((np.nan, np.isnan(v)), (np.inf, v == np.inf), (-np.inf, v == -np.inf)):
        mixtures = mixtures + np.where(seen @ found.astype(v.dtype) > 0, v.dtype.type(extreme), 0)
    return mixtures
