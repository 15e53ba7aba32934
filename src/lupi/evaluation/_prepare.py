"""Tables, their preprocessing, and the prepared tables of one fold.

Preprocessing is fitted on training rows, separately for X and X*, as the guide to
evaluation describes. A row of X* in which every value is missing stays missing: the
transformer of X* is fitted on the other rows only. Preprocessing has no parameters to
search; it is therefore fitted once per fold and shared by all candidates, with the same
result as a pipeline refitted for each of them.
"""

from __future__ import annotations

import uuid
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from lupi._optional import optional, require
from lupi.base._rows import (
    IsoDates,
    dense,
    is_data_frame,
    n_rows_of,
    side_by_side,
    take_rows,
)

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = optional("pandas", "A table with text")

# Categories of a column that are encoded one by one: at any rate; if each of them has
# so many rows on average, and all such columns together have no more categories.
CATEGORIES = 39
REPEATED_CATEGORIES, REPEATS, MOST_ENCODED = 100, 10, 1000
# Numbers in the tables that are kept: 160 MB.
MOST_CELLS_KEPT = 20_000_000


def as_table(values: Any, name: str) -> Any:
    """Return a data frame, CSR matrix or two-dimensional array."""
    if sp.issparse(values):
        return sp.csr_array(values)
    if hasattr(values, "to_pandas"):
        values = values.to_pandas()
    if is_data_frame(values):
        names = list(values.columns)
        again = next((one for one in names if names.count(one) > 1), None)
        if again is not None:
            raise ValueError(
                f"{name} has two columns called {again!r}; give every column a name of "
                "its own."
            )
        if len({isinstance(one, str) for one in names}) > 1:
            raise ValueError(
                f"The column names of {name} are partly text and partly not; convert "
                "them with table.columns.astype(str)."
            )
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


def check_lengths(n_rows: int, **columns: Any) -> None:
    """Raise an error for columns or tables that have another number of rows than X."""
    for name, values in columns.items():
        if values is not None and n_rows_of(values) != n_rows:
            raise ValueError(
                f"{name} has {n_rows_of(values)} rows and X has {n_rows}; they must "
                "describe the same samples, in the same order."
            )


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


def make_transformer(
    table: Any, most_categories: int | None = None, *, impute: bool = True
) -> Pipeline:
    """Return an unfitted transformer for the table.

    A column of text with more values than ``most_categories`` has no categories. With
    ``impute=False`` missing numbers stay missing.
    """
    # The steps return arrays, even if scikit-learn is configured otherwise.
    if sp.issparse(table):
        return make_pipeline(MaxAbsScaler().set_output(transform="default"))
    numbers = [
        step.set_output(transform="default")
        for step in (SimpleImputer(keep_empty_features=True), StandardScaler())
    ][0 if impute else 1 :]
    if is_data_frame(table) and not all(
        isinstance(kind, np.dtype) and kind.kind in "fiub" for kind in table.dtypes
    ):
        skrub = require("skrub", "A table with text, categories or dates")
        # Every category has its own column: skrub's encoder drops one of two, so that
        # an unknown category would be encoded as the dropped one.
        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        vectorizer = skrub.TableVectorizer(
            cardinality_threshold=(most_categories or _most_categories(table)) + 1,
            low_cardinality=encoder,
            high_cardinality=skrub.StringEncoder(random_state=0),
        )
        return make_pipeline(IsoDates(), vectorizer, *numbers)
    return make_pipeline(*numbers)


def _most_categories(table: pd.DataFrame) -> int:
    """Return the number of values up to which a column has categories, not text.

    The names of states, say, repeat, and parts of a name say little about a state.
    """
    counts = [
        column.dropna().astype(str).nunique()
        for _, column in table.items()
        if not pd.api.types.is_numeric_dtype(column)
    ]
    most = min(REPEATED_CATEGORIES, len(table) // REPEATS)
    more = [count for count in counts if CATEGORIES < count <= most]
    return max([CATEGORIES, *(more if sum(more) <= MOST_ENCODED else [])])


def _transform_privileged(transformer: Pipeline | None, table: Any) -> Any:
    """Return transformed rows; a row without X* is NaN, and None if all are."""
    there = rows_with_values(table)
    if transformer is None or not there.any():
        return None
    if there.all():
        return transformer.transform(table)
    return _with_gaps(
        transformer.transform(take_rows(table, np.flatnonzero(there))), there
    )


def _with_gaps(values: Any, there: np.ndarray) -> np.ndarray:
    """Return the values as the rows that are there, and NaN as the others."""
    full = np.full((len(there), values.shape[1]), np.nan)
    full[there] = dense(values)
    return full


@dataclass(frozen=True)
class TrainingRows:
    """Training rows: the first ``n_labelled`` have y, the others do not.

    ``source`` is, for each of them, the row whose X* is used, and ``most_categories``
    that of `make_transformer`.
    """

    rows: np.ndarray
    n_labelled: int
    source: np.ndarray
    most_categories: int | None = None

    def take(self, kept: np.ndarray, n_labelled: int) -> TrainingRows:
        """Return some of the rows, by their places, of which the first have y."""
        return replace(
            self, rows=self.rows[kept], n_labelled=n_labelled, source=self.source[kept]
        )


@dataclass
class Fold:
    """Prepared tables of one split of some rows; ``privileged`` is None without X*."""

    X_train: Any
    X_test: Any
    privileged: Any
    train: np.ndarray
    n_labelled: int
    test: np.ndarray
    n_privileged: int


# Tables prepared for a split are used by all methods that run on it in this process.
# The cache is global because every task of joblib unpickles its own study.
_recent: OrderedDict[Any, tuple[Any, ...]] = OrderedDict()


def _recall(key: Any, compute: Callable[[], tuple[Any, ...]]) -> Any:
    """Return the tables of a key; the most recent ones are kept, up to their cells.

    Of sparse tables the stored cells count.
    """
    result = _recent[key] if key in _recent else compute()
    _recent[key] = result
    _recent.move_to_end(key)
    while (
        _recent
        and sum(
            int(getattr(table, "size", 0))
            for kept in _recent.values()
            for table in kept
        )
        > MOST_CELLS_KEPT
    ):
        _recent.popitem(last=False)
    return result


@dataclass
class FoldTables:
    """The tables of a study, and the preparation of its folds."""

    X: Any
    privileged: Any
    has_privileged: np.ndarray
    impute: bool = True
    token: str = field(default_factory=lambda: uuid.uuid4().hex)

    def fold(self, arm: str, training: TrainingRows, test: np.ndarray) -> Fold:
        """Prepare the tables of an arm for training and test rows."""
        train, source, most = training.rows, training.source, training.most_categories
        X_train, X_test = _recall(
            (self.token, most, "X", train.tobytes(), test.tobytes()),
            lambda: self._prepare_features(train, test, most),
        )
        privileged, width = None, 0
        if arm == "self":
            there = self.has_privileged[train]
            if there.any():
                privileged = X_train
                if not there.all():
                    privileged = _with_gaps(X_train[np.flatnonzero(there)], there)
            width = X_train.shape[1]
        elif arm != "without":
            transformer, privileged = _recall(
                (self.token, most, "X*", train.tobytes(), source.tobytes()),
                lambda: self._prepare_privileged(source, most),
            )
            width = 0 if privileged is None else privileged.shape[1]
        if arm == "oracle":
            rows = take_rows(self.privileged, test)
            X_train = _beside(X_train, privileged, width)
            X_test = _beside(X_test, _transform_privileged(transformer, rows), width)
            privileged = None
        n_labelled = training.n_labelled
        return Fold(X_train, X_test, privileged, train, n_labelled, test, width)

    def _prepare_features(
        self, train: np.ndarray, test: np.ndarray, most: int | None
    ) -> tuple[Any, Any]:
        transformer = make_transformer(self.X, most, impute=self.impute)
        X_train = transformer.fit_transform(take_rows(self.X, train))
        X_test = transformer.transform(take_rows(self.X, test))
        if not self.impute:
            # The boosting of scikit-learn refuses columns without any value.
            empty = np.isnan(X_train).all(axis=0)
            X_train[:, empty] = X_test[:, empty] = 0.0
        return X_train, X_test

    def _prepare_privileged(
        self, source: np.ndarray, most: int | None
    ) -> tuple[Pipeline | None, Any]:
        table = take_rows(self.privileged, source)
        there = np.flatnonzero(rows_with_values(table))
        if not len(there):
            return None, None
        transformer = make_transformer(self.privileged, most)
        transformer.fit(take_rows(table, there))
        return transformer, _transform_privileged(transformer, table)


def _beside(X: Any, privileged: Any, width: int) -> Any:
    """Return [X, X*] for the oracle; missing rows of X* are 0, the mean."""
    if privileged is None:
        privileged = np.zeros((X.shape[0], width))
    if not sp.issparse(privileged):
        privileged = np.nan_to_num(np.asarray(privileged, dtype=float))
    return side_by_side(X, privileged)
