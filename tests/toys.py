"""Small correct estimators that follow the contract, for testing the contract."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from lupi.base import PrivilegedClassifierBase, PrivilegedRegressorBase


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
