"""Measure text, in the one font that comes with Matplotlib: figures are the same everywhere."""

import logging
from functools import cache
from importlib import import_module

FONT = "DejaVu Sans"
SMALL, NORMAL, LARGE = 10, 11, 12  # points
DPI = 100


def _load_quietly():
    """Import Matplotlib's fonts; at its first run it reports on stderr that it looks for them."""
    log = logging.getLogger("matplotlib.font_manager")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        return import_module("matplotlib.font_manager"), import_module("matplotlib.textpath")
    finally:
        log.setLevel(level)


_font_manager, _textpath = _load_quietly()


@cache
def text_width(text, size=NORMAL, weight="normal"):
    """Return how many pixels wide ``text`` is at ``size`` points."""
    font = _font_manager.FontProperties(family=FONT, size=size, weight=weight)
    measure = _textpath.text_to_path.get_text_width_height_descent
    return max(measure(line, font, False)[0] for line in text.split("\n")) * DPI / 72


def wrapped(text, width, size=LARGE, weight="bold"):
    """Break ``text`` into lines of at most ``width`` pixels; a longer word has its own line."""
    lines = []
    for word in text.split():
        if lines and text_width(f"{lines[-1]} {word}", size, weight) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return "\n".join(lines)
