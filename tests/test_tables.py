"""What `lupi` makes of files as people have them."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest

from lupi._tables import (
    TableError,
    nearest,
    read_table,
    resolve_columns,
    target_values,
)

COLUMNS = ["id", "age", "bmi", "sex", "cd4_0", "cd4_20", "cd8_20", "a,b", "t:0"]
EXPECTED = pd.DataFrame(
    {"name": ["Zoë", "Ann", "Bob"], "weight": [61.5, np.nan, 80.0], "event": [1, 0, 1]}
)


def written(tmp_path, content, name="table.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("name,weight,event\nZoë,61.5,1\nAnn,,0\nBob,80,1\n", "utf-8"),
        ("name,weight,event\r\nZoë,61.5,1\r\nAnn,NA,0\r\nBob,80,1\r\n", "utf-8-sig"),
        ("name;weight;event\nZoë;61,5;1\nAnn;;0\nBob;80,0;1\n", "cp1252"),
        ("name\tweight\tevent\nZoë\t61.5\t1\nAnn\t?\t0\nBob\t80\t1", "utf-16"),
        ("name|weight|event\nZoë|61.5|1\nAnn|n/a|0\nBob|80|1\n", "utf-8"),
    ],
    ids=["comma", "windows", "spreadsheet", "tabs", "bars"],
)
def test_separators_decimal_marks_and_encodings(tmp_path, text, encoding):
    table, notes = read_table(written(tmp_path, text.encode(encoding)))
    pd.testing.assert_frame_equal(table, EXPECTED, check_dtype=False)
    assert notes == []


def test_gzip_and_parquet_are_told_by_content_not_by_name(tmp_path):
    zipped = written(tmp_path, gzip.compress(EXPECTED.to_csv(index=False).encode()))
    pd.testing.assert_frame_equal(read_table(zipped)[0], EXPECTED, check_dtype=False)
    EXPECTED.to_parquet(tmp_path / "misnamed.csv")
    table, _ = read_table(tmp_path / "misnamed.csv")
    pd.testing.assert_frame_equal(table, EXPECTED)


def test_a_forgotten_row_counter_is_left_out_and_said(tmp_path):
    EXPECTED.to_csv(tmp_path / "t.csv")
    table, notes = read_table(tmp_path / "t.csv")
    assert list(table.columns) == ["name", "weight", "event"]
    assert "counts the rows" in notes[0]


def test_infinite_values_count_as_missing_and_are_said(tmp_path):
    table, notes = read_table(written(tmp_path, "a,b\ninf,1\n2,-inf\n3,4\n"))
    assert table.isna().to_numpy().sum() == 2
    assert notes == ["2 infinite values are taken as missing."]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b" \n\n ", "is empty"),
        (b"a,b\n", "no rows"),
        (b"just some words\nand more of them\n", "only one column"),
        (b"<html><body>a,b</body></html>", "as HTML and JSON do"),
        (b'{"a": 1, "b": 2}', "as HTML and JSON do"),
        (b"PK\x03\x04rest", "Excel workbook"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR,\0", "neither text nor Parquet"),
        (b"PAR1 and then nothing of the kind", "damaged Parquet"),
        (b"\x1f\x8b\x08broken", "damaged gzip"),
        (b"a,b\n1,2\n3,4,5,6\n", "line 3"),
        (b"a,b,a\n1,2,3\n", "two columns called 'a'"),
    ],
)
def test_what_is_not_a_table_is_refused_in_one_sentence(tmp_path, content, sentence):
    with pytest.raises(TableError, match=sentence) as refusal:
        read_table(written(tmp_path, content))
    assert "\n" not in str(refusal.value)


def test_missing_file_and_folder_are_refused(tmp_path):
    with pytest.raises(TableError, match="No such file"):
        read_table(tmp_path / "nowhere.csv")
    with pytest.raises(TableError, match="is a folder"):
        read_table(tmp_path)


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["age"], ["age"]),
        (["sex,age"], ["age", "sex"]),
        (["sex", "age", "age"], ["age", "sex"]),
        (["cd*_20"], ["cd4_20", "cd8_20"]),
        (["cd?_0"], ["cd4_0"]),
        (["age:sex"], ["age", "bmi", "sex"]),
        ([":age"], ["id", "age"]),
        (["t:0"], ["t:0"]),
        (["a,b"], ["a,b"]),
        (["id,cd4_0:cd4_20,*8*"], ["id", "cd4_0", "cd4_20", "cd8_20"]),
    ],
)
def test_columns_by_name_glob_and_range(patterns, expected):
    assert resolve_columns(patterns, COLUMNS, "--privileged") == expected


@pytest.mark.parametrize(
    ("pattern", "sentence"),
    [
        ("Age", "did you mean 'age'"),
        ("cd420", "did you mean 'cd4_20'"),
        ("zzzzzzzz", "the columns are id, age, bmi"),
        ("x*", "no column matches"),
        ("sex:age", "write age:sex"),
        ("age:sexx", "did you mean 'sex'"),
    ],
)
def test_unknown_columns_get_the_nearest_name(pattern, sentence):
    with pytest.raises(TableError, match=sentence) as refusal:
        resolve_columns([pattern], COLUMNS, "--privileged")
    assert str(refusal.value).startswith("--privileged")


def test_nearest_is_none_when_nothing_is_near():
    assert nearest("qqqqq", COLUMNS) is None


def test_target_keeps_labels_as_the_file_has_them():
    assert target_values(pd.Series([1.0, 0.0])).dtype == np.int64
    assert target_values(pd.Series(["b", "a"])).tolist() == ["b", "a"]
    assert target_values(pd.Series(pd.Categorical(["b", "a"]))).tolist() == ["b", "a"]
    assert target_values(pd.Series([True, False])).dtype == bool
    assert target_values(pd.Series([0.5, 2.0])).tolist() == [0.5, 2.0]
