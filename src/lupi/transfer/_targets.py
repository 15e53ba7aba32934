"""Class labels, probabilities and log-odds as targets: the arithmetic of soft labels.

Scores are one column per class, centred in each row: ``softmax(scores)`` are the
probabilities, and with two classes the difference of the columns is the log-odds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import is_regressor


def hard_scores(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the scores of known labels: K − 1 for the row's class, −1 elsewhere.

    A label's own log-odds are infinite. These are the working responses of
    (multinomial) logistic regression at equal probabilities, that is, the finite
    targets whose regression has the slope of the log-odds there; with two classes
    the log-odds are ±2.
    """
    return n_classes * np.eye(n_classes)[codes] - 1.0


def log_scores(probabilities: np.ndarray) -> np.ndarray:
    """Return centred log-probabilities."""
    logarithms = np.log(probabilities)
    return logarithms - logarithms.mean(axis=1, keepdims=True)


def as_target(scores: np.ndarray) -> np.ndarray:
    """Return what a regressor learns: log-odds of two classes, scores of more."""
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def as_scores(target: np.ndarray) -> np.ndarray:
    """Return the scores behind a regressor's predictions; undoes ``as_target``."""
    if target.ndim == 1:
        return np.column_stack([-target / 2, target / 2])
    return target


def predicted_target(regressor: Any, X: Any, n_classes: int) -> np.ndarray:
    """Return what a regressor predicts, in the shape of ``as_target``."""
    shape = (-1,) if n_classes == 2 else (-1, n_classes)
    return np.asarray(regressor.predict(X), dtype=float).reshape(shape)


def soft_probabilities(
    scores: np.ndarray, temperature: float, clip: float
) -> np.ndarray:
    """Return softmax(scores / temperature), no class below about ``clip``."""
    raised = np.maximum(softmax(scores / temperature, axis=1), clip)
    return raised / raised.sum(axis=1, keepdims=True)


def class_scores(
    estimator: Any, X: Any, classes: np.ndarray, clip: float
) -> np.ndarray:
    """Read scores off any fitted estimator, one column for each of ``classes``.

    From ``predict_proba`` when there is one, else from ``decision_function`` (taken
    as log-odds), else from the predictions of a regressor that has learned
    ``as_target(hard_scores(...))``. A class the estimator has never seen gets the
    probability ``clip``.
    """
    if is_regressor(estimator):
        return as_scores(predicted_target(estimator, X, len(classes)))
    if hasattr(estimator, "predict_proba"):
        known = np.asarray(estimator.predict_proba(X))
    elif hasattr(estimator, "decision_function"):
        decision = np.asarray(estimator.decision_function(X))
        known = softmax(as_scores(decision), axis=1)
    else:
        raise ValueError(
            f"The teacher {type(estimator).__name__} has neither predict_proba nor "
            "decision_function and is no regressor, so it has no soft labels to give. "
            "Choose one that has, or wrap it in CalibratedClassifierCV."
        )
    probabilities = np.zeros((known.shape[0], len(classes)))
    probabilities[:, np.searchsorted(classes, estimator.classes_)] = known
    return log_scores(np.maximum(probabilities, clip))
