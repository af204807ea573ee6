"""The transformer block around the attention of the modules above, and a decoder made of blocks."""

import numpy as np

from attention_book.block_parts import feed_forward, rms_norm
from attention_book.decoder_checks import (
    check_attends,
    check_block,
    check_blocks,
    check_caches,
    check_ends,
    check_tokens,
    weight_shapes,
)
from attention_book.dot_products import product, quiet
from attention_book.kv_cache import KVCache
from attention_book.multi_head import multi_head_attention
from attention_book.positions import cosine_and_sine, turn
from attention_book.sampling import check_choice, check_rng, choose_token
from attention_book.single_head import attention
from attention_book.validation import (
    check_count,
    check_flag,
    check_float_type,
    check_length,
    check_positive,
    complain,
    describe,
    in_working_type,
    working_type,
)


@quiet
def block(x, weights, *, n_heads, n_kv_heads=None, eps=1e-5,
          mask=None, rotate=None, cache=None, attend=attention):
    r"""Add to each token what attention finds for it, then what a feed-forward network makes of it.

    .. math:: Y = X + \text{attention}(\text{norm}(X)), \qquad
        \text{result} = Y + \operatorname{ffn}(\text{norm}(Y))

    Parameters
    ----------
    x : array_like, (..., n, d_model)
        One row for each token. With a cache, the tokens that follow those in it.
    weights : dict of str to array_like
        ``attention_gain`` and ``feed_gain`` for :func:`rms_norm`; ``wq``, ``wk``, ``wv`` and ``wo``
        for :func:`multi_head_attention`; ``w_gate``, ``w_up`` and ``w_down`` for
        :func:`feed_forward`.
    n_heads, n_kv_heads, mask, rotate, cache, attend
        As in :func:`multi_head_attention`.
    eps : float
        As in :func:`rms_norm`.

    Returns
    -------
    ndarray, (..., n, d_model)
        In the inputs' floating type.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above. A cache is then unchanged.

    Notes
    -----
    The sums around both parts are the residual connections of He et al. (2016). The norms come
    before the parts, as studied by Xiong et al. (2020); Vaswani et al. (2017) had them after.

    Examples
    --------
    >>> import numpy as np
    >>> eye, none = np.eye(2), np.zeros((2, 2))
    >>> weights = dict(
    ...     attention_gain=np.ones(2), wq=eye, wk=eye, wv=eye, wo=eye,
    ...     feed_gain=np.ones(2), w_gate=none, w_up=none, w_down=none)
    >>> x = np.array([[3.0, 3.0]])
    >>> block(x, weights, n_heads=1).round(3).tolist()
    [[4.0, 4.0]]
    """
    x, w = check_block(x, weights)
    normed = rms_norm(x, w["attention_gain"], eps)
    x = x + multi_head_attention(
        normed, w["wq"], w["wk"], w["wv"], w["wo"], n_heads=n_heads,
        n_kv_heads=n_kv_heads, mask=mask, rotate=rotate, cache=cache,
        attend=attend)
    normed = rms_norm(x, w["feed_gain"], eps)
    x = x + feed_forward(normed, w["w_gate"], w["w_up"], w["w_down"])
    return x


class Decoder:
    r"""A language model: an embedding, blocks one on top of the other, and a score for every token.

    Parameters
    ----------
    embedding : array_like, (n_vocab, d_model)
        A vector for each token that there is.
    blocks : list of dict
        The weights of each :func:`block`, all of the same shapes, with
        ``d_head = d_value``.
    gain : array_like, (d_model,)
        For the norm after the last block.
    output : array_like, (d_model, n_vocab), optional
        Makes logits of the last rows; ``embedding.T`` if not given: tied embeddings.
    n_heads, n_kv_heads : int
        As in :func:`multi_head_attention`.
    n_context : int
        The largest number of positions, those of a prompt and of what is generated.
    base : float
        For rotary positions, see :func:`rotary`.
    eps : float
        For :func:`rms_norm`.

    Attributes
    ----------
    embedding, blocks, gain, output
        The weights, in one floating type.
    dtype
        That type.
    heads : dict
        ``n_heads`` and ``n_kv_heads``.
    n_context, base, eps
        As given.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above.

    Notes
    -----
    Wherever a method takes ``attend``, it is a function as in :func:`multi_head_attention`, such as
    :func:`chunked_attention`, or a list with one for each block. It gets a causal mask, or None
    where the one new token may attend to everything. The arrangement is that of Touvron et al.
    (2023).

    Examples
    --------
    >>> import numpy as np
    >>> decoder = Decoder(2 * np.eye(3, 4), [], np.ones(4),  # no blocks
    ...                   n_heads=1, n_context=8)
    >>> logits = decoder.logits([0, 2])  # each token expects itself
    >>> logits.round(3).tolist()
    [[4.0, 0.0, 0.0], [0.0, 0.0, 4.0]]
    >>> list(decoder.generate([0, 2], 3))
    [2, 2, 2]
    """

    def __init__(self, embedding, blocks, gain, output=None, *, n_heads, n_kv_heads=None,
                 n_context, base=10000.0, eps=1e-5):
        n_heads = check_count("n_heads", n_heads, least=1)
        if n_kv_heads is None:
            n_kv_heads = n_heads
        n_kv_heads = check_count("n_kv_heads", n_kv_heads, least=1)
        self.heads = {"n_heads": n_heads, "n_kv_heads": n_kv_heads}
        self.n_context = check_count("n_context", n_context)
        self.base, self.eps = check_positive("base", base), check_positive("eps", eps)

        ends = check_ends(embedding, gain, output)
        blocks = check_blocks(blocks, ends[0].shape[1], **self.heads)
        self.dtype = np.result_type(*ends, *(w for weights in blocks for w in weights.values()))
        self.embedding, self.gain, self.output = (w.astype(self.dtype, copy=False) for w in ends)
        self.blocks = [{name: w.astype(self.dtype, copy=False) for name, w in weights.items()}
                       for weights in blocks]

    @classmethod
    def untrained(cls, rng, *, n_vocab, d_model, n_layers, n_heads, d_feed, n_kv_heads=None,
                  n_context=512, base=10000.0, tied=True, dtype=np.float32):
        """Return a decoder whose weights are drawn: they keep the variance, and know nothing.

        Parameters
        ----------
        rng : numpy Generator
            What the weights are drawn from.
        n_vocab, d_model, n_layers, n_heads, d_feed, n_kv_heads, n_context : int
            Its sizes; ``d_head`` is ``d_model // n_heads``. With a ``d_feed`` of 0 there is
            attention alone.
        base : float
            For rotary positions.
        tied : bool
            Whether the embedding makes the logits too.
        dtype : data-type
            The floating type of the weights.
        """
        def drawn(n_in, n_out):
            """Draw weights for rows of length ``n_in``."""
            return (rng.normal(size=(n_in, n_out)) / n_in**0.5).astype(dtype)

        n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        for name, size in (("n_vocab", n_vocab), ("d_model", d_model), ("n_heads", n_heads),
                           ("n_kv_heads", n_kv_heads)):
            check_length(name, size, least=1)
        check_length("d_feed", d_feed)
        if d_model % (2 * n_heads):
            complain(ValueError, "d_model", d_model, f"a multiple of 2 * n_heads = {2 * n_heads}",
                     "Every head has as many features, in pairs.")
        n_layers = check_count("n_layers", n_layers)
        check_rng(rng)
        tied, dtype = check_flag("tied", tied), check_float_type("dtype", dtype)
        ones, d_head = np.ones(d_model, dtype), d_model // n_heads
        shapes = weight_shapes(d_model, d_model, n_kv_heads * d_head, d_feed)
        blocks = [{name: ones if len(shape) == 1 else drawn(*shape)
                   for name, shape in shapes.items()}
                  for _ in range(n_layers)]
        embedding, output = drawn(d_model, n_vocab).T, None if tied else drawn(d_model, n_vocab)
        return cls(embedding, blocks, ones, output,
                   n_heads=n_heads, n_kv_heads=n_kv_heads, n_context=n_context, base=base)

    def new_caches(self, capacity=None, batch_shape=()):
        """Return an empty :class:`KVCache` for each block, with room for ``capacity`` positions.

        Parameters
        ----------
        capacity : int, optional
            At most ``n_context``, which it is if not given.
        batch_shape : tuple of int
            The leading axes of the tokens to come.
        """
        capacity = self.n_context if capacity is None else check_count("capacity", capacity)
        if capacity > self.n_context:
            complain(ValueError, "capacity", capacity, f"at most n_context = {self.n_context}")
        n_kv_heads = self.heads["n_kv_heads"]
        return [KVCache(n_kv_heads, w["wk"].shape[1] // n_kv_heads, capacity=capacity,
                        batch_shape=batch_shape, dtype=self.dtype) for w in self.blocks]

    @quiet
    def hidden(self, tokens, *, caches=None, attend=attention):
        """Return the vector of each token after the last block and its norm.

        Parameters
        ----------
        tokens : array_like of int, (..., n)
            Ids, from 0 to ``n_vocab - 1``. With caches, the tokens that follow those in them.
        caches : list of KVCache, optional
            One for each block, as from :meth:`new_caches`. All are unchanged if there is an error.
        attend : callable or list of callable
            See the notes of the class.

        Returns
        -------
        ndarray, (..., n, d_model)
        """
        tokens = check_tokens("tokens", tokens, len(self.embedding))
        caches, past = check_caches(caches, len(self.blocks))
        attends = check_attends(attend, len(self.blocks))
        n = tokens.shape[-1]
        self._check_room("tokens", past, n)
        mask = None if n < 2 else _causal_view(n, past + n)
        rotate = self._rotation(np.arange(past, past + n))
        x = self.embedding[tokens]  # (..., n, d_model)
        try:
            for weights, cache, attends_here in zip(self.blocks, caches, attends, strict=True):
                x = block(x, weights, **self.heads, eps=self.eps, mask=mask,
                          rotate=rotate, cache=cache, attend=attends_here)
        except BaseException:
            for cache in caches:
                if cache is not None:
                    cache.truncate(past)
            raise
        return rms_norm(x, self.gain, self.eps)

    def logits(self, tokens, *, caches=None, attend=attention):
        """Return a score for every token that may come next, after each of ``tokens``.

        Parameters
        ----------
        tokens, caches, attend
            As in :meth:`hidden`.

        Returns
        -------
        ndarray, (..., n, n_vocab)
            Their :func:`softmax` is what the model holds for likely.
        """
        return self._scores(self.hidden(tokens, caches=caches, attend=attend))

    def generate(self, prompt, n_new=None, *, rng=None, temperature=1.0, top_k=None, cached=True,
                 attend=attention):
        """Go on from a prompt, giving one token at a time as it is chosen.

        Parameters
        ----------
        prompt : array_like of int, (n,)
            Ids of at least one token.
        n_new : int, optional
            How many tokens; as many as the context has room for, if not given.
        rng, temperature, top_k
            As in :func:`choose_token`.
        cached : bool
            Whether keys and values are kept. Without, each step works on all tokens again.
        attend : callable or list of callable
            See the notes of the class.

        Returns
        -------
        iterator of int
            Nothing is computed before a token is asked for, but the arguments are checked at once.
        """
        prompt = check_tokens("prompt", prompt, len(self.embedding))
        if prompt.ndim != 1 or not len(prompt):
            complain(ValueError, "prompt", f"shape {prompt.shape}",
                     "shape (n,), one token at least")
        self._check_room("prompt", 0, len(prompt))
        room = self.n_context - len(prompt)
        n_new = room if n_new is None else check_count("n_new", n_new)
        if n_new > room:
            complain(ValueError, "n_new", n_new, f"at most {room}: the prompt takes {len(prompt)} "
                     f"of {self.n_context} positions")
        cached = check_flag("cached", cached)
        check_attends(attend, len(self.blocks))
        choice = check_choice(rng, temperature, top_k)
        return self._stream(prompt, n_new, choice, cached, attend)

    def _stream(self, prompt, n_new, choice, cached, attend):
        """Give the tokens, each as soon as it is chosen."""
        caches = self.new_caches(len(prompt) + n_new) if cached else None
        tokens = prompt
        for _ in range(n_new):
            last = self.hidden(tokens, caches=caches, attend=attend)[-1:]
            token = choose_token(self._scores(last)[0], **choice)
            yield token
            tokens = np.array([token]) if cached else np.append(tokens, token)

    def _rotation(self, positions):
        """Return :func:`rotary` for these positions, whose sines are worked out once for all."""
        d_head = self.blocks[0]["wq"].shape[1] // self.heads["n_heads"] if self.blocks else 0
        parts = cosine_and_sine(positions, d_head, self.base)
        parts = [part.astype(working_type(self.dtype), copy=False) for part in parts]
        return lambda x, _: turn(x, *parts)

    def _scores(self, x):
        x, output = in_working_type(x, self.output)
        return product(x, output).astype(self.dtype, copy=False)

    def _check_room(self, name, past, n):
        if past + n > self.n_context:
            complain(ValueError, name, f"{n} tokens" + f" after {past}" * bool(past),
                     f"at most {self.n_context - past}: the context has {self.n_context} positions",
                     "Shorten the text, or leave out its beginning.")


def check_is_decoder(decoder):
    """Complain unless ``decoder`` is one."""
    if not isinstance(decoder, Decoder):
        complain(TypeError, "decoder", describe(decoder), "a Decoder")


def _causal_view(n_query, n_key):
    """Return :func:`causal_mask` as views of one row: for a long text it takes no memory."""
    row = np.arange(n_key + n_query - 1) < n_key
    return np.lib.stride_tricks.sliding_window_view(row, n_key)[::-1]
