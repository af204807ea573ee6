"""What the heads of a decoder look at: two scores by loops, the weights, and heads switched off."""

from functools import partial

import numpy as np
import pytest

from attention_book import (
    Decoder,
    attention_weights,
    chunked_attention,
    induction_score,
    previous_token_score,
    without_heads,
)
from references import attention_loops, project_loop, rms_norm_loop

SIZES = {"n_vocab": 17, "d_model": 24, "n_layers": 3, "d_feed": 13, "n_context": 29}
HEADS = [{"n_heads": 6, "n_kv_heads": 3}, {"n_heads": 3}, {"n_heads": 6, "n_kv_heads": 1}]
TOKENS = np.array([3, 14, 1, 5, 9])


@pytest.fixture(params=HEADS, ids=str)
def model(request):
    return Decoder.untrained(np.random.default_rng(0), **SIZES, **request.param, dtype=np.float64)


def causal_weights(rng, *shape):
    weights = np.tril(rng.random(shape))
    return weights / weights.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("period", [1, 2, 5, 10])
def test_scores_equal_loops(rng, period):
    weights = causal_weights(rng, 2, 3, 11, 11)
    back = [np.mean([weights[layer, head, t, t - period + 1] for t in range(period, 11)])
            for layer in range(2) for head in range(3)]
    before = [np.mean([weights[layer, head, t, t - 1] for t in range(1, 11)])
              for layer in range(2) for head in range(3)]
    np.testing.assert_allclose(induction_score(weights, period).ravel(), back)
    np.testing.assert_allclose(previous_token_score(weights).ravel(), before)


def test_a_perfect_head_scores_one_and_one_that_looks_elsewhere_zero():
    shift = np.eye(11, k=-4)
    assert induction_score(shift, 5) == 1
    assert induction_score(shift, 4) == induction_score(shift, 6) == 0
    assert previous_token_score(np.eye(7, k=-1)) == 1 and previous_token_score(np.eye(7)) == 0


def test_the_weights_are_those_of_each_head(model):
    """The first block's by loops; all of them sum to one, and none looks ahead."""
    weights = attention_weights(model, TOKENS)
    n_heads, n_kv_heads = model.heads.values()
    assert weights.shape == (3, n_heads, 5, 5)
    np.testing.assert_allclose(weights.sum(axis=-1), 1)
    assert not np.triu(weights, 1).any()
    w = model.blocks[0]
    x = rms_norm_loop(model.embedding[TOKENS], w["attention_gain"], model.eps)
    d = 24 // n_heads
    for head in range(n_heads):
        shared = head * n_kv_heads // n_heads
        q, k = (project_loop(x, w[name][:, place * d:(place + 1) * d]).reshape(5, d // 2, 2)
                for name, place in (("wq", head), ("wk", shared)))
        q, k = (np.einsum("tiab,tib->tia", turns(d), part).reshape(5, d) for part in (q, k))
        wanted = [attention_loops(q[[t]], k[:t + 1], np.eye(t + 1))[0] for t in range(5)]
        for t, row in enumerate(wanted):
            np.testing.assert_allclose(weights[0, head, t, :t + 1], row, rtol=1e-6)


def turns(d):
    angles = np.outer(np.arange(5), 10000.0 ** (-np.arange(0, d, 2) / d))
    return np.moveaxis(np.array([[np.cos(angles), -np.sin(angles)],
                                 [np.sin(angles), np.cos(angles)]]), (0, 1), (-2, -1))


def test_weights_of_several_texts(model):
    texts = np.array([TOKENS, TOKENS[::-1]])
    weights = attention_weights(model, texts)
    assert weights.shape == (3, 2, model.heads["n_heads"], 5, 5)
    for i, text in enumerate(texts):
        np.testing.assert_allclose(weights[:, i], attention_weights(model, text))


def test_weights_where_there_are_none():
    bare = Decoder.untrained(np.random.default_rng(0), **SIZES | {"n_layers": 0}, n_heads=3)
    assert attention_weights(bare, TOKENS).shape == (0, 3, 5, 5)


def test_a_head_is_off_as_if_its_part_of_wo_were_zeros(model):
    heads = [(0, 1), (2, 0), (2, 2)]
    d = 24 // model.heads["n_heads"]
    cut = [{**w, "wo": w["wo"].copy()} for w in model.blocks]
    for layer, head in heads:
        cut[layer]["wo"][head * d:(head + 1) * d] = 0
    other = Decoder(model.embedding, cut, model.gain, **model.heads, n_context=29)
    np.testing.assert_allclose(attention_weights(model, TOKENS, off=heads),
                               attention_weights(other, TOKENS), rtol=1e-9, atol=1e-9)
    wanted = other.logits(TOKENS)
    got = model.logits(TOKENS, attend=without_heads(model, heads))
    np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-9)
    assert abs(model.logits(TOKENS) - wanted).max() > 1e-3
    chunks = without_heads(model, heads, partial(chunked_attention, key_chunk=2))
    np.testing.assert_allclose(model.logits(TOKENS, attend=chunks), wanted, rtol=1e-9, atol=1e-9)
    greedy = model.generate(TOKENS, 7, attend=without_heads(model, heads))
    assert list(greedy) == list(other.generate(TOKENS, 7))  # with the cache, too


def test_no_head_off_changes_nothing(model):
    np.testing.assert_array_equal(model.logits(TOKENS, attend=without_heads(model, [])),
                                  model.logits(TOKENS))


def test_what_a_head_that_is_off_held_has_no_influence():
    model = Decoder.untrained(np.random.default_rng(0), **SIZES, n_heads=3, dtype=np.float64)
    model.blocks[1]["wv"][:, :8] = np.nan  # the values of head 0
    assert np.isnan(model.logits(TOKENS)).all()
    assert np.isfinite(model.logits(TOKENS, attend=without_heads(model, [(1, 0)]))).all()


MODEL = Decoder.untrained(np.random.default_rng(0), **SIZES, n_heads=3)


@pytest.mark.parametrize(("call", "error", "words"), [
    (partial(induction_score, np.ones((2, 5)), 2), ValueError, r"weights: got shape \(2, 5\)"),
    (partial(induction_score, np.eye(5), 5), ValueError, "period: got 5; wanted below n = 5"),
    (partial(induction_score, np.eye(5), 0), ValueError, "period: got 0; wanted a whole number"),
    (partial(induction_score, np.eye(5), 2.0), TypeError, "period: got 2.0"),
    (partial(previous_token_score, [[1.0]]), ValueError, "weights: got shape .* two tokens"),
    (partial(previous_token_score, [True, False]), TypeError, "weights: got shape"),
    (partial(attention_weights, MODEL, [17]), ValueError, "tokens: got the id 17"),
    (partial(attention_weights, None, [1]), TypeError, "decoder: got None; wanted a Decoder"),
    (partial(attention_weights, [1], MODEL), TypeError, "decoder: got a value of type list"),
    (partial(without_heads, None, [(0, 0)]), TypeError, "decoder: got None; wanted a Decoder"),
    (partial(without_heads, Decoder, []), TypeError, "decoder: got the class Decoder"),
    (partial(without_heads, MODEL, [(3, 0)]), ValueError, "heads: got the block 3; .* 0 to 2"),
    (partial(without_heads, MODEL, [(0, 3)]), ValueError, "heads: got the head 3; .* 0 to 2"),
    (partial(without_heads, MODEL, [(-1, 0)]), ValueError, "heads: got -1"),
    (partial(without_heads, MODEL, [(0, 1.0)]), TypeError, "heads: got 1.0"),
    (partial(without_heads, MODEL, [7]), TypeError, "heads: got 7; wanted pairs"),
    (partial(without_heads, MODEL, 7), TypeError, "heads: got 7; wanted pairs"),
    (partial(without_heads, MODEL, [], attend=3), TypeError, "attend: got 3"),
])
def test_errors_say_what_came_and_what_is_wanted(call, error, words):
    with pytest.raises(error, match=words):
        call()
