"""Curves: each with its name where the reader looks, at its end."""

import numpy as np

from attention_book.figures._fonts import DPI, SMALL, text_width
from attention_book.figures.inputs import (
    check_choice,
    check_text,
    check_vector,
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
            few = high / low < 100  # then 0.2 and 0.5 are written too
            axis.set_minor_formatter(
                lambda value, _, few=few: f"{value:g}" if few and f"{value:e}"[0] in "25" else "")


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
