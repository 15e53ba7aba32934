"""A comparison is repeated from its results file."""

from __future__ import annotations

import html
import json
import re
import shlex

import pandas as pd
import pytest

from lupi.cli import main
from tests.cli.tables import clinic

pytestmark = pytest.mark.usefixtures("undrawn")

EVERYTHING = [
    *["table.csv", "-t", "outcome", "-p", "count*", "remark*", "--drop", "ward"],
    *["complaint", "--time", "admitted", "--methods", "hedged-distillation"],
    *[
        "--metric",
        "accuracy",
        "--group",
        "patient",
        "--train-size",
        "50",
        "--quick",
        "--columns",
    ],
    *["--column-group", "a=count*", "--column-group", "b=remark*", "--cv", "2"],
    *["--n-candidates", "2", "--inner-cv", "4", "--task", "classification"],
    *["--no-model", "--seed", "9", "--missing=-99", "--missing=unknown"],
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table, a comparison with every option, and its repetition."""
    path = tmp_path_factory.mktemp("again")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        clinic().to_csv("table.csv", index=False)
        assert main(["compare", *EVERYTHING, "--jobs", "1"]) == 0
        page = html.unescape((path / "lupi-report/report.html").read_text("utf-8"))
        (repeat,) = re.findall("<code>lupi (compare --from .*)</code>", page)
        assert main([*shlex.split(repeat), "--jobs", "1"]) == 0
        (path / "lupi-report-again").rename("again")
    return path


def settings(folder, name="lupi-report"):
    return json.loads((folder / name / "results.json").read_text(encoding="utf-8"))[
        "settings"
    ]


def test_results_have_command_date_seed_and_versions(folder):
    found = settings(folder)
    assert found["random_state"] == 9
    assert set(found["made"]["versions"]) >= {"lupi", "python", "scikit-learn"}
    assert found["made"]["date"].endswith("+00:00")
    command = found["made"]["command"]
    page = html.unescape(
        (folder / "lupi-report/report.html").read_text(encoding="utf-8")
    )
    assert command in page
    assert shlex.split(command)[:3] == ["lupi", "compare", "table.csv"]


def test_every_option_is_kept_and_gives_the_same_scores(folder):
    first, again = settings(folder), settings(folder, "again")
    for part in ("command", "asked", "fingerprint"):
        assert again["made"][part] == first["made"][part]
    asked = first["made"]["asked"]
    typed = {"methods": ["hedged-distillation"], "train_size": 50, "inner_cv": 4}
    typed |= {"column_group": ["a=count*", "b=remark*"], "quick": True, "seed": 9}
    assert {name: asked[name] for name in typed} == typed
    # All other options were used too, so that one to come is not forgotten.
    unused = {name for name, value in asked.items() if value in (None, [], False)}
    assert unused == {
        *("privileged_file", "key", "labelled", "unlabelled", "outcome_time", "clean")
    }
    for name in ("results.csv", "columns.csv"):
        tables = [
            pd.read_csv(folder / each / name) for each in ("lupi-report", "again")
        ]
        one, other = (t.drop(columns="seconds", errors="ignore") for t in tables)
        pd.testing.assert_frame_equal(one, other)


def test_the_command_in_words_asks_for_the_same(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    words = shlex.split(settings(folder)["made"]["command"])[1:]
    # The results are there already: the options are read before that is found.
    assert main(words) == 2
    assert "older run" in capsys.readouterr().err
    assert words.count("--column-group") == 2
    dropped = words[words.index("--drop") + 1 :][:2]
    assert dropped == ["ward", "complaint"]


def test_an_option_beside_the_file_replaces_the_one_in_it(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    clinic(seed=5).to_csv("next.csv", index=False)
    words = ["compare", "next.csv", "--from", "lupi-report/results.json"]
    # The default, typed, counts as well.
    words += ["--labelled", "20", "--seed", "0", "--out", "changed", "--jobs", "1"]
    assert main(words) == 0
    assert "data or a version differ" not in capsys.readouterr().out
    asked = settings(folder)["made"]["asked"]
    expected = asked | {"file": "next.csv", "labelled": 20, "seed": 0}
    expected |= {"train_size": None}
    assert settings(folder, "changed")["made"]["asked"] == expected


def test_data_that_changed_are_noted(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    clinic(seed=5).to_csv("table.csv", index=False)
    # Columns do not change the scores, which the fingerprint stands for.
    words = ["compare", "--from", str(folder / "lupi-report/results.json")]
    assert main([*words, "--columns", "--jobs", "1"]) == 0
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
def test_what_cannot_be_repeated_is_said(folder, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(folder)
    stored = json.loads(
        (folder / "lupi-report/results.json").read_text(encoding="utf-8")
    )
    del stored["settings"]["made"]["asked"]
    (folder / "python.json").write_text(json.dumps(stored))
    (folder / "broken.json").write_text("{")
    assert main(["compare", *arguments]) == 2
    assert words in capsys.readouterr().err
