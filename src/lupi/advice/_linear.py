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

from lupi.advice._problem import Region, is_empty
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

    coef_: NDArray[np.float64]
    mean_: NDArray[np.float64]
    scale_: NDArray[np.float64]
    intercept_: NDArray[np.float64]

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

    def _read_classes(
        self, y: NDArray[Any], classes: ArrayLike | None, rules: Sequence[Rule]
    ) -> NDArray[Any]:
        """Return the labels of y and of `classes`; without both, those of the rules."""
        if classes is not None:
            labels = (
                np.union1d(y, classes) if len(y) else np.unique(np.asarray(classes))
            )
        elif len(y):
            labels = np.unique(y)
        else:
            labels = np.unique(np.array([rule.label for rule in rules]))
        if len(labels) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes, but there is "
                f"{len(labels)} class: {labels.tolist()}. Add rows of another class, "
                "or give the labels with classes=[...]."
            )
        return labels

    def _read_regions(
        self, rules: Sequence[Rule], n_features: int
    ) -> list[list[Region]]:
        """Return the regions of the rules in each binary problem, in scaled columns."""
        weights = _read_weights(self.advice_weight, rules)  # type: ignore[attr-defined]
        names = getattr(self, "feature_names_in_", None)
        codes = np.array([_code(rule, self.classes_) for rule in rules])
        shapes = [rule.region(names, n_features) for rule in rules]
        problems = []
        for positive in self._positives:
            signs = np.where(codes == positive, 1.0, -1.0)
            parts = zip(shapes, signs, weights, strict=True)
            regions = [Region.of(D, d, z, float(weight)) for (D, d), z, weight in parts]
            problems.append([r.scaled(self.mean_, self.scale_) for r in regions])
        return problems

    @property
    def _positives(self) -> NDArray[np.int64]:
        """Code of the positive class of each binary problem."""
        n_classes = len(self.classes_)
        return np.array([1]) if n_classes == 2 else np.arange(n_classes)

    def _decisions(self, X: Any) -> NDArray[np.float64]:
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


def _read_weights(advice_weight: Any, rules: Sequence[Rule]) -> NDArray[np.float64]:
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


def _code(rule: Rule, classes: NDArray[Any]) -> int:
    labels = classes.tolist()
    if rule.label in labels:
        return labels.index(rule.label)
    raise ValueError(
        f"The rule {str(rule)!r} concludes {rule.label!r}, but the classes are "
        f"{labels}. Correct the label (put a string such as '1' in quotes), or give it "
        "with classes=[...]."
    )


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
    sample_weight: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and deviation; 0 and 1 if columns are not standardized.

    The mean is 0 for a sparse matrix, which centering would make dense.
    """
    n_features = X.shape[1]
    if not isinstance(standardize, bool | np.bool_):
        return _given_scaling(standardize, n_features, sparse=sp.issparse(X))
    if not standardize:
        return np.zeros(n_features), np.ones(n_features)
    if X.shape[0] < 2:
        raise ValueError(
            f"standardize=True computes mean and deviation from the rows and needs at "
            f"least two, but there is {X.shape[0]}. Give more rows (in partial_fit, a "
            "larger first batch), or standardize=(mean, deviation)."
        )
    sparse = sp.issparse(X)
    scaler = StandardScaler(with_mean=not sparse).fit(X, sample_weight=sample_weight)
    mean = np.zeros(n_features) if sparse else scaler.mean_
    return mean, scaler.scale_


def _given_scaling(
    pair: Any, n_features: int, sparse: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    try:
        parts = [np.asarray(part, dtype=np.float64) for part in pair]
    except (TypeError, ValueError):
        parts = []
    if len(parts) != 2 or any(part.shape not in ((), (n_features,)) for part in parts):
        raise ValueError(
            f"standardize must be True, False or a pair (mean, deviation) of "
            f"{n_features} numbers each, but {pair!r} was given."
        )
    mean, scale = (np.broadcast_to(part, n_features).copy() for part in parts)
    if not (np.isfinite(mean).all() and np.all((scale > 0) & np.isfinite(scale))):
        raise ValueError(
            "standardize must have finite means and positive deviations, but "
            f"{pair!r} was given."
        )
    return np.zeros(n_features) if sparse else mean, scale


def apply_scaling(X: Any, mean: NDArray[np.float64], scale: NDArray[np.float64]) -> Any:
    """Return (X - mean) / scale; X itself if mean is 0 and scale is 1."""
    if not mean.any() and np.all(scale == 1):
        return X
    return (X - mean) / scale if isinstance(X, np.ndarray) else X.multiply(1 / scale)
