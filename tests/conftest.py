"""Settings of all tests: the same random numbers, and the same examples, at every run."""

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("book", derandomize=True, database=None, deadline=None, max_examples=40)
settings.load_profile("book")


@pytest.fixture
def rng():
    return np.random.default_rng(0)
