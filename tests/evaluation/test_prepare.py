"""Preprocessing of X and X*: what is learned from which rows."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

from lupi.compose import TransformedPrivileged
from lupi.evaluation._folds import Recent
from lupi.evaluation._prepare import (
    PreparedPrivileged,
    as_table,
    beside,
    make_transformer,
    rows_with_values,
)
from tests.toys import TaughtClassifier

P = np.array([[1.0, 5.0], [np.nan, 7.0], [np.nan, np.nan], [4.0, 9.0], [7.0, 6.0]])


def test_rows_that_have_privileged_values():
    there = [True, True, False, True, True]
    assert rows_with_values(P).tolist() == there
    assert rows_with_values(pd.DataFrame(P)).tolist() == there
    assert rows_with_values(sp.csr_array(P)).tolist() == there
    # A row of a sparse matrix without entries is a row of zeros.
    assert rows_with_values(sp.csr_array((3, 2))).all()


def test_the_transformer_of_privileged_rows_learns_from_those_that_exist():
    values = PreparedPrivileged(make_transformer(P), P).transform(P)
    first = np.array([1.0, 4.0, 4.0, 7.0])  # the gap takes the mean, 4
    expected = (first - 4) / first.std()
    np.testing.assert_allclose(values[[0, 1, 3, 4], 0], expected)
    assert np.isnan(values[2]).all()


def test_folds_and_the_final_model_prepare_privileged_rows_alike():
    X = np.arange(5.0)[:, None]
    y = np.array([0, 1, 0, 1, 1])
    values = PreparedPrivileged(make_transformer(P), P).transform(P)
    plain = TaughtClassifier().fit(X, y, privileged=values)
    wrapped = TransformedPrivileged(TaughtClassifier(), make_transformer(P))
    wrapped.fit(X, y, privileged=P)
    np.testing.assert_allclose(plain.decision_function(X), wrapped.decision_function(X))


def test_training_rows_without_any_privileged_value_train_without():
    nothing = np.full((3, 2), np.nan)
    assert PreparedPrivileged(make_transformer(P), nothing).transform(P) is None
    assert PreparedPrivileged(make_transformer(P), P).transform(nothing) is None


def test_the_oracle_sees_averages_where_privileged_values_are_missing():
    both = beside(np.ones((2, 1)), np.array([[2.0], [np.nan]]), 1)
    np.testing.assert_array_equal(both, [[1, 2], [1, 0]])
    nothing = beside(np.ones((2, 1)), None, 2)
    np.testing.assert_array_equal(nothing, [[1, 0, 0], [1, 0, 0]])
    sparse = beside(sp.csr_array(np.ones((2, 1))), np.array([[2.0], [0.0]]), 1)
    assert sp.issparse(sparse)
    np.testing.assert_array_equal(sparse.toarray(), [[1, 2], [1, 0]])


def test_sparse_tables_stay_sparse():
    table = sp.csr_array(np.array([[0.0, 2.0], [4.0, 0.0]]))
    values = make_transformer(table).fit_transform(table)
    assert sp.issparse(values)
    np.testing.assert_array_equal(values.toarray(), [[0, 1], [1, 0]])


def test_numbers_of_every_kind_are_only_imputed_and_scaled():
    table = pd.DataFrame(
        {"a": [1, 2, 3], "b": [True, False, True], "c": [0.5, None, 1]}
    )
    steps = [type(step).__name__ for _, step in make_transformer(table).steps]
    assert steps == ["SimpleImputer", "StandardScaler"]
    filled = table.astype(float).fillna({"c": 0.75})
    np.testing.assert_allclose(
        make_transformer(table).fit_transform(table),
        StandardScaler().fit_transform(filled.to_numpy()),
    )


def test_tables_are_recognised():
    assert isinstance(as_table(pd.Series([1, 2], name="a"), "privileged"), pd.DataFrame)
    assert as_table([1.0, 2.0], "privileged").shape == (2, 1)
    assert as_table([[1, "a"], [2, "b"]], "X").shape == (2, 2)
    assert sp.issparse(as_table(sp.coo_array(np.eye(2)), "X"))
    with pytest.raises(ValueError, match="3 dimension"):
        as_table(np.zeros((1, 2, 3)), "X")


def test_recent_tables_are_kept_up_to_a_size():
    recent = Recent(most_cells=7)
    made = []

    def make(value):
        made.append(value)
        return np.zeros((1, 2)), "no table", sp.eye_array(1)

    for key in "abac":
        recent.get(key, lambda key=key: make(key))
    recent.get("a", lambda: make("a again"))
    recent.get("b", lambda: make("b again"))
    assert made == ["a", "b", "c", "b again"]
    recent.get("large", lambda: (np.zeros(8),))
    recent.get("large", lambda: make("large again"))
    assert made[-1] == "large again"
