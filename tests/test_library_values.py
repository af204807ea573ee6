"""The page "Other libraries" says what the libraries gave, and what this book's package gives."""

import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "library_reference")]

import cases  # noqa: E402

import verify_libraries  # noqa: E402

STORED = json.loads(verify_libraries.STORED.read_text(encoding="utf-8"))
PAGE = verify_libraries.PAGE.read_text(encoding="utf-8")
BOOK_ROWS = [(title, place, row) for title, rows in cases.TABLES.items()
             for place, row in enumerate(rows) if row.library == cases.BOOK]


def test_page_shows_what_is_stored():
    assert verify_libraries.filled_in(PAGE, STORED) == PAGE
    shown = re.findall(r'data-of="(\w+)"', PAGE)
    assert sorted(shown) == sorted([*cases.TABLES, "versions"]), "each table once"


def test_a_changed_value_is_seen():
    assert verify_libraries.filled_in(PAGE.replace("| 1.00, 1.50 |", "| 1.50, 1.50 |", 1),
                                      STORED) == PAGE


def test_what_is_stored_belongs_to_the_calls():
    stored = {title: [row[:2] for row in rows] for title, rows in STORED["tables"].items()}
    assert stored == {title: [[row.library, row.call] for row in rows]
                      for title, rows in cases.TABLES.items()}


def test_what_is_stored_was_given_by_the_required_versions():
    text = (verify_libraries.REFERENCE / "requirements.txt").read_text(encoding="utf-8")
    wanted = dict(re.findall(r"^([\w-]+)==(\S+)$", text, re.MULTILINE))
    assert len(wanted) > 4
    assert {name: STORED["versions"][name] for name in wanted} == wanted


@pytest.mark.parametrize(("title", "place", "row"), BOOK_ROWS,
                         ids=[row.call for *_, row in BOOK_ROWS])
def test_this_book_gives_what_the_page_says(title, place, row):
    assert cases.result(row, cases.book_names()) == STORED["tables"][title][place][2]


def test_the_example_on_the_page_is_the_one_that_was_run():
    names = {}
    exec("import numpy as np\n" + re.search(r"```python\n(.+?)```", PAGE, re.DOTALL)[1], names)
    for name, array in (("q", cases.Q), ("k", cases.K), ("v", cases.V), ("mask", cases.MASK)):
        assert names[name].tolist() == array.tolist()
