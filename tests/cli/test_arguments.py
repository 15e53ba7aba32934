"""Lists of columns and methods as people write them."""

from __future__ import annotations

import pytest

from lupi.cli import _compare, main
from lupi.cli._arguments import write_out_lists
from tests.cli.tables import clinic


def lists(arguments):
    """What each option was given, and the words that stand alone."""
    words = write_out_lists(arguments.split())
    found, alone = {}, []
    at = 0
    while at < len(words):
        if words[at] == "--force":
            at += 1
        elif words[at].startswith("-"):
            found.setdefault(words[at], []).append(words[at + 1])
            at += 2
        else:
            alone.append(words[at])
            at += 1
    return found, alone


@pytest.mark.parametrize(
    "arguments",
    [
        "compare t.csv --privileged a b* c:d --target y --drop e f",
        "compare --privileged a b* c:d --drop e f --target y t.csv",
        "compare --target y --drop e f --privileged a b* c:d t.csv",
        "compare --drop e f t.csv --privileged a b* c:d --target y",
        "compare --force t.csv --privileged a --privileged b* c:d --target y "
        "--drop e --drop f",
    ],
)
def test_lists_go_on_to_the_next_option_and_spare_the_file(arguments):
    found, alone = lists(arguments)
    assert found == {
        "--privileged": ["a", "b*", "c:d"],
        "--target": ["y"],
        "--drop": ["e", "f"],
    }
    assert alone == ["compare", "t.csv"]


def test_predict_takes_back_both_of_its_files():
    found, alone = lists("predict --keep id ward model.skops new.csv")
    assert found == {"--keep": ["id", "ward"]}
    assert alone == ["predict", "model.skops", "new.csv"]


def test_a_column_that_looks_like_a_file_stays_a_column_when_the_file_is_there():
    found, alone = lists("compare t.csv -t y -p a notes.txt")
    assert found["-p"] == ["a", "notes.txt"]
    assert alone == ["compare", "t.csv"]


def test_one_value_or_none_and_words_after_two_dashes_are_left_alone():
    assert write_out_lists(["fit", "-p", "a.csv"]) == ["fit", "-p", "a.csv"]
    assert write_out_lists(["fit", "t.csv", "-p"]) == ["fit", "t.csv", "-p"]
    words = ["compare", "-p", "a", "--", "-odd.csv"]
    assert write_out_lists(words) == words
    assert write_out_lists(["--version"]) == ["--version"]
    assert write_out_lists([]) == []


def test_an_option_keeps_its_own_value():
    words = ["compare", "t.csv", "-j", "-1", "--n_candidates=3", "-m", "a", "b"]
    assert write_out_lists(words) == [
        *("compare", "t.csv", "-j", "-1", "--n_candidates=3", "-m", "a", "-m", "b"),
    ]


def test_columns_and_methods_in_every_form_give_the_same_roles(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    clinic().dropna().to_csv("t.csv", index=False)
    forms = [
        "t.csv -p count_week_20 remark_week_20 --drop patient admitted complaint ward",
        "--drop patient,admitted,complaint,ward -p count_week_20,remark_week_20 t.csv",
        "t.csv --drop patient --drop ward:complaint -p *_week_20",
        "-p count_week_20:remark_week_20 --drop patient ward:complaint t.csv",
    ]
    methods = "-m generalized-distillation-classifier SVCPlus"
    planned = []

    def stop(study, **_):
        planned.append(study)
        raise KeyboardInterrupt

    monkeypatch.setattr(_compare, "run", stop)
    for number, form in enumerate(forms):
        if number == 1:
            methods = "-m generalized-distillation-classifier,svc-plus"
        words = f"compare {form} -t outcome {methods} --out out{number}"
        assert main(words.split()) == 130
        study = planned.pop()
        assert study.settings["features"] == ["age"]
        assert study.settings["privileged"] == ["count_week_20", "remark_week_20"]
        assert [method.name for method in study.methods] == [
            "GeneralizedDistillationClassifier",
            "SVCPlus",
        ]
    capsys.readouterr()
