"""Reading `privileged`: every container, missing rows, and each error sentence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from lupi.base import Privileged, check_privileged, feature_names, missing_rows

NAN = np.nan
TABLE = np.array([[1.0, 2.0], [NAN, NAN], [3.0, 0.0], [0.0, 0.0]])


@pytest.mark.parametrize(
    "container",
    [
        np.array,
        np.asfortranarray,
        list,
        lambda values: values.tolist(),
        lambda values: values.astype(object),
        lambda values: np.where(np.isnan(values), None, values),
        lambda values: values.astype(np.float32),
        lambda values: np.ma.masked_invalid(values),
        pd.DataFrame,
        lambda values: pd.DataFrame(values, dtype="Float64"),
        lambda values: pd.DataFrame(values, columns=["cd4", "cd8"], dtype=object),
        sp.csr_matrix,
        sp.csc_array,
        sp.coo_matrix,
        sp.lil_matrix,
    ],
)
def test_every_container_is_read_alike(container):
    read = check_privileged(container(TABLE), 4)
    assert read.rows.tolist() == [0, 2, 3]
    assert read.values.dtype == np.float64
    np.testing.assert_array_equal(read.available, [True, False, True, True])
    assert not read.complete
    np.testing.assert_array_equal(read.dense_full(), TABLE)
    assert sp.issparse(read.values) == sp.issparse(container(TABLE))


def test_integers_and_booleans_are_numbers():
    assert check_privileged(np.array([[1], [0]]), 2).values.tolist() == [[1.0], [0.0]]
    assert check_privileged([[True], [False]], 2).values.tolist() == [[1.0], [0.0]]
    flags = pd.DataFrame({"a": [True, False], "b": pd.array([1, 2], dtype="Int64")})
    assert check_privileged(flags, 2).values.tolist() == [[1.0, 1.0], [0.0, 2.0]]


def test_complete_rows_are_not_copied():
    table = np.ones((3, 2))
    read = check_privileged(table, 3)
    assert read.complete
    assert np.shares_memory(read.values, table)


def test_huge_finite_numbers_are_not_infinite():
    table = np.full((3, 2), 1e308)
    assert check_privileged(table, 3).complete


def test_nothing_available_counts_as_none():
    assert check_privileged(None, 4) is None
    assert check_privileged(np.full((4, 2), NAN), 4) is None
    assert check_privileged(sp.csr_matrix(np.full((4, 2), NAN)), 4) is None


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (TABLE[:3], r"Toy got privileged with 3 rows for 4 rows of X\. Give one row"),
        (TABLE[:, 0], r"1-D array of length 4\. Use privileged\.reshape\(-1, 1\)"),
        (pd.Series(TABLE[:, 0]), r"got a Series\. Pass privileged\.to_frame\(\)"),
        (TABLE[None], r"to be 2-D.*but got 3 dimensions"),
        (TABLE[:, :0], r"0 columns\. Pass privileged=None"),
        ("later", r"a table of numbers with one row per training row, but got 'later'"),
        (3.5, r"a table of numbers"),
        (TABLE.astype(str), r"numbers only, but it holds text or dates"),
        ([["a", "b"]] * 4, r"numbers only, but it holds text"),
        (TABLE.astype("datetime64[s]"), r"holds text or dates"),
        (pd.DataFrame({"when": ["x"] * 4}), r"the column 'when' holds something else"),
        (pd.DataFrame({"n": ["1", "2", "3", "4"]}), r"the column 'n' holds"),
        (
            pd.DataFrame({"c": pd.Categorical(["x"] * 4)}),
            r"the column 'c' holds something else",
        ),
        (TABLE + 1j, r"could not read privileged as a table of numbers: Complex"),
        ([[1.0], [1.0, 2.0], [3.0], [4.0]], r"could not read privileged"),
        (np.array([[{}], [1], [2], [3]], dtype=object), r"could not read privileged"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(table, sentence):
    with pytest.raises(ValueError, match=sentence):
        check_privileged(table, 4, "Toy")


@pytest.mark.parametrize("container", [np.array, sp.csr_matrix, pd.DataFrame])
def test_part_of_a_row_missing(container):
    table = np.ones((9, 3))
    table[4] = NAN
    table[6, 1] = NAN
    with pytest.raises(ValueError, match=r"part of a privileged row: Row 6 of priv"):
        check_privileged(container(table), 9)
    table[:4, 0] = table[8, 0] = table[7, 2] = NAN
    with pytest.raises(ValueError, match=r"Rows 0, 1, 2, 3, 6 and 2 more of priv"):
        check_privileged(container(table), 9)


@pytest.mark.parametrize("container", [np.array, sp.csr_matrix, pd.DataFrame])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_values(container, value):
    table = np.ones((5, 2))
    table[1] = NAN
    table[[2, 4], 1] = value
    with pytest.raises(ValueError, match=r"infinite values.*: Rows 2 and 4\. Repl"):
        check_privileged(container(table), 5)


def test_take_renumbers_and_repeats():
    read = check_privileged(TABLE, 4)
    part = read.take(np.array([3, 1, 0, 3]))
    assert part.n_rows == 4
    assert part.rows.tolist() == [0, 2, 3]
    np.testing.assert_array_equal(part.dense_full(), TABLE[[3, 1, 0, 3]])
    assert read.take(np.array([1, 1])) is None
    whole = Privileged(TABLE[[0, 2]], np.arange(2), 2).take(np.array([1]))
    assert whole.complete
    assert whole.values.tolist() == [[3.0, 0.0]]


def test_feature_names():
    assert feature_names(np.ones((2, 2))) is None
    assert feature_names(pd.DataFrame(np.ones((2, 2)))) is None
    names = feature_names(pd.DataFrame(np.ones((2, 2)), columns=["a", "b"]))
    assert names.tolist() == ["a", "b"]
    with pytest.raises(TypeError, match="partly by strings"):
        feature_names(pd.DataFrame(np.ones((2, 2)), columns=["a", 1]))


@pytest.mark.parametrize(
    "table",
    [
        np.array([[1.0, NAN], [NAN, NAN]]),
        sp.csr_matrix([[1.0, NAN], [NAN, NAN]]),
        [["mild", None], [None, NAN]],
        pd.DataFrame({"a": ["x", None], "b": [pd.NaT, pd.NaT], "c": [1.0, NAN]}),
        pd.DataFrame({"a": pd.Categorical(["x", None]), "b": pd.array([1, pd.NA])}),
    ],
)
def test_missing_rows_of_raw_tables(table):
    assert missing_rows(table).tolist() == [False, True]
