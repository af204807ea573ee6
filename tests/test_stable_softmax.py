"""Softmax and its logarithm: right within rounding, for rows of every kind."""

import numpy as np
import pytest

from attention_book import log_softmax, log_sum_exp, softmax
from references import (
    FLOATS,
    assert_within,
    epsilon,
    exact,
    exact_number,
    log_sum_exp_exact,
    mp,
    smallest,
    softmax_exact,
)


def rows_of(kind, dtype, rng):
    """One row of scores of ``dtype``."""
    info = np.finfo(dtype)
    return np.array({
        "ordinary": rng.normal(size=11),
        "close": 1000 + rng.normal(size=11) / 8,
        "far apart": rng.normal(size=11) * 100,
        "beyond exp": 60000 + rng.normal(size=7) * 40,
        "below exp": -60000 + rng.normal(size=7) * 40,
        "near the largest": [info.max, info.max * dtype(0.75), -info.max, info.max],
        "subnormal": [info.smallest_subnormal, -info.smallest_subnormal, 0, info.tiny],
        "weights that underflow": -np.log(np.longdouble(2)) * np.array(
            [0, -info.minexp - 2, info.nmant - info.minexp - 3, info.nmant - info.minexp + 3]),
        "equal": np.full(97, 0.3),
        "one": [-5.5],
    }[kind], dtype)


KINDS = ["ordinary", "close", "far apart", "beyond exp", "below exp", "near the largest",
         "subnormal", "weights that underflow", "equal", "one"]


def spread(row):
    return max(abs(x - max(row)) for x in row)


def bound(dtype, size, value):
    """``4 * eps * size``; for float16 that of float32, in which it is computed, rounded once."""
    if dtype == np.float16:
        return 4 * epsilon(np.float32) * size + epsilon(dtype) / 2 * abs(value)
    return 4 * epsilon(dtype) * size


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_right_within_the_documented_bound(rng, dtype, kind):
    x = rows_of(kind, dtype, rng)
    row = list(exact(x))
    with np.errstate(all="raise"):
        got = softmax(x)
    assert got.dtype == dtype
    wanted = softmax_exact(row)
    size = 1 + spread(row)
    assert_within(got, wanted, [bound(dtype, size * w, w) + smallest(dtype) for w in wanted])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "near the largest"])
def test_logarithms_are_right_within_rounding(rng, dtype, kind):
    x = rows_of(kind, dtype, rng)
    row = list(exact(x))
    with np.errstate(all="raise"):
        logs, total = log_softmax(x), log_sum_exp(x)
    assert logs.dtype == total.dtype == dtype
    wanted = log_sum_exp_exact(row)
    size = 1 + mp.log(len(row))
    assert_within(logs, [a - wanted for a in row],
                  [bound(dtype, size + abs(a - max(row)), a - wanted) for a in row])
    assert_within(total, wanted, bound(dtype, size + abs(wanted), wanted))


@pytest.mark.parametrize("dtype", FLOATS)
def test_logarithms_near_the_largest_number(dtype):
    largest = np.finfo(dtype).max
    x = np.array([largest, largest, 0, -largest], dtype)
    with np.errstate(all="raise"):
        assert log_sum_exp(x) == largest
        got = log_softmax(x)
    np.testing.assert_allclose(got[:2], -np.log(dtype(2)), rtol=4 * np.finfo(dtype).eps)
    assert got[2] == -largest
    assert got[3] == -np.inf  # the exact −2 · largest is beyond the type


@pytest.mark.parametrize("dtype", FLOATS[1:])
def test_long_rows(rng, dtype):
    values = rng.normal(size=499)
    x = rng.choice(values, size=100_003).astype(dtype)
    distinct, places, counts = np.unique(x, return_inverse=True, return_counts=True)
    terms = [mp.exp(a) for a in exact(distinct)]
    total = mp.fsum(int(count) * term for count, term in zip(counts, terms, strict=True))
    relative = 4 * epsilon(dtype) * (1 + exact_number(np.ptp(distinct)))
    got, first = softmax(x), np.unique(places, return_index=True)[1]
    assert (got == got[first][places]).all()
    assert_within(got[first], [term / total for term in terms],
                  [relative * term / total for term in terms])
    assert_within(log_sum_exp(x), mp.log(total), 4 * epsilon(dtype) * mp.log(total))


@pytest.mark.parametrize("dtype", FLOATS[1:])
@pytest.mark.parametrize("n", [79, 95, 110, 127, 4001])
def test_rounding_that_always_goes_one_way(dtype, n):
    """Equal terms round alike in every addition: the worst that a sum can meet."""
    found = [0.02000717181219445, 0.12440555, 0.0028377, 0.06903485]  # by a search
    steps = -np.append(np.linspace(0.001, 0.8, 101), found).astype(dtype)
    x = np.zeros((105, n), dtype)
    x[:, 1:] = steps[:, None]
    terms = [mp.exp(a) for a in exact(steps)]
    wanted = [[1 / (1 + (n - 1) * term), term / (1 + (n - 1) * term)] for term in terms]
    allowed = [[4 * epsilon(dtype) * (1 - a) * w for w in row]
               for a, row in zip(exact(steps), wanted, strict=True)]
    assert_within(softmax(x)[:, :2], wanted, allowed)


@pytest.mark.parametrize("dtype", FLOATS[1:])
def test_sums_along_another_axis_are_as_accurate(dtype):
    x = np.zeros((100_003, 3), dtype)
    x[1:] = [-0.1, -0.3, -7]
    along_first, along_last = softmax(x, axis=0), softmax(x.T.copy()).T
    np.testing.assert_array_equal(along_first, along_last)
    wanted = [1 / (1 + 100_002 * mp.exp(a)) for a in exact(x[1])]
    assert_within(along_first[0], wanted, [4 * epsilon(dtype) * 8 * w for w in wanted])


@pytest.mark.parametrize("axis", [-3, -2, -1, 0, 1, 2, np.int64(1)])
def test_each_axis(rng, axis):
    x = rng.normal(size=(3, 5, 7))
    got, logs, sums = softmax(x, axis), log_softmax(x, axis), log_sum_exp(x, axis=axis)
    assert sums.shape == tuple(np.delete([3, 5, 7], axis))
    rows = zip(*(np.moveaxis(a, axis, -1).reshape(-1, x.shape[axis]) for a in (x, got, logs)),
               sums.ravel(), strict=True)
    for row, weights, logarithms, total in rows:
        wanted = [float(w) for w in softmax_exact(exact(row))]
        np.testing.assert_allclose(weights, wanted, rtol=1e-14)
        np.testing.assert_allclose(logarithms, np.log(wanted), rtol=1e-13)
        np.testing.assert_allclose(total, float(log_sum_exp_exact(exact(row))), rtol=1e-14)


def test_rows_far_apart_are_worked_out_each_for_itself():
    x = np.array([[0.0, 1.0], [1000.0, 1001.0], [-1e300, -1e300]])
    wanted = [1 / (1 + np.e), np.e / (1 + np.e)]
    np.testing.assert_allclose(softmax(x), [wanted, wanted, [0.5, 0.5]], rtol=1e-15)
    np.testing.assert_allclose(log_softmax(x)[:2], np.log([wanted, wanted]), rtol=1e-15)
    np.testing.assert_allclose(log_sum_exp(x)[:2], np.log(1 + np.e) + np.array([0, 1000]))


SPECIAL = [  # scores, weights, log of the sum
    ([1, 1, np.inf], [0, 0, 1], np.inf),
    ([np.inf, -np.inf, np.inf, 3], [0.5, 0, 0.5, 0], np.inf),
    ([-np.inf, 2, 2], [0, 0.5, 0.5], 2 + np.log(np.longdouble(2))),
    ([-np.inf, -np.inf], [0, 0], -np.inf),
    ([1, np.nan], [np.nan, np.nan], np.nan),
    ([np.inf, np.nan], [np.nan, np.nan], np.nan),
    ([-np.inf, np.nan], [np.nan, np.nan], np.nan),
    ([], [], -np.inf),
]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("x, weights, total", SPECIAL)
def test_infinities_nan_and_nothing(dtype, x, weights, total):
    x, plain = np.array(x, dtype), np.arange(len(x), dtype=dtype)
    rtol = 2 * np.finfo(dtype).eps
    with np.errstate(all="raise"):
        got, logs, sums = softmax([x, plain]), log_softmax([x, plain]), log_sum_exp([x, plain])
    with np.errstate(divide="ignore"):
        wanted = np.log(np.array(weights, dtype))
    np.testing.assert_allclose(got[0], weights, rtol=rtol)
    np.testing.assert_allclose(logs[0], wanted, rtol=rtol)
    np.testing.assert_allclose(sums[0], total, rtol=rtol)
    np.testing.assert_array_equal(got[1], softmax(plain))  # the other row is its own
    np.testing.assert_array_equal(logs[1], log_softmax(plain))
    assert sums[1] == log_sum_exp(plain)


@pytest.mark.parametrize("shape, axis, result", [
    ((3, 0), -1, (3,)), ((0, 3), -1, (0,)), ((0, 3), 0, (3,)), ((2, 0, 5), 1, (2, 5)),
    ((1,), 0, ()),
])
def test_empty_axes(shape, axis, result):
    x = np.ones(shape)
    assert softmax(x, axis).shape == log_softmax(x, axis).shape == shape
    total = log_sum_exp(x, axis)
    assert isinstance(total, np.ndarray) and total.shape == result
    assert (total == (-np.inf if 0 in shape else 1)).all()


@pytest.mark.parametrize("garbage", [np.nan, np.inf, -np.inf, 1e308, 7.0])
def test_masked_scores_have_no_influence(rng, garbage):
    x = rng.normal(size=(3, 5))
    mask = np.array([[1, 1, 0, 1, 0], [0, 0, 0, 0, 0], [1, 0, 0, 0, 0]], bool)
    other = np.where(mask, x, garbage)
    for function in (softmax, log_softmax, log_sum_exp):
        with np.errstate(all="raise"):
            np.testing.assert_array_equal(function(other, mask=mask), function(x, mask=mask))
    kept = x[0, [0, 1, 3]]
    np.testing.assert_allclose(softmax(x, mask=mask)[0, [0, 1, 3]], softmax(kept), rtol=1e-15)
    np.testing.assert_allclose(log_sum_exp(x, mask=mask)[0], log_sum_exp(kept), rtol=1e-15)
    assert softmax(x, mask=mask)[1:].tolist() == [[0] * 5, [1, 0, 0, 0, 0]]
    assert np.isneginf(log_softmax(x, mask=mask)[~mask]).all()
    assert log_sum_exp(x, mask=mask)[1] == -np.inf


@pytest.mark.parametrize("mask_shape, x_shape, axis", [
    ((5,), (3, 5), -1), ((3, 1), (3, 5), -1), ((2, 3, 5), (5,), -1), ((2, 1, 1), (3, 5), 0),
    ((7, 3, 1), (3, 5), 1), ((), (3, 5), 0), ((1, 5), (3, 1, 5), 0), ((2, 3, 5), (3, 5), 0),
])
def test_masks_broadcast_either_way(rng, mask_shape, x_shape, axis):
    x, mask = rng.normal(size=x_shape), np.asarray(rng.random(mask_shape) < 0.6)
    full_x, full_mask = np.broadcast_arrays(x, mask)
    got = softmax(x, axis, mask=mask)
    axis -= len(x_shape) if axis >= 0 else 0  # the axis is one of x, whatever the mask adds
    np.testing.assert_array_equal(got, softmax(x, axis, mask=mask))
    assert got.shape == full_x.shape
    rows = (np.moveaxis(a, axis, -1).reshape(-1, full_x.shape[axis])
            for a in (full_x, full_mask, got))
    for row, allowed, weights in zip(*rows, strict=True):
        wanted = [float(w) for w in softmax_exact(exact(row), list(allowed))]
        np.testing.assert_allclose(weights, wanted, rtol=1e-14)


def test_masks_may_be_lists_and_single_values():
    assert softmax([1.0, 1.0, 5.0], mask=[True, True, False]).tolist() == [0.5, 0.5, 0]
    assert softmax([1.0, 1.0], mask=True).tolist() == [0.5, 0.5]
    assert softmax([1.0, 1.0], mask=np.False_).tolist() == [0, 0]


def test_log_softmax_is_right_where_the_softmax_underflows():
    assert softmax([0.0, -1000.0]).tolist() == [1, 0]
    assert log_softmax([0.0, -1000.0]).tolist() == [0, -1000]


def test_integers_do_not_wrap_around():
    x = np.array([2**63 - 1, -2**63, 2**63 - 1])
    assert softmax(x).tolist() == [0.5, 0, 0.5]
    assert softmax(np.array([0, 255], np.uint8)).tolist() == [float(np.exp(-255.0)), 1]
    assert log_sum_exp(np.array([2**64 - 1], np.uint64)) == 2.0**64
