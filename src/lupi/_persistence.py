"""Model files in the format of skops: arrays, numbers and names of types, no pickle.

A file is a zip archive with skops' description of the object, its arrays, and
``lupi.json`` with the version of lupi. `load` constructs only trusted types, so that no
code of a file is executed: the estimators of lupi, classes declared by
`lupi._stored.stored`, `FOREIGN_TYPES`, and the types that skops trusts (scikit-learn's
public estimators, numpy, scipy). A file cannot extend this list. Constructing a listed
type from any attributes must be harmless; it must not call its attributes.

Compiled code of scikit-learn, SciPy and XGBoost follows the indices in its arrays and
relies on their shapes. Therefore all parts of a model are checked before it is used:

- Arrays whose names have one meaning throughout scikit-learn and lupi have the shapes
  in `SHAPES`, in which equal names are equal lengths.
- A class of lupi compares its own attributes in ``_check_state``.
- `CHECKS` has the checks of types of other libraries.
"""

from __future__ import annotations

import copy
import io
import json
import os
import platform
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, is_classifier
from sklearn.cluster._kmeans import _BaseKMeans
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import IsolationForest
from sklearn.ensemble._forest import BaseForest
from sklearn.ensemble._gb import BaseGradientBoosting
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import _split
from sklearn.neighbors._base import NeighborsBase
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm._base import BaseLibSVM
from sklearn.tree import BaseDecisionTree
from sklearn.tree._tree import Tree

from lupi._atomic import write_atomically
from lupi._stored import STORED, are_branches, must_fit
from lupi._words import listed
from lupi.base._info import load_models
from lupi.exceptions import ModelFileError, ModelVersionWarning

_DETAILS = "lupi.json"
_FORMAT = 1
MAX_SIZE = 1_000_000_000


def save(
    model: BaseEstimator, path: str | os.PathLike[str], *, keep_privileged: bool = False
) -> None:
    """Write a model to disk without pickle, and without the rows of X*.

    Parameters
    ----------
    model : estimator
        An estimator of lupi, or a scikit-learn pipeline or search that holds one. One
        of `lupi.dask` is saved as the ordinary estimator.
    path : str or path-like
        The file to write, by custom ending in ``.skops``. It is replaced in one step
        if it exists: an interrupted write leaves the old file. A symbolic link stays
        one, and the file that it leads to is replaced.
    keep_privileged : bool, default=False
        Whether to keep what predicting does not need and what may hold rows of X*:
        the functions behind ``correction``, teachers, transformers of X*, soft labels.
        By default the file holds no row of X*.

    Raises
    ------
    ModelFileError
        If the model holds something that `load` would refuse, such as a function of
        your own as kernel: the message names it.

    See Also
    --------
    load : Read the model back.

    Examples
    --------
    >>> import os, tempfile
    >>> import lupi
    >>> from sklearn.svm import SVC
    >>> model = SVC().fit([[0.0], [1.0]], ["low", "high"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.skops")
    ...     lupi.save(model, path)
    ...     lupi.load(path).predict([[0.9]])
    array(['high'], dtype='<U4')
    """
    if hasattr(model, "to_local"):
        model = model.to_local()
    write_atomically(path, model_file(model, {}, keep_privileged=keep_privileged))


def load(path: str | os.PathLike[str], *, max_size: int = MAX_SIZE) -> Any:
    """Read a model that `save` wrote.

    No code from the file is run: only types of a list kept inside lupi are built.
    A file that holds any other type is refused.

    Parameters
    ----------
    path : str or path-like
        The file to read.
    max_size : int, default=1_000_000_000
        Most bytes that the file may take when it is unpacked. A small file can unpack
        to more than there is memory.

    Returns
    -------
    estimator
        The model, fitted as it was when saved.

    Raises
    ------
    ModelFileError
        If the file is damaged, was not written by `save`, is too large, or holds a
        type that is not allowed; the message says which.

    Warns
    -----
    ModelVersionWarning
        If another version of lupi wrote the file.

    See Also
    --------
    save : Write a model to disk.

    Examples
    --------
    >>> import os, tempfile
    >>> import lupi
    >>> from sklearn.svm import SVC
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.skops")
    ...     lupi.save(SVC(C=3.0).fit([[0.0], [1.0]], [0, 1]), path)
    ...     lupi.load(path).C
    3.0
    """
    return load_with_details(path, max_size=max_size)[0]


def model_file(
    model: BaseEstimator, details: Mapping[str, Any], *, keep_privileged: bool = False
) -> bytes:
    """Return the file of a model and of details about it, as bytes."""
    import skops.io

    from lupi import __version__

    if not isinstance(model, BaseEstimator):
        raise ModelFileError(
            f"lupi.save writes estimators; it was given a {type(model).__name__}."
        )
    try:
        model = model if keep_privileged else without_privileged(model)
        with warnings.catch_warnings():
            # Of dates in pandas 2: nothing reads it.
            warnings.filterwarnings("ignore", "metadata on a dtype is not saved")
            data = skops.io.dumps(model, compression=zipfile.ZIP_DEFLATED)
    except Exception as error:  # skops raises different types
        raise ModelFileError(
            f"This {type(model).__name__} cannot be saved: {error} Put another part "
            "in its place."
        ) from error
    refused = sorted(set(skops.io.get_untrusted_types(data=data)) - trusted_types())
    if refused:
        raise ModelFileError(
            f"This {type(model).__name__} holds {listed(refused)}, which lupi.load "
            "would refuse. Put another part in its place; of a search, save the "
            "best_estimator_."
        )
    try:
        check_model(model)
    except Exception as error:  # of arrays that somebody changed
        raise ModelFileError(
            f"This {type(model).__name__} cannot be saved, since lupi.load would "
            f"refuse it: {error}. Fit it again."
        ) from error
    about = {
        "format": _FORMAT,
        "lupi": __version__,
        "python": platform.python_version(),
        "model": type(model).__name__,
        "details": dict(details),
    }
    buffer = io.BytesIO(data)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_DETAILS, json.dumps(about, indent=2))
    return buffer.getvalue()


def load_with_details(
    path: str | os.PathLike[str], *, max_size: int = MAX_SIZE
) -> tuple[Any, dict[str, Any]]:
    """Read a model, and the details saved with it and the version of lupi."""
    path = Path(path)
    try:
        with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
            _check_size(archive, path, max_size)
            about = _read_about(archive, path)
            model = _read_model(archive, path)
    except (ModelFileError, OSError, MemoryError):
        raise
    except ImportError as error:
        raise ModelFileError(
            f"{path} needs {error.name}, which is not installed here."
        ) from error
    except Exception as error:
        # zipfile, json, numpy and skops raise different types for a damaged file.
        raise ModelFileError(
            f"{path} is damaged or is not a model file written by lupi.save "
            f"({type(error).__name__}: {error})."
        ) from error
    if not isinstance(model, BaseEstimator):
        raise ModelFileError(
            f"{path} holds a {type(model).__name__}, where an estimator was expected."
        )
    return model, {**about["details"], "lupi": about["lupi"]}


def _check_size(archive: zipfile.ZipFile, path: Path, max_size: int) -> None:
    """Raise ModelFileError for a file that unpacks to more than `max_size`."""
    # zipfile reads no more than these sizes, but a part can be used many times.
    sizes = {part.filename: part.file_size for part in archive.infolist()}
    total = sum(sizes.values())
    if total <= max_size and "schema.json" in sizes:
        items = _dicts(json.loads(archive.read("schema.json")))
        files = [str(item.get("file")) for item in items]
        total = sizes["schema.json"] + sum(sizes.get(name, 0) for name in files)
    if total > max_size:
        raise ModelFileError(
            f"{path} takes {total / 1e6:.0f} MB when it is unpacked, more than the "
            f"{max_size / 1e6:.0f} MB that are allowed. If you trust its maker, load "
            f"it with lupi.load(path, max_size={total})."
        )


def _read_about(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    from lupi import __version__

    if _DETAILS not in archive.namelist():
        raise ModelFileError(
            f"{path} was not written by lupi.save: it does not say which version of "
            "lupi made it. Load it with the library that wrote it."
        )
    about = json.loads(archive.read(_DETAILS))
    if about["format"] > _FORMAT:
        raise ModelFileError(
            f"{path} was written by lupi {about['lupi']} in a newer format than lupi "
            f"{__version__} can read. Update lupi."
        )
    if about["lupi"] != __version__:
        warnings.warn(
            f"{path} was written by lupi {about['lupi']} and is read by lupi "
            f"{__version__}: predictions may differ. Fit and save it again when in "
            "doubt.",
            ModelVersionWarning,
            stacklevel=5,
        )
    details = about.setdefault("details", {})
    for kind in ("features", "numbers", "privileged", "missing"):
        names = details.get(kind, [])
        if not isinstance(names, list) or not all(isinstance(n, str) for n in names):
            raise ValueError(f"its {kind} are not a list of names")
    return about


def _read_model(archive: zipfile.ZipFile, path: Path) -> Any:
    # As skops.io.load does, but trees are checked before objects are constructed.
    from skops.io._audit import get_tree
    from skops.io._utils import read_schema

    trusted = trusted_types()  # before the file is read
    schema, context = read_schema(archive)
    _follow_moves(schema)
    root = get_tree(schema, context, trusted=sorted(trusted))
    refused = sorted(root.get_unsafe_set() - trusted)
    if refused:
        raise ModelFileError(
            f"{path} holds {listed(refused)}, which lupi does not load: it is not "
            "one of the types a lupi model is made of. Nothing was loaded."
        )
    for node in _tree_nodes(root):
        check_tree_state(node.args.construct(), node.attrs.construct())
    model = root.construct()
    check_model(model)
    return model


def _tree_nodes(root: Any) -> list[Any]:
    """Return the nodes of decision trees; their arrays can be constructed alone."""
    from skops.io._audit import Node
    from skops.io._general import TypeNode
    from skops.io._sklearn import TreeNode

    def nodes(root: Any) -> Iterator[Any]:
        return (item for item in parts_of(root, below) if isinstance(item, Node))

    def below(item: Any) -> Iterable[Any]:
        if isinstance(item, Node):
            return [*item.children.values(), getattr(item, "cached", None)]
        return contents(item)

    trees = []
    for node in nodes(root):
        if isinstance(node, TreeNode):
            trees.append(node)
            inside = nodes(list(node.children.values()))
            if any(isinstance(one, TreeNode) for one in inside):
                raise ValueError("it has a decision tree inside of another one")
        elif node.class_name == "Tree" and not isinstance(node, TypeNode):
            raise ValueError("it creates a decision tree without its nodes")
    return trees


def _follow_moves(description: Any) -> None:
    """Replace, in place, the modules of classes that have moved within their package.

    The files of a package are private and change between versions; a class of an older
    file is found by its package and its name.
    """
    homes = {
        (kind.__module__.split(".")[1], kind.__name__): kind.__module__
        for name, kind in STORED.items()
        if name.startswith("lupi.")
    }
    for item in _dicts(description):
        parts = str(item.get("__module__")).split(".")
        if parts[0] == "lupi" and len(parts) > 1:
            key = (parts[1], str(item.get("__class__")))
            item["__module__"] = homes.get(key, item["__module__"])


def _dicts(description: Any) -> Iterator[dict[str, Any]]:
    """Yield all dictionaries inside a description, which may be nested deeply."""
    return (item for item in parts_of(description) if isinstance(item, dict))


# ------------------------------------------------------------------------- rows of X*
def without_privileged(model: BaseEstimator) -> BaseEstimator:
    """Return a copy of a model that predicts the same and holds no row of X*.

    A class names the attributes that hold rows of X*, or models that may, in
    ``_privileged_state``, or has a method ``_drop_privileged``. Estimators lack these
    attributes, other objects have None.
    """
    model = copy.deepcopy(model)
    for part in parts_of(model):
        for name in getattr(type(part), "_privileged_state", ()):
            vars(part).pop(name, None)
            if not isinstance(part, BaseEstimator):
                vars(part)[name] = None
        if hasattr(type(part), "_drop_privileged"):
            part._drop_privileged()
    return model


# ------------------------------------------------------------------------------ types
# Names of types and functions by module, besides scores and splitters. Those of skrub,
# pandas and time zones are parts of a fitted skrub.TableVectorizer. Sparse arrays are
# read without pickle; skops trusts only their base classes. It leaves out decision
# trees, as scikit-learn follows their indices unchecked; these are checked below.
_FOREIGN = {
    "datetime": "timedelta timezone",
    "numpy": "dtype",
    "pandas": "DatetimeTZDtype",
    "pandas.core.dtypes.dtypes": "DatetimeTZDtype",
    "scipy.sparse._csc": "csc_array csc_matrix",
    "scipy.sparse._csr": "csr_array csr_matrix",
    "sklearn.calibration": "_CalibratedClassifier _SigmoidCalibration",
    "sklearn.metrics._scorer": "_PassthroughScorer _Scorer",
    "sklearn.tree._tree": "Tree",
    "sklearn.utils._metadata_requests": "MetadataRequest MethodMetadataRequest",
    "skrub._apply_to_cols": "ApplyToCols",
    "skrub._apply_to_each_col": "ApplyToEachCol",
    "skrub._check_input": "CheckInputDataFrame",
    "skrub._clean_categories": "CleanCategories",
    "skrub._clean_null_strings": "CleanNullStrings",
    "skrub._dataframe._common": (
        "is_any_date is_bool is_categorical is_duration is_numeric is_object is_string"
    ),
    "skrub._datetime_encoder": "DatetimeEncoder",
    "skrub._drop_uninformative": "DropUninformative",
    "skrub._duration_to_float": "DurationToFloat",
    "skrub._string_encoder": "StringEncoder",
    "skrub._table_vectorizer": (
        "PassThrough ShortReprDict TableVectorizer _created_by_predicate"
    ),
    "skrub._to_datetime": "ToDatetime",
    "skrub._to_float": "ToFloat",
    "skrub._to_str": "ToStr",
    "skrub.selectors._base": "All And Cols Filter Inv Or Sub",
    "skrub.selectors._selectors": "_cardinality_below",
    "zoneinfo": "ZoneInfo",
}
FOREIGN_TYPES = frozenset(
    f"{module}.{name}" for module, names in _FOREIGN.items() for name in names.split()
)


def trusted_types() -> frozenset[str]:
    """Return the names of all types that a file may hold, declared ones included."""
    load_models()
    scores = [get_scorer(name)._score_func for name in get_scorer_names()]
    kinds = [kind for kind in vars(_split).values() if isinstance(kind, type)]
    found = (*scores, *(kind for kind in kinds if hasattr(kind, "split")))
    names = (f"{one.__module__}.{one.__name__}" for one in found)
    return frozenset((*STORED, *FOREIGN_TYPES, *names))


# ----------------------------------------------------------------------------- arrays
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
    parts = list(parts_of(model))
    models = [part for part in parts if isinstance(part, BaseDecisionTree)]
    trees = {id(vars(one).get("tree_")) for one in models}
    for part in parts:
        if isinstance(part, Tree):
            must_fit(id(part) in trees, "a tree belongs to no model")
        for kinds, attribute, check in CHECKS:
            if isinstance(part, kinds) and hasattr(part, attribute):
                check(part)
        if hasattr(part, "__dict__"):
            check_shapes(part)
            if hasattr(type(part), "_check_state"):
                part._check_state()


def contents(part: Any) -> Iterable[Any]:
    """Return the objects that a container or an object holds."""
    if isinstance(part, Mapping):
        return part.values()
    if isinstance(part, list | tuple | set | frozenset):
        return part
    if isinstance(part, np.ndarray):
        return part.ravel().tolist() if part.dtype == object else ()
    return getattr(part, "__dict__", {}).values()


def parts_of(
    root: Any, inside: Callable[[Any], Iterable[Any]] = contents
) -> Iterator[Any]:
    """Yield an object and all objects inside of it, each once, without numbers."""
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, str | bytes | int | float | type):
            continue
        seen.add(id(part))
        yield part
        waiting.extend(inside(part))


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
    """Check the position in the state of a generator."""
    name, keys, position, *_ = generator.get_state()
    must_fit(name == "MT19937" and 0 <= position <= len(keys), "a random generator")


def check_new_generator(generator: Any) -> None:
    """Check that a generator has the default type, whose state has no position."""
    pcg = isinstance(generator.bit_generator, np.random.PCG64)
    must_fit(pcg, "a random generator")


def check_k_means(model: Any) -> None:
    """Check the number of threads, which OpenMP starts without checking."""
    must_fit(0 < model._n_threads <= 4096, "the number of threads")


def check_tree_state(arguments: tuple, state: Mapping[str, Any]) -> None:
    """Check the state of a tree of scikit-learn before it is constructed.

    scikit-learn follows the indices unchecked, and allocates paths by the depth.
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
    tree = model.tree_
    must_fit(
        isinstance(tree, Tree)
        and tree.n_features == model.n_features_in_
        and tree.n_outputs == model.n_outputs_,
        "the width of a decision tree",
    )


def check_gradient_boosting(model: Any) -> None:
    """Check the trees of gradient boosting, and the array to which they are added.

    An `init` other than the default could itself be unchecked; it is refused.
    """
    trees = model.estimators_
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
    """Check the widths of the trees of a forest, which validates X once."""
    trees = model.estimators_
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
    if model._sparse:  # all coefficients must be stored
        full = (n_classes - 1) * n_vectors
        must_fit(model._dual_coef_.data.size == full, f"_dual_coef_ of {name}")
    used = getattr(model, "_effective_probability", model.probability)
    for array in (model._probA, model._probB):
        fits = array.shape == (pairs,) or (array.shape == (0,) and not used)
        must_fit(fits, f"the probabilities of {name}")


def check_one_hot(encoder: Any) -> None:
    """Check that the columns of a one-hot encoder are those of its categories."""
    must_fit(
        encoder._n_features_outs == encoder._compute_n_features_outs()
        and len(encoder.categories_) == encoder.n_features_in_,
        "the columns of a one-hot encoder",
    )


def check_vocabulary(vectorizer: Any) -> None:
    """Check that the columns of a vocabulary are inside of its table."""
    words = vectorizer.vocabulary_
    columns = sorted(words.values())
    must_fit(columns == list(range(len(words))), "the columns of a vocabulary")


# Types, the attribute that fitted ones have, and their check.
CHECKS: tuple[tuple[Any, str, Callable[[Any], None]], ...] = (
    ((sp.sparray, sp.spmatrix), "__class__", check_sparse),
    (np.random.RandomState, "__class__", check_generator),
    (np.random.Generator, "__class__", check_new_generator),
    (_BaseKMeans, "_n_threads", check_k_means),
    (BaseDecisionTree, "tree_", check_decision_tree),
    (BaseGradientBoosting, "estimators_", check_gradient_boosting),
    ((BaseForest, IsolationForest), "estimators_", check_forest),
    (NeighborsBase, "_fit_X", check_neighbors),
    (BaseLibSVM, "_n_support", check_libsvm),
    (OneHotEncoder, "_n_features_outs", check_one_hot),
    (CountVectorizer, "vocabulary_", check_vocabulary),
)
