"""Categorical columns of a DataFrame, as numbers that XGBoost reads as categories."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd


def read_categories(X: Any) -> dict[str, list[Any]] | None:
    """Categories of each categorical column by its name; None when there are none.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"a": [1.0, 2.0], "b": pd.Categorical(["x", "y"])})
    >>> read_categories(X)
    {'b': ['x', 'y']}
    """
    if not isinstance(X, pd.DataFrame):
        return None
    found = {
        name: X[name].cat.categories.tolist()
        for name in X.columns
        if isinstance(X[name].dtype, pd.CategoricalDtype)
    }
    return found or None


def encode_categories(X: Any, categories: dict[str, list[Any]] | None) -> Any:
    """Replace categories by their positions; unknown and missing ones become NaN.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"b": pd.Categorical(["y", "z"])})
    >>> encode_categories(X, {"b": ["x", "y"]})["b"].tolist()
    [1.0, nan]
    """
    if categories is None or not isinstance(X, pd.DataFrame):
        return X
    X = X.copy()
    for name, known in categories.items():
        if name in X.columns:
            codes = pd.Index(known).get_indexer(X[name].astype(object))
            X[name] = np.where(codes < 0, np.nan, codes.astype(np.float64))
    return X


def feature_types(X: Any, categories: dict[str, list[Any]] | None) -> list[str] | None:
    """XGBoost's letters, "c" for categories and "q" for quantities.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"a": [1.0], "b": [0.0]})
    >>> feature_types(X, {"b": ["x", "y"]})
    ['q', 'c']
    """
    if categories is None:
        return None
    return ["c" if name in categories else "q" for name in X.columns]
