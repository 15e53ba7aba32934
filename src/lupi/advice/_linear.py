"""The base of both estimators: reading of rows and rules, and predictions.

Two classes give one binary problem, whose positive class is the second. With more
classes, problem k is class k against the rest: the sign of a rule for class c is +1 in
problem c and -1 in all others.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from lupi.advice._problem import Array, Region, is_empty
from lupi.advice._rule import Rule
from lupi.base._arguments import refuse_huge
from lupi.base._estimator import DecisionClassifier, no_probabilities
from lupi.base._info import Declared
from lupi.base._rows import n_rows_of

# Types of parameters.
Advice = Rule | str | list | tuple | None
Standardize = Annotated[Any, "boolean", tuple, list, np.ndarray]


class LinearAdvisedClassifier(DecisionClassifier, Declared, BaseEstimator):
    """Predictions from `classes_`, `coef_` and `intercept_`."""

    coef_: Array
    mean_: Array
    scale_: Array
    intercept_: Array

    def _read_rows(
        self, X: Any, y: Any, *, reset: bool, without_rows: bool
    ) -> tuple[Any, NDArray[Any]]:
        """Check X and y; with `without_rows`, accept tables that have no rows."""
        options: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64}
        options["reset"] = reset
        if without_rows and n_rows_of(X) == 0:
            y = np.empty(0) if y is None else np.asarray(y)
            if len(y):
                raise ValueError(f"X has no rows, but y has {len(y)} labels.")
            return validate_data(self, X, ensure_min_samples=0, **options), y
        X, y = validate_data(self, X, y, **options)
        refuse_huge(X, "X", self)
        if reset:
            check_classification_targets(y)
        return X, y

    def _read_problems(
        self,
        X: Any,
        y: NDArray[Any],
        classes: ArrayLike | None,
        rules: Sequence[Rule],
        weight: Array | None = None,
    ) -> list[list[Region]]:
        """Set classes and scaling; return the regions of the rules in each problem.

        The classes are those of y and of `classes`; without both, those of the rules.
        """
        given = [
            labels for labels in (y if len(y) else None, classes) if labels is not None
        ]
        given = given or [[rule.label for rule in rules]]
        self.classes_ = np.unique(np.concatenate(given, axis=None))
        names = self.classes_.tolist()
        if len(names) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes, but there is "
                f"{len(names)} class: {names}. Add rows of another class, or give the "
                "labels with classes=[...]."
            )
        self.mean_, self.scale_ = scaling(X, self.standardize, weight)  # type: ignore[attr-defined]
        weights = _read_weights(self.advice_weight, rules)  # type: ignore[attr-defined]
        for rule in rules:
            if rule.label not in names:
                raise ValueError(
                    f"The rule {str(rule)!r} concludes {rule.label!r}, but the classes "
                    f"are {names}. Correct the label (put a string such as '1' in "
                    "quotes), or give it with classes=[...]."
                )
        columns = getattr(self, "feature_names_in_", None)
        shapes = [rule.region(columns, X.shape[1]) for rule in rules]
        problems = []
        for positive in self._positives:
            regions = []
            for rule, (D, d), cost in zip(rules, shapes, weights, strict=True):
                sign = 1.0 if names.index(rule.label) == positive else -1.0
                region = Region.of(D, d, sign, float(cost))
                regions.append(region.scaled(self.mean_, self.scale_))
            problems.append(regions)
        return problems

    @property
    def _positives(self) -> NDArray[np.int64]:
        """Code of the positive class of each binary problem."""
        n_classes = len(self.classes_)
        return np.array([1]) if n_classes == 2 else np.arange(n_classes)

    def _decisions(self, X: Any) -> Array:
        check_is_fitted(self)
        rows: Any = validate_data(
            self, X, accept_sparse="csr", dtype=np.float64, reset=False
        )
        values = rows @ self.coef_.T + self.intercept_
        return values[:, 0] if len(self.classes_) == 2 else values

    predict_proba = no_probabilities

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _read_weights(advice_weight: Any, rules: Sequence[Rule]) -> Array:
    """Return one weight per rule, ∞ for a hard one."""
    try:
        weights = np.asarray(advice_weight, dtype=np.float64)
        weights = np.broadcast_to(weights, len(rules)) if weights.ndim == 0 else weights
    except (TypeError, ValueError):
        weights = np.empty(0)
    if weights.shape != (len(rules),):
        raise ValueError(
            f"advice_weight must be one number or one number per rule ({len(rules)}), "
            f"but {advice_weight!r} was given. A rule with 'or' counts once for each "
            "alternative."
        )
    if not np.all(weights >= 0):
        raise ValueError(
            "advice_weight must not be negative (np.inf makes a rule hard), but "
            f"{advice_weight!r} was given."
        )
    return weights


def warn_of_empty(rules: Sequence[Rule], regions: Sequence[Region]) -> list[int]:
    """Return the positions of the rules with a nonempty region; warn of the others."""
    empty = [i for i, region in enumerate(regions) if is_empty(region)]
    for i in empty:
        warnings.warn(
            f"No point satisfies the conditions of the rule {rules[i].title!r}. "
            "Correct or remove it.",
            UserWarning,
            stacklevel=4,
        )
    return [i for i in range(len(regions)) if i not in empty]


def scaling(
    X: Any,
    standardize: bool | tuple[ArrayLike, ArrayLike],
    weight: Array | None = None,
) -> tuple[Array, Array]:
    """Return mean and deviation; 0 and 1 if columns are not standardized.

    The mean is 0 for a sparse matrix, which centering would make dense.
    """
    n_features, sparse = X.shape[1], sp.issparse(X)
    if isinstance(standardize, bool | np.bool_):
        if not standardize:
            return np.zeros(n_features), np.ones(n_features)
        if X.shape[0] < 2:
            raise ValueError(
                "standardize=True computes mean and deviation from the rows and needs "
                f"at least two, but there is {X.shape[0]}. Give more rows (in "
                "partial_fit, a larger first batch), or standardize=(mean, deviation)."
            )
        scaler = StandardScaler(with_mean=not sparse).fit(X, sample_weight=weight)
        return np.zeros(n_features) if sparse else scaler.mean_, scaler.scale_
    try:
        parts = [np.asarray(part, dtype=np.float64) for part in standardize]
    except (TypeError, ValueError):
        parts = []
    if len(parts) != 2 or any(part.shape not in ((), (n_features,)) for part in parts):
        raise ValueError(
            f"standardize must be True, False or a pair (mean, deviation) of "
            f"{n_features} numbers each, but {standardize!r} was given."
        )
    mean, scale = (np.broadcast_to(part, n_features).copy() for part in parts)
    if not (np.isfinite(mean).all() and np.all((scale > 0) & np.isfinite(scale))):
        raise ValueError(
            "standardize must have finite means and positive deviations, but "
            f"{standardize!r} was given."
        )
    return np.zeros(n_features) if sparse else mean, scale


def apply_scaling(X: Any, mean: Array, scale: Array) -> Any:
    """Return (X - mean) / scale; X itself if mean is 0 and scale is 1."""
    if not mean.any() and np.all(scale == 1):
        return X
    return (X - mean) / scale if isinstance(X, np.ndarray) else X.multiply(1 / scale)
