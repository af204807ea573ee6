"""Rotary positions: turned rightly, by complex numbers; what scores keep and what they forget."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_book.dot_products import scores
from attention_book.positions import rotary
from references import FLOATS, exact_number, mp, rotary_complex


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("leading", [(), (3,), (2, 3)])
@pytest.mark.parametrize("base, past", [(10000.0, 0), (100000, 7), (2.5, 8191)])
def test_equals_complex_numbers(rng, dtype, leading, base, past):
    x = rng.normal(size=(*leading, 5, 14)).astype(dtype)
    with np.errstate(all="raise"):
        got = rotary(x, np.arange(past, past + 5), base)
    assert got.dtype == dtype and got.shape == x.shape
    eps = max(np.finfo(dtype).eps, np.finfo(np.float64).eps * (1 + past))
    np.testing.assert_allclose(got, rotary_complex(x, np.arange(past, past + 5), base),
                               atol=float(8 * eps), rtol=0)


def test_the_default_base_is_10000():
    quarter = np.array([[0, 0, 1.0, 0]])  # the second of two pairs: 1 / sqrt(base) a position
    np.testing.assert_allclose(rotary(quarter, [50 * math.pi]), [[0, 0, 0, 1]], atol=1e-14)


def test_pairs_are_neighbours_and_turn_against_the_clock():
    x = np.array([[1.0, 0, 0, 0, 0, 0]])
    np.testing.assert_allclose(rotary(x, [math.pi / 2]), [[0, 1, 0, 0, 0, 0]], atol=1e-15)
    x = np.array([[0, 1.0, 0, 0, 0, 0]])
    np.testing.assert_allclose(rotary(x, [math.pi / 2]), [[-1, 0, 0, 0, 0, 0]], atol=1e-15)


def test_each_pair_is_slower_than_the_one_before(rng):
    turned = rotary(np.tile([1.0, 0], (1, 5)), [1], base=32.0)
    angles = np.arctan2(turned[0, 1::2], turned[0, 0::2])
    np.testing.assert_allclose(angles, [1, 1 / 2, 1 / 4, 1 / 8, 1 / 16], rtol=1e-14)


def test_position_0_changes_nothing(rng):
    x = rng.normal(size=(3, 5, 14))
    np.testing.assert_array_equal(rotary(x, np.zeros(5)), x)


ROWS = st.integers(0, 2**32 - 1).map(
    lambda seed: np.random.default_rng(seed).normal(size=(2, 1, 6)))
PLACES = st.integers(-5000, 5000)


@given(ROWS, PLACES, PLACES, PLACES)
def test_scores_depend_on_the_distance_alone(rows, t, u, shift):
    q, k = rows
    here = scores(rotary(q, [t]), rotary(k, [u]))
    np.testing.assert_allclose(scores(rotary(q, [t + shift]), rotary(k, [u + shift])), here,
                               rtol=0, atol=1e-10)
    np.testing.assert_allclose(scores(rotary(q, [t - u]), k), here, rtol=0, atol=1e-10)


@given(ROWS, PLACES, PLACES)
def test_turns_add_up_and_keep_the_length(rows, t, u):
    x = rows[0]
    turned = rotary(x, [t])
    np.testing.assert_allclose(np.linalg.norm(turned, axis=-1), np.linalg.norm(x, axis=-1))
    np.testing.assert_allclose(rotary(turned, [u]), rotary(x, [t + u]), rtol=0, atol=1e-10)
    np.testing.assert_allclose(rotary(turned, [-t]), x, rtol=0, atol=1e-10)


def test_scores_do_differ_with_the_distance(rng):
    q, k = rng.normal(size=(2, 1, 6))
    assert abs(scores(rotary(q, [9]), rotary(k, [5])) - scores(q, k)).max() > 0.1


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_far_positions_lose_no_digits_in_a_narrow_type(dtype):
    # an angle of 1e6 in float32 would be wrong by 0.03, and in float16 infinite
    angle = exact_number(1_000_003)
    got = rotary(np.array([[1, 0]], dtype), [1_000_003])
    wanted = [[float(mp.cos(angle)), float(mp.sin(angle))]]
    np.testing.assert_allclose(got, wanted, rtol=float(np.finfo(dtype).eps))


def test_the_offset_of_a_cache(rng):
    # moeut#6: a token after 7 others has position 7
    x = rng.normal(size=(3, 9, 4))
    whole = rotary(x, np.arange(9))
    np.testing.assert_allclose(rotary(x[:, 7:], np.arange(7, 9)), whole[:, 7:], rtol=1e-14)
    assert abs(rotary(x[:, 7:], np.arange(2)) - whole[:, 7:]).max() > 0.1


def test_positions_of_each_sample(rng):
    x = rng.normal(size=(2, 3, 5, 4))
    positions = np.array([np.arange(5), [0, 0, 0, 1, 2]])
    got = rotary(x, positions[:, None])
    for sample in range(2):
        np.testing.assert_allclose(got[sample], rotary_complex(x[sample], positions[sample]),
                                   atol=1e-14)


@pytest.mark.parametrize("shape", [(0, 4), (5, 0), (0, 5, 4), (2, 0, 3, 0)])
def test_empty_axes(shape):
    with np.errstate(all="raise"):
        assert rotary(np.ones(shape), np.arange(shape[-2])).shape == shape


def test_large_numbers_that_stay_in_the_type():
    large = np.finfo(np.float32).max
    with np.errstate(all="raise"):
        got = rotary(np.array([[large, 0], [large / 2, large / 2]], np.float32), [3, 5])
    assert np.isfinite(got).all()
    np.testing.assert_allclose(got[0], [large * math.cos(3), large * math.sin(3)], rtol=1e-6)


def test_a_row_that_is_not_finite_spoils_no_other():
    x = np.ones((3, 4))
    x[1, 0] = np.nan
    x[2, 3] = np.inf
    got = rotary(x, [1, 2, 3])
    assert np.isfinite(got[0]).all() and np.isnan(got[1, :2]).all()
    assert np.isfinite(got[1:, :2][1]).all() and not np.isfinite(got[2, 2:]).any()


X = np.ones((2, 3, 5, 4))
CASES = [
    ((None, range(5)), TypeError, "x", "None", "(..., n, d_head)"),
    ((X[0, 0, 0], [0]), ValueError, "x", "(4,)", "(..., n, d_head)"),
    ((X[..., :3], range(5)), ValueError, "x", "length 3", "an even d_head"),
    ((X + 1j, range(5)), TypeError, "x", "complex", "real"),
    ((X, None), TypeError, "positions", "None", "(n,)"),
    ((X, 3), ValueError, "positions", "shape ()", "(n,)"),
    ((X, range(4)), ValueError, "positions", "n = 4", "n = 5, as in x"),
    ((X, [0, 1, 2, 3, math.nan]), ValueError, "positions", "NaN", "finite"),
    ((X, [True] * 5), TypeError, "positions", "bool", "numbers"),
    ((X, np.zeros((2, 5))), ValueError, "positions", "(2, 5)", "(2, 3, 5)"),
    ((X, np.zeros((7, 1, 1, 5))), ValueError, "positions", "(7, 1, 1, 5)", "(2, 3, 5)"),
    ((X, range(5), 0), ValueError, "base", "0", "above 0"),
    ((X, range(5), math.inf), ValueError, "base", "inf", "finite"),
    ((X, range(5), 10**400), ValueError, "base", "beyond every float", "finite"),
    ((X, range(5), "10000"), TypeError, "base", "str", "one real number"),
    ((X, range(5), True), TypeError, "base", "True", "one real number"),
]


@pytest.mark.parametrize("arguments, error, name, got, wanted", CASES)
def test_bad_input_is_refused_in_words(arguments, error, name, got, wanted):
    with pytest.raises((TypeError, ValueError)) as caught:
        rotary(*arguments)
    assert caught.type is error
    argument, _, rest = str(caught.value).partition(": got ")
    came, _, asked = rest.partition("; wanted ")
    assert argument == name and got in came and wanted in asked, caught.value
