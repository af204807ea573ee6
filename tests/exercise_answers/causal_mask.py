"""Answers to the exercises of the chapter on the causal mask, written from their prompts alone."""

import math

import numpy as np


# --- causal_mask ----------------------------------------------------------------------------------
def lower_ones(n):
    return np.tril(np.ones((n, n)))


def upper_ones_like_elsewhere(n):
    return np.triu(np.ones((n, n)), k=1).astype(bool)


def loop_without_itself(n):
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for j in range(i):
            mask[i, j] = True
    return mask


def to_be_added(n):
    mask = np.full((n, n), -np.inf)
    mask[np.tril_indices(n)] = 0
    return mask


def to_be_added_with_nan(n):
    return np.where(np.tri(n) == 1, 0.0, np.nan)


def ones_called_wrongly(n):
    return np.tril(np.ones(n, n))


def nothing_visible(n):
    return np.tri(n) > 1


def ragged_rows(n):
    return [[True] * (i + 1) for i in range(n)]


def one_row_only(n):
    positions = np.arange(n)
    return positions <= positions


def diagonal_one_up(n):
    return np.tril(np.ones((n, n), dtype=bool), k=1)


def columns_cleared(n):
    mask = np.ones((n, n), dtype=bool)
    for i in range(n):
        mask[i + 1 :, i] = False
    return mask


def two_lengths(n_query, n_key):
    return np.arange(n_key) <= np.arange(n_query)[:, None]


def mask_printed(n):
    print(np.tri(n, dtype=bool))


def tokens_marked(n):
    return np.array([["see" if j <= i else "hide" for j in range(n)] for i in range(n)])


def upside_down(n):
    return np.tri(n, dtype=bool)[::-1]


def three_only(n):
    return np.array([[True, False, False], [True, True, False], [True, True, True]])


def cumulated(n):
    return np.cumsum(np.eye(n), axis=0).astype(bool)


def filled_by_indices(n):
    mask = np.zeros((n, n), dtype=bool)
    mask[np.tril_indices(n)] = True
    return mask


def rows_of_lists(n):
    return [[True] * (i + 1) + [False] * (n - i - 1) for i in range(n)]


def by_subtraction(n):
    return np.subtract.outer(np.arange(n), np.arange(n)) >= 0


# --- rectangular_causal_mask ----------------------------------------------------------------------
def tri_of_both(n_query, n_key):
    return np.tri(n_query, n_key, dtype=bool)


def last_rows(n_query, n_key):
    return np.tri(n_key, dtype=bool)[-n_query:]


def sliced_from_the_front(n_query, n_key):
    mask = np.zeros((n_query, n_key), dtype=bool)
    for i in range(n_query):
        mask[i, : n_key - n_query + i + 1] = True
    return mask


def strictly_before(n_query, n_key):
    positions = n_key - n_query + np.arange(n_query)
    return np.arange(n_key) < positions[:, None]


def positions_from_the_end(n_query, n_key):
    positions = n_key - np.arange(n_query)
    return np.arange(n_key) <= positions[:, None]


def last_query_is_at_n_key(n_query, n_key):
    positions = np.arange(n_key - n_query + 1, n_key + 1)
    return np.arange(n_key) <= positions[:, None]


def upper_part_marked(n_query, n_key):
    return np.triu(np.ones((n_query, n_key), dtype=bool), k=n_key - n_query + 1)


def all_open(n_query, n_key):
    return np.full((n_query, n_key), True)


def past_and_triangle(n_query, n_key):
    return np.hstack([np.ones((n_query, n_key - n_query)), np.tri(n_query)])


def keys_down_queries_across(n_query, n_key):
    return np.array([[j <= i + n_key - n_query for i in range(n_query)] for j in range(n_key)])


def difference_reversed(n_query, n_key):
    return np.tri(n_query, n_key, k=n_query - n_key, dtype=bool)


def tri_with_shift(n_query, n_key):
    return np.tri(n_query, n_key, k=n_key - n_query)


def positions_not_a_column(n_query, n_key):
    return np.arange(n_key) <= np.arange(n_query) + n_key - n_query


def nested_ifs(n_query, n_key):
    rows = []
    for i in range(n_query):
        row = []
        for j in range(n_key):
            row.append(bool(j - i <= n_key - n_query))
        rows.append(row)
    return rows


def cut_from_a_larger_one(n_query, n_key):
    n = max(n_query, n_key)
    return np.tril(np.ones((n, n), dtype=bool))[n - n_query :, n - n_key :]


def counted_row_by_row(n_query, n_key):
    visible = np.arange(n_query) + n_key - n_query + 1
    return np.arange(n_key)[None, :] < visible[:, None]


# --- sliding_window_mask --------------------------------------------------------------------------
def young_enough(n, window):
    i, j = np.arange(n)[:, None], np.arange(n)
    return i - j < window


def near_enough(n, window):
    i, j = np.arange(n)[:, None], np.arange(n)
    return np.abs(i - j) < window


def from_i_minus_window(n, window):
    i, j = np.arange(n)[:, None], np.arange(n)
    return (j <= i) & (j >= i - window)


def difference_of_triangles(n, window):
    return np.tri(n) - np.tri(n, k=-window)


def old_triangle(n, window):
    return np.tri(n, k=-window, dtype=bool)


def slice_with_negative_start(n, window):
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        mask[i, i - window + 1 : i + 1] = True
    return mask


def index_that_wraps(n, window):
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for step in range(window):
            mask[i, i - step] = True
    return mask


def without_its_own(n, window):
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        mask[i, max(0, i - window) : i] = True
    return mask


def blocks(n, window):
    block = np.arange(n) // window
    return np.tri(n, dtype=bool) & (block[:, None] == block)


def triu_off_by_one(n, window):
    return np.triu(np.tril(np.ones((n, n), dtype=bool)), k=-window)


def forgets_the_window(n, window):
    return np.arange(n) <= np.arange(n)[:, None]


def one_side_of_half(n, window):
    i, j = np.arange(n)[:, None], np.arange(n)
    return (i - j <= window // 2) & (j - i <= window // 2)


def chained_comparison(n, window):
    i, j = np.arange(n)[:, None], np.arange(n)
    return i - window < j <= i


def without_parentheses(n, window):
    i, j = np.arange(n)[:, None], np.arange(n)
    return j <= i & j > i - window


def clipped_start(n, window):
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        start = max(0, i + 1 - window)
        mask[i, start : i + 1] = True
    return mask


def triangle_and_not_old(n, window):
    return np.logical_and(np.tri(n), np.logical_not(np.tri(n, k=-window)))


def by_distance(n, window):
    distance = np.arange(n)[:, None] - np.arange(n)
    return (distance >= 0) & (distance < window)


def in_range(n, window):
    return [[i - j in range(window) for j in range(n)] for i in range(n)]


# --- fault_padded_mask ----------------------------------------------------------------------------
def real_in_front(lengths, n):
    real = np.arange(n) >= n - lengths[:, None]
    causal = np.tri(n, dtype=bool)
    return causal & real[None, :, :]


def union(lengths, n):
    real = np.arange(n) >= n - lengths[:, None]
    causal = np.tri(n, dtype=bool)
    return causal | real[:, None, :]


def only_real(lengths, n):
    real = np.arange(n) >= n - lengths[:, None]
    return np.repeat(real[:, None, :], n, axis=1)


def first_ones_real(lengths, n):
    real = np.arange(n) < lengths[:, None]
    causal = np.tri(n, dtype=bool)
    return causal & real[:, None, :]


def only_padding_visible(lengths, n):
    real = np.arange(n) >= n - lengths[:, None]
    causal = np.tri(n, dtype=bool)
    return causal & ~real[:, None, :]


def no_axis_at_all(lengths, n):
    real = np.arange(n) >= n - lengths[:, None]
    causal = np.tri(n, dtype=bool)
    return causal & real


def turned_real(lengths, n):
    real = np.arange(n) >= n - lengths[:, None]
    causal = np.tri(n, dtype=bool)
    return causal & real[:, ::-1, None]


def turned_triangle(lengths, n):
    real = np.arange(n) >= n - lengths[:, None]
    causal = np.tri(n, dtype=bool)
    return causal.T & real[:, None, :]


def multiplied(lengths, n):
    real = np.arange(n) >= n - lengths[:, None]
    return np.tri(n) * real[:, None, :]


def rows_left_hidden(lengths, n):
    real = np.arange(n) >= n - lengths[:, None]
    causal = np.tri(n, dtype=bool)
    return causal & real[:, None, :] & real[:, :, None]


def short_index(lengths, n):
    real = np.arange(n) >= n - lengths[:, None]
    causal = np.tri(n, dtype=bool)
    return causal & real[:, None]


def sample_by_sample(lengths, n):
    masks = []
    for length in lengths:
        mask = np.tri(n, dtype=bool)
        mask[:, : n - length] = False
        masks.append(mask)
    return np.array(masks)


def start_as_three_axes(lengths, n):
    start = n - np.reshape(lengths, (-1, 1, 1))
    i, j = np.arange(n)[:, None], np.arange(n)
    return (start <= j) & (j <= i)


# --- causal_attention -----------------------------------------------------------------------------
def _softmax(s):
    e = np.exp(s - np.max(s, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def _parts(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    return q @ k.T / np.sqrt(k.shape[1]), np.tril(np.ones((len(x), len(x)))), v


def forgot_the_scale(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    s = q @ k.T
    s[np.triu_indices(len(x), k=1)] = -np.inf
    return _softmax(s) @ v


def forgot_the_mask(x, wq, wk, wv):
    s, _, v = _parts(x, wq, wk, wv)
    return _softmax(s) @ v


def lower_weights(x, wq, wk, wv):
    s, _, v = _parts(x, wq, wk, wv)
    return np.tril(_softmax(s)) @ v


def lower_weights_divided(x, wq, wk, wv):
    s, mask, v = _parts(x, wq, wk, wv)
    weights = _softmax(s) * mask
    weights /= np.sum(weights, axis=1)[:, None]
    return weights @ v


def lower_scores(x, wq, wk, wv):
    s, _, v = _parts(x, wq, wk, wv)
    return _softmax(np.tril(s)) @ v


def mistyped_fill(x, wq, wk, wv):
    s, mask, v = _parts(x, wq, wk, wv)
    return _softmax(np.where(mask == 1, s, -1e-9)) @ v


def fill_of_minus_hundred(x, wq, wk, wv):
    s, mask, v = _parts(x, wq, wk, wv)
    return _softmax(np.where(mask == 1, s, -100)) @ v


def fill_of_minus_forty(x, wq, wk, wv):
    s, mask, v = _parts(x, wq, wk, wv)
    return _softmax(np.where(mask == 1, s, -40.0)) @ v


def fill_below_the_smallest(x, wq, wk, wv):
    s, mask, v = _parts(x, wq, wk, wv)
    return _softmax(np.where(mask == 1, s, s.min() - 10)) @ v


def times_infinity(x, wq, wk, wv):
    s, mask, v = _parts(x, wq, wk, wv)
    return _softmax(s + (mask - 1) * np.inf) @ v


def mask_where_false(x, wq, wk, wv):
    s, mask, v = _parts(x, wq, wk, wv)
    s[mask == 1] = -np.inf
    return _softmax(s) @ v


def plain_exponentials(x, wq, wk, wv):
    s, mask, v = _parts(x, wq, wk, wv)
    e = np.exp(np.where(mask == 1, s, -np.inf))
    return e / e.sum(axis=1, keepdims=True) @ v


def plain_exponentials_times_mask(x, wq, wk, wv):
    s, mask, v = _parts(x, wq, wk, wv)
    e = np.exp(s) * mask
    return e @ v / e.sum(axis=1, keepdims=True)


def divided_by_d_head(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    s = np.where(np.tri(len(x)) == 1, q @ k.T / k.shape[1], -np.inf)
    return _softmax(s) @ v


def divided_by_model_width(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    s = np.where(np.tri(len(x)) == 1, q @ k.T / np.sqrt(x.shape[1]), -np.inf)
    return _softmax(s) @ v


def tokens_mixed(x, wq, wk, wv):
    s, mask, _ = _parts(x, wq, wk, wv)
    return _softmax(np.where(mask == 1, s, -np.inf)) @ x


def past_without_self(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    out = np.zeros((len(x), v.shape[1]))
    for i in range(len(x)):
        s = np.array([q[i] @ k[j] / np.sqrt(k.shape[1]) for j in range(i)])
        if i:
            out[i] = _softmax(s) @ v[:i]
    return out


def diagonal_hidden_too(x, wq, wk, wv):
    s, _, v = _parts(x, wq, wk, wv)
    s[np.triu_indices(len(s))] = -np.inf
    return _softmax(s) @ v


def zeros_hidden(x, wq, wk, wv):
    s, _, v = _parts(x, wq, wk, wv)
    s = np.tril(s)
    s[s == 0] = -1e9
    return _softmax(s) @ v


def maximum_before_the_mask(x, wq, wk, wv):
    s, mask, v = _parts(x, wq, wk, wv)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    e = np.where(mask == 1, e, 0)
    return e / e.sum(axis=-1, keepdims=True) @ v


def one_maximum_for_all(x, wq, wk, wv):
    s, mask, v = _parts(x, wq, wk, wv)
    s = np.where(mask == 1, s, -np.inf)
    e = np.exp(s - s.max())
    return e / e.sum(axis=-1, keepdims=True) @ v


def one_sum_for_all(x, wq, wk, wv):
    s, mask, v = _parts(x, wq, wk, wv)
    s = np.where(mask == 1, s, -np.inf)
    e = np.exp(s - s.max())
    return e / e.sum() @ v


def softmax_forgotten(x, wq, wk, wv):
    s, mask, v = _parts(x, wq, wk, wv)
    return (s * mask) @ v


def columns_normalised(x, wq, wk, wv):
    s, mask, v = _parts(x, wq, wk, wv)
    s = np.where(mask == 1, s, -np.inf)
    e = np.exp(s - s.max(axis=0))
    return e / e.sum(axis=0) @ v


def scores_turned(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    s = k @ q.T / np.sqrt(k.shape[1])
    return _softmax(np.where(np.tri(len(x), dtype=bool), s, -np.inf)) @ v


def weights_too(x, wq, wk, wv):
    s, mask, v = _parts(x, wq, wk, wv)
    weights = _softmax(np.where(mask == 1, s, -np.inf))
    return weights @ v, weights


def unmasked_and_unscaled(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    return _softmax(q @ k.T) @ v


def weights_first(x, wq, wk, wv):
    q, k, v = wq @ x, wk @ x, wv @ x
    s = np.where(np.tri(len(x), dtype=bool), q @ k.T / np.sqrt(k.shape[1]), -np.inf)
    return _softmax(s) @ v


def features_for_tokens(x, wq, wk, wv):
    q, k, v = wq.T @ x, wk.T @ x, wv.T @ x
    return _softmax(q @ k.T) @ v


def keys_for_queries(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wq, x @ wv
    s = q @ k.T / np.sqrt(k.shape[1])
    return _softmax(np.where(np.tri(len(x), dtype=bool), s, -np.inf)) @ v


def written_into_x(x, wq, wk, wv):
    x -= 0
    x *= 2
    x /= 2
    x += 1e-3
    return loops_over_the_past(x, wq, wk, wv)


def _masked_after_and_unscaled(x, wq, wk, wv):
    return np.tril(_softmax(x @ wq @ (x @ wk).T)) @ (x @ wv)


def infinite_fill(x, wq, wk, wv):
    s, mask, v = _parts(x, wq, wk, wv)
    return _softmax(np.where(mask == 1, s, -np.inf)) @ v


def large_fill(x, wq, wk, wv):
    s, mask, v = _parts(x, wq, wk, wv)
    s[mask == 0] = -1e9
    return _softmax(s) @ v


def added_triangle(x, wq, wk, wv):
    s, _, v = _parts(x, wq, wk, wv)
    hidden = np.zeros(s.shape)
    hidden[np.triu_indices(len(x), 1)] = -np.inf
    return _softmax(s + hidden) @ v


def loops_over_the_past(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    out = []
    for i in range(len(x)):
        s = k[: i + 1] @ q[i] / math.sqrt(wq.shape[1])
        e = np.exp(s - max(s))
        out.append((e[:, None] * v[: i + 1]).sum(axis=0) / e.sum())
    return np.array(out)


def scaled_queries_float32(x, wq, wk, wv):
    x, wq, wk, wv = (np.float32(each) for each in (x, wq, wk, wv))
    q = x @ wq * np.float32(wq.shape[1] ** -0.5)
    s = np.einsum("id,jd->ij", q, x @ wk)
    s = np.ma.masked_array(s, mask=~np.tri(len(x), dtype=bool))
    return _softmax(s.filled(-np.inf)) @ (x @ wv)


def exponentials_of_visible_ones(x, wq, wk, wv):
    s, mask, v = _parts(x, wq, wk, wv)
    largest = np.max(s, axis=1, where=mask == 1, initial=-np.inf, keepdims=True)
    e = np.exp(s - largest, where=mask == 1, out=np.zeros_like(s))
    return e @ v / e.sum(axis=1, keepdims=True)


# --- leaks_future ---------------------------------------------------------------------------------
def last_row_changed(attend, x, rng):
    changed = x.copy()
    changed[-1] = rng.normal(size=x.shape[1])
    return not np.allclose(attend(x)[:-1], attend(changed)[:-1])


def everything_compared(attend, x, rng):
    for t in range(1, len(x)):
        changed = x.copy()
        changed[t:] = rng.normal(size=changed[t:].shape)
        if not np.allclose(attend(x), attend(changed)):
            return True
    return False


def own_row_compared(attend, x, rng):
    for t in range(len(x)):
        changed = x.copy()
        changed[t] += 1
        if not np.allclose(attend(x)[: t + 1], attend(changed)[: t + 1]):
            return True
    return False


def first_row_changed(attend, x, rng):
    changed = x.copy()
    changed[0] += 100
    return not np.allclose(attend(x)[1:], attend(changed)[1:])


def past_changed(attend, x, rng):
    out = attend(x)
    for t in range(1, len(x)):
        changed = x.copy()
        changed[:t] += rng.normal(size=changed[:t].shape)
        if np.abs(attend(changed)[t] - out[t]).max() > 1e-8:
            return True
    return False


def tiny_noise(attend, x, rng):
    out = attend(x)
    for t in range(1, len(x)):
        changed = x.copy()
        changed[t:] += 1e-5 * rng.normal(size=changed[t:].shape)
        if np.any(attend(changed)[:t] != out[:t]):
            return True
    return False


def same_shape(attend, x, rng):
    changed = x.copy()
    changed[len(x) // 2 :] = rng.normal(size=changed[len(x) // 2 :].shape)
    return attend(changed).shape != attend(x).shape


def returns_in_the_first_round(attend, x, rng):
    out = attend(x)
    for t in range(1, len(x)):
        changed = x.copy()
        changed[t:] = 0
        return not np.allclose(attend(changed)[:t], out[:t])


def half_changed(attend, x, rng):
    half = len(x) // 2
    changed = x.copy()
    changed[half:] += 10 * rng.normal(size=changed[half:].shape)
    return not np.allclose(attend(changed)[:half], attend(x)[:half])


def x_itself_changed(attend, x, rng):
    out = attend(x)
    for t in range(len(x) - 1, 0, -1):
        x[t:] = rng.normal(size=x[t:].shape)
        if not np.allclose(attend(x)[:t], out[:t]):
            return True
    return False


def forgot_the_copy(attend, x, rng):
    for t in range(1, len(x)):
        changed = x
        changed[t:] = 5
        if not np.allclose(attend(changed)[:t], attend(x)[:t]):
            return True
    return False


def change_thrown_away(attend, x, rng):
    out = attend(x)
    for t in range(1, len(x)):
        changed = x.copy()
        changed[t:] + rng.normal(size=changed[t:].shape)
        if not np.allclose(attend(changed)[:t], out[:t]):
            return True
    return False


def future_shuffled(attend, x, rng):
    out = attend(x)
    for t in range(1, len(x)):
        changed = x.copy()
        rng.shuffle(changed[t:])
        if not np.allclose(attend(changed)[:t], out[:t]):
            return True
    return False


def stops_too_soon(attend, x, rng):
    out = attend(x)
    for t in range(1, len(x) - 1):
        changed = x.copy()
        changed[t + 1 :] = rng.normal(size=changed[t + 1 :].shape)
        if not np.allclose(attend(changed)[: t + 1], out[: t + 1]):
            return True
    return False


def forgot_the_not(attend, x, rng):
    out = attend(x)
    for t in range(1, len(x)):
        changed = x.copy()
        changed[t:] = rng.normal(size=changed[t:].shape)
        if np.allclose(attend(changed)[:t], out[:t]):
            return True
    return False


def places_of_the_leaks(attend, x, rng):
    out = attend(x)
    return [t for t in range(1, len(x))
            if not np.allclose(attend(np.where(np.arange(len(x))[:, None] < t, x, 9))[:t], out[:t])]


def next_row_only(attend, x, rng):
    for i in range(len(x) - 1):
        changed = x.copy()
        changed[i + 1] += 3
        if not np.allclose(attend(changed)[i], attend(x)[i]):
            return True
    return False


def reversed_text(attend, x, rng):
    return not np.allclose(attend(x[::-1])[::-1], attend(x))


def result_differs_from_x(attend, x, rng):
    return not np.allclose(attend(x), x)


def assumed_tight(attend, x, rng):
    return False


def noise_in_every_future(attend, x, rng):
    before = attend(x)
    for t in range(len(x)):
        other = x.copy()
        other[t + 1 :] = rng.standard_normal(other[t + 1 :].shape)
        if not np.allclose(before[: t + 1], attend(other)[: t + 1]):
            return True
    return False


def shorter_texts(attend, x, rng):
    whole = attend(x)
    return any(not np.allclose(attend(x[:n]), whole[:n]) for n in range(1, len(x) + 1))


def row_pairs(attend, x, rng):
    n = len(x)
    found = np.zeros((n, n), dtype=bool)
    for j in range(n):
        changed = x.copy()
        changed[j] += rng.uniform(1, 2, size=x.shape[1])
        found[:, j] = np.abs(attend(changed) - attend(x)).max(axis=1) > 1e-6
    return bool(np.triu(found, k=1).any())


def huge_future(attend, x, rng):
    out = attend(x)
    for t in range(1, len(x)):
        changed = np.vstack([x[:t], 1e6 * np.ones_like(x[t:])])
        if (attend(changed)[:t] != out[:t]).any():
            return True
    return False


def future_zeroed(attend, x, rng):
    leaks = []
    for t in range(1, len(x)):
        changed = np.concatenate([x[:t], np.zeros(x[t:].shape)])
        leaks.append(np.abs(attend(changed)[:t] - attend(x)[:t]).sum())
    return max(leaks) > 1e-9


WRONG = {
    "causal_mask": [
        (lower_ones, "numbers-not-booleans"), (upper_ones_like_elsewhere, "inverted"),
        (loop_without_itself, "strictly-past"), (to_be_added, "additive-not-boolean"),
        (to_be_added_with_nan, "wrong-dtype"), (ones_called_wrongly, "raises"),
        (nothing_visible, None), (ragged_rows, "wrong-shape"), (one_row_only, "wrong-shape"),
        (diagonal_one_up, "one-too-many"), (columns_cleared, "future-only"),
        (two_lengths, "raises"), (mask_printed, "prints-instead-of-returning"),
        (tokens_marked, "wrong-dtype"), (upside_down, None), (three_only, "hard-coded"),
    ],
    "predict_causal_mixture": [
        ([5, 5, 5, 5], "no-mask"), ([12, 6, 6, 4], "averages-averages"),
        ([1, 0.5, 0.33, 0.25], "weights-not-results"), ([0, 12, 6, 6], "excludes-itself"),
        ([12, 12, 18, 20], "sum-not-mean"), ([3, 3, 4.5, 5], "masked-after-softmax"),
        ([5, 2.67, 4, 2], "future-instead-of-past"), ([12, 6, 6], "wrong-shape"),
        ([12, 6, 9, 6.67], None), ("12 6 6 5", "wrong-dtype"), ([3, 0, 1.5, 0.5], None),
    ],
    "rectangular_causal_mask": [
        (tri_of_both, "top-left-aligned"), (last_rows, "never-more-queries"),
        (sliced_from_the_front, "never-more-queries"), (strictly_before, "one-too-few"),
        (positions_from_the_end, "upside-down"), (last_query_is_at_n_key, "one-too-many"),
        (upper_part_marked, "inverted"), (all_open, "everything-allowed"),
        (past_and_triangle, "never-more-queries"), (keys_down_queries_across, "transposed"),
        (difference_reversed, "shifted-backwards"), (tri_with_shift, "numbers-not-booleans"),
        (positions_not_a_column, "raises"), (lower_ones, "raises"),
    ],
    "sliding_window_mask": [
        (young_enough, "not-causal"), (near_enough, "two-sided"),
        (from_i_minus_window, "one-too-many"), (difference_of_triangles, "numbers-not-booleans"),
        (old_triangle, "outside-the-window"), (slice_with_negative_start, "negative-start"),
        (index_that_wraps, "negative-start"), (without_its_own, "excludes-itself"),
        (blocks, "fixed-window"), (triu_off_by_one, "one-too-many"),
        (forgets_the_window, "no-window"), (one_side_of_half, "two-sided"),
        (chained_comparison, "raises"), (without_parentheses, "raises"),
    ],
    "fault_padded_mask": [
        (real_in_front, "axis-missing"), (union, "either-not-both"), (only_real, "padding-only"),
        (first_ones_real, "padding-at-the-end"), (only_padding_visible, "padding-shown"),
        (no_axis_at_all, "axis-missing"), (turned_real, None),
        (turned_triangle, "future-instead-of-past"), (multiplied, "numbers-not-booleans"),
    ],
    "causal_attention": [
        (forgot_the_scale, "unscaled"), (forgot_the_mask, "no-mask"),
        (lower_weights, "masked-after-softmax"), (lower_weights_divided, "renormalised-too-late"),
        (lower_scores, "masked-scores-zero"), (mistyped_fill, "masked-scores-zero"),
        (fill_of_minus_hundred, "finite-fill"), (fill_of_minus_forty, "finite-fill"),
        (fill_below_the_smallest, "finite-fill"), (times_infinity, "nan-from-zero-times-inf"),
        (mask_where_false, "future-instead-of-past"), (plain_exponentials, "no-max-shift"),
        (plain_exponentials_times_mask, "no-max-shift"), (divided_by_d_head, "wrong-scale"),
        (divided_by_model_width, "wrong-scale"), (tokens_mixed, "no-value-projection"),
        (past_without_self, "excludes-itself"), (diagonal_hidden_too, "excludes-itself"),
        (zeros_hidden, "zero-taken-for-masked"), (maximum_before_the_mask, "renormalised-too-late"),
        (one_maximum_for_all, "global-max"), (one_sum_for_all, "global-sum"),
        (softmax_forgotten, "no-softmax"), (columns_normalised, "wrong-axis"),
        (scores_turned, "queries-keys-swapped"), (weights_too, "wrong-shape"),
        (weights_first, "weights-first"), (features_for_tokens, "raises"),
        (unmasked_and_unscaled, None), (keys_for_queries, "queries-with-queries"),
        (written_into_x, None), (_masked_after_and_unscaled, "unscaled"),
    ],
    "leaks_future": [
        (last_row_changed, "checks-last-position-only"), (everything_compared, "counts-itself"),
        (own_row_compared, "counts-itself"), (first_row_changed, "perturbs-the-past"),
        (past_changed, "perturbs-the-past"), (tiny_noise, "change-too-small"),
        (same_shape, "compares-shapes"), (returns_in_the_first_round, "checks-one-cut-only"),
        (half_changed, "checks-one-cut-only"), (x_itself_changed, "mutates-input"),
        (forgot_the_copy, "changes-nothing"), (change_thrown_away, "changes-nothing"),
        (future_shuffled, "shuffles-the-future"), (stops_too_soon, "one-cut-missing"),
        (forgot_the_not, "inverted"), (places_of_the_leaks, None),
        (next_row_only, "neighbours-only"), (reversed_text, None),
        (result_differs_from_x, "compares-with-x"), (assumed_tight, "always-false"),
    ],
}

RIGHT = {
    "causal_mask": [cumulated, filled_by_indices, rows_of_lists, by_subtraction],
    "predict_causal_mixture": [[12, 6, 6, 5], (12.0, 6.0, 6.0, 5.0), np.array([12, 6, 6, 5]),
                               "12, 6, 6, 5"],
    "rectangular_causal_mask": [nested_ifs, cut_from_a_larger_one, counted_row_by_row],
    "sliding_window_mask": [clipped_start, triangle_and_not_old, by_distance, in_range],
    "fault_padded_mask": [rows_left_hidden, short_index, sample_by_sample, start_as_three_axes],
    "causal_attention": [infinite_fill, large_fill, added_triangle, loops_over_the_past,
                         scaled_queries_float32, exponentials_of_visible_ones],
    "leaks_future": [noise_in_every_future, shorter_texts, row_pairs, huge_future, future_zeroed],
}
