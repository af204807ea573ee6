"""Look into a decoder's heads: what they attend to, and what is lost without them."""

import numpy as np

from attention_book.decoder_checks import check_tokens
from attention_book.single_head import attention
from attention_book.transformer import check_is_decoder
from attention_book.validation import (
    check_callable,
    check_count,
    check_floating,
    complain,
    describe,
)


def attention_weights(decoder, tokens, *, off=()):
    """Return the weights of every head of every block.

    Parameters
    ----------
    decoder : Decoder
        The model.
    tokens : array_like of int, (..., n)
        Ids, as in :meth:`Decoder.hidden`.
    off : iterable of (int, int)
        Heads that are switched off, as in :func:`without_heads`. Their weights are there all the
        same.

    Returns
    -------
    ndarray, (n_layers, ..., n_heads, n, n)
        Row i of a head holds the weights with which position i attends to each position. With 100
        tokens and 270 heads it takes 11 MB, and it grows as the square of the tokens.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above.

    Examples
    --------
    >>> import numpy as np
    >>> from attention_book import Decoder
    >>> rng = np.random.default_rng(0)
    >>> decoder = Decoder.untrained(rng, n_vocab=7, d_model=8, d_feed=5,
    ...                             n_layers=2, n_heads=4, n_kv_heads=2)
    >>> attention_weights(decoder, [3, 1, 4]).shape
    (2, 4, 3, 3)
    """
    check_is_decoder(decoder)
    tokens = check_tokens("tokens", tokens, len(decoder.embedding))
    *leading, n = tokens.shape
    found = []

    def watched(q, k, v, *, mask=None):
        """Attend, and keep the weights."""
        mixtures, weights = attention(q, k, v, mask=mask, return_weights=True)
        found.append(weights.reshape(*leading, decoder.heads["n_heads"], n, n))
        return mixtures

    decoder.hidden(tokens, attend=without_heads(decoder, off, watched))
    return np.stack(found) if found else np.zeros((0, *leading, decoder.heads["n_heads"], n, n))


def without_heads(decoder, heads, attend=attention):
    """Return what attends in each block when some heads are switched off: they find zeros.

    Parameters
    ----------
    decoder : Decoder
        The model. It is not changed.
    heads : iterable of (int, int)
        Block and head, both counted from 0.
    attend : callable
        What the other heads do, as in :func:`multi_head_attention`.

    Returns
    -------
    list of callable
        One for each block, for ``attend=`` of the decoder's methods.

    Raises
    ------
    TypeError, ValueError
        If there is no such head.

    Notes
    -----
    The other heads, and all later blocks, work on with what is left: an ablation, as in Michel,
    Levy and Neubig (2019).

    Examples
    --------
    >>> import numpy as np
    >>> from attention_book import Decoder
    >>> rng = np.random.default_rng(0)
    >>> decoder = Decoder.untrained(rng, n_vocab=7, d_model=8, d_feed=5,
    ...                             n_layers=2, n_heads=2)
    >>> whole = decoder.logits([3, 1, 4])
    >>> rest = without_heads(decoder, [(1, 0)])
    >>> np.allclose(decoder.logits([3, 1, 4], attend=rest), whole)
    False
    """
    check_is_decoder(decoder)
    n_heads, n_kv_heads = decoder.heads["n_heads"], decoder.heads["n_kv_heads"]
    check_callable("attend", attend, "a function, called as attend(q, k, v, mask=mask)")
    kept = np.ones((len(decoder.blocks), n_heads), bool)
    for head in _pairs(heads):
        kept[_check_head(head, kept.shape)] = False
    if n_kv_heads < n_heads:  # heads that share keys have an axis of their own
        kept = kept.reshape(len(kept), n_kv_heads, n_heads // n_kv_heads)

    def with_those(kept_here):
        """Return what attends in a block of which only some heads are kept."""
        def some(q, k, v, *, mask=None):
            """Attend, and give zeros for the others."""
            return np.where(kept_here[..., None, None], attend(q, k, v, mask=mask), 0)

        return attend if kept_here.all() else some

    return [with_those(kept_here) for kept_here in kept]


def induction_score(weights, period):
    r"""Say how much a head looks at what came after the earlier copy of its token.

    .. math:: \frac{1}{n - p} \sum_{t=p}^{n-1} W_{t, \; t-p+1}

    Parameters
    ----------
    weights : array_like, (..., n, n)
        Causal attention weights over a text that repeats itself; see :func:`attention_weights`.
    period : int
        After how many tokens it does so, below ``n``. Token t equals token t − period.

    Returns
    -------
    ndarray, (...)
        For each head the mean weight from t to t − period + 1, over all t that have an earlier
        copy: 1 where nothing else is looked at.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above.

    Notes
    -----
    The prefix-matching score of Olsson et al. (2022).

    Examples
    --------
    >>> import numpy as np
    >>> text = "a b c a b c".split()
    >>> weights = np.zeros((6, 6))
    >>> weights[3, 1] = 1  # the second a looks at b
    >>> weights[4, 2] = 1  # the second b looks at c
    >>> weights[5, 2] = weights[5, 3] = 0.5
    >>> float(induction_score(weights, period=3).round(3))
    0.833
    """
    weights = _check_weights(weights)
    period = check_count("period", period, least=1)
    if period >= weights.shape[-1]:
        complain(ValueError, "period", period, f"below n = {weights.shape[-1]}",
                 "No token has an earlier copy.")
    return _on_diagonal(weights, period - 1)[..., 1:].mean(axis=-1)


def previous_token_score(weights):
    r"""Say how much a head looks at the token before.

    .. math:: \frac{1}{n - 1} \sum_{t=1}^{n-1} W_{t, \; t-1}

    Parameters
    ----------
    weights : array_like, (..., n, n)
        Causal attention weights, over two tokens at least.

    Returns
    -------
    ndarray, (...)
        For each head the mean weight from t to t − 1, over all t that have a token before.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above.

    Examples
    --------
    >>> import numpy as np
    >>> weights = np.array([[1.0, 0.0, 0.0],
    ...                     [0.5, 0.5, 0.0],
    ...                     [0.0, 1.0, 0.0]])
    >>> float(previous_token_score(weights))
    0.75
    """
    weights = _check_weights(weights)
    if weights.shape[-1] < 2:
        complain(ValueError, "weights", f"shape {weights.shape}", "two tokens at least",
                 "The first token has none before it.")
    return _on_diagonal(weights, 1).mean(axis=-1)


def _on_diagonal(weights, back):
    """Return each position's weight on the one that is ``back`` positions before, if there is."""
    return np.diagonal(weights, -back, axis1=-2, axis2=-1)


def _check_weights(weights):
    weights = check_floating("weights", weights, "(..., n, n)")
    if weights.shape[-1] != weights.shape[-2]:
        complain(ValueError, "weights", f"shape {weights.shape}", "shape (..., n, n)",
                 "Each token has a row, and a column.")
    return weights


def _pairs(heads):
    """Return the pairs of block and head as a list, if they are pairs."""
    heads = list(heads) if np.iterable(heads) else [heads]
    for head in heads:
        if np.ndim(head) != 1 or len(head) != 2:
            complain(TypeError, "heads", describe(head), "pairs of block and head: [(18, 6)]")
    return heads


def _check_head(head, shape):
    """Return a pair of block and head, if the decoder has it."""
    for number, name, n in zip(head, ("block", "head"), shape, strict=True):
        if check_count("heads", number) >= n:
            complain(ValueError, "heads", f"the {name} {number}", f"one from 0 to {n - 1}")
    return tuple(head)
