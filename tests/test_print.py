"""The printed book: links stay inside it, and the site offers it once it is there."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "book" / "_ext")]

import printed  # noqa: E402

import print_book  # noqa: E402

PAGES = ["book/index", "notebooks/05_causal_mask", "CHANGELOG"]


@pytest.mark.parametrize(("address", "page", "wanted"), [
    ("#padding", "notebooks/05_causal_mask", "#notebooks-05_causal_mask--padding"),
    ("../notebooks/05_causal_mask.html#padding", "book/index",
     "#notebooks-05_causal_mask--padding"),
    ("../CHANGELOG.html", "book/index", "#CHANGELOG"),
    ("book/index.html", "CHANGELOG", "#book-index"),
    ("https://arxiv.org/abs/1706.03762", "book/index", "https://arxiv.org/abs/1706.03762"),
    ("../_downloads/x/LICENSE", "book/index", "../_downloads/x/LICENSE")])
def test_where_a_link_leads(address, page, wanted):
    assert print_book.inside(address, page, PAGES) == wanted


def test_a_page_in_the_document():
    article = BeautifulSoup('<article><h1 id="a">A<a class="headerlink" href="#a">#</a></h1>'
                            '<p class="launch">Run</p><script>x</script>'
                            '<a href="../_downloads/LICENSE">licence</a><a href="#a">up</a>'
                            '<img class="ab-dark" src="d.png"><img src="../_images/l.png" '
                            'loading="lazy"></article>', "html.parser").article
    assert print_book.heading(article) == "A"
    assert print_book.body_of(article, "book/index", PAGES) == (
        '<section id="book-index"><h1 id="book-index--a">A</h1><span>licence</span>'
        '<a href="#book-index--a">up</a><img src="../_images/l.png"/></section>')


def test_the_site_offers_what_was_printed(tmp_path, monkeypatch):
    source = [f"Read.\n\n{printed.MARK}\n"]
    printed.show_line(None, "book/index", source)
    assert printed.OFF in source[0]
    site = tmp_path / "site"
    (site / "book").mkdir(parents=True)
    page = site / "book" / "index.html"
    page.write_text(f"<p>{printed.OFF}</p>", encoding="utf-8")
    file = tmp_path / "attention-book.pdf"
    file.write_bytes(b"%PDF" + bytes(11_000_000))
    monkeypatch.setattr(printed, "FILE", file)
    printed.note()
    app = SimpleNamespace(builder=SimpleNamespace(format="html"), outdir=site)
    printed.offer_again(app, None)
    assert f"<p>{printed.ON} (11 MB).</p>" == page.read_text(encoding="utf-8")
    assert (site / "attention-book.pdf").exists()


def test_a_pdf_of_other_sources_is_not_offered(tmp_path, monkeypatch):
    file = tmp_path / "attention-book.pdf"
    monkeypatch.setattr(printed, "FILE", file)
    assert not printed.is_current()
    file.write_bytes(b"%PDF")
    printed.note()
    assert printed.is_current()
    monkeypatch.setattr(printed, "fingerprint", lambda name: "of changed chapters")
    assert not printed.is_current()
