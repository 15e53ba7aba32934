"""What `compare` returns: fold scores, tables, a verdict, and the files made of them.

Layout of the JSON file (``Comparison.to_json``), format version 1::

    {
      "format": "lupi-comparison", "version": 1, "lupi_version": "...",
      "settings": {
        "task": "classification" | "regression",
        "scoring": "roc_auc",           # the score, larger is better
        "optimum": 1.0,                 # its best value (0 for a negated loss)
        "target": "event",              # name of y, or "y"
        "classes": [...] | null,
        "n_rows": 2139,
        "n_privileged_rows": 2139,      # rows that have X*
        "features": [...], "privileged": [...],        # column names
        "splits": {"kind": "folds" | "small training sets", "n_splits": 10,
                   "n_train": 1711.2, "n_test": 427.8, "train_overlap": 0.0,
                   "train_size": null, "grouped": false, "weighted": false},
        "search": {"n_candidates": 12, "inner_folds": 3},
        "random_state": 0, "seconds": 41.2
      },
      "verdict": {"kind": ..., "sentence": ..., "method": ..., "leak": false,
                  "methods": {"SVCPlus": "no evidence", ...},
                  "nothing_to_gain": false},
      "summary": [ {one record per method: the columns of Comparison.summary} ],
      "table":   [ {one record per method and row: the columns of Comparison.table} ],
      "folds":   [ {one record per method, row and split: Comparison.folds} ],
      "failures": {"SVCPlus": "the error, in a sentence"},
      "warnings": [ {"method": ..., "message": ..., "count": 3} ]
    }

A value that does not exist (the p-value of a method that failed) is null.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from lupi._atomic import write_atomically
from lupi.evaluation._statistics import Design
from lupi.evaluation._verdict import ROWS, FoldScores, Verdict, judge, summarise

if TYPE_CHECKING:
    from pathlib import Path

    from sklearn.base import BaseEstimator

    from lupi.evaluation._study import Study

FOLD_COLUMNS = (
    "method",
    "row",
    "split",
    "score",
    "inner_score",
    "params",
    "n_train",
    "n_test",
    "seconds",
    "group_scores",
)


@dataclass
class Comparison:
    """The result of `compare`: whether privileged information helps, and how much.

    Attributes
    ----------
    folds : pandas.DataFrame
        One line per method, row ("without", "with", "shuffled", "oracle") and split:
        ``score``, the ``inner_score`` and ``params`` of the chosen candidate,
        ``n_train``, ``n_test``, ``seconds`` (search and fit together) and, for small
        training sets, ``group_scores``.
    settings : dict
        How the comparison was made; the layout is that of the JSON file.
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
    ...     data.data,
    ...     data.target,
    ...     data.privileged,
    ...     methods="generalized-distillation-classifier",
    ...     search=1,
    ... )
    >>> list(result.table["row"])
    ['without', 'with', 'shuffled', 'oracle']
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
        """Names of the methods, in the order they were asked for."""
        return list(dict.fromkeys(self.folds["method"]))

    @cached_property
    def _scores(self) -> dict[str, FoldScores]:
        splits = self.settings["splits"]
        design = Design(splits["n_train"], splits["n_test"], splits["train_overlap"])
        return {
            method: FoldScores(self.folds[self.folds["method"] == method], design)
            for method in self.methods
        }

    @cached_property
    def summary(self) -> pd.DataFrame:
        """One line per method: scores, tests, share of the gap closed, verdict.

        ``gain`` is *with* minus *without*, ``p_helps`` the Holm-corrected p-value of
        beating *without* and *shuffled* both, ``gap`` is *oracle* minus *without*.
        ``p_helps_nadeau_bengio`` is the same claim by the formula of Nadeau and
        Bengio to the letter; it differs from ``p_helps`` only where training sets
        are smaller than test sets. ``nothing_to_gain`` marks methods without
        evidence whose oracle gains nothing either.
        """
        return summarise(self._scores, self.settings["optimum"])

    @cached_property
    def table(self) -> pd.DataFrame:
        """One line per method and row: score, difference to *without*, time.

        Standard errors and one-sided p-values (``p_value``: the row is better than
        *without*) are corrected for the overlap of the splits, not for the number of
        methods; ``p_nadeau_bengio`` is the p-value by the published formula.
        """
        lines = []
        for method, folds in self._scores.items():
            for row in ROWS:
                line: dict[str, Any] = {"method": method, "row": row}
                if not folds.failed:
                    level = folds.level(row)
                    line |= {"score": level.mean, "std_error": level.std_error}
                    line["seconds"] = folds.seconds[row]
                    if row != "without":
                        gain = folds.difference(row, "without")
                        line |= {
                            "difference": gain.mean,
                            "difference_std_error": gain.std_error,
                            "p_value": gain.p_greater,
                            "p_nadeau_bengio": gain.p_nadeau_bengio,
                        }
                lines.append(line)
        columns = ["method", "row", "score", "std_error", "difference"]
        columns += ["difference_std_error", "p_value", "p_nadeau_bengio", "seconds"]
        return pd.DataFrame(lines).reindex(columns=columns)

    @cached_property
    def verdict(self) -> Verdict:
        """The answer in plain words."""
        return judge(self.summary, self.settings["scoring"])

    @cached_property
    def choice(self) -> tuple[str, str]:
        """The method and the row that `best_estimator` returns.

        The best-scoring method among those that help, row "with"; when none does,
        the best model without privileged information, row "without", because that is
        what the comparison supports.
        """
        ran = self.summary[self.summary["verdict"] != "failed"]
        if ran.empty:
            raise ValueError(f"There is no model to return. {self.verdict}")
        helping = ran[ran["verdict"] == "helps"]
        if len(helping):
            return str(helping.loc[helping["with"].idxmax(), "method"]), "with"
        return str(ran.loc[ran["without"].idxmax(), "method"]), "without"

    def best_estimator(
        self, refit: bool = True, *, method: str | None = None
    ) -> BaseEstimator:
        """Return the model to use: preprocessing and estimator, tuned on all rows.

        It is that of ``choice``: the best method that helps, or the best model without
        privileged information when none does.

        Parameters
        ----------
        refit : bool, default=True
            Fit the model on all rows. Otherwise it is returned unfitted, with the
            parameters chosen on all rows.
        method : str, optional
            Take this method, with its privileged information, whatever its verdict.

        Returns
        -------
        estimator : sklearn.pipeline.Pipeline
            Predicts from X alone.
        """
        if self.study is None:
            raise ValueError(
                "This comparison was read from a file, which does not hold the data; "
                "call compare(...) on the data to get a fitted model."
            )
        row = "with"
        if method is None:
            method, row = self.choice
        elif method not in self.methods:
            raise ValueError(
                f"{method!r} was not compared; the methods are "
                f"{', '.join(self.methods)}."
            )
        return self.study.final_estimator(method, row, refit=refit)

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the gain of every method with `lupi.inspection.GainDisplay`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **options
            Passed on to `lupi.inspection.GainDisplay.from_results`.

        Returns
        -------
        GainDisplay
            The display, drawn.
        """
        from lupi.inspection import GainDisplay

        return GainDisplay.from_results(self, ax=ax, **options)

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
            "format": "lupi-comparison",
            "version": 1,
            "lupi_version": __version__,
            "settings": self.settings,
            "verdict": self.verdict.to_dict(),
            "summary": _records(self.summary),
            "table": _records(self.table),
            "folds": _records(self.folds),
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
        """Read what `to_json` wrote; tables and verdict are computed anew.

        Parameters
        ----------
        path : path-like
            The file to read.

        Returns
        -------
        Comparison
            Without the data: `best_estimator` cannot fit.
        """
        with open(path, encoding="utf-8") as file:
            stored = json.load(file)
        if not isinstance(stored, dict) or stored.get("format") != "lupi-comparison":
            raise ValueError(f"{path} is not a comparison written by lupi.")
        if stored["version"] != 1:
            raise ValueError(
                f"{path} has format version {stored['version']}; this lupi reads "
                "version 1. Read it with the lupi that wrote it "
                f"({stored['lupi_version']})."
            )
        folds = pd.DataFrame(stored["folds"], columns=list(FOLD_COLUMNS))
        folds["score"] = folds["score"].astype(float)
        return cls(folds, stored["settings"], stored["failures"], stored["warnings"])


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return table.to_dict("records")


def to_plain(value: Any) -> Any:
    """Turn numpy scalars and arrays into JSON's types, NaN and infinity into null."""
    if isinstance(value, dict):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [to_plain(item) for item in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    if value is None or isinstance(value, str):
        return value
    return str(value)
