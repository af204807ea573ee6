"""Settings of all tests: the same random numbers and examples at every run, and the score."""

import numpy as np
import pytest
from hypothesis import settings

import exercise_score

settings.register_profile("book", derandomize=True, database=None, deadline=None, max_examples=40)
settings.load_profile("book")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def score(record_property):
    """Return what takes a test's finding: an exercise's id, and counts."""
    return lambda exercise, **counts: record_property(
        "score", {"id": exercise, **{key: int(count) for key, count in counts.items()}})


def pytest_runtest_logreport(report):
    exercise_score.gather(report)


def pytest_terminal_summary(terminalreporter):
    if exercise_score.FOUND:
        from attention_book.exercises import catalogue
        from test_exercise_answers import MODULES

        exercise_score.report(terminalreporter, list(catalogue()), MODULES)
