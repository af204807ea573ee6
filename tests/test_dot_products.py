"""Scores: right within rounding for every type, and safe wherever the exact score fits."""

import numpy as np
import pytest

from attention_book import scores
from references import (
    FLOATS,
    assert_within,
    epsilon,
    exact_number,
    score_loop,
    scores_exact,
    smallest,
)

SIZES = {  # q and k of one size each, as powers of two within the type's range
    "ordinary": lambda info: (0, 0),
    "large against small": lambda info: (info.maxexp - 4, -info.maxexp + 4),
    "tiny": lambda info: (info.minexp // 2, info.minexp // 2),
    "subnormal": lambda info: (info.minexp - info.nmant // 2, 0),
    "huge": lambda info: (info.maxexp // 2 - 5, info.maxexp // 2 - 5),
}


def check_against_exact(q, k, scale=None):
    """Bound: ``d / 2 + 2`` roundings, relative to ``sum(abs(q * k))``, and what underflows.

    float16 is held to those of float32, in which it is computed, and one more of its own.
    """
    q, k = np.asarray(q), np.asarray(k)
    got = scores(q, k, scale=scale)
    assert got.dtype == q.dtype
    wanted, sizes = scores_exact(q, k, scale)
    d_head, dtype = q.shape[-1], q.dtype
    factor = abs(exact_number(1.0 if scale is None else scale))
    half = dtype == np.float16
    relative = (exact_number(d_head) / 2 + 2) * epsilon(np.float32 if half else dtype)
    underflow = smallest(dtype) * (1 + d_head * factor)
    last = epsilon(dtype) / 2 if half else 0
    assert_within(got, wanted, [[relative * size + last * abs(score) + underflow
                                 for score, size in zip(*pair, strict=True)]
                                for pair in zip(wanted, sizes, strict=True)])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("d_head", [1, 2, 7, 67])
def test_each_score_is_right_within_rounding(rng, dtype, size, d_head):
    q_exponent, k_exponent = SIZES[size](np.finfo(dtype))
    q = rng.normal(size=(3, d_head)).astype(dtype)
    k = rng.normal(size=(5, d_head)).astype(dtype)
    q, k = np.ldexp(q, q_exponent), np.ldexp(k, k_exponent)
    assert np.isfinite(q).all() and np.isfinite(k).all()
    with np.errstate(all="raise"):
        check_against_exact(q, k)
        check_against_exact(q, k, scale=0.3)


def test_by_hand():
    q, k = [[1.0, 0.0], [1.0, 2.0]], [[1.0, 0.0], [0.0, 1.0], [3.0, 3.0]]
    assert scores(q, k, scale=1.0).tolist() == [[1, 0, 3], [1, 2, 9]]
    assert scores(q, k, scale=-2).tolist() == [[-2, 0, -6], [-2, -4, -18]]
    assert scores(q, k, scale=0).tolist() == [[0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize("d_head", [1, 2, 16, 64])
def test_default_scale_is_one_over_the_square_root_of_the_features(d_head):
    ones = np.ones((1, d_head))
    np.testing.assert_allclose(scores(ones, ones), [[np.sqrt(d_head)]], rtol=1e-15)


@pytest.mark.parametrize("scale", [1.7, np.float32(0.25), np.array(3.0), 2, np.int8(3)])
def test_scale_may_be_any_real_number(scale):
    q, k = np.array([[1.5, 2.0]], np.float32), np.array([[3.0, 1.0]], np.float32)
    got = scores(q, k, scale=scale)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, [[6.5 * float(scale)]], rtol=1e-6)


def test_leading_axes_broadcast_as_in_loops(rng):
    q, k = rng.normal(size=(2, 1, 3, 7)), rng.normal(size=(5, 11, 7))
    got = scores(q, k)
    assert got.shape == (2, 5, 3, 11)
    for b, h, i, j in np.ndindex(got.shape):
        np.testing.assert_allclose(got[b, h, i, j], score_loop(q[b, 0, i], k[h, j]), atol=1e-14)


@pytest.mark.parametrize("q_shape, k_shape, shape", [
    ((3, 0), (5, 0), (3, 5)), ((0, 2), (5, 2), (0, 5)), ((3, 2), (0, 2), (3, 0)),
    ((0, 3, 2), (5, 2), (0, 3, 5)), ((2, 0, 2), (2, 0, 2), (2, 0, 0)),
])
def test_empty_axes_give_empty_results_or_zeros(q_shape, k_shape, shape):
    got = scores(np.ones(q_shape), np.ones(k_shape))
    assert got.shape == shape and not got.any()


def large_power(dtype):
    """A power of two whose square is beyond the type float16 is computed in, or the type."""
    return np.finfo(dtype).maxexp // 2 + 3


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_product_may_overflow_where_the_scaled_score_fits(dtype):
    q = np.ldexp(np.array([[1, 1.5], [0.75, -1]], dtype), large_power(dtype))
    k = np.ldexp(np.array([[1.25, 0.5], [-1, 1], [1, 0.625]], dtype), large_power(dtype))
    with np.errstate(all="raise"):
        check_against_exact(q, k, scale=2.0**-9)
        assert scores(q[:1], np.ldexp(np.array([[1.5, -1]], dtype), large_power(dtype)),
                      scale=1.0).tolist() == [[0]]  # inf − inf on the way


@pytest.mark.parametrize("dtype", FLOATS[1:])
def test_an_overflow_leaves_every_other_score_as_it_was(dtype):
    info = np.finfo(dtype)
    large, small = dtype(2) ** (info.maxexp - 20), dtype(2) ** (20 - info.maxexp)
    q = np.array([[large, small], [large, large]], dtype)
    k = np.array([[small, large], [large, large]], dtype)
    assert scores(q, k, scale=1.0)[0, 0] == 2
    np.testing.assert_array_equal(scores(q, k, scale=1.0)[:1, :1],
                                  scores(q[:1], k[:1], scale=1.0))


@pytest.mark.parametrize("dtype", FLOATS[1:])
def test_any_scale_that_the_type_holds(rng, dtype):
    info = np.finfo(dtype)
    q, k = rng.normal(size=(3, 2)).astype(dtype), rng.normal(size=(5, 2)).astype(dtype)
    half = info.maxexp // 2
    with np.errstate(all="raise"):
        check_against_exact(np.ldexp(q, -half), np.ldexp(k, -half), scale=info.max)
        check_against_exact(np.ldexp(q, half), np.ldexp(k, half + 2), scale=info.tiny)
        check_against_exact(q, k, scale=info.tiny)
        check_against_exact(q, k, scale=info.smallest_subnormal)
    if dtype == np.float32:
        assert not scores(q, k, scale=1e-60).any()


@pytest.mark.parametrize("dtype", FLOATS[1:])
def test_beyond_the_type_means_infinite_though_the_row_holds_larger_numbers(dtype):
    info = np.finfo(dtype)
    q = np.ldexp(np.ones((1, 2), dtype), [[info.maxexp - 1, 3 - info.maxexp]])
    k = np.ldexp(np.array([[0, 1], [1, 0]], dtype), info.maxexp - 2)
    assert scores(q, k, scale=1.0).tolist() == [[2, np.inf]]
    assert scores(q, k, scale=info.max).tolist() == [[np.inf, np.inf]]


def test_beyond_the_type_a_score_is_infinite_without_a_warning():
    q, k = np.full((1, 2), 1e30, np.float32), np.array([[1e30, 0], [-1e30, 0]], np.float32)
    with np.errstate(all="raise"):
        assert scores(q, k).tolist() == [[np.inf, -np.inf]]
        assert scores(np.float16([[300]]), np.float16([[300]])).tolist() == [[np.inf]]
        assert scores([[1e300]], [[1.0]], scale=1e300).tolist() == [[np.inf]]


def test_float16_is_computed_in_float32():
    q = np.full((1, 4), 250, np.float16)  # 250 · 250 · 4 is beyond float16, a quarter of it is not
    assert scores(q, q, scale=0.125).tolist() == [[31248]]
    ones, steps = np.ones((1, 2048), np.float16), np.full((1, 2048), 1.001, np.float16)
    np.testing.assert_allclose(scores(ones, steps, scale=1.0), [[2050]], rtol=5e-4)


def test_nan_and_infinity_stay_in_their_own_row_and_column(rng):
    q, k = rng.normal(size=(3, 5)), rng.normal(size=(7, 5))
    q[1, 2], k[4, 0], k[6, 3] = np.nan, np.inf, np.nan
    with np.errstate(all="raise"):
        got = scores(q, k)
    clean = scores(np.where(np.isfinite(q), q, 0), np.where(np.isfinite(k), k, 0))
    touched = np.zeros((3, 7), bool)
    touched[1], touched[:, 4], touched[:, 6] = True, True, True
    np.testing.assert_array_equal(got[~touched], clean[~touched])
    assert np.isnan(got[1]).all() and np.isnan(got[:, 6]).all()
    assert got[0, 4] == np.copysign(np.inf, q[0, 0]) and got[2, 4] == np.copysign(np.inf, q[2, 0])


@pytest.mark.parametrize("key, wanted", [
    ([1e-200, 1e200], np.inf), ([-1e-200, 1e200], -np.inf), ([0.0, 1.0], np.nan),
])
def test_infinity_in_a_query_gives_what_arithmetic_gives(key, wanted):
    np.testing.assert_array_equal(scores([[np.inf, 1.0]], [key], scale=1.0), [[wanted]])


@pytest.mark.parametrize("dtype", FLOATS[1:])
def test_infinity_outweighs_a_sum_that_overflows_against_it(dtype):
    largest = np.finfo(dtype).max
    q, k = np.full((1, 7), largest, dtype), np.full((1, 7), -largest, dtype)
    q[0, -1], k[0, -1] = np.inf, 1
    assert scores(q, k, scale=1.0).tolist() == [[np.inf]]
    assert scores(k, q, scale=-1.0).tolist() == [[-np.inf]]
