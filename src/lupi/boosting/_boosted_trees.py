"""Predictions, staged predictions and importances of boosted trees.

The attribute ``_models`` is a list of `Boosted`: one for a regressor and for two
classes, otherwise one per class.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from lupi._parameters import (
    CLASS_WEIGHT,
    COUNT,
    COUNT_OR_SHARE,
    POSITIVE,
    SEED,
    Constraints,
    Number,
    choice,
)
from lupi.base import PrivilegedEstimator
from lupi.boosting._ensembles import normalized, readable_by_trees


class BoostedTrees(PrivilegedEstimator):
    """Base of estimators that predict by sums of trees on X."""

    _parameter_constraints: ClassVar[Constraints] = {
        "n_estimators": COUNT,
        "learning_rate": POSITIVE,
        "max_depth": [*COUNT, None],
        "max_features": [*choice("sqrt", "log2"), *COUNT_OR_SHARE],
        "min_weight_fraction_leaf": [Number(Real, 0, 0.5, "both")],
        "class_weight": CLASS_WEIGHT,
        "random_state": SEED,
    }

    def _read_X(self, X: Any) -> Any:
        return readable_by_trees(self._validate_X(X))

    def _raw(self, X: Any) -> np.ndarray:
        """Return G of every model, one column each."""
        X = self._read_X(X)
        return np.column_stack([model.decision(X) for model in self._models])

    def _staged_raw(self, X: Any) -> Iterator[np.ndarray]:
        """Yield G after each round; a model that stopped early keeps its last value."""
        X = self._read_X(X)
        stages = [model.ensemble.staged(X) for model in self._models]
        last = np.zeros((X.shape[0], len(stages)))
        for _ in range(max(len(model.ensemble) for model in self._models)):
            last = np.column_stack([next(s, last[:, k]) for k, s in enumerate(stages)])
            yield last

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each feature of X in the improvement of the trees, summing to 1."""
        check_is_fitted(self)
        each = [m.ensemble.importances(self.n_features_in_) for m in self._models]
        return normalized(np.mean(each, axis=0))


class BoostedTreesClassifier(ClassifierMixin, BoostedTrees):
    """Classifier by sums of trees; more than two classes are fitted one-vs-rest."""

    def _loss(self) -> Any:
        """Return the loss: see `lupi.boosting._losses`."""
        raise TypeError(f"{type(self).__name__} does not define _loss.")

    def decision_function(self, X: Any) -> np.ndarray:
        """Return G(x), the sum of the shrunken trees.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Decision features.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes, a positive value means the second of ``classes_``. With
            more classes, the largest column is predicted.
        """
        return self._shaped(self._raw(X))

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Yield `decision_function` after each round.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Decision features.

        Yields
        ------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Decision values of the model of the first 1, 2, … rounds.
        """
        for raw in self._staged_raw(X):
            yield self._shaped(raw)

    def predict(self, X: Any) -> np.ndarray:
        """Predict class labels; privileged features are not needed.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Decision features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels as they were in ``fit``.
        """
        return self._labels(self._raw(X))

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Yield `predict` after each round.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Decision features.

        Yields
        ------
        ndarray of shape (n_samples,)
            Labels predicted by the model of the first 1, 2, … rounds.
        """
        for raw in self._staged_raw(X):
            yield self._labels(raw)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return estimates of the class probabilities.

        With squared error, (1 + G_k)/2 estimates P(class k | x), since the mean of a
        label ±1 is 2P − 1; each row is projected onto the probability simplex (with two
        classes: clipped to [0, 1]). With log loss, they are the logistic function of
        G_k, divided by the sum over the classes. X* changes the targets of the trees,
        so that the probabilities need calibration.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Decision features.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows sum to one; columns are in the order of ``classes_``.
        """
        return self._probabilities(self._raw(X))

    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """Yield `predict_proba` after each round.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Decision features.

        Yields
        ------
        ndarray of shape (n_samples, n_classes)
            Probabilities by the model of the first 1, 2, … rounds.
        """
        for raw in self._staged_raw(X):
            yield self._probabilities(raw)

    def _shaped(self, raw: np.ndarray) -> np.ndarray:
        return raw[:, 0] if len(self.classes_) == 2 else raw

    def _labels(self, raw: np.ndarray) -> np.ndarray:
        two = len(self.classes_) == 2
        return self.classes_[(raw[:, 0] > 0).astype(int) if two else raw.argmax(axis=1)]

    def _probabilities(self, raw: np.ndarray) -> np.ndarray:
        if len(self.classes_) == 2:
            raw = np.hstack([-raw, raw])
        return self._loss().probabilities(raw)
