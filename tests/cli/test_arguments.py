"""Lists of columns in any order of the words, and files that follow them."""

from __future__ import annotations

import io
import runpy
import sys

import numpy as np
import pandas as pd
import pytest

import lupi
from lupi.cli import main

rng = np.random.default_rng(0)
TABLE = pd.DataFrame(
    rng.normal(size=(40, 6)), columns=["id", "ward", "a", "b", "c", "d"]
)
TABLE["y"] = np.where(TABLE["a"] > 0, "yes", "no")
TABLE["notes.txt"] = 1.0


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lists")
    TABLE.to_csv(folder / "t.csv", index=False)
    model = lupi.SVCPlus().fit(TABLE[["a", "b"]], TABLE["y"])
    lupi.save(model, folder / "model.skops")
    return folder


@pytest.fixture(autouse=True)
def here(files, monkeypatch):
    monkeypatch.chdir(files)


@pytest.mark.parametrize(
    "arguments",
    [
        "model.skops t.csv --keep id ward",
        "--keep id ward model.skops t.csv",
        "model.skops --keep id ward t.csv",
        "--keep id,ward model.skops t.csv",
        "--keep id model.skops --keep ward t.csv",
        "--keep id:ward --force model.skops t.csv",
    ],
)
def test_predict_copies_the_columns_of_a_list_and_finds_its_files(arguments, capsys):
    assert main(["predict", "-o", "-", *arguments.split()]) == 0
    found = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert list(found)[:3] == ["id", "ward", "prediction"]
    np.testing.assert_allclose(found["id"], TABLE["id"])


def test_a_column_that_looks_like_a_file_stays_a_column_when_the_file_is_there(capsys):
    words = "predict model.skops t.csv -o - --keep a notes.txt"
    assert main(words.split()) == 0
    header = capsys.readouterr().out.partition("\n")[0]
    assert header.startswith("a,notes.txt,prediction")


@pytest.mark.parametrize(
    "arguments",
    [
        "t.csv -p c d --drop id ward notes.txt -t y",
        "-p c d --drop id ward notes.txt -t y t.csv",
        "-t y --drop id ward notes.txt -p c:d t.csv",
        "--drop id ward notes.txt t.csv -p c --privileged d -t y",
        "--target=y --drop id,ward,notes.txt -p c,d t.csv",
    ],
)
def test_columns_in_every_form_give_the_same_roles(arguments, capsys):
    fit = "fit -m svc-plus --n-candidates 1 --force -o fitted.skops"
    assert main([*fit.split(), *arguments.split()]) == 0
    assert "and 2 columns" in capsys.readouterr().out
    model = lupi.load("fitted.skops")
    assert list(model.feature_names_in_) == ["a", "b"]
    assert list(model[-1].privileged_feature_names_in_) == ["c", "d"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("fit t.csv -t y -p", "Option '-p' requires an argument"),
        ("fit -p t.csv", "Missing argument 'file'"),
        ("compare -t y -p a -- -odd.csv", "No such file: -odd.csv"),
        ("compare t.csv -t y -p a -j 0 -m svc-plus", "a number of processes"),
    ],
)
def test_what_is_missing_is_said(arguments, sentence, capsys):
    assert main(arguments.split()) == 2
    assert sentence in capsys.readouterr().err


def test_the_package_is_the_command(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["lupi", "predict", "nowhere.skops", "t.csv"])
    with pytest.raises(SystemExit) as stopped:
        runpy.run_module("lupi", run_name="__main__")
    assert stopped.value.code == 2
    assert "No such file: nowhere.skops" in capsys.readouterr().err
