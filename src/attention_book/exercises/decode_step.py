"""The exercise on one step with a cache: a new key, a new value, and one query that meets all."""

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
from attention_book.exercises.probes import Probe, of_a_step
from attention_book.exercises.stages import OF_ONE_HEAD, Stage, sets

_rng = np.random.default_rng(77)
_LN3 = math.log(3)
_NEW, _KEPT, _MIX = "the new key and value", "what is kept", "the mixture of the values"
_SCALE, _WEIGHTS, _SHIFT = "the scale", "the weights", "the shift by the maximum"
_PROJECTIONS, _SCORES = "the projections", "the scores"


def _draw(*shape, size=1.0):
    return (size * _rng.normal(size=shape)).round(3)


def _arguments(t, d_model, d_head, d_value):
    """Return a token, the keys and values of the t before it, and the three projections."""
    return (_draw(d_model), _draw(t, d_head), _draw(t, d_value),
            *(_draw(d_model, width, size=d_model**-0.4) for width in (d_head, d_head, d_value)))


def _large(shift, past=1):
    """Return arguments whose scores all lie near ``shift``, exactly in float32.

    Those of the past keys lie near ``past * shift``.
    """
    x_t, (wq, wk) = np.array([1.0, 0, 0]), (2 * _rng.normal(size=(2, 3, 4))).round() / 4
    past_k = (2 * _rng.normal(size=(5, 4))).round() / 4
    wq[0, 0], wk[0, 0], past_k[:, 0] = 2 * shift, 1, past
    return x_t, past_k, _draw(5, 2), wq, wk, _draw(3, 2)


_STEP = Case(_arguments(5, 7, 3, 2), "5 tokens before", _SCALE)
_STEP_WIDE = Case(_arguments(3, 2, 5, 7), "3 tokens before, wide values", _SCALE)
_STEP_SAME = Case(_arguments(4, 5, 3, 3), "values as wide as keys", _NEW)
_STEP_SQUARE = Case(_arguments(3, 3, 3, 3), "all lengths alike", _PROJECTIONS)
_STEP_FIRST = Case(_arguments(0, 5, 3, 2), "no token before", _WEIGHTS)
_STEP_LARGE = Case(_large(1000), "large scores", _SHIFT)
_STEP_TOWERING = Case(_large(1000, past=0), "an own score that towers over the others", _SHIFT)


def _behind(past, new):
    return np.concatenate([past, new[None]])


def _before(past, new):
    return np.concatenate([new[None], past])


def _in_last_place(past, new):
    past = past.copy()
    past[-1] = new
    return past


def _without_oldest(past, new):
    return np.concatenate([past[1:], new[None]])


def _flat(past, new):
    return np.append(past, new)


def _cut_anew(order):
    """Return a way of joining all numbers in one row, and cutting that into columns again."""
    if order == "C":
        return lambda past, new: np.append(past, new).reshape(-1, len(past) + 1).T
    return lambda past, new: np.append(past, new).reshape(len(past) + 1, -1, order="F")


def _unchanged(past, new):
    return past


def _attend(q, k, v):
    return softmax(k @ q * len(q) ** -0.5) @ v


def _attend_by_loop(q, k, v):
    weights = reference_softmax([sum(a * b for a, b in zip(q, key, strict=True))
                                 / math.sqrt(len(q)) for key in k])
    return sum(weight * value for weight, value in zip(weights, v, strict=True))


def _scaled_by(factor):
    """Return attention with another scale: ``factor(q, k, v)``."""
    return lambda q, k, v: softmax(k @ q * factor(q, k, v)) @ v


def _weighed_by(weigh):
    return lambda q, k, v: weigh(k @ q * len(q) ** -0.5) @ v


def _step(keep_k=_behind, keep_v=_behind, attend=_attend, new=lambda q, k, v: (q, k, v),
          project=lambda x_t, wq, wk, wv: (x_t @ wq, x_t @ wk, x_t @ wv)):
    """Return a step with one of its parts changed; all that is kept is attended to."""
    def step(x_t, past_k, past_v, wq, wk, wv):
        q, k_t, v_t = new(*project(x_t, wq, wk, wv))
        new_k, new_v = keep_k(past_k, k_t), keep_v(past_v, v_t)
        return attend(q, new_k, new_v), new_k, new_v

    return step


def _apart(seen_k=_behind, seen_v=_behind, kept_k=_behind, kept_v=_behind, attend=_attend):
    """Return a step that attends to other keys and values than those it gives back."""
    def step(x_t, past_k, past_v, wq, wk, wv):
        q, k_t, v_t = x_t @ wq, x_t @ wk, x_t @ wv
        out = attend(q, seen_k(past_k, k_t), seen_v(past_v, v_t))
        return out, kept_k(past_k, k_t), kept_v(past_v, v_t)

    return step


def _results(*order):
    """Return a step whose three results come in another order."""
    return lambda *args: tuple(_step()(*args)[i] for i in order)


def _queries_kept(attend=_attend):
    def step(x_t, past_k, past_v, wq, wk, wv):
        q, k_t, v_t = x_t @ wq, x_t @ wk, x_t @ wv
        new_v = _behind(past_v, v_t)
        return attend(q, _behind(past_k, k_t), new_v), _behind(past_k, q), new_v

    return step


def _keep_tokens_and_project_all(x_t, past_k, past_v, wq, wk, wv):
    new_k, new_v = _behind(past_k, x_t), _behind(past_v, x_t)
    return _attend(x_t @ wq, new_k @ wk, new_v @ wv), new_k, new_v


def _past_or_itself(past, new):
    return past if len(past) else new[None]


def _first_key_only(q, k, v):
    """Mask one query as if it stood at the first position."""
    mask = np.tri(1, len(k), dtype=bool)[0]
    return softmax(np.where(mask, k @ q * len(q) ** -0.5, -np.inf)) @ v


def _empty_is_zero(attend):
    return lambda q, k, v: attend(q, k, v) if len(k) else np.zeros(v.shape[1])


def _shorter(q, k, v):
    weights = softmax(k @ q * len(q) ** -0.5)
    return weights[: len(v)] @ v[: len(weights)]


def _kept_by(join, new=lambda x, wq, wk, wv: (x @ wk, x @ wv)):
    """Return the step that makes the query, and joins the new key and value to the old ones."""
    def step(t):
        x_t, past_k, past_v, *weights = t.args
        t.q, t.offset = (x_t @ weights[0])[None], len(past_k)
        new_k, new_v = new(x_t, *weights)
        t.k, t.v = join(past_k, new_k, 0), join(past_v, new_v, 1)

    return step


def _new_last(past, new, _):
    return np.concatenate([past, [new]])


_STEP_STAGES = (
    Stage(_kept_by(_new_last), (
        (("keys-values-swapped",), _kept_by(_new_last, lambda x, wq, wk, wv: (x @ wv, x @ wk))),
        (("caches-queries",), _kept_by(_new_last, lambda x, wq, wk, wv: (x @ wq, x @ wv))),
        (("prepends",), _kept_by(lambda past, new, _: np.concatenate([[new], past]))),
        (("overwrites-last",), _kept_by(lambda past, new, _: np.concatenate([past[:-1], [new]]))),
        (("drops-oldest",), _kept_by(lambda past, new, _: np.concatenate([past[1:], [new]]))),
        (("forgets-current-token",), _kept_by(lambda past, new, _: past)),
        (("values-not-updated",), _kept_by(
            lambda past, new, which: past if which else _new_last(past, new, which))))),
    *OF_ONE_HEAD,
    Stage(sets("result", lambda t: (t.result[0], t.k, t.v)), ()),
)


def _reference_decode_step(x_t, past_k, past_v, wq, wk, wv):
    q, k_t, v_t = (reference_product([x_t], w)[0] for w in (wq, wk, wv))
    k, v = [*past_k.tolist(), k_t], [*past_v.tolist(), v_t]
    s = [math.fsum(a * b for a, b in zip(q, key, strict=True)) / math.sqrt(len(q)) for key in k]
    return reference_product([reference_softmax(s)], v)[0], k, v


def _as_a_row(x_t, past_k, past_v, wq, wk, wv):
    x = x_t[None]  # (1, d_model)
    k, v = np.vstack([past_k, x @ wk]), np.vstack([past_v, x @ wv])
    return attention_book.attention(x @ wq, k, v)[0], k, v


def _by_room(x_t, past_k, past_v, wq, wk, wv):
    t = len(past_k)
    k, v = np.empty((t + 1, wk.shape[1])), np.empty((t + 1, wv.shape[1]))
    k[:t], v[:t], k[t], v[t] = past_k, past_v, x_t @ wk, x_t @ wv
    return _attend_by_loop(x_t @ wq, k, v), k, v


def _by_append(x_t, past_k, past_v, wq, wk, wv):
    k = np.append(past_k, [x_t @ wk], axis=0)
    v = np.append(past_v, [x_t @ wv], axis=0)
    s = np.einsum("d,jd->j", x_t @ wq, k) / np.sqrt(k.shape[1])
    return [np.einsum("j,jd->d", softmax(s), v), k.tolist(), v.tolist()]


def _solve_decode_step(x_t, past_k, past_v, wq, wk, wv):
    q = x_t @ wq  # (d_head,): needed now, and never again
    new_k = np.concatenate([past_k, [x_t @ wk]])  # (t + 1, d_head)
    new_v = np.concatenate([past_v, [x_t @ wv]])  # (t + 1, d_value)
    s = new_k @ q * len(q) ** -0.5  # (t + 1,)
    exponentials = np.exp(s - s.max())
    weights = exponentials / exponentials.sum()
    return weights @ new_v, new_k, new_v


DECODE_STEP = Exercise(
    id="decode_step",
    chapter="07_kv_cache",
    title="One step with a cache",
    signature="decode_step(x_t, past_k, past_v, wq, wk, wv)",
    shapes="(d_model,), (t, d_head), (t, d_value), (d_model, d_head), (d_model, d_head), "
           "(d_model, d_value) → (d_value,), (t + 1, d_head), (t + 1, d_value)",
    parts=("out", "new_k", "new_v"),
    prompt="One head decodes. x_t is the newest token, past_k and past_v are the keys and values "
           "of the t tokens before it, oldest first; t may be 0. Write "
           "decode_step(x_t, past_k, past_v, wq, wk, wv), which returns three arrays: what the new "
           "token finds among all tokens so far, itself included; the keys with the new one "
           "behind the old ones; the values likewise. Scores of any size must come out right, and "
           "past_k and past_v must stay as they are. You may call your functions of earlier "
           "exercises. In the example 1.099 is log 3, so the weights are 3/4 and 1/4.",
    hints=("Which of q, k and v must be made for the new token, and which of the three is not "
           "needed at later steps?",
           "The new token attends to itself too. So what has to be done before the scores?",
           "Project x_t three times. Put its key behind past_k and its value behind past_v, as one "
           "more row. Then one query meets t + 1 keys, and no mask is needed."),
    example=Example((np.array([1.0]), np.array([[1.0]]), np.array([[8.0, 0]]), np.array([[_LN3]]),
                     np.array([[0.0]]), np.array([[0.0, 4]])),
                    ([6.0, 1.0], [[1.0], [0.0]], [[8.0, 0.0], [0.0, 4.0]])),
    reference=_reference_decode_step,
    stages=_STEP_STAGES,
    part_steps={"new_k": _KEPT, "new_v": _KEPT},
    probe=Probe(of_a_step(4, 3, 2), _SCORES, _SCALE, _WEIGHTS, mask=_WEIGHTS),
    cases=(
        _STEP_FIRST,
        Case((*_arguments(5, 3, 2, 3)[:3], np.zeros((3, 2)), *_arguments(5, 3, 2, 3)[4:]),
             "a query of zeros", _WEIGHTS),
        Case(_arguments(1, 1, 1, 2), "other numbers, one token before", _WEIGHTS),
        Case(_arguments(5, 3, 1, 2), "keys of one feature", _WEIGHTS),
        _STEP,
        _STEP_WIDE,
        _STEP_SAME,
        _STEP_SQUARE,
        _STEP_LARGE,
        _STEP_TOWERING,
    ),
    naming=(_STEP, _STEP_WIDE, _STEP_SAME, _STEP_SQUARE, _STEP_FIRST, _STEP_LARGE,
            _STEP_TOWERING),
    mistakes=(
        Mistake(
            id="forgets-current-token",
            seen="The new token looks at those before it, and not at itself.",
            question="When is the new key put to the others: before the scores, or after them?",
            ways=(_apart(_unchanged, _unchanged),
                  _apart(_unchanged, _unchanged, attend=_empty_is_zero(_attend)),
                  _apart(_unchanged, _unchanged, attend=_attend_by_loop),
                  _apart(_past_or_itself, _past_or_itself),
                  _apart(_unchanged, _unchanged, _unchanged, _unchanged),
                  _apart(_unchanged, _unchanged, _unchanged, _unchanged,
                         _empty_is_zero(_attend)),
                  _apart(_unchanged, _unchanged, attend=_scaled_by(lambda *_: 1))),
            step=_NEW,
        ),
        Mistake(
            id="caches-queries",
            seen="The query is kept among the keys.",
            question="Which of the new token's q, k and v will later tokens ask for?",
            ways=(_queries_kept(), _step(new=lambda q, k, v: (q, q, v)),
                  _queries_kept(_attend_by_loop), _step(new=lambda q, k, v: (q, k, q))),
            step=_KEPT,
        ),
        Mistake(
            id="values-not-updated",
            seen="Keys and values do not grow alike, by one row each: the new value is not put "
                 "behind the old ones, or what is new does not have the form of a row.",
            question="Which shapes do keys and values have after the step? A later token gives "
                     "weight to this one: which value will it receive?",
            ways=(_step(keep_v=_unchanged), _step(keep_v=_unchanged, attend=_shorter),
                  _step(keep_k=_unchanged), _step(_flat, _flat),
                  _step(lambda past, new: np.concatenate([past, new]),
                        lambda past, new: np.concatenate([past, new])),
                  _step(lambda past, new: np.hstack([past, new[:, None]]),
                        lambda past, new: np.hstack([past, new[:, None]])),
                  _apart(kept_v=_unchanged), _apart(kept_v=_unchanged, attend=_attend_by_loop)),
            step=_KEPT,
        ),
        Mistake(
            id="keys-not-updated",
            seen="The new value is kept, and the new key is not.",
            question="How will later tokens find this one?",
            ways=(_step(keep_k=_unchanged, attend=_shorter),
                  _apart(kept_k=_unchanged), _apart(kept_k=_unchanged, attend=_attend_by_loop)),
            step=_KEPT,
        ),
        Mistake(
            id="cache-not-extended",
            seen="The new token attends as it should, and the old keys and values are given back.",
            question="How many keys should there be after the step?",
            ways=(_apart(kept_k=_unchanged, kept_v=_unchanged),
                  _apart(kept_k=_unchanged, kept_v=_unchanged, attend=_attend_by_loop)),
            step=_KEPT,
        ),
        Mistake(
            id="overwrites-last",
            seen="The new key and value replace those of the token before.",
            question="After t + 1 tokens, how many keys should there be?",
            ways=(_step(_in_last_place, _in_last_place),
                  _step(lambda past, new: np.concatenate([past[:-1], new[None]]),
                        lambda past, new: np.concatenate([past[:-1], new[None]])),
                  _apart(kept_k=_in_last_place, kept_v=_in_last_place)),
            step=_KEPT,
        ),
        Mistake(
            id="drops-oldest",
            seen="The oldest key and value make room for the new ones.",
            question="After t + 1 tokens, how many keys should there be?",
            ways=(_step(_without_oldest, _without_oldest),
                  _apart(kept_k=_without_oldest, kept_v=_without_oldest)),
            step=_KEPT,
        ),
        Mistake(
            id="prepends",
            seen="The new row is put in front of the old ones.",
            question="The tokens are kept oldest first. Where does the newest one belong?",
            ways=(_step(_before, _before), _step(keep_k=_before), _step(keep_v=_before),
                  _apart(kept_k=_before, kept_v=_before),
                  _step(lambda past, new: np.insert(past, 0, new, axis=0),
                        lambda past, new: np.insert(past, 0, new, axis=0), _attend_by_loop)),
            step=_KEPT,
        ),
        Mistake(
            id="flattened",
            seen="The keys come back strung together in one long row, and so do the values.",
            question="What is the shape of the new key, and which shape must it have to be one "
                     "more row?",
            ways=(_apart(kept_k=_flat, kept_v=_flat),
                  _apart(kept_k=_flat, kept_v=_flat, attend=_attend_by_loop),
                  _apart(kept_k=lambda past, new: [*past.ravel(), *new],
                         kept_v=lambda past, new: [*past.ravel(), *new])),
            step=_KEPT,
        ),
        Mistake(
            id="cut-anew",
            seen="The new row has been strung together with the old ones, and all numbers are cut "
                 "into rows anew, in which features of several keys are mixed.",
            question="Is row 0 of your keys still the key of the oldest token?",
            ways=(_step(_cut_anew("C"), _cut_anew("C")), _step(_cut_anew("F"), _cut_anew("F")),
                  _step(lambda past, new: np.append(past.T, new).reshape(-1, len(new)),
                        lambda past, new: np.append(past.T, new).reshape(-1, len(new)))),
            step=_KEPT,
        ),
        Mistake(
            id="nothing-at-first",
            seen="With no token before it, the new one finds zeros.",
            question="Which key does the first token of a text see?",
            ways=(_apart(attend=lambda q, k, v: _attend(q, k, v) * (len(k) > 1)),
                  lambda x_t, past_k, *others: _step()(x_t, past_k, *others) if len(past_k) else
                  (np.zeros(others[3].shape[1]), *_step()(x_t, past_k, *others)[1:])),
            step=_NEW,
        ),
        Mistake(
            id="added-to-each",
            seen="The new numbers are added to the old ones, not put behind them.",
            question="What does + do to two arrays, and what does it do to two lists?",
            ways=(_step(np.add, np.add), _apart(kept_k=np.add, kept_v=np.add)),
            step=_KEPT,
        ),
        Mistake(
            id="new-only",
            seen="The new key and value come back alone.",
            question="What will the next step know of the tokens before this one?",
            ways=(_apart(kept_k=lambda past, new: new, kept_v=lambda past, new: new),
                  _apart(kept_k=lambda past, new: new[None], kept_v=lambda past, new: new[None]),
                  _step(lambda past, new: new[None], lambda past, new: new[None])),
            step=_KEPT,
        ),
        Mistake(
            id="results-in-another-order",
            seen="The three results are right, and come in another order.",
            question="In which order does the exercise ask for out, keys and values?",
            ways=(_results(1, 2, 0), _results(0, 2, 1), _results(2, 1, 0), _results(1, 0, 2),
                  _results(2, 0, 1)),
            step=_KEPT,
        ),
        Mistake(
            id="axis-left-over",
            seen="The result for the one token still has an axis of length 1.",
            question="x_t has one axis. How many should out have?",
            ways=(lambda *args: (_step()(*args)[0][None], *_step()(*args)[1:]),
                  lambda *args: (_step()(*args)[0][:, None], *_step()(*args)[1:])),
            step=_MIX,
        ),
        Mistake(
            id="keys-values-swapped",
            seen="Keys and values have changed places; where their widths differ, this raises an "
                 "error.",
            question="Which of the two do the queries meet, and which one is mixed?",
            ways=(_step(new=lambda q, k, v: (q, v, k)),
                  _step(attend=lambda q, k, v: _attend(q, v, k)),
                  lambda x_t, past_k, past_v, *w: _step()(x_t, past_v, past_k, *w)),
            step=_NEW,
        ),
        Mistake(
            id="keys-mixed",
            seen="The weights mix the keys; the values are kept, and not used.",
            question="Keys decide who is looked at. What decides what is taken?",
            ways=(_step(attend=lambda q, k, v: _attend(q, k, k)),
                  _step(attend=lambda q, k, v: _attend_by_loop(q, k, k))),
            step=_MIX,
        ),
        Mistake(
            id="keeps-tokens",
            seen="The token itself is kept, as it is; where its width differs, this raises an "
                 "error.",
            question="What do past_k and past_v hold: tokens, or what wk and wv make of them?",
            ways=(_step(project=lambda x_t, wq, wk, wv: (x_t @ wq, x_t, x_t)),
                  _step(project=lambda x_t, wq, wk, wv: (x_t @ wq, x_t @ wk, x_t)),
                  _step(project=lambda x_t, wq, wk, wv: (x_t @ wq, x_t, x_t @ wv)),
                  _keep_tokens_and_project_all),
            step=_PROJECTIONS,
        ),
        Mistake(
            id="projects-the-past-again",
            seen="The old keys and values are multiplied by the weights once more; where the "
                 "widths differ, this raises an error.",
            question="What was done to the old keys before they were put into the cache?",
            ways=(lambda x_t, past_k, past_v, wq, wk, wv: _step()(
                      x_t, past_k @ wk, past_v @ wv, wq, wk, wv),
                  lambda x_t, past_k, past_v, wq, wk, wv: (
                      _attend(x_t @ wq, _behind(past_k, x_t) @ wk, _behind(past_v, x_t) @ wv),
                      _behind(past_k, x_t @ wk), _behind(past_v, x_t @ wv))),
            step=_PROJECTIONS,
        ),
        Mistake(
            id="weights-first",
            seen="The matrices stand before the token, or are turned on their side; where the "
                 "lengths differ, this raises an error.",
            question="In x_t @ w, what is summed over?",
            ways=(_step(project=lambda x_t, wq, wk, wv: (wq @ x_t, wk @ x_t, wv @ x_t)),
                  _step(project=lambda x_t, wq, wk, wv: (x_t @ wq.T, x_t @ wk.T, x_t @ wv.T))),
            step=_PROJECTIONS,
        ),
        Mistake(
            id="first-key-only",
            seen="The query sees the first key alone, as if it stood at the first position.",
            question="At which position is the newest token, and which ones come after it?",
            ways=(_step(attend=_first_key_only), _step(attend=lambda q, k, v: v[0])),
            step=_WEIGHTS,
        ),
        Mistake(
            id="itself-only",
            seen="The new token finds its own value and nothing else.",
            question="What are the old values kept for?",
            ways=(_step(attend=lambda q, k, v: v[-1]),
                  _step(attend=lambda q, k, v: softmax(k[-1:] @ q) @ v[-1:])),
            step=_WEIGHTS,
        ),
        Mistake(
            id="unscaled",
            seen="The scores are not divided by the square root of d_head.",
            question="How does the spread of a dot product grow with the number of features?",
            ways=(_step(attend=_scaled_by(lambda *_: 1)),
                  _step(attend=lambda q, k, v: unstable_softmax(k @ q) @ v)),
            step=_SCALE,
        ),
        Mistake(
            id="wrong-scale",
            seen="The scores are scaled, but not by the square root of d_head.",
            question="Over how many features does one dot product of a query and a key run?",
            ways=(_step(attend=_scaled_by(lambda q, k, v: 1 / len(q))),
                  _step(attend=_scaled_by(lambda q, k, v: len(q) ** 0.5)),
                  _step(attend=_scaled_by(lambda q, k, v: len(k) ** -0.5)),
                  _step(attend=_scaled_by(lambda q, k, v: v.shape[1] ** -0.5)),
                  lambda x_t, *others: _step(attend=_scaled_by(lambda *_: len(x_t) ** -0.5))(
                      x_t, *others)),
            step=_SCALE,
        ),
        Mistake(
            id="no-max-shift",
            seen="Gentle scores come out right, but the exponential of a large score overflows.",
            question="Which number can you take from all scores without changing the weights, so "
                     "that none is left above 0?",
            ways=(_step(attend=_weighed_by(unstable_softmax)),
                  _step(attend=_weighed_by(lambda s: [math.exp(score) for score in s]
                                           / np.sum([math.exp(score) for score in s]))),
                  _step(attend=_weighed_by(lambda s: np.nan_to_num(unstable_softmax(s)))),
                  _step(attend=_weighed_by(lambda s: unstable_softmax(
                      s - np.max(s[:-1], initial=s[-1] if len(s) == 1 else -np.inf)))),
                  _step(attend=_weighed_by(lambda s: unstable_softmax(s - s[0])))),
            step=_SHIFT,
        ),
        Mistake(
            id="not-normalised",
            seen="The exponentials, or the scores themselves, are used as weights.",
            question="What must the weights of one query sum to?",
            ways=(_step(attend=_weighed_by(np.exp)), _step(attend=_weighed_by(lambda s: s)),
                  _step(attend=_weighed_by(lambda s: np.exp(s - s.max())))),
            step=_WEIGHTS,
        ),
    ),
    variants=(
        _step(),
        _as_a_row,
        _by_room,
        _by_append,
        in_float32(_solve_decode_step),
    ),
    solution=_solve_decode_step,
    package=((attention_book.multi_head_attention, "cache"),),
)
