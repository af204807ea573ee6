"""Every figure of the book. Functions of arrays that return a picture; nothing is computed here.

A picture shows itself in a notebook and on the book's pages, in the light and in the dark theme,
and carries a text that says the same.
"""

from attention_book.figures import _fonts  # noqa: F401  (first: it loads Matplotlib's fonts quietly)
from attention_book.figures.arrows import vectors
from attention_book.figures.bar_charts import bars, overflow_ranges
from attention_book.figures.curves import lines
from attention_book.figures.distributions import histograms
from attention_book.figures.experiments import softmax_saturation, variance_against_d
from attention_book.figures.heat_maps import mask_gallery, matrices, matrix
from attention_book.figures.overview import the_map
from attention_book.figures.picture import Picture, side_by_side
from attention_book.figures.sentences import attention_arcs

__all__ = [
    "Picture",
    "attention_arcs",
    "bars",
    "histograms",
    "lines",
    "mask_gallery",
    "matrices",
    "matrix",
    "overflow_ranges",
    "side_by_side",
    "softmax_saturation",
    "the_map",
    "variance_against_d",
    "vectors",
]
