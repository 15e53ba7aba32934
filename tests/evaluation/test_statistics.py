"""The corrected tests of a comparison, by hand and against their nominal level."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from lupi.inspection import PrivilegedLearningCurveDisplay
from tests.comparisons import ARMS, of_scores

FOLDS = {"kind": "folds", "n_train": 80.0, "n_test": 20.0}
SMALL = {"kind": "small training sets", "n_train": 10.0, "n_test": 90.0}


def line(differences, splits, groups=None, *, arm="with"):
    """Return the row of an arm whose scores are these, where *without* has zeros."""
    scores = {"without": np.zeros(len(differences)), "with": np.asarray(differences)}
    if groups is not None:
        groups = {"A": {"without": (0.0 * groups).tolist(), "with": groups.tolist()}}
    table = of_scores({"A": scores}, groups, splits=splits).table
    return table.set_index("arm").loc[arm]


def freedom_of(found):
    """Return the degrees of freedom that a row's p-value was computed with."""
    statistic = found["difference"] / found["difference_std_error"]
    grid = np.linspace(0.5, 30, 59_001)
    return grid[np.abs(stats.t.sf(statistic, grid) - found["p_value"]).argmin()]


def test_folds_use_the_correction_of_nadeau_and_bengio():
    # By hand: mean 0.026, variance 0.00053, factor 1/5 + 20/80.
    found = line([0.02, 0.05, -0.01, 0.04, 0.03], FOLDS)
    assert found["difference"] == pytest.approx(0.026)
    error = np.sqrt(0.45 * 0.00053)
    assert found["difference_std_error"] == pytest.approx(error)
    assert found["p_value"] == pytest.approx(stats.t(4).sf(0.026 / error))


def test_without_test_rows_it_is_the_ordinary_t_test():
    differences = np.random.default_rng(0).normal(0.3, 1.0, size=12)
    found = line(differences, {"n_train": 1.0, "n_test": 0.0})
    expected = stats.ttest_1samp(differences, 0.0, alternative="greater").pvalue
    assert found["p_value"] == pytest.approx(expected)


def test_variances_that_cancel_are_not_subtracted():
    # Every split has the same score; its groups differ, in another way in each split.
    groups = [[0.15, 0.05, 0.05, -0.25], [0.25, 0.15, -0.25, -0.15]]
    groups = np.array([*groups, [-0.3, 0.3, 0.0, 0.0]]) + 0.9
    found = line(np.full(3, 0.9), SMALL, groups)
    rows = groups.mean(axis=0).var(ddof=1) / 4
    rest = groups - groups.mean(axis=0)
    interaction = (rest**2).sum() / 6 / 12
    assert interaction < rows < 1.2 * interaction
    assert found["difference_std_error"] == pytest.approx(np.sqrt(rows))
    reach = stats.t.ppf(0.975, 3) * np.sqrt(rows)
    assert found["low"] == pytest.approx(0.9 - reach)


def test_small_training_sets_by_hand():
    groups = np.array([[0.1, 0.3, 0.2], [0.2, 0.5, 0.1], [0.0, 0.4, 0.2]])
    differences = groups.mean(axis=1)
    found = line(differences, SMALL, groups)
    # Means of the groups 0.1, 0.4, 1/6 and of the splits 0.2, 4/15, 0.2; their
    # residuals give the mean square of the interaction, on 2 · 2 degrees of freedom.
    columns = np.array([0.1, 0.4, 1 / 6])
    rest = groups - differences[:, None] - columns + groups.mean()
    interaction = (rest**2).sum() / 4 / 9
    splits, rows = differences.var(ddof=1) / 3, columns.var(ddof=1) / 3
    variance = splits + rows - interaction
    assert rows > interaction
    assert found["difference_std_error"] == pytest.approx(np.sqrt(variance))
    freedom = variance**2 / (splits**2 / 2 + rows**2 / 2 + interaction**2 / 4)
    expected = stats.t(freedom).sf(differences.mean() / np.sqrt(variance))
    assert found["p_value"] == pytest.approx(expected)


def test_few_labels_correct_for_the_training_rows_in_common():
    groups = np.array([[0.1, 0.3], [0.2, 0.2], [0.0, 0.1], [0.35, 0.3], [0.1, 0.0]])
    differences = groups.mean(axis=1)
    few = SMALL | {"kind": "few labels"}
    spread, rows = differences.var(ddof=1), groups.mean(axis=0)
    training = spread - groups.var(axis=1, ddof=1).mean() / 2
    assert training > 0
    rest = groups - differences[:, None] - rows + groups.mean()
    # The rows explain less than the interaction, so that nothing is added for them.
    assert rows.var(ddof=1) / 2 < (rest**2).sum() / 4 / 10
    for shared, ratio in ((0.0, 0.0), (0.4, 0.25), (1.0, 1.0)):
        found = line(differences, few | {"shared": shared}, groups)
        expected = np.sqrt(spread / 5 + ratio * training)
        assert found["difference_std_error"] == pytest.approx(expected)
        assert freedom_of(found) == pytest.approx(4, abs=0.01)


def test_folds_correct_the_variance_due_to_the_training_sets():
    groups = np.array([[0.1, 0.3], [0.2, 0.5], [0.0, 0.4], [0.3, 0.3], [0.1, 0.0]])
    differences = np.array([0.2, 0.4, 0.1, 0.3, 0.0])
    found = line(differences, FOLDS, groups)
    testing = groups.var(axis=1, ddof=1).mean() / 2
    spread = differences.var(ddof=1)
    expected = spread / 5 + 0.25 * (spread - testing)
    assert spread > testing
    assert found["difference_std_error"] == pytest.approx(np.sqrt(expected))
    assert freedom_of(found) == pytest.approx(4, abs=0.01)
    # Rows that explain the whole spread leave the ordinary t-test.
    ordinary = line(differences, FOLDS, 100 * groups)
    assert ordinary["difference_std_error"] == pytest.approx(np.sqrt(spread / 5))
    # Twenty splits pass over the rows four times; two are counted.
    found = line(np.tile(differences, 4), FOLDS, np.tile(100 * groups, (4, 1)))
    spread = np.tile(differences, 4).var(ddof=1)
    assert found["difference_std_error"] == pytest.approx(np.sqrt(spread / 10))
    # The score of an arm depends on the same test rows in every pass.
    testing *= 100**2
    assert found["std_error"] == pytest.approx(np.sqrt(testing / 5))


def test_windows_of_time_correct_for_the_training_rows_in_common():
    groups = np.array([[0.1, 0.3], [0.2, 0.5], [0.0, 0.4], [0.3, 0.3], [0.1, 0.0]])
    differences = np.array([0.2, 0.4, 0.1, 0.3, 0.0])
    spread = differences.var(ddof=1)
    training = spread - groups.var(axis=1, ddof=1).mean() / 2
    sizes = {"kind": "time", "n_train": 60.0, "n_test": 220.0}
    for overlap in (0.0, 0.3, 1.0):
        found = line(differences, sizes | {"overlap": overlap}, groups)
        expected = np.sqrt(spread / 5 + overlap * training)
        assert found["difference_std_error"] == pytest.approx(expected)
        # Windows are tested on different rows, so that a score has the same variance.
        assert found["std_error"] == pytest.approx(expected)
        assert freedom_of(found) == pytest.approx(4, abs=0.01)


def test_scores_of_small_training_sets_vary_with_rows_that_train_and_test():
    groups = np.array([[0.1, 0.3, 0.2], [0.2, 0.5, 0.1], [0.0, 0.4, 0.2]])
    found = line(groups.mean(axis=1), SMALL, groups)
    splits, rows = (
        groups.mean(axis=1).var(ddof=1) / 3,
        groups.mean(axis=0).var(ddof=1) / 3,
    )
    error = np.sqrt(splits + rows + np.sqrt(splits * rows))
    assert found["std_error"] == pytest.approx(error)


def test_the_interval_of_a_score_has_its_level_where_folds_are_repeated():
    # The score of a fold is the mean of its 20 rows of 100, in two passes; each is
    # divided into 5 groups.
    rng = np.random.default_rng(0)
    rows = rng.normal(0.5, 0.1, size=(2000, 100))
    again = rng.permuted(rows, axis=1)
    groups = np.concatenate([rows, again], axis=1).reshape(2000, 10, 5, 4).mean(axis=3)
    low, high = intervals(groups, FOLDS, "score", 0.95)
    assert 0.945 <= np.mean((low <= 0.5) & (high >= 0.5)) <= 0.985


def intervals(groups, splits, kind, confidence, arm="with"):
    """Return the intervals of the arm *with*, one table of groups per experiment.

    The display has one interval per training size; here a size is an experiment.
    """
    scores = {"without": np.zeros(groups.shape[:2]), arm: np.nanmean(groups, axis=2)}
    pseudo = {"without": np.zeros(groups.shape), arm: groups}
    design = replace(of_scores({"A": {"without": np.zeros(2)}}).design, **splits)
    many = range(len(groups))
    display = PrivilegedLearningCurveDisplay(
        np.array(many), scores, [design for _ in many], pseudo
    )
    return display.intervals(kind, confidence)[arm][1:]


def found_greater(groups, splits):
    """Return how often a mean is found above zero at 5 %."""
    # The ends of a 90 % interval are one-sided bounds at 5 %.
    low, _ = intervals(groups, splits, "difference", 0.9)
    return np.mean(low > 0)


@pytest.mark.parametrize(
    ("training", "testing", "both"),
    [
        (1.0, 1.5, 0.5),
        (0.0, 0.0, 1.0),
        pytest.param(1.0, 0.0, 0.5, marks=pytest.mark.slow),
        pytest.param(0.3, 1.0, 3.0, marks=pytest.mark.slow),
        pytest.param(0.0, 1.0, 0.1, marks=pytest.mark.slow),
    ],
)
def test_small_training_sets_keep_their_level(training, testing, both):
    # No true difference; training rows, test rows and their interaction add noise.
    rng = np.random.default_rng(0)
    groups = training * rng.normal(size=(1000, 20, 1))
    groups = groups + testing * rng.normal(size=(1000, 1, 10))
    groups += both * rng.normal(size=(1000, 20, 10))
    assert 0.03 <= found_greater(groups, SMALL) <= 0.07


@pytest.mark.parametrize(
    ("training", "testing", "largest"),
    # Ten splits cannot tell a small share of the training sets from none.
    [(0.0, 1.0, 0.06), (1.0, 0.1, 0.06), (0.5, 1.0, 0.08)],
)
def test_folds_keep_their_level(training, testing, largest):
    # Two times five folds; training sets correlate as Nadeau and Bengio assume.
    rng = np.random.default_rng(0)
    common, own = rng.normal(size=(1000, 1, 1)), rng.normal(size=(1000, 10, 1))
    groups = training * (np.sqrt(0.2) * common + np.sqrt(0.8) * own)
    groups = groups + testing * np.sqrt(8) * rng.normal(size=(1000, 10, 8))
    assert 0.03 <= found_greater(groups, FOLDS) <= largest


@pytest.mark.parametrize("same_rows", [0.0, 1.0])
def test_the_gain_of_an_oracle_depends_on_the_test_rows_in_every_pass(same_rows):
    # Two passes of five folds over the same rows, in which the difference of a row is
    # the same or another one.
    rng = np.random.default_rng(0)
    rows, others = rng.normal(0.1, 1.0, size=(2, 1000, 100))
    again = rng.permuted(same_rows * rows + (1 - same_rows) * others, axis=1)
    groups = np.concatenate([rows, again], axis=1).reshape(1000, 10, 5, 4).mean(axis=3)
    low, high = intervals(groups, FOLDS, "difference", 0.95, "oracle")
    covered = np.mean((low <= 0.1) & (high >= 0.1))
    # The difference of models of the same columns is not taken to last.
    low, high = intervals(groups, FOLDS, "difference", 0.95)
    if same_rows:
        assert 0.935 <= covered <= 0.985
        assert np.mean((low <= 0.1) & (high >= 0.1)) < 0.9
    else:
        assert covered > 0.985
        assert 0.935 <= np.mean((low <= 0.1) & (high >= 0.1)) <= 0.985


def test_groups_that_some_splits_do_not_test_keep_the_level():
    # Whole groups are training rows, so that each is absent from some splits.
    rng = np.random.default_rng(0)
    groups = rng.normal(size=(500, 1, 10)) + 0.5 * rng.normal(size=(500, 20, 10))
    groups[..., 1:][rng.random(size=(500, 20, 9)) < 0.4] = np.nan
    assert 0.03 <= found_greater(groups, SMALL) <= 0.08


def test_groups_without_a_score_in_some_split_are_left_out():
    rng = np.random.default_rng(0)
    groups = rng.normal(size=(6, 4))
    holes = np.column_stack([groups, np.full(6, np.nan)])
    columns, mean = ["difference_std_error", "p_value"], groups.mean(axis=1)
    whole = line(mean, SMALL, groups)
    assert line(mean, SMALL, holes)[columns].tolist() == whole[columns].tolist()
    # Folds have other test rows, so that each has its own groups.
    holes[:, 4] = rng.normal(size=6)
    holes[2, 4] = np.nan
    testing = np.mean(
        [own.var(ddof=1) / len(own) for own in (own[~np.isnan(own)] for own in holes)]
    )
    spread = mean.var(ddof=1)
    assert spread > testing
    expected = spread / 6 + 0.25 * (spread - testing)
    found = line(mean, FOLDS, holes)
    assert found["difference_std_error"] == pytest.approx(np.sqrt(expected))
    # A fold with one group left says nothing about the test rows.
    holes[0, :4] = np.nan
    own = np.delete(holes, 0, axis=0)
    testing = np.mean([np.nanvar(row, ddof=1) / (~np.isnan(row)).sum() for row in own])
    expected = spread / 6 + 0.25 * (spread - testing)
    found = line(mean, FOLDS, holes)
    assert found["difference_std_error"] == pytest.approx(np.sqrt(expected))
    # Without any, the formula of Nadeau and Bengio remains.
    holes[:, 1:] = np.nan
    found = line(mean, FOLDS, holes)
    assert found["p_value"] == line(mean, FOLDS)["p_value"]


def test_outlying_splits_are_left_out():
    differences = np.r_[np.linspace(0.01, 0.1, 9), -3.0]
    splits = {"n_train": 1.0, "n_test": 0.0}
    found = line(differences, splits)
    assert found["difference"] == pytest.approx(0.055)
    assert found["n_splits"] == 9
    expected = stats.ttest_1samp(differences[:-1], 0.0, alternative="greater")
    assert found["p_value"] == pytest.approx(expected.pvalue)
    # One of seven splits is not known to be an outlier.
    assert line(differences[3:], splits)["n_splits"] == 7


def test_at_most_two_fifths_of_the_splits_are_left_out():
    scores = {arm: np.linspace(0.1, 0.2, 10) for arm in ARMS}
    for split, arm in enumerate(("without", *ARMS[:4])):
        scores[arm] = scores[arm].copy()
        scores[arm][split] = -10.0 * (split + 1)
    result = of_scores({"A": scores})
    # The farthest first.
    assert result.left_out == [1, 2, 3, 4]
    assert (result.table["n_splits"] == 6).all()


@pytest.mark.parametrize("splits", [SMALL, FOLDS], ids=["small", "folds"])
def test_a_failing_split_decides_nothing(splits):
    rng = np.random.default_rng(0)
    groups = 0.05 + 0.02 * rng.normal(size=(20, 6))
    failed = groups.copy()
    failed[7] -= 3.0
    found, whole = (line(t.mean(axis=1), splits, t) for t in (failed, groups))
    assert found["difference"] == pytest.approx(whole["difference"], abs=0.01)
    assert found["p_value"] < 0.001


def test_the_level_is_kept_where_splits_are_left_out():
    # Two in ten training sets have an effect that is twenty times as large.
    rng = np.random.default_rng(0)
    scale = np.where(rng.random((2000, 20, 1)) < 0.2, 20.0, 1.0)
    groups = scale * rng.normal(size=(2000, 20, 1)) + rng.normal(size=(2000, 20, 10))
    assert 0.02 <= found_greater(groups, SMALL) <= 0.065


@pytest.mark.slow
@pytest.mark.parametrize("others", [0.02, 0.08], ids=["equal", "one best"])
def test_the_interval_of_the_gain_contains_it_and_does_not_promise_more(others):
    # Differences of 0.02 to *without* and of ``others`` to the two other controls.
    rng = np.random.default_rng(0)
    lows, highs = [], []
    for _ in range(100):
        groups = {}
        for arm, gain in zip(ARMS[:4], (0.02, 0.0, others, others), strict=True):
            noise = 0.02 * rng.normal(size=(20, 1)) + 0.02 * rng.normal(size=(1, 10))
            groups[arm] = noise + 0.05 * rng.normal(size=(20, 10)) - gain
        scores = {arm: table.mean(axis=1) for arm, table in groups.items()}
        lists = {arm: table.tolist() for arm, table in groups.items()}
        line = of_scores({"A": scores}, {"A": lists}, splits=SMALL).summary.loc[0]
        lows.append(line["gain_low"])
        highs.append(line["gain_high"])
    low, high = np.array(lows), np.array(highs)
    # Three standard errors of 100 experiments below 93 %, and above 2.5 %.
    assert np.mean((low <= 0.02) & (high >= 0.02)) >= 0.85
    assert np.mean(low > 0.02) <= 0.07


def test_equal_scores_are_no_evidence_either_way():
    summary = of_scores({"A": {"without": np.full(5, 0.7)}}).summary.loc[0]
    assert summary["p_helps"] == summary["p_hurts"] == 1.0


def test_a_constant_difference_is_certain():
    scores = {"without": np.full(5, 0.7), "with": np.full(5, 0.8)}
    summary = of_scores({"A": scores}).summary.loc[0]
    assert (summary["p_helps"], summary["p_hurts"]) == (0.0, 1.0)


def test_one_split_gives_no_p_value():
    assert np.isnan(line([0.3], FOLDS)["p_value"])


def test_methods_are_corrected_by_the_step_down_procedure_of_holm():
    rng = np.random.default_rng(0)
    gains = {f"M{k}": 0.03 * k + rng.normal(0.0, 0.1, size=8) for k in range(8)}
    zeros = np.zeros(8)
    scores = {name: {"without": zeros, "with": gain} for name, gain in gains.items()}
    scores["failed"] = {"without": np.full(8, np.nan)}
    adjusted = of_scores(scores).summary.set_index("method")["p_helps"]
    # A method alone is not corrected, and one that failed is not counted.
    alone = {
        name: of_scores({name: scores[name]}).summary.loc[0, "p_helps"]
        for name in gains
    }
    assert np.isnan(adjusted["failed"])
    largest = 0.0
    for step, name in enumerate(sorted(alone, key=alone.get)):
        largest = max(largest, min(1.0, (8 - step) * alone[name]))
        assert adjusted[name] == pytest.approx(largest)
    assert (adjusted <= 0.05).sum() > 0
    assert (adjusted <= 0.05).sum() < sum(p <= 0.05 for p in alone.values())
