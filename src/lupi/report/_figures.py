"""The comparison as a figure for slides and papers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lupi.report._words import KINDS, metric_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from lupi.evaluation import Comparison

# Colours that the colour-blind can tell apart, and shapes for those who see none.
_LOOKS = {
    "without": ("#6b767d", "o", "white"),
    "with": ("#0b63b0", "o", "#0b63b0"),
    "shuffled": ("#b5580a", "D", "#b5580a"),
    "oracle": ("#1a7f53", "^", "#1a7f53"),
}


def comparison_figure(comparison: Comparison) -> Figure:
    """Draw the four scores of every method with their standard errors.

    The figure belongs to no window, so it can be drawn where there is no screen.
    """
    from matplotlib.figure import Figure

    methods = comparison.methods
    figure = Figure(figsize=(7.5, 1.2 + 0.75 * len(methods)), layout="constrained")
    ax = figure.subplots()
    table = comparison.table.set_index("row")
    for lane, (row, _, label) in enumerate(KINDS):
        scores = table.loc[[row]]
        colour, marker, face = _LOOKS[row]
        ax.errorbar(
            scores["score"],
            [place + 0.16 * (lane - 1.5) for place in range(len(methods))],
            xerr=scores["std_error"].fillna(0.0),
            fmt=marker,
            color=colour,
            markerfacecolor=face,
            label=label,
        )
    ax.set_yticks(range(len(methods)), methods)
    ax.invert_yaxis()
    ax.set_xlabel(f"{metric_name(comparison.settings['scoring'])} on unseen rows")
    ax.grid(axis="x", alpha=0.3)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(left=False)
    figure.legend(loc="outside upper center", ncols=4, frameon=False)
    return figure
