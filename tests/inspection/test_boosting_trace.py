"""The boosting displays against the attributes and a plain loop."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, mean_absolute_error, r2_score
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeRegressor

from lupi import GBPlusClassifier, IPLClassifier, IPLRegressor
from lupi.datasets import make_plane
from lupi.inspection import BoostingSurfaceDisplay, BoostingTraceDisplay


@pytest.fixture(scope="module")
def data():
    return make_plane("overlapping", 80, random_state=0)


@pytest.fixture(scope="module")
def model(data):
    ipl = IPLClassifier(n_estimators=8, privileged_reg=0.1, random_state=0)
    return ipl.fit(data.data, data.target, privileged=data.privileged)


def test_objective_and_passes_are_those_of_the_fit(model):
    display = BoostingTraceDisplay.from_estimator(model)
    objective, passes = display.lines_["IPLClassifier"]
    np.testing.assert_array_equal(objective.get_xdata(), np.arange(1, 9))
    last = [trace[-1] for trace in model.objective_trace_]
    np.testing.assert_allclose(objective.get_ydata(), last)
    longest = max(len(trace) for trace in model.objective_trace_)
    assert len(passes.get_ydata()) == longest > 1
    second = [
        trace[min(1, len(trace) - 1)] / trace[0] for trace in model.objective_trace_
    ]
    assert passes.get_ydata()[0] == 1.0
    assert passes.get_ydata()[1] == pytest.approx(np.mean(second))
    assert (np.diff(passes.get_ydata()) <= 1e-12).all()
    trace = display.traces["IPLClassifier"]
    np.testing.assert_array_equal(trace.passes, model.inner_iterations_)
    assert [ax.get_xlabel() for ax in display.axes_] == ["round (trees)", "pass"]


def test_score_against_the_number_of_trees(data, model):
    short = IPLClassifier(n_estimators=3, privileged_reg=0.1, random_state=0)
    short.fit(data.data, data.target, privileged=data.privileged)
    display = BoostingTraceDisplay.from_estimator(
        {"eight": model, "three": short}, data.data, data.target
    )
    score = display.lines_["eight"][2].get_ydata()
    # The first three trees do not know of the others.
    np.testing.assert_array_equal(score[:3], display.lines_["three"][2].get_ydata())
    assert score[-1] == accuracy_score(data.target, model.predict(data.data))
    legend = display.axes_[-1].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["eight", "three"]
    assert display.axes_[2].get_ylabel() == "accuracy"


def test_without_privileged_data_it_is_boosting_as_a_plain_loop(data):
    y = data.data.sum(axis=1)
    ours = IPLRegressor(n_estimators=10, random_state=0).fit(data.data, y)
    total, expected = np.zeros(80), []
    rng = np.random.RandomState(0)
    for _ in range(10):
        tree = DecisionTreeRegressor(max_depth=3, random_state=rng)
        total += 0.1 * tree.fit(data.data, y - total).predict(data.data)
        expected.append(r2_score(y, total))
    display = BoostingTraceDisplay.from_estimator(ours, data.data, y)
    np.testing.assert_allclose(
        display.lines_["IPLRegressor"][2].get_ydata(), expected, rtol=1e-5
    )
    assert display.axes_[2].get_ylabel() == "R²"


def test_several_classes_are_summed_and_metrics_chosen(data):
    y = np.digitize(data.data[:, 0], [-0.5, 0.5])
    model = IPLClassifier(n_estimators=4, random_state=0)
    model.fit(data.data, y, privileged=data.privileged)
    display = BoostingTraceDisplay.from_estimator(
        model, data.data, y, scoring=mean_absolute_error
    )
    expected = sum(run[0][-1] for run in model.objective_trace_)
    assert display.lines_["IPLClassifier"][0].get_ydata()[0] == pytest.approx(expected)
    assert display.axes_[2].get_ylabel() == "mean absolute error"


def test_surface_holds_cross_validated_scores(data):
    model = IPLClassifier(n_estimators=4, random_state=0)
    display = BoostingTraceDisplay.surface(
        model,
        data.data,
        data.target,
        data.privileged,
        privileged_weights=[0.0, 10.0],
        privileged_regs=[0.1, 1.0, 10.0],
        cv=3,
        scoring="accuracy",
    )
    assert isinstance(display, BoostingSurfaceDisplay)
    plain = cross_val_score(model, data.data, data.target, cv=3).mean()
    assert display.baseline == pytest.approx(plain)
    # C1 = 0 is boosting without X*, whatever C2.
    np.testing.assert_allclose(display.scores[:, 0], plain)
    chosen = model.set_params(privileged_weight=10.0, privileged_reg=0.1)
    expected = cross_val_score(
        chosen,
        data.data,
        data.target,
        cv=3,
        params={"privileged": data.privileged},
    ).mean()
    assert display.scores[0, 1] == pytest.approx(expected)
    shown = np.asarray(display.image_.get_array())
    np.testing.assert_allclose(shown, display.scores - display.baseline)
    cells = [text.get_text() for text in display.ax_.texts]
    assert cells == [f"{score:.3f}" for score in display.scores.ravel()]
    ticks = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert ticks == ["0", "10"]


def test_refusals_are_sentences(data, model):
    with pytest.raises(ValueError, match="Only one of X_test"):
        BoostingTraceDisplay.from_estimator(model, data.data)
    other = GBPlusClassifier(n_estimators=2).fit(data.data, data.target)
    with pytest.raises(ValueError, match="Give a fitted IPLClassifier"):
        BoostingTraceDisplay.from_estimator(other)
