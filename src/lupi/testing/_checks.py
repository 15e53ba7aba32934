"""The checks: a task and its assertions, then one function ``check_…`` per property.

Where sums over the rows are taken in another order, models are compared on training
rows: of two splits of a tree that part these rows alike, the last digit decides, and
new rows between them may be parted differently.
"""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import joblib
import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import _is_fitted

from lupi._optional import installed
from lupi._words import listed
from lupi.base import PrivilegedTags, uses_unlabelled

_PREDICTING = (
    "predict",
    "decision_function",
    "predict_proba",
    "predict_log_proba",
    "score",
)
# The rows in which only X* is missing, only y, and both.
_NO_X_STAR = np.array([1, 2, 13, 30, 31, 47])
_NO_Y = np.array([0, 5, 6, 17, 21, 22, 33, 34, 41, 48, 50, 59])
_NEITHER = np.array([9, 25, 44])
CLASSIFIER_CHECKS: set[str] = set()
Check = TypeVar("Check", bound="Callable[[Task], None]")


@dataclass(frozen=True)
class Task:
    """A small task for an estimator, in which X* tells more about y than X.

    All numbers are exact in float32, so that conversion to float32 has no error.
    """

    estimator: Any
    X: np.ndarray
    y: np.ndarray
    P: np.ndarray
    X_new: np.ndarray

    def take(self, rows: np.ndarray) -> Task:
        """Keep some training rows, in this order, repeats allowed."""
        return replace(self, X=self.X[rows], y=self.y[rows], P=self.P[rows])

    def without_P_in(self, rows: np.ndarray) -> Task:
        """Make X* missing in given rows."""
        P = self.P.copy()
        P[rows] = np.nan
        return replace(self, P=P)

    def without_y_in(self, rows: np.ndarray) -> Task:
        """Make y missing in given rows, as NaN."""
        y = self.y.astype(float)
        y[rows] = np.nan
        return replace(self, y=y)

    def partial(self) -> Task:
        """Make X* missing in some rows."""
        return self.without_P_in(_NO_X_STAR)

    def unlabelled(self) -> Task:
        """Make X* missing in some rows, and y in others."""
        return self.partial().without_y_in(_NO_Y)

    def labelled(self) -> Task:
        """Keep the rows in which y is not missing."""
        return self.take(np.flatnonzero(~np.isnan(self.y)))

    def with_zeros(self) -> Task:
        """Replace small values of X and X* by zeros."""
        X, P = (np.where(np.abs(Z) < 0.3, 0.0, Z) for Z in (self.X, self.P))
        return replace(self, X=X, P=P)

    @property
    def tables(self) -> dict[str, np.ndarray]:
        """The arguments of ``fit``."""
        return {"X": self.X, "y": self.y, "privileged": self.P}

    def ready(self) -> Any:
        """Return an unfitted copy of the estimator, with fixed seeds."""
        copy = clone(self.estimator)
        seeds = [name for name in copy.get_params() if name.endswith("random_state")]
        return copy.set_params(**dict.fromkeys(seeds, 0))

    def fitted(self, **arguments: Any) -> Any:
        """Fit a copy to X, y and X*, unless `arguments` has others."""
        return self.fit(self.ready(), **arguments)

    def fit(self, model: Any, **arguments: Any) -> Any:
        """Fit a model, with X and y by position."""
        given = self.tables | arguments
        return model.fit(given.pop("X"), given.pop("y"), **given)

    def same(self, ours: Any, theirs: Any, what: str) -> None:
        """Assert that outputs agree up to the tolerance, relative to the largest."""
        ours, theirs = np.asarray(ours), np.asarray(theirs)
        assert ours.shape == theirs.shape, (
            f"{what}: outputs of shapes {ours.shape} and {theirs.shape}."
        )
        tolerance = lupi_tags(self.estimator).tolerance
        allowed = tolerance * max(1.0, np.abs(theirs).max())
        distance = np.abs(ours - theirs).max()
        assert distance <= allowed, (
            f"{what}: outputs differ by {distance:.3g}, allowed are {allowed:.3g}."
        )

    def agree(self, ours: Any, theirs: Any, what: str, X: Any = None) -> None:
        """Assert that the outputs of two fitted models agree, by default on X_new."""
        X = self.X_new if X is None else X
        self.same(_outputs(ours, X), _outputs(theirs, X), what)

    def refuses(self, what: str, words: tuple[str, ...], **arguments: Any) -> None:
        """Assert that `fit` raises a ValueError with one of `words` in its message."""
        error = _raised(self.fitted, **arguments)
        if not isinstance(error, ValueError):
            found = "did not." if error is None else f"raised {error!r}"
            raise AssertionError(
                f"fit should raise a ValueError for {what}, but {found}"
            ) from error
        assert any(word.lower() in str(error).lower() for word in words), (
            f"The error for {what} should contain "
            f"{listed(map(repr, words), 'or')}, but is: {error}"
        )


def make_task(estimator: Any, *, n_classes: int = 2, n_rows: int = 60) -> Task:
    """Return the task for a classifier or a regressor, from a fixed seed."""
    rng = np.random.default_rng(0)
    cause = rng.normal(size=n_rows + 20)
    P = np.column_stack(
        [cause, cause**2, rng.normal(size=cause.size)]
    ) + 0.1 * rng.normal(size=(cause.size, 3))
    X = cause[:, None] * [1.0, -0.5, 0.0, 0.3] + rng.normal(size=(cause.size, 4))
    y: np.ndarray = cause + 0.3 * X[:, 0]
    if is_classifier(estimator):
        cuts = np.quantile(y, np.arange(1, n_classes) / n_classes)
        y = np.searchsorted(cuts, y)
    X, P = X.astype(np.float32).astype(float), P.astype(np.float32).astype(float)
    return Task(estimator, X[:n_rows], y[:n_rows], P[:n_rows], X[n_rows:])


def classifiers_only(check: Check) -> Check:
    """Decorate a check that does not apply to regressors."""
    CLASSIFIER_CHECKS.add(check.__name__)
    return check


def lupi_tags(estimator: Any) -> PrivilegedTags:
    """Return the tags of the estimator, or the defaults."""
    return getattr(estimator, "__lupi_tags__", PrivilegedTags)()


def _outputs(model: Any, X: Any) -> np.ndarray:
    """Return decision values, probabilities or predictions, the first available."""
    for method in ("decision_function", "predict_proba"):
        if hasattr(model, method):
            return np.asarray(getattr(model, method)(X), dtype=float)
    values = model.predict(X)
    if is_classifier(model):
        return np.searchsorted(model.classes_, values).astype(float)
    return np.asarray(values, dtype=float)


def _differ(ours: Any, theirs: Any, X: Any, message: str) -> None:
    """Assert that the outputs of two fitted models are finite and differ."""
    values = _outputs(ours, X)
    assert np.isfinite(values).all(), "Some outputs are not finite."
    assert not np.allclose(values, _outputs(theirs, X), rtol=1e-6, atol=1e-8), message


def _raised(method: Callable[..., Any], *args: Any, **kwargs: Any) -> Exception | None:
    """Return the error that a method raises, of any type, or None."""
    try:
        method(*args, **kwargs)
    except Exception as error:
        return error
    return None


# The interface: arguments, state, copies.


def check_fit_signature(data: Task) -> None:
    """Check ``fit(X, y, *, privileged=None, sample_weight=None)``.

    The third positional argument of ``fit`` is ``sample_weight`` in scikit-learn.
    """
    parameters = inspect.signature(data.estimator.fit).parameters
    names = list(parameters)
    assert names[:2] == ["X", "y"], f"fit should take X, y first, but takes {names}."
    for name in ("privileged", "sample_weight"):
        assert name in parameters, f"fit does not take {name}."
        assert parameters[name].default is None, f"fit should have {name}=None."
    assert parameters["privileged"].kind is inspect.Parameter.KEYWORD_ONLY, (
        "fit takes privileged by position, where scikit-learn's estimators take "
        "sample_weight. Make it keyword-only: fit(self, X, y, *, privileged=None, ...)."
    )


def check_predicting_takes_no_privileged(data: Task) -> None:
    """Check that no prediction method needs or accepts X*."""
    model = data.fitted()
    for name in _PREDICTING:
        if not hasattr(model, name):
            continue
        method = getattr(model, name)
        parameters = inspect.signature(method).parameters
        assert "privileged" not in parameters, f"{name} takes privileged."
        kinds = [parameter.kind for parameter in parameters.values()]
        assert inspect.Parameter.VAR_KEYWORD not in kinds, (
            f"{name} accepts any keyword, and hence privileged."
        )
        if name != "score":
            assert len(method(data.X_new)) == len(data.X_new)
    wide = np.hstack([data.X, data.P])
    assert isinstance(_raised(model.predict, wide), ValueError), (
        "predict accepts a table with the privileged features appended; it should "
        f"refuse {wide.shape[1]} features after a fit on {data.X.shape[1]}."
    )


def check_trains_without_privileged(data: Task) -> None:
    """Check that ``fit(X, y)`` equals ``fit(X, y, privileged=None)``."""
    model = data.fitted(privileged=None)
    assert np.isfinite(_outputs(model, data.X_new)).all(), "Outputs are not finite."
    same = data.ready().fit(data.X, data.y)
    data.agree(same, model, "fit(X, y) and fit(X, y, privileged=None)")


def check_privileged_has_an_effect(data: Task) -> None:
    """Check that an X* with more information than X changes the model."""
    without = data.fitted(privileged=None)
    message = "The models with and without privileged information are the same."
    _differ(data.fitted(), without, data.X, message)


def check_fit_changes_nothing_it_is_given(data: Task) -> None:
    """Check that ``fit`` does not change parameters and data."""
    data = data.without_P_in(np.array([0, 7]))
    model = data.ready()
    given = data.tables | {"sample_weight": np.ones(len(data.y))}

    def content() -> dict[str, Any]:
        everything = given | model.get_params()
        return {name: joblib.hash(value) for name, value in everything.items()}

    before = content()
    data.fit(model, **given)
    after = content()
    changed = sorted(name for name in before if before[name] != after.get(name))
    assert not changed, f"fit changed {listed(changed)}."


def check_fit_is_repeatable(data: Task) -> None:
    """Check that the same data give the same model, whatever was fitted before."""
    model = data.fitted()
    expected, again = (_outputs(one, data.X_new) for one in (model, data.fitted()))
    model.fit(data.X[:, :2], data.y)
    assert getattr(model, "n_privileged_features_in_", 0) == 0, (
        "n_privileged_features_in_ survives a fit without privileged information."
    )
    refitted = _outputs(data.fit(model), data.X_new)
    for found, message in (
        (again, "Two fits on the same data with the same random_state differ."),
        (refitted, "A second fit depends on what was fitted before."),
    ):
        assert np.allclose(found, expected, rtol=1e-10, atol=1e-12), message


def check_failed_refit_keeps_the_model(data: Task) -> None:
    """Check that a ``fit`` that raises leaves the estimator unchanged."""
    infinite = data.P.copy()
    infinite[0] = np.inf
    for arguments in (
        {"privileged": data.P[1:]},
        {"privileged": infinite},
        {"privileged": data.P, "sample_weight": np.full(len(data.y), -1.0)},
    ):
        model = data.fitted()
        expected, before = _outputs(model, data.X_new), dict(vars(model))
        if _raised(model.fit, data.X[:, :2], data.y, **arguments) is None:
            continue  # other checks refuse these arguments
        after = vars(model)
        changed = sorted(
            name
            for name in before.keys() | after.keys()
            if before.get(name) is not after.get(name)
        )
        assert not changed, (
            f"A fit that raised has changed {changed}. Set the fitted state in one "
            "step at the end of fit, for example with lupi.base.atomic_fit."
        )
        assert np.array_equal(_outputs(model, data.X_new), expected), (
            "A fit that raised has changed the predictions."
        )


def check_clone_and_pickle(data: Task) -> None:
    """Check that a clone and a pickle give the same model."""
    model = data.fitted()
    copy = clone(model)
    assert not _is_fitted(copy), "A clone of a fitted estimator counts as fitted."
    data.fit(copy)
    data.agree(copy, model, "A fitted clone and the estimator")
    back = pickle.loads(pickle.dumps(model))
    assert np.array_equal(_outputs(back, data.X_new), _outputs(model, data.X_new)), (
        "The estimator predicts differently after pickling."
    )


# Rows: missing X*, order, weights.


def check_all_rows_missing_equals_none(data: Task) -> None:
    """Check that an X* of NaN in every row equals no X*."""
    nothing = data.without_P_in(np.arange(len(data.y))).fitted()
    none = data.fitted(privileged=None)
    data.agree(nothing, none, "privileged of NaN throughout and privileged=None")
    widths = [getattr(m, "n_privileged_features_in_", 0) for m in (nothing, none)]
    assert widths[0] == widths[1], (
        "n_privileged_features_in_ differs between privileged of NaN and None."
    )


def check_missing_rows_are_legal(data: Task) -> None:
    """Check that rows of NaN in X* are allowed, and that the other rows are used."""
    without = data.fitted(privileged=None)
    message = "With some rows of X* missing, the other rows of X* have no effect."
    for missing in (_NO_X_STAR, np.arange(0, len(data.y), 3)):
        model = data.without_P_in(missing).fitted()
        _differ(model, without, data.X, message)


def _check_order(data: Task, missing: np.ndarray, what: str) -> None:
    model = data.fitted()
    for last in (missing, ~missing):
        moved = data.take(np.argsort(last, kind="stable")).fitted()
        data.agree(moved, model, f"{what} sorted to one end", data.X)


def check_missing_rows_in_any_order(data: Task) -> None:
    """Check that the position of the rows without X* does not matter."""
    data = data.partial()
    _check_order(data, np.isnan(data.P).any(axis=1), "Rows without X*")


def check_permuted_rows(data: Task) -> None:
    """Check that the order of the training rows does not matter."""
    order = np.random.default_rng(1).permutation(len(data.y))
    permuted, model = data.take(order).fitted(), data.fitted()
    data.agree(permuted, model, "The same rows in another order", data.X)


def check_privileged_rows_follow_their_rows(data: Task) -> None:
    """Check that permuting X*, but not X and y, gives another model."""
    order = np.random.default_rng(1).permutation(len(data.y))
    crossed = data.fitted(privileged=data.P[order])
    message = (
        "Permuting the rows of privileged, but not those of X and y, changes nothing: "
        "rows of X* are not matched with rows of X."
    )
    _differ(crossed, data.fitted(), data.X, message)


def check_weights_of_one_change_nothing(data: Task) -> None:
    """Check that weight 1 for every row equals no weights."""
    ones = data.fitted(sample_weight=np.ones(len(data.y)))
    data.agree(ones, data.fitted(), "sample_weight of ones and none")


def _check_weights(data: Task, times: np.ndarray) -> None:
    weighted = data.fitted(sample_weight=times.astype(float))
    repeated = data.take(np.repeat(np.arange(len(times)), times)).fitted()
    data.agree(weighted, repeated, "Weights and repeated rows", data.X)


def check_weight_two_is_a_repeated_row(data: Task) -> None:
    """Check that weights 2 and 3 equal rows that are repeated, with or without X*."""
    data = data.partial()
    times = np.random.default_rng(2).integers(1, 4, size=len(data.y))
    _check_weights(data, times)


def check_weight_zero_is_an_absent_row(data: Task) -> None:
    """Check that weight 0 equals leaving out the row, with or without X*."""
    data = data.partial()
    weight = (np.random.default_rng(3).random(len(data.y)) > 0.3).astype(float)
    weight[_NO_X_STAR[:3]] = 0.0
    kept = data.take(np.flatnonzero(weight))
    weighted = data.fitted(sample_weight=weight)
    data.agree(weighted, kept.fitted(), "Weights of zero and rows left out", kept.X)


# Rows in which y is missing: used if the tags say so, otherwise refused.


def _containers(y: np.ndarray, classifier: bool) -> Iterator[tuple[str, Any, type]]:
    """Yield y in containers with missing values, and the type of its values."""
    absent, numbers = np.isnan(y), np.nan_to_num(y)
    types: list[tuple[type, np.ndarray, tuple[str, ...]]]
    types = [(float, numbers, ("Float64",))]
    if classifier:
        codes = numbers.astype(int)
        words = np.array(["", "nan", "z"], dtype=object)[codes]
        types += [(int, codes, ("Int64",)), (str, words, ("string", "category"))]
        with_nan = np.where(absent, np.nan, words).tolist()
        yield "a list of words with NaN", with_nan, str
    yield "an array of floats with NaN", y, float
    for kind, values, dtypes in types:
        objects = values.astype(object)
        objects[absent] = None
        yield f"an array of objects, {kind.__name__} and None", objects, kind
        yield f"a list of {kind.__name__} with None", objects.tolist(), kind
        if kind is not str:
            yield "a masked array", np.ma.masked_array(values, absent), kind
        if installed("pandas"):
            import pandas as pd

            for dtype in dtypes:
                series = pd.Series(objects, dtype=dtype, index=np.arange(len(y))[::-1])
                yield f"pandas' {dtype}", series, kind
        if installed("polars"):
            import polars as pl

            yield "a series of Polars", pl.Series(objects.tolist()), kind


def check_unlabelled_rows_are_refused_or_used(data: Task) -> None:
    """Check that rows without y have an effect, or are refused with their number."""
    data = data.unlabelled()
    if uses_unlabelled(data.estimator):
        left_out = data.labelled().fitted()
        message = "Rows without y that have X* have no effect, despite uses_unlabelled."
        _differ(data.fitted(), left_out, data.X_new, message)
        return
    words = (f"missing in {len(_NO_Y)}", "contains nan", "unlabelled")
    for container, y, _ in _containers(data.y, is_classifier(data.estimator)):
        what = f"y that is missing in {len(_NO_Y)} rows of {container}"
        data.refuses(what, words, y=y)


def check_unlabelled_rows_in_any_order(data: Task) -> None:
    """Check that the position of the rows without y does not matter."""
    if uses_unlabelled(data.estimator):
        data = data.unlabelled()
        _check_order(data, np.isnan(data.y), "Rows without y")


def check_unlabelled_rows_have_weights(data: Task) -> None:
    """Check that weight 2 equals the row twice and weight 0 no row, without y too."""
    if uses_unlabelled(data.estimator):
        data = data.unlabelled()
        times = np.random.default_rng(4).integers(0, 4, size=len(data.y))
        times[_NO_Y[:2]] = 0, 3
        _check_weights(data, times)


def check_unlabelled_rows_without_privileged_change_nothing(data: Task) -> None:
    """Check that a row with neither y nor X* changes nothing."""
    if not uses_unlabelled(data.estimator):
        return
    data = data.unlabelled().without_P_in(_NEITHER).without_y_in(_NEITHER)
    kept = data.take(np.setdiff1d(np.arange(len(data.y)), _NEITHER))
    what = "Rows with neither y nor X*, and without these rows"
    model = data.fitted()
    data.agree(model, kept.fitted(), what)
    without, left_out = (one.fitted(privileged=None) for one in (data, data.labelled()))
    data.agree(without, left_out, "Without X*, rows without y and without these rows")


def check_missing_y_in_any_container(data: Task) -> None:
    """Check that NaN, None, NA and masks give the same model and types of classes."""
    if not uses_unlabelled(data.estimator):
        return
    data = data.unlabelled()
    classifier, expected = is_classifier(data.estimator), data.fitted()
    for what, y, kind in _containers(data.y, classifier):
        model = data.fitted(y=y)
        data.agree(model, expected, f"y as {what}")
        if classifier:
            labels = np.asarray(model.classes_).tolist()
            assert len(labels) == 2, f"classes_ is {labels} for y as {what}."
            assert all(type(label) is kind for label in labels), (
                f"classes_ is {labels} for y as {what}, expected are labels of type "
                f"{kind.__name__}."
            )


def check_complete_y_in_any_container(data: Task) -> None:
    """Check that a nullable container without missing values changes no bit."""
    data = make_task(data.estimator, n_rows=30)
    expected = _outputs(data.fitted(), data.X_new)
    for what, y, _ in _containers(data.y.astype(float), is_classifier(data.estimator)):
        model = data.fitted(y=y)
        assert np.array_equal(_outputs(model, data.X_new), expected), (
            f"y as {what}, with nothing missing, changes the model."
        )


def check_unlabelled_rows_with_sparse_X(data: Task) -> None:
    """Check that a sparse X, if allowed, gives the model of a dense one."""
    if uses_unlabelled(data.estimator):
        check_sparse_X_equals_dense(data.unlabelled())


def check_refuses_y_without_any_value(data: Task) -> None:
    """Check that a y without any known value is refused."""
    words = ("any of", "no row", "contains nan", "every row", "all rows")
    nothing = np.full(len(data.y), np.nan)
    data.refuses("y without any value", words, y=nothing)


def check_refuses_infinite_y(data: Task) -> None:
    """Check that infinite y is refused, with and without missing values."""
    if is_classifier(data.estimator):
        return
    for missing in (_NO_Y[:0], _NO_Y if uses_unlabelled(data.estimator) else _NO_Y[:0]):
        y = data.without_y_in(missing).y
        y[3] = np.inf
        data.refuses("infinite y", ("inf",), y=y)


@classifiers_only
def check_unlabelled_rows_of_many_classes(data: Task) -> None:
    """Check that rows without y add no class to three classes."""
    many = get_tags(data.estimator).classifier_tags.multi_class
    if not uses_unlabelled(data.estimator) or not many:
        return
    data = make_task(data.estimator, n_classes=3).unlabelled()
    model = data.fitted()
    assert list(model.classes_) == [0, 1, 2], f"classes_ is {list(model.classes_)}."
    order = np.random.default_rng(1).permutation(len(data.y))
    permuted = data.take(order).fitted()
    data.agree(permuted, model, "Three classes and rows without y in another order")


# The accepted data: width, containers, types of numbers, names, labels.


def check_free_width(data: Task) -> None:
    """Check that X* may have any width, which does not affect ``n_features_in_``."""
    for P in (data.P[:, :1], np.hstack([data.P] * 3)):
        model = data.fitted(privileged=P)
        assert len(model.predict(data.X_new)) == len(data.X_new)
        assert model.n_features_in_ == data.X.shape[1], (
            f"n_features_in_ is {model.n_features_in_} after a fit on "
            f"{data.X.shape[1]} features and {P.shape[1]} privileged ones."
        )
        seen = getattr(model, "n_privileged_features_in_", None)
        assert seen == P.shape[1], (
            f"n_privileged_features_in_ is {seen} after a fit on {P.shape[1]} "
            "privileged features."
        )


def check_sparse_privileged_equals_dense(data: Task) -> None:
    """Check that a sparse X*, with rows of NaN, gives the model of a dense one."""
    data = data.partial().with_zeros()
    dense = data.fitted()
    for container in (sp.csr_matrix, sp.csc_matrix, sp.coo_array):
        model = data.fitted(privileged=container(data.P))
        data.agree(model, dense, f"privileged as {container.__name__} and dense")


def check_sparse_X_equals_dense(data: Task) -> None:
    """Check that a sparse X, if the tags allow it, gives the model of a dense one."""
    if get_tags(data.estimator).input_tags.sparse:
        data = data.with_zeros()
        model = data.fitted(X=sp.csr_matrix(data.X))
        ours = _outputs(model, sp.csr_matrix(data.X_new))
        theirs = _outputs(data.fitted(), data.X_new)
        data.same(ours, theirs, "Sparse and dense X")


def check_lists_and_data_frames(data: Task) -> None:
    """Check that lists and, if installed, pandas objects give the model of arrays."""
    data = data.partial()
    expected = data.fitted()
    lists = data.fitted(**{name: one.tolist() for name, one in data.tables.items()})
    data.agree(lists, expected, "Lists and arrays")
    if not installed("pandas"):
        return
    import pandas as pd

    index = np.arange(len(data.y))[::-1]
    frames = data.fitted(
        X=pd.DataFrame(data.X, index=index),
        y=pd.Series(data.y, index=index),
        privileged=pd.DataFrame(data.P, index=index),
    )
    data.agree(frames, expected, "pandas and arrays")


def check_float32_input(data: Task) -> None:
    """Check that float32 and integer X* give the model of the same float64 values."""
    data = data.partial()
    single = replace(data, X=data.X.astype(np.float32), P=data.P.astype(np.float32))
    ours = _outputs(single.fitted(), data.X_new.astype(np.float32))
    theirs = _outputs(data.fitted(), data.X_new)
    data.same(ours, theirs, "float32 and float64")
    whole = np.rint(np.nan_to_num(data.P) * 4)
    integers = data.fitted(privileged=whole.astype(int))
    numbers = data.fitted(privileged=whole)
    data.agree(integers, numbers, "Integers and the same numbers as float64")


def check_readonly_input(data: Task) -> None:
    """Check that read-only arrays, such as joblib's memory maps, are accepted."""
    expected, weight = data.fitted(), np.ones(len(data.y))
    for array in (data.X, data.y, data.P, data.X_new, weight):
        array.setflags(write=False)
    model = data.fitted(sample_weight=weight)
    data.agree(model, expected, "Read-only arrays")


def check_feature_names(data: Task) -> None:
    """Check that names of both tables are stored, and removed by the next fit."""
    if not installed("pandas"):
        return
    import pandas as pd

    X = pd.DataFrame(data.X, columns=[f"x{i}" for i in range(data.X.shape[1])])
    P = pd.DataFrame(data.P, columns=[f"later{i}" for i in range(data.P.shape[1])])
    model = data.fitted(X=X, privileged=P)
    for attribute, table in (
        ("feature_names_in_", X),
        ("privileged_feature_names_in_", P),
    ):
        names = list(getattr(model, attribute, []))
        assert names == list(table.columns), (
            f"{attribute} is {names}, expected {list(table.columns)}."
        )
    assert isinstance(_raised(model.predict, X[X.columns[::-1]]), ValueError), (
        "predict accepts the columns of X in another order."
    )
    data.fit(model)
    assert not hasattr(model, "privileged_feature_names_in_"), (
        "privileged_feature_names_in_ survives a fit on a table without names."
    )


@classifiers_only
def check_labels_of_any_type(data: Task) -> None:
    """Check that strings, booleans and any integers as labels give the same model."""
    expected = data.fitted()
    for labels in (
        np.array(["ill", "well"]),
        np.array(["ill", "well"], dtype=object),
        np.array([False, True]),
        np.array([-7, 40]),
    ):
        model = data.fitted(y=labels[data.y])
        assert list(model.classes_) == list(labels), (
            f"classes_ is {list(model.classes_)} for labels {list(labels)}."
        )
        assert set(model.predict(data.X_new)) <= set(labels), (
            f"predict returns labels that are not among {list(labels)}."
        )
        data.agree(model, expected, f"Labels {list(labels)}")


@classifiers_only
def check_many_classes(data: Task) -> None:
    """Check labels and shapes of the outputs with three classes."""
    if not get_tags(data.estimator).classifier_tags.multi_class:
        return
    data = make_task(data.estimator, n_classes=3).partial()
    model = data.fitted()
    assert list(model.classes_) == [0, 1, 2], f"classes_ is {list(model.classes_)}."
    predicted = model.predict(data.X)
    assert set(predicted) <= {0, 1, 2}, f"predict returns {sorted(set(predicted))}."
    for method in ("decision_function", "predict_proba"):
        if hasattr(model, method):
            values = getattr(model, method)(data.X)
            assert values.shape == (len(data.y), 3), (
                f"{method} has shape {values.shape} for {len(data.y)} rows, 3 classes."
            )
            assert np.array_equal(values.argmax(axis=1), predicted), (
                f"predict is not the class of the largest {method}."
            )


# Invalid input raises a ValueError with an informative message.


def check_refuses_wrong_length(data: Task) -> None:
    """Check that an X* with one row too few or too many is refused."""
    words = ("rows", "length", "samples")
    for P in (data.P[:-1], np.vstack([data.P, data.P[:1]])):
        what = f"privileged of {len(P)} rows for {len(data.y)} rows of X"
        data.refuses(what, words, privileged=P)


def check_refuses_one_dimension(data: Task) -> None:
    """Check that a one-dimensional privileged array is refused."""
    words = ("1-D", "1D", "2-D", "2D", "dimension")
    data.refuses("privileged of one dimension", words, privileged=data.P[:, 0])


def check_refuses_partly_missing_rows(data: Task) -> None:
    """Check that a row with some NaN is refused by number, or used if tags allow it."""
    P = data.P.copy()
    P[7] = np.nan
    P[13, 1] = np.nan
    if lupi_tags(data.estimator).takes_missing_cells:
        values = _outputs(data.fitted(privileged=P), data.X_new)
        assert np.isfinite(values).all(), (
            "With a missing value in X*, some outputs are not finite."
        )
        return
    data.refuses("privileged with NaN in part of row 13", ("13",), privileged=P)


def check_refuses_infinite_values(data: Task) -> None:
    """Check that infinite values are refused; they do not count as missing."""
    for value in (np.inf, -np.inf):
        P = data.P.copy()
        P[5, 1] = value
        data.refuses(f"privileged with {value}", ("inf",), privileged=P)


def check_refuses_text(data: Task) -> None:
    """Check that text is refused, including text that could be read as numbers."""
    words = ("number", "numeric", "string", "text")
    mixed = data.P.astype(object)
    mixed[4, 0] = "high"
    for what, P in (("of strings", data.P.astype(str)), ("with one string", mixed)):
        data.refuses(f"privileged {what}", words, privileged=P)


def check_refuses_bad_weights(data: Task) -> None:
    """Check that negative and missing weights, and one too few, are refused."""
    ones = np.ones(len(data.y))
    for what, word, weight in (
        ("a negative weight", "negative", ones - 1.5),
        ("a weight that is NaN", "nan", ones * np.nan),
        ("one weight too few", "weight", ones[1:]),
    ):
        data.refuses(what, (word,), sample_weight=weight)


def check_refuses_empty_data(data: Task) -> None:
    """Check that data without rows and an X* without columns are refused."""
    none = data.take(np.array([], dtype=int))
    words = ("0 sample", "no row", "0 row", "empty")
    none.refuses("no rows", words)
    words = ("0 column", "0 feature", "no column", "no feature")
    data.refuses("privileged of no columns", words, privileged=data.P[:, :0])


@classifiers_only
def check_refuses_one_class(data: Task) -> None:
    """Check that one class among the rows of positive weight is refused."""
    one, weight = np.zeros_like(data.y), (data.y == 1).astype(float)
    data.refuses("y of one class", ("class",), y=one)
    what = "one class among the rows of positive weight"
    data.refuses(what, ("class",), sample_weight=weight)


# scikit-learn's tools split X* into folds and pass it on, with metadata routing on and
# off: their fit on a fold is compared with a direct fit to the same rows.


def _folds(data: Task) -> list[tuple[np.ndarray, np.ndarray]]:
    kind = StratifiedKFold if is_classifier(data.estimator) else KFold
    return list(kind(2).split(data.X, data.y))


def _fitted_folds(data: Task) -> list[Any]:
    return [data.take(train).fitted() for train, _ in _folds(data)]


def _check_tool(
    data: Task, what: str, fit: Callable[[bool], Any], expected: list[Any]
) -> None:
    """Compare outputs of a tool with those expected, with routing off and on."""
    for routing in (False, True):
        with config_context(enable_metadata_routing=routing):
            outputs = fit(routing)
        for ours, theirs in zip(outputs, expected, strict=True):
            data.same(ours, theirs, f"{what} with routing {'on' if routing else 'off'}")


def _mean_output(estimator: Any, X: Any, y: Any = None) -> float:
    return float(np.mean(np.abs(_outputs(estimator, X))))


def check_requested_by_default(data: Task) -> None:
    """Check that `privileged` is requested without ``set_fit_request``."""
    requests = get_routing_for_object(data.ready()).fit.requests
    assert requests.get("privileged") is True, (
        "privileged is not requested by default; set the class attribute "
        '__metadata_request__fit = {"privileged": True}.'
    )


def check_grid_search(data: Task) -> None:
    """Check that `GridSearchCV` fits folds and best model with their rows of X*.

    `cross_validate` and `learning_curve` fit a fold by the same function.
    """
    data = data.partial()
    folds = _folds(data)
    scores = [
        _mean_output(model, data.X[test])
        for model, (_, test) in zip(_fitted_folds(data), folds, strict=True)
    ]

    def fit(routing: bool) -> tuple[Any, Any]:
        search = GridSearchCV(data.ready(), {}, cv=folds, scoring=_mean_output)
        data.fit(search)
        scores = [search.cv_results_[f"split{k}_test_score"][0] for k in range(2)]
        return scores, _outputs(search, data.X_new)

    expected = [scores, _outputs(data.fitted(), data.X_new)]
    _check_tool(data, "GridSearchCV", fit, expected)


def check_pipeline(data: Task) -> None:
    """Check ``step__privileged`` without routing and ``privileged`` with routing."""
    data = data.partial()
    scaler = StandardScaler().fit(data.X)
    by_hand = data.fitted(X=scaler.transform(data.X))

    def fit(routing: bool) -> list[np.ndarray]:
        model = Pipeline([("scale", StandardScaler()), ("model", data.ready())])
        name = "privileged" if routing else "model__privileged"
        return [_outputs(model.fit(data.X, data.y, **{name: data.P}), data.X_new)]

    expected = [_outputs(by_hand, scaler.transform(data.X_new))]
    _check_tool(data, "Pipeline", fit, expected)


@classifiers_only
def check_calibration(data: Task) -> None:
    """Check that `CalibratedClassifierCV` fits every fold with its rows of X*.

    Only for estimators with a decision function or probabilities.
    """
    if not any(
        hasattr(data.estimator, m) for m in ("decision_function", "predict_proba")
    ):
        return
    data = data.partial()

    def fit(routing: bool) -> list[np.ndarray]:
        model = CalibratedClassifierCV(data.ready(), cv=_folds(data))
        data.fit(model)
        parts = model.calibrated_classifiers_
        return [_outputs(part.estimator, data.X_new) for part in parts]

    expected = [_outputs(model, data.X_new) for model in _fitted_folds(data)]
    _check_tool(data, "CalibratedClassifierCV", fit, expected)
