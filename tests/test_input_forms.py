"""Every function takes arrays of every type and layout, and leaves them as they were."""

import numpy as np
import pytest

from attention_book import (
    attention,
    causal_attention,
    causal_mask,
    feed_forward,
    log_softmax,
    log_sum_exp,
    padding_mask,
    rms_norm,
    rotary,
    scores,
    silu,
    softmax,
)
from references import FLOATS, attention_loops

CALLS = {  # the function, and the shapes of its arguments: distinct primes
    "scores": (scores, (3, 7), (5, 7)),
    "softmax": (softmax, (3, 5)),
    "log_softmax": (log_softmax, (3, 5)),
    "log_sum_exp": (log_sum_exp, (3, 5)),
    "attention": (attention, (3, 7), (5, 7), (5, 2)),
    "causal_attention": (causal_attention, (5, 7), (7, 3), (7, 3), (7, 2)),
    "rotary": (lambda x: rotary(x, range(7, 12)), (5, 6)),
    "rms_norm": (lambda x: rms_norm(x, np.array([1, 2, 3], np.float16)), (5, 3)),
    "silu": (silu, (5, 3)),
    "feed_forward": (feed_forward, (5, 7), (7, 3), (7, 3), (3, 2)),
}


def strided(x):
    large = np.zeros([3 * n for n in x.shape], x.dtype)
    large[::3, 1::3] = x
    return large[::3, 1::3]


def unaligned(x):
    raw = np.zeros(x.nbytes + 1, np.uint8)
    result = np.ndarray(x.shape, x.dtype, raw, offset=1)
    result[...] = x
    return result


def overlapping(x):
    """A view whose rows share memory with each other, with the numbers of its first row."""
    row = np.concatenate([x[0], x[0]])
    return np.lib.stride_tricks.as_strided(row, x.shape, (0, row.itemsize))


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


FORMS = {
    "transposed": np.asfortranarray,
    "reversed": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
    "strided": strided,
    "unaligned": unaligned,
    "overlapping": overlapping,
    "broadcast": lambda x: np.broadcast_to(x[:1], x.shape),
    "read-only": read_only,
    "other byte order": lambda x: x.astype(x.dtype.newbyteorder()),
    "matrix": lambda x: x.view(np.matrix),
    "lists": lambda x: x.tolist(),
    "tuples of rows": tuple,
}


def made(rng, dtype, shapes):
    return [rng.normal(size=shape).astype(dtype) for shape in shapes]


@pytest.fixture(params=CALLS)
def call(request):
    function, *shapes = CALLS[request.param]
    return function, shapes


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_any_form_gives_what_contiguous_copies_give(rng, call, form, dtype):
    function, shapes = call
    dtype = np.float64 if form == "lists" else dtype
    arguments = [FORMS[form](x) for x in made(rng, dtype, shapes)]
    copies = [np.array(x, dtype, order="C") for x in arguments]
    with np.errstate(all="raise"):
        got = function(*arguments)
    eps = np.finfo(dtype).eps
    assert type(got) is np.ndarray and got.dtype == dtype and got.dtype.isnative
    np.testing.assert_allclose(got, function(*copies), rtol=16 * eps, atol=16 * eps)
    for x, copy in zip(arguments, copies, strict=True):
        np.testing.assert_array_equal(x, copy)


@pytest.mark.parametrize("dtype", FLOATS)
def test_nothing_is_written_to_and_nothing_is_shared(rng, call, dtype):
    function, shapes = call
    arguments = made(rng, dtype, shapes)
    arguments[0][0, 0] = np.inf
    arguments[-1][-1, -1] = np.nan
    arguments[-1][0, 0] = np.finfo(dtype).max
    copies = [x.copy() for x in arguments]
    got = function(*arguments)
    for x, copy in zip(arguments, copies, strict=True):
        np.testing.assert_array_equal(x, copy)
        assert not np.may_share_memory(got, x)


@pytest.mark.parametrize("dtype", FLOATS)
def test_masks_are_not_written_to_and_nothing_is_through_them(rng, dtype):
    q, k, v, x = arguments = made(rng, dtype, [(3, 7), (5, 7), (5, 2), (3, 5)])
    mask, lengths = causal_mask(3, 5), np.array([2, 5])
    copies = [array.copy() for array in arguments]
    attention(q, k, v, mask=mask)
    for function in (softmax, log_softmax, log_sum_exp):
        function(x, mask=mask)
    padding_mask(lengths, 5)
    for array, copy in zip(arguments, copies, strict=True):
        np.testing.assert_array_equal(array, copy)
    np.testing.assert_array_equal(mask, causal_mask(3, 5))
    assert lengths.tolist() == [2, 5]
    attention(q, k, v, mask=read_only(mask))
    padding_mask(read_only(lengths), 5)


@pytest.mark.parametrize("layout", [np.asfortranarray, lambda m: m[::-1].copy()[::-1],
                                    lambda m: m.tolist(), lambda m: np.broadcast_to(m, (2, 3, 5))])
def test_masks_of_any_form(rng, layout):
    q, k, v = made(rng, np.float64, [(3, 7), (5, 7), (5, 2)])
    got = attention(q, k, v, mask=layout(causal_mask(3, 5)))
    wanted = np.broadcast_to(attention_loops(q, k, v, causal_mask(3, 5)), got.shape)
    np.testing.assert_allclose(got, wanted, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64, np.dtype(">i4")])
def test_integers_become_float64(call, dtype):
    function, shapes = call
    arguments = [np.arange(np.prod(shape)).reshape(shape).astype(dtype) % 3 for shape in shapes]
    got = function(*arguments)
    assert got.dtype == np.float64
    np.testing.assert_array_equal(got, function(*(x.astype(np.float64) for x in arguments)))


def test_integers_near_the_largest_are_rounded_not_wrapped():
    q, k = np.array([[2**63 - 1, -2**63]]), np.array([[2**64 - 1, 1]], np.uint64)
    np.testing.assert_allclose(scores(q, k, scale=1.0), [[2.0**127 - 2.0**63]], rtol=1e-15)
    assert scores([[2**53 - 1]], [[1]]).tolist() == [[2**53 - 1]]
    v = np.array([[2**63 - 1], [-2**63]])
    assert attention(np.zeros((1, 1), int), np.zeros((2, 1), int), v).tolist() == [[0]]
    assert attention([[0]], [[0]], np.array([[2**64 - 1]], np.uint64)).tolist() == [[2.0**64]]


def test_float16_is_computed_in_float32_and_rounded_once(rng, call):
    function, shapes = call
    for _ in range(5):
        arguments = made(rng, np.float16, shapes)
        wide = function(*(x.astype(np.float32) for x in arguments))
        np.testing.assert_array_equal(function(*arguments), wide.astype(np.float16))


@pytest.mark.parametrize("first", FLOATS)
@pytest.mark.parametrize("second", [*FLOATS, np.int32])
def test_mixed_types_give_the_wider(rng, call, first, second):
    function, shapes = call
    for place in range(len(shapes)):
        arguments = made(rng, first, shapes)
        if len(shapes) > 1:
            arguments[place] = arguments[place].astype(second)
        wanted = np.result_type(*(x if x.dtype.kind == "f" else np.float64 for x in arguments))
        assert function(*arguments).dtype == wanted


@pytest.mark.parametrize("wide", FLOATS[1:])
def test_the_wider_type_is_the_one_that_is_computed_in(wide):
    """Queries of float16 are scored in the type of the keys, whichever argument that is."""
    narrow, third = np.ones((1, 1), np.float16), np.full((1, 1), wide(1) / 3)
    assert scores(narrow, third)[0, 0] == scores(third, narrow)[0, 0] == wide(1) / 3
    assert attention(narrow, narrow, third)[0, 0] == wide(1) / 3
    assert causal_attention(narrow, narrow, narrow, third)[0, 0] == wide(1) / 3
    assert causal_attention(third, narrow, narrow, narrow)[0, 0] == wide(1) / 3
