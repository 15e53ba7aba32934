"""Reading of the argument ``privileged``.

A row of X* is either available, with every value finite, or missing, with every value
NaN. Every container is converted into a `Privileged`: the available rows and their
positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from lupi._words import listed
from lupi.base._missing import missing_cells
from lupi.base._rows import dense, take_rows
from lupi.base._text import refuse_series, refuse_text


@dataclass(frozen=True)
class Privileged:
    """The available privileged rows.

    Attributes
    ----------
    values : ndarray or CSR matrix of shape (n_available, n_privileged_features)
        The available rows, float64. An unchanged data frame for a model that passes
        the values to an estimator of the user's choice.
    rows : ndarray of int
        Their positions, ascending, among the training rows.
    n_rows : int
        Number of training rows.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.base import check_privileged
    >>> some = check_privileged(np.array([[1.0], [np.nan], [3.0]]), 3)
    >>> some.complete, some.available.tolist(), some.values.tolist()
    (False, [True, False, True], [[1.0], [3.0]])
    """

    values: Any
    rows: np.ndarray
    n_rows: int

    @property
    def available(self) -> np.ndarray:
        """Which training rows have privileged information, as a boolean mask."""
        mask = np.zeros(self.n_rows, dtype=bool)
        mask[self.rows] = True
        return mask

    @property
    def complete(self) -> bool:
        """Whether every training row has privileged information."""
        return len(self.rows) == self.n_rows

    def take(self, index: np.ndarray) -> Privileged | None:
        """Return the training rows `index`, renumbered from 0.

        Parameters
        ----------
        index : array of int
            Positions among the training rows, repeats allowed.

        Returns
        -------
        Privileged or None
            None when none of these rows has privileged information.
        """
        index = np.asarray(index)
        if self.complete:
            values = take_rows(self.values, index)
            return Privileged(values, np.arange(len(index)), len(index))
        place = np.full(self.n_rows, -1)
        place[self.rows] = np.arange(len(self.rows))
        place = place[index]
        rows = np.flatnonzero(place >= 0)
        if len(rows) == 0:
            return None
        return Privileged(take_rows(self.values, place[rows]), rows, len(index))

    def only(self, chosen: np.ndarray) -> Privileged:
        """Keep some of the available rows; the training rows are not renumbered.

        Parameters
        ----------
        chosen : ndarray of bool
            One entry per available row.

        Returns
        -------
        Privileged
            The same training rows; those not chosen have no privileged information.
        """
        index = np.flatnonzero(chosen)
        if len(index) == len(self.rows):
            return self
        return Privileged(take_rows(self.values, index), self.rows[index], self.n_rows)

    def dense_full(self) -> np.ndarray:
        """Return all training rows as a dense array, NaN where X* is missing.

        Returns
        -------
        ndarray of shape (n_rows, n_privileged_features)
            One row per training row.
        """
        full = np.full((self.n_rows, self.values.shape[1]), np.nan)
        full[self.rows] = dense(self.values)
        return full


def check_privileged(
    privileged: Any,
    n_rows: int,
    estimator: Any = None,
    *,
    allow_partial: bool = False,
) -> Privileged | None:
    """Read `privileged`; refuse what is not a table of numbers.

    Parameters
    ----------
    privileged : array-like, sparse matrix, DataFrame or None
        One row per training row. A row that is NaN throughout is missing.
    n_rows : int
        Number of rows of X.
    estimator : estimator or str, default=None
        Named in error messages.
    allow_partial : bool, default=False
        Whether single missing values are allowed; otherwise they are refused.

    Returns
    -------
    Privileged or None
        None when `privileged` is None or all of its rows are missing.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.base import check_privileged
    >>> P = np.array([[1.0, 2.0], [np.nan, np.nan], [3.0, 4.0]])
    >>> check_privileged(P, 3).rows
    array([0, 2])
    >>> check_privileged(np.full((3, 2), np.nan), 3) is None
    True
    """
    if privileged is None:
        return None
    values = _as_matrix(privileged, name_of(estimator))
    check_shape(values, n_rows, name_of(estimator))
    # As in scikit-learn, a finite sum shows in one pass that all values are finite. If
    # the sum overflows, the full check below follows.
    entries = values.data if sp.issparse(values) else values
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(entries.sum()):
            return Privileged(values, np.arange(n_rows), n_rows)
    rows = _available_rows(values, name_of(estimator), allow_partial)
    if len(rows) == 0:
        return None
    if len(rows) == n_rows:
        return Privileged(values, rows, n_rows)
    return Privileged(values[rows], rows, n_rows)


def feature_names(table: Any) -> np.ndarray | None:
    """Return the column names of a table when all are strings, otherwise None.

    Parameters
    ----------
    table : object
        A data frame of any library, or an array, which has no names.

    Returns
    -------
    ndarray of str or None
        The names.

    Examples
    --------
    >>> import pandas as pd
    >>> from lupi.base import feature_names
    >>> feature_names(pd.DataFrame({"cd4": [1.0], "cd8": [2.0]}))
    array(['cd4', 'cd8'], dtype=object)
    """
    columns = getattr(table, "columns", None)
    if columns is None or callable(columns) or len(columns) == 0:
        return None
    strings = [isinstance(column, str) for column in columns]
    if all(strings):
        return np.asarray(list(columns), dtype=object)
    if any(strings):
        raise TypeError(
            "The columns of the table are named partly by strings and partly by other "
            "types. Use only strings, or none, for example with "
            "table.columns = table.columns.astype(str)."
        )
    return None


def missing_rows(table: Any, estimator: Any = None) -> np.ndarray:
    """Return which rows of a table have no value at all, as a boolean mask.

    The table may hold text, dates and single missing values.

    Parameters
    ----------
    table : array-like, sparse matrix or data frame
        One row per training row.
    estimator : estimator or str, default=None
        Named in error messages.

    Returns
    -------
    ndarray of bool of shape (n_samples,)
        True where a row is missing.

    Examples
    --------
    >>> from lupi.base import missing_rows
    >>> missing_rows([["mild", None], [None, float("nan")], ["severe", 3.5]])
    array([False,  True, False])
    """
    refuse_series(table, name_of(estimator))
    if not sp.issparse(table) and not hasattr(table, "shape"):
        table = np.asarray(table, dtype=object)
    check_shape(table, table.shape[0] if len(table.shape) else 0, name_of(estimator))
    if sp.issparse(table):
        return _nan_counts(table.tocsr()) == table.shape[1]
    return np.all(missing_cells(table), axis=1)


def list_rows(rows: Sequence[int] | np.ndarray, limit: int = 5) -> str:
    """Return row numbers as text, such as "Row 3", "Rows 3, 7 and 9".

    Examples
    --------
    >>> list_rows([3]), list_rows([3, 7, 9]), list_rows(range(10), limit=2)
    ('Row 3', 'Rows 3, 7 and 9', 'Rows 0, 1 and 8 more')
    """
    word = "Row" if len(rows) == 1 else "Rows"
    return f"{word} {listed([int(row) for row in rows], most=limit)}"


def name_of(estimator: Any) -> str:
    """Return the name of an estimator in error messages."""
    if estimator is None:
        return "The estimator"
    return estimator if isinstance(estimator, str) else type(estimator).__name__


def _as_matrix(privileged: Any, name: str) -> Any:
    """Return a float64 array or CSR matrix; NaN and infinity are not refused here."""
    if isinstance(privileged, np.ma.MaskedArray):
        privileged = np.ma.filled(privileged.astype(np.float64), np.nan)
    if isinstance(privileged, np.ndarray) and privileged.dtype.kind in "fiub":
        return np.ascontiguousarray(privileged, dtype=np.float64)
    if isinstance(privileged, str | bytes) or np.isscalar(privileged):
        raise ValueError(
            f"{name} expected privileged to be a table of numbers with one row per "
            f"training row, but got {privileged!r}."
        )
    refuse_series(privileged, name)
    refuse_text(privileged, name)
    try:
        return check_array(
            privileged,
            accept_sparse="csr",
            dtype=np.float64,
            order="C",
            ensure_all_finite=False,
            ensure_2d=False,
            allow_nd=True,
            ensure_min_samples=0,
            ensure_min_features=0,
            input_name="privileged",
        )
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} could not read privileged as a table of numbers: {error} Encode "
            "or drop the columns that are not numeric, or wrap the estimator in "
            "lupi.compose.TransformedPrivileged with a transformer that encodes them."
        ) from error


def check_shape(values: Any, n_rows: int, name: str) -> None:
    """Refuse what is not a table with one row per training row."""
    n_dimensions = len(values.shape)
    if n_dimensions == 1:
        raise ValueError(
            f"{name} expected privileged to be 2-D, one row per training row and one "
            f"column per privileged feature, but got a 1-D array of length "
            f"{values.shape[0]}. Use privileged.reshape(-1, 1) if it is one feature."
        )
    if n_dimensions != 2:
        raise ValueError(
            f"{name} expected privileged to be 2-D, one row per training row and one "
            f"column per privileged feature, but got {n_dimensions} dimensions."
        )
    if values.shape[0] != n_rows:
        raise ValueError(
            f"{name} got privileged with {values.shape[0]} rows for {n_rows} rows of "
            "X. Give one row for each, in the same order; a row without privileged "
            "information is a row of NaN."
        )
    if values.shape[1] == 0:
        raise ValueError(
            f"{name} got privileged with 0 columns. Pass privileged=None to train "
            "without privileged information."
        )


def _available_rows(values: Any, name: str, allow_partial: bool) -> np.ndarray:
    """Return the positions of the available rows; refuse infinite and partial rows."""
    n_columns = values.shape[1]
    n_nan = _nan_counts(values)
    infinite = np.unique((abs(values) == np.inf).nonzero()[0])
    if len(infinite):
        raise ValueError(
            f"{name} found infinite values in privileged: {list_rows(infinite)}. "
            "Replace them by finite numbers, or make the whole row NaN if its "
            "privileged information is not available."
        )
    if not allow_partial:
        refuse_partial_rows(n_nan, n_columns, name)
    return np.flatnonzero(n_nan < n_columns)


def refuse_partial_rows(n_missing: np.ndarray, n_columns: int, name: str) -> None:
    """Refuse rows of which some values are missing and some are not."""
    partial = np.flatnonzero((n_missing > 0) & (n_missing < n_columns))
    if len(partial):
        raise ValueError(
            f"{name} found NaN in part of a privileged row: {list_rows(partial)} of "
            f"privileged. A row of {n_columns} values is either complete or NaN "
            "throughout, which means not available. Impute the single values (for "
            "example in lupi.compose.TransformedPrivileged) or make the whole row NaN."
        )


def _nan_counts(values: Any) -> np.ndarray:
    """Return the number of NaN values in each row."""
    if not sp.issparse(values):
        return np.isnan(values).sum(axis=1)
    row_of = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
    return np.bincount(row_of[np.isnan(values.data)], minlength=values.shape[0])
