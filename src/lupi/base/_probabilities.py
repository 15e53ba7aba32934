"""Predictions of classifiers from scores, and ``predict_proba`` where there are none.

Where a classifier has no probabilities the attribute is absent, as scikit-learn's tools
expect, but the message of the AttributeError names the remedy.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import MethodType
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin, is_classifier


class ScoreClassifier(ClassifierMixin):
    """Predictions of a classifier whose probabilities are the softmax of scores."""

    classes_: np.ndarray

    def _scores(self, X: Any) -> np.ndarray:
        """Return one column of scores per class; subclasses define it."""
        raise TypeError(f"{type(self).__name__} does not define _scores.")

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the log-odds of the predicted probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Decision features.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            One column per class when there are more than two classes.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return class probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Decision features.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return softmax(self._scores(X), axis=1)

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted labels.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Decision features.

        Returns
        -------
        ndarray of shape (n_samples,)
            One of ``classes_`` for every row.
        """
        best = self._scores(X).argmax(axis=1)
        return self.classes_[best]


def _refuse(self: Any) -> Any:
    name = type(self).__name__
    if not is_classifier(self) or not hasattr(self, "decision_function"):
        raise AttributeError(f"This {name!r} has no attribute 'predict_proba'")
    takes = inspect.signature(self.fit).parameters
    more = ", privileged=P" if "privileged" in takes else ""
    raise AttributeError(
        f"{name} has decision values and no probabilities. Calibrate them: "
        f"sklearn.calibration.CalibratedClassifierCV({name}(...)).fit(X, y{more})"
    )


no_probabilities = property(
    _refuse, doc="Absent: wrap the estimator in CalibratedClassifierCV."
)


class _ProbabilitiesIf:
    """A method that is absent, with the same message, if a condition fails."""

    def __init__(self, method: Callable[..., Any], check: Callable[[Any], bool]):
        self.method = method
        self.check = check
        self.__doc__ = method.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self.method
        if not self.check(instance):
            _refuse(instance)
        return MethodType(self.method, instance)


def probabilities_if(check: Callable[[Any], bool]) -> Callable[..., Any]:
    """Make ``predict_proba`` available if ``check(self)``.

    This is `sklearn.utils.metaestimators.available_if` with another error message.
    """
    return lambda method: _ProbabilitiesIf(method, check)
