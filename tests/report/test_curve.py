"""Learning curves pass through the scores of the comparison they belong to."""

from __future__ import annotations

import numpy as np
import pytest

from lupi.datasets import make_mediator
from lupi.evaluation import Comparison, compare
from lupi.evaluation._curve import _resized, learning_curves

METHOD = "GeneralizedDistillationClassifier"


@pytest.fixture(scope="module")
def comparison():
    data = make_mediator(300, random_state=0)
    return compare(
        data.data,
        data.target,
        data.privileged,
        methods=[METHOD],
        train_size=40,
        cv=4,
        search=2,
    )


def test_the_curve_holds_the_compared_scores_at_the_compared_size(comparison):
    (curve,) = learning_curves(comparison).values()
    sizes = [point["n_train"] for point in curve]
    assert sizes == [20, 40, 80, 160]
    scores = comparison.table.set_index("row")["score"]
    for row in ("without", "with"):
        assert curve[1][row] == pytest.approx(scores[row], abs=1e-12)


def test_one_more_fit_by_hand_gives_the_same_point(comparison):
    (curve,) = learning_curves(comparison).values()
    study, folds = comparison.study, comparison.folds
    scores = []
    for split in range(4):
        train, test = _resized(study, 80, split)
        chosen = folds[(folds["row"] == "without") & (folds["split"] == split)]
        fold = study._fold("without", train, test, train)
        model = study._fit(study.methods[0], chosen["params"].iloc[0], fold)
        scores.append(study.scorer(model, fold.X_test, study.y[test]))
    assert curve[2]["without"] == pytest.approx(np.mean(scores), abs=1e-12)


def test_training_sets_are_nested_and_never_tested_on(comparison):
    study = comparison.study
    train, test = study.splits[0]
    small, same = _resized(study, 20, 0)
    large, rest = _resized(study, 160, 0)
    assert len(small) == 20
    assert len(large) == 160
    assert set(small) < set(train) < set(large)
    assert set(same) == set(test)
    assert set(large) | set(rest) == set(range(300))
    assert not set(large) & set(rest)


def test_a_comparison_read_from_a_file_has_no_data_to_fit(comparison, tmp_path):
    comparison.to_json(tmp_path / "c.json")
    assert learning_curves(Comparison.from_json(tmp_path / "c.json")) == {}
