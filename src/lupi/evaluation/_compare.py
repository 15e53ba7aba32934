"""`compare`, which measures whether privileged information helps, and its result.

The guide to evaluation describes the layout of its JSON file.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from lupi._atomic import write_atomically
from lupi._optional import versions
from lupi._words import listed, option_names
from lupi.evaluation._followups import (
    ColumnGains,
    LearningCurve,
    column_gains,
    learning_curves,
    outside_baseline,
)
from lupi.evaluation._methods import ARMS, Method, Task
from lupi.evaluation._order import (
    columns_of,
    computable_columns,
    date_columns,
    ordered_columns,
    read_time,
)
from lupi.evaluation._running import run_all, to_plain
from lupi.evaluation._statistics import Design, outlying_splits
from lupi.evaluation._study import FIELDS, Piece, Study, plan
from lupi.evaluation._verdict import (
    ArmScores,
    Kind,
    Verdict,
    best_arm,
    judge,
    next_steps,
    score_intervals,
    score_table,
    summarise,
)

if TYPE_CHECKING:
    from lupi.inspection import GainDisplay, PrivilegedLearningCurveDisplay

FORMAT = "lupi-comparison"
FORMAT_VERSION = 2
PARTS = ("folds", "settings", "failures", "warnings")
FOLD_COLUMNS = (
    "method",
    "arm",
    "split",
    "score",
    "second_score",
    "reliability",
    "inner_score",
    "params",
    "n_train",
    "n_unlabelled",
    "n_test",
    "seconds",
    "group_scores",
)


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
    candidate parameters, chosen on inner folds of the training rows: *without* X*,
    *with* X*, with X* *shuffled* among the training rows, *self* with the features X
    in the place of X*, and an *oracle* that sees X* when predicting too. A method
    *helps* when it is better than *without*, *shuffled* and *self*.

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
        more, ``"r2"`` for regression. If a class has fewer than 10 % of the rows, its
        average precision is computed as well.
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
        With ``labelled``, the maximum number of training rows without y.
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
        gain of the oracle is at most this, with 95 % confidence.
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
    for name in ("checkpoint", "n_jobs", "progress"):
        del given[name]
    study = plan(**given)
    return run(study, checkpoint=checkpoint, n_jobs=n_jobs, progress=progress)


def run(
    study: Study,
    *,
    checkpoint: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Run all pieces of a study. The parameters are those of `compare`."""
    if study.privileged is None:
        raise ValueError(
            "privileged is None, so that there is nothing to compare. Give the "
            "privileged columns."
        )
    start = time.perf_counter()
    results = run_all(
        study.run,
        {piece.key: piece for piece in study.pieces()},
        identity=None if checkpoint is None else study.identity,
        fields=FIELDS,
        checkpoint=checkpoint,
        n_jobs=n_jobs,
        progress=progress,
        title="Comparing",
    )
    return _assemble(study, results, time.perf_counter() - start)


def _assemble(
    study: Study, results: dict[str, dict[str, Any]], seconds: float
) -> Comparison:
    """Combine finished pieces, with the arms of its family for each method."""
    lines: list[dict[str, Any]] = []
    failures: dict[str, str] = {}
    warnings: dict[tuple[str, str], int] = {}
    for method in study.methods:
        for split in range(len(study.splits)):
            parts = [
                results[Piece("family", method.baseline, split).key],
                results[Piece("method", method.name, split).key],
            ]
            for part in parts:
                if part["error"] is not None:
                    failures.setdefault(method.name, part["error"])
                for message, count in part["warnings"].items():
                    key = (method.name, message)
                    warnings[key] = warnings.get(key, 0) + count
            found = {line["arm"]: line for part in parts for line in part["lines"]}
            for arm in ARMS:
                lines.append(
                    {"arm": arm, "split": split, "score": np.nan, "seconds": 0.0}
                    | {"params": {}}
                    | found.get(arm, {})
                    | {"method": method.name}
                )
    made = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions("numpy", "scipy", "scikit-learn", "pandas"),
        "fingerprint": study.identity,
    }
    folds = pd.DataFrame(lines).reindex(columns=list(FOLD_COLUMNS))
    said = _describe_data(study, _left_out(folds))
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


def _left_out(folds: pd.DataFrame) -> list[int]:
    """Return the splits that are left out of all means; failed methods do not count."""
    scores = folds.pivot(index=["method", "arm"], columns="split", values="score")
    numbers = outlying_splits(scores[scores.notna().all(axis=1)].to_numpy(float))
    return [int(number) for number in numbers]


def _describe_data(study: Study, left_out: list[int]) -> dict[str, Any]:
    """Return the score of a constant, and what X, X* and y say about the splits."""
    constant = {"constant": study.constant_score(left_out)}
    if "order" in study.settings:
        # A comparison of the same data at another size.
        return constant
    names, later = study.settings["features"], study.settings["privileged"]
    known = dict(columns_of(study.X, names))
    y = pd.Series(study.y).where(study.has_y).infer_objects()
    columns = {**known, **dict(columns_of(study.privileged, later))}
    ordered, order = ordered_columns({**columns, study.settings["target"]: y})
    dates = [name for name in date_columns(study.X) if not known[name].isna().any()]
    # The column of a time is no feature, and there must be others.
    found = [name for name in [*dates, order] if name in known and len(names) > 1]
    column, rows = next(iter(found), None), np.arange(len(y), dtype=float)
    times = read_time(known[column], len(y), column)[0] if column else rows
    return constant | {
        "order": {"columns": ordered, "time": column},
        "possible": study.possible(times),
        "computable": computable_columns(study.X, study.privileged, later),
    }


@dataclass
class Comparison:
    """The result of `compare`: whether privileged information helps, and how much.

    Attributes
    ----------
    folds : pandas.DataFrame
        One row per method, arm ("without", "with", "shuffled", "self", "oracle") and
        split: ``score``, ``second_score`` (the average precision of a rare class, if
        there is one), ``reliability`` (for each tenth of the predicted probability of
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
        splits = self.settings["splits"]
        return Design(splits["n_train"], splits["n_test"], splits["kind"])

    @cached_property
    def left_out(self) -> list[int]:
        """Numbers of the splits that are left out of all means, tests and intervals.

        In these splits the score of an arm lies beyond the quartiles of its scores by
        more than five of their ranges, because a model extrapolates, say.
        """
        return _left_out(self.folds)

    @cached_property
    def _scores(self) -> dict[str, ArmScores]:
        return {
            str(name): ArmScores(part, self.design, self.left_out)
            for name, part in self.folds.groupby("method", sort=False)
        }

    @cached_property
    def summary(self) -> pd.DataFrame:
        """One row per method: scores, tests, share of the gap closed, verdict.

        ``gain`` is the smallest difference of *with* to *without*, *shuffled* and
        *self*, and ``control`` the arm of that difference. Its 95 % interval,
        ``gain_low`` to ``gain_high``, has the smallest of the three lower and the
        smallest of the three upper ends, and ``p_helps`` is the largest of the three
        one-sided p-values, corrected over the methods by Holm. ``difference`` is *with*
        minus *without*, ``gap`` is *oracle* minus *without* and ``gap_upper`` its 95 %
        upper bound.
        ``nothing_to_gain`` is True for methods without evidence whose bound is
        negligible; ``rows_needed`` is the number of rows needed for an answer, if
        neither a gap nor its absence is established.
        """
        return summarise(self._scores, self.settings)

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per method and arm: score, differences to other arms, time.

        ``score`` is the mean over ``n_splits`` splits, with its 95 % interval ``low``
        to ``high``. ``difference`` is the score of the arm minus that of *without*, and
        ``gain`` the score of *with* minus that of the arm, with its 95 % interval;
        ``p_value`` and ``p_gain`` are their one-sided p-values. Standard errors and
        p-values are corrected for the overlap of the splits, not for the number of
        methods.
        """
        return score_table(self._scores)

    def intervals(self, kind: Kind = "score", confidence: float = 0.95) -> pd.DataFrame:
        """Return Student's intervals of the arms of every method that was fitted.

        Parameters
        ----------
        kind : {"score", "difference"}, default="score"
            Intervals of the scores, or of the paired differences to *without*.
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
        return judge(self.summary, self.settings, self.left_out)

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
            return next_steps(
                self.verdict, self.settings, self.methods, command_line=command_line
            )

    @property
    def choice(self) -> tuple[str, str]:
        """The method and the arm that `best_estimator` returns.

        The one with the highest score: of the methods that X* helps, arm "with", and of
        all methods without it, arm "without". After `at_full_size` it is that of the
        comparison at full size.
        """
        if self.settings.get("full_size"):
            method, arm = self.settings["full_size"]["choice"]
            return method, arm
        return best_arm(self.summary, self.verdict)

    def at_full_size(
        self, n_jobs: int | None = None, progress: bool | None = None
    ) -> dict[str, Any] | None:
        """Compare once more with all rows with y, the size of the final model.

        With ``train_size`` or ``labelled`` the comparison is about small training sets,
        and the final model is trained on all rows: whether X* helps there as well is
        measured on five folds, or windows of time, by the best method with X* and the
        best one without. The result is kept in ``settings["full_size"]``, which
        ``choice`` and the report use.

        Parameters
        ----------
        n_jobs, progress : object
            As in `compare`.

        Returns
        -------
        dict or None
            ``splits``, ``summary``, ``table``, ``verdict`` and ``choice``; None if the
            training sets have at least half of the rows with y, and for comparisons
            read from a file.
        """
        if self.study is None or self.study.full_splits is None:
            return None
        if not self.settings.get("full_size"):
            names = dict.fromkeys([self.verdict.method, self.choice[0]])
            study = self.study.at_full_size([name for name in names if name])
            full = run(study, n_jobs=n_jobs, progress=progress)
            self.settings["full_size"] = {
                "splits": study.settings["splits"],
                "summary": full.summary.to_dict("records"),
                "table": full.table.to_dict("records"),
                "verdict": full.verdict.to_dict(),
                "choice": full.choice,
            }
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
            The scores of every arm, the differences to *without*, or the learning curve
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
        histogram gradient boosting with its defaults, shows how good the method is. The
        result is kept in ``settings["outside"]``, which the report shows.

        Parameters
        ----------
        n_jobs : int, default=None
            As in joblib.

        Returns
        -------
        dict or None
            ``name``, ``score`` and ``std_error``; None for sparse X and for comparisons
            read from a file.
        """
        if self.study is None:
            return None
        self.settings["outside"] = outside_baseline(self.study, self.left_out, n_jobs)
        return self.settings["outside"]

    def learning_curves(
        self, n_jobs: int | None = None, *, methods: list[Any] | None = None
    ) -> dict[str, LearningCurve]:
        """Score every method with and without X* on training sets of several sizes.

        Every split keeps the parameters that the comparison chose for it.

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
        return learning_curves(self.study, self.folds, names, self.left_out, n_jobs)

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
        return column_gains(
            self.study,
            self.folds,
            groups,
            method,
            left_out=self.left_out,
            checkpoint=checkpoint,
            n_jobs=n_jobs,
            progress=progress,
        )

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
        stored = read_json(path)
        folds = pd.DataFrame(stored["folds"], columns=list(FOLD_COLUMNS))
        return cls(
            folds.astype({"score": float}),
            stored["settings"],
            stored["failures"],
            stored["warnings"],
        )


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
