"""The exercises of the chapter on the causal mask."""

import math

import numpy as np

import attention_book
from attention_book.exercises.building_blocks import (
    in_float32,
    reference_softmax,
    softmax,
    unstable_softmax,
)
from attention_book.exercises.leak_tests import LEAKS_FUTURE
from attention_book.exercises.model import Case, Example, Exercise, Mistake, Step, prediction
from attention_book.exercises.probes import Probe, of_tokens
from attention_book.exercises.stages import OF_A_CAUSAL_HEAD, PROJECTIONS

CHAPTER = "05_causal_mask"


# --- Masks, by a rule for query i and key j -------------------------------------------------------
def _ways(rule, shape=lambda n, *_: (n, n)):
    """Return three ways of building a mask by a rule: booleans, numbers, a loop."""
    def booleans(*args):
        i, j = np.indices(shape(*args))
        return rule(i, j, *args)

    def numbers(*args):
        return booleans(*args).astype(float)

    def loop(*args):
        n_rows, n_columns = shape(*args)
        return [[bool(rule(i, j, *args)) for j in range(n_columns)] for i in range(n_rows)]

    return booleans, numbers, loop


def _numbers_not_booleans(rule, shape=lambda n, *_: (n, n)):
    booleans, numbers, _ = _ways(rule, shape)
    return Mistake(
        id="numbers-not-booleans",
        seen="The right entries are marked, but with numbers instead of True and False.",
        question="What does np.where need as its first argument, and which comparison gives it?",
        ways=(numbers, lambda *args: booleans(*args).astype(int),
              lambda *args: [[1 if allowed else 0 for allowed in row] for row in booleans(*args)]),
        step="the type of the mask",
    )


# --- causal_mask(n) -------------------------------------------------------------------------------
def _additive(fill):
    return lambda n: np.where(np.tri(n, dtype=bool), 0, fill)


def _additive_loop(n):
    return [[0.0 if j <= i else -math.inf for j in range(n)] for i in range(n)]


def _solve_causal_mask(n):
    positions = np.arange(n)
    return positions <= positions[:, None]


def _triangle_row_by_row(n):
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        mask[i, : i + 1] = True
    return mask


_CAUSAL_MASK = Exercise(
    id="causal_mask",
    chapter=CHAPTER,
    title="The triangle",
    signature="causal_mask(n)",
    shapes="n, a whole number → (n, n), boolean",
    prompt="Write causal_mask(n): entry [i, j] is True where query i may attend to key j, and "
           "False elsewhere. A position may attend to itself and to those before it. For n = 3 the "
           "rows are [True, False, False], [True, True, False] and [True, True, True].",
    hints=("Write down the row for query 0, then the one for query 1. What does each row add?",
           "The entry depends on nothing but a comparison of i and j.",
           "A column of positions, shape (n, 1), compared with a row of them, shape (n,), gives "
           "all n · n comparisons at once. np.tri makes the same pattern."),
    example=Example((3,), [[True, False, False], [True, True, False], [True, True, True]]),
    reference=lambda n: [[i - j >= 0 for j in range(n)] for i in range(n)],
    cases=(
        Case((1,), "a single position", "the diagonal"),
        Case((2,), "two positions", "before and after the diagonal"),
        Case((5,), "five positions", "before and after the diagonal"),
        Case((17,), "seventeen positions", "before and after the diagonal"),
        Case((300,), "three hundred positions", "positions beyond 255"),
    ),
    naming=(Case((5,), "five positions"), Case((2,), "two positions")),
    mistakes=(
        Mistake(
            id="strictly-past",
            seen="Every position sees those before it, but not itself.",
            question="What is there for query 0 to look at?",
            ways=(*_ways(lambda i, j, n: j < i), lambda n: np.tril(np.ones((n, n), int), k=-1)),
            step="the diagonal",
        ),
        Mistake(
            id="future-only",
            seen="Every position sees itself and what comes after it.",
            question="Which keys does row 0 of your mask allow, and which of them are in the past "
                     "of query 0?",
            ways=(*_ways(lambda i, j, n: j >= i), lambda n: np.triu(np.ones((n, n), int))),
            step="before and after the diagonal",
        ),
        Mistake(
            id="inverted",
            seen="True and False have changed places: True stands where a query may not attend.",
            question="In this book, what does True in a mask say about a query and a key?",
            ways=(*_ways(lambda i, j, n: j > i), lambda n: np.triu(np.ones((n, n), int), k=1)),
            step="what True stands for",
        ),
        Mistake(
            id="everything-allowed",
            seen="Every position sees every other; nothing is hidden.",
            question="Query 0 stands at the beginning of the text. Which keys may it know?",
            ways=(*_ways(lambda i, j, n: i + j >= 0), lambda n: np.ones((n, n), int)),
            step="before and after the diagonal",
        ),
        Mistake(
            id="one-too-many",
            seen="Every position sees itself, those before it, and one that comes after it.",
            question="Which keys does row 0 of your mask allow?",
            ways=(*_ways(lambda i, j, n: j <= i + 1), lambda n: np.tri(n, k=1, dtype=int)),
            step="before and after the diagonal",
        ),
        Mistake(
            id="itself-only",
            seen="Every position sees itself and nothing else.",
            question="Which keys may the last query attend to?",
            ways=(*_ways(lambda i, j, n: i == j), lambda n: np.eye(n, dtype=int)),
            step="before and after the diagonal",
        ),
        Mistake(
            id="row-left-empty",
            seen="One row is left empty: a query sees nothing, not even itself.",
            question="What do the first and the last row of your mask hold, and what should they?",
            ways=(*_ways(lambda i, j, n: (j <= i) & (i < n - 1)),
                  *_ways(lambda i, j, n: (j <= i) & (i > 0)),
                  lambda n: np.tril(np.arange(n)[:, None] * np.ones(n, int))),
            step="before and after the diagonal",
        ),
        Mistake(
            id="additive-not-boolean",
            seen="The result is a mask to be added to the scores, with a low number at each hidden "
                 "place.",
            question="Which two values does a mask hold in this book, and which of them means that "
                     "a query may attend?",
            ways=(*map(_additive, (-np.inf, -1e4, -1e5, -1e6, -1e8, -1e9, -1e10, -1e12)),
                  lambda n: np.triu(np.full((n, n), np.finfo(float).min), k=1), _additive_loop,
                  lambda n: (1 - np.tri(n)) * -np.inf, lambda n: np.triu(np.ones((n, n)), 1) * -1e9,
                  lambda n: np.triu(np.full((n, n), np.finfo(np.float32).min), k=1)),
            step="the type of the mask",
        ),
        _numbers_not_booleans(lambda i, j, n: j <= i),
    ),
    variants=(
        _triangle_row_by_row,
        lambda n: np.tri(n, dtype=bool),
        lambda n: np.tril(np.ones((n, n))) == 1,
        lambda n: [[j <= i for j in range(n)] for i in range(n)],
        lambda n: ~np.triu(np.ones((n, n), dtype=bool), k=1),
        lambda n: np.greater_equal.outer(np.arange(n), np.arange(n)),
    ),
    solution=_solve_causal_mask,
    package=(attention_book.causal_mask, attention_book.sliding_window_mask,
             attention_book.padding_mask),
)


# --- predict_causal_mixture -----------------------------------------------------------------------
_PREDICT = prediction(
    id="predict_causal_mixture",
    chapter=CHAPTER,
    title="Four results from equal scores",
    signature="a list of four numbers",
    shapes="(n,) with n = 4",
    prompt="A causal head reads four tokens. All scores are equal, and the values are single "
           "numbers: 12 for token 0, then 0, 6 and 2. Which number does the head return at each of "
           "the four positions? Write down four numbers, to two digits, before you run anything.",
    hints=("Which tokens does position 0 see, and which position 1?",
           "Equal scores give equal weights. Among how many tokens is the weight shared in each "
           "row?",
           "Each result is the mean of the values up to and including its own position."),
    value=np.array([12.0, 6.0, 6.0, 5.0]),
    tolerance=0.06,
    steps=(
        Step("scores", "the same number everywhere, shape (4, 4)"),
        Step("mask", "query 0 sees 1 key, query 1 sees 2, query 2 sees 3, query 3 sees 4"),
        Step("weights", "1 in row 0; 1/2 each in row 1; 1/3 each in row 2; 1/4 each in row 3"),
        Step("mixture", "12, then 12/2, 18/3 and 20/4: [12, 6, 6, 5]"),
    ),
    mistakes=(
        Mistake(
            id="no-mask",
            seen="Every position was given the mean of all four values.",
            question="What does position 0 know about the tokens that follow it?",
            ways=([5, 5, 5, 5], (5.0, 5.0, 5.0, 5.0)),
            step="mask",
        ),
        Mistake(
            id="future-instead-of-past",
            seen="Every position was given the mean of its own value and those that follow.",
            question="Which of the four positions may know all four values?",
            ways=([5, 8 / 3, 4, 2], [5, 2.7, 4, 2]),
            step="mask",
        ),
        Mistake(
            id="excludes-itself",
            seen="Every position was given the mean of the values before its own.",
            question="May a position attend to itself?",
            ways=([0, 12, 6, 6], [math.nan, 12, 6, 6], [5, 12, 6, 6]),
            step="mask",
        ),
        Mistake(
            id="one-too-many",
            seen="Every position was also given the value that comes next.",
            question="Does the causal mask allow key 1 to query 0?",
            ways=([6, 6, 5, 5], (6.0, 6.0, 5.0, 5.0)),
            step="mask",
        ),
        Mistake(
            id="itself-only",
            seen="Every position was given its own value and nothing else.",
            question="What may position 3 attend to besides itself?",
            ways=([12, 0, 6, 2], (12.0, 0.0, 6.0, 2.0)),
            step="mask",
        ),
        Mistake(
            id="masked-after-softmax",
            seen="Every visible token was given a weight of 1/4, as if the hidden ones had kept "
                 "their share.",
            question="What do the weights of row 0 sum to, in your prediction?",
            ways=([3, 3, 4.5, 5], (3.0, 3.0, 4.5, 5.0)),
            step="weights",
        ),
        Mistake(
            id="sum-not-mean",
            seen="The visible values were added up, each with the weight 1.",
            question="What must the weights of a row sum to?",
            ways=([12, 12, 18, 20], (12.0, 12.0, 18.0, 20.0)),
            step="weights",
        ),
        Mistake(
            id="weights-not-results",
            seen="These are weights, one of each row; the values have not been mixed yet.",
            question="A row of weights and the values are given. How does one number come of them?",
            ways=([1, 1 / 2, 1 / 3, 1 / 4], [1, 0.5, 0.33, 0.25]),
            step="mixture",
        ),
        Mistake(
            id="averages-averages",
            seen="Each result is the mean of the result before it and of the new value.",
            question="With what weight does the first token enter your last result, and with what "
                     "weight the last token?",
            ways=([12, 6, 6, 4], (12.0, 6.0, 6.0, 4.0)),
            step="weights",
        ),
        Mistake(
            id="zero-not-counted",
            seen="The token whose value is 0 is left out, as if it were not there.",
            question="What is the mean of 12 and 0?",
            ways=([12, 12, 9, 20 / 3], [12, 0, 9, 20 / 3], [12, 12, 9, 6.7]),
            step="weights",
        ),
        Mistake(
            id="last-position-only",
            seen="There is one number only, that of the last position.",
            question="Each position has a row of its own in the mask. How many results are there?",
            ways=(5, [5]),
            step="mixture",
        ),
    ),
    variants=([12, 6, 6, 5], (12.0, 6.0, 6.0, 5.0), np.array([12, 6, 6, 5])),
)


# --- rectangular_causal_mask(n_query, n_key) ------------------------------------------------------
def _rectangle(n_query, n_key):
    return n_query, n_key


def _shifted(further, clamp=lambda shift: shift):
    """Return the rule that lets query i see keys up to i + clamp(n_key − n_query) + further."""
    return lambda i, j, n_query, n_key: j <= i + clamp(n_key - n_query) + further


def _only_if_square(n_query, n_key):
    return np.tri(n_query, dtype=bool) & np.ones(n_key, dtype=bool)  # raises otherwise


def _ones_then_triangle(n_query, n_key):
    past = np.ones((n_query, n_key - n_query), dtype=bool)  # raises if that is negative
    return np.concatenate([past, np.tri(n_query, dtype=bool)], axis=1)


def _slices_from_the_front(n_query, n_key):
    mask = np.zeros((n_query, n_key), dtype=bool)
    for i in range(n_query):
        mask[i, : n_key - n_query + i + 1] = True  # a negative end counts from the other side
    return mask


def _solve_rectangular_causal_mask(n_query, n_key):
    query_positions = np.arange(n_query) + (n_key - n_query)
    key_positions = np.arange(n_key)
    return key_positions <= query_positions[:, None]


def _rectangle_row_by_row(n_query, n_key):
    return [[key <= position for key in range(n_key)]
            for position in range(n_key - n_query, n_key)]


_RECTANGULAR = Exercise(
    id="rectangular_causal_mask",
    chapter=CHAPTER,
    title="Fewer queries than keys",
    signature="rectangular_causal_mask(n_query, n_key)",
    shapes="two whole numbers → (n_query, n_key), boolean",
    prompt="Write rectangular_causal_mask(n_query, n_key), a boolean causal mask in which the "
           "queries are the last positions: the last query stands where the last key does. There "
           "may also be more queries than keys; those that stand before the first key see nothing. "
           "For 2 queries and 4 keys the rows are [True, True, True, False] and "
           "[True, True, True, True].",
    hints=("Number the positions as the keys are numbered. At which position is the last query?",
           "At which position is query 0 of 2, where there are 4 keys? And query i?",
           "Query i stands at position i + (n_key − n_query). That may be negative."),
    example=Example((2, 4), [[True, True, True, False], [True, True, True, True]]),
    reference=lambda n_query, n_key: [[n_key - j >= n_query - i for j in range(n_key)]
                                      for i in range(n_query)],
    cases=(
        Case((5, 5), "as many queries as keys", "the triangle"),
        Case((1, 5), "a single query", "the positions of the queries"),
        Case((3, 7), "3 queries and 7 keys", "the positions of the queries"),
        Case((7, 3), "more queries than keys", "queries that see nothing"),
        Case((11, 13), "11 queries and 13 keys", "the positions of the queries"),
    ),
    naming=(Case((3, 7), "3 queries and 7 keys"), Case((5, 5), "as many queries as keys"),
            Case((7, 3), "more queries than keys"), Case((1, 5), "a single query")),
    mistakes=(
        Mistake(
            id="top-left-aligned",
            seen="The triangle starts at the top left, as if the queries were the first positions.",
            question="One query, the newest token, meets 5 keys. How many of them does your mask "
                     "show it?",
            ways=(*_ways(lambda i, j, *_: j <= i, _rectangle),
                  lambda n_query, n_key: np.tril(np.ones((n_query, n_key), bool))),
            step="the positions of the queries",
        ),
        Mistake(
            id="one-too-many",
            seen="Every query sees one key beyond its own position.",
            question="With as many queries as keys, which keys does your mask show to query 0?",
            ways=(*_ways(_shifted(1), _rectangle),
                  lambda n_query, n_key: np.tri(n_query, n_key, n_key - n_query + 1, dtype=bool)),
            step="the positions of the queries",
        ),
        Mistake(
            id="one-too-few",
            seen="Every query misses the key at its own position.",
            question="How many keys should the last query see, and how many does it see?",
            ways=(*_ways(_shifted(-1), _rectangle),
                  lambda n_query, n_key: np.tri(n_query, n_key, n_key - n_query - 1, dtype=bool)),
            step="the positions of the queries",
        ),
        Mistake(
            id="square-only",
            seen="The mask is right only where there are as many queries as keys.",
            question="How many rows must the mask have, and how many columns?",
            ways=(lambda n_query, n_key: np.tri(n_key, dtype=bool),
                  lambda n_query, n_key: np.tri(n_query, dtype=bool),
                  lambda n_query, n_key: np.tri(n_key), lambda n_query, n_key: np.tri(n_query),
                  _only_if_square),
            step="the shape of the mask",
        ),
        Mistake(
            id="never-more-queries",
            seen="The mask is right until there are more queries than keys.",
            question="With 7 queries and 3 keys, at which position is query 0, and what does it "
                     "see?",
            ways=(lambda n_query, n_key: np.tri(n_key, dtype=bool)[-n_query:],
                  lambda n_query, n_key: np.tri(n_key, dtype=bool)[n_key - n_query:],
                  *_ways(_shifted(0, lambda shift: max(shift, 0)), _rectangle),
                  *_ways(_shifted(0, abs), _rectangle), _ones_then_triangle,
                  *_ways(lambda i, j, n_query, n_key: j <= np.maximum(i + n_key - n_query, 0),
                         _rectangle),
                  *_ways(lambda i, j, n_query, n_key: j <= abs(i + n_key - n_query), _rectangle),
                  lambda n_query, n_key: _ones_then_triangle(n_query, n_key).astype(float),
                  _slices_from_the_front,
                  lambda n_query, n_key: np.tri(max(n_query, n_key), dtype=bool)[-n_query:, :n_key],
                  lambda n_query, n_key: np.tri(n_key)[-n_query:]),
            step="queries that see nothing",
        ),
        Mistake(
            id="shifted-backwards",
            seen="The triangle is moved the wrong way: the more keys there are, the fewer each "
                 "query sees.",
            question="If the text so far grows by one token, does the newest query see more keys "
                     "or fewer?",
            ways=(*_ways(_shifted(0, lambda shift: -shift), _rectangle),
                  lambda n_query, n_key: np.tri(n_query, n_key, n_query - n_key, dtype=bool)),
            step="the positions of the queries",
        ),
        Mistake(
            id="inverted",
            seen="True and False have changed places: True stands where a query may not attend.",
            question="In this book, what does True in a mask say about a query and a key?",
            ways=(*_ways(lambda i, j, n_query, n_key: j > i + n_key - n_query, _rectangle),
                  *_ways(lambda i, j, *_: j > i, _rectangle)),
            step="what True stands for",
        ),
        Mistake(
            id="future-only",
            seen="Every query sees the key at its own position and those after it.",
            question="Which keys should the last query see?",
            ways=(*_ways(lambda i, j, n_query, n_key: j >= i + n_key - n_query, _rectangle),
                  *_ways(lambda i, j, *_: j >= i, _rectangle)),
            step="before and after the queries' positions",
        ),
        Mistake(
            id="everything-allowed",
            seen="Every query sees every key; nothing is hidden.",
            question="Of two queries and four keys, which key comes after query 0?",
            ways=(*_ways(lambda i, j, *_: i + j >= 0, _rectangle),
                  lambda n_query, n_key: np.ones((n_query, n_key), int)),
            step="before and after the queries' positions",
        ),
        Mistake(
            id="upside-down",
            seen="The queries are counted from the end: query 0 is given the last position.",
            question="Which query is the newest: query 0, or the one with the largest number?",
            ways=(*_ways(lambda i, j, n_query, n_key: j <= n_key - 1 - i, _rectangle),
                  *_ways(lambda i, j, n_query, n_key: j <= n_key - i, _rectangle),
                  *_ways(lambda i, j, n_query, n_key: j < n_key - 1 - i, _rectangle)),
            step="the positions of the queries",
        ),
        Mistake(
            id="transposed",
            seen="Queries and keys have changed places: the result has a row for each key.",
            question="Along which axis of (n_query, n_key) do the queries run?",
            ways=(lambda n_query, n_key: _solve_rectangular_causal_mask(n_query, n_key).T,
                  lambda n_query, n_key: _solve_rectangular_causal_mask(n_key, n_query),
                  lambda n_query, n_key: np.tri(n_key, n_query, dtype=bool)),
            step="the shape of the mask",
        ),
        _numbers_not_booleans(_shifted(0), _rectangle),
    ),
    variants=(
        _rectangle_row_by_row,
        lambda n_query, n_key: np.tri(n_query, n_key, n_key - n_query, dtype=bool),
        lambda n_query, n_key: np.tril(np.ones((n_query, n_key)), n_key - n_query) > 0,
        lambda n_query, n_key: np.tri(n_query, dtype=bool)[:, -n_key:] if n_query > n_key
        else np.tri(n_key, dtype=bool)[n_key - n_query :],
        lambda n_query, n_key: np.tri(n_query + n_key, dtype=bool)[n_key:, n_query:],
        lambda n_query, n_key: np.flip(np.arange(n_key) >= np.arange(n_query)[:, None]),
    ),
    solution=_solve_rectangular_causal_mask,
    package=((attention_book.causal_mask, "n_key"), attention_book.sliding_window_mask),
)


# --- sliding_window_mask(n, window) ---------------------------------------------------------------
def _solve_sliding_window_mask(n, window):
    queries, keys = np.arange(n)[:, None], np.arange(n)
    return (keys <= queries) & (keys > queries - window)


def _window_row_by_row(n, window):
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        mask[i, max(0, i - window + 1) : i + 1] = True
    return mask


def _window_by_slices(first, end):
    """Return a mask whose rows are filled from i + first(window) to i + end, negative or not."""
    def mask(n, window):
        mask = np.zeros((n, n), dtype=bool)
        for i in range(n):
            mask[i, i + first(window) : i + end] = True
        return mask

    return mask


def _window_by_steps(first):
    """Return a mask filled from i − first to the oldest key, one index at a time."""
    def mask(n, window):
        mask = np.zeros((n, n), dtype=bool)
        for i in range(n):
            for step in range(first, first + window):
                mask[i, i - step] = True
        return mask

    return mask


_SLIDING_WINDOW = Exercise(
    id="sliding_window_mask",
    chapter=CHAPTER,
    title="A sliding window",
    signature="sliding_window_mask(n, window)",
    shapes="two whole numbers → (n, n), boolean",
    prompt="Write sliding_window_mask(n, window), a boolean mask of shape (n, n): causal, and each "
           "query sees no more than window keys, the nearest ones, its own among them. The window "
           "is at least 1. For n = 4 and window = 2 the rows are [True, False, False, False], "
           "[True, True, False, False], [False, True, True, False] and [False, False, True, True].",
    hints=("Two things must hold for a key to be seen: it is not too late, and not too old.",
           "With window = 3, query 5 sees keys 3, 4 and 5. Which is the oldest key for query i?",
           "Combine two comparisons with &, each in parentheses: one with i, one with i − window."),
    example=Example((4, 2), [[True, False, False, False], [True, True, False, False],
                             [False, True, True, False], [False, False, True, True]]),
    reference=lambda n, window: [[0 <= i - j < window for j in range(n)] for i in range(n)],
    cases=(
        Case((5, 9), "a window wider than the text", "the triangle"),
        Case((5, 1), "a window of one", "the query's own key"),
        Case((7, 3), "7 positions and a window of 3", "the oldest key in the window"),
        Case((5, 5), "a window as wide as the text", "the oldest key in the window"),
        Case((13, 4), "13 positions and a window of 4", "the oldest key in the window"),
    ),
    naming=(Case((7, 3), "7 positions and a window of 3"), Case((5, 1), "a window of one"),
            Case((11, 4), "11 positions and a window of 4"),
            Case((5, 5), "a window as wide as the text"), Case((5, 9), "a wider window")),
    mistakes=(
        Mistake(
            id="one-too-many",
            seen="Every query sees one key more than the window holds.",
            question="With a window of 1, which keys should a query see, and which does it see?",
            ways=(*_ways(lambda i, j, n, window: (j <= i) & (j >= i - window)),
                  lambda n, window: np.tri(n, dtype=bool) & ~np.tri(n, k=-window - 1, dtype=bool)),
            step="the oldest key in the window",
        ),
        Mistake(
            id="one-too-few",
            seen="Every query sees one key less than the window holds.",
            question="With a window of 1, what does a query see?",
            ways=(*_ways(lambda i, j, n, window: (j <= i) & (j > i - window + 1)),
                  lambda n, window: np.tri(n, dtype=bool) & ~np.tri(n, k=1 - window, dtype=bool)),
            step="the oldest key in the window",
        ),
        Mistake(
            id="two-sided",
            seen="The window reaches to both sides of the query, into the future too.",
            question="Which keys does query 0 see, and which of them come after it?",
            ways=(*_ways(lambda i, j, n, window: abs(i - j) < window),
                  *_ways(lambda i, j, n, window: abs(i - j) <= window),
                  *_ways(lambda i, j, n, window: abs(i - j) <= window // 2)),
            step="the latest key in the window",
        ),
        Mistake(
            id="not-causal",
            seen="Old keys are hidden, but later ones are not.",
            question="Your mask asks whether a key is too old. What else must it ask?",
            ways=(*_ways(lambda i, j, n, window: j > i - window),
                  *_ways(lambda i, j, n, window: j >= i - window),
                  lambda n, window: np.triu(np.ones((n, n), bool), 1 - window)),
            step="the latest key in the window",
        ),
        Mistake(
            id="excludes-itself",
            seen="No query sees the key at its own position.",
            question="With a window of 1, which single key should a query see?",
            ways=(*_ways(lambda i, j, n, window: (j < i) & (j >= i - window)),
                  *_ways(lambda i, j, n, window: (j < i) & (j > i - window))),
            step="the query's own key",
        ),
        Mistake(
            id="negative-start",
            seen="Rows near the beginning are wrong: there the window would start before key 0, "
                 "and a negative index counts from the end.",
            question="For i = 0, at which index does your window start, and what does NumPy make "
                     "of it?",
            ways=(_window_by_slices(lambda window: 1 - window, 1), _window_by_steps(0),
                  _window_by_slices(lambda window: -window, 0), _window_by_steps(1),
                  _window_by_slices(lambda window: -window, 1)),
            step="the oldest key in the window",
        ),
        Mistake(
            id="no-window",
            seen="Every query sees the whole past, however old.",
            question="What should change in a row when window becomes smaller?",
            ways=(*_ways(lambda i, j, n, window: j <= i),
                  lambda n, window: np.tril(np.ones((n, n), bool))),
            step="the oldest key in the window",
        ),
        Mistake(
            id="fixed-window",
            seen="The window stands still: it does not move on with the query.",
            question="Which keys does the last query see? Are they the nearest ones?",
            ways=(*_ways(lambda i, j, n, window: (j <= i) & (j < window)),
                  *_ways(lambda i, j, n, window: (j <= i) & (i // window == j // window)),
                  *_ways(lambda i, j, n, window: (j <= i) & (j >= n - window))),
            step="the oldest key in the window",
        ),
        Mistake(
            id="looks-ahead",
            seen="The window lies in the future of each query.",
            question="Does query 0 see later keys, and may it?",
            ways=(*_ways(lambda i, j, n, window: (j >= i) & (j < i + window)),
                  *_ways(lambda i, j, n, window: (j >= i) & (j <= i + window)),
                  *_ways(lambda i, j, n, window: (j > i) & (j <= i + window))),
            step="the latest key in the window",
        ),
        Mistake(
            id="outside-the-window",
            seen="The keys outside of the window are shown and those inside are hidden.",
            question="In this book, what does True in a mask say about a query and a key?",
            ways=(*_ways(lambda i, j, n, window: j <= i - window),
                  *_ways(lambda i, j, n, window: (j > i) | (j <= i - window))),
            step="what True stands for",
        ),
        Mistake(
            id="ends-only",
            seen="Of the keys in a window only the ends are shown: the query's own, the oldest, or "
                 "both.",
            question="With a window of 3, which keys does the last query see? How many are they?",
            ways=(*_ways(lambda i, j, n, window: (j == i) | (j == i - window + 1)),
                  *_ways(lambda i, j, n, window: j == i - window + 1),
                  *_ways(lambda i, j, n, window: j == i)),
            step="between the ends of the window",
        ),
        Mistake(
            id="never-the-whole-text",
            seen="The mask is right until the window is as wide as the text; then it "
                 "hides keys.",
            question="With 5 positions and a window of 9, what should the last query see?",
            ways=(*_ways(lambda i, j, n, window: (j <= i) & (j > i - min(window, n - 1))),
                  *_ways(lambda i, j, n, window: (j <= i) & (j > i - window % n))),
            step="a window wider than the text",
        ),
        _numbers_not_booleans(lambda i, j, n, window: (j <= i) & (j > i - window)),
    ),
    variants=(
        _window_row_by_row,
        lambda n, window: np.tri(n, dtype=bool) ^ np.tri(n, k=-window, dtype=bool),
        lambda n, window: [[j in range(i - window + 1, i + 1) for j in range(n)] for i in range(n)],
        lambda n, window: (np.tri(n) - np.tri(n, k=-window)).astype(bool),
        lambda n, window: sum(np.eye(n, k=-step) for step in range(window)) > 0,
        lambda n, window: np.triu(np.tril(np.ones((n, n), bool)), 1 - window),
    ),
    solution=_solve_sliding_window_mask,
    package=(attention_book.sliding_window_mask,),
)


# --- fault_padded_mask ----------------------------------------------------------------------------
def fault_padded_mask(lengths, n):
    real = np.arange(n) >= n - lengths[:, None]  # (batch, n)
    causal = np.tri(n, dtype=bool)  # (n, n)
    return causal & real[:, :, None]  # (batch, n, n)


def _padded(combine):
    """Return ways of combining the triangle with what is real: as it comes, whole, as numbers."""
    def short(lengths, n):
        return combine(np.tri(n, dtype=bool), np.arange(n) >= n - lengths[:, None])

    def whole(lengths, n):
        return np.broadcast_to(short(lengths, n), (len(lengths), n, n))

    return short, whole, lambda lengths, n: whole(lengths, n).astype(float)


def _real_is(rule):
    """Return ways with another notion of which of n keys are real, by the length."""
    def mask(lengths, n):
        real = rule(np.arange(n), lengths[:, None], n)
        return np.tri(n, dtype=bool) & real[:, None, :]

    return mask, lambda lengths, n: mask(lengths, n).tolist()


def _axis_missing(lengths, n):
    return np.tri(n, dtype=bool) & (np.arange(n) >= n - lengths[:, None])


def _last_by_a_slice(lengths, n):
    mask = np.zeros((len(lengths), n, n), dtype=bool)
    for sample, length in zip(mask, lengths, strict=True):
        sample[:, -length:] = True
    return mask & np.tri(n, dtype=bool)


def _mend_padded_mask(lengths, n):
    real = np.arange(n) >= n - lengths[:, None]
    causal = np.tri(n, dtype=bool)
    return causal & real[:, None, :]


def _padded_mask_in_loops(lengths, n):
    return [[[n - length <= j <= i for j in range(n)] for i in range(n)] for length in lengths]


_FAULT = Exercise(
    id="fault_padded_mask",
    chapter=CHAPTER,
    title="Mend the mask of a padded batch",
    signature="fault_padded_mask(lengths, n)",
    shapes="(batch,), whole numbers; n → (batch, n, n), boolean",
    prompt="Texts of different lengths are filled up to n tokens with padding at the start: the "
           "last lengths[b] positions of sample b are real. A query may attend to a key if that "
           "key is real and not later than the query. One line of this listing is at fault. Find "
           "it, and change as little as you can. For lengths = [2] and n = 3 the rows of the one "
           "sample should be [False, False, False], [False, True, False] and [False, True, True].",
    hints=("Print the mask for lengths = [2] and n = 3, as numbers. Which entries are wrong?",
           "Rows are queries and columns are keys. Does padding hide a whole row, or a column?",
           "real has the shape (batch, n). In (batch, n, n) its second axis must become the last "
           "one."),
    example=Example((np.array([2]), 3),
                    [[[False, False, False], [False, True, False], [False, True, True]]]),
    reference=_padded_mask_in_loops,
    cases=(
        Case((np.array([5]), 5), "no padding", "the triangle"),
        Case((np.array([3]), 7), "one sample of length 3 padded to 7", "the padded keys"),
        Case((np.array([2, 5, 3]), 5), "three samples padded to 5", "one mask for each sample"),
        Case((np.array([1, 4, 0, 2]), 4), "as many samples as positions",
             "one mask for each sample"),
    ),
    naming=(Case((np.array([3]), 7), "one sample"),
            Case((np.array([2, 5, 3]), 5), "three samples"),
            Case((np.array([1, 4, 0, 2]), 4), "as many samples as positions")),
    mistakes=(
        Mistake(
            id="hides-queries",
            seen="Whole rows are hidden: the padding is taken for queries, and real queries still "
                 "see padded keys.",
            question="Which axis of (batch, n, n) runs over the keys?",
            ways=(fault_padded_mask, *_padded(lambda causal, real: causal & real[:, :, None]),
                  lambda lengths, n: fault_padded_mask(lengths - 1, n),
                  lambda lengths, n: fault_padded_mask(lengths + 1, n)),
            step="the padded keys",
        ),
        Mistake(
            id="either-not-both",
            seen="A key is shown if it is real or not later than the query; one of the two is "
                 "enough.",
            question="A padded key lies in the past of every real query. May it be seen?",
            ways=(*_padded(lambda causal, real: causal | real[:, None, :]),
                  *_padded(lambda causal, real: causal | real[:, :, None])),
            step="both conditions together",
        ),
        Mistake(
            id="padding-only",
            seen="Padded keys are hidden, but later ones are not.",
            question="May query 0 see the last key?",
            ways=(*_padded(lambda causal, real: real[:, None, :]),
                  *_padded(lambda causal, real: real[:, :, None]),
                  *_padded(lambda causal, real: real[:, :, None] & real[:, None, :])),
            step="both conditions together",
        ),
        Mistake(
            id="causal-only",
            seen="Later keys are hidden, but padded ones are not.",
            question="What stands at the first positions of a short text?",
            ways=_padded(lambda causal, real: causal),
            step="both conditions together",
        ),
        Mistake(
            id="axis-missing",
            seen="What is real has no axis for the queries, so samples are taken for queries.",
            question="Which shapes meet at the &, and how do their axes line up from the right?",
            ways=(_axis_missing, lambda lengths, n: _axis_missing(lengths, n)[None],
                  lambda lengths, n: _axis_missing(lengths, n).astype(float),
                  lambda lengths, n: np.tri(n, dtype=bool)
                  & (np.arange(n) >= n - lengths[:, None]).T,
                  lambda lengths, n: np.broadcast_to(_axis_missing(lengths, n),
                                                     (len(lengths), n, n))),
            step="one mask for each sample",
        ),
        Mistake(
            id="padding-at-the-end",
            seen="The first lengths[b] positions are taken for the real ones.",
            question="At which end of the text is the padding here?",
            ways=_real_is(lambda j, length, n: j < length),
            step="which keys are real",
        ),
        Mistake(
            id="padding-shown",
            seen="The padded keys are shown and the real ones hidden.",
            question="In this book, what does True in a mask say about a query and a key?",
            ways=_padded(lambda causal, real: causal & ~real[:, None, :]),
            step="which keys are real",
        ),
        Mistake(
            id="future-instead-of-past",
            seen="Padded keys are hidden, but a query sees itself and what comes later.",
            question="Which keys does the last query see?",
            ways=_padded(lambda causal, real: causal.T & real[:, None, :]),
            step="the triangle",
        ),
        Mistake(
            id="numbers-not-booleans",
            seen="The right entries are marked, but with numbers instead of True and False.",
            question="Of which type are causal and real, and what does your operator make of them?",
            ways=_padded(lambda causal, real: causal.astype(int) * real[:, None, :])[::2],
            step="the type of the mask",
        ),
        Mistake(
            id="one-real-key-off",
            seen="The border between padding and text is off by one position.",
            question="How many True does the last row of a sample hold, and how many should it?",
            ways=(*_real_is(lambda j, length, n: j > n - length),
                  *_real_is(lambda j, length, n: j >= n - length - 1)),
            step="which keys are real",
        ),
        Mistake(
            id="empty-rows-filled",
            seen="Queries in the padding, which should see nothing, are given something to see.",
            question="By the rule of the exercise, which keys may a query see that stands before "
                     "the first real one?",
            ways=(*_padded(lambda causal, real: causal & real[:, None, :] | np.eye(len(causal),
                                                                                 dtype=bool)),
                  *_padded(lambda causal, real: causal & (real[:, None, :] | ~real[:, :, None])),
                  *_padded(lambda causal, real: causal & real[:, None, :] | ~real[:, :, None])),
            step="the padded queries",
        ),
        Mistake(
            id="length-zero",
            seen="In a sample of length 0, everything counts as real.",
            question="What does [-length:] select where the length is 0?",
            ways=(_last_by_a_slice, lambda lengths, n: _last_by_a_slice(lengths, n).tolist(),
                  *_real_is(lambda j, length, n: j >= (n - length) % n)),
            step="a sample without a text",
        ),
    ),
    variants=(
        _padded_mask_in_loops,
        lambda lengths, n: np.tri(n, dtype=bool) & (np.arange(n) >= n - lengths[:, None, None]),
        lambda lengths, n: np.logical_and(
            np.tri(n), np.expand_dims(np.arange(n) >= n - lengths[:, None], 1)),
        lambda lengths, n: [np.tri(n, dtype=bool) & (np.arange(n) >= n - length)
                            for length in lengths],
        lambda lengths, n: np.einsum("ij,bj->bij", np.tri(n, dtype=bool),
                                     np.arange(n) >= n - lengths[:, None]),
    ),
    solution=_mend_padded_mask,
    faulty=fault_padded_mask,
)


# --- causal_attention(x, wq, wk, wv) --------------------------------------------------------------
_rng = np.random.default_rng(5)


def _random_args(n, d_model, d_head, d_value):
    shapes = (n, d_model), (d_model, d_head), (d_model, d_head), (d_model, d_value)
    return tuple((_rng.normal(size=shape)).round(3) for shape in shapes)


def _from_scores(s):
    """Return arguments whose scaled scores are ``s``, (4, 4), exactly, in float32 too."""
    return np.eye(4), 2 * np.eye(4), np.ascontiguousarray(s.T), _VALUES


_VALUES = np.array([[1.0, -2, 0.5], [4, 0.25, -3], [-1.5, 5, 2], [0.75, -1, 6]])
_MILD = np.array([[0.5, -1.0, 1.5, 0.25], [1.25, 0.5, -0.5, 2], [-0.75, 1, 0.125, 1.5],
                  [0.25, -1.5, 0.75, -0.5]])
_LATER = ~np.tri(4, dtype=bool)
_TOWERING = (_from_scores(_MILD + 800 * _LATER), "hidden scores that tower over the visible ones")
_LARGE = (_from_scores(_MILD + 1000), "large scores")
_DEEP = (_from_scores(_MILD - 20000 * ~_LATER), "visible scores far below the hidden ones")
_APART = (_from_scores(_MILD + np.array([[0.0], [1000], [-1000], [500]])),
          "rows far apart from one another")
_EQUAL = (np.array([[1.0], [64], [-4096]]), np.array([[0.0]]), np.array([[1.0]]), np.array([[1.0]]))
_NARROW, _PRIMES = _random_args(5, 3, 1, 2), _random_args(7, 5, 3, 2)
_LONGER = _random_args(11, 3, 5, 7)
_SQUARE = _random_args(4, 4, 4, 4)


def _reference_causal_attention(x, wq, wk, wv):
    q, k, v = ([[math.fsum(a * b for a, b in zip(row, column, strict=True)) for column in w.T]
                for row in x] for w in (wq, wk, wv))
    rows = []
    for i, query in enumerate(q):
        scores = [math.fsum(a * b for a, b in zip(query, key, strict=True)) / math.sqrt(len(query))
                  for key in k[: i + 1]]
        weights = reference_softmax(scores)
        rows.append([math.fsum(w * value[c] for w, value in zip(weights, v, strict=False))
                     for c in range(wv.shape[1])])
    return rows


def _scaled(q, k):
    return q @ k.T / math.sqrt(q.shape[-1])


def _head(weigh, score=_scaled):
    """Return a head that turns scores into weights by ``weigh``."""
    def head(x, wq, wk, wv):
        return weigh(score(x @ wq, x @ wk)) @ (x @ wv)

    return head


def _before(keep, fill=-np.inf, weigh=softmax):
    """Return a weighing that fills the scores outside of ``keep`` before the softmax."""
    return lambda s: weigh(np.where(keep(len(s)), s, fill))


def _tri(k):
    return lambda n: np.tri(n, k=k, dtype=bool)


_causal = _before(_tri(0))


def _zeros_for_nan(weigh):
    return lambda s: np.nan_to_num(weigh(s))


def _past_of(s):
    return np.tri(len(s))


def _renormalised(s):
    weights = softmax(s) * _past_of(s)
    return weights / weights.sum(axis=-1, keepdims=True)


def _renormalised_guarded(s):
    weights = softmax(s) * _past_of(s)
    return weights / (weights.sum(axis=-1, keepdims=True) + 1e-9)


def _renormalised_in_loops(x, wq, wk, wv):
    weights, v = softmax(_scaled(x @ wq, x @ wk)), x @ wv
    return [sum(weights[i, j] * v[j] for j in range(i + 1)) / weights[i, : i + 1].sum()
            for i in range(len(x))]


def _cut_off_in_loops(x, wq, wk, wv):
    weights, v = softmax(_scaled(x @ wq, x @ wk)), x @ wv
    return [sum(weights[i, j] * v[j] for j in range(i + 1)) for i in range(len(x))]


def _zero_taken_for_masked(s, fill=-np.inf):
    s = np.tril(s)
    s[s == 0] = fill
    return softmax(s)


def _zero_before_itself_taken(s, fill=-np.inf):
    hidden = (np.tril(s) == 0) & ~np.eye(len(s), dtype=bool)
    return softmax(np.where(hidden, fill, s))


def _prefix_by_prefix(end):
    """Return a head that lets position i see ``x[:end(i)]``, one row at a time."""
    def head(x, wq, wk, wv):
        q, k, v = x @ wq, x @ wk, x @ wv
        return [softmax(k[: end(i)] @ q[i] / math.sqrt(len(q[i]))) @ v[: end(i)]
                if end(i) else 0 * v[0] for i in range(len(x))]

    return head


def _scored(factor):
    """Return a head whose scores are multiplied by ``factor(x, wq, wv)``."""
    def head(x, wq, wk, wv):
        return _causal(x @ wq @ (x @ wk).T * factor(x, wq, wv)) @ (x @ wv)

    return head


def _global_max(s):
    s = np.where(_past_of(s), s, -np.inf)
    e = np.exp(s - s.max())
    return e / e.sum(axis=-1, keepdims=True)


def _global_max_of_all(s):
    e = np.exp(s - s.max()) * _past_of(s)
    return e / e.sum(axis=-1, keepdims=True)


def _exponentials_masked(s):
    e = np.exp(s) * _past_of(s)
    return e / e.sum(axis=-1, keepdims=True)


def _solve_causal_attention(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    s = q @ k.T / q.shape[-1] ** 0.5
    s = np.where(np.tri(len(x), dtype=bool), s, -np.inf)
    exponentials = np.exp(s - s.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ v


def _causal_attention_in_loops(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    rows = []
    for i in range(len(x)):
        s = [sum(q[i] * k[j]) / math.sqrt(len(q[i])) for j in range(i + 1)]
        e = [math.exp(score - max(s)) for score in s]
        rows.append(sum(e[j] / sum(e) * v[j] for j in range(i + 1)))
    return rows


def _causal_attention_by_einsum(x, wq, wk, wv):
    s = np.einsum("id,de,jc,ce->ij", x, wq, x, wk) * wq.shape[1] ** -0.5
    s += np.triu(np.full(s.shape, -np.inf), k=1)
    return np.einsum("ij,jd,de->ie", softmax(s), x, wv)


_FILLS = (-1.0, -2.0, -3.0, -5.0, -8.0, -9.0, -10.0, -12.0, -15.0, -20.0, -30.0, -100.0, -1e4)

_CAUSAL_ATTENTION = Exercise(
    id="causal_attention",
    chapter=CHAPTER,
    title="The complete head",
    signature="causal_attention(x, wq, wk, wv)",
    shapes="(n, d_model), (d_model, d_head), (d_model, d_head), (d_model, d_value) → (n, d_value)",
    prompt="Write causal_attention(x, wq, wk, wv), one whole head: queries, keys and values from "
           "x, scaled scores, the causal mask, softmax, and the mixture of the values. It must "
           "hold for scores of any size, hidden ones too. If wq is [[0]], so that all scores are "
           "equal, wk and wv are [[1]], and x is [[6], [0], [3]], the result is [[6], [3], [3]].",
    hints=("Go in the order of the chapters, and print the shape after each step: three "
           "projections, the scores, their scale, the mask, the weights, the mixture.",
           "A hidden score must not take part in the softmax at all. Which score has the weight 0 "
           "whatever the others are?",
           "Choose with np.where between the score and −inf, then subtract each row's maximum, "
           "take exponentials, and divide by each row's sum."),
    example=Example((np.array([[6.0], [0], [3]]), np.array([[0.0]]), np.array([[1.0]]),
                     np.array([[1.0]])), [[6.0], [3.0], [3.0]]),
    reference=_reference_causal_attention,
    stages=(PROJECTIONS, *OF_A_CAUSAL_HEAD),
    probe=Probe(of_tokens(5, 2), "the scores", "the scaling", "the softmax", mask="the mask"),
    cases=(
        Case(_EQUAL, "equal scores", "the mask"),
        Case(_NARROW, "queries and keys of one feature", "the scores"),
        Case(_PRIMES, "7 tokens with 5, 3 and 2 features", "the scaling"),
        Case(_LONGER, "11 tokens with 3, 5 and 7 features", "the scaling"),
        Case(_random_args(1, 3, 2, 5), "a single token", "the mask"),
        Case(*_TOWERING, "the mask before the softmax"),
        Case(*_LARGE, "the shift by the row's maximum"),
        Case(*_APART, "one maximum for each row"),
        Case(*_DEEP, "what stands for a hidden score"),
    ),
    naming=(Case(_EQUAL, "equal scores"), Case(_PRIMES, "primes"), Case(_SQUARE, "square"),
            Case(*_TOWERING), Case(*_LARGE), Case(*_APART), Case(*_DEEP)),
    mistakes=(
        Mistake(
            id="no-mask",
            seen="Every position sees the whole text, what comes after it too.",
            question="Does row 0 of your result change when only the last token changes?",
            ways=(_head(softmax), _prefix_by_prefix(lambda i: 10**6), _head(unstable_softmax)),
            step="the mask",
        ),
        Mistake(
            id="masked-after-softmax",
            seen="Weights are set to 0 after the softmax, so the rows no longer sum to 1.",
            question="What do the weights of row 0 sum to, after your mask?",
            ways=(_head(lambda s: softmax(s) * _past_of(s)), _cut_off_in_loops,
                  _head(lambda s: unstable_softmax(s) * _past_of(s)),
                  _head(lambda s: np.where(_tri(0)(len(s)), unstable_softmax(s), 0))),
            step="the mask before the softmax",
        ),
        Mistake(
            id="renormalised-too-late",
            seen="Hidden scores take part in the softmax and are taken out afterwards. Where one "
                 "of them towers over the rest, nothing is left to divide by.",
            question="A row has the scores 0 (visible) and 800 (hidden). What is left of the "
                     "visible weight before you divide again?",
            ways=(_head(_renormalised), _head(_renormalised_guarded), _renormalised_in_loops,
                  _head(_zeros_for_nan(_renormalised))),
            step="the mask before the softmax",
        ),
        Mistake(
            id="masked-scores-zero",
            seen="Hidden scores are set to 0, which is a score like any other.",
            question="What is exp(0), and what weight does a score of 0 get?",
            ways=(_head(lambda s: softmax(s * _past_of(s))), _head(_before(_tri(0), 0.0)),
                  _head(lambda s: unstable_softmax(np.tril(s)))),
            step="what stands for a hidden score",
        ),
        Mistake(
            id="finite-fill",
            seen="Hidden scores are set to a low number, but not low enough: some of their weight "
                 "survives.",
            question="Is there a row of scores so low that your number is the largest of the row?",
            ways=(*(_head(_before(_tri(0), fill)) for fill in _FILLS),
                  *(_head(lambda s, fill=fill: softmax(s + fill * (1 - _past_of(s))))
                    for fill in (*_FILLS, -1e3)),
                  *(_head(_before(_tri(0), fill, unstable_softmax)) for fill in _FILLS[:-1]),
                  *(_head(lambda s, less=less: softmax(np.where(_past_of(s), s, s.min() - less)))
                    for less in (0, 1, 10))),
            step="what stands for a hidden score",
        ),
        Mistake(
            id="future-instead-of-past",
            seen="The mask is the wrong way round: positions see what comes after them, not what "
                 "came before.",
            question="In np.where(mask, a, b), which of a and b is taken where the mask is True?",
            ways=(_head(_before(lambda n: np.tri(n, dtype=bool).T)),
                  _head(_before(lambda n: ~np.tri(n, dtype=bool))),
                  _head(_zeros_for_nan(_before(lambda n: ~np.tri(n, dtype=bool)))),
                  _head(_before(lambda n: ~np.tri(n, dtype=bool), -1e9)),
                  _head(lambda s: softmax(s - 1e9 * _past_of(s))),
                  _head(_before(lambda n: np.tri(n, dtype=bool).T, weigh=unstable_softmax))),
            step="the mask",
        ),
        Mistake(
            id="excludes-itself",
            seen="A position sees those before it, but not itself.",
            question="What is there for position 0 to attend to?",
            ways=(_head(_before(_tri(-1))), _head(_before(_tri(-1), -1e9)),
                  _head(lambda s: softmax(s - 1e9 * np.triu(np.ones(s.shape)))),
                  _prefix_by_prefix(lambda i: i), _head(_before(_tri(-1), weigh=unstable_softmax)),
                  _prefix_by_prefix(lambda i: max(i, 1)),
                  _head(_before(lambda n: np.tri(n, k=-1) + np.eye(1, n * n).reshape(n, n) > 0))),
            step="the mask",
        ),
        Mistake(
            id="one-too-many",
            seen="A position also sees the one that comes next.",
            question="Which positions does row 0 of your mask allow?",
            ways=(_head(_before(_tri(1))), _prefix_by_prefix(lambda i: i + 2),
                  _head(_before(_tri(1), weigh=unstable_softmax))),
            step="the mask",
        ),
        Mistake(
            id="nan-from-zero-times-inf",
            seen="The mask is multiplied by infinity, and 0 · inf is nan, so that no row survives.",
            question="What does your mask hold for the visible scores, after the multiplication?",
            ways=(_head(lambda s: softmax(s + (1 - _past_of(s)) * -np.inf)),
                  _head(lambda s: softmax(s + np.triu(np.ones(s.shape), 1) * -np.inf)),
                  _head(lambda s: np.nan_to_num(softmax(s + (1 - _past_of(s)) * -np.inf))),
                  _head(lambda s: softmax(s * _past_of(s) - np.inf * (1 - _past_of(s))))),
            step="what stands for a hidden score",
        ),
        Mistake(
            id="zero-taken-for-masked",
            seen="A visible score that happens to be 0 is hidden too.",
            question="After np.tril, how can you tell a score that is 0 from a place outside of "
                     "the triangle?",
            ways=(_head(_zero_taken_for_masked),
                  _head(lambda s: np.nan_to_num(_zero_taken_for_masked(s))),
                  _head(lambda s: _zero_taken_for_masked(s, -1e9)),
                  _head(_zero_before_itself_taken)),
            step="the mask",
        ),
        Mistake(
            id="unscaled",
            seen="The scores are not divided by the square root of d_head.",
            question="How does the spread of a dot product grow with the number of features?",
            ways=(_scored(lambda x, wq, wv: 1),
                  _head(_before(_tri(0), weigh=unstable_softmax), lambda q, k: q @ k.T)),
            step="the scaling",
        ),
        Mistake(
            id="wrong-scale",
            seen="The scores are scaled, but not by the square root of d_head.",
            question="Over how many features does one dot product of a query and a key run?",
            ways=(_scored(lambda x, wq, wv: 1 / wq.shape[1]),
                  _scored(lambda x, wq, wv: wq.shape[1] ** 0.5),
                  _scored(lambda x, wq, wv: wq.shape[0] ** -0.5),
                  _scored(lambda x, wq, wv: wv.shape[1] ** -0.5),
                  _scored(lambda x, wq, wv: len(x) ** -0.5)),
            step="the scaling",
        ),
        Mistake(
            id="no-max-shift",
            seen="Gentle scores come out right, but the exponential of a large score overflows.",
            question="What did you subtract from a row of scores in the chapter on the softmax?",
            ways=(_head(_before(_tri(0), weigh=unstable_softmax)), _head(_exponentials_masked),
                  _head(_zeros_for_nan(_before(_tri(0), weigh=unstable_softmax)))),
            step="the shift by the row's maximum",
        ),
        Mistake(
            id="global-max",
            seen="One maximum serves all rows, so a row far below it underflows to 0/0.",
            question="For the row of the lowest scores, how large is its largest exponential after "
                     "your shift?",
            ways=(_head(_global_max), _head(_global_max_of_all),
                  _head(_zeros_for_nan(_global_max))),
            step="one maximum for each row",
        ),
        Mistake(
            id="global-sum",
            seen="The weights of all rows together sum to 1.",
            question="What is the sum of each single row of your weights, and what should it be?",
            ways=(_head(lambda s: softmax(np.where(_past_of(s), s, -np.inf).ravel())
                        .reshape(s.shape)),
                  _head(lambda s: np.tril(np.exp(s)) / np.tril(np.exp(s)).sum())),
            step="the softmax",
        ),
        Mistake(
            id="no-softmax",
            seen="The scores themselves are used as weights; no exponential is taken.",
            question="Can a weight be negative? What do the weights of a row sum to?",
            ways=(_head(np.tril), _head(lambda s: np.where(_past_of(s), s, -np.inf)),
                  _head(lambda s: np.tril(s) / np.tril(s).sum(axis=-1, keepdims=True))),
            step="the softmax",
        ),
        Mistake(
            id="wrong-axis",
            seen="The weights sum to 1 down the columns, over the queries of one key.",
            question="Which axis of the scores runs over the keys of one query?",
            ways=(_head(_before(_tri(0), weigh=lambda s: softmax(s, axis=0))),
                  _head(lambda s: _before(lambda n: _tri(0)(n).T)(s.T).T)),
            step="the softmax",
        ),
        Mistake(
            id="queries-keys-swapped",
            seen="Queries and keys have changed places.",
            question="Which of the two do the rows of the scores belong to?",
            ways=(_head(_causal, lambda q, k: _scaled(k, q)),
                  lambda x, wq, wk, wv: _solve_causal_attention(x, wk, wq, wv)),
            step="the scores",
        ),
        Mistake(
            id="queries-with-queries",
            seen="One of the two projections serves for queries and keys alike.",
            question="Which two arrays meet in the scores, and by which weights are they made?",
            ways=(_head(_causal, lambda q, k: _scaled(q, q)),
                  _head(_causal, lambda q, k: _scaled(k, k))),
            step="the scores",
        ),
        Mistake(
            id="weights-first",
            seen="The tokens are multiplied from the wrong side, which only fits if all is square.",
            question="x has a row for each token. Which axis of x must meet which axis of wq?",
            ways=(lambda x, wq, wk, wv: _causal(_scaled(wq @ x, wk @ x)) @ (wv @ x),
                  lambda x, wq, wk, wv: _solve_causal_attention(x.T, wq, wk, wv)),
            step="the projections",
        ),
        Mistake(
            id="no-value-projection",
            seen="The weights mix something else than the values x @ wv.",
            question="What are the weights multiplied with, and where does wv come in?",
            ways=(lambda x, wq, wk, wv: _causal(_scaled(x @ wq, x @ wk)) @ x,
                  lambda x, wq, wk, wv: _causal(_scaled(x @ wq, x @ wk)) @ (x @ wk)),
            step="the values",
        ),
    ),
    variants=(
        _causal_attention_in_loops,
        _causal_attention_by_einsum,
        in_float32(_solve_causal_attention),
        _prefix_by_prefix(lambda i: i + 1),
        _head(_before(_tri(0), -1e9)),
        _head(_before(_tri(0), np.finfo(float).min)),
        _head(lambda s: softmax(s - 1e9 * (1 - _past_of(s)))),
        _head(lambda s: np.exp(np.where(_tri(0)(len(s)), s, -np.inf)
                               - np.logaddexp.reduce(np.where(_tri(0)(len(s)), s, -np.inf),
                                                     axis=-1, keepdims=True))),
        lambda x, wq, wk, wv: [_solve_causal_attention(x[: i + 1], wq, wk, wv)[-1]
                               for i in range(len(x))],
    ),
    solution=_solve_causal_attention,
    package=(attention_book.causal_attention, (attention_book.attention, "mask"),
             (attention_book.multi_head_attention, "mask"),
             (attention_book.chunked_attention, "causal"),
             (attention_book.chunked_attention, "mask")),
)

EXERCISES = (_CAUSAL_MASK, _PREDICT, _RECTANGULAR, _SLIDING_WINDOW, _FAULT, _CAUSAL_ATTENTION,
             LEAKS_FUTURE)
