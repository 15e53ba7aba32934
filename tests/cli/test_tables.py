"""What `lupi` makes of files as people have them."""

from __future__ import annotations

import gzip
import io
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import closing

import duckdb
import numpy as np
import pandas as pd
import pytest

from lupi.cli._tables import (
    TableError,
    nearest,
    read_table,
    resolve_columns,
    target_values,
    to_csv,
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


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "with BOM"])
def test_one_line_in_another_encoding_leaves_the_others_alone(tmp_path, mark):
    lines = [line.encode() for line in ("größe,weight,event", "Zoë,61.5,1", "Bob,80,1")]
    lines[1] = "Zoë,61.5,1".encode("latin-1")
    table, notes = read_table(written(tmp_path, mark + b"\n".join(lines)))
    assert list(table.columns) == ["größe", "weight", "event"]
    assert list(table["größe"]) == ["Zoë", "Bob"]
    assert notes == ["Not UTF-8: 1 of 3 lines, first line 2; read as Windows-1252."]


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
        (b"<html><body>a,b</body></html>", "as HTML and XML do"),
        (b"<!DOCTYPE html><p>a,b</p>", "as HTML and XML do"),
        (b'{"a": 1, "b": 2}', "one object per line is expected"),
        (b"[1, 2, 3]", "one object per line is expected"),
        (b"PK\x03\x04rest", "zip archive and no workbook"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR,\0", "neither text nor a file of a known"),
        (b"SQLite format 3\0and then nothing of the kind", "damaged SQLite"),
        (b"\xd0\xcf\x11\xe0 and then nothing of the kind", "damaged workbook"),
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


def test_a_header_may_begin_with_a_bracket(tmp_path):
    for header in ("<50k,age", "[id],[age]", "{a},b"):
        table, _ = read_table(written(tmp_path, f"{header}\n1,2\n3,4\n"))
        assert list(table.columns) == header.split(",")


def write_sqlite(path, **tables):
    with closing(sqlite3.connect(path)) as connection:
        for name, table in tables.items():
            table.to_sql(name, connection, index=False)


def write_duckdb(path, **tables):
    with duckdb.connect(str(path)) as connection:
        for name, table in tables.items():
            connection.register("given", table)
            connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM given')


def write_excel(path, **tables):
    with pd.ExcelWriter(path, engine="openpyxl") as book:
        for name, table in tables.items():
            table.to_excel(book, sheet_name=name, index=False)


@pytest.mark.parametrize(
    ("write", "ending"),
    [(write_sqlite, "db"), (write_duckdb, "duckdb"), (write_excel, "xlsx")],
)
def test_workbooks_and_databases(tmp_path, write, ending):
    path = tmp_path / f"one.{ending}"
    write(path, clinic=EXPECTED)
    before = sorted(tmp_path.iterdir())
    table, notes = read_table(path)
    pd.testing.assert_frame_equal(table, EXPECTED, check_dtype=False)
    assert notes == []
    assert sorted(tmp_path.iterdir()) == before
    pd.testing.assert_frame_equal(
        read_table(f"{path}::clinic")[0], EXPECTED, check_dtype=False
    )
    several = tmp_path / f"several.{ending}"
    write(several, clinic=EXPECTED, **{"later on": EXPECTED.head(2)})
    with pytest.raises(TableError, match=r"clinic and later on\): write .*::clinic"):
        read_table(several)
    with pytest.raises(TableError, match=r"no (sheet|table) 'latter'; there is"):
        read_table(f"{several}::latter")
    assert len(read_table(f"{several}::later on")[0]) == 2


def test_json_lines_and_lists_of_records(tmp_path):
    lines = EXPECTED.to_json(orient="records", lines=True)
    for text in (
        lines,
        EXPECTED.to_json(orient="records"),
        lines.replace("\n", "\r\n"),
    ):
        table, _ = read_table(written(tmp_path, text, "table.jsonl"))
        pd.testing.assert_frame_equal(table, EXPECTED, check_dtype=False)
    dates = '{"day": "2024-03-01", "n": 1}\n{"day": "2024-03-02", "n": null}'
    table, _ = read_table(written(tmp_path, dates))
    assert table["day"].tolist() == ["2024-03-01", "2024-03-02"]


def test_years_are_names_in_a_workbook(tmp_path):
    write_excel(tmp_path / "t.xlsx", s=pd.DataFrame({2023: [1, 2], 2024: [3, 4]}))
    assert list(read_table(tmp_path / "t.xlsx")[0].columns) == ["2023", "2024"]


def test_a_name_where_there_is_one_table(tmp_path):
    path = written(tmp_path, "a,b\n1,2\n")
    with pytest.raises(TableError, match="holds one table"):
        read_table(f"{path}::sheet")


@pytest.mark.parametrize(
    ("package", "write"), [("python_calamine", write_excel), ("duckdb", write_duckdb)]
)
def test_a_missing_package_is_a_sentence_with_the_command(
    tmp_path, monkeypatch, package, write
):
    write(tmp_path / "table", clinic=EXPECTED)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(TableError, match=r'pip install "lupi\[files\]"'):
        read_table(tmp_path / "table")


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


DANGEROUS = ["=1+1", '=HYPERLINK("http://x")', "+1+2", "-1-2", "@SUM(1)", "\t=1", "a"]


def test_no_cell_of_a_written_table_is_a_formula():
    table = pd.DataFrame({"=name": DANGEROUS, "p": np.linspace(-1, 1, 7)})
    table["kind"] = pd.Categorical(["-x", "=y", "-5", "+1e3", "b", None, "c"])
    read = pd.read_csv(io.StringIO(to_csv(table)), dtype=str, keep_default_na=False)
    assert list(read.columns) == ["'=name", "p", "kind"]
    assert read["'=name"].tolist() == [f"'{cell}" for cell in DANGEROUS[:-1]] + ["a"]
    # Numbers stay numbers.
    assert read["p"].astype(float).tolist() == table["p"].tolist()
    assert read["kind"].tolist() == ["'-x", "'=y", "-5", "+1e3", "b", "", "c"]


@pytest.mark.slow
def test_a_spreadsheet_reads_no_formula(tmp_path):
    convert = shutil.which("ssconvert")
    if convert is None:
        pytest.fail("This test needs Debian's gnumeric: apt-get install gnumeric")

    def formulas(text):
        (tmp_path / "t.csv").write_text(text)
        command = [convert, str(tmp_path / "t.csv"), str(tmp_path / "t.xlsx")]
        subprocess.run(command, check=True, capture_output=True)
        with zipfile.ZipFile(tmp_path / "t.xlsx") as book:
            sheet = book.read("xl/worksheets/sheet1.xml").decode()
        return sheet.count("<f>")

    table = pd.DataFrame({"id": DANGEROUS, "prediction": range(7)})
    assert formulas(table.to_csv(index=False)) > 0
    assert formulas(to_csv(table)) == 0


def test_target_keeps_labels_as_the_file_has_them():
    assert target_values(pd.Series([1.0, 0.0])).dtype == np.int64
    assert target_values(pd.Series(["b", "a"])).tolist() == ["b", "a"]
    assert target_values(pd.Series(pd.Categorical(["b", "a"]))).tolist() == ["b", "a"]
    assert target_values(pd.Series([True, False])).dtype == bool
    assert target_values(pd.Series([0.5, 2.0])).tolist() == [0.5, 2.0]
