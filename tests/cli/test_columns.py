"""``lupi columns``, and a second file with the privileged columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lupi.cli import main
from tests.cli.tables import SWIFT, clinic

pytestmark = pytest.mark.usefixtures("undrawn")

LATER = ["count_week_20", "remark_week_20"]
# Text takes most of the time, and is scored in tests/evaluation.
TABLE = clinic().drop(columns=["complaint", "admitted"])


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TABLE.to_csv("table.csv", index=False)
    TABLE.drop(columns=LATER).to_csv("first.csv", index=False)
    later = TABLE[["patient", *LATER]].dropna(how="all", subset=LATER)
    later.sample(frac=1, random_state=0).to_json(
        "later.jsonl", orient="records", lines=True
    )
    return tmp_path


def scores(*words, target="outcome", out="scores.csv"):
    """Return the scores of all columns of a table, whose rows a join must match."""
    assert main(["columns", *words, "-t", target, "-o", out, "--force"]) == 0
    return pd.read_csv(out).set_index("column")


SECOND = ["--privileged-file", "later.jsonl", "--key", "patient"]


def test_columns_marks_what_predicts_too_well(files, capsys):
    found = scores("table.csv", out="columns.csv")
    printed = " ".join(capsys.readouterr().out.split())
    assert "not known when predicting are privileged" in printed
    assert "--privileged count_week_20" in printed
    assert "--drop patient" in printed
    assert set(found.index) == set(TABLE.columns) - {"outcome"}
    assert found.at["count_week_20", "suspicious"]
    assert not found.at["ward", "suspicious"]
    assert main(["columns", "table.csv", "-t", "outcome", "-o", "columns.csv"]) == 2
    assert "--force" in capsys.readouterr().err


def test_groups_with_gaps_are_not_suggested_and_the_command_is_one_line(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    later = "measured by the laboratory after the end of the observation " * 2
    table = pd.DataFrame(rng.normal(size=(300, 2)), columns=["x", later])
    table["site"] = [f"s{k // 3}" if k < 150 else None for k in range(300)]
    table["day"] = pd.date_range("2024-01-01", periods=300).astype(str)
    table["y"] = table[later] + 0.01 * rng.normal(size=300)
    table.to_csv("t.csv", index=False)
    assert main(["columns", "t.csv", "--target", "y"]) == 0
    said = capsys.readouterr().out
    assert "--group" not in said
    (command,) = (line for line in said.splitlines() if "lupi compare" in line)
    assert len(command) > 120
    assert command.endswith("--time day")


def test_columns_without_any_that_stands_out(files, capsys):
    words = ["columns", "table.csv", "-t", "outcome", "--drop", "*_week_20", "patient"]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "No column is suspicious" in printed
    assert "--privileged LATER_COLUMNS" in printed


def test_of_many_columns_the_best_are_shown_and_all_are_written(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    values = np.random.default_rng(0).normal(size=(30, 70))
    wide = pd.DataFrame(values).add_prefix("column")
    wide.assign(outcome=wide["column7"] > 0).to_csv("wide.csv", index=False)
    assert len(scores("wide.csv")) == 70
    printed = capsys.readouterr().out
    assert "column7 " in printed
    assert "10 columns with lower scores are not shown; --out" in printed
    assert printed.count("number") == 60


def test_a_second_file_is_joined_by_its_key(files):
    one = scores("table.csv", "--drop", "patient")
    pd.testing.assert_frame_equal(scores("first.csv", *SECOND), one)


def test_keys_of_both_kinds_and_columns_of_one_name(files, capsys):
    table = TABLE.assign(patient=range(1, len(TABLE) + 1))
    table.drop(columns=LATER).to_csv("first.csv", index=False)
    later = table[["patient", *LATER]].assign(age=1.0)
    later["patient"] = later["patient"].astype(str)
    more = pd.concat([later, later.tail(1).assign(patient="9999")])
    more.to_json("later.jsonl", orient="records", lines=True)
    found = scores("first.csv", *SECOND)
    assert set(found.index) == {"age", "ward", *LATER, "age (later)"}
    said = " ".join(capsys.readouterr().out.split())
    assert "Both files have 'age'" in said
    assert "1 row of later.jsonl has no row" in said


def test_the_target_may_come_in_the_second_file(files):
    TABLE.drop(columns=[*LATER, "outcome"]).to_csv("first.csv", index=False)
    TABLE[["patient", *LATER, "outcome"]].to_csv("later.csv", index=False)
    words = ["--privileged-file", "later.csv", "--key", "patient"]
    found = scores("first.csv", *words, "--drop", "remark_week_20")
    assert set(found.index) == {"age", "ward", "count_week_20"}


@pytest.mark.parametrize(
    ("key", "later", "sentence"),
    [
        (None, "later.jsonl", "--key COL"),
        ("patent", "later.jsonl", "did you mean 'patient'"),
        ("ward", "later.jsonl", "there is no column 'ward'"),
        ("patient", "nowhere.csv", "No such file: nowhere.csv"),
        ("patient", "twice.csv", "several rows with patient P0000"),
        ("patient", "others.csv", "No patient of first.csv (P0000, ...) is in others"),
    ],
)
def test_files_that_cannot_be_joined(files, capsys, key, later, sentence):
    table = TABLE[["patient", *LATER]]
    pd.concat([table, table.head(1)]).to_csv("twice.csv", index=False)
    table.assign(patient=table["patient"] + "x").to_csv("others.csv", index=False)
    words = ["compare", "first.csv", "-t", "outcome", "--privileged-file", later]
    assert main([*words, *(["--key", key] if key else [])]) == 2
    assert sentence in capsys.readouterr().err


def test_a_key_without_a_second_file_and_empty_names(files, capsys):
    words = ["compare", "table.csv", "-t", "outcome", "-p", "*_week_20"]
    assert main([*words, "--key", "patient"]) == 2
    assert "--privileged-file" in capsys.readouterr().err
    assert main(["compare", "table.csv", "-t", "outcome", "-p", ""]) == 2
    assert "--privileged is empty" in capsys.readouterr().err


def test_compare_with_a_second_file(files, capsys):
    assert main(["compare", "first.csv", "-t", "outcome", *SECOND, *SWIFT]) == 0
    assert "count_week_20 and remark_week_20" in capsys.readouterr().out
    report = (files / "lupi-report" / "report.html").read_text(encoding="utf-8")
    assert "--privileged-file later.jsonl --key patient" in report


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


def test_columns_names_what_is_no_feature(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    age = rng.normal(50, 10, size=60).round(1)
    outcome = np.where(age + rng.normal(size=60) > 50, "ill", "well")
    table = pd.DataFrame(
        {
            "number": rng.permutation(60) + 1000,
            "row": np.arange(60) * 2.5,
            "site": "Ulm",
            "visit": pd.date_range("2024-01-01", periods=60),
            "born": pd.date_range("1964-01-01", periods=60)[rng.permutation(60)],
            "age": np.where(np.arange(60) % 9 == 0, ".", age.astype(str)),
            "weight": np.where(np.arange(60) % 11 == 0, -99.0, 60 + age),
            "smoker": np.where(np.arange(60) % 7 == 0, "unknown", "no"),
            "sick": np.where(outcome == "ill", 1, 0),
            "outcome": outcome,
        }
    )
    table.loc[[13, 26], "age"] = "unknown"
    table.to_csv("dirty.csv", index=False)
    found = scores("dirty.csv")
    assert found["note"].fillna("").to_dict() == {
        "number": "different in every row",
        "row": "numbers the rows",
        "site": "always the same",
        "visit": "a date",
        "born": "a date",
        "age": "",
        "weight": "",
        "smoker": "",
        "sick": "has the same content as the target",
    }
    missing = {"age": "., unknown", "weight": "-99", "smoker": "unknown"}
    assert found["means_missing"].dropna().astype(str).to_dict() == missing
    said = " ".join(capsys.readouterr().out.split())
    assert "“.” and “unknown” may stand for no value" in said
    assert "visit has times of the rows, by their order or its name: --time" in said
    assert "born has dates, and the rows are not in its order" in said
    command = said.partition("next lupi ")[2]
    options = ["--missing=.", "--missing=-99", "--missing=unknown"]
    for word in ("--time visit", *options):
        assert word in command
    for name in ("number", "row", "site", "sick"):
        assert name in command.partition("--drop")[2]
    # The suggested values are read as missing, and text becomes numbers.
    clean = scores("dirty.csv", *options)
    assert "9 values of age are taken as missing" in capsys.readouterr().out
    assert clean.at["age", "type"] == "number"
    assert clean["means_missing"].isna().all()
    # A model remembers them, and its card says so.
    fit = [
        "fit",
        "dirty.csv",
        "-t",
        "outcome",
        "--drop",
        "number,row,site,visit,born,sick",
    ]
    assert main([*fit, *options, "--n-candidates", "1", "-m", "svc-plus"]) == 0
    assert main(["predict", "model.skops", "dirty.csv"]) == 0
    assert main(["card", "model.skops", "-o", "card.md"]) == 0
    card = (tmp_path / "card.md").read_text(encoding="utf-8")
    assert "60 rows, 60 of them with an outcome." in card
    assert "not used to predict: number (--drop), row (--drop)," in card
    assert "Values that mean missing: ., -99 and unknown." in card


def test_a_target_that_depends_on_the_order_of_rows_is_named(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    outcome = rng.choice([0, 2], 90)
    outcome[:45] = rng.choice([0, 1, 1, 1, 2], 45)
    table = {"id": np.arange(90), "age": rng.normal(size=90)}
    table |= {"outcome": np.array(["a", "b", "c"])[outcome]}
    pd.DataFrame(table).to_csv("rows.csv", index=False)
    assert scores("rows.csv").at["id", "note"] == "numbers the rows"
    said = " ".join(capsys.readouterr().out.split())
    assert "outcome depends on the order of the rows, as id does" in said
    # The row number predicts well, and is marked in the table.
    table["outcome"] = np.arange(90) // 30
    pd.DataFrame(table).to_csv("rows.csv", index=False)
    assert scores("rows.csv").at["id", "suspicious"]
    said = " ".join(capsys.readouterr().out.split())
    assert "Apart from id (numbers the rows), no column is suspicious." in said


def test_a_trend_is_neither_dropped_nor_taken_as_known_later(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    people = 5000.0 + np.cumsum(rng.uniform(50, 90, size=90)).round(1)
    table = {"date": pd.date_range("2021-03-01", periods=90), "people": people}
    table |= {"later": people + 300 * rng.normal(size=90), "other": rng.normal(size=90)}
    table |= {"outcome": people / 9 + 3 * rng.normal(size=90)}
    pd.DataFrame(table).to_csv("rows.csv", index=False)
    found = scores("rows.csv")
    assert found.at["people", "note"] == "the rows are sorted by it"
    said = " ".join(capsys.readouterr().out.split())
    assert "--privileged later --time date" in said.partition("next lupi ")[2]


@pytest.mark.parametrize("shift", [1, -1], ids=["months", "from large to small"])
def test_rows_that_are_sorted_by_a_number_may_be_in_time(
    tmp_path, monkeypatch, capsys, shift
):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    month = shift * (np.arange(120) // 6)
    table = pd.DataFrame({"month": month, "size": rng.normal(size=120)})
    table = table.assign(later=rng.normal(size=120))
    table["outcome"] = np.arange(120) / 9 + rng.normal(size=120)
    table.to_csv("rows.csv", index=False)
    assert scores("rows.csv").at["month", "note"] == "the rows are sorted by it"
    said, _, command = " ".join(capsys.readouterr().out.split()).partition("next lupi ")
    assert "outcome depends on the order of the rows, as month does" in said
    assert ("add --time row-number to the command" in said) == (shift > 0)
    # Only dates and years are suggested by their name.
    assert "--time" not in command


def test_years_are_times_and_limits_of_a_measurement_are_no_missing_values(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(120, 2)), columns=["outcome", "age"])
    table["year"] = rng.integers(2001, 2012, size=120)
    table["built_year"] = rng.integers(1901, 2012, size=120)
    table["crp"] = np.where(np.arange(120) % 3 == 0, "<5", table["age"].astype(str))
    table.to_csv("rows.csv", index=False)
    found = scores("rows.csv")
    assert found["note"].fillna("").to_dict() == {
        "age": "",
        "year": "a year",
        "built_year": "",
        "crp": "numbers and limits such as <5",
    }
    assert found["means_missing"].isna().all()
    said, _, command = " ".join(capsys.readouterr().out.split()).partition("next lupi ")
    assert "Limits such as <5 make crp text: write numbers in their place" in said
    assert "--time year" in command


def test_the_firms_of_a_panel_are_groups(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    firm, year = np.repeat(np.arange(14), 8), np.tile(np.arange(2001, 2009), 14)
    table = pd.DataFrame({"firm": firm, "year": year, "sector": firm // 4})
    table["wage"] = rng.normal(size=112)
    table["profit"], table["outcome"] = rng.normal(size=(2, 112)) + firm
    table.to_csv("panel.csv", index=False)
    notes = scores("panel.csv")["note"].fillna("").to_dict()
    assert notes["firm"] == "identifies groups of rows"
    assert notes["sector"] != notes["firm"]
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "The rows of one firm belong together: --group firm instead of --time" in said
    )
    compared = ["compare", "panel.csv", "-t", "outcome", "-p", "profit", "--quick"]
    assert main([*compared, "--no-model"]) == 0
    said = " ".join(capsys.readouterr().out.replace("│", "").split())
    assert "firm identifies groups of rows, and the splits train and test" in said
    assert "new values of firm, compare with --group firm" in said
    assert main([*compared, "--no-model", "--group", "firm", "--force"]) == 0
    assert "identifies groups" not in capsys.readouterr().out


@pytest.mark.parametrize("by", ["schoolid", "year"])
def test_identifiers_are_groups_and_no_times_and_years_of_a_study_are_times(
    tmp_path, monkeypatch, capsys, by
):
    """Both commands have one rule: pupils of schools, four years each."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    pupil, year = np.repeat(np.arange(36), 4), np.tile(np.arange(4) - 1.5, 36)
    table = pd.DataFrame({"schoolid": 200 + pupil // 3, "childid": pupil, "year": year})
    table["mobility"], noise = rng.normal(size=(2, 144))
    table["math"] = table["schoolid"] / 2 + 3 * year + noise
    table.sort_values([by, "childid"]).to_csv("panel.csv", index=False)
    notes = scores("panel.csv", target="math")["note"].fillna("")
    assert notes["childid"] == "identifies groups of rows"
    assert notes["year"] == "a year"
    group = "schoolid" if by == "schoolid" else "childid"
    said = " ".join(capsys.readouterr().out.split())
    assert f"The rows of one {group} belong together: --group {group}" in said
    assert "--time year" in said.partition("next lupi ")[2]
    words = ["compare", "panel.csv", "-t", "math", "-p", "mobility", "--quick"]
    assert main([*words, "--cv", "2", "--no-model"]) == 0
    said = " ".join(capsys.readouterr().out.replace("│", "").split())
    assert f"Careful: {group} identifies groups of rows" in said
    assert "test on the future: --time year" in said
    assert f"compare with --group {group}" in said


@pytest.mark.parametrize("classes", [["x", "y"], [0, 1], [1, 2, 3, 4]])
def test_rows_without_outcome_are_counted_and_not_warned_of(
    tmp_path, monkeypatch, capsys, classes
):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": np.arange(90) // 9 + rng.normal(size=90)})
    table = table.assign(b=rng.normal(size=90), outcome=rng.choice(classes, 90))
    table.loc[60:, "outcome"] = None
    table.loc[80:, "b"] = None
    table.to_csv("rows.csv", index=False)
    # A warning of rows that are not alike would be an error.
    assert scores("rows.csv").at["b", "missing"] == pytest.approx(1 / 9)
    said = " ".join(capsys.readouterr().out.split())
    assert "of which 60 have an outcome and are scored (missing: of all)." in said


def test_ordinary_numbers_and_categories_have_no_remarks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "count": rng.poisson(3, size=80),
            "income": rng.integers(0, 10**6, size=80),
            "paid": rng.integers(0, 60, size=80),
            "number_of_visits": rng.integers(0, 70, size=80),
            "flight_no": rng.normal(0, 10, size=80).round(1),
            "temperature": np.r_[-9.0, -9.0, rng.normal(0, 10, size=78)].round(),
            "group": rng.choice(["a", "b", "-1"], size=80),
            "outcome": rng.integers(0, 2, size=80),
        }
    )
    table.to_csv("clean.csv", index=False)
    found = scores("clean.csv")
    assert found["note"].isna().all()
    assert found["means_missing"].isna().all()


def test_numbers_of_the_rows_with_gaps_are_dropped(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(120, 3)), columns=["age", "later", "outcome"])
    table.insert(0, "case", np.cumsum(rng.integers(1, 99, size=120)))
    table.to_csv("rows.csv", index=False)
    assert scores("rows.csv").at["case", "note"] == "the rows are sorted by it"
    command = " ".join(capsys.readouterr().out.split()).partition("next lupi ")[2]
    assert "--drop case" in command
    assert "--time" not in command


def test_a_column_is_marked_by_its_best_class(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    outcome = rng.choice(["negative", "positive", "invalid"], 600, p=[0.6, 0.2, 0.2])
    test = np.where(outcome == "positive", rng.uniform(0, 30, 600), 45.0)
    table = pd.DataFrame({"test": test, "age": rng.normal(size=600)})
    table.assign(outcome=outcome).to_csv("rows.csv", index=False)
    found = scores("rows.csv")
    # Values below 30 are all positive; 45 does not tell the two others apart.
    assert found.at["test", "best_class"] == "positive"
    assert found.at["test", "best_class_score"] == 1.0
    assert found.at["test", "score"] < 0.9
    assert found["suspicious"].to_dict() == {"test": True, "age": False}
    said = " ".join(capsys.readouterr().out.split())
    assert "It is the mean over the classes" in said
    assert "test (AUC 1.000 of positive) predicts outcome suspiciously well" in said
    assert "--privileged test" in said
    # A class of few rows may be predicted by chance.
    few = table.assign(outcome=np.where(outcome == "positive", "negative", outcome))
    few.loc[np.argsort(few["age"])[:10], "outcome"] = "rare"
    few.to_csv("rows.csv", index=False)
    assert not scores("rows.csv")["suspicious"].any()


@pytest.mark.parametrize(
    "name", ["patient_id", "CaseID", "id_of_patient", "Account Number", "uuid"]
)
def test_identifiers_of_groups_are_no_features(tmp_path, monkeypatch, capsys, name):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    person = rng.integers(0, 120, 200)
    outcome = (person < 60).astype(int)
    table = pd.DataFrame({name: 40 * person, "age": rng.normal(size=200)})
    table = table.assign(later=rng.normal(size=200), outcome=outcome)
    table.to_csv("rows.csv", index=False)
    found = scores("rows.csv")
    assert found.at[name, "note"] == "identifies groups of rows"
    assert found.at[name, "suspicious"]
    said = " ".join(capsys.readouterr().out.split())
    assert f"The rows of one {name} belong together" in said
    command = said.partition("next lupi ")[2]
    assert f"--group {name}" in command.replace("'", "")
    assert "--privileged LATER_COLUMNS" in command
    # Given as the group, it is no longer a column of the list.
    assert name not in scores("rows.csv", "--group", name).index
    assert "belong together" not in capsys.readouterr().out


def test_words_that_are_almost_unique_identify_groups(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"pupil": [f"P{n}" for n in rng.integers(0, 150, 200)]})
    table["town"] = [f"T{n}" for n in rng.integers(0, 60, 200)]
    table["remark"] = [f"seen {n} times" for n in rng.integers(0, 150, 200)]
    table = table.assign(age=rng.normal(size=200), outcome=rng.integers(0, 2, 200))
    table.to_csv("rows.csv", index=False)
    note = scores("rows.csv")["note"].fillna("")
    groups = {"pupil": "identifies groups of rows", "town": "", "remark": "", "age": ""}
    assert note.to_dict() == groups
    assert "--group pupil" in capsys.readouterr().out


def test_the_number_of_the_row_is_a_sentence_and_no_option(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(120, 2)), columns=["age", "later"])
    table["outcome"] = np.arange(120) // 30 + rng.normal(size=120)
    table.to_csv("survey.csv", index=False)
    scores("survey.csv")
    said, _, command = " ".join(capsys.readouterr().out.split()).partition("next lupi ")
    assert (
        "random splits are too optimistic: add --time row-number to the command."
        in said
    )
    assert "--time" not in command


def test_numbers_written_as_text_are_named_and_no_identifiers_or_groups(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    rng, n = np.random.default_rng(0), 120
    values, twice = rng.permutation(n), rng.permutation(n) // 2
    table = pd.DataFrame(
        {
            "price": [f"${1000 + k:,}.50" for k in values],
            "size": [f"{1000 + k:,}" for k in twice],
            "share": [f"{k / 10}%" for k in twice],
            "dose": [f"{k}".replace(".", ",") for k in twice / 4],
            "weight": [f"−{k} kg" if k % 9 else "7 lb" for k in values],
            # Not these: codes, and words.
            "flat": [f"{k}{'ABC'[k % 3]}" for k in twice],
            "remark": [f"see {k}" if k else " " * 5000 for k in values],
            "outcome": rng.choice(["a", "b"], n),
        }
    )
    table.to_csv("rows.csv", index=False)
    found = scores("rows.csv")
    said, _, command = " ".join(capsys.readouterr().out.split()).partition("next lupi ")
    written = found["note"] == "numbers written as text"
    names = ["price", "size", "share", "dose", "weight"]
    assert set(found.index[written]) == set(names)
    assert set(found.loc[names, "type"]) == {"text"}
    # Of another unit, and no words.
    assert found["means_missing"].isna().all()
    assert "have numbers written as text, such as “" in said
    assert "--drop" not in command
    assert "--group flat" in command


def test_a_value_that_other_columns_have_as_well_is_named_and_not_suggested(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.integers(18, 90, 300), "outcome": range(300)})
    table["income"] = rng.integers(20_000, 90_000, 300)
    table["balance"] = rng.integers(-40, 40, 300)
    table.loc[:9, "age"], table.loc[20:29, "income"] = -1, 9_999_999
    table["bp"] = np.where(table.index < 9, "n/a.", table["age"].astype(str))
    table["outcome"] = rng.integers(0, 2, 300)
    table.to_csv("rows.csv", index=False)
    found = scores("rows.csv")["means_missing"].dropna().to_dict()
    assert found == {"age": "-1", "income": "9999999", "bp": "n/a."}
    said, _, command = " ".join(capsys.readouterr().out.split()).partition("next lupi ")
    assert "“-1” may stand for no value in age, and other columns have it as" in said
    assert "--missing=9999999" in command
    assert "--missing=-1" not in command
    assert "“n/a.” may stand for no value in bp, or be a result: if" in said
    assert "add --missing=n/a. to the command." in said


def test_dates_as_numbers_and_near_sorting_are_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    days = pd.date_range("2019-01-01", periods=120).strftime("%Y%m%d").astype(int)
    table = pd.DataFrame({"day": days, "born": rng.permutation(days)})
    table["drift"] = np.arange(120) + rng.normal(size=120)
    table["size"] = np.sort(rng.normal(size=120))
    table["outcome"] = rng.integers(0, 2, 120)
    # Two dates that some rows have: their being there says what happened.
    table["death"] = (table["born"] + 0.0).where(table["outcome"] == 1)
    table["left"] = (table["day"] + 0.0).where(table["outcome"] == 1)
    table.to_csv("rows.csv", index=False)
    assert scores("rows.csv")["note"].to_dict() == {
        "death": "a date",
        "left": "a date",
        "day": "a date",
        "born": "a date",
        "drift": "the rows are nearly sorted by it",
        "size": "the rows are sorted by it",
    }
    said, _, command = " ".join(capsys.readouterr().out.split()).partition("next lupi ")
    assert "death and left predict outcome suspiciously well." in said
    assert "born has dates, and the rows are not in its order" in said
    assert "--privileged death left --time day" in command


@pytest.mark.parametrize("outcome", [["a", "b", "a"], [0.5, 1.5, 2.5]])
def test_three_rows_are_too_few_to_score_columns(
    tmp_path, monkeypatch, capsys, outcome
):
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame({"size, cm": [1.5, 2.5, 4.0], "none": np.nan})
    table.assign(outcome=outcome).to_csv("rows.csv", index=False)
    # A warning of scikit-learn would be an error.
    found = scores("rows.csv")
    assert found["score"].isna().all()
    assert found.at["none", "note"] == "empty"
    said = " ".join(capsys.readouterr().out.split())
    assert "3 rows. They are too few to score columns" in said
    assert "folds" not in said


def test_the_verbs_agree_with_the_number_of_columns(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    x = rng.normal(size=100)
    table = pd.DataFrame({"size, cm": x, "age": rng.normal(size=100)})
    table["outcome"] = np.where(x > 0, "ill", "well")
    table.to_csv("rows.csv", index=False)
    assert main(["columns", "rows.csv", "-t", "outcome"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "“size, cm” predicts outcome suspiciously well" in said
    assert "check first whether this one is known later." in said
    assert "If “size, cm” is known later:" in said
    table.assign(other=x).to_csv("rows.csv", index=False)
    assert main(["columns", "rows.csv", "-t", "outcome"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "check first which of these are known later." in said
    assert "If “size, cm” and other are known later:" in said
