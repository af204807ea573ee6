"""Answers of a second class to the exercises on causal masks, written from their prompts alone."""

import math

import numpy as np

# --- causal_mask ---


def mask_upper_triangle(n):
    return np.triu(np.ones((n, n), dtype=bool))


def mask_without_own_position(n):
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for j in range(i):
            mask[i, j] = True
    return mask


def mask_one_too_far(n):
    return np.tri(n, k=1).astype(bool)


def mask_of_hidden_ones(n):
    # True = "masked", as some libraries have it
    return ~np.tri(n, dtype=bool)


def mask_additive(n):
    return np.where(np.tri(n, dtype=bool), 0.0, -np.inf)


def mask_truth_of_product(n):
    # lower triangle of a table of position numbers, "not zero" is visible
    table = np.outer(np.arange(n), np.ones(n))
    return np.tril(table).astype(bool)


def mask_last_row_forgotten(n):
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n - 1):
        mask[i, : i + 1] = True
    return mask


def mask_shared_row(n):
    # one list is used for all rows, so all end up as the last one
    row = [False] * n
    mask = []
    for i in range(n):
        row[i] = True
        mask.append(row)
    return np.array(mask, dtype=bool).reshape(n, n)


def mask_int8_positions(n):
    # positions kept in a byte: they turn negative from 128 on
    positions = (np.arange(n) % 256).astype(np.uint8).view(np.int8)
    return positions[:, None] >= positions


def mask_by_tri(n):
    return np.tri(n, dtype=bool)


def mask_by_comparison(n):
    places = np.arange(n)
    return places <= places.reshape(-1, 1)


def mask_by_row_lists(n):
    rows = [[True] * (i + 1) + [False] * (n - i - 1) for i in range(n)]
    return np.array(rows, dtype=bool).reshape(n, n)


def mask_by_double_loop(n):
    mask = np.empty((n, n), dtype=bool)
    for i in range(n):
        for j in range(n):
            mask[i, j] = not j > i
    return mask


def mask_by_cumulative_or(n):
    return np.logical_or.accumulate(np.eye(n, dtype=bool)[:, ::-1], axis=1)[:, ::-1]


def mask_by_indices(n):
    def distance(i, j):
        return i - j

    return np.fromfunction(distance, (n, n), dtype=int) >= 0


# --- rectangular_causal_mask ---


def rectangle_from_the_first_key(n_query, n_key):
    return np.tri(n_query, n_key, dtype=bool)


def rectangle_offset_swapped(n_query, n_key):
    i = np.arange(n_query)[:, None]
    j = np.arange(n_key)
    return j <= i + (n_query - n_key)


def rectangle_last_query_misses_own(n_query, n_key):
    return np.tri(n_query, n_key, k=n_key - n_query - 1, dtype=bool)


def rectangle_past_one_too_long(n_query, n_key):
    past = n_key - n_query
    mask = np.zeros((n_query, n_key), dtype=bool)
    for i in range(n_query):
        for j in range(n_key):
            if j <= past + i + 1:
                mask[i, j] = True
    return mask


def rectangle_last_rows_of_square(n_query, n_key):
    # fine unless there are more queries than keys, or none
    return np.tri(n_key, dtype=bool)[-n_query:]


def rectangle_past_not_negative(n_query, n_key):
    past = max(0, n_key - n_query)
    return np.arange(n_key) <= past + np.arange(n_query)[:, None]


def rectangle_distance_of_lengths(n_query, n_key):
    past = abs(n_key - n_query)
    return np.tri(n_query, n_key, past, dtype=bool)


def rectangle_hides_from_the_right(n_query, n_key):
    # counts from the end, but a row that should see nothing grows too long and is cut
    rows = []
    for i in range(n_query):
        hidden = n_query - 1 - i
        row = [True] * n_key
        for j in range(1, hidden + 1):
            row[-min(j, n_key - 1)] = False
        rows.append(row)
    return np.array(rows, dtype=bool).reshape(n_query, n_key)


def rectangle_slice_with_negative_end(n_query, n_key):
    # mask[i, :end] with end < 0 counts from the right
    mask = np.zeros((n_query, n_key), dtype=bool)
    for i in range(n_query):
        mask[i, : n_key - n_query + i + 1] = True
    return mask


def rectangle_transposed(n_query, n_key):
    return np.tri(n_key, n_query, k=n_query - n_key, dtype=bool).T


def rectangle_by_tri(n_query, n_key):
    return np.tri(n_query, n_key, n_key - n_query, dtype=bool)


def rectangle_from_the_end(n_query, n_key):
    query_left = np.arange(n_query)[::-1, None]
    key_left = np.arange(n_key)[::-1]
    return key_left >= query_left


def rectangle_of_large_square(n_query, n_key):
    n = max(n_query, n_key)
    square = np.tri(n, dtype=bool)
    return square[n - n_query :, n - n_key :]


def rectangle_by_lists(n_query, n_key):
    rows = []
    for i in range(n_query):
        seen = max(0, n_key - (n_query - 1 - i))
        rows.append([True] * seen + [False] * (n_key - seen))
    return np.array(rows, dtype=bool).reshape((n_query, n_key))


def rectangle_by_double_loop(n_query, n_key):
    mask = np.zeros((n_query, n_key), dtype=bool)
    for back_query in range(1, n_query + 1):
        for back_key in range(1, n_key + 1):
            mask[n_query - back_query, n_key - back_key] = back_key >= back_query
    return mask


# --- sliding_window_mask ---


def window_one_key_too_many(n, window):
    i, j = np.arange(n)[:, None], np.arange(n)
    return (j <= i) & (j >= i - window)


def window_own_key_not_counted(n, window):
    i, j = np.arange(n)[:, None], np.arange(n)
    return (j < i) & (j >= i - window)


def window_on_both_sides(n, window):
    places = np.arange(n)
    return np.abs(places[:, None] - places) < window


def window_into_the_future(n, window):
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        mask[i, i : i + window] = True
    return mask


def window_of_negative_slice(n, window):
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        mask[i, i - window + 1 : i + 1] = True
    return mask


def window_rolls_around(n, window):
    row = np.arange(n) < window
    return np.array([np.roll(row[::-1], i + 1) for i in range(n)], dtype=bool).reshape(n, n)


def window_at_most_n_minus_one(n, window):
    # "one cannot look back farther than there are others"
    window = min(window, n - 1)
    i, j = np.arange(n)[:, None], np.arange(n)
    return (j <= i) & (i - j < window)


def window_in_blocks(n, window):
    # blocks of the window's length instead of a window that moves
    i, j = np.arange(n)[:, None], np.arange(n)
    return (j <= i) & (i // window == j // window)


def window_farthest_keys(n, window):
    mask = np.tri(n, dtype=bool)
    mask[:, window:] = False
    return mask


def window_only_plain_triangle(n, window):
    return np.tri(n, dtype=bool)


def window_only_exact_diagonal(n, window):
    # the diagonal and the one at the window's edge, but nothing between: fine for window <= 2
    return np.eye(n, dtype=bool) | np.eye(n, k=-(window - 1), dtype=bool)


def window_two_triangles(n, window):
    return np.tri(n, dtype=bool) & ~np.tri(n, k=-window, dtype=bool)


def window_by_distance(n, window):
    distance = np.subtract.outer(np.arange(n), np.arange(n))
    return np.logical_and(distance >= 0, distance < window)


def window_by_clipped_slice(n, window):
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        mask[i, max(0, i + 1 - window) : i + 1] = True
    return mask


def window_by_diagonals(n, window):
    mask = np.zeros((n, n), dtype=bool)
    for back in range(min(window, n)):
        mask |= np.eye(n, k=-back, dtype=bool)
    return mask


def window_by_sets(n, window):
    rows = [[j in range(i - window + 1, i + 1) for j in range(n)] for i in range(n)]
    return np.array(rows, dtype=bool).reshape(n, n)


def window_by_running_sum(n, window):
    # how many keys from j up to the query: between 1 and window
    counted = np.tri(n, dtype=np.int64)[:, ::-1].cumsum(axis=1)[:, ::-1]
    return np.tri(n, dtype=bool) & (counted <= window)


# --- fault_padded_mask ---


def padded_left_as_it_was(lengths, n):
    real = np.arange(n) >= n - lengths[:, None]  # (batch, n)
    causal = np.tri(n, dtype=bool)  # (n, n)
    return causal & real[:, :, None]  # (batch, n, n)


def padded_real_turned_round(lengths, n):
    # padding is taken to be at the end
    real = np.arange(n) < lengths[:, None]
    causal = np.tri(n, dtype=bool)
    return causal & real[:, None, :]


def padded_line_one_changed_alone(lengths, n):
    real = np.arange(n) > n - lengths[:, None]
    causal = np.tri(n, dtype=bool)
    return causal & real[:, :, None]


def padded_one_more_hidden(lengths, n):
    real = np.arange(n) > n - lengths[:, None]
    causal = np.tri(n, dtype=bool)
    return causal & real[:, None, :]


def padded_causal_transposed(lengths, n):
    real = np.arange(n) >= n - lengths[:, None]
    causal = np.tri(n, dtype=bool).T
    return causal & real[:, None, :]


def padded_or_for_and(lengths, n):
    real = np.arange(n) >= n - lengths[:, None]
    causal = np.tri(n, dtype=bool)
    return causal | real[:, None, :]


def padded_real_queries_see_all_real(lengths, n):
    real = np.arange(n) >= n - lengths[:, None]
    return real[:, :, None] & real[:, None, :]


def padded_first_axis_lost(lengths, n):
    # fits by broadcasting only if the batch is 1 or n, and mixes samples if it is n
    real = np.arange(n) >= n - lengths[:, None]
    causal = np.tri(n, dtype=bool)
    return np.broadcast_to(causal & real, (len(lengths), n, n))


def padded_own_position_kept(lengths, n):
    # lets every padded query see itself, so that no row is empty
    real = np.arange(n) >= n - lengths[:, None]
    causal = np.tri(n, dtype=bool)
    return (causal & real[:, None, :]) | np.eye(n, dtype=bool)


def padded_slice_of_last(lengths, n):
    # [-length:] with length 0 marks everything
    real = np.zeros((len(lengths), n), dtype=bool)
    for b, length in enumerate(lengths):
        real[b, -length:] = True
    return np.tri(n, dtype=bool) & real[:, None, :]


def padded_key_axis(lengths, n):
    real = np.arange(n) >= n - lengths[:, None]  # (batch, n)
    causal = np.tri(n, dtype=bool)  # (n, n)
    return causal & real[:, None, :]  # (batch, n, n)


def padded_key_axis_short(lengths, n):
    real = np.arange(n) >= n - lengths[:, None]
    causal = np.tri(n, dtype=bool)
    return causal & real[:, np.newaxis]


def padded_both_axes(lengths, n):
    # a query that sees a real key is real itself, so the second condition changes nothing
    real = np.arange(n) >= n - lengths[:, None]
    causal = np.tri(n, dtype=bool)
    return causal & real[:, None, :] & real[:, :, None]


def padded_by_loops(lengths, n):
    mask = np.zeros((len(lengths), n, n), dtype=bool)
    for b in range(len(lengths)):
        first = n - int(lengths[b])
        for i in range(first, n):
            mask[b, i, first : i + 1] = True
    return mask


def padded_by_einsum(lengths, n):
    real = np.arange(n) >= n - lengths[:, None]
    causal = np.tri(n)
    return np.einsum("bj,ij->bij", real.astype(float), causal) > 0.5


def padded_swapped_axes(lengths, n):
    real = np.arange(n) >= n - lengths[:, None]
    causal = np.tri(n, dtype=bool)
    return causal & real[:, :, None].swapaxes(1, 2)


# --- causal_attention ---


def head_without_mask(x, wq, wk, wv):
    s = (x @ wq) @ (x @ wk).T / np.sqrt(wq.shape[1])
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ (x @ wv)


def head_without_scale(x, wq, wk, wv):
    s = (x @ wq) @ (x @ wk).T
    s = np.where(np.tri(len(x), dtype=bool), s, -np.inf)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ (x @ wv)


def head_scaled_by_d_model(x, wq, wk, wv):
    s = (x @ wq) @ (x @ wk).T / np.sqrt(x.shape[1])
    s = np.where(np.tri(len(x), dtype=bool), s, -np.inf)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ (x @ wv)


def head_masks_after_softmax(x, wq, wk, wv):
    s = (x @ wq) @ (x @ wk).T / np.sqrt(wq.shape[1])
    e = np.exp(s - s.max(axis=1, keepdims=True))
    weights = e / e.sum(axis=1, keepdims=True)
    return np.tril(weights) @ (x @ wv)


def head_hidden_scores_zero(x, wq, wk, wv):
    s = (x @ wq) @ (x @ wk).T / np.sqrt(wq.shape[1])
    s = s * np.tri(len(x))
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ (x @ wv)


def head_plain_exponentials(x, wq, wk, wv):
    s = (x @ wq) @ (x @ wk).T / np.sqrt(wq.shape[1])
    e = np.tril(np.exp(s))
    return e / e.sum(axis=1, keepdims=True) @ (x @ wv)


def head_maximum_before_mask(x, wq, wk, wv):
    s = (x @ wq) @ (x @ wk).T / np.sqrt(wq.shape[1])
    e = np.tril(np.exp(s - s.max(axis=1, keepdims=True)))
    return e / e.sum(axis=1, keepdims=True) @ (x @ wv)


def head_one_maximum_for_all(x, wq, wk, wv):
    s = (x @ wq) @ (x @ wk).T / np.sqrt(wq.shape[1])
    s = np.where(np.tri(len(x), dtype=bool), s, -np.inf)
    e = np.exp(s - s.max())
    return e / e.sum(axis=1, keepdims=True) @ (x @ wv)


def head_hides_with_minus_thousand(x, wq, wk, wv):
    s = (x @ wq) @ (x @ wk).T / math.sqrt(wq.shape[1])
    s = s - 1000.0 * np.triu(np.ones((len(x), len(x))), k=1)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ (x @ wv)


def head_zero_score_is_hidden(x, wq, wk, wv):
    # a score that is 0 by itself is taken for a hidden one
    s = np.tril((x @ wq) @ (x @ wk).T / np.sqrt(wq.shape[1]), k=-1)
    s = np.where(s == 0, -np.inf, s)
    own = np.einsum("ij,ij->i", x @ wq, x @ wk) / np.sqrt(wq.shape[1])
    np.fill_diagonal(s, own)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ (x @ wv)


def head_softmax_down_the_columns(x, wq, wk, wv):
    s = (x @ wq) @ (x @ wk).T / np.sqrt(wq.shape[1])
    s = np.where(np.tri(len(x), dtype=bool), s, -np.inf)
    e = np.exp(s - s.max(axis=0))
    return e / e.sum(axis=0) @ (x @ wv)


def head_queries_and_keys_swapped(x, wq, wk, wv):
    s = (x @ wk) @ (x @ wq).T / np.sqrt(wq.shape[1])
    s = np.where(np.tri(len(x), dtype=bool), s, -np.inf)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ (x @ wv)


def head_vectorised(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    scores = q @ k.T / np.sqrt(q.shape[-1])
    scores = np.where(np.tri(len(x), dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights @ v


def head_token_by_token(x, wq, wk, wv):
    d_head = wq.shape[1]
    out = np.zeros((len(x), wv.shape[1]))
    for t in range(len(x)):
        seen = x[: t + 1]
        s = (seen @ wk) @ (x[t] @ wq) / np.sqrt(d_head)
        e = np.exp(s - np.max(s))
        out[t] = (e[:, None] * (seen @ wv)).sum(axis=0) / e.sum()
    return out


def head_with_plain_loops(x, wq, wk, wv):
    q, k, v = (x @ wq).tolist(), (x @ wk).tolist(), (x @ wv).tolist()
    scale = 1.0 / math.sqrt(len(q[0]))
    rows = []
    for i, query in enumerate(q):
        s = [scale * math.fsum(a * b for a, b in zip(query, k[j], strict=True))
             for j in range(i + 1)]
        top = max(s)
        e = [math.exp(score - top) for score in s]
        total = sum(e)
        width = len(v[0])
        rows.append([sum(e[j] * v[j][c] for j in range(i + 1)) / total for c in range(width)])
    return np.array(rows)


def head_by_einsum(x, wq, wk, wv):
    q = np.einsum("nd,dh->nh", x, wq) * wq.shape[1] ** -0.5
    k = np.einsum("nd,dh->nh", x, wk)
    v = np.einsum("nd,dv->nv", x, wv)
    s = np.einsum("ih,jh->ij", q, k)
    i, j = np.indices(s.shape)
    s[j > i] = -np.inf
    e = np.exp(s - s.max(axis=1)[:, None])
    return np.einsum("ij,jv,i->iv", e, v, 1 / e.sum(axis=1))


def head_weights_in_float32(x, wq, wk, wv):
    q, k = np.asarray(x, float) @ wq, np.asarray(x, float) @ wk
    s = q @ k.T / np.sqrt(wq.shape[1])
    s[np.triu_indices(len(x), k=1)] = -np.inf
    e = np.exp((s - s.max(axis=1, keepdims=True)).astype(np.float32))
    e = e.astype(np.float64)
    return e / e.sum(axis=1, keepdims=True) @ (x @ wv)


def head_with_helpers_inside(x, wq, wk, wv):
    def softmax(row):
        e = np.exp(row - row.max())
        return e / e.sum()

    def hide_future(table):
        table = np.array(table, dtype=float)
        for i in range(len(table)):
            table[i, i + 1 :] = -np.inf
        return table

    hidden = hide_future((x @ wq) @ (x @ wk).T / np.sqrt(wk.shape[1]))
    return np.stack([softmax(row) for row in hidden]) @ (x @ wv)


# --- leaks_future ---


def leak_first_row_against_last(attend, x, rng):
    changed = np.array(x, dtype=float)
    changed[-1] += 100 * rng.normal(size=x.shape[1])
    return bool(np.any(attend(changed)[0] != attend(x)[0]))


def leak_only_last_row_changed(attend, x, rng):
    changed = np.array(x, dtype=float)
    changed[-1] += 100 * rng.normal(size=x.shape[1])
    return not np.allclose(attend(changed)[:-1], attend(x)[:-1])


def leak_small_nudges(attend, x, rng):
    before = attend(x)
    for j in range(1, len(x)):
        changed = np.array(x, dtype=float)
        changed[j] += 1e-3 * rng.normal(size=x.shape[1])
        if not np.allclose(attend(changed)[:j], before[:j]):
            return True
    return False


def leak_next_row_alone(attend, x, rng):
    before = attend(x)
    for j in range(1, len(x)):
        changed = np.array(x, dtype=float)
        changed[j] += 100 * rng.normal(size=x.shape[1])
        if not np.allclose(attend(changed)[j - 1], before[j - 1]):
            return True
    return False


def leak_own_row_compared_too(attend, x, rng):
    before = attend(x)
    for j in range(len(x)):
        changed = np.array(x, dtype=float)
        changed[j] += 100 * rng.normal(size=x.shape[1])
        if not np.allclose(attend(changed)[: j + 1], before[: j + 1]):
            return True
    return False


def leak_past_changed(attend, x, rng):
    # changes the earlier rows and looks at the later ones
    before = attend(x)
    for j in range(1, len(x)):
        changed = np.array(x, dtype=float)
        changed[:j] += 100 * rng.normal(size=(j, x.shape[1]))
        if not np.allclose(attend(changed)[j:], before[j:]):
            return True
    return False


def leak_argument_written_over(attend, x, rng):
    # no copy: x and changed are one array
    before = np.array(attend(x))
    for j in range(1, len(x)):
        changed = x
        changed[j] += 100 * rng.normal(size=x.shape[1])
        if not np.allclose(attend(changed)[:j], before[:j]):
            return True
        before = np.array(attend(x))
    return False


def leak_all_rows_must_leak(attend, x, rng):
    before = attend(x)
    for i in range(len(x) - 1):
        changed = np.array(x, dtype=float)
        changed[i + 1 :] += 100 * rng.normal(size=changed[i + 1 :].shape)
        if np.allclose(attend(changed)[i], before[i]):
            return False
    return len(x) > 1


def leak_last_answer_counts(attend, x, rng):
    before = attend(x)
    leak = False
    for j in range(1, len(x)):
        changed = np.array(x, dtype=float)
        changed[j] += 100 * rng.normal(size=x.shape[1])
        leak = not np.allclose(attend(changed)[:j], before[:j])
    return leak


def leak_means_compared(attend, x, rng):
    # compares the mean of each row, so that changes which cancel go unseen
    before = attend(x)
    for j in range(1, len(x)):
        changed = np.array(x, dtype=float)
        changed[j] += 100 * rng.normal(size=x.shape[1])
        if not np.allclose(attend(changed)[:j].mean(axis=1), before[:j].mean(axis=1)):
            return True
    return False


def leak_only_first_half(attend, x, rng):
    # one cut in the middle: leaks that do not cross it are missed
    half = len(x) // 2
    changed = np.array(x, dtype=float)
    changed[half:] += 100 * rng.normal(size=changed[half:].shape)
    return not np.allclose(attend(changed)[:half], attend(x)[:half])


def leak_shifted_all_alike(attend, x, rng):
    # adds the same number to all later features: differences between them stay
    before = attend(x)
    for j in range(1, len(x)):
        changed = np.array(x, dtype=float)
        changed[j:] += 1000.0
        if not np.allclose(attend(changed)[:j], before[:j]):
            return True
    return False


def leak_row_by_row(attend, x, rng):
    before = np.array(attend(x.copy()), dtype=float)
    for j in range(1, len(x)):
        for size in (1.0, 10.0, 100.0, 1000.0):
            for _ in range(6):
                changed = np.array(x, dtype=float)
                changed[j] += size * rng.normal(size=x.shape[1])
                after = np.array(attend(changed), dtype=float)
                if not np.allclose(after[:j], before[:j], rtol=1e-8, atol=1e-10):
                    return True
    return False


def leak_all_later_rows(attend, x, rng):
    start = np.array(x, dtype=float)
    before = np.array(attend(start.copy()))
    found = False
    for i in range(len(start) - 1):
        for size in [0.5, 5, 50, 500]:
            for sign in [1, -1]:
                noise = size * rng.uniform(0.5, 2.0, size=start[i + 1 :].shape)
                mixed = noise * rng.choice([-1, 1], size=noise.shape)
                for change in (mixed, sign * noise):
                    other = start.copy()
                    other[i + 1 :] = other[i + 1 :] + change
                    now = np.array(attend(other))[: i + 1]
                    found = found or not np.allclose(now, before[: i + 1], atol=1e-9)
    return bool(found)


def leak_replaced_rows(attend, x, rng):
    n, d = x.shape

    def answer(array):
        return np.array(attend(np.array(array, dtype=float)))

    def differs(one, other):
        return not np.allclose(one, other, rtol=1e-7, atol=1e-9)

    before = answer(x)
    trials = [rng.normal(scale=s, size=(n, d)) for s in (1, 3, 30, 300, 1000) for _ in range(5)]
    return any(
        differs(answer(np.vstack([x[:j], new[j : j + 1], x[j + 1 :]]))[:j], before[:j])
        or differs(answer(np.vstack([x[:j], new[j:]]))[:j], before[:j])
        for j in range(1, n)
        for new in trials
    )


def leak_table_of_differences(attend, x, rng):
    # reach[i, j]: how much row i moves when row j does
    n = len(x)
    base = np.array(attend(np.array(x, dtype=float)))
    reach = np.zeros((n, n))
    for j in range(n):
        for size in (1, 20, 400, -400):
            for _ in range(5):
                moved = np.array(x, dtype=float)
                moved[j] += size * (1 + rng.random(x.shape[1])) * rng.choice([-1, 1])
                moved[j] += 0.1 * size * rng.normal(size=x.shape[1])
                change = np.abs(np.array(attend(moved)) - base)
                change = np.where(np.isnan(change), np.inf, change).max(axis=1)
                reach[:, j] = np.maximum(reach[:, j], change)
    return bool((np.triu(reach, k=1) > 1e-9 * (1 + np.abs(base).max())).any())


def leak_two_random_futures(attend, x, rng):
    for _ in range(10):
        for j in range(1, len(x)):
            for size in (2.0, 40.0, 800.0):
                one, two = np.array(x, dtype=float), np.array(x, dtype=float)
                one[j] = size * rng.normal(size=x.shape[1])
                if rng.random() < 0.5:
                    two[j:] = size * rng.normal(size=two[j:].shape)
                a = np.array(attend(one))[:j]
                b = np.array(attend(two))[:j]
                if not np.allclose(a, b, rtol=1e-8, atol=1e-10):
                    return True
    return False


WRONG = {
    "causal_mask": [
        (mask_upper_triangle, "future-only"),
        (mask_without_own_position, "strictly-past"),
        (mask_one_too_far, "one-too-many"),
        (mask_of_hidden_ones, "inverted"),
        (mask_additive, "additive-not-boolean"),
        (mask_truth_of_product, "row-left-empty"),
        (mask_last_row_forgotten, "row-left-empty"),
        (mask_shared_row, "everything-allowed"),
        (mask_int8_positions, None),
    ],
    "predict_causal_mixture": [
        # the head averages all four values: (12 + 0 + 6 + 2) / 4, and does so everywhere
        ([5.0, 5.0, 5.0, 5.0], "no-mask"),
        # equal weights of 1, so running sums
        ([12, 12, 18, 20], "sum-not-mean"),
        # each position sees those before it, but not itself
        ([0, 12, 6, 6], "excludes-itself"),
        # each position sees itself and what comes after
        ([5, 2.67, 4, 2], "future-instead-of-past"),
        # the weights are 1/4 each, the hidden ones are left out
        ([3, 3, 4.5, 5], "masked-after-softmax"),
        # mean of the result before and the new value: 12, 6, 6, (6 + 2) / 2
        ([12, 6, 6, 4], "averages-averages"),
        # the token with value 0 adds nothing, so it is not counted
        ([12, 12, 9, 6.67], "zero-not-counted"),
        # each token attends to itself
        ([12, 0, 6, 2], "itself-only"),
        # (12 + 0) / 2 = 6, (12 + 6) / 2 = 9, 20 / 4 = 5
        ([12, 6, 9, 5], None),
        # one number for the last token is asked for, I think
        (5, "last-position-only"),
    ],
    "rectangular_causal_mask": [
        (rectangle_from_the_first_key, "top-left-aligned"),
        (rectangle_offset_swapped, "shifted-backwards"),
        (rectangle_last_query_misses_own, "one-too-few"),
        (rectangle_past_one_too_long, "one-too-many"),
        (rectangle_last_rows_of_square, "never-more-queries"),
        (rectangle_past_not_negative, "never-more-queries"),
        (rectangle_distance_of_lengths, "never-more-queries"),
        (rectangle_hides_from_the_right, "never-more-queries"),
        (rectangle_slice_with_negative_end, "never-more-queries"),
        (rectangle_transposed, "future-only"),
    ],
    "sliding_window_mask": [
        (window_one_key_too_many, "one-too-many"),
        (window_own_key_not_counted, "excludes-itself"),
        (window_on_both_sides, "two-sided"),
        (window_into_the_future, "looks-ahead"),
        (window_of_negative_slice, "negative-start"),
        (window_rolls_around, "negative-start"),
        (window_at_most_n_minus_one, "never-the-whole-text"),
        (window_in_blocks, "fixed-window"),
        (window_farthest_keys, "fixed-window"),
        (window_only_plain_triangle, "no-window"),
        (window_only_exact_diagonal, "ends-only"),
    ],
    "fault_padded_mask": [
        (padded_left_as_it_was, "hides-queries"),
        (padded_real_turned_round, "padding-at-the-end"),
        (padded_line_one_changed_alone, "hides-queries"),
        (padded_one_more_hidden, "one-real-key-off"),
        (padded_causal_transposed, "future-instead-of-past"),
        (padded_or_for_and, "either-not-both"),
        (padded_real_queries_see_all_real, "padding-only"),
        (padded_first_axis_lost, "axis-missing"),
        (padded_own_position_kept, "empty-rows-filled"),
        (padded_slice_of_last, "length-zero"),
    ],
    "causal_attention": [
        (head_without_mask, "no-mask"),
        (head_without_scale, "unscaled"),
        (head_scaled_by_d_model, "wrong-scale"),
        (head_masks_after_softmax, "masked-after-softmax"),
        (head_hidden_scores_zero, "masked-scores-zero"),
        (head_plain_exponentials, "no-max-shift"),
        (head_maximum_before_mask, "renormalised-too-late"),
        (head_one_maximum_for_all, "global-max"),
        (head_hides_with_minus_thousand, "finite-fill"),
        (head_zero_score_is_hidden, "zero-taken-for-masked"),
        (head_softmax_down_the_columns, "wrong-axis"),
        (head_queries_and_keys_swapped, "queries-keys-swapped"),
    ],
    "leaks_future": [
        (leak_first_row_against_last, "checks-last-position-only"),
        (leak_only_last_row_changed, "checks-last-position-only"),
        (leak_small_nudges, "change-too-small"),
        (leak_next_row_alone, "neighbours-only"),
        (leak_own_row_compared_too, "counts-itself"),
        (leak_past_changed, "perturbs-the-past"),
        (leak_argument_written_over, "mutates-input"),
        (leak_all_rows_must_leak, "asks-for-all"),
        (leak_last_answer_counts, "checks-last-position-only"),
        (leak_means_compared, "compares-means"),
        (leak_only_first_half, "checks-one-cut-only"),
        (leak_shifted_all_alike, "same-change-everywhere"),
    ],
}

RIGHT = {
    "causal_mask": [
        mask_by_tri,
        mask_by_comparison,
        mask_by_row_lists,
        mask_by_double_loop,
        mask_by_cumulative_or,
        mask_by_indices,
    ],
    "predict_causal_mixture": [
        [12, 6, 6, 5],
        (12.0, 6.0, 6.0, 5.0),
        np.array([12, 6, 6, 5]),
        np.cumsum([12, 0, 6, 2]) / np.arange(1, 5),
        [12 / 1, (12 + 0) / 2, (12 + 0 + 6) / 3, (12 + 0 + 6 + 2) / 4],
        np.array([12.0, 6.0, 6.0, 5.0], dtype=np.float32),
    ],
    "rectangular_causal_mask": [
        rectangle_by_tri,
        rectangle_from_the_end,
        rectangle_of_large_square,
        rectangle_by_lists,
        rectangle_by_double_loop,
    ],
    "sliding_window_mask": [
        window_two_triangles,
        window_by_distance,
        window_by_clipped_slice,
        window_by_diagonals,
        window_by_sets,
        window_by_running_sum,
    ],
    "fault_padded_mask": [
        padded_key_axis,
        padded_key_axis_short,
        padded_both_axes,
        padded_by_loops,
        padded_by_einsum,
        padded_swapped_axes,
    ],
    "causal_attention": [
        head_vectorised,
        head_token_by_token,
        head_with_plain_loops,
        head_by_einsum,
        head_weights_in_float32,
        head_with_helpers_inside,
    ],
    "leaks_future": [
        leak_row_by_row,
        leak_all_later_rows,
        leak_replaced_rows,
        leak_table_of_differences,
        leak_two_random_futures,
    ],
}
