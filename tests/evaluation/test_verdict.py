"""Verdicts on fold scores made by hand."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from lupi.evaluation import Comparison
from lupi.report import render_html
from tests.comparisons import ARMS, of_scores

RNG = np.random.default_rng(0)
JITTER = RNG.normal(0, 0.01, size=(10, 10))


def comparison(levels, *, failed=(), **settings):
    """Build a comparison from a level per method and arm, with a little jitter."""
    scores = {}
    for m, (method, means) in enumerate(levels.items()):
        # Without a level of its own, self is as good as without.
        if len(means) == 4:
            means = (*means[:3], means[0], means[3])
        scores[method] = {
            arm: means[r] + JITTER[(5 * m + r) % 10] for r, arm in enumerate(ARMS)
        }
        if method in failed:
            scores[method] = {"without": np.full(10, np.nan)}
    failures = {name: "ValueError: no" for name in failed}
    return of_scores(scores, failures=failures, scoring="accuracy", **settings)


@pytest.mark.parametrize(
    ("levels", "kind"),
    [
        ((0.70, 0.80, 0.69, 0.70, 0.90), "helps"),
        # Extra freedom: shuffled X* does the same.
        ((0.70, 0.80, 0.80, 0.70, 0.90), "no evidence"),
        # The method itself gains: X in the place of X* does the same.
        ((0.70, 0.80, 0.70, 0.80, 0.90), "no evidence"),
        ((0.70, 0.70, 0.60, 0.60, 0.90), "no evidence"),
        ((0.70, 0.60, 0.60, 0.60, 0.90), "hurts"),
        ((0.70, 0.70, 0.70, 0.70, 0.70), "no evidence"),
    ],
)
def test_one_method(levels, kind):
    result = comparison({"A": levels})
    assert result.verdict.kind == kind
    assert result.summary["verdict"].tolist() == [kind]
    words = {
        "helps": "The privileged information helps: with it, A scores 0.79",
        "no evidence": "There is no evidence that the privileged information helps",
        "hurts": "The method loses, with shuffled X* as well: with X*, A scores 0.59",
    }
    assert str(result.verdict).startswith(words[kind])
    # One method is not corrected for.
    assert "corrected" not in str(result.verdict)


def test_a_loss_has_an_interval_and_says_whether_shuffled_loses_as_well():
    own = comparison({"A": (0.70, 0.60, 0.69, 0.70, 0.90)})
    assert own.verdict.headline.startswith("The privileged information hurts: with X*")
    both = comparison({"A": (0.70, 0.60, 0.60, 0.70, 0.90)})
    assert both.verdict.kind == "hurts"
    assert "The method loses, with shuffled X* as well" in both.verdict.headline
    for result, specific in ((own, True), (both, False)):
        sentence = result.verdict.sentence
        assert ("not specific to the content of X*" in sentence) != specific
        shuffled = result.summary["shuffled"][0]
        assert f"With shuffled X* it scores {shuffled:.3f}" in sentence
        line = result.table.set_index("arm").loc["without"]
        ends = f"{line['gain_low']:.3f} to {line['gain_high']:.3f}".replace("-", "−")
        assert f"(95 % interval {ends}, p of a loss < 0.001)" in sentence


def test_a_loss_that_is_negligible_is_called_so_with_equal_digits():
    scores = {"without": np.full(10, 0.61861), "with": np.full(10, 0.61834)}
    result = of_scores({"A": scores | {"shuffled": scores["without"]}}, scoring="r2")
    start = "The privileged information hurts, by less than 0.01: with X*, A scores"
    assert result.verdict.headline.startswith(f"{start} 0.61834 R² instead of 0.61861")
    assert "With shuffled X* it scores 0.61861." in result.verdict.sentence


@pytest.mark.parametrize("gain", [0.1, -0.1])
def test_a_headline_on_models_that_fail_has_no_direction(gain):
    """Two windows, with the intervals of ten blocks, of a table far from the past."""
    scores = {"without": np.array([-0.9, -0.8])}
    scores["with"] = scores["without"] + gain
    noise = 0.01 * np.array([1.0, -1.0] * 5)
    groups = {arm: [each + noise for each in own] for arm, own in scores.items()}
    splits = {"kind": "time", "time": "day", "overlap": 1.0}
    known = {"task": "regression", "scoring": "r2", "constant": 0.0}
    possible = {"possible": {"windows": 5}}
    result = of_scores({"A": scores}, {"A": groups}, splits=splits, **known, **possible)
    assert result.verdict.kind == ("helps" if gain > 0 else "hurts")
    start = "In two windows, models that fail say little about X*: with "
    assert result.verdict.headline.startswith(start)
    assert "differences to these arms say little about X*" in str(result.verdict)
    said = "Compare with cv=5: two windows say nothing about other training sets."
    assert result.next_steps()[0] == said
    page = render_html(result)
    assert f"{result.verdict.kind}, but models fail</span>" in page
    assert "X* hurts" not in page
    # One split is not counted.
    one = {arm: own[:1] for arm, own in scores.items()}
    one = str(of_scores({"A": one}, splits=splits, **known).verdict)
    assert "Far below a constant prediction: without X* (−0.900), with" in one
    # The oracle of such models shows nothing.
    assert "that this model does not get from X" not in str(result.verdict)


def quiet(levels, wobble):
    """A comparison whose scores wobble by this much, the same in every arm but one."""
    result = comparison({"A": levels})
    folds = result.folds
    for r, arm in enumerate(ARMS):
        noise = wobble * np.linspace(-1, 1, 10) if arm == "oracle" else 0.0
        folds.loc[folds["arm"] == arm, "score"] = levels[r] + noise
    return result


def test_nothing_to_gain_is_said_of_a_bound_and_not_of_missing_significance():
    sure = quiet((0.7, 0.7, 0.7, 0.7, 0.7), 0.003)
    assert sure.verdict.nothing_to_gain
    bound = sure.summary["gap_upper"][0]
    scores = sure.folds[sure.folds["arm"] == "oracle"]["score"].to_numpy() - 0.7
    error = np.sqrt((1 / 10 + 10 / 90) * scores.var(ddof=1))
    assert bound == pytest.approx(stats.t.ppf(0.95, 9) * error)
    assert bound <= 0.01
    assert "nothing to gain" in sure.verdict.headline
    assert f"at most +{bound:.3f}" in sure.verdict.sentence
    assert sure.summary["rows_needed"].isna().all()

    unsure = quiet((0.7, 0.7, 0.7, 0.7, 0.76), 0.15)
    method = unsure.folds["arm"] == "with"
    unsure.folds.loc[method, "score"] += np.linspace(-0.05, 0.05, 10)
    summary = unsure.summary.iloc[0]
    assert summary["p_gap"] > 0.05
    assert summary["gap_upper"] > 0.01
    assert not unsure.verdict.nothing_to_gain
    assert "too few rows to tell" in unsure.verdict.headline
    # The bound reaches twice as far as the gap itself, say: four times the rows.
    reach = summary["gap_upper"] - summary["gap"]
    expected = 100 * (reach / summary["gap"]) ** 2
    assert unsure.verdict.rows_needed == pytest.approx(expected, rel=0.05)
    assert f"About {unsure.verdict.rows_needed:,} rows" in unsure.verdict.sentence


@pytest.mark.parametrize(
    ("oracle", "spread", "n_splits", "splits"),
    [
        (0.76, 0.05, 7, {}),
        (0.64, 0.05, 10, {}),
        (0.76, 0.003, 10, {}),
        (0.76, 0.05, 10, {"train_size": 90}),
    ],
    ids=["few splits", "a loss of the oracle", "no gain of the method", "a given size"],
)
def test_rows_needed_are_not_extrapolated_from_little(oracle, spread, n_splits, splits):
    noise = np.linspace(-1, 1, n_splits)
    scores = {
        "without": np.full(n_splits, 0.7),
        "with": 0.7 + spread * noise,
        "oracle": oracle + 0.15 * noise,
    }
    result = of_scores({"A": scores}, splits=splits)
    assert result.summary["p_gap"][0] > 0.05
    assert result.summary["gap_upper"][0] > 0.01
    assert result.verdict.rows_needed is None
    assert "too few rows" not in str(result.verdict)
    assert "rows are needed" not in str(result.verdict)


def test_an_oracle_that_loses_bounds_nothing():
    result = quiet((0.7, 0.7, 0.7, 0.7, 0.67), 0.003)
    assert result.summary["gap_upper"][0] < 0.01
    assert not result.verdict.nothing_to_gain
    line = result.summary.loc[0, ["gap", "gap_low", "gap_high"]]
    gap, low, high = (f"{value:.4f}".replace("-", "−") for value in line)
    said = (
        "The oracle, a model that has X* when predicting, loses: its difference to "
        f"without X* is {gap} (95 % interval {low} to {high}), so that it does not show"
    )
    assert said in str(result.verdict)
    # It may not lose: then nothing is claimed.
    result = quiet((0.7, 0.7, 0.7, 0.7, 0.69), 0.02)
    assert result.summary["gap_high"][0] > 0
    assert result.summary["gap_upper"][0] < 0.01
    assert "when predicting, is not shown to gain: its" in str(result.verdict)
    # One that may lose more than what is negligible, neither.
    result = quiet((0.7, 0.7, 0.7, 0.7, 0.695), 0.01)
    assert -0.01 < result.summary["gap"][0] < result.summary["gap_upper"][0] < 0.01
    assert not result.verdict.nothing_to_gain
    assert "is not shown to gain: its difference" in str(result.verdict)
    # One that loses next to nothing is equal to the model without X*.
    assert quiet((0.7, 0.7, 0.7, 0.7, 0.699), 0.003).verdict.nothing_to_gain


def test_a_model_that_predicts_nothing_is_not_the_method_of_the_verdict():
    # The gain of the same constant in every arm is zero, that of the others smaller.
    useful = 0.7 + 0.02 * np.linspace(-1, 1, 10)
    scores = {
        "Constant": {"without": np.full(10, 0.5)},
        "Useful": {"without": useful, "with": useful - 0.001, "oracle": useful + 0.1},
    }
    result = of_scores(scores, constant=0.5)
    assert result.verdict.method == "Useful"
    assert not result.summary["nothing_to_gain"].any()
    said = str(result.verdict)
    assert (
        "No method that is shown to be better than a constant prediction gains. The "
        "one that loses least is Useful" in said
    )
    assert "The oracle of Useful" in said
    # If no model predicts anything, the method is that with the largest gain.
    nothing = of_scores({"A": {"without": np.full(10, 0.5)}}, constant=0.5)
    assert nothing.verdict.method == "A"
    assert not nothing.verdict.nothing_to_gain


def test_a_gain_that_may_not_be_negligible_is_something_to_gain():
    result = quiet((0.7, 0.7, 0.7, 0.7, 0.7), 0.003)
    method = result.folds["arm"] == "with"
    result.folds.loc[method, "score"] += np.linspace(-0.05, 0.05, 10)
    assert result.summary["gap_upper"][0] < 0.01 < result.summary["gain_high"][0]
    assert not result.verdict.nothing_to_gain
    assert "nothing to gain" not in str(result.verdict)
    assert "the interval of the gain itself reaches further" in str(result.verdict)
    # It may be small where something else forbids the claim: here models are useless.
    useless = quiet((0.7, 0.7, 0.7, 0.7, 0.7), 0.003)
    settings = useless.settings | {"constant": 0.75, "constants": [0.75] * 10}
    useless = Comparison(useless.folds, settings)
    assert not useless.verdict.nothing_to_gain
    assert "with 95 % confidence at most" in str(useless.verdict)
    assert "reaches further" not in str(useless.verdict)


def test_what_is_negligible_can_be_chosen():
    result = quiet((0.7, 0.7, 0.7, 0.7, 0.7), 0.03)
    assert not result.verdict.nothing_to_gain
    wide = quiet((0.7, 0.7, 0.7, 0.7, 0.7), 0.03)
    wide.settings["negligible"] = 0.05
    assert wide.verdict.nothing_to_gain


def test_a_gap_that_no_method_closes_is_something_to_gain():
    result = quiet((0.7, 0.7, 0.7, 0.7, 0.9), 0.01)
    assert result.verdict.kind == "no evidence"
    assert not result.verdict.nothing_to_gain
    assert result.verdict.rows_needed is None
    said = "X* contains information that this model does not get from X."
    assert said in result.verdict.sentence
    both = comparison({"A": (0.7, 0.7, 0.7, 0.7), "B": (0.7, 0.7, 0.7, 0.9)})
    assert not both.verdict.nothing_to_gain
    said = both.verdict.sentence
    assert re.search(r"p [<=] [\d.]+, corrected for 2 methods\)", said)


@pytest.mark.parametrize("gains", [(0.01, 0.0), (0.0, 0.01)])
def test_the_oracle_is_that_of_the_method_of_the_verdict(gains):
    # A has little to gain, B much; the oracle that gains most is not looked for.
    oracles = {"A": 0.72, "B": 0.9}
    levels = {
        name: (0.7, 0.7 + gain, 0.71, 0.7, oracle)
        for (name, oracle), gain in zip(oracles.items(), gains, strict=True)
    }
    result = comparison(levels)
    named = result.verdict.method
    assert named == result.summary.set_index("method")["gain"].idxmax()
    assert f"oracle of {named}, a model that has" in result.verdict.sentence
    alone = {name: comparison({name: levels[name]}).summary for name in "AB"}
    # Holm: the smaller of two p-values is doubled.
    uncorrected = min(comparison(levels).table.query("arm == 'oracle'")["p_value"])
    assert result.summary["p_gap"].min() == pytest.approx(2 * uncorrected)
    assert alone["A"]["p_gap"][0] == pytest.approx(
        result.table.query("arm == 'oracle'")["p_value"].iloc[0]
    )


def test_an_oracle_whose_gain_is_not_significant_after_correction_is_not_known():
    # One-sided p of 0.03 for one method, and twice that for two.
    noise = np.linspace(-1, 1, 10)
    error = np.sqrt((1 / 10 + 10 / 90) * noise.var(ddof=1))
    scores = {
        "without": np.full(10, 0.7),
        "oracle": 0.7 + 0.1 * (noise + stats.t.isf(0.03, 9) * error),
    }
    one = of_scores({"A": scores})
    assert one.summary["p_gap"][0] == pytest.approx(0.03)
    assert "X* contains information" in one.verdict.sentence
    flat = scores | {"oracle": 0.7 + 0.1 * noise}
    two = of_scores({"A": scores, "B": flat})
    assert two.summary["p_gap"][0] == pytest.approx(0.06)
    assert "Whether the oracle of A" in two.verdict.sentence
    assert "X* contains information" not in two.verdict.sentence


def test_each_end_of_the_interval_has_its_control():
    noise = np.array([-1.0, 1.0] * 5)
    scores = {
        "without": np.full(10, 0.70),
        "with": np.full(10, 0.75),
        "shuffled": 0.70 + 0.2 * noise,
        "self": np.full(10, 0.72) + 0.01 * noise,
    }
    result = of_scores({"A": scores})
    line = result.summary.loc[0]
    assert line[["control", "control_low", "control_high"]].tolist() == [
        "self",
        "shuffled",
        "self",
    ]
    gains = result.table.set_index("arm")
    assert line["gain_low"] == gains.at["shuffled", "gain_low"]
    assert line["gain_high"] == gains.at["self", "gain_high"]
    low, high = (
        f"{line[name]:+.3f}".replace("-", "−") for name in ("gain_low", "gain_high")
    )
    said = f"is +0.030 (95 % interval {low} to {high}, one-sided p"
    assert said in result.verdict.sentence


def test_a_control_that_fails_in_a_split_is_named_with_few_splits_too():
    # With five splits no outlier is left out.
    fails = np.array([0.1, -3.0, 0.1, -1.5, 0.1])
    scores = {"without": np.full(5, 0.1), "with": np.full(5, 0.2), "self": fails}
    known = {"task": "regression", "constants": [0.0] * 5, "constant": 0.0}
    result = of_scores({"A": scores}, scoring="r2", **known)
    assert (
        "Far below a constant prediction in some splits: X as X* in 2 of 5 (−3.000 and "
        "−1.500)" in str(result.verdict)
    )
    better = of_scores(
        {"A": scores | {"self": np.full(5, -0.3)}}, scoring="r2", **known
    )
    assert "Far below" not in str(better.verdict)
    # The gap is that of the oracle, which can fail as well.
    oracle = scores | {"self": np.full(5, 0.1), "oracle": fails}
    said = str(of_scores({"A": oracle}, scoring="r2", **known).verdict)
    assert "in some splits: oracle in 2 of 5 (−3.000 and −1.500)" in said


def test_equal_scores_are_called_the_same():
    said = str(quiet((0.7, 0.7, 0.7, 0.7, 0.7), 0.003).verdict)
    assert "A scores 0.700 accuracy, the same as without X*." in said
    # 0.227 and 0.226, which differ by 0.0001.
    scores = {"without": np.full(10, 0.22642), "with": np.full(10, 0.22653)}
    scores["with"] += 0.001 * np.linspace(-1, 1, 10)
    said = str(of_scores({"A": scores}, scoring="r2").verdict)
    assert "A scores 0.227 R², about the same as without X*. The gain" in said
    # A gain that is found is visible in the scores.
    scores["with"] = np.full(10, 0.22653)
    headline = of_scores({"A": scores}, scoring="r2").verdict.headline
    assert headline.endswith("A scores 0.22653 R² instead of 0.22642 without X*.")


def test_the_score_without_x_star_is_in_the_headline():
    result = comparison({"A": (0.5, 0.8, 0.6, 0.6, 0.9)})
    line = result.summary.loc[0]
    assert line["control"] != "without"
    assert result.verdict.headline.endswith(f"X* (without X*: {line['without']:.3f}).")


def test_estimate_interval_and_p_are_of_the_best_control():
    # Shuffled X* is nearly as good as X*; without X* every split fails badly.
    levels = {"A": (-0.5, 0.80, 0.79, 0.5, 0.9)}
    result = comparison(levels)
    line = result.summary.loc[0]
    assert line["control"] == "shuffled"
    assert line["gain"] == pytest.approx(line["with"] - line["shuffled"])
    assert line["difference"] == pytest.approx(line["with"] - line["without"])
    assert line["p_helps"] == line["p_shuffled"]
    assert line["gain_low"] < line["gain"] < line["gain_high"] < 0.05
    assert f"instead of {line['shuffled']:.3f} with shuffled X*" in str(result.verdict)
    assert f"is +{line['gain']:.3f} (95 % interval" in result.verdict.sentence
    # An interval above zero and a significant gain are the same statement.
    scores = result.folds.pivot(index="split", columns="arm", values="score")
    gains = scores["with"] - scores["shuffled"]
    error = np.sqrt((1 / 10 + 10 / 90) * gains.var(ddof=1))
    assert line["gain_low"] == pytest.approx(
        gains.mean() - stats.t.ppf(0.975, 9) * error
    )


def test_interval_ends_and_p_are_the_least_favourable_of_the_three_controls():
    result = comparison({"A": (0.70, 0.80, 0.79, 0.75, 0.9)})
    # The difference to *without* varies most, and has the lowest of the lower ends.
    rows = (result.folds["arm"] == "without") & (result.folds["split"] < 5)
    result.folds.loc[rows, "score"] += 0.2
    summary, table = result.summary.loc[0], result.table.dropna(subset="gain")
    assert table["arm"].tolist() == ["without", "shuffled", "self"]
    assert summary["gain"] == table["gain"].min()
    assert summary["gain_low"] == table["gain_low"].min()
    assert summary["gain_high"] == table["gain_high"].min()
    assert summary["p_helps"] == table["p_gain"].max()
    assert table["gain_low"].idxmin() != table["gain_high"].idxmin()


def test_all_means_of_a_comparison_are_over_the_same_splits():
    levels = (0.3, 0.4, 0.3, 0.3, 0.9)
    result = comparison({"A": levels, "B": levels})
    folds = result.folds
    failing = (folds["method"] == "A") & (folds["arm"] == "without")
    folds.loc[failing & (folds["split"] == 3), "score"] = -3.5
    assert result.left_out == [3]
    kept = folds[folds["split"] != 3].groupby(["method", "arm"])["score"].mean()
    table = result.table.set_index(["method", "arm"])
    pd.testing.assert_series_equal(table["score"], kept, check_like=True)
    assert (table["n_splits"] == 9).all()
    for _, line in result.summary.iterrows():
        assert line["gain"] == pytest.approx(line["with"] - line[line["control"]])
    said = "Measured on 9 of 10 random splits with 90 known outcomes in training."
    assert said in result.verdict.sentence
    assert result.to_dict()["left_out"] == [3]
    assert result.outliers == {("A", "without"): {3: -3.5}}


def test_a_split_on_which_all_arms_agree_is_left_out_below_a_constant_alone():
    result = comparison({"A": (0.65, 0.66, 0.65, 0.65, 0.9)}, constants=[0.5] * 10)
    harder = result.folds["split"] == 3
    assert result.folds.groupby("arm")["score"].std().max() < 0.02
    result.folds.loc[harder, "score"] -= 0.14
    assert result.left_out == []
    assert (result.table["n_splits"] == 10).all()
    result.folds.loc[harder, "score"] -= 0.1
    failed = Comparison(result.folds, result.settings)
    assert failed.left_out == [3]
    assert {arm for _, arm in failed.outliers} == set(ARMS) - {"oracle"}


def test_an_outlier_of_the_oracle_leaves_no_split_out():
    result = comparison({"A": (0.3, 0.4, 0.3, 0.3, 0.9)})
    oracle = (result.folds["arm"] == "oracle") & (result.folds["split"] == 3)
    result.folds.loc[oracle, "score"] = 0.1
    assert result.left_out == []
    assert (result.table["n_splits"] == 10).all()


@pytest.mark.parametrize(
    ("scoring", "low", "high"),
    [("roc_auc", 0.0, 1.0), ("r2", -np.inf, 1.0), ("mine", -np.inf, np.inf)],
)
def test_an_interval_of_a_score_ends_with_its_range(scoring, low, high):
    scores = np.tile([0.0, 0.1], 5)
    result = of_scores(
        {"A": {"without": scores, "with": 1.0 - scores}}, scoring=scoring
    )
    error = np.sqrt((1 / 10 + 10 / 90) * scores.var(ddof=1))
    reach = stats.t.ppf(0.975, 9) * error
    table, shown = (t.set_index("arm") for t in (result.table, result.intervals()))
    assert table.at["without", "low"] == pytest.approx(max(low, 0.05 - reach))
    assert table.at["with", "high"] == pytest.approx(min(high, 0.95 + reach))
    assert shown.at["with", "high"] == table.at["with", "high"]


def test_an_accuracy_is_known_as_well_as_that_of_its_rows_at_most():
    # Every row is predicted to be of the frequent class: 523 of 602 rows.
    scores, rows = {"without": np.full(10, 523 / 602)}, {"n_tested": 602}
    result = of_scores({"A": scores}, scoring="accuracy", splits=rows)
    shown = result.table.set_index("arm").loc["without"]
    assert shown[["low", "high"]].tolist() == pytest.approx([0.839, 0.893], abs=5e-4)
    gain = result.intervals("difference").set_index("arm").loc["with"]
    assert (gain["low"], gain["high"]) == (0, 0)


def test_rounding_does_not_hide_a_sign():
    jitter = 0.0002 * np.linspace(-1, 1, 10)
    scores = {"without": np.full(10, 0.7), "with": 0.7001 + jitter}
    sentence = of_scores({"A": scores}).verdict.sentence
    line = of_scores({"A": scores}).summary.iloc[0]
    gain, low, high = (
        f"{line[name]:+.5f}".replace("-", "−")
        for name in ("gain", "gain_low", "gain_high")
    )
    # All three have the decimals that the smallest needs.
    assert f"is {gain} (95 % interval {low} to {high}, one" in sentence


def test_models_that_are_not_shown_to_be_better_than_a_constant_are_named():
    constant = "predicting the most frequent class of the training rows (0.400)"
    low = comparison({"A": (0.2, 0.5, 0.2, 0.2, 0.7)}, constant=0.4)
    assert low.verdict.notes == (f"Worse than {constant}: without X*.",)
    levels = (0.2, 0.3, 0.2, 0.2, 0.7)
    none = comparison({"A": levels}, constant=0.4)
    assert none.verdict.notes == (f"Worse than {constant}: without X* and with X*.",)
    # The end of the interval decides.
    high = none.table.set_index("arm").at["with", "over_constant_high"]
    for below, worse in ((0.4 + high + 1e-6, True), (0.4 + high - 1e-6, False)):
        said = str(comparison({"A": levels}, constant=below).verdict)
        assert ("without X* and with X*." in said) == worse
        assert ("Not better than" in said) != worse
    assert (
        comparison({"A": (0.7, 0.8, 0.7, 0.7, 0.9)}, constant=0.5).verdict.notes == ()
    )
    # A mean above the constant is better, but not shown to be.
    just = comparison({"A": (0.402, 0.402, 0.402, 0.402, 0.7)}, constant=0.4)
    assert "Not shown to be better than predicting" in str(just.verdict)
    several = {"A": (0.7, 0.8, 0.7, 0.7), "B": (0.3, 0.7, 0.7, 0.7)}
    (note,) = comparison(several, constant=0.5).verdict.notes
    assert note.endswith(": B without X*.")


def test_an_oracle_that_a_constant_reaches_shows_no_information():
    levels, said = (0.45, 0.45, 0.45, 0.45, 0.53), "X* contains information"
    assert said in comparison({"A": levels}, constant=0.3).verdict.sentence
    low = comparison({"A": levels}, constant=0.55)
    assert low.summary["p_gap"][0] <= 0.05
    assert said not in low.verdict.sentence
    assert "and oracle" in str(low.verdict)


def test_few_splits_have_their_differences_and_a_skewed_mean_its_median():
    scores = {"without": np.full(5, 0.6), "with": 0.6 + 0.01 * np.arange(1, 6)}
    notes = of_scores({"A": scores}).verdict.notes
    assert notes == (
        "Difference to without X* by split: +0.010, +0.020, +0.030, +0.040, +0.050.",
    )
    gains = np.r_[np.full(17, 0.01), np.full(3, 0.08)]
    few = of_scores({"A": {"without": np.full(20, 0.6), "with": 0.6 + gains}})
    assert few.verdict.kind == "helps"
    assert few.verdict.notes == (
        "The 20 differences to without X* have a median of +0.010 and a mean of "
        f"+{gains.mean():.3f}.",
    )
    gains = np.linspace(0.01, 0.08, 10)
    many = of_scores({"A": {"without": np.full(10, 0.6), "with": 0.6 + gains}})
    assert "median" not in str(many.verdict)


def test_a_difference_to_a_constant_stays_inside_of_its_range():
    # An AUC is at most 1, and that of a constant is 0.5.
    scores = {arm: np.array([0.99, 0.2] * 3) for arm in ("without", "with")}
    result = of_scores({"A": scores}, constant=0.5)
    line = result.table.set_index("arm").loc["without"]
    assert line["low"] - 0.5 == pytest.approx(line["over_constant_low"])
    assert line["over_constant_high"] == pytest.approx(0.5)


def test_an_arm_and_a_constant_are_compared_on_the_same_rows():
    # Splits differ much, and in every one the arm is a little above the constant.
    hard, step = np.linspace(-2.0, 0.5, 10), 0.05 + 0.1 * JITTER[0]
    scores = {"without": hard + step, "with": hard + step}
    known = {"task": "regression", "scoring": "r2", "constant": hard.mean()}
    result = of_scores({"A": scores}, constants=hard.tolist(), **known)
    line = result.table.set_index("arm").loc["without"]
    assert line["low"] < hard.mean() < line["score"]
    assert 0 < line["over_constant_low"] < line["over_constant"] < 0.1
    assert result.verdict.notes == ()
    assert "constant prediction" not in " ".join(result.next_steps())


def test_a_constant_whose_score_varies_hides_no_model_that_predicts():
    # The R² of the mean of other groups, and of a model of these groups.
    constants = -np.geomspace(0.002, 2.3, 10)
    good = 0.9 + 0.01 * np.linspace(-1, 1, 10)
    known = {"task": "regression", "scoring": "r2", "constants": constants.tolist()}
    known["constant"] = constants.mean()
    result = of_scores({"A": {"without": good}}, **known)
    line = result.table.set_index("arm").loc["without"]
    assert line["over_constant_low"] == pytest.approx(line["low"] - constants.max())
    assert line["over_constant"] == pytest.approx(0.9 - constants.mean())
    assert result.verdict.notes == ()
    # Below the smallest one it is worse.
    bad = of_scores({"A": {"without": good - 4.0}}, **known)
    assert bad.verdict.notes[-1].startswith("Worse than predicting the mean")


def test_no_share_of_a_gap_is_given_where_the_oracle_scores_less():
    result = comparison({"A": (0.70, 0.80, 0.70, 0.70, 0.75)})
    oracle = result.summary["oracle"][0]
    said = f"when predicting, scores {oracle:.3f}, no more than A with X*."
    assert said in result.verdict.sentence
    assert "closes" not in result.verdict.sentence
    # The gain over another control is a part of a gap that X* closes.
    above = comparison({"A": (0.70, 0.80, 0.70, 0.76, 0.78)})
    line = above.summary.loc[0]
    assert line["p_gap"] < 0.05
    assert line["control"] == "self"
    assert line["gain"] < line["gap"] < line["difference"]
    for each in (result, above):
        assert each.verdict.kind == "helps"
        assert np.isnan(each.summary["gap_closed"][0])
    # X* that explains errors of labels is of no use when predicting.
    noisy = comparison({"A": (0.70, 0.80, 0.70, 0.70, 0.75)}, noisy=["A"])
    assert "has X* when predicting" not in noisy.verdict.sentence


def test_an_oracle_that_is_not_known_to_gain_is_named_where_x_star_helps():
    noise = 0.3 * np.linspace(-1, 1, 10)
    scores = {"without": np.full(10, 0.7), "with": np.full(10, 0.71)}
    result = of_scores({"A": scores | {"oracle": 0.75 + noise}}, scoring="r2")
    assert result.verdict.kind == "helps"
    gap = result.summary.loc[0, ["gap", "gap_low", "gap_high"]]
    value, low, high = (f"{each:+.3f}".replace("-", "−") for each in gap)
    said = (
        "Whether the oracle, a model that has X* when predicting, gains is not known: "
        f"its difference to without X* is {value} (95 % interval {low} to {high})."
    )
    assert said in result.verdict.sentence


def test_a_small_share_of_the_gap_has_one_name_in_sentence_and_table():
    scores = {"without": np.full(10, 0.7), "with": np.full(10, 0.7005)}
    result = of_scores({"A": scores | {"oracle": np.full(10, 0.9)}}, scoring="r2")
    assert "It closes less than 1 % of the gap" in result.verdict.sentence
    assert "<td>&lt; 1 %</td>" in result._repr_html_()


def test_scores_that_stand_together_have_the_same_decimals():
    scores = {"without": np.full(10, 0.61834), "shuffled": np.full(10, 0.61861)}
    scores |= {"self": scores["without"], "with": np.full(10, 0.61894)}
    headline = of_scores({"A": scores}, scoring="r2").verdict.headline
    said = "0.61894 R² instead of 0.61861 with shuffled X* (without X*: 0.61834)."
    assert headline.endswith(said)


def test_an_estimate_near_zero_keeps_its_first_digit_beside_its_interval():
    scores = {"without": np.full(10, 0.7), "with": 0.70002 + 0.01 * JITTER[0]}
    scores["with"] -= 0.01 * JITTER[0].mean() - 0.3 * (JITTER[0] - JITTER[0].mean())
    line = of_scores({"A": scores}, scoring="r2").summary.loc[0]
    assert line["gain"] == pytest.approx(0.00002)
    sentence = of_scores({"A": scores}, scoring="r2").verdict.sentence
    low, high = (
        f"{line[name]:+.4f}".replace("-", "−") for name in ("gain_low", "gain_high")
    )
    assert f"is +0.00002 (95 % interval {low} to {high}, one" in sentence


def test_few_rows_of_a_class_are_in_the_headline():
    splits = {"labelled": 60, "n_train": 60.0, "rarest": ("bad", 3, 4)}
    result = of_scores({"A": {"without": np.linspace(0.6, 0.7, 10)}}, splits=splits)
    expected = "With 60 known outcomes (3 to 4 of class bad), there is no evidence"
    assert result.verdict.headline.startswith(expected)


def test_the_claim_is_the_weakest_difference_corrected_over_methods():
    result = comparison({"A": (0.7, 0.8, 0.79, 0.9), "B": (0.7, 0.71, 0.5, 0.9)})
    summary = result.summary.set_index("method")
    claims = summary[["p_without", "p_shuffled", "p_self"]].max(axis=1)
    small, large = claims.min(), claims.max()
    expected = {
        claims.idxmin(): min(1, 2 * small),
        claims.idxmax(): max(large, min(1, 2 * small)),
    }
    for method, value in expected.items():
        assert summary.loc[method, "p_helps"] == pytest.approx(value)


def test_one_helping_method_is_enough_and_losers_are_named():
    result = comparison({"A": (0.7, 0.6, 0.6, 0.9), "B": (0.7, 0.8, 0.7, 0.9)})
    assert result.verdict.kind == "helps"
    assert result.verdict.method == "B"
    assert result.verdict.methods == {"A": "hurts", "B": "helps"}
    assert "It hurts A (shuffled X* does so as well)." in str(result.verdict)


def test_the_share_of_the_gap_is_told_when_there_is_a_gap():
    with_gap = comparison({"A": (0.70, 0.80, 0.70, 0.90)}).summary
    scores = with_gap.iloc[0]
    gap = scores["oracle"] - scores["without"]
    assert scores["gap_closed"] == pytest.approx(scores["gain"] / gap)
    without_gap = comparison({"A": (0.70, 0.80, 0.70, 0.70)}).summary
    assert np.isnan(without_gap.loc[0, "gap_closed"])


def test_a_perfect_oracle_is_flagged_as_a_leak():
    result = comparison({"A": (0.7, 0.7, 0.7, 1.0)})
    folds = result.folds
    folds.loc[folds["arm"] == "oracle", "score"] = 1.0
    assert result.verdict.leak
    assert "leak" in str(result.verdict)


def test_an_easy_problem_is_not_a_leak():
    result = comparison({"A": (1.0, 1.0, 1.0, 1.0)})
    result.folds["score"] = 1.0
    assert not result.verdict.leak
    assert result.verdict.kind == "no evidence"
    assert result.verdict.nothing_to_gain


def test_a_leak_is_seen_in_a_negated_loss_too():
    result = comparison({"A": (-3.0, -3.0, -3.0, 0.0)}, optimum=0.0)
    result.folds.loc[result.folds["arm"] == "oracle", "score"] = -1e-6
    assert result.verdict.leak


def test_failed_methods_stay_in_the_tables_and_out_of_the_verdict():
    result = comparison(
        {"A": (0.7, 0.8, 0.7, 0.9), "B": (0.7, 0.8, 0.7, 0.9)}, failed=["B"]
    )
    assert result.verdict.methods == {"A": "helps", "B": "failed"}
    assert result.table["score"].isna().sum() == 5
    everything = comparison({"B": (0.7, 0.8, 0.7, 0.9)}, failed=["B"])
    assert everything.verdict.kind == "failed"


def test_json_holds_everything_and_reads_back(tmp_path):
    result = comparison(
        {"A": (0.7, 0.8, 0.7, 0.9), "B": (0.7, 0.8, 0.7, 0.9)}, failed=["B"]
    )
    path = result.to_json(tmp_path / "results.json")
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert stored["verdict"]["kind"] == "helps"
    assert stored["summary"][1]["gain"] is None
    assert {line["arm"] for line in stored["folds"]} == set(ARMS)
    again = Comparison.from_json(path)
    pd.testing.assert_frame_equal(again.summary, result.summary)
    pd.testing.assert_frame_equal(again.table, result.table)
    assert again.verdict == result.verdict
    assert again.failures == result.failures


def test_other_files_are_refused(tmp_path):
    (tmp_path / "a.json").write_text('{"format": "lupi-comp')
    with pytest.raises(ValueError, match="not valid JSON"):
        Comparison.from_json(tmp_path / "a.json")
    (tmp_path / "a.json").write_text('{"format": "other"}')
    with pytest.raises(ValueError, match="not a comparison"):
        Comparison.from_json(tmp_path / "a.json")
    stored = comparison({"A": (0.7, 0.8, 0.7, 0.9)}).to_dict() | {"version": 9}
    (tmp_path / "b.json").write_text(json.dumps(stored, default=str))
    with pytest.raises(ValueError, match="version 9"):
        Comparison.from_json(tmp_path / "b.json")
    stored = comparison({"A": (0.7, 0.8, 0.7, 0.9)}).to_dict()
    for change, words in (
        ({"folds": []}, "contains no scores"),
        ({"settings": None}, "has no settings"),
    ):
        part = {k: v for k, v in (stored | change).items() if v is not None}
        (tmp_path / "c.json").write_text(json.dumps(part, default=str))
        with pytest.raises(ValueError, match=words):
            Comparison.from_json(tmp_path / "c.json")


def test_a_comparison_from_a_file_has_no_model(tmp_path):
    path = comparison({"A": (0.7, 0.8, 0.7, 0.9)}).to_json(tmp_path / "a.json")
    with pytest.raises(ValueError, match="does not contain the data"):
        Comparison.from_json(path).best_estimator()


def test_a_headline_about_few_outcomes_says_so():
    scores = {"without": 0.7 + JITTER[0], "with": 0.8 + JITTER[1]}
    splits = {"labelled": 60, "n_train": 60.0, "kind": "few labels"}
    headline = of_scores({"A": scores}, splits=splits).verdict.headline
    assert headline.startswith("With 60 known outcomes, the privileged information")
    whole = of_scores({"A": scores}, splits=splits | {"grouped": True})
    assert whole.verdict.headline.startswith("With 60 known outcomes of whole groups, ")
    assert of_scores({"A": scores}).verdict.headline.startswith("The privileged")
