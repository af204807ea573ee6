"""Two mistakes at once: the answer is rejected, and the first step that goes wrong is named."""

import itertools

import numpy as np
import pytest

from attention_book.exercises import catalogue, check

# In the order of the computation: the step's part of the id, and what to write there instead.
PROJECTIONS = {"no-value-projection": "v = x"}
SCORES = {"queries-with-queries": "s = q @ q.T", "queries-keys-swapped": "s = k @ q.T"}
SCALE = {"unscaled": "s = s * 1", "wrong-scale": "s = s / d"}
MASK = {"no-mask": "seen = np.ones((n, n), bool)", "future-instead-of-past": "seen = np.triu(one)",
        "excludes-itself": "seen = np.tril(one, -1)", "one-too-many": "seen = np.tril(one, 1)"}
WEIGHTS = {
    "wrong-axis": "p = softmax(np.where(seen, s, -np.inf).T).T",
    "no-softmax": "p = np.where(seen, s, 0)",
    "masked-after-softmax": "p = np.where(seen, softmax(s), 0)",
    "masked-scores-zero": "p = softmax(np.where(seen, s, 0))",
}
HEAD = {
    "project": ("v = x @ wv", PROJECTIONS),
    "score": ("s = q @ k.T", SCORES),
    "scale": ("s = s / d**0.5", SCALE),
    "mask": ("seen = np.tril(one)", MASK),
    "weigh": ("p = softmax(np.where(seen, s, -np.inf))", WEIGHTS),
}
LINES = """
def answer(x, wq, wk, wv):
    q, k = x @ wq, x @ wk
    n, d = q.shape
    one = np.ones((n, n), bool)
    {project}
    {score}
    {scale}
    {mask}
    {weigh}
    return p @ v
"""


def softmax(rows):
    largest = rows.max(axis=1)[:, None]
    return np.exp(rows - largest) / np.exp(rows - largest).sum(axis=1)[:, None]


def written(faults):
    """Return the head with some of its lines replaced."""
    lines = {step: wrong.get(next(iter(faults & set(wrong)), None), right)
             for step, (right, wrong) in HEAD.items()}
    names = {"np": np, "softmax": softmax}
    exec(LINES.format(**lines), names)
    return names["answer"]


# Without a mask, it makes no difference how what is masked is treated; and where a whole column is
# masked and the softmax runs down it, nothing is left but NaN, whose origin cannot be told.
UNSEEN = {("no-mask", "masked-after-softmax"), ("no-mask", "masked-scores-zero"),
          ("excludes-itself", "wrong-axis")}
PAIRS = [pair for one, other in itertools.combinations([wrong for _, wrong in HEAD.values()], 2)
         for pair in itertools.product(one, other) if pair not in UNSEEN]


def test_the_head_as_written_is_right():
    assert check("causal_attention", written(set())).passed


@pytest.mark.parametrize("pair", PAIRS, ids=" and ".join)
def test_the_first_step_that_goes_wrong_is_named(pair):
    result = check("causal_attention", written(set(pair)))
    first, second = (catalogue()["causal_attention"].mistake(name) for name in pair)
    assert result.diagnosis == first.id, result
    assert f"Step: {first.step}" in result.message
    assert f"later step too: {second.step}." in result.message


def attention_unscaled_and_summed_over_queries(q, k, v):
    e = np.exp((q @ k.T) - (q @ k.T).max(0))
    return e / e.sum(0) @ v


def self_attention_keys_for_values_unscaled(x, wq, wk, wv):
    return softmax(x @ wq @ (x @ wv).T) @ (x @ wk)


def past_scaled_by_d_and_no_mask(q, k, v):
    return softmax(q @ k.T / q.shape[1]) @ v


def step_in_front_and_unscaled(x_t, past_k, past_v, wq, wk, wv):
    k, v = np.vstack([x_t @ wk, past_k]), np.vstack([x_t @ wv, past_v])
    return softmax((x_t @ wq @ k.T)[None])[0] @ v, k, v


def layer(x, wq, wk, wv, wo, n_heads, one_sided=True, backwards=False):
    found = []
    for h in range(n_heads):
        part = slice(h * len(wo) // n_heads, (h + 1) * len(wo) // n_heads)
        s = (x @ wq[:, part]) @ (x @ wk[:, part]).T
        if one_sided:
            s[np.triu_indices(len(x), 1)] = -np.inf
        found.append(softmax(s) @ (x @ wv[:, part]))
    return np.concatenate(found[::-1] if backwards else found, axis=1) @ wo


def layer_unscaled_without_a_mask(*args):
    return layer(*args, one_sided=False)


def layer_unscaled_and_backwards(*args):
    return layer(*args, backwards=True)


def norm_of_sums_with_epsilon_outside(x, gain, eps):
    return x / (np.sqrt((x * x).sum(1)) + eps)[:, None] * gain


def norm_of_columns_without_gain(x, gain, eps):
    return x / np.sqrt((x * x).mean(0) + eps)


def clockwise_from_zero(x, positions):
    d = x.shape[1]
    c, s = (f(np.outer(np.arange(len(x)), 1e4 ** (-np.arange(0, d, 2) / d))) for f in (
        np.cos, np.sin))
    a, b = x[:, ::2], x[:, 1::2]
    return np.dstack([a * c + b * s, b * c - a * s]).reshape(x.shape)


def halves_at_one_frequency(x, positions):
    c, s = np.cos(positions)[:, None], np.sin(positions)[:, None]
    a, b = np.split(x, 2, axis=1)
    return np.hstack([a * c - b * s, a * s + b * c])


def block_that_replaces_then_leaves_out_a_norm(x, attend, feed_forward, norm):
    x = attend(norm(x))
    return x + feed_forward(x)


@pytest.mark.parametrize(("exercise", "answer", "first", "later"), [
    ("rms_norm", norm_of_sums_with_epsilon_outside, "sum-not-mean", "the epsilon"),
    ("rms_norm", norm_of_columns_without_gain, "wrong-axis", "the gain"),
    ("rotary", clockwise_from_zero, "ignores-positions", "the turn"),
    ("rotary", halves_at_one_frequency, "halves-not-pairs", "the frequencies"),
    ("block", block_that_replaces_then_leaves_out_a_norm, "no-residual", "the norms"),
    ("attention", attention_unscaled_and_summed_over_queries, "unscaled", "the weights"),
    ("self_attention", self_attention_keys_for_values_unscaled, "keys-values-swapped",
     "the scale"),
    ("attend_with_past", past_scaled_by_d_and_no_mask, "wrong-scale",
     "the positions of the queries"),
    ("decode_step", step_in_front_and_unscaled, "prepends", "the scale"),
    ("causal_multi_head_attention", layer_unscaled_without_a_mask, "unscaled", "the mask"),
    ("causal_multi_head_attention", layer_unscaled_and_backwards, "unscaled", "the merge"),
], ids=lambda value: getattr(value, "__name__", None))
def test_other_exercises_of_several_steps_do_so_too(exercise, answer, first, later):
    result = check(exercise, answer)
    assert result.diagnosis == first, result
    assert f"later step too: {later}." in result.message
    assert "Question: " in result.message and not result.passed
