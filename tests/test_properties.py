"""What holds for every input: hypothesis looks for one that breaks it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attention_book import (
    attention,
    causal_attention,
    causal_mask,
    log_softmax,
    log_sum_exp,
    padding_mask,
    scores,
    sliding_window_mask,
    softmax,
)

DTYPES = st.sampled_from([np.float32, np.float64])
COUNTS = st.integers(1, 6)


def numbers(dtype, size):
    width = np.finfo(dtype).bits
    bound = float(dtype(size))
    return st.floats(-bound, bound, width=width, allow_subnormal=False)


@st.composite
def arrays(draw, shape, size=8.0, dtype=None):
    dtype = dtype or draw(DTYPES)
    return draw(hnp.arrays(dtype, shape, elements=numbers(dtype, size)))


@st.composite
def heads(draw, size=4.0, n_query=None, leading=()):
    """Queries, keys and values of one type, and a mask, of any small sizes."""
    dtype = draw(DTYPES)
    n_key, d_head, d_value = draw(COUNTS), draw(COUNTS), draw(COUNTS)
    n_query = n_query or draw(COUNTS)
    q, k, v = (draw(arrays((*leading, *shape), size, dtype))
               for shape in ((n_query, d_head), (n_key, d_head), (n_key, d_value)))
    mask = draw(hnp.arrays(bool, (*leading, n_query, n_key)))
    return q, k, v, mask


def assert_close(got, wanted, roundings=64, size=1.0):
    """Within some roundings of numbers of the given size."""
    atol = roundings * np.finfo(got.dtype).eps * size
    np.testing.assert_allclose(got, wanted, rtol=0, atol=atol)


ROWS = hnp.array_shapes(min_dims=1, max_dims=3, max_side=6).flatmap(
    lambda shape: st.tuples(arrays(shape, 1e4), hnp.arrays(bool, shape),
                            st.integers(0, len(shape) - 1)))


@given(ROWS)
def test_weights_sum_to_one_or_are_zeros(row):
    x, mask, axis = row
    weights = softmax(x, axis, mask=mask)
    assert (weights >= 0).all() and (weights <= 1).all()
    assert not weights[~mask].any()
    assert_close(weights.sum(axis), mask.any(axis).astype(x.dtype))


@given(ROWS)
def test_the_order_of_the_scores_is_the_order_of_the_weights(row):
    x, _, axis = row
    x, weights = np.moveaxis(x, axis, -1), np.moveaxis(softmax(x, axis), axis, -1)
    order = x.argsort(-1)
    rises = np.diff(np.take_along_axis(weights, order, -1))
    assert (rises >= -4 * np.finfo(x.dtype).eps).all()


@given(ROWS, st.integers(-1000, 1000))
def test_a_shift_changes_the_logarithm_of_the_sum_alone(row, shift):
    x, mask, axis = row
    x = np.round(x)  # whole numbers: the shift itself is exact
    np.testing.assert_array_equal(softmax(x + shift, axis, mask=mask), softmax(x, axis, mask=mask))
    np.testing.assert_array_equal(log_softmax(x + shift, axis, mask=mask),
                                  log_softmax(x, axis, mask=mask))
    sums = log_sum_exp(x, axis, mask=mask)
    some = mask.any(axis)
    assert_close(log_sum_exp(x + shift, axis, mask=mask)[some] - sums[some],
                 np.full(some.sum(), shift), roundings=4, size=2e4)


@given(ROWS)
def test_the_logarithms_agree(row):
    x, mask, axis = row
    logs, weights = log_softmax(x, axis, mask=mask), softmax(x, axis, mask=mask)
    assert_close(np.exp(logs), weights)
    assert (logs <= 0).all()
    total = np.expand_dims(log_sum_exp(x, axis, mask=mask), axis)
    shown = mask & np.isfinite(total)
    assert_close((x - total)[shown], logs[shown], size=1e4)


@given(st.data(), COUNTS, COUNTS)
def test_weights_do_not_depend_on_where_the_keys_are(data, n, m):
    x = data.draw(arrays((m, n)))
    order = data.draw(st.permutations(range(n)))
    assert_close(softmax(x[:, order]), softmax(x)[:, order])


@given(heads())
def test_scores_are_linear_in_their_scale_and_swap_with_their_arguments(head):
    q, k, *_ = head
    assert_close(scores(q, k, scale=3.0), 3 * scores(q, k, scale=1.0), size=300)
    assert_close(scores(q, k), scores(k, q).T, size=100)
    assert_close(scores(2 * q, k), 2 * scores(q, k), size=200)


@given(heads())
def test_a_mixture_lies_between_the_values_that_may_be_attended_to(head):
    q, k, v, mask = head
    got = attention(q, k, v, mask=mask)
    seen = np.where(mask[..., None], v, np.nan)  # (n_query, n_key, d_value)
    some = mask.any(-1)
    low, high = np.nanmin(seen[some], axis=1), np.nanmax(seen[some], axis=1)
    slack = 16 * np.finfo(v.dtype).eps * abs(v).max()
    assert (got[some] >= low - slack).all() and (got[some] <= high + slack).all()
    assert not got[~some].any()


@given(heads(), st.floats(-4, 4, width=16), st.floats(-4, 4, width=16))
def test_attention_is_linear_in_the_values(head, a, b):
    q, k, v, mask = head
    other = v[::-1, ::-1]
    got = attention(q, k, v.dtype.type(a) * v + v.dtype.type(b) * other, mask=mask)
    wanted = (v.dtype.type(a) * attention(q, k, v, mask=mask)
              + v.dtype.type(b) * attention(q, k, other, mask=mask))
    assert_close(got, wanted, size=128)


@given(heads(), st.data())
def test_without_a_mask_keys_and_queries_may_come_in_any_order(head, data):
    q, k, v, _ = head
    keys = data.draw(st.permutations(range(len(k))))
    queries = data.draw(st.permutations(range(len(q))))
    assert_close(attention(q[queries], k[keys], v[keys]), attention(q, k, v)[queries], size=16)


@given(heads(), st.integers(-4, 4))
def test_adding_to_every_key_what_no_query_tells_apart_changes_nothing(head, shift):
    q, k, v, mask = head
    wanted = attention(q, k, v, mask=mask)
    assert_close(attention(q, k + k.dtype.type(shift), v, mask=mask), wanted, size=100)


@given(heads(), st.data())
def test_what_is_masked_changes_nothing(head, data):
    q, k, v, mask = head
    key = data.draw(st.integers(0, len(k) - 1))
    garbage = data.draw(st.sampled_from([np.nan, np.inf, -np.inf, 3e38, 0]))
    mask[:, key] = False
    wanted = attention(q, k, v, mask=mask)
    k[key], v[key] = garbage, garbage
    np.testing.assert_array_equal(attention(q, k, v, mask=mask), wanted)


@given(st.data(), DTYPES, COUNTS, COUNTS, COUNTS)
def test_the_future_changes_nothing(data, dtype, n, d_head, d_value):
    d_model = 3
    x, wq, wk, wv = (data.draw(arrays(shape, 2.0, dtype)) for shape in (
        (n, d_model), (d_model, d_head), (d_model, d_head), (d_model, d_value)))
    position = data.draw(st.integers(0, n - 1))
    other = x.copy()
    other[position:] = data.draw(st.sampled_from([np.nan, np.inf, 1e30, -5]))
    got, wanted = causal_attention(other, wq, wk, wv), causal_attention(x, wq, wk, wv)
    np.testing.assert_array_equal(got[:position], wanted[:position])


@given(st.data(), COUNTS)
def test_each_causal_row_equals_attention_over_its_prefix(data, n):
    q, k, v, _ = data.draw(heads(n_query=n).filter(lambda head: len(head[1]) >= n))
    past = len(k) - n
    got = attention(q, k, v, mask=causal_mask(n, len(k)))
    for i in range(n):
        upto = past + i + 1
        assert_close(got[i:i + 1], attention(q[i:i + 1], k[:upto], v[:upto]), size=16)


@given(st.data(), st.integers(1, 6), st.integers(1, 6))
def test_rectangular_causal_attention_is_the_last_rows_of_the_square(data, n, n_query):
    n_query = min(n, n_query)
    q, k, v = (data.draw(arrays((n, 3), 4.0, np.float64)) for _ in range(3))
    whole = attention(q, k, v, mask=causal_mask(n))
    last = attention(q[-n_query:], k, v, mask=causal_mask(n_query, n))
    assert_close(last, whole[-n_query:], size=16)


@given(st.data(), st.integers(1, 6), st.integers(1, 7))
def test_a_window_equals_attention_over_the_keys_in_it(data, n, window):
    q, k, v = (data.draw(arrays((n, 3), 4.0, np.float64)) for _ in range(3))
    got = attention(q, k, v, mask=sliding_window_mask(n, window=window))
    for i in range(n):
        seen = slice(max(0, i - window + 1), i + 1)
        assert_close(got[i:i + 1], attention(q[i:i + 1], k[seen], v[seen]), size=16)


@given(heads(leading=(3,)), st.data())
def test_padding_equals_shorter_samples(head, data):
    q, k, v, _ = head
    n_key = k.shape[1]
    lengths = data.draw(st.lists(st.integers(0, n_key), min_size=3, max_size=3))
    got = attention(q, k, v, mask=padding_mask(lengths, n_key))
    for sample, length in enumerate(lengths):
        assert_close(got[sample], attention(q[sample], k[sample, :length], v[sample, :length]),
                     size=16)


@given(heads(leading=(2, 3)))
def test_a_batch_equals_its_samples_one_by_one(head):
    q, k, v, mask = head
    got, weights = attention(q, k, v, mask=mask, return_weights=True)
    for index in np.ndindex(2, 3):
        one, row = attention(q[index], k[index], v[index], mask=mask[index], return_weights=True)
        assert_close(got[index], one, size=16)
        assert_close(weights[index], row)
        head = causal_attention(q / 8, *[k[0, 0].T / 4] * 3)[index]
        assert_close(head, causal_attention(q[index] / 8, *[k[0, 0].T / 4] * 3), size=16)
