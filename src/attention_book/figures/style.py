"""How Matplotlib draws for the book: one style, both themes, and nothing left changed behind."""

from dataclasses import astuple

import matplotlib.style
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from attention_book.figures._fonts import DPI, FONT, LARGE, NORMAL, SMALL, wrapped
from attention_book.figures.palette import DARK, LIGHT
from attention_book.figures.picture import Panel, Picture
from attention_book.figures.png import to_png

SHARPNESS = 2  # pixels of the image for each pixel of the page: phones have two or three


def style(theme):
    """Return a context in which Matplotlib draws in the book's style, whatever was set before."""
    return matplotlib.style.context(["default", {
        "font.family": FONT,
        "font.size": NORMAL,
        "figure.dpi": SHARPNESS * DPI,
        "figure.facecolor": theme.paper,
        "axes.facecolor": theme.paper,
        "axes.edgecolor": theme.masked,
        "axes.labelcolor": theme.text,
        **dict.fromkeys(["axes.spines.top", "axes.spines.right"], False),
        "axes.axisbelow": True,
        "axes.grid": True,
        "grid.color": theme.rule,
        "grid.linewidth": 0.6,
        "text.color": theme.text,
        **dict.fromkeys(["xtick.color", "ytick.color"], theme.masked),
        **dict.fromkeys(["xtick.labelcolor", "ytick.labelcolor"], theme.text),
        **dict.fromkeys(["xtick.labelsize", "ytick.labelsize"], SMALL),
        "lines.linewidth": 2,
        "lines.markersize": 6,
        "hatch.linewidth": 0.8,
        "figure.constrained_layout.h_pad": 0.08,
        "figure.constrained_layout.w_pad": 0.08,
    }])


def draw(paint, *, width, height, alt, layout="constrained"):
    """Return the picture that ``paint(figure, theme)`` draws, ``width`` by ``height`` pixels."""
    light, dark = (_png(paint, theme, width, height, layout) for theme in (LIGHT, DARK))
    return Picture((Panel(alt, width, height, light, dark),))


def put_title(figure, title):
    """Write the finding above everything, from the left edge, in as many lines as it needs."""
    if title:
        width = figure.get_figwidth() * DPI
        figure.suptitle(wrapped(title, width - 24), x=10 / width, ha="left", fontsize=LARGE,
                        fontweight="bold")


def patch(theme):
    """Return the ground on which a label stands, so that no line runs through it."""
    return {"facecolor": theme.paper, "edgecolor": "none", "pad": 1.5}


def _png(paint, theme, width, height, layout):
    inches = (width + 1e-3) / DPI, (height + 1e-3) / DPI  # or the last pixel is rounded away
    with style(theme):
        canvas = FigureCanvasAgg(Figure(figsize=inches, layout=layout))
        paint(canvas.figure, theme)
        canvas.draw()
    return to_png(Image.fromarray(np.asarray(canvas.buffer_rgba())), astuple(theme))
