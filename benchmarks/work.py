"""What is measured: chunked attention, decoding with the cache, and what each is compared with."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from attention_book import KVCache, attention, causal_mask, chunked_attention, multi_head_attention

N_HEADS, D_HEAD = 8, 64
D_MODEL = N_HEADS * D_HEAD


def tokens(rng, *shape):
    return rng.standard_normal(shape, dtype=np.float32)


def heads(rng, n):
    """Queries, keys and values of all heads."""
    return [tokens(rng, N_HEADS, n, D_HEAD) for _ in range(3)]


def layer(rng):
    """The four weight matrices of one layer, which keep numbers of about their size."""
    return [tokens(rng, D_MODEL, D_MODEL) / np.float32(D_MODEL**0.5) for _ in range(4)]


def chunked(q, k, v, threads):
    return partial(chunked_attention, q, k, v, causal=True, workers=threads)


def dense(q, k, v):
    """One head after the other, every score at once."""
    mask = causal_mask(q.shape[1])

    def call():
        return np.stack([attention(*head, mask=mask) for head in zip(q, k, v, strict=True)])

    return call


def products(q, k, v, threads, rows=512, exponentials=False):
    """The matrix products that causal attention needs, and nothing else, by so many threads.

    With ``exponentials``, those of all scores as well.
    """
    def one_tile(task):
        head, start = task
        stop = start + rows
        s = q[head, start:stop] @ k[head, :stop].T
        if exponentials:
            s *= np.float32(0.01)  # no exponential overflows
            np.exp(s, out=s)
        return s @ v[head, :stop]

    tasks = [(head, start) for start in range(0, q.shape[1], rows) for head in range(len(q))]

    def call():
        with threadpool_limits(limits=1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
            return list(pool.map(one_tile, tasks[::-1]))

    return call


def fused(q, k, v, threads):
    """PyTorch's kernel on the same numbers."""
    import torch

    torch.set_num_threads(threads)
    arrays = [torch.from_numpy(array)[None] for array in (q, k, v)]

    def call():
        with torch.no_grad():
            return torch.nn.functional.scaled_dot_product_attention(*arrays, is_causal=True)

    return call


def filled(rng, past, capacity):
    """A cache with so many positions, of all heads."""
    cache = KVCache(N_HEADS, D_HEAD, capacity=capacity)
    cache.append(tokens(rng, N_HEADS, past, D_HEAD), tokens(rng, N_HEADS, past, D_HEAD))
    return cache


def two_products(rng, cache):
    """The matrix-vector products of one step: with the keys, and with the values."""
    q, k, v = heads(rng, 1)
    keys, values = cache.append(k, v)  # these views outlive the truncation
    cache.truncate(len(cache) - 1)
    weights = np.full((N_HEADS, 1, keys.shape[-2]), 1 / keys.shape[-2], np.float32)

    def call():
        return q @ keys.swapaxes(-1, -2), weights @ values

    return call


def decode(rng, past):
    """One step of all heads with the cache, and the two products that it cannot do without."""
    cache = filled(rng, past, past + 1)
    products = two_products(rng, cache)
    q, k, v = heads(rng, 1)

    def step():
        keys, values = cache.append(k, v)
        mixtures = attention(q, keys, values)
        cache.truncate(past)
        return mixtures

    return step, products


def whole_step(rng, past):
    """One step of a whole layer, with its projections, and its matrix products alone."""
    cache = filled(rng, past, past + 1)
    products = two_products(rng, cache)
    x, weights = tokens(rng, 1, D_MODEL), layer(rng)

    def step():
        row = multi_head_attention(x, *weights, n_heads=N_HEADS, cache=cache)
        cache.truncate(past)
        return row

    def six_products():
        return [x @ w for w in weights], products()

    return step, six_products


def generate(x, weights, cached):
    """Feed a layer's rows back to it, one token at a time: with a cache, or all anew each time."""
    run = partial(multi_head_attention, n_heads=N_HEADS)
    cache = KVCache(N_HEADS, D_HEAD, capacity=len(x)) if cached else None
    for i in range(len(x) - 1):
        if cached:
            row = run(x[i:i + 1], *weights, cache=cache)
        else:
            row = run(x[:i + 1], *weights, mask=causal_mask(i + 1))[-1:]
        x[i + 1:i + 2] = row / np.abs(row).max()
    return x


def generation(rng, n):
    """``n`` tokens with a cache and without: two calls that give the same rows."""
    weights, first = layer(rng), tokens(rng, 1, D_MODEL)

    def start():
        x = np.zeros((n, D_MODEL), np.float32)
        x[:1] = first
        return x

    return tuple(lambda cached=cached: generate(start(), weights, cached)
                 for cached in (True, False))
