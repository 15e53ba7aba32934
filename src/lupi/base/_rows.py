"""Rows of whatever holds them: arrays, sparse matrices, data frames."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing


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


def take_rows(table: Any, index: np.ndarray) -> Any:
    """Take rows of an array, a CSR matrix or a data frame, by position."""
    return _safe_indexing(table, index) if is_data_frame(table) else table[index]
