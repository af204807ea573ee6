"""One small computation, written for the book's package and for each library, as calls to be run.

The page "Other libraries" shows these calls and what they gave. A call is run as it stands here,
with the names that ``book_names`` and ``library_names`` give it: the book's own rows need this
package alone, each of the others its library.
"""

from dataclasses import dataclass

import numpy as np

import attention_book

BOOK = "this book"
SDPA, MHA, JAX = "PyTorch", "PyTorch MHA", "JAX"
HF, ONNX, RUNTIME = "Hugging Face", "ONNX", "ONNX Runtime"

Q = np.array([[0, 0, 0, 0], [1, 1, 1, 1]], np.float32)
K = np.array([[0, 0, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1]], np.float32)
V = np.repeat(np.array([[1], [2], [6]], np.float32), 4, axis=1)
MASK = np.array([[True, False, False], [True, True, False]])
ROW, W = np.array([1, 2], np.float32), np.array([[1, 2], [3, 4]], np.float32)
EMPTY = np.array([[False, False, False], [True, True, False]])


@dataclass(frozen=True)
class Row:
    """A library and a call: its text is run, and shown."""

    library: str
    call: str


def rows(*pairs):
    return [Row(*pair) for pair in pairs]


TABLES = {
    "layout": rows(
        (BOOK, "attention(a, a, a).shape"),
        (SDPA, "sdpa(a, a, a).shape"),
        (SDPA, "sdpa(b, b, b).shape"),
        (MHA, "mha(x, x, x)[0].shape"),
        (MHA, "mha(x, x, x, batch_first=False)[1].shape"),
        (JAX, "dot_product_attention(b, b, b).shape"),
        (HF, "sdpa_attention_forward(layer, a, a, a, None)[0].shape"),
        (ONNX, "Attention(a, a, a).shape"),
        (ONNX, "Attention(x, x, x, q_num_heads=3, kv_num_heads=3).shape")),
    "product": rows(
        (BOOK, "row @ w"),
        (SDPA, "linear(row, w)")),
    "scale": rows(
        (BOOK, "attention(q, k, v)"),
        (BOOK, "attention(q, k, v, scale=1.0)"),
        (SDPA, "sdpa(q, k, v)"),
        (SDPA, "sdpa(q, k, v, scale=1.0)"),
        (MHA, "mha(q, k, v)[0]"),
        (JAX, "dot_product_attention(q, k, v)"),
        (JAX, "dot_product_attention(q, k, v, scale=1.0)"),
        (HF, "sdpa_attention_forward(layer, q, k, v, allow_all)[0]"),
        (HF, "sdpa_attention_forward(layer, q, k, v, allow_all, scaling=1.0)[0]"),
        (ONNX, "Attention(q, k, v)"),
        (ONNX, "Attention(q, k, v, scale=1.0)")),
    "mask": rows(
        (BOOK, "attention(q, k, v, mask=mask)"),
        (SDPA, "sdpa(q, k, v, attn_mask=mask)"),
        (MHA, "mha(q, k, v, attn_mask=mask)[0]"),
        (MHA, "mha(q, k, v, attn_mask=~mask)[0]"),
        (JAX, "dot_product_attention(q, k, v, mask=mask)"),
        (HF, "sdpa_attention_forward(layer, q, k, v, mask)[0]"),
        (ONNX, "Attention(q, k, v, mask)")),
    "numbers": rows(
        (BOOK, "attention(q, k, v, mask=ones)"),
        (SDPA, "sdpa(q, k, v, attn_mask=ones)"),
        (MHA, "mha(q, k, v, attn_mask=ones)[0]"),
        (JAX, "dot_product_attention(q, k, v, mask=ones)"),
        (JAX, "dot_product_attention(q, k, v, bias=ones)"),
        (HF, "sdpa_attention_forward(layer, q, k, v, ones)[0]"),
        (ONNX, "Attention(q, k, v, ones)")),
    "padding": rows(
        (BOOK, "attention(q, k, v, mask=padding_mask(2, 3))"),
        (MHA, "mha(q, k, v, key_padding_mask=padding)[0]"),
        (JAX, "dot_product_attention(q, k, v, key_value_seq_lengths=two)"),
        (HF, "create_bidirectional_mask(config, x, keep, cache=None)[0, 0, 0].tolist()"),
        (ONNX, "Attention(q, k, v, nonpad_kv_seqlen=two)")),
    "causal": rows(
        (BOOK, "attention(q, k, v, mask=causal_mask(2, 3))"),
        (BOOK, "chunked_attention(q, k, v, causal=True)"),
        (SDPA, "sdpa(q, k, v, is_causal=True)"),
        (SDPA, "sdpa(q[:, :, 1:], k, v, is_causal=True)"),
        (SDPA, "sdpa(q, k, v, attn_mask=causal_lower_right(2, 3))"),
        (MHA, "mha(q, k, v, is_causal=True)[0]"),
        (JAX, "dot_product_attention(q, k, v, is_causal=True)"),
        (HF, "sdpa_attention_forward(layer, q, k, v, None)[0]"),
        (HF, "sdpa_attention_forward(layer, q, k, v, after_one)[0]"),
        (ONNX, "Attention(q, k, v, is_causal=1)"),
        (ONNX, "Attention(q, k2, v2, past_key=k1, past_value=v1, is_causal=1)"),
        (ONNX, "Attention(q, k, v, nonpad_kv_seqlen=three, is_causal=1)"),
        (RUNTIME, "Attention(q, k, v, is_causal=1)"),
        (RUNTIME, "Attention(q, k2, v2, past_key=k1, past_value=v1, is_causal=1)")),
    "window": rows(
        (BOOK, "attention(q, k, v, mask=sliding_window_mask(2, 3, window=2))"),
        (JAX, "dot_product_attention(q, k, v, local_window_size=(1, 0))"),
        (HF, "sdpa_attention_forward(layer, q, k, v, window_of_two)[0]")),
    "empty": rows(
        (BOOK, "attention(q, k, v, mask=empty)"),
        (SDPA, "sdpa(q, k, v, attn_mask=empty)"),
        (SDPA, "softmax(scores.masked_fill(~empty, -inf), -1) @ v"),
        (MHA, "mha(q, k, v, attn_mask=~empty)[0]"),
        (JAX, "dot_product_attention(q, k, v, mask=empty)"),
        (HF, "sdpa_attention_forward(layer, q, k, v, empty)[0]"),
        (HF, "eager_attention_forward(layer, q, k, v, lowest, 0.5)[0]"),
        (ONNX, "Attention(q, k, v, empty)"),
        (RUNTIME, "Attention(q, k, v, empty)")),
    "groups": rows(
        (BOOK, "repeat_kv(heads, 2)[:, 0, 0]"),
        (SDPA, "sdpa(four, two_heads, two_heads, enable_gqa=True)[0, :, 0, 0]"),
        (SDPA, "sdpa(four, two_heads, two_heads)"),
        (JAX, "dot_product_attention(four, two_heads, two_heads)[0, 0, :, 0]"),
        (HF, "repeat_kv(two_heads, 2)[0, :, 0, 0]"),
        (ONNX, "Attention(four, two_heads, two_heads)[0, :, 0, 0]")),
    "weights": rows(
        (BOOK, "attention(a, a, a, return_weights=True)[1].shape"),
        (SDPA, "sdpa(a, a, a).shape"),
        (MHA, "mha(x, x, x)[1].shape"),
        (MHA, "mha(x, x, x, average_attn_weights=False)[1].shape"),
        (HF, "eager_attention_forward(layer, a, a, a, None, 0.5)[1].shape"),
        (ONNX, "Attention(a, a, a, returned=3, qk_matmul_output_mode=3).shape")),
    "cache": rows(
        (BOOK, "KVCache(3, 4, capacity=7, batch_shape=(2,)).append(a, a)[0].shape"),
        (HF, "DynamicCache().update(a, a, 0)[0].shape"),
        (HF, "StaticCache(config, max_cache_len=7).update(a, a, 0)[0].shape"),
        (ONNX, "Attention(a, a, a, past_key=a, past_value=a, returned=1).shape")),
    "cut": rows(
        (BOOK, "filled.truncate(2) or len(filled)"),
        (HF, "filled.crop(-3) or filled.get_seq_length()"),
        (HF, "filled.crop(2) or filled.get_seq_length()")),
}


def book_names():
    """Return what the calls of the book's rows may use; a cache is made anew each time."""
    a = np.zeros((2, 3, 5, 4), np.float32)
    filled = attention_book.KVCache(3, 4, capacity=7, batch_shape=(2,))
    filled.append(a, a)
    return {**vars(attention_book), "q": Q, "k": K, "v": V, "a": a, "mask": MASK, "empty": EMPTY,
            "row": ROW, "w": W, "ones": MASK.astype(np.float32), "filled": filled,
            "heads": np.array([[[10.0]], [[20.0]]])}


def result(row, names):
    """Run a row's call; return what it gives as text, or the kind of error that it raises."""
    try:
        return written(eval(row.call, dict(names)))
    except Exception as error:  # what is refused belongs to what is compared
        return f"`{type(error).__name__}`"


def written(found):
    """Write shapes, counts and lists as they are; of arrays, one number for each row."""
    if isinstance(found, int | list):
        return str(found)
    if isinstance(found, tuple):
        return str(tuple(int(length) for length in found))
    numbers = np.asarray(found, dtype=np.float64)
    if numbers.ndim > 1:  # all features of a row are alike here
        numbers = numbers.reshape(-1, 4)[:, 0]
    return ", ".join(f"{number:.2f}" for number in numbers)
