"""Imputation of missing cells by the median, with indicator columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from lupi._parts import Parts

BLOCK = 1 << 16
# A function that returns the table of a part and the weights of its rows.
Table = Callable[[Any], tuple[Any, np.ndarray]]


@dataclass(frozen=True)
class Filling:
    """Imputed values, indicator columns and centering of a table.

    Attributes
    ----------
    value : ndarray of shape (n_features,)
        Replacement of a missing cell: the median, or the mean in a column that has
        missing cells only when predicting.
    marked : ndarray of int
        Columns with missing cells; each has an indicator column of 0 and 1.
    shift : ndarray of shape (n_features + n_marked,)
        Subtracted from the imputed columns, so that sums of their products lose no
        digits. Zero for a sparse table, which is not centered.
    """

    value: np.ndarray
    marked: np.ndarray
    shift: np.ndarray

    @classmethod
    def of(cls, parts: Parts, table: Table) -> Filling:
        """Compute weighted medians and means of the columns.

        Parameters
        ----------
        parts : Parts
            The rows.
        table : callable
            Returns the table of a part and the weights of its rows.
        """
        dense, n_missing, counted, known, sums = parts.sum(_column_sums, table)
        marked = np.flatnonzero(n_missing)
        if not dense:
            if len(marked):
                raise ValueError(
                    "X is sparse and has missing cells. Impute them first, or give a "
                    "dense table, in which they are replaced by the median."
                )
            return cls(np.zeros(len(sums)), marked, np.zeros(len(sums)))
        mean = sums / counted
        value = mean.copy()
        if len(marked):
            value[marked] = weighted_medians(parts, table, marked, known[marked])
        share = 1 - known[marked] / counted
        mean[marked] += share * value[marked]
        return cls(value, marked, np.concatenate([mean, share]))

    @property
    def width(self) -> int:
        """Number of columns, with the indicators."""
        return len(self.shift)

    def apply(self, X: Any) -> Any:
        """Return the imputed columns, followed by the indicators."""
        if len(self.marked) == 0 and (sp.issparse(X) or not np.isnan(X).any()):
            return X
        missing = np.isnan(X)
        return np.hstack([np.where(missing, self.value, X), missing[:, self.marked]])

    def with_ones(self, filled: Any) -> Any:
        """Return [1, filled − shift]."""
        ones = np.ones((filled.shape[0], 1))
        if sp.issparse(filled):
            return sp.hstack([sp.csr_array(ones), filled], format="csr")
        return np.hstack([ones, filled - self.shift])

    def split(self, coef: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the coefficient, and the summand of a missing cell, per column."""
        slopes = coef[: len(self.value)]
        missing = slopes * self.value[:, None]
        missing[self.marked] += coef[len(self.value) :]
        return slopes, missing


def blocks(n_rows: int) -> list[slice]:
    """Return slices of 65 536 rows, so that copies stay small."""
    return [slice(start, start + BLOCK) for start in range(0, n_rows, BLOCK)]


def table_and_weight(part: tuple[Any, np.ndarray]) -> tuple[Any, np.ndarray]:
    """Return a part that is a table with its weights."""
    return part


def _column_sums(part: Any, table: Table) -> tuple[Any, ...]:
    """Return whether a table is dense, and sums over its rows.

    The sums are the number of missing cells per column, the total weight of the rows,
    the weight of the cells that are present, and their weighted sum.
    """
    X, weight = table(part)
    counted = float(weight.sum())
    n_missing, known, sums = np.zeros((3, X.shape[1]))
    if sp.issparse(X):
        cells = sp.coo_array(X)
        np.add.at(n_missing, cells.col, np.isnan(cells.data))
        return 0, n_missing, counted, known, sums
    for rows in blocks(X.shape[0]):
        block, heavy = X[rows], weight[rows]
        missing = np.isnan(block)
        if missing.any():
            n_missing += missing.sum(axis=0)
            known += heavy @ ~missing
            sums += heavy @ np.where(missing, 0.0, block)
        else:
            known += heavy.sum()
            sums += heavy @ block
    return 1, n_missing, counted, known, sums


# Bits of the medians that one pass over the rows determines.
_DIGIT = 11


def weighted_medians(
    parts: Parts, table: Table, columns: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Return weighted medians of columns.

    The cells are not sorted: each of six passes over the rows determines 11 bits of the
    medians, from the weights of the cells that agree with them in the bits before.

    Parameters
    ----------
    parts : Parts
        The rows.
    table : callable
        Returns the table of a part and the weights of its rows.
    columns : ndarray of int
        The columns.
    weight : ndarray
        Total weight of the cells that are present in each column.

    Returns
    -------
    ndarray
        The medians; 0 where the total weight is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi._parts import LocalParts
    >>> X = np.array([[3.0, 1.0], [1.0, 2.0], [2.0, np.nan]])
    >>> parts = LocalParts([(X, np.array([1.0, 1.0, 2.0]))])
    >>> columns, weight = np.array([0, 1]), np.array([4.0, 2.0])
    >>> weighted_medians(parts, table_and_weight, columns, weight)
    array([2. , 1.5])
    """
    # Sums of weights are rounded: the half is reached within a tolerance.
    half = np.outer([0.5 * (1 - 1e-12), 0.5 * (1 + 1e-12)], weight).ravel()
    column = np.tile(columns, 2)
    found, below = np.zeros(len(column), dtype=np.uint64), np.zeros(len(column))
    every, before = np.arange(len(column)), 64
    while before:
        after = max(before - _DIGIT, 0)
        counts = parts.sum(_digit_weights, table, column, found, before, after)
        reached = below[:, None] + np.cumsum(counts, axis=1)
        # The last digit that occurs, if the half is not reached because of rounding.
        last = counts.shape[1] - 1 - np.argmax(counts[:, ::-1] > 0, axis=1)
        digit = np.minimum((reached < half[:, None]).sum(axis=1), last)
        below = reached[every, digit] - counts[every, digit]
        found = (found << np.uint64(before - after)) | digit.astype(np.uint64)
        before = after
    medians = _numbers(found).reshape(2, -1).mean(axis=0)
    return np.where(weight > 0, medians, 0.0)


def _digit_weights(
    part: Any,
    table: Table,
    columns: np.ndarray,
    found: np.ndarray,
    before: int,
    after: int,
) -> np.ndarray:
    """Return the weights of the cells whose first bits are `found`, by next digit."""
    X, weight = table(part)
    counts = np.zeros((len(columns), 1 << (before - after)))
    for column in np.unique(columns):
        known = ~np.isnan(X[:, column])
        keys, heavy = _keys(X[known, column]), weight[known]
        for query in np.flatnonzero(columns == column):
            chosen = slice(None)
            if before < 64:
                chosen = keys >> np.uint64(before) == found[query]
            digits = keys[chosen] >> np.uint64(after)
            digits = digits & np.uint64(counts.shape[1] - 1)
            counts[query] = np.bincount(
                digits.astype(np.intp), heavy[chosen], counts.shape[1]
            )
    return counts


_SIGN = np.uint64(1 << 63)


def _keys(values: np.ndarray) -> np.ndarray:
    """Return unsigned integers with the same order as the numbers."""
    bits = (values + 0.0).view(np.uint64)  # −0 is 0
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _numbers(keys: np.ndarray) -> np.ndarray:
    """Return the numbers of such integers, the inverse of `_keys`."""
    return np.where(keys & _SIGN, keys & ~_SIGN, ~keys).view(np.float64)
