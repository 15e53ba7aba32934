"""The predicted quantity, a number or class probabilities, and how to fit it.

Predictions, y and the teachers' predictions all have the shape (n_rows, n_targets):
one column for a number and for two classes (the probability of the second), and one
per class for more than two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline

from lupi.base._metadata import fit_with, last_step
from lupi.transfer._distillation import check_copies
from lupi.transfer._fitting import fit_weighted_copies, for_outputs


@dataclass(frozen=True)
class NumericOutput:
    """A continuous target."""

    n_targets: int = 1

    def target(self, y: np.ndarray) -> np.ndarray:
        """Return y as a column."""
        return y[:, None]

    def codes(self, target: np.ndarray) -> np.ndarray:
        """Return zeros, because there are no classes to stratify by."""
        return np.zeros(len(target), dtype=int)

    def fit(self, model: Any, table: Any, target: np.ndarray, weight: Any) -> Any:
        """Fit to known values or to a teacher's predictions, which are numbers too."""
        return fit_with(model, table, target[:, 0], sample_weight=weight)

    fit_soft = fit

    def values(self, model: Any, table: Any) -> np.ndarray:
        """Return predictions."""
        return np.asarray(model.predict(table), dtype=float).reshape(-1, 1)

    def check(self, model: Any, role: str) -> None:
        """Raise an error for an estimator that cannot predict numbers."""
        if not is_regressor(model):
            raise ValueError(
                f"The {role} {model!r} is not a regressor, but the target is a number. "
                "Give a regressor."
            )


@dataclass(frozen=True)
class ClassOutput:
    """Classes; regressors are fitted to indicators, classifiers to labels."""

    classes: np.ndarray

    @property
    def n_targets(self) -> int:
        """Number of columns: 1 for two classes, otherwise one per class."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    def target(self, y: np.ndarray) -> np.ndarray:
        """Return the indicators of labels."""
        return self.indicators(np.searchsorted(self.classes, y))

    def codes(self, target: np.ndarray) -> np.ndarray:
        """Return the positions of the labels among the classes."""
        return self.full(target).argmax(axis=1)

    def indicators(self, codes: np.ndarray) -> np.ndarray:
        """Return the indicators of class positions, probabilities of 0 and 1."""
        known = np.eye(len(self.classes))[codes]
        return known[:, 1:] if self.n_targets == 1 else known

    def full(self, values: np.ndarray) -> np.ndarray:
        """Return one column per class, also for two classes."""
        return np.hstack([1 - values, values]) if self.n_targets == 1 else values

    def shares(self, values: np.ndarray) -> np.ndarray:
        """Return a teacher's predictions as probabilities, clipped and normalized."""
        shares = np.clip(self.full(values), 0.0, 1.0)
        total = shares.sum(axis=1, keepdims=True)
        even = np.full_like(shares, 1 / shares.shape[1])
        return np.divide(shares, total, out=even, where=total > 0)

    def fit(self, model: Any, table: Any, target: np.ndarray, weight: Any) -> Any:
        """Fit to known labels."""
        if is_regressor(model):
            return self._fit_values(model, table, target, weight)
        labels = self.classes[self.full(target).argmax(axis=1)]
        if np.all(labels == labels[0]):
            # Most classifiers cannot be fitted to a single class.
            return DummyClassifier().fit(table, labels)
        return fit_with(model, table, labels, sample_weight=weight)

    def fit_soft(self, model: Any, table: Any, target: np.ndarray, weight: Any) -> Any:
        """Fit to a teacher's predictions."""
        if is_regressor(model):
            return self._fit_values(model, table, target, weight)
        if self.n_targets == 1 and (soft := with_soft_objective(model)) is not None:
            soft_target = self.shares(target)[:, 1]
            return fit_with(soft, table, soft_target, sample_weight=weight)
        share = self.shares(target)
        if weight is not None:
            share = share * weight[:, None]
        return fit_weighted_copies(model, table, self.classes, share)

    def _fit_values(
        self, model: Any, table: Any, target: np.ndarray, weight: Any
    ) -> Any:
        target = target[:, 0] if self.n_targets == 1 else target
        model = for_outputs(model, target)
        return fit_with(model, table, target, sample_weight=weight)

    def values(self, model: Any, table: Any) -> np.ndarray:
        """Return probabilities; 0 for a class without training rows of the model."""
        if is_regressor(model):
            return np.asarray(model.predict(table), float).reshape(-1, self.n_targets)
        known = np.asarray(model.predict_proba(table), dtype=float)
        found = np.zeros((len(known), len(self.classes)))
        found[:, np.searchsorted(self.classes, model.classes_)] = known
        return found[:, 1:] if self.n_targets == 1 else found

    def check(self, model: Any, role: str) -> None:
        """Raise an error for an estimator that gives no probabilities."""
        if is_regressor(model):
            return
        if not is_classifier(model) or not hasattr(model, "predict_proba"):
            raise ValueError(
                f"The {role} {model!r} is neither a regressor nor a classifier with "
                "predict_proba, so that it gives no probabilities. Give one of these, "
                "or wrap it in CalibratedClassifierCV."
            )
        if role == "student" and not (
            self.n_targets == 1 and with_soft_objective(model) is not None
        ):
            check_copies(model)


def with_soft_objective(classifier: Any) -> Any:
    """Return a booster whose own objective takes labels in [0, 1], or None.

    The regressors of XGBoost and LightGBM with the objectives ``binary:logistic`` and
    ``cross_entropy`` are equivalent to their classifiers for two classes: they predict
    probabilities, but their labels may lie between 0 and 1.
    """
    last = last_step(classifier)
    package = type(last).__module__.split(".")[0]
    name = type(last).__name__
    if (package, name) == ("xgboost", "XGBClassifier"):
        from xgboost import XGBRegressor

        regressor, objective = XGBRegressor, "binary:logistic"
    elif (package, name) == ("lightgbm", "LGBMClassifier"):
        from lightgbm import LGBMRegressor

        regressor, objective = LGBMRegressor, "cross_entropy"
    else:
        return None
    parameters = last.get_params(deep=False) | {"objective": objective}
    if parameters.get("class_weight") is not None:
        return None
    soft = regressor(**parameters)
    if isinstance(classifier, Pipeline):
        return Pipeline([*classifier.steps[:-1], (classifier.steps[-1][0], soft)])
    return soft
