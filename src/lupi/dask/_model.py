"""What all estimators of `lupi.dask` share: parameters, fit and lazy predictions."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar

import dask.array as da
import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from lupi._parameters import Constraints
from lupi.base import atomic_fit
from lupi.dask._reading import find_client, is_collection, is_frame


class DaskModel:
    """Mixin before the ordinary estimator, which has the same name.

    The parameters are those of the ordinary estimator, and ``client``. ``_defaults``
    are the defaults that differ.
    """

    client: Any
    _defaults: ClassVar[Mapping[str, Any]] = {}
    _parameter_constraints: ClassVar[Constraints] = {"client": "no_validation"}

    def __init_subclass__(cls, **options: Any) -> None:
        if cls._ordinary() is not None:
            cls.__init__ = _constructor(cls._ordinary(), cls._defaults)  # type: ignore[method-assign]
        super().__init_subclass__(**options)

    @classmethod
    def _ordinary(cls) -> Any:
        """Return the class of the ordinary estimator; None of a mixin."""
        named = (kind for kind in cls.__mro__ if kind.__name__ == cls.__name__)
        return next((kind for kind in named if not issubclass(kind, DaskModel)), None)

    @atomic_fit
    def fit(
        self, X: Any, y: Any, *, privileged: Any = None, sample_weight: Any = None
    ) -> Any:
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
        self._fit(X, y, privileged, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, privileged: Any, sample_weight: Any) -> None:
        """Fit to Dask collections; subclasses define it, or ``fit`` itself."""
        raise TypeError(f"{type(self).__name__} does not define _fit.")

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
        return self._lazily("predict", X)

    def _unfitted(self) -> Any:
        """Return an ordinary estimator with these parameters."""
        parameters = self.get_params(deep=False)  # type: ignore[attr-defined]
        del parameters["client"]
        return self._ordinary()(**parameters)

    def _client(self) -> Any:
        return find_client(self.client, type(self).__name__)

    def to_local(self) -> Any:
        """Return the ordinary estimator, fitted, to save, load and predict anywhere.

        Returns
        -------
        estimator
            The estimator of the same name in `lupi`.
        """
        check_is_fitted(self)
        model = self._unfitted()
        _copy_fitted(vars(self), self, model)
        return model

    def _take(self, fitted: Mapping[str, Any]) -> None:
        """Set the fitted attributes of an ordinary estimator."""
        _copy_fitted(fitted, self, self)

    def _lazily(self, method: str, X: Any) -> Any:
        """Apply a method of the ordinary estimator to every partition of X."""
        model = self.to_local()
        if not is_collection(X):
            return getattr(model, method)(X)
        empty = np.zeros((1, self.n_features_in_))  # type: ignore[attr-defined]
        if hasattr(model, "feature_names_in_"):
            import pandas as pd

            empty = pd.DataFrame(empty, columns=model.feature_names_in_)
        shown = getattr(model, method)(empty)[:0]
        if is_frame(X):
            wanted = _as_frame(shown, X._meta.index[:0], model)
            return X.map_partitions(_of_frame, model, method, shown, meta=wanted)
        X = X.rechunk({1: -1})
        return da.map_blocks(
            _of_array,
            X,
            model,
            method,
            shown,
            dtype=shown.dtype,
            meta=shown,
            drop_axis=1 if shown.ndim == 1 else [],
            chunks=X.chunks[:1] if shown.ndim == 1 else (X.chunks[0], shown.shape[1:]),
        )

    def __getstate__(self) -> Any:
        # The connection to a cluster belongs to this process.
        state: Any = super().__getstate__()
        return {**state, "client": None}

    def __sklearn_clone__(self) -> Any:
        parameters = {
            name: value if name == "client" else clone(value, safe=False)
            for name, value in self.get_params(deep=False).items()  # type: ignore[attr-defined]
        }
        return type(self)(**parameters)


class DecisionValues:
    """Mixin of classifiers."""

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
        return self._lazily("decision_function", X)  # type: ignore[attr-defined]


class Probabilities(DecisionValues):
    """Mixin of classifiers that have probabilities."""

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
        return self._lazily("predict_proba", X)  # type: ignore[attr-defined]


def _constructor(ordinary: Any, defaults: Mapping[str, Any]) -> Any:
    """Return a constructor with the parameters of another one, and ``client``."""
    signature = inspect.signature(ordinary.__init__)
    parameters = [
        each.replace(default=defaults.get(name, each.default))
        for name, each in signature.parameters.items()
    ]
    client = inspect.Parameter(
        "client", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Any
    )
    signature = signature.replace(parameters=[*parameters, client])

    def __init__(self: Any, *given: Any, client: Any = None, **named: Any) -> None:
        ordinary.__init__(self, *given, **{**defaults, **named})
        self.client = client

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__


def _copy_fitted(attributes: Mapping[str, Any], model: Any, to: Any) -> None:
    """Set all attributes that are no parameters of the model."""
    parameters = model.get_params(deep=False)
    for name, value in attributes.items():
        if name not in parameters:
            setattr(to, name, value)


def _of_array(X: Any, model: Any, method: str, shown: np.ndarray) -> np.ndarray:
    return getattr(model, method)(X) if X.shape[0] else shown


def _of_frame(X: Any, model: Any, method: str, shown: np.ndarray) -> Any:
    values = getattr(model, method)(X) if len(X) else shown
    return _as_frame(values, X.index, model)


def _as_frame(values: np.ndarray, index: Any, model: Any) -> Any:
    import pandas as pd

    if values.ndim == 1:
        return pd.Series(values, index=index)
    return pd.DataFrame(values, index=index, columns=model.classes_)
