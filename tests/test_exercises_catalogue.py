"""The mutation score: every mistake named as itself, every right way of writing it accepted."""

import inspect
import re

import numpy as np
import pytest

from attention_book.exercises import catalogue, check
from attention_book.exercises.compare import close
from attention_book.exercises.naming import twins, wanted

EXERCISES = list(catalogue())
BY_ID = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
WRONG = [pytest.param(exercise, mistake.id, way, id=f"{exercise.id}-{mistake.id}-{i}")
         for exercise in EXERCISES for mistake in exercise.mistakes
         for i, way in enumerate(mistake.ways)]
RIGHT = [pytest.param(exercise, answer, id=f"{exercise.id}-{i}") for exercise in EXERCISES
         for i, answer in enumerate((exercise.solution, *exercise.variants))]
GENERAL = {"not-attempted", "prints-instead-of-returning", "raises", "wrong-shape", "wrong-dtype",
           "not-finite", "mutates-input", "hard-coded", "calls-the-package", "too-slow",
           "wrong-value", "not-a-function", "not-a-value", "too-much-memory"}


@pytest.mark.parametrize(("exercise", "mistake", "way"), WRONG)
def test_every_way_of_making_a_mistake_is_rejected_and_named(exercise, mistake, way, score):
    result = check(exercise.id, way)
    score(exercise.id, ways=1, rejected=not result.passed, named=result.diagnosis == mistake)
    assert not result.passed
    assert result.diagnosis == mistake, result


@pytest.mark.parametrize(("exercise", "answer"), RIGHT)
def test_every_right_answer_passes(exercise, answer, score):
    result = check(exercise.id, answer)
    score(exercise.id, variants=1, accepted=result.passed)
    assert result.passed and result.diagnosis is None, result


@BY_ID
def test_no_two_mistakes_do_the_same_on_the_naming_inputs(exercise, score):
    alike = twins(exercise)
    score(exercise.id, twins=len(alike))
    assert alike == []


@BY_ID
def test_an_exercise_is_complete(exercise):
    assert len(exercise.variants) >= 3
    assert len(exercise.hints) == 3 and all(exercise.hints)
    names = [mistake.id for mistake in exercise.mistakes]
    assert names and len(set(names)) == len(names) and not set(names) & GENERAL
    for mistake in exercise.mistakes:
        assert len(mistake.ways) >= 2, mistake.id
        assert mistake.seen.endswith(".") and mistake.question.endswith("?"), mistake.id
    assert all(case.step for case in exercise.cases)
    assert exercise.title and exercise.prompt and exercise.chapter


@BY_ID
def test_the_example_on_the_page_is_right(exercise):
    if exercise.predicts:
        assert exercise.example is None
        return
    parts = wanted(exercise, exercise.judging[0])
    values = exercise.example.value if exercise.parts else (exercise.example.value,)
    for part, value in zip(parts, values, strict=True):
        assert part.shape == np.shape(value)
        assert close(part.values, np.asarray(value, dtype=float)).all()


@BY_ID
def test_another_case_has_the_form_of_the_example(exercise):
    """Without one, an answer that only fits the example's shape would be called hard-coded."""
    if exercise.example is None:
        pytest.fail("no example") if not exercise.predicts else None
        return
    form = [(type(arg), np.shape(arg)) for arg in exercise.example.args]
    assert form in [[(type(arg), np.shape(arg)) for arg in case.args] for case in exercise.cases]


@BY_ID
def test_the_names_in_the_signature_are_the_arguments(exercise):
    for case in (*exercise.judging, *exercise.naming):
        if not exercise.predicts:
            assert len(exercise.argument_names) == len(case.args)


@BY_ID
def test_neither_repr_nor_verdict_shows_the_solution(exercise):
    shown = [repr(exercise), repr(check(exercise.id, exercise.solution))]
    shown += [repr(check(exercise.id, mistake.ways[0])) for mistake in exercise.mistakes]
    if exercise.predicts:
        shown = [text for text in shown if "✓" not in text]
        secrets = [exercise.steps[-1].shown]
    else:
        source = inspect.getsource(exercise.solution).splitlines()[1:]
        secrets = [line.strip() for line in source if len(line.strip()) > 12]
    assert secrets
    for text in shown:
        assert not [secret for secret in secrets if secret in re.sub(r"\s+", " ", text)]


@BY_ID
def test_verdicts_say_the_same_each_time(exercise):
    for mistake in exercise.mistakes:
        first, second = (repr(check(exercise.id, mistake.ways[0])) for _ in range(2))
        assert first == second
        assert "0x" not in first and "object at" not in first


@BY_ID
def test_a_listing_to_mend_is_rejected_and_named(exercise):
    if not exercise.id.startswith("fault_"):
        assert exercise.faulty is None and exercise.listing is None
        return
    result = check(exercise.id, exercise.faulty)
    assert result.diagnosis in [mistake.id for mistake in exercise.mistakes]
    namespace = {"np": np}
    exec(exercise.listing, namespace)  # the notebook's stub is this text
    assert check(exercise.id, namespace[exercise.id]).diagnosis == result.diagnosis


@BY_ID
def test_a_prediction_is_a_value_with_steps(exercise):
    assert exercise.predicts == exercise.id.startswith("predict_")
    if exercise.predicts:
        names = [step.name for step in exercise.steps]
        assert all(mistake.step in names for mistake in exercise.mistakes)
        unsure = check(exercise.id, exercise.mistakes[0].ways[0])
        assert "here your prediction leaves" in unsure.message
