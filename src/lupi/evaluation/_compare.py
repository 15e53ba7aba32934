"""`compare`: whether privileged information helps on the data at hand."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils import column_or_1d

from lupi.evaluation._comparison import FOLD_COLUMNS, Comparison
from lupi.evaluation._methods import Method, Task, choose_methods
from lupi.evaluation._prepare import as_table, column_names, rows_with_values
from lupi.evaluation._running import fingerprint, run_all
from lupi.evaluation._scoring import SteadyScorer, check_scorer, choose_scorer
from lupi.evaluation._splits import (
    check_inner_groups,
    deal_into_groups,
    describe,
    outer_splits,
)
from lupi.evaluation._study import Piece, Study
from lupi.evaluation._verdict import ROWS

MOST_CLASSES = 20


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
    sample_weight: Any = None,
    search: int = 12,
    inner_folds: int = 3,
    task: Task | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
    progress: bool | None = None,
) -> Comparison:
    """Measure whether privileged information helps, with the controls it takes.

    Every method is run in four rows, on the same splits, with the same number of
    hyper-parameter trials, chosen on inner folds of the training rows: *without*
    X*, *with* X*, with X* *shuffled* among the training rows, and an *oracle* that
    sees X* when predicting too. "Helps" means to beat *without* and *shuffled*
    both.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        What is known when predicting. Text, categories, dates and missing values
        are welcome in a data frame.
    y : array-like of shape (n_samples,)
        The target.
    privileged : array-like, sparse matrix or data frame of n_samples rows
        X*: what is known for training rows only. A row without any value is a row
        that has no X*.
    methods : "default", "all", name, estimator, Method, or a list of these
        "default" is a fast and sensible set: distillation, SVM+ and SVMΔ+, the
        latter two in their linear forms beyond 400 training rows. "all" is every
        suitable estimator of the library. An estimator is compared with the
        parameters it has; to search some, give a :class:`Method` with a ``space``.
    scoring : str or callable, optional
        Any scorer of scikit-learn. By default ``"roc_auc"`` for two classes,
        ``"accuracy"`` for more, ``"r2"`` for regression.
    cv : int, splitter or iterable of (train, test), optional
        Number of folds (5 by default; each set of folds is dealt twice), or the
        splits themselves. With ``train_size``, the number of splits (20).
    groups : array-like of shape (n_samples,), optional
        Rows of one group never train and test in the same split.
    train_size : int or float, optional
        Study small training sets: this many rows (or this share) train, the rest
        test, in repeated splits whose training sets do not overlap as long as the
        rows suffice. That is where privileged information can help most.
    sample_weight : array-like of shape (n_samples,), optional
        Weights for fitting and for scoring.
    search : int, default=12
        Number of candidates in every row; 1 takes each estimator's own parameters.
    inner_folds : int, default=3
        Folds of the training rows on which candidates are scored.
    task : {"classification", "regression"}, optional
        Read off the target by default: text, booleans and up to 20 different
        integers are classes.
    checkpoint : path-like, optional
        File that keeps finished pieces of work. A run that was interrupted goes on
        from there and gives the same result.
    n_jobs : int, optional
        Number of parallel jobs of joblib; ``joblib.parallel_config`` is obeyed, so
        that ``backend="dask"`` spreads the work over a cluster.
    random_state : int, default=0
        Seed of splits, candidates, shuffling and models.
    progress : bool, optional
        Show a bar with the time left. By default when the standard error is a
        terminal.

    Returns
    -------
    comparison : Comparison
        Scores, tests and a verdict in plain words.

    Examples
    --------
    >>> from lupi.datasets import make_mediator
    >>> from lupi.evaluation import compare
    >>> data = make_mediator(300, random_state=0)
    >>> result = compare(
    ...     data.data, data.target, data.privileged,
    ...     methods="generalized-distillation-classifier",
    ...     train_size=30, cv=5, search=4,
    ... )
    >>> list(result.table["row"])
    ['without', 'with', 'shuffled', 'oracle']
    """
    start = time.perf_counter()
    study, settings = plan(
        X,
        y,
        privileged,
        methods=methods,
        scoring=scoring,
        cv=cv,
        groups=groups,
        train_size=train_size,
        sample_weight=sample_weight,
        search=search,
        inner_folds=inner_folds,
        task=task,
        random_state=random_state,
    )
    results = run_all(
        partial(_run_piece, study),
        study.pieces(),
        identity=identify(study, settings),
        checkpoint=checkpoint,
        n_jobs=n_jobs,
        progress=progress,
        title="Comparing",
    )
    settings["seconds"] = time.perf_counter() - start
    return assemble(study, settings, results)


def plan(
    X: Any,
    y: Any,
    privileged: Any,
    *,
    methods: Any = "default",
    scoring: Any = None,
    cv: Any = None,
    groups: Any = None,
    train_size: int | float | None = None,
    sample_weight: Any = None,
    search: int = 12,
    inner_folds: int = 3,
    task: Task | None = None,
    random_state: int = 0,
) -> tuple[Study, dict[str, Any]]:
    """Check the arguments of `compare` and lay out the work, without doing any."""
    target_name = str(getattr(y, "name", None) or "y")
    X, privileged = as_table(X, "X"), as_table(privileged, "privileged")
    y = column_or_1d(y)
    if not isinstance(methods, str | Method | BaseEstimator | type):
        methods = list(methods)
    n_rows = X.shape[0]
    _check_lengths(n_rows, y=y, privileged=privileged, groups=groups)
    if pd.isna(y).any():
        raise ValueError(
            f"The target has {pd.isna(y).sum()} missing value(s); drop those rows."
        )
    has_privileged = rows_with_values(privileged)
    if not has_privileged.any():
        raise ValueError(
            "privileged has no value in any row, so there is nothing to compare; "
            "check that the privileged columns were read."
        )
    task = task or read_task(y, methods)
    if task == "regression":
        y = y.astype(float)
    strata = None if task == "regression" else y
    if len(np.unique(y)) < 2:
        raise ValueError(
            f"The target is constant ({y[0]!s}); there is nothing to learn."
        )
    if sample_weight is not None:
        _check_lengths(n_rows, sample_weight=sample_weight)
        sample_weight = np.asarray(sample_weight, dtype=float)
    groups = None if groups is None else np.unique(groups, return_inverse=True)[1]
    splits = outer_splits(n_rows, strata, groups, cv, train_size, random_state)
    if groups is not None and search > 1:
        check_inner_groups(splits, groups)
    design = describe(splits)
    name, scorer = choose_scorer(scoring, task, y)
    if not callable(scoring):
        check_scorer(name, scorer, task, y)
    optimum = 0.0 if getattr(scorer, "_sign", 1) < 0 else 1.0
    if not callable(scoring) and task == "classification":
        scorer = SteadyScorer(scorer)
    study = Study(
        X=X,
        y=y,
        privileged=privileged,
        has_privileged=has_privileged,
        methods=choose_methods(methods, task, design.n_train),
        splits=splits,
        scorer=scorer,
        strata=strata,
        groups=groups,
        sample_weight=sample_weight,
        group_of_row=(
            deal_into_groups(n_rows, strata, groups, random_state)
            if design.small_training_sets
            else None
        ),
        n_candidates=search,
        inner_folds=inner_folds,
        seed=random_state,
    )
    settings = {
        "task": task,
        "scoring": name,
        "optimum": optimum,
        "target": target_name,
        "classes": None if strata is None else np.unique(y).tolist(),
        "n_rows": n_rows,
        "n_privileged_rows": int(has_privileged.sum()),
        "features": column_names(X, "x"),
        "privileged": column_names(privileged, "x*"),
        "splits": {
            "kind": ("small training sets" if design.small_training_sets else "folds"),
            "n_splits": len(splits),
            "n_train": design.n_train,
            "n_test": design.n_test,
            "train_overlap": design.train_overlap,
            "train_size": train_size,
            "grouped": groups is not None,
            "weighted": sample_weight is not None,
        },
        "search": {"n_candidates": search, "inner_folds": inner_folds},
        "random_state": random_state,
    }
    return study, settings


def _check_lengths(n_rows: int, **columns: Any) -> None:
    for name, values in columns.items():
        if values is None:
            continue
        length = values.shape[0] if hasattr(values, "shape") else len(values)
        if length != n_rows:
            raise ValueError(
                f"{name} has {length} rows and X has {n_rows}; they must describe the "
                "same samples, in the same order."
            )


def read_task(y: np.ndarray, methods: Any) -> Task:
    """Tell classes from numbers: by the methods when they say, else by the target."""
    if not isinstance(methods, str):
        given = methods if isinstance(methods, list) else [methods]
        tasks = {each.task for each in given if isinstance(each, Method)}
        if len(tasks) == 1:
            return tasks.pop()
    if y.dtype.kind not in "fiu":
        return "classification"
    whole = np.array_equal(y, np.round(y))
    many = len(np.unique(y)) > MOST_CLASSES
    return "regression" if many or not whole else "classification"


def identify(study: Study, settings: dict[str, Any]) -> str:
    """Return a fingerprint of all that the results depend on."""
    from lupi import __version__

    rows = np.concatenate([np.r_[train, -1, test, -2] for train, test in study.splits])
    methods = [
        (
            method.name,
            str(sorted(method.build().get_params(deep=True).items(), key=str)),
        )
        for method in study.methods
    ]
    candidates = [
        [study.candidates(method, row) for row in ROWS] for method in study.methods
    ]
    return fingerprint(
        [
            __version__,
            study.X,
            study.y,
            study.privileged,
            study.sample_weight,
            study.groups,
            rows,
            methods,
            candidates,
            settings["scoring"],
            study.inner_folds,
            study.seed,
        ]
    )


def _run_piece(study: Study, piece: Piece) -> dict[str, Any]:
    return study.run(piece)


def assemble(
    study: Study, settings: dict[str, Any], results: dict[str, dict[str, Any]]
) -> Comparison:
    """Put finished pieces together, each method beside its family's rows."""
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
            found = {line["row"]: line for part in parts for line in part["lines"]}
            for row in ROWS:
                lines.append(
                    {"row": row, "split": split, "score": np.nan, "seconds": 0.0}
                    | {"params": {}}
                    | found.get(row, {})
                    | {"method": method.name}
                )
    folds = pd.DataFrame(lines).reindex(columns=list(FOLD_COLUMNS))
    return Comparison(
        folds,
        settings,
        failures,
        [
            {"method": method, "message": message, "count": count}
            for (method, message), count in warnings.items()
        ],
        study,
    )
