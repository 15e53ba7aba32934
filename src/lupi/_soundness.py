"""Checks of a model that was read from a file.

Compiled code of scikit-learn, SciPy and XGBoost follows the indices in its arrays and
trusts their shapes. These checks compare all of them before the model is used, so that
a damaged or forged file cannot read or write outside of its arrays.

Three kinds of rules apply to every part of a model, however deep:

- Arrays whose names have one meaning throughout scikit-learn and lupi have the shapes
  in `SHAPES`, in which equal names are equal lengths.
- A class of lupi compares its own attributes in ``_check_state``.
- `CHECKS` has the types of other libraries that compiled code reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.cluster._kmeans import _BaseKMeans
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import IsolationForest
from sklearn.ensemble._forest import BaseForest
from sklearn.ensemble._gb import BaseGradientBoosting
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.neighbors._base import NeighborsBase
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm._base import BaseLibSVM
from sklearn.tree import BaseDecisionTree
from sklearn.tree._tree import Tree

from lupi._stored import are_branches, must_fit

# Names of axes, of which "features" has the length n_features_in_. An array with fewer
# axes has the last ones.
SHAPES: dict[str, tuple[str, ...]] = {
    "coef_": ("outputs", "features"),
    "missing_coef_": ("outputs", "features"),
    "intercept_": ("outputs",),
    "classes_": ("classes",),
    **dict.fromkeys(
        (
            *("feature_names_in_", "mean_", "scale_", "var_", "center_", "min_"),
            *("data_min_", "data_max_", "max_abs_", "statistics_", "variances_"),
            *("components_", "exp_dirichlet_component_", "cluster_centers_", "idf_"),
        ),
        ("rows", "features"),
    ),
}


def check_model(model: Any) -> None:
    """Raise a ValueError for a model with arrays that do not fit each other."""
    for part, owner in parts_of(model):
        if isinstance(part, Tree):
            must_fit(isinstance(owner, BaseDecisionTree), "a tree belongs to no model")
        for kinds, check in CHECKS:
            if isinstance(part, kinds):
                check(part)
        if hasattr(part, "__dict__") and not isinstance(part, type):
            check_shapes(part)
            if hasattr(type(part), "_check_state"):
                part._check_state()


def parts_of(model: Any) -> Iterator[tuple[Any, Any]]:
    """Yield all objects inside a model, each once, with the object that holds it."""
    seen: set[int] = set()
    waiting: list[tuple[Any, Any]] = [(model, None)]
    while waiting:
        part, owner = waiting.pop()
        if id(part) in seen or isinstance(part, str | bytes | int | float | type):
            continue
        seen.add(id(part))
        yield part, owner
        inside: Any = ()
        if isinstance(part, Mapping):
            inside = part.values()
        elif isinstance(part, list | tuple | set | frozenset):
            inside = part
        elif isinstance(part, np.ndarray):
            inside = part.ravel().tolist() if part.dtype == object else ()
        elif hasattr(part, "__dict__"):
            inside, owner = vars(part).values(), part
        waiting.extend((one, owner) for one in inside)


def check_shapes(part: Any) -> None:
    """Compare the arrays of an object that are named in `SHAPES`."""
    state = vars(part)
    lengths: dict[str, int] = {}
    if "n_features_in_" in state:
        width = state["n_features_in_"]
        whole = isinstance(width, Integral) and not isinstance(width, bool)
        must_fit(whole and width > 0, "n_features_in_")
        lengths["features"] = int(width)
    for name, axes in SHAPES.items():
        array = state.get(name)
        if isinstance(array, np.ndarray) or sp.issparse(array):
            shape, named = array.shape, axes[len(axes) - array.ndim :]
            known = map(lengths.setdefault, named, shape)
            fits = array.ndim <= len(axes) and tuple(known) == shape
            must_fit(fits, f"{name} of {type(part).__name__}")


def check_sparse(matrix: Any) -> None:
    """Check that the indices of a sparse matrix are inside of it."""
    must_fit(matrix.format in ("csr", "csc"), f"a matrix of the format {matrix.format}")
    matrix.check_format(full_check=True)


def check_generator(generator: Any) -> None:
    """Check that the next number of a generator is inside of its state."""
    name, keys, position, *_ = generator.get_state()
    must_fit(name == "MT19937" and 0 <= position <= len(keys), "a random generator")


def check_new_generator(generator: Any) -> None:
    """Check that a generator is of the default type, which has no array."""
    pcg = isinstance(generator.bit_generator, np.random.PCG64)
    must_fit(pcg, "a random generator")


def check_k_means(model: Any) -> None:
    """Check the number of threads, which OpenMP starts without checking."""
    must_fit(0 < getattr(model, "_n_threads", 1) <= 4096, "the number of threads")


def check_tree_state(arguments: tuple, state: Mapping[str, Any]) -> None:
    """Check the state of a tree of scikit-learn, before the tree is created.

    scikit-learn walks from the root by these indices without looking, and reserves as
    much memory for a path as the depth says.
    """
    n_features, n_classes, n_outputs = arguments
    nodes = state["nodes"]
    left, right = nodes["left_child"], nodes["right_child"]
    sound = (
        isinstance(n_features, int)
        and isinstance(n_outputs, int)
        and np.shape(n_classes) == (n_outputs,)
        and n_outputs > 0
        and np.all(np.asarray(n_classes) > 0)
        and len(nodes) == state["node_count"]
        and are_branches(
            left, right, nodes["feature"], n_features, (left == -1) & (right == -1)
        )
        and depth_of(left, right) <= state["max_depth"] <= len(nodes)
    )
    must_fit(sound, "a branch of a decision tree")


def depth_of(left: np.ndarray, right: np.ndarray) -> int:
    """Return the length of the longest path of branches that lead forward."""
    depth, level = -1, np.zeros(1, dtype=int)
    while len(level):
        depth += 1
        below = np.concatenate([left[level], right[level]])
        level = np.unique(below[below > 0])
    return depth


def check_decision_tree(model: Any) -> None:
    """Check that a tree has the width that its model compares with X."""
    tree = getattr(model, "tree_", None)
    if tree is None:
        return
    must_fit(
        isinstance(tree, Tree)
        and tree.n_features == model.n_features_in_
        and tree.n_outputs == model.n_outputs_,
        "the width of a decision tree",
    )


def check_gradient_boosting(model: Any) -> None:
    """Check the trees of gradient boosting, which adds them to its first prediction.

    That of another model than the default is not computed here, and refused.
    """
    trees = getattr(model, "estimators_", None)
    if trees is None:
        return
    width, count = model.n_features_in_, model.n_trees_per_iteration_
    sound = isinstance(trees, np.ndarray) and trees.ndim == 2 and len(trees)
    must_fit(sound and trees.shape[1] == count, "the number of trees")
    must_have_width(trees.ravel(), [width] * trees.size)
    for one in trees.ravel():
        must_fit(one.tree_.value.shape[1:] == (1, 1), "the outputs of a tree")
    if not (isinstance(model.init_, str) and model.init_ == "zero"):
        dummy = isinstance(model.init_, DummyClassifier | DummyRegressor)
        must_fit(dummy, "init of gradient boosting")
        first = model._raw_predict_init(np.zeros((1, width)))
        must_fit(first.shape == (1, count), "the first prediction")


def check_forest(model: Any) -> None:
    """Check the widths of the trees of a forest, which reads X once for all."""
    trees = getattr(model, "estimators_", None)
    if trees is None:
        return
    widths = [model.n_features_in_] * len(trees)
    if isinstance(model, IsolationForest) and model._max_features != widths[0]:
        widths = list(map(len, model.estimators_features_))
    must_have_width(trees, widths)


def must_have_width(trees: Any, widths: list[int]) -> None:
    """Raise a ValueError for models that are not trees of these widths."""
    must_fit(
        len(trees) == len(widths)
        and all(isinstance(one, BaseDecisionTree) for one in trees)
        and [one.tree_.n_features for one in trees] == widths,
        "the width of a tree",
    )


def check_neighbors(model: Any) -> None:
    """Check the rows and the labels of nearest neighbors."""
    if not hasattr(model, "_fit_X"):
        return
    name, rows = type(model).__name__, model._fit_X
    must_fit(
        rows.shape == (model.n_samples_fit_, model.n_features_in_)
        and model._fit_method == "brute",
        f"the rows of {name}",
    )
    if is_classifier(model):
        classes = model.classes_ if model.outputs_2d_ else [model.classes_]
        labels = model._y if model.outputs_2d_ else model._y[:, None]
        must_fit(
            labels.shape == (len(rows), len(classes))
            and np.issubdtype(labels.dtype, np.integer)
            and np.all((labels >= 0) & (labels < list(map(len, classes)))),
            f"the labels of {name}",
        )


def check_libsvm(model: Any) -> None:
    """Check the arrays of a support vector machine of scikit-learn."""
    if not hasattr(model, "_n_support"):
        return
    name, width = type(model).__name__, model.n_features_in_
    counts, support, vectors = model._n_support, model.support_, model.support_vectors_
    n_classes = len(model.classes_) if is_classifier(model) else 2
    n_vectors, pairs = len(support), n_classes * (n_classes - 1) // 2
    must_fit("_impl" not in vars(model), f"the type of {name}")
    must_fit(
        np.shape(counts) == (n_classes,)
        and np.all(counts >= 0)
        and (counts.sum() if is_classifier(model) else counts[0]) == n_vectors,
        f"the number of support vectors of {name}",
    )
    expected = (n_vectors, width)
    if model.kernel == "precomputed":
        expected = (0, 0)
        inside = np.all((support >= 0) & (support < width))
        must_fit(inside and model.shape_fit_[0] == width, f"support_ of {name}")
    shapes: dict[str, Any] = {"support_vectors_": expected}
    shapes |= dict.fromkeys(("dual_coef_", "_dual_coef_"), (n_classes - 1, n_vectors))
    shapes |= dict.fromkeys(("intercept_", "_intercept_"), (pairs,))
    for attribute, shape in shapes.items():
        array = getattr(model, attribute)
        must_fit(array.shape == shape, f"{attribute} of {name}")
    for array in (vectors, model.dual_coef_, model._dual_coef_):
        must_fit(sp.issparse(array) == model._sparse, f"an array of {name}")
    if model._sparse:  # the coefficients are read as if none of them was left out
        full = (n_classes - 1) * n_vectors
        must_fit(model._dual_coef_.data.size == full, f"_dual_coef_ of {name}")
    for array in (model._probA, model._probB):
        must_fit(array.shape in ((0,), (pairs,)), f"the probabilities of {name}")


def check_one_hot(encoder: Any) -> None:
    """Check that the columns of a one-hot encoder are those of its categories."""
    if not hasattr(encoder, "_n_features_outs"):
        return
    must_fit(
        encoder._n_features_outs == encoder._compute_n_features_outs()
        and len(encoder.categories_) == encoder.n_features_in_,
        "the columns of a one-hot encoder",
    )


def check_vocabulary(vectorizer: Any) -> None:
    """Check that the columns of a vocabulary are inside of its table."""
    words = getattr(vectorizer, "vocabulary_", None)
    if words is None:
        return
    columns = sorted(words.values())
    must_fit(columns == list(range(len(words))), "the columns of a vocabulary")


CHECKS: tuple[tuple[Any, Callable[[Any], None]], ...] = (
    ((sp.sparray, sp.spmatrix), check_sparse),
    (np.random.RandomState, check_generator),
    (np.random.Generator, check_new_generator),
    (_BaseKMeans, check_k_means),
    (BaseDecisionTree, check_decision_tree),
    (BaseGradientBoosting, check_gradient_boosting),
    ((BaseForest, IsolationForest), check_forest),
    (NeighborsBase, check_neighbors),
    (BaseLibSVM, check_libsvm),
    (OneHotEncoder, check_one_hot),
    (CountVectorizer, check_vocabulary),
)
