"""Who has no probabilities says which line gives them, and that line works."""

from __future__ import annotations

import re

import numpy as np
import pytest
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import lupi
from lupi.compose import LUFeClassifier, PrivilegedColumns, TransformedPrivileged
from lupi.datasets import make_mediator

DATA = make_mediator(60, random_state=0)
WRAPPERS = [
    TransformedPrivileged(lupi.LinearSVCPlus(), StandardScaler()),
    PrivilegedColumns(lupi.LinearSVCPlus(), [0]),
    LUFeClassifier(lupi.LinearSVCPlus(), random_state=0),
    lupi.KnowledgeTransferClassifier(final_estimator=LinearSVC(), random_state=0),
    lupi.GeneralizedDistillationClassifier(student=LinearSVC(), random_state=0),
    TransformedPrivileged(
        make_pipeline(StandardScaler(), lupi.LinearSVCPlus()), StandardScaler()
    ),
]


@pytest.mark.parametrize("model", WRAPPERS, ids=lambda model: type(model).__name__)
def test_the_line_of_the_sentence_gives_probabilities(model):
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="no probabilities") as refusal:
        _ = model.predict_proba
    name = type(model).__name__
    line = re.search(r"sklearn\.calibration\..*$", str(refusal.value))[0]
    names = {"X": DATA.data, "y": DATA.target, "P": DATA.privileged}
    calibrated = eval(
        line.replace(f"{name}(...)", "model, cv=2"),
        {"sklearn": sklearn, "model": model, **names},
    )
    assert isinstance(calibrated, CalibratedClassifierCV)
    chances = calibrated.predict_proba(DATA.data)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)


def test_who_has_probabilities_gives_them():
    model = lupi.GeneralizedDistillationClassifier(random_state=0)
    assert callable(model.predict_proba)
    assert "Columns in the order" in type(model).predict_proba.__doc__


def test_a_regressor_is_not_told_to_calibrate():
    model = TransformedPrivileged(lupi.SVRPlus(), StandardScaler())
    with pytest.raises(AttributeError, match="has no attribute 'predict_proba'"):
        _ = model.predict_proba
