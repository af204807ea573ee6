"""The gradients of a whole decoder: its forward pass, with all of it kept, then the way back."""

import numpy as np

from attention_book.backward import (
    as_rows,
    through_attention,
    through_feed_forward,
    through_linear,
    through_norm,
)
from attention_book.block_parts import feed_forward, rms_norm
from attention_book.decoder_checks import check_tokens
from attention_book.dot_products import product, quiet, scores
from attention_book.losses import next_token_loss_backward
from attention_book.masks import causal_mask
from attention_book.multi_head import merge_heads, split_heads
from attention_book.positions import cosine_and_sine, turn
from attention_book.stable_softmax import softmax
from attention_book.transformer import Decoder, check_is_decoder
from attention_book.validation import complain


@quiet
def loss_and_gradients(decoder, tokens):
    r"""Return the loss of a decoder on some tokens, and its gradient for every weight.

    .. math:: L(\text{weights}), \qquad \frac{\partial L}{\partial \text{weights}}

    Parameters
    ----------
    decoder : Decoder
        With as many heads of keys and values as of queries, in float32 or float64.
    tokens : array_like of int, (n,) or (n_samples, n)
        Sequences, each of at least two tokens. The loss is the mean over all of them.

    Returns
    -------
    loss : float
        See :func:`next_token_loss`.
    gradients : dict of str to ndarray
        Under the names of :func:`named_weights`, in the weights' shapes and type.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above.

    Notes
    -----
    The way back visits the parts in the opposite order. A residual sum hands its gradient to both
    of its terms. Rumelhart, Hinton and Williams (1986) made this way of computing known.

    Examples
    --------
    >>> import numpy as np
    >>> decoder = Decoder(np.eye(3, 4), [], np.ones(4),
    ...                   n_heads=1, n_context=8)
    >>> loss, gradients = loss_and_gradients(decoder, [0, 2])
    >>> round(loss, 3), sorted(gradients)
    (2.24, ['embedding', 'gain'])
    """
    tokens = _check(decoder, tokens)
    angles, eps = _angles(decoder, tokens.shape[-1]), decoder.eps
    x, kept = decoder.embedding[tokens], []
    for weights in decoder.blocks:
        x, seen = block_forward(x, weights, decoder.heads["n_heads"], angles, eps)
        kept.append(seen)
    normed = rms_norm(x, decoder.gain, eps)
    loss, dlogits = next_token_loss_backward(product(normed, decoder.output), tokens)

    dnormed, doutput = through_linear(normed, decoder.output, dlogits)
    dx, dgain = through_norm(x, decoder.gain, dnormed, eps)
    gradients = {"gain": dgain, "output": doutput}
    for i in reversed(range(len(kept))):
        dx, found = block_backward(decoder.blocks[i], kept[i], dx, angles, eps)
        gradients |= {f"blocks.{i}.{name}": d for name, d in found.items()}
    is_token = tokens.reshape(-1, 1) == np.arange(len(decoder.embedding))
    gradients["embedding"] = is_token.T.astype(dx.dtype) @ as_rows(dx)  # a sum for each token
    if is_tied(decoder):
        gradients["embedding"] += gradients.pop("output").T  # one matrix, used twice
    return loss, gradients


def block_forward(x, w, n_heads, angles, eps):
    """Return what a block gives, and what its way back needs to know."""
    normed = rms_norm(x, w["attention_gain"], eps)
    q, k, v = (split_heads(product(normed, w[name]), n_heads) for name in ("wq", "wk", "wv"))
    q, k = turn(q, *angles), turn(k, *angles)  # (..., n_heads, n, d_head)
    p = softmax(scores(q, k), mask=causal_mask(x.shape[-2]))
    joined = merge_heads(p @ v)
    middle = x + product(joined, w["wo"])
    seen = {"x": x, "normed": normed, "q": q, "k": k, "v": v, "p": p, "joined": joined}
    if not w["w_up"].size:  # attention alone
        return middle, seen
    feed_normed = rms_norm(middle, w["feed_gain"], eps)
    out = middle + feed_forward(feed_normed, w["w_gate"], w["w_up"], w["w_down"])
    return out, {**seen, "middle": middle, "feed_normed": feed_normed}


def block_backward(w, seen, grad, angles, eps):
    """Return the gradient for the rows that a block got, and those of its weights."""
    grad, found = feed_forward_part(w, seen, grad, eps)
    joined = seen["joined"]
    djoined, found["wo"] = through_linear(joined, w["wo"], grad)
    q, k, v, p = (seen[name] for name in ("q", "k", "v", "p"))
    dmixed = split_heads(djoined, q.shape[-3])
    scale = q.shape[-1] ** -0.5
    dq, dk, dv = through_attention(q, k, v, p, dmixed, scale)
    cos, sin = angles
    dq, dk = turn(dq, cos, -sin), turn(dk, cos, -sin)  # turn back
    dnormed = 0
    for name, dhead in (("wq", dq), ("wk", dk), ("wv", dv)):
        part, found[name] = through_linear(
            seen["normed"], w[name], merge_heads(dhead))
        dnormed = dnormed + part    # one row was used three times
    dx, found["attention_gain"] = through_norm(
        seen["x"], w["attention_gain"], dnormed, eps)
    return grad + dx, found         # both terms of the sum


def feed_forward_part(w, seen, grad, eps):
    """Lead a gradient back past and through the feed-forward part of a block."""
    names = ("w_gate", "w_up", "w_down")
    if not w["w_up"].size:  # attention alone
        return grad, {name: np.zeros_like(w[name]) for name in ("feed_gain", *names)}
    dnormed, *found = through_feed_forward(seen["feed_normed"], *(w[name] for name in names), grad)
    dmiddle, dgain = through_norm(seen["middle"], w["feed_gain"], dnormed, eps)
    return grad + dmiddle, {"feed_gain": dgain, **dict(zip(names, found, strict=True))}


def named_weights(decoder):
    """Return all weights of a decoder in one dict: ``embedding``, ``blocks.0.wq``, ``gain`` …"""
    blocks = {f"blocks.{i}.{name}": w for i, weights in enumerate(decoder.blocks)
              for name, w in weights.items()}
    ends = {"embedding": decoder.embedding, **blocks, "gain": decoder.gain}
    return ends if is_tied(decoder) else {**ends, "output": decoder.output}


def with_weights(decoder, weights):
    """Return a decoder of the same sizes with other weights, named as :func:`named_weights` do."""
    blocks = [{name: weights[f"blocks.{i}.{name}"] for name in old}
              for i, old in enumerate(decoder.blocks)]
    return Decoder(weights["embedding"], blocks, weights["gain"], weights.get("output"),
                   **decoder.heads, n_context=decoder.n_context, base=decoder.base,
                   eps=decoder.eps)


def is_tied(decoder):
    """Tell whether the embedding makes the logits, too."""
    return np.shares_memory(decoder.embedding, decoder.output)


def _angles(decoder, n):
    d_head = decoder.blocks[0]["wq"].shape[1] // decoder.heads["n_heads"] if decoder.blocks else 0
    parts = cosine_and_sine(np.arange(n), d_head, decoder.base)
    return [part.astype(decoder.dtype) for part in parts]


def check_decoder(decoder):
    """Return a decoder, if it is one that can be trained."""
    check_is_decoder(decoder)
    if decoder.heads["n_kv_heads"] != decoder.heads["n_heads"]:
        complain(ValueError, "decoder", f"{decoder.heads['n_kv_heads']} heads of keys and values",
                 f"as many as of queries, {decoder.heads['n_heads']}")
    if decoder.dtype.itemsize < 4:
        complain(TypeError, "decoder", f"weights of {decoder.dtype}", "float32 or float64",
                 "Gradients are often too small for float16.")
    return decoder


def _check(decoder, tokens):
    """Return the tokens as an array, if a decoder can be trained on them."""
    check_decoder(decoder)
    tokens = check_tokens("tokens", tokens, len(decoder.embedding))
    if tokens.shape[-1] > decoder.n_context:
        complain(ValueError, "tokens", f"{tokens.shape[-1]} tokens",
                 f"at most {decoder.n_context}, the positions of the context")
    if tokens.shape[-1] < 2 or not tokens.size:
        complain(ValueError, "tokens", f"shape {tokens.shape}", "two tokens at least",
                 "The first one is predicted by nothing.")
    return tokens
