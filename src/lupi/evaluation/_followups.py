"""More measurements on the splits of a comparison.

*Learning curves*: every split keeps the parameters that the comparison chose for it, so
that a point of the curve needs one fit per split and the curve contains the scores of
the comparison. *Gains of columns*: the method is fitted with every column (or named
group of columns) of X* alone, and with all others, with its candidates and inner folds;
all gains are paired differences to the arm *without*. *External baseline*: gradient
boosting on X, a strong model of another kind.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

from lupi._words import listed, signed
from lupi.base._rows import take_columns
from lupi.evaluation._methods import Method
from lupi.evaluation._prepare import rows_with_values
from lupi.evaluation._running import run_all
from lupi.evaluation._splits import Split, evenly_mixed, of_rows
from lupi.evaluation._statistics import Contrast, Design, corrected_contrast
from lupi.evaluation._study import FIELDS, Study
from lupi.evaluation._verdict import ArmScores

if TYPE_CHECKING:
    from lupi.inspection import ColumnGainDisplay

CURVE_ARMS = ("without", "with")
FEWEST_ROWS, MOST_ROWS, MOST_SIZES = 20, 1000, 5

# The kinds of variants of X*: one group, all others, all groups, none.
ALONE, LEFT_OUT, ALL, NONE = "alone", "left out", "with", "without"

BOOSTING = {
    "classification": HistGradientBoostingClassifier,
    "regression": HistGradientBoostingRegressor,
}


@dataclass(frozen=True)
class Worth:
    """Number of additional rows with y that have the same gain as X*.

    Attributes
    ----------
    labels : float
        The number of labels; 0 if X* has no gain, infinite if it is beyond the largest
        size of the curve.
    low, high : float
        Ends of its confidence interval.
    compared : int
        Number of training rows with y in the comparison.
    largest : int
        Largest number of training rows with y on the curve.

    Examples
    --------
    >>> from lupi.evaluation import Worth
    >>> print(Worth(41.0, 12.0, float("inf"), 60, 240))
    X* is equivalent to about 41 additional known outcomes (95 % interval 12 to more
    than 180): 101 score as much without X* as 60 with X*.
    """

    labels: float
    low: float
    high: float
    compared: int
    largest: int

    def __str__(self) -> str:
        most = f"more than {self.largest - self.compared:,}"
        low, high = (
            f"{round(end):,}" if np.isfinite(end) else most
            for end in (self.low, self.high)
        )
        if self.labels <= 0:
            return (
                "X* is equivalent to no additional known outcome (95 % interval "
                f"{low} to {high})."
            )
        if not np.isfinite(self.labels):
            return (
                f"X* is equivalent to {most} additional known outcomes: "
                f"{self.largest:,} score less without X* than {self.compared:,} with "
                "X*."
            )
        count = round(self.labels)
        return (
            f"X* is equivalent to about {count:,} additional known outcomes (95 % "
            f"interval {low} to {high}): {self.compared + count:,} score as much "
            f"without X* as {self.compared:,} with X*."
        )


@dataclass(frozen=True)
class LearningCurve:
    """The scores of one method over the number of training rows with y.

    Attributes
    ----------
    method : str
        The method.
    scoring : str
        Name of the score.
    compared : int
        The number of training rows of the comparison.
    train_sizes : ndarray of shape (n_sizes,)
        Numbers of training rows.
    scores : dict of str to ndarray of shape (n_sizes, n_splits)
        Scores of every split, by arm.
    group_scores : dict of str to ndarray of shape (n_sizes, n_splits, n_groups)
        Pseudo-values of the scores for each group of test rows, by arm.
    designs : list of Design
        Numbers of training and test rows, by size.
    tuned : bool
        Whether the method has parameters that were chosen at the compared size.

    Examples
    --------
    >>> from lupi.datasets import make_mediator
    >>> from lupi.evaluation import compare
    >>> data = make_mediator(120, random_state=0)
    >>> result = compare(
    ...     data.data, data.target, data.privileged,
    ...     methods="generalized-distillation-classifier",
    ...     train_size=20, cv=3, n_candidates=1,
    ... )
    >>> (curve,) = result.learning_curves().values()
    >>> curve.train_sizes.tolist()
    [20, 40, 80]
    >>> curve.worth().compared
    20
    """

    method: str
    scoring: str
    compared: int
    train_sizes: np.ndarray
    scores: dict[str, np.ndarray]
    group_scores: dict[str, np.ndarray]
    designs: list[Design]
    tuned: bool = True

    def worth(self, confidence: float = 0.95) -> Worth | None:
        """Return the number of additional rows with y that have the same gain as X*.

        The score with X* at the compared size is compared with the scores without X* at
        that size and above. The difference decreases as rows are added; the number of
        rows where it is zero is interpolated on a logarithmic scale. The interval
        consists of the numbers of rows at which the difference is not significant.

        Parameters
        ----------
        confidence : float, default=0.95
            Level of the interval.

        Returns
        -------
        Worth or None
            The number of labels, with its interval; None if the curve has no larger
            training size.
        """
        if self.train_sizes[-1] == self.compared:
            return None
        start = int(np.flatnonzero(self.train_sizes == self.compared)[0])
        sizes = self.train_sizes[start:]
        lines = []
        for k in range(start, len(self.train_sizes)):
            contrast = corrected_contrast(
                self.scores["with"][start] - self.scores["without"][k],
                self.designs[k],
                self.group_scores["with"][start] - self.group_scores["without"][k],
            )
            lines.append((contrast.mean, *contrast.interval(confidence)))
        mean, low, high = np.array(lines).T
        return Worth(
            _zero(sizes, mean) - self.compared,
            _zero(sizes, low) - self.compared,
            _zero(sizes, high, last=True) - self.compared,
            self.compared,
            int(sizes[-1]),
        )


def _zero(sizes: np.ndarray, values: np.ndarray, *, last: bool = False) -> float:
    """Return the size at which decreasing values first or last cross zero."""
    if values[0] <= 0 and not (last and (values > 0).any()):
        return float(sizes[0])
    passes = np.flatnonzero((values[:-1] > 0) & (values[1:] <= 0))
    if not len(passes) or (last and values[-1] > 0):
        return np.inf
    k = passes[-1 if last else 0]
    above, below = values[k], values[k + 1]
    logs = np.log(sizes[k : k + 2])
    return float(np.exp(logs[0] + above / (above - below) * (logs[1] - logs[0])))


def learning_curves(
    study: Study,
    folds: pd.DataFrame,
    methods: Sequence[str],
    left_out: Sequence[int],
    n_jobs: int | None,
) -> dict[str, LearningCurve]:
    """Score methods with and without X* on training sets of several sizes."""
    compared, sizes = _sizes(study)
    if len({len(split.train) for split in study.splits}) > 1 and study.by_time:
        # Expanding windows have no common training size.
        return {}
    numbers = [n for n in range(len(study.splits)) if n not in left_out]
    resized = {
        size: replace(study, splits=[_resized(study, size, n) for n in numbers])
        for size in sizes
    }
    known = folds.set_index(["method", "arm", "split"])
    # The tables prepared for a split are used by all methods and arms.
    points = product(sizes, range(len(numbers)), methods, CURVE_ARMS)
    found = Parallel(n_jobs=n_jobs)(
        delayed(_curve_point)(
            None if size == compared else resized[size],
            *(name, arm, k, known.loc[(name, arm, numbers[k])]),
        )
        for size, k, name, arm in points
    )
    empty = [np.nan] * (1 + study.n_groups)
    shape = (len(sizes), len(numbers), len(methods), len(CURVE_ARMS), len(empty))
    table = np.array([line or empty for line in found], dtype=float).reshape(shape)
    curves = {}
    for name, own in zip(methods, np.moveaxis(table, 2, 0), strict=True):
        # A size at which the method could not be fitted is left out.
        kept = np.isfinite(own[..., 0]).all(axis=(1, 2))
        by_arm = dict(zip(CURVE_ARMS, np.moveaxis(own[kept], 2, 0), strict=True))
        curves[name] = LearningCurve(
            name,
            study.settings["scoring"],
            compared,
            np.array(sizes)[kept],
            {arm: values[..., 0] for arm, values in by_arm.items()},
            {arm: values[..., 1:] for arm, values in by_arm.items()},
            [resized[size].design for size in np.array(sizes)[kept]],
            len(study.candidates(study.method(name), "with")) > 1,
        )
    return curves


def _sizes(study: Study) -> tuple[int, list[int]]:
    """Return the compared size, and all sizes: it is halved and doubled."""
    compared = len(study.splits[0].train)
    # Test rows are moved for larger sizes, which would split groups or reverse time.
    fixed = study.groups is not None or study.by_time
    largest = compared if fixed else int(0.8 * int(study.has_y.sum()))
    powers = [*range(-1, -5, -1), *range(1, 4)]
    sizes = [round(compared * 2.0**power) for power in powers]
    fitting = [size for size in sizes if FEWEST_ROWS <= size <= min(largest, MOST_ROWS)]
    return compared, sorted([compared, *fitting[: MOST_SIZES - 1]])


def _curve_point(
    study: Study | None, name: str, arm: str, number: int, line: pd.Series
) -> list[float] | None:
    """Return the score of a split and its pseudo-values; None if it cannot be fitted.

    Without a study the line of the comparison has them.
    """
    found: Any = line
    if study is not None:
        lines = study.attempt(study.method(name), (arm,), number, line["params"])
        if lines["error"] is not None:
            return None
        (found,) = lines["lines"]
    return [found["score"], *found["group_scores"]]


def _resized(study: Study, size: int, number: int) -> Split:
    """Return a split with fewer training rows, or more: rows without y, test rows."""
    train, test, unlabelled = study.splits[number]
    rng = np.random.default_rng([study.seed, size, number])
    if size <= len(train):
        return Split(np.sort(_mixed(study, train, rng)[:size]), test, unlabelled)
    more = size - len(train)
    hidden = _mixed(study, unlabelled[study.has_y[unlabelled]], rng)[:more]
    moved = _mixed(study, test, rng)[: more - len(hidden)]
    return Split(
        np.sort(np.r_[train, hidden, moved]),
        np.setdiff1d(test, moved),
        np.setdiff1d(unlabelled, hidden),
    )


def _mixed(study: Study, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rows[evenly_mixed(len(rows), of_rows(study.strata, rows), rng)]


@dataclass
class ColumnGains:
    """The gain of single privileged columns, or of named groups of them.

    Returned by `Comparison.columns`.

    Attributes
    ----------
    method : str
        The method.
    scoring : str
        Name of the score.
    groups : dict of str to list of str
        The columns of each group; a column that is in no group forms its own group.
    folds : pandas.DataFrame
        One row per variant and split: ``group``, ``kind`` ("alone", "left out",
        "with" for all columns, "without"), ``split``, ``score``, ``group_scores``.
    design : Design
        The sizes of the splits.
    left_out : sequence of int
        Splits that the comparison leaves out of all means.

    Examples
    --------
    >>> from lupi.datasets import make_mediator
    >>> from lupi.evaluation import compare
    >>> data = make_mediator(120, random_state=0)
    >>> result = compare(
    ...     data.data, data.target, data.privileged,
    ...     methods="generalized-distillation-classifier", cv=2, n_candidates=1,
    ... )
    >>> gains = result.columns()
    >>> list(gains.table.columns[:3])
    ['group', 'gain_alone', 'gain_alone_std_error']
    """

    method: str
    scoring: str
    groups: dict[str, list[str]]
    folds: pd.DataFrame
    design: Design
    left_out: Sequence[int] = ()

    @cached_property
    def _scores(self) -> dict[str, ArmScores]:
        shared = self.folds[self.folds["kind"].isin((ALL, NONE))]
        return {
            group: ArmScores(
                pd.concat([shared, self.folds[self.folds["group"] == group]]).rename(
                    columns={"kind": "arm"}
                ),
                self.design,
                self.left_out,
            )
            for group in self.groups
        }

    @property
    def total(self) -> Contrast:
        """The gain of all privileged columns together."""
        return next(iter(self._scores.values())).difference(ALL, NONE)

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per group, the largest gain alone first.

        ``gain_alone`` is the gain of a model with this group only, ``gain_left_out``
        that of a model with all other groups, and ``contribution`` the gain of all
        groups minus ``gain_left_out``; each with its standard error, corrected for the
        overlap of the splits. Two redundant columns have large gains alone and small
        contributions.
        """
        lines = []
        for group, scores in self._scores.items():
            line: dict[str, Any] = {"group": group}
            for name, arm, other in (
                ("gain_alone", ALONE, NONE),
                ("gain_left_out", LEFT_OUT, NONE),
                ("contribution", ALL, LEFT_OUT),
            ):
                contrast = scores.difference(arm, other)
                line |= {name: contrast.mean, f"{name}_std_error": contrast.std_error}
            lines.append(line)
        table = pd.DataFrame(lines)
        return table.sort_values(
            "gain_alone", ascending=False, kind="stable", ignore_index=True
        )

    def intervals(self, confidence: float = 0.95) -> pd.DataFrame:
        """Return Student's intervals of the gains.

        Parameters
        ----------
        confidence : float, default=0.95
            Level of the intervals.

        Returns
        -------
        pandas.DataFrame
            Columns ``group``, ``kind`` ("alone" or "left out"), ``value``, ``low``,
            ``high``.
        """
        lines = []
        for group in self.table["group"]:
            for kind in (ALONE, LEFT_OUT):
                contrast = self._scores[group].difference(kind, NONE)
                low, high = contrast.interval(confidence)
                line = {"group": group, "kind": kind, "value": contrast.mean}
                lines.append(line | {"low": low, "high": high})
        return pd.DataFrame(lines)

    @property
    def sentence(self) -> str:
        """Summary of the table in sentences."""
        first, total = self.table.iloc[0], self.total
        together = _gain(total.mean, total.std_error)
        if len(self.groups) == 1:
            return f"{first['group']} gains {together}."
        alone = _gain(first["gain_alone"], first["gain_alone_std_error"])
        said = f"Alone, {first['group']} gains most, {alone}"
        if first["gain_alone"] <= 0:
            said = "No column gains anything alone"
        said += f"; all {len(self.groups)} together gain {together}."
        if (self.table["gain_alone"] < 2 * self.table["gain_alone_std_error"]).all():
            said += " No single gain is significant."
        needed = self.table.loc[self.table["contribution"].idxmax()]
        if needed["contribution"] > 2 * needed["contribution_std_error"]:
            said += (
                f" {needed['group']} contributes most: without it the gain is "
                f"{_gain(needed['gain_left_out'], needed['gain_left_out_std_error'])}."
            )
        worse = self.table["contribution"] < -2 * self.table["contribution_std_error"]
        if worse.any():
            names = self.table.loc[worse, "group"]
            said += f" The gain is larger without {listed(names, 'or', most=4)}."
        return said

    def plot(self, ax: Any = None, **options: Any) -> ColumnGainDisplay:
        """Draw the gains with `lupi.inspection.ColumnGainDisplay`.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.
        **options : dict
            Passed on to `lupi.inspection.ColumnGainDisplay.from_results`.

        Returns
        -------
        ColumnGainDisplay
            The display, drawn.
        """
        from lupi.inspection import ColumnGainDisplay

        return ColumnGainDisplay.from_results(self, ax=ax, **options)


def _gain(value: float, error: float) -> str:
    return signed(value) if np.isnan(error) else f"{signed(value)} ± {error:.3f}"


def _variant_key(columns: Sequence[str], split: int) -> str:
    """Return the name of some columns in one split, for a checkpoint."""
    return f"columns:{json.dumps(columns)}:{split}"


def column_gains(
    study: Study,
    folds: pd.DataFrame,
    groups: Mapping[str, Sequence[str]] | None,
    method: str,
    *,
    left_out: Sequence[int],
    checkpoint: str | os.PathLike[str] | None,
    n_jobs: int | None,
    progress: bool | None,
) -> ColumnGains:
    """Run the method with each group of columns alone and with all others."""
    columns = list(study.settings["privileged"])
    parts = column_groups(columns, groups)
    wanted = {
        (group, kind): tuple(
            column for column in columns if (column in part) == (kind == ALONE)
        )
        for group, part in parts.items()
        for kind in (ALONE, LEFT_OUT)
    }
    splits = range(len(study.splits))
    # All columns and no column are arms of the comparison, which are not run again.
    arms = {tuple(columns): ALL, (): NONE}
    work = dict.fromkeys(chosen for chosen in wanted.values() if chosen not in arms)
    results = run_all(
        partial(_run_variant, study, method),
        {_variant_key(*piece): piece for piece in product(work, splits)},
        identity=study.identity and f"{study.identity} {method}",
        fields=FIELDS,
        checkpoint=checkpoint,
        n_jobs=n_jobs,
        progress=progress,
        title="Comparing columns",
    )
    own = folds[folds["method"] == method]
    known = {arm: own[own["arm"] == arm].to_dict("records") for arm in (ALL, NONE)}
    lines = []
    variants = {(None, arm): chosen for chosen, arm in arms.items()} | wanted
    for ((group, kind), chosen), split in product(variants.items(), splits):
        if chosen in arms:
            found = known[arms[chosen]][split]
        else:
            result = results[_variant_key(chosen, split)]
            if result["error"] is not None:
                raise ValueError(
                    f"{method} could not be fitted with {listed(chosen, most=4)} as "
                    f"privileged information: {result['error']}"
                )
            (found,) = result["lines"]
        taken = {name: found[name] for name in ("score", "group_scores", "seconds")}
        lines.append({"group": group, "kind": kind, "split": split} | taken)
    scoring = study.settings["scoring"]
    table = pd.DataFrame(lines)
    return ColumnGains(method, scoring, parts, table, study.design, left_out)


def column_groups(
    columns: list[str], groups: Mapping[str, Sequence[str]] | None
) -> dict[str, list[str]]:
    """Return all groups; a column that is in no group forms its own group."""
    parts = {name: list(part) for name, part in (groups or {}).items()}
    seen: dict[str, str] = {}
    for name, part in parts.items():
        for column in part:
            if column not in columns:
                raise ValueError(
                    f"groups: {name!r} has {column!r}, which is not a privileged "
                    f"column; these are {listed(columns, most=8)}."
                )
            if column in seen:
                raise ValueError(
                    f"The column {column!r} is in the groups {seen[column]!r} and "
                    f"{name!r}; give it to one of them."
                )
            seen[column] = name
    empty = [name for name, part in parts.items() if not part]
    if empty:
        raise ValueError(f"groups: {empty[0]!r} has no column. Name at least one.")
    return {**parts, **{name: [name] for name in columns if name not in seen}}


def _run_variant(
    study: Study, name: str, variant: tuple[Sequence[str], int]
) -> dict[str, Any]:
    """Run the arm *with* on some columns of X*, in one split."""
    columns, split = variant
    names = study.settings["privileged"]
    table = take_columns(study.privileged, [names.index(name) for name in columns])
    part = replace(study, privileged=table, has_privileged=rows_with_values(table))
    return part.attempt(part.method(name), (ALL,), split)


def outside_baseline(
    study: Study, left_out: Sequence[int], n_jobs: int | None
) -> dict[str, Any] | None:
    """Return name, mean score and standard error of boosting; None for sparse X."""
    if sp.issparse(study.X):
        return None
    model = BOOSTING[study.task](random_state=study.seed)
    method = Method(type(model).__name__, study.task, estimator=model)
    found = Parallel(n_jobs=n_jobs)(
        delayed(study.attempt)(method, ("without",), number, {})
        for number in range(len(study.splits))
        if number not in left_out
    )
    for result in found:
        if result["error"] is not None:
            raise ValueError(f"{method.name} could not be fitted: {result['error']}")
    scores, groups = (
        np.array([result["lines"][0][name] for result in found], dtype=float)
        for name in ("score", "group_scores")
    )
    level = corrected_contrast(scores, study.design, groups, paired=False)
    return {"name": method.name, "score": level.mean, "std_error": level.std_error}
