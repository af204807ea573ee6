"""Answers to the exercises on several heads, written from the prompts alone."""

import math

import numpy as np

from attention_book import attention, causal_attention, causal_mask, softmax


# --- split_heads ----------------------------------------------------------------------------------
def one_reshape(x, n_heads):
    n, d_model = x.shape
    return np.reshape(x, (n_heads, n, d_model // n_heads))


def one_reshape_with_a_minus_one(x, n_heads):
    return x.reshape(n_heads, -1, x.shape[1] // n_heads)


def forgets_to_turn(x, n_heads):
    n, d_model = x.shape
    return x.reshape(n, n_heads, d_model // n_heads)


def cuts_with_a_step(x, n_heads):
    return np.array([x[:, head::n_heads] for head in range(n_heads)])


def puts_the_heads_at_the_end(x, n_heads):
    n, d_model = x.shape
    return x.reshape(n, d_model // n_heads, n_heads).transpose(2, 0, 1)


def turns_everything(x, n_heads):
    n, d_model = x.shape
    return x.reshape(n, n_heads, d_model // n_heads).T


def turns_the_last_two(x, n_heads):
    n, d_model = x.shape
    return x.reshape(n, n_heads, d_model // n_heads).transpose(1, 2, 0)


def splits_the_tokens(x, n_heads):
    return np.array(np.split(x, n_heads, axis=0))


def array_splits_the_tokens(x, n_heads):
    return np.stack(np.array_split(x, n_heads))


def transposes_first(x, n_heads):
    n, d_model = x.shape
    return x.T.reshape(n_heads, n, d_model // n_heads)


def slices_n_heads_wide(x, n_heads):
    return np.stack([x[:, i : i + n_heads] for i in range(0, x.shape[1], n_heads)])


def forgets_to_multiply(x, n_heads):
    d_head = x.shape[1] // n_heads
    return np.stack([x[:, h : h + d_head] for h in range(n_heads)])


def fills_head_by_head(x, n_heads):
    n, d_model = x.shape
    d_head = d_model // n_heads
    out = np.zeros((n_heads, n, d_head))
    flat = x.flatten()
    for h in range(n_heads):
        for i in range(n):
            out[h, i] = flat[(h * n + i) * d_head : (h * n + i + 1) * d_head]
    return out


def joins_the_parts(x, n_heads):
    return np.concatenate(np.split(x, n_heads, axis=1))


def uses_a_float(x, n_heads):
    return x.reshape(len(x), n_heads, x.shape[1] / n_heads).swapaxes(0, 1)


def returns_in_the_loop(x, n_heads):
    d_head = x.shape[1] // n_heads
    for h in range(n_heads):
        return x[:, h * d_head : (h + 1) * d_head]


def split_by_reshape_and_transpose(x, n_heads):
    n, d_model = x.shape
    return x.reshape(n, n_heads, d_model // n_heads).transpose(1, 0, 2)


def split_with_hsplit(x, n_heads):
    return np.array(np.hsplit(x, n_heads))


def split_with_slices(x, n_heads):
    d_head = x.shape[1] // n_heads
    heads = []
    for h in range(n_heads):
        heads.append(x[:, h * d_head : h * d_head + d_head])
    return heads


def split_feature_by_feature(x, n_heads):
    n, d_model = x.shape
    out = np.empty((n_heads, n, d_model // n_heads))
    for feature in range(d_model):
        head, place = divmod(feature, d_model // n_heads)
        out[head, :, place] = x[:, feature]
    return out


# --- merge_heads ----------------------------------------------------------------------------------
def reshapes_at_once(x):
    n_heads, n, d_head = x.shape
    return x.reshape(n, n_heads * d_head)


def stacks_them(x):
    return np.vstack(list(x))


def stacks_them_and_reshapes(x):
    n_heads, n, d_head = x.shape
    return np.concatenate(x, axis=0).reshape(n, n_heads * d_head)


def takes_the_mean(x):
    return np.mean(x, axis=0)


def takes_the_sum(x):
    return np.sum(x, axis=0)


def only_turns(x):
    return np.transpose(x, (1, 0, 2))


def turns_the_wrong_two(x):
    n_heads, n, d_head = x.shape
    return np.swapaxes(x, 1, 2).reshape(n, n_heads * d_head)


def turns_all(x):
    n_heads, n, d_head = x.shape
    return x.T.reshape(n, n_heads * d_head)


def mixes_features(x):
    n_heads, n, d_head = x.shape
    return np.moveaxis(x, 0, -1).reshape(n, n_heads * d_head)


def begins_with_the_last(x):
    row = [x[h] for h in range(len(x) - 1, -1, -1)]
    return np.hstack(row)


def keeps_the_first(x):
    return x[0]


def flattens(x):
    return x.flatten()


def merge_with_concatenate(x):
    return np.concatenate([x[h] for h in range(len(x))], axis=1)


def merge_in_a_loop(x):
    n_heads, n, d_head = x.shape
    out = np.zeros((n, n_heads * d_head))
    for h in range(n_heads):
        out[:, h * d_head : (h + 1) * d_head] = x[h]
    return out


def merge_with_moveaxis(x):
    turned = np.moveaxis(x, 0, 1)
    return turned.reshape(turned.shape[0], -1)


def merge_token_by_token(x):
    return [np.concatenate(x[:, i]) for i in range(x.shape[1])]


# --- repeat_kv ------------------------------------------------------------------------------------
def tiles(x, n_repeats):
    return np.tile(x, (n_repeats, 1, 1))


def appends_copies(x, n_repeats):
    out = x
    for _ in range(n_repeats - 1):
        out = np.concatenate([out, x])
    return out


def names_no_axis(x, n_repeats):
    return np.repeat(x, n_repeats)


def repeats_the_tokens(x, n_repeats):
    return x.repeat(n_repeats, axis=1)


def repeats_the_features(x, n_repeats):
    return np.repeat(x, n_repeats, axis=2)


def takes_the_remainder(x, n_repeats):
    return np.array([x[h % len(x)] for h in range(n_repeats * len(x))])


def divides_by_the_wrong_number(x, n_repeats):
    return np.array([x[h // len(x)] for h in range(n_repeats * len(x))])


def stacks_on_a_new_axis(x, n_repeats):
    return np.stack([x] * n_repeats, axis=1)


def multiplies(x, n_repeats):
    return x * n_repeats


def forgets_that_it_is_there(x, n_repeats):
    return np.repeat(x, n_repeats + 1, axis=0)


def only_for_n_repeats_heads(x, n_repeats):
    return np.array([x[h // n_repeats] for h in range(n_repeats)])


def changes_nothing(x, n_repeats):
    return x.copy()


def repeat_in_a_list(x, n_repeats):
    return [head for head in x for _ in range(n_repeats)]


def repeat_by_index(x, n_repeats):
    index = [h // n_repeats for h in range(len(x) * n_repeats)]
    return x[index]


def repeat_into_room(x, n_repeats):
    n_kv_heads, n, d = x.shape
    out = np.zeros((n_kv_heads * n_repeats, n, d))
    for h in range(n_kv_heads):
        out[h * n_repeats : (h + 1) * n_repeats] = x[h]
    return out


def repeat_by_tile_of_a_new_axis(x, n_repeats):
    n_kv_heads, n, d = x.shape
    return np.tile(x[:, None], (1, n_repeats, 1, 1)).reshape(n_kv_heads * n_repeats, n, d)


# --- parameter_count ------------------------------------------------------------------------------
def forgets_wo(d_model, n_heads, n_kv_heads):
    d_head = d_model // n_heads
    return d_model * d_model + 2 * d_model * n_kv_heads * d_head


def four_squares(d_model, n_heads, n_kv_heads):
    return 4 * d_model**2


def multiplies_by_the_heads(d_model, n_heads, n_kv_heads):
    return 4 * d_model**2 * n_heads


def full_width_for_each(d_model, n_heads, n_kv_heads):
    wq = n_heads * d_model**2
    wk = wv = n_kv_heads * d_model**2
    wo = d_model**2
    return wq + wk + wv + wo


def counts_k_once(d_model, n_heads, n_kv_heads):
    d_head = d_model // n_heads
    return 2 * d_model**2 + d_model * n_kv_heads * d_head


def counts_q_and_o(d_model, n_heads, n_kv_heads):
    wq = d_model * d_model
    wo = d_model * d_model
    return wq + wo


def one_head_of_each(d_model, n_heads, n_kv_heads):
    d_head = d_model // n_heads
    return 3 * d_model * d_head + d_model * d_model


def divides_by_kv_heads(d_model, n_heads, n_kv_heads):
    wk = d_model * (d_model // n_kv_heads)
    return 2 * d_model**2 + 2 * wk


def one_column_a_head(d_model, n_heads, n_kv_heads):
    return 2 * d_model * d_model + 2 * d_model * n_kv_heads


def adds_biases(d_model, n_heads, n_kv_heads):
    kv = n_kv_heads * d_model // n_heads
    return 2 * (d_model * d_model + d_model) + 2 * (d_model * kv + kv)


def shares_everything(d_model, n_heads, n_kv_heads):
    d_head = d_model // n_heads
    return 4 * d_model * n_kv_heads * d_head


def counts_shapes(d_model, n_heads, n_kv_heads):
    kv_width = n_kv_heads * (d_model // n_heads)
    shapes = [(d_model, d_model), (d_model, kv_width), (d_model, kv_width), (d_model, d_model)]
    return sum(rows * columns for rows, columns in shapes)


def counts_with_a_fraction(d_model, n_heads, n_kv_heads):
    square = d_model**2
    return square + square + 2 * square * n_kv_heads / n_heads


def counts_real_arrays(d_model, n_heads, n_kv_heads):
    d_head = d_model // n_heads
    wq = np.zeros((d_model, n_heads, d_head))
    wk = np.zeros((d_model, n_kv_heads, d_head))
    return 2 * wq.size + 2 * wk.size


# --- fault_sum_of_heads ---------------------------------------------------------------------------
def mends_the_start_only(mixtures, wo):
    n_heads, n, d_head = mixtures.shape
    out = np.zeros((n, wo.shape[1]))
    for h in range(n_heads):
        rows = wo[h * d_head : h + d_head]
        out += mixtures[h] @ rows
    return out


def takes_every_nth_row(mixtures, wo):
    n_heads, n, _ = mixtures.shape
    out = np.zeros((n, wo.shape[1]))
    for h in range(n_heads):
        rows = wo[h::n_heads]
        out += mixtures[h] @ rows
    return out


def steps_by_n_heads(mixtures, wo):
    n_heads, n, d_head = mixtures.shape
    out = np.zeros((n, wo.shape[1]))
    for h in range(n_heads):
        rows = wo[h * n_heads : h * n_heads + d_head]
        out += mixtures[h] @ rows
    return out


def replaces_instead_of_adding(mixtures, wo):
    n_heads, n, d_head = mixtures.shape
    out = np.zeros((n, wo.shape[1]))
    for h in range(n_heads):
        rows = wo[h * d_head : (h + 1) * d_head]
        out = mixtures[h] @ rows
    return out


def mends_something_else(mixtures, wo):
    n_heads, n, d_head = mixtures.shape
    out = np.zeros((n, wo.shape[1]))
    for h in range(n_heads):
        rows = wo[h : h + d_head]
        out += mixtures[h] @ rows / n_heads
    return out


def cuts_columns(mixtures, wo):
    n_heads, n, d_head = mixtures.shape
    out = np.zeros((n, wo.shape[1]))
    for h in range(n_heads):
        rows = wo[:, h * d_head : (h + 1) * d_head]
        out += mixtures[h] @ rows
    return out


def joins_by_a_reshape(mixtures, wo):
    n_heads, n, d_head = mixtures.shape
    return mixtures.reshape(n, n_heads * d_head) @ wo


def uses_the_first_rows(mixtures, wo):
    n_heads, n, d_head = mixtures.shape
    out = np.zeros((n, wo.shape[1]))
    for h in range(n_heads):
        out += mixtures[h] @ wo[:d_head]
    return out


def mends_the_slice(mixtures, wo):
    n_heads, n, d_head = mixtures.shape
    out = np.zeros((n, wo.shape[1]))
    for h in range(n_heads):
        start = h * d_head
        out += mixtures[h] @ wo[start : start + d_head]
    return out


def cuts_wo_first(mixtures, wo):
    n_heads, _, d_head = mixtures.shape
    rows = wo.reshape(n_heads, d_head, -1)
    return (mixtures @ rows).sum(axis=0)


def joins_after_all(mixtures, wo):
    return np.concatenate(list(mixtures), axis=-1) @ wo


# --- causal_multi_head_attention ------------------------------------------------------------------
def split(x, n_heads):
    return x.reshape(x.shape[0], n_heads, -1).transpose(1, 0, 2)


def merge(x):
    return x.transpose(1, 0, 2).reshape(x.shape[1], -1)


def scales_with_d_model(x, wq, wk, wv, wo, n_heads):
    n, d_model = x.shape
    q, k, v = split(x @ wq, n_heads), split(x @ wk, n_heads), split(x @ wv, n_heads)
    s = q @ k.transpose(0, 2, 1) / np.sqrt(d_model)
    s = np.where(np.tri(n, dtype=bool), s, -np.inf)
    return merge(softmax(s) @ v) @ wo


def forgets_the_scale(x, wq, wk, wv, wo, n_heads):
    n = len(x)
    q, k, v = split(x @ wq, n_heads), split(x @ wk, n_heads), split(x @ wv, n_heads)
    s = q @ k.transpose(0, 2, 1)
    s = np.where(np.tri(n, dtype=bool), s, -np.inf)
    return merge(softmax(s) @ v) @ wo


def forgets_the_output(x, wq, wk, wv, wo, n_heads):
    q, k, v = split(x @ wq, n_heads), split(x @ wk, n_heads), split(x @ wv, n_heads)
    return merge(attention(q, k, v, mask=causal_mask(len(x))))


def ignores_n_heads(x, wq, wk, wv, wo, n_heads):
    return causal_attention(x, wq, wk, wv) @ wo


def forgets_the_mask(x, wq, wk, wv, wo, n_heads):
    q, k, v = split(x @ wq, n_heads), split(x @ wk, n_heads), split(x @ wv, n_heads)
    return merge(attention(q, k, v)) @ wo


def reshapes_only(x, wq, wk, wv, wo, n_heads):
    n, d_model = x.shape
    q, k, v = ((x @ w).reshape(n_heads, n, -1) for w in (wq, wk, wv))
    return attention(q, k, v, mask=causal_mask(n)).reshape(n, d_model) @ wo


def forgets_to_turn_back(x, wq, wk, wv, wo, n_heads):
    q, k, v = split(x @ wq, n_heads), split(x @ wk, n_heads), split(x @ wv, n_heads)
    return attention(q, k, v, mask=causal_mask(len(x))).reshape(x.shape) @ wo


def averages(x, wq, wk, wv, wo, n_heads):
    q, k, v = split(x @ wq, n_heads), split(x @ wk, n_heads), split(x @ wv, n_heads)
    mixtures = attention(q, k, v, mask=causal_mask(len(x)))
    return mixtures.mean(axis=0) @ wo


def averages_the_outputs(x, wq, wk, wv, wo, n_heads):
    d_head = x.shape[1] // n_heads
    out = np.zeros(x.shape)
    for h in range(n_heads):
        own = slice(h * d_head, (h + 1) * d_head)
        head = causal_attention(x, wq[:, own], wk[:, own], wv[:, own])
        out += head @ wo[own]
    return out / n_heads


def takes_rows_of_the_weights(x, wq, wk, wv, wo, n_heads):
    d_head = x.shape[1] // n_heads
    heads = []
    for h in range(n_heads):
        own = slice(h * d_head, (h + 1) * d_head)
        heads.append(causal_attention(x, wq[own], wk[own], wv[own]))
    return np.concatenate(heads, axis=1) @ wo


def splits_the_tokens_into_features(x, wq, wk, wv, wo, n_heads):
    d_head = x.shape[1] // n_heads
    heads = []
    for h in range(n_heads):
        own = slice(h * d_head, (h + 1) * d_head)
        heads.append(causal_attention(x[:, own], wq[own, own], wk[own, own], wv[own, own]))
    return np.concatenate(heads, axis=1) @ wo


def leaves_the_tokens_first(x, wq, wk, wv, wo, n_heads):
    n, d_model = x.shape
    q, k, v = ((x @ w).reshape(n, n_heads, -1) for w in (wq, wk, wv))
    s = q @ k.swapaxes(-1, -2) / np.sqrt(d_model // n_heads)
    return (softmax(s) @ v).reshape(n, d_model) @ wo


def masks_the_other_half(x, wq, wk, wv, wo, n_heads):
    q, k, v = split(x @ wq, n_heads), split(x @ wk, n_heads), split(x @ wv, n_heads)
    s = q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1])
    s[:, np.tri(len(x), dtype=bool)] = -np.inf
    return merge(softmax(s) @ v) @ wo


def masks_with_a_low_number(x, wq, wk, wv, wo, n_heads):
    q, k, v = split(x @ wq, n_heads), split(x @ wk, n_heads), split(x @ wv, n_heads)
    s = q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1])
    s = np.where(np.tri(len(x)) == 1, s, -1000)
    return merge(softmax(s) @ v) @ wo


def masks_the_weights(x, wq, wk, wv, wo, n_heads):
    q, k, v = split(x @ wq, n_heads), split(x @ wk, n_heads), split(x @ wv, n_heads)
    weights = softmax(q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1])) * np.tri(len(x))
    return merge(weights @ v) @ wo


def does_not_shift(x, wq, wk, wv, wo, n_heads):
    q, k, v = split(x @ wq, n_heads), split(x @ wk, n_heads), split(x @ wv, n_heads)
    s = q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1])
    e = np.exp(np.where(np.tri(len(x), dtype=bool), s, -np.inf))
    return merge(e / e.sum(-1, keepdims=True) @ v) @ wo


def shifts_by_one_maximum(x, wq, wk, wv, wo, n_heads):
    q, k, v = split(x @ wq, n_heads), split(x @ wk, n_heads), split(x @ wv, n_heads)
    s = q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1])
    s = np.where(np.tri(len(x), dtype=bool), s, -np.inf)
    e = np.exp(s - np.max(s))
    return merge(e / e.sum(-1, keepdims=True) @ v) @ wo


def keeps_the_last_head(x, wq, wk, wv, wo, n_heads):
    d_head = x.shape[1] // n_heads
    for h in range(n_heads):
        own = slice(h * d_head, (h + 1) * d_head)
        out = causal_attention(x, wq[:, own], wk[:, own], wv[:, own]) @ wo[own]
    return out


def uses_dot_T(x, wq, wk, wv, wo, n_heads):
    q, k, v = split(x @ wq, n_heads), split(x @ wk, n_heads), split(x @ wv, n_heads)
    s = q @ k.T / np.sqrt(q.shape[-1])
    s = np.where(np.tri(len(x), dtype=bool), s, -np.inf)
    return merge(softmax(s) @ v) @ wo


def projects_out_before_the_merge(x, wq, wk, wv, wo, n_heads):
    q, k, v = split(x @ wq, n_heads), split(x @ wk, n_heads), split(x @ wv, n_heads)
    return merge(attention(q, k, v, mask=causal_mask(len(x))) @ wo)


def reshapes_the_weights(x, wq, wk, wv, wo, n_heads):
    n, d_model = x.shape
    q, k, v = (x @ w.reshape(n_heads, d_model, -1) for w in (wq, wk, wv))
    return merge(attention(q, k, v, mask=causal_mask(n))) @ wo


def scales_the_weights_of_each_head(x, wq, wk, wv, wo, n_heads):
    q, k, v = split(x @ wq, n_heads), split(x @ wk, n_heads), split(x @ wv, n_heads)
    s = np.where(np.tri(len(x), dtype=bool), q @ k.swapaxes(1, 2), -np.inf)
    return merge(softmax(s) / np.sqrt(q.shape[-1]) @ v) @ wo


def gives_queries_for_keys(x, wq, wk, wv, wo, n_heads):
    q, k, v = split(x @ wq, n_heads), split(x @ wq, n_heads), split(x @ wv, n_heads)
    return merge(attention(q, k, v, mask=causal_mask(len(x)))) @ wo


def layer_in_steps(x, wq, wk, wv, wo, n_heads):
    n, d_model = x.shape
    q, k, v = split(x @ wq, n_heads), split(x @ wk, n_heads), split(x @ wv, n_heads)
    s = q @ k.transpose(0, 2, 1) / np.sqrt(d_model // n_heads)
    s = np.where(causal_mask(n), s, -np.inf)
    return merge(softmax(s) @ v) @ wo


def layer_by_calling_attention(x, wq, wk, wv, wo, n_heads):
    q, k, v = split(x @ wq, n_heads), split(x @ wk, n_heads), split(x @ wv, n_heads)
    return merge(attention(q, k, v, mask=causal_mask(len(x)))) @ wo


def layer_head_by_head(x, wq, wk, wv, wo, n_heads):
    d_head = x.shape[1] // n_heads
    heads = []
    for h in range(n_heads):
        own = slice(h * d_head, (h + 1) * d_head)
        heads.append(causal_attention(x, wq[:, own], wk[:, own], wv[:, own]))
    return np.concatenate(heads, axis=-1) @ wo


def layer_as_a_sum(x, wq, wk, wv, wo, n_heads):
    d_head = x.shape[1] // n_heads
    out = 0
    for start in range(0, x.shape[1], d_head):
        own = slice(start, start + d_head)
        out = out + causal_attention(x, wq[:, own], wk[:, own], wv[:, own]) @ wo[own]
    return out


def layer_number_by_number(x, wq, wk, wv, wo, n_heads):
    n, d_model = x.shape
    d_head = d_model // n_heads
    q, k, v = x @ wq, x @ wk, x @ wv
    joined = np.zeros((n, d_model))
    for h in range(n_heads):
        own = slice(h * d_head, (h + 1) * d_head)
        for i in range(n):
            s = [q[i, own] @ k[j, own] / math.sqrt(d_head) for j in range(i + 1)]
            e = [math.exp(score - max(s)) for score in s]
            for j in range(i + 1):
                joined[i, own] += e[j] / sum(e) * v[j, own]
    return joined @ wo


WRONG = {
    "split_heads": [
        (one_reshape, "reshape-without-transpose"),
        (one_reshape_with_a_minus_one, "reshape-without-transpose"),
        (fills_head_by_head, "reshape-without-transpose"),
        (forgets_to_turn, "heads-last"),
        (cuts_with_a_step, "interleaved-features"),
        (puts_the_heads_at_the_end, "interleaved-features"),
        (turns_everything, "wrong-axes-turned"),
        (turns_the_last_two, "wrong-axes-turned"),
        (splits_the_tokens, "tokens-cut"),
        (array_splits_the_tokens, "tokens-cut"),
        (transposes_first, "turned-too-early"),
        (slices_n_heads_wide, "width-for-number"),
        (forgets_to_multiply, "parts-overlap"),
        (joins_the_parts, "no-axis-of-heads"),
        (uses_a_float, "raises"),
        (returns_in_the_loop, "one-head-only"),
    ],
    "merge_heads": [
        (reshapes_at_once, "no-transpose"),
        (stacks_them_and_reshapes, "no-transpose"),
        (stacks_them, "tokens-joined"),
        (takes_the_mean, "averages-heads"),
        (takes_the_sum, "adds-heads"),
        (only_turns, "not-joined"),
        (turns_the_wrong_two, "wrong-axes-turned"),
        (turns_all, "wrong-axes-turned"),
        (mixes_features, "interleaved-features"),
        (begins_with_the_last, "heads-reversed"),
        (keeps_the_first, "one-head-only"),
        (flattens, "flattened"),
    ],
    "repeat_kv": [
        (tiles, "tiled"),
        (appends_copies, "tiled"),
        (takes_the_remainder, "tiled"),
        (names_no_axis, "wrong-axis"),
        (repeats_the_tokens, "wrong-axis"),
        (repeats_the_features, "wrong-axis"),
        (divides_by_the_wrong_number, "grouped-by-kv-heads"),
        (stacks_on_a_new_axis, "axis-of-their-own"),
        (multiplies, "numbers-multiplied"),
        (forgets_that_it_is_there, "copies-miscounted"),
        (only_for_n_repeats_heads, "one-head-for-all"),
        (changes_nothing, "not-repeated"),
    ],
    "predict_changed_numbers": [
        (12, "own-row-only"),
        (84, "no-mask"),
        (20, "one-head-only"),
        (48, "excludes-itself"),
        (5, "one-feature-each"),
        (36, "past-instead-of-future"),
        (72, "counted-from-one"),
        (61, None),
        ("sixty", "wrong-dtype"),
    ],
    "parameter_count": [
        (forgets_wo, "no-output-projection"),
        (four_squares, "ignores-shared-kv"),
        (multiplies_by_the_heads, "times-heads"),
        (full_width_for_each, "times-heads"),
        (counts_k_once, "kv-forgotten"),
        (counts_q_and_o, "kv-forgotten"),
        (one_head_of_each, "one-head-only"),
        (divides_by_kv_heads, "ratio-upside-down"),
        (one_column_a_head, "width-forgotten"),
        (adds_biases, "biases-counted"),
        (shares_everything, "queries-shared-too"),
    ],
    "fault_sum_of_heads": [
        (mends_the_start_only, "one-end-mended"),
        (takes_every_nth_row, "interleaved-features"),
        (steps_by_n_heads, "steps-of-n-heads"),
        (replaces_instead_of_adding, "last-head-only"),
        (mends_something_else, "rows-overlap"),
        (cuts_columns, "columns-not-rows"),
        (joins_by_a_reshape, "no-transpose"),
        (uses_the_first_rows, "same-rows-for-all"),
    ],
    "causal_multi_head_attention": [
        (scales_with_d_model, "scaled-by-d-model"),
        (forgets_the_scale, "unscaled"),
        (forgets_the_output, "no-output-projection"),
        (ignores_n_heads, "one-wide-head"),
        (forgets_the_mask, "no-mask"),
        (reshapes_only, "reshape-without-transpose"),
        (forgets_to_turn_back, "merged-without-transpose"),
        (averages, "heads-averaged"),
        (averages_the_outputs, "heads-averaged"),
        (takes_rows_of_the_weights, "heads-averaged"),
        (splits_the_tokens_into_features, "split-before-projection"),
        (leaves_the_tokens_first, "heads-attend-to-heads"),
        (masks_the_other_half, "future-instead-of-past"),
        (masks_with_a_low_number, "finite-fill"),
        (masks_the_weights, "masked-after-softmax"),
        (does_not_shift, "no-max-shift"),
        (shifts_by_one_maximum, "global-max"),
        (keeps_the_last_head, "one-head-only"),
        (uses_dot_T, "keys-not-transposed"),
        (projects_out_before_the_merge, "heads-averaged"),
        (reshapes_the_weights, "reshape-without-transpose"),
        (scales_the_weights_of_each_head, "wrong-scale"),
        (gives_queries_for_keys, "weights-shared"),
    ],
}

RIGHT = {
    "split_heads": [split_by_reshape_and_transpose, split_with_hsplit, split_with_slices,
                    split_feature_by_feature],
    "merge_heads": [merge_with_concatenate, merge_in_a_loop, merge_with_moveaxis,
                    merge_token_by_token],
    "repeat_kv": [repeat_in_a_list, repeat_by_index, repeat_into_room,
                  repeat_by_tile_of_a_new_axis],
    "predict_changed_numbers": [60, 60.0, "60", np.count_nonzero(np.ones((5, 12)))],
    "parameter_count": [counts_shapes, counts_with_a_fraction, counts_real_arrays],
    "fault_sum_of_heads": [mends_the_slice, cuts_wo_first, joins_after_all],
    "causal_multi_head_attention": [layer_in_steps, layer_by_calling_attention, layer_head_by_head,
                                    layer_as_a_sum, layer_number_by_number],
}
