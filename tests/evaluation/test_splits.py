"""Splits of a comparison: training rows, test rows, and splits that are impossible."""

import re
from itertools import combinations

import numpy as np
import pytest
from sklearn.model_selection import ShuffleSplit

from lupi.evaluation import Method, compare
from lupi.report import render_html
from tests.comparisons import FirstColumn, FirstNumber

N = 100
rng = np.random.default_rng(0)
X, P = rng.normal(size=(2, N, 2))
CLASSES = np.repeat([0, 1], [60, 40])
NUMBERS = rng.normal(size=N)
GROUPS = np.arange(N) // 4


def compared(y=CLASSES, **options):
    model = FirstNumber() if y.dtype == float else FirstColumn()
    return compare(X, y, P, **{"n_candidates": 1, "methods": model} | options)


def splits(y=CLASSES, **options):
    return compared(y, **options).study.splits


@pytest.mark.parametrize("y", [CLASSES, NUMBERS], ids=["classes", "numbers"])
@pytest.mark.parametrize("groups", [GROUPS, None], ids=["groups", "rows"])
@pytest.mark.parametrize("train_size", [None, 0.2])
def test_training_and_test_rows_are_disjoint(y, groups, train_size):
    for train, test, _ in splits(y, groups=groups, train_size=train_size, cv=3):
        assert not np.intersect1d(train, test).size
        if groups is not None:
            assert not np.intersect1d(groups[train], groups[test]).size


def test_folds_are_repeated_twice_and_cover_every_row():
    found = splits(cv=4)
    assert len(found) == 8
    for repeat in (found[:4], found[4:]):
        tested = np.concatenate([split.test for split in repeat])
        np.testing.assert_array_equal(np.sort(tested), np.arange(N))


@pytest.mark.parametrize("y", [CLASSES, NUMBERS], ids=["classes", "numbers"])
def test_group_folds_differ_between_repeats(y):
    found = splits(y, groups=GROUPS, cv=2)
    assert not np.array_equal(found[0].test, found[2].test)


@pytest.mark.parametrize("y", [CLASSES, NUMBERS], ids=["classes", "numbers"])
def test_no_fold_of_groups_is_counted_twice(y):
    """The folds of scikit-learn follow the sizes of the groups: each repeat is one."""
    sizes = [30, 20, 14, 11, 8, 7, 5, 3, 2]
    groups = np.random.default_rng(1).permutation(np.repeat(np.arange(9), sizes))
    found = [split.test.tolist() for split in splits(y, groups=groups, cv=3)]
    assert len({tuple(test) for test in found}) == len(found) > 3
    # One group for each fold: a repetition has the same folds.
    groups = np.random.default_rng(1).permutation(N) % 3
    result = compared(y, groups=groups, cv=3)
    assert len(result.study.splits) == result.settings["splits"]["n_splits"] == 3
    tested = np.concatenate([split.test for split in result.study.splits])
    np.testing.assert_array_equal(np.sort(tested), np.arange(N))
    assert "3 random splits (3 folds), " in render_html(result)


def test_folds_of_groups_have_every_class():
    # Three groups have a row of the rare class; the others differ in size.
    groups = np.repeat(np.arange(12), [4, 12] * 6 + [4] * 0)[:N]
    groups = np.r_[groups, np.zeros(N - len(groups), int)]
    y = np.zeros(N, int)
    y[[0, 16, 32]] = 1
    y[[1, 17, 33]] = 1
    for train, test, _ in splits(y, groups=groups, cv=3):
        assert y[test].sum() == 2
        assert y[train].sum() == 4


def test_folds_of_groups_that_lack_a_class_are_refused_before_any_fit():
    groups = np.r_[np.full(3, 3), np.arange(3, N) % 3]
    y = np.where(np.arange(N) % 5 == 3, "ill", "well")
    said = (
        r"^A fold of whole groups has no rows of class ill among its 3 test rows; use"
    )
    with pytest.raises(ValueError, match=rf"{said} cv=3\.$"):
        compared(y, groups=groups, cv=4)
    assert len(splits(y, groups=groups, cv=3)) >= 3


def test_small_training_sets_are_disjoint_while_rows_suffice():
    result = compared(train_size=10, cv=9)
    found = result.study.splits
    assert [len(split.train) for split in found] == [10] * 9
    for one, other in combinations(found, 2):
        assert not np.intersect1d(one.train, other.train).size
    described = result.settings["splits"]
    assert described["kind"] == "small training sets"
    assert (described["n_train"], described["n_test"]) == (10, 90)
    for split in found:
        assert CLASSES[split.train].sum() == pytest.approx(4, abs=1)
        assert len(split.test) == 90


def test_more_splits_than_rows_allow_share_few_rows():
    shares = [
        len(np.intersect1d(one.train, other.train)) / 30
        for one, other in combinations(splits(train_size=30, cv=12), 2)
    ]
    assert 0 < np.mean(shares) < 0.4
    assert min(shares) == 0


def test_small_training_sets_of_whole_groups():
    for split in splits(groups=GROUPS, train_size=10, cv=5):
        assert len(split.train) == 12
        assert len(np.unique(GROUPS[split.train])) == 3


def test_groups_of_test_rows_have_every_class():
    for ones, number in ((40, 10), (6, 6)):
        y = np.arange(100) < ones
        groups = compared(y, cv=2).study.group_of_row
        assert len(np.unique(groups)) == number
        for group in np.unique(groups):
            assert y[groups == group].sum() == pytest.approx(ones / number, abs=1)
            assert y[groups == group].any()


@pytest.mark.parametrize("y", [CLASSES, NUMBERS], ids=["classes", "numbers"])
def test_groups_of_test_rows_consist_of_whole_groups(y):
    found = compared(y, groups=GROUPS, cv=2).study.group_of_row
    assert len(np.unique(found)) > 5
    for group in np.unique(GROUPS):
        assert len(np.unique(found[group == GROUPS])) == 1


def test_splitters_lists_and_masks_give_the_same_splits():
    given = splits(cv=ShuffleSplit(3, train_size=0.3, random_state=0))
    pairs = [(split.train, split.test) for split in given]
    masks = [[np.isin(np.arange(N), part) for part in pair] for pair in pairs]
    for again in (splits(cv=pairs), splits(cv=masks)):
        for one, other in zip(given, again, strict=True):
            np.testing.assert_array_equal(np.sort(one.train), np.sort(other.train))
            np.testing.assert_array_equal(np.sort(one.test), np.sort(other.test))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cv": 1}, "at least 2 folds"),
        ({"cv": object()}, "give a number of folds"),
        ({"cv": [(np.arange(50), np.arange(N))]}, "overlap"),
        ({"cv": ShuffleSplit(3), "train_size": 10}, "cannot be combined"),
        ({"train_size": 1.5}, "between 0 and 1"),
        ({"train_size": 99}, "leaves at least 2"),
        ({"train_size": 4}, "fewer than 2 rows"),
        ({"groups": np.arange(N) // 50}, "2 groups and 5 folds"),
        ({"groups": np.arange(N) // 50, "train_size": 10}, "at least 3"),
        ({"groups": GROUPS, "train_size": 97}, "whole groups"),
        ({"y": np.repeat(["a", "rare"], [97, 3])}, "Class rare has 3"),
    ],
)
def test_impossible_splits_are_refused_in_words(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        compared(**options)


@pytest.mark.parametrize("size", ["train_size", "labelled"])
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["rows", "groups"])
def test_the_size_that_has_enough_rows_of_every_class_is_named(size, groups):
    y = np.where(np.arange(N) % 10 == 3, "rare", "usual")
    with pytest.raises(ValueError, match="class rare with fewer than 2") as error:
        compared(y, groups=groups, **{size: 10})
    (number,) = re.findall(rf"use {size}=(\d+)\.", str(error.value))
    result = compared(y, groups=groups, **{size: int(number)})
    assert result.settings["splits"]["rarest"][1] >= 2
    # Three rows are too few for any size, and two classes are needed.
    with pytest.raises(ValueError, match="2 rows; collect more of them"):
        compared(np.where(np.arange(N) < 3, "rare", "usual"), **{size: 10})
    other = np.where(np.arange(N) % 2, "usual", "other")
    with pytest.raises(ValueError, match="2 rows; leave class rare out"):
        compared(np.where(np.arange(N) < 3, "rare", other), **{size: 10})
    # All classes that are too small are named at once.
    y = np.where(np.arange(N) < 3, "rare", np.where(np.arange(N) > N - 4, "few", "-"))
    with pytest.raises(ValueError, match="classes few and rare with fewer"):
        compared(y, **{size: 10})


def test_inner_folds_make_do_with_few_rows_of_a_class():
    y = np.r_[np.zeros(88, int), np.ones(12, int)]
    FirstColumn.seen.clear()
    method = Method("A", "classification", FirstColumn(), {"alpha": [1.0, 2.0]})
    options = {"train_size": 20, "cv": 2, "n_candidates": 2, "inner_cv": 5}
    compared(y, methods=method, **options)
    # Two or three rows of the rare class in 20 rows: as many inner folds.
    sizes = {len(labels) for _, labels, _, _ in FirstColumn.seen}
    assert sizes <= {10, 13, 14, 20}
    assert all(np.sum(labels == 1) >= 1 for _, labels, _, _ in FirstColumn.seen)


def test_whole_groups_have_inner_folds_where_there_is_a_search_and_only_there():
    # Groups of 10 rows have one of the rare class, and groups of 60 have 18.
    groups = np.r_[np.arange(200) // 10, 20 + np.arange(600) // 60]
    y = (np.arange(800) % 10 < np.where(groups < 20, 1, 3)).astype(int)
    data = np.random.default_rng(0).normal(size=(800, 1))
    space = {"strength": [1.0, 10.0]}
    searched = Method("searched", "classification", FirstColumn(), space)
    sizes = []
    for method in (FirstColumn(), searched):
        common = {"methods": method, "groups": groups, "cv": 8, "n_candidates": 2}
        with pytest.raises(ValueError, match="class 1 with fewer than 2") as error:
            compare(data, y, data, train_size=10, **common)
        # A quarter of the rows are of that class: it need not be left out.
        (number,) = re.findall(r"2 rows; use train_size=(\d+)\.", str(error.value))
        result = compare(data, y, data, train_size=int(number), **common)
        train = [len(np.unique(groups[one.train])) for one in result.study.splits]
        sizes.append(min(train))
    assert sizes[0] == 1 < sizes[1]


@pytest.mark.parametrize("kind", ["time", "groups"])
def test_classes_to_leave_out_are_named_all_at_once(kind):
    """Without the classes that one split lacks, another one lacks a class."""
    y = np.tile(["a", "b", "c"], 40).astype(object)
    early, late = (5, 15, 25), (60, 80, 100)
    y[list(early)], y[list(late)] = "early", "late"
    # Of two rows of "early", none is in a training set, or none in a test set.
    options = {"time": np.arange(120)} if kind == "time" else {"groups": y == "late"}
    if kind == "groups":
        options["groups"] = np.where(np.isin(y, ["early", "late"]), y, np.arange(120))
    options |= {"methods": FirstColumn(), "cv": 3, "progress": False, "n_candidates": 1}
    X = np.random.default_rng(0).normal(size=(120, 2))
    with pytest.raises(
        ValueError, match=r"leave classes (early and late|late and early) out"
    ):
        compare(X, y, X, **options)
    kept = ~np.isin(y, ["early", "late"])
    compare(X, np.where(kept, y, None), X, **options)
