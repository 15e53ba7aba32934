"""Without X*, IPL is the boosting of scikit-learn and of XGBoost.

Models are compared on the training rows: of two splits that part these alike, the last
digit decides, and new rows between them may be parted differently. XGBoost adds up in
single precision.
"""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_friedman1
from sklearn.preprocessing import PolynomialFeatures

from lupi.boosting import IPLClassifier, IPLRegressor
from tests.boosting.plain_reading import gradient_boosting

xgboost = pytest.importorskip("xgboost")
X, y = make_friedman1(n_samples=200, n_features=8, noise=1.0, random_state=0)
SINGLE = {"rtol": 1e-5, "atol": 1e-5}
WEIGHT = np.random.default_rng(0).uniform(0.1, 3.0, size=len(y))


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("max_features", [None, "sqrt", 3])
def test_cart_is_scikit_learn(weight, max_features):
    options = {"n_estimators": 30, "max_features": max_features, "random_state": 3}
    theirs = gradient_boosting(**options).fit(X, y, weight)
    ours = IPLRegressor(**options).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
    np.testing.assert_allclose(ours.train_score_, theirs.train_score_, rtol=1e-9)
    # Splits of two features that part a few rows alike count for one or the other.
    np.testing.assert_allclose(
        ours.feature_importances_, theirs.feature_importances_, atol=0.01
    )
    for mine, other in zip(
        ours.staged_predict(X), theirs.staged_predict(X), strict=True
    ):
        np.testing.assert_allclose(mine, other, rtol=1e-9)


def rounds(scores, patience, tol):
    """The round after which scikit-learn stops: no better than any of the last."""
    best = np.full(patience, np.inf)
    for i, score in enumerate(scores):
        if not (score + tol < best).any():
            return i + 1
        best[i % patience] = score
    return len(scores) + 1


def test_cart_stops_early_by_the_rule_of_scikit_learn():
    options = {"n_estimators": 300, "n_iter_no_change": 3, "random_state": 5}
    ours = IPLRegressor(early_stopping_tol=1e-3, **options).fit(X, y)
    assert len(ours.validation_score_) == ours.n_estimators_ < 300
    assert rounds(ours.validation_score_, 3, 1e-3) == ours.n_estimators_
    theirs = gradient_boosting(tol=1e-3, **options).fit(X, y)
    shorter = min(ours.n_estimators_, theirs.n_estimators_)
    assert shorter > 10
    np.testing.assert_allclose(
        ours.train_score_[:shorter], theirs.train_score_[:shorter], rtol=1e-9
    )


def test_cart_is_scikit_learn_on_sparse_rows():
    rows = sp.csr_matrix(np.where(X > 0.5, X, 0.0))
    theirs = gradient_boosting(random_state=0).fit(rows, y)
    ours = IPLRegressor(random_state=0).fit(rows, y)
    np.testing.assert_allclose(ours.predict(rows), theirs.predict(rows), rtol=1e-9)


def test_classifier_is_scikit_learn_on_labels_of_plus_and_minus_one():
    sign = np.where(y > 14, 1, -1)
    theirs = gradient_boosting(random_state=0).fit(X, sign)
    ours = IPLClassifier(random_state=0).fit(X, sign)
    np.testing.assert_allclose(ours.decision_function(X), theirs.predict(X), rtol=1e-9)


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_xgboost_is_xgboost(weight):
    theirs = xgboost.XGBRegressor(
        n_estimators=60, learning_rate=0.1, max_depth=4, base_score=0.0, n_jobs=1
    ).fit(X, y, sample_weight=weight)
    ours = IPLRegressor(n_estimators=60, max_depth=4, engine="xgboost", n_jobs=1)
    ours.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), **SINGLE)


def test_xgboost_reads_categories_and_missing_values_as_xgboost_does():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(X.copy(), columns=[f"x{i}" for i in range(8)])
    table["town"] = pd.Categorical(rng.choice(["Bonn", "Köln", "Trier"], size=len(y)))
    table.loc[::7, "x1"] = np.nan
    table.loc[::5, "town"] = None
    target = y + 5 * (table["town"] == "Köln")
    theirs = xgboost.XGBRegressor(
        n_estimators=30,
        learning_rate=0.1,
        max_depth=3,
        base_score=0.0,
        n_jobs=1,
        enable_categorical=True,
    ).fit(table, target)
    ours = IPLRegressor(n_estimators=30, engine="xgboost", n_jobs=1).fit(table, target)
    np.testing.assert_allclose(ours.predict(table), theirs.predict(table), **SINGLE)
    shuffled = table.assign(
        town=table["town"].cat.set_categories(["Trier", "Köln", "Bonn", "Ulm"])
    )
    np.testing.assert_allclose(ours.predict(shuffled), ours.predict(table))
    privileged = rng.normal(size=(len(y), 2))
    ours.fit(table, target, privileged=privileged)
    assert np.isfinite(ours.predict(table)).all()


def test_log_loss_takes_the_newton_steps_of_xgboost():
    # Trees of exact splits and no penalties: the same trees up to float32.
    label = (y > 14).astype(int)
    plain = {"reg_lambda": 0.0, "min_child_weight": 0.0}
    theirs = xgboost.XGBClassifier(
        n_estimators=20,
        learning_rate=0.1,
        max_depth=2,
        base_score=0.5,
        tree_method="exact",
        n_jobs=1,
        **plain,
    ).fit(X, label)
    expected = theirs.predict(X, output_margin=True)
    exact = IPLClassifier(n_estimators=20, max_depth=2, loss="log_loss", random_state=0)
    exact.fit(X, label)
    np.testing.assert_allclose(exact.decision_function(X), expected, atol=1e-4)
    np.testing.assert_allclose(
        exact.predict_proba(X), theirs.predict_proba(X), atol=1e-4
    )
    histogram = xgboost.XGBClassifier(
        n_estimators=20, learning_rate=0.1, max_depth=2, base_score=0.5, n_jobs=1
    ).fit(X, label)
    ours = IPLClassifier(
        n_estimators=20, max_depth=2, loss="log_loss", engine="xgboost", n_jobs=1
    ).fit(X, label)
    np.testing.assert_allclose(
        ours.decision_function(X), histogram.predict(X, output_margin=True), atol=1e-5
    )


@pytest.mark.parametrize("engine", ["cart", "xgboost"])
def test_no_weight_on_privileged_is_boosting_without_it(engine):
    # On the training rows: equally good splits part them alike, new rows perhaps not.
    privileged = PolynomialFeatures(2).fit_transform(X[:, :3])
    options = {"n_estimators": 30, "engine": engine, "random_state": 0, "n_jobs": 1}
    none = IPLRegressor(**options).fit(X, y).predict(X)
    for C1 in (0.0, 1e-13):
        model = IPLRegressor(privileged_weight=C1, **options)
        model.fit(X, y, privileged=privileged)
        np.testing.assert_allclose(model.predict(X), none, rtol=1e-9)
    strong = IPLRegressor(**options).fit(X, y, privileged=privileged)
    assert np.abs(strong.predict(X) - none).max() > 1e-3
