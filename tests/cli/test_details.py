"""What a new user types in the first hour."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

import lupi as library
from lupi.cli import main
from lupi.cli._errors import in_options
from tests.cli.tables import QUICK

rng = np.random.default_rng(0)
N = 150


@pytest.fixture
def school(tmp_path, monkeypatch):
    """Final grades of 0 to 20, some of them rare, and a rating of 1 to 5."""
    monkeypatch.chdir(tmp_path)
    ability = rng.normal(size=N)
    grade = np.clip(np.round(10 + 4 * ability), 0, 20).astype(int)
    table = pd.DataFrame(
        {
            "study": ability + rng.normal(size=N),
            "absences": rng.poisson(4, N),
            "G2": np.clip(grade + rng.integers(-1, 2, N), 0, 20),
            "G3": grade,
            "rating": 1 + np.arange(N) % 5,
            "year": 2024,
        }
    )
    table.loc[0, "rating"] = 6
    table.to_csv("school.csv", index=False)
    return tmp_path


def run(capsys, *words):
    code = main(list(words))
    printed = capsys.readouterr()
    return code, " ".join(printed.out.split()), " ".join(printed.err.split())


def test_grades_are_numbers(school, capsys):
    words = ["-t", "G3", "-p", "G2", "--drop", "rating", "year", "--no-model"]
    methods = ["-m", "generalized-distillation-regressor", "--cv", "2", "-j", "1"]
    code, out, _ = run(
        capsys, "compare", "school.csv", *words, *methods, "--n-candidates", "1"
    )
    assert code == 0
    assert "G3 (regression)" in out
    assert "4 splits (2 folds, repeated twice)" in out
    code, out, _ = run(capsys, "columns", "school.csv", "-t", "G3")
    assert code == 0
    assert "distinct whole numbers, which are treated as numbers; use --task" in out


def test_few_whole_numbers_are_classes_and_the_way_out_is_named(school, capsys):
    words = ["compare", "school.csv", "-t", "rating", "-p", "G2", *QUICK]
    code, _, err = run(capsys, *words)
    assert code == 2
    assert "Class 6 has 1 row(s), fewer than the 2 folds" in err
    assert "with --task regression." in err
    code, _, err = run(capsys, *words, "--train-size", "40")
    assert code == 2
    assert "--train-size" in err
    assert "--task regression" in err
    assert "task=" not in err
    assert "train_size" not in err


def test_a_method_for_the_other_task(school, capsys):
    words = ["compare", "school.csv", "-t", "rating", "-p", "G2"]
    methods = ["-m", "svr-plus", "svc-plus"]
    code, _, err = run(capsys, *words, *methods)
    assert code == 2
    assert "--task regression" in err


def test_a_constant_number_is_written_as_people_write_it(school, capsys):
    code, _, err = run(capsys, "compare", "school.csv", "-t", "year", "-p", "G2")
    assert code == 2
    assert "The target 'year' is 2024 in every row" in err


def test_predictions_to_the_standard_output(school, capsys):
    table = pd.read_csv("school.csv")
    model = library.SVCPlus().fit(table[["study", "absences"]], table["G3"] > 10)
    library.save(model, "model.skops")
    before = sorted(school.iterdir())
    code = main(["predict", "model.skops", "school.csv", "-o", "-", "--keep", "G3"])
    printed = capsys.readouterr()
    assert code == 0
    found = pd.read_csv(io.StringIO(printed.out))
    assert list(found["G3"]) == list(table["G3"])
    expected = model.predict(table[["study", "absences"]])
    np.testing.assert_array_equal(found["prediction"], expected)
    assert sorted(school.iterdir()) == before


def test_methods_are_described_at_any_width(capsys, monkeypatch):
    for width in ("60", "120"):
        monkeypatch.setenv("COLUMNS", width)
        code, out, _ = run(capsys, "methods")
        assert code == 0
        assert "svc-plus" in out
        assert "slacks are a function of privileged features" in out


def test_flags_take_no_value_in_the_help(capsys):
    for command in ("compare", "fit", "predict", "columns"):
        _, out, _ = run(capsys, command, "--help")
        assert "<bool>" not in out
        assert command == "predict" or "Required." in out


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("train_size=9 leaves 2 groups.", "--train-size 9 leaves 2 groups."),
        ('or set task="regression".', "or set --task regression."),
        ("use cv=3 or fewer; labelled rows", "use --cv 3 or fewer; labelled rows"),
        ("labelled=9: leave labelled out.", "--labelled 9: leave --labelled out."),
        ("write --train-size or --cv.", "write --train-size or --cv."),
    ],
)
def test_arguments_become_options(said, expected):
    assert in_options(said) == expected


def test_a_quick_answer(school, capsys):
    words = ["compare", "school.csv", "-t", "G3", "-p", "G2", "--drop", "rating"]
    code, out, _ = run(capsys, *words, "year", "--quick", "--cv", "2", "-j", "1")
    assert code == 0
    assert "HedgedDistillationRegressor in 5 arms" in out
    report = (school / "lupi-report" / "report.html").read_text()
    assert "Learning curve" not in report
