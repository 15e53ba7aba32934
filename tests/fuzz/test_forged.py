"""Forged model files: refused in a sentence, or used without reading outside."""

from __future__ import annotations

import pytest
from sklearn.base import BaseEstimator

import lupi
from tests.fuzz.models import fuzzed, saved_models
from tests.fuzz.run import fuzz

HARMLESS = {"refused", "error", "predicted"}
QUICK = ["SVCPlus", "sparse", "tree", "sparse SVC", "HedgedDistillationRegressor"]


def bad(outcomes):
    return [outcome for outcome in outcomes if outcome.kind not in HARMLESS]


def test_every_estimator_is_fuzzed():
    kinds = {type(model).__name__ for _, model, *_ in fuzzed()}
    public = (getattr(lupi, name) for name in lupi.__all__)
    models = [one for one in public if isinstance(one, type)]
    assert {one.__name__ for one in models if issubclass(one, BaseEstimator)} <= kinds


# `tests/test_persistence.py` forges files by hand, in this process.
@pytest.mark.slow
def test_forged_files_do_no_harm():
    outcomes = fuzz(saved_models(QUICK), range(30))
    assert bad(outcomes) == []
    assert {outcome.kind for outcome in outcomes} == HARMLESS


@pytest.mark.slow
def test_forged_files_of_all_models_do_no_harm():
    assert bad(fuzz(saved_models(), range(1000))) == []
