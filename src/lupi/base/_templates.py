"""``fit`` and ``predict`` of classifiers and regressors.

A model file supplies one method: `_fit_binary` (labels ±1) or `_fit_real` (targets),
which returns an object with ``decision(X) -> (n_samples,)``. There are two hooks:
`_begin` is called with all training rows before it, `_attributes` returns the public
attributes of the fitted machines after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from lupi._parameters import CLASS_WEIGHT, Constraints, choice
from lupi.base._classes import (
    MULTI_CLASS,
    binary_problems,
    counted_classes,
    decisions_of_classes,
)
from lupi.base._estimator import PrivilegedEstimator
from lupi.base._probabilities import no_probabilities
from lupi.base._state import atomic_fit
from lupi.base._training import Training


class Model(Protocol):
    """A machine, as `_fit_binary` and `_fit_real` return it."""

    def decision(self, X: Any) -> np.ndarray:
        """Return one value per row."""


@dataclass(frozen=True)
class Fitted:
    """The fitted machines and their training rows, for `_attributes`.

    Attributes
    ----------
    training : Training
        All rows given to ``fit``.
    parts : sequence of Training
        The rows of each binary problem; of a regressor, the rows of positive weight.
    models : sequence of objects with ``decision(X)``
        The machine fitted to each of the parts.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.base import Fitted, Training
    >>> training = Training(np.eye(2), np.ones(2), None, np.ones(2), np.arange(2))
    >>> fitted = Fitted(training, [training], ["a model"])
    >>> [part.n_rows for part in fitted.parts]
    [2]
    """

    training: Training
    parts: Sequence[Training]
    models: Sequence[Any]


class _Template(PrivilegedEstimator):
    """The hooks that both templates call."""

    def _begin(self, training: Training) -> Any:
        """Return values that depend on all rows, such as that of ``gamma="scale"``.

        Every part that is fitted has them as ``part.settled``.
        """

    def _decide(self, model: Any, X: Any) -> np.ndarray:
        """Return the decision values of a fitted machine."""
        return model.decision(X)

    def _attributes(self, fitted: Fitted) -> dict[str, Any]:
        """Return the public attributes of the fitted machines, by name."""
        return {}

    def _keep(self, fitted: Fitted) -> None:
        self._models = list(fitted.models)
        for name, value in self._attributes(fitted).items():
            setattr(self, name, value)


class PrivilegedClassifierBase(ClassifierMixin, _Template):
    """Classifier made of binary machines, one per pair of classes or per class.

    The subclass has the parameter ``multi_class``, ``class_weight`` as well where
    classes can be weighted, and implements `_fit_binary`.

    Attributes
    ----------
    classes_ : ndarray
        The labels seen in ``fit`` on rows of positive weight, sorted.

    Examples
    --------
    A classifier by the nearest centroid. Each centroid is the midpoint between the mean
    of the rows of its class and the mean of those of them that have X*:

    >>> import numpy as np
    >>> from lupi.base import PrivilegedClassifierBase
    >>> class Centroids:
    ...     def __init__(self, low, high):
    ...         self.low, self.high = low, high
    ...     def decision(self, X):
    ...         low, high = (((X - c) ** 2).sum(axis=1) for c in (self.low, self.high))
    ...         return low - high
    >>> class CentroidClassifier(PrivilegedClassifierBase):
    ...     def __init__(self, multi_class="ovr"):
    ...         self.multi_class = multi_class
    ...     def _fit_binary(self, part):
    ...         sides = (part.y < 0, part.y > 0)
    ...         means = [np.average(part.X[s], axis=0) for s in sides]
    ...         if part.privileged is not None:
    ...             rows = part.privileged.available
    ...             means = [
    ...                 (m + part.X[s & rows].mean(axis=0)) / 2
    ...                 for m, s in zip(means, sides)
    ...             ]
    ...         return Centroids(*means)
    >>> model = CentroidClassifier().fit([[0.0], [1.0], [4.0], [5.0]], list("aabb"))
    >>> model.predict([[0.9], [3.5]])
    array(['a', 'b'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "multi_class": choice(*MULTI_CLASS),
        "class_weight": CLASS_WEIGHT,
    }

    @atomic_fit
    def fit(
        self, X: Any, y: Any, *, privileged: Any = None, sample_weight: Any = None
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Decision features, known also when predicting.
        y : array-like of shape (n_samples,)
            Class labels of any type.
        privileged : array-like, sparse matrix or DataFrame, default=None
            Privileged features, one row per row of X, of any width. A row that is NaN
            throughout has none. None trains the counterpart without privileged
            information.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 2 counts as two rows, a row of weight 0 as none.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit_training(self._validate_fit(X, y, privileged, sample_weight))

    def _fit_binary(self, part: Training) -> Model:
        """Fit one binary machine.

        Parameters
        ----------
        part : Training
            The rows of the problem. ``part.y`` is ±1, where +1 is the second of the
            two classes (``"ovr"``: the class, not the rest). ``part.weight`` is the
            sample weight times the class weight, positive: what multiplies C per row.
        """
        raise TypeError(f"{type(self).__name__} does not define _fit_binary.")

    def _fit_training(self, training: Training) -> Self:
        """Fit to checked arguments."""
        class_weight = getattr(self, "class_weight", None)
        counted, labels = counted_classes(training, class_weight, self)
        counted = replace(counted, settled=self._begin(training))
        parts = [
            replace(counted.take(index), y=sign)
            for index, sign in binary_problems(
                labels.codes, len(labels.classes), self.multi_class
            )
        ]
        self.classes_ = labels.classes
        models = [self._fit_binary(part) for part in parts]
        self._keep(Fitted(training, parts, models))
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return signed decision values.

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
        X = self._validate_X(X)
        values = np.column_stack([self._decide(model, X) for model in self._models])
        return decisions_of_classes(values, len(self.classes_), self.multi_class)

    def predict(self, X: Any) -> np.ndarray:
        """Predict class labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Decision features; privileged features are not needed.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels as they were in ``fit``.
        """
        values = self.decision_function(X)
        best = (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[best]

    predict_proba = no_probabilities


class PrivilegedRegressorBase(RegressorMixin, _Template):
    """Regressor made of one machine; the subclass implements `_fit_real`.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.base import PrivilegedRegressorBase
    >>> class Constant:
    ...     def __init__(self, value):
    ...         self.value = value
    ...     def decision(self, X):
    ...         return np.full(len(X), self.value)
    >>> class MeanRegressor(PrivilegedRegressorBase):
    ...     def _fit_real(self, part):
    ...         return Constant(np.average(part.y, weights=part.weight))
    >>> model = MeanRegressor().fit([[0.0], [1.0]], [1.0, 4.0], sample_weight=[2, 1])
    >>> model.predict([[7.0]])
    array([2.])
    """

    @atomic_fit
    def fit(
        self, X: Any, y: Any, *, privileged: Any = None, sample_weight: Any = None
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Decision features, known also when predicting.
        y : array-like of shape (n_samples,)
            Targets.
        privileged : array-like, sparse matrix or DataFrame, default=None
            Privileged features, one row per row of X, of any width. A row that is NaN
            throughout has none. None trains the counterpart without privileged
            information.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 2 counts as two rows, a row of weight 0 as none.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        training = self._validate_fit(X, y, privileged, sample_weight, y_numeric=True)
        part = replace(training.counted(), settled=self._begin(training))
        self._keep(Fitted(training, [part], [self._fit_real(part)]))
        return self

    def _fit_real(self, part: Training) -> Model:
        """Fit the machine to the rows of positive weight."""
        raise TypeError(f"{type(self).__name__} does not define _fit_real.")

    def predict(self, X: Any) -> np.ndarray:
        """Predict targets.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Decision features; privileged features are not needed.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted targets.
        """
        X = self._validate_X(X)
        return self._decide(self._models[0], X)
