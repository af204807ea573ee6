"""The reference: every public name of the package, in its own words and with its chapter.

The comment ``<!-- api -->`` in a page becomes a section for each module and its names, which
autodoc fills from the docstrings. ``MODULES`` is the one place that says which chapter builds what.
"""

import re
from functools import cache
from importlib import import_module
from pathlib import Path

import attention_book

ROOT = Path(__file__).resolve().parents[2]
MARK = "<!-- api -->"
WORK = re.compile(r"([A-Z]\w+)((?:,\s+[A-Z]\w+)*(?:\s+and\s+[A-Z]\w+|\s+et\s+al\.)?)\s+\((\d{4})\)")
ROLE = re.compile(r":(func|class|meth):`([\w.]+)`")
SHAPE = re.compile(r"(?<![\w.`(])\((?:\.\.\.|[*\w]+)[^()]*\)")
SIGNATURE = re.compile(r'<dt class="sig .*?</dt>', re.DOTALL)
FIELDS = ("Parameters", "Returns", "Attributes")
KEY = re.compile(r'<a id="(\w+)">')

# The package's modules in the order of the book: what they hold, and the chapter that builds it.
MODULES = {
    "dot_products": ("Scores", "01_dot_products"),
    "stable_softmax": ("Softmax", "03_stable_softmax"),
    "masks": ("Masks", "05_causal_mask"),
    "single_head": ("One head", "04_weighted_values"),
    "multi_head": ("Several heads", "06_multi_head"),
    "kv_cache": ("The cache", "07_kv_cache"),
    "chunked": ("Attention in chunks", "08_chunked_attention"),
    "positions": ("Positions", "09_transformer_block"),
    "block_parts": ("Parts of a block", "09_transformer_block"),
    "sampling": ("Choosing a token", "09_transformer_block"),
    "transformer": ("Block and decoder", "09_transformer_block"),
    "losses": ("Losses", "10_learning_attention"),
    "backward": ("Backward passes", "10_learning_attention"),
    "decoder_backward": ("Gradients of a decoder", "10_learning_attention"),
    "optimiser": ("Optimiser", "10_learning_attention"),
    "training": ("Training", "10_learning_attention"),
    "head_scores": ("What heads do", "10_learning_attention"),
    "gguf": ("A model's file", "11_real_model"),
    "tokenizer": ("Text into tokens", "11_real_model"),
    "pretrained": ("A real model", "11_real_model"),
    "exercises": ("Exercises", None),
    "source": ("Listings", None),
}
BUILT_IN = {"causal_attention": "05_causal_mask"}  # not in its module's chapter
# Public, and not among the names that ``import attention_book`` gives.
OTHERS = {
    "gguf": ["read_gguf"],
    "tokenizer": ["Tokenizer"],
    "pretrained": ["load_smollm2", "find_smollm2"],
    "exercises": ["check", "hint", "progress", "catalogue"],
    "source": ["show_source"],
}


def names():
    """Return the public names of each module, in the order of the book."""
    found = {module: [] for module in MODULES}
    for name in attention_book.__all__:
        module = getattr(attention_book, name).__module__.rpartition(".")[2]
        found[module].append(("attention_book", name))  # a new module has to be in MODULES
    for module, others in OTHERS.items():
        found[module] += [(f"attention_book.{module}", name) for name in others]
    return {module: entries for module, entries in found.items() if entries}


def chapter(module, name):
    """Return a link to the chapter that builds something, or its number while it is not there."""
    stem = BUILT_IN.get(name, MODULES[module][1])
    if stem is None:
        return ""
    label = f"chapter {int(stem[:2])}"
    if not is_there(stem):
        return f"For {label}.\n"
    return f"Built in [{label}](../notebooks/{stem}.ipynb).\n"


def is_there(stem):
    """Tell whether a chapter exists and is in the table of contents."""
    return ((ROOT / "notebooks" / f"{stem}.ipynb").exists()
            and f"notebooks/{stem}\n" in (ROOT / "_toc.yml").read_text(encoding="utf-8") + "\n")


def reference():
    """Write the reference in Markdown: a section a module, an entry a name."""
    parts = []
    for module, entries in names().items():
        parts.append(f"## {MODULES[module][0]}\n\nIn `attention_book.{module}`.\n")
        parts += [entry(module, owner, name) for owner, name in entries]
    return "\n".join(parts)


def entry(module, owner, name):
    thing = getattr(import_module(owner), name)
    kind = "autoclass" if isinstance(thing, type) else "autofunction"
    members = "\n   :members:" if kind == "autoclass" else ""
    return (f"### `{name}`\n\n{chapter(module, name)}\n"
            f"```{{eval-rst}}\n.. {kind}:: {owner}.{name}{members}\n```\n")


def show_reference(app, docname, source):
    """Put the reference in place of the mark in a page."""
    if MARK in source[0]:
        source[0] = source[0].replace(MARK, reference())
        for module in MODULES:  # where one changes, the page is made anew
            app.env.note_dependency(import_module(f"attention_book.{module}").__file__)


def prepare(app, what, name, thing, options, lines):
    """Make of a docstring what autodoc shows: links that lead somewhere, and shapes as code."""
    text = ROLE.sub(link_name, WORK.sub(link_work, "\n".join(lines)))
    lines[:] = shapes_as_code(text.splitlines())


@cache
def works():
    return set(KEY.findall((ROOT / "book" / "bibliography.md").read_text(encoding="utf-8")))


def link_work(work):
    """Let a work that a docstring names lead to the bibliography."""
    key, label = f"{work[1].lower()}{work[3]}", " ".join(work[0].split())
    return f"`{label} <bibliography.html#{key}>`__" if key in works() else work[0]


def link_name(role):
    """Let a name lead to its entry; one without an entry is code."""
    known = {name: owner for entries in names().values() for owner, name in entries}
    head = role[2].partition(".")[0]
    if head in known:
        return f":{role[1]}:`{role[2]} <{known[head]}.{role[2]}>`"
    return role[0] if role[1] == "meth" and "." not in role[2] else f"``{role[2]}``"


def shapes_as_code(lines):
    """Give the lines back, with the shapes in the heads of fields as code."""
    section = ""
    for place, line in enumerate(lines):
        below = lines[place + 1] if place + 1 < len(lines) else ""
        if below.strip() and not below.strip("- "):
            section = line.strip()
        elif section in FIELDS and line[:1].strip():
            line = SHAPE.sub(lambda shape: f"``{shape[0]}``", line)
        yield line


def mend_signatures(app, pagename, templatename, context, doctree):
    """Make a signature's lines spans: Sphinx writes a list of definitions that defines nothing."""
    def mend(signature):
        text = signature[0].replace("<dl>", '<span class="sig-lines">').replace("<dd>", "<span>")
        return re.sub("</d[ld]>", "</span>", text)

    if 'class="sig ' in (context.get("body") or ""):
        context["body"] = SIGNATURE.sub(mend, context["body"])


def setup(app):
    """Register with Sphinx."""
    app.setup_extension("sphinx.ext.autodoc")
    app.setup_extension("sphinx.ext.napoleon")
    app.connect("source-read", show_reference)
    app.connect("html-page-context", mend_signatures)
    app.connect("autodoc-process-docstring", prepare, priority=400)  # before napoleon
    return {"version": "1", "parallel_read_safe": True}
