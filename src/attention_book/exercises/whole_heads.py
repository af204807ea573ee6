"""The exercises on whole heads: attention, self-attention, and a listing to mend."""

import dataclasses
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
from attention_book.exercises.probes import Probe, of_queries_and_keys, of_tokens
from attention_book.exercises.shared_kinds import axis_of_one_lost, rounded_roots
from attention_book.exercises.stages import GIVEN, OF_ONE_HEAD, PROJECTIONS

CHAPTER = "04_weighted_values"

_rng = np.random.default_rng(44)
_LN3 = math.log(3)
_MIX, _WEIGHTS, _SCALE = "the mixture of the values", "the weights", "the scale"
_SCORES, _PROJECTIONS = "the scores", "the projections"
_SHIFT, _ROW_MAXIMUM = "the shift by the row's maximum", "one maximum for each row"


def _draw(*shape, size=1.0):
    return (size * _rng.normal(size=shape)).round(3)


def _reference_attention(q, k, v):
    s = np.array(reference_product(q, np.transpose(k))) / math.sqrt(len(q[0]))
    return reference_product([reference_softmax(row) for row in s], v)


# --- attention(q, k, v) ---------------------------------------------------------------------------
def _arguments(n_query, n_key, d_head, d_value):
    """Return queries, keys and values."""
    return _draw(n_query, d_head), _draw(n_key, d_head), _draw(n_key, d_value)


def _quarters(*shape):
    """Return multiples of 1/4: with 16 features float32 holds every score of them exactly."""
    return (4 * _rng.normal(size=shape)).round() / 4


def _shifted_rows(*shifts):
    """Return arguments whose rows of scores lie ``shifts`` away from gentle ones."""
    q, k, v = _quarters(len(shifts), 16), _quarters(5, 16), _draw(5, 3)
    q[:, 0], k[:, 0] = shifts, 4
    return q, k, v


_GENERAL = Case(_arguments(3, 5, 7, 2), "three queries and five keys", _SCALE)
_MORE_QUERIES = Case(_arguments(7, 5, 3, 2), "more queries than keys", _SCALE)
_AS_MANY_KEYS = Case(_arguments(5, 5, 3, 7), "as many queries as keys", _WEIGHTS)
_SAME_WIDTH = Case(_arguments(5, 3, 7, 7), "keys as wide as values", _MIX)
_ALL_EQUAL = Case(_arguments(5, 5, 5, 5), "all four lengths alike", _WEIGHTS)
_LARGE = Case(_shifted_rows(900, 1000), "large scores", _SHIFT)
_FAR_APART = Case(_shifted_rows(1500, 0, -1500), "rows of scores far apart from one another",
                  "one maximum for each row")
_LOW = Case(_shifted_rows(-900, -1000), "very negative scores", _SHIFT)


def _head(scale=lambda q, k, v: q.shape[-1] ** -0.5, weigh=softmax,
          mix=lambda weights, k, v: weights @ v):
    """Return attention with one of its steps changed."""
    return lambda q, k, v: mix(weigh(q @ k.T * scale(q, k, v)), k, v)


def _head_by_query(scale=lambda q, k, v: math.sqrt(len(q[0])), mixed=lambda k, v: v,
                   shift=max, normal=sum, exp=np.exp):
    """Return attention in loops, with one of its steps changed."""
    def attend(q, k, v):
        out = []
        for query in q:
            s = [sum(a * b for a, b in zip(query, key, strict=True)) / scale(q, k, v) for key in k]
            exponentials = [exp(score - shift(s)) for score in s]
            out.append(sum(each / normal(exponentials) * row
                           for each, row in zip(exponentials, mixed(k, v), strict=True)))
        return out

    return attend


def _softmax_of_all(s):
    e = np.exp(s - s.max())
    return e / e.sum(axis=-1, keepdims=True)


def _one_sum_for_all(s):
    return np.exp(s - s.max()) / np.exp(s - s.max()).sum()


def _unnormalised(s):
    return np.exp(s - s.max(axis=-1, keepdims=True))


def _solve_attention(q, k, v):
    s = q @ k.T * q.shape[-1] ** -0.5  # (n_query, n_key)
    exponentials = np.exp(s - s.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ v  # (n_query, d_value)


def _shifted_by(shift):
    return _head(weigh=lambda s: unstable_softmax(s - shift(s)))


def _only_keys(choose):
    """Return attention to some of the keys: ``choose`` takes the number of queries and of keys."""
    def attend(q, k, v):
        some = choose(len(q), len(k))
        return _solve_attention(q, k[some], v[some])

    return attend


# Mistakes after the projections: attention and self-attention have them in common.
_LATER_MISTAKES = (
    Mistake(
        id="unscaled",
        seen="The softmax is taken of the dot products as they are, without the scale.",
        question="What is the variance of a dot product of d_head features, and what does the "
                 "softmax make of large scores?",
        ways=(_head(scale=lambda *_: 1), _head_by_query(scale=lambda *_: 1),
              _head(scale=lambda *_: 1, weigh=unstable_softmax)),
        step=_SCALE,
    ),
    Mistake(
        id="wrong-axis",
        seen="The weights add up to 1 over the queries.",
        question="Which axis of the scores runs over what one query compares?",
        ways=(_head(weigh=lambda s: softmax(s, axis=0)), _head(weigh=lambda s: softmax(s.T).T),
              _head(weigh=lambda s: np.exp(s) / np.exp(s).sum(axis=0)),
              _head(weigh=lambda s: np.exp(s - s.max(0)) / np.exp(s - s.max(0)).sum(0))),
        step=_WEIGHTS,
    ),
    Mistake(
        id="scaled-by-d-v",
        seen="The scale comes from the width of the values.",
        question="Over how many features does one score sum? Do the values take part in it?",
        ways=(_head(scale=lambda q, k, v: v.shape[-1] ** -0.5),
              _head_by_query(scale=lambda q, k, v: math.sqrt(v.shape[1]))),
        step=_SCALE,
    ),
    Mistake(
        id="divide-by-d",
        seen="The scores are divided by d_head itself.",
        question="What is the standard deviation of a sum of d_head products?",
        ways=(_head(scale=lambda q, k, v: 1 / q.shape[-1]),
              _head_by_query(scale=lambda q, k, v: len(q[0]))),
        step=_SCALE,
    ),
    Mistake(
        id="multiply-by-sqrt-d",
        seen="The scale is turned around: the scores grow, and the softmax saturates.",
        question="Should the factor be above or below 1 when d_head is large?",
        ways=(_head(scale=lambda q, k, v: q.shape[-1] ** 0.5),
              _head_by_query(scale=lambda q, k, v: len(q[0]) ** -0.5)),
        step=_SCALE,
    ),
    Mistake(
        id="scaled-after-softmax",
        seen="The weights or the mixtures are scaled, not the scores.",
        question="What do the weights of one query add up to after your scale?",
        ways=(lambda q, k, v: softmax(q @ k.T) @ v * q.shape[-1] ** -0.5,
              _head(scale=lambda *_: 1,
                    mix=lambda weights, k, v: weights / np.sqrt(k.shape[-1]) @ v)),
        step=_SCALE,
    ),
    Mistake(
        id="no-max-shift",
        seen="Gentle scores come out right, but the exponential of a large score overflows.",
        question="Which number can you take from a whole row of scores without changing its "
                 "weights?",
        ways=(_head(weigh=unstable_softmax), _head_by_query(shift=lambda s: 0),
              _head_by_query(shift=lambda s: 0, exp=math.exp)),
        step=_SHIFT,
    ),
    Mistake(
        id="global-max",
        seen="One maximum serves all rows, so a row far below it underflows to 0/0.",
        question="For the row of the lowest scores, how large is the largest exponential after "
                 "your shift?",
        ways=(_head(weigh=lambda s: unstable_softmax(s - s.max())),
              _head(weigh=lambda s: unstable_softmax(s - np.abs(s).max()))),
        step=_ROW_MAXIMUM,
    ),
    Mistake(
        id="low-rows-not-shifted",
        seen="Only large scores are shifted: in a row of very negative ones every exponential "
             "underflows to 0.",
        question="For a row of scores near -1000, which number do you subtract, and what is left "
                 "of its exponentials?",
        ways=(_shifted_by(lambda s: np.maximum(s.max(axis=-1, keepdims=True), 0)),
              _shifted_by(lambda s: np.abs(s).max(axis=-1, keepdims=True)),
              *(_shifted_by(lambda s, least=least: s.max(axis=-1, keepdims=True)
                            if s.max() > least else 0) for least in (0, 100, 700))),
        step=_SHIFT,
    ),
    Mistake(
        id="clipped",
        seen="Scores beyond a bound are cut off, or what overflows is replaced, so that large "
             "scores all look alike.",
        question="Do the scores 1000 and 1001 get the same weight? Should they?",
        ways=(*(_head(weigh=lambda s, bound=bound: unstable_softmax(np.clip(s, -bound, bound)))
                for bound in (20, 50, 100, 500, 700, 709)),
              *(_head(weigh=lambda s, bound=bound: unstable_softmax(np.minimum(s, bound)))
                for bound in (80, 500, 700, 709)),
              _head(weigh=lambda s: np.nan_to_num(unstable_softmax(s)))),
        step=_SHIFT,
    ),
    Mistake(
        id="axis-not-kept",
        seen="The maximum or the sum of each row is used without its axis, so that numpy lines the "
             "rows up with the columns; where their numbers differ, this raises an error.",
        question="A sum of shape (n_query,) meets scores of shape (n_query, n_key). With which of "
                 "the two axes is it lined up?",
        ways=(_head(weigh=lambda s: _unnormalised(s) / _unnormalised(s).sum(axis=-1)),
              _head(weigh=lambda s: unstable_softmax(s - s.max(axis=-1))),
              _head(weigh=lambda s: np.exp(s - s.max(-1)) / np.exp(s - s.max(-1)).sum(-1)),
              _head(weigh=lambda s: np.exp(s) / np.exp(s).sum(axis=-1))),
        step=_WEIGHTS,
    ),
    Mistake(
        id="not-normalised",
        seen="The exponentials are not divided by the sum of their own row.",
        question="What do the weights of one query add up to?",
        ways=(_head(weigh=np.exp), _head(weigh=_unnormalised), _head(weigh=_one_sum_for_all),
              _head(weigh=lambda s: _unnormalised(s) / _unnormalised(s).sum()),
              _head(weigh=lambda s: softmax(s.ravel()).reshape(s.shape)),
              _head_by_query(normal=lambda e: 1)),
        step=_WEIGHTS,
    ),
    Mistake(
        id="root-rounded",
        seen="The root of d_head is rounded to a whole number: right where d_head is a square, and "
             "only there.",
        question="What is the root of 7, and what do you divide by when d_head is 7?",
        ways=tuple(_head(scale=lambda q, k, v, root=root: 1 / root(q.shape[-1]))
                   for root in rounded_roots()),
        step=_SCALE,
    ),
    Mistake(
        id="constant-scale",
        seen="The scores are divided by the same number, whatever d_head is.",
        question="By what do you divide when there are 4 features, and by what when there are 100?",
        ways=tuple(_head(scale=lambda *_, c=c: 1 / c) for c in (2, 4, 8)),
        step=_SCALE,
    ),
    Mistake(
        id="half-for-a-root",
        seen="The scale holds d_head and a factor of two, where its root is wanted.",
        question="In which order does Python work out d ** 1 / 2, and what is it for d = 16?",
        ways=(_head(scale=lambda q, k, v: 0.5 / q.shape[-1]),
              _head(scale=lambda q, k, v: 2 / q.shape[-1]),
              _head(scale=lambda q, k, v: q.shape[-1] / 2)),
        step=_SCALE,
    ),
    Mistake(
        id="keys-left-out",
        seen="Not every key takes part: the first or the last is left out.",
        question="Which numbers does your loop over the keys count through, and how many keys are "
                 "there?",
        ways=(_only_keys(lambda n_query, n_key: slice(max(n_key - 1, 1))),
              _only_keys(lambda n_query, n_key: slice(1, None)),
              _only_keys(lambda n_query, n_key: slice(n_key - 1))),
        step=_SCORES,
    ),
    Mistake(
        id="one-row-only",
        seen="The mixture of a single query comes out, and the other queries are missing.",
        question="How many rows should the result have for two queries?",
        ways=tuple(lambda q, k, v, rows=rows: _solve_attention(q, k, v)[rows]
                   for rows in (0, -1, slice(1), slice(-1, None))),
        step=_MIX,
    ),
    Mistake(
        id="one-mixture-for-all",
        seen="All queries receive the same mixture, the mean or the sum of those that they should "
             "have.",
        question="Two queries ask for different things. Can they receive the same?",
        ways=tuple(lambda q, k, v, rows=rows, reduce=reduce:
                   np.tile(reduce(_solve_attention(q, k, v), axis=0), rows(q))
                   for rows in (lambda q: (len(q), 1), lambda q: 1)
                   for reduce in (np.mean, np.sum)),
        step=_MIX,
    ),
    Mistake(
        id="no-softmax",
        seen="No exponential is taken: the scores themselves, or their shares of a sum, multiply "
             "the values.",
        question="Can a share be negative, or larger than 1?",
        ways=(_head(weigh=lambda s: s), _head(weigh=lambda s: s / s.sum(axis=-1, keepdims=True)),
              lambda q, k, v: q @ (k.T @ v) / np.sqrt(q.shape[1])),
        step=_WEIGHTS,
    ),
    Mistake(
        id="softmax-after-values",
        seen="The softmax is taken of the mixture: the scores multiply the values first.",
        question="Which numbers should be positive and add up to 1: the weights, or the features "
                 "of the result?",
        ways=(lambda q, k, v: softmax(q @ k.T * q.shape[-1] ** -0.5 @ v),
              lambda q, k, v: softmax(q @ k.T @ v),
              lambda q, k, v: softmax(q @ (k.T @ v) / math.sqrt(len(k.T)), axis=0),
              lambda q, k, v: unstable_softmax(q @ k.T * q.shape[-1] ** -0.5 @ v)),
        step=_WEIGHTS,
    ),
    Mistake(
        id="weights-times-keys",
        seen="The weights mix the keys; the values are not used.",
        question="Keys decide who is looked at. What decides what is taken?",
        ways=(_head(mix=lambda weights, k, v: weights @ k), _head_by_query(mixed=lambda k, v: k)),
        step=_MIX,
    ),
    Mistake(
        id="weights-returned",
        seen="The result holds the weights; no values are mixed.",
        question="One step is left: what are the weights for?",
        ways=(_head(mix=lambda weights, k, v: weights),
              lambda q, k, v: softmax(k @ q.T / math.sqrt(len(k.T)), axis=0).T),
        step=_MIX,
    ),
    Mistake(
        id="best-value-only",
        seen="Each query receives the value of its best key, and nothing of the others.",
        question="With weights 0.51 and 0.49, how much of the second value should arrive?",
        ways=(lambda q, k, v: v[(q @ k.T).argmax(axis=-1)],
              lambda q, k, v: [v[np.argmax(k @ query)] for query in q]),
        step=_MIX,
    ),
    Mistake(
        id="equal-shares",
        seen="All values count alike: queries and keys have no influence.",
        question="If a query agrees with one key alone, what should it receive?",
        ways=(_head(weigh=lambda s: np.ones(s.shape)),
              _head(weigh=lambda s: np.ones(s.shape) / s.shape[-1])),
        step=_WEIGHTS,
    ),
    Mistake(
        id="transposed",
        seen="The numbers are right, and rows and columns are exchanged.",
        question="Should a row of the result belong to a query or to a feature?",
        ways=(lambda q, k, v: _solve_attention(q, k, v).T,
              lambda q, k, v: v.T @ softmax(k @ q.T * q.shape[-1] ** -0.5, axis=0)),
        step=_MIX,
    ),
)
_AS_MANY_KEYS_AS_QUERIES = Mistake(
    id="as-many-keys-as-queries",
    seen="Where there are more keys than queries, only as many take part as there are queries.",
    question="Which numbers does your loop over the keys count through, and how many keys are "
             "there?",
    ways=(_only_keys(lambda n_query, n_key: slice(n_query)),
          _only_keys(lambda n_query, n_key: np.arange(n_query)),
          _only_keys(lambda n_query, n_key: np.arange(n_query) % n_key)),
    step=_SCORES,
)

_ONE_QUERY = Case(_arguments(1, 5, 3, 2), "one query, five keys", _WEIGHTS)
_ONE_FEATURE = Case(_arguments(5, 7, 3, 1), "values of one feature", _MIX)


ATTENTION = Exercise(
    id="attention",
    chapter=CHAPTER,
    title="One whole head",
    signature="attention(q, k, v)",
    shapes="(n_query, d_head), (n_key, d_head), (n_key, d_value) → (n_query, d_value)",
    prompt="Write attention(q, k, v): scores, scale, softmax, mixture, for every query at once. "
           "Scores of any size must come out right. You may call your functions of earlier "
           "exercises. In the example 2.197 is 2 · log 3, so the weights are 1/4 and 3/4.",
    hints=("Three lines are enough: scaled scores, weights, mixture. Write the shape behind each.",
           "Softmax and mixture both run over the same axis of the scores. Is it that of the "
           "queries or that of the keys?",
           "Of the four lengths, only one gives the scale: the one that queries and keys share. "
           "And each row of scores has a maximum of its own."),
    example=Example((np.array([[2 * _LN3, 0, 0, 0]]), np.array([[0.0, 5, 0, 0], [1, 0, 0, 0]]),
                     np.array([[4.0, 0, 2], [0, 8, 2]])), [[1.0, 6.0, 2.0]]),
    reference=_reference_attention,
    stages=(GIVEN, *OF_ONE_HEAD),
    probe=Probe(of_queries_and_keys(3, 5, 2), _SCORES, _SCALE, _WEIGHTS, mask=_WEIGHTS),
    cases=(
        Case((np.zeros((3, 2)), *_arguments(3, 5, 2, 7)[1:]), "queries of zeros", _MIX),
        Case(_arguments(3, 5, 1, 2), "vectors of one feature, where the scale is 1", _WEIGHTS),
        Case(_arguments(1, 2, 4, 3), "another query and two other keys", _SCALE),
        _GENERAL,
        _MORE_QUERIES,
        _AS_MANY_KEYS,
        _SAME_WIDTH,
        _ALL_EQUAL,
        Case(_arguments(3, 1, 5, 2), "a single key", _WEIGHTS),
        _ONE_QUERY,
        _ONE_FEATURE,
        _LARGE,
        _LOW,
        _FAR_APART,
    ),
    naming=(_GENERAL, _MORE_QUERIES, _AS_MANY_KEYS, _SAME_WIDTH, _ALL_EQUAL, _LARGE, _FAR_APART,
            _LOW, _ONE_QUERY, _ONE_FEATURE),
    mistakes=(
        *_LATER_MISTAKES,
        Mistake(
            id="queries-keys-swapped",
            seen="Queries and keys have changed places: each key asks all queries. Where their "
                 "numbers differ, this raises an error.",
            question="Who asks, and should so have a row in the result? What does the first axis "
                     "of your scores count?",
            ways=(lambda q, k, v: softmax(k @ q.T * q.shape[-1] ** -0.5) @ v,
                  lambda q, k, v: softmax(k @ q.T) @ v,
                  lambda q, k, v: softmax(q @ k.T * q.shape[-1] ** -0.5).T @ v,
                  lambda q, k, v: np.einsum("ij,id->jd", softmax(q @ k.T / np.sqrt(len(q.T))), v),
                  lambda q, k, v: _head_by_query()(k, q, v)),
            step=_SCORES,
        ),
        Mistake(
            id="keys-not-transposed",
            seen="The scores sum over another axis than the features; where the lengths differ, "
                 "this raises an error.",
            question="On which axis of k are the features, and on which does your product look "
                     "for them?",
            ways=(lambda q, k, v: softmax(q @ k * q.shape[-1] ** -0.5) @ v,
                  lambda q, k, v: softmax(q @ k) @ v,
                  lambda q, k, v: softmax(q.T @ k * q.shape[-1] ** -0.5) @ v),
            step=_SCORES,
        ),
        Mistake(
            id="scaled-by-n-key",
            seen="The scale comes from the number of keys.",
            question="Does one score change when another key is added?",
            ways=(_head(scale=lambda q, k, v: len(k) ** -0.5),
                  _head(scale=lambda q, k, v: k.T.shape[-1] ** -0.5),
                  _head_by_query(scale=lambda q, k, v: math.sqrt(len(v)))),
            step=_SCALE,
        ),
        Mistake(
            id="scaled-by-n-query",
            seen="The scale comes from the number of queries.",
            question="Does one score change when another query is added?",
            ways=(_head(scale=lambda q, k, v: len(q) ** -0.5),
                  _head_by_query(scale=lambda q, k, v: math.sqrt(len(q)))),
            step=_SCALE,
        ),
        _AS_MANY_KEYS_AS_QUERIES,
        axis_of_one_lost(_solve_attention, _MIX),
    ),
    variants=(
        _head_by_query(),
        in_float32(_solve_attention),
        lambda q, k, v: np.einsum("ij,jd->id", softmax(
            np.einsum("if,jf->ij", q, k) / np.sqrt(k.shape[1])), v),
        lambda q, k, v: _unnormalised(q @ k.T / math.sqrt(q.shape[1])) @ v
        / _unnormalised(q @ k.T / math.sqrt(q.shape[1])).sum(axis=1, keepdims=True),
        lambda q, k, v: [(softmax(k @ query / len(query) ** 0.5) @ v).tolist() for query in q],
        lambda q, k, v: attention_book.softmax(attention_book.scores(q, k)) @ v,
        lambda q, k, v: (v.T @ softmax((k * k.shape[-1] ** -0.5) @ q.T, axis=0)).T,
    ),
    solution=_solve_attention,
    package=(attention_book.attention, attention_book.chunked_attention,
             attention_book.multi_head_attention),
)


# --- self_attention(x, wq, wk, wv) ----------------------------------------------------------------
def _tokens(n, d_model, d_head, d_value):
    """Return tokens and the weights of the three projections."""
    wq, wk = (_draw(d_model, d_head, size=d_model**-0.5) for _ in range(2))
    return _draw(n, d_model), wq, wk, _draw(d_model, d_value)


def _tokens_with_shifted_rows(*shifts):
    """Return tokens whose rows of scores lie ``shifts`` away from gentle ones.

    The first feature carries the shift to the queries, the second one the same 4 to all keys.
    """
    n = len(shifts)
    x, wq, wk = _quarters(n, 4), _quarters(4, 16), _quarters(4, 16)
    x[:, 0], x[:, 1], wq[:2], wk[:2] = np.divide(shifts, 125), 8, 0, 0
    wq[:, 0], wk[:, 0] = [125, 0, 0, 0], [0, 0.5, 0, 0]
    return x, wq, wk, _draw(4, 2)


def _reference_self_attention(x, wq, wk, wv):
    return _reference_attention(*(reference_product(x, w) for w in (wq, wk, wv)))


def _self(attend=_solve_attention, inputs=lambda x, wq, wk, wv: (x @ wq, x @ wk, x @ wv)):
    """Return self-attention with its projections, or what follows them, changed."""
    return lambda x, wq, wk, wv: attend(*inputs(x, wq, wk, wv))


def _self_by_token(query=lambda x, wq, wk: x @ wq, key=lambda x, wq, wk: x @ wk):
    """Return self-attention token by token, with the queries or the keys changed."""
    def attend(x, wq, wk, wv):
        out = []
        for asking in x:
            s = [query(asking, wq, wk) @ key(token, wq, wk) / math.sqrt(wq.shape[1]) for token in x]
            weights = reference_softmax(s)
            out.append(sum(w * (token @ wv) for w, token in zip(weights, x, strict=True)))
        return out

    return attend


_TOKENS = Case(_tokens(5, 7, 3, 2), "five tokens", _SCALE)
_TOKENS_MANY = Case(_tokens(11, 3, 5, 2), "eleven tokens of three features", _SCALE)
_TOKENS_EQUAL_WIDTHS = Case(_tokens(5, 7, 3, 3), "values as wide as keys", _PROJECTIONS)
_TOKENS_SQUARE_WEIGHTS = Case(_tokens(5, 3, 3, 3), "projections that keep the width", _PROJECTIONS)
_TOKENS_ALL_EQUAL = Case(_tokens(5, 5, 5, 5), "as many tokens as features", _PROJECTIONS)
_TOKENS_LARGE = Case(_tokens_with_shifted_rows(1000, 875, 1000, 1000, 875), "large scores", _SHIFT)
_TOKENS_LOW = Case(_tokens_with_shifted_rows(-1000, -900, -950), "very negative scores", _SHIFT)
_ONE_TOKEN = Case(_tokens(1, 3, 5, 2), "a single token", _MIX)
_ONE_VALUE = Case(_tokens(5, 3, 2, 1), "values of one feature", _MIX)
_TOKENS_APART = Case(_tokens_with_shifted_rows(1500, 0, -1500),
                     "rows of scores far apart from one another", _ROW_MAXIMUM)


def _solve_self_attention(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv  # (n, d_head), (n, d_head), (n, d_value)
    s = q @ k.T * q.shape[-1] ** -0.5  # (n, n)
    exponentials = np.exp(s - s.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ v  # (n, d_value)


SELF_ATTENTION = Exercise(
    id="self_attention",
    chapter=CHAPTER,
    title="Tokens look at one another",
    signature="self_attention(x, wq, wk, wv)",
    shapes="(n, d_model), (d_model, d_head), (d_model, d_head), (d_model, d_value) "
           "→ (n, d_value)",
    prompt="Write self_attention(x, wq, wk, wv): the tokens x are projected to queries, keys and "
           "values, and every token looks at all of them, itself included. You may call your "
           "attention. In the example 2.197 is 2 · log 3: the first token's weights are 1/2 and "
           "1/2, the second one's 3/4 and 1/4.",
    hints=("Queries, keys and values come from the same tokens, each by weights of its own.",
           "A token is a row of x. On which side of x do the weights stand, so that rows stay "
           "rows?",
           "After the projections nothing is new: it is the exercise before this one, with three "
           "arrays of n rows each."),
    example=Example((np.eye(2), np.array([[0.0, 0, 0, 0], [2 * _LN3, 0, 0, 0]]),
                     np.array([[1.0, 0, 0, 0], [0, 5, 0, 0]]), np.array([[4.0], [8.0]])),
                    [[6.0], [5.0]]),
    reference=_reference_self_attention,
    stages=(PROJECTIONS, *OF_ONE_HEAD),
    probe=Probe(of_tokens(5, 2), _SCORES, _SCALE, _WEIGHTS, mask=_WEIGHTS),
    cases=(
        Case((_draw(3, 2), np.zeros((2, 5)), _draw(2, 5), _draw(2, 7)), "queries of zeros", _MIX),
        Case(_tokens(5, 3, 1, 2), "queries of one feature, where the scale is 1", _PROJECTIONS),
        Case(_tokens(2, 2, 4, 1), "two other tokens", _SCALE),
        _TOKENS,
        _TOKENS_MANY,
        _TOKENS_EQUAL_WIDTHS,
        _TOKENS_SQUARE_WEIGHTS,
        _TOKENS_ALL_EQUAL,
        _ONE_TOKEN,
        _ONE_VALUE,
        _TOKENS_LARGE,
        _TOKENS_LOW,
        _TOKENS_APART,
    ),
    naming=(_TOKENS, _TOKENS_MANY, _TOKENS_EQUAL_WIDTHS, _TOKENS_SQUARE_WEIGHTS, _TOKENS_ALL_EQUAL,
            _TOKENS_LARGE, _TOKENS_APART, _TOKENS_LOW, _ONE_TOKEN, _ONE_VALUE),
    mistakes=(
        *(dataclasses.replace(mistake, ways=tuple(_self(way) for way in mistake.ways))
          for mistake in _LATER_MISTAKES),
        Mistake(
            id="keys-values-swapped",
            seen="Keys and values have changed places: the queries meet x @ wv, and x @ wk is "
                 "mixed. Where their widths differ, this raises an error.",
            question="Which of the three do the queries meet, and which one is taken along?",
            ways=(_self(inputs=lambda x, wq, wk, wv: (x @ wq, x @ wv, x @ wk)),
                  lambda x, wq, wk, wv: softmax((x @ wq) @ (x @ wv).T / np.sqrt(wv.shape[-1]))
                  @ (x @ wk)),
            step=_PROJECTIONS,
        ),
        Mistake(
            id="queries-with-queries",
            seen="Queries are compared with queries; the keys are not used.",
            question="If wk changes, does your result?",
            ways=(_self(inputs=lambda x, wq, wk, wv: (x @ wq, x @ wq, x @ wv)),
                  _self_by_token(key=lambda x, wq, wk: x @ wq)),
            step="the scores",
        ),
        Mistake(
            id="no-value-projection",
            seen="The tokens themselves are mixed; wv is not used.",
            question="What does a token hand over: all that it is, or what wv makes of it?",
            ways=(_self(inputs=lambda x, wq, wk, wv: (x @ wq, x @ wk, x)),
                  lambda x, wq, wk, wv: [row @ x for row in
                                         softmax((x @ wq) @ (x @ wk).T / np.sqrt(len(wk.T)))]),
            step=_PROJECTIONS,
        ),
        Mistake(
            id="keys-with-keys",
            seen="Keys are compared with keys; the queries are not used.",
            question="If wq changes, does your result?",
            ways=(_self(inputs=lambda x, wq, wk, wv: (x @ wk, x @ wk, x @ wv)),
                  _self_by_token(query=lambda x, wq, wk: x @ wk)),
            step="the scores",
        ),
        Mistake(
            id="queries-keys-swapped",
            seen="Queries and keys have changed places: a token's row holds what others ask of it.",
            question="Which index of your scores counts the tokens that ask, and over which one "
                     "does the softmax run?",
            ways=(_self(inputs=lambda x, wq, wk, wv: (x @ wk, x @ wq, x @ wv)),
                  _self_by_token(lambda x, wq, wk: x @ wk, lambda x, wq, wk: x @ wq)),
            step="the scores",
        ),
        Mistake(
            id="no-projections",
            seen="The tokens are compared, or mixed, as they are, without being projected.",
            question="What turns a token into a question, and what into something to be found by?",
            ways=(_self(inputs=lambda x, wq, wk, wv: (x, x, x)),
                  _self(inputs=lambda x, wq, wk, wv: (x, x, x @ wv)),
                  _self(_head(scale=lambda *_: 1), lambda x, wq, wk, wv: (x, x, x @ wv)),
                  _self(_head(scale=lambda *_: 1), lambda x, wq, wk, wv: (x, x, x))),
            step=_PROJECTIONS,
        ),
        Mistake(
            id="weights-first",
            seen="The weights stand before the tokens, or are turned on their side; where the "
                 "lengths differ, this raises an error.",
            question="In x @ w, what is summed over, and what becomes of the rows of x?",
            ways=(_self(inputs=lambda x, wq, wk, wv: (wq @ x, wk @ x, wv @ x)),
                  _self(inputs=lambda x, wq, wk, wv: (wq.T @ x, wk.T @ x, wv.T @ x)),
                  _self(inputs=lambda x, wq, wk, wv: (x @ wq.T, x @ wk.T, x @ wv.T)),
                  _self(inputs=lambda x, wq, wk, wv: (wq @ x.T, wk @ x.T, wv @ x.T))),
            step=_PROJECTIONS,
        ),
        Mistake(
            id="weights-shared",
            seen="One projection serves for queries, keys and values alike.",
            question="Which of the three weights have no influence on your result?",
            ways=(_self(inputs=lambda x, wq, wk, wv: (x @ wq,) * 3),
                  _self(inputs=lambda x, wq, wk, wv: (x @ wk,) * 3),
                  _self(inputs=lambda x, wq, wk, wv: (x @ wv,) * 3),
                  lambda x, wq, wk, wv: softmax((x @ wq) @ (x @ wq).T * len(wq.T) ** -0.5)
                  @ (x @ wq)),
            step=_PROJECTIONS,
        ),
        Mistake(
            id="scaled-by-d-model",
            seen="The scale comes from the width of the tokens.",
            question="Over how many features does one score sum?",
            ways=(lambda x, wq, wk, wv: _head(lambda *_: x.shape[-1] ** -0.5)(
                      x @ wq, x @ wk, x @ wv),
                  lambda x, wq, wk, wv: _head_by_query(lambda *_: len(wq) ** 0.5)(
                      x @ wq, x @ wk, x @ wv)),
            step=_SCALE,
        ),
        Mistake(
            id="scaled-by-n",
            seen="The scale comes from the number of tokens.",
            question="Does one score change when another token is added?",
            ways=(_self(_head(lambda q, k, v: len(q) ** -0.5)),
                  _self(_head_by_query(lambda q, k, v: len(k) ** 0.5))),
            step=_SCALE,
        ),
        Mistake(
            id="excludes-itself",
            seen="No token looks at itself.",
            question="May a token find what it asks for in its own contents?",
            ways=(_self(_head(weigh=lambda s: softmax(np.where(np.eye(len(s)), -np.inf, s)))),
                  _self(_head(weigh=lambda s: softmax(np.where(np.eye(len(s)), -1e9, s)))),
                  _self(_head(weigh=lambda s: np.where(np.eye(len(s)), 0, softmax(s))))),
            step=_WEIGHTS,
        ),
        Mistake(
            id="looks-back-only",
            seen="A token sees itself and those before it, and none of those behind.",
            question="Does this exercise say that later tokens are hidden?",
            ways=(_self(_head(weigh=lambda s: softmax(np.where(np.tri(len(s)), s, -np.inf)))),
                  _self(_head(weigh=lambda s: softmax(np.where(np.tri(len(s)), s, -1e9)))),
                  _self(_head(weigh=lambda s: np.tri(len(s)) * softmax(s)))),
            step=_WEIGHTS,
        ),
        Mistake(
            id="tokens-added-back",
            seen="The tokens are added to their mixtures; where the widths differ, this raises an "
                 "error.",
            question="What should be left of a token's own vector in the mixture of the values?",
            ways=(lambda x, wq, wk, wv: x + _solve_self_attention(x, wq, wk, wv),
                  lambda x, wq, wk, wv: x @ wv + _solve_self_attention(x, wq, wk, wv)),
            step=_MIX,
        ),
        axis_of_one_lost(_solve_self_attention, _MIX),
    ),
    variants=(
        _self(),
        _self_by_token(),
        in_float32(_solve_self_attention),
        _self(_head_by_query()),
        lambda x, wq, wk, wv: softmax(x @ (wq @ wk.T) @ x.T / math.sqrt(wq.shape[1])) @ x @ wv,
        lambda x, wq, wk, wv: np.einsum("ij,jm,md->id", softmax(np.einsum(
            "im,mf,nf,jn->ij", x, wq, wk, x) * wq.shape[1] ** -0.5), x, wv),
        lambda x, wq, wk, wv: attention_book.attention(x @ wq, x @ wk, x @ wv),
    ),
    solution=_solve_self_attention,
    package=(attention_book.multi_head_attention,),
)


# --- fault_cross_attention(x, y, wq, wk, wv) ------------------------------------------------------
def fault_cross_attention(x, y, wq, wk, wv):
    q = x @ wq  # (n_x, d_head)
    k = y @ wk  # (n_y, d_head)
    v = x @ wv  # (n_x, d_value)
    s = q @ k.T * q.shape[-1] ** -0.5  # (n_x, n_y)
    exponentials = np.exp(s - s.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ v


def _texts(n_x, n_y, d_model, d_head, d_value):
    """Return the tokens that ask, those that answer, and the weights of the projections."""
    x, wq, wk, wv = _tokens(n_x, d_model, d_head, d_value)
    return x, _draw(n_y, d_model), wq, wk, wv


def _cross(queries="x", keys="y", values="y", attend=_solve_attention):
    """Return attention from one text to another, each projection made of one of the two."""
    def look(x, y, wq, wk, wv):
        text = {"x": x, "y": y}
        return attend(text[queries] @ wq, text[keys] @ wk, text[values] @ wv)

    return look


def _cross_by_token(queries="x", keys="y", values="y"):
    def look(x, y, wq, wk, wv):
        text, out = {"x": x, "y": y}, []
        for asking in text[queries]:
            s = [asking @ wq @ (token @ wk) / math.sqrt(len(wq.T)) for token in text[keys]]
            out.append(sum(w * (token @ wv) for w, token in
                           zip(reference_softmax(s), text[values], strict=True)))
        return out

    return look


_TEXTS = Case(_texts(3, 5, 7, 2, 11), "three tokens ask, five answer", _MIX)
_TEXTS_FEWER = Case(_texts(7, 2, 5, 3, 2), "seven tokens ask, two answer", _MIX)
_TEXTS_AS_LONG = Case(_texts(5, 5, 3, 7, 2), "two texts of five tokens", _MIX)


def _solve_fault_cross_attention(x, y, wq, wk, wv):
    q = x @ wq  # (n_x, d_head)
    k = y @ wk  # (n_y, d_head)
    v = y @ wv  # (n_y, d_value): a value for each key
    s = q @ k.T * q.shape[-1] ** -0.5  # (n_x, n_y)
    exponentials = np.exp(s - s.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ v  # (n_x, d_value)


def _texts_with_shifted_rows(*shifts):
    """Return texts of which each token of x has scores ``shifts`` away from gentle ones."""
    x, wq, wk, wv = _tokens_with_shifted_rows(*shifts)
    y = _quarters(5, 4)
    y[:, 1] = 8
    return x, y, wq, wk, wv


_TEXTS_LARGE = Case(_texts_with_shifted_rows(1000, 875), "large scores", _SHIFT)
_TEXTS_LOW = Case(_texts_with_shifted_rows(-1000, -875), "very negative scores", _SHIFT)
_TEXTS_APART = Case(_texts_with_shifted_rows(1500, 0, -1500),
                    "rows of scores far apart from one another", _ROW_MAXIMUM)
_ONE_ASKS = Case(_texts(1, 5, 3, 2, 2), "a single token asks", _MIX)
_ONE_VALUE_OF_Y = Case(_texts(3, 5, 3, 2, 1), "values of one feature", _MIX)
# What goes wrong after the projections, of which the listing's own mistakes are no part.
_NOT_HERE = ("weights-times-keys", "softmax-after-values", "best-value-only", "equal-shares")
_LATER_IN_CROSS = tuple(
    dataclasses.replace(mistake, ways=tuple(_cross(attend=way) for way in mistake.ways))
    for mistake in (*_LATER_MISTAKES, _AS_MANY_KEYS_AS_QUERIES) if mistake.id not in _NOT_HERE)


def _where_it_ran(text_of):
    """Return attention to y, with the values of ``text_of(x, y)`` for texts of one length."""
    def look(x, y, wq, wk, wv):
        values = text_of(x, y) if len(x) == len(y) else y
        return _solve_attention(x @ wq, y @ wk, values @ wv)

    return look


def _other_text_on_error(x, y, wq, wk, wv):
    try:
        return fault_cross_attention(x, y, wq, wk, wv)
    except ValueError:
        return _cross()(x, y, wq, wk, wv)


FAULT_CROSS_ATTENTION = Exercise(
    id="fault_cross_attention",
    chapter=CHAPTER,
    title="One text looks at another",
    signature="fault_cross_attention(x, y, wq, wk, wv)",
    shapes="(n_x, d_model), (n_y, d_model), (d_model, d_head), (d_model, d_head), "
           "(d_model, d_value) → (n_x, d_value)",
    prompt="In this listing the tokens x should ask, and the tokens y should answer: each token of "
           "x receives a mixture of what the tokens of y hand over. One mistake is planted. With "
           "texts of different lengths the listing raises an error; with texts of one length it "
           "runs, and is wrong. Find the mistake and mend it. In the example 2.197 is 2 · log 3, "
           "so the weights are 3/4 and 1/4.",
    hints=("Write the shape behind every line, for n_x = 3 and n_y = 5. Which product does not "
           "fit?",
           "A transpose may silence the error and leave the mistake. Ask first whose contents are "
           "mixed.",
           "A weight belongs to a key, and it multiplies the value of the same token. Do row j of "
           "k and row j of v come from the same token here?"),
    example=Example((np.array([[1.0, 0]]), np.array([[0.0, 1], [1, 0]]),
                     np.array([[2 * _LN3, 0, 0, 0], [0, 0, 5, 0]]),
                     np.array([[0.0, 0, 0, 0], [1, 0, 0, 0]]), np.array([[4.0], [8.0]])), [[7.0]]),
    reference=lambda x, y, wq, wk, wv: _reference_attention(
        reference_product(x, wq), reference_product(y, wk), reference_product(y, wv)),
    cases=(
        _TEXTS_AS_LONG,
        Case(_texts(1, 2, 2, 4, 1), "another token that asks, two others that answer", _MIX),
        _TEXTS,
        _TEXTS_FEWER,
        Case(_texts(3, 1, 5, 2, 7), "a single token answers", _MIX),
        _ONE_ASKS,
        _ONE_VALUE_OF_Y,
        _TEXTS_LARGE,
        _TEXTS_LOW,
        _TEXTS_APART,
    ),
    naming=(_TEXTS_AS_LONG, _TEXTS, _TEXTS_FEWER, _ONE_ASKS, _ONE_VALUE_OF_Y, _TEXTS_LARGE,
            _TEXTS_LOW, _TEXTS_APART),
    mistakes=(
        Mistake(
            id="values-of-those-who-ask",
            seen="The values come from x: those who ask receive their own contents. Where the "
                 "texts differ in length, this raises an error, or leaves tokens of y out.",
            question="A weight was found by a key of y. Whose value should it multiply?",
            ways=(fault_cross_attention, _cross(values="x"), _cross_by_token(values="x"),
                  lambda x, y, wq, wk, wv: (
                      softmax((x @ wq) @ (y @ wk).T / np.sqrt(len(wq.T)))[:, :len(x)]
                      @ (x @ wv)[:len(y)]),
                  lambda x, y, wq, wk, wv: _solve_attention(
                      x @ wq, (y @ wk)[:len(x)], (x @ wv)[:len(y)])),
            step=_MIX,
        ),
        Mistake(
            id="weights-transposed",
            seen="The shapes fit because the weights, or the scores, were transposed; the values "
                 "still come from x.",
            question="After your change, which tokens have a row in the result: those who ask or "
                     "those who answer? And whose contents does it hold?",
            ways=(lambda x, y, wq, wk, wv: softmax(
                      (x @ wq) @ (y @ wk).T * wq.shape[1] ** -0.5).T @ (x @ wv),
                  lambda x, y, wq, wk, wv: softmax(
                      (x @ wq) @ (y @ wk).T * wq.shape[1] ** -0.5, axis=0).T @ (x @ wv),
                  lambda x, y, wq, wk, wv: softmax(
                      (y @ wk) @ (x @ wq).T / math.sqrt(len(wk.T))) @ (x @ wv)),
            step=_MIX,
        ),
        Mistake(
            id="x-looks-at-itself",
            seen="Keys and values both come from x: the other text has no influence.",
            question="If y changes, does your result?",
            ways=(_cross(keys="x", values="x"), _cross_by_token(keys="x", values="x"),
                  lambda x, y, wq, wk, wv: attention_book.attention(x @ wq, x @ wk, x @ wv)),
            step="the scores",
        ),
        Mistake(
            id="keys-of-those-who-ask",
            seen="The keys come from x and the values from y, so a weight multiplies the value of "
                 "another token than the one it was found by.",
            question="A token of y is found by its key. Which line should make that key?",
            ways=(_cross(keys="x"), _cross_by_token(keys="x")),
            step="the scores",
        ),
        Mistake(
            id="y-looks-at-itself",
            seen="Everything comes from y: nobody in x asks.",
            question="If x changes, does your result?",
            ways=(_cross(queries="y"), _cross_by_token(queries="y")),
            step="the scores",
        ),
        Mistake(
            id="queries-of-those-who-answer",
            seen="The tokens of y ask themselves, and receive values of x.",
            question="Two of your three arrays come from y. Is the text that asks one of them?",
            ways=(_cross("y", "y", "x"), _cross_by_token("y", "y", "x")),
            step="the scores",
        ),
        Mistake(
            id="texts-joined",
            seen="The tokens of x answer too: the two texts were joined.",
            question="Should a token of x receive anything of x?",
            ways=(lambda x, y, wq, wk, wv: _cross()(x, np.concatenate([x, y]), wq, wk, wv),
                  lambda x, y, *weights: _cross_by_token()(x, np.vstack([y, x]), *weights)),
            step="the scores",
        ),
        Mistake(
            id="no-value-projection",
            seen="The tokens themselves are mixed; wv is not used.",
            question="What does a token hand over: all that it is, or what wv makes of it?",
            ways=(lambda x, y, wq, wk, wv: _solve_attention(x @ wq, y @ wk, y),
                  lambda x, y, wq, wk, wv: _solve_attention(x @ wq, y @ wk, x)),
            step=_MIX,
        ),
        Mistake(
            id="roles-exchanged",
            seen="The tokens of y ask, and those of x answer.",
            question="Which text should have a row in the result for each of its tokens?",
            ways=(_cross("y", "x", "x"), _cross_by_token("y", "x", "x")),
            step="the scores",
        ),
        Mistake(
            id="keys-mixed",
            seen="The keys of y are mixed; wv is not used.",
            question="Keys decide who is looked at. What decides what is taken?",
            ways=(lambda x, y, wq, wk, wv: _solve_attention(x @ wq, y @ wk, y @ wk),
                  lambda x, y, wq, wk, wv: _head_by_query()(x @ wq, y @ wk, y @ wk)),
            step=_MIX,
        ),
        Mistake(
            id="mended-where-it-raised",
            seen="With texts of different lengths the result is right; with texts of one length "
                 "the values still come from x.",
            question="The error was a sign of the mistake. Is the mistake gone where there was no "
                     "error?",
            ways=(_where_it_ran(lambda x, y: x), _other_text_on_error),
            step=_MIX,
        ),
        *_LATER_IN_CROSS,
        Mistake(
            id="scaled-by-d-model",
            seen="The scale comes from the width of the tokens.",
            question="Over how many features does one score sum?",
            ways=(lambda x, y, wq, wk, wv: _head(lambda *_: len(wq) ** -0.5)(
                      x @ wq, y @ wk, y @ wv),
                  lambda x, y, wq, wk, wv: softmax((x @ wq) @ (y @ wk).T / np.sqrt(x.shape[1]))
                  @ y @ wv),
            step=_SCALE,
        ),
        Mistake(
            id="scaled-by-number-of-tokens",
            seen="The scale comes from the number of tokens, of those who ask or those who answer.",
            question="Does one score change when another token is added?",
            ways=tuple(_cross(attend=_head(scale)) for scale in (
                lambda q, k, v: len(k) ** -0.5, lambda q, k, v: len(q) ** -0.5)),
            step=_SCALE,
        ),
        axis_of_one_lost(_cross(), _MIX),
    ),
    variants=(
        _cross(),
        _cross_by_token(),
        in_float32(_cross()),
        lambda x, y, wq, wk, wv: attention_book.attention(x @ wq, y @ wk, y @ wv),
        lambda x, y, wq, wk, wv: softmax(x @ wq @ wk.T @ y.T / math.sqrt(len(wq.T))) @ y @ wv,
        lambda x, y, wq, wk, wv: np.einsum("ij,jm,md->id", softmax(
            np.einsum("im,mf,nf,jn->ij", x, wq, wk, y) * len(wk.T) ** -0.5), y, wv),
    ),
    solution=_solve_fault_cross_attention,
    faulty=fault_cross_attention,
)
