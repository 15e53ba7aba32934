"""`GainDisplay` draws the table of a comparison, mark for mark."""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from scipy import stats

from lupi.inspection import GainDisplay
from tests.comparisons import ARMS, of_gains


def marks(container):
    """Positions and half-widths of an errorbar container."""
    line, _, (bars,) = container
    segments = np.array(bars.get_segments())
    return line.get_xdata(), segments[:, 0, 0], segments[:, 1, 0]


def test_scores_and_intervals_are_those_of_the_folds():
    comparison = of_gains()
    display = comparison.plot()
    assert isinstance(display, GainDisplay)
    # Nadeau and Bengio's standard error, by hand: 10 splits of 180 and 20 rows.
    factor = stats.t.ppf(0.975, 9) * np.sqrt(1 / 10 + 20 / 180)
    for arm in ARMS:
        at, low, high = marks(display.intervals_[arm])
        for k, method in enumerate(("SVCPlus", "GBPlusClassifier")):
            folds = comparison.folds
            chosen = (folds["method"] == method) & (folds["arm"] == arm)
            score = folds.loc[chosen, "score"].to_numpy()
            assert at[k] == pytest.approx(score.mean())
            reach = factor * score.std(ddof=1)
            assert high[k] - at[k] == pytest.approx(reach)
            assert at[k] - low[k] == pytest.approx(reach)
    ticks = [t.get_text().split("\n")[0] for t in display.ax_.get_yticklabels()]
    assert ticks == ["SVCPlus", "GBPlusClassifier"]
    assert "helps" in display.ax_.get_yticklabels()[1].get_text()
    assert display.ax_.get_xlabel() == "AUC (95% interval)"
    title = display.figure_.get_suptitle().replace("\n", " ")
    assert title.endswith(comparison.verdict.headline)
    assert title.startswith(f"event, {comparison.verdict.method}: ")


def test_differences_are_paired():
    comparison = of_gains()
    display = comparison.plot(kind="difference", confidence=0.8)
    assert set(display.intervals_) == set(ARMS) - {"without"}
    scores = comparison.folds.query("method == 'SVCPlus'").pivot(
        index="split", columns="arm", values="score"
    )
    gains = (scores["with"] - scores["without"]).to_numpy()
    factor = stats.t.ppf(0.9, 9) * np.sqrt(1 / 10 + 20 / 180)
    at, low, high = marks(display.intervals_["with"])
    assert at[0] == pytest.approx(gains.mean())
    assert (high - low)[0] == pytest.approx(2 * factor * gains.std(ddof=1))


def test_intervals_are_those_of_the_tests():
    comparison = of_gains({"SVCPlus": 0.05})
    comparison.settings["splits"] |= {"n_train": 20.0, "n_test": 180.0}
    rng = np.random.default_rng(0)
    folds = comparison.folds
    folds["group_scores"] = [list(s + rng.normal(size=4)) for s in folds["score"]]
    display = comparison.plot(kind="difference")
    expected = comparison.intervals("difference").set_index("arm").loc["with"]
    at, low, high = marks(display.intervals_["with"])
    assert at[0] == pytest.approx(expected["value"])
    assert (low[0], high[0]) == pytest.approx((expected["low"], expected["high"]))


def test_arms_are_told_by_marker_and_colour_and_name():
    display = GainDisplay.from_results(of_gains())
    lines = [display.intervals_[arm][0] for arm in ARMS]
    assert len({line.get_marker() for line in lines}) == 5
    assert len({line.get_color() for line in lines}) == 5
    (legend,) = display.figure_.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "without X*",
        "with X*",
        "shuffled X*",
        "X as X*",
        "oracle",
    ]


def test_one_method_names_its_arms_and_shows_its_splits():
    comparison = of_gains()
    display = comparison.plot(kind="difference", methods=["SVCPlus"], splits=True)
    ticks = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert ticks == ["with X*", "shuffled X*", "X as X*", "oracle"]
    assert not display.figure_.legends
    scores = comparison.folds.query("method == 'SVCPlus'").pivot(
        index="split", columns="arm", values="score"
    )
    dots = display.ax_.collections
    drawn = [
        np.sort(each.get_offsets()[:, 0])
        for each in dots
        if len(each.get_offsets()) == 10
    ]
    for arm, values in zip(list(ARMS)[1:], drawn, strict=True):
        expected = np.sort(scores[arm] - scores["without"])
        np.testing.assert_allclose(values, expected)


def test_draws_on_given_axes():
    figure, ax = plt.subplots()
    display = GainDisplay.from_results(of_gains(), ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert display.plot() is display


def test_refusals_are_sentences():
    with pytest.raises(ValueError, match="choose 'score' or 'difference'"):
        of_gains().plot(kind="gain")
    with pytest.raises(ValueError, match="between 0 and 1"):
        of_gains().plot(confidence=95)
    failed = of_gains({"SVCPlus": np.nan})
    with pytest.raises(ValueError, match="nothing to draw"):
        failed.plot()


def test_colors_of_the_arms_differ_as_seen_without_red_cones():
    # Protanopia by the matrix of Viénot, Brettel and Mollon (1999), in linear light.
    matrix = [[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1]]
    marks = GainDisplay.from_results(of_gains()).intervals_.values()
    colors = [to_rgb(container[0].get_color()) for container in marks]
    seen = [
        np.maximum(matrix @ np.power(each, 2.2), 0.0) ** (1 / 2.2) for each in colors
    ]
    for one, other in combinations(seen, 2):
        assert np.linalg.norm(one - other) > 0.1
