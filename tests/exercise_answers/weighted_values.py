"""Answers to the exercises on weighted values, written from the prompts alone."""

import math

import numpy as np


# --- weighted_values ------------------------------------------------------------------------------
def turns_the_weights(weights, v):
    return np.dot(weights.T, v)


def runs_over_the_wrong_index(weights, v):
    n_query, n_key = weights.shape
    out = np.zeros((n_query, v.shape[-1]))
    for i in range(n_query):
        for j in range(n_key):
            out[i] += weights[j][i] * v[j]
    return out


def puts_the_values_first(weights, v):
    return np.matmul(v, weights)


def adds_all_values(weights, v):
    out = []
    for _ in weights:
        out.append(sum(v))
    return np.array(out)


def picks_the_best(weights, v):
    out = []
    for row in weights:
        best = 0
        for j in range(len(row)):
            if row[j] > row[best]:
                best = j
        out.append(v[best])
    return np.array(out)


def overwrites(weights, v):
    n_query, n_key = weights.shape
    out = np.zeros((n_query, v.shape[1]))
    for i in range(n_query):
        for j in range(n_key):
            out[i, :] = v[j] * weights[i, j]
    return out


def averages_the_products(weights, v):
    return np.mean(weights[:, :, np.newaxis] * v[np.newaxis, :, :], axis=1)


def forgets_to_sum(weights, v):
    return np.einsum("qk,kd->qkd", weights, v)


def multiplies_place_by_place(weights, v):
    return weights * v


def sums_the_features(weights, v):
    return np.einsum("qk,kd->qk", weights, v)


def treats_one_query(weights, v):
    return weights[0] @ v


def forgets_the_last_key(weights, v):
    out = np.zeros((len(weights), v.shape[1]))
    for j in range(len(v) - 1):
        out += np.outer(weights[:, j], v[j])
    return out


def takes_the_softmax_again(weights, v):
    e = np.exp(weights)
    return e / e.sum(axis=1, keepdims=True) @ v


def mixes_with_dot(weights, v):
    return np.dot(weights, v)


def mixes_key_by_key(weights, v):
    out = 0
    for j in range(v.shape[0]):
        out = out + np.outer(weights[:, j], v[j])
    return out


def mixes_with_tensordot(weights, v):
    return np.tensordot(weights, v, axes=([1], [0]))


def mixes_number_by_number(weights, v):
    n_query, n_key = weights.shape
    return [[sum(weights[i][j] * v[j][f] for j in range(n_key)) for f in range(v.shape[1])]
            for i in range(n_query)]


# --- attention ------------------------------------------------------------------------------------
def softmax(s, axis=-1):
    e = np.exp(s - np.max(s, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def no_scale(q, k, v):
    return softmax(q @ k.T) @ v


def no_scale_unstable(q, k, v):
    e = np.exp(q @ k.T)
    return (e / e.sum(axis=1, keepdims=True)) @ v


def scale_of_the_values(q, k, v):
    d = v.shape[1]
    return softmax(q @ k.T / np.sqrt(d)) @ v


def scale_by_d(q, k, v):
    d_head = q.shape[1]
    return softmax(q @ k.T / d_head) @ v


def scale_by_len(q, k, v):
    return softmax(q @ k.T / np.sqrt(len(q))) @ v


def softmax_of_columns(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[1])
    e = np.exp(s - s.max())
    return e / e.sum(axis=0) @ v


def mixes_the_keys(q, k, v):
    return softmax(q @ k.T / np.sqrt(q.shape[1])) @ k


def keys_ask(q, k, v):
    return softmax(k @ q.T / np.sqrt(q.shape[1])) @ v


def weights_on_their_side(q, k, v):
    return softmax(q @ k.T / np.sqrt(q.shape[1])).T @ v


def no_transpose(q, k, v):
    return softmax(q @ k / np.sqrt(q.shape[1])) @ v


def softmax_at_the_end(q, k, v):
    return softmax(q @ k.T @ v / np.sqrt(q.shape[1]))


def plain_softmax(q, k, v):
    out = []
    for query in q:
        e = [math.exp(query @ key / math.sqrt(len(query))) for key in k]
        out.append(sum(w / sum(e) * value for w, value in zip(e, v, strict=True)))
    return np.array(out)


def one_maximum(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[1])
    e = np.exp(s - np.max(s))
    return (e / e.sum(axis=1, keepdims=True)) @ v


def forgets_to_normalise(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[1])
    return np.exp(s - s.max(axis=1, keepdims=True)) @ v


def sum_of_the_whole_table(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[1])
    e = np.exp(s - s.max())
    return (e / e.sum()) @ v


def stops_at_the_weights(q, k, v):
    return softmax(q @ k.T / np.sqrt(q.shape[1]))


def no_softmax_at_all(q, k, v):
    return q @ k.T / np.sqrt(q.shape[1]) @ v


def scales_the_weights(q, k, v):
    return softmax(q @ k.T) / np.sqrt(q.shape[1]) @ v


def hard_choice(q, k, v):
    return v[np.argmax(q @ k.T, axis=1)]


def returns_both(q, k, v):
    weights = softmax(q @ k.T / np.sqrt(q.shape[1]))
    return weights @ v, weights


def scales_twice(q, k, v):
    d = q.shape[1]
    return softmax((q / np.sqrt(d)) @ (k / np.sqrt(d)).T) @ v


def clips_the_scores(q, k, v):
    e = np.exp(np.minimum(q @ k.T / np.sqrt(q.shape[1]), 700))
    return e / e.sum(axis=1, keepdims=True) @ v


def causal_by_habit(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[1])
    return softmax(np.where(np.tri(len(q), len(k)), s, -np.inf)) @ v


def scales_in_place(q, k, v):
    q /= np.sqrt(q.shape[-1])
    return softmax(q @ k.T) @ v


def lines_up_rows_with_columns(q, k, v):
    e = np.exp(q @ k.T / np.sqrt(q.shape[1]))
    return e / e.sum(axis=1) @ v


def misspelt(q, k, v):
    return softmax(scores * q.shape[1] ** -0.5) @ v  # noqa: F821


def head_in_steps(q, k, v):
    s = np.matmul(q, np.transpose(k)) / np.sqrt(k.shape[1])
    s = s - s.max(axis=1)[:, None]
    weights = np.exp(s)
    weights = weights / weights.sum(axis=1)[:, None]
    return np.matmul(weights, v)


def head_query_by_query(q, k, v):
    out = np.zeros((q.shape[0], v.shape[1]))
    for i in range(q.shape[0]):
        s = k @ q[i] / q.shape[1] ** 0.5
        e = np.exp(s - max(s))
        out[i] = (e / sum(e)) @ v
    return out


def head_scaled_on_both_sides(q, k, v):
    d = q.shape[-1]
    return softmax((q / d**0.25) @ (k / d**0.25).T) @ v


def head_divided_at_the_end(q, k, v):
    s = q @ k.T / math.sqrt(q.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return (e @ v) / e.sum(axis=-1, keepdims=True)


# --- self_attention -------------------------------------------------------------------------------
def attention(q, k, v):
    return softmax(q @ k.T / np.sqrt(q.shape[-1])) @ v


def wrong_order_of_arguments(x, wq, wk, wv):
    return attention(x @ wq, x @ wv, x @ wk)


def queries_twice(x, wq, wk, wv):
    q, v = x @ wq, x @ wv
    return softmax(q @ q.T / np.sqrt(q.shape[1])) @ v


def keys_twice(x, wq, wk, wv):
    k, v = x @ wk, x @ wv
    return softmax(k @ k.T / np.sqrt(k.shape[1])) @ v


def mixes_the_tokens(x, wq, wk, wv):
    return attention(x @ wq, x @ wk, x)


def forgets_all_projections(x, wq, wk, wv):
    return attention(x, x, x)


def projects_the_values_only(x, wq, wk, wv):
    return attention(x, x, x @ wv)


def weights_before_tokens(x, wq, wk, wv):
    return attention(wq @ x, wk @ x, wv @ x)


def weights_transposed(x, wq, wk, wv):
    return attention(x @ wq.T, x @ wk.T, x @ wv.T)


def scale_of_the_tokens(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    return softmax(q @ k.T / np.sqrt(x.shape[1])) @ v


def scale_of_the_values_here(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    return softmax(q @ k.T / np.sqrt(v.shape[1])) @ v


def scale_of_the_length(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    return softmax(q @ k.T / np.sqrt(x.shape[0])) @ v


def no_scale_here(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    e = np.exp(q @ k.T)
    return e / e.sum(axis=1, keepdims=True) @ v


def keys_ask_here(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    return softmax(k @ q.T / np.sqrt(q.shape[1])) @ v


def softmax_down_the_columns(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    return softmax(q @ k.T / np.sqrt(q.shape[1]), axis=0) @ v


def leaves_itself_out(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    s = q @ k.T / np.sqrt(q.shape[1])
    np.fill_diagonal(s, -np.inf)
    return softmax(s) @ v


def looks_back_only(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    s = q @ k.T / np.sqrt(q.shape[1])
    s = np.where(np.tri(len(x), dtype=bool), s, -np.inf)
    return softmax(s) @ v


def adds_the_tokens_back(x, wq, wk, wv):
    return x + attention(x @ wq, x @ wk, x @ wv)


def unstable_here(x, wq, wk, wv):
    q, k, v = np.dot(x, wq), np.dot(x, wk), np.dot(x, wv)
    e = np.exp(np.dot(q, k.T) / math.sqrt(wq.shape[1]))
    return np.dot(e / np.sum(e, axis=1, keepdims=True), v)


def lines_up_rows_with_columns_here(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    s = q @ k.T / np.sqrt(q.shape[1])
    e = np.exp(s - s.max(axis=1))
    return e / e.sum(axis=1) @ v


def self_by_calling_attention(x, wq, wk, wv):
    return attention(x @ wq, x @ wk, x @ wv)


def self_token_by_token(x, wq, wk, wv):
    k, v = x @ wk, x @ wv
    return [softmax(k @ (token @ wq) / wq.shape[1] ** 0.5) @ v for token in x]


def self_mixing_before_projecting(x, wq, wk, wv):
    q, k = x @ wq, x @ wk
    mixed_tokens = softmax(q @ k.T * wq.shape[-1] ** -0.5) @ x
    return mixed_tokens @ wv


def self_with_einsum(x, wq, wk, wv):
    q, k, v = (np.einsum("nm,md->nd", x, w) for w in (wq, wk, wv))
    s = np.einsum("id,jd->ij", q, k) / np.sqrt(q.shape[-1])
    return np.einsum("ij,jd->id", softmax(s), v)


# --- fault_cross_attention ------------------------------------------------------------------------
def transposes_the_weights(x, y, wq, wk, wv):
    q, k, v = x @ wq, y @ wk, x @ wv
    s = q @ k.T * q.shape[-1] ** -0.5
    exponentials = np.exp(s - s.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights.T @ v


def changes_nothing_that_matters(x, y, wq, wk, wv):
    q, k, v = x @ wq, y @ wk, x @ wv
    return softmax(q @ k.T / np.sqrt(q.shape[-1])) @ v


def keys_from_x_as_well(x, y, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    return softmax(q @ k.T / np.sqrt(q.shape[-1])) @ v


def everything_from_y(x, y, wq, wk, wv):
    return attention(y @ wq, y @ wk, y @ wv)


def asks_from_the_wrong_side(x, y, wq, wk, wv):
    return attention(y @ wq, x @ wk, x @ wv)


def exchanges_keys_and_values(x, y, wq, wk, wv):
    return attention(x @ wq, x @ wk, y @ wv)


def cuts_the_texts(x, y, wq, wk, wv):
    n = min(len(x), len(y))
    return attention(x @ wq, y[:n] @ wk, x[:n] @ wv)


def mixes_keys_of_y(x, y, wq, wk, wv):
    return attention(x @ wq, y @ wk, y @ wk)


def queries_from_y_only(x, y, wq, wk, wv):
    return attention(y @ wq, y @ wk, x @ wv)


def joins_the_texts(x, y, wq, wk, wv):
    both = np.concatenate([x, y])
    return attention(x @ wq, both @ wk, both @ wv)


def cross_mended(x, y, wq, wk, wv):
    q, k, v = x @ wq, y @ wk, y @ wv
    s = q @ k.T * q.shape[-1] ** -0.5
    exponentials = np.exp(s - s.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ v


def cross_by_calling_attention(x, y, wq, wk, wv):
    return attention(x @ wq, y @ wk, y @ wv)


def cross_token_by_token(x, y, wq, wk, wv):
    out = []
    for token in x:
        s = [(token @ wq) @ (other @ wk) / math.sqrt(wq.shape[1]) for other in y]
        weights = softmax(np.array(s))
        out.append(sum(weights[j] * (y[j] @ wv) for j in range(len(y))))
    return out


# --- is_permutation_equivariant -------------------------------------------------------------------
def believes_it(attend, x, rng):
    return True


def tests_invariance(attend, x, rng):
    order = rng.permutation(len(x))
    return np.allclose(attend(x), attend(x[order]))


def tests_invariance_with_a_shuffled_copy(attend, x, rng):
    before = attend(x)
    return bool(np.allclose(attend(rng.permutation(x)), before))


def compares_the_shapes(attend, x, rng):
    order = rng.permutation(x.shape[0])
    return attend(x[order]).shape == attend(x)[order].shape


def never_moves_a_row(attend, x, rng):
    order = list(range(len(x)))
    return np.allclose(attend(x[order]), attend(x)[order])


def sorts_the_order_back(attend, x, rng):
    order = np.argsort(np.arange(len(x)))
    return np.allclose(attend(x[order]), attend(x)[order])


def shuffles_a_copy_that_is_lost(attend, x, rng):
    rng.permutation(x)
    return np.allclose(attend(x), attend(x))


def moves_the_output_only(attend, x, rng):
    order = rng.permutation(len(x))
    return np.allclose(attend(x)[order], attend(x))


def applies_the_order_twice(attend, x, rng):
    order = rng.permutation(len(x))
    return np.allclose(attend(x[order])[order], attend(x))


def draws_two_orders(attend, x, rng):
    return np.allclose(attend(x[rng.permutation(len(x))]), attend(x)[rng.permutation(len(x))])


def wants_every_digit(attend, x, rng):
    order = rng.permutation(len(x))
    return bool(np.all(attend(x[order]) == attend(x)[order]))


def reverses(attend, x, rng):
    return np.allclose(attend(x[::-1]), attend(x)[::-1])


def moves_the_features(attend, x, rng):
    order = rng.permutation(x.shape[1])
    return np.allclose(attend(x[:, order]), attend(x)[:, order])


def adds_it_all_up(attend, x, rng):
    order = rng.permutation(len(x))
    return bool(np.isclose(attend(x).sum(), attend(x[order]).sum()))


def forgets_to_say_all(attend, x, rng):
    order = rng.permutation(len(x))
    return np.isclose(attend(x[order]), attend(x)[order])


def looks_coarsely(attend, x, rng):
    order = rng.permutation(len(x))
    return np.allclose(attend(x[order]), attend(x)[order], atol=1.0)


def says_the_opposite(attend, x, rng):
    order = rng.permutation(len(x))
    return not np.allclose(attend(x[order]), attend(x)[order])


def looks_at_the_first_row(attend, x, rng):
    order = rng.permutation(len(x))
    return np.allclose(attend(x[order])[0], attend(x)[0])


def swaps_in_place(attend, x, rng):
    before = attend(x)
    rng.shuffle(x)
    return np.allclose(attend(x), before)


def is_content_with_one_number(attend, x, rng):
    order = rng.permutation(len(x))
    return bool(np.isclose(attend(x[order]), attend(x)[order]).any())


def looks_at_one_column(attend, x, rng):
    order = rng.permutation(len(x))
    return np.allclose(attend(x[order])[:, 0], attend(x)[order][:, 0])


def draws_with_repeats(attend, x, rng):
    order = rng.choice(len(x), size=len(x))
    return np.allclose(attend(x[order]), attend(x)[order])


def exchanges_two_rows(attend, x, rng):
    swapped = x.copy()
    swapped[[0, 1]] = x[[1, 0]]
    result = attend(swapped)
    result[[0, 1]] = result[[1, 0]]
    return np.allclose(result, attend(x))


def asks_for_the_same_object(attend, x, rng):
    order = rng.permutation(len(x))
    return attend(x[order]) is attend(x)[order]


def equivariant_once(attend, x, rng):
    order = rng.permutation(len(x))
    return np.allclose(attend(x[order]), attend(x)[order])


def equivariant_many_times(attend, x, rng):
    result = attend(x)
    for _ in range(50):
        order = rng.permutation(len(x))
        if np.abs(attend(x[order]) - result[order]).max() > 1e-9:
            return False
    return True


def equivariant_by_the_inverse(attend, x, rng):
    order = rng.permutation(len(x))
    inverse = np.argsort(order)
    return bool(np.allclose(attend(x[order])[inverse], attend(x)))


def equivariant_on_new_tokens(attend, x, rng):
    tokens = rng.normal(size=x.shape)
    order = rng.permutation(len(x))
    return np.allclose(attend(tokens[order]), attend(tokens)[order])


def equivariant_by_swaps(attend, x, rng):
    result = attend(x)
    for i in range(len(x)):
        for j in range(i):
            order = np.arange(len(x))
            order[[i, j]] = j, i
            if not np.allclose(attend(x[order]), result[order]):
                return False
    return True


WRONG = {
    "weighted_values": [
        (turns_the_weights, "weights-transposed"),
        (runs_over_the_wrong_index, "weights-transposed"),
        (puts_the_values_first, "keys-not-summed"),
        (adds_all_values, "unweighted-sum"),
        (picks_the_best, "best-value-only"),
        (overwrites, "one-product-only"),
        (averages_the_products, "mean-not-sum"),
        (forgets_to_sum, "not-summed"),
        (multiplies_place_by_place, "elementwise"),
        (sums_the_features, "wrong-axis"),
        (treats_one_query, "one-query-only"),
        (forgets_the_last_key, "key-left-out"),
        (takes_the_softmax_again, "softmax-again"),
    ],
    "predict_output_shape": [
        ((5, 2), "one-row-per-key"),
        ((3, 5), "shape-of-the-weights"),
        ((3, 4), "width-of-the-queries"),
        ([3, 7], "width-of-the-tokens"),
        ((2, 3), "transposed"),
        ((8, 2), "all-tokens-together"),
        ((3,), None),
        (6, None),
        ((7, 2), None),
    ],
    "attention": [
        (no_scale, "unscaled"),
        (no_scale_unstable, "unscaled"),
        (scale_of_the_values, "scaled-by-d-v"),
        (scale_by_d, "divide-by-d"),
        (scale_by_len, "scaled-by-n-query"),
        (softmax_of_columns, "wrong-axis"),
        (mixes_the_keys, "weights-times-keys"),
        (keys_ask, "queries-keys-swapped"),
        (weights_on_their_side, "queries-keys-swapped"),
        (no_transpose, "keys-not-transposed"),
        (softmax_at_the_end, "softmax-after-values"),
        (plain_softmax, "no-max-shift"),
        (one_maximum, "global-max"),
        (forgets_to_normalise, "not-normalised"),
        (sum_of_the_whole_table, "not-normalised"),
        (stops_at_the_weights, "weights-returned"),
        (no_softmax_at_all, "no-softmax"),
        (scales_the_weights, "scaled-after-softmax"),
        (hard_choice, "best-value-only"),
        (returns_both, None),
        (scales_twice, "divide-by-d"),
        (clips_the_scores, "clipped"),
        (causal_by_habit, None),
        (misspelt, "raises"),
        (scales_in_place, "mutates-input"),
        (lines_up_rows_with_columns, "axis-not-kept"),
    ],
    "self_attention": [
        (wrong_order_of_arguments, "keys-values-swapped"),
        (queries_twice, "queries-with-queries"),
        (keys_twice, "keys-with-keys"),
        (mixes_the_tokens, "no-value-projection"),
        (forgets_all_projections, "no-projections"),
        (projects_the_values_only, "no-projections"),
        (weights_before_tokens, "weights-first"),
        (weights_transposed, "weights-first"),
        (scale_of_the_tokens, "scaled-by-d-model"),
        (scale_of_the_values_here, "scaled-by-d-v"),
        (scale_of_the_length, "scaled-by-n"),
        (no_scale_here, "unscaled"),
        (keys_ask_here, "queries-keys-swapped"),
        (softmax_down_the_columns, "wrong-axis"),
        (leaves_itself_out, "excludes-itself"),
        (looks_back_only, "looks-back-only"),
        (adds_the_tokens_back, "tokens-added-back"),
        (unstable_here, "no-max-shift"),
        (lines_up_rows_with_columns_here, "axis-not-kept"),
    ],
    "fault_cross_attention": [
        (transposes_the_weights, "weights-transposed"),
        (changes_nothing_that_matters, "values-of-those-who-ask"),
        (keys_from_x_as_well, "x-looks-at-itself"),
        (everything_from_y, "y-looks-at-itself"),
        (asks_from_the_wrong_side, "roles-exchanged"),
        (exchanges_keys_and_values, "keys-of-those-who-ask"),
        (cuts_the_texts, "values-of-those-who-ask"),
        (mixes_keys_of_y, "keys-mixed"),
        (queries_from_y_only, "queries-of-those-who-answer"),
        (joins_the_texts, "texts-joined"),
    ],
    "is_permutation_equivariant": [
        (believes_it, "always-true"),
        (tests_invariance, "permutes-input-only"),
        (tests_invariance_with_a_shuffled_copy, "permutes-input-only"),
        (compares_the_shapes, "compares-shapes"),
        (never_moves_a_row, "identity-permutation"),
        (sorts_the_order_back, "identity-permutation"),
        (shuffles_a_copy_that_is_lost, "identity-permutation"),
        (moves_the_output_only, "permutes-output-only"),
        (applies_the_order_twice, "different-orders"),
        (draws_two_orders, "different-orders"),
        (wants_every_digit, "exact-equality"),
        (reverses, "one-special-order"),
        (moves_the_features, "permutes-features"),
        (adds_it_all_up, "compares-summaries"),
        (forgets_to_say_all, "not-reduced"),
        (looks_coarsely, "coarse-comparison"),
        (says_the_opposite, "inverted-answer"),
        (looks_at_the_first_row, "permutes-input-only"),
        (swaps_in_place, "permutes-input-only"),
        (is_content_with_one_number, "any-not-all"),
        (looks_at_one_column, "compares-one-feature"),
        (draws_with_repeats, "rows-drawn-twice"),
        (exchanges_two_rows, "one-special-order"),
        (asks_for_the_same_object, "always-false"),
    ],
}

RIGHT = {
    "weighted_values": [mixes_with_dot, mixes_key_by_key, mixes_with_tensordot,
                        mixes_number_by_number],
    "predict_output_shape": [(3, 2), [3, 2], np.zeros((3, 2)).shape],
    "attention": [head_in_steps, head_query_by_query, head_scaled_on_both_sides,
                  head_divided_at_the_end],
    "self_attention": [self_by_calling_attention, self_token_by_token,
                       self_mixing_before_projecting, self_with_einsum],
    "fault_cross_attention": [cross_mended, cross_by_calling_attention, cross_token_by_token],
    "is_permutation_equivariant": [equivariant_once, equivariant_many_times,
                                   equivariant_by_the_inverse, equivariant_on_new_tokens,
                                   equivariant_by_swaps],
}
