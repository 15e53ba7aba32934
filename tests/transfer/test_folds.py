import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.model_selection import KFold, ShuffleSplit

from lupi.transfer._folds import content_folds, fit_out_of_fold, row_digests, splits


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(37, 4))
    X[rng.random(X.shape) < 0.3] = 0.0
    return X, rng.integers(0, 3, size=37)


def test_folds_follow_the_rows_when_their_order_changes(rows):
    X, y = rows
    order = np.random.default_rng(1).permutation(len(y))
    fold = content_folds([X, y], 5, strata=y)
    np.testing.assert_array_equal(
        content_folds([X[order], y[order]], 5, strata=y[order]), fold[order]
    )


@pytest.mark.parametrize("random_state", [None, 3])
def test_repeated_rows_share_a_fold_and_move_no_other_row(rows, random_state):
    X, y = rows
    times = np.random.default_rng(2).integers(1, 4, size=len(y))
    fold = content_folds([X, y], 5, strata=y, random_state=random_state)
    repeated = content_folds(
        [X.repeat(times, axis=0), y.repeat(times)],
        5,
        strata=y.repeat(times),
        random_state=random_state,
    )
    np.testing.assert_array_equal(repeated, fold.repeat(times))


def test_classes_are_spread_evenly(rows):
    X, y = rows
    fold = content_folds([X, y], 5, strata=y)
    assert np.ptp(np.bincount(fold)) <= 1
    for label in range(3):
        assert np.ptp(np.bincount(fold[y == label], minlength=5)) <= 1


def test_a_seed_deals_differently_and_reproducibly(rows):
    X, y = rows
    plain, one, two = (
        content_folds([X, y], 5, strata=y, random_state=seed) for seed in (None, 1, 2)
    )
    assert not np.array_equal(one, two)
    assert not np.array_equal(plain, one)
    np.testing.assert_array_equal(
        one, content_folds([X, y], 5, strata=y, random_state=1)
    )


def test_sparse_and_dense_rows_have_the_same_digest(rows):
    X, y = rows
    dense = row_digests(X, y)
    np.testing.assert_array_equal(row_digests(sp.csr_array(X), y), dense)
    np.testing.assert_array_equal(row_digests(sp.csc_matrix(X), y), dense)
    assert len(np.unique(dense)) == len(y)
    np.testing.assert_array_equal(
        row_digests(np.array([[0.0, 1.0]])), row_digests(np.array([[-0.0, 1.0]]))
    )


def test_data_frames_have_the_digests_of_their_numbers(rows):
    X, y = rows
    table = pd.DataFrame(X, columns=list("abcd"), index=np.arange(37)[::-1])
    np.testing.assert_array_equal(row_digests(table, y), row_digests(X, y))
    table["b"] = np.rint(10 * X[:, 1]).astype(int)
    mixed = table.astype({"a": object, "b": "Int64", "c": np.float64})
    np.testing.assert_array_equal(row_digests(mixed), row_digests(table.to_numpy()))


def test_words_and_missing_values_count_for_what_they_are():
    words = pd.DataFrame({"note": ["mild", "bad", None, "mild", None], "n": 1.0})
    digests = row_digests(words)
    assert list(pd.factorize(digests)[0]) == [0, 1, 2, 0, 2]
    np.testing.assert_array_equal(
        row_digests(words.astype({"note": "category"})), digests
    )
    words["note"] = words["note"].astype(object)
    words.loc[2, "note"] = np.nan
    np.testing.assert_array_equal(row_digests(words), digests)
    holes = np.array([[np.nan, 1.0], [-np.nan, 1.0], [1.0, np.nan]])
    first, second, third = row_digests(holes)
    assert first == second != third


def test_equal_values_in_different_columns_differ():
    first, second = row_digests(np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert first != second


def test_splits_cover_every_row_once(rows):
    X, y = rows
    for cv in (5, KFold(4)):
        tested = np.concatenate([test for _, test in splits(cv, [X], y)])
        np.testing.assert_array_equal(np.sort(tested), np.arange(len(y)))
    assert splits(None, [X], y) is None


def test_more_folds_than_distinct_rows():
    X = np.array([[1.0], [2.0], [1.0]])
    found = splits(10, [X], np.zeros(3))
    assert len(found) == 2
    for train, test in found:
        assert not set(X[train, 0]) & set(X[test, 0])


@pytest.mark.parametrize(
    ("cv", "words"),
    [
        (ShuffleSplit(3, random_state=0), "exactly once"),
        ([(np.arange(10), np.arange(10, 20))], "exactly once"),
    ],
)
def test_splits_that_cannot_be_are_refused(rows, cv, words):
    with pytest.raises(ValueError, match=words):
        splits(cv, [rows[0]], rows[1])


def test_one_distinct_row_cannot_be_split():
    with pytest.raises(ValueError, match="2 distinct rows"):
        splits(5, [np.ones((4, 2))], np.zeros(4))


def test_every_row_is_answered_by_a_model_that_has_not_seen_it(rows):
    X, y = rows
    model, answers = fit_out_of_fold(
        lambda train: set(train.tolist()),
        lambda seen, test: np.array([row in seen for row in test]),
        splits(5, [X], y),
        len(y),
    )
    assert model == set(range(len(y)))
    assert not answers.any()
