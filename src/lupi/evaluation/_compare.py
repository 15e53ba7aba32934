"""`compare`, which measures whether privileged information helps, and its result.

The guide to evaluation describes the layout of its JSON file. Further measurements use
the splits of a comparison: learning curves, with the parameters that were chosen for
each split, gains of single columns of X*, and gradient boosting on X from outside.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

from lupi._atomic import write_atomically
from lupi._optional import versions
from lupi._words import listed, option_names
from lupi.base._rows import take_columns
from lupi.evaluation._measures import has_same_content
from lupi.evaluation._methods import ARMS, Method, Task
from lupi.evaluation._order import (
    columns_of,
    computable_columns,
    in_runs,
    ordered_columns,
    read_time,
    times_of_rows,
)
from lupi.evaluation._prepare import rows_with_values
from lupi.evaluation._running import run_all, to_plain
from lupi.evaluation._scoring import design_for
from lupi.evaluation._splits import Split
from lupi.evaluation._statistics import (
    Contrast,
    Design,
    corrected_contrast,
    failed_scores,
    outlying_splits,
)
from lupi.evaluation._study import FIELDS, Study, plan
from lupi.evaluation._verdict import (
    ArmScores,
    Kind,
    Verdict,
    another_seed,
    best_arm,
    judge,
    next_steps,
    score_intervals,
    score_table,
    summarise,
    with_interval,
)

if TYPE_CHECKING:
    from lupi.inspection import (
        ColumnGainDisplay,
        GainDisplay,
        PrivilegedLearningCurveDisplay,
    )

FORMAT = "lupi-comparison"
FORMAT_VERSION = 2
PARTS = ("folds", "settings", "failures", "warnings")
FOLD_COLUMNS = (
    "method",
    "arm",
    "split",
    "score",
    "second_score",
    "also",
    "reliability",
    "inner_score",
    "params",
    "n_train",
    "n_unlabelled",
    "n_test",
    "seconds",
    "group_scores",
)

CURVE_ARMS = ("without", "with")
FEWEST_ROWS, MOST_ROWS, MOST_SIZES = 20, 1000, 5

# The kinds of variants of X*: one group, all others, all groups, none.
ALONE, LEFT_OUT, ALL, NONE = "alone", "left out", "with", "without"

BOOSTING = {
    "classification": HistGradientBoostingClassifier,
    "regression": HistGradientBoostingRegressor,
}


def compare(
    X: Any,
    y: Any,
    privileged: Any,
    *,
    methods: str | Iterable[str | BaseEstimator | Method] = "default",
    scoring: str | Callable[..., float] | None = None,
    cv: Any = None,
    groups: Any = None,
    time: Any = None,
    outcome_time: Any = None,
    train_size: int | float | None = None,
    labelled: int | None = None,
    unlabelled: int = 1000,
    sample_weight: Any = None,
    test_quality: Any = None,
    n_candidates: int = 12,
    inner_cv: int = 3,
    task: Task | None = None,
    negligible: float = 0.01,
    checkpoint: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
    progress: bool | None = None,
) -> Comparison:
    """Measure whether privileged information helps, with controls.

    Every method is run in five arms, on the same splits, with the same number of
    candidate parameters, chosen on inner folds of the training rows: without X*, with
    X*, with shuffled X* (its rows permuted), with X as X* (X in its place), and the
    oracle, which has X* when predicting. A method *helps* when it is better than
    without X*, with shuffled X* and with X as X*. In tables and files the arms are
    ``without``, ``with``, ``shuffled``, ``self`` and ``oracle``.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        What is known when predicting. A data frame may hold text, categories, dates
        and missing values.
    y : array-like of shape (n_samples,)
        The target, missing (NaN, None) in rows whose outcome is not known. Such rows
        train the methods that learn from them, in the arms with X*, and never test;
        those of a group that is tested are left out of that split.
    privileged : array-like, sparse matrix or data frame of n_samples rows
        X*: what is known for training rows only. A row without any value is a row
        that has no X*.
    methods : "default", "all", name, estimator, Method, or a list of these
        "default" is a fast and sensible set: hedged and generalized distillation and,
        for classes, SVMΔ+, in its linear form beyond 400 training rows. "all" is every
        suitable estimator of the library. An estimator is compared with the parameters
        it has; to search some, give a :class:`Method` with a ``space``.
    scoring : str or callable, default=None
        Any scorer of scikit-learn. By default ``"roc_auc"`` for two classes,
        ``"roc_auc_ovr"`` (the mean over the classes of the AUC against all others) for
        more, ``"r2"`` for regression. The average precision of classes with fewer than
        10 % of the rows, at most the five rarest, is computed as well.
    cv : int, splitter or iterable of (train, test), default=None
        Number of folds (5 by default; the folds are repeated twice), or the splits
        themselves. With ``train_size`` or ``labelled``, the number of splits (20 by
        default); with ``time``, the number of windows (5 by default, 1 is a holdout).
    groups : array-like of shape (n_samples,), default=None
        Rows of one group are never in the training and the test set of one split.
    time : array-like of shape (n_samples,), default=None
        Times of the rows, as numbers or dates. Every split tests on rows that are later
        than its training rows, in expanding windows. With ``train_size`` or
        ``labelled``, the training rows are the latest ones.
    outcome_time : array-like of shape (n_samples,), default=None
        With ``time``, when y becomes known. Rows whose y is known only after the first
        test row are training rows without y. By default y is known at once.
    train_size : int or float, default=None
        Number or share of training rows, for a study of small training sets: the other
        rows are test rows, in repeated splits whose training sets do not overlap as
        long as there are enough rows. Privileged information helps most with few rows.
    labelled : int, default=None
        Number of training rows with y, for a study of few labels: half of the other
        rows are used for training without y, the remainder are test rows, in repeated
        splits whose rows with y do not overlap as long as there are enough rows. Not
        together with ``train_size`` or given splits.
    unlabelled : int, default=1000
        With ``labelled``, the maximum number of training rows whose y is hidden.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights for fitting and for scoring.
    test_quality : array-like of bool of shape (n_samples,), default=None
        True in rows whose y is known to be right: only these are test rows. Scores on
        labels some of which are wrong are attenuated, gains as well.
    n_candidates : int, default=12
        Number of candidate parameters in every arm; 1 means each estimator's defaults.
        With more than 5000 training rows with y, candidates are scored on 5000 of them,
        the same ones in every arm, and the chosen one is fitted on all.
    inner_cv : int, default=3
        Number of folds of the training rows on which candidates are scored.
    task : {"classification", "regression"}, default=None
        The task; by default it is derived from the methods or the target: text,
        booleans and up to 10 distinct whole numbers are classes.
    negligible : float, default=0.01
        Largest gain of the score that is negligible. There is "nothing to gain" if the
        gain and that of the oracle are at most this, with 95 % confidence, and the
        oracle does not lose more than this.
    checkpoint : path-like, default=None
        File of finished pieces of work. An interrupted run continues from there and
        gives the same result.
    n_jobs : int, default=None
        Number of parallel jobs of joblib, whose ``parallel_config`` applies:
        ``backend="dask"`` distributes the work over a cluster.
    random_state : int, default=0
        Seed of splits, candidates, shuffling and models.
    progress : bool, default=None
        False shows no progress. Otherwise there is a progress bar on the standard
        error or, if that is not a terminal, a line every ten seconds.

    Returns
    -------
    comparison : Comparison
        Scores, tests and a verdict.

    Examples
    --------
    >>> from lupi.datasets import make_mediator
    >>> from lupi.evaluation import compare
    >>> data = make_mediator(300, random_state=0)
    >>> result = compare(
    ...     data.data, data.target, data.privileged,
    ...     methods="generalized-distillation-classifier",
    ...     train_size=30, cv=3, n_candidates=2,
    ... )
    >>> list(result.table["arm"])
    ['without', 'with', 'shuffled', 'self', 'oracle']
    """
    given = locals()
    how = {name: given.pop(name) for name in ("checkpoint", "n_jobs", "progress")}
    return run(plan(**given), **how)


def run(study: Study, **how: Any) -> Comparison:
    """Run all pieces of a study; ``how`` is checkpoint, n_jobs and progress."""
    if study.privileged is None:
        raise ValueError(
            "privileged is None, so that there is nothing to compare. Give the "
            "privileged columns."
        )
    started = datetime.now(UTC)
    results = run_all(
        study.run,
        {":".join(map(str, piece)): piece for piece in study.pieces()},
        identity=study.identity,
        fields=FIELDS,
        title="Comparing",
        **how,
    )
    lines: list[dict[str, Any]] = []
    failures: dict[str, str] = {}
    warnings: Counter[tuple[str, str]] = Counter()
    for method, split in product(study.methods, range(len(study.splits))):
        parts = [
            results[f"family:{method.baseline}:{split}"],
            results[f"method:{method.name}:{split}"],
        ]
        for part in parts:
            if part["error"] is not None:
                failures.setdefault(method.name, part["error"])
            for message, count in part["warnings"].items():
                warnings[method.name, message] += count
        found = {line["arm"]: line for part in parts for line in part["lines"]}
        none = {"split": split, "score": np.nan, "seconds": 0.0, "params": {}}
        for arm in ARMS:
            own = found.get(arm, none | {"arm": arm})
            lines.append(own | {"method": method.name})
    made = {
        "date": started.isoformat(timespec="seconds"),
        "versions": versions("numpy", "scipy", "scikit-learn", "pandas"),
        "fingerprint": study.identity,
    }
    folds = pd.DataFrame(lines).reindex(columns=list(FOLD_COLUMNS))
    said = _describe_data(study, folds)
    seconds = (datetime.now(UTC) - started).total_seconds()
    return Comparison(
        folds,
        study.settings | said | {"seconds": seconds, "made": made},
        failures,
        [
            {"method": method, "message": message, "count": count}
            for (method, message), count in warnings.items()
        ],
        study,
    )


def _left_out(folds: pd.DataFrame, constants: list[float] | None) -> list[int]:
    """Return the splits that are left out of all means."""
    numbers = outlying_splits(_judged_scores(folds).to_numpy(float), constants)
    return [int(number) for number in numbers]


def _judged_scores(folds: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of all arms but the oracle, without failed methods."""
    folds = folds[folds["arm"] != "oracle"]
    scores = folds.pivot(index=["method", "arm"], columns="split", values="score")
    return scores[scores.notna().all(axis=1)]


def _describe_data(study: Study, folds: pd.DataFrame) -> dict[str, Any]:
    """Return the score of a constant, and what X, X* and y say about the splits."""
    scored = study.constant_scores()
    constants, groups = map(list, zip(*scored, strict=True)) if scored else (None, None)
    left_out = _left_out(folds, constants)

    def mean(scores: list[float] | None) -> float | None:
        return None if scores is None else float(np.mean(np.delete(scores, left_out)))

    constant: dict[str, Any] = {"constant": mean(constants), "constants": constants}
    constant["constant_groups"] = groups
    also: dict[str, float | None] = {}
    for name, scorer in study.also.items():
        scores = study.constant_scores(scorer)
        also[name] = mean([score for score, _ in scores] if scores else None)
    constant["also"] = also
    constant["random"] = {
        name: mean(study.random_scores(name)) for name in also if name != "accuracy"
    }
    if study.settings["second"]:
        share = next(iter(also.values()))
        constant["second"] = study.settings["second"] | {"share": share}
    names, later = study.settings["features"], study.settings["privileged"]
    privileged = dict(columns_of(study.privileged, later))
    codes = [pd.factorize(column)[0] for column in privileged.values()]
    trained = (np.r_[split.train, split.unlabelled] for split in study.splits)
    constant["constant_in"] = sum(
        bool(codes) and all(len(set(each[rows]) - {-1}) < 2 for each in codes)
        for rows in trained
    )
    if "order" in study.settings:
        # A comparison of the same data at another size.
        return constant
    known = dict(columns_of(study.X, names))
    y = pd.Series(study.y).where(study.has_y).infer_objects()
    y = y if study.strata is None else y.astype(object)  # numbers may be classes
    columns = known | privileged
    ordered, sorting = ordered_columns(columns)
    # The target decides what is said of the order, and is tested by itself. Rows sorted
    # by group are not sorted by time.
    of_target, _ = ordered_columns({study.settings["target"]: y})
    if study.groups is not None and in_runs(study.groups):
        ordered, of_target = [], []
    sorted_by = {name: columns[name] for name in sorting if of_target}
    found, by_number, unordered = times_of_rows(known, sorted_by)
    # The column of a time is no feature, and there must be others.
    column = found[0] if found and len(names) > 1 else None
    times = np.arange(len(y), dtype=float) if by_number else None
    if column is not None:
        times, _ = read_time(known[column], len(y), column)
    return constant | {
        "order": {
            "columns": [*ordered, *of_target],
            "time": column,
            "dates": unordered,
        },
        "possible": study.possible(times),
        "same": [
            name
            for name, column in privileged.items()
            if has_same_content(column[study.has_y], study.y[study.has_y], study.task)
        ],
        "computable": computable_columns(
            study.X, study.privileged, later, study.groups
        ),
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
    n_unlabelled : int, default=0
        Number of training rows without y that the model with X* has in addition.

    Examples
    --------
    >>> from lupi.evaluation import Worth
    >>> print(Worth(41.0, 12.0, float("inf"), 60, 240))
    X* is equivalent to about 41 additional known outcomes (95 % interval 12 to more
    than 180): 101 score as much without X* as 60 with X*.
    >>> print(Worth(41.0, 0.0, 90.0, 60, 240))
    Whether X* is equivalent to additional known outcomes is not certain: the estimate
    is about 41 (95 % interval 0 to 90).
    """

    labels: float
    low: float
    high: float
    compared: int
    largest: int
    n_unlabelled: int = 0

    def __str__(self) -> str:
        what, are, them = "X*", "is", "X*"
        if self.n_unlabelled:
            what += f" and {self.n_unlabelled:,} rows without an outcome"
            are, them = "are", "them"
        most = f"more than {self.largest - self.compared:,}"
        low, high = (
            f"{round(end):,}" if np.isfinite(end) else most
            for end in (self.low, self.high)
        )
        if self.labels <= 0:
            return (
                f"{what} {are} equivalent to no additional known outcome (95 % "
                f"interval {low} to {high})."
            )
        finite = np.isfinite(self.labels)
        count = f"about {round(self.labels):,}" if finite else most
        if self.low <= 0:
            return (
                f"Whether {what} {are} equivalent to additional known outcomes is not "
                f"certain: the estimate is {count} (95 % interval {low} to {high})."
            )
        needed, than = f"{self.largest:,} score less", "than"
        if finite:
            needed = f"{self.compared + round(self.labels):,} score as much"
            than = "as"
        return (
            f"{what} {are} equivalent to {count} additional known outcomes (95 % "
            f"interval {low} to {high}): {needed} without {them} {than} "
            f"{self.compared:,} with {them}."
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
        The mean number of training rows of the comparison.
    train_sizes : ndarray of shape (n_sizes,)
        Numbers of training rows.
    scores : dict of str to ndarray of shape (n_sizes, n_splits)
        Scores of every split, by arm.
    group_scores : dict of str to ndarray of shape (n_sizes, n_splits, n_groups)
        Pseudo-values of the scores for each group of test rows, by arm.
    designs : list of Design
        Numbers of training and test rows, by size.
    tuned : bool, default=True
        Whether the method has parameters that were chosen at the compared size.
    n_unlabelled : ndarray of shape (n_sizes,), default=None
        Mean numbers of training rows without y of the arm with X*.

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
    n_unlabelled: np.ndarray | None = None

    @property
    def table(self) -> pd.DataFrame:
        """One row per arm and size: the mean score with its 95 % interval."""
        hidden = self.n_unlabelled
        hidden = np.zeros(len(self.train_sizes)) if hidden is None else hidden
        lines = []
        for arm, k in product(self.scores, range(len(self.train_sizes))):
            own = self.scores[arm][k], self.designs[k], self.group_scores[arm][k]
            level = corrected_contrast(*own, paired=False)
            lines.append(
                {
                    "method": self.method,
                    "arm": arm,
                    "n_train": int(self.train_sizes[k]),
                    "n_unlabelled": hidden[k] if arm == "with" else 0.0,
                    "n_splits": self.scores[arm].shape[1],
                    **level.columns("score", ""),
                }
            )
        return pd.DataFrame(lines)

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
            0 if self.n_unlabelled is None else round(self.n_unlabelled[start]),
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


def _sizes(study: Study) -> tuple[int, list[int]]:
    """Return the compared size, and all sizes: it is halved and doubled."""
    compared = round(study.design.n_train)
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
    """Return the score of a split, its number of rows without y, and pseudo-values.

    Without a study the line of the comparison has them. None: it cannot be fitted.
    """
    found: Any = line
    if study is not None:
        lines = study.attempt(study.method(name), (arm,), number, line["params"])
        if lines["error"] is not None:
            return None
        (found,) = lines["lines"]
    return [found["score"], found["n_unlabelled"], *found["group_scores"]]


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
    return rows[study.rows.take(rows).mixed(rng)]


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
    helped : bool
        Whether the comparison shows that X* helps the method.

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
    helped: bool = True

    @cached_property
    def _scores(self) -> dict[str, ArmScores]:
        folds = self.folds.rename(columns={"kind": "arm"})
        shared = folds["arm"].isin((ALL, NONE))
        return {
            group: ArmScores(
                folds[shared | (folds["group"] == group)], self.design, self.left_out
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
        groups minus ``gain_left_out``; each with its standard error and 95 % interval
        (``gain_alone_low`` and so on), corrected for the overlap of the splits. Two
        redundant columns have large gains alone and small contributions.
        """
        lines = [
            {
                "group": group,
                **scores.difference(ALONE, NONE).columns("gain_alone"),
                **scores.difference(LEFT_OUT, NONE).columns("gain_left_out"),
                **scores.difference(ALL, LEFT_OUT).columns("contribution"),
            }
            for group, scores in self._scores.items()
        ]
        return pd.DataFrame(lines).sort_values(
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
        for group, kind in product(self.table["group"], (ALONE, LEFT_OUT)):
            gain = self._scores[group].difference(kind, NONE)
            lines.append((group, kind, gain.mean, *gain.interval(confidence)))
        return pd.DataFrame(lines, columns=["group", "kind", "value", "low", "high"])

    @property
    def sentence(self) -> str:
        """Summary of the table in sentences."""
        table, total = self.table, self.total.columns("total")
        together = with_interval(total, "total")
        first, needed = table.iloc[0], table.loc[table["contribution"].idxmax()]
        if len(self.groups) == 1:
            return f"{first['group']} gains {together} over without X*."
        said = (
            f"Alone, {first['group']} gains most, {with_interval(first, 'gain_alone')}"
        )
        if first["gain_alone"] <= 0:
            said = "No column gains anything alone"
        said += f"; all {len(self.groups)} together gain {together} over without X*."
        if not (table["gain_alone_low"] > 0).any():
            said += " No single gain is significant."
        if needed["contribution_low"] > 0:
            said += (
                f" {needed['group']} contributes most: without it the gain is "
                f"{with_interval(needed, 'gain_left_out')}."
            )
        worse = table.loc[table["contribution_high"] < 0, "group"]
        if len(worse):
            said += f" The gain is larger without {listed(worse, 'or', most=4)}."
        if not self.helped:
            said += (
                " These are gains over without X*; over all controls X* is not shown "
                "to help, so that they need not be due to its content."
            )
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


def _variant_key(columns: Sequence[str], split: int) -> str:
    """Return the name of some columns in one split, for a checkpoint."""
    return f"columns:{json.dumps(columns)}:{split}"


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
    """Run the arm with X* on some columns of X*, in one split."""
    columns, split = variant
    names = study.settings["privileged"]
    table = take_columns(study.privileged, [names.index(name) for name in columns])
    part = replace(study, privileged=table, has_privileged=rows_with_values(table))
    return part.attempt(part.method(name), (ALL,), split)


def outside_baseline(
    comparison: Comparison, study: Study, n_jobs: int | None
) -> dict[str, Any] | None:
    """Score boosting on the splits of a comparison; None for sparse X."""
    if sp.issparse(study.X):
        return None
    model = BOOSTING[study.task](random_state=study.seed)
    study = replace(study)
    study.tables.impute = False  # missing values are values for its trees
    method = Method(type(model).__name__, study.task, estimator=model)
    found = Parallel(n_jobs=n_jobs)(
        delayed(study.attempt)(method, ("without",), number, {})
        for number in range(len(study.splits))
    )
    for result in found:
        if result["error"] is not None:
            raise ValueError(f"{method.name} could not be fitted: {result['error']}")
    lines = [result["lines"][0] | {"arm": "outside"} for result in found]

    def beside(name: str | None) -> ArmScores:
        own = comparison.folds[comparison.folds["method"] == name]
        folds = pd.DataFrame([*own.to_dict("records"), *lines])
        constants = comparison.settings
        return ArmScores(folds, study.design, comparison.left_out, constants)

    best, arm = best_arm(comparison.summary, comparison.verdict)
    arms = beside(comparison.verdict.method)
    also: dict[str, Any] = {}
    for name in study.also:
        folds, design = _also(pd.DataFrame(lines), name), design_for(name, study.design)
        other = ArmScores(folds, design, comparison.left_out)
        also |= other.level("outside").columns(name)
    return also | {
        "name": method.name,
        **arms.level("outside").columns("score", ""),
        **beside(best).difference("outside", arm).columns("difference"),
        "difference_to": {"method": best, "arm": arm},
        **arms.difference("outside", "without").columns("over_without"),
        "over_without_of": comparison.verdict.method,
        **arms.over_constant("outside"),
        "scores": [line["score"] for line in lines],
        "group_scores": [line["group_scores"] for line in lines],
    }


def _also(folds: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the same lines with another score, and its pseudo-values."""
    found = [
        each[name] if isinstance(each, dict) else (np.nan, None)
        for each in folds["also"]
    ]
    score, groups = zip(*found, strict=True)
    return folds.assign(score=score, group_scores=groups)


@dataclass
class Comparison:
    """The result of `compare`: whether privileged information helps, and how much.

    Attributes
    ----------
    folds : pandas.DataFrame
        One row per method, arm ("without", "with", "shuffled", "self", "oracle") and
        split: ``score``, ``second_score`` (the average precision of the rarest class,
        if it is rare), ``also`` (accuracy and average precisions with their
        pseudo-values), ``reliability`` (for each tenth of the predicted probability of
        the last of two classes: weight, sum of the probability, weight of that class;
        in the arms "without" and "with"), the ``inner_score`` and ``params`` of the
        chosen candidate, ``n_train``, ``n_unlabelled``, ``n_test``, ``seconds`` (search
        and fit together) and ``group_scores``, the pseudo-values of the score for each
        group of test rows.
    settings : dict
        Settings of the comparison, in the layout of the JSON file.
    failures : dict of str to str
        Methods that could not be fitted, with the reason.
    warnings : list of dict
        Warnings raised while fitting: ``method``, ``message``, ``count``.
    study : object or None
        The data and the methods, for `best_estimator`; None after `from_json`.

    Examples
    --------
    >>> from lupi.datasets import make_mediator
    >>> from lupi.evaluation import compare
    >>> data = make_mediator(60, random_state=0)
    >>> result = compare(
    ...     data.data, data.target, data.privileged,
    ...     methods="generalized-distillation-classifier", cv=2, n_candidates=1,
    ... )
    >>> list(result.table["arm"])
    ['without', 'with', 'shuffled', 'self', 'oracle']
    """

    folds: pd.DataFrame
    settings: dict[str, Any]
    failures: dict[str, str] = field(default_factory=dict)
    warnings: list[dict[str, Any]] = field(default_factory=list)
    study: Study | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        return f"Comparison({', '.join(self.methods)}: {self.verdict.kind})"

    @property
    def methods(self) -> list[str]:
        """Names of the methods, in the order given."""
        return list(dict.fromkeys(self.folds["method"]))

    @property
    def design(self) -> Design:
        """The sizes and the kind of the splits."""
        names = ("n_train", "n_test", "kind", "n_tested", "overlap", "shared")
        splits = self.settings["splits"]
        design = Design(**{name: splits[name] for name in names if name in splits})
        return design_for(self.settings["scoring"], design)

    @cached_property
    def left_out(self) -> list[int]:
        """Numbers of the splits that are left out of all means, tests and intervals.

        In these splits the score of an arm other than the oracle lies beyond the
        quartiles of its scores by more than five of their ranges, and as far from the
        other arms or below a constant prediction, because a model extrapolates, say.
        """
        return _left_out(self.folds, self.settings.get("constants"))

    @property
    def outliers(self) -> dict[tuple[str, str], dict[int, float]]:
        """Scores that are outliers in ``left_out``, by split, by method and arm."""
        scores = _judged_scores(self.folds)
        far, _ = failed_scores(scores, self.settings.get("constants"))
        found = {
            key: {split: line[split] for split in self.left_out if is_far[split]}
            for (key, line), is_far in zip(scores.iterrows(), far, strict=True)
        }
        order = product(self.methods, ARMS)
        return {key: found[key] for key in order if found.get(key)}

    @cached_property
    def _scores(self) -> dict[str, ArmScores]:
        return self._arm_scores(self.folds, self.design, self.settings)

    def _arm_scores(self, folds: pd.DataFrame, *more: Any) -> dict[str, ArmScores]:
        design, *constants = more
        return {
            str(name): ArmScores(part, design, self.left_out, *constants)
            for name, part in folds.groupby("method", sort=False)
        }

    @cached_property
    def summary(self) -> pd.DataFrame:
        """One row per method: scores, tests, share of the gap closed, verdict.

        ``gain`` is the smallest difference of “with X*” to “without X*”, “shuffled X*”
        and “X as X*”, and ``control`` the arm of that difference. Its 95 % interval,
        ``gain_low`` to ``gain_high``, has the smallest ends of the three, those of
        ``control_low`` and ``control_high``, and ``p_helps`` is the largest of the
        three one-sided p-values. ``difference`` is “with X*” minus “without X*”,
        ``gap`` the oracle minus “without X*”, ``gap_upper`` its one-sided 95 % upper
        bound and ``p_gap`` its p-value. Holm's procedure corrects p-values over the
        methods. ``fails``: an arm other than the oracle is far below a constant
        prediction in some split. ``nothing_to_gain`` and ``rows_needed`` are as in
        `verdict`.
        """
        return summarise(self._scores, self.settings)

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per method and arm: score, differences to other arms, time.

        ``score`` is the mean over ``n_splits`` splits, with its 95 % interval ``low``
        to ``high``. ``difference`` is the score of the arm minus that of “without
        X*”, ``gain`` that of “with X*” minus that of the arm, and ``over_constant``
        that of the arm minus a constant prediction, each with its interval
        (``gain_low`` and so on); ``p_value`` and ``p_gain`` are one-sided, and not
        corrected for the number of methods. Classes have their ``accuracy``, a rare
        class its ``average_precision``, several ``average_precision of CLASS`` each.
        """
        table = score_table(self._scores)
        for name in self.settings.get("also", ()):
            own = _also(self.folds, name), design_for(name, self.design)
            levels = score_intervals(self._arm_scores(*own), "score", 0.95)
            names = {"value": name, "low": f"{name}_low", "high": f"{name}_high"}
            levels = levels.rename(columns=names)
            table = table.merge(levels, how="left", on=["method", "arm"])
        return table

    def intervals(self, kind: Kind = "score", confidence: float = 0.95) -> pd.DataFrame:
        """Return Student's intervals of the arms of every method that was fitted.

        Parameters
        ----------
        kind : {"score", "difference"}, default="score"
            Intervals of the scores, or of the paired differences to “without X*”.
        confidence : float, default=0.95
            Level of the intervals, which are corrected for the overlap of the splits.

        Returns
        -------
        pandas.DataFrame
            Columns ``method``, ``arm``, ``value``, ``low``, ``high``.
        """
        return score_intervals(self._scores, kind, confidence)

    @cached_property
    def verdict(self) -> Verdict:
        """The answer in sentences."""
        return judge(self.summary, self.settings, self._scores, self.left_out)

    def next_steps(self, *, command_line: bool = False) -> list[str]:
        """Return recommendations after this verdict, the most useful one first.

        Parameters
        ----------
        command_line : bool, default=False
            Write options of ``lupi compare`` instead of arguments of `compare`.

        Returns
        -------
        list of str
            Sentences, at least one.
        """
        with option_names(command_line):
            steps = next_steps(self, command_line=command_line)
            # X* that is the target must be left out, whatever the seed.
            return [*steps, *(() if self.settings.get("same") else another_seed(self))]

    @property
    def choice(self) -> tuple[str, str]:
        """The method and the arm that `best_estimator` returns.

        The one with the highest score: of the methods that X* helps, arm "with", and of
        all methods without it, arm "without". After `at_full_size` it is that of the
        comparison at full size.
        """
        full = self.full_size
        return best_arm(self.summary, self.verdict) if full is None else full.choice

    @property
    def full_size(self) -> Comparison | None:
        """The comparison that `at_full_size` made; None before."""
        stored = self.settings.get("full_size")
        return None if stored is None else _read(stored)

    def at_full_size(
        self, n_jobs: int | None = None, progress: bool | None = None
    ) -> dict[str, Any] | None:
        """Compare once more with all rows with y, the size of the final model.

        After ``train_size`` or ``labelled``, whether X* helps with all rows as well is
        measured on the splits that `compare` has without these arguments (by time in
        the same windows), by the best method with X* and the best one without. The
        result is kept in ``settings["full_size"]``; ``full_size``, ``choice`` and the
        report use it.

        Parameters
        ----------
        n_jobs, progress : object
            As in `compare`.

        Returns
        -------
        dict or None
            All of `to_dict`, with ``splits`` and ``choice``; None if the training sets
            have at least half of the rows with y, and for comparisons read from a file.
        """
        if self.study is None or self.study.full_splits is None:
            return None
        if not self.settings.get("full_size"):
            names = dict.fromkeys([self.verdict.method, self.choice[0]])
            study = self.study.at_full_size([name for name in names if name])
            full = run(study, n_jobs=n_jobs, progress=progress)
            more = {"splits": study.settings["splits"], "choice": full.choice}
            self.settings["full_size"] = full.to_dict() | more
        return self.settings["full_size"]

    def best_estimator(
        self, refit: bool = True, *, method: str | None = None
    ) -> BaseEstimator:
        """Return the model to use: preprocessing and estimator, tuned on all rows.

        Parameters
        ----------
        refit : bool, default=True
            Whether to fit the model on all rows. Otherwise it is returned unfitted,
            with the parameters chosen on all rows.
        method : str, default=None
            Name of a method, which is used with X* whatever its verdict. None is the
            method and the arm of ``choice``, after `at_full_size`.

        Returns
        -------
        estimator : sklearn.pipeline.Pipeline
            The model, which predicts from X alone.
        """
        if self.study is None:
            raise ValueError(
                "This comparison was read from a file, which does not contain the "
                "data; call compare(...) on the data to get a fitted model."
            )
        arm = "with"
        if method is None:
            self.at_full_size()
            method, arm = self.choice
        elif method not in self.methods:
            raise ValueError(
                f"{method!r} was not compared; the methods are "
                f"{', '.join(self.methods)}."
            )
        return self.study.final_estimator(method, arm, refit=refit)

    def plot(
        self,
        ax: Any = None,
        *,
        kind: Literal["score", "difference", "curve"] = "score",
        **options: Any,
    ) -> GainDisplay | PrivilegedLearningCurveDisplay:
        """Draw a chart of the report.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.
        kind : {"score", "difference", "curve"}, default="score"
            The scores, the differences to “without X*”, or the learning curve
            of the method of the verdict, which needs more fits.
        **options : dict
            Passed on to ``from_results`` of `lupi.inspection.GainDisplay`, or of
            `lupi.inspection.PrivilegedLearningCurveDisplay`.

        Returns
        -------
        GainDisplay or PrivilegedLearningCurveDisplay
            The display, drawn.
        """
        from lupi.inspection import GainDisplay, PrivilegedLearningCurveDisplay

        if kind != "curve":
            return GainDisplay.from_results(self, ax=ax, kind=kind, **options)
        curves = self.learning_curves(methods=[self.verdict.method])
        if not curves:
            raise ValueError(
                "There is no learning curve: it needs the data, which a comparison "
                "read from a file does not contain, and a method that could be fitted."
            )
        (curve,) = curves.values()
        return PrivilegedLearningCurveDisplay.from_results(curve, ax=ax, **options)

    def _repr_html_(self) -> str:
        from lupi.report import notebook_html

        return notebook_html(self)

    def outside_baseline(self, n_jobs: int | None = None) -> dict[str, Any] | None:
        """Score gradient boosting on X alone, on the same splits.

        The arms measure what X* adds to a method; this baseline, scikit-learn's
        histogram gradient boosting with its defaults, shows how good the method is. Its
        trees have the missing values of X as they are. The result is kept in
        ``settings["outside"]``, which the report shows; after `at_full_size` that
        comparison has one as well.

        Parameters
        ----------
        n_jobs : int, default=None
            As in joblib.

        Returns
        -------
        dict or None
            ``name``, ``score``, the ``difference`` to the best model of the comparison
            (``difference_to``) and that to the method of the verdict without X*
            (``over_without``, with the method as ``over_without_of``), the accuracy and
            average precisions of ``table``, all with intervals, and the ``scores`` of
            all splits; None for sparse X, for comparisons read from a file, and if no
            method could be fitted.
        """
        if self.study is None or self.verdict.kind == "failed":
            return None
        self.settings["outside"] = outside_baseline(self, self.study, n_jobs)
        full = self.full_size
        if full is not None:
            study = self.study.at_full_size([])
            full.settings["outside"] = outside_baseline(full, study, n_jobs)
        return self.settings["outside"]

    def learning_curves(
        self, n_jobs: int | None = None, *, methods: list[Any] | None = None
    ) -> dict[str, LearningCurve]:
        """Score every method with and without X* on training sets of several sizes.

        Every split keeps the parameters that the comparison chose for it. The scores
        are kept in ``settings["curves"]``, as in ``table`` of the curves.

        Parameters
        ----------
        n_jobs : int, default=None
            As in joblib.
        methods : list of str, default=None
            Names of the methods; all by default.

        Returns
        -------
        dict of str to LearningCurve
            By method. Methods that could not be fitted, and comparisons read from a
            file, have none.
        """
        if self.study is None:
            return {}
        names = self.methods if methods is None else methods
        names = [name for name in names if name not in self.failures]
        study = self.study
        compared, sizes = _sizes(study)
        if len({len(split.train) for split in study.splits}) > 1 and study.by_time:
            # Expanding windows have no common training size.
            return {}
        numbers = [n for n in range(len(study.splits)) if n not in self.left_out]
        # Whole groups give training sets of several sizes, which are compared as drawn.
        resized = {
            size: replace(
                study,
                splits=[
                    study.splits[n] if size == compared else _resized(study, size, n)
                    for n in numbers
                ],
            )
            for size in sizes
        }
        # The effect of X* is that of the compared size.
        shared = study.design.shared
        designs = {
            size: replace(part.design, shared=shared) for size, part in resized.items()
        }
        known = self.folds.set_index(["method", "arm", "split"])
        # The tables prepared for a split are used by all methods and arms.
        points = product(sizes, range(len(numbers)), names, CURVE_ARMS)
        found = Parallel(n_jobs=n_jobs)(
            delayed(_curve_point)(
                None if size == compared else resized[size],
                *(name, arm, k, known.loc[(name, arm, numbers[k])]),
            )
            for size, k, name, arm in points
        )
        empty = [np.nan] * (2 + study.n_groups)
        shape = (len(sizes), len(numbers), len(names), len(CURVE_ARMS), len(empty))
        table = np.array([line or empty for line in found], dtype=float).reshape(shape)
        curves = {}
        for name, own in zip(names, np.moveaxis(table, 2, 0), strict=True):
            # A size at which the method could not be fitted is left out.
            kept = np.isfinite(own[..., 0]).all(axis=(1, 2))
            by_arm = dict(zip(CURVE_ARMS, np.moveaxis(own[kept], 2, 0), strict=True))
            curves[name] = LearningCurve(
                name,
                study.settings["scoring"],
                compared,
                np.array(sizes)[kept],
                {arm: values[..., 0] for arm, values in by_arm.items()},
                {arm: values[..., 2:] for arm, values in by_arm.items()},
                [designs[size] for size in np.array(sizes)[kept]],
                len(study.candidates(study.method(name), "with")) > 1,
                by_arm["with"][..., 1].mean(axis=1),
            )
        self.settings["curves"] = [
            line for curve in curves.values() for line in curve.table.to_dict("records")
        ]
        return curves

    def columns(
        self,
        groups: Mapping[str, Sequence[str]] | None = None,
        *,
        method: str | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> ColumnGains:
        """Measure which privileged columns the gain comes from.

        The method is run with each column alone and with each column left out, on the
        same splits and with the same candidates.

        Parameters
        ----------
        groups : mapping of str to list of str, default=None
            Groups of columns that are used together, by name; a column that is in no
            group forms its own group.
        method : str, default=None
            The method; by default the best one that X* helps, or the one with the
            highest score if it helps none.
        checkpoint, n_jobs, progress : object
            As in `compare`.

        Returns
        -------
        ColumnGains
            Gains with their errors; ``table``, ``sentence`` and ``plot()``.
        """
        if self.study is None:
            raise ValueError(
                "This comparison was read from a file, which does not contain the "
                "data; call compare(...) on the data to measure the gains of single "
                "columns."
            )
        ran = self.summary[self.summary["verdict"] != "failed"].set_index("method")
        if method is None:
            method, arm = best_arm(self.summary, self.verdict)
            method = method if arm == "with" else str(ran["with"].idxmax())
        elif method not in ran.index:
            raise ValueError(
                f"method={method!r} was not compared; choose {listed(ran.index, 'or')}."
            )
        self.settings["column_gains"] = True
        study = self.study
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
        own = self.folds[self.folds["method"] == method]
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
                        f"{method} could not be fitted with {listed(chosen, most=4)} "
                        f"as privileged information: {result['error']}"
                    )
                (found,) = result["lines"]
            taken = {name: found[name] for name in ("score", "group_scores", "seconds")}
            lines.append({"group": group, "kind": kind, "split": split} | taken)
        scoring = study.settings["scoring"]
        table = pd.DataFrame(lines)
        helped = ran.at[method, "verdict"] == "helps"
        found = method, scoring, parts, table, study.design, self.left_out, helped
        return ColumnGains(*found)

    def to_html(self, path: str | os.PathLike[str]) -> Path:
        """Write the report as one self-contained page.

        Parameters
        ----------
        path : path-like
            The file to write.

        Returns
        -------
        pathlib.Path
            The file.
        """
        from lupi.report import write_html

        return write_html(self, path)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, in the layout of the JSON file.

        Returns
        -------
        dict of str to object
            Settings, verdict, tables, folds, failures and warnings.
        """
        from lupi import __version__

        return {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "lupi_version": __version__,
            "settings": self.settings,
            "left_out": self.left_out,
            "verdict": self.verdict.to_dict(),
            "summary": self.summary.to_dict("records"),
            "table": self.table.to_dict("records"),
            "folds": self.folds.to_dict("records"),
            "failures": self.failures,
            "warnings": self.warnings,
        }

    def to_json(self, path: str | os.PathLike[str]) -> Path:
        """Write everything but the data and the models as JSON.

        Parameters
        ----------
        path : path-like
            The file to write.

        Returns
        -------
        pathlib.Path
            The file.
        """
        text = json.dumps(to_plain(self.to_dict()), indent=1, allow_nan=False)
        return write_atomically(path, text + "\n")

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> Comparison:
        """Read a file of `to_json`; tables and verdict are recomputed.

        Parameters
        ----------
        path : path-like
            The file to read.

        Returns
        -------
        Comparison
            The comparison without the data, so that `best_estimator` cannot fit.
        """
        return _read(read_json(path))


def _read(stored: Mapping[str, Any]) -> Comparison:
    """Return the comparison of a dictionary of `Comparison.to_dict`."""
    folds = pd.DataFrame(stored["folds"], columns=list(FOLD_COLUMNS))
    parts = (stored[name] for name in PARTS[1:])
    return Comparison(folds.astype({"score": float}), *parts)


def read_json(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a comparison; raise an error if the file does not contain one."""
    try:
        with open(path, encoding="utf-8") as file:
            stored = json.load(file)
    except ValueError as error:
        raise ValueError(f"{path} is not valid JSON: {error}.") from error
    if not isinstance(stored, dict) or stored.get("format") != FORMAT:
        raise ValueError(f"{path} is not a comparison written by lupi.")
    if stored.get("version") != FORMAT_VERSION:
        raise ValueError(
            f"{path} has format version {stored.get('version')}; this lupi reads "
            f"version {FORMAT_VERSION}. Read it with the lupi that wrote it "
            f"({stored.get('lupi_version')})."
        )
    missing = [name for name in PARTS if name not in stored]
    if missing or not stored["folds"]:
        what = f"has no {', '.join(missing)}" if missing else "contains no scores"
        raise ValueError(f"{path} {what}; it was not written completely.")
    return stored
