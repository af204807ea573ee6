"""Settings for every pytest run, nbval's among them."""

MESSAGES_WITHIN = 60.0  # seconds; nbval's own 5 are too few on a machine that is busy


def pytest_collection_modifyitems(items):
    """Give a slow machine time to deliver a cell's outputs; the cell's own limit stays."""
    for item in items:
        if hasattr(item, "output_timeout"):
            item.output_timeout = MESSAGES_WITHIN
