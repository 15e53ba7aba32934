"""Sums over all rows, where other processes hold other rows.

On one machine a sum is complete as it is. Where XGBoost's collective is at work, each
process boosts the rows it holds, in step with the others: XGBoost adds up the
histograms, and `total` what the comments and the objective need.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

_COLLECTIVE: ContextVar[Any] = ContextVar("collective", default=None)


@contextmanager
def together(collective: Any) -> Iterator[None]:
    """Complete sums by a module such as `xgboost.collective`, which is initialized."""
    token = _COLLECTIVE.set(collective)
    try:
        yield
    finally:
        _COLLECTIVE.reset(token)


def is_divided() -> bool:
    """Tell whether other processes hold other rows."""
    return _COLLECTIVE.get() is not None


def total(values: Any) -> Any:
    """Return the sum of an array, or a number, over the processes."""
    collective = _COLLECTIVE.get()
    if collective is None:
        return values
    given = np.asarray(values)
    flat = np.ascontiguousarray(given, dtype=np.float64).reshape(-1)
    added = collective.allreduce(flat, collective.Op.SUM).reshape(given.shape)
    return added.astype(given.dtype) if given.dtype.kind == "f" else added


def everywhere(holds: bool) -> bool:
    """Tell whether something holds in all processes."""
    return bool(total(0.0 if holds else 1.0) == 0.0)


def stacked(rows: np.ndarray) -> np.ndarray:
    """Return the rows of all processes, of which each has as many."""
    collective = _COLLECTIVE.get()
    if collective is None:
        return rows
    places = np.zeros((collective.get_world_size(), *rows.shape))
    places[collective.get_rank()] = rows
    return total(places).reshape(-1, rows.shape[1])


def moments(table: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a table with the means and variances of all rows, and its weights.

    On one machine it is the table itself. Of every other process two rows tell as much:
    its mean plus and minus its standard deviations, each of half its weight.
    """
    if _COLLECTIVE.get() is None:
        return table, weight
    own = float(np.sum(weight, dtype=np.float64))
    mean, spread = np.zeros((2, table.shape[1]))
    if own > 0:
        mean = np.average(table, axis=0, weights=weight)
        spread = np.sqrt(np.average((table - mean) ** 2, axis=0, weights=weight))
    rows = stacked(np.array([mean - spread, mean + spread]))
    weights = stacked(np.full((2, 1), own / 2))[:, 0]
    return rows, weights
