"""Published recipes and outside baselines as estimators: ``fit(X, y, privileged=)``.

Both recipes are our reading of the papers, with ridge regression as in
`lupi.HedgedDistillationRegressor`, and both learn from rows in which y is missing.
Classes are 0 and 1 and are fitted as numbers.
"""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.feature_selection import RFE
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.svm import LinearSVC

from lupi import SVCPlus
from lupi.base import PrivilegedTags
from lupi.transfer._ridge import GCVRidge

LAMBDAS = (0.1, 0.3, 1.0, 3.0, 10.0, 100.0)
PENALTIES = (1e-3, 1e-2, 1e-1, 1.0)


def filled(Z, like):
    """Fill missing cells with the median of `like`, and mark them."""
    gone = np.isnan(like).any(axis=0)
    median = np.nan_to_num(np.nanmedian(like, axis=0))
    return np.hstack([np.where(np.isnan(Z), median, Z), np.isnan(Z)[:, gone]])


def past(X, P, y, Xu, Pu):
    """Fit a teacher of [X, X*] to y, then a student of X to its values on all rows."""
    teacher = GCVRidge().fit(np.hstack([X, P]), y)
    rows, seen = np.vstack([X, Xu]), np.vstack([np.hstack([X, P]), np.hstack([Xu, Pu])])
    return GCVRidge().fit(rows, teacher.predict(seen)).predict


def coupled(X, P, y, Xu, Pu, classes):
    """Fit f of X and g of [X, X*] together.

    min (1/N) sum over all rows (f - g)^2 + (lambda/n) sum over labelled rows (y - g)^2
    plus a ridge penalty; lambda and the penalty by 5-fold cross-validation of f.
    """
    every_X, every_P = np.vstack([X, Xu]), np.vstack([P, Pu])
    tables = [filled(Z, like) for Z, like in ((every_X, every_X), (every_P, every_P))]
    mean, scale = ([f(Z, axis=0) for Z in tables] for f in (np.mean, np.std))
    scale = [np.where(s > 1e-12, s, np.inf) for s in scale]
    F, W = ((Z - m) / s for Z, m, s in zip(tables, mean, scale, strict=True))
    F = np.hstack([np.ones((len(F), 1)), F])
    G = np.hstack([F, W])
    p, n = F.shape[1], len(y)

    def fit(known, weight, penalty):
        others = np.r_[known, np.arange(n, len(F))]
        gap = np.hstack([F[others], -G[others]])
        H = gap.T @ gap / len(others)
        H[p:, p:] += weight * G[known].T @ G[known] / len(known)
        ridge = np.full(len(H), penalty)
        ridge[[0, p]] = 1e-9
        right = np.zeros(len(H))
        right[p:] = weight * G[known].T @ y[known] / len(known)
        return np.linalg.solve(H + np.diag(ridge), right)[:p]

    folds = (StratifiedKFold if classes else KFold)(5, shuffle=True, random_state=0)
    options = [(weight, penalty) for weight in LAMBDAS for penalty in PENALTIES]
    error = np.zeros(len(options))
    for train, test in folds.split(X, y):
        for place, option in enumerate(options):
            error[place] += np.sum((F[test] @ fit(train, *option) - y[test]) ** 2)
    coef = fit(np.arange(n), *options[int(np.argmin(error))])

    def predict(Z):
        Z = (filled(Z, every_X) - mean[0]) / scale[0]
        return coef[0] + Z @ coef[1:]

    return predict


class _Recipe(BaseEstimator):
    """Ridge regression on the labelled rows; with X* what `_learn` returns."""

    def fit(self, X, y, *, privileged=None):
        """Fit to the rows with y, and with X* to the others too."""
        X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
        self.classes_ = np.array([0, 1])
        known = np.isfinite(y)
        if privileged is None:
            self.predictor_ = GCVRidge().fit(X[known], y[known]).predict
            return self
        P = np.asarray(privileged, dtype=float)
        there = np.isfinite(P).all(axis=1)
        known, hidden = known & there, ~known & there
        self.predictor_ = self._learn(
            X[known], P[known], y[known], X[hidden], P[hidden]
        )
        return self

    def decision_function(self, X):
        return self.predictor_(np.asarray(X, dtype=float)) - 0.5

    def __lupi_tags__(self):
        return PrivilegedTags(uses_unlabelled=True)


class _Classifier(ClassifierMixin, _Recipe):
    def predict(self, X):
        return (self.decision_function(X) > 0).astype(float)


class _Regressor(RegressorMixin, _Recipe):
    def predict(self, X):
        return self.predictor_(np.asarray(X, dtype=float))


class _Past:
    """Prediction aided by surrogate training (Xia & Wainwright, arXiv 2412.09364)."""

    def _learn(self, *parts):
        return past(*parts)


class _Coupled:
    """Coupled training (Shi, Hagrass & Klusowski, arXiv 2605.23268)."""

    def _learn(self, *parts):
        return coupled(*parts, isinstance(self, ClassifierMixin))


class PASTClassifier(_Past, _Classifier):
    """PAST for two classes."""


class PASTRegressor(_Past, _Regressor):
    """PAST for numbers."""


class CoupledClassifier(_Coupled, _Classifier):
    """Coupled training for two classes."""


class CoupledRegressor(_Coupled, _Regressor):
    """Coupled training for numbers."""


class UnselectedFeatures(ClassifierMixin, BaseEstimator):
    """LUFe as an estimator whose X* is X: the unselected columns of it teach.

    Half of the columns, and at least two, are selected by recursive elimination with a
    linear SVM; SVM+ learns from them with the columns of ``privileged`` that were not
    selected. ``lupi.LUFeClassifier`` takes the unselected columns from X itself, which
    leaves nothing to shuffle.
    """

    def __init__(self, C=1.0, kernel="rbf", gamma=0.1, privileged_reg=1.0):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.privileged_reg = privileged_reg

    def fit(self, X, y, *, privileged=None):
        """Select columns of X, then fit SVM+."""
        X, y = np.asarray(X, dtype=float), np.asarray(y)
        keep = max(2, X.shape[1] // 2)
        selector = RFE(LinearSVC(), n_features_to_select=keep, step=0.1).fit(X, y)
        self.classes_, self.chosen_ = np.unique(y), selector.support_
        if privileged is not None:
            privileged = privileged[:, ~self.chosen_]
        self.model_ = SVCPlus(**self.get_params()).fit(
            X[:, self.chosen_], y, privileged=privileged
        )
        return self

    def decision_function(self, X):
        return self.model_.decision_function(np.asarray(X)[:, self.chosen_])

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]
