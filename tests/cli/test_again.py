"""A comparison is run again from the file it left."""

from __future__ import annotations

import html
import json
import shlex

import pandas as pd
import pytest

from lupi.cli import main
from tests.cli.tables import QUICK, ROLES, clinic


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table and its comparison."""
    path = tmp_path_factory.mktemp("again")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        clinic().to_csv("table.csv", index=False)
        assert main(["compare", "table.csv", *ROLES, *QUICK, "--seed", "3"]) == 0
    return path


def made(folder):
    return json.loads((folder / "lupi-report/results.json").read_text())["settings"]


def test_results_carry_command_date_seed_and_versions(folder):
    settings = made(folder)
    assert settings["random_state"] == 3
    assert set(settings["made"]["versions"]) >= {"lupi", "python", "scikit-learn"}
    assert settings["made"]["date"].endswith("+00:00")
    command = settings["made"]["command"]
    page = html.unescape((folder / "lupi-report/report.html").read_text())
    assert command in page
    assert shlex.split(command)[:3] == ["lupi", "compare", "table.csv"]


def test_command_and_file_give_the_same_scores_again(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    typed = shlex.split(made(folder)["made"]["command"])[1:]
    assert main([*typed, "--out", "typed", "--no-model"]) == 0
    arguments = ["compare", "--from", "lupi-report/results.json"]
    assert main([*arguments, "--out", "again", "--no-model"]) == 0
    assert "differ" not in capsys.readouterr().out
    first, *others = (
        pd.read_csv(folder / name / "results.csv").drop(columns="seconds")
        for name in ("lupi-report", "typed", "again")
    )
    for other in others:
        pd.testing.assert_frame_equal(first, other)


def test_data_that_changed_are_noted(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    clinic(seed=5).to_csv("table.csv", index=False)
    arguments = ["compare", "--from", "lupi-report/results.json"]
    assert main([*arguments, "--out", "changed", "--no-model"]) == 0
    assert "data or a version differ" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--from", "nowhere.json"], "No such file: nowhere.json"),
        (["other.csv", "--from", "a.json"], "names the table already"),
        (["--from", "python.json"], "does not hold a command"),
        (["--from", "broken.json"], "is not valid JSON"),
    ],
)
def test_what_cannot_be_run_again_is_said(
    folder, monkeypatch, capsys, arguments, words
):
    monkeypatch.chdir(folder)
    stored = json.loads((folder / "lupi-report/results.json").read_text())
    del stored["settings"]["made"]["asked"]
    (folder / "python.json").write_text(json.dumps(stored))
    (folder / "broken.json").write_text("{")
    assert main(["compare", *arguments]) == 2
    assert words in capsys.readouterr().err
