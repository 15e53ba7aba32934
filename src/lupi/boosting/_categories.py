"""Categorical columns of a data frame, as numbers that XGBoost reads as categories."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import OrdinalEncoder

from lupi._stored import stored
from lupi.base._rows import is_data_frame


@stored
class CategoryEncoder:
    """Positions of the categories of a table; unknown and missing ones are NaN.

    Attributes
    ----------
    columns : list of str
        All columns of the table.
    categorical : list of str
        Those of a categorical type.
    encoder : OrdinalEncoder
        Fitted on these.

    Examples
    --------
    >>> import pandas as pd
    >>> from lupi.boosting._categories import CategoryEncoder
    >>> X = pd.DataFrame({"a": [1.0, 2.0], "b": pd.Categorical(["x", "y"])})
    >>> encoder = CategoryEncoder.of(X)
    >>> encoder.feature_types()
    ['q', 'c']
    >>> encoder.encode(X.assign(b=["y", "z"]))["b"].tolist()
    [1.0, nan]
    """

    def __init__(self, table: Any, categorical: list[Any]):
        self.columns = list(table.columns)
        self.categorical = categorical
        # All categories of a column, those too that no row has.
        known = [np.sort(table[name].cat.categories) for name in categorical]
        self.encoder = OrdinalEncoder(
            categories=known, handle_unknown="use_encoded_value", unknown_value=np.nan
        ).fit(table[categorical].to_numpy())

    @classmethod
    def of(cls, table: Any) -> CategoryEncoder | None:
        """Return the encoder of a table; None when it has no categorical column."""
        if not is_data_frame(table):
            return None
        kinds = [str(table[name].dtype) for name in table.columns]
        found = [
            name
            for name, kind in zip(table.columns, kinds, strict=True)
            if kind == "category"
        ]
        return cls(table, found) if found else None

    def encode(self, table: Any) -> Any:
        """Return the table with numbers in place of categories."""
        if not is_data_frame(table):
            return table
        there = [name for name in self.categorical if name in table.columns]
        if there != self.categorical:
            return table  # other columns than in fit, which is for others to say
        values = self.encoder.transform(table[self.categorical].to_numpy(dtype=object))
        return table.assign(**dict(zip(there, values.T, strict=True)))

    def feature_types(self) -> list[str]:
        """Return XGBoost's letters, "c" for categories and "q" for quantities."""
        return ["c" if name in self.categorical else "q" for name in self.columns]
