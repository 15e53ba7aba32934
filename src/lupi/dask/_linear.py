"""SVM+, SVMΔ+ and ε-SVR+ with linear functions, on Dask collections."""

from __future__ import annotations

from typing import Any

from lupi.base import atomic_fit
from lupi.dask._machine import DaskLinearMachine
from lupi.svm import LinearSVCDeltaPlus as LocalSVCDeltaPlus
from lupi.svm import LinearSVCPlus as LocalSVCPlus
from lupi.svm import LinearSVRPlus as LocalSVRPlus

__all__ = ["LinearSVCDeltaPlus", "LinearSVCPlus", "LinearSVRPlus"]


class LinearSVCPlus(DaskLinearMachine, LocalSVCPlus):
    """SVM+ with linear functions of X and of X* on Dask arrays and data frames.

    The model of :class:`lupi.svm.LinearSVCPlus`, solved by the same interior point with
    the same certificate. The multipliers and slacks of the rows stay on the workers.

    Parameters
    ----------
    C, privileged_reg, multi_class, class_weight, tol, max_iter
        As in :class:`lupi.svm.LinearSVCPlus`.
    device : "cpu"
        Where the workers compute.
    client : distributed.Client or None, default=None
        The connection to the cluster; None is the one that is running.

    Attributes
    ----------
    classes_, coef_, intercept_, objective_, duality_gap_, n_iter_, converged_
        As in :class:`lupi.svm.LinearSVCPlus`.

    See Also
    --------
    lupi.svm.LinearSVCPlus : The same for tables in memory.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from lupi.dask import LinearSVCPlus
    >>> client = Client(processes=False, dashboard_address=":0")
    >>> rng = da.random.default_rng(0)
    >>> X = rng.normal(size=(600, 2), chunks=(200, 2))
    >>> noise = rng.normal(size=600, chunks=200)
    >>> y = X.sum(axis=1) + noise > 0
    >>> violation = da.maximum(1 - da.where(y, 1, -1) * X.sum(axis=1), 0)
    >>> model = LinearSVCPlus().fit(X, y, privileged=violation[:, None])
    >>> model.to_local().predict([[2.0, 2.0], [-2.0, -2.0]])
    array([ True, False])
    >>> client.close()
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        privileged_reg: float = 0.001,
        multi_class: str = "ovo",
        class_weight: dict | str | None = None,
        tol: float = 1e-6,
        max_iter: int = -1,
        device: str = "cpu",
        client: Any = None,
    ):
        super().__init__(
            C,
            privileged_reg=privileged_reg,
            multi_class=multi_class,
            class_weight=class_weight,
            tol=tol,
            max_iter=max_iter,
            device=device,
        )
        self.client = client

    @atomic_fit
    def fit(
        self, X: Any, y: Any, *, privileged: Any = None, sample_weight: Any = None
    ) -> LinearSVCPlus:
        """Fit the model.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_samples, n_features)
            Decision features, known also when predicting.
        y : Dask array or series of shape (n_samples,)
            Class labels of any type.
        privileged : Dask array or data frame of shape (n_samples, n_privileged), \
default=None
            X*; a row of NaN is a row without it.
        sample_weight : Dask array or series of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : LinearSVCPlus
            The fitted estimator.
        """
        self._fit(X, y, privileged, sample_weight)
        return self

    def predict(self, X: Any) -> Any:
        """Predict class labels, lazily.

        Parameters
        ----------
        X : Dask array or data frame, or a table in memory
            Decision features.

        Returns
        -------
        Dask array, series or data frame
            An array of NumPy for a table in memory.
        """
        return self._lazily("predict", X)

    def decision_function(self, X: Any) -> Any:
        """Return signed decision values, lazily.

        Parameters
        ----------
        X : Dask array or data frame, or a table in memory
            Decision features.

        Returns
        -------
        Dask array, series or data frame
            An array of NumPy for a table in memory.
        """
        return self._lazily("decision_function", X)


class LinearSVCDeltaPlus(DaskLinearMachine, LocalSVCDeltaPlus):
    """SVMΔ+ with linear functions of X and of X* on Dask arrays and data frames.

    The model of :class:`lupi.svm.LinearSVCDeltaPlus`, solved by the same interior point
    and with the same certificate. The multipliers and slacks of the rows stay on the
    workers.

    Parameters
    ----------
    C, delta, privileged_reg, slack, multi_class, class_weight, tol, max_iter
        As in :class:`lupi.svm.LinearSVCDeltaPlus`.
    device : "cpu"
        Where the workers compute.
    client : distributed.Client or None, default=None
        The connection to the cluster; None is the one that is running.

    Attributes
    ----------
    classes_, coef_, intercept_, objective_, duality_gap_, n_iter_, converged_
        As in :class:`lupi.svm.LinearSVCDeltaPlus`.

    See Also
    --------
    lupi.svm.LinearSVCDeltaPlus : The same for tables in memory.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from lupi.dask import LinearSVCDeltaPlus
    >>> client = Client(processes=False, dashboard_address=":0")
    >>> rng = da.random.default_rng(0)
    >>> X = rng.normal(size=(600, 2), chunks=(200, 2))
    >>> noise = rng.normal(size=600, chunks=200)
    >>> y = X.sum(axis=1) + noise > 0
    >>> violation = da.maximum(1 - da.where(y, 1, -1) * X.sum(axis=1), 0)
    >>> model = LinearSVCDeltaPlus().fit(X, y, privileged=violation[:, None])
    >>> model.to_local().predict([[2.0, 2.0], [-2.0, -2.0]])
    array([ True, False])
    >>> client.close()
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        delta: float = 3.0,
        privileged_reg: float = 1.0,
        slack: str = "signed",
        multi_class: str = "ovo",
        class_weight: dict | str | None = None,
        tol: float = 1e-6,
        max_iter: int = -1,
        device: str = "cpu",
        client: Any = None,
    ):
        super().__init__(
            C,
            delta=delta,
            privileged_reg=privileged_reg,
            slack=slack,
            multi_class=multi_class,
            class_weight=class_weight,
            tol=tol,
            max_iter=max_iter,
            device=device,
        )
        self.client = client

    @atomic_fit
    def fit(
        self, X: Any, y: Any, *, privileged: Any = None, sample_weight: Any = None
    ) -> LinearSVCDeltaPlus:
        """Fit the model.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_samples, n_features)
            Decision features, known also when predicting.
        y : Dask array or series of shape (n_samples,)
            Class labels of any type.
        privileged : Dask array or data frame of shape (n_samples, n_privileged), \
default=None
            X*; a row of NaN is a row without it.
        sample_weight : Dask array or series of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : LinearSVCDeltaPlus
            The fitted estimator.
        """
        self._fit(X, y, privileged, sample_weight)
        return self

    def predict(self, X: Any) -> Any:
        """Predict class labels, lazily.

        Parameters
        ----------
        X : Dask array or data frame, or a table in memory
            Decision features.

        Returns
        -------
        Dask array, series or data frame
            An array of NumPy for a table in memory.
        """
        return self._lazily("predict", X)

    def decision_function(self, X: Any) -> Any:
        """Return signed decision values, lazily.

        Parameters
        ----------
        X : Dask array or data frame, or a table in memory
            Decision features.

        Returns
        -------
        Dask array, series or data frame
            An array of NumPy for a table in memory.
        """
        return self._lazily("decision_function", X)


class LinearSVRPlus(DaskLinearMachine, LocalSVRPlus):
    """ε-SVR+ with linear functions of X and of X* on Dask arrays and data frames.

    The model of :class:`lupi.svm.LinearSVRPlus`, solved by the same interior point with
    the same certificate. The multipliers and slacks of the rows stay on the workers.

    Parameters
    ----------
    C, epsilon, privileged_reg, tol, max_iter
        As in :class:`lupi.svm.LinearSVRPlus`.
    device : "cpu"
        Where the workers compute.
    client : distributed.Client or None, default=None
        The connection to the cluster; None is the one that is running.

    Attributes
    ----------
    coef_, intercept_, objective_, duality_gap_, n_iter_, converged_
        As in :class:`lupi.svm.LinearSVRPlus`.

    See Also
    --------
    lupi.svm.LinearSVRPlus : The same for tables in memory.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from lupi.dask import LinearSVRPlus
    >>> client = Client(processes=False, dashboard_address=":0")
    >>> rng = da.random.default_rng(0)
    >>> X = rng.normal(size=(600, 2), chunks=(200, 2))
    >>> noise = rng.normal(size=600, chunks=200)
    >>> y = 2 * X[:, 0] + noise
    >>> model = LinearSVRPlus().fit(X, y, privileged=abs(noise)[:, None])
    >>> model.coef_.round()
    array([2., 0.])
    >>> client.close()
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        epsilon: float = 0.1,
        privileged_reg: float = 1.0,
        tol: float = 1e-6,
        max_iter: int = -1,
        device: str = "cpu",
        client: Any = None,
    ):
        super().__init__(
            C,
            epsilon=epsilon,
            privileged_reg=privileged_reg,
            tol=tol,
            max_iter=max_iter,
            device=device,
        )
        self.client = client

    @atomic_fit
    def fit(
        self, X: Any, y: Any, *, privileged: Any = None, sample_weight: Any = None
    ) -> LinearSVRPlus:
        """Fit the model.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_samples, n_features)
            Decision features, known also when predicting.
        y : Dask array or series of shape (n_samples,)
            Targets.
        privileged : Dask array or data frame of shape (n_samples, n_privileged), \
default=None
            X*; a row of NaN is a row without it.
        sample_weight : Dask array or series of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : LinearSVRPlus
            The fitted estimator.
        """
        self._fit(X, y, privileged, sample_weight)
        return self

    def predict(self, X: Any) -> Any:
        """Predict targets, lazily.

        Parameters
        ----------
        X : Dask array or data frame, or a table in memory
            Decision features.

        Returns
        -------
        Dask array, series or data frame
            An array of NumPy for a table in memory.
        """
        return self._lazily("predict", X)
