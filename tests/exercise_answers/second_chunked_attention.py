"""Answers of a second class to the exercises on chunks, written from their prompts alone."""
# ruff: noqa: E741 - l is the chapter's name for the running sum

import math

import numpy as np

# --- score_matrix_bytes ---


def table_of_one_head(n, n_heads, bytes_per_value):
    return n * n * bytes_per_value


def table_as_triangle(n, n_heads, bytes_per_value):
    return n * (n + 1) // 2 * n_heads * bytes_per_value


def table_two_n(n, n_heads, bytes_per_value):
    return 2 * n * n_heads * bytes_per_value


def table_without_diagonal(n, n_heads, bytes_per_value):
    return n * (n - 1) * n_heads * bytes_per_value


def table_heads_squared(n, n_heads, bytes_per_value):
    return (n * n_heads) ** 2 * bytes_per_value


def table_counts_numbers(n, n_heads, bytes_per_value):
    return n**2 * n_heads


def table_in_bits(n, n_heads, bytes_per_value):
    return 8 * n**2 * n_heads * bytes_per_value


def table_in_int32(n, n_heads, bytes_per_value):
    side = np.array([n], dtype=np.int32)
    return int((side * side * np.int32(n_heads) * np.int32(bytes_per_value))[0])


def table_with_weights(n, n_heads, bytes_per_value):
    # scores and weights are both stored
    return 2 * n * n * n_heads * bytes_per_value


def table_always_four_bytes(n, n_heads, bytes_per_value):
    return np.zeros((n_heads, n, n), dtype=np.float32).nbytes


def table_xor_for_power(n, n_heads, bytes_per_value):
    return (n ^ 2) * n_heads * bytes_per_value


def table_product(n, n_heads, bytes_per_value):
    return n_heads * n * n * bytes_per_value


def table_power(n, n_heads, bytes_per_value):
    return n**2 * (n_heads * bytes_per_value)


def table_math_prod(n, n_heads, bytes_per_value):
    return math.prod([int(n_heads), int(n), int(n), int(bytes_per_value)])


def table_row_by_row(n, n_heads, bytes_per_value):
    def one_row():
        return n * bytes_per_value

    total = 0
    for _ in range(n_heads):
        total += n * one_row()
    return total


def table_two_triangles(n, n_heads, bytes_per_value):
    shown = n * (n + 1) // 2
    hidden = n * (n - 1) // 2
    return (shown + hidden) * n_heads * bytes_per_value


# --- online_softmax_step ---


def online_l_not_rescaled(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(axis=1))
    p = np.exp(scores - new_m[:, None])
    old = np.exp(m - new_m)
    return new_m, l + p.sum(axis=1), old[:, None] * acc + p @ v


def online_acc_not_rescaled(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(axis=1))
    p = np.exp(scores - new_m[:, None])
    old = np.exp(m - new_m)
    return new_m, old * l + p.sum(axis=1), acc + p @ v


def online_nothing_rescaled(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(axis=1))
    p = np.exp(scores - new_m[:, None])
    return new_m, l + p.sum(axis=1), acc + p @ v


def online_rescaled_the_wrong_way(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(axis=1))
    p = np.exp(scores - new_m[:, None])
    old = np.exp(new_m - m)
    return new_m, old * l + p.sum(axis=1), old[:, None] * acc + p @ v


def online_maximum_of_chunk_alone(m, l, acc, scores, v):
    new_m = scores.max(axis=1)
    p = np.exp(scores - new_m[:, None])
    old = np.exp(m - new_m)
    return new_m, old * l + p.sum(axis=1), old[:, None] * acc + p @ v


def online_chunk_by_its_own_maximum(m, l, acc, scores, v):
    own = scores.max(axis=1)
    new_m = np.maximum(m, own)
    p = np.exp(scores - own[:, None])
    old = np.exp(m - new_m)
    return new_m, old * l + p.sum(axis=1), old[:, None] * acc + p @ v


def online_one_maximum_for_all(m, l, acc, scores, v):
    new_m = np.full(m.shape, max(m.max(), scores.max()))
    p = np.exp(scores - new_m[:, None])
    old = np.exp(m - new_m)
    return new_m, old * l + p.sum(axis=1), old[:, None] * acc + p @ v


def online_start_at_zero(m, l, acc, scores, v):
    # -inf looked dangerous: the start is put to 0, wrong if all scores are below 0
    m = np.where(np.isneginf(m), 0.0, m)
    new_m = np.maximum(m, scores.max(axis=1))
    p = np.exp(scores - new_m[:, None])
    old = np.exp(m - new_m)
    return new_m, old * l + p.sum(axis=1), old[:, None] * acc + p @ v


def online_writes_into_arguments(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(axis=1))
    p = np.exp(scores - new_m[:, None])
    old = np.exp(m - new_m)
    l *= old
    l += p.sum(axis=1)
    acc *= old[:, None]
    acc += p @ v
    return new_m, l, acc


def online_writes_into_scores(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(axis=1))
    scores -= new_m[:, None]
    np.exp(scores, out=scores)
    old = np.exp(m - new_m)
    return new_m, old * l + scores.sum(axis=1), old[:, None] * acc + scores @ v


def online_acc_divided(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(axis=1))
    p = np.exp(scores - new_m[:, None])
    old = np.exp(m - new_m)
    new_l = old * l + p.sum(axis=1)
    return new_m, new_l, (old[:, None] * acc + p @ v) / new_l[:, None]


def online_key_by_key(m, l, acc, scores, v):
    # key by key with a difference of maxima: -inf minus -inf where nothing was seen yet
    new_m, new_l, new_acc = m.copy(), l.copy(), acc.copy()
    for j in range(scores.shape[1]):
        top = np.maximum(new_m, scores[:, j])
        old, new = np.exp(new_m - top), np.exp(scores[:, j] - top)
        new_l = old * new_l + new
        new_acc = old[:, None] * new_acc + new[:, None] * v[j]
        new_m = top
    return new_m, new_l, new_acc


def online_vectorised(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(axis=1))
    p = np.exp(scores - new_m[:, None])
    old = np.exp(m - new_m)
    return new_m, old * l + p.sum(axis=1), old[:, None] * acc + p @ v


def online_query_by_query(m, l, acc, scores, v):
    ms, ls, accs = [], [], []
    for i in range(len(m)):
        top = max(float(m[i]), max(float(s) for s in scores[i]))
        old = math.exp(m[i] - top)
        total = old * l[i]
        row = old * np.array(acc[i], dtype=float)
        for j, s in enumerate(scores[i]):
            weight = math.exp(s - top)
            total += weight
            row = row + weight * v[j]
        ms.append(top)
        ls.append(total)
        accs.append(row)
    return np.array(ms), np.array(ls), np.array(accs)


def online_what_was_as_one_more_key(m, l, acc, scores, v):
    together = np.concatenate([m[:, None], scores], axis=1)
    top = together.max(axis=1, keepdims=True)
    p = np.exp(together - top)
    l_new = p[:, 0] * l + p[:, 1:].sum(axis=1)
    acc_new = np.einsum("i,iv->iv", p[:, 0], acc) + np.einsum("ij,jv->iv", p[:, 1:], v)
    return top[:, 0], l_new, acc_new


def online_in_copies(m, l, acc, scores, v):
    m, l, acc, scores = (np.array(a, dtype=float) for a in (m, l, acc, scores))
    before = m.copy()
    for j in range(scores.shape[1]):
        m = np.where(scores[:, j] > m, scores[:, j], m)
    shrink = np.exp(before - m)
    l *= shrink
    acc *= shrink.reshape(-1, 1)
    for j in range(scores.shape[1]):
        weight = np.exp(scores[:, j] - m)
        l += weight
        acc += np.outer(weight, v[j])
    return m, l, acc


def online_with_column_of_ones(m, l, acc, scores, v):
    # l is acc for a value that is always 1; the exponentials are taken in float32
    new_m = np.max(np.column_stack([scores, m]), axis=1)

    def exponential(x):
        return np.exp((x - new_m[:, None]).astype(np.float32)).astype(float)

    held = np.column_stack([acc, l])
    held = exponential(m[:, None]) * held
    held = held + exponential(scores) @ np.column_stack([v, np.ones(len(v))])
    return new_m, held[:, -1], held[:, :-1]


# --- fault_three_workers ---


def _totals_of_three(q, k, v):
    found = []
    for keys in np.array_split(np.arange(len(k)), 3):
        s = q @ k[keys].T / np.sqrt(q.shape[1])
        m = s.max(axis=1, keepdims=True)
        p = np.exp(s - m)
        found.append((m, p.sum(axis=1, keepdims=True), p @ v[keys]))
    return found


def workers_as_they_were(q, k, v):
    found = _totals_of_three(q, k, v)
    m = np.max([worker[0] for worker in found], axis=0)
    l = sum(own_l for _, own_l, _ in found)
    acc = sum(np.exp(own_m - m) * own_acc for own_m, _, own_acc in found)
    return acc / l


def workers_l_grows(q, k, v):
    found = _totals_of_three(q, k, v)
    m = np.max([worker[0] for worker in found], axis=0)
    l = sum(np.exp(m - own_m) * own_l for own_m, own_l, _ in found)
    acc = sum(np.exp(own_m - m) * own_acc for own_m, _, own_acc in found)
    return acc / l


def workers_acc_unscaled_as_well(q, k, v):
    # "both must be treated alike", so the factor is taken away from acc
    found = _totals_of_three(q, k, v)
    l = sum(own_l for _, own_l, _ in found)
    acc = sum(own_acc for _, _, own_acc in found)
    return acc / l


def workers_l_scaled_acc_not(q, k, v):
    found = _totals_of_three(q, k, v)
    m = np.max([worker[0] for worker in found], axis=0)
    l = sum(np.exp(own_m - m) * own_l for own_m, own_l, _ in found)
    acc = sum(own_acc for _, _, own_acc in found)
    return acc / l


def workers_mean_of_mixtures(q, k, v):
    found = _totals_of_three(q, k, v)
    return sum(own_acc / own_l for _, own_l, own_acc in found) / 3


def workers_weighted_by_l_alone(q, k, v):
    found = _totals_of_three(q, k, v)
    l = sum(own_l for _, own_l, _ in found)
    return sum(own_l / l * (own_acc / own_l) for _, own_l, own_acc in found)


def workers_scores_without_m(q, k, v):
    # everything back to m = 0: right until the exponentials overflow
    found = _totals_of_three(q, k, v)
    l = sum(np.exp(own_m) * own_l for own_m, own_l, _ in found)
    acc = sum(np.exp(own_m) * own_acc for own_m, _, own_acc in found)
    return acc / l


def workers_m_of_the_first(q, k, v):
    found = _totals_of_three(q, k, v)
    m = found[0][0]
    l = sum(np.exp(own_m - m) * own_l for own_m, own_l, _ in found)
    acc = sum(np.exp(own_m - m) * own_acc for own_m, _, own_acc in found)
    return acc / l


def workers_smallest_m(q, k, v):
    found = _totals_of_three(q, k, v)
    m = np.min([worker[0] for worker in found], axis=0)
    l = sum(np.exp(own_m - m) * own_l for own_m, own_l, _ in found)
    acc = sum(np.exp(own_m - m) * own_acc for own_m, _, own_acc in found)
    return acc / l


def workers_one_m_for_all_queries(q, k, v):
    found = _totals_of_three(q, k, v)
    m = np.max([worker[0] for worker in found])
    l = sum(np.exp(own_m - m) * own_l for own_m, own_l, _ in found)
    acc = sum(np.exp(own_m - m) * own_acc for own_m, _, own_acc in found)
    return acc / l


def workers_equal_shares(q, k, v):
    # mended, but the rest of the keys is left over if 3 does not divide their number
    share = len(k) // 3
    found = []
    for w in range(3):
        own = slice(w * share, (w + 1) * share)
        s = q @ k[own].T / np.sqrt(q.shape[1])
        m = s.max(axis=1, keepdims=True)
        p = np.exp(s - m)
        found.append((m, p.sum(axis=1, keepdims=True), p @ v[own]))
    m = np.max([worker[0] for worker in found], axis=0)
    l = sum(np.exp(own_m - m) * own_l for own_m, own_l, _ in found)
    acc = sum(np.exp(own_m - m) * own_acc for own_m, _, own_acc in found)
    return acc / l


def workers_both_scaled(q, k, v):
    found = []
    for keys in np.array_split(np.arange(len(k)), 3):
        s = q @ k[keys].T / np.sqrt(q.shape[1])  # (n_query, own)
        m = s.max(axis=1, keepdims=True)
        p = np.exp(s - m)
        found.append((m, p.sum(axis=1, keepdims=True), p @ v[keys]))
    m = np.max([worker[0] for worker in found], axis=0)
    l = sum(np.exp(own_m - m) * own_l for own_m, own_l, _ in found)
    acc = sum(np.exp(own_m - m) * own_acc for own_m, _, own_acc in found)
    return acc / l


def workers_joined_in_a_loop(q, k, v):
    found = _totals_of_three(q, k, v)
    m, l, acc = found[0]
    for own_m, own_l, own_acc in found[1:]:
        top = np.maximum(m, own_m)
        here, there = np.exp(m - top), np.exp(own_m - top)
        m, l, acc = top, here * l + there * own_l, here * acc + there * own_acc
    return acc / l


def workers_stacked(q, k, v):
    found = _totals_of_three(q, k, v)
    m, l, acc = (np.stack([worker[part] for worker in found]) for part in range(3))
    factor = np.exp(m - m.max(axis=0))  # (3, n_query, 1)
    return np.einsum("wio,wiv->iv", factor, acc) / np.einsum("wio,wio->io", factor, l)


def workers_weigh_their_mixtures(q, k, v):
    # each worker's mixture is weighted by the sum of its exponentials, seen from one maximum
    found = _totals_of_three(q, k, v)
    m = np.maximum(np.maximum(found[0][0], found[1][0]), found[2][0])
    shares = [np.exp(own_m - m) * own_l for own_m, own_l, _ in found]
    total = shares[0] + shares[1] + shares[2]
    out = np.zeros((len(q), v.shape[1]))
    for share, (_, own_l, own_acc) in zip(shares, found, strict=True):
        out += share / total * (own_acc / own_l)
    return out


def workers_all_from_one_maximum(q, k, v):
    # the maximum is agreed on first, so that nothing has to be scaled afterwards
    parts = np.array_split(np.arange(len(k)), 3)
    tables = [q @ k[part].T / math.sqrt(q.shape[1]) for part in parts]
    top = np.max([table.max(axis=1) for table in tables], axis=0)[:, None]
    exps = [np.exp(table - top) for table in tables]
    acc = sum(e @ v[part] for e, part in zip(exps, parts, strict=True))
    return acc / sum(e.sum(axis=1, keepdims=True) for e in exps)


# --- chunked_attention ---


def chunks_softmaxed_apart(q, k, v, chunk):
    out = np.zeros((len(q), v.shape[1]))
    count = 0
    for start in range(0, len(k), chunk):
        s = q @ k[start : start + chunk].T / np.sqrt(q.shape[1])
        e = np.exp(s - s.max(axis=1, keepdims=True))
        out += e / e.sum(axis=1, keepdims=True) @ v[start : start + chunk]
        count += 1
    return out / count


def chunks_rest_left_out(q, k, v, chunk):
    # a last chunk that is shorter is never read
    m = np.full((len(q), 1), -np.inf)
    l, acc = np.zeros((len(q), 1)), np.zeros((len(q), v.shape[1]))
    for c in range(max(1, len(k) // chunk)):
        part = slice(c * chunk, (c + 1) * chunk)
        s = q @ k[part].T / np.sqrt(q.shape[1])
        top = np.maximum(m, s.max(axis=1, keepdims=True))
        p, old = np.exp(s - top), np.exp(m - top)
        m, l, acc = top, old * l + p.sum(axis=1, keepdims=True), old * acc + p @ v[part]
    return acc / l


def chunks_never_rescaled(q, k, v, chunk):
    # right as long as the first chunk holds the largest score
    m = np.full((len(q), 1), -np.inf)
    l, acc = np.zeros((len(q), 1)), np.zeros((len(q), v.shape[1]))
    for start in range(0, len(k), chunk):
        s = q @ k[start : start + chunk].T / np.sqrt(q.shape[1])
        m = np.maximum(m, s.max(axis=1, keepdims=True))
        p = np.exp(s - m)
        l += p.sum(axis=1, keepdims=True)
        acc += p @ v[start : start + chunk]
    return acc / l


def chunks_plain_exponentials(q, k, v, chunk):
    l, acc = np.zeros((len(q), 1)), np.zeros((len(q), v.shape[1]))
    for start in range(0, len(k), chunk):
        e = np.exp(q @ k[start : start + chunk].T / np.sqrt(q.shape[1]))
        l += e.sum(axis=1, keepdims=True)
        acc += e @ v[start : start + chunk]
    return acc / l


def chunks_start_at_zero(q, k, v, chunk):
    # m starts at 0: 0/0 if all scores are far below 0
    m = np.zeros((len(q), 1))
    l, acc = np.zeros((len(q), 1)), np.zeros((len(q), v.shape[1]))
    for start in range(0, len(k), chunk):
        s = q @ k[start : start + chunk].T / np.sqrt(q.shape[1])
        top = np.maximum(m, s.max(axis=1, keepdims=True))
        p, old = np.exp(s - top), np.exp(m - top)
        l, acc = old * l + p.sum(axis=1, keepdims=True), old * acc + p @ v[start : start + chunk]
        m = top
    return acc / l


def chunks_by_their_number(q, k, v, chunk):
    # chunk taken as the number of chunks: empty ones if there are more than keys
    m = np.full((len(q), 1), -np.inf)
    l, acc = np.zeros((len(q), 1)), np.zeros((len(q), v.shape[1]))
    for keys, values in zip(np.array_split(k, chunk), np.array_split(v, chunk), strict=True):
        s = q @ keys.T / np.sqrt(q.shape[1])
        top = np.maximum(m, s.max(axis=1, keepdims=True))
        p, old = np.exp(s - top), np.exp(m - top)
        m, l, acc = top, old * l + p.sum(axis=1, keepdims=True), old * acc + p @ values
    return acc / l


def chunks_overlap_by_one(q, k, v, chunk):
    m = np.full((len(q), 1), -np.inf)
    l, acc = np.zeros((len(q), 1)), np.zeros((len(q), v.shape[1]))
    for start in range(0, len(k), chunk):
        part = slice(start, start + chunk + 1)
        s = q @ k[part].T / np.sqrt(q.shape[1])
        top = np.maximum(m, s.max(axis=1, keepdims=True))
        p, old = np.exp(s - top), np.exp(m - top)
        m, l, acc = top, old * l + p.sum(axis=1, keepdims=True), old * acc + p @ v[part]
    return acc / l


def chunks_without_scale(q, k, v, chunk):
    m = np.full((len(q), 1), -np.inf)
    l, acc = np.zeros((len(q), 1)), np.zeros((len(q), v.shape[1]))
    for start in range(0, len(k), chunk):
        s = q @ k[start : start + chunk].T
        top = np.maximum(m, s.max(axis=1, keepdims=True))
        p, old = np.exp(s - top), np.exp(m - top)
        l, acc = old * l + p.sum(axis=1, keepdims=True), old * acc + p @ v[start : start + chunk]
        m = top
    return acc / l


def chunks_divide_every_time(q, k, v, chunk):
    m = np.full((len(q), 1), -np.inf)
    l, acc = np.zeros((len(q), 1)), np.zeros((len(q), v.shape[1]))
    for start in range(0, len(k), chunk):
        s = q @ k[start : start + chunk].T / np.sqrt(q.shape[1])
        top = np.maximum(m, s.max(axis=1, keepdims=True))
        p, old = np.exp(s - top), np.exp(m - top)
        l = old * l + p.sum(axis=1, keepdims=True)
        acc = (old * acc + p @ v[start : start + chunk]) / l
        m = top
    return acc


def chunks_of_queries_too(q, k, v, chunk):
    # cuts the queries into the same chunks, so that query chunk c meets key chunk c alone
    out = np.zeros((len(q), v.shape[1]))
    for start in range(0, len(q), chunk):
        part = slice(start, start + chunk)
        keys, values = (k[part], v[part]) if start < len(k) else (k, v)
        s = q[part] @ keys.T / np.sqrt(q.shape[1])
        e = np.exp(s - s.max(axis=1, keepdims=True))
        out[part] = e / e.sum(axis=1, keepdims=True) @ values
    return out


def chunks_one_maximum_for_all_queries(q, k, v, chunk):
    m = -np.inf
    l, acc = np.zeros((len(q), 1)), np.zeros((len(q), v.shape[1]))
    for start in range(0, len(k), chunk):
        s = q @ k[start : start + chunk].T / np.sqrt(q.shape[1])
        top = max(m, s.max())
        p, old = np.exp(s - top), np.exp(m - top)
        l, acc = old * l + p.sum(axis=1, keepdims=True), old * acc + p @ v[start : start + chunk]
        m = top
    return acc / l


def chunks_cut_from_a_whole_table(q, k, v, chunk):
    s = q @ k.T / np.sqrt(q.shape[1])
    m = np.full((len(q), 1), -np.inf)
    l, acc = np.zeros((len(q), 1)), np.zeros((len(q), v.shape[1]))
    for start in range(0, len(k), chunk):
        own = s[:, start : start + chunk]
        top = np.maximum(m, own.max(axis=1, keepdims=True))
        p, old = np.exp(own - top), np.exp(m - top)
        l, acc = old * l + p.sum(axis=1, keepdims=True), old * acc + p @ v[start : start + chunk]
        m = top
    return acc / l


def chunks_kept_in_a_list(q, k, v, chunk):
    kept = [q @ k[a : a + chunk].T / np.sqrt(q.shape[1]) for a in range(0, len(k), chunk)]
    top = np.max([s.max(axis=1) for s in kept], axis=0)[:, None]
    exps = [np.exp(s - top) for s in kept]
    l = sum(e.sum(axis=1, keepdims=True) for e in exps)
    return sum(e @ v[c * chunk : (c + 1) * chunk] for c, e in enumerate(exps)) / l


def chunks_online(q, k, v, chunk):
    m = np.full(len(q), -np.inf)
    l = np.zeros(len(q))
    acc = np.zeros((len(q), v.shape[1]))
    for start in range(0, len(k), chunk):
        s = q @ k[start : start + chunk].T / np.sqrt(q.shape[1])
        top = np.maximum(m, s.max(axis=1))
        p = np.exp(s - top[:, None])
        old = np.exp(m - top)
        l = old * l + p.sum(axis=1)
        acc = old[:, None] * acc + p @ v[start : start + chunk]
        m = top
    return acc / l[:, None]


def chunks_read_twice(q, k, v, chunk):
    # once for the maximum, once for the sums
    def scores(start):
        return np.einsum("id,jd->ij", q, k[start : start + chunk]) / math.sqrt(q.shape[1])

    starts = range(0, len(k), chunk)
    top = np.full(len(q), -np.inf)
    for start in starts:
        top = np.maximum(top, scores(start).max(axis=1))
    l, acc = np.zeros(len(q)), np.zeros((len(q), v.shape[1]))
    for start in starts:
        p = np.exp(scores(start) - top[:, None])
        l += p.sum(axis=1)
        acc += np.einsum("ij,jv->iv", p, v[start : start + chunk])
    return acc / l[:, None]


def chunks_one_query_at_a_time(q, k, v, chunk):
    rows = []
    for query in q:
        m, l, acc = -math.inf, 0.0, np.zeros(v.shape[1])
        start = 0
        while start < len(k):
            s = k[start : start + chunk] @ query * len(query) ** -0.5
            top = max(m, float(s.max()))
            e = np.exp(s - top)
            l = math.exp(m - top) * l + float(e.sum())
            acc = math.exp(m - top) * acc + e @ v[start : start + chunk]
            m = top
            start += chunk
        rows.append(acc / l)
    return np.array(rows)


def chunks_keep_the_mixture(q, k, v, chunk):
    # the running result is a finished mixture, and log l + m says how much it weighs
    out = np.zeros((len(q), v.shape[1]))
    weight = np.full((len(q), 1), -np.inf)
    for start in range(0, len(k), chunk):
        s = q @ k[start : start + chunk].T / np.sqrt(q.shape[1])
        m = s.max(axis=1, keepdims=True)
        e = np.exp(s - m)
        own = m + np.log(e.sum(axis=1, keepdims=True))
        both = np.logaddexp(weight, own)
        mixture = e @ v[start : start + chunk] / e.sum(axis=1, keepdims=True)
        out = np.exp(weight - both) * out + np.exp(own - both) * mixture
        weight = both
    return out


def chunks_exponentials_in_float32(q, k, v, chunk):
    q = np.asarray(q, dtype=float) / np.sqrt(q.shape[1])
    m = np.full((len(q), 1), -np.inf)
    held = np.zeros((len(q), v.shape[1] + 1))  # acc, and l in the last column
    for start in range(0, len(k), chunk):
        keys, values = k[start : start + chunk], v[start : start + chunk]
        s = q @ keys.T
        top = np.maximum(m, s.max(axis=1, keepdims=True))
        p = np.exp((s - top).astype(np.float32)).astype(float)
        held = held * np.exp(m - top) + p @ np.column_stack([values, np.ones(len(values))])
        m = top
    return held[:, :-1] / held[:, -1:]


# --- chunked_causal_attention ---


def causal_chunks_without_mask(q, k, v, chunk):
    return chunks_online(q, k, v, chunk)


def causal_chunks_whole_own_chunk(q, k, v, chunk):
    # a token sees its whole chunk
    out = np.zeros((len(q), v.shape[1]))
    for start in range(0, len(q), chunk):
        end = min(start + chunk, len(q))
        out[start:end] = chunks_online(q[start:end], k[:end], v[:end], chunk)
    return out


def causal_chunks_own_chunk_only(q, k, v, chunk):
    out = np.zeros((len(q), v.shape[1]))
    for start in range(0, len(q), chunk):
        part = slice(start, start + chunk)
        s = q[part] @ k[part].T / np.sqrt(q.shape[1])
        s = np.where(np.tri(len(s), dtype=bool), s, -np.inf)
        e = np.exp(s - s.max(axis=1, keepdims=True))
        out[part] = e / e.sum(axis=1, keepdims=True) @ v[part]
    return out


def _causal_with_rule(q, k, v, chunk, rule):
    n = len(q)
    m = np.full((n, 1), -np.inf)
    l, acc = np.zeros((n, 1)), np.zeros((n, v.shape[1]))
    for start in range(0, n, chunk):
        keys = np.arange(start, min(start + chunk, n))
        s = q @ k[keys].T / np.sqrt(q.shape[1])
        s = np.where(rule(np.arange(n)[:, None], keys, start), s, -np.inf)
        top = np.maximum(m, s.max(axis=1, keepdims=True))
        p, old = np.exp(s - top), np.exp(m - top)
        m, l, acc = top, old * l + p.sum(axis=1, keepdims=True), old * acc + p @ v[keys]
    return acc / l


def causal_chunks_own_token_hidden(q, k, v, chunk):
    return _causal_with_rule(q, k, v, chunk, lambda i, j, start: (j < i) | (i + j == 0))


def causal_chunks_places_from_zero(q, k, v, chunk):
    # the key's place in its chunk is compared with the query's place in the text
    return _causal_with_rule(q, k, v, chunk, lambda i, j, start: j - start <= i)


def causal_chunks_one_key_too_far(q, k, v, chunk):
    return _causal_with_rule(q, k, v, chunk, lambda i, j, start: j <= i + 1)


def causal_chunks_triangle_everywhere(q, k, v, chunk):
    # the triangle of the diagonal block is laid over earlier blocks as well
    return _causal_with_rule(
        q, k, v, chunk, lambda i, j, start: (j <= i) & ((j - start) <= i % chunk)
    )


def causal_chunks_last_must_be_full(q, k, v, chunk):
    # np.tri(chunk) does not fit a last chunk that is shorter
    n = len(q)
    out = np.zeros((n, v.shape[1]))
    for start in range(0, n, chunk):
        rows = slice(start, start + chunk)
        own_q = q[rows]
        m = np.full((len(own_q), 1), -np.inf)
        l, acc = np.zeros((len(own_q), 1)), np.zeros((len(own_q), v.shape[1]))
        for first in range(0, start + 1, chunk):
            keys = slice(first, first + chunk)
            s = own_q @ k[keys].T / np.sqrt(q.shape[1])
            if first == start:
                s = np.where(np.tri(chunk, dtype=bool), s, -np.inf)
            top = np.maximum(m, s.max(axis=1, keepdims=True))
            p, old = np.exp(s - top), np.exp(m - top)
            m, l, acc = top, old * l + p.sum(axis=1, keepdims=True), old * acc + p @ v[keys]
        out[rows] = acc / l
    return out


def causal_chunks_maximum_of_hidden(q, k, v, chunk):
    # masked after the exponential: 0/0 if a hidden score is far above the others
    n = len(q)
    m = np.full((n, 1), -np.inf)
    l, acc = np.zeros((n, 1)), np.zeros((n, v.shape[1]))
    for start in range(0, n, chunk):
        part = slice(start, start + chunk)
        s = q @ k[part].T / np.sqrt(q.shape[1])
        top = np.maximum(m, s.max(axis=1, keepdims=True))
        p, old = np.exp(s - top), np.exp(m - top)
        p = p * np.tri(n, p.shape[1], -start)
        m, l, acc = top, old * l + p.sum(axis=1, keepdims=True), old * acc + p @ v[part]
    return acc / l


def causal_chunks_backwards(q, k, v, chunk):
    # from the last chunk to the first: -inf minus -inf for queries that saw nothing yet
    n = len(q)
    m = np.full((n, 1), -np.inf)
    l, acc = np.zeros((n, 1)), np.zeros((n, v.shape[1]))
    for start in reversed(range(0, n, chunk)):
        part = slice(start, start + chunk)
        s = q @ k[part].T / np.sqrt(q.shape[1])
        s = np.where(np.tri(n, s.shape[1], -start, dtype=bool), s, -np.inf)
        top = np.maximum(m, s.max(axis=1, keepdims=True))
        p, old = np.exp(s - top), np.exp(m - top)
        m, l, acc = top, old * l + p.sum(axis=1, keepdims=True), old * acc + p @ v[part]
    return acc / l


def causal_chunks_hidden_as_minus_hundred(q, k, v, chunk):
    n = len(q)
    m = np.full((n, 1), -np.inf)
    l, acc = np.zeros((n, 1)), np.zeros((n, v.shape[1]))
    for start in range(0, n, chunk):
        part = slice(start, start + chunk)
        s = q @ k[part].T / np.sqrt(q.shape[1])
        s = np.where(np.tri(n, s.shape[1], -start, dtype=bool), s, -100.0)
        top = np.maximum(m, s.max(axis=1, keepdims=True))
        p, old = np.exp(s - top), np.exp(m - top)
        m, l, acc = top, old * l + p.sum(axis=1, keepdims=True), old * acc + p @ v[part]
    return acc / l


def causal_chunks_stop_at_full_ones(q, k, v, chunk):
    # a text shorter than a chunk is read, but a rest behind full chunks is not
    n = len(q)
    full = max(chunk, n - n % chunk)
    out = np.zeros((n, v.shape[1]))
    for i in range(n):
        seen = min(i + 1, full)
        out[i] = chunks_online(q[i : i + 1], k[:seen], v[:seen], chunk)[0]
    return out


def _seen_by(q, k, v, i, m, l, acc, first, chunk):
    """Let query i read one chunk of the keys up to itself."""
    stop = min(first + chunk, i + 1)
    s = k[first:stop] @ q[i] / np.sqrt(q.shape[1])
    top = max(m, s.max())
    p, old = np.exp(s - top), np.exp(m - top)
    return top, l * old + p.sum(), acc * old + p @ v[first:stop]


def causal_chunks_kept_in_dicts(q, k, v, chunk):
    states = [{"m": -np.inf, "l": 0.0, "acc": np.zeros(v.shape[1])} for _ in q]
    for first in range(0, len(k), chunk):
        for i in range(first, len(q)):
            at = states[i]
            at["m"], at["l"], at["acc"] = _seen_by(q, k, v, i, *at.values(), first, chunk)
    return np.array([at["acc"] / at["l"] for at in states])


def causal_chunks_of_one_query(q, k, v, chunk):
    out = []
    for i in range(len(q)):
        m, l, acc = -np.inf, 0.0, np.zeros((1, v.shape[1]))
        for first in range(0, i + 1, chunk):
            m, l, acc = _seen_by(q, k, v, i, m, l, acc, first, chunk)
        out.append((acc / l)[0])
    return np.stack(out)


def causal_chunks_whole_mask(q, k, v, chunk):
    n = len(q)
    mask = np.tri(n, dtype=bool)
    m = np.full((n, 1), -np.inf)
    l, acc = np.zeros((n, 1)), np.zeros((n, v.shape[1]))
    for start in range(0, n, chunk):
        part = slice(start, start + chunk)
        s = np.where(mask[:, part], q @ k[part].T / np.sqrt(q.shape[1]), -np.inf)
        top = np.maximum(m, s.max(axis=1, keepdims=True))
        p, old = np.exp(s - top), np.exp(m - top)
        m, l, acc = top, old * l + p.sum(axis=1, keepdims=True), old * acc + p @ v[part]
    return acc / l


def causal_chunks_whole_table(q, k, v, chunk):
    s = np.where(np.tri(len(q), dtype=bool), q @ k.T / np.sqrt(q.shape[1]), -np.inf)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ v


def causal_chunks_by_key_chunk(q, k, v, chunk):
    n = len(q)
    m = np.full(n, -np.inf)
    l = np.zeros(n)
    acc = np.zeros((n, v.shape[1]))
    for start in range(0, n, chunk):
        j = np.arange(start, min(start + chunk, n))
        s = q @ k[j].T / np.sqrt(q.shape[1])
        s[np.arange(n)[:, None] < j] = -np.inf
        top = np.maximum(m, s.max(axis=1))
        p, old = np.exp(s - top[:, None]), np.exp(m - top)
        l = old * l + p.sum(axis=1)
        acc = old[:, None] * acc + p @ v[j]
        m = top
    return acc / l[:, None]


def causal_chunks_later_queries_only(q, k, v, chunk):
    # queries before a chunk are not touched by it
    n = len(q)
    m = np.full((n, 1), -np.inf)
    l, acc = np.zeros((n, 1)), np.zeros((n, v.shape[1]))
    for start in range(0, n, chunk):
        keys, values = k[start : start + chunk], v[start : start + chunk]
        s = np.einsum("id,jd->ij", q[start:], keys) / math.sqrt(q.shape[1])
        s = np.where(np.tri(*s.shape, dtype=bool), s, -np.inf)
        top = np.maximum(m[start:], s.max(axis=1, keepdims=True))
        p, old = np.exp(s - top), np.exp(m[start:] - top)
        l[start:] = old * l[start:] + p.sum(axis=1, keepdims=True)
        acc[start:] = old * acc[start:] + np.einsum("ij,jv->iv", p, values)
        m[start:] = top
    return acc / l


def causal_chunks_in_blocks(q, k, v, chunk):
    def step(state, s, values):
        m, l, acc = state
        top = np.maximum(m, s.max(axis=1, keepdims=True))
        p, old = np.exp(s - top), np.exp(m - top)
        return top, old * l + p.sum(axis=1, keepdims=True), old * acc + p @ values

    n, out = len(q), []
    for start in range(0, n, chunk):
        own = q[start : start + chunk] / np.sqrt(q.shape[1])
        rows = len(own)
        state = np.full((rows, 1), -np.inf), np.zeros((rows, 1)), np.zeros((rows, v.shape[1]))
        for first in range(0, start, chunk):
            past = slice(first, first + chunk)
            state = step(state, own @ k[past].T, v[past])
        s = own @ k[start : start + rows].T
        s[np.triu_indices(rows, 1)] = -np.inf
        _, l, acc = step(state, s, v[start : start + rows])
        out.append(acc / l)
    return np.concatenate(out)


def causal_chunks_token_by_token(q, k, v, chunk):
    out = np.zeros((len(q), v.shape[1]))
    for t in range(len(q)):
        m, l, acc = -np.inf, 0.0, np.zeros(v.shape[1])
        for start in range(0, t + 1, chunk):
            end = min(start + chunk, t + 1)
            s = k[start:end] @ q[t] / np.sqrt(q.shape[1])
            top = max(m, s.max())
            p = np.exp(s - top)
            l, acc = np.exp(m - top) * l + p.sum(), np.exp(m - top) * acc + p @ v[start:end]
            m = top
        out[t] = acc / l
    return out


def causal_chunks_read_twice(q, k, v, chunk):
    # the exponentials in float32, with the maximum of each row found beforehand
    n = len(q)
    scale = q.shape[1] ** -0.5

    def visible_scores(start):
        s = scale * (q[start:] @ k[start : start + chunk].T)
        place = np.arange(s.shape[1])
        return np.where(place <= np.arange(n - start)[:, None], s, -np.inf)

    top = np.full(n, -np.inf)
    for start in range(0, n, chunk):
        top[start:] = np.maximum(top[start:], visible_scores(start).max(axis=1))
    l, acc = np.zeros(n), np.zeros((n, v.shape[1]))
    for start in range(0, n, chunk):
        p = np.exp((visible_scores(start) - top[start:, None]).astype(np.float32)).astype(float)
        l[start:] += p.sum(axis=1)
        acc[start:] += p @ v[start : start + chunk]
    return acc / l[:, None]


WRONG = {
    "score_matrix_bytes": [
        (table_of_one_head, "one-head"),
        (table_as_triangle, "half-the-table"),
        (table_two_n, "linear"),
        (table_without_diagonal, "one-key-off"),
        (table_heads_squared, "heads-squared"),
        (table_counts_numbers, "values-not-bytes"),
        (table_in_bits, "bits"),
        (table_in_int32, None),
        (table_with_weights, "more-than-the-scores"),
        (table_always_four_bytes, "values-not-bytes"),
        (table_xor_for_power, "xor-for-power"),
    ],
    "predict_running_totals": [
        # sums of the exponentials themselves: 2 + 4, + 8, + 2; acc = 8 + 4 + 16 + 12 = 40
        ([6, 14, 16, 2.5], "no-max-shift"),
        # l: 2/4 + 1, + 1, + 2/8; acc: 3, 5, 6.5
        ([1.5, 2.5, 2.75, 2.36], "not-rescaled"),
        # acc in the end is 5
        ([1.5, 1.75, 2, 5], "not-divided"),
        # each chunk for itself
        ([1.5, 1, 1, 2.5], "chunks-alone"),
        # m follows the newest chunk: ln 4, ln 8, ln 2, so l = 1.75 * 4 + 1
        ([1.5, 1.75, 8, 2.5], "max-not-carried"),
        # m rises from ln 4 to ln 8, so the old is doubled
        ([1.5, 4, 4.25, 2.24], "rescaled-upside-down"),
        # after each key: 1, 1/2 + 1, 1.5/2 + 1, + 1/4
        ([1, 1.5, 1.75, 2], "key-by-key"),
        # l rescaled, acc not: 3 + 2 + 1.5 = 6.5, over 2
        ([1.5, 1.75, 2, 3.25], "accumulator-not-rescaled"),
        # in the third chunk the score ln 2 counts 1
        ([1.5, 1.75, 2.75, 3.45], "max-not-carried"),
        # mixture first
        ([2.5, 1.5, 1.75, 2], "another-order"),
        # sums of the logarithms: 2.08, 4.16, 4.85
        ([2.08, 4.16, 4.85, 2.5], "no-exponentials"),
    ],
    "online_softmax_step": [
        (online_l_not_rescaled, "sum-not-rescaled"),
        (online_acc_not_rescaled, "accumulator-not-rescaled"),
        (online_nothing_rescaled, "not-rescaled"),
        (online_rescaled_the_wrong_way, "rescaled-upside-down"),
        (online_maximum_of_chunk_alone, "max-not-carried"),
        (online_chunk_by_its_own_maximum, "new-terms-shifted-alone"),
        (online_one_maximum_for_all, "global-max"),
        (online_start_at_zero, "starts-at-zero"),
        (online_writes_into_arguments, "mutates-input"),
        (online_writes_into_scores, "mutates-input"),
        (online_acc_divided, "normalised-each-chunk"),
        (online_key_by_key, "nan-on-hidden-keys"),
    ],
    "fault_three_workers": [
        (workers_as_they_were, "sum-not-rescaled"),
        (workers_l_grows, "rescaled-upside-down"),
        (workers_acc_unscaled_as_well, "not-rescaled"),
        (workers_l_scaled_acc_not, "accumulator-not-rescaled"),
        (workers_mean_of_mixtures, "average-of-workers"),
        (workers_weighted_by_l_alone, "not-rescaled"),
        (workers_scores_without_m, "no-max-shift"),
        (workers_m_of_the_first, "not-the-largest"),
        (workers_smallest_m, "not-the-largest"),
        (workers_one_m_for_all_queries, "global-max"),
        (workers_equal_shares, "keys-left-out"),
    ],
    "chunked_attention": [
        (chunks_softmaxed_apart, "average-of-chunks"),
        (chunks_rest_left_out, "drops-last-chunk"),
        (chunks_never_rescaled, "not-rescaled"),
        (chunks_plain_exponentials, "no-max-shift"),
        (chunks_start_at_zero, "starts-at-zero"),
        (chunks_by_their_number, "raises"),
        (chunks_overlap_by_one, "keys-read-twice"),
        (chunks_without_scale, "unscaled"),
        (chunks_divide_every_time, "normalised-each-chunk"),
        (chunks_of_queries_too, "own-chunk-only"),
        (chunks_one_maximum_for_all_queries, "global-max"),
        (chunks_cut_from_a_whole_table, "full-score-matrix"),
        (chunks_kept_in_a_list, "full-score-matrix"),
    ],
    "chunked_causal_attention": [
        (causal_chunks_whole_mask, "full-score-matrix"),
        (causal_chunks_without_mask, "no-mask"),
        (causal_chunks_whole_own_chunk, "whole-chunks-only"),
        (causal_chunks_own_chunk_only, "own-chunk-only"),
        (causal_chunks_own_token_hidden, "excludes-itself"),
        (causal_chunks_places_from_zero, "chunk-local-positions"),
        (causal_chunks_one_key_too_far, "one-too-many"),
        (causal_chunks_triangle_everywhere, "chunk-local-positions"),
        (causal_chunks_last_must_be_full, "raises"),
        (causal_chunks_maximum_of_hidden, "maximum-of-hidden-scores"),
        (causal_chunks_backwards, "nan-on-masked-chunk"),
        (causal_chunks_hidden_as_minus_hundred, "finite-fill"),
        (causal_chunks_stop_at_full_ones, "drops-last-chunk"),
        (causal_chunks_whole_table, "full-score-matrix"),
    ],
}

RIGHT = {
    "score_matrix_bytes": [
        table_product,
        table_power,
        table_math_prod,
        table_row_by_row,
        table_two_triangles,
    ],
    "predict_running_totals": [
        [1.5, 1.75, 2, 2.5],
        (1.5, 1.75, 2.0, 2.5),
        np.array([1.5, 1.75, 2.0, 2.5]),
        [6 / 4, 14 / 8, 16 / 8, 40 / 16],
        np.array([3 / 2, 7 / 4, 2, 5 / 2], dtype=np.float32),
    ],
    "online_softmax_step": [
        online_vectorised,
        online_query_by_query,
        online_what_was_as_one_more_key,
        online_in_copies,
        online_with_column_of_ones,
    ],
    "fault_three_workers": [
        workers_both_scaled,
        workers_joined_in_a_loop,
        workers_stacked,
        workers_weigh_their_mixtures,
        workers_all_from_one_maximum,
    ],
    "chunked_attention": [
        chunks_online,
        chunks_read_twice,
        chunks_one_query_at_a_time,
        chunks_keep_the_mixture,
        chunks_exponentials_in_float32,
    ],
    "chunked_causal_attention": [
        causal_chunks_by_key_chunk,
        causal_chunks_later_queries_only,
        causal_chunks_in_blocks,
        causal_chunks_token_by_token,
        causal_chunks_read_twice,
        causal_chunks_kept_in_dicts,
        causal_chunks_of_one_query,
    ],
}
