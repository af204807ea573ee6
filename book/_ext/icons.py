"""The theme's icons, without the two thousand that no page shows.

The theme loads every icon of Font Awesome twice, as a script and as a font: 700 kB on each page.
Here the font keeps only what pages use, and the script goes.
"""

import re
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

USED = re.compile(r"\bfa-[a-z0-9-]+")
SIGN = re.compile(r"((?:\.fa-[a-z0-9-]+:before,?)+)\{content:\"\\([0-9a-f]+)\"\}")
IN_CSS = re.compile(r"content:\"\\(f[0-9a-f]{3})\"")  # what the theme's own style sheets show
WOFF = re.compile(r"url\([^)]*\.woff2\) format\(\"woff2\"\),")
ALL_ICONS = "styles/pydata-sphinx-theme.css"
EMPTY = "/* The icons come from a font that holds what the pages show. */\n"


def used(site):
    """Return the names of the icons that pages and the theme's scripts show."""
    files = [*site.glob("*.html"), *site.glob("book/*.html"), *site.glob("notebooks/*.html"),
             *site.glob("_static/scripts/*-theme.js")]
    return {name for path in files for name in USED.findall(path.read_text(encoding="utf-8"))}


def signs(css, names):
    """Return the characters of the named icons, and of those that no name stands for."""
    named = {name: sign for group, sign in SIGN.findall(css) for name in USED.findall(group)}
    unnamed = IN_CSS.findall(SIGN.sub("", css))
    return {int(sign, 16) for sign in unnamed + [named[name] for name in names if name in named]}


def thin(path, characters):
    """Leave in a font only some characters."""
    with TTFont(path) as font:
        subsetter = Subsetter(Options(layout_features=[], hinting=False))
        subsetter.populate(unicodes=characters)
        subsetter.subset(font)
        font.save(path)


def thin_icons(app, error):
    if error or app.builder.format != "html":
        return
    site = Path(app.outdir)
    style = site / "_static" / ALL_ICONS
    css = style.read_text(encoding="utf-8")
    fonts = site / "_static" / "vendor" / "fontawesome" / "webfonts"
    if "woff2" in css:  # else an earlier build has done it
        thin(fonts / "fa-solid-900.ttf", signs(css, used(site)))
        style.write_text(WOFF.sub("", css), encoding="utf-8")
    for path in fonts.glob("*.woff2"):
        path.unlink()
    (site / "_static" / "scripts" / "fontawesome.js").write_text(EMPTY, encoding="utf-8")


def setup(app):
    app.connect("build-finished", thin_icons)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
