"""``lupi labels``: the list of suspicious labels, the rates, and refusals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lupi.cli import main
from tests.cli.tables import PLAIN, SWIFT, clinic, lupi_here

ROLES = ["--target", "urgent", "--privileged", "annotator", "seconds"]
MORE = ["--drop", "ticket", "checked", "wrong", "--jobs", "1"]


def tickets(n=300):
    """Tickets labelled by three people, of whom the third clicks through."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    urgent = X[:, 0] + X[:, 1] > 0
    who = rng.integers(1, 4, size=n)
    wrong = rng.uniform(size=n) < np.array([0.02, 0.02, 0.4])[who - 1]
    return pd.DataFrame(
        {
            "ticket": [f"T{i}" for i in range(n)],
            "length": X[:, 0].round(3),
            "anger": X[:, 1].round(3),
            "channel": rng.choice(["mail", "chat"], size=n),
            "annotator": who,
            "seconds": rng.exponential(30, size=n).round(1),
            "checked": np.where(~wrong & (np.arange(n) % 5 == 0), "yes", ""),
            "wrong": wrong.astype(int),
            "urgent": np.where(urgent ^ wrong, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def listed(tmp_path_factory):
    """Return the folder of a run, and what it printed."""
    folder = tmp_path_factory.mktemp("labels")
    tickets().to_csv(folder / "tickets.csv", index=False)
    words = ["labels", "tickets.csv", *ROLES, *MORE, "--keep", "ticket", "wrong"]
    return folder, lupi_here(*words, "--clean", "checked", cwd=folder)


def test_the_list_starts_with_the_most_suspicious(listed):
    folder, done = listed
    assert done.returncode == 0, done.stderr
    found, table = pd.read_csv(folder / "labels.csv"), tickets()
    assert list(found.columns) == [
        *("row", "label", "suggestion", "probability of an error", "reason"),
        *("ticket", "wrong"),
    ]
    same = table.iloc[found["row"] - 1]
    assert found["ticket"].tolist() == same["ticket"].tolist()
    assert found["label"].tolist() == same["urgent"].tolist()
    assert (found["label"] != found["suggestion"]).all()
    chance = found["probability of an error"]
    assert (chance > 0.5).all()
    assert chance.is_monotonic_decreasing
    assert found["wrong"].mean() > 0.7 > 3 * table["wrong"].mean()
    assert not (same["checked"] == "yes").any()
    assert found["reason"].str.match(r"annotator 3: [34]\d % wrong").mean() > 0.5


def test_the_rates_are_printed_and_drawn(listed):
    folder, done = listed
    lines = [line.split() for line in done.stdout.splitlines()]
    first = next(line for line in lines if line and line[0] == "annotator")
    assert first[1] == "3"  # names are ordered by their rates
    assert 30 <= int(first[3].rstrip("%")) <= 50
    assert "labels.csv" in done.stdout
    drawn = (folder / "labels.svg").read_text(encoding="utf-8")
    assert drawn.startswith("<?xml")
    words = ["labels", "tickets.csv", *ROLES, *MORE]
    again = lupi_here(*words, cwd=folder)
    assert again.returncode == 2
    assert "--force" in again.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--noise", "pairwise"], "symmetric or classwise"),
        (["--chart", "rates.txt"], "ends in .svg"),
        (["--clean", "length"], "write yes or no"),
        (["--clean", "wrongs"], "did you mean 'wrong'"),
        (["--names", "annotators"], "did you mean 'annotator'"),
        (["--target", "length"], "labels are classes"),
        (["--privileged", "ticket"], "too many for names"),
        (["--threshold", "2"], "threshold"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_refusals(tmp_path, monkeypatch, capsys, words, sentence):
    monkeypatch.chdir(tmp_path)
    table = pd.concat([tickets()] * 2, ignore_index=True)
    table["ticket"] = [f"T{i}" for i in range(len(table))]
    table.to_csv("tickets.csv", index=False)
    rest = ["--drop", "checked", "--jobs", "1"]
    assert main(["labels", "tickets.csv", *ROLES, *rest, *words]) == 2
    assert sentence in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["tickets.csv"]


@pytest.mark.filterwarnings("ignore:.*fewer than two distinct rows")
def test_a_class_of_one_row_is_named_as_the_reason(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table = tickets(12).assign(urgent=["no"] * 11 + ["yes"])
    table.to_csv("tickets.csv", index=False)
    assert main(["labels", "tickets.csv", *ROLES, *MORE]) == 2
    assert "a class has fewer than two distinct rows" in capsys.readouterr().err


@pytest.mark.usefixtures("undrawn")
def test_compare_tests_on_rows_known_to_be_right(tmp_path):
    table = clinic().assign(checked=["yes", "no"] * 80)
    table.to_csv(tmp_path / "table.csv", index=False)
    words = ["compare", "table.csv", *PLAIN, *SWIFT, "--clean", "checked"]
    done = lupi_here(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.replace("│", " ").split())
    assert "among the 80 rows" in said
    assert "try --methods noisy-label-classifier" in said
    results = pd.read_json(tmp_path / "lupi-report" / "results.json", typ="series")
    assert results["settings"]["n_clean"] == 80
    assert results["settings"]["splits"]["n_test"] <= 60
    # The column is no feature of the command that fits the model.
    assert "checked" not in results["settings"]["features"]
    page = (tmp_path / "lupi-report" / "report.html").read_text(encoding="utf-8")
    assert "--drop patient complaint admitted checked" in page
    few = [*words[:-2], "--force", "--clean", "first"]
    table.assign(first=["yes"] * 2 + [""] * 158).to_csv(
        tmp_path / "table.csv", index=False
    )
    refused = lupi_here(*few, "--drop", "checked", cwd=tmp_path)
    assert refused.returncode == 2
    assert "2 rows are known to be right by --clean" in refused.stderr
