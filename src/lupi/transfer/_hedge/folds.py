"""Folds of the labelled rows: dealt by content, stratified, groups kept together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from lupi.base._rows import take_rows
from lupi.transfer._folds import as_numbers, row_digests
from lupi.transfer._hedge.rows import Rows

# Beyond so many rows a digest that is computed for all of them at once.
_QUICK = 10_000


def units_of(rows: Rows) -> np.ndarray:
    """Return numbers of the distinct labelled rows, in the order of their digests.

    Rows that are equal in X, y and X* have the same number.
    """
    plain = _numbers([take_rows(rows.X, rows.labelled), rows.target])
    privileged = np.zeros(len(plain), dtype=int)
    if rows.taught.any():
        known = rows.known(rows.place[rows.labelled[rows.taught]])
        privileged[rows.taught] = 1 + _numbers([known])
    # Two numbers side by side are one.
    return np.unique(plain * (privileged.max() + 1) + privileged, return_inverse=True)[
        1
    ]


def _numbers(blocks: Sequence[Any]) -> np.ndarray:
    quick = blocks[0].shape[0] > _QUICK
    digests = quick_digests(*blocks) if quick else row_digests(*blocks)
    return np.unique(digests, return_inverse=True)[1]


def most_folds(units: np.ndarray, codes: np.ndarray, n_folds: int) -> int:
    """Return how many folds can all have a row of each class, up to `n_folds`."""
    pairs = np.unique(np.column_stack([codes, units]), axis=0)
    return min(n_folds, int(np.bincount(pairs[:, 0]).min()))


def deal(
    units: np.ndarray,
    strata: np.ndarray,
    weight: np.ndarray,
    n_folds: int,
    random_state: Any,
) -> np.ndarray:
    """Return the fold of each row.

    Parameters
    ----------
    units : ndarray of int
        Rows of one number, equal rows or those of a group, share a fold.
    strata : ndarray of int
        Spread evenly over the folds; a unit counts to its heaviest stratum.
    weight : ndarray
        Weights of the rows.
    n_folds : int
        Number of folds, 2 or more.
    random_state : RandomState or None
        None deals the units in their order.
    """
    n_units = units.max() + 1
    counts = np.zeros((n_units, strata.max() + 1))
    np.add.at(counts, (units, strata), weight)
    rank = np.arange(n_units)
    if random_state is not None:
        rank = random_state.permutation(n_units)
    # One deal through all strata in turn balances strata and sizes at once.
    fold = np.empty(n_units, dtype=int)
    fold[np.lexsort((rank, counts.argmax(axis=1)))] = np.arange(n_units) % n_folds
    return fold[units]


def shuffles(n_repeats: int, random_state: Any) -> list[np.random.RandomState | None]:
    """Return what shuffles each deal; None is the first without a `random_state`."""
    if random_state is not None:
        return [check_random_state(random_state)] * n_repeats
    return [None, *(np.random.RandomState(r) for r in range(1, n_repeats))]


def folds_of(
    cv: Any, counted: np.ndarray, codes: np.ndarray, groups: np.ndarray | None
) -> np.ndarray:
    """Return the fold of each row by a splitter, or by an iterable of splits.

    Parameters
    ----------
    cv : splitter or iterable of (train, test)
        About the labelled rows as they were given to ``fit``.
    counted : ndarray of bool
        Which of them count, those of positive weight.
    codes, groups : ndarray of int
        Classes and groups of the rows that count; without groups None.
    """
    n_rows = len(counted)
    y, units, fold = np.zeros((3, n_rows), dtype=int)
    y[counted] = codes
    if groups is not None:
        units[counted] = groups
    found = check_cv(cv).split(
        np.zeros((n_rows, 1)), y, None if groups is None else units
    )
    tests = [test for _, test in found]
    tested = np.concatenate([np.empty(0, dtype=int), *tests])
    if len(tests) > 1 and np.array_equal(np.sort(tested), np.arange(n_rows)):
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


def quick_digests(*blocks: Any) -> np.ndarray:
    """Return a hash of 64 bits per row of the blocks laid side by side.

    Dense and sparse blocks and data frames of the same values have the same digests:
    a digest is the sum of one hash per cell, and a cell that is 0 counts for nothing.
    """
    digests = np.zeros(blocks[0].shape[0], dtype=np.uint64)
    first = 0
    for block in blocks:
        numbers = as_numbers(block)
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
    values[np.isnan(values)] = np.nan  # of whatever sign
    place = np.asarray(columns, dtype=np.uint64) + np.ones(1, dtype=np.uint64)
    bits = values.view(np.uint64) + place * np.uint64(0x9E3779B97F4A7C15)
    # The finalizer of splitmix64.
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return np.where(values == 0, np.uint64(0), bits ^ (bits >> np.uint64(31)))
