"""Rotary positions: queries and keys turned by their positions, so that scores see distances."""

import numpy as np

from attention_book.dot_products import quiet
from attention_book.validation import (
    check_floating,
    check_positive,
    check_same_length,
    complain,
    in_working_type,
)


def rotary(x, positions, base=10000.0):
    r"""Turn each pair of neighbouring features by an angle that grows with the position.

    .. math:: \begin{pmatrix} x'_{2i} \\ x'_{2i+1} \end{pmatrix} =
        \begin{pmatrix} \cos t\theta_i & -\sin t\theta_i \\
        \sin t\theta_i & \cos t\theta_i \end{pmatrix}
        \begin{pmatrix} x_{2i} \\ x_{2i+1} \end{pmatrix}, \qquad
        \theta_i = \text{base}^{-2i/d_\text{head}}

    Parameters
    ----------
    x : array_like, (..., n, d_head)
        Queries or keys, with an even number of features.
    positions : array_like, (n,) or (..., n)
        The position t of each row, counted on from the past: with a cache, the first new token has
        the position ``len(cache)``. Leading axes broadcast to those of ``x``.
    base : float
        How far apart the frequencies are: the slowest pair turns nearly ``base`` times as slowly
        as the first, which turns by one radian a position.

    Returns
    -------
    ndarray, (..., n, d_head)
        Rows of the same lengths, in the floating type of ``x``. The dot product of a turned query
        with a turned key depends on the difference of their positions alone.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above.

    Notes
    -----
    Su et al. (2021), section 3.2.2. Angles are computed in float64 whatever the type of ``x``. The
    pairs are neighbours, (0, 1), (2, 3), …, as in that paper; other code pairs feature i with
    feature i + d_head / 2, which is the same after reordering the columns of ``wq`` and ``wk``.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[1.0, 0.0], [1.0, 0.0]])
    >>> rotary(x, [0, np.pi / 2]).round(3).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    x = check_floating("x", x, "(..., n, d_head)")
    positions = _check_positions(positions, x)
    base = check_positive("base", base)
    return turn(x, *cosine_and_sine(positions, x.shape[-1], base))


def cosine_and_sine(positions, d_head, base):
    """Return cosine and sine of the angle of every pair, (..., n, d_head / 2) each."""
    frequencies = base ** (-np.arange(0, d_head, 2) / (d_head or 1))  # (d_head / 2,)
    angles = positions[..., None] * frequencies
    return np.cos(angles), np.sin(angles)


@quiet
def turn(x, cos, sin):
    """Return ``x`` with its pairs turned by angles whose cosines and sines are given."""
    work, = in_working_type(x)
    cos, sin = (part.astype(work.dtype, copy=False) for part in (cos, sin))
    first, second = work[..., 0::2], work[..., 1::2]
    result = np.empty(x.shape, work.dtype)
    result[..., 0::2] = first * cos - second * sin
    result[..., 1::2] = first * sin + second * cos
    return result.astype(x.dtype, copy=False)


def _check_positions(positions, x):
    """Return the positions as floats, if there is one for each row of ``x`` of even length."""
    if x.shape[-1] % 2:
        complain(ValueError, "x", f"rows of length {x.shape[-1]}", "an even d_head",
                 "Features are turned in pairs.")
    positions = check_floating("positions", positions, "(n,)", min_axes=1)
    check_same_length("x", x.shape[-2], "positions", positions.shape[-1], "n",
                      "Each row has one position: np.arange(past, past + n).")
    wanted = x.shape[:-1]
    if positions.ndim > len(wanted) or any(
            n not in (1, m) for n, m in zip(positions.shape[::-1], wanted[::-1], strict=False)):
        complain(ValueError, "positions", f"shape {positions.shape}",
                 f"a shape that broadcasts to {wanted}",
                 "Positions for each sample need an axis for the heads: positions[:, None, :].")
    if not np.isfinite(positions).all():
        complain(ValueError, "positions", "NaN or infinity", "finite numbers")
    return positions.astype(np.result_type(positions.dtype, np.float64), copy=False)
