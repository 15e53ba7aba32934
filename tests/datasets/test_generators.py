"""Generated data against the formulas and the promises of their docstrings."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import SVC, LinearSVC

from lupi.datasets import (
    make_biased_hiring,
    make_mediator,
    make_noisy_labels,
    make_plane,
    make_similarity_teacher,
    make_slack_teacher,
    make_useless,
)

MAKERS = [
    make_slack_teacher,
    make_similarity_teacher,
    make_mediator,
    make_noisy_labels,
    make_useless,
    make_plane,
    make_biased_hiring,
]


@pytest.mark.parametrize("make", MAKERS)
def test_the_seed_decides(make):
    first, again, other = (make(random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.data, again.data)
    np.testing.assert_array_equal(first.privileged, again.privileged)
    np.testing.assert_array_equal(first.target, again.target)
    assert not np.array_equal(first.privileged, other.privileged) or not np.array_equal(
        first.data, other.data
    )


@pytest.mark.parametrize("make", MAKERS)
def test_frames_carry_the_names(make):
    bunch = make(random_state=0, as_frame=True)
    assert list(bunch.data.columns) == bunch.feature_names
    assert list(bunch.privileged.columns) == bunch.privileged_feature_names


def test_slack_teacher_tells_the_margin_violation():
    data = make_slack_teacher(5000, noise=0.0, random_state=0)
    margin = data.target * (data.data @ data.rule)
    np.testing.assert_allclose(data.privileged[:, 0], np.maximum(0, 1 - margin))
    np.testing.assert_allclose(
        data.privileged[:, 1], data.target * np.maximum(0, 1 - margin)
    )


def test_slack_teacher_flips_labels_beyond_the_margin_only():
    data = make_slack_teacher(20000, flip=0.4, random_state=0)
    value = data.data @ data.rule
    wrong = np.sign(value) != data.target
    assert not wrong[np.abs(value) < 1].any()
    assert wrong[np.abs(value) > 1].mean() == pytest.approx(0.4, abs=0.02)


def test_slack_teacher_leaves_much_to_gain_at_200_rows():
    without, oracle = [], []
    for seed in range(3):
        data = make_slack_teacher(1200, random_state=seed)
        both = np.hstack([data.data, data.privileged])
        for rows, scores in ((data.data, without), (both, oracle)):
            scores.append(
                max(
                    SVC(kernel=kernel, C=C)
                    .fit(rows[:200], data.target[:200])
                    .score(rows[200:], data.target[200:])
                    for kernel in ("linear", "rbf")
                    for C in (0.1, 1.0)
                )
            )
    assert np.mean(without) <= 0.75
    assert np.mean(oracle) >= 0.95


def test_similarity_teacher_is_clear_in_privileged_space_and_blurred_in_x():
    data = make_similarity_teacher(4000, random_state=0)
    clear = LogisticRegression().fit(data.privileged, data.target)
    # The classes are N(±2, 1) along one axis: Φ(2) of them are on their side.
    expected, error = norm.cdf(2), np.sqrt(norm.cdf(2) * norm.cdf(-2) / 4000)
    found = clear.score(data.privileged, data.target)
    assert found == pytest.approx(expected, abs=4 * error)
    blurred = LogisticRegression().fit(data.data, data.target)
    assert blurred.score(data.data, data.target) < 0.9


def test_mediator_passes_everything_through_privileged_space():
    data = make_mediator(20000, task="regression", random_state=0)
    mediated = LinearRegression().fit(data.privileged, data.target)
    rest = data.target - mediated.predict(data.privileged)
    # What X* leaves of y is the noise of variance 1, and x explains none of it.
    assert rest.var() == pytest.approx(1.0, abs=0.05)
    assert LinearRegression().fit(data.data, rest).score(data.data, rest) < 0.005
    assert LinearRegression().fit(data.data, data.target).score(
        data.data, data.target
    ) == pytest.approx(4 / (4 + 4 + 1), abs=0.1)


def test_mediator_classes_follow_the_logistic_rule():
    data = make_mediator(20000, random_state=0)
    fit = LogisticRegression(C=1e6).fit(data.privileged, data.target)
    np.testing.assert_allclose(fit.coef_, [[np.sqrt(2), np.sqrt(2)]], atol=0.15)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_useless_is_independent_of_everything(task):
    data = make_useless(20000, task=task, random_state=0)
    columns = np.column_stack([data.data, data.target, data.privileged])
    correlation = np.corrcoef(columns, rowvar=False)[-5:, :-5]
    assert np.abs(correlation).max() < 0.03


@pytest.mark.parametrize("make", [make_mediator, make_useless])
def test_unknown_task_is_refused(make):
    with pytest.raises(ValueError, match="'classification' or 'regression'"):
        make(task="clustering")


def test_planes_separate_where_they_say():
    def accuracy(rows, labels):
        model = LinearSVC(C=1e3, max_iter=100_000).fit(rows, labels)
        return model.score(rows, labels)

    separable = make_plane("separable", 200, random_state=0)
    assert accuracy(separable.data, separable.target) == 1.0
    assert accuracy(separable.privileged, separable.target) == 1.0
    mixed = make_plane("separable-privileged", 200, random_state=0)
    assert accuracy(mixed.data, mixed.target) < 1.0
    assert accuracy(mixed.privileged, mixed.target) == 1.0
    overlapping = make_plane("overlapping", 200, random_state=0)
    assert accuracy(overlapping.data, overlapping.target) < 1.0
    assert accuracy(overlapping.privileged, overlapping.target) < 1.0
    with pytest.raises(ValueError, match="choose one of"):
        make_plane("round")


def test_hiring_is_biased_by_the_given_share():
    data = make_biased_hiring(20000, bias=0.8, random_state=0)
    group = data.privileged[:, 0]
    # By group in 80 % of cases; merit agrees with the group half of the time.
    assert (data.target == group).mean() == pytest.approx(0.9, abs=0.01)
    fair = make_biased_hiring(20000, bias=0.0, random_state=0)
    np.testing.assert_array_equal(
        fair.target, np.where(fair.data.sum(axis=1) >= 0, 1, -1)
    )
    with pytest.raises(ValueError, match="between 0 and 1"):
        make_biased_hiring(bias=1.5)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("reason", ["annotators", "seconds", "sources"])
def test_noisy_labels_are_wrong_at_the_rates_given(reason, n_classes):
    rates = (0.05, 0.3, 0.45)
    data = make_noisy_labels(
        6000, n_classes=n_classes, rates=rates, reason=reason, random_state=0
    )
    wrong = data.target != data.truth
    # Four standard errors of a mean of 6000, and of 500 rows and more.
    assert abs(wrong.mean() - data.rates.mean()) < 4 * 0.5 / np.sqrt(6000)
    if reason == "seconds":
        expected = 0.45 * np.exp(-data.privileged[:, 0] / 60)
        np.testing.assert_allclose(data.rates, expected)
        np.testing.assert_allclose(np.exp(data.privileged[:, 1]), data.privileged[:, 0])
        return
    np.testing.assert_array_equal(data.privileged.sum(axis=1), 1)
    for m, rate in enumerate(rates):
        mine = data.privileged[:, m] == 1
        counted = (
            mine if reason == "annotators" else mine & (data.truth != m % n_classes)
        )
        assert abs(wrong[counted].mean() - rate) < 4 * 0.5 / np.sqrt(counted.sum())
        if reason == "sources":
            assert np.all(data.target[mine & wrong] == m % n_classes)


def test_noisy_labels_refuse_rates_beyond_a_guess():
    with pytest.raises(ValueError, match=r"between 0 and 0\.5"):
        make_noisy_labels(rates=(0.1, 0.6))
    with pytest.raises(ValueError, match="annotators"):
        make_noisy_labels(reason="mood")
    assert make_noisy_labels(50, n_classes=3, rates=(0.6,)).target.max() == 2
    frame = make_noisy_labels(50, as_frame=True, reason="sources").privileged
    assert list(frame.columns) == [f"source_{m}" for m in range(1, 7)]
