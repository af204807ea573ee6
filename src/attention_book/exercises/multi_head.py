"""The exercises of the chapter on several heads."""

import numpy as np

from attention_book.exercises.building_blocks import in_float32
from attention_book.exercises.compare import COUNTED
from attention_book.exercises.joined_heads import CAUSAL_MULTI_HEAD_ATTENTION, FAULT_SUM_OF_HEADS
from attention_book.exercises.model import Case, Example, Exercise, Mistake, Step, prediction
from attention_book.multi_head import merge_heads, repeat_kv, split_heads

CHAPTER = "06_multi_head"

_rng = np.random.default_rng(6)
_CUT, _TURN, _JOIN = "the cut of each row", "the axes of tokens and heads", "the heads side by side"
_ORDER, _AXIS, _COPIES = "the order of the heads", "the axis of the heads", "how many copies"


def _draw(*shape):
    return _rng.normal(size=shape).round(3)


# --- split_heads(x, n_heads) ----------------------------------------------------------------------
def _rows(n, n_heads, d_head):
    return _draw(n, n_heads * d_head), n_heads


_SPLIT_ONE_TOKEN = Case(_rows(1, 3, 2), "a single token", _CUT)
_SPLIT_ONE_HEAD = Case(_rows(3, 1, 5), "a single head", _TURN)
_SPLIT = Case(_rows(5, 3, 2), "5 tokens and 3 heads of width 2", _TURN)
_SPLIT_FEW = Case(_rows(2, 3, 5), "2 tokens and 3 heads of width 5", _TURN)
_SPLIT_EVEN = Case(_rows(6, 2, 5), "6 tokens and 2 heads of width 5", _TURN)
_SPLIT_ALL_TWO = Case(_rows(2, 2, 2), "two tokens, two heads, two features each", _TURN)


def _cut(x, n_heads):
    return x.reshape(len(x), n_heads, -1)


def _turned(*axes):
    """Return a split whose axes (tokens, heads, features) are put in another order."""
    return lambda x, n_heads: _cut(x, n_heads).transpose(axes)


def _split_in_loops(feature=lambda h, c, d_head, n_heads: h * d_head + c, head=lambda h, n_heads: h,
                    axes=(0, 1, 2)):
    """Return a split number by number, from the columns that ``feature`` names."""
    def split(x, n_heads):
        n, d_head = len(x), x.shape[1] // n_heads
        out = np.zeros((n_heads, n, d_head))
        for h in range(n_heads):
            for i in range(n):
                for c in range(d_head):
                    out[h, i, c] = x[i, feature(head(h, n_heads), c, d_head, n_heads)]
        return out.transpose(axes)

    return split


def _dealt_out_in_loops(x, n_heads):
    n, d_head = len(x), x.shape[1] // n_heads
    numbers = iter(x.ravel())
    return [[[next(numbers) for _ in range(d_head)] for _ in range(n)] for _ in range(n_heads)]


def _without_head(h):
    def split(x, n_heads):
        out = np.array(_columns(x, n_heads))
        out[h] = 0
        return out

    return split


def _columns(x, n_heads):
    d_head = x.shape[1] // n_heads
    return [x[:, h * d_head : (h + 1) * d_head] for h in range(n_heads)]


def _solve_split_heads(x, n_heads):
    n, d_model = x.shape
    parts = x.reshape(n, n_heads, d_model // n_heads)  # (n, n_heads, d_head)
    return parts.swapaxes(0, 1)  # (n_heads, n, d_head)


_SPLIT_HEADS = Exercise(
    id="split_heads",
    chapter=CHAPTER,
    title="Cut the rows into heads",
    signature="split_heads(x, n_heads)",
    shapes="(n, d_model), a whole number → (n_heads, n, d_head)",
    prompt="Write split_heads(x, n_heads): every row of x is cut into n_heads equal parts, one "
           "after the other, and head h is given part h of every row. n_heads divides d_model, and "
           "d_head = d_model / n_heads.",
    hints=("Write down head 0 of the example. Which columns of x does it hold, and which rows?",
           "There are two steps: one cuts each row, the other changes the order of the axes. "
           "Which of the two can a reshape do?",
           "After the cut the shape is (n, n_heads, d_head). Which two axes must change places?"),
    example=Example((np.array([[0.0, 1, 2, 3], [10, 11, 12, 13]]), 2),
                    [[[0, 1], [10, 11]], [[2, 3], [12, 13]]]),
    reference=lambda x, n_heads: [
        [list(row)[h * (len(row) // n_heads):][:len(row) // n_heads] for row in x.tolist()]
        for h in range(n_heads)],
    cases=(
        _SPLIT_ONE_TOKEN,
        Case(_rows(2, 2, 2), "another array of this shape", _TURN),
        _SPLIT,
        _SPLIT_FEW,
        _SPLIT_EVEN,
        Case(_rows(7, 5, 1), "heads of one feature", _TURN),
        _SPLIT_ONE_HEAD,
        Case(_rows(11, 2, 7), "11 tokens and 2 heads of width 7", _TURN),
    ),
    naming=(_SPLIT, _SPLIT_FEW, _SPLIT_EVEN, _SPLIT_ALL_TWO, _SPLIT_ONE_TOKEN, _SPLIT_ONE_HEAD),
    mistakes=(
        Mistake(
            id="reshape-without-transpose",
            seen="The numbers are dealt out in the order in which they stand: the first head is "
                 "given whole rows, and the last tokens are missing in it.",
            question="Which tokens does head 0 of your result know, and which ones should it know?",
            ways=(lambda x, n_heads: x.reshape(n_heads, len(x), -1), _dealt_out_in_loops,
                  lambda x, n_heads: np.split(x.reshape(-1, x.shape[1] // n_heads), n_heads),
                  lambda x, n_heads: x.ravel().reshape(n_heads, len(x), -1).tolist()),
            step=_TURN,
        ),
        Mistake(
            id="interleaved-features",
            seen="The features are dealt out in turn: head 0 has every n_heads-th one.",
            question="Which features stand next to each other in x, and do they go to the same "
                     "head?",
            ways=(lambda x, n_heads: x.reshape(len(x), -1, n_heads).transpose(2, 0, 1),
                  lambda x, n_heads: [x[:, h::n_heads] for h in range(n_heads)],
                  lambda x, n_heads: np.moveaxis(x.reshape(len(x), -1, n_heads), -1, 0),
                  _split_in_loops(lambda h, c, d_head, n_heads: c * n_heads + h)),
            step=_CUT,
        ),
        Mistake(
            id="heads-last",
            seen="Each row is cut as it should be, but the tokens still come first: there is no "
                 "matrix for each head.",
            question="What does result[0] hold: one head, or one token?",
            ways=(_cut, lambda x, n_heads: [np.split(row, n_heads) for row in x],
                  _split_in_loops(axes=(1, 0, 2)),
                  lambda x, n_heads: np.stack(_columns(x, n_heads), axis=1)),
            step=_TURN,
        ),
        Mistake(
            id="wrong-axes-turned",
            seen="The rows are cut, and then other axes than those of tokens and heads have "
                 "changed places.",
            question="The axes are tokens, heads, features after the cut. In which order should "
                     "they be, and in which are they?",
            ways=(_turned(1, 2, 0), _turned(0, 2, 1), _turned(2, 1, 0), _turned(2, 0, 1),
                  lambda x, n_heads: np.split(x.T, n_heads), _split_in_loops(axes=(0, 2, 1)),
                  lambda x, n_heads: np.stack(_columns(x, n_heads), axis=-1)),
            step=_TURN,
        ),
        Mistake(
            id="turned-too-early",
            seen="The axes are exchanged before the rows are cut, so that the cut runs across "
                 "tokens.",
            question="After x.T, what stands in one row, and what does a reshape join to it?",
            ways=(lambda x, n_heads: x.T.reshape(n_heads, len(x), -1),
                  lambda x, n_heads: np.split(x.T.reshape(-1, x.shape[1] // n_heads), n_heads),
                  lambda x, n_heads: x.reshape((n_heads, len(x), -1), order="F"),
                  lambda x, n_heads: x.T.reshape(len(x), n_heads, -1).swapaxes(0, 1)),
            step=_TURN,
        ),
        Mistake(
            id="tokens-cut",
            seen="The tokens are divided among the heads, not the features; where their number "
                 "does not allow it, this raises an error.",
            question="Should a head know some tokens in full, or a part of every token?",
            ways=(lambda x, n_heads: x.reshape(n_heads, -1, x.shape[1]),
                  lambda x, n_heads: np.split(x, n_heads),
                  lambda x, n_heads: np.array_split(x, n_heads),
                  lambda x, n_heads: [x[h * (len(x) // n_heads):][:len(x) // n_heads]
                                      for h in range(n_heads)],
                  lambda x, n_heads: x.reshape(n_heads, len(x) // n_heads, -1)),
            step=_CUT,
        ),
        Mistake(
            id="no-axis-of-heads",
            seen="The heads are put below one another, in one matrix.",
            question="Which three axes should the result have?",
            ways=(lambda x, n_heads: np.concatenate(_columns(x, n_heads)),
                  lambda x, n_heads: np.vstack(np.split(x, n_heads, axis=1)),
                  lambda x, n_heads: x.reshape(-1, x.shape[1] // n_heads)),
            step=_TURN,
        ),
        Mistake(
            id="width-for-number",
            seen="n_heads is taken for the width of a head, and d_head for their number.",
            question="With 6 features and 3 heads, how many features has each head?",
            ways=(lambda x, n_heads: x.reshape(len(x), -1, n_heads).swapaxes(0, 1),
                  lambda x, n_heads: [x[:, c : c + n_heads] for c in
                                      range(0, x.shape[1], n_heads)]),
            step=_CUT,
        ),
        Mistake(
            id="whole-rows",
            seen="Every head is given all features of every token.",
            question="How many numbers should all heads together hold?",
            ways=(lambda x, n_heads: np.stack([x] * n_heads), lambda x, n_heads: [x] * n_heads,
                  lambda x, n_heads: np.repeat(x[None], n_heads, axis=0)),
            step=_CUT,
        ),
        Mistake(
            id="parts-overlap",
            seen="Each part begins one feature after the one before it, so that heads share "
                 "features and the last ones are left out.",
            question="Where does the part of head 1 begin, if head 0 has d_head features?",
            ways=(lambda x, n_heads: [x[:, h : h + x.shape[1] // n_heads] for h in range(n_heads)],
                  _split_in_loops(lambda h, c, d_head, n_heads: h + c)),
            step=_CUT,
        ),
        Mistake(
            id="heads-reversed",
            seen="The parts are right, and the heads come in the opposite order.",
            question="Which head should hold the first features?",
            ways=(lambda x, n_heads: _solve_split_heads(x, n_heads)[::-1],
                  _split_in_loops(head=lambda h, n_heads: n_heads - 1 - h)),
            step=_ORDER,
        ),
        Mistake(
            id="one-head-only",
            seen="A single head comes out, and the others are missing.",
            question="How many matrices should there be for two heads?",
            ways=(lambda x, n_heads: x[:, :x.shape[1] // n_heads],
                  lambda x, n_heads: x[:, -(x.shape[1] // n_heads):],
                  lambda x, n_heads: x[None, :, :x.shape[1] // n_heads]),
            step=_CUT,
        ),
        Mistake(
            id="head-left-out",
            seen="One of the heads is left out, or is all zeros.",
            question="Which features of x are nowhere in your result?",
            ways=(_without_head(-1), _without_head(0),
                  lambda x, n_heads: _columns(x, n_heads)[:-1],
                  lambda x, n_heads: _columns(x, n_heads)[1:]),
            step=_CUT,
        ),
        Mistake(
            id="axis-of-one-lost",
            seen="Where there is a single head or a single token, its axis is gone.",
            question="One head of 3 tokens and 5 features: which three numbers are the shape?",
            ways=(lambda x, n_heads: np.squeeze(_turned(1, 0, 2)(x, n_heads)),
                  lambda x, n_heads: x if n_heads == 1 else _columns(x, n_heads),
                  lambda x, n_heads: [np.squeeze(part) for part in _columns(x, n_heads)]),
            step=_CUT,
        ),
    ),
    variants=(
        _turned(1, 0, 2),
        _columns,
        _split_in_loops(),
        in_float32(_solve_split_heads),
        lambda x, n_heads: np.split(x, n_heads, axis=1),
        lambda x, n_heads: x.T.reshape(n_heads, -1, len(x)).swapaxes(1, 2),
        lambda x, n_heads: np.einsum("nhd->hnd", _cut(x, n_heads)),
    ),
    solution=_solve_split_heads,
    package=(split_heads,),
)


# --- merge_heads(x) -------------------------------------------------------------------------------
_MERGE_ONE_TOKEN = Case((_draw(3, 1, 2),), "a single token", _JOIN)
_MERGE = Case((_draw(3, 5, 2),), "3 heads, 5 tokens, width 2", _TURN)
_MERGE_WIDE = Case((_draw(2, 3, 7),), "2 heads, 3 tokens, width 7", _TURN)
_MERGE_SQUARE = Case((_draw(3, 3, 3),), "as many heads as tokens and features", _TURN)


def _merge_in_loops(feature=lambda h, c, n_heads, d_head: h * d_head + c):
    """Return a merge number by number, into the columns that ``feature`` names."""
    def merge(x):
        n_heads, n, d_head = x.shape
        out = np.zeros((n, n_heads * d_head))
        for h in range(n_heads):
            for i in range(n):
                for c in range(d_head):
                    out[i, feature(h, c, n_heads, d_head)] = x[h, i, c]
        return out

    return merge


def _slices_one_apart(x):
    n_heads, n, d_head = x.shape
    out = np.zeros((n, n_heads * d_head))
    for h, head in enumerate(x):
        out[:, h : h + d_head] = head
    return out


def _merge_row_by_row(x):
    rows = []
    for i in range(x.shape[1]):
        row = []
        for head in x:
            row.extend(head[i])
        rows.append(row)
    return rows


def _dealt_out_again(x):
    numbers = iter(x.ravel().tolist())
    return [[next(numbers) for _ in range(len(x) * x.shape[2])] for _ in range(x.shape[1])]


def _solve_merge_heads(x):
    n_heads, n, d_head = x.shape
    return x.swapaxes(0, 1).reshape(n, n_heads * d_head)


_MERGE_HEADS = Exercise(
    id="merge_heads",
    chapter=CHAPTER,
    title="Join the heads again",
    signature="merge_heads(x)",
    shapes="(n_heads, n, d_head) → (n, n_heads * d_head)",
    prompt="Write merge_heads(x), the way back: one row for each token, with what head 0 has for "
           "that token first, then what head 1 has for it, and so on.",
    hints=("Write down the row of token 0 in the example. From which places of x does it come?",
           "What stands next to one another in memory becomes a row in a reshape. Do the parts of "
           "one token stand next to one another in x?",
           "First bring the axes into the order tokens, heads, features. The last two can then "
           "become one."),
    example=Example((np.array([[[0.0, 1], [10, 11]], [[2, 3], [12, 13]]]),),
                    [[0, 1, 2, 3], [10, 11, 12, 13]]),
    reference=lambda x: [[number for head in x.tolist() for number in head[i]]
                         for i in range(x.shape[1])],
    cases=(
        _MERGE_ONE_TOKEN,
        Case((_draw(2, 2, 2),), "another array of this shape", _TURN),
        _MERGE,
        _MERGE_WIDE,
        _MERGE_SQUARE,
        Case((_draw(1, 5, 3),), "a single head", _JOIN),
        Case((_draw(5, 7, 1),), "heads of one feature", _TURN),
    ),
    naming=(_MERGE, _MERGE_WIDE, _MERGE_SQUARE, _MERGE_ONE_TOKEN),
    mistakes=(
        Mistake(
            id="no-transpose",
            seen="The axes are joined as they stand, so that one row holds several tokens of one "
                 "head.",
            question="In row 0 of your result, which tokens do the numbers belong to?",
            ways=(lambda x: x.reshape(x.shape[1], -1), _dealt_out_again,
                  lambda x: np.concatenate(x).reshape(x.shape[1], -1),
                  lambda x: x.ravel().reshape(x.shape[1], x.shape[0] * x.shape[2])),
            step=_TURN,
        ),
        Mistake(
            id="averages-heads",
            seen="The heads are averaged, so that what each of them found cannot be told apart.",
            question="How many features has a row, if two heads of width 2 keep all that they "
                     "found?",
            ways=(lambda x: x.mean(axis=0), lambda x: sum(x) / len(x),
                  lambda x: np.tile(x.mean(axis=0), (1, len(x)))),
            step=_JOIN,
        ),
        Mistake(
            id="adds-heads",
            seen="The heads are added up, so that what each of them found cannot be told apart.",
            question="How many features has a row, if two heads of width 2 keep all that they "
                     "found?",
            ways=(lambda x: x.sum(axis=0), lambda x: sum(x),
                  lambda x: np.tile(x.sum(axis=0), (1, len(x)))),
            step=_JOIN,
        ),
        Mistake(
            id="heads-reversed",
            seen="The heads come in the opposite order in each row.",
            question="Which head should the first features of a row come from?",
            ways=(lambda x: np.concatenate(x[::-1], axis=-1),
                  _merge_in_loops(lambda h, c, n_heads, d_head: (n_heads - 1 - h) * d_head + c),
                  lambda x: _solve_merge_heads(np.flip(x, axis=0))),
            step=_ORDER,
        ),
        Mistake(
            id="interleaved-features",
            seen="The heads' features alternate in each row: the first of every head, then the "
                 "second of every head.",
            question="Which two numbers of head 0 should stand next to each other in row 0?",
            ways=(lambda x: x.transpose(1, 2, 0).reshape(x.shape[1], -1),
                  _merge_in_loops(lambda h, c, n_heads, d_head: c * n_heads + h),
                  lambda x: np.stack(x, axis=-1).reshape(x.shape[1], -1)),
            step=_JOIN,
        ),
        Mistake(
            id="tokens-joined",
            seen="The heads are put below one another: there is a row for each token of each head.",
            question="How many rows should there be for two tokens and two heads?",
            ways=(lambda x: np.concatenate(x), lambda x: np.vstack(list(x)),
                  lambda x: x.reshape(-1, x.shape[-1]),
                  lambda x: x.swapaxes(0, 1).reshape(-1, x.shape[-1]),
                  lambda x: [row for head in x for row in head]),
            step=_JOIN,
        ),
        Mistake(
            id="not-joined",
            seen="Heads and features are still two axes.",
            question="How many axes should the result have, and which two become one?",
            ways=(lambda x: x.swapaxes(0, 1), lambda x: x, lambda x: np.stack(x, axis=-1),
                  lambda x: np.swapaxes(x, 1, 2), lambda x: x.T, lambda x: x.transpose(1, 2, 0)),
            step=_JOIN,
        ),
        Mistake(
            id="wrong-axes-turned",
            seen="Other axes than those of heads and tokens change places before the reshape.",
            question="In which order must the axes be for one token's numbers to stand next to one "
                     "another?",
            ways=(lambda x: x.swapaxes(1, 2).reshape(x.shape[1], -1),
                  lambda x: x.T.reshape(x.shape[1], -1),
                  lambda x: x.transpose(2, 0, 1).reshape(x.shape[1], -1)),
            step=_TURN,
        ),
        Mistake(
            id="transposed",
            seen="The numbers are right, and rows and columns are exchanged.",
            question="Should a row of the result belong to a token or to a feature?",
            ways=(lambda x: _solve_merge_heads(x).T, lambda x: np.concatenate([h.T for h in x]),
                  lambda x: x.swapaxes(1, 2).reshape(-1, x.shape[1])),
            step=_JOIN,
        ),
        Mistake(
            id="one-head-only",
            seen="What a single head found comes out, and the others are missing.",
            question="How many numbers go in, and how many come out?",
            ways=(lambda x: x[0], lambda x: x[-1], lambda x: x.max(axis=0)),
            step=_JOIN,
        ),
        Mistake(
            id="heads-left-out",
            seen="Some of the heads find their place in the rows, and others do not.",
            question="How many heads has x, and how many of them do you read?",
            ways=(lambda x: np.hstack([x[0], x[1]]), lambda x: np.hstack([x[0], x[-1]]),
                  lambda x: np.hstack(list(x[1:])), lambda x: np.hstack(list(x[:-1])),
                  lambda x: _solve_merge_heads(np.concatenate([x[:-1], 0 * x[-1:]])),
                  lambda x: _solve_merge_heads(np.concatenate([0 * x[:1], x[1:]]))),
            step=_JOIN,
        ),
        Mistake(
            id="places-overlap",
            seen="Each head's place begins one feature after the one before it, so that heads "
                 "write over one another.",
            question="If head 0 fills d_head features of a row, where does head 1 begin?",
            ways=(_merge_in_loops(lambda h, c, n_heads, d_head: h + c), _slices_one_apart),
            step=_JOIN,
        ),
        Mistake(
            id="row-for-each-head",
            seen="The result has a row for each head, and not for each token.",
            question="How many rows should there be for two heads and five tokens?",
            ways=(lambda x: x.reshape(len(x), -1), lambda x: [head.ravel() for head in x],
                  lambda x: x.swapaxes(0, 1).reshape(len(x), -1),
                  lambda x: [head.T.ravel() for head in x]),
            step=_JOIN,
        ),
        Mistake(
            id="flattened",
            seen="All numbers stand in one long row; the tokens have no axis of their own.",
            question="How many rows should there be for five tokens?",
            ways=(np.ravel, lambda x: x.swapaxes(0, 1).ravel(), lambda x: np.hstack(x.T).ravel()),
            step=_JOIN,
        ),
        Mistake(
            id="axis-of-one-lost",
            seen="Where there is a single token, its axis is gone.",
            question="One token of three heads of width 2: which two numbers are the shape?",
            ways=(lambda x: np.squeeze(_solve_merge_heads(x)),
                  lambda x: np.hstack([np.squeeze(head) for head in x]),
                  lambda x: x.ravel() if x.shape[1] == 1 else np.hstack(list(x))),
            step=_JOIN,
        ),
    ),
    variants=(
        lambda x: np.concatenate(x, axis=-1),
        lambda x: np.hstack(list(x)),
        _merge_in_loops(),
        _merge_row_by_row,
        in_float32(_solve_merge_heads),
        lambda x: np.einsum("hnd->nhd", x).reshape(x.shape[1], -1),
        lambda x: x.transpose(0, 2, 1).reshape(-1, x.shape[1]).T,
    ),
    solution=_solve_merge_heads,
    package=(merge_heads,),
)


# --- repeat_kv(x, n_repeats) ----------------------------------------------------------------------
_REPEAT_ONE_TOKEN = Case((_draw(2, 1, 2), 2), "another array of this shape", _ORDER)
_REPEAT = Case((_draw(2, 5, 3), 3), "2 heads, each for 3", _ORDER)
_REPEAT_TWO = Case((_draw(3, 2, 5), 2), "3 heads, each for 2", _ORDER)
_REPEAT_FOUR = Case((_draw(2, 3, 3), 4), "2 heads, each for 4", _ORDER)
_REPEAT_ALL_TWO = Case((_draw(2, 2, 2), 2), "two of everything", _ORDER)


def _heads_by_number(number):
    """Return repeated heads, where query head h has head ``number(h, n_kv, n_repeats)``."""
    def repeat(x, n_repeats):
        return np.array([x[number(h, len(x), n_repeats)] for h in range(len(x) * n_repeats)])

    return repeat


def _next_to_one_another(x, n_repeats):
    out = []
    for head in x:
        for _ in range(n_repeats):
            out.append(head)
    return out


def _one_after_the_other(x, n_repeats):
    out = []
    for _ in range(n_repeats):
        for head in x:
            out.append(head)
    return out


def _solve_repeat_kv(x, n_repeats):
    return np.repeat(x, n_repeats, axis=0)


_REPEAT_KV = Exercise(
    id="repeat_kv",
    chapter=CHAPTER,
    title="Share keys and values",
    signature="repeat_kv(x, n_repeats)",
    shapes="(n_kv_heads, n, d), a whole number → (n_kv_heads * n_repeats, n, d)",
    prompt="Write repeat_kv(x, n_repeats). x holds the keys (or the values) of n_kv_heads heads. "
           "Query heads in a row share one of them: the first n_repeats query heads use head 0, "
           "the next n_repeats use head 1, and so on. Return an array with a matrix for each query "
           "head.",
    hints=("Number the query heads from 0. Which head of x belongs to each, in the example?",
           "With two repeats the order is 0 0 1 1. What would put a whole copy of x behind x?",
           "There is a NumPy function that repeats each entry along an axis. Which axis, and what "
           "happens if none is named?"),
    example=Example((np.array([[[1.0, 2]], [[3, 4]]]), 2),
                    [[[1, 2]], [[1, 2]], [[3, 4]], [[3, 4]]]),
    reference=lambda x, n_repeats: [x.tolist()[h // n_repeats]
                                    for h in range(len(x) * n_repeats)],
    cases=(
        Case((_draw(3, 2, 5), 1), "a single repeat", _AXIS),
        Case((_draw(1, 5, 3), 3), "one head for all", _COPIES),
        _REPEAT_ONE_TOKEN,
        _REPEAT,
        _REPEAT_TWO,
        _REPEAT_FOUR,
        _REPEAT_ALL_TWO,
    ),
    naming=(_REPEAT, _REPEAT_TWO, _REPEAT_FOUR, _REPEAT_ALL_TWO, _REPEAT_ONE_TOKEN),
    mistakes=(
        Mistake(
            id="tiled",
            seen="All heads follow one another, and then all of them again: the order is 0 1 0 1.",
            question="Which heads of x do query heads 0 and 1 use in your result, and which ones "
                     "should they share?",
            ways=(lambda x, n_repeats: np.tile(x, (n_repeats, 1, 1)), _one_after_the_other,
                  lambda x, n_repeats: np.concatenate([x] * n_repeats),
                  _heads_by_number(lambda h, n_kv, n_repeats: h % n_kv)),
            step=_ORDER,
        ),
        Mistake(
            id="wrong-axis",
            seen="Tokens or features are repeated, not heads.",
            question="Which axis of (n_kv_heads, n, d) should grow?",
            ways=(lambda x, n_repeats: np.repeat(x, n_repeats, axis=1),
                  lambda x, n_repeats: np.repeat(x, n_repeats, axis=-1),
                  lambda x, n_repeats: np.repeat(x, n_repeats),
                  lambda x, n_repeats: np.tile(x, n_repeats),
                  lambda x, n_repeats: np.tile(x, (1, n_repeats, 1)),
                  lambda x, n_repeats: [[row for row in head for _ in range(n_repeats)]
                                        for head in x],
                  lambda x, n_repeats: np.repeat(x, n_repeats).reshape(-1, *x.shape[1:])),
            step=_AXIS,
        ),
        Mistake(
            id="not-repeated",
            seen="There are as many heads as before.",
            question="How many query heads are there, and does each have a matrix of keys?",
            ways=(lambda x, n_repeats: x, lambda x, n_repeats: np.repeat(x, 1, axis=0)),
            step=_COPIES,
        ),
        Mistake(
            id="axis-of-their-own",
            seen="The copies stand along an axis of their own.",
            question="How many axes should the result have, and which two of yours become one?",
            ways=(lambda x, n_repeats: np.repeat(x[:, None], n_repeats, axis=1),
                  lambda x, n_repeats: np.stack([x] * n_repeats),
                  lambda x, n_repeats: [[head] * n_repeats for head in x]),
            step=_AXIS,
        ),
        Mistake(
            id="copies-miscounted",
            seen="Each head is there once too often, or once too little.",
            question="With n_repeats = 2, how often should head 0 stand in the result?",
            ways=(lambda x, n_repeats: np.repeat(x, n_repeats + 1, axis=0),
                  lambda x, n_repeats: np.repeat(x, n_repeats - 1, axis=0),
                  lambda x, n_repeats: np.tile(x, (n_repeats + 1, 1, 1)),
                  lambda x, n_repeats: [head for head in x for _ in range(1, n_repeats)]),
            step=_COPIES,
        ),
        Mistake(
            id="repeats-for-heads",
            seen="n_repeats is taken for the number of query heads, not for how many of them share "
                 "one head.",
            question="Two heads, each for 3 query heads: how many matrices is that?",
            ways=(lambda x, n_repeats: np.repeat(x, n_repeats // len(x), axis=0),
                  lambda x, n_repeats: [x[h * len(x) // n_repeats] for h in range(n_repeats)],
                  lambda x, n_repeats: [x[h % len(x)] for h in range(n_repeats)]),
            step=_COPIES,
        ),
        Mistake(
            id="one-head-for-all",
            seen="One head serves all query heads; the others are not used.",
            question="After the first n_repeats query heads, whose turn is it?",
            ways=(_heads_by_number(lambda *_: 0), _heads_by_number(lambda *_: -1),
                  lambda x, n_repeats: np.repeat(x[:1], n_repeats, axis=0),
                  lambda x, n_repeats: [x[h // n_repeats] for h in range(n_repeats)]),
            step=_ORDER,
        ),
        Mistake(
            id="grouped-by-kv-heads",
            seen="The groups have the wrong size: the number of heads in x decides it, and not "
                 "n_repeats.",
            question="How many query heads in a row share head 0?",
            ways=(_heads_by_number(lambda h, n_kv, n_repeats: min(h // n_kv, n_kv - 1)),
                  _heads_by_number(lambda h, n_kv, n_repeats: h // n_kv),
                  _heads_by_number(lambda h, n_kv, n_repeats: h // n_kv % n_kv)),
            step=_ORDER,
        ),
        Mistake(
            id="axis-of-one-lost",
            seen="Where there is a single token, its axis is gone.",
            question="Two heads of one token and two features, each for 2: which three numbers are "
                     "the shape?",
            ways=(lambda x, n_repeats: np.squeeze(np.repeat(x, n_repeats, axis=0)),
                  lambda x, n_repeats: [np.squeeze(head) for head in
                                        _next_to_one_another(x, n_repeats)]),
            step=_AXIS,
        ),
        Mistake(
            id="numbers-multiplied",
            seen="The numbers are multiplied by n_repeats; there are no more heads than before.",
            question="What does * do to an array, and what does it do to a list?",
            ways=(lambda x, n_repeats: x * n_repeats,
                  lambda x, n_repeats: sum(x for _ in range(n_repeats))),
            step=_COPIES,
        ),
    ),
    variants=(
        _next_to_one_another,
        _heads_by_number(lambda h, n_kv, n_repeats: h // n_repeats),
        in_float32(_solve_repeat_kv),
        lambda x, n_repeats: x[np.arange(len(x) * n_repeats) // n_repeats],
        lambda x, n_repeats: np.stack([x] * n_repeats, axis=1).reshape(-1, *x.shape[1:]),
        lambda x, n_repeats: np.kron(x, np.ones((n_repeats, 1, 1))),
        lambda x, n_repeats: np.broadcast_to(
            x[:, None], (len(x), n_repeats, *x.shape[1:])).reshape(-1, *x.shape[1:]).tolist(),
    ),
    solution=_solve_repeat_kv,
    package=(repeat_kv,),
)


# --- predict_changed_numbers ----------------------------------------------------------------------
_PREDICT = prediction(
    id="predict_changed_numbers",
    chapter=CHAPTER,
    title="How far one number reaches",
    signature="a whole number",
    shapes="",
    prompt="A causal layer of 3 heads reads seven tokens of width d_model = 12; its result has the "
           "shape (7, 12). Then one single number of the input changes: feature 0 of token 2. (The "
           "tokens are counted from 0, and none of the weights is zero.) How many of the 84 "
           "numbers of the result change? Write down a number before you run anything.",
    hints=("Follow the changed token through the layer. Which rows of q, k and v change, and in "
           "how many of the heads?",
           "Which positions read the keys and values of token 2? Remember which ones the mask "
           "hides from whom.",
           "Count the rows of the result that change. The last step, merged @ wo, lets each of "
           "their features draw on every head."),
    value=60,
    steps=(Step("projections", "q, k and v of token 2 change, in all 3 heads"),
           Step("mask", "token 2 is read by positions 2, 3, 4, 5 and 6"),
           Step("mixtures", "5 positions, 3 heads of width 4, all of their features"),
           Step("output projection", "5 rows of 12 features: 60 numbers")),
    mistakes=(
        Mistake(
            id="one-head-only",
            seen="Only the features of a single head were counted as changed.",
            question="Which columns of wq does feature 0 of a token meet, and to which heads do "
                     "they belong?",
            ways=(20, 20.0, 4),
            step="projections",
        ),
        Mistake(
            id="own-row-only",
            seen="Only the row of the changed token was counted.",
            question="Who else reads the key and the value of token 2?",
            ways=(12, 12.0),
            step="mask",
        ),
        Mistake(
            id="no-mask",
            seen="All seven positions were counted, as if every one saw token 2.",
            question="What do positions 0 and 1 know of token 2?",
            ways=(84, 84.0, 7, 28),
            step="mask",
        ),
        Mistake(
            id="past-instead-of-future",
            seen="The positions up to token 2 were counted.",
            question="Does position 1 see token 2, and does position 3?",
            ways=(36, 36.0, 24),
            step="mask",
        ),
        Mistake(
            id="excludes-itself",
            seen="The positions behind token 2 were counted, without its own.",
            question="May a position attend to itself? And what of its query?",
            ways=(48, 48.0),
            step="mask",
        ),
        Mistake(
            id="one-feature-each",
            seen="One number was counted in each row, or in each head: as if feature 0 stayed "
                 "feature 0.",
            question="On how many features of a token does one feature of q depend?",
            ways=(5, 5.0, 1, 15, 3),
            step="projections",
        ),
        Mistake(
            id="counted-from-one",
            seen="Six positions were counted.",
            question="Which two positions come before token 2, if the first one is token 0?",
            ways=(72, 72.0),
            step="mask",
        ),
        Mistake(
            id="heads-times-width",
            seen="The heads were counted on top of the width, as if each of them had all 12 "
                 "features.",
            question="How wide is one head, and how wide are the three of them side by side?",
            ways=(180, 180.0, 252),
            step="mixtures",
        ),
    ),
    variants=(60, np.int64(60), np.array(60)),
)


# --- parameter_count(d_model, n_heads, n_kv_heads) ------------------------------------------------
def _counted(formula):
    """Return a count by a formula of d (d_model), h (n_heads), g (n_kv_heads) and w (d_head)."""
    return lambda d_model, n_heads, n_kv_heads: formula(
        d_model, n_heads, n_kv_heads, d_model // n_heads)


def _solve_parameter_count(d_model, n_heads, n_kv_heads):
    d_head = d_model // n_heads
    wq = d_model * n_heads * d_head
    wk = wv = d_model * n_kv_heads * d_head
    wo = n_heads * d_head * d_model
    return wq + wk + wv + wo


def _count_head_by_head(d_model, n_heads, n_kv_heads):
    d_head, count = d_model // n_heads, 0
    for _ in range(n_heads):
        count += d_model * d_head  # a head's columns of wq
        count += d_head * d_model  # its rows of wo
    for _ in range(n_kv_heads):
        count += 2 * d_model * d_head
    return count


def _count_by_size(d_model, n_heads, n_kv_heads):
    wq, narrow = np.zeros((d_model, d_model)), d_model // n_heads * n_kv_heads
    wk, wv, wo = np.zeros((d_model, narrow)), np.zeros((d_model, narrow)), wq.T
    return sum(w.size for w in (wq, wk, wv, wo))


_SHARED = Case((24, 6, 2), "6 heads on 2", "shared keys and values")
_SHARED_BY_ALL = Case((35, 5, 1), "5 heads on 1", "shared keys and values")
_UNSHARED = Case((12, 3, 3), "3 heads with keys and values of their own", "the four matrices")

_PARAMETER_COUNT = Exercise(
    id="parameter_count",
    chapter=CHAPTER,
    title="Count the parameters",
    signature="parameter_count(d_model, n_heads, n_kv_heads)",
    shapes="three whole numbers → a whole number",
    prompt="Write parameter_count(d_model, n_heads, n_kv_heads): how many numbers wq, wk, wv and "
           "wo hold together. Each head is d_head = d_model / n_heads wide, a whole number. There "
           "are n_heads heads of queries, and n_kv_heads heads of keys and of values. wo takes "
           "what all n_heads heads found, side by side, back to d_model. There are no biases. "
           "In the example d_head is 2, and the four matrices hold 36, 12, 12 and 36 numbers.",
    hints=("Write down the shape of each of the four matrices, then multiply.",
           "Two of the four do not depend on n_kv_heads. Which ones, and why?",
           "wk has d_model rows. It has d_head columns for each head of keys, and there are "
           "n_kv_heads of them."),
    example=Example((6, 3, 1), 96.0),
    reference=lambda d_model, n_heads, n_kv_heads: float(
        sum(d_model * (d_model // n_heads) * heads
            for heads in (n_heads, n_kv_heads, n_kv_heads, n_heads))),
    tolerance=COUNTED,
    cases=(
        Case((7, 1, 1), "a single head", "the four matrices"),
        _UNSHARED,
        _SHARED,
        _SHARED_BY_ALL,
        Case((576, 9, 3), "9 heads on 3", "shared keys and values"),
        Case((4096, 32, 8), "32 heads on 8", "shared keys and values"),
    ),
    naming=(_SHARED, _SHARED_BY_ALL, _UNSHARED, Case((40, 8, 2), "8 heads on 2")),
    mistakes=(
        Mistake(
            id="no-output-projection",
            seen="wo is not counted.",
            question="What becomes of the heads' results after they are joined?",
            ways=(_counted(lambda d, h, g, w: d * d + 2 * d * g * w),
                  _counted(lambda d, h, g, w: d * (h + 2 * g) * w),
                  _counted(lambda d, h, g, w: 3 * d * d), _counted(lambda d, h, g, w: 3 * d * w)),
            step="the four matrices",
        ),
        Mistake(
            id="times-heads",
            seen="Every head is given matrices of the full width.",
            question="How wide is one head, and how wide are all of them side by side?",
            ways=(_counted(lambda d, h, g, w: h * (2 * d * d + 2 * d * g * w)),
                  _counted(lambda d, h, g, w: (2 * h + 2 * g) * d * d),
                  _counted(lambda d, h, g, w: (h + 2 * g) * d * d + d * d),
                  _counted(lambda d, h, g, w: (h + 2 * g) * d * d),
                  _counted(lambda d, h, g, w: (h + 2 * g) * d * d + h * d * d),
                  _counted(lambda d, h, g, w: 4 * h * d * d),
                  _counted(lambda d, h, g, w: 3 * h * d * d),
                  _counted(lambda d, h, g, w: 3 * h * d * d + d * d),
                  _counted(lambda d, h, g, w: h * d * d + 2 * g * d * d + h * d * d),
                  _counted(lambda d, h, g, w: h * (d * d + 2 * d * g * w)),
                  _counted(lambda d, h, g, w: h * (d * d + 2 * d * g * w) + d * d),
                  _counted(lambda d, h, g, w: 2 * d * d + 2 * g * d * d),
                  _counted(lambda d, h, g, w: h * d * d + 2 * d * g * w + d * d)),
            step="the width of a head",
        ),
        Mistake(
            id="ignores-shared-kv",
            seen="Keys and values are counted once for each query head: n_kv_heads has no "
                 "influence, or too little.",
            question="How many heads of keys are there, and so how many columns has wk?",
            ways=(_counted(lambda d, h, g, w: 4 * d * d),
                  _counted(lambda d, h, g, w: h * 4 * d * w),
                  _counted(lambda d, h, g, w: 3 * d * d + d * g * w)),
            step="shared keys and values",
        ),
        Mistake(
            id="kv-forgotten",
            seen="Of keys and values, one or both are not counted.",
            question="Which four matrices take part, and how many of them are in your sum?",
            ways=(_counted(lambda d, h, g, w: 2 * d * d),
                  _counted(lambda d, h, g, w: d * d),
                  _counted(lambda d, h, g, w: 2 * d * d + d * g * w),
                  _counted(lambda d, h, g, w: d * d + d * g * w)),
            step="the four matrices",
        ),
        Mistake(
            id="one-head-only",
            seen="Keys and values, or all four matrices, are counted for one head alone.",
            question="For how many heads does wk hold columns?",
            ways=(_counted(lambda d, h, g, w: 2 * d * d + 2 * d * w),
                  _counted(lambda d, h, g, w: 4 * d * w),
                  _counted(lambda d, h, g, w: 3 * d * w + d * d)),
            step="how many heads",
        ),
        Mistake(
            id="width-forgotten",
            seen="A head of keys or values is counted as a single column.",
            question="How many columns of wk belong to one head?",
            ways=(_counted(lambda d, h, g, w: 2 * d * d + 2 * d * g),
                  _counted(lambda d, h, g, w: 2 * d * h + 2 * d * g),
                  _counted(lambda d, h, g, w: 2 * d * d + 2 * g * w),
                  _counted(lambda d, h, g, w: d * h + 2 * d * g + d * d)),
            step="the width of a head",
        ),
        Mistake(
            id="ratio-upside-down",
            seen="The fewer heads of keys and values there are, the more they are made to cost.",
            question="If n_kv_heads becomes smaller, does wk gain columns or lose some?",
            ways=(_counted(lambda d, h, g, w: 2 * d * d + 2 * d * d * h // g),
                  _counted(lambda d, h, g, w: 2 * d * d + 2 * d * (d // g)),
                  _counted(lambda d, h, g, w: 2 * d * d + 2 * d * (h // g) * w),
                  lambda d_model, n_heads, n_kv_heads: 2 * d_model**2 * (1 + n_heads / n_kv_heads),
                  lambda d_model, n_heads, n_kv_heads: 2 * d_model**2 * (1 + 1 / n_kv_heads)),
            step="shared keys and values",
        ),
        Mistake(
            id="queries-shared-too",
            seen="The queries, or what wo reads, are counted as shared.",
            question="How many heads ask, and how many are joined before wo?",
            ways=(_counted(lambda d, h, g, w: 4 * d * g * w),
                  _counted(lambda d, h, g, w: d * d + 3 * d * g * w)),
            step="shared keys and values",
        ),
        Mistake(
            id="too-few-rows",
            seen="wk and wv are counted as square, or with the rows of one head: too few rows.",
            question="With how many features does a token come to wk?",
            ways=(_counted(lambda d, h, g, w: 2 * d * d + 2 * (g * w) ** 2),
                  _counted(lambda d, h, g, w: 2 * d * d + 2 * g * w**2),
                  _counted(lambda d, h, g, w: 2 * h * w**2 + 2 * g * w**2)),
            step="the four matrices",
        ),
        Mistake(
            id="wo-too-small",
            seen="wo is counted with the rows of a single head.",
            question="Which features stand side by side in a row that meets wo?",
            ways=(_counted(lambda d, h, g, w: d * d + 2 * d * g * w + w * d),
                  _counted(lambda d, h, g, w: d * (h + 2 * g + 1) * w),
                  _counted(lambda d, h, g, w: d * d + 2 * d * g * w + w * w)),
            step="the four matrices",
        ),
        Mistake(
            id="biases-counted",
            seen="One number more is counted for each column of the matrices.",
            question="Does the exercise say that anything is added after a product?",
            ways=(_counted(lambda d, h, g, w: 2 * d * d + 2 * d * g * w + 2 * d + 2 * g * w),
                  _counted(lambda d, h, g, w: 2 * d * d + 2 * d * g * w + 4 * d),
                  _counted(lambda d, h, g, w: 2 * d * d + 2 * d * g * w + d)),
            step="the four matrices",
        ),
    ),
    variants=(
        _count_head_by_head,
        _count_by_size,
        _counted(lambda d, h, g, w: 2 * d * (d + g * w)),
        lambda d_model, n_heads, n_kv_heads: 2 * d_model**2 * (1 + n_kv_heads / n_heads),
        lambda d_model, n_heads, n_kv_heads: np.int64(
            2 * d_model * (d_model // n_heads) * (n_heads + n_kv_heads)),
    ),
    solution=_solve_parameter_count,
)

EXERCISES = (_SPLIT_HEADS, _MERGE_HEADS, _REPEAT_KV, _PREDICT, _PARAMETER_COUNT,
             FAULT_SUM_OF_HEADS, CAUSAL_MULTI_HEAD_ATTENTION)
