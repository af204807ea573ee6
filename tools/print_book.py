"""Print the whole book into one PDF, from the built site: _build/pdf/attention-book.pdf.

    python tools/print_book.py [--site _build/html]

The pages become one document, so that every link inside the book leads to a page of the PDF, and
Chromium prints it with an outline. Nothing is printed if a line is too wide or a picture missing.
"""

import argparse
import json
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
from outline import name_outline, pages_of_places  # noqa: E402
from paper import WIDTH, number_of, on_paper  # noqa: E402

PAPER = {"prefer_css_page_size": True, "print_background": True}
ARGUMENTS = ["--no-sandbox", "--disable-gpu"]
STYLE = Path(__file__).with_name("paper.css").read_text(encoding="utf-8")
OFFER = re.compile(rf"{re.escape(printed.OFF)}|{re.escape(printed.ON)}[^<]*")
TITLE = "Attention: mixing information from context"
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
NUMBER = """(numbers) => {
  for (const one of document.querySelectorAll("a.page-number"))
    one.textContent = numbers[one.getAttribute("href").slice(1)];
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
        html = OFFER.sub("", html[html.index("<article"):html.rindex("</article>")])
        article = BeautifulSoup(html, "html.parser").article
        titles[page] = heading(article)
        bodies.append(body_of(article, page, pages))
    return (f'<!DOCTYPE html><html lang="en" data-theme="light"><head>{head(site, pages)}'
            f'<style>{STYLE}{feet(titles)}</style></head><body><article class="bd-article">'
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
    return f'<meta charset="utf-8"><title>{TITLE}</title>' + "".join(map(str, wanted))


def heading(article):
    """Return a page's title as text."""
    first = article.find("h1")
    for link in first.select(".headerlink"):
        link.decompose()
    return " ".join(first.get_text(" ").split())


def body_of(article, page, pages):
    """Return a page's content, with names of its own and links that stay in the document."""
    on_paper(article)
    for node in article.find_all(id=True):
        node["id"] = name(page, node["id"])
    for node in article.find_all("img", loading=True):
        del node["loading"]
    for link in article.find_all("a", href=True):
        link["href"] = inside(link["href"], page, pages)
        if not re.match(r"#|[a-z]+:", link["href"]):  # a file of the site, which paper has not
            link.name = "span"
            del link["href"]
    for node in article.find_all("img", src=True):  # as seen from a page one folder down
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
    """Return the first page: whose book it is, and how paper differs from the screen."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    authors = ", ".join(author["name"] for author in citation["authors"])
    code, prose = citation["license"]
    day = datetime.now(UTC).strftime("%-d %B %Y") if sys.platform != "win32" else ""
    return (f'<div class="title-page"><p class="title">{TITLE}</p>'
            f"<p>An executable textbook</p><p>{authors}</p>"
            f"<p>Version {__version__}, printed {day}</p>"
            f"<p>Prose and figures: {prose}. Code: {code}.</p>"
            "<p>The chapters run, and the figures move, in the book's web site and in JupyterLab."
            "<br>On paper answers are open, the solutions of a chapter's exercises are at its end,"
            "<br>and a moving figure shows its first state.</p></div>")


def feet(titles):
    """Return the style that puts a page's title at the foot of each sheet it is printed on."""
    return "".join(
        f"#{name(page)} {{ page: {name(page)}; }}"
        f"@page {name(page)} {{"
        f" @bottom-left {{ content: {json.dumps(title, ensure_ascii=False)}; }} }}"
        for page, title in titles.items())


def list_of(titles):
    """Return the table of contents; the numbers of the pages are known once it is printed."""
    parts = []
    for caption, pages in contents():
        items = "".join(f'<li><a href="#{name(page)}">{titles[page]}</a>{number_of(name(page))}'
                        "</li>" for page in pages)
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
                print_numbered(page, target)
            browser.close()
    finally:
        Path(file.name).unlink()
    if not faults:
        name_outline(target, titles, [("", 1), *((caption, len(pages))
                                                 for caption, pages in contents())])
    return faults


def print_numbered(page, target):
    """Print a page twice: the first time shows on which pages its places are."""
    page.pdf(path=target, tagged=False, **PAPER)
    numbers = pages_of_places(target)
    page.evaluate(NUMBER, numbers)
    page.pdf(path=target, tagged=True, outline=True, **PAPER)
    if pages_of_places(target) != numbers:
        sys.exit("The numbers of the pages have moved the pages.")


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
