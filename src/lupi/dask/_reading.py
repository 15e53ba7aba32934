"""From Dask collections to checked rows, partition by partition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import get_client
from sklearn.base import clone

from lupi.base import Training
from lupi.base._arguments import missing_targets
from lupi.base._rows import n_rows_of
from lupi.dask._parts import DaskParts

# What `_validate_fit` says of the tables.
_HEADER = (
    "n_features_in_",
    "feature_names_in_",
    "n_privileged_features_in_",
    "privileged_feature_names_in_",
    "_reading",
    "_reads_data_frame",
)


def find_client(client: Any, name: str) -> Any:
    """Return the client given, or the one that is running."""
    if client is not None:
        return client
    try:
        return get_client()
    except ValueError as error:
        raise ValueError(
            f"lupi.dask.{name} found no Dask client. Start one, as in `from "
            "dask.distributed import Client; client = Client()`, or give client=..., "
            "the connection to your cluster."
        ) from error


def is_frame(collection: Any) -> bool:
    """Tell whether a Dask collection is a data frame or a series."""
    return hasattr(collection, "npartitions") and not isinstance(collection, da.Array)


def is_collection(table: Any) -> bool:
    """Tell whether a table is a Dask array, data frame or series."""
    return isinstance(table, da.Array) or (
        dask.is_dask_collection(table) and is_frame(table)
    )


@dataclass(frozen=True)
class ReadPart:
    """A partition, read: what `fit` has to know of it, and its rows."""

    header: dict[str, Any]
    training: Training


def read_parts(
    estimator: Any, client: Any, read: Callable[..., Training], **tables: Any
) -> DaskParts:
    """Check the partitions where they are, and set what `_validate_fit` sets.

    Parameters
    ----------
    estimator : estimator
        The ordinary one, not fitted; gets the header of the tables.
    client : distributed.Client
        The connection to the cluster.
    read : callable
        ``read(estimator, X=, y=, ...)`` checks one partition.
    **tables : Dask collections or None
        What ``fit`` was given, by name; the first is X.

    Returns
    -------
    DaskParts of Training
        Rows of positive weight that have y, X* or both; partitions without any are
        left out.
    """
    name = type(estimator).__name__
    given = {key: table for key, table in tables.items() if table is not None}
    for key, table in given.items():
        if not is_collection(table):
            raise TypeError(
                f"lupi.dask.{name} got {key} as {type(table).__name__}, and takes Dask "
                f"arrays and data frames. Use lupi.{name} for tables in memory, or "
                "dask.array.from_array."
            )
    if "y" not in given:
        raise ValueError(f"lupi.dask.{name} needs y, but got None.")
    given = {key: _whole_rows(table) for key, table in given.items()}
    _check_partitions(name, given)
    # Let go when this function ends: the rows that were read take their place.
    held = _held(client, list(given.values()))
    columns = [_delayed_parts(table) for table in held]
    task = dask.delayed(_read_one, pure=False)
    futures = client.compute(
        [
            task(number, clone(estimator), read, list(given), *partition)
            for number, partition in enumerate(zip(*columns, strict=True))
        ]
    )
    parts = DaskParts(client, futures)
    headers = parts.gather(_header)
    known = [header for header in headers if header is not None]
    if not known:
        raise ValueError(
            f"lupi.dask.{name} found no row of positive weight in any of the "
            f"{len(headers)} partitions, so that there is nothing to learn from."
        )
    for key, value in _merged(known, name).items():
        setattr(estimator, key, value)
    kept = [f for f, header in zip(futures, headers, strict=True) if header is not None]
    parts = DaskParts(client, kept).map(_training)
    sizes = parts.gather(_sizes)
    kept = [f for f, (size, _) in zip(parts.futures, sizes, strict=True) if size]
    if not sum(n_labelled for _, n_labelled in sizes):
        raise ValueError(
            f"lupi.dask.{name} got y without a value for any row, so that there is no "
            "outcome to learn. Give y for some of the rows."
        )
    return DaskParts(client, kept)


def _whole_rows(table: Any) -> Any:
    """Return an array whose partitions are whole rows."""
    if isinstance(table, da.Array) and table.ndim == 2 and table.numblocks[1] > 1:
        return table.rechunk({1: -1})
    return table


def _held(client: Any, tables: list[Any]) -> list[Any]:
    """Have all partitions computed once, those of arrays and of frames together."""
    held = list(tables)
    for frames in (False, True):
        chosen = [k for k, table in enumerate(tables) if is_frame(table) == frames]
        if chosen:
            persisted = client.persist([tables[k] for k in chosen])
            for k, table in zip(chosen, persisted, strict=True):
                held[k] = table
    return held


def _n_partitions(table: Any) -> int:
    return table.numblocks[0] if isinstance(table, da.Array) else table.npartitions


def _check_partitions(name: str, given: dict[str, Any]) -> None:
    """Refuse tables whose partitions cannot belong together."""
    first, X = next(iter(given.items()))
    for key, table in given.items():
        if _n_partitions(table) != _n_partitions(X):
            raise ValueError(
                f"lupi.dask.{name} got {first} in {_n_partitions(X)} partitions and "
                f"{key} in {_n_partitions(table)}. Give both the same rows in every "
                f"partition, for example by {key}.rechunk or {key}.repartition."
            )
        sizes = [
            one.chunks[0] if isinstance(one, da.Array) else (np.nan,)
            for one in (X, table)
        ]
        both_known = not np.isnan(np.concatenate(sizes).astype(float)).any()
        if both_known and sizes[0] != sizes[1]:
            raise ValueError(
                f"lupi.dask.{name} got {first} in chunks of {_some(sizes[0])} rows and "
                f"{key} in chunks of {_some(sizes[1])}. Give both the same rows in "
                f"every chunk: {key} = {key}.rechunk({{0: {first}.chunks[0]}})."
            )


def _some(sizes: tuple[Any, ...]) -> str:
    shown = ", ".join(map(str, sizes[:4]))
    return f"({shown}, …)" if len(sizes) > 4 else f"({shown})"


def _delayed_parts(table: Any) -> list[Any]:
    if isinstance(table, da.Array):
        return list(table.to_delayed().ravel())
    return list(table.to_delayed())


def _read_one(
    number: int, estimator: Any, read: Callable, names: list[str], *tables: Any
) -> ReadPart | None:
    """Check one partition; None if no row of it counts."""
    given = dict(zip(names, tables, strict=True))
    sizes = {key: n_rows_of(table) for key, table in given.items()}
    n_rows = sizes["X"]
    for key, size in sizes.items():
        if size != n_rows:
            raise ValueError(
                f"Partition {number} has {n_rows} rows of X and {size} of {key}. Give "
                "both the same rows in every partition."
            )
    weight = given.get("sample_weight")
    if n_rows == 0 or (weight is not None and not np.any(np.asarray(weight) != 0)):
        return None
    absent = missing_targets(given["y"])
    unknown = estimator.__lupi_tags__().uses_unlabelled and absent.all()
    unknown = unknown and len(absent) == n_rows
    if unknown:  # as other partitions may have it
        given["y"] = np.zeros(n_rows)
    estimator = clone(estimator)
    try:
        training = read(estimator, **given)
    except (TypeError, ValueError) as error:
        raise type(error)(f"Partition {number}: {error}") from None
    if unknown:
        training = replace(training, unlabelled=absent)
    header = {key: getattr(estimator, key, None) for key in _HEADER}
    return ReadPart(header, training.learnable())


def _header(part: ReadPart | None) -> dict[str, Any] | None:
    return None if part is None else part.header


def _training(part: ReadPart) -> Training:
    return part.training


def _sizes(training: Training) -> tuple[int, int]:
    return training.n_rows, len(training.labelled)


def _merged(headers: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """Return what all partitions say of the tables."""
    merged = dict(headers[0])
    for key in ("n_privileged_features_in_", "privileged_feature_names_in_"):
        # A partition without a row of X* says nothing of it.
        known = [h[key] for h in headers if h["n_privileged_features_in_"]]
        merged[key] = known[0] if known else headers[0][key]
    for key in ("n_features_in_", "n_privileged_features_in_"):
        other = {h[key] for h in headers} - {merged[key], 0}
        if other:
            raise ValueError(
                f"lupi.dask.{name} found partitions of {merged[key]} and of "
                f"{other.pop()} columns. Give the same columns in every partition."
            )
    return {key: value for key, value in merged.items() if value is not None}
