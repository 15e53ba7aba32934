"""The installed command from a table to predictions, and what it leaves behind."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

import lupi as library
from lupi.cli import main
from lupi.evaluation import Comparison
from tests.cli.tables import QUICK, ROLES, SWIFT, TWO_SPLITS, clinic, lupi, lupi_here

KNOWN = ["age", "ward", "admitted", "complaint"]
LATER = ["count_week_20", "remark_week_20"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Compare on a table, then fit, then predict rows without the later columns."""
    folder = tmp_path_factory.mktemp("run")
    clinic().to_csv(folder / "table.csv", index=False)
    new = clinic(30, seed=1).drop(columns=["outcome", *LATER])
    new[["complaint", "patient", "ward", "age", "admitted"]].to_csv(
        folder / "new.csv", index=False
    )
    asked = [*ROLES, *QUICK[:2], *TWO_SPLITS, "--n-candidates", 1, "-j", 1]
    compared = lupi_here("compare", "table.csv", *asked, cwd=folder)
    fitted = lupi_here(
        *("fit", "table.csv", *ROLES, "-m", "GeneralizedDistillationClassifier"),
        *("--n-candidates", "2", "--inner-cv", "2"),
        cwd=folder,
    )
    predicted = lupi(
        "predict", "model.skops", "new.csv", "--keep", "patient", cwd=folder
    )
    return folder, compared, fitted, predicted


def test_every_step_succeeds_quietly(run):
    for done in run[1:]:
        assert (done.returncode, done.stderr) == (0, "")


def test_compare_says_what_was_compared_the_table_and_the_verdict(run):
    said = run[1].stdout
    assert "table.csv, 160 rows" in said
    assert "2: count_week_20 and remark_week_20" in said
    assert "16 of 160 rows have no privileged information" in said
    for word in ("without", "with", "shuffled", "oracle", "gain", "verdict"):
        assert word in said
    assert "lupi-report/report.html" in said.splitlines()[-1]


def test_compare_leaves_report_results_figures_and_model(run):
    folder = run[0] / "lupi-report"
    assert sorted(path.name for path in folder.iterdir()) == [
        "figures",
        "model.skops",
        "report.html",
        "results.csv",
        "results.json",
    ]
    table = pd.read_csv(folder / "results.csv")
    assert list(table["arm"]) == ["without", "with", "shuffled", "self", "oracle"]
    stored = Comparison.from_json(folder / "results.json")
    assert stored.settings["target"] == "outcome"
    assert stored.settings["features"] == KNOWN
    assert stored.settings["privileged"] == LATER
    assert stored.settings["n_privileged_rows"] == 144
    np.testing.assert_allclose(stored.table["score"], table["score"])
    page = (folder / "report.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert {path.name for path in (folder / "figures").iterdir()} == {
        "comparison.png",
        "comparison.svg",
    }


def test_predictions_do_not_need_the_privileged_columns(run):
    predictions = pd.read_csv(run[0] / "predictions.csv")
    assert list(predictions.columns[:2]) == ["patient", "prediction"]
    assert list(predictions["patient"]) == [f"P{i:04d}" for i in range(30)]
    assert set(predictions["prediction"]) == {"event", "none of it"}
    truth = clinic(30, seed=1)["outcome"]
    # The outcome follows the severity, which age and complaint tell of.
    assert (predictions["prediction"] == truth).mean() >= 0.7


@pytest.mark.parametrize("place", ["model.skops", "lupi-report/model.skops"])
def test_the_saved_model_works_in_the_four_lines_of_the_report(run, place):
    model = library.load(run[0] / place)
    table = pd.read_csv(run[0] / "new.csv")
    by_hand = model.predict(table[model.feature_names_in_])
    assert list(model.feature_names_in_) == KNOWN
    if place == "model.skops":
        by_command = pd.read_csv(run[0] / "predictions.csv")["prediction"]
        assert list(by_hand) == list(by_command)
    with pytest.raises(ValueError, match=r"[Cc]olumns|order"):
        model.predict(table[["ward", "age", "admitted", "complaint"]])


def test_the_command_of_the_report_is_the_one_that_was_run(run):
    page = (run[0] / "lupi-report" / "report.html").read_text()
    assert "lupi-report/model.skops" in page
    assert "pd.read_csv" in page


def test_an_older_run_is_replaced_only_by_force(run):
    before = (run[0] / "lupi-report" / "results.json").read_bytes()
    again = lupi_here("compare", "table.csv", *ROLES, *QUICK, cwd=run[0])
    assert again.returncode == 2
    assert (run[0] / "lupi-report" / "results.json").read_bytes() == before


def test_the_same_seed_gives_the_same_result_and_force_replaces(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    table = clinic()[["age", "count_week_20", "outcome"]].dropna()
    table.to_parquet("table.parquet")
    arguments = ["compare", "table.parquet", "-t", "outcome", "-p", "count*"]
    results = []
    for more in ([], ["--force", "--no-model"]):
        assert main([*arguments, *SWIFT, *more]) == 0
        stored = json.loads((tmp_path / "lupi-report" / "results.json").read_text())
        results.append([line["score"] for line in stored["folds"]])
    assert results[0] == results[1]
    assert not (tmp_path / "lupi-report" / "model.skops").exists()
    assert (
        "lupi fit table.parquet" in (tmp_path / "lupi-report/report.html").read_text()
    )
    capsys.readouterr()


def test_regression_groups_and_small_training_sets(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    x, group = rng.normal(size=200), np.arange(200) // 2
    later = x + 0.3 * rng.normal(size=200)
    price = 10 * later + rng.normal(size=200)
    table = pd.DataFrame({"x": x, "later": later, "house": group, "price": price})
    table.to_csv("houses.csv", index=False)
    code = main(
        [
            *("compare", "houses.csv", "--target", "price", "--privileged", "later"),
            *("--group", "house", "--train-size", "40", "--cv", "4", "-j", "1"),
            *("--methods", "generalized-distillation-regressor", "--n-candidates", "1"),
        ]
    )
    assert code == 0
    said = capsys.readouterr().out
    assert "price (regression)" in said
    assert "R², higher is better; 4 random splits with 40 training rows" in said
    assert "rows of a group kept together" in " ".join(said.split())


def test_methods_lists_every_comparable_method(capsys):
    from lupi.evaluation._methods import all_methods

    assert main(["methods"]) == 0
    said = capsys.readouterr().out
    for method in all_methods():
        assert re.search(rf"\b{re.escape(method.kebab)}\b", said)


@pytest.mark.parametrize("arguments", [[], ["--help"], ["compare", "--help"]])
def test_help_is_given(arguments, capsys):
    assert main(arguments) == 0
    assert "Usage: lupi" in capsys.readouterr().out


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"lupi {library.__version__}\n"


def test_help_loads_nothing_heavy(tmp_path):
    import subprocess
    import sys

    from tests.cli.tables import environment

    program = (
        "import sys, lupi.cli; lupi.cli.main(['--help']);"
        "sys.exit(bool({'sklearn', 'pandas', 'numba', 'skops'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
