"""Results and answers that would deceive, flood or break the engine: the verdict stays plain."""

import builtins
import os
import tracemalloc

import numpy as np
import pytest

from attention_book.exercises import catalogue, check
from attention_book.exercises.compare import as_part
from attention_book.exercises.guard import Runner

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


# --- what an answer changes is changed back -------------------------------------------------------
KEPT = {name: getattr(builtins, name) for name in dir(builtins) if name != "_"}
NAMES = ["sum", "zip", "len", "all", "any", "map", "vars", "isinstance", "type", "enumerate",
         "str", "dict", "tuple", "getattr", "BaseException", "Exception", "min", "max", "iter",
         "__import__"]


def replaces_builtins(x):
    result = right(x)
    for name in NAMES:
        setattr(builtins, name, lambda *_, **__: True)
    return result


def replaces_builtins_and_raises(x):
    result = {}
    for name in NAMES:
        setattr(builtins, name, None)
    return result["x"]


def deletes_builtins(x):
    result = right(x)
    for name in NAMES:
        delattr(builtins, name)
    return result


class ReplacesWhenRead:
    """Replaces builtins only while its result is looked at."""

    def __init__(self, value):
        self.value = value

    def __array__(self, dtype=None, copy=None):
        replaces_builtins(self.value)
        return self.value


@pytest.fixture
def built_in():
    yield
    changed = [name for name, value in KEPT.items() if builtins.__dict__.get(name) is not value]
    builtins.__dict__.update(KEPT)
    assert changed == []


@pytest.mark.parametrize(("answer", "wanted"), [
    (replaces_builtins, None), (replaces_builtins_and_raises, "raises"), (deletes_builtins, None),
    (lambda x: ReplacesWhenRead(right(x)), "raises")])
def test_builtins_are_put_back_at_once(answer, wanted, built_in):
    assert diagnosis(answer) == wanted


def test_builtins_replaced_before_the_check_do_not_reach_the_judge(monkeypatch):
    monkeypatch.setattr(builtins, "sum", lambda *_: 1.0)
    assert diagnosis(lambda a, b: sum(a * b), "dot_product") is not None
    assert sum([1, 2]) == 1.0  # the learner's own patch is the learner's


def goes_elsewhere(x):
    os.chdir(os.sep)
    return right(x)


def goes_elsewhere_and_raises(x):
    os.chdir(os.sep)
    raise ValueError


@pytest.mark.parametrize("answer", [goes_elsewhere, goes_elsewhere_and_raises])
def test_an_answer_that_changes_the_folder_is_brought_back(answer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check("softmax", answer)
    assert os.getcwd() == str(tmp_path)


def test_a_folder_that_is_gone_harms_nothing(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert diagnosis(right) is None
    assert diagnosis(goes_elsewhere) is None


def test_what_the_engine_keeps_is_not_counted_as_the_answer_s_memory():
    exercise = catalogue()["chunked_attention"]
    case = next(case for case in exercise.cases if case.memory is not None)
    with Runner(exercise, 1.0) as runner:
        assert runner.run(lambda q, k, v, chunk: None, case).peak < 1000
