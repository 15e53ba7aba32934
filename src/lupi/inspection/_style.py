"""Colors, axes and legends of the displays.

The colors are those of M. Okabe and K. Ito, which are distinguishable under the common
forms of color blindness. Every color has its own marker or line style, so that no
information depends on color alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lupi._optional import require

BLACK, GRAY, ORANGE = "#000000", "#7A7A7A", "#E69F00"
BLUE, GREEN, PURPLE = "#0072B2", "#009E73", "#CC79A7"

# The arms of a comparison look the same in every display.
ARM_COLORS = {
    "without": GRAY,
    "with": BLUE,
    "shuffled": ORANGE,
    "self": PURPLE,
    "oracle": GREEN,
}
ARM_MARKERS = {"without": "s", "with": "o", "shuffled": "X", "self": "P", "oracle": "D"}
ARM_STYLES = {
    "without": "--",
    "with": "-",
    "shuffled": ":",
    "self": (0, (5, 1, 1, 1, 1, 1)),
    "oracle": "-.",
}


def one_axes(ax: Any, figsize: tuple[float, float]) -> Any:
    """Return the axes given, or those of a new figure."""
    return several_axes(None, 1, figsize)[0] if ax is None else ax


def several_axes(ax: Any, count: int, figsize: tuple[float, float]) -> np.ndarray:
    """Return the axes given, one per panel, or those of a new figure."""
    if ax is None:
        require("matplotlib", "Drawing")
        import matplotlib.pyplot as plt

        return plt.subplots(
            1, count, figsize=figsize, layout="constrained", squeeze=False
        )[1][0]
    axes = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
    if len(axes) != count:
        raise ValueError(
            f"This display has {count} panels but ax has {len(axes)} axes. Give "
            f"{count} axes, for example plt.subplots(1, {count})[1], or None."
        )
    return axes


def add_legend(ax: Any, n_columns: int, *, own: bool) -> None:
    """Add a legend: below the axes of an own figure, inside given axes."""
    options = {"loc": "outside lower center"} if own else {}
    (ax.figure if own else ax).legend(
        *ax.get_legend_handles_labels(),
        ncols=n_columns if own else 1,
        frameon=not own,
        fontsize=9,
        **options,
    )


def tidy(ax: Any, grid: str | None = "both") -> None:
    """Remove the upper and right spines and draw a light grid below the marks."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.set_axisbelow(True)
    if grid is not None:
        ax.grid(axis=grid, color="#E6E6E6", linewidth=0.8)
