"""Many fits on a cluster: joblib's Dask backend, with the data sent once."""

from __future__ import annotations

import weakref
from copy import copy
from typing import Any

from dask.sizeof import sizeof

from lupi._compat import joblib_dask_backend
from lupi.dask._parts import sent_once
from lupi.dask._reading import find_client

__all__ = ["JoblibBackend"]

# Joblib would scatter an argument of more bytes.
_LARGE = 1000

_DaskBackend: Any = joblib_dask_backend()


class JoblibBackend(_DaskBackend):
    """Run the tasks of joblib on a Dask cluster, and send the data once.

    As ``joblib.parallel_config(backend="dask")``, with two differences, which matter
    for the searches of scikit-learn:

    - An array or data frame inside a dictionary of a task is sent once, like one that
      is an argument of its own. In a search, ``privileged`` is such an array: joblib's
      backend sends it with every task.
    - Work goes on when a worker is lost. Joblib's backend leaves each argument on one
      worker, and fails if that is the one. Here the scheduler keeps a copy, which needs
      its memory for the data once, until the work is done.

    Parameters
    ----------
    client : distributed.Client or None, default=None
        The connection to the cluster; None is the one that is running.
    **submit_kwargs : dict
        Passed on to ``client.submit``, such as ``priority`` or ``resources``.

    Examples
    --------
    >>> import joblib
    >>> import numpy as np
    >>> from dask.distributed import Client
    >>> from sklearn.model_selection import GridSearchCV
    >>> from lupi import LinearSVCDeltaPlus
    >>> from lupi.dask import JoblibBackend
    >>> rng = np.random.default_rng(0)
    >>> X, P = rng.normal(size=(2, 200, 3))
    >>> y = X[:, 0] + P[:, 0] > 0
    >>> search = GridSearchCV(LinearSVCDeltaPlus(), {"C": [0.1, 1.0]}, cv=2)
    >>> client = Client(processes=False, dashboard_address=":0")
    >>> with joblib.parallel_config(backend=JoblibBackend()):
    ...     search = search.fit(X, y, privileged=P)
    >>> search.predict([[2.0, 0.0, 0.0]])
    array([ True])
    >>> client.close()
    """

    def __init__(self, client: Any = None, **submit_kwargs: Any):
        super().__init__(
            client=find_client(client, type(self).__name__), **submit_kwargs
        )
        self._sent: dict[int, tuple[Any, Any]] = {}

    def start_call(self) -> None:
        """Begin a call of `joblib.Parallel`."""
        super().start_call()
        self._sent = {}

    def stop_call(self) -> None:
        """End a call of `joblib.Parallel`: the cluster may forget its data."""
        super().stop_call()
        self._sent = {}

    def submit(self, func: Any, callback: Any = None) -> Any:
        """Send a batch of tasks, with futures in place of its data.

        Parameters
        ----------
        func : joblib.parallel.BatchedCalls
            The tasks.
        callback : callable, default=None
            Called with the result.

        Returns
        -------
        concurrent.futures.Future
            The result to come.
        """
        func.items = [
            (function, [self._future(one) for one in arguments], self._inside(named))
            for function, arguments, named in func.items
        ]
        return super().submit(func, callback)

    def _inside(self, named: dict) -> dict:
        """Return a dictionary with futures in place of data, at any depth."""
        futures = copy(named)
        for key, value in named.items():
            inside = isinstance(value, dict)
            futures[key] = self._inside(value) if inside else self._future(value)
        return futures

    def _future(self, value: Any) -> Any:
        """Return the future of what joblib would scatter, or the value itself."""
        if id(value) not in self._sent:
            if not _has_weakref(value) or sizeof(value) <= _LARGE:
                return value
            # The value is held, so that its id is not given to another one.
            self._sent[id(value)] = value, sent_once(self.client, value)
        return self._sent[id(value)][1]


def _has_weakref(value: Any) -> bool:
    """Tell whether a value is such as joblib scatters: no number, text or list."""
    try:
        weakref.ref(value)
    except TypeError:
        return False
    return True
