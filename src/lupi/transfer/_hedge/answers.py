"""What is predicted, a number or class probabilities, and how estimators learn it.

Predictions, y and opinions are all of one shape, (n_rows, n_targets): one column for a
number and for two classes (the probability of the second), one per class beyond.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline

from lupi.base._metadata import fit_with, last_step
from lupi.base._rows import take_rows
from lupi.transfer._distillation import check_copies
from lupi.transfer._fitting import for_outputs


@dataclass(frozen=True)
class Numbers:
    """A continuous target."""

    n_targets: int = 1

    def target(self, y: np.ndarray) -> np.ndarray:
        """Return y as a column."""
        return y[:, None]

    def codes(self, target: np.ndarray) -> np.ndarray:
        """Return zeros: there are no classes to spread over the folds."""
        return np.zeros(len(target), dtype=int)

    def fit(self, model: Any, table: Any, target: np.ndarray, weight: Any) -> Any:
        """Fit to known values or to opinions, which are numbers likewise."""
        return fit_with(model, table, target[:, 0], sample_weight=weight)

    fit_soft = fit

    def values(self, model: Any, table: Any) -> np.ndarray:
        """Return predictions."""
        return np.asarray(model.predict(table), dtype=float).reshape(-1, 1)

    def check(self, model: Any, role: str) -> None:
        """Refuse an estimator that cannot play its role."""
        if not is_regressor(model):
            raise ValueError(
                f"The {role} {model!r} is no regressor, but the target is a number. "
                "Give a regressor."
            )


@dataclass(frozen=True)
class Probabilities:
    """Classes; regressors learn indicators, classifiers learn labels."""

    classes: np.ndarray

    @property
    def n_targets(self) -> int:
        """One column for two classes, one per class beyond."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    def target(self, y: np.ndarray) -> np.ndarray:
        """Return labels as probabilities of 0 and 1."""
        return self.indicators(np.searchsorted(self.classes, y))

    def codes(self, target: np.ndarray) -> np.ndarray:
        """Return the positions of the labels among the classes."""
        return self.full(target).argmax(axis=1)

    def indicators(self, codes: np.ndarray) -> np.ndarray:
        """Return y as probabilities of 0 and 1."""
        known = np.eye(len(self.classes))[codes]
        return known[:, 1:] if self.n_targets == 1 else known

    def full(self, values: np.ndarray) -> np.ndarray:
        """Return one column per class, also for two classes."""
        return np.hstack([1 - values, values]) if self.n_targets == 1 else values

    def shares(self, values: np.ndarray) -> np.ndarray:
        """Return opinions as probabilities: none below 0, their sum 1."""
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
            # Nothing to learn here: the one label is the answer.
            return DummyClassifier().fit(table, labels)
        return fit_with(model, table, labels, sample_weight=weight)

    def fit_soft(self, model: Any, table: Any, target: np.ndarray, weight: Any) -> Any:
        """Fit to opinions."""
        if is_regressor(model):
            return self._fit_values(model, table, target, weight)
        if self.n_targets == 1 and (soft := with_soft_objective(model)) is not None:
            soft_target = self.shares(target)[:, 1]
            return fit_with(soft, table, soft_target, sample_weight=weight)
        share = self.shares(target)
        if weight is not None:
            share = share * weight[:, None]
        row, label = np.nonzero(share)
        return fit_with(
            model,
            take_rows(table, row),
            self.classes[label],
            sample_weight=share[row, label],
        )

    def _fit_values(
        self, model: Any, table: Any, target: np.ndarray, weight: Any
    ) -> Any:
        target = target[:, 0] if self.n_targets == 1 else target
        model = for_outputs(model, target)
        return fit_with(model, table, target, sample_weight=weight)

    def values(self, model: Any, table: Any) -> np.ndarray:
        """Return probabilities; 0 for a class that the model has never seen."""
        if is_regressor(model):
            return np.asarray(model.predict(table), float).reshape(-1, self.n_targets)
        known = np.asarray(model.predict_proba(table), dtype=float)
        found = np.zeros((len(known), len(self.classes)))
        found[:, np.searchsorted(self.classes, model.classes_)] = known
        return found[:, 1:] if self.n_targets == 1 else found

    def check(self, model: Any, role: str) -> None:
        """Refuse an estimator that cannot play its role."""
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
    """Return a booster that learns labels in [0, 1] by its own objective, or None.

    The regressors of XGBoost and LightGBM with the objectives ``binary:logistic`` and
    ``cross_entropy`` are their classifiers for two classes, with probabilities as
    predictions, except that their labels may lie between 0 and 1.
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
