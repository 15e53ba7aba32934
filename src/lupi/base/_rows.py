"""Tables of any kind: arrays, sparse matrices, data frames, lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from lupi._compat import safe_indexing


def is_data_frame(table: Any) -> bool:
    """Tell a data frame, of pandas or another library, from an array.

    Examples
    --------
    >>> import pandas as pd
    >>> from lupi.base._rows import is_data_frame
    >>> is_data_frame(pd.DataFrame({"age": [31.0]})), is_data_frame([[31.0]])
    (True, False)
    """
    return all(hasattr(table, name) for name in ("columns", "dtypes", "shape"))


def as_numpy(values: Any) -> Any:
    """Return a torch tensor as a NumPy array, and everything else as it is.

    Parameters
    ----------
    values : object
        What a user gave.

    Returns
    -------
    object
        An array for a tensor, on whatever device it was.

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
    """Return how many rows a table has; a sparse one has no length."""
    return table.shape[0] if hasattr(table, "shape") else len(table)


def take_rows(table: Any, index: Any) -> Any:
    """Return rows by position, in the container they are in."""
    if isinstance(table, np.ndarray) or sp.issparse(table):
        return table[index]
    return safe_indexing(table, index)


def take_columns(table: Any, index: Any) -> Any:
    """Return columns by position, in the container they are in."""
    if isinstance(table, np.ndarray) or sp.issparse(table):
        return table[:, index]
    return safe_indexing(table, index, axis=1)


def dense(table: Any) -> np.ndarray:
    """Return a plain array of a table."""
    return table.toarray() if sp.issparse(table) else np.asarray(table)
