"""The functions that judge a test of equivariance are what their notes say, in every order."""

import itertools

import numpy as np
import pytest

from attention_book.exercises import catalogue

EXERCISE = catalogue()["is_permutation_equivariant"]


def in_every_order(attend, x):
    result = attend(x)
    return [np.abs(attend(x[list(order)]) - result[list(order)]).max()
            for order in itertools.permutations(range(len(x)))]


@pytest.mark.parametrize("case", EXERCISE.cases, ids=lambda case: case.note)
def test_a_planted_function_is_what_its_note_says(case):
    attend, x, rng = case.args
    off = in_every_order(attend.function, x[:5])
    equivariant = "(not equivariant)" not in case.note
    assert (max(off) < 1e-12) == equivariant
    assert EXERCISE.reference(attend.function, x, rng) == equivariant


def test_the_planted_functions_are_of_both_kinds_and_on_distinct_tokens():
    answers = [EXERCISE.reference(*case.args) for case in EXERCISE.cases]
    assert 3 <= sum(answers) <= len(answers) - 3
    for case in EXERCISE.cases:
        assert len(np.unique(case.args[1], axis=0)) == len(case.args[1])


@pytest.mark.parametrize("seed", range(20))
def test_one_drawn_order_is_enough(seed):
    """An answer that draws a single order passes, whatever numbers its generator gives."""
    def answer(attend, x, rng):
        order = np.random.default_rng(seed).permutation(len(x))
        return np.allclose(attend(x[order]), attend(x)[order])

    assert all(answer(*case.args) == EXERCISE.reference(*case.args) for case in EXERCISE.cases)
