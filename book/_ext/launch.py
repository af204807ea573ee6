"""The line under a chapter's title: run it in the browser, download it, run it in JupyterLab."""

import shutil
from html import escape
from pathlib import Path

from attention_book import __version__

CHAPTERS = "notebooks/"
LITE = "lite/notebooks/index.html"
HELP = "book/using_the_book"
NO_LITE = "This copy of the site was built without what runs Python in a browser"
TITLE_END = "</h1>"


def lite_folder(app):
    return Path(app.outdir).parent / "lite"


def why_off(app, docname):
    """Return why a chapter cannot be run in the browser, or nothing if it can."""
    if docname in app.config.launch_not_in_browser:
        return app.config.launch_not_in_browser[docname]
    if not (lite_folder(app) / "index.html").exists():
        return NO_LITE
    return ""


def button(reason, address):
    if reason:
        return (f'<span class="launch-off"><strong>Run in your browser</strong> is off. '
                f"{escape(reason)}. Download the chapter and run it in JupyterLab.</span>")
    says = "Opens the chapter as a notebook that runs here; nothing is installed"
    return (f'<a class="launch-run" href="{escape(address)}" title="{says}">'
            f"Run in your browser</a>")


def line(app, docname, pathto):
    """Return the HTML of a chapter's line."""
    name = f"{docname.removeprefix(CHAPTERS)}.ipynb"
    run = button(why_off(app, docname), f"{pathto(LITE, 1)}?path={name}")
    notebook = pathto(f"_sources/{docname}.ipynb", 1)
    guide = pathto(HELP)
    return f"""
<p class="launch" role="group" aria-label="Run this chapter">
{run}
<a href="{escape(notebook)}" download="{name}" title="The chapter as a notebook">Download</a>
<a href="{guide}#run-it-on-your-machine">Run it in JupyterLab</a>
<a class="launch-version" href="{guide}#a-newer-version-and-your-copy">version {__version__}</a>
</p>
"""


def add_line(app, pagename, templatename, context, doctree):
    """Put the line under the chapter's title."""
    body = context.get("body") or ""
    if pagename.startswith(CHAPTERS) and TITLE_END in body:
        before, after = body.split(TITLE_END, 1)
        context["body"] = before + TITLE_END + line(app, pagename, context["pathto"]) + after


def copy_lite(app, error):
    """Put JupyterLite into the site, if it was built."""
    source, target = lite_folder(app), Path(app.outdir) / "lite"
    if error or app.builder.format != "html":
        return
    shutil.rmtree(target, ignore_errors=True)
    if (source / "index.html").exists():
        shutil.copytree(source, target)


def setup(app):
    app.add_config_value("launch_not_in_browser", {}, "html", [dict])
    app.connect("html-page-context", add_line)
    app.connect("build-finished", copy_lite)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
