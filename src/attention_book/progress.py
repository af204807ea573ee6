"""Say in a notebook how far a long computation is, in one line that leaves nothing behind."""

from IPython.display import display

TIMES = 20  # how often the line changes
AT_REST = "Here the steps are counted while it trains."


def with_progress(things, total):
    """Pass on what comes, one thing after the other, and show how many have come.

    Parameters
    ----------
    things : iterable
        What is worked through, such as the steps of :func:`attention_book.train`.
    total : int
        How many there will be.

    Yields
    ------
    object
        Each of ``things``.

    Notes
    -----
    The line says the same at the end as at the beginning, however many steps there are, so that a
    stored notebook holds nothing that depends on the moment or on the machine.
    """
    line = display(_shown(AT_REST), raw=True, display_id=True)
    for done, thing in enumerate(things, start=1):
        if line and done * TIMES // total > (done - 1) * TIMES // total:
            line.update(_shown(f"{done} of {total} steps"), raw=True)
        yield thing
    if line:
        line.update(_shown(AT_REST), raw=True)


def _shown(text):
    return {"text/plain": text}
