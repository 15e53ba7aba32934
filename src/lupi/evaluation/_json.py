"""Comparisons as JSON.

Layout of the JSON file (``Comparison.to_json``), format version 2::

    {
      "format": "lupi-comparison", "version": 2, "lupi_version": "...",
      "settings": {
        "task": "classification" | "regression",
        "scoring": "roc_auc",           # the score, larger is better
        "optimum": 1.0,                 # its best value (0 for a negated loss)
        "target": "event",              # name of y, or "y"
        "classes": [...] | null,
        "n_rows": 2139,
        "labels": {"n_labelled": 2139, "n_unlabelled": 0,  # rows with y, without
                   "n_train_unlabelled": 0.0,   # training rows without y per split
                   "auc": null},        # of a classifier of rows with and without y
        "n_privileged_rows": 2139,      # rows that have X*
        "features": [...], "privileged": [...],        # column names
        "splits": {"kind": "folds" | "small training sets" | "few labels",
                   "n_splits": 10,
                   "n_folds": 5,        # repeated twice; null for other splits
                   "n_train": 1711.2, "n_test": 427.8,
                   "train_size": null, "labelled": null,
                   "grouped": false, "weighted": false},
        "search": {"n_candidates": 12, "inner_cv": 3,
                   "n_rows": null,      # rows of the search, if not all
                   "has_parameters": true},
        "negligible": 0.01,             # largest gain that is negligible
        "outside": {"name": ..., "score": ..., "std_error": ...},  # on request
        "random_state": 0, "seconds": 41.2,
        "made": {"date": "2026-11-15T21:00:00+00:00",
                 "versions": {"lupi": ..., "python": ..., ...},
                 "fingerprint": "...",  # of data, splits, methods and candidates
                 # from the command line only; --from reads "asked":
                 "command": "lupi compare ...", "asked": {...}}
      },
      "verdict": {"kind": ..., "headline": ..., "sentence": ..., "method": ...,
                  "methods": {"SVCPlus": "no evidence", ...}, "leak": false,
                  "nothing_to_gain": false, "rows_needed": null},
      "summary": [ {one record per method: the columns of Comparison.summary} ],
      "table":   [ {one record per method and arm: the columns of Comparison.table} ],
      "folds":   [ {one record per method, arm and split: Comparison.folds} ],
      "failures": {"SVCPlus": "the error, in a sentence"},
      "warnings": [ {"method": ..., "message": ..., "count": 3} ]
    }

A value that does not exist (the p-value of a method that failed) is null.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from lupi._atomic import write_atomically

if TYPE_CHECKING:
    from lupi.evaluation._comparison import Comparison

FORMAT = "lupi-comparison"
FORMAT_VERSION = 2
PARTS = ("folds", "settings", "failures", "warnings")
FOLD_COLUMNS = (
    "method",
    "arm",
    "split",
    "score",
    "inner_score",
    "params",
    "n_train",
    "n_unlabelled",
    "n_test",
    "seconds",
    "group_scores",
)


def to_contents(comparison: Comparison) -> dict[str, Any]:
    """Return the contents of the file of a comparison, as plain data."""
    from lupi import __version__

    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "lupi_version": __version__,
        "settings": comparison.settings,
        "verdict": comparison.verdict.to_dict(),
        "summary": comparison.summary.to_dict("records"),
        "table": comparison.table.to_dict("records"),
        "folds": comparison.folds.to_dict("records"),
        "failures": comparison.failures,
        "warnings": comparison.warnings,
    }


def write_json(content: dict[str, Any], path: str | os.PathLike[str]) -> Path:
    """Write plain data atomically, with NaN and infinity as null."""
    text = json.dumps(to_plain(content), indent=1, allow_nan=False)
    return write_atomically(path, text + "\n")


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


def stored_folds(stored: dict[str, Any]) -> pd.DataFrame:
    """Return the scores of all splits from the contents of a file."""
    folds = pd.DataFrame(stored["folds"], columns=list(FOLD_COLUMNS))
    return folds.astype({"score": float})


def to_plain(value: Any) -> Any:
    """Convert numpy scalars and arrays to JSON's types, NaN and infinity to null."""
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
