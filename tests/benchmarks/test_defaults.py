"""Defaults of the SVM+ family: what was wanted of them, and what is said of them."""

from __future__ import annotations

import json
import re

import bench_defaults
import numpy as np
import pytest

import lupi
from lupi.datasets import make_slack_teacher

FOUND = json.loads(bench_defaults.FOUND.read_text(encoding="utf-8"))
TEACHER = bench_defaults.TEACHER
HARMLESS = (
    "SVCDeltaPlus",
    "LinearSVCDeltaPlus",
    "MarginTransferSVC",
    "UnifiedSVC",
)
AXES = tuple(bench_defaults.AXES)


def lines(name):
    return [line for line in FOUND["lines"] if line["model"] == name]


def default(name):
    known = getattr(lupi, name)().get_params()
    (line,) = (
        line
        for line in lines(name)
        if all(line[key] == known[key] for key in AXES if key in line)
    )
    return line


@pytest.mark.parametrize("name", HARMLESS)
def test_models_with_a_slack_of_their_own_do_no_harm(name):
    best = max(line[TEACHER] for line in lines(name))
    assert default(name)["mean"] >= -0.01
    # Margin transfer gains nothing there, whatever delta is.
    assert default(name)[TEACHER] >= best / 2 or best < 0.001


@pytest.mark.parametrize(
    "name", ["SVCPlus", "LinearSVCPlus", "DeviationSVCPlus", "L2SVCPlus"]
)
def test_the_least_harmful_default_is_chosen_and_its_harm_is_said(name):
    chosen = default(name)
    assert chosen["mean"] == max(line["mean"] for line in lines(name))
    said = re.search(r"it lost\s+(\S+) AUC", getattr(lupi, name).__doc__).group(1)
    assert float(said) == pytest.approx(-chosen["mean"], abs=6e-4)


def test_the_fair_model_has_the_defaults_of_svm_delta_plus():
    fair, plain = lupi.FairSVCDeltaPlus(), lupi.SVCDeltaPlus()
    assert fair.delta == plain.delta
    assert fair.privileged_reg == plain.privileged_reg


def test_the_guide_has_the_table_of_the_results():
    text = bench_defaults.GUIDE.read_text(encoding="utf-8")
    assert bench_defaults.rows_of(FOUND) in text
    assert FOUND["run"]["n_splits"] >= 20
    assert FOUND["run"]["n_tables"] >= 20


def test_a_split_is_measured_against_the_same_svm():
    data = make_slack_teacher(200, random_state=0)
    tables = data.data, data.privileged, data.target > 0
    models = [("SVCDeltaPlus", {"delta": 1e-9, "privileged_reg": 1.0})]
    _, result = bench_defaults.one_split(tables, "slack_teacher:0", models, np.inf)
    # A slack that costs nothing extra leaves the C-SVM.
    assert result["gains"] == pytest.approx([0.0], abs=1e-3)
