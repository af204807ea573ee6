"""Several heads side by side: each mixes in its own way, and their results are joined."""

import numpy as np

from attention_book.dot_products import product, quiet
from attention_book.single_head import attention
from attention_book.validation import (
    as_array,
    check_callable,
    check_count,
    check_floating,
    check_mask,
    check_projection,
    check_same_length,
    check_size,
    complain,
    describe,
    same_type,
    working_type,
)


def split_heads(x, n_heads):
    r"""Cut every row into ``n_heads`` equal parts, and give each head its own matrix of them.

    .. math:: H_{h, i, c} = X_{i, \; h \cdot d + c}

    Parameters
    ----------
    x : array_like, (..., n, n_heads * d)
        One row for each position.
    n_heads : int
        How many parts; the rows' length is a multiple of it.

    Returns
    -------
    ndarray, (..., n_heads, n, d)
        The same numbers: a view where that is possible. Head 0 has the first ``d`` features.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above.

    Notes
    -----
    Reshaping alone, to (n_heads, n, d), would mix up positions and heads: the rows are cut first,
    then the two axes are swapped.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(6.0).reshape(1, 3, 2)
    >>> split_heads(x, 2).tolist()  # two heads of one feature
    [[[[0.0], [2.0], [4.0]], [[1.0], [3.0], [5.0]]]]
    """
    x = check_floating("x", x, "(..., n, n_heads * d)")
    n_heads = check_count("n_heads", n_heads, least=1)
    _check_divisible("x", x.shape[-1], "n_heads", n_heads)
    parts = x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads)  # (..., n, n_heads, d)
    return parts.swapaxes(-3, -2)  # (..., n_heads, n, d)


def merge_heads(x):
    r"""Join what the heads give for each position: :func:`split_heads` undone.

    .. math:: X_{i, \; h \cdot d + c} = H_{h, i, c}

    Parameters
    ----------
    x : array_like, (..., n_heads, n, d)
        One matrix for each head.

    Returns
    -------
    ndarray, (..., n, n_heads * d)
        One row for each position, the heads' parts side by side.

    Raises
    ------
    TypeError, ValueError
        If the argument is not what is asked for above.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[[0.0], [2.0], [4.0]], [[1.0], [3.0], [5.0]]])
    >>> merge_heads(x).tolist()
    [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    """
    x = check_floating("x", x, "(..., n_heads, n, d)", min_axes=3)
    *leading, n_heads, n, d = x.shape
    return x.swapaxes(-3, -2).reshape(*leading, n, n_heads * d)


def repeat_kv(x, n_repeats):
    """Give each of ``n_repeats`` query heads in a row a copy of its group's keys or values.

    Parameters
    ----------
    x : array_like, (..., n_kv_heads, n, d)
        Keys or values.
    n_repeats : int
        How many query heads share each of them.

    Returns
    -------
    ndarray, (..., n_kv_heads * n_repeats, n, d)
        The heads in the order 0, 0, 1, 1, … for two repeats.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above.

    Notes
    -----
    This is what grouped heads mean, not how :func:`multi_head_attention` computes them: there,
    one matrix serves the whole group, and is not copied.

    Examples
    --------
    >>> import numpy as np
    >>> repeat_kv(np.array([[[1.0]], [[2.0]]]), 2).tolist()
    [[[1.0]], [[1.0]], [[2.0]], [[2.0]]]
    """
    x = check_floating("x", x, "(..., n_kv_heads, n, d)", min_axes=3)
    n_repeats = check_count("n_repeats", n_repeats, least=1)
    check_size("n_repeats", (*x.shape[:-3], x.shape[-3] * n_repeats, *x.shape[-2:]), x.dtype)
    return np.repeat(x, n_repeats, axis=-3)


@quiet
def multi_head_attention(x, wq, wk, wv, wo, *, n_heads, n_kv_heads=None, mask=None, rotate=None,
                         cache=None, attend=attention):
    r"""Let ``n_heads`` heads mix information from the rows of ``x``, and join what they find.

    .. math:: \begin{aligned}
        \text{head}_h &= \text{attend}(X W^q_h, X W^k_{g(h)}, X W^v_{g(h)}), \\
        \text{result} &= [\text{head}_0, \text{head}_1, \dots] \, W^o
        \end{aligned}

    Parameters
    ----------
    x : array_like, (..., n, d_model)
        One row for each token. With a cache, the tokens that follow those in it.
    wq : array_like, (d_model, n_heads * d_head)
        Weights of the projections to queries, head by head.
    wk : array_like, (d_model, n_kv_heads * d_head)
        Weights of the projections to keys.
    wv : array_like, (d_model, n_kv_heads * d_value)
        Weights of the projections to values.
    wo : array_like, (n_heads * d_value, d_out)
        Weights of the projection of the joined heads, as a rule back to ``d_model``.
    n_heads : int
        Number of heads.
    n_kv_heads : int, optional
        Number of key and value heads, which divides ``n_heads``: query heads in a row share one
        (grouped heads; with 1, multi-query attention). ``n_heads`` if not given.
    mask : array_like of bool, optional
        True where a query may attend to a key. With at most as many axes as ``x`` it broadcasts to
        (..., n, n_key), for all heads of a sample; with one axis more, to
        (..., n_heads, n, n_key). ``n_key`` is ``n``, with a cache ``len(cache) + n``. None lets
        every position attend to every other, later ones too.
    rotate : callable, optional
        Applied to queries and keys as ``rotate(x, positions)``, with x (..., n_heads, n, d_head)
        and the tokens' positions (n,), which with a cache start at ``len(cache)``.
    cache : KVCache, optional
        Keys and values of earlier tokens, which are attended to as well. Those of ``x`` are
        appended, in the inputs' type, unless an error is raised. For causal attention give
        ``mask=causal_mask(n, len(cache) + n)``.
    attend : callable
        Called as ``attend(q, k, v, mask=mask)``, with what :func:`attention` takes and returns.

    Returns
    -------
    ndarray, (..., n, d_out)
        One row for each token, in the inputs' floating type.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above.

    Notes
    -----
    Vaswani et al. (2017), section 3.2.2; one key and value head for all: Shazeer (2019); one for
    each group: Ainslie et al. (2023). Grouped queries have an axis of their own,
    (..., n_kv_heads, n_repeats, n, d_head), over which keys and values broadcast. Projections must
    fit the type.

    Examples
    --------
    >>> import numpy as np
    >>> x, eye = np.array([[1.0, 0.0], [0.0, 1.0]]), np.eye(2)
    >>> y = multi_head_attention(x, eye, eye, eye, eye, n_heads=2)
    >>> y.round(3).tolist()
    [[0.731, 0.5], [0.5, 0.731]]
    """
    n_heads = check_count("n_heads", n_heads, least=1)
    n_kv_heads = _check_n_kv_heads(n_kv_heads, n_heads)
    _check_functions(rotate, attend)
    arrays = same_type(*_check_projections(x, wq, wk, wv, wo, n_heads, n_kv_heads))
    n, dtype = arrays[0].shape[-2], arrays[0].dtype
    past = 0 if cache is None else _check_cache(cache, arrays, n_kv_heads)
    mask = None if mask is None else _check_mask(mask, arrays[0].shape, n_heads, past)
    x, wq, wk, wv, wo = (array.astype(working_type(dtype), copy=False) for array in arrays)

    q = split_heads(product(x, wq), n_heads)  # (..., n_heads, n, d_head)
    k = split_heads(product(x, wk), n_kv_heads)  # (..., n_kv_heads, n, d_head)
    v = split_heads(product(x, wv), n_kv_heads)  # (..., n_kv_heads, n, d_value)
    if rotate is not None:
        positions = np.arange(past, past + n)
        q, k = (_called("rotate", rotate, heads.shape, heads, positions) for heads in (q, k))
    if cache is not None:
        k, v = cache.append(k.astype(dtype), v.astype(dtype))  # (..., n_kv_heads, past + n, …)
    try:
        mixtures = _attend(attend, q, k, v, mask)  # (..., n_heads, n, d_value)
    except BaseException:
        if cache is not None:
            cache.truncate(past)
        raise
    return product(merge_heads(mixtures), wo).astype(dtype, copy=False)


def _attend(attend, q, k, v, mask):
    """Let every head attend. Query heads that share keys and values get an axis of their own."""
    *leading, n_heads, n, d_head = q.shape
    n_kv_heads, d_value = k.shape[-3], v.shape[-1]
    heads = (n_heads,)
    if n_kv_heads < n_heads:
        heads = n_kv_heads, n_heads // n_kv_heads
        q = q.reshape(*leading, *heads, n, d_head)
        k, v = k[..., None, :, :], v[..., None, :, :]
        if mask is not None and mask.ndim > 2:
            mask_heads = heads if mask.shape[-3] == n_heads else (1, 1)
            mask = mask.reshape(*mask.shape[:-3], *mask_heads, *mask.shape[-2:])
    if mask is not None:
        leading = np.broadcast_shapes(tuple(leading), mask.shape[:-2 - len(heads)])
    result = _called("attend", attend, (*leading, *heads, n, d_value), q, k, v, mask=mask)
    return result.reshape(*leading, n_heads, n, d_value)


def _called(name, function, shape, *arguments, **options):
    """Call what the caller gave, and see that it returns numbers of the shape that it should."""
    result = check_floating(f"the result of {name}", function(*arguments, **options), shape)
    if result.shape != shape:
        complain(ValueError, f"the result of {name}", f"shape {result.shape}", f"shape {shape}")
    return result


def _check_functions(rotate, attend):
    check_callable("attend", attend, "a function, called as attend(q, k, v, mask=mask)")
    if rotate is not None:
        check_callable("rotate", rotate, "a function, called as rotate(x, positions), or None")


def _check_n_kv_heads(n_kv_heads, n_heads):
    if n_kv_heads is None:
        return n_heads
    n_kv_heads = check_count("n_kv_heads", n_kv_heads, least=1)
    if n_heads % n_kv_heads:
        complain(ValueError, "n_kv_heads", n_kv_heads, f"a divisor of n_heads = {n_heads}",
                 "Each key and value head serves a group of query heads, all of one size.")
    return n_kv_heads


def _check_projections(x, wq, wk, wv, wo, n_heads, n_kv_heads):
    x = check_floating("x", x, "(..., n, d_model)")
    wq = _check_heads("wq", wq, x, "n_heads", n_heads)
    wk = _check_heads("wk", wk, x, "n_kv_heads", n_kv_heads)
    wv = _check_heads("wv", wv, x, "n_kv_heads", n_kv_heads)
    check_same_length("wq", wq.shape[1] // n_heads, "wk", wk.shape[1] // n_kv_heads, "d_head",
                      f"wk has the columns of n_kv_heads = {n_kv_heads} heads.")
    wo = _check_matrix("wo", wo, "(n_heads * d_value, d_out)")
    check_same_length("wv", n_heads * (wv.shape[1] // n_kv_heads), "wo", wo.shape[0],
                      "n_heads * d_value", "wo takes the values of all heads, side by side.")
    return x, wq, wk, wv, wo


def _check_heads(name, w, x, heads, n_heads):
    wanted = f"(d_model, {heads} * d)"
    w = check_projection(name, _check_matrix(name, w, wanted), x, wanted)
    _check_divisible(name, w.shape[1], heads, n_heads)
    return w


def _check_matrix(name, w, wanted):
    w = check_floating(name, w, wanted)
    if w.ndim != 2:
        complain(ValueError, name, f"shape {w.shape}", f"shape {wanted}, two axes",
                 "All heads' weights stand side by side in one matrix.")
    return w


def _check_divisible(name, length, heads, n_heads):
    if length % n_heads:
        complain(ValueError, name, f"rows of length {length}", f"a multiple of {heads} = {n_heads}",
                 "Every head gets as many features.")


def check_is_cache(name, cache, wanted, cause=""):
    """Complain unless ``cache`` can do what is asked of one."""
    parts = "__len__", "append", "truncate", "keys", "values", "capacity", "dtype"
    if isinstance(cache, type) or not all(hasattr(cache, part) for part in parts):
        complain(TypeError, name, describe(cache), wanted, cause)


def _check_cache(cache, arrays, n_kv_heads):
    """Return how many positions the cache holds, if it fits and has room."""
    check_is_cache("cache", cache, "a KVCache, or None")
    x, _, wk, wv, _ = arrays
    if cache.dtype != x.dtype:
        complain(TypeError, "cache", f"a cache of {cache.dtype}",
                 f"one of {x.dtype}, the type of x and the weights",
                 f"Make it with dtype=np.{x.dtype.name}, or convert x and the weights.")
    past, (*batch, n, _) = len(cache), x.shape
    came = cache.keys.shape, cache.values.shape
    wanted = tuple((*batch, n_kv_heads, past, w.shape[1] // n_kv_heads) for w in (wk, wv))
    if came != wanted:
        complain(ValueError, "cache", f"keys and values of shapes {came}", f"{wanted}",
                 "Make it with this batch_shape, n_kv_heads, d_head and d_value.")
    if past + n > cache.capacity:
        complain(ValueError, "cache", f"{n} tokens more", f"at most {cache.capacity - past}: "
                 f"{past} of {cache.capacity} positions are taken",
                 "Make the cache with a larger capacity, or truncate it.")
    return past


def _check_mask(mask, x_shape, n_heads, past):
    """Return the mask, with an axis for the heads where it has one for the samples."""
    *batch, n, _ = x_shape
    mask = as_array("mask", mask, "a boolean array")
    per_head = "(..., n_heads, n_query, n_key)"
    if mask.ndim > len(x_shape) + 1:
        complain(ValueError, "mask", f"shape {mask.shape}", f"at most {len(x_shape) + 1} axes: "
                 f"{per_head}", "A mask has one axis more than x at most: that of the heads.")
    cause = ""
    if past and mask.shape[-1:] == (n,):
        cause = f"With a cache, the keys are its {past} and the {n} of x: see causal_mask."
    elif mask.ndim == len(x_shape) > 2 and mask.shape[0] == n_heads:
        cause = "A mask for each head has one axis more than x: mask[None]."
    if mask.ndim == len(x_shape) + 1:
        return check_mask(mask, (*batch, n_heads, n, past + n), per_head, cause=cause,
                          kept_axes=(-1, -2, -3))
    mask = check_mask(mask, (*batch, n, past + n), "(..., n_query, n_key)", cause=cause)
    return mask if mask.ndim < 3 else mask[..., None, :, :]
