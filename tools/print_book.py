"""Print the whole book into one PDF, from the built site: _build/pdf/attention-book.pdf.

    python tools/print_book.py [--site _build/html]

The pages become one document, so that every link inside the book leads to a page of the PDF, and
Chromium prints it with an outline. Nothing is printed if a line is too wide or a picture missing.
"""

import argparse
import logging
import re
import shutil
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import yaml
from bs4 import BeautifulSoup

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "book" / "_ext"))

import printed  # noqa: E402

from attention_book import __version__  # noqa: E402

WIDTH = 658  # CSS pixels of text on a page of A4 with these margins
MARGINS = {"top": "18mm", "bottom": "20mm", "left": "18mm", "right": "18mm"}
ARGUMENTS = ["--no-sandbox", "--disable-gpu"]
FOOT = ('<div style="font: 8px sans-serif; width: 100%; text-align: center; color: #6B7280">'
        '<span class="pageNumber"></span></div>')
# What a page has for the screen alone.
ON_SCREEN = ("script, .launch, .headerlink, .prev-next-footer, .copybtn, .ab-dark, #term-tip, "
             ".tag_hide-input details.hide, .pst-js-only")
STYLE = """
@page { size: A4; }
html, body { background: #FFFFFF; margin: 0; overflow: visible; }
body { font-size: 14px; }
.bd-article { padding: 0 !important; }
.bd-article > section { break-before: page; }
.bd-article h1 { break-before: avoid; }
.bd-article a:not(.headerlink) { text-decoration: none; }
.bd-article :is(.pst-scrollable-table-container, div.math, .text_html, pre, article) {
  overflow: visible !important; }
.bd-article table { font-size: 12px; max-width: 100%; }
.bd-article table code { overflow-wrap: anywhere; white-space: normal; }
.bd-article details { break-inside: avoid; }
.bd-article summary { break-after: avoid; }
.bd-article p.rubric { break-after: avoid; }
.bd-article tr { break-inside: avoid; }
.bd-article div.highlight pre, .bd-article .cell_output pre { font-size: 11px;
  overflow-wrap: anywhere; white-space: pre-wrap; }
.bd-article code.literal, .bd-article code.literal .pre { overflow-wrap: anywhere;
  white-space: normal; }
.bd-article svg, .bd-article img { max-width: 100%; height: auto; }
.title-page { break-after: page; padding-top: 60mm; text-align: center; }
.title-page h1 { font-size: 32px; }
.contents li { margin: 2px 0; } .contents ol, .contents ul { list-style: none; }
"""
PICTURES = """() => [...document.images].filter(one => !one.complete || !one.naturalWidth)
  .map(one => one.getAttribute("src"))"""
HEADINGS = """() => [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")]
  .filter(one => one.checkVisibility()).map(one => one.innerText.replace(/\\s+/g, " ").trim())"""
SHRINK = """(width) => {
  for (const one of document.querySelectorAll("mjx-container[display=true] > mjx-math")) {
    const room = width - one.getBoundingClientRect().left;
    const ratio = room / one.getBoundingClientRect().width;
    if (ratio < 1) one.style.fontSize = `${Math.floor(98 * ratio)}%`;
  }
}"""
TOO_WIDE = """(width) => {
  const wide = (one) => [...one.getClientRects()].some(box => box.width && box.right > width + 3);
  const unseen = (node) => node.closest("mjx-assistive-mml, .visually-hidden");
  const found = [...document.querySelectorAll(".bd-article *")].filter(one => wide(one));
  const texts = document.createTreeWalker(document.querySelector(".bd-article"), 4);
  const range = document.createRange();
  while (texts.nextNode()) {
    range.selectNodeContents(texts.currentNode);
    if (wide(range)) found.push(texts.currentNode.parentElement);
  }
  return [...new Set(found)].filter(one => !unseen(one)).map(one => one.outerHTML.slice(0, 160));
}"""
ASTRAY = """() => [...document.links].map(one => one.getAttribute("href"))
  .filter(one => one.startsWith("#") && !document.getElementById(one.slice(1)))"""
MATHEMATICS = """<script>window.MathJax = {options: {enableMenu: false, enableAssistiveMml: false,
  processHtmlClass: "tex2jax_process|mathjax_process|math|output_area"}};</script>"""
TYPESET = "() => { window.MathJax?.startup?.promise?.then(() => { window.typeset = true; }); }"
READY = "window.typeset && document.readyState === 'complete' && document.fonts.status === 'loaded'"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--site", type=Path, default=ROOT / "_build" / "html")
    arguments = parser.parse_args()
    site = arguments.site.resolve()
    if not (site / "book" / "index.html").exists():
        sys.exit("There is no site to print: `make book` builds it.")
    target = printed.FILE
    target.parent.mkdir(parents=True, exist_ok=True)
    faults = print_to(site, one_document(site), target)
    if faults:
        sys.exit("\n".join(["Not printed:", *faults]))
    printed.note()
    printed.offer(site)
    print(f"printed: {target.relative_to(ROOT)}, {target.stat().st_size / 1e6:.1f} MB")


def contents():
    """Return the book's parts: caption, and pages in their order."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    parts = [("", [toc["root"]])]
    return parts + [(part["caption"], [one["file"] for one in part["chapters"]])
                    for part in toc["parts"]]


def one_document(site):
    """Return the book as one page of HTML, to stand in the site's folder of pages."""
    pages = [page for _, pages in contents() for page in pages]
    bodies, titles = [], {}
    for page in pages:
        html = (site / f"{page}.html").read_text(encoding="utf-8")
        article = BeautifulSoup(html, "html.parser").select_one("article.bd-article")
        titles[page] = heading(article)
        bodies.append(body_of(article, page, pages))
    return (f'<!DOCTYPE html><html lang="en" data-theme="light"><head>{head(site, pages)}'
            f'<style>{STYLE}</style></head><body><article class="bd-article">'
            f"{title_page()}{list_of(titles)}{''.join(bodies)}</article></body></html>")


def head(site, pages):
    """Return the style sheets of the pages, and what sets their mathematics."""
    html = (site / f"{pages[-1]}.html").read_text(encoding="utf-8")
    for page in pages:
        if "tex-chtml.js" in (found := (site / f"{page}.html").read_text(encoding="utf-8")):
            html = found
            break
    soup = BeautifulSoup(html, "html.parser").head
    wanted = [*soup.select("link[rel=stylesheet]"), MATHEMATICS,
              *soup.select("script[src*=tex-chtml]")]
    title = f"<title>Attention: mixing information from context, {__version__}</title>"
    return '<meta charset="utf-8">' + title + "".join(map(str, wanted))


def heading(article):
    """Return a page's title as text."""
    first = article.find("h1")
    for link in first.select(".headerlink"):
        link.decompose()
    return " ".join(first.get_text(" ").split())


def body_of(article, page, pages):
    """Return a page's content, with names of its own and links that stay in the document."""
    for node in article.select(ON_SCREEN):
        node.decompose()
    for node in article.select("[id]"):
        node["id"] = name(page, node["id"])
    for node in article.select("img[loading]"):
        del node["loading"]
    for link in article.select("a[href]"):
        link["href"] = inside(link["href"], page, pages)
        if not re.match(r"#|[a-z]+:", link["href"]):  # a file of the site, which paper has not
            link.name = "span"
            del link["href"]
    for node in article.select("img[src]"):  # as seen from a page one folder down
        if "/" not in page and not node["src"].startswith(("data:", "../")):
            node["src"] = f"../{node['src']}"
    return f'<section id="{name(page)}">{article.decode_contents()}</section>'


def name(page, anchor=""):
    """Return the name that a place of a page has in the document."""
    return re.sub(r"\W", "-", page) + (f"--{anchor}" if anchor else "")


def inside(address, page, pages):
    """Return where a link leads in the document; one that leads out of the book stays."""
    if re.match(r"[a-z]+:", address):
        return address
    file, _, anchor = address.partition("#")
    if file:
        path = (Path("/") / page).parent.joinpath(file)
        parts = []
        for part in path.parts[1:]:
            parts = parts[:-1] if part == ".." else [*parts, part]
        page = "/".join(parts).removesuffix(".html")
    return f"#{name(page, anchor)}" if page in pages else address


def title_page():
    day = datetime.now(UTC).strftime("%-d %B %Y") if sys.platform != "win32" else ""
    return ('<div class="title-page"><h1>Attention: mixing information from context</h1>'
            f"<p>An executable textbook. Version {__version__}, printed {day}.</p>"
            "<p>The chapters run, and the figures move, in the book's web site and in JupyterLab."
            "</p></div>")


def list_of(titles):
    """Return the table of contents."""
    parts = []
    for caption, pages in contents():
        items = "".join(f'<li><a href="#{name(page)}">{titles[page]}</a></li>' for page in pages)
        parts.append(f"{f'<p><strong>{caption}</strong></p>' if caption else ''}<ul>{items}</ul>")
    return f'<div class="contents"><h2>Contents</h2>{"".join(parts)}</div>'


def print_to(site, html, target):
    """Print a document that stands in the site; return its faults, and print nothing if any."""
    from playwright.sync_api import sync_playwright

    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".html", dir=site / "book",
                                     delete=False) as file:
        file.write(html)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"),
                                                 args=ARGUMENTS)
            page = browser.new_page(viewport={"width": WIDTH, "height": 1000})
            page.set_default_timeout(180_000)
            page.emulate_media(media="print", color_scheme="light")
            page.goto(Path(file.name).as_uri())
            faults = faults_of(page)
            if not faults:
                titles = page.evaluate(HEADINGS)
                page.pdf(path=target, format="A4", margin=MARGINS, print_background=True,
                         display_header_footer=True, header_template="<span></span>",
                         footer_template=FOOT, outline=True, tagged=True)
            browser.close()
    finally:
        Path(file.name).unlink()
    if not faults:
        name_outline(target, titles)
    return faults


def name_outline(path, titles):
    """Give the outline the headings' words: Chromium joins lines, and writes some twice."""
    logging.getLogger("pypdf").setLevel(logging.ERROR)  # it counts Chromium's objects aloud
    from pypdf import PdfReader, PdfWriter
    from pypdf.generic import NameObject, TextStringObject

    writer = PdfWriter(clone_from=PdfReader(path))
    entries = list(entries_of(writer.root_object["/Outlines"]))
    if len(entries) != len(titles):
        sys.exit(f"The outline has {len(entries)} entries for {len(titles)} headings.")
    for entry, title in zip(entries, titles, strict=True):
        entry[NameObject("/Title")] = TextStringObject(title)
    writer.add_metadata({"/Author": "the attention book's contributors",
                         "/Creator": "the attention book"})
    writer.write(path)


def entries_of(node):
    """Give the entries of an outline in their order, each before those below it."""
    entry = node.get("/First")
    while entry is not None:
        entry = entry.get_object()
        yield entry
        yield from entries_of(entry)
        entry = entry.get("/Next")


def faults_of(page):
    """Return what would be missing or cut off on paper."""
    page.evaluate(TYPESET)
    page.wait_for_function(READY)
    page.evaluate(SHRINK, WIDTH)
    return [*(f"a picture is missing: {one}" for one in page.evaluate(PICTURES)),
            *(f"a link leads nowhere: {one}" for one in page.evaluate(ASTRAY)),
            *(f"too wide for the page: {one}" for one in page.evaluate(TOO_WIDE, WIDTH))]


if __name__ == "__main__":
    main()
