"""What a block has beside attention: a norm, and a feed-forward network for each row by itself."""

import numpy as np

from attention_book.dot_products import product, quiet
from attention_book.validation import (
    check_broadcast,
    check_floating,
    check_positive,
    check_projection,
    check_same_length,
    complain,
    in_working_type,
    same_type,
)


@quiet
def rms_norm(x, gain, eps=1e-5):
    r"""Bring every row to a mean square of one, then weight its features.

    .. math:: x' = \frac{x}{\sqrt{\frac{1}{d} \sum_i x_i^2 + \epsilon}} \odot \text{gain}

    Parameters
    ----------
    x : array_like, (..., n, d_model)
        One row for each token.
    gain : array_like, (d_model,)
        A learned factor for each feature.
    eps : float
        Added to the mean square: a row of zeros stays one. Above 0.

    Returns
    -------
    ndarray, (..., n, d_model)
        In the inputs' floating type.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above.

    Notes
    -----
    Zhang and Sennrich (2019). Unlike layer normalisation, no mean is subtracted.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[3.0, 4.0, 0.0, 0.0]])
    >>> rms_norm(x, np.ones(4)).round(3).tolist()
    [[1.2, 1.6, 0.0, 0.0]]
    """
    x = check_floating("x", x, "(..., n, d_model)")
    gain = check_gain("gain", gain, x)
    eps = check_positive("eps", eps)
    x, gain = same_type(x, gain)
    dtype, d_model = x.dtype, x.shape[-1]
    x, gain = in_norm_type(eps, x, gain)
    least = 1 if eps >= np.finfo(x.dtype).tiny else eps**0.5
    largest = np.abs(x).max(axis=-1, keepdims=True, initial=least)  # no square of a part overflows
    part = x / largest
    part_eps = eps / largest**2 if least == 1 else np.square(least / largest)
    mean_square = np.square(part).sum(axis=-1, keepdims=True) / (d_model or 1)
    return (part / np.sqrt(mean_square + part_eps) * gain).astype(dtype, copy=False)


@quiet
def silu(x):
    r"""Let numbers above zero pass nearly as they are, and those below it hardly at all.

    .. math:: \text{silu}(x) = \frac{x}{1 + e^{-x}}

    Parameters
    ----------
    x : array_like, any shape with at least one axis
        Any numbers.

    Returns
    -------
    ndarray
        In the shape and the floating type of ``x``. Of −inf, the limit 0; NaN stays.

    Raises
    ------
    TypeError, ValueError
        If the argument is not what is asked for above.

    Notes
    -----
    Hendrycks and Gimpel (2016); also known as Swish. No exponential here is above 1.

    Examples
    --------
    >>> import numpy as np
    >>> silu(np.array([-9.0, -1.0, 0.0, 1.0, 9.0])).round(3).tolist()
    [-0.001, -0.269, 0.0, 0.731, 8.999]
    """
    x = check_floating("x", x, "(..., n)", min_axes=1)
    dtype = x.dtype
    x, = in_working_type(x)
    if np.fmin.reduce(x, axis=None, initial=0) == -np.inf:  # 0 times infinity would be NaN
        x = np.maximum(x, np.finfo(x.dtype).min)
    result = x * np.exp(np.minimum(x, 0)) / (1 + np.exp(-np.abs(x)))
    return result.astype(dtype, copy=False)


@quiet
def feed_forward(x, w_gate, w_up, w_down):
    r"""Work on each row by itself: widen it, let a gate choose, and narrow it again (SwiGLU).

    .. math:: (\text{silu}(X W_\text{gate}) \odot X W_\text{up}) \, W_\text{down}

    Parameters
    ----------
    x : array_like, (..., n, d_model)
        One row for each token.
    w_gate, w_up : array_like, (d_model, d_feed)
        Weights of the gate, and of what it lets pass. Leading axes broadcast.
    w_down : array_like, (d_feed, d_out)
        Weights of the way back, as a rule to ``d_model``.

    Returns
    -------
    ndarray, (..., n, d_out)
        Row i depends on row i of ``x`` alone. In the inputs' floating type.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above.

    Notes
    -----
    Shazeer (2020), equation 6, without biases.

    Examples
    --------
    >>> import numpy as np
    >>> x, eye = np.array([[1.0, -9.0]]), np.eye(2)
    >>> feed_forward(x, eye, eye, eye).round(2).tolist()
    [[0.73, 0.01]]
    """
    arrays = check_feed_forward(x, w_gate, w_up, w_down)
    x, w_gate, w_up, w_down = in_working_type(*arrays)
    gate = product(x, w_gate)  # (..., n, d_feed)
    up = product(x, w_up)
    result = product(silu(gate) * up, w_down)  # (..., n, d_out)
    return result.astype(arrays[0].dtype, copy=False)


def in_norm_type(eps, *arrays):
    """Return the arrays in the type to compute a norm in, one that holds ``eps``."""
    arrays = in_working_type(*arrays)
    info = np.finfo(arrays[0].dtype)
    if info.tiny <= eps <= info.max:
        return arrays
    return tuple(array.astype(np.result_type(array, np.float64), copy=False) for array in arrays)


def check_gain(name, gain, x):
    """Return ``gain``, one number for each feature of ``x``."""
    gain = check_floating(name, gain, "(d_model,)", min_axes=1)
    if gain.shape != x.shape[-1:]:
        complain(ValueError, name, f"shape {gain.shape}", f"shape {x.shape[-1:]}, (d_model,)",
                 "One factor for each feature.")
    return gain


def check_feed_forward(x, w_gate, w_up, w_down):
    """Return ``x`` and the weights of a feed-forward network, checked, in one float type."""
    x = check_floating("x", x, "(..., n, d_model)")
    w_gate = check_projection("w_gate", w_gate, x, "(d_model, d_feed)")
    w_up = check_projection("w_up", w_up, x, "(d_model, d_feed)")
    w_down = check_floating("w_down", w_down, "(d_feed, d_out)")
    for name, length in ("w_up", w_up.shape[-1]), ("w_down", w_down.shape[-2]):
        check_same_length("w_gate", w_gate.shape[-1], name, length, "d_feed")
    check_broadcast("(..., n, d_out)", x=x.shape[:-2], w_gate=w_gate.shape[:-2],
                    w_up=w_up.shape[:-2], w_down=w_down.shape[:-2])
    return same_type(x, w_gate, w_up, w_down)


def check_matrices(**weights):
    """Complain unless all the weights are matrices, the same for every sample."""
    for name, w in weights.items():
        if w.ndim != 2:
            complain(ValueError, name, f"shape {w.shape}", "a matrix of weights")
