"""Settings for every pytest run, nbval's among them."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent / "tests"))

import notebook_proof

MESSAGES_WITHIN = 60.0  # seconds; nbval's own 5 are too few on a machine that is busy


def pytest_collection_modifyitems(items):
    """Give a slow machine time to deliver a cell's outputs; the cell's own limit stays."""
    for item in items:
        if hasattr(item, "output_timeout"):
            item.output_timeout = MESSAGES_WITHIN


def pytest_runtest_logreport(report):
    notebook_proof.gather(report)


def pytest_sessionfinish(session):
    if not hasattr(session.config, "workerinput"):
        notebook_proof.save()
