"""Masks: every small one equals its definition, worked out position by position."""

import numpy as np
import pytest

from attention_book import causal_mask, padding_mask, sliding_window_mask
from references import causal_mask_loops

SIZES = range(8)


@pytest.mark.parametrize("n_query", SIZES)
@pytest.mark.parametrize("n_key", SIZES)
def test_causal_masks(n_query, n_key):
    got = causal_mask(n_query, n_key)
    assert got.dtype == bool
    np.testing.assert_array_equal(got, causal_mask_loops(n_query, n_key), strict=True)


@pytest.mark.parametrize("n_query", SIZES)
@pytest.mark.parametrize("n_key", SIZES)
def test_sliding_windows(n_query, n_key):
    for window in range(1, 10):
        got = sliding_window_mask(n_query, n_key, window=window)
        wanted = causal_mask_loops(n_query, n_key, window)
        np.testing.assert_array_equal(got, wanted, strict=True)


@pytest.mark.parametrize("n", SIZES)
def test_without_n_key_the_mask_is_square(n):
    np.testing.assert_array_equal(causal_mask(n), causal_mask_loops(n, n), strict=True)
    np.testing.assert_array_equal(sliding_window_mask(n, window=2), causal_mask_loops(n, n, 2),
                                  strict=True)


def test_by_hand():
    assert causal_mask(3).astype(int).tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert causal_mask(2, 5).astype(int).tolist() == [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]
    assert causal_mask(3, 2).astype(int).tolist() == [[0, 0], [1, 0], [1, 1]]
    assert sliding_window_mask(2, 5, window=3).astype(int).tolist() == [
        [0, 1, 1, 1, 0], [0, 0, 1, 1, 1]]


@pytest.mark.parametrize("window", [5, 6, 2**31, 2**63 - 1, 2**63, 2**70, np.uint64(2**64 - 1)])
def test_a_window_wider_than_the_keys_is_the_causal_mask(window):
    for n_query in (2, 5, 8):
        np.testing.assert_array_equal(sliding_window_mask(n_query, 5, window=window),
                                      causal_mask(n_query, 5), strict=True)


@pytest.mark.parametrize("count", [np.int8(3), np.uint64(3), np.array(3)])
def test_counts_may_be_any_whole_number(count):
    np.testing.assert_array_equal(causal_mask(count, count), causal_mask(3))
    np.testing.assert_array_equal(sliding_window_mask(count, window=count), causal_mask(3))
    assert padding_mask(count, count).tolist() == [[True, True, True]]


@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3), (2, 1, 5), (0,), (2, 0)])
@pytest.mark.parametrize("n_key", [0, 1, 7])
@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.int8])
def test_padding_has_a_row_for_each_length(rng, shape, n_key, dtype):
    lengths = np.asarray(rng.integers(0, n_key + 1, size=shape)).astype(dtype)
    got = padding_mask(lengths, n_key)
    assert got.dtype == bool and got.shape == (*shape, 1, n_key)
    for index in np.ndindex(shape):
        assert got[index].tolist() == [[j < lengths[index] for j in range(n_key)]]


def test_padding_takes_lists_and_single_numbers():
    assert padding_mask([1, 3], 3).astype(int).tolist() == [[[1, 0, 0]], [[1, 1, 1]]]
    assert padding_mask(2, 3).astype(int).tolist() == [[1, 1, 0]]
    assert padding_mask([], 3).shape == (0, 1, 3)
    assert padding_mask(np.array([100], np.int8), 300).sum() == 100


def test_masks_combine_with_and(rng):
    lengths = np.array([0, 2, 5, 7])
    both = causal_mask(3, 7) & padding_mask(lengths, 7)
    assert both.shape == (4, 3, 7)
    for sample, i, j in np.ndindex(4, 3, 7):
        assert both[sample, i, j] == (j <= i + 4 and j < lengths[sample])
