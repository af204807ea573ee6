"""Every figure of the book. Functions of arrays that return a picture; nothing is computed here.

A picture shows itself in a notebook and on the book's pages, in the light and in the dark theme,
and carries a text that says the same.
"""

from importlib import import_module

from attention_book.figures.overview import the_map
from attention_book.figures.picture import Picture, side_by_side

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

# What Matplotlib draws, and the module that has it. Matplotlib takes seconds to load in a browser,
# so it waits until the first of these is used; the map at the head of a chapter does without.
_DRAWN = {
    "attention_arcs": "sentences",
    "bars": "bar_charts",
    "histograms": "distributions",
    "lines": "curves",
    "mask_gallery": "heat_maps",
    "matrices": "heat_maps",
    "matrix": "heat_maps",
    "overflow_ranges": "bar_charts",
    "softmax_saturation": "experiments",
    "variance_against_d": "experiments",
    "vectors": "arrows",
}


def __getattr__(name):
    if name not in _DRAWN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import_module(f"{__name__}._fonts")  # first: it loads Matplotlib's fonts quietly
    return getattr(import_module(f"{__name__}.{_DRAWN[name]}"), name)


def __dir__():
    return __all__
