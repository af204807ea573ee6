"""Chunked attention: the same as dense for all tilings, numbers and workers, in little memory."""

import subprocess
import sys
import threading
import time
import tracemalloc
from contextlib import contextmanager, nullcontext
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attention_book import chunked
from attention_book.chunked import chunked_attention
from attention_book.masks import causal_mask, padding_mask, sliding_window_mask
from attention_book.single_head import attention
from references import (
    FLOATS,
    assert_within,
    attention_exact,
    attention_loops,
    causal_mask_loops,
    epsilon,
    exact,
    exact_number,
    mp,
    smallest,
)

TILINGS = [(1, 1), (2, 3), (3, 2), (5, 128), (512, 4), (512, 128)]


def made(rng, dtype, *shapes, size=1.0):
    return [(rng.normal(size=shape) * size).astype(dtype) for shape in shapes]


def close(got, wanted, roundings=50):
    """Within some roundings of numbers of about 1."""
    eps = float(max(np.finfo(got.dtype).eps, np.finfo(np.float64).eps))
    np.testing.assert_allclose(got, wanted, rtol=roundings * eps, atol=roundings * eps)


def check_against_exact(q, k, v, *, causal=False, mask=None, scale=None, chunks=(3, 2)):
    """The bound of the tests of ``attention``, and what the chunks add: a rounding for each."""
    dtype, n_key, d_head = v.dtype, v.shape[0], q.shape[-1]
    with np.errstate(all="raise"):
        got = chunked_attention(q, k, v, causal=causal, mask=mask, scale=scale,
                                query_chunk=chunks[0], key_chunk=chunks[1])
    assert got.dtype == dtype
    seen = np.ones((len(q), n_key), bool) if mask is None else mask
    seen = seen & causal_mask_loops(len(q), n_key) if causal else seen
    mixtures, magnitudes, sizes = attention_exact(q, k, v, seen, scale)
    c = 1 if dtype == np.float16 else 16 + max(d_head, n_key)
    underflow = smallest(dtype) * (n_key + sum(abs(exact(v)), start=exact_number(0)))
    allowed = [[mp.expm1(exact_number(c) * epsilon(dtype) * (1 + size)) * m + u
                for m, u in zip(row, underflow, strict=True)]
               for row, (size,) in zip(magnitudes, sizes, strict=True)]
    assert_within(got, np.array(mixtures, object).reshape(got.shape),
                  np.array(allowed, object).reshape(got.shape))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_equals_dense_for_every_chunk_size_from_1_to_beyond_n(rng, dtype, causal, masked):
    q, k, v = made(rng, dtype, (7, 3), (11, 3), (11, 5))
    mask = rng.random((7, 11)) < 0.6 if masked else None
    seen = (mask if masked else True) & (causal_mask(7, 11) if causal else np.True_)
    wanted = attention_loops(q, k, v, seen)
    for query_chunk in range(1, 10):
        for key_chunk in range(1, 14):
            with np.errstate(all="raise"):
                got = chunked_attention(q, k, v, causal=causal, mask=mask, query_chunk=query_chunk,
                                        key_chunk=key_chunk)
            assert got.dtype == dtype
            close(got, wanted, roundings=4 if dtype == np.float16 else 20)


LEADING = st.sampled_from([((), (), ()), ((2,), (2,), (2,)), ((3, 2), (3, 1), (3, 1)),
                           ((2,), (), (1,)), ((), (3, 1), (2,)), ((1, 2), (3, 1), ())])
COUNTS = st.integers(1, 9)


@st.composite
def problems(draw):
    """Queries, keys and values that broadcast, with small or large scores, and a tiling."""
    n_query, n_key, d_head, d_value = (draw(COUNTS) for _ in range(4))
    leading = draw(LEADING)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size = draw(st.sampled_from([0.1, 1, 3, 10, 100]))
    q, k, v = made(rng, draw(st.sampled_from([np.float32, np.float64])),
                   *[(*lead, *shape) for lead, shape in zip(
                       leading, ((n_query, d_head), (n_key, d_head), (n_key, d_value)),
                       strict=True)])
    together = np.broadcast_shapes(*leading)
    mask = draw(st.none() | hnp.arrays(bool, (n_query, n_key))
                | hnp.arrays(bool, (*together, n_query, n_key))
                | hnp.arrays(bool, (*(1 for _ in together), 1, n_key)))
    options = {"causal": draw(st.booleans()), "mask": mask,
               "query_chunk": draw(st.integers(1, n_query + 2)),
               "key_chunk": draw(st.integers(1, n_key + 2)), "workers": draw(st.integers(1, 3))}
    return q * q.dtype.type(size), k, v, options


@given(problems())
def test_equals_dense_over_random_shapes(problem):
    q, k, v, options = problem
    causal, mask = options["causal"], options["mask"]
    seen = causal_mask(q.shape[-2], k.shape[-2]) if causal else None
    seen = mask if seen is None else seen if mask is None else seen & mask
    with np.errstate(all="raise"):
        got = chunked_attention(q, k, v, **options)
    wanted = attention(*(x.astype(np.longdouble) for x in (q, k, v)), mask=seen)
    assert got.dtype == q.dtype and got.shape == wanted.shape
    size = 1 + abs(q).max() * abs(k).max() * q.shape[-1]
    np.testing.assert_allclose(got.astype(float), wanted.astype(float), rtol=0,
                               atol=30 * size * np.finfo(q.dtype).eps)


@given(problems())
def test_a_batch_equals_its_samples_one_by_one(problem):
    q, k, v, options = problem
    mask = options.pop("mask")
    got = chunked_attention(q, k, v, mask=mask, **options)
    leading = got.shape[:-2]
    q, k, v = (np.broadcast_to(x, leading + x.shape[-2:]) for x in (q, k, v))
    if mask is not None:
        mask = np.broadcast_to(mask, (*leading, *mask.shape[-2:]))
    for index in np.ndindex(leading):
        one = chunked_attention(q[index], k[index], v[index], **options,
                                mask=None if mask is None else mask[index])
        np.testing.assert_array_equal(got[index], one)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", [1e-3, 0.3, 1, 3, 30])
def test_mixtures_are_right_within_the_bound(rng, dtype, size):
    for n_query, n_key, d_head, d_value in [(3, 5, 7, 2), (5, 13, 2, 11), (1, 13, 1, 1)]:
        q, k = made(rng, dtype, (n_query, d_head), (n_key, d_head), size=size)
        v, = made(rng, dtype, (n_key, d_value))
        for chunks in TILINGS[:4]:
            check_against_exact(q, k, v, chunks=chunks)
            check_against_exact(q, k, v, mask=rng.random((n_query, n_key)) < 0.6, scale=0.7,
                                causal=True, chunks=chunks)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("chunks", TILINGS)
def test_extreme_queries_and_keys(rng, dtype, chunks):
    info = np.finfo(dtype)
    q, k, v = made(rng, dtype, (3, 2), (5, 2), (5, 3))
    for exponent in (info.maxexp - 3, info.maxexp // 2 - 1, info.minexp + 3):
        check_against_exact(np.ldexp(q, exponent), np.ldexp(k, -exponent), v, chunks=chunks)
    check_against_exact(np.ldexp(q, info.minexp - 5), k, v, chunks=chunks)
    exponent = info.maxexp // 2 + 2  # only the scale brings these scores back into the type
    check_against_exact(np.ldexp(q, exponent), np.ldexp(k, exponent), v, chunks=chunks,
                        scale=np.ldexp(np.longdouble(1), -2 * exponent))


@pytest.mark.parametrize("chunks", TILINGS)
def test_a_scale_below_the_type_is_not_rounded_to_zero(chunks):
    q, k = np.full((1, 1), 2.0**100, np.float32), np.array([[2.0**54], [2.0**55]], np.float32)
    check_against_exact(q, k, np.eye(2, dtype=np.float32), scale=1.3 * 2.0**-153, chunks=chunks)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("chunks", [(1, 1), (2, 3), (512, 128)])
def test_extreme_values(rng, dtype, chunks):
    info = np.finfo(dtype)
    q, k, v = made(rng, dtype, (3, 2), (29, 2), (29, 3))
    v = v / abs(v).max()
    for exponent in (info.maxexp - 2, info.maxexp // 2, info.minexp // 2, info.minexp,
                     info.minexp - 4):
        check_against_exact(q, k, np.ldexp(v, exponent), chunks=chunks)
        check_against_exact(q * 20, k, np.ldexp(v, exponent), chunks=chunks)
    for extreme in (info.max, info.smallest_subnormal, info.tiny):
        check_against_exact(q, k, np.full_like(v, extreme), chunks=chunks)
    signs = np.where(np.arange(29)[:, None] % 2, info.max, -info.max) * np.ones_like(v)
    check_against_exact(q, k, signs, chunks=chunks)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("share", [0.3, 0.9, 0.99, 1.01, 1.1, 2, 2.7, 3.1, 10])
def test_scores_about_as_large_as_can_do_without_a_maximum(dtype, share):
    """Either side of the bound, with the largest and smallest values that it allows."""
    info = np.finfo(dtype)
    score = share * info.maxexp * np.log(2) / 3
    q, k = np.array([[1]], dtype), np.array([[score], [-score], [-score]], dtype)
    large, small = np.ldexp(dtype(1), info.maxexp // 3), np.ldexp(dtype(1), -info.maxexp // 2)
    pairs = [(1, 3), (large, small), (small, large), (2 * large, small / 2),
             (large**2, 1), (1, small**1.5)]
    for top, low in pairs:
        v = np.array([[top], [low], [3 * low]], dtype)
        for tokens in (slice(0, 3), slice(1, 3), slice(0, 1)):
            for chunks in ((1, 1), (1, 2), (1, 3)):
                check_against_exact(q, k[tokens], v[tokens], scale=1.0, chunks=chunks)


def test_values_of_zero_leave_a_query_calm():
    k, v = np.array([[3, 4], [0, 1]], np.float32), np.array([[0, 1], [0, 0]], np.float32)
    assert chunked._reach(k, v, 2, k.dtype).tolist() == [[5, 1], [5, 1]]
    v[1, 0] = np.inf
    assert chunked._reach(k, v, 2, k.dtype).tolist() == [[5, np.inf], [5, np.inf]]


def test_with_a_running_maximum_for_all_or_none(rng, monkeypatch):
    """Whether a query does without its maximum decides about roundings alone."""
    q, k, v = made(rng, np.float64, (7, 3), (11, 3), (11, 5))
    options = {"causal": True, "query_chunk": 3, "key_chunk": 2}
    wanted = attention(q, k, v, mask=causal_mask(7, 11))
    look_ahead, found = chunked._look_ahead, []

    def all_alike(*arguments, kind):
        calm, safe = look_ahead(*arguments)
        found.append(calm.all() and safe.all())
        return np.full(len(calm), kind), safe

    for kind in (False, True):
        monkeypatch.setattr(chunked, "_look_ahead", partial(all_alike, kind=kind))
        close(chunked_attention(q, k, v, **options), wanted)
    assert all(found) and len(found) == 6


GARBAGE = [np.nan, np.inf, -np.inf, "largest", 1e4, -1e4, 1e-30]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("garbage", GARBAGE)
@pytest.mark.parametrize("chunks", [(1, 1), (3, 2), (5, 11), (512, 128)])
def test_what_is_masked_has_no_influence(rng, dtype, garbage, chunks):
    """Not a bit of the result depends on it, though it decides how the rest is computed."""
    garbage = np.finfo(dtype).max if garbage == "largest" else garbage
    q, k, v = made(rng, dtype, (5, 3), (11, 3), (11, 7))
    q[1] *= 100  # one row that is not calm
    mask = causal_mask(5, 11) & (np.arange(11) != 2)
    mask[3] = False
    options = {"query_chunk": chunks[0], "key_chunk": chunks[1]}
    clean = chunked_attention(q, k, v, mask=mask, **options)
    clean_causal = chunked_attention(q, k, v, mask=mask, causal=True, **options)
    k[2], v[2] = garbage, garbage
    with np.errstate(all="raise"):
        got = chunked_attention(q, k, v, mask=mask, **options)
    np.testing.assert_array_equal(got, clean, strict=True)
    k[-1], v[-1] = garbage, garbage  # the future of all queries but the last
    for seen in (mask, mask | (~causal_mask(5, 11) & (np.arange(11) != 2))):
        with np.errstate(all="raise"):
            got = chunked_attention(q, k, v, mask=seen, causal=True, **options)
        np.testing.assert_array_equal(got[:-1], clean_causal[:-1])
    assert not got[3].any()


@pytest.mark.parametrize("garbage", [np.nan, np.inf, -np.inf, 1e30, 50])
@pytest.mark.parametrize("chunks", [(1, 1), (3, 2), (512, 4)])
def test_the_future_changes_nothing(rng, garbage, chunks):
    q, k, v = made(rng, np.float32, (7, 3), (7, 3), (7, 2))
    options = {"query_chunk": chunks[0], "key_chunk": chunks[1], "causal": True}
    clean = chunked_attention(q, k, v, **options)
    for position in range(7):
        spoilt = [x.copy() for x in (q, k, v)]
        for x in spoilt:
            x[position:] = garbage
        got = chunked_attention(*spoilt, **options)
        np.testing.assert_array_equal(got[:position], clean[:position])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("chunks", TILINGS)
def test_nan_and_infinity_that_may_be_attended_to_are_passed_on_in_their_rows(rng, dtype, chunks):
    q, k, v = made(rng, dtype, (7, 3), (7, 3), (7, 5))
    options = {"query_chunk": chunks[0], "key_chunk": chunks[1], "causal": True}
    clean = chunked_attention(q, k, v, **options)
    v[2, 0], v[3, 1], v[4, 2], v[3, 3], v[5, 3] = np.nan, np.inf, -np.inf, np.inf, -np.inf
    with np.errstate(all="raise"):
        got = chunked_attention(q, k, v, **options)
    wanted = clean.copy()
    wanted[2:, 0], wanted[3:, 1], wanted[4:, 2] = np.nan, np.inf, -np.inf
    wanted[3:5, 3], wanted[5:, 3] = np.inf, np.nan
    np.testing.assert_array_equal(got[:2], clean[:2])
    np.testing.assert_array_equal(np.isfinite(got), np.isfinite(wanted))
    close(got, wanted, roundings=8 if dtype == np.float16 else 50)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, "far"])
@pytest.mark.parametrize("chunks", TILINGS)
def test_a_bad_query_spoils_its_own_row_alone(rng, bad, chunks):
    q, k, v = made(rng, np.float64, (5, 3), (7, 3), (7, 2))
    options = {"query_chunk": chunks[0], "key_chunk": chunks[1]}
    clean = chunked_attention(q, k, v, **options)
    q[2] = q[2] * 1e308 if bad == "far" else bad
    with np.errstate(all="raise"):
        got = chunked_attention(q, k, v, **options)
    others = np.arange(5) != 2
    np.testing.assert_array_equal(got[others], clean[others])
    np.testing.assert_allclose(got[2], attention(q, k, v)[2], rtol=1e-13)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e200])
def test_a_bad_key_is_treated_as_in_dense_attention(rng, bad):
    q, k, v = made(rng, np.float64, (5, 3), (7, 3), (7, 2))
    k[4, 1] = bad
    wanted = attention(q, k, v, mask=causal_mask(5, 7))
    for chunks in TILINGS:
        got = chunked_attention(q, k, v, causal=True, query_chunk=chunks[0], key_chunk=chunks[1])
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("dtype", FLOATS[1:])
def test_beyond_the_type_a_score_is_infinite_and_takes_all_the_weight(dtype):
    large = np.ldexp(dtype(3), np.finfo(dtype).maxexp // 2 - 1)
    q, k = np.array([[large]]), large / 3 * np.array([[3], [1], [-3], [3]], dtype)
    v = np.array([[1], [5], [np.inf], [2]], dtype)
    with np.errstate(all="raise"):
        assert chunked_attention(q, k, v, scale=1.0, key_chunk=1).tolist() == [[1.5]]


# What went wrong for others, chunk by chunk.


def attend_scores(row, values, **options):
    keys, values = np.array(row, float)[:, None], np.array(values, float)[:, None]
    return chunked_attention(np.ones((1, 1)), keys, values, scale=1.0, **options)[0, 0]


@pytest.mark.parametrize("chunk", [1, 2, 3])
def test_the_maximum_is_carried_from_chunk_to_chunk(chunk):
    # tilelang#1148: a maximum that starts anew in each chunk
    assert attend_scores([1000, 0], [1, 2], key_chunk=chunk) == 1
    assert attend_scores([0, 1000], [1, 2], key_chunk=chunk) == 2
    assert attend_scores([0, 1000, 1000], [7, 1, 2], key_chunk=chunk) == 1.5


@pytest.mark.parametrize("chunk", [1, 2])
def test_the_maximum_starts_below_every_score(chunk):
    # NNlib.jl#43: from 0 on, exp(−1e4 − 0) is 0 for both
    assert attend_scores([-1e4, -1e4], [1, 2], key_chunk=chunk) == 1.5
    assert attend_scores([-1e300, -1e300], [1, 2], key_chunk=chunk) == 1.5
    for low in (-1e4, -1e10, -1e300):  # below any constant that might stand for "masked"
        masked = attend_scores([5, low, low], [np.nan, 1, 2], key_chunk=chunk,
                               mask=np.array([False, True, True]))
        assert masked == 1.5


@pytest.mark.parametrize("chunk", [1, 2, 3, 4])
def test_a_last_chunk_that_is_not_full_counts_as_it_is(chunk):
    # jax#27224: dropped 1.5, padded with zeros 2.25
    np.testing.assert_allclose(attend_scores([0, 0, 0], [1, 2, 6], key_chunk=chunk), 3, rtol=1e-15)


@pytest.mark.parametrize("chunk", [1, 2, 3])
def test_each_row_has_a_maximum_of_its_own(chunk):
    # singa#540
    q, k = np.array([[1.0, 0.0], [1.0, 1000.0]]), np.array([[0.0, 1.0], [1.0, 1.0]])
    got = chunked_attention(q, k, np.eye(2), scale=1.0, key_chunk=chunk)
    np.testing.assert_allclose(got, [[0.26894142, 0.73105858]] * 2, rtol=1e-7)


@pytest.mark.parametrize("chunk", [1, 2, 3, 5, 7])
@pytest.mark.parametrize("n_query, n_key", [(1, 5), (2, 5), (5, 5), (5, 2), (9, 16)])
def test_the_queries_are_the_last_positions(rng, chunk, n_query, n_key):
    # pytorch#103082, mlx#2967, llama#899
    v = np.eye(n_key)
    got = chunked_attention(np.zeros((n_query, 1)), np.zeros((n_key, 1)), v, causal=True,
                            query_chunk=chunk, key_chunk=chunk)
    np.testing.assert_array_equal(got > 0, causal_mask_loops(n_query, n_key))


def test_no_keys_at_all_and_nothing_allowed_give_zeros():
    # flash-attention#2470, pytorch#103963
    assert chunked_attention(np.ones((3, 7)), np.ones((0, 7)), np.ones((0, 2))).tolist() == [
        [0, 0]] * 3
    mask = np.zeros((3, 5), bool)
    for chunk in (1, 2, 5):
        got = chunked_attention(np.ones((3, 7)), np.ones((5, 7)), np.full((5, 2), np.nan),
                                mask=mask, key_chunk=chunk)
        assert got.tolist() == [[0, 0]] * 3


def test_float16_may_leave_float16_on_the_way():
    # transformers#17306
    q = np.full((1, 64), 60, np.float16)
    k, v = np.stack([q[0], -q[0], q[0]]), np.array([[60000], [-60000], [65504]], np.float16)
    for chunk in (1, 2, 3):
        got = chunked_attention(q, k, v, key_chunk=chunk)
        assert got.dtype == np.float16 and got.tolist() == [[62752]]
    many = np.full((5000, 1), 3.0, np.float16)
    assert chunked_attention(np.zeros((1, 1), np.float16), many, many).tolist() == [[3]]


@pytest.mark.parametrize("q_shape, k_shape, v_shape, shape, value", [
    ((3, 7), (0, 7), (0, 2), (3, 2), 0), ((0, 7), (5, 7), (5, 2), (0, 2), 0),
    ((3, 0), (5, 0), (5, 2), (3, 2), 1), ((3, 7), (5, 7), (5, 0), (3, 0), 0),
    ((0, 3, 7), (5, 7), (5, 2), (0, 3, 2), 0), ((3, 7), (0, 5, 7), (1, 5, 2), (0, 3, 2), 0),
    ((3, 0), (0, 0), (0, 2), (3, 2), 0),
])
def test_empty_axes(q_shape, k_shape, v_shape, shape, value):
    arrays = np.ones(q_shape), np.ones(k_shape), np.ones(v_shape)
    with np.errstate(all="raise"):
        got = chunked_attention(*arrays, query_chunk=2, key_chunk=2)
        np.testing.assert_allclose(got, np.full(shape, float(value)), strict=True)
        nothing = np.zeros((q_shape[-2], k_shape[-2]), bool)
        assert not chunked_attention(*arrays, mask=nothing).any()


@pytest.mark.parametrize("mask_shape", [(), (11,), (1,), (3, 1), (3, 11), (1, 11), (2, 3, 11),
                                        (5, 1, 1, 11), (5, 2, 1, 1), (13, 1, 1, 3, 11)])
def test_masks_broadcast_as_in_loops(rng, mask_shape):
    q, k, v = made(rng, np.float64, (2, 3, 7), (5, 1, 11, 7), (5, 1, 11, 2))
    mask = np.asarray(rng.random(mask_shape) < 0.7)
    got = chunked_attention(q, k, v, mask=mask, query_chunk=2, key_chunk=3)
    np.testing.assert_allclose(got, attention_loops(q, k, v, mask), rtol=1e-12, atol=1e-13,
                               strict=True)


@pytest.mark.parametrize("chunks", TILINGS)
def test_windows_and_padding(rng, chunks):
    q, k, v = made(rng, np.float64, (2, 13, 3), (2, 13, 3), (2, 13, 5))
    for mask in (sliding_window_mask(13, window=4), padding_mask([5, 13], 13),
                 np.zeros((13, 13), bool)):
        got = chunked_attention(q, k, v, mask=mask, query_chunk=chunks[0], key_chunk=chunks[1])
        np.testing.assert_allclose(got, attention(q, k, v, mask=mask), rtol=1e-12, atol=1e-13)


@given(st.integers(1, 12), st.integers(0, 12), st.integers(1, 14), st.integers(-6, 12),
       st.booleans(), st.integers(0, 2**32 - 1))
def test_tiles_show_what_the_mask_shows_and_none_shows_nothing(n_query, n_key, chunk, past, causal,
                                                               seed):
    rng = np.random.default_rng(seed)
    mask = rng.random((n_query, n_key)) < rng.random() if rng.random() < 0.7 else None
    wanted = np.ones((n_query, n_key), bool) if mask is None else mask.copy()
    if causal:
        wanted &= np.arange(n_key) <= past + np.arange(n_query)[:, None]
    shown = np.zeros((n_query, n_key), bool)
    for keys, first, hidden in chunked._tiles(n_query, n_key, chunk, past if causal else None,
                                              mask):
        assert keys.stop - keys.start <= chunk and keys.stop <= n_key
        tile = np.ones((n_query - first, keys.stop - keys.start), bool)
        if hidden is not None:
            tile[:len(hidden)] = ~hidden
        assert tile.any()
        shown[first:, keys] = tile
    np.testing.assert_array_equal(shown, wanted)


# What it leaves alone, and what it takes.


def test_nothing_is_written_to_and_nothing_is_shared(rng):
    q, k, v = made(rng, np.float32, (7, 3), (7, 3), (7, 3))
    k[6, 0], v[6, 1] = np.inf, np.nan
    mask = causal_mask(7)
    copies = [x.copy() for x in (q, k, v, mask)]
    for x in (q, k, v, mask):
        x.flags.writeable = False
    got = chunked_attention(q, k, v, mask=mask, query_chunk=2, key_chunk=2)
    for x, old in zip((q, k, v, mask), copies, strict=True):
        np.testing.assert_array_equal(x, old)
        assert not np.shares_memory(got, x)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("form", [
    np.asfortranarray, lambda x: np.flip(np.flip(x).copy()),
    lambda x: np.repeat(x, 2, axis=-1)[..., ::2], lambda x: x.astype(x.dtype.newbyteorder()),
    lambda x: x[:, None].swapaxes(0, 1)[0], lambda x: np.broadcast_to(x, (2, *x.shape))[1]])
def test_views_give_what_contiguous_copies_give(rng, dtype, form):
    arrays = made(rng, dtype, (7, 3), (11, 3), (11, 5))
    options = {"causal": True, "query_chunk": 3, "key_chunk": 4}
    got = chunked_attention(*(form(x) for x in arrays), **options)
    assert got.dtype == dtype and got.dtype.isnative
    close(got, chunked_attention(*arrays, **options), 2)


def test_types(rng):
    arrays = made(rng, np.float64, (7, 3), (11, 3), (11, 5))
    for first in FLOATS:
        for second in FLOATS:
            for place in range(3):
                mixed = [x.astype(first) for x in arrays]
                mixed[place] = arrays[place].astype(second)
                got = chunked_attention(*mixed, key_chunk=2)
                assert got.dtype == np.result_type(first, second)
    whole = [np.sign(x).astype(np.int16) for x in arrays]
    got = chunked_attention(*whole, key_chunk=2)
    assert got.dtype == np.float64
    close(got, attention_loops(*whole))
    close(chunked_attention([[1]], [[2]], [[3]]), [[3]], 2)


@pytest.mark.parametrize("causal", [False, True])
def test_the_number_of_workers_changes_not_a_bit(rng, causal, monkeypatch):
    monkeypatch.setattr(chunked, "SCORES_PER_WORKER", 1)
    q, k, v = made(rng, np.float32, (3, 2, 131, 17), (3, 1, 131, 17), (3, 1, 131, 5))
    one, *others = (chunked_attention(q, k, v, causal=causal, query_chunk=13, key_chunk=29,
                                      workers=n) for n in (1, 2, 3, 7, None))
    for other in others:
        np.testing.assert_array_equal(other, one)
    close(one, attention(q, k, v, mask=causal_mask(131) if causal else None))


class Recorded:
    """Stands in for the work of one tile, and notes in which threads it was done."""

    def __init__(self, monkeypatch):
        self.threads, self.work = set(), chunked._attend
        monkeypatch.setattr(chunked, "_attend", self)
        monkeypatch.setattr(chunked, "SCORES_PER_WORKER", 1)
        self.meet = None

    def __call__(self, *arguments):
        if self.meet is not None:
            self.meet.wait(timeout=60)  # for the other worker
        self.threads.add(threading.get_ident())
        return self.work(*arguments)


def test_several_workers_work_at_the_same_time(rng, monkeypatch):
    q, k, v = made(rng, np.float64, (8, 3), (8, 3), (8, 2))
    recorded = Recorded(monkeypatch)
    recorded.meet = threading.Barrier(2)
    chunked_attention(q, k, v, query_chunk=2, workers=2)
    assert len(recorded.threads) == 2 and threading.get_ident() not in recorded.threads


def test_small_work_is_done_by_the_caller(rng, monkeypatch):
    q, k, v = made(rng, np.float64, (8, 3), (8, 3), (8, 2))
    recorded = Recorded(monkeypatch)
    monkeypatch.setattr(chunked, "SCORES_PER_WORKER", 2**20)
    chunked_attention(q, k, v, query_chunk=2, workers=2)
    assert recorded.threads == {threading.get_ident()}


def test_without_threads_there_is_one_worker(rng, monkeypatch):
    q, k, v = made(rng, np.float64, (8, 3), (8, 3), (8, 2))
    recorded = Recorded(monkeypatch)

    def start(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    chunked._threads_start.cache_clear()
    try:
        got = chunked_attention(q, k, v, query_chunk=2, workers=3)
    finally:
        chunked._threads_start.cache_clear()
    assert recorded.threads == {threading.get_ident()}
    close(got, attention_loops(q, k, v))


def test_an_error_in_a_thread_is_raised_and_the_next_call_works(rng, monkeypatch):
    q, k, v = made(rng, np.float64, (8, 3), (8, 3), (8, 2))
    with monkeypatch.context() as patch:
        patch.setattr(chunked, "SCORES_PER_WORKER", 1)
        patch.setattr(chunked, "mix_tiles", lambda *arguments: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            chunked_attention(q, k, v, query_chunk=2, workers=2)
    close(chunked_attention(q, k, v, query_chunk=2, workers=2), attention_loops(q, k, v))


def run_python(code):
    """What a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


CALL = "chunked_attention(np.eye(5), np.eye(5), np.eye(5), query_chunk=2, workers=2)"


def test_threadpoolctl_may_be_missing():
    code = ("import sys; sys.modules['threadpoolctl'] = None\n"
            "import numpy as np\nfrom attention_book.chunked import chunked_attention\n"
            f"print(round(float({CALL}.sum()), 6))")
    assert run_python(code) == "5.0\n"


def test_importing_loads_no_threadpoolctl():
    code = ("import sys\nimport attention_book.chunked\nprint('threadpoolctl' in sys.modules)")
    assert run_python(code) == "False\n"


class Limits:
    """Stands in for threadpoolctl: notes when matrix products are held to one thread."""

    held = False

    @contextmanager
    def limit(self, *, limits, user_api):
        assert (limits, user_api, self.held) == (1, "blas", False)
        self.held = True
        time.sleep(0.001)  # long enough for another thread to come by
        try:
            yield
        finally:
            self.held = False


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("fails", [False, True])
def test_matrix_products_are_held_to_one_thread_and_let_go(rng, monkeypatch, workers, fails):
    q, k, v = made(rng, np.float64, (8, 3), (8, 3), (8, 2))
    limits, held, work = Limits(), [], chunked.mix_tiles

    def mix(*arguments):
        held.append(limits.held)
        return work(*arguments) if not fails else 1 // 0

    monkeypatch.setattr(chunked, "_blas", lambda: limits)
    monkeypatch.setattr(chunked, "mix_tiles", mix)
    monkeypatch.setattr(chunked, "SCORES_PER_WORKER", 1)
    with pytest.raises(ZeroDivisionError) if fails else nullcontext():
        chunked_attention(q, k, v, query_chunk=2, workers=workers)
    assert set(held) == {True} and not limits.held


def test_calls_from_several_threads_take_turns(rng, monkeypatch):
    """Else the one that ends first would let go of the threads that the other still holds."""
    q, k, v = made(rng, np.float64, (2, 61, 5), (2, 61, 5), (2, 61, 3))
    wanted, results = chunked_attention(q, k, v, query_chunk=7, key_chunk=11), []
    limits = Limits()
    monkeypatch.setattr(chunked, "_blas", lambda: limits)

    def call():
        for _ in range(3):
            results.append(chunked_attention(q, k, v, query_chunk=7, key_chunk=11, workers=2))

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 12
    for got in results:
        np.testing.assert_array_equal(got, wanted)


def peak_memory(function):
    """The most memory in use at once, beyond what there was before and the result."""
    function()  # what is made once and kept
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        result = function()
        return tracemalloc.get_traced_memory()[1] - before - result.nbytes
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("leading", [((), (), ()), ((4,), (), ()), ((2, 2), (2, 1), (2, 1))])
def test_memory_does_not_grow_with_n(rng, leading):
    peaks = []
    for n in (1024, 2048):
        q, k, v = made(rng, np.float32, *[(*lead, n, 16) for lead in leading])
        peaks.append(peak_memory(lambda q=q, k=k, v=v: chunked_attention(
            q, k, v, causal=True, query_chunk=128, key_chunk=64, workers=1)))
    tile = 128 * 64 * 4
    assert peaks[0] < 5 * tile and peaks[1] < 1.1 * peaks[0], peaks
    q, k, v = (x[..., :1024, :] for x in (q, k, v))
    assert peak_memory(lambda: attention(q, k, v)) > 100 * tile  # so much for dense


def test_memory_stays_small_where_rows_are_computed_densely(rng):
    q, k, v = made(rng, np.float32, (256, 4), (4096, 4), (4096, 4))
    v[0, 0] = np.nan  # which every query sees
    peak = peak_memory(lambda: chunked_attention(q, k, v, query_chunk=256, key_chunk=32, workers=1))
    assert peak < 256 * 4096 * 4 / 4, peak


def test_memory_of_two_workers_with_the_tiles_of_the_signature(rng):
    q, k, v = made(rng, np.float32, (2, 2048, 64), (2, 2048, 64), (2, 2048, 64))
    peak = peak_memory(lambda: chunked_attention(q, k, v, causal=True, workers=2))
    assert peak < 8 * 2**20, peak


Q, K, V = np.ones((3, 7)), np.ones((5, 7)), np.ones((5, 2))
MASK = np.ones((3, 5), bool)
GOOD = {"q": Q, "k": K, "v": V}

# What is changed; the error; the argument, what came, what was wanted, and a word of the cause.
CASES = [
    ({"q": None}, TypeError, "q", "None", "(..., n_query, d_head)", "forget"),
    ({"k": None}, TypeError, "k", "None", "(..., n_key, d_head)", "forget"),
    ({"v": "abc"}, TypeError, "v", "text", "(..., n_key, d_value)", ""),
    ({"q": Q[0]}, ValueError, "q", "(7,)", "at least 2 axes", "q[None, :]"),
    ({"q": Q > 0}, TypeError, "q", "bool", "numbers", "mask="),
    ({"k": K + 1j}, TypeError, "k", "complex", "real numbers", ".real"),
    ({"v": [[1], [2, 3]]}, ValueError, "v", "different lengths", "(..., n_key, d_value)", "Pad"),
    ({"k": K.T}, ValueError, "k", "d_head = 5", "d_head = 7", "transposed"),
    ({"k": K[:, :3]}, ValueError, "k", "d_head = 3", "d_head = 7", "feature by feature"),
    ({"v": np.ones((6, 2))}, ValueError, "v", "n_key = 6", "n_key = 5, as in k", "one value"),
    ({"q": np.ones((2, 3, 7)), "k": np.ones((4, 5, 7))}, ValueError, "q and k", "(2,)",
     "broadcast", "equal, 1"),
    ({"mask": np.ones((3, 5))}, TypeError, "mask", "float64", "booleans", "astype(bool)"),
    ({"mask": np.where(MASK, 0, -np.inf)}, TypeError, "mask", "float64", "booleans", "mask == 0"),
    ({"mask": MASK.T}, ValueError, "mask", "(5, 3)", "(3, 5)", "transposed"),
    ({"mask": MASK[:2]}, ValueError, "mask", "(2, 5)", "(3, 5)", "Each axis"),
    ({"mask": [[True], [True, False]]}, ValueError, "mask", "different lengths", "boolean", ""),
    ({"scale": "small"}, TypeError, "scale", "str", "one real number", ""),
    ({"scale": np.inf}, ValueError, "scale", "inf", "a finite number", ""),
    ({"scale": True}, TypeError, "scale", "True", "one real number", ""),
    ({"causal": 1}, TypeError, "causal", "1", "True or False", "mask="),
    ({"causal": None}, TypeError, "causal", "None", "True or False", ""),
    ({"causal": MASK}, TypeError, "causal", "(3, 5) of bool", "True or False", "mask="),
    ({"query_chunk": 0}, ValueError, "query_chunk", "0", "at least 1", ""),
    ({"query_chunk": 2.0}, TypeError, "query_chunk", "2.0", "a whole number", ""),
    ({"query_chunk": None}, TypeError, "query_chunk", "None", "a whole number", ""),
    ({"key_chunk": -3}, ValueError, "key_chunk", "-3", "at least 1", ""),
    ({"key_chunk": True}, TypeError, "key_chunk", "True", "a whole number", ""),
    ({"key_chunk": "4"}, TypeError, "key_chunk", "str", "a whole number", ""),
    ({"workers": 0}, ValueError, "workers", "0", "at least 1", ""),
    ({"workers": 1.5}, TypeError, "workers", "1.5", "a whole number", ""),
    ({"workers": -1}, ValueError, "workers", "-1", "at least 1", ""),
]


@pytest.mark.parametrize("change, error, name, got, wanted, cause", CASES)
def test_bad_input_is_refused_in_words(change, error, name, got, wanted, cause):
    with pytest.raises((TypeError, ValueError)) as caught:
        chunked_attention(**{**GOOD, **change})
    assert caught.type is error
    argument, _, rest = str(caught.value).partition(": got ")
    came, _, rest = rest.partition("; wanted ")
    assert argument == name and got in came and wanted in rest and cause in rest, caught.value


def test_refused_before_any_work():
    huge = np.broadcast_to(1.0, (10**9, 10**6))
    for options in ({"workers": 0}, {"key_chunk": 0}, {"mask": MASK}, {"causal": 0}):
        with pytest.raises((TypeError, ValueError), match=r"got .*; wanted "):
            chunked_attention(huge, huge, huge, **options)


def test_good_input_of_the_table_passes():
    assert chunked_attention(**GOOD, mask=MASK, causal=np.True_, workers=np.int8(2)).shape == (3, 2)
