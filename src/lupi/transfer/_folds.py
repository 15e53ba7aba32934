"""Out-of-fold predictions whose folds depend on the data and not on their order.

A teacher's predictions of its own training rows are too good, so that predictions out
of fold are needed. Folds drawn by row number would break three properties that users
rely on: a row of weight 2 equals the row given twice, a row of weight 0 equals no row,
and the order of the rows does not matter. Therefore equal rows share a fold, and rows
are assigned to folds in the order of a hash of their content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import blake2b
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from lupi._parts import GOLDEN, mixed_bits
from lupi.base._rows import is_data_frame, missing_values, take_columns


def row_digests(*blocks: Any) -> np.ndarray:
    """Return a 64-bit hash per row of the horizontally stacked blocks.

    Dense and sparse blocks and data frames of the same values have the same digests:
    a digest is the sum of the hashes of the nonzero cells.
    """
    columns = [_as_numbers(block) for block in blocks]
    digests = np.zeros(columns[0].shape[0], dtype=np.uint64)
    first = 0
    for numbers in columns:
        if sp.issparse(numbers):
            cells = sp.coo_array(numbers)
            cells.sum_duplicates()
            np.add.at(digests, cells.row, _hashes(cells.data, first + cells.col))
        else:
            for column, values in enumerate(np.asarray(numbers, dtype=float).T):
                digests += _hashes(values, first + column)
        first += numbers.shape[1]
    return digests


def _hashes(values: np.ndarray, columns: Any) -> np.ndarray:
    """Return a hash of each value and its column; 0 for the value 0."""
    values = np.array(values, dtype=float)
    values[np.isnan(values)] = np.nan  # one bit pattern for all NaN
    place = np.asarray(columns, dtype=np.uint64) + np.ones(1, dtype=np.uint64)
    bits = mixed_bits(values.view(np.uint64) + place * GOLDEN)
    return np.where(values == 0, np.uint64(0), bits)


def _as_numbers(block: Any) -> Any:
    """Return a matrix of numbers in which equal values have equal numbers."""
    if is_data_frame(block):
        positions = range(block.shape[1])
        return np.column_stack([_codes(take_columns(block, i)) for i in positions])
    if np.ndim(block) == 1:
        return _codes(block).reshape(-1, 1)
    return block


def _codes(column: Any) -> np.ndarray:
    values = np.asarray(column)
    try:
        return values.astype(float)
    except (TypeError, ValueError):  # text, or a missing value that is no number
        words, place = np.unique([str(value) for value in values], return_inverse=True)
        hashes = [blake2b(word.encode(), digest_size=6).digest() for word in words]
        codes = np.array([float(int.from_bytes(one, "big")) for one in hashes])[place]
        # None, NaN and NA all mean that the value is missing.
        return np.where(missing_values(values), np.nan, codes)


def content_folds(
    blocks: Iterable[Any],
    n_folds: int,
    *,
    strata: np.ndarray | None = None,
    random_state: Any = None,
) -> np.ndarray:
    """Assign the rows to folds by their content; return the fold of each row.

    Parameters
    ----------
    blocks : iterable of {array, sparse matrix}
        The columns of the rows. Rows that are equal in every block share a fold.
    n_folds : int
        Number of folds; there are fewer when there are fewer distinct rows.
    strata : ndarray of int, default=None
        Class codes, the same for equal rows; each class is spread evenly.
    random_state : int, RandomState or None, default=None
        None assigns the rows in the order of their digests, which is arbitrary and
        the same at every call; a seed shuffles that order.
    """
    _, first, group = np.unique(
        row_digests(*blocks), return_index=True, return_inverse=True
    )
    rank = np.arange(len(first))
    if random_state is not None:
        rank = check_random_state(random_state).permutation(rank)
    stratum = np.zeros(len(first)) if strata is None else strata[first]
    # Counting on from one class to the next balances classes and fold sizes at once.
    fold = np.empty(len(first), dtype=int)
    fold[np.lexsort((rank, stratum))] = np.arange(len(first)) % n_folds
    return fold[group]


def unit_folds(
    unit: np.ndarray,
    codes: np.ndarray,
    weight: np.ndarray,
    n_folds: int,
    random_state: Any = None,
) -> np.ndarray:
    """Assign rows to folds by units, such as digests or groups; return their folds.

    Units are spread evenly within the class that has most of their weight. There are
    at most as many folds as the smallest class has units.

    Parameters
    ----------
    unit : ndarray
        Rows of one unit share a fold.
    codes, weight : ndarray
        Classes and weights of the rows.
    n_folds : int
        Number of folds.
    random_state : RandomState or None, default=None
        None assigns the units in their order.
    """
    _, place = np.unique(unit, return_inverse=True)
    count = np.zeros((place.max() + 1, codes.max() + 1))
    np.add.at(count, (place, codes), weight)
    n_folds = min(n_folds, int((count > 0).sum(axis=0).min()))
    rank = np.arange(len(count))
    if random_state is not None:
        rank = random_state.permutation(rank)
    fold = np.empty(len(count), dtype=int)
    fold[np.lexsort((rank, count.argmax(axis=1)))] = np.arange(len(count)) % n_folds
    return fold[place]


def splits(
    cv: Any,
    blocks: Iterable[Any],
    y: np.ndarray,
    *,
    stratify: bool = False,
    random_state: Any = None,
) -> list[tuple[np.ndarray, np.ndarray]] | None:
    """Return the (train, test) index arrays of a ``cv`` parameter, or None for None.

    With an integer, rows are assigned to folds by the content of ``blocks`` and ``y``,
    optionally stratified by ``y``. A splitter or an iterable of splits is used
    unchanged, on the rows in the order given; it must test every row once.
    """
    if cv is None:
        return None
    blocks = list(blocks)
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        fold = content_folds(
            [*blocks, y],
            int(cv),
            strata=y if stratify else None,
            random_state=random_state,
        )
        numbers = np.unique(fold)
        if len(numbers) < 2:
            raise ValueError(
                f"cv={cv}: predictions out of fold need at least 2 distinct rows that "
                "have privileged information. Give more rows, or cv=None for in-sample "
                "predictions."
            )
        return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in numbers]
    splitter = check_cv(cv, y, classifier=stratify)
    found = list(splitter.split(blocks[0], y))
    tested = np.concatenate([np.empty(0, dtype=int), *(test for _, test in found)])
    if not np.array_equal(np.sort(tested), np.arange(len(y))):
        raise ValueError(
            f"cv={cv!r} does not test each of the {len(y)} rows that have privileged "
            "information exactly once. Use a splitter that partitions them (KFold, "
            "StratifiedKFold), an integer, or cv=None."
        )
    return found


def fit_out_of_fold(
    fit: Callable[[np.ndarray], Any],
    predict: Callable[[Any, np.ndarray], np.ndarray],
    folds: list[tuple[np.ndarray, np.ndarray]] | None,
    n_rows: int,
) -> tuple[Any, np.ndarray]:
    """Fit a model on all rows, and predict every row by a model not fitted on it.

    Parameters
    ----------
    fit : callable
        ``fit(rows)`` returns a model fitted on these row numbers.
    predict : callable
        ``predict(model, rows)`` returns its predictions for these row numbers.
    folds : list of (train, test), or None
        From :func:`splits`; None predicts in-sample.
    n_rows : int
        Number of rows.

    Returns
    -------
    model : object
        The model fitted on all rows.
    predictions : ndarray of shape (n_rows, ...)
        One prediction per row.
    """
    everything = np.arange(n_rows)
    model = fit(everything)
    if folds is None:
        return model, predict(model, everything)
    parts = [(test, predict(fit(train), test)) for train, test in folds]
    predictions = np.empty((n_rows, *parts[0][1].shape[1:]))
    for test, part in parts:
        predictions[test] = part
    return model, predictions
