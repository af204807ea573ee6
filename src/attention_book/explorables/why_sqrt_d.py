"""Random queries and keys of 1 to 512 features: what √d does to their scores and weights."""

from functools import cache
from typing import NamedTuple

import numpy as np

from attention_book import figures, log_softmax, scores, softmax
from attention_book.explorables.base import Explorable
from attention_book.explorables.traits import count

N_QUERY, N_KEY, D_MOST = 250, 8, 512


class Side(NamedTuple):
    """What the figure shows of one of its two sides."""

    scores: np.ndarray  # (n_query, n_key), each query with keys of its own
    weights: np.ndarray  # (n_key,), of the chosen query
    entropy: float  # of the weights, in nats
    gradient: float  # the largest entry, in size, of the derivative of the weights
    largest: float  # weight of each query, the mean of all


class WhySqrtD(Explorable):
    """Scores of 250 random queries with 8 keys each, as they are and divided by √d.

    All features are independent and standard normal, from a small generator that Python and the
    page share; with a larger d each vector keeps its features and gets more.

    Attributes
    ----------
    d : int
        How many features queries and keys have, from 1 to 512.
    query : int
        Whose weights are shown, from 0 to 249.
    unscaled, scaled : Side
        The scores of all queries, and what the softmax makes of the chosen one's.
    """

    kind = "why_sqrt_d"
    caption = ("Change d, the number of features. As they are, the scores spread and one key takes "
               "nearly all the weight; divided by √d they spread alike at every d.")
    d = count(64, least=1, most=D_MOST)
    query = count(2, least=0, most=N_QUERY - 1)

    @property
    def unscaled(self):
        return self._side(1.0)

    @property
    def scaled(self):
        return self._side(self.d**-0.5)

    def picture(self):
        """Return both histograms, and both rows of weights."""
        sides = {"as they are": self.unscaled, "divided by √d": self.scaled}
        spread = figures.histograms(
            {name: side.scores.ravel() for name, side in sides.items()},
            title=f"Scores of vectors with {self.d} features", xlabel="score")
        rows = [figures.bars(side.weights, [f"key {j}" for j in range(N_KEY)],
                             title=f"Weights of query {self.query}, scores {name}")
                for name, side in sides.items()]
        return figures.side_by_side([spread, *rows])

    def _side(self, scale):
        q, k = (vectors[..., :self.d] for vectors in draws())
        s = scores(q, k, scale=scale)[:, 0]  # (n_query, n_key)
        logs = log_softmax(s[self.query])
        p = np.exp(logs)
        derivative = np.diag(p) - np.outer(p, p)
        return Side(s, p, -(p @ logs), np.abs(derivative).max(),
                    softmax(s).max(axis=-1).mean())


@cache
def draws():
    """Return queries (n_query, 1, d) and keys (n_query, n_key, d) with all 512 features."""
    vectors = normals(N_QUERY * (1 + N_KEY) * D_MOST).reshape(N_QUERY, 1 + N_KEY, D_MOST)
    vectors.flags.writeable = False
    return vectors[:, :1], vectors[:, 1:]


def normals(size):
    """Return ``size`` standard normal numbers, the same on every machine and in JavaScript.

    Box and Muller (1958) make two of them from two uniform ones: the counters 0, 1, 2, … after
    steps of 2654435769 (Knuth's multiplicative hashing) and the last step of MurmurHash3, which
    mixes the bits.
    """
    bits = _mixed(np.arange(size + size % 2, dtype=np.uint32) * np.uint32(2654435769))
    first, second = ((bits + 0.5) / 2**32).reshape(-1, 2).T
    radius, angle = np.sqrt(-2 * np.log(first)), 2 * np.pi * second
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).ravel()[:size]


def _mixed(bits):
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        bits = (bits ^ (bits >> np.uint32(shift))) * np.uint32(factor)
    return bits ^ (bits >> np.uint32(16))
