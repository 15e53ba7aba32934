"""Quality of X*: models in the common space of X and X*, by canonical correlations.

X. Li, B. Du, Y. Zhang, C. Xu, D. Tao: Iterative Privileged Learning, section V-B-3.

Canonical correlation analysis maps X and X* linearly to tables whose k-th columns have
the largest possible correlation, and whose columns all have variance 1. In this common
space a model can be trained on one table and tested on the other:

| name | trained on | tested on |
|---|---|---|
| GB_EF | X | X |
| GB_PF | X* | X |
| GB_CCA | X and X*, twice as many rows | X |

If GB_PF is close to GB_EF, X* contains what X contains about y, in the same directions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import linalg
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit, check_cv
from sklearn.utils import check_X_y

from lupi.base import check_privileged
from lupi.base._rows import dense
from lupi.evaluation._task import read_task


@dataclass(frozen=True)
class CCAQuality:
    """Scores in the common space of X and X*.

    Attributes
    ----------
    scores : DataFrame
        One row per split, one column per model: "GB_EF", "GB_PF", "GB_CCA" and the
        models of `also`.
    correlations : ndarray of shape (n_splits, n_components)
        Canonical correlations on the training rows of each split.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from lupi.evaluation import CCAQuality
    >>> scores = pd.DataFrame({"GB_EF": [0.8, 0.9], "GB_PF": [0.7, 0.8]})
    >>> CCAQuality(scores, np.array([[0.9], [0.8]])).summary()["mean"]["GB_PF"]
    np.float64(0.75)
    """

    scores: pd.DataFrame
    correlations: np.ndarray

    def summary(self) -> pd.DataFrame:
        """Return mean and standard deviation over the splits.

        Returns
        -------
        pandas.DataFrame
            One row per model, with the columns ``mean`` and ``std``.
        """
        return pd.DataFrame(
            {"mean": self.scores.mean(), "std": self.scores.std(ddof=0)}
        )


def cca_quality(
    X: Any,
    y: Any,
    privileged: Any,
    *,
    estimator: Any = None,
    also: Mapping[str, Any] | None = None,
    n_components: int | None = None,
    cv: Any = None,
    scoring: Any = None,
    random_state: Any = None,
) -> CCAQuality:
    """Score models in the common space of X and X*.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Decision features.
    y : array-like of shape (n_samples,)
        Class labels or targets.
    privileged : {array-like, sparse matrix, data frame} of shape \
(n_samples, n_privileged)
        Privileged features. Rows in which every value is NaN are left out where X* is
        needed.
    estimator : estimator, default=None
        Model trained in the common space. None is the boosting of `IPLClassifier` or
        `IPLRegressor` without X*.
    also : dict of str to estimator, default=None
        Estimators that are fitted with ``privileged`` on the original tables, for
        comparison: ``{"IPL": IPLClassifier()}``.
    n_components : int, default=None
        Number of columns of the common space; None is the largest possible number.
    cv : int, splitter or None, default=None
        None is five random splits, 80 % for training, as in the paper (stratified for
        classes).
    scoring : str or callable, default=None
        As in scikit-learn; None is the ``score`` method of the estimator.
    random_state : int, RandomState or None, default=None
        Seed of the splits and of the default estimator.

    Returns
    -------
    CCAQuality
        Scores per split and canonical correlations.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.evaluation import cca_quality
    >>> rng = np.random.default_rng(0)
    >>> state = rng.normal(size=(200, 2))
    >>> X, P = state + rng.normal(size=(2, 200, 2))
    >>> quality = cca_quality(X, state[:, 0] > 0, P, random_state=0)
    >>> list(quality.scores.columns)
    ['GB_EF', 'GB_PF', 'GB_CCA']
    >>> quality.correlations.shape
    (5, 2)
    """
    X, y = check_X_y(X, y, accept_sparse="csr", dtype=np.float64)
    X = dense(X)
    read = check_privileged(privileged, len(y), "cca_quality")
    if read is None:
        raise ValueError(
            "cca_quality compares X with X*, but privileged is None or has no value. "
            "Give privileged features for at least some rows."
        )
    table, has = read.dense_full(), read.available
    classes = read_task(y) == "classification"
    estimator = _default(classes, random_state) if estimator is None else estimator
    if cv is None:
        kind = StratifiedShuffleSplit if classes else ShuffleSplit
        cv = kind(n_splits=5, test_size=0.2, random_state=random_state)
    score = check_scoring(estimator, scoring)
    rows, correlations = [], []
    for train, test in check_cv(cv, y, classifier=classes).split(X, y):
        both = train[has[train]]
        space = _CommonSpace(X[both], table[both], n_components)
        ef, pf = space.from_x(X), space.from_privileged(table)
        parts = {
            "GB_EF": (ef[train], y[train]),
            "GB_PF": (pf[both], y[both]),
            "GB_CCA": (
                np.vstack([ef[train], pf[both]]),
                np.concatenate([y[train], y[both]]),
            ),
        }
        row = {
            name: score(clone(estimator).fit(*part), ef[test], y[test])
            for name, part in parts.items()
        }
        for name, model in (also or {}).items():
            model = clone(model).fit(X[train], y[train], privileged=table[train])
            row[name] = check_scoring(model, scoring)(model, X[test], y[test])
        rows.append(row)
        correlations.append(space.correlations)
    # In some splits, a table of few distinct rows may have a lower rank.
    width = min(len(found) for found in correlations)
    scores = pd.DataFrame(rows).rename_axis(index="split", columns="trained on")
    return CCAQuality(scores, np.array([found[:width] for found in correlations]))


class _CommonSpace:
    """Canonical variates of variance 1, X first.

    With X = UΣVᵀ and X* = U*Σ*V*ᵀ (centered, truncated at their ranks) and
    UᵀU* = RCSᵀ, the variates are √n UR and √n U*S, and C has their correlations.
    """

    def __init__(self, X: np.ndarray, P: np.ndarray, n_components: int | None):
        self.center_x, to_x, left = _whiten(X)
        self.center_p, to_p, right = _whiten(P)
        turn_x, found, turn_p = linalg.svd(left.T @ right, full_matrices=False)
        kept = len(found) if n_components is None else min(n_components, len(found))
        self.correlations = np.minimum(found[:kept], 1.0)
        scale = np.sqrt(len(X))
        self.to_x = scale * to_x @ turn_x[:, :kept]
        self.to_p = scale * to_p @ turn_p[:kept].T

    def from_x(self, X: np.ndarray) -> np.ndarray:
        return (X - self.center_x) @ self.to_x

    def from_privileged(self, P: np.ndarray) -> np.ndarray:
        return (P - self.center_p) @ self.to_p


def _whiten(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the column means, the map VΣ⁻¹ and the orthonormal columns U."""
    center = table.mean(axis=0)
    # Columns are standardized, so that the rank does not depend on their units.
    spread = table.std(axis=0)
    spread[spread <= 1e-12 * np.abs(center)] = np.inf
    u, singular, vt = linalg.svd((table - center) / spread, full_matrices=False)
    kept = singular > singular[0] * max(table.shape) * np.finfo(float).eps
    if not kept.any():
        raise ValueError(
            "cca_quality needs columns that vary, but in a training split every column "
            "of X or of privileged is constant. Give other columns or more rows."
        )
    return center, vt[kept].T / singular[kept] / spread[:, None], u[:, kept]


def _default(classes: bool, random_state: Any) -> Any:
    from lupi.boosting import IPLClassifier, IPLRegressor

    return (IPLClassifier if classes else IPLRegressor)(random_state=random_state)
