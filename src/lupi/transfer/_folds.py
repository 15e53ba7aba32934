"""Out-of-fold predictions whose folds depend on the data and not on their order.

A teacher's predictions of its own training rows are too good, so that predictions out
of fold are needed. Folds drawn by row number would break three properties that users
rely on: a row of weight 2 equals the row given twice, a row of weight 0 equals no row,
and the order of the rows does not matter. Therefore equal rows share a fold, and rows
are assigned to folds in the order of a hash of their content. So do rows that differ in
y alone: with the answers to one x in different folds, each would be predicted by a
model of the others, and predictions out of fold would be the opposite of y.

Where at least ten rows are equal but for y, as in a table of few categories, they are
divided among the folds, evenly for each class: a model that has seen none of them would
have to extrapolate. Only there, a row of weight 2 is not exactly the row given twice.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from lupi._parts import GOLDEN, mixed_bits
from lupi.base._rows import is_data_frame, missing_values, take_columns, take_rows


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


# Number of rows that are equal but for y from which these are divided among the folds.
FREQUENT = 10


def fold_keys(keys: np.ndarray, turns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return keys and turns that are those of single rows where many rows are equal.

    Keys are hashes of rows without y, turns those with y.
    """
    order = np.lexsort((turns, keys))
    _, start, count = np.unique(keys[order], return_index=True, return_counts=True)
    number = np.empty(len(keys), dtype=np.uint64)
    number[order] = np.arange(len(keys)) - np.repeat(start, count)
    often = np.empty(len(keys), dtype=bool)
    often[order] = np.repeat(count >= FREQUENT, count)
    own = often * (number + np.uint64(1)) * GOLDEN
    return (
        np.where(often, mixed_bits(keys + own), keys),
        np.where(often, mixed_bits(turns + own), turns),
    )


def units_of(keys: np.ndarray, turns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first row of each unit, and the unit of each row, in turn.

    Rows of one key are a unit.
    """
    order = np.lexsort((turns, keys))
    _, first, place = np.unique(keys[order], return_index=True, return_inverse=True)
    first = order[first]
    turn = np.argsort(turns[first])
    unit = np.empty(len(keys), dtype=int)
    unit[order] = np.argsort(turn)[place]
    return first[turn], unit


def in_turn(stratum: np.ndarray, n_folds: int, random_state: Any = None) -> np.ndarray:
    """Assign units to folds in turn; a seed shuffles their order within the strata."""
    rank = np.arange(len(stratum))
    if random_state is not None:
        rank = check_random_state(random_state).permutation(rank)
    # Counting on from one stratum to the next balances strata and fold sizes at once.
    fold = np.empty(len(stratum), dtype=int)
    fold[np.lexsort((rank, stratum))] = np.arange(len(stratum)) % n_folds
    return fold


def shuffle_generators(
    n_repeats: int, random_state: Any
) -> list[np.random.RandomState | None]:
    """Return a generator per repetition; None is the order of the units."""
    if random_state is not None:
        return [check_random_state(random_state)] * n_repeats
    return [None, *(np.random.RandomState(r) for r in range(1, n_repeats))]


def folds_of(
    cv: Any, counted: np.ndarray, codes: np.ndarray, groups: np.ndarray | None
) -> np.ndarray:
    """Return the fold of each row by a splitter, or by an iterable of splits.

    `counted` is the mask of the labelled rows of positive weight; `codes` and `groups`
    are their classes and groups.
    """
    n_rows = len(counted)
    y, units, fold = np.zeros((3, n_rows), dtype=int)
    y[counted] = codes
    if groups is not None:
        units[counted] = groups
    splits = check_cv(cv).split(
        np.zeros((n_rows, 1)), y, None if groups is None else units
    )
    tests = [test for _, test in splits]
    if len(tests) > 1 and _each_once(tests, n_rows):
        for number, test in enumerate(tests):
            fold[test] = number
        numbers, fold = np.unique(fold[counted], return_inverse=True)
        if len(numbers) > 1:
            return fold
    raise ValueError(
        f"cv={cv!r} does not test each of the {n_rows} labelled rows exactly once, in "
        "two folds or more. Use a splitter that partitions them (KFold, GroupKFold), "
        "or an integer."
    )


def _each_once(tests: list[np.ndarray], n_rows: int) -> bool:
    tested = np.concatenate([np.empty(0, dtype=int), *tests])
    return np.array_equal(np.sort(tested), np.arange(n_rows))


def fit_out_of_fold(
    estimator: Any,
    fit: Callable[[Any, np.ndarray, np.ndarray | None], Any],
    predict: Callable[[Any, Any], np.ndarray],
    table: Any,
    target: np.ndarray,
    weight: np.ndarray | None,
    keys: list[Any],
) -> tuple[Any, np.ndarray]:
    """Fit a model on all rows, and predict every row by a model not fitted on it.

    ``fit(table, target, weight)`` returns a model of some rows, ``predict(model,
    table)`` its predictions. The folds are those of ``estimator.cv``; with None,
    predictions are in-sample. An integer assigns rows to folds by `keys`, tables that
    end with y.
    """
    cv, y, stratify = estimator.cv, keys[-1], is_classifier(estimator)
    everything, splits = np.arange(len(y)), []
    if isinstance(cv, Integral):
        digests = row_digests(*keys[:-1]), row_digests(*keys)
        first, unit = units_of(*fold_keys(*digests))
        stratum = y[first] if stratify else np.zeros(len(first))
        fold = in_turn(stratum, int(cv), estimator.random_state)[unit]
        if not fold.any():
            raise ValueError(
                f"cv={cv}: predictions out of fold need at least 2 distinct rows that "
                "have privileged information. Give more rows, or cv=None for in-sample "
                "predictions."
            )
        splits = [
            (np.flatnonzero(fold != k), np.flatnonzero(fold == k))
            for k in range(fold.max() + 1)
        ]
    elif cv is not None:
        splits = list(check_cv(cv, y, classifier=stratify).split(keys[0], y))
        if not _each_once([test for _, test in splits], len(y)):
            raise ValueError(
                f"cv={cv!r} does not test each of the {len(y)} rows that have "
                "privileged information exactly once. Use a splitter that partitions "
                "them (KFold, StratifiedKFold), an integer, or cv=None."
            )

    def fit_rows(rows: np.ndarray) -> Any:
        part = None if weight is None else weight[rows]
        return fit(take_rows(table, rows), target[rows], part)

    model = fit_rows(everything)
    if cv is None:
        return model, predict(model, table)
    parts = [
        (test, predict(fit_rows(train), take_rows(table, test)))
        for train, test in splits
    ]
    predictions = np.empty((len(y), *parts[0][1].shape[1:]))
    for test, part in parts:
        predictions[test] = part
    return model, predictions
