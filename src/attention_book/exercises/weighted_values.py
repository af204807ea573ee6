"""The exercises of the chapter on weighted values."""

import numpy as np

from attention_book.exercises.building_blocks import (
    in_float32,
    reference_product,
    reference_softmax,
    softmax,
    unstable_softmax,
)
from attention_book.exercises.equivariance import IS_PERMUTATION_EQUIVARIANT
from attention_book.exercises.model import Case, Example, Exercise, Mistake, Step, prediction
from attention_book.exercises.shared_kinds import axis_of_one_lost, before_the_first_zero
from attention_book.exercises.whole_heads import ATTENTION, FAULT_CROSS_ATTENTION, SELF_ATTENTION

CHAPTER = "04_weighted_values"

_rng = np.random.default_rng(4)
_MIX = "the mixture of the values"


def _draw(*shape, size=1.0):
    return (size * _rng.normal(size=shape)).round(3)


# --- weighted_values(weights, v) ------------------------------------------------------------------
def _mixing(n_query, n_key, d_value):
    """Return weights and values."""
    return softmax(_draw(n_query, n_key)), _draw(n_key, d_value)


_FEW_QUERIES = Case(_mixing(2, 5, 3), "two queries and five keys", _MIX)
_MANY_QUERIES = Case(_mixing(7, 3, 2), "more queries than keys", _MIX)
_AS_MANY = Case(_mixing(5, 5, 3), "as many queries as keys", _MIX)
_ALL_ALIKE = Case(_mixing(5, 5, 5), "as many queries as keys and features", _MIX)


def _loops_over(weight, n_query=lambda weights: len(weights)):
    """Return a way to mix by loops, with ``weight(weights, i, j)`` for query i and key j."""
    def mixture(weights, v):
        out = np.zeros((n_query(weights), v.shape[1]))
        for i in range(len(out)):
            for j in range(len(v)):
                out[i] += weight(weights, i, j) * v[j]
        return out

    return mixture


def _last_value_only(weights, v):
    out = np.zeros((len(weights), v.shape[1]))
    for i in range(len(weights)):
        for j in range(len(v)):
            out[i] = weights[i, j] * v[j]
    return out


def _last_value_only_by_query(weights, v):
    out = []
    for row in weights:
        for weight, value in zip(row, v, strict=True):
            mixture = weight * value
        out.append(mixture)
    return out


def _transposed_in_loops(weights, v):
    n_key, n_query = weights.shape
    out = np.zeros((n_query, v.shape[1]))
    for i in range(n_query):
        for j in range(n_key):
            out[i] += weights[j, i] * v[j]
    return out


def _mixture_by_feature(weights, v):
    out = np.empty((len(weights), v.shape[1]))
    for feature in range(v.shape[1]):
        out[:, feature] = (weights * v[:, feature]).sum(axis=1)
    return out


def _solve_weighted_values(weights, v):
    return weights @ v  # (n_query, n_key) @ (n_key, d_value) -> (n_query, d_value)


_more = np.random.default_rng(41)


def _more_mixing(n_query, n_key, d_value):
    weights = softmax(_more.normal(size=(n_query, n_key)))
    return weights, _more.normal(size=(n_key, d_value)).round(3)


_ONE_QUERY = Case(_more_mixing(1, 5, 3), "a single query", _MIX)
_ONE_FEATURE = Case(_more_mixing(3, 5, 1), "values of one feature", _MIX)
_WITH_ZEROS = Case((np.array([[0.25, 0, 0.5, 0.25], [0, 0.5, 0, 0.5]]),
                    _more.normal(size=(4, 3)).round(3)), "weights of zero", _MIX)


def _over_columns(weights):
    total = weights.sum(axis=0)
    return weights / np.where(total == 0, 1, total)


def _until_a_zero(weights, v):
    out = []
    for row in weights:
        mixture, j = np.zeros(v.shape[1]), 0
        while j < len(v) and row[j] != 0:
            mixture, j = mixture + row[j] * v[j], j + 1
        out.append(mixture)
    return out


def _turned_if(fits):
    """Return the mixture with the weights turned where ``fits(weights, v)``."""
    return lambda weights, v: (weights.T if fits(weights, v) else weights) @ v


_WEIGHTED_VALUES = Exercise(
    id="weighted_values",
    chapter=CHAPTER,
    title="The mixture",
    signature="weighted_values(weights, v)",
    shapes="(n_query, n_key), (n_key, d_value) → (n_query, d_value)",
    prompt="Write weighted_values(weights, v): for each query the mixture of all values, each "
           "value times the query's weight for it. Row i of weights belongs to query i and adds "
           "up to 1.",
    hints=("Take one query. Which numbers multiply the values, and which row are they in?",
           "What happens to the axis of the keys? It is in both arguments, and not in the result.",
           "A sum of products over an axis that both share: you have met the operation that does "
           "this for all rows at once, in chapter 1."),
    example=Example((np.array([[0.5, 0.5, 0], [0, 0.25, 0.75]]),
                     np.array([[2.0, 0], [4, 8], [0, 4]])), [[3.0, 4.0], [1.0, 5.0]]),
    reference=reference_product,
    cases=(
        Case(_mixing(2, 3, 2), "other weights and values of these shapes", _MIX),
        _FEW_QUERIES,
        _MANY_QUERIES,
        _AS_MANY,
        _ALL_ALIKE,
        Case((np.ones((3, 1)), _draw(1, 5)), "a single key", _MIX),
        Case((softmax(_draw(2, 127)), _draw(127, 3, size=100.0)), "127 keys and large values",
             _MIX),
        _ONE_QUERY,
        _ONE_FEATURE,
        _WITH_ZEROS,
    ),
    naming=(_FEW_QUERIES, _MANY_QUERIES, _AS_MANY, _ALL_ALIKE, _ONE_QUERY, _ONE_FEATURE,
            _WITH_ZEROS),
    mistakes=(
        Mistake(
            id="weights-transposed",
            seen="The weights are used the other way round, columns for rows; where their numbers "
                 "differ, the shapes do not fit, or the result has a row for each key.",
            question="Which index of weights counts the queries, and which one do you sum over?",
            ways=(lambda weights, v: weights.T @ v, _transposed_in_loops,
                  lambda weights, v: weights.T @ v[:len(weights)],
                  _loops_over(lambda weights, i, j: weights[j, i]),
                  _loops_over(lambda weights, i, j: weights[j, i], lambda weights: len(weights.T)),
                  lambda weights, v: np.einsum("ji,jd->id", weights, v)),
        ),
        Mistake(
            id="unweighted-sum",
            seen="All values count alike, for every query: the weights have no influence.",
            question="If a query gives one token all of its weight, what should it receive?",
            ways=(_loops_over(lambda weights, i, j: 1),
                  _loops_over(lambda weights, i, j: 1 / weights.shape[1]),
                  lambda weights, v: np.ones_like(weights) @ v, lambda weights, v: v.sum(axis=0),
                  lambda weights, v: v.mean(axis=0),
                  lambda weights, v: v.sum(axis=0, keepdims=True)),
        ),
        Mistake(
            id="best-value-only",
            seen="Each query receives the value of its largest weight, and nothing of the others.",
            question="With weights 0.51 and 0.49, how much of the second value should arrive?",
            ways=(lambda weights, v: v[weights.argmax(axis=-1)],
                  lambda weights, v: [row.max() * v[row.argmax()] for row in weights],
                  lambda weights, v: (weights == weights.max(axis=-1, keepdims=True)) @ v),
        ),
        Mistake(
            id="one-product-only",
            seen="Each query keeps a single product: the others are overwritten in each round, or "
                 "the first is returned at once.",
            question="After your loop over the keys, what is left of the products before the last?",
            ways=(_last_value_only, _last_value_only_by_query,
                  lambda weights, v: weights[:, -1:] * v[-1],
                  lambda weights, v: np.outer(weights[:, 0], v[0])),
        ),
        Mistake(
            id="mean-not-sum",
            seen="The weighted values are averaged: divided by the number of keys once more.",
            question="Each row of weights adds up to 1. What would equal values come out as?",
            ways=(lambda weights, v: weights @ v / len(v),
                  lambda weights, v: (weights[:, :, None] * v).mean(axis=1),
                  _loops_over(lambda weights, i, j: weights[i, j] / weights.shape[1])),
        ),
        Mistake(
            id="not-summed",
            seen="There is a weighted value for each query and key, and they are not added up.",
            question="How many vectors should each query end up with?",
            ways=(lambda weights, v: weights[:, :, None] * v,
                  lambda weights, v: [[w * value for w, value in zip(row, v, strict=True)]
                                      for row in weights]),
        ),
        Mistake(
            id="keys-not-summed",
            seen="The values come first, or on their side, so that the product sums over another "
                 "axis than the keys.",
            question="A matrix product sums over the last axis of its first factor and the first "
                     "axis of its second. Which axes are these here?",
            ways=(lambda weights, v: v @ weights, lambda weights, v: v.T @ weights,
                  lambda weights, v: weights @ v.T,
                  lambda weights, v: np.einsum("kq,qd->kd", v, weights)),
        ),
        Mistake(
            id="wrong-axis",
            seen="The weighted values are summed over another axis than the keys.",
            question="In an array of (n_query, n_key, d_value), which axis should be gone at the "
                     "end?",
            ways=(lambda weights, v: (weights[:, :, None] * v).sum(axis=0),
                  lambda weights, v: (weights[:, :, None] * v).sum(axis=2),
                  lambda weights, v: [[sum(w * value) for w, value in zip(row, v, strict=True)]
                                      for row in weights]),
        ),
        Mistake(
            id="transposed",
            seen="The numbers are right, and rows and columns are exchanged.",
            question="Should a row of the result belong to a query or to a feature?",
            ways=(lambda weights, v: v.T @ weights.T,
                  lambda weights, v: np.einsum("qk,kd->dq", weights, v),
                  lambda weights, v: [[row @ column for row in weights] for column in v.T]),
        ),
        Mistake(
            id="elementwise",
            seen="Weights and values are multiplied place by place, which fits by chance or not at "
                 "all.",
            question="A weight is for a whole value. How many numbers does one weight multiply?",
            ways=(lambda weights, v: weights * v, lambda weights, v: weights * v.T,
                  lambda weights, v: (weights * v).sum(axis=-1),
                  lambda weights, v: (weights * v).sum(axis=0)),
        ),
        Mistake(
            id="key-left-out",
            seen="Not every key is in the sum: the first or the last is left out, or they are "
                 "counted by the length of another axis.",
            question="Which numbers does your loop over the keys count through, and how many keys "
                     "are there?",
            ways=(lambda weights, v: weights[:, :-1] @ v[:-1],
                  lambda weights, v: weights[:, 1:] @ v[1:],
                  lambda weights, v: _loops_over(lambda w, i, j: w[i, j])(weights, v[:-1]),
                  *(lambda weights, v, count=count: weights[:, : count(weights, v)]
                    @ v[: count(weights, v)] for count in (
                        lambda weights, v: len(weights), lambda weights, v: v.shape[1]))),
        ),
        Mistake(
            id="one-query-only",
            seen="The mixture of a single query comes out, and the other queries are missing.",
            question="How many rows should the result have for two queries?",
            ways=(lambda weights, v: weights[0] @ v, lambda weights, v: weights[-1] @ v,
                  lambda weights, v: weights[:1] @ v),
        ),
        Mistake(
            id="softmax-again",
            seen="A softmax is taken of the weights, which are shares already.",
            question="What does a row of weights add up to before your softmax?",
            ways=(lambda weights, v: softmax(weights) @ v,
                  lambda weights, v: unstable_softmax(weights) @ v,
                  lambda weights, v: [reference_softmax(row) @ v for row in weights]),
        ),
        Mistake(
            id="weights-added",
            seen="The weights of all queries are added up before they meet the values.",
            question="Two queries prefer different tokens. Can they receive the same mixture?",
            ways=(lambda weights, v: weights.sum(axis=0) @ v,
                  lambda weights, v: weights.sum(axis=0, keepdims=True) @ v,
                  lambda weights, v: np.tile(weights.sum(axis=0) @ v, (len(weights), 1))),
        ),
        Mistake(
            id="total-not-reset",
            seen="The mixture is not set back to 0 for the next query: it still holds those "
                 "before.",
            question="What does your mixture hold when the loop comes to the second query?",
            ways=(lambda weights, v: np.cumsum(weights @ v, axis=0),
                  lambda weights, v: np.cumsum(weights, axis=0) @ v),
        ),
        Mistake(
            id="columns-normalised",
            seen="The weights are divided by the sums of their columns, so that those of one key "
                 "add up to 1 over the queries.",
            question="What do the weights of one query add up to before your division, and what "
                     "after it?",
            ways=(lambda weights, v: _over_columns(weights) @ v,
                  lambda weights, v: weights / weights.sum(axis=0) @ v),
        ),
        Mistake(
            id="value-of-the-query",
            seen="The value is chosen by the number of the query, not by that of the key.",
            question="In the inner loop, which index counts the keys, and which one picks the "
                     "value?",
            ways=(lambda weights, v: [row.sum() * v[i] for i, row in enumerate(weights)],
                  lambda weights, v: [row.sum() * v[i % len(v)] for i, row in enumerate(weights)],
                  lambda weights, v: v[np.minimum(np.arange(len(weights)), len(v) - 1)]),
        ),
        Mistake(
            id="stops-at-zero",
            seen="The sum ends at a weight of zero; the values behind it are left out.",
            question="A weight of zero adds nothing. Does that hold for the keys behind it?",
            ways=(lambda weights, v: (weights * before_the_first_zero(weights)) @ v,
                  _until_a_zero),
        ),
        Mistake(
            id="turned-where-it-fits",
            seen="With as many queries as keys the weights are turned round; with other numbers "
                 "the result is right.",
            question="Shapes that fit may still mean something else. Does a row of weights belong "
                     "to a query or to a key?",
            ways=(_turned_if(lambda weights, v: weights.shape[0] == weights.shape[1]),
                  _turned_if(lambda weights, v: weights.shape == (len(v), len(v)))),
        ),
        axis_of_one_lost(_solve_weighted_values, _MIX),
    ),
    variants=(
        _loops_over(lambda weights, i, j: weights[i, j]),
        _mixture_by_feature,
        in_float32(_solve_weighted_values),
        lambda weights, v: np.einsum("qk,kd->qd", weights, v),
        lambda weights, v: (weights[..., None] * v).sum(axis=1),
        lambda weights, v: [sum(w * value for w, value in zip(row, v, strict=True))
                            for row in weights],
        lambda weights, v: [np.average(v, axis=0, weights=row).tolist() for row in weights],
    ),
    solution=_solve_weighted_values,
)


# --- predict_output_shape -------------------------------------------------------------------------
_PREDICT_OUTPUT_SHAPE = prediction(
    id="predict_output_shape",
    chapter=CHAPTER,
    title="Three tokens look at five",
    signature="a shape, such as (8, 9)",
    shapes="two whole numbers",
    prompt="Three tokens ask, and five other tokens answer. All have d_model = 7. The queries are "
           "the three tokens times wq of shape (7, 4); keys and values are the five tokens times "
           "wk of shape (7, 4) and wv of shape (7, 2). Which shape does attention(q, k, v) give? "
           "Write it down before you run anything.",
    hints=("Write the shape of every array on the way: q, k, v, scores, weights, output.",
           "Each matrix product sums one axis, and that axis is gone from its result. Which one "
           "goes in the scores, and which one in the mixture?",
           "Who asks decides the number of rows. What is mixed decides the number of columns."),
    value=(3, 2),
    steps=(Step("queries, keys and values", "(3, 4), (5, 4) and (5, 2)"),
           Step("the scores", "(3, 4) with (5, 4), features summed: (3, 5)"),
           Step("the weights", "the softmax keeps the shape: (3, 5)"),
           Step("the mixture", "(3, 5) with (5, 2), keys summed: (3, 2)")),
    mistakes=(
        Mistake(
            id="one-row-per-key",
            seen="There is a row for each token that answers.",
            question="For whom is a mixture made: for those who ask, or for those who answer?",
            ways=((5, 2), [5.0, 2.0]),
            step="the mixture",
        ),
        Mistake(
            id="shape-of-the-weights",
            seen="This is the shape of the scores and of the weights.",
            question="One step is left. Which axis does it sum over, and which one comes in?",
            ways=((3, 5), (5, 3)),
            step="the mixture",
        ),
        Mistake(
            id="width-of-the-queries",
            seen="The rows are as wide as a query or a key.",
            question="What is mixed: the keys, or something else?",
            ways=((3, 4), (5, 4)),
            step="the mixture",
        ),
        Mistake(
            id="width-of-the-tokens",
            seen="The rows are as wide as the tokens were before they were projected.",
            question="What is the shape of the values after the projection?",
            ways=((3, 7), (5, 7)),
            step="queries, keys and values",
        ),
        Mistake(
            id="transposed",
            seen="Rows and columns are exchanged.",
            question="What is on the first axis in this book: positions or features?",
            ways=((2, 3), "(2, 3)"),
            step="the mixture",
        ),
        Mistake(
            id="nothing-summed",
            seen="The keys are still there, as an axis of their own.",
            question="The mixture adds the weighted values up. Over which axis?",
            ways=((3, 5, 2), (5, 3, 2), (3, 2, 5)),
            step="the mixture",
        ),
        Mistake(
            id="all-tokens-together",
            seen="The tokens that ask and those that answer are counted together.",
            question="How many rows does q have, and how many rows can q @ k.T have?",
            ways=((8, 2), (8, 4), (8, 7), (8, 8)),
            step="queries, keys and values",
        ),
    ),
    variants=((3, 2), [3, 2], np.array([3, 2]), np.zeros((3, 2)).shape),
)


EXERCISES = (_WEIGHTED_VALUES, _PREDICT_OUTPUT_SHAPE, ATTENTION, SELF_ATTENTION,
             FAULT_CROSS_ATTENTION, IS_PERMUTATION_EQUIVARIANT)
