"""Splits of tables in which y is not known for every row.

A row without y is a training row of the methods that can use it, and never a test row.
Rows without y whose group has test rows are left out of that split.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.model_selection import (
    BaseCrossValidator,
    GroupKFold,
    StratifiedGroupKFold,
    check_cv,
)

from lupi.base import missing_targets, read_target
from lupi.evaluation._splits import (
    NO_ROWS,
    Splits,
    draw_groups,
    evenly_mixed,
    small_blocks,
)
from lupi.evaluation._statistics import Design
from lupi.evaluation._task import read_task


class Split(NamedTuple):
    """Training rows with y, test rows, and training rows without y."""

    train: np.ndarray
    test: np.ndarray
    unlabelled: np.ndarray = NO_ROWS


def describe(splits: Sequence[Split], *, few: bool = False) -> Design:
    """Return the mean sizes of the splits, and their kind.

    ``few`` is for splits with few labels, which have common test rows whatever their
    sizes.
    """
    n_train = float(np.mean([len(split.train) for split in splits]))
    n_test = float(np.mean([len(split.test) for split in splits]))
    if few:
        return Design(n_train, n_test, "few labels")
    if n_train < n_test:
        return Design(n_train, n_test, "small training sets")
    return Design(n_train, n_test, "folds")


def add_unlabelled(
    splits: Splits, labelled: np.ndarray, groups: np.ndarray | None
) -> list[Split]:
    """Convert splits of the labelled rows to splits of all rows.

    Parameters
    ----------
    splits : list of (train, test)
        Positions among the labelled rows.
    labelled : ndarray of bool
        Mask of the rows that have y.
    groups : ndarray or None
        Group of each row.
    """
    places, others = np.flatnonzero(labelled), np.flatnonzero(~labelled)
    whole = []
    for train, test in splits:
        train, test = places[train], places[test]
        whole.append(Split(train, test, _elsewhere(others, test, groups)))
    return whole


def _elsewhere(
    rows: np.ndarray, test: np.ndarray, groups: np.ndarray | None
) -> np.ndarray:
    """Return the rows whose group has no test rows."""
    return rows if groups is None else rows[~np.isin(groups[rows], groups[test])]


def few_labels(
    strata: np.ndarray | None,
    groups: np.ndarray | None,
    labelled: np.ndarray,
    n_labels: int,
    n_unlabelled: int,
    n_splits: int,
    seed: int,
) -> list[Split]:
    """Draw splits with few training rows with y, and others without y.

    Parameters
    ----------
    strata : ndarray or None
        Class of each row; None for regression.
    groups : ndarray or None
        Group of each row; whole groups are drawn.
    labelled : ndarray of bool
        Mask of the rows that have y.
    n_labels : int
        Number of training rows with y, which are disjoint between splits as long as
        there are enough rows.
    n_unlabelled : int
        Maximum number of training rows without y, which are half of the other rows.
    n_splits, seed : int
        Number of splits, and seed.
    """
    places, others = np.flatnonzero(labelled), np.flatnonzero(~labelled)
    if not 2 <= n_labels <= len(places) - 2:
        raise ValueError(
            f"labelled={n_labels} asks for {n_labels} training rows with y of "
            f"{len(places)}; at least 2 must be left to test on."
        )
    own_strata = None if strata is None else strata[places]
    own_groups = None if groups is None else groups[places]
    blocks = small_blocks(
        len(places), own_strata, own_groups, n_labels, n_splits, seed, "labelled"
    )
    splits = []
    for number, block in enumerate(blocks):
        rng = np.random.default_rng([seed, number, n_labels])
        rest = np.setdiff1d(np.arange(len(places)), block)
        most = min(n_unlabelled, len(rest) // 2)
        if own_groups is None:
            part = None if own_strata is None else own_strata[rest]
            hidden = rest[evenly_mixed(len(rest), part, rng)[:most]]
        else:
            hidden = draw_groups(rest, own_groups, most, rng)
        test = places[np.setdiff1d(rest, hidden)]
        without_y = np.r_[places[np.sort(hidden)], _elsewhere(others, test, groups)]
        splits.append(Split(places[block], test, without_y))
    return splits


class LabelledSplits(BaseCrossValidator):
    """Folds of the rows that have y; rows without y are training rows in every fold.

    It is a splitter for scikit-learn's searches, ``cross_validate`` and
    ``learning_curve``. Rows without y come first in every training set, so that the
    training sets of a learning curve differ in the number of rows with y; a model
    cannot be fitted at a training size without any of these. Scorers of scikit-learn
    accept numbers with NaN and text with None as y, not other objects; the training
    scores of ``learning_curve`` are NaN.

    Parameters
    ----------
    cv : int or splitter, default=5
        Folds of the rows that have y.
    stratify : {"auto", True, False}, default="auto"
        Whether an integer ``cv`` gives stratified folds; "auto" is True for classes and
        False for numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.evaluation import LabelledSplits
    >>> y = np.array([0, 1, None, 0, 1, None], dtype=object)
    >>> for train, test in LabelledSplits(2).split(np.zeros((6, 1)), y):
    ...     print(train, test)
    [2 5 3 4] [0 1]
    [2 5 0 1] [3 4]
    """

    def __init__(self, cv: Any = 5, stratify: Literal["auto"] | bool = "auto") -> None:
        self.cv = cv
        self.stratify = stratify

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X, y, groups : array-like, default=None
            Passed on to the splitter.

        Returns
        -------
        int
            The number.
        """
        if isinstance(self.cv, int | np.integer):
            return int(self.cv)
        return sum(1 for _ in self.split(X, y, groups))

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield training and test rows.

        Parameters
        ----------
        X : array-like of n_samples rows
            The features; only their number of rows is used.
        y : array-like of shape (n_samples,)
            Labels or targets, missing in some rows.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group are never in the training and the test set of one split.

        Yields
        ------
        train, test : ndarray of int
            Training rows, those without y first, and test rows.
        """
        if y is None:
            raise ValueError(
                "LabelledSplits was given no y, by which it finds the labelled rows. "
                "Pass y to split."
            )
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        labelled = ~missing_targets(y)
        known = np.flatnonzero(labelled)
        target = read_target(y, n_rows, "LabelledSplits", numeric=False, missing=True)
        values = target.values[known]
        stratify = self.stratify
        if stratify == "auto":
            stratify = read_task(values) == "classification"
        names = None if groups is None else np.asarray(groups)
        splitter = check_cv(self.cv, values, classifier=bool(stratify))
        if names is not None and isinstance(self.cv, int | np.integer):
            kind = StratifiedGroupKFold if stratify else GroupKFold
            splitter = kind(int(self.cv))
        inner = splitter.split(
            np.zeros((len(known), 1)), values, None if names is None else names[known]
        )
        for train, test, unlabelled in add_unlabelled(list(inner), labelled, names):
            yield np.r_[unlabelled, train], test
