"""Attention tile by tile: exact, without ever holding all the scores at once."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import cache, partial

import numpy as np

from attention_book.dot_products import quiet
from attention_book.single_head import attention
from attention_book.validation import (
    check_attention_mask,
    check_count,
    check_flag,
    check_queries_keys_values,
    check_scale,
    working_type,
)

SCORES_PER_WORKER = 2**20  # starting a thread pays off for about as many
KEYS_AT_ONCE = 1024  # in looking at all of them
_turn = threading.Lock()


def chunked_attention(q, k, v, *, causal=False, mask=None, scale=None,
                      query_chunk=1024, key_chunk=256, workers=None):
    r"""Compute :func:`attention` in tiles, a few scores at a time, by the online softmax.

    .. math:: \begin{aligned}
        m' &= \max(m, \max_j s_j), & \ell' &= e^{m - m'} \ell + \sum_j e^{s_j - m'}, \\
        o' &= e^{m - m'} o + \sum_j e^{s_j - m'} v_j, & \text{result} &= o / \ell
        \end{aligned}

    Parameters
    ----------
    q : array_like, (..., n_query, d_head)
        Queries.
    k : array_like, (..., n_key, d_head)
        Keys. Leading axes broadcast, without a copy.
    v : array_like, (..., n_key, d_value)
        Values, one for each key.
    causal : bool
        Whether a query attends to itself and what is before it alone, as in :func:`causal_mask`:
        the queries are the last ``n_query`` positions. Tiles in the future are left out.
    mask : array_like of bool, broadcasts to (..., n_query, n_key), optional
        True where a query may attend to a key. With ``causal``, both must allow it.
    scale : float, optional
        Factor for the scores; ``d_head**-0.5`` if not given.
    query_chunk, key_chunk : int
        How many queries and keys meet in a tile. The result depends on it by rounding alone.
    workers : int, optional
        How many threads share the work; the number of processors if not given. The result does
        not depend on it. Where no thread can be started there is one worker.

    Returns
    -------
    ndarray, (..., n_query, d_value)
        What :func:`attention` returns, within rounding, in the inputs' floating type.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above.

    Notes
    -----
    Beside the result, each worker holds one tile of scores and a few rows. The online softmax is
    that of Milakov and Gimelshein (2018); Rabe and Staats (2021) and Dao et al. (2022) describe
    attention by tiles. Calls from several threads take turns.

    Examples
    --------
    >>> import numpy as np
    >>> q = np.array([[0.0, 8.0]])
    >>> k = np.array([[9.0, 0.0], [0.0, 9.0], [9.0, 0.0]])
    >>> v = np.array([[1.0, 2.0], [4.0, 5.0], [7.0, 8.0]])
    >>> chunked_attention(q, k, v, key_chunk=2).round(3).tolist()
    [[4.0, 5.0]]
    """
    q, k, v = check_queries_keys_values(q, k, v)
    scale = check_scale(scale, q.shape[-1], working_type(v.dtype))
    causal = check_flag("causal", causal)
    mask = None if mask is None else check_attention_mask(mask, q, k, v)
    query_chunk, key_chunk, workers = _check_counts(query_chunk, key_chunk, workers)
    leading = np.broadcast_shapes(*(x.shape[:-2] for x in (q, k, v, mask) if x is not None))
    n_query, n_key = q.shape[-2], k.shape[-2]
    result = np.empty((*leading, n_query, v.shape[-1]), v.dtype)
    mask = None if mask is None else np.broadcast_to(mask, (*leading, n_query, n_key))

    def attend(head, start):
        """Fill in the result for some queries of one head."""
        rows = slice(start, start + query_chunk)
        past = start + n_key - n_query if causal else None
        seen = None if mask is None else mask[head][rows]
        result[head][rows] = _attend(q[head][rows], k[head], v[head], scale, reach[head], past,
                                     seen, key_chunk)

    with _crew(min(workers, 1 + result[..., :1].size * n_key // SCORES_PER_WORKER)) as share:
        reach = _longest_reach(k, v, share)
        q, k, v, reach = (np.broadcast_to(x, leading + x.shape[-2:]) for x in (q, k, v, reach))
        starts = reversed(range(0, n_query, query_chunk))  # the last have the most to do
        share(attend, [(head, start) for start in starts for head in np.ndindex(leading)])
    return result


def _check_counts(query_chunk, key_chunk, workers):
    query_chunk = check_count("query_chunk", query_chunk, least=1)
    key_chunk = check_count("key_chunk", key_chunk, least=1)
    if workers is not None:
        return query_chunk, key_chunk, check_count("workers", workers, least=1)
    usable = hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0))
    return query_chunk, key_chunk, usable or os.cpu_count() or 1


def mix_tiles(q, k, v, calm, tiles, room):
    """Return the mixtures for queries that are scaled already: the online softmax.

    No exponential of a calm query's scores can overflow or underflow: its maximum is taken as 0.
    The scores of every tile are written into ``room``, (n_query, largest n_key of a tile).
    """
    n_query, dtype, all_calm = len(q), q.dtype, calm.all()
    maximum = np.where(calm, 0, np.finfo(dtype).min).astype(dtype)
    total = np.zeros(n_query, dtype)
    mixture, more = np.zeros((2, n_query, v.shape[-1]), dtype)
    ones = np.ones(room.shape[1], dtype)
    for keys, first, hidden in tiles:  # before `first` none sees them
        k_tile, v_tile = _tile(k, keys, dtype), _tile(v, keys, dtype)
        shape = n_query - first, len(k_tile)
        s = room.ravel()[:shape[0] * shape[1]].reshape(shape)
        np.matmul(q[first:], k_tile.T, out=s)
        if hidden is not None:
            np.copyto(s[:len(hidden)], -np.inf, where=hidden)
        if not all_calm:
            before = maximum[first:].copy()
            np.maximum(before, s.max(axis=-1), out=maximum[first:],
                       where=~calm[first:])
            shrink = np.exp(before - maximum[first:])
            total[first:] *= shrink
            mixture[first:] *= shrink[:, None]
            s -= maximum[first:, None]
        np.exp(s, out=s)
        total[first:] += s @ ones[:len(k_tile)]  # quicker than a sum
        mixture[first:] += np.matmul(s, v_tile, out=more[first:])
    return mixture / np.where(total == 0, 1, total)[:, None]


def _tiles(n_query, n_key, key_chunk, past, mask):
    """Give each chunk of keys, the first query that sees any, and what the next ones do not see.

    Chunks that no query sees are left out. On the diagonal, where half of a tile is hidden, chunks
    are half as large.
    """
    stop, made = 0, None
    while stop < n_key:
        start, below = stop, past is None or stop + key_chunk <= past + 1
        stop = min(start + (key_chunk if below else (key_chunk + 1) // 2), n_key)
        first = 0 if past is None else max(0, start - past)
        if first >= n_query:
            return
        hidden = None if mask is None else ~mask[first:, start:stop]
        if past is not None and past + first < stop - 1:  # the diagonal crosses this tile
            sizes = min(n_query, stop - 1 - past) - first, stop - start, past + first - start
            if sizes != made:
                made, future = sizes, ~np.tri(*sizes, dtype=bool)
            if hidden is None:
                hidden = future
            else:
                hidden[:len(future)] |= future
        if mask is None or not hidden.all():
            yield slice(start, stop), first, hidden


def _tile(x, rows, dtype):
    return np.ascontiguousarray(x[rows], dtype)


@quiet
def _attend(q, k, v, scale, reach, past, mask, key_chunk):
    """Return the result for some queries: what each gets depends on what it sees alone."""
    tiles = partial(_tiles, len(q), len(k), key_chunk, past, mask)
    scaled = np.multiply(q, reach.dtype.type(scale), dtype=reach.dtype)
    calm, safe = _look_ahead(scaled, k, v, reach, tiles)
    if 0 < abs(scale) < np.finfo(reach.dtype).tiny:  # scaling cost digits
        safe = np.zeros_like(safe)
    values = v
    if not np.isfinite(reach[1, 0]):  # 0 times NaN would be NaN
        values = np.where(np.isfinite(_reach(k, v, len(k), reach.dtype)[1])[:, None], v, 0)
    room = np.empty((len(q), min(key_chunk, len(k))), scaled.dtype)
    result = mix_tiles(scaled, k, values, calm, tiles(), room).astype(v.dtype, copy=False)

    step = max(1, len(q) * key_chunk // max(1, len(k)))  # as many scores as a tile has
    for start in range(0, 0 if safe.all() else len(q), step):
        rows = slice(start, start + step)
        if not safe[rows].all():
            seen = np.ones((1, 1), bool) if mask is None else mask[rows]
            if past is not None:
                seen = seen & (np.arange(len(k)) <= past + np.arange(len(q))[rows, None])
            dense = attention(q[rows], k, v, mask=seen, scale=scale)
            result[rows] = np.where(safe[rows, None], result[rows], dense)
    return result


def _look_ahead(q, k, v, reach, tiles):
    """Say of each query whether it is calm, and whether its scores and mixtures surely fit."""
    info = np.finfo(q.dtype)
    bounds = np.array([[info.maxexp * np.log(2) / 3], [info.max / 8]], q.dtype)
    lengths, farthest = _lengths(q), reach
    if not lengths.max(initial=0) * reach[0, 0] <= bounds[0, 0]:  # look at what each query sees
        farthest = np.zeros((2, len(q)), q.dtype)
        for keys, first, hidden in tiles():
            tile = _reach(k[keys], v[keys], len(k), q.dtype)[:, None]  # (2, 1, n_key of the tile)
            partly = first + (0 if hidden is None else len(hidden))
            if hidden is not None:
                seen = np.where(hidden, 0, tile).max(axis=-1)
                farthest[:, first:partly] = np.maximum(farthest[:, first:partly], seen)
            farthest[:, partly:] = np.maximum(farthest[:, partly:], tile.max(axis=-1))
    calm, safe = lengths * farthest <= bounds
    return calm, safe


def _longest_reach(k, v, share):
    """Return the largest reach of any key, (..., 2, 1), for each head of keys and values."""
    leading, n_key = np.broadcast_shapes(k.shape[:-2], v.shape[:-2]), k.shape[-2]
    k, v = (np.broadcast_to(x, leading + x.shape[-2:]) for x in (k, v))
    longest = np.zeros((*leading, 2, 1), working_type(v.dtype))

    def look_at(*head):
        """Look at the keys and values of one head."""
        for start in range(0, n_key, KEYS_AT_ONCE):
            keys = slice(start, start + KEYS_AT_ONCE)
            reach = _reach(k[head][keys], v[head][keys], n_key, longest.dtype)
            longest[head] = np.maximum(longest[head], reach.max(axis=-1, keepdims=True))

    share(look_at, np.ndindex(leading))
    return longest


@quiet
def _reach(k, v, n_key, dtype):
    """Return how far each key's scores may lie from 0, for a query of length 1, (2, n).

    By the Cauchy–Schwarz inequality that is the key's length. It is infinite where the key's
    values do not suit: first a calm query, then any sum over ``n_key`` exponentials up to 1.
    """
    info, lengths = np.finfo(dtype), _lengths(k.astype(dtype, copy=False))
    sizes = np.abs(v.astype(dtype, copy=False))
    low, high = np.ldexp(dtype.type(1), [-info.maxexp // 2, info.maxexp // 3])
    smallest, largest = sizes.min(initial=high), sizes.max(initial=low)
    if not low <= smallest <= largest <= high:  # look at each key
        smallest = np.where(sizes == 0, high, sizes).min(axis=-1, initial=high)
        largest = sizes.max(axis=-1, initial=0)
    suits = (smallest >= low) & (largest <= high), largest <= info.max / (2 * n_key)
    return np.stack([np.where(good & (lengths < np.inf), lengths, np.inf) for good in suits])


def _lengths(x):
    """Return the length of every row; 0 or infinity where the squares leave the type."""
    return np.sqrt(np.einsum("ij,ij->i", x, x))


@contextmanager
def _crew(workers):
    """Give a function that does some work for all of a list of tasks, by so many threads.

    Where there are none, the caller's own does it all. Matrix products are held to one thread.
    """
    with one_blas_thread():
        if workers > 1 and _threads_start():
            with ThreadPoolExecutor(workers) as pool:
                yield lambda work, tasks: list(pool.map(lambda task: work(*task), tasks))
        else:
            yield lambda work, tasks: [work(*task) for task in tasks]


@contextmanager
def one_blas_thread():
    """Hold matrix products to one thread each: small ones are faster so."""
    blas = _blas()
    with _turn, blas.limit(limits=1, user_api="blas") if blas else nullcontext():
        yield


@cache
def _threads_start():
    """Say whether threads exist here: in the browser they do not."""
    try:
        thread = threading.Thread(target=int)
        thread.start()
    except RuntimeError:
        return False
    thread.join()
    return True


@cache
def _blas():
    """Return what sets the number of threads of NumPy's matrix products, if it is installed."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController()

