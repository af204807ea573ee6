"""The exercises on several heads at work: the sum over heads, and the whole causal layer."""

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
from attention_book.exercises.probes import Probe, of_tokens
from attention_book.exercises.stages import (
    OF_A_CAUSAL_HEAD,
    PROJECTIONS,
    VALUES,
    Stage,
    project,
    sets,
)
from attention_book.multi_head import merge_heads, multi_head_attention, split_heads

CHAPTER = "06_multi_head"

_rng = np.random.default_rng(66)
_LN3 = math.log(3)
_ROWS, _SUM = "each head's own rows of wo", "the sum over the heads"
_PROJECTIONS, _SPLIT, _SCORES, _SCALE = "the projections", "the split", "the scores", "the scale"
_MASK, _WEIGHTS, _MERGE, _OUTPUT = "the mask", "the weights", "the merge", "the output projection"
_SHIFT, _ROW_MAXIMUM = "the shift by the row's maximum", "one maximum for each row"
_HIDDEN = "what stands for a hidden score"


def _draw(*shape, size=1.0):
    return (size * _rng.normal(size=shape)).round(3)


# --- fault_sum_of_heads(mixtures, wo) -------------------------------------------------------------
def fault_sum_of_heads(mixtures, wo):
    n_heads, n, d_head = mixtures.shape
    out = np.zeros((n, wo.shape[1]))
    for h in range(n_heads):
        rows = wo[h : h + d_head]  # (d_head, d_model)
        out += mixtures[h] @ rows  # (n, d_model)
    return out


def _mixed(n_heads, n, d_head, d_model):
    return _draw(n_heads, n, d_head), _draw(n_heads * d_head, d_model)


def _summed(rows=lambda wo, h, n_heads, d_head: wo[h * d_head : (h + 1) * d_head],
            join=lambda parts: sum(parts)):
    """Return the sum over heads, each times ``rows`` of wo."""
    def total(mixtures, wo):
        n_heads, _, d_head = mixtures.shape
        return join([mixtures[h] @ rows(wo, h, n_heads, d_head) for h in range(n_heads)])

    return total


def _sum_in_loops(row=lambda h, c, n_heads, d_head: h * d_head + c):
    """Return the sum over heads number by number, from the rows of wo that ``row`` names."""
    def total(mixtures, wo):
        n_heads, n, d_head = mixtures.shape
        out = np.zeros((n, wo.shape[1]))
        for h in range(n_heads):
            for c in range(d_head):
                out += np.outer(mixtures[h, :, c], wo[row(h, c, n_heads, d_head)])
        return out

    return total


def _mend_sum_of_heads(mixtures, wo):
    n_heads, n, d_head = mixtures.shape
    out = np.zeros((n, wo.shape[1]))
    for h in range(n_heads):
        rows = wo[h * d_head : (h + 1) * d_head]
        out += mixtures[h] @ rows
    return out


_HEADS_ONE = Case(_mixed(1, 5, 3, 7), "a single head", _SUM)
_HEADS = Case(_mixed(3, 5, 2, 7), "3 heads of width 2", _ROWS)
_HEADS_WIDE = Case(_mixed(2, 3, 5, 11), "2 heads of width 5", _ROWS)
_HEADS_SQUARE = Case(_mixed(3, 9, 3, 9), "as many heads as features of a head", _ROWS)

FAULT_SUM_OF_HEADS = Exercise(
    id="fault_sum_of_heads",
    chapter=CHAPTER,
    title="Mend the sum over the heads",
    signature="fault_sum_of_heads(mixtures, wo)",
    shapes="(n_heads, n, d_head), (n_heads * d_head, d_model) → (n, d_model)",
    prompt="This listing should give the same as joining the heads and multiplying by wo, without "
           "joining them: each head's mixtures meet that head's own rows of wo, and the results "
           "are added up. All shapes fit, and the result is wrong. Find the line at fault and "
           "mend it.",
    hints=("Print h and the first and last number of the slice, for 2 heads of width 2. Which rows "
           "of wo are never used?",
           "After the merge, head 0 fills the first d_head features. Which features does head 1 "
           "fill, and which rows of wo do they meet?",
           "The slice must begin where the slice of the head before it ended: after h parts of "
           "d_head rows each."),
    example=Example((np.array([[[1.0, 2]], [[3, 4]]]),
                     np.array([[1.0, 0], [0, 1], [10, 0], [0, 100]])), [[31, 402]]),
    reference=lambda mixtures, wo: reference_product(
        [[number for head in mixtures.tolist() for number in head[i]]
         for i in range(mixtures.shape[1])], wo),
    cases=(
        _HEADS_ONE,
        Case(_mixed(3, 2, 1, 5), "heads of one feature", _SUM),
        Case(_mixed(2, 1, 2, 2), "other mixtures of these shapes", _ROWS),
        _HEADS,
        _HEADS_WIDE,
        _HEADS_SQUARE,
    ),
    naming=(_HEADS, _HEADS_WIDE, _HEADS_SQUARE, _HEADS_ONE),
    mistakes=(
        Mistake(
            id="rows-overlap",
            seen="Each head's rows begin only one row after those of the head before it, so that "
                 "heads share rows and the last rows of wo are not used.",
            question="If head 0 has rows 0 and 1, where do the rows of head 1 begin?",
            ways=(fault_sum_of_heads, _summed(lambda wo, h, n_heads, d_head: wo[h:][:d_head]),
                  _sum_in_loops(lambda h, c, n_heads, d_head: h + c),
                  _summed(lambda wo, h, n_heads, d_head: wo[h:][:d_head],
                          lambda parts: sum(parts) / len(parts))),
            step=_ROWS,
        ),
        Mistake(
            id="one-end-mended",
            seen="The slices begin where they should, or end where they should, but not both; with "
                 "a wrong number of rows, the product raises an error.",
            question="How many rows has your slice for the last head, and how many features has "
                     "that head?",
            ways=(_summed(lambda wo, h, n_heads, d_head: wo[h * d_head : h + d_head]),
                  _summed(lambda wo, h, n_heads, d_head: wo[h * d_head :]),
                  _summed(lambda wo, h, n_heads, d_head: wo[h : (h + 1) * d_head]),
                  _summed(lambda wo, h, n_heads, d_head: wo[: (h + 1) * d_head])),
            step=_ROWS,
        ),
        Mistake(
            id="steps-of-n-heads",
            seen="The rows of the heads lie n_heads apart, not d_head.",
            question="How many features does one head fill in a joined row?",
            ways=(_summed(lambda wo, h, n_heads, d_head: wo[h * n_heads : h * n_heads + d_head]),
                  _summed(lambda wo, h, n_heads, d_head: wo[h * n_heads : (h + 1) * n_heads]),
                  _sum_in_loops(lambda h, c, n_heads, d_head:
                                min(h * n_heads + c, n_heads * d_head - 1))),
            step=_ROWS,
        ),
        Mistake(
            id="interleaved-features",
            seen="Every n_heads-th row of wo goes to a head, as if the heads' features alternated.",
            question="In a joined row, what stands next to the first feature of head 0?",
            ways=(_summed(lambda wo, h, n_heads, d_head: wo[h::n_heads]),
                  _summed(lambda wo, h, n_heads, d_head: wo.reshape(d_head, n_heads, -1)[:, h]),
                  _sum_in_loops(lambda h, c, n_heads, d_head: c * n_heads + h)),
            step=_ROWS,
        ),
        Mistake(
            id="same-rows-for-all",
            seen="All heads meet the same rows of wo.",
            question="Do heads 0 and 1 fill the same features of a joined row?",
            ways=(_summed(lambda wo, h, n_heads, d_head: wo[:d_head]),
                  lambda mixtures, wo: mixtures.sum(axis=0) @ wo[: mixtures.shape[2]],
                  _sum_in_loops(lambda h, c, n_heads, d_head: c)),
            step=_ROWS,
        ),
        Mistake(
            id="heads-reversed",
            seen="The heads meet the rows of wo in the opposite order.",
            question="Which head fills the first features of a joined row?",
            ways=(_summed(lambda wo, h, n_heads, d_head:
                          wo[(n_heads - 1 - h) * d_head : (n_heads - h) * d_head]),
                  lambda mixtures, wo: np.concatenate(mixtures[::-1], axis=1) @ wo),
            step=_ROWS,
        ),
        Mistake(
            id="columns-not-rows",
            seen="Columns of wo are cut out, not rows, so that its rows do not fit the head's "
                 "features.",
            question="Which axis of wo counts the features of the joined heads?",
            ways=(_summed(lambda wo, h, n_heads, d_head: wo[:, h * d_head : (h + 1) * d_head]),
                  _summed(lambda wo, h, n_heads, d_head: wo[:, h : h + d_head]),
                  lambda mixtures, wo: np.zeros((mixtures.shape[1], wo.shape[1]))
                  + _summed(lambda wo, h, n_heads, d_head: wo[:, h * d_head :][:, :d_head])(
                      mixtures, wo),
                  _summed(lambda wo, h, n_heads, d_head: wo[:, h * d_head : (h + 1) * d_head].T)),
            step=_ROWS,
        ),
        Mistake(
            id="last-head-only",
            seen="A single head is in the result: the loop ends too early, or what one head adds "
                 "replaces what the others added.",
            question="Which heads have added something to what you return?",
            ways=(_summed(join=lambda parts: parts[-1]), _summed(join=lambda parts: parts[0]),
                  _summed(lambda wo, h, n_heads, d_head: wo[h : h + d_head],
                          lambda parts: parts[-1])),
            step=_SUM,
        ),
        Mistake(
            id="head-left-out",
            seen="What some of the heads should add is missing.",
            question="Which rows of wo have no influence on your result?",
            ways=(_summed(join=lambda parts: sum(parts[1:], 0 * parts[0])),
                  _summed(join=lambda parts: sum(parts[:-1], 0 * parts[0])),
                  _summed(join=lambda parts: sum(parts[1:-1], 0 * parts[0])),
                  _summed(join=lambda parts: sum(parts[::2])),
                  _summed(join=lambda parts: sum(parts[1::2], 0 * parts[0])),
                  _summed(join=lambda parts: sum(parts[:2])),
                  _summed(join=lambda parts: sum(parts[-2:])),
                  lambda mixtures, wo: _mend_sum_of_heads(
                      mixtures * (np.arange(len(mixtures)) > 0)[:, None, None], wo)),
            step=_SUM,
        ),
        Mistake(
            id="heads-averaged",
            seen="What the heads add is divided by their number.",
            question="A row times wo is a sum over all features. Is anything in it divided?",
            ways=(_summed(join=lambda parts: sum(parts) / len(parts)),
                  lambda mixtures, wo: np.concatenate(mixtures, axis=1) @ wo / len(mixtures)),
            step=_SUM,
        ),
        Mistake(
            id="not-added",
            seen="What the heads add is kept apart.",
            question="Which axis should be gone in the result?",
            ways=(_summed(join=np.array),
                  _summed(join=lambda parts: np.concatenate(parts, axis=-1)),
                  _summed(join=np.concatenate)),
            step=_SUM,
        ),
        Mistake(
            id="no-transpose",
            seen="The heads were joined by a reshape alone: a row holds several tokens of one "
                 "head.",
            question="Which tokens do the numbers in row 0 of your joined array belong to?",
            ways=(lambda mixtures, wo: mixtures.reshape(mixtures.shape[1], -1) @ wo,
                  lambda mixtures, wo: mixtures.ravel().reshape(-1, len(wo)) @ wo),
            step=_ROWS,
        ),
    ),
    variants=(
        _summed(),
        _sum_in_loops(),
        in_float32(_mend_sum_of_heads),
        lambda mixtures, wo: np.concatenate(mixtures, axis=1) @ wo,
        lambda mixtures, wo: np.einsum(
            "hnd,hdm->nm", mixtures, wo.reshape(len(mixtures), -1, wo.shape[1])),
        lambda mixtures, wo: sum(
            mixture @ rows for mixture, rows in
            zip(mixtures, np.split(wo, len(mixtures)), strict=True)).tolist(),
    ),
    solution=_mend_sum_of_heads,
    faulty=fault_sum_of_heads,
)


# --- causal_multi_head_attention(x, wq, wk, wv, wo, n_heads) --------------------------------------
def _tokens(n, n_heads, d_head):
    """Return tokens, four square matrices, and the number of heads."""
    d_model = n_heads * d_head
    return (_draw(n, d_model), *(_draw(d_model, d_model, size=d_model**-0.4) for _ in range(4)),
            n_heads)


def _quarters(*shape):
    return (2 * _rng.normal(size=shape)).round() / 4


def _from_scores(rows, columns):
    """Return arguments whose scores are gentle ones plus ``rows[h, i] + columns[h, j]``.

    Three tokens, two heads of width 4. Every score is exact in float32.
    """
    x, wq, wk = np.eye(8)[:3], _quarters(8, 8), _quarters(8, 8)
    for h, first in enumerate((0, 4)):
        wq[:3, first], wk[:3, first] = np.multiply(2, rows[h]), 1
        wq[:3, first + 1], wk[:3, first + 1] = 1, np.multiply(2, columns[h])
    return x, wq, wk, _draw(8, 8), _draw(8, 8), 2


_ZEROS, _DOWN = np.zeros((2, 3)), np.full((2, 3), -20000.0)
_PRIMES = Case(_tokens(7, 3, 5), "7 tokens, 3 heads of width 5", _SCALE)
_FEW = Case(_tokens(3, 2, 3), "3 tokens, 2 heads of width 3", _SCALE)
_AS_MANY = Case(_tokens(3, 3, 2), "as many tokens as heads", _SPLIT)
_SQUARE = Case(_tokens(4, 2, 2), "as many tokens as features", _PROJECTIONS)
_ONE_HEAD = Case(_tokens(5, 1, 3), "a single head", _WEIGHTS)
_LARGE = Case(_from_scores(_ZEROS + 1000, _ZEROS), "large scores", _SHIFT)
_APART = Case(_from_scores([[0, 1000, -1000], [-3000, -1500, 2000]], _ZEROS),
              "rows of scores far apart from one another", _ROW_MAXIMUM)
_TOWERING = Case(_from_scores(_ZEROS, np.array([[-900.0, 0, 900], [0, 1000, 2000]])),
                 "hidden scores that tower over the visible ones", "the mask before the softmax")
_DEEP = Case(_from_scores(_DOWN, np.array([[0.0, 0, 0], [0, 0, 20000]])),
             "visible scores that are all very low", _HIDDEN)


def _split(x, n_heads):
    return x.reshape(len(x), n_heads, -1).swapaxes(0, 1)


def _merge(heads):
    return heads.swapaxes(0, 1).reshape(heads.shape[1], -1)


def _past(s):
    return np.tri(s.shape[-1], dtype=bool)


def _before(keep, fill=-np.inf, weigh=softmax):
    """Return a weighing that fills the scores outside of ``keep`` before the softmax."""
    return lambda s: weigh(np.where(keep(s), s, fill))


_causal = _before(_past)


def _layer(weigh=_causal, scale=lambda x, d_head, n_heads: d_head**-0.5, split=_split,
           merge=_merge, inputs=lambda x, wq, wk, wv: (x @ wq, x @ wk, x @ wv),
           project=lambda heads, w: heads, turn=lambda k: k.swapaxes(-1, -2),
           output=lambda merged, wo, n_heads: merged @ wo):
    """Return the layer with one of its steps changed; ``project`` comes after the split."""
    def layer(x, wq, wk, wv, wo, n_heads):
        q, k, v = (project(split(each, n_heads), w)
                   for each, w in zip(inputs(x, wq, wk, wv), (wq, wk, wv), strict=True))
        s = q @ turn(k) * scale(x, x.shape[1] // n_heads, n_heads)
        return output(merge(weigh(s) @ v), wo, n_heads)

    return layer


def _head_by_head(scale=lambda d_head, d_model: d_head, seen=lambda i: slice(i + 1),
                  own=lambda h, d_head, n_heads: slice(h * d_head, (h + 1) * d_head),
                  join=lambda heads: np.concatenate(heads, axis=1),
                  output=lambda joined, wo: joined @ wo):
    """Return the layer as a loop over heads and positions, with one of its steps changed."""
    def layer(x, wq, wk, wv, wo, n_heads):
        d_head, heads = x.shape[1] // n_heads, []
        for h in range(n_heads):
            columns = own(h, d_head, n_heads)
            q, k, v = x @ wq[:, columns], x @ wk[:, columns], x @ wv[:, columns]
            heads.append([softmax(k[seen(i)] @ q[i] / math.sqrt(scale(d_head, x.shape[1])))
                          @ v[seen(i)] for i in range(len(x))])
        return output(join(np.array(heads)), wo)

    return layer


def _project_and_split(stage):
    """Return the step that projects by one of a head's ways; of a layer's arguments it takes four.
    """
    def step(t):
        *of_a_head, t.wo, t.n_heads = t.args
        whole, t.args = t.args, of_a_head
        stage(t)
        t.args = whole

    return step


def _splits(split):
    def step(t):
        t.q, t.k, t.v = (split(x, t.n_heads) for x in (t.q, t.k, t.v))

    return step


def _changes_result(rule):
    return sets("result", lambda t: rule(t.result, t))


_LAYER_STAGES = (
    Stage(_project_and_split(PROJECTIONS.right), tuple(
        (ids, _project_and_split(step)) for ids, step in (
            *PROJECTIONS.wrong,
            (("no-projections",), project(lambda x, wq, wk, wv: (x, x, x)))))),
    Stage(_splits(lambda x, n: _split(x, n)), (
        (("reshape-without-transpose",), _splits(lambda x, n: _reshaped(x, n))),
        (("one-wide-head",), _splits(lambda x, n: x[None])),
        (("interleaved-features",), _splits(lambda x, n: _interleaved(x, n))))),
    *OF_A_CAUSAL_HEAD[:-1],
    Stage(VALUES.right, ()),
    Stage(_changes_result(lambda heads, t: _merge(heads)), (
        (("heads-averaged",), _changes_result(
            lambda heads, t: np.tile(heads.mean(axis=0), t.n_heads))),
        (("heads-reversed",), _changes_result(lambda heads, t: _merge(heads[::-1]))),
        (("merged-in-turn",), _changes_result(lambda heads, t: _in_turn(heads))),
        (("merged-without-transpose",), _changes_result(lambda heads, t: _flattened(heads))))),
    Stage(_changes_result(lambda joined, t: joined @ t.wo), (
        (("no-output-projection",), _changes_result(lambda joined, t: joined)),
        (("tokens-added-back",), _changes_result(lambda joined, t: t.args[0] + joined @ t.wo)))),
)


def _reference_layer(x, wq, wk, wv, wo, n_heads):
    d_head = len(wo) // n_heads
    q, k, v = (reference_product(x, w) for w in (wq, wk, wv))
    rows = []
    for i in range(len(x)):
        row = []
        for first in range(0, len(wo), d_head):
            own = slice(first, first + d_head)
            s = [math.fsum(a * b for a, b in zip(q[i][own], k[j][own], strict=True))
                 / math.sqrt(d_head) for j in range(i + 1)]
            row += reference_product([reference_softmax(s)], [v[j][own] for j in range(i + 1)])[0]
        rows.append(row)
    return reference_product(rows, wo)


def _reshaped(x, n_heads):
    return x.reshape(n_heads, len(x), -1)


def _flattened(heads):
    return heads.reshape(heads.shape[1], -1)


def _in_turn(heads):
    return heads.transpose(1, 2, 0).reshape(heads.shape[1], -1)


def _weights_reshaped(x, wq, wk, wv, wo, n_heads):
    q, k, v = (x @ w.reshape(n_heads, len(w), -1) for w in (wq, wk, wv))
    return _merge(_causal(q @ k.swapaxes(1, 2) * q.shape[-1] ** -0.5) @ v) @ wo


def _interleaved(x, n_heads):
    return x.reshape(len(x), -1, n_heads).transpose(2, 0, 1)


def _tokens_first(x, n_heads):
    return x.reshape(len(x), n_heads, -1)


def _blocks(w, n_heads):
    """Return the blocks (n_heads, d_head, d_head) along the diagonal of a matrix."""
    d_head = len(w) // n_heads
    return np.array([w[first : first + d_head, first : first + d_head]
                     for first in range(0, len(w), d_head)])


def _blocks_in_a_loop(x, wq, wk, wv, wo, n_heads):
    heads = [attention_book.causal_attention(part, *blocks) for part, *blocks in zip(
        np.split(x, n_heads, axis=1), *(_blocks(w, n_heads) for w in (wq, wk, wv)), strict=True)]
    return np.hstack(heads) @ wo


def _rows_in_a_loop(scale=0):
    """Return a layer whose heads take rows of the weights; scaled by d_head, or else by d_model."""
    def layer(x, wq, wk, wv, wo, n_heads):
        heads, d_head = [], x.shape[1] // n_heads
        for own in np.split(np.arange(x.shape[1]), n_heads):
            q, k, v = (x[:, own] @ w[own] for w in (wq, wk, wv))
            s = q @ k.T / math.sqrt((d_head, x.shape[1])[scale])
            heads.append((_causal(s) @ v)[:, own])
        return np.concatenate(heads, axis=1) @ wo

    return layer


def _renormalised(s, least=0.0):
    weights = softmax(s) * _past(s)
    return weights / (weights.sum(axis=-1, keepdims=True) + least)


def _masked_in(heads):
    """Return weights that are causal in these heads alone."""
    def weigh(s):
        s = s.copy()
        s[heads] = np.where(_past(s), s[heads], -np.inf)
        return softmax(s)

    return weigh


def _one_head(own=lambda wo, d_head: wo[:d_head], head=0):
    """Return a layer in which one head alone is put through ``own`` rows of wo."""
    return _layer(merge=lambda heads: heads[head],
                  output=lambda mixture, wo, n_heads: mixture @ own(wo, len(wo) // n_heads))


def _zero_for_nan(weigh):
    return lambda s: np.nan_to_num(weigh(s))


def _maximum_over(axes):
    """Return causal weights with one maximum for several rows."""
    def weigh(s):
        s = np.where(_past(s), s, -np.inf)
        return unstable_softmax(s - s.max(axis=axes, keepdims=True))

    return weigh


def _solve_layer(x, wq, wk, wv, wo, n_heads):
    n, d_model = x.shape
    cut = n, n_heads, d_model // n_heads
    q, k, v = ((x @ w).reshape(cut).swapaxes(0, 1) for w in (wq, wk, wv))  # (n_heads, n, d_head)
    s = q @ k.swapaxes(1, 2) * q.shape[-1] ** -0.5  # (n_heads, n, n)
    s = np.where(np.tri(n, dtype=bool), s, -np.inf)
    exponentials = np.exp(s - s.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    merged = (weights @ v).swapaxes(0, 1).reshape(n, d_model)
    return merged @ wo


def _with_package(x, wq, wk, wv, wo, n_heads):
    q, k, v = (split_heads(x @ w, n_heads) for w in (wq, wk, wv))
    mask = attention_book.causal_mask(len(x))
    return merge_heads(attention_book.attention(q, k, v, mask=mask)) @ wo


def _with_causal_heads(x, wq, wk, wv, wo, n_heads):
    columns = zip(*(np.split(w, n_heads, axis=1) for w in (wq, wk, wv)), strict=True)
    return np.hstack([attention_book.causal_attention(x, *own) for own in columns]) @ wo


def _with_einsum(x, wq, wk, wv, wo, n_heads):
    q, k, v = (np.einsum("nm,mhd->hnd", x, w.reshape(len(w), n_heads, -1)) for w in (wq, wk, wv))
    weights = _causal(np.einsum("hid,hjd->hij", q, k) / np.sqrt(q.shape[-1]))
    return np.einsum("hij,hjd,hdm->im", weights, v, wo.reshape(n_heads, -1, wo.shape[1]))


_FILLS = (-1.0, -5.0, -10.0, -20.0, -100.0, -1e3, -1e4)

CAUSAL_MULTI_HEAD_ATTENTION = Exercise(
    id="causal_multi_head_attention",
    chapter=CHAPTER,
    title="The whole layer",
    signature="causal_multi_head_attention(x, wq, wk, wv, wo, n_heads)",
    shapes="(n, d_model), four times (d_model, d_model), a whole number → (n, d_model)",
    prompt="Write causal_multi_head_attention(x, wq, wk, wv, wo, n_heads): project x to queries, "
           "keys and values, split them into n_heads heads, let every head attend with the causal "
           "mask, merge the heads, and multiply by wo. It must hold for scores of any size. You "
           "may call your functions of earlier exercises. In the example 1.099 is log 3: for the "
           "second token, head 0 has the weights 1/2 and 1/2, head 1 the weights 1/4 and 3/4, so "
           "the heads find 6 and 7.",
    hints=("Go step by step and print the shapes: projections, split, scores, mask, weights, "
           "mixtures, merge, output.",
           "After the split, heads are a leading axis, like samples in a batch. Which two axes do "
           "the products work on?",
           "Two lengths are easy to mix up: a score sums over the features of one head. And the "
           "heads are put side by side before wo, in the order in which they were cut."),
    example=Example((np.eye(2), np.array([[0.0, 0], [0, _LN3]]), np.array([[0.0, 0], [0, 1]]),
                     np.array([[4.0, 4], [8, 8]]), np.array([[1.0, 1], [0, 1]]), 2),
                    [[4.0, 8.0], [6.0, 13.0]]),
    reference=_reference_layer,
    stages=_LAYER_STAGES,
    probe=Probe(of_tokens(5, 5, np.eye(5), 1), _SCORES, _SCALE, _WEIGHTS, mask=_MASK),
    cases=(
        Case(_tokens(1, 3, 2), "a single token", _PROJECTIONS),
        Case((*(_tokens(5, 3, 2)[0], np.zeros((6, 6))), *_tokens(5, 3, 2)[2:]),
             "queries of zeros", _MASK),
        Case(_tokens(2, 2, 1), "another pair of tokens", _SPLIT),
        Case(_tokens(5, 3, 1), "heads of one feature", _SPLIT),
        _ONE_HEAD,
        _PRIMES,
        _FEW,
        _AS_MANY,
        _SQUARE,
        _TOWERING,
        _LARGE,
        _APART,
        _DEEP,
    ),
    naming=(_PRIMES, _FEW, _AS_MANY, _SQUARE, _ONE_HEAD, _TOWERING, _LARGE, _APART, _DEEP),
    mistakes=(
        Mistake(
            id="scaled-by-d-model",
            seen="The scale comes from d_model.",
            question="Over how many features does one score of one head sum?",
            ways=(_layer(scale=lambda x, d_head, n_heads: x.shape[1] ** -0.5),
                  _head_by_head(scale=lambda d_head, d_model: d_model)),
            step=_SCALE,
        ),
        Mistake(
            id="unscaled",
            seen="The scores are not scaled.",
            question="How does the spread of a dot product grow with the number of features?",
            ways=(_layer(scale=lambda *_: 1), _head_by_head(scale=lambda *_: 1)),
            step=_SCALE,
        ),
        Mistake(
            id="wrong-scale",
            seen="The scores are scaled by another length than the width of a head, or not by its "
                 "square root.",
            question="Over how many features does one score of one head sum?",
            ways=(_layer(scale=lambda x, d_head, n_heads: 1 / d_head),
                  _layer(scale=lambda x, d_head, n_heads: d_head**0.5),
                  _layer(scale=lambda x, d_head, n_heads: n_heads**-0.5),
                  _layer(scale=lambda x, d_head, n_heads: len(x) ** -0.5),
                  _layer(scale=lambda x, d_head, n_heads: 1 / x.shape[1]),
                  _layer(scale=lambda *_: 1, output=lambda merged, wo, n_heads:
                         merged @ wo * (len(wo) // n_heads) ** -0.5),
                  _head_by_head(scale=lambda d_head, d_model: d_head**2)),
            step=_SCALE,
        ),
        Mistake(
            id="no-output-projection",
            seen="The heads are joined, and wo is not used.",
            question="After the merge, has any feature of the result seen more than one head?",
            ways=(_layer(output=lambda merged, wo, n_heads: merged),
                  _head_by_head(output=lambda joined, wo: joined)),
            step=_OUTPUT,
        ),
        Mistake(
            id="one-wide-head",
            seen="All heads have the same weights: there is one wide head, and n_heads does not "
                 "split it.",
            question="How many tables of weights does your function make?",
            ways=(lambda x, wq, wk, wv, wo, n_heads: _layer()(x, wq, wk, wv, wo, 1),
                  lambda x, wq, wk, wv, wo, n_heads: _causal(
                      x @ wq @ (x @ wk).T * (len(wq) // n_heads) ** -0.5) @ (x @ wv) @ wo,
                  lambda x, wq, wk, wv, wo, n_heads: _head_by_head()(x, wq, wk, wv, wo, 1),
                  _layer(lambda s: _causal(s.sum(axis=0))),
                  _layer(lambda s: _causal(s.mean(axis=0)))),
            step=_SPLIT,
        ),
        Mistake(
            id="no-mask",
            seen="Every position sees the whole text, what comes after it too.",
            question="Does row 0 of your result change when only the last token changes?",
            ways=(_layer(softmax), _layer(unstable_softmax),
                  _head_by_head(seen=lambda i: slice(None))),
            step=_MASK,
        ),
        Mistake(
            id="some-heads-unmasked",
            seen="The mask reaches some heads only: in the others, positions see what comes after "
                 "them.",
            question="In your code, for which of the heads are scores hidden?",
            ways=tuple(_layer(_masked_in(heads)) for heads in (
                slice(1, None), slice(-1), slice(1), slice(-1, None))),
            step=_MASK,
        ),
        Mistake(
            id="reshape-without-transpose",
            seen="Heads are split by a reshape alone, which mixes up tokens and heads.",
            question="Give each token its own number in all features. Which numbers are in head 0?",
            ways=(_layer(split=_reshaped), _layer(split=_reshaped, merge=_flattened),
                  _weights_reshaped),
            step=_SPLIT,
        ),
        Mistake(
            id="merged-without-transpose",
            seen="Heads are merged by a reshape alone, which mixes up tokens and heads.",
            question="Give each token its own number in all features of all heads. Which numbers "
                     "are in row 0 after the merge?",
            ways=(_layer(merge=_flattened), _head_by_head(join=_flattened)),
            step=_MERGE,
        ),
        Mistake(
            id="merged-in-turn",
            seen="After the merge, the heads' features stand in turn: the first of each head, then "
                 "the second of each.",
            question="Which rows of wo should meet the features of head 0?",
            ways=(_layer(merge=_in_turn), _head_by_head(join=_in_turn)),
            step=_MERGE,
        ),
        Mistake(
            id="heads-averaged",
            seen="The widths of one head and of all heads are mixed up: the heads are averaged, "
                 "added up, or replaced by one another, and not put side by side. Where a width "
                 "does not fit, this raises an error.",
            question="How wide is one head, how wide is a token after the merge, and which of the "
                     "two does each of your products need?",
            ways=(_layer(merge=lambda heads: heads.mean(axis=0)),
                  _layer(merge=lambda heads: heads.sum(axis=0)),
                  _head_by_head(join=lambda heads: heads.mean(axis=0)),
                  _one_head(lambda wo, d_head: wo), _one_head(lambda wo, d_head: wo, -1),
                  _layer(merge=lambda heads: np.tile(heads.mean(axis=0), (1, len(heads)))),
                  _layer(merge=lambda heads: np.tile(heads.sum(axis=0), (1, len(heads)))),
                  _layer(merge=lambda heads: heads.mean(axis=0),
                         output=lambda mean, wo, n_heads: mean @ wo[:mean.shape[1]]),
                  _layer(merge=lambda heads: heads.sum(axis=0),
                         output=lambda total, wo, n_heads: total @ wo[:total.shape[1]]),
                  _layer(merge=lambda heads: heads.mean(axis=0),
                         output=lambda mean, wo, n_heads: mean),
                  _layer(output=lambda merged, wo, n_heads: merged @ wo / n_heads)),
            step=_MERGE,
        ),
        Mistake(
            id="interleaved-features",
            seen="The features are dealt out to the heads in turn.",
            question="Which columns of x @ wq belong to head 0?",
            ways=(_layer(split=_interleaved),
                  _head_by_head(own=lambda h, d_head, n_heads: slice(h, None, n_heads)),
                  _layer(split=_interleaved, merge=_in_turn)),
            step=_SPLIT,
        ),
        Mistake(
            id="split-before-projection",
            seen="The tokens are cut before they are projected, so that a head reads only its own "
                 "part of each token.",
            question="Can feature 0 of a token have an influence on every head of yours?",
            ways=(_layer(inputs=lambda x, wq, wk, wv: (x, x, x),
                         project=lambda heads, w: heads @ _blocks(w, len(heads))),
                  _blocks_in_a_loop, _rows_in_a_loop(), _rows_in_a_loop(scale=1)),
            step=_PROJECTIONS,
        ),
        Mistake(
            id="keys-not-transposed",
            seen="The scores sum over another axis than the features of a head; where the lengths "
                 "do not fit, this raises an error.",
            question="k has three axes. Which two must change places for queries to meet keys, "
                     "and what does .T do to all three?",
            ways=(_layer(turn=lambda k: k.T), _layer(turn=lambda k: k),
                  _layer(turn=lambda k: k.swapaxes(0, 1)), _layer(turn=lambda k: k.swapaxes(0, 2)),
                  _layer(turn=lambda k: k.T, scale=lambda *_: 1)),
            step=_SCORES,
        ),
        Mistake(
            id="heads-attend-to-heads",
            seen="The tokens still come first after the split, so that the heads of one token "
                 "attend to one another, and no token to another one.",
            question="Which two axes of q @ k.swapaxes(-1, -2) are left in your scores: tokens and "
                     "tokens, or heads and heads?",
            ways=(_layer(split=_tokens_first, merge=lambda mixed: mixed.reshape(len(mixed), -1)),
                  _layer(softmax, split=_tokens_first,
                         merge=lambda mixed: mixed.reshape(len(mixed), -1)),
                  _layer(lambda s: softmax(np.where(np.tri(len(s), dtype=bool), s, -np.inf)),
                         split=_tokens_first, merge=lambda mixed: mixed.reshape(len(mixed), -1))),
            step=_SPLIT,
        ),
        Mistake(
            id="one-head-only",
            seen="A single head finds its way into the result.",
            question="After your loop over the heads, what is left of head 0, and what of the "
                     "last one?",
            ways=(_one_head(), _one_head(head=-1), _one_head(lambda wo, d_head: wo[-d_head:], -1)),
            step=_MERGE,
        ),
        Mistake(
            id="not-merged",
            seen="The heads still have an axis of their own.",
            question="Which shape should the mixtures have before they meet wo?",
            ways=(_layer(merge=lambda heads: heads),
                  _layer(merge=lambda heads: heads, output=lambda heads, wo, n_heads: heads),
                  _layer(merge=lambda heads: heads.swapaxes(0, 1)),
                  _layer(merge=lambda heads: heads, output=lambda heads, wo, n_heads:
                         heads @ wo.reshape(n_heads, -1, wo.shape[1]))),
            step=_MERGE,
        ),
        Mistake(
            id="heads-reversed",
            seen="The heads come in another order before wo than that in which they were cut.",
            question="Which head's features meet the first rows of wo?",
            ways=(_layer(merge=lambda heads: _merge(heads[::-1])),
                  _head_by_head(join=lambda heads: np.concatenate(heads[::-1], axis=1))),
            step=_MERGE,
        ),
        Mistake(
            id="masked-after-softmax",
            seen="Weights are set to 0 after the softmax, so the rows no longer sum to 1.",
            question="What do the weights of row 0 sum to, after your mask?",
            ways=(_layer(lambda s: softmax(s) * _past(s)),
                  _layer(lambda s: np.tril(unstable_softmax(s)))),
            step="the mask before the softmax",
        ),
        Mistake(
            id="renormalised-too-late",
            seen="Hidden scores take part in the softmax and are taken out afterwards. Where one "
                 "of them towers over the rest, nothing is left to divide by.",
            question="A row has the scores 0 (visible) and 900 (hidden). What is left of the "
                     "visible weight before you divide again?",
            ways=(_layer(_renormalised), _layer(lambda s: _renormalised(s, 1e-9)),
                  _layer(_zero_for_nan(_renormalised))),
            step="the mask before the softmax",
        ),
        Mistake(
            id="masked-scores-zero",
            seen="Hidden scores are set to 0, which is a score like any other.",
            question="What is exp(0), and what weight does a score of 0 get?",
            ways=(_layer(lambda s: softmax(np.tril(s))), _layer(_before(_past, 0.0)),
                  _layer(lambda s: unstable_softmax(s * _past(s)))),
            step=_HIDDEN,
        ),
        Mistake(
            id="finite-fill",
            seen="Hidden scores are set to a low number, but not low enough: some of their weight "
                 "survives.",
            question="Is there a row of scores so low that your number is the largest of the row?",
            ways=(*(_layer(_before(_past, fill)) for fill in _FILLS),
                  *(_layer(lambda s, fill=fill: softmax(s + fill * ~_past(s)))
                    for fill in _FILLS)),
            step=_HIDDEN,
        ),
        Mistake(
            id="future-instead-of-past",
            seen="The mask is the wrong way round: positions see what comes after them.",
            question="In np.where(mask, a, b), which of a and b is taken where the mask is True?",
            ways=(_layer(_before(lambda s: _past(s).T)), _layer(_before(lambda s: ~_past(s))),
                  _layer(_before(lambda s: ~_past(s), -1e9)),
                  _layer(_zero_for_nan(_before(lambda s: ~_past(s)))),
                  _head_by_head(seen=lambda i: slice(i, None))),
            step=_MASK,
        ),
        Mistake(
            id="excludes-itself",
            seen="A position sees those before it, but not itself.",
            question="What is there for position 0 to attend to?",
            ways=(_layer(_before(lambda s: ~_past(s).T)),
                  _layer(_before(lambda s: ~_past(s).T, -1e9)),
                  _layer(_zero_for_nan(_before(lambda s: ~_past(s).T))),
                  _head_by_head(seen=lambda i: slice(max(i, 1))),
                  _layer(_before(lambda s: (np.tri(s.shape[-1], k=-1) > 0) | ~np.any(
                      np.tri(s.shape[-1], k=-1), axis=1, keepdims=True)))),
            step=_MASK,
        ),
        Mistake(
            id="one-too-many",
            seen="A position also sees the one that comes next.",
            question="Which positions does row 0 of your mask allow?",
            ways=(_layer(_before(lambda s: np.tri(s.shape[-1], k=1) > 0)),
                  _head_by_head(seen=lambda i: slice(i + 2))),
            step=_MASK,
        ),
        Mistake(
            id="nan-from-zero-times-inf",
            seen="The mask is multiplied by infinity, and 0 · inf is nan, so that no row survives.",
            question="What does your mask hold for the visible scores, after the multiplication?",
            ways=(_layer(lambda s: softmax(s + ~_past(s) * -np.inf)),
                  _layer(lambda s: softmax(s + np.triu(np.ones(s.shape), 1) * -np.inf))),
            step=_HIDDEN,
        ),
        Mistake(
            id="no-max-shift",
            seen="Gentle scores come out right, but the exponential of a large score overflows.",
            question="Which number can you take from a whole row of scores without changing its "
                     "weights?",
            ways=(_layer(_before(_past, weigh=unstable_softmax)),
                  _layer(lambda s: np.tril(np.exp(s)) / np.tril(np.exp(s)).sum(-1, keepdims=True)),
                  _layer(_zero_for_nan(_before(_past, weigh=unstable_softmax)))),
            step=_SHIFT,
        ),
        Mistake(
            id="global-max",
            seen="One maximum serves several rows, of one head or of all, so a row far below it "
                 "underflows to 0/0.",
            question="Your scores have three axes. Over which of them may the maximum run?",
            ways=(_layer(_maximum_over(None)), _layer(_maximum_over((-2, -1))),
                  _layer(_maximum_over(0)), _layer(_zero_for_nan(_maximum_over(None)))),
            step=_ROW_MAXIMUM,
        ),
        Mistake(
            id="wrong-axis",
            seen="The weights do not add up to 1 over the keys, but over queries or heads.",
            question="Your scores have three axes. Which of them runs over the keys of one query?",
            ways=(_layer(_before(_past, weigh=lambda s: softmax(s, axis=1))),
                  _layer(_before(_past, weigh=lambda s: softmax(s, axis=0))),
                  _layer(lambda s: np.tril(np.exp(s)) / np.tril(np.exp(s)).sum(0))),
            step=_WEIGHTS,
        ),
        Mistake(
            id="no-softmax",
            seen="The scores themselves are used as weights; no exponential is taken.",
            question="Can a weight be negative? What do the weights of a row sum to?",
            ways=(_layer(np.tril), _layer(lambda s: np.where(_past(s), s, -np.inf))),
            step=_WEIGHTS,
        ),
        Mistake(
            id="queries-keys-swapped",
            seen="Queries and keys have changed places.",
            question="Which of the two do the rows of the scores belong to?",
            ways=(_layer(inputs=lambda x, wq, wk, wv: (x @ wk, x @ wq, x @ wv)),
                  lambda x, wq, wk, wv, wo, n_heads: _head_by_head()(x, wk, wq, wv, wo, n_heads)),
            step=_SCORES,
        ),
        Mistake(
            id="weights-shared",
            seen="One projection serves for two of queries, keys and values, or for all three.",
            question="Which of wq, wk and wv have no influence on your result?",
            ways=(_layer(inputs=lambda x, wq, wk, wv: (x @ wq, x @ wq, x @ wv)),
                  _layer(inputs=lambda x, wq, wk, wv: (x @ wk, x @ wk, x @ wv)),
                  _layer(inputs=lambda x, wq, wk, wv: (x @ wq, x @ wk, x @ wk)),
                  _layer(inputs=lambda x, wq, wk, wv: (x @ wq, x @ wv, x @ wv)),
                  _layer(inputs=lambda x, wq, wk, wv: (x @ wq, x @ wq, x @ wq))),
            step=_PROJECTIONS,
        ),
        Mistake(
            id="keys-values-swapped",
            seen="Keys and values have changed places: the queries meet x @ wv, and x @ wk is "
                 "mixed.",
            question="Which of the three do the queries meet, and which one is taken along?",
            ways=(_layer(inputs=lambda x, wq, wk, wv: (x @ wq, x @ wv, x @ wk)),
                  lambda x, wq, wk, wv, wo, n_heads: _head_by_head()(x, wq, wv, wk, wo, n_heads)),
            step=_PROJECTIONS,
        ),
        Mistake(
            id="no-projections",
            seen="The tokens are split into heads as they are, or mixed as they are.",
            question="With which matrix does a token become a query, a key, a value?",
            ways=(_layer(inputs=lambda x, wq, wk, wv: (x, x, x)),
                  _layer(inputs=lambda x, wq, wk, wv: (x @ wq, x @ wk, x))),
            step=_PROJECTIONS,
        ),
        Mistake(
            id="weights-transposed",
            seen="Matrices are turned on their side, or stand before the tokens, which fits only "
                 "where all is square.",
            question="In x @ w, what is summed over? Which axis of w counts the features that go "
                     "in?",
            ways=(_layer(inputs=lambda x, wq, wk, wv: (x @ wq.T, x @ wk.T, x @ wv.T)),
                  _layer(inputs=lambda x, wq, wk, wv: (x @ wq.T, x @ wk.T, x @ wv.T),
                         output=lambda merged, wo, n_heads: merged @ wo.T),
                  _layer(output=lambda merged, wo, n_heads: merged @ wo.T),
                  _layer(output=lambda merged, wo, n_heads: wo @ merged),
                  _layer(inputs=lambda x, wq, wk, wv: (wq @ x, wk @ x, wv @ x))),
            step=_PROJECTIONS,
        ),
        Mistake(
            id="tokens-added-back",
            seen="The tokens are added to the result.",
            question="Which step of the exercise adds something to the heads' results?",
            ways=(lambda x, *others: x + _layer()(x, *others),
                  lambda x, *others: _head_by_head()(x, *others) + x),
            step=_OUTPUT,
        ),
    ),
    variants=(
        _layer(),
        _head_by_head(),
        _with_package,
        _with_causal_heads,
        _with_einsum,
        in_float32(_solve_layer),
        _layer(_before(_past, -1e9)),
        _layer(output=lambda merged, wo, n_heads: sum(
            part @ rows for part, rows in zip(np.split(merged, n_heads, axis=1),
                                              np.split(wo, n_heads), strict=True))),
    ),
    solution=_solve_layer,
    package=(multi_head_attention,),
)
