"""Pictures that a notebook holds inside itself become files, which a browser fetches when in view.

A chapter has every picture twice, for the light and the dark theme: most of the page's weight, of
which a reader needs half, and at first almost nothing.
"""

import base64
import hashlib
import re
from pathlib import Path

SCRIPTS = re.compile(r"(<script\b.*?</script>)", re.DOTALL)
INLINE = re.compile(r'(<img\b[^>]*?) src="data:image/(png|svg\+xml);base64,([^"]+)"')
FOLDER = "_images"
EAGER = 2  # the first picture, in both themes, is in view at once


def take_out(app, pagename, templatename, context, doctree):
    """Replace the inline pictures of a page by files."""
    body = context.get("body") or ""
    if doctree is None or ";base64," not in body:
        return
    n_seen = 0

    def replace(found):
        nonlocal n_seen
        n_seen += 1
        name = store(Path(app.outdir) / FOLDER, found[2], found[3])
        lazy = "" if n_seen <= EAGER else ' loading="lazy"'
        return f'{found[1]}{lazy} src="{context["pathto"](f"{FOLDER}/{name}", 1)}"'

    parts = SCRIPTS.split(body)
    parts[::2] = [INLINE.sub(replace, part) for part in parts[::2]]
    context["body"] = "".join(parts)


def store(folder, kind, text):
    """Write a picture under the name of its content."""
    content = base64.b64decode(text)
    name = f"{hashlib.sha256(content).hexdigest()[:16]}.{'png' if kind == 'png' else 'svg'}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return name


def setup(app):
    app.connect("html-page-context", take_out)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
