"""A sentence, and what one of its words draws on."""

from dataclasses import dataclass

import numpy as np
from matplotlib.patches import Arc, FancyBboxPatch, Rectangle

from attention_book.figures._fonts import LARGE, SMALL, text_width, wrapped
from attention_book.figures.cells import EDGE, HATCH, LINE, sheet_of_pixels
from attention_book.figures.inputs import (
    check_allowed,
    check_labels,
    check_text,
    check_vector,
    number,
    opening,
)
from attention_book.figures.palette import SYMBOLS
from attention_book.figures.style import draw
from attention_book.validation import check_count, complain

GAP, ROW = 16, 28  # pixels
ACROSS = 560  # a wider sentence is written downwards, to be read on a phone
BULGE, LOOP = 0.2, 24  # of an arc over its span; the width of an arc from a word to itself


def attention_arcs(tokens, weights, query, *, title=None, mask=None, decimals=2, alt=None):
    """Draw a sentence and, for one of its words, an arc to each word it attends to.

    Parameters
    ----------
    tokens : sequence of str
        The words.
    weights : array_like, (n,)
        How much the query draws on each word, from 0 to 1: the width of the arc, and the number.
    query : int
        Which word attends.
    title : str, optional
        The finding.
    mask : array_like of bool, (n,), optional
        True = may attend; below the others stands "masked".
    decimals : int
        Digits after the point.
    alt : str, optional
        The text for those who do not see the figure; made from the numbers if not given.

    Returns
    -------
    Picture
    """
    weights = check_vector("weights", weights)
    tokens = check_labels("tokens", tokens, weights.size)
    if check_count("query", query) >= weights.size:
        complain(ValueError, "query", query, f"a position from 0 to {weights.size - 1}")
    if not ((weights >= 0) & (weights <= 1)).all():
        complain(ValueError, "weights", "weights outside 0 to 1", "weights from 0 to 1")
    allowed = check_allowed(None if mask is None else np.asarray(mask)[None], (1, weights.size))[0]
    notes = [number(weight, decimals) if free else "masked"
             for weight, free in zip(weights, allowed, strict=True)]
    pairs = ", ".join(f"{token} {note}" for token, note in zip(tokens, notes, strict=True))
    alt = check_text("alt", alt) or (
        f"{opening(title)}In “{' '.join(tokens)}”, “{tokens[query]}” attends to: {pairs}.")
    plan = _plan(tokens, notes, query, title or "")

    def paint(figure, theme):
        axes = sheet_of_pixels(figure, plan)
        for place in np.flatnonzero(allowed & (weights > 0)):
            axes.add_patch(Arc(**plan.arcs[place], color=theme.weight,
                               linewidth=0.6 + 9 * weights[place]))
        for place, token in enumerate(tokens):
            _paint_word(axes, theme, plan, place, token, notes[place])
        _paint_query(axes, theme, plan, tokens[query], query)

    return draw(paint, width=plan.width, height=plan.height, alt=alt, layout=None)


@dataclass(frozen=True)
class Plan:
    """Where everything is, in pixels from the top left corner."""

    width: int
    height: int
    title: str
    words: np.ndarray  # (n, 2), the middle of each word
    notes: np.ndarray  # (n, 2), the middle of its number
    arcs: list  # the arguments of each Arc
    sign: tuple  # where it says "query"


def _plan(tokens, notes, query, title):
    line = _across(tokens, notes, query, title)
    return line if line.width <= ACROSS else _down(tokens, notes, query, title)


def _across(tokens, notes, query, title):
    """Plan the sentence as one line, the arcs above it."""
    rooms = np.array([max(text_width(token, LARGE, "bold") + 8, text_width(note, SMALL))
                      for token, note in zip(tokens, notes, strict=True)])
    rooms[query] = max(rooms[query], text_width(f"{SYMBOLS['query']} query", SMALL))
    ends = EDGE + np.cumsum(rooms + GAP) - GAP
    x = ends - rooms / 2
    width = _width(ends[-1] + EDGE, title)
    heading = wrapped(title, width - 2 * EDGE)
    spans = abs(x - x[query])
    y = _below(heading) + 48 + BULGE * spans.max()
    arcs = [{"xy": ((at + x[query]) / 2, y - 14), "width": span or LOOP,
             "height": 2 * (24 + BULGE * span), "theta1": 180, "theta2": 360}
            for at, span in zip(x, spans, strict=True)]
    return Plan(width, round(y + 66), heading, np.stack([x, 0 * x + y], 1),
                np.stack([x, 0 * x + y + 26], 1), arcs, (x[query], y + 48))


def _down(tokens, notes, query, title):
    """Plan a long sentence as a column, the arcs to its left."""
    longest = max(text_width(token, LARGE, "bold") for token in tokens)
    most = max(text_width(note, SMALL) for note in notes)
    spans = ROW * abs(np.arange(len(tokens)) - query)
    x = EDGE + 28 + BULGE * spans.max()
    note_x = x + longest + 24 + most / 2
    width = _width(note_x + most / 2 + 70 + EDGE, title)
    heading = wrapped(title, width - 2 * EDGE)
    y = _below(heading) + 16 + ROW * np.arange(len(tokens))
    halves = np.array([text_width(token, LARGE) for token in tokens]) / 2
    arcs = [{"xy": (x - 5, (at + y[query]) / 2), "width": 2 * (22 + BULGE * span),
             "height": span or LOOP, "theta1": 90, "theta2": 270}
            for at, span in zip(y, spans, strict=True)]
    return Plan(width, round(y[-1] + 26), heading, np.stack([x + halves, y], 1),
                np.stack([0 * y + note_x, y], 1), arcs, (note_x + most / 2 + 38, y[query]))


def _width(needed, title):
    return round(max(needed, min(340, text_width(title, LARGE, "bold") + 2 * EDGE)))


def _below(heading):
    """Return where the drawing begins, under the title."""
    return EDGE + (LINE * (1 + heading.count("\n")) if heading else 0)


def _paint_word(axes, theme, plan, place, token, note):
    masked = note == "masked"
    if masked:
        half = text_width(token, LARGE, "bold") / 2 + 2
        axes.add_patch(Rectangle(plan.words[place] - (half, 10), 2 * half, 20, hatch=HATCH,
                                 facecolor=theme.paper, edgecolor=theme.rule, linewidth=0))
    axes.text(*plan.words[place], token, fontsize=LARGE, ha="center", va="center_baseline",
              color=theme.masked if masked else theme.text)
    axes.text(*plan.notes[place], note, fontsize=SMALL, ha="center", va="center_baseline",
              color=theme.masked if masked else theme.weight)


def _paint_query(axes, theme, plan, token, query):
    half = text_width(token, LARGE, "bold") / 2 + 2
    axes.add_patch(FancyBboxPatch(plan.words[query] - (half, 10), 2 * half, 20, facecolor="none",
                                  boxstyle="round,pad=2", edgecolor=theme.query, linewidth=2))
    axes.text(*plan.sign, f"{SYMBOLS['query']} query", color=theme.query, fontsize=SMALL,
              ha="center", va="center_baseline")
