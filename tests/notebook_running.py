"""Run a chapter in one process, cell by cell, and again: what each cell prints and shows."""

import atexit
import re
from contextlib import contextmanager
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

from notebook_reading import cells, source, tags, where

PICTURE = re.compile(r"data:image/png;base64,[A-Za-z0-9+/=]+")  # its alternative text is compared


@contextmanager
def shell(folder):
    """Give an IPython shell that keeps no history; leave the process as it was."""
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    made = InteractiveShell(config=config, ipython_dir=str(Path(folder)))
    try:
        yield made
    finally:
        made.restore_sys_module_state()
        atexit.unregister(made.atexit_operations)
        made.atexit_operations()


def run(made, cell):
    """Run a cell; return what a reader would see, as text, and raise what it raises."""
    with capture_output() as captured:
        result = made.run_cell(source(cell), store_history=False)
    if "raises-exception" not in tags(cell):
        try:
            result.raise_error()
        except Exception as error:
            raise AssertionError(f"{where(cell)}: {type(error).__name__}: {error}") from error
    shown = [text for output in captured.outputs for media, text in sorted(output.data.items())
             if media.startswith("text/")]
    return "\n".join([captured.stdout, *(PICTURE.sub("(picture)", text) for text in shown)])


def differing(made, notebook, *, reverse=True):
    """Run a chapter, then each of its cells alone; give a sentence for each that differs.

    Before each the names are what they were after the chapter's end. Then, with ``reverse``, all
    run once more from the last to the first, so that a cell also meets what later cells have made
    a second time.
    """
    code = cells(notebook)
    first = [run(made, cell) for cell in code]
    after = dict(made.user_ns)
    for cell, before in zip(code, first, strict=True):
        yield from difference(made, cell, before, "alone")
        made.user_ns.clear()
        made.user_ns.update(after)
    for cell, before in reversed(list(zip(code, first, strict=True))) if reverse else ():
        yield from difference(made, cell, before, "in reverse")


def difference(made, cell, before, how):
    try:
        again = run(made, cell)
    except AssertionError as error:
        yield f"{how}: {error}"
        return
    if again != before and "nbval-ignore-output" not in tags(cell):
        yield f"{how}: {where(cell)}: gave\n{before}\nand again\n{again}"
