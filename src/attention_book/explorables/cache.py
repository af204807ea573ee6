"""Decoding token by token: what a step computes and reads, with a cache and without."""

import numpy as np

from attention_book import KVCache, attention, causal_mask, figures, repeat_kv, split_heads
from attention_book.explorables.base import Explorable
from attention_book.explorables.traits import count, count_of, fixed, flag

TOKENS = ["Mia", "fed", "the", "cat", "so", "it", "sat", "down"]
N, N_HEADS, D_HEAD = len(TOKENS), 4, 2
X = [[0.0, 0.2, -0.2, -0.7], [-0.4, -0.8, 0.0, 1.1], [-0.4, -0.5, 0.4, 0.3],
     [0.1, -0.7, 0.0, 0.6], [-1.1, -0.4, -1.5, -1.0], [-1.5, -0.2, -1.0, 0.2],
     [0.1, -0.1, -2.0, -0.4], [0.0, 0.1, -1.2, -0.4]]
WQ = [[-0.9, -0.7, 1.0, -0.7, 0.0, 0.8, -0.5, -0.1], [0.1, 0.1, -1.1, 0.1, 1.2, -1.4, 0.8, 0.1],
      [-0.6, 1.8, 0.7, -1.1, 0.1, 0.5, -0.2, 0.6], [-0.1, 0.6, 1.3, -0.6, 0.2, -0.4, 0.1, -1.1]]
WK = [[-0.5, -0.2, 0.8, 1.0, -1.2, -0.7, 0.6, -1.8], [-0.4, -0.1, 1.1, 0.6, -0.3, -0.3, -0.2, 1.4],
      [-0.4, -0.3, 0.3, -0.1, -0.2, -1.0, 0.0, -0.4], [1.0, 0.6, 0.0, 0.6, -0.3, 0.9, 0.0, 0.5]]
WV = [[-1.2, 0.3, -1.5, -1.8, -0.3, -0.8, 0.1, 2.0], [-0.7, -0.6, 0.2, 0.4, -0.2, -0.2, 0.6, 0.5],
      [-0.9, -0.1, 0.0, -0.9, 0.2, -0.8, 0.9, 0.2], [0.1, -0.5, -0.1, -1.8, -1.0, 0.3, -1.9, 0.8]]


class Cache(Explorable):
    """A layer of four heads of two features that reads eight tokens, one at a step.

    With fewer key and value heads, only the first columns of their weights are used.

    Attributes
    ----------
    step : int
        How many tokens have been read, from 1 to 8.
    cached : bool
        Whether keys and values of earlier tokens are kept.
    n_kv_heads : int
        4, 2 or 1 heads of keys and values.
    head : int
        Whose weights are shown, from 0 to 3.
    weights : ndarray, (4, step, step)
        Of every head, for all the tokens so far.
    kv : KVCache
        The cache after this step, in float32.
    mixture : ndarray, (4, 2)
        What each head gives for the newest token.
    work : dict of str to ndarray, (2, 2)
        Dot products for ``"projections"`` and ``"scores"``, and ``"bytes"`` of keys and values
        that are read: in this step and in all so far, with the cache and without.
    """

    kind = "cache"
    caption = ("Step through the tokens: with a cache, a step computes one row and reads the rest. "
               "Untick it to see what is computed again, or let heads share keys and values.")
    step = count(5, least=1, most=N)
    cached = flag(True)
    n_kv_heads = count_of(4, 2, 1)
    head = count(1, least=0, most=N_HEADS - 1)
    tokens, d_head, x = fixed(TOKENS), fixed(D_HEAD), fixed(X)
    wq, wk, wv = fixed(WQ), fixed(WK), fixed(WV)

    @property
    def weights(self):
        q, k, v = self._heads(slice(0, self.step))
        n_repeats = N_HEADS // self.n_kv_heads
        return attention(q, repeat_kv(k, n_repeats), repeat_kv(v, n_repeats),
                         mask=causal_mask(self.step), return_weights=True)[1]

    @property
    def kv(self):
        cache = KVCache(self.n_kv_heads, D_HEAD, capacity=N)
        for token in range(self.step):
            _, k, v = self._heads(slice(token, token + 1))
            cache.append(k.astype(cache.dtype), v.astype(cache.dtype))
        return cache

    @property
    def mixture(self):
        q, _, _ = self._heads(slice(self.step - 1, self.step))
        keys, values = (repeat_kv(x, N_HEADS // self.n_kv_heads)
                        for x in (self.kv.keys, self.kv.values))
        return attention(q.astype(keys.dtype), keys, values)[:, 0]

    @property
    def work(self):
        t = np.arange(1, self.step + 1)  # tokens at each step so far
        projections = (N_HEADS + 2 * self.n_kv_heads) * D_HEAD
        counts = {"projections": (projections + 0 * t, projections * t),
                  "scores": (N_HEADS * t, N_HEADS * t * (t + 1) // 2),
                  "bytes": (self.kv.keys.nbytes // self.step * 2 * t, 0 * t)}
        return {name: np.array([[one[-1] for one in pair], [one.sum() for one in pair]])
                for name, pair in counts.items()}

    def picture(self):
        """Return the weights so far, and the work of all eight steps."""
        seen, steps = TOKENS[:self.step], np.arange(1, N + 1)
        weights = figures.matrix(self.weights[self.head], mask=causal_mask(self.step), rows=seen,
                                 columns=seen, title=f"Weights of head {self.head}: "
                                 "with a cache, only the last row is computed")
        scores = figures.lines(
            steps, {"without": N_HEADS * steps * (steps + 1) // 2, "with a cache": N_HEADS * steps},
            title="Scores of one step", xlabel="tokens so far", ylabel="dot products", width=400)
        return figures.side_by_side([weights, scores])

    def _heads(self, tokens):
        """Return queries, keys and values of some tokens, head by head."""
        x, columns = np.array(X)[tokens], self.n_kv_heads * D_HEAD
        q = split_heads(x @ WQ, N_HEADS)
        return q, *(split_heads(x @ np.array(w)[:, :columns], self.n_kv_heads) for w in (WK, WV))
