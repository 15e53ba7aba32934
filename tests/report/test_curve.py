"""Learning curves pass through the scores of the comparison they belong to."""

from __future__ import annotations

import pytest

from lupi.datasets import make_mediator
from lupi.evaluation import Comparison, compare
from lupi.evaluation._curve import _resized
from tests.evaluation.test_compare import TAUGHT

METHOD = TAUGHT.name


@pytest.fixture(scope="module")
def comparison():
    data = make_mediator(300, random_state=0)
    return compare(
        data.data,
        data.target,
        data.privileged,
        methods=[TAUGHT],
        train_size=40,
        cv=4,
        n_candidates=2,
        inner_cv=2,
    )


def test_the_curve_holds_the_compared_scores_at_the_compared_size(comparison):
    (curve,) = comparison.learning_curves().values()
    assert curve.train_sizes.tolist() == [20, 40, 80, 160]
    scores = comparison.table.set_index("arm")["score"]
    for arm in ("without", "with"):
        assert curve.scores[arm].shape == (4, 4)
        assert curve.scores[arm][1].mean() == pytest.approx(scores[arm], abs=1e-12)
        assert curve.group_scores[arm].shape == (4, 4, 10)
    assert [design.n_test for design in curve.designs] == [260, 260, 220, 140]


def test_one_more_fit_by_hand_gives_the_same_point(comparison):
    (curve,) = comparison.learning_curves().values()
    study, folds = comparison.study, comparison.folds
    for split in range(4):
        resized = _resized(study, 80, split)
        chosen = folds[(folds["arm"] == "without") & (folds["split"] == split)]
        training = study.training(study.methods[0], "without", resized)
        fold = study.folds.fold("without", training, resized.test)
        model = study.fit(study.methods[0], chosen["params"].iloc[0], fold)
        score = study.scorer(model, fold.X_test, study.y[resized.test])
        assert curve.scores["without"][2, split] == pytest.approx(score, abs=1e-12)


def test_training_sets_are_nested_and_never_tested_on(comparison):
    study = comparison.study
    train, test, _ = study.splits[0]
    small, same, _ = _resized(study, 20, 0)
    large, rest, _ = _resized(study, 160, 0)
    assert len(small) == 20
    assert len(large) == 160
    assert set(small) < set(train) < set(large)
    assert set(same) == set(test)
    assert set(large) | set(rest) == set(range(300))
    assert not set(large) & set(rest)


def test_a_comparison_read_from_a_file_has_no_data_to_fit(comparison, tmp_path):
    comparison.to_json(tmp_path / "c.json")
    assert Comparison.from_json(tmp_path / "c.json").learning_curves() == {}
