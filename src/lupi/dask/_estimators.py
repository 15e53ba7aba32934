"""The estimators of `lupi.dask`.

An estimator has the parameters of the ordinary one of the same name. Its ``fit`` calls
a function that fits the ordinary estimator to Dask collections, and keeps the result.
Fitted attributes are those of the ordinary estimator, which predicts every partition.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any, ClassVar, Self

import dask
import dask.array as da
import numpy as np
from dask.sizeof import sizeof
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted

from lupi import boosting, svm, transfer
from lupi.base import PrivilegedTags, atomic_fit
from lupi.base._info import Declared
from lupi.dask._boosting import fit_boosted
from lupi.dask._cluster import (
    find_client,
    fitted_attributes,
    is_collection,
    is_frame,
    read_partitions,
    require_values,
    size_of_fields,
)
from lupi.dask._linear import fit_linear
from lupi.transfer._hedge import HedgedRows
from lupi.transfer._ridge import LARGEST


class DaskEstimator(Declared, BaseEstimator):
    """Base of all estimators for Dask collections.

    A subclass sets ``_ordinary``, the class of the ordinary estimator, and
    ``_fit_ordinary(ordinary, client, tables)``, which fits it. The constructor has the
    parameters of the ordinary one, and ``client``; they are added to its docstring,
    with an example.
    """

    client: Any
    _ordinary: ClassVar[Any]
    _fit_ordinary: ClassVar[Callable[..., Any]]
    # Default values that differ from those of the ordinary estimator.
    _defaults: ClassVar[Mapping[str, Any]] = {}
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"privileged": True}

    def __init_subclass__(cls, **options: Any) -> None:
        if "_ordinary" in vars(cls):
            cls.__init__ = _constructor(cls._ordinary, cls._defaults)  # type: ignore[method-assign]
            own = {"client": "no_validation"}
            cls._parameter_constraints = cls._ordinary._parameter_constraints | own
            cls.__doc__ = _documented(cls)
        super().__init_subclass__(**options)

    def fit(
        self, X: Any, y: Any, *, privileged: Any = None, sample_weight: Any = None
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_samples, n_features)
            Decision features, known also when predicting.
        y : Dask array or series of shape (n_samples,)
            Class labels of any type, or targets.
        privileged : Dask array or data frame of shape (n_samples, n_privileged), \
default=None
            X*; a row of NaN is a row without it.
        sample_weight : Dask array or series of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        return self._fit(X=X, y=y, privileged=privileged, sample_weight=sample_weight)

    def _fit(self, **tables: Any) -> Self:
        ordinary = self._unfitted()
        ordinary._validate_params()
        client = find_client(self.client, type(self).__name__)
        self._fitted = type(self)._fit_ordinary(ordinary, client, tables)
        return self

    def _unfitted(self) -> Any:
        """Return an ordinary estimator with these parameters."""
        parameters = self.get_params(deep=False)
        del parameters["client"]
        return self._ordinary(**parameters)

    def to_local(self) -> Any:
        """Return the ordinary estimator, fitted, to save, load and predict anywhere.

        Returns
        -------
        estimator
            The estimator of the same name in `lupi`.
        """
        check_is_fitted(self)
        local = self._unfitted()
        vars(local).update(fitted_attributes(self._fitted))
        return local

    def __getattr__(self, name: str) -> Any:
        """Return an attribute or a method of the fitted ordinary estimator."""
        fitted = vars(self).get("_fitted")
        if fitted is None or name.startswith("_"):
            when = " before fit" if fitted is None else ""
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}{when}"
            )
        return getattr(fitted, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(vars(self).get("_fitted", type(self)))})

    def predict(self, X: Any) -> Any:
        """Predict class labels or targets, lazily.

        Parameters
        ----------
        X : Dask array or data frame, or a table in memory
            Decision features.

        Returns
        -------
        Dask array or series
            An array of NumPy for a table in memory.
        """
        return _applied(self.to_local().predict, X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of a classifier, or R² of a regressor.

        Parameters
        ----------
        X : Dask array or data frame, or a table in memory
            Decision features.
        y : Dask array or series, or array-like
            Labels or targets.
        sample_weight : Dask array or series, or array-like, default=None
            Weights of the rows.

        Returns
        -------
        float
            The score.
        """
        metric = accuracy_score if is_classifier(self) else r2_score
        y, predicted, weight = dask.compute(y, self.predict(X), sample_weight)
        return float(metric(y, predicted, sample_weight=weight))

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in vars(self)

    def __sklearn_tags__(self) -> Any:
        return self._unfitted().__sklearn_tags__()

    def __lupi_tags__(self) -> PrivilegedTags:
        return self._unfitted().__lupi_tags__()

    def __getstate__(self) -> Any:
        # The connection to a cluster belongs to this process.
        return {**super().__getstate__(), "client": None}

    def __sklearn_clone__(self) -> Self:
        parameters = {
            name: value if name == "client" else clone(value, safe=False)
            for name, value in self.get_params(deep=False).items()
        }
        return type(self)(**parameters)


class DaskClassifier(DaskEstimator):
    """Base of classifiers."""

    def decision_function(self, X: Any) -> Any:
        """Return decision values, lazily.

        Parameters
        ----------
        X : Dask array or data frame, or a table in memory
            Decision features.

        Returns
        -------
        Dask array, series or data frame
            An array of NumPy for a table in memory. One column per class when there
            are more than two classes.
        """
        return _applied(self.to_local().decision_function, X)


class DaskProbabilityClassifier(DaskClassifier):
    """Base of classifiers that predict probabilities."""

    def predict_proba(self, X: Any) -> Any:
        """Return class probabilities, lazily.

        Parameters
        ----------
        X : Dask array or data frame, or a table in memory
            Decision features.

        Returns
        -------
        Dask array or data frame
            An array of NumPy for a table in memory. Columns as in ``classes_``.
        """
        return _applied(self.to_local().predict_proba, X)


def _constructor(ordinary: Any, defaults: Mapping[str, Any]) -> Callable[..., None]:
    """Return a constructor with the parameters of another class, and ``client``."""
    signature = inspect.signature(ordinary.__init__)
    parameters = [
        one.replace(default=defaults.get(name, one.default))
        for name, one in signature.parameters.items()
    ]
    client = inspect.Parameter("client", inspect.Parameter.KEYWORD_ONLY, default=None)
    signature = signature.replace(parameters=[*parameters, client])

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        vars(self).update({k: v for k, v in bound.arguments.items() if k != "self"})

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__


def _documented(cls: type[DaskEstimator]) -> str:
    """Return the docstring with parameters and an example."""
    package = cls._ordinary.__module__.rpartition("._")[0]
    names = ", ".join(inspect.signature(cls._ordinary).parameters)
    rounds = "n_estimators=5" if "n_estimators" in names else ""
    classes = issubclass(cls, DaskClassifier)
    return f"""{inspect.cleandoc(cls.__doc__ or "")}

Parameters
----------
{names}
    As in :class:`{package}.{cls.__name__}`, which has the attributes too.
client : distributed.Client or None, default=None
    The connection to the cluster; None is the current client of the process.

Examples
--------
>>> import dask.array as da
>>> from dask.distributed import Client
>>> from lupi.dask import {cls.__name__}
>>> client = Client(processes=False, dashboard_address=":0")
>>> rng = da.random.default_rng(0)
>>> X = rng.normal(size=(200, 2), chunks=(100, 2))
>>> y = X.sum(axis=1) + rng.normal(size=200, chunks=100){" > 0" if classes else ""}
>>> violation = da.maximum(1 - da.where(y > 0, 1, -1) * X.sum(axis=1), 0)
>>> model = {cls.__name__}({rounds}).fit(X, y, privileged=violation[:, None])
>>> model.predict(X).chunks
((100, 100),)
>>> model.to_local().predict([[2.0, 2.0]]).shape
(1,)
>>> client.close()
"""


def _applied(method: Any, X: Any) -> Any:
    """Apply a method of a fitted estimator to every partition, or to a table."""
    if not is_collection(X):
        return method(X)
    model = method.__self__
    row: Any = np.zeros((1, model.n_features_in_))
    if hasattr(model, "feature_names_in_"):
        import pandas as pd

        row = pd.DataFrame(row, columns=model.feature_names_in_)
    empty = method(row)[:0]
    if is_frame(X):
        meta = _as_frame(empty, X._meta.index[:0], model)
        return X.map_partitions(_of_frame, method, empty, meta=meta)
    X = X.rechunk({1: -1})
    one = empty.ndim == 1
    return da.map_blocks(
        _of_block,
        X,
        method,
        empty,
        dtype=empty.dtype,
        meta=empty,
        drop_axis=1 if one else [],
        chunks=X.chunks[:1] if one else (X.chunks[0], empty.shape[1:]),
    )


def _of_block(X: Any, method: Callable, empty: np.ndarray) -> np.ndarray:
    return method(X) if X.shape[0] else empty


def _of_frame(X: Any, method: Any, empty: np.ndarray) -> Any:
    return _as_frame(_of_block(X, method, empty), X.index, method.__self__)


def _as_frame(values: np.ndarray, index: Any, model: Any) -> Any:
    import pandas as pd

    if values.ndim == 1:
        return pd.Series(values, index=index)
    return pd.DataFrame(values, index=index, columns=model.classes_)


# ---------------------------------------------------------- hedged distillation
sizeof.register(HedgedRows, size_of_fields)


@atomic_fit
def fit_hedged(ordinary: Any, client: Any, tables: dict[str, Any]) -> None:
    """Fit ordinary hedged distillation to Dask collections, by sums over rows."""
    reason = "computes the default students from sums over rows"
    require_values(ordinary, reason, teacher=None, student=None)
    reason = "takes class weights in sample_weight"
    require_values(ordinary, reason, class_weight=None)
    if not isinstance(ordinary.cv, Integral):
        raise ValueError(
            f"cv={ordinary.cv!r}: lupi.dask.{type(ordinary).__name__} takes a number "
            "of folds, as splits by position would need the order of all rows."
        )
    training = read_partitions(ordinary, client, tables)
    n_columns = ordinary.n_features_in_ + ordinary.n_privileged_features_in_
    if n_columns > LARGEST:
        raise ValueError(
            f"X and X* have {n_columns} columns. Ridge regression from sums of "
            f"products takes at most {LARGEST}. Give fewer columns."
        )
    ordinary._fit_parts(training)


class _Hedged(DaskEstimator):
    """``fit`` with groups."""

    _fit_ordinary = staticmethod(fit_hedged)

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        privileged: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> Self:
        """Fit all candidates and their weights, and for classes the calibration.

        Parameters
        ----------
        X, y, privileged, sample_weight : Dask array, data frame or series
            As in the ordinary estimator; y may be missing (NaN, None, NA).
        groups : Dask array or series of shape (n_samples,), default=None
            Rows of one group are kept together in every fold.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        return self._fit(
            X=X, y=y, privileged=privileged, sample_weight=sample_weight, groups=groups
        )


class HedgedDistillationClassifier(_Hedged, DaskProbabilityClassifier):
    """Hedged distillation for classes on Dask arrays and data frames.

    The default students and teachers have the coefficients of one machine: sums of
    products of every fold are enough. `teacher`, `student` and `class_weight` must be
    None (multiply `sample_weight` by class weights), and `cv` a number of folds, to
    which rows are assigned by their content. `n_jobs` has no effect.
    """

    _ordinary = transfer.HedgedDistillationClassifier


class HedgedDistillationRegressor(_Hedged):
    """Hedged distillation for a continuous target on Dask arrays and data frames.

    The default students and teachers have the coefficients of one machine: sums of
    products of every fold are enough. `teacher` and `student` must be None, and `cv` a
    number of folds, to which rows are assigned by their content. `n_jobs` has no
    effect.
    """

    _ordinary = transfer.HedgedDistillationRegressor


# ------------------------------------------------------------------ linear models
class LinearSVCPlus(DaskClassifier):
    """SVM+ with linear functions on Dask arrays and data frames.

    The method of one machine, with the same certificate; multipliers and slacks stay on
    the workers. `device` must be ``"cpu"``.
    """

    _ordinary = svm.LinearSVCPlus
    _fit_ordinary = staticmethod(fit_linear)


class LinearSVCDeltaPlus(DaskClassifier):
    """SVMΔ+ with linear functions on Dask arrays and data frames.

    The method of one machine, with the same certificate; multipliers and slacks stay on
    the workers. `device` must be ``"cpu"``.
    """

    _ordinary = svm.LinearSVCDeltaPlus
    _fit_ordinary = staticmethod(fit_linear)


class LinearSVRPlus(DaskEstimator):
    """ε-SVR+ with linear functions on Dask arrays and data frames.

    The method of one machine, with the same certificate; multipliers and slacks stay on
    the workers. `device` must be ``"cpu"``.
    """

    _ordinary = svm.LinearSVRPlus
    _fit_ordinary = staticmethod(fit_linear)


# ----------------------------------------------- iterative privileged learning
class IPLClassifier(DaskProbabilityClassifier):
    """Iterative privileged learning for classes on Dask collections.

    All workers boost in step. XGBoost cuts histograms differently for rows on several
    machines, so that trees may differ from those of one machine as those of XGBoost do.
    If a worker that holds rows is lost, ``fit`` raises an error that says to start
    again. `engine` must be ``"xgboost"`` and `device` ``"cpu"``; `auxiliary`,
    `warm_start` and early stopping are not supported.
    """

    _ordinary = boosting.IPLClassifier
    _fit_ordinary = staticmethod(fit_boosted)
    _defaults: ClassVar[Mapping[str, Any]] = {"engine": "xgboost"}


class IPLRegressor(DaskEstimator):
    """Iterative privileged learning for a continuous target on Dask collections.

    All workers boost in step. XGBoost cuts histograms differently for rows on several
    machines, so that trees may differ from those of one machine as those of XGBoost do.
    If a worker that holds rows is lost, ``fit`` raises an error that says to start
    again. `engine` must be ``"xgboost"`` and `device` ``"cpu"``; `auxiliary`,
    `warm_start` and early stopping are not supported.
    """

    _ordinary = boosting.IPLRegressor
    _fit_ordinary = staticmethod(fit_boosted)
    _defaults: ClassVar[Mapping[str, Any]] = {"engine": "xgboost"}
