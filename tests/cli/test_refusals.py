"""Bad input: one line on stderr, exit code 2, nothing written."""

from __future__ import annotations

import numpy as np
import pytest

import lupi as library
from lupi.cli import main
from tests.cli.tables import PLAIN, ROLES, clinic


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    clinic().to_csv("table.csv", index=False)
    return tmp_path


def refused(capsys, folder, *arguments):
    """Run the command, and return the one line it says."""
    before = contents(folder)
    code = main([str(each) for each in arguments])
    printed = capsys.readouterr()
    assert code == 2
    assert printed.err.count("\n") == 1
    assert printed.err.startswith("lupi: ")
    assert contents(folder) == before
    return printed.err


def contents(folder):
    return {path: path.stat().st_size for path in folder.rglob("*")}


def changed(**columns):
    return clinic().assign(**columns)


def test_a_missing_an_empty_and_a_strange_file(capsys, folder):
    said = refused(capsys, folder, "compare", "nowhere.csv", *ROLES)
    assert "No such file: nowhere.csv" in said
    (folder / "empty.csv").write_text("")
    assert "is empty" in refused(capsys, folder, "compare", "empty.csv", *ROLES)
    (folder / "strange.csv").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    assert "not a table" in refused(capsys, folder, "compare", "strange.csv", *ROLES)
    (folder / "prose.txt").write_text("It was a dark and stormy night.\n" * 9)
    assert "not a table" in refused(
        capsys, folder, "fit", "prose.txt", *ROLES, "-m", "x"
    )


def test_an_unknown_column_with_the_nearest_name(capsys, folder):
    said = refused(
        capsys, folder, "compare", "table.csv", "-t", "outcom", "-p", "count_week_20"
    )
    assert "--target: there is no column 'outcom'; did you mean 'outcome'?" in said
    said = refused(
        capsys, folder, "compare", "table.csv", "-t", "outcome", "-p", "count_week20"
    )
    assert "did you mean 'count_week_20'?" in said


def test_the_target_among_the_privileged(capsys, folder):
    said = refused(
        capsys, folder, "compare", "table.csv", "-t", "outcome", "-p", "count*,outcome"
    )
    assert "'outcome' is among the columns of --privileged" in said


def test_a_constant_and_an_empty_target(capsys, folder):
    changed(outcome="event").to_csv("constant.csv", index=False)
    assert "name a target that varies" in refused(
        capsys, folder, "compare", "constant.csv", *ROLES
    )
    for value in (np.nan, np.inf):
        changed(outcome=value).to_csv("absent.csv", index=False)
        said = refused(capsys, folder, "compare", "absent.csv", *ROLES)
        assert "is missing or infinite in every row" in said


@pytest.mark.parametrize("odd", [".", "0,5"])
def test_a_target_of_numbers_written_as_text(capsys, folder, odd):
    outcome = np.arange(160) / 9
    changed(outcome=np.where(outcome < 1, odd, outcome)).to_csv("t.csv", index=False)
    said = refused(capsys, folder, "compare", "t.csv", *ROLES)
    assert f"'outcome' has numbers, but is text because of {odd!r}: write" in said
    assert "add --missing" in said


def test_a_class_smaller_than_the_folds(capsys, folder):
    table = clinic()
    table.loc[:2, "outcome"] = "rare"
    table.to_csv("rare.csv", index=False)
    said = refused(capsys, folder, "compare", "rare.csv", *ROLES)
    assert (
        "Class rare has 3 rows, fewer than the 5 folds. Use fewer folds, or leave"
        in said
    )
    # Two folds are the fewest, and one class is no target.
    table["outcome"] = np.where(table.index < 1, "rare", "often")
    table.to_csv("rare.csv", index=False)
    said = refused(capsys, folder, "compare", "rare.csv", *ROLES, "--cv", "2")
    assert "Class rare has 1 row, fewer than the 2 folds. Give at least two" in said
    table["outcome"] = table["patient"]
    table.drop(columns="patient").to_csv("rare.csv", index=False)
    said = refused(capsys, folder, "columns", "rare.csv", "-t", "outcome")
    assert "Every row has another class; give" in said


def test_no_row_has_privileged_information(capsys, folder):
    changed(count_week_20=np.nan, remark_week_20=None).to_csv("bare.csv", index=False)
    for arguments in (["compare", "bare.csv"], ["fit", "bare.csv", "-m", "svc-plus"]):
        said = refused(capsys, folder, *arguments, *ROLES)
        assert "name columns that have values" in said


def test_output_that_cannot_be_written(capsys, folder):
    (folder / "file").write_text("in the way")
    said = refused(
        capsys, folder, "compare", "table.csv", *ROLES, "--out", "file/report"
    )
    assert "cannot be written to" in said
    said = refused(
        *(capsys, folder, "fit", "table.csv", *ROLES, "-m", "svc-plus"),
        *("--out", "no/such/folder/model.skops"),
    )
    assert "cannot be written to" in said


def test_older_results_are_not_overwritten(capsys, folder):
    (folder / "older").mkdir()
    (folder / "older" / "report.html").write_text("precious")
    said = refused(capsys, folder, "compare", "table.csv", *ROLES, "--out", "older")
    assert "older run" in said
    assert "--force" in said
    (folder / "model.skops").write_text("precious")
    said = refused(capsys, folder, "fit", "table.csv", *ROLES, "-m", "svc-plus")
    assert "model.skops exists" in said


def test_a_corrupt_model_file(capsys, folder):
    (folder / "broken.skops").write_bytes(b"PK\x03\x04 and then nothing of use")
    said = refused(capsys, folder, "predict", "broken.skops", "table.csv")
    assert "broken.skops is damaged" in said
    said = refused(capsys, folder, "predict", "nowhere.skops", "table.csv")
    assert "No such file" in said


def test_predicting_with_missing_columns(capsys, folder):
    X = clinic()[["age", "count_week_20"]].fillna(0)
    model = library.SVCPlus().fit(X, clinic()["outcome"])
    library.save(model, "model.skops")
    clinic().rename(columns={"age": "Age"}).to_csv("renamed.csv", index=False)
    said = refused(capsys, folder, "predict", "model.skops", "renamed.csv")
    assert "does not have age (is it 'Age' there?)" in said


def test_predicting_with_text_where_numbers_were(capsys, folder):
    X = clinic()[["age", "count_week_20"]].fillna(0)
    library.save(library.SVCPlus().fit(X, clinic()["outcome"]), "model.skops")
    changed(age="old").to_csv("text.csv", index=False)
    said = refused(capsys, folder, "predict", "model.skops", "text.csv")
    assert "the column 'age' holds 'old'. It held numbers in fit." in said


def test_predicting_with_text_where_a_fitted_table_had_numbers(capsys, folder):
    fit = ["fit", "table.csv", *PLAIN, "-m", "svc-plus", "--n-candidates", "1"]
    assert main(fit) == 0
    capsys.readouterr()
    age = clinic()["age"].astype(object)
    age[7] = "sixty"
    changed(age=age).to_csv("text.csv", index=False)
    said = refused(capsys, folder, "predict", "model.skops", "text.csv")
    assert "'age' has 'sixty', but the model was fitted on numbers" in said
    table = clinic().drop(columns="age").assign(big=1.0, ages=1.0)
    table.to_csv("other.csv", index=False)
    said = refused(capsys, folder, "predict", "model.skops", "other.csv")
    assert "does not have age (is it 'ages' there?)" in said


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["compare", "table.csv", "-p", "age"], "No target was given"),
        (["compare", "table.csv", "-t", "outcome"], "--privileged COLS"),
        (["compare", "-t", "outcome"], "without a FILE"),
        (
            ["compare", "table.csv", *ROLES, "--metric", "rocauc"],
            "--metric: there is no score 'rocauc'; did you mean roc_auc",
        ),
        (["compare", "table.csv", *ROLES, "--metric", "r2"], "is for numbers"),
        (["compare", "table.csv", *ROLES, "-m", "svm-pluss"], "Did you mean svc-plus"),
        (
            ["compare", "table.csv", *ROLES, "-m", "svr-plus"],
            "regression needs numbers",
        ),
        (["compare", "table.csv", *ROLES, "--task", "guess"], "--task is 'guess'"),
        (["compare", "table.csv", *ROLES, "--task", "regression"], "needs numbers"),
        (["compare", "table.csv", *ROLES, "--group", "admited"], "'admitted'"),
        (["compare", "table.csv", *ROLES, "--group", "outcome"], "is the target"),
        (
            ["compare", "table.csv", *ROLES, "--train-size", "159"],
            "--train-size 159 gives 159 training rows",
        ),
        (
            ["compare", "table.csv", *ROLES, "--labelled", "9", "--train-size", "9"],
            "--labelled 9 and --train-size 9 both draw",
        ),
        (
            ["compare", "table.csv", *ROLES, "--labelled", "2"],
            "fewer than 2 rows; use --labelled 4.",
        ),
        (
            ["compare", "table.csv", *ROLES, "--group", "ward"],
            "Use --cv 3 or fewer",
        ),
        (["compare", "table.csv", *ROLES, "--train-size", "0"], "'--train-size'"),
        (
            ["compare", "table.csv", *ROLES, "--cv", "1"],
            "--cv 1: give at least 2 folds",
        ),
        (["compare", "table.csv", *ROLES, "--seed", "-1"], "'--seed'"),
        (["compare", "table.csv", *ROLES, "--jobs", "0"], "give a number of processes"),
        (["compare", "table.csv", *ROLES, "--out", "table.csv"], "is a file"),
        (
            ["compare", "table.csv", *ROLES, "--group", "ward", "--cv", "2"],
            "default parameters with --n-candidates 1",
        ),
        (
            ["compare", "table.csv", *ROLES, "--drop", "*_week_20"],
            "no privileged column",
        ),
        (
            ["compare", "table.csv", *ROLES, "--drop", "age:complaint"],
            "leave at least one to predict from",
        ),
        (["fit", "table.csv", *ROLES, "--method", "adviceptron"], "it needs rules"),
        (["compare", "table.csv", "--no-such-option"], "--no-such-option"),
        (["compair"], "compair"),
    ],
)
def test_what_cannot_be_meant_is_said(capsys, folder, arguments, sentence):
    assert sentence in refused(capsys, folder, *arguments)


@pytest.mark.parametrize(
    ("metric", "hint"), [("roc_auc", "roc_auc_ovr"), ("f1", "f1_macro")]
)
def test_a_score_for_two_classes_when_there_are_three(capsys, folder, metric, hint):
    three = np.resize(["a", "b", "c"], len(clinic()))
    changed(outcome=three).to_csv("three.csv", index=False)
    said = refused(capsys, folder, "compare", "three.csv", *ROLES, "--metric", metric)
    assert f"Use '{hint}'" in said or f"use '{hint}'" in said


def test_cells_that_hold_several_values(capsys, folder):
    clinic().assign(visits=[[1, 2]] * len(clinic())).to_parquet("nested.parquet")
    said = refused(capsys, folder, "compare", "nested.parquet", *ROLES)
    assert "The column 'visits' has lists" in said


def test_a_column_name_cannot_break_the_one_line(capsys, folder):
    clinic().rename(columns={"outcome": "out\ncome"}).to_parquet("odd.parquet")
    said = refused(
        capsys, folder, "compare", "odd.parquet", "-t", "out\ncome", "-p", "out\ncome"
    )
    assert "is among the columns of --privileged" in said


def test_a_column_name_cannot_control_the_terminal(capsys, folder):
    names = {"age": "\x1b[2Jage", "outcome": "out\x9bcome", "ward": "wa\x07rd"}
    table = clinic().drop(columns=["admitted", "complaint"]).rename(columns=names)
    table.to_csv("odd.csv", index=False)
    said = refused(capsys, folder, "fit", "odd.csv", "-t", "age", "-p", "later")
    assert "\x1b" not in said
    assert main(["columns", "odd.csv", "-t", "out\x9bcome"]) == 0
    printed = capsys.readouterr().out
    assert "␛[2Jage" in printed
    assert not {*printed} & {"\x1b", "\x9b", "\x07"}


def test_a_target_without_any_value_is_refused(capsys, folder):
    clinic().assign(outcome="").to_csv("empty.csv", index=False)
    said = refused(capsys, folder, "fit", "empty.csv", *ROLES)
    assert "'outcome' is missing or infinite in every row" in said


def test_few_whole_numbers_are_classes_and_the_way_out_is_named(capsys, folder):
    rating = 1 + np.arange(160) % 5
    rating[0] = 6
    changed(rating=rating, year=2024).to_csv("rated.csv", index=False)
    words = ["compare", "rated.csv", "-t", "rating", "-p", "*_week_20"]
    said = refused(capsys, folder, *words)
    assert "Class 6 has 1 row, fewer than the 5 folds. Leave class 6 out, or" in said
    assert "with --task regression." in said
    said = refused(capsys, folder, *words, "--train-size", "40")
    # One row is too few at any size.
    assert "class 6 with fewer than 2 rows; leave class 6 out, or treat" in said
    assert "--task regression" in said
    said = refused(capsys, folder, *words, "-m", "svr-plus", "svc-plus", "--cv", "90")
    assert "--task regression" in said
    said = refused(capsys, folder, "compare", "rated.csv", "-t", "year", "-p", "age")
    assert "The target 'year' is 2024 in every row" in said
