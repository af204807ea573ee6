"""Answers of a second class to the exercises on many heads, written from their prompts alone."""

import math

import numpy as np

# --- split_heads ---


def split_by_plain_reshape(x, n_heads):
    n, d_model = x.shape
    return x.reshape(n_heads, n, d_model // n_heads)


def split_token_axis_first(x, n_heads):
    n, d_model = x.shape
    return x.reshape(n, n_heads, d_model // n_heads)


def split_every_nth_feature(x, n_heads):
    return np.stack([x[:, h::n_heads] for h in range(n_heads)])


def split_features_by_d_head(x, n_heads):
    n, d_model = x.shape
    return x.reshape(n, d_model // n_heads, n_heads).transpose(2, 0, 1)


def split_axes_reversed(x, n_heads):
    n, d_model = x.shape
    return x.reshape(n, n_heads, d_model // n_heads).transpose(1, 2, 0)


def split_starts_at_h(x, n_heads):
    d_head = x.shape[1] // n_heads
    return np.array([x[:, h : h + d_head] for h in range(n_heads)])


def split_steps_of_n_heads(x, n_heads):
    # right if d_head equals n_heads, as in the example
    d_head = x.shape[1] // n_heads
    return np.array([x[:, h * n_heads : h * n_heads + d_head] for h in range(n_heads)])


def split_the_rows(x, n_heads):
    return np.stack(np.array_split(x, n_heads, axis=0))


def split_and_squeezed(x, n_heads):
    n, d_model = x.shape
    return np.squeeze(x.reshape(n, n_heads, d_model // n_heads).swapaxes(0, 1))


def split_last_head_forgotten(x, n_heads):
    n, d_model = x.shape
    d_head = d_model // n_heads
    out = np.zeros((n_heads, n, d_head))
    for h in range(n_heads - 1):
        out[h] = x[:, h * d_head : (h + 1) * d_head]
    return out


def split_by_reshape_and_transpose(x, n_heads):
    n, d_model = x.shape
    return x.reshape(n, n_heads, d_model // n_heads).transpose(1, 0, 2)


def split_by_slices(x, n_heads):
    d_head = x.shape[1] // n_heads
    return np.stack([x[:, h * d_head : (h + 1) * d_head] for h in range(n_heads)])


def split_by_np_split(x, n_heads):
    return np.array(np.split(np.asarray(x), n_heads, axis=-1))


def split_number_by_number(x, n_heads):
    n, d_model = x.shape
    d_head = d_model // n_heads
    out = np.zeros((n_heads, n, d_head))
    for i in range(n):
        for f in range(d_model):
            h, place = divmod(f, d_head)
            out[h, i, place] = x[i, f]
    return out


def split_by_selection_matrices(x, n_heads):
    d_model = x.shape[1]
    chosen = np.eye(d_model).reshape(d_model, n_heads, d_model // n_heads)
    return np.einsum("nm,mhd->hnd", x, chosen)


# --- merge_heads ---


def merge_by_plain_reshape(x):
    n_heads, n, d_head = x.shape
    return x.reshape(n, n_heads * d_head)


def merge_features_interleaved(x):
    n_heads, n, d_head = x.shape
    return x.transpose(1, 2, 0).reshape(n, n_heads * d_head)


def merge_under_each_other(x):
    return np.concatenate(list(x), axis=0)


def merge_by_sum(x):
    return x.sum(axis=0)


def merge_last_head_first(x):
    return np.concatenate(list(x[::-1]), axis=1)


def merge_overlapping_places(x):
    n_heads, n, d_head = x.shape
    out = np.zeros((n, n_heads * d_head))
    for h in range(n_heads):
        out[:, h : h + d_head] = x[h]
    return out


def merge_loses_the_axis_of_one(x):
    n_heads, n, d_head = x.shape
    return x.swapaxes(0, 1).reshape(n, n_heads * d_head).squeeze()


def merge_axes_mixed_up(x):
    _n_heads, n, _d_head = x.shape
    return x.transpose(2, 1, 0).reshape(n, -1)


def merge_square_heads(x):
    # width from the number of tokens: fits if n equals n_heads
    n_heads, n, d_head = x.shape
    return x.swapaxes(0, 1).reshape(n_heads, n * d_head)


def merge_by_two_halves(x):
    # the first and the last head, as in the example with two heads
    return np.hstack([x[0], x[-1]])


def merge_by_swapaxes(x):
    n_heads, n, d_head = x.shape
    return np.swapaxes(x, 0, 1).reshape(n, n_heads * d_head)


def merge_by_concatenate(x):
    return np.concatenate(list(x), axis=1)


def merge_by_slices(x):
    n_heads, n, d_head = x.shape
    out = np.empty((n, n_heads * d_head))
    for h, head in enumerate(x):
        out[:, h * d_head : (h + 1) * d_head] = head
    return out


def merge_by_rows_of_lists(x):
    heads = np.asarray(x).tolist()
    rows = [[number for head in heads for number in head[i]] for i in range(x.shape[1])]
    return np.array(rows)


def merge_by_placing_matrices(x):
    n_heads, _, d_head = x.shape
    width = n_heads * d_head
    place = np.eye(width).reshape(n_heads, d_head, width)
    return np.einsum("hnd,hdm->nm", x, place)


# --- repeat_kv ---


def repeat_like_tiles(x, n_repeats):
    return np.tile(x, (n_repeats, 1, 1))


def repeat_list_of_heads(x, n_repeats):
    return np.array(list(x) * n_repeats)


def repeat_the_tokens(x, n_repeats):
    return np.repeat(x, n_repeats, axis=1)


def repeat_without_axis(x, n_repeats):
    return np.repeat(x, n_repeats).reshape(-1, x.shape[1], x.shape[2])


def repeat_once_more(x, n_repeats):
    # "repeat" is taken to mean: once, and then so many times more
    return np.repeat(x, n_repeats + 1, axis=0)


def repeat_by_remainder(x, n_repeats):
    return np.stack([x[h % len(x)] for h in range(len(x) * n_repeats)])


def repeat_divided_by_heads(x, n_repeats):
    # right if there are as many heads as repeats
    return np.stack([x[min(h // len(x), len(x) - 1)] for h in range(len(x) * n_repeats)])


def repeat_new_axis_first(x, n_repeats):
    n_kv, n, d = x.shape
    return np.broadcast_to(x, (n_repeats, n_kv, n, d)).reshape(n_kv * n_repeats, n, d)


def repeat_keeps_groups_apart(x, n_repeats):
    n_kv, n, d = x.shape
    return np.broadcast_to(x[:, None], (n_kv, n_repeats, n, d))


def repeat_with_squeeze(x, n_repeats):
    return np.squeeze(np.repeat(x, n_repeats, axis=0))


def repeat_first_head_only(x, n_repeats):
    # "all query heads share one": fine for one head of keys
    n_kv, n, d = x.shape
    return np.broadcast_to(x[0], (n_kv * n_repeats, n, d)).copy()


def repeat_with_numpy(x, n_repeats):
    return np.repeat(x, n_repeats, axis=0)


def repeat_with_new_axis(x, n_repeats):
    n_kv, n, d = x.shape
    return np.broadcast_to(x[:, None], (n_kv, n_repeats, n, d)).reshape(n_kv * n_repeats, n, d)


def repeat_in_nested_lists(x, n_repeats):
    shared = []
    for head in x:
        for _ in range(n_repeats):
            shared.append(head.copy())
    return np.array(shared)


def repeat_by_index(x, n_repeats):
    return x[np.arange(len(x) * n_repeats) // n_repeats]


def repeat_by_kronecker(x, n_repeats):
    who = np.kron(np.eye(len(x)), np.ones((n_repeats, 1)))  # (query heads, kv heads)
    return np.einsum("qh,hnd->qnd", who, x)


# --- parameter_count ---


def parameters_of_full_heads(d_model, n_heads, n_kv_heads):
    return 4 * d_model * d_model


def parameters_without_wo(d_model, n_heads, n_kv_heads):
    d_head = d_model // n_heads
    return d_model * d_model + 2 * d_model * n_kv_heads * d_head


def parameters_values_forgotten(d_model, n_heads, n_kv_heads):
    d_head = d_model // n_heads
    return 2 * d_model * d_model + d_model * n_kv_heads * d_head


def parameters_one_kv_head(d_model, n_heads, n_kv_heads):
    # the example has one head of keys and values
    d_head = d_model // n_heads
    return 2 * d_model * d_model + 2 * d_model * d_head


def parameters_keys_square_in_head(d_model, n_heads, n_kv_heads):
    d_head = d_model // n_heads
    return 2 * d_model**2 + 2 * (n_kv_heads * d_head) ** 2


def parameters_d_head_of_kv(d_model, n_heads, n_kv_heads):
    # width of a kv head is taken to be d_model / n_kv_heads
    return 2 * d_model**2 + 2 * d_model * n_kv_heads * (d_model // n_kv_heads)


def parameters_group_rounded(d_model, n_heads, n_kv_heads):
    # right wherever all heads of keys serve as many heads of queries
    group = n_heads // n_kv_heads
    return 2 * d_model**2 + 2 * d_model * d_model // group


def parameters_small_wo(d_model, n_heads, n_kv_heads):
    d_head = d_model // n_heads
    return d_model * d_model + 2 * d_model * n_kv_heads * d_head + d_head * d_model


def parameters_with_biases(d_model, n_heads, n_kv_heads):
    d_head = d_model // n_heads
    kv = n_kv_heads * d_head
    return 2 * d_model * (d_model + 1) + 2 * (d_model + 1) * kv


def parameters_once_more_per_head(d_model, n_heads, n_kv_heads):
    return n_heads * 2 * d_model**2 + n_kv_heads * 2 * d_model**2


def parameters_sum_of_four(d_model, n_heads, n_kv_heads):
    d_head = d_model // n_heads
    wq = d_model * (n_heads * d_head)
    wk = d_model * (n_kv_heads * d_head)
    wv = d_model * (n_kv_heads * d_head)
    wo = (n_heads * d_head) * d_model
    return wq + wk + wv + wo


def parameters_factored(d_model, n_heads, n_kv_heads):
    return 2 * d_model * (d_model // n_heads) * (n_heads + n_kv_heads)


def parameters_from_shapes(d_model, n_heads, n_kv_heads):
    d_head = int(d_model) // int(n_heads)
    widths = [n_heads * d_head, n_kv_heads * d_head, n_kv_heads * d_head]
    shapes = [(d_model, width) for width in widths] + [(n_heads * d_head, d_model)]
    return sum(math.prod(int(side) for side in shape) for shape in shapes)


def parameters_head_by_head(d_model, n_heads, n_kv_heads):
    one_projection = d_model * (d_model // n_heads)
    total = 0
    for _ in range(n_heads):
        total += one_projection  # queries
        total += one_projection  # rows of wo
    for _ in range(n_kv_heads):
        total += 2 * one_projection
    return total


def parameters_as_fraction_of_four(d_model, n_heads, n_kv_heads):
    def share(heads):
        return d_model * d_model * heads / n_heads

    return share(n_heads) + share(n_kv_heads) + share(n_kv_heads) + share(n_heads)


# --- fault_sum_of_heads ---


def heads_listing_as_it_was(mixtures, wo):
    n_heads, n, d_head = mixtures.shape
    out = np.zeros((n, wo.shape[1]))
    for h in range(n_heads):
        rows = wo[h : h + d_head]
        out += mixtures[h] @ rows
    return out


def heads_start_mended_end_not(mixtures, wo):
    n_heads, n, d_head = mixtures.shape
    out = np.zeros((n, wo.shape[1]))
    for h in range(n_heads):
        rows = wo[h * d_head : h + d_head]
        out += mixtures[h] @ rows
    return out


def heads_every_nth_row(mixtures, wo):
    n_heads, n, _d_head = mixtures.shape
    out = np.zeros((n, wo.shape[1]))
    for h in range(n_heads):
        rows = wo[h::n_heads]
        out += mixtures[h] @ rows
    return out


def heads_steps_of_n_heads(mixtures, wo):
    n_heads, n, d_head = mixtures.shape
    out = np.zeros((n, wo.shape[1]))
    for h in range(n_heads):
        rows = wo[h * n_heads : h * n_heads + d_head]
        out += mixtures[h] @ rows
    return out


def heads_result_overwritten(mixtures, wo):
    n_heads, n, d_head = mixtures.shape
    out = np.zeros((n, wo.shape[1]))
    for h in range(n_heads):
        rows = wo[h * d_head : (h + 1) * d_head]
        out = mixtures[h] @ rows
    return out


def heads_mean_instead_of_sum(mixtures, wo):
    n_heads, n, d_head = mixtures.shape
    out = np.zeros((n, wo.shape[1]))
    for h in range(n_heads):
        rows = wo[h * d_head : (h + 1) * d_head]
        out += mixtures[h] @ rows
    return out / n_heads


def heads_in_reverse_order(mixtures, wo):
    n_heads, n, d_head = mixtures.shape
    out = np.zeros((n, wo.shape[1]))
    for h in range(n_heads):
        end = len(wo) - h * d_head
        rows = wo[end - d_head : end]
        out += mixtures[h] @ rows
    return out


def heads_joined_by_reshape(mixtures, wo):
    # right for one token alone, or one head alone
    n_heads, n, d_head = mixtures.shape
    return mixtures.reshape(n, n_heads * d_head) @ wo


def heads_one_left_out(mixtures, wo):
    n_heads, n, d_head = mixtures.shape
    out = np.zeros((n, wo.shape[1]))
    for h in range(1, n_heads):
        rows = wo[h * d_head : (h + 1) * d_head]
        out += mixtures[h] @ rows
    return out


def heads_into_integers(mixtures, wo):
    # mended, but the sum is kept in whole numbers
    n_heads, n, d_head = mixtures.shape
    out = np.zeros((n, wo.shape[1]), dtype=int)
    for h in range(n_heads):
        out += (mixtures[h] @ wo[h * d_head : (h + 1) * d_head]).astype(int)
    return out


def heads_own_rows(mixtures, wo):
    n_heads, n, d_head = mixtures.shape
    out = np.zeros((n, wo.shape[1]))
    for h in range(n_heads):
        rows = wo[h * d_head : (h + 1) * d_head]  # (d_head, d_model)
        out += mixtures[h] @ rows  # (n, d_model)
    return out


def heads_rows_by_reshape(mixtures, wo):
    n_heads, n, d_head = mixtures.shape
    out = np.zeros((n, wo.shape[1]))
    for h in range(n_heads):
        rows = wo.reshape(n_heads, d_head, -1)[h]
        out += mixtures[h] @ rows
    return out


def heads_in_one_einsum(mixtures, wo):
    n_heads, _, d_head = mixtures.shape
    return np.einsum("hnd,hdm->nm", mixtures, wo.reshape(n_heads, d_head, wo.shape[1]))


def heads_joined_after_all(mixtures, wo):
    return np.hstack(list(mixtures)) @ wo


def heads_by_batched_product(mixtures, wo):
    parts = np.stack(np.split(wo, len(mixtures)))
    return (mixtures @ parts).sum(axis=0)


def heads_feature_by_feature(mixtures, wo):
    n_heads, n, d_head = mixtures.shape
    out = np.zeros((n, wo.shape[1]))
    for h in range(n_heads):
        for f in range(d_head):
            out += np.outer(mixtures[h, :, f], wo[h * d_head + f])
    return out


# --- causal_multi_head_attention ---


def _softmax_rows(s):
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def _cut(x, n_heads):
    return x.reshape(len(x), n_heads, -1).swapaxes(0, 1)


def layer_without_mask(x, wq, wk, wv, wo, n_heads):
    q, k, v = (_cut(x @ w, n_heads) for w in (wq, wk, wv))
    weights = _softmax_rows(q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1]))
    return np.hstack(list(weights @ v)) @ wo


def layer_scaled_by_d_model(x, wq, wk, wv, wo, n_heads):
    q, k, v = (_cut(x @ w, n_heads) for w in (wq, wk, wv))
    s = q @ k.swapaxes(1, 2) / np.sqrt(x.shape[1])
    s = np.where(np.tri(len(x), dtype=bool), s, -np.inf)
    return np.hstack(list(_softmax_rows(s) @ v)) @ wo


def layer_of_a_single_head(x, wq, wk, wv, wo, n_heads):
    q, k, v = x @ wq, x @ wk, x @ wv
    s = q @ k.T / np.sqrt(q.shape[1] / n_heads)
    s = np.where(np.tri(len(x), dtype=bool), s, -np.inf)
    return _softmax_rows(s) @ v @ wo


def layer_wo_forgotten(x, wq, wk, wv, wo, n_heads):
    q, k, v = (_cut(x @ w, n_heads) for w in (wq, wk, wv))
    s = q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1])
    s = np.where(np.tri(len(x), dtype=bool), s, -np.inf)
    return np.hstack(list(_softmax_rows(s) @ v))


def layer_heads_reshaped_not_cut(x, wq, wk, wv, wo, n_heads):
    n, d_model = x.shape
    q, k, v = ((x @ w).reshape(n_heads, n, d_model // n_heads) for w in (wq, wk, wv))
    s = q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1])
    s = np.where(np.tri(n, dtype=bool), s, -np.inf)
    return (_softmax_rows(s) @ v).reshape(n, d_model) @ wo


def layer_merged_by_reshape(x, wq, wk, wv, wo, n_heads):
    q, k, v = (_cut(x @ w, n_heads) for w in (wq, wk, wv))
    s = q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1])
    s = np.where(np.tri(len(x), dtype=bool), s, -np.inf)
    return (_softmax_rows(s) @ v).reshape(x.shape) @ wo


def layer_overflows(x, wq, wk, wv, wo, n_heads):
    q, k, v = (_cut(x @ w, n_heads) for w in (wq, wk, wv))
    e = np.tril(np.exp(q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1])))
    return np.hstack(list(e / e.sum(axis=-1, keepdims=True) @ v)) @ wo


def layer_maximum_of_hidden_scores(x, wq, wk, wv, wo, n_heads):
    q, k, v = (_cut(x @ w, n_heads) for w in (wq, wk, wv))
    s = q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1])
    e = np.tril(np.exp(s - s.max(axis=-1, keepdims=True)))
    return np.hstack(list(e / e.sum(axis=-1, keepdims=True) @ v)) @ wo


def layer_one_maximum_for_all_heads(x, wq, wk, wv, wo, n_heads):
    # one maximum for the whole array: the smaller heads come out as 0/0 at large scores
    q, k, v = (_cut(x @ w, n_heads) for w in (wq, wk, wv))
    s = q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1])
    s = np.where(np.tri(len(x), dtype=bool), s, -np.inf)
    e = np.exp(s - s.max())
    return np.hstack(list(e / e.sum(axis=-1, keepdims=True) @ v)) @ wo


def layer_first_head_unmasked(x, wq, wk, wv, wo, n_heads):
    d_head = x.shape[1] // n_heads
    q, k, v = x @ wq, x @ wk, x @ wv
    found = []
    hidden = np.zeros((len(x), len(x)))
    for h in range(n_heads):
        part = slice(h * d_head, (h + 1) * d_head)
        s = q[:, part] @ k[:, part].T / np.sqrt(d_head) + hidden
        found.append(_softmax_rows(s) @ v[:, part])
        hidden = np.where(np.tri(len(x), dtype=bool), 0, -np.inf)
    return np.hstack(found) @ wo


def layer_projections_cut_by_rows(x, wq, wk, wv, wo, n_heads):
    # cuts x and the rows of the weights, instead of the columns
    d_head = x.shape[1] // n_heads
    found = []
    for h in range(n_heads):
        part = slice(h * d_head, (h + 1) * d_head)
        q, k, v = x[:, part] @ wq[part], x[:, part] @ wk[part], x[:, part] @ wv[part]
        s = np.where(np.tri(len(x), dtype=bool), q @ k.T / np.sqrt(d_head), -np.inf)
        found.append((_softmax_rows(s) @ v)[:, part])
    return np.hstack(found) @ wo


def layer_own_token_hidden(x, wq, wk, wv, wo, n_heads):
    # token 0 is let off, so that its row is not empty
    q, k, v = (_cut(x @ w, n_heads) for w in (wq, wk, wv))
    mask = np.tri(len(x), k=-1, dtype=bool)
    mask[0, 0] = True
    s = np.where(mask, q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1]), -np.inf)
    return np.hstack(list(_softmax_rows(s) @ v)) @ wo


def layer_vectorised(x, wq, wk, wv, wo, n_heads):
    n, d_model = x.shape
    d_head = d_model // n_heads

    def split(y):
        return y.reshape(n, n_heads, d_head).transpose(1, 0, 2)

    q, k, v = split(x @ wq), split(x @ wk), split(x @ wv)
    s = q @ k.transpose(0, 2, 1) / np.sqrt(d_head)
    s = np.where(np.tri(n, dtype=bool), s, -np.inf)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    found = e / e.sum(axis=-1, keepdims=True) @ v
    return found.transpose(1, 0, 2).reshape(n, d_model) @ wo


def layer_head_after_head(x, wq, wk, wv, wo, n_heads):
    d_head = wq.shape[1] // n_heads
    out = np.zeros((len(x), wo.shape[1]))
    for first in range(0, wq.shape[1], d_head):
        own = slice(first, first + d_head)
        q, k, v = x @ wq[:, own], x @ wk[:, own], x @ wv[:, own]
        s = q @ k.T * d_head**-0.5
        s[np.triu_indices(len(x), 1)] = -np.inf
        out += _softmax_rows(s) @ v @ wo[own]
    return out


def layer_by_einsum(x, wq, wk, wv, wo, n_heads):
    d_model = x.shape[1]
    d_head = d_model // n_heads
    shape = (d_model, n_heads, d_head)
    q = np.einsum("nm,mhd->hnd", x, wq.reshape(shape))
    k = np.einsum("nm,mhd->hnd", x, wk.reshape(shape))
    v = np.einsum("nm,mhd->hnd", x, wv.reshape(shape))
    s = np.einsum("hid,hjd->hij", q, k) / math.sqrt(d_head)
    s = np.where(np.arange(len(x)) <= np.arange(len(x))[:, None], s, -np.inf)
    return np.einsum("hij,hjd,hdm->im", _softmax_rows(s), v, wo.reshape(n_heads, d_head, -1))


def layer_token_by_token(x, wq, wk, wv, wo, n_heads):
    n, d_model = x.shape
    d_head = d_model // n_heads
    q, k, v = x @ wq, x @ wk, x @ wv
    joined = np.zeros((n, d_model))
    for t in range(n):
        for h in range(n_heads):
            own = np.arange(h * d_head, (h + 1) * d_head)
            s = k[: t + 1][:, own] @ q[t, own] / math.sqrt(d_head)
            e = np.exp(s - s.max())
            joined[t, own] = (e / e.sum()) @ v[: t + 1][:, own]
    return joined @ wo


def layer_weights_in_float32(x, wq, wk, wv, wo, n_heads):
    q, k, v = (_cut(x @ w, n_heads) for w in (wq, wk, wv))
    s = q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1])
    s = np.where(np.tri(len(x), dtype=bool), s, -np.inf)
    e = np.exp((s - s.max(axis=-1, keepdims=True)).astype(np.float32))
    weights = e / e.sum(axis=-1, keepdims=True)
    return np.hstack(list(weights.astype(float) @ v)) @ wo


WRONG = {
    "split_heads": [
        (split_by_plain_reshape, "reshape-without-transpose"),
        (split_token_axis_first, "heads-last"),
        (split_every_nth_feature, "interleaved-features"),
        (split_features_by_d_head, "interleaved-features"),
        (split_axes_reversed, "wrong-axes-turned"),
        (split_starts_at_h, "parts-overlap"),
        (split_steps_of_n_heads, "raises"),
        (split_the_rows, "tokens-cut"),
        (split_and_squeezed, "axis-of-one-lost"),
        (split_last_head_forgotten, "head-left-out"),
    ],
    "merge_heads": [
        (merge_by_plain_reshape, "no-transpose"),
        (merge_features_interleaved, "interleaved-features"),
        (merge_under_each_other, "tokens-joined"),
        (merge_by_sum, "adds-heads"),
        (merge_last_head_first, "heads-reversed"),
        (merge_overlapping_places, "places-overlap"),
        (merge_loses_the_axis_of_one, "axis-of-one-lost"),
        (merge_axes_mixed_up, "wrong-axes-turned"),
        (merge_square_heads, "row-for-each-head"),
        (merge_by_two_halves, "heads-left-out"),
    ],
    "repeat_kv": [
        (repeat_like_tiles, "tiled"),
        (repeat_list_of_heads, "tiled"),
        (repeat_the_tokens, "wrong-axis"),
        (repeat_without_axis, "wrong-axis"),
        (repeat_once_more, "copies-miscounted"),
        (repeat_by_remainder, "tiled"),
        (repeat_divided_by_heads, "grouped-by-kv-heads"),
        (repeat_new_axis_first, "tiled"),
        (repeat_keeps_groups_apart, "axis-of-their-own"),
        (repeat_with_squeeze, "axis-of-one-lost"),
        (repeat_first_head_only, "one-head-for-all"),
    ],
    "predict_changed_numbers": [
        # everything is connected with everything
        (84, "no-mask"),
        # token 2 alone has another row
        (12, "own-row-only"),
        # the tokens behind token 2 are 3, 4, 5 and 6: 4 * 12
        (48, "excludes-itself"),
        # tokens 0, 1 and 2 see token 2: 3 * 12
        (36, "past-instead-of-future"),
        # feature 0 belongs to head 0, of width 4: 5 * 4
        (20, "one-head-only"),
        # one for each token that sees token 2
        (5, "one-feature-each"),
        # feature 0 of the tokens 2 to 6, in 3 heads
        (15, "one-feature-each"),
        # token 2 is the second: 6 rows see it
        (72, "counted-from-one"),
        # 5 rows, 12 numbers, 3 heads
        (180, "heads-times-width"),
        # nothing else changes
        (1, "one-feature-each"),
    ],
    "parameter_count": [
        (parameters_of_full_heads, "ignores-shared-kv"),
        (parameters_without_wo, "no-output-projection"),
        (parameters_values_forgotten, "kv-forgotten"),
        (parameters_one_kv_head, "one-head-only"),
        (parameters_keys_square_in_head, "too-few-rows"),
        (parameters_d_head_of_kv, "ignores-shared-kv"),
        (parameters_small_wo, "wo-too-small"),
        (parameters_with_biases, "biases-counted"),
        (parameters_once_more_per_head, "times-heads"),
    ],
    "fault_sum_of_heads": [
        (heads_listing_as_it_was, "rows-overlap"),
        (heads_start_mended_end_not, "one-end-mended"),
        (heads_every_nth_row, "interleaved-features"),
        (heads_steps_of_n_heads, "steps-of-n-heads"),
        (heads_result_overwritten, "last-head-only"),
        (heads_mean_instead_of_sum, "heads-averaged"),
        (heads_in_reverse_order, "heads-reversed"),
        (heads_joined_by_reshape, "no-transpose"),
        (heads_one_left_out, "head-left-out"),
        (heads_into_integers, "wrong-dtype"),
    ],
    "causal_multi_head_attention": [
        (layer_without_mask, "no-mask"),
        (layer_scaled_by_d_model, "scaled-by-d-model"),
        (layer_of_a_single_head, "one-wide-head"),
        (layer_wo_forgotten, "no-output-projection"),
        (layer_heads_reshaped_not_cut, "reshape-without-transpose"),
        (layer_merged_by_reshape, "merged-without-transpose"),
        (layer_overflows, "no-max-shift"),
        (layer_maximum_of_hidden_scores, "renormalised-too-late"),
        (layer_one_maximum_for_all_heads, "global-max"),
        (layer_first_head_unmasked, "some-heads-unmasked"),
        (layer_projections_cut_by_rows, "split-before-projection"),
        (layer_own_token_hidden, "excludes-itself"),
    ],
}

RIGHT = {
    "split_heads": [
        split_by_reshape_and_transpose,
        split_by_slices,
        split_by_np_split,
        split_number_by_number,
        split_by_selection_matrices,
    ],
    "merge_heads": [
        merge_by_swapaxes,
        merge_by_concatenate,
        merge_by_slices,
        merge_by_rows_of_lists,
        merge_by_placing_matrices,
    ],
    "repeat_kv": [
        repeat_with_numpy,
        repeat_with_new_axis,
        repeat_in_nested_lists,
        repeat_by_index,
        repeat_by_kronecker,
    ],
    "predict_changed_numbers": [
        60,
        60.0,
        5 * 12,
        np.array(60),
        (7 - 2) * 12,
        84 - 2 * 12,
        np.float32(60),
    ],
    "parameter_count": [
        parameters_sum_of_four,
        parameters_factored,
        parameters_from_shapes,
        parameters_head_by_head,
        parameters_as_fraction_of_four,
        parameters_group_rounded,
    ],
    "fault_sum_of_heads": [
        heads_own_rows,
        heads_rows_by_reshape,
        heads_in_one_einsum,
        heads_joined_after_all,
        heads_by_batched_product,
        heads_feature_by_feature,
    ],
    "causal_multi_head_attention": [
        layer_vectorised,
        layer_head_after_head,
        layer_by_einsum,
        layer_token_by_token,
        layer_weights_in_float32,
    ],
}
