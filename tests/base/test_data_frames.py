import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from lupi.base._arguments import check_privileged_table
from lupi.base._rows import as_data_frame, is_data_frame, side_by_side, take_rows


class Frame:
    """The little of another library's data frame that is relied upon."""

    def __init__(self, columns):
        self._columns = columns
        self.columns = list(columns)
        self.dtypes = [np.asarray(values).dtype for values in columns.values()]
        self.shape = (len(next(iter(columns.values()))), len(columns))

    def __getitem__(self, key):
        if isinstance(key, str):
            return self._columns[key]
        chosen = {name: np.asarray(v)[key] for name, v in self._columns.items()}
        return Frame(chosen)

    def __array__(self, dtype=None, copy=None):
        return np.array(list(self._columns.values()), dtype=object).T


@pytest.fixture
def other():
    return Frame({"note": ["mild", None, None], "cd4": [1.0, np.nan, 2.0]})


def test_what_is_a_data_frame(other):
    assert is_data_frame(other)
    assert is_data_frame(pd.DataFrame({"a": [1]}))
    for table in ([[1.0]], np.ones((1, 1)), sp.csr_array((1, 1)), pd.Series([1.0])):
        assert not is_data_frame(table)


def test_rows_are_taken_by_position():
    table = pd.DataFrame({"a": [1, 2, 3]}, index=[9, 8, 7])
    index = np.array([2, 0, 0])
    assert take_rows(table, index)["a"].tolist() == [3, 1, 1]
    for matrix in (table.to_numpy(), sp.csr_array(table.to_numpy())):
        np.testing.assert_array_equal(take_rows(matrix, index).sum(axis=1), [3, 1, 1])


def test_any_table_becomes_one_of_pandas(other):
    expected = pd.DataFrame({"a": [1.0, 0.0], "b": [0.0, 2.0]})
    for values in (
        expected.to_numpy(),
        sp.csr_array(expected),
        expected.set_axis([5, 6]),
    ):
        pd.testing.assert_frame_equal(as_data_frame(values, ["a", "b"]), expected)
    table = as_data_frame(other)
    assert list(table.columns) == ["note", "cd4"]
    assert table["cd4"].dtype == float
    numbers = as_data_frame(np.array([["m", 1.5]], dtype=object))
    assert numbers[1].dtype == float


def test_other_libraries_have_missing_rows_too(other):
    read = check_privileged_table(other, 3, allow_partial=True)
    np.testing.assert_array_equal(read.rows, [0, 2])
    assert read.take(np.array([1, 2])).values["cd4"].tolist() == [2.0]
    with pytest.raises(ValueError, match=r"Toy found NaN in part .* Row 2"):
        check_privileged_table(other, 3, "Toy", allow_partial=False)


def test_tables_are_joined_by_position_not_by_index(other):
    X = pd.DataFrame({"age": [1, 2, 3]}, index=[2, 1, 0])
    both = side_by_side(X, other)
    assert list(both.columns) == ["age", "note", "cd4"]
    assert both["age"].tolist() == [1, 2, 3]
    assert both.index.tolist() == [0, 1, 2]
