"""Displays of a comparison: scores of its arms, gains of columns, learning curves."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv

from lupi._words import number
from lupi.base._rows import take_rows
from lupi.evaluation._methods import ARMS
from lupi.evaluation._scoring import metric_name
from lupi.evaluation._splits import Rows
from lupi.evaluation._statistics import Design, corrected_contrast
from lupi.inspection._style import (
    ARM_COLORS,
    ARM_MARKERS,
    ARM_STYLES,
    BLACK,
    add_legend,
    one_axes,
    tidy,
)

if TYPE_CHECKING:
    import pandas as pd

    from lupi.evaluation import ColumnGains, Comparison, LearningCurve, Worth

# Figure width in inches below which the axis has fewer ticks.
NARROW = 6.0
COLUMN_LABELS = {"alone": "this column alone", "left out": "all columns but this one"}
COLUMN_STYLES = {
    "alone": {"fmt": "o", "color": ARM_COLORS["with"]},
    "left out": {"fmt": "s", "color": ARM_COLORS["without"]},
}


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
        Whether values are scores or differences to “without X*”.
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
            Draw the scores, or the paired differences to “without X*”, whose intervals
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
        verdict, full = comparison.verdict, comparison.full_size
        about = [str(comparison.settings["target"]), *filter(None, [verdict.method])]
        said = [verdict.headline] + ([] if full is None else [full.verdict.headline])
        what = scoring if kind == "score" else f"difference in {scoring} to without X*"
        display = cls(
            table=table,
            verdicts={method: verdicts[method] for method in table["method"].unique()},
            sentence=f"{', '.join(about)}: {' '.join(said)}",
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
        shifts = step * (np.arange(len(arms)) - (len(arms) - 1) / 2)
        for arm, shift in zip(arms, shifts, strict=True):
            if self.splits is not None:
                dots = self.splits[self.splits["arm"] == arm]
                dots = dots[dots["method"].isin(methods)]
                # Below the interval, so that it does not cover them.
                heights = [methods.index(each) + shift for each in dots["method"]]
                look = {"color": ARM_COLORS[arm], "alpha": 0.4, "linewidths": 0}
                ax.scatter(dots["value"], np.add(heights, 0.3 * step), s=18, **look)
            part = self.table[self.table["arm"] == arm].set_index("method")
            part = part.loc[[method for method in methods if method in part.index]]
            heights = [methods.index(method) + shift for method in part.index]
            look = {"fmt": ARM_MARKERS[arm], "color": ARM_COLORS[arm]}
            self.intervals_[arm] = _marks(ax, part, heights, ARMS[arm].label, look)
        _label_rows(
            ax,
            [f"{method}\n{self.verdicts[method]}" for method in methods],
            self.axis_label,
        )
        if len(methods) == 1:
            ax.set_yticks(shifts, [ARMS[arm].label for arm in arms])
        if ax.figure.get_figwidth() < NARROW:
            ax.locator_params(axis="x", nbins=5)
        if own:
            title = textwrap.fill(self.sentence, 84)
            self.figure_.suptitle(title, x=0.01, ha="left", fontsize=10)
        if len(methods) > 1:
            add_legend(ax, len(arms), own=own)
        return self


def _label_rows(ax: Any, names: list[str], label: str) -> None:
    """Label the rows, the first one above, and the axis of the values."""
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlabel(label)
    tidy(ax, grid="x")


def _marks(
    ax: Any, part: pd.DataFrame, heights: Any, label: str, look: dict[str, Any]
) -> Any:
    """Draw values with their intervals, and return the container."""
    value, low, high = part[["value", "low", "high"]].to_numpy(dtype=float).T
    ends = np.nan_to_num([value - low, high - value])
    size = {"markersize": 7, "elinewidth": 1.8, "capsize": 3}
    return ax.errorbar(value, heights, xerr=ends, label=label, **size, **look)


def _split_values(comparison: Comparison, kind: str) -> pd.DataFrame:
    """Return the scores of all splits, or their differences to “without X*”."""
    scores = comparison.folds.pivot(
        index=["method", "split"], columns="arm", values="score"
    )
    if kind == "difference":
        scores = scores.sub(scores["without"], axis=0).drop(columns="without")
    return scores.stack().rename("value").reset_index()


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
            self.total, color=BLACK, linewidth=1.0, linestyle="--", label="all columns"
        )
        self.intervals_ = {}
        for shift, (kind, style) in zip(
            (-0.14, 0.14), COLUMN_STYLES.items(), strict=True
        ):
            part = self.table[self.table["kind"] == kind].set_index("group").loc[groups]
            heights = np.arange(len(groups)) + shift
            label = COLUMN_LABELS[kind]
            self.intervals_[kind] = _marks(ax, part, heights, label, style)
        _label_rows(ax, groups, self.axis_label)
        add_legend(ax, 3, own=own)
        return self


@dataclass
class PrivilegedLearningCurveDisplay:
    """Learning curves without X*, with X*, and with shuffled X*.

    The curves have the same training and test rows. Make it with `from_estimator`, or
    with `from_results` for the learning curve of a comparison.

    Parameters
    ----------
    train_sizes : ndarray of shape (n_sizes,)
        Numbers of training rows.
    scores : dict of str to ndarray of shape (n_sizes, n_splits)
        Test scores of the arms.
    designs : list of Design
        Numbers of training and test rows, by size.
    group_scores : dict of str to ndarray, default=None
        Pseudo-values of the scores for groups of test rows, of shape (n_sizes,
        n_splits, n_groups), for bands with the standard errors of `compare`.
    scoring : str, default="score"
        Name of the score.
    estimator_name : str, default=""
        Name of the estimator, for the title.
    worth : Worth, default=None
        Number of labels that X* is equivalent to, drawn as an arrow.
    compared : int, default=None
        Number of training rows of a comparison. The axis ends where scores of fewer
        rows are far below those of this size and above; their means are written there.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.
    lines_ : dict of str to matplotlib Line2D
        The mean curves.
    bands_ : dict of str to matplotlib PolyCollection
        Their intervals.
    cut_ : list of matplotlib artists
        Lines and bands that the axis cuts, if any.

    Examples
    --------
    >>> from lupi import SVCPlus
    >>> from lupi.datasets import make_plane
    >>> from lupi.inspection import PrivilegedLearningCurveDisplay
    >>> data = make_plane("overlapping", 60, random_state=0)
    >>> display = PrivilegedLearningCurveDisplay.from_estimator(
    ...     SVCPlus(), data.data, data.target, data.privileged,
    ...     train_sizes=[10, 20, 40], cv=3, random_state=0,
    ... )
    >>> display.scores["with"].shape
    (3, 3)
    >>> list(display.lines_)
    ['without', 'with', 'shuffled']
    """

    train_sizes: np.ndarray
    scores: dict[str, np.ndarray]
    designs: Sequence[Design]
    group_scores: dict[str, np.ndarray] | None = None
    scoring: str = "score"
    estimator_name: str = ""
    worth: Worth | None = None
    compared: int | None = None
    cut_: list[Any] = field(default_factory=list, init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        privileged: Any,
        *,
        train_sizes: Sequence[float] = (0.1, 0.2, 0.4, 0.7, 1.0),
        cv: Any = None,
        scoring: Any = None,
        shuffled: bool = True,
        kind: Literal["score", "difference"] = "score",
        confidence: float = 0.95,
        random_state: int | None = None,
        ax: Any = None,
    ) -> PrivilegedLearningCurveDisplay:
        """Fit the estimator on training sets of several sizes, and draw.

        Parameters
        ----------
        estimator : classifier or regressor of this library
            Estimator, which is cloned; its parameters are the same at every size.
        X, y, privileged : array-like
            The rows.
        train_sizes : sequence of float or int, default=(0.1, 0.2, 0.4, 0.7, 1.0)
            Shares of the training rows of a split (up to 1.0), or numbers of rows.
            Smaller training sets are subsets of larger ones.
        cv : int, splitter or None, default=None
            As in scikit-learn; 5 folds by default, stratified for classifiers.
        scoring : str or callable, default=None
            As in scikit-learn; the score of the estimator by default.
        shuffled : bool, default=True
            Whether to draw the curve with the rows of X* permuted among the training
            rows, a control for gains that do not come from the content of X*.
        kind : {"score", "difference"}, default="score"
            Draw the scores, or the paired differences to “without X*”, whose bands are
            narrower because the splits are shared.
        confidence : float, default=0.95
            Level of the bands; the standard error is corrected for the overlap of
            the splits.
        random_state : int, default=None
            Seed of the draws and permutations.
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : PrivilegedLearningCurveDisplay
            The display, drawn.
        """
        classifier = is_classifier(estimator)
        labels = np.asarray(y)
        splits = list(check_cv(cv, labels, classifier=classifier).split(X, labels))
        sizes = _sizes(train_sizes, min(len(train) for train, _ in splits))
        scorer = check_scoring(estimator, scoring)
        arms = ("without", "with", "shuffled") if shuffled else ("without", "with")
        scores = {arm: np.empty((len(sizes), len(splits))) for arm in arms}
        for column, (train, test) in enumerate(splits):
            rng = np.random.default_rng([random_state or 0, column])
            strata = labels[train] if classifier else None
            order = train[Rows(len(train), strata, None).mixed(rng)]
            for line, size in enumerate(sizes):
                part = order[:size]
                given = {
                    "without": None,
                    "with": take_rows(privileged, part),
                    "shuffled": take_rows(privileged, rng.permutation(part)),
                }
                for arm in arms:
                    model = clone(estimator).fit(
                        take_rows(X, part), labels[part], privileged=given[arm]
                    )
                    scores[arm][line, column] = scorer(
                        model, take_rows(X, test), labels[test]
                    )
        n_test = float(np.mean([len(test) for _, test in splits]))
        display = cls(
            train_sizes=sizes,
            scores=scores,
            # Parts of overlapping folds overlap less than the folds do: a ratio of at
            # most 1 of test rows to training rows is conservative.
            designs=[Design(max(size, n_test), n_test) for size in sizes],
            scoring=_score_name(scoring, classifier),
            estimator_name=type(estimator).__name__,
        )
        return display.plot(ax=ax, kind=kind, confidence=confidence)

    @classmethod
    def from_results(
        cls,
        curve: LearningCurve,
        *,
        kind: Literal["score", "difference"] = "score",
        confidence: float = 0.95,
        ax: Any = None,
    ) -> PrivilegedLearningCurveDisplay:
        """Draw the learning curve of a comparison.

        Parameters
        ----------
        curve : LearningCurve
            A value of ``Comparison.learning_curves()``.
        kind : {"score", "difference"}, default="score"
            Draw the scores, or the paired differences to “without X*”.
        confidence : float, default=0.95
            Level of the bands.
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : PrivilegedLearningCurveDisplay
            The display, drawn.
        """
        display = cls(
            curve.train_sizes,
            curve.scores,
            curve.designs,
            curve.group_scores,
            metric_name(curve.scoring),
            curve.method,
            curve.worth(),
            curve.compared,
        )
        return display.plot(ax=ax, kind=kind, confidence=confidence)

    def intervals(
        self, kind: Literal["score", "difference"] = "score", confidence: float = 0.95
    ) -> dict[str, np.ndarray]:
        """Return the mean and the ends of the interval of each curve.

        Parameters
        ----------
        kind : {"score", "difference"}, default="score"
            Intervals of the scores, or of the paired differences to “without X*”.
        confidence : float, default=0.95
            Level of the intervals.

        Returns
        -------
        dict of str to ndarray of shape (3, n_sizes)
            Mean, low end, high end. With one split only, the ends are NaN.
        """
        if kind not in ("score", "difference"):
            raise ValueError(f"kind={kind!r}: choose 'score' or 'difference'.")
        found, paired = {}, kind == "difference"
        tables = [each for each in (self.scores, self.group_scores) if each is not None]
        for arm in self.scores:
            if paired and arm == "without":
                continue
            over = [each["without"] if paired else 0.0 for each in tables]
            own = [each[arm] - less for each, less in zip(tables, over, strict=True)]
            how = {"paired": paired, "alike": arm != "oracle"}
            levels = [
                corrected_contrast(values, design, *groups, **how)
                for design, values, *groups in zip(self.designs, *own, strict=True)
            ]
            ends = [(level.mean, *level.interval(confidence)) for level in levels]
            found[arm] = np.array(ends).T
        return found

    def plot(
        self,
        ax: Any = None,
        *,
        kind: Literal["score", "difference"] = "score",
        confidence: float = 0.95,
    ) -> PrivilegedLearningCurveDisplay:
        """Draw the curves with their bands.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.
        kind : {"score", "difference"}, default="score"
            Draw the scores, or the paired differences to “without X*”.
        confidence : float, default=0.95
            Level of the bands.

        Returns
        -------
        self : PrivilegedLearningCurveDisplay
            The display, with ``ax_``, ``figure_``, ``lines_``, ``bands_``.
        """
        self.ax_ = ax = one_axes(ax, (7.0, 4.4))
        self.figure_ = ax.figure
        self.lines_, self.bands_, self.cut_ = {}, {}, []
        found = self.intervals(kind, confidence)
        for arm, (mean, low, high) in found.items():
            (self.lines_[arm],) = ax.plot(
                self.train_sizes,
                mean,
                color=ARM_COLORS[arm],
                marker=ARM_MARKERS[arm],
                linestyle=ARM_STYLES[arm],
                linewidth=2,
                label=ARMS[arm].label,
            )
            self.bands_[arm] = ax.fill_between(
                self.train_sizes, low, high, color=ARM_COLORS[arm], alpha=0.11, lw=0
            )
        if kind == "score":
            self._cut_axis(found)
            self._draw_worth()
        ax.set_xlabel("training rows with y")
        what = f"{self.scoring} on test rows"
        if kind == "difference":
            what = f"{self.scoring} gained over the model without X*"
            ax.axhline(0.0, color=ARM_COLORS["without"], linewidth=1.5, linestyle="--")
        ax.set_ylabel(f"{what} ({confidence:.0%} band)")
        ax.set_title(self.estimator_name, loc="left", fontweight="bold")
        tidy(ax)
        ax.legend(frameon=False, loc="lower right")
        return self

    def _cut_axis(self, found: dict[str, np.ndarray]) -> None:
        """End the axis below the scores from the compared size on, and mark the others.

        The scores of very few rows may be far below all others.
        """
        if self.compared is None:
            return
        ends = np.array(list(found.values()))
        later = ends[:, :, self.train_sizes >= self.compared]
        low, high = np.nanmin(later), np.nanmax(later)
        floor = low - (high - low)
        if not np.nanmin(ends) < floor:
            return
        self.ax_.set_ylim(bottom=floor)
        self.cut_ = [*self.lines_.values(), *self.bands_.values()]
        for line, (arm, (mean, _, _)) in enumerate(found.items()):
            for size, score in zip(self.train_sizes, mean, strict=True):
                if score < floor:
                    self.ax_.annotate(
                        f"↓ {number(score)}",
                        xy=(size, floor),
                        xytext=(0, 4 + 14 * line),
                        textcoords="offset points",
                        color=ARM_COLORS[arm],
                    )

    def _draw_worth(self) -> None:
        """Draw an arrow from the score with X* to the same score without it."""
        worth = self.worth
        if worth is None or not 0 < worth.labels < np.inf:
            return
        k = int(np.flatnonzero(self.train_sizes == worth.compared)[0])
        level = float(self.scores["with"][k].mean())
        self.ax_.annotate(
            "",
            xy=(worth.compared + worth.labels, level),
            xytext=(worth.compared, level),
            arrowprops={"arrowstyle": "->", "color": ARM_COLORS["with"], "lw": 1.5},
        )
        # The curves rise from the left to the right.
        self.ax_.text(
            0.02,
            0.98,
            f"→ equivalent to {round(worth.labels):,} more",
            transform=self.ax_.transAxes,
            va="top",
            color=ARM_COLORS["with"],
        )


def _sizes(train_sizes: Sequence[float], largest: int) -> np.ndarray:
    sizes = []
    for size in train_sizes:
        whole = isinstance(size, int | np.integer)
        sizes.append(int(size) if whole else round(size * largest))
        if not 2 <= sizes[-1] <= largest:
            raise ValueError(
                f"train_sizes has {size!r}, which is {sizes[-1]} rows; a split has "
                f"{largest} training rows. Give shares in (0, 1] or numbers from 2 to "
                f"{largest}."
            )
    return np.unique(sizes)


def _score_name(scoring: Any, classifier: bool) -> str:
    if scoring is None:
        return "accuracy" if classifier else "R²"
    return (
        scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")
    )
