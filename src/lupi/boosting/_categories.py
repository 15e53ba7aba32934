"""Encoding of the categorical columns of a data frame for XGBoost."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import OrdinalEncoder

from lupi._stored import stored
from lupi.base._rows import is_data_frame


@stored
class CategoryEncoder:
    """Ordinal encoder of categorical columns; unknown and missing values are NaN.

    Attributes
    ----------
    columns : list of str
        All columns of the table.
    categorical : list of str
        The columns of a categorical type.
    encoder : OrdinalEncoder
        The encoder of these columns.

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
        # All categories of a column, including those that no row has.
        self.encoder = OrdinalEncoder(
            categories=[np.sort(table[name].cat.categories) for name in categorical],
            handle_unknown="use_encoded_value",
            unknown_value=np.nan,
        ).fit(table[categorical].to_numpy())

    @classmethod
    def of(cls, table: Any) -> CategoryEncoder | None:
        """Return the encoder of a table; None when it has no categorical column."""
        if not is_data_frame(table):
            return None
        found = [c for c in table.columns if str(table[c].dtype) == "category"]
        return cls(table, found) if found else None

    def encode(self, table: Any) -> Any:
        """Return the table with numbers in place of categories."""
        if not is_data_frame(table) or any(
            name not in table.columns for name in self.categorical
        ):
            return table  # the checks of the estimator refuse other columns
        values = self.encoder.transform(table[self.categorical].to_numpy(dtype=object))
        return table.assign(**dict(zip(self.categorical, values.T, strict=True)))

    def feature_types(self) -> list[str]:
        """Return XGBoost's feature types, "c" for categories and "q" for numbers."""
        return ["c" if name in self.categorical else "q" for name in self.columns]
