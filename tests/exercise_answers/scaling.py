"""Answers to the exercises on scaling, written from the prompts alone."""

import math

import numpy as np


# --- scaled_scores --------------------------------------------------------------------------------
def forgets_to_scale(q, k):
    scores = q @ k.T
    scores = scores / 1.0
    return scores


def scales_by_the_wrong_axis(q, k):
    d = q.shape[0]
    return q @ k.T / np.sqrt(d)


def scales_by_the_last_axis_of_the_table(q, k):
    scores = q @ k.T
    return scores / np.sqrt(scores.shape[-1])


def divides_each_side_by_the_root(q, k):
    root = np.sqrt(q.shape[1])
    return (q / root) @ (k / root).T


def divides_by_the_variance_that_it_measures(q, k):
    scores = q @ k.T
    return scores / np.sqrt(np.var(scores))


def normalises_queries_and_keys(q, k):
    q = q / np.linalg.norm(q, axis=1, keepdims=True)
    k = k / np.linalg.norm(k, axis=1, keepdims=True)
    return q @ k.T


def scores_keys_against_queries(q, k):
    d = k.shape[1]
    scores = np.zeros((len(k), len(q)))
    for i, key in enumerate(k):
        for j, query in enumerate(q):
            scores[i, j] = key @ query / math.sqrt(d)
    return scores


def forgets_the_transpose(q, k):
    return np.dot(q, k) / np.sqrt(k.shape[-1])


def squares_d(q, k):
    return q @ k.T / q.shape[-1] ** 2


def whole_number_root(q, k):
    return q @ k.T // np.sqrt(q.shape[-1])


def scales_a_loop_twice(q, k):
    d = q.shape[-1]
    out = []
    for query in q:
        row = []
        for key in k:
            s = 0
            for a, b in zip(query, key, strict=True):
                s += a * b / math.sqrt(d)
            row.append(s / math.sqrt(d))
        out.append(row)
    return out


def rounds_the_result(q, k):
    return np.round(q @ k.T / np.sqrt(q.shape[-1]), 2)


def scales_in_place(q, k):
    q /= np.sqrt(q.shape[-1])
    return q @ k.T


def prints_the_scores(q, k):
    print(q @ k.T / q.shape[-1] ** 0.5)


def scales_by_all_numbers(q, k):
    return q @ k.T / np.sqrt(q.size)


def compares_row_with_row(q, k):
    n = min(len(q), len(k))
    return (q[:n] * k[:n]).sum(axis=1) / np.sqrt(q.shape[1])


def ignores_the_keys(q, k):
    return q @ q.T / np.sqrt(q.shape[1])


def scores_with_inner(q, k):
    return np.inner(q, k) * np.power(q.shape[1], -0.5)


def scores_with_comprehensions(q, k):
    d = len(q[0])
    return [[float(np.dot(row, key)) / d**0.5 for key in k] for row in q]


def scores_with_matmul_and_swapaxes(q, k):
    n_features = k.shape[-1]
    scaled = q / np.sqrt(n_features)
    return np.matmul(scaled, np.swapaxes(k, 0, 1))


def scores_column_by_column(q, k):
    out = np.empty((q.shape[0], k.shape[0]), dtype=np.float32)
    for j in range(k.shape[0]):
        out[:, j] = q @ k[j] / np.linalg.norm(np.ones(q.shape[1]))
    return out


# --- predicted_std --------------------------------------------------------------------------------
def returns_the_variance(d):
    variance_of_one = 1 * 1
    return d * variance_of_one


def returns_the_scale(d):
    return 1 / np.sqrt(d)


def trusts_that_normal_stays_normal(d):
    return 1


def adds_standard_deviations(d):
    total = 0.0
    for _ in range(d):
        total = total + 1.0
    return total


def adds_both_variances(d):
    return np.sqrt(d * (1 + 1))


def measures_it(d):
    rng = np.random.default_rng(0)
    q, k = rng.normal(size=(2, 1000, min(d, 300)))
    return (q * k).sum(axis=1).std()


def takes_the_variance_of_the_mean(d):
    return math.sqrt(1 / d)


def gives_the_mean(d):
    return 0.0


def root_of_a_half(d):
    return math.sqrt(d / 2)


def whole_root(d):
    return math.isqrt(d)


def root_of_a_root(d):
    return math.sqrt(math.sqrt(d))


def std_by_power(d):
    return pow(d, 0.5)


def std_by_hypotenuse(d):
    return math.hypot(*[1.0] * d)


def std_by_adding_variances(d):
    variance = sum(1.0 for _ in range(d))
    return np.sqrt(variance)


# --- entropy --------------------------------------------------------------------------------------
def forgets_the_minus(p):
    safe = np.where(p == 0, 1, p)
    return np.sum(p * np.log(safe), axis=-1)


def measures_in_bits(p):
    safe = np.where(p == 0, 1, p)
    return -np.sum(p * np.log2(safe), axis=-1)


def measures_in_digits(p):
    safe = np.where(p == 0, 1, p)
    return -np.sum(p * np.log10(safe), axis=-1)


def meets_zero(p):
    return -np.sum(np.multiply(p, np.log(p)), -1)


def meets_zero_in_bits(p):
    return -np.sum(p * np.log2(p), axis=-1)


def sums_everything(p):
    return -np.sum(p[p > 0] * np.log(p[p > 0]))


def takes_the_mean(p):
    return np.mean(-p * np.log(np.maximum(p, 1e-30)), axis=-1)


def sums_the_columns(p):
    total = 0
    for row in p:
        total = total - row * np.log(np.where(row > 0, row, 1))
    return total


def adds_a_large_epsilon(p):
    return -np.sum(p * np.log(p + 0.01), axis=-1)


def replaces_nan_too_late(p):
    return np.nan_to_num(-np.sum(p * np.log(p), axis=-1))


def forgets_the_weights(p):
    return -np.log(p + 1e-12).sum(axis=-1)


def keeps_the_terms(p):
    return np.where(p > 0, -p * np.log(np.maximum(p, 1e-300)), 0)


def only_for_one_row(p):
    total = 0
    for weight in p:
        if weight > 0:
            total -= weight * math.log(weight)
    return total


def divides_by_the_largest_entropy(p):
    logs = np.log(np.where(p > 0, p, 1))
    return -(p * logs).sum(axis=-1) / math.log(p.shape[-1])


def counts_the_tokens(p):
    logs = np.log(np.where(p > 0, p, 1))
    return np.exp(-(p * logs).sum(axis=-1))


def takes_the_largest(p):
    return p.max(axis=-1)


def entropy_with_where(p):
    logs = np.log(np.where(p > 0, p, 1.0))
    return -(p * logs).sum(axis=-1)


def entropy_with_nansum(p):
    return np.nansum(-p * np.log(p), axis=-1)


def entropy_along_an_axis(p):
    return np.apply_along_axis(
        lambda row: sum(w * math.log(1 / w) for w in row.tolist() if w > 0), -1, p)


def entropy_by_recursion(p):
    if p.ndim > 1:
        return [entropy_by_recursion(row) for row in p]
    return -sum(w * np.log(w) for w in p if w != 0)


def entropy_with_clip(p):
    return -np.einsum("...j,...j", p, np.log(np.clip(p, 1e-10, 1)))


# --- fault_scaled_weights -------------------------------------------------------------------------
def normalises_once_more(q, k):
    s = q @ k.T
    exponentials = np.exp(s)
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    weights = weights / q.shape[-1] ** 0.5
    return weights / weights.sum(axis=-1, keepdims=True)


def multiplies_the_weights(q, k):
    s = q @ k.T
    exponentials = np.exp(s)
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights * q.shape[-1] ** -0.5


def scales_the_exponentials(q, k):
    s = q @ k.T
    exponentials = np.exp(s) / q.shape[-1] ** 0.5
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights


def drops_the_scale(q, k):
    s = q @ k.T
    exponentials = np.exp(s)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def scales_before_and_after(q, k):
    s = q @ k.T / q.shape[-1] ** 0.5
    exponentials = np.exp(s)
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights / q.shape[-1] ** 0.5


def changes_the_axis_only(q, k):
    s = q @ k.T
    exponentials = np.exp(s)
    weights = exponentials / exponentials.sum(axis=0, keepdims=True)
    return weights / q.shape[-1] ** 0.5


def turns_the_scale_around(q, k):
    s = q @ k.T * q.shape[-1] ** 0.5
    exponentials = np.exp(s)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def takes_the_scale_from_the_keys(q, k):
    s = q @ k.T / k.shape[0] ** 0.5
    exponentials = np.exp(s)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def scales_one_exponential_of_two(q, k):
    s = q @ k.T
    weights = np.exp(s / q.shape[-1] ** 0.5) / np.exp(s).sum(axis=-1, keepdims=True)
    return weights


def forgets_to_keep_the_axis(q, k):
    s = q @ k.T / q.shape[-1] ** 0.5
    exponentials = np.exp(s)
    return exponentials / exponentials.sum(axis=-1)


def moves_the_scale_up(q, k):
    s = q @ k.T / np.sqrt(k.shape[-1])
    exponentials = np.exp(s)
    return exponentials / exponentials.sum(axis=1)[:, None]


def scales_the_queries_first(q, k):
    q = q * q.shape[-1] ** -0.5
    exponentials = np.exp(q @ k.T)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def weighs_row_by_row(q, k):
    rows = []
    for query in q:
        exponentials = np.exp(k @ query / math.sqrt(len(query)))
        rows.append(exponentials / exponentials.sum())
    return np.stack(rows)


WRONG = {
    "scaled_scores": [
        (forgets_to_scale, "unscaled"),
        (scales_by_the_wrong_axis, "divide-by-sqrt-n-query"),
        (scales_by_the_last_axis_of_the_table, "divide-by-sqrt-n-key"),
        (divides_each_side_by_the_root, "divide-by-d"),
        (divides_by_the_variance_that_it_measures, "divide-by-measured-std"),
        (normalises_queries_and_keys, "cosine"),
        (scores_keys_against_queries, "transposed"),
        (forgets_the_transpose, "features-not-summed"),
        (squares_d, "another-power-of-d"),
        (scales_by_all_numbers, "divide-by-sqrt-size"),
        (compares_row_with_row, "pairs-only"),
        (ignores_the_keys, "queries-with-queries"),
        (whole_number_root, "rounded"),
        (scales_a_loop_twice, "divide-by-d"),
        (rounds_the_result, "rounded"),
        (scales_in_place, "mutates-input"),
        (prints_the_scores, "prints-instead-of-returning"),
    ],
    "predicted_std": [
        (returns_the_variance, "variance"),
        (returns_the_scale, "inverse"),
        (trusts_that_normal_stays_normal, "constant"),
        (adds_standard_deviations, "variance"),
        (adds_both_variances, "variances-added"),
        (measures_it, None),
        (takes_the_variance_of_the_mean, "inverse"),
        (gives_the_mean, "constant"),
        (root_of_a_half, None),
        (whole_root, "rounded"),
        (root_of_a_root, "another-power-of-d"),
    ],
    "predict_scaled_std": [
        (1, "as-if-standard-normal"),
        (1.732, "root-too-early"),
        (9, "variance"),
        (12, "unscaled"),
        (0.75, "divide-by-d"),
        (48, "multiply-by-sqrt-d"),
        (3.16, "variances-added"),
        (36, "variance"),
        (2.5, None),
    ],
    "entropy": [
        (forgets_the_minus, "wrong-sign"),
        (measures_in_bits, "bits"),
        (measures_in_digits, "base-ten"),
        (meets_zero, "nan-at-zero"),
        (meets_zero_in_bits, "bits"),
        (sums_everything, "global-sum"),
        (takes_the_mean, "mean-not-sum"),
        (sums_the_columns, "wrong-axis"),
        (adds_a_large_epsilon, "large-epsilon"),
        (replaces_nan_too_late, "nan-at-zero"),
        (forgets_the_weights, "weights-forgotten"),
        (keeps_the_terms, "not-summed"),
        (only_for_one_row, "one-row-only"),
        (takes_the_largest, None),
        (divides_by_the_largest_entropy, "divided-by-its-maximum"),
        (counts_the_tokens, "perplexity"),
    ],
    "fault_scaled_weights": [
        (normalises_once_more, "unscaled"),
        (multiplies_the_weights, "scaled-after-softmax"),
        (scales_the_exponentials, "unscaled"),
        (drops_the_scale, "unscaled"),
        (scales_before_and_after, "scaled-before-and-after"),
        (changes_the_axis_only, "wrong-axis"),
        (turns_the_scale_around, "multiply-by-sqrt-d"),
        (takes_the_scale_from_the_keys, "divide-by-sqrt-n-key"),
        (scales_one_exponential_of_two, "half-scaled"),
        (forgets_to_keep_the_axis, "axis-not-kept"),
    ],
}

RIGHT = {
    "scaled_scores": [scores_with_inner, scores_with_comprehensions,
                      scores_with_matmul_and_swapaxes, scores_column_by_column],
    "predicted_std": [std_by_power, std_by_hypotenuse, std_by_adding_variances],
    "predict_scaled_std": [3, 3.0, np.sqrt(9), math.sqrt(16 * 9) / 4],
    "entropy": [entropy_with_where, entropy_with_nansum, entropy_along_an_axis,
                entropy_by_recursion, entropy_with_clip],
    "fault_scaled_weights": [moves_the_scale_up, scales_the_queries_first, weighs_row_by_row],
}
