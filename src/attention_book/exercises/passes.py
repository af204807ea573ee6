"""The exercise on the backward pass of attention."""

import math

import numpy as np

import attention_book
from attention_book.exercises.building_blocks import (
    in_float32,
    reference_product,
    reference_softmax,
    softmax,
    unstable_softmax,
)
from attention_book.exercises.model import Case, Example, Exercise, Mistake
from attention_book.exercises.stages import Stage, sets

CHAPTER = "10_learning_attention"

_rng = np.random.default_rng(100)
_WEIGHTS, _VALUES, _SOFTMAX = "the weights", "the gradient of the values", "back through softmax"
_ENDS, _ORDER = "the gradients of queries and keys", "the order of the results"


def _arguments(n_query, n_key, d_head, d_value, size=1.0):
    """Return queries, keys, values and the gradient of the mixtures."""
    shapes = (n_query, d_head), (n_key, d_head), (n_key, d_value), (n_query, d_value)
    return tuple((size * _rng.normal(size=shape)).round(3) for shape in shapes)


def _scale(q):
    return q.shape[1] ** -0.5


def _through(p, dp):
    return p * (dp - (p * dp).sum(axis=-1, keepdims=True))


def _passed(weigh=lambda q, k: softmax(q @ k.T * _scale(q)), back=_through,
            dv=lambda p, ds, grad: p.T @ grad, dq=lambda ds, q, k: ds @ k * _scale(q),
            dk=lambda ds, q, k: ds.T @ q * _scale(q), dp=lambda v, grad: grad @ v.T,
            order=lambda dq, dk, dv: (dq, dk, dv)):
    """Return a backward pass, some step of which is done in another way."""
    def backward(q, k, v, grad):
        p = weigh(q, k)
        ds = back(p, dp(v, grad))
        return order(dq(ds, q, k), dk(ds, q, k), dv(p, ds, grad))

    return backward


def _solve_attention_backward(q, k, v, grad):
    scale = q.shape[-1] ** -0.5
    s = q @ k.T * scale
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    p = e / e.sum(axis=-1, keepdims=True)  # (n_query, n_key), as in the forward pass
    dv = p.T @ grad
    dp = grad @ v.T
    ds = p * (dp - (p * dp).sum(axis=-1, keepdims=True)) * scale
    return ds @ k, ds.T @ q, dv


def _backward_in_loops(q, k, v, grad):
    dq, dk, dv = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    scale = 1 / math.sqrt(q.shape[1])
    for i in range(len(q)):
        weights = softmax(np.array([q[i] @ key * scale for key in k]))
        effects = np.array([grad[i] @ value for value in v])
        mean = weights @ effects
        for j in range(len(k)):
            dv[j] += weights[j] * grad[i]
            ds = weights[j] * (effects[j] - mean) * scale
            dq[i] += ds * k[j]
            dk[j] += ds * q[i]
    return dq, dk, dv


def _with_matrices(q, k, v, grad):
    p = softmax(np.einsum("qd,kd->qk", q, k) / np.sqrt(q.shape[1]))
    jacobian = np.einsum("qj,jl->qjl", p, np.eye(len(k))) - np.einsum("qj,ql->qjl", p, p)
    ds = np.einsum("qjl,qd,ld->qj", jacobian, grad, v) / np.sqrt(q.shape[1])
    return np.einsum("qk,kd->qd", ds, k), np.einsum("qk,qd->kd", ds, q), np.einsum(
        "qk,qd->kd", p, grad)


def _with_the_mixtures(q, k, v, grad):
    p = softmax(q @ k.T / math.sqrt(q.shape[1]))
    mixtures = p @ v
    ds = p * (grad @ v.T - (grad * mixtures).sum(axis=1)[:, None])
    return [(ds @ k / math.sqrt(k.shape[1])).tolist(), (q.T @ ds / math.sqrt(k.shape[1])).T,
            (grad.T @ p).T]


def _reference_backward(q, k, v, grad):
    q, k, v, grad = (array.tolist() for array in (q, k, v, grad))
    scale = 1 / math.sqrt(len(q[0]))
    products = reference_product(q, list(zip(*k, strict=True)))
    p = [reference_softmax([scale * s for s in row]) for row in products]
    dp = reference_product(grad, list(zip(*v, strict=True)))
    ds = []
    for weights, effects in zip(p, dp, strict=True):
        mean = math.fsum(a * e for a, e in zip(weights, effects, strict=True))
        ds.append([scale * a * (e - mean) for a, e in zip(weights, effects, strict=True)])
    columns, weights = list(zip(*ds, strict=True)), list(zip(*p, strict=True))
    return reference_product(ds, k), reference_product(columns, q), reference_product(weights, grad)


def _unscaled(q, k):
    return softmax(q @ k.T)


def _diagonal(p, dp):
    return p * (1 - p) * dp


_GENERAL, _MORE_QUERIES = Case(_arguments(3, 5, 7, 2), "three queries and five keys", _ENDS), Case(
    _arguments(7, 5, 3, 2), "more queries than keys", _ENDS)
_SQUARE = Case(_arguments(5, 5, 3, 2), "as many queries as keys", _SOFTMAX)
_ALIKE = Case(_arguments(5, 5, 5, 5), "all lengths alike", _ENDS)
_WIDE = Case(_arguments(2, 3, 5, 5), "keys as wide as values", _VALUES)
_large = _arguments(3, 5, 2, 3)
_LARGE = Case((_large[0] * 40, _large[1] * 40, *_large[2:]), "large scores", _WEIGHTS)

_STAGES = (
    Stage(sets("p", lambda t: softmax(t.args[0] @ t.args[1].T * _scale(t.args[0]))), (
        (("unscaled-weights",), sets("p", lambda t: _unscaled(*t.args[:2]))),
        (("weights-wrong-axis",), sets("p", lambda t: softmax(
            t.args[0] @ t.args[1].T * _scale(t.args[0]), axis=0))))),
    Stage(sets("ds", lambda t: _through(t.p, t.args[3] @ t.args[2].T)), (
        (("softmax-diagonal-only",), sets("ds", lambda t: _diagonal(t.p, t.args[3] @ t.args[2].T))),
        (("not-centred",), sets("ds", lambda t: t.p * (t.args[3] @ t.args[2].T))),
        (("softmax-left-out",), sets("ds", lambda t: t.args[3] @ t.args[2].T)))),
    Stage(sets("result", lambda t: (t.ds @ t.args[1] * _scale(t.args[0]), t.ds.T @ t.args[0]
                                    * _scale(t.args[0]), t.p.T @ t.args[3])), (
        (("scale-missing",), sets("result", lambda t: (t.ds @ t.args[1], t.ds.T @ t.args[0],
                                                       t.p.T @ t.args[3]))),)),
)

ATTENTION_BACKWARD = Exercise(
    id="attention_backward",
    chapter=CHAPTER,
    title="Back through attention",
    signature="attention_backward(q, k, v, grad)",
    shapes="(n_query, d), (n_key, d), (n_key, d_value), (n_query, d_value) → (n_query, d), "
           "(n_key, d), (n_key, d_value)",
    prompt="grad says how the loss changes with each number of attention(q, k, v), which scales "
           "by d to the power −1/2 and has no mask. Write attention_backward(q, k, v, grad): "
           "return how the loss changes with q, with k and with v, in this order. In the example "
           "both scores are equal, so both weights are 1/2, and the scale is 1/2 too.",
    hints=("Write the forward pass in three lines: scores, weights, mixtures. Go through them from "
           "the last to the first, and give each gradient the shape of what it belongs to.",
           "For a product A B with the gradient G: the gradient of A is G Bᵀ, that of B is Aᵀ G. "
           "Two of the three lines are such products; the other is the softmax.",
           "dv = pᵀ grad; dp = grad vᵀ; ds from p and dp as in softmax_backward, times the scale; "
           "then the same rule for products once more, for q kᵀ."),
    example=Example((np.array([[2.0, 0, 0, 0]]), np.array([[1.0, 1, 0, 0], [1, 3, 0, 0]]),
                     np.array([[0.0], [8]]), np.array([[1.0]])),
                    ([[0, 2, 0, 0]], [[-2, 0, 0, 0], [2, 0, 0, 0]], [[0.5], [0.5]])),
    reference=_reference_backward,
    parts=("dq", "dk", "dv"),
    part_steps={"dv": _VALUES, "dq": _ENDS, "dk": _ENDS},
    cases=(
        Case(_arguments(1, 2, 4, 1), "other numbers of these shapes", _ENDS),
        _GENERAL,
        _MORE_QUERIES,
        _WIDE,
        _SQUARE,
        _ALIKE,
        Case(_arguments(3, 1, 2, 5), "a single key", _ENDS),
        _LARGE,
    ),
    naming=(_GENERAL, _MORE_QUERIES, _WIDE, _SQUARE, _ALIKE, _LARGE),
    mistakes=(
        Mistake(
            id="scale-missing",
            seen="The scale is in the weights, and missing in the gradients of queries and keys.",
            question="If a score is scale · q · k, how much does it change with q?",
            ways=(_passed(dq=lambda ds, q, k: ds @ k, dk=lambda ds, q, k: ds.T @ q),
                  lambda q, k, v, grad: [d * factor for d, factor in zip(
                      _backward_in_loops(q, k, v, grad), (1 / _scale(q), 1 / _scale(q), 1),
                      strict=True)]),
            step=_ENDS,
        ),
        Mistake(
            id="scale-missing-once",
            seen="The scale is in the gradient of the queries or in that of the keys, and missing "
                 "in the other.",
            question="Queries and keys have the same part in a score. Are your lines alike?",
            ways=(_passed(dq=lambda ds, q, k: ds @ k), _passed(dk=lambda ds, q, k: ds.T @ q)),
            step=_ENDS,
        ),
        Mistake(
            id="scaled-twice",
            seen="The scale is multiplied into the gradients of queries and keys twice.",
            question="How often does the scale stand in the formula of a score?",
            ways=(_passed(dq=lambda ds, q, k: ds @ k * _scale(q) ** 2,
                          dk=lambda ds, q, k: ds.T @ q * _scale(q) ** 2),
                  _passed(back=lambda p, dp: _through(p, dp) * 1.0,
                          dq=lambda ds, q, k: ds @ k / q.shape[1],
                          dk=lambda ds, q, k: ds.T @ q / q.shape[1])),
            step=_ENDS,
        ),
        Mistake(
            id="scale-divides",
            seen="The gradients of queries and keys are divided by the scale.",
            question="Does a smaller scale make a score more sensitive to its query, or less?",
            ways=(_passed(dq=lambda ds, q, k: ds @ k / _scale(q),
                          dk=lambda ds, q, k: ds.T @ q / _scale(q)),
                  _passed(dq=lambda ds, q, k: ds @ k * math.sqrt(q.shape[1]),
                          dk=lambda ds, q, k: (q.T @ ds).T * math.sqrt(q.shape[1]))),
            step=_ENDS,
        ),
        Mistake(
            id="unscaled-weights",
            seen="The weights are those of unscaled scores, so they are not the weights of the "
                 "forward pass.",
            question="What are the weights of the forward pass the softmax of?",
            ways=(_passed(weigh=_unscaled),
                  _passed(weigh=_unscaled, dq=lambda ds, q, k: ds @ k,
                          dk=lambda ds, q, k: ds.T @ q)),
            step=_WEIGHTS,
        ),
        Mistake(
            id="weights-wrong-axis",
            seen="The weights add up to 1 over the queries.",
            question="Which axis of the scores runs over what one query compares?",
            ways=(_passed(weigh=lambda q, k: softmax(q @ k.T * _scale(q), axis=0)),
                  _passed(weigh=lambda q, k: softmax(k @ q.T * _scale(q)).T)),
            step=_WEIGHTS,
        ),
        Mistake(
            id="no-max-shift",
            seen="Gentle scores come out right, but the exponential of a large score overflows.",
            question="Which number may be taken from a whole row without changing its weights?",
            ways=(_passed(weigh=lambda q, k: unstable_softmax(q @ k.T * _scale(q))),
                  lambda q, k, v, grad: _passed(weigh=lambda q, k: np.exp(
                      q @ k.T * _scale(q)) / np.exp(q @ k.T * _scale(q)).sum(1)[:, None])(
                          q, k, v, grad)),
            step=_WEIGHTS,
        ),
        Mistake(
            id="transpose-missing-in-dv",
            seen="The gradient of the values is made with the weights as they are, not transposed.",
            question="Which axis of the weights should be summed over, so that a row for each key "
                     "is left?",
            ways=(_passed(dv=lambda p, ds, grad: p @ grad),
                  _passed(dv=lambda p, ds, grad: np.einsum("ij,jd->id", p, grad))),
            step=_VALUES,
        ),
        Mistake(
            id="dv-from-scores",
            seen="The gradient of the values is made with the gradient of the scores, not with the "
                 "weights.",
            question="What multiplies a value on its way into a mixture?",
            ways=(_passed(dv=lambda p, ds, grad: ds.T @ grad),
                  lambda q, k, v, grad: _passed(dv=lambda p, ds, grad: ds.T @ grad * _scale(q))(
                      q, k, v, grad)),
            step=_VALUES,
        ),
        Mistake(
            id="keys-queries-swapped",
            seen="Queries and keys have changed places in their gradients.",
            question="With which vectors did a query meet in its scores: with keys, or with "
                     "queries?",
            ways=(_passed(dq=lambda ds, q, k: ds @ q * _scale(q),
                          dk=lambda ds, q, k: ds.T @ k * _scale(q)),
                  _passed(order=lambda dq, dk, dv: (dk, dq, dv)),
                  _passed(dq=lambda ds, q, k: ds.T @ k * _scale(q),
                          dk=lambda ds, q, k: ds @ q * _scale(q))),
            step=_ENDS,
        ),
        Mistake(
            id="transpose-missing-in-dk",
            seen="The gradient of the keys is made with the scores' gradient as it is, not "
                 "transposed.",
            question="Which axis should be summed over, so that a row for each key is left?",
            ways=(_passed(dk=lambda ds, q, k: ds @ q * _scale(q)),
                  _passed(dk=lambda ds, q, k: np.einsum("ij,jd->id", ds, q) * _scale(q))),
            step=_ENDS,
        ),
        Mistake(
            id="softmax-diagonal-only",
            seen="Each score is led back to its own weight alone.",
            question="If one score grows, what happens to the other weights of its row?",
            ways=(_passed(back=_diagonal), _passed(back=lambda p, dp: dp * (p - p * p))),
            step=_SOFTMAX,
        ),
        Mistake(
            id="not-centred",
            seen="The gradients of the weights are multiplied by the weights, and nothing is "
                 "subtracted.",
            question="If all values are equal, can any score change the mixture?",
            ways=(_passed(back=lambda p, dp: p * dp), _passed(back=np.multiply)),
            step=_SOFTMAX,
        ),
        Mistake(
            id="centred-wrong-axis",
            seen="The mean that is subtracted runs over the queries, or over everything.",
            question="Which weights compete with each other?",
            ways=(_passed(back=lambda p, dp: p * (dp - (p * dp).sum(axis=0))),
                  _passed(back=lambda p, dp: p * (dp - (p * dp).sum()))),
            step=_SOFTMAX,
        ),
        Mistake(
            id="plain-mean",
            seen="The plain mean of a row is subtracted, whatever the weights are.",
            question="Should a key of weight nearly 0 count as much in the mean as the others?",
            ways=(_passed(back=lambda p, dp: p * (dp - dp.mean(axis=-1, keepdims=True))),
                  _passed(back=lambda p, dp: p * (dp.T - dp.sum(1) / dp.shape[1]).T)),
            step=_SOFTMAX,
        ),
        Mistake(
            id="softmax-left-out",
            seen="The gradient of the weights is used for that of the scores: the softmax is "
                 "passed by.",
            question="What stands between a score and its weight?",
            ways=(_passed(back=lambda p, dp: dp),
                  lambda q, k, v, grad: (grad @ v.T @ k * _scale(q), v @ grad.T @ q * _scale(q),
                                         softmax(q @ k.T * _scale(q)).T @ grad)),
            step=_SOFTMAX,
        ),
        Mistake(
            id="another-order",
            seen="The three gradients are there, in another order than asked for.",
            question="Which of the three comes first in the text of the exercise, and which in "
                     "your return?",
            ways=tuple(_passed(order=lambda *d, places=places: tuple(d[i] for i in places))
                       for places in ((2, 1, 0), (0, 2, 1), (1, 2, 0), (2, 0, 1))),
            step=_ORDER,
        ),
        Mistake(
            id="grad-ignored",
            seen="The gradient that comes in is not used: all numbers of the mixtures count alike.",
            question="Where does your function use its fourth argument?",
            ways=(lambda q, k, v, grad: _solve_attention_backward(q, k, v, np.ones_like(grad)),
                  lambda q, k, v, grad: _backward_in_loops(q, k, v, np.ones(grad.shape))),
            step=_VALUES,
        ),
    ),
    variants=(_backward_in_loops, _with_matrices, _with_the_mixtures,
              in_float32(_solve_attention_backward)),
    solution=_solve_attention_backward,
    stages=_STAGES,
    package=(attention_book.attention_backward,),
)
