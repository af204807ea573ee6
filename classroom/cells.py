"""Which cells of a student's notebook are run to have the answers, and running them.

All of it happens in the confined process: what a student wrote is not even parsed elsewhere.
"""

import dis
import linecache
import types
from dataclasses import dataclass

from IPython.core.inputtransformer2 import TransformerManager

from attention_book.exercises.limits import MemoryLimit, TimeUp, Watch
from attention_book.exercises.state import preserved
from classroom.stand_ins import Inert

SECONDS = 10.0  # for all cells of a notebook together
ENDLESS = "it was still running"
_READS = {"LOAD_NAME", "LOAD_GLOBAL"}
_WRITES = {"STORE_NAME", "STORE_GLOBAL"}


@dataclass(frozen=True)
class Cell:
    """One cell: its number among the code cells, its code, the names it reads and writes."""

    number: int
    code: types.CodeType | None
    reads: frozenset
    writes: frozenset
    error: str = ""


def prepare(number, text):
    """Compile one cell, its IPython commands turned into calls; keep the error if there is one."""
    name = f"<cell {number}>"
    try:
        python, code = _compiled(text, name)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = (getattr(error, "text", None) or "").strip()
        said = f"{type(error).__name__}: {getattr(error, 'msg', error)}"
        said += f", at `{line}`" if line else ""
        return Cell(number, None, frozenset(), frozenset(), said)
    linecache.cache[name] = (len(python), None, python.splitlines(keepends=True), name)
    used = list(_instructions(code))
    return Cell(number, code, frozenset(name for kind, name in used if kind in _READS),
                frozenset(name for kind, name in used if kind in _WRITES))


def _compiled(text, name):
    """Return a cell as Python, and compiled; only what is not Python needs IPython's help."""
    try:
        return text, compile(text, name, "exec", dont_inherit=True)
    except SyntaxError:
        python = TransformerManager().transform_cell(text)
        return python, compile(python, name, "exec", dont_inherit=True)


def _instructions(code):
    """Give the names that code, and the functions in it, read and write outside of functions."""
    for each in dis.get_instructions(code):
        if each.opname in _READS | _WRITES:
            yield each.opname, each.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from ((kind, name) for kind, name in _instructions(constant)
                        if kind != "STORE_NAME")


def needed(cells, from_page):
    """Return the cells to run: all that the student wrote, and of the page's what these use.

    Parameters
    ----------
    cells : list of Cell
    from_page : set of int
        Numbers of the cells that stand unchanged in the chapter.
    """
    chosen = {cell.number for cell in cells if cell.number not in from_page}
    while True:
        wanted = frozenset().union(*(cell.reads for cell in cells if cell.number in chosen))
        more = {cell.number for cell in cells
                if cell.number not in chosen and cell.writes & wanted}
        if not more:
            return [cell for cell in cells if cell.number in chosen]
        chosen |= more


def run(cells, tell):
    """Run cells in their order; return the names they made, and the errors by cell.

    ``tell`` is called with each cell's number before it is run.
    """
    names = {"__name__": "__main__", "get_ipython": Inert(), "display": Inert()}
    errors, left = {}, SECONDS
    for cell in cells:
        if cell.code is None:
            errors[cell.number] = cell.error
            continue
        tell(cell.number)
        error, spent = _run_one(cell.code, names, max(left, 1.0))
        left -= spent
        if error:
            errors[cell.number] = error
    return names, errors


def _run_one(code, names, seconds):
    """Run one cell's code; return what went wrong, and the seconds it took."""
    error = ""
    with Watch() as watch, preserved(), MemoryLimit():
        try:
            watch.start(seconds)
            exec(code, names)
        except TimeUp:
            error = f"{ENDLESS} after {seconds:.0f} seconds"
        except BaseException as raised:
            error = _described(raised)
        finally:
            watch.stop()
    return error, watch.spent


def _described(error):
    try:
        return f"{type(error).__name__}: {error}"[:300]
    except Exception:
        return "an exception that cannot be shown"
