"""Vectors of two features as arrows, and a dot product as a length along one of them."""

import numpy as np
from matplotlib.patches import Arc

from attention_book.figures._fonts import NORMAL, text_width
from attention_book.figures.inputs import (
    check_choice,
    check_labels,
    check_matrix,
    check_text,
    number,
    opening,
)
from attention_book.figures.palette import LINES, SYMBOLS
from attention_book.figures.style import draw, patch, put_title
from attention_book.validation import complain

ROLES = ("query", "key", "value", "text")


def vectors(groups, *, labels=None, title=None, project=None, xlabel="feature 0",
            ylabel="feature 1", alt=None):
    """Draw vectors of two features as arrows from the origin.

    Parameters
    ----------
    groups : dict of str to array_like, (n, 2)
        The vectors of each role: ``"query"``, ``"key"``, ``"value"``, ``"text"``.
    labels : dict of str to sequence of str, optional
        The labels of each role's vectors; role and number if not given.
    title : str, optional
        The finding.
    project : tuple of int, optional
        ``(query, key)``: drop this key onto the line of this query, and mark the angle.
    xlabel, ylabel : str
        What the two features are.
    alt : str, optional
        The text for those who do not see the figure; made from the numbers if not given.

    Returns
    -------
    Picture
    """
    groups = {check_choice("groups", role, ROLES): _check_pairs(role, arrows)
              for role, arrows in groups.items()}
    labels = {role: check_labels(f"labels[{role!r}]", (labels or {}).get(role) or
                                 [f"{role} {place}" for place in range(len(arrows))], len(arrows))
              for role, arrows in groups.items()}
    pair = None if project is None else _check_project(project, groups)
    alt = check_text("alt", alt) or _describe(groups, labels, title, pair)
    limits = _limits(np.concatenate(list(groups.values())), pair,
                     [label for names in labels.values() for label in names])

    def paint(figure, theme):
        axes = figure.add_subplot()
        axes.set(**limits, xlabel=xlabel, ylabel=ylabel, aspect="equal")
        axes.spines[:].set_visible(False)
        axes.axhline(0, color=theme.masked, linewidth=1)
        axes.axvline(0, color=theme.masked, linewidth=1)
        if pair:
            _paint_projection(axes, theme, *pair)
        for role, arrows in groups.items():
            for arrow, label in zip(arrows, labels[role], strict=True):
                _paint_arrow(axes, theme, role, arrow, label)
        put_title(figure, title)

    return draw(paint, width=460, height=480, alt=alt)


def _check_pairs(role, arrows):
    arrows = check_matrix(f"groups[{role!r}]", arrows)
    if arrows.shape[1] != 2:
        complain(ValueError, f"groups[{role!r}]", f"shape {arrows.shape}", "shape (n, 2)",
                 "Only vectors of two features can be drawn.")
    return arrows


def _check_project(project, groups):
    """Return the query and the key that ``project`` names."""
    try:
        query, key = (groups[role][place]
                      for role, place in zip(("query", "key"), project, strict=True))
    except (KeyError, IndexError, TypeError, ValueError):
        complain(ValueError, "project", repr(project), "(query, key), two positions in groups")
    if not query.any() or not key.any():
        complain(ValueError, "project", "a vector of zeros", "vectors that have a direction")
    return query, key


def _describe(groups, labels, title, pair):
    parts = [f"{opening(title)}Arrows from the origin."]
    parts += [f"{label if label.startswith(role) else f'{role} {label}'}: "
              f"({number(x, 2)}, {number(y, 2)})." for role in groups
              for label, (x, y) in zip(labels[role], groups[role], strict=True)]
    return " ".join(parts + ([_say_product(*pair), f"at an angle of {_angle(*pair):.0f}°."]
                             if pair else []))


def _say_product(query, key):
    length, share = np.linalg.norm(query), key @ query / np.linalg.norm(query)
    return (f"length of q × projection of k = {number(length, 2)} × {number(share, 2)} "
            f"= {number(query @ key, 2)} = q·k")


def _angle(query, key):
    """Return the angle between two vectors in degrees."""
    cosine = query @ key / (np.linalg.norm(query) * np.linalg.norm(key))
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


def _foot(query, key):
    return query * (key @ query) / (query @ query)


def _limits(tips, pair, labels):
    """Return limits of one length in x and y, with room for the labels beside the tips."""
    room = min(0.3, (max(map(text_width, labels)) + 36) / 340)  # as a share of the axes
    points = np.vstack([tips, np.zeros(2), *([_foot(*pair)] if pair else [])])
    low, high = points.min(axis=0), points.max(axis=0)
    half = max((high - low).max(), 1e-9) / (2 - 4 * room)
    (left, bottom), (right, top) = (low + high) / 2 - half, (low + high) / 2 + half
    return {"xlim": (left, right), "ylim": (bottom, top)}


def _paint_arrow(axes, theme, role, arrow, label):
    colour = getattr(theme, role)
    axes.annotate("", arrow, (0, 0), arrowprops={
        "arrowstyle": "-|>,head_width=0.35,head_length=0.7", "color": colour, "shrinkA": 0,
        "shrinkB": 0, "linestyle": LINES[role], "linewidth": 2.2})
    x, y = arrow / max(np.linalg.norm(arrow), 1e-300)
    axes.annotate(f"{SYMBOLS[role]} {label}" if role in SYMBOLS else label, arrow, (8 * x, 10 * y),
                  textcoords="offset points", color=colour, bbox=patch(theme),
                  ha="left" if x > 0.3 else "right" if x < -0.3 else "center",
                  va="bottom" if y > 0.3 else "top" if y < -0.3 else "center")


def _paint_projection(axes, theme, query, key):
    foot = _foot(query, key)
    axes.plot(*np.transpose([(0, 0), foot]), color=theme.weight, linewidth=6, alpha=0.55,
              solid_capstyle="butt")
    axes.plot(*np.transpose([key, foot]), color=theme.masked, linewidth=1.2, linestyle=":")
    turns = sorted(np.degrees(np.arctan2(*vector[::-1])) for vector in (query, key))
    if turns[1] - turns[0] > 180:  # the short way round
        turns = [turns[1], turns[0] + 360]
    size = 0.4 * min(np.linalg.norm(query), np.linalg.norm(key))
    axes.add_patch(Arc((0, 0), size, size, theta1=turns[0], theta2=turns[1], color=theme.text))
    middle = np.radians(sum(turns) / 2)
    outwards = np.array([np.cos(middle), np.sin(middle)])
    axes.annotate(f"{_angle(query, key):.0f}°", size / 2 * outwards,
                  (16 if _angle(query, key) > 60 else 34) * outwards,
                  textcoords="offset points", ha="center", va="center", bbox=patch(theme))
    axes.set_title(_say_product(query, key).replace(" = ", "\n= ", 1), loc="left",
                   fontsize=NORMAL, color=theme.weight)
