"""Splits: who trains, who tests, and what is refused."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.model_selection import ShuffleSplit

from lupi.evaluation._labels import add_unlabelled, describe
from lupi.evaluation._splits import (
    groups_of_test_rows,
    inner_splits,
    outer_splits,
)
from lupi.evaluation._statistics import Design

STRATA = np.repeat([0, 1], [60, 40])
GROUPS = np.arange(100) // 4


def outer(*, n_rows=100, strata=STRATA, groups=None, cv=None, train_size=None):
    return outer_splits(n_rows, strata, groups, cv, train_size, 0)


@pytest.mark.parametrize("strata", [STRATA, None])
@pytest.mark.parametrize("groups", [GROUPS, None])
@pytest.mark.parametrize("train_size", [None, 20, 0.2])
def test_training_and_test_rows_never_meet(strata, groups, train_size):
    for train, test in outer(strata=strata, groups=groups, train_size=train_size):
        assert not np.intersect1d(train, test).size
        if groups is not None:
            assert not np.intersect1d(groups[train], groups[test]).size


def test_folds_are_dealt_twice_and_cover_every_row():
    splits = outer(cv=4)
    assert len(splits) == 8
    for repeat in (splits[:4], splits[4:]):
        tested = np.concatenate([test for _, test in repeat])
        np.testing.assert_array_equal(np.sort(tested), np.arange(100))


def test_group_folds_differ_between_repeats():
    for strata in (STRATA, None):
        splits = outer(strata=strata, groups=GROUPS)
        assert not np.array_equal(splits[0][1], splits[5][1])


def test_small_training_sets_are_disjoint_while_rows_suffice():
    splits = outer(train_size=10, cv=9)
    assert [len(train) for train, _ in splits] == [10] * 9
    for (one, _), (other, _) in combinations(splits, 2):
        assert not np.intersect1d(one, other).size
    whole = add_unlabelled(splits, np.ones(100, dtype=bool), None)
    assert describe(whole) == Design(10, 90, "small training sets")
    for train, test in splits:
        assert STRATA[train].sum() == pytest.approx(4, abs=1)
        assert len(test) == 90


def test_more_splits_than_rows_allow_share_few_rows():
    splits = outer(train_size=30, cv=12)
    shares = [
        len(np.intersect1d(one, other)) / 30
        for (one, _), (other, _) in combinations(splits, 2)
    ]
    assert 0 < np.mean(shares) < 0.4
    assert min(shares) == 0


def test_small_training_sets_of_whole_groups():
    for train, _ in outer(groups=GROUPS, train_size=10, cv=5):
        assert len(train) == 12
        assert len(np.unique(GROUPS[train])) == 3


def test_groups_of_test_rows_hold_every_class():
    groups = groups_of_test_rows(100, STRATA, None, 0)
    assert len(np.unique(groups)) == 8
    for group in np.unique(groups):
        assert STRATA[groups == group].sum() == pytest.approx(5, abs=1)


@pytest.mark.parametrize("strata", [STRATA, None])
def test_groups_of_test_rows_keep_together_what_belongs_together(strata):
    dealt = groups_of_test_rows(100, strata, GROUPS, 0)
    assert len(np.unique(dealt)) > 5
    for group in np.unique(GROUPS):
        assert len(np.unique(dealt[group == GROUPS])) == 1


def test_splitters_and_lists_are_taken_as_they_are():
    splitter = ShuffleSplit(3, train_size=0.3, random_state=0)
    given = outer(cv=splitter)
    again = outer(cv=[(train, test) for train, test in given])
    masks = []
    for train, test in given:
        masks.append((np.isin(np.arange(100), train), np.isin(np.arange(100), test)))
    for splits in (again, outer(cv=masks)):
        for (train, test), (train_again, test_again) in zip(given, splits, strict=True):
            np.testing.assert_array_equal(np.sort(train), np.sort(train_again))
            np.testing.assert_array_equal(np.sort(test), np.sort(test_again))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cv": 1}, "at least 2 folds"),
        ({"cv": object()}, "give a number of folds"),
        ({"cv": [(np.arange(50), np.arange(100))]}, "overlap"),
        ({"cv": ShuffleSplit(3), "train_size": 10}, "cannot be combined"),
        ({"train_size": 1.5}, "between 0 and 1"),
        ({"train_size": 99}, "leaves at least 2"),
        ({"train_size": 4}, "fewer than 2 rows"),
        ({"groups": np.arange(100) // 50}, "2 groups and 5 folds"),
        ({"groups": np.arange(100) // 50, "train_size": 10}, "at least 3"),
        ({"groups": GROUPS, "train_size": 97}, "whole groups"),
        ({"strata": np.repeat(["a", "rare"], [97, 3])}, "Class rare has 3"),
    ],
)
def test_impossible_splits_are_refused_in_words(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        outer(**options)


def test_inner_folds_make_do_with_few_rows_of_a_class():
    strata = np.array([0] * 10 + [1, 1])
    folds = inner_splits(strata, 12, None, 5, 0)
    assert len(folds) == 2
    assert all(strata[test].sum() == 1 for _, test in folds)
