"""The two tree learners: scikit-learn's exact CART and XGBoost's histogram trees.

An engine holds the training rows of X. Its method ``grow`` fits a tree to given targets
and weights, and returns it with its values on the training rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.tree import DecisionTreeRegressor

from lupi.boosting._collective import everywhere, total
from lupi.boosting._ensembles import CartEnsemble, XGBoostEnsemble, import_xgboost


@dataclass(frozen=True)
class Grown:
    """A new tree.

    Attributes
    ----------
    tree : object
        The tree, as the ensemble of the engine stores it.
    values : ndarray of shape (n_rows,)
        h on the training rows.
    step : ndarray of shape (n_rows,)
        β h on the training rows.
    """

    tree: Any
    values: np.ndarray
    step: np.ndarray


class CartEngine:
    """Exact CART of scikit-learn, float64 throughout."""

    dtype = np.float64

    def __init__(
        self,
        X: Any,
        weight: np.ndarray,
        rng: np.random.RandomState,
        *,
        max_depth: int | None,
        max_features: Any,
        min_weight_fraction_leaf: float,
        tree_params: dict[str, Any],
    ):
        self._X_fit = sp.csc_matrix(X) if sp.issparse(X) else X
        self._X_apply = X
        self._params = {
            "max_depth": max_depth,
            "max_features": max_features,
            "min_weight_fraction_leaf": min_weight_fraction_leaf,
            **tree_params,
            "random_state": rng,
        }
        self._checked = False

    def grow(self, target: np.ndarray, weight: np.ndarray | None, rate: float) -> Grown:
        """Fit a tree to the targets."""
        tree = DecisionTreeRegressor(**self._params)
        # All trees have the same parameters, which are validated once.
        with config_context(skip_parameter_validation=self._checked):
            tree.fit(self._X_fit, target, sample_weight=weight, check_input=False)
        self._checked = True
        leaves = tree.tree_.apply(self._X_apply)
        values = tree.tree_.value[:, 0, 0].take(leaves)
        return Grown(tree, values, rate * values)

    @staticmethod
    def ensemble() -> CartEnsemble:
        """Return an ensemble without trees."""
        return CartEnsemble()


class XGBoostEngine:
    """Histogram trees of XGBoost, which works in float32.

    Each pass trains a booster of one tree, so that a rejected pass can be dropped and
    the values on the training rows come from XGBoost's cache, without reading X. The
    trees of the accepted passes are joined into one booster after the last round.
    """

    dtype = np.float32

    def __init__(
        self,
        X: Any,
        weight: np.ndarray,
        rng: np.random.RandomState,
        *,
        max_depth: int | None,
        max_features: Any,
        min_weight_fraction_leaf: float,
        tree_params: dict[str, Any],
        feature_types: list[str] | None = None,
        device: str = "cpu",
        n_jobs: int | None = None,
    ):
        self._xgboost = import_xgboost()
        self._rng = rng
        self._params: dict[str, Any] = {
            "tree_method": "hist",
            "base_score": 0.0,
            "max_depth": 0 if max_depth is None else max_depth,
            "colsample_bynode": _share_of_features(max_features, X.shape[1]),
            "device": device,
        }
        if min_weight_fraction_leaf > 0:
            weight_of_all = float(total(weight.sum()))
            self._params["min_child_weight"] = min_weight_fraction_leaf * weight_of_all
        self._params.update(tree_params)
        if n_jobs is not None:
            self._params["nthread"] = n_jobs
        # The quantiles of the histograms are weighted, as in XGBoost itself.
        self._rows = self._xgboost.QuantileDMatrix(
            X,
            weight=None if everywhere(bool(np.all(weight == 1))) else weight,
            max_bin=int(self._params.get("max_bin", 256)),
            feature_types=feature_types,
            enable_categorical=feature_types is not None,
            nthread=n_jobs,
        )
        self._ones = np.ones(X.shape[0], dtype=np.float32)

    def grow(self, target: np.ndarray, weight: np.ndarray | None, rate: float) -> Grown:
        """Fit a tree to the targets."""
        params = {**self._params, "eta": rate}
        if params["colsample_bynode"] < 1:
            params["seed"] = int(self._rng.randint(2**31 - 1))
        booster = self._xgboost.Booster(params, [self._rows])
        # After a first call of predict, XGBoost caches the values of the training rows
        # while it grows the tree.
        booster.predict(self._rows, output_margin=True)
        hessian = self._ones if weight is None else weight
        booster.boost(self._rows, 0, grad=-target * hessian, hess=hessian)
        step = booster.predict(self._rows, output_margin=True)
        return Grown(booster, step / np.float32(rate), step)

    @staticmethod
    def ensemble() -> XGBoostEnsemble:
        """Return an ensemble without trees."""
        return XGBoostEnsemble()


def _share_of_features(max_features: Any, n_features: int) -> float:
    """Return scikit-learn's `max_features` as a share of the columns, for XGBoost."""
    if max_features is None:
        return 1.0
    if max_features == "sqrt":
        count = int(np.sqrt(n_features))
    elif max_features == "log2":
        count = int(np.log2(n_features))
    elif isinstance(max_features, float):
        count = int(max_features * n_features)
    else:
        count = min(int(max_features), n_features)
    return max(1, count) / n_features
