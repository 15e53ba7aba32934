"""Columns of a table: imputation of missing cells, and limits of rows without y."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from lupi._parts import Parts

BLOCK = 1 << 16


@dataclass(frozen=True)
class Table:
    """A table of numbers, the weights of its rows, and which of them have y."""

    values: Any
    weight: np.ndarray
    labelled: np.ndarray

    def itself(self) -> Table:
        """Return the table, where the parts of the rows are tables."""
        return self


# A function that returns the table of a part.
TableOf = Callable[[Any], Table]


@dataclass(frozen=True)
class ColumnSums:
    """Sums over the rows of a table, by column.

    Attributes
    ----------
    sparse : int
        Number of sparse tables.
    missing : ndarray
        Number of missing cells.
    weight, mean, squares : ndarray
        Weight, weighted mean and centered squares of the cells of labelled rows.
    """

    sparse: int
    missing: np.ndarray
    weight: np.ndarray
    mean: np.ndarray
    squares: np.ndarray

    def __add__(self, other: ColumnSums) -> ColumnSums:
        weight, gap = self.weight + other.weight, other.mean - self.mean
        share = np.divide(
            other.weight, weight, out=np.zeros_like(weight), where=weight > 0
        )
        return ColumnSums(
            self.sparse + other.sparse,
            self.missing + other.missing,
            weight,
            self.mean + share * gap,
            self.squares + other.squares + self.weight * share * gap**2,
        )

    @property
    def deviation(self) -> np.ndarray:
        """Standard deviations; 1 for a column that is constant up to rounding."""
        positive = np.where(self.weight > 0, self.weight, 1.0)
        deviation = np.sqrt(self.squares / positive)
        return np.where(deviation > ROUNDING * np.abs(self.mean), deviation, 1.0)


# A column whose standard deviation is below this part of its mean is constant.
ROUNDING = 16 * np.finfo(float).eps


def column_sums(part: Any, table_of: TableOf) -> ColumnSums:
    """Return the sums of the table of a part."""
    table = table_of(part)
    X, width = table.values, table.values.shape[1]
    if sp.issparse(X):
        cells = sp.coo_array(X)
        missing = np.bincount(cells.col, np.isnan(cells.data), width)
        heavy = np.where(table.labelled, table.weight, 0.0)
        total = heavy.sum()
        mean = np.asarray(X.T @ heavy).ravel() / (total or 1.0)
        apart = heavy[cells.row] * (cells.data - mean[cells.col]) ** 2
        stored = np.bincount(cells.col, heavy[cells.row], width)
        squares = np.bincount(cells.col, apart, width) + (total - stored) * mean**2
        return ColumnSums(1, missing, np.full(width, total), mean, squares)
    zeros = np.zeros(width)
    total = ColumnSums(0, zeros, zeros, zeros, zeros)
    for rows in blocks(len(X)):
        block, labelled = X[rows], table.labelled[rows]
        missing = np.isnan(block)
        weight = table.weight[rows][labelled]
        known, absent = block[labelled], missing[labelled]
        if absent.any():
            heavy = weight @ ~absent
            known = np.where(absent, 0.0, known)
        else:
            heavy = np.full(width, weight.sum())
        positive = np.where(heavy > 0, heavy, 1.0)
        mean = weight @ known / positive
        apart = np.where(absent, 0.0, known - mean)
        total += ColumnSums(0, missing.sum(axis=0), heavy, mean, weight @ apart**2)
    return total


@dataclass(frozen=True)
class Filling:
    """Imputed values and indicator columns of a table.

    Attributes
    ----------
    value : ndarray of shape (n_features,)
        Replacement of a missing cell: the mean of the labelled rows.
    marked : ndarray of int
        Columns with missing cells; each has an indicator column of 0 and 1.
    """

    value: np.ndarray
    marked: np.ndarray

    @classmethod
    def of(cls, sums: ColumnSums) -> Filling:
        """Return the imputation for a table with these sums."""
        marked = np.flatnonzero(sums.missing)
        if sums.sparse and len(marked):
            raise ValueError(
                "X is sparse and has missing cells. Impute them first, or give a "
                "dense table, in which they are replaced by the mean."
            )
        return cls(sums.mean, marked)

    @property
    def width(self) -> int:
        """Number of columns, with the indicators."""
        return len(self.value) + len(self.marked)

    def apply(self, X: Any) -> Any:
        """Return the imputed columns, followed by the indicators."""
        if len(self.marked) == 0 and (sp.issparse(X) or not np.isnan(X).any()):
            return X
        missing = np.isnan(X)
        return np.hstack([np.where(missing, self.value, X), missing[:, self.marked]])

    def split(self, coef: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the coefficient, and the summand of a missing cell, per column."""
        slopes = coef[: len(self.value)]
        missing = slopes * self.value[:, None]
        missing[self.marked] += coef[len(self.value) :]
        return slopes, missing


# Histograms of distances from the mean have a bin per power of 2. The bins end a little
# above it, as distances of exactly 1 or 2 units are common and rounded.
_BINS, _LOWEST, _ABOVE = 256, -128, 1 + 2.0**-30
# Share of the rows without y, at least one row, that may lie beyond the limits.
_BEYOND = 0.001


@dataclass(frozen=True)
class Limits:
    """Limits of the cells of rows without y, which no single row can move.

    The limits have a distance of ``reach`` from the mean of the labelled rows, which is
    a power of 2 in units of their standard deviation. All labelled rows are within it,
    and all but one of the rows without y, or one in a thousand.

    Attributes
    ----------
    center, reach : ndarray of shape (n_features,)
        Mean of the labelled rows, and the largest distance from it.
    """

    center: np.ndarray
    reach: np.ndarray

    @classmethod
    def of(cls, parts: Parts, table_of: TableOf, sums: ColumnSums) -> Limits:
        """Compute the limits in one pass over the rows."""
        unit = sums.deviation
        known, unknown = parts.sum(_histograms, table_of, sums.mean, unit)
        beyond = np.cumsum(unknown[:, ::-1], axis=1)[:, ::-1] - unknown
        few = np.maximum(1.0, _BEYOND * unknown.sum(axis=1))
        last = np.argmax(beyond <= few[:, None], axis=1)
        largest = np.argmax(np.where(known > 0, np.arange(_BINS), -1), axis=1)
        power = np.maximum(last, largest) + _LOWEST + 1
        return cls(sums.mean, unit * np.ldexp(_ABOVE, power))

    def apply(self, X: Any) -> Any:
        """Return rows in which cells beyond the limits are replaced by the mean."""
        if sp.issparse(X):
            cells = sp.coo_array(X)
            center, data = self.center[cells.col], cells.data
            beyond = np.abs(data - center) > self.reach[cells.col]
            data = np.where(beyond, center, data)
            X = sp.csr_array((data, (cells.row, cells.col)), X.shape)
            zeros = np.flatnonzero(np.abs(self.center) > self.reach)
            if len(zeros):  # cells that are not stored are beyond the limits
                some, X = Limits(self.center[zeros], self.reach[zeros]), X.tolil()
                X[:, zeros] = some.apply(X[:, zeros].toarray())
                X = X.tocsr()
            return X
        beyond = np.abs(X - self.center) > self.reach
        return np.where(beyond, self.center, X) if beyond.any() else X


def _histograms(
    part: Any, table_of: TableOf, center: np.ndarray, unit: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of labelled and of other rows by bin of |x − center| / unit.

    There is one row per column.
    """
    table = table_of(part)
    X, width = table.values, table.values.shape[1]
    found = np.zeros((2, width, _BINS))

    def count(cells: np.ndarray, column: np.ndarray, unlabelled: np.ndarray) -> None:
        place = _bin(cells) + _BINS * (column + width * unlabelled)
        known = ~np.isnan(cells)
        found.ravel()[:] += np.bincount(place[known], minlength=found.size)

    with np.errstate(over="ignore"):
        if sp.issparse(X):
            cells = sp.coo_array(X)
            apart = np.abs(cells.data - center[cells.col]) / unit[cells.col]
            count(apart, cells.col, ~table.labelled[cells.row])
            # Cells that are not stored are 0.
            n_labelled = int(table.labelled.sum())
            n_rows = np.array([n_labelled, X.shape[0] - n_labelled])
            rest = n_rows[:, None] - found.sum(axis=2)
            found[:, np.arange(width), _bin(np.abs(center) / unit)] += rest
        else:
            for rows in blocks(len(X)):
                apart = np.abs(X[rows] - center) / unit
                count(apart, np.arange(width), ~table.labelled[rows][:, None])
    return found[0], found[1]


def _bin(distance: np.ndarray) -> np.ndarray:
    """Return the bins of distances, in units."""
    ends = 2.0**_LOWEST, 2.0 ** (_BINS + _LOWEST - 1)
    return np.frexp(np.clip(distance / _ABOVE, *ends))[1] - (_LOWEST + 1)


def blocks(n_rows: int) -> list[slice]:
    """Return slices of 65 536 rows, so that copies stay small."""
    return [slice(start, start + BLOCK) for start in range(0, n_rows, BLOCK)]
