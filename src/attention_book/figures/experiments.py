"""The figures of chapter 2: what happens to scores and weights without the scale."""

from attention_book.figures.curves import lines
from attention_book.figures.inputs import check_labels, check_vector
from attention_book.figures.picture import side_by_side
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


def softmax_saturation(d, largest, response, *, alt=None,
                       titles=("One weight takes nearly all as d grows",
                               "The weights respond less and less")):
    """Draw the largest weight and the response to its score against the number of features.

    Parameters
    ----------
    d : array_like, (n,)
        Numbers of features.
    largest, response : dict of str to array_like, (n,)
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
    if list(largest) != list(response):
        complain(ValueError, "response", f"names {list(response)}", f"{list(largest)}, as largest")
    both = {"xlabel": "d, features of a query", "width": 460}
    return side_by_side([
        lines(d, largest, title=first, ylabel="largest weight, mean", log="x", alt=alt, **both),
        lines(d, response, title=second, ylabel="response, mean", log="xy",
              alt=alt and "The response of the same.", **both)])
