"""Answers of a second class to the exercises on the KV cache, written from their prompts alone."""

import itertools
import math

import numpy as np

# --- scores_computed ---


def scores_cases_swapped(n, cached):
    if cached:
        return sum(t * (t + 1) // 2 for t in range(1, n + 1))
    return sum(range(1, n + 1))


def scores_hidden_ones_too(n, cached):
    if cached:
        return n * (n + 1) // 2
    return sum(t * t for t in range(1, n + 1))


def scores_of_last_step(n, cached):
    return n if cached else n * (n + 1) // 2


def scores_last_step_missing(n, cached):
    total = 0
    for t in range(1, n):
        total += t if cached else t * (t + 1) // 2
    return total


def scores_own_key_left_out(n, cached):
    return sum(t - 1 if cached else t * (t - 1) // 2 for t in range(1, n + 1))


def scores_one_per_step(n, cached):
    if cached:
        return n
    return n * (n + 1) // 2


def scores_full_square_each_step(n, cached):
    # n tokens at every step, not t
    if cached:
        return n * n
    return n * n * (n + 1) // 2


def scores_formula_of_squares(n, cached):
    if cached:
        return n * (n + 1) // 2
    return n * (n + 1) * (2 * n + 1) // 6


def scores_guessed_from_example(n, cached):
    # 10 = 3 * 3 + 1 and 6 = 2 * 3
    return 2 * n if cached else n * n + 1


def scores_start_counted_always(n, cached):
    # the first step is written apart, and counted even if there are no steps
    total = 1
    for t in range(2, n + 1):
        total += t if cached else t * (t + 1) // 2
    return total


def scores_by_formula(n, cached):
    return n * (n + 1) // 2 if cached else n * (n + 1) * (n + 2) // 6


def scores_by_loop(n, cached):
    total = 0
    for t in range(1, n + 1):
        if cached:
            total += t
        else:
            total += t * (t + 1) // 2
    return total


def scores_by_binomials(n, cached):
    return math.comb(n + 1, 2) if cached else math.comb(n + 2, 3)


def scores_by_running_totals(n, cached):
    rows = np.arange(1, n + 1, dtype=np.int64)
    per_step = rows if cached else np.cumsum(rows)
    return int(per_step.sum())


def scores_by_accumulate(n, cached):
    steps = list(range(1, n + 1))
    passes = steps if cached else list(itertools.accumulate(steps))
    return sum(passes)


# --- cache_bytes ---


def cache_keys_only(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    return n_layers * n_kv_heads * d_head * n_tokens * bytes_per_value


def cache_of_one_layer(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    return 2 * n_kv_heads * d_head * n_tokens * bytes_per_value


def cache_heads_forgotten(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    # the example has one head
    return 2 * n_layers * d_head * n_tokens * bytes_per_value


def cache_counts_numbers(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    return 2 * n_layers * n_kv_heads * d_head * n_tokens


def cache_in_bits(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    return 2 * n_layers * n_kv_heads * d_head * n_tokens * bytes_per_value * 8


def cache_of_score_table(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    return n_layers * n_kv_heads * n_tokens**2 * bytes_per_value


def cache_two_added(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    return n_layers * n_kv_heads * (d_head + 2) * n_tokens * bytes_per_value


def cache_with_queries(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    return 3 * n_layers * n_kv_heads * d_head * n_tokens * bytes_per_value


def cache_in_int32(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    sizes = [2, n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value]
    return int(np.prod(np.array(sizes), dtype=np.int32))


def cache_newest_token_not_kept(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    return 2 * n_layers * n_kv_heads * d_head * (n_tokens - 1) * bytes_per_value


def cache_room_for_one_at_least(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    # an empty cache is given room for one token
    return 2 * n_layers * n_kv_heads * d_head * max(1, n_tokens) * bytes_per_value


def cache_product(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    return 2 * n_layers * n_kv_heads * d_head * n_tokens * bytes_per_value


def cache_layer_by_layer(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    total = 0
    for _ in range(n_layers):
        keys = n_tokens * n_kv_heads * d_head
        values = n_tokens * n_kv_heads * d_head
        total += (keys + values) * bytes_per_value
    return total


def cache_math_prod(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    sizes = (n_layers, 2, n_kv_heads, n_tokens, d_head, bytes_per_value)
    return math.prod(int(size) for size in sizes)


def cache_per_token(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    def one_token_one_layer():
        features = n_kv_heads * d_head
        return (features + features) * bytes_per_value

    return one_token_one_layer() * n_tokens * n_layers


def cache_in_floats(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    sizes = np.array([n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value], dtype=float)
    return 2.0 * sizes.prod()


# --- decode_step ---


def step_without_own_token(x_t, past_k, past_v, wq, wk, wv):
    # attends first and appends afterwards; with an empty cache it finds zeros
    q = x_t @ wq
    keys, values = np.vstack([past_k, x_t @ wk]), np.vstack([past_v, x_t @ wv])
    if len(past_k) == 0:
        return np.zeros(wv.shape[1]), keys, values
    s = past_k @ q / np.sqrt(len(q))
    e = np.exp(s - s.max())
    return e / e.sum() @ past_v, keys, values


def step_newest_in_front(x_t, past_k, past_v, wq, wk, wv):
    q = x_t @ wq
    keys, values = np.vstack([x_t @ wk, past_k]), np.vstack([x_t @ wv, past_v])
    s = keys @ q / np.sqrt(len(q))
    e = np.exp(s - s.max())
    return e / e.sum() @ values, keys, values


def step_scaled_by_tokens(x_t, past_k, past_v, wq, wk, wv):
    q = x_t @ wq
    keys, values = np.vstack([past_k, x_t @ wk]), np.vstack([past_v, x_t @ wv])
    s = keys @ q / np.sqrt(len(keys))
    e = np.exp(s - s.max())
    return e / e.sum() @ values, keys, values


def step_not_scaled(x_t, past_k, past_v, wq, wk, wv):
    q = x_t @ wq
    keys, values = np.vstack([past_k, x_t @ wk]), np.vstack([past_v, x_t @ wv])
    s = keys @ q
    e = np.exp(s - s.max())
    return e / e.sum() @ values, keys, values


def step_overflows(x_t, past_k, past_v, wq, wk, wv):
    q = x_t @ wq
    keys, values = np.vstack([past_k, x_t @ wk]), np.vstack([past_v, x_t @ wv])
    e = np.exp(keys @ q / np.sqrt(len(q)))
    return e / e.sum() @ values, keys, values


def step_maximum_of_the_past(x_t, past_k, past_v, wq, wk, wv):
    # overflows only if the new token's own score is far above the past ones
    q = x_t @ wq
    keys, values = np.vstack([past_k, x_t @ wk]), np.vstack([past_v, x_t @ wv])
    s = keys @ q / np.sqrt(len(q))
    top = s[:-1].max() if len(past_k) else s[-1]
    e = np.exp(s - top)
    return e / e.sum() @ values, keys, values


def step_zeros_if_cache_is_empty(x_t, past_k, past_v, wq, wk, wv):
    q = x_t @ wq
    keys, values = np.vstack([past_k, x_t @ wk]), np.vstack([past_v, x_t @ wv])
    if len(past_k) == 0:  # "nothing to look at yet"
        return np.zeros(wv.shape[1]), keys, values
    s = keys @ q / np.sqrt(len(q))
    e = np.exp(s - s.max())
    return e / e.sum() @ values, keys, values


def step_returns_new_rows_only(x_t, past_k, past_v, wq, wk, wv):
    q, k_t, v_t = x_t @ wq, x_t @ wk, x_t @ wv
    s = np.vstack([past_k, k_t]) @ q / np.sqrt(len(q))
    e = np.exp(s - s.max())
    return e / e.sum() @ np.vstack([past_v, v_t]), k_t[None], v_t[None]


def step_keys_and_values_swapped(x_t, past_k, past_v, wq, wk, wv):
    q = x_t @ wq
    keys, values = np.vstack([past_k, x_t @ wk]), np.vstack([past_v, x_t @ wv])
    s = keys @ q / np.sqrt(len(q))
    e = np.exp(s - s.max())
    return e / e.sum() @ values, values, keys


def step_scales_the_cache(x_t, past_k, past_v, wq, wk, wv):
    # scales the keys where they are, in the caller's array
    q = x_t @ wq
    past_k /= np.sqrt(len(q))
    keys = np.vstack([past_k, x_t @ wk / np.sqrt(len(q))])
    values = np.vstack([past_v, x_t @ wv])
    s = keys @ q
    e = np.exp(s - s.max())
    return e / e.sum() @ values, keys * np.sqrt(len(q)), values


def step_drops_the_oldest(x_t, past_k, past_v, wq, wk, wv):
    # keeps the length of the cache, as a ring would; an empty one grows to 1
    q = x_t @ wq
    keys, values = np.vstack([past_k, x_t @ wk]), np.vstack([past_v, x_t @ wv])
    keys, values = keys[-max(1, len(past_k)) :], values[-max(1, len(past_v)) :]
    s = keys @ q / np.sqrt(len(q))
    e = np.exp(s - s.max())
    return e / e.sum() @ values, keys, values


def step_flat_append(x_t, past_k, past_v, wq, wk, wv):
    # np.append without an axis, then the shape is guessed from the number of tokens
    q = x_t @ wq
    keys = np.append(past_k, x_t @ wk).reshape(-1, len(past_k) + 1).T
    values = np.append(past_v, x_t @ wv).reshape(-1, len(past_v) + 1).T
    s = keys @ q / np.sqrt(len(q))
    e = np.exp(s - s.max())
    return e / e.sum() @ values, keys, values


def step_with_vstack(x_t, past_k, past_v, wq, wk, wv):
    q = x_t @ wq
    keys = np.vstack([past_k, x_t @ wk])
    values = np.vstack([past_v, x_t @ wv])
    s = keys @ q / np.sqrt(q.shape[0])
    e = np.exp(s - s.max())
    return e / e.sum() @ values, keys, values


def step_with_append(x_t, past_k, past_v, wq, wk, wv):
    keys = np.append(past_k, (x_t @ wk)[None, :], axis=0)
    values = np.append(past_v, (x_t @ wv)[None, :], axis=0)
    scale = 1 / math.sqrt(wq.shape[1])
    s = np.einsum("td,m,md->t", keys, x_t, wq, optimize=True) * scale
    weights = np.exp(s - np.max(s))
    weights = weights / np.sum(weights)
    return np.einsum("t,tv->v", weights, values), keys, values


def step_with_lists(x_t, past_k, past_v, wq, wk, wv):
    q, k_t, v_t = (np.asarray(x_t @ w, dtype=float) for w in (wq, wk, wv))
    keys = [list(row) for row in past_k] + [list(k_t)]
    values = [list(row) for row in past_v] + [list(v_t)]
    s = [sum(a * b for a, b in zip(q, key, strict=True)) / math.sqrt(len(q)) for key in keys]
    top = max(s)
    e = [math.exp(score - top) for score in s]
    out = [sum(w * row[c] for w, row in zip(e, values, strict=True)) / sum(e)
           for c in range(len(v_t))]
    return np.array(out), np.array(keys), np.array(values)


def step_with_room_set_aside(x_t, past_k, past_v, wq, wk, wv):
    t = len(past_k)
    keys = np.zeros((t + 1, wk.shape[1]))
    values = np.zeros((t + 1, wv.shape[1]))
    keys[:t], values[:t] = past_k, past_v
    keys[t], values[t] = x_t @ wk, x_t @ wv
    s = (keys * (x_t @ wq)).sum(axis=1) / np.sqrt(wk.shape[1])
    e = np.exp(s - s.max())
    return (e[:, None] * values).sum(axis=0) / e.sum(), keys, values


def step_mixes_past_and_own(x_t, past_k, past_v, wq, wk, wv):
    # the new token's own part first, then the old ones are added to it one by one
    q, k_t, v_t = x_t @ wq, x_t @ wk, x_t @ wv
    scale = wq.shape[1] ** -0.5
    m, total, out = scale * float(q @ k_t), 1.0, np.array(v_t, dtype=float)
    for key, value in zip(past_k, past_v, strict=True):
        s = scale * float(q @ key)
        top = max(m, s)
        old, new = math.exp(m - top), math.exp(s - top)
        out = old * out + new * value
        total, m = old * total + new, top
    return (
        out / total,
        np.concatenate([past_k, k_t[np.newaxis]]),
        np.concatenate([past_v, v_t[np.newaxis]]),
    )


# --- attend_with_past ---


def past_triangle_from_the_left(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[1])
    s = np.where(np.tri(len(q), len(k), dtype=bool), s, -np.inf)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ v


def past_without_mask(q, k, v):
    # right for one query
    s = q @ k.T / np.sqrt(q.shape[1])
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ v


def past_one_too_many(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[1])
    s = np.where(np.tri(len(q), len(k), len(k) - len(q) + 1, dtype=bool), s, -np.inf)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ v


def past_own_token_hidden(q, k, v):
    # without a past, the first query has nothing to see
    out = np.zeros((len(q), v.shape[1]))
    past = len(k) - len(q)
    for i in range(len(q)):
        s = k[: past + i] @ q[i] / np.sqrt(q.shape[1])
        e = np.exp(s - s.max(initial=-np.inf))
        out[i] = e @ v[: past + i] / max(e.sum(), 1e-300)
    return out


def past_new_tokens_blind_to_each_other(q, k, v):
    past = len(k) - len(q)
    out = []
    for i in range(len(q)):
        seen = [*range(past), past + i]
        s = k[seen] @ q[i] / np.sqrt(q.shape[1])
        e = np.exp(s - s.max())
        out.append(e / e.sum() @ v[seen])
    return np.array(out)


def past_only_new_keys(q, k, v):
    n = len(q)
    s = q @ k[-n:].T / np.sqrt(q.shape[1])
    s = np.where(np.tri(n, dtype=bool), s, -np.inf)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ v[-n:]


def past_zero_scores_hidden(q, k, v):
    s = np.tril(q @ k.T / np.sqrt(q.shape[1]), k=len(k) - len(q))
    own = np.arange(len(q)), np.arange(len(q)) + len(k) - len(q)
    hidden = s == 0
    hidden[own] = False
    s = np.where(hidden, -np.inf, s)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ v


def past_maximum_of_hidden(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[1])
    e = np.tril(np.exp(s - s.max(axis=1, keepdims=True)), k=len(k) - len(q))
    return e / e.sum(axis=1, keepdims=True) @ v


def past_overflows(q, k, v):
    e = np.exp(q @ k.T / np.sqrt(q.shape[1])) * np.tri(len(q), len(k), len(k) - len(q))
    return e / e.sum(axis=1, keepdims=True) @ v


def past_hides_with_minus_hundred(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[1])
    s = np.where(np.tri(len(q), len(k), len(k) - len(q), dtype=bool), s, -100.0)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ v


def past_last_key_cut_off(q, k, v):
    # [:-0] is empty, so the last row is guarded, but with [:-1]
    out = np.zeros((len(q), v.shape[1]))
    for i in range(len(q)):
        hidden = len(q) - 1 - i
        keys, values = (k[:-hidden], v[:-hidden]) if hidden > 0 else (k[:-1], v[:-1])
        if len(keys) == 0:
            keys, values = k, v
        s = keys @ q[i] / np.sqrt(q.shape[1])
        e = np.exp(s - s.max())
        out[i] = e / e.sum() @ values
    return out


def past_scaled_by_keys(q, k, v):
    s = q @ k.T / np.sqrt(len(k))
    s = np.where(np.tri(len(q), len(k), len(k) - len(q), dtype=bool), s, -np.inf)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ v


def past_vectorised(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[-1])
    s = np.where(np.tri(len(q), len(k), len(k) - len(q), dtype=bool), s, -np.inf)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ v


def past_row_by_row(q, k, v):
    past = len(k) - len(q)
    out = np.zeros((len(q), v.shape[1]))
    for i, query in enumerate(q):
        seen = past + i + 1
        s = k[:seen] @ query / math.sqrt(len(query))
        e = np.exp(s - s.max())
        out[i] = e @ v[:seen] / e.sum()
    return out


def past_queries_filled_up(q, k, v):
    # queries of zeros for the past, one square causal pass, and the last rows of it
    n_query, n_key = len(q), len(k)
    every = np.vstack([np.zeros((n_key - n_query, q.shape[1])), q])
    s = every @ k.T / np.sqrt(q.shape[1])
    s[np.triu_indices(n_key, k=1)] = -np.inf
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return (e / e.sum(axis=1, keepdims=True) @ v)[n_key - n_query :]


def past_new_square_masked(q, k, v):
    n_query = len(q)
    past = len(k) - n_query
    s = np.einsum("id,jd->ij", q, k) / np.sqrt(q.shape[1])
    new = s[:, past:]
    new[np.triu_indices(n_query, k=1)] = -np.inf
    e = np.exp(s - np.max(s, axis=1)[:, None])
    return np.einsum("ij,jv->iv", e, v) / np.einsum("ij->i", e)[:, None]


def past_lists_of_numbers(q, k, v):
    def softmax(scores):
        top = max(scores)
        e = [math.exp(s - top) for s in scores]
        return [number / sum(e) for number in e]

    rows = []
    for i in range(q.shape[0]):
        count = k.shape[0] - q.shape[0] + i + 1
        weights = softmax([float(q[i] @ k[j]) / q.shape[1] ** 0.5 for j in range(count)])
        rows.append(np.sum([w * v[j] for j, w in enumerate(weights)], axis=0))
    return np.array(rows)


def past_two_parts_joined(q, k, v):
    # float32 weights; the past and the new part share one maximum
    past = len(k) - len(q)
    s = q @ k.T * (1.0 / np.sqrt(q.shape[1]))
    place = np.arange(len(k)) - past
    s = np.where(place <= np.arange(len(q))[:, None], s, -np.inf)
    p = np.exp((s - s.max(axis=1, keepdims=True)).astype(np.float32)).astype(float)
    total = p[:, :past].sum(axis=1) + p[:, past:].sum(axis=1)
    return (p[:, :past] @ v[:past] + p[:, past:] @ v[past:]) / total[:, None]


# --- fault_decode_loop ---


def loop_as_it_was(q, k, v):
    keys, values = np.zeros(k.shape), np.zeros(v.shape)
    out = np.zeros(v.shape)
    for t in range(len(q)):
        keys[t], values[t] = k[t], v[t]
        n = len(keys)
        s = keys[:n] @ q[t] * q.shape[-1] ** -0.5
        exponentials = np.exp(s - s.max())
        out[t] = exponentials / exponentials.sum() @ values[:n]
    return out


def loop_up_to_t_excluded(q, k, v):
    keys, values = np.zeros(k.shape), np.zeros(v.shape)
    out = np.zeros(v.shape)
    for t in range(len(q)):
        keys[t], values[t] = k[t], v[t]
        n = max(t, 1)
        s = keys[:n] @ q[t] * q.shape[-1] ** -0.5
        exponentials = np.exp(s - s.max())
        out[t] = exponentials / exponentials.sum() @ values[:n]
    return out


def loop_one_row_too_many(q, k, v):
    keys, values = np.zeros(k.shape), np.zeros(v.shape)
    out = np.zeros(v.shape)
    for t in range(len(q)):
        keys[t], values[t] = k[t], v[t]
        n = t + 2
        s = keys[:n] @ q[t] * q.shape[-1] ** -0.5
        exponentials = np.exp(s - s.max())
        out[t] = exponentials / exponentials.sum() @ values[:n]
    return out


def loop_full_from_the_start(q, k, v):
    # takes the empty room for the fault, and fills it: now every row sees the future
    keys, values = np.array(k, dtype=float), np.array(v, dtype=float)
    out = np.zeros(v.shape)
    for t in range(len(q)):
        n = len(keys)
        s = keys[:n] @ q[t] * q.shape[-1] ** -0.5
        exponentials = np.exp(s - s.max())
        out[t] = exponentials / exponentials.sum() @ values[:n]
    return out


def loop_counts_filled_rows(q, k, v):
    # a key of zeros is taken for an empty row
    keys, values = np.zeros(k.shape), np.zeros(v.shape)
    out = np.zeros(v.shape)
    for t in range(len(q)):
        keys[t], values[t] = k[t], v[t]
        n = np.count_nonzero(keys.any(axis=1))
        s = keys[:n] @ q[t] * q.shape[-1] ** -0.5
        exponentials = np.exp(s - s.max(initial=-np.inf))
        out[t] = exponentials / exponentials.sum() @ values[:n]
    return out


def loop_maximum_dropped(q, k, v):
    keys, values = np.zeros(k.shape), np.zeros(v.shape)
    out = np.zeros(v.shape)
    for t in range(len(q)):
        keys[t], values[t] = k[t], v[t]
        n = t + 1
        s = keys[:n] @ q[t] * q.shape[-1] ** -0.5
        exponentials = np.exp(s)
        out[t] = exponentials / exponentials.sum() @ values[:n]
    return out


def loop_scale_of_tokens(q, k, v):
    keys, values = np.zeros(k.shape), np.zeros(v.shape)
    out = np.zeros(v.shape)
    for t in range(len(q)):
        keys[t], values[t] = k[t], v[t]
        n = t + 1
        s = keys[:n] @ q[t] * n**-0.5
        exponentials = np.exp(s - s.max())
        out[t] = exponentials / exponentials.sum() @ values[:n]
    return out


def loop_sum_over_empty_rows(q, k, v):
    # half mended: the empty rows are cut off after the sum was taken
    keys, values = np.zeros(k.shape), np.zeros(v.shape)
    out = np.zeros(v.shape)
    for t in range(len(q)):
        keys[t], values[t] = k[t], v[t]
        n = t + 1
        s = keys @ q[t] * q.shape[-1] ** -0.5
        exponentials = np.exp(s - s.max())
        out[t] = (exponentials / exponentials.sum())[:n] @ values[:n]
    return out


def loop_maximum_of_empty_rows(q, k, v):
    # empty rows have score 0: if all real scores are far below, everything underflows
    keys, values = np.zeros(k.shape), np.zeros(v.shape)
    out = np.zeros(v.shape)
    for t in range(len(q)):
        keys[t], values[t] = k[t], v[t]
        n = t + 1
        s = keys @ q[t] * q.shape[-1] ** -0.5
        exponentials = np.exp(s - s.max())[:n]
        out[t] = exponentials / exponentials.sum() @ values[:n]
    return out


def loop_newest_row_only(q, k, v):
    # mended, but only the newest row is looked at
    keys, values = np.zeros(k.shape), np.zeros(v.shape)
    out = np.zeros(v.shape)
    for t in range(len(q)):
        keys[t], values[t] = k[t], v[t]
        n = t + 1
        s = keys[t:n] @ q[t] * q.shape[-1] ** -0.5
        exponentials = np.exp(s - s.max())
        out[t] = exponentials / exponentials.sum() @ values[t:n]
    return out


def loop_rows_so_far(q, k, v):
    keys, values = np.zeros(k.shape), np.zeros(v.shape)  # n rows each
    out = np.zeros(v.shape)
    for t in range(len(q)):
        keys[t], values[t] = k[t], v[t]
        n = t + 1
        s = keys[:n] @ q[t] * q.shape[-1] ** -0.5
        exponentials = np.exp(s - s.max())
        out[t] = exponentials / exponentials.sum() @ values[:n]
    return out


def loop_length_of_what_is_there(q, k, v):
    keys, values = np.zeros(k.shape), np.zeros(v.shape)
    out = np.zeros(v.shape)
    for t in range(len(q)):
        keys[t], values[t] = k[t], v[t]
        n = len(keys[: t + 1])
        s = keys[:n] @ q[t] * q.shape[-1] ** -0.5
        exponentials = np.exp(s - s.max())
        out[t] = exponentials / exponentials.sum() @ values[:n]
    return out


def loop_empty_rows_hidden(q, k, v):
    keys, values = np.zeros(k.shape), np.zeros(v.shape)
    out = np.zeros(v.shape)
    for t in range(len(q)):
        keys[t], values[t] = k[t], v[t]
        s = keys @ q[t] * q.shape[-1] ** -0.5
        s[t + 1 :] = -np.inf
        exponentials = np.exp(s - s.max())
        out[t] = exponentials / exponentials.sum() @ values
    return out


def loop_with_growing_lists(q, k, v):
    keys, values, out = [], [], []
    for query, key, value in zip(q, k, v, strict=True):
        keys.append(key)
        values.append(value)
        s = np.array(keys) @ query / np.sqrt(len(query))
        e = np.exp(s - s.max())
        out.append(e / e.sum() @ np.array(values))
    return np.array(out)


def loop_replaced_by_one_pass(q, k, v):
    s = np.einsum("id,jd->ij", q, k) / np.sqrt(q.shape[-1])
    s = np.where(np.tri(len(q), dtype=bool), s, -np.inf)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return np.einsum("ij,jv->iv", e / e.sum(axis=1, keepdims=True), v)


WRONG = {
    "scores_computed": [
        (scores_cases_swapped, "cases-swapped"),
        (scores_hidden_ones_too, "ignores-causality"),
        (scores_of_last_step, "linear-with-cache"),
        (scores_last_step_missing, "one-step-off"),
        (scores_own_key_left_out, "one-step-off"),
        (scores_one_per_step, "linear-with-cache"),
        (scores_full_square_each_step, "every-step-as-the-last"),
        (scores_formula_of_squares, "ignores-causality"),
        (scores_guessed_from_example, "hard-coded"),
        (scores_start_counted_always, "one-step-off"),
    ],
    "predict_step_shape": [
        # causal pass over all eight tokens
        ((6, 8, 8), "whole-pass"),
        # two heads of keys make two tables of scores
        ((2, 1, 8), "one-table-per-kv-head"),
        # the cache holds 5 + 2 = 7 keys
        ((6, 1, 7), "forgets-current-token"),
        # the prompt has five keys
        ((6, 1, 5), "prompt-forgotten"),
        # three tokens are decoded by now, all with queries
        ((6, 3, 8), "decoded-together"),
        # keys before queries
        ((6, 8, 1), "transposed"),
        # 6 heads of queries and 2 of keys and values
        ((8, 1, 8), "heads-added"),
        # one query against one key of 4 features
        ((6, 1, 4), "features-for-keys"),
        # 6 / 2 query heads share a head
        ((3, 1, 8), "one-table-per-kv-head"),
        # with a cache only the new token's score is new
        ((6, 1, 1), "new-token-only"),
        # the heads are no axis of their own
        ((1, 8), "axis-left-out"),
    ],
    "cache_bytes": [
        (cache_keys_only, "keys-only"),
        (cache_of_one_layer, "one-layer"),
        (cache_heads_forgotten, "one-head"),
        (cache_counts_numbers, "numbers-not-bytes"),
        (cache_in_bits, "bits"),
        (cache_of_score_table, "quadratic"),
        (cache_two_added, "added-not-multiplied"),
        (cache_with_queries, "queries-too"),
        (cache_in_int32, None),
        (cache_newest_token_not_kept, "one-token-off"),
        (cache_room_for_one_at_least, "one-token-off"),
    ],
    "decode_step": [
        (step_without_own_token, "forgets-current-token"),
        (step_newest_in_front, "prepends"),
        (step_scaled_by_tokens, "wrong-scale"),
        (step_not_scaled, "unscaled"),
        (step_overflows, "no-max-shift"),
        (step_maximum_of_the_past, "no-max-shift"),
        (step_zeros_if_cache_is_empty, "nothing-at-first"),
        (step_returns_new_rows_only, "new-only"),
        (step_keys_and_values_swapped, "results-in-another-order"),
        (step_scales_the_cache, "mutates-input"),
        (step_drops_the_oldest, "drops-oldest"),
        (step_flat_append, "cut-anew"),
    ],
    "attend_with_past": [
        (past_triangle_from_the_left, "top-left-aligned"),
        (past_without_mask, "no-mask"),
        (past_one_too_many, "one-too-many"),
        (past_own_token_hidden, "one-too-few"),
        (past_new_tokens_blind_to_each_other, "past-and-itself"),
        (past_only_new_keys, "past-ignored"),
        (past_zero_scores_hidden, "zero-taken-for-masked"),
        (past_maximum_of_hidden, "renormalised-too-late"),
        (past_overflows, "no-max-shift"),
        (past_hides_with_minus_hundred, "finite-fill"),
        (past_last_key_cut_off, "last-row-cut"),
        (past_scaled_by_keys, "wrong-scale"),
    ],
    "fault_decode_loop": [
        (loop_as_it_was, "empty-rows-attended"),
        (loop_up_to_t_excluded, "forgets-current-token"),
        (loop_one_row_too_many, "one-too-many"),
        (loop_full_from_the_start, "future-seen"),
        (loop_counts_filled_rows, "zero-taken-for-empty"),
        (loop_maximum_dropped, "no-max-shift"),
        (loop_scale_of_tokens, "wrong-scale"),
        (loop_sum_over_empty_rows, "empty-rows-attended"),
        (loop_maximum_of_empty_rows, "renormalised-too-late"),
        (loop_newest_row_only, "newest-row-only"),
    ],
}

RIGHT = {
    "scores_computed": [
        scores_by_formula,
        scores_by_loop,
        scores_by_binomials,
        scores_by_running_totals,
        scores_by_accumulate,
    ],
    "predict_step_shape": [
        (6, 1, 8),
        [6, 1, 8],
        np.array([6, 1, 8]),
        (6.0, 1.0, 8.0),
        np.zeros((6, 1, 5 + 2 + 1)).shape,
        (np.ones((6, 1, 4)) @ np.ones((6, 8, 4)).swapaxes(1, 2)).shape,
    ],
    "cache_bytes": [
        cache_product,
        cache_layer_by_layer,
        cache_math_prod,
        cache_per_token,
        cache_in_floats,
    ],
    "decode_step": [
        step_with_vstack,
        step_with_append,
        step_with_lists,
        step_with_room_set_aside,
        step_mixes_past_and_own,
    ],
    "attend_with_past": [
        past_vectorised,
        past_row_by_row,
        past_queries_filled_up,
        past_new_square_masked,
        past_lists_of_numbers,
        past_two_parts_joined,
    ],
    "fault_decode_loop": [
        loop_rows_so_far,
        loop_length_of_what_is_there,
        loop_empty_rows_hidden,
        loop_with_growing_lists,
        loop_replaced_by_one_pass,
    ],
}
