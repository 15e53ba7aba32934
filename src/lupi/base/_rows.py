"""Tables of any kind: arrays, sparse matrices, data frames, lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from lupi._compat import safe_indexing
from lupi.base._missing import missing_values


def is_data_frame(table: Any) -> bool:
    """Return whether an object is a data frame, of pandas or another library.

    Examples
    --------
    >>> import pandas as pd
    >>> from lupi.base._rows import is_data_frame
    >>> is_data_frame(pd.DataFrame({"age": [31.0]})), is_data_frame([[31.0]])
    (True, False)
    """
    return all(hasattr(table, name) for name in ("columns", "dtypes", "shape"))


def as_numpy(values: Any) -> Any:
    """Convert a torch tensor into a NumPy array; return other objects unchanged.

    Parameters
    ----------
    values : object
        An argument of the user.

    Returns
    -------
    object
        An array for a tensor on any device.

    Examples
    --------
    >>> from lupi.base._rows import as_numpy
    >>> as_numpy([1.0, 2.0])
    [1.0, 2.0]
    """
    if type(values).__module__.split(".")[0] == "torch" and hasattr(values, "detach"):
        return values.detach().cpu().numpy()
    return values


def n_rows_of(table: Any) -> int:
    """Return the number of rows of a table; a sparse matrix has no ``len``."""
    return table.shape[0] if hasattr(table, "shape") else len(table)


def read_groups(groups: Any, n_rows: int) -> np.ndarray:
    """Return one group per row; raise a ValueError for missing groups."""
    groups = np.asarray(groups)
    if groups.shape != (n_rows,):
        raise ValueError(
            f"groups has the shape {groups.shape} for {n_rows} rows of X. "
            "Give one group per row, as a 1-D array."
        )
    missing = np.flatnonzero(missing_values(groups))
    if len(missing):
        raise ValueError(
            f"groups is missing in {len(missing)} of {n_rows} rows, first in row "
            f"{missing[0]}. Give every row a group; a row that belongs to none is a "
            "group of its own."
        )
    if groups.dtype == object and len({*map(type, groups)}) > 1:
        groups = np.array([str(group) for group in groups])  # types do not compare
    return groups


def take_rows(table: Any, index: Any) -> Any:
    """Return rows by position, in a container of the same type."""
    if isinstance(table, np.ndarray) or sp.issparse(table):
        return table[index]
    return safe_indexing(table, index)


def take_columns(table: Any, index: Any) -> Any:
    """Return columns by position, in a container of the same type."""
    if isinstance(table, np.ndarray) or sp.issparse(table):
        return table[:, index]
    return safe_indexing(table, index, axis=1)


def dense(table: Any) -> np.ndarray:
    """Return a table as a dense array."""
    return table.toarray() if sp.issparse(table) else np.asarray(table)
