"""The softmax in float16 and float32, every operation rounded: where the naive one breaks."""

from typing import NamedTuple

import numpy as np

from attention_book import figures, softmax
from attention_book.explorables.base import Explorable
from attention_book.explorables.traits import numbers, real

TYPES = {"float16": np.float16, "float32": np.float32}
SHIFTS = np.arange(-200, 201)


class Result(NamedTuple):
    """What one way of computing the softmax gives in one floating type."""

    exponentials: np.ndarray  # (n,)
    total: np.floating  # their sum
    weights: np.ndarray  # (n,)
    error: float  # the largest, against the exact weights; NaN if a weight is

    @property
    def broken(self):
        """Whether there is no sum to divide by: it is 0 or infinite."""
        return bool(self.total == 0 or np.isinf(self.total))


class SoftmaxUnderStress(Explorable):
    """The softmax of logits / temperature + shift, naive and stable, in two small floating types.

    Every operation is rounded to the type, and sums run from the first to the last. The
    exponential is computed in float64 and then rounded.

    Attributes
    ----------
    logits : list of 4 floats
        From −20 to 20.
    temperature : float
        What the logits are divided by, from 0.1 to 10.
    shift : float
        What is added to each of them after that, from −200 to 200.
    exact : ndarray, (4,)
        The package's weights, in float64. The shift does not change them.
    naive, stable : dict of str to Result
        What comes out in ``"float16"`` and ``"float32"``, without and with the largest subtracted.
    breaks : dict of str to tuple
        For each type the highest whole shift at which the naive sum is 0, and the lowest at which
        it is infinite; None where there is none within reach.
    """

    kind = "softmax_under_stress"
    caption = ("Add a shift to all logits: the weights should not change. The naive softmax breaks "
               "once its sum is infinite or 0; the stable one subtracts the largest first.")
    logits = numbers([0.0, 1.0, 2.0, 3.0], least=-20, most=20)
    temperature = real(1.0, least=0.1, most=10)
    shift = real(0.0, least=-200, most=200)

    @property
    def exact(self):
        return softmax(np.array(self.logits) / self.temperature)

    @property
    def naive(self):
        return {name: self._result(dtype, self.shift, False) for name, dtype in TYPES.items()}

    @property
    def stable(self):
        return {name: self._result(dtype, self.shift, True) for name, dtype in TYPES.items()}

    @property
    def breaks(self):
        found = {}
        for name, dtype in TYPES.items():
            totals = np.array([self._result(dtype, shift, False).total for shift in SHIFTS])
            low, high = SHIFTS[totals == 0], SHIFTS[np.isinf(totals)]
            found[name] = (low[-1].item() if low.size else None,
                           high[0].item() if high.size else None)
        return found

    def picture(self):
        """Return the errors at every shift; where a line ends, there are no weights."""
        return figures.side_by_side([
            figures.lines(SHIFTS, {
                way: [self._result(dtype, shift, subtract).error for shift in SHIFTS]
                for way, subtract in (("naive", False), ("stable", True))
            }, log="y", xlabel="shift of all logits", ylabel="largest error of a weight",
                title=f"In {name} the naive softmax breaks where its line ends", width=400)
            for name, dtype in TYPES.items()])

    def _result(self, dtype, shift, subtract):
        return _rounded_softmax(self.logits, self.temperature, shift, dtype, subtract, self.exact)


@np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore")
def _rounded_softmax(logits, temperature, shift, dtype, subtract, exact):
    x = np.array(logits, dtype) / dtype(temperature) + dtype(shift)
    if subtract:
        x = x - x.max()
    exponentials = np.exp(x.astype(np.float64)).astype(dtype)
    total = dtype(0)
    for exponential in exponentials:  # np.sum would add in another order, and float16 in float32
        total = total + exponential
    weights = exponentials / total
    return Result(exponentials, total, weights, float(np.abs(weights - exact).max()))
