"""``lupi columns``, and a second file with the privileged columns."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from lupi.cli import main
from lupi.cli._data import Request, read_data
from lupi.cli._errors import InputError
from tests.cli.tables import PLAIN, SWIFT, clinic

LATER = ["count_week_20", "remark_week_20"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = clinic()
    table.to_csv("table.csv", index=False)
    table.drop(columns=LATER).to_csv("first.csv", index=False)
    later = table[["patient", *LATER]].dropna(how="all", subset=LATER)
    later.sample(frac=1, random_state=0).to_json(
        "later.jsonl", orient="records", lines=True
    )
    return tmp_path


def joined(later="later.jsonl", key="patient", first="first.csv", **roles):
    request = Request(
        file=Path(first),
        target="outcome",
        privileged=roles.pop("privileged", []),
        drop=roles.pop("drop", []),
        group=None,
        task=None,
        privileged_file=Path(later),
        key=key,
    )
    return read_data(request, methods=[], need_privileged=True)


def test_columns_marks_what_predicts_too_well(files, capsys):
    assert main(["columns", "table.csv", "-t", "outcome", "-o", "columns.csv"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    sentence = "not known when predicting are privileged"
    assert sentence in printed
    assert "--privileged count_week_20" in printed
    assert "--drop patient" in printed
    found = pd.read_csv("columns.csv").set_index("column")
    assert set(found.index) == set(clinic().columns) - {"outcome"}
    assert found.at["count_week_20", "suspicious"]
    assert not found.at["ward", "suspicious"]
    assert main(["columns", "table.csv", "-t", "outcome", "-o", "columns.csv"]) == 2
    assert "--force" in capsys.readouterr().err


def test_columns_without_any_that_stands_out(files, capsys):
    words = ["columns", "table.csv", "-t", "outcome", "--drop", "*_week_20", "patient"]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "No column is suspicious" in printed
    assert "--privileged COLS" in printed


def test_a_second_file_is_joined_by_its_key(files):
    one = read_data(
        Request(Path("table.csv"), "outcome", ["*_week_20"], drop=["patient"]),
        methods=[],
        need_privileged=True,
    )
    two = joined()
    pd.testing.assert_frame_equal(two.X, one.X)
    pd.testing.assert_frame_equal(two.privileged, one.privileged, check_dtype=False)


def test_keys_of_both_kinds_and_columns_of_one_name(files):
    table = clinic()
    table["patient"] = range(1, len(table) + 1)
    table.drop(columns=LATER).to_csv("first.csv", index=False)
    later = table[["patient", *LATER]].assign(age=1.0)
    later["patient"] = later["patient"].astype(str)
    more = pd.concat([later, later.tail(1).assign(patient="9999")])
    more.to_json("later.jsonl", orient="records", lines=True)
    data = joined()
    assert list(data.privileged.columns) == [*LATER, "age (later)"]
    assert "patient" not in data.X
    assert any("Both files have 'age'" in note for note in data.notes)
    assert any("1 rows of later.jsonl have no row" in note for note in data.notes)


def test_the_target_may_come_in_the_second_file(files):
    table = clinic()
    table.drop(columns=[*LATER, "outcome"]).to_csv("first.csv", index=False)
    table[["patient", *LATER, "outcome"]].to_csv("later.csv", index=False)
    data = joined("later.csv", drop=["remark_week_20"])
    assert list(data.privileged.columns) == ["count_week_20"]


@pytest.mark.parametrize(
    ("roles", "sentence"),
    [
        ({"key": None}, "--key COL"),
        ({"key": "patent"}, "did you mean 'patient'"),
        ({"key": "ward"}, "there is no column 'ward'"),
        ({"later": "nowhere.csv"}, "No such file: nowhere.csv"),
        ({"later": "twice.csv"}, "several rows with patient P0000"),
        ({"later": "others.csv"}, "No patient of first.csv (P0000, ...) is in others"),
    ],
)
def test_files_that_cannot_be_joined(files, roles, sentence):
    table = clinic()[["patient", *LATER]]
    pd.concat([table, table.head(1)]).to_csv("twice.csv", index=False)
    table.assign(patient=table["patient"] + "x").to_csv("others.csv", index=False)
    with pytest.raises(InputError) as refusal:
        joined(**roles)
    assert sentence in str(refusal.value)


def test_a_key_without_a_second_file_and_empty_names(files, capsys):
    words = ["compare", "table.csv", "-t", "outcome", "-p", "*_week_20"]
    assert main([*words, "--key", "patient"]) == 2
    assert "--privileged-file" in capsys.readouterr().err
    assert main(["compare", "table.csv", "-t", "outcome", "-p", ""]) == 2
    assert "--privileged is empty" in capsys.readouterr().err


def test_compare_with_a_second_file(files, capsys):
    words = ["compare", "first.csv", "-t", "outcome", "--key", "patient"]
    words += ["--privileged-file", "later.jsonl", "--no-model", *SWIFT]
    words += ["--drop", "complaint", "admitted"]
    assert main(words) == 0
    assert "count_week_20 and remark_week_20" in capsys.readouterr().out
    report = (files / "lupi-report" / "report.html").read_text()
    assert "--privileged-file later.jsonl --key patient" in report


def test_compare_says_which_column_helps(files, capsys):
    words = ["compare", "table.csv", *PLAIN, "--no-model", *SWIFT, "--columns"]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "Which privileged column helps?" in printed
    out = files / "lupi-report"
    table = pd.read_csv(out / "columns.csv").set_index("group")
    assert set(table.index) == set(LATER)
    assert (out / "figures" / "columns.svg").exists()
    report = (out / "report.html").read_text()
    assert "Which privileged column helps?" in report
    assert report.count('aria-label="Gains:') == 2
    assert not list(out.glob("unfinished*"))


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("labs", "write NAME=COLS"),
        ("labs=", "write NAME=COLS"),
        ("labs=cuont*", "no column matches"),
    ],
)
def test_groups_that_cannot_be_read(files, capsys, word, sentence):
    words = ["compare", "table.csv", "-t", "outcome", "-p", "*_week_20"]
    assert main([*words, "--column-group", word]) == 2
    assert sentence in capsys.readouterr().err
    assert not (files / "lupi-report").exists()
