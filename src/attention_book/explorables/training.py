"""A model of two layers while it learns: the loss, and what two of its heads look at."""

import json

import numpy as np

from attention_book import causal_mask, figures
from attention_book.explorables.base import HERE, Explorable
from attention_book.explorables.traits import count, fixed, one_of

STORED = json.loads((HERE / "training_checkpoints.json").read_text(encoding="utf-8"))
HEADS = ("first layer", "second layer")


class Training(Explorable):
    """Checkpoints of a training on repeated sequences, as stored.

    Attributes
    ----------
    step : int
        Which checkpoint, from 0 to 10.
    head : str
        ``"first layer"``, the head that comes to look one token back; ``"second layer"``, the
        induction head.
    steps : int
        How many steps of training had been made.
    loss : float
        The loss then, over what can be known.
    shown : ndarray, (16, 16)
        The weights of the head on a text of 8 letters, twice; zeros in the future.
    expected : ndarray of bool, (16, 16)
        Where such a head looks once it has learnt.
    target : float
        The mean weight there.
    """

    kind = "training"
    caption = ("A model of two layers learns to repeat. Move through its training: the loss falls "
               "suddenly, when the second layer's head looks at what came after the earlier copy.")
    head = one_of("second layer", "first layer")
    step = count(0, least=0, most=len(STORED["steps"]) - 1)
    data = fixed({name: STORED[name] for name in ("text", "period", "every", "losses", "steps",
                                                  "weights")})

    @property
    def steps(self):
        return self.data["steps"][self.step]

    @property
    def loss(self):
        return self.data["losses"][self.steps // self.data["every"]]

    @property
    def shown(self):
        rows = self.data["weights"][self.step][HEADS.index(self.head)]
        return np.array([row + [0] * (len(rows) - len(row)) for row in rows]) / 100

    @property
    def expected(self):
        n, period = len(self.data["text"]), self.data["period"]
        i, j = np.arange(n)[:, None], np.arange(n)
        if self.head == "first layer":
            return j == i - 1
        return (j == i - period + 1) & (i >= period)

    @property
    def target(self):
        return float(self.shown[self.expected].mean())

    def picture(self):
        """Return the weights at this moment."""
        letters = list(self.data["text"])
        return figures.matrix(
            self.shown, rows=letters, columns=letters, mask=causal_mask(len(letters)),
            title=f"{self.head}, after {self.steps} steps",
            alt=f"Weights of a head of the {self.head} after {self.steps} steps, on eight letters "
                f"written twice. It puts {self.target:.2f} of its weight where it will look once "
                f"it has learnt. The loss is {self.loss:.2f}.")
