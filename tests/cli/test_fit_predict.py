"""``lupi fit`` and ``lupi predict``: from a table to predictions of new rows."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

import lupi as library
from lupi.cli import main
from tests.cli.tables import PLAIN, ROLES, clinic, environment, lupi, lupi_here

KNOWN = ["age", "ward", "admitted", "complaint"]
LATER = ["count_week_20", "remark_week_20"]
N_HIDDEN = 60


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """Fit a table with text and dates, then predict rows without later columns."""
    folder = tmp_path_factory.mktemp("fitted")
    clinic().to_csv(folder / "table.csv", index=False)
    new = clinic(30, seed=1).drop(columns=["outcome", *LATER])
    new[["complaint", "patient", "ward", "age", "admitted"]].to_csv(
        folder / "new.csv", index=False
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        fit = ["fit", "table.csv", *ROLES, "--n-candidates", "1"]
        assert main([*fit, "-m", "GeneralizedDistillationClassifier"]) == 0
    predicted = lupi(
        "predict", "model.skops", "new.csv", "--keep", "patient", cwd=folder
    )
    return folder, predicted


def test_the_installed_command_predicts_without_the_privileged_columns(fitted):
    folder, done = fitted
    assert (done.returncode, done.stderr) == (0, "")
    trained = "by a model trained on 160 outcomes"
    assert done.stdout == f"30 predictions {trained}, written to predictions.csv\n"
    predictions = pd.read_csv(folder / "predictions.csv")
    assert list(predictions.columns[:2]) == ["patient", "prediction"]
    assert list(predictions["patient"]) == [f"P{i:04d}" for i in range(30)]
    truth = clinic(30, seed=1)["outcome"]
    # The outcome follows the severity, which age and complaint tell of.
    assert (predictions["prediction"] == truth).mean() >= 0.6
    model = library.load(folder / "model.skops")
    assert list(model.feature_names_in_) == KNOWN
    by_hand = model.predict(pd.read_csv(folder / "new.csv")[KNOWN])
    assert list(by_hand) == list(predictions["prediction"])


def test_new_categories_and_values_out_of_range_are_named(fitted):
    folder, _ = fitted
    new = pd.read_csv(folder / "new.csv")
    new.loc[:4, "age"] = 500.0
    new.loc[7, "ward"] = "west"
    new.to_csv(folder / "later.csv", index=False)
    done = lupi_here(
        "predict", "model.skops", "later.csv", "-o", "later-out.csv", cwd=folder
    )
    said = " ".join(done.stdout.split())
    assert "5 of 30 rows have values outside of the training range of age (" in said
    assert "1 of 30 rows has categories that were never seen in training (west)" in (
        said
    )
    # The schema has ranges and categories, not the rows.
    same = lupi_here("predict", "model.skops", "table.csv", "-o", "-", cwd=folder)
    assert "training" not in same.stderr


def later_rows(folder):
    """Write rows whose dates, wards and ages are not as in training."""
    new = pd.read_csv(folder / "new.csv")
    dates = ["2031-01-01"] * 10 + ["garbage"] * 5 + ["01.03.2021"] * 15
    new = new.assign(admitted=dates, ward=None, age=[500.0] + [np.nan] * 29)
    new.to_csv(folder / "unlike.csv", index=False)
    return ["unlike.csv", "-o", "-"]


def test_dates_out_of_range_and_cells_that_are_empty_now_are_named(fitted):
    folder, _ = fitted
    table = clinic()
    asked = later_rows(folder)
    done = lupi_here("predict", "model.skops", *asked, cwd=folder)
    said = " ".join(done.stderr.split())
    first, last = table["admitted"].min(), table["admitted"].max()
    wide = "10 of 30 rows have values outside of the training range of admitted"
    assert f"{wide} ({first} to {last})" in said
    assert "5 of 30 rows have text in admitted that is not a date as in" in said
    assert "such as 'garbage', and is taken as missing." in said
    assert "30 of 30 rows have no value of ward (0 % of the training rows" in said
    # Ages are missing in training as well.
    assert "no value of age" not in said
    pd.read_csv(folder / "unlike.csv").assign(age=None).to_csv(
        folder / "unlike.csv", index=False
    )
    done = lupi_here("predict", "model.skops", *asked, cwd=folder)
    share = f"{table['age'].isna().mean():.0%}".replace("%", " %")
    said = f"30 of 30 rows have no value of age ({share} of the training rows had none"
    assert said in " ".join(done.stderr.split())


def with_details(path, change):
    """Write a model file again, with its details changed."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    about = json.loads(parts["lupi.json"])
    change(about["details"])
    parts["lupi.json"] = json.dumps(about).encode()
    with zipfile.ZipFile(path.with_name("changed.skops"), "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return "changed.skops"


def test_model_files_of_earlier_versions_have_ranges_of_numbers_alone(fitted):
    folder, _ = fitted
    asked = later_rows(folder)

    def as_before(details):
        kept = ("low", "high", "values")
        details["schema"] = {
            name: {key: known[key] for key in kept if key in known}
            for name, known in details["schema"].items()
        }

    older = with_details(folder / "model.skops", as_before)
    done = lupi_here("predict", older, *asked, cwd=folder)
    assert done.returncode == 0
    assert "1 of 30 rows has values outside of the training range of age" in (
        done.stderr
    )
    assert "admitted" not in done.stderr
    older = with_details(folder / "model.skops", lambda details: details.pop("schema"))
    assert lupi_here("predict", older, *asked, cwd=folder).returncode == 0
    forged = with_details(
        folder / "model.skops", lambda details: details.update(schema={"age": 5})
    )
    done = lupi_here("predict", forged, *asked, cwd=folder)
    assert "has details that are not those of lupi" in done.stderr


def test_a_bar_in_a_parameter_divides_no_cell_of_the_card(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    teacher = Pipeline([("a|b", LogisticRegression())])
    model = library.GeneralizedDistillationClassifier(teacher)
    library.save(model.fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]), "model.skops")
    assert main(["card", "model.skops", "-o", "card.md"]) == 0
    card = (tmp_path / "card.md").read_text(encoding="utf-8")
    (line,) = (line for line in card.splitlines() if line.startswith("| teacher |"))
    assert len(re.split(r"(?<!\\)\|", line)) == 4


def test_the_card_of_a_fitted_model_says_that_nothing_was_measured(fitted):
    folder, _ = fitted
    done = lupi_here("card", "model.skops", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    card = (folder / "model-card.md").read_text(encoding="utf-8")
    assert "trained on 160 known outcomes" in card
    assert "not needed when predicting: count_week_20 and remark_week_20" in card
    assert "No comparison was made" in card
    assert "| imitation_weight | 0.5 |" in card
    assert f"File: `model.skops`, of lupi {library.__version__}." in card
    # Of the estimator alone: the preparation would fill lines of 500 characters.
    assert "simpleimputer" not in card
    again = lupi_here("card", "model.skops", cwd=folder)
    assert "--force" in again.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table whose last outcomes are empty cells, and its model."""
    path = tmp_path_factory.mktemp("gaps")
    table = clinic().astype({"outcome": object})
    table.loc[len(table) - N_HIDDEN :, "outcome"] = None
    table.to_csv(path / "gaps.csv", index=False)
    return path


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder


def words(capsys):
    return " ".join(capsys.readouterr().out.split())


def test_hedged_distillation_is_the_default_and_uses_rows_without_outcome(here, capsys):
    assert main(["fit", "gaps.csv", *PLAIN]) == 0
    said = words(capsys)
    assert "60 of 160 rows have no outcome (the cell of 'outcome' is empty)" in said
    model = library.load("model.skops").named_steps["model"].estimator
    assert isinstance(model, library.HedgedDistillationClassifier)
    # Rows without outcome train where they have X*.
    later = pd.read_csv("gaps.csv").filter(like="_week_20")
    usable = int(later.iloc[-N_HIDDEN:].notna().any(axis=1).sum())
    assert 0 < usable <= N_HIDDEN
    model_rows = "training rows of HedgedDistillationClassifier without an outcome"
    assert f"{model_rows}: {usable}." in said
    assert f"fitted on {100 + usable} rows" in said
    # A probability per class.
    assert main(["predict", "model.skops", "gaps.csv"]) == 0
    predicted = pd.read_csv("predictions.csv")
    classes = sorted(pd.read_csv("gaps.csv")["outcome"].dropna().unique())
    names = [f"probability of {name}" for name in classes]
    np.testing.assert_allclose(predicted[names].sum(axis=1), 1.0)
    chosen = np.array(classes)[predicted[names].to_numpy().argmax(axis=1)]
    np.testing.assert_array_equal(chosen, predicted["prediction"])


def test_a_method_that_needs_outcomes_leaves_the_other_rows_out(here, capsys):
    table = pd.read_csv("gaps.csv")
    table["remark"] = [f"seen by {name}" for name in table["patient"]]
    table.to_csv("seen.csv", index=False)
    fit = ["fit", "seen.csv", *PLAIN, "-m", "svc-plus", "--n-candidates=1"]
    assert main([*fit, "--out", "svc.skops"]) == 0
    said = words(capsys)
    assert "training rows of SVCPlus without an outcome: 0." in said
    assert "SVCPlus fitted on 100 rows" in said
    # Support vectors are rows, and text is encoded by its pieces.
    assert main(["card", "svc.skops", "-o", "svc.md"]) == 0
    card = Path("svc.md").read_text(encoding="utf-8").partition("# Limits")[2]
    held = r"can read (\d+) training rows of X and [1-9]\d* pieces of words"
    n_held = re.search(held, card)
    assert n_held is not None
    assert 0 < int(n_held[1]) <= 100
    assert main(["predict", "svc.skops", "seen.csv", "-o", "p.xlsx"]) == 2
    assert "ends in .csv or .parquet" in capsys.readouterr().err


def test_predictions_to_the_standard_output(here, capsys):
    table = clinic()[["age", "count_week_20"]].fillna(0)
    table.to_csv("numbers.csv", index=False)
    model = library.SVCPlus().fit(table, table["age"] > 60)
    library.save(model, "numbers.skops")
    before = sorted(here.iterdir())
    words = ["predict", "numbers.skops", "numbers.csv", "-o", "-", "--keep", "age"]
    assert main(words) == 0
    found = pd.read_csv(io.StringIO(capsys.readouterr().out))
    np.testing.assert_allclose(found["age"], table["age"])
    np.testing.assert_array_equal(found["prediction"], model.predict(table))
    np.testing.assert_allclose(
        found["score of True"], model.decision_function(table), rtol=1e-6
    )
    assert sorted(here.iterdir()) == before


def test_predictions_of_one_class_are_said(here, capsys):
    table = pd.DataFrame({"age": np.arange(40.0), "size": 0.0})
    sick = np.where(np.arange(40) % 10 == 0, "yes", "no")
    library.save(LogisticRegression().fit(table, sick), "rare.skops")
    table.to_csv("ages.csv", index=False)
    assert main(["predict", "rare.skops", "ages.csv", "-o", "rare.csv"]) == 0
    said = "every prediction is 'no'; rank the rows by 'probability of yes'."
    assert said in words(capsys)


def test_text_that_a_spreadsheet_would_evaluate_is_announced(here, capsys):
    table = pd.DataFrame({"age": np.arange(40.0), "size": 0.0, "name": "-Ann"})
    model = LogisticRegression().fit(table[["age", "size"]], np.arange(40) < 20)
    library.save(model, "names.skops")
    table.to_csv("names.csv", index=False)
    asked = ["predict", "names.skops", "names.csv", "--keep", "name", "--out"]
    assert main([*asked, "out.csv"]) == 0
    assert "Text of name that begins with" in words(capsys)
    assert set(pd.read_csv("out.csv")["name"]) == {"'-Ann"}
    assert main([*asked, "out.parquet"]) == 0
    assert "Text of name" not in words(capsys)
    assert set(pd.read_parquet("out.parquet")["name"]) == {"-Ann"}


def test_classes_that_are_never_predicted_are_named(here, capsys):
    table = pd.DataFrame({"age": np.repeat(np.arange(3.0), 20), "size": 0.0})
    vote = np.repeat(["no", "maybe", "yes"], 20)
    vote[::20] = "rare"
    library.save(LogisticRegression().fit(table, vote), "votes.skops")
    table.to_csv("voters.csv", index=False)
    assert main(["predict", "votes.skops", "voters.csv", "-o", "votes.csv"]) == 0
    assert set(pd.read_csv("votes.csv")["prediction"]) == {"no", "maybe", "yes"}
    said = "no prediction is 'rare', of which there are training rows; rank the rows by"
    assert f"{said} 'probability of rare'." in words(capsys)


def test_help_loads_nothing_heavy():
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


def test_the_day_is_first_in_dates_with_dots(tmp_path, monkeypatch):
    """Of all cells alone: neither other cells nor the file decide what a date means."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    month = rng.integers(1, 13, 240)
    day = [f"{d:02}.{m:02}.2020" for d, m in zip(month[::-1], month, strict=True)]
    table = pd.DataFrame({"visit": day, "later": month + rng.normal(size=240)})
    table["y"] = np.where(month + rng.normal(size=240) > 6, "late", "early")
    table.to_csv("table.csv", index=False)
    roles = ["--target", "y", "--privileged", "later"]
    assert main(["fit", "table.csv", *roles, "--n-candidates", "1"]) == 0
    new = table[["visit"]].assign(number=1)
    new.to_csv("new.csv", index=False)
    more = pd.DataFrame({"visit": ["unknown"], "number": [1]})
    pd.concat([new, more]).to_csv("more.csv", index=False)
    found = []
    for name in ("new", "more"):
        assert (
            main(["predict", "model.skops", f"{name}.csv", "-o", f"{name}_y.csv"]) == 0
        )
        found.append(pd.read_csv(f"{name}_y.csv")[:240])
    pd.testing.assert_frame_equal(*found)
    assert (found[0]["prediction"] == table["y"]).mean() > 0.75


def test_predictions_of_numbers_have_intervals(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    later = x + rng.normal(size=400)
    table = pd.DataFrame({"x": x, "later": later, "y": later + rng.normal(size=400)})
    table[:200].to_csv("table.csv", index=False)
    table[200:].to_csv("new.csv", index=False)
    assert main(["fit", "table.csv", "-t", "y", "-p", "later"]) == 0
    assert main(["predict", "model.skops", "new.csv"]) == 0
    found = pd.read_csv("predictions.csv")
    assert list(found.columns) == ["prediction", "90% low", "90% high"]
    y = table["y"][200:].to_numpy()
    inside = (found["90% low"] <= y) & (y <= found["90% high"])
    assert 0.8 <= inside.mean() <= 0.97


def test_probabilities_that_are_not_calibrated_are_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    x, early = rng.normal(size=(2, 600))
    table = pd.DataFrame({"x": x, "early": early, "later": x + rng.normal(size=600)})
    # The log-odds of a ridge student are at least -2, with a probability of 12 %.
    table["ill"] = np.where(x > np.sort(x)[-30], "yes", "no")
    table.to_csv("table.csv", index=False)
    roles = ["--target", "ill", "--privileged", "later", "--jobs", "1", "--quick"]
    method = ["--methods", "generalized-distillation-classifier", "--n-candidates", "1"]
    assert main(["compare", "table.csv", *roles, *method, "--out", "out"]) == 0
    said = "Probabilities of class yes of GeneralizedDistillationClassifier with"
    assert said in words(capsys)
    assert main(["predict", "out/model.skops", "table.csv"]) == 0
    assert said in words(capsys)
    assert main(["card", "out/model.skops", "--out", "card.md"]) == 0
    limits = Path("card.md").read_text(encoding="utf-8").partition("# Limits")[2]
    assert said in limits
