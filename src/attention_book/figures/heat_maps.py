"""Matrices: queries down, keys across, the number in each cell, the shape below."""

from dataclasses import dataclass, replace

import numpy as np

from attention_book.figures import cells
from attention_book.figures.inputs import (
    check_allowed,
    check_choice,
    check_labels,
    check_matrix,
    check_text,
    digits,
    number,
    opening,
)
from attention_book.figures.picture import side_by_side
from attention_book.figures.style import draw
from attention_book.validation import complain

DOWN_ACROSS = {  # what the rows and the columns of each kind are
    "weights": ("queries", "keys"),
    "scores": ("queries", "keys"),
    "mask": ("queries", "keys"),
    "query": ("positions", "features"),
    "key": ("positions", "features"),
    "value": ("positions", "features"),
    "text": ("positions", "features"),
}


@dataclass(frozen=True)
class Sheet:
    """A matrix with all that is written around it."""

    values: np.ndarray
    allowed: np.ndarray
    kind: str
    limit: float  # the size of the value that has the full colour
    rows: list
    columns: list
    down: str
    across: str
    title: str
    shape: str
    decimals: int

    def cell(self, row, column):
        """Return the text in a cell."""
        if not self.allowed[row, column]:
            return ""
        return "✓" if self.kind == "mask" else number(self.values[row, column], self.decimals)

    def description(self):
        """Say in words what the matrix holds."""
        n_rows, n_columns = self.values.shape
        lengths = f"{n_rows} {self.down} by {n_columns} {self.across}"
        start = f"{opening(self.title)}Matrix of {self.kind}, {lengths}."
        if self.values.size <= cells.NUMBERED:
            return " ".join([start, *(self._describe_row(row) for row in range(n_rows))])
        seen = self.values[self.allowed & np.isfinite(self.values)]
        ends = [number(end, self.decimals) for end in (seen.min(initial=0), seen.max(initial=0))]
        masked = f" {np.sum(~self.allowed)} cells are masked." if not self.allowed.all() else ""
        return f"{start} Values from {ends[0]} to {ends[1]}.{masked}"

    def _describe_row(self, row):
        texts = [self.cell(row, column) or "masked" for column in range(len(self.columns))]
        if self.kind == "mask":
            seen = [label for label, text in zip(self.columns, texts, strict=True) if text == "✓"]
            return f"{self.rows[row]} may attend to {', '.join(seen) or 'nothing'}."
        pairs = [f"{label} {text}" for label, text in zip(self.columns, texts, strict=True)]
        return f"{self.rows[row]}: {', '.join(pairs)}."


def matrix(values, *, kind="weights", rows=None, columns=None, title=None, shape=None, mask=None,
           limit=None, decimals=None, down=None, across=None, alt=None):
    """Draw a matrix: a row for each query, a column for each key.

    Parameters
    ----------
    values : array_like, (n_rows, n_columns)
        Numbers, or booleans for a mask (True = may attend).
    kind : str
        ``"weights"`` (0 to 1, paper to purple), ``"scores"`` (blue below 0, orange above),
        or, with plain cells, ``"query"``, ``"key"``, ``"value"``, ``"text"``.
    rows, columns : sequence of str, optional
        Labels, such as the tokens; positions from 0 if not given.
    title : str, optional
        The finding.
    shape : str, optional
        The shape in the notation's names, such as ``"(n_query, n_key)"``; it is written under the
        matrix, with its lengths.
    mask : array_like of bool, broadcasts to (n_rows, n_columns), optional
        True = may attend; the other cells are hatched and hold no number.
    limit : float, optional
        The size of the score that has the full colour; the largest in ``values`` if not given.
    decimals : int, optional
        Digits after the point; if not given, 2 for weights, else as many as needed, at most 2.
    down, across : str, optional
        What the rows and columns are, where it is not queries and keys.
    alt : str, optional
        The text for those who do not see the figure; made from the numbers if not given.

    Returns
    -------
    Picture

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above.
    """
    sheet = _sheet(values, kind, rows, columns, title, shape, mask, decimals, down, across)
    return _picture(replace(sheet, limit=limit or sheet.limit), alt)


def matrices(panels):
    """Draw several matrices beside each other, below each other where the screen is narrow.

    Parameters
    ----------
    panels : sequence of dict
        The arguments of :func:`matrix` for each. Score matrices share one colour scale.

    Returns
    -------
    Picture
    """
    if not panels or not all(isinstance(panel, dict) and "values" in panel for panel in panels):
        complain(TypeError, "panels", repr(panels)[:60], "dicts with the arguments of matrix",
                 "Write matrices([dict(values=..., title=...), ...]).")
    scores = [panel for panel in panels if panel.get("kind") == "scores"]
    shared = max((_full_colour(check_matrix("values", panel["values"]),
                               check_allowed(panel.get("mask"), np.shape(panel["values"])))
                  for panel in scores), default=None)
    return side_by_side([
        matrix(**({"limit": shared} if panel.get("kind") == "scores" else {}) | panel)
        for panel in panels])


def mask_gallery(masks, *, rows=None, columns=None):
    """Draw masks beside each other, such as causal, rectangular, window and padding.

    Parameters
    ----------
    masks : dict of str to array_like of bool, (n_query, n_key)
        The title of each mask, and the mask: True = may attend.
    rows, columns : sequence of str, optional
        Labels of all; positions from 0 if not given.

    Returns
    -------
    Picture
    """
    return matrices([
        {"values": mask, "title": title, "shape": "(n_query, n_key)", "rows": rows,
         "columns": columns}
        for title, mask in masks.items()])


def _sheet(values, kind, rows, columns, title, shape, mask, decimals, down, across):
    if _is_mask(values):
        kind, mask, values = "mask", values, np.asarray(values).astype(float)
    values = check_matrix("values", values)
    allowed = check_allowed(mask, values.shape)
    default_down, default_across = DOWN_ACROSS[check_choice("kind", kind, DOWN_ACROSS)]
    if kind == "weights" and not ((values[allowed] >= 0) & (values[allowed] <= 1)).all():
        complain(ValueError, "values", "weights outside 0 to 1", "weights from 0 to 1",
                 'Scores are drawn with kind="scores".')
    lengths = f"({values.shape[0]}, {values.shape[1]})"
    return Sheet(
        values, allowed, kind, 1.0 if kind == "weights" else _full_colour(values, allowed),
        check_labels("rows", rows, values.shape[0]),
        check_labels("columns", columns, values.shape[1]),
        check_text("down", down) or default_down, check_text("across", across) or default_across,
        check_text("title", title) or "",
        f"{shape} = {lengths}" if check_text("shape", shape) else lengths,
        digits(values[allowed], 2 if kind == "weights" and decimals is None else decimals))


def _is_mask(values):
    try:
        return np.asarray(values).dtype == bool
    except ValueError:  # ragged rows: check_matrix says so
        return False


def _full_colour(values, allowed):
    """Return the largest size of what is finite and not masked, or 1."""
    return float(np.abs(values[allowed & np.isfinite(values)]).max(initial=0)) or 1.0


def _picture(sheet, alt):
    plan = cells.plan(sheet)
    return draw(lambda figure, theme: cells.paint(figure, theme, sheet, plan), width=plan.width,
                height=plan.height, alt=check_text("alt", alt) or sheet.description(), layout=None)
