"""One word of a sentence asks all of them: scores, weights, and the mixture of their values."""

import numpy as np

from attention_book import attention, figures, scores
from attention_book.explorables.base import Explorable
from attention_book.explorables.traits import count, numbers

TOKENS = ["Mia", "fed", "the", "cat", "because", "it"]
# What the words are, and what is projected: set by hand, as in chapter 4.
X = np.array([[1.0, 0.0, 0.0, 0.0],   # human
              [0.0, 0.0, 1.0, 0.0],   # action
              [0.0, 0.0, 0.0, 0.0],
              [0.0, 1.0, 0.0, 0.0],   # animal
              [0.0, 0.0, 0.0, 0.0],
              [0.0, 0.0, 0.0, 1.0]])  # pronoun
WQ = np.array([[-6.0, 6.0], [0.0, 0.0], [3.0, 3.0], [6.0, 0.0]])  # asks for: animal, human
WK = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [0.0, -1.0]])
WV = np.eye(4)[:, :3]  # hands over: human, animal, action
VALUES = ["human", "animal", "action"]


class Mixing(Explorable):
    """A head over “Mia fed the cat because it”, with vectors that were set by hand.

    Attributes
    ----------
    word : int
        The word that asks, from 0 to 5.
    features : list of 24 floats
        What each word is, word by word: human, animal, action, pronoun, each from −3 to 3.
    x : ndarray, (6, 4)
        The same, a row for each word; set it to change them.
    scores, weights, mixture : ndarray, (6,), (6,), (3,)
        What the chosen word computes: human, animal and action are mixed.
    """

    kind = "mixing"
    caption = ("Choose a word: it scores all words, and takes a mixture of their values. Change "
               "what a word is: with 1 for human, “it” looks for a human, as “she” would.")
    word = count(5, least=0, most=len(TOKENS) - 1)
    features = numbers(X.ravel().tolist(), least=-3, most=3)

    @property
    def x(self):
        return np.reshape(self.features, X.shape)

    @x.setter
    def x(self, rows):
        self.features = np.ravel(rows).tolist()

    @property
    def scores(self):
        return scores(self._query, self.x @ WK)[0]

    @property
    def weights(self):
        return self._head[1][0]

    @property
    def mixture(self):
        return self._head[0][0]

    def picture(self):
        """Return the arcs of the chosen word, and what it receives."""
        token = TOKENS[self.word]
        return figures.side_by_side([
            figures.attention_arcs(TOKENS, self.weights, self.word,
                                   title=f"What “{token}” attends to"),
            figures.bars(self.mixture, VALUES, title=f"The mixture that “{token}” receives",
                         xlabel="strength", role="value", limit=1.0)])

    @property
    def _query(self):
        return self.x[self.word:self.word + 1] @ WQ

    @property
    def _head(self):
        return attention(self._query, self.x @ WK, self.x @ WV, return_weights=True)
