"""Histograms: how widely numbers spread."""

import numpy as np

from attention_book.figures._fonts import SMALL
from attention_book.figures.inputs import check_choice, check_text, check_vector, opening, rough
from attention_book.figures.palette import LINES
from attention_book.figures.style import draw, put_title
from attention_book.validation import check_count, complain


def histograms(samples, *, bins=40, title=None, xlabel=None, role="weight", alt=None):
    """Draw the histogram of each sample, one below the other over one axis.

    Parameters
    ----------
    samples : dict of str to array_like, (n,)
        The name and the numbers of each sample; at most six.
    bins : int
        Number of bins over the whole axis.
    title : str, optional
        The finding.
    xlabel : str, optional
        What the numbers measure, with the unit.
    role : str
        Whose colour the bars have.
    alt : str, optional
        The text for those who do not see the figure; made from the numbers if not given.

    Returns
    -------
    Picture
    """
    samples = {str(name): check_vector(name, sample) for name, sample in samples.items()}
    if not 1 <= len(samples) <= 6:
        complain(ValueError, "samples", f"{len(samples)} samples", "1 to 6")
    check_choice("role", role, LINES)
    everything = np.concatenate(list(samples.values()))
    edges = np.linspace(everything.min(), everything.max(), check_count("bins", bins, least=1) + 1)
    alt = check_text("alt", alt) or _describe_samples(samples, title, xlabel)

    def paint(figure, theme):
        rows = figure.subplots(len(samples), sharex=True, squeeze=False)[:, 0]
        for axes, (name, sample) in zip(rows, samples.items(), strict=True):
            axes.hist(sample, edges, color=getattr(theme, role), density=True)
            axes.set_title(name, loc="left", fontsize=SMALL)
            axes.set(yticks=[])
            axes.spines["left"].set_visible(False)
        rows[-1].set_xlabel(xlabel)
        put_title(figure, title)

    return draw(paint, width=520, height=80 + 105 * len(samples), alt=alt)


def _describe_samples(samples, title, xlabel):
    spans = [f"{name}: {sample.size} numbers from {rough(sample.min())} to {rough(sample.max())}, "
             f"standard deviation {rough(sample.std())}." for name, sample in samples.items()]
    return " ".join([f"{opening(title)}Histograms of {xlabel or 'numbers'}.", *spans])
