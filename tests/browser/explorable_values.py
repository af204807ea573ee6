"""What a moving figure shows, read from its page, and what it must show by the package."""

import json

import numpy as np
import pytest

from attention_book.explorables import (
    Agreement,
    BlockWalk,
    Cache,
    Heads,
    Mixing,
    RealHeads,
    SoftmaxUnderStress,
    Tiles,
    Training,
    Triangle,
    WhySqrtD,
)
from attention_book.explorables.mixing import WK, WV

SHOWN = """figure => [...figure.querySelectorAll("[data-value]")]
  .filter(one => one.checkVisibility() || one.closest(".ab-roomy"))  // left out where it is narrow
  .map(one => [`${one.dataset.value} ${one.dataset.index ?? ""}`.trim(), one.dataset.exact])"""


def agrees(figure, shown):
    """Assert that a figure on a page shows what the package computes, and nothing beside it."""
    found = shown.evaluate(SHOWN)
    wanted = next(values(figure) for kind, values in EXPECTED.items() if isinstance(figure, kind))
    assert len(found) == len(dict(found)) and dict(found).keys() == wanted.keys()
    for name, text in found:
        value = json.loads(text) if text.startswith(("[", "null")) else float(text)
        assert value == pytest.approx(wanted[name], rel=1e-5, abs=1e-5, nan_ok=True), name


def entries(name, array, where=True, first=()):
    """Return the numbers of an array by name and index, those for which ``where`` holds."""
    array = np.asarray(array, float)
    where = np.broadcast_to(where, array.shape)
    return {" ".join([name, ",".join(map(str, (*first, *index)))]).strip(): array[index].item()
            for index in np.ndindex(array.shape) if where[index]}


def agreement(figure):
    query, key = np.array(figure.query), np.array(figure.key)
    lengths = np.linalg.norm(query), np.linalg.norm(key)
    return {"dot": figure.dot, "cosine": figure.dot / np.prod(lengths) if all(lengths) else 0.0,
            "projection": figure.dot / lengths[0] if lengths[0] else 0.0}


def why_sqrt_d(figure):
    wanted = {}
    for name, side in (("unscaled", figure.unscaled), ("scaled", figure.scaled)):
        wanted |= entries(f"{name}-scores", side.scores[figure.query])
        wanted |= entries(f"{name}-weights", side.weights)
        wanted |= {f"{name}-entropy": side.entropy, f"{name}-gradient": side.gradient,
                   f"{name}-spread": side.scores.std(), f"{name}-largest": side.largest}
    return wanted


def softmax_under_stress(figure):
    wanted = {f"breaks {name}": list(pair) for name, pair in figure.breaks.items()}
    for way in ("naive", "stable"):
        for name, result in getattr(figure, way).items():
            wanted |= entries(f"{way}-exponentials", result.exponentials, first=[name])
            wanted |= entries(f"{way}-weights", result.weights, first=[name])
            wanted |= {f"{way}-total {name}": float(result.total),
                       f"{way}-error {name}": result.error}
    return wanted


def mixing(figure):
    return {**entries("scores", figure.scores), **entries("weights", figure.weights),
            **entries("mixture", figure.mixture), **entries("keys", figure.x @ WK),
            **entries("values", figure.x @ WV)}


def triangle(figure):
    return {**entries("scores", figure.scores), **entries("mask", figure.mask, figure.mask),
            **entries("weights", figure.weights, figure.mask),
            **entries("outputs", figure.outputs), **entries("moved", figure.moved)}


def heads(figure):
    """The target of split or merge fills up in the order of its memory."""
    carried, to_heads = np.arange(16) < figure.step, figure.way == "split"
    here = carried.reshape(figure.split.shape) if to_heads else np.ones(figure.split.shape, bool)
    wanted = entries("received", figure.received)
    wanted |= entries("wide", figure.wide, True if to_heads else carried.reshape(4, 4))
    for h, weights in enumerate(figure.weights):
        wanted |= entries(f"weights-{h}", weights) | entries(f"split-{h}", figure.split[h], here[h])
    return wanted


def cache(figure):
    n, head = figure.step, figure.head
    shares = [h for h in range(4)
              if h * figure.n_kv_heads // 4 == head * figure.n_kv_heads // 4]
    held = figure.kv.keys.nbytes + figure.kv.values.nbytes
    wanted = entries("weights", figure.weights[head], np.tri(n, dtype=bool))
    for feature, x in enumerate(figure.mixture[head]):
        wanted[f"mixture-{feature}"] = float(x)
    for name, counts in figure.work.items():
        wanted |= entries(name, counts)
    return wanted | {"served": shares, "held": held if figure.cached else 0,
                     "unshared": held * 4 // figure.n_kv_heads}


def tiles(figure):
    """The chosen row has a line for each of its tiles so far, with the values after it."""
    settings = {name: getattr(figure, name) for name in figure.state() if name not in "qkv"}
    done = figure.tiles[:figure.step]
    first = figure.row - figure.row % figure.query_chunk
    steps = [step for step, (block, _) in enumerate(done, 1) if block == first]
    at = [Tiles(**{**settings, "step": step}) for step in steps]
    maxima = [one.maximum for one in at]
    wanted = entries("maximum", maxima) | entries("total", [one.total for one in at])
    wanted |= entries("accumulator", np.reshape([one.accumulator for one in at], (-1, 2)))
    wanted |= entries("factor", np.exp(-np.diff([-np.inf, *maxima])))
    wanted |= row_maxima(figure, [done[step - 1] for step in steps])
    wanted |= held_scores(figure, done[-1:])
    if len(steps) == sum(block == first for block, _ in figure.tiles):
        wanted |= entries("output", figure.output)
    return wanted | {"held": figure.held, "dense": 256, "bytes": 4 * figure.held,
                     "computed": len(done), "skipped": 256 // (
                         figure.query_chunk * figure.key_chunk) - len(figure.tiles)}


def row_maxima(figure, row_tiles):
    """The largest of the row's scores in each of its tiles, where it sees any."""
    found = {}
    for i, (_, key) in enumerate(row_tiles):
        stop = min(key + figure.key_chunk, figure.row + 1 if figure.causal else 16)
        if stop > key:
            found[f"largest {i}"] = figure.scores[figure.row, key:stop].max()
    return found


def held_scores(figure, last):
    return {f"scores {i},{j}": figure.scores[i, j] for first, key in last
            for i in range(first, first + figure.query_chunk)
            for j in range(key, key + figure.key_chunk) if not figure.causal or j <= i}


def block_walk(figure):
    return entries("stations", figure.stations, np.arange(7) <= figure.step)


def training(figure):
    return {**entries("weights", figure.shown, np.tri(16, dtype=bool)), "steps": figure.steps,
            "loss": figure.loss, "target": figure.target}


def real_heads(figure):
    return entries("row", figure.row)


EXPECTED = {Agreement: agreement, WhySqrtD: why_sqrt_d, SoftmaxUnderStress: softmax_under_stress,
            Mixing: mixing, Triangle: triangle, Heads: heads, Cache: cache, Tiles: tiles,
            BlockWalk: block_walk, Training: training, RealHeads: real_heads}
