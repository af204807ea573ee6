"""Answers to the exercises on chunked attention, written from their prompts alone."""
# ruff: noqa: E741 - l is the chapter's name for the running sum

import math

import numpy as np

import attention_book


# --- score_matrix_bytes ---------------------------------------------------------------------------
def one_vector_for_each_head(n, n_heads, bytes_per_value):
    return n * n_heads * bytes_per_value


def heads_forgotten(n, n_heads, bytes_per_value):
    return n**2 * bytes_per_value


def bits_by_habit(n, n_heads, bytes_per_value):
    return n * n * n_heads * bytes_per_value * 8


def divided_by_eight(n, n_heads, bytes_per_value):
    return n * n * n_heads * bytes_per_value // 8


def float32_for_granted(n, n_heads, bytes_per_value):
    return 4 * n_heads * n**2


def causal_half(n, n_heads, bytes_per_value):
    return n_heads * bytes_per_value * sum(range(1, n + 1))


def in_mebibytes(n, n_heads, bytes_per_value):
    return n * n * n_heads * bytes_per_value / 2**20


def caret_for_power(n, n_heads, bytes_per_value):
    return (n ^ 2) * n_heads * bytes_per_value


def square_of_all(n, n_heads, bytes_per_value):
    return (n * n_heads * bytes_per_value) ** 2


def keys_and_values(n, n_heads, bytes_per_value):
    return 2 * n * n_heads * bytes_per_value


def bytes_as_text(n, n_heads, bytes_per_value):
    return f"{n * n * n_heads * bytes_per_value} bytes"


def size_printed(n, n_heads, bytes_per_value):
    print(n * n * n_heads * bytes_per_value)


def by_power(n, n_heads, bytes_per_value):
    return pow(n, 2) * n_heads * bytes_per_value


def head_after_head(n, n_heads, bytes_per_value):
    total = 0
    for _ in range(n_heads):
        total += n * n * bytes_per_value
    return total


def by_numpy(n, n_heads, bytes_per_value):
    return np.prod([n, n, n_heads, bytes_per_value], dtype=np.int64)


# --- online_softmax_step --------------------------------------------------------------------------
def acc_forgotten(m, l, acc, scores, v):
    new_m = np.maximum(m, np.max(scores, axis=1))
    e = np.exp(scores - new_m[:, None])
    new_l = np.exp(m - new_m) * l + np.sum(e, axis=1)
    return new_m, new_l, acc + e @ v


def l_forgotten(m, l, acc, scores, v):
    new_m = np.maximum(m, np.max(scores, axis=1))
    e = np.exp(scores - new_m[:, None])
    return new_m, l + np.sum(e, axis=1), np.exp(m - new_m)[:, None] * acc + e @ v


def only_added(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(1))
    e = np.exp(scores - new_m[:, None])
    return new_m, l + e.sum(1), acc + e @ v


def chunk_maximum(m, l, acc, scores, v):
    new_m = scores.max(axis=1)
    c = np.exp(m - new_m)
    e = np.exp(scores - new_m[:, None])
    return new_m, c * l + e.sum(axis=1), c[:, None] * acc + e @ v


def mixture_returned(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(axis=1))
    c = np.exp(m - new_m)
    e = np.exp(scores - new_m[:, None])
    l = c * l + e.sum(axis=1)
    acc = c[:, None] * acc + e @ v
    return new_m, l, acc / l[:, None]


def chunk_softmax_first(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(axis=1))
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    w = e / e.sum(axis=1, keepdims=True)
    c = np.exp(m - new_m)
    return new_m, c * l + e.sum(axis=1), c[:, None] * acc + w @ v


def factor_turned(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(axis=1))
    c = np.exp(new_m - m)
    e = np.exp(scores - new_m[:, None])
    return new_m, c * l + e.sum(axis=1), c[:, None] * acc + e @ v


def divided_by_factor(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(axis=1))
    c = np.exp(m - new_m)
    e = np.exp(scores - new_m[:, None])
    return new_m, l / c + e.sum(axis=1), acc / c[:, None] + e @ v


def factor_is_a_difference(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(axis=1))
    c = m - new_m
    e = np.exp(scores - new_m[:, None])
    return new_m, c * l + e.sum(axis=1), c[:, None] * acc + e @ v


def no_column(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(axis=1))
    c = np.exp(m - new_m)
    e = np.exp(scores - new_m)
    return new_m, c * l + e.sum(axis=1), c * acc + e @ v


def no_column_for_acc(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(axis=1))
    c = np.exp(m - new_m)
    e = np.exp(scores - new_m[:, None])
    return new_m, c * l + e.sum(axis=1), c * acc + e @ v


def shift_by_the_old_one(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(axis=1))
    c = np.exp(m - new_m)
    e = np.exp(scores - m[:, None])
    return new_m, c * l + e.sum(axis=1), c[:, None] * acc + e @ v


def one_number_for_all(m, l, acc, scores, v):
    new_m = np.maximum(m, np.max(scores))
    c = np.exp(m - new_m)
    e = np.exp(scores - new_m[:, None])
    return new_m, c * l + e.sum(axis=1), c[:, None] * acc + e @ v


def plain_exponentials(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(axis=1))
    e = np.exp(scores)
    return new_m, l + e.sum(axis=1), acc + e @ v


def all_times_factor(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(axis=1))
    e = np.exp(scores - new_m[:, None])
    l = l + e.sum(axis=1)
    acc = acc + e @ v
    c = np.exp(m - new_m)
    return new_m, l * c, acc * c[:, None]


def maximum_overwritten(m, l, acc, scores, v):
    m = np.maximum(m, scores.max(axis=1))
    c = np.exp(m - m)
    e = np.exp(scores - m[:, None])
    return m, c * l + e.sum(axis=1), c[:, None] * acc + e @ v


def forgot_to_return_the_new_one(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(axis=1))
    c = np.exp(m - new_m)
    e = np.exp(scores - new_m[:, None])
    return m, c * l + e.sum(axis=1), c[:, None] * acc + e @ v


def chunk_shift_and_old_factor(m, l, acc, scores, v):
    top = scores.max(axis=1)
    new_m = np.maximum(m, top)
    c = np.exp(m - new_m)
    e = np.exp(scores - top[:, None])
    return new_m, c * l + e.sum(axis=1), c[:, None] * acc + e @ v


def starts_over(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(axis=1))
    e = np.exp(scores - new_m[:, None])
    return new_m, e.sum(axis=1), e @ v


def sum_over_everything(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(axis=1))
    c = np.exp(m - new_m)
    e = np.exp(scores - new_m[:, None])
    return new_m, c * l + np.sum(e), c[:, None] * acc + e @ v


def maximum_over_queries(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(axis=0))
    c = np.exp(m - new_m)
    e = np.exp(scores - new_m[:, None])
    return new_m, c * l + e.sum(axis=1), c[:, None] * acc + e @ v


def mean_of_terms(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(axis=1))
    c = np.exp(m - new_m)
    e = np.exp(scores - new_m[:, None])
    return new_m, c * l + e.mean(axis=1), c[:, None] * acc + e @ v


def in_place(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(axis=1))
    c = np.exp(m - new_m)
    e = np.exp(scores - new_m[:, None])
    l *= c
    l += e.sum(axis=1)
    acc *= c[:, None]
    acc += e @ v
    return new_m, l, acc


def builtin_max(m, l, acc, scores, v):
    new_m = max(m, scores.max(axis=1))
    c = np.exp(m - new_m)
    e = np.exp(scores - new_m[:, None])
    return new_m, c * l + e.sum(axis=1), c[:, None] * acc + e @ v


def two_results(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(axis=1))
    c = np.exp(m - new_m)
    e = np.exp(scores - new_m[:, None])
    return c * l + e.sum(axis=1), c[:, None] * acc + e @ v


def key_after_key_without_acc(m, l, acc, scores, v):
    m, l, acc = m.copy(), l.copy(), acc.copy()
    for i in range(len(m)):
        for j in range(len(v)):
            new = max(m[i], scores[i, j])
            w = np.exp(scores[i, j] - new)
            l[i] = l[i] * np.exp(m[i] - new) + w
            acc[i] = acc[i] + w * v[j]
            m[i] = new
    return m, l, acc


def m_overwritten_in_the_loop(m, l, acc, scores, v):
    m, l, acc = m.copy(), l.copy(), acc.copy()
    for i in range(len(m)):
        for j in range(len(v)):
            m[i] = max(m[i], scores[i, j])
            w, c = np.exp(scores[i, j] - m[i]), np.exp(m[i] - m[i])
            l[i] = l[i] * c + w
            acc[i] = acc[i] * c + w * v[j]
    return m, l, acc


def old_ones_fitted_to_the_chunk(m, l, acc, scores, v):
    top = scores.max(1)
    new_m = np.maximum(m, top)
    e, c = np.exp(scores - new_m[:, None]), np.exp(m - top)
    return new_m, c * l + e.sum(1), c[:, None] * acc + e @ v


def exponentials_turned(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(1))
    e, c = np.exp(scores - new_m[:, None]), np.exp(m - new_m)
    return new_m, c * l + e.sum(1), c[:, None] * acc + e.T @ v


def quotients_of_exponentials(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(1))
    e, c = np.exp(scores) / np.exp(new_m)[:, None], np.exp(m - new_m)
    return new_m, c * l + e.sum(1), c[:, None] * acc + e @ v


def smallest_so_far(m, l, acc, scores, v):
    new_m = np.minimum(m, scores.min(1))
    e, c = np.exp(scores - new_m[:, None]), np.exp(m - new_m)
    return new_m, c * l + e.sum(1), c[:, None] * acc + e @ v


def powers_of_two(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(1))
    e, c = 2 ** (scores - new_m[:, None]), 2 ** (m - new_m)
    return new_m, c * l + e.sum(1), c[:, None] * acc + e @ v


def columns_returned(m, l, acc, scores, v):
    new_m = np.maximum(m[:, None], scores.max(1, keepdims=True))
    e, c = np.exp(scores - new_m), np.exp(m[:, None] - new_m)
    return new_m, c * l[:, None] + e.sum(1, keepdims=True), c * acc + e @ v


def if_it_rises(m, l, acc, scores, v):
    m, l, acc = m.copy(), l.copy(), acc.copy()
    for i in range(len(m)):
        top = scores[i].max()
        if top > m[i]:
            l[i] *= np.exp(m[i] - top)
            acc[i] *= np.exp(m[i] - top)
            m[i] = top
        for j in range(len(v)):
            w = np.exp(scores[i, j] - m[i])
            l[i] += w
            acc[i] += w * v[j]
    return m, l, acc


def kept_axes(m, l, acc, scores, v):
    m, l = m[:, np.newaxis], l[:, np.newaxis]
    new_m = np.max(np.hstack([m, scores]), axis=1, keepdims=True)
    c, e = np.exp(m - new_m), np.exp(scores - new_m)
    return ((new_m[:, 0]), (c * l + e.sum(axis=1, keepdims=True))[:, 0],
            c * acc + np.einsum("qc,cd->qd", e, v))


def sum_as_a_column(m, l, acc, scores, v):
    new_m = np.maximum(m, scores.max(axis=-1))
    both = np.column_stack([l, acc])  # the sum is the mixture of ones
    ones_and_v = np.column_stack([np.ones(len(v)), v])
    both = (both.T * np.exp(m - new_m)).T + np.exp(scores.T - new_m).T @ ones_and_v
    return new_m, both[:, 0], both[:, 1:]


# --- fault_three_workers --------------------------------------------------------------------------
def _workers(q, k, v):
    found = []
    for keys in np.array_split(np.arange(len(k)), 3):
        s = q @ k[keys].T / np.sqrt(q.shape[1])
        m = s.max(axis=1, keepdims=True)
        p = np.exp(s - m)
        found.append((m, p.sum(axis=1, keepdims=True), p @ v[keys]))
    return found, np.max([worker[0] for worker in found], axis=0)


def nothing_mended(q, k, v):
    found, m = _workers(q, k, v)
    l = sum(own_l for _, own_l, _ in found)
    acc = sum(np.exp(own_m - m) * own_acc for own_m, _, own_acc in found)
    return acc / l


def both_left_alone(q, k, v):
    found, _ = _workers(q, k, v)
    return sum(acc for _, _, acc in found) / sum(l for _, l, _ in found)


def wrong_one_mended(q, k, v):
    found, m = _workers(q, k, v)
    l = sum(np.exp(own_m - m) * own_l for own_m, own_l, _ in found)
    return sum(own_acc for _, _, own_acc in found) / l


def turned_around(q, k, v):
    found, m = _workers(q, k, v)
    l = sum(np.exp(m - own_m) * own_l for own_m, own_l, _ in found)
    acc = sum(np.exp(own_m - m) * own_acc for own_m, _, own_acc in found)
    return acc / l


def own_mixtures_averaged(q, k, v):
    found, _ = _workers(q, k, v)
    return np.mean([acc / l for _, l, acc in found], axis=0)


def own_mixtures_with_factor(q, k, v):
    found, m = _workers(q, k, v)
    return sum(np.exp(own_m - m) * acc / l for own_m, l, acc in found)


def exponential_of_the_maximum(q, k, v):
    found, _ = _workers(q, k, v)
    l = sum(np.exp(own_m) * own_l for own_m, own_l, _ in found)
    acc = sum(np.exp(own_m) * own_acc for own_m, _, own_acc in found)
    return acc / l


def only_l_by_the_maximum(q, k, v):
    found, m = _workers(q, k, v)
    l = sum(np.exp(own_m) * own_l for own_m, own_l, _ in found)
    acc = sum(np.exp(own_m - m) * own_acc for own_m, _, own_acc in found)
    return acc / l


def exponential_forgotten(q, k, v):
    found, m = _workers(q, k, v)
    l = sum((own_m - m) * own_l for own_m, own_l, _ in found)
    acc = sum(np.exp(own_m - m) * own_acc for own_m, _, own_acc in found)
    return acc / l


def largest_sum(q, k, v):
    found, m = _workers(q, k, v)
    l = np.max([own_l for _, own_l, _ in found], axis=0)
    acc = sum(np.exp(own_m - m) * own_acc for own_m, _, own_acc in found)
    return acc / l


def sum_of_all_axes(q, k, v):
    found, m = _workers(q, k, v)
    l = np.sum([np.exp(own_m - m) * own_l for own_m, own_l, _ in found])
    acc = sum(np.exp(own_m - m) * own_acc for own_m, _, own_acc in found)
    return acc / l


def largest_of_all_queries(q, k, v):
    found, _ = _workers(q, k, v)
    m = np.max([own_m for own_m, _, _ in found])
    l = sum(np.exp(own_m - m) * own_l for own_m, own_l, _ in found)
    return sum(np.exp(own_m - m) * own_acc for own_m, _, own_acc in found) / l


def logarithms_without_shift(q, k, v):
    found, _ = _workers(q, k, v)
    shares = [np.exp(own_m + np.log(own_l)) for own_m, own_l, _ in found]
    return sum(share * acc / l for share, (_, l, acc) in zip(shares, found, strict=True)) / sum(
        shares)


def last_worker_in_the_factor(q, k, v):
    found, m = _workers(q, k, v)
    own_m = found[-1][0]
    l = sum(np.exp(own_m - m) * own_l for _, own_l, _ in found)
    return sum(np.exp(own_m - m) * own_acc for own_m, _, own_acc in found) / l


def mended(q, k, v):
    found, m = _workers(q, k, v)
    l = sum(own_l * np.exp(own_m - m) for own_m, own_l, _ in found)
    acc = sum(np.exp(own_m - m) * own_acc for own_m, _, own_acc in found)
    return acc / l


def one_maximum_first(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[1])
    m = s.max(axis=1, keepdims=True)
    l = acc = 0
    for keys in np.array_split(np.arange(len(k)), 3):
        p = np.exp(s[:, keys] - m)
        l = l + p.sum(axis=1, keepdims=True)
        acc = acc + p @ v[keys]
    return acc / l


def one_after_another(q, k, v):
    found, _ = _workers(q, k, v)
    m, l, acc = found[0]
    for own_m, own_l, own_acc in found[1:]:
        new = np.maximum(m, own_m)
        l = l * np.exp(m - new) + own_l * np.exp(own_m - new)
        acc = acc * np.exp(m - new) + own_acc * np.exp(own_m - new)
        m = new
    return acc / l


# --- chunked_attention ----------------------------------------------------------------------------
def _softmax(s):
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def _start(q, v):
    return np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), v.shape[1]))


def _read(m, l, acc, s, v):
    m_new = np.maximum(m, s.max(axis=1))
    c, p = np.exp(m - m_new), np.exp(s - m_new[:, None])
    return m_new, l * c + p.sum(axis=1), acc * c[:, None] + p @ v


def table_after_all(q, k, v, chunk):
    return _softmax(q @ k.T / np.sqrt(q.shape[1])) @ v


def chunks_of_scores_joined(q, k, v, chunk):
    parts = []
    for i in range(0, len(k), chunk):
        parts.append(q @ k[i:i + chunk].T / np.sqrt(q.shape[1]))
    return _softmax(np.hstack(parts)) @ v


def package_attention(q, k, v, chunk):
    return attention_book.attention(q, k, v)


def integer_number_of_chunks(q, k, v, chunk):
    m, l, acc = _start(q, v)
    for i in range(len(k) // chunk):
        keys = slice(i * chunk, (i + 1) * chunk)
        m, l, acc = _read(m, l, acc, q @ k[keys].T / np.sqrt(q.shape[1]), v[keys])
    return acc / l[:, None]


def stops_before_the_last(q, k, v, chunk):
    m, l, acc = _start(q, v)
    i = 0
    while i + chunk < len(k):
        m, l, acc = _read(m, l, acc, q @ k[i:i + chunk].T / np.sqrt(q.shape[1]), v[i:i + chunk])
        i += chunk
    return acc / l[:, None]


def mean_of_attentions(q, k, v, chunk):
    outs = [attention_book.attention(q, k[i:i + chunk], v[i:i + chunk])
            for i in range(0, len(k), chunk)]
    return np.mean(outs, axis=0)


def sum_of_attentions(q, k, v, chunk):
    out = np.zeros((len(q), v.shape[1]))
    for i in range(0, len(k), chunk):
        out += _softmax(q @ k[i:i + chunk].T / np.sqrt(q.shape[1])) @ v[i:i + chunk]
    return out


def returns_in_the_loop(q, k, v, chunk):
    m, l, acc = _start(q, v)
    for i in range(0, len(k), chunk):
        m, l, acc = _read(m, l, acc, q @ k[i:i + chunk].T / np.sqrt(q.shape[1]), v[i:i + chunk])
        return acc / l[:, None]


def starts_in_the_loop(q, k, v, chunk):
    for i in range(0, len(k), chunk):
        m, l, acc = _start(q, v)
        m, l, acc = _read(m, l, acc, q @ k[i:i + chunk].T / np.sqrt(q.shape[1]), v[i:i + chunk])
    return acc / l[:, None]


def never_repaired(q, k, v, chunk):
    m, l, acc = _start(q, v)
    for i in range(0, len(k), chunk):
        s = q @ k[i:i + chunk].T / np.sqrt(q.shape[1])
        m = np.maximum(m, s.max(axis=1))
        p = np.exp(s - m[:, None])
        l += p.sum(axis=1)
        acc += p @ v[i:i + chunk]
    return acc / l[:, None]


def own_maximum_each(q, k, v, chunk):
    l, acc = 0, 0
    for i in range(0, len(k), chunk):
        s = q @ k[i:i + chunk].T / np.sqrt(q.shape[1])
        p = np.exp(s - s.max(axis=1, keepdims=True))
        l = l + p.sum(axis=1, keepdims=True)
        acc = acc + p @ v[i:i + chunk]
    return acc / l


def sums_without_maximum(q, k, v, chunk):
    l, acc = 0, 0
    for i in range(0, len(k), chunk):
        p = np.exp(q @ k[i:i + chunk].T / np.sqrt(q.shape[1]))
        l = l + p.sum(axis=1, keepdims=True)
        acc = acc + p @ v[i:i + chunk]
    return acc / l


def scale_forgotten(q, k, v, chunk):
    m, l, acc = _start(q, v)
    for i in range(0, len(k), chunk):
        m, l, acc = _read(m, l, acc, q @ k[i:i + chunk].T, v[i:i + chunk])
    return acc / l[:, None]


def scaled_by_number_of_keys(q, k, v, chunk):
    m, l, acc = _start(q, v)
    for i in range(0, len(k), chunk):
        m, l, acc = _read(m, l, acc, q @ k[i:i + chunk].T / np.sqrt(len(k)), v[i:i + chunk])
    return acc / l[:, None]


def scaled_by_chunk(q, k, v, chunk):
    m, l, acc = _start(q, v)
    for i in range(0, len(k), chunk):
        m, l, acc = _read(m, l, acc, q @ k[i:i + chunk].T / np.sqrt(chunk), v[i:i + chunk])
    return acc / l[:, None]


def zeros_at_the_start(q, k, v, chunk):
    m, l, acc = np.zeros(len(q)), np.zeros(len(q)), np.zeros((len(q), v.shape[1]))
    for i in range(0, len(k), chunk):
        m, l, acc = _read(m, l, acc, q @ k[i:i + chunk].T / np.sqrt(q.shape[1]), v[i:i + chunk])
    return acc / l[:, None]


def division_forgotten(q, k, v, chunk):
    m, l, acc = _start(q, v)
    for i in range(0, len(k), chunk):
        m, l, acc = _read(m, l, acc, q @ k[i:i + chunk].T / np.sqrt(q.shape[1]), v[i:i + chunk])
    return acc


def division_in_the_loop(q, k, v, chunk):
    m, l, acc = _start(q, v)
    for i in range(0, len(k), chunk):
        m, l, acc = _read(m, l, acc, q @ k[i:i + chunk].T / np.sqrt(q.shape[1]), v[i:i + chunk])
        acc = acc / l[:, None]
    return acc


def one_maximum(q, k, v, chunk):
    m, l, acc = -np.inf, 0, 0
    for i in range(0, len(k), chunk):
        s = q @ k[i:i + chunk].T / np.sqrt(q.shape[1])
        m_new = max(m, s.max())
        p = np.exp(s - m_new)
        l = l * np.exp(m - m_new) + p.sum(axis=1)
        acc = acc * np.exp(m - m_new) + p @ v[i:i + chunk]
        m = m_new
    return acc / l[:, None]


def queries_and_keys_together(q, k, v, chunk):
    out = []
    for i in range(0, len(q), chunk):
        out.append(attention_book.attention(q[i:i + chunk], k[i:i + chunk], v[i:i + chunk]))
    return np.vstack(out)


def keys_reshaped(q, k, v, chunk):
    m, l, acc = _start(q, v)
    for k_c, v_c in zip(k.reshape(-1, chunk, k.shape[1]), v.reshape(-1, chunk, v.shape[1]),
                        strict=True):
        m, l, acc = _read(m, l, acc, q @ k_c.T / np.sqrt(q.shape[1]), v_c)
    return acc / l[:, None]


def zeros_appended(q, k, v, chunk):
    missing = -len(k) % chunk
    k = np.vstack([k, np.zeros((missing, k.shape[1]))])
    v = np.vstack([v, np.zeros((missing, v.shape[1]))])
    m, l, acc = _start(q, v)
    for i in range(0, len(k), chunk):
        m, l, acc = _read(m, l, acc, q @ k[i:i + chunk].T / np.sqrt(q.shape[1]), v[i:i + chunk])
    return acc / l[:, None]


def all_values_each_time(q, k, v, chunk):
    m, l, acc = _start(q, v)
    for i in range(0, len(k), chunk):
        m, l, acc = _read(m, l, acc, q @ k[i:i + chunk].T / np.sqrt(q.shape[1]), v)
    return acc / l[:, None]


def package_chunks(q, k, v, chunk):
    return attention_book.chunked.chunked_attention(q, k, v, key_chunk=chunk)


def endless(q, k, v, chunk):
    i = 0
    while i < len(k):
        s = q @ k[i:i + chunk].T
    return s


def m_thrown_away(q, k, v, chunk):
    m, l, acc = _start(q, v)
    for i in range(0, len(k), chunk):
        s = q @ k[i:i + chunk].T / np.sqrt(q.shape[1])
        _, l, acc = _read(m, l, acc, s, v[i:i + chunk])
    return acc / l[:, None]


def counting_queries(q, k, v, chunk):
    m, l, acc = _start(q, v)
    for i in range(0, len(q), chunk):
        s = q @ k[i:i + chunk].T / np.sqrt(q.shape[1])
        m, l, acc = _read(m, l, acc, s, v[i:i + chunk])
    return acc / l[:, None]


def l_without_axis(q, k, v, chunk):
    m, l, acc = _start(q, v)
    for i in range(0, len(k), chunk):
        s = q @ k[i:i + chunk].T / np.sqrt(q.shape[1])
        m, l, acc = _read(m, l, acc, s, v[i:i + chunk])
    return acc / l


def slices_too_short(q, k, v, chunk):
    m, l, acc = _start(q, v)
    for i in range(0, len(k), chunk):
        keys = slice(i, i + chunk - 1)
        m, l, acc = _read(m, l, acc, q @ k[keys].T / np.sqrt(q.shape[1]), v[keys])
    return acc / l[:, None]


def one_key_further_each_time(q, k, v, chunk):
    m, l, acc = _start(q, v)
    for i in range(len(k)):
        keys = slice(i, i + chunk)
        m, l, acc = _read(m, l, acc, q @ k[keys].T / np.sqrt(q.shape[1]), v[keys])
    return acc / l[:, None]


def weights_first_then_chunks(q, k, v, chunk):
    w = _softmax(q @ k.T / np.sqrt(q.shape[1]))
    return sum(w[:, i:i + chunk] @ v[i:i + chunk] for i in range(0, len(k), chunk))


def dense_and_unscaled(q, k, v, chunk):
    return _softmax(q @ k.T) @ v


def unscaled_and_never_repaired(q, k, v, chunk):
    return never_repaired(q * np.sqrt(q.shape[1]), k, v, chunk)


def turned_around_after_the_first(q, k, v, chunk):
    m = None
    for i in range(0, len(k), chunk):
        s = q @ k[i:i + chunk].T / np.sqrt(q.shape[1])
        if m is None:
            m = s.max(axis=1, keepdims=True)
            l, acc = np.exp(s - m).sum(axis=1, keepdims=True), np.exp(s - m) @ v[i:i + chunk]
            continue
        m_new = np.maximum(m, s.max(axis=1, keepdims=True))
        c, p = np.exp(m_new - m), np.exp(s - m_new)
        l, acc, m = c * l + p.sum(axis=1, keepdims=True), c * acc + p @ v[i:i + chunk], m_new
    return acc / l


def running_mixture(q, k, v, chunk):
    m, l, acc = _start(q, v)
    for i in range(0, len(k), chunk):
        s = q @ k[i:i + chunk].T / np.sqrt(q.shape[1])
        m, l, acc = _read(m, l, acc, s, v[i:i + chunk])
        acc, l = acc / l[:, None], np.ones(len(q))
    return acc


def very_low_start(q, k, v, chunk):
    _, l, acc = _start(q, v)
    m = np.full(len(q), -1000.0)
    for i in range(0, len(k), chunk):
        s = q @ k[i:i + chunk].T / np.sqrt(q.shape[1])
        m, l, acc = _read(m, l, acc, s, v[i:i + chunk])
    return acc / l[:, None]


def nearest_key(q, k, v, chunk):
    best, out = np.full(len(q), -np.inf), np.zeros((len(q), v.shape[1]))
    for i in range(0, len(k), chunk):
        s = q @ k[i:i + chunk].T
        better = s.max(axis=1) > best
        out[better] = v[i:i + chunk][s.argmax(axis=1)][better]
        best = np.maximum(best, s.max(axis=1))
    return out


def loop_of_steps(q, k, v, chunk):
    m, l, acc = _start(q, v)
    for i in range(0, len(k), chunk):
        m, l, acc = _read(m, l, acc, q @ k[i:i + chunk].T / np.sqrt(q.shape[1]), v[i:i + chunk])
    return acc / l.reshape(-1, 1)


def like_the_workers(q, k, v, chunk):
    parts = []
    for i in range(0, len(k), chunk):
        s = q @ k[i:i + chunk].T / np.sqrt(q.shape[1])
        m = s.max(axis=1, keepdims=True)
        p = np.exp(s - m)
        parts.append((m, p.sum(axis=1, keepdims=True), p @ v[i:i + chunk]))
    m = np.max([part[0] for part in parts], axis=0)
    l = sum(np.exp(own - m) * part for own, part, _ in parts)
    return sum(np.exp(own - m) * part for own, _, part in parts) / l


def query_after_query(q, k, v, chunk):
    result = []
    for query in q:
        m, l, acc = -math.inf, 0.0, np.zeros(v.shape[1])
        for start in range(0, len(k), chunk):
            for key, value in zip(k[start:start + chunk], v[start:start + chunk], strict=True):
                score = query @ key / math.sqrt(len(query))
                new = max(m, score)
                l = l * math.exp(m - new) + math.exp(score - new)
                acc = acc * math.exp(m - new) + math.exp(score - new) * value
                m = new
        result.append(acc / l)
    return result


def maximum_first(q, k, v, chunk):
    q = q / q.shape[1] ** 0.5
    starts = range(0, len(k), chunk)
    m = np.max([(q @ k[i:i + chunk].T).max(axis=1) for i in starts], axis=0)[:, None]
    l = sum(np.exp(q @ k[i:i + chunk].T - m).sum(axis=1, keepdims=True) for i in starts)
    return sum(np.exp(q @ k[i:i + chunk].T - m) / l @ v[i:i + chunk] for i in starts)


def sections(q, k, v, chunk):
    m, l, acc = _start(q, v)
    where = range(chunk, len(k), chunk)
    for k_c, v_c in zip(np.split(k, where), np.split(v, where), strict=True):
        m, l, acc = _read(m, l, acc, q @ k_c.T * q.shape[1] ** -0.5, v_c)
    return (acc.T / l).T


def totals_stacked(q, k, v, chunk):
    ms, ls, accs = [], [], []
    for i in range(0, len(k), chunk):
        s = q @ k[i:i + chunk].T / np.sqrt(q.shape[1])
        ms.append(s.max(axis=1))
        ls.append(np.exp(s - ms[-1][:, None]).sum(axis=1))
        accs.append(np.exp(s - ms[-1][:, None]) @ v[i:i + chunk])
    ms, ls, accs = np.stack(ms), np.stack(ls), np.stack(accs)
    c = np.exp(ms - ms.max(axis=0))
    return (c[:, :, None] * accs).sum(axis=0) / (c * ls).sum(axis=0)[:, None]


def queries_in_blocks(q, k, v, chunk):
    return np.concatenate([attention_book.attention(q[i:i + chunk], k, v)
                           for i in range(0, len(q), chunk)])


def lists_of_numbers(q, k, v, chunk):
    q, k, v = q.tolist(), k.tolist(), v.tolist()
    result = []
    for query in q:
        m, l, acc = -math.inf, 0.0, [0.0] * len(v[0])
        for start in range(0, len(k), chunk):
            scores = [sum(a * b for a, b in zip(query, key, strict=True)) / math.sqrt(len(query))
                      for key in k[start:start + chunk]]
            new = max([m, *scores])
            weights = [math.exp(score - new) for score in scores]
            c, m = math.exp(m - new), new
            l = l * c + sum(weights)
            for column in range(len(acc)):
                acc[column] = acc[column] * c + sum(
                    w * value[column] for w, value in
                    zip(weights, v[start:start + chunk], strict=True))
        result.append([each / l for each in acc])
    return result


# --- chunked_causal_attention ---------------------------------------------------------------------
def _loop(hide, q, k, v, chunk):
    m, l, acc = _start(q, v)
    for i in range(0, len(k), chunk):
        s = q @ k[i:i + chunk].T / np.sqrt(q.shape[1])
        s[hide(len(q), i, s.shape[1])] = -np.inf
        m, l, acc = _read(m, l, acc, s, v[i:i + chunk])
    return acc / l[:, None]


def triangle_in_every_chunk(q, k, v, chunk):
    return _loop(lambda n, start, size: ~np.tri(n, size, dtype=bool), q, k, v, chunk)


def packages_mask_in_every_chunk(q, k, v, chunk):
    return _loop(lambda n, start, size: ~attention_book.causal_mask(n, size), q, k, v, chunk)


def arange_of_the_chunk(q, k, v, chunk):
    return _loop(lambda n, start, size: np.arange(size) > np.arange(n)[:, None], q, k, v, chunk)


def forgot_the_triangle(q, k, v, chunk):
    return _loop(lambda n, start, size: np.zeros((n, size), dtype=bool), q, k, v, chunk)


def whole_chunks_seen(q, k, v, chunk):
    return _loop(lambda n, start, size: np.broadcast_to(start > np.arange(n)[:, None], (n, size)),
                 q, k, v, chunk)


def whole_chunks_hidden(q, k, v, chunk):
    return _loop(lambda n, start, size: np.broadcast_to(
        start + size - 1 > np.arange(n)[:, None], (n, size)), q, k, v, chunk)


def strictly_before(q, k, v, chunk):
    return _loop(lambda n, start, size: np.arange(start, start + size) >= np.arange(n)[:, None],
                 q, k, v, chunk)


def one_beyond(q, k, v, chunk):
    return _loop(lambda n, start, size: np.arange(start, start + size) > np.arange(n)[:, None] + 1,
                 q, k, v, chunk)


def the_other_side(q, k, v, chunk):
    return _loop(lambda n, start, size: np.arange(start, start + size) < np.arange(n)[:, None],
                 q, k, v, chunk)


def offset_the_wrong_way(q, k, v, chunk):
    return _loop(lambda n, start, size: np.arange(size) > np.arange(n)[:, None] + start,
                 q, k, v, chunk)


def table_with_triangle(q, k, v, chunk):
    s = np.where(np.tri(len(q), dtype=bool), q @ k.T / np.sqrt(q.shape[1]), -np.inf)
    return _softmax(s) @ v


def mask_of_ones(q, k, v, chunk):
    mask = np.tril(np.ones((len(q), len(k))))
    m, l, acc = _start(q, v)
    for i in range(0, len(k), chunk):
        s = q @ k[i:i + chunk].T / np.sqrt(q.shape[1])
        s = np.where(mask[:, i:i + chunk] == 1, s, -np.inf)
        m, l, acc = _read(m, l, acc, s, v[i:i + chunk])
    return acc / l[:, None]


def own_softmax_of_hidden(q, k, v, chunk):
    parts = []
    for i in range(0, len(k), chunk):
        s = q @ k[i:i + chunk].T / np.sqrt(q.shape[1])
        s[np.arange(i, i + s.shape[1]) > np.arange(len(q))[:, None]] = -np.inf
        m = s.max(axis=1, keepdims=True)
        p = np.exp(s - m)
        parts.append((m, p.sum(axis=1, keepdims=True), p @ v[i:i + chunk]))
    m = np.max([part[0] for part in parts], axis=0)
    l = sum(np.exp(own - m) * part for own, part, _ in parts)
    return sum(np.exp(own - m) * part for own, _, part in parts) / l


def from_the_end(q, k, v, chunk):
    m, l, acc = _start(q, v)
    for i in reversed(range(0, len(k), chunk)):
        s = q @ k[i:i + chunk].T / np.sqrt(q.shape[1])
        s[np.arange(i, i + s.shape[1]) > np.arange(len(q))[:, None]] = -np.inf
        m, l, acc = _read(m, l, acc, s, v[i:i + chunk])
    return acc / l[:, None]


def zeros_for_hidden(q, k, v, chunk):
    m, l, acc = _start(q, v)
    for i in range(0, len(k), chunk):
        s = q @ k[i:i + chunk].T / np.sqrt(q.shape[1])
        s = s * (np.arange(i, i + s.shape[1]) <= np.arange(len(q))[:, None])
        m, l, acc = _read(m, l, acc, s, v[i:i + chunk])
    return acc / l[:, None]


def mask_after_the_maximum(q, k, v, chunk):
    m, l, acc = _start(q, v)
    for i in range(0, len(k), chunk):
        s = q @ k[i:i + chunk].T / np.sqrt(q.shape[1])
        m_new = np.maximum(m, s.max(axis=1))
        c, p = np.exp(m - m_new), np.exp(s - m_new[:, None])
        p[np.arange(i, i + s.shape[1]) > np.arange(len(q))[:, None]] = 0
        m, l, acc = m_new, l * c + p.sum(axis=1), acc * c[:, None] + p @ v[i:i + chunk]
    return acc / l[:, None]


def diagonal_blocks(q, k, v, chunk):
    return np.vstack([attention_book.attention(
        q[i:i + chunk], k[i:i + chunk], v[i:i + chunk],
        mask=attention_book.causal_mask(len(q[i:i + chunk]))) for i in range(0, len(q), chunk)])


def blocks_of_queries_without_triangle(q, k, v, chunk):
    out = []
    for i in range(0, len(q), chunk):
        m, l, acc = _start(q[i:i + chunk], v)
        for j in range(0, i + 1, chunk):
            s = q[i:i + chunk] @ k[j:j + chunk].T / np.sqrt(q.shape[1])
            m, l, acc = _read(m, l, acc, s, v[j:j + chunk])
        out.append(acc / l[:, None])
    return np.concatenate(out)


def scale_left_out(q, k, v, chunk):
    m, l, acc = _start(q, v)
    for i in range(0, len(k), chunk):
        s = q @ k[i:i + chunk].T
        s[np.arange(i, i + s.shape[1]) > np.arange(len(q))[:, None]] = -np.inf
        m, l, acc = _read(m, l, acc, s, v[i:i + chunk])
    return acc / l[:, None]


def causal_exponentials(q, k, v, chunk):
    l, acc = 0, 0
    for i in range(0, len(k), chunk):
        p = np.exp(q @ k[i:i + chunk].T / np.sqrt(q.shape[1]))
        p = p * (np.arange(i, i + p.shape[1]) <= np.arange(len(q))[:, None])
        l = l + p.sum(axis=1, keepdims=True)
        acc = acc + p @ v[i:i + chunk]
    return acc / l


def causal_never_repaired(q, k, v, chunk):
    m, l, acc = _start(q, v)
    for i in range(0, len(k), chunk):
        s = q @ k[i:i + chunk].T / np.sqrt(q.shape[1])
        s[np.arange(i, i + s.shape[1]) > np.arange(len(q))[:, None]] = -np.inf
        m = np.maximum(m, s.max(axis=1))
        p = np.exp(s - m[:, None])
        l, acc = l + p.sum(axis=1), acc + p @ v[i:i + chunk]
    return acc / l[:, None]


def causal_whole_chunks(q, k, v, chunk):
    n = len(k) // chunk * chunk
    return _loop(lambda n, start, size: np.arange(start, start + size) > np.arange(n)[:, None],
                 q, k[:n], v[:n], chunk)


def rows_and_columns_exchanged(q, k, v, chunk):
    return _loop(lambda n, start, size: np.arange(n)[:, None] > np.arange(start, start + size),
                 q, k, v, chunk)


def true_where_hidden(q, k, v, chunk):
    return _loop(lambda n, start, size: np.arange(start, start + size) <= np.arange(n)[:, None],
                 q, k, v, chunk)


def zero_times_infinity(q, k, v, chunk):
    m, l, acc = _start(q, v)
    for i in range(0, len(k), chunk):
        s = q @ k[i:i + chunk].T / np.sqrt(q.shape[1])
        future = np.arange(i, i + s.shape[1]) > np.arange(len(q))[:, None]
        m, l, acc = _read(m, l, acc, s + future * -np.inf, v[i:i + chunk])
    return acc / l[:, None]


def filled_with_minus_ten_thousand(q, k, v, chunk):
    m, l, acc = _start(q, v)
    for i in range(0, len(k), chunk):
        s = q @ k[i:i + chunk].T / np.sqrt(q.shape[1])
        s[np.arange(i, i + s.shape[1]) > np.arange(len(q))[:, None]] = -1e4
        m, l, acc = _read(m, l, acc, s, v[i:i + chunk])
    return acc / l[:, None]


def own_rows_alone_masked(q, k, v, chunk):
    def hide(n, start, size):
        hidden = np.zeros((n, size), dtype=bool)
        hidden[start:start + size] = np.triu(np.ones((size, size), dtype=bool), 1)
        return hidden

    return _loop(hide, q, k, v, chunk)


def blocks_counted_from_zero(q, k, v, chunk):
    return np.concatenate([_loop(
        lambda n, start, size: np.arange(start, start + size) > np.arange(n)[:, None],
        q[i:i + chunk], k, v, chunk) for i in range(0, len(q), chunk)])


def means_of_causal_chunks(q, k, v, chunk):
    i = np.arange(len(q))[:, None]
    return np.mean([attention_book.attention(
        q, k[start:start + chunk], v[start:start + chunk],
        mask=np.arange(start, min(start + chunk, len(k))) <= i)
        for start in range(0, len(k), chunk)], axis=0)


def hidden_in_acc_alone(q, k, v, chunk):
    m, l, acc = _start(q, v)
    for i in range(0, len(k), chunk):
        s = q @ k[i:i + chunk].T / np.sqrt(q.shape[1])
        seen = np.arange(i, i + s.shape[1]) <= np.arange(len(q))[:, None]
        m_new = np.maximum(m, s.max(axis=1))
        c, p = np.exp(m - m_new), np.exp(s - m_new[:, None])
        l, acc = l * c + p.sum(axis=1), acc * c[:, None] + (p * seen) @ v[i:i + chunk]
        m = m_new
    return acc / l[:, None]


def rounded_up_to_a_chunk(q, k, v, chunk):
    ends = [(i // chunk + 1) * chunk for i in range(len(q))]
    return [_softmax(query @ k[:end].T / np.sqrt(len(query))) @ v[:end]
            for query, end in zip(q, ends, strict=True)]


def package_causal(q, k, v, chunk):
    return attention_book.chunked.chunked_attention(q, k, v, causal=True, key_chunk=chunk)


def length_of_the_slice(q, k, v, chunk):
    return _loop(lambda n, start, size: np.arange(start, start + chunk) > np.arange(n)[:, None],
                 q, k, v, chunk)


def positions_compared(q, k, v, chunk):
    return _loop(lambda n, start, size: np.arange(start, start + size) > np.arange(n)[:, None],
                 q, k, v, chunk)


def triangle_moved(q, k, v, chunk):
    return _loop(lambda n, start, size: ~np.tri(n, size, -start, dtype=bool), q, k, v, chunk)


def each_query_to_its_past(q, k, v, chunk):
    return [query_after_query(q[i:i + 1], k[:i + 1], v[:i + 1], chunk)[0] for i in range(len(q))]


def blocks_with_triangle(q, k, v, chunk):
    out = []
    for i in range(0, len(q), chunk):
        m, l, acc = _start(q[i:i + chunk], v)
        for j in range(0, i + 1, chunk):
            s = q[i:i + chunk] @ k[j:j + chunk].T / np.sqrt(q.shape[1])
            if i == j:
                s += np.triu(np.full(s.shape, -np.inf), 1)
            m, l, acc = _read(m, l, acc, s, v[j:j + chunk])
        out.append(acc / l[:, None])
    return np.concatenate(out)


def boolean_mask_of_all(q, k, v, chunk):
    mask = attention_book.causal_mask(len(q))
    return _loop(lambda n, start, size: ~mask[:, start:start + size], q, k, v, chunk)


WRONG = {
    "score_matrix_bytes": [
        (one_vector_for_each_head, "linear"), (heads_forgotten, "one-head"),
        (bits_by_habit, "bits"), (divided_by_eight, "bits"),
        (float32_for_granted, "values-not-bytes"), (causal_half, "half-the-table"),
        (in_mebibytes, "larger-units"), (caret_for_power, "xor-for-power"), (square_of_all, None),
        (keys_and_values, "linear"), (bytes_as_text, "wrong-dtype"),
        (size_printed, "prints-instead-of-returning"),
    ],
    "predict_running_totals": [
        ([1.5, 2.5, 2.75, 2.36], "not-rescaled"),
        ([1.5, 1.75, 2, 3.25], "accumulator-not-rescaled"),
        ([1.5, 4, 4.25, 2.2], "rescaled-upside-down"), ([6, 14, 16, 2.5], "no-max-shift"),
        ([6, 8, 2, 2.5], "no-max-shift"), ([1.5, 1, 1, 2.5], "chunks-alone"),
        ([1.5, 1.75, 2, 5], "not-divided"), ([1.5, 1.75, 8, 2.5], "max-not-carried"),
        ([1, 1, 1, 2.5], "normalised-each-chunk"), ([0.75, 1.75, 2, 2.5],
                                                    "maximum-known-in-advance"),
        ([1.5, 1.75, 2], "wrong-shape"), ([3, 3.5, 5, 2.5], "another-total"),
        ([1.5, 1.75, 2, 3.3], "average-of-chunks"), ([1.5, 1.75, 1.75, 2.5], None),
    ],
    "online_softmax_step": [
        (acc_forgotten, "accumulator-not-rescaled"), (l_forgotten, "sum-not-rescaled"),
        (only_added, "not-rescaled"), (chunk_maximum, "max-not-carried"),
        (mixture_returned, "normalised-each-chunk"),
        (chunk_softmax_first, "normalised-each-chunk"), (factor_turned, "rescaled-upside-down"),
        (divided_by_factor, "rescaled-upside-down"),
        (factor_is_a_difference, "factor-without-exp"), (no_column, "axis-not-kept"),
        (no_column_for_acc, "axis-not-kept"), (shift_by_the_old_one, "max-not-updated"),
        (one_number_for_all, "global-max"), (plain_exponentials, "no-max-shift"),
        (all_times_factor, "rescaled-too-late"), (maximum_overwritten, "not-rescaled"),
        (forgot_to_return_the_new_one, "max-not-updated"),
        (chunk_shift_and_old_factor, "new-terms-shifted-alone"), (starts_over, "old-totals-lost"),
        (sum_over_everything, "wrong-axis"), (maximum_over_queries, "wrong-axis"),
        (mean_of_terms, "mean-not-sum"), (in_place, "mutates-input"), (builtin_max, "raises"),
        (two_results, "wrong-shape"),
        (key_after_key_without_acc, "accumulator-not-rescaled"),
        (m_overwritten_in_the_loop, "not-rescaled"),
        (old_ones_fitted_to_the_chunk, "max-not-carried"),
        (exponentials_turned, "weights-transposed"), (quotients_of_exponentials, "no-max-shift"),
        (smallest_so_far, "minimum-for-maximum"), (powers_of_two, None),
        (columns_returned, "wrong-shape"),
    ],
    "fault_three_workers": [
        (nothing_mended, "sum-not-rescaled"), (both_left_alone, "not-rescaled"),
        (wrong_one_mended, "accumulator-not-rescaled"), (turned_around, "rescaled-upside-down"),
        (own_mixtures_averaged, "average-of-workers"),
        (own_mixtures_with_factor, "weighted-by-maximum"),
        (exponential_of_the_maximum, "no-max-shift"), (only_l_by_the_maximum, "one-factor-only"),
        (exponential_forgotten, "factor-without-exp"), (largest_sum, "sums-not-added"),
        (sum_of_all_axes, None), (largest_of_all_queries, "global-max"),
        (logarithms_without_shift, "no-max-shift"), (last_worker_in_the_factor, "one-factor-only"),
    ],
    "chunked_attention": [
        (table_after_all, "full-score-matrix"), (chunks_of_scores_joined, "full-score-matrix"),
        (package_attention, "full-score-matrix"), (integer_number_of_chunks, "drops-last-chunk"),
        (stops_before_the_last, "drops-last-chunk"), (mean_of_attentions, "average-of-chunks"),
        (sum_of_attentions, "average-of-chunks"), (returns_in_the_loop, "first-chunk-only"),
        (starts_in_the_loop, "last-chunk-only"), (never_repaired, "not-rescaled"),
        (own_maximum_each, "not-rescaled"), (sums_without_maximum, "no-max-shift"),
        (scale_forgotten, "unscaled"), (scaled_by_number_of_keys, "wrong-scale"),
        (scaled_by_chunk, "wrong-scale"), (zeros_at_the_start, "starts-at-zero"),
        (division_forgotten, "not-normalised"), (division_in_the_loop, "normalised-each-chunk"),
        (one_maximum, "global-max"), (queries_and_keys_together, "own-chunk-only"),
        (keys_reshaped, "whole-chunks-only"), (zeros_appended, "padding-counted"),
        (all_values_each_time, "raises"), (package_chunks, "calls-the-package"),
        (endless, "too-slow"), (m_thrown_away, "last-chunk-only"),
        (counting_queries, "drops-last-chunk"), (l_without_axis, "axis-not-kept"),
        (slices_too_short, "keys-left-out"), (one_key_further_each_time, "keys-read-twice"),
        (weights_first_then_chunks, "full-score-matrix"), (dense_and_unscaled, "unscaled"),
        (unscaled_and_never_repaired, None),
        (turned_around_after_the_first, "rescaled-upside-down"),
        (running_mixture, "normalised-each-chunk"), (very_low_start, "starts-at-zero"),
        (nearest_key, "best-key-only"), (queries_in_blocks, "blocks-of-queries"),
    ],
    "chunked_causal_attention": [
        (triangle_in_every_chunk, "chunk-local-positions"),
        (packages_mask_in_every_chunk, "chunk-local-positions"),
        (arange_of_the_chunk, "chunk-local-positions"), (forgot_the_triangle, "no-mask"),
        (whole_chunks_seen, "whole-chunks-only"), (whole_chunks_hidden, "whole-chunks-only"),
        (strictly_before, "excludes-itself"), (one_beyond, "one-too-many"),
        (the_other_side, "future-instead-of-past"),
        (offset_the_wrong_way, "chunk-local-positions"),
        (table_with_triangle, "full-score-matrix"), (mask_of_ones, "full-score-matrix"),
        (boolean_mask_of_all, "full-score-matrix"),
        (own_softmax_of_hidden, "nan-on-masked-chunk"), (from_the_end, "nan-on-masked-chunk"),
        (zeros_for_hidden, "finite-fill"), (mask_after_the_maximum, "maximum-of-hidden-scores"),
        (diagonal_blocks, "own-chunk-only"),
        (blocks_of_queries_without_triangle, "whole-chunks-only"), (scale_left_out, "unscaled"),
        (causal_exponentials, "no-max-shift"), (causal_never_repaired, "not-rescaled"),
        (causal_whole_chunks, "drops-last-chunk"), (package_causal, "calls-the-package"),
        (length_of_the_slice, "raises"),
        (rows_and_columns_exchanged, "future-instead-of-past"),
        (true_where_hidden, "future-instead-of-past"), (zero_times_infinity, "not-finite"),
        (filled_with_minus_ten_thousand, "finite-fill"),
        (own_rows_alone_masked, "later-chunks-visible"),
        (blocks_counted_from_zero, "chunk-local-positions"),
        (means_of_causal_chunks, "average-of-chunks"),
        (hidden_in_acc_alone, "masked-after-softmax"),
        (rounded_up_to_a_chunk, "whole-chunks-only"),
    ],
}

RIGHT = {
    "score_matrix_bytes": [by_power, head_after_head, by_numpy],
    "predict_running_totals": [[1.5, 1.75, 2, 2.5], (1.5, 1.75, 2.0, 2.5),
                               np.array([6 / 4, 14 / 8, 16 / 8, 40 / 16])],
    "online_softmax_step": [if_it_rises, kept_axes, sum_as_a_column],
    "fault_three_workers": [mended, one_maximum_first, one_after_another],
    "chunked_attention": [loop_of_steps, like_the_workers, query_after_query, maximum_first,
                          sections, totals_stacked, lists_of_numbers],
    "chunked_causal_attention": [positions_compared, triangle_moved, each_query_to_its_past,
                                 blocks_with_triangle],
}
