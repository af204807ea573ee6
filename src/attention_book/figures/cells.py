"""How a matrix is laid out and drawn, in pixels from the top left corner."""

from dataclasses import dataclass
from math import ceil

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize

from attention_book.figures._fonts import LARGE, NORMAL, SMALL, text_width, wrapped
from attention_book.figures.inputs import number
from attention_book.figures.palette import SYMBOLS, ink_on, score_colour, weight_colour

NUMBERED = 64  # cells at most: with more, the numbers give way to a scale
ALL_LABELS, FEW_LABELS = 16, 8  # up to so many labels are all shown, of more about so many
WIDEST = 720
LINE = 22  # a line of text
EDGE = 10
HATCH = "////"
UNIT = np.array([(0, 0), (1, 0), (1, 1), (0, 1)])
ROLES = {"queries": "query", "keys": "key"}


@dataclass(frozen=True)
class Plan:
    """Where everything is, in pixels."""

    numbered: bool
    cell: tuple  # width and height of a cell
    left: float  # of the cells
    top: float
    bottom: float
    width: int  # of the whole figure
    height: int
    title: str
    slanted: bool  # the labels of the columns


def plan(sheet):
    """Return the plan for ``sheet``: cells as wide as their numbers, labels as long as they are."""
    n_rows, n_columns = sheet.values.shape
    left = EDGE + LINE + max(text_width(row, NORMAL) for row in _shown(sheet.rows)) + 8
    widest = max(text_width(sheet.cell(row, column))
                 for row in range(n_rows) for column in range(n_columns))
    wide = max(40, ceil(widest) + 14)
    numbered = sheet.values.size <= NUMBERED and left + n_columns * wide < WIDEST
    narrow = min(26.0, 400 / n_columns)
    cell = (wide, 34) if numbered else (narrow, max(narrow, _room_for_labels(n_rows)))
    labels = max(text_width(column) for column in _shown(sheet.columns))
    slanted = numbered and labels > cell[0] - 4
    right = EDGE + (0 if numbered else 70) + (0.6 * labels if slanted else 0)
    foot = text_width(sheet.shape, SMALL) + EDGE
    width = ceil(max(left + n_columns * cell[0] + right, left + foot,
                     min(300, text_width(sheet.title, LARGE, "bold") + 2 * EDGE)))
    title = wrapped(sheet.title, width - 2 * EDGE)
    top = EDGE + title.count("\n") * LINE + (LINE - 4) * bool(title)
    top += LINE + (0.7 * labels + 20 if slanted else LINE)
    bottom = top + n_rows * cell[1]
    height = ceil(bottom + 6 + LINE * (1 + (not sheet.allowed.all())) + EDGE)
    return Plan(numbered, cell, left, top, bottom, width, height, title, slanted)


def paint(figure, theme, sheet, plan):
    """Draw ``sheet`` as planned."""
    axes = sheet_of_pixels(figure, plan)
    _paint_cells(axes, theme, sheet, plan)
    _paint_labels(axes, theme, sheet, plan)
    _paint_foot(axes, theme, sheet, plan)
    if not plan.numbered and sheet.kind in ("weights", "scores"):
        _paint_scale(figure, theme, sheet, plan)


def sheet_of_pixels(figure, plan):
    """Return axes whose coordinates are pixels from the top left corner, under the title."""
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, plan.width), ylim=(plan.height, 0))
    axes.axis("off")
    axes.text(EDGE, EDGE, plan.title, fontsize=LARGE, fontweight="bold", va="top")
    return axes


def colour(theme, sheet, value):
    """Return the ground of a cell that holds ``value``."""
    if sheet.kind == "mask":
        return weight_colour(theme, 0.3)
    if sheet.kind == "weights":
        return weight_colour(theme, value)
    if sheet.kind == "scores" and np.isfinite(value):
        return score_colour(theme, float(np.clip(value / sheet.limit, -1, 1)))
    return theme.paper


def _paint_cells(axes, theme, sheet, plan):
    places = list(np.ndindex(sheet.values.shape))
    free = [place for place in places if sheet.allowed[place]]
    grounds = [colour(theme, sheet, sheet.values[place]) for place in free]
    thin = 0.8 if plan.cell[0] > 12 else 0
    axes.add_collection(PolyCollection([_corners(plan, *place) for place in free],
                                       facecolors=grounds, edgecolors=theme.rule if thin else
                                       grounds, linewidths=thin or 0.4))
    masked = [_corners(plan, *place) for place in places if not sheet.allowed[place]]
    axes.add_collection(PolyCollection(masked, facecolors=theme.paper, edgecolors=theme.masked,
                                       hatch=HATCH, linewidths=thin / 2))
    if plan.numbered:
        for place, ground in zip(free, grounds, strict=True):
            x, y = _corners(plan, *place).mean(axis=0)
            axes.text(x, y, sheet.cell(*place), ha="center", va="center_baseline",
                      color=ink_on(ground))
    n_rows, n_columns = sheet.values.shape
    frame = theme.masked if sheet.kind not in SYMBOLS else getattr(theme, sheet.kind)
    axes.plot(plan.left + plan.cell[0] * n_columns * np.array([0, 1, 1, 0, 0]),
              plan.top + plan.cell[1] * n_rows * np.array([0, 0, 1, 1, 0]), color=frame,
              linewidth=2 if sheet.kind in SYMBOLS else 1, solid_joinstyle="miter")


def _paint_labels(axes, theme, sheet, plan):
    for row, label in zip(_which(sheet.rows), _shown(sheet.rows), strict=True):
        axes.text(plan.left - 8, plan.top + (row + 0.5) * plan.cell[1], label, ha="right",
                  va="center_baseline")
    for column, label in zip(_which(sheet.columns), _shown(sheet.columns), strict=True):
        x = plan.left + (column + 0.5) * plan.cell[0]
        slant = {"rotation": 45, "ha": "left", "rotation_mode": "anchor"} if plan.slanted else {
            "ha": "center"}
        axes.text(x, plan.top - 6, label, va="baseline", **slant)
    middle = (plan.top + plan.bottom) / 2
    axes.text(EDGE, middle, _named(sheet.down), rotation=90, va="center", ha="left",
              fontsize=SMALL, color=_role_colour(theme, sheet.down))
    axes.text(plan.left, _above_labels(sheet, plan), _named(sheet.across), va="baseline",
              fontsize=SMALL, color=_role_colour(theme, sheet.across))


def _paint_foot(axes, theme, sheet, plan):
    y = plan.bottom + 8
    axes.text(plan.left, y, sheet.shape, va="top", fontsize=SMALL, color=theme.masked)
    if not sheet.allowed.all():
        y += LINE
        box = UNIT * (22, 13) + np.array([plan.left, y])
        axes.add_collection(PolyCollection([box], facecolors=theme.paper, edgecolors=theme.masked,
                                           hatch=HATCH, linewidths=0.8))
        axes.text(plan.left + 30, y, "masked", va="top", fontsize=SMALL)


def _paint_scale(figure, theme, sheet, plan):
    """Draw the scale of the colours, to the right of the cells."""
    ends = (0, 1) if sheet.kind == "weights" else (-sheet.limit, sheet.limit)
    steps = [colour(theme, sheet, value) for value in np.linspace(*ends, 65)]
    x = plan.left + sheet.values.shape[1] * plan.cell[0] + 14
    place = figure.add_axes((x / plan.width, 1 - plan.bottom / plan.height, 12 / plan.width,
                             min(plan.bottom - plan.top, 200) / plan.height))
    bar = figure.colorbar(ScalarMappable(Normalize(*ends),
                                         LinearSegmentedColormap.from_list("scale", steps)), place)
    bar.set_ticks(np.linspace(*ends, 3), labels=[number(end, 1) for end in np.linspace(*ends, 3)])
    bar.outline.set_edgecolor(theme.masked)


def _corners(plan, row, column):
    return (UNIT + np.array([column, row])) * plan.cell + np.array([plan.left, plan.top])


def _which(labels):
    """Return which of many labels are shown: about eight."""
    every = 1 if len(labels) <= ALL_LABELS else ceil(len(labels) / FEW_LABELS)
    return range(0, len(labels), every)


def _room_for_labels(n_rows):
    """Return the height that a row needs for the labels that are shown not to touch."""
    return 20 if n_rows <= ALL_LABELS else 20 * FEW_LABELS / n_rows


def _shown(labels):
    return [labels[place] for place in _which(labels)]


def _named(what):
    return f"{SYMBOLS[ROLES[what]]} {what}" if what in ROLES else what


def _role_colour(theme, what):
    return getattr(theme, ROLES.get(what, "masked"))


def _above_labels(sheet, plan):
    labels = max(text_width(column) for column in _shown(sheet.columns))
    return plan.top - (0.7 * labels + 20 if plan.slanted else LINE) - 2
