"""Check the built site: pages with content, no dead link, no request to another host.

    python tools/check_site.py _build/html
"""

import re
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

LOADING = {  # what a browser fetches by itself
    ("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("video", "src"),
    ("audio", "src"), ("embed", "src"), ("object", "data"), ("input", "src"), ("track", "src"),
}
LOADED_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "preconnect", "dns-prefetch",
                "prefetch", "manifest", "shortcut"}
OTHER_HOST = re.compile(r"^(?:https?:)?//", re.IGNORECASE)
CSS_LOAD = re.compile(r"""(?:url\(\s*|@import\s+)["']?((?:https?:)?//[^"')\s]+)""", re.IGNORECASE)
CODE_LOAD = re.compile(
    r"""(?:\bimport\s*\(?|\bfrom|\bfetch\(|\bimportScripts\(|\.src\s*=|THEBE_JS_URL\s*=)\s*"""
    r"""["'`]((?:https?:)?//[^"'`\s]+)""")
WITHOUT_END = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source",
               "track", "wbr"}  # HTML's elements that have no content
LEFT_OVER = re.compile(r"\$|\\[(\[]|\\[a-zA-Z]{2,}")  # TeX that stands in the text as it was typed
FEWEST_WORDS = 40
SITE = "http://site/"


@dataclass
class Page:
    """What one HTML file holds, as far as these checks are concerned."""

    ids: set = field(default_factory=set)
    links: list = field(default_factory=list)  # what a reader may click
    loads: list = field(default_factory=list)  # what a browser fetches
    words: int = 0  # in the article
    outputs: int = 0
    description: str = ""
    faults: list = field(default_factory=list)


class Reader(HTMLParser):
    """Fill a Page from HTML."""

    def __init__(self):
        super().__init__()
        self.page = Page()
        self.article_depth = 0
        self.code = ""  # the tag whose text is code: script or style
        self.verbatim_depth = 0  # in an element whose text is code or mathematics
        self.mathematics = False

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self._see_anchor(tag, found)
        self._see_loads(tag, found)
        self.page.outputs += "cell_output" in (found.get("class") or "").split()
        if tag == "meta" and found.get("name") == "description":
            self.page.description = (found.get("content") or "").strip()
        if tag == "img" and "alt" not in found:
            self.page.faults.append(f"image without alt text: {found.get('src')}")
        if tag in ("script", "style"):
            self.code = tag
        if tag not in WITHOUT_END and (self.article_depth or tag == "article"):
            self.article_depth += 1
            kinds = (found.get("class") or "").split()
            self.mathematics = self.mathematics or "math" in kinds
            self.verbatim_depth += bool(
                self.verbatim_depth or "math" in kinds or tag in ("code", "pre", "script", "style"))

    def handle_endtag(self, tag):
        self.code = ""
        if tag not in WITHOUT_END and self.article_depth:
            self.article_depth -= 1
            self.verbatim_depth -= bool(self.verbatim_depth)
            self.mathematics = self.mathematics and bool(self.verbatim_depth)

    def handle_data(self, data):
        if self.code:
            pattern = CODE_LOAD if self.code == "script" else CSS_LOAD
            self.page.loads += pattern.findall(data)
        elif self.article_depth:
            self.page.words += len(data.split())
            self._see_mathematics(data)

    def _see_mathematics(self, data):
        """Find TeX that no formula took up, and a formula that cannot be set."""
        if self.mathematics and not balanced(data):
            self.page.faults.append(f"a formula whose brackets do not match: {data.strip()[:60]}")
        if not self.verbatim_depth and LEFT_OVER.search(data):
            self.page.faults.append(f"mathematics left as it was typed: {data.strip()[:60]}")

    def _see_anchor(self, tag, found):
        for name in ("id", "name") if tag == "a" else ("id",):
            if found.get(name):
                self.page.ids.add(found[name])
        if tag == "a" and found.get("href"):
            self.page.links.append(found["href"])

    def _see_loads(self, tag, found):
        self.page.loads += [value for name, value in found.items()
                            if value and (tag, name) in LOADING]
        self.page.loads += CSS_LOAD.findall(found.get("style") or "")
        if found.get("srcset"):
            self.page.loads += [part.split()[0] for part in found["srcset"].split(",")]
        if tag == "link" and LOADED_LINKS & set((found.get("rel") or "").lower().split()):
            self.page.loads.append(found.get("href") or "")


def balanced(tex):
    """Whether the brackets that TeX groups by are closed in a piece of mathematics."""
    tex = re.sub(r"\\[\\{}]", "", tex)
    pairs = [(r"\{", r"\}"), (r"\\left\b", r"\\right\b"), (r"\\begin\b", r"\\end\b")]
    return all(len(re.findall(opening, tex)) == len(re.findall(closing, tex))
               for opening, closing in pairs)


def read(path):
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader.page


def check(site):
    """Return a sentence for each fault of the site in a folder."""
    pages = {path.relative_to(site).as_posix(): read(path) for path in sorted(site.rglob("*.html"))
             if "_static" not in path.relative_to(site).parts}
    faults = [] if pages else ["there is no page at all"]
    for name, page in pages.items():
        found = [*page.faults, *empty(name, page), *other_hosts(page), *dead(site, name, pages)]
        faults += [f"{name}: {fault}" for fault in found]
    for path in sorted(site.rglob("*.css")):
        faults += [f"{path.relative_to(site)}: loads {url}"
                   for url in CSS_LOAD.findall(path.read_text(encoding="utf-8"))]
    return faults


def empty(name, page):
    """Find a page of the book whose text, or whose outputs, did not arrive."""
    if not name.startswith(("book/", "notebooks/")):
        return
    if page.words < FEWEST_WORDS:
        yield f"only {page.words} words: the page came out empty"
    if name.startswith("notebooks/") and not page.outputs:
        yield "a chapter without one output: run `make notebooks`"
    if not page.description:
        yield "no description for those who search"


def other_hosts(page):
    for url in page.loads:
        if OTHER_HOST.match(url):
            yield f"loads {url}"


def dead(site, name, pages):
    """Find links to files or places that are not in the site."""
    for link in sorted({*pages[name].links, *pages[name].loads}):
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        if parts.path.startswith("/"):
            yield f"{link} begins with /, which breaks under a prefix"
            continue
        target = unquote(urlsplit(urljoin(SITE + name, parts.path)).path.lstrip("/"))
        target = target or name if not parts.path else target
        if (site / target).is_dir():
            target = f"{target.rstrip('/')}/index.html".lstrip("/")
        if not (site / target).is_file():
            yield f"dead link {link}"
        elif parts.fragment and target in pages and not has(pages[target], parts.fragment):
            yield f"{link} leads to a page without that place"


def has(page, fragment):
    return unquote(fragment) in page.ids or fragment.startswith((":~:", "top"))


def main(folder):
    site = Path(folder)
    faults = check(site)
    print("\n".join(faults) or f"{sum(1 for _ in site.rglob('*.html'))} pages, no fault")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
