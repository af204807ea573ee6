"""Bad input: one clear error that names the argument, what came, what was wanted, and why."""

import copy
import decimal
from fractions import Fraction

import numpy as np
import pytest

from attention_book import (
    attention,
    causal_attention,
    causal_mask,
    log_softmax,
    log_sum_exp,
    padding_mask,
    repeat_kv,
    scores,
    sliding_window_mask,
    softmax,
)
from attention_book.validation import check_broadcast, check_count, describe

Q, K, V = np.ones((3, 7)), np.ones((5, 7)), np.ones((5, 2))
X, WQ, WK, WV = np.ones((5, 7)), np.ones((7, 3)), np.ones((7, 3)), np.ones((7, 2))
MASK = np.ones((3, 5), bool)
HEADS = np.ones((2, 3, 5, 7))
ADDITIVE = np.where(MASK, 0, -np.inf)
MASKED = np.ma.array(Q, mask=Q > 1)


class Refuses:
    """Not an array, and says so."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("out of order")


def bad(function, *arguments, **options):
    return function, arguments, options


# The call; the error; the argument, what came, what was wanted, and a word of the cause.
CASES = [
    # Nothing, and what is no array of numbers.
    (bad(scores, None, K), TypeError, "q", "None", "(..., n_query, d_head)", "forget to return"),
    (bad(scores, Q, None), TypeError, "k", "None", "(..., n_key, d_head)", "forget to return"),
    (bad(attention, Q, K, None), TypeError, "v", "None", "(..., n_key, d_value)", "forget"),
    (bad(causal_attention, None, WQ, WK, WV), TypeError, "x", "None", "(..., n, d_model)", "Did"),
    (bad(causal_attention, X, WQ, None, WV), TypeError, "wk", "None", "(d_model, d_head)", "Did"),
    (bad(softmax, None), TypeError, "x", "None", "(..., n)", "forget"),
    (bad(log_softmax, [[1, 2], [3]]), ValueError, "x", "rows of different", "(..., n)", "Pad"),
    (bad(scores, [[1, 2], [3]], K), ValueError, "q", "rows of different", "(..., n_query", "Pad"),
    (bad(attention, Q, K, [[1], [2, 3]]), ValueError, "v", "rows of different", "n_key", "Pad"),
    (bad(softmax, "abc"), TypeError, "x", "text", "(..., n)", ""),
    (bad(scores, Q, [["1", "2"]]), TypeError, "k", "text", "(..., n_key, d_head)", ""),
    (bad(log_sum_exp, [b"1"]), TypeError, "x", "text", "(..., n)", ""),
    (bad(scores, Q + 0j, K), TypeError, "q", "(3, 7) of complex128", "real numbers", ".real"),
    (bad(softmax, [1j]), TypeError, "x", "(1,) of complex128", "real numbers", ".real"),
    (bad(attention, Q, K.astype(object), V), TypeError, "k", "Python objects", "n_key", ""),
    (bad(softmax, [decimal.Decimal(1)]), TypeError, "x", "list holding Python", "array", ""),
    (bad(softmax, {1.0, 2.0}), TypeError, "x", "set holding Python objects", "array", ""),
    (bad(scores, [2**70], K), TypeError, "q", "list holding Python objects", "array", ""),
    (bad(attention, MASK, K, V), TypeError, "q", "(3, 5) of bool", "array of numbers", "mask="),
    (bad(softmax, [True, False]), TypeError, "x", "(2,) of bool", "array of numbers", "mask="),
    (bad(attention, MASKED, K, V), TypeError, "q", "a masked array", "n_query", ".data"),
    (bad(softmax, MASKED), TypeError, "x", "a masked array", "(..., n)", ".data"),
    (bad(softmax, Refuses()), TypeError, "x", "Refuses that is no array (out of order)", "n", ""),
    (bad(softmax, np.array(["2020-01-01"], "M8[D]")), TypeError, "x", "datetime64", "numbers", ""),
    (bad(softmax, np.zeros(2, "i4,f4")), TypeError, "x", "(2,) of [", "numbers", ""),
    # Shapes.
    (bad(scores, Q[0], K), ValueError, "q", "shape (7,)", "at least 2 axes", "q[None, :]"),
    (bad(scores, 3.0, K), ValueError, "q", "shape ()", "at least 2 axes", ""),
    (bad(attention, Q, K, V[:, 0]), ValueError, "v", "shape (5,)", "at least 2 axes", "v[None, :]"),
    (bad(softmax, 3.0), ValueError, "x", "shape ()", "at least 1 axis", ""),
    (bad(causal_attention, X[0], WQ, WK, WV), ValueError, "x", "shape (7,)", "2 axes", "x[None"),
    (bad(scores, Q, K.T), ValueError, "k", "d_head = 5", "d_head = 7, as in q", "transposed"),
    (bad(scores, Q, K[:, :6]), ValueError, "k", "d_head = 6", "d_head = 7, as in q", "feature by"),
    (bad(attention, Q, K, V[:4]), ValueError, "v", "n_key = 4", "n_key = 5, as in k", "one value"),
    (bad(attention, Q, K, np.ones((6, 2))), ValueError, "v", "n_key = 6", "n_key = 5", "one value"),
    (bad(attention, Q, K, V.T), ValueError, "v", "n_key = 2", "n_key = 5, as in k", "one value"),
    (bad(scores, HEADS, HEADS[:, :2]), ValueError, "q and k", "q (2, 3), k (2, 2)",
     "broadcast to (..., n_query, n_key)", "equal, 1, or missing"),
    (bad(attention, Q, K, np.ones((2, 5, 2)), mask=np.ones((3, 1, 1), bool)), ValueError, "mask",
     "shape (3, 1, 1)", "(..., n_query, n_key) = (2, 3, 5)", "or 1, or is missing"),
    (bad(attention, HEADS, HEADS, HEADS[0, :2]), ValueError, "q and k and v", "v (2,)",
     "broadcast to (..., n_query, d_value)", "equal, 1, or missing"),
    (bad(causal_attention, X, WQ.T, WK, WV), ValueError, "wq", "d_model = 3",
     "d_model = 7, as in x", "transposed: rows are x @ wq"),
    (bad(causal_attention, X, WQ, WK, WV[:6]), ValueError, "wv", "d_model = 6", "d_model = 7",
     "x[i] @ wv"),
    (bad(causal_attention, X, WQ, WK[:, :2], WV), ValueError, "wk", "d_head = 2",
     "d_head = 3, as in wq", "feature by feature"),
    (bad(causal_attention, HEADS, np.ones((2, 7, 3)), WK, WV), ValueError, "x and wq",
     "x (2, 3), wq (2,)", "broadcast", "equal, 1, or missing"),
    (bad(causal_attention, X, np.ones((2, 7, 3)), np.ones((3, 7, 3)), WV), ValueError,
     "x and wq and wk and wv", "wq (2,), wk (3,)", "broadcast", "equal, 1, or missing"),
    # Masks.
    (bad(attention, Q, K, V, mask=ADDITIVE), TypeError, "mask", "(3, 5) of float64",
     "booleans, True = may attend", "mask == 0"),
    (bad(attention, Q, K, V, mask=MASK.astype(int)), TypeError, "mask", "(3, 5) of int64",
     "booleans, True = may attend", "mask.astype(bool)"),
    (bad(softmax, Q, mask=np.ones(7)), TypeError, "mask", "(7,) of float64", "booleans", "astype"),
    (bad(attention, Q, K, V, mask="causal"), TypeError, "mask", "text", "boolean array", ""),
    (bad(attention, Q, K, V, mask=[[True], [True, False]]), ValueError, "mask",
     "rows of different lengths", "boolean array", "Pad"),
    (bad(attention, Q, K, V, mask=np.ma.array(MASK, mask=MASK)), TypeError, "mask",
     "a masked array", "boolean array", ".data"),
    (bad(attention, Q, K, V, mask=1.0), TypeError, "mask", "shape () of float64", "booleans", ""),
    (bad(attention, Q, K, V, mask=MASK.T), ValueError, "mask", "shape (5, 3)",
     "(..., n_query, n_key) = (3, 5)", "looks transposed"),
    (bad(attention, Q, K, V, mask=MASK[:2]), ValueError, "mask", "shape (2, 5)", "(3, 5)", "or 1"),
    (bad(attention, Q, K, V, mask=MASK[:, :4]), ValueError, "mask", "(3, 4)", "(3, 5)", "or 1"),
    (bad(attention, Q[:1], K, V, mask=MASK), ValueError, "mask", "shape (3, 5)", "(1, 5)", "or 1"),
    (bad(attention, Q, K[:1], V[:1], mask=MASK), ValueError, "mask", "(3, 5)", "(3, 1)", "or 1"),
    (bad(attention, Q, K, V, mask=MASK[:, 0]), ValueError, "mask", "shape (3,)", "(3, 5)", "or 1"),
    (bad(softmax, Q, mask=MASK), ValueError, "mask", "shape (3, 5)", "of x = (3, 7)", "or 1"),
    (bad(log_softmax, Q[:, :1], mask=MASK), ValueError, "mask", "(3, 5)", "of x = (3, 1)", "or 1"),
    (bad(log_sum_exp, Q[:1], axis=0, mask=MASK[:, :1]), ValueError, "mask", "shape (3, 1)",
     "of x = (1, 7)", "or 1"),
    # Scales.
    (bad(scores, Q, K, scale=np.nan), ValueError, "scale", "nan", "a finite number", ""),
    (bad(scores, Q, K, scale=np.inf), ValueError, "scale", "inf", "a finite number", ""),
    (bad(attention, Q, K, V, scale=np.float32("-inf")), ValueError, "scale", "-inf", "finite", ""),
    (bad(attention, Q, K, V, return_weights=1), TypeError, "return_weights", "1", "True or False",
     ""),
    (bad(attention, Q, K, V, return_weights=MASK), TypeError, "return_weights", "(3, 5) of bool",
     "True or False", "mask="),
    (bad(attention, Q, K, V, scale=10**400), ValueError, "scale", "beyond every float",
     "that float64 holds", ""),
    (bad(scores, Q, K, scale="1"), TypeError, "scale", "type str", "one real number", ""),
    (bad(scores, Q, K, scale=True), TypeError, "scale", "True", "one real number", ""),
    (bad(scores, Q, K, scale=np.True_), TypeError, "scale", "shape () of bool", "one real", ""),
    (bad(scores, Q, K, scale=1j), TypeError, "scale", "1j", "one real number", ""),
    (bad(scores, Q, K, scale=np.complex64(1)), TypeError, "scale", "complex64", "one real", ""),
    (bad(attention, Q, K, V, scale=np.ones(3)), TypeError, "scale", "shape (3,) of float64",
     "one real number, or None for d_head**-0.5", ""),
    (bad(attention, Q, K, V, scale=[0.5]), TypeError, "scale", "type list", "one real number", ""),
    (bad(scores, Q, K, scale=decimal.Decimal(1)), TypeError, "scale", "Decimal('1')", "real", ""),
    # Axes.
    (bad(softmax, Q, 2), ValueError, "axis", "2", "one of the 2 axes of x, −2 to 1", ""),
    (bad(softmax, Q, -3), ValueError, "axis", "-3", "one of the 2 axes of x", ""),
    (bad(log_softmax, Q, 1.0), TypeError, "axis", "1.0", "one whole number", ""),
    (bad(log_sum_exp, Q, True), TypeError, "axis", "True", "one whole number", ""),
    (bad(softmax, Q, (0, 1)), TypeError, "axis", "type tuple", "one whole number", ""),
    (bad(softmax, Q, None), TypeError, "axis", "None", "one whole number", ""),
    (bad(softmax, Q, "last"), TypeError, "axis", "type str", "one whole number", ""),
    # Counts.
    (bad(causal_mask, -1), ValueError, "n_query", "-1", "at least 0", ""),
    (bad(causal_mask, 3, -2), ValueError, "n_key", "-2", "at least 0", ""),
    (bad(causal_mask, 3.0), TypeError, "n_query", "3.0", "a whole number", ""),
    (bad(causal_mask, None), TypeError, "n_query", "None", "a whole number", ""),
    (bad(causal_mask, True), TypeError, "n_query", "True", "a whole number", ""),
    (bad(causal_mask, np.True_), TypeError, "n_query", "shape () of bool", "a whole number", ""),
    (bad(causal_mask, Q), TypeError, "n_query", "shape (3, 7) of float64", "a whole number", ""),
    (bad(causal_mask, "3"), TypeError, "n_query", "type str", "a whole number", ""),
    (bad(causal_mask, Fraction(3)), TypeError, "n_query", "Fraction(3, 1)", "a whole number", ""),
    (bad(causal_mask, 10**30), ValueError, "n_query", "100 bits", "an array can have", ""),
    (bad(padding_mask, [1], 10**30), ValueError, "n_key", "100 bits", "an array can have", ""),
    (bad(causal_mask, 2**62), ValueError, "n_query", "63 bits", "an array can have", ""),
    (bad(causal_mask, 2**40), ValueError, "n_query, n_key", "(1099511627776, 1099511627776)",
     "an array of at most 9223372036854775807 bytes", ""),
    (bad(padding_mask, np.ones((2**10, 2), dtype=int), 2**53), ValueError, "n_key", "bool",
     "an array of at most", ""),
    (bad(repeat_kv, np.ones((2, 3, 4)), 10**18), ValueError, "n_repeats", "float64",
     "an array of at most", ""),
    (bad(repeat_kv, np.ones((2, 3, 4)), 10**30), ValueError, "n_repeats", f"(2{'0' * 30}, 3, 4)",
     "an array of at most", ""),
    (bad(sliding_window_mask, 3, window=0), ValueError, "window", "0", "at least 1", ""),
    (bad(sliding_window_mask, 3, window=-1), ValueError, "window", "-1", "at least 1", ""),
    (bad(sliding_window_mask, 3, window=2.5), TypeError, "window", "2.5", "a whole number", ""),
    (bad(sliding_window_mask, 3, window=None), TypeError, "window", "None", "whole number", ""),
    (bad(sliding_window_mask, 3, 2.5, window=1), TypeError, "n_key", "2.5", "whole number", ""),
    (bad(padding_mask, [1], -3), ValueError, "n_key", "-3", "at least 0", ""),
    (bad(padding_mask, [1], None), TypeError, "n_key", "None", "a whole number", ""),
    # Lengths.
    (bad(padding_mask, [2, 9], 5), ValueError, "lengths", "values from 2 to 9", "n_key = 5", ""),
    (bad(padding_mask, [-1, 3], 5), ValueError, "lengths", "values from -1 to 3", "0 to n_key", ""),
    (bad(padding_mask, [1.0], 5), TypeError, "lengths", "(1,) of float64", "whole numbers", ""),
    (bad(padding_mask, MASK, 5), TypeError, "lengths", "(3, 5) of bool", "whole", "masks already"),
    (bad(padding_mask, None, 5), TypeError, "lengths", "None", "whole numbers from 0", ""),
    (bad(padding_mask, [[1], [2, 3]], 5), ValueError, "lengths", "rows of diff", "whole", "Pad"),
    (bad(padding_mask, "3", 5), TypeError, "lengths", "text", "whole numbers from 0", ""),
    (bad(padding_mask, [2**64], 5), TypeError, "lengths", "Python objects", "whole numbers", ""),
    (bad(padding_mask, np.array([2**63], np.uint64), 5), ValueError, "lengths", str(2**63), "", ""),
    (bad(padding_mask, np.ma.array([1, 2]), 5), TypeError, "lengths", "masked array", "whole", ""),
]


def name_of(case):
    (function, _, _), _, argument, got, *_ = case
    return f"{function.__name__}-{argument}-{got}".replace(" ", "_")


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_bad_input_is_refused_in_words(case):
    (function, arguments, options), error, name, got, wanted, cause = case
    before = copy.deepcopy((arguments, options))
    with np.errstate(all="raise"), pytest.raises((TypeError, ValueError)) as caught:
        function(*arguments, **options)
    assert caught.type is error
    message = str(caught.value)
    argument, _, rest = message.partition(": got ")
    came, _, rest = rest.partition("; wanted ")
    assert argument == name, message
    assert got in came, message
    assert wanted in rest, message
    assert cause in rest, message
    for old, new in zip((*before[0], *before[1].values()), (*arguments, *options.values()),
                        strict=True):
        if isinstance(new, np.ndarray | list):
            assert str(old) == str(new) and type(old) is type(new)


def test_the_table_is_as_large_as_it_says():
    assert len({name_of(case) for case in CASES}) == len(CASES) >= 40


def test_refused_before_any_work():
    """What is wrong with the last argument is found before the first is computed with."""
    huge = np.broadcast_to(1.0, (10**9, 10**6))  # the scores of this would not fit any memory
    for arguments, options in [((huge, huge, V), {}), ((huge, huge, huge), {"mask": ADDITIVE}),
                               ((huge, huge, huge), {"scale": np.nan}),
                               ((huge, huge, huge), {"mask": MASK})]:
        with pytest.raises((TypeError, ValueError), match=r"got .*; wanted "):
            attention(*arguments, **options)
    with pytest.raises(ValueError, match="wv: got d_model = 7; wanted d_model = 1000000"):
        causal_attention(huge, huge[:10**6], huge[:10**6], WV)


@pytest.mark.parametrize("dtype, scale", [
    (np.float16, 1e39), (np.float32, -1e39), (np.float32, np.longdouble(1e300)),
    (np.float64, 10**309), (np.longdouble, 10**5000),
], ids=["float16", "negative", "longdouble scale", "whole number", "longdouble"])
def test_a_scale_beyond_the_type_is_refused(dtype, scale):
    work = np.dtype(np.float32 if dtype == np.float16 else dtype)
    with pytest.raises(ValueError, match=rf"scale: got .+; wanted a finite number that {work} h"):
        scores(Q.astype(dtype), K.astype(dtype), scale=scale)
    with pytest.raises(ValueError, match=rf"scale: got .+; wanted a finite number that {work} h"):
        attention(Q.astype(dtype), K.astype(dtype), V.astype(dtype), scale=scale)


def test_scales_of_other_kinds():
    assert scores(Q, K, scale=Fraction(1, 2))[0, 0] == 3.5
    halves = Q.astype(np.float16) / 256
    assert attention(halves, halves, halves, scale=1e5)[0, 0] == 1 / 256  # computed in float32
    exact = np.longdouble(1) / 3
    assert scores(exact[None, None], np.ones((1, 1)), scale=exact)[0, 0] == exact * exact


def test_small_helpers():
    assert describe(np.float32(2)) == "shape () of float32"
    assert describe([1]) == "a value of type list"
    assert check_count("n", np.int8(5)) == 5 and type(check_count("n", np.int8(5))) is int
    assert check_broadcast("(..., n)", a=(2, 1), b=(3,)) == (2, 3)
