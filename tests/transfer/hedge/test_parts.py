"""Rows in parts: the same model as in one part, whatever the parts are."""

import numpy as np
import pytest

from lupi import HedgedDistillationClassifier, HedgedDistillationRegressor
from lupi._parts import LocalParts
from lupi.transfer._hedge.rows import Units


def _draw(n_classes, seed=0, n=240):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * [1, 10, 0.1, 1] + [0, 100, 0, 5]
    P = X[:, :2] * [1, 0.1] + rng.normal(size=(n, 2))
    score = P[:, 0] + X[:, 3] + rng.normal(size=n)
    y = np.digitize(score, [4.5, 5.5])[:n] if n_classes == 3 else score
    y = np.where(score > 5, 1.0, 0.0) if n_classes == 2 else y.astype(float)
    y[rng.random(n) < 0.4] = np.nan
    X[rng.random(X.shape) < 0.05] = np.nan
    P[rng.random(P.shape) < 0.05] = np.nan
    P[rng.random(n) < 0.2] = np.nan
    return X, y, P, rng.integers(0, 3, n).astype(float), rng.integers(0, 30, n)


# Of very different size, one without rows with X*, one without y of the last class.
def _cuts(training):
    y, known = training.y.copy(), training.privileged.available
    y[np.setdiff1d(np.arange(len(y)), training.labelled)] = np.nan
    first = np.flatnonzero(~known)
    second = np.flatnonzero(known & (y != np.nanmax(y)))
    third = np.setdiff1d(np.arange(len(y)), np.concatenate([first, second]))
    return [first[:1], first[1:], second, third]


@pytest.mark.parametrize("few", [10_000, 20])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_parts_do_not_matter(n_classes, grouped, few):
    kind = HedgedDistillationClassifier if n_classes else HedgedDistillationRegressor
    X, y, P, weight, groups = _draw(n_classes)
    how = {} if n_classes else {"y_numeric": True}
    models = []
    for cut in (lambda training: [np.arange(training.n_rows)], _cuts):
        model = kind()
        training = model._read(X, y, P, weight, groups, **how).learnable()
        parts = LocalParts([training.take(index) for index in cut(training)])
        model._fit_parts(parts, grouped=grouped, weighted=True, few=few)
        models.append(model)
    one, several = models
    for name in ("coef_", "intercept_", "missing_coef_"):
        np.testing.assert_allclose(
            getattr(several, name), getattr(one, name), rtol=1e-8, atol=1e-9
        )
    assert several.weights_ == pytest.approx(one.weights_, abs=1e-9)
    for key, score in one.candidate_scores_.items():
        assert several.candidate_scores_[key] == pytest.approx(score, abs=1e-9)
    if n_classes:
        np.testing.assert_allclose(
            several.calibration_intercept_, one.calibration_intercept_, atol=1e-8
        )


@pytest.mark.parametrize("few", [10_000, 20])
def test_equal_rows_and_groups_share_a_fold_and_folds_are_even(few, monkeypatch):
    dealt = []
    real = Units.assign

    def spy(self, *arguments):
        dealt.append(real(self, *arguments))
        return dealt[-1]

    monkeypatch.setattr(Units, "assign", spy)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), rng.normal(size=300)
    twice = np.tile(np.arange(300), 2)
    for rows, groups in ((twice, None), (twice[:300], twice[:300] // 4)):
        model = HedgedDistillationRegressor()
        given = model._read(
            X[rows], y[rows], X[rows], None, groups, y_numeric=True
        ).learnable()
        grouped = groups is not None
        model._fit_parts(LocalParts([given]), grouped=grouped, weighted=False, few=few)
    for fold in dealt[:2]:
        (fold,) = fold.parts
        assert np.array_equal(fold[:300], fold[300:])
        assert np.bincount(fold).min() > (118 if few > 20 else 60)
    for fold in dealt[2:]:
        (fold,) = fold.parts
        assert np.all(fold.reshape(-1, 4) == fold.reshape(-1, 4)[:, :1])
    assert not np.array_equal(dealt[0].parts[0], dealt[1].parts[0])
