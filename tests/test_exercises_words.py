"""The sentences of a verdict fit what happened, and stay short whatever an answer does."""

import functools
import linecache

import numpy as np
import pytest

from attention_book.exercises import catalogue, check
from attention_book.exercises.verdicts import WIDTH

softmax = catalogue()["softmax"].solution


def said(exercise_id, answer, diagnosis):
    result = check(exercise_id, answer)
    assert result.diagnosis == diagnosis, result
    return " ".join(result.message.split())


# --- an id that does not exist --------------------------------------------------------------------
def test_the_guess_comes_before_the_list():
    with pytest.raises(ValueError, match=r'^exercise_id: got "softmx"; did you mean "softmax"\? '
                                         r"The exercises are predict_score_shape, .*softmax"):
        check("softmx", softmax)


def test_without_a_guess_the_list_comes_alone():
    with pytest.raises(ValueError, match=r'^exercise_id: got "zzz"; wanted one of predict_score'):
        check("zzz", softmax)


def test_a_long_id_is_not_repeated_whole():
    with pytest.raises(ValueError) as caught:
        check("softmax" * 10**4, softmax)
    assert len(str(caught.value)) < 2000


# --- shapes ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(("exercise_id", "change", "axes"), [
    ("causal_mask", lambda mask: mask[:, 0], "(n, n)"),
    ("fault_padded_mask", lambda mask: mask[0], "(batch, n, n)"),
    ("best_key", lambda best: np.append(best, 0), "(n_query,)"),
    ("all_scores", lambda scores: scores[None, None], "(n_query, n_key)"),
    ("project", lambda parts: (parts[0], parts[1], parts[2][:, 0]), "(n, d_v)"),
    ("decode_step", lambda parts: (np.append(parts[0], 0), *parts[1:]), "(d_value,)"),
    ("online_softmax_step", lambda parts: (*parts[:2], parts[2].T[..., None]),
     "(n_query, d_value)"),
])
def test_a_wrong_shape_is_asked_about_by_the_axes_wanted(exercise_id, change, axes):
    exercise = catalogue()[exercise_id]
    text = said(exercise_id, lambda *args: change(exercise.solution(*args)), "wrong-shape")
    assert f"Which axis of the wanted {axes} does each of yours stand for?" in text
    assert "→" not in text and "boolean" not in text


def every_result_with_axes():
    for exercise in catalogue():
        for position in range(len(exercise.parts) or 1):
            if not exercise.predicts and "(" in exercise.shapes.rpartition("→")[2]:
                yield pytest.param(exercise, position, id=f"{exercise.id}-{position}")


@pytest.mark.parametrize(("exercise", "position"), list(every_result_with_axes()))
def test_every_exercise_has_axes_to_ask_about(exercise, position):
    def one_axis_more(*args):
        value = exercise.solution(*args)
        if not exercise.parts:
            return np.asarray(value)[None]
        return tuple(np.asarray(part)[None] if i == position else part
                     for i, part in enumerate(value))

    assert "?" in check(exercise.id, one_axis_more).message


@pytest.mark.parametrize(("exercise_id", "answer", "text"), [
    ("softmax", lambda x: (softmax(x), x), "The result is a tuple of 2; wanted one array of"),
    ("softmax", lambda x: (softmax(x), x.sum()), "The result is a tuple of 2; wanted one array of"),
    ("dot_product", lambda a, b: (a @ b, 1.0), "The result is a tuple of 2; wanted one value"),
    ("causal_mask", lambda n: (np.tri(n) > 0, n), "The result is a tuple of 2; wanted one array"),
])
def test_a_tuple_where_one_result_is_wanted(exercise_id, answer, text):
    message = said(exercise_id, answer, "wrong-shape")
    assert text in message and "Does your last line return more than was asked for?" in message


@pytest.mark.parametrize("kept", [1, 2])
def test_a_tuple_of_too_few_results(kept):
    project = catalogue()["project"].solution
    message = said("project", lambda *args: project(*args)[:kept], "wrong-shape")
    assert f"Wanted 3 results (q, k, v); got a tuple of {kept}." in message


def test_one_array_where_several_results_are_wanted():
    assert "Wanted 3 results (q, k, v); got one array of" in said(
        "project", lambda x, wq, wk, wv: x @ wq, "wrong-shape")


# --- exceptions -----------------------------------------------------------------------------------
def repeated(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args, *args)
    return wrapper


def calls_wrongly(x):
    return np.sum(softmax(x), axis=0, axes=1)


@pytest.mark.parametrize(("answer", "question"), [
    (repeated(lambda x: x), "What does the call on that line hand over"),
    (calls_wrongly, "What does the call on that line hand over"),
    (lambda x, y: x, "Can it be called as softmax(x)?"),
    (functools.partial(lambda x: x, 1), "Can it be called as softmax(x)?"),
    (functools.partial(np.reshape, shape=(1000,)), "What happens when you call it yourself"),
    (functools.partial(np.einsum, "ij->"), "What happens when you call it yourself"),
    (lambda x: x + "a", "What are the shapes and values on that line"),
])
def test_the_question_fits_where_the_exception_comes_from(answer, question):
    assert question in said("softmax", answer, "raises")


class Raises:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no array")


def test_a_prediction_is_not_called():
    message = said("predict_shifted_softmax", Raises(), "raises")
    assert "Can you write it as a list of three numbers?" in message


# --- time -----------------------------------------------------------------------------------------
def test_too_slow_says_the_limit_and_the_input(monkeypatch):
    monkeypatch.setattr("attention_book.exercises.judging.JUDGING_SECONDS", 0.5)

    def endless_for_tables(x):
        while np.ndim(x) > 1:
            pass
        return softmax(x)

    message = said("softmax", endless_for_tables, "too-slow")
    assert "No result came within 0.5 seconds, the limit for all inputs together" in message
    assert "Input: " in message and "the example on the page" not in message
    assert "x of shape" in message


# --- length ---------------------------------------------------------------------------------------
WRITTEN = [exercise.id for exercise in catalogue() if not exercise.predicts]


@pytest.mark.parametrize("exercise_id", WRITTEN)
def test_a_verdict_on_the_example_shows_all_its_numbers(exercise_id):
    exercise = catalogue()[exercise_id]

    def answer(*_):
        raise ValueError

    shown = check(exercise_id, answer).message.replace("\n  ", " ")
    for name, arg in zip(exercise.argument_names, exercise.example.args, strict=True):
        if isinstance(arg, np.ndarray):
            assert f"{name} = [" in shown
            assert f" {name} of shape" not in shown


LONG = "x" * 10**5


def raises_long(x):
    raise type(LONG, (ValueError,), {})(LONG)


def raises_control_characters(x):
    raise ValueError("\x1b[31mred\x07\u202e" + LONG)


def prints_long(x):
    print("\x1b[2J" + LONG)


exec(compile(f"def a_long_line(x): return x.{LONG}", "<long>", "exec"))
linecache.cache["<long>"] = (len(LONG), None, [f"def a_long_line(x): return x.{LONG}"], "<long>")


@pytest.mark.parametrize("answer", [
    raises_long, raises_control_characters, prints_long, a_long_line,  # noqa: F821
    lambda x: type(LONG, (), {})(), lambda x: np.zeros(3, dtype=[(LONG, float)]), lambda x: LONG,
    lambda x: {LONG: LONG}, lambda x: np.zeros((1,) * 60), lambda x: [LONG], lambda x: 10**4000,
    lambda x: [10**4000] * 3, lambda x: np.full(x.shape, 1e308), lambda x: np.array(LONG),
    type(LONG, (), {"__call__": lambda self, x: {}[LONG]})(), type(LONG, (), {})()])
def test_a_verdict_is_short_and_plain(answer):
    result = check("softmax", answer)
    assert not result.passed
    assert len(result.message) < 1500
    assert result.message.replace("\n", "").isprintable()
    assert len(max(result.message.splitlines(), key=len)) < 4 * WIDTH
