"""The trees: scikit-learn's exact CART, or XGBoost's histogram trees.

An engine holds the training rows of X. Its method ``grow`` fits a tree to given targets
and weights. An ensemble is the fitted sum of such trees: `decision` is the whole sum,
`staged` its value after each round, `importances` the share of each feature. The rows
may be divided among processes: the functions at the end add up over all of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeRegressor

from lupi._optional import require
from lupi._stored import are_branches, must_fit, stored
from lupi.base._rows import is_data_frame

if TYPE_CHECKING:
    from lupi.boosting._ipl import BaseIPL


@dataclass(frozen=True)
class GrownTree:
    """A new tree, with its values h and its steps β h on the training rows."""

    tree: Any
    values: np.ndarray
    step: np.ndarray


class CartEngine:
    """Exact CART of scikit-learn, float64 throughout."""

    dtype = np.float64

    def __init__(self, X: Any, rng: np.random.RandomState, **parameters: Any):
        self._X_fit = sp.csc_matrix(X) if sp.issparse(X) else X
        self._X_apply = X
        self._parameters = {**parameters, "random_state": rng}
        self._validated = False

    def grow(
        self, target: np.ndarray, weight: np.ndarray | None, rate: float
    ) -> GrownTree:
        """Fit a tree to the targets."""
        tree = DecisionTreeRegressor(**self._parameters)
        # All trees have the same parameters, which are validated once.
        with config_context(skip_parameter_validation=self._validated):
            tree.fit(self._X_fit, target, sample_weight=weight, check_input=False)
        self._validated = True
        leaves = tree.tree_.apply(self._X_apply)
        values = tree.tree_.value[:, 0, 0].take(leaves)
        return GrownTree(tree, values, rate * values)


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
        rng: np.random.RandomState,
        weight: np.ndarray,
        settings: BaseIPL,
    ):
        self._xgboost = import_xgboost()
        self._rng = rng
        self._parameters: dict[str, Any] = {
            "tree_method": "hist",
            "base_score": 0.0,
            "max_depth": 0 if settings.max_depth is None else settings.max_depth,
            "colsample_bynode": _share_of_features(settings.max_features, X.shape[1]),
            "device": settings.device,
        }
        if settings.min_weight_fraction_leaf > 0:
            smallest = settings.min_weight_fraction_leaf * float(total(weight.sum()))
            self._parameters["min_child_weight"] = smallest
        self._parameters.update(settings.tree_params or {})
        if settings.n_jobs is not None:
            self._parameters["nthread"] = settings.n_jobs
        types = settings._feature_types()
        # The quantiles of the histograms are weighted, as in XGBoost itself.
        self._rows = self._xgboost.QuantileDMatrix(
            X,
            weight=None if everywhere(bool(np.all(weight == 1))) else weight,
            max_bin=int(self._parameters.get("max_bin", 256)),
            feature_types=types,
            enable_categorical=types is not None,
            nthread=settings.n_jobs,
        )
        self._ones = np.ones(X.shape[0], dtype=np.float32)

    def grow(
        self, target: np.ndarray, weight: np.ndarray | None, rate: float
    ) -> GrownTree:
        """Fit a tree to the targets."""
        parameters = {**self._parameters, "eta": rate}
        if parameters["colsample_bynode"] < 1:
            parameters["seed"] = int(self._rng.randint(2**31 - 1))
        booster = self._xgboost.Booster(parameters, [self._rows])
        # After a first call of predict, XGBoost caches the values of the training rows
        # while it grows the tree.
        booster.predict(self._rows, output_margin=True)
        hessian = self._ones if weight is None else weight
        booster.boost(self._rows, 0, grad=-target * hessian, hess=hessian)
        step = booster.predict(self._rows, output_margin=True)
        return GrownTree(booster, step / np.float32(rate), step)


def _share_of_features(max_features: Any, n_features: int) -> float:
    """Return scikit-learn's `max_features` as a share of the columns, for XGBoost."""
    named = {None: n_features, "sqrt": np.sqrt(n_features), "log2": np.log2(n_features)}
    if max_features in named:
        count = named[max_features]
    elif isinstance(max_features, float):
        count = max_features * n_features
    else:
        count = min(max_features, n_features)
    return max(1, int(count)) / n_features


@stored
class CartEnsemble:
    """Sum Σ_t β_t h_t of scikit-learn's trees."""

    def __init__(self) -> None:
        self.trees: list[Any] = []
        self.rates: list[float] = []

    def __len__(self) -> int:
        return len(self.trees)

    def check(self, width: int) -> None:
        """Raise a ValueError for trees of another width."""
        must_fit(len(self.trees) == len(self.rates), "the rates of the trees")
        for tree in self.trees:
            sound = isinstance(tree, DecisionTreeRegressor)
            must_fit(sound and tree.n_features_in_ == width, "the width of a tree")

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

    def __init__(self, feature_types: list[str] | None) -> None:
        self.document = b""
        self.feature_types = feature_types
        self._n_trees = 0
        self._new: list[bytes] = []
        self._booster: Any = None

    def __len__(self) -> int:
        return self._n_trees

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_booster": None}

    def check(self, width: int) -> None:
        """Raise a ValueError for a document that XGBoost cannot follow.

        XGBoost does not check the indices of a file.
        """
        whole = json.loads(self.document)
        self.document = json.dumps(whole).encode()  # what repeats a name is gone
        learner = whole["learner"]
        booster, shape = learner["gradient_booster"], learner["learner_model_param"]
        trees = booster["model"]["trees"]
        must_fit(
            booster["name"] == "gbtree"
            and int(shape["num_feature"]) == width
            and int(shape["num_class"]) == 0
            and int(shape["num_target"]) == 1
            and booster["model"]["tree_info"] == [0] * len(trees)
            and booster["model"]["iteration_indptr"] == list(range(len(trees) + 1))
            and len(trees) == self._n_trees,
            "the document of XGBoost",
        )
        for tree in trees:
            must_fit(_is_sound(tree, width), "a tree of XGBoost")

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
        if not len(self):
            return np.zeros(X.shape[0])
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
            # Assigned when complete: several threads may predict at once.
            booster = import_xgboost().Booster()
            booster.load_model(bytearray(self.document))
            self._booster = booster
        return self._booster


Engine = CartEngine | XGBoostEngine
Ensemble = CartEnsemble | XGBoostEnsemble


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


def _is_sound(tree: dict[str, Any], n_features: int) -> bool:
    """Return whether the arrays of a tree of XGBoost fit each other."""
    left, right = np.array(tree["left_children"]), np.array(tree["right_children"])
    feature = np.array(tree["split_indices"])
    each = ("split_conditions", "default_left", "split_type", "base_weights")
    leaf = left == -1
    nodes, starts, sizes, categories = (
        np.array(tree[f"categories{part}"], dtype=int)
        for part in ("_nodes", "_segments", "_sizes", "")
    )
    return bool(
        all(len(tree[name]) == len(left) for name in each)
        and int(tree["tree_param"]["num_nodes"]) == len(left)
        and int(tree["tree_param"]["size_leaf_vector"]) <= 1
        and np.array_equal(leaf, right == -1)
        and are_branches(left, right, feature, n_features, leaf)
        and np.array_equal(nodes, np.flatnonzero(tree["split_type"]))
        and len(nodes) == len(starts) == len(sizes)
        and np.all((starts >= 0) & (sizes >= 0) & (starts + sizes <= len(categories)))
        and np.all((categories >= 0) & (categories < 2**24))
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


@stored
class CategoryEncoder:
    """Ordinal encoder of categorical columns; unknown and missing values are NaN."""

    def __init__(self, table: Any, categorical: list[Any]):
        self.columns = list(table.columns)
        self.categorical = categorical
        # All categories of a column, including those that no row has.
        self.encoder = OrdinalEncoder(
            categories=[np.sort(table[name].cat.categories) for name in categorical],
            handle_unknown="use_encoded_value",
            unknown_value=np.nan,
        ).fit(table[categorical].to_numpy())

    @classmethod
    def of(cls, table: Any) -> CategoryEncoder | None:
        """Return the encoder of a table; None when it has no categorical column."""
        if not is_data_frame(table):
            return None
        names = [c for c in table.columns if str(table[c].dtype) == "category"]
        return cls(table, names) if names else None

    def encode(self, table: Any) -> Any:
        """Return the table with numbers in place of categories."""
        if not is_data_frame(table) or any(
            name not in table.columns for name in self.categorical
        ):
            return table  # the checks of the estimator refuse other columns
        values = self.encoder.transform(table[self.categorical].to_numpy(dtype=object))
        return table.assign(**dict(zip(self.categorical, values.T, strict=True)))

    def feature_types(self) -> list[str]:
        """Return XGBoost's feature types, "c" for categories and "q" for numbers."""
        return ["c" if name in self.categorical else "q" for name in self.columns]


# XGBoost's collective, if each process boosts its own rows and all grow the same trees:
# XGBoost adds up the histograms, and `total` the sums of the comments and of the
# objective. With one process, it is None, and these functions return their argument.
_COLLECTIVE: ContextVar[Any] = ContextVar("collective", default=None)


@contextmanager
def together(collective: Any) -> Iterator[None]:
    """Add up sums by a module such as `xgboost.collective`, which is initialized."""
    token = _COLLECTIVE.set(collective)
    try:
        yield
    finally:
        _COLLECTIVE.reset(token)


def is_divided() -> bool:
    """Return whether the rows are divided among several processes."""
    return _COLLECTIVE.get() is not None


def total(values: Any) -> Any:
    """Return the sum of an array, or a number, over the processes."""
    collective = _COLLECTIVE.get()
    if collective is None:
        return values
    own = np.asarray(values)
    flat = np.ascontiguousarray(own, dtype=np.float64).reshape(-1)
    added = collective.allreduce(flat, collective.Op.SUM).reshape(own.shape)
    return added.astype(own.dtype) if own.dtype.kind == "f" else added


def everywhere(holds: bool) -> bool:
    """Return whether a condition holds in all processes."""
    return bool(total(0.0 if holds else 1.0) == 0.0)


def stacked(rows: np.ndarray) -> np.ndarray:
    """Return the rows of all processes, each of which has the same number."""
    collective = _COLLECTIVE.get()
    if collective is None:
        return rows
    blocks = np.zeros((collective.get_world_size(), *rows.shape))
    blocks[collective.get_rank()] = rows
    return total(blocks).reshape(-1, rows.shape[1])


def moments(table: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a table with the means and variances of all rows, and its weights.

    With one process, this is the table itself. Otherwise each process contributes two
    rows: its mean plus and minus its standard deviations, each with half its weight.
    """
    if _COLLECTIVE.get() is None:
        return table, weight
    own = float(np.sum(weight, dtype=np.float64))
    mean, spread = np.zeros((2, table.shape[1]))
    if own > 0:
        mean = np.average(table, axis=0, weights=weight)
        spread = np.sqrt(np.average((table - mean) ** 2, axis=0, weights=weight))
    rows = stacked(np.array([mean - spread, mean + spread]))
    weights = stacked(np.full((2, 1), own / 2))[:, 0]
    return rows, weights
