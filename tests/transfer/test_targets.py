import numpy as np
import pytest
from scipy.special import expit, logit, softmax
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.svm import LinearSVC

from lupi.transfer._distillation import (
    as_scores,
    as_target,
    class_scores,
    hard_scores,
    log_scores,
    soft_probabilities,
)


def test_two_classes_are_the_log_odds_of_plus_and_minus_two():
    np.testing.assert_allclose(as_target(hard_scores(np.array([0, 1]), 2)), [-2, 2])


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_expected_hard_scores_touch_the_log_odds_at_equal_probabilities(n_classes):
    """E[h(y)] as a function of p has the value and the slope of the scores there."""
    even = np.full(n_classes, 1 / n_classes)
    codes = np.arange(n_classes)

    def expected(p):
        return p @ hard_scores(codes, n_classes)

    np.testing.assert_allclose(expected(even), 0, atol=1e-12)
    step = np.random.default_rng(0).normal(size=n_classes)
    step -= step.mean()
    step *= 1e-5
    np.testing.assert_allclose(
        expected(even + step), log_scores((even + step)[None])[0], rtol=1e-3, atol=1e-9
    )


def test_targets_and_scores_are_inverse():
    rng = np.random.default_rng(0)
    for n_classes in (2, 4):
        p = rng.dirichlet(np.ones(n_classes), size=7)
        scores = log_scores(p)
        np.testing.assert_allclose(as_scores(as_target(scores)), scores, atol=1e-12)
        np.testing.assert_allclose(softmax(scores, axis=1), p)
    p = rng.dirichlet(np.ones(2), size=7)
    np.testing.assert_allclose(as_target(log_scores(p)), logit(p[:, 1]))


def test_temperature_divides_log_odds_and_clip_bounds_them():
    z = np.array([-20.0, -1.0, 0.0, 3.0])
    soft = soft_probabilities(as_scores(z), temperature=2.0, clip=1e-3)
    np.testing.assert_allclose(soft[1:, 1], expit(z[1:] / 2))
    np.testing.assert_allclose(as_target(log_scores(soft))[0], np.log(1e-3), rtol=1e-3)
    assert np.ptp(soft_probabilities(as_scores(z), 1e9, 1e-3)) < 1e-6


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_read_off_any_estimator(n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.array(list("abc"))[np.digitize(X[:, 0], [-0.5, 0.5][: n_classes - 1])]
    classes = np.unique(y)
    for estimator in (LogisticRegression(), LinearSVC(), RidgeClassifier()):
        estimator.fit(X, y)
        scores = class_scores(estimator, X, classes)
        assert scores.shape == (60, n_classes)
        assert np.mean(classes[scores.argmax(axis=1)] == estimator.predict(X)) > 0.98
    logistic = LogisticRegression().fit(X, y)
    np.testing.assert_allclose(
        softmax(class_scores(logistic, X, classes), axis=1),
        logistic.predict_proba(X),
        atol=1e-8,
    )


@pytest.mark.parametrize("temperature", [1.0, 10.0])
def test_an_unseen_class_is_improbable_not_an_error(temperature):
    sure = DummyClassifier().fit(np.zeros((2, 1)), ["b", "b"])
    scores = class_scores(sure, np.zeros((2, 1)), np.array(list("abc")))
    np.testing.assert_allclose(
        soft_probabilities(scores, temperature, 0.01),
        [[0.01 / 1.02, 1 / 1.02, 0.01 / 1.02]] * 2,
    )
