"""Answers to the exercises on the block, written from the prompts alone."""

import cmath
import math

import numpy as np

from attention_book import rotary, softmax


# --- rms_norm -------------------------------------------------------------------------------------
def layer_norm(x, gain, eps):
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + eps) * gain


def eps_after_the_root(x, gain, eps):
    rms = np.sqrt(np.mean(np.square(x), axis=1))
    return x / (rms[:, np.newaxis] + eps) * gain


def unit_length(x, gain, eps):
    return gain * x / np.sqrt(np.sum(x * x, axis=1, keepdims=True) + eps)


def over_the_tokens(x, gain, eps):
    return x / np.sqrt((x**2).mean(0) + eps) * gain


def forgets_keepdims(x, gain, eps):
    return x / np.sqrt((x**2).mean(1) + eps) * gain


def forgets_gain(x, gain, eps):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)


def forgets_eps(x, gain, eps):
    return gain * x / np.sqrt((x**2).mean(-1, keepdims=True))


def forgets_the_root(x, gain, eps):
    return gain * x / ((x**2).mean(-1, keepdims=True) + eps)


def gain_first(x, gain, eps):
    y = x * gain
    return y / np.sqrt((y**2).mean(-1, keepdims=True) + eps)


def whole_array(x, gain, eps):
    return x / np.sqrt(np.mean(x**2) + eps) * gain


def standard_deviation(x, gain, eps):
    return x / np.sqrt(x.std(axis=1, keepdims=True) ** 2 + eps) * gain


def by_the_norm_of_numpy(x, gain, eps):
    size = np.linalg.norm(x, axis=-1, keepdims=True) / math.sqrt(x.shape[-1])
    return x / np.hypot(size, math.sqrt(eps)) * gain


def with_power(x, gain, eps):
    return x * (np.power(x, 2).mean(axis=-1, keepdims=True) + eps) ** -0.5 * gain


def row_lists(x, gain, eps):
    out = []
    for row in x:
        scale = 1 / math.sqrt(sum(a**2 for a in row) / len(row) + eps)
        out.append([a * scale * g for a, g in zip(row, gain, strict=True)])
    return out


def diagonal_gain(x, gain, eps):
    return (x.T / np.sqrt((x.T**2).mean(axis=0) + eps)).T @ np.diag(gain)


# --- rotary ---------------------------------------------------------------------------------------
def cos_sin(x, positions, sign=1):
    d = x.shape[1]
    freq = 1.0 / 10000 ** (np.arange(0, d, 2) / d)
    angle = np.asarray(positions)[:, None] * freq[None, :]
    return np.cos(angle), sign * np.sin(angle)


def rotate_half_as_in_libraries(x, positions):
    cos, sin = cos_sin(x, positions)
    cos, sin = np.concatenate([cos, cos], 1), np.concatenate([sin, sin], 1)
    half = x.shape[1] // 2
    rotated = np.concatenate([-x[:, half:], x[:, :half]], axis=1)
    return x * cos + rotated * sin


def counts_rows(x, positions):
    return pairs_in_loops(x, range(len(x)))


def other_way_round(x, positions):
    cos, sin = cos_sin(x, positions, -1)
    return woven(x[:, ::2] * cos - x[:, 1::2] * sin, x[:, ::2] * sin + x[:, 1::2] * cos)


def woven(a, b):
    return np.stack([a, b], axis=2).reshape(len(a), -1)


def one_frequency(x, positions):
    cos, sin = np.cos(positions)[:, None], np.sin(positions)[:, None]
    return woven(x[:, ::2] * cos - x[:, 1::2] * sin, x[:, ::2] * sin + x[:, 1::2] * cos)


def fast_pairs_last(x, positions):
    angle = np.outer(positions, 10000 ** (np.arange(0, x.shape[1], 2) / x.shape[1]))
    a, b = x[:, ::2], x[:, 1::2]
    return woven(a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle))


def pair_number_over_d(x, positions):
    angle = np.outer(positions, 10000.0 ** -(np.arange(x.shape[1] // 2) / x.shape[1]))
    a, b = x[:, ::2], x[:, 1::2]
    return woven(a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle))


def joins_at_the_end(x, positions):
    cos, sin = cos_sin(x, positions)
    a, b = x[:, ::2], x[:, 1::2]
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=1)


def writes_over_what_it_reads(x, positions):
    cos, sin = cos_sin(x, positions)
    y = x.copy().astype(float)
    y[:, ::2] = y[:, ::2] * cos - y[:, 1::2] * sin
    y[:, 1::2] = y[:, ::2] * sin + y[:, 1::2] * cos
    return y


def adds_sinusoids(x, positions):
    cos, sin = cos_sin(x, positions)
    return x + woven(sin, cos)


def calls_the_books_own(x, positions):
    return rotary(x, positions)


def pairs_in_loops(x, positions):
    out = np.array(x, float)
    for row, t in zip(out, positions, strict=True):
        for i in range(len(row) // 2):
            angle = t * 10000 ** (-2 * i / len(row))
            z = complex(row[2 * i], row[2 * i + 1]) * cmath.rect(1, angle)
            row[2 * i], row[2 * i + 1] = z.real, z.imag
    return out


def woven_at_the_end(x, positions):
    cos, sin = cos_sin(x, positions)
    a, b = x[:, ::2], x[:, 1::2]
    return woven(a * cos - b * sin, b * cos + a * sin)


def with_einsum(x, positions):
    cos, sin = cos_sin(x, positions)
    turn = np.array([[cos, -sin], [sin, cos]])
    return np.einsum("abnp,npb->npa", turn, x.reshape(len(x), -1, 2)).reshape(x.shape)


# --- block ----------------------------------------------------------------------------------------
def as_in_2017(x, attend, feed_forward, norm):
    x = norm(x + attend(x))
    return norm(x + feed_forward(x))


def without_sums(x, attend, feed_forward, norm):
    x = attend(norm(x))
    return feed_forward(norm(x))


def second_sum_forgotten(x, attend, feed_forward, norm):
    x = x + attend(norm(x))
    return feed_forward(norm(x))


def keeps_the_normed(x, attend, feed_forward, norm):
    x = norm(x)
    x = x + attend(x)
    x = norm(x)
    return x + feed_forward(x)


def wrong_order(x, attend, feed_forward, norm):
    x = x + feed_forward(norm(x))
    return x + attend(norm(x))


def parallel(x, attend, feed_forward, norm):
    n = norm(x)
    return x + attend(n) + feed_forward(n)


def adds_the_first_x(x, attend, feed_forward, norm):
    h = x + attend(norm(x))
    return x + feed_forward(norm(h))


def norms_at_the_end_too(x, attend, feed_forward, norm):
    x = x + attend(norm(x))
    x = x + feed_forward(norm(x))
    return norm(x)


def no_norms(x, attend, feed_forward, norm):
    x = x + attend(x)
    return x + feed_forward(x)


def one_line(x, attend, feed_forward, norm):
    return (h := x + attend(norm(x))) + feed_forward(norm(h))


def names_for_everything(x, attend, feed_forward, norm):
    residual = x
    out = attend(norm(residual))
    out = out + residual
    residual = out
    out = feed_forward(norm(out))
    return out + residual


def inner_function(x, attend, feed_forward, norm):
    def sublayer(x, part):
        return np.asarray(x) + np.asarray(part(norm(x)))

    return sublayer(sublayer(x, attend), feed_forward)


# --- fault_decode_positions -----------------------------------------------------------------------
def decode_from(q, k, turned_past, q_start, k_start):
    q = pairs_in_loops(q, q_start + np.arange(len(q)))
    k = pairs_in_loops(k, k_start + np.arange(len(k)))
    return q @ np.vstack([turned_past, k]).T


def still_zero(q, k, turned_past):
    return decode_from(q, k, turned_past, 0, 0)


def one_ahead(q, k, turned_past):
    return decode_from(q, k, turned_past, len(turned_past) + 1, len(turned_past) + 1)


def one_behind(q, k, turned_past):
    return decode_from(q, k, turned_past, len(turned_past) - 1, len(turned_past) - 1)


def queries_alone(q, k, turned_past):
    return decode_from(q, k, turned_past, len(turned_past), 0)


def keys_alone(q, k, turned_past):
    return decode_from(q, k, turned_past, 0, len(turned_past))


def turns_the_past_too(q, k, turned_past):
    past = len(turned_past)
    return decode_from(q, k, pairs_in_loops(turned_past, range(past)), past, past)


def weights_and_not_scores(q, k, turned_past):
    return softmax(counted_on(q, k, turned_past))


def counted_on(q, k, turned_past):
    return decode_from(q, k, turned_past, len(turned_past), len(turned_past))


def arange_with_two_ends(q, k, turned_past):
    past, n = turned_past.shape[0], q.shape[0]
    q, k = (woven_at_the_end(x, np.arange(past, past + n)) for x in (q, k))
    return np.concatenate([q @ turned_past.T, q @ k.T], axis=1)


def last_of_all(q, k, turned_past):
    everywhere = np.arange(len(turned_past) + len(k))
    places = everywhere[-len(k):]
    q, k = with_einsum(q, places), with_einsum(k, places)
    return [[float(a @ b) for b in (*turned_past, *k)] for a in q]


WRONG = {
    "rms_norm": [
        (layer_norm, "subtracts-mean"), (eps_after_the_root, "epsilon-outside-sqrt"),
        (unit_length, "sum-not-mean"), (over_the_tokens, "wrong-axis"),
        (forgets_keepdims, "no-keepdims"), (forgets_gain, "no-gain"), (forgets_eps, "no-epsilon"),
        (forgets_the_root, "no-root"), (gain_first, "gain-before-norm"),
        (whole_array, "one-for-all"), (standard_deviation, "subtracts-mean"),
    ],
    "rotary": [
        (rotate_half_as_in_libraries, "halves-not-pairs"), (counts_rows, "ignores-positions"),
        (other_way_round, "clockwise"), (one_frequency, "same-frequency"),
        (fast_pairs_last, "frequency-upside-down"), (pair_number_over_d, "frequency-of-i"),
        (joins_at_the_end, "pairs-not-rejoined"), (writes_over_what_it_reads, "turned-in-place"),
        (adds_sinusoids, "position-added"), (calls_the_books_own, "calls-the-package"),
    ],
    "block": [
        (as_in_2017, "post-norm"), (without_sums, "no-residual"),
        (second_sum_forgotten, "residual-missing-once"), (keeps_the_normed, "norm-on-residual"),
        (wrong_order, "feed-forward-before-attention"), (parallel, "side-by-side"),
        (adds_the_first_x, "residual-from-the-start"), (norms_at_the_end_too, "normed-twice"),
        (no_norms, "no-norm"),
    ],
    "predict_block_weights": [
        (1488, "square-projections"), (1440, "no-output-projection"), (2064, "ignores-shared-kv"),
        (1320, "gate-forgotten"), (1656, "gains-forgotten"), (1668, "one-norm"), (576, None),
        ("1680 weights", None),
    ],
    "fault_decode_positions": [
        (still_zero, "counts-from-zero"), (one_ahead, "one-too-many"), (one_behind, "one-too-few"),
        (queries_alone, "only-queries-moved"), (keys_alone, "only-keys-moved"),
        (turns_the_past_too, "past-turned-again"), (weights_and_not_scores, None),
    ],
}
RIGHT = {
    "rms_norm": [by_the_norm_of_numpy, with_power, row_lists, diagonal_gain],
    "rotary": [pairs_in_loops, woven_at_the_end, with_einsum],
    "block": [one_line, names_for_everything, inner_function],
    "predict_block_weights": [1680, 480 + 96 + 1080 + 24, np.int32(1680)],
    "fault_decode_positions": [counted_on, arange_with_two_ends, last_of_all],
}
