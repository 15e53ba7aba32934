"""Small correct estimators that follow the contract, for testing the contract."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin

from lupi.base import (
    PrivilegedClassifierBase,
    PrivilegedEstimator,
    PrivilegedRegressorBase,
    PrivilegedTags,
    atomic_fit,
    check_classes,
)


@dataclass
class Line:
    coef: np.ndarray
    intercept: float

    def decision(self, X):
        return X @ self.coef + self.intercept


def ridge(X, y, weight, alpha=1.0):
    """Weighted ridge regression with a free intercept, in closed form."""
    X = X.toarray() if sp.issparse(X) else X
    A = np.column_stack([X, np.ones(len(y))])
    penalty = np.diag(np.r_[np.full(X.shape[1], alpha), 0.0])
    solution = np.linalg.solve((A.T * weight) @ A + penalty, (A.T * weight) @ y)
    return Line(solution[:-1], float(solution[-1]))


def taught(part, alpha):
    """Ridge on targets drawn half-way to what a teacher on X* says of its rows."""
    y, privileged, weight = part.y, part.privileged, part.weight
    if privileged is not None:
        rows = privileged.rows
        teacher = ridge(privileged.values, y[rows], weight[rows], alpha)
        y = y.copy()
        y[rows] = (y[rows] + teacher.decision(privileged.values)) / 2
    return ridge(part.X, y, weight, alpha)


class TaughtClassifier(PrivilegedClassifierBase):
    def __init__(self, alpha=1.0, multi_class="ovo", class_weight=None):
        self.alpha = alpha
        self.multi_class = multi_class
        self.class_weight = class_weight

    def _fit_binary(self, part):
        return taught(part, self.alpha)


class TaughtRegressor(PrivilegedRegressorBase):
    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def _fit_real(self, part):
        return taught(part, self.alpha)


class LearnsFromAllRows(ClassifierMixin, PrivilegedEstimator):
    """Ridge on class indicators; rows without y learn what a teacher on X* says."""

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    @atomic_fit
    def fit(self, X, y, *, privileged=None, sample_weight=None):
        training = self.rows(self._validate_fit(X, y, privileged, sample_weight))
        known, weight = training.labelled, training.weight
        labels = check_classes(training.y[known], weight[known], self)
        self.classes_ = labels.classes
        target = np.zeros((training.n_rows, len(self.classes_)))
        target[known] = np.eye(len(self.classes_))[labels.codes]
        absent = np.ones(training.n_rows, dtype=bool)
        absent[known] = False
        self.models_ = []
        for column in target.T:
            if training.privileged is not None:
                rows, values = training.privileged.rows, training.privileged.values
                seen = ~absent[rows]
                teacher = ridge(
                    values[seen], column[rows[seen]], weight[rows[seen]], self.alpha
                )
                opinion = teacher.decision(values)
                column[rows] = np.where(seen, (column[rows] + opinion) / 2, opinion)
            self.models_.append(ridge(training.X, column, weight, self.alpha))
        return self

    def rows(self, training):
        return training.learnable()

    def decision_function(self, X):
        X = self._validate_X(X)
        values = np.column_stack([model.decision(X) for model in self.models_])
        return values[:, 1] - values[:, 0] if values.shape[1] == 2 else values

    def predict(self, X):
        values = self.decision_function(X)
        best = (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[best]

    def __lupi_tags__(self):
        return PrivilegedTags(uses_unlabelled=True)
