"""``lupi compare``: its output in the terminal and its files."""

from __future__ import annotations

import html
import re
import time

import numpy as np
import pandas as pd
import pytest

import lupi as library
from lupi.cli import main
from lupi.evaluation import Comparison
from tests.cli.tables import PLAIN, SHORT, SWIFT, clinic, lupi_here

# The comparison that most tests read is drawn: its fixture is that of the session.
pytestmark = pytest.mark.usefixtures("undrawn")

KNOWN = ["age", "ward"]
LATER = ["count_week_20", "remark_week_20"]
ARMS = ["without X*", "with X*", "shuffled X*", "X as X*", "oracle"]


def words(capsys, *, err=False):
    said = capsys.readouterr()
    return " ".join((said.err if err else said.out).split())


def test_it_prints_the_data_the_table_and_the_verdict(compared):
    folder, done = compared[0] / "lupi-report", compared[1]
    assert done.returncode == 0
    # A slow machine shows its progress.
    assert all(line.startswith("Comparing") for line in done.stderr.splitlines())
    said = done.stdout
    assert "table.csv" in said
    assert "160, of which 16 have no privileged information" in said
    assert "2: count_week_20 and remark_week_20" in said
    assert "16 of 160 rows have no privileged information" in said
    for word in ("without", "with", "shuffled", "oracle", "gain", "verdict"):
        assert word in said
    assert "Which privileged column helps?" in said
    assert "with --columns" not in said
    assert "lupi-report/report.html" in said.splitlines()[-1]
    # The answer stands below the table, and what limits it below the answer.
    table, _, said = " ".join(said.replace("│", "").split()).partition("─ verdict ─")
    answer, _, notes = said.partition("╯")
    verdict = Comparison.from_json(folder / "results.json").verdict
    assert f"{verdict.headline} {verdict.sentence}" in answer
    assert f"• {verdict.notes[0]}" in notes
    assert notes.count("•") == len(verdict.notes)
    means = pd.read_csv(folder / "splits.csv").mean(numeric_only=True)
    accuracy = " ".join(f"{means[f'accuracy {arm}']:.3f}" for arm in ARMS)
    assert f"– accuracy {accuracy} external" in table
    for name in ("external baseline", "constant prediction"):
        assert f" {name} {means[name]:.3f} – accuracy 0." in table
    boosting = "HistGradientBoostingClassifier of scikit-learn with its defaults, on X"
    assert f"external baseline {boosting}" in table


def test_it_writes_report_results_figures_and_model(compared):
    folder = compared[0] / "lupi-report"
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*.*")}
    assert files == {
        *("report.html", "results.csv", "results.json", "columns.csv", "model.skops"),
        "splits.csv",
        "curve.csv",
        *("figures/comparison.png", "figures/comparison.svg"),
        *("figures/columns.png", "figures/columns.svg"),
    }
    table = pd.read_csv(folder / "results.csv")
    assert list(table["arm"]) == [*ARMS, "external baseline", "constant baseline"]
    assert (table["n_splits"] == 2).all()
    stored = Comparison.from_json(folder / "results.json")
    assert stored.settings["target"] == "outcome"
    assert stored.settings["features"] == KNOWN
    assert stored.settings["privileged"] == LATER
    assert stored.settings["n_privileged_rows"] == 144
    np.testing.assert_allclose(stored.table["score"], table["score"][:5])
    outside = stored.settings["outside"]
    found = table.loc[5, ["score", "std_error"]].astype(float)
    np.testing.assert_allclose(found, [outside["score"], outside["std_error"]])
    assert table.at[6, "score"] == stored.settings["constant"]
    gains = pd.read_csv(folder / "columns.csv")
    assert set(gains["group"]) == set(LATER)
    splits = pd.read_csv(folder / "splits.csv")
    assert not splits["left_out"].any()
    np.testing.assert_allclose(splits[ARMS].mean(), table["score"][:5])
    constants = splits["constant prediction"]
    np.testing.assert_allclose(constants, stored.settings["constants"])
    baseline = splits["external baseline"]
    np.testing.assert_allclose(baseline, outside["scores"])
    np.testing.assert_allclose(baseline.mean(), outside["score"])
    over = baseline.mean() - constants.mean()
    assert table.at[5, "over_constant"] == pytest.approx(over)
    assert table.at[5, "over_constant_low"] < over < table.at[5, "over_constant_high"]
    assert (splits["n_train_privileged"] < splits["n_train"]).all()
    found = splits[f"accuracy {ARMS[1]}"].mean()
    assert found == pytest.approx(table.at[1, "accuracy"])
    curve = pd.read_csv(folder / "curve.csv").set_index(["arm", "n_train"])
    scores = table.set_index("arm")
    for arm in ("without X*", "with X*"):
        at_compared = curve.loc[(arm, 100), ["score", "low", "high"]].astype(float)
        expected = scores.loc[arm, ["score", "low", "high"]].astype(float)
        np.testing.assert_allclose(at_compared, expected)
    stored_curve = [line["score"] for line in stored.settings["curves"]]
    np.testing.assert_allclose(stored_curve, curve["score"])


def test_the_report_has_columns_curves_and_the_saved_model(compared):
    page = (compared[0] / "lupi-report" / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "Which privileged column helps?" in page
    assert page.count('aria-label="Gains:') == 2
    assert "Learning curve" in page
    assert "lupi-report/model.skops" in page
    assert "pd.read_csv" in page


def test_the_saved_model_works_in_the_four_lines_of_the_report(compared):
    model = library.load(compared[0] / "lupi-report" / "model.skops")
    table = clinic(30, seed=1)
    assert list(model.feature_names_in_) == KNOWN
    assert set(model.predict(table[model.feature_names_in_])) == {"event", "none of it"}
    with pytest.raises(ValueError, match=r"[Cc]olumns|order"):
        model.predict(table[["ward", "age"]])


def test_the_card_of_the_model_has_verdict_scores_and_limits(compared):
    folder, _ = compared
    done = lupi_here("card", "lupi-report/model.skops", "-o", "card.md", cwd=folder)
    assert done.returncode == 0
    card = (folder / "card.md").read_text(encoding="utf-8")
    stored = Comparison.from_json(folder / "lupi-report" / "results.json")
    verdict = stored.verdict
    assert f"\n{verdict.headline} {verdict.sentence}\n" in card
    assert verdict.notes
    assert "\n".join(f"- {note}" for note in verdict.notes) in card
    line = stored.intervals().set_index("arm").loc["with"]
    assert f"| with X* | {line['value']:.3f} | {line['low']:.3f} to" in card
    assert "The splits were random" in card
    assert stored.choice[1] == "without"
    assert "Compared, not used by this model: count_week_20 and" in card
    share = (pd.read_csv(folder / "table.csv")["outcome"] == "event").mean()
    assert f"event {share:.1%}".replace("%", " %") in card


def test_the_card_counts_and_names_the_splits_that_are_left_out(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + 0.01 * rng.normal(size=60)
    # The two folds that test this row have an R² that is far below zero.
    X[7, 0] = 30.0
    table = pd.DataFrame({"x": X[:, 0], "later": X[:, 1], "y": y})
    table.to_csv(tmp_path / "table.csv", index=False)
    monkeypatch.chdir(tmp_path)
    words = ["compare", "table.csv", "-t", "y", "-p", "later", "--quick", "-j", "1"]
    words += ["--methods", "generalized-distillation-regressor", "--n-candidates", "1"]
    assert main(words) == 0
    assert main(["card", "lupi-report/model.skops", "-o", "card.md"]) == 0
    card = (tmp_path / "card.md").read_text(encoding="utf-8")
    assert "Regressor: 8 of 10 random splits (5 folds, repeated twice)" in card
    assert re.search(r"† Splits \d+ and \d+ of 10 are left out", card)
    assert "GeneralizedDistillationRegressor over all 10 splits are: without X*" in card


def test_few_outcomes_and_all_have_the_same_words_in_all_outputs(tmp_path):
    table = clinic(120)[["age", "count_week_20", "outcome"]].dropna()
    table.to_csv(tmp_path / "table.csv", index=False)
    words = ["compare", "table.csv", "-t", "outcome", "-p", "count*", "--quick"]
    words += ["--labelled", "30", "--cv", "2", "-j", "1"]
    done = lupi_here(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "lupi-report"
    lupi_here("card", "lupi-report/model.skops", "-o", "card.md", cwd=tmp_path)
    card = (tmp_path / "card.md").read_text(encoding="utf-8")
    page = (folder / "report.html").read_text(encoding="utf-8").replace("<wbr>", "")
    stored = Comparison.from_json(folder / "results.json")
    full = stored.full_size
    said = " ".join(done.stdout.replace("│", "").split())
    shown = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())
    for text in (said, shown, card):
        for verdict in (stored.verdict, full.verdict):
            assert verdict.headline in text
            assert verdict.sentence in text
        for note in (*stored.verdict.notes, *full.verdict.notes):
            assert text.count(note) == 1
    for text in (said, shown):
        assert text.count("encoded as for the methods but with missing numbers") == 1
        for own, size in ((stored, "30"), (full, "about 79")):
            level = own.folds.groupby("arm")["score"].mean()["without"]
            rows = rf" {size} training rows HedgedDistillation\w* {level:.3f} "
            assert re.search(rows, text)
            outside, constant = own.settings["outside"], own.settings["also"]
            assert (
                f" external baseline {np.mean(outside['scores']):.3f} "
                f"– accuracy {outside['accuracy']:.3f} "
                f"constant prediction {np.mean(own.settings['constants']):.3f} "
                f"– accuracy {constant['accuracy']:.3f} "
            ) in text
    assert "With all" in full.verdict.headline
    assert "instead of 30, " in full.verdict.headline
    found = pd.read_csv(folder / "results.csv")
    baselines = found[found["arm"] == "external baseline"]
    assert len(baselines) == 2
    without = found.loc[found["arm"] == "without X*", "score"].to_numpy()
    assert baselines["difference"].to_numpy() == pytest.approx(
        baselines["score"].to_numpy() - without
    )
    accuracies = [own.settings["outside"]["accuracy"] for own in (stored, full)]
    assert baselines["accuracy"].tolist() == pytest.approx(accuracies)
    splits = pd.read_csv(folder / "splits.csv")
    for each, (_, own) in zip(
        (stored, full), splits.groupby("size", sort=False), strict=True
    ):
        n_train = own["n_train"].mean()
        assert n_train == pytest.approx(each.settings["splits"]["n_train"])
        line = found[np.isclose(found["n_train"], n_train)].set_index("arm")
        assert own["with X*"].mean() == pytest.approx(line.at["with X*", "score"])
        for split in own["with X*"]:
            assert f">{split:.3f}</td>" in page
        rows = each.folds[each.folds["arm"] == "with"]
        for name in ("n_train", "n_test"):
            assert own[name].tolist() == rows[name].tolist()
    # The time is that of all fits and more, and the date that of the start.
    fits = stored.folds["seconds"].sum() + full.folds["seconds"].sum()
    assert stored.settings["seconds"] > fits
    assert re.search(r" s from reading the data to writing the results<", page)
    assert stored.settings["made"]["date"] <= full.settings["made"]["date"]
    assert f"<dt>Start</dt><dd>{stored.settings['made']['date'][:10]}" in page
    constant = found[found["arm"] == "constant baseline"]
    assert len(constant) == 2
    rate = table["outcome"].value_counts(normalize=True).max()
    np.testing.assert_allclose(constant["accuracy"], rate, atol=0.02)
    # The external baseline is compared with the model that is kept, split by split.
    outside = full.settings["outside"]
    assert outside["difference"] == pytest.approx(
        outside["score"] - full.table.set_index("arm").at[full.choice[1], "score"]
    )
    assert outside["difference_low"] < outside["difference"]


def test_the_scores_of_rare_classes_leave_room_for_the_numbers(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(160, 2)), columns=["x", "later"])
    names = [f"a kind of outcome with a long name, {letter}" for letter in "abc"]
    table["kind"] = np.repeat([*names, "other"], [12, 13, 14, 121])
    table.to_csv("table.csv", index=False)
    words = ["compare", "table.csv", "-t", "kind", "-p", "later", *SWIFT]
    assert main(words) == 0
    said = capsys.readouterr().out
    table, _, _ = said.partition("without X*  ")
    assert "…" not in table
    heads = re.search(r"^ *method .*$", table, re.MULTILINE).group().split()
    assert heads == ["method", *["X*"] * 4, "oracle", "gain", "p", "closed"]
    splits = pd.read_csv("lupi-report/splits.csv")
    for name in names:
        means = (splits[f"average_precision of {name} {arm}"].mean() for arm in ARMS)
        assert " ".join(f"{mean:.3f}" for mean in means) in " ".join(table.split())


def test_an_older_run_is_replaced_only_by_force(compared):
    before = (compared[0] / "lupi-report" / "results.json").read_bytes()
    again = lupi_here("compare", "table.csv", *PLAIN, *SHORT, cwd=compared[0])
    assert again.returncode == 2
    assert (compared[0] / "lupi-report" / "results.json").read_bytes() == before


def test_force_replaces_an_older_run_and_leaves_nothing_of_it(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    table = clinic()[["age", "count_week_20", "outcome"]].dropna()
    table.to_parquet("table.parquet")
    out = tmp_path / "lupi-report"
    out.mkdir()
    for name in ("report.html", "model.skops", "columns.csv", "curve.csv"):
        (out / name).write_text("older")
    arguments = ["compare", "table.parquet", "-t", "outcome", "-p", "count*"]
    assert main([*arguments, *SWIFT, "--force"]) == 0
    assert not (out / "model.skops").exists()
    assert not (out / "columns.csv").exists()
    assert not (out / "curve.csv").exists()
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "lupi fit table.parquet" in page
    assert "Learning curve" not in page


def test_grades_are_numbers_and_groups_are_kept_together(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    ability, school = rng.normal(size=200), np.arange(200) // 2
    grade = np.clip(np.round(10 + 4 * ability), 0, 20).astype(int)
    table = pd.DataFrame(
        {
            "study": ability + rng.normal(size=200),
            "G2": np.clip(grade + rng.integers(-1, 2, 200), 0, 20),
            "school": school,
            "G3": grade,
        }
    )
    table.to_csv("school.csv", index=False)
    roles = ["-t", "G3", "-p", "G2", "--group", "school", "--no-model", "-j", "1"]
    assert main(["compare", "school.csv", *roles, "--quick", "--cv", "2"]) == 0
    said = words(capsys)
    assert "G3 (regression)" in said
    assert "distinct whole numbers, which are treated as numbers; use --task" in said
    assert "HedgedDistillationRegressor in 5 arms" in said
    assert "R², higher is better" in said
    assert "4 random splits (2 folds, repeated twice)" in said
    assert "rows of a group kept together" in said


def test_rows_without_an_outcome_train_and_are_never_tested(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    table = clinic().astype({"outcome": object})
    table.loc[100:, "outcome"] = None
    table.to_csv("gaps.csv", index=False)
    arguments = ["compare", "gaps.csv", *PLAIN, "-m", "hedged-distillation"]
    short = ["--labelled", "20", "--cv", "2", "--quick", "--no-model", "-j", "1"]
    assert main([*arguments, *short]) == 0
    said = words(capsys)
    assert "told apart from the others by X and X*" in said
    assert "160, of which 16 have no privileged information; 60 have no outcome" in said
    stored = Comparison.from_json("lupi-report/results.json")
    # Rows without outcome are training rows where they have X*.
    usable = int(table.loc[100:, "count_week_20"].notna().sum())
    assert 0 < usable < 60
    assert f"{usable} of them, which have X*, are training rows of each split" in said
    used = stored.folds.loc[stored.folds["arm"] == "with", "n_unlabelled"]
    low, high = stored.settings["splits"]["n_unlabelled_range"]
    assert (low, high) == (used.min(), used.max())
    rows = r"2 random splits, 20 training rows with an outcome \(\d+( to \d+)? of class"
    assert re.search(rf"{rows} .*?\) and (about )?\d+ with X\* and without one,", said)
    assert stored.settings["labels"]["n_unlabelled"] == 60
    assert stored.settings["splits"]["labelled"] == 20
    assert "60 have no outcome" in (tmp_path / "lupi-report/report.html").read_text(
        encoding="utf-8"
    )


def test_a_split_by_time_says_which_rows_and_models_it_is_about(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(140, 3)), columns=["x", "later", "y"])
    table["year"] = 1980 + np.arange(140) // 7
    table.loc[table["year"] > 1996, "y"] = np.nan
    table.to_csv("table.csv", index=False)
    roles = ["compare", "table.csv", "-t", "y", "-p", "later", "--time", "year"]
    assert main([*roles, "--quick", "--cv", "2", "-j", "1"]) == 0
    said = words(capsys).replace("│ ", "")
    # Rows that are later than all test rows train nothing.
    assert "21 have no outcome and are no test rows: none is a training row, be" in said
    # Half and three quarters of the known outcomes are nearest to these years.
    assert "(1989 to 1992 and 1993 to 1996)" in said
    stored = Comparison.from_json("lupi-report/results.json")
    assert (stored.folds["n_unlabelled"] == 0).all()
    found = pd.read_csv("lupi-report/results.csv")
    assert (found["n_train_min"] == 63).all()
    assert (found["n_train_max"] == 91).all()
    table.to_csv("new.csv", index=False)
    below = "is not better than predicting the mean of the earlier rows."
    assert below in said
    assert main(["predict", "lupi-report/model.skops", "new.csv"]) == 0
    said = words(capsys)
    assert "rows that are like the training rows, and fewer if rows change" in said
    assert below in said
    assert main(["card", "lupi-report/model.skops", "-o", "card.md"]) == 0
    card = (tmp_path / "card.md").read_text(encoding="utf-8")
    assert "- The prediction intervals contain 90 % of the outcomes, on average" in card


def test_time_splits_the_past_from_the_future(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    columns = ["age", "admitted", "count_week_20", "outcome"]
    table = clinic()[columns].dropna().sample(frac=1, random_state=0)
    table.to_csv("clinic.csv", index=False)
    roles = ["compare", "clinic.csv", "-t", "outcome", "-p", "count_week_20"]
    short = ["--quick", "--no-model", "-j", "1", "-m", "svc-plus", "--n-candidates=1"]
    assert main([*roles, *short, "--time", "admitted", "--cv", "1"]) == 0
    said = words(capsys)
    how = "1 split by time (admitted), trained on the past and tested on the future"
    assert how in said.replace("│ ", "")
    stored = Comparison.from_json("lupi-report/results.json")
    rows = f"{stored.folds['n_train'][0]} earlier training rows"
    assert f"one split by time (admitted): {rows}" in said
    # The column of the times is not a feature.
    assert "1: age; admitted makes the splits and is not used to predict" in said
    assert stored.settings["features"] == ["age"]
    page = (tmp_path / "lupi-report/report.html").read_text(encoding="utf-8")
    assert "--drop admitted" in page
    assert main([*roles, *short, "--time", "count_week_20"]) == 2
    assert "--time count_week_20: this column is the target or" in words(
        capsys, err=True
    )


def test_rows_are_numbered_from_one_and_small_gains_fit_in_the_table(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    age, later = rng.normal(size=(2, 120))
    table = pd.DataFrame({"age": age, "later": later, "known": np.arange(120) + 2.5})
    # The differences of squared errors have digits at the fifth decimal and beyond.
    table["small"] = 0.004 * (age + later + rng.normal(size=120))
    table.to_csv("table.csv", index=False)
    roles = ["compare", "table.csv", "-t", "small", "-p", "later"]
    times = ["--time", "row-number", "--outcome-time", "known"]
    short = [
        "--quick",
        "--no-model",
        "-j",
        "1",
        "-m",
        "generalized-distillation-regressor",
    ]
    metric = ["--metric", "neg_mean_squared_error", "--n-candidates", "1"]
    assert main([*roles, *times, *short, *metric]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"\(−0\.0000\d{2,}\b", printed)
    heads = re.search(r"^ *method .*$", printed, re.MULTILINE).group().split()
    assert heads == ["method", *["X*"] * 4, "oracle", "gain", "p", "closed"]
    said = " ".join(printed.split())
    assert "101 to 120" in said
    assert "1: age; row-number and known make the splits and are not used to" in said


@pytest.mark.parametrize("arguments", [[], ["--help"], ["compare", "--help"]])
def test_help_is_given(arguments, capsys):
    assert main(arguments) == 0
    assert "Usage: lupi" in capsys.readouterr().out


def test_flags_take_no_value_in_the_help(capsys):
    for command in ("compare", "fit", "predict", "columns"):
        assert main([command, "--help"]) == 0
        said = capsys.readouterr().out
        assert "<bool>" not in said
        assert command == "predict" or "required with a FILE" in said


def test_the_help_says_that_sizes_of_whole_groups_are_approximate(capsys):
    assert main(["compare", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert said.count("With --group, whole groups are drawn: N rows or more.") == 2


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"lupi {library.__version__}\n"


def test_methods_are_described_at_any_width(capsys, monkeypatch):
    for width in ("60", "120"):
        monkeypatch.setenv("COLUMNS", width)
        assert main(["methods"]) == 0
        said = words(capsys)
        assert "svc-plus" in said
        assert "slacks are a function of privileged features" in said


def test_lines_of_progress_are_counted_over_the_parts_of_a_run(
    tmp_path, monkeypatch, capsys
):
    """The second part begins eleven seconds later, and does not take ten itself."""
    monkeypatch.chdir(tmp_path)
    rng, later = np.random.default_rng(0), [0.0]
    table = pd.DataFrame(rng.normal(size=(60, 4)), columns=["x", "p", "later", "y"])
    table.to_csv("table.csv", index=False)
    clock, columns = time.monotonic, Comparison.columns

    def much_later(*arguments, **options):
        later[0] += 11
        return columns(*arguments, **options)

    monkeypatch.setattr("time.monotonic", lambda: clock() + later[0])
    monkeypatch.setattr(Comparison, "columns", much_later)
    words = ["compare", "table.csv", "-t", "y", "-p", "p,later", "--quick"]
    words += ["--cv", "2", "--jobs", "1", "--columns", "--no-model"]
    assert main(words) == 0
    assert re.search(
        r"^Comparing columns: 1 of \d+, about", capsys.readouterr().err, re.MULTILINE
    )
