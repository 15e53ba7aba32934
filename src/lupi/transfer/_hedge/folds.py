"""Folds of the labelled rows: by content, stratified, with groups kept together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from lupi._bits import GOLDEN, mixed_bits
from lupi._parts import Parts
from lupi.base._rows import take_rows
from lupi.transfer._folds import as_numbers, row_digests
from lupi.transfer._hedge.rows import Rows

# Largest number of rows with 128-bit digests, and of units assigned in turn.
FEW = 10_000


@dataclass(frozen=True)
class Units:
    """Distinct labelled rows, or groups, which must not be split between folds.

    Up to 10 000 units are assigned in the order of their keys, spread evenly over the
    folds within each stratum. With more units, the fold is a function of the key: the
    folds are then even without stratification, and no sorting is needed.

    Attributes
    ----------
    keys : Parts of ndarray
        One per labelled row: a hash of its content, or its group.
    distinct : ndarray or None
        The keys, each once, ascending; None when there are more than 10 000.
    weight : ndarray of shape (n_distinct, n_strata) or None
        Weights of the rows by their stratum: twice the class, plus 1 for rows with X*.
    n_taught : int
        Number of units that have a row with X*, at most 3.
    """

    keys: Parts
    distinct: np.ndarray | None
    weight: np.ndarray | None
    n_taught: int

    @classmethod
    def of(
        cls, rows: Parts, strata: Parts, groups: Parts | None, few: int = FEW
    ) -> Units:
        """Find the units.

        Parameters
        ----------
        rows : Parts of Rows
            The training rows.
        strata : Parts of ndarray of int
            Stratum of each labelled row: twice the class, plus 1 for rows with X*.
        groups : Parts of ndarray, or None
            Group of each labelled row; with None, equal rows form a unit.
        few : int, default=10_000
            Largest number of units that are assigned in the order of their keys.
        """
        keys = groups
        if keys is None:
            short = rows.sum(_n_labelled) <= few
            keys = rows.map(long_keys if short else short_keys)
        taught = keys.gather(_taught_keys, strata)
        n_taught = len(np.unique(np.concatenate(taught)))
        found = keys.gather(_summary, rows, strata, few)
        if all(part is not None for part in found):
            distinct, place = np.unique(
                np.concatenate([part[0] for part in found]), return_inverse=True
            )
            if len(distinct) <= few:
                n_strata = max(part[1].shape[1] for part in found)
                weight, start = np.zeros((len(distinct), n_strata)), 0
                for _, counts in found:
                    at = place[start : start + len(counts)]
                    weight[at, : counts.shape[1]] += counts
                    start += len(counts)
                return cls(keys, distinct, weight, n_taught)
        if groups is not None:
            keys = groups.map(_hashed)
        return cls(keys, None, None, n_taught)

    def most_folds(self, n_folds: int) -> int:
        """Return the number of folds, at most `n_folds`, that have all classes."""
        if self.weight is None:
            return n_folds
        plain, taught = self.weight[:, ::2], self.weight[:, 1::2]
        present = plain > 0
        present[:, : taught.shape[1]] |= taught > 0
        counts = present.sum(axis=0)
        return min(n_folds, int(counts[counts > 0].min()))

    def assign(self, n_folds: int, random_state: Any) -> Parts:
        """Return the fold of each labelled row.

        Parameters
        ----------
        n_folds : int
            Number of folds, 2 or more.
        random_state : RandomState or None
            None assigns the units in the order of their keys.
        """
        if self.distinct is None or self.weight is None:
            salt = 0 if random_state is None else random_state.randint(1, 2**31)
            return self.keys.map(_fold_of_key, n_folds, salt)
        n_units = len(self.distinct)
        rank = np.arange(n_units)
        if random_state is not None:
            rank = random_state.permutation(n_units)
        # Counting on from one stratum to the next balances strata and fold sizes at
        # once. A unit belongs to its heaviest stratum.
        fold = np.empty(n_units, dtype=int)
        order = np.lexsort((rank, self.weight.argmax(axis=1)))
        fold[order] = np.arange(n_units) % n_folds
        return self.keys.map(_fold_of_unit, self.distinct, fold)


def _n_labelled(rows: Rows) -> int:
    return len(rows.labelled)


def long_keys(rows: Rows) -> np.ndarray:
    """Return 128 bits of X and y, followed by 128 bits of X* where that exists."""
    keys = row_digests(take_rows(rows.X, rows.labelled), rows.target).astype("<U64")
    if rows.taught.any():
        known = rows.known(rows.place[rows.labelled[rows.taught]])
        keys[rows.taught] = np.char.add(keys[rows.taught], row_digests(known))
    return keys


def short_keys(rows: Rows) -> np.ndarray:
    """Return 64 bits of X, y and X*, computed for all rows at once."""
    keys = quick_digests(take_rows(rows.X, rows.labelled), rows.target)
    if rows.taught.any():
        known = rows.known(rows.place[rows.labelled[rows.taught]])
        keys[rows.taught] = mixed_bits(keys[rows.taught]) + quick_digests(known)
    return keys


def _taught_keys(keys: np.ndarray, strata: np.ndarray) -> np.ndarray:
    """Return up to three of the keys of rows with X*."""
    return np.unique(keys[strata % 2 == 1])[:3]


def _summary(
    keys: np.ndarray, rows: Rows, strata: np.ndarray, few: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the distinct keys and their weights by stratum; None if too many."""
    distinct, place = np.unique(keys, return_inverse=True)
    if len(distinct) > few:
        return None
    weight = np.zeros((len(distinct), strata.max(initial=0) + 1))
    np.add.at(weight, (place, strata), rows.labelled_weight)
    return distinct, weight


def _hashed(groups: np.ndarray) -> np.ndarray:
    """Return 64 bits of each group."""
    values, place = np.unique(groups, return_inverse=True)
    return quick_digests(values)[place]


def _fold_of_unit(
    keys: np.ndarray, distinct: np.ndarray, fold: np.ndarray
) -> np.ndarray:
    return fold[np.searchsorted(distinct, keys)]


def _fold_of_key(keys: np.ndarray, n_folds: int, salt: int) -> np.ndarray:
    mixed = mixed_bits(keys + np.array([salt], dtype=np.uint64) * GOLDEN)
    return (mixed % np.uint64(n_folds)).astype(int)


def shuffle_generators(
    n_repeats: int, random_state: Any
) -> list[np.random.RandomState | None]:
    """Return a generator per repetition; None is the order of the keys."""
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
        Splits of the labelled rows in the order given to ``fit``.
    counted : ndarray of bool
        Mask of the labelled rows of positive weight.
    codes, groups : ndarray of int
        Classes and groups of these rows; ``groups`` may be None.
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
    """Return a 64-bit hash per row of the horizontally stacked blocks.

    Dense and sparse blocks and data frames of the same values have the same digests:
    a digest is the sum of the hashes of the nonzero cells.
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
    values[np.isnan(values)] = np.nan  # one bit pattern for all NaN
    place = np.asarray(columns, dtype=np.uint64) + np.ones(1, dtype=np.uint64)
    bits = mixed_bits(values.view(np.uint64) + place * GOLDEN)
    return np.where(values == 0, np.uint64(0), bits)
