"""Iterative privileged learning on Dask collections."""

from __future__ import annotations

from typing import Any

from lupi.base import atomic_fit
from lupi.boosting import IPLClassifier as LocalClassifier
from lupi.boosting import IPLRegressor as LocalRegressor
from lupi.dask._in_step import DaskIPL

__all__ = ["IPLClassifier", "IPLRegressor"]


class IPLClassifier(DaskIPL, LocalClassifier):
    """Iterative privileged learning for classes on Dask collections.

    The model of :class:`lupi.boosting.IPLClassifier` with ``engine="xgboost"``, boosted
    by all workers in step. Histograms are cut where XGBoost cuts them for rows on
    several machines, so that trees may differ from those of one machine as those of
    XGBoost do.

    Parameters
    ----------
    n_estimators, learning_rate, max_depth, privileged_weight, privileged_reg, \
n_atoms, max_inner_iter, tol, loss, standardize_privileged, max_features, \
min_weight_fraction_leaf, tree_params, n_jobs, class_weight, random_state
        As in :class:`lupi.boosting.IPLClassifier`.
    engine : "xgboost"
        The maker of the trees.
    device : "cpu"
        Where the workers compute.
    auxiliary, warm_start, n_iter_no_change, validation_fraction, early_stopping_tol
        Not supported; leave the defaults.
    client : distributed.Client or None, default=None
        The connection to the cluster; None is the one that is running.

    Attributes
    ----------
    classes_, n_estimators_, privileged_coef_, train_score_, objective_trace_
        As in :class:`lupi.boosting.IPLClassifier`.

    See Also
    --------
    lupi.boosting.IPLClassifier : The same for tables in memory.

    Notes
    -----
    The workers that hold rows when boosting begins have to stay until its end: when one
    is lost, ``fit`` raises an error that says to start again.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from lupi.dask import IPLClassifier
    >>> client = Client(processes=False, dashboard_address=":0")
    >>> rng = da.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2), chunks=(200, 2))
    >>> later = X.sum(axis=1) + rng.normal(size=400, chunks=200)
    >>> y = later > 0
    >>> model = IPLClassifier(n_estimators=5, random_state=0)
    >>> _ = model.fit(X, y, privileged=later[:, None])
    >>> model.predict(X).compute().shape
    (400,)
    >>> client.close()
    """

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_depth: int | None = 3,
        privileged_weight: float = 1.0,
        privileged_reg: float = 1.0,
        n_atoms: int | None = None,
        max_inner_iter: int = 10,
        tol: float = 0.0001,
        loss: str = "squared_error",
        auxiliary: Any = None,
        standardize_privileged: bool = True,
        max_features: int | float | str | None = None,
        min_weight_fraction_leaf: float = 0.0,
        n_iter_no_change: int | None = None,
        validation_fraction: float | None = 0.1,
        early_stopping_tol: float = 0.0001,
        engine: str = "xgboost",
        tree_params: dict[str, Any] | None = None,
        device: str = "cpu",
        n_jobs: int | None = None,
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        client: Any = None,
    ):
        super().__init__(
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            max_depth=max_depth,
            privileged_weight=privileged_weight,
            privileged_reg=privileged_reg,
            n_atoms=n_atoms,
            max_inner_iter=max_inner_iter,
            tol=tol,
            loss=loss,
            auxiliary=auxiliary,
            standardize_privileged=standardize_privileged,
            max_features=max_features,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            n_iter_no_change=n_iter_no_change,
            validation_fraction=validation_fraction,
            early_stopping_tol=early_stopping_tol,
            engine=engine,
            tree_params=tree_params,
            device=device,
            n_jobs=n_jobs,
            class_weight=class_weight,
            warm_start=warm_start,
            random_state=random_state,
        )
        self.client = client

    @atomic_fit
    def fit(
        self, X: Any, y: Any, *, privileged: Any = None, sample_weight: Any = None
    ) -> IPLClassifier:
        """Fit the boosted trees.

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
        self : IPLClassifier
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

    def predict_proba(self, X: Any) -> Any:
        """Return class probabilities, lazily.

        Parameters
        ----------
        X : Dask array or data frame, or a table in memory
            Decision features.

        Returns
        -------
        Dask array, series or data frame
            An array of NumPy for a table in memory.
        """
        return self._lazily("predict_proba", X)

    def decision_function(self, X: Any) -> Any:
        """Return decision values, lazily.

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


class IPLRegressor(DaskIPL, LocalRegressor):
    """Iterative privileged learning for a continuous target on Dask collections.

    The model of :class:`lupi.boosting.IPLRegressor` with ``engine="xgboost"``, boosted
    by all workers in step. Histograms are cut where XGBoost cuts them for rows on
    several machines, so that trees may differ from those of one machine as those of
    XGBoost do.

    Parameters
    ----------
    n_estimators, learning_rate, max_depth, privileged_weight, privileged_reg, \
n_atoms, max_inner_iter, tol, standardize_privileged, max_features, \
min_weight_fraction_leaf, tree_params, n_jobs, random_state
        As in :class:`lupi.boosting.IPLRegressor`.
    engine : "xgboost"
        The maker of the trees.
    device : "cpu"
        Where the workers compute.
    auxiliary, warm_start, n_iter_no_change, validation_fraction, early_stopping_tol
        Not supported; leave the defaults.
    client : distributed.Client or None, default=None
        The connection to the cluster; None is the one that is running.

    Attributes
    ----------
    n_estimators_, privileged_coef_, train_score_, objective_trace_
        As in :class:`lupi.boosting.IPLRegressor`.

    See Also
    --------
    lupi.boosting.IPLRegressor : The same for tables in memory.

    Notes
    -----
    The workers that hold rows when boosting begins have to stay until its end: when one
    is lost, ``fit`` raises an error that says to start again.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from lupi.dask import IPLRegressor
    >>> client = Client(processes=False, dashboard_address=":0")
    >>> rng = da.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2), chunks=(200, 2))
    >>> later = X.sum(axis=1) + rng.normal(size=400, chunks=200)
    >>> y = later > 0
    >>> model = IPLRegressor(n_estimators=5, random_state=0)
    >>> _ = model.fit(X, later, privileged=later[:, None])
    >>> model.predict(X).compute().shape
    (400,)
    >>> client.close()
    """

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_depth: int | None = 3,
        privileged_weight: float = 1.0,
        privileged_reg: float = 1.0,
        n_atoms: int | None = None,
        max_inner_iter: int = 10,
        tol: float = 0.0001,
        auxiliary: Any = None,
        standardize_privileged: bool = True,
        max_features: int | float | str | None = None,
        min_weight_fraction_leaf: float = 0.0,
        n_iter_no_change: int | None = None,
        validation_fraction: float | None = 0.1,
        early_stopping_tol: float = 0.0001,
        engine: str = "xgboost",
        tree_params: dict[str, Any] | None = None,
        device: str = "cpu",
        n_jobs: int | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        client: Any = None,
    ):
        super().__init__(
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            max_depth=max_depth,
            privileged_weight=privileged_weight,
            privileged_reg=privileged_reg,
            n_atoms=n_atoms,
            max_inner_iter=max_inner_iter,
            tol=tol,
            auxiliary=auxiliary,
            standardize_privileged=standardize_privileged,
            max_features=max_features,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            n_iter_no_change=n_iter_no_change,
            validation_fraction=validation_fraction,
            early_stopping_tol=early_stopping_tol,
            engine=engine,
            tree_params=tree_params,
            device=device,
            n_jobs=n_jobs,
            warm_start=warm_start,
            random_state=random_state,
        )
        self.client = client

    @atomic_fit
    def fit(
        self, X: Any, y: Any, *, privileged: Any = None, sample_weight: Any = None
    ) -> IPLRegressor:
        """Fit the boosted trees.

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
        self : IPLRegressor
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
