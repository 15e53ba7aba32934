"""What a comparison found: the scores of its four rows, or their differences."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lupi._optional import optional
from lupi.inspection._style import (
    BLACK,
    ROW_COLOURS,
    ROW_LABELS,
    ROW_MARKERS,
    interval_factor,
    one_axes,
    tidy,
)

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = optional("pandas", "GainDisplay")

if TYPE_CHECKING:
    from lupi.evaluation import Comparison

KINDS = ("score", "difference")


@dataclass
class GainDisplay:
    """Scores without, with, with shuffled X* and of the oracle, with intervals.

    Make it with `from_results`, or with ``Comparison.plot()``.

    Parameters
    ----------
    table : pandas.DataFrame
        One line per method and row: ``method``, ``row``, ``value``, ``low``, ``high``.
    verdicts : dict of str to str
        The verdict on each method.
    sentence : str
        The verdict in words, for the title.
    axis_label : str
        What the values are.
    kind : {"score", "difference"}
        Whether values are scores or differences to *without*.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.
    intervals_ : dict of str to matplotlib ErrorbarContainer
        The marks of each row.

    See Also
    --------
    lupi.evaluation.compare : Makes the comparison.

    Examples
    --------
    >>> from lupi import GeneralizedDistillationClassifier
    >>> from lupi.datasets import make_mediator
    >>> from lupi.evaluation import compare
    >>> from lupi.inspection import GainDisplay
    >>> data = make_mediator(120, random_state=0)
    >>> method = GeneralizedDistillationClassifier()
    >>> comparison = compare(
    ...     data.data, data.target, data.privileged,
    ...     methods=[method], cv=3, search=1, random_state=0,
    ... )
    >>> display = GainDisplay.from_results(comparison)
    >>> sorted(display.intervals_)
    ['oracle', 'shuffled', 'with', 'without']
    """

    table: pd.DataFrame
    verdicts: dict[str, str]
    sentence: str = ""
    axis_label: str = "score"
    kind: Literal["score", "difference"] = "score"

    @classmethod
    def from_results(
        cls,
        comparison: Comparison,
        *,
        kind: Literal["score", "difference"] = "score",
        confidence: float = 0.95,
        ax: Any = None,
    ) -> GainDisplay:
        """Read a comparison and draw it.

        Parameters
        ----------
        comparison : Comparison
            What `lupi.evaluation.compare` returned, or one read from a file.
        kind : {"score", "difference"}, default="score"
            Draw the scores, or the paired differences to *without*, whose intervals
            are the narrower ones, since the splits are shared.
        confidence : float, default=0.95
            Level of the intervals: Student's t times the standard error, which is
            corrected for the overlap of the splits.
        ax : matplotlib Axes, optional
            Where to draw; a new figure otherwise.

        Returns
        -------
        display : GainDisplay
            Drawn. Methods that failed are left out.
        """
        if kind not in KINDS:
            raise ValueError(f"kind={kind!r}: choose 'score' or 'difference'.")
        scoring = comparison.settings["scoring"]
        factor = interval_factor(confidence, _freedom(comparison))
        error = "std_error" if kind == "score" else "difference_std_error"
        table = comparison.table.dropna(subset=[kind])
        reach = factor * table[error].to_numpy(dtype=float)
        values = table[kind].to_numpy(dtype=float)
        drawn = pd.DataFrame(
            {
                "method": table["method"].to_numpy(),
                "row": table["row"].to_numpy(),
                "value": values,
                "low": values - reach,
                "high": values + reach,
            }
        )
        if drawn.empty:
            raise ValueError(
                f"There is nothing to draw: no method was scored. {comparison.verdict}"
            )
        summary = comparison.summary.set_index("method")["verdict"]
        display = cls(
            table=drawn,
            verdicts={method: summary[method] for method in drawn["method"].unique()},
            sentence=comparison.verdict.sentence,
            axis_label=(
                f"{scoring} ({confidence:.0%} interval)"
                if kind == "score"
                else f"{scoring} gained over the same model without X* "
                f"({confidence:.0%} interval)"
            ),
            kind=kind,
        )
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> GainDisplay:
        """Draw one line of marks per method and row.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure otherwise.

        Returns
        -------
        self : GainDisplay
            With ``ax_``, ``figure_``, ``intervals_``.
        """
        methods = list(self.verdicts)
        rows = [row for row in ROW_LABELS if (self.table["row"] == row).any()]
        own = ax is None
        self.ax_ = ax = one_axes(ax, (8.5, 1.9 + 1.15 * len(methods)))
        self.figure_ = ax.figure
        self.intervals_ = {}
        if self.kind == "difference":
            ax.axvline(0.0, color=BLACK, linewidth=1.0)
        for place, row in enumerate(rows):
            part = self.table[self.table["row"] == row].set_index("method")
            part = part.reindex([m for m in methods if m in part.index])
            step = 0.18 * (place - (len(rows) - 1) / 2)
            heights = np.array([methods.index(m) for m in part.index]) + step
            value, low, high = part[["value", "low", "high"]].to_numpy(dtype=float).T
            self.intervals_[row] = ax.errorbar(
                value,
                heights,
                xerr=[value - low, high - value],
                fmt=ROW_MARKERS[row],
                color=ROW_COLOURS[row],
                markersize=7,
                elinewidth=1.8,
                capsize=3,
                label=ROW_LABELS[row],
            )
        ax.set_yticks(
            range(len(methods)),
            [f"{m}\n{self.verdicts[m]}" for m in methods],
        )
        ax.set_ylim(len(methods) - 0.5, -0.5)
        ax.set_xlabel(self.axis_label)
        tidy(ax, grid="x")
        if own:
            wide = textwrap.fill(self.sentence, 84)
            self.figure_.suptitle(wide, x=0.01, ha="left", fontsize=10)
            self.figure_.legend(
                *ax.get_legend_handles_labels(),
                loc="outside lower center",
                ncols=4,
                frameon=False,
                fontsize=9,
            )
        else:
            ax.legend(fontsize=8)
        return self


def _freedom(comparison: Comparison) -> int:
    """Degrees of freedom, as in the tests of the comparison."""
    splits = comparison.settings["splits"]
    count = splits["n_splits"]
    if splits["n_train"] < splits["n_test"]:
        # The chance of the test rows is estimated over fixed groups of them.
        groups = comparison.folds["group_scores"].dropna()
        count = min([count, *map(len, groups.iloc[:1])])
    return count - 1
