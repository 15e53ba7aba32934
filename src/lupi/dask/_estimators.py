"""The estimators of `lupi.dask`.

An estimator is a subclass of the ordinary one of the same name, whose ``fit`` calls a
function of its family with the partitions in place of the rows. Every partition is
predicted by the ordinary estimator.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import partial, wraps
from numbers import Integral
from typing import Annotated, Any, ClassVar, Literal, Self

import dask
import dask.array as da
import numpy as np
from dask.sizeof import sizeof
from sklearn.base import clone, is_classifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted

from lupi import boosting, svm, transfer
from lupi._parameters import Instance, parameters
from lupi.base import PrivilegedEstimator
from lupi.base._rows import as_data_frame
from lupi.dask._boosting import fit_boosted
from lupi.dask._cluster import (
    find_client,
    is_collection,
    read_partitions,
    require_values,
    size_of_fields,
)
from lupi.dask._linear import fit_linear
from lupi.transfer._hedge import HedgedRows
from lupi.transfer._ridge import LARGEST


@parameters
class DaskEstimator(PrivilegedEstimator):
    """Base of all estimators for Dask collections.

    A subclass derives from the ordinary estimator too. Its ``_fit_training(read)``
    gets a function: ``read(check)`` returns the partitions, see `read_partitions`. The
    docstring of the class is completed by ``_note``, parameters and an example.
    """

    client: Annotated[Any, Instance("submit"), None] = None

    _note: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        ordinary = cls._ordinary()
        if ordinary is not PrivilegedEstimator:
            cls.__doc__ = _documented(cls, ordinary)
            for name in ("fit", "predict", "decision_function", "predict_proba"):
                if callable(method := getattr(ordinary, name, None)):
                    setattr(cls, name, _on_collections(method))

    @classmethod
    def _ordinary(cls) -> type:
        return next(one for one in cls.__mro__ if not issubclass(one, DaskEstimator))

    def _local(self) -> Any:
        """Return the ordinary estimator with these parameters and attributes."""
        local: Any = object.__new__(self._ordinary())
        vars(local).update(vars(self))
        del vars(local)["client"]
        return local

    def _read(self, X: Any, y: Any, *others: Any) -> Any:
        names = ("X", "y", "privileged", "sample_weight", "groups")
        tables = dict(zip(names, (X, y, *others), strict=False))
        client = find_client(self.client, type(self).__name__)
        return partial(read_partitions, self, client, tables)

    def to_local(self) -> Any:
        """Return the ordinary estimator, fitted, to save, load and predict anywhere.

        Returns
        -------
        estimator
            The estimator of the same name in `lupi`.
        """
        check_is_fitted(self)
        return self._local()

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

    def __getstate__(self) -> Any:
        # The connection to a cluster belongs to this process.
        return {**super().__getstate__(), "client": None}

    def __sklearn_clone__(self) -> Self:
        cloned = clone(self._local()).get_params(deep=False)
        return type(self)(**cloned, client=self.client)


def _documented(cls: type[DaskEstimator], ordinary: type) -> str:
    """Return the docstring with parameters and an example."""
    package, name = ordinary.__module__.rpartition("._")[0], cls.__name__
    names = ", ".join(inspect.signature(ordinary).parameters)
    rounds = "n_estimators=5" if "n_estimators" in names else ""
    labels = " > 0" if hasattr(ordinary, "decision_function") else ""
    return f"""{inspect.getdoc(cls)}

{inspect.cleandoc(cls._note)}

Parameters
----------
{names}
    As in :class:`{package}.{name}`, which has the attributes too.
client : distributed.Client or None, default=None
    The connection to the cluster; None is the current client of the process.

Examples
--------
>>> import dask.array as da
>>> from dask.distributed import Client
>>> from lupi.dask import {name}
>>> client = Client(processes=False, dashboard_address=":0")
>>> rng = da.random.default_rng(0)
>>> X = rng.normal(size=(200, 2), chunks=(100, 2))
>>> y = X.sum(axis=1) + rng.normal(size=200, chunks=100){labels}
>>> violation = da.maximum(1 - da.where(y > 0, 1, -1) * X.sum(axis=1), 0)
>>> model = {name}({rounds}).fit(X, y, privileged=violation[:, None])
>>> model.predict(X).chunks
((100, 100),)
>>> model.to_local().predict([[2.0, 2.0]]).shape
(1,)
>>> client.close()
"""


def _on_collections(method: Callable) -> Callable:
    """Return ``fit``, or a method that predicts Dask collections lazily."""
    fits = method.__name__ == "fit"

    @wraps(method)
    def of_collections(self: DaskEstimator, X: Any, *args: Any, **kwargs: Any) -> Any:
        if fits or not is_collection(X):
            return method(self, X, *args, **kwargs)
        return _applied(getattr(self.to_local(), method.__name__), X)

    doc = inspect.getdoc(method) or ""
    if fits:
        tables = r"\{?array-like, sparse matrix(,| or) data frame\}?"
        doc = re.sub(tables, "Dask array or data frame", doc)
        doc = doc.replace("array-like", "Dask array or series")
    else:
        lazy = "A Dask array or data frame gives such a collection, lazily."
        doc = doc.replace("\n", f"\n\n{lazy}\n", 1)
    of_collections.__doc__ = doc
    return of_collections


def _applied(method: Any, X: Any) -> Any:
    """Apply a method of a fitted estimator to every partition."""
    row: Any = np.zeros((1, method.__self__.n_features_in_))
    names = getattr(method.__self__, "feature_names_in_", None)
    empty = method(row if names is None else as_data_frame(row, names))[:0]
    if not isinstance(X, da.Array):
        meta = _predicted(X._meta, method, empty)
        return X.map_partitions(_predicted, method, empty, meta=meta)
    X = X.rechunk({1: -1})
    one = empty.ndim == 1
    return da.map_blocks(
        _predicted,
        X,
        method,
        empty,
        dtype=empty.dtype,
        meta=empty,
        drop_axis=1 if one else [],
        chunks=X.chunks[:1] if one else (X.chunks[0], empty.shape[1:]),
    )


def _predicted(X: Any, method: Any, empty: np.ndarray) -> Any:
    """Return the predictions of a partition, in a container of its type."""
    values = method(X) if X.shape[0] else empty
    if not hasattr(X, "index"):
        return values
    import pandas as pd

    if values.ndim == 1:
        return pd.Series(values, index=X.index)
    return pd.DataFrame(values, index=X.index, columns=method.__self__.classes_)


# ---------------------------------------------------------- hedged distillation
sizeof.register(HedgedRows, size_of_fields)


def fit_hedged(model: Any, read: Any) -> None:
    """Fit hedged distillation by sums over rows."""
    reason = "computes the default students from sums over rows"
    require_values(model, reason, teacher=None, student=None)
    reason = "takes class weights in sample_weight"
    require_values(model, reason, class_weight=None)
    if not isinstance(model.cv, Integral):
        raise ValueError(
            f"cv={model.cv!r}: lupi.dask.{type(model).__name__} takes a number "
            "of folds, as splits by position would need the order of all rows."
        )
    training = read()
    n_columns = model.n_features_in_ + model.n_privileged_features_in_
    if n_columns > LARGEST:
        raise ValueError(
            f"X and X* have {n_columns} columns. Ridge regression from sums of "
            f"products takes at most {LARGEST}. Give fewer columns."
        )
    model._fit_parts(training)


class _Hedged(DaskEstimator):
    _fit_training = fit_hedged  # type: ignore[assignment]
    _note = """
    The default students and teachers have the coefficients of one machine: sums of
    products of every fold are enough. `teacher` and `student` must be None, and `cv` a
    number of folds, to which rows are assigned by their content. `n_jobs` has no
    effect.
    """


@parameters
class HedgedDistillationClassifier(_Hedged, transfer.HedgedDistillationClassifier):
    """Hedged distillation for classes on Dask arrays and data frames.

    `class_weight` must be None: multiply `sample_weight` by class weights.
    """


@parameters
class HedgedDistillationRegressor(_Hedged, transfer.HedgedDistillationRegressor):
    """Hedged distillation for a continuous target on Dask arrays and data frames."""


# ------------------------------------------------------------------ linear models
class _Linear(DaskEstimator):
    _fit_training = fit_linear  # type: ignore[assignment]
    _note = """
    The method of one machine, with the same certificate; multipliers and slacks stay on
    the workers. `device` must be ``"cpu"``.
    """


@parameters
class LinearSVCPlus(_Linear, svm.LinearSVCPlus):
    """SVM+ with linear functions on Dask arrays and data frames."""


@parameters
class LinearSVCDeltaPlus(_Linear, svm.LinearSVCDeltaPlus):
    """SVMΔ+ with linear functions on Dask arrays and data frames."""


@parameters
class LinearSVRPlus(_Linear, svm.LinearSVRPlus):
    """ε-SVR+ with linear functions on Dask arrays and data frames."""


# ----------------------------------------------- iterative privileged learning
@parameters
class _Boosted(DaskEstimator):
    engine: Literal["cart", "xgboost"] = "xgboost"

    _fit_training = fit_boosted  # type: ignore[assignment]
    _note = """
    All workers boost in step. XGBoost cuts histograms differently for rows on several
    machines, so that trees may differ from those of one machine as those of XGBoost do.
    If a worker that holds rows is lost, ``fit`` raises an error that says to start
    again. `engine` must be ``"xgboost"`` and `device` ``"cpu"``; `auxiliary`,
    `warm_start` and early stopping are not supported.
    """


@parameters
class IPLClassifier(_Boosted, boosting.IPLClassifier):
    """Iterative privileged learning for classes on Dask collections."""


@parameters
class IPLRegressor(_Boosted, boosting.IPLRegressor):
    """Iterative privileged learning for a continuous target on Dask collections."""
