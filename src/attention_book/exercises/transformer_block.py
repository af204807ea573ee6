"""The exercises of the chapter on the block: what stands around attention."""

import math

import numpy as np

from attention_book.block_parts import rms_norm
from attention_book.exercises.block_steps import (
    BLOCK,
    FAULT_DECODE_POSITIONS,
    PREDICT_BLOCK_WEIGHTS,
)
from attention_book.exercises.building_blocks import in_float32
from attention_book.exercises.model import Case, Example, Exercise, Mistake
from attention_book.exercises.stages import Stage, sets
from attention_book.positions import rotary

CHAPTER = "09_transformer_block"

_rng = np.random.default_rng(9)
_SQUARE, _EPSILON, _ROOT, _GAIN = "the mean square", "the epsilon", "the root", "the gain"
_PAIRS, _FREQUENCY, _POSITION, _TURN = "the pairs", "the frequencies", "the positions", "the turn"


def _draw(*shape):
    return _rng.normal(size=shape).round(3)


# --- rms_norm(x, gain, eps) -----------------------------------------------------------------------
def _normed(square=lambda x: np.mean(x**2, axis=-1, keepdims=True),
            root=lambda square, eps: np.sqrt(square + eps), gain=lambda x, gain: x * gain,
            shift=lambda x: x):
    """Return a norm, some step of which is done in another way."""
    def norm(x, weight, eps):
        x = shift(x)
        return gain(x / root(square(x), eps), weight)

    return norm


def _solve_rms_norm(x, gain, eps):
    mean_square = np.mean(x**2, axis=-1, keepdims=True)
    return x / np.sqrt(mean_square + eps) * gain


def _rms_norm_in_loops(x, gain, eps):
    out = np.zeros(x.shape)
    for i, row in enumerate(x):
        total = 0.0
        for number in row:
            total += number * number
        root = math.sqrt(total / len(row) + eps)
        for j, number in enumerate(row):
            out[i, j] = number / root * gain[j]
    return out


def _reference_rms_norm(x, gain, eps):
    rows = []
    for row in x.tolist():
        root = math.sqrt(math.fsum(a * a for a in row) / len(row) + eps)
        rows.append([a / root * g for a, g in zip(row, gain.tolist(), strict=True)])
    return rows


def _centred(x):
    return x - x.mean(axis=-1, keepdims=True)


_ONES = np.ones(5)
_NORM = Case((_draw(3, 5) + 0.5, _ONES, 1e-6), "3 rows of 5, gain 1, a tiny epsilon", _SQUARE)
_NORM_SQUARE = Case((_draw(5, 5), _ONES, 1e-6), "as many rows as features", _SQUARE)
_NORM_EPSILON = Case((_draw(3, 7), np.ones(7), 2.0), "an epsilon of 2", _EPSILON)
_NORM_GAIN = Case((_draw(7, 3), np.array([2.0, -0.5, 3]), 0.25), "gains 2, −0.5 and 3", _GAIN)
_NORM_ZEROS = Case((np.array([[0.0, 0, 0], [1, 2, -3]]), np.array([1.0, 2, 3]), 0.125),
                   "a row of zeros", _EPSILON)

_NORM_STAGES = (
    Stage(sets("x", lambda t: t.args[0]), (
        (("subtracts-mean",), sets("x", lambda t: _centred(t.args[0]))),)),
    Stage(sets("square", lambda t: np.mean(t.x**2, axis=-1, keepdims=True)), (
        (("sum-not-mean",), sets("square", lambda t: np.sum(t.x**2, axis=-1, keepdims=True))),
        (("wrong-axis",), sets("square", lambda t: np.mean(t.x**2, axis=0))),
        (("one-for-all",), sets("square", lambda t: np.mean(t.x**2))))),
    Stage(sets("root", lambda t: np.sqrt(t.square + t.args[2])), (
        (("epsilon-outside-sqrt",), sets("root", lambda t: np.sqrt(t.square) + t.args[2])),
        (("no-epsilon",), sets("root", lambda t: np.sqrt(t.square))),
        (("no-root",), sets("root", lambda t: t.square + t.args[2])))),
    Stage(sets("result", lambda t: t.x / t.root * t.args[1]), (
        (("no-gain",), sets("result", lambda t: t.x / t.root)),
        (("gain-added",), sets("result", lambda t: t.x / t.root + t.args[1])),)),
)

_RMS_NORM = Exercise(
    id="rms_norm",
    chapter=CHAPTER,
    title="Rows of one size",
    signature="rms_norm(x, gain, eps)",
    shapes="(n, d_model), (d_model,), a number → (n, d_model)",
    prompt="Write rms_norm(x, gain, eps): every row of x is divided by the square root of (the "
           "mean of its squares, plus eps), and then feature j of every row is multiplied by "
           "gain[j].",
    hints=("Work out the first row of the example by hand. Which number is its mean square?",
           "The mean runs over the features of one row. Which axis is that, and how does a column "
           "of means divide the rows?",
           "Square, mean over the last axis with keepdims, add eps, then the root: in this order. "
           "Divide, and multiply by the gain at the end."),
    example=Example((np.array([[3.0, -3], [0, 0]]), np.array([1.0, 10]), 16.0),
                    [[0.6, -6], [0, 0]]),
    reference=_reference_rms_norm,
    cases=(
        _NORM,
        _NORM_SQUARE,
        _NORM_EPSILON,
        Case((np.array([[1.0, 2], [4, -2]]), np.array([3.0, 0.5]), 0.5),
             "other numbers of this shape", _EPSILON),
        _NORM_ZEROS,
        _NORM_GAIN,
        Case((_draw(2, 5) * 1000, np.array([1.0, -1, 2, 0, 0.5]), 1e-5), "large numbers", _GAIN),
        Case((_draw(1, 7), np.linspace(-1, 2, 7), 1.0), "a single row", _GAIN),
    ),
    naming=(_NORM, _NORM_SQUARE, _NORM_EPSILON, _NORM_GAIN, _NORM_ZEROS),
    mistakes=(
        Mistake(
            id="subtracts-mean",
            seen="The mean of each row is subtracted first, as in layer normalisation.",
            question="Should a row of equal numbers become a row of zeros?",
            ways=(_normed(shift=_centred),
                  _normed(square=lambda x: x.var(axis=-1, keepdims=True), shift=_centred),
                  _normed(square=lambda x: x.var(axis=-1, keepdims=True)),
                  _normed(square=lambda x: np.mean(_centred(x) ** 2, axis=-1, keepdims=True))),
            step=_SQUARE,
        ),
        Mistake(
            id="epsilon-outside-sqrt",
            seen="The epsilon is added to the root, not to the mean square.",
            question="Which comes first: adding eps, or taking the root?",
            ways=(_normed(root=lambda square, eps: np.sqrt(square) + eps),
                  lambda x, gain, eps: gain * x / (np.linalg.norm(x, axis=1)[:, None]
                                                   / x.shape[1] ** 0.5 + eps)),
            step=_EPSILON,
        ),
        Mistake(
            id="sum-not-mean",
            seen="The squares are summed and not averaged: each row gets the length one.",
            question="What is the mean square of a row of ones, and what would its sum be?",
            ways=(_normed(square=lambda x: np.sum(x**2, axis=-1, keepdims=True)),
                  _normed(square=lambda x: np.linalg.norm(x, axis=-1, keepdims=True) ** 2),
                  lambda x, gain, eps: x / np.sqrt((x * x).sum(1) + eps)[:, None] * gain),
            step=_SQUARE,
        ),
        Mistake(
            id="wrong-axis",
            seen="The mean runs down the columns, over the rows, not along each row.",
            question="Should one token's size depend on the other tokens?",
            ways=(_normed(square=lambda x: np.mean(x**2, axis=0)),
                  _normed(square=lambda x: np.mean(x**2, axis=0, keepdims=True)),
                  lambda x, gain, eps: _solve_rms_norm(x.T, 1.0, eps).T * gain),
            step=_SQUARE,
        ),
        Mistake(
            id="one-for-all",
            seen="One mean is taken over the whole array, so that large rows stay large.",
            question="How many mean squares do you need for 3 rows?",
            ways=(_normed(square=lambda x: np.mean(x**2)),
                  _normed(square=lambda x: (x * x).sum() / x.size)),
            step=_SQUARE,
        ),
        Mistake(
            id="no-keepdims",
            seen="The roots of the rows meet the columns: the shapes do not fit, or fit by chance.",
            question="Which shape has the array of roots, and how does it broadcast against x?",
            ways=(_normed(square=lambda x: np.mean(x**2, axis=-1)),
                  lambda x, gain, eps: x * gain / np.sqrt((x**2).sum(1) / x.shape[1] + eps)),
            step=_SQUARE,
        ),
        Mistake(
            id="no-gain",
            seen="The gain is not used.",
            question="Where does your function use its second argument?",
            ways=(_normed(gain=lambda x, gain: x), lambda x, gain, eps: [
                row / math.sqrt(np.mean(row**2) + eps) for row in x]),
            step=_GAIN,
        ),
        Mistake(
            id="gain-added",
            seen="The gain is added where it should multiply.",
            question="What should a gain of 1 do to a feature?",
            ways=(_normed(gain=lambda x, gain: x + gain), _normed(gain=lambda x, gain: gain + x)),
            step=_GAIN,
        ),
        Mistake(
            id="gain-before-norm",
            seen="The gain is multiplied in before the mean square is taken.",
            question="Is the size of the row measured before the gain, or after it?",
            ways=(lambda x, gain, eps: _solve_rms_norm(x * gain, 1.0, eps),
                  lambda x, gain, eps: x * gain / np.sqrt(
                      np.mean((x * gain) ** 2, axis=1, keepdims=True) + eps)),
            step=_GAIN,
        ),
        Mistake(
            id="gain-divides",
            seen="The rows are divided by the gain.",
            question="Should a larger gain make a feature larger or smaller?",
            ways=(_normed(gain=lambda x, gain: x / gain),
                  lambda x, gain, eps: x / (np.sqrt(np.mean(x**2, 1, keepdims=True) + eps) * gain)),
            step=_GAIN,
        ),
        Mistake(
            id="no-epsilon",
            seen="The epsilon is left out: a row of zeros becomes NaN.",
            question="What does 0 / 0 give, and what should a row of zeros give?",
            ways=(_normed(root=lambda square, eps: np.sqrt(square)),
                  _normed(root=lambda square, eps: np.sqrt(np.where(square == 0, 1, square)))),
            step=_EPSILON,
        ),
        Mistake(
            id="no-root",
            seen="The rows are divided by the mean square itself: its root is missing.",
            question="If all numbers of a row double, what happens to their mean square, and what "
                     "should happen to the result?",
            ways=(_normed(root=lambda square, eps: square + eps),
                  lambda x, gain, eps: gain * x / ((x * x).sum(1, keepdims=True) / x.shape[1]
                                                   + eps)),
            step=_ROOT,
        ),
        Mistake(
            id="mean-of-sizes",
            seen="The mean of the absolute values is taken, not the root of the mean square.",
            question="What is the mean square of 0 and 2, and what is the root of it?",
            ways=(_normed(square=lambda x: np.abs(x).mean(axis=-1, keepdims=True) ** 2),
                  _normed(square=lambda x: np.abs(x).mean(axis=-1, keepdims=True),
                          root=lambda size, eps: size + eps)),
            step=_SQUARE,
        ),
        Mistake(
            id="square-of-mean",
            seen="The mean is squared, not the numbers: rows whose mean is near 0 become huge.",
            question="Which is first, the square or the mean?",
            ways=(_normed(square=lambda x: np.mean(x, axis=-1, keepdims=True) ** 2),
                  _normed(square=lambda x: (x.sum(axis=-1, keepdims=True) / x.shape[1]) ** 2)),
            step=_SQUARE,
        ),
        Mistake(
            id="multiplied",
            seen="The rows are multiplied by the root, not divided by it.",
            question="Should a row of large numbers become larger?",
            ways=(lambda x, gain, eps: x * np.sqrt(np.mean(x**2, 1, keepdims=True) + eps) * gain,
                  _normed(root=lambda square, eps: 1 / np.sqrt(square + eps))),
            step=_ROOT,
        ),
    ),
    variants=(
        _rms_norm_in_loops,
        in_float32(_solve_rms_norm),
        lambda x, gain, eps: [gain * row / math.sqrt(row @ row / len(row) + eps) for row in x],
        lambda x, gain, eps: np.einsum("ij,j,i->ij", x, gain, (
            np.einsum("ij,ij->i", x, x) / x.shape[1] + eps) ** -0.5),
    ),
    solution=_solve_rms_norm,
    stages=_NORM_STAGES,
    package=(rms_norm,),
)


# --- rotary(x, positions) -------------------------------------------------------------------------
def _thetas(d):
    return 10000.0 ** (-np.arange(0, d, 2) / d)


def _turned(theta=_thetas, angle=lambda positions, n: positions, sign=1,
            parts=lambda x: (x[:, 0::2], x[:, 1::2]), join=None):
    """Return a rotation, some step of which is done in another way."""
    def turn(x, positions):
        angles = np.outer(angle(np.asarray(positions), len(x)), theta(x.shape[1]))
        cos, sin = np.cos(angles), sign * np.sin(angles)
        first, second = parts(x)
        out = first * cos - second * sin, first * sin + second * cos
        if join:
            return join(*out)
        result = np.empty(x.shape)
        result[:, 0::2], result[:, 1::2] = out
        return result

    return turn


def _halves(x):
    return x[:, :x.shape[1] // 2], x[:, x.shape[1] // 2:]


def _beside(first, second):
    return np.concatenate([first, second], axis=1)


def _solve_rotary(x, positions):
    d = x.shape[1]
    angles = np.outer(positions, 10000.0 ** (-np.arange(0, d, 2) / d))  # (n, d / 2)
    first, second = x[:, 0::2], x[:, 1::2]
    out = np.empty(x.shape)
    out[:, 0::2] = first * np.cos(angles) - second * np.sin(angles)
    out[:, 1::2] = first * np.sin(angles) + second * np.cos(angles)
    return out


def _rotary_in_loops(x, positions):
    out = np.zeros(x.shape)
    n, d = x.shape
    for i in range(n):
        for j in range(0, d, 2):
            angle = positions[i] / 10000 ** (j / d)
            c, s = math.cos(angle), math.sin(angle)
            out[i, j] = x[i, j] * c - x[i, j + 1] * s
            out[i, j + 1] = x[i, j] * s + x[i, j + 1] * c
    return out


def _complex_with(x, positions, theta):
    z = (x[:, 0::2] + 1j * x[:, 1::2]) * np.exp(1j * np.outer(positions, theta))
    return np.stack([z.real, z.imag], axis=-1).reshape(x.shape)


def _complex(x, positions):
    return _complex_with(x, positions, _thetas(x.shape[1]))


def _mixed_with(rule):
    """Return a rotation that makes a pair of (a, b), the cosine and the sine by a rule."""
    def turn(x, positions):
        angles = np.outer(positions, _thetas(x.shape[1]))
        out = np.empty(x.shape)
        out[:, 0::2], out[:, 1::2] = rule(x[:, 0::2], x[:, 1::2], np.cos(angles), np.sin(angles))
        return out

    return turn


def _one_after_the_other(x, positions):
    out = x.astype(float)
    angles = np.outer(positions, _thetas(x.shape[1]))
    out[:, 0::2] = out[:, 0::2] * np.cos(angles) - out[:, 1::2] * np.sin(angles)
    out[:, 1::2] = out[:, 0::2] * np.sin(angles) + out[:, 1::2] * np.cos(angles)
    return out


def _matrices(x, positions):
    out = []
    for row, t in zip(x, positions, strict=True):
        angles = t * _thetas(len(row))
        turns = [np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]) for a in angles]
        out.append(np.concatenate([turn @ pair for turn, pair in
                                   zip(turns, row.reshape(-1, 2), strict=True)]))
    return np.array(out)


def _halves_in_loops(x, positions):
    out = np.zeros(x.shape)
    n, half = len(x), x.shape[1] // 2
    for i in range(n):
        for j in range(half):
            c, s = (f(positions[i] * 10000 ** (-j / half)) for f in (math.cos, math.sin))
            out[i, j] = x[i, j] * c - x[i, j + half] * s
            out[i, j + half] = x[i, j] * s + x[i, j + half] * c
    return out


def _reference_rotary(x, positions):
    rows = []
    for row, t in zip(x.tolist(), np.asarray(positions).tolist(), strict=True):
        out = []
        for j in range(0, len(row), 2):
            number = complex(row[j], row[j + 1])
            angle = t * 10000.0 ** (-j / len(row))
            number *= complex(math.cos(angle), math.sin(angle))
            out += [number.real, number.imag]
        rows.append(out)
    return rows


def _joined(t):
    result = np.empty(t.x.shape)
    result[:, 0::2], result[:, 1::2] = t.out
    return result


def _turns(sign=1, other=1):
    return sets("out", lambda t: (t.parts[0] * np.cos(t.angles) - sign * t.parts[1] * np.sin(
        t.angles), other * t.parts[0] * np.sin(t.angles) + t.parts[1] * np.cos(t.angles)))


_ROTARY_STAGES = (
    Stage(sets("x", lambda t: t.args[0]), ()),
    Stage(sets("places", lambda t: t.args[1]), (
        (("ignores-positions",), sets("places", lambda t: np.arange(len(t.x)))),
        (("counted-from-the-first",), sets("places", lambda t: t.args[1] - t.args[1][0])))),
    Stage(sets("pairing", lambda t: (lambda x: (x[:, 0::2], x[:, 1::2]), _joined)), (
        (("halves-not-pairs",), sets("pairing", lambda t: (_halves, lambda t: _beside(*t.out)))),
        (("pairs-not-rejoined",), sets("pairing", lambda t: (
            lambda x: (x[:, 0::2], x[:, 1::2]), lambda t: _beside(*t.out)))))),
    Stage(sets("theta", lambda t: _thetas(t.x.shape[1])), (
        (("same-frequency",), sets("theta", lambda t: np.ones(t.x.shape[1] // 2))),
        (("frequency-upside-down",), sets("theta", lambda t: 1 / _thetas(t.x.shape[1]))),
        (("frequency-of-i",), sets("theta", lambda t: _thetas(2 * t.x.shape[1])[
            :t.x.shape[1] // 2])),
        (("pairs-reversed",), sets("theta", lambda t: _thetas(t.x.shape[1])[::-1])))),
    Stage(lambda t: (setattr(t, "parts", t.pairing[0](t.x)),
                     setattr(t, "angles", np.outer(t.places, t.theta))), ()),
    Stage(_turns(), (
        (("clockwise",), _turns(-1, -1)),
        (("same-sign-twice",), _turns(-1, 1)))),
    Stage(sets("result", lambda t: t.pairing[1](t)), ()),
)

_ROT_ONE = Case((_draw(3, 2), np.array([1, 2, 3])), "a single pair, positions 1, 2, 3", _TURN)
_ROT_PAST = Case((_draw(3, 2), np.array([7, 8, 9])), "a single pair, positions 7, 8, 9", _POSITION)
_ROT = Case((_draw(5, 6), np.array([1, 2, 3, 4, 5])), "3 pairs, positions from 1", _PAIRS)
_ROT_FAR = Case((_draw(3, 10), np.array([40, 2, 11])), "5 pairs, positions in no order", _FREQUENCY)
_ROT_ZERO = Case((_draw(2, 4), np.array([0, 1])), "positions 0 and 1", _PAIRS)

_ROTARY = Exercise(
    id="rotary",
    chapter=CHAPTER,
    title="Turn each pair by its position",
    signature="rotary(x, positions)",
    shapes="(n, d), (n,) → (n, d)",
    prompt="Write rotary(x, positions). d is even, and features 2i and 2i + 1 of a row are one "
           "pair, a point in the plane. It is turned counter-clockwise by positions[row] times "
           "10000 to the power −2i/d. So (1, 0) becomes (cos, sin) of that angle.",
    hints=("Take one pair alone first, (1, 0), and turn it by an angle a. Which two numbers come "
           "out? And which come out of (0, 1)?",
           "An array of angles has a row for each position and a column for each pair: (n, d / 2). "
           "x[:, 0::2] holds the first feature of every pair.",
           "First feature: first * cos − second * sin. Second feature: first * sin + second * cos. "
           "Write them to the columns 0::2 and 1::2 of the result."),
    example=Example((np.array([[1.0, 0, 1, 0], [0, 1, 0, 1]]), np.array([0.0, math.pi / 2])),
                    [[1, 0, 1, 0], [-1, 0, -math.sin(math.pi / 200), math.cos(math.pi / 200)]]),
    reference=_reference_rotary,
    cases=(
        _ROT_ONE,
        _ROT_PAST,
        _ROT_ZERO,
        _ROT,
        Case((_draw(2, 4), np.array([0.5, 3.0])), "other numbers of this shape", _FREQUENCY),
        _ROT_FAR,
        Case((_draw(1, 14), np.array([300])), "7 pairs, position 300", _FREQUENCY),
        Case((_draw(7, 2), np.arange(7)), "a single pair, positions from 0", _POSITION),
    ),
    naming=(_ROT_ONE, _ROT_PAST, _ROT, _ROT_FAR, _ROT_ZERO),
    mistakes=(
        Mistake(
            id="halves-not-pairs",
            seen="Feature i is paired with feature i + d/2, and not with its neighbour.",
            question="With four features, which one belongs to feature 0?",
            ways=(_turned(parts=_halves, join=_beside),
                  _halves_in_loops),
            step=_PAIRS,
        ),
        Mistake(
            id="pairs-not-rejoined",
            seen="The pairs are turned rightly, and then all first features are put before all "
                 "second ones.",
            question="In which columns of the result should the first pair stand?",
            ways=(_turned(join=_beside),
                  lambda x, positions: np.hstack([_solve_rotary(x, positions)[:, j::2]
                                                  for j in (0, 1)])),
            step=_PAIRS,
        ),
        Mistake(
            id="halves-written-to-pairs",
            seen="The halves of a row are turned with each other, and the result is written to "
                 "neighbours.",
            question="Which two columns are read for a pair, and to which two are they written?",
            ways=(_turned(parts=_halves), lambda x, positions: _solve_rotary(
                np.stack(_halves(x), axis=-1).reshape(x.shape), positions)),
            step=_PAIRS,
        ),
        Mistake(
            id="ignores-positions",
            seen="The rows are counted from 0, or from 1, whatever the positions say.",
            question="After a past of 7 tokens, which position has the first new one?",
            ways=(_turned(angle=lambda positions, n: np.arange(n)),
                  _turned(angle=lambda positions, n: np.arange(1, n + 1)),
                  lambda x, positions: _complex(x, np.arange(len(x)))),
            step=_POSITION,
        ),
        Mistake(
            id="counted-from-the-first",
            seen="The positions are taken from the first one on, so that only distances within the "
                 "array count.",
            question="What should happen to a single row at position 7?",
            ways=(_turned(angle=lambda positions, n: positions - positions[0]),
                  lambda x, positions: _complex(x, positions - np.min(positions))),
            step=_POSITION,
        ),
        Mistake(
            id="not-turned",
            seen="The rows come out as they went in.",
            question="At which step do the positions enter?",
            ways=(lambda x, positions: x.copy(), lambda x, positions: _complex(x, 0 * positions),
                  lambda x, positions: x * 1.0),
            step=_TURN,
        ),
        Mistake(
            id="clockwise",
            seen="The pairs are turned the other way round.",
            question="Where does (1, 0) go, and is the second number positive?",
            ways=(_turned(sign=-1), lambda x, positions: _complex(x, -positions)),
            step=_TURN,
        ),
        Mistake(
            id="same-frequency",
            seen="All pairs turn by the same angle.",
            question="Which number of 10000 to the power −2i/d belongs to the second pair?",
            ways=(_turned(theta=lambda d: np.ones(d // 2)),
                  _turned(theta=lambda d: np.full(d // 2, _thetas(d)[-1])),
                  lambda x, positions: np.concatenate([
                      _solve_rotary(x[:, j : j + 2], positions)
                      for j in range(0, x.shape[1], 2)], axis=1)),
            step=_FREQUENCY,
        ),
        Mistake(
            id="frequency-upside-down",
            seen="Later pairs turn faster, not more slowly.",
            question="Is 10000 to the power −2i/d above 1 or below 1?",
            ways=(_turned(theta=lambda d: 1 / _thetas(d)),
                  lambda x, positions: _complex_with(x, positions, 10000.0 ** (
                      np.arange(0, x.shape[1], 2) / x.shape[1]))),
            step=_FREQUENCY,
        ),
        Mistake(
            id="frequency-of-i",
            seen="The exponent counts pairs where it should count features, or the reverse.",
            question="For d = 4, which exponent has the second pair?",
            ways=(_turned(theta=lambda d: 10000.0 ** (-np.arange(d // 2) / d)),
                  _turned(theta=lambda d: 10000.0 ** (-2 * np.arange(0, d, 2) / d)),
                  _turned(theta=lambda d: 10000.0 ** (-np.arange(0, d, 2) / (d // 2))),
                  _turned(theta=lambda d: 10000.0 ** (-np.arange(d // 2, dtype=float)))),
            step=_FREQUENCY,
        ),
        Mistake(
            id="pairs-reversed",
            seen="The last pair turns fastest: the frequencies come in the opposite order.",
            question="Which pair turns by one radian a position?",
            ways=(_turned(theta=lambda d: _thetas(d)[::-1]),
                  lambda x, positions: _complex_with(x, positions, _thetas(x.shape[1])[::-1])),
            step=_FREQUENCY,
        ),
        Mistake(
            id="sine-and-cosine-swapped",
            seen="Sine and cosine have changed places: at position 0 a pair is already turned.",
            question="What are the cosine and the sine of 0?",
            ways=(_mixed_with(lambda a, b, c, s: (a * s - b * c, a * c + b * s)),
                  _mixed_with(lambda a, b, c, s: (a * s + b * c, b * s - a * c))),
            step=_TURN,
        ),
        Mistake(
            id="same-sign-twice",
            seen="Both results have the same sign before the sine, so that lengths change.",
            question="Is the pair as long as before?",
            ways=(_mixed_with(lambda a, b, c, s: (a * c + b * s, a * s + b * c)),
                  _mixed_with(lambda a, b, c, s: (a * c - b * s, b * c - a * s))),
            step=_TURN,
        ),
        Mistake(
            id="turned-in-place",
            seen="The second feature is worked out from the first one's new value.",
            question="Which value of the first feature does your second line read?",
            ways=(_one_after_the_other, _mixed_with(
                lambda a, b, c, s: (a * c - b * s, (a * c - b * s) * s + b * c))),
            step=_TURN,
        ),
        Mistake(
            id="not-mixed",
            seen="Each feature is multiplied by a cosine or a sine of its own: nothing passes from "
                 "one feature of a pair to the other.",
            question="Where does (1, 0) go when it is turned by a quarter?",
            ways=(_mixed_with(lambda a, b, c, s: (a * c, b * s)),
                  _mixed_with(lambda a, b, c, s: (a * c, b * c))),
            step=_TURN,
        ),
        Mistake(
            id="position-added",
            seen="Sines and cosines of the positions are added to the rows; nothing is turned.",
            question="Does a row of zeros stay a row of zeros?",
            ways=(_mixed_with(lambda a, b, c, s: (a + s, b + c)),
                  _mixed_with(lambda a, b, c, s: (a + c, b + s))),
            step=_TURN,
        ),
    ),
    variants=(_rotary_in_loops, _complex, _matrices, in_float32(_solve_rotary)),
    solution=_solve_rotary,
    stages=_ROTARY_STAGES,
    package=(rotary,),
)

EXERCISES = (_RMS_NORM, _ROTARY, BLOCK, PREDICT_BLOCK_WEIGHTS, FAULT_DECODE_POSITIONS)
