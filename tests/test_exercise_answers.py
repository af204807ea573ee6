"""Answers as students write them, from the prompts alone: each is judged as it deserves.

A module of ``exercise_answers`` holds ``WRONG``, pairs of an answer and the diagnosis that it
should get (None where any will do), and ``RIGHT``, answers that must pass.
"""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from attention_book.exercises import catalogue, check
from exercise_score import is_named


def load(path):
    spec = importlib.util.spec_from_file_location(f"exercise_answers_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MODULES = [load(path) for path in sorted(Path(__file__).with_name("exercise_answers").glob("*.py"))]


def named(exercise, number, answer):
    return f"{exercise}-{number}-{getattr(answer, '__name__', 'value')}"


WRONG = [pytest.param(exercise, answer, diagnosis, id=named(exercise, number, answer))
         for module in MODULES for exercise, answers in module.WRONG.items()
         for number, (answer, diagnosis) in enumerate(answers)]
RIGHT = [pytest.param(exercise, answer, id=named(exercise, number, answer))
         for module in MODULES for exercise, answers in module.RIGHT.items()
         for number, answer in enumerate(answers)]


@pytest.mark.parametrize(("exercise", "answer", "diagnosis"), WRONG)
def test_a_wrong_answer_is_rejected_and_named(exercise, answer, diagnosis, score):
    result = check(exercise, answer)
    score(exercise, answers=1, answers_rejected=not result.passed,
          answers_named=is_named(catalogue()[exercise], result.diagnosis))
    assert not result.passed
    assert diagnosis in (None, result.diagnosis), result
    assert "Question: " in result.message


@pytest.mark.parametrize(("exercise", "answer"), RIGHT)
def test_a_right_answer_passes(exercise, answer, score):
    result = check(exercise, answer)
    score(exercise, right_answers=1, answers_accepted=result.passed)
    assert result.passed, result


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_exercise_of_the_chapter_is_answered(module):
    chapters = {catalogue()[exercise].chapter for exercise in module.WRONG}
    wanted = {exercise.id for exercise in catalogue() if exercise.chapter in chapters}
    assert set(module.WRONG) == set(module.RIGHT) == wanted
    assert min(map(len, module.WRONG.values())) >= 5
    assert min(map(len, module.RIGHT.values())) >= 3


def test_a_wrong_value_on_the_example_is_given_the_step_of_the_first_failing_case():
    """Here no mistake fits: every entry is a little too large."""
    solve = catalogue()["causal_attention"].solution
    result = check("causal_attention", lambda *args: solve(*args) + 1e-2)
    assert result.diagnosis == "wrong-value"
    assert "Input: the example on the page" in result.message
    assert f"Step: {catalogue()['causal_attention'].cases[0].step}" in result.message


def test_a_result_beside_the_one_asked_for_is_asked_about():
    solve = catalogue()["causal_attention"].solution
    result = check("causal_attention", lambda *args: (solve(*args), np.eye(2)))
    assert result.diagnosis == "wrong-shape"
    assert "Does your last line return more than was asked for?" in result.message


def test_several_values_for_one_are_asked_about():
    result = check("leaks_future", lambda attend, x, rng: [True, False])
    assert result.diagnosis == "wrong-shape"
    assert "How does one value come of all those that you have?" in result.message
