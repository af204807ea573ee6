"""Backward passes: from how the loss changes with a part's result, to how with what goes into it.

Every function gets ``grad``, the gradient of the loss with respect to a result, and returns the
gradients with respect to the arguments, each in the shape of its argument.
"""

import numpy as np

from attention_book.block_parts import (
    check_feed_forward,
    check_gain,
    check_matrices,
    in_norm_type,
)
from attention_book.dot_products import product, quiet, scores
from attention_book.stable_softmax import softmax
from attention_book.validation import (
    check_attention_mask,
    check_floating,
    check_positive,
    check_projection,
    check_queries_keys_values,
    check_scale,
    complain,
    in_working_type,
    same_type,
    working_type,
)


@quiet
def softmax_backward(p, grad):
    r"""Lead a gradient back through the softmax over the last axis.

    .. math:: \frac{\partial L}{\partial x_j} = p_j \Big( g_j - \sum_l p_l g_l \Big)

    Parameters
    ----------
    p : array_like, (..., n)
        Weights: what the softmax gave.
    grad : array_like, (..., n)
        The gradient g with respect to ``p``.

    Returns
    -------
    ndarray, (..., n)
        The gradient with respect to the scores x. Where the weights of a row sum to one, it sums to
        zero: a shift of all scores changes nothing.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above, or is not finite.

    Notes
    -----
    The matrix of derivatives is :math:`\text{diag}(p) - p p^T`; it is never formed.

    Examples
    --------
    >>> import numpy as np
    >>> p, grad = np.array([0.5, 0.25, 0.25]), np.array([4.0, 0.0, 0.0])
    >>> softmax_backward(p, grad).tolist()
    [1.0, -0.5, -0.5]
    """
    p = check_floating("p", p, "(..., n)", min_axes=1)
    grad = check_gradient(grad, p.shape, "(..., n), as p")
    p, grad = _finite(p=p, grad=grad)
    dtype = p.dtype
    p, grad = in_working_type(p, grad)
    mean = (p * grad).sum(axis=-1, keepdims=True)
    dx = p * (grad - mean)  # dx_j = p_j (g_j − Σ p_l g_l)
    return dx.astype(dtype, copy=False)


@quiet
def attention_backward(q, k, v, grad, *, mask=None, scale=None):
    r"""Lead a gradient back through :func:`attention`.

    .. math:: \begin{aligned}
        dV &= P^T G, \quad dP = G V^T, \\
        dS &= P \odot (dP - \text{rowsum}(P \odot dP)), \\
        dQ &= \text{scale} \cdot dS \, K, \quad dK = \text{scale} \cdot dS^T Q
        \end{aligned}

    Parameters
    ----------
    q : array_like, (..., n_query, d_head)
        Queries.
    k : array_like, (..., n_key, d_head)
        Keys.
    v : array_like, (..., n_key, d_value)
        Values.
    grad : array_like, (..., n_query, d_value)
        The gradient G with respect to the mixtures.
    mask : array_like of bool, broadcasts to (..., n_query, n_key), optional
        As in :func:`attention`. Nothing flows through a masked position.
    scale : float, optional
        As in :func:`attention`.

    Returns
    -------
    dq, dk, dv : ndarray
        In the shapes of ``q``, ``k`` and ``v``: where one of them was broadcast, its gradients are
        summed.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above, or is not finite.

    Notes
    -----
    P are the weights, which are computed again, as Dao et al. (2022) do; S are the scores.

    Examples
    --------
    >>> import numpy as np
    >>> q, grad = np.zeros((1, 1)), np.ones((1, 1))
    >>> k, v = np.array([[1.0], [3.0]]), np.array([[0.0], [8.0]])
    >>> [d.tolist() for d in attention_backward(q, k, v, grad)]
    [[[4.0]], [[0.0], [0.0]], [[0.5], [0.5]]]
    """
    q, k, v = check_queries_keys_values(q, k, v)
    mask = None if mask is None else check_attention_mask(mask, q, k, v)
    parts = [array.shape[:-2] for array in (q, k, v)] + [() if mask is None else mask.shape[:-2]]
    shape = (*np.broadcast_shapes(*parts), q.shape[-2], v.shape[-1])
    grad = check_gradient(grad, shape, "(..., n_query, d_value), as the mixtures")
    arrays = _finite(q=q, k=k, v=v, grad=grad)
    dtype = arrays[0].dtype
    q, k, v, grad = in_working_type(*arrays)
    scale = check_scale(scale, q.shape[-1], working_type(dtype))
    p = softmax(scores(q, k, scale=scale), mask=mask)  # (..., n_query, n_key)
    found = through_attention(q, k, v, p, grad, scale)
    return tuple(summed_to(array.shape, d).astype(dtype, copy=False)
                 for array, d in zip((q, k, v), found, strict=True))


def through_attention(q, k, v, p, grad, scale):
    """Return the gradients for ``q``, ``k`` and ``v``, where the weights ``p`` are known."""
    dv = p.swapaxes(-1, -2) @ grad           # dV = Pᵀ G
    dp = grad @ v.swapaxes(-1, -2)           # dP = G Vᵀ
    mean = (p * dp).sum(axis=-1, keepdims=True)
    ds = p * (dp - mean)                     # through the softmax
    ds = ds * p.dtype.type(scale)            # and the scale
    dq = ds @ k                              # dQ = dS K
    dk = ds.swapaxes(-1, -2) @ q             # dK = dSᵀ Q
    return dq, dk, dv


@quiet
def linear_backward(x, w, grad):
    r"""Lead a gradient back through the product :math:`Y = X W`.

    .. math:: dX = G W^T, \qquad dW = X^T G

    Parameters
    ----------
    x : array_like, (..., n, d_model)
        What was multiplied: one row for each token.
    w : array_like, (d_model, d_out)
        The weights.
    grad : array_like, (..., n, d_out)
        The gradient G with respect to Y.

    Returns
    -------
    dx, dw : ndarray
        In the shapes of ``x`` and ``w``. All rows of all samples used the same weights, so ``dw``
        is a sum over them.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above, or is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> x, w = np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]])
    >>> dx, dw = linear_backward(x, w, np.ones((1, 1)))
    >>> dx.tolist(), dw.tolist()
    ([[3.0, 4.0]], [[1.0], [2.0]])
    """
    x = check_floating("x", x, "(..., n, d_model)")
    w = check_projection("w", w, x, "(d_model, d_out)")
    if w.ndim != 2:
        complain(ValueError, "w", f"shape {w.shape}", "shape (d_model, d_out)")
    grad = check_gradient(grad, (*x.shape[:-1], w.shape[-1]), "(..., n, d_out)")
    arrays = _finite(x=x, w=w, grad=grad)
    dx, dw = through_linear(*in_working_type(*arrays))
    return tuple(d.astype(arrays[0].dtype, copy=False) for d in (dx, dw))


def through_linear(x, w, grad):
    """Return the gradients for ``x`` and ``w`` of arrays that are known to fit."""
    rows, gradients = as_rows(x), as_rows(grad)
    dx = (gradients @ w.T).reshape(x.shape)  # dX = G Wᵀ
    dw = rows.T @ gradients                  # dW = Xᵀ G
    return dx, dw


@quiet
def rms_norm_backward(x, gain, grad, eps=1e-5):
    r"""Lead a gradient back through :func:`rms_norm`.

    .. math:: \begin{aligned}
        r &= \sqrt{\frac{1}{d} \sum_i x_i^2 + \epsilon}, \quad n_j = \frac{x_j}{r}, \quad
        h_j = g_j \, \text{gain}_j, \\
        dx_j &= \frac{1}{r} \Big( h_j - n_j \, \frac{1}{d} \sum_i h_i n_i \Big), \quad
        d\text{gain}_j = \sum_\text{rows} g_j n_j
        \end{aligned}

    Parameters
    ----------
    x : array_like, (..., n, d_model)
        The rows that were normed.
    gain : array_like, (d_model,)
        The factor of each feature.
    grad : array_like, (..., n, d_model)
        The gradient g with respect to the result.
    eps : float
        As in :func:`rms_norm`.

    Returns
    -------
    dx, dgain : ndarray
        In the shapes of ``x`` and ``gain``.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above, or is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[3.0, 4.0]])
    >>> dx, dgain = rms_norm_backward(x, np.ones(2), x)  # grad along x
    >>> (abs(dx) < 1e-4).tolist()  # a longer row is normed to the same
    [[True, True]]
    >>> dgain.round(2).tolist()
    [2.55, 4.53]
    """
    x = check_floating("x", x, "(..., n, d_model)")
    gain = check_gain("gain", gain, x)
    grad = check_gradient(grad, x.shape, "(..., n, d_model), as x")
    eps = check_positive("eps", eps)
    arrays = _finite(x=x, gain=gain, grad=grad)
    found = through_norm(*in_working_type(*arrays), eps)
    return tuple(d.astype(arrays[0].dtype, copy=False) for d in found)


def through_norm(x, gain, grad, eps):
    """Return the gradients for ``x`` and ``gain`` of arrays that are known to fit."""
    dtype, d_model = x.dtype, x.shape[-1] or 1
    x, gain, grad = in_norm_type(eps, x, gain, grad)
    unit = _unit(x, eps)
    part = x * unit
    mean_square = np.square(part).sum(axis=-1, keepdims=True) / d_model
    root = np.sqrt(mean_square + x.dtype.type(eps) * unit * unit)
    normed = part / root
    weighted = grad * gain                                              # h = g ⊙ gain
    mean = (weighted * normed).sum(axis=-1, keepdims=True) / d_model    # (1/d) Σ h n
    dx = (weighted - normed * mean) / root * unit
    return tuple(d.astype(dtype, copy=False) for d in (dx, as_rows(grad * normed).sum(axis=0)))


def _unit(x, eps):
    """Return powers of two: no square of a row times its own overflows, and none costs a digit."""
    if eps >= np.finfo(x.dtype).tiny and np.isfinite(np.vdot(x, x)):
        return x.dtype.type(1)
    size = np.abs(x).max(axis=-1, keepdims=True, initial=eps**0.5)
    return np.ldexp(x.dtype.type(1), -np.frexp(size)[1])


@quiet
def feed_forward_backward(x, w_gate, w_up, w_down, grad):
    r"""Lead a gradient back through :func:`feed_forward`.

    .. math:: \begin{aligned}
        A &= X W_\text{gate}, \quad U = X W_\text{up}, \quad s = \frac{1}{1 + e^{-A}}, \\
        dH &= G \, W_\text{down}^T, \quad dU = dH \odot A \odot s, \\
        dA &= dH \odot U \odot s \, (1 + A \, (1 - s))
        \end{aligned}

    Parameters
    ----------
    x : array_like, (..., n, d_model)
        One row for each token.
    w_gate, w_up : array_like, (d_model, d_feed)
        As in :func:`feed_forward`.
    w_down : array_like, (d_feed, d_out)
        As in :func:`feed_forward`.
    grad : array_like, (..., n, d_out)
        The gradient G with respect to the result.

    Returns
    -------
    dx, dw_gate, dw_up, dw_down : ndarray
        In the shapes of the first four arguments.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above, or is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.ones((1, 1))
    >>> found = feed_forward_backward(one, one, one, one, one)
    >>> [d.round(3).item() for d in found]
    [1.659, 0.928, 0.731, 0.731]
    """
    x, w_gate, w_up, w_down = check_feed_forward(x, w_gate, w_up, w_down)
    check_matrices(w_gate=w_gate, w_up=w_up, w_down=w_down)
    grad = check_gradient(grad, (*x.shape[:-1], w_down.shape[-1]), "(..., n, d_out)")
    arrays = _finite(x=x, w_gate=w_gate, w_up=w_up, w_down=w_down, grad=grad)
    found = through_feed_forward(*in_working_type(*arrays))
    return tuple(d.astype(arrays[0].dtype, copy=False) for d in found)


def through_feed_forward(x, w_gate, w_up, w_down, grad):
    """Return the gradients for ``x`` and the weights of arrays that are known to fit."""
    gate, up = product(x, w_gate), product(x, w_up)               # A, U: (..., n, d_feed)
    small = np.exp(-np.abs(gate))                                 # never above 1
    share = np.where(gate < 0, small, 1) / (1 + small)            # s, the sigmoid of A
    passed = gate * share                                         # silu(A)
    dhidden, dw_down = through_linear(passed * up, w_down, grad)  # dH = G W_downᵀ
    dup = dhidden * passed
    dgate = dhidden * up * share * (1 + gate * (1 - share))
    dx_gate, dw_gate = through_linear(x, w_gate, dgate)
    dx_up, dw_up = through_linear(x, w_up, dup)
    return dx_gate + dx_up, dw_gate, dw_up, dw_down


def as_rows(x):
    """Return the rows of all samples as one matrix, also where there are none, or empty ones."""
    return x.reshape(int(np.prod(x.shape[:-1])), x.shape[-1])


def summed_to(shape, grad):
    """Return ``grad`` summed over the axes along which an array of ``shape`` was broadcast."""
    grad = grad.sum(axis=tuple(range(grad.ndim - len(shape))))
    stretched = tuple(axis for axis, (n, m) in enumerate(zip(shape, grad.shape, strict=True))
                      if n == 1 != m)
    return grad.sum(axis=stretched, keepdims=True)


def check_gradient(grad, shape, wanted):
    """Return ``grad``, if it has the shape of the result to which it belongs."""
    grad = check_floating("grad", grad, wanted, min_axes=len(shape))
    if grad.shape != shape:
        complain(ValueError, "grad", f"shape {grad.shape}", f"shape {shape}, {wanted}",
                 "A gradient has the shape of what it belongs to.")
    return grad


def _finite(**arrays):
    """Return the arrays in one float type, if there is neither NaN nor infinity in them."""
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            complain(ValueError, name, "NaN or infinity", "finite numbers",
                     "A gradient exists where the loss is finite.")
    return same_type(*arrays.values())
