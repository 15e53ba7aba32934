"""What the composed models ask of estimators of the user's choice, and their own."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags


def takes_nan(estimator: Any) -> bool:
    """Tell whether missing values can be left to an estimator, or to a step in it."""
    if isinstance(estimator, Pipeline):
        return any(takes_nan(step) for _, step in estimator.steps)
    if isinstance(estimator, ColumnTransformer | FeatureUnion):
        return True
    if not hasattr(estimator, "fit"):  # None, "passthrough"
        return False
    inner = getattr(estimator, "estimator", None)
    tags = get_tags(estimator)
    return tags.input_tags.allow_nan or tags.no_validation or takes_nan(inner)


def refuse_regressor(estimator: Any, parameter: str, owner: Any) -> None:
    """Refuse a regressor where classes are predicted, in a sentence."""
    if is_regressor(estimator):
        raise ValueError(
            f"{type(owner).__name__} predicts classes, but {parameter}={estimator!r} "
            "is a regressor. Give a classifier."
        )


def scaled(estimator: Any, *, sparse: bool) -> Any:
    """Return the estimator behind a standardization of its features."""
    # Centring would fill a sparse matrix; the intercept does that work anyway.
    return make_pipeline(StandardScaler(with_mean=not sparse), estimator)


def precise_ridge() -> Ridge:
    """Return the default regressor.

    Its solver for sparse features is iterative; at the default tolerance it would
    tell a row of weight 2 from the row twice in the fifth digit.
    """
    return Ridge(tol=1e-10)


def precise_logistic(n_coefficients: int) -> LogisticRegression:
    """Return the default teacher of classes."""
    # Newton's method is exact, at a price that grows with the square of the number
    # of coefficients.
    return LogisticRegression(
        solver="newton-cholesky" if n_coefficients <= 300 else "lbfgs",
        tol=1e-8,
        max_iter=10_000,
    )


def for_outputs(estimator: Any, target: np.ndarray) -> Any:
    """Return a regressor that can learn a target of this shape."""
    if target.ndim == 1 or get_tags(estimator).target_tags.multi_output:
        return estimator
    return MultiOutputRegressor(estimator)
