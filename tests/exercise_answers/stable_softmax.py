"""Answers to the exercises on the stable softmax, written from their prompts alone."""

import math

import numpy as np


# --- softmax --------------------------------------------------------------------------------------
def plain(x):
    return np.exp(x) / np.sum(np.exp(x), axis=-1, keepdims=True)


def largest_of_all(x):
    e = np.exp(x - x.max())
    return e / e.sum(axis=-1, keepdims=True)


def columns(x):
    e = np.exp(x - x.max(axis=0))
    return e / e.sum(axis=0)


def summed_over_everything(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e)


def no_axis_anywhere(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def no_axis_anywhere_no_shift(x):
    return np.exp(x) / sum(np.exp(x))


def axis_dropped(x):
    e = np.exp(x - x.max(axis=-1))
    return e / e.sum(axis=-1)


def shifted_by_the_mean(x):
    e = np.exp(x - x.mean(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def shifted_by_the_minimum(x):
    e = np.exp(x - x.min(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def maximum_added(x):
    e = np.exp(x + x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def divided_by_the_maximum(x):
    e = np.exp(x / x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def shares_of_scores(x):
    return x / np.sum(x, axis=-1, keepdims=True)


def standardised(x):
    x = (x - x.mean(axis=-1, keepdims=True)) / x.std(axis=-1, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis=-1, keepdims=True)


def clipped_at_hundred(x):
    e = np.exp(np.clip(x, -100, 100))
    return e / e.sum(axis=-1, keepdims=True)


def with_an_epsilon(x):
    e = np.exp(x)
    return e / (e.sum(axis=-1, keepdims=True) + 1e-8)


def powers_of_two(x):
    e = 2 ** (x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def not_divided(x):
    return np.exp(x - x.max(axis=-1, keepdims=True))


def rounded(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.round(e / e.sum(axis=-1, keepdims=True), 3)


def in_place(x):
    x -= x.max(axis=-1, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=-1, keepdims=True)
    return x


def only_for_matrices(x):
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        e = np.exp(x[i] - max(x[i]))
        out[i] = e / sum(e)
    return out


def recursive(x):
    if np.ndim(x) > 1:
        return np.array([recursive(row) for row in x])
    e = [math.exp(score - max(x)) for score in x]
    return np.array(e) / sum(e)


def along_rows(x):
    def one(row):
        e = np.exp(row - row.max())
        return e / e.sum()

    return np.apply_along_axis(one, -1, x)


def by_logarithms(x):
    largest = np.max(x, axis=-1, keepdims=True)
    total = np.log(np.sum(np.exp(x - largest), axis=-1, keepdims=True))
    return np.exp(x - largest - total)


def reshaped(x):
    rows = x.reshape(-1, x.shape[-1]).astype(np.float32)
    e = np.exp(rows - rows.max(axis=1)[:, None])
    return (e / e.sum(axis=1)[:, None]).reshape(x.shape)


# --- log_sum_exp ----------------------------------------------------------------------------------
def direct(x):
    return np.log(np.sum(np.exp(x), axis=-1))


def maximum_lost(x):
    return np.log(np.sum(np.exp(x - x.max(axis=-1, keepdims=True)), axis=-1))


def maximum_subtracted_again(x):
    largest = x.max(axis=-1, keepdims=True)
    return np.log(np.sum(np.exp(x - largest), axis=-1)) - largest[..., 0]


def axis_kept(x):
    largest = x.max(axis=-1, keepdims=True)
    return largest + np.log(np.exp(x - largest).sum(axis=-1, keepdims=True))


def logarithms_summed(x):
    return np.sum(np.log(np.exp(x)), axis=-1)


def mean_of_exponentials(x):
    largest = x.max(axis=-1)
    return largest + np.log(np.exp(x - largest[..., None]).mean(axis=-1))


def one_number(x):
    largest = x.max()
    return largest + np.log(np.exp(x - largest).sum())


def global_shift(x):
    largest = x.max()
    return largest + np.log(np.exp(x - largest).sum(axis=-1))


def first_axis(x):
    largest = x.max(axis=0)
    return largest + np.log(np.exp(x - largest).sum(axis=0))


def only_the_maximum(x):
    return x.max(axis=-1)


def multiplied_by_the_maximum(x):
    largest = x.max(axis=-1)
    return largest * np.log(np.exp(x - largest[..., None]).sum(axis=-1))


def shapes_do_not_meet(x):
    largest = x.max(axis=-1, keepdims=True)
    return largest + np.log(np.exp(x - largest).sum(axis=-1))


def to_base_two(x):
    largest = x.max(axis=-1)
    return largest + np.log2(np.exp(x - largest[..., None]).sum(axis=-1))


def pairwise(x):
    return np.logaddexp.reduce(x, axis=-1)


def one_after_the_other(x):
    total = x[..., 0]
    for i in range(1, x.shape[-1]):
        high, low = np.maximum(total, x[..., i]), np.minimum(total, x[..., i])
        total = high + np.log1p(np.exp(low - high))
    return total


def squeezed(x):
    largest = x.max(axis=-1, keepdims=True)
    return np.squeeze(largest + np.log(np.exp(x - largest).sum(-1, keepdims=True)), axis=-1)


# --- log_softmax ----------------------------------------------------------------------------------
def log_of_plain(x):
    return np.log(plain(x))


def log_of_stable(x):
    return np.log(by_logarithms(x))


def log_with_epsilon(x):
    return np.log(by_logarithms(x) + 1e-12)


def not_shifted(x):
    return x - np.log(np.exp(x).sum(axis=-1, keepdims=True))


def logarithm_forgotten(x):
    shifted = x - x.max(axis=-1, keepdims=True)
    return shifted - np.exp(shifted).sum(axis=-1, keepdims=True)


def maximum_only_once(x):
    largest = x.max(axis=-1, keepdims=True)
    return x - np.log(np.exp(x - largest).sum(axis=-1, keepdims=True))


def only_shifted(x):
    return x - x.max(axis=-1, keepdims=True)


def log_of_columns(x):
    shifted = x - x.max(axis=0)
    return shifted - np.log(np.exp(shifted).sum(axis=0))


def sign_turned(x):
    shifted = x - x.max(axis=-1, keepdims=True)
    return np.log(np.exp(shifted).sum(axis=-1, keepdims=True)) - shifted


def divided_by_the_logarithm(x):
    shifted = x - x.max(axis=-1, keepdims=True)
    return shifted / np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def log_with_global_maximum(x):
    shifted = x - x.max()
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def replaced_infinity(x):
    result = np.log(by_logarithms(x))
    result[np.isinf(result)] = -1e9
    return result


def from_pairwise(x):
    return x - pairwise(x)[..., None]


def from_log_sum_exp_of_float32(x):
    x = np.float32(x)
    return x - one_after_the_other(x)[..., np.newaxis]


def by_rows(x):
    flat = x.reshape(-1, x.shape[-1])
    rows = [row - row.max() - math.log(sum(np.exp(row - row.max()))) for row in flat]
    return np.reshape(rows, x.shape)


# --- temperature_softmax --------------------------------------------------------------------------
def times_temperature(x, temperature):
    return by_logarithms(x * temperature)


def temperature_ignored(x, temperature):
    return by_logarithms(x)


def temperature_afterwards(x, temperature):
    return by_logarithms(x) / temperature


def temperature_afterwards_normalised(x, temperature):
    weights = by_logarithms(x) / temperature
    return weights / weights.sum(axis=-1, keepdims=True)


def root_of_temperature(x, temperature):
    return by_logarithms(x / np.sqrt(temperature))


def temperature_unstable(x, temperature):
    e = np.exp(x / temperature)
    return e / e.sum(axis=-1, keepdims=True)


def maximum_not_divided(x, temperature):
    e = np.exp(x / temperature - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def exponentials_divided(x, temperature):
    e = np.exp(x - x.max(axis=-1, keepdims=True)) / temperature
    return e / e.sum(axis=-1, keepdims=True)


def temperature_subtracted(x, temperature):
    return by_logarithms(x - temperature)


def temperature_in_columns(x, temperature):
    return columns(x / temperature)


def powered_weights(x, temperature):
    weights = by_logarithms(x) ** (1 / temperature)
    return weights / weights.sum(axis=-1, keepdims=True)


def powered_the_wrong_way(x, temperature):
    weights = by_logarithms(x) ** temperature
    return weights / weights.sum(axis=-1, keepdims=True)


def warm(x, temperature):
    return along_rows(x / temperature)


def inverse_first(x, temperature):
    beta = 1 / temperature
    return recursive(beta * x)


def shifted_then_divided(x, temperature):
    e = np.exp((x - x.max(axis=-1, keepdims=True)) / temperature)
    return e / e.sum(axis=-1, keepdims=True)


# --- masked_softmax -------------------------------------------------------------------------------
def _guarded(e):
    total = e.sum(axis=-1, keepdims=True)
    return np.divide(e, total, out=np.zeros_like(e), where=total > 0)


def weights_times_mask(x, mask):
    return by_logarithms(x) * mask


def weights_times_mask_divided(x, mask):
    weights = by_logarithms(x) * mask
    return weights / weights.sum(axis=-1, keepdims=True)


def weights_times_mask_guarded(x, mask):
    return _guarded(by_logarithms(x) * mask)


def scores_multiplied(x, mask):
    return by_logarithms(x * mask)


def scores_multiplied_then_weights(x, mask):
    return by_logarithms(x * mask) * mask


def hidden_where_true(x, mask):
    return np.nan_to_num(by_logarithms(np.where(mask, -np.inf, x)))


def empty_rows_forgotten(x, mask):
    return by_logarithms(np.where(mask, x, -np.inf))


def huge_fill(x, mask):
    return by_logarithms(np.where(mask, x, -1e9))


def smallest_float(x, mask):
    return by_logarithms(np.where(mask, x, np.finfo(float).min))


def fill_of_minus_ten(x, mask):
    return np.where(mask.any(axis=-1, keepdims=True), by_logarithms(np.where(mask, x, -10)), 0)


def fill_of_minus_ten_thousand(x, mask):
    return by_logarithms(np.where(mask, x, -10000.0))


def mask_added(x, mask):
    return by_logarithms(x + (mask - 1) * 1e9)


def mask_added_as_it_is(x, mask):
    return by_logarithms(x + mask)


def infinity_multiplied(x, mask):
    return by_logarithms(x + (1 - mask) * -np.inf)


def removed(x, mask):
    return by_logarithms(x[mask])


def unstable_masked(x, mask):
    e = np.where(mask, np.exp(x), 0)
    return _guarded(e)


def maximum_of_hidden_too(x, mask):
    e = np.exp(x - x.max(axis=-1, keepdims=True)) * mask
    return _guarded(e)


def zero_for_hidden(x, mask):
    return by_logarithms(np.where(mask, x, 0))


def guarded(x, mask):
    s = np.where(mask, x, -np.inf)
    largest = s.max(axis=-1, keepdims=True)
    e = np.exp(s - np.where(np.isinf(largest), 0, largest))
    return _guarded(e)


def nan_to_zero(x, mask):
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(by_logarithms(np.where(mask, x, -np.inf)))


def fill_then_zero(x, mask):
    return np.where(mask, by_logarithms(np.where(mask, x, -1e9)), 0.0)


def row_of_visible_ones(x, mask):
    out = np.zeros_like(x)
    for index in np.ndindex(x.shape[:-1]):
        seen = x[index][mask[index]]
        if seen.size:
            out[(*index, mask[index])] = recursive(seen)
    return out


# --- fault_log_softmax ----------------------------------------------------------------------------
def nothing_shifted(x):
    total = np.exp(x).sum(axis=-1, keepdims=True)
    return x - np.log(total)


def total_shifted_twice(x):
    largest = x.max(axis=-1, keepdims=True)
    shifted = x - largest
    total = np.exp(shifted - largest).sum(axis=-1, keepdims=True)
    return shifted - np.log(total)


def shift_subtracted_again(x):
    largest = x.max(axis=-1, keepdims=True)
    total = np.exp(x).sum(axis=-1, keepdims=True)
    return x - np.log(total) - largest


def shift_in_the_wrong_term(x):
    largest = x.max(axis=-1, keepdims=True)
    shifted = x - largest
    total = np.exp(shifted).sum(axis=-1, keepdims=True)
    return x - np.log(total)


def maximum_over_everything(x):
    shifted = x - x.max()
    total = np.exp(shifted).sum(axis=-1, keepdims=True)
    return shifted - np.log(total)


def logarithm_removed(x):
    largest = x.max(axis=-1, keepdims=True)
    shifted = x - largest
    total = np.exp(shifted).sum(axis=-1, keepdims=True)
    return shifted - total


def mended(x):
    largest = x.max(axis=-1, keepdims=True)
    shifted = x - largest
    total = np.exp(shifted).sum(axis=-1, keepdims=True)
    return shifted - np.log(total)


def mended_at_the_end(x):
    largest = x.max(axis=-1, keepdims=True)
    total = np.exp(x - largest).sum(axis=-1, keepdims=True)
    return x - (largest + np.log(total))


WRONG = {
    "predict_shifted_softmax": [
        ([1000.125, 1000.25, 1000.625], "thousand-kept"), ([0, 0, 1], "winner-takes-all"),
        ([1 / 3, 1 / 3, 1 / 3], "all-alike"), ([math.nan, math.nan, math.nan], "overflow"),
        ([0.125, 0.25, 0.5], None), ([125, 250, 625], None), ([0, 0, 0], None),
        ([0.625, 0.25, 0.125], None), ([0.0, math.log(2), math.log(5)], None),
    ],
    "softmax": [
        (plain, "no-max-shift"), (largest_of_all, "global-max"), (columns, "wrong-axis"),
        (summed_over_everything, "global-sum"), (no_axis_anywhere, "global-sum"),
        (no_axis_anywhere_no_shift, "wrong-axis"), (axis_dropped, "keepdims-missing"),
        (shifted_by_the_mean, "not-the-maximum"), (shifted_by_the_minimum, "not-the-maximum"),
        (maximum_added, "no-max-shift"), (divided_by_the_maximum, "divided-by-maximum"),
        (shares_of_scores, "sum-normalised"), (standardised, None),
        (clipped_at_hundred, "clipped"), (with_an_epsilon, "no-max-shift"), (powers_of_two, None),
        (not_divided, "not-normalised"), (rounded, None), (in_place, "mutates-input"),
        (only_for_matrices, "raises"),
    ],
    "log_sum_exp": [
        (direct, "no-max-shift"), (maximum_lost, "max-not-added-back"),
        (maximum_subtracted_again, "max-subtracted-again"), (axis_kept, "axis-kept"),
        (logarithms_summed, "sum-of-logs"), (mean_of_exponentials, "mean-not-sum"),
        (one_number, "global-sum"), (global_shift, "global-max"), (first_axis, "wrong-axis"),
        (only_the_maximum, "maximum-alone"), (multiplied_by_the_maximum, None),
        (shapes_do_not_meet, "shapes-broadcast"), (to_base_two, "another-base"),
    ],
    "log_softmax": [
        (log_of_plain, "no-max-shift"), (log_of_stable, "log-of-softmax"),
        (log_with_epsilon, "log-of-softmax"), (not_shifted, "no-max-shift"),
        (logarithm_forgotten, "sum-not-logged"), (maximum_only_once, "scores-not-shifted"),
        (only_shifted, "not-normalised"), (log_of_columns, "wrong-axis"),
        (sign_turned, "wrong-sign"), (divided_by_the_logarithm, None),
        (log_with_global_maximum, "global-max"), (replaced_infinity, "log-of-softmax"),
    ],
    "temperature_softmax": [
        (times_temperature, "multiplied-by-temperature"), (temperature_ignored, "ignored"),
        (temperature_afterwards, "applied-after-softmax"),
        (temperature_afterwards_normalised, "ignored"), (root_of_temperature, None),
        (temperature_unstable, "no-max-shift"), (maximum_not_divided, "shift-not-divided"),
        (exponentials_divided, "ignored"), (temperature_subtracted, "ignored"),
        (temperature_in_columns, "wrong-axis"), (powered_weights, "powers-of-weights"),
        (powered_the_wrong_way, "multiplied-by-temperature"),
    ],
    "masked_softmax": [
        (weights_times_mask, "masked-after-softmax"),
        (weights_times_mask_divided, "renormalised-too-late"),
        (weights_times_mask_guarded, "renormalised-too-late"),
        (scores_multiplied, "scores-times-mask"),
        (scores_multiplied_then_weights, "scores-times-mask"),
        (hidden_where_true, "inverted-mask"), (empty_rows_forgotten, "nan-on-empty-row"),
        (huge_fill, "uniform-on-empty-row"), (smallest_float, "uniform-on-empty-row"),
        (fill_of_minus_ten, "finite-fill"), (fill_of_minus_ten_thousand, "finite-fill"),
        (mask_added, "uniform-on-empty-row"), (mask_added_as_it_is, None),
        (infinity_multiplied, "nan-from-zero-times-inf"), (removed, "wrong-shape"),
        (unstable_masked, "no-max-shift"), (maximum_of_hidden_too, "renormalised-too-late"),
        (zero_for_hidden, "scores-times-mask"),
    ],
    "fault_log_softmax": [
        (nothing_shifted, "no-max-shift"), (total_shifted_twice, "scores-not-shifted"),
        (shift_subtracted_again, "shift-half-used"),
        (shift_in_the_wrong_term, "scores-not-shifted"), (maximum_over_everything, "global-max"),
        (logarithm_removed, "sum-not-logged"), (log_of_stable, "log-of-softmax"),
    ],
}

RIGHT = {
    "predict_shifted_softmax": [[0.125, 0.25, 0.625], (0.13, 0.25, 0.63), [1 / 8, 2 / 8, 5 / 8]],
    "softmax": [recursive, along_rows, by_logarithms, reshaped],
    "log_sum_exp": [pairwise, one_after_the_other, squeezed],
    "log_softmax": [from_pairwise, from_log_sum_exp_of_float32, by_rows],
    "temperature_softmax": [warm, inverse_first, shifted_then_divided],
    "masked_softmax": [guarded, nan_to_zero, fill_then_zero, row_of_visible_ones],
    "fault_log_softmax": [mended, mended_at_the_end, from_pairwise],
}
