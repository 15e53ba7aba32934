"""Predictions by hyperplanes: one for two classes, otherwise one per class."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from lupi._parameters import FLAG, Constraints
from lupi.advice._rule import Rule
from lupi.base._info import Declared
from lupi.base._probabilities import no_probabilities


class LinearAdvisedClassifier(ClassifierMixin, Declared, BaseEstimator):
    """Predictions from `classes_`, `coef_` and `intercept_`."""

    _parameter_constraints: ClassVar[Constraints] = {
        "advice": [Rule, str, list, tuple, None],
        "fit_intercept": FLAG,
        "standardize": ["boolean", tuple, list, np.ndarray],
    }
    classes_: NDArray[Any]
    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the decision values w·x - b.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes, a positive value means the second; with more, there is
            one column per class.
        """
        check_is_fitted(self)
        rows: Any = validate_data(
            self, X, accept_sparse="csr", dtype=np.float64, reset=False
        )
        values = rows @ self.coef_.T + self.intercept_
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict class labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels as they were in ``fit``.
        """
        values = self.decision_function(X)
        codes = (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[codes]

    predict_proba = no_probabilities

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
