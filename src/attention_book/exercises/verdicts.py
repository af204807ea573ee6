"""What a learner reads: the verdict in words, the same on every machine."""

import html
import sys
import textwrap
from dataclasses import dataclass, field

from numpy import bool_, ndarray

WIDTH = 88
# White text on each colour reads well, and each shows on light and on dark pages.
_PASSED, _FAILED, _NOT_BEGUN = ("✓", "#1B6E3C"), ("✗", "#B3261E"), ("○", "#686868")


@dataclass(frozen=True)
class Result:
    """The verdict on an answer; its repr is what the learner reads.

    Attributes
    ----------
    passed : bool
    diagnosis : str or None
        None if it passed; else the id of the mistake, or a general id such as ``wrong-shape``.
    message : str
        What was seen, on which input, at which step, and a question that leads on.
    exercise : str
        The exercise's id.
    """

    passed: bool
    diagnosis: str | None
    message: str
    exercise: str = ""
    _shown: list = field(default_factory=list, repr=False, compare=False)

    def __bool__(self):
        return self.passed

    def __repr__(self):
        return f"{self._look[0]} {self._title}\n{self.message}"

    def _repr_html_(self):
        sign, colour = self._look
        badge = (f'<span style="background:{colour};color:#fff;border-radius:4px;'
                 f'padding:1px 7px;font-weight:bold">{sign}</span>')
        return (f'<div class="verdict" style="border-left:4px solid {colour};padding:2px 12px">'
                f"<p>{badge} <strong>{html.escape(self._title)}</strong></p>"
                f"{_paragraphs(self.message)}</div>")

    def _ipython_display_(self):
        """Show the verdict as a cell's value, unless :func:`check` has shown it in that cell."""
        if self._shown != [cell_number()]:
            show(self)

    @property
    def _look(self):
        """The sign and the colour; a stub that waits for its answer is no failure."""
        if self.passed:
            return _PASSED
        return _NOT_BEGUN if self.diagnosis == "not-attempted" else _FAILED

    @property
    def _title(self):
        return f"{self.exercise}: {'passed' if self.passed else self.diagnosis}"


def cell_number():
    """Return the number of the notebook cell that is running; None outside IPython."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return None if shell is None else shell.execution_count


def show(result):
    """Display a result in IPython, and remember in which cell."""
    from IPython.display import display

    result._shown[:] = [cell_number()]
    display({"text/plain": repr(result), "text/html": result._repr_html_()}, raw=True)


def lines(*labelled):
    """Join ``(label, text)`` pairs to a message, wrapped; pairs without text are left out."""
    return "\n".join(textwrap.fill(f"{label}: {plain(text)}", WIDTH, subsequent_indent="  ",
                                   break_long_words=False, break_on_hyphens=False)
                     for label, text in labelled if text)


def plain(text):
    """Return text without the characters that steer a terminal or turn its lines around."""
    return "".join(each if each.isprintable() else " " for each in text)


def number(value, digits=4):
    """Write one number so that another machine's last digits cannot change it."""
    if isinstance(value, bool | bool_):
        return str(bool(value))
    if abs(value) >= 1e15:
        return f"{value:.3g}"
    return f"{value:.0f}" if abs(value) >= 1000 and value % 1 == 0 else f"{value:.{digits}g}"


def show_arguments(names, args, most=0):
    """Say what the arguments are: short rows, and tables of at most ``most`` numbers, whole."""
    return ", ".join(f"{name} {_show(arg, most)}" for name, arg in zip(names, args, strict=False))


def _show(arg, most):
    if isinstance(arg, ndarray):
        whole = 0 < arg.size <= (most if arg.ndim > 1 else 6) and arg.dtype.kind in "biuf"
        return f"= {_rows(arg)}" if whole else f"of shape {arg.shape}"
    if isinstance(arg, bool | int | float):
        return f"= {number(arg)}"
    return f"(a {'function' if callable(arg) else type(arg).__name__})"


def _rows(arg):
    return f"[{', '.join(map(_rows, arg))}]" if arg.ndim else number(arg[()])


def _paragraphs(message):
    """Set each labelled line of a message as a paragraph, its label in bold."""
    text = message.replace("\n  ", " ")
    found = []
    for line in text.splitlines():
        label, colon, rest = line.partition(": ")
        found.append(f"<p><em>{html.escape(label)}:</em> {html.escape(rest)}</p>" if colon
                     else f"<p>{html.escape(line)}</p>")
    return "".join(found)


class Note(str):
    """A sentence that a notebook shows without quotation marks."""

    __slots__ = ()

    def __repr__(self):
        return textwrap.fill(self, WIDTH)
