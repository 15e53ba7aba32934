"""What a composed classifier leaves to its last stage: predictions and certificates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from lupi.transfer._fitting import last_step


def _stage_has(name: str) -> Any:
    def check(self: LastStage) -> bool:
        return hasattr(self._stage(), name)

    return check


def _of_stage(name: str, words: str) -> property:
    """Forward an attribute of the last stage; absent where that has none."""

    def find(self: LastStage) -> Any:
        stage = last_step(self._stage())
        while not hasattr(stage, name):
            # A search and other wrappers hold the model that they have fitted.
            inner = getattr(
                stage, "best_estimator_", getattr(stage, "estimator_", None)
            )
            if inner is None:
                break
            stage = last_step(inner)
        return getattr(stage, name)

    return property(find, doc=words)


class LastStage(ABC):
    """Predictions of a classifier whose last stage is another classifier.

    A class says what that stage is (`_stage`, the fitted one if there is one) and what
    it is given (`_stage_features`).
    """

    @abstractmethod
    def _stage(self) -> Any:
        """The last stage."""

    @abstractmethod
    def _stage_features(self, X: Any) -> Any:
        """What the last stage is given for these rows."""

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Decision features, with all columns as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            One of ``classes_`` for every row.
        """
        features = self._stage_features(X)
        return self._stage().predict(features)

    @available_if(_stage_has("decision_function"))
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values of the last stage.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Decision features, with all columns as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            One column per class when there are more than two classes.
        """
        features = self._stage_features(X)
        return self._stage().decision_function(features)

    @available_if(_stage_has("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the class probabilities of the last stage.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Decision features, with all columns as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        features = self._stage_features(X)
        return self._stage().predict_proba(features)

    objective_ = _of_stage("objective_", "Primal value of the last stage.")
    duality_gap_ = _of_stage("duality_gap_", "Duality gap of the last stage.")
    n_iter_ = _of_stage("n_iter_", "Iterations of the last stage.")
    converged_ = _of_stage("converged_", "Whether the last stage converged.")
