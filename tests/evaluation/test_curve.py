"""Learning curves pass through the scores of the comparison they belong to."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from lupi.datasets import make_mediator
from lupi.evaluation import Comparison, Method, compare
from lupi.evaluation._verdict import training_rows
from lupi.report._words import curve_words
from tests.toys import TaughtClassifier

DATA = make_mediator(300, random_state=0)
# Weights number the rows, from 1: they are the rows' names in fits and scores.
NUMBERS = np.arange(1.0, 301.0)


class Recorder(TaughtClassifier):
    """Keeps the numbers of the rows that it is fitted on and scored on."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y, *, privileged=None, sample_weight=None):
        self.train_ = sample_weight.astype(int) - 1
        self.with_privileged_ = privileged is not None
        return super().fit(X, y, privileged=privileged)


def accuracy(model, X, y, sample_weight):
    test = sample_weight.astype(int) - 1
    Recorder.seen.append((model.with_privileged_, model.alpha, model.train_, test))
    return float(np.mean(model.predict(X) == y))


@pytest.fixture(scope="module")
def comparison():
    space = {"alpha": [0.1, 10.0]}
    return compare(
        DATA.data,
        DATA.target,
        DATA.privileged,
        methods=Method("Taught", "classification", Recorder(), space),
        train_size=40,
        cv=4,
        n_candidates=2,
        inner_cv=2,
        sample_weight=NUMBERS,
        scoring=accuracy,
    )


@pytest.fixture(scope="module")
def curve(comparison):
    """The curve, and the rows of its fits with all of their test rows."""
    Recorder.seen = []
    (found,) = comparison.learning_curves().values()
    # The jackknife scores parts of the test rows; the first score of a fit has all.
    fits = {}
    for privileged, alpha, train, test in Recorder.seen:
        key = (privileged, train.tobytes())
        fits.setdefault(key, (privileged, alpha, train, test))
    return found, list(fits.values())


def test_the_curve_has_the_compared_scores_at_the_compared_size(comparison, curve):
    found, _ = curve
    assert found.train_sizes.tolist() == [20, 40, 80, 160]
    scores = comparison.table.set_index("arm")["score"]
    for arm in ("without", "with"):
        assert found.scores[arm].shape == (4, 4)
        assert found.scores[arm][1].mean() == pytest.approx(scores[arm], abs=1e-12)
        assert found.group_scores[arm].shape == (4, 4, 10)
    assert [design.n_test for design in found.designs] == [260, 260, 220, 140]


def test_one_more_fit_by_hand_gives_the_same_point(comparison, curve):
    found, fits = curve
    folds = comparison.folds[comparison.folds["arm"] == "without"]
    chosen = folds.sort_values("split")["params"].tolist()
    at_80 = [fit for fit in fits if len(fit[2]) == 80 and not fit[0]]
    assert len(at_80) == 4
    for split, (_, alpha, train, test) in enumerate(at_80):
        assert alpha == chosen[split]["alpha"]
        scaler = StandardScaler().fit(DATA.data[train])
        model = TaughtClassifier(alpha=alpha)
        model.fit(scaler.transform(DATA.data[train]), DATA.target[train])
        score = model.score(scaler.transform(DATA.data[test]), DATA.target[test])
        assert found.scores["without"][2, split] == pytest.approx(score, abs=1e-12)


def test_training_sets_are_nested_and_never_tested_on(comparison, curve):
    _, fits = curve
    # Without and with X* the rows are the same.
    assert len(fits) == 2 * 3 * 4
    for split, (train, test, _) in enumerate(comparison.study.splits):
        for size in (20, 80, 160):
            own = [fit for fit in fits if len(fit[2]) == size and not fit[0]][split]
            rows, tested = set(own[2]), set(own[3])
            assert not rows & tested
            if size < 40:
                assert rows < set(train)
                assert tested == set(test)
            else:
                assert rows > set(train)
                assert rows | tested == set(range(300))


def test_training_sets_of_whole_groups_have_their_mean_size():
    method = Method(
        "Taught", "classification", TaughtClassifier(), {"alpha": [0.1, 10.0]}
    )
    result = compare(
        *(DATA.data, DATA.target, DATA.privileged),
        groups=np.sqrt(4 * np.arange(300)).astype(int),
        methods=method,
        n_candidates=2,
        inner_cv=2,
        cv=3,
    )
    splits = result.settings["splits"]
    sizes = result.folds.loc[result.folds["arm"] == "with", "n_train"]
    (curve,) = result.learning_curves().values()
    assert curve.compared == round(splits["n_train"]) != sizes.iloc[0]
    assert curve.compared == curve.table["n_train"].max()
    assert curve.designs[-1].n_train == splits["n_train"] == sizes.mean()
    assert f"chosen with {training_rows(splits)} rows" in curve_words(curve, splits)


def test_a_comparison_read_from_a_file_has_no_data_to_fit(comparison, tmp_path):
    comparison.to_json(tmp_path / "c.json")
    assert Comparison.from_json(tmp_path / "c.json").learning_curves() == {}
