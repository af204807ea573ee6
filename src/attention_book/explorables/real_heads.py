"""Heads of the real model over a text: what each of its tokens looks at."""

import json

import numpy as np

from attention_book import figures
from attention_book.explorables.base import HERE, Explorable
from attention_book.explorables.traits import count, fixed, one_of

STORED = json.loads((HERE / "real_heads.json").read_text(encoding="utf-8"))
LONGEST = max(map(len, STORED["tokens"]))


class RealHeads(Explorable):
    """Six heads of SmolLM2-135M over four texts, with the weights that the model gave, in percent.

    Attributes
    ----------
    text : str
        One of ``data["texts"]``.
    head : str
        A block and a head of it, one of ``data["heads"]``: ``"18.6"``.
    step : int
        The token that looks; the last one, where the text is shorter.
    tokens : list of str
        The text.
    query : int
        The position of the token that looks.
    row : ndarray, (query + 1,)
        The weights on the tokens up to it.
    """

    kind = "real_heads"
    caption = ("Heads of the real model: choose a text and a head, and a token that looks. The "
               "darker a token, the more of the attention it gets.")
    text = one_of(*STORED["texts"])
    head = one_of(*STORED["heads"])
    step = count(LONGEST - 1, least=0, most=LONGEST - 1)
    data = fixed(STORED)

    @property
    def tokens(self):
        return self.data["tokens"][self.data["texts"].index(self.text)]

    @property
    def query(self):
        return min(self.step, len(self.tokens) - 1)

    @property
    def row(self):
        heads = self.data["weights"][self.data["texts"].index(self.text)]
        return np.array(heads[list(self.data["heads"]).index(self.head)][self.query]) / 100

    def picture(self):
        """Return the text with an arc to each token that is looked at."""
        later = np.zeros(len(self.tokens) - self.query - 1)
        title = f"Head {self.head}, {self.data['heads'][self.head]}"
        return figures.attention_arcs(
            [token.strip() for token in self.tokens], np.concatenate([self.row, later]),
            self.query, title=title, mask=np.arange(len(self.tokens)) <= self.query)
