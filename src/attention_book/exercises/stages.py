"""The steps of attention, each with the mistakes that can be made there.

Of these an exercise of several steps makes every pair of mistakes, so that an answer with two of
them is told which step goes wrong first. A step reads and writes the fields of one ``t``: the
arguments ``args``, then ``q``, ``k``, ``v``, the scores ``s``, who is ``seen``, the ``weights`` and
the ``result``.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from attention_book.exercises.building_blocks import softmax


@dataclass(frozen=True, eq=False)
class Stage:
    """One step: the right way, and wrong ways with the ids that they may have in a catalogue."""

    right: Callable
    wrong: tuple  # of (ids, function); the first id that the exercise knows is meant


def pairs(stages, known):
    """Yield every answer with mistakes at two of the steps: first id, second id, function."""
    for first, second in itertools.combinations(range(len(stages)), 2):
        for one, other in itertools.product(_wrong(stages[first], known),
                                            _wrong(stages[second], known)):
            steps = [stage.right for stage in stages]
            steps[first], steps[second] = one[1], other[1]
            yield one[0], other[0], _answer(steps)


def _wrong(stage, known):
    for ids, step in stage.wrong:
        name = next((each for each in ids if each in known), None)
        if name:
            yield name, step


def _answer(steps):
    def answer(*args):
        t = SimpleNamespace(args=args)
        for step in steps:
            step(t)
        return t.result

    return answer


def sets(name, rule):
    """Return a step that sets one field of ``t`` to what ``rule`` gives."""
    return lambda t: setattr(t, name, rule(t))


def _scaled(factor):
    return sets("s", lambda t: t.s * factor(t))


def _seen(rule):
    """Who may be seen, by how far a key lies before the query (negative: after it)."""
    def step(t):
        n_query, n_key = t.s.shape[-2:]
        t.seen = rule(np.arange(n_query)[:, None] + t.offset - np.arange(n_key))

    return step


def _weights(rule):
    return sets("weights", rule)


def _filled(t, fill=-np.inf):
    return np.where(t.seen, t.s, fill)


def _renormalised(t):
    weights = softmax(t.s) * t.seen
    return weights / weights.sum(axis=-1, keepdims=True)


def _shared_sum(t):
    e = np.exp(_filled(t) - _filled(t).max(axis=(-1, -2), keepdims=True))
    return e / e.sum(axis=(-1, -2), keepdims=True)


SCORES = Stage(sets("s", lambda t: t.q @ t.k.swapaxes(-1, -2)), (
    (("queries-with-queries",), sets("s", lambda t: t.q @ t.q.swapaxes(-1, -2))),
    (("keys-with-keys",), sets("s", lambda t: t.k @ t.k.swapaxes(-1, -2))),
    (("queries-keys-swapped",), sets("s", lambda t: t.k @ t.q.swapaxes(-1, -2))),
))
SCALE = Stage(_scaled(lambda t: t.q.shape[-1] ** -0.5), (
    (("unscaled",), _scaled(lambda t: 1.0)),
    (("divide-by-d", "wrong-scale"), _scaled(lambda t: 1 / t.q.shape[-1])),
    (("multiply-by-sqrt-d", "wrong-scale"), _scaled(lambda t: t.q.shape[-1] ** 0.5)),
    (("scaled-by-d-v", "wrong-scale"), _scaled(lambda t: t.v.shape[-1] ** -0.5)),
    (("scaled-by-n-key", "scaled-by-n", "wrong-scale"), _scaled(lambda t: t.k.shape[-2] ** -0.5)),
    (("scaled-by-d-model",), _scaled(lambda t: t.args[0].shape[-1] ** -0.5)),
))
TRIANGLE = Stage(_seen(lambda before: before >= 0), (
    (("no-mask",), _seen(lambda before: before == before)),
    (("future-instead-of-past",), _seen(lambda before: before <= 0)),
    (("excludes-itself", "one-too-few"), _seen(lambda before: before > 0)),
    (("one-too-many",), _seen(lambda before: before >= -1)),
    (("top-left-aligned",), sets("seen", lambda t: np.tri(*t.s.shape[-2:], dtype=bool))),
))
EVERYTHING_SEEN = Stage(_seen(lambda before: before == before), ())
WEIGHTS = Stage(_weights(lambda t: softmax(_filled(t))), (
    (("wrong-axis",), _weights(lambda t: softmax(_filled(t), axis=-2))),
    (("global-sum",), _weights(_shared_sum)),
    (("no-softmax",), _weights(lambda t: t.s * t.seen)),
    (("not-normalised",), _weights(
        lambda t: np.exp(_filled(t) - _filled(t).max(axis=-1, keepdims=True)))),
    (("masked-after-softmax",), _weights(lambda t: softmax(t.s) * t.seen)),
    (("renormalised-too-late",), _weights(_renormalised)),
    (("masked-scores-zero",), _weights(lambda t: softmax(_filled(t, 0)))),
    (("equal-shares",), _weights(lambda t: t.seen / t.seen.sum(axis=-1, keepdims=True))),
))
VALUES = Stage(sets("result", lambda t: t.weights @ t.v), (
    (("weights-times-keys", "keys-mixed"), sets("result", lambda t: t.weights @ t.k)),
    (("weights-returned",), sets("result", lambda t: t.weights)),
    (("transposed",), sets("result", lambda t: (t.weights @ t.v).swapaxes(-1, -2))),
    (("tokens-added-back",), sets("result", lambda t: t.args[0] + t.weights @ t.v)),
))


def project(rule):
    """Return the step that makes queries, keys and values of the arguments by a rule."""
    def step(t):
        t.q, t.k, t.v = rule(*t.args)
        t.offset = t.k.shape[-2] - t.q.shape[-2]

    return step


GIVEN = Stage(project(lambda q, k, v: (q, k, v)), ())
PROJECTIONS = Stage(project(lambda x, wq, wk, wv: (x @ wq, x @ wk, x @ wv)), (
    (("keys-values-swapped",), project(lambda x, wq, wk, wv: (x @ wq, x @ wv, x @ wk))),
    (("no-value-projection",), project(lambda x, wq, wk, wv: (x @ wq, x @ wk, x))),
    (("weights-shared",), project(lambda x, wq, wk, wv: (x @ wq, x @ wq, x @ wq))),
    (("queries-keys-swapped",), project(lambda x, wq, wk, wv: (x @ wk, x @ wq, x @ wv))),
))

OF_ONE_HEAD = SCORES, SCALE, EVERYTHING_SEEN, WEIGHTS, VALUES
OF_A_CAUSAL_HEAD = SCORES, SCALE, TRIANGLE, WEIGHTS, VALUES
