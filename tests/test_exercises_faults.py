"""Which of an answer's faults is told: what it writes, where it returns None, at which step."""

import numpy as np
import pytest

from attention_book.exercises import catalogue, check

softmax = catalogue()["softmax"].solution


def message(exercise_id, answer, diagnosis):
    result = check(exercise_id, answer)
    assert result.diagnosis == diagnosis, result
    return " ".join(result.message.split())


# --- writing into an argument ---------------------------------------------------------------------
def changes_more_and_more_rows(attend, x, rng):
    """Right but for one thing: the rows before t were changed by earlier rounds."""
    out = attend(x)
    for t in range(1, len(x)):
        x[t:] += 10 * rng.normal(size=x[t:].shape)
        if not np.allclose(attend(x)[:t], out[:t]):
            return True
    return False


def changes_backwards(attend, x, rng):
    """Right, though x is lost: the rows before t are still what they were."""
    out = attend(x)
    for t in reversed(range(1, len(x))):
        x[t:] += 10 * rng.normal(size=x[t:].shape)
        if not np.allclose(attend(x)[:t], out[:t]):
            return True
    return False


def keeps_what_attend_gave(attend, x, rng):
    """Right only as long as attend never hands out x itself."""
    out = attend(x)
    kept = x.copy()
    for t in range(1, len(x)):
        x[:] = kept
        x[t:] += 10 * rng.normal(size=x[t:].shape)
        if not np.allclose(attend(x)[:t], out[:t]):
            return True
    return False


def shuffles_in_place(attend, x, rng):
    for _ in range(10):
        before = attend(x)
        order = rng.permutation(len(x))
        x[:] = x[order]
        if not np.allclose(attend(x), before[order], atol=1e-9):
            return False
    return True


def shuffles_in_place_after_looking_once(attend, x, rng):
    before = attend(x)
    for _ in range(10):
        order = rng.permutation(len(x))
        x[:] = x[order]
        if not np.allclose(attend(x), before[order], atol=1e-9):
            return False
    return True


@pytest.mark.parametrize(("exercise_id", "answer"), [
    ("leaks_future", changes_more_and_more_rows), ("leaks_future", changes_backwards),
    ("leaks_future", keeps_what_attend_gave),
    ("is_permutation_equivariant", shuffles_in_place),
    ("is_permutation_equivariant", shuffles_in_place_after_looking_once)])
def test_a_test_of_attend_that_writes_into_x_is_told_so(exercise_id, answer):
    said = message(exercise_id, answer, "mutates-input")
    assert "x no longer holds what the caller put into it" in said


@pytest.mark.parametrize("answer", [changes_more_and_more_rows])
def test_a_wrong_result_is_not_called_right(answer):
    assert "The result is right" not in message("leaks_future", answer, "mutates-input")


def softmax_in_place(x):
    x -= x.max(axis=-1, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=-1, keepdims=True)
    return x


def test_a_right_result_is_called_right():
    assert "The result is right, but x no longer" in message("softmax", softmax_in_place,
                                                             "mutates-input")


def no_shift_in_place(x):
    np.exp(x, out=x)
    x /= x.sum(axis=-1, keepdims=True)
    return x


def test_a_named_mistake_is_shown_where_the_result_is_wrong():
    said = message("softmax", no_shift_in_place, "no-max-shift")
    assert "The result is right" not in said and "the example on the page" not in said
    assert "Also: x no longer holds what the caller put into it" in said


def test_a_wrong_value_and_a_written_argument_are_both_told():
    def square(x):
        x *= x
        return x

    said = message("softmax", square, "wrong-value")
    assert "Also: x no longer holds" in said and "The result is right" not in said


def test_an_array_that_attend_is_given_is_its_own():
    watched = catalogue()["leaks_future"].cases[0].args[0]
    own = type(watched)(lambda x: x)
    x = np.ones((3, 2))
    out = own(x)
    x += 1
    assert (out == 1).all() and (own.calls[0][0] == 1).all()
    out += 1
    assert (own.calls[0][0] == 1).all()


def test_too_much_memory_is_not_called_a_right_result_beside_a_name():
    exercise = catalogue()["chunked_attention"]
    said = message("chunked_attention", exercise.mistake("full-score-matrix").ways[0],
                   "full-score-matrix")
    assert said.count("The result is right") == 1  # of the memory's own mistake
    assert "First difference: too much is stored on the way" in said


# --- nothing, but not at once ---------------------------------------------------------------------
def only_rows(x):
    if x.ndim == 1:
        return softmax(x)
    return None


def prints_tables(x):
    return softmax(x) if x.ndim == 1 else print(x)


def ellipsis_for_tables(x):
    return softmax(x) if x.ndim == 1 else ...


@pytest.mark.parametrize(("answer", "what"), [
    (only_rows, "returned None on this input"), (prints_tables, "returned None on this input"),
    (ellipsis_for_tables, "returned three dots on this input")])
def test_none_on_a_later_input_is_no_missing_attempt(answer, what):
    said = message("softmax", answer, "wrong-value")
    assert what in said and "Input: " in said and "the example on the page" not in said


def test_a_part_that_is_none_on_a_later_input():
    project = catalogue()["project"]
    rows = len(project.example.args[0])

    def forgets(x, wq, wk, wv):
        return (*project.solution(x, wq, wk, wv)[:2], x @ wv if len(x) == rows else None)

    assert "Result v is None on this input" in message("project", forgets, "wrong-value")


def test_a_step_not_written_for_a_later_input():
    def later(x):
        if x.ndim == 1:
            return softmax(x)
        raise NotImplementedError

    assert "NotImplementedError" in message("softmax", later, "raises")


# --- a constant factor is the scale's -------------------------------------------------------------
@pytest.mark.parametrize("factor", [
    lambda d: 2 / np.sqrt(d), lambda d: -1 / np.sqrt(d), lambda d: 0.1,
    lambda d: 1 / np.sqrt(d + 1), lambda d: 1.0 / np.sqrt(d) if d == 4 else 7.0])
def test_a_wrong_factor_is_located_at_the_scale(factor):
    said = message("scaled_scores", lambda q, k: q @ k.T * factor(q.shape[-1]), "wrong-value")
    assert "Step: the scale Question" in said


@pytest.mark.parametrize("answer", [
    lambda q, k: (q @ k.T + 1) / np.sqrt(q.shape[-1]), lambda q, k: abs(q @ k.T) ** 1.1,
    lambda q, k: 0 * (q @ k.T) + 0.3])
def test_what_is_no_factor_is_located_at_the_dot_products(answer):
    said = message("scaled_scores", answer, "wrong-value")
    assert "Step: the dot products, or a later one" in said
