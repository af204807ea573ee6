"""Training: the gradients of a whole decoder, Adam, batches, and that a model learns."""

import copy
import math
from functools import partial

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from attention_book import training
from attention_book.decoder_backward import loss_and_gradients, named_weights, with_weights
from attention_book.losses import next_token_loss
from attention_book.optimiser import Adam
from attention_book.training import PRESETS, read_story, repeated_tokens, text_windows, train
from attention_book.transformer import Decoder

SIZES = {"n_vocab": 7, "d_model": 12, "n_layers": 2, "n_heads": 3, "d_feed": 5, "n_context": 17}


def decoder(rng, dtype=np.float64, **sizes):
    """A decoder whose weights are all drawn, gains too."""
    drawn = Decoder.untrained(rng, **{**SIZES, **sizes}, dtype=dtype)
    return with_weights(drawn, {name: (w + 0.3 * rng.normal(size=w.shape)).astype(dtype)
                                for name, w in named_weights(drawn).items()})


def slope(model, tokens, name, direction, step=1e-5):
    """How the loss changes along one direction, from the model's own logits."""
    weights = named_weights(model)
    ends = [next_token_loss(with_weights(model, {**weights, name: weights[name] + sign * step
                                                 * direction}).logits(tokens), tokens)
            for sign in (1, -1)]
    return (ends[0] - ends[1]) / (2 * step)


@pytest.mark.parametrize("sizes", [{}, {"tied": False}, {"d_feed": 0}, {"n_layers": 0},
                                   {"n_heads": 1, "base": 50.0}])
@pytest.mark.parametrize("shape", [(3, 11), (11,)])
def test_gradients_are_slopes(rng, sizes, shape):
    model, tokens = decoder(rng, **sizes), rng.integers(0, 7, shape)
    loss, gradients = loss_and_gradients(model, tokens)
    assert abs(loss - next_token_loss(model.logits(tokens), tokens)) < 1e-13
    weights = named_weights(model)
    assert gradients.keys() == weights.keys()
    for name, gradient in gradients.items():
        assert gradient.shape == weights[name].shape
        for direction in rng.normal(size=(3, *gradient.shape)):
            wanted = slope(model, tokens, name, direction)
            assert abs((gradient * direction).sum() - wanted) < 1e-6 * (1 + abs(wanted)), name


def test_a_token_that_does_not_occur_has_no_gradient_in_its_row(rng):
    model = decoder(rng, tied=False)
    _, gradients = loss_and_gradients(model, [[2, 5, 2, 2], [5, 5, 2, 5]])
    rows = gradients["embedding"].any(axis=-1)
    assert rows.tolist() == [False, False, True, False, False, True, False]


def test_what_comes_last_counts_only_as_a_target(rng):
    model, tokens = decoder(rng, tied=False), np.array([1, 2, 3, 4, 6])
    _, gradients = loss_and_gradients(model, tokens)
    assert not gradients["embedding"][6].any() and gradients["embedding"][4].all()


def test_samples_are_averaged(rng):
    model, tokens = decoder(rng), rng.integers(0, 7, (3, 5))
    loss, gradients = loss_and_gradients(model, tokens)
    losses, found = zip(*(loss_and_gradients(model, row) for row in tokens), strict=True)
    assert abs(loss - np.mean(losses)) < 1e-14
    for name, gradient in gradients.items():
        np.testing.assert_allclose(gradient, np.mean([d[name] for d in found], 0), atol=1e-14)


def test_float32_stays_and_is_near_float64(rng):
    model, tokens = decoder(rng), rng.integers(0, 7, (3, 11))
    weights = {name: w.astype(np.float32) for name, w in named_weights(model).items()}
    loss, gradients = loss_and_gradients(with_weights(model, weights), tokens)
    wanted, exact = loss_and_gradients(model, tokens)
    assert abs(loss - wanted) < 1e-5
    for name, gradient in gradients.items():
        assert gradient.dtype == np.float32
        np.testing.assert_allclose(gradient, exact[name], atol=2e-5)


def test_weights_have_names_and_go_back(rng):
    for tied in (True, False):
        model = decoder(rng, tied=tied, base=300.0)
        weights = named_weights(model)
        assert len(weights) == 2 + 9 * 2 + (not tied)
        again = with_weights(model, weights)
        assert again.base == 300 and again.n_context == 17 and again.heads == model.heads
        np.testing.assert_array_equal(again.logits([1, 2, 3]), model.logits([1, 2, 3]))


def adam_loops(rate, b1, b2, eps, w, gradients):
    """Algorithm 1 of the paper, for one number."""
    m = v = 0.0
    for t, g in enumerate(gradients, start=1):
        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * g**2
        w -= rate * (m / (1 - b1**t)) / (math.sqrt(v / (1 - b2**t)) + eps)
    return w


@pytest.mark.parametrize("options", [{}, {"beta_mean": 0.5, "beta_square": 0.7, "eps": 0.3},
                                     {"beta_mean": 0, "beta_square": 0}])
def test_adam_equals_the_paper(rng, options):
    adam, gradients = Adam(0.03, **options), rng.normal(size=(5, 2, 3))
    made = {"beta_mean": 0.9, "beta_square": 0.999, "eps": 1e-8, **options}
    weights = start = {"a": rng.normal(size=(2, 3)), "b": rng.normal(size=3)}
    for gradient in gradients:
        weights = adam.step(weights, {"a": gradient, "b": gradient[0]})
    assert adam.steps == 5
    for name, part in (("a", gradients), ("b", gradients[:, 0])):
        for index in np.ndindex(start[name].shape):
            wanted = adam_loops(0.03, *made.values(), start[name][index], part[:, *index])
            assert abs(weights[name][index] - wanted) < 1e-12


def test_adam_writes_to_nothing_and_keeps_the_type(rng):
    w, g = np.ones(3, np.float32), np.array([1, -2, 0], np.float32)
    w.flags.writeable = g.flags.writeable = False
    adam = Adam(0.1)
    first = adam.step({"w": w}, {"w": g})["w"]
    second = adam.step({"w": first}, {"w": g})["w"]
    assert first.dtype == second.dtype == np.float32
    np.testing.assert_allclose(first, [0.9, 1.1, 1], atol=1e-6)
    np.testing.assert_allclose(second, [0.8, 1.2, 1], atol=1e-6)


def test_what_adam_refuses_leaves_it_as_it_was():
    adam = Adam()
    w = {"w": np.ones(2)}
    for bad in ({}, {"w": np.ones(3)}, {"v": np.ones(2)}, {"w": np.array([1, np.nan])}):
        with pytest.raises(ValueError, match="wanted"):
            adam.step(w, bad)
        assert (adam.steps, adam.means, adam.squares) == (0, {}, {})
    adam.step(w, w)
    with pytest.raises(ValueError, match="the same weights at each step"):
        adam.step({"v": np.ones(2)}, {"v": np.ones(2)})
    assert adam.steps == 1 and set(adam.means) == {"w"}


ONES = np.ones(2)
LATER = {  # of the second weight, so that the first could have been moved already
    "weights in a list": ({"b": [1.0, 1.0]}, {}, TypeError, "weights: b", "list"),
    "weights in words": ({"b": np.array(["1", "2"])}, {}, TypeError, "weights: b", "text"),
    "whole weights": ({"b": np.array([1, 2])}, {}, TypeError, "weights: b", "int64"),
    "complex weights": ({"b": ONES + 0j}, {}, TypeError, "weights: b", "complex"),
    "no weight": ({"b": None}, {}, TypeError, "weights: b", "None"),
    "gradients in a list": ({}, {"b": [1.0, 1.0]}, TypeError, "gradients: b", "list"),
    "gradients in words": ({}, {"b": np.array(["x", "y"])}, TypeError, "gradients: b", "text"),
    "complex gradients": ({}, {"b": ONES + 1j}, TypeError, "gradients: b", "complex"),
    "objects": ({}, {"b": np.array([1, None])}, TypeError, "gradients: b", "object"),
    "booleans": ({}, {"b": ONES == 1}, TypeError, "gradients: b", "bool"),
    "no gradient": ({}, {"b": None}, TypeError, "gradients: b", "None"),
    "masked": ({}, {"b": np.ma.array(ONES, mask=[0, 1])}, TypeError, "gradients: b", "masked"),
    "NaN": ({}, {"b": ONES * np.nan}, ValueError, "gradients: b", "NaN"),
    "squares overflow": ({}, {"b": ONES * 1e200}, ValueError, "gradients: b", "1e+200"),
    "other names": ({2: ONES}, {"c": ONES}, ValueError, "gradients", "other names"),
    "a name more": ({}, {2: ONES}, ValueError, "gradients", "(2)"),
    "another shape": ({}, {"b": np.ones((2, 1))}, ValueError, "b", "shapes"),
    "half eps": ({"b": ONES.astype(np.float16)}, {"b": ONES.astype(np.float16)}, ValueError, "eps",
                 "1e-08"),
}


@pytest.mark.parametrize("fault", LATER)
@pytest.mark.parametrize("begun", [False, True])
def test_adam_is_unchanged_whatever_it_refuses(fault, begun):
    weights, gradients, error, name, came = LATER[fault]
    good, adam = {"a": ONES, "b": ONES}, Adam()
    if begun:
        adam.step(good, good)
    before = copy.deepcopy(vars(adam))
    with pytest.raises(error) as caught:
        adam.step({**good, **weights}, {**good, **gradients})
    argument, _, rest = str(caught.value).partition(": got ")
    assert argument == name and came in rest and "; wanted " in rest, caught.value
    np.testing.assert_equal(vars(adam), before)


def test_adam_takes_what_is_a_number_or_of_whole_numbers():
    got = Adam(0.5).step({"a": np.float32(3), 0: np.ones(2)},
                         {"a": np.float32(2), 0: np.array([-3, 10**15])})
    assert got["a"].dtype == np.float32 and abs(got["a"] - 2.5) < 1e-6
    np.testing.assert_allclose(got[0], [1.5, 0.5])
    half = {"w": np.array([1, 2], np.float16)}
    assert Adam(0.5, eps=1e-3).step(half, {"w": half["w"] * 0})["w"].tolist() == [1, 2]


def test_training_is_lazy_and_the_same_seed_gives_the_same(rng):
    model, asked = decoder(rng, np.float32), []
    old = {name: w.copy() for name, w in named_weights(model).items()}

    def batches(seed):
        rng = np.random.default_rng(seed)
        for _ in range(5):
            asked.append(seed)
            yield repeated_tokens(rng, 3, 9, n_vocab=7, periods=(2, 4))

    steps = train(model, batches(1), Adam(0.01))
    assert asked == []
    next(steps)
    assert asked == [1]
    curves = [[loss for _, loss, _ in train(model, batches(seed), Adam(0.01))]
              for seed in (1, 1, 2)]
    assert curves[0] == curves[1] != curves[2]
    np.testing.assert_equal(named_weights(model), old)


def test_each_step_is_adam_s(rng):
    model, batch = decoder(rng), np.array([[1, 2, 3, 1, 2]])
    (first, loss, after), (second, _, _) = train(model, [batch, batch], Adam(0.02))
    wanted, gradients = loss_and_gradients(model, batch)
    assert (first, second) == (1, 2) and loss == wanted
    np.testing.assert_equal(named_weights(after),
                            Adam(0.02).step(named_weights(model), gradients))


def test_products_of_a_step_have_one_thread_and_later_ones_have_what_they_had(rng, monkeypatch):
    def threads():
        return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]

    def watched(*args):
        seen.append(threads())
        return loss_and_gradients(*args)

    seen = []
    monkeypatch.setattr(training, "loss_and_gradients", watched)
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        list(train(decoder(rng), [[[1, 2, 1, 2]]] * 2, Adam()))
        assert threads() == before and set(before) <= {1, 2}
    assert len(seen) == 2 and {n for found in seen for n in found} == {1}


def test_a_text_is_learnt_by_heart(rng):
    text = np.array([1, 2, 3, 1, 4, 5, 6, 0] * 2)
    batches = (text_windows(rng, text, 4, 9) for _ in range(60))
    *_, (steps, loss, better) = train(decoder(rng, np.float32), batches, Adam(0.02))
    assert steps == 60 and loss < 0.3
    assert list(better.generate([4, 5], 6)) == [6, 0, 1, 2, 3, 1]


@pytest.mark.parametrize("periods", [3, 5, (2, 5), (1, 1), np.int64(4)])
def test_sequences_repeat_themselves(rng, periods):
    tokens = repeated_tokens(rng, 40, 13, n_vocab=5, periods=periods)
    low, high = periods if isinstance(periods, tuple) else (periods, periods)
    assert tokens.shape == (40, 13) and tokens.min() >= 0 and tokens.max() < 5
    found = set()
    for row in tokens.tolist():
        period = len(set(row))
        assert row == (row[:period] * 13)[:13]
        found.add(period)
    assert found == set(range(low, high + 1))


def test_windows_are_pieces_of_the_text(rng):
    text = rng.permutation(50)
    pieces = text_windows(rng, text, 400, 7)
    starts = {text.tolist().index(piece[0]) for piece in pieces}
    assert starts == set(range(44))
    for piece in pieces:
        start = text.tolist().index(piece[0])
        np.testing.assert_array_equal(piece, text[start:start + 7])


def test_the_story_is_plain_text():
    story = read_story()
    assert 3000 < len(story) < 4000 and story.endswith("\n") and "\r" not in story
    assert len(set(story)) < 45 and set(story) <= set(map(chr, range(128)))


def test_presets_have_the_same_form():
    forms = [{name: sorted(part) for name, part in preset.items()} for preset in PRESETS.values()]
    assert forms[0] == forms[1] and list(PRESETS) == ["full", "browser"]


RNG = np.random.default_rng(0)
MODEL = Decoder.untrained(RNG, **SIZES)
GROUPED = Decoder.untrained(RNG, **{**SIZES, "n_kv_heads": 1})
HALF = Decoder.untrained(RNG, **SIZES, dtype=np.float16)
ADAM, X = Adam(), np.ones((2, 3))
REPEATED = partial(repeated_tokens, RNG)

# The call; the error; the argument, what came, what was wanted, and a word of the cause.
CASES = [
    (partial(loss_and_gradients, None, [1, 2]), TypeError, "decoder", "None", "a Decoder", ""),
    (partial(loss_and_gradients, GROUPED, [1, 2]), ValueError, "decoder", "1 heads", "3", ""),
    (partial(loss_and_gradients, HALF, [1, 2]), TypeError, "decoder", "float16", "float32", ""),
    (partial(loss_and_gradients, MODEL, [1, 7]), ValueError, "tokens", "the id 7", "0 to 6", ""),
    (partial(loss_and_gradients, MODEL, [1]), ValueError, "tokens", "(1,)", "two tokens", ""),
    (partial(loss_and_gradients, MODEL, [1] * 18), ValueError, "tokens", "18", "at most 17", ""),
    (partial(Adam, 0), ValueError, "rate", "0", "above 0", ""),
    (partial(Adam, "fast"), TypeError, "rate", "str", "real number", ""),
    (partial(Adam, beta_mean=1), ValueError, "beta_mean", "1", "below 1", "past"),
    (partial(Adam, beta_square=-0.1), ValueError, "beta_square", "-0.1", "from 0 to below 1", ""),
    *((partial(Adam, beta_mean=bad), TypeError, "beta_mean", came, "from 0 to below 1", "past")
      for bad, came in ((None, "None"), ("", "str"), (False, "False"), ([], "list"), (0j, "0j"))),
    (partial(Adam, beta_square=1 - 1e-20), ValueError, "beta_square", "1", "below 1", ""),
    (partial(Adam, beta_mean=math.nan), ValueError, "beta_mean", "nan", "below 1", ""),
    (partial(Adam, beta_mean=10**400), ValueError, "beta_mean", "0", "below 1", ""),
    (partial(Adam, eps=0), ValueError, "eps", "0", "above 0", ""),
    (partial(ADAM.step, [1], {}), TypeError, "weights", "list", "a dict", ""),
    (partial(ADAM.step, {"w": X}, {"w": X[0]}),
     ValueError, "w", "shapes", "one shape", ""),
    (partial(ADAM.step, {"w": X}, {"w": X * np.inf}), ValueError, "gradients: w", "infinity",
     "finite", "smaller rate"),
    (partial(train, None, [], ADAM), TypeError, "decoder", "None", "a Decoder", ""),
    (partial(train, MODEL, 5, ADAM), TypeError, "batches", "5", "arrays of tokens", ""),
    (partial(train, MODEL, [], 0.1), TypeError, "optimiser", "0.1", "Adam", ""),
    (partial(train, MODEL, [], Adam), TypeError, "optimiser", "the class Adam", "Adam(rate)", ""),
    (partial(train, Decoder, [], ADAM), TypeError, "decoder", "the class Decoder", "a Decoder", ""),
    (partial(repeated_tokens, 0, 1, 5, n_vocab=7, periods=3), TypeError, "rng", "0", "Gen", ""),
    (partial(REPEATED, 0, 5, n_vocab=7, periods=3), ValueError, "n_samples", "0", "least 1", ""),
    (partial(REPEATED, 2, 1, n_vocab=7, periods=3), ValueError, "n", "1", "at least 2", ""),
    (partial(REPEATED, 2, 5, n_vocab=7, periods=8), ValueError, "periods", "8", "at most 7", ""),
    (partial(REPEATED, 2, 5, n_vocab=7, periods=(4, 3)), ValueError, "periods", "4 to 3", "", ""),
    (partial(REPEATED, 2, 5, n_vocab=7, periods=2.5), TypeError, "periods", "2.5", "whole", ""),
    (partial(REPEATED, 2, 5, n_vocab=7, periods=0), ValueError, "periods", "0", "at least 1", ""),
    (partial(text_windows, RNG, [1, 2, 3], 2, 5), ValueError, "tokens", "(3,)", "at least 5", ""),
    (partial(text_windows, RNG, "abc", 2, 2), TypeError, "tokens", "text", "ids", ""),
    (partial(text_windows, RNG, [-1, 2, 3], 2, 2), ValueError, "tokens", "-1", "from 0", ""),
    (partial(text_windows, None, [1, 2, 3], 2, 2), TypeError, "rng", "None", "Generator", ""),
    (partial(text_windows, np.random.Generator, [1, 2, 3], 2, 2), TypeError, "rng",
     "the class Generator", "a NumPy Generator", ""),
]


@pytest.mark.parametrize("call, error, name, got, wanted, cause", CASES)
def test_bad_input_is_refused_in_words_and_at_once(call, error, name, got, wanted, cause):
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    assert caught.type is error
    argument, _, rest = str(caught.value).partition(": got ")
    came, _, rest = rest.partition("; wanted ")
    assert argument == name and got in came and wanted in rest and cause in rest, caught.value


def test_a_rate_that_is_too_high_ends_in_a_clear_error(rng):
    batches = [repeated_tokens(rng, 3, 9, n_vocab=7, periods=3)] * 50
    with pytest.raises(ValueError, match="smaller rate"):
        list(train(decoder(rng, np.float32), batches, Adam(1e30)))
