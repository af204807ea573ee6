"""The loss: how surprised a model is by the tokens that really come next."""

import numpy as np

from attention_book.decoder_checks import check_tokens
from attention_book.dot_products import quiet
from attention_book.stable_softmax import log_softmax
from attention_book.validation import check_floating, complain, in_working_type


@quiet
def next_token_loss(logits, tokens):
    r"""Return the mean negative log-likelihood of each token, given those before it.

    .. math:: L = -\frac{1}{n - 1} \sum_{t=0}^{n-2} \log p_t(\text{tokens}_{t+1}), \qquad
        p_t = \text{softmax}(\text{logits}_t)

    Parameters
    ----------
    logits : array_like, (..., n, n_vocab)
        Row t is a score for each token that may come after the tokens 0 to t.
    tokens : array_like of int, (..., n)
        Ids of the tokens. The first one is predicted by nothing, and what the last row predicts is
        not known.

    Returns
    -------
    float
        In nats, over all positions of all samples: 0 for a model that is certain and right,
        ``log(n_vocab)`` for one that guesses. Infinite logits count as in :func:`softmax`: +inf has
        all the probability, shared equally if there are several, and among −inf alone no token has
        any, so that the loss is infinite. NaN gives NaN.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above.

    Notes
    -----
    Also called cross-entropy. It is computed from :func:`log_softmax`, so it is right also where a
    probability is too small for its type.

    Examples
    --------
    >>> import numpy as np
    >>> round(next_token_loss(np.zeros((3, 2)), [0, 1, 1]), 3)  # log 2
    0.693
    """
    logits, tokens = check_prediction(logits, tokens)
    log_p, targets = log_softmax(logits[..., :-1, :]), tokens[..., 1:, None]
    of_targets = np.take_along_axis(log_p, targets, axis=-1)
    return -float(of_targets.mean(dtype=np.float64))


@quiet
def next_token_loss_backward(logits, tokens):
    r"""Return the loss, and its gradient with respect to the logits.

    .. math:: \frac{\partial L}{\partial \text{logits}_t} =
        \frac{p_t - \text{onehot}(\text{tokens}_{t+1})}{n - 1}, \qquad
        \frac{\partial L}{\partial \text{logits}_{n-1}} = 0

    Parameters
    ----------
    logits, tokens
        As in :func:`next_token_loss`.

    Returns
    -------
    loss : float
        As from :func:`next_token_loss`.
    dlogits : ndarray, (..., n, n_vocab)
        In the floating type of ``logits``. With several samples the mean is over all of them.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above.

    Examples
    --------
    >>> import numpy as np
    >>> logits, tokens = np.zeros((3, 2)), [0, 1, 1]
    >>> loss, dlogits = next_token_loss_backward(logits, tokens)
    >>> dlogits.tolist()
    [[0.25, -0.25], [0.25, -0.25], [0.0, 0.0]]
    """
    logits, tokens = check_prediction(logits, tokens)
    dtype = logits.dtype
    logits, = in_working_type(logits)
    log_p, targets = log_softmax(logits[..., :-1, :]), tokens[..., 1:, None]
    of_targets = np.take_along_axis(log_p, targets, axis=-1)
    dlogits = np.zeros(logits.shape, logits.dtype)
    p = dlogits[..., :-1, :]                                          # filled in place
    np.exp(log_p, out=p)
    np.put_along_axis(p, targets, np.exp(of_targets) - 1, axis=-1)    # p − onehot
    p /= of_targets.size
    return -float(of_targets.mean(dtype=np.float64)), dlogits.astype(dtype, copy=False)


def check_prediction(logits, tokens):
    """Return logits and tokens as arrays, if there is a row for each token, and two at least."""
    logits = check_floating("logits", logits, "(..., n, n_vocab)")
    tokens = check_tokens("tokens", tokens, logits.shape[-1])
    if tokens.shape != logits.shape[:-1]:
        complain(ValueError, "tokens", f"shape {tokens.shape}",
                 f"shape {logits.shape[:-1]}, (..., n)", "One row of logits for each token.")
    if tokens.shape[-1] < 2 or not tokens.size:
        complain(ValueError, "tokens", f"shape {tokens.shape}", "two tokens at least",
                 "The first one is predicted by nothing.")
    return logits, tokens.astype(np.intp, copy=False)
