"""`compare`: measure whether privileged information helps on given data."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from lupi._versions import versions
from lupi.evaluation._arms import ARMS
from lupi.evaluation._comparison import Comparison
from lupi.evaluation._json import FOLD_COLUMNS
from lupi.evaluation._methods import Method, Task
from lupi.evaluation._plan import plan
from lupi.evaluation._running import run_all
from lupi.evaluation._study import Piece, Study

# The entries of a finished piece of work.
FIELDS = ("lines", "error", "warnings")


def compare(
    X: Any,
    y: Any,
    privileged: Any,
    *,
    methods: str | Iterable[str | BaseEstimator | Method] = "default",
    scoring: str | Callable[..., float] | None = None,
    cv: Any = None,
    groups: Any = None,
    train_size: int | float | None = None,
    labelled: int | None = None,
    unlabelled: int = 1000,
    sample_weight: Any = None,
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
        ``"accuracy"`` for more, ``"r2"`` for regression.
    cv : int, splitter or iterable of (train, test), default=None
        Number of folds (5 by default; the folds are repeated twice), or the splits
        themselves. With ``train_size`` or ``labelled``, the number of splits (20 by
        default).
    groups : array-like of shape (n_samples,), default=None
        Rows of one group are never in the training and the test set of one split.
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
        Whether to show a progress bar; by default if the standard error is a terminal.

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
    study = plan(
        X,
        y,
        privileged,
        methods=methods,
        scoring=scoring,
        cv=cv,
        groups=groups,
        train_size=train_size,
        labelled=labelled,
        unlabelled=unlabelled,
        sample_weight=sample_weight,
        n_candidates=n_candidates,
        inner_cv=inner_cv,
        task=task,
        negligible=negligible,
        random_state=random_state,
    )
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
        study.pieces(),
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
    return Comparison(
        pd.DataFrame(lines).reindex(columns=list(FOLD_COLUMNS)),
        study.settings | {"seconds": seconds, "made": made},
        failures,
        [
            {"method": method, "message": message, "count": count}
            for (method, message), count in warnings.items()
        ],
        study,
    )
