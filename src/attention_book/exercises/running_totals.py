"""The exercises on running totals: one step of the online softmax, and totals to be joined."""
# ruff: noqa: E741 - l is the chapter's name for the running sum

import math

import numpy as np

from attention_book.chunked import chunked_attention, mix_tiles
from attention_book.exercises.building_blocks import in_float32, softmax
from attention_book.exercises.model import Case, Example, Exercise, Mistake

CHAPTER = "08_chunked_attention"

_rng = np.random.default_rng(8)
_LN2, _LN3 = math.log(2), math.log(3)
_NEW, _OLD, _START = "the terms of the new chunk", "the totals so far", "the start, with m = −inf"
_LARGE_SCORES, _EACH_QUERY = "large scores", "one maximum for each query"


def _draw(*shape, size=1.0):
    return (size * _rng.normal(size=shape)).round(3)


# --- online_softmax_step(m, l, acc, scores, v) ----------------------------------------------------
def _totals(m, n_chunk, d_value, scores):
    """Return arguments: totals with these maxima, and a chunk of scores and values."""
    m = np.array(m)
    return (m, _draw(len(m)) ** 2 + 1, _draw(len(m), d_value, size=2.0), np.array(scores),
            _draw(n_chunk, d_value))


def _gentle(n_query, n_chunk, d_value, shift):
    """Return arguments in which the new scores lie about ``shift`` above the maxima so far."""
    m = _draw(n_query)
    return _totals(m, n_chunk, d_value, _draw(n_query, n_chunk) + m[:, None] + shift)


def _first(n_query, n_chunk, d_value, shift=0):
    m, _, _, scores, v = _gentle(n_query, n_chunk, d_value, shift)
    return np.full_like(m, -np.inf), np.zeros(n_query), np.zeros((n_query, d_value)), scores, v


_LATER = Case(_gentle(3, 2, 5, -4), "a maximum that stays", _NEW)
_RISING = Case(_gentle(3, 5, 2, 2), "a maximum that rises", _OLD)
_SOME = Case(_gentle(7, 3, 2, np.array([[2.0], [-4], [1], [-2], [3], [-5], [0]])),
             "a maximum that rises for some queries alone", _OLD)
_ALL_ALIKE = Case(_gentle(5, 5, 5, np.array([[2.0], [-4], [1], [-2], [3]])),
                  "as many queries as keys and features", _OLD)
_BEGIN = Case(_first(3, 5, 2), "the first chunk: m is −inf, l and acc are 0", _START)
_FAR_APART = Case(_totals([-1500.0, 0.25, 1500], 4, 2, _draw(3, 4).round(1) * 1.25
                          + [[-1500], [0.25], [1500]]),
                  "queries whose scores lie far apart", _EACH_QUERY)
_LARGE = Case(_totals([1000.25, 998.5, -1001], 4, 2,
                      [[999.5, 1001, 1001.5, 998], [1000.25, 999, 998.5, 1000],
                       [-1000.5, -1002, -1001.25, -999]]), "large scores", _LARGE_SCORES)
_HIDDEN = Case(_totals([0.5, -1, 2], 4, 2, [[-np.inf, 1, 0.5, -np.inf],
                                            [0, -1.5, -np.inf, -2], [-np.inf] * 4]),
               "scores of −inf, where keys are hidden", _NEW)
_BEGIN_LOW = Case(_first(3, 2, 2, -6), "a first chunk whose scores are all below 0", _START)
_BEGIN_HIDDEN = Case(_first(2, 4, 3), "a first chunk whose first keys are hidden", _START)
_BEGIN_HIDDEN.args[3][:, 0] = _BEGIN_HIDDEN.args[3][0, 1] = -np.inf
_COLLAPSE = Case(_totals([900.0, 0.5], 3, 2, [[0.25, 1, -0.5], [900.5, 901, 899.25]]),
                 "chunks far apart from one another", _LARGE_SCORES)


def carried(m, scores):
    """Return the larger of the maxima so far and of the chunk."""
    return np.maximum(m, scores.max(axis=1))


def down(m, new):
    """Return the factor from one maximum to another."""
    return np.exp(m - new)


def kept(m, new):
    """Return the factor that changes nothing."""
    return np.ones_like(m)


def step(maximum=carried, old_l=down, old_acc=down, shift=lambda m, new, scores: new,
         says=lambda m, new, scores: new):
    """Return a step of the online softmax with one of its parts changed."""
    def stepped(m, l, acc, scores, v):
        new = maximum(m, scores)
        p = np.exp(scores - np.reshape(shift(m, new, scores), (-1, 1)))
        return (says(m, new, scores), l * old_l(m, new) + p.sum(axis=1),
                acc * old_acc(m, new)[:, None] + p @ v)

    return stepped


def key_by_key(stepped, guarded=True):
    """Return a step that takes the chunk's keys one after the other.

    If it is ``guarded``, a key is left out for a query whose scores so far are all −inf.
    """
    def by_key(m, l, acc, scores, v):
        m, l, acc = m.copy(), l.copy(), acc.copy()
        for j in range(len(v)):
            met = np.isfinite(np.maximum(m, scores[:, j])) if guarded else np.full(len(m), True)
            m[met], l[met], acc[met] = stepped(m[met], l[met], acc[met], scores[met, j: j + 1],
                                               v[j: j + 1])
        return m, l, acc

    return by_key


def _row_by_row(m, l, acc, scores, v):
    rows = []
    for old_m, old_l, old_acc, row in zip(m, l, acc, scores, strict=True):
        new = max(old_m, *row)
        factor = math.exp(old_m - new)
        new_l, new_acc = old_l * factor, [factor * each for each in old_acc]
        for score, value in zip(row, v, strict=True):
            p = math.exp(score - new)
            new_l += p
            new_acc = [a + p * x for a, x in zip(new_acc, value, strict=True)]
        rows.append((new, new_l, new_acc))
    return tuple(np.array(part) for part in zip(*rows, strict=True))


def _reference_step(m, l, acc, scores, v):
    """Put all terms in one list for each query: the old totals are one key of weight l."""
    found = [], [], []
    for i, row in enumerate(scores):
        new = max([m[i], *row])
        p = [math.exp(score - new) for score in row]
        factor = math.exp(m[i] - new)
        found[0].append(new)
        found[1].append(math.fsum([factor * l[i], *p]))
        found[2].append([math.fsum([factor * acc[i, c], *(p * v[:, c])])
                         for c in range(v.shape[1])])
    return tuple(np.array(part) for part in found)


def _old_totals_as_a_key(m, l, acc, scores, v):
    wide = np.concatenate([m[:, None], scores], axis=1)  # (n_query, 1 + chunk)
    new = wide.max(axis=1)
    e = np.exp(wide - new[:, None])
    return (new, (e * np.insert(np.ones_like(scores), 0, l, axis=1)).sum(axis=1),
            e[:, :1] * acc + e[:, 1:] @ v)


def _by_logarithms(m, l, acc, scores, v):
    new = np.maximum(m, scores.max(axis=-1))
    chunk = np.log(np.exp(scores - new[:, None]).sum(axis=-1)) + new
    both = np.logaddexp(m + np.log(l), chunk)
    return new, np.exp(both - new), np.exp(m - new)[:, None] * acc + np.einsum(
        "qk,kd->qd", np.exp(scores - new[:, None]), v)


def _two_totals_joined(m, l, acc, scores, v):
    own = np.max(scores, axis=1, keepdims=True)
    p = np.exp(scores - np.where(np.isfinite(own), own, 0))
    new = np.maximum(m, own[:, 0])
    old, young = np.exp(m - new), np.exp(own[:, 0] - new)
    return (new, old * l + young * p.sum(axis=1),
            (old * acc.T).T + (young * (p @ v).T).T)


def _two_totals_unguarded(m, l, acc, scores, v):
    own = scores.max(axis=1)
    p = np.exp(scores - own[:, None])
    new = np.maximum(m, own)
    old, young = np.exp(m - new), np.exp(own - new)
    return (new, old * l + young * p.sum(axis=1),
            old[:, None] * acc + young[:, None] * (p @ v))


def _shares_of_the_chunk(m, l, acc, scores, v):
    new, total, _ = step()(m, l, acc, scores, v)
    shares = softmax(scores)
    added = np.exp(scores - new[:, None]).sum(axis=1)
    return new, total, acc * np.exp(m - new)[:, None] + added[:, None] * (shares @ v)


def _solve_step(m, l, acc, scores, v):
    m_new = np.maximum(m, scores.max(axis=-1))  # (n_query,)
    rescale = np.exp(m - m_new)
    p = np.exp(scores - m_new[:, None])  # (n_query, chunk)
    return m_new, l * rescale + p.sum(axis=-1), acc * rescale[:, None] + p @ v


def _normalised(stepped, of_chunk=False):
    """Return a step that divides by a sum, of the chunk alone or at the end."""
    def divided(m, l, acc, scores, v):
        if of_chunk:
            new = carried(m, scores)
            return (new, l * down(m, new) + np.exp(scores - new[:, None]).sum(axis=1),
                    acc * down(m, new)[:, None] + softmax(scores) @ v)
        new, total, mixture = stepped(m, l, acc, scores, v)
        return new, total, mixture / total[:, None]

    return divided


def _only_new(m, l, acc, scores, v):
    return step()(m, np.zeros_like(l), np.zeros_like(acc), scores, v)


def _mixed_so_far(m, l, acc, scores, v):
    new, total, mixture = step()(m, l, acc * l[:, None], scores, v)
    return new, total, mixture / total[:, None]


def _own(m, new, scores):
    return scores.max(axis=1)


def _no_shift(m, new, scores):
    return np.zeros_like(new)


AXIS_NOT_KEPT = (
    lambda m, l, acc, scores, v: (
        carried(m, scores), l * down(m, carried(m, scores)) + np.exp(
            scores - carried(m, scores)).sum(axis=1),
        acc * down(m, carried(m, scores))[:, None]
        + np.exp(scores - carried(m, scores)) @ v),
    lambda m, l, acc, scores, v: (
        carried(m, scores), l * down(m, carried(m, scores)) + np.exp(
            scores - carried(m, scores)[:, None]).sum(axis=1),
        acc * down(m, carried(m, scores)) + np.exp(
            scores - carried(m, scores)[:, None]) @ v),
    lambda m, l, acc, scores, v: (
        carried(m, scores), l * down(m, carried(m, scores)) + np.exp(
            scores - carried(m, scores)).sum(axis=1),
        acc * down(m, carried(m, scores)) + np.exp(scores - carried(m, scores)) @ v),
)


def _over_queries(m, l, acc, scores, v):
    new = np.maximum(m, scores.max(axis=0))
    p = np.exp(scores - new[:, None])
    return new, l * down(m, new) + p.sum(axis=1), acc * down(m, new)[:, None] + p @ v


def _summed_over_queries(m, l, acc, scores, v):
    new = carried(m, scores)
    p = np.exp(scores - new[:, None])
    return new, l * down(m, new) + p.sum(axis=0), acc * down(m, new)[:, None] + p @ v


def _one_sum(m, l, acc, scores, v):
    new = carried(m, scores)
    p = np.exp(scores - new[:, None])
    return new, l * down(m, new) + p.sum(), acc * down(m, new)[:, None] + p @ v


WRONG_AXIS = _over_queries, _summed_over_queries, _one_sum


def _old_ones_to_the_chunk(m, l, acc, scores, v):
    new, factor = carried(m, scores), down(m, scores.max(axis=1))
    p = np.exp(scores - new[:, None])
    return new, l * factor + p.sum(axis=1), acc * factor[:, None] + p @ v


def _quotients(m, l, acc, scores, v):
    new = carried(m, scores)
    p = np.exp(scores) / np.exp(new)[:, None]
    return new, l * np.exp(m) / np.exp(new) + p.sum(axis=1), acc * (np.exp(m) / np.exp(new))[
        :, None] + p @ v


def _normal_old_quotients(m, l, acc, scores, v):
    new = carried(m, scores)
    p = np.exp(scores) / np.exp(new)[:, None]
    return new, l * down(m, new) + p.sum(axis=1), acc * down(m, new)[:, None] + p @ v


def _transposed(m, l, acc, scores, v):
    new = carried(m, scores)
    p = np.exp(scores - new[:, None])
    return new, l * down(m, new) + p.sum(axis=1), acc * down(m, new)[:, None] + p.T @ v


def _too_late(m, l, acc, scores, v):
    new = carried(m, scores)
    p, factor = np.exp(scores - new[:, None]), down(m, new)
    return new, (l + p.sum(axis=1)) * factor, (acc + p @ v) * factor[:, None]


def _acc_too_late(m, l, acc, scores, v):
    new = carried(m, scores)
    p, factor = np.exp(scores - new[:, None]), down(m, new)
    return new, l * factor + p.sum(axis=1), (acc + p @ v) * factor[:, None]


def _rescaled_by_sums(m, l, acc, scores, v):
    new, total, _ = step()(m, l, acc, scores, v)
    p = np.exp(scores - new[:, None])
    return new, total, acc * (l / total)[:, None] + p @ v / total[:, None]


def _averaged(of_l=True, of_acc=True):
    def step_of_means(m, l, acc, scores, v):
        new, total, mixture = step()(m, l, acc, scores, v)
        p = np.exp(scores - new[:, None])
        return (new, l * down(m, new) + p.mean(axis=1) if of_l else total,
                acc * down(m, new)[:, None] + p @ v / len(v) if of_acc else mixture)

    return step_of_means


def _values_summed(m, l, acc, scores, v):
    new, total, _ = step()(m, l, acc, scores, v)
    return new, total, acc * down(m, new)[:, None] + v.sum(axis=0)


_STEP = Exercise(
    id="online_softmax_step",
    chapter=CHAPTER,
    title="One more chunk",
    signature="online_softmax_step(m, l, acc, scores, v)",
    shapes="m and l (n_query,), acc (n_query, d_value), scores (n_query, chunk), "
           "v (chunk, d_value) → m (n_query,), l (n_query,), acc (n_query, d_value)",
    parts=("m", "l", "acc"),
    part_steps={"m": "the maximum so far"},
    prompt="Some chunks of keys have been read. For each query, m is its largest score so far, l "
           "the sum of exp(score − m), and acc the sum of exp(score − m) times value. Here is the "
           "next chunk: its scores and its values. Write online_softmax_step(m, l, acc, scores, "
           "v): return m, l and acc as they are once this chunk has been read too. At the start "
           "m is −inf, and l and acc are 0. Some scores may be −inf, but each query has met a "
           "finite one by the end of the chunk. Leave the arguments as they are. In the example, "
           "for the first query, m rises from 0 to ln 2 = 0.693, so what it had counts half: l is "
           "1/2 + (1 + 1/2) = 2 and acc is 4/2 + (2 + 6/2) = 7. For the second, m stays at ln 4 = "
           "1.386: l is 1 + (1/4 + 1/2) = 1.75.",
    hints=("Which of the three can you find first, from the old one and the scores alone?",
           "The old terms were made with the old m. Which one factor for each query turns "
           "exp(score − m_old) into exp(score − m_new)?",
           "That factor is exp(m_old − m_new). It belongs to both old totals; the new terms are "
           "made with m_new from the beginning. Where (n_query,) meets a table, give it an axis "
           "of length 1."),
    example=Example(
        (np.array([0.0, 2 * _LN2]), np.array([1.0, 1]), np.array([[4.0], [4]]),
         np.array([[_LN2, 0], [0, _LN2]]), np.array([[2.0], [6]])),
        ([_LN2, 2 * _LN2], [2.0, 1.75], [[7.0], [7.5]])),
    reference=_reference_step,
    cases=(
        Case(_gentle(2, 2, 1, -4), "other numbers of these shapes, and a maximum that stays", _NEW),
        _LATER,
        _RISING,
        _SOME,
        _ALL_ALIKE,
        Case(_gentle(2, 1, 3, np.array([[1.0], [-2]])), "a chunk of one key", _OLD),
        _HIDDEN,
        _BEGIN,
        _BEGIN_LOW,
        _BEGIN_HIDDEN,
        _LARGE,
        _FAR_APART,
        _COLLAPSE,
    ),
    naming=(_LATER, _RISING, _SOME, _ALL_ALIKE, _HIDDEN, _BEGIN, _LARGE, _FAR_APART, _COLLAPSE,
            _BEGIN_LOW, _BEGIN_HIDDEN),
    mistakes=(
        Mistake(
            id="accumulator-not-rescaled",
            seen="When the maximum rises, l is repaired and acc is not.",
            question="The old terms in acc hold exp(score − m) too. With which m were they made?",
            ways=(step(old_acc=kept), key_by_key(step(old_acc=kept))),
            step=_OLD,
        ),
        Mistake(
            id="sum-not-rescaled",
            seen="When the maximum rises, acc is repaired and l is not.",
            question="The old terms in l were made with the old m. What do they come to with the "
                     "new one?",
            ways=(step(old_l=kept), key_by_key(step(old_l=kept))),
            step=_OLD,
        ),
        Mistake(
            id="not-rescaled",
            seen="The new terms are added to totals that were made with another maximum.",
            question="Before your addition, with which m were the old terms made, and with which "
                     "one the new terms?",
            ways=(step(old_l=kept, old_acc=kept), key_by_key(step(old_l=kept, old_acc=kept)),
                  step(old_l=kept, old_acc=kept, shift=_own),
                  step(old_l=kept, old_acc=kept, shift=_own, says=_own)),
            step=_OLD,
        ),
        Mistake(
            id="max-not-carried",
            seen="The new maximum is that of the new chunk alone; the larger one of an earlier "
                 "chunk is lost.",
            question="If an earlier chunk held a larger score than this one, what is the largest "
                     "so far?",
            ways=(step(lambda m, scores: scores.max(axis=1)),
                  key_by_key(step(lambda m, scores: scores.max(axis=1))),
                  step(says=_own), _old_ones_to_the_chunk),
            step="the maximum so far",
        ),
        Mistake(
            id="max-not-updated",
            seen="The old maximum is returned, or goes on being used, though a larger score has "
                 "come.",
            question="With which m will the next step take the totals to be made?",
            ways=(step(lambda m, scores: m), step(says=lambda m, new, scores: m),
                  step(shift=lambda m, new, scores: m),
                  step(shift=lambda m, new, scores: m, old_l=kept, old_acc=kept)),
            step="the maximum so far",
        ),
        Mistake(
            id="normalised-each-chunk",
            seen="A total is divided by a sum already here, chunk by chunk.",
            question="Which sum should the mixture be divided by in the end, and is it known "
                     "before the last chunk?",
            ways=(_normalised(step()), _normalised(step(), of_chunk=True), _rescaled_by_sums,
                  _mixed_so_far, _normalised(step(old_acc=kept)),
                  lambda *args: (step()(*args)[0], np.ones_like(args[1]),
                                 _normalised(step())(*args)[2])),
            step="the division at the very end",
        ),
        Mistake(
            id="rescaled-upside-down",
            seen="The factor for the old totals is turned around: they grow where they should "
                 "shrink.",
            question="When a larger score arrives, does an old key's share go up or down?",
            ways=(step(old_l=lambda m, new: down(new, m), old_acc=lambda m, new: down(new, m)),
                  step(old_l=lambda m, new: 1 / down(m, new),
                       old_acc=lambda m, new: 1 / down(m, new)),
                  key_by_key(step(old_l=lambda m, new: down(new, m),
                                  old_acc=lambda m, new: down(new, m))),
                  step(old_acc=lambda m, new: down(new, m)),
                  step(old_l=lambda m, new: down(new, m))),
            step=_OLD,
        ),
        Mistake(
            id="factor-without-exp",
            seen="The old totals are multiplied by a difference of maxima, not by its exponential.",
            question="If the maximum stays the same, by what should the old totals be multiplied?",
            ways=(step(old_l=lambda m, new: m - new, old_acc=lambda m, new: m - new),
                  step(old_l=lambda m, new: m / new, old_acc=lambda m, new: m / new),
                  step(old_l=lambda m, new: new - m, old_acc=lambda m, new: new - m)),
            step=_OLD,
        ),
        Mistake(
            id="rescaled-too-late",
            seen="The new terms are shrunk together with the old ones.",
            question="The new terms were made with the new maximum. Do they need repair?",
            ways=(_too_late, _acc_too_late),
            step=_OLD,
        ),
        Mistake(
            id="new-terms-shifted-alone",
            seen="The new terms are shifted by the chunk's own maximum, even where an earlier one "
                 "is larger.",
            question="All terms in one total must be made with the same m. Which one holds after "
                     "this chunk?",
            ways=(step(shift=_own), _normalised(step(shift=_own))),
            step=_NEW,
        ),
        Mistake(
            id="no-max-shift",
            seen="The exponentials are taken of the raw scores, which overflow when they are "
                 "large.",
            question="What does exp(score − m) come to for the largest score, and what does yours?",
            ways=(step(shift=_no_shift), step(shift=_no_shift, old_l=kept, old_acc=kept),
                  _quotients, _normal_old_quotients,
                  step(lambda m, scores: np.zeros_like(m), old_l=kept, old_acc=kept)),
            step=_NEW,
        ),
        Mistake(
            id="starts-at-zero",
            seen="Instead of −inf, m is 0 or another number that the scores do not reach.",
            question="Before anything has been read, which number is below every score?",
            ways=(*(step(lambda m, scores, least=least: carried(
                        np.where(np.isfinite(m), m, least), scores)) for least in (0, -1, 1)),
                  step(lambda m, scores: np.maximum(carried(m, scores), 0)),
                  key_by_key(step(lambda m, scores: carried(np.nan_to_num(m, neginf=0), scores)))),
            step=_START,
        ),
        Mistake(
            id="nan-on-hidden-keys",
            seen="Where all scores that are compared are −inf, −inf − (−inf) makes nan.",
            question="A hidden key comes first. What is the largest score by then, and what is "
                     "exp(score − m) for that key?",
            ways=(key_by_key(step(), guarded=False), _two_totals_unguarded, _shares_of_the_chunk),
            step=_START,
        ),
        Mistake(
            id="old-totals-lost",
            seen="What was there before is lost: a total holds the terms of the new chunk alone.",
            question="How many keys have been read by now, and how many are in your l?",
            ways=(_only_new, step(old_l=lambda m, new: 0 * m),
                  step(old_acc=lambda m, new: 0 * m),
                  step(lambda m, scores: scores.max(axis=1), lambda m, new: 0 * new,
                       lambda m, new: 0 * new)),
            step=_OLD,
        ),
        Mistake(
            id="global-max",
            seen="One maximum serves all queries.",
            question="Which score is the largest for the first query? Should the others' scores "
                     "change that?",
            ways=(step(lambda m, scores: np.maximum(m, scores.max())),
                  step(lambda m, scores: np.full_like(m, max(m.max(), scores.max())))),
            step=_EACH_QUERY,
        ),
        Mistake(
            id="wrong-axis",
            seen="A maximum or a sum runs over the queries, or over everything, not over the keys "
                 "of the chunk.",
            question="Which axis of scores, (n_query, chunk), should be gone from m and l?",
            ways=WRONG_AXIS,
            step=_NEW,
        ),
        Mistake(
            id="axis-not-kept",
            seen="Numbers of shape (n_query,) meet a table without an axis of length 1, so that "
                 "numpy lines them up with the columns; where that does not fit, it raises an "
                 "error.",
            question="With which axis of (n_query, chunk) does numpy line up an array of shape "
                     "(n_query,)?",
            ways=AXIS_NOT_KEPT,
            step=_NEW,
        ),
        Mistake(
            id="values-not-weighted",
            seen="The values are added to acc without their weights.",
            question="By what is each value multiplied in acc?",
            ways=(_values_summed,
                  lambda *args: (*step()(*args)[:2], args[2] + args[4].sum(axis=0))),
            step=_NEW,
        ),
        Mistake(
            id="minimum-for-maximum",
            seen="m is a minimum where a maximum should be.",
            question="Which of two scores must m be, for no exponential to be larger than 1?",
            ways=(step(lambda m, scores: np.minimum(m, scores.min(axis=1))),
                  step(lambda m, scores: np.minimum(m, scores.max(axis=1))),
                  step(lambda m, scores: np.maximum(m, scores.min(axis=1)))),
            step="the maximum so far",
        ),
        Mistake(
            id="weights-transposed",
            seen="The exponentials meet the values on their side: queries and keys have changed "
                 "places, and where their numbers differ, that raises an error.",
            question="Which axis of the exponentials, (n_query, chunk), is summed when they meet "
                     "the values?",
            ways=(_transposed, lambda *args: (*step()(*args)[:2], np.einsum(
                "kq,kd->qd", np.exp(args[3] - carried(args[0], args[3])[:, None]), args[4])
                + args[2] * down(args[0], carried(args[0], args[3]))[:, None])),
            step=_NEW,
        ),
        Mistake(
            id="mean-not-sum",
            seen="The mean of the new terms is added to a total, not their sum.",
            question="Does a chunk of ten keys add as much to l as a chunk of two?",
            ways=(_averaged(of_acc=False), _averaged(of_l=False), _averaged()),
            step=_NEW,
        ),
        Mistake(
            id="another-order",
            seen="The three results are right, and come in another order.",
            question="In which order are m, l and acc asked for?",
            ways=(lambda *args: (step()(*args)[1], step()(*args)[0], step()(*args)[2]),
                  lambda *args: step()(*args)[::-1],
                  lambda *args: (step()(*args)[0], *step()(*args)[:0:-1])),
            step="what is returned",
        ),
    ),
    variants=(
        key_by_key(step()),
        _row_by_row,
        in_float32(_solve_step),
        _old_totals_as_a_key,
        _by_logarithms,
        _two_totals_joined,
        lambda *args: [part.tolist() for part in _solve_step(*args)],
    ),
    solution=_solve_step,
)


# --- fault_three_workers --------------------------------------------------------------------------
def fault_three_workers(q, k, v):
    found = []
    for keys in np.array_split(np.arange(len(k)), 3):
        s = q @ k[keys].T / np.sqrt(q.shape[1])  # (n_query, keys)
        m = s.max(axis=1, keepdims=True)
        p = np.exp(s - m)
        found.append((m, p.sum(axis=1, keepdims=True), p @ v[keys]))
    m = np.max([worker[0] for worker in found], axis=0)
    l = sum(own_l for _, own_l, _ in found)
    acc = sum(np.exp(own_m - m) * own_acc
              for own_m, _, own_acc in found)
    return acc / l


def _three_workers(old_l=down, old_acc=down, join=None, maximum=None):
    """Return the listing with one of its parts changed."""
    def attend(q, k, v):
        found = []
        for keys in np.array_split(np.arange(len(k)), 3):
            s = q @ k[keys].T / np.sqrt(q.shape[1])
            m = s.max(axis=1, keepdims=True)
            if maximum == "none":
                m = np.zeros_like(m)
            if maximum == "one for all":
                m = np.full_like(m, m.max())
            p = np.exp(s - m)
            found.append((m, p.sum(axis=1, keepdims=True), p @ v[keys]))
        if join:
            return join(*map(np.array, zip(*found, strict=True)))
        m = np.max([worker[0] for worker in found], axis=0)
        l = sum(old_l(own_m, m) * own_l for own_m, own_l, _ in found)
        return sum(old_acc(own_m, m) * own_acc for own_m, _, own_acc in found) / l

    return attend


def _up(m, new):
    return np.exp(new - m)


def _shares(*logarithms):
    e = np.exp(logarithms - np.max(logarithms, axis=0))
    return e / e.sum(axis=0)


def _solve_three_workers(q, k, v):
    found = []
    for keys in np.array_split(np.arange(len(k)), 3):
        s = q @ k[keys].T / np.sqrt(q.shape[1])  # (n_query, n_keys of the worker)
        m = s.max(axis=1, keepdims=True)
        p = np.exp(s - m)
        found.append((m, p.sum(axis=1, keepdims=True), p @ v[keys]))
    m = np.max([worker[0] for worker in found], axis=0)
    l = sum(np.exp(own_m - m) * own_l for own_m, own_l, _ in found)
    acc = sum(np.exp(own_m - m) * own_acc for own_m, _, own_acc in found)
    return acc / l


def _reference_dense(q, k, v):
    rows = []
    for query in q:
        s = [math.fsum(a * b for a, b in zip(query, key, strict=True)) / math.sqrt(len(query))
             for key in k]
        e = [math.exp(score - max(s)) for score in s]
        rows.append([math.fsum(a * b for a, b in zip(e, column, strict=True)) / math.fsum(e)
                     for column in v.T])
    return np.array(rows)


def _whole(q, k, v):
    return softmax(q @ k.T / math.sqrt(k.shape[1])) @ v


def _with_joined(pick):
    """Return a join whose factors are made with ``pick`` of the workers' maxima."""
    def join(m, l, acc):
        factor = np.exp(m - pick(m))
        return (factor * acc).sum(axis=0) / (factor * l).sum(axis=0)

    return join


def _with_sums(of, rescaled):
    """Return a join in which l is something else of the workers' sums than what they come to."""
    def join(m, l, acc):
        factor = np.exp(m - m.max(axis=0))
        return (factor * acc).sum(axis=0) / of(factor * l if rescaled else l, axis=0)

    return join


def _in_equal_shares(q, k, v):
    share = len(k) // 3
    return _as_one_stream(q, k, v, [np.arange(i * share, (i + 1) * share) for i in range(3)])


def _in_equal_shares_at_once(q, k, v):
    read = len(k) - len(k) % 3
    return _whole(q, k[:read], v[:read])


def _as_one_stream(q, k, v, shares=None):
    m, l, acc = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), v.shape[1]))
    for keys in shares or np.array_split(np.arange(len(k)), 3):
        m, l, acc = _solve_step(m, l, acc, q @ k[keys].T * q.shape[1] ** -0.5, v[keys])
    return acc / l[:, None]


def _uneven(n_query, n_key, d_head, d_value, *lifts):
    """Return queries, keys and values; the keys of worker i are lifted by ``lifts[i]``."""
    q, k = (4 * _rng.normal(size=(n_query, d_head))).round() / 4, _draw(n_key, d_head)
    k = (4 * k).round() / 4
    q[:, 0] = 4
    for keys, lift in zip(np.array_split(np.arange(n_key), 3), lifts, strict=True):
        k[keys, 0] = lift
    return q, k, _draw(n_key, d_value)


_EQUAL_MAXIMA = Case((np.zeros((2, 3)), _draw(7, 3), _draw(7, 2)),
                     "queries of zeros: all maxima are 0", "what one worker returns")
_WORKERS = Case(_uneven(3, 7, 16, 2, 0, 1, 2), "seven keys, two or three for each worker",
                "joining the workers' totals")
_WORKERS_ALIKE = Case(_uneven(3, 9, 16, 3, 2, -1, 0.5), "as many queries as keys for each worker",
                      "joining the workers' totals")
_WORKERS_FAR = Case(_uneven(5, 11, 16, 2, 900, 0, 900), "workers with scores far apart",
                    "one maximum for all workers")
_WORKERS_LARGE = Case(_uneven(2, 7, 16, 3, 900, 901, 900.5), "large scores",
                      "one maximum for all workers")
_q = _uneven(3, 8, 16, 2, 0, 1, 2)
_q[0][:, 0] = 8 * np.array([-800, 0, 800])
_WORKERS_ROWS = Case(_q, "queries whose scores lie far apart", _EACH_QUERY)

_JOINED = "joining the workers' totals"
_FAULT = Exercise(
    id="fault_three_workers",
    chapter=CHAPTER,
    title="Three workers, one result",
    signature="fault_three_workers(q, k, v)",
    shapes="q (n_query, d_head), k (n_key, d_head), v (n_key, d_value) → (n_query, d_value)",
    prompt="Three workers share the keys. Each finds m, l and acc for its own keys; then their "
           "totals are joined to one mixture for each query. One mistake is planted. Find it and "
           "mend it; there are at least three keys. In the example each worker has one key, the "
           "scores are 0, ln 2 and 0, so the weights are 1/4, 1/2 and 1/4, and the mixture of the "
           "values 4, 8 and 12 is 8.",
    hints=("Take the example. What are m, l and acc of each worker? Then follow the four last "
           "lines by hand.",
           "Each worker's totals were made with its own maximum. Which of the joined totals takes "
           "that into account?",
           "A key must be counted with the same factor above and below the fraction's line, in "
           "acc and in l."),
    example=Example((np.array([[1.0]]), np.array([[0.0], [_LN2], [0]]),
                     np.array([[4.0], [8], [12]])), [[8.0]]),
    reference=_reference_dense,
    cases=(
        _EQUAL_MAXIMA,
        Case((np.array([[0.5]]), _draw(3, 1, size=2.0), _draw(3, 1)),
             "another query and three other keys", _JOINED),
        _WORKERS,
        _WORKERS_ALIKE,
        _WORKERS_FAR,
        _WORKERS_LARGE,
        _WORKERS_ROWS,
    ),
    naming=(_EQUAL_MAXIMA, _WORKERS, _WORKERS_ALIKE, _WORKERS_FAR, _WORKERS_LARGE, _WORKERS_ROWS),
    mistakes=(
        Mistake(
            id="sum-not-rescaled",
            seen="The workers' sums l are added as they are, though each was made with another m.",
            question="In your l, how much does the largest score of each worker count, and how "
                     "much should it?",
            ways=(fault_three_workers, _three_workers(old_l=kept)),
            step=_JOINED,
        ),
        Mistake(
            id="accumulator-not-rescaled",
            seen="The sums l are repaired, and now the accumulators acc are not.",
            question="Which totals hold terms made with a worker's own m: l, acc, or both?",
            ways=(_three_workers(old_acc=kept),
                  _three_workers(join=lambda m, l, acc:
                                 acc.sum(axis=0) / (np.exp(m - m.max(axis=0)) * l).sum(axis=0))),
            step=_JOINED,
        ),
        Mistake(
            id="not-rescaled",
            seen="Neither l nor acc is repaired: the factor is gone from both.",
            question="If one worker's scores are all far below another's, should its keys count as "
                     "much?",
            ways=(_three_workers(old_l=kept, old_acc=kept),
                  _three_workers(join=lambda m, l, acc: acc.sum(axis=0) / l.sum(axis=0))),
            step=_JOINED,
        ),
        Mistake(
            id="average-of-workers",
            seen="Each worker's mixture counts alike, or by its number of keys.",
            question="One worker's keys fit the query far better than the others'. Should its "
                     "mixture count more?",
            ways=(_three_workers(join=lambda m, l, acc: (acc / l).mean(axis=0)),
                  _three_workers(join=lambda m, l, acc: (acc / l).sum(axis=0)),
                  lambda q, k, v: sum(len(keys) * _whole(q, k[keys], v[keys]) for keys in
                                      np.array_split(np.arange(len(k)), 3)) / len(k)),
            step=_JOINED,
        ),
        Mistake(
            id="rescaled-upside-down",
            seen="A factor is turned around: the lower a worker's scores, the more its keys count.",
            question="Is a worker's own m above or below the joined one, and should its terms "
                     "shrink or grow?",
            ways=(_three_workers(old_l=_up), _three_workers(old_l=_up, old_acc=_up),
                  _three_workers(old_acc=_up)),
            step=_JOINED,
        ),
        Mistake(
            id="weighted-by-maximum",
            seen="The workers' own mixtures are joined by m alone, or by l alone.",
            question="A worker with one key and a worker with two equal keys have the same m. Do "
                     "they weigh the same?",
            ways=(_three_workers(join=lambda m, l, acc: (_shares(*m) * acc / l).sum(axis=0)),
                  _three_workers(join=lambda m, l, acc:
                                 (down(m, m.max(axis=0)) * acc / l).sum(axis=0)),
                  _three_workers(join=lambda m, l, acc: (_shares(*m) * acc).sum(axis=0)),
                  _three_workers(join=lambda m, l, acc: (_shares(*l) * acc / l).sum(axis=0)),
                  _three_workers(join=lambda m, l, acc: (_shares(*(m * l)) * acc / l).sum(axis=0))),
            step=_JOINED,
        ),
        Mistake(
            id="factor-without-exp",
            seen="l is multiplied by a difference of maxima, not by its exponential.",
            question="For the worker that holds the largest score, by what should l be multiplied?",
            ways=(_three_workers(old_l=lambda m, new: m - new),
                  _three_workers(old_l=lambda m, new: new - m),
                  _three_workers(old_l=lambda m, new: m)),
            step=_JOINED,
        ),
        Mistake(
            id="no-max-shift",
            seen="The factor makes the sums comparable by taking exp of the maximum itself, or the "
                 "shift is gone: large scores overflow.",
            question="What is exp(900)? Which number can be taken from all scores of a query?",
            ways=(_three_workers(old_l=lambda m, new: np.exp(m), old_acc=lambda m, new: np.exp(m)),
                  _three_workers(maximum="none")),
            step="one maximum for all workers",
        ),
        Mistake(
            id="one-factor-only",
            seen="All of l is given one factor, or another factor than acc.",
            question="Are the terms in acc and in l made with the same m after your change?",
            ways=(_three_workers(old_l=lambda m, new: np.exp(m)),
                  _three_workers(old_l=lambda m, new: np.exp(-m)),
                  _three_workers(old_l=lambda m, new: np.exp(-new)),
                  _three_workers(join=lambda m, l, acc: (down(m, m.max(axis=0)) * acc).sum(axis=0)
                                 / (down(m[-1], m.max(axis=0)) * l).sum(axis=0))),
            step=_JOINED,
        ),
        Mistake(
            id="divided-twice",
            seen="The workers' totals are divided by their own l, and then by the joined one.",
            question="How often should a sum of exponentials times values be divided by a sum of "
                     "exponentials?",
            ways=(_three_workers(join=lambda m, l, acc:
                                 (down(m, m.max(axis=0)) * acc / l).sum(axis=0)
                                 / (down(m, m.max(axis=0)) * l).sum(axis=0)),
                  _three_workers(join=lambda m, l, acc: (acc / l).sum(axis=0)
                                 / (down(m, m.max(axis=0)) * l).sum(axis=0))),
            step=_JOINED,
        ),
        Mistake(
            id="global-max",
            seen="One maximum serves all queries of a worker; a query far below it is left with "
                 "0/0.",
            question="For the query of the lowest scores, what are all of its exponentials after "
                     "your shift?",
            ways=(_three_workers(maximum="one for all"),
                  _three_workers(join=lambda m, l, acc: (np.exp(m - m.max()) * acc).sum(axis=0)
                                 / (np.exp(m - m.max()) * l).sum(axis=0))),
            step=_EACH_QUERY,
        ),
        Mistake(
            id="not-the-largest",
            seen="The joined m is not the largest of the workers' maxima: where scores lie far "
                 "apart, a factor overflows, or all of them vanish.",
            question="Which of the three maxima must m be, for no factor to be larger than 1?",
            ways=tuple(_three_workers(join=_with_joined(pick)) for pick in (
                lambda m: m[0], lambda m: m[-1], lambda m: m.min(axis=0),
                lambda m: m.mean(axis=0), lambda m: m.sum(axis=0))),
            step="one maximum for all workers",
        ),
        Mistake(
            id="sums-not-added",
            seen="acc is added up over the workers, and l is not: it is their largest sum, their "
                 "mean or a product.",
            question="acc holds the terms of all keys. Of how many keys does your l hold them?",
            ways=tuple(_three_workers(join=_with_sums(of, rescaled)) for rescaled in (True, False)
                       for of in (np.max, np.mean, np.prod)),
            step=_JOINED,
        ),
        Mistake(
            id="keys-left-out",
            seen="The workers' shares are cut anew, and where 3 does not divide the number of "
                 "keys, some of them are read by no worker, or an error is raised.",
            question="With 7 keys, how many should each of the three workers read?",
            ways=(_in_equal_shares, _in_equal_shares_at_once,
                  lambda q, k, v: _as_one_stream(q, k, v, np.split(np.arange(len(k)), 3))),
            step="the workers' shares",
        ),
        Mistake(
            id="last-worker-only",
            seen="Only one worker's totals arrive in the result.",
            question="How many workers are in your l, and how many in your acc?",
            ways=(_three_workers(join=lambda m, l, acc: acc[-1] / l[-1]),
                  _three_workers(join=lambda m, l, acc: acc[0] / l[0]),
                  _three_workers(join=lambda m, l, acc:
                                 (np.exp(m - m.max(0)) * acc).sum(0) / l[-1])),
            step=_JOINED,
        ),
    ),
    variants=(
        _three_workers(),
        in_float32(_solve_three_workers),
        _as_one_stream,
        _whole,
        _three_workers(join=lambda m, l, acc: (_shares(*(m + np.log(l))) * acc / l).sum(axis=0)),
        _three_workers(join=lambda m, l, acc:
                       (acc * _shares(*m)).sum(axis=0) / (l * _shares(*m)).sum(axis=0)),
        lambda q, k, v: np.vstack([_as_one_stream(q[i: i + 1], k, v) for i in range(len(q))]),
    ),
    solution=_solve_three_workers,
    package=(chunked_attention, mix_tiles),
    faulty=fault_three_workers,
)

ONLINE_SOFTMAX_STEP, FAULT_THREE_WORKERS = _STEP, _FAULT
