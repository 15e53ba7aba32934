"""Corrected tests against hand calculation and against their nominal level."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lupi.evaluation._statistics import Design, corrected_contrast, holm


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


def test_small_training_sets_add_both_sources_of_chance():
    groups = np.array([[0.1, 0.3, 0.2], [0.2, 0.5, 0.1], [0.0, 0.4, 0.2]])
    differences = groups.mean(axis=1)
    result = corrected_contrast(differences, Design(10, 90, 0.05), groups)
    splits = (1 / 3 + 0.05) * differences.var(ddof=1)
    rows = np.array([0.1, 0.4, 1 / 6]).var(ddof=1) / 3
    assert result.std_error == pytest.approx(np.sqrt(splits + rows))
    expected = stats.t(2).sf(differences.mean() / np.sqrt(splits + rows))
    assert result.p_greater == pytest.approx(expected)
    # The published formula is there as well: factor 1/3 + 90/10.
    published = np.sqrt((1 / 3 + 9) * differences.var(ddof=1))
    expected = stats.t(2).sf(differences.mean() / published)
    assert result.p_nadeau_bengio == pytest.approx(expected)


def test_small_training_sets_keep_their_level_when_both_sources_are_at_work():
    # No true difference, but training rows and test rows both push the scores.
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(2000):
        training = rng.normal(0, 1.0, size=(20, 1))
        testing = rng.normal(0, 1.5, size=(1, 10))
        groups = training + testing + rng.normal(0, 0.5, size=(20, 10))
        result = corrected_contrast(groups.mean(axis=1), Design(10, 90), groups)
        found += result.p_greater <= 0.05
    assert found / 2000 <= 0.06


def test_the_uncorrected_test_would_not_keep_its_level():
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(500):
        groups = rng.normal(0, 1.0, size=(20, 1)) + rng.normal(0, 1.5, size=(1, 10))
        p = stats.ttest_1samp(groups.mean(axis=1), 0.0, alternative="greater").pvalue
        found += p <= 0.05
    assert found / 500 > 0.15


def test_groups_without_a_score_in_a_split_are_left_out_of_it():
    groups = np.array([[0.1, np.nan, 0.3, np.nan], [0.3, 0.2, 0.1, np.nan]])
    result = corrected_contrast([0.2, 0.2], Design(10, 90), groups)
    expected = np.sqrt(np.array([0.2, 0.2, 0.2]).var(ddof=1) / 3)
    assert result.std_error == pytest.approx(expected)


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
