"""What all estimators of `lupi.dask` share: the client, and lazy predictions."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from lupi.dask._reading import find_client, is_collection, is_frame


class DaskModel:
    """Mixin before the ordinary estimator, with the parameter ``client``."""

    client: Any

    @classmethod
    def _ordinary(cls) -> type:
        """Return the class of the ordinary estimator."""
        return next(
            kind
            for kind in cls.__mro__
            if kind.__name__ == cls.__name__ and not issubclass(kind, DaskModel)
        )

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
        parameters = self.get_params(deep=False)  # type: ignore[attr-defined]
        for name, value in vars(self).items():
            if name not in parameters:
                setattr(model, name, value)
        return model

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
