"""Iterative privileged learning on Dask collections."""

from __future__ import annotations

from lupi.boosting import IPLClassifier as LocalClassifier
from lupi.boosting import IPLRegressor as LocalRegressor
from lupi.dask._in_step import DaskIPL
from lupi.dask._model import Probabilities

__all__ = ["IPLClassifier", "IPLRegressor"]


class IPLClassifier(Probabilities, DaskIPL, LocalClassifier):
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
