"""The result of `compare`: scores, tables, a verdict, and files."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from lupi.evaluation._json import read_json, stored_folds, to_contents, write_json
from lupi.evaluation._next_steps import next_steps
from lupi.evaluation._statistics import Design
from lupi.evaluation._summary import (
    ArmScores,
    Kind,
    best_arm,
    score_intervals,
    score_table,
    summarise,
)
from lupi.evaluation._verdict import Verdict, judge

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from sklearn.base import BaseEstimator

    from lupi.evaluation._column_gains import ColumnGains
    from lupi.evaluation._curve import LearningCurve
    from lupi.evaluation._study import Study


@dataclass
class Comparison:
    """The result of `compare`: whether privileged information helps, and how much.

    Attributes
    ----------
    folds : pandas.DataFrame
        One row per method, arm ("without", "with", "shuffled", "self", "oracle") and
        split: ``score``, the ``inner_score`` and ``params`` of the chosen candidate,
        ``n_train``, ``n_unlabelled``, ``n_test``, ``seconds`` (search and fit
        together) and ``group_scores``, the pseudo-values of the score for each group of
        test rows.
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
    def _scores(self) -> dict[str, ArmScores]:
        parts = self.folds.groupby("method", sort=False)
        return {str(name): ArmScores(part, self.design) for name, part in parts}

    @cached_property
    def summary(self) -> pd.DataFrame:
        """One row per method: scores, tests, share of the gap closed, verdict.

        ``gain`` is *with* minus *without*, ``p_helps`` the largest of the one-sided
        p-values against *without*, *shuffled* and *self*, corrected over the methods by
        Holm; ``p_helps_nadeau_bengio`` is the p-value by the formula of Nadeau and
        Bengio. ``gap`` is *oracle* minus *without*, ``gap_upper`` its 95 % upper bound.
        ``nothing_to_gain`` is True for methods without evidence whose bound is
        negligible; ``rows_needed`` is the number of rows needed for an answer, if
        neither a gap nor its absence is established.
        """
        return summarise(self._scores, self.settings)

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per method and arm: score, difference to *without*, time.

        Standard errors and one-sided p-values (``p_value``: the arm is better than
        *without*) are corrected for the overlap of the splits, not for the number of
        methods; ``p_nadeau_bengio`` is the p-value by the published formula.
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
        return judge(self.summary, self.settings["scoring"])

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
        return next_steps(
            self.verdict, self.settings, self.methods, command_line=command_line
        )

    @cached_property
    def choice(self) -> tuple[str, str]:
        """The method and the arm that `best_estimator` returns.

        The one with the highest score: of the methods that X* helps, arm "with", and of
        all methods without it, arm "without".
        """
        return best_arm(self.summary, self.verdict)

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
            method and the arm of ``choice``.

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
    ) -> Any:
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
        from lupi.evaluation._outside import outside_baseline

        if self.study is None:
            return None
        self.settings["outside"] = outside_baseline(self.study, n_jobs)
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
        from lupi.evaluation._curve import learning_curves

        return learning_curves(self, n_jobs=n_jobs, methods=methods)

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
            The method; by default that of ``choice``, or the one with the highest
            score if X* helps none.
        checkpoint, n_jobs, progress : object
            As in `compare`.

        Returns
        -------
        ColumnGains
            Gains with their errors; ``table``, ``sentence`` and ``plot()``.
        """
        from lupi.evaluation._column_gains import column_gains

        return column_gains(
            self,
            groups=groups,
            method=method,
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
        return to_contents(self)

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
        return write_json(self.to_dict(), path)

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
        return cls(
            stored_folds(stored),
            stored["settings"],
            stored["failures"],
            stored["warnings"],
        )
