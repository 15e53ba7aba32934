"""Losses, fitted models and predictions of boosted trees.

Boosting approximates the loss at the current prediction G by its second-order expansion
per row, ½ κ_i (h − r_i)² up to a constant, with r_i the Newton step and κ_i the
curvature. For the squared error r = y − G and κ = 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Annotated, Any, Literal

import numpy as np
from scipy.special import expit
from scipy.stats import loguniform
from sklearn.base import is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from lupi._parameters import Count, CountOrShare, Number, Positive, Seed, parameters
from lupi._stored import stored
from lupi.base import PrivilegedEstimator, Training, binary_problems
from lupi.base._arguments import counted_classes
from lupi.base._estimator import DecisionClassifier
from lupi.boosting._engines import (
    CartEngine,
    Ensemble,
    normalized,
    readable_by_trees,
)

# Keeps the Newton step finite for probabilities of 0 or 1; XGBoost uses the same value.
_SMALLEST_CURVATURE = 1e-16


class SquaredError:
    """Squared error (y − G)², on real targets or on labels ±1."""

    def residual(self, y: np.ndarray, raw: np.ndarray) -> np.ndarray:
        """Return the residual r = y − G."""
        return y - raw

    def mean(self, y: np.ndarray, raw: np.ndarray, weight: np.ndarray) -> float:
        """Return the weighted mean of (y − G)²."""
        return float(np.average(np.square(y - raw, dtype=np.float64), weights=weight))

    def probabilities(self, raw: np.ndarray) -> np.ndarray:
        """Return the projection of (1 + G_k) / 2 onto the probability simplex.

        Squared error estimates the mean of a label ±1 given x, which is 2 P(k | x) − 1.
        The estimates need not be in [0, 1] nor sum to one. The projection keeps the
        order of the classes; with two classes it is (1 + G) / 2, clipped.
        """
        means = (1.0 + raw) / 2.0
        ordered = -np.sort(-means, axis=1)
        excess = np.cumsum(ordered, axis=1) - 1.0
        count = np.arange(1, means.shape[1] + 1)
        # The condition always holds in the first column, so that last is at least 1.
        last = np.sum(ordered - excess / count > 0, axis=1)
        shift = excess[np.arange(len(means)), last - 1] / last
        return np.maximum(means - shift[:, None], 0.0)


class LogLoss:
    """Logistic loss log(1 + exp(−y G)) on labels ±1, to second order."""

    def residual(self, y: np.ndarray, raw: np.ndarray) -> np.ndarray:
        """Return (t − p) / (p (1 − p)) with t = (y + 1) / 2 and p = σ(G)."""
        gradient = (y > 0).astype(raw.dtype) - expit(raw)
        return gradient / self.curvature(raw)

    def curvature(self, raw: np.ndarray) -> np.ndarray:
        """Return κ = p (1 − p)."""
        probability = expit(raw)
        return np.maximum(probability * (1 - probability), _SMALLEST_CURVATURE)

    def mean(self, y: np.ndarray, raw: np.ndarray, weight: np.ndarray) -> float:
        """Return the weighted mean of log(1 + exp(−y G))."""
        return float(np.average(np.logaddexp(0.0, -y * raw), weights=weight))

    def probabilities(self, raw: np.ndarray) -> np.ndarray:
        """Return σ(G_k), divided by their sum over the classes."""
        each = expit(raw)
        return each / each.sum(axis=1, keepdims=True)


TREE_SPACE = {"max_depth": [1, 2, 3], "learning_rate": loguniform(0.03, 0.3)}
Loss = SquaredError | LogLoss
LOSSES: dict[str, type[Loss]] = {"squared_error": SquaredError, "log_loss": LogLoss}


@stored
@dataclass
class Boosted:
    """One boosted model: its trees, its trace, and the state for a warm start."""

    ensemble: Ensemble
    rng: np.random.RandomState  # of the next tree
    # Objective after each accepted pass, and trees grown, of every round.
    traces: list[np.ndarray] = field(default_factory=list)
    passes: list[int] = field(default_factory=list)
    # w of every round, or the fitted auxiliary regressor.
    coefs: list[Any] = field(default_factory=list)
    # D of sparse IPL, once it is complete, and v of the last sparse round.
    atoms: np.ndarray | None = None
    sparse_coef: np.ndarray | None = None
    # Mean loss after each round.
    train_scores: list[float] = field(default_factory=list)
    validation_scores: list[float] = field(default_factory=list)
    lasso_converged: bool = True

    def _drop_privileged(self) -> None:
        """Drop regressors on X*, which may contain rows of X*."""
        self.coefs = [c if isinstance(c, np.ndarray) else None for c in self.coefs]


@parameters
class BoostedTrees(PrivilegedEstimator):
    """Base of estimators that predict by sums of trees on X."""

    n_estimators: Count = 100
    learning_rate: Positive = 0.1
    max_depth: Count | None = 3
    max_features: Literal["sqrt", "log2"] | CountOrShare = None
    min_weight_fraction_leaf: Annotated[float, Number(Real, 0, 0.5, "both")] = 0.0
    random_state: Seed = None
    loss: str = field(init=False)  # a parameter of one of the models
    # One per class, or one for two classes and for targets.
    _models: list[Boosted] = field(init=False)

    def _read(
        self, X: Any, y: Any, privileged: Any = None, sample_weight: Any = None
    ) -> Training:
        """Check the arguments of ``fit``; X becomes float32, as trees need it."""
        training = super()._read(X, y, privileged, sample_weight)
        return replace(training, X=readable_by_trees(training.X))

    def _reading_options(self) -> dict[str, Any]:
        nan = get_tags(self).input_tags.allow_nan
        return {"dtype": np.float32, "allow_nan_X": nan}

    def _fit_training(self, training: Training) -> None:
        if is_classifier(self):
            training, labels = counted_classes(training, self.class_weight, self)
            self.classes_ = labels.classes
            problems = binary_problems(labels.codes, len(labels.classes), "ovr")
            targets = [target for _, target in problems]
        else:
            training = training.counted()
            targets = [training.y]
        self._fit_targets(training, targets)

    def _fit_targets(self, training: Training, targets: list[np.ndarray]) -> None:
        """Fit a boosted model to each of the targets; subclasses define it."""
        raise TypeError(f"{type(self).__name__} does not define _fit_targets.")

    def _cart(self, X: Any, rng: np.random.RandomState, **further: Any) -> CartEngine:
        """Return the engine of CART with the parameters of the trees."""
        own = ("max_depth", "max_features", "min_weight_fraction_leaf")
        given = {name: getattr(self, name) for name in own} | further
        return CartEngine(X, rng, **given)

    def _loss(self) -> Loss:
        return LOSSES[self.loss]()

    def _read_X(self, X: Any) -> Any:
        return readable_by_trees(self._validate_X(X))

    def _check_state(self) -> None:
        """Compare the trees with the width of X."""
        for model in getattr(self, "_models", ()):
            model.ensemble.check(self.n_features_in_)

    def _raw(self, X: Any) -> np.ndarray:
        """Return G of every model, one column each."""
        X = self._read_X(X)
        return np.column_stack([model.ensemble.decision(X) for model in self._models])

    def _staged_raw(self, X: Any) -> Iterator[np.ndarray]:
        """Yield G after each round; a model that stopped early keeps its last value."""
        X = self._read_X(X)
        stages = [model.ensemble.staged(X) for model in self._models]
        last = np.zeros((X.shape[0], len(stages)))
        for _ in range(max(len(model.ensemble) for model in self._models)):
            last = np.column_stack([next(s, last[:, k]) for k, s in enumerate(stages)])
            yield last

    def _outcomes(self, raw: np.ndarray) -> np.ndarray:
        """Return targets; a classifier returns labels."""
        return raw[:, 0]

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Yield `predict` after each round.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Decision features.

        Yields
        ------
        ndarray of shape (n_samples,)
            Labels or targets predicted by the model of the first 1, 2, … rounds.
        """
        return map(self._outcomes, self._staged_raw(X))

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each feature of X in the improvement of the trees, summing to 1."""
        check_is_fitted(self)
        each = [m.ensemble.importances(self.n_features_in_) for m in self._models]
        return normalized(np.mean(each, axis=0))


class BoostedTreesClassifier(DecisionClassifier, BoostedTrees):
    """Classifier by sums of trees; more than two classes are fitted one-vs-rest."""

    def _decisions(self, X: Any) -> np.ndarray:
        return self._shaped(self._raw(X))

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Yield `decision_function` after each round.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Decision features.

        Yields
        ------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Decision values of the model of the first 1, 2, … rounds.
        """
        return map(self._shaped, self._staged_raw(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return estimates of the class probabilities.

        With squared error, (1 + G_k)/2 estimates P(class k | x), since the mean of a
        label ±1 is 2P − 1; each row is projected onto the probability simplex (with two
        classes: clipped to [0, 1]). With log loss, they are the logistic function of
        G_k, divided by the sum over the classes. X* changes the targets of the trees,
        so that the probabilities need calibration.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Decision features.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows sum to one; columns are in the order of ``classes_``.
        """
        return self._probabilities(self._raw(X))

    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """Yield `predict_proba` after each round.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Decision features.

        Yields
        ------
        ndarray of shape (n_samples, n_classes)
            Probabilities by the model of the first 1, 2, … rounds.
        """
        return map(self._probabilities, self._staged_raw(X))

    def _outcomes(self, raw: np.ndarray) -> np.ndarray:
        return self._labels(self._shaped(raw))

    def _shaped(self, raw: np.ndarray) -> np.ndarray:
        return raw[:, 0] if len(self.classes_) == 2 else raw

    def _probabilities(self, raw: np.ndarray) -> np.ndarray:
        if len(self.classes_) == 2:
            raw = np.hstack([-raw, raw])
        return self._loss().probabilities(raw)
