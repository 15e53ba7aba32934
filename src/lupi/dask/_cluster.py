"""Rows on the workers of a Dask cluster, and the fits of joblib there.

`read_partitions` checks the partitions of Dask collections on the workers that hold
them and returns `DaskParts`: one future of a `Training` for each. An algorithm calls
functions of a partition on all of them; results that are large stay on the workers,
sums and other small results are returned.

Every future is the result of a chain of tasks that begins with the partitions of the
user and holds no scattered data. When a worker is lost, the scheduler computes again
what it held; the algorithms need not know.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import fields, replace
from functools import partial, reduce
from operator import itemgetter
from typing import Any

import dask
import dask.array as da
import distributed
import numpy as np
from dask.sizeof import sizeof
from joblib._dask import DaskDistributedBackend, is_weakrefable
from sklearn.base import clone

from lupi._parts import add
from lupi.base import Privileged, Training, class_weights, missing_targets
from lupi.base._arguments import classes_of
from lupi.base._rows import n_rows_of

# Number of partial sums that one task adds.
FAN_IN = 8
# Arguments of more bytes than this are sent once instead of with every task: those of
# functions of partitions, and those of joblib, which scatters them from this size on.
LARGE, LARGE_FOR_JOBLIB = 1 << 14, 1000


def find_client(client: Any, name: str) -> Any:
    """Return the client given, or the current one of this process."""
    if client is not None:
        return client
    try:
        return distributed.get_client()
    except ValueError as error:
        raise ValueError(
            f"lupi.dask.{name} found no Dask client. Start one, as in `from "
            "dask.distributed import Client; client = Client()`, or give client=..., "
            "the connection to your cluster."
        ) from error


def send_once(client: Any, value: Any) -> Any:
    """Return a future of a value, for use in any number of tasks.

    It is the result of a task: the scheduler, which holds the value, computes it again
    if its worker is lost. Scattered data would be lost.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")
        return client.submit(_same, value, pure=False)


def _same(value: Any) -> Any:
    return value


class DaskParts:
    """Parts on the workers of a cluster, one future each; see `lupi._parts.Parts`."""

    def __init__(self, client: Any, futures: Iterable[Any]) -> None:
        self.client, self.futures = client, list(futures)

    def map(self, function: Callable, *given: Any) -> DaskParts:
        """Return the results of a function, which stay on the workers."""
        columns = [
            one.futures if isinstance(one, DaskParts) else self._repeated(one)
            for one in given
        ]
        calls = zip(self.futures, *columns, strict=True)
        submit = partial(self.client.submit, function, pure=False)
        return DaskParts(self.client, (submit(*arguments) for arguments in calls))

    def _repeated(self, value: Any) -> list[Any]:
        if len(pickle.dumps(value, protocol=5)) > LARGE:
            value = send_once(self.client, value)
        return [value] * len(self.futures)

    def gather(self, function: Callable, *given: Any) -> list[Any]:
        """Return the results of a function, which are small."""
        return self.client.gather(self.map(function, *given).futures)

    def sum(self, function: Callable, *given: Any) -> Any:
        """Return the sum of the results."""
        futures = self.map(function, *given).futures
        while len(futures) > 1:
            groups = [futures[k : k + FAN_IN] for k in range(0, len(futures), FAN_IN)]
            futures = [self.client.submit(_sum, *one, pure=False) for one in groups]
        return futures[0].result()

    def where(self, chosen: Sequence[Any]) -> DaskParts:
        """Return the parts whose entry is true."""
        pairs = zip(self.futures, chosen, strict=True)
        return DaskParts(self.client, [future for future, keep in pairs if keep])


def _sum(*parts: Any) -> Any:
    return reduce(add, parts)


# ------------------------------------------------------------------------- reading
def is_collection(table: Any) -> bool:
    """Return whether a table is a Dask array, data frame or series."""
    return dask.is_dask_collection(table) and hasattr(table, "npartitions")


def read_partitions(
    estimator: Any,
    client: Any,
    tables: dict[str, Any],
    check: Callable[[Any, Training], None] | None = None,
) -> DaskParts:
    """Return the arguments of ``fit`` as parts of type `Training`.

    Each partition is checked on its worker, as by ``fit`` of the ordinary estimator,
    and by `check`. The estimator gets ``n_features_in_`` and the like. Rows of weight
    zero, rows with neither y nor X*, and partitions without other rows are left out.
    """
    name = type(estimator).__name__
    given = {key: table for key, table in tables.items() if table is not None}
    _check_tables(name, given)
    partitions = zip(*map(_delayed, given.values()), strict=True)
    task, local = dask.delayed(_checked, pure=False), estimator._local()
    calls = [
        task(number, local, check, list(given), *partition)
        for number, partition in enumerate(partitions)
    ]
    checked = DaskParts(client, client.compute(calls))
    attributes, n_rows, n_labelled = zip(*checked.gather(_summary), strict=True)
    known = [each for each in attributes if each is not None]
    if not known:
        raise ValueError(
            f"lupi.dask.{name} found no row of positive weight in any of the "
            f"{len(attributes)} partitions, so that there is nothing to learn from."
        )
    if not sum(n_labelled):
        raise ValueError(
            f"lupi.dask.{name} got y without a value for any row, so that there is no "
            "outcome to learn. Give y for some of the rows."
        )
    vars(estimator).update(_merged(known, name))
    return checked.where(n_rows).map(itemgetter(1))


def _check_tables(name: str, given: dict[str, Any]) -> None:
    """Refuse tables that are divided differently, as far as that is known."""
    for key, table in given.items():
        if not is_collection(table):
            raise TypeError(
                f"lupi.dask.{name} got {key} as {type(table).__name__}, and takes Dask "
                f"arrays and data frames. Use lupi.{name} for tables in memory, or "
                "dask.array.from_array."
            )
    if "y" not in given:
        raise ValueError(f"lupi.dask.{name} needs y, but got None.")
    wanted = _chunks(given["X"])
    for key, table in given.items():
        sizes = _chunks(table)
        if len(sizes) != len(wanted):
            raise ValueError(
                f"lupi.dask.{name} got X in {len(wanted)} partitions and {key} in "
                f"{len(sizes)}. Give both the same rows in every partition, for "
                f"example by {key}.rechunk or {key}.repartition."
            )
        for number, (size, expected) in enumerate(zip(sizes, wanted, strict=True)):
            if abs(size - expected) > 0:  # neither of them is NaN
                raise _different_sizes(number, expected, key, size)


def _chunks(table: Any) -> tuple[float, ...]:
    """Return the rows of every partition, NaN if they are not known."""
    array = isinstance(table, da.Array)
    return table.chunks[0] if array else (np.nan,) * table.npartitions


def _different_sizes(number: int, n_rows: float, key: str, size: float) -> ValueError:
    return ValueError(
        f"Partition {number} has {n_rows} rows of X and {size} of {key}. Give both the "
        f"same rows in every partition, for example {key}.rechunk({{0: X.chunks[0]}}) "
        f"or {key}.repartition(divisions=X.divisions)."
    )


def _delayed(table: Any) -> list[Any]:
    """Return the partitions, each with whole rows."""
    if not isinstance(table, da.Array):
        return table.to_delayed()
    whole = table.rechunk({1: -1}) if table.ndim == 2 else table
    # Not optimized one by one: what several tables share is computed once.
    return list(whole.to_delayed(optimize_graph=False).ravel())


def _checked(
    number: int, estimator: Any, check: Any, names: list[str], *tables: Any
) -> tuple[dict[str, Any], Training] | None:
    """Return the attributes that reading a partition sets, and its rows.

    None if it has no row of positive weight.
    """
    given = dict(zip(names, tables, strict=True))
    n_rows = n_rows_of(given["X"])
    for key, table in given.items():
        if n_rows_of(table) != n_rows:
            raise _different_sizes(number, n_rows, key, n_rows_of(table))
    weight = given.get("sample_weight")
    if n_rows == 0 or (weight is not None and not np.any(np.asarray(weight) != 0)):
        return None
    unlabelled = missing_targets(given["y"])
    # A partition without any y is legal if the model learns from such rows.
    no_labels = (
        estimator.__lupi_tags__().uses_unlabelled
        and len(unlabelled) == n_rows
        and bool(unlabelled.all())
    )
    if no_labels:
        given["y"] = np.zeros(n_rows)
    estimator = clone(estimator)
    try:
        training = estimator._read(**given)
        if check is not None:
            check(estimator, training)
    except (TypeError, ValueError) as error:
        raise type(error)(f"Partition {number}: {error}") from None
    if no_labels:
        training = replace(training, unlabelled=unlabelled)
    return fitted_attributes(estimator), training.learnable()


def fitted_attributes(estimator: Any) -> dict[str, Any]:
    """Return the attributes of an estimator that are not parameters."""
    parameters = estimator.get_params(deep=False)
    return {k: value for k, value in vars(estimator).items() if k not in parameters}


def _summary(
    part: tuple[dict[str, Any], Training] | None,
) -> tuple[dict[str, Any] | None, int, int]:
    """Return the attributes, the number of rows and the number of labelled rows."""
    if part is None:
        return None, 0, 0
    attributes, training = part
    return attributes, training.n_rows, len(training.labelled)


def _merged(attributes: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """Return the attributes of all partitions; refuse different widths."""
    width = "n_privileged_features_in_"
    # A partition none of whose rows has X* does not know its columns.
    known = [one for one in attributes if one[width]] or attributes
    for key, parts in (("n_features_in_", attributes), (width, known)):
        widths = {one[key] for one in parts}
        if len(widths) > 1:
            least, *_, most = sorted(widths)
            raise ValueError(
                f"lupi.dask.{name} found partitions of {least} and of {most} columns. "
                "Give the same columns in every partition."
            )
    return known[0]


def require_values(estimator: Any, reason: str, **values: Any) -> None:
    """Refuse values of parameters that a fit on a cluster does not support."""
    name = type(estimator).__name__
    for key, value in values.items():
        given = getattr(estimator, key, value)
        if given != value:
            raise ValueError(
                f"{key}={given!r}: lupi.dask.{name} {reason}, and takes {key}="
                f"{value!r} alone. Use lupi.{name} for tables in memory."
            )


# ---------------------------------------------------------------------------- rows
def with_width(training: Training, width: int) -> Training:
    """Return rows with an empty X* of some width, if none of them has X*."""
    if width == 0 or training.privileged is not None:
        return training
    empty = Privileged(np.empty((0, width)), np.empty(0, dtype=int), training.n_rows)
    return replace(training, privileged=empty)


def joined(parts: Sequence[Training], width: int) -> Training:
    """Return the rows of several parts, in their order, with X* of some width."""
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("X", "y", "weight")
    }
    n_rows = len(columns["y"])
    if width:
        known: Any = [with_width(part, width).privileged for part in parts]
        firsts = np.cumsum([0, *(one.n_rows for one in known[:-1])])
        values = np.concatenate([one.values for one in known])
        rows = [k + one.rows for k, one in zip(firsts, known, strict=True)]
        columns["privileged"] = Privileged(values, np.concatenate(rows), n_rows)
    return replace(parts[0], rows=np.arange(n_rows), **columns)


def read_classes(estimator: Any, training: DaskParts) -> np.ndarray:
    """Set ``classes_`` of the ordinary estimator; return the class weights."""
    classes = estimator.classes_ = classes_of(training, estimator)
    totals, codes = training.sum(_class_totals, classes), np.arange(len(classes))
    return class_weights(estimator.class_weight, classes, codes, totals)


def _class_totals(training: Training, classes: np.ndarray) -> np.ndarray:
    codes = np.searchsorted(classes, training.y)
    return np.bincount(codes, training.weight, len(classes))


@sizeof.register((Privileged, Training))
def size_of_fields(part: Any) -> int:
    """Return the bytes of a data class; the scheduler weighs transfers by them."""
    return sum(sizeof(getattr(part, field.name)) for field in fields(part))


# -------------------------------------------------------------------------- joblib
class JoblibBackend(DaskDistributedBackend):
    """Run the tasks of joblib on a Dask cluster, and send the data once.

    As ``joblib.parallel_config(backend="dask")``, with two differences, which matter
    for the searches of scikit-learn:

    - An array or data frame inside a dictionary of a task is sent once, like one that
      is an argument of its own. In a search, ``privileged`` is such an array: joblib's
      backend sends it with every task.
    - Work continues when a worker is lost. Joblib's backend leaves each argument on one
      worker, and fails if that one is lost. Here the scheduler keeps a copy, which
      needs memory for the data once, until the work is done.

    Parameters
    ----------
    client : distributed.Client or None, default=None
        The connection to the cluster; None is the current client of the process.
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
        client = find_client(client, type(self).__name__)
        super().__init__(client=client, **submit_kwargs)

    def submit(self, func: Any, callback: Any = None) -> Any:
        """Send a batch of tasks, with futures in place of large arguments.

        Parameters
        ----------
        func : joblib.parallel.BatchedCalls
            The tasks.
        callback : callable, default=None
            Called with the result.

        Returns
        -------
        concurrent.futures.Future
            The result.
        """
        func.items = [
            (function, [self._future(one) for one in arguments], self._futures(named))
            for function, arguments, named in func.items
        ]
        return super().submit(func, callback)

    def _futures(self, named: dict) -> dict:
        """Return a dictionary with futures in place of large values, at any depth."""
        replaced = copy(named)
        for key, value in named.items():
            nested = isinstance(value, dict)
            replaced[key] = self._futures(value) if nested else self._future(value)
        return replaced

    def _future(self, value: Any) -> Any:
        """Return a future of what joblib would scatter, or the value itself."""
        sent = self.call_data_futures  # of joblib, until the end of the call
        try:
            return sent[value]
        except KeyError:
            if not is_weakrefable(value) or sizeof(value) <= LARGE_FOR_JOBLIB:
                return value
            sent[value] = send_once(self.client, value)
            return sent[value]
