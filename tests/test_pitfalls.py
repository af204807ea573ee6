"""What went wrong for others, as small inputs with the right values: one test for each report."""

import numpy as np
import pytest

from attention_book import (
    Decoder,
    KVCache,
    attention,
    causal_attention,
    causal_mask,
    log_softmax,
    multi_head_attention,
    rotary,
    scores,
    sliding_window_mask,
    softmax,
)
from references import attention_loops, causal_attention_loops


def attend_scores(row, values, mask=None):
    """Attention whose scores are ``row``: one query of 1, and the scores as keys."""
    keys, values = np.array(row, float)[:, None], np.array(values, float)[:, None]
    return attention(np.ones((1, 1)), keys, values, scale=1.0, mask=mask)[0, 0]


def test_a_row_with_nothing_allowed_gives_zeros():
    # pytorch#103963
    x, nothing = np.array([[1.0, 2.0, 3.0]]), np.zeros((1, 3), bool)
    assert softmax(x, mask=nothing).tolist() == [[0, 0, 0]]
    assert softmax(np.full((1, 3), -np.inf)).tolist() == [[0, 0, 0]]
    assert attention(np.ones((1, 2)), np.ones((3, 2)), np.ones((3, 5)), mask=nothing).tolist() == [
        [0] * 5]


def test_a_masked_score_gets_no_weight_at_all():
    # RibonanzaNet#5: a fill mistyped as −1e-9 gives [.5, .5]
    assert softmax(np.zeros(2), mask=np.array([True, False])).tolist() == [1, 0]
    assert softmax(np.zeros(2), mask=np.array([False, False])).tolist() == [0, 0]


def test_float16_scores_near_the_lowest_stay_finite_beside_masks():
    # transformers#17306: the lowest number plus a fill is −inf, and a row of those NaN
    x = np.array([[-65504, -65504, -65472]], np.float16)
    mask = np.array([[True, True, False]]) & np.array([[True, True, False]])
    assert softmax(x, mask=mask).tolist() == [[0.5, 0.5, 0]]
    q, k = np.array([[-255]], np.float16), np.array([[256.5], [256.5], [256]], np.float16)
    v = np.array([[1], [2], [7]], np.float16)
    got = attention(q, k, v, scale=1.0, mask=mask)
    assert got.dtype == np.float16 and got.tolist() == [[1.5]]


def test_the_maximum_starts_at_minus_infinity_not_at_zero():
    # NNlib.jl#43: exp(−1e4 − 0) is 0 for both
    assert softmax([-1e4, -1e4]).tolist() == [0.5, 0.5]
    np.testing.assert_allclose(log_softmax([-1e4, -1e4]), -np.log([2, 2]))


def test_a_high_score_far_from_the_others_takes_the_weight():
    # tilelang#1148
    assert attend_scores([1000, 0], [1, 2]) == 1
    assert attend_scores([0, 1000], [1, 2]) == 2


def test_each_row_has_a_maximum_of_its_own():
    # singa#540: one maximum for the whole array makes the first row 0 / 0
    got = softmax([[0.0, 1.0], [1000.0, 1001.0]])
    np.testing.assert_allclose(got, [[0.26894142, 0.73105858]] * 2, rtol=1e-7)


def test_a_score_of_infinity_takes_all_the_weight():
    # scipy#23225: three NaNs
    assert softmax([1, 1, np.inf]).tolist() == [0, 0, 1]
    assert softmax([np.inf, 1, np.inf]).tolist() == [0.5, 0, 0.5]


def test_the_mean_of_three_values_under_equal_scores():
    # jax#27224: a tail that is dropped gives 1.5, one padded with zeros 2.25
    np.testing.assert_allclose(attend_scores([0, 0, 0], [1, 2, 6]), 3, rtol=1e-15)


@pytest.mark.parametrize("n_query, wanted", [(1, ["11111"]), (2, ["11110", "11111"])])
def test_the_queries_are_the_last_positions(n_query, wanted):
    # pytorch#103082, mlx#2967: aligned at the top left, one query sees one key
    assert ["".join(map(str, row)) for row in causal_mask(n_query, 5).astype(int)] == wanted


def test_several_queries_after_a_past():
    # llama#899, executorch#21749
    mask = causal_mask(9, 16)
    assert mask.shape == (9, 16) and mask[:, :7].all()
    np.testing.assert_array_equal(mask[:, 7:], np.tril(np.ones((9, 9), bool)))
    rng = np.random.default_rng(0)
    q, k, v = (rng.normal(size=(16, d)) for d in (3, 3, 2))
    whole = attention(q, k, v, mask=causal_mask(16))
    np.testing.assert_allclose(attention(q[7:], k, v, mask=mask), whole[7:], rtol=1e-13)


def test_true_means_may_attend():
    # LLMs-from-scratch#1061: an upper triangle taken for what may be attended to
    assert causal_mask(3)[0].tolist() == [True, False, False]
    assert softmax(np.zeros((3, 3)), mask=causal_mask(3))[0].tolist() == [1, 0, 0]


def test_a_mask_of_zeros_and_ones_is_refused_not_added():
    # pytorch#21518
    floats = causal_mask(3).astype(float)
    with pytest.raises(TypeError, match=r"mask: got shape .* of float64; wanted booleans"):
        attention(np.ones((3, 2)), np.ones((3, 2)), np.ones((3, 2)), mask=floats)
    with pytest.raises(TypeError, match=r"mask: got shape .* of float64; wanted booleans"):
        softmax(np.zeros((3, 3)), mask=floats)


def test_a_position_sees_itself():
    # pytorch/tutorials#2250: and np.triu(ones, 1) * −inf is NaN where it should be 0
    assert causal_mask(4).diagonal().all()
    x = np.eye(4)
    got = causal_attention(x, np.eye(4), np.eye(4), np.eye(4))
    assert np.isfinite(got).all() and got[0].tolist() == [1, 0, 0, 0]


def test_a_window_of_three_is_three_keys():
    # transformers#39408
    assert np.flatnonzero(sliding_window_mask(8, window=3)[5]).tolist() == [3, 4, 5]


def test_the_scale_is_that_of_one_head():
    # vit-pytorch#65: d_model 64 in 4 heads has d_head 16, so 1/4 and not 1/8
    q = np.ones((4, 1, 64 // 4))
    assert scores(q, q).ravel().tolist() == [4, 4, 4, 4]  # 16 ones, times 1/4


def test_views_give_what_contiguous_copies_give():
    # pytorch#181133
    rng = np.random.default_rng(0)
    q, k = rng.normal(size=(7, 3)).T, rng.normal(size=(5, 7))[::-1, ::-1]
    v = rng.normal(size=(2, 5)).T[::-1]
    wanted = attention_loops(q, k, v)
    np.testing.assert_allclose(attention(q, k, v), wanted, rtol=1e-13)
    np.testing.assert_allclose(attention(q.copy(), k.copy(), v.copy()), wanted, rtol=1e-13)


def test_integers_give_floats_and_stay_as_they_were():
    # scikit-learn#11226
    x = np.array([[1, 2, 3], [4, 5, 7]])
    got = softmax(x)
    assert got.dtype == np.float64 and x.tolist() == [[1, 2, 3], [4, 5, 7]]
    np.testing.assert_allclose(got[0], np.exp([-2, -1, 0]) / np.exp([-2, -1, 0]).sum())
    assert attention(x, x, x).dtype == np.float64


def test_as_many_values_as_keys():
    # pytorch#193728: the sixth value was dropped without a word
    with pytest.raises(ValueError, match="v: got n_key = 6; wanted n_key = 5, as in k"):
        attention(np.ones((3, 2)), np.ones((5, 2)), np.ones((6, 2)))


def test_no_keys_give_zeros():
    # flash-attention#2470
    got = attention(np.ones((3, 2)), np.ones((0, 2)), np.ones((0, 5)))
    assert got.tolist() == [[0] * 5] * 3


def test_a_key_of_zeros_still_counts():
    # transformers#30377
    np.testing.assert_allclose(attend_scores([0, 0], [1, 2]), 1.5)
    assert softmax(scores(np.ones((1, 2)), np.zeros((4, 2)))).tolist() == [[0.25] * 4]


@pytest.mark.parametrize("dtype, rtol", [
    (np.float16, 2e-3), (np.float32, 2e-6), (np.float64, 1e-14),
])
def test_one_pass_equals_many_within_a_tolerance_for_the_type(dtype, rtol):
    # transformers#25420: position by position against all at once, and never ==
    rng = np.random.default_rng(0)
    x, wq, wk, wv = (rng.normal(size=shape).astype(dtype) for shape in ((11, 5), *[(5, 3)] * 3))
    whole = causal_attention(x, wq, wk, wv)
    for n in range(1, 12):
        last = causal_attention(x[:n], wq, wk, wv)[-1]
        np.testing.assert_allclose(last, whole[n - 1], rtol=rtol, atol=rtol)
    np.testing.assert_allclose(whole, causal_attention_loops(x, wq, wk, wv), rtol=rtol, atol=rtol)


def test_a_decoded_token_has_the_position_of_the_pasts_length():
    # moeut#6: position 0 for every decoded token
    rng = np.random.default_rng(0)
    x, *weights = (rng.normal(size=shape) for shape in ((9, 5), *[(5, 4)] * 3, (4, 3)))
    cache = KVCache(1, 4, capacity=9, dtype=np.float64)
    arguments = {"n_heads": 1, "cache": cache}
    multi_head_attention(x[:7], *weights, rotate=rotary, mask=causal_mask(7), **arguments)
    q, k, v = (x @ w for w in weights[:3])
    turned = rotary(q, np.arange(9)), rotary(k, np.arange(9)), v
    whole = attention_loops(*turned, mask=causal_mask(9)) @ weights[3]
    for i in (7, 8):
        got = multi_head_attention(x[i:i + 1], *weights, rotate=rotary, **arguments)
        np.testing.assert_allclose(got, whole[i:i + 1], rtol=1e-12)


def test_a_decoder_goes_on_where_its_past_ends():
    # moeut#6 and transformers#25420, through a whole model
    model = Decoder.untrained(np.random.default_rng(0), n_vocab=13, d_model=12, n_layers=2,
                              n_heads=3, d_feed=7, dtype=np.float64)
    tokens, caches = [3, 12, 0, 5, 7], model.new_caches()
    steps = [model.logits([token], caches=caches) for token in tokens]
    np.testing.assert_allclose(np.concatenate(steps), model.logits(tokens), rtol=1e-9, atol=1e-12)
