"""`GainDisplay` draws the table of a comparison, mark for mark."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import stats

from lupi.inspection import GainDisplay
from tests.report.made import made_comparison

ARMS = ("without", "with", "shuffled", "oracle")


def marks(container):
    """Positions and half-widths of an errorbar container."""
    line, _, (bars,) = container
    segments = np.array(bars.get_segments())
    return line.get_xdata(), segments[:, 0, 0], segments[:, 1, 0]


def test_scores_and_intervals_are_those_of_the_folds():
    comparison = made_comparison()
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
    assert title == comparison.verdict.sentence


def test_differences_are_paired():
    comparison = made_comparison()
    display = comparison.plot(kind="difference", confidence=0.8)
    assert set(display.intervals_) == {"with", "shuffled", "oracle"}
    scores = comparison.folds.query("method == 'SVCPlus'").pivot(
        index="split", columns="arm", values="score"
    )
    gains = (scores["with"] - scores["without"]).to_numpy()
    factor = stats.t.ppf(0.9, 9) * np.sqrt(1 / 10 + 20 / 180)
    at, low, high = marks(display.intervals_["with"])
    assert at[0] == pytest.approx(gains.mean())
    assert (high - low)[0] == pytest.approx(2 * factor * gains.std(ddof=1))


def test_small_training_sets_have_the_degrees_of_freedom_of_their_groups():
    comparison = made_comparison({"SVCPlus": 0.05})
    comparison.settings["splits"] |= {"n_train": 20.0, "n_test": 180.0}
    rng = np.random.default_rng(0)
    folds = comparison.folds
    folds["group_scores"] = [list(s + rng.normal(size=4)) for s in folds["score"]]
    display = comparison.plot()
    table = comparison.table.set_index("arm")
    at, low, high = marks(display.intervals_["with"])
    # Four groups of test rows leave three degrees of freedom.
    expected = stats.t.ppf(0.975, 3) * table.loc["with", "std_error"]
    assert (high - at)[0] == pytest.approx(expected)
    assert (at - low)[0] == pytest.approx(expected)


def test_arms_are_told_by_marker_and_colour_and_name():
    display = GainDisplay.from_results(made_comparison())
    lines = [display.intervals_[arm][0] for arm in ARMS]
    assert len({line.get_marker() for line in lines}) == 4
    assert len({line.get_color() for line in lines}) == 4
    (legend,) = display.figure_.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "without X*",
        "with X*",
        "shuffled X*",
        "oracle",
    ]


def test_one_method_names_its_arms_and_shows_its_splits():
    comparison = made_comparison()
    display = comparison.plot(kind="difference", methods=["SVCPlus"], splits=True)
    ticks = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert ticks == ["with X*", "shuffled X*", "oracle"]
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
    for arm, values in zip(("with", "shuffled", "oracle"), drawn, strict=True):
        expected = np.sort(scores[arm] - scores["without"])
        np.testing.assert_allclose(values, expected)


def test_draws_on_given_axes():
    figure, ax = plt.subplots()
    display = GainDisplay.from_results(made_comparison(), ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert display.plot() is display


def test_refusals_are_sentences():
    with pytest.raises(ValueError, match="choose 'score' or 'difference'"):
        made_comparison().plot(kind="gain")
    with pytest.raises(ValueError, match="between 0 and 1"):
        made_comparison().plot(confidence=95)
    failed = made_comparison({"SVCPlus": np.nan})
    with pytest.raises(ValueError, match="nothing to draw"):
        failed.plot()
