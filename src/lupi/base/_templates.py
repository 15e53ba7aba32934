"""``fit`` and ``predict`` once, for classifiers and for regressors.

A model file supplies one method: `_fit_binary` (labels ±1) or `_fit_real` (targets),
which returns anything with ``decision(X) -> (n,)``. Two hooks surround it: `_begin`
sees all training rows first, `_collect` gathers the public attributes afterwards.
"""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from lupi.base._classes import (
    binary_problems,
    check_classes,
    class_weights,
    decisions_of_classes,
)
from lupi.base._estimator import PrivilegedEstimator, Training
from lupi.base._privileged import Privileged


class Model(Protocol):
    """What `_fit_binary` and `_fit_real` return."""

    def decision(self, X: Any) -> np.ndarray:
        """One value per row."""


class _Template(PrivilegedEstimator):
    """The hooks that both templates call."""

    def _check_parameters(self) -> None:
        """Refuse impossible parameters; called before anything is read."""

    def _begin(self, training: Training) -> None:
        """Settle what concerns all rows at once, ``gamma="scale"`` for one."""

    def _collect(
        self,
        models: list[Any],
        problems: list[tuple[np.ndarray, np.ndarray]],
        training: Training,
    ) -> None:
        """Set public attributes from the fitted models.

        `problems` holds, in the order of `models`, positions among all rows given to
        ``fit`` and the labels or targets of these rows.
        """


class PrivilegedClassifierBase(ClassifierMixin, _Template):
    """Classifier made of binary machines, one per pair of classes or per class.

    The subclass has the parameters ``multi_class`` and ``class_weight`` and implements
    `_fit_binary`.

    Attributes
    ----------
    classes_ : ndarray
        The labels seen in ``fit`` on rows of positive weight, sorted.
    """

    def fit(
        self, X: Any, y: Any, privileged: Any = None, sample_weight: Any = None
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Decision features, known also when predicting.
        y : array-like of shape (n_rows,)
            Class labels of any type.
        privileged : array-like, sparse matrix or DataFrame, optional
            Privileged features, one row per row of X, of any width. A row that is NaN
            throughout has none. None trains the counterpart without privileged
            information.
        sample_weight : array-like of shape (n_rows,), optional
            A row of weight 2 counts as two rows, a row of weight 0 as none.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check_parameters()
        training = self._validate_fit(X, y, privileged, sample_weight)
        return self._fit_training(training)

    def _fit_binary(
        self,
        X: Any,
        y: np.ndarray,
        privileged: Privileged | None,
        weight: np.ndarray,
        *,
        rows: np.ndarray,
    ) -> Model:
        """Fit one binary machine.

        Parameters
        ----------
        X, privileged
            The rows of this problem.
        y : ndarray of ±1
            +1 is the second of the two classes (``"ovr"``: the class, not the rest).
        weight : ndarray
            Sample weight times class weight, positive: what multiplies C per row.
        rows : ndarray of int
            Positions of these rows among all rows given to ``fit``; a precomputed
            kernel needs them to choose its columns.
        """
        raise TypeError(f"{type(self).__name__} does not define _fit_binary.")

    def _fit_training(self, training: Training) -> Self:
        """Everything of ``fit`` that follows the checks."""
        labels = check_classes(training.y, training.weight, self)
        counted = training.take(labels.rows)
        factor = class_weights(
            self.class_weight, labels.classes, labels.codes, counted.weight
        )
        problems = binary_problems(labels.codes, len(labels.classes), self.multi_class)
        cost = counted.weight * factor[labels.codes]
        self._begin(training)
        models = []
        for index, sign in problems:
            part = counted.take(index)
            models.append(
                self._fit_binary(
                    part.X, sign, part.privileged, cost[index], rows=labels.rows[index]
                )
            )
        self.classes_ = labels.classes
        self._models = models
        self._collect(
            models, [(labels.rows[index], sign) for index, sign in problems], training
        )
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Signed decision values.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Decision features.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            With two classes, positive means the second of ``classes_``. Beyond, the
            largest column wins.
        """
        X = self._validate_X(X)
        values = np.column_stack([model.decision(X) for model in self._models])
        return decisions_of_classes(values, len(self.classes_), self.multi_class)

    def predict(self, X: Any) -> np.ndarray:
        """Predict class labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Decision features; privileged features are not needed.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels as they were in ``fit``.
        """
        values = self.decision_function(X)
        best = (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[best]


class PrivilegedRegressorBase(RegressorMixin, _Template):
    """Regressor made of one machine; the subclass implements `_fit_real`."""

    def fit(
        self, X: Any, y: Any, privileged: Any = None, sample_weight: Any = None
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Decision features, known also when predicting.
        y : array-like of shape (n_rows,)
            Targets.
        privileged : array-like, sparse matrix or DataFrame, optional
            Privileged features, one row per row of X, of any width. A row that is NaN
            throughout has none. None trains the counterpart without privileged
            information.
        sample_weight : array-like of shape (n_rows,), optional
            A row of weight 2 counts as two rows, a row of weight 0 as none.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check_parameters()
        training = self._validate_fit(X, y, privileged, sample_weight, y_numeric=True)
        rows = np.flatnonzero(training.weight > 0)
        counted = training.take(rows)
        self._begin(training)
        model = self._fit_real(
            counted.X, counted.y, counted.privileged, counted.weight, rows=rows
        )
        self._models = [model]
        self._collect(self._models, [(rows, counted.y)], training)
        return self

    def _fit_real(
        self,
        X: Any,
        y: np.ndarray,
        privileged: Privileged | None,
        weight: np.ndarray,
        *,
        rows: np.ndarray,
    ) -> Model:
        """Fit the machine; arguments as in `PrivilegedClassifierBase._fit_binary`."""
        raise TypeError(f"{type(self).__name__} does not define _fit_real.")

    def predict(self, X: Any) -> np.ndarray:
        """Predict targets.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Decision features; privileged features are not needed.

        Returns
        -------
        ndarray of shape (n_rows,)
            Predicted targets.
        """
        X = self._validate_X(X)
        return self._models[0].decision(X)
