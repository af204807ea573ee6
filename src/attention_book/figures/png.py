"""Small PNG files: at most 256 colours, and those that carry meaning exact."""

import io

import numpy as np
from PIL import Image

COLOURS = 256  # a third of the size of true colour; the shades at the edges of letters give way


def to_png(image, kept=()):
    """Return an image as PNG.

    The colours ``kept`` (#RRGGBB) and the most frequent others stay as they are; the rest becomes
    the nearest of those.
    """
    image = image.convert("RGB")
    found = image.getcolors(image.width * image.height)
    seen = np.array([colour for _, colour in found])
    often = seen[np.argsort([-count for count, _ in found], kind="stable")]
    wanted = [[int(colour[i:i + 2], 16) for i in (1, 3, 5)] for colour in kept]
    palette = np.array([*wanted, *often[:COLOURS - len(wanted)]])
    table = np.zeros(1 << 24, np.uint8)  # the nearest of the palette for each colour seen
    table[_code(seen)] = _nearest(seen, palette)
    small = Image.fromarray(table[_code(np.asarray(image))], "P")
    small.putpalette(palette.astype(np.uint8).tobytes())
    content = io.BytesIO()
    small.save(content, format="PNG")
    return content.getvalue()


def from_png(content):
    """Return the image that ``content`` holds, in true colour."""
    with Image.open(io.BytesIO(content)) as image:
        return image.convert("RGB")


def _code(colours):
    """Return one number for each colour (..., 3)."""
    red, green, blue = np.moveaxis(colours.astype(np.uint32), -1, 0)
    return red << 16 | green << 8 | blue


def _nearest(colours, palette):
    """Return, for each colour, the place in the palette that is least far from it."""
    products = colours.astype(np.float32) @ palette.T.astype(np.float32)
    return ((palette**2).sum(axis=1) - 2 * products).argmin(axis=1)
