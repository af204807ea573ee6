"""Every term of the glossary has a definition that can be shown beside the text."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from test_reference_pages import slug, terms

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "book" / "_ext"))

import glossary_terms


@pytest.mark.parametrize("term", terms())
def test_a_definition_is_plain_text(term):
    shown, text = glossary_terms.definitions()[slug(term)]
    assert shown == term
    assert 30 < len(text) < 330, "a sentence or two"
    assert not set("\\{}$`*^[]<>") & set(text)


def test_a_page_gets_the_definitions_that_it_links():
    link = '<a class="reference internal" href="../book/glossary.html#query">asks</a>'
    context = {"body": f"<p>{link} <a href='x.html#key'>key</a></p>"}
    glossary_terms.add_definitions(SimpleNamespace(), "notebooks/x", "", context, None)
    assert 'class="reference internal term" href="../book/glossary.html#query"' in context["body"]
    assert '{"query": ["query", "The vector' in context["body"]
    assert '"key"' not in context["body"]


def test_a_page_without_terms_stays_as_it_is():
    context = {"body": "<p>nothing</p>"}
    glossary_terms.add_definitions(SimpleNamespace(), "book/x", "", context, None)
    assert context == {"body": "<p>nothing</p>"}
