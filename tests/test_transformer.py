"""The block and the decoder: each part by loops, any attention alike, caches, and errors."""

import copy
import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_book.block_parts import feed_forward, rms_norm, silu
from attention_book.chunked import chunked_attention
from attention_book.kv_cache import KVCache
from attention_book.masks import causal_mask
from attention_book.positions import rotary
from attention_book.single_head import attention
from attention_book.transformer import Decoder, block
from references import (
    FLOATS,
    assert_within,
    block_loops,
    epsilon,
    exact,
    feed_forward_loop,
    mp,
    project_loop,
    rms_norm_loop,
)

SIZES = {"n_vocab": 17, "d_model": 24, "n_layers": 3, "n_heads": 6, "n_kv_heads": 3, "d_feed": 13,
         "n_context": 29}
CHUNKED = partial(chunked_attention, query_chunk=3, key_chunk=2, workers=2)


def block_weights(rng, dtype=np.float64, d_model=11, n_heads=6, n_kv_heads=3, d_head=4, d_feed=13):
    """Weights of one block, none of them ones or zeros."""
    shapes = {"attention_gain": (d_model,), "wq": (d_model, n_heads * d_head),
              "wk": (d_model, n_kv_heads * d_head), "wv": (d_model, n_kv_heads * d_head),
              "wo": (n_heads * d_head, d_model), "feed_gain": (d_model,),
              "w_gate": (d_model, d_feed), "w_up": (d_model, d_feed), "w_down": (d_feed, d_model)}
    return {name: (rng.normal(size=shape) / shape[0] ** (0.5 * (len(shape) - 1))).astype(dtype)
            for name, shape in shapes.items()}


def decoder(rng, dtype=np.float64, *, tied=True, n_layers=3, **options):
    made = {"n_heads": 6, "n_kv_heads": 3, "n_context": 29, "base": 500.0, "eps": 1e-3, **options}
    blocks = [block_weights(rng, dtype) for _ in range(n_layers)]
    output = None if tied else rng.normal(size=(11, 17)).astype(dtype)
    return Decoder(rng.normal(size=(17, 11)).astype(dtype), blocks,
                   rng.normal(size=11).astype(dtype), output, **made)


def logits_loops(model, tokens):
    """The logits of one sequence, in float64, from the model's weights alone."""
    x = np.stack([model.embedding[token] for token in tokens]).astype(np.float64)
    for w in model.blocks:
        x = block_loops(x, w, **model.heads, base=model.base, eps=model.eps)
    return project_loop(rms_norm_loop(x, model.gain, model.eps), model.output)


def close(got, wanted, roundings=200):
    eps = float(max(np.finfo(got.dtype).eps, np.finfo(np.float64).eps))
    np.testing.assert_allclose(got, wanted, rtol=roundings * eps, atol=roundings * eps)


@pytest.mark.parametrize("dtype", FLOATS)
def test_rms_norm_equals_loops(rng, dtype):
    x, gain = rng.normal(size=(5, 7)).astype(dtype), rng.normal(size=7).astype(dtype)
    for eps in (1e-5, 2.0):
        with np.errstate(all="raise"):
            got = rms_norm(x, gain, eps)
        assert got.dtype == dtype
        close(got, rms_norm_loop(x, gain, eps), roundings=4)


@given(st.integers(0, 2**32 - 1), st.floats(1e-3, 1e3))
def test_rms_norm_leaves_a_mean_square_of_one_at_any_size(seed, size):
    x = np.random.default_rng(seed).normal(size=(3, 7)) * size
    got = rms_norm(x, np.ones(7), 1e-12)
    np.testing.assert_allclose(np.square(got).mean(axis=-1), 1, rtol=1e-4)
    np.testing.assert_allclose(rms_norm(4 * x, np.ones(7), 16e-12), got, rtol=1e-13)


def test_rms_norm_subtracts_no_mean_and_keeps_zeros():
    np.testing.assert_allclose(rms_norm(np.full((1, 5), 3.0), np.arange(5.0)), [range(5)], 1e-5)
    with np.errstate(all="raise"):
        assert not rms_norm(np.zeros((2, 3)), np.ones(3)).any()


@pytest.mark.parametrize("dtype", FLOATS)
def test_rms_norm_of_extremes(dtype):
    info = np.finfo(dtype)
    x = np.array([[info.max, -info.max], [info.max, 0], [info.tiny, 0], [np.nan, 1]], dtype)
    with np.errstate(all="raise"):
        got = rms_norm(x, np.ones(2, dtype))
    close(got[:2], [[1, -1], [math.sqrt(2), 0]], roundings=4)
    np.testing.assert_allclose(got[2], [info.tiny / np.sqrt(np.longdouble(1e-5)), 0], rtol=2e-3)
    assert np.isnan(got[3]).all()


@pytest.mark.parametrize("dtype", FLOATS)
def test_silu_equals_exact_arithmetic(dtype):
    x = np.array([-87.5, -20, -1, -1e-3, 0, 1e-3, 1, 20, 87.5, np.finfo(dtype).max], dtype)
    with np.errstate(all="raise"):
        got = silu(x)
    wanted = [value / (1 + mp.exp(-value)) for value in exact(x)]
    assert_within(got, wanted, [epsilon(dtype) * (3 * abs(w) + mp.mpf(2) ** -13 *
                                                  (dtype == np.float16)) for w in wanted])


@pytest.mark.parametrize("dtype, x", [(np.float32, -90), (np.float64, -711)])
def test_silu_is_right_where_the_plain_exponential_overflows(dtype, x):
    with np.errstate(all="raise"):
        got = silu(np.array([x], dtype))[0]
    assert got != 0
    assert abs(mp.mpf(float(got)) / (x / (1 + mp.exp(-x))) - 1) < 8 * epsilon(dtype)


def test_silu_far_below_zero_is_zero():
    with np.errstate(all="raise"):
        assert silu(np.array([-1e4, -1e300])).tolist() == [0, 0]


@pytest.mark.parametrize("dtype", FLOATS)
def test_silu_of_infinities_is_the_limit_and_nan_stays(dtype):
    with np.errstate(all="raise"):
        got = silu(np.array([-np.inf, np.inf, np.nan, np.finfo(dtype).min], dtype))
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, [0, np.inf, np.nan, 0])


@pytest.mark.parametrize("dtype", FLOATS)
def test_feed_forward_equals_loops(rng, dtype):
    arrays = [rng.normal(size=shape).astype(dtype) for shape in ((5, 7), (7, 3), (7, 3), (3, 2))]
    with np.errstate(all="raise"):
        got = feed_forward(*arrays)
    assert got.dtype == dtype and got.shape == (5, 2)
    np.testing.assert_allclose(got, feed_forward_loop(*arrays), rtol=0,
                               atol=float(64 * max(np.finfo(dtype).eps, 2.0**-52)))


def test_feed_forward_works_on_each_row_by_itself(rng):
    x = rng.normal(size=(2, 5, 7))
    weights = [rng.normal(size=shape) for shape in ((7, 3), (7, 3), (3, 7))]
    whole = feed_forward(x, *weights)
    x[1, 2] = np.nan
    spoilt = feed_forward(x, *weights)
    assert np.isnan(spoilt[1, 2]).all()
    spoilt[1, 2] = whole[1, 2]
    close(spoilt, whole)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_block_equals_loops(rng, dtype):
    w, x = block_weights(rng, dtype), rng.normal(size=(7, 11)).astype(dtype)
    got = block(x, w, n_heads=6, n_kv_heads=3, eps=1e-3, mask=causal_mask(7),
                rotate=partial(rotary, base=500.0))
    assert got.dtype == dtype
    close(got, block_loops(x.astype(float), w, 6, 3, 500.0, 1e-3))


def test_weights_of_the_feed_forward_network_for_each_sample(rng):
    x, w_gate, w_up, w_down = (rng.normal(size=shape) for shape in
                               ((5, 7), (2, 7, 3), (7, 3), (3, 1, 3, 11)))
    got = feed_forward(x, w_gate, w_up, w_down)  # leading axes broadcast
    assert got.shape == (3, 2, 5, 11)
    close(got[2, 1], feed_forward_loop(x, w_gate[1], w_up, w_down[2, 0]))


def test_block_without_weights_passes_on_what_comes(rng):
    x = rng.normal(size=(2, 7, 11))
    for silent in (("wo", "w_down"), ("wv", "w_up"), ("attention_gain", "feed_gain")):
        w = block_weights(rng)
        w.update({name: np.zeros_like(w[name]) for name in silent})
        np.testing.assert_array_equal(block(x, w, n_heads=6, n_kv_heads=3), x)


def test_the_parts_of_a_block_are_added_one_after_the_other(rng):
    x, w = rng.normal(size=(7, 11)), block_weights(rng)
    halves = {**w, "w_down": np.zeros_like(w["w_down"])}, {**w, "wo": np.zeros_like(w["wo"])}
    sizes = {"n_heads": 6, "n_kv_heads": 3}
    whole = block(x, w, **sizes)
    close(block(block(x, halves[0], **sizes), halves[1], **sizes), whole)
    assert abs(block(block(x, halves[1], **sizes), halves[0], **sizes) - whole).max() > 0.1


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_logits_equal_loops(rng, tied, dtype):
    model, tokens = decoder(rng, dtype, tied=tied), [3, 16, 0, 3, 7]
    with np.errstate(all="raise"):
        got = model.logits(tokens)
    assert got.dtype == dtype and got.shape == (5, 17)
    close(got, logits_loops(model, tokens), roundings=500)


def test_one_weight_of_a_wider_type_makes_all_wider(rng):
    model = decoder(rng, np.float32)
    blocks = [dict(w) for w in model.blocks]
    blocks[2]["w_up"] = blocks[2]["w_up"].astype(np.float64)
    wide = Decoder(model.embedding, blocks, model.gain, **model.heads, n_context=5)
    assert wide.dtype == wide.logits([1]).dtype == wide.blocks[0]["wq"].dtype == np.float64


def test_tied_embeddings_are_not_copied(rng):
    model = decoder(rng)
    assert np.shares_memory(model.output, model.embedding)


@pytest.mark.parametrize("leading", [(), (2,), (3, 2), (0,)])
def test_dense_cached_and_chunked_give_the_same_logits(rng, leading):
    model, tokens = decoder(rng), rng.integers(0, 17, (*leading, 7))
    dense = model.logits(tokens)
    close(model.logits(tokens, attend=CHUNKED), dense)
    close(model.logits(tokens, attend=partial(CHUNKED, causal=True)), dense)
    for attend in (attention, CHUNKED, [attention, CHUNKED, attention]):
        caches = model.new_caches(7, leading)
        parts = [model.logits(part, caches=caches, attend=attend)
                 for part in np.split(tokens, [4, 5, 5, 6], axis=-1)]
        close(np.concatenate(parts, axis=-2), dense)


@pytest.mark.parametrize("dtype, roundings", [(np.float16, 30), (np.float32, 100),
                                              (np.float64, 100)])
def test_cached_equals_full_within_a_tolerance_for_each_type(rng, dtype, roundings):
    # transformers#25420: not ==
    model, tokens = decoder(rng, dtype), rng.integers(0, 17, 7)
    caches = model.new_caches(7)
    assert {cache.dtype for cache in caches} == {np.dtype(dtype)}
    parts = [model.logits(tokens[i:i + 1], caches=caches) for i in range(7)]
    close(np.concatenate(parts), model.logits(tokens), roundings)


@given(st.lists(st.integers(0, 9), max_size=4), st.integers(0, 2**32 - 1))
def test_cached_equals_full_for_every_split(cuts, seed):
    rng = np.random.default_rng(seed)
    model, tokens = decoder(rng, n_layers=2), rng.integers(0, 17, 9)
    caches = model.new_caches()
    parts = [model.logits(part, caches=caches) for part in np.split(tokens, sorted(cuts))]
    close(np.concatenate(parts), model.logits(tokens), roundings=10_000)


@given(st.integers(0, 6), st.integers(0, 16), st.integers(0, 2**32 - 1))
def test_a_token_changes_nothing_before_it(place, token, seed):
    rng = np.random.default_rng(seed)
    model, tokens = decoder(rng, n_layers=2), rng.integers(0, 17, 7)
    before = model.logits(tokens)
    changed = tokens.copy()
    changed[place] = token
    after = model.logits(changed)
    np.testing.assert_array_equal(after[:place], before[:place])
    if token != tokens[place]:
        assert (abs(after[place:] - before[place:]).max(axis=-1) > 1e-12).all()


def test_the_order_of_earlier_tokens_counts(rng):
    model = decoder(rng)
    assert abs(model.logits([1, 2, 3])[-1] - model.logits([2, 1, 3])[-1]).max() > 0.01


def test_no_tokens_no_blocks(rng):
    model = decoder(rng)
    assert model.logits([]).shape == (0, 17) and model.hidden(np.zeros((2, 0), int)).shape == (
        2, 0, 11)
    bare = Decoder(model.embedding, [], model.gain, n_heads=1, n_context=3)
    close(bare.logits([4]), rms_norm(model.embedding[[4]], model.gain) @ model.embedding.T)


def test_nothing_is_written_to_and_nothing_is_shared(rng):
    model, tokens = decoder(rng), np.array([1, 2, 3])
    old = copy.deepcopy((model.embedding, model.blocks, model.gain))
    for array in (model.embedding, model.gain, tokens, *model.blocks[0].values()):
        array.flags.writeable = False
    got = model.logits(tokens)
    list(model.generate(tokens, 5))
    np.testing.assert_equal((model.embedding, model.blocks, model.gain), old)
    assert tokens.tolist() == [1, 2, 3] and not np.shares_memory(got, model.embedding)


def greedy_loops(model, tokens, n_new):
    """Token after token, each time from the logits of everything so far."""
    tokens = list(tokens)
    for _ in range(n_new):
        tokens.append(int(np.argmax(logits_loops(model, tokens)[-1])))
    return tokens[-n_new:]


def test_generate_equals_loops(rng):
    model = decoder(rng)
    wanted = greedy_loops(model, [3, 16, 0], 8)
    assert len(set(wanted)) > 2
    for options in ({}, {"cached": False}, {"attend": CHUNKED},
                    {"attend": [attention, CHUNKED, attention], "cached": False}):
        got = list(model.generate([3, 16, 0], 8, **options))
        assert got == wanted and {type(token) for token in got} == {int}


def test_generate_with_chance_is_the_same_with_and_without_a_cache(rng):
    model = decoder(rng)

    def drawn(seed, **options):
        rng = np.random.default_rng(seed)
        return list(model.generate([3], 20, rng=rng, temperature=0.8, top_k=5, **options))

    assert drawn(1) == drawn(1, cached=False) == drawn(1, attend=CHUNKED)
    assert drawn(1) != drawn(2)


def test_generate_goes_on_to_the_end_of_the_context(rng):
    model = decoder(rng, n_context=9)
    assert len(list(model.generate([1, 2, 3]))) == 6
    assert list(model.generate(range(9))) == [] == list(model.generate([1], 0))


def test_generate_streams_and_a_token_costs_one_step(rng, monkeypatch):
    model, seen = decoder(rng), []
    hidden = Decoder.hidden

    def counted(self, tokens, **options):
        seen.append(len(tokens))
        return hidden(self, tokens, **options)

    monkeypatch.setattr(Decoder, "hidden", counted)
    stream = model.generate([1, 2, 3], 5)
    assert seen == []
    next(stream)
    assert seen == [3]
    list(stream)
    assert seen == [3, 1, 1, 1, 1]
    list(model.generate([1, 2, 3], 3, cached=False))
    assert seen[5:] == [3, 4, 5]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_failure_leaves_all_caches_as_they_were(rng, error):
    model = decoder(rng)
    caches = model.new_caches()
    model.logits([1, 2], caches=caches)

    def fails(q, k, v, *, mask=None):
        raise error

    with pytest.raises(error):
        model.logits([3, 4, 5], caches=caches, attend=[attention, attention, fails])
    assert [len(cache) for cache in caches] == [2, 2, 2]


def test_untrained_has_the_sizes_asked_for_and_keeps_the_variance(rng):
    model = Decoder.untrained(rng, **{**SIZES, "d_model": 72}, tied=False)
    assert model.dtype == np.float32 and model.n_context == 29 and len(model.blocks) == 3
    assert model.embedding.shape == (17, 72) and model.output.shape == (72, 17)
    shapes = {name: w.shape for name, w in model.blocks[0].items()}
    assert shapes == {"attention_gain": (72,), "wq": (72, 72), "wk": (72, 36), "wv": (72, 36),
                      "wo": (72, 72), "feed_gain": (72,), "w_gate": (72, 13), "w_up": (72, 13),
                      "w_down": (13, 72)}
    for name in ("wq", "wk", "w_gate", "w_down"):
        x = rng.normal(size=(500, shapes[name][0]))
        assert 0.7 < (x @ model.blocks[1][name]).std() < 1.3
    again = Decoder.untrained(np.random.default_rng(3), **SIZES)
    same = Decoder.untrained(np.random.default_rng(3), **SIZES)
    np.testing.assert_array_equal(again.blocks[2]["wq"], same.blocks[2]["wq"])


def test_smollm2_has_134515008_weights():
    # 30 layers, 9 heads that share 3 of keys and values, tied: the number its authors give
    def count(n_layers):
        model = Decoder(np.zeros((49152, 576), np.float16), [blocks] * n_layers,
                        np.ones(576, np.float16), n_heads=9, n_kv_heads=3, n_context=8192, base=1e5)
        return sum(w.size for part in model.blocks for w in part.values())

    shapes = {"attention_gain": (576,), "wq": (576, 576), "wk": (576, 192), "wv": (576, 192),
              "wo": (576, 576), "feed_gain": (576,), "w_gate": (576, 1536), "w_up": (576, 1536),
              "w_down": (1536, 576)}
    blocks = {name: np.zeros(shape, np.float16) for name, shape in shapes.items()}
    assert count(30) + 49152 * 576 + 576 == 134_515_008


X, W = np.ones((7, 11)), block_weights(np.random.default_rng(0))
BATCHED = {name: np.stack([W[name]] * n) for name, n in (("w_gate", 2), ("w_up", 3),
                                                         ("w_down", 5))}
ENDS = {"embedding": np.ones((17, 11)), "blocks": [W], "gain": np.ones(11), "n_heads": 6,
        "n_kv_heads": 3, "n_context": 29}
MODEL = Decoder(**ENDS)


TWO = Decoder(**{**ENDS, "blocks": [W, W]})
ONE_CACHE = TWO.new_caches()[0]


def untrained(**sizes):
    return partial(Decoder.untrained, np.random.default_rng(0), **{**SIZES, **sizes})


def changed(**weights):
    return {**W, **weights}


def with_block(**weights):
    return partial(block, X, changed(**weights), n_heads=6, n_kv_heads=3)


def made(**arguments):
    return partial(Decoder, **{**ENDS, **arguments})


# The call; the error; the argument, what came, what was wanted, and a word of the cause.
CASES = [
    (partial(rms_norm, None, X[0]), TypeError, "x", "None", "(..., n, d_model)", "forget"),
    (partial(rms_norm, X[0], W["feed_gain"]), ValueError, "x", "(11,)", "2 axes", "x[None, :]"),
    (partial(rms_norm, X, np.ones(7)), ValueError, "gain", "(7,)", "(11,)", "each feature"),
    (partial(rms_norm, X, np.ones((1, 11))), ValueError, "gain", "(1, 11)", "(11,)", ""),
    (partial(rms_norm, X, X[0], 0), ValueError, "eps", "0", "above 0", ""),
    (partial(rms_norm, X, X[0], -1e-5), ValueError, "eps", "-1e-05", "above 0", ""),
    (partial(rms_norm, X, X[0], None), TypeError, "eps", "None", "one real number", ""),
    (partial(silu, "x"), TypeError, "x", "text", "(..., n)", ""),
    (partial(feed_forward, X, W["w_down"], W["w_up"], W["w_down"]), ValueError, "w_gate",
     "d_model = 13", "d_model = 11, as in x", "transposed"),
    (partial(feed_forward, X, W["w_gate"], W["w_up"][:, :5], W["w_down"]), ValueError, "w_up",
     "d_feed = 5", "d_feed = 13", ""),
    (partial(feed_forward, X, W["w_gate"], W["w_up"], W["w_up"]), ValueError, "w_down",
     "d_feed = 11", "d_feed = 13", ""),
    (partial(feed_forward, X, BATCHED["w_gate"], BATCHED["w_up"], W["w_down"]), ValueError,
     "x and w_gate and w_up and w_down", "w_up (3,)", "(..., n, d_out)", "Leading axes"),
    (partial(feed_forward, X, BATCHED["w_gate"], W["w_up"], BATCHED["w_down"]), ValueError,
     "x and w_gate and w_up and w_down", "w_down (5,)", "(..., n, d_out)", "Leading axes"),
    (partial(block, X, [W], n_heads=6), TypeError, "weights", "list", "a dict of attention", ""),
    (partial(block, X, {"wq": W["wq"]}, n_heads=6), TypeError, "weights", "['wq']", "w_down", ""),
    (partial(block, X[:, :7], W, n_heads=6, n_kv_heads=3), ValueError, "attention_gain", "(11,)",
     "(7,)", "each feature"),
    (with_block(wo=np.ones((24, 1))), ValueError, "wo", "d_model = 1", "d_model = 11", "added"),
    (with_block(w_down=np.ones((13, 1))), ValueError, "w_down", "d_model = 1", "= 11", "added"),
    *((with_block(**{name: w}), ValueError, name, str(w.shape), "a matrix", "")
      for name, w in BATCHED.items()),
    (with_block(wo=None), TypeError, "wo", "None", "d_model)", "forget"),
    (with_block(wo=1.0), ValueError, "wo", "()", "d_model)", ""),
    (with_block(wo="x"), TypeError, "wo", "text", "d_model)", ""),
    (with_block(wo=[[1], [2, 3]]), ValueError, "wo", "different lengths", "d_model)", "Pad"),
    (with_block(w_up=np.ones((7, 13))), ValueError, "w_up", "d_model = 7", "d_model = 11", ""),
    (with_block(wk=np.ones((11, 13))), ValueError, "wk", "13", "a multiple of n_kv_heads = 3", ""),
    (made(embedding=np.ones(11)), ValueError, "embedding", "(11,)", "(n_vocab, d_model)", ""),
    (made(embedding=np.ones((2, 17, 11))), ValueError, "embedding", "(2, 17, 11)", "(n_vocab", ""),
    (made(gain=np.ones(17)), ValueError, "gain", "(17,)", "(11,)", ""),
    (made(output=np.ones((17, 11))), ValueError, "output", "(17, 11)", "(d_model, n_vocab)", ""),
    (made(blocks=W), TypeError, "blocks", "dict", "a list of dicts", ""),
    (made(blocks=[W, W["wq"]]), TypeError, "blocks[1]", "(11, 24)", "a dict of", ""),
    (made(blocks=[W, changed(wq=np.ones((11, 30)))]), ValueError, "blocks[1]: wq", "(11, 30)",
     "(11, 24)", "6 heads"),
    (made(blocks=[changed(wq=np.ones((11, 18)))]), ValueError, "blocks[0]: wq", "(11, 18)",
     "(11, 12)", "an even d_head"),
    (made(blocks=[changed(wk=W["wq"])]), ValueError, "blocks[0]: wk", "(11, 24)", "(11, 12)", ""),
    (made(blocks=[changed(wo=W["wq"])]), ValueError, "blocks[0]: wo", "(11, 24)", "(24, 11)", ""),
    (made(blocks=[changed(wv=None)]), TypeError, "blocks[0]: wv", "None", "weights", "forget"),
    (made(n_heads=0), ValueError, "n_heads", "0", "at least 1", ""),
    (made(n_kv_heads=4), ValueError, "n_kv_heads", "4", "a divisor of n_heads = 6", ""),
    (made(n_kv_heads=-3), ValueError, "n_kv_heads", "-3", "at least 1", ""),
    (made(n_context=2.5), TypeError, "n_context", "2.5", "a whole number", ""),
    (made(base=-1), ValueError, "base", "-1", "above 0", ""),
    (made(eps=0), ValueError, "eps", "0", "above 0", ""),
    (partial(Decoder.untrained, None, **{**SIZES, "d_model": 0}), ValueError, "d_model", "0",
     "at least 1", ""),
    (partial(Decoder.untrained, None, **{**SIZES, "n_layers": 1.5}), TypeError, "n_layers", "1.5",
     "a whole number", ""),
    (untrained(n_kv_heads=0), ValueError, "n_kv_heads", "0", "at least 1", ""),
    (untrained(n_kv_heads="1"), TypeError, "n_kv_heads", "str", "a whole number", ""),
    (untrained(n_heads=5), ValueError, "d_model", "", "a multiple of 2 * n_heads = 10", "pairs"),
    (untrained(tied="no"), TypeError, "tied", "str", "True or False", ""),
    (untrained(dtype=int), TypeError, "dtype", "int", "a floating type", ""),
    (untrained(dtype="foo"), TypeError, "dtype", "foo", "a floating type", ""),
    (partial(Decoder.untrained, None, **SIZES), TypeError, "rng", "None", "a NumPy Generator", ""),
    (partial(Decoder.untrained, np.random.Generator, **SIZES), TypeError, "rng",
     "the class Generator", "a NumPy Generator", ""),
    (made(n_kv_heads=0), ValueError, "n_kv_heads", "0", "at least 1", ""),
    (made(n_kv_heads=""), TypeError, "n_kv_heads", "str", "a whole number", ""),
    (partial(MODEL.new_caches, 30), ValueError, "capacity", "30", "at most n_context = 29", ""),
    (partial(TWO.logits, [0], caches=[ONE_CACHE] * 2), ValueError, "caches", "the same cache",
     "one for each block", "new_caches"),
    (partial(MODEL.logits, [3, 17]), ValueError, "tokens", "the id 17", "0 to 16", "tokenizer"),
    (partial(MODEL.logits, [[3, -1]]), ValueError, "tokens", "the id -1", "0 to 16", "tokenizer"),
    (partial(MODEL.logits, [2**63]), ValueError, "tokens", "9223372036854775808", "0 to 16", ""),
    (partial(MODEL.logits, [3.0]), TypeError, "tokens", "float64", "whole numbers", ""),
    (partial(MODEL.logits, [True]), TypeError, "tokens", "bool", "whole numbers", ""),
    (partial(MODEL.logits, "text"), TypeError, "tokens", "text", "ids", ""),
    (partial(MODEL.logits, None), TypeError, "tokens", "None", "ids", "forget"),
    (partial(MODEL.logits, 3), ValueError, "tokens", "a single id", "(..., n)", "[3]"),
    (partial(MODEL.logits, [[1, 2], [3]]), ValueError, "tokens", "different lengths", "ids", "Pad"),
    (partial(MODEL.logits, [0] * 30), ValueError, "tokens", "30 tokens", "at most 29", "Shorten"),
    (partial(MODEL.logits, [0], caches=[]), TypeError, "caches", "0 of them", "1 caches",
     "new_caches"),
    (partial(MODEL.logits, [0], caches=KVCache(3, 4, capacity=5)), TypeError, "caches", "KVCache",
     "a list", "new_caches"),
    *((partial(TWO.logits, [0], caches=[ONE_CACHE, bad]), TypeError, "caches[1]", came, "a KVCache",
       "new_caches") for bad, came in ((2, "2"), ([], "list"), (None, "None"), (X, "(7, 11)"),
                                       (KVCache, "the class KVCache"))),
    (partial(MODEL.logits, [0], caches=[1]), TypeError, "caches[0]", "1", "a KVCache", ""),
    (partial(MODEL.logits, [0], caches=[KVCache(3, 4, capacity=5)]), TypeError, "cache", "float32",
     "float64", ""),
    (partial(MODEL.logits, [0] * 3, caches=MODEL.new_caches(2)), ValueError, "cache", "3 tokens",
     "at most 2", "capacity"),
    (partial(MODEL.logits, [0], attend=None), TypeError, "attend", "None", "attend(q, k, v", ""),
    (partial(MODEL.logits, [0], attend=[]), ValueError, "attend", "0 functions", "each of 1", ""),
    (partial(MODEL.new_caches, -1), ValueError, "capacity", "-1", "at least 0", ""),
    (partial(MODEL.generate, [0] * 30), ValueError, "prompt", "30 tokens", "at most 29", "Shorten"),
    (partial(MODEL.generate, [0, 17]), ValueError, "prompt", "the id 17", "0 to 16", "tokenizer"),
    (partial(MODEL.generate, []), ValueError, "prompt", "(0,)", "one token at least", ""),
    (partial(MODEL.generate, [[1, 2]]), ValueError, "prompt", "(1, 2)", "(n,)", ""),
    (partial(MODEL.generate, [0] * 20, 10), ValueError, "n_new", "10", "at most 9", ""),
    (partial(MODEL.generate, [0], 10**30), ValueError, "n_new", "10000", "at most 28", ""),
    (partial(MODEL.generate, [0], -1), ValueError, "n_new", "-1", "at least 0", ""),
    (partial(MODEL.generate, [0], 5, cached=None), TypeError, "cached", "None", "True or", ""),
    (partial(MODEL.generate, [0], 5, attend=3), TypeError, "attend", "3", "attend(q, k, v", ""),
    (partial(MODEL.generate, [0], 5, rng=3), TypeError, "rng", "3", "a NumPy Generator", ""),
    (partial(MODEL.generate, [0], 5, rng=np.random.Generator), TypeError, "rng",
     "the class Generator", "a NumPy Generator", ""),
    (partial(MODEL.generate, [0], 5, temperature=2), ValueError, "rng", "None", "temperature", ""),
]


@pytest.mark.parametrize("call, error, name, got, wanted, cause", CASES)
def test_bad_input_is_refused_in_words_and_at_once(call, error, name, got, wanted, cause):
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    assert caught.type is error
    argument, _, rest = str(caught.value).partition(": got ")
    came, _, rest = rest.partition("; wanted ")
    assert argument == name and got in came and wanted in rest and cause in rest, caught.value


def test_good_input_of_the_table_passes():
    assert with_block()().shape == (7, 11)
    assert MODEL.logits(np.array([[16, 0]], np.uint8)).shape == (1, 2, 17)
    assert MODEL.logits([0] * 29).shape == (29, 17)


def test_caches_of_different_lengths_are_refused(rng):
    model = decoder(rng)
    caches = model.new_caches()
    model.logits([1, 2], caches=caches)
    caches[1].truncate(1)
    with pytest.raises(ValueError, match=r"caches: got caches of \[1, 2\] positions; wanted"):
        model.logits([3], caches=caches)
    assert [len(cache) for cache in caches] == [2, 1, 2]


def test_what_a_block_refuses_leaves_its_cache_as_it_was(rng):
    cache = KVCache(3, 4, capacity=9, dtype=np.float64)
    for bad in ({"w_up": np.ones((7, 13))}, {"wo": np.ones((24, 1))}, {"feed_gain": np.ones(3)},
                {"wo": 1.0}, *({name: w} for name, w in BATCHED.items()), BATCHED):
        with pytest.raises(ValueError, match="wanted"):
            with_block(**bad)(cache=cache)
        assert len(cache) == 0
    with_block()(cache=cache)
    assert len(cache) == 7
