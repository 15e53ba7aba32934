"""Reading of a fitted machine and its rows, with checks of what can be drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from lupi._models import load_models
from lupi._words import listed
from lupi.base._rows import dense


def check_drawable(estimator: Any, name: str, *, with_privileged: bool) -> None:
    """Raise an error for estimators without two classes or without a function on X*."""
    if with_privileged and not hasattr(estimator, "correction"):
        raise ValueError(
            f"SpacesDisplay draws the function of X* of a fitted machine, and {name} "
            f"has none. Use {listed(_drawable(), 'or')}, or leave privileged out to "
            "draw the decision space only."
        )
    if len(getattr(estimator, "classes_", ())) != 2:
        raise ValueError(
            "SpacesDisplay draws one boundary and needs a classifier of two "
            f"classes; this {name} was fitted on "
            f"{len(getattr(estimator, 'classes_', ()))}. Fit it on two of them."
        )
    for parameter, value in estimator.get_params(deep=False).items():
        if parameter.endswith("kernel") and value == "precomputed":
            raise ValueError(
                f"SpacesDisplay evaluates functions at points that are not training "
                f"rows, which {parameter}='precomputed' does not allow. Fit {name} on "
                "the features with a kernel given by name or as a function."
            )


def _drawable() -> list[str]:
    """Return the names of the classifiers that have a function on X* to draw."""
    return [
        kind.__name__
        for kind in load_models()
        if hasattr(kind, "correction")
        and issubclass(kind, ClassifierMixin)
        and kind.__lupi_info__.functions  # type: ignore[attr-defined]
    ]


def check_training_rows(estimator: Any, table: np.ndarray, name: str) -> None:
    """Raise an error for rows that do not contain the support vectors."""
    support = getattr(estimator, "support_", None)
    if support is None:
        return
    vectors = dense(estimator.support_vectors_)
    outside = len(support) > 0 and support.max() >= len(table)
    if outside or not np.allclose(table[support].astype(float), vectors):
        raise ValueError(
            f"X does not have the support vectors of this {name} at the positions "
            "support_. Give the rows that it was fitted on, in the same order."
        )


def read_sensitive_space(
    estimator: Any, privileged: Any
) -> tuple[Any, list[str]] | None:
    """Return sensitive features as encoded by the fair model, if these are its X*."""
    encoding = getattr(estimator, "_encoding", None)
    if encoding is None:
        return None
    return encoding.encode(privileged), encoding.names


def what_is_drawn(estimator: Any, function: int, name: str) -> str:
    """Return the kind of a function on X*: ``functions`` of `lupi.base.ModelInfo`."""
    info = getattr(type(estimator), "__lupi_info__", None)
    kinds = info.functions if info is not None else ()
    kinds = kinds or ("slack",)
    if function not in range(len(kinds)):
        raise ValueError(
            f"function={function!r}: this {name} has {len(kinds)} function(s) on X*; "
            f"choose from {list(range(len(kinds)))}."
        )
    return kinds[function]


def one_function(values: np.ndarray, function: int) -> np.ndarray:
    """Return the column of one function."""
    return values.reshape(len(values), -1)[:, function]


def column_names(rows: Any, letter: str) -> list[str]:
    """Return the names of the columns; an array has the letter and numbers."""
    if hasattr(rows, "columns"):
        return [str(column) for column in rows.columns]
    return [f"{letter}{j}" for j in range(dense(rows).shape[1])]


def like(X: Any, rows: np.ndarray) -> Any:
    """Return rows as a data frame if X is one, so that its names can be checked."""
    if hasattr(X, "columns"):
        return type(X)(rows, columns=X.columns)
    return rows
