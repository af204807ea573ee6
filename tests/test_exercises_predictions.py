"""A prediction may be written in many forms: what it says counts, not how it is typed."""

import numpy as np
import pytest

from attention_book.exercises import catalogue, check
from attention_book.exercises.predictions import LONGEST_TEXT

PREDICTIONS = [exercise for exercise in catalogue() if exercise.predicts]


def forms(value):
    """Write one value in every form in which somebody might hand it in."""
    array = np.asarray(value, dtype=float)
    typed = array.tolist()
    if array.ndim == 0:
        typed = [typed]
        yield from (typed[0], repr(typed[0]), np.float32(typed[0]), f" {typed[0]}\n")
    yield from (typed, tuple(typed), np.array(typed), np.array(typed, np.float32), repr(typed),
                repr(tuple(typed)), repr(typed)[1:-1], np.str_(tuple(typed)),
                np.array(repr(typed)), np.array(typed, np.longdouble))
    if (array.astype(np.float16) == array).all():
        yield np.array(typed, np.float16)
    if not (array % 1).any():
        whole = [int(each) for each in typed]
        yield from (whole, tuple(whole), repr(whole), repr(tuple(whole)), repr(whole)[1:-1],
                    np.array(whole), np.array(whole, np.int32))


RIGHT = [pytest.param(exercise, form, id=f"{exercise.id}-{number}") for exercise in PREDICTIONS
         for number, form in enumerate(forms(exercise.solution))]
WRONG = [pytest.param(exercise, mistake.id, form, id=f"{exercise.id}-{mistake.id}-{number}")
         for exercise in PREDICTIONS for mistake in exercise.mistakes
         for number, form in enumerate(forms(mistake.ways[0]))
         if np.isfinite(mistake.ways[0]).all()]


@pytest.mark.parametrize(("exercise", "form"), RIGHT)
def test_a_right_prediction_passes_in_every_form(exercise, form):
    result = check(exercise.id, form)
    assert result.passed, result


@pytest.mark.parametrize(("exercise", "mistake", "form"), WRONG)
def test_a_wrong_prediction_is_named_in_every_form(exercise, mistake, form):
    assert check(exercise.id, form).diagnosis == mistake


@pytest.mark.parametrize("text", [
    "seven by five", "", "7 x 5", "(7, 5", "...", "None", "True", "'(7, 5)'",
    "__import__('os').getpid()", "7 + 0 * 5", "{7: 5}", "(" * 90, "9" * 10**5, "[" * 10**6,
    "7,\0 5", "5 " * 10**5, "\N{ROCKET}", b"(7, 5)", "7j", ["7", "5"]],
    ids=lambda text: repr(text[:18]))
def test_text_that_writes_no_number_gets_a_clear_verdict(text):
    result = check("predict_score_shape", text)
    assert result.diagnosis == "wrong-dtype", result
    assert len(result.message) < 400
    assert "text" in result.message and "Can you write it as" in result.message


def test_text_is_never_run():
    ran = []
    check("predict_score_shape", f"[ran.append(1) for ran in [{ran!r}]]")
    check("predict_score_shape", "print('ran')")
    assert ran == [] and "ran" not in check("predict_score_shape", "print('ran')").message


@pytest.mark.parametrize("value", [(7.5, 5), "7.5, 5", (7, np.nan), np.array([7, np.inf]), (7j, 5),
                                   (True, False), 10**400, [10**30, 5], {7, 5}, {7: 5}, object()])
def test_what_is_no_shape_is_not_taken_for_one(value):
    assert check("predict_score_shape", value).diagnosis in ("wrong-dtype", "wrong-shape")


@pytest.mark.parametrize("value", [(7, 5, 1), (9,), 9, [[7, 5]], [[7], [5]], "[[7, 5]]", [], "()"])
def test_a_wrong_number_of_numbers(value):
    result = check("predict_score_shape", value)
    assert result.diagnosis == "wrong-shape"
    assert "wanted 2 numbers" in result.message


def test_long_text_is_turned_away_before_it_is_read():
    assert len("7" * (LONGEST_TEXT + 1)) > LONGEST_TEXT
    assert check("predict_changed_numbers", "60" + " " * LONGEST_TEXT).diagnosis == "wrong-dtype"
    assert check("predict_changed_numbers", "60" + " " * 10).passed
