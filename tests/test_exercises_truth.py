"""A verdict says nothing false: no name by coincidence, the right step, a telling input."""

import numpy as np
import pytest

import attention_book as ab
from attention_book.chunked import mix_tiles
from attention_book.exercises import catalogue, check, hint
from attention_book.exercises.verdicts import number


def softmax(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def said(result):
    return " ".join(result.message.split())


# --- a head with one of its steps changed ---------------------------------------------------------
def best_alone(s):
    return (s == s.max(axis=-1, keepdims=True)) * 1.0


def best_two(s):
    return softmax(np.where(s >= np.sort(s, axis=-1)[..., -2:][..., :1], s, -np.inf))


def sigmoid(s):
    return 1 / (1 + np.exp(-s))


def equal(s):
    return np.where(np.isfinite(s), 1, 0) / np.isfinite(s).sum(axis=-1, keepdims=True)


def distances(q, k):
    return -((q[:, None] - k) ** 2).sum(axis=-1)


def head(weigh=softmax, score=lambda q, k: q @ k.T, scale=lambda d: d**-0.5, seen=None):
    def attend(q, k, v):
        s = score(q, k) * scale(q.shape[1])
        if seen:
            i, j = np.arange(len(q))[:, None] + len(k) - len(q), np.arange(len(k))
            s = np.where(seen(i, j), s, -np.inf)
        return weigh(s) @ v

    return attend


def past(i, j):
    return j <= i


def projected(attend):
    return lambda x, wq, wk, wv: attend(x @ wq, x @ wk, x @ wv)


def step(attend):
    def decode(x_t, past_k, past_v, wq, wk, wv):
        k, v = np.vstack([past_k, x_t @ wk]), np.vstack([past_v, x_t @ wv])
        return attend((x_t @ wq)[None], k, v)[0], k, v

    return decode


def layer(attend):
    def heads(x, wq, wk, wv, wo, n_heads):
        parts = np.split(np.arange(len(wo)), n_heads)
        return np.hstack([attend(x @ wq[:, own], x @ wk[:, own], x @ wv[:, own])
                          for own in parts]) @ wo

    return heads


@pytest.mark.parametrize(("weigh", "where"), [
    ({"weigh": best_two}, "the weights"), ({"weigh": sigmoid}, "the weights"),
    ({"scale": lambda d: 1 / 3}, "the scale"), ({"score": distances}, "the scores"),
    ({"weigh": lambda s: np.maximum(np.where(np.isfinite(s), s, 0), 0)}, "the weights"),
], ids=["best two", "sigmoid", "a third", "distances", "no exponential"])
@pytest.mark.parametrize(("exercise", "form", "seen"), [
    ("attention", lambda attend: attend, None), ("self_attention", projected, None),
    ("causal_attention", projected, past), ("attend_with_past", lambda attend: attend, past),
    ("decode_step", step, None), ("causal_multi_head_attention", layer, past)],
    ids=lambda value: value if isinstance(value, str) else "")
def test_an_unknown_mistake_is_located_by_the_weights(exercise, form, seen, weigh, where):
    result = check(exercise, form(head(**weigh, seen=seen)))
    names = {"the weights": "the softmax", "the scale": "the scaling"}
    step_name = names.get(where, where) if exercise == "causal_attention" else where
    assert f"Step: {step_name}" in result.message, result


@pytest.mark.parametrize("seen", [
    lambda i, j: (j <= i) & (j > 0), lambda i, j: (j == 0) | (j == i), lambda i, j: j <= i // 2])
def test_a_mask_that_is_wrong_in_an_unknown_way_is_located_too(seen):
    result = check("attend_with_past", head(seen=seen))
    assert "Step: the positions of the queries" in result.message, result


def totals(maximum=lambda m, s: np.maximum(m, s.max(axis=1)), l_of=None):
    def online(m, l, acc, scores, v):  # noqa: E741
        new = maximum(m, scores)
        old, p = np.exp(m - new), np.exp(scores - new[:, None])
        return new, l_of(l, old, p) if l_of else l * old + p.sum(axis=1), acc * old[:, None] + p @ v

    return online


@pytest.mark.parametrize("maximum", [lambda m, s: m + s.max(axis=1),
                                     lambda m, s: (m + s.max(axis=1)) / 2])
def test_a_wrong_maximum_is_located_at_the_maximum(maximum):
    assert "Step: the maximum so far " in said(check("online_softmax_step", totals(maximum)))


def test_a_step_that_a_later_one_may_have_spoilt_is_not_said_for_certain():
    result = check("online_softmax_step", totals(l_of=lambda total, old, p: total + p.shape[1]))
    assert "Step: the terms of the new chunk, or a later one" in result.message, result


# --- no name by coincidence -----------------------------------------------------------------------
def heads_joined(join):
    def summed(mixtures, wo):
        d_head = mixtures.shape[2]
        return join([m @ wo[h * d_head : (h + 1) * d_head] for h, m in enumerate(mixtures)])

    return summed


@pytest.mark.parametrize(("exercise", "answer", "diagnosis"), [
    ("decode_step", step(head(best_alone)), "wrong-value"),
    ("decode_step", step(head(sigmoid)), "wrong-value"),
    ("attend_with_past", head(seen=lambda i, j: (j <= i) & (j > 0)), "wrong-value"),
    ("fault_sum_of_heads", heads_joined(lambda parts: sum(parts[::2])), "head-left-out"),
    ("fault_sum_of_heads", heads_joined(lambda parts: sum(parts[:2])), "head-left-out"),
    ("fault_sum_of_heads", heads_joined(lambda parts: parts[0]), "last-head-only"),
])
def test_a_name_fits_all_that_is_wrong(exercise, answer, diagnosis):
    assert check(exercise, answer).diagnosis == diagnosis


def test_what_is_explained_in_part_is_said_so():
    result = check("log_sum_exp", lambda x: np.log(np.exp(x).sum(axis=-1) + 1e-12))
    assert result.diagnosis == "no-max-shift"
    assert "And more: not every wrong result comes of this alone" in said(result)
    alone = check("log_sum_exp", lambda x: np.log(np.exp(x).sum(axis=-1)))
    assert alone.diagnosis == "no-max-shift" and "And more" not in alone.message


def test_a_turned_sign_is_not_said_to_be_all():
    def bits_below_zero(p):
        return (p * np.log2(np.where(p > 0, p, 1))).sum(axis=-1)

    result = check("entropy", bits_below_zero)
    assert result.diagnosis == "wrong-sign" and "size" not in result.message


# --- on an input that tells -----------------------------------------------------------------------
def test_the_input_shown_is_one_on_which_the_named_mistake_shows():
    result = check("scores_computed", lambda n, cached: n if cached else n**2)
    assert result.diagnosis == "linear-with-cache"
    assert "n = 4, cached = True" in result.message


def in_chunks(pieces, scale, hide=None, rescaled=True):
    def attend(q, k, v, chunk):
        m, l, acc = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), v.shape[1]))  # noqa: E741
        for keys in pieces(len(k), chunk):
            s = q @ k[keys].T * scale(q.shape[1])
            if hide:
                s = np.where(hide(np.arange(len(q))[:, None], np.arange(len(k))[keys]), -np.inf, s)
            new = np.maximum(m, s.max(axis=1))
            old, p = np.exp(m - new) if rescaled else 1.0 * np.isfinite(m), np.exp(s - new[:, None])
            m, l, acc = new, l * old + p.sum(axis=1), acc * old[:, None] + p @ v[keys]  # noqa: E741
        return acc / l[:, None]

    return attend


def every(n, chunk):
    return [slice(i, i + chunk) for i in range(0, n, chunk)]


def without_last(n, chunk):
    return [slice(i, i + chunk) for i in range(0, n - chunk + 1, chunk)]


def right_scale(d):
    return d**-0.5


@pytest.mark.parametrize(("exercise", "answer", "first", "later"), [
    ("chunked_attention", in_chunks(without_last, lambda d: 1), "drops-last-chunk", "the scale"),
    ("chunked_attention", in_chunks(every, lambda d: 1, rescaled=False), "unscaled",
     "the running maximum"),
    ("chunked_attention", in_chunks(without_last, right_scale, rescaled=False),
     "drops-last-chunk", "the running maximum"),
    ("chunked_causal_attention", in_chunks(every, lambda d: 1), "unscaled",
     "the mask inside a chunk"),
    ("chunked_causal_attention", in_chunks(every, right_scale, lambda i, j: j > i + 1,
                                           rescaled=False), "one-too-many", "the running maximum"),
], ids=lambda value: value if isinstance(value, str) else "")
def test_two_mistakes_in_chunks_are_told_in_order(exercise, answer, first, later):
    result = check(exercise, answer)
    assert result.diagnosis == first, result
    assert f"later step too: {later}." in said(result)
    if first == "unscaled":  # the page's example has one feature: a scale makes no difference
        assert "the example on the page" not in result.message


def test_an_answer_that_fits_the_example_alone_is_given_no_step():
    result = check("all_scores", lambda q, k: abs(q @ k.T))  # the example holds no negative score
    assert result.diagnosis == "hard-coded" and "Step" not in result.message


def test_small_tables_are_printed_whole():
    result = check("best_key", lambda q, k: (q @ k.T).argmax(axis=1) * (len(q) != 3))
    assert "q = [[-383, 190], [-1460, 135], [183, -560]]" in said(result), result


@pytest.mark.parametrize(("value", "text"), [
    (100003, "100003"), (np.float64(240001), "240001"), (1234.5, "1234"), (-2000.0, "-2000")])
def test_whole_numbers_are_written_out(value, text):
    assert number(value) == text


def test_a_small_difference_is_shown_with_the_digits_it_takes():
    message = said(check("softmax", lambda x: softmax(x) * 1.0003))
    first = message.partition("First difference: ")[2].partition(" Step")[0]
    got, wanted = first.partition("got ")[2].split(", wanted ")
    assert got != wanted


# --- kinds of number ------------------------------------------------------------------------------
def into_whole_numbers(q, k):
    scores = np.zeros((len(q), len(k)), dtype=int)
    for i, query in enumerate(q):
        for j, key in enumerate(k):
            scores[i, j] = query @ key
    return scores


def test_an_array_of_whole_numbers_is_named():
    result = check("all_scores", into_whole_numbers)
    assert result.diagnosis == "wrong-dtype", result
    assert "holds whole numbers; wanted decimal numbers" in said(result)


COUNTS = ["parameter_count", "cache_bytes", "scores_computed", "score_matrix_bytes"]


@pytest.mark.parametrize("kind", [int, float, np.int64, np.float64, np.array,
                                  lambda count: np.array(float(count))])
@pytest.mark.parametrize("exercise", COUNTS)
def test_a_count_may_be_any_kind_of_number(exercise, kind):
    solve = catalogue()[exercise].solution
    assert check(exercise, lambda *args: kind(solve(*args))).passed


@pytest.mark.parametrize("kind", [str, bool, complex, lambda count: int(count) + 1])
@pytest.mark.parametrize("exercise", COUNTS)
def test_a_count_is_a_number_and_is_called_a_whole_one(exercise, kind):
    solve = catalogue()[exercise].solution
    result = check(exercise, lambda *args: kind(solve(*args)))
    assert not result.passed and "decimal" not in result.message


# --- the package's functions ----------------------------------------------------------------------
def by_tiles(q, k, v, chunk):
    tiles = ((slice(i, min(i + chunk, len(k))), 0, None) for i in range(0, len(k), chunk))
    return mix_tiles(q * q.shape[1] ** -0.5, k, v, np.zeros(len(q), bool), tiles,
                     np.empty((len(q), min(chunk, len(k)))))


def test_the_function_that_mixes_the_tiles_is_the_package_s():
    assert check("chunked_attention", by_tiles).diagnosis == "calls-the-package"


def test_attention_and_a_mask_come_from_earlier_exercises():
    assert check("attend_with_past", lambda q, k, v: ab.attention(
        q, k, v, mask=ab.causal_mask(len(q), len(k)))).passed


# --- a leak that some changes do not show ---------------------------------------------------------
def changed_by(change):
    def leaks(attend, x, rng):
        return any(not np.allclose(attend(np.vstack([x[:t], change(x[t:], rng)]))[:t],
                                   attend(x)[:t]) for t in range(1, len(x)))

    return leaks


@pytest.mark.parametrize(("change", "diagnosis"), [
    (lambda rows, rng: rows + 10, "same-change-everywhere"),
    (lambda rows, rng: rows + 10 * rng.normal(size=(len(rows), 1)), "same-change-everywhere"),
    (lambda rows, rng: 10 * rows, "multiplied-alike"),
    (lambda rows, rng: rows + 10 * np.eye(1, rows.shape[1]), "one-feature-changed"),
    (lambda rows, rng: rows + 10 * rng.normal(size=rows.shape), None)])
def test_a_leak_of_normalised_rows_is_looked_for(change, diagnosis):
    assert check("leaks_future", changed_by(change)).diagnosis == diagnosis


def test_a_small_leak_is_looked_for():
    def coarse(attend, x, rng):
        return any(not np.allclose(attend(np.vstack([x[:t], x[t:] + 10 * rng.normal(
            size=x[t:].shape)]))[:t], attend(x)[:t], atol=1) for t in range(1, len(x)))

    assert check("leaks_future", coarse).diagnosis == "coarse-comparison"


# --- predictions ----------------------------------------------------------------------------------
def test_the_trace_of_a_prediction_shows_only_what_was_right():
    exercise = catalogue()["predict_running_totals"]
    for mistake in exercise.mistakes:
        for way in mistake.ways:
            message = check(exercise.id, way).message
            assert "acc = 3" not in message and "= 5" not in message
            for position, shown in enumerate(("1.5", "1.75", "1.75 + 2/8 = 2")):
                if f"= {shown}\n" in message or f"\n{shown}" in message:
                    assert abs(way[position] - exercise.solution[position]) < 0.04, (way, message)


def test_text_that_is_no_list_is_not_said_to_hold_no_number():
    assert "text that cannot be read as numbers" in said(
        check("predict_causal_mixture", "12 6 6 5"))


# --- what check and hint are given ----------------------------------------------------------------
@pytest.mark.parametrize("call", [check, hint, lambda: check(None), lambda: hint(3),
                                  lambda: check(np.ones(3), softmax), lambda: hint(softmax)])
def test_without_an_id_the_error_lists_what_exists(call):
    with pytest.raises(TypeError, match=r"exercise_id: got (nothing|a value of type \w+); wanted "
                                        r".* The exercises are predict_score_shape, .*softmax"):
        call()


def test_arguments_that_have_changed_places():
    with pytest.raises(TypeError, match='the text "softmax" after it; the id comes first'):
        check(softmax, "softmax")


@pytest.mark.parametrize("name", ["sofmax", "SoftMax", "softmax ", "soft_max"])
def test_a_near_miss_is_guessed(name):
    for call in (lambda: check(name, softmax), lambda: hint(name)):
        with pytest.raises(ValueError, match='did you mean "softmax"'):
            call()
