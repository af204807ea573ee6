"""Attention: mixing information from context. The package that the book's chapters build.

Axes run ``(batch..., head, position, feature)``; masks are boolean, True = may attend; the result
has the inputs' floating type; no argument is ever written to.
"""

from attention_book.backward import (
    attention_backward,
    feed_forward_backward,
    linear_backward,
    rms_norm_backward,
    softmax_backward,
)
from attention_book.block_parts import feed_forward, rms_norm, silu
from attention_book.chunked import chunked_attention
from attention_book.decoder_backward import loss_and_gradients
from attention_book.dot_products import scores
from attention_book.head_scores import (
    attention_weights,
    induction_score,
    previous_token_score,
    without_heads,
)
from attention_book.kv_cache import KVCache
from attention_book.losses import next_token_loss, next_token_loss_backward
from attention_book.masks import causal_mask, padding_mask, sliding_window_mask
from attention_book.multi_head import merge_heads, multi_head_attention, repeat_kv, split_heads
from attention_book.optimiser import Adam
from attention_book.positions import rotary
from attention_book.sampling import choose_token
from attention_book.single_head import attention, causal_attention
from attention_book.stable_softmax import log_softmax, log_sum_exp, softmax
from attention_book.training import repeated_tokens, text_windows, train
from attention_book.transformer import Decoder, block

__version__ = "0.1.0"

# In the order in which the book builds them.
__all__ = [  # noqa: RUF022
    "scores",
    "softmax",
    "log_softmax",
    "log_sum_exp",
    "causal_mask",
    "sliding_window_mask",
    "padding_mask",
    "attention",
    "causal_attention",
    "split_heads",
    "merge_heads",
    "repeat_kv",
    "multi_head_attention",
    "KVCache",
    "chunked_attention",
    "rotary",
    "rms_norm",
    "silu",
    "feed_forward",
    "choose_token",
    "block",
    "Decoder",
    "next_token_loss",
    "next_token_loss_backward",
    "linear_backward",
    "softmax_backward",
    "attention_backward",
    "rms_norm_backward",
    "feed_forward_backward",
    "loss_and_gradients",
    "Adam",
    "train",
    "repeated_tokens",
    "text_windows",
    "attention_weights",
    "without_heads",
    "induction_score",
    "previous_token_score",
]
