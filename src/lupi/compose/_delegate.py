"""What a wrapper around one estimator leaves to that estimator."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lupi.base._info import Declared


def _inner_has(method: str) -> Callable[[Any], bool]:
    def check(self: Any) -> bool:
        getattr(getattr(self, "estimator_", self.estimator), method)
        return True

    return check


class Delegate(Declared, BaseEstimator):
    """Predicts with ``estimator_``, on the decision features that `_decision_X` gives.

    Classifier or regressor, and able to do what the wrapped estimator can: no more and
    no less.
    """

    estimator: Any

    def _decision_X(self, X: Any) -> Any:
        """What the wrapped estimator sees of X when predicting."""
        return X

    @property
    def classes_(self) -> np.ndarray:
        """The class labels; only of a classifier."""
        return self.estimator_.classes_

    @available_if(_inner_has("predict"))
    def predict(self, X: Any) -> np.ndarray:
        """Predict with the fitted estimator.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Decision features.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels or targets.
        """
        check_is_fitted(self)
        return self.estimator_.predict(self._decision_X(X))

    @available_if(_inner_has("decision_function"))
    def decision_function(self, X: Any) -> np.ndarray:
        """Decision values of the fitted estimator.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Decision features.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            Decision values.
        """
        check_is_fitted(self)
        return self.estimator_.decision_function(self._decision_X(X))

    @available_if(_inner_has("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities of the fitted estimator.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Decision features.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities in the order of ``classes_``.
        """
        check_is_fitted(self)
        return self.estimator_.predict_proba(self._decision_X(X))

    @available_if(_inner_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the class probabilities of the fitted estimator.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Decision features.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Log-probabilities in the order of ``classes_``.
        """
        check_is_fitted(self)
        return self.estimator_.predict_log_proba(self._decision_X(X))

    @available_if(_inner_has("score"))
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score of the fitted estimator: accuracy or R², unless it says otherwise.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Decision features.
        y : array-like of shape (n_rows,)
            True labels or targets.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows.

        Returns
        -------
        float
            The score.
        """
        check_is_fitted(self)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self.estimator_.score(self._decision_X(X), y, **weights)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        tags.target_tags = inner.target_tags
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.non_deterministic = inner.non_deterministic
        return tags


def fit_arguments(estimator: Any, **values: Any) -> dict[str, Any]:
    """Name arguments as ``estimator.fit`` wants them; None means not given.

    Without metadata routing a pipeline takes the arguments of its last step under the
    name ``step__argument``; searches and calibrators pass theirs on as they are.
    """
    prefix = "" if get_config()["enable_metadata_routing"] else _prefix(estimator)
    return {prefix + name: value for name, value in values.items() if value is not None}


def _prefix(estimator: Any) -> str:
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return f"{name}__{_prefix(last)}"
    named = inspect.signature(estimator.fit).parameters
    if "privileged" not in named and hasattr(estimator, "estimator"):
        return _prefix(estimator.estimator)
    return ""
