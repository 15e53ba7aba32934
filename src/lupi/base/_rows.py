"""Tables of any kind: arrays, sparse matrices, data frames, lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from lupi._compat import safe_indexing


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
