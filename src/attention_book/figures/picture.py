"""What every figure is: one picture for each theme, with a text that says the same."""

from base64 import b64encode
from dataclasses import astuple, dataclass
from html import escape

from PIL import Image

from attention_book.figures.palette import LIGHT
from attention_book.figures.png import from_png, to_png

# Why HTML with two images. A notebook's output is shown on the book's page, in JupyterLab and in
# the browser's JupyterLite; each has a dark theme that only a style sheet can follow, and myst-nb,
# like JupyterLab, prefers text/html to image/png. Before a notebook is trusted JupyterLab drops
# <style>, <svg>, <picture> and a bare `hidden`, but keeps <img>, data addresses and
# hidden="hidden": then the light image shows, on its own opaque ground. Screen readers find one
# image, since the other is not displayed. nbval compares text/html: its sanitise file takes the
# PNGs' bytes out, which may differ between machines; the alternative text stays in, and so is
# compared. image/png is the light picture, for what shows no HTML.
STYLE = """<style>
.ab-figure{line-height:1.2}
.ab-figure img{display:inline-block;max-width:100%;height:auto;margin:0 12px 12px 0;\
border-radius:6px;vertical-align:top}
.ab-figure img.ab-dark{display:none!important}
@media screen{
html[data-theme="dark"] .ab-figure img.ab-dark,\
body[data-jp-theme-light="false"] .ab-figure img.ab-dark{display:inline-block!important}
html[data-theme="dark"] .ab-figure img.ab-light,\
body[data-jp-theme-light="false"] .ab-figure img.ab-light{display:none!important}
}
html[data-theme="dark"] .ab-figure img{background:none!important;padding:0!important;\
filter:none!important}
html[data-theme="dark"] .text_html:has(.ab-figure){background:none!important;padding:0!important}
</style>"""


@dataclass(frozen=True)
class Panel:
    """One image in both themes; ``media`` is ``image/png`` or ``image/svg+xml``."""

    alt: str
    width: int
    height: int
    light: bytes
    dark: bytes
    media: str = "image/png"

    def html(self):
        """Return two ``<img>`` elements, the dark one hidden until the style shows it."""
        return self._image(self.light, 'class="ab-light"') + self._image(
            self.dark, 'class="ab-dark dark-light" hidden="hidden"')

    def _image(self, content, attributes):
        address = f"data:{self.media};base64,{b64encode(content).decode('ascii')}"
        return (f'<img {attributes} alt="{escape(self.alt)}" width="{self.width}" '
                f'height="{self.height}" src="{address}">')


@dataclass(frozen=True)
class Picture:
    """A figure of the book: one panel or several, which wrap where the screen is narrow.

    It shows itself where it is the last line of a cell; use ``display(picture)`` elsewhere.
    """

    panels: tuple

    @property
    def alt(self):
        """The text that says what the figure shows."""
        return " ".join(panel.alt for panel in self.panels)

    def __repr__(self):
        return f"Figure: {self.alt}"

    def _repr_mimebundle_(self, include=None, exclude=None):
        bundle = {"text/plain": repr(self), "text/html": self._html()}
        if all(panel.media == "image/png" for panel in self.panels):
            bundle["image/png"] = b64encode(_beside(self.panels)).decode("ascii")
        return bundle

    def _html(self):
        images = "".join(panel.html() for panel in self.panels)
        return f'{STYLE}\n<div class="ab-figure">{images}</div>'


def side_by_side(pictures):
    """Return one figure of several: beside each other, or below where the screen is narrow."""
    return Picture(tuple(panel for picture in pictures for panel in picture.panels))


def _beside(panels):
    """Join the light images from left to right, each in the size it is shown in."""
    size = sum(panel.width for panel in panels), max(panel.height for panel in panels)
    whole = Image.new("RGB", size, LIGHT.paper)
    left = 0
    for panel in panels:
        whole.paste(from_png(panel.light).resize((panel.width, panel.height)), (left, 0))
        left += panel.width
    return to_png(whole, astuple(LIGHT))
