"""Notation, glossary and bibliography hold each symbol, term and work once, and each is used."""

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BOOK, NOTEBOOKS, SOURCE = ROOT / "book", ROOT / "notebooks", ROOT / "src" / "attention_book"
GLOSSARY, BIBLIOGRAPHY, NOTATION = (
    BOOK / f"{name}.md" for name in ("glossary", "bibliography", "notation"))

# Works that only chapters still to come cite, and the chapter. Once it is there, or once the work
# is cited, the line has to go. (A term or symbol of such a chapter says so on its own page.)
WORKS_TO_COME = {}

LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")
HEADING = re.compile(r"^(#{1,6}) +(.+?) *#*$", re.MULTILINE)
ANCHOR = re.compile(r"<a id=\"([^\"]+)\"")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]+`")
MATHS = re.compile(r"\$\$(.+?)\$\$|(?<!\$)\$([^$\n]+)\$", re.DOTALL)
GREEK = re.compile(r"\\(alpha|beta|gamma|delta|epsilon|varepsilon|theta|sigma|mu|lambda|rho|phi"
                   r"|omega|eta)(?![a-z])")
CAPITALS = re.compile(r"\b(?:[A-Z]{2,}[a-z0-9]*|[A-Z][a-z]+[A-Z]\w*|[kKMG]i?B)\b")
PLAIN = {"README", "GPT"}  # in capitals, and nothing to be explained: a file, a model
CHAPTER = re.compile(r"(?:\[chapter (\d+)\]\(([^)]+)\)|\bchapter (\d+))")
SHAPE = re.compile(r"(?<![\w.])\((?:\.\.\.|\*?\w+)(?:, ?(?:\.\.\.|\w+))*,?\)")


@cache
def text_of(path):
    """Return the Markdown of a page or a notebook, without blocks of code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n\n".join("".join(cell["source"]) for cell in cells
                           if cell["cell_type"] == "markdown")
    return FENCE.sub("", text)


def code_names(path):
    """Return every name in a notebook's code cells and in the code within its prose."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    return set(re.findall(r"\w+", " ".join(code + CODE.findall(text_of(path)))))


def slug(heading):
    """Return the anchor that GitHub and MyST give to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@cache
def anchors(path):
    text = text_of(path)
    return {slug(title) for _, title in HEADING.findall(text)} | set(ANCHOR.findall(text))


@cache
def links(path):
    """Return (file, anchor) of every link to a file of this repository."""
    found = [target for target in LINK.findall(CODE.sub("", text_of(path)))
             if not re.match(r"[a-z]+:", target)]
    split = [target.partition("#")[::2] for target in found]
    return [((path.parent / file).resolve() if file else path, anchor) for file, anchor in split]


def linked_from(paths, page):
    """Return, for each anchor of ``page``, the files that link to it."""
    users = {}
    for path in paths:
        for file, anchor in links(path):
            if file == page and anchor:
                users.setdefault(anchor, []).append(path)
    return users


def chapters():
    """Return the chapters that exist: number → notebook."""
    return {int(path.name[:2]): path for path in sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))}


def terms():
    """Return the glossary: term → its entry's text."""
    parts = re.split(r"^## +(.+)$", text_of(GLOSSARY), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def works():
    """Return the bibliography: key → its entry's text."""
    parts = re.split(r"^- <a id=\"(\w+)\"></a>", text_of(BIBLIOGRAPHY), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def symbols(*sections):
    """Return (names, first chapter's cell) for each row of tables of the notation."""
    rows = []
    for section in sections:
        body = text_of(NOTATION).split(f"\n## {section}\n")[1].split("\n## ")[0]
        cells = [line.strip("|").split(" | ") for line in body.splitlines() if line.startswith("|")]
        rows += [(row[0].strip(), row[-1].strip()) for row in cells[2:]]
    return rows


def symbol_names(*sections):
    return [part.strip("`$") for cell, _ in symbols(*sections) for part in cell.split(", ")]


def pages():
    return [*sorted(ROOT.glob("*.md")), *sorted(BOOK.glob("*.md")), *chapters().values()]


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.name)
def test_every_link_leads_somewhere(path):
    dead = [f"{file.name}#{anchor}" for file, anchor in links(path)
            if not file.exists()
            or (anchor and file.suffix in (".md", ".ipynb") and anchor not in anchors(file))]
    assert not dead


def test_every_term_is_defined_once_and_in_order():
    names = re.findall(r"^## +(.+)$", text_of(GLOSSARY), flags=re.MULTILINE)
    assert len(names) > 50
    assert names == sorted({name.lower(): name for name in names}.values(), key=str.lower)


def test_every_work_is_listed_once_and_in_order():
    keys = ANCHOR.findall(text_of(BIBLIOGRAPHY))
    assert len(keys) > 20
    assert keys == sorted(set(keys))
    assert set(keys) == set(works())


@pytest.mark.parametrize("key", works())
def test_a_work_names_its_author_year_source_and_use(key):
    entry = works()[key]
    name, year = re.fullmatch(r"([a-z]+)(\d{4})", key).groups()
    citation, use = entry.strip().rsplit(".\\\n  ", 1)
    assert citation.lower().startswith(name)
    assert f"({year})" in citation
    assert re.search(r"\*[^*]+[.?]\*", citation), "the title, in italics"
    assert len(use.split()) > 5, "a sentence that says what the book takes from it"
    for label, address in re.findall(r"\[(?:arXiv|doi):([^\]]+)\]\(([^)]+)\)", citation):
        assert address in (f"https://arxiv.org/abs/{label}", f"https://doi.org/{label}")


def test_every_symbol_is_defined_once():
    names = symbol_names("Lengths", "Arrays", "Operations")
    assert len(names) > 40
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("term", terms())
def test_a_term_is_first_used_where_its_entry_says(term):
    """A term of an existing chapter is linked there first; one of a later chapter, nowhere yet."""
    number, target, later = CHAPTER.search(terms()[term].strip().splitlines()[-1]).groups()
    users = linked_from(chapters().values(), GLOSSARY).get(slug(term), [])
    first = min((int(path.name[:2]) for path in users), default=None)
    if later:
        assert int(later) not in chapters(), "the chapter exists: link it here"
        assert first is None, "already in use: name the chapter that uses it first"
    else:
        assert first == int(number)
        assert (GLOSSARY.parent / target).resolve() == chapters()[first]


@pytest.mark.parametrize("key", works())
def test_a_work_is_cited_or_still_to_come(key):
    users = linked_from([page for page in pages() if page != BIBLIOGRAPHY], BIBLIOGRAPHY)
    if key in WORKS_TO_COME:
        assert WORKS_TO_COME[key] not in chapters(), "its chapter exists: cite it or leave it out"
        assert key not in users, "it is cited: take it off the list of works to come"
    else:
        assert key in users


def test_works_to_come_are_in_the_bibliography():
    assert set(WORKS_TO_COME) <= set(works())


def test_symbols_are_first_used_where_the_notation_says():
    used = {number: code_names(path) for number, path in chapters().items()}
    for cell, chapter in symbols("Lengths", "Arrays", "Operations"):
        number = int(re.search(r"\d+", chapter)[0])
        assert chapter.startswith("[") == (number in used), f"{cell}: a link to the chapter"
        for name in re.findall(r"`(\w+_\w+)`", cell):  # shorter names mean other things as well
            first = min((n for n, names in used.items() if name in names), default=number)
            assert first == number, f"{name}: first in chapter {first}"


def test_shapes_on_the_reference_pages_use_the_names_of_the_notation():
    assert unknown_names([text_of(GLOSSARY), text_of(NOTATION)]) == {}


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: path.name)
def test_shapes_in_docstrings_use_the_names_of_the_notation(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = [ast.get_docstring(node) or "" for node in ast.walk(tree)
                  if isinstance(node, documented)]
    assert unknown_names(docstrings) == {}


def unknown_names(texts):
    """Return the names in shapes that the notation does not have, each with its shape."""
    known = set(symbol_names("Lengths")) | {"batch", "head", "position", "feature"}
    unknown = {}
    for text in texts:
        for shape in SHAPE.findall(text):
            names = re.findall(r"[A-Za-z_]\w*", shape)
            if "," in shape and any(name in known for name in names):  # else it is no shape
                unknown.update({name: shape for name in names if name not in known})
    return unknown


def letters(text):
    """Return the letters, Latin and Greek, that stand for something in the formulas of a text."""
    formulas = " ".join(one or other for one, other in MATHS.findall(text))
    formulas = re.sub(r"\\(?:text|operatorname|mathrm)\{[^}]*\}", " ", formulas)
    latin = re.findall(r"[A-Za-z]", re.sub(r"\\[A-Za-z]+", " ", formulas))
    return {*latin, *GREEK.findall(formulas)}


@pytest.mark.parametrize("path", chapters().values(), ids=lambda path: path.stem)
def test_letters_in_formulas_are_in_the_notation(path):
    written = letters(text_of(NOTATION)) | set(symbol_names("Lengths", "Arrays"))
    assert letters(text_of(path)) <= written


def test_a_letter_that_the_notation_lacks_is_found():
    assert letters(r"as $z_i = \sqrt{\rho} \cdot \text{scale}$") == {"z", "i", "rho"}


@pytest.mark.parametrize("path", chapters().values(), ids=lambda path: path.stem)
def test_shapes_in_a_chapter_use_the_names_of_the_notation_or_its_own(path):
    """A name in a shape, in prose or in a comment, is the notation's or one of the code."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    comments = re.findall(r"#.*", code)
    own = set(re.findall(r"\w+", re.sub(r"#.*", "", code)))
    papers = set(re.findall(r"\$(\w+)\$", text_of(NOTATION).split("## Names in papers")[1]))
    assert set(unknown_names([text_of(path), *comments])) - own <= papers


@pytest.mark.parametrize("path", chapters().values(), ids=lambda path: path.stem)
def test_abbreviations_are_explained(path):
    """Words in capitals stand in the glossary, the notation, or the bibliography."""
    prose = LINK.sub(lambda link: link[0].split("](")[0], CODE.sub("", text_of(path)))
    known = "".join(map(text_of, (GLOSSARY, NOTATION, BIBLIOGRAPHY)))
    found = {word.removesuffix("s") for word in CAPITALS.findall(MATHS.sub("", prose))}
    assert {word for word in found - PLAIN if not re.search(rf"\b{word}", known)} == set()


@pytest.mark.parametrize("term", terms())
def test_a_term_is_explained_before_it_is_used(term):
    """No earlier chapter uses a term of two words or more than the one that links it first."""
    if " " not in term and "-" not in term:
        return  # single words have everyday meanings too: block, gain, kernel
    number, _, later = CHAPTER.search(terms()[term].strip().splitlines()[-1]).groups()
    word = re.compile(rf"(?<![\w-]){re.escape(term)}s?(?![\w-])", re.IGNORECASE)
    early = [n for n, path in chapters().items()
             if n < int(number or later) and word.search(CODE.sub("", text_of(path)))]
    assert early == []


@pytest.mark.parametrize("path", chapters().values(), ids=lambda path: path.stem)
def test_words_in_bold_are_terms_of_the_glossary(path):
    """Bold, in lower case and short, introduces a term; italics are for stress."""
    bold = re.findall(r"\*\*([a-z][^*\n]*)\*\*", CODE.sub("", text_of(path)))
    words = [LINK.sub(lambda link: link[0][1:].split("](")[0], phrase) for phrase in bold]
    short = {word.strip(".,:;") for word in words if len(word.split()) <= 3}
    known = {name.lower() for name in terms()} | {f"{name.lower()}s" for name in terms()}
    assert short <= known
