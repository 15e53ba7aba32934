"""``fit`` with groups, default estimators, and checks of the user's estimators."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from lupi.base import PrivilegedEstimator, Training, atomic_fit
from lupi.base._metadata import fit_with, last_step
from lupi.base._rows import read_groups, take_rows


class GroupedEstimator(PrivilegedEstimator):
    """Base of models that choose weights out of fold, with groups in the folds."""

    @atomic_fit
    def fit(
        self,
        X: Any,
        y: Any,
        *,
        privileged: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> Self:
        """Fit all candidates and their weights.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Decision features.
        y : array-like of shape (n_samples,)
            Labels or targets; missing (NaN, None, NA) where the outcome is not known.
        privileged : {array-like, sparse matrix, data frame} of shape \
(n_samples, n_privileged), default=None
            X*; a row of NaN is a row without it. Through a ``Pipeline`` of scikit-learn
            the argument is called ``STEP__privileged``, with the name of the step,
            unless metadata routing is enabled.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group are kept together in every fold.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        self._fit_training(self._read(X, y, privileged, sample_weight, groups))
        return self

    def _read(
        self,
        X: Any,
        y: Any,
        privileged: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> Training:
        given = super()._read(X, y, privileged, sample_weight)
        if groups is None:
            return given
        return replace(given, extra={"groups": read_groups(groups, given.n_rows)})


def takes_nan(estimator: Any) -> bool:
    """Return whether an estimator, or a step in it, accepts missing values."""
    if isinstance(estimator, Pipeline):
        return any(takes_nan(step) for _, step in estimator.steps)
    if isinstance(estimator, ColumnTransformer | FeatureUnion):
        return True
    if not hasattr(estimator, "fit"):  # None, "passthrough"
        return False
    inner = getattr(estimator, "estimator", None)
    tags = get_tags(estimator)
    return tags.input_tags.allow_nan or tags.no_validation or takes_nan(inner)


def with_inner_tags(tags: Any, *inner: Any, nan: bool = True) -> Any:
    """Set which tables are read, by the estimators inside; those None read all."""
    own = [get_tags(one).input_tags for one in inner if one is not None]
    tags.input_tags.sparse = all(one.sparse for one in own)
    tags.input_tags.allow_nan = nan and all(one.allow_nan for one in own)
    return tags


def refuse_regressor(estimator: Any, parameter: str, owner: Any) -> None:
    """Raise an error for a regressor where a classifier is needed."""
    if is_regressor(estimator):
        raise ValueError(
            f"{type(owner).__name__} predicts classes, but {parameter}={estimator!r} "
            "is a regressor. Give a classifier."
        )


def scaled(estimator: Any, *, sparse: bool) -> Any:
    """Return the estimator behind a standardization of its features."""
    # Centering would make a sparse matrix dense; the intercept has the same effect.
    return make_pipeline(StandardScaler(with_mean=not sparse), estimator)


def precise_ridge() -> Ridge:
    """Return the default regressor.

    Its solver for sparse features is iterative; at the default tolerance, a row of
    weight 2 and the row given twice would differ in the fifth digit.
    """
    return Ridge(tol=1e-10)


def precise_logistic(n_coefficients: int) -> LogisticRegression:
    """Return the default teacher for classification."""
    # Newton's method is exact, but its cost grows with the square of the number of
    # coefficients.
    return LogisticRegression(
        solver="newton-cholesky" if n_coefficients <= 300 else "lbfgs",
        tol=1e-8,
        max_iter=10_000,
    )


def fit_weighted_copies(
    classifier: Any, X: Any, classes: np.ndarray, share: np.ndarray
) -> Any:
    """Fit a classifier to rows given once per class, with `share` as weights."""
    row, label = np.nonzero(share)
    weight, classes = share[row, label], accepted_classes(classifier, classes)
    return fit_with(classifier, take_rows(X, row), classes[label], sample_weight=weight)


def accepted_classes(classifier: Any, classes: np.ndarray) -> np.ndarray:
    """Return the classes in the form that `fit` takes: XGBoost takes only 0, 1, ..."""
    if type(last_step(classifier)).__module__.startswith("xgboost."):
        return np.arange(len(classes))
    return classes


def for_outputs(estimator: Any, target: np.ndarray) -> Any:
    """Return a regressor that can learn a target of this shape."""
    if target.ndim == 1 or get_tags(estimator).target_tags.multi_output:
        return estimator
    return MultiOutputRegressor(estimator)
