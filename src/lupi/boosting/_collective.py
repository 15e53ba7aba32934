"""Sums over the rows of all processes.

With one process, all functions return their argument. With XGBoost's collective, each
process boosts its own rows and all processes grow the same trees: XGBoost adds up the
histograms, and `total` the sums of the comments and of the objective.
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
    """Add up sums by a module such as `xgboost.collective`, which is initialized."""
    token = _COLLECTIVE.set(collective)
    try:
        yield
    finally:
        _COLLECTIVE.reset(token)


def is_divided() -> bool:
    """Return whether the rows are divided among several processes."""
    return _COLLECTIVE.get() is not None


def total(values: Any) -> Any:
    """Return the sum of an array, or a number, over the processes."""
    collective = _COLLECTIVE.get()
    if collective is None:
        return values
    own = np.asarray(values)
    flat = np.ascontiguousarray(own, dtype=np.float64).reshape(-1)
    added = collective.allreduce(flat, collective.Op.SUM).reshape(own.shape)
    return added.astype(own.dtype) if own.dtype.kind == "f" else added


def everywhere(holds: bool) -> bool:
    """Return whether a condition holds in all processes."""
    return bool(total(0.0 if holds else 1.0) == 0.0)


def stacked(rows: np.ndarray) -> np.ndarray:
    """Return the rows of all processes, each of which has the same number."""
    collective = _COLLECTIVE.get()
    if collective is None:
        return rows
    blocks = np.zeros((collective.get_world_size(), *rows.shape))
    blocks[collective.get_rank()] = rows
    return total(blocks).reshape(-1, rows.shape[1])


def moments(table: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a table with the means and variances of all rows, and its weights.

    With one process, this is the table itself. Otherwise each process contributes two
    rows: its mean plus and minus its standard deviations, each with half its weight.
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
