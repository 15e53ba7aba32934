"""Quality of X* in the space it shares with X."""

import numpy as np
import pytest
from sklearn.cross_decomposition import CCA
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold

from lupi.boosting import GBPlusClassifier, IPLClassifier
from lupi.evaluation import cca_quality
from tests.boosting.plain_reading import gradient_boosting
from tests.comparisons import FirstColumn

rng = np.random.default_rng(0)
STATE = rng.normal(size=(240, 3))
X = STATE @ rng.normal(size=(3, 5)) + 0.7 * rng.normal(size=(240, 5))
P = STATE @ rng.normal(size=(3, 4)) + 0.3 * rng.normal(size=(240, 4))
y = np.where(STATE[:, 0] > 0, "high", "low")


def test_correlations_are_those_of_scikit_learn():
    everything = np.arange(240)
    FirstColumn.seen.clear()
    quality = cca_quality(
        X, y, P, estimator=FirstColumn(), cv=[(everything, everything)]
    )
    theirs = CCA(n_components=3, max_iter=10_000, tol=1e-12).fit(X, P)
    u, v = theirs.transform(X, P)
    expected = [np.corrcoef(u[:, k], v[:, k])[0, 1] for k in range(3)]
    (correlations,) = quality.correlations
    np.testing.assert_allclose(correlations[:3], expected, atol=1e-6)
    # Trained on X and on X*, both in the common space.
    (ours, *_), (others, *_), _ = FirstColumn.seen
    np.testing.assert_allclose(ours.T @ ours / 240, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(ours.T @ others / 240, np.diag(correlations), atol=1e-12)


def test_a_copy_of_X_is_as_good_as_X():
    mixed = X @ rng.normal(size=(5, 5)) * 30 + 4
    quality = cca_quality(X, y, mixed, estimator=LogisticRegression(), random_state=0)
    np.testing.assert_allclose(quality.correlations, 1.0)
    scores = quality.scores
    np.testing.assert_allclose(scores["GB_PF"], scores["GB_EF"], atol=1e-12)
    noise = cca_quality(X, y, rng.normal(size=P.shape), random_state=0).summary()
    assert noise.loc["GB_PF", "mean"] < noise.loc["GB_EF", "mean"] - 0.05


def test_ways_of_training_and_missing_rows():
    missing = P.copy()
    missing[::3] = np.nan
    quality = cca_quality(
        X,
        y,
        missing,
        also={"IPL": IPLClassifier(n_estimators=10), "GB+": GBPlusClassifier()},
        n_components=2,
        cv=3,
        scoring="balanced_accuracy",
        random_state=0,
    )
    assert list(quality.scores) == ["GB_EF", "GB_PF", "GB_CCA", "IPL", "GB+"]
    assert quality.scores.shape == (3, 5)
    assert quality.correlations.shape == (3, 2)
    assert quality.scores.notna().all(axis=None)


def test_regression_and_tables_of_low_rank():
    target = STATE[:, 0] + 0.1 * rng.normal(size=240)
    wide = np.hstack([P, P @ np.ones((4, 2)), np.full((240, 1), 3.0)])
    narrow = cca_quality(X, target, P, estimator=Ridge(), cv=KFold(4))
    same = cca_quality(X, target, wide, estimator=Ridge(), cv=KFold(4))
    np.testing.assert_allclose(same.scores, narrow.scores, atol=1e-8)
    few = {"random_state": 0, "cv": KFold(2)}
    boosted = cca_quality(X, target, P, **few)
    plain = gradient_boosting(random_state=0)
    expected = cca_quality(X, target, P, estimator=plain, **few)
    np.testing.assert_allclose(boosted.scores, expected.scores)


def test_refusals_are_sentences():
    with pytest.raises(ValueError, match="compares X with X"):
        cca_quality(X, y, None)
    with pytest.raises(ValueError, match="every column"):
        cca_quality(X, y, np.ones((240, 2)))
