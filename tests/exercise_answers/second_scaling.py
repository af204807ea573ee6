"""Answers of a second class to the exercises on scaling, written from their prompts alone."""

import math

import numpy as np

# --- scaled_scores ---


def divided_by_d(q, k):
    return q @ k.T / q.shape[-1]


def not_scaled(q, k):
    return q @ k.T


def multiplied_by_root(q, k):
    return q @ k.T * math.sqrt(q.shape[-1])


def root_of_number_of_keys(q, k):
    return q @ k.T / np.sqrt(k.shape[0])


def root_of_number_of_queries(q, k):
    return q @ k.T / np.sqrt(len(q))


def power_before_division(q, k):
    d = q.shape[-1]
    return (q @ k.T) * d**-1 / 2


def whole_root(q, k):
    return q @ k.T / math.isqrt(q.shape[-1])


def half_exponent_is_zero(q, k):
    d = q.shape[-1]
    return (q @ k.T) / d ** (1 // 2)


def scaled_on_both_sides(q, k):
    root = math.sqrt(q.shape[1])
    return (q / root) @ (k / root).T


def measured_spread(q, k):
    # variance 1 is wanted, so divides by the spread it sees in this table
    s = q @ k.T
    return s / max(s.std(), 1e-12)


def lengths_taken_out(q, k):
    s = q @ k.T
    lengths = np.linalg.norm(q, axis=1)[:, None] * np.linalg.norm(k, axis=1)
    return s / np.maximum(lengths, 1e-12)


def always_the_root_of_four(q, k):
    return q @ k.T / 2


def scaled_keys_down(q, k):
    return k @ q.T / math.sqrt(k.shape[-1])


def root_taken_of_the_scores(q, k):
    s = q @ k.T
    return np.sign(s) * np.sqrt(np.abs(s))


def divided_inside_the_loop(q, k):
    scores = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        for j in range(len(k)):
            for f in range(q.shape[1]):
                scores[i, j] = (scores[i, j] + q[i, f] * k[j, f]) / math.sqrt(q.shape[1])
    return scores


def divided_by_root(q, k):
    return q @ k.T / math.sqrt(q.shape[-1])


def einsum_with_factor(q, k):
    d = k.shape[-1]
    return np.einsum("qd,kd->qk", q, k) * d**-0.5


def fourth_roots_first(q, k):
    quarter = q.shape[1] ** 0.25
    return (q / quarter) @ (k / quarter).T


def lists_scaled(q, k):
    factor = 1 / math.sqrt(len(q[0]))
    return [[factor * math.fsum(a * b for a, b in zip(x, y, strict=False)) for y in k] for x in q]


def loops_then_scale(q, k):
    n_query, d = np.shape(q)
    n_key = len(k)
    scores = np.empty((n_query, n_key))
    for j in range(n_key):
        for i in range(n_query):
            total = 0.0
            for f in range(d):
                total += q[i][f] * k[j][f]
            scores[i, j] = total / d**0.5
    return scores


def single_precision_scaled(q, k):
    q32 = np.array(q, dtype=np.float32)
    k32 = np.array(k, dtype=np.float32)
    return (q32 / np.float32(math.sqrt(q32.shape[1]))) @ k32.T


# --- predicted_std ---


def variance_given(d):
    return d


def root_of_two_d(d):
    return math.sqrt(2 * d)


def one_whatever_d(d):
    return 1.0


def quarter_of_d(d):
    # 16 gives 4
    return d / 4


def logarithm_fits_example(d):
    # 16 gives 4: so it is the logarithm to base 2
    return math.log2(d)


def whole_number_root(d):
    return float(math.isqrt(d))


def one_degree_less(d):
    return math.sqrt(d - 1)





def one_over_root(d):
    return 1 / math.sqrt(d)


def rounded_to_two_digits(d):
    return round(math.sqrt(d), 1)


def small_d_without_root(d):
    return d**0.5 if d >= 4 else d


def two_fourth_roots(d):
    return 2 * d**0.25


def math_root(d):
    return math.sqrt(d)


def power_one_half(d):
    return d**0.5


def numpy_root(d):
    return np.sqrt(np.float64(d))


def variances_added_in_a_loop(d):
    variance = 0.0
    for _ in range(d):
        variance_q, variance_k = 1.0, 1.0
        variance += variance_q * variance_k
    return math.sqrt(variance)


def length_of_ones(d):
    return float(np.linalg.norm(np.ones(d)))


def hypot_of_ones(d):
    return math.hypot(*[1.0] * d)


# --- entropy ---


def bits(p):
    return -np.where(p > 0, p * np.log2(np.where(p > 0, p, 1)), 0).sum(axis=-1)


def sign_forgotten(p):
    return (p * np.log(np.where(p > 0, p, 1))).sum(axis=-1)


def whole_table_summed(p):
    return -(p * np.log(np.where(p > 0, p, 1))).sum()


def first_axis_summed(p):
    return -(p * np.log(np.where(p > 0, p, 1))).sum(axis=0)


def zero_weight_forgotten(p):
    return -(p * np.log(p)).sum(axis=-1)


def nan_repaired_too_late(p):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(-(p * np.log(p)).sum(axis=-1))


def zeros_dropped_shape_lost(p):
    p = p[p > 0]
    return -(p * np.log(p)).sum(axis=-1)


def weights_clipped(p):
    p = np.clip(p, 1e-3, 1.0)
    return -(p * np.log(p)).sum(axis=-1)


def mean_for_sum(p):
    return -(p * np.log(np.where(p > 0, p, 1))).mean(axis=-1)


def evenness_from_zero_to_one(p):
    h = -(p * np.log(np.where(p > 0, p, 1))).sum(axis=-1)
    return h / max(np.log(p.shape[-1]), 1e-12)


def last_axis_kept(p):
    return -(p * np.log(np.where(p > 0, p, 1))).sum(axis=-1, keepdims=True)


def weight_left_out(p):
    return -np.log(np.where(p > 0, p, 1)).sum(axis=-1)


def loop_breaks_at_zero(p):
    def one(row):
        total = 0.0
        for weight in row:
            if weight == 0:
                break
            total -= weight * math.log(weight)
        return total

    return np.apply_along_axis(one, -1, p)


def axis_one_fixed(p):
    p = np.atleast_2d(p)
    return -(p * np.log(np.where(p > 0, p, 1))).sum(axis=1)


def logarithm_of_zero_left_out_by_where(p):
    safe = np.where(p > 0, p, 1.0)
    return -np.sum(p * np.log(safe), axis=-1)


def rows_in_math_log(p):
    p = np.asarray(p, dtype=float)
    rows = p.reshape(-1, p.shape[-1])
    answers = []
    for row in rows:
        answers.append(math.fsum(-w * math.log(w) for w in row if w > 0))
    return np.array(answers).reshape(p.shape[:-1])


def vectorized_over_weights(p):
    def part(weight):
        return 0.0 if weight == 0 else weight * math.log(1.0 / weight)

    return np.vectorize(part, otypes=[float])(p).sum(axis=-1)


def recursion_over_axes(p):
    if np.ndim(p) == 1:
        total = 0.0
        for weight in p:
            if weight == 0:
                continue
            total -= weight * np.log(weight)
        return total
    return [recursion_over_axes(part) for part in p]


def einsum_with_masked_log(p):
    logs = np.zeros(np.shape(p))
    np.log(p, out=logs, where=p > 0)
    return -np.einsum("...n,...n->...", p, logs)


def nan_sum_in_quiet(p):
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = -p * np.log(p)
    return np.nansum(parts, axis=-1)


# --- fault_scaled_weights ---


def scaled_fault_in_place(q, k):
    s = q @ k.T
    exponentials = np.exp(s)
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights / q.shape[-1] ** 0.5


def scale_taken_away(q, k):
    s = q @ k.T
    exponentials = np.exp(s)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def scaled_twice(q, k):
    s = q @ k.T / q.shape[-1] ** 0.5
    exponentials = np.exp(s)
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights / q.shape[-1] ** 0.5


def sums_repaired_after(q, k):
    s = q @ k.T
    exponentials = np.exp(s)
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    weights = weights / q.shape[-1] ** 0.5
    return weights / weights.sum(axis=-1, keepdims=True)


def exponentials_scaled(q, k):
    s = q @ k.T
    exponentials = np.exp(s) / q.shape[-1] ** 0.5
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def mended_with_d(q, k):
    s = q @ k.T / q.shape[-1]
    exponentials = np.exp(s)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def mended_with_product(q, k):
    s = q @ k.T * q.shape[-1] ** 0.5
    exponentials = np.exp(s)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def mended_over_queries(q, k):
    s = q @ k.T / q.shape[-1] ** 0.5
    exponentials = np.exp(s)
    return exponentials / exponentials.sum(axis=0, keepdims=True)


def mended_without_keepdims(q, k):
    s = q @ k.T / q.shape[-1] ** 0.5
    exponentials = np.exp(s)
    return exponentials / exponentials.sum(axis=-1)


def mended_with_number_of_keys(q, k):
    s = q @ k.T / k.shape[0] ** 0.5
    exponentials = np.exp(s)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def mended_with_whole_root(q, k):
    s = q @ k.T / int(q.shape[-1] ** 0.5)
    exponentials = np.exp(s)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def scale_moved_to_scores(q, k):
    s = q @ k.T / q.shape[-1] ** 0.5  # (n_query, n_key)
    exponentials = np.exp(s)
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights


def scale_in_the_exponent(q, k):
    s = q @ k.T
    exponentials = np.exp(s / np.sqrt(q.shape[-1]))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def queries_scaled_first(q, k):
    q = q / math.sqrt(q.shape[-1])
    s = q @ k.T
    exponentials = np.exp(s - s.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def weights_row_by_row(q, k):
    rows = []
    for query in q:
        s = [float(query @ key) * len(query) ** -0.5 for key in k]
        top = max(s)
        e = [math.exp(score - top) for score in s]
        rows.append([x / sum(e) for x in e])
    return rows


def root_taken_of_exponentials(q, k):
    # exp(s / root) is exp(s) to the power 1 / root
    d = q.shape[-1]
    s = np.einsum("qf,kf->qk", q, k)
    s = s - s.max(axis=-1, keepdims=True)
    powers = np.exp(s * (1.0 / d**0.5))
    return powers / powers.sum(axis=-1)[:, None]


WRONG = {
    "scaled_scores": [
        (divided_by_d, "divide-by-d"),
        (not_scaled, "unscaled"),
        (multiplied_by_root, "multiply-by-sqrt-d"),
        (root_of_number_of_keys, "divide-by-sqrt-n-key"),
        (root_of_number_of_queries, "divide-by-sqrt-n-query"),
        (power_before_division, "half-for-a-root"),
        (whole_root, "root-rounded"),
        (half_exponent_is_zero, "unscaled"),
        (scaled_on_both_sides, "divide-by-d"),
        (measured_spread, "divide-by-measured-std"),
        (lengths_taken_out, "cosine"),
        (always_the_root_of_four, "constant-scale"),
        (scaled_keys_down, "transposed"),
        (root_taken_of_the_scores, "root-of-scores"),
        (divided_inside_the_loop, "divided-again-and-again"),
    ],
    "predicted_std": [
        (variance_given, "variance"),
        (root_of_two_d, "variances-added"),
        (one_whatever_d, "constant"),
        (quarter_of_d, "hard-coded"),
        (logarithm_fits_example, "hard-coded"),
        (whole_number_root, "rounded"),
        (one_degree_less, "one-more-or-less"),
        (one_over_root, "inverse"),
        (rounded_to_two_digits, "rounded"),
        (small_d_without_root, None),
        (two_fourth_roots, "hard-coded"),
    ],
    "predict_scaled_std": [
        (1, "as-if-standard-normal"),
        (9, "variance"),
        (12, "unscaled"),
        (36, "variance"),
        (0.75, "divide-by-d"),
        (math.sqrt(10), "variances-added"),
        (2.25, "variance-scaled"),
        (math.sqrt(3), "root-too-early"),
        (6, "half-of-the-spread"),
        (2, "spreads-added"),
    ],
    "entropy": [
        (bits, "bits"),
        (sign_forgotten, "wrong-sign"),
        (whole_table_summed, "global-sum"),
        (first_axis_summed, "wrong-axis"),
        (zero_weight_forgotten, "nan-at-zero"),
        (nan_repaired_too_late, "nan-at-zero"),
        (zeros_dropped_shape_lost, "global-sum"),
        (weights_clipped, "large-epsilon"),
        (mean_for_sum, "mean-not-sum"),
        (evenness_from_zero_to_one, "divided-by-its-maximum"),
        (last_axis_kept, "axis-kept"),
        (weight_left_out, "weights-forgotten"),
        (loop_breaks_at_zero, "stops-at-zero"),
        (axis_one_fixed, "wrong-axis"),
    ],
    "fault_scaled_weights": [
        (scaled_fault_in_place, "scaled-after-softmax"),
        (scale_taken_away, "unscaled"),
        (scaled_twice, "scaled-before-and-after"),
        (sums_repaired_after, "unscaled"),
        (exponentials_scaled, "unscaled"),
        (mended_with_d, "divide-by-d"),
        (mended_with_product, "multiply-by-sqrt-d"),
        (mended_over_queries, "wrong-axis"),
        (mended_without_keepdims, "axis-not-kept"),
        (mended_with_number_of_keys, "divide-by-sqrt-n-key"),
        (mended_with_whole_root, "root-rounded"),
    ],
}

RIGHT = {
    "scaled_scores": [
        divided_by_root,
        einsum_with_factor,
        fourth_roots_first,
        lists_scaled,
        loops_then_scale,
        single_precision_scaled,
    ],
    "predicted_std": [
        math_root,
        power_one_half,
        numpy_root,
        variances_added_in_a_loop,
        length_of_ones,
        hypot_of_ones,
    ],
    "predict_scaled_std": [
        3,
        3.0,
        np.array(3.0),
        np.float32(3),
        math.sqrt(16 * 9 * 1) / math.sqrt(16),
    ],
    "entropy": [
        logarithm_of_zero_left_out_by_where,
        rows_in_math_log,
        vectorized_over_weights,
        recursion_over_axes,
        einsum_with_masked_log,
        nan_sum_in_quiet,
    ],
    "fault_scaled_weights": [
        scale_moved_to_scores,
        scale_in_the_exponent,
        queries_scaled_first,
        weights_row_by_row,
        root_taken_of_exponentials,
    ],
}
