"""The choice of the next token: the likeliest, or by chance according to the softmax."""

import numpy as np

from attention_book.dot_products import quiet
from attention_book.stable_softmax import softmax
from attention_book.validation import (
    check_count,
    check_floating,
    check_positive,
    complain,
    describe,
)


@quiet
def choose_token(logits, *, rng=None, temperature=1.0, top_k=None):
    """Choose the next token: the likeliest one, or by chance according to the softmax.

    Parameters
    ----------
    logits : array_like, (n_vocab,)
        A score for each token.
    rng : numpy Generator, optional
        What chance is drawn from. Without one, the highest logit is chosen: the greedy choice.
    temperature : float
        Logits are divided by it: below 1 the likely tokens become likelier still.
    top_k : int, optional
        Only so many of the highest logits take part. Of equal ones, the first.

    Returns
    -------
    int
        The token's id.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above, or a logit is NaN.

    Notes
    -----
    Drawing from the ``top_k`` likeliest alone: Fan et al. (2018).

    Examples
    --------
    >>> import numpy as np
    >>> logits = np.array([0.0, 3.0, 1.0])
    >>> choose_token(logits)
    1
    >>> rng = np.random.default_rng(0)
    >>> [choose_token(logits, rng=rng, temperature=4.0, top_k=2)
    ...  for _ in range(5)]
    [2, 1, 1, 1, 2]
    """
    logits = check_floating("logits", logits, "(n_vocab,)", min_axes=1)
    if logits.ndim != 1 or not len(logits) or not np.isfinite(logits.max()):
        complain(ValueError, "logits", f"shape {logits.shape}, the highest "
                 f"{logits.max(initial=-np.inf)}", "shape (n_vocab,), the highest a finite number")
    choice = check_choice(rng, temperature, top_k)
    if rng is None:
        return int(logits.argmax())
    kept = np.zeros(len(logits), bool)
    kept[np.argsort(-logits, kind="stable")[:choice["top_k"]]] = True
    distances = (logits - logits.max()).astype(np.float64) / choice["temperature"]
    return int(rng.choice(len(logits), p=softmax(distances, mask=kept)))


def check_rng(rng, *methods, wanted="a NumPy Generator"):
    """Complain unless ``rng`` is what random numbers are drawn from, with these ``methods``."""
    if isinstance(rng, type) or not all(hasattr(rng, name) for name in ("normal", *methods)):
        complain(TypeError, "rng", describe(rng), wanted)


def check_choice(rng, temperature, top_k):
    """Return what :func:`choose_token` is asked for, checked."""
    if rng is not None:
        check_rng(rng, "choice", wanted="a NumPy Generator, or None")
    choice = {"rng": rng, "temperature": check_positive("temperature", temperature),
              "top_k": None if top_k is None else check_count("top_k", top_k, least=1)}
    if rng is None and (choice["temperature"], top_k) != (1, None):
        complain(ValueError, "rng", "None", "a NumPy Generator, with a temperature or top_k",
                 "Without one, the likeliest token is chosen, whatever the temperature.")
    return choice
