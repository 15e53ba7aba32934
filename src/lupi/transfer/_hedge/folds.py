"""Folds of the labelled rows: dealt by content, stratified, groups kept together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from lupi.transfer._folds import content_folds


def deal(
    blocks: Iterable[Any],
    strata: np.ndarray,
    n_folds: int,
    *,
    groups: np.ndarray | None,
    random_state: Any,
) -> np.ndarray:
    """Return the fold of each row.

    Parameters
    ----------
    blocks : iterable of tables
        What the rows consist of; equal rows share a fold.
    strata : ndarray of int
        Spread evenly over the folds.
    n_folds : int
        Number of folds, 2 or more.
    groups : ndarray of int or None
        Rows of one group share a fold; a group counts to its most frequent stratum.
    random_state : int, RandomState or None
        None deals in the order of the rows' digests.
    """
    if groups is not None:
        counts = np.zeros((groups.max() + 1, strata.max() + 1))
        np.add.at(counts, (groups, strata), 1.0)
        blocks, strata = [groups], counts.argmax(axis=1)[groups]
    fold = content_folds(blocks, n_folds, strata=strata, random_state=random_state)
    return np.unique(fold, return_inverse=True)[1]
