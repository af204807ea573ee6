"""The choice of the next token: the likeliest, or as often as the softmax says."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attention_book.sampling import choose_token
from references import softmax_loop

LOGITS = [1.0, 3.0, -2.0, 2.0, 0.5]


def counts(logits, n=4000, seed=0, **options):
    rng = np.random.default_rng(seed)
    drawn = [choose_token(logits, rng=rng, **options) for _ in range(n)]
    return np.bincount(drawn, minlength=len(logits)) / n


@given(hnp.arrays(np.float64, st.integers(1, 20), elements=st.floats(-1e6, 1e6)))
def test_greedy_is_the_first_of_the_highest(logits):
    got = choose_token(logits)
    assert type(got) is int
    assert got == min(i for i, logit in enumerate(logits) if logit == max(logits))
    for temperature in (1e-300, 1e-9):
        if np.sum(logits > max(logits) - 1e-3) == 1:
            rng = np.random.default_rng(0)
            assert choose_token(logits, rng=rng, temperature=temperature) == got


@pytest.mark.parametrize("temperature", [0.5, 1.0, 4.0])
def test_tokens_come_as_often_as_the_softmax_says(temperature):
    wanted = softmax_loop([logit / temperature for logit in LOGITS])
    # four standard deviations of a share of 4000
    np.testing.assert_allclose(counts(LOGITS, temperature=temperature), wanted, atol=0.032)


def test_only_the_top_k_take_part():
    got = counts(LOGITS, top_k=2)
    np.testing.assert_allclose(got, [0, *softmax_loop([3, 2])[:1], 0, softmax_loop([3, 2])[1], 0],
                               atol=0.032)
    assert counts(LOGITS, n=50, top_k=1)[1] == 1
    np.testing.assert_array_equal(counts(LOGITS, n=50, top_k=5), counts(LOGITS, n=50))
    np.testing.assert_array_equal(counts(LOGITS, n=50, top_k=99), counts(LOGITS, n=50))


def test_of_equal_logits_the_first_take_part():
    assert np.flatnonzero(counts([0, 1, 1, 1, 1], n=100, top_k=2)).tolist() == [1, 2]
    assert np.flatnonzero(counts(np.arange(300) % 3, n=200, top_k=4)).tolist() == [2, 5, 8, 11]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int64])
def test_types_and_extremes(dtype):
    with np.errstate(all="raise"):
        assert choose_token(np.array([1, 7, 3], dtype)) == 1
        if np.dtype(dtype).kind == "f":
            large = np.finfo(dtype).max
            assert counts(np.array([-large, large, 0, -np.inf], dtype), n=20)[1] == 1
            got = counts(np.array([-np.inf, 0, 0], dtype), n=200)
            assert got[0] == 0 and 0.3 < got[1] < 0.7


def test_the_same_seed_gives_the_same_tokens():
    def drawn(seed):
        rng = np.random.default_rng(seed)
        return [choose_token(LOGITS, rng=rng, temperature=3) for _ in range(20)]

    assert drawn(1) == drawn(1) != drawn(2)


def test_a_tiny_temperature_makes_no_two_logits_infinite():
    with np.errstate(all="raise"):
        assert counts([1e9, 2e9, 0], n=20, temperature=1e-305)[1] == 1


def test_nothing_is_written_to(rng):
    logits = np.array(LOGITS)
    logits.flags.writeable = False
    choose_token(logits, rng=rng, top_k=2)
    assert logits.tolist() == LOGITS


RNG = np.random.default_rng(0)
CASES = [
    (([],), {}, ValueError, "logits", "(0,)", "(n_vocab,)"),
    (([LOGITS],), {}, ValueError, "logits", "(1, 5)", "(n_vocab,)"),
    (([1, math.nan],), {}, ValueError, "logits", "nan", "finite"),
    (([1, math.inf],), {"rng": RNG}, ValueError, "logits", "inf", "finite"),
    (([-math.inf] * 2,), {"rng": RNG}, ValueError, "logits", "-inf", "finite"),
    ((None,), {}, TypeError, "logits", "None", "(n_vocab,)"),
    ((LOGITS,), {"rng": RNG, "temperature": 0}, ValueError, "temperature", "0", "above 0"),
    ((LOGITS,), {"rng": RNG, "temperature": math.nan}, ValueError, "temperature", "nan", "above 0"),
    ((LOGITS,), {"rng": RNG, "temperature": "1"}, TypeError, "temperature", "str", "real number"),
    ((LOGITS,), {"rng": RNG, "top_k": 0}, ValueError, "top_k", "0", "at least 1"),
    ((LOGITS,), {"rng": RNG, "top_k": 2.0}, TypeError, "top_k", "2.0", "whole number"),
    ((LOGITS,), {"rng": 7}, TypeError, "rng", "7", "a NumPy Generator"),
    ((LOGITS,), {"temperature": 0.5}, ValueError, "rng", "None", "with a temperature"),
    ((LOGITS,), {"top_k": 3}, ValueError, "rng", "None", "top_k"),
]


@pytest.mark.parametrize("arguments, options, error, name, got, wanted", CASES)
def test_bad_input_is_refused_in_words(arguments, options, error, name, got, wanted):
    with pytest.raises((TypeError, ValueError)) as caught:
        choose_token(*arguments, **options)
    assert caught.type is error
    argument, _, rest = str(caught.value).partition(": got ")
    came, _, asked = rest.partition("; wanted ")
    assert argument == name and got in came and wanted in asked, caught.value
