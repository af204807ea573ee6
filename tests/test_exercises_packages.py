"""An answer may call functions of earlier exercises, and none that does the whole work."""

import numpy as np
import pytest

import attention_book as ab
from attention_book.exercises import catalogue, check


def weights_by_attention(x, **options):
    """Return the softmax of ``x`` as the weights of a query for keys of one feature."""
    rows = np.asarray(x, dtype=float).reshape(-1, x.shape[-1])
    found = [ab.attention(np.ones((1, 1)), row[:, None], np.ones((len(row), 1)), scale=1.0,
                          return_weights=True)[1][0] for row in rows]
    return np.reshape(found, x.shape)


def masked_by_log(x, mask):
    return np.exp(ab.log_softmax(x, mask=mask))


def one_head(x, wq, wk, wv, **options):
    """Call several heads with one of them, and without a projection of the result."""
    return ab.multi_head_attention(x, wq, wk, wv, np.eye(wv.shape[1]), n_heads=1, **options)


def one_causal_head(x, wq, wk, wv):
    return one_head(x, wq, wk, wv, mask=ab.causal_mask(len(x)))


def step_of_one_head(x_t, past_k, past_v, wq, wk, wv):
    cache = ab.KVCache(1, past_k.shape[1], capacity=len(past_k) + 1, d_value=past_v.shape[1],
                       dtype=x_t.dtype)
    cache.append(past_k[None], past_v[None])
    out = one_head(x_t[None], wq, wk, wv, cache=cache)
    return out[0], cache.keys[0], cache.values[0]


def three_workers(q, k, v):
    return ab.chunked_attention(q, k, v, key_chunk=len(k) // 3 + 1)


def causal_and_aligned(q, k, v):
    return ab.chunked_attention(q, k, v, causal=True)


def by_window(n_query, n_key):
    return ab.sliding_window_mask(n_query, n_key, window=n_key + n_query)


def by_padding(n):
    return ab.padding_mask(np.arange(1, n + 1), n)[:, 0]


def projected(attend):
    return lambda x, wq, wk, wv: attend(x @ wq, x @ wk, x @ wv)


@pytest.mark.parametrize(("exercise_id", "answer"), [
    ("softmax", lambda x: np.exp(ab.log_softmax(x))), ("softmax", weights_by_attention),
    ("log_sum_exp", lambda x: (x - ab.log_softmax(x))[..., 0]),
    ("masked_softmax", masked_by_log),
    ("fault_scaled_weights", lambda q, k: ab.attention(q, k, k, return_weights=True)[1]),
    ("attention", lambda q, k, v: ab.chunked_attention(q, k, v)),
    ("self_attention", one_head),
    ("causal_mask", lambda n: ab.sliding_window_mask(n, window=n)), ("causal_mask", by_padding),
    ("rectangular_causal_mask", by_window),
    ("causal_attention", one_causal_head), ("causal_attention", projected(causal_and_aligned)),
    ("decode_step", step_of_one_head),
    ("attend_with_past", causal_and_aligned),
    ("fault_decode_loop", causal_and_aligned),
    ("fault_three_workers", three_workers),
])
def test_a_later_function_that_does_the_same_is_the_package_s(exercise_id, answer):
    result = check(exercise_id, answer)
    assert result.diagnosis == "calls-the-package", result


def own_causal(q, k, v):
    scores = np.where(ab.causal_mask(len(q), len(k)), ab.scores(q, k), -np.inf)
    return ab.softmax(scores) @ v


def one_by_one(q, k, v):
    return np.array([ab.attention(q[t:t + 1], k[:t + 1], v[:t + 1])[0] for t in range(len(q))])


def grown(x_t, past_k, past_v, wq, wk, wv):
    k, v = np.vstack([past_k, x_t @ wk]), np.vstack([past_v, x_t @ wv])
    return ab.attention((x_t @ wq)[None], k, v)[0], k, v


@pytest.mark.parametrize(("exercise_id", "answer"), [
    ("log_softmax", lambda x: x - ab.log_sum_exp(x)[..., None]),
    ("fault_log_softmax", lambda x: x - ab.log_sum_exp(x)[..., None]),
    ("attention", lambda q, k, v: ab.softmax(ab.scores(q, k)) @ v),
    ("self_attention", projected(ab.attention)),
    ("rectangular_causal_mask", lambda n_query, n_key: np.concatenate(
        [np.zeros((max(n_query - n_key, 0), n_key), bool),
         ab.causal_mask(n_key)[max(n_key - n_query, 0):]])),
    ("sliding_window_mask",
     lambda n, window: ab.causal_mask(n) & ~np.tri(n, k=-window, dtype=bool)),
    ("causal_attention", projected(own_causal)),
    ("attend_with_past", own_causal),
    ("decode_step", grown), ("fault_decode_loop", one_by_one),
])
def test_earlier_functions_may_be_called(exercise_id, answer):
    result = check(exercise_id, answer)
    assert result.passed, result


def test_an_option_that_is_off_does_not_count():
    exercise = catalogue()["causal_attention"]
    assert any(isinstance(each, tuple) and each[1] == "causal" for each in exercise.package)

    def asks_without_need(x, wq, wk, wv):
        ab.chunked_attention(x @ wq, x @ wk, x @ wv, causal=False)
        return exercise.solution(x, wq, wk, wv)

    assert check("causal_attention", asks_without_need).passed
