"""Checks of the parameters and data of both estimators, and their binary problems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.preprocessing import StandardScaler
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from lupi.advice._problem import Region
from lupi.advice._rule import Rule
from lupi.base._estimator import refuse_huge
from lupi.base._rows import n_rows_of


def read_rows(
    estimator: BaseEstimator, X: Any, y: Any, *, reset: bool, without_rows: bool
) -> tuple[Any, NDArray[Any]]:
    """Check X and y; with `without_rows`, accept tables that have no rows."""
    options: dict[str, Any] = {
        "accept_sparse": "csr",
        "dtype": np.float64,
        "reset": reset,
    }
    if without_rows and n_rows_of(X) == 0:
        y = np.empty(0) if y is None else np.asarray(y)
        if len(y):
            raise ValueError(f"X has no rows, but y has {len(y)} labels.")
        return validate_data(estimator, X, ensure_min_samples=0, **options), y
    X, y = validate_data(estimator, X, y, **options)
    refuse_huge(X, "X", estimator)
    if reset:
        check_classification_targets(y)
    return X, y


def read_classes(
    y: NDArray[Any], classes: ArrayLike | None, rules: Sequence[Rule], name: str
) -> NDArray[Any]:
    """Return the labels of y and of `classes`; without both, those of the rules."""
    if classes is not None:
        found = np.union1d(y, classes) if len(y) else np.unique(np.asarray(classes))
    elif len(y):
        found = np.unique(y)
    else:
        found = np.unique(np.array([rule.label for rule in rules]))
    if len(found) < 2:
        raise ValueError(
            f"{name} needs at least two classes, but there is {len(found)} class: "
            f"{found.tolist()}. Add rows of another class, or give the labels with "
            "classes=[...]."
        )
    return found


def read_weights(advice_weight: Any, rules: Sequence[Rule]) -> NDArray[np.float64]:
    """Return one weight per rule, ∞ for a hard one."""
    try:
        weights = np.asarray(advice_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "advice_weight must be one number or one number per rule "
            f"({len(rules)}), but {advice_weight!r} was given."
        ) from error
    if weights.ndim > 1 or (weights.ndim == 1 and len(weights) != len(rules)):
        raise ValueError(
            f"advice_weight must be one number or one number per rule ({len(rules)}), "
            f"but has shape {weights.shape}. A rule with 'or' counts once for each "
            "alternative."
        )
    weights = np.broadcast_to(weights, len(rules))
    if not np.all(weights >= 0):
        raise ValueError(
            "advice_weight must not be negative (np.inf makes a rule hard), but "
            f"{advice_weight!r} was given."
        )
    return weights


def binary_regions(
    rules: Sequence[Rule],
    weights: NDArray[np.float64],
    classes: NDArray[Any],
    feature_names: Sequence[str] | None,
    n_features: int,
) -> list[list[Region]]:
    """Return the regions of the rules with their signs in each binary problem.

    Two classes give one problem, whose positive class is the second. With more classes,
    problem k is class k against the rest: the sign of a rule for class c is +1 in
    problem c and -1 in all others.
    """
    codes = [_code(rule, classes) for rule in rules]
    positives = [1] if len(classes) == 2 else range(len(classes))
    shapes = [rule.region(feature_names, n_features) for rule in rules]
    return [
        [
            Region.of(D, d, 1.0 if code == positive else -1.0, float(weight))
            for (D, d), code, weight in zip(shapes, codes, weights, strict=True)
        ]
        for positive in positives
    ]


def _code(rule: Rule, classes: NDArray[Any]) -> int:
    labels = classes.tolist()
    if rule.label in labels:
        return labels.index(rule.label)
    raise ValueError(
        f"The rule {str(rule)!r} concludes {rule.label!r}, but the classes are "
        f"{labels}. Correct the label (put a string such as '1' in quotes), or give it "
        "with classes=[...]."
    )


def scaling(
    X: Any,
    standardize: bool | tuple[ArrayLike, ArrayLike],
    sample_weight: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and deviation; 0 and 1 if columns are not standardized.

    The mean is 0 for a sparse matrix, which centering would make dense.
    """
    n_features = X.shape[1]
    if not isinstance(standardize, bool | np.bool_):
        return _given_scaling(standardize, n_features, sparse=sp.issparse(X))
    if not standardize:
        return np.zeros(n_features), np.ones(n_features)
    if X.shape[0] < 2:
        raise ValueError(
            f"standardize=True computes mean and deviation from the rows and needs at "
            f"least two, but there is {X.shape[0]}. Give more rows (in partial_fit, a "
            "larger first batch), or standardize=(mean, deviation)."
        )
    sparse = sp.issparse(X)
    scaler = StandardScaler(with_mean=not sparse).fit(X, sample_weight=sample_weight)
    mean = np.zeros(n_features) if sparse else scaler.mean_
    return mean, scaler.scale_


def _given_scaling(
    pair: Any, n_features: int, sparse: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    try:
        parts = [np.asarray(part, dtype=np.float64) for part in pair]
    except (TypeError, ValueError):
        parts = []
    if len(parts) != 2 or any(part.shape not in ((), (n_features,)) for part in parts):
        raise ValueError(
            f"standardize must be True, False or a pair (mean, deviation) of "
            f"{n_features} numbers each, but {pair!r} was given."
        )
    mean, scale = (np.broadcast_to(part, n_features).copy() for part in parts)
    if not (np.isfinite(mean).all() and np.all((scale > 0) & np.isfinite(scale))):
        raise ValueError(
            "standardize must have finite means and positive deviations, but "
            f"{pair!r} was given."
        )
    return np.zeros(n_features) if sparse else mean, scale


def apply_scaling(X: Any, mean: NDArray[np.float64], scale: NDArray[np.float64]) -> Any:
    """Return (X - mean) / scale; X itself if mean is 0 and scale is 1."""
    if not mean.any() and np.all(scale == 1):
        return X
    return (X - mean) / scale if isinstance(X, np.ndarray) else X.multiply(1 / scale)
