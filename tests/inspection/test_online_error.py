"""Online errors: means and bands as drawn, streams as counted by the learner."""

import numpy as np
import pytest
from scipy import stats

from lupi import Adviceptron
from lupi.inspection import OnlineErrorDisplay


@pytest.fixture(scope="module")
def stream():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    return X, (X[:, 0] > 0).astype(int)


def test_means_and_bands_of_results():
    rng = np.random.default_rng(1)
    errors = {"a": rng.uniform(size=(6, 4)), "b": rng.uniform(size=4)}
    display = OnlineErrorDisplay.from_results(errors, rounds=[5, 10, 15, 20])
    np.testing.assert_array_equal(display.lines_["a"].get_xdata(), [5, 10, 15, 20])
    np.testing.assert_allclose(
        display.lines_["a"].get_ydata(), errors["a"].mean(axis=0)
    )
    np.testing.assert_allclose(display.lines_["b"].get_ydata(), errors["b"])
    corners = display.bands_["a"].get_paths()[0].vertices
    low, high = stats.t.interval(
        0.95, 5, loc=errors["a"].mean(axis=0), scale=stats.sem(errors["a"])
    )
    for k, at in enumerate((5, 10, 15, 20)):
        heights = corners[corners[:, 0] == at, 1]
        assert heights.min() == pytest.approx(low[k])
        assert heights.max() == pytest.approx(high[k])
    assert "b" not in display.bands_
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["a", "b"]


def test_test_error_of_one_run_is_a_plain_loop(stream):
    X, y = stream
    display = OnlineErrorDisplay.from_estimator(
        Adviceptron(), X[:30], y[:30], X[30:], y[30:], n_runs=1, every=5, random_state=3
    )
    order = np.random.default_rng(3).permutation(30)
    expected = [
        np.mean(Adviceptron().fit(X[order[:k]], y[order[:k]]).predict(X[30:]) != y[30:])
        for k in range(5, 31, 5)
    ]
    line = display.lines_["Adviceptron"]
    np.testing.assert_allclose(line.get_ydata(), expected)
    np.testing.assert_array_equal(line.get_xdata(), range(5, 31, 5))
    assert display.ax_.get_ylabel() == "error on test rows"


def test_mistakes_on_the_stream_are_those_the_learner_counts(stream):
    X, y = stream
    models = {"rules": Adviceptron(advice=["x0 >= 1 => 1"]), "none": Adviceptron()}
    display = OnlineErrorDisplay.from_estimator(models, X, y, n_runs=2, random_state=0)
    assert display.errors["rules"].shape == (2, 50)
    rng = np.random.default_rng(0)
    orders = [rng.permutation(50) for _ in range(2)]
    for run, order in enumerate(orders):
        # At y w·x = 0, as before the first row, a perceptron counts a mistake too.
        counted = Adviceptron().fit(X[order], y[order]).n_mistakes_
        assert display.errors["none"][run, -1] * 50 == pytest.approx(counted)


def test_refusals_are_sentences(stream):
    with pytest.raises(ValueError, match="different numbers of rounds"):
        OnlineErrorDisplay.from_results({"a": np.ones((2, 3)), "b": np.ones((2, 4))})
    with pytest.raises(ValueError, match="one number of rows for each"):
        OnlineErrorDisplay.from_results({"a": np.ones((2, 3))}, rounds=[1, 2])
    with pytest.raises(ValueError, match="from 1 to the 50 rows"):
        OnlineErrorDisplay.from_estimator(Adviceptron(), *stream, every=0)
