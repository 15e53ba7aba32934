"""Preparation of X and X* inside the folds, as the models of a comparison see it."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skrub import StringEncoder, TableVectorizer

from lupi.evaluation import compare
from lupi.transfer import GeneralizedDistillationRegressor
from tests.comparisons import FirstColumn

N = 40
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 2))
Y = (X[:, 0] > 0).astype(int)
P = rng.normal(loc=3.0, size=(N, 2))
P[::3, 0] = np.nan
P[1::5] = np.nan
THERE = ~np.isnan(P).all(axis=1)
TRAIN, TEST = np.arange(0, N, 2), np.arange(1, N, 2)


def seen(X=X, privileged=P, splits=((TRAIN, TEST), (TEST, TRAIN))):
    """Return what the model is given in each arm of the first split."""
    FirstColumn.seen.clear()
    result = compare(X, Y, privileged, methods=FirstColumn(), cv=splits, n_candidates=1)
    arms = ("without", "oracle", "with", "shuffled", "self")
    return result, dict(zip(arms, FirstColumn.seen, strict=False))


def filled(table, rows):
    """Return rows imputed and standardized by those of them that have a value."""
    steps = make_pipeline(SimpleImputer(), StandardScaler())
    values = np.full((len(rows), table.shape[1]), np.nan)
    there = ~np.isnan(table[rows]).all(axis=1)
    values[there] = steps.fit_transform(table[rows][there])
    return values


def test_privileged_rows_are_prepared_by_those_that_have_a_value():
    result, arms = seen()
    assert result.settings["n_privileged_rows"] == THERE.sum() < N
    np.testing.assert_allclose(arms["with"][2], filled(P, TRAIN))
    np.testing.assert_allclose(arms["with"][0], filled(X, TRAIN))


def test_the_final_model_prepares_rows_as_the_folds_do():
    result, _ = seen()
    model = result.best_estimator(method="FirstColumn")
    X_last, _, privileged, _ = FirstColumn.seen[-1]
    np.testing.assert_allclose(privileged, filled(P, np.arange(N)), atol=1e-12)
    np.testing.assert_allclose(X_last, filled(X, np.arange(N)))
    np.testing.assert_allclose(
        model.decision_function(X), filled(X, np.arange(N))[:, 0]
    )


def test_training_rows_without_any_privileged_value_train_without():
    bare = np.flatnonzero(~THERE)
    _, arms = seen(splits=[(bare, np.flatnonzero(THERE)), (TRAIN, TEST)])
    assert arms["with"][2] is None
    assert arms["self"][2] is None
    # The oracle has columns of zeros, the mean.
    assert arms["oracle"][0].shape == (len(bare), 2)


def test_the_oracle_has_means_where_privileged_values_are_missing():
    _, arms = seen()
    expected = np.hstack([filled(X, TRAIN), np.nan_to_num(filled(P, TRAIN))])
    np.testing.assert_allclose(arms["oracle"][0], expected)


def test_sparse_tables_stay_sparse_and_empty_rows_are_zeros():
    table = sp.csr_array(np.where(rng.random((N, 4)) < 0.3, 2.0, 0.0))
    result, arms = seen(sp.csr_array(X), table)
    assert result.settings["n_privileged_rows"] == N
    assert all(sp.issparse(arms["with"][k]) for k in (0, 2))
    assert sp.issparse(arms["oracle"][0])
    np.testing.assert_array_equal(arms["with"][2].toarray(), table[TRAIN].toarray() / 2)


@pytest.mark.parametrize("kind", [pd.DataFrame, sp.csr_array, pl.DataFrame])
def test_containers_of_privileged_rows_give_the_same(kind):
    _, expected = seen()
    result, arms = seen(privileged=kind(P))
    assert result.settings["n_privileged_rows"] == THERE.sum()
    if kind is sp.csr_array:
        # Sparse tables are scaled, not centered.
        missing = np.isnan(arms["with"][2]).all(axis=1)
        np.testing.assert_array_equal(missing, ~THERE[TRAIN])
    else:
        np.testing.assert_allclose(arms["with"][2], expected["with"][2], atol=1e-12)


def test_one_column_may_be_a_series_or_a_list():
    _, expected = seen(privileged=P[:, 1:])
    for column in (pd.Series(P[:, 1], name="later"), P[:, 1], P[:, 1].tolist()):
        _, arms = seen(privileged=column)
        np.testing.assert_allclose(arms["with"][2], expected["with"][2], atol=1e-12)


def test_numbers_of_every_kind_are_only_imputed_and_scaled():
    table = pd.DataFrame({"a": np.arange(N), "b": Y == 1, "c": P[:, 1]})
    _, arms = seen(table)
    np.testing.assert_allclose(
        arms["without"][0], filled(table.astype(float).to_numpy(), TRAIN)
    )


def test_text_in_an_array_has_a_column_per_category():
    words = np.where(X > 0, "well", "badly")
    _, arms = seen(privileged=words[:, :1])
    expected = StandardScaler().fit_transform((X[TRAIN, :1] > 0).astype(float))
    np.testing.assert_allclose(arms["with"][2], np.hstack([-expected, expected]))


def test_many_categories_that_repeat_have_a_column_each():
    names = [f"{a}{b}" for a in ("north", "south") for b in range(30)]
    table = pd.DataFrame({"state": np.tile(names, 10)})
    half, y = np.arange(300), np.tile([0, 1], 300)
    splits = ((half, half + 300), (half + 300, half))
    FirstColumn.seen.clear()
    result = compare(table, y, table, methods=FirstColumn(), cv=splits, n_candidates=1)
    expected = StandardScaler().fit_transform(pd.get_dummies(table["state"]))
    _, _, (known, _, later, _), *_ = FirstColumn.seen
    np.testing.assert_allclose(known, expected[half])
    np.testing.assert_allclose(later, expected[half])
    # The final model as well; names that are seen twice only are text.
    result.best_estimator(method="FirstColumn")
    np.testing.assert_allclose(FirstColumn.seen[-1][0], expected)
    FirstColumn.seen.clear()
    compare(table[:120], y[:120], y[:120], methods=FirstColumn(), cv=2, n_candidates=1)
    assert FirstColumn.seen[0][0].shape[1] < len(names)


def test_the_trees_of_the_external_baseline_have_many_categories_as_text():
    rng = np.random.default_rng(0)
    names = np.array([f"{a}{b}" for a in ("north", "south") for b in range(30)])
    codes, half = np.tile(np.arange(60), 10), np.arange(300)
    table = pd.DataFrame({"state": names[codes], "age": rng.normal(size=600)})
    y = rng.normal(size=60)[codes] + table["age"].to_numpy()
    model, later = GeneralizedDistillationRegressor(), y[:, None]
    cv = ((half, half + 300), (half + 300, half))
    result = compare(table, y, later, methods=model, cv=cv, n_candidates=1)
    expected = []
    for train, test in cv:
        boosting = make_pipeline(
            TableVectorizer(high_cardinality=StringEncoder(random_state=0)),
            StandardScaler(),
            HistGradientBoostingRegressor(random_state=0),
        ).fit(table.iloc[train], y[train])
        expected.append(boosting.score(table.iloc[test], y[test]))
    assert result.outside_baseline()["scores"] == pytest.approx(expected)


def test_the_trees_of_the_external_baseline_have_the_gaps_of_the_table():
    rng = np.random.default_rng(0)
    X, half = rng.normal(size=(600, 3)), np.arange(300)
    y = X[:, 0] + rng.normal(size=600)
    # A number that is missing where y is large, and one that half of the rows have.
    X[y > 1, 0], X[:300, 2] = np.nan, np.nan
    model, later = GeneralizedDistillationRegressor(), y[:, None]
    cv = ((half, half + 300), (half + 300, half))
    result = compare(X, y, later, methods=model, cv=cv, n_candidates=1)
    expected = []
    for (train, test), columns in zip(cv, (slice(2), slice(3)), strict=True):
        boosting = HistGradientBoostingRegressor(random_state=0)
        boosting.fit(X[train, columns], y[train])
        expected.append(boosting.score(X[test, columns], y[test]))
    assert result.outside_baseline()["scores"] == pytest.approx(expected)
    # The methods of the comparison have imputed tables, as before.
    assert result.table["score"].notna().all()


def test_other_shapes_are_refused():
    with pytest.raises(ValueError, match="3 dimension"):
        seen(np.zeros((N, 2, 3)))


def test_text_is_encoded_alike_in_every_run():
    rng = np.random.default_rng(0)
    names = [f"{a}{b}" for a in ("north", "south", "east") for b in range(30)]
    X = pd.DataFrame({"town": rng.choice(names, size=120), "age": rng.normal(size=120)})
    y, later = X["age"] + rng.normal(size=120), rng.normal(size=(120, 1))
    model = GeneralizedDistillationRegressor()
    first, second = (
        compare(X, y, later, methods=model, cv=2, n_candidates=1, progress=False)
        for _ in range(2)
    )
    scores = ["method", "arm", "split", "score"]
    pd.testing.assert_frame_equal(first.folds[scores], second.folds[scores])
