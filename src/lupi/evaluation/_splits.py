"""Splits into training and test rows: folds, or small training sets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
)
from sklearn.model_selection import KFold as PlainKFold

from lupi.evaluation._task import advice_on_task

Splits = list[tuple[np.ndarray, np.ndarray]]

DEFAULT_FOLDS = 5
DEFAULT_REPEATS = 2
DEFAULT_SMALL_SPLITS = 20
NO_ROWS = np.array([], dtype=int)
MOST_GROUPS = 10
ROWS_OF_A_CLASS_PER_GROUP = 5


def outer_splits(
    n_rows: int,
    strata: np.ndarray | None,
    groups: np.ndarray | None,
    cv: Any,
    train_size: int | float | None,
    seed: int,
) -> Splits:
    """Return the splits on which every arm of the comparison is scored.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    strata : ndarray or None
        Class of each row; None for regression.
    groups : ndarray or None
        Group of each row; a group is never in the training and the test set.
    cv : None, int, splitter or iterable
        Number of folds (repeated twice), or with ``train_size`` the number of splits;
        or a splitter or splits as in scikit-learn.
    train_size : int, float or None
        Size of a small training set, as a number or a share of all rows.
    seed : int
        Seed of the shuffling.
    """
    if cv is not None and not isinstance(cv, int | np.integer):
        if train_size is not None:
            raise ValueError(
                "train_size cannot be combined with given splits; give cv as the "
                "number of splits, or leave train_size out."
            )
        splits = _given_splits(cv, n_rows, strata, groups)
    elif train_size is not None:
        n_train = _size(train_size, n_rows)
        n_splits = DEFAULT_SMALL_SPLITS if cv is None else int(cv)
        splits = small_training_sets(n_rows, strata, groups, n_train, n_splits, seed)
    else:
        splits = _folds(n_rows, strata, groups, None if cv is None else int(cv), seed)
    return splits


def folds_of(cv: Any, train_size: Any, labelled: Any) -> int | None:
    """Return the number of folds, which are repeated twice; None for other splits."""
    if train_size is not None or labelled is not None:
        return None
    if cv is None:
        return DEFAULT_FOLDS
    return int(cv) if isinstance(cv, int | np.integer) else None


def _size(train_size: int | float, n_rows: int) -> int:
    rows = train_size
    if isinstance(train_size, float | np.floating):
        if not 0 < train_size < 1:
            raise ValueError(
                f"train_size={train_size}: give a share between 0 and 1, or a number "
                "of rows as an integer."
            )
        rows = round(train_size * n_rows)
    if not 2 <= rows <= n_rows - 2:
        raise ValueError(
            f"train_size={train_size} gives {rows} training rows of {n_rows}; give a "
            "size that leaves at least 2 training and 2 test rows."
        )
    return int(rows)


def _given_splits(
    cv: Any, n_rows: int, strata: np.ndarray | None, groups: np.ndarray | None
) -> Splits:
    if hasattr(cv, "split"):
        target = np.zeros(n_rows) if strata is None else strata
        cv = cv.split(np.zeros((n_rows, 1)), target, groups)
    elif not isinstance(cv, Iterable):
        raise TypeError(
            f"cv={cv!r}: give a number of folds, a splitter with a split method, or a "
            "list of (train, test) rows."
        )
    splits = []
    for train, test in cv:
        train, test = np.asarray(train), np.asarray(test)
        if train.dtype == bool:
            train, test = np.flatnonzero(train), np.flatnonzero(test)
        if np.intersect1d(train, test).size:
            raise ValueError(
                "cv has a split whose training and test rows overlap. Give disjoint "
                "rows."
            )
        splits.append((train, test))
    return splits


def _folds(
    n_rows: int,
    strata: np.ndarray | None,
    groups: np.ndarray | None,
    cv: int | None,
    seed: int,
) -> Splits:
    n_folds = DEFAULT_FOLDS if cv is None else int(cv)
    if n_folds < 2:
        raise ValueError(f"cv={cv}: give at least 2 folds.")
    rows = np.zeros((n_rows, 1))
    if groups is not None:
        n_groups = len(np.unique(groups))
        if n_groups < n_folds:
            raise ValueError(
                f"There are {n_groups} groups and {n_folds} folds; every fold needs at "
                f"least one group. Use cv={n_groups} or fewer."
            )
        splits: Splits = []
        for repeat in range(DEFAULT_REPEATS):
            if strata is None:
                order = _relabelled(groups, seed + repeat)
                splits += GroupKFold(n_folds).split(rows, groups=order)
            else:
                splitter = StratifiedGroupKFold(
                    n_folds, shuffle=True, random_state=seed + repeat
                )
                splits += splitter.split(rows, strata, groups)
        return splits
    if strata is None:
        splitter = RepeatedKFold(
            n_splits=n_folds, n_repeats=DEFAULT_REPEATS, random_state=seed
        )
        return list(splitter.split(rows))
    check_class_sizes(strata, n_folds)
    splitter = RepeatedStratifiedKFold(
        n_splits=n_folds, n_repeats=DEFAULT_REPEATS, random_state=seed
    )
    return list(splitter.split(rows, strata))


def check_class_sizes(strata: np.ndarray, n_folds: int) -> None:
    """Raise an error for a class with fewer rows than folds."""
    classes, counts = np.unique(strata, return_counts=True)
    rarest = counts.argmin()
    if counts[rarest] < n_folds:
        raise ValueError(
            f"Class {classes[rarest]!s} has {counts[rarest]} row(s), fewer than the "
            f"{n_folds} folds. Use fewer folds, or leave that class out"
            f"{advice_on_task(classes)}."
        )


def check_inner_groups(training: list[np.ndarray], groups: np.ndarray) -> None:
    """Raise an error for training sets of one group, which have no inner folds."""
    fewest = min(len(np.unique(groups[train])) for train in training)
    if fewest < 2:
        raise ValueError(
            "A training set has rows of one group only, so that parameters cannot be "
            "chosen on inner folds that keep groups together; use more folds or larger "
            "training sets, or the default parameters with n_candidates=1."
        )


def _relabelled(groups: np.ndarray, seed: int) -> np.ndarray:
    # GroupKFold assigns groups by size and breaks ties by label; new labels give
    # different repetitions.
    codes = np.unique(groups, return_inverse=True)[1]
    return np.random.default_rng(seed).permutation(codes.max() + 1)[codes]


def small_training_sets(
    n_rows: int,
    strata: np.ndarray | None,
    groups: np.ndarray | None,
    n_train: int,
    n_splits: int,
    seed: int,
) -> Splits:
    """Draw small training sets, disjoint as far as possible; the rest is tested."""
    blocks = small_blocks(n_rows, strata, groups, n_train, n_splits, seed, "train_size")
    everything = np.arange(n_rows)
    return [(train, np.setdiff1d(everything, train)) for train in blocks]


def small_blocks(
    n_rows: int,
    strata: np.ndarray | None,
    groups: np.ndarray | None,
    n_train: int,
    n_splits: int,
    seed: int,
    option: str,
) -> list[np.ndarray]:
    """Draw small sets of rows, disjoint as long as there are enough rows.

    The sets are stratified. With groups, whole groups are drawn until the set has
    ``n_train`` rows or more. ``option`` is the parameter named in error messages.
    """
    drawn: list[np.ndarray] = []
    rng = np.random.default_rng(seed)
    if groups is not None and len(np.unique(groups)) < 3:
        raise ValueError(
            f"There are {len(np.unique(groups))} groups; small training sets need at "
            "least 3, because whole groups are drawn."
        )
    while len(drawn) < n_splits:
        if groups is None:
            order = evenly_mixed(n_rows, strata, rng)
            ends = range(n_train, n_rows - 1, n_train)
            blocks = [order[end - n_train : end] for end in ends]
        else:
            blocks = _group_blocks(groups, n_train, rng)
        drawn += [np.sort(rows) for rows in blocks[: n_splits - len(drawn)]]
    if strata is not None:
        classes = np.unique(strata)
        for rows in drawn:
            counts = np.array([(strata[rows] == label).sum() for label in classes])
            if counts.min() < 2:
                raise ValueError(
                    f"A training set of {n_train} rows leaves class "
                    f"{classes[counts.argmin()]!s} with fewer than 2 rows; use a "
                    f"larger {option}, or leave that class out"
                    f"{advice_on_task(classes)}."
                )
    return drawn


def draw_groups(
    rows: np.ndarray, groups: np.ndarray, most: int, rng: np.random.Generator
) -> np.ndarray:
    """Draw whole groups among some rows, up to a number of rows."""
    drawn = [NO_ROWS]
    for name in rng.permutation(np.unique(groups[rows])):
        more = rows[groups[rows] == name]
        if sum(map(len, drawn)) + len(more) <= most:
            drawn.append(more)
    return np.concatenate(drawn)


def evenly_mixed(
    n_rows: int, strata: np.ndarray | None, rng: np.random.Generator
) -> np.ndarray:
    """Return a random order of the rows in which the classes alternate evenly."""
    if strata is None:
        return rng.permutation(n_rows)
    place = np.empty(n_rows)
    for label in np.unique(strata):
        rows = rng.permutation(np.flatnonzero(strata == label))
        place[rows] = (np.arange(len(rows)) + rng.random()) / len(rows)
    return np.argsort(place, kind="stable")


def _group_blocks(
    groups: np.ndarray, n_train: int, rng: np.random.Generator
) -> list[np.ndarray]:
    blocks: list[np.ndarray] = []
    current: list[np.ndarray] = []
    names = rng.permutation(np.unique(groups))
    for name in names:
        current.append(np.flatnonzero(groups == name))
        rows = np.concatenate(current)
        if len(rows) >= n_train:
            # A draw of all rows leaves no test rows.
            if len(rows) < len(groups):
                blocks.append(rows)
            current = []
    if not blocks:
        raise ValueError(
            f"No draw of whole groups gives {n_train} training rows and leaves test "
            "rows; use a smaller train_size."
        )
    return blocks


def groups_of_test_rows(
    n_rows: int, strata: np.ndarray | None, groups: np.ndarray | None, seed: int
) -> np.ndarray:
    """Return a group of each row, for the jackknife variance due to the test rows.

    Rows of one of the user's groups are in the same group.
    """
    smallest = n_rows // 2
    if strata is not None:
        smallest = np.unique(strata, return_counts=True)[1].min()
    n_groups = int(np.clip(smallest // ROWS_OF_A_CLASS_PER_GROUP, 2, MOST_GROUPS))
    group = np.empty(n_rows, dtype=int)
    if groups is not None:
        for number, (_, rows) in enumerate(
            inner_splits(strata, n_rows, groups, n_groups, seed)
        ):
            group[rows] = number
        return group
    # A separate seed, so that no group coincides with a training set.
    order = evenly_mixed(n_rows, strata, np.random.default_rng([seed, n_groups]))
    group[order] = np.arange(n_rows) * n_groups // n_rows
    return group


def inner_splits(
    strata: np.ndarray | None,
    n_rows: int,
    groups: np.ndarray | None,
    n_folds: int,
    seed: int,
) -> Splits:
    """Return the folds of the training rows on which candidates are scored."""
    rows = np.zeros((n_rows, 1))
    if groups is not None:
        n_folds = max(2, min(n_folds, len(np.unique(groups))))
        if strata is None:
            return list(GroupKFold(n_folds).split(rows, groups=groups))
        splitter = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
        return list(splitter.split(rows, strata, groups))
    if strata is None:
        splitter = PlainKFold(n_folds, shuffle=True, random_state=seed)
        return list(splitter.split(rows))
    rarest = np.unique(strata, return_counts=True)[1].min()
    n_folds = max(2, min(n_folds, rarest))
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    return list(splitter.split(rows, strata))
