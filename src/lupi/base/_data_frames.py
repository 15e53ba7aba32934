"""Data frames whose values are read by an estimator of the user's choice.

A model with such an estimator inside passes text, categories and single missing values
on unchanged. Names, width and number of rows are checked here; tables of numbers are
read by `_privileged` and by scikit-learn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from lupi._optional import optional
from lupi.base._missing import missing_cells
from lupi.base._privileged import (
    Privileged,
    check_shape,
    feature_names,
    name_of,
    refuse_partial_rows,
)
from lupi.base._rows import dense, is_data_frame, take_rows

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = optional("pandas", "Putting tables together")


def as_data_frame(values: Any, names: Sequence[str] | None = None) -> pd.DataFrame:
    """Return a pandas table whose index counts the rows from 0.

    Parameters
    ----------
    values : data frame, ndarray or sparse matrix
        Any two-dimensional table.
    names : sequence of str, default=None
        Names of the columns. None keeps the names of a data frame and numbers the
        columns of anything else.
    """
    if hasattr(values, "reset_index"):
        table = values.reset_index(drop=True)
    elif is_data_frame(values):
        table = pd.DataFrame({one: np.asarray(values[one]) for one in values.columns})
    else:
        table = pd.DataFrame(dense(values)).infer_objects()
    return table if names is None else table.set_axis(list(names), axis=1)


def side_by_side(X: Any, privileged: Any) -> Any:
    """Concatenate the columns of X and X*: a data frame, or sparse, when either is.

    In a data frame every column has one name. If only one of the tables has names, the
    columns of the other are named x0, x1, … or privileged0, privileged1, …; if neither
    has names, the columns are numbered.

    Raises
    ------
    ValueError
        When a name occurs on both sides.
    """
    if not is_data_frame(X) and not is_data_frame(privileged):
        if sp.issparse(X) or sp.issparse(privileged):
            return sp.hstack([X, privileged], format="csr")
        return np.hstack([X, privileged])
    left, right = as_data_frame(X), as_data_frame(privileged)
    names = [feature_names(X), feature_names(privileged)]
    if names[0] is None and names[1] is None:
        return pd.concat([left, right], axis=1, ignore_index=True)
    if names[0] is None:
        left = left.set_axis([f"x{i}" for i in range(left.shape[1])], axis=1)
    if names[1] is None:
        count = range(right.shape[1])
        right = right.set_axis([f"privileged{i}" for i in count], axis=1)
    shared = [name for name in left.columns if name in set(right.columns)]
    if shared:
        raise ValueError(
            f"X and privileged both have a column {shared[0]!r}, but their columns are "
            "put into one table, where names must be unique. Rename one of them, for "
            "example with privileged.add_suffix('_later')."
        )
    return pd.concat([left, right], axis=1)


def check_privileged_table(
    table: Any, n_rows: int, estimator: Any = None, *, allow_partial: bool
) -> Privileged | None:
    """Check the shape of a data frame X* whose values another estimator reads.

    Parameters
    ----------
    table : data frame
        One row per training row. A row whose every value is missing has no X*.
    n_rows : int
        How many rows X has.
    estimator : estimator or str, default=None
        Named in error messages.
    allow_partial : bool
        Whether single missing values are allowed; otherwise they are refused.

    Returns
    -------
    Privileged or None
        None when no row has a value. Its ``values`` are a data frame.

    Examples
    --------
    >>> import pandas as pd
    >>> from lupi.base._data_frames import check_privileged_table
    >>> table = pd.DataFrame({"note": ["mild", None, None], "cd4": [1.0, None, 2.0]})
    >>> check_privileged_table(table, 3, allow_partial=True).rows
    array([0, 2])
    """
    check_shape(table, n_rows, name_of(estimator))
    n_missing = missing_cells(table).sum(axis=1)
    if not allow_partial:
        refuse_partial_rows(n_missing, table.shape[1], name_of(estimator))
    rows = np.flatnonzero(n_missing < table.shape[1])
    if len(rows) == 0:
        return None
    values = table if len(rows) == n_rows else take_rows(table, rows)
    return Privileged(values, rows, n_rows)
