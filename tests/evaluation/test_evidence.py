"""Does `compare` say what is true? Where nothing helps, and where X* must help."""

from collections import Counter

import numpy as np
import pytest

from lupi.datasets import load_actg175, make_slack_teacher, make_useless
from lupi.evaluation import compare

DISTILLATION = "generalized-distillation-classifier"


def verdicts_on_noise(n_samples, **options):
    kinds = Counter()
    for seed in range(40):
        data = make_useless(n_samples, random_state=seed)
        result = compare(
            data.data,
            data.target,
            data.privileged,
            methods=DISTILLATION,
            n_candidates=4,
            inner_cv=2,
            random_state=seed,
            **options,
        )
        kinds[result.verdict.kind] += 1
    return kinds


@pytest.mark.slow
def test_noise_is_not_found_to_help_on_folds():
    assert verdicts_on_noise(200, cv=5)["helps"] <= 2


@pytest.mark.slow
def test_noise_is_not_found_to_help_small_training_sets():
    # It may be found to hurt: a teacher of noise does harm where rows are few.
    assert verdicts_on_noise(600, train_size=50, cv=10)["helps"] <= 2


@pytest.mark.slow
def test_the_ideal_teacher_is_found_to_help():
    kinds, without, oracle = [], [], []
    for seed in range(20):
        data = make_slack_teacher(200, random_state=seed)
        result = compare(
            data.data,
            data.target,
            data.privileged,
            methods="svc-plus",
            scoring="accuracy",
            n_candidates=4,
            inner_cv=2,
            random_state=seed,
        )
        kinds.append(result.verdict.kind)
        without.append(result.summary.loc[0, "without"])
        oracle.append(result.summary.loc[0, "oracle"])
    assert np.mean(without) <= 0.75
    assert np.mean(oracle) >= 0.95
    assert kinds.count("helps") >= 15


@pytest.mark.slow
def test_the_demonstration_tells_the_story_of_the_trial():
    trial = load_actg175(as_frame=True)
    gains = []
    for options in ({"train_size": 60}, {"labelled": 60}):
        result = compare(
            trial.data,
            trial.target,
            trial.privileged,
            methods="hedged-distillation",
            **options,
        )
        assert result.verdict.kind == "helps"
        assert result.summary.loc[0, "p_gap"] <= 0.05
        gains.append(result.summary.loc[0, "gain"])
    # Patients whose outcome is not known yet are worth as much again, and more.
    assert 0.01 < gains[0] < 0.04
    assert 0.03 < gains[1] < 0.07
