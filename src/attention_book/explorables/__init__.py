"""The book's moving figures: each is alive on a page and in step with Python in a notebook."""

from attention_book.explorables.agreement import Agreement
from attention_book.explorables.block_walk import BlockWalk
from attention_book.explorables.cache import Cache
from attention_book.explorables.heads import Heads
from attention_book.explorables.mixing import Mixing
from attention_book.explorables.real_heads import RealHeads
from attention_book.explorables.softmax_under_stress import SoftmaxUnderStress
from attention_book.explorables.tiles import Tiles
from attention_book.explorables.training import Training
from attention_book.explorables.triangle import Triangle
from attention_book.explorables.why_sqrt_d import WhySqrtD

__all__ = [  # noqa: RUF022 (as in the chapters)
    "Agreement",
    "WhySqrtD",
    "SoftmaxUnderStress",
    "Mixing",
    "Triangle",
    "Heads",
    "Cache",
    "Tiles",
    "BlockWalk",
    "Training",
    "RealHeads",
]
