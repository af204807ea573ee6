"""At which step a head goes wrong, told from its weights.

Where the values are the unit vectors, the result of a head is the table of its weights. What is
wrong with the weights tells the steps apart: which of them are zero, whether they add up to one,
and whether their logarithms are the right scores but for a factor.
"""

from dataclasses import dataclass

from numpy import absolute, array_equal, errstate, eye, log, outer, random, where

from attention_book.exercises.model import Case
from attention_book.exercises.naming import wanted

_CLOSE = 1e-4
_NOTE = "values that are unit vectors"
_rng = random.default_rng(9)


@dataclass(frozen=True, eq=False)
class Probe:
    """Cases whose result is the table of weights, and what an exercise calls the steps.

    Parameters
    ----------
    cases : tuple of Case
        At least two of the same shapes, with other scores.
    scores, scale, mask, weights : str
        The names of the steps.
    """

    cases: tuple
    scores: str
    scale: str
    weights: str
    mask: str = ""


def of_queries_and_keys(n_query, n_key, d_head):
    """Return the cases for an answer that takes q, k, v."""
    return tuple(Case((_rng.normal(size=(n_query, d_head)), _rng.normal(size=(n_key, d_head)),
                       eye(n_key)), _NOTE) for _ in range(2))


def of_tokens(n, d_head, *others):
    """Return the cases for an answer that takes x, wq, wk, wv, and perhaps others."""
    return tuple(Case((eye(n), *_rng.normal(size=(2, n, d_head)), eye(n), *others), _NOTE)
                 for _ in range(2))


def of_a_step(t, d_model, d_head):
    """Return the cases for an answer that takes x_t, past_k, past_v, wq, wk, wv."""
    cases = []
    for _ in range(2):
        x_t, past_k = _rng.normal(size=d_model), _rng.normal(size=(t, d_head))
        wv = outer(x_t / (x_t @ x_t), eye(t + 1)[t])
        cases.append(Case((x_t, past_k, eye(t, t + 1), *_rng.normal(size=(2, d_model, d_head)),
                           wv), _NOTE))
    return tuple(cases)


def step_by_weights(exercise, attempt):
    """Return the step at which the weights go wrong, or "" where they do not tell."""
    probe = exercise.probe
    tables = [attempt(case).outcome.parts for case in probe.cases] if probe else []
    if not tables or any(not parts or parts[0].values is None for parts in tables):
        return ""
    due = [wanted(exercise, case)[0].values for case in probe.cases]
    came = [parts[0].values for parts in tables]
    if any(one.shape != other.shape for one, other in zip(came, due, strict=True)):
        return ""
    if all(absolute(one - other).max() < _CLOSE for one, other in zip(came, due, strict=True)):
        return ""
    return _which(probe, came, due)


def _which(probe, came, due):
    if not all(array_equal(one == 0, other == 0) for one, other in zip(came, due, strict=True)):
        by_place = all(array_equal(one == 0, came[0] == 0) for one in came)
        return probe.mask if by_place else probe.weights
    if any((absolute(one.sum(axis=-1) - 1) > _CLOSE).any() or (one < 0).any() for one in came):
        return probe.weights
    logs = [(_centred(one), _centred(other)) for one, other in zip(came, due, strict=True)]
    factors = [(one * other).sum() / (other * other).sum() for one, other in logs]
    if max(map(absolute, factors)) < _CLOSE:
        return probe.weights
    if all(absolute(one - factor * other).max() < 10 * _CLOSE
           for (one, other), factor in zip(logs, factors, strict=True)):
        return probe.scale
    same_order = all(array_equal(one.argsort(axis=-1), other.argsort(axis=-1))
                     for one, other in logs)
    return probe.weights if same_order else f"{probe.scores}, or a later one"


def _centred(weights):
    """Return the logarithms of a table's weights, each row moved to the mean 0; 0 for none."""
    with errstate(all="ignore"):
        logs = where(weights > 0, log(weights), 0)
    shown = (weights > 0).sum(axis=-1, keepdims=True)
    return where(weights > 0, logs - logs.sum(axis=-1, keepdims=True) / shown, 0)
