"""SVM+, SVMΔ+ and ε-SVR+ with linear functions, on Dask collections."""

from __future__ import annotations

from lupi.dask._machine import DaskLinearMachine
from lupi.dask._model import DecisionValues
from lupi.svm import LinearSVCDeltaPlus as LocalSVCDeltaPlus
from lupi.svm import LinearSVCPlus as LocalSVCPlus
from lupi.svm import LinearSVRPlus as LocalSVRPlus

__all__ = ["LinearSVCDeltaPlus", "LinearSVCPlus", "LinearSVRPlus"]


class LinearSVCPlus(DecisionValues, DaskLinearMachine, LocalSVCPlus):
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
    >>> X = rng.normal(size=(200, 2), chunks=(100, 2))
    >>> noise = rng.normal(size=200, chunks=100)
    >>> y = X.sum(axis=1) + noise > 0
    >>> violation = da.maximum(1 - da.where(y, 1, -1) * X.sum(axis=1), 0)
    >>> model = LinearSVCPlus().fit(X, y, privileged=violation[:, None])
    >>> model.to_local().predict([[2.0, 2.0], [-2.0, -2.0]])
    array([ True, False])
    >>> client.close()
    """


class LinearSVCDeltaPlus(DecisionValues, DaskLinearMachine, LocalSVCDeltaPlus):
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
    >>> X = rng.normal(size=(200, 2), chunks=(100, 2))
    >>> noise = rng.normal(size=200, chunks=100)
    >>> y = X.sum(axis=1) + noise > 0
    >>> violation = da.maximum(1 - da.where(y, 1, -1) * X.sum(axis=1), 0)
    >>> model = LinearSVCDeltaPlus().fit(X, y, privileged=violation[:, None])
    >>> model.to_local().predict([[2.0, 2.0], [-2.0, -2.0]])
    array([ True, False])
    >>> client.close()
    """


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
    >>> X = rng.normal(size=(200, 2), chunks=(100, 2))
    >>> noise = rng.normal(size=200, chunks=100)
    >>> y = 2 * X[:, 0] + noise
    >>> model = LinearSVRPlus().fit(X, y, privileged=abs(noise)[:, None])
    >>> bool(abs(model.coef_ - [2.0, 0.0]).max() < 0.3)
    True
    >>> client.close()
    """
