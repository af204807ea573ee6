"""Several heads over one sentence, and how one wide array is cut into heads and joined again."""

import numpy as np

from attention_book import attention, figures, merge_heads, split_heads
from attention_book.explorables.base import Explorable
from attention_book.explorables.traits import count, count_of, fixed, numbers, one_of

TOKENS = ["Mia", "fed", "the", "cat"]
NOUNS = [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 1.0]]  # human, animal: as in chapter 6
ASKS = 1  # “fed”; the other words ask for nothing
SHAPE = len(TOKENS), 4  # (n, d_model)
CELLS = SHAPE[0] * SHAPE[1]


class Heads(Explorable):
    """One, two or four heads over “Mia fed the cat”, and the split and the merge, cell by cell.

    Keys and values are human and animal, twice side by side; only “fed” asks.

    Attributes
    ----------
    questions : list of 4 floats
        The wide query of “fed”, from −9 to 9: human, animal, human, animal.
    n_heads : int
        1, 2 or 4 heads share the four features.
    way : str
        ``"split"`` or ``"merge"``: which of the two is shown step by step.
    step : int
        How many of the 16 cells have been carried over.
    weights : ndarray, (n_heads, 4, 4)
        As shown.
    received : ndarray, (4,)
        The mixtures of “fed”, the heads' parts side by side.
    wide, split : ndarray, (4, 4) and (n_heads, 4, 4 // n_heads)
        The array that is split: tens tell the token, ones the feature.
    """

    kind = "heads"
    caption = ("Change what “fed” asks for: each head finds its own word, and the mixtures stand "
               "side by side. Below, carry an array over to the heads or back, cell by cell.")
    questions = numbers([6.0, 0.0, 0.0, 6.0], least=-9, most=9)
    n_heads = count_of(2, 1, 4)
    way = one_of("split", "merge")
    step = count(6, least=0, most=CELLS)
    tokens, nouns, asks = fixed(TOKENS), fixed(NOUNS), fixed(ASKS)

    @property
    def weights(self):
        return self._attend()[1]

    @property
    def received(self):
        return merge_heads(self._attend()[0])[ASKS]

    @property
    def wide(self):
        return 10.0 * np.arange(SHAPE[0])[:, None] + np.arange(SHAPE[1])

    @property
    def split(self):
        return split_heads(self.wide, self.n_heads)

    def picture(self):
        """Return each head's weights, and the array before and after the split."""
        named = {"rows": TOKENS, "columns": TOKENS}
        weights = figures.matrices([
            {"values": weights, "title": f"Head {h}, weights"} | named
            for h, weights in enumerate(self.weights)])
        arrays = {"Wide": self.wide} | {f"Split, head {h}": x for h, x in enumerate(self.split)}
        return figures.side_by_side([weights, *(
            figures.matrix(x, kind="text", rows=TOKENS, title=title, decimals=0)
            for title, x in arrays.items())])

    def _attend(self):
        nouns = np.tile(NOUNS, 2)
        q = np.zeros(SHAPE)
        q[ASKS] = self.questions
        q, k, v = (split_heads(x, self.n_heads) for x in (q, nouns, nouns))
        return attention(q, k, v, return_weights=True)
