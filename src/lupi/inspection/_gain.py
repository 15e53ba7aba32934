"""Displays of a comparison: scores of its arms, and gains of single columns."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lupi.evaluation._methods import ARMS
from lupi.evaluation._scoring import metric_name
from lupi.inspection._style import (
    ARM_COLORS,
    ARM_MARKERS,
    BLACK,
    add_legend,
    one_axes,
    tidy,
)

if TYPE_CHECKING:
    import pandas as pd

    from lupi.evaluation import ColumnGains, Comparison


# Figure width in inches below which the axis has fewer ticks.
NARROW = 6.0


@dataclass
class GainDisplay:
    """Scores of the arms of a comparison, or their differences, with intervals.

    Make it with `from_results`, or with ``Comparison.plot()``.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per method and arm: ``method``, ``arm``, ``value``, ``low``, ``high``.
    verdicts : dict of str to str
        The verdict on each method.
    sentence : str, default=""
        The verdict in a sentence, for the title.
    axis_label : str, default="score"
        Label of the values.
    kind : {"score", "difference"}, default="score"
        Whether values are scores or differences to *without*.
    splits : pandas.DataFrame, default=None
        The values of single splits, drawn as small dots: ``method``, ``arm``,
        ``value``.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.
    intervals_ : dict of str to matplotlib ErrorbarContainer
        The marks of each arm.

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
    ...     methods=[method], cv=2, n_candidates=1, random_state=0,
    ... )
    >>> display = GainDisplay.from_results(comparison)
    >>> list(display.intervals_)
    ['without', 'with', 'shuffled', 'self', 'oracle']
    """

    table: pd.DataFrame
    verdicts: dict[str, str]
    sentence: str = ""
    axis_label: str = "score"
    kind: Literal["score", "difference"] = "score"
    splits: pd.DataFrame | None = None

    @classmethod
    def from_results(
        cls,
        comparison: Comparison,
        *,
        kind: Literal["score", "difference"] = "score",
        methods: Sequence[str] | None = None,
        splits: bool = False,
        confidence: float = 0.95,
        ax: Any = None,
    ) -> GainDisplay:
        """Draw a comparison.

        Parameters
        ----------
        comparison : Comparison
            Result of `lupi.evaluation.compare`, or one read from a file.
        kind : {"score", "difference"}, default="score"
            Draw the scores, or the paired differences to *without*, whose intervals
            are narrower because the splits are shared.
        methods : sequence of str, default=None
            The methods to draw; all that could be fitted by default.
        splits : bool, default=False
            Whether to draw the value of every split as well.
        confidence : float, default=0.95
            Level of the intervals: Student's t times the standard error, which is
            corrected for the overlap of the splits.
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : GainDisplay
            The display, without the methods that failed.
        """
        scoring = metric_name(comparison.settings["scoring"])
        table = comparison.intervals(kind, confidence)
        if methods is not None:
            table = table[table["method"].isin(methods)]
        if table.empty:
            raise ValueError(
                "There is nothing to draw, because no method was scored. "
                f"{comparison.verdict}"
            )
        verdicts = comparison.summary.set_index("method")["verdict"]
        what = scoring if kind == "score" else f"gain in {scoring} over without X*"
        display = cls(
            table=table,
            verdicts={method: verdicts[method] for method in table["method"].unique()},
            sentence=comparison.verdict.sentence,
            axis_label=f"{what} ({confidence:.0%} interval)",
            kind=kind,
            splits=_split_values(comparison, kind) if splits else None,
        )
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> GainDisplay:
        """Draw one mark with its interval per method and arm.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        self : GainDisplay
            The display, with ``ax_``, ``figure_``, ``intervals_``.
        """
        methods = list(self.verdicts)
        arms = [arm for arm in ARMS if (self.table["arm"] == arm).any()]
        own = ax is None
        height = 1.9 + 0.25 * len(arms) * len(methods)
        self.ax_ = ax = one_axes(ax, (8.5, height))
        self.figure_ = ax.figure
        self.intervals_ = {}
        if self.kind == "difference":
            ax.axvline(0.0, color=BLACK, linewidth=1.0)
        step = 0.72 / len(arms)
        for k, arm in enumerate(arms):
            shift = step * (k - (len(arms) - 1) / 2)
            # Below the interval, so that it does not cover them.
            self._draw_splits(arm, methods, shift + 0.3 * step)
            part = self.table[self.table["arm"] == arm].set_index("method")
            part = part.loc[[method for method in methods if method in part.index]]
            value, low, high = part[["value", "low", "high"]].to_numpy(dtype=float).T
            self.intervals_[arm] = ax.errorbar(
                value,
                [methods.index(method) + shift for method in part.index],
                xerr=np.nan_to_num([value - low, high - value]),
                fmt=ARM_MARKERS[arm],
                color=ARM_COLORS[arm],
                markersize=7,
                elinewidth=1.8,
                capsize=3,
                label=ARMS[arm].label,
            )
        self._label(methods, arms, step, own=own)
        return self

    def _draw_splits(self, arm: str, methods: list[str], shift: float) -> None:
        if self.splits is None:
            return
        part = self.splits[
            (self.splits["arm"] == arm) & self.splits["method"].isin(methods)
        ]
        self.ax_.scatter(
            part["value"],
            [methods.index(method) + shift for method in part["method"]],
            s=18,
            color=ARM_COLORS[arm],
            alpha=0.4,
            linewidths=0,
        )

    def _label(
        self, methods: list[str], arms: list[str], step: float, *, own: bool
    ) -> None:
        """Label the axis by the methods, or by the arms of a single method."""
        ax = self.ax_
        alone = len(methods) == 1
        if alone:
            heights = step * (np.arange(len(arms)) - (len(arms) - 1) / 2)
            ax.set_yticks(heights, [ARMS[arm].label for arm in arms])
        else:
            names = [f"{method}\n{self.verdicts[method]}" for method in methods]
            ax.set_yticks(range(len(methods)), names)
        ax.set_ylim(len(methods) - 0.5, -0.5)
        ax.set_xlabel(self.axis_label)
        if ax.figure.get_figwidth() < NARROW:
            ax.locator_params(axis="x", nbins=5)
        tidy(ax, grid="x")
        if own:
            title = textwrap.fill(self.sentence, 84)
            self.figure_.suptitle(title, x=0.01, ha="left", fontsize=10)
        if alone:
            return
        add_legend(ax, len(arms), own=own)


def _split_values(comparison: Comparison, kind: str) -> pd.DataFrame:
    """Return the scores of all splits, or their differences to *without*."""
    scores = comparison.folds.pivot(
        index=["method", "split"], columns="arm", values="score"
    )
    if kind == "difference":
        scores = scores.sub(scores["without"], axis=0).drop(columns="without")
    return scores.stack().rename("value").reset_index()


COLUMN_LABELS = {"alone": "this column alone", "left out": "all columns but this one"}
COLUMN_STYLES = {
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
        for shift, (kind, style) in zip(
            (-0.14, 0.14), COLUMN_STYLES.items(), strict=True
        ):
            part = self.table[self.table["kind"] == kind].set_index("group").loc[groups]
            value, low, high = part[["value", "low", "high"]].to_numpy(dtype=float).T
            self.intervals_[kind] = ax.errorbar(
                value,
                np.arange(len(groups)) + shift,
                xerr=np.nan_to_num([value - low, high - value]),
                markersize=7,
                elinewidth=1.8,
                capsize=3,
                label=COLUMN_LABELS[kind],
                **style,
            )
        ax.set_yticks(range(len(groups)), groups)
        ax.set_ylim(len(groups) - 0.5, -0.5)
        ax.set_xlabel(self.axis_label)
        tidy(ax, grid="x")
        add_legend(ax, 3, own=own)
        return self
