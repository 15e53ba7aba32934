"""Missing values of any kind, without pandas."""

from __future__ import annotations

from typing import Any

import numpy as np


def missing_values(values: Any) -> np.ndarray:
    """Return which values are missing: NaN, None, NA or NaT.

    Parameters
    ----------
    values : array-like
        Of any shape and type.

    Returns
    -------
    ndarray of bool
        Of the same shape.

    Examples
    --------
    >>> from lupi.base._missing import missing_values
    >>> missing_values(["mild", None, float("nan"), ""])
    array([False,  True,  True, False])
    """
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.getmaskarray(values) | missing_values(values.data)
    if not hasattr(values, "dtype"):
        values = np.asarray(values, dtype=object)
    values = np.asarray(values)
    if values.dtype.kind in "fc":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind != "O":
        return np.zeros(values.shape, dtype=bool)
    found = [_is_missing(value) for value in values.ravel()]
    return np.array(found, dtype=bool).reshape(values.shape)


def missing_cells(table: Any) -> np.ndarray:
    """Return which values of a table are missing.

    Parameters
    ----------
    table : array-like or data frame of shape (n_samples, n_features)
        Of any types.

    Returns
    -------
    ndarray of bool of shape (n_samples, n_features)
        True where a value is missing.
    """
    if not hasattr(table, "columns"):
        return missing_values(table)
    columns = [missing_values(np.asarray(table[name])) for name in table.columns]
    return np.column_stack(columns) if columns else np.zeros(table.shape, dtype=bool)


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # the comparison of NA, or an array, is no bool
        return type(value).__name__ == "NAType"
