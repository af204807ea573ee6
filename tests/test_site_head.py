"""What a page says to those who search and share it."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from docutils import nodes

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "book" / "_ext"))

import page_head  # noqa: E402

TITLE = "Attention"
PROSE = "A query asks, every key answers, and the value that fits is what moves on from there."


@pytest.fixture
def app(tmp_path, monkeypatch):
    """A site of one page, without an address."""
    monkeypatch.delenv("SITE_URL", raising=False)
    config = SimpleNamespace(html_title=TITLE, root_doc="book/index")
    first = document("From the first page. " + PROSE)
    environment = SimpleNamespace(get_doctree=lambda name: first,
                                  titles={"notebooks/01_x": nodes.title("", "1. Scores")})
    return SimpleNamespace(config=config, env=environment, outdir=tmp_path,
                           builder=SimpleNamespace(format="html"))


def document(text):
    page = nodes.section()
    page += nodes.paragraph("", "", nodes.strong("", "You need"), nodes.Text(" patience, " * 9))
    page += nodes.paragraph("", "", nodes.Text(text))
    return page


def said(app, name, doctree, title="1. <em>Scores</em> &amp; more"):
    context = {"title": title}
    page_head.describe_page(app, name, "page.html", context, doctree)
    pairs = re.findall(r'<meta (?:name|property)="([^"]+)" content="([^"]*)" />',
                       context["metatags"])
    return dict(pairs), context["metatags"]


def test_page_says_its_title_and_its_first_prose(app):
    found, _ = said(app, "notebooks/01_x", document(PROSE))
    assert found["description"] == found["og:description"] == PROSE
    assert found["og:title"] == "1. Scores &amp; more"
    assert found["og:site_name"] == TITLE
    assert found["twitter:card"] == "summary"


def test_long_prose_ends_at_a_word(app):
    found, _ = said(app, "notebooks/01_x", document(PROSE * 3))
    assert len(found["description"]) <= page_head.LONGEST_DESCRIPTION
    assert re.search(r" \w+…$", found["description"])


def test_without_an_address_there_is_no_picture(app):
    found, tags = said(app, "notebooks/01_x", document(PROSE))
    assert "og:image" not in found and "canonical" not in tags
    page_head.draw_previews(app, None)
    assert list(app.outdir.iterdir()) == []


def test_with_an_address_the_picture_has_one(app, monkeypatch):
    monkeypatch.setenv("SITE_URL", "https://a.example.org/book/")
    found, tags = said(app, "notebooks/01_x", document(PROSE))
    assert found["og:url"] == "https://a.example.org/book/notebooks/01_x.html"
    assert f'<link rel="canonical" href="{found["og:url"]}" />' in tags
    assert found["twitter:card"] == "summary_large_image"
    page_head.draw_previews(app, None)
    path = app.outdir / found["og:image"].removeprefix("https://a.example.org/book/")
    head = path.read_bytes()[:24]
    assert head.startswith(b"\x89PNG")
    assert (int.from_bytes(head[16:20]), int.from_bytes(head[20:24])) == (1200, 630)


def test_address_of_the_site_says_what_the_first_page_says(app):
    found, _ = said(app, page_head.START, None, title="")
    assert found["description"].startswith("From the first page.")
    assert found["og:title"] == TITLE
    [(name, page, template)] = page_head.start(app)
    assert (name, page["start"], template) == ("index", "book/index.html", "start.html")
