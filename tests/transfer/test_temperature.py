"""Soft labels are softmax(f_t / T), whatever kind of teacher f_t comes from."""

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import SVC, LinearSVC

from lupi.transfer import GeneralizedDistillationClassifier

SURE = [
    SVC(kernel="linear", C=1e3),
    LogisticRegression(C=1e9, max_iter=10_000),
    Ridge(alpha=1e-6),
]
CLIP = 1e-3


def draw(n_classes=2):
    """Labels that X* tells without fail, so that a teacher may be very sure."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    P = 5 * X[:, :2] + rng.normal(size=(60, 2))
    cuts = [0.0] if n_classes == 2 else [-4.0, 4.0]
    return X, np.array(list("abc"))[np.digitize(P.sum(axis=1), cuts)], P


def soft_labels(teacher, temperature, n_classes=2, **parameters):
    X, y, P = draw(n_classes)
    model = GeneralizedDistillationClassifier(
        teacher, temperature=temperature, cv=None, clip=CLIP, **parameters
    ).fit(X, y, privileged=P)
    return model, P


def clipped(probabilities):
    raised = np.maximum(probabilities, CLIP)
    return raised / raised.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("teacher", SURE, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("temperature", [1.0, 5.0, 50.0])
def test_the_temperature_divides_the_log_odds_of_every_kind_of_teacher(
    teacher, temperature
):
    model, P = soft_labels(teacher, temperature)
    ask = getattr(model.teacher_, "decision_function", model.teacher_.predict)
    log_odds = ask(P)
    expected = expit(log_odds / temperature)
    np.testing.assert_allclose(
        model.soft_labels_, clipped(np.column_stack([1 - expected, expected]))
    )


@pytest.mark.parametrize("temperature", [1.0, 5.0])
def test_more_classes_have_a_softmax_of_decision_values(temperature):
    teacher = LinearSVC(C=1e3, max_iter=1_000_000, dual=False)
    model, P = soft_labels(teacher, temperature, n_classes=3)
    scores = model.teacher_.decision_function(P)
    np.testing.assert_allclose(
        model.soft_labels_, clipped(softmax(scores / temperature, axis=1))
    )


def test_probabilities_are_raised_to_the_power_of_one_over_the_temperature():
    """softmax(log p / T) in another form, which stays right where p is 0."""
    forest = RandomForestClassifier(20, random_state=0)
    model, P = soft_labels(forest, 3.0, n_classes=3)
    p = model.teacher_.predict_proba(P)
    assert (p == 0).any()
    power = p ** (1 / 3)
    np.testing.assert_allclose(
        model.soft_labels_, clipped(power / power.sum(axis=1, keepdims=True))
    )


@pytest.mark.parametrize("temperature", [1.0, 7.0])
@pytest.mark.parametrize(
    "teacher",
    [LinearSVC(), LogisticRegression(), Ridge(), None],
    ids=lambda one: type(one).__name__,
)
def test_a_class_the_teacher_has_not_seen_gets_the_smallest_probability(
    teacher, temperature
):
    X, y, P = draw(3)
    first = np.r_[np.flatnonzero(y == "c")[:1], np.flatnonzero(y != "c")]
    X, y, P = X[first], y[first], P[first]
    # The one row of class c is judged by a teacher of the other two classes.
    folds = [(np.arange(1, len(y)), [0]), (np.arange(1), np.arange(1, len(y)))]
    model = GeneralizedDistillationClassifier(
        teacher, temperature=temperature, cv=folds, clip=CLIP
    ).fit(X, y, privileged=P)
    assert model.soft_labels_[0, 2] == pytest.approx(CLIP, rel=2 * CLIP)
    # And the others by one who has seen nothing but class c.
    np.testing.assert_allclose(model.soft_labels_[1:, :2], CLIP, rtol=2 * CLIP)


def test_decision_values_for_pairs_of_classes_are_refused():
    X, _, P = draw()
    y = np.arange(60) % 4
    model = GeneralizedDistillationClassifier(SVC(decision_function_shape="ovo"))
    with pytest.raises(ValueError, match="one for each class"):
        model.fit(X, y, privileged=P)
