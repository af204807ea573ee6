"""Several heads: cut and joined rightly, grouped, masked for samples and heads, with a cache."""

import copy
import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attention_book.chunked import chunked_attention
from attention_book.kv_cache import KVCache
from attention_book.masks import causal_mask, padding_mask, sliding_window_mask
from attention_book.multi_head import merge_heads, multi_head_attention, repeat_kv, split_heads
from attention_book.single_head import attention, causal_attention
from references import FLOATS, attention_loops, causal_mask_loops, project_loop


def head_columns(w, head, n_heads):
    """The columns of one head, counted out one at a time."""
    d = w.shape[1] // n_heads
    return np.stack([w[:, head * d + c] for c in range(d)], axis=1)


def multi_head_loops(x, wq, wk, wv, wo, n_heads, n_kv_heads=None, mask=None):
    """One sample, head by head in float64; ``mask`` is None, for all heads, or for each."""
    x, wq, wk, wv, wo = (np.asarray(array, np.float64) for array in (x, wq, wk, wv, wo))
    n_kv_heads = n_kv_heads or n_heads
    joined = []
    for head in range(n_heads):
        shared = head * n_kv_heads // n_heads
        allowed = mask if mask is None or mask.ndim == 2 else mask[head]
        joined.append(attention_loops(project_loop(x, head_columns(wq, head, n_heads)),
                                      project_loop(x, head_columns(wk, shared, n_kv_heads)),
                                      project_loop(x, head_columns(wv, shared, n_kv_heads)),
                                      allowed))
    return project_loop(np.concatenate(joined, axis=1), wo)


def layer(rng, dtype=np.float64, leading=(), n=7, d_model=11, n_heads=6, n_kv_heads=3, d_head=5,
          d_value=2, d_out=13):
    """Tokens and the four weight matrices, of distinct sizes."""
    shapes = [(*leading, n, d_model), (d_model, n_heads * d_head), (d_model, n_kv_heads * d_head),
              (d_model, n_kv_heads * d_value), (n_heads * d_value, d_out)]
    return [(rng.normal(size=shape) / max(1, shape[-2] * (i > 0)) ** 0.5).astype(dtype)
            for i, shape in enumerate(shapes)]


GROUPED = {"n_heads": 6, "n_kv_heads": 3}


def close(got, wanted, roundings=100):
    eps = float(max(np.finfo(got.dtype).eps, np.finfo(np.float64).eps))
    np.testing.assert_allclose(got, wanted, rtol=roundings * eps, atol=roundings * eps)


def test_split_gives_head_0_the_first_features_of_every_row():
    # FuxiCTR#30: reshaping alone gives head 0 the first rows, and a training test still passed
    x = np.arange(6).reshape(1, 3, 2)
    assert split_heads(x, 2)[0, 0].ravel().tolist() == [0, 2, 4]
    assert split_heads(x, 2)[0, 1].ravel().tolist() == [1, 3, 5]
    assert split_heads(np.arange(12).reshape(2, 6), 3).tolist() == [
        [[0, 1], [6, 7]], [[2, 3], [8, 9]], [[4, 5], [10, 11]]]


@pytest.mark.parametrize("leading", [(), (2,), (3, 2)])
@pytest.mark.parametrize("n, n_heads, d", [(5, 3, 7), (1, 1, 1), (3, 5, 1), (2, 1, 7), (0, 3, 2),
                                           (5, 3, 0)])
def test_split_and_merge_undo_each_other_number_by_number(rng, leading, n, n_heads, d):
    x = rng.normal(size=(*leading, n, n_heads * d))
    heads = split_heads(x, n_heads)
    assert heads.shape == (*leading, n_heads, n, d)
    for index in np.ndindex(*leading):
        for h, i, c in np.ndindex(n_heads, n, d):
            assert heads[(*index, h, i, c)] == x[(*index, i, h * d + c)]
    np.testing.assert_array_equal(merge_heads(heads), x, strict=True)


def test_splitting_copies_nothing(rng):
    x = rng.normal(size=(2, 5, 6))
    assert np.shares_memory(split_heads(x, 3), x)
    keys = split_heads(x, 3)
    assert not np.shares_memory(repeat_kv(keys, 2), x)


def test_repeated_heads_stand_beside_each_other():
    # onnx#7274: tiling gives the order 0, 1, 0, 1
    heads = np.array([[[10.0]], [[11.0]]])
    assert repeat_kv(heads, 2).ravel().tolist() == [10, 10, 11, 11]
    assert repeat_kv(np.stack([heads, heads + 2]), 3)[:, :, 0, 0].tolist() == [
        [10, 10, 10, 11, 11, 11], [12, 12, 12, 13, 13, 13]]


def test_query_heads_share_the_keys_of_their_own_group():
    # onnx#7274, in the whole layer: 4 query heads, 2 key heads that give 10 and 11
    x, wq, wk, wv = np.ones((1, 1)), np.ones((1, 4)), np.ones((1, 2)), np.array([[10.0, 11.0]])
    got = multi_head_attention(x, wq, wk, wv, np.eye(4), n_heads=4, n_kv_heads=2)
    assert got.tolist() == [[10, 10, 11, 11]]


def test_the_scale_is_that_of_one_head():
    # vit-pytorch#65: d_model 64 and 4 heads make 1/4, not 1/8
    x = np.zeros((2, 64))
    x[0, 0] = x[1, 1] = 1
    first = np.zeros((64, 64))
    first[0, 0] = first[1, 0] = 4 * math.log(3)  # the score of either key, before scaling
    second = np.zeros((64, 64))
    second[0, 0] = 1  # only token 0 is a key that is not zero
    values = np.zeros((64, 64))
    values[0, 0] = 1
    got = multi_head_attention(x, first, second, values, np.eye(64), n_heads=4)
    np.testing.assert_allclose(got[:, 0], [3 / 4, 3 / 4], rtol=1e-14)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n_heads, n_kv_heads", [(6, 6), (6, 3), (6, 2), (6, 1), (1, 1), (5, 1)])
def test_equals_loops_over_heads(rng, dtype, n_heads, n_kv_heads):
    arrays = layer(rng, dtype, n_heads=n_heads, n_kv_heads=n_kv_heads)
    allowed = causal_mask_loops(7, 7)
    for mask in (None, allowed, rng.random((n_heads, 7, 7)) < 0.6):
        with np.errstate(all="raise"):
            got = multi_head_attention(*arrays, n_heads=n_heads, n_kv_heads=n_kv_heads, mask=mask)
        assert got.dtype == dtype and got.shape == (7, 13)
        close(got, multi_head_loops(*arrays, n_heads, n_kv_heads, mask), roundings=40)


COUNTS = st.integers(1, 5)


@st.composite
def layers(draw, n=None):
    """Tokens and weights of any small sizes, and the numbers of heads."""
    n_kv_heads, group = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    n, d_model, d_head, d_value, d_out = n or draw(COUNTS), *(draw(COUNTS) for _ in range(4))
    n_heads = group * n_kv_heads
    leading = draw(st.sampled_from([(), (2,), (3, 2)]))
    shapes = [(*leading, n, d_model), (d_model, n_heads * d_head), (d_model, n_kv_heads * d_head),
              (d_model, n_kv_heads * d_value), (n_heads * d_value, d_out)]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return [rng.normal(size=shape) for shape in shapes], n_heads, n_kv_heads


@given(layers(), st.data())
def test_grouped_heads_equal_repeated_ones(made, data):
    (x, wq, wk, wv, wo), n_heads, n_kv_heads = made
    n = x.shape[-2]
    mask = data.draw(st.sampled_from([None, causal_mask(n)])
                     | hnp.arrays(bool, (*x.shape[:-2], n_heads, n, n)))
    got = multi_head_attention(x, wq, wk, wv, wo, n_heads=n_heads, n_kv_heads=n_kv_heads, mask=mask)
    wk, wv = (merge_heads(repeat_kv(split_heads(w, n_kv_heads), n_heads // n_kv_heads))
              for w in (wk, wv))
    wanted = multi_head_attention(x, wq, wk, wv, wo, n_heads=n_heads, mask=mask)
    close(got, wanted, roundings=1000)


@given(st.integers(0, 2**32 - 1), COUNTS, COUNTS)
def test_one_head_with_identity_projections_is_attention(seed, n, d):
    x, eye = np.random.default_rng(seed).normal(size=(2, n, d)), np.eye(d)
    for mask in (None, causal_mask(n)):
        got = multi_head_attention(x, eye, eye, eye, eye, n_heads=1, mask=mask)
        close(got, attention(x, x, x, mask=mask))


def test_one_head_is_causal_attention(rng):
    x, wq, wk, wv, _ = layer(rng, n_heads=1, n_kv_heads=1)
    got = multi_head_attention(x, wq, wk, wv, np.eye(2), n_heads=1, mask=causal_mask(7))
    close(got, causal_attention(x, wq, wk, wv))


@given(layers(), st.booleans(), st.data())
def test_a_batch_equals_its_samples_one_by_one(made, per_head, data):
    (x, *weights), n_heads, n_kv_heads = made
    n = x.shape[-2]
    heads = (n_heads,) if per_head else ()
    mask = data.draw(hnp.arrays(bool, (*x.shape[:-2], *heads, n, n)))
    got = multi_head_attention(x, *weights, n_heads=n_heads, n_kv_heads=n_kv_heads, mask=mask)
    for index in np.ndindex(x.shape[:-2]):
        one = multi_head_attention(x[index], *weights, n_heads=n_heads, n_kv_heads=n_kv_heads,
                                   mask=mask[index])
        close(got[index], one, roundings=1000)


@pytest.mark.parametrize("n_kv_heads", [5, 1])
def test_a_mask_for_samples_is_not_one_for_heads_where_both_are_as_many(rng, n_kv_heads):
    sizes = {"n_heads": 5, "n_kv_heads": n_kv_heads}
    x, *weights = layer(rng, leading=(5,), **sizes)
    mask = rng.random((5, 7, 7)) < 0.5
    per_sample = multi_head_attention(x, *weights, mask=mask, **sizes)
    per_head = multi_head_attention(x, *weights, mask=mask[None], **sizes)
    assert abs(per_sample - per_head).max() > 0.01
    for sample in range(5):
        close(per_sample[sample], multi_head_loops(x[sample], *weights, mask=mask[sample], **sizes))
        close(per_head[sample], multi_head_loops(x[sample], *weights, mask=mask, **sizes))


@pytest.mark.parametrize("shape", [
    (), (7,), (1,), (7, 7), (1, 7), (7, 1), (2, 7, 7), (2, 1, 7), (1, 7, 7), (2, 6, 7, 7),
    (1, 6, 1, 7), (2, 1, 7, 7), (1, 1, 1, 1), (1, 6, 7, 1),
])
def test_masks_broadcast_as_documented(rng, shape):
    x, *weights = layer(rng, leading=(2,))
    mask = np.asarray(rng.random(shape) < 0.6)
    got = multi_head_attention(x, *weights, mask=mask, **GROUPED)
    full = np.broadcast_to(mask[:, None] if mask.ndim == 3 else mask, (2, 6, 7, 7))
    for sample in range(2):
        close(got[sample], multi_head_loops(x[sample], *weights, mask=full[sample], **GROUPED))


def test_a_mask_may_bring_samples_of_its_own(rng):
    x, *weights = layer(rng, leading=(1,))
    mask = padding_mask([2, 5, 7], 7)
    got = multi_head_attention(x, *weights, mask=mask, **GROUPED)
    assert got.shape == (3, 7, 13)
    for sample in range(3):
        wanted = multi_head_loops(x[0], *weights, mask=np.repeat(mask[sample], 7, 0), **GROUPED)
        close(got[sample], wanted)


def test_without_a_sample_axis_three_axes_are_heads(rng):
    x, *weights = layer(rng)
    mask = rng.random((6, 7, 7)) < 0.5
    close(multi_head_attention(x, *weights, mask=mask, **GROUPED),
          multi_head_loops(x, *weights, mask=mask, **GROUPED))


def test_rows_with_nothing_to_attend_to_are_zeros(rng):
    x, *weights = layer(rng, leading=(2,))
    mask = np.ones((2, 7, 7), bool)
    mask[0, 3] = mask[1, :5] = False
    with np.errstate(all="raise"):
        got = multi_head_attention(x, *weights, mask=mask, **GROUPED)
    assert not got[0, 3].any() and not got[1, :5].any()
    assert np.delete(got[0], 3, 0).all() and got[1, 5:].all()


@pytest.mark.parametrize("garbage", [np.nan, np.inf, -np.inf, 1e300])
def test_masked_tokens_have_no_influence(rng, garbage):
    x, *weights = layer(rng, leading=(2,))
    mask = causal_mask(7) & padding_mask([4, 7], 7)
    clean = multi_head_attention(x, *weights, mask=mask, **GROUPED)
    spoilt = x.copy()
    spoilt[0, 4:] = garbage
    spoilt[1, 5] = garbage
    with np.errstate(all="raise"):
        got = multi_head_attention(spoilt, *weights, mask=mask, **GROUPED)
    np.testing.assert_array_equal(got[0, :4], clean[0, :4])
    np.testing.assert_array_equal(got[1, :5], clean[1, :5])


def test_nan_is_passed_on_in_its_own_rows(rng):
    x, *weights = layer(rng)
    x[3, 0] = np.nan
    got = multi_head_attention(x, *weights, mask=causal_mask(7), **GROUPED)
    assert np.isfinite(got[:3]).all() and np.isnan(got[3:]).all()


def test_projections_may_overflow_on_the_way():
    large = np.finfo(np.float32).max
    x, eye = np.array([[large, large / 2]], np.float32), np.eye(2, dtype=np.float32)
    wv = np.array([[1.5, 1], [-3, 0]], np.float32)
    with np.errstate(all="raise"):
        got = multi_head_attention(x, 0 * eye, eye, wv, eye, n_heads=2)
    assert got.tolist() == [[0, large]]


@pytest.mark.parametrize("sizes", [{"n": 0}, {"d_model": 0}, {"d_head": 0}, {"d_value": 0},
                                   {"d_out": 0}, {"leading": (0,)}, {"leading": (2, 0)}])
@pytest.mark.parametrize("n_kv_heads", [6, 3])
def test_empty_axes(rng, sizes, n_kv_heads):
    x, *weights = layer(rng, n_kv_heads=n_kv_heads, **sizes)
    with np.errstate(all="raise"):
        got = multi_head_attention(x, *weights, n_heads=6, n_kv_heads=n_kv_heads,
                                   mask=causal_mask(x.shape[-2]))
    assert got.shape == (*x.shape[:-1], weights[-1].shape[1]) and np.isfinite(got).all()


def test_types(rng):
    arrays = layer(rng)
    for place in range(5):
        mixed = [a.astype(np.float32) for a in arrays]
        mixed[place] = arrays[place]
        assert multi_head_attention(*mixed, **GROUPED).dtype == np.float64
    whole = [np.sign(a).astype(np.int32) for a in arrays]
    got = multi_head_attention(*whole, **GROUPED)
    assert got.dtype == np.float64
    close(got, multi_head_loops(*whole, **GROUPED))
    for function, x in ((partial(split_heads, n_heads=2), np.ones((3, 4), int)),
                        (merge_heads, np.ones((2, 3, 4), int)),
                        (partial(repeat_kv, n_repeats=2), np.ones((2, 3, 4), int))):
        assert function(x).dtype == np.float64
        assert function(x.astype(np.float16)).dtype == np.float16


def test_float16_is_computed_in_float32():
    x, wide = np.full((1, 64), 60, np.float16), np.eye(64, dtype=np.float16)
    got = multi_head_attention(x, 60 * wide, 60 * wide, wide, wide, n_heads=1)
    assert got.dtype == np.float16 and (got == 60).all()  # the score of 1e8 leaves float16
    small = np.full((64, 64), 2.0**-13, np.float16)
    got = multi_head_attention(x, wide, wide, x[0] * np.ones((64, 1), np.float16), small, n_heads=1)
    np.testing.assert_array_equal(got, np.float16(64 * 60 * 60 / 2**7))  # the values leave it


def test_nothing_is_written_to_and_nothing_is_shared(rng):
    arrays = layer(rng, leading=(2,))
    mask = causal_mask(7)
    copies = copy.deepcopy(arrays)
    for array in (*arrays, mask):
        array.flags.writeable = False
    got = multi_head_attention(*arrays, mask=mask, rotate=lambda x, positions: x, **GROUPED)
    for array, old in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, old)
        assert not np.shares_memory(got, array)


def test_views_give_what_contiguous_copies_give(rng):
    arrays = layer(rng, leading=(2,))
    wanted = multi_head_attention(*arrays, **GROUPED)
    for form in (np.asfortranarray, lambda a: np.flip(np.flip(a).copy()),
                 lambda a: np.repeat(a, 2, axis=-1)[..., ::2]):
        close(multi_head_attention(*(form(a) for a in arrays), **GROUPED), wanted)


class Seen:
    """An ``attend`` that keeps what it was given."""

    def __call__(self, q, k, v, *, mask=None):
        self.q, self.k, self.v, self.mask = q, k, v, mask
        return attention(q, k, v, mask=mask)


def test_grouped_keys_are_never_copied_out(rng):
    x, *weights = layer(rng, leading=(2,))
    seen = Seen()
    multi_head_attention(x, *weights, attend=seen, mask=causal_mask(7), **GROUPED)
    assert seen.q.shape == (2, 3, 2, 7, 5)
    assert seen.k.shape == (2, 3, 1, 7, 5) and seen.v.shape == (2, 3, 1, 7, 2)
    cache = KVCache(3, 5, d_value=2, capacity=11, batch_shape=(2,), dtype=np.float64)
    multi_head_attention(x, *weights, attend=seen, cache=cache, **GROUPED)
    assert np.shares_memory(seen.k, cache.keys) and np.shares_memory(seen.v, cache.values)


def test_heads_that_share_nothing_get_no_further_axis(rng):
    x, *weights = layer(rng, n_kv_heads=6)
    seen = Seen()
    multi_head_attention(x, *weights, attend=seen, n_heads=6)
    assert seen.q.shape == seen.k.shape == (6, 7, 5) and seen.mask is None


@pytest.mark.parametrize("n_kv_heads", [6, 2])
def test_attend_may_be_chunked_attention(rng, n_kv_heads):
    sizes = {"n_heads": 6, "n_kv_heads": n_kv_heads}
    x, *weights = layer(rng, leading=(2,), n_kv_heads=n_kv_heads)
    tiles = {"query_chunk": 3, "key_chunk": 2, "workers": 2}
    wanted = multi_head_attention(x, *weights, mask=causal_mask(7), **sizes)
    causal = partial(chunked_attention, causal=True, **tiles)
    close(multi_head_attention(x, *weights, attend=causal, **sizes), wanted)
    masked = partial(chunked_attention, **tiles)
    close(multi_head_attention(x, *weights, attend=masked, mask=causal_mask(7), **sizes), wanted)
    cache = KVCache(n_kv_heads, 5, d_value=2, capacity=7, batch_shape=(2,), dtype=np.float64)
    parts = [multi_head_attention(part, *weights, attend=causal, cache=cache, **sizes)
             for part in (x[:, :4], x[:, 4:])]
    close(np.concatenate(parts, axis=1), wanted)


def turned(x, positions):
    """Shift by the position: not a rotation, but every wrong position shows."""
    return x + np.asarray(positions)[:, None]


def test_rotate_gets_heads_and_positions(rng):
    x, *weights = layer(rng, leading=(2,))
    calls = []

    def rotate(heads, positions):
        calls.append((heads.shape, list(positions)))
        return heads

    multi_head_attention(x, *weights, rotate=rotate, **GROUPED)
    assert calls == [((2, 6, 7, 5), list(range(7))), ((2, 3, 7, 5), list(range(7)))]


def test_rotate_applies_to_queries_and_keys_alone(rng):
    x, *weights = layer(rng, n_heads=1, n_kv_heads=1)
    q, k, v = (x @ w for w in weights[:3])
    got = multi_head_attention(x, *weights, rotate=turned, n_heads=1)
    wanted = attention(turned(q, range(7)), turned(k, range(7)), v) @ weights[3]
    close(got, wanted)


def test_a_decoded_token_has_the_position_after_the_past(rng):
    # moeut#6: position 0 for every decoded token
    x, *weights = layer(rng)
    full = multi_head_attention(x, *weights, rotate=turned, mask=causal_mask(7), **GROUPED)
    cache = KVCache(3, 5, d_value=2, capacity=7, dtype=np.float64)
    for i in range(7):
        got = multi_head_attention(x[i:i + 1], *weights, rotate=turned, cache=cache, **GROUPED)
        close(got, full[i:i + 1])


def test_several_tokens_at_once_after_a_past():
    # llama#899, executorch#21749: past 7, 9 queries
    rng = np.random.default_rng(0)
    x, *weights = layer(rng, n=16)
    cache = KVCache(3, 5, d_value=2, capacity=16, dtype=np.float64)
    seen = Seen()
    parts = [multi_head_attention(part, *weights, cache=cache, attend=seen, **GROUPED,
                                  mask=causal_mask(len(part), len(cache) + len(part)))
             for part in (x[:7], x[7:])]
    assert seen.mask.shape == (9, 16) and seen.mask[:, :7].all()
    np.testing.assert_array_equal(seen.mask[:, 7:], causal_mask_loops(9, 9))
    close(np.concatenate(parts), multi_head_loops(x, *weights, mask=causal_mask_loops(16, 16),
                                                  **GROUPED))


@pytest.mark.parametrize("dtype, roundings", [(np.float16, 8), (np.float32, 40), (np.float64, 40)])
def test_cached_equals_full_within_a_tolerance_for_each_type(rng, dtype, roundings):
    # transformers#25420: not ==
    x, *weights = layer(rng, dtype, leading=(2,))
    full = multi_head_attention(x, *weights, mask=causal_mask(7), **GROUPED)
    cache = KVCache(3, 5, d_value=2, capacity=7, batch_shape=(2,), dtype=dtype)
    steps = [multi_head_attention(x[:, i:i + 1], *weights, cache=cache, **GROUPED)
             for i in range(7)]
    got = np.concatenate(steps, axis=1)
    assert got.dtype == dtype
    close(got, full, roundings)


@given(layers(), st.data())
def test_cached_equals_full_for_every_split_into_appends(made, data):
    (x, *weights), n_heads, n_kv_heads = made
    n, sizes = x.shape[-2], {"n_heads": n_heads, "n_kv_heads": n_kv_heads}
    window = data.draw(st.integers(1, n))
    d_head, d_value = (w.shape[1] // n_kv_heads for w in weights[1:3])
    cache = KVCache(n_kv_heads, d_head, d_value=d_value, capacity=n, batch_shape=x.shape[:-2],
                    dtype=np.float64)
    cuts = sorted(data.draw(st.lists(st.integers(0, n), max_size=4)))
    parts = []
    for start, stop in zip([0, *cuts], [*cuts, n], strict=True):
        mask = sliding_window_mask(stop - start, stop, window=window)
        parts.append(multi_head_attention(x[..., start:stop, :], *weights, mask=mask, cache=cache,
                                          rotate=turned, **sizes))
        assert len(cache) == stop
    wanted = multi_head_attention(x, *weights, mask=sliding_window_mask(n, window=window),
                                  rotate=turned, **sizes)
    close(np.concatenate(parts, axis=-2), wanted, roundings=10_000)


def test_padding_with_a_cache(rng):
    x, *weights = layer(rng, leading=(2,))
    cache = KVCache(3, 5, d_value=2, capacity=7, batch_shape=(2,), dtype=np.float64)
    pad = padding_mask([3, 7], 7)  # of sample 0, tokens 3 and 4 are padding before the rest
    pad[0, 0, 5:] = True
    full = multi_head_attention(x, *weights, mask=causal_mask(7) & pad, **GROUPED)
    x[0, 3:5] = np.nan
    parts = [multi_head_attention(x[:, :5], *weights, cache=cache, **GROUPED,
                                  mask=causal_mask(5) & pad[..., :5]),
             multi_head_attention(x[:, 5:], *weights, cache=cache, **GROUPED,
                                  mask=causal_mask(2, 7) & pad)]
    got = np.concatenate(parts, axis=1)
    close(got[1], full[1])
    close(np.delete(got[0], [3, 4], 0), np.delete(full[0], [3, 4], 0))


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_failure_leaves_the_cache_as_it_was(rng, error):
    x, *weights = layer(rng)
    cache = KVCache(3, 5, d_value=2, capacity=11, dtype=np.float64)
    multi_head_attention(x[:2], *weights, cache=cache, **GROUPED)
    before = cache.keys.copy()

    def fails(q, k, v, *, mask=None):
        assert k.shape[-2] == 7
        raise error

    with pytest.raises(error):
        multi_head_attention(x[2:], *weights, cache=cache, attend=fails, **GROUPED)
    assert len(cache) == 2
    np.testing.assert_array_equal(cache.keys, before)


X, WQ, WK = np.ones((2, 7, 11)), np.ones((11, 30)), np.ones((11, 15))
WV, WO = np.ones((11, 6)), np.ones((12, 13))
GOOD = {"x": X, "wq": WQ, "wk": WK, "wv": WV, "wo": WO, "n_heads": 6, "n_kv_heads": 3}


def cached(past=0, *, shape=(3, 5), **options):
    cache = KVCache(*shape, **{"capacity": 11, "d_value": 2, "batch_shape": (2,),
                               "dtype": np.float64, **options})
    if past:
        cache.append(np.ones((2, 3, past, 5)), np.ones((2, 3, past, 2)))
    return cache


# What is changed; the error; the argument, what came, what was wanted, and a word of the cause.
CASES = [
    ({"x": None}, TypeError, "x", "None", "(..., n, d_model)", "forget"),
    ({"x": X[0, 0]}, ValueError, "x", "(11,)", "(..., n, d_model)", "x[None, :]"),
    ({"x": X > 0}, TypeError, "x", "bool", "numbers", "mask="),
    ({"wq": WQ[None]}, ValueError, "wq", "(1, 11, 30)", "(d_model, n_heads * d)", "side by side"),
    ({"wq": "abc"}, TypeError, "wq", "text", "(d_model, n_heads * d)", ""),
    ({"wq": WQ.T}, ValueError, "wq", "d_model = 30", "d_model = 11, as in x", "transposed"),
    ({"wq": WQ[:, :29]}, ValueError, "wq", "29", "a multiple of n_heads = 6", "as many features"),
    ({"wk": WK[:, :14]}, ValueError, "wk", "14", "a multiple of n_kv_heads = 3", "as many"),
    ({"wk": WQ}, ValueError, "wk", "d_head = 10", "d_head = 5, as in wq", "n_kv_heads = 3"),
    ({"wk": WK[:5]}, ValueError, "wk", "d_model = 5", "d_model = 11", "x[i] @ wk"),
    ({"wv": WV[:, :5]}, ValueError, "wv", "5", "a multiple of n_kv_heads = 3", "as many"),
    ({"wv": None}, TypeError, "wv", "None", "(d_model, n_kv_heads * d)", "forget"),
    ({"wo": WO.T}, ValueError, "wo", "n_heads * d_value = 13", "n_heads * d_value = 12", "side by"),
    ({"wo": WO[0]}, ValueError, "wo", "(13,)", "(n_heads * d_value", ""),
    ({"wo": WO + 1j}, TypeError, "wo", "complex", "real numbers", ".real"),
    ({"n_heads": 0}, ValueError, "n_heads", "0", "at least 1", ""),
    ({"n_heads": 6.0}, TypeError, "n_heads", "6.0", "a whole number", ""),
    ({"n_heads": True}, TypeError, "n_heads", "True", "a whole number", ""),
    ({"n_kv_heads": 4}, ValueError, "n_kv_heads", "4", "a divisor of n_heads = 6", "group"),
    ({"n_kv_heads": 12}, ValueError, "n_kv_heads", "12", "a divisor of n_heads = 6", "group"),
    ({"n_kv_heads": 0}, ValueError, "n_kv_heads", "0", "at least 1", ""),
    ({"mask": np.ones((7, 7))}, TypeError, "mask", "float64", "booleans", "astype(bool)"),
    ({"mask": np.ones((5, 7), bool)}, ValueError, "mask", "(5, 7)", "(2, 7, 7)", "Each axis"),
    ({"mask": np.ones((6, 7, 7), bool)}, ValueError, "mask", "(6, 7, 7)", "(2, 7, 7)",
     "mask[None]"),
    ({"mask": np.ones((2, 5, 7, 7), bool)}, ValueError, "mask", "(2, 5, 7, 7)", "(2, 6, 7, 7)",
     "Each axis"),
    ({"mask": np.ones((1, 2, 6, 7, 7), bool)}, ValueError, "mask", "(1, 2, 6, 7, 7)",
     "at most 4 axes", "heads"),
    ({"mask": np.ones((2, 3, 7, 7), bool), "n_heads": 1, "n_kv_heads": 1, "wk": WQ, "wv": WO.T[:11],
      "wo": WO}, ValueError, "mask", "(2, 3, 7, 7)", "(2, 1, 7, 7)", "Each axis"),
    ({"mask": [[True], [True, False]]}, ValueError, "mask", "different lengths", "boolean", ""),
    ({"mask": causal_mask(7), "cache": cached(3)}, ValueError, "mask", "(7, 7)", "(2, 7, 10)",
     "causal_mask"),
    ({"cache": 5}, TypeError, "cache", "5", "a KVCache, or None", ""),
    ({"cache": KVCache}, TypeError, "cache", "the class KVCache", "a KVCache, or None", ""),
    ({"cache": cached(dtype=np.float32)}, TypeError, "cache", "float32", "float64", "dtype=np."),
    ({"cache": cached(batch_shape=())}, ValueError, "cache", "(3, 0, 5)", "(2, 3, 0, 5)",
     "batch_shape"),
    ({"cache": cached(shape=(6, 5))}, ValueError, "cache", "(2, 6, 0, 5)", "(2, 3, 0, 5)",
     "n_kv_heads"),
    ({"cache": cached(shape=(3, 7))}, ValueError, "cache", "(2, 3, 0, 7)", "(2, 3, 0, 5)", ""),
    ({"cache": cached(d_value=5)}, ValueError, "cache", "(2, 3, 0, 5)", "(2, 3, 0, 2)", "d_value"),
    ({"cache": cached(5)}, ValueError, "cache", "7 tokens", "at most 6: 5 of 11", "truncate"),
    ({"rotate": lambda x, positions: x[..., :1]}, ValueError, "the result of rotate",
     "(2, 6, 7, 1)", "(2, 6, 7, 5)", ""),
    ({"rotate": 3}, TypeError, "rotate", "3", "rotate(x, positions), or None", ""),
    ({"attend": None}, TypeError, "attend", "None", "attend(q, k, v, mask=mask)", ""),
    ({"rotate": lambda x, positions: None}, TypeError, "the result of rotate", "None",
     "(2, 6, 7, 5)", "forget"),
    ({"attend": lambda q, k, v, mask: q}, ValueError, "the result of attend", "(2, 3, 2, 7, 5)",
     "(2, 3, 2, 7, 2)", ""),
]


@pytest.mark.parametrize("change, error, name, got, wanted, cause", CASES)
def test_bad_input_is_refused_in_words(change, error, name, got, wanted, cause):
    arguments = {**GOOD, **change}
    cache = arguments.get("cache")
    past = len(cache) if isinstance(cache, KVCache) else None
    with pytest.raises((TypeError, ValueError)) as caught:
        multi_head_attention(**arguments)
    assert caught.type is error
    argument, _, rest = str(caught.value).partition(": got ")
    came, _, rest = rest.partition("; wanted ")
    assert argument == name and got in came and wanted in rest and cause in rest, caught.value
    assert past is None or len(cache) == past


@pytest.mark.parametrize("call, name", [
    (lambda: split_heads(np.ones((3, 5)), 2), "x"), (lambda: split_heads(np.ones(4), 2), "x"),
    (lambda: split_heads(np.ones((3, 4)), 0), "n_heads"),
    (lambda: split_heads(np.ones((3, 4)), 2.0), "n_heads"),
    (lambda: merge_heads(np.ones((3, 4))), "x"), (lambda: merge_heads(None), "x"),
    (lambda: repeat_kv(np.ones((3, 4)), 2), "x"),
    (lambda: repeat_kv(np.ones((2, 3, 4)), 0), "n_repeats"),
    (lambda: repeat_kv(np.ones((2, 3, 4)), "2"), "n_repeats"),
])
def test_bad_input_of_the_small_functions(call, name):
    with pytest.raises((TypeError, ValueError), match=rf"^{name}: got .*; wanted "):
        call()


def test_good_input_of_the_table_passes():
    assert multi_head_attention(**GOOD).shape == (2, 7, 13)
    assert multi_head_attention(**GOOD, cache=cached(4)).shape == (2, 7, 13)
