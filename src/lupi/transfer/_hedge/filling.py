"""Single missing cells: the column's median, and a column that marks them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

_BLOCK = 1 << 16


@dataclass(frozen=True)
class Filling:
    """How the cells of a table are filled, marked and shifted.

    Attributes
    ----------
    value : ndarray of shape (n_features,)
        What stands in for a missing cell: the median; in a column that had none, but
        may have some when predicting, the mean.
    marked : ndarray of int
        Columns that had missing cells; each is marked by a column of 0 and 1.
    shift : ndarray of shape (n_features + n_marked,)
        Subtracted from the filled columns, so that sums of their products lose no
        digits. Zero for a sparse table, which would be filled by it.
    """

    value: np.ndarray
    marked: np.ndarray
    shift: np.ndarray

    @classmethod
    def of(cls, X: Any, weight: np.ndarray) -> Filling:
        """Read medians and means off the rows; weight 2 is the row twice."""
        n_columns = X.shape[1]
        nothing = np.empty(0, dtype=int)
        if sp.issparse(X):
            if np.isnan(X.data).any():
                raise ValueError(
                    "X is sparse and has missing cells. Impute them first, or give a "
                    "dense table, in which they are filled with the median."
                )
            return cls(np.zeros(n_columns), nothing, np.zeros(n_columns))
        missing = np.zeros(n_columns, dtype=bool)
        sums, counted = np.zeros(n_columns), 0.0
        for rows in blocks(X.shape[0]):
            part = X[rows]
            missing |= np.isnan(part).any(axis=0)
            sums += weight[rows] @ part
            counted += weight[rows].sum()
        marked = np.flatnonzero(missing)
        mean = sums / counted
        value = mean.copy()
        share = np.empty(len(marked))
        for place, column in enumerate(marked):
            known = ~np.isnan(X[:, column])
            values, heavy = X[known, column], weight[known]
            value[column] = weighted_median(values, heavy)
            share[place] = 1 - heavy.sum() / counted
            mean[column] = (heavy @ values) / counted + share[place] * value[column]
        return cls(value, marked, np.concatenate([mean, share]))

    @property
    def width(self) -> int:
        """Number of columns after filling."""
        return len(self.shift)

    def apply(self, X: Any) -> Any:
        """Return the filled columns, then the marks."""
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
        """Return the summand of a value, and that of a missing cell, per column."""
        slopes = coef[: len(self.value)]
        missing = slopes * self.value[:, None]
        missing[self.marked] += coef[len(self.value) :]
        return slopes, missing


def blocks(n_rows: int) -> list[slice]:
    """Return slices of some ten thousand rows, so that copies stay small."""
    return [slice(start, start + _BLOCK) for start in range(0, n_rows, _BLOCK)]


def weighted_median(values: np.ndarray, weight: np.ndarray) -> float:
    """Return the median of values that count as often as their weight says.

    0 when no value counts.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_median(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]))
    2.0
    >>> weighted_median(np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    1.5
    """
    order = np.argsort(values, kind="stable")
    values, reached = values[order], np.cumsum(weight[order])
    if len(values) == 0 or reached[-1] == 0:
        return 0.0
    half = reached[-1] / 2
    # Sums of weights are rounded; a half that is reached but for rounding is reached.
    low = np.searchsorted(reached, half * (1 - 1e-12))
    high = np.searchsorted(reached, half * (1 + 1e-12))
    return float((values[low] + values[min(high, len(values) - 1)]) / 2)
