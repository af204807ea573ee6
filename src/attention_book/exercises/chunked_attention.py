"""The exercises of the chapter on chunked attention."""

import math

import numpy as np

from attention_book.exercises.compare import COUNTED
from attention_book.exercises.key_chunks import CHUNKED_ATTENTION, CHUNKED_CAUSAL_ATTENTION
from attention_book.exercises.model import Case, Example, Exercise, Mistake, Step, prediction
from attention_book.exercises.running_totals import FAULT_THREE_WORKERS, ONLINE_SOFTMAX_STEP

CHAPTER = "08_chunked_attention"

_PAIRS, _HEADS, _BYTES = "pairs of query and key", "the heads", "bytes for each score"


# --- score_matrix_bytes(n, n_heads, bytes_per_value) ----------------------------------------------
def _solve_score_matrix_bytes(n, n_heads, bytes_per_value):
    return n_heads * n * n * bytes_per_value


def _held_in_an_array(n, n_heads, bytes_per_value):
    one_row = np.zeros((n_heads, 1, n), dtype=f"V{bytes_per_value}")
    return n * one_row.nbytes


_GENERAL = Case((7, 3, 5), "7 tokens, 3 heads, 5 bytes", _HEADS)
_WIDE = Case((5, 2, 6), "5 tokens, 2 heads, 6 bytes", _BYTES)
_LONG = Case((100_003, 11, 2), "100,003 tokens and 11 heads", _HEADS)
_ONE_HEAD = Case((13, 1, 4), "a single head", _PAIRS)
_SCORE_MATRIX_BYTES = Exercise(
    id="score_matrix_bytes",
    chapter=CHAPTER,
    title="What the table would take",
    signature="score_matrix_bytes(n, n_heads, bytes_per_value)",
    shapes="three whole numbers → a whole number",
    prompt="Write score_matrix_bytes(n, n_heads, bytes_per_value): how many bytes the scores of "
           "one layer take if they are stored whole. n tokens attend to n tokens, every head has "
           "scores of its own, hidden ones are stored like the others, and each score takes "
           "bytes_per_value bytes. For 3 tokens, 2 heads and 4 bytes that is 72.",
    hints=("How many scores does one query make in one head?",
           "What happens to the number of scores if there are twice as many tokens?",
           "Each head holds a square table. Count its entries, then the heads, then the bytes."),
    example=Example((3, 2, 4), 72),
    reference=lambda n, n_heads, bytes_per_value: float(n**2 * (n_heads * bytes_per_value)),
    tolerance=COUNTED,
    cases=(
        Case((5, 1, 1), "one head and one byte", _PAIRS),
        _ONE_HEAD,
        Case((7, 3, 1), "one byte for each score", _HEADS),
        Case((7, 1, 5), "one head, 5 bytes", _BYTES),
        _GENERAL,
        _LONG,
    ),
    naming=(_GENERAL, _LONG, _ONE_HEAD, _WIDE),
    mistakes=(
        Mistake(
            id="linear",
            seen="The number grows with n, not with n times n.",
            question="Each of n queries has a score for how many keys?",
            ways=(lambda n, n_heads, b: n * n_heads * b, lambda n, n_heads, b: 2 * n * n_heads * b,
                  lambda n, n_heads, b: n * b),
            step=_PAIRS,
        ),
        Mistake(
            id="one-head",
            seen="The table of a single head is counted.",
            question="Do two heads give a query and a key the same score?",
            ways=(lambda n, n_heads, b: n * n * b, lambda n, n_heads, b: n**2 * b // n_heads,
                  lambda n, n_heads, b: n * n * b / n_heads),
            step=_HEADS,
        ),
        Mistake(
            id="bits",
            seen="Bits and bytes are mixed up: the number is eight times too large, or too small.",
            question="Which of the two is asked for, and in which of them is a score's size given?",
            ways=(lambda n, n_heads, b: 8 * n_heads * n * n * b,
                  lambda n, n_heads, b: n * n * n_heads * (b * 8.0),
                  lambda n, n_heads, b: n_heads * n * n * b // 8,
                  lambda n, n_heads, b: n_heads * n * n * b / 8),
            step=_BYTES,
        ),
        Mistake(
            id="values-not-bytes",
            seen="The scores are counted, not their bytes, or their size is taken for granted.",
            question="How much memory does one score take, and which argument says so?",
            ways=(lambda n, n_heads, b: n_heads * n * n, lambda n, n_heads, b: 4 * n_heads * n * n,
                  lambda n, n_heads, b: 8 * n_heads * n * n,
                  lambda n, n_heads, b: np.zeros((1, n)).nbytes * n * n_heads,
                  lambda n, n_heads, b: 2 * n_heads * n * n),
            step=_BYTES,
        ),
        Mistake(
            id="heads-squared",
            seen="The number of heads enters squared.",
            question="If there are twice as many heads, how many more tables are there?",
            ways=(lambda n, n_heads, b: (n * n_heads) ** 2 * b,
                  lambda n, n_heads, b: n**2 * n_heads**2 * b),
            step=_HEADS,
        ),
        Mistake(
            id="half-the-table",
            seen="Only the visible half of a causal table is counted, or each pair once.",
            question="If the scores are stored whole, is there room for the hidden ones too?",
            ways=(lambda n, n_heads, b: n_heads * n * (n + 1) // 2 * b,
                  lambda n, n_heads, b: n_heads * n * (n - 1) // 2 * b,
                  lambda n, n_heads, b: n_heads * n * n // 2 * b,
                  lambda n, n_heads, b: n_heads * n * n * b / 2,
                  lambda n, n_heads, b: n_heads * n * n * b // 2),
            step=_PAIRS,
        ),
        Mistake(
            id="one-key-off",
            seen="One key or one query is counted too few, or too many.",
            question="Does a query have a score for its own key? How many scores has it in all?",
            ways=(lambda n, n_heads, b: n * (n - 1) * n_heads * b,
                  lambda n, n_heads, b: n * (n + 1) * n_heads * b,
                  lambda n, n_heads, b: (n - 1) ** 2 * n_heads * b,
                  lambda n, n_heads, b: (n * n - n) * (n_heads * b)),
            step=_PAIRS,
        ),
        Mistake(
            id="xor-for-power",
            seen="^ is no power in Python: it compares whole numbers bit by bit.",
            question="What does 3 ^ 2 give when you run it alone, and which sign gives 9?",
            ways=(lambda n, n_heads, b: (n ^ 2) * n_heads * b,
                  lambda n, n_heads, b: n_heads * n ^ 2 * b,
                  lambda n, n_heads, b: n_heads * b * n ^ 2,
                  lambda n, n_heads, b: n ^ 2 * n_heads * b),
            step=_PAIRS,
        ),
        Mistake(
            id="more-than-the-scores",
            seen="Other arrays are counted too, beside the scores.",
            question="How many tables are asked for: one for each head, or more?",
            ways=(lambda n, n_heads, b: 2 * n_heads * n * n * b,
                  lambda n, n_heads, b: 3 * n_heads * n * n * b),
            step=_PAIRS,
        ),
        Mistake(
            id="larger-units",
            seen="The number is in kilobytes, megabytes or gigabytes.",
            question="In which unit is the result asked for?",
            ways=tuple((lambda n, n_heads, b, unit=unit, divide=divide:
                        divide(n_heads * n * n * b, unit))
                       for unit in (1024, 1000, 2**20, 10**6, 2**30, 10**9)
                       for divide in (lambda a, b: a / b, lambda a, b: a // b)),
            step=_BYTES,
        ),
    ),
    variants=(
        lambda n, n_heads, bytes_per_value: n**2 * n_heads * bytes_per_value,
        lambda n, n_heads, bytes_per_value: math.prod((n, n, n_heads, bytes_per_value)),
        _held_in_an_array,
        lambda n, n_heads, bytes_per_value: sum(n * bytes_per_value for _ in range(n)) * n_heads,
        lambda n, n_heads, bytes_per_value: np.int64(n) ** 2 * n_heads * bytes_per_value,
    ),
    solution=_solve_score_matrix_bytes,
)


# --- predict_running_totals -----------------------------------------------------------------------
_FIRST, _SECOND, _THIRD = "l after the first chunk", "l after the second", "l after the third"


def _sums(first, second, third, *mixtures):
    """Return predictions with these values of l, whatever was found for the mixture."""
    return tuple([first, second, third, mixture]
                 for mixture in (*mixtures, 2.5, 10 / 3, 13 / 4, 3, 5))


_PREDICT = prediction(
    id="predict_running_totals",
    chapter=CHAPTER,
    title="Three chunks by hand",
    signature="a list of four numbers",
    shapes="(4,)",
    prompt="One query reads four keys in three chunks. The scores of the first chunk are ln 2 and "
           "ln 4, that of the second is ln 8, that of the third ln 2. The values are 4 and 1, "
           "then 2, then 6. Follow m, l and acc by the online softmax: what is l after each "
           "chunk, and which mixture comes out in the end? Write down four numbers before you "
           "run anything.",
    hints=("Write down m after each chunk. In which one does it not change?",
           "exp(ln 2 − ln 4) is 2/4. What do the terms of the first chunk come to, with m = ln 4, "
           "and what are they after m has become ln 8?",
           "When m rises from ln 4 to ln 8, l and acc are halved before the new terms are added. "
           "The mixture is acc/l at the end."),
    value=np.array([1.5, 1.75, 2, 2.5]),
    tolerance=0.04,
    steps=(
        Step("m", "ln 4, then ln 8, then still ln 8"),
        Step(_FIRST, "2/4 + 4/4 = 1.5, and acc = 4/2 + 1 = 3", "2/4 + 4/4 = 1.5"),
        Step(_SECOND, "1.5/2 + 8/8 = 1.75, and acc = 3/2 + 2 = 3.5", "1.5/2 + 8/8 = 1.75"),
        Step(_THIRD, "1.75 + 2/8 = 2, and acc = 3.5 + 6/4 = 5", "1.75 + 2/8 = 2"),
        Step("the mixture", "acc/l = 5/2 = 2.5"),
    ),
    mistakes=(
        Mistake(
            id="not-rescaled",
            seen="After the second chunk, terms made with m = ln 4 and with m = ln 8 are added up.",
            question="What does exp(ln 4 − m) come to, once m is ln 8?",
            ways=(*_sums(1.5, 2.5, 2.75, 6.5 / 2.75, 5 / 2.75),
                  *_sums(1.5, 2.5, 3.5, 11 / 3.5, 5 / 3.5)),
            step=_SECOND,
        ),
        Mistake(
            id="accumulator-not-rescaled",
            seen="The three sums are right, but acc was not halved when m rose.",
            question="Which terms are in acc after the first chunk, and with which m were they "
                     "made?",
            ways=([1.5, 1.75, 2, 3.25], (1.5, 1.75, 2.0, 6.5 / 2)),
            step="the mixture",
        ),
        Mistake(
            id="rescaled-upside-down",
            seen="When m rises to ln 8, the old terms were doubled.",
            question="A larger score has come. Does the share of the first two keys grow or "
                     "shrink?",
            ways=_sums(1.5, 4, 4.25, 9.5 / 4.25, 5 / 4.25),
            step=_SECOND,
        ),
        Mistake(
            id="rescaled-too-late",
            seen="When m rises to ln 8, the new term was halved together with the old ones.",
            question="The term of ln 8 was made with m = ln 8. Does it need repair?",
            ways=_sums(1.5, 1.25, 1.5, 4 / 1.5, 4.0),
            step=_SECOND,
        ),
        Mistake(
            id="max-not-carried",
            seen="In the third chunk m falls back to ln 2, the chunk's own maximum.",
            question="What is the largest score of all that have been read by then?",
            ways=(*_sums(1.5, 1.75, 8, 20 / 8), *_sums(1.5, 1.75, 2.75, 9.5 / 2.75),
                  *_sums(1.5, 1.75, 23 / 16)),
            step="m",
        ),
        Mistake(
            id="no-max-shift",
            seen="The exponentials were added up as they are, without m.",
            question="What is subtracted from a score before its exponential is taken?",
            ways=(*_sums(6, 14, 16, 40, 40 / 4), *_sums(6, 8, 2, 6.0)),
            step=_FIRST,
        ),
        Mistake(
            id="maximum-known-in-advance",
            seen="The first chunk was read with m = ln 8, which only the second one holds.",
            question="After the first chunk, which is the largest score that has been read?",
            ways=_sums(0.75, 1.75, 2),
            step=_FIRST,
        ),
        Mistake(
            id="chunks-alone",
            seen="Each sum belongs to its own chunk; nothing was carried over.",
            question="How many keys should be in l after the second chunk?",
            ways=(*_sums(1.5, 1, 1, 6.0), *_sums(1.5, 1, 0.25, 6.0)),
            step=_SECOND,
        ),
        Mistake(
            id="normalised-each-chunk",
            seen="The sum was divided by itself in each chunk.",
            question="How many divisions does the online softmax need, and when?",
            ways=(*_sums(1, 1, 1), *_sums(1, 2, 3)),
            step=_FIRST,
        ),
        Mistake(
            id="another-total",
            seen="The first three numbers are acc, or m, not l.",
            question="Which of the three totals adds up exponentials alone?",
            ways=(*_sums(3, 3.5, 5), *_sums(1.386, 2.079, 2.079), *_sums(4, 8, 8)),
            step=_FIRST,
        ),
        Mistake(
            id="average-of-chunks",
            seen="The sums are right, but the mixture is an average that takes no account of the "
                 "scores of all chunks together.",
            question="Which chunk holds the key with the largest weight, and how large is it?",
            ways=([1.5, 1.75, 2, 10 / 3], [1.5, 1.75, 2, 3]),
            step="the mixture",
        ),
        Mistake(
            id="not-divided",
            seen="The sums are right; the last number is acc itself.",
            question="acc is a sum of exponentials times values. What must be done to make shares "
                     "of the exponentials?",
            ways=([1.5, 1.75, 2, 5], (1.5, 1.75, 2.0, 5.0)),
            step="the mixture",
        ),
        Mistake(
            id="no-exponentials",
            seen="The scores themselves were added up; no exponential was taken.",
            question="l is a sum over keys. What is added to it for a key, if not its score?",
            ways=_sums(math.log(8), math.log(64), math.log(128)),
            step=_FIRST,
        ),
        Mistake(
            id="key-by-key",
            seen="There is an l for each of the four keys, and no mixture.",
            question="How many chunks are there, and which number is asked for beside their sums?",
            ways=([1, 1.5, 1.75, 2], (1.0, 1.5, 1.75, 2.0), [0.25, 0.75, 1.75, 2],
                  [2, 6, 14, 16]),
            step=_FIRST,
        ),
        Mistake(
            id="another-order",
            seen="The four numbers are right, and stand in another order.",
            question="In which order are the sums and the mixture asked for?",
            ways=([2.5, 1.5, 1.75, 2], [2, 1.75, 1.5, 2.5], [2.5, 2, 1.75, 1.5]),
            step=_FIRST,
        ),
    ),
    variants=([1.5, 1.75, 2, 2.5], (1.5, 1.75, 2.0, 2.5), np.array([3, 3.5, 4, 5]) / 2),
)


EXERCISES = (_SCORE_MATRIX_BYTES, _PREDICT, ONLINE_SOFTMAX_STEP, FAULT_THREE_WORKERS,
             CHUNKED_ATTENTION, CHUNKED_CAUSAL_ATTENTION)
