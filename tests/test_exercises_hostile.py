"""Results and answers that would deceive, flood or break the engine: the verdict stays plain."""

import tracemalloc

import numpy as np
import pytest

from attention_book.exercises import catalogue, check
from attention_book.exercises.compare import as_part

right = catalogue()["softmax"].solution


def diagnosis(answer, exercise_id="softmax"):
    result = check(exercise_id, answer)
    assert result.passed is (result.diagnosis is None)
    return result.diagnosis


# --- masked arrays --------------------------------------------------------------------------------
def masked_at_the_end(x):
    result = np.ma.masked_array(right(x))
    result[..., -1] = np.ma.masked
    return result


def masked_rows_in_a_list(x):
    return list(masked_at_the_end(x))


def masked_and_filled(x):
    return np.ma.masked_array(right(x), x > 0).data


@pytest.mark.parametrize("answer", [masked_at_the_end, masked_rows_in_a_list])
def test_a_masked_entry_is_no_value(answer):
    result = check("softmax", answer)
    assert not result.passed
    assert result.diagnosis == "wrong-dtype" and "masked" in result.message


def test_the_data_of_a_masked_array_without_masked_entries_are_values():
    assert diagnosis(lambda x: np.ma.masked_array(right(x), np.zeros(x.shape, bool))) is None
    assert diagnosis(masked_and_filled) is None
    assert diagnosis(lambda x: np.ma.masked_array(x * 0.0)) == "wrong-value"


@pytest.mark.parametrize("number", [np.ma.masked, np.ma.masked_array(5, True), [np.ma.masked, 1]])
def test_a_masked_number_is_no_value(number):
    part = as_part(number)
    assert part.values is None and "masked" in part.described


def test_masked_booleans_do_not_pass():
    def hides_the_future(n):
        every = np.ones((n, n), bool)
        return np.ma.masked_array(np.tri(n, dtype=bool), ~np.tri(n, dtype=bool) & every)

    assert diagnosis(hides_the_future, "causal_mask") == "wrong-dtype"


# --- text -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("value", ["7" * 10**8, b"7" * 10**8, ["7" * 10**8, "8"], ("7" * 10**8,)],
                         ids=lambda value: type(value).__name__)
def test_long_text_is_turned_away_before_numpy_reads_it(value):
    tracemalloc.start()
    try:
        part = as_part(value)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert part.values is None and "text" in part.described
    assert peak < 10**5
