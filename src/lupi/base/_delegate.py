"""Predictions and certificates of an estimator inside another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from lupi.base._metadata import last_step
from lupi.base._probabilities import probabilities_if
from lupi.base._tags import PrivilegedTags, uses_unlabelled


def stage_has(name: str) -> Callable[[Any], bool]:
    """Return a condition for `available_if`: whether the stage has an attribute."""

    def check(self: Delegate) -> bool:
        getattr(self._stage(), name)  # its error is more informative than False
        return True

    return check


def _of_stage(name: str, doc: str) -> property:
    """Return a property that forwards a certificate of the stage, if it has one."""

    def find(self: Delegate) -> Any:
        stage = last_step(self._stage())
        while not hasattr(stage, name):
            # A search or another wrapper keeps the fitted model in an attribute.
            inner = getattr(
                stage, "best_estimator_", getattr(stage, "estimator_", None)
            )
            if inner is None:
                break
            stage = last_step(inner)
        return getattr(stage, name)

    return property(find, doc=doc)


class Delegate:
    """Mixin of estimators whose predictions are those of another estimator, the stage.

    The subclass defines the stage (`_stage`: the fitted one after ``fit``) and its
    features (`_stage_features`). It has the prediction methods that the stage has.
    """

    def _stage(self) -> Any:
        """Return the stage."""
        return getattr(self, "estimator_", self.estimator)  # type: ignore[attr-defined]

    def _stage_features(self, X: Any) -> Any:
        """Return the features that the stage receives for rows of X."""
        raise TypeError(f"{type(self).__name__} does not define _stage_features.")

    @available_if(stage_has("predict"))
    def predict(self, X: Any) -> np.ndarray:
        """Predict labels or targets.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Decision features, with all columns as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            One label or target for every row.
        """
        features = self._stage_features(X)
        return self._stage().predict(features)

    @available_if(stage_has("decision_function"))
    def decision_function(self, X: Any) -> np.ndarray:
        """Return decision values.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Decision features, with all columns as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            One column per class when there are more than two classes.
        """
        features = self._stage_features(X)
        return self._stage().decision_function(features)

    @probabilities_if(lambda self: hasattr(self._stage(), "predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return class probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Decision features, with all columns as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        features = self._stage_features(X)
        return self._stage().predict_proba(features)

    @available_if(stage_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of the class probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Decision features, with all columns as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        features = self._stage_features(X)
        return self._stage().predict_log_proba(features)

    objective_ = _of_stage("objective_", "Primal value of the last stage.")
    duality_gap_ = _of_stage("duality_gap_", "Duality gap of the last stage.")
    n_iter_ = _of_stage("n_iter_", "Iterations of the last stage.")
    converged_ = _of_stage("converged_", "Whether the last stage converged.")


class Wrapper(Delegate):
    """A delegate around one classifier or regressor; it has the tags of that one."""

    @property
    def classes_(self) -> np.ndarray:
        """The class labels; only if the estimator is a classifier."""
        return self._stage().classes_

    @available_if(stage_has("score"))
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score of the fitted estimator, by default accuracy or R².

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Decision features.
        y : array-like of shape (n_samples,)
            True labels or targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        float
            The score.
        """
        features = self._stage_features(X)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self._stage().score(features, y, **weights)

    def __lupi_tags__(self) -> PrivilegedTags:
        return PrivilegedTags(uses_unlabelled=uses_unlabelled(self._stage()))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        inner = get_tags(self.estimator)  # type: ignore[attr-defined]
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        tags.target_tags = inner.target_tags
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.non_deterministic = inner.non_deterministic
        return tags
