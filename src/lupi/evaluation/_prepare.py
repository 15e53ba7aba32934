"""Preprocessing that is fitted inside the folds, separately for X and X*.

Numbers are imputed and standardized; sparse matrices are scaled by their largest
entries; tables with text, categories or dates are encoded by skrub's
``TableVectorizer`` first. A row of X* in which every value is missing stays missing:
the transformer of X* is fitted on the other rows only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from lupi._optional import optional, require
from lupi.base._data_frames import side_by_side
from lupi.base._rows import dense, is_data_frame, take_rows

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = optional("pandas", "A table with text")


def as_table(values: Any, name: str) -> Any:
    """Return a data frame, CSR matrix or two-dimensional array."""
    if sp.issparse(values):
        return sp.csr_array(values)
    if hasattr(values, "to_pandas"):
        values = values.to_pandas()
    if is_data_frame(values):
        return values
    if hasattr(values, "to_frame"):
        return values.to_frame()
    array = np.asarray(values)
    if array.ndim == 1 and name == "privileged":
        array = array[:, None]
    if array.ndim != 2:
        raise ValueError(
            f"{name} has {array.ndim} dimension(s); give a table with one row per "
            "sample and one column per feature."
        )
    if array.dtype.kind in "OUS":
        return pd.DataFrame(array.astype(object)).infer_objects()
    return array


def column_names(table: Any, prefix: str) -> list[str]:
    """Return the names of the columns; an array has the prefix and numbers."""
    if is_data_frame(table):
        return [str(name) for name in table.columns]
    return [f"{prefix}{i}" for i in range(table.shape[1])]


def rows_with_values(table: Any) -> np.ndarray:
    """Return a mask of the rows that have at least one value."""
    if is_data_frame(table):
        return table.notna().any(axis=1).to_numpy()
    if sp.issparse(table):
        # A row without entries is a row of zeros, which is a value.
        missing = sp.csr_array(
            (np.isnan(table.data).astype(float), table.indices, table.indptr),
            table.shape,
        )
        return np.asarray(missing.sum(axis=1)).ravel() < table.shape[1]
    return ~np.isnan(table.astype(float)).all(axis=1)


def make_transformer(table: Any) -> Pipeline:
    """Return an unfitted transformer for the table.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.evaluation._prepare import make_transformer
    >>> make_transformer(np.array([[1.0], [3.0]])).fit_transform([[1.0], [3.0]])
    array([[-1.],
           [ 1.]])
    """
    # The steps return arrays, even if scikit-learn is configured otherwise.
    if sp.issparse(table):
        return make_pipeline(MaxAbsScaler().set_output(transform="default"))
    numbers = [
        step.set_output(transform="default")
        for step in (SimpleImputer(keep_empty_features=True), StandardScaler())
    ]
    if is_data_frame(table) and not _all_numbers(table):
        skrub = require("skrub", "A table with text, categories or dates")
        # Every category has its own column: skrub's encoder drops one of two, so that
        # an unknown category would be encoded as the dropped one.
        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        return make_pipeline(skrub.TableVectorizer(low_cardinality=encoder), *numbers)
    return make_pipeline(*numbers)


def _all_numbers(table: pd.DataFrame) -> bool:
    return all(
        isinstance(kind, np.dtype) and kind.kind in "fiub" for kind in table.dtypes
    )


class PreparedPrivileged:
    """A transformer of X* fitted on the rows that have it."""

    def __init__(self, transformer: Pipeline, table: Any):
        self.transformer = transformer
        there = rows_with_values(table)
        # A training set may have no row with X*; the model is then trained without.
        self.usable = bool(there.any())
        if self.usable:
            transformer.fit(take_rows(table, np.flatnonzero(there)))

    def transform(self, table: Any) -> Any:
        """Return transformed rows; a row without X* is NaN."""
        if not self.usable:
            return None
        there = rows_with_values(table)
        if there.all():
            return self.transformer.transform(table)
        if not there.any():
            return None
        values = dense(
            self.transformer.transform(take_rows(table, np.flatnonzero(there)))
        )
        full = np.full((len(there), values.shape[1]), np.nan)
        full[there] = values
        return full


def rows_missing(values: Any, missing: np.ndarray) -> Any:
    """Return the values with missing rows set to NaN; None if all are missing."""
    if missing.all():
        return None
    if not missing.any():
        return values
    values = np.array(dense(values), dtype=float)
    values[missing] = np.nan
    return values


def beside(X: Any, privileged: Any, width: int) -> Any:
    """Return [X, X*] for the oracle; missing rows of X* are 0, the mean."""
    if privileged is None:
        privileged = np.zeros((X.shape[0], width))
    if not sp.issparse(privileged):
        privileged = np.nan_to_num(np.asarray(privileged, dtype=float))
    return side_by_side(X, privileged)
