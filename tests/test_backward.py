"""Backward passes: each against finite differences in float64, and in every floating type."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_book.backward import (
    attention_backward,
    feed_forward_backward,
    linear_backward,
    rms_norm_backward,
    softmax_backward,
)
from attention_book.block_parts import rms_norm
from attention_book.losses import next_token_loss, next_token_loss_backward
from attention_book.masks import causal_mask
from references import (
    FLOATS,
    assert_within,
    attention_loops,
    epsilon,
    exact,
    exact_number,
    feed_forward_loop,
    log_sum_exp_exact,
    mp,
    rms_norm_loop,
    softmax_loop,
)

STEP = 1e-5


def slopes(function, arrays, grad):
    """How ``sum(grad * function(*arrays))`` changes with each number of each array."""
    found = []
    for number, array in enumerate(arrays):
        slope = np.zeros(array.shape)
        for index in np.ndindex(array.shape):
            ends = []
            for sign in (1, -1):
                moved = [np.array(a, np.float64) for a in arrays]
                moved[number][index] += sign * STEP
                ends.append((grad * function(*moved)).sum())
            slope[index] = (ends[0] - ends[1]) / (2 * STEP)
        found.append(slope)
    return found


def assert_slopes(found, function, arrays, grad):
    """The gradients are what finite differences of an independent function give."""
    wanted = slopes(function, arrays, grad)
    assert len(found) == len(wanted)
    for got, slope in zip(found, wanted, strict=True):
        assert got.shape == slope.shape
        np.testing.assert_allclose(got, slope, rtol=1e-7, atol=1e-8)


def softmax_rows(x):
    return np.array([softmax_loop(row) for row in x.reshape(-1, x.shape[-1])]).reshape(x.shape)


@pytest.mark.parametrize("shape", [(5, 7), (2, 3, 5), (11,), (3, 1)])
def test_softmax_backward(rng, shape):
    x, grad = rng.normal(size=(2, *shape)) * 2
    assert_slopes([softmax_backward(softmax_rows(x), grad)], softmax_rows, [x], grad)


@given(st.integers(0, 2**32 - 1))
def test_a_shift_of_all_scores_or_of_the_gradient_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    p, grad = softmax_rows(rng.normal(size=(3, 7))), rng.normal(size=(3, 7))
    got = softmax_backward(p, grad)
    np.testing.assert_allclose(got.sum(axis=-1), 0, atol=1e-14)
    np.testing.assert_allclose(softmax_backward(p, grad + 1e3), got, atol=1e-11)


def test_nothing_flows_where_the_weights_are_certain():
    certain = np.array([[0.0, 1, 0], [0, 0, 0]])  # the second row has nothing to attend to
    assert not softmax_backward(certain, np.array([[3.0, -5, 7], [1, 2, 3]])).any()


HOLES = np.array([[True, False, True, True, False], [False] * 5, [True] * 5])
ATTENTION = {
    "plain": ((3, 7), (5, 7), (5, 2), {}),
    "scaled": ((3, 7), (5, 7), (5, 2), {"scale": 0.8}),
    "masked": ((3, 7), (5, 7), (5, 2), {"mask": HOLES}),
    "causal, the last queries": ((3, 7), (5, 7), (5, 2), {"mask": causal_mask(3, 5)}),
    "samples and heads": ((2, 3, 3, 2), (2, 3, 5, 2), (2, 3, 5, 7), {}),
    "shared keys": ((2, 3, 3, 2), (2, 1, 5, 2), (5, 7), {"mask": causal_mask(3, 5)}),
    "shared queries": ((3, 2), (2, 5, 2), (3, 1, 5, 1), {}),
    "a mask for each sample": ((3, 2), (5, 2), (5, 1), {"mask": np.stack([HOLES, ~HOLES])}),
    "one key": ((3, 2), (1, 2), (1, 5), {}),
    "no keys": ((3, 2), (0, 2), (0, 5), {}),
}


@pytest.mark.parametrize("name", ATTENTION)
def test_attention_backward(rng, name):
    *shapes, options = ATTENTION[name]
    arrays = [rng.normal(size=shape) for shape in shapes]
    function = partial(attention_loops, **options)
    grad = rng.normal(size=function(*arrays).shape)
    assert_slopes(attention_backward(*arrays, grad, **options), function, arrays, grad)


def test_nothing_flows_through_a_masked_position(rng):
    q, k, v = (rng.normal(size=(5, 3)) for _ in range(3))
    grad = np.zeros((5, 3))
    grad[2] = 1  # only position 2 counts
    dq, dk, dv = attention_backward(q, k, v, grad, mask=causal_mask(5))
    assert not dk[3:].any() and not dv[3:].any() and dk[:3].any() and dv[:3].all(axis=-1).all()
    assert not np.delete(dq, 2, axis=0).any() and dq[2].all()


@pytest.mark.parametrize("shape", [(5, 7), (2, 3, 5, 7), (0, 7)])
def test_linear_backward(rng, shape):
    x, w, grad = rng.normal(size=shape), rng.normal(size=(7, 3)), rng.normal(size=(*shape[:-1], 3))
    assert_slopes(linear_backward(x, w, grad), np.matmul, [x, w], grad)


@pytest.mark.parametrize("shape", [(5, 7), (2, 3, 5)])
@pytest.mark.parametrize("eps", [1e-5, 0.7])
def test_rms_norm_backward(rng, shape, eps):
    x, grad = rng.normal(size=(2, *shape))
    gain = rng.normal(size=shape[-1])

    def norm(x, gain):
        rows = x.reshape(-1, shape[-1])
        return np.asarray(rms_norm_loop(rows, gain, eps)).reshape(shape)

    assert_slopes(rms_norm_backward(x, gain, grad, eps), norm, [x, gain], grad)


def test_a_longer_row_changes_nothing(rng):
    x = rng.normal(size=(3, 5))
    dx, _ = rms_norm_backward(x, np.ones(5), rng.normal(size=(3, 5)), 1e-12)
    np.testing.assert_allclose((dx * x).sum(axis=-1), 0, atol=1e-9)


def norm_backward_exact(x, gain, grad, eps):
    """The gradients of a row, with 60 digits and any exponent."""
    x, gain, grad, d = exact(x), exact(gain), exact(grad), len(x)
    root = mp.sqrt(mp.fsum(number**2 for number in x) / d + mp.mpf(eps))
    normed, weighted = [number / root for number in x], [g * h for g, h in
                                                         zip(grad, gain, strict=True)]
    mean = mp.fsum(h * n for h, n in zip(weighted, normed, strict=True)) / d
    dx = [(h - n * mean) / root for h, n in zip(weighted, normed, strict=True)]
    return dx, [g * n for g, n in zip(grad, normed, strict=True)]


def sizes(dtype):
    """Numbers from one end of a type to the other."""
    least, most = np.finfo(dtype).tiny, np.finfo(dtype).max / 2
    middle = [size for size in (1e-160, 1e-25, 1e-19, 1e-3, 1, 3e19, 1e200)
              if exact_number(least) < exact_number(size) < exact_number(most)]
    return [least, *middle, most]


SIZES = [(dtype, size) for dtype in FLOATS for size in sizes(dtype)]


@pytest.mark.parametrize("dtype, size", SIZES)
@pytest.mark.parametrize("eps", [1e-5, 1e-50, 5e-324, 1e300])
def test_rms_norm_and_its_gradients_at_any_size(rng, dtype, size, eps):
    x, gain, grad = (rng.uniform(0.5, 1, 5).astype(dtype) for _ in range(3))
    x = np.array([1, -1, 1, -1, 1], dtype) * x * dtype(size)
    dx, dgain = norm_backward_exact(x, gain, grad, eps)
    forward = [n * h / g for n, h, g in zip(dgain, exact(gain), exact(grad), strict=True)]
    with np.errstate(all="raise"):
        found = rms_norm(x[None], gain, eps), *rms_norm_backward(x[None], gain, grad[None], eps)
    for got, wanted in zip(found, (forward, dx, dgain), strict=True):
        assert got.dtype == dtype
        largest, info = max(map(abs, wanted)), np.finfo(dtype)
        bound = 40 * epsilon(dtype) * largest + exact_number(info.tiny)
        if largest < exact_number(info.max):  # else it is infinite
            assert_within(got.ravel(), wanted, [bound] * 5)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("eps", [1e-5, 1e-50, 5e-324])
def test_a_row_of_zeros_stays_one(dtype, eps):
    zeros, ones = np.zeros((2, 3), dtype), np.ones(3, dtype)
    with np.errstate(all="raise"):
        assert not rms_norm(zeros, ones, eps).any()
        dx, dgain = rms_norm_backward(zeros, ones, zeros, eps)
    assert not dx.any() and not dgain.any()


def test_the_gradients_of_a_norm_at_sizes_whose_squares_overflow():
    for dtype, size in ((np.float64, 1e200), (np.float32, 1e19), (np.float32, 1e30)):
        x = np.array([[3, 4], [0.3, 0.4]], dtype) * np.array([[size], [1]], dtype)
        _, dgain = rms_norm_backward(x, np.ones(2), np.ones((2, 2)))
        np.testing.assert_allclose(dgain, [1.697, 2.263], atol=1e-3)


def test_feed_forward_backward(rng):
    x, w_gate, w_up = (rng.normal(size=shape) for shape in ((5, 3), (3, 7), (3, 7)))
    w_down, grad = rng.normal(size=(7, 2)), rng.normal(size=(5, 2))
    arrays = [x, w_gate, w_up, w_down]

    def network(*arrays):
        return np.asarray(feed_forward_loop(*arrays))

    assert_slopes(feed_forward_backward(*arrays, grad), network, arrays, grad)
    stacked = feed_forward_backward(np.stack([x, 2 * x]), *arrays[1:], np.stack([grad, -grad]))
    one = feed_forward_backward(*arrays, grad)
    two = feed_forward_backward(2 * x, *arrays[1:], -grad)
    np.testing.assert_allclose(stacked[0], [one[0], two[0]])
    for got, first, second in zip(stacked[1:], one[1:], two[1:], strict=True):
        np.testing.assert_allclose(got, first + second)


def test_the_gate_is_safe_from_overflow():
    one = np.ones((1, 1))
    for size in (1e4, -1e4):
        with np.errstate(all="raise"):
            found = feed_forward_backward(one * size, one, one, one, one)
        assert all(np.isfinite(d).all() for d in found)


def surprise(logits, tokens):
    """The mean of −log p of what comes next, exactly, one number at a time."""
    terms = []
    for rows, ids in zip(logits.reshape(-1, *logits.shape[-2:]),
                         np.reshape(tokens, (-1, np.shape(tokens)[-1])), strict=True):
        for row, token in zip(rows[:-1], ids[1:], strict=True):
            row = exact(row)
            terms.append(log_sum_exp_exact(row) - row[token])
    return float(sum(terms) / len(terms))


@pytest.mark.parametrize("shape", [(5,), (2, 3), (2, 2, 2)])
def test_next_token_loss(rng, shape):
    logits, tokens = rng.normal(size=(*shape, 7)) * 3, rng.integers(0, 7, shape)
    loss, dlogits = next_token_loss_backward(logits, tokens)
    assert isinstance(loss, float) and loss == next_token_loss(logits, tokens)
    assert abs(loss - surprise(logits, tokens)) < 1e-14

    def as_array(logits):
        return np.array(next_token_loss(logits, tokens))

    assert_slopes([dlogits], as_array, [logits], np.array(1.0))
    assert not dlogits[..., -1, :].any()


def test_the_loss_is_right_where_probabilities_underflow():
    logits = np.array([[0.0, -2000], [1000, 0]], np.float32)
    assert next_token_loss(logits, [0, 1]) == 2000
    loss, dlogits = next_token_loss_backward(logits, [0, 1])
    assert loss == 2000 and dlogits.tolist() == [[1, -1], [0, 0]]


@pytest.mark.parametrize("row, loss", [
    ([np.inf, np.inf], math.log(2)),  # as in a softmax: shared equally
    ([np.inf, 0], math.inf), ([0, np.inf], 0), ([-np.inf, 0], 0), ([0, -np.inf], math.inf),
    ([-np.inf, -np.inf], math.inf),  # nothing has any probability
    ([np.nan, 0], math.nan), ([np.nan, np.inf], math.nan),
])
def test_the_loss_of_infinite_logits_is_that_of_their_softmax(row, loss):
    logits = np.array([row, [np.nan, np.inf]])  # what the last row holds does not count
    with np.errstate(all="raise"):
        found = next_token_loss(logits, [0, 1]), next_token_loss_backward(logits, [0, 1])[0]
    np.testing.assert_allclose(found, loss, rtol=1e-15)


def drawn(rng, dtype):
    """Calls of every function with what fits, and the arrays for them."""
    x, gain, grad = (rng.normal(size=shape) for shape in ((5, 7), (7,), (5, 7)))
    w, wide, narrow = (rng.normal(size=shape) for shape in ((7, 3), (7, 2), (2, 7)))
    p = softmax_rows(x)
    calls = [(softmax_backward, p, grad), (attention_backward, x, x * 0.7, x + 1, grad),
             (linear_backward, x, w, grad[:, :3]), (rms_norm_backward, x, gain, grad),
             (feed_forward_backward, x, wide, wide * 2, narrow, grad)]
    return [(function, *(a.astype(dtype) for a in arrays)) for function, *arrays in calls]


def listed(found):
    return [found] if isinstance(found, np.ndarray) else list(found)


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_floating_type_is_kept_and_so_are_the_arguments(rng, dtype):
    for function, *arrays in drawn(rng, dtype):
        copies = [np.array(array, order="F") for array in arrays]
        for array in arrays:
            array.flags.writeable = False
        with np.errstate(all="raise"):
            found = listed(function(*arrays))
        again = listed(function(*(copy.astype(np.float64) for copy in copies)))
        tolerance = 100 * float(max(np.finfo(dtype).eps, np.finfo(np.float64).eps))
        for got, wanted in zip(found, again, strict=True):
            assert got.dtype == dtype and got.dtype.isnative
            np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)
        for array, copy in zip(arrays, copies, strict=True):
            np.testing.assert_array_equal(array, copy)


def test_lists_and_whole_numbers_will_do():
    assert softmax_backward([1, 0], [3, 4]).tolist() == [0, 0]
    dx, dw = linear_backward([[1, 2]], [[3], [4]], [[1]])
    assert dx.dtype == np.float64 and dx.tolist() == [[3, 4]] and dw.tolist() == [[1], [2]]


X, W, P = np.ones((5, 7)), np.ones((7, 3)), np.full((5, 7), 1 / 7)
LOGITS = np.ones((5, 7))
BROKEN = np.where(np.eye(5, 7) == 1, np.nan, 1)

# The call; the error; the argument, what came, what was wanted, and a word of the cause.
CASES = [
    (partial(softmax_backward, P, X.T), ValueError, "grad", "(7, 5)", "(5, 7)", "belongs"),
    (partial(softmax_backward, P, None), TypeError, "grad", "None", "(..., n)", "forget"),
    (partial(softmax_backward, BROKEN, X), ValueError, "p", "NaN", "finite", ""),
    (partial(softmax_backward, P, X * np.inf), ValueError, "grad", "infinity", "finite", ""),
    (partial(softmax_backward, 1.0, 1.0), ValueError, "p", "()", "1 axis", ""),
    (partial(attention_backward, X, X, X, X[:3]), ValueError, "grad", "(3, 7)", "(5, 7)", ""),
    (partial(attention_backward, X, X, X[:3], X), ValueError, "v", "n_key = 3", "n_key = 5", ""),
    (partial(attention_backward, X, X, BROKEN, X), ValueError, "v", "NaN", "finite", ""),
    (partial(attention_backward, X, X, X, X, mask=X), TypeError, "mask", "float64", "booleans", ""),
    (partial(attention_backward, X, X, X, X, scale="1"), TypeError, "scale", "str", "number", ""),
    (partial(linear_backward, X, W.T, X), ValueError, "w", "d_model = 3", "d_model = 7", "trans"),
    (partial(linear_backward, X, W, X), ValueError, "grad", "(5, 7)", "(5, 3)", "belongs"),
    (partial(linear_backward, X, W[None], X), ValueError, "w", "(1, 7, 3)", "(d_model, d_out)", ""),
    (partial(linear_backward, "x", W, X), TypeError, "x", "text", "(..., n, d_model)", ""),
    (partial(rms_norm_backward, X, X[0, :3], X), ValueError, "gain", "(3,)", "(7,)", ""),
    (partial(rms_norm_backward, X, X[0], X[0]), ValueError, "grad", "(7,)", "at least 2", ""),
    (partial(rms_norm_backward, X, X[0], X, 0), ValueError, "eps", "0", "above 0", ""),
    (partial(feed_forward_backward, X, W, W, W, X), ValueError, "w_down", "d_feed = 7", "= 3", ""),
    (partial(feed_forward_backward, X, W, W, W.T, X[:4]), ValueError, "grad", "(4, 7)", "(5, 7)",
     ""),
    (partial(next_token_loss, LOGITS, [1] * 4), ValueError, "tokens", "(4,)", "(5,)", "One row"),
    (partial(next_token_loss, LOGITS, [7] * 5), ValueError, "tokens", "the id 7", "0 to 6", ""),
    (partial(next_token_loss, LOGITS, X[:, 0]), TypeError, "tokens", "float64", "whole", ""),
    (partial(next_token_loss, LOGITS[:1], [1]), ValueError, "tokens", "(1,)", "two tokens", ""),
    (partial(next_token_loss_backward, LOGITS[0], [1]), ValueError, "logits", "(7,)", "n_vocab",
     ""),
]


@pytest.mark.parametrize("call, error, name, got, wanted, cause", CASES)
def test_bad_input_is_refused_in_words(call, error, name, got, wanted, cause):
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    assert caught.type is error
    argument, _, rest = str(caught.value).partition(": got ")
    came, _, rest = rest.partition("; wanted ")
    assert argument == name and got in came and wanted in rest and cause in rest, caught.value
