"""`plan`: check the arguments of a comparison and return it as a `Study`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lupi.base import read_target
from lupi.base._index import aligned
from lupi.base._rows import read_groups
from lupi.evaluation._labels import Split, add_unlabelled, describe, few_labels
from lupi.evaluation._methods import Task, as_list, choose_methods
from lupi.evaluation._prepare import as_table, column_names, rows_with_values
from lupi.evaluation._scoring import best_score, check_scorer, choose_scorer
from lupi.evaluation._splits import (
    DEFAULT_SMALL_SPLITS,
    check_inner_groups,
    folds_of,
    groups_of_test_rows,
    outer_splits,
)
from lupi.evaluation._study import MOST_SEARCHED, Study
from lupi.evaluation._task import read_task


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
    labelled: int | None = None,
    unlabelled: int = 1000,
    sample_weight: Any = None,
    n_candidates: int = 12,
    inner_cv: int = 3,
    task: Task | None = None,
    negligible: float = 0.01,
    random_state: int = 0,
    most_searched: int = MOST_SEARCHED,
) -> Study:
    """Check the arguments of `compare` and return the study, without fitting anything.

    The parameters are those of `compare`, and ``most_searched``, the maximum number of
    training rows with y on which candidates are scored. Without ``privileged`` the
    study can only give the final estimator of a method without X*.
    """
    target_name = str(getattr(y, "name", None) or "y")
    X, methods = as_table(X, "X"), as_list(methods)
    n_rows = X.shape[0]
    if privileged is not None:
        privileged = aligned(X, as_table(privileged, "privileged"))
    _check_lengths(
        n_rows, y=y, privileged=privileged, groups=groups, sample_weight=sample_weight
    )
    has_privileged = _rows_with_privileged(privileged, n_rows)
    y, has_y, task = _read_target(y, n_rows, task, methods)
    strata = None if task == "regression" else y
    if sample_weight is not None:
        sample_weight = np.asarray(sample_weight, dtype=float)
    if groups is not None:
        groups = np.unique(read_groups(groups, n_rows), return_inverse=True)[1]
    if labelled is not None:
        _check_alone(labelled, unlabelled, train_size, cv)
        n_splits = DEFAULT_SMALL_SPLITS if cv is None else int(cv)
        splits = few_labels(
            strata, groups, has_y, labelled, unlabelled, n_splits, random_state
        )
    else:
        inside = outer_splits(
            int(has_y.sum()),
            None if strata is None else strata[has_y],
            None if groups is None else groups[has_y],
            cv,
            train_size,
            random_state,
        )
        splits = add_unlabelled(inside, has_y, groups)
    if len(splits) < 2:
        raise ValueError(
            f"cv gives {len(splits)} split, from which no standard error can be "
            "computed; give at least 2 splits."
        )
    if groups is not None and n_candidates > 1:
        check_inner_groups([split.train for split in splits], groups)
    design = describe(splits, few=labelled is not None)
    labels = _describe_labels(X, y, privileged, has_y, splits)
    name, scorer = choose_scorer(scoring, task, y[has_y])
    if not callable(scoring):
        check_scorer(name, scorer, task, y[has_y])
    chosen = choose_methods(methods, task, design.n_train)
    settings = {
        "task": task,
        "scoring": name,
        "optimum": best_score(scorer),
        "target": target_name,
        "classes": None if strata is None else np.unique(y).tolist(),
        "n_rows": n_rows,
        "labels": labels,
        "n_privileged_rows": int(has_privileged.sum()),
        "features": column_names(X, "x"),
        "privileged": [] if privileged is None else column_names(privileged, "x*"),
        "splits": {
            "kind": design.kind,
            "n_splits": len(splits),
            "n_folds": folds_of(cv, train_size, labelled),
            "n_train": design.n_train,
            "n_test": design.n_test,
            "train_size": train_size,
            "labelled": labelled,
            "grouped": groups is not None,
            "weighted": sample_weight is not None,
        },
        "search": {
            "n_candidates": n_candidates,
            "inner_cv": inner_cv,
            "n_rows": most_searched if design.n_train > most_searched else None,
            "has_parameters": n_candidates > 1
            and any(method.space or method.privileged_space for method in chosen),
        },
        "negligible": negligible,
        "random_state": random_state,
    }
    group_of_row = np.full(n_rows, -1)
    group_of_row[has_y] = groups_of_test_rows(
        int(has_y.sum()),
        None if strata is None else strata[has_y],
        None if groups is None else groups[has_y],
        random_state,
    )
    return Study(
        X=X,
        y=y,
        has_y=has_y,
        privileged=privileged,
        has_privileged=has_privileged,
        task=task,
        methods=chosen,
        splits=splits,
        scorer=scorer,
        groups=groups,
        sample_weight=sample_weight,
        group_of_row=group_of_row,
        n_candidates=n_candidates,
        inner_cv=inner_cv,
        seed=random_state,
        settings=settings,
        most_searched=most_searched,
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
            "privileged has no value in any row, so that there is nothing to compare; "
            "check that the privileged columns were read."
        )
    return there


def _read_target(
    y: Any, n_rows: int, task: Task | None, methods: list[Any]
) -> tuple[np.ndarray, np.ndarray, Task]:
    """Return y, which rows have one, and the task."""
    labels = read_target(y, n_rows, "compare", numeric=False, missing=True)
    has_y = np.ones(n_rows, dtype=bool)
    if labels.unlabelled is not None:
        has_y = ~labels.unlabelled
    values = labels.values
    task = task or read_task(values[has_y], methods)
    if task == "regression":
        try:
            values = values.astype(float)
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"The target contains {values[has_y][0]!s}, which is not a number; "
                "regression needs numbers."
            ) from error
        values[~has_y] = np.nan
    if len(np.unique(values[has_y])) < 2:
        raise ValueError(
            f"The target is constant ({values[has_y][0]!s}); give a target that varies."
        )
    return values, has_y, task


def _check_alone(labelled: Any, unlabelled: Any, train_size: Any, cv: Any) -> None:
    for name, value in (("labelled", labelled), ("unlabelled", unlabelled)):
        if not isinstance(value, int | np.integer) or value < 0:
            raise ValueError(
                f"{name}={value!r}: give a number of rows, as an integer that is not "
                "negative."
            )
    if train_size is not None:
        raise ValueError(
            f"labelled={labelled} and train_size={train_size} both draw training rows; "
            "give one of them."
        )
    if cv is not None and not isinstance(cv, int | np.integer):
        raise ValueError(
            f"labelled={labelled} draws its own splits; give cv as their number, or "
            "leave labelled out."
        )


def _describe_labels(
    X: Any,
    y: np.ndarray,
    privileged: Any,
    has_y: np.ndarray,
    splits: Sequence[Split],
) -> dict[str, Any]:
    """Count the rows with y, and measure how the rows without y differ."""
    count = int(has_y.sum())
    hidden = float(np.mean([len(split.unlabelled) for split in splits]))
    labels: dict[str, Any] = {
        "n_labelled": count,
        "n_unlabelled": len(has_y) - count,
        "n_train_unlabelled": hidden,
        "auc": np.nan,
    }
    if count < len(has_y):
        from lupi.transfer import label_propensity

        target = np.where(has_y, 0.0, np.nan)
        labels["auc"] = label_propensity(X, target, privileged=privileged).auc
    return labels
