"""The exercises on attention in chunks of keys, without and with the causal mask."""
# ruff: noqa: E741 - l is the chapter's name for the running sum

import math

import numpy as np

import attention_book
from attention_book.chunked import chunked_attention, mix_tiles
from attention_book.exercises.building_blocks import in_float32, softmax, unstable_softmax
from attention_book.exercises.model import Case, Example, Exercise, Mistake
from attention_book.exercises.running_totals import (
    AXIS_NOT_KEPT,
    WRONG_AXIS,
    kept,
    step,
)
from attention_book.exercises.stages import Stage, sets

CHAPTER = "08_chunked_attention"

_rng = np.random.default_rng(88)
_LN2 = math.log(2)
_TOTALS, _SCALE, _LAST = "the totals over the chunks", "the scale", "the last, shorter chunk"
_SHIFT, _ROWS, _START = "the running maximum", "one maximum for each query", "the start"
_STORED = "what is stored on the way"
_MASK, _HIDDEN_CHUNKS = "the mask inside a chunk", "chunks that are hidden entirely"


def _draw(*shape, size=1.0):
    return (size * _rng.normal(size=shape)).round(3)


def _arguments(n_query, n_key, d_head, d_value):
    return _draw(n_query, d_head), _draw(n_key, d_head), _draw(n_key, d_value)


def _stored(args, allowed=7.0, note=""):
    """Return the case that measures memory: so many bytes for each pair of query and key.

    By default a little less than one table of float64 takes. It is small, so that a loop over
    single numbers is in time while its memory is watched.
    """
    n_query, n_key, chunk = len(args[0]), len(args[1]), args[3]
    note = note or f"{n_query} queries and {n_key} keys in chunks of {chunk}"
    return Case(args, note, _STORED, memory=int(allowed * n_query * n_key))


def _stored_in_growth(n, chunk, allowed):
    """Return the case that measures how memory grows, in bytes for each pair that twice n adds.

    A table of booleans, one byte a pair, takes less at this size than an array or a dict for each
    query, which are allowed. What tells them apart is that the table grows with the square.
    """
    half, whole = _same(n, 2, 1, chunk), _same(2 * n, 2, 1, chunk)
    note = f"{2 * n} tokens in chunks of {chunk}"
    return Case(whole, note, _STORED, memory=int(allowed * 2 * n**2), half=half)


def _lifted(queries, keys, d_value=2):
    """Return arguments whose scores are gentle ones plus queries[i] · keys[j], exact in float32."""
    q, k = ((4 * _rng.normal(size=(len(each), 16))).round() / 4 for each in (queries, keys))
    q[:, 0], k[:, 0] = 4 * np.array(queries), keys
    return q, k, _draw(len(keys), d_value)


def _scaled(q, k):
    return q @ k.T * q.shape[1] ** -0.5


def _pieces(n_key, chunk):
    """Return where each chunk begins and ends; the last may be shorter."""
    return [(first, min(first + chunk, n_key)) for first in range(0, n_key, chunk)]


def _whole_pieces(n_key, chunk):
    return [(i * chunk, (i + 1) * chunk) for i in range(n_key // chunk)]


def _in_chunks(stepped=None, pieces=_pieces, score=_scaled, start=-np.inf, hide=None,
               finish=lambda l, acc: acc / l[:, None]):
    """Return attention by the online softmax, with one of its parts changed.

    ``hide(i, j, chunk)`` says of query i and key j whether the key is hidden.
    """
    stepped = stepped or step()

    def attend(q, k, v, chunk):
        m, l, acc = np.full(len(q), start), np.zeros(len(q)), np.zeros((len(q), v.shape[1]))
        for first, stop in pieces(len(k), chunk):
            s = score(q, k[first:stop])
            if hide:
                i, j = np.arange(len(q))[:, None], np.arange(first, stop)
                s = np.where(hide(i, j, chunk), -np.inf, s)
            m, l, acc = stepped(m, l, acc, s, v[first:stop])
        return finish(l, acc)

    return attend


def _row_by_row(attend):
    """Return attention that hands over one query at a time."""
    return lambda q, k, v, chunk: np.concatenate(
        [attend(q[i: i + 1], k, v, chunk) for i in range(len(q))])


def _of_each_chunk(join, attend=lambda q, k, v: softmax(_scaled(q, k)) @ v, pieces=_pieces):
    """Return attention to each chunk alone, the mixtures joined by ``join(mixtures, sizes)``."""
    def joined(q, k, v, chunk):
        found = pieces(len(k), chunk)
        return join([attend(q, k[first:stop], v[first:stop]) for first, stop in found],
                    [stop - first for first, stop in found])

    return joined


def _in_pairs(q, k, v, chunk):
    """Let each block of queries attend to the chunk of keys of the same number alone."""
    out = np.zeros((len(q), v.shape[1]))
    for first, stop in _pieces(len(k), chunk):
        if len(q[first:stop]):
            out[first:stop] = softmax(_scaled(q[first:stop], k[first:stop])) @ v[first:stop]
    return out


def _own(m, new, scores):
    return scores.max(axis=1)


def _no_shift(m, new, scores):
    return np.zeros_like(new)


def _up(m, new):
    return np.where(np.isfinite(m), np.exp(new - m), 0)  # the start was thought of


def _best_so_far(m, l, acc, scores, v):
    better = scores.max(axis=1) > m
    return (np.maximum(m, scores.max(axis=1)), l,
            np.where(better[:, None], v[scores.argmax(axis=1)], acc))


def _running_mean(q, k, v, chunk):
    out = 0
    for first, stop in _pieces(len(k), chunk):
        mixture = softmax(_scaled(q, k[first:stop])) @ v[first:stop]
        out = mixture if first == 0 else (out + mixture) / 2
    return out


def _without_last(n_key, chunk):
    return [(first, first + chunk) for first in range(0, n_key - chunk, chunk)]


def _counting_queries(q, k, v, chunk):
    """Stop where the queries end, not the keys."""
    def pieces(n_key, chunk):
        return [(first, min(first + chunk, n_key)) for first in range(0, len(q), chunk)]

    return _in_chunks(pieces=pieces)(q, k, v, chunk)


def _padded(q, k, v, chunk):
    more = -len(k) % chunk
    return _in_chunks()(q, np.pad(k, ((0, more), (0, 0))), np.pad(v, ((0, more), (0, 0))), chunk)


def _reshaped(q, k, v, chunk):
    out = []
    for query in q:
        m, l, acc = -np.inf, 0.0, 0.0
        for keys, values in zip(k.reshape(-1, chunk, k.shape[1]),
                                v.reshape(-1, chunk, v.shape[1]), strict=True):
            s = keys @ query / math.sqrt(len(query))
            new = max(m, s.max())
            l = l * np.exp(m - new) + np.exp(s - new).sum()
            acc = acc * np.exp(m - new) + np.exp(s - new) @ values
            m = new
        out.append(acc / l)
    return np.array(out)


def _dense(q, k, v, chunk):
    return softmax(_scaled(q, k)) @ v


def _dense_in_float32(q, k, v, chunk):
    q, k, v = (each.astype(np.float32) for each in (q, k, v))
    e = np.exp(_scaled(q, k) - _scaled(q, k).max(axis=1, keepdims=True))
    return e @ v / e.sum(axis=1, keepdims=True)


def _in_blocks(attend):
    """Return attention that hands over ``chunk`` queries at a time, and all keys."""
    return lambda q, k, v, chunk: np.concatenate(
        [attend(q[first:stop], k, v, chunk) for first, stop in _pieces(len(q), chunk)])


def _joined_scores(q, k, v, chunk):
    s = np.concatenate([_scaled(q, k[first:stop]) for first, stop in _pieces(len(k), chunk)],
                       axis=1)
    return softmax(s) @ v


def _filled_scores(q, k, v, chunk):
    s = np.empty((len(q), len(k)))
    for first, stop in _pieces(len(k), chunk):
        s[:, first:stop] = _scaled(q, k[first:stop])
    m = s.max(axis=1, keepdims=True)
    l, acc = np.zeros((len(q), 1)), np.zeros((len(q), v.shape[1]))
    for first, stop in _pieces(len(k), chunk):
        p = np.exp(s[:, first:stop] - m)
        l, acc = l + p.sum(axis=1, keepdims=True), acc + p @ v[first:stop]
    return acc / l


# --- right ways, causal or not --------------------------------------------------------------------
def _two_passes(q, k, v, chunk, visible=None):
    """Find the maxima in a first pass over the chunks, the sums in a second one."""
    def tiles():
        for first, stop in _pieces(len(k), chunk):
            s = _scaled(q, k[first:stop])
            if visible:
                s = np.where(visible(np.arange(len(q))[:, None], np.arange(first, stop)), s,
                             -np.inf)
            yield s, v[first:stop]

    m = np.full(len(q), -np.inf)
    for s, _ in tiles():
        m = np.maximum(m, s.max(axis=1))
    l, acc = np.zeros(len(q)), np.zeros((len(q), v.shape[1]))
    for s, values in tiles():
        p = np.exp(s - m[:, None])
        l += p.sum(axis=1)
        acc += p @ values
    return acc / l[:, None]


def _merged(q, k, v, chunk, visible=None):
    """Join each chunk's own mixture to the mixture so far, by their log-sum-exps."""
    out, so_far = np.zeros((len(q), v.shape[1])), np.full(len(q), -np.inf)
    for first, stop in _pieces(len(k), chunk):
        s = _scaled(q, k[first:stop])
        if visible:
            s = np.where(visible(np.arange(len(q))[:, None], np.arange(first, stop)), s, -np.inf)
        own = np.logaddexp.reduce(s, axis=1)
        both = np.logaddexp(so_far, own)
        mixture = np.exp(s - np.where(np.isfinite(own), own, 0)[:, None]) @ v[first:stop]
        out = (np.exp(so_far - both)[:, None] * out + np.exp(own - both)[:, None] * mixture)
        so_far = both
    return out


def _all_totals_kept(q, k, v, chunk):
    found = []
    for first, stop in _pieces(len(k), chunk):
        s = _scaled(q, k[first:stop])
        m = s.max(axis=1)
        p = np.exp(s - m[:, None])
        found.append((m, p.sum(axis=1), p @ v[first:stop]))
    m = np.max([each[0] for each in found], axis=0)
    l = sum(np.exp(own - m) * each for own, each, _ in found)
    return sum(np.exp(own - m)[:, None] * each for own, _, each in found) / l[:, None]


def _one_query_at_a_time(q, k, v, chunk, causal=False):
    out = np.empty((len(q), v.shape[1]))
    for i, query in enumerate(q):
        m, l, acc = -np.inf, 0.0, np.zeros(v.shape[1])
        n_key = i + 1 if causal else len(k)
        for first in range(0, n_key, chunk):
            stop = min(first + chunk, n_key)
            s = k[first:stop] @ query / math.sqrt(len(query))
            new = max(m, s.max())
            p, rescale = np.exp(s - new), math.exp(m - new)
            m, l, acc = new, l * rescale + p.sum(), acc * rescale + p @ v[first:stop]
        out[i] = acc / l
    return out


def _one_key_at_a_time(q, k, v, chunk, causal=False):
    rows = []
    for i, query in enumerate(q.tolist()):
        m, l, acc = -math.inf, 0.0, [0.0] * v.shape[1]
        for j in range(i + 1 if causal else len(k)):
            s = sum(a * b for a, b in zip(query, k[j].tolist(), strict=True)) / len(query) ** 0.5
            new = max(m, s)
            rescale, p = math.exp(m - new), math.exp(s - new)
            m, l = new, l * rescale + p
            acc = [a * rescale + p * b for a, b in zip(acc, v[j].tolist(), strict=True)]
        rows.append([a / l for a in acc])
    return rows


def _whole_rows(q, k, v, chunk):
    return [softmax(query @ k.T / math.sqrt(k.shape[1])) @ v for query in q]


def _in_tiles(q, k, v, chunk, causal=False):
    """Take the queries in blocks too, and leave out tiles that are hidden entirely."""
    out = []
    for top in range(0, len(q), chunk):
        rows = q[top: top + chunk]
        m, l, acc = np.full((len(rows), 1), -np.inf), 0, 0
        for first, stop in _pieces(len(k), chunk):
            if causal and first > top:
                break
            s = np.einsum("qd,kd->qk", rows, k[first:stop]) / np.sqrt(q.shape[1])
            if causal and first == top:
                s[~np.tri(*s.shape, dtype=bool)] = -np.inf
            new = np.maximum(m, s.max(axis=1, keepdims=True))
            p, rescale = np.exp(s - new), np.exp(m - new)
            l = l * rescale + p.sum(axis=1, keepdims=True)
            acc = acc * rescale + p @ v[first:stop]
            m = new
        out.append(acc / l)
    return np.concatenate(out)


def _solve_chunked(q, k, v, chunk):
    n_query, d_head = q.shape
    m = np.full(n_query, -np.inf)
    l = np.zeros(n_query)
    acc = np.zeros((n_query, v.shape[1]))
    for start in range(0, len(k), chunk):
        keys = slice(start, start + chunk)
        s = q @ k[keys].T * d_head**-0.5  # (n_query, chunk)
        m_new = np.maximum(m, s.max(axis=-1))
        rescale = np.exp(m - m_new)
        p = np.exp(s - m_new[:, None])
        l = l * rescale + p.sum(axis=-1)
        acc = acc * rescale[:, None] + p @ v[keys]
        m = m_new
    return acc / l[:, None]


def _reference(q, k, v, chunk, causal=False):
    rows = []
    for i, query in enumerate(q):
        n_key = i + 1 if causal else len(k)
        s = (k[:n_key] @ query) / math.sqrt(len(query))
        e = np.exp(s - s.max())
        rows.append([math.fsum(e * column) / math.fsum(e) for column in v[:n_key].T])
    return np.array(rows)


# --- the steps of both exercises, of which pairs of mistakes are made -----------------------------
def _chunk_stages(*hidden):
    """Return the steps; ``hidden`` says what each query does not see, right and wrong."""
    def pieces(rule):
        return sets("pieces", lambda t: rule)

    def score(factor):
        return sets("score", lambda t: lambda q, k: q @ k.T * factor(q, k))

    def result(*stepped, **changed):
        return sets("result", lambda t: _in_chunks(*stepped, t.pieces, t.score, hide=t.hide,
                                                   **changed)(*t.args))

    return (
        Stage(pieces(_pieces), (
            (("drops-last-chunk",), pieces(_whole_pieces)),
            (("drops-last-chunk",), pieces(_without_last)),
            (("first-chunk-only",), pieces(lambda n, chunk: _pieces(n, chunk)[:1])))),
        Stage(score(lambda q, k: q.shape[1] ** -0.5), (
            (("unscaled",), score(lambda q, k: 1)),
            (("wrong-scale",), score(lambda q, k: 1 / q.shape[1])),
            (("wrong-scale",), score(lambda q, k: len(k) ** -0.5)))),
        *hidden,
        Stage(result(step()), (
            (("not-rescaled",), result(step(old_l=kept, old_acc=kept))),
            (("not-rescaled",), result(step(old_l=kept))),
            (("not-rescaled",), result(step(old_acc=kept))),
            (("not-normalised",), result(step(), finish=lambda l, acc: acc)),
            (("no-max-shift",), result(step(lambda m, s: np.zeros_like(m), kept, kept))),
            (("global-max",), result(step(lambda m, s: np.maximum(m, s.max())))))),
    )


def _hides(rule):
    return sets("hide", lambda t: rule)


# --- mistakes that both exercises know ------------------------------------------------------------
def _common(hide=None):
    """Return the mistakes on totals, scores and chunks, for visible keys given by ``hide``."""
    def chunks(*args, **changed):
        return _in_chunks(*args, hide=hide, **changed)

    def weigh(q, k, v, score=_scaled, weights=softmax):
        s = score(q, k)
        if hide:
            s = np.where(hide(np.arange(len(q))[:, None], np.arange(len(k)), 0), -np.inf, s)
        return weights(s) @ v

    def dense(score=_scaled, weights=softmax):
        return lambda q, k, v, chunk: weigh(q, k, v, score, weights)

    def unscaled(q, k):
        return q @ k.T

    def by_d(q, k):
        return q @ k.T / q.shape[1]

    def by_root_chunk(q, k, v, chunk):
        return chunks(score=lambda q, k: q @ k.T / math.sqrt(chunk))(q, k, v, chunk)

    def by_root_n(q, k):
        return q @ k.T / math.sqrt(len(k))

    def times_root_d(q, k):
        return q @ k.T * math.sqrt(q.shape[1])

    # with hidden chunks these make nan, which is another mistake
    own_maxima = () if hide else (chunks(step(old_l=kept, old_acc=kept, shift=_own)),
                                  chunks(step(shift=_own)))
    return (
        Mistake(
            id="not-rescaled",
            seen="Terms that were made with different maxima are added up as they are.",
            question="When m rises, what do the terms that are in l and acc already come to?",
            ways=(chunks(step(old_l=kept, old_acc=kept)), chunks(step(old_l=kept)),
                  chunks(step(old_acc=kept)), *own_maxima),
            step=_SHIFT,
        ),
        Mistake(
            id="max-not-carried",
            seen="m is the maximum of the newest chunk alone; with scores far apart, the factor "
                 "for the older totals overflows, or what was in them vanishes.",
            question="If an earlier chunk held the largest score, what should m be now?",
            ways=(chunks(step(lambda m, scores: scores.max(axis=1))),
                  chunks(step(lambda m, scores: scores.max(axis=1)),
                         finish=lambda l, acc: np.nan_to_num(acc / l[:, None]))),
            step=_SHIFT,
        ),
        Mistake(
            id="no-max-shift",
            seen="Gentle scores come out right, but the exponential of a large score overflows.",
            question="Which number is taken from the scores before their exponential?",
            ways=(chunks(step(lambda m, s: np.zeros_like(m), kept, kept)),
                  chunks(step(shift=_no_shift, old_l=kept, old_acc=kept)),
                  dense(weights=unstable_softmax)),
            step=_SHIFT,
        ),
        Mistake(
            id="starts-at-zero",
            seen="The maximum starts at 0 or at another number that very low scores do not reach, "
                 "so that all of their exponentials vanish.",
            question="Before anything has been read, which number is below every score?",
            ways=(*(chunks(start=start) for start in (0.0, -1.0, -10.0, -100.0, -1e3, -1e4)),
                  chunks(start=0.0, finish=lambda l, acc: acc / np.where(l == 0, 1, l)[:, None]),
                  chunks(start=0.0, finish=lambda l, acc: acc / (l[:, None] + 1e-9)),
                  chunks(start=0.0, finish=lambda l, acc: np.nan_to_num(acc / l[:, None]))),
            step=_START,
        ),
        Mistake(
            id="global-max",
            seen="One maximum serves all queries, so a query with far lower scores is left with "
                 "0/0.",
            question="For the query of the lowest scores, what are its exponentials after your "
                     "shift?",
            ways=(chunks(step(lambda m, scores: np.maximum(m, scores.max()))),
                  dense(weights=lambda s: unstable_softmax(s - s.max())),
                  chunks(step(lambda m, scores: np.maximum(m, scores.max())),
                         finish=lambda l, acc: np.nan_to_num(acc / l[:, None]))),
            step=_ROWS,
        ),
        Mistake(
            id="unscaled",
            seen="The scores are the dot products as they are, without the scale.",
            question="What is the standard deviation of a sum of d_head products?",
            ways=(chunks(score=unscaled), dense(unscaled)),
            step=_SCALE,
        ),
        Mistake(
            id="wrong-scale",
            seen="The scores are scaled, by another number than d_head asks for.",
            question="Over how many features does one score sum, and what is the scale for that?",
            ways=(chunks(score=by_d), dense(by_d), chunks(score=times_root_d),
                  chunks(score=by_root_n), dense(by_root_n), by_root_chunk),
            step=_SCALE,
        ),
        Mistake(
            id="not-normalised",
            seen="The division by l is missing, or divides by something else.",
            question="What do the weights of one query add up to in your result?",
            ways=(chunks(finish=lambda l, acc: acc),
                  chunks(finish=lambda l, acc: acc / l.sum()),
                  chunks(finish=lambda l, acc: acc / len(acc))),
            step=_TOTALS,
        ),
        Mistake(
            id="rescaled-upside-down",
            seen="The factor for the old totals is turned around: they grow where they should "
                 "shrink.",
            question="When a larger score arrives, does an old key's share go up or down?",
            ways=(chunks(step(old_l=_up, old_acc=_up)), chunks(step(old_l=_up)),
                  chunks(step(old_acc=_up))),
            step=_SHIFT,
        ),
        Mistake(
            id="best-key-only",
            seen="Each query receives the value of its best key, and nothing of the others.",
            question="With weights 0.51 and 0.49, how much of the second value should arrive?",
            ways=(dense(weights=lambda s: s == s.max(axis=1, keepdims=True)),
                  chunks(stepped=_best_so_far, finish=lambda l, acc: acc)),
            step=_TOTALS,
        ),
        Mistake(
            id="axis-not-kept",
            seen="Numbers of shape (n_query,) meet a table without an axis of length 1, so that "
                 "numpy lines them up with the columns; where that does not fit, it raises an "
                 "error.",
            question="With which axis of (n_query, d_value) does numpy line up an array of shape "
                     "(n_query,)?",
            ways=(chunks(finish=lambda l, acc: acc / l),
                  *(chunks(stepped, finish=finish) for stepped in AXIS_NOT_KEPT for finish in (
                      lambda l, acc: acc / l[:, None], lambda l, acc: acc / l))),
            step=_TOTALS,
        ),
        Mistake(
            id="wrong-axis",
            seen="A maximum or a sum runs over the queries, not over the keys of the chunk.",
            question="Which axis of the scores, (n_query, chunk), should be gone from m and l?",
            ways=tuple(map(chunks, WRONG_AXIS)),
            step=_TOTALS,
        ),
        Mistake(
            id="keys-mixed",
            seen="The keys themselves are mixed; the values have no influence.",
            question="Keys decide who is looked at. What decides what is taken?",
            ways=(lambda q, k, v, chunk: chunks()(q, k, k, chunk),
                  lambda q, k, v, chunk: dense()(q, k, k, chunk)),
            step=_TOTALS,
        ),
        Mistake(
            id="keys-left-out",
            seen="A key of each chunk is never read.",
            question="Of which length is a slice from start to start + chunk − 1?",
            ways=(chunks(pieces=lambda n, chunk: [(first, max(first + 1, stop - 1))
                                                  for first, stop in _pieces(n, chunk)]),
                  chunks(pieces=lambda n, chunk: [(first, min(first + chunk - 1, n))
                                                  for first, _ in _pieces(n, chunk)]),
                  chunks(pieces=lambda n, chunk: [(first + 1, stop) for first, stop
                                                  in _pieces(n, chunk) if first + 1 < stop]),
                  chunks(pieces=lambda n, chunk: [(first, min(first + chunk, n))
                                                  for first in range(0, n, chunk + 1)])),
            step=_TOTALS,
        ),
        Mistake(
            id="keys-read-twice",
            seen="Chunks overlap: some keys are read more than once.",
            question="By how much does the start of a chunk move on, and how long is a chunk?",
            ways=(chunks(pieces=lambda n, chunk: [(first, min(first + chunk, n))
                                                  for first in range(n)]),
                  chunks(pieces=lambda n, chunk: [(first, min(first + chunk, n))
                                                  for first in range(n - chunk + 1)]),
                  chunks(pieces=lambda n, chunk: [(first, min(first + chunk + 1, n))
                                                  for first in range(0, n, chunk)]),
                  chunks(pieces=lambda n, chunk: [(0, stop) for _, stop in _pieces(n, chunk)])),
            step=_TOTALS,
        ),
        Mistake(
            id="normalised-each-chunk",
            seen="acc is divided by l after each chunk, and goes on as if it had not been.",
            question="How many divisions are needed, and when is the whole of l known?",
            ways=(chunks(lambda *args: _divided(*step()(*args)), finish=lambda l, acc: acc),
                  chunks(lambda *args: _divided(*step()(*args))),
                  chunks(lambda *args: _divided(*step()(*args), total=1))),
            step=_TOTALS,
        ),
    )


def _divided(m, l, acc, total=None):
    return m, l if total is None else np.full_like(l, total), acc / l[:, None]


# --- chunked_attention(q, k, v, chunk) ------------------------------------------------------------
_GENERAL = Case((*_arguments(3, 7, 5, 2), 2), "seven keys in chunks of two", _SCALE)
_EVEN = Case((*_arguments(5, 9, 3, 3), 3), "nine keys in chunks of three", _SCALE)
_ALL_ALIKE = Case((*_arguments(3, 9, 2, 3), 3), "as many queries as keys in a chunk", _SCALE)
_AS_MANY = Case((*_arguments(7, 7, 2, 3), 3), "as many queries as keys", _SCALE)
_LARGE = Case((*_lifted([10, 9, 8], [0, 0, 0, 100, 100, 0, 100, 0]), 2),
              "large scores, in a middle chunk first", _SHIFT)
_LARGE_FIRST = Case((*_lifted([10, 7], [100, 0, 0, 100, 0, 0, 0]), 3),
                    "large scores in the first chunk", _SHIFT)
_LOW = Case((*_lifted([10, 0, 12], [-2000] * 7), 2), "very low scores", _START)
_FAR_APART = Case((*_lifted([15, 0, -15], [100] * 7), 3), "queries whose scores lie far apart",
                  _ROWS)
_STORAGE = _stored((*_arguments(59, 167, 2, 1), 10))
# A block of as many queries with all keys is the table here; plain lists of k and v are allowed.
_ONE_BLOCK = _stored((*_arguments(23, 211, 1, 1), 23), allowed=11.0, note=_ALL_ALIKE.note)

_CHUNKED = Exercise(
    id="chunked_attention",
    chapter=CHAPTER,
    title="Without the table",
    signature="chunked_attention(q, k, v, chunk)",
    shapes="(n_query, d_head), (n_key, d_head), (n_key, d_value), a whole number → "
           "(n_query, d_value)",
    prompt="Write chunked_attention(q, k, v, chunk): what attention(q, k, v) gives, with its scale "
           "of 1/√d_head, but reading the keys and values in chunks of chunk rows. The last chunk "
           "may be shorter, and chunk may be larger than n_key. Hold the scores of one chunk at a "
           "time: the memory you need is measured, and the whole table (n_query, n_key) is too "
           "much. In the example the keys come in chunks of 2, 2 and 1. For the first query the "
           "exponentials of its scores are 1, 1, 2, 2, 2, and the values 8, 0, 2, 1, 5: it gets "
           "(8 + 0 + 4 + 2 + 10)/8 = 3. For the second all weights are equal: 16/5 = 3.2.",
    hints=("Which three things do you know of each query after some chunks, and what are they "
           "before the first?",
           "range(0, n_key, chunk) gives where the chunks begin. Inside the loop, the scores of "
           "one chunk and one step of the online softmax; you have written that step already.",
           "m starts at −inf, l and acc at zeros; each chunk updates all three, and only after the "
           "loop is acc divided by l. A slice that reaches beyond the end stops at the end by "
           "itself."),
    example=Example((np.array([[1.0], [0]]), _LN2 * np.array([[0.0], [0], [1], [1], [1]]),
                     np.array([[8.0], [0], [2], [1], [5]]), 2), [[3.0], [3.2]]),
    reference=_reference,
    stages=_chunk_stages(Stage(_hides(None), ())),
    cases=(
        Case((*_arguments(2, 6, 1, 1), 2), "six keys in chunks of two", _TOTALS),
        Case((*_arguments(2, 5, 1, 1), 2), "other numbers of the example's shapes", _LAST),
        Case((*_arguments(3, 4, 1, 2), 1), "chunks of one key", _TOTALS),
        _GENERAL,
        _EVEN,
        _AS_MANY,
        _ALL_ALIKE,
        Case((*_arguments(1, 17, 3, 5), 5), "a single query", _LAST),
        Case((*_arguments(3, 5, 2, 2), 11), "a chunk longer than all keys", _LAST),
        _LARGE,
        _LARGE_FIRST,
        _LOW,
        _FAR_APART,
        _STORAGE,
        _ONE_BLOCK,
    ),
    naming=(_GENERAL, _EVEN, _AS_MANY, _ALL_ALIKE, _LARGE, _LARGE_FIRST, _LOW, _FAR_APART,
            _STORAGE, _ONE_BLOCK),
    mistakes=(
        Mistake(
            id="drops-last-chunk",
            seen="The keys at the end are never read: the last chunk is left out.",
            question="With 7 keys in chunks of 2, where does your last chunk begin, and where "
                     "should it?",
            ways=(_in_chunks(pieces=_whole_pieces), _in_chunks(pieces=_without_last),
                  _in_chunks(pieces=lambda n, chunk: _pieces(n, chunk)[:-1]),
                  _in_chunks(pieces=lambda n, chunk: [
                      (first, first + chunk) for first in range(0, n - chunk + 1, chunk)]),
                  _row_by_row(_in_chunks(pieces=_whole_pieces)),
                  _in_chunks(pieces=lambda n, chunk: _pieces(n - 1, chunk)), _counting_queries),
            step=_LAST,
        ),
        Mistake(
            id="average-of-chunks",
            seen="Each chunk's own mixture is taken, and the mixtures are averaged or added up.",
            question="One chunk holds the keys that fit the query, the others none. Should their "
                     "mixtures count alike?",
            ways=(_of_each_chunk(lambda mixtures, sizes: sum(mixtures) / len(mixtures)),
                  _of_each_chunk(lambda mixtures, sizes: sum(mixtures)),
                  _of_each_chunk(lambda mixtures, sizes: np.average(mixtures, axis=0,
                                                                    weights=sizes)),
                  _of_each_chunk(lambda mixtures, sizes: sum(mixtures) / len(mixtures),
                                 pieces=_whole_pieces),
                  _running_mean),
            step=_TOTALS,
        ),
        Mistake(
            id="first-chunk-only",
            seen="Only the first chunk is read.",
            question="Where does your return stand: inside the loop, or after it?",
            ways=(_in_chunks(pieces=lambda n, chunk: _pieces(n, chunk)[:1]),
                  lambda q, k, v, chunk: softmax(_scaled(q, k[:chunk])) @ v[:chunk],
                  _in_chunks(pieces=lambda n, chunk: _pieces(n, chunk)[:1], score=lambda q, k:
                             q @ k.T)),
            step=_TOTALS,
        ),
        Mistake(
            id="last-chunk-only",
            seen="Only the last chunk is in the result: the totals begin anew with each chunk.",
            question="What do m, l and acc hold after a chunk, and what when the next one begins?",
            ways=(_in_chunks(pieces=lambda n, chunk: _pieces(n, chunk)[-1:]),
                  lambda q, k, v, chunk: softmax(_scaled(q, k[-chunk:])) @ v[-chunk:]),
            step=_TOTALS,
        ),
        Mistake(
            id="own-chunk-only",
            seen="Queries are cut into chunks too, and each chunk of queries meets only one of "
                 "keys.",
            question="Which keys may the first query attend to?",
            ways=(_in_pairs,
                  lambda q, k, v, chunk: np.concatenate(
                      [softmax(_scaled(q[first:stop], k[first:stop])) @ v[first:stop]
                       for first, stop in _pieces(len(q), chunk)])),
            step=_TOTALS,
        ),
        Mistake(
            id="padding-counted",
            seen="Keys and values of zeros fill up the last chunk, and they get weight.",
            question="A key of zeros has the score 0. What is the exponential of that?",
            ways=(_padded, _row_by_row(_padded)),
            step=_LAST,
        ),
        Mistake(
            id="whole-chunks-only",
            seen="The keys must fill all chunks; otherwise it raises an error.",
            question="Can 7 keys be reshaped to chunks of 2? What should happen to the last one?",
            ways=(_reshaped,
                  lambda q, k, v, chunk: _in_chunks()(
                      q, np.concatenate(np.split(k, len(k) // chunk)), v, chunk),
                  lambda q, k, v, chunk: _in_chunks()(
                      q, k.reshape(-1, chunk, k.shape[1]).reshape(k.shape), v, chunk)),
            step=_LAST,
        ),
        Mistake(
            id="full-score-matrix",
            seen="The result is right, but an array with an entry for every pair of query and key "
                 "is stored on the way.",
            question="Which of your arrays has n_query times n_key entries, and how many of them "
                     "do you need at the same time?",
            ways=(_dense, _dense_in_float32, _joined_scores, _filled_scores,
                  lambda q, k, v, chunk: attention_book.attention(q, k, v)),
            step=_STORED,
        ),
        Mistake(
            id="blocks-of-queries",
            seen="The queries are taken in blocks, and each block meets all keys at once: for few "
                 "queries and many keys, that is the whole table.",
            question="With twice as many keys, how many scores do you hold at a time?",
            ways=(_in_blocks(_dense), _in_blocks(_dense_in_float32),
                  _in_blocks(lambda q, k, v, chunk: attention_book.attention(q, k, v))),
            step=_STORED,
        ),
        *_common(),
    ),
    variants=(
        _two_passes,
        _merged,
        _one_query_at_a_time,
        _one_key_at_a_time,
        in_float32(_solve_chunked),
        _in_tiles,
        _all_totals_kept,
        _whole_rows,
        _in_chunks(pieces=lambda n, chunk: _pieces(n, chunk)[::-1]),
        _in_chunks(start=np.finfo(float).min),
        lambda q, k, v, chunk: _solve_chunked(q, k, v, chunk).tolist(),
    ),
    solution=_solve_chunked,
    package=(chunked_attention, mix_tiles),
)


# --- chunked_causal_attention(q, k, v, chunk) -----------------------------------------------------
_FINISHES = (lambda l, acc: acc / l[:, None],
             lambda l, acc: acc / np.where(l == 0, 1, l)[:, None],
             lambda l, acc: np.nan_to_num(acc / l[:, None]))


def _future(i, j, chunk):
    return j > i


def _chunk_of(positions, chunk):
    return positions // chunk


def _chunk_by_chunk(visible=lambda i, j: j <= i):
    """Return causal attention by each chunk's own maximum: 0/0 or inf − inf where all is hidden."""
    def attend(q, k, v, chunk):
        i = np.arange(len(q))[:, None]
        m, l, acc = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), v.shape[1]))
        for first, stop in _pieces(len(k), chunk):
            s = np.where(visible(i, np.arange(first, stop)), _scaled(q, k[first:stop]), -np.inf)
            own = s.max(axis=1)
            p = np.exp(s - own[:, None])
            new = np.maximum(m, own)
            old, young = np.exp(m - new), np.exp(own - new)
            l = l * old + young * p.sum(axis=1)
            acc = acc * old[:, None] + young[:, None] * (p @ v[first:stop])
            m = new
        return acc / l[:, None]

    return attend


def _merged_unguarded(q, k, v, chunk):
    out, so_far = np.zeros((len(q), v.shape[1])), np.full(len(q), -np.inf)
    for first, stop in _pieces(len(k), chunk):
        s = np.where(np.arange(first, stop) <= np.arange(len(q))[:, None],
                     _scaled(q, k[first:stop]), -np.inf)
        own = np.logaddexp.reduce(s, axis=1)
        both = np.logaddexp(so_far, own)
        out = (np.exp(so_far - both)[:, None] * out
               + np.exp(own - both)[:, None] * (softmax(s) @ v[first:stop]))
        so_far = both
    return out


def _tile_triangles(q, k, v, chunk, diagonal_only=False, skip=False):
    """Take blocks of queries and chunks of keys, each tile with a triangle of its own."""
    out = []
    for top in range(0, len(q), chunk):
        rows = q[top: top + chunk]
        m, l, acc = np.full(len(rows), -np.inf), np.zeros(len(rows)), np.zeros(
            (len(rows), v.shape[1]))
        for first, stop in _pieces(len(k), chunk):
            if skip and first > top:
                break
            s = _scaled(rows, k[first:stop])
            if not diagonal_only or first == top:
                s = np.where(np.tri(*s.shape, dtype=bool), s, -np.inf)
            m, l, acc = step()(m, l, acc, s, v[first:stop])
        out.append(acc / l[:, None])
    return np.concatenate(out)


def _masked_by(keep, fill=-np.inf, weigh=softmax):
    """Return dense causal attention: right values, the whole table."""
    return lambda q, k, v, chunk: weigh(np.where(keep(len(k)), _scaled(q, k), fill)) @ v


def _past(n):
    return np.tri(n, dtype=bool)


def _whole_mask(hidden):
    """Return chunked attention with a mask of all pairs."""
    def attend(q, k, v, chunk):
        mask = np.triu(np.full((len(q), len(k)), hidden), k=1)
        m, l, acc = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), v.shape[1]))
        for first, stop in _pieces(len(k), chunk):
            s = _scaled(q, k[first:stop])
            s[mask[:, first:stop] > 0] = -np.inf
            m, l, acc = step()(m, l, acc, s, v[first:stop])
        return acc / l[:, None]

    return attend


def _hidden_after_exp(refill=0.0):
    """Return chunked attention that multiplies the exponentials by the mask."""
    def attend(q, k, v, chunk):
        m, l, acc = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), v.shape[1]))
        for first, stop in _pieces(len(k), chunk):
            s = _scaled(q, k[first:stop])
            visible = np.arange(first, stop) <= np.arange(len(q))[:, None]
            new = np.maximum(m, s.max(axis=1))
            p = np.exp(s - new[:, None]) * visible
            l = l * np.exp(m - new) + p.sum(axis=1)
            acc = acc * np.exp(m - new)[:, None] + p @ v[first:stop]
            m = new
        return acc / (l[:, None] + refill)

    return attend


def _hidden_in_acc_only(q, k, v, chunk):
    m, l, acc = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), v.shape[1]))
    for first, stop in _pieces(len(k), chunk):
        s = _scaled(q, k[first:stop])
        visible = np.arange(first, stop) <= np.arange(len(q))[:, None]
        new = np.maximum(m, s.max(axis=1))
        p = np.exp(s - new[:, None])
        l = l * np.exp(m - new) + p.sum(axis=1)
        acc = acc * np.exp(m - new)[:, None] + (p * visible) @ v[first:stop]
        m = new
    return acc / l[:, None]


def _filled(fill):
    """Return chunked attention whose hidden scores are a number instead of −inf."""
    def attend(q, k, v, chunk):
        m, l, acc = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), v.shape[1]))
        for first, stop in _pieces(len(k), chunk):
            s = np.where(np.arange(first, stop) <= np.arange(len(q))[:, None],
                         _scaled(q, k[first:stop]), fill)
            m, l, acc = step()(m, l, acc, s, v[first:stop])
        return acc / l[:, None]

    return attend


def _causal_join(join):
    """Return each chunk's own causal mixture, zeros where nothing is seen, joined by ``join``."""
    def attend(q, k, v, chunk):
        mixtures, seen = [], []
        for first, stop in _pieces(len(k), chunk):
            visible = np.arange(first, stop) <= np.arange(len(q))[:, None]
            s = np.where(visible, _scaled(q, k[first:stop]), -np.inf)
            mixtures.append(np.nan_to_num(softmax(s)) @ v[first:stop])
            seen.append(visible.sum(axis=1, keepdims=True))
        return join(np.array(mixtures), np.array(seen))

    return attend


def _own_chunk(q, k, v, chunk):
    return np.concatenate([
        softmax(np.where(np.tri(stop - first, dtype=bool), _scaled(q[first:stop], k[first:stop]),
                         -np.inf)) @ v[first:stop] for first, stop in _pieces(len(k), chunk)])


def _solve_causal(q, k, v, chunk):
    n, d_head = q.shape
    positions = np.arange(n)
    m = np.full(n, -np.inf)
    l = np.zeros(n)
    acc = np.zeros((n, v.shape[1]))
    for start in range(0, n, chunk):
        keys = slice(start, start + chunk)
        s = q @ k[keys].T * d_head**-0.5  # (n, chunk)
        s = np.where(positions[keys] <= positions[:, None], s, -np.inf)
        m_new = np.maximum(m, s.max(axis=-1))
        rescale = np.exp(m - m_new)
        p = np.exp(s - m_new[:, None])
        l = l * rescale + p.sum(axis=-1)
        acc = acc * rescale[:, None] + p @ v[keys]
        m = m_new
    return acc / l[:, None]


def _rows_that_see(q, k, v, chunk):
    """Leave out, chunk by chunk, the queries that see none of it."""
    m, l, acc = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), v.shape[1]))
    for first, stop in _pieces(len(k), chunk):
        s = _scaled(q[first:], k[first:stop])
        s = np.where(np.tri(*s.shape, dtype=bool), s, -np.inf)
        m[first:], l[first:], acc[first:] = step()(m[first:], l[first:], acc[first:], s,
                                                   v[first:stop])
    return acc / l[:, None]


def _guarded(q, k, v, chunk):
    """Read the chunks from the end, where the first ones are hidden from most queries."""
    m, l, acc = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), v.shape[1]))
    for first, stop in reversed(_pieces(len(k), chunk)):
        s = np.where(np.arange(first, stop) <= np.arange(len(q))[:, None],
                     _scaled(q, k[first:stop]), -np.inf)
        new = np.maximum(m, s.max(axis=1))
        shift = np.where(np.isfinite(new), new, 0)
        p = np.exp(s - shift[:, None])
        l = l * np.exp(m - shift) + p.sum(axis=1)
        acc = acc * np.exp(m - shift)[:, None] + p @ v[first:stop]
        m = new
    return acc / l[:, None]


def _same(n, d_head, d_value, chunk):
    return (*_arguments(n, n, d_head, d_value), chunk)


def _tower(n, chunk):
    """Return arguments in which each key scores far above those before it."""
    return *_lifted([10] * n, [60 * j for j in range(n)]), chunk


_C_GENERAL = Case(_same(7, 3, 2, 2), "seven tokens in chunks of two", _SCALE)
_C_LONGER = Case(_same(11, 2, 5, 3), "eleven tokens in chunks of three", _SCALE)
_C_EVEN = Case(_same(9, 3, 3, 3), "nine tokens in chunks of three", _SCALE)
_C_ALIKE = Case(_same(5, 2, 5, 5), "as many tokens as features, all in one chunk", _SCALE)
_C_LARGE = Case((*_lifted([10, 9, 8, 10, 9, 8, 10, 9], [100, 0, 0, 101, 100, 0, 101, 0]), 2),
                "large scores", _SHIFT)
_C_LOW = Case((*_lifted([10, 9, 8, 10, 9, 8, 10], [-2000] * 7), 2), "very low scores", _START)
_C_APART = Case((*_lifted([15, 0, -15, 0, 15, -15, 0], [100] * 7), 2),
                "queries whose scores lie far apart", _ROWS)
_C_TOWER = Case(_tower(8, 3), "hidden scores that tower over the visible ones",
                "the mask before the exponentials")
_C_STORAGE = _stored_in_growth(71, 4, allowed=0.4)

_CAUSAL = Exercise(
    id="chunked_causal_attention",
    chapter=CHAPTER,
    title="The triangle, chunk by chunk",
    signature="chunked_causal_attention(q, k, v, chunk)",
    shapes="(n, d_head), (n, d_head), (n, d_value), a whole number → (n, d_value)",
    prompt="Write chunked_causal_attention(q, k, v, chunk): as chunked_attention, but each of the "
           "n queries attends to itself and to what is before it alone; there are as many queries "
           "as keys. Again the memory is measured: neither the scores nor a mask nor any other "
           "numbers may be stored for all pairs of tokens at once. In the example the chunks are "
           "tokens 0 and 1, 2 and 3, and 4; the exponentials of the scores are 1, 1, 2, 4, 8 in "
           "every row, and the values 4, 0, 2, 4, 1. Token 3 gets (4 + 0 + 4 + 16)/8 = 3, token 4 "
           "gets (24 + 8)/16 = 2.",
    hints=("A chunk begins at key start. Which queries see its first key, and which see its last?",
           "Inside a chunk, compare positions in the whole text: those of the chunk's keys with "
           "those of the queries.",
           "Hide with −inf before you look for the maximum. If a query sees nothing of a chunk, "
           "the chunk's own maximum is −inf, and −inf − (−inf) is nan: use the maximum so far, or "
           "leave the chunk out for that query."),
    example=Example((np.ones((5, 1)), _LN2 * np.array([[0.0], [0], [1], [2], [3]]),
                     np.array([[4.0], [0], [2], [4], [1]]), 2),
                    [[4.0], [2.0], [2.0], [3.0], [2.0]]),
    reference=lambda q, k, v, chunk: _reference(q, k, v, chunk, causal=True),
    stages=_chunk_stages(Stage(_hides(_future), (
        (("no-mask",), _hides(None)),
        (("chunk-local-positions",), _hides(lambda i, j, chunk: j % chunk > i)),
        (("excludes-itself",), _hides(lambda i, j, chunk: j >= i)),
        (("one-too-many",), _hides(lambda i, j, chunk: j > i + 1))))),
    cases=(
        Case(_same(5, 1, 1, 2), "other numbers of the example's shapes", _MASK),
        Case(_same(4, 1, 2, 1), "chunks of one token", _HIDDEN_CHUNKS),
        _C_GENERAL,
        _C_LONGER,
        _C_EVEN,
        _C_ALIKE,
        Case(_same(5, 2, 3, 13), "a chunk longer than the text", _MASK),
        _C_LARGE,
        _C_TOWER,
        _C_LOW,
        _C_APART,
        _C_STORAGE,
    ),
    naming=(_C_GENERAL, _C_LONGER, _C_EVEN, _C_ALIKE, _C_LARGE, _C_TOWER, _C_LOW, _C_APART,
            _C_STORAGE),
    mistakes=(
        Mistake(
            id="chunk-local-positions",
            seen="In each chunk the keys are numbered from 0 again, and compared with positions "
                 "that are not.",
            question="At which position of the text does the first key of the second chunk stand?",
            ways=(_in_chunks(hide=lambda i, j, chunk: j % chunk > i), _tile_triangles,
                  lambda *args: _tile_triangles(*args, skip=True),
                  _in_chunks(hide=lambda i, j, chunk: j % chunk > i % chunk),
                  _in_chunks(hide=lambda i, j, chunk: j > i % chunk),
                  _in_chunks(hide=lambda i, j, chunk: j % chunk > i + np.size(j) - len(i)),
                  _in_chunks(hide=lambda i, j, chunk: j % chunk > i + j - j % chunk),
                  _in_chunks(hide=lambda i, j, chunk: j + (j - j % chunk) > i),
                  _in_chunks(hide=lambda i, j, chunk: (j % chunk > i % chunk)
                             & (_chunk_of(j, chunk) >= _chunk_of(i, chunk)))),
            step=_MASK,
        ),
        Mistake(
            id="no-mask",
            seen="Every token attends to all others, those that follow it too.",
            question="What may the first token know of the others?",
            ways=(_in_chunks(), _dense, _two_passes),
            step=_MASK,
        ),
        Mistake(
            id="later-chunks-visible",
            seen="The triangle is right inside a query's own chunk, but the chunks that follow it "
                 "are visible.",
            question="What should the first token receive of the last chunk?",
            ways=(lambda *args: _tile_triangles(*args, diagonal_only=True),
                  _in_chunks(hide=lambda i, j, chunk: (j > i)
                             & (_chunk_of(j, chunk) == _chunk_of(i, chunk)))),
            step=_HIDDEN_CHUNKS,
        ),
        Mistake(
            id="nan-on-masked-chunk",
            seen="A chunk that is hidden from a query entirely makes nan: its own maximum is −inf, "
                 "or its exponentials sum to 0.",
            question="For query 0 and the second chunk, what is the largest score that is not "
                     "hidden, and what is −inf − (−inf)?",
            ways=(_chunk_by_chunk(), _merged_unguarded,
                  _in_chunks(hide=_future, pieces=lambda n, chunk: _pieces(n, chunk)[::-1]),
                  _in_chunks(step(lambda m, scores: scores.max(axis=1)), hide=_future),
                  _in_chunks(step(shift=_own), hide=_future)),
            step=_HIDDEN_CHUNKS,
        ),
        Mistake(
            id="whole-chunks-only",
            seen="A chunk is shown whole or hidden whole; the border between past and future "
                 "inside a chunk is missing.",
            question="With chunks of 2, what does query 0 see of keys 0 and 1, and what should it?",
            ways=(_in_chunks(hide=lambda i, j, chunk: _chunk_of(j, chunk) > _chunk_of(i, chunk)),
                  *(_in_chunks(finish=finish, hide=lambda i, j, chunk:
                               _chunk_of(j, chunk) >= _chunk_of(i, chunk))
                    for finish in _FINISHES),
                  *(_in_chunks(hide=hide, finish=finish) for finish in _FINISHES for hide in (
                      lambda i, j, chunk: (_chunk_of(j, chunk) + 1) * chunk > i + 1,
                      lambda i, j, chunk: np.broadcast_to(j.max() > i, (len(i), len(j))),
                      lambda i, j, chunk: np.broadcast_to(j.max() >= i, (len(i), len(j)))))),
            step=_MASK,
        ),
        Mistake(
            id="full-score-matrix",
            seen="The result is right, but numbers for every pair of tokens are stored on the way: "
                 "scores, weights, or a mask.",
            question="Which of your arrays has n times n entries, and how many of them do you need "
                     "at the same time?",
            ways=(_masked_by(_past), _whole_mask(np.inf), _whole_mask(True),
                  lambda q, k, v, chunk: attention_book.attention(
                      q, k, v, mask=attention_book.causal_mask(len(q))),
                  lambda q, k, v, chunk: np.nan_to_num(softmax(
                      _scaled(q, k) + np.where(_past(len(q)), 0, -np.inf))) @ v),
            step=_STORED,
        ),
        Mistake(
            id="excludes-itself",
            seen="A token sees what is before it, but not itself.",
            question="What is there for token 0 to look at?",
            ways=(*(_in_chunks(hide=lambda i, j, chunk: j >= i, finish=finish)
                    for finish in _FINISHES),
                  _in_chunks(hide=lambda i, j, chunk: j >= np.maximum(i, 1)),
                  _masked_by(lambda n: np.tri(n, k=-1, dtype=bool))),
            step=_MASK,
        ),
        Mistake(
            id="one-too-many",
            seen="A token sees the one that follows it too.",
            question="Which keys does token 0 see in your first chunk?",
            ways=(_in_chunks(hide=lambda i, j, chunk: j > i + 1),
                  _masked_by(lambda n: np.tri(n, k=1, dtype=bool))),
            step=_MASK,
        ),
        Mistake(
            id="future-instead-of-past",
            seen="A token sees itself and what follows it; the past is hidden.",
            question="Which of the two is larger, the position of a query or that of a key it may "
                     "attend to?",
            ways=(_in_chunks(hide=lambda i, j, chunk: j < i),
                  *(_in_chunks(hide=lambda i, j, chunk: j <= i, finish=finish)
                    for finish in _FINISHES),
                  _in_chunks(hide=lambda i, j, chunk: j < i,
                             pieces=lambda n, chunk: _pieces(n, chunk)[::-1]),
                  _masked_by(lambda n: _past(n).T)),
            step=_MASK,
        ),
        Mistake(
            id="own-chunk-only",
            seen="Each chunk of tokens attends to itself alone; earlier chunks have no influence.",
            question="Which tokens should the last one see?",
            ways=(_own_chunk,
                  _in_chunks(hide=lambda i, j, chunk: (_chunk_of(j, chunk) != _chunk_of(i, chunk))
                             | (j > i), pieces=lambda n, chunk: [(0, n)]),
                  lambda q, k, v, chunk: np.concatenate([
                      softmax(_scaled(q[first:stop], k[first:stop])) @ v[first:stop]
                      for first, stop in _pieces(len(k), chunk)])),
            step=_HIDDEN_CHUNKS,
        ),
        Mistake(
            id="finite-fill",
            seen="Hidden scores are set to a number that is not low enough, or to 0: they keep "
                 "weight.",
            question="Which score has the exponential 0, whatever the others are?",
            ways=tuple(map(_filled, (0.0, -1.0, -10.0, -50.0, -100.0, -1e3, -1e4))),
            step="the mask before the exponentials",
        ),
        Mistake(
            id="masked-after-softmax",
            seen="Hidden keys are taken out of acc, but they stay in the sum l.",
            question="What do the weights of token 0 add up to in your result?",
            ways=(_hidden_in_acc_only,
                  lambda q, k, v, chunk: (softmax(_scaled(q, k)) * _past(len(q))) @ v),
            step=_MASK,
        ),
        Mistake(
            id="maximum-of-hidden-scores",
            seen="The maximum is taken over hidden scores too; where one towers over the rest, all "
                 "visible exponentials vanish.",
            question="Which scores should the maximum be taken of?",
            ways=(_hidden_after_exp(), _hidden_after_exp(refill=1e-9),
                  lambda q, k, v, chunk: _renormalised(softmax(_scaled(q, k))) @ v),
            step="the mask before the exponentials",
        ),
        Mistake(
            id="drops-last-chunk",
            seen="The keys at the end are never read: the last chunk is left out.",
            question="With 7 tokens in chunks of 2, where does your last chunk begin, and where "
                     "should it?",
            ways=tuple(_in_chunks(hide=_future, pieces=pieces) for pieces in (
                _whole_pieces, _without_last, lambda n, chunk: _pieces(n, chunk)[:-1])),
            step=_LAST,
        ),
        Mistake(
            id="first-chunk-only",
            seen="Only the first chunk is read.",
            question="Where does your return stand: inside the loop, or after it?",
            ways=(_in_chunks(hide=_future, pieces=lambda n, chunk: _pieces(n, chunk)[:1]),
                  _in_chunks(pieces=lambda n, chunk: _pieces(n, chunk)[:1])),
            step=_HIDDEN_CHUNKS,
        ),
        Mistake(
            id="average-of-chunks",
            seen="Each chunk's own mixture is taken, and the mixtures are averaged or added up.",
            question="One chunk holds the keys that fit the query, the others none. Should their "
                     "mixtures count alike?",
            ways=(_causal_join(lambda mixtures, seen: mixtures.mean(axis=0)),
                  _causal_join(lambda mixtures, seen: mixtures.sum(axis=0)),
                  _causal_join(lambda mixtures, seen: mixtures.sum(axis=0)
                               / (seen > 0).sum(axis=0)),
                  _causal_join(lambda mixtures, seen: (seen * mixtures).sum(axis=0)
                               / seen.sum(axis=0))),
            step=_HIDDEN_CHUNKS,
        ),
        *(mistake for mistake in _common(_future) if mistake.id != "max-not-carried"),
    ),
    variants=(
        lambda *args: _two_passes(*args, visible=lambda i, j: j <= i),
        lambda *args: _merged(*args, visible=lambda i, j: j <= i),
        lambda *args: _one_query_at_a_time(*args, causal=True),
        lambda *args: _one_key_at_a_time(*args, causal=True),
        in_float32(_solve_causal),
        lambda *args: _in_tiles(*args, causal=True),
        _rows_that_see,
        _guarded,
        _filled(-1e9),
        lambda q, k, v, chunk: [softmax(_scaled(q[i: i + 1], k[: i + 1]))[0] @ v[: i + 1]
                                for i in range(len(q))],
    ),
    solution=_solve_causal,
    package=(chunked_attention, mix_tiles),
)


def _renormalised(weights):
    visible = weights * _past(len(weights))
    return visible / visible.sum(axis=1, keepdims=True)


CHUNKED_ATTENTION, CHUNKED_CAUSAL_ATTENTION = _CHUNKED, _CAUSAL
