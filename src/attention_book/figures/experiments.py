"""The figures of chapters 2 and 3: what happens without the scale, and without the shift."""

import numpy as np

from attention_book.figures._fonts import SMALL
from attention_book.figures.cells import HATCH
from attention_book.figures.inputs import check_labels, check_text, check_vector, number, opening
from attention_book.figures.picture import side_by_side
from attention_book.figures.plots import lines, plain_numbers
from attention_book.figures.style import draw, put_title
from attention_book.validation import complain


def variance_against_d(d, unscaled, scaled, *,
                       title="Variance grows with d; dividing by √d stops it", alt=None):
    """Draw the variance of q·k, as measured, against the number of features.

    Parameters
    ----------
    d : array_like, (n,)
        Numbers of features.
    unscaled, scaled : array_like, (n,)
        The measured variance of q·k, and of q·k/√d.
    title, alt : str
        As in :func:`lines`.

    Returns
    -------
    Picture
    """
    d = check_vector("d", d)
    return lines(d, {"predicted: d": d, "q·k": unscaled, "q·k/√d": scaled}, title=title,
                 xlabel="d, features of a query", ylabel="variance", log="xy",
                 roles={"predicted: d": "masked", "q·k": "weight", "q·k/√d": "text"},
                 points=("q·k", "q·k/√d"), alt=alt)


def softmax_saturation(d, largest, gradient, *, alt=None,
                       titles=("One weight takes nearly all as d grows",
                               "Its gradient vanishes")):
    """Draw the largest weight and the size of the gradient against the number of features.

    Parameters
    ----------
    d : array_like, (n,)
        Numbers of features.
    largest, gradient : dict of str to array_like, (n,)
        Names, such as ``"unscaled"`` and ``"divided by √d"``, and what was measured.
    titles : sequence of str
        The two findings.
    alt : str, optional
        The text for both; made from the numbers if not given.

    Returns
    -------
    Picture
    """
    first, second = check_labels("titles", titles, 2)
    if list(largest) != list(gradient):
        complain(ValueError, "gradient", f"names {list(gradient)}", f"{list(largest)}, as largest")
    both = {"xlabel": "d, features of a query", "width": 460}
    return side_by_side([
        lines(d, largest, title=first, ylabel="largest weight, mean", log="x", alt=alt, **both),
        lines(d, gradient, title=second, ylabel="gradient, mean size", log="xy",
              alt=alt and "The gradient of the same.", **both)])


def overflow_ranges(limits, *, title="exp(x) overflows early, and earlier in short types",
                    xlabel="x", alt=None):
    """Draw, for each floating type, up to which x the exponential is finite.

    Parameters
    ----------
    limits : dict of str to float
        The type's name and the largest x whose ``exp(x)`` was found finite.
    title, xlabel, alt : str
        As in :func:`bars`.

    Returns
    -------
    Picture
    """
    names, reach = list(limits), check_vector("limits", list(limits.values()))
    if not (reach > 0).all():
        complain(ValueError, "limits", number(reach.min(), 2), "positive numbers")
    pairs = " ".join(f"{name}: finite up to {number(end, 2)}, then overflow."
                     for name, end in zip(names, reach, strict=True))
    alt = check_text("alt", alt) or f"{opening(title)}Ranges of {xlabel}. {pairs}"

    def paint(figure, theme):
        axes = figure.add_subplot()
        left, right, places = reach.min() / 30, reach.max() * 12, np.arange(reach.size)
        axes.set(xscale="log", xlim=(left, right), yticks=places, yticklabels=names, xlabel=xlabel)
        axes.barh(places, reach, height=0.6, color=theme.weight)
        axes.barh(places, right - reach, left=reach, height=0.6, facecolor=theme.paper,
                  edgecolor=theme.masked, hatch=HATCH)
        for place, end in enumerate(reach):
            axes.annotate(f"finite up to {number(end, 2)}", (end, place), (-8, 0), ha="right",
                          va="center", textcoords="offset points", color=theme.paper,
                          fontsize=SMALL)
            axes.annotate("overflow: inf", (end, place), (10, 0), textcoords="offset points",
                          va="center", fontsize=SMALL,
                          bbox={"facecolor": theme.paper, "edgecolor": "none", "pad": 2})
        plain_numbers(axes, "x")
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.tick_params(axis="y", length=0, labelsize=11)
        put_title(figure, title)

    return draw(paint, width=520, height=120 + 42 * reach.size, alt=alt)
