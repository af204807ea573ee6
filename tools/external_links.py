"""List every link to another host, with the pages that it is on. Nothing is fetched.

    python tools/external_links.py
"""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"https?://[^\s<>\\\"'`|]+")
EXAMPLES = re.compile(r"localhost|127\.0\.0\.1|OWNER|…|\.example|//HOST")  # no real address
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)


def pages():
    """Give the files whose text a reader sees."""
    yield from sorted(ROOT.glob("*.md"))
    yield ROOT / "CITATION.cff"
    yield from sorted((ROOT / "book").glob("*.md"))
    yield from sorted((ROOT / "notebooks").glob("*.ipynb"))


def text_of(path):
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        text = "\n\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"]
                           if cell["cell_type"] == "markdown")
    return FENCE.sub("", text)


def addresses(text):
    """Return the addresses in a text, without the punctuation that follows them."""
    found = set()
    for address in LINK.findall(text):
        address = address.rstrip(".,;:*")
        while address.endswith((")", "]")) and address.count("(") < address.count(")"):
            address = address[:-1]
        found.add(address.partition("](")[0])
    return {address for address in found if not EXAMPLES.search(address)}


def external_links():
    """Return address → the pages that it is on."""
    links = {}
    for path in pages():
        for address in addresses(text_of(path)):
            links.setdefault(address, []).append(path.relative_to(ROOT).as_posix())
    return dict(sorted(links.items()))


def main():
    links = external_links()
    for address, on in links.items():
        print(f"{address}\n    {', '.join(on)}")
    print(f"{len(links)} links to other hosts")


if __name__ == "__main__":
    main()
