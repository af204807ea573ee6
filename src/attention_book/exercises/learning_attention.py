"""The exercises of the chapter on learning: gradients by hand, and the loss they come from."""

import math

import numpy as np

import attention_book
from attention_book.exercises.building_blocks import in_float32, softmax, unstable_softmax
from attention_book.exercises.learning_steps import FAULT_ADAM, PREDICT_REPEATED_LOSS
from attention_book.exercises.model import Case, Example, Exercise, Mistake
from attention_book.exercises.passes import ATTENTION_BACKWARD
from attention_book.exercises.stages import Stage, sets

CHAPTER = "10_learning_attention"

_rng = np.random.default_rng(10)
_CENTRE, _PRODUCT = "the mean that is subtracted", "the product with the weights"
_PAIRS, _LOG, _AVERAGE = "which logits go with which token", "the logarithms", "the mean"
_SHIFT = "the shift by the row's maximum"


def _draw(*shape, size=1.0):
    return (size * _rng.normal(size=shape)).round(3)


# --- softmax_backward(p, grad) --------------------------------------------------------------------
def _solve_softmax_backward(p, grad):
    mean = (p * grad).sum(axis=-1, keepdims=True)  # of grad, with the weights
    return p * (grad - mean)


def _by_the_matrix(p, grad):
    return [(np.diag(row) - np.outer(row, row)) @ g for row, g in zip(p, grad, strict=True)]


def _softmax_backward_in_loops(p, grad):
    out = np.zeros(p.shape)
    for i in range(p.shape[0]):
        for j in range(p.shape[1]):
            for m in range(p.shape[1]):
                out[i, j] += p[i, j] * ((j == m) - p[i, m]) * grad[i, m]
    return out


def _reference_softmax_backward(p, grad):
    rows = []
    for row, slopes in zip(p.tolist(), grad.tolist(), strict=True):
        mean = math.fsum(a * g for a, g in zip(row, slopes, strict=True))
        rows.append([a * (g - mean) for a, g in zip(row, slopes, strict=True)])
    return rows


def _less(centre):
    """Return a gradient in which something else is subtracted than the weighted mean."""
    return lambda p, grad: p * (grad - centre(p, grad))


def _weighted(p, grad):
    return (p * grad).sum(axis=-1, keepdims=True)


def _made(n, m, size=1.0):
    return softmax(_draw(n, m)), _draw(n, m, size=size)


_ROWS, _SQUARE = Case(_made(3, 5), "3 rows of 5 weights", _CENTRE), Case(
    _made(5, 5), "as many rows as weights", _CENTRE)
_TALL = Case(_made(7, 2), "7 rows of 2 weights", _CENTRE)
_EQUAL = Case((np.full((2, 3), 1 / 3), np.array([[5.0, 5, 5], [1, 2, 6]])),
              "a row with equal gradients", _CENTRE)
_CERTAIN = Case((np.array([[0.0, 1, 0], [0, 0, 0], [0.75, 0, 0.25]]), _draw(3, 3)),
                "weights of 0 and 1, and a row of zeros", _PRODUCT)

_SOFTMAX_STAGES = (
    Stage(sets("centre", lambda t: _weighted(*t.args)), (
        (("not-centred",), sets("centre", lambda t: 0.0)),
        (("wrong-axis",), sets("centre", lambda t: (t.args[0] * t.args[1]).sum(axis=0))),
        (("one-for-all",), sets("centre", lambda t: (t.args[0] * t.args[1]).sum())),
        (("plain-mean",), sets("centre", lambda t: t.args[1].mean(axis=-1, keepdims=True))),
        (("plain-sum",), sets("centre", lambda t: t.args[1].sum(axis=-1, keepdims=True))))),
    Stage(sets("result", lambda t: t.args[0] * (t.args[1] - t.centre)), (
        (("wrong-sign",), sets("result", lambda t: t.args[0] * (t.centre - t.args[1]))),
        (("added",), sets("result", lambda t: t.args[0] * (t.args[1] + t.centre))),
        (("weights-missing",), sets("result", lambda t: t.args[1] - t.centre)))),
)

_SOFTMAX_BACKWARD = Exercise(
    id="softmax_backward",
    chapter=CHAPTER,
    title="Back through the softmax",
    signature="softmax_backward(p, grad)",
    shapes="(n, n_key), (n, n_key) → (n, n_key)",
    prompt="Each row of p holds weights: what the softmax made of a row of scores. grad says how "
           "the loss changes with each weight. Write softmax_backward(p, grad): how the loss "
           "changes with each score. A score moves all weights of its row: if score j grows by a "
           "little h, weight j grows by h·p[j]·(1 − p[j]), and every other weight l by "
           "−h·p[j]·p[l].",
    hints=("Add up for one score j: its effect on every weight, times the gradient of that weight. "
           "Which factor do all terms share?",
           "One of the terms is a sum over the whole row that is the same for each j. What kind of "
           "mean of the gradients is it?",
           "Take the mean of grad with the weights p, for each row. Subtract it from grad, then "
           "multiply by p."),
    example=Example((np.array([[0.5, 0.25, 0.25], [0.5, 0.5, 0]]),
                     np.array([[4.0, 0, 0], [2, 4, 9]])), [[1, -0.5, -0.5], [-0.5, 0.5, 0]]),
    reference=_reference_softmax_backward,
    cases=(
        _EQUAL,
        _ROWS,
        Case(_made(2, 3), "other numbers of this shape", _CENTRE),
        _TALL,
        _SQUARE,
        _CERTAIN,
        Case(_made(3, 7, size=1000.0), "large gradients", _CENTRE),
        Case((np.ones((3, 1)), _draw(3, 1)), "a single weight in each row", _CENTRE),
    ),
    naming=(_ROWS, _SQUARE, _TALL, _EQUAL, _CERTAIN),
    mistakes=(
        Mistake(
            id="diagonal-only",
            seen="Each score is led back to its own weight alone: p·(1 − p)·grad.",
            question="If one score grows, what happens to the other weights of its row?",
            ways=(lambda p, grad: p * (1 - p) * grad,
                  lambda p, grad: [np.diag(np.diag(row) - np.outer(row, row)) * g
                                   for row, g in zip(p, grad, strict=True)],
                  lambda p, grad: grad * (p - p**2)),
            step=_CENTRE,
        ),
        Mistake(
            id="not-centred",
            seen="The gradients are multiplied by the weights, and nothing is subtracted.",
            question="If all gradients of a row are equal, can any score change the loss?",
            ways=(lambda p, grad: p * grad, _less(lambda p, grad: 0),
                  lambda p, grad: np.einsum("ij,ij->ij", p, grad)),
            step=_CENTRE,
        ),
        Mistake(
            id="wrong-axis",
            seen="The mean runs down the columns, over different rows.",
            question="Which weights compete with each other: those of a row, or those of a column?",
            ways=(_less(lambda p, grad: (p * grad).sum(axis=0)),
                  _less(lambda p, grad: (p * grad).sum(axis=0, keepdims=True)),
                  lambda p, grad: _solve_softmax_backward(p.T, grad.T).T),
            step=_CENTRE,
        ),
        Mistake(
            id="one-for-all",
            seen="One number is subtracted from the gradients of all rows.",
            question="How many means do you need for 3 rows?",
            ways=(_less(lambda p, grad: (p * grad).sum()), _less(lambda p, grad: np.vdot(p, grad)),
                  _less(lambda p, grad: (p * grad).sum() / len(p))),
            step=_CENTRE,
        ),
        Mistake(
            id="no-keepdims",
            seen="The means of the rows meet the columns: the shapes do not fit, or fit by chance.",
            question="Which shape has the array of means, and how does it broadcast against grad?",
            ways=(_less(lambda p, grad: (p * grad).sum(axis=-1)),
                  _less(lambda p, grad: np.einsum("ij,ij->i", p, grad)),
                  lambda p, grad: p * grad - p * (p * grad).sum(1)),
            step=_CENTRE,
        ),
        Mistake(
            id="plain-mean",
            seen="The plain mean of a row's gradients is subtracted, whatever the weights are.",
            question="Should the gradient of a weight that is nearly 0 count as much as the others "
                     "in the mean?",
            ways=(_less(lambda p, grad: grad.mean(axis=-1, keepdims=True)),
                  lambda p, grad: p * (grad.T - grad.sum(1) / grad.shape[1]).T),
            step=_CENTRE,
        ),
        Mistake(
            id="plain-sum",
            seen="The plain sum of a row's gradients is subtracted.",
            question="By which number is each gradient multiplied before it enters the sum?",
            ways=(_less(lambda p, grad: grad.sum(axis=-1, keepdims=True)),
                  lambda p, grad: p * (grad.T - grad.sum(1)).T),
            step=_CENTRE,
        ),
        Mistake(
            id="divided-by-n",
            seen="The weighted gradients are averaged: their sum is divided by their number.",
            question="The weights add up to 1. Does a mean with weights need another division?",
            ways=(_less(lambda p, grad: (p * grad).mean(axis=-1, keepdims=True)),
                  _less(lambda p, grad: _weighted(p, grad) / p.shape[1])),
            step=_CENTRE,
        ),
        Mistake(
            id="wrong-sign",
            seen="The result has the opposite sign.",
            question="If the weight with the largest gradient grows, does the loss grow? And what "
                     "if its score grows?",
            ways=(lambda p, grad: p * (_weighted(p, grad) - grad),
                  lambda p, grad: -_solve_softmax_backward(p, grad)),
            step=_PRODUCT,
        ),
        Mistake(
            id="added",
            seen="The mean is added where it should be subtracted.",
            question="A larger score makes the other weights smaller. Which sign has that effect?",
            ways=(_less(lambda p, grad: -_weighted(p, grad)),
                  lambda p, grad: [(np.diag(row) + np.outer(row, row)) @ g
                                   for row, g in zip(p, grad, strict=True)]),
            step=_PRODUCT,
        ),
        Mistake(
            id="weights-missing",
            seen="The mean is subtracted, and the product with the weights is missing.",
            question="Can a score change the loss much, if its weight is 0?",
            ways=(lambda p, grad: grad - _weighted(p, grad),
                  lambda p, grad: (grad.T - (p * grad).sum(axis=1)).T),
            step=_PRODUCT,
        ),
        Mistake(
            id="softmax-again",
            seen="The softmax is taken of p once more; p holds finished weights.",
            question="What do the rows of p sum to?",
            ways=(lambda p, grad: _solve_softmax_backward(softmax(p), grad),
                  lambda p, grad: _by_the_matrix(unstable_softmax(p), grad)),
            step=_PRODUCT,
        ),
        Mistake(
            id="matrix-not-applied",
            seen="The matrix of all effects is returned; it is not applied to the gradients.",
            question="How many numbers does the result have for one row of weights?",
            ways=(lambda p, grad: [np.diag(row) - np.outer(row, row) for row in p],
                  lambda p, grad: p[:, :, None] * (np.eye(p.shape[1]) - p[:, None, :])),
            step=_PRODUCT,
        ),
    ),
    variants=(
        _by_the_matrix,
        _softmax_backward_in_loops,
        in_float32(_solve_softmax_backward),
        lambda p, grad: p * grad - p * np.einsum("ij,ij->i", p, grad)[:, None],
        lambda p, grad: [row * (g - row @ g) for row, g in zip(p, grad, strict=True)],
    ),
    solution=_solve_softmax_backward,
    stages=_SOFTMAX_STAGES,
    package=(attention_book.softmax_backward,),
)


# --- next_token_loss(logits, tokens) --------------------------------------------------------------
def _log_p(logits, axis=-1):
    shifted = logits - logits.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


def _solve_next_token_loss(logits, tokens):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    rows = np.arange(len(tokens) - 1)
    return -log_p[rows, tokens[1:]].mean()  # row t predicts token t + 1


def _loss_in_loops(logits, tokens):
    total = 0.0
    for t in range(len(tokens) - 1):
        row = logits[t]
        largest = max(row)
        total += largest + math.log(sum(math.exp(x - largest) for x in row)) - row[tokens[t + 1]]
    return total / (len(tokens) - 1)


def _reference_loss(logits, tokens):
    terms = []
    for row, token in zip(logits.tolist()[:-1], tokens.tolist()[1:], strict=True):
        largest = max(row)
        terms.append(largest - row[token] + math.log(math.fsum(
            math.exp(x - largest) for x in row)))
    return math.fsum(terms) / len(terms)


def _one_hot(logits, tokens):
    targets = np.eye(logits.shape[1])[tokens[1:]]
    return -(targets * _log_p(logits[:-1])).sum() / len(targets)


def _of(pairs, log_p=_log_p, join=np.mean):
    """Return a loss of the rows and targets that ``pairs`` chooses."""
    def loss(logits, tokens):
        rows, targets = pairs(logits, tokens)
        return -join(log_p(rows)[np.arange(len(targets)), targets])

    return loss


def _next(logits, tokens):
    return logits[:-1], tokens[1:]


def _given(n, n_vocab, size=1.5):
    return _draw(n, n_vocab, size=size), _rng.integers(0, n_vocab, n)


_LN2, _LN3 = math.log(2), math.log(3)
_PLAIN, _MORE = Case(_given(5, 7), "5 tokens of 7", _AVERAGE), Case(
    _given(11, 3), "11 tokens of 3", _AVERAGE)
_TWO = Case(_given(2, 5), "two tokens", _PAIRS)
_AS_MANY = Case(_given(5, 5), "as many tokens as there are in the vocabulary", _LOG)
_LARGE = Case((np.array([[1000.0, 1001, 0], [-2000, -2001, -2000], [0, 5, 2]]),
               np.array([2, 1, 0])), "logits of 1000 and more", _SHIFT)
_CERTAIN_AND_WRONG = Case((np.array([[0.0, 800], [0, 0]]), np.array([1, 0])),
                          "a model that is certain and wrong", _SHIFT)

_LOSS_STAGES = (
    Stage(lambda t: (setattr(t, "rows", t.args[0][:-1]), setattr(t, "targets", t.args[1][1:])), (
        (("targets-unshifted",), lambda t: (setattr(t, "rows", t.args[0]),
                                            setattr(t, "targets", t.args[1]))),
        (("shifted-backwards",), lambda t: (setattr(t, "rows", t.args[0][1:]),
                                            setattr(t, "targets", t.args[1][:-1]))))),
    Stage(sets("log_p", lambda t: _log_p(t.rows)), (
        (("wrong-axis",), sets("log_p", lambda t: _log_p(t.rows, axis=0))),
        (("bits",), sets("log_p", lambda t: _log_p(t.rows) / _LN2)),
        (("not-normalised",), sets("log_p", lambda t: t.rows)))),
    Stage(sets("result", lambda t: -t.log_p[np.arange(len(t.targets)), t.targets].mean()), (
        (("sum-not-mean",), sets("result", lambda t: -t.log_p[np.arange(len(t.targets)),
                                                              t.targets].sum())),
        (("wrong-sign",), sets("result", lambda t: t.log_p[np.arange(len(t.targets)),
                                                           t.targets].mean())))),
)

_NEXT_TOKEN_LOSS = Exercise(
    id="next_token_loss",
    chapter=CHAPTER,
    title="How surprised a model is",
    signature="next_token_loss(logits, tokens)",
    shapes="(n, n_vocab), (n,) → a number",
    prompt="logits are what a model gives for a text of n tokens, whose ids are in tokens: row t "
           "scores every token that may come after token t. The probability of a token is the "
           "softmax of its row. Write next_token_loss(logits, tokens): the mean of −log "
           "probability of the token that really comes next, in nats, over all tokens that have a "
           "next one. It is right also for large logits. In the example the logits are logarithms "
           "of 1, 2 and 3: the probabilities are 1/2 and 1/4, so the loss is (log 2 + log 4) / 2.",
    hints=("For a text of 3 tokens, how many predictions can be compared with what really came?",
           "Row t and which token belong together? Write down the indices for t = 0 and t = 1.",
           "Take the log-softmax of all rows but the last, pick from row t the entry of "
           "tokens[t + 1], and return minus the mean."),
    example=Example((np.array([[_LN3, _LN2, 0], [_LN2, 0, 0], [0, 0, _LN3]]), np.array([1, 0, 1])),
                    1.0397208),
    reference=_reference_loss,
    cases=(
        _TWO,
        Case(_given(3, 3), "other numbers of this shape", _PAIRS),
        _PLAIN,
        _MORE,
        _AS_MANY,
        Case((np.zeros((5, 3)), np.array([0, 1, 2, 1, 0])), "a model that guesses", _LOG),
        _LARGE,
        _CERTAIN_AND_WRONG,
        Case(_given(127, 11), "127 tokens", _AVERAGE),
    ),
    naming=(_TWO, _PLAIN, _MORE, _AS_MANY, _LARGE, _CERTAIN_AND_WRONG),
    mistakes=(
        Mistake(
            id="targets-unshifted",
            seen="Row t is compared with token t itself, which the model has already seen.",
            question="What does row 0 predict: token 0, or the one after it?",
            ways=(_of(lambda logits, tokens: (logits, tokens)),
                  _of(lambda logits, tokens: (logits[:-1], tokens[:-1])),
                  _of(lambda logits, tokens: (logits[1:], tokens[1:]))),
            step=_PAIRS,
        ),
        Mistake(
            id="shifted-backwards",
            seen="Row t is compared with token t − 1, the one before.",
            question="Which row was made before token 1 was known: row 0, or row 2?",
            ways=(_of(lambda logits, tokens: (logits[1:], tokens[:-1])),
                  lambda logits, tokens: -sum(_log_p(logits)[t, tokens[t - 1]] for t in range(
                      1, len(tokens))) / (len(tokens) - 1)),
            step=_PAIRS,
        ),
        Mistake(
            id="wrapped-around",
            seen="The last row is compared with the first token: the text does not go round.",
            question="Which token comes after the last one?",
            ways=(lambda logits, tokens: _of(lambda a, b: (a, np.roll(b, -1)))(logits, tokens),
                  lambda logits, tokens: -np.mean([_log_p(logits)[t, tokens[(t + 1) % len(tokens)]]
                                                   for t in range(len(tokens))])),
            step=_PAIRS,
        ),
        Mistake(
            id="last-only",
            seen="Only the last prediction is counted.",
            question="How many tokens of the text have a next one?",
            ways=(_of(lambda logits, tokens: (logits[-2:-1], tokens[-1:])),
                  lambda logits, tokens: -_log_p(logits[-2])[tokens[-1]]),
            step=_AVERAGE,
        ),
        Mistake(
            id="sum-not-mean",
            seen="The terms are added up, and the sum is not divided by their number.",
            question="Should a text twice as long have a loss twice as large?",
            ways=(_of(_next, join=np.sum),
                  lambda logits, tokens: _loss_in_loops(logits, tokens) * (len(tokens) - 1)),
            step=_AVERAGE,
        ),
        Mistake(
            id="divided-by-n",
            seen="The sum is divided by the number of tokens; there is one prediction less.",
            question="How many terms does your sum have, for n tokens?",
            ways=(lambda logits, tokens: _one_hot(logits, tokens) * (len(tokens) - 1) / len(tokens),
                  lambda logits, tokens: _of(_next, join=np.sum)(logits, tokens) / len(logits)),
            step=_AVERAGE,
        ),
        Mistake(
            id="divided-by-all",
            seen="The mean is taken over the whole table, over tokens that did not come as well.",
            question="Which entry of a row does the text choose, and how many such entries are "
                     "there?",
            ways=(lambda logits, tokens: -_log_p(logits[:-1]).mean(),
                  lambda logits, tokens: -_log_p(logits).mean(),
                  lambda logits, tokens: -(np.eye(logits.shape[1])[tokens[1:]]
                                           * _log_p(logits[:-1])).mean()),
            step=_AVERAGE,
        ),
        Mistake(
            id="bits",
            seen="The logarithm has the base 2: the loss is in bits.",
            question="Which base has the logarithm that gives nats?",
            ways=(_of(_next, log_p=lambda rows: _log_p(rows) / _LN2),
                  lambda logits, tokens: _solve_next_token_loss(logits, tokens) / math.log(2)),
            step=_LOG,
        ),
        Mistake(
            id="wrong-sign",
            seen="The loss has the opposite sign.",
            question="A probability is at most 1. Which sign has its logarithm, and which the "
                     "loss?",
            ways=(lambda logits, tokens: -_solve_next_token_loss(logits, tokens),
                  lambda logits, tokens: -_loss_in_loops(logits, tokens)),
            step=_AVERAGE,
        ),
        Mistake(
            id="unstable",
            seen="Gentle logits come out right, but large ones overflow, or a probability of 0 has "
                 "no logarithm.",
            question="Which number may be taken from a whole row without changing its weights, and "
                     "do you need the probability to have its logarithm?",
            ways=(_of(_next, log_p=lambda rows: np.log(unstable_softmax(rows))),
                  _of(_next, log_p=lambda rows: np.log(softmax(rows))),
                  _of(_next, log_p=lambda rows: rows - np.log(np.exp(rows).sum(-1)[:, None])),
                  *(_of(_next, log_p=lambda rows, floor=floor: np.log(softmax(rows) + floor))
                    for floor in (1e-7, 1e-8, 1e-9, 1e-10, 1e-12, 1e-15, 1e-16)),
                  *(_of(_next, log_p=lambda rows, floor=floor: np.log(np.maximum(
                      softmax(rows), floor))) for floor in (1e-7, 1e-9, 1e-12, 1e-15, 1e-300))),
            step=_SHIFT,
        ),
        Mistake(
            id="not-normalised",
            seen="Minus the logits themselves are averaged: no softmax was taken.",
            question="If 5 is added to all logits of a row, do the probabilities change? Does your "
                     "loss?",
            ways=(_of(_next, log_p=lambda rows: rows),
                  lambda logits, tokens: -np.mean([logits[t, tokens[t + 1]]
                                                   for t in range(len(tokens) - 1)])),
            step=_LOG,
        ),
        Mistake(
            id="wrong-axis",
            seen="The softmax runs over the positions, not over the vocabulary.",
            question="Which numbers should sum to 1: those of a row, or those of a column?",
            ways=(_of(_next, log_p=lambda rows: _log_p(rows, axis=0)),
                  lambda logits, tokens: -_log_p(logits, axis=0)[
                      np.arange(len(tokens) - 1), tokens[1:]].mean()),
            step=_LOG,
        ),
        Mistake(
            id="no-logarithm",
            seen="The probabilities are averaged, and their logarithms are not taken.",
            question="What should the loss be for a model that is certain and right?",
            ways=(_of(_next, log_p=softmax), _of(_next, log_p=lambda rows: -softmax(rows)),
                  lambda logits, tokens: 1 + _of(_next, log_p=softmax)(logits, tokens)),
            step=_LOG,
        ),
        Mistake(
            id="log-of-the-mean",
            seen="The probabilities are averaged first, and the logarithm is taken of their mean.",
            question="Which comes first: the logarithm, or the mean?",
            ways=(lambda logits, tokens: -math.log(-_of(_next, log_p=softmax)(logits, tokens))
                  if _of(_next, log_p=softmax)(logits, tokens) else math.inf,
                  lambda logits, tokens: -np.log(np.mean(
                      softmax(logits[:-1])[np.arange(len(tokens) - 1), tokens[1:]]))),
            step=_AVERAGE,
        ),
        Mistake(
            id="not-averaged",
            seen="There is a number for each token; they are not averaged.",
            question="How many numbers should come out?",
            ways=(_of(_next, join=np.asarray),
                  lambda logits, tokens: [-_log_p(row)[token] for row, token in zip(
                      logits[:-1], tokens[1:], strict=True)]),
            step=_AVERAGE,
        ),
        Mistake(
            id="perplexity",
            seen="The exponential of the loss is returned, which is called perplexity.",
            question="Which number has a model that guesses between two tokens: 2, or log 2?",
            ways=(lambda logits, tokens: np.exp(_solve_next_token_loss(logits, tokens)),
                  lambda logits, tokens: np.e ** _loss_in_loops(logits, tokens)),
            step=_AVERAGE,
        ),
    ),
    variants=(
        _loss_in_loops,
        _one_hot,
        in_float32(_solve_next_token_loss),
        lambda logits, tokens: np.mean(np.logaddexp.reduce(logits[:-1], axis=1) - [
            row[token] for row, token in zip(logits, tokens[1:], strict=False)]),
    ),
    solution=_solve_next_token_loss,
    stages=_LOSS_STAGES,
    package=(attention_book.next_token_loss, attention_book.next_token_loss_backward),
)


EXERCISES = (_NEXT_TOKEN_LOSS, _SOFTMAX_BACKWARD, ATTENTION_BACKWARD, PREDICT_REPEATED_LOSS,
             FAULT_ADAM)
