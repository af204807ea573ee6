"""The exercises of the chapter on a real model: what heads look at, and heads switched off."""

import math

import numpy as np

import attention_book
from attention_book.exercises.building_blocks import in_float32
from attention_book.exercises.model import Case, Example, Exercise, Mistake, Step, prediction
from attention_book.exercises.stages import Stage, sets

CHAPTER = "11_real_model"

_rng = np.random.default_rng(11)
_PLACE, _TOKENS, _MEAN = "the place looked at", "the tokens that count", "the mean"
_JOINED, _SWITCHED = "the joined heads", "the features that are switched off"


def _weights(n):
    """Draw the weights of a causal head; each row sums to one."""
    drawn = np.tril(_rng.random((n, n)) ** 2 + 0.02)
    return (drawn / drawn.sum(axis=1, keepdims=True)).round(4)


def _steady(n, back):
    """Return weights that are the same for every token at that distance, and nowhere else so."""
    weights = np.tril(np.full((n, n), 0.5))
    rows = np.arange(back, n)
    weights[rows, rows - back] = 0.25
    return weights


def _mean_at(place, first=lambda period: period, divide=None, gather=None):
    """Return a score, some step of which is done in another way."""
    def score(weights, period):
        n = len(weights)
        rows = np.arange(first(period), n)
        found = (gather or (lambda w, i, j: w[i, j]))(weights, rows, place(rows, period))
        return found.sum() / (divide(n, period) if divide else len(rows))

    return score


def _target(rows, period):
    return rows - period + 1


def _share_of_hits(weights, rows, columns):
    return (weights[rows].argmax(axis=1) == columns).astype(float)


# --- induction_score(weights, period) -------------------------------------------------------------
def _solve_induction_score(weights, period):
    rows = np.arange(period, len(weights))  # the tokens with an earlier copy
    return weights[rows, rows - period + 1].mean()


def _induction_loop(weights, period):
    total, count = 0.0, 0
    for t, row in enumerate(weights):
        if t >= period:
            total += row[t - period + 1]
            count += 1
    return total / count


def _second_copy(weights, period):
    return np.mean([weights[t, t - period + 1] for t in range(period, 2 * period)])


def _reference_induction(weights, period):
    n = len(weights)
    return math.fsum(float(weights[t][t - period + 1]) for t in range(period, n)) / (n - period)


_PERIOD_5, _PERIOD_7 = Case((_weights(13), 5), "13 tokens, period 5", _TOKENS), Case(
    (_weights(17), 7), "17 tokens, period 7", _TOKENS)
_TWO_COPIES = Case((_weights(10), 5), "two whole copies of 5 tokens", _TOKENS)
_STEADY = Case((_steady(6, 4), 5), "one token with an earlier copy", _PLACE)
_LONG = Case((_weights(29), 6), "29 tokens, period 6", _TOKENS)

_INDUCTION = Exercise(
    id="induction_score",
    chapter=CHAPTER,
    title="How much a head copies",
    signature="induction_score(weights, period)",
    shapes="(n, n), a whole number → a number",
    prompt="A text repeats itself: token t is the same as token t − period. weights are those of "
           "one causal head over it, and row t says how token t spreads its attention. A head that "
           "copies looks at what came after the earlier copy of its token, which is at position "
           "t − period + 1. Write induction_score(weights, period): the mean weight there, over "
           "all tokens that have an earlier copy. The period is at least 2 and smaller than n. In "
           "the example the text is “a b c a b”, and tokens 3 and 4 count.",
    hints=("In “a b c a b” with period 3, which token comes after the earlier copy of token 3?",
           "Which is the first t that has an earlier copy? How many such t are there, for n "
           "tokens?",
           "Take weights[t, t − period + 1] for t from period to n − 1, and their mean."),
    example=Example((np.array([[1, 0, 0, 0, 0], [0.5, 0.5, 0, 0, 0], [0.25, 0.25, 0.5, 0, 0],
                               [0.25, 0.5, 0.25, 0, 0], [0, 0.25, 0.5, 0.125, 0.125]]), 3), 0.5),
    reference=_reference_induction,
    cases=(
        _STEADY,
        Case((_weights(7), 6), "period 6, one token with an earlier copy", _TOKENS),
        Case((_weights(5), 3), "other weights of this shape", _TOKENS),
        _TWO_COPIES,
        _PERIOD_5,
        _PERIOD_7,
        _LONG,
        Case((np.eye(11, k=-4), 5), "a head that does nothing but copy", _TOKENS),
        Case((np.eye(11), 5), "a head that looks at itself", _PLACE),
        Case((_weights(7), 2), "period 2", _TOKENS),
    ),
    naming=(_STEADY, _TWO_COPIES, _PERIOD_5, _PERIOD_7, _LONG),
    mistakes=(
        Mistake(
            id="previous-token",
            seen="The weight on the token just before is taken.",
            question="How far back is the earlier copy, and is the token after it the one just "
                     "before t?",
            ways=(_mean_at(lambda rows, period: rows - 1),
                  _mean_at(lambda rows, period: rows - 1, first=lambda period: 1),
                  lambda weights, period: np.diagonal(weights, -1).sum() / len(weights)),
            step=_PLACE,
        ),
        Mistake(
            id="same-token",
            seen="The weight on the earlier copy itself is taken.",
            question="What helps to say what comes next: the same word, or the word that came "
                     "after it?",
            ways=(_mean_at(lambda rows, period: rows - period),
                  lambda weights, period: np.trace(weights, -period) / len(weights)),
            step=_PLACE,
        ),
        Mistake(
            id="off-by-one",
            seen="The weight two places after the earlier copy is taken.",
            question="If the earlier copy is at position 4, where is the token that came after it?",
            ways=(_mean_at(lambda rows, period: rows - period + 2),
                  lambda weights, period: np.diagonal(weights, 2 - period)[2:].mean()),
            step=_PLACE,
        ),
        Mistake(
            id="before-the-copy",
            seen="The weight on the token before the earlier copy is taken.",
            question="Does t − period − 1 come before the earlier copy, or after it?",
            ways=(_mean_at(lambda rows, period: rows - period - 1, lambda period: period + 1),
                  _mean_at(lambda rows, period: rows - period - 1),
                  _mean_at(lambda rows, period: np.maximum(rows - period - 1, 0)),
                  lambda weights, period: np.diagonal(weights, -period - 1).mean()),
            step=_PLACE,
        ),
        Mistake(
            id="looks-at-itself",
            seen="The weight of each token on itself is taken.",
            question="Which column of row t belongs to the token after the earlier copy?",
            ways=(_mean_at(lambda rows, period: rows),
                  lambda weights, period: np.diagonal(weights).mean()),
            step=_PLACE,
        ),
        Mistake(
            id="queries-keys-swapped",
            seen="Rows and columns have changed places: what is taken lies in the future, and is "
                 "zero.",
            question="Does row t of the weights say where t looks, or who looks at t?",
            ways=(_mean_at(_target, gather=lambda w, rows, columns: w[columns, rows]),
                  lambda weights, period: np.diagonal(weights, period - 1).mean(),
                  lambda weights, period: np.diagonal(weights, period).mean()),
            step=_PLACE,
        ),
        Mistake(
            id="first-copy-counted",
            seen="One token more is counted: the last one of the first copy, which has no earlier "
                 "copy.",
            question="How many tokens lie before the first one that has an earlier copy, and how "
                     "long is the diagonal that you take?",
            ways=(lambda weights, period: np.diagonal(weights, 1 - period).mean(),
                  _mean_at(_target, lambda period: period - 1)),
            step=_TOKENS,
        ),
        Mistake(
            id="starts-late",
            seen="The first token that has an earlier copy is left out.",
            question="With period 5, does token 5 have an earlier copy?",
            ways=(_mean_at(_target, lambda period: period + 1, lambda n, period: max(
                      n - period - 1, 1)),
                  lambda weights, period: np.diagonal(weights, 1 - period)[2:].sum()
                  / (len(weights) - period)),
            step=_TOKENS,
        ),
        Mistake(
            id="second-copy-only",
            seen="Only the second copy counts; what follows it is left out.",
            question="Does a token of the third copy have an earlier one?",
            ways=(_second_copy, lambda weights, period: np.diagonal(
                      weights, 1 - period)[1:1 + period].mean(),
                  lambda weights, period: np.diagonal(
                      weights, 1 - period)[1:1 + period].sum() / period),
            step=_TOKENS,
        ),
        Mistake(
            id="divided-by-n",
            seen="The sum is divided by the number of all tokens.",
            question="How many weights have you added up?",
            ways=(_mean_at(_target, divide=lambda n, period: n),
                  _mean_at(_target, lambda period: period - 1, lambda n, period: n),
                  lambda weights, period: np.mean([weights[t, t - period + 1] for t in range(
                      len(weights))])),
            step=_MEAN,
        ),
        Mistake(
            id="divided-by-period",
            seen="The sum is divided by the period.",
            question="Are there always as many tokens with an earlier copy as the period has?",
            ways=(_mean_at(_target, divide=lambda n, period: period),
                  _mean_at(_target, lambda period: period - 1, lambda n, period: period)),
            step=_MEAN,
        ),
        Mistake(
            id="sum-not-mean",
            seen="The weights are added up, and not divided by their number.",
            question="What should a head get that does nothing but copy, for any n?",
            ways=(_mean_at(_target, divide=lambda n, period: 1),
                  lambda weights, period: np.trace(weights, 1 - period)),
            step=_MEAN,
        ),
        Mistake(
            id="share-of-hits",
            seen="Tokens are counted whose highest weight is at that place; how high it is does "
                 "not matter.",
            question="What should a head get that puts 0.4 there, and less everywhere else?",
            ways=(_mean_at(_target, gather=_share_of_hits),
                  _mean_at(_target, lambda period: period - 1, gather=_share_of_hits)),
            step=_MEAN,
        ),
        Mistake(
            id="highest-anywhere",
            seen="The highest weight of each row is taken, wherever it is.",
            question="Which column of each row do you look into?",
            ways=(_mean_at(_target, gather=lambda w, rows, columns: w[rows].max(axis=1)),
                  lambda weights, period: weights.max(axis=1).mean()),
            step=_PLACE,
        ),
    ),
    variants=(
        _induction_loop,
        lambda weights, period: np.diagonal(weights, 1 - period)[1:].mean(),
        lambda weights, period: np.trace(weights[period:, 1:]) / (len(weights) - period),
        lambda weights, period: float(np.sum(weights * np.eye(len(weights), k=1 - period), axis=1)[
            period:].mean()),
        in_float32(_solve_induction_score),
    ),
    solution=_solve_induction_score,
    stages=(
        Stage(sets("rows", lambda t: np.arange(t.args[1], len(t.args[0]))), (
            (("first-copy-counted",), sets("rows", lambda t: np.arange(t.args[1] - 1,
                                                                       len(t.args[0])))),)),
        Stage(sets("columns", lambda t: t.rows - t.args[1] + 1), (
            (("previous-token",), sets("columns", lambda t: t.rows - 1)),
            (("same-token",), sets("columns", lambda t: np.maximum(t.rows - t.args[1], 0))),
            (("off-by-one",), sets("columns", lambda t: t.rows - t.args[1] + 2)))),
        Stage(sets("found", lambda t: t.args[0][t.rows, t.columns]), ()),
        Stage(sets("result", lambda t: t.found.mean()), (
            (("sum-not-mean",), sets("result", lambda t: t.found.sum())),
            (("divided-by-n",), sets("result", lambda t: t.found.sum() / len(t.args[0]))))),
    ),
    package=(attention_book.induction_score,),
)


# --- previous_token_score(weights) ----------------------------------------------------------------
def _before(place, first=1, divide=None, gather=None):
    """Return a score without a period, made as :func:`_mean_at` makes one with it."""
    score = _mean_at(lambda rows, _: place(rows), lambda _: first,
                     (lambda n, _: divide(n)) if divide else None, gather)
    return lambda weights: score(weights, 1)


def _solve_previous_token_score(weights):
    rows = np.arange(1, len(weights))  # the first token has none before it
    return weights[rows, rows - 1].mean()


def _previous_loop(weights):
    found = []
    for t in range(1, len(weights)):
        found.append(weights[t][t - 1])
    return sum(found) / len(found)


def _reference_previous(weights):
    n = len(weights)
    return math.fsum(float(weights[t][t - 1]) for t in range(1, n)) / (n - 1)


_PAIR = Case((np.array([[1.0, 0], [0.7, 0.3]]), ), "two tokens", _PLACE)
_FIVE, _SEVEN, _ELEVEN = (Case((_weights(n),), f"{n} tokens", step)
                          for n, step in ((5, _TOKENS), (7, _TOKENS), (11, _MEAN)))

_PREVIOUS = Exercise(
    id="previous_token_score",
    chapter=CHAPTER,
    title="How much a head looks one token back",
    signature="previous_token_score(weights)",
    shapes="(n, n) → a number",
    prompt="weights are those of one causal head over a text of n tokens, and row t says how token "
           "t spreads its attention. Write previous_token_score(weights): the mean weight on the "
           "token just before, over all tokens that have one before them. n is at least 2. In the "
           "example tokens 1 and 2 count, with 0.5 and 1.",
    hints=("Which column of row t belongs to the token just before?",
           "The first token has none before it. How many weights are there to average, for n "
           "tokens?",
           "They are the diagonal below the main one: weights[1, 0], weights[2, 1] and so on."),
    example=Example((np.array([[1.0, 0, 0], [0.5, 0.5, 0], [0, 1, 0]]),), 0.75),
    reference=_reference_previous,
    cases=(
        _PAIR,
        Case((_weights(3),), "other weights of this shape", _TOKENS),
        _FIVE,
        _SEVEN,
        _ELEVEN,
        Case((np.eye(7, k=-1),), "a head that looks nowhere else", _TOKENS),
        Case((np.eye(5),), "a head that looks at itself", _PLACE),
        Case((np.eye(13)[[0] * 13],), "a head that looks at the first token", _PLACE),
    ),
    naming=(_PAIR, _FIVE, _SEVEN, _ELEVEN),
    mistakes=(
        Mistake(
            id="diagonal",
            seen="The weight of each token on itself is taken.",
            question="Which token does column t belong to?",
            ways=(_before(lambda rows: rows, first=0), _before(lambda rows: rows),
                  lambda weights: np.trace(weights) / (len(weights) - 1)),
            step=_PLACE,
        ),
        Mistake(
            id="next-token",
            seen="The weight on the token after is taken, or rows and columns have changed places: "
                 "a causal head has zeros there.",
            question="Does the diagonal that you take lie below the main one, or above it?",
            ways=(_before(lambda rows: rows, gather=lambda w, rows, _: w[rows - 1, rows]),
                  lambda weights: np.diagonal(weights, 1).mean()),
            step=_PLACE,
        ),
        Mistake(
            id="first-token",
            seen="The weight on the first token of the text is taken.",
            question="Which column belongs to the token just before token 4?",
            ways=(_before(lambda rows: 0 * rows), _before(lambda rows: 0 * rows, first=0)),
            step=_PLACE,
        ),
        Mistake(
            id="two-back",
            seen="The weight two tokens back is taken.",
            question="How far below the main diagonal do you look?",
            ways=(_before(lambda rows: rows - 2, first=2, divide=lambda n: max(n - 2, 1)),
                  _before(lambda rows: rows - 2),
                  lambda weights: np.diagonal(weights, -2).sum() / (len(weights) - 1),
                  _before(lambda rows: rows - 2, first=2)),
            step=_PLACE,
        ),
        Mistake(
            id="divided-by-n",
            seen="The sum is divided by the number of all tokens, the first one included.",
            question="How many weights have you added up?",
            ways=(_before(lambda rows: rows - 1, divide=lambda n: n),
                  lambda weights: np.mean([weights[t, t - 1] for t in range(len(weights))])),
            step=_MEAN,
        ),
        Mistake(
            id="sum-not-mean",
            seen="The weights are added up, and not divided by their number.",
            question="What should a head get that looks nowhere else, for any n?",
            ways=(_before(lambda rows: rows - 1, divide=lambda n: 1),
                  lambda weights: np.trace(weights, -1)),
            step=_MEAN,
        ),
        Mistake(
            id="share-of-hits",
            seen="Tokens are counted whose highest weight is on the token before; how high it is "
                 "does not matter.",
            question="What should a head get that puts 0.4 there, and less everywhere else?",
            ways=(_before(lambda rows: rows - 1, gather=_share_of_hits),
                  _before(lambda rows: rows - 1, gather=_share_of_hits, divide=lambda n: n)),
            step=_MEAN,
        ),
        Mistake(
            id="highest-anywhere",
            seen="The highest weight of each row is taken, wherever it is.",
            question="Which column of each row do you look into?",
            ways=(lambda weights: weights[1:].max(axis=1).mean(),
                  lambda weights: weights.max(axis=1).mean()),
            step=_PLACE,
        ),
        Mistake(
            id="all-before",
            seen="The weights on all earlier tokens are taken together.",
            question="How many columns of row t belong to the token just before?",
            ways=(lambda weights: np.tril(weights, -1).sum() / (len(weights) - 1),
                  lambda weights: np.tril(weights, -1).sum() / len(weights),
                  lambda weights: np.mean([row[:t].mean() for t, row in enumerate(weights) if t])),
            step=_PLACE,
        ),
    ),
    variants=(
        _previous_loop,
        lambda weights: np.diagonal(weights, -1).mean(),
        lambda weights: np.trace(weights[1:]) / (len(weights) - 1),
        in_float32(_solve_previous_token_score),
    ),
    solution=_solve_previous_token_score,
    package=(attention_book.previous_token_score,),
)


# --- predict_induction_row ------------------------------------------------------------------------
_COPIES, _AFTER, _SHARES = "the earlier copies", "what came after them", "the shares"
_HALF, _THIRD = 0.5, 1 / 3

_PREDICT = prediction(
    id="predict_induction_row",
    chapter=CHAPTER,
    title="Where an induction head looks",
    signature="seven numbers, the weights on positions 0 to 6",
    shapes="(7,)",
    prompt="The text is “red blue green red pink blue red”, positions 0 to 6. An induction head is "
           "perfect: from a token it looks at what came after each earlier copy of that token, at "
           "all of them alike, and at nothing else. Which seven weights has its row for the last "
           "token? Write them down before you run anything.",
    hints=("Where else does “red” stand, before position 6?",
           "An induction head does not look at the copies themselves. What came after each?",
           "Two positions share the weight, and a row sums to one."),
    value=(0, _HALF, 0, 0, _HALF, 0, 0),
    tolerance=0.01,
    steps=(Step(_COPIES, "“red” stands at 0 and 3 too"),
           Step(_AFTER, "“blue” at 1 and “pink” at 4"),
           Step(_SHARES, "half of the weight each: 0, 0.5, 0, 0, 0.5, 0, 0")),
    mistakes=(
        Mistake(
            id="same-token",
            seen="The weight is on the copies themselves.",
            question="Which is of use for saying what comes next: “red”, or what came after it?",
            ways=((_HALF, 0, 0, _HALF, 0, 0, 0), (1, 0, 0, 1, 0, 0, 0), (0, 0, 0, 1, 0, 0, 0),
                  (_THIRD, 0, 0, _THIRD, 0, 0, _THIRD), (1, 0, 0, 0, 0, 0, 0)),
            step=_AFTER,
        ),
        Mistake(
            id="previous-token",
            seen="The weight is on the token just before.",
            question="Does an induction head look at a fixed distance?",
            ways=((0, 0, 0, 0, 0, 1, 0), (0, 0, 0, 0, 0, 1.0, 0)),
            step=_COPIES,
        ),
        Mistake(
            id="latest-only",
            seen="Only what came after the latest copy gets weight.",
            question="How many times does “red” stand before position 6?",
            ways=((0, 0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 1.0, 0, 0.0)),
            step=_COPIES,
        ),
        Mistake(
            id="earliest-only",
            seen="Only what came after the first copy gets weight.",
            question="How many times does “red” stand before position 6?",
            ways=((0, 1, 0, 0, 0, 0, 0), (0, 1.0, 0, 0, 0, 0, 0)),
            step=_COPIES,
        ),
        Mistake(
            id="not-normalised",
            seen="Each of the two positions gets all of the weight.",
            question="What does a row of weights sum to?",
            ways=((0, 1, 0, 0, 1, 0, 0), (0, 1.0, 0, 0, 1.0, 0, 0)),
            step=_SHARES,
        ),
        Mistake(
            id="before-the-copy",
            seen="The weight is on what came before the copies.",
            question="Which token followed “red”, and which one led to it?",
            ways=((0, 0, 1, 0, 0, 0, 0), (0, 0, 1.0, 0, 0, 0, 0)),
            step=_AFTER,
        ),
        Mistake(
            id="the-word-everywhere",
            seen="Every “blue” gets weight, also the one that came after “pink”.",
            question="What stands before the second “blue”?",
            ways=((0, _THIRD, 0, 0, _THIRD, _THIRD, 0), (0, _HALF, 0, 0, 0, _HALF, 0)),
            step=_AFTER,
        ),
        Mistake(
            id="one-too-far",
            seen="The weight is two places after each copy.",
            question="If a copy is at position 3, where is the token after it?",
            ways=((0, 0, _HALF, 0, 0, _HALF, 0.0), (0, 0, _HALF, 0, 0, _HALF, 0)),
            step=_AFTER,
        ),
    ),
    variants=((0, 0.5, 0, 0, 0.5, 0, 0), [0, 0.5, 0, 0, 0.5, 0, 0],
              np.array([0, 0.5, 0, 0, 0.5, 0, 0])),
)


# --- fault_head_off -------------------------------------------------------------------------------
def fault_head_off(heads, wo, off):
    n_heads = len(heads)
    joined = np.concatenate(list(heads), axis=-1)
    joined[:, off::n_heads] = 0
    return joined @ wo


def _off(rule):
    """Return the output, where ``rule`` zeroes something in the joined heads (n, n_heads * d)."""
    def output(heads, wo, off):
        joined = np.concatenate(list(heads), axis=-1)
        rule(joined, off, len(heads), heads.shape[-1])
        return joined @ wo

    return output


def _zero_columns(columns):
    """Return a rule that zeroes the columns that ``columns`` names."""
    def rule(joined, off, n_heads, d):
        joined[:, columns(off, n_heads, d)] = 0

    return rule


def _zero_row(joined, off, n_heads, d):
    if off < len(joined):
        joined[off] = 0


def _zero_rows(joined, off, n_heads, d):
    joined[off * d:(off + 1) * d] = 0


def _keep_one(joined, off, n_heads, d):
    joined[:, :off * d] = joined[:, (off + 1) * d:] = 0


def _solve_head_off(heads, wo, off):
    d = heads.shape[-1]
    joined = np.concatenate(list(heads), axis=-1)
    joined[:, off * d:(off + 1) * d] = 0
    return joined @ wo


def _sum_of_others(heads, wo, off):
    d = heads.shape[-1]
    return sum(heads[h] @ wo[h * d:(h + 1) * d] for h in range(len(heads)) if h != off)


def _reference_head_off(heads, wo, off):
    n_heads, n, d = heads.shape
    parts = wo.reshape(n_heads, d, -1)
    return [[math.fsum(float(heads[h, t, i]) * float(parts[h, i, j]) for h in range(n_heads)
                       for i in range(d) if h != off) for j in range(wo.shape[1])]
            for t in range(n)]


def _draw(*shape):
    return _rng.normal(size=shape).round(3)


_NARROW = Case((_draw(3, 2, 1), _draw(3, 2), 1), "heads of one feature", _JOINED)
_THREE = Case((_draw(3, 5, 2), _draw(6, 7), 1), "3 heads of width 2, head 1 off", _SWITCHED)
_FIRST = Case((_draw(5, 3, 2), _draw(10, 4), 0), "5 heads of width 2, head 0 off", _SWITCHED)
_LAST = Case((_draw(2, 7, 5), _draw(10, 3), 1), "2 heads of width 5, the last one off", _SWITCHED)
_ALIKE = Case((_draw(3, 3, 3), _draw(9, 9), 1), "as many heads as tokens and features", _SWITCHED)

_FAULT = Exercise(
    id="fault_head_off",
    chapter=CHAPTER,
    title="Mend the switch",
    signature="fault_head_off(heads, wo, off)",
    shapes="(n_heads, n, d_head), (n_heads * d_head, d_model), a whole number → (n, d_model)",
    prompt="heads holds what each head has found for n tokens. This listing joins the heads, "
           "switches off the one whose number is off, and applies the output projection wo: the "
           "result should be what all the other heads write. It is right for heads of one feature, "
           "and wrong for wider ones. Find the line at fault and mend it. In the example head 1 is "
           "off, and what remains is (1, 2).",
    hints=("Print joined for the example before and after the line that zeroes. Which of its four "
           "columns belong to head 1?",
           "Heads stand side by side: first all features of head 0, then all of head 1. Where does "
           "head off begin, if each is d_head wide?",
           "The columns from off · d_head up to (off + 1) · d_head are the head's own."),
    example=Example((np.array([[[1.0, 2]], [[3, 4]]]),
                     np.array([[1.0, 0], [0, 1], [10, 0], [0, 10]]), 1), [[1, 2]]),
    reference=_reference_head_off,
    cases=(
        _NARROW,
        Case((_draw(2, 1, 2), _draw(4, 2), 0), "other numbers of these shapes, head 0 off",
             _SWITCHED),
        _THREE,
        _FIRST,
        _LAST,
        _ALIKE,
        Case((_draw(7, 1, 3), _draw(21, 5), 4), "a single token, head 4 of 7 off", _SWITCHED),
    ),
    naming=(_NARROW, _THREE, _FIRST, _LAST, _ALIKE),
    mistakes=(
        Mistake(
            id="interleaved-features",
            seen="One feature of every head is switched off, not all features of one head.",
            question="In which order do the features of all heads stand, once they are joined?",
            ways=(fault_head_off, _off(_zero_columns(lambda off, n_heads, d: slice(off, None,
                                                                                   n_heads)))),
            step=_SWITCHED,
        ),
        Mistake(
            id="token-off",
            seen="Tokens are switched off, in all heads.",
            question="Which axis of the joined array are the tokens?",
            ways=(_off(_zero_row), lambda heads, wo, off: np.where(
                np.arange(heads.shape[1])[:, None] == off, 0, np.concatenate(heads, 1)) @ wo,
                  _off(_zero_rows)),
            step=_SWITCHED,
        ),
        Mistake(
            id="one-feature-off",
            seen="A single feature is switched off.",
            question="How many features has a head?",
            ways=(_off(_zero_columns(lambda off, n_heads, d: off)),
                  _off(_zero_columns(lambda off, n_heads, d: off * d))),
            step=_SWITCHED,
        ),
        Mistake(
            id="wrong-width",
            seen="The heads are taken to be as wide as there are heads.",
            question="Is n_heads the number of heads, or the number of a head's features?",
            ways=(_off(_zero_columns(lambda off, n_heads, d: slice(off * n_heads,
                                                                   (off + 1) * n_heads))),
                  _off(_zero_columns(lambda off, n_heads, d: slice(off * n_heads,
                                                                   off * n_heads + d)))),
            step=_SWITCHED,
        ),
        Mistake(
            id="starts-at-off",
            seen="The features that are switched off begin at feature off.",
            question="With heads of width 5, at which feature does head 1 begin?",
            ways=(_off(_zero_columns(lambda off, n_heads, d: slice(off, off + d))),
                  _off(_zero_columns(lambda off, n_heads, d: slice(off, (off + 1) * d)))),
            step=_SWITCHED,
        ),
        Mistake(
            id="rest-off-too",
            seen="The heads after it, or those before it, are switched off as well.",
            question="Where do the features of head off end?",
            ways=(_off(_zero_columns(lambda off, n_heads, d: slice(off * d, None))),
                  _off(_zero_columns(lambda off, n_heads, d: slice(None, (off + 1) * d)))),
            step=_SWITCHED,
        ),
        Mistake(
            id="only-that-head",
            seen="All others are switched off, and this one is kept.",
            question="Which part of the joined row should be zeros?",
            ways=(_off(_keep_one), lambda heads, wo, off: heads[off] @ wo[
                off * heads.shape[2]:(off + 1) * heads.shape[2]]),
            step=_SWITCHED,
        ),
        Mistake(
            id="next-head-off",
            seen="The head beside it is switched off.",
            question="Are heads counted from 0 or from 1?",
            ways=(_off(_zero_columns(lambda off, n_heads, d: slice((off + 1) * d, (off + 2) * d))),
                  _off(_zero_columns(lambda off, n_heads, d: slice(max(off - 1, 0) * d, off * d)))),
            step=_SWITCHED,
        ),
        Mistake(
            id="none-off",
            seen="No head is switched off.",
            question="Does your line change the array that is multiplied by wo?",
            ways=(_off(lambda joined, off, n_heads, d: None),
                  lambda heads, wo, off: np.hstack(list(heads)) @ wo),
            step=_SWITCHED,
        ),
    ),
    variants=(
        _sum_of_others,
        lambda heads, wo, off: np.einsum("htd,hdm->tm", np.delete(heads, off, axis=0), np.delete(
            wo.reshape(len(heads), heads.shape[2], -1), off, axis=0)),
        in_float32(_solve_head_off),
        lambda heads, wo, off: (np.where(np.arange(len(heads))[:, None, None] == off, 0, heads)
                                .swapaxes(0, 1).reshape(heads.shape[1], -1) @ wo),
    ),
    solution=_solve_head_off,
    faulty=fault_head_off,
)

EXERCISES = (_INDUCTION, _PREVIOUS, _PREDICT, _FAULT)
