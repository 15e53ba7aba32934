"""Limits and equivalences between the models."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from sklearn.base import clone

from lupi.svm import (
    DeviationSVCPlus,
    FairSVCDeltaPlus,
    L2SVCPlus,
    LinearSVCDeltaPlus,
    LinearSVRPlus,
    MarginTransferSVC,
    SVCDeltaPlus,
    SVCPlus,
    SVRPlus,
    UnifiedSVC,
)
from tests.oracle import conic
from tests.oracle.checks import assert_optimal, fitted
from tests.oracle.models import CASES
from tests.oracle.problems import draw, with_sensitive

FLAT = 1e9
# ½‖w − w₀‖² is at most the gap: with an objective of up to 50, decision values are off
# by at most 1e-4.
TIGHT = {"tol": 1e-10}


def rows(seed, n=40):
    rng = np.random.default_rng(seed)
    P = rng.normal(size=(n, 2))
    X = P + 0.7 * rng.normal(size=(n, 2))
    y = np.sign(P[:, 0] + 0.3 * P[:, 1] ** 2 + 0.4 * rng.normal(size=n))
    return X, y, P


def drawn_like(X, y, P, **more):
    """The rows as a problem of the oracle, with kernels and costs of our choice."""
    settings = {
        "X": X,
        "y": y,
        "P": P,
        "weight": np.ones(len(y)),
        "C": 1.0,
        "kernel": "rbf",
        "gamma": 0.4,
        "privileged_kernel": "rbf",
        "privileged_gamma": 0.6,
        "delta": 10.0,
        "class_weight": None,
    }
    return replace(draw(0), **settings | more)


@pytest.fixture
def flat(monkeypatch):
    """Functions of the oracle with weight FLAT are constants."""
    proper = conic.Primal.function

    def function(self, gram, reg):
        if reg < FLAT:
            return proper(self, gram, reg)
        self.corrections.append(cp.Variable() * np.ones(len(gram)))
        return self.corrections[-1]

    monkeypatch.setattr(conic.Primal, "function", function)


@pytest.mark.parametrize("slack", ["signed", "hinge"])
def test_svm_delta_plus_with_an_expensive_correction(slack, flat):
    """γ → ∞ is the primal with w* = 0, in which b* stays."""
    drawn = drawn_like(*rows(0), reg=FLAT)
    case = CASES[f"SVCDeltaPlus-{slack}"]
    primal = case.primal(drawn)
    best = primal.solve()
    model = fitted(case, drawn, **TIGHT)
    assert model.objective_ == pytest.approx(best, rel=1e-6)
    decision = model.decision_function(drawn.X)
    np.testing.assert_allclose(decision, primal.f.value, rtol=0, atol=1e-4)


def test_svm_u_with_an_expensive_similarity(flat):
    """Γ → ∞ is the primal with w** = 0, which is not SVM+."""
    drawn = drawn_like(*rows(1), reg=1.0, similarity_reg=FLAT)
    case = CASES["UnifiedSVC"]
    primal = case.primal(drawn)
    best = primal.solve()
    model = fitted(case, drawn, **TIGHT)
    assert model.objective_ == pytest.approx(best, rel=1e-6)
    decision = model.decision_function(drawn.X)
    np.testing.assert_allclose(decision, primal.f.value, rtol=0, atol=1e-4)
    plus = fitted(CASES["SVCPlus"], drawn).decision_function(drawn.X)
    assert np.abs(plus - decision).max() > 0.1


@pytest.mark.slow
def test_slack_forms_coincide_where_the_teacher_is_right():
    """y f* ≥ 0 on all rows at the optimum of both: then they have one minimum.

    At the optimum of one of them it is not enough: neither cost is the larger one
    where y f* < 0.
    """
    seen = set()
    for seed in range(12):
        X, y, P = rows(seed, n=25)
        for reg in (0.01, 1.0):
            settings = {"privileged_reg": reg, "gamma": 0.4, "privileged_gamma": 0.6}
            settings |= {"delta": 10.0, **TIGHT}
            signed = SVCDeltaPlus(**settings).fit(X, y, privileged=P)
            hinge = SVCDeltaPlus(slack="hinge", **settings).fit(X, y, privileged=P)
            least = [(y * model.correction(P)).min() for model in (signed, hinge)]
            # Clearly negative, or negative by less than the accuracy of the functions.
            assert all(value < -1e-2 or value > -1e-4 for value in least)
            right = tuple(value > -1e-4 for value in least)
            same = signed.objective_ == pytest.approx(hinge.objective_, rel=1e-6)
            assert same == all(right)
            if same:
                np.testing.assert_allclose(
                    signed.decision_function(X), hinge.decision_function(X), atol=1e-4
                )
            seen.add(right)
    assert {(True, True), (True, False), (False, False)} <= seen


@pytest.mark.parametrize("given", ["privileged", "sensitive"])
def test_fair_model_without_a_binding_constraint(given):
    X, y, P = rows(2)
    Z = y[:, None] + np.random.default_rng(3).normal(size=(40, 1))
    fair = FairSVCDeltaPlus(covariance_threshold=1e6, **TIGHT)
    if given == "privileged":
        fair.fit(X, y, privileged=P, sensitive_features=Z)
        plain = SVCDeltaPlus(**TIGHT).fit(X, y, privileged=P)
    else:
        fair.fit(X, y, sensitive_features=Z)
        plain = SVCDeltaPlus(**TIGHT).fit(X, y, privileged=Z)
    assert fair.objective_ == pytest.approx(plain.objective_, rel=2e-10)
    np.testing.assert_allclose(
        fair.decision_function(X), plain.decision_function(X), rtol=0, atol=1e-4
    )


@pytest.mark.parametrize("threshold", [0.0, 0.05, 0.3])
def test_fair_svm(threshold):
    """Without X* the fair model is the SVM with a bounded covariance."""
    X, y, P = rows(4)
    drawn = with_sensitive(drawn_like(X, y, np.full_like(P, np.nan)))
    drawn = replace(drawn, threshold=threshold)
    primal = conic.fair(drawn)
    best = primal.solve()
    model = FairSVCDeltaPlus(
        covariance_threshold=threshold,
        sensitive_as_privileged=False,
        gamma=0.4,
        **TIGHT,
    ).fit(X, y, sensitive_features=drawn.Z)
    assert model.objective_ == pytest.approx(best, rel=1e-6)
    covariance = conic.covariances(drawn) @ model.decision_function(X)
    assert np.abs(covariance).max() <= threshold + 1e-6
    np.testing.assert_allclose(
        model.decision_function(X), primal.f.value, rtol=0, atol=1e-4
    )


def test_fair_model_with_categories():
    """A text column is constrained per category, and is its own X*."""
    X, y, _ = rows(5)
    group = np.where(y > 0, "a", "b").astype(object)
    group[::5] = "c"
    model = FairSVCDeltaPlus().fit(X, y, sensitive_features=group[:, None])
    assert model.sensitive_columns_ == ["z0=a", "z0=b", "z0=c"]
    values = model.decision_function(X)
    for label in "abc":
        of = group == label
        assert values[of].mean() == pytest.approx(values.mean(), abs=1e-5)


CLASSIFIERS = [
    SVCPlus(gamma=0.4, privileged_gamma=0.6),
    SVCDeltaPlus(gamma=0.4, privileged_gamma=0.6),
    SVCDeltaPlus(gamma=0.4, privileged_gamma=0.6, slack="hinge"),
    UnifiedSVC(gamma=0.4),
    L2SVCPlus(gamma=0.4),
    MarginTransferSVC(gamma=0.4),
    MarginTransferSVC(gamma=0.4, method="sharmanska"),
    DeviationSVCPlus(gamma=0.4),
    FairSVCDeltaPlus(gamma=0.4),
    LinearSVCDeltaPlus(),
    SVRPlus(gamma=0.4),
    LinearSVRPlus(),
]


@pytest.mark.filterwarnings("ignore:.*no sensitive_features")
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=repr)
def test_a_row_twice_is_a_row_of_weight_two(estimator):
    X, y, P = rows(6)
    P[3:9] = np.nan
    twice = np.r_[np.arange(40), [1, 4, 20, 33]]
    weight = np.ones(40)
    weight[[1, 4, 20, 33]] = 2.0
    estimator = clone(estimator).set_params(**TIGHT)
    estimator.fit(X, y, privileged=P, sample_weight=weight)
    once, objective = estimator.predict(X), estimator.objective_
    if hasattr(estimator, "decision_function"):
        once = estimator.decision_function(X)
    estimator.fit(X[twice], y[twice], privileged=P[twice])
    again = estimator.predict(X)
    if hasattr(estimator, "decision_function"):
        again = estimator.decision_function(X)
    assert estimator.objective_ == pytest.approx(objective, rel=1e-7)
    np.testing.assert_allclose(again, once, rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", ["SVCPlus", "SVCDeltaPlus-signed", "SVRPlus"])
def test_missing_rows_in_any_order(name):
    """Rows without X* need not come last."""
    case = CASES[name]
    X, y, P = rows(7)
    P[[0, 5, 6, 17, 39]] = np.nan
    drawn = drawn_like(X, y, P, reg=1.0)
    order = np.random.default_rng(8).permutation(40)
    shuffled = drawn_like(X[order], y[order], P[order], reg=1.0)
    one, other = (fitted(case, each, **TIGHT) for each in (drawn, shuffled))
    assert_optimal(case, drawn, one)
    np.testing.assert_allclose(one.intercept_, other.intercept_, rtol=0, atol=1e-4)
