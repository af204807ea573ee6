"""Training: batches of tokens to learn from, and the loop that learns from them."""

from pathlib import Path

import numpy as np

from attention_book.chunked import one_blas_thread
from attention_book.decoder_backward import (
    check_decoder,
    loss_and_gradients,
    named_weights,
    with_weights,
)
from attention_book.decoder_checks import check_tokens
from attention_book.sampling import check_rng
from attention_book.validation import check_count, complain, describe

# What the chapter trains: in full, and with shorter batches where there is one slow thread, as in a
# browser. tools/verify_training.py says of both what holds for several seeds.
ATTENTION_ALONE = {"n_vocab": 32, "d_model": 32, "n_layers": 2, "n_heads": 4, "d_feed": 0,
                   "n_context": 32, "base": 1e3, "tied": False}
SMALL_DECODER = {"d_model": 64, "n_layers": 2, "n_heads": 4, "d_feed": 128, "n_context": 128}
PRESETS = {
    "full": {
        "repeats": {"model": ATTENTION_ALONE, "steps": 600, "rate": 1e-2, "n_samples": 32,
                    "n": 32, "periods": (8, 16)},
        "text": {"model": SMALL_DECODER, "steps": 200, "rate": 5e-3, "n_samples": 16, "n": 64},
    },
    "browser": {
        "repeats": {"model": ATTENTION_ALONE, "steps": 700, "rate": 1e-2, "n_samples": 16,
                    "n": 32, "periods": (8, 16)},
        "text": {"model": {**SMALL_DECODER, "d_model": 32, "d_feed": 64}, "steps": 200,
                 "rate": 1e-2, "n_samples": 8, "n": 32},
    },
}


def train(decoder, batches, optimiser):
    r"""Train a decoder, one step for each batch, and show what it is after every step.

    .. math:: w \leftarrow \text{step}\Big(w, \frac{\partial L}{\partial w}\Big)

    Parameters
    ----------
    decoder : Decoder
        Where to begin. It is not changed.
    batches : iterable of array_like of int, (n_samples, n)
        Tokens to learn from, see :func:`repeated_tokens` and :func:`text_windows`.
    optimiser : Adam
        Says how far each weight moves. It remembers the steps it has made.

    Returns
    -------
    iterator of (int, float, Decoder)
        The number of steps made, the loss on the batch of this step before it was made, and the
        decoder after it. Nothing is computed before it is asked for.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above; if a gradient is not finite, since then the
        steps were too long.

    Examples
    --------
    >>> import numpy as np
    >>> from attention_book import Adam, Decoder
    >>> decoder = Decoder(np.eye(3, 4), [], np.ones(4),
    ...                   n_heads=1, n_context=8)
    >>> batches, adam = [[[0, 2, 0, 2]]] * 20, Adam(rate=0.1)
    >>> for steps, loss, better in train(decoder, batches, adam):
    ...     if steps in (1, 20):
    ...         print(steps, round(loss, 1))
    1 2.2
    20 0.6
    """
    check_decoder(decoder)
    _check_optimiser(optimiser)
    if not np.iterable(batches):
        complain(TypeError, "batches", describe(batches), "arrays of tokens, one after the other")
    return _steps(decoder, batches, optimiser)


def _check_optimiser(optimiser):
    if isinstance(optimiser, type) or not callable(getattr(optimiser, "step", None)):
        complain(TypeError, "optimiser", describe(optimiser), "an optimiser: Adam(rate)")


def _steps(decoder, batches, optimiser):
    for steps, tokens in enumerate(batches, start=1):
        with one_blas_thread():  # the products are small
            loss, gradients = loss_and_gradients(decoder, tokens)
        decoder = with_weights(decoder, optimiser.step(named_weights(decoder), gradients))
        yield steps, loss, decoder


def repeated_tokens(rng, n_samples, n, *, n_vocab, periods):
    """Draw sequences that begin at random and then repeat themselves.

    Parameters
    ----------
    rng : numpy Generator
        What is drawn from.
    n_samples, n : int
        How many sequences, and their length.
    n_vocab : int
        Tokens are ids below it. None occurs twice in what is repeated.
    periods : int or (int, int)
        After how many tokens a sequence repeats itself; of two numbers, each sequence draws one
        between them. A longest period of ``n_vocab``.

    Returns
    -------
    ndarray of int, (n_samples, n)
        Token t equals token t − period, from t = period on.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above.

    Notes
    -----
    What comes in the first period cannot be known; everything after it can. Nothing but the tokens
    tells where the earlier copy is.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> repeated_tokens(rng, 2, 7, n_vocab=9, periods=3).tolist()
    [[4, 5, 2, 4, 5, 2, 4], [2, 8, 3, 2, 8, 3, 2]]
    """
    check_rng(rng, "permuted")
    n_samples, n = check_count("n_samples", n_samples, least=1), check_count("n", n, least=2)
    n_vocab = check_count("n_vocab", n_vocab, least=1)
    low, high = periods if np.iterable(periods) and len(periods) == 2 else (periods, periods)
    low, high = (check_count("periods", period, least=1) for period in (low, high))
    if not low <= high <= n_vocab:
        complain(ValueError, "periods", f"{low} to {high}", f"from low to high, at most {n_vocab}",
                 "No token occurs twice in a period, so there are at most n_vocab in it.")
    tokens = np.tile(np.arange(n_vocab), (n_samples, 1))
    first = rng.permuted(tokens, axis=1)                       # (n_samples, n_vocab)
    period = rng.integers(low, high, (n_samples, 1), endpoint=True)
    return np.take_along_axis(first, np.arange(n) % period, axis=1)


def text_windows(rng, tokens, n_samples, n):
    """Draw pieces of a text.

    Parameters
    ----------
    rng : numpy Generator
        What is drawn from.
    tokens : array_like of int, (n_text,)
        Ids of the tokens of the whole text.
    n_samples, n : int
        How many pieces, and their length.

    Returns
    -------
    ndarray of int, (n_samples, n)
        Pieces that begin anywhere; they may overlap.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> text_windows(rng, np.arange(100), 2, 4).tolist()
    [[82, 83, 84, 85], [61, 62, 63, 64]]
    """
    check_rng(rng, "permuted")
    tokens = check_tokens("tokens", tokens, np.inf)
    n_samples, n = check_count("n_samples", n_samples, least=1), check_count("n", n, least=2)
    if tokens.ndim != 1 or len(tokens) < n:
        complain(ValueError, "tokens", f"shape {tokens.shape}", f"shape (n_text,), at least {n}")
    starts = rng.integers(0, len(tokens) - n, (n_samples, 1), endpoint=True)
    return tokens[starts + np.arange(n)]


def read_story():
    """Return the short story, written for this book, that a small model learns to spell."""
    return Path(__file__).with_name("story.txt").read_text(encoding="utf-8")
