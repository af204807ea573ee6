"""Answers to the exercises on the KV cache, written from the prompts alone."""

import math

import numpy as np

from attention_book import attention, causal_mask, softmax


# --- scores_computed ------------------------------------------------------------------------------
def one_for_each_token(n, cached):
    if cached:
        return n
    return n * (n + 1) * (n + 2) // 6


def quadratic_and_linear(n, cached):
    return n if cached else n**2


def never_looks_at_cached(n, cached):
    return sum(t * (t + 1) // 2 for t in range(1, n + 1))


def one_triangle_for_both(n, cached):
    return n * (n + 1) // 2


def whole_squares(n, cached):
    total = 0
    for t in range(1, n + 1):
        total += t if cached else t * t
    return total


def powers(n, cached):
    return n**2 if cached else n**3


def counts_from_zero(n, cached):
    total = 0
    for t in range(n):
        total += t if cached else t * (t + 1) // 2
    return total


def the_wrong_way_round(n, cached):
    total = 0
    for t in range(1, n + 1):
        total += t * (t + 1) // 2 if cached else t
    return total


def leaves_out_the_diagonal(n, cached):
    return sum(t - 1 if cached else t * (t - 1) // 2 for t in range(1, n + 1))


def doubles(n, cached):
    return sum(2 * t if cached else t * (t + 1) for t in range(1, n + 1))


def one_pass_without(n, cached):
    return n * (n + 1) // 2 if cached else n * n


def multiplies_the_triangle(n, cached):
    triangle = n * (n + 1) // 2
    return triangle if cached else n * triangle


def counts_with_a_loop(n, cached):
    count = 0
    for t in range(1, n + 1):
        for query in range(t):
            if cached and query < t - 1:
                continue
            count += query + 1
    return count


def counts_by_formula(n, cached):
    if cached:
        return n * (n + 1) / 2
    return n * (n + 1) * (n + 2) / 6


def counts_triangles(n, cached):
    total = 0
    for t in range(1, n + 1):
        mask = np.tril(np.ones((t, t)))
        total += mask[-1].sum() if cached else mask.sum()
    return total


# --- cache_bytes ----------------------------------------------------------------------------------
def forgets_the_values(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    return n_layers * n_kv_heads * d_head * n_tokens * bytes_per_value


def forgets_the_layers(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    return 2 * n_kv_heads * d_head * n_tokens * bytes_per_value


def forgets_the_heads(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    return 2 * n_layers * d_head * n_tokens * bytes_per_value


def counts_bits(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    return 2 * n_layers * n_kv_heads * d_head * n_tokens * bytes_per_value * 8


def counts_numbers(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    return 2 * n_layers * n_kv_heads * d_head * n_tokens


def keeps_queries(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    return 3 * n_layers * n_kv_heads * d_head * n_tokens * bytes_per_value


def squares_the_tokens(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    return 2 * n_layers * n_kv_heads * d_head * n_tokens**2 * bytes_per_value


def keeps_the_scores(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    return n_layers * n_kv_heads * n_tokens * n_tokens * bytes_per_value


def for_one_token(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    return 2 * n_layers * n_kv_heads * d_head * bytes_per_value


def in_mebibytes(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    return 2 * n_layers * n_kv_heads * d_head * n_tokens * bytes_per_value / 1024**2


def adds_instead(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    return 2 * (n_layers + n_kv_heads + d_head + n_tokens) * bytes_per_value


def square_projections(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    d_model = n_kv_heads * d_head
    return 2 * n_layers * n_tokens * d_model * d_head * bytes_per_value


def bytes_by_product(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    return 2 * n_layers * n_kv_heads * d_head * n_tokens * bytes_per_value


def bytes_by_arrays(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    keys = np.zeros((n_layers, n_kv_heads, n_tokens, d_head))
    values = np.zeros((n_layers, n_kv_heads, n_tokens, d_head))
    return (keys.size + values.size) * bytes_per_value


def bytes_token_by_token(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    total = 0
    for _ in range(n_tokens):
        for _ in range(n_layers):
            total += n_kv_heads * (d_head + d_head) * bytes_per_value
    return total


# --- decode_step ----------------------------------------------------------------------------------
def attends_before_it_appends(x_t, past_k, past_v, wq, wk, wv):
    q = x_t @ wq
    out = softmax(past_k @ q / np.sqrt(len(q))) @ past_v
    return out, np.vstack([past_k, x_t @ wk]), np.vstack([past_v, x_t @ wv])


def attends_before_but_guards(x_t, past_k, past_v, wq, wk, wv):
    q, k_t, v_t = x_t @ wq, x_t @ wk, x_t @ wv
    out = softmax(past_k @ q / np.sqrt(len(q))) @ past_v if len(past_k) else v_t
    return out, np.vstack([past_k, k_t]), np.vstack([past_v, v_t])


def stores_the_query(x_t, past_k, past_v, wq, wk, wv):
    q = x_t @ wq
    new_k = np.vstack([past_k, q])
    new_v = np.vstack([past_v, x_t @ wv])
    return attention(q[None], new_k, new_v)[0], new_k, new_v


def forgets_the_new_value(x_t, past_k, past_v, wq, wk, wv):
    q = x_t @ wq
    new_k = np.vstack([past_k, x_t @ wk])
    return softmax(new_k @ q / np.sqrt(len(q))) @ past_v, new_k, past_v


def returns_the_old_values(x_t, past_k, past_v, wq, wk, wv):
    q = x_t @ wq
    new_k = np.vstack([past_k, x_t @ wk])
    new_v = np.vstack([past_v, x_t @ wv])
    return softmax(new_k @ q / np.sqrt(len(q))) @ new_v, new_k, past_v


def writes_over_the_last(x_t, past_k, past_v, wq, wk, wv):
    new_k, new_v = past_k.copy(), past_v.copy()
    new_k[-1], new_v[-1] = x_t @ wk, x_t @ wv
    return attention((x_t @ wq)[None], new_k, new_v)[0], new_k, new_v


def writes_into_the_past(x_t, past_k, past_v, wq, wk, wv):
    past_k[-1], past_v[-1] = x_t @ wk, x_t @ wv
    return attention((x_t @ wq)[None], past_k, past_v)[0], past_k, past_v


def puts_it_in_front(x_t, past_k, past_v, wq, wk, wv):
    new_k = np.vstack([x_t @ wk, past_k])
    new_v = np.vstack([x_t @ wv, past_v])
    return attention((x_t @ wq)[None], new_k, new_v)[0], new_k, new_v


def inserts_at_zero(x_t, past_k, past_v, wq, wk, wv):
    new_k = np.insert(past_k, 0, x_t @ wk, axis=0)
    new_v = np.insert(past_v, 0, x_t @ wv, axis=0)
    s = new_k @ (x_t @ wq) / math.sqrt(wq.shape[1])
    return softmax(s) @ new_v, new_k, new_v


def appends_without_an_axis(x_t, past_k, past_v, wq, wk, wv):
    new_k = np.append(past_k, x_t @ wk)
    new_v = np.append(past_v, x_t @ wv)
    return softmax(new_k @ (x_t @ wq) / np.sqrt(wq.shape[1])) @ new_v, new_k, new_v


def concatenates_a_vector(x_t, past_k, past_v, wq, wk, wv):
    new_k = np.concatenate([past_k, x_t @ wk])
    new_v = np.concatenate([past_v, x_t @ wv])
    return softmax(new_k @ (x_t @ wq) / np.sqrt(wq.shape[1])) @ new_v, new_k, new_v


def keeps_the_axis(x_t, past_k, past_v, wq, wk, wv):
    x = x_t.reshape(1, -1)
    k, v = np.concatenate([past_k, x @ wk]), np.concatenate([past_v, x @ wv])
    return attention(x @ wq, k, v), k, v


def masks_the_past(x_t, past_k, past_v, wq, wk, wv):
    k, v = np.vstack([past_k, x_t @ wk]), np.vstack([past_v, x_t @ wv])
    s = (x_t @ wq)[None] @ k.T / np.sqrt(wq.shape[1])
    s = np.where(np.tril(np.ones(s.shape, dtype=bool)), s, -np.inf)
    return (softmax(s) @ v)[0], k, v


def forgets_to_scale(x_t, past_k, past_v, wq, wk, wv):
    k, v = np.vstack([past_k, x_t @ wk]), np.vstack([past_v, x_t @ wv])
    return softmax(k @ (x_t @ wq)) @ v, k, v


def does_not_subtract(x_t, past_k, past_v, wq, wk, wv):
    k, v = np.vstack([past_k, x_t @ wk]), np.vstack([past_v, x_t @ wv])
    e = np.exp(k @ (x_t @ wq) / np.sqrt(wq.shape[1]))
    return e / e.sum() @ v, k, v


def returns_the_cache_first(x_t, past_k, past_v, wq, wk, wv):
    k, v = np.vstack([past_k, x_t @ wk]), np.vstack([past_v, x_t @ wv])
    return k, v, attention((x_t @ wq)[None], k, v)[0]


def returns_only_out(x_t, past_k, past_v, wq, wk, wv):
    k, v = np.vstack([past_k, x_t @ wk]), np.vstack([past_v, x_t @ wv])
    return attention((x_t @ wq)[None], k, v)[0]


def returns_only_the_new(x_t, past_k, past_v, wq, wk, wv):
    k_t, v_t = x_t @ wk, x_t @ wv
    k, v = np.vstack([past_k, k_t]), np.vstack([past_v, v_t])
    return attention((x_t @ wq)[None], k, v)[0], k_t, v_t


def stores_the_token(x_t, past_k, past_v, wq, wk, wv):
    k, v = np.vstack([past_k, x_t]), np.vstack([past_v, x_t])
    return attention((x_t @ wq)[None], k @ wk, v @ wv)[0], k, v


def adds_it_up(x_t, past_k, past_v, wq, wk, wv):
    k, v = past_k + x_t @ wk, past_v + x_t @ wv
    return softmax(k @ (x_t @ wq) / np.sqrt(wq.shape[1])) @ v, k, v


def mixes_up_k_and_v(x_t, past_k, past_v, wq, wk, wv):
    k, v = np.vstack([past_k, x_t @ wv]), np.vstack([past_v, x_t @ wk])
    return softmax(k @ (x_t @ wq) / np.sqrt(wq.shape[1])) @ v, k, v


def step_with_vstack(x_t, past_k, past_v, wq, wk, wv):
    q = x_t @ wq
    new_k = np.vstack([past_k, x_t @ wk])
    new_v = np.vstack([past_v, x_t @ wv])
    return softmax(new_k @ q / np.sqrt(len(q))) @ new_v, new_k, new_v


def step_by_calling_attention(x_t, past_k, past_v, wq, wk, wv):
    x = x_t[np.newaxis]
    new_k = np.concatenate([past_k, x @ wk], axis=0)
    new_v = np.concatenate([past_v, x @ wv], axis=0)
    return attention(x @ wq, new_k, new_v).ravel(), new_k, new_v


def step_with_lists(x_t, past_k, past_v, wq, wk, wv):
    keys, values = [*past_k, x_t @ wk], [*past_v, x_t @ wv]
    q = x_t @ wq
    s = [q @ key / math.sqrt(len(q)) for key in keys]
    e = [math.exp(score - max(s)) for score in s]
    out = sum(weight / sum(e) * value for weight, value in zip(e, values, strict=True))
    return out, keys, values


# --- attend_with_past -----------------------------------------------------------------------------
def starts_at_the_top(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[1])
    s = np.where(np.tril(np.ones(s.shape)) == 1, s, -np.inf)
    return softmax(s) @ v


def needs_a_square(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[1])
    s = np.where(np.tri(len(q), dtype=bool), s, -np.inf)
    return softmax(s) @ v


def needs_no_mask(q, k, v):
    return attention(q, k, v)


def stops_before_itself(q, k, v):
    past = len(k) - len(q)
    rows = []
    for i in range(len(q)):
        end = past + i
        rows.append(softmax(k[:end] @ q[i] / np.sqrt(q.shape[1])) @ v[:end])
    return np.array(rows)


def one_too_few_by_tri(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[1])
    mask = np.tri(len(q), len(k), len(k) - len(q) - 1, dtype=bool)
    return softmax(np.where(mask, s, -np.inf)) @ v


def one_beyond(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[1])
    mask = np.tri(len(q), len(k), len(k) - len(q) + 1, dtype=bool)
    return softmax(np.where(mask, s, -np.inf)) @ v


def drops_the_cache(q, k, v):
    n = len(q)
    return attention(q, k[-n:], v[-n:], mask=causal_mask(n))


def sees_the_cache_only(q, k, v):
    past = len(k) - len(q)
    return attention(q, k[:past], v[:past])


def turns_the_offset_around(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[1])
    mask = np.tri(len(q), len(k), len(q) - len(k), dtype=bool)
    return softmax(np.where(mask, s, -np.inf)) @ v


def subtracts_the_wrong_way(q, k, v):
    rows = []
    for i in range(len(q)):
        end = len(q) - len(k) + i + 1
        rows.append(softmax(k[:end] @ q[i] / np.sqrt(q.shape[1])) @ v[:end])
    return np.array(rows)


def inverts_the_mask(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[1])
    mask = np.tri(len(q), len(k), len(k) - len(q), dtype=bool)
    s[mask] = -np.inf
    return softmax(s) @ v


def masks_too_late(q, k, v):
    weights = softmax(q @ k.T / np.sqrt(q.shape[1]))
    return weights * causal_mask(len(q), len(k)) @ v


def masks_too_late_and_divides(q, k, v):
    weights = softmax(q @ k.T / np.sqrt(q.shape[1])) * causal_mask(len(q), len(k))
    return weights / weights.sum(axis=1, keepdims=True) @ v


def has_no_maximum(q, k, v):
    s = np.where(causal_mask(len(q), len(k)), q @ k.T / np.sqrt(q.shape[1]), -np.inf)
    return np.exp(s) / np.exp(s).sum(axis=1, keepdims=True) @ v


def has_one_maximum(q, k, v):
    s = np.where(causal_mask(len(q), len(k)), q @ k.T / np.sqrt(q.shape[1]), -np.inf)
    e = np.exp(s - s.max())
    return e / e.sum(axis=1, keepdims=True) @ v


def fills_with_a_hundred(q, k, v):
    s = np.where(causal_mask(len(q), len(k)), q @ k.T / np.sqrt(q.shape[1]), -100)
    return softmax(s) @ v


def has_no_scale(q, k, v):
    return softmax(np.where(causal_mask(len(q), len(k)), q @ k.T, -np.inf)) @ v


def calls_it(q, k, v):
    return attention(q, k, v, mask=causal_mask(len(q), len(k)))


def past_with_a_mask(q, k, v):
    n_query, n_key = len(q), len(k)
    mask = np.ones((n_query, n_key), dtype=bool)
    for i in range(n_query):
        mask[i, n_key - n_query + i + 1 :] = False
    s = np.where(mask, q @ k.T / np.sqrt(q.shape[-1]), -np.inf)
    return softmax(s) @ v


def past_with_a_bottom_of_the_triangle(q, k, v):
    mask = np.tri(len(k), dtype=bool)[-len(q) :]
    s = np.where(mask, q @ k.T / np.sqrt(q.shape[-1]), -np.inf)
    return softmax(s) @ v


def past_token_by_token(q, k, v):
    past = len(k) - len(q)
    return [attention(q[i : i + 1], k[: past + i + 1], v[: past + i + 1])[0]
            for i in range(len(q))]


def past_with_softmax_and_mask(q, k, v):
    s = q @ k.T * q.shape[-1] ** -0.5
    return softmax(s, mask=causal_mask(*s.shape)) @ v


# --- fault_decode_loop ----------------------------------------------------------------------------
def reads_up_to_t(q, k, v):
    keys, values = np.zeros(k.shape), np.zeros(v.shape)
    out = np.zeros(v.shape)
    for t in range(len(q)):
        keys[t], values[t] = k[t], v[t]
        n = t
        s = keys[:n] @ q[t] * q.shape[-1] ** -0.5
        exponentials = np.exp(s - s.max())
        out[t] = exponentials / exponentials.sum() @ values[:n]
    return out


def slices_the_values_only(q, k, v):
    keys, values = np.zeros(k.shape), np.zeros(v.shape)
    out = np.zeros(v.shape)
    for t in range(len(q)):
        keys[t], values[t] = k[t], v[t]
        s = keys @ q[t] * q.shape[-1] ** -0.5
        exponentials = np.exp(s - s.max())
        out[t] = exponentials / exponentials.sum() @ values[: t + 1]
    return out


def drops_zero_scores(q, k, v):
    keys, values = np.zeros(k.shape), np.zeros(v.shape)
    out = np.zeros(v.shape)
    for t in range(len(q)):
        keys[t], values[t] = k[t], v[t]
        s = keys @ q[t] * q.shape[-1] ** -0.5
        s[s == 0] = -np.inf
        exponentials = np.exp(s - s.max())
        out[t] = exponentials / exponentials.sum() @ values
    return out


def drops_zero_keys(q, k, v):
    keys, values = np.zeros(k.shape), np.zeros(v.shape)
    out = np.zeros(v.shape)
    for t in range(len(q)):
        keys[t], values[t] = k[t], v[t]
        filled = keys.any(axis=1)
        s = keys[filled] @ q[t] * q.shape[-1] ** -0.5
        exponentials = np.exp(s - s.max())
        out[t] = exponentials / exponentials.sum() @ values[filled]
    return out


def cuts_the_weights(q, k, v):
    keys, values = np.zeros(k.shape), np.zeros(v.shape)
    out = np.zeros(v.shape)
    for t in range(len(q)):
        keys[t], values[t] = k[t], v[t]
        s = keys @ q[t] * q.shape[-1] ** -0.5
        exponentials = np.exp(s - s.max())
        weights = exponentials / exponentials.sum()
        out[t] = weights[: t + 1] @ values[: t + 1]
    return out


def sums_the_filled_only(q, k, v):
    keys, values = np.zeros(k.shape), np.zeros(v.shape)
    out = np.zeros(v.shape)
    for t in range(len(q)):
        keys[t], values[t] = k[t], v[t]
        s = keys @ q[t] * q.shape[-1] ** -0.5
        exponentials = np.exp(s - s.max())
        out[t] = exponentials[: t + 1] / exponentials[: t + 1].sum() @ values[: t + 1]
    return out


def copies_all_at_once(q, k, v):
    keys, values = k.copy(), v.copy()
    out = np.zeros(v.shape)
    for t in range(len(q)):
        s = keys @ q[t] * q.shape[-1] ** -0.5
        exponentials = np.exp(s - s.max())
        out[t] = exponentials / exponentials.sum() @ values
    return out


def reads_one_more(q, k, v):
    keys, values = np.zeros(k.shape), np.zeros(v.shape)
    out = np.zeros(v.shape)
    for t in range(len(q)):
        keys[t], values[t] = k[t], v[t]
        n = t + 2
        s = keys[:n] @ q[t] * q.shape[-1] ** -0.5
        exponentials = np.exp(s - s.max())
        out[t] = exponentials / exponentials.sum() @ values[:n]
    return out


def fills_the_empty_rows(q, k, v):
    keys, values = np.zeros(k.shape), np.zeros(v.shape)
    out = np.zeros(v.shape)
    for t in range(len(q)):
        keys[t], values[t] = k[t], v[t]
        s = keys @ q[t] * q.shape[-1] ** -0.5
        s[t + 1 :] = -100
        exponentials = np.exp(s - s.max())
        out[t] = exponentials / exponentials.sum() @ values
    return out


def room_of_minus_infinity(q, k, v):
    keys, values = np.full(k.shape, -np.inf), np.zeros(v.shape)
    out = np.zeros(v.shape)
    for t in range(len(q)):
        keys[t], values[t] = k[t], v[t]
        s = keys @ q[t] * q.shape[-1] ** -0.5
        exponentials = np.exp(s - s.max())
        out[t] = exponentials / exponentials.sum() @ values
    return out


def mended_in_one_line(q, k, v):
    keys, values = np.zeros(k.shape), np.zeros(v.shape)
    out = np.zeros(v.shape)
    for t in range(len(q)):
        keys[t], values[t] = k[t], v[t]
        n = t + 1
        s = keys[:n] @ q[t] * q.shape[-1] ** -0.5
        exponentials = np.exp(s - s.max())
        out[t] = exponentials / exponentials.sum() @ values[:n]
    return out


def mended_with_growing_lists(q, k, v):
    keys, values, out = [], [], []
    for t in range(len(q)):
        keys.append(k[t])
        values.append(v[t])
        out.append(softmax(np.array(keys) @ q[t] * q.shape[-1] ** -0.5) @ np.array(values))
    return out


def mended_by_hiding_the_empty(q, k, v):
    keys, values = np.zeros(k.shape), np.zeros(v.shape)
    out = np.zeros(v.shape)
    for t in range(len(q)):
        keys[t], values[t] = k[t], v[t]
        s = keys @ q[t] * q.shape[-1] ** -0.5
        s[t + 1 :] = -np.inf
        exponentials = np.exp(s - s.max())
        out[t] = exponentials / exponentials.sum() @ values
    return out


WRONG = {
    "scores_computed": [
        (one_for_each_token, "linear-with-cache"),
        (quadratic_and_linear, "linear-with-cache"),
        (never_looks_at_cached, "same-either-way"),
        (one_triangle_for_both, "same-either-way"),
        (whole_squares, "ignores-causality"),
        (powers, "ignores-causality"),
        (counts_from_zero, "one-step-off"),
        (leaves_out_the_diagonal, "one-step-off"),
        (the_wrong_way_round, "cases-swapped"),
        (doubles, "values-counted-too"),
        (one_pass_without, "one-pass-only"),
        (multiplies_the_triangle, "every-step-as-the-last"),
    ],
    "predict_step_shape": [
        ((6, 8, 8), "whole-pass"),
        ((2, 1, 8), "one-table-per-kv-head"),
        ((6, 1, 7), "forgets-current-token"),
        ((6, 1, 1), "new-token-only"),
        ((6, 3, 8), "decoded-together"),
        ((6, 1, 3), "prompt-forgotten"),
        ((6, 1, 4), "features-for-keys"),
        ((1, 8), None),
        (8, None),
    ],
    "cache_bytes": [
        (forgets_the_values, "keys-only"),
        (forgets_the_layers, "one-layer"),
        (forgets_the_heads, "one-head"),
        (counts_bits, "bits"),
        (counts_numbers, "numbers-not-bytes"),
        (keeps_queries, "queries-too"),
        (squares_the_tokens, "quadratic"),
        (keeps_the_scores, "quadratic"),
        (for_one_token, "one-token"),
        (in_mebibytes, "larger-unit"),
        (square_projections, "width-squared"),
        (adds_instead, None),
    ],
    "decode_step": [
        (attends_before_it_appends, "forgets-current-token"),
        (attends_before_but_guards, "forgets-current-token"),
        (stores_the_query, "caches-queries"),
        (forgets_the_new_value, "values-not-updated"),
        (returns_the_old_values, "values-not-updated"),
        (writes_over_the_last, "overwrites-last"),
        (writes_into_the_past, "overwrites-last"),
        (puts_it_in_front, "prepends"),
        (inserts_at_zero, "prepends"),
        (appends_without_an_axis, "values-not-updated"),
        (concatenates_a_vector, "values-not-updated"),
        (keeps_the_axis, "axis-left-over"),
        (masks_the_past, "first-key-only"),
        (forgets_to_scale, "unscaled"),
        (does_not_subtract, "no-max-shift"),
        (returns_the_cache_first, "results-in-another-order"),
        (returns_only_out, "wrong-shape"),
        (returns_only_the_new, "new-only"),
        (stores_the_token, "keeps-tokens"),
        (adds_it_up, "added-to-each"),
        (mixes_up_k_and_v, "keys-values-swapped"),
    ],
    "attend_with_past": [
        (starts_at_the_top, "top-left-aligned"),
        (needs_a_square, "square-only"),
        (needs_no_mask, "no-mask"),
        (stops_before_itself, "one-too-few"),
        (one_too_few_by_tri, "one-too-few"),
        (one_beyond, "one-too-many"),
        (drops_the_cache, "past-ignored"),
        (sees_the_cache_only, "past-only"),
        (turns_the_offset_around, "shifted-backwards"),
        (subtracts_the_wrong_way, "shifted-backwards"),
        (inverts_the_mask, "future-instead-of-past"),
        (masks_too_late, "masked-after-softmax"),
        (masks_too_late_and_divides, "renormalised-too-late"),
        (has_no_maximum, "no-max-shift"),
        (has_one_maximum, "global-max"),
        (fills_with_a_hundred, "finite-fill"),
        (has_no_scale, "unscaled"),
    ],
    "fault_decode_loop": [
        (reads_up_to_t, "forgets-current-token"),
        (slices_the_values_only, "only-one-mended"),
        (drops_zero_scores, "zero-taken-for-empty"),
        (drops_zero_keys, "zero-taken-for-empty"),
        (cuts_the_weights, "empty-rows-attended"),
        (sums_the_filled_only, "renormalised-too-late"),
        (copies_all_at_once, "future-seen"),
        (reads_one_more, "one-too-many"),
        (fills_the_empty_rows, "finite-fill"),
        (room_of_minus_infinity, None),
    ],
}

RIGHT = {
    "scores_computed": [counts_with_a_loop, counts_by_formula, counts_triangles],
    "predict_step_shape": [(6, 1, 8), [6, 1, 8], np.zeros((6, 1, 8)).shape],
    "cache_bytes": [bytes_by_product, bytes_by_arrays, bytes_token_by_token],
    "decode_step": [step_with_vstack, step_by_calling_attention, step_with_lists],
    "attend_with_past": [past_with_a_mask, past_with_a_bottom_of_the_triangle, past_token_by_token,
                         past_with_softmax_and_mask, calls_it],
    "fault_decode_loop": [mended_in_one_line, mended_with_growing_lists,
                          mended_by_hiding_the_empty],
}
