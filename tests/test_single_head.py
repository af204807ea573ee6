"""One head: accuracy, masks, what is passed on and what is not, and every empty axis."""

import numpy as np
import pytest

from attention_book import attention, causal_attention, causal_mask
from references import (
    FLOATS,
    assert_within,
    attention_exact,
    attention_loops,
    causal_attention_loops,
    epsilon,
    exact,
    exact_number,
    mp,
    smallest,
    softmax_exact,
)


def check_against_exact(q, k, v, *, mask=None, scale=None, c=None):
    """Bound: ``c * eps * (1 + s) * sum(w * abs(v))``, and what underflows; see the docstring.

    float16 is held to that of float32, in which it is computed, and one more rounding: that is
    below the documented ``c = 1`` for the sizes used here.
    """
    dtype, n_key, d_head = v.dtype, v.shape[0], q.shape[-1]
    with np.errstate(all="raise"):
        got = attention(q, k, v, mask=mask, scale=scale)
    assert got.dtype == dtype
    mixtures, magnitudes, sizes = attention_exact(q, k, v, mask, scale)
    half = dtype == np.float16
    relative = (c or 12 + max(d_head, n_key / 2)) * epsilon(np.float32 if half else dtype)
    last = epsilon(dtype) / 2 if half else 0
    underflow = smallest(dtype) * (n_key + sum(abs(exact(v)), start=exact_number(0)))
    allowed = [[(mp.expm1(relative * (1 + size)) + last) * m + u
                for m, u in zip(row, underflow, strict=True)]
               for row, (size,) in zip(magnitudes, sizes, strict=True)]
    assert_within(got, np.array(mixtures, object).reshape(got.shape),
                  np.array(allowed, object).reshape(got.shape))


def made(rng, dtype, *shapes, size=1.0):
    return [(rng.normal(size=shape) * size).astype(dtype) for shape in shapes]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", [1e-3, 0.3, 1, 3, 30])
def test_mixtures_are_right_within_the_documented_bound(rng, dtype, size):
    for n_query, n_key, d_head, d_value in [(3, 5, 7, 2), (5, 3, 2, 11), (1, 13, 1, 1)]:
        q, k = made(rng, dtype, (n_query, d_head), (n_key, d_head), size=size)
        v, = made(rng, dtype, (n_key, d_value))
        check_against_exact(q, k, v)
        check_against_exact(q, k, v, mask=rng.random((n_query, n_key)) < 0.6, scale=0.7)


@pytest.mark.parametrize("dtype", FLOATS)
def test_ordinary_numbers_come_out_to_the_last_digits(rng, dtype):
    q, k, v = made(rng, dtype, (7, 11), (53, 11), (53, 3))
    check_against_exact(q, k, v, c=3)


@pytest.mark.parametrize("dtype", FLOATS)
def test_many_keys_that_round_alike(dtype):
    n_key = 10_007
    q, k = np.zeros((1, 2), dtype), np.zeros((n_key, 2), dtype)
    v = np.full((n_key, 1), 1.1, dtype)
    bound = 1 if dtype == np.float16 else 12 + n_key / 2
    wanted = exact_number(v[0, 0])
    assert_within(attention(q, k, v), [[wanted]], exact_number(bound) * epsilon(dtype) * wanted)


@pytest.mark.parametrize("dtype", FLOATS)
def test_extreme_queries_and_keys(rng, dtype):
    info = np.finfo(dtype)
    q, k, v = made(rng, dtype, (3, 2), (5, 2), (5, 3))
    for exponent in (info.maxexp - 3, info.maxexp // 2 - 1, info.minexp + 3):
        large, small = np.ldexp(q, exponent), np.ldexp(k, -exponent)
        assert np.isfinite(large).all() and large.any()
        check_against_exact(large, small, v)
    check_against_exact(np.ldexp(q, info.minexp - 5), k, v)  # subnormal: all weights alike
    # Only the scale brings these scores back into the type.
    exponent = info.maxexp // 2 + 2
    check_against_exact(np.ldexp(q, exponent), np.ldexp(k, exponent), v,
                        scale=np.ldexp(np.longdouble(1), -2 * exponent))


@pytest.mark.parametrize("dtype", FLOATS)
def test_extreme_values(rng, dtype):
    info = np.finfo(dtype)
    q, k, v = made(rng, dtype, (3, 2), (101, 2), (101, 3))
    v = v / abs(v).max()
    for exponent in (info.maxexp - 2, info.minexp, info.minexp - 4):
        check_against_exact(q, k, np.ldexp(v, exponent))
    for extreme in (info.max, info.smallest_subnormal, info.tiny):
        check_against_exact(q, k, np.full_like(v, extreme))
        check_against_exact(q, k, np.full_like(v, -extreme))
    signs = np.where(np.arange(101)[:, None] % 2, info.max, -info.max) * np.ones_like(v)
    check_against_exact(q, k, signs)


@pytest.mark.parametrize("dtype", FLOATS)
def test_mixtures_of_the_largest_number_are_finite(dtype):
    largest = np.finfo(dtype).max
    for n_key in range(1, 60):
        k = np.linspace(0, 1, n_key, dtype=dtype)[:, None]
        got = attention(np.ones((1, 1), dtype), k, np.full((n_key, 2), [largest, -largest], dtype))
        np.testing.assert_allclose(got[0] / largest, [1, -1], rtol=60 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", FLOATS[1:])
def test_beyond_the_type_a_score_is_infinite_and_takes_all_the_weight(dtype):
    large = np.ldexp(dtype(3), np.finfo(dtype).maxexp // 2 - 1)  # three times this is not
    q, k = np.array([[large]]), large / 3 * np.array([[3], [1], [-3], [3]], dtype)
    v = np.array([[1], [5], [np.inf], [2]], dtype)
    with np.errstate(all="raise"):
        assert attention(q, k, v, scale=1.0).tolist() == [[1.5]]
        assert attention(q, k[1:2], v[1:2], scale=1.0).tolist() == [[5]]


def test_return_weights(rng):
    q, k, v = made(rng, np.float32, (2, 1, 3, 7), (5, 11, 7), (11, 2))
    mixtures, weights = attention(q, k, v, return_weights=True)
    assert weights.shape == (2, 5, 3, 11) and weights.dtype == np.float32
    np.testing.assert_array_equal(mixtures, attention(q, k, v))
    row = [float(w) for w in softmax_exact(exact(q[1, 0, 2].astype(float) @ k[4].T / 7**0.5))]
    np.testing.assert_allclose(weights[1, 4, 2], row, rtol=1e-5)
    half = attention(*(a.astype(np.float16) for a in (q, k, v)), return_weights=True)
    assert [a.dtype for a in half] == [np.float16] * 2


@pytest.mark.parametrize("shapes", [
    [(2, 1, 3, 7), (5, 11, 7), (11, 2)], [(3, 7), (2, 5, 11, 7), (5, 11, 2)],
    [(3, 7), (11, 7), (2, 5, 11, 2)], [(2, 3, 7), (2, 11, 7), (2, 11, 2)],
    [(5, 1, 3, 7), (1, 2, 11, 7), (1, 1, 11, 13)],
])
@pytest.mark.parametrize("mask_shape", [
    None, (), (11,), (1,), (3, 1), (3, 11), (1, 11), "samples", (13, 1, 1, 3, 11), (13, 1, 1, 1, 1),
])
def test_leading_axes_broadcast_as_in_loops(rng, shapes, mask_shape):
    q, k, v = made(rng, np.float64, *shapes)
    if mask_shape == "samples":
        mask_shape = (*np.broadcast_shapes(*(shape[:-2] for shape in shapes)), 1, 1)
    mask = None if mask_shape is None else np.asarray(rng.random(mask_shape) < 0.7)
    wanted = attention_loops(q, k, v, mask)
    np.testing.assert_allclose(attention(q, k, v, mask=mask), wanted, rtol=1e-12, atol=1e-13,
                               strict=True)


@pytest.mark.parametrize("q_shape, k_shape, v_shape, shape, value", [
    ((3, 7), (0, 7), (0, 2), (3, 2), 0), ((0, 7), (5, 7), (5, 2), (0, 2), 0),
    ((3, 0), (5, 0), (5, 2), (3, 2), 1), ((3, 7), (5, 7), (5, 0), (3, 0), 0),
    ((0, 3, 7), (5, 7), (5, 2), (0, 3, 2), 0), ((3, 7), (0, 5, 7), (1, 5, 2), (0, 3, 2), 0),
    ((3, 0), (0, 0), (0, 2), (3, 2), 0), ((100_000, 1), (1, 1), (1, 1), (100_000, 1), 1),
])
def test_empty_axes(q_shape, k_shape, v_shape, shape, value):
    arrays = np.ones(q_shape), np.ones(k_shape), np.ones(v_shape)
    with np.errstate(all="raise"):
        np.testing.assert_allclose(attention(*arrays), np.full(shape, float(value)), strict=True)
        mask = np.ones((q_shape[-2], k_shape[-2]), bool)
        np.testing.assert_allclose(attention(*arrays, mask=mask), np.full(shape, float(value)))
        assert not attention(*arrays, mask=~mask).any()


GARBAGE = [np.nan, np.inf, -np.inf, "largest", -1e4]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("garbage", GARBAGE)
@pytest.mark.parametrize("exponent", [0, "subnormal", "largest"])
def test_what_is_masked_has_no_influence(rng, dtype, garbage, exponent):
    """Not a bit of the result depends on it, small and large values included."""
    info = np.finfo(dtype)
    garbage = info.max if garbage == "largest" else garbage
    q, k, v = made(rng, dtype, (5, 3), (11, 3), (11, 7))
    v = np.ldexp(v / abs(v).max(), {"subnormal": info.minexp - 2, "largest": info.maxexp - 1}.get(
        exponent, 0))
    mask = causal_mask(5, 11) & (np.arange(11) != 2)
    mask[3] = False
    hidden = ~mask.any(axis=0)
    assert hidden.sum() == 1
    other_k, other_v = k.copy(), v.copy()
    other_k[hidden], other_v[hidden] = garbage, garbage
    with np.errstate(all="raise"):
        got = attention(q, other_k, other_v, mask=mask, return_weights=True)
    for a, b in zip(got, attention(q, k, v, mask=mask, return_weights=True), strict=True):
        np.testing.assert_array_equal(a, b, strict=True)
    other_k[-1], other_v[-1] = garbage, garbage  # the future of all queries but the last
    got = attention(q, other_k, other_v, mask=mask)
    np.testing.assert_array_equal(got[:-1], attention(q, k, v, mask=mask)[:-1])
    assert not got[3].any()


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_and_infinity_that_may_be_attended_to_are_passed_on_in_their_rows(rng, dtype):
    q, k, v = made(rng, dtype, (7, 3), (7, 3), (7, 5))
    clean = attention(q, k, v, mask=causal_mask(7))
    v[2, 0], v[3, 1], v[4, 2], v[3, 3], v[5, 3] = np.nan, np.inf, -np.inf, np.inf, -np.inf
    with np.errstate(all="raise"):
        got = attention(q, k, v, mask=causal_mask(7))
    wanted = clean.copy()
    wanted[2:, 0], wanted[3:, 1], wanted[4:, 2] = np.nan, np.inf, -np.inf
    wanted[3:5, 3], wanted[5:, 3] = np.inf, np.nan
    np.testing.assert_array_equal(got, wanted)


def test_infinity_is_passed_on_though_its_weight_rounds_to_zero():
    q, k = np.array([[1.0]]), np.array([[0.0], [-2000.0]])
    assert attention(q, k, np.array([[1.0], [np.inf]])).tolist() == [[np.inf]]
    assert np.isnan(attention(q, k, np.array([[1.0], [np.nan]]))).all()


def test_a_score_of_minus_infinity_counts_as_masked():
    q, k = np.array([[1.0]]), np.array([[0.0], [-np.inf]])
    for mask in (None, np.ones((1, 2), bool)):
        assert attention(q, k, np.array([[1.0], [np.nan]]), mask=mask).tolist() == [[1]]
        assert attention(q, k[1:], np.array([[np.nan]])).tolist() == [[0]]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_bad_query_spoils_its_own_row_alone(rng, bad):
    q, k, v = made(rng, np.float64, (5, 3), (7, 3), (7, 2))
    clean = attention(q, k, v)
    q[2, 1] = bad
    got, weights = attention(q, k, v, return_weights=True)
    others = np.arange(5) != 2
    np.testing.assert_array_equal(got[others], clean[others])
    assert np.isfinite(got[2]).all() == np.isfinite(weights[2]).all() == np.isinf(bad)


def test_an_overflow_in_one_row_leaves_the_others_as_they_were(rng):
    q, k, v = made(rng, np.float64, (5, 3), (7, 3), (7, 2))
    clean = attention(q, k, v)
    q[2] *= 1e308
    with np.errstate(all="raise"):
        got = attention(q, k, v)
    np.testing.assert_array_equal(np.delete(got, 2, 0), np.delete(clean, 2, 0))
    winner = (q[2] @ (k.T / 1e10)).argmax()
    np.testing.assert_allclose(got[2], v[winner])


def test_float16_scores_and_sums_may_leave_float16():
    q = np.full((1, 64), 60, np.float16)
    k = np.stack([q[0], -q[0], q[0]])  # products that sum to 230400: in float16, infinity
    v = np.array([[60000], [-60000], [65504]], np.float16)
    got = attention(q, k, v)
    assert got.dtype == np.float16 and got.tolist() == [[62752]]
    assert attention(q, k, v, scale=2.0).tolist() == [[62752]]
    k[2, 0] = 59  # less by 60: the first key wins, but for one who sees two infinities
    assert attention(q, k, v, scale=2.0).tolist() == [[60000]]
    many = np.full((5000, 1), 3.0, np.float16)
    assert attention(np.zeros((1, 1), np.float16), many, many).tolist() == [[3]]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n, d_model, d_head, d_value", [
    (5, 7, 3, 2), (1, 2, 5, 11), (7, 1, 1, 1), (0, 3, 2, 5), (3, 0, 2, 5), (3, 5, 0, 2),
])
def test_causal_attention_equals_loops(rng, dtype, n, d_model, d_head, d_value):
    x, wq, wk, wv = made(rng, dtype, (n, d_model), *[(d_model, d) for d in (d_head, d_head,
                                                                           d_value)])
    with np.errstate(all="raise"):
        got = causal_attention(x, wq, wk, wv)
    assert got.dtype == dtype and got.shape == (n, d_value)
    rtol = max(float(np.finfo(dtype).eps), 1e-15)
    np.testing.assert_allclose(got, causal_attention_loops(x, wq, wk, wv), rtol=30 * rtol,
                               atol=30 * rtol)


@pytest.mark.parametrize("dtype", FLOATS)
def test_causal_attention_of_the_smallest_numbers(dtype):
    unit = np.finfo(dtype).smallest_subnormal
    x, w = np.full((3, 2), 9 * unit), np.full((2, 2), 0.3, dtype)
    with np.errstate(all="raise"):
        got = causal_attention(x, w, w, w)
    assert got.dtype == dtype
    np.testing.assert_allclose(got / unit, np.full((3, 2), 5.4), rtol=0, atol=2)  # in whole units


def test_causal_attention_broadcasts_leading_axes(rng):
    x, wq, wk, wv = made(rng, np.float64, (2, 1, 5, 7), (3, 7, 11), (7, 11), (2, 3, 7, 13))
    got = causal_attention(x, wq, wk, wv)
    assert got.shape == (2, 3, 5, 13)
    for b, h in np.ndindex(2, 3):
        wanted = causal_attention_loops(x[b, 0], wq[h], wk, wv[b, h])
        np.testing.assert_allclose(got[b, h], wanted, rtol=1e-12)


@pytest.mark.parametrize("garbage", [np.nan, np.inf, -np.inf, 1e308])
def test_causal_attention_does_not_see_the_future(rng, garbage):
    x, wq, wk, wv = made(rng, np.float64, (7, 5), (5, 3), (5, 3), (5, 2))
    clean = causal_attention(x, wq, wk, wv)
    for position in range(7):
        other = x.copy()
        other[position:] = garbage
        with np.errstate(all="raise"):
            got = causal_attention(other, wq, wk, wv)
        np.testing.assert_array_equal(got[:position], clean[:position])


@pytest.mark.parametrize("dtype", FLOATS[1:])
def test_a_projection_may_overflow_on_the_way(dtype):
    large = np.finfo(dtype).max
    x, eye = np.array([[large, large / 2]], dtype), np.eye(2, dtype=dtype)
    wv = np.array([[1.5, 1], [-3, 0]], dtype)
    with np.errstate(all="raise"):
        got = causal_attention(x, 0 * eye, eye, wv)
    assert got[0, 0] == 0 and got[0, 1] == large
