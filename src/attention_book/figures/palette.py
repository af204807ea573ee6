"""The book's colours, by role, in a light and a dark theme. ``css/look.css`` holds the same."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Theme:
    """One colour for each role, as ``#RRGGBB``."""

    paper: str
    text: str
    query: str
    key: str
    value: str
    weight: str  # scores and weights
    masked: str  # and everything that stays in the background
    rule: str  # thin lines that carry no meaning


LIGHT = Theme(paper="#FFFFFF", text="#1A1D21", query="#1F6FB2", key="#A8480B", value="#16765A",
              weight="#6B3FA0", masked="#6B7280", rule="#D3D7DD")
DARK = Theme(paper="#14181E", text="#E6E8EB", query="#6CB4F5", key="#F2A65A", value="#5FCFA6",
             weight="#C3A6F0", masked="#9AA3AF", rule="#3A424D")

# The second sign of each role, so that nothing is told by colour alone: marker and line.
MARKERS = {"query": "^", "key": "s", "value": "o", "weight": "D", "text": "v", "masked": "P"}
LINES = {"query": "-", "key": "--", "value": ":", "weight": "-", "text": (0, (6, 2)),
         "masked": "-."}
SYMBOLS = {"query": "▲", "key": "■", "value": "●"}


def rgb(colour):
    """Return ``#RRGGBB`` as three floats from 0 to 1."""
    return np.array([int(colour[i:i + 2], 16) for i in (1, 3, 5)]) / 255


def mix(start, end, share):
    """Return the colour that lies ``share`` of the way from ``start`` to ``end``."""
    channels = (1 - share) * rgb(start) + share * rgb(end)
    return "#" + "".join(f"{round(255 * channel):02X}" for channel in channels)


def luminance(colour):
    """Return the relative luminance of a colour, as WCAG 2 defines it."""
    channels = rgb(colour)
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(first, second):
    """Return the contrast ratio of two colours, from 1 to 21, as WCAG 2 defines it."""
    low, high = sorted([luminance(first), luminance(second)])
    return (high + 0.05) / (low + 0.05)


def ink_on(ground):
    """Return black or white, whichever stands out more: at least 4.5:1 on any ground."""
    return max("#000000", "#FFFFFF", key=lambda ink: contrast(ink, ground))


def weight_colour(theme, weight):
    """Return the colour of a weight from 0 to 1: from paper to purple."""
    return mix(theme.paper, theme.weight, weight)


def score_colour(theme, score):
    """Return the colour of a score from −1 to 1: from blue through paper, at 0, to orange."""
    return mix(theme.paper, theme.key if score > 0 else theme.query, abs(score))
