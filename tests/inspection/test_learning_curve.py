"""The learning curves: same rows for all three, and scores computed again plainly."""

import numpy as np
import pytest
from scipy import stats
from sklearn.model_selection import KFold
from sklearn.svm import SVC

from lupi import SVCPlus, SVRPlus
from lupi.datasets import make_plane
from lupi.inspection import PrivilegedLearningCurveDisplay


@pytest.fixture(scope="module")
def data():
    return make_plane("overlapping", 60, random_state=0)


@pytest.fixture(scope="module")
def display(data):
    return PrivilegedLearningCurveDisplay.from_estimator(
        SVCPlus(privileged_reg=0.1),
        data.data,
        data.target,
        data.privileged,
        train_sizes=[10, 0.5, 1.0],
        cv=KFold(3, shuffle=True, random_state=0),
        random_state=0,
    )


def test_full_training_sets_score_as_a_plain_loop_does(data, display):
    assert display.train_sizes.tolist() == [10, 20, 40]
    folds = KFold(3, shuffle=True, random_state=0).split(data.data)
    for column, (train, test) in enumerate(folds):
        X, y, star = data.data[train], data.target[train], data.privileged[train]
        svc = SVC(tol=1e-10).fit(X, y)
        expected = svc.score(data.data[test], data.target[test])
        assert display.scores["without"][-1, column] == pytest.approx(expected)
        plus = SVCPlus(privileged_reg=0.1).fit(X, y, privileged=star)
        expected = plus.score(data.data[test], data.target[test])
        assert display.scores["with"][-1, column] == pytest.approx(expected)


def test_lines_are_means_and_bands_student_intervals(display):
    display.plot()
    factor = stats.t.ppf(0.975, 2)
    for arm, line in display.lines_.items():
        scores = display.scores[arm]
        np.testing.assert_array_equal(line.get_xdata(), [10, 20, 40])
        np.testing.assert_allclose(line.get_ydata(), scores.mean(axis=1))
        corners = display.bands_[arm].get_paths()[0].vertices
        top = max(corners[corners[:, 0] == 40, 1])
        # 40 training and 20 test rows in each of three splits.
        reach = factor * np.sqrt(1 / 3 + 20 / 40) * scores[-1].std(ddof=1)
        assert top == pytest.approx(scores[-1].mean() + reach)
    assert display.ax_.get_ylabel() == "accuracy on test rows (95% band)"
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["without X*", "with X*", "shuffled X*"]


def test_differences_are_paired(display):
    found = display.intervals("difference")
    assert list(found) == ["with", "shuffled"]
    gain = display.scores["with"] - display.scores["without"]
    np.testing.assert_allclose(found["with"][0], gain.mean(axis=1))
    again = display.plot(kind="difference")
    assert "gained over" in again.ax_.get_ylabel()
    np.testing.assert_allclose(again.lines_["with"].get_ydata(), gain.mean(axis=1))


def test_shuffled_rows_of_constant_privileged_data_change_nothing(data):
    star = np.ones((60, 2))
    display = PrivilegedLearningCurveDisplay.from_estimator(
        SVCPlus(), data.data, data.target, star, train_sizes=[30], cv=2
    )
    np.testing.assert_array_equal(display.scores["with"], display.scores["shuffled"])


def test_regression_and_refusals(data):
    y = data.data[:, 0]
    display = PrivilegedLearningCurveDisplay.from_estimator(
        SVRPlus(),
        data.data,
        y,
        data.privileged,
        train_sizes=[20, 30],
        cv=2,
        shuffled=False,
    )
    assert list(display.lines_) == ["without", "with"]
    assert display.ax_.get_ylabel().startswith("R² on test rows")
    with pytest.raises(ValueError, match="a split has 30 training rows"):
        PrivilegedLearningCurveDisplay.from_estimator(
            SVRPlus(), data.data, y, data.privileged, train_sizes=[31], cv=2
        )
    with pytest.raises(ValueError, match="choose 'score' or 'difference'"):
        display.plot(kind="gain")
