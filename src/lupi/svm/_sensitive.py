"""Encoding of sensitive columns.

Numbers are not changed; text, categories and booleans become one column per category,
or a single column if there are two categories.
"""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import OneHotEncoder

from lupi._stored import stored
from lupi._words import listed
from lupi.base._rows import missing_values

__all__ = ["SensitiveColumns"]


@stored
class SensitiveColumns:
    """Encoder of the sensitive columns, fitted to the argument of ``fit``.

    Attributes
    ----------
    labels : list of str
        Names of the columns, z0, z1, … if the table has none.
    encoders : list of OneHotEncoder or None
        One per column; None for numbers.
    names : list of str
        Names of the columns that `encode` returns.
    """

    def __init__(self, sensitive: Any, n_rows: int, owner: str):
        self.owner = owner
        self.labels, columns = self._columns(sensitive)
        if not columns or len(columns[0]) != n_rows:
            raise ValueError(
                f"{owner} got sensitive_features with {len(columns)} columns of "
                f"{len(columns[0]) if columns else 0} rows for {n_rows} rows of X. "
                "Give one or several columns, one row for each row of X."
            )
        self.encoders: list[OneHotEncoder | None] = []
        self.names: list[str] = []
        for label, column in zip(self.labels, columns, strict=True):
            missing = missing_values(column).sum()
            if missing:
                raise ValueError(
                    f"{owner} found missing values in the sensitive column {label!r}, "
                    f"in {missing} rows. Fairness cannot be checked for a row without "
                    "a value: remove these rows, or make missing values a category."
                )
            if column.dtype.kind == "f":
                self.encoders.append(None)
                self.names.append(label)
                continue
            encoder = OneHotEncoder(drop="if_binary", sparse_output=False)
            self.encoders.append(encoder.fit(column[:, None]))
            shown = encoder.get_feature_names_out([label])
            self.names += [f"{label}={one[len(label) + 1 :]}" for one in shown]

    def encode(self, sensitive: Any) -> np.ndarray:
        """Return a table encoded as in ``fit``, with NaN for missing values.

        A table of floats with the columns of `names` counts as encoded already.
        """
        labels, columns = self._columns(sensitive)
        encoders = self.encoders
        floats = isinstance(sensitive, np.ndarray) and sensitive.dtype.kind == "f"
        if floats and len(columns) == len(self.names):
            encoders = [None] * len(columns)
        elif labels != self.labels:
            raise ValueError(
                f"{self.owner} was fitted with the sensitive columns {self.labels}, "
                f"but got {labels}. Give the columns used in fit, in that order."
            )
        parts = []
        for label, column, encoder in zip(labels, columns, encoders, strict=True):
            missing = missing_values(column)
            numbers = column.dtype.kind == "f"
            if numbers != (encoder is None) and not missing.all():
                kinds = ("numbers", "categories")
                was, now = kinds if encoder is None else kinds[::-1]
                raise ValueError(
                    f"{self.owner} was fitted with {was} in the sensitive column "
                    f"{label!r}, but got {now}."
                )
            if encoder is None:
                parts.append(column.astype(float)[:, None])
                continue
            # Missing values are replaced by any category, then set to NaN.
            filled = np.where(missing, encoder.categories_[0][0], column)[:, None]
            try:
                part = encoder.transform(filled.astype(str))
            except ValueError as error:
                raise ValueError(
                    f"{self.owner}, sensitive column {label!r}: {error}."
                ) from error
            part[missing] = np.nan
            parts.append(part)
        return np.hstack(parts)

    def _columns(self, sensitive: Any) -> tuple[list[str], list[np.ndarray]]:
        """Return the names and the columns of a table: floats, or text."""
        if sp.issparse(sensitive):
            raise ValueError(
                f"{self.owner} expected sensitive_features as an array or DataFrame, "
                "but got a sparse matrix. Use its toarray()."
            )
        if hasattr(sensitive, "to_frame"):  # a series
            sensitive = sensitive.to_frame()
        if hasattr(sensitive, "columns"):
            names = list(sensitive.columns)
            table = {str(name): sensitive[name] for name in names}
        else:
            # Without dtype=object, numbers beside text would be converted into text.
            is_array = isinstance(sensitive, np.ndarray)
            values = sensitive if is_array else np.array(sensitive, dtype=object)
            if values.ndim not in (1, 2):
                raise ValueError(
                    f"{self.owner} expected sensitive_features to be one or several "
                    "columns with one row per row of X, but got an array of "
                    f"{values.ndim} dimensions: {sensitive!r}."
                )
            columns = values[:, None].T if values.ndim == 1 else values.T
            table = {f"z{j}": column for j, column in enumerate(columns)}
        read = [self._read(label, column) for label, column in table.items()]
        return list(table), read

    def _read(self, label: str, column: Any) -> np.ndarray:
        """Return a column as floats if it holds numbers, otherwise as text."""
        values = np.asarray(column)
        missing = missing_values(values)
        there = values[~missing].tolist()
        is_text = [isinstance(value, str | bool) for value in there]
        if all(is_text) or str(column.dtype) == "category":
            text = np.full(len(values), None, dtype=object)
            text[~missing] = [str(value) for value in there]
            return text if missing.any() else text.astype(str)
        if any(is_text) or not all(isinstance(v, Real | Decimal) for v in there):
            kinds = sorted({type(value).__name__ for value in there})
            raise ValueError(
                f"{self.owner} cannot read the sensitive column {label!r}, which holds "
                f"values of type {listed(kinds)}. Give a column of numbers (such as an "
                "age in years), of text, of categories or of booleans."
            )
        numbers = np.full(len(values), np.nan)
        numbers[~missing] = there
        if np.isinf(numbers).any():
            raise ValueError(
                f"{self.owner} found infinite values in the sensitive column {label!r}."
            )
        return numbers
