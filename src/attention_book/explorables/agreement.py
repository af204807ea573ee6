"""Two vectors to drag: how far they agree is their dot product."""

import numpy as np

from attention_book import figures, scores
from attention_book.explorables.base import Explorable
from attention_book.explorables.traits import numbers


class Agreement(Explorable):
    """A query and a key of two features; dot product, cosine and projection follow.

    Attributes
    ----------
    query, key : list of 2 floats
        The vectors, each feature from −3 to 3. Setting them moves the figure, and dragging in the
        figure sets them.
    dot : float
        Their dot product.
    """

    kind = "agreement"
    caption = ("Drag the tips, or use arrow keys or sliders. The dot product is the key's length "
               "along the query, times the query's length.")
    query = numbers([2.0, 1.0], least=-3, most=3)
    key = numbers([1.0, 2.0], least=-3, most=3)

    @property
    def dot(self):
        return scores([self.query], [self.key], scale=1.0).item()

    def picture(self):
        """Return the two arrows and the projection."""
        pair = (0, 0) if np.any(self.query) else None
        return figures.vectors({"query": [self.query], "key": [self.key]}, project=pair,
                               labels={"query": ["query"], "key": ["key"]})
