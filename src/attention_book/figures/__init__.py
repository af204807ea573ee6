"""Every figure of the book. Functions of arrays that return a picture; nothing is computed here.

A picture shows itself in a notebook and on the book's pages, in the light and in the dark theme,
and carries a text that says the same.
"""

from attention_book.figures import _fonts  # noqa: F401  (first: it loads Matplotlib's fonts quietly)
from attention_book.figures.heat_maps import mask_gallery, matrices, matrix
from attention_book.figures.overview import the_map
from attention_book.figures.picture import Picture, side_by_side
from attention_book.figures.plots import bars, lines

__all__ = [
    "Picture",
    "bars",
    "lines",
    "mask_gallery",
    "matrices",
    "matrix",
    "side_by_side",
    "the_map",
]
