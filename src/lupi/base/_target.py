"""The one reader of the argument ``y``."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_X_y


def read_target(y: Any, n_rows: int, estimator: Any, *, numeric: bool) -> np.ndarray:
    """Read y, or say in a sentence why it cannot be read.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels of any type, or numbers.
    n_rows : int
        How many rows X has.
    estimator : estimator or str
        Named in error messages.
    numeric : bool
        Whether y holds numbers; they are returned as float64.

    Returns
    -------
    ndarray of shape (n_samples,)
        The labels or targets.

    Examples
    --------
    >>> from lupi.base import read_target
    >>> read_target(["b", "a"], 2, "Toy", numeric=False)
    array(['b', 'a'], dtype='<U1')
    """
    # scikit-learn checks y together with a table; its values do not matter here.
    zeros = np.zeros((n_rows, 1))
    y = check_X_y(zeros, y, y_numeric=numeric, estimator=estimator)[1]
    return y.astype(np.float64, copy=False) if numeric else y
