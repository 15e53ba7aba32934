"""Properties of GB+ beyond its plain reading."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

from lupi.boosting import GBPlusClassifier

rng = np.random.RandomState(0)
P = rng.normal(size=(150, 3))
X = np.hstack([P[:, :2] + rng.normal(size=(150, 2)), rng.normal(size=(150, 2))])
LABEL = (P[:, 0] - P[:, 1] > 0).astype(int)
NEW = rng.normal(size=(40, 4))
SCHEDULES = ["side_by_side", "teacher_first"]


def model(**options):
    return GBPlusClassifier(**{"n_estimators": 20, "random_state": 0, **options})


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_without_imitation_the_teacher_does_not_matter(schedule):
    # On the training rows, where splits that part them alike predict alike.
    alone = model().fit(X, LABEL).decision_function(X)
    beside = model(imitation_weight=0.0, schedule=schedule).fit(X, LABEL, privileged=P)
    np.testing.assert_allclose(beside.decision_function(X), alone, atol=1e-9)
    pulled = model(schedule=schedule).fit(X, LABEL, privileged=P)
    assert np.abs(pulled.decision_function(X) - alone).max() > 1e-2


def test_strong_imitation_of_a_fixed_teacher_copies_it():
    # With X = X* the student can follow, and the label hardly counts beside a = 100.
    teacher = model(n_estimators=60).fit(P, LABEL).decision_function(P)
    student = model(
        n_estimators=60,
        learning_rate=0.02,
        imitation_weight=100.0,
        schedule="teacher_first",
    ).fit(P, LABEL, privileged=P)
    # The teacher inside is grown at the student's own rate.
    slow = model(n_estimators=60, learning_rate=0.02).fit(P, LABEL).decision_function(P)
    copied = student.decision_function(P)
    assert np.corrcoef(copied, slow)[0, 1] > 0.95
    assert np.abs(copied - slow).max() < np.abs(teacher - slow).max()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_rows_without_privileged_learn_from_their_label(schedule):
    missing = P.copy()
    missing[75:] = np.nan
    fitted = model(schedule=schedule).fit(X, LABEL, privileged=missing)
    assert (fitted.predict(X) == LABEL).mean() > 0.8


def test_train_score_is_the_mean_logistic_loss():
    weight = rng.uniform(0.5, 2.0, size=150)
    fitted = model().fit(X, LABEL, privileged=P, sample_weight=weight)
    assert len(fitted.train_score_) == 20
    expected = log_loss(LABEL, fitted.predict_proba(X), sample_weight=weight)
    np.testing.assert_allclose(fitted.train_score_[-1], expected)


def test_stages_and_many_classes():
    three = np.digitize(P[:, 0], [-0.5, 0.5])
    fitted = model().fit(X, three, privileged=P)
    stages = list(fitted.staged_decision_function(NEW))
    assert len(stages) == 20
    np.testing.assert_allclose(stages[-1], fitted.decision_function(NEW), atol=1e-12)
    labels = list(fitted.staged_predict(NEW))
    np.testing.assert_array_equal(labels[-1], fitted.predict(NEW))
    probability = fitted.predict_proba(NEW)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    np.testing.assert_array_equal(probability.argmax(axis=1), fitted.predict(NEW))
    assert len(fitted.train_score_) == 3
    np.testing.assert_allclose(fitted.feature_importances_.sum(), 1.0)
