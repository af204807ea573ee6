"""Answers of a second class to the exercises on softmax, written from their prompts alone."""

import math

import numpy as np

# --- softmax ---


def no_shift(x):
    e = np.exp(x)
    return e / e.sum(axis=-1, keepdims=True)


def softmax_over_first_axis(x):
    e = np.exp(x - x.max(axis=0, keepdims=True))
    return e / e.sum(axis=0, keepdims=True)


def softmax_over_axis_one(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def sum_of_whole_table(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def largest_of_whole_table(x):
    # one largest score for all rows: a row far below it has only zeros
    e = np.exp(x - x.max())
    return e / e.sum(axis=-1, keepdims=True)


def keepdims_forgotten(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1)


def shifted_by_mean(x):
    e = np.exp(x - x.mean(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def shifted_by_smallest(x):
    e = np.exp(x - x.min(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def shifted_by_first(x):
    e = np.exp(x - x[..., :1])
    return e / np.sum(e, axis=-1, keepdims=True)


def scores_clipped(x):
    e = np.exp(np.clip(x, -700, 700))
    return e / e.sum(axis=-1, keepdims=True)


def shifted_only_when_large(x):
    if x.max() > 700:
        x = x - x.max(axis=-1, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis=-1, keepdims=True)


def small_number_in_sum(x):
    largest = np.maximum(x.max(axis=-1, keepdims=True), 0)
    e = np.exp(x - largest)
    return e / (e.sum(axis=-1, keepdims=True) + 1e-9)


def scores_over_their_sum(x):
    shifted = x - x.min(axis=-1, keepdims=True)
    total = shifted.sum(axis=-1, keepdims=True)
    return shifted / np.where(total > 0, total, 1)


def divided_by_largest(x):
    # scales in place of shifting
    e = np.exp(x / np.abs(x).max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def powers_of_two(x):
    e = 2.0 ** (x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def shifted_by_largest(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def rows_by_math_exp(x):
    x = np.asarray(x, dtype=float)
    weights = np.empty(x.shape)
    for place in np.ndindex(*x.shape[:-1]):
        row = [float(score) for score in x[place]]
        top = max(row)
        parts = [math.exp(score - top) for score in row]
        weights[place] = [part / math.fsum(parts) for part in parts]
    return weights


def nested_lists_of_weights(x):
    if np.ndim(x) > 1:
        return [nested_lists_of_weights(row) for row in x]
    top = max(x)
    e = [np.exp(score - top) for score in x]
    return [part / sum(e) for part in e]


def single_precision_after_shift(x):
    shifted = np.asarray(x, dtype=np.float64)
    shifted = shifted - np.max(shifted, axis=-1, keepdims=True)
    e = np.exp(np.maximum(shifted, -100.0).astype(np.float32))
    return e / e.sum(axis=-1, keepdims=True, dtype=np.float32)


def softmax_of_signature(x):
    def one_row(row):
        e = np.exp(row - row.max())
        return e / e.sum()

    return np.vectorize(one_row, signature="(n)->(n)")(x)


def one_over_sum_of_differences(x):
    # weight i is 1 / sum over j of exp(x_j - x_i)
    apart = x[..., None, :] - x[..., :, None]
    with np.errstate(over="ignore"):
        return 1.0 / np.exp(apart).sum(axis=-1)


# --- log_sum_exp ---


def log_sum_without_shift(x):
    return np.log(np.exp(x).sum(axis=-1))


def largest_not_added_back(x):
    largest = x.max(axis=-1, keepdims=True)
    return np.log(np.exp(x - largest).sum(axis=-1))


def largest_taken_off_again(x):
    largest = x.max(axis=-1)
    return np.log(np.exp(x - largest[..., None]).sum(axis=-1)) - largest


def axis_left_in_log_sum(x):
    largest = x.max(axis=-1, keepdims=True)
    return np.log(np.exp(x - largest).sum(axis=-1, keepdims=True)) + largest


def log_sum_over_first_axis(x):
    largest = x.max(axis=0)
    return np.log(np.exp(x - largest).sum(axis=0)) + largest


def log_sum_of_whole_table(x):
    largest = x.max()
    return np.log(np.exp(x - largest).sum()) + largest


def one_largest_for_all_rows(x):
    largest = x.max()
    return np.log(np.exp(x - largest).sum(axis=-1)) + largest


def logs_summed(x):
    return np.log(np.exp(x - x.max(axis=-1, keepdims=True))).sum(axis=-1) + x.max(axis=-1)


def just_the_largest(x):
    return x.max(axis=-1)


def starts_from_zero(x):
    # start 0.0 is the logarithm of 1, so one exponential too many
    total = np.zeros(x.shape[:-1])
    for i in range(x.shape[-1]):
        total = np.logaddexp(total, x[..., i])
    return total


def log_mean_exp(x):
    largest = x.max(axis=-1, keepdims=True)
    return np.log(np.exp(x - largest).mean(axis=-1)) + largest[..., 0]


def axes_mixed_when_added(x):
    largest = x.max(axis=-1, keepdims=True)
    return largest + np.log(np.exp(x - largest).sum(axis=-1))


def largest_without_sign_added(x):
    largest = np.abs(x).max(axis=-1, keepdims=True)
    return np.log(np.exp(x - largest).sum(axis=-1)) + largest[..., 0]


def last_largest_for_all(x):
    rows = x.reshape(-1, x.shape[-1])
    top = 0.0
    answers = []
    for row in rows:
        top = max(top, row.max())
        answers.append(top + np.log(np.exp(row - top).sum()))
    return np.array(answers).reshape(x.shape[:-1])


def shift_and_add_back(x):
    largest = x.max(axis=-1, keepdims=True)
    return np.log(np.exp(x - largest).sum(axis=-1)) + largest.squeeze(-1)


def logaddexp_reduced(x):
    return np.logaddexp.reduce(x, axis=-1)


def logaddexp_loop(x):
    total = np.full(x.shape[:-1], -np.inf)
    for i in range(x.shape[-1]):
        total = np.logaddexp(total, x[..., i])
    return total


def math_rows(x):
    def one_row(row):
        top = float(max(row))
        return top + math.log(math.fsum(math.exp(float(score) - top) for score in row))

    return np.vectorize(one_row, signature="(n)->()", otypes=[float])(x)


def sorted_rows_log1p(x):
    ordered = np.sort(x, axis=-1)
    others = np.exp(ordered[..., :-1] - ordered[..., -1:]).sum(axis=-1)
    return ordered[..., -1] + np.log1p(others)


def nested_list_of_logs(x):
    if np.ndim(x) == 1:
        top = np.max(x)
        ones = np.ones(len(x))
        return top + np.log(np.einsum("n,n->", np.exp(x - top), ones))
    return [nested_list_of_logs(part) for part in x]


# --- log_softmax ---


def log_of_softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.log(e / e.sum(axis=-1, keepdims=True))


def log_of_softmax_lifted(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.log(e / e.sum(axis=-1, keepdims=True) + 1e-12)


def log_of_softmax_at_least_tiny(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.log(np.maximum(e / e.sum(axis=-1, keepdims=True), 1e-300))


def logarithm_forgotten(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def total_forgotten(x):
    return x - x.max(axis=-1, keepdims=True)


def log_total_without_shift(x):
    return x - np.log(np.exp(x).sum(axis=-1, keepdims=True))


def largest_taken_off_once_only(x):
    shifted = x - x.max(axis=-1, keepdims=True)
    return x - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def log_softmax_first_axis(x):
    shifted = x - x.max(axis=0, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=0, keepdims=True))


def log_softmax_bits(x):
    shifted = x - x.max(axis=-1, keepdims=True)
    return shifted - np.log2(np.exp(shifted).sum(axis=-1, keepdims=True))


def total_of_all_rows(x):
    shifted = x - x.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum())


def log_softmax_one_largest(x):
    shifted = x - x.max()
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def infinity_made_finite(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    with np.errstate(divide="ignore"):
        return np.nan_to_num(np.log(e / e.sum(axis=-1, keepdims=True)))


def total_without_axis(x):
    shifted = x - x.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1))


def sign_turned(x):
    shifted = x - x.max(axis=-1, keepdims=True)
    return np.log(np.exp(shifted).sum(axis=-1, keepdims=True)) - shifted


def shifted_minus_log_total(x):
    shifted = x - x.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def scores_minus_logaddexp(x):
    return x - np.logaddexp.reduce(x, axis=-1)[..., np.newaxis]


def row_by_row_in_math(x):
    x = np.asarray(x, dtype=float)
    table = x.reshape(-1, x.shape[-1])
    out = np.zeros(table.shape)
    for i in range(table.shape[0]):
        top = table[i].max()
        total = 0.0
        for score in table[i]:
            total += math.exp(score - top)
        for j in range(table.shape[1]):
            out[i, j] = (table[i, j] - top) - math.log(total)
    return out.reshape(x.shape)


def log_weights_in_lists(x):
    if np.ndim(x) > 1:
        return [log_weights_in_lists(row) for row in x]
    top = max(x)
    log_total = math.log(sum(math.exp(score - top) for score in x))
    return [(score - top) - log_total for score in x]


def minus_log_of_differences(x):
    # log weight i is minus the log-sum-exp over j of x_j - x_i
    apart = x[..., None, :] - x[..., :, None]
    return -np.logaddexp.reduce(apart, axis=-1)


def along_axis_with_helper(x):
    def one(row):
        row = row - np.amax(row)
        return row - np.log(np.sum(np.exp(row)))

    return np.apply_along_axis(one, -1, np.asarray(x, dtype=float))


# --- temperature_softmax ---


def temperature_multiplied(x, temperature):
    x = x * temperature
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def weights_divided_by_temperature(x, temperature):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) / temperature


def exponentials_divided_by_temperature(x, temperature):
    e = np.exp(x - x.max(axis=-1, keepdims=True)) / temperature
    return e / e.sum(axis=-1, keepdims=True)


def temperature_not_used(x, temperature):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def power_of_finished_weights(x, temperature):
    # right in algebra, but a weight that is already 0 stays 0 at any temperature
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    w = (e / e.sum(axis=-1, keepdims=True)) ** (1 / temperature)
    return w / w.sum(axis=-1, keepdims=True)


def power_without_new_sum(x, temperature):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)) ** (1 / temperature)


def temperature_without_shift(x, temperature):
    e = np.exp(x / temperature)
    return e / e.sum(axis=-1, keepdims=True)


def shift_forgets_temperature(x, temperature):
    # takes the largest of x off x / temperature
    e = np.exp(x / temperature - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def root_of_temperature(x, temperature):
    x = x / np.sqrt(temperature)
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def never_below_one(x, temperature):
    x = x / max(temperature, 1.0)
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def floor_division(x, temperature):
    x = x // temperature
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def only_largest_heated(x, temperature):
    largest = x.max(axis=-1, keepdims=True)
    e = np.exp(x - largest / temperature)
    return e / e.sum(axis=-1, keepdims=True)


def temperature_over_first_axis(x, temperature):
    x = x / temperature
    e = np.exp(x - x.max(axis=0))
    return e / e.sum(axis=0)


def hot_rows_share_one_largest(x, temperature):
    x = (x - x.max()) / temperature
    e = np.exp(x)
    return e / e.sum(axis=-1, keepdims=True)


def divided_then_softmax(x, temperature):
    x = x / temperature
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def shifted_then_divided(x, temperature):
    shifted = (x - x.max(axis=-1, keepdims=True)) / temperature
    return np.exp(shifted) / np.exp(shifted).sum(axis=-1, keepdims=True)


def inverse_temperature(x, temperature):
    beta = 1.0 / temperature
    log_weights = beta * x - np.logaddexp.reduce(beta * x, axis=-1)[..., None]
    weights = np.exp(log_weights)
    return weights / weights.sum(axis=-1, keepdims=True)


def power_before_the_sum(x, temperature):
    # logarithm of the weights first, so that nothing is lost
    log_w = x - x.max(axis=-1, keepdims=True)
    log_w = log_w - np.log(np.exp(log_w).sum(axis=-1, keepdims=True))
    log_w = log_w / temperature
    powers = np.exp(log_w - log_w.max(axis=-1, keepdims=True))
    return powers / np.einsum("...n->...", powers)[..., None]


def heated_rows_in_lists(x, temperature):
    if np.ndim(x) > 1:
        return [heated_rows_in_lists(row, temperature) for row in x]
    top = max(x)
    e = [math.exp((score - top) / temperature) for score in x]
    return [part / math.fsum(e) for part in e]


def heated_with_signature(x, temperature):
    def one(row, t):
        e = np.zeros(len(row))
        for i in range(len(row)):
            e[i] = np.exp((row[i] - max(row)) / t)
        return e / e.sum()

    return np.vectorize(one, signature="(n),()->(n)")(x, temperature)


# --- masked_softmax ---


def scores_times_mask(x, mask):
    x = x * mask
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def masked_after_without_new_sum(x, mask):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) * mask


def masked_after_with_new_sum(x, mask):
    # a forbidden score far above the others leaves 0 / 0
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True) * mask
    total = w.sum(axis=-1, keepdims=True)
    return w / np.where(total > 0, total, 1)


def infinity_without_empty_rows(x, mask):
    x = np.where(mask, x, -np.inf)
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def large_number_without_empty_rows(x, mask):
    x = np.where(mask, x, -1e9)
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def not_low_enough(x, mask):
    x = np.where(mask, x, -100.0)
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    return np.where(mask.any(axis=-1, keepdims=True), w, 0.0)


def mask_read_the_other_way(x, mask):
    x = np.where(mask, -np.inf, x)
    top = x.max(axis=-1, keepdims=True)
    e = np.exp(x - np.where(np.isfinite(top), top, 0))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total > 0, total, 1)


def empty_only_if_all_are_empty(x, mask):
    if not mask.any():
        return np.zeros(x.shape)
    x = np.where(mask, x, -np.inf)
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def small_score_subtracted(x, mask):
    x = x - 10.0 * ~mask
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def chosen_places_in_one_sum(x, mask):
    # x[mask] runs over all rows at once
    w = np.zeros(x.shape)
    if mask.any():
        chosen = x[mask]
        e = np.exp(chosen - chosen.max())
        w[mask] = e / e.sum()
    return w


def masked_without_shift(x, mask):
    e = np.exp(x) * mask
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total > 0, total, 1)


def empty_row_shared_evenly(x, mask):
    x = np.where(mask, x, -np.inf)
    top = x.max(axis=-1, keepdims=True)
    e = np.exp(x - np.where(np.isfinite(top), top, 0))
    total = e.sum(axis=-1, keepdims=True)
    return np.where(total > 0, e / np.where(total > 0, total, 1), 1 / x.shape[-1])


def small_number_in_masked_sum(x, mask):
    e = np.exp(x - x.max(axis=-1, keepdims=True)) * mask
    return e / (e.sum(axis=-1, keepdims=True) + 1e-9)


def zeros_of_the_largest(x, mask):
    # shift by the largest of x * mask, which is 0 when all allowed scores are negative
    top = (x * mask).max(axis=-1, keepdims=True)
    e = np.where(mask, np.exp(np.where(mask, x - top, 0)), 0.0)
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total > 0, total, 1)


def infinity_and_safe_largest(x, mask):
    x = np.where(mask, x, -np.inf)
    top = x.max(axis=-1, keepdims=True)
    e = np.exp(x - np.where(np.isfinite(top), top, 0.0))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total > 0, total, 1.0)


def row_by_row_over_allowed(x, mask):
    x, mask = np.broadcast_arrays(x, mask)
    w = np.zeros(x.shape)
    for place in np.ndindex(*x.shape[:-1]):
        allowed = np.flatnonzero(mask[place])
        if allowed.size == 0:
            continue
        chosen = x[place][allowed]
        e = np.exp(chosen - chosen.max())
        row = np.zeros(x.shape[-1])
        row[allowed] = e / e.sum()
        w[place] = row
    return w


def math_with_allowed_only(x, mask):
    if np.ndim(x) > 1:
        return [math_with_allowed_only(row, row_mask)
                for row, row_mask in zip(x, mask, strict=False)]
    allowed = [score for score, may in zip(x, mask, strict=False) if may]
    if not allowed:
        return [0.0 for _ in x]
    top = max(allowed)
    total = math.fsum(math.exp(score - top) for score in allowed)
    return [math.exp(score - top) / total if may else 0.0
            for score, may in zip(x, mask, strict=False)]


def largest_of_allowed_by_where(x, mask):
    top = np.max(x, axis=-1, keepdims=True, where=mask, initial=-np.inf)
    shifted = np.zeros(np.shape(x))
    np.subtract(x, top, out=shifted, where=mask)
    e = np.exp(shifted) * mask
    total = np.einsum("...n->...", e)[..., None]
    return np.divide(e, total, out=np.zeros_like(e), where=total > 0)


def masked_with_signature(x, mask):
    def one_row(row, may):
        out = np.zeros(row.shape)
        if may.any():
            e = np.exp(row[may] - row[may].max())
            out[may] = e / e.sum()
        return out

    return np.vectorize(one_row, signature="(n),(n)->(n)")(x, mask)


def log_total_of_allowed(x, mask):
    low = np.where(mask, x, -np.inf)
    log_total = np.logaddexp.reduce(low, axis=-1)[..., None]
    safe_total = np.where(np.isfinite(log_total), log_total, 0.0)
    weights = np.exp(low - safe_total)
    total = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(total > 0, total, 1.0)


# --- fault_log_softmax ---


def log_softmax_fault_in_place(x):
    largest = x.max(axis=-1, keepdims=True)
    shifted = x - largest
    total = np.exp(x).sum(axis=-1, keepdims=True)
    return shifted - np.log(total)


def shift_given_up_at_the_end(x):
    # adds up in algebra, overflows for large scores
    total = np.exp(x).sum(axis=-1, keepdims=True)
    return x - np.log(total)


def largest_added_on_wrong_side(x):
    largest = x.max(axis=-1, keepdims=True)
    shifted = x - largest
    total = np.exp(x).sum(axis=-1, keepdims=True)
    return shifted - np.log(total) + largest


def mended_total_but_not_the_scores(x):
    largest = x.max(axis=-1, keepdims=True)
    shifted = x - largest
    total = np.exp(shifted).sum(axis=-1, keepdims=True)
    return x - np.log(total)


def mended_with_one_largest(x):
    largest = x.max()
    shifted = x - largest
    total = np.exp(shifted).sum(axis=-1, keepdims=True)
    return shifted - np.log(total)


def mended_with_lost_keepdims(x):
    largest = x.max(axis=-1, keepdims=True)
    shifted = x - largest
    total = np.exp(shifted).sum(axis=-1)
    return shifted - np.log(total)


def mended_with_total_of_table(x):
    largest = x.max(axis=-1, keepdims=True)
    shifted = x - largest
    total = np.exp(shifted).sum(keepdims=True)
    return shifted - np.log(total)


def mended_over_first_axis(x):
    largest = x.max(axis=0, keepdims=True)
    shifted = x - largest
    total = np.exp(shifted).sum(axis=0, keepdims=True)
    return shifted - np.log(total)


def mended_with_division(x):
    largest = x.max(axis=-1, keepdims=True)
    shifted = x - largest
    total = np.exp(shifted).sum(axis=-1, keepdims=True)
    return np.log(np.exp(shifted) / total)


def largest_in_the_sum_only(x):
    largest = x.max(axis=-1, keepdims=True)
    shifted = x - largest
    total = np.exp(largest).sum(axis=-1, keepdims=True)
    return shifted - np.log(total)


def mended_with_log_one_plus(x):
    largest = x.max(axis=-1, keepdims=True)
    shifted = x - largest
    total = np.exp(shifted).sum(axis=-1, keepdims=True)
    return shifted - np.log1p(total)


def exponentials_of_shifted(x):
    largest = x.max(axis=-1, keepdims=True)
    shifted = x - largest
    total = np.exp(shifted).sum(axis=-1, keepdims=True)
    return shifted - np.log(total)


def exponentials_of_difference(x):
    largest = x.max(axis=-1, keepdims=True)
    total = np.exp(x - largest).sum(axis=-1, keepdims=True)
    return x - (largest + np.log(total))


def exponentials_in_einsum(x):
    largest = np.max(x, axis=-1)[..., None]
    shifted = x - largest
    total = np.einsum("...n->...", np.exp(shifted))
    return shifted - np.log(total)[..., None]


def total_in_a_loop(x):
    largest = x.max(axis=-1, keepdims=True)
    shifted = x - largest
    total = 0.0
    for i in range(x.shape[-1]):
        total = total + np.exp(shifted[..., i : i + 1])
    return shifted - np.log(total)


def single_precision_log_total(x):
    largest = x.max(axis=-1, keepdims=True)
    shifted = x - largest
    total = np.exp(np.maximum(shifted, -100.0).astype(np.float32)).sum(axis=-1, keepdims=True)
    return shifted - np.log(total)


WRONG = {
    "predict_shifted_softmax": [
        ([0, 0, 1], "winner-takes-all"),
        ([1 / 3, 1 / 3, 1 / 3], "all-alike"),
        ([math.nan, math.nan, math.nan], "overflow"),
        ([1000.125, 1000.25, 1000.625], "thousand-kept"),
        ([0, 0.30, 0.70], "shares-of-scores"),
        ([0.625, 0.25, 0.125], "order-turned"),
        ([1, 2, 5], "not-normalised"),
        ([0.000125, 0.00025, 0.000625], "almost-nothing"),
        ([0.2, 0.4, 1.0], "not-normalised"),
    ],
    "softmax": [
        (no_shift, "no-max-shift"),
        (softmax_over_first_axis, "wrong-axis"),
        (softmax_over_axis_one, "wrong-axis"),
        (sum_of_whole_table, "global-sum"),
        (largest_of_whole_table, "global-max"),
        (keepdims_forgotten, "keepdims-missing"),
        (shifted_by_mean, "not-the-maximum"),
        (shifted_by_smallest, "not-the-maximum"),
        (shifted_by_first, "not-the-maximum"),
        (scores_clipped, "clipped"),
        (shifted_only_when_large, "low-rows-not-shifted"),
        (small_number_in_sum, "low-rows-not-shifted"),
        (scores_over_their_sum, "sum-normalised"),
        (divided_by_largest, "divided-by-maximum"),
        (powers_of_two, "another-base"),
    ],
    "log_sum_exp": [
        (log_sum_without_shift, "no-max-shift"),
        (largest_not_added_back, "max-not-added-back"),
        (largest_taken_off_again, "max-subtracted-again"),
        (axis_left_in_log_sum, "axis-kept"),
        (log_sum_over_first_axis, "wrong-axis"),
        (log_sum_of_whole_table, "global-sum"),
        (one_largest_for_all_rows, "global-max"),
        (logs_summed, "sum-of-logs"),
        (just_the_largest, "maximum-alone"),
        (starts_from_zero, "one-too-many"),
        (log_mean_exp, "mean-not-sum"),
        (axes_mixed_when_added, "shapes-broadcast"),
        (largest_without_sign_added, "max-of-absolute"),
        (last_largest_for_all, "max-carried-over"),
    ],
    "log_softmax": [
        (log_of_softmax, "log-of-softmax"),
        (log_of_softmax_lifted, "log-of-softmax"),
        (log_of_softmax_at_least_tiny, "log-of-softmax"),
        (logarithm_forgotten, "weights-not-logs"),
        (total_forgotten, "not-normalised"),
        (log_total_without_shift, "no-max-shift"),
        (largest_taken_off_once_only, "scores-not-shifted"),
        (log_softmax_first_axis, "wrong-axis"),
        (log_softmax_bits, "another-base"),
        (total_of_all_rows, "global-sum"),
        (log_softmax_one_largest, "global-max"),
        (infinity_made_finite, "log-of-softmax"),
        (total_without_axis, "keepdims-missing"),
        (sign_turned, "wrong-sign"),
    ],
    "temperature_softmax": [
        (temperature_multiplied, "multiplied-by-temperature"),
        (weights_divided_by_temperature, "applied-after-softmax"),
        (exponentials_divided_by_temperature, "ignored"),
        (temperature_not_used, "ignored"),
        (power_of_finished_weights, "powers-of-weights"),
        (power_without_new_sum, "applied-after-softmax"),
        (temperature_without_shift, "no-max-shift"),
        (shift_forgets_temperature, "shift-not-divided"),
        (root_of_temperature, "another-power-of-the-temperature"),
        (never_below_one, "temperature-bounded"),
        (floor_division, "rounded"),
        (only_largest_heated, "ignored"),
        (temperature_over_first_axis, "wrong-axis"),
        (hot_rows_share_one_largest, "global-max"),
    ],
    "masked_softmax": [
        (scores_times_mask, "scores-times-mask"),
        (masked_after_without_new_sum, "masked-after-softmax"),
        (masked_after_with_new_sum, "renormalised-too-late"),
        (infinity_without_empty_rows, "nan-on-empty-row"),
        (large_number_without_empty_rows, "uniform-on-empty-row"),
        (not_low_enough, "finite-fill"),
        (mask_read_the_other_way, "inverted-mask"),
        (empty_only_if_all_are_empty, "nan-on-empty-row"),
        (small_score_subtracted, "finite-fill"),
        (chosen_places_in_one_sum, "global-sum"),
        (masked_without_shift, "no-max-shift"),
        (empty_row_shared_evenly, "uniform-on-empty-row"),
        (small_number_in_masked_sum, "renormalised-too-late"),
        (zeros_of_the_largest, "low-rows-not-shifted"),
    ],
    "fault_log_softmax": [
        (log_softmax_fault_in_place, "shift-half-used"),
        (shift_given_up_at_the_end, "no-max-shift"),
        (largest_added_on_wrong_side, "no-max-shift"),
        (mended_total_but_not_the_scores, "scores-not-shifted"),
        (mended_with_one_largest, "global-max"),
        (mended_with_lost_keepdims, "keepdims-missing"),
        (mended_with_total_of_table, "global-sum"),
        (mended_over_first_axis, "wrong-axis"),
        (mended_with_division, "log-of-softmax"),
        (largest_in_the_sum_only, "one-exponential-only"),
        (mended_with_log_one_plus, "one-too-many"),
    ],
}

RIGHT = {
    "predict_shifted_softmax": [
        [0.125, 0.25, 0.625],
        (0.125, 0.25, 0.625),
        np.array([1, 2, 5]) / 8,
        [0.13, 0.25, 0.63],
        (0.12, 0.25, 0.62),
        np.array([0.12, 0.25, 0.63], dtype=np.float32),
    ],
    "softmax": [
        shifted_by_largest,
        rows_by_math_exp,
        nested_lists_of_weights,
        single_precision_after_shift,
        softmax_of_signature,
        one_over_sum_of_differences,
    ],
    "log_sum_exp": [
        shift_and_add_back,
        logaddexp_reduced,
        logaddexp_loop,
        math_rows,
        sorted_rows_log1p,
        nested_list_of_logs,
    ],
    "log_softmax": [
        shifted_minus_log_total,
        scores_minus_logaddexp,
        row_by_row_in_math,
        log_weights_in_lists,
        minus_log_of_differences,
        along_axis_with_helper,
    ],
    "temperature_softmax": [
        divided_then_softmax,
        shifted_then_divided,
        inverse_temperature,
        power_before_the_sum,
        heated_rows_in_lists,
        heated_with_signature,
    ],
    "masked_softmax": [
        infinity_and_safe_largest,
        row_by_row_over_allowed,
        math_with_allowed_only,
        largest_of_allowed_by_where,
        masked_with_signature,
        log_total_of_allowed,
    ],
    "fault_log_softmax": [
        exponentials_of_shifted,
        exponentials_of_difference,
        exponentials_in_einsum,
        total_in_a_loop,
        single_precision_log_total,
    ],
}
