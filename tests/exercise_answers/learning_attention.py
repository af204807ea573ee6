"""Answers to the exercises on learning, written from the prompts alone."""

import math

import numpy as np

from attention_book import log_softmax, softmax, softmax_backward


# --- next_token_loss ------------------------------------------------------------------------------
def cross_entropy_of_what_is_there(logits, tokens):
    p = softmax(logits)
    return np.mean([-np.log(p[t, token]) for t, token in enumerate(tokens)])


def looks_back(logits, tokens):
    log_p = log_softmax(logits)
    return -np.mean([log_p[t, tokens[t - 1]] for t in range(1, len(tokens))])


def adds_up(logits, tokens):
    log_p = log_softmax(logits)
    loss = 0
    for t in range(len(tokens) - 1):
        loss -= log_p[t, tokens[t + 1]]
    return loss


def divides_by_all_tokens(logits, tokens):
    log_p = log_softmax(logits)
    return sum(-log_p[t, tokens[t + 1]] for t in range(len(tokens) - 1)) / len(tokens)


def with_log2(logits, tokens):
    p = softmax(logits)
    return np.mean([-np.log2(p[t, tokens[t + 1]]) for t in range(len(tokens) - 1)])


def exponentials_as_they_are(logits, tokens):
    e = np.exp(logits[:-1])
    p = e / e.sum(axis=1, keepdims=True)
    return -np.log(p[range(len(p)), tokens[1:]]).mean()


def tiny_number_added(logits, tokens):
    p = softmax(logits)[:-1]
    return -np.mean(np.log(p[np.arange(len(p)), tokens[1:]] + 1e-9))


def forgets_the_minus(logits, tokens):
    return log_softmax(logits)[np.arange(len(tokens) - 1), tokens[1:]].mean()


def likelihood(logits, tokens):
    return softmax(logits)[np.arange(len(tokens) - 1), tokens[1:]].mean()


def all_the_entries(logits, tokens):
    return -log_softmax(logits[:-1])[:, tokens[1:]].mean()


def by_log_softmax(logits, tokens):
    log_p = log_softmax(logits[:-1])
    return float(-np.take_along_axis(log_p, tokens[1:, None], axis=1).mean())


def largest_and_rest(logits, tokens):
    losses = []
    for row, token in zip(logits, tokens[1:], strict=False):
        rest = math.fsum(math.exp(x - row.max()) for x in row)
        losses.append(math.log(rest) - (row[token] - row.max()))
    return np.mean(losses)


def differences(logits, tokens):
    # -log p = log of the sum of exp(x - x_target), larger ones taken out
    right = logits[np.arange(len(tokens) - 1), tokens[1:]]
    apart = logits[:-1] - right[:, None]
    top = np.maximum(apart.max(axis=1), 0)
    return (top + np.log(np.exp(apart - top[:, None]).sum(axis=1))).mean()


# --- softmax_backward -----------------------------------------------------------------------------
def sigmoid_rule(p, grad):
    return grad * p * (1 - p)


def weights_times_gradient(p, grad):
    return p * grad


def minus_the_column_sums(p, grad):
    return p * (grad - np.sum(p * grad, axis=0))


def forgets_the_axis(p, grad):
    return p * (grad - np.sum(p * grad))


def forgets_to_keep_the_axis(p, grad):
    return p * (grad - np.sum(p * grad, axis=-1))


def without_weights_in_the_mean(p, grad):
    return p * (grad - grad.mean(axis=1, keepdims=True))


def turned_round(p, grad):
    return p * (np.sum(p * grad, axis=1, keepdims=True) - grad)


def only_the_others(p, grad):
    out = np.zeros_like(p)
    for i in range(len(p)):
        for j in range(len(p[i])):
            out[i, j] = -sum(p[i, j] * p[i, m] * grad[i, m] for m in range(len(p[i])) if m != j)
    return out


def only_the_first_row(p, grad):
    out = np.zeros_like(p)
    for i in range(len(p)):
        out[i] = p[i] * (grad[i] - p[i] @ grad[i])
        return out
    return out


def effects_added_up(p, grad):
    n, m = p.shape
    out = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            for other in range(m):
                if other == j:
                    out[i, j] += p[i, j] * (1 - p[i, j]) * grad[i, j]
                else:
                    out[i, j] -= p[i, j] * p[i, other] * grad[i, other]
    return out


def jacobians(p, grad):
    all_effects = np.einsum("ij,jk->ijk", p, np.eye(p.shape[1])) - p[:, :, None] * p[:, None, :]
    return (all_effects @ grad[:, :, None])[:, :, 0]


def nudged(p, grad):
    # p(1 + h grad) / its sum, differentiated: exact for the first order
    mean = np.average(grad, axis=1, weights=p + (p.sum(axis=1, keepdims=True) == 0))
    return p * grad - p * mean[:, None]


# --- attention_backward ---------------------------------------------------------------------------
def forward(q, k, v):
    p = softmax(q @ k.T / np.sqrt(q.shape[1]))
    return p, p @ v


def chain(q, k, v, grad, scale=None):
    p, _ = forward(q, k, v)
    scale = 1 / np.sqrt(q.shape[1]) if scale is None else scale
    ds = softmax_backward(p, grad @ v.T) * scale
    return ds @ k, ds.T @ q, p.T @ grad


def forgets_the_scale(q, k, v, grad):
    return chain(q, k, v, grad, scale=1)


def scale_of_the_values(q, k, v, grad):
    return chain(q, k, v, grad, scale=1 / np.sqrt(v.shape[1]))


def dv_with_the_weights(q, k, v, grad):
    dq, dk, _ = chain(q, k, v, grad)
    return dq, dk, forward(q, k, v)[0] @ grad


def keys_first(q, k, v, grad):
    dq, dk, dv = chain(q, k, v, grad)
    return dk, dq, dv


def values_first(q, k, v, grad):
    dq, dk, dv = chain(q, k, v, grad)
    return dv, dk, dq


def own_weight_alone(q, k, v, grad):
    p, _ = forward(q, k, v)
    ds = p * (1 - p) * (grad @ v.T) / np.sqrt(q.shape[1])
    return ds @ k, ds.T @ q, p.T @ grad


def no_softmax_at_all(q, k, v, grad):
    p, _ = forward(q, k, v)
    ds = grad @ v.T / np.sqrt(q.shape[1])
    return ds @ k, ds.T @ q, p.T @ grad


def without_the_mean(q, k, v, grad):
    p, _ = forward(q, k, v)
    ds = p * (grad @ v.T) / np.sqrt(q.shape[1])
    return ds @ k, ds.T @ q, p.T @ grad


def queries_with_queries(q, k, v, grad):
    p, _ = forward(q, k, v)
    ds = softmax_backward(p, grad @ v.T) / np.sqrt(q.shape[1])
    return ds @ q, ds.T @ k, p.T @ grad


def from_other_weights(q, k, v, grad):
    p = softmax(q @ k.T)
    ds = softmax_backward(p, grad @ v.T) / np.sqrt(q.shape[1])
    return ds @ k, ds.T @ q, p.T @ grad


def slopes_of_one_sum(q, k, v, grad):
    return chain(q, k, v, np.ones(grad.shape))


def one_query_at_a_time(q, k, v, grad):
    dq, dk, dv = [], np.zeros_like(k), np.zeros_like(v)
    for query, g in zip(q, grad, strict=True):
        p = softmax(k @ query / math.sqrt(len(query)))
        mixture = p @ v
        ds = p * ((v - mixture) @ g) / math.sqrt(len(query))
        dq.append(ds @ k)
        dk += np.outer(ds, query)
        dv += np.outer(p, g)
    return np.array(dq), dk, dv


def transposed_all_along(q, k, v, grad):
    p = forward(q, k, v)[0].T  # (n_key, n_query)
    dp = v @ grad.T
    ds = p * (dp - (p * dp).sum(axis=0)) * q.shape[1] ** -0.5
    return ds.T @ k, ds @ q, p @ grad


# --- fault_adam -----------------------------------------------------------------------------------
def adam(w, gradients, rate, *, fix_m=True, fix_s=True, first=1, b2=0.999, inside=False):
    m, s = np.zeros(w.shape), np.zeros(w.shape)
    for t, g in enumerate(gradients, start=first):
        m = 0.9 * m + 0.1 * g
        s = b2 * s + (1 - b2) * g**2
        m_hat = m / (1 - 0.9**t) if fix_m else m
        s_hat = s / (1 - b2**t) if fix_s else s
        root = np.sqrt(s_hat + 1e-8) if inside else np.sqrt(s_hat) + 1e-8
        w = w - rate * m_hat / root
    return w


def corrects_neither(w, gradients, rate):
    return adam(w, gradients, rate, fix_m=False, fix_s=False)


def corrects_only_the_squares(w, gradients, rate):
    return adam(w, gradients, rate, fix_m=False)


def counts_from_two(w, gradients, rate):
    return adam(w, gradients, rate, first=2)


def forgets_faster(w, gradients, rate):
    return adam(w, gradients, rate, b2=0.9)


def plain_descent(w, gradients, rate):
    for g in gradients:
        w = w - rate * g
    return w


def signs_only(w, gradients, rate):
    return w - rate * np.sign(gradients).sum(axis=0)


def up_the_hill(w, gradients, rate):
    return 2 * w - adam(w, gradients, rate)


def one_weight_at_a_time(w, gradients, rate):
    return [float(adam(w[j:j + 1], gradients[:, j:j + 1], rate)[0]) for j in range(len(w))]


def sums_over_the_past(w, gradients, rate):
    for t in range(1, len(gradients) + 1):
        ages = np.arange(t)[::-1]
        m = (0.9 ** ages) @ gradients[:t] / (0.9 ** ages).sum()
        s = (0.999 ** ages) @ gradients[:t] ** 2 / (0.999 ** ages).sum()
        w = w - rate * m / (s**0.5 + 1e-8)
    return w


WRONG = {
    "next_token_loss": [
        (cross_entropy_of_what_is_there, "targets-unshifted"),
        (looks_back, "shifted-backwards"),
        (adds_up, "sum-not-mean"),
        (divides_by_all_tokens, "divided-by-n"),
        (with_log2, None),  # it is unstable, too
        (exponentials_as_they_are, "unstable"),
        (tiny_number_added, "unstable"),
        (forgets_the_minus, "wrong-sign"),
        (likelihood, "no-logarithm"),
        (all_the_entries, None),
    ],
    "softmax_backward": [
        (sigmoid_rule, "diagonal-only"),
        (weights_times_gradient, "not-centred"),
        (minus_the_column_sums, "wrong-axis"),
        (forgets_the_axis, "one-for-all"),
        (forgets_to_keep_the_axis, "no-keepdims"),
        (without_weights_in_the_mean, "plain-mean"),
        (turned_round, "wrong-sign"),
        (only_the_others, None),
        (only_the_first_row, None),
    ],
    "attention_backward": [
        (forgets_the_scale, "scale-missing"),
        (scale_of_the_values, None),
        (dv_with_the_weights, "transpose-missing-in-dv"),
        (keys_first, "keys-queries-swapped"),
        (values_first, "another-order"),
        (own_weight_alone, "softmax-diagonal-only"),
        (no_softmax_at_all, "softmax-left-out"),
        (without_the_mean, "not-centred"),
        (queries_with_queries, "keys-queries-swapped"),
        (from_other_weights, "unscaled-weights"),
        (slopes_of_one_sum, "grad-ignored"),
    ],
    "predict_repeated_loss": [
        (4 / 15, "knows-the-period"),
        (5 / 16, "divided-by-n"),
        (0.4, "one-guess-too-many"),
        (2 / 3, "share-of-the-known"),
        (0, "nothing-to-guess"),
        (33.33, "in-percent"),
        (1, "guesses-everywhere"),
        (0.5, None),
    ],
    "fault_adam": [
        (corrects_neither, "nothing-corrected"),
        (corrects_only_the_squares, "mean-not-corrected"),
        (counts_from_two, "counts-wrongly"),
        (forgets_faster, None),
        (plain_descent, None),
        (signs_only, None),
        (up_the_hill, "uphill"),
    ],
}
RIGHT = {
    "next_token_loss": [by_log_softmax, largest_and_rest, differences],
    "softmax_backward": [effects_added_up, jacobians, nudged],
    "attention_backward": [chain, one_query_at_a_time, transposed_all_along],
    "predict_repeated_loss": [1 / 3, 5 / 15, 0.333, 0.334],
    "fault_adam": [adam, one_weight_at_a_time, sums_over_the_past,
                   lambda w, gradients, rate: adam(w, gradients, rate, inside=False)],
}
