"""What `lupi` makes of files as people have them."""

from __future__ import annotations

import gzip
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
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

import lupi
from tests.cli.tables import lupi_here

COLUMNS = ["id", "age", "bmi", "sex", "cd4_0", "cd4_20", "cd8_20", "a,b", "t:0"]
INTERVAL = ["90% low", "90% high"]
EXPECTED = pd.DataFrame(
    {"name": ["Zoë", "Ann", "Bob"], "weight": [61.5, np.nan, 80.0], "event": [1, 0, 1]}
)


class Refusal(Exception):
    """The sentence about input that cannot be used."""


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """Return a function that copies columns of a file with ``lupi predict``.

    It returns the file that was written, and the notes. The model needs one column.
    """
    folder = tmp_path_factory.mktemp("copied")

    def copy(path, column="event", *, keep=(":",), ending="parquet"):
        model = make_pipeline(SimpleImputer(), lupi.HedgedDistillationRegressor())
        rows = pd.DataFrame({column: np.arange(9.0)})
        lupi.save(model.fit(rows, np.arange(9.0)), folder / "model.skops")
        words = ["predict", "model.skops", path, "--force", "--out", f"out.{ending}"]
        done = lupi_here(*words, "--keep", *keep, cwd=folder)
        if done.returncode:
            assert done.returncode == 2
            assert done.stderr.count("\n") == 1
            raise Refusal(done.stderr.removeprefix("lupi: ").strip())
        said = " ".join(done.stdout.split())
        return folder / f"out.{ending}", said.split("note: ")[1:]

    return copy


@pytest.fixture
def read(copied):
    """Return a function that returns a table as ``lupi`` reads it, and the notes."""

    def read(path, column="event"):
        out, notes = copied(path, column)
        table = pd.read_parquet(out)
        return table[table.columns[: list(table.columns).index("prediction")]], notes

    return read


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
def test_separators_decimal_marks_and_encodings(read, tmp_path, text, encoding):
    table, notes = read(written(tmp_path, text.encode(encoding)))
    pd.testing.assert_frame_equal(table, EXPECTED, check_dtype=False)
    assert notes == []


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "with BOM"])
def test_one_line_in_another_encoding_leaves_the_others_alone(read, tmp_path, mark):
    lines = [line.encode() for line in ("größe,weight,event", "Zoë,61.5,1", "Bob,80,1")]
    lines[1] = "Zoë,61.5,1".encode("latin-1")
    table, notes = read(written(tmp_path, mark + b"\n".join(lines)))
    assert list(table.columns) == ["größe", "weight", "event"]
    assert list(table["größe"]) == ["Zoë", "Bob"]
    said = "Not UTF-8: 1 of 3 lines, first line 2; read as Windows-1252. "
    assert [note.startswith(said) for note in notes] == [True]


def test_gzip_and_parquet_are_told_by_content_not_by_name(read, tmp_path):
    zipped = written(tmp_path, gzip.compress(EXPECTED.to_csv(index=False).encode()))
    pd.testing.assert_frame_equal(read(zipped)[0], EXPECTED, check_dtype=False)
    EXPECTED.to_parquet(tmp_path / "misnamed.csv")
    table, _ = read(tmp_path / "misnamed.csv")
    pd.testing.assert_frame_equal(table, EXPECTED)


def test_a_forgotten_row_counter_is_left_out_and_said(read, tmp_path):
    EXPECTED.to_csv(tmp_path / "t.csv")
    table, notes = read(tmp_path / "t.csv")
    assert list(table.columns) == ["name", "weight", "event"]
    assert "counts the rows" in notes[0]


def test_infinite_values_count_as_missing_and_are_said(read, tmp_path):
    table, notes = read(written(tmp_path, "a,b\ninf,1\n2,-inf\n3,4\n"), "a")
    assert table.isna().to_numpy().sum() == 2
    said = "2 infinite values are taken as missing. "
    assert [note.startswith(said) for note in notes] == [True]
    _, notes = read(written(tmp_path, "a,b\ninf,1\n2,3\n"), "a")
    assert notes[0].startswith("1 infinite value is taken as missing.")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty; give a file"),
        (b" \n\n ", "is empty"),
        (b"a,b\n", "no rows; add"),
        (b"just some words\nand more of them\n", "two columns or more"),
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
        (b"a,b\n1,2\n3,4,5,6\n", "line 3.*Correct the file"),
        (b"a,b,a\n1,2,3\n", "two columns called 'a'; rename"),
    ],
)
def test_what_is_not_a_table_is_refused_in_one_sentence(
    read, tmp_path, content, sentence
):
    with pytest.raises(Refusal, match=sentence):
        read(written(tmp_path, content))


def test_a_header_may_begin_with_a_bracket(read, tmp_path):
    for header in ("<50k,age", "[id],[age]", "{a},b"):
        names = header.split(",")
        table, _ = read(written(tmp_path, f"{header}\n1,2\n3,4\n"), names[1])
        assert list(table.columns) == names


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
def test_workbooks_and_databases(read, tmp_path, write, ending):
    path = tmp_path / f"one.{ending}"
    write(path, clinic=EXPECTED)
    before = sorted(tmp_path.iterdir())
    table, notes = read(path)
    pd.testing.assert_frame_equal(table, EXPECTED, check_dtype=False)
    assert notes == []
    assert sorted(tmp_path.iterdir()) == before
    pd.testing.assert_frame_equal(
        read(f"{path}::clinic")[0], EXPECTED, check_dtype=False
    )
    several = tmp_path / f"several.{ending}"
    write(several, clinic=EXPECTED, **{"later on": EXPECTED.head(2)})
    with pytest.raises(Refusal, match=r"clinic and later on\): write .*::clinic"):
        read(several)
    with pytest.raises(Refusal, match=r"no (sheet|table) 'latter'; there is"):
        read(f"{several}::latter")
    assert len(read(f"{several}::later on")[0]) == 2


def test_json_lines_and_lists_of_records(read, tmp_path):
    lines = EXPECTED.to_json(orient="records", lines=True)
    for text in (
        lines,
        EXPECTED.to_json(orient="records"),
        lines.replace("\n", "\r\n"),
    ):
        table, _ = read(written(tmp_path, text, "table.jsonl"))
        pd.testing.assert_frame_equal(table, EXPECTED, check_dtype=False)
    dates = '{"day": "2024-03-01", "n": 1}\n{"day": "2024-03-02", "n": null}'
    table, _ = read(written(tmp_path, dates), "n")
    assert table["day"].tolist() == ["2024-03-01", "2024-03-02"]


def test_years_are_names_in_a_workbook(read, tmp_path):
    write_excel(tmp_path / "t.xlsx", s=pd.DataFrame({2023: [1, 2], 2024: [3, 4]}))
    table, _ = read(tmp_path / "t.xlsx", "2023")
    assert list(table.columns) == ["2023", "2024"]


def test_a_name_where_there_is_one_table(read, tmp_path):
    path = written(tmp_path, "a,b\n1,2\n")
    with pytest.raises(Refusal, match="holds one table"):
        read(f"{path}::sheet")


@pytest.mark.parametrize(
    ("package", "write"), [("python_calamine", write_excel), ("duckdb", write_duckdb)]
)
def test_a_missing_package_is_a_sentence_with_the_command(
    read, tmp_path, monkeypatch, package, write
):
    write(tmp_path / "table", clinic=EXPECTED)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(Refusal, match=r'pip install "lupi\[files\]"'):
        read(tmp_path / "table")


def test_missing_file_and_folder_are_refused(read, tmp_path):
    with pytest.raises(Refusal, match="No such file"):
        read(tmp_path / "nowhere.csv")
    with pytest.raises(Refusal, match="is a folder"):
        read(tmp_path)


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
def test_columns_by_name_glob_and_range(copied, tmp_path, patterns, expected):
    pd.DataFrame(np.eye(9), columns=COLUMNS).to_csv(tmp_path / "t.csv", index=False)
    out, _ = copied(tmp_path / "t.csv", "id", keep=patterns)
    assert list(pd.read_parquet(out).columns) == [*expected, "prediction", *INTERVAL]


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
def test_unknown_columns_get_the_nearest_name(copied, tmp_path, pattern, sentence):
    pd.DataFrame(np.eye(9), columns=COLUMNS).to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(Refusal, match=sentence) as refusal:
        copied(tmp_path / "t.csv", "id", keep=[pattern])
    assert str(refusal.value).startswith("--keep")


DANGEROUS = ["=1+1", '=HYPERLINK("http://x")', "+1+2", "-1-2", "@SUM(1)", "\t=1", "a"]


def test_no_cell_of_a_written_table_is_a_formula(copied, tmp_path):
    table = pd.DataFrame({"=name": DANGEROUS, "p": np.linspace(-1, 1, 7)})
    table["kind"] = pd.Categorical(["-x", "=y", "-5", "+1e3", "b", None, "c"])
    table.to_parquet(tmp_path / "t.parquet")
    out, _ = copied(tmp_path / "t.parquet", "p", ending="csv")
    read = pd.read_csv(out, dtype=str, keep_default_na=False)
    assert list(read.columns)[:3] == ["'=name", "p", "kind"]
    assert read["'=name"].tolist() == [f"'{cell}" for cell in DANGEROUS[:-1]] + ["a"]
    # Numbers stay numbers.
    assert read["p"].astype(float).tolist() == table["p"].tolist()
    assert read["kind"].tolist() == ["'-x", "'=y", "-5", "+1e3", "b", "", "c"]


@pytest.mark.slow
def test_a_spreadsheet_reads_no_formula(copied, tmp_path):
    convert = shutil.which("ssconvert")
    if convert is None:
        pytest.skip("needs ssconvert of gnumeric, a package of Debian")

    def formulas(text):
        (tmp_path / "t.csv").write_text(text)
        command = [convert, str(tmp_path / "t.csv"), str(tmp_path / "t.xlsx")]
        subprocess.run(command, check=True, capture_output=True)
        with zipfile.ZipFile(tmp_path / "t.xlsx") as book:
            sheet = book.read("xl/worksheets/sheet1.xml").decode()
        return sheet.count("<f>")

    table = pd.DataFrame({"id": DANGEROUS, "p": range(7)})
    assert formulas(table.to_csv(index=False)) > 0
    table.to_parquet(tmp_path / "t.parquet")
    out, _ = copied(tmp_path / "t.parquet", "p", ending="csv")
    assert formulas(out.read_text()) == 0


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([1.0, 0.0], [0, 1]),
        (["b", "a"], ["a", "b"]),
        (pd.Categorical(["b", "a"]), ["a", "b"]),
        ([True, False], [False, True]),
    ],
    ids=["floats", "text", "categories", "booleans"],
)
def test_target_keeps_labels_as_the_file_has_them(tmp_path, labels, expected):
    target = pd.concat([pd.Series(labels)] * 10, ignore_index=True)
    table = pd.DataFrame({"x": np.arange(20.0), "y": target})
    table.to_parquet(tmp_path / "t.parquet")
    words = ["fit", "t.parquet", "--target", "y", "--inner-cv", "2"]
    assert lupi_here(*words, cwd=tmp_path).returncode == 0
    classes = lupi.load(tmp_path / "model.skops").classes_.tolist()
    assert classes == expected
    assert type(classes[0]) is type(expected[0])
