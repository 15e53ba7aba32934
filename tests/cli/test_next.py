"""Every suggested command runs."""

import re
import shlex

import numpy as np
import pandas as pd
import pytest

from tests.cli.tables import lupi_here

pytestmark = pytest.mark.usefixtures("undrawn")

# One method without a search, few splits.
SWIFT = ["--quick", "--no-model", "--cv", "2", "--jobs", "1", "--n-candidates", "1"]


def table(n=80):
    """Return a table with times, groups and targets of several kinds."""
    rng = np.random.default_rng(0)
    first = rng.normal(size=n)
    later = first + 0.5 * rng.normal(size=n)
    y = later + 0.5 * rng.normal(size=n)
    return pd.DataFrame(
        {
            "day": pd.date_range("2021-03-01", periods=n, freq="D").astype(str),
            "first": first,
            "second": rng.normal(size=n),
            "ward": np.arange(n) % 8,
            "later": later,
            "much later": later + 0.5 * rng.normal(size=n),
            "number": y + 0.01 * np.arange(n),
            "two": np.where(y > 0, "yes", "no"),
            "three": np.digitize(y, [-0.5, 0.5]),
            "rare": np.where(y > np.sort(y)[-8], "yes", "no"),
            "sorted": np.sort(np.where(y > 0, "yes", "no")),
        }
    )


TARGETS = ["number", "two", "three", "rare", "sorted"]


def suggestions(said):
    """Return the options of the lines that begin with next, and what they replace."""
    said = " ".join(said.split("\nnext ", 1)[-1].split("results ")[0].split())
    option = r"(--columns|--group(?=:)|--[a-z-]+ [\w-]+)"
    found = re.findall(f"{option}(?:(?: instead of|, without) {option})?", said)
    return [[shlex.split(words) for words in pair] for pair in found]


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("number", []),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (
                ("sorted", ["--drop", "day"]),
                ("number", ["--time", "day"]),
                ("number", ["--labelled", "30"]),
                ("two", ["--group", "ward"]),
                ("two", ["--train-size", "30"]),
                ("three", []),
                ("three", ["--time", "day"]),
                ("rare", []),
                ("rare", ["--time", "day"]),
            )
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "_".join(value) or "plain",
)
def test_the_suggestions_of_a_comparison_run(tmp_path, target, options):
    columns = [name for name in table() if name not in TARGETS or name == target]
    table()[columns].to_csv(tmp_path / "table.csv", index=False)
    words = ["compare", "table.csv", "--target", target, "--privileged", "*later"]
    words += [*options, *SWIFT]
    first = lupi_here(*words, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert "\nnext " in first.stdout
    for number, (more, less) in enumerate(suggestions(first.stdout)):
        # "Compare without --labelled 40" takes an option away.
        if all(word in words for word in more):
            more, less = [], more
        if less == ["--group"]:
            less = [*less, words[words.index("--group") + 1]]
        kept = [word for word in words if word not in less]
        again = lupi_here(*kept, *more, "--out", f"again{number}", cwd=tmp_path)
        assert again.returncode == 0, (more, again.stderr)


def test_the_suggestion_of_columns_runs(tmp_path):
    rows = table().drop(columns=TARGETS[1:])
    rows.assign(number=rows["later"] + 0.1 * rows["number"]).to_csv(
        tmp_path / "table.csv", index=False
    )
    first = lupi_here("columns", "table.csv", "--target", "number", cwd=tmp_path)
    command = " ".join(first.stdout.split("next")[-1].split())
    assert "--time day" in command
    assert "--drop" not in command
    again = lupi_here(*shlex.split(command)[1:], *SWIFT, cwd=tmp_path)
    assert again.returncode == 0, again.stderr


def test_a_time_that_leaves_a_window_without_a_class_is_not_suggested(tmp_path):
    names = ["day", "first", "later", "sorted"]
    table()[names].to_csv(tmp_path / "table.csv", index=False)
    said = lupi_here("columns", "table.csv", "--target", "sorted", cwd=tmp_path).stdout
    assert "next" in said
    assert "--time" not in said
