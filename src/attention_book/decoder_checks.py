"""What a block and a decoder ask of their weights, tokens and caches."""

import numpy as np

from attention_book.block_parts import check_feed_forward, check_gain, check_matrices
from attention_book.kv_cache import KVCache
from attention_book.multi_head import check_is_cache
from attention_book.validation import (
    as_array,
    check_callable,
    check_floating,
    check_same_length,
    complain,
    describe,
)


def weight_shapes(d_model, d_queries, d_keys, d_feed):
    """Return the shape of each weight of a block."""
    return {"attention_gain": (d_model,), "wq": (d_model, d_queries), "wk": (d_model, d_keys),
            "wv": (d_model, d_keys), "wo": (d_queries, d_model), "feed_gain": (d_model,),
            "w_gate": (d_model, d_feed), "w_up": (d_model, d_feed), "w_down": (d_feed, d_model)}


def check_names(name, weights):
    """Return the weights of a block, if all of them are there and nothing else is."""
    names = list(weight_shapes(0, 0, 0, 0))
    if not isinstance(weights, dict) or set(weights) != set(names):
        came = sorted(map(str, weights)) if isinstance(weights, dict) else describe(weights)
        complain(TypeError, name, came, f"a dict of {', '.join(names)}")
    return weights


def check_block(x, weights):
    """Return ``x`` and the weights, checked so far that nothing fails once attention is done."""
    x = check_floating("x", x, "(..., n, d_model)")
    w = check_names("weights", weights)
    for name in ("attention_gain", "feed_gain"):
        check_gain(name, w[name], x)
    wo = check_floating("wo", w["wo"], "(n_heads * d_value, d_model)")
    _, w_gate, w_up, w_down = check_feed_forward(x, w["w_gate"], w["w_up"], w["w_down"])
    check_matrices(w_gate=w_gate, w_up=w_up, w_down=w_down)
    for name, out in ("wo", wo), ("w_down", w_down):
        check_same_length("x", x.shape[-1], name, out.shape[-1], "d_model",
                          "What a part finds is added to x.")
    return x, w


def check_ends(embedding, gain, output):
    """Return what stands before and after the blocks as arrays; ``embedding.T`` for no output."""
    embedding = check_floating("embedding", embedding, "(n_vocab, d_model)")
    gain = check_gain("gain", gain, embedding)
    tied = output is None
    output = embedding.swapaxes(-1, -2) if tied else check_floating("output", output,
                                                                    "(d_model, n_vocab)")
    if embedding.ndim != 2 or output.shape != embedding.shape[::-1]:
        complain(ValueError, "embedding" if tied else "output",
                 f"embedding {embedding.shape}" + f", output {output.shape}" * (not tied),
                 "(n_vocab, d_model) and (d_model, n_vocab)")
    return embedding, gain, output


def check_blocks(blocks, d_model, n_heads, n_kv_heads):
    """Return the blocks' weights as arrays, all of the shapes that follow from the first block."""
    if not isinstance(blocks, list | tuple):
        complain(TypeError, "blocks", describe(blocks), "a list of dicts, one for each block")
    if n_heads % n_kv_heads:
        complain(ValueError, "n_kv_heads", n_kv_heads, f"a divisor of n_heads = {n_heads}")
    checked = []
    for i, weights in enumerate(blocks):
        arrays = {name: check_floating(f"blocks[{i}]: {name}", w, "of weights", min_axes=1)
                  for name, w in check_names(f"blocks[{i}]", weights).items()}
        checked.append(arrays)
        first = checked[0]
        d_head = first["wq"].shape[-1] // n_heads // 2 * 2  # even, for the rotation
        shapes = weight_shapes(d_model, n_heads * d_head, n_kv_heads * d_head,
                               first["w_gate"].shape[-1])
        for name, shape in shapes.items():
            if arrays[name].shape != shape:
                complain(ValueError, f"blocks[{i}]: {name}", f"shape {arrays[name].shape}",
                         f"shape {shape}", f"There are {n_heads} heads, of an even d_head, and "
                         f"{n_kv_heads} of keys and values.")
    return checked


def check_tokens(name, tokens, n_vocab):
    """Return ids of tokens as an array, if each of them is in the vocabulary."""
    tokens = as_array(name, tokens, "ids (..., n)")
    if not tokens.size:
        tokens = tokens.astype(np.intp)  # an empty list has a floating type
    if tokens.dtype.kind not in "iu":
        complain(TypeError, name, describe(tokens), "whole numbers, the ids of tokens")
    if not tokens.ndim:
        complain(ValueError, name, "a single id", "shape (..., n)", f"Write [{tokens}].")
    outside = (tokens < 0) | (tokens >= n_vocab)
    if outside.any():
        complain(ValueError, name, f"the id {tokens[outside][0]}", f"ids from 0 to {n_vocab - 1}",
                 "Was the text cut into tokens by the tokenizer of another model?")
    return tokens


def check_caches(caches, n_blocks):
    """Return a cache, or None, for each block, and how many positions they hold already."""
    if caches is None:
        return [None] * n_blocks, 0
    if not isinstance(caches, list | tuple) or len(caches) != n_blocks:
        came = f"{len(caches)} of them" if isinstance(caches, list | tuple) else describe(caches)
        complain(TypeError, "caches", came, f"a list of {n_blocks} caches, one for each block",
                 "decoder.new_caches() makes them.")
    for i, cache in enumerate(caches):
        if not isinstance(cache, KVCache):  # nor anything that can do the same
            check_is_cache(f"caches[{i}]", cache, "a KVCache", "decoder.new_caches() makes them.")
    if len({id(cache) for cache in caches}) < n_blocks:
        complain(ValueError, "caches", "the same cache for several blocks",
                 "one for each block", "decoder.new_caches() makes them.")
    pasts = {len(cache) for cache in caches} or {0}
    if len(pasts) > 1:
        complain(ValueError, "caches", f"caches of {sorted(pasts)} positions", "as many in each")
    return caches, pasts.pop()


def check_attends(attend, n_blocks):
    """Return the function that attends in each block."""
    attends = list(attend) if isinstance(attend, list | tuple) else [attend] * n_blocks
    if len(attends) != n_blocks:
        complain(ValueError, "attend", f"{len(attends)} functions", f"one for each of {n_blocks}")
    wanted = "a function, called as attend(q, k, v, mask=mask), or a list of them"
    return [check_callable("attend", function, wanted) for function in attends]
