"""Adam: how far to move each weight, from its gradients so far."""

import numbers

import numpy as np

from attention_book.validation import as_array, check_positive, complain, describe


class Adam:
    r"""Move every weight against its gradient, by steps of about the same size for all of them.

    .. math:: \begin{aligned}
        m &\leftarrow \beta_1 m + (1 - \beta_1) \, g, &
        s &\leftarrow \beta_2 s + (1 - \beta_2) \, g^2, \\[1ex]
        \hat m &= \frac{m}{1 - \beta_1^t}, &
        \hat s &= \frac{s}{1 - \beta_2^t}, \\[1ex]
        w &\leftarrow w - \text{rate} \, \frac{\hat m}{\sqrt{\hat s} + \epsilon}
        \end{aligned}

    Parameters
    ----------
    rate : float
        The learning rate: about how far a weight moves in a step.
    beta_mean : float
        :math:`\beta_1`, how much of the running mean is kept at a step; from 0 to below 1.
    beta_square : float
        :math:`\beta_2`, the same for the running mean of squares.
    eps : float
        Keeps a weight without any gradient from a division by zero.

    Attributes
    ----------
    steps : int
        How many have been made.
    means, squares : dict of str to ndarray
        The running means of each weight's gradients and of their squares; empty at first.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above.

    Notes
    -----
    Kingma and Ba (2015), algorithm 1. The running means begin at zero; dividing by
    :math:`1 - \beta^t` makes up for it.

    Examples
    --------
    >>> import numpy as np
    >>> adam = Adam(rate=0.1)
    >>> weights = {"w": np.array([1.0, 1.0])}
    >>> gradients = {"w": np.array([0.002, -30.0])}
    >>> w = adam.step(weights, gradients)["w"]
    >>> w.round(3).tolist()  # whatever the size of the gradient
    [0.9, 1.1]
    """

    def __init__(self, rate=1e-3, *, beta_mean=0.9, beta_square=0.999, eps=1e-8):
        self.rate, self.eps = check_positive("rate", rate), check_positive("eps", eps)
        self.beta_mean = _check_share("beta_mean", beta_mean)
        self.beta_square = _check_share("beta_square", beta_square)
        self.steps, self.means, self.squares = 0, {}, {}

    def step(self, weights, gradients):
        """Return the weights after one step.

        Parameters
        ----------
        weights, gradients : dict of str to ndarray
            Each weight, of a floating type, and its gradient, under the same names and in the same
            shapes as at the steps before. Nothing is written to them.

        Returns
        -------
        dict of str to ndarray
            New arrays, in the weights' types.

        Raises
        ------
        TypeError, ValueError
            If an argument is not what is asked for above; if a gradient is not finite, or too large
            for its square to fit its type. The optimiser is then unchanged.
        """
        self._check(weights, gradients)
        self.steps += 1
        b1, b2, moved = self.beta_mean, self.beta_square, {}
        for name, g in gradients.items():
            w, m, s = weights[name], *self._means_of(name)
            m = b1 * m + (1 - b1) * g            # running mean
            s = b2 * s + (1 - b2) * g * g        # of the squares
            m_hat = m / (1 - b1**self.steps)     # they began at zero
            s_hat = s / (1 - b2**self.steps)
            step = self.rate * m_hat / (np.sqrt(s_hat) + self.eps)
            moved[name] = (w - step).astype(w.dtype)
            self.means[name], self.squares[name] = m, s
        return moved

    def _means_of(self, name):
        return self.means.get(name, 0.0), self.squares.get(name, 0.0)

    def _check(self, weights, gradients):
        """Complain, before anything has changed, unless there is a gradient for each weight."""
        for name, given in (("weights", weights), ("gradients", gradients)):
            if not isinstance(given, dict):
                complain(TypeError, name, describe(given), "a dict of arrays")
        known = set(self.means) or set(weights)
        if not set(weights) == set(gradients) == known:
            odd = set(weights) ^ set(gradients) or set(weights) ^ known
            first = min(map(str, odd))
            complain(ValueError, "gradients", f"other names than the weights' ({first})",
                     "one gradient for each weight, the same weights at each step")
        for name, w in weights.items():
            g = gradients[name]
            _check_array(f"weights: {name}", w, "f", "an array of a floating type",
                         "A step is a fraction: whole numbers need .astype(float).")
            _check_array(f"gradients: {name}", g, "fiu", "an array of real numbers")
            shapes = {w.shape, g.shape, np.shape(self.means.get(name, w))}
            if len(shapes) > 1:
                complain(ValueError, name, f"shapes {sorted(shapes)}",
                         "one shape for a weight and its gradients")
            self._check_sizes(f"gradients: {name}", g)

    def _check_sizes(self, name, g):
        """Complain unless everything that is computed from a gradient fits its type."""
        info = np.finfo(np.result_type(g, 0.0))
        largest, hint = np.abs(g).max(initial=0), "Has the training run away? Try a smaller rate."
        if not np.isfinite(largest):
            complain(ValueError, name, "NaN or infinity", "finite numbers", hint)
        if largest > info.max**0.5:
            complain(ValueError, name, f"{largest:.3g}", f"numbers whose squares fit {info.dtype}",
                     hint)
        for option, value in ("rate", self.rate), ("eps", self.eps):
            if not info.tiny <= value <= info.max:
                complain(ValueError, option, value, f"a number that {info.dtype} holds",
                         "That is the gradients' type.")


def _check_array(name, array, kinds, wanted, cause=""):
    """Complain unless ``array`` is one already, and of a kind that is asked for."""
    if not isinstance(array, np.ndarray | np.generic):
        complain(TypeError, name, describe(array), wanted, "np.array makes one of a list.")
    if as_array(name, array, wanted).dtype.kind not in kinds:
        complain(TypeError, name, describe(array), wanted, cause)


def _check_share(name, value):
    """Return ``value`` as a float from 0 to below 1."""
    wanted, cause = "a number from 0 to below 1", "It is how much of the past is kept."
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        complain(TypeError, name, describe(value), wanted, cause)
    if not 0 <= value < 1 or float(value) == 1:
        complain(ValueError, name, value, wanted, cause)
    return float(value)
