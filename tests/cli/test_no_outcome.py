"""Empty cells of the target are rows whose outcome is not known yet."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import lupi as library
from lupi.cli import main
from lupi.evaluation import Comparison
from tests.cli.tables import PLAIN, clinic

N_HIDDEN = 60
SHORT = ["--n-candidates", "1", "--no-model", "--quick", "--jobs", "1"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a table whose last outcomes are empty cells."""
    monkeypatch.chdir(tmp_path)
    table = clinic()
    table["outcome"] = table["outcome"].astype(object)
    table.loc[len(table) - N_HIDDEN :, "outcome"] = None
    table.to_csv("gaps.csv", index=False)
    return tmp_path


def words(capsys):
    return " ".join(capsys.readouterr().out.split())


def test_fit_takes_hedged_distillation_and_learns_from_all_rows(folder, capsys):
    assert main(["fit", "gaps.csv", *PLAIN]) == 0
    said = words(capsys)
    assert "60 of 160 rows have no outcome (the cell of 'outcome' is empty)" in said
    model = library.load("model.skops").named_steps["model"].estimator
    assert isinstance(model, library.HedgedDistillationClassifier)
    # Rows without outcome train where they have X*.
    later = pd.read_csv("gaps.csv").filter(like="_week_20")
    usable = int(later.iloc[-N_HIDDEN:].notna().any(axis=1).sum())
    assert 0 < usable <= N_HIDDEN
    assert f"{usable} of them are training rows of HedgedDistillationClassifier" in said
    assert f"fitted on {100 + usable} rows" in said


def test_predict_adds_a_probability_per_class(folder):
    assert main(["fit", "gaps.csv", *PLAIN]) == 0
    assert main(["predict", "model.skops", "gaps.csv"]) == 0
    predicted = pd.read_csv("predictions.csv")
    classes = sorted(pd.read_csv("gaps.csv")["outcome"].dropna().unique())
    names = [f"probability of {name}" for name in classes]
    np.testing.assert_allclose(predicted[names].sum(axis=1), 1.0)
    chosen = np.array(classes)[predicted[names].to_numpy().argmax(axis=1)]
    np.testing.assert_array_equal(chosen, predicted["prediction"])


def test_fit_of_a_method_that_needs_outcomes_leaves_the_others_out(folder, capsys):
    assert main(["fit", "gaps.csv", *PLAIN, "-m", "svc-plus", "--n-candidates=1"]) == 0
    said = words(capsys)
    assert "0 of them are training rows of SVCPlus" in said
    assert "SVCPlus fitted on 100 rows" in said


def test_compare_says_what_becomes_of_rows_without_an_outcome(folder, capsys):
    arguments = ["compare", "gaps.csv", *PLAIN, "-m", "hedged-distillation"]
    assert main([*arguments, "--train-size", "50", "--cv", "2", *SHORT]) == 0
    said = words(capsys)
    assert "100 of 160 rows" in said
    assert "60 of 160 rows have no outcome" in said
    assert "never test rows" in said
    assert "AUC against the others" in said
    stored = Comparison.from_json("lupi-report/results.json")
    assert stored.settings["labels"]["n_unlabelled"] == N_HIDDEN
    assert "60 have no outcome" in (folder / "lupi-report/report.html").read_text()


def test_labelled_hides_outcomes(folder, capsys):
    clinic().to_csv("whole.csv", index=False)
    arguments = ["compare", "whole.csv", *PLAIN, "--labelled", "20", "--cv", "4"]
    assert main([*arguments, "-m", "hedged-distillation", *SHORT]) == 0
    said = words(capsys)
    assert "4 random splits with 20 training rows, 70 training rows without" in said
    stored = Comparison.from_json("lupi-report/results.json")
    assert stored.settings["splits"]["labelled"] == 20
