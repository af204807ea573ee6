"""Bars: weights of one row, and how far a floating type reaches."""

import numpy as np

from attention_book.figures._fonts import NORMAL, SMALL
from attention_book.figures.cells import HATCH
from attention_book.figures.curves import plain_numbers
from attention_book.figures.inputs import (
    check_allowed,
    check_choice,
    check_labels,
    check_text,
    check_vector,
    number,
    opening,
)
from attention_book.figures.palette import LINES
from attention_book.figures.style import draw, patch, put_title
from attention_book.validation import complain


def bars(values, labels=None, *, title=None, xlabel="weight", mask=None, decimals=2, role="weight",
         limit=None, alt=None):
    """Draw a horizontal bar for each value, with its number.

    Parameters
    ----------
    values : array_like, (n,)
        The lengths of the bars.
    labels : sequence of str, optional
        A label for each, such as the tokens; positions from 0 if not given.
    title : str, optional
        The finding.
    xlabel : str
        What the bars measure, with the unit.
    mask : array_like of bool, (n,), optional
        True = may attend; the others are hatched.
    decimals : int
        Digits after the point.
    role : str
        Whose colour the bars have.
    limit : float, optional
        Where the axis ends; if not given, at 1 for weights that sum to one, else near the longest.
    alt : str, optional
        The text for those who do not see the figure; made from the numbers if not given.

    Returns
    -------
    Picture
    """
    values = check_vector("values", values)
    labels = check_labels("labels", labels, values.size)
    allowed = check_allowed(None if mask is None else np.asarray(mask)[None], (1, values.size))[0]
    check_choice("role", role, LINES)
    texts = [number(value, decimals) if free else "masked"
             for value, free in zip(values, allowed, strict=True)]
    pairs = ", ".join(f"{label} {text}" for label, text in zip(labels, texts, strict=True))
    alt = check_text("alt", alt) or f"{opening(title)}Bars of {xlabel}: {pairs}."

    def paint(figure, theme):
        axes = figure.add_subplot()
        reach = limit or _reach(values[allowed])
        axes.set(xlabel=xlabel, xlim=(1.1 * min(0, values[allowed].min(initial=0)), 1.18 * reach))
        ends = np.where(allowed, values, reach)
        _paint_rows(axes, labels)
        for place, end in enumerate(ends):
            look = {"color": getattr(theme, role)} if allowed[place] else _hatched(theme)
            axes.barh(place, end, height=0.62, **look)
            axes.annotate(texts[place], (max(end, 0), place), (6, 0), va="center",
                          textcoords="offset points")
        put_title(figure, title)

    return draw(paint, width=520, height=110 + 34 * values.size, alt=alt)


def overflow_ranges(limits, *, title="exp(x) overflows early, and earlier in short types",
                    xlabel="x", alt=None):
    """Draw, for each floating type, up to which x the exponential is finite.

    Parameters
    ----------
    limits : dict of str to float
        The type's name and the largest x whose ``exp(x)`` was found finite.
    title, xlabel, alt : str
        As in :func:`bars`.

    Returns
    -------
    Picture
    """
    names, reach = list(limits), check_vector("limits", list(limits.values()))
    if not (reach > 0).all():
        complain(ValueError, "limits", number(reach.min(), 2), "positive numbers")
    pairs = " ".join(f"{name}: finite up to {number(end, 2)}, then overflow."
                     for name, end in zip(names, reach, strict=True))
    alt = check_text("alt", alt) or f"{opening(title)}Ranges of {xlabel}. {pairs}"

    def paint(figure, theme):
        axes = figure.add_subplot()
        left, right, places = reach.min() / 30, reach.max() * 12, np.arange(reach.size)
        axes.set(xscale="log", xlim=(left, right), xlabel=xlabel)
        plain_numbers(axes, "x")
        _paint_rows(axes, names)
        axes.barh(places, reach, height=0.6, color=theme.weight)
        axes.barh(places, right - reach, left=reach, height=0.6, **_hatched(theme))
        for place, end in enumerate(reach):
            beside = {"va": "center", "textcoords": "offset points", "fontsize": SMALL}
            axes.annotate(f"finite up to {number(end, 2)}", (end, place), (-8, 0), ha="right",
                          color=theme.paper, **beside)
            axes.annotate("overflow: inf", (end, place), (10, 0), bbox=patch(theme), **beside)
        put_title(figure, title)

    return draw(paint, width=520, height=120 + 42 * reach.size, alt=alt)


def _reach(values):
    """Return how long the longest bar may be: 1 for weights, so that rows can be compared."""
    if (values >= 0).all() and np.isclose(values.sum(), 1, atol=1e-3):
        return 1.0
    return float(np.abs(values).max(initial=0)) or 1.0


def _paint_rows(axes, labels):
    """Give each row its label, the first on top."""
    axes.set(yticks=range(len(labels)), yticklabels=labels)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0, labelsize=NORMAL)


def _hatched(theme):
    return {"facecolor": theme.paper, "edgecolor": theme.masked, "hatch": HATCH}
