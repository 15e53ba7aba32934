"""After every verdict there is something to do, in the words of the interface."""

from __future__ import annotations

import re

import numpy as np
import pytest

from lupi.evaluation import Verdict
from tests.comparisons import of_scores

HEDGED = "HedgedDistillationClassifier"


def steps(kind, *, methods=(HEDGED,), shell=False, n=1000, splits=None, **fields):
    result = of_scores(
        {name: {"without": np.zeros(2)} for name in methods},
        splits={"n_train": 800.0} | (splits or {}),
        labels={"n_labelled": n, "n_unlabelled": 0},
        privileged=["cd4", "cd8"],
    )
    result.verdict = Verdict(kind, "A.", "B.", HEDGED, {}, **fields)
    return result.next_steps(command_line=shell)


@pytest.mark.parametrize("kind", ["helps", "no evidence", "hurts", "failed"])
@pytest.mark.parametrize("n", [10, 1000])
@pytest.mark.parametrize("splits", [None, {"train_size": 60}, {"labelled": 60}])
@pytest.mark.parametrize("shell", [True, False])
def test_there_is_a_next_step_in_the_words_of_the_interface(kind, n, splits, shell):
    found = steps(kind, n=n, splits=splits, shell=shell)
    assert found
    for sentence in found:
        assert sentence.endswith(".")
        strange = r"\w=" if shell else r"--\w"
        assert not re.search(strange, sentence)


def test_no_evidence_on_folds_asks_for_fewer_rows_or_labels():
    shell = " ".join(steps("no evidence", shell=True))
    assert "--train-size 60" in shell
    assert "--labelled 60" in shell
    python = " ".join(steps("no evidence"))
    assert "train_size=60" in python
    assert "labelled=60" in python
    # A table of 100 rows trains on a quarter.
    assert "train_size=25" in " ".join(steps("no evidence", n=100))


def test_rows_without_outcome_that_are_used_are_not_asked_for():
    result = of_scores(
        {HEDGED: {"without": np.zeros(2)}},
        labels={"n_labelled": 1000, "n_unlabelled": 500},
    )
    result.verdict = Verdict("no evidence", "A.", "B.", HEDGED, {})
    assert "labelled" not in " ".join(result.next_steps())


def test_too_few_rows_come_with_their_number():
    assert "an answer needs about 5,000" in steps("no evidence", rows_needed=5000)[0]


def test_nothing_to_gain_asks_for_other_columns():
    assert "other columns" in steps("no evidence", nothing_to_gain=True)[0]


def test_a_gain_on_few_rows_is_not_promised_for_all():
    found = steps("helps", splits={"train_size": 60, "n_train": 60.0}, shell=True)
    assert "Compare without --train-size" in found[0]
    assert "all 1,000" in found[0]


def test_the_hedge_is_offered_to_those_who_did_not_try_it():
    found = " ".join(steps("hurts", methods=["SVCPlus"], shell=True))
    assert "--methods hedged-distillation" in found
    assert "hedged" not in " ".join(steps("hurts"))


def test_a_method_without_a_search_is_not_searched_longer():
    found = steps("no evidence", splits={"labelled": 60})
    assert found == ["Try methods='all', or look for other columns."]
    found = steps("no evidence", splits={"labelled": 60}, methods=[HEDGED, "SVCPlus"])
    assert "n_candidates=30" in found[0]


def test_a_gain_asks_for_its_column():
    assert "--columns" in steps("helps", shell=True)[-1]
    assert "comparison.columns()" in steps("helps")[-1]


def test_a_leak_comes_first():
    assert "contains the target" in steps("helps", leak=True)[0]
