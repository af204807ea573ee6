"""The figures: one palette, legible in both themes, nothing left changed behind them."""

import io
import logging
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from base64 import b64decode
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache
from html.parser import HTMLParser
from importlib.resources import files

import matplotlib
import numpy as np
import pytest
from PIL import Image

from attention_book import causal_mask, figures, padding_mask, sliding_window_mask, softmax
from attention_book.figures import _fonts, curves, overview, palette, picture, png, style
from attention_book.figures.cells import HATCH
from attention_book.figures.inputs import number, rough

TOKENS = ["the", "cat", "sat", "because", "it"]
LONG = ["The", "animal", "did", "not", "cross", "the", "street", "because", "it", "was", "tired"]
NUMBERS = np.random.default_rng(0).normal(size=(20, 20))
MASK = causal_mask(5)
WEIGHTS = softmax(NUMBERS[:5, :5], mask=MASK)
D = 2.0 ** np.arange(1, 9)
SVG = "{http://www.w3.org/2000/svg}"

# One call or more for each function, with arguments that try the layout.
CALLS = {
    "weights": lambda: figures.matrix(
        WEIGHTS, rows=TOKENS, columns=TOKENS, mask=MASK, shape="(n_query, n_key)",
        title="Each row sums to one, however long the sentence that says so"),
    "scores": lambda: figures.matrix(NUMBERS[:3, :7] * 100, kind="scores", shape="(n, m)"),
    "infinite": lambda: figures.matrix([[1, -np.inf], [np.nan, 3.5]], kind="scores"),
    "one cell": lambda: figures.matrix([[1.0]], title="One key takes all of the weight"),
    "many": lambda: figures.matrix(NUMBERS, kind="scores", mask=causal_mask(20), title="Many"),
    "many weights": lambda: figures.matrix(softmax(NUMBERS[:9, :13])),
    "wide": lambda: figures.matrix(NUMBERS[:2] * 1e6, kind="value"),
    "tall": lambda: figures.matrix(NUMBERS[:, :3], kind="query"),
    "mask": lambda: figures.matrix(causal_mask(2, 5), rows=["was", "tired"], columns=TOKENS),
    "matrices": lambda: figures.matrices([
        {"values": NUMBERS[:3, :4], "kind": "scores", "title": "Scores"},
        {"values": NUMBERS[:3, :4] / 2, "kind": "scores", "title": "Scaled"}]),
    "mask_gallery": lambda: figures.mask_gallery({
        "Causal": causal_mask(5), "Window of 2": sliding_window_mask(5, window=2),
        "Padding": np.broadcast_to(padding_mask(3, 5), (5, 5))}),
    "bars": lambda: figures.bars(WEIGHTS[3], TOKENS, mask=MASK[3], title="“because” looks back"),
    "bars below zero": lambda: figures.bars([-0.5, 0.8, 0], xlabel="score"),
    "lines": lambda: figures.lines(D, {"a": D, "b": D, "c": D + 1, "a very long name": 1 / D},
                                   title="Names keep apart, " * 6, xlabel="d", ylabel="y",
                                   log="xy", points=["b"]),
    "lines with gaps": lambda: figures.lines(
        [0, 1, 2], {"gap": [1, np.inf, 2], "query": [3, 2, 1]}, roles={"query": "query"}),
    "nothing but gaps": lambda: figures.lines([1, 2], {"zero": [0, 0], "one": [1, 1]}, log="y"),
    "histograms": lambda: figures.histograms({"d = 4": NUMBERS[0], "d = 16": NUMBERS[1] * 3},
                                             title="Wider", xlabel="q·k"),
    "vectors": lambda: figures.vectors(
        {"query": [[2, 1]], "key": [[1.5, 2.2], [-1, 1.4], [0.6, -1.5]]}, project=(0, 0),
        labels={"query": ["it"], "key": ["cat", "because", "mat"]}, title="A length " * 8),
    "vectors apart": lambda: figures.vectors({"query": [[2, -1]], "key": [[-1.5, -0.6]],
                                              "value": [[0, 1]]}, project=(0, 0)),
    "variance_against_d": lambda: figures.variance_against_d(D, D * 1.03, np.ones(8)),
    "softmax_saturation": lambda: figures.softmax_saturation(
        D, {"unscaled": 1 - 1 / D, "divided by √d": 0 * D + 0.3},
        {"unscaled": 1 / D**3, "divided by √d": 0 * D + 0.1}),
    "overflow_ranges": lambda: figures.overflow_ranges(
        {"float16": 11.09, "float32": 88.72, "float64": 709.78}),
    "attention_arcs": lambda: figures.attention_arcs(
        TOKENS, WEIGHTS[3], 3, mask=MASK[3], title="“because” draws on the words before it"),
    "a long sentence": lambda: figures.attention_arcs(
        LONG, softmax(NUMBERS[0, :11] * 2), 8, title="A pronoun draws on an earlier noun"),
    "a short query at the end": lambda: figures.attention_arcs(
        ["we", "met", "it"], [0.2, 0.5, 0.3], 2),
    "the_map": lambda: figures.the_map("scaling"),
    "side_by_side": lambda: figures.side_by_side([figures.bars([1]), figures.bars([2])]),
}
every_figure = pytest.mark.parametrize("name", CALLS)
both_themes = pytest.mark.parametrize("theme", [palette.LIGHT, palette.DARK],
                                      ids=["light", "dark"])


@contextmanager
def recorded():
    """Collect the Matplotlib figures that are drawn; light and dark take turns."""
    seen = []

    class Recorder(style.FigureCanvasAgg):
        def draw(self):
            super().draw()
            seen.append(self.figure)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(style, "FigureCanvasAgg", Recorder)
        yield seen


@pytest.fixture
def drawn():
    with recorded() as seen:
        yield seen


@cache
def example(name):
    """Return a picture of ``CALLS``, and the Matplotlib figures drawn for it."""
    with recorded() as seen:
        return CALLS[name](), seen


class Images(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.found = []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        if tag == "img":
            self.found.append(dict(attributes))


def images(figure):
    return Images(figure._repr_mimebundle_()["text/html"]).found


def texts(figure):
    """All texts of a figure that are drawn and not empty: no ticks beyond the axes' ends."""
    beyond = set()
    for axis in [axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)]:
        low, high = sorted(axis.get_view_interval())
        shown = axis.axes.axison
        beyond |= {label for tick in axis.get_major_ticks() + axis.get_minor_ticks()
                   for label in (tick.label1, tick.label2)
                   if not (shown and low <= tick.get_loc() <= high)}
    return [text for text in figure.findobj(matplotlib.text.Text)
            if text.get_visible() and text.get_text().strip() and text not in beyond]


def words(figure):
    return [text.get_text() for text in texts(figure)]


def style_sheet():
    return (files(figures) / "css" / "look.css").read_text(encoding="utf-8")


def properties(selector, css):
    """Return the custom properties that ``css`` sets for exactly this selector."""
    block = re.search(rf"(?:^|[}}/]\s*){re.escape(selector)}\s*\{{([^}}]*)\}}", css).group(1)
    return dict(re.findall(r"--ab-([a-z]+):\s*(#[0-9A-F]{6});", block))


# One palette


def test_the_package_and_the_style_sheet_have_one_palette():
    screen, _, paper = style_sheet().partition("@media print")
    both = 'html[data-theme="dark"],\nbody[data-jp-theme-light="false"]'
    assert properties(":root", screen) == asdict(palette.LIGHT)
    assert properties(both, screen) == asdict(palette.DARK)
    printed = re.search(r"\{([^}]*)\}", paper.partition("{")[2]).group(1)
    assert dict(re.findall(r"--ab-(\w+): (\S+);", printed)) == asdict(palette.LIGHT)


def test_pictures_follow_the_same_themes_as_the_style_sheet():
    themes = set(re.findall(r"(?:html|body)\[[^\]]+\]", style_sheet()))
    assert set(re.findall(r"(?:html|body)\[[^\]]+\]", picture.STYLE)) == themes


def test_print_shows_the_light_version():
    """Nothing but the rules for screens shows the dark image."""
    everywhere = re.sub(r"@media screen\{(?:[^{}]*\{[^{}]*\})*\s*\}", "", picture.STYLE)
    assert everywhere.count("ab-dark{display:none!important}") == 1
    assert everywhere.count("display") == 2  # the other: images stand in a line
    assert "ab-light{display:none!important}" in picture.STYLE


@pytest.mark.parametrize(("first", "second", "ratio"), [
    ("#000000", "#FFFFFF", 21), ("#FFFFFF", "#FFFFFF", 1), ("#777777", "#FFFFFF", 4.48),
    ("#0000FF", "#FFFFFF", 8.59), ("#0A0A0A", "#FFFFFF", 19.8)])
def test_contrast_is_that_of_wcag(first, second, ratio):
    assert palette.contrast(first, second) == pytest.approx(ratio, abs=0.005)
    assert palette.contrast(second, first) == palette.contrast(first, second)


@both_themes
@pytest.mark.parametrize("role", ["text", "query", "key", "value", "weight", "masked"])
def test_every_role_stands_out_from_its_ground(theme, role):
    assert palette.contrast(getattr(theme, role), theme.paper) >= 4.5


@both_themes
def test_numbers_stand_out_from_every_cell(theme):
    grounds = [palette.weight_colour(theme, weight) for weight in np.linspace(0, 1, 101)]
    grounds += [palette.score_colour(theme, score) for score in np.linspace(-1, 1, 201)]
    assert min(palette.contrast(palette.ink_on(ground), ground) for ground in grounds) >= 4.5


@both_themes
def test_colours_run_from_paper_to_the_role(theme):
    assert palette.weight_colour(theme, 0) == palette.score_colour(theme, 0) == theme.paper
    assert palette.weight_colour(theme, 1) == theme.weight
    assert palette.score_colour(theme, -1) == theme.query
    assert palette.score_colour(theme, 1) == theme.key


def test_every_role_has_a_second_sign():
    shapes = [(palette.MARKERS[role], str(palette.LINES[role])) for role in palette.MARKERS]
    assert len({marker for marker, _ in shapes}) == len(shapes)
    curves = ["query", "key", "value"]
    assert len({palette.LINES[role] for role in curves}) == 3
    assert len({palette.SYMBOLS[role] for role in curves}) == 3


# What every figure keeps


@every_figure
def test_a_figure_is_the_same_each_time_and_changes_no_setting(name):
    picture_, _ = example(name)
    with matplotlib.rc_context({"font.size": 30, "axes.linewidth": 5, "text.antialiased": False}):
        before = dict(matplotlib.rcParams)
        assert CALLS[name]() == picture_
        assert dict(matplotlib.rcParams) == before


@every_figure
def test_a_figure_has_a_description_two_versions_and_a_size(name):
    figure, _ = example(name)
    found = images(figure)
    light, dark = found[::2], found[1::2]
    assert len(light) == len(dark) == len(figure.panels)
    for one, other in zip(light, dark, strict=True):
        assert one["class"] == "ab-light" and "hidden" not in one
        assert other["class"] == "ab-dark dark-light"
        assert other["hidden"] == "hidden"  # JupyterLab drops a bare one
        assert one["alt"] == other["alt"] and len(one["alt"]) > 20
        assert one["src"] != other["src"]
        assert int(one["width"]) <= 760 and one["width"] == other["width"]
    assert repr(figure) == f"Figure: {figure.alt}"


@every_figure
def test_a_figure_asks_no_other_host_for_anything(name):
    html = example(name)[0]._repr_mimebundle_()["text/html"]
    assert all(image["src"].startswith("data:image/") for image in Images(html).found)
    assert not re.findall(r"(?:src|href|url)\W{1,3}(?!data:)(?:https?:)?//", html)


@every_figure
def test_nothing_is_cut_off_and_no_texts_overlap(name):
    for figure in example(name)[1]:
        boxes = [(text.get_text(), text.get_window_extent()) for text in texts(figure)]
        for label, box in boxes:
            assert box.x0 >= 0 and box.x1 <= figure.bbox.x1, f"{label!r} is cut off"
            assert box.y0 >= 0 and box.y1 <= figure.bbox.y1, f"{label!r} is cut off"
        straight = [(text.get_text(), text.get_window_extent()) for text in texts(figure)
                    if text.get_rotation() % 90 == 0]  # the box of a slanted text is far larger
        for place, (label, box) in enumerate(straight):
            for other, other_box in straight[place + 1:]:
                assert not overlap(box, other_box), f"{label!r} lies on {other!r}"


def overlap(first, second, slack=3):
    across = min(first.x1, second.x1) - max(first.x0, second.x0)
    down = min(first.y1, second.y1) - max(first.y0, second.y0)
    return across > slack and down > slack


@pytest.mark.parametrize("name", [name for name in CALLS if name != "the_map"])
def test_the_fallback_is_the_light_version_in_page_size(name):
    figure, _ = example(name)
    image = png.from_png(b64decode(figure._repr_mimebundle_()["image/png"]))
    assert image.size == (sum(panel.width for panel in figure.panels),
                          max(panel.height for panel in figure.panels))
    left = 0
    for panel in figure.panels:
        part = image.crop((left, 0, left + panel.width, panel.height))
        halved = png.from_png(panel.light).reduce(2)
        assert np.abs(np.asarray(part, float) - np.asarray(halved, float)).mean() < 2
        left += panel.width


@pytest.mark.parametrize("name", [name for name in CALLS if name != "the_map"])
def test_images_are_sharp_on_a_phone_and_on_the_ground_of_their_theme(name):
    panel = example(name)[0].panels[0]
    for content, ground in ((panel.light, "#FFFFFF"), (panel.dark, "#14181E")):
        image = png.from_png(content)
        assert image.size == (2 * panel.width, 2 * panel.height)
        assert "#{:02X}{:02X}{:02X}".format(*image.getpixel((0, 0))) == ground


def test_inputs_are_not_written_to():
    weights, mask, d = WEIGHTS.copy(), MASK.copy(), D.copy()
    for array in (weights, mask, d):
        array.flags.writeable = False
    figures.matrix(weights, mask=mask)
    figures.bars(weights[2], mask=mask[2])
    figures.attention_arcs(TOKENS, weights[2], 2, mask=mask[2])
    figures.lines(d, {"d": d})
    figures.histograms({"d": d})
    assert (weights == WEIGHTS).all() and (mask == MASK).all() and (d == D).all()


def test_a_description_is_escaped_and_can_be_given():
    figure = figures.bars([1], alt='a < b & "c"')
    assert '<img class="ab-light" alt="a &lt; b &amp; &quot;c&quot;"' in (
        figure._repr_mimebundle_()["text/html"])
    assert images(figure)[0]["alt"] == figure.alt == 'a < b & "c"'


def test_nothing_is_said_on_stderr_while_fonts_are_found(monkeypatch):
    log, heard = logging.getLogger("matplotlib.font_manager"), []
    monkeypatch.setattr(log, "level", logging.INFO)
    monkeypatch.setattr(_fonts, "import_module", lambda name: heard.append(log.level))
    _fonts._load_quietly()
    assert heard == [logging.ERROR, logging.ERROR]
    assert log.level == logging.INFO


# Matrices


def test_a_matrix_has_its_numbers_labels_and_shape(drawn):
    figures.matrix([[0.25, 0.75], [1, 0], [0.5, 0.5]], rows=["a", "b", "c"], columns=["d", "e"],
                   shape="(n_query, n_key)", title="Weights")
    for figure in drawn:
        shown = words(figure)
        assert [text for text in shown if re.fullmatch(r"\d\.\d\d", text)] == [
            "0.25", "0.75", "1.00", "0.00", "0.50", "0.50"]
        assert {"a", "b", "c", "d", "e", "(n_query, n_key) = (3, 2)", "Weights", "▲ queries",
                "■ keys"} <= set(shown)
        assert "masked" not in shown


def test_masked_cells_are_hatched_hold_no_number_and_are_named(drawn):
    figures.matrix(WEIGHTS, mask=MASK)
    for figure in drawn:
        shown = words(figure)
        assert sum(bool(re.fullmatch(r"\d\.\d\d", text)) for text in shown) == MASK.sum()
        assert shown.count("masked") == 1
        hatched = [item for item in figure.axes[0].collections if item.get_hatch() == HATCH]
        assert [len(item.get_paths()) for item in hatched] == [(~MASK).sum(), 1]


def test_more_than_64_cells_have_a_scale_instead_of_numbers(drawn):
    figures.matrix(softmax(NUMBERS[:8, :8]))
    figures.matrix(softmax(NUMBERS[:8, :9]))
    eight, nine = drawn[0], drawn[2]
    assert sum("." in text for text in words(eight)) == 64 and len(eight.axes) == 1
    assert [text for text in words(nine) if "." in text] == ["0.0", "0.5", "1.0"]
    assert len(nine.axes) == 2


def cell_colours(figure):
    cells = figure.axes[0].collections[0].get_facecolor()
    return [matplotlib.colors.to_hex(colour).upper() for colour in cells]


def test_scores_are_coloured_around_zero_and_panels_share_a_scale(drawn):
    figures.matrices([{"values": [[-4, 0, 2]], "kind": "scores"},
                      {"values": [[1, -np.inf, 2]], "kind": "scores"},
                      {"values": [[1, 0.5, 0]]}])
    light = palette.LIGHT
    assert cell_colours(drawn[0]) == [light.query, light.paper, palette.score_colour(light, 0.5)]
    assert cell_colours(drawn[2]) == [palette.score_colour(light, 0.25), light.paper,
                                      palette.score_colour(light, 0.5)]
    assert cell_colours(drawn[4]) == [light.weight, palette.weight_colour(light, 0.5), light.paper]
    assert "−∞" in words(drawn[2])


def test_a_small_score_has_the_full_colour_of_its_limit(drawn):
    figures.matrix([[1.0]], kind="scores", limit=2)
    assert cell_colours(drawn[1]) == [palette.score_colour(palette.DARK, 0.5)]


def test_a_matrix_says_in_words_what_it_shows():
    figure = figures.matrix([[1, 0], [0.25, 0.75]], rows=["a", "b"], columns=["c", "d"],
                            mask=causal_mask(2), title="Found.")
    assert figure.alt == ("Found. Matrix of weights, 2 queries by 2 keys. a: c 1.00, d masked. "
                          "b: c 0.25, d 0.75.")
    assert figures.matrix(causal_mask(1, 2)[:, ::-1]).alt.endswith("0 may attend to 0, 1.")
    assert figures.matrix([[False, True], [False, False]]).alt.endswith(
        "0 may attend to 1. 1 may attend to nothing.")
    many = example("many")[0].alt
    assert many.startswith("Many. Matrix of scores, 20 queries by 20 keys. Values from −")
    assert many.endswith("190 cells are masked.")


# Curves, bars, histograms


def test_each_curve_is_named_at_its_end(drawn):
    figures.lines([1, 2], {"low": [0, 0], "high": [5, 9]}, xlabel="steps", ylabel="cost, ms")
    figure = drawn[0]
    axes = figure.axes[0]
    assert axes.get_legend() is None
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("steps", "cost, ms")
    for name, end in (("low", 0), ("high", 9)):
        label = next(text for text in texts(figure) if text.get_text() == name)
        box = label.get_window_extent()
        assert abs((box.y0 + box.y1) / 2 - axes.transData.transform((2, end))[1]) < 8
        assert box.x0 > axes.bbox.x1


def test_names_that_would_overlap_are_spread_in_order():
    heights = {"b": 0.0, "a": -1.0, "c": 1.0, "far": 100.0, "also": 102.0}
    spread = curves._spread(heights, 10)
    assert [name for name, _ in sorted(spread.items(), key=lambda item: item[1])] == [
        "a", "b", "c", "far", "also"]
    assert np.diff(sorted(spread.values())).min() >= 10 - 1e-9
    assert spread["b"] == 0 and spread["far"] == 96


def test_a_curve_is_told_by_more_than_its_colour(drawn):
    figures.lines(D, dict.fromkeys("abcdef", D))
    curves = drawn[0].axes[0].lines
    signs = {(curve.get_color(), str(curve._unscaled_dash_pattern)) for curve in curves}
    assert len(signs) == 6


def test_a_curve_without_a_role_takes_no_other_curves_colour(drawn):
    figures.lines(D, dict.fromkeys("abc", D), roles={"b": "weight"})
    colours = [curve.get_color() for curve in drawn[0].axes[0].lines]
    light = palette.LIGHT
    assert colours == [light.text, light.weight, light.masked]


def test_logarithmic_axes_are_labelled_in_plain_numbers(drawn):
    figures.lines([1, 1000], {"a": [1e-9, 1]}, log="xy")
    axes = drawn[0].axes[0]
    assert {"1", "10", "100", "1000"} <= {label.get_text() for label in axes.get_xticklabels()}
    figures.lines([1, 2], {"a": [0.1, 0.6]}, log="y")  # less than a decade
    short = [label.get_text() for label in drawn[2].axes[0].get_yticklabels(which="both")]
    assert {"0.1", "0.2", "0.5"} <= set(short)
    assert any("10^{" in label.get_text() for label in axes.get_yticklabels())


def test_measured_points_have_no_line(drawn):
    figures.lines(D, {"law": D, "measured": D}, points=["measured"])
    law, measured = drawn[0].axes[0].lines
    assert law.get_linestyle() == "-" and law.get_marker() == ""
    assert measured.get_linestyle() == "None" and measured.get_marker() == "v"


def test_curves_have_gaps_where_there_is_no_number(drawn):
    figures.lines([1, 2, 3], {"a": [np.inf, 0, 1]}, log="y")
    shown = drawn[0].axes[0].lines[0].get_ydata()
    assert np.isnan(shown[:2]).all() and shown[2] == 1


def test_bars_are_labelled_with_their_numbers(drawn):
    figures.bars([0.125, 0.875, 0], ["a", "b", "c"], mask=[True, True, False])
    shown = words(drawn[0])
    assert {"a", "b", "c", "0.12", "0.88", "masked", "weight"} <= set(shown)
    assert [bar.get_hatch() for bar in drawn[0].axes[0].patches] == [None, None, HATCH]


def test_bars_of_weights_have_one_axis_so_that_rows_can_be_compared(drawn):
    figures.bars([0.5, 0.5])
    figures.bars([0.9, 0.1])
    figures.bars([0.9, 0.9])
    figures.bars([0.9, 0.9], limit=3)
    ends = [figure.axes[0].get_xlim()[1] for figure in drawn[::2]]
    assert ends[0] == ends[1] >= 1 > 0.9
    assert ends[2:] == pytest.approx([0.9 * ends[0], 3 * ends[0]])


@pytest.mark.parametrize(("values", "decimals", "shown"), [
    ([[1, -2]], None, ["1", "−2"]), ([[1.5, 2]], None, ["1.5", "2.0"]),
    ([[1.25, 1 / 3]], None, ["1.25", "0.33"]), ([[1.25, -np.inf]], 0, ["1", "−∞"])])
def test_cells_have_as_many_digits_as_they_need(values, decimals, shown, drawn):
    figures.matrix(values, kind="scores", columns=["a", "b"], rows=["c"], decimals=decimals)
    assert [text for text in words(drawn[0]) if text in shown] == shown


def test_histograms_count_every_number_on_one_axis(drawn):
    figures.histograms({"a": np.array([0.0, 0, 1]), "b": np.array([9.0, 10])}, bins=10)
    first, second = drawn[0].axes
    assert [bar.get_height() for bar in first.patches][:2] == pytest.approx([2 / 3, 1 / 3])
    assert [bar.get_height() for bar in second.patches][-2:] == pytest.approx([0, 1])
    assert first.get_xlim() == second.get_xlim()


# Vectors, sentences, experiments


def test_the_projection_gives_the_dot_product():
    query, key = np.array([3.0, 4.0]), np.array([2.0, -1.0])
    alt = figures.vectors({"query": [query], "key": [[0, 1], key]}, project=(0, 1)).alt
    length, share, product = map(float, re.search(
        r"projection of k = (\S+) × (\S+) = (\S+) = q·k", alt.replace("−", "-")).groups())
    assert (length, share, product) == (5.0, 0.4, 2.0)
    assert alt.endswith("at an angle of 80°.")  # cos 80° is about 2 / (5 √5)


def test_arrows_end_where_the_vectors_do(drawn):
    figures.vectors({"query": [[2, 1]], "value": [[-1, 0.5]]})
    arrows = [text for text in drawn[0].axes[0].texts if getattr(text, "arrow_patch", None)]
    assert [tuple(arrow.xy) for arrow in arrows] == [(2, 1), (-1, 0.5)]


@pytest.mark.parametrize("tokens", [TOKENS, LONG], ids=["across", "down"])
def test_a_sentence_shows_each_weight_as_number_and_width(tokens, drawn):
    weights = softmax(NUMBERS[2, :len(tokens)])
    mask = np.arange(len(tokens)) != 1
    figures.attention_arcs(tokens, weights, 3, mask=mask)
    axes = drawn[0].axes[0]
    arcs = [patch for patch in axes.patches if isinstance(patch, matplotlib.patches.Arc)]
    assert [arc.get_linewidth() for arc in arcs] == pytest.approx(0.6 + 9 * weights[mask])
    shown = words(drawn[0])
    assert [text for text in shown if re.fullmatch(r"0\.\d\d", text)] == [
        f"{weight:.2f}" for weight in weights[mask]]
    assert shown.count("masked") == 1 and "▲ query" in shown


@pytest.mark.parametrize("name", ["attention_arcs", "a long sentence"])
def test_arcs_stay_in_the_figure_and_off_the_title(name):
    figure = example(name)[1][0]
    title = texts(figure)[0].get_window_extent()
    for patch in figure.axes[0].patches:
        box = patch.get_window_extent()
        assert box.y1 < title.y0 and box.y0 >= 0 and box.x0 >= 0


def test_a_long_sentence_is_written_downwards_for_a_narrow_screen():
    across, down = (example(name)[0].panels[0] for name in ("attention_arcs", "a long sentence"))
    assert across.width > across.height
    assert down.width <= 340 < down.height


def test_overflow_is_hatched_from_the_limit_on(drawn):
    figures.overflow_ranges({"float16": 11.09, "float32": 88.72})
    finite, over = drawn[0].axes[0].patches[:2], drawn[0].axes[0].patches[2:]
    assert [bar.get_width() for bar in finite] == [11.09, 88.72]
    assert [(bar.get_x(), bar.get_hatch()) for bar in over] == [(11.09, HATCH), (88.72, HATCH)]


def test_the_variance_is_set_against_its_law(drawn):
    figures.variance_against_d(D, D + 1, D / D)
    law, unscaled, scaled = (curve.get_ydata() for curve in drawn[0].axes[0].lines)
    assert (law == D).all() and (unscaled == D + 1).all() and (scaled == 1).all()


# The map


def map_svg(chapter, theme="light"):
    return ET.fromstring(getattr(figures.the_map(chapter).panels[0], theme))


def boxes(svg):
    """Return each box's name and what its frame is: lit boxes have a second one inside."""
    rects = [rect for rect in svg.findall(f"{SVG}rect") if float(rect.get("height")) > 20][1:]
    names = [tspan.text or tspan[0].tail.strip() for tspan in svg.iter(f"{SVG}tspan")
             if tspan.get("font-weight")]
    frames = [rect for rect in rects if rect.get("fill") != "none"]
    rings = {(float(rect.get("x")) - 2.5, float(rect.get("y")) - 2.5) for rect in rects
             if rect.get("fill") == "none"}
    kinds = ["here" if (float(rect.get("x")), float(rect.get("y"))) in rings
             else "to come" if rect.get("stroke-dasharray") else "built" for rect in frames]
    return dict(zip(names, kinds, strict=True))


@pytest.mark.parametrize(("chapter", "here", "built"), [
    ("dot products", "tokens Q K V scores", ""),
    ("scaling", "scaled", "tokens Q K V scores"),
    ("stable softmax", "weights", "tokens Q K V scores scaled"),
    ("weighted values", "mixture", "tokens Q K V scores scaled weights"),
    ("causal mask", "masked", "tokens Q K V scores scaled weights mixture"),
    ("multi head", "heads", "tokens Q K V scores scaled weights mixture masked"),
    ("kv cache", "cache", "tokens Q K V scores scaled weights mixture masked heads"),
    ("chunked attention", "chunks",
     "tokens Q K V scores scaled weights mixture masked heads cache"),
    ("transformer block", "block",
     "tokens Q K V scores scaled weights mixture masked heads cache chunks"),
    ("learning attention", "model",
     "tokens Q K V scores scaled weights mixture masked heads cache chunks block"),
    ("real model", "model",
     "tokens Q K V scores scaled weights mixture masked heads cache chunks block")])
def test_the_map_lights_the_chapters_step(chapter, here, built):
    for theme in ("light", "dark"):
        svg = map_svg(chapter, theme)
        found = boxes(svg)
        assert {name for name, kind in found.items() if kind == "here"} == set(here.split())
        assert {name for name, kind in found.items() if kind == "built"} == set(built.split())
        assert len(found) == 14
        marks = [element for element in svg.iter() if (element.text or "") == "you are here"]
        assert len(marks) == 1
    alt = figures.the_map(chapter).alt
    assert f", {chapter}: " in alt and f"Already built: {', '.join(built.split()) or 'nothing'}." \
        .count(",") == alt.partition("Already built: ")[2].partition(".")[0].count(",")


def test_the_map_says_in_words_what_it_shows():
    picture_ = figures.the_map("01_dot_products")
    svg = map_svg("dot products")
    assert svg.find(f"{SVG}title").text == "The whole computation; you are here: dot products"
    assert svg.find(f"{SVG}desc").text == picture_.alt
    assert svg.get("role") == "img"
    assert "tokens → Q, K, V → scores → scaled → masked → weights → mixture → heads" in picture_.alt


def test_the_map_waits_for_no_matplotlib():
    """In a browser Matplotlib takes seconds to load, and the map is the first thing to be seen."""
    code = ("import sys\nfrom attention_book import figures\nfigures.the_map('scaling')\n"
            "assert 'matplotlib' not in sys.modules\n"
            "from attention_book.figures import *\nassert 'matplotlib' in sys.modules\n"
            f"assert all(name in globals() for name in {figures.__all__})")
    answer = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True,
                            text=True, encoding="utf-8")
    assert (answer.returncode, answer.stderr) == (0, "")
    with pytest.raises(AttributeError, match=r"attention_book\.figures.* no attribute 'plot'"):
        figures.plot  # noqa: B018
    assert dir(figures) == sorted(figures.__all__)


def test_a_chapters_file_name_will_do():
    assert figures.the_map("05_causal_mask") == figures.the_map("causal mask")


def test_the_map_is_readable_on_a_phone():
    """Scaled to 358 pixels, the room on a screen of 390, no letter is under 10 pixels."""
    svg = map_svg("scaling")
    sizes = [float(element.get("font-size")) for element in svg.iter() if element.get("font-size")]
    assert min(sizes) * 358 / overview.WIDTH >= 10


@both_themes
def test_the_maps_letters_stand_out(theme):
    tinted = palette.mix(theme.paper, theme.text, 0.1)
    assert palette.contrast(theme.text, tinted) >= 4.5
    assert palette.contrast(theme.masked, theme.paper) >= 4.5
    inverse = palette.DARK if theme is palette.LIGHT else palette.LIGHT
    for role in ("query", "key", "value"):  # symbols, not letters: 3 to 1
        assert palette.contrast(getattr(inverse, role), theme.text) >= 3
        assert palette.contrast(getattr(theme, role), tinted) >= 3


# Small files


def test_colours_that_matter_survive_in_the_file():
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (60, 30, 3), dtype=np.uint8)  # far more than 256 colours
    pixels = np.concatenate([pixels, pixels], axis=1)  # each of them more often than the next
    pixels[0, 0] = (0x1F, 0x6F, 0xB2)
    pixels[30:] = (0x14, 0x18, 0x1E)
    image = png.from_png(png.to_png(Image.fromarray(pixels), ["#1F6FB2"]))
    assert image.getpixel((0, 0)) == (0x1F, 0x6F, 0xB2)
    assert image.getpixel((5, 45)) == (0x14, 0x18, 0x1E)
    assert len(image.getcolors(1 << 20)) <= 256


def test_other_colours_become_the_nearest():
    seen, kept = np.array([[10, 0, 0], [0, 200, 0]]), np.array([[0, 255, 0], [0, 0, 0]])
    assert png._nearest(seen, kept).tolist() == [1, 0]


def test_a_figure_is_a_small_file():
    """A chapter has about ten figures, each in two themes, in the notebook and on the page."""
    for panel in example("weights")[0].panels:
        with Image.open(io.BytesIO(panel.light)) as image:
            assert image.mode == "P"
        assert len(panel.light) < 40_000


# Words and numbers


@pytest.mark.parametrize(("value", "decimals", "text"), [
    (1.005, 2, "1.00"), (-2.5, 1, "−2.5"), (-0.001, 2, "0.00"), (3.0, 0, "3"),
    (-np.inf, 2, "−∞"), (np.inf, 0, "∞"), (np.nan, 2, "NaN")])
def test_numbers_have_a_true_minus_and_no_negative_zero(value, decimals, text):
    assert number(value, decimals) == text


@pytest.mark.parametrize(("value", "text"), [
    (1024, "1024"), (-3, "−3"), (0, "0"), (12.345, "12.3"), (-0.98765, "−0.988"),
    (1234.56, "1230"), (2.76e-7, "2.76e−07"), (3.2e9, "3.20e+09"), (np.nan, "NaN")])
def test_descriptions_give_three_digits(value, text):
    assert rough(value) == text


# Bad input


@pytest.mark.parametrize(("call", "error", "start"), [
    (lambda: figures.matrix(None), TypeError, "values: got None; wanted"),
    (lambda: figures.matrix([1, 2]), ValueError, "values: got shape (2,); wanted"),
    (lambda: figures.matrix(np.zeros((2, 3, 3))), ValueError, "values: got shape (2, 3, 3); wa"),
    (lambda: figures.matrix(np.zeros((0, 3))), ValueError, "values: got shape (0, 3); wanted"),
    (lambda: figures.matrix([[1, 2], [3]]), ValueError, "values: got rows of different lengths"),
    (lambda: figures.matrix([["a"]]), TypeError, "values: got text; wanted"),
    (lambda: figures.matrix([[1.5]]), ValueError, "values: got weights outside 0 to 1; wanted"),
    (lambda: figures.matrix([[np.nan]]), ValueError, "values: got weights outside 0 to 1; wanted"),
    (lambda: figures.matrix([[1.0]], kind="logits"), ValueError, "kind: got 'logits'; wanted one"),
    (lambda: figures.matrix([[1.0]], rows=["a", "b"]), ValueError, "rows: got 2 labels; wanted 1"),
    (lambda: figures.matrix([[1.0]], columns="a"), TypeError, "columns: got one string; wanted"),
    (lambda: figures.matrix([[1.0]], title=3), TypeError, "title: got 3; wanted text"),
    (lambda: figures.matrix([[1.0]], alt=["x"]), TypeError, "alt: got a value of type list"),
    (lambda: figures.matrix([[1.0]], mask=[[1]]), TypeError, "mask: got shape (1, 1) of int64"),
    (lambda: figures.matrix([[1.0]], mask=[[True, False]]), ValueError, "mask: got shape (1, 2)"),
    (lambda: figures.matrices([]), TypeError, "panels: got []; wanted dicts"),
    (lambda: figures.matrices([{"title": "a"}]), TypeError, "panels: got [{'title': 'a'}]; wanted"),
    (lambda: figures.matrices([[[1.0]]]), TypeError, "panels: got [[[1.0]]]; wanted dicts"),
    (lambda: figures.bars([[1]]), ValueError, "values: got shape (1, 1); wanted"),
    (lambda: figures.bars([np.nan]), ValueError, "values: got 1 values that are not finite"),
    (lambda: figures.bars([1], role="noun"), ValueError, "role: got 'noun'; wanted one of"),
    (lambda: figures.lines([1, 2], {}), ValueError, "series: got 0 curves; wanted 1 to 6"),
    (lambda: figures.lines([1, 2], {"a": [1]}), ValueError, "a: got shape (1,); wanted shape (2,)"),
    (lambda: figures.lines([0, 2], {"a": [1, 1]}, log="x"), ValueError, "x: got values from 0"),
    (lambda: figures.lines([1], {"a": [1]}, log=True), ValueError, "log: got True; wanted one"),
    (lambda: figures.lines([1], {"a": [1]}, points=["b"]), ValueError, "points: got 'b'; wanted"),
    (lambda: figures.lines([1], {"a": [1]}, roles={"b": "key"}), ValueError, "roles: got 'b'"),
    (lambda: figures.lines([1], {"a": [1]}, roles={"a": "x"}), ValueError, "roles['a']: got 'x'"),
    (lambda: figures.histograms({}), ValueError, "samples: got 0 samples; wanted 1 to 6"),
    (lambda: figures.histograms({"a": [1]}, bins=0), ValueError, "bins: got 0; wanted"),
    (lambda: figures.vectors({"query": [[1, 2, 3]]}), ValueError, "groups['query']: got shape (1,"),
    (lambda: figures.vectors({"noun": [[1, 2]]}), ValueError, "groups: got 'noun'; wanted one of"),
    (lambda: figures.vectors({"query": [[1, 2]]}, project=(0, 0)), ValueError, "project: got (0, "),
    (lambda: figures.vectors({"query": [[1, 2]], "key": [[0, 0]]}, project=(0, 0)), ValueError,
     "project: got a vector of zeros; wanted"),
    (lambda: figures.attention_arcs(["a"], [0.5, 0.5], 0), ValueError, "tokens: got 1 labels; wan"),
    (lambda: figures.attention_arcs(["a"], [1.0], 1), ValueError, "query: got 1; wanted"),
    (lambda: figures.attention_arcs(["a"], [2.0], 0), ValueError, "weights: got weights outside"),
    (lambda: figures.overflow_ranges({"a": -1}), ValueError, "limits: got −1.00; wanted positive"),
    (lambda: figures.softmax_saturation([1], {"a": [1]}, {"b": [1]}), ValueError,
     "response: got names ['b']; wanted ['a']"),
    (lambda: figures.the_map("attention"), ValueError, "lit: got 'attention'; wanted one of"),
    (lambda: figures.the_map(None), ValueError, "lit: got None; wanted one of"),
])
def test_bad_input_is_named(call, error, start):
    with pytest.raises(error, match=f"^{re.escape(start)}"):
        call()
