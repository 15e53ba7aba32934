"""A comparison is run again from the file it left."""

from __future__ import annotations

import html
import json
import shlex
from pathlib import Path

import pandas as pd
import pytest

from lupi.cli import main
from lupi.cli._again import remember, without_place
from tests.cli.tables import PLAIN, SWIFT, clinic

# The number of processes is not a part of what is run again.
BARE = ["--no-model", "--jobs", "1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table and its comparison."""
    path = tmp_path_factory.mktemp("again")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        clinic().to_csv("table.csv", index=False)
        assert main(["compare", "table.csv", *PLAIN, *SWIFT, "--seed", "3"]) == 0
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
    assert main([*typed, "--out", "typed", *BARE]) == 0
    arguments = ["compare", "--from", "lupi-report/results.json"]
    assert main([*arguments, "--out", "again", *BARE]) == 0
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
    assert main([*arguments, "--out", "changed", *BARE]) == 0
    assert "data or a version differ" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--from", "nowhere.json"], "No such file: nowhere.json"),
        (["other.csv", "--from", "lupi-report/results.json"], "No such file: other"),
        (["--from", "python.json"], "has no command"),
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


@pytest.fixture
def asked(folder, monkeypatch):
    """Return what ``lupi compare`` is asked for, with nothing computed."""
    monkeypatch.chdir(folder)
    kept = {}

    def keep(asked, **place):
        kept.update(asked, **place)

    monkeypatch.setattr("lupi.cli._compare.run_compare", keep)

    def ask(*words):
        assert main(["compare", *words]) == 0
        return dict(kept)

    return ask


EVERYTHING = [
    *["table.csv", "-t", "outcome", "-p", "count*", "remark*", "--drop", "patient"],
    *["--methods", "svm+", "--metric", "accuracy", "--group", "ward", "--labelled"],
    *["40", "--unlabelled", "50", "--quick", "--columns", "--column-group", "a=count*"],
    *["--column-group", "b=remark*", "--cv", "4", "--n-candidates", "2", "--inner-cv"],
    *["4", "--task", "classification", "--no-model", "--seed", "9"],
]


def again_file(folder, asked):
    """Write a results file that such a command leaves."""
    stored = json.loads((folder / "lupi-report/results.json").read_text())
    stored["settings"]["made"] |= remember(without_place(asked))
    (folder / "everything.json").write_text(json.dumps(stored))
    return stored["settings"]["made"]


def test_every_option_is_kept(folder, asked):
    typed = asked(*EVERYTHING)
    made = again_file(folder, typed)
    again = asked("--from", "everything.json")
    assert again == typed | {"fingerprint": made["fingerprint"]}
    assert asked(*shlex.split(made["command"])[2:]) == typed
    # All that can be asked for was, so that an option to come is not forgotten.
    plain = asked("table.csv")
    same = {name for name in plain if plain[name] == typed[name]}
    place = {"jobs", "out", "force", "fingerprint"}
    assert same == place | {"file", "privileged_file", "key", "train_size"}


def test_an_option_beside_the_file_replaces_the_one_in_it(folder, asked):
    typed = asked(*EVERYTHING)
    again_file(folder, typed)
    changed = asked("next.csv", "--from", "everything.json", "--train-size", "60")
    assert changed == typed | {
        "file": Path("next.csv"),
        "train_size": 60,
        "labelled": None,
        "unlabelled": None,
    }
    # The default, typed, counts as well.
    assert asked("--from", "everything.json", "--seed", "0")["seed"] == 0
    # What does not change the scores leaves the fingerprint to be compared.
    assert asked("--from", "everything.json", "--columns")["fingerprint"]
