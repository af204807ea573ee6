"""Exercises on the block as a whole: its sums, its weights, and where a decoded token stands."""

import numpy as np

from attention_book.exercises.building_blocks import in_float32
from attention_book.exercises.model import (
    Case,
    Example,
    Exercise,
    Mistake,
    Step,
    Watched,
    prediction,
)
from attention_book.exercises.stages import Stage, sets

CHAPTER = "09_transformer_block"

_rng = np.random.default_rng(90)
_FIRST, _SECOND, _NORMS = "the first sum", "the second sum", "the norms"
_QUERIES, _KEYS, _SCORES = "the turned queries", "the turned keys", "the scores"


def _draw(*shape):
    return _rng.normal(size=shape).round(3)


# --- block(x, attend, feed_forward, norm) ---------------------------------------------------------
def _running_mean(x):
    return 2 * np.cumsum(x, axis=0) / np.arange(1, len(x) + 1)[:, None]


def _bent(x):
    return np.maximum(x, 0) * 3 - x[:, ::-1]


def _unit_rows(x):
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-3)


def _nothing(x):
    return np.zeros_like(x)


def _itself(x):
    return x.copy()


def _halved(x):
    return x / 2


def _one_more(x):
    return x + 1


def _doubled(x):
    return 2 * x


def _given(note, step, attend=_running_mean, feed_forward=_bent, norm=_unit_rows, n=5, d=3):
    functions = (Watched(function) for function in (attend, feed_forward, norm))
    return Case((_draw(n, d) * 2, *functions), note, step)


_BLOCK_ATTEND = _given("feed_forward gives zeros, norm changes nothing", _FIRST,
                       feed_forward=_nothing, norm=_itself)
_BLOCK_FEED = _given("attend gives zeros, norm changes nothing", _SECOND, attend=_nothing,
                     norm=_itself)
_BLOCK_PLAIN = _given("norm changes nothing", _SECOND, norm=_itself)
_BLOCK_HALVED = _given("norm halves the rows", _NORMS, norm=_halved, n=7, d=2)
_BLOCK = _given("norm makes the rows one size", _NORMS)
_BLOCK_SQUARE = _given("as many rows as features", _NORMS, n=3, d=3)


def _sums(first, second):
    """Return a block of two steps, each a rule of (x, the part, the norm)."""
    return lambda x, attend, feed_forward, norm: second(first(x, attend, norm), feed_forward, norm)


def _before(x, part, norm):
    return x + part(norm(x))


def _after(x, part, norm):
    return norm(x + part(x))


def _between(x, part, norm):
    return x + norm(part(x))


def _bare(x, part, norm):
    return x + part(x)


def _no_sum(x, part, norm):
    return part(norm(x))


def _normed_sum(x, part, norm):
    normed = norm(x)
    return normed + part(normed)


def _twice(x, part, norm):
    return x + norm(part(norm(x)))


def _solve_block(x, attend, feed_forward, norm):
    x = x + attend(norm(x))
    return x + feed_forward(norm(x))


def _both_of_x(x, attend, feed_forward, norm):
    return x + attend(norm(x)) + feed_forward(norm(x))


def _from_x_again(x, attend, feed_forward, norm):
    y = x + attend(norm(x))
    return x + feed_forward(norm(y))


def _in_place_of_copy(x, attend, feed_forward, norm):
    out = np.array(x, float)
    out += attend(norm(out))
    out += feed_forward(norm(out))
    return out


def _named(x, attend, feed_forward, norm):
    mixed = attend(norm(x))
    after_attention = mixed + x
    worked_on = feed_forward(norm(after_attention))
    return (worked_on + after_attention).tolist()


def _loop(x, attend, feed_forward, norm):
    for part in (attend, feed_forward):
        x = np.add(x, part(norm(x)))
    return x


def _stage(part, source, target, names):
    """Return the step around one part, with the ways in which it goes wrong."""
    def with_rule(rule):
        return sets(target, lambda t: rule(getattr(t, source), t.args[part], t.args[3]))

    return Stage(with_rule(_before), tuple(((name,), with_rule(rule)) for name, rule in names))


_BLOCK_STAGES = (
    Stage(sets("x", lambda t: t.args[0]), ()),
    _stage(1, "x", "y", (("no-residual", _no_sum), ("post-norm", _after), ("no-norm", _bare),
                         ("norm-on-residual", _normed_sum), ("norm-after-part", _between))),
    _stage(2, "y", "result", (("residual-missing-once", _no_sum), ("one-post-norm", _after),
                              ("one-norm-missing", _bare), ("one-norm-on-residual", _normed_sum),
                              ("one-norm-after-part", _between))),
)

BLOCK = Exercise(
    id="block",
    chapter=CHAPTER,
    title="Two parts, two sums",
    signature="block(x, attend, feed_forward, norm)",
    shapes="(n, d_model), three functions (n, d_model) → (n, d_model), → (n, d_model)",
    prompt="Write block(x, attend, feed_forward, norm), pre-norm. The three functions take an "
           "array (n, d_model) and return one. First attend works on the normed x, and what it "
           "finds is added to x. Then feed_forward works on the norm of that sum, and what it "
           "finds is added to the sum. The sums themselves are not normed.",
    hints=("Give the sum after attention a name of its own, and write down what is read in the "
           "second half: x, or the sum?",
           "Each half has the form: what came, plus the part of the norm of what came.",
           "Draw two arrows around each part: one through the norm and the part, one past both. "
           "They meet in the sum."),
    example=Example((np.array([[1.0, 2.0], [3.0, 0.0]]), Watched(_doubled), Watched(_one_more),
                     Watched(_halved)), [[4, 7], [10, 1]]),
    reference=lambda x, attend, feed_forward, norm: np.add(
        np.add(x, attend(norm(x))), feed_forward(norm(np.add(x, attend(norm(x)))))),
    cases=(
        _BLOCK_ATTEND,
        _BLOCK_FEED,
        _BLOCK_PLAIN,
        _given("other numbers of this shape", _NORMS, _doubled, _one_more, _halved, n=2, d=2),
        _BLOCK_HALVED,
        _BLOCK,
        _BLOCK_SQUARE,
        _given("a single row", _NORMS, n=1, d=7),
    ),
    naming=(_BLOCK_ATTEND, _BLOCK_FEED, _BLOCK_PLAIN, _BLOCK_HALVED, _BLOCK, _BLOCK_SQUARE),
    mistakes=(
        Mistake(
            id="post-norm",
            seen="The norm comes after each sum, as in the first Transformer, and not before the "
                 "parts.",
            question="Is there a way from x to the result that passes no norm?",
            ways=(_sums(_after, _after), lambda x, attend, feed_forward, norm: norm(
                (y := norm(x + attend(x))) + feed_forward(y))),
            step=_FIRST,
        ),
        Mistake(
            id="one-post-norm",
            seen="In one of the halves the norm comes after the sum.",
            question="Which of the two sums is normed in your function?",
            ways=(_sums(_before, _after), _sums(_after, _before)),
            step=_SECOND,
        ),
        Mistake(
            id="no-residual",
            seen="What came in is added nowhere: each part replaces it.",
            question="If both parts give zeros, what should come out?",
            ways=(_sums(_no_sum, _no_sum),
                  lambda x, attend, feed_forward, norm: feed_forward(norm(attend(norm(x))))),
            step=_FIRST,
        ),
        Mistake(
            id="residual-missing-once",
            seen="One of the two sums is missing.",
            question="Count the plus signs: how many ways lead past a part?",
            ways=(_sums(_before, _no_sum), _sums(_no_sum, _before)),
            step=_SECOND,
        ),
        Mistake(
            id="residual-from-the-start",
            seen="The second sum adds x, not the first sum: what attention found is lost.",
            question="What does the second half add to what feed_forward gives?",
            ways=(_from_x_again, lambda x, attend, feed_forward, norm: x + feed_forward(
                norm(x + attend(norm(x))))),
            step=_SECOND,
        ),
        Mistake(
            id="residual-added-again",
            seen="x is added once more at the end, beside the sum that holds it already.",
            question="If both parts give zeros, how often is x in your result?",
            ways=(lambda *args: args[0] + _solve_block(*args), lambda x, attend, feed_forward, norm:
                  x + (y := x + attend(norm(x))) + feed_forward(norm(y))),
            step=_SECOND,
        ),
        Mistake(
            id="norm-on-residual",
            seen="The normed rows are added, not the rows themselves.",
            question="Which array goes past the part: x, or norm(x)?",
            ways=(_sums(_normed_sum, _normed_sum), lambda x, attend, feed_forward, norm: (
                z := norm((y := norm(x)) + attend(y))) + feed_forward(z)),
            step=_FIRST,
        ),
        Mistake(
            id="one-norm-on-residual",
            seen="In one of the halves the normed rows are added, not the rows themselves.",
            question="Which array goes past each of the parts?",
            ways=(_sums(_before, _normed_sum), _sums(_normed_sum, _before)),
            step=_SECOND,
        ),
        Mistake(
            id="feed-forward-before-attention",
            seen="The feed-forward network comes first.",
            question="Should a token be worked on before or after it has heard from the others?",
            ways=(lambda x, attend, feed_forward, norm: _solve_block(x, feed_forward, attend, norm),
                  lambda x, attend, feed_forward, norm: (y := x + feed_forward(norm(x)))
                  + attend(norm(y))),
            step=_FIRST,
        ),
        Mistake(
            id="side-by-side",
            seen="Both parts read x: the second does not see what the first has found.",
            question="What does feed_forward know of the other tokens?",
            ways=(_both_of_x, lambda x, attend, feed_forward, norm: x + attend(z := norm(x))
                  + feed_forward(z)),
            step=_SECOND,
        ),
        Mistake(
            id="no-norm",
            seen="norm is never used.",
            question="Which of your lines calls the fourth argument?",
            ways=(_sums(_bare, _bare),
                  lambda x, attend, feed_forward, norm: (y := attend(x) + x) + feed_forward(y)),
            step=_NORMS,
        ),
        Mistake(
            id="one-norm-missing",
            seen="One of the parts works on rows that were not normed.",
            question="What does each part read?",
            ways=(_sums(_before, _bare), _sums(_bare, _before)),
            step=_NORMS,
        ),
        Mistake(
            id="norm-after-part",
            seen="What a part gives is normed, not what it reads.",
            question="Which comes first on the way through a half: the norm, or the part?",
            ways=(_sums(_between, _between), lambda x, attend, feed_forward, norm:
                  (y := x + norm(attend(x))) + norm(feed_forward(y))),
            step=_NORMS,
        ),
        Mistake(
            id="one-norm-after-part",
            seen="In one of the halves it is the result of the part that is normed.",
            question="Are your two halves alike?",
            ways=(_sums(_before, _between), _sums(_between, _before)),
            step=_NORMS,
        ),
        Mistake(
            id="normed-twice",
            seen="There is a norm too many: before the part and again after it, or at the end.",
            question="How many norms does one block have?",
            ways=(_sums(_twice, _twice), lambda x, attend, feed_forward, norm: norm(
                _solve_block(x, attend, feed_forward, norm))),
            step=_NORMS,
        ),
        Mistake(
            id="half-a-block",
            seen="One of the parts is missing.",
            question="Where does your function use each of its three functions?",
            ways=(lambda x, attend, feed_forward, norm: _before(x, attend, norm),
                  lambda x, attend, feed_forward, norm: _before(x, feed_forward, norm)),
            step=_SECOND,
        ),
    ),
    variants=(_named, _loop, _in_place_of_copy, in_float32(_solve_block)),
    solution=_solve_block,
    stages=_BLOCK_STAGES,
)


# --- predict_block_weights ------------------------------------------------------------------------
PREDICT_BLOCK_WEIGHTS = prediction(
    id="predict_block_weights",
    chapter=CHAPTER,
    title="The weights of a block",
    signature="a whole number",
    shapes="",
    prompt="A block has d_model = 12. Its attention has 5 heads of width 4, which share one head "
           "of keys and values; its feed-forward network is a SwiGLU of d_feed = 30; it has two "
           "norms with a gain each, and no biases. How many weights has it in all? Write down a "
           "number before you run anything.",
    hints=("Write down the shapes of wq, wk, wv and wo. How wide is a joined row of all heads?",
           "A SwiGLU has a gate as well: three matrices, not two.",
           "Add up: queries and output, keys and values, the three matrices, two gains."),
    value=1680,
    steps=(Step("queries and output", "12·20 + 20·12 = 480"),
           Step("keys and values", "two times 12·4 = 96"),
           Step("feed-forward", "three times 12·30 = 1080"),
           Step("gains", "two times 12, in all 1680")),
    mistakes=(
        Mistake(
            id="square-projections",
            seen="wq and wo were taken for (d_model, d_model).",
            question="How many columns has wq, for 5 heads of width 4?",
            ways=(1488, 1488.0, 1464),
            step="queries and output",
        ),
        Mistake(
            id="no-output-projection",
            seen="The output projection wo was left out.",
            question="What brings the joined heads back to d_model?",
            ways=(1440, 1440.0, 1416),
            step="queries and output",
        ),
        Mistake(
            id="ignores-shared-kv",
            seen="Keys and values were counted for each of the 5 heads.",
            question="How many heads of keys and values are there?",
            ways=(2064, 2064.0, 2040),
            step="keys and values",
        ),
        Mistake(
            id="keys-only",
            seen="Keys were counted, and values were not; or the other way round.",
            question="Which matrix makes what a token hands over?",
            ways=(1632, 1632.0, 1608),
            step="keys and values",
        ),
        Mistake(
            id="gate-forgotten",
            seen="The feed-forward network was counted with two matrices.",
            question="Which matrix decides how much of each feature passes?",
            ways=(1320, 1320.0, 1296),
            step="feed-forward",
        ),
        Mistake(
            id="gains-forgotten",
            seen="The gains of the norms were left out.",
            question="How many numbers does an RMS norm learn for each feature?",
            ways=(1656, 1656.0),
            step="gains",
        ),
        Mistake(
            id="one-norm",
            seen="One norm was counted, not two.",
            question="Before which parts of the block does a norm stand?",
            ways=(1668, 1668.0),
            step="gains",
        ),
        Mistake(
            id="attention-only",
            seen="The feed-forward network was left out.",
            question="What stands in a block beside attention?",
            ways=(576, 600, 588),
            step="feed-forward",
        ),
        Mistake(
            id="feed-forward-only",
            seen="Attention's own matrices were left out.",
            question="How many weights have wq, wk, wv and wo?",
            ways=(1080, 1104, 1092),
            step="queries and output",
        ),
    ),
    variants=(1680, 1680.0, np.int64(1680)),
)


# --- fault_decode_positions -----------------------------------------------------------------------
def fault_decode_positions(q, k, turned_past):
    n, d = q.shape
    positions = np.arange(n)
    angles = np.outer(positions, 10000.0 ** (-np.arange(0, d, 2) / d))
    turn = np.exp(1j * angles)
    q_pairs = (q[:, 0::2] + 1j * q[:, 1::2]) * turn
    k_pairs = (k[:, 0::2] + 1j * k[:, 1::2]) * turn
    past_pairs = turned_past[:, 0::2] + 1j * turned_past[:, 1::2]
    every_key = np.concatenate([past_pairs, k_pairs])
    return (q_pairs @ every_key.conj().T).real


def _decoded(q_from=lambda past: past, k_from=lambda past: past, past_from=lambda past: None,
             order=lambda past, new: [past, new], step=1):
    """Return the scores, with the new queries and keys, or the past, turned from other places."""
    def turned(x, start):
        pairs = x[:, 0::2] + 1j * x[:, 1::2]
        if start is None:
            return pairs
        theta = 10000.0 ** (-np.arange(0, x.shape[1], 2) / x.shape[1])
        return pairs * np.exp(1j * np.outer(start + step * np.arange(len(x)), theta))

    def decode(q, k, turned_past):
        past = len(turned_past)
        keys = order(turned(turned_past, past_from(past)), turned(k, k_from(past)))
        return (turned(q, q_from(past)) @ np.concatenate(keys).conj().T).real

    return decode


def _solve_decode_positions(q, k, turned_past):
    n, d = q.shape
    positions = len(turned_past) + np.arange(n)
    angles = np.outer(positions, 10000.0 ** (-np.arange(0, d, 2) / d))
    turn = np.exp(1j * angles)
    q_pairs = (q[:, 0::2] + 1j * q[:, 1::2]) * turn
    k_pairs = (k[:, 0::2] + 1j * k[:, 1::2]) * turn
    past_pairs = turned_past[:, 0::2] + 1j * turned_past[:, 1::2]
    every_key = np.concatenate([past_pairs, k_pairs])
    return (q_pairs @ every_key.conj().T).real


def _decode_in_loops(q, k, turned_past):
    def turned(row, t):
        out = []
        for j in range(0, len(row), 2):
            c, s = np.cos(t * 10000 ** (-j / len(row))), np.sin(t * 10000 ** (-j / len(row)))
            out += [row[j] * c - row[j + 1] * s, row[j] * s + row[j + 1] * c]
        return np.array(out)

    past = len(turned_past)
    keys = [*turned_past, *(turned(row, past + i) for i, row in enumerate(k))]
    return [[turned(row, past + i) @ key for key in keys] for i, row in enumerate(q)]


def _reference_decode(q, k, turned_past):
    past, half = len(turned_past), np.arange(q.shape[1] // 2)
    angles = (past + np.arange(len(q)))[:, None] * 10000.0 ** (-2 * half / q.shape[1])
    c, s = np.cos(angles), np.sin(angles)
    q, k = (np.stack([x[:, 0::2] * c - x[:, 1::2] * s, x[:, 0::2] * s + x[:, 1::2] * c],
                     axis=-1).reshape(x.shape) for x in (q, k))
    return np.einsum("id,jd->ij", q, np.concatenate([turned_past, k]))


_DECODE_FIRST = Case((_draw(2, 4), _draw(2, 4), np.zeros((0, 4))), "no past", _SCORES)
_DECODE_NEW = Case((_draw(1, 2), np.zeros((1, 2)), _draw(3, 2)),
                   "one new token whose key is zeros, a past of 3", _QUERIES)
_DECODE = Case((_draw(1, 6), _draw(1, 6), _draw(5, 6)), "one new token, a past of 5", _QUERIES)
_DECODE_MANY = Case((_draw(3, 4), _draw(3, 4), _draw(7, 4)), "3 new tokens, a past of 7", _KEYS)

FAULT_DECODE_POSITIONS = Exercise(
    id="fault_decode_positions",
    chapter=CHAPTER,
    title="Mend the positions of decoded tokens",
    signature="fault_decode_positions(q, k, turned_past)",
    shapes="(n, d), (n, d), (n_past, d) → (n, n_past + n)",
    prompt="A cache holds the keys of earlier tokens, turned when they were stored: row t by "
           "position t. This listing turns the queries and keys of the n tokens that follow, and "
           "returns the scores of the new queries with all keys, past ones first, unscaled and "
           "unmasked. Without a past it is right; with one, every score is wrong. Find the line at "
           "fault and mend it.",
    hints=("Print positions for one new token and a past of 5. At which place of the text does "
           "this token stand?",
           "A score depends on the distance of two positions. How far is the new token from the "
           "last one of the past, by the listing's count?",
           "The count has to go on where the past ends: its first number is the length of "
           "turned_past."),
    example=Example((np.array([[1.0, 0]]), np.array([[0.0, 1]]), np.array([[1.0, 0], [0, 2]])),
                    [[np.cos(2), 2 * np.sin(2), 0]]),
    reference=_reference_decode,
    cases=(
        _DECODE_FIRST,
        Case((_draw(1, 2), _draw(1, 2), _draw(2, 2)), "other numbers of these shapes", _QUERIES),
        _DECODE_NEW,
        _DECODE,
        _DECODE_MANY,
        Case((_draw(5, 2), _draw(5, 2), _draw(1, 2)), "5 new tokens, a past of 1", _KEYS),
    ),
    naming=(_DECODE_FIRST, _DECODE_NEW, _DECODE, _DECODE_MANY),
    mistakes=(
        Mistake(
            id="counts-from-zero",
            seen="The new tokens are counted from 0, as if there were no past.",
            question="How far apart are the new token and the last one of the past?",
            ways=(fault_decode_positions, _decoded(lambda past: 0, lambda past: 0)),
            step=_QUERIES,
        ),
        Mistake(
            id="one-too-many",
            seen="The first new token is put one place too far.",
            question="If the past has the positions 0 to 4, which one comes next?",
            ways=(_decoded(lambda past: past + 1, lambda past: past + 1),
                  _decoded(lambda past: past + (past > 0), lambda past: past + (past > 0))),
            step=_QUERIES,
        ),
        Mistake(
            id="one-too-few",
            seen="The first new token is given the position of the last one of the past.",
            question="If the past has 5 tokens, which position has the last of them?",
            ways=(_decoded(lambda past: past - 1, lambda past: past - 1),
                  _decoded(lambda past: max(past - 1, 0), lambda past: max(past - 1, 0))),
            step=_QUERIES,
        ),
        Mistake(
            id="only-queries-moved",
            seen="The new queries stand where they should, and the new keys are counted from 0.",
            question="How far is a new token's query from its own key?",
            ways=(_decoded(k_from=lambda past: 0), _decoded(k_from=lambda past: None)),
            step=_KEYS,
        ),
        Mistake(
            id="only-keys-moved",
            seen="The new keys stand where they should, and the new queries are counted from 0.",
            question="From which position does a new query look at the past?",
            ways=(_decoded(q_from=lambda past: 0), _decoded(q_from=lambda past: None)),
            step=_QUERIES,
        ),
        Mistake(
            id="past-turned-again",
            seen="The keys of the past are turned a second time.",
            question="By which angle had the past been turned when it was stored?",
            ways=(_decoded(past_from=lambda past: 0), _decoded(lambda past: 0, lambda past: 0,
                                                               lambda past: 0)),
            step=_KEYS,
        ),
        Mistake(
            id="same-place-for-all",
            seen="All new tokens are given the same position.",
            question="Which position has the second of three new tokens?",
            ways=(_decoded(step=0), _decoded(lambda past: past + 2, lambda past: past + 2, step=0)),
            step=_QUERIES,
        ),
        Mistake(
            id="past-last",
            seen="The new keys come before those of the past.",
            question="Which key does column 0 of the scores belong to?",
            ways=(_decoded(order=lambda past, new: [new, past]),
                  lambda q, k, turned_past: np.roll(_reference_decode(q, k, turned_past), len(k),
                                                    axis=1)),
            step=_SCORES,
        ),
    ),
    variants=(_decoded(), _decode_in_loops, in_float32(_decoded())),
    solution=_solve_decode_positions,
    faulty=fault_decode_positions,
)
