"""Corrected tests against hand calculation and against their nominal level."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lupi.evaluation._statistics import Design, corrected_contrast, holm

SMALL = Design(10, 90, "small training sets")


def test_folds_use_the_correction_of_nadeau_and_bengio():
    differences = np.array([0.02, 0.05, -0.01, 0.04, 0.03])
    # By hand: mean 0.026, variance 0.00053, factor 1/5 + 20/80.
    result = corrected_contrast(differences, Design(80, 20))
    assert result.mean == pytest.approx(0.026)
    assert result.std_error == pytest.approx(np.sqrt(0.45 * 0.00053))
    expected = stats.t(4).sf(0.026 / np.sqrt(0.45 * 0.00053))
    assert result.p_greater == pytest.approx(expected)
    assert result.p_less == pytest.approx(1 - expected)
    assert result.p_nadeau_bengio == result.p_greater


def test_without_test_rows_it_is_the_ordinary_t_test():
    differences = np.random.default_rng(0).normal(0.3, 1.0, size=12)
    result = corrected_contrast(differences, Design(1.0, 0.0))
    expected = stats.ttest_1samp(differences, 0.0, alternative="greater").pvalue
    assert result.p_greater == pytest.approx(expected)


def test_small_training_sets_by_hand():
    groups = np.array([[0.1, 0.3, 0.2], [0.2, 0.5, 0.1], [0.0, 0.4, 0.2]])
    differences = groups.mean(axis=1)
    result = corrected_contrast(differences, SMALL, groups)
    # Means of the groups 0.1, 0.4, 1/6 and of the splits 0.2, 4/15, 0.2; their
    # residuals give the mean square of the interaction, on 2 · 2 degrees of freedom.
    columns = np.array([0.1, 0.4, 1 / 6])
    rest = groups - differences[:, None] - columns + groups.mean()
    interaction = (rest**2).sum() / 4 / 9
    splits, rows = differences.var(ddof=1) / 3, columns.var(ddof=1) / 3
    variance = splits + rows - interaction
    assert rows > interaction
    assert result.std_error == pytest.approx(np.sqrt(variance))
    freedom = variance**2 / (splits**2 / 2 + rows**2 / 2 + interaction**2 / 4)
    assert result.freedom == pytest.approx(freedom)
    expected = stats.t(freedom).sf(differences.mean() / np.sqrt(variance))
    assert result.p_greater == pytest.approx(expected)
    # The published formula is there as well: factor 1/3 + 90/10.
    published = np.sqrt((1 / 3 + 9) * differences.var(ddof=1))
    expected = stats.t(2).sf(differences.mean() / published)
    assert result.p_nadeau_bengio == pytest.approx(expected)


def test_folds_correct_what_training_sets_cause():
    groups = np.array([[0.1, 0.3], [0.2, 0.5], [0.0, 0.4], [0.3, 0.3], [0.1, 0.0]])
    differences = np.array([0.2, 0.4, 0.1, 0.3, 0.0])
    result = corrected_contrast(differences, Design(80, 20), groups)
    testing = groups.var(axis=1, ddof=1).mean() / 2
    spread = differences.var(ddof=1)
    expected = spread / 5 + 0.25 * (spread - testing)
    assert spread > testing
    assert result.std_error == pytest.approx(np.sqrt(expected))
    assert result.freedom == 4
    # Rows that explain the whole spread leave the ordinary t-test.
    ordinary = corrected_contrast(differences, Design(80, 20), 100 * groups)
    assert ordinary.std_error == pytest.approx(np.sqrt(spread / 5))
    # Twenty splits pass over the rows four times; two are counted, one for a level.
    again = [np.tile(differences, 4), Design(80, 20), np.tile(100 * groups, (4, 1))]
    spread = np.tile(differences, 4).var(ddof=1)
    found = corrected_contrast(*again).std_error
    assert found == pytest.approx(np.sqrt(spread / 10))
    found = corrected_contrast(*again, paired=False).std_error
    assert found == pytest.approx(np.sqrt(spread / 5))


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
    p = []
    for _ in range(2000):
        groups = training * rng.normal(size=(20, 1)) + testing * rng.normal(size=10)
        groups = groups + both * rng.normal(size=(20, 10))
        p.append(corrected_contrast(groups.mean(axis=1), SMALL, groups).p_greater)
    assert 0.03 <= np.mean(np.array(p) <= 0.05) <= 0.07
    assert 0.9 <= stats.norm.isf(p).std() <= 1.1


@pytest.mark.parametrize(
    ("training", "testing", "largest"),
    # Ten splits cannot tell a small share of the training sets from none.
    [(0.0, 1.0, 0.06), (1.0, 0.1, 0.06), (0.5, 1.0, 0.08)],
)
def test_folds_keep_their_level(training, testing, largest):
    # Two times five folds; training sets correlate as Nadeau and Bengio assume.
    rng = np.random.default_rng(0)
    p = []
    for _ in range(2000):
        common, own = rng.normal(size=1), rng.normal(size=(10, 1))
        trained = training * (np.sqrt(0.2) * common + np.sqrt(0.8) * own)
        groups = trained + testing * np.sqrt(8) * rng.normal(size=(10, 8))
        result = corrected_contrast(groups.mean(axis=1), Design(80, 20), groups)
        p.append(result.p_greater)
    assert 0.03 <= np.mean(np.array(p) <= 0.05) <= largest
    assert 0.85 <= stats.norm.isf(p).std() <= 1.1


def test_the_uncorrected_test_would_not_keep_its_level():
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(500):
        groups = rng.normal(0, 1.0, size=(20, 1)) + rng.normal(0, 1.5, size=(1, 10))
        p = stats.ttest_1samp(groups.mean(axis=1), 0.0, alternative="greater").pvalue
        found += p <= 0.05
    assert found / 500 > 0.15


def test_groups_without_a_score_in_some_split_are_left_out():
    rng = np.random.default_rng(0)
    groups = rng.normal(size=(6, 4))
    holes = np.column_stack([groups, rng.normal(size=6)])
    holes[2, 4] = np.nan
    for design in (SMALL, Design(80, 20)):
        whole, found = (
            corrected_contrast(groups.mean(axis=1), design, table)
            for table in (groups, holes)
        )
        assert found == whole
    # With one group left the formula of Nadeau and Bengio remains.
    holes[0, :3] = np.nan
    found = corrected_contrast(groups.mean(axis=1), Design(80, 20), holes)
    spread = groups.mean(axis=1).var(ddof=1)
    assert found.std_error == pytest.approx(np.sqrt((1 / 6 + 0.25) * spread))


def test_equal_scores_are_no_evidence_either_way():
    result = corrected_contrast(np.zeros(5), Design(80, 20))
    assert result.p_greater == result.p_less == 1.0


def test_a_constant_difference_is_certain():
    result = corrected_contrast(np.full(5, 0.1), Design(80, 20))
    assert result.p_greater == 0.0
    assert result.p_less == 1.0


def test_one_split_says_nothing():
    assert np.isnan(corrected_contrast([0.3], Design(80, 20)).p_greater)


def test_holm_by_hand():
    # Smallest times 3, next times 2, next times 1, never falling.
    np.testing.assert_allclose(holm([0.04, 0.01, 0.03]), [0.06, 0.03, 0.06])
    np.testing.assert_allclose(holm([0.5, 0.9]), [1.0, 1.0])


def test_holm_leaves_out_tests_that_were_not_made():
    np.testing.assert_allclose(holm([0.02, np.nan, 0.04]), [0.04, np.nan, 0.04])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_rejects_what_the_step_down_procedure_rejects(p_values):
    p = np.array(p_values)
    rejected = np.zeros(len(p), dtype=bool)
    for step, i in enumerate(np.argsort(p, kind="stable")):
        if p[i] > 0.05 / (len(p) - step):
            break
        rejected[i] = True
    # A product and a quotient can round apart exactly on the border.
    clear = np.abs(holm(p) - 0.05) > 1e-12
    np.testing.assert_array_equal((holm(p) <= 0.05)[clear], rejected[clear])
