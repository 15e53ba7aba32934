"""The default scores, computed without the checks of scikit-learn.

The jackknife scores the same answers once for every group of rows. On small tables the
checks of scikit-learn took a third of the time of a comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer

from lupi._compat import scorer_parts

__all__ = ["plain_score"]

Score = Callable[[np.ndarray], float]


def plain_score(
    scorer: Any, model: Any, X: Any, y: np.ndarray, weight: np.ndarray | None
) -> Score | None:
    """Return the score of some of the rows, as a function of their numbers.

    Parameters
    ----------
    scorer : callable
        A scorer of scikit-learn or a function of model, X and y.
    model, X, y, weight
        The model, and all rows; ``weight`` may be None.

    Returns
    -------
    callable or None
        None for a score that is not one of the default ones.
    """
    parts = scorer_parts(scorer)
    for name, make in _SCORES.items():
        if parts == scorer_parts(get_scorer(name)):
            return make(model, X, y, np.ones(len(y)) if weight is None else weight)
    return None


def _roc_auc(model: Any, X: Any, y: np.ndarray, weight: np.ndarray) -> Score | None:
    """Return the share of pairs in the right order, ties counting half."""
    if len(model.classes_) != 2:
        return None
    if hasattr(model, "decision_function"):
        values = model.decision_function(X)
    else:
        values = model.predict_proba(X)[:, 1]
    levels, place = np.unique(values, return_inverse=True)
    positive = y == model.classes_[1]

    def score(rows: np.ndarray) -> float:
        at, up = place[rows], positive[rows] * weight[rows]
        upper = np.bincount(at, up, len(levels))
        lower = np.bincount(at, weight[rows] - up, len(levels))
        n_pairs = upper.sum() * lower.sum()
        if n_pairs == 0:
            return np.nan
        return float(upper @ (np.cumsum(lower) - 0.5 * lower) / n_pairs)

    return score


def _accuracy(model: Any, X: Any, y: np.ndarray, weight: np.ndarray) -> Score:
    right = weight * np.asarray(model.predict(X) == y)

    def score(rows: np.ndarray) -> float:
        total = weight[rows].sum()
        return float(right[rows].sum() / total) if total else np.nan

    return score


def _r2(model: Any, X: Any, y: np.ndarray, weight: np.ndarray) -> Score:
    squares = weight * (y - model.predict(X)) ** 2

    def score(rows: np.ndarray) -> float:
        if len(rows) < 2 or not weight[rows].any():
            return np.nan
        mean = np.average(y[rows], weights=weight[rows])
        left, spread = squares[rows].sum(), weight[rows] @ (y[rows] - mean) ** 2
        if spread == 0:
            return float(left == 0)
        return float(1.0 - left / spread)

    return score


_SCORES: dict[str, Callable[..., Score | None]] = {
    "roc_auc": _roc_auc,
    "accuracy": _accuracy,
    "r2": _r2,
}
