"""Answers to the exercises on the real model, written from the prompts alone."""

import numpy as np

from attention_book import head_scores


# --- induction_score ------------------------------------------------------------------------------
def one_token_back(weights, period):
    return np.mean([weights[t, t - 1] for t in range(period, len(weights))])


def at_the_copy(weights, period):
    total = 0
    for t in range(period, len(weights)):
        total = total + weights[t][t - period]
    return total / (len(weights) - period)


def plus_two(weights, period):
    n = weights.shape[0]
    t = np.arange(period, n)
    return np.average(weights[t, t - period + 2])


def minus_one(weights, period):
    n = weights.shape[0]
    t = np.arange(period, n)
    return np.average(weights[t, t - period - 1])


def whole_diagonal(weights, period):
    return weights.diagonal(offset=-(period - 1)).mean()


def upper_diagonal(weights, period):
    return np.diag(weights, period - 1).mean()


def over_all_tokens(weights, period):
    s = 0.0
    for t in range(period, len(weights)):
        s += weights[t, t - period + 1]
    return s / len(weights)


def never_divided(weights, period):
    return sum(weights[t, t - period + 1] for t in range(period, len(weights)))


def two_copies_assumed(weights, period):
    return weights[range(period, 2 * period), range(1, period + 1)].mean()


def largest_wins(weights, period):
    hits = 0
    for t in range(period, len(weights)):
        hits += weights[t].argmax() == t - period + 1
    return hits / (len(weights) - period)


def a_list_of_weights(weights, period):
    return [weights[t, t - period + 1] for t in range(period, len(weights))]


def prints_it(weights, period):
    print(np.diagonal(weights, 1 - period)[1:].mean())


def the_books_own(weights, period):
    return head_scores.induction_score(weights, period)


def mean_of_a_generator(weights, period):
    n = len(weights)
    return float(sum(weights[t, t + 1 - period] for t in range(period, n)) / (n - period))


def block_trace(weights, period):
    below = weights[period:, 1:]
    return sum(below[i, i] for i in range(below.shape[0])) / below.shape[0]


def masked(weights, period):
    t, s = np.indices(weights.shape)
    return weights[(s == t - period + 1) & (t >= period)].mean()


def running_mean(weights, period):
    mean = 0.0
    for seen, t in enumerate(range(period, len(weights)), start=1):
        mean += (weights[t, t - period + 1] - mean) / seen
    return mean


# --- previous_token_score -------------------------------------------------------------------------
def trace_mean(weights):
    return np.trace(weights) / len(weights)


def above(weights):
    return np.mean(np.diag(weights, k=1))


def first_column(weights):
    return weights[1:, 0].mean()


def mean_over_n(weights):
    return np.diag(weights, k=-1).sum() / weights.shape[0]


def total(weights):
    return np.diag(weights, k=-1).sum()


def everything_earlier(weights):
    return np.mean([weights[t, :t].sum() for t in range(1, len(weights))])


def second_back(weights):
    return np.diag(weights, k=-2).mean() if len(weights) > 2 else 0.0


def as_a_diagonal(weights):
    return np.diag(weights, k=-1)


def zipped(weights):
    rows = list(weights)[1:]
    return sum(row[t] for t, row in enumerate(rows)) / len(rows)


def by_einsum(weights):
    return np.einsum("tt->", weights[1:, :-1]) / (len(weights) - 1)


def by_shift(weights):
    n = len(weights)
    return (weights * np.eye(n, k=-1)).sum() / (n - 1)


def flat_steps(weights):
    n = len(weights)
    return weights.ravel()[n::n + 1].mean()


# --- fault_head_off -------------------------------------------------------------------------------
def as_listed(heads, wo, off):
    joined = np.concatenate([heads[h] for h in range(len(heads))], axis=1)
    joined[:, off::len(heads)] = 0
    return joined @ wo


def token(heads, wo, off):
    kept = heads.copy()
    kept[:, off:off + 1] = 0
    return np.hstack(list(kept)) @ wo


def rows_off(heads, wo, off):
    d = heads.shape[-1]
    joined = np.concatenate(heads, axis=-1)
    joined[off * d:(off + 1) * d] = 0
    return joined @ wo


def rows_off_in_the_sum(heads, wo, off):
    n_heads, n, d = heads.shape
    first = off * d
    kept = [0 if first <= t < first + d else 1 for t in range(n)]
    return sum(heads[h] * np.array(kept)[:, None] @ wo[h * d:(h + 1) * d] for h in range(n_heads))


def column_off(heads, wo, off):
    joined = np.hstack(list(heads))
    joined[:, off] = 0
    return joined @ wo


def widths_confused(heads, wo, off):
    n_heads = heads.shape[0]
    joined = np.hstack(list(heads))
    joined[:, off * n_heads:(off + 1) * n_heads] = 0
    return joined @ wo


def no_end(heads, wo, off):
    joined = np.hstack(list(heads))
    joined[:, off * heads.shape[2]:] = 0
    return joined @ wo


def inverted(heads, wo, off):
    kept = np.zeros_like(heads)
    kept[off] = heads[off]
    return np.hstack(list(kept)) @ wo


def counted_from_one(heads, wo, off):
    d = heads.shape[2]
    joined = np.hstack(list(heads))
    joined[:, (off + 1) * d:(off + 2) * d] = 0
    return joined @ wo


def in_place(heads, wo, off):
    heads[off] = 0
    return np.hstack(list(heads)) @ wo


def zeroes_a_copy(heads, wo, off):
    kept = heads.copy()
    kept[off] = 0
    return np.hstack(list(kept)) @ wo


def zeroes_rows_of_wo(heads, wo, off):
    d = heads.shape[-1]
    other = wo.copy()
    other[off * d:off * d + d] = 0
    return np.concatenate(heads, axis=-1) @ other


def subtracts_its_part(heads, wo, off):
    d = heads.shape[-1]
    return np.concatenate(heads, axis=-1) @ wo - heads[off] @ wo[off * d:(off + 1) * d]


def keeps_by_a_mask(heads, wo, off):
    n_heads, n, d = heads.shape
    keep = np.repeat(np.arange(n_heads) != off, d)
    return (heads.transpose(1, 0, 2).reshape(n, -1) * keep) @ wo


WRONG = {
    "induction_score": [
        (one_token_back, "previous-token"),
        (at_the_copy, "same-token"),
        (plus_two, "off-by-one"),
        (minus_one, "before-the-copy"),
        (whole_diagonal, "first-copy-counted"),
        (upper_diagonal, "queries-keys-swapped"),
        (over_all_tokens, "divided-by-n"),
        (never_divided, "sum-not-mean"),
        (two_copies_assumed, "second-copy-only"),
        (largest_wins, "share-of-hits"),
        (a_list_of_weights, "wrong-shape"),
        (prints_it, "prints-instead-of-returning"),
        (the_books_own, "calls-the-package"),
    ],
    "previous_token_score": [
        (trace_mean, "diagonal"),
        (above, "next-token"),
        (first_column, "first-token"),
        (mean_over_n, "divided-by-n"),
        (total, "sum-not-mean"),
        (everything_earlier, "all-before"),
        (second_back, "two-back"),
        (as_a_diagonal, "wrong-shape"),
    ],
    "predict_induction_row": [
        ((0.5, 0, 0, 0.5, 0, 0, 0), "same-token"),
        ([0, 0, 0, 0, 1, 0, 0], "latest-only"),
        ((0, 1, 0, 0, 1, 0, 0), "not-normalised"),
        ((0, 0, 0, 0, 0, 1, 0), "previous-token"),
        ((0, 0.33, 0, 0, 0.33, 0.33, 0), "the-word-everywhere"),
        (np.full(7, 1 / 7), None),
        ((1, 4), None),
    ],
    "fault_head_off": [
        (as_listed, "interleaved-features"),
        (token, None),  # where there are fewer tokens than heads, nothing is off
        (rows_off, "token-off"),
        (rows_off_in_the_sum, "token-off"),
        (column_off, "one-feature-off"),
        (widths_confused, "wrong-width"),
        (no_end, "rest-off-too"),
        (inverted, "only-that-head"),
        (counted_from_one, "next-head-off"),
        (in_place, "mutates-input"),
    ],
}
RIGHT = {
    "induction_score": [mean_of_a_generator, block_trace, masked, running_mean],
    "previous_token_score": [zipped, by_einsum, by_shift, flat_steps],
    "predict_induction_row": [(0, 0.5, 0, 0, 0.5, 0, 0), [0, 1 / 2, 0, 0, 1 / 2, 0, 0],
                              np.array([0, 0.5, 0, 0, 0.5, 0, 0])],
    "fault_head_off": [zeroes_a_copy, zeroes_rows_of_wo, subtracts_its_part, keeps_by_a_mask],
}
