"""Attention tile by tile: the online softmax walks over the scores, and forgets them."""

import numpy as np

from attention_book import (
    attention,
    causal_mask,
    chunked_attention,
    figures,
    log_sum_exp,
    scores,
)
from attention_book.explorables.base import Explorable
from attention_book.explorables.traits import count, count_of, fixed, flag

N, D = 16, 2
Q, K, V = (np.random.default_rng(5).normal(size=(3, N, D)) * 1.6).round(1).tolist()


class Tiles(Explorable):
    """One head over 16 tokens, in tiles: each block of queries walks along the keys.

    Attributes
    ----------
    query_chunk, key_chunk : int
        How many queries and keys meet in a tile: 4, 2 or 8.
    causal : bool
        Whether a query attends to itself and what is before it alone.
    step : int
        How many tiles have been computed; more than there are count as all.
    row : int
        The query whose running values are shown, from 0 to 15.
    tiles : list of tuple
        First query and first key of each tile that is computed, in order.
    scores : ndarray, (16, 16)
        All of them. The figure holds those of one tile at a time.
    maximum, total : float
        The chosen row's running maximum, and its sum of exponentials.
    accumulator : ndarray, (2,)
        Its sum of exponentials times values.
    output : ndarray, (2,)
        Its result once all tiles are done: accumulator / total.
    held : int
        Numbers held in this step beside inputs and result: a tile of scores, and maximum, sum and
        accumulator of each of its rows.
    """

    kind = "tiles"
    caption = ("Step through the tiles, and choose a row: three running values stand for all of "
               "its scores so far. One tile of scores is held; tiles in the future are skipped.")
    query_chunk = count_of(4, 2, 8)
    key_chunk = count_of(4, 2, 8)
    causal = flag(True)
    step = count(9, least=0, most=(N // 2) ** 2)
    row = count(12, least=0, most=N - 1)
    q, k, v = fixed(Q), fixed(K), fixed(V)

    @property
    def tiles(self):
        return [(first, key) for first in range(0, N, self.query_chunk)
                for key in range(0, N, self.key_chunk)
                if not self.causal or key < first + self.query_chunk]

    @property
    def scores(self):
        return scores(Q, K)

    @property
    def maximum(self):
        return float(self._seen.max(initial=-np.inf))

    @property
    def total(self):
        return float(np.exp(log_sum_exp(self._seen) - self.maximum)) if self._seen.size else 0.0

    @property
    def accumulator(self):
        n = self._seen.size
        return self.total * attention([Q[self.row]], K[:n], V[:n])[0] if n else np.zeros(D)

    @property
    def output(self):
        return chunked_attention(Q, K, V, causal=self.causal, query_chunk=self.query_chunk,
                                 key_chunk=self.key_chunk)[self.row]

    @property
    def held(self):
        per_row = self.key_chunk + 2 + D  # a row of the tile; maximum, sum and accumulator
        return self.query_chunk * per_row if self.step else 0

    def picture(self):
        """Return the scores, and which tiles of them are computed."""
        n, size = N // self.query_chunk, (self.query_chunk, self.key_chunk)
        mask = causal_mask(N) if self.causal else np.ones((N, N), bool)
        share = mask.reshape(n, size[0], -1, size[1]).mean(axis=(1, 3))
        rows, columns = ([f"{i}–{i + chunk - 1}" for i in range(0, N, chunk)] for chunk in size)
        return figures.matrices([
            {"values": self.scores, "kind": "scores", "mask": mask, "title": "All scores: 256"},
            {"values": share, "mask": share > 0, "rows": rows, "columns": columns,
             "title": f"Tiles: {np.sum(share > 0)} of {share.size} are computed "
             "(share visible)"},
        ])

    @property
    def _seen(self):
        """The chosen row's scores in the tiles that are done."""
        first = self.row - self.row % self.query_chunk
        done = [key for block, key in self.tiles[:self.step] if block == first]
        stop = len(done) * self.key_chunk
        return self.scores[self.row, :min(stop, self.row + 1) if self.causal else stop]
