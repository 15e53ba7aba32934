"""Beyond some thousand rows candidates are scored on some of them."""

from __future__ import annotations

import numpy as np
import pytest

from lupi.evaluation._plan import plan
from lupi.report._words import searched_words

rng = np.random.default_rng(0)
N = 400
X = rng.normal(size=(N, 3))
Y = (X[:, 0] + 0.5 * rng.normal(size=N) > 0.8).astype(int)
P = X[:, :1] + 0.1 * rng.normal(size=(N, 1))
OPTIONS = {"methods": "linear-svc-plus", "cv": 2, "n_candidates": 3}
FEW = {"most_searched": 60}


def searched(study, arm, number=0):
    method = study.methods[0]
    training = study.training(method, arm, study.splits[number])
    return study._searched(training, number), training


def test_the_same_rows_in_every_arm_with_the_classes_in_proportion():
    study = plan(X, Y, P, **OPTIONS, **FEW)
    chosen, training = searched(study, "with")
    assert len(chosen.rows) == chosen.n_labelled == 60
    assert set(chosen.rows) <= set(training.rows)
    assert len(set(chosen.rows)) == 60
    for arm in ("without", "oracle", "shuffled"):
        np.testing.assert_array_equal(searched(study, arm)[0].rows, chosen.rows)
    share = Y[training.rows].mean()
    assert Y[chosen.rows].mean() == pytest.approx(share, abs=1 / 60)
    assert set(searched(study, "with", 1)[0].rows) != set(chosen.rows)


def test_the_chosen_candidate_is_fitted_on_all_rows():
    study = plan(X, Y, P, **OPTIONS, **FEW)
    line = study.run_arm(study.methods[0], "with", 0)
    assert line["n_train"] == 200
    fitted = []
    study.fit = lambda *given, fit=study.fit: fitted.append(given[2]) or fit(*given)
    study.run_arm(study.methods[0], "with", 0)
    sizes = [len(fold.train) for fold in fitted]
    assert max(sizes[:-1]) == 40  # two thirds of the 60
    assert sizes[-1] == 200


def test_rows_without_y_keep_their_proportion():
    y = Y.astype(float)
    y[: N // 2] = np.nan
    study = plan(X, y, P, methods="hedged-distillation", cv=2, n_candidates=3, **FEW)
    chosen, training = searched(study, "with")
    extra = len(training.rows) - training.n_labelled
    assert training.n_labelled > 60
    assert extra > 0
    kept = len(chosen.rows) - chosen.n_labelled
    assert kept == pytest.approx(extra * 60 / training.n_labelled, abs=1)
    assert np.isnan(y[chosen.rows[chosen.n_labelled :]]).all()


def test_small_tables_are_searched_whole_and_the_words_say_so():
    study = plan(X, Y, P, **OPTIONS)
    chosen, training = searched(study, "with")
    assert chosen is training
    assert searched_words(study.settings["search"]) == "the training rows"
    assert study.settings["search"]["has_parameters"]
    hedged = plan(X, Y, P, **{**OPTIONS, "methods": "hedged-distillation-classifier"})
    assert not hedged.settings["search"]["has_parameters"]
    many = rng.normal(size=(12_000, 1))
    study = plan(many, (many[:, 0] > 0).astype(int), many, **OPTIONS)
    words = searched_words(study.settings["search"])
    assert words == "5,000 of the training rows"
