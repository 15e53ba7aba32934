"""Splits into training and test rows: folds, small training sets, few labels, time.

A row without y is a training row of the methods that can use it, and never a test row.
Rows without y whose group has test rows are left out of that split.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import combinations, pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.model_selection import (
    BaseCrossValidator,
    GroupKFold,
    KFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)

from lupi._words import argument, classes_left_out, listed
from lupi.base import missing_targets, read_target
from lupi.base._rows import n_rows_of
from lupi.evaluation._methods import advice_on_task, read_task
from lupi.evaluation._statistics import Design, Kind

Pairs = list[tuple[np.ndarray, np.ndarray]]

DEFAULT_FOLDS = 5
DEFAULT_REPEATS = 2
DEFAULT_SMALL_SPLITS = 20
DEFAULT_WINDOWS = 5
# Draws of groups, of which the one with the most even folds is taken.
GROUP_DRAWS = 100
# Largest share of the rows that one window tests: a single holdout tests as many.
LARGEST_WINDOW = 0.25
NO_ROWS = np.array([], dtype=int)
MOST_GROUPS = 10
# Rows in a block of consecutive rows, which are alike, at least.
FEWEST_IN_BLOCK = 5


class Split(NamedTuple):
    """Training rows with y, test rows, and training rows without y."""

    train: np.ndarray
    test: np.ndarray
    unlabelled: np.ndarray = NO_ROWS


class Rows(NamedTuple):
    """Some rows: their number, and the class and the group of each, if there are any.

    Regression has no classes.
    """

    number: int
    strata: np.ndarray | None
    groups: np.ndarray | None

    def take(self, rows: np.ndarray) -> Rows:
        """Return some of the rows, from a mask or their positions."""
        number = len(np.arange(self.number)[rows])
        return Rows(number, of_rows(self.strata, rows), of_rows(self.groups, rows))

    def mixed(self, rng: np.random.Generator) -> np.ndarray:
        """Return a random order of the rows in which the classes alternate evenly."""
        if self.strata is None:
            return rng.permutation(self.number)
        position = np.empty(self.number)
        for label in np.unique(self.strata):
            rows = rng.permutation(np.flatnonzero(self.strata == label))
            position[rows] = (np.arange(len(rows)) + rng.random()) / len(rows)
        return np.argsort(position, kind="stable")

    @property
    def n_groups(self) -> int:
        """The number of groups; 0 if the rows have none."""
        return 0 if self.groups is None else len(np.unique(self.groups))

    def of_one_group(self, sets: Iterable[np.ndarray]) -> bool:
        """Return whether there are groups, and one of some sets of rows has only one.

        Its rows have no inner folds.
        """
        return 1 in (self.take(rows).n_groups for rows in sets)

    def n_jackknife(self, fewest: int = 1) -> int:
        """Return the number of parts for the jackknife, each with so many rows.

        There are no more parts than rows of the rarest class.
        """
        smallest = self.number // fewest
        if self.strata is not None:
            rarest = np.unique(self.strata, return_counts=True)[1].min()
            smallest = min(smallest, rarest)
        return int(np.clip(smallest, 2, MOST_GROUPS))


def describe_splits(splits: Sequence[Split], kind: Kind | None = None) -> Design:
    """Return the mean sizes of the splits, and their kind.

    Splits with few labels have common test rows whatever their sizes, and those by time
    have none.
    """
    n_train = float(np.mean([len(split.train) for split in splits]))
    n_test = float(np.mean([len(split.test) for split in splits]))
    if kind not in ("few labels", "time"):
        kind = "small training sets" if n_train < n_test else "folds"
    n_tested = len(np.unique(np.concatenate([split.test for split in splits])))
    overlap, shared = 1.0, 0.0
    if kind == "time" and len(splits) > 1:
        overlap = float(np.mean(_in_common([split.train for split in splits])))
    elif kind == "few labels" and len(splits) > 1:
        both = [np.r_[split.train, split.unlabelled] for split in splits]
        known = _in_common([split.train for split in splits])
        shared = float(np.mean(known * _in_common(both)))
    return Design(
        n_train, n_test, kind, n_tested=n_tested, overlap=overlap, shared=shared
    )


def _in_common(sets: list[np.ndarray]) -> np.ndarray:
    """Return the share of rows that two sets have in common, of the smaller one."""
    return np.array(
        [
            len(np.intersect1d(one, other)) / min(len(one), len(other))
            for one, other in combinations(sets, 2)
        ]
    )


def outer_splits(
    rows: Rows,
    has_y: np.ndarray,
    cv: Any,
    train_size: int | float | None,
    seed: int,
    *,
    searched: bool,
) -> list[Split]:
    """Return folds, small training sets or given splits of the rows that have y.

    ``cv`` and ``train_size`` are the arguments of `compare`; training sets that are
    ``searched`` need inner folds.
    """
    own = rows.take(has_y)
    if cv is not None and not isinstance(cv, int | np.integer):
        if train_size is not None:
            raise ValueError(
                "train_size cannot be combined with given splits; give cv as the "
                "number of splits, or leave train_size out."
            )
        pairs = _given_splits(cv, own)
    elif train_size is not None:
        n_splits = DEFAULT_SMALL_SPLITS if cv is None else int(cv)
        n_train = _size(train_size, own.number)
        blocks = _small_blocks(
            own, n_train, n_splits, seed, "train_size", searched=searched
        )
        pairs = [(each, np.setdiff1d(np.arange(own.number), each)) for each in blocks]
    else:
        pairs = _folds(own, DEFAULT_FOLDS if cv is None else int(cv), seed)
    return _with_unlabelled(pairs, has_y, rows.groups)


def of_rows(column: np.ndarray | None, rows: np.ndarray) -> np.ndarray | None:
    """Return the values of some rows; None for a column that is None."""
    return None if column is None else column[rows]


def _with_unlabelled(
    pairs: Pairs, has_y: np.ndarray, groups: np.ndarray | None
) -> list[Split]:
    """Convert splits of the rows with y to splits of all rows."""
    known, unknown = np.flatnonzero(has_y), np.flatnonzero(~has_y)
    return [
        Split(known[train], known[test], _elsewhere(unknown, known[test], groups))
        for train, test in pairs
    ]


def _elsewhere(
    rows: np.ndarray, test: np.ndarray, groups: np.ndarray | None
) -> np.ndarray:
    """Return the rows whose group has no test rows."""
    return rows if groups is None else rows[~np.isin(groups[rows], groups[test])]


def _size(train_size: int | float, n_rows: int) -> int:
    if isinstance(train_size, float | np.floating) and not 0 < train_size < 1:
        raise ValueError(
            f"train_size={train_size}: give a share between 0 and 1, or a number of "
            "rows as an integer."
        )
    rows = _number(train_size, n_rows)
    if not 2 <= rows <= n_rows - 2:
        raise ValueError(
            f"{argument('train_size', train_size)} gives {rows} training rows of "
            f"{n_rows}; give a size that leaves at least 2 training and 2 test rows."
        )
    return rows


def _number(size: int | float, n_rows: int) -> int:
    """Return a number of rows, which can be given as a share."""
    share = isinstance(size, float | np.floating)
    return round(size * n_rows) if share else int(size)


def _given_splits(cv: Any, rows: Rows) -> Pairs:
    if hasattr(cv, "split"):
        target = np.zeros(rows.number) if rows.strata is None else rows.strata
        cv = cv.split(np.zeros((rows.number, 1)), target, rows.groups)
    elif not isinstance(cv, Iterable):
        raise TypeError(
            f"cv={cv!r}: give a number of folds, a splitter with a split method, or a "
            "list of (train, test) rows."
        )
    pairs = []
    for train, test in cv:
        train, test = np.asarray(train), np.asarray(test)
        if train.dtype == bool:
            train, test = np.flatnonzero(train), np.flatnonzero(test)
        if np.intersect1d(train, test).size:
            raise ValueError(
                "cv has a split whose training and test rows overlap. Give disjoint "
                "rows."
            )
        pairs.append((train, test))
    return pairs


def _folds(rows: Rows, n_folds: int, seed: int, *, advise: bool = True) -> Pairs:
    """Return stratified folds, repeated twice, with groups kept together."""
    if n_folds < 2:
        raise ValueError(f"{argument('cv', n_folds)}: give at least 2 folds.")
    (number, strata, groups) = rows
    table = np.zeros((number, 1))
    if groups is None:
        if strata is not None:
            check_class_sizes(strata, n_folds)
        kind = RepeatedKFold if strata is None else RepeatedStratifiedKFold
        splitter = kind(n_splits=n_folds, n_repeats=DEFAULT_REPEATS, random_state=seed)
        return list(splitter.split(table, strata))
    if rows.n_groups < n_folds:
        raise ValueError(
            f"There are {rows.n_groups} groups and {n_folds} folds; every fold needs "
            f"at least one group. Use {argument('cv', rows.n_groups)} or fewer."
        )
    rng = np.random.default_rng(seed)
    pairs: Pairs = []
    for _ in range(DEFAULT_REPEATS):
        drawn = _group_folds(rows, n_folds, rng)
        # Few groups give equal folds now and then: a copy is no other observation.
        seen = {test.tobytes() for _, test in pairs}
        pairs += [pair for pair in drawn if pair[1].tobytes() not in seen]
    if strata is not None:

        def draw(number: int, rare: Sequence[Any] = ()) -> object:
            kept = rows.take(~np.isin(strata, rare))
            return _folds(kept, number, seed, advise=False)

        fewer = range(n_folds, 1, -1) if advise else ()
        names = np.unique(strata)
        _check_classes(pairs, strata, names, "A fold of whole groups", draw, fewer)
    return pairs


def _group_folds(rows: Rows, n_folds: int, rng: np.random.Generator) -> Pairs:
    """Divide the groups at random, as many into every fold.

    Of several draws, the one whose folds are most alike in size and classes is taken.
    The folds of scikit-learn are those of the sizes of the groups: a repetition would
    be a copy.
    """
    assert rows.groups is not None
    names, group = np.unique(rows.groups, return_inverse=True)
    strata = np.zeros(rows.number) if rows.strata is None else rows.strata
    classes, label = np.unique(strata, return_inverse=True)
    counts = np.zeros((len(names), len(classes)))
    np.add.at(counts, (group, label), 1)
    share = counts / counts.sum(axis=0)

    def unevenness(fold: np.ndarray) -> float:
        parts = np.array(
            [share[fold == number].sum(axis=0) for number in range(n_folds)]
        )
        return float((parts**2).sum() + 1e6 * (parts == 0).sum())

    draws = [rng.permutation(len(names)) % n_folds for _ in range(GROUP_DRAWS)]
    fold = min(draws, key=unevenness)[group]
    return [
        (np.flatnonzero(fold != number), np.flatnonzero(fold == number))
        for number in range(n_folds)
    ]


def check_class_sizes(strata: np.ndarray, n_folds: int) -> None:
    """Raise an error for classes with fewer rows than folds."""
    classes, counts = np.unique(strata, return_counts=True)
    few = counts < n_folds
    if few.any():
        rare, have = classes[few], "have" if few.sum() > 1 else "has"
        rows = "rows" if counts[few].max() > 1 else "row"
        ways = ["use fewer folds"] * bool(counts.min() > 1)
        ways += [classes_left_out(rare.tolist())] * bool((~few).sum() > 1)
        how = ", or ".join(ways or ["give at least two rows of every class"])
        raise ValueError(
            f"C{_classes(rare)[1:]} {have} {listed(np.unique(counts[few]), 'or')} "
            f"{rows}, fewer than the {n_folds} folds. {how[0].upper()}{how[1:]}"
            f"{advice_on_task(classes)}."
        )


def _classes(rare: Sequence[Any] | np.ndarray) -> str:
    return f"class{'es' * (len(rare) > 1)} {listed(rare, most=9)}"


def _small_blocks(
    rows: Rows, n_train: int, n_splits: int, seed: int, size: str, *, searched: bool
) -> list[np.ndarray]:
    """Draw stratified small sets of rows, disjoint as long as there are enough rows.

    With groups, whole groups are drawn until the set has ``n_train`` rows or more.
    ``size`` is the argument that error messages refer to.
    """
    if rows.groups is not None and rows.n_groups < 3:
        raise ValueError(
            f"There are {rows.n_groups} groups; small training sets need at least 3, "
            "because whole groups are drawn."
        )
    drawn = _draw_blocks(rows, n_train, n_splits, seed)
    if not drawn:
        raise ValueError(
            f"No draw of whole groups gives {n_train} training rows and leaves test "
            f"rows; use a smaller {argument(size)}."
        )
    if rare := _rare_classes(drawn, rows.strata):
        ways: list[str] = []
        larger = n_train
        while not ways and (larger := math.ceil(1.2 * larger)) <= rows.number / 2:
            more = _draw_blocks(rows, larger, n_splits, seed)
            too_few = not more or _rare_classes(more, rows.strata)
            if not (too_few or (searched and rows.of_one_group(more))):
                ways.append(f"use {argument(size, larger)}")
        # A frequent class is missing because its groups were not drawn.
        shares = [np.mean(rows.strata == label) for label in rare]
        assert rows.strata is not None
        several = len(np.unique(rows.strata)) - len(rare) > 1
        if several and (not ways or n_train * max(shares) < 2):
            ways.append(classes_left_out(rare))
        ways = ways or ["collect more of them"]
        raise ValueError(
            f"A training set of {n_train} rows leaves {_classes(rare)} with fewer than "
            f"2 rows; {', or '.join(ways)}{advice_on_task(rows.strata)}."
        )
    return drawn


def _rare_classes(drawn: list[np.ndarray], strata: np.ndarray | None) -> list[Any]:
    """Return the classes that have fewer than two rows in some set."""
    if strata is None:
        return []
    classes, codes = np.unique(strata, return_inverse=True)
    counts = [np.bincount(codes[rows], minlength=len(classes)) for rows in drawn]
    return list(classes[np.min(counts, axis=0) < 2])


def _draw_blocks(
    rows: Rows, n_train: int, n_splits: int, seed: int
) -> list[np.ndarray]:
    """Draw sets of rows; none if no draw of whole groups leaves test rows."""
    drawn: list[np.ndarray] = []
    rng = np.random.default_rng(seed)
    while len(drawn) < n_splits:
        if rows.groups is None:
            order = rows.mixed(rng)
            ends = range(n_train, rows.number - 1, n_train)
            blocks = [order[end - n_train : end] for end in ends]
        else:
            blocks = _group_blocks(rows.groups, n_train, rng)
        if not blocks:
            return []
        drawn += [np.sort(block) for block in blocks[: n_splits - len(drawn)]]
    return drawn


def _group_blocks(
    groups: np.ndarray, n_train: int, rng: np.random.Generator
) -> list[np.ndarray]:
    codes = np.unique(groups, return_inverse=True)[1]
    rows_of = np.split(np.argsort(codes, kind="stable"), np.bincount(codes).cumsum())
    blocks: list[np.ndarray] = []
    current: list[np.ndarray] = []
    count = 0
    for code in rng.permutation(codes.max() + 1):
        current.append(rows_of[code])
        count += len(rows_of[code])
        if count >= n_train:
            # A draw of all rows leaves no test rows.
            if count < len(groups):
                blocks.append(np.concatenate(current))
            current, count = [], 0
    return blocks


def few_labels(
    rows: Rows,
    has_y: np.ndarray,
    n_labels: int,
    n_unlabelled: int,
    n_splits: int,
    seed: int,
    *,
    searched: bool,
) -> list[Split]:
    """Draw splits with few training rows with y, and others whose y is hidden.

    The training rows with y are disjoint between splits as long as there are enough
    rows; half of the other rows, at most ``n_unlabelled``, train without y. With
    groups, whole groups are drawn.
    """
    known, unknown = np.flatnonzero(has_y), np.flatnonzero(~has_y)
    if not 2 <= n_labels <= len(known) - 2:
        raise ValueError(
            f"{argument('labelled', n_labels)} asks for {n_labels} training rows with "
            f"y of {len(known)}; at least 2 must be left to test on."
        )
    own, splits = rows.take(has_y), []
    blocks = _small_blocks(own, n_labels, n_splits, seed, "labelled", searched=searched)
    for number, block in enumerate(blocks):
        rng = np.random.default_rng([seed, number, n_labels])
        rest = np.setdiff1d(np.arange(len(known)), block)
        most = min(n_unlabelled, len(rest) // 2)
        if own.groups is None:
            hidden = rest[own.take(rest).mixed(rng)[:most]]
        else:
            hidden = NO_ROWS
            for name in rng.permutation(np.unique(own.groups[rest])):
                more = rest[own.groups[rest] == name]
                if len(hidden) + len(more) <= most:
                    hidden = np.r_[hidden, more]
        test = known[np.setdiff1d(rest, hidden)]
        others = _elsewhere(unknown, test, rows.groups)
        splits.append(Split(known[block], test, np.r_[known[np.sort(hidden)], others]))
    return splits


def time_splits(
    time: np.ndarray,
    known_at: np.ndarray | None,
    rows: Rows,
    has_y: np.ndarray,
    n_windows: int,
    *,
    train_size: int | float | None = None,
    labelled: int | None = None,
    unlabelled: int = 1000,
    advise: bool = True,
) -> list[Split]:
    """Return expanding windows: training rows are earlier than the test rows.

    Rows whose outcome is known at or after the first test row (``known_at``) are
    training rows without y. ``train_size`` keeps the latest rows with y, and
    ``labelled`` the latest ones before the rows whose y is hidden: the later half, at
    most ``unlabelled``, so that windows differ in their training rows with y. Training
    rows of a group that is tested are left out, and windows with too few rows.
    """
    _, strata, groups = rows
    known = np.flatnonzero(has_y)
    # Where equal times are divided, by a number of rows, the order of the file is not
    # used, which may be that of a column.
    by_chance = np.random.default_rng(0).permutation(len(time))
    if train_size is not None:
        _size(train_size, len(known))
    splits, n_known = [], 0
    for test in tests_by_time(time, known, n_windows):
        start = time[test].min()
        past = _elsewhere(np.flatnonzero(time < start), test, groups)
        past = past[np.lexsort((by_chance[past], time[past]))]
        seen = has_y[past]
        if known_at is not None:
            seen &= known_at[past] < start
        train, hidden = past[seen], past[~seen]
        n_known = max(n_known, len(train))
        size = labelled if train_size is None else _number(train_size, len(train))
        if labelled is not None:
            most = min(unlabelled, len(train) // 2, len(train) - labelled)
            train, more = np.split(train, [len(train) - max(0, most)])
            hidden = np.r_[more, hidden]
        if size is not None:
            train = train[max(0, len(train) - size) :]
        n_groups = 2 if groups is None else len(np.unique(groups[train]))
        enough = len(train) >= max(2, size or 0) and len(test) > 1
        if enough and n_groups > 1:
            splits.append(Split(np.sort(train), test, np.sort(hidden)))

    def draw(number: int, rare: Sequence[Any] = ()) -> object:
        known = has_y if strata is None else has_y & ~np.isin(strata, rare)
        sizes = {"train_size": train_size, "labelled": labelled}
        more: dict[str, Any] = sizes | {"unlabelled": unlabelled, "advise": False}
        return time_splits(time, known_at, rows, known, number, **more)

    numbers = range(n_windows, 0, -1) if advise else ()
    if not splits:
        hint = f" At most {n_known:,} earlier rows have y"
        if known_at is not None:
            hint += f", by {argument('outcome_time')}, when the test rows begin"
        if groups is not None:
            hint += (
                ", and a group that is not tested: where groups last from the first "
                f"row to the last, leave {argument('groups')} out"
            )
        raise ValueError(
            "No split by time leaves enough training rows with y before its test rows"
            f"{''.join(f'; {way}' for way in _that_can_be_drawn(draw, numbers[1:]))}."
            f"{hint}."
        )
    if strata is not None:
        others = [f"leave {argument('outcome_time')} out"] * (known_at is not None)
        names = np.unique(strata[has_y])
        _check_classes(splits, strata, names, "A split by time", draw, numbers, others)
    return splits


def with_all_earlier(
    splits: Sequence[Split], time: np.ndarray, rows: Rows, has_y: np.ndarray
) -> list[Split]:
    """Return the windows with all earlier rows, and every y, whenever it was known."""
    found = []
    for _, test, _ in splits:
        past = np.flatnonzero(time < time[test].min())
        past = _elsewhere(past, test, rows.groups)
        found.append(Split(past[has_y[past]], test, past[~has_y[past]]))
    return found


def tests_by_time(
    time: np.ndarray, rows: np.ndarray, n_windows: int
) -> list[np.ndarray]:
    """Return the rows of each window, which begin at times nearest to equal shares.

    There are as many as asked for, or all times after the first.
    """
    times = time[rows]
    distinct, counts = np.unique(times, return_counts=True)
    earlier = np.cumsum(counts) - counts
    share = min(1 / (n_windows + 1), LARGEST_WINDOW)
    wanted = np.round((1 - share * np.arange(n_windows, 0, -1)) * len(times))
    n_cuts = min(n_windows, len(distinct) - 1)
    cuts: list[int] = []
    for number, share in enumerate(wanted[:n_cuts]):
        first = cuts[-1] + 1 if cuts else 1
        # A time is left for each of the windows that follow.
        choice = earlier[first : len(distinct) - n_cuts + number + 1]
        cuts.append(first + int(np.abs(choice - share).argmin()))
    starts = np.r_[distinct[cuts], np.inf]
    return [rows[(times >= start) & (times < end)] for start, end in pairwise(starts)]


class RareClassesError(ValueError):
    """Some classes have too few rows in some split."""

    def __init__(self, message: str, rare: list[Any]):
        super().__init__(message)
        self.rare = rare


def _check_classes(
    splits: Iterable[Sequence[np.ndarray]],
    strata: np.ndarray,
    classes: np.ndarray,
    what: str,
    draw: Callable[..., object],
    numbers: Sequence[int],
    others: Sequence[str] = (),
) -> None:
    """Raise an error if a class has no test row or fewer than two training rows.

    ``draw`` returns splits of a number, without some classes; of the ``numbers``, the
    first one is that of these splits. What can be drawn is advised; ``others`` are
    further remedies.
    """
    for one in splits:
        for part, name, least in zip(one, ("training", "test"), (2, 1), strict=False):
            counts = np.array([(strata[part] == label).sum() for label in classes])
            rare = classes[counts < least].tolist()
            if not rare:
                continue
            ways = [*_that_can_be_drawn(draw, numbers[1:]), *others]
            left_out = without_classes(draw, numbers[0], rare) if numbers else []
            if left_out and len(classes) - len(left_out) > 1:
                ways.append(classes_left_out(left_out))
            raise RareClassesError(
                f"{what} has {'fewer than 2' if least > 1 else 'no'} rows of "
                f"{_classes(rare)} among its {len(part):,} {name} rows"
                f"{'; ' * bool(ways)}{', or '.join(ways)}{advice_on_task(classes)}.",
                rare,
            )


def without_classes(
    draw: Callable[..., object], number: int, rare: list[Any]
) -> list[Any]:
    """Return the classes without which splits can be drawn; none if there are none."""
    while True:
        try:
            draw(number, rare)
        except RareClassesError as error:
            rare = [*rare, *error.rare]
        except ValueError:
            return []
        else:
            return rare


def _that_can_be_drawn(
    draw: Callable[..., object], numbers: Iterable[int]
) -> list[str]:
    """Return the first of these numbers of splits that can be drawn, as advice."""
    for number in numbers:
        with suppress(ValueError):
            draw(number)
            return [f"use {argument('cv', number)}"]
    return []


def blocks_of_test_rows(
    splits: Sequence[Split], time: np.ndarray, rows: Rows
) -> np.ndarray:
    """Return for each row its block of consecutive test rows; −1 if it is never tested.

    Neighbours in time are alike, so that the jackknife leaves out blocks of them, with
    as many rows of the rarest class. Rows of one of the user's groups are in the same
    block.
    """
    block = np.full(len(time), -1)
    n_blocks = min(rows.take(each.test).n_jackknife(FEWEST_IN_BLOCK) for each in splits)
    for _, test, _ in splits:
        order = test[np.argsort(time[test], kind="stable")]
        counted = np.ones(len(order), dtype=bool)
        if rows.strata is not None:
            classes, numbers = np.unique(rows.strata[order], return_counts=True)
            counted = rows.strata[order] == classes[numbers.argmin()]
        earlier = np.cumsum(counted) - counted
        block[order] = np.minimum(earlier * n_blocks // counted.sum(), n_blocks - 1)
        if rows.groups is not None:
            for name in np.unique(rows.groups[test]):
                own = order[rows.groups[order] == name]
                block[own] = block[own[0]]
    return block


def inner_splits(rows: Rows, n_folds: int, seed: int) -> Pairs:
    """Return the folds of the training rows on which candidates are scored."""
    splitter: Any
    number, strata, groups = rows
    if groups is not None:
        n_folds = max(2, min(n_folds, rows.n_groups))
        splitter = GroupKFold(n_folds)
        if strata is not None:
            splitter = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
    elif strata is not None:
        counts = np.unique(strata, return_counts=True)[1]
        if counts.max() == 1:
            raise ValueError("Every row has another class; give classes of more rows.")
        n_folds = max(2, min(n_folds, counts.min()))
        splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    else:
        n_folds = max(2, min(n_folds, number))
        splitter = KFold(n_folds, shuffle=True, random_state=seed)
    return list(splitter.split(np.zeros((number, 1)), strata, groups))


def groups_of_test_rows(rows: Rows, seed: int) -> np.ndarray:
    """Return a group of each row, for the jackknife variance due to the test rows.

    Rows of one of the user's groups are in the same group.
    """
    n_groups, group = rows.n_jackknife(), np.empty(rows.number, dtype=int)
    if rows.groups is not None:
        for number, (_, own) in enumerate(inner_splits(rows, n_groups, seed)):
            group[own] = number
        return group
    # A separate seed, so that no group coincides with a training set.
    order = rows.mixed(np.random.default_rng([seed, n_groups]))
    group[order] = np.arange(rows.number) * n_groups // rows.number
    return group


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
        has_y = ~missing_targets(y)
        target = read_target(
            y, n_rows_of(X), "LabelledSplits", numeric=False, missing=True
        )
        values = target.values[has_y]
        stratify = self.stratify
        if stratify == "auto":
            stratify = read_task(values) == "classification"
        names = None if groups is None else np.asarray(groups)
        splitter = check_cv(self.cv, values, classifier=bool(stratify))
        if names is not None and isinstance(self.cv, int | np.integer):
            kind = StratifiedGroupKFold if stratify else GroupKFold
            splitter = kind(int(self.cv))
        pairs = splitter.split(
            np.zeros((len(values), 1)), values, of_rows(names, has_y)
        )
        for train, test, unlabelled in _with_unlabelled(list(pairs), has_y, names):
            yield np.r_[unlabelled, train], test
