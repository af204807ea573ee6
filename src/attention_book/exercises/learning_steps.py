"""Exercises on training: what a loss can fall to, and a step of the optimiser to mend."""

import math

import numpy as np

from attention_book.exercises.building_blocks import in_float32
from attention_book.exercises.model import Case, Example, Exercise, Mistake, Step, prediction

CHAPTER = "10_learning_attention"

_rng = np.random.default_rng(101)
_MEANS, _CORRECTION, _STEP = "the running means", "the correction", "the step"

# --- predict_repeated_loss ------------------------------------------------------------------------
PREDICT_REPEATED_LOSS = prediction(
    id="predict_repeated_loss",
    chapter=CHAPTER,
    title="How far the loss can fall",
    signature="a number",
    shapes="",
    prompt="A text has 16 tokens. The first 5 are drawn at random, all different; from there on "
           "the text repeats itself: token t is token t − 5. A model has an ideal induction head: "
           "it finds the earlier copy of its token, and is certain of what came after it. Where "
           "its token has no earlier copy, it guesses, at a loss of log n_vocab. It does not know "
           "the period. How large is its mean loss over the whole text, as a share of "
           "log n_vocab? Write down a number before you run anything.",
    hints=("How many predictions are there in a text of 16 tokens?",
           "At which position t does a token stand for the first time that has an earlier copy? "
           "Which token does the model predict there?",
           "Positions 0 to 4 have no earlier copy. Each of them predicts the token after it. "
           "Divide by the number of predictions."),
    value=1 / 3,
    tolerance=0.005,
    steps=(Step("predictions", "one for each token but the last: 15"),
           Step("guesses", "at positions 0 to 4, which have no earlier copy: 5"),
           Step("the mean", "5/15 = 0.333")),
    mistakes=(
        Mistake(
            id="divided-by-n",
            seen="The guesses were divided by the number of tokens; there is one prediction less.",
            question="Which token comes after the last one?",
            ways=(0.3125, 5 / 16, 0.312),
            step="predictions",
        ),
        Mistake(
            id="knows-the-period",
            seen="The first token of the second copy was counted as known: 4 guesses.",
            question="At position 4 the model sees its token for the first time. What could it "
                     "look up?",
            ways=(4 / 15, 0.2667, 0.267, 0.25),
            step="guesses",
        ),
        Mistake(
            id="one-guess-too-many",
            seen="One guess too many was counted: 6.",
            question="At position 5 stands the token of position 0. Which token came after that?",
            ways=(0.4, 6 / 15, 0.375),
            step="guesses",
        ),
        Mistake(
            id="share-of-the-known",
            seen="This is the share of the predictions that are certain, not that of the guesses.",
            question="How large is the loss where the model is certain and right?",
            ways=(10 / 15, 0.667, 0.6667, 0.6875),
            step="the mean",
        ),
        Mistake(
            id="in-percent",
            seen="The share is right in percent; it is wanted as a part of 1.",
            question="How much is the whole, if half of it is 0.5?",
            ways=(100 / 3, 33.3, 33.33, 33, 33.333),
            step="the mean",
        ),
        Mistake(
            id="nothing-to-guess",
            seen="Everything was taken for known.",
            question="From where could the model know the second token of the text?",
            ways=(0, 0.0),
            step="guesses",
        ),
        Mistake(
            id="guesses-everywhere",
            seen="Everything was taken for guessed, as before training.",
            question="What does an ideal induction head find at position 10?",
            ways=(1, 1.0),
            step="guesses",
        ),
        Mistake(
            id="number-of-guesses",
            seen="The guesses were counted, and not divided by the number of predictions.",
            question="What would the mean loss be if all predictions were guesses?",
            ways=(5, 5.0, 4),
            step="the mean",
        ),
    ),
    variants=(1 / 3, 0.333, 0.33, np.float64(5 / 15)),
)


# --- fault_adam -----------------------------------------------------------------------------------
def fault_adam(w, gradients, rate):
    b1, b2, eps = 0.9, 0.999, 1e-8
    m, s = np.zeros(w.shape), np.zeros(w.shape)
    for t, g in enumerate(gradients, start=1):
        m = b1 * m + (1 - b1) * g
        s = b2 * s + (1 - b2) * g**2
        m_hat = m / (1 - b1**t)
        w = w - rate * m_hat / (np.sqrt(s) + eps)
    return w


def _adam(mean=lambda m, g: 0.9 * m + 0.1 * g, square=lambda s, g: 0.999 * s + 0.001 * g**2,
          m_hat=lambda m, t: m / (1 - 0.9**t), s_hat=lambda s, t: s / (1 - 0.999**t),
          move=lambda m, s: m / (np.sqrt(s) + 1e-8), begin=0):
    """Return Adam, some step of which is done in another way."""
    def steps(w, gradients, rate):
        m, s = np.zeros(w.shape), np.zeros(w.shape)
        for t, g in enumerate(gradients, start=1):
            m, s = mean(m, g), square(s, g)
            w = w - rate * move(m_hat(m, t + begin), s_hat(s, t + begin))
        return w

    return steps


def _solve_adam(w, gradients, rate):
    b1, b2, eps = 0.9, 0.999, 1e-8
    m, s = np.zeros(w.shape), np.zeros(w.shape)
    for t, g in enumerate(gradients, start=1):
        m = b1 * m + (1 - b1) * g
        s = b2 * s + (1 - b2) * g**2
        m_hat, s_hat = m / (1 - b1**t), s / (1 - b2**t)
        w = w - rate * m_hat / (np.sqrt(s_hat) + eps)
    return w


def _reference_adam(w, gradients, rate):
    found = []
    for number, slopes in zip(w.tolist(), gradients.T.tolist(), strict=True):
        m = s = 0.0
        for t, g in enumerate(slopes, start=1):
            m, s = 0.9 * m + 0.1 * g, 0.999 * s + 0.001 * g * g
            number -= rate * (m / (1 - 0.9**t)) / (math.sqrt(s / (1 - 0.999**t)) + 1e-8)
        found.append(number)
    return found


def _adam_in_loops(w, gradients, rate):
    out = np.array(w, dtype=float)
    for j in range(len(out)):
        m = s = 0.0
        for t in range(len(gradients)):
            g = float(gradients[t][j])
            m, s = m + 0.1 * (g - m), s + 0.001 * (g * g - s)
            out[j] -= rate * m / (1 - 0.9 ** (t + 1)) / (
                (s / (1 - 0.999 ** (t + 1))) ** 0.5 + 1e-8)
    return out


def _adam_with_one_rate(w, gradients, rate):
    m = s = 0.0 * w
    for t, g in enumerate(gradients, 1):
        m, s = 0.9 * m + (1 - 0.9) * g, 0.999 * s + (1 - 0.999) * g * g
        root = math.sqrt(1 - 0.999**t)
        w = w - rate * root / (1 - 0.9**t) * m / (np.sqrt(s) + 1e-8 * root)
    return w


def _given(note, n_steps, d, rate, step, size=1.0):
    gradients = (size * _rng.normal(size=(n_steps, d))).round(4)
    return Case((_rng.normal(size=d).round(3), gradients, rate), note, step)


_FIRST, _TWO = _given("one step", 1, 3, 0.1, _CORRECTION), _given(
    "two steps", 2, 5, 0.1, _MEANS)
_SEVEN = _given("seven steps", 7, 3, 0.03, _MEANS)
_SMALL = _given("small gradients", 5, 2, 0.1, _STEP, size=1e-3)

FAULT_ADAM = Exercise(
    id="fault_adam",
    chapter=CHAPTER,
    title="Mend a step of Adam",
    signature="fault_adam(w, gradients, rate)",
    shapes="(d,), (n_steps, d), a number → (d,)",
    prompt="This listing makes a step of Adam with each row of gradients, and returns the weights "
           "after the last one. Its first steps are far too long: in the example the weight should "
           "move by the rate, 0.1, and it moves by more than 3. Find the line at fault and mend "
           "it.",
    hints=("Work out m, s and m_hat of the example by hand: the gradient is 2. What are they?",
           "The running means begin at zero. After one step m is a tenth of the gradient; which "
           "part of the squared gradient is s?",
           "m is divided by 1 − b1 to the power t, because it began at zero. What began at zero as "
           "well?"),
    example=Example((np.array([1.0]), np.array([[2.0]]), 0.1), [0.9]),
    reference=_reference_adam,
    tolerance=(1e-4, 1e-5),
    cases=(
        _FIRST,
        Case((np.array([-0.5]), np.array([[-0.25]]), 0.05), "other numbers of these shapes",
             _CORRECTION),
        _TWO,
        _SEVEN,
        _SMALL,
        Case((np.array([1.0, 2.0]), np.array([[0.0, 1.0], [0.0, -3.0]]), 0.1),
             "a weight without a gradient", _STEP),
    ),
    naming=(_FIRST, _TWO, _SEVEN, _SMALL),
    mistakes=(
        Mistake(
            id="square-not-corrected",
            seen="The mean of the squares is used as it is, although it began at zero: it is far "
                 "too small at first.",
            question="After one step, which part of the squared gradient is s?",
            ways=(fault_adam, _adam(s_hat=lambda s, t: s)),
            step=_CORRECTION,
        ),
        Mistake(
            id="nothing-corrected",
            seen="Neither of the running means is corrected for having begun at zero.",
            question="The example should move by the rate itself. Which two factors are off?",
            ways=(_adam(m_hat=lambda m, t: m, s_hat=lambda s, t: s),
                  _adam(mean=lambda m, g: m + 0.1 * (g - m), m_hat=lambda m, t: m,
                        s_hat=lambda s, t: s)),
            step=_CORRECTION,
        ),
        Mistake(
            id="mean-not-corrected",
            seen="The mean of the squares is corrected now, and the mean of the gradients no more.",
            question="Was m_hat at fault?",
            ways=(_adam(m_hat=lambda m, t: m),
                  _adam(mean=lambda m, g: m + 0.1 * (g - m), m_hat=lambda m, t: m)),
            step=_CORRECTION,
        ),
        Mistake(
            id="same-beta-for-both",
            seen="Both means are corrected with the same factor, although one forgets more slowly.",
            question="By how much is s multiplied at each step, and by how much is m?",
            ways=(_adam(s_hat=lambda s, t: s / (1 - 0.9**t)),
                  _adam(m_hat=lambda m, t: m / (1 - 0.999**t)),
                  _adam(mean=lambda m, g: 0.999 * m + 0.001 * g,
                        m_hat=lambda m, t: m / (1 - 0.999**t))),
            step=_CORRECTION,
        ),
        Mistake(
            id="correction-stands-still",
            seen="The correction is that of the first step, at every step.",
            question="After very many steps, how much correction is still needed?",
            ways=(_adam(s_hat=lambda s, t: s / (1 - 0.999)),
                  _adam(m_hat=lambda m, t: m / (1 - 0.9), s_hat=lambda s, t: s / (1 - 0.999))),
            step=_CORRECTION,
        ),
        Mistake(
            id="counts-wrongly",
            seen="The steps are not counted from 1.",
            question="What is 1 − b2 to the power t in the first step?",
            ways=(_adam(begin=1), _adam(s_hat=lambda s, t: s / (1 - 0.999 ** (t + 1)))),
            step=_CORRECTION,
        ),
        Mistake(
            id="correction-outside-root",
            seen="The root is divided by the correction; it belongs to the square under the root.",
            question="Which comes first: the correction of s, or its root?",
            ways=(_adam(s_hat=lambda s, t: s / (1 - 0.999**t) ** 2),
                  _adam(s_hat=lambda s, t: (np.sqrt(s) / (1 - 0.999**t)) ** 2)),
            step=_CORRECTION,
        ),
        Mistake(
            id="no-root",
            seen="The step is divided by the mean of the squares itself, without its root.",
            question="If all gradients double, should the step change?",
            ways=(_adam(move=lambda m, s: m / (s + 1e-8)), _adam(
                move=lambda m, s: m / np.maximum(s, 1e-30))),
            step=_STEP,
        ),
        Mistake(
            id="gradients-not-squared",
            seen="s is a running mean of the gradients or of their sizes, not of their squares.",
            question="What does s average?",
            ways=(_adam(square=lambda s, g: 0.999 * s + 0.001 * g),
                  _adam(square=lambda s, g: 0.999 * s + 0.001 * np.abs(g))),
            step=_MEANS,
        ),
        Mistake(
            id="uphill",
            seen="The weights move with the gradient, towards a larger loss.",
            question="If the gradient of a weight is above 0, should the weight grow?",
            ways=(_adam(move=lambda m, s: -m / (np.sqrt(s) + 1e-8)),
                  lambda w, gradients, rate: _solve_adam(w, -gradients, rate)),
            step=_STEP,
        ),
        Mistake(
            id="no-division",
            seen="The step is the rate times the mean of the gradients: nothing is divided.",
            question="How long is a step, if all gradients are a thousand times as small?",
            ways=(_adam(move=lambda m, s: m), _adam(move=lambda m, s: m / (1 + 1e-8))),
            step=_STEP,
        ),
    ),
    variants=(_adam(), _adam_in_loops, _adam_with_one_rate, in_float32(_solve_adam)),
    solution=_solve_adam,
    faulty=fault_adam,
)
