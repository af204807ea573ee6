"""The reference holds every public name once, under the chapter that builds it."""

import json
import re
import sys
from pathlib import Path

import pytest

import attention_book

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "book" / "_ext"))

import api_pages  # noqa: E402

ENTRIES = [(module, name) for module, entries in api_pages.names().items() for _, name in entries]


def test_every_public_name_has_one_entry():
    listed = [name for _, name in ENTRIES]
    assert len(listed) == len(set(listed))
    assert set(attention_book.__all__) <= set(listed)
    assert re.findall(r"^### `(\w+)`$", api_pages.reference(), re.MULTILINE) == listed


def test_a_module_that_is_not_listed_stops_the_build(monkeypatch):
    monkeypatch.delitem(api_pages.MODULES, "masks")
    with pytest.raises(KeyError, match="masks"):
        api_pages.names()


@pytest.mark.parametrize("stem", sorted({stem for _, stem in api_pages.MODULES.values() if stem}))
def test_the_chapter_that_entries_name_uses_their_modules(stem):
    """A chapter that is there uses what it is said to build; one still to come is no link."""
    of_chapter = [(module, name) for module, name in ENTRIES
                  if api_pages.BUILT_IN.get(name, api_pages.MODULES[module][1]) == stem]
    path = ROOT / "notebooks" / f"{stem}.ipynb"
    links = {"](" in api_pages.chapter(module, name) for module, name in of_chapter}
    assert links <= {api_pages.is_there(stem)}
    if api_pages.is_there(stem):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = "\n".join("".join(cell["source"]) for cell in cells)
        used = {name for _, name in of_chapter if re.search(rf"\b{name}\b", code)}
        assert used


def test_what_a_docstring_says_becomes_what_the_page_shows():
    lines = ["As :func:`scores`, :func:`_hidden` and :meth:`append`: Vaswani et", "al. (2017).", "",
             "Parameters", "----------", "q : array_like, (..., n_query, d_head)",
             "    Queries (one for each position).", "", "Returns", "-------",
             "ndarray, (*batch, n)"]
    api_pages.prepare(None, "function", "", None, None, lines)
    assert lines == [
        "As :func:`scores <attention_book.scores>`, ``_hidden`` and :meth:`append`: "
        "`Vaswani et al. (2017) <bibliography.html#vaswani2017>`__.", "",
        "Parameters", "----------", "q : array_like, ``(..., n_query, d_head)``",
        "    Queries (one for each position).", "", "Returns", "-------",
        "ndarray, ``(*batch, n)``"]
