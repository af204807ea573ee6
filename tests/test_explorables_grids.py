"""The moving figures of chapters 5 to 8: their state, and the values that Python computes."""

import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest
import traitlets

from attention_book import explorables
from attention_book.explorables import Cache, Heads, Tiles, Triangle
from attention_book.explorables.base import HERE

FIGURES = [Triangle, Heads, Cache, Tiles]
NAMES = [figure.__name__ for figure in FIGURES]


def mixtures(q, k, v, mask):
    """Return weights and outputs by loops in plain Python; rows that see nothing are zeros."""
    weights = np.zeros(mask.shape)
    for i, query in enumerate(q):
        seen = np.flatnonzero(mask[i])
        e = {j: np.exp(np.dot(query, k[j]) / np.sqrt(len(query))) for j in seen}
        for j in seen:
            weights[i, j] = e[j] / sum(e.values())
    return weights, np.array([sum(w * np.array(x) for w, x in zip(row, v, strict=True))
                              for row in weights])


@pytest.mark.parametrize("figure", FIGURES, ids=NAMES)
class TestEvery:
    def test_is_offered_by_the_package(self, figure):
        assert getattr(explorables, figure.__name__) is figure
        assert figure.__name__ in explorables.__all__

    def test_page_holds_state_and_picture_and_asks_no_other_host(self, figure):
        page, shown = figure().page(), figure()
        state = re.search(r'data-state="(.*?)"', page).group(1)
        assert json.loads(unescape(state)) == shown.state()
        panels = shown.picture().panels
        assert panels and all(panel.alt in unescape(page) for panel in panels)
        foreign = set(re.findall(r"https?://[\w./-]+", page)) - {"http://www.w3.org/2000/svg"}
        assert not foreign

    def test_what_the_page_sends_reaches_python(self, figure):
        shown, sent = figure(), {"step": 3} if hasattr(figure, "step") else {"length": 3}
        shown.set_state(sent)  # what a live notebook does with a change
        assert sent.items() <= shown.state().items()

    def test_module_is_small(self, figure):
        assert (Path(HERE) / f"{figure.kind}.js").stat().st_size <= 12 * 1024

    def test_caption_is_one_or_two_sentences(self, figure):
        assert 1 <= len(re.findall(r"[.?!](?: |$)", figure.caption)) <= 2

    def test_data_cannot_be_replaced(self, figure):
        fixed = [name for name, trait in figure().traits(figure=True).items() if trait.read_only]
        assert fixed
        for name in fixed:
            with pytest.raises(traitlets.TraitError, match="read-only"):
                setattr(figure(), name, [])


@pytest.mark.parametrize(("figure", "name", "value", "error", "words"), [
    (Triangle, "rule", "casual", ValueError, "'causal' or 'window' or 'none'"),
    (Triangle, "window", 0, ValueError, "from 1 to 6"),
    (Triangle, "n_query", 7, ValueError, "from 1 to 6"),
    (Triangle, "n_query", 2.5, TypeError, "n_query"),
    (Triangle, "length", -1, ValueError, "length"),
    (Triangle, "probe", 6, ValueError, "from 0 to 5"),
    (Triangle, "changed", 1, TypeError, "changed.*True or False"),
    (Heads, "questions", [1, 2, 3], ValueError, "4 numbers"),
    (Heads, "questions", [0, 0, 0, 10], ValueError, "from -9 to 9"),
    (Heads, "n_heads", 3, ValueError, "2 or 1 or 4"),
    (Heads, "n_heads", True, TypeError, "n_heads"),
    (Heads, "way", "join", ValueError, "'split' or 'merge'"),
    (Cache, "step", 0, ValueError, "from 1 to 8"),
    (Cache, "cached", "yes", TypeError, "True or False"),
    (Cache, "n_kv_heads", 3, ValueError, "4 or 2 or 1"),
    (Cache, "head", 4, ValueError, "from 0 to 3"),
    (Tiles, "query_chunk", 3, ValueError, "4 or 2 or 8"),
    (Tiles, "key_chunk", 4.0, TypeError, "key_chunk"),
    (Tiles, "row", 16, ValueError, "from 0 to 15"),
    (Tiles, "step", -1, ValueError, "step"),
    (Heads, "step", 17, ValueError, "from 0 to 16"),
])
def test_bad_values_are_refused(figure, name, value, error, words):
    shown = figure()
    before = shown.state()
    with pytest.raises(error, match=words):
        setattr(shown, name, value)
    assert shown.state() == before


class TestTriangle:
    @pytest.mark.parametrize("n_query", [1, 4, 6])
    @pytest.mark.parametrize("length", [0, 2, 6])
    @pytest.mark.parametrize("rule", ["causal", "window", "none"])
    def test_values_are_those_of_loops(self, rule, length, n_query):
        figure = Triangle(rule=rule, length=length, n_query=n_query, window=2, changed=True)
        past = 6 - n_query
        mask = np.array([[j < length and (rule == "none" or j <= i + past)
                          and (rule != "window" or j > i + past - 2) for j in range(6)]
                         for i in range(n_query)])
        q, k, v = np.array(figure.q)[past:], np.array(figure.k), np.array(figure.v)
        k[figure.probe] *= -1
        v[figure.probe] *= -1
        weights, outputs = mixtures(q, k, v, mask)
        assert np.array_equal(figure.mask, mask)
        np.testing.assert_allclose(figure.scores, q @ k.T / 2**0.5, atol=1e-12)
        np.testing.assert_allclose(figure.weights, weights, atol=1e-12)
        np.testing.assert_allclose(figure.outputs, outputs, atol=1e-12)

    def test_a_change_moves_the_rows_that_see_it_and_no_other(self):
        assert not Triangle().moved.any()
        assert (Triangle(changed=True, probe=4).moved > 0).tolist() == [False] * 4 + [True] * 2
        assert (Triangle(changed=True, rule="none").moved > 0).all()
        assert not Triangle(changed=True, probe=4, length=4).moved.any()


class TestHeads:
    @pytest.mark.parametrize("n_heads", [1, 2, 4])
    def test_values_are_those_of_loops(self, n_heads):
        figure = Heads(n_heads=n_heads, questions=[5, -2, 1, 7])
        d, everything = 4 // n_heads, np.ones((4, 4), bool)
        wide, nouns = np.zeros((4, 4)), np.hstack([figure.nouns, figure.nouns])
        wide[1] = 5, -2, 1, 7
        received = []
        for h in range(n_heads):
            q, k = wide[:, h * d:(h + 1) * d], nouns[:, h * d:(h + 1) * d]
            weights, outputs = mixtures(q, k, k, everything)
            np.testing.assert_allclose(figure.weights[h], weights, atol=1e-12)
            received.extend(outputs[1])
        np.testing.assert_allclose(figure.received, received, atol=1e-12)

    def test_numbers_of_the_chapter(self):
        assert Heads().weights[:, 1].round(2).tolist() == [[0.96, 0.01, 0.01, 0.01],
                                                           [0.01, 0.01, 0.01, 0.96]]

    def test_split_tells_where_each_number_comes_from(self):
        assert Heads().split[1].tolist() == [[2, 3], [12, 13], [22, 23], [32, 33]]
        assert Heads(n_heads=4).split[2].tolist() == [[2], [12], [22], [32]]


class TestCache:
    @pytest.mark.parametrize("n_kv_heads", [1, 2, 4])
    @pytest.mark.parametrize("step", [1, 5, 8])
    def test_values_are_those_of_loops(self, step, n_kv_heads):
        figure = Cache(step=step, n_kv_heads=n_kv_heads)
        x, triangle = np.array(figure.x)[:step], np.tri(step, dtype=bool)
        for h in range(4):
            own, shared = (slice(2 * i, 2 * i + 2) for i in (h, h * n_kv_heads // 4))
            q, k, v = (x @ np.array(w)[:, columns] for w, columns in
                       ((figure.wq, own), (figure.wk, shared), (figure.wv, shared)))
            weights, outputs = mixtures(q, k, v, triangle)
            np.testing.assert_allclose(figure.weights[h], weights, atol=1e-12)
            np.testing.assert_allclose(figure.mixture[h], outputs[-1], atol=1e-5)

    @pytest.mark.parametrize("n_kv_heads", [1, 2, 4])
    def test_work_is_counted_one_by_one(self, n_kv_heads):
        figure = Cache(step=7, n_kv_heads=n_kv_heads)
        counts = {name: np.zeros((2, 2)) for name in ("projections", "scores", "bytes")}
        for newest in range(7):
            for one in counts.values():
                one[0] = 0
            for token in range(newest + 1):
                new = np.array([token == newest, True])  # with a cache, without
                for _ in range(2 * (4 + 2 * n_kv_heads)):
                    counts["projections"] += new
                for _ in range(4 * (token + 1)):
                    counts["scores"] += new
                for _ in range(n_kv_heads * 4):  # two numbers each of a key and of a value
                    counts["bytes"] += np.array([4, 0])
        for name, expected in counts.items():
            assert np.array_equal(figure.work[name], expected), name
        assert figure.kv.keys.nbytes + figure.kv.values.nbytes == counts["bytes"][0, 0]


def walked(figure):
    """Return maximum, sum and accumulator of the chosen row, by plain sums over what it has seen.

    The tiles are walked one by one, by the definition: a block of queries, all its keys in turn.
    """
    n, seen, done = 16, [], 0
    for first in range(0, n, figure.query_chunk):
        for key in range(0, n, figure.key_chunk):
            rows = range(first, first + figure.query_chunk)
            keys = range(key, key + figure.key_chunk)
            if figure.causal and all(j > i for i in rows for j in keys):
                continue
            done += 1
            if done <= figure.step and figure.row in rows:
                seen += [j for j in keys if not figure.causal or j <= figure.row]
    s = {j: np.dot(figure.q[figure.row], figure.k[j]) / 2**0.5 for j in seen}
    m = max(s.values(), default=-np.inf)
    return done, m, sum(np.exp(x - m) for x in s.values()), sum(
        (np.exp(x - m) * np.array(figure.v[j]) for j, x in s.items()), np.zeros(2))


class TestTiles:
    @pytest.mark.parametrize("causal", [True, False])
    @pytest.mark.parametrize(("query_chunk", "key_chunk"), [(4, 4), (2, 8), (8, 2)])
    def test_values_are_those_of_sums(self, query_chunk, key_chunk, causal):
        figure = Tiles(query_chunk=query_chunk, key_chunk=key_chunk, causal=causal, step=64)
        triangle = np.tri(16, dtype=bool) if causal else np.ones((16, 16), bool)
        _, outputs = mixtures(figure.q, figure.k, figure.v, triangle)
        for figure.row in range(16):
            np.testing.assert_allclose(figure.output, outputs[figure.row], atol=1e-12)
            figure.step = 64
            result = figure.accumulator / figure.total
            np.testing.assert_allclose(result, outputs[figure.row], atol=1e-12)
            for figure.step in range(0, 33, 3):
                n_tiles, m, total, accumulator = walked(figure)
                assert len(figure.tiles) == n_tiles
                assert figure.maximum == pytest.approx(m, abs=1e-12)
                assert figure.total == pytest.approx(total, abs=1e-12)
                np.testing.assert_allclose(figure.accumulator, accumulator, atol=1e-12)

    def test_memory_is_that_of_one_tile(self):
        assert Tiles(step=0).held == 0
        figure = Tiles(query_chunk=8, key_chunk=2, step=5)
        arrays = np.empty((8, 2)), np.empty(8), np.empty(8), np.empty((8, 2))
        assert figure.held == sum(array.size for array in arrays)
