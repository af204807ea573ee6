"""The book's moving figures: each is alive on a page and in step with Python in a notebook."""

from attention_book.explorables.agreement import Agreement

__all__ = ["Agreement"]
