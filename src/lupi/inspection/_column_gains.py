"""The gains of single privileged columns: each alone, and each left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lupi.evaluation._scoring import metric_name
from lupi.inspection._style import ARM_COLORS, BLACK, add_legend, one_axes, tidy

if TYPE_CHECKING:
    import pandas as pd

    from lupi.evaluation import ColumnGains

LABELS = {"alone": "this column alone", "left out": "all columns but this one"}
STYLES = {
    "alone": {"fmt": "o", "color": ARM_COLORS["with"]},
    "left out": {"fmt": "s", "color": ARM_COLORS["without"]},
}


@dataclass
class ColumnGainDisplay:
    """Gains of single privileged columns, or of groups of them, with intervals.

    Make it with `from_results`, or with ``comparison.columns().plot()``.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per group and kind ("alone" or "left out"): ``group``, ``kind``,
        ``value``, ``low``, ``high``.
    total : float
        The gain of all privileged columns together.
    axis_label : str, default="gain"
        Label of the values.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.
    intervals_ : dict of str to matplotlib ErrorbarContainer
        The marks of each kind.

    See Also
    --------
    lupi.evaluation.Comparison.columns : Measures the gains.

    Examples
    --------
    >>> from lupi.datasets import make_mediator
    >>> from lupi.evaluation import compare
    >>> from lupi.inspection import ColumnGainDisplay
    >>> data = make_mediator(120, random_state=0)
    >>> result = compare(
    ...     data.data, data.target, data.privileged,
    ...     methods="generalized-distillation-classifier", cv=2, n_candidates=1,
    ... )
    >>> display = ColumnGainDisplay.from_results(result.columns())
    >>> list(display.intervals_)
    ['alone', 'left out']
    """

    table: pd.DataFrame
    total: float
    axis_label: str = "gain"

    @classmethod
    def from_results(
        cls, gains: ColumnGains, *, confidence: float = 0.95, ax: Any = None
    ) -> ColumnGainDisplay:
        """Draw the gains of columns.

        Parameters
        ----------
        gains : ColumnGains
            Result of ``Comparison.columns``.
        confidence : float, default=0.95
            Level of the intervals.
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : ColumnGainDisplay
            The display, drawn.
        """
        display = cls(
            table=gains.intervals(confidence),
            total=gains.total.mean,
            axis_label=(
                f"gain in {metric_name(gains.scoring)} over without X* "
                f"({confidence:.0%} interval)"
            ),
        )
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> ColumnGainDisplay:
        """Draw two marks per group, and the gain of all columns as a line.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        self : ColumnGainDisplay
            The display, with ``ax_``, ``figure_``, ``intervals_``.
        """
        groups = list(dict.fromkeys(self.table["group"]))
        own = ax is None
        self.ax_ = ax = one_axes(ax, (8.0, 1.6 + 0.45 * len(groups)))
        self.figure_ = ax.figure
        ax.axvline(0.0, color=BLACK, linewidth=1.0)
        ax.axvline(
            self.total,
            color=BLACK,
            linewidth=1.0,
            linestyle="--",
            label="all columns",
        )
        self.intervals_ = {}
        for shift, (kind, style) in zip((-0.14, 0.14), STYLES.items(), strict=True):
            part = self.table[self.table["kind"] == kind].set_index("group").loc[groups]
            value, low, high = part[["value", "low", "high"]].to_numpy(dtype=float).T
            self.intervals_[kind] = ax.errorbar(
                value,
                np.arange(len(groups)) + shift,
                xerr=np.nan_to_num([value - low, high - value]),
                markersize=7,
                elinewidth=1.8,
                capsize=3,
                label=LABELS[kind],
                **style,
            )
        ax.set_yticks(range(len(groups)), groups)
        ax.set_ylim(len(groups) - 0.5, -0.5)
        ax.set_xlabel(self.axis_label)
        tidy(ax, grid="x")
        add_legend(ax, 3, own=own)
        return self
