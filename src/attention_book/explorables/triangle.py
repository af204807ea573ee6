"""Scores, mask and weights beside each other, and a probe that changes one token."""

import numpy as np

from attention_book import (
    attention,
    causal_mask,
    figures,
    padding_mask,
    scores,
    sliding_window_mask,
)
from attention_book.explorables.base import Explorable
from attention_book.explorables.traits import count, fixed, flag, one_of

TOKENS = ["Mia", "fed", "the", "cat", "and", "left"]
N = len(TOKENS)
Q = [[1.2, -0.4], [-0.6, 2.0], [0.8, 0.9], [-1.5, 0.7], [2.1, 0.3], [0.5, -1.8]]
K = [[0.9, 1.6], [-1.1, 0.4], [0.3, -0.8], [1.7, -1.2], [-0.5, 2.2], [1.4, 0.6]]
V = [[1.0, -0.5], [-2.0, 1.5], [0.5, 2.0], [3.0, -1.0], [-1.5, -2.5], [2.0, 0.5]]


class Triangle(Explorable):
    """Which of six tokens may attend to which, and what a changed token does to the outputs.

    Attributes
    ----------
    rule : str
        ``"causal"``, ``"window"`` or ``"none"``.
    window : int
        How many keys a query sees at most where the rule is ``"window"``, from 1 to 6.
    n_query : int
        How many queries there are, from 1 to 6: they are the last positions.
    length : int
        How many of the keys are real, from 0 to 6; the rest is padding.
    probe : int
        The token that the probe is about, from 0 to 5.
    changed : bool
        Whether its key and its value have been changed: both have their signs turned.
    query, key : int
        The position of the query and of the key that are lit, from 0 to 5.
    mask, scores, weights : ndarray, (n_query, 6)
        As shown.
    outputs : ndarray, (n_query, 2)
        The mixtures.
    moved : ndarray, (n_query,)
        By how much the change has moved each output, in its largest entry.
    """

    kind = "triangle"
    caption = ("Choose what is hidden, then change a token: only outputs of queries that may "
               "attend to it move. Point at a cell, or walk by arrow keys: it is lit in all three.")
    rule = one_of("causal", "window", "none")
    window = count(3, least=1, most=N)
    n_query = count(N, least=1, most=N)
    length = count(N, least=0, most=N)
    probe = count(4, least=0, most=N - 1)
    changed = flag(False)
    query = count(3, least=0, most=N - 1)
    key = count(1, least=0, most=N - 1)
    tokens, q, k, v = fixed(TOKENS), fixed(Q), fixed(K), fixed(V)

    @property
    def mask(self):
        real = padding_mask(self.length, N)  # (1, n_key)
        if self.rule == "none":
            return np.broadcast_to(real, (self.n_query, N))
        if self.rule == "window":
            return real & sliding_window_mask(self.n_query, N, window=self.window)
        return real & causal_mask(self.n_query, N)

    @property
    def scores(self):
        return scores(*self._vectors(self.changed)[:2])

    @property
    def weights(self):
        return self._attend(self.changed, return_weights=True)[1]

    @property
    def outputs(self):
        return self._attend(self.changed)

    @property
    def moved(self):
        return np.abs(self.outputs - self._attend(False)).max(axis=-1)

    def picture(self):
        """Return scores, mask and weights."""
        named = {"rows": TOKENS[N - self.n_query:], "columns": TOKENS}
        return figures.matrices([
            {"values": self.scores, "kind": "scores", "title": "Scores"} | named,
            {"values": self.mask, "title": "Mask"} | named,
            {"values": self.weights, "mask": self.mask, "title": "Weights"} | named,
        ])

    def _attend(self, changed, **options):
        return attention(*self._vectors(changed), mask=self.mask, **options)

    def _vectors(self, changed):
        sign = np.ones((N, 1))
        sign[self.probe] = -1 if changed else 1
        return np.array(Q)[N - self.n_query:], K * sign, V * sign
