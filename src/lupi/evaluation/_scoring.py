"""Which score, and whether it suits the target, before any model is fitted."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    get_scorer,
    jaccard_score,
    make_scorer,
    precision_score,
    recall_score,
)

from lupi.evaluation._method import Task

# Scores of one class against the other; scikit-learn wants that class to be called 1.
OF_ONE_CLASS: dict[str, Callable[..., float]] = {
    "average_precision": average_precision_score,
    "f1": f1_score,
    "jaccard": jaccard_score,
    "precision": precision_score,
    "recall": recall_score,
}
FOR_MORE_CLASSES = {
    "average_precision": "roc_auc_ovr",
    "f1": "f1_macro",
    "jaccard": "jaccard_macro",
    "precision": "precision_macro",
    "recall": "recall_macro",
    "roc_auc": "roc_auc_ovr",
}
OF_NUMBERS = ("r2", "explained_variance", "error", "deviance", "pinball")
METRIC_NAMES = {
    "roc_auc": "AUC",
    "roc_auc_ovr": "AUC (one vs rest)",
    "roc_auc_ovo": "AUC (one vs one)",
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "f1": "F1 score",
    "average_precision": "average precision",
    "neg_log_loss": "negative log loss",
    "neg_brier_score": "negative Brier score",
    "r2": "R²",
    "neg_mean_squared_error": "negative mean squared error",
    "neg_root_mean_squared_error": "negative root mean squared error",
    "neg_mean_absolute_error": "negative mean absolute error",
}
ROWS_OF_TRIAL = 200
# Decision values that vary by less, relative to the largest or at all, are constant.
ROUNDING = 1e-9
TINY = 1e-12


def metric_name(scoring: str) -> str:
    """Name a scikit-learn score as a reader would."""
    return METRIC_NAMES.get(scoring, scoring.replace("_", " "))


@dataclass(frozen=True)
class SteadyScorer:
    """A score for which decision values that differ by rounding alone are equal.

    A model that found the trivial solution has a constant decision function, up to
    the last digits. Ranked by those, rows would get an AUC that is a matter of luck
    and of the machine, where 0.5 is the truth.
    """

    scorer: Callable[..., float]

    def __call__(self, model: Any, X: Any, y: Any, **more: Any) -> float:
        """Score the model on these rows."""
        if hasattr(model, "decision_function"):
            model = _Steady(model)
        return self.scorer(model, X, y, **more)


class _Steady:
    """The model itself but for its decision values."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def decision_function(self, X: Any) -> np.ndarray:
        values = np.asarray(self._model.decision_function(X))
        limit = max(TINY, ROUNDING * np.abs(values).max())
        return np.zeros_like(values) if np.ptp(values) <= limit else values


def choose_scorer(
    scoring: str | Callable[..., float] | None, task: Task, y: np.ndarray
) -> tuple[str, Callable[..., float]]:
    """Return the name of the score and the scorer.

    Scores of one class, such as ``"f1"``, are those of the last of two classes,
    whatever they are called.
    """
    if scoring is None:
        if task == "regression":
            scoring = "r2"
        else:
            scoring = "roc_auc" if len(np.unique(y)) == 2 else "accuracy"
    if isinstance(scoring, str):
        return scoring, _named_scorer(scoring, task, y)
    if not callable(scoring):
        raise TypeError(
            f"scoring={scoring!r} is neither the name of a score nor a scorer; see "
            "sklearn.metrics.get_scorer_names() and make_scorer."
        )
    function = getattr(scoring, "_score_func", scoring)
    return getattr(function, "__name__", "score"), scoring


def _named_scorer(name: str, task: Task, y: np.ndarray) -> Callable[..., float]:
    if task == "regression" or name not in OF_ONE_CLASS:
        return get_scorer(name)
    classes = np.unique(y)
    if len(classes) > 2:
        raise ValueError(
            f"The score {name!r} is for two classes and the target has {len(classes)}; "
            f"use {FOR_MORE_CLASSES[name]!r} or 'accuracy'."
        )
    more: dict[str, Any] = {"pos_label": classes[-1]}
    if name == "average_precision":
        more["response_method"] = ("decision_function", "predict_proba")
    else:
        more["zero_division"] = 0.0
    return make_scorer(OF_ONE_CLASS[name], **more)


def check_scorer(
    name: str, scorer: Callable[..., float], task: Task, y: np.ndarray
) -> None:
    """Refuse a score that cannot be taken of this target, by trying it once."""
    numeric = name.startswith("neg_") or name in OF_NUMBERS
    if task == "classification" and numeric and any(w in name for w in OF_NUMBERS):
        raise ValueError(
            f"The score {name!r} measures numbers and the target names classes; use "
            "'accuracy' or 'roc_auc', or set the task to regression."
        )
    rows = np.concatenate(
        [
            np.flatnonzero(y == label)[: max(2, ROWS_OF_TRIAL // 20)]
            for label in np.unique(y)[:20]
        ]
    )
    X, target = np.arange(len(rows), dtype=float)[:, None], y[rows]
    dummy = (
        DummyRegressor() if task == "regression" else DummyClassifier(strategy="prior")
    )
    try:
        with warnings.catch_warnings():
            # A constant guess has undefined scores, which is not the question.
            warnings.simplefilter("ignore")
            scorer(dummy.fit(X, target), X, target)
    except (ValueError, AttributeError) as error:
        if task == "regression":
            raise ValueError(
                f"The score {name!r} is for classes and the target is a number; use "
                "'r2' or 'neg_mean_squared_error', or set the task to classification."
            ) from error
        hint = ""
        if name in FOR_MORE_CLASSES:
            hint = f" Use {FOR_MORE_CLASSES[name]!r} or 'accuracy'."
        reason = str(error).splitlines()[0].rstrip(".")
        raise ValueError(
            f"The score {name!r} does not suit this target: {reason}.{hint}"
        ) from error
