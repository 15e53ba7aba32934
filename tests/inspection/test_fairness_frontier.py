"""The frontier: covariances within their bounds, disparities as fairlearn has them."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from fairlearn.metrics import demographic_parity_difference
from sklearn.model_selection import StratifiedKFold

from lupi import FairSVCDeltaPlus, SVCDeltaPlus, SVCPlus
from lupi.datasets import make_biased_hiring
from lupi.inspection import FairnessFrontierDisplay

MODEL = FairSVCDeltaPlus(delta=1.0, kernel="linear", privileged_kernel="linear")
CV = StratifiedKFold(3, shuffle=True, random_state=0)

# Where the constraint does not bind, the group may explain no slack: no concern here.
pytestmark = pytest.mark.filterwarnings("ignore:.*trivial solution:UserWarning")


@pytest.fixture(scope="module")
def data():
    return make_biased_hiring(120, bias=0.5, random_state=0)


@pytest.fixture(scope="module")
def display(data):
    return FairnessFrontierDisplay.from_estimator(
        MODEL,
        data.data,
        data.target,
        data.privileged,
        thresholds=[1.0, 0.1, 0.3],
        cv=CV,
    )


def test_covariance_stays_within_the_thresholds(display):
    np.testing.assert_array_equal(display.thresholds, [0.1, 0.3, 1.0])
    assert (display.covariance <= display.thresholds[:, None] + 1e-6).all()
    assert display.disparity[0].mean() < display.disparity[-1].mean()


def test_points_are_means_of_what_fairlearn_measures(data, display):
    disparity, accuracy = [], []
    for train, test in CV.split(data.data, data.target):
        model = FairSVCDeltaPlus(
            covariance_threshold=0.3,
            delta=1.0,
            kernel="linear",
            privileged_kernel="linear",
        )
        model.fit(
            data.data[train],
            data.target[train],
            sensitive_features=data.privileged[train],
        )
        predicted = model.predict(data.data[test])
        accuracy.append(np.mean(predicted == data.target[test]))
        disparity.append(
            demographic_parity_difference(
                data.target[test],
                predicted,
                sensitive_features=data.privileged[test, 0],
            )
        )
    line = display.frontier_[0]
    assert line.get_xdata()[1] == pytest.approx(np.mean(disparity))
    assert line.get_ydata()[1] == pytest.approx(np.mean(accuracy))


def test_thresholds_are_written_beside_their_points(display):
    texts = [label.get_text() for label in display.labels_]
    assert texts[0].startswith("c = 0.1")
    line = display.frontier_[0]
    first = (line.get_xdata()[0], line.get_ydata()[0])
    assert display.labels_[0].xy == pytest.approx(first)
    assert display.ax_.get_xlabel().startswith("disparity between groups")
    # Points that coincide share a label.
    same = FairnessFrontierDisplay(
        thresholds=np.array([0.0, 1.0, 2.0]),
        accuracy=np.array([[0.6, 0.5], [0.9, 0.8], [0.9, 0.8]]),
        disparity=np.array([[0.0, 0.1], [0.5, 0.6], [0.5, 0.6]]),
        covariance=np.zeros((3, 2)),
        n_train=80.0,
        n_test=40.0,
    ).plot()
    assert [t.get_text() for t in same.labels_] == ["c = 0", "c = 1 … 2"]


def test_default_thresholds_run_from_zero_to_no_constraint(data):
    group = np.where(data.privileged[:, 0] > 0, "a", "b")
    display = FairnessFrontierDisplay.from_estimator(
        MODEL, data.data, data.target, group, cv=CV
    )
    star = (group == "a").astype(float)[:, None]
    free = []
    for train, _ in CV.split(data.data, data.target):
        plain = SVCDeltaPlus(delta=1.0, kernel="linear", privileged_kernel="linear")
        plain.fit(data.data[train], data.target[train], privileged=star[train])
        f = plain.decision_function(data.data[train])
        free.append(abs(np.cov(f, star[train, 0], ddof=0)[0, 1]))
    np.testing.assert_allclose(
        display.thresholds, np.linspace(0, np.mean(free), 6), atol=1e-5
    )
    assert display.covariance[0].max() < 1e-6


def test_draws_on_given_axes(display):
    figure, ax = plt.subplots()
    assert display.plot(ax=ax).figure_ is figure
    display.plot()


def test_refusals_are_sentences(data):
    rows = (data.data, data.target)
    with pytest.raises(ValueError, match="Give a FairSVCDeltaPlus"):
        FairnessFrontierDisplay.from_estimator(SVCPlus(), *rows, data.privileged)
    with pytest.raises(ValueError, match="have 120 distinct rows"):
        FairnessFrontierDisplay.from_estimator(MODEL, *rows, data.data)
    with pytest.raises(ValueError, match="disparity is defined for two"):
        FairnessFrontierDisplay.from_estimator(
            MODEL, data.data, np.arange(120) % 3, data.privileged
        )
