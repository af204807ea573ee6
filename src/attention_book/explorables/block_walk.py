"""One token's vector on its way through a block: what each part adds, and what is lost without."""

import numpy as np

from attention_book import causal_mask, feed_forward, figures, multi_head_attention, rms_norm
from attention_book.explorables.base import Explorable
from attention_book.explorables.traits import count, fixed, flag, one_of
from attention_book.positions import rotary

SUBJECTS, BASE = ("cats", "dogs"), 100.0
FEATURES = ["always 1", "is cats", "is dogs", "is like", "after cats", "after dogs", "after like",
            "next milk", "next bones"]
STATIONS = ["x", "norm", "finds", "sum", "norm", "adds", "sum"]


def _by_hand():
    """Return a block that knows what cats and dogs like: a head one back, and two hidden units."""
    d_model, d_head = len(FEATURES), 4
    wq, wk, wv = np.zeros((3, d_model, d_head))
    wo, gate, up = np.zeros((d_head, d_model)), np.zeros((d_model, 2)), np.zeros((d_model, 2))
    look = np.tile([1.0, 0.0], d_head // 2)
    wq[0], wk[0] = 12 * rotary(look[None], [-1], BASE)[0], look
    wv[1:4, :3] = np.eye(3)
    wo[:3, 4:7] = np.eye(3) * 4.5**-0.5  # undoes the norm
    gate[0], gate[3], up[0] = -15, 10, 1
    gate[4:6] = 10 * np.eye(2)
    down = np.zeros((2, d_model))
    down[:, 7:] = np.eye(2) / 15
    weights = {"wq": wq, "wk": wk, "wv": wv, "wo": wo, "gate": gate, "up": up, "down": down}
    return {name: w.round(6).tolist() for name, w in weights.items()}


class BlockWalk(Explorable):
    """The last token of “cats like” or “dogs like” in a block whose weights were set by hand.

    Attributes
    ----------
    subject : str
        The first word: ``"cats"`` or ``"dogs"``.
    step : int
        How many stations are passed, from 0 to 6.
    norms, attention, feed_forward, residual : bool
        Which parts the block has. Without the residual a part replaces what came.
    stations : ndarray, (9, 7)
        A row for each feature of the vector, a column for each station.
    """

    kind = "block_walk"
    caption = ("Follow the vector of “like” through a block, station by station: at the end it "
               "holds what comes next. Then leave a part out, and see what is missing.")
    subject = one_of(*SUBJECTS)
    step = count(0, least=0, most=6)
    norms = flag(True)
    attention = flag(True)
    feed_forward = flag(True)
    residual = flag(True)
    weights = fixed(_by_hand())

    @property
    def stations(self):
        w = {name: np.array(rows) for name, rows in self.weights.items()}
        x = np.zeros((2, len(FEATURES)))
        x[:, 0] = x[0, 1 + SUBJECTS.index(self.subject)] = x[1, 3] = 1
        normed = self._norm(x)
        found = self.attention * multi_head_attention(
            normed, w["wq"], w["wk"], w["wv"], w["wo"], n_heads=1, mask=causal_mask(2),
            rotate=lambda heads, positions: rotary(heads, positions, BASE))
        middle = self.residual * x + found
        read = self._norm(middle)
        made = self.feed_forward * feed_forward(read, w["gate"], w["up"], w["down"])
        after = self.residual * middle + made
        return np.stack([x, normed, found, middle, read, made, after], axis=-1)[1]

    def picture(self):
        """Return all stations, a column for each: on paper nobody walks."""
        return figures.matrix(
            self.stations, kind="scores", rows=FEATURES,
            columns=[f"{i} {name}" for i, name in enumerate(STATIONS)],
            title=f"The vector of “like” after “{self.subject}”", down="features",
            across="stations")

    def _norm(self, x):
        return rms_norm(x, np.ones(x.shape[-1])) if self.norms else x
