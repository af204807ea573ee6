"""Answers of a second class to the exercises on weighted sums, written from their prompts alone."""

import math

import numpy as np


def _row_softmax(s):
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


# --- weighted_values ---


def weights_transposed(weights, v):
    return weights.T @ v


def values_transposed(weights, v):
    return weights @ v.T


def mixture_divided_by_keys(weights, v):
    return weights @ v / len(v)


def value_of_largest_weight(weights, v):
    return v[weights.argmax(axis=1)]


def softmax_once_more(weights, v):
    return _row_softmax(weights) @ v


def one_mixture_for_all(weights, v):
    return (weights[:, :, None] * v).sum(axis=(0, 1))


def columns_made_to_one(weights, v):
    sums = weights.sum(axis=0, keepdims=True)
    return weights / np.where(sums == 0, 1, sums) @ v


def square_table_turned(weights, v):
    # "the shapes must fit": turns the table whenever it can
    if weights.shape[0] == v.shape[0]:
        weights = weights.T
    return weights @ v


def breaks_at_zero_weight(weights, v):
    out = np.zeros((len(weights), v.shape[1]))
    for i in range(len(weights)):
        for j in range(len(v)):
            if weights[i, j] == 0:
                break
            out[i] += weights[i, j] * v[j]
    return out


def last_value_left_out(weights, v):
    out = np.zeros((len(weights), v.shape[1]))
    for i in range(len(weights)):
        for j in range(len(v) - 1):
            out[i] += weights[i, j] * v[j]
    return out


def value_index_slip(weights, v):
    out = np.zeros((len(weights), v.shape[1]))
    for i in range(len(weights)):
        for j in range(len(v)):
            out[i] += weights[i, j] * v[min(i, len(v) - 1)]
    return out


def mixture_overwritten(weights, v):
    out = np.zeros((len(weights), v.shape[1]))
    for i in range(len(weights)):
        for j in range(len(v)):
            out[i] = weights[i, j] * v[j]
    return out


def products_not_added(weights, v):
    return weights[:, :, None] * v[None, :, :]


def single_axes_lost(weights, v):
    return (weights @ v).squeeze()


def running_total_between_queries(weights, v):
    rows = []
    mixture = np.zeros(v.shape[1])
    for row in weights:
        for weight, value in zip(row, v, strict=False):
            mixture = mixture + weight * value
        rows.append(mixture)
    return np.array(rows)


def as_many_columns_as_keys(weights, v):
    n = min(v.shape)
    return weights[:, :n] @ v[:n]


def matrix_product(weights, v):
    return weights @ v


def einsum_over_keys(weights, v):
    return np.einsum("qk,kd->qd", weights, v)


def three_loops(weights, v):
    n_query, n_key = weights.shape
    out = np.zeros((n_query, v.shape[1]))
    for i in range(n_query):
        for j in range(n_key):
            for c in range(v.shape[1]):
                out[i, c] += weights[i, j] * v[j, c]
    return out


def lists_of_mixtures(weights, v):
    columns = list(zip(*[[float(x) for x in row] for row in v], strict=False))
    return [
        [math.fsum(float(w) * x for w, x in zip(row, column, strict=False)) for column in columns]
        for row in weights
    ]


def numpy_averages(weights, v):
    return np.stack([np.average(v, axis=0, weights=row) for row in weights])


def values_handed_out_one_by_one(weights, v):
    out = 0.0
    for j in range(v.shape[0]):
        out = out + np.outer(weights[:, j], v[j])
    return out


def single_precision_mixture(weights, v):
    return weights.astype(np.float32) @ np.asarray(v, dtype=np.float32)


# --- attention ---


def attention_without_scale(q, k, v):
    return _row_softmax(q @ k.T) @ v


def attention_divided_by_d(q, k, v):
    return _row_softmax(q @ k.T / q.shape[1]) @ v


def attention_times_root(q, k, v):
    return _row_softmax(q @ k.T * np.sqrt(q.shape[1])) @ v


def attention_scaled_by_keys(q, k, v):
    return _row_softmax(q @ k.T / np.sqrt(k.shape[0])) @ v


def attention_scaled_by_values(q, k, v):
    # takes d_value for d_head
    return _row_softmax(q @ k.T / np.sqrt(v.shape[-1])) @ v


def attention_scaled_after_softmax(q, k, v):
    return _row_softmax(q @ k.T) / np.sqrt(q.shape[1]) @ v


def attention_over_queries(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[1])
    e = np.exp(s - s.max(axis=0))
    return e / e.sum(axis=0) @ v


def attention_without_shift(q, k, v):
    e = np.exp(q @ k.T / np.sqrt(q.shape[-1]))
    return e / e.sum(axis=-1, keepdims=True) @ v


def attention_with_one_largest(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[-1])
    e = np.exp(s - s.max())
    return e / e.sum(axis=-1, keepdims=True) @ v


def attention_sum_mixed_up(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum() @ v


def attention_keepdims_lost(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1) @ v


def attention_weights_returned(q, k, v):
    return _row_softmax(q @ k.T / np.sqrt(q.shape[-1]))


def attention_of_first_query(q, k, v):
    s = k @ q[0] / np.sqrt(len(q[0]))
    return _row_softmax(s) @ v


def attention_to_the_best_key(q, k, v):
    return v[(q @ k.T).argmax(axis=-1)]


def attention_skips_later_keys(q, k, v):
    # the loop over keys stops at the number of queries
    s = q @ k.T / math.sqrt(q.shape[1])
    n = min(len(q) + 1, len(k))
    return _row_softmax(s[:, :n]) @ v[:n]


def attention_whole_root(q, k, v):
    return _row_softmax(q @ k.T / int(math.sqrt(q.shape[1]))) @ v


def attention_clipped(q, k, v):
    s = np.clip(q @ k.T / math.sqrt(q.shape[1]), -50, 50)
    e = np.exp(s)
    return e / e.sum(axis=1, keepdims=True) @ v


def attention_in_one_line(q, k, v):
    return _row_softmax(q @ k.T / math.sqrt(q.shape[-1])) @ v


def attention_in_einsums(q, k, v):
    s = np.einsum("qf,kf->qk", q, k) * k.shape[1] ** -0.5
    s -= s.max(axis=1)[:, None]
    e = np.exp(s)
    return np.einsum("qk,kd->qd", e, v) / np.einsum("qk->q", e)[:, None]


def attention_in_lists(q, k, v):
    scale = 1 / math.sqrt(len(q[0]))
    rows = []
    for query in q:
        scores = [scale * sum(float(a) * float(b) for a, b in zip(query, key, strict=False))
                  for key in k]
        top = max(scores)
        e = [math.exp(score - top) for score in scores]
        total = math.fsum(e)
        mixture = [0.0] * len(v[0])
        for part, value in zip(e, v, strict=False):
            for c in range(len(mixture)):
                mixture[c] += part / total * float(value[c])
        rows.append(mixture)
    return rows


def attention_query_by_query(q, k, v):
    def look(query):
        scores = k @ query / np.sqrt(len(query))
        weights = np.exp(scores - np.logaddexp.reduce(scores))
        return (weights[:, None] * v).sum(axis=0) / weights.sum()

    return np.array([look(query) for query in q])


def attention_running_largest(q, k, v):
    # one key after the other, the sums so far rescaled when a larger score comes
    scale = q.shape[-1] ** -0.5
    top = np.full((len(q), 1), -np.inf)
    total = np.zeros((len(q), 1))
    out = np.zeros((len(q), v.shape[1]))
    for key, value in zip(k, v, strict=False):
        score = (q @ key * scale)[:, None]
        new_top = np.maximum(top, score)
        kept = np.exp(top - new_top)
        part = np.exp(score - new_top)
        total = total * kept + part
        out = out * kept + part * value
        top = new_top
    return out / total


def attention_single_precision_weights(q, k, v):
    s = (q @ k.T) / np.sqrt(q.shape[-1])
    shifted = np.maximum(s - s.max(axis=-1, keepdims=True), -100.0).astype(np.float32)
    e = np.exp(shifted)
    return (e / e.sum(axis=-1, keepdims=True)) @ v


def attention_in_batches(q, k, v):
    # extra axes in front, taken off at the end
    q4, k4, v4 = (np.asarray(a, dtype=float)[None, None] for a in (q, k, v))
    s = q4 @ np.swapaxes(k4, -1, -2) / math.sqrt(q4.shape[-1])
    return (_row_softmax(s) @ v4)[0, 0]


# --- self_attention ---


def queries_and_keys_swapped(x, wq, wk, wv):
    q, k, v = x @ wk, x @ wq, x @ wv
    return _row_softmax(q @ k.T / np.sqrt(q.shape[1])) @ v


def tokens_for_values(x, wq, wk, wv):
    s = (x @ wq) @ (x @ wk).T / np.sqrt(wq.shape[1])
    return _row_softmax(s) @ x


def itself_excluded(x, wq, wk, wv):
    s = (x @ wq) @ (x @ wk).T / np.sqrt(wq.shape[1])
    if len(x) > 1:
        s[np.eye(len(x), dtype=bool)] = -np.inf
    return _row_softmax(s) @ (x @ wv)


def only_earlier_tokens(x, wq, wk, wv):
    s = (x @ wq) @ (x @ wk).T / np.sqrt(wq.shape[1])
    s = np.where(np.tri(len(x), dtype=bool), s, -np.inf)
    return _row_softmax(s) @ (x @ wv)


def scaled_by_d_model(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    return _row_softmax(q @ k.T / np.sqrt(x.shape[-1])) @ v


def self_attention_no_scale(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    return _row_softmax(q @ k.T) @ v


def tokens_added_back(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    out = _row_softmax(q @ k.T / np.sqrt(q.shape[1])) @ v
    return out + v


def self_attention_no_shift(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    e = np.exp(q @ k.T / np.sqrt(q.shape[1]))
    return e / e.sum(axis=1, keepdims=True) @ v


def query_weights_for_keys(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wq, x @ wv
    return _row_softmax(q @ k.T / np.sqrt(q.shape[1])) @ v


def every_token_gets_the_mean(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    weights = _row_softmax(q @ k.T / np.sqrt(q.shape[1]))
    return np.repeat((weights @ v).mean(axis=0)[None], len(x), axis=0)


def columns_sum_to_one(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    return _row_softmax(k @ q.T / np.sqrt(q.shape[1])).T @ v


def loop_stops_one_token_early(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    out = np.zeros(v.shape)
    for i in range(len(x)):
        s = np.array([q[i] @ k[j] for j in range(max(len(x) - 1, 1))]) / math.sqrt(len(q[i]))
        out[i] = _row_softmax(s) @ v[: len(s)]
    return out


def one_largest_for_all_tokens(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    s = q @ k.T / np.sqrt(q.shape[1])
    e = np.exp(s - s.max())
    return e / e.sum(axis=1, keepdims=True) @ v


def project_and_attend(x, wq, wk, wv):
    return attention_in_one_line(x @ wq, x @ wk, x @ wv)


def weights_multiplied_first(x, wq, wk, wv):
    # x (wq wk.T) x.T are the scores, and the mixture is projected last
    s = x @ (wq @ wk.T) @ x.T / math.sqrt(wq.shape[1])
    return (_row_softmax(s) @ x) @ wv


def self_attention_einsum(x, wq, wk, wv):
    q, k, v = (np.einsum("nm,md->nd", x, w) for w in (wq, wk, wv))
    s = np.einsum("id,jd->ij", q, k) / np.sqrt(q.shape[-1])
    w = _row_softmax(s)
    return np.einsum("ij,jd->id", w, v)


def token_after_token(x, wq, wk, wv):
    keys = [token @ wk for token in x]
    values = [token @ wv for token in x]
    out = []
    for token in x:
        query = token @ wq
        scores = [float(query @ key) / math.sqrt(len(query)) for key in keys]
        top = max(scores)
        e = [math.exp(score - top) for score in scores]
        out.append(sum(part * value for part, value in zip(e, values, strict=False)) / sum(e))
    return out


def self_attention_in_helpers(x, wq, wk, wv):
    def project():
        d, d_too = wq.shape[1], wk.shape[1]
        together = x @ np.concatenate([wq, wk, wv], axis=1)
        return np.split(together, [d, d + d_too], axis=1)

    def look(query):
        scores = keys @ query * len(query) ** -0.5
        weights = np.exp(scores - scores.max())
        return weights @ values / weights.sum()

    queries, keys, values = project()
    return np.vectorize(look, signature="(d)->(e)")(queries)


# --- fault_cross_attention ---


def cross_fault_in_place(x, y, wq, wk, wv):
    q = x @ wq
    k = y @ wk
    v = x @ wv
    return _row_softmax(q @ k.T * q.shape[-1] ** -0.5) @ v


def keys_changed_to_x(x, y, wq, wk, wv):
    q = x @ wq
    k = x @ wk
    v = x @ wv
    return _row_softmax(q @ k.T * q.shape[-1] ** -0.5) @ v


def all_changed_to_y(x, y, wq, wk, wv):
    q = y @ wq
    k = y @ wk
    v = y @ wv
    return _row_softmax(q @ k.T * q.shape[-1] ** -0.5) @ v


def texts_swapped(x, y, wq, wk, wv):
    q = y @ wq
    k = x @ wk
    v = x @ wv
    return _row_softmax(q @ k.T * q.shape[-1] ** -0.5) @ v


def weights_turned_until_it_runs(x, y, wq, wk, wv):
    q = x @ wq
    k = y @ wk
    v = x @ wv
    weights = _row_softmax(q @ k.T * q.shape[-1] ** -0.5)
    return weights.T @ v


def cut_until_it_runs(x, y, wq, wk, wv):
    q = x @ wq
    k = y @ wk
    v = x @ wv
    weights = _row_softmax(q @ k.T * q.shape[-1] ** -0.5)
    n = min(len(x), len(y))
    return weights[:, :n] @ v[:n]


def values_from_keys(x, y, wq, wk, wv):
    q = x @ wq
    k = y @ wk
    v = y @ wk
    return _row_softmax(q @ k.T * q.shape[-1] ** -0.5) @ v


def mended_and_scale_lost(x, y, wq, wk, wv):
    q = x @ wq
    k = y @ wk
    v = y @ wv
    return _row_softmax(q @ k.T) @ v


def mended_and_scaled_by_y(x, y, wq, wk, wv):
    q = x @ wq
    k = y @ wk
    v = y @ wv
    return _row_softmax(q @ k.T * y.shape[-1] ** -0.5) @ v


def mended_and_shift_lost(x, y, wq, wk, wv):
    q = x @ wq
    k = y @ wk
    v = y @ wv
    s = q @ k.T * q.shape[-1] ** -0.5
    exponentials = np.exp(s)
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ v


def mended_and_summed_over_x(x, y, wq, wk, wv):
    q = x @ wq
    k = y @ wk
    v = y @ wv
    s = q @ k.T * q.shape[-1] ** -0.5
    exponentials = np.exp(s - s.max(axis=0, keepdims=True))
    weights = exponentials / exponentials.sum(axis=0, keepdims=True)
    return weights @ v


def mended_for_other_lengths_only(x, y, wq, wk, wv):
    # only the error was mended, the wrong result was not
    q = x @ wq
    k = y @ wk
    v = x @ wv if len(x) == len(y) else y @ wv
    return _row_softmax(q @ k.T * q.shape[-1] ** -0.5) @ v


def values_of_both_texts(x, y, wq, wk, wv):
    q = x @ wq
    both = np.concatenate([x, y])
    return _row_softmax(q @ (both @ wk).T * q.shape[-1] ** -0.5) @ (both @ wv)


def values_from_y(x, y, wq, wk, wv):
    q = x @ wq  # (n_x, d_head)
    k = y @ wk  # (n_y, d_head)
    v = y @ wv  # (n_y, d_value)
    s = q @ k.T * q.shape[-1] ** -0.5  # (n_x, n_y)
    exponentials = np.exp(s - s.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ v


def projected_at_the_end(x, y, wq, wk, wv):
    q = x @ wq
    k = y @ wk
    s = q @ k.T * q.shape[-1] ** -0.5
    exponentials = np.exp(s - s.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ y @ wv


def cross_by_attention(x, y, wq, wk, wv):
    return attention_in_einsums(x @ wq, y @ wk, y @ wv)


def cross_token_by_token(x, y, wq, wk, wv):
    keys, values = y @ wk, y @ wv
    rows = []
    for token in x:
        s = keys @ (token @ wq) / math.sqrt(wq.shape[1])
        e = np.exp(s - max(s))
        rows.append([float(e @ values[:, c] / e.sum()) for c in range(values.shape[1])])
    return rows


def cross_in_lists_of_lists(x, y, wq, wk, wv):
    def times(a, b):
        return [[math.fsum(s * t for s, t in zip(row, col, strict=False))
                 for col in zip(*b, strict=False)] for row in a]

    x, y, wq, wk, wv = (np.asarray(a, dtype=float).tolist() for a in (x, y, wq, wk, wv))
    return attention_in_lists(times(x, wq), times(y, wk), times(y, wv))


# --- is_permutation_equivariant ---


def tests_for_invariance(attend, x, rng):
    order = rng.permutation(len(x))
    return bool(np.allclose(attend(x[order]), attend(x)))


def moved_the_wrong_way(attend, x, rng):
    order = rng.permutation(len(x))
    return bool(np.allclose(attend(x[order])[order], attend(x)))


def shuffled_in_place(attend, x, rng):
    # both names are one array, so nothing is compared with the first order
    shuffled = x
    before = x
    rng.shuffle(shuffled)
    return bool(np.allclose(attend(shuffled), attend(before)))


def two_draws(attend, x, rng):
    return bool(np.allclose(attend(rng.permutation(x)), rng.permutation(attend(x))))


def same_rows_in_any_order(attend, x, rng):
    order = rng.permutation(len(x))
    first = np.sort(attend(x), axis=0)
    second = np.sort(attend(x[order]), axis=0)
    return bool(np.allclose(first, second))


def sums_compared(attend, x, rng):
    order = rng.permutation(len(x))
    return bool(np.allclose(attend(x).sum(axis=0), attend(x[order]).sum(axis=0)))


def features_shuffled(attend, x, rng):
    order = rng.permutation(x.shape[1])
    return bool(np.allclose(attend(x[:, order]), attend(x)[:, order]))


def one_row_compared(attend, x, rng):
    order = rng.permutation(len(x))
    return bool(np.allclose(attend(x[order])[-1], attend(x)[order[-1]]))


def no_rounding_allowed(attend, x, rng):
    for _ in range(5):
        order = rng.permutation(len(x))
        if not np.array_equal(attend(x[order]), attend(x)[order]):
            return False
    return True


def turned_round_only(attend, x, rng):
    return bool(np.allclose(attend(x[::-1]), attend(x)[::-1]))


def rolled_only(attend, x, rng):
    shift = int(rng.integers(1, len(x)))
    return bool(np.allclose(attend(np.roll(x, shift, axis=0)), np.roll(attend(x), shift, axis=0)))


def far_too_patient(attend, x, rng):
    order = rng.permutation(len(x))
    return bool(np.allclose(attend(x[order]), attend(x)[order], rtol=1.0, atol=1.0))


def any_row_will_do(attend, x, rng):
    order = rng.permutation(len(x))
    return bool(np.isclose(attend(x[order]), attend(x)[order]).any())


def mean_difference(attend, x, rng):
    # differences of both signs add up to nothing
    order = rng.permutation(len(x))
    return bool(abs((attend(x[order]) - attend(x)[order]).mean()) < 1e-9)


def rows_looked_up(attend, x, rng):
    # asks only whether every new row is among the old ones
    order = rng.permutation(len(x))
    old, new = attend(x), attend(x[order])
    return all(any(np.allclose(row, other) for other in old) for row in new)


def answer_turned_round(attend, x, rng):
    order = rng.permutation(len(x))
    return not np.allclose(attend(x[order]), attend(x)[order])


def shuffled_a_few_times(attend, x, rng):
    before = np.array(attend(x.copy()))
    for _ in range(40):
        order = rng.permutation(len(x))
        if not np.allclose(attend(x[order]), before[order]):
            return False
    return True


def one_shuffle(attend, x, rng):
    order = rng.permutation(len(x))
    return bool(np.allclose(attend(x[order]), attend(x)[order]))


def moved_back_by_argsort(attend, x, rng):
    def once():
        order = rng.permutation(len(x))
        back = np.argsort(order)
        return np.allclose(np.asarray(attend(x[order]))[back], attend(x))

    return all(once() for _ in range(40))


def permutation_matrices(attend, x, rng):
    identity = np.eye(len(x))
    fine = True
    for _ in range(40):
        p = rng.permutation(identity)
        fine = fine and bool(np.allclose(attend(p @ x), p @ attend(x)))
    return fine


def numbers_shuffled_in_a_list(attend, x, rng):
    first = [np.array(row) for row in attend(x.copy())]
    for _ in range(40):
        numbers = list(range(len(x)))
        rng.shuffle(numbers)
        moved = attend(np.array([x[number] for number in numbers]))
        for place, number in enumerate(numbers):
            if not np.allclose(moved[place], first[number]):
                return False
    return True


def every_neighbour_exchange_too(attend, x, rng):
    # shuffles first, then exchanges neighbours: with these any order can be reached
    start = x[rng.permutation(len(x))]
    base = np.array(attend(start.copy()))
    orders = [rng.permutation(len(x)) for _ in range(10)]
    for i in range(len(x) - 1):
        order = np.arange(len(x))
        order[[i, i + 1]] = order[[i + 1, i]]
        orders.append(order)
    return all(bool(np.allclose(attend(start[order]), base[order])) for order in orders)


WRONG = {
    "weighted_values": [
        (weights_transposed, "weights-transposed"),
        (values_transposed, "keys-not-summed"),
        (mixture_divided_by_keys, "mean-not-sum"),
        (value_of_largest_weight, "best-value-only"),
        (softmax_once_more, "softmax-again"),
        (one_mixture_for_all, "weights-added"),
        (columns_made_to_one, "columns-normalised"),
        (square_table_turned, "turned-where-it-fits"),
        (breaks_at_zero_weight, "stops-at-zero"),
        (last_value_left_out, "key-left-out"),
        (value_index_slip, "value-of-the-query"),
        (mixture_overwritten, "one-product-only"),
        (products_not_added, "not-summed"),
        (single_axes_lost, "axis-of-one-lost"),
        (running_total_between_queries, "total-not-reset"),
        (as_many_columns_as_keys, "key-left-out"),
    ],
    "predict_output_shape": [
        ((3, 4), "width-of-the-queries"),
        ((5, 2), "one-row-per-key"),
        ((3, 5), "shape-of-the-weights"),
        ((3, 7), "width-of-the-tokens"),
        ((2, 3), "transposed"),
        ((5, 4), "width-of-the-queries"),
        ((8, 2), "all-tokens-together"),
        ((3, 5, 2), "nothing-summed"),
    ],
    "attention": [
        (attention_without_scale, "unscaled"),
        (attention_divided_by_d, "divide-by-d"),
        (attention_times_root, "multiply-by-sqrt-d"),
        (attention_scaled_by_keys, "scaled-by-n-key"),
        (attention_scaled_by_values, "scaled-by-d-v"),
        (attention_scaled_after_softmax, "scaled-after-softmax"),
        (attention_over_queries, "wrong-axis"),
        (attention_without_shift, "no-max-shift"),
        (attention_with_one_largest, "global-max"),
        (attention_sum_mixed_up, "not-normalised"),
        (attention_keepdims_lost, "axis-not-kept"),
        (attention_weights_returned, "weights-returned"),
        (attention_of_first_query, "one-row-only"),
        (attention_to_the_best_key, "best-value-only"),
        (attention_skips_later_keys, None),
        (attention_whole_root, "root-rounded"),
        (attention_clipped, "clipped"),
    ],
    "self_attention": [
        (queries_and_keys_swapped, "queries-keys-swapped"),
        (tokens_for_values, "no-value-projection"),
        (itself_excluded, "excludes-itself"),
        (only_earlier_tokens, "looks-back-only"),
        (scaled_by_d_model, "scaled-by-d-model"),
        (self_attention_no_scale, "unscaled"),
        (tokens_added_back, "tokens-added-back"),
        (self_attention_no_shift, "no-max-shift"),
        (query_weights_for_keys, "queries-with-queries"),
        (every_token_gets_the_mean, "one-mixture-for-all"),
        (columns_sum_to_one, "wrong-axis"),
        (loop_stops_one_token_early, "keys-left-out"),
        (one_largest_for_all_tokens, "global-max"),
    ],
    "fault_cross_attention": [
        (cross_fault_in_place, "values-of-those-who-ask"),
        (keys_changed_to_x, "x-looks-at-itself"),
        (all_changed_to_y, "y-looks-at-itself"),
        (texts_swapped, "roles-exchanged"),
        (weights_turned_until_it_runs, "weights-transposed"),
        (cut_until_it_runs, "values-of-those-who-ask"),
        (values_from_keys, "keys-mixed"),
        (mended_and_scale_lost, "unscaled"),
        (mended_and_scaled_by_y, "scaled-by-d-model"),
        (mended_and_shift_lost, "no-max-shift"),
        (mended_and_summed_over_x, "wrong-axis"),
        (mended_for_other_lengths_only, "mended-where-it-raised"),
        (values_of_both_texts, "texts-joined"),
    ],
    "is_permutation_equivariant": [
        (tests_for_invariance, "permutes-input-only"),
        (moved_the_wrong_way, "different-orders"),
        (shuffled_in_place, "mutates-input"),
        (two_draws, "different-orders"),
        (same_rows_in_any_order, "compares-summaries"),
        (sums_compared, "compares-summaries"),
        (features_shuffled, "permutes-features"),
        (one_row_compared, "compares-one-row"),
        (no_rounding_allowed, "exact-equality"),
        (turned_round_only, "one-special-order"),
        (rolled_only, "one-special-order"),
        (far_too_patient, "coarse-comparison"),
        (any_row_will_do, "any-not-all"),
        (mean_difference, "compares-summaries"),
        (rows_looked_up, "compares-summaries"),
        (answer_turned_round, "inverted-answer"),
    ],
}

RIGHT = {
    "weighted_values": [
        matrix_product,
        einsum_over_keys,
        three_loops,
        lists_of_mixtures,
        numpy_averages,
        values_handed_out_one_by_one,
        single_precision_mixture,
    ],
    "predict_output_shape": [(3, 2), [3, 2], np.array([3, 2]), (3.0, 2.0), np.ones((3, 2)).shape],
    "attention": [
        attention_in_one_line,
        attention_in_einsums,
        attention_in_lists,
        attention_query_by_query,
        attention_running_largest,
        attention_single_precision_weights,
        attention_in_batches,
    ],
    "self_attention": [
        project_and_attend,
        weights_multiplied_first,
        self_attention_einsum,
        token_after_token,
        self_attention_in_helpers,
    ],
    "fault_cross_attention": [
        values_from_y,
        projected_at_the_end,
        cross_by_attention,
        cross_token_by_token,
        cross_in_lists_of_lists,
    ],
    "is_permutation_equivariant": [
        shuffled_a_few_times,
        one_shuffle,
        moved_back_by_argsort,
        permutation_matrices,
        numbers_shuffled_in_a_list,
        every_neighbour_exchange_too,
    ],
}
