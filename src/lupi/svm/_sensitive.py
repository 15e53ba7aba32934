"""Sensitive columns as numbers: what they are in ``fit``, they are afterwards.

Numbers stay numbers; text, categories and booleans become one column per category. How
a table was read is kept as plain data, one pair (label, categories) per column: the
label is None where the table had none, the categories are None for numbers.
"""

from __future__ import annotations

from collections.abc import Hashable
from datetime import date, time, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["Encoding", "as_table", "encode", "encoded_names", "read_sensitive", "study"]

Encoding = list[tuple[str | None, list[str] | None]]


def read_sensitive(
    sensitive: Any, n_rows: int, name: str
) -> tuple[np.ndarray, list[str]]:
    """Sensitive columns as numbers, one per category, and their names."""
    encoding = study(sensitive, n_rows, name)
    return encode(sensitive, encoding, name), encoded_names(encoding)


def as_table(sensitive: Any, name: str) -> Any:
    """A DataFrame of what was given; anything that is not columns is refused."""
    import pandas as pd

    if isinstance(sensitive, pd.DataFrame):
        return sensitive
    if isinstance(sensitive, pd.Series):
        return sensitive.to_frame()
    if sp.issparse(sensitive):
        raise ValueError(
            f"{name} expected sensitive_features as an array or DataFrame, but got a "
            "sparse matrix. Use its toarray()."
        )
    # Rows of mixed types keep them: as one array of text, numbers would be lost.
    values = (
        sensitive
        if isinstance(sensitive, np.ndarray)
        else np.array(sensitive, dtype=object)
    )
    if values.ndim == 0:
        raise ValueError(
            f"{name} expected sensitive_features to be one or several columns with "
            f"one row per training row, but got {sensitive!r}."
        )
    if values.ndim > 2:
        raise ValueError(
            f"{name} expected sensitive_features to be one column or a table of "
            f"columns, but got an array of {values.ndim} dimensions."
        )
    return pd.DataFrame(values[:, None] if values.ndim == 1 else values)


def study(sensitive: Any, n_rows: int, name: str) -> Encoding:
    """How a table is to be read; refuse what cannot be a sensitive column."""
    table = as_table(sensitive, name)
    if len(table) != n_rows:
        raise ValueError(
            f"{name} got sensitive_features with {len(table)} rows for {n_rows} rows "
            "of X. Give one row for each, in the same order."
        )
    if table.shape[1] == 0:
        raise ValueError(f"{name} got sensitive_features without columns.")
    named = _has_names(sensitive)
    encoding: Encoding = []
    for label, column in table.items():
        if column.isna().any():
            raise ValueError(
                f"{name} found missing values in the sensitive column {label!r}, in "
                f"{int(column.isna().sum())} rows. Fairness cannot be checked for a "
                "row without them: leave these rows out, or make missing a category."
            )
        categories = None if _holds_numbers(column, name) else sorted(_texts(column))
        encoding.append((str(label) if named else None, categories))
    return encoding


def encoded_names(encoding: Encoding) -> list[str]:
    """Names of the columns that `encode` makes."""
    names = []
    for j, (label, categories) in enumerate(encoding):
        label = f"z{j}" if label is None else label
        names += [label] if categories is None else []
        names += [f"{label}={category}" for category in _shown(categories or [])]
    return names


def encode(sensitive: Any, encoding: Encoding, name: str) -> np.ndarray:
    """Numbers of a table that is read as an earlier one was; NaN for missing rows.

    A table of numbers with the columns of `encoded_names` is encoded already.
    """
    table = as_table(sensitive, name)
    labels = [label for label, _ in encoding]
    if not _is_encoded(table, encoding):
        given = [str(label) for label in table] if _has_names(sensitive) else labels
        if table.shape[1] != len(encoding) or (given != labels and None not in labels):
            raise ValueError(
                f"{name} was fitted with {len(encoding)} sensitive columns"
                f"{'' if None in labels else f', {labels}'}, but got "
                f"{table.shape[1]}{f', {given}' if _has_names(sensitive) else ''}. "
                "Give the columns used in fit, in that order."
            )
    else:
        encoding = [(label, None) for label in encoded_names(encoding)]
    missing = table.isna().to_numpy()
    partly = np.flatnonzero(missing.any(axis=1) & ~missing.all(axis=1))
    if len(partly):
        raise ValueError(
            f"{name} found missing values in part of a row of sensitive features: row "
            f"{partly[0]}. A row is either complete or missing throughout."
        )
    present = ~missing.all(axis=1)
    values = np.full((len(table), len(encoded_names(encoding))), np.nan)
    if present.any():
        parts = zip(encoding, table.items(), strict=True)
        values[present] = np.column_stack(
            [
                part
                for (_, categories), (_, column) in parts
                for part in _encode_column(column[present], categories, name)
            ]
        )
    return values


def _encode_column(column: Any, categories: list[str] | None, name: str) -> list:
    if categories is None:
        if not _holds_numbers(column, name):
            raise ValueError(
                f"{name} was fitted with numbers in the sensitive column "
                f"{column.name!r}, but got {column.iloc[0]!r}."
            )
        values = column.to_numpy(dtype=float)
        if not np.isfinite(values).all():
            raise ValueError(
                f"{name} found infinite values in the sensitive column {column.name!r}."
            )
        return [values]
    texts = np.array([str(value) for value in column], dtype=object)
    unknown = sorted(set(texts) - set(categories))
    if unknown:
        raise ValueError(
            f"{name} found {unknown[0]!r} in the sensitive column {column.name!r}, "
            f"whose categories in fit were {categories}."
        )
    return [(texts == category).astype(float) for category in _shown(categories)]


def _shown(categories: list[str]) -> list[str]:
    """Two categories are one column: the second is its complement."""
    return categories if len(categories) > 2 else categories[:1]


def _texts(column: Any) -> set[str]:
    return {str(value) for value in column.unique()}


def _has_names(sensitive: Any) -> bool:
    import pandas as pd

    return isinstance(sensitive, pd.DataFrame | pd.Series)


def _is_encoded(table: Any, encoding: Encoding) -> bool:
    """Whether categories came as the numbers that stand for them.

    Whole numbers are not taken for these: 1 and 0 may be yes and no.
    """
    return (
        any(categories is not None for _, categories in encoding)
        and table.shape[1] == len(encoded_names(encoding))
        and all(column.dtype.kind == "f" for _, column in table.items())
    )


def _holds_numbers(column: Any, name: str) -> bool:
    """Whether a column is numbers; refuse dates, and numbers mixed with other things.

    A column of objects is what its values are, whatever the table calls it.
    """
    import pandas as pd

    is_bool = pd.api.types.is_bool_dtype(column.dtype)
    if is_bool or isinstance(column.dtype, pd.CategoricalDtype):
        return False
    if column.dtype.kind in "iuf" and pd.api.types.is_numeric_dtype(column.dtype):
        return True
    kinds = {_kind(value) for value in column.dropna()}
    advice = "Give numbers (an age in years, say), text or categories"
    for refused in ("dates or times", "lists", "complex numbers"):
        if refused in kinds:
            raise ValueError(
                f"{name} found {refused} in the sensitive column {column.name!r}. "
                f"{advice}."
            )
    if "numbers" in kinds and len(kinds) > 1:
        raise ValueError(
            f"{name} found numbers mixed with {(kinds - {'numbers'}).pop()} in the "
            f"sensitive column {column.name!r}. {advice}: one of them throughout."
        )
    return kinds == {"numbers"}


def _kind(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "booleans"
    if isinstance(value, Real | Decimal):
        return "numbers"
    if isinstance(value, complex | np.complexfloating):
        return "complex numbers"
    moments = (date, time, timedelta, np.datetime64, np.timedelta64)
    # A pandas Period is a stretch of time, too.
    if isinstance(value, moments) or hasattr(value, "start_time"):
        return "dates or times"
    return "text" if isinstance(value, Hashable) else "lists"
