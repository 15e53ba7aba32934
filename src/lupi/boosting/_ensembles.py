"""Fitted sums of trees, one class per engine, with the same three questions.

`decision` is the whole sum, `staged` its value after each round, `importances` what
each feature contributed.
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
    """Σ_t β_t h_t over scikit-learn's trees."""

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
        """Nothing to join: trees are kept as they are."""

    def rows(self, X: Any) -> Any:
        """Rows as `one` reads them."""
        return X

    def one(self, tree: Any, rate: float, rows: Any) -> np.ndarray:
        """Return what a single tree adds on these rows."""
        return rate * tree.tree_.predict(rows)[:, 0]

    def staged(self, X: Any) -> Iterator[np.ndarray]:
        """Sum after each round; a new array every time."""
        total = np.zeros(X.shape[0])
        for tree, rate in zip(self.trees, self.rates, strict=True):
            total = total + self.one(tree, rate, X)
            yield total

    def decision(self, X: Any) -> np.ndarray:
        """Sum of all trees."""
        total = np.zeros(X.shape[0])
        for tree, rate in zip(self.trees, self.rates, strict=True):
            total += self.one(tree, rate, X)
        return total

    def importances(self, n_features: int) -> np.ndarray:
        """Mean decrease in impurity, summing to one, as scikit-learn's boosting."""
        grown = [tree.tree_ for tree in self.trees if tree.tree_.node_count > 1]
        if not grown:
            return np.zeros(n_features)
        each = [tree.compute_feature_importances(normalize=False) for tree in grown]
        return _normalized(np.mean(np.array(each), axis=0))


@stored
class XGBoostEnsemble:
    """XGBoost's sum of trees, kept as its JSON document so that it can be stored."""

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
        """Join the trees appended since the last call to the ones before."""
        if self._new:
            before = [self.document] if self.document else []
            self.document = _join(before + self._new)
            self._new = []
            self._booster = None

    def rows(self, X: Any) -> Any:
        """Rows as `one` reads them."""
        return import_xgboost().DMatrix(
            X,
            feature_types=self.feature_types,
            enable_categorical=self.feature_types is not None,
        )

    def one(self, tree: Any, rate: float, rows: Any) -> np.ndarray:
        """Return what a single tree adds on these rows."""
        return tree.predict(rows, output_margin=True)

    def staged(self, X: Any) -> Iterator[np.ndarray]:
        """Sum after each round; a new array every time."""
        rows, booster = self.rows(X), self._load()
        total = np.zeros(X.shape[0], dtype=np.float32)
        for round_ in range(len(self)):
            total = total + booster.predict(
                rows, output_margin=True, iteration_range=(round_, round_ + 1)
            )
            yield total.astype(np.float64)

    def decision(self, X: Any) -> np.ndarray:
        """Sum of all trees."""
        raw = self._load().predict(self.rows(X), output_margin=True)
        return raw.astype(np.float64)

    def importances(self, n_features: int) -> np.ndarray:
        """Total gain of the splits on each feature, summing to one."""
        gains = self._load().get_score(importance_type="total_gain")
        total = np.zeros(n_features)
        for name, gain in gains.items():
            total[int(name[1:])] = gain
        return _normalized(total)

    def _load(self) -> Any:
        if self._booster is None:
            self._booster = import_xgboost().Booster()
            self._booster.load_model(bytearray(self.document))
        return self._booster


def import_xgboost() -> Any:
    """Return XGBoost, or raise a sentence that says how to get it."""
    return require("xgboost", 'engine="xgboost"')


def _join(documents: list[bytes]) -> bytes:
    """One booster with the trees of many, in their order."""
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
    """Refuse a stored model whose trees lead outside of their arrays, or in circles.

    XGBoost follows the indices it is given, so a file from elsewhere is read first.
    """
    learner = json.loads(document)["learner"]
    n_features = int(learner["learner_model_param"]["num_feature"])
    for tree in learner["gradient_booster"]["model"]["trees"]:
        left, right = np.array(tree["left_children"]), np.array(tree["right_children"])
        feature = np.array(tree["split_indices"])
        node = np.arange(len(left))
        inner = left != -1
        fine = (
            len(left) == len(right) == len(feature) == len(tree["split_conditions"])
            and np.array_equal(inner, right != -1)
            and np.all(left[inner] > node[inner])
            and np.all(right[inner] > node[inner])
            and np.all(np.maximum(left, right) < len(node))
            and np.all((feature >= 0) & (feature < n_features))
        )
        if not fine:
            raise ValueError(
                "The stored XGBoost model is damaged: a tree of it points to nodes or "
                "features that do not exist. Fit the model again and save it anew."
            )


def _normalized(total: np.ndarray) -> np.ndarray:
    largest = total.sum()
    return total / largest if largest > 0 else total


def readable_by_trees(X: Any) -> Any:
    """Rows as scikit-learn's trees read them: float32, 32-bit indices if sparse."""
    if not sp.issparse(X):
        return X
    X = sp.csr_matrix(X, dtype=np.float32)
    X.indices = X.indices.astype(np.intc, copy=False)
    X.indptr = X.indptr.astype(np.intc, copy=False)
    return X
