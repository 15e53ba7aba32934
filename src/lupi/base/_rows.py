"""Tables in any container: their rows and columns, missing cells, text and index."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import (
    _check_estimator_name,
    _num_samples,
    validate_data,
)

from lupi._optional import optional
from lupi._stored import stored
from lupi._words import listed

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = optional("pandas", "Putting tables together")

DOTTED_DATE = re.compile(r"\s*(\d{1,2})\.(\d{1,2})\.(\d{4})(?!\d)")


def is_data_frame(table: Any) -> bool:
    """Return whether an object is a data frame, of pandas or another library."""
    return all(hasattr(table, name) for name in ("columns", "dtypes", "shape"))


def as_numpy(values: Any) -> Any:
    """Convert a torch tensor into a NumPy array; return other objects unchanged."""
    if type(values).__module__.split(".")[0] == "torch" and hasattr(values, "detach"):
        return values.detach().cpu().numpy()
    return values


n_rows_of = _num_samples
# Columns by position, in a container of the same type.
take_columns = partial(_safe_indexing, axis=1)


def take_rows(table: Any, index: Any) -> Any:
    """Return rows by position, in a container of the same type."""
    if isinstance(table, np.ndarray) or sp.issparse(table):  # much faster
        return table[index]
    return _safe_indexing(table, index)


def dense(table: Any) -> np.ndarray:
    """Return a table as a dense array."""
    return table.toarray() if sp.issparse(table) else np.asarray(table)


def feature_names(table: Any) -> np.ndarray | None:
    """Return the column names of a table when all are strings, otherwise None.

    Parameters
    ----------
    table : object
        A data frame of any library, or an array, which has no names.

    Returns
    -------
    ndarray of str or None
        The names.

    Examples
    --------
    >>> import pandas as pd
    >>> from lupi.base import feature_names
    >>> feature_names(pd.DataFrame({"cd4": [1.0], "cd8": [2.0]}))
    array(['cd4', 'cd8'], dtype=object)
    """
    columns = getattr(table, "columns", None)
    if columns is None or callable(columns) or len(columns) == 0:
        return None
    strings = [isinstance(column, str) for column in columns]
    if all(strings):
        return np.asarray(list(columns), dtype=object)
    if any(strings):
        raise TypeError(
            "The columns of the table are named partly by strings and partly by other "
            "types. Use only strings, or none, for example with "
            "table.columns = table.columns.astype(str)."
        )
    return None


def name_of(estimator: Any) -> str:
    """Return the name of an estimator in error messages."""
    return _check_estimator_name(estimator) or "The estimator"


def list_rows(rows: np.ndarray) -> str:
    """Return row numbers as text, such as "Row 3", "Rows 3, 7 and 9"."""
    return f"{'Row' if len(rows) == 1 else 'Rows'} {listed(rows.tolist(), most=5)}"


def missing_values(values: Any) -> np.ndarray:
    """Return which values are missing: NaN, None, NA or NaT."""
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.getmaskarray(values) | missing_values(values.data)
    values = np.asarray(values, None if hasattr(values, "dtype") else object)
    if values.dtype.kind in "fcmM":
        return np.isnan(values)
    if values.dtype.kind != "O":
        return np.zeros(values.shape, dtype=bool)
    mask = [_is_missing(value) for value in values.ravel()]
    return np.array(mask, dtype=bool).reshape(values.shape)


def missing_cells(table: Any) -> np.ndarray:
    """Return which values of a table are missing."""
    if not hasattr(table, "columns"):
        return missing_values(table)
    columns = [missing_values(np.asarray(table[name])) for name in table.columns]
    return np.column_stack(columns) if columns else np.zeros(table.shape, dtype=bool)


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # the comparison of NA, or an array, is no bool
        return type(value).__name__ == "NAType"


def read_groups(groups: Any, n_rows: int) -> np.ndarray:
    """Return one group per row; raise a ValueError for missing groups."""
    groups = np.asarray(groups)
    if groups.shape != (n_rows,):
        raise ValueError(
            f"groups has the shape {groups.shape} for {n_rows} rows of X. "
            "Give one group per row, as a 1-D array."
        )
    missing = np.flatnonzero(missing_values(groups))
    if len(missing):
        raise ValueError(
            f"groups is missing in {len(missing)} of {n_rows} rows, first in row "
            f"{missing[0]}. Give every row a group; a row that belongs to none is a "
            "group of its own."
        )
    if groups.dtype == object and len({*map(type, groups)}) > 1:
        groups = np.array([str(group) for group in groups])  # types do not compare
    return groups


def refuse_text(privileged: Any, name: str) -> None:
    """Refuse text, including text that could be read as numbers, and dates."""
    if sp.issparse(privileged):
        return
    if hasattr(privileged, "columns"):
        columns = [c for c in privileged.columns if _holds_text(privileged[c])]
        reason = f"the column {columns[0]!r} holds something else" if columns else ""
    else:
        if not hasattr(privileged, "dtype"):
            privileged = np.asarray(privileged, dtype=object)
        reason = "it holds text or dates" if _holds_text(privileged) else ""
    if reason:
        raise ValueError(
            f"{name} expected privileged to hold numbers only, but {reason}. Encode it "
            "first, or wrap the estimator in lupi.compose.TransformedPrivileged with a "
            "transformer that encodes it."
        )


def refuse_text_columns(
    X: Any, name: str, error: Exception, *, fitted: bool = False
) -> None:
    """Raise an error that names the first column of text in a data frame, if any."""
    if not is_data_frame(X):
        return
    for column in X.columns:
        values = np.asarray(X[column])
        if not _holds_text(values):
            continue
        try:
            values.astype(float)
        except (TypeError, ValueError):
            shown = next(one for one in values if one is not None and one == one)
            remedy = (
                "It held numbers in fit."
                if fitted
                else "Encode it first: sklearn.pipeline.make_pipeline("
                f"skrub.TableVectorizer(), {name}(...)) encodes text, categories and "
                "dates."
            )
            raise ValueError(
                f"{name} expected X to hold numbers only, but the column {column!r} "
                f"holds {str(shown)!r}. {remedy}"
            ) from error


def _holds_text(values: Any) -> bool:
    values = np.asarray(values)
    if values.dtype.kind == "O":
        return any(isinstance(value, str | bytes) for value in values.ravel())
    return values.dtype.kind in "SUMm"


def have_other_indexes(*tables: Any) -> bool:
    """Return whether two tables of pandas, whose rows have labels, differ in these."""
    if not all(
        hasattr(table, "reindex") and hasattr(table.index, "equals") for table in tables
    ):
        return False
    return not tables[0].index.equals(tables[1].index)


def refuse_other_index(X: Any, privileged: Any, name: str) -> None:
    """Refuse a privileged table whose index differs from that of X."""
    if have_other_indexes(X, privileged):
        raise ValueError(
            f"{name} got privileged with another index than X: "
            f"{_index_difference(X.index, privileged.index)}"
        )


def aligned(X: Any, privileged: Any) -> Any:
    """Return the privileged table with the rows of X, matched by their labels.

    A row of X whose label is not in the privileged table becomes a row of NaN, that is,
    a row without privileged information.
    """
    if not have_other_indexes(X, privileged):
        return privileged
    ours, theirs = X.index, privileged.index
    for name, index in (("X", ours), ("privileged", theirs)):
        if not index.is_unique:
            again = index[index.duplicated()][0]
            raise ValueError(
                f"X and privileged have different indexes, and {name} has two rows "
                f"labelled {_shown(again)}, so that rows cannot be matched by label. "
                "Make the labels unique, or pass privileged.set_axis(X.index) if the "
                "rows are in the same order."
            )
    if not ours.isin(theirs).all() and not theirs.isin(ours).all():
        difference = _index_difference(ours, theirs)
        raise ValueError(f"X and privileged have different indexes: {difference}")
    return privileged.reindex(ours)


def _index_difference(ours: Any, theirs: Any) -> str:
    """Return the first difference of two indexes, and what to do about it."""
    if len(ours) != len(theirs):
        first = f"{len(theirs)} rows for {len(ours)} rows of X."
    else:
        row, mine, other = next(
            (row, mine, other)
            for row, (mine, other) in enumerate(zip(ours, theirs, strict=True))
            if type(mine) is not type(other) or bool(mine != other)
        )
        first = f"row {row} is {_shown(mine)} in X and {_shown(other)} in privileged."
    absent = ours[~ours.isin(theirs)]
    match = "Give both the same labels, each once, to match rows by label."
    if len(absent):
        first += (
            f" {len(absent)} of the {len(ours)} labels of X are not in privileged, "
            f"{_shown(absent[0])} for one."
        )
    if ours.is_unique and theirs.is_unique and len(absent) < len(ours):
        match = "Pass privileged.loc[X.index] to match rows by label."
        if len(absent):
            match = (
                "Pass privileged.reindex(X.index) to match rows by label; these rows "
                "then have no privileged information."
            )
    if len(ours) == len(theirs):
        match += " Pass privileged.set_axis(X.index) if the rows are in the same order."
    return f"{first} {match}"


def _shown(label: Any) -> str:
    return repr(label.item() if hasattr(label, "item") else label)


def as_data_frame(values: Any, names: Sequence[str] | None = None) -> pd.DataFrame:
    """Return a pandas table whose index counts the rows from 0."""
    if hasattr(values, "reset_index"):
        table = values.reset_index(drop=True)
    elif is_data_frame(values):
        table = pd.DataFrame({one: np.asarray(values[one]) for one in values.columns})
    else:
        table = pd.DataFrame(dense(values)).infer_objects()
    return table if names is None else table.set_axis(list(names), axis=1)


def with_iso_date(cell: Any) -> Any:
    """Return text that begins with a date such as 31.12.2026 with 2026-12-31."""
    found = DOTTED_DATE.match(cell) if isinstance(cell, str) else None
    if found is None:
        return cell
    day, month, year = found.groups()
    return f"{year}-{month:0>2}-{day:0>2}{cell[found.end() :]}"


@stored
class IsoDates(TransformerMixin, BaseEstimator):
    """Write dates such as 31.12.2026 as 2026-12-31, cell by cell.

    Readers that infer the format of a column take 01.12.2026 for January 12.
    """

    def fit(self, X: Any, y: Any = None) -> IsoDates:
        """Store the names of the columns."""
        validate_data(self, X, skip_check_array=True)
        return self

    def transform(self, X: Any) -> Any:
        """Return the table; one that is not of pandas is not changed."""
        validate_data(self, X, reset=False, skip_check_array=True)
        if not hasattr(X, "select_dtypes"):
            return X
        X = X.copy()
        for name in X.select_dtypes(["object", "string"]):
            X[name] = X[name].map(with_iso_date)
        return X


def side_by_side(X: Any, privileged: Any) -> Any:
    """Concatenate the columns of X and X*: a data frame, or sparse, when either is.

    In a data frame every column has one name. If only one of the tables has names, the
    columns of the other are named x0, x1, … or privileged0, privileged1, …; if neither
    has names, the columns are numbered.
    """
    if not is_data_frame(X) and not is_data_frame(privileged):
        if sp.issparse(X) or sp.issparse(privileged):
            return sp.hstack([X, privileged], format="csr")
        return np.hstack([X, privileged])
    frames = [as_data_frame(X), as_data_frame(privileged)]
    unnamed = [feature_names(table) is None for table in (X, privileged)]
    if all(unnamed):
        return pd.concat(frames, axis=1, ignore_index=True)
    for number, letter in enumerate(("x", "privileged")):
        if unnamed[number]:
            names = [f"{letter}{i}" for i in range(frames[number].shape[1])]
            frames[number] = frames[number].set_axis(names, axis=1)
    shared = [name for name in frames[0].columns if name in set(frames[1].columns)]
    if shared:
        raise ValueError(
            f"X and privileged both have a column {shared[0]!r}, but their columns are "
            "put into one table, where names must be unique. Rename one of them, for "
            "example with privileged.add_suffix('_later')."
        )
    return pd.concat(frames, axis=1)
