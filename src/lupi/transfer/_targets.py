"""Conversions between class labels, probabilities and log-odds.

Scores have one column per class and are centered in each row: ``softmax(scores)`` are
the probabilities, and with two classes the difference of the columns is the log-odds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import is_regressor


def hard_scores(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the scores of known labels: K − 1 for the row's class, −1 elsewhere.

    The log-odds of a known label are infinite. These scores are the working responses
    of (multinomial) logistic regression at equal probabilities, that is, finite
    targets whose regression has the slope of the log-odds there; with two classes
    the log-odds are ±2.
    """
    return n_classes * np.eye(n_classes)[codes] - 1.0


def log_scores(probabilities: np.ndarray) -> np.ndarray:
    """Return centered log-probabilities."""
    logarithms = np.log(probabilities)
    return logarithms - logarithms.mean(axis=1, keepdims=True)


def as_target(scores: np.ndarray) -> np.ndarray:
    """Return the target of a regressor: log-odds for two classes, scores for more."""
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def as_scores(target: np.ndarray) -> np.ndarray:
    """Return the scores of a regressor's predictions, the inverse of ``as_target``."""
    if target.ndim == 1:
        return np.column_stack([-target / 2, target / 2])
    return target


def predicted_target(regressor: Any, X: Any, n_classes: int) -> np.ndarray:
    """Return the predictions of a regressor, in the shape of ``as_target``."""
    shape = (-1,) if n_classes == 2 else (-1, n_classes)
    return np.asarray(regressor.predict(X), dtype=float).reshape(shape)


def soft_probabilities(
    scores: np.ndarray, temperature: float, clip: float
) -> np.ndarray:
    """Return softmax(scores / temperature), no class below about ``clip``."""
    raised = np.maximum(softmax(scores / temperature, axis=1), clip)
    return raised / raised.sum(axis=1, keepdims=True)


def class_scores(
    estimator: Any, X: Any, classes: np.ndarray, seen: np.ndarray | None = None
) -> np.ndarray:
    """Return the scores of any fitted estimator, one column for each of ``classes``.

    They come from ``predict_proba`` if there is one, else from ``decision_function``
    (interpreted as log-odds), else from the predictions of a regressor fitted to
    ``as_target(hard_scores(...))``. A class that was not among the training rows gets
    the score −∞, that is, the probability 0 at every temperature.

    Parameters
    ----------
    estimator : estimator
        Fitted estimator.
    X : table of shape (n_samples, n_features)
        Its input.
    classes : ndarray
        All labels, ascending.
    seen : ndarray, default=None
        Labels among the training rows. None means ``classes_`` of a classifier, and
        all labels for a regressor.
    """
    if is_regressor(estimator):
        known = as_scores(predicted_target(estimator, X, len(classes)))
        seen = classes if seen is None else seen
        return np.where(np.isin(classes, seen), known, -np.inf)
    known, seen = _own_scores(estimator, X), estimator.classes_
    if known.shape[1] != len(seen):
        raise ValueError(
            f"The teacher {type(estimator).__name__} gives {known.shape[1]} decision "
            f"values for {len(seen)} classes, and log-odds need one for each class. "
            "Use decision_function_shape='ovr', or wrap it in CalibratedClassifierCV."
        )
    scores = np.full((known.shape[0], len(classes)), -np.inf)
    scores[:, np.searchsorted(classes, seen)] = known
    return scores


def _own_scores(classifier: Any, X: Any) -> np.ndarray:
    """Return scores for the ``classes_`` of a classifier."""
    decision = None
    if hasattr(classifier, "decision_function"):
        decision = as_scores(np.asarray(classifier.decision_function(X), dtype=float))
    if hasattr(classifier, "predict_proba"):
        probabilities = np.asarray(classifier.predict_proba(X), dtype=float)
        # Decision values that are the log-odds of these probabilities (logistic
        # regression, boosting) keep digits where the probabilities round to 0 or 1.
        if (
            decision is not None
            and decision.shape == probabilities.shape
            and np.allclose(softmax(decision, axis=1), probabilities, atol=1e-12)
        ):
            return decision
        return log_scores(np.maximum(probabilities, np.finfo(float).tiny))
    if decision is None:
        raise ValueError(
            f"The teacher {type(classifier).__name__} has neither predict_proba nor "
            "decision_function and is not a regressor, so that it gives no soft "
            "labels. Give one that has one of them, or wrap it in "
            "CalibratedClassifierCV."
        )
    return decision
