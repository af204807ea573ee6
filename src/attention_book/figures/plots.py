"""Curves, bars and histograms: one idea each, labelled where the reader looks."""

import numpy as np

from attention_book.figures._fonts import DPI, SMALL, text_width
from attention_book.figures.cells import HATCH
from attention_book.figures.inputs import (
    check_allowed,
    check_choice,
    check_labels,
    check_text,
    check_vector,
    number,
    opening,
    rough,
)
from attention_book.figures.palette import LINES, MARKERS
from attention_book.figures.style import draw, put_title
from attention_book.validation import complain

PLAIN_ROLES = ("weight", "text", "masked")  # for curves that are no query, key or value
WIDTH = 520


def lines(x, series, *, title=None, xlabel=None, ylabel=None, log="", roles=None, points=(),
          width=WIDTH, alt=None):
    """Draw curves over ``x``, each with its name at its end.

    Parameters
    ----------
    x : array_like, (n,)
        Where the curves are given.
    series : dict of str to array_like, (n,)
        The name and the heights of each curve; at most six. What is not finite is a gap.
    title : str, optional
        The finding.
    xlabel, ylabel : str, optional
        What the axes measure, with the unit.
    log : str
        Which axes are logarithmic: ``""``, ``"x"``, ``"y"`` or ``"xy"``.
    roles : dict of str to str, optional
        The colour of a curve that has a role: ``"query"``, ``"key"``, ``"value"``, ``"weight"``,
        ``"text"`` or ``"masked"``.
    points : sequence of str
        The names of those drawn as points without a line, such as measurements.
    width : int
        Pixels; the height goes with it.
    alt : str, optional
        The text for those who do not see the figure; made from the numbers if not given.

    Returns
    -------
    Picture
    """
    check_choice("log", log, ("", "x", "y", "xy"))
    x, series = check_vector("x", x), _check_series(x, series, "y" in log)
    if "x" in log and not (x > 0).all():
        complain(ValueError, "x", f"values from {rough(x.min())}", "positive numbers, for log")
    roles = _roles(series, roles)
    for name in points:
        check_choice("points", name, series)
    alt = check_text("alt", alt) or _describe_lines(x, series, title, xlabel, ylabel)

    def paint(figure, theme):
        axes = figure.add_subplot()
        for name, y in series.items():
            role = roles[name]
            axes.plot(x, y, color=getattr(theme, role),
                      linestyle="" if name in points else LINES[role],
                      marker=MARKERS[role] if name in points else "")
        axes.set(xlabel=xlabel, ylabel=ylabel, xscale="log" if "x" in log else "linear",
                 yscale="log" if "y" in log else "linear")
        plain_numbers(axes, log)
        put_title(figure, title)
        _label_ends(figure, axes, x, series, {name: getattr(theme, roles[name]) for name in series})

    return draw(paint, width=width, height=round(0.3 * width + 210), alt=alt)


def bars(values, labels=None, *, title=None, xlabel="weight", mask=None, decimals=2, role="weight",
         alt=None):
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
        places = np.arange(values.size)
        axes.barh(places[allowed], values[allowed], height=0.62, color=getattr(theme, role))
        reach = max(np.abs(values[allowed]).max(initial=0), 1e-300)
        axes.barh(places[~allowed], reach, height=0.62, facecolor=theme.paper,
                  edgecolor=theme.masked, hatch=HATCH)
        for place, value, text in zip(places, np.where(allowed, values, reach), texts, strict=True):
            axes.annotate(text, (max(value, 0), place), xytext=(6, 0), textcoords="offset points",
                          va="center")
        axes.set(yticks=places, yticklabels=labels, xlabel=xlabel,
                 xlim=(min(0, values[allowed].min(initial=0)) * 1.1, reach * 1.18))
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.tick_params(axis="y", length=0, labelsize=11)
        put_title(figure, title)

    return draw(paint, width=520, height=110 + 34 * values.size, alt=alt)


def _check_series(x, series, log):
    """Return the curves, not a number (a gap) where they are not finite or have no logarithm."""
    if not 1 <= len(series) <= 6:
        complain(ValueError, "series", f"{len(series)} curves", "1 to 6")
    curves = {}
    for name, y in series.items():
        y = check_vector(str(name), y, count=np.size(x), finite=False)
        curves[str(name)] = np.where(np.isfinite(y) & ((y > 0) | (not log)), y, np.nan)
    return curves


def plain_numbers(axes, log):
    """Write 10 and 1000, not powers of ten, along a logarithmic axis that is not too long."""
    for letter in log:
        low, high = getattr(axes, f"get_{letter}lim")()
        if low > 1e-4 and high < 1e6:
            axis = getattr(axes, f"{letter}axis")
            axis.set_major_formatter(lambda value, _: f"{value:g}")
            axis.set_minor_formatter(lambda value, _: "")


def _roles(series, roles):
    roles = dict(roles or {})
    for name, role in roles.items():
        check_choice("roles", name, series)
        check_choice(f"roles[{name!r}]", role, LINES)
    free = [role for role in (*PLAIN_ROLES, "query", "key", "value") if role not in roles.values()]
    return {name: roles.get(name) or free.pop(0) for name in series}


def _describe_lines(x, series, title, xlabel, ylabel):
    axes = f"{ylabel or 'y'} over {xlabel or 'x'}, {rough(x[0])} to {rough(x[-1])}"
    start = f"{opening(title)}Curves of {axes}."
    ends = [f"{name}: from {rough(y[0])} to {rough(y[-1])}." for name, y in series.items()]
    return " ".join([start, *ends])


def _label_ends(figure, axes, x, series, colours):
    """Write each curve's name to the right of its last finite point, apart from the others."""
    room = max(text_width(name, SMALL) for name in series) + 14
    width = figure.get_figwidth() * DPI
    figure.get_layout_engine().set(rect=(0, 0, 1 - room / width, 1))
    figure.draw_without_rendering()  # now the places are known
    figure.set_layout_engine("none")
    height = figure.get_figheight() * DPI
    for name, end in _spread(_end_heights(axes, x, series), 18 / height).items():
        axes.annotate(name, (1 - (room - 4) / width, end), xycoords="figure fraction",
                      va="center", color=colours[name], fontsize=SMALL)


def _end_heights(axes, x, series):
    """Return the height, as a share of the figure, at which each curve ends inside the axes."""
    bottom, top = axes.bbox.y0, axes.bbox.y1
    heights = {}
    for name, y in series.items():
        finite = np.flatnonzero(np.isfinite(y))
        end = axes.transData.transform((x[finite[-1]], y[finite[-1]]))[1] if finite.size else top
        heights[name] = float(np.clip(end, bottom, top)) / axes.figure.bbox.height
    return heights


def _spread(heights, gap):
    """Move heights apart until none are closer than ``gap``, and keep their order."""
    names = sorted(heights, key=heights.get)
    groups = []  # names that touch, and the middle of their block
    for name in names:
        groups.append(([name], heights[name]))
        while len(groups) > 1 and _overlap(groups[-2], groups[-1], gap):
            (low, low_middle), (high, high_middle) = groups[-2:]
            both = low + high
            middle = (len(low) * low_middle + len(high) * high_middle) / len(both)
            groups[-2:] = [(both, middle)]
    return {name: middle + gap * (place - (len(group) - 1) / 2)
            for group, middle in groups for place, name in enumerate(group)}


def _overlap(low, high, gap):
    return high[1] - low[1] < gap * (len(low[0]) + len(high[0])) / 2
