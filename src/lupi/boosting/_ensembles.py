"""Fitted sums of trees, one class per engine, with the same methods.

`decision` is the whole sum, `staged` its value after each round, `importances` the
share of each feature.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from lupi._optional import require
from lupi._stored import stored


@stored
class CartEnsemble:
    """Sum Σ_t β_t h_t of scikit-learn's trees."""

    def __init__(self) -> None:
        self.trees: list[Any] = []
        self.rates: list[float] = []

    def copy(self) -> CartEnsemble:
        """Return an ensemble of the same trees, to which others can be added."""
        copied = CartEnsemble()
        copied.__dict__ |= self.__dict__ | {
            "trees": list(self.trees),
            "rates": list(self.rates),
        }
        return copied

    def __len__(self) -> int:
        return len(self.trees)

    def append(self, tree: Any, rate: float) -> None:
        """Add the tree of an accepted pass."""
        self.trees.append(tree)
        self.rates.append(rate)

    def finish(self) -> None:
        """Do nothing: there are no documents to join."""

    def rows(self, X: Any) -> Any:
        """Return rows in the container that `one` reads."""
        return X

    def one(self, tree: Any, rate: float, rows: Any) -> np.ndarray:
        """Return the values of a single tree on rows, times its rate."""
        return rate * tree.tree_.predict(rows)[:, 0]

    def staged(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the sum after each round, a new array every time."""
        total = np.zeros(X.shape[0])
        for tree, rate in zip(self.trees, self.rates, strict=True):
            total = total + self.one(tree, rate, X)
            yield total

    def decision(self, X: Any) -> np.ndarray:
        """Return the sum of all trees."""
        total = np.zeros(X.shape[0])
        for tree, rate in zip(self.trees, self.rates, strict=True):
            total += self.one(tree, rate, X)
        return total

    def importances(self, n_features: int) -> np.ndarray:
        """Return mean decreases in impurity, summing to one, as in scikit-learn."""
        grown = [tree.tree_ for tree in self.trees if tree.tree_.node_count > 1]
        if not grown:
            return np.zeros(n_features)
        each = [tree.compute_feature_importances(normalize=False) for tree in grown]
        return normalized(np.mean(np.array(each), axis=0))


@stored
class XGBoostEnsemble:
    """XGBoost's sum of trees, stored as a JSON document."""

    def __init__(self) -> None:
        self.document = b""
        self.feature_types: list[str] | None = None
        self._n_trees = 0
        self._new: list[bytes] = []
        self._booster: Any = None

    def copy(self) -> XGBoostEnsemble:
        """Return an ensemble of the same trees, to which others can be added."""
        copied = XGBoostEnsemble()
        copied.__dict__ |= self.__dict__ | {"_new": list(self._new)}
        return copied

    def __len__(self) -> int:
        return self._n_trees

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_booster": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.document:
            _check(self.document)

    def append(self, tree: Any, rate: float) -> None:
        """Add the tree of an accepted pass; its rate is in its leaves."""
        self._new.append(bytes(tree.save_raw("json")))
        self._n_trees += 1

    def finish(self) -> None:
        """Join the trees appended since the last call to the document."""
        if self._new:
            before = [self.document] if self.document else []
            self.document = _join(before + self._new)
            self._new = []
            self._booster = None

    def rows(self, X: Any) -> Any:
        """Return rows in the container that `one` reads."""
        return import_xgboost().DMatrix(
            X,
            feature_types=self.feature_types,
            enable_categorical=self.feature_types is not None,
        )

    def one(self, tree: Any, rate: float, rows: Any) -> np.ndarray:
        """Return the values of a single tree on rows, times its rate."""
        return tree.predict(rows, output_margin=True)

    def staged(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the sum after each round, a new array every time."""
        rows, booster = self.rows(X), self._load()
        total = np.zeros(X.shape[0], dtype=np.float32)
        for round_ in range(len(self)):
            total = total + booster.predict(
                rows, output_margin=True, iteration_range=(round_, round_ + 1)
            )
            yield total.astype(np.float64)

    def decision(self, X: Any) -> np.ndarray:
        """Return the sum of all trees."""
        raw = self._load().predict(self.rows(X), output_margin=True)
        return raw.astype(np.float64)

    def importances(self, n_features: int) -> np.ndarray:
        """Return total gains of the splits on each feature, summing to one."""
        gains = self._load().get_score(importance_type="total_gain")
        total = np.zeros(n_features)
        for name, gain in gains.items():
            total[int(name[1:])] = gain
        return normalized(total)

    def _load(self) -> Any:
        if self._booster is None:
            self._booster = import_xgboost().Booster()
            self._booster.load_model(bytearray(self.document))
        return self._booster


def import_xgboost() -> Any:
    """Return the module xgboost, or raise an error that names the extra."""
    return require("xgboost", 'engine="xgboost"')


def _join(documents: list[bytes]) -> bytes:
    """Return one booster with the trees of several, in their order."""
    whole = json.loads(documents[0])
    trees: list[dict[str, Any]] = []
    for document in documents:
        part = json.loads(document)["learner"]["gradient_booster"]["model"]
        trees.extend(part["trees"])
    for position, tree in enumerate(trees):
        tree["id"] = position
    model = whole["learner"]["gradient_booster"]["model"]
    model["trees"] = trees
    model["tree_info"] = [0] * len(trees)
    model["iteration_indptr"] = list(range(len(trees) + 1))
    model["gbtree_model_param"]["num_trees"] = str(len(trees))
    return json.dumps(whole).encode()


def _check(document: bytes) -> None:
    """Refuse a stored model whose node or feature indices are invalid or cyclic.

    XGBoost does not check the indices of a file.
    """
    learner = json.loads(document)["learner"]
    n_features = int(learner["learner_model_param"]["num_feature"])
    for tree in learner["gradient_booster"]["model"]["trees"]:
        left, right = np.array(tree["left_children"]), np.array(tree["right_children"])
        feature = np.array(tree["split_indices"])
        node = np.arange(len(left))
        inner = left != -1
        valid = (
            len(left) == len(right) == len(feature) == len(tree["split_conditions"])
            and np.array_equal(inner, right != -1)
            and np.all(left[inner] > node[inner])
            and np.all(right[inner] > node[inner])
            and np.all(np.maximum(left, right) < len(node))
            and np.all((feature >= 0) & (feature < n_features))
        )
        if not valid:
            raise ValueError(
                "The stored XGBoost model is damaged: one of its trees refers to nodes "
                "or features that do not exist. Fit the model again and save it anew."
            )


def normalized(importances: np.ndarray) -> np.ndarray:
    """Return importances that sum to one, or zeros if all are zero."""
    total = importances.sum()
    return importances / total if total > 0 else importances


def readable_by_trees(X: Any) -> Any:
    """Return a sparse X as scikit-learn's trees read it: float32, 32-bit indices."""
    if not sp.issparse(X):
        return X
    X = sp.csr_matrix(X, dtype=np.float32)
    X.indices = X.indices.astype(np.intc, copy=False)
    X.indptr = X.indptr.astype(np.intc, copy=False)
    return X
