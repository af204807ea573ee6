"""The cache: what is kept, what is refused, and that nobody writes into it from outside."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_book.kv_cache import KVCache
from attention_book.masks import causal_mask
from attention_book.single_head import attention
from references import FLOATS, attention_loops, causal_mask_loops


def rows(rng, n, *, batch=(), n_kv_heads=3, d_head=5, d_value=2, dtype=np.float32):
    """New keys and values for ``n`` positions."""
    return [rng.normal(size=(*batch, n_kv_heads, n, d)).astype(dtype) for d in (d_head, d_value)]


def made(**options):
    return KVCache(3, 5, **{"d_value": 2, "capacity": 11, **options})


def filled(rng, n, **options):
    cache = made(**options)
    cache.append(*rows(rng, n))
    return cache


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("batch", [(), (2,), (7, 2), (0,)])
def test_what_is_appended_is_what_is_stored(rng, dtype, batch):
    cache = made(batch_shape=batch, dtype=dtype)
    assert len(cache) == 0 and cache.keys.shape == (*batch, 3, 0, 5)
    parts = [rows(rng, n, batch=batch, dtype=dtype) for n in (1, 3, 0, 1, 6)]
    for i, (k, v) in enumerate(parts):
        keys, values = cache.append(k, v)
        all_k, all_v = (np.concatenate([part[j] for part in parts[:i + 1]], axis=-2)
                        for j in range(2))
        for got in (keys, cache.keys):
            np.testing.assert_array_equal(got, all_k, strict=True)
        for got in (values, cache.values):
            np.testing.assert_array_equal(got, all_v, strict=True)
        assert len(cache) == all_k.shape[-2]
    assert cache.capacity == 11 and cache.dtype == dtype


def test_defaults():
    cache = KVCache(2, 7, capacity=3)
    keys, values = cache.append(*np.ones((2, 2, 3, 7), np.float32))
    assert keys.shape == values.shape == (2, 3, 7) and keys.dtype == values.dtype == np.float32


def test_a_step_copies_nothing_that_is_stored(rng):
    cache = filled(rng, 4)
    before = cache.keys
    keys, values = cache.append(*rows(rng, 2))
    assert np.shares_memory(keys, before) and np.shares_memory(values, cache.values)
    address = keys.__array_interface__["data"][0]
    for _ in range(5):
        keys, _ = cache.append(*rows(rng, 1))
        assert keys.__array_interface__["data"][0] == address


def test_callers_cannot_write_into_the_cache(rng):
    cache = filled(rng, 4)
    for view in (*cache.append(*rows(rng, 1)), cache.keys, cache.values):
        with pytest.raises(ValueError, match="read-only"):
            view[..., 0, 0] = 7
        with pytest.raises(ValueError, match="read-only"):
            np.add(view, 1, out=view)
    for name in ("keys", "values"):
        with pytest.raises(AttributeError):
            setattr(cache, name, np.zeros(3))


def test_the_cache_keeps_numbers_not_the_arrays_it_was_given(rng):
    k, v = rows(rng, 2)
    cache = made()
    cache.append(k, v)
    wanted = k.copy()
    k[:], v[:] = 99, 99
    np.testing.assert_array_equal(cache.keys, wanted)
    assert not np.shares_memory(cache.keys, k)


def test_arguments_are_not_written_to_and_may_be_views(rng):
    k, v = rows(rng, 4)
    for array in (k, v):
        array.flags.writeable = False
    cache = made()
    cache.append(k[:, ::2], v[:, ::2])
    cache.append(k[:, ::-1], v[:, ::-1])
    wanted = np.concatenate([k[:, ::2], k[:, ::-1]], axis=1)
    np.testing.assert_array_equal(cache.keys, wanted)
    cache.append(cache.keys[:, :2], cache.values[:, :2])  # its own memory
    np.testing.assert_array_equal(cache.keys[:, 6:], wanted[:, :2])
    other = made()
    other.append(k.astype(">f4"), v.astype(">f4"))
    np.testing.assert_array_equal(other.keys, k)


def test_keys_that_are_all_zeros_count():
    # transformers#30377: the length was found by looking for rows that are not zero
    cache = made()
    cache.append(np.zeros((3, 2, 5), np.float32), np.ones((3, 2, 2), np.float32))
    assert len(cache) == 2 and cache.keys.shape == (3, 2, 5)
    cache.append(np.ones((3, 1, 5), np.float32), np.zeros((3, 1, 2), np.float32))
    assert len(cache) == 3
    got = attention(np.zeros((3, 1, 5), np.float32), cache.keys, cache.values)
    np.testing.assert_allclose(got, np.full((3, 1, 2), 2 / 3), rtol=1e-6)


def test_nan_is_stored_like_any_other_number():
    cache = made()
    cache.append(np.full((3, 1, 5), np.nan, np.float32), np.full((3, 1, 2), np.inf, np.float32))
    assert np.isnan(cache.keys).all() and np.isinf(cache.values).all() and len(cache) == 1


def test_copies_are_branches(rng):
    # MemOS#2301, llama.cpp#3802
    cache = filled(rng, 4)
    branch = cache.copy()
    assert type(branch) is KVCache and len(branch) == 4 and branch.capacity == 11
    k, v = rows(rng, 3)
    before = cache.keys.copy(), cache.values.copy()
    cache.append(k, v)
    branch.append(-k[:, :1], -v[:, :1])
    assert (len(cache), len(branch)) == (7, 5)
    np.testing.assert_array_equal(cache.keys, np.concatenate([before[0], k], axis=1))
    np.testing.assert_array_equal(branch.keys, np.concatenate([before[0], -k[:, :1]], axis=1))
    np.testing.assert_array_equal(branch.values, np.concatenate([before[1], -v[:, :1]], axis=1))
    assert not np.shares_memory(cache.keys, branch.keys)
    assert not np.shares_memory(cache.values, branch.values)


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy,
                                 lambda cache: pickle.loads(pickle.dumps(cache))])
def test_other_ways_to_copy_are_branches_too(rng, how):
    cache = filled(rng, 4)
    wanted = cache.keys.copy()
    branch = how(cache)
    branch.truncate(2)
    branch.append(*rows(rng, 3))
    np.testing.assert_array_equal(cache.keys, wanted)
    assert (len(cache), len(branch)) == (4, 5)


def test_truncate_goes_back(rng):
    cache = filled(rng, 7)
    wanted = cache.keys.copy()
    cache.truncate(7)
    assert len(cache) == 7
    cache.truncate(3)
    assert len(cache) == 3
    np.testing.assert_array_equal(cache.keys, wanted[:, :3])
    k, v = rows(rng, 8)
    cache.append(k, v)
    np.testing.assert_array_equal(cache.keys, np.concatenate([wanted[:, :3], k], axis=1))
    cache.truncate(0)
    assert len(cache) == 0 and cache.keys.shape == (3, 0, 5)


def test_truncating_a_branch_leaves_the_other(rng):
    cache = filled(rng, 7)
    branch = cache.copy()
    branch.truncate(2)
    assert (len(cache), len(branch)) == (7, 2)
    cache.truncate(5)
    assert (len(cache), len(branch)) == (5, 2)


@given(st.lists(st.one_of(st.tuples(st.just("append"), st.integers(0, 4)),
                          st.tuples(st.just("truncate"), st.integers(0, 9)),
                          st.tuples(st.just("copy"), st.just(0)),
                          st.tuples(st.just("swap"), st.just(0)))), st.integers(0, 2**32 - 1))
def test_any_sequence_of_steps_is_what_a_list_of_rows_does(steps, seed):
    rng = np.random.default_rng(seed)
    caches = [(made(), [])]
    for step, n in steps:
        cache, model = caches[-1]
        if step == "append":
            k, v = rows(rng, n)
            if len(model) + n > 11:
                with pytest.raises(ValueError, match="k: got"):
                    cache.append(k, v)
            else:
                cache.append(k, v)
                model += [(k[:, i], v[:, i]) for i in range(n)]
        elif step == "truncate":
            if n > len(model):
                with pytest.raises(ValueError, match="n: got"):
                    cache.truncate(n)
            else:
                cache.truncate(n)
                del model[n:]
        elif step == "copy":
            caches.append((cache.copy(), list(model)))
        else:
            caches.insert(0, caches.pop())
        for cache, model in caches:
            assert len(cache) == len(model)
            for i, (k, v) in enumerate(model):
                np.testing.assert_array_equal(cache.keys[:, i], k)
                np.testing.assert_array_equal(cache.values[:, i], v)


@pytest.mark.parametrize("parts", [[1] * 7, [7], [3, 4], [2, 1, 4], [1, 6], [6, 1]])
def test_decoding_equals_one_pass(rng, parts):
    q, k = (rng.normal(size=(2, 3, 7, 5)) for _ in range(2))
    v = rng.normal(size=(2, 3, 7, 2))
    cache, got = made(batch_shape=(2,), dtype=np.float64, capacity=7), []
    for n in parts:
        new = slice(len(cache), len(cache) + n)
        keys, values = cache.append(k[..., new, :], v[..., new, :])
        got.append(attention(q[..., new, :], keys, values, mask=causal_mask(n, len(cache))))
    wanted = attention_loops(q, k, v, causal_mask_loops(7, 7))
    np.testing.assert_allclose(np.concatenate(got, axis=-2), wanted, rtol=1e-12, atol=1e-13)


def test_memory_is_taken_once(rng):
    cache = KVCache(3, 5, d_value=2, capacity=11, batch_shape=(2,), dtype=np.float16)
    assert cache.keys.base.nbytes + cache.values.base.nbytes == 2 * 3 * 11 * (5 + 2) * 2


K, V = np.ones((3, 2, 5), np.float32), np.ones((3, 2, 2), np.float32)

# The arguments; the error; the argument, what came, what was wanted, and a word of the cause.
APPENDS = [
    ((None, V), TypeError, "k", "None", "n_new, d_head)", "forget"),
    ((K, None), TypeError, "v", "None", "n_new, d_value)", "forget"),
    (([[1], [2, 3]], V), ValueError, "k", "different lengths", "n_new, d_head)", "Pad"),
    ((K, "abc"), TypeError, "v", "text", "n_new, d_value)", ""),
    ((K.astype(object), V), TypeError, "k", "Python objects", "n_new, d_head)", ""),
    ((K.astype(np.float64), V), TypeError, "k", "float64", "float32, the cache's", "np.float64"),
    ((K, V.astype(np.float64)), TypeError, "v", "float64", "float32, the cache's", ".astype"),
    ((K.astype(np.float16), V), TypeError, "k", "float16", "float32", "np.float16"),
    ((K.astype(int), V), TypeError, "k", "int64", "float32", ""),
    ((K, V > 0), TypeError, "v", "bool", "float32", ""),
    ((K + 1j, V), TypeError, "k", "complex", "float32", ""),
    ((K[:, 0], V), ValueError, "k", "(3, 5)", "(3, n_new, 5)", "k[..., None, :]"),
    ((K, V[:, 0]), ValueError, "v", "(3, 2)", "(3, n_new, 2)", "v[..., None, :]"),
    ((K[None], V), ValueError, "k", "(1, 3, 2, 5)", "(3, n_new, 5)", ""),
    ((K[:2], V), ValueError, "k", "(2, 2, 5)", "(3, n_new, 5)", ""),
    ((K[:1], V), ValueError, "k", "(1, 2, 5)", "(3, n_new, 5)", ""),  # no silent broadcasting
    ((K[..., :1], V), ValueError, "k", "(3, 2, 1)", "(3, n_new, 5)", ""),
    ((K, V[..., :1]), ValueError, "v", "(3, 2, 1)", "(3, n_new, 2)", ""),
    ((K.swapaxes(1, 2), V), ValueError, "k", "(3, 5, 2)", "(3, n_new, 5)", ""),
    ((K.swapaxes(0, 1), V), ValueError, "k", "(2, 3, 5)", "(3, n_new, 5)", ""),
    ((K, K), ValueError, "v", "(3, 2, 5)", "(3, n_new, 2)", "d_value"),
    ((K, V[:, :1]), ValueError, "v", "n_new = 1", "n_new = 2, as in k", "one value"),
    ((K[:, :1], V), ValueError, "v", "n_new = 2", "n_new = 1, as in k", "one value"),
    ((np.float32(1), V), ValueError, "k", "()", "(3, n_new, 5)", ""),
    ((np.ones((3, 9, 5), np.float32), np.ones((3, 9, 2), np.float32)), ValueError, "k",
     "n_new = 9", "at most 7", "larger capacity"),
    ((np.ones((3, 8, 5), np.float32), np.ones((3, 8, 2), np.float32)), ValueError, "k",
     "n_new = 8", "4 of 11", "truncate"),
]


@pytest.mark.parametrize("arguments, error, name, got, wanted, cause", APPENDS)
def test_a_refused_append_changes_nothing(rng, arguments, error, name, got, wanted, cause):
    cache = filled(rng, 4)
    before = cache.keys.base.copy(), cache.values.base.copy()
    with pytest.raises((TypeError, ValueError)) as caught:
        cache.append(*arguments)
    assert caught.type is error
    argument, _, rest = str(caught.value).partition(": got ")
    came, _, rest = rest.partition("; wanted ")
    assert argument == name and got in came and wanted in rest and cause in rest, caught.value
    assert len(cache) == 4
    np.testing.assert_array_equal(cache.keys.base, before[0])
    np.testing.assert_array_equal(cache.values.base, before[1])
    cache.append(np.ones((3, 7, 5), np.float32), np.ones((3, 7, 2), np.float32))  # just fits


def test_a_full_cache_takes_no_more(rng):
    cache = filled(rng, 11)
    cache.append(*rows(rng, 0))
    with pytest.raises(ValueError, match=r"at most 0 .* 11 of 11"):
        cache.append(*rows(rng, 1))
    cache.truncate(10)
    cache.append(*rows(rng, 1))
    assert len(cache) == 11


@pytest.mark.parametrize("call, error, name, got, wanted", [
    (lambda: KVCache(0, 5, capacity=3), ValueError, "n_kv_heads", "0", "at least 1"),
    (lambda: KVCache(2.0, 5, capacity=3), TypeError, "n_kv_heads", "2.0", "a whole number"),
    (lambda: KVCache(2, -1, capacity=3), ValueError, "d_head", "-1", "at least 0"),
    (lambda: KVCache(2, True, capacity=3), TypeError, "d_head", "True", "a whole number"),
    (lambda: KVCache(2, 5, capacity=-3), ValueError, "capacity", "-3", "at least 0"),
    (lambda: KVCache(2, 5, capacity=10**30), ValueError, "capacity", "100 bits", "an array can"),
    (lambda: KVCache(2, 4, capacity=2**59), ValueError, "capacity", "(2, 576460752303423488, 4)",
     "an array of at most"),
    (lambda: KVCache(2, 0, d_value=4, capacity=2**59), ValueError, "capacity", "float32",
     "an array of at most"),
    (lambda: KVCache(2, 5, capacity=None), TypeError, "capacity", "None", "a whole number"),
    (lambda: KVCache(2, 5, capacity=3, d_value=1.5), TypeError, "d_value", "1.5", "a whole"),
    (lambda: KVCache(2, 5, capacity=3, batch_shape=3), TypeError, "batch_shape", "3", "a tuple"),
    (lambda: KVCache(2, 5, capacity=3, batch_shape=(2, -1)), ValueError, "batch_shape", "-1", "0"),
    (lambda: KVCache(2, 5, capacity=3, batch_shape="2"), TypeError, "batch_shape", "str", "tuple"),
    (lambda: KVCache(2, 5, capacity=3, dtype=int), TypeError, "dtype", "int64", "floating"),
    (lambda: KVCache(2, 5, capacity=3, dtype=complex), TypeError, "dtype", "complex", "floating"),
    (lambda: KVCache(2, 5, capacity=3, dtype="speed"), TypeError, "dtype", "speed", "floating"),
    (lambda: made().truncate(1), ValueError, "n", "1", "at most the 0"),
    (lambda: made().truncate(-1), ValueError, "n", "-1", "at least 0"),
    (lambda: made().truncate(0.0), TypeError, "n", "0.0", "a whole number"),
])
def test_bad_sizes_are_refused_in_words(call, error, name, got, wanted):
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    assert caught.type is error
    argument, _, rest = str(caught.value).partition(": got ")
    came, _, rest = rest.partition("; wanted ")
    assert argument == name and got in came and wanted in rest, caught.value


def test_the_word_for_a_type_may_be_a_name_or_of_another_byte_order():
    assert KVCache(2, 5, capacity=3, dtype="float64").dtype == np.float64
    assert KVCache(2, 5, capacity=3, dtype=">f4").keys.dtype.isnative


def test_what_it_shows_of_itself():
    cache = KVCache(3, 5, capacity=11, d_value=2, batch_shape=(7,))
    cache.append(np.ones((7, 3, 4, 5), np.float32), np.ones((7, 3, 4, 2), np.float32))
    assert repr(cache) == ("KVCache(4 of 11 positions: keys (7, 3, 4, 5), values (7, 3, 4, 2), "
                           "float32)")
