"""`plan`: the arguments of a comparison, checked and laid out, before any work."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import column_or_1d

from lupi.base._index import aligned
from lupi.evaluation._methods import Task, choose_methods
from lupi.evaluation._prepare import as_table, column_names, rows_with_values
from lupi.evaluation._scoring import check_scorer, choose_scorer
from lupi.evaluation._splits import (
    check_inner_groups,
    deal_into_groups,
    describe,
    outer_splits,
)
from lupi.evaluation._study import Study
from lupi.evaluation._task import as_list, read_task


def plan(
    X: Any,
    y: Any,
    privileged: Any = None,
    *,
    methods: Any = "default",
    scoring: Any = None,
    cv: Any = None,
    groups: Any = None,
    train_size: int | float | None = None,
    sample_weight: Any = None,
    n_candidates: int = 12,
    inner_cv: int = 3,
    task: Task | None = None,
    negligible: float = 0.01,
    random_state: int = 0,
) -> Study:
    """Check the arguments of `compare` and return the study, without doing any work.

    The parameters are those of `compare`. Without ``privileged`` the study can only
    give the final estimator of a method without X*.
    """
    target = str(getattr(y, "name", None) or "y")
    X, y, methods = as_table(X, "X"), column_or_1d(y), as_list(methods)
    n_rows = X.shape[0]
    if privileged is not None:
        privileged = aligned(X, as_table(privileged, "privileged"))
    _check_lengths(
        n_rows, y=y, privileged=privileged, groups=groups, sample_weight=sample_weight
    )
    has_privileged = _rows_with_privileged(privileged, n_rows)
    task = task or read_task(y, methods)
    y = _check_target(y, task)
    strata = None if task == "regression" else y
    if sample_weight is not None:
        sample_weight = np.asarray(sample_weight, dtype=float)
    groups = None if groups is None else np.unique(groups, return_inverse=True)[1]
    splits = outer_splits(n_rows, strata, groups, cv, train_size, random_state)
    if groups is not None and n_candidates > 1:
        check_inner_groups(splits, groups)
    design = describe(splits)
    name, scorer = choose_scorer(scoring, task, y)
    # The best value of the score: 0 for a negated loss.
    optimum = 0.0 if getattr(scorer, "_sign", 1) < 0 else 1.0
    if not callable(scoring):
        check_scorer(name, scorer, task, y)
    settings = {
        "task": task,
        "scoring": name,
        "optimum": optimum,
        "target": target,
        "classes": None if strata is None else np.unique(y).tolist(),
        "n_rows": n_rows,
        "n_privileged_rows": int(has_privileged.sum()),
        "features": column_names(X, "x"),
        "privileged": [] if privileged is None else column_names(privileged, "x*"),
        "splits": {
            "kind": "small training sets" if design.small_training_sets else "folds",
            "n_splits": len(splits),
            "n_train": design.n_train,
            "n_test": design.n_test,
            "train_size": train_size,
            "grouped": groups is not None,
            "weighted": sample_weight is not None,
        },
        "search": {"n_candidates": n_candidates, "inner_cv": inner_cv},
        "negligible": negligible,
        "random_state": random_state,
    }
    return Study(
        X=X,
        y=y,
        privileged=privileged,
        has_privileged=has_privileged,
        task=task,
        methods=choose_methods(methods, task, design.n_train),
        splits=splits,
        scorer=scorer,
        groups=groups,
        sample_weight=sample_weight,
        group_of_row=deal_into_groups(n_rows, strata, groups, random_state),
        n_candidates=n_candidates,
        inner_cv=inner_cv,
        seed=random_state,
        settings=settings,
    )


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


def _rows_with_privileged(privileged: Any, n_rows: int) -> np.ndarray:
    if privileged is None:
        return np.zeros(n_rows, dtype=bool)
    there = rows_with_values(privileged)
    if not there.any():
        raise ValueError(
            "privileged has no value in any row, so there is nothing to compare; "
            "check that the privileged columns were read."
        )
    return there


def _check_target(y: np.ndarray, task: Task) -> np.ndarray:
    if pd.isna(y).any():
        raise ValueError(
            f"The target has {pd.isna(y).sum()} missing value(s); drop those rows."
        )
    if task == "regression":
        try:
            y = y.astype(float)
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"The target holds {y[0]!s}, which is no number; regression needs "
                "numbers."
            ) from error
    if len(np.unique(y)) < 2:
        raise ValueError(
            f"The target is constant ({y[0]!s}); there is nothing to learn."
        )
    return y
