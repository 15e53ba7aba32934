"""The two solvers of the advice problem against each other, and at scale."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from lupi._convex import Tuning
from lupi.advice import KnowledgeBasedSVC, Rule
from lupi.advice._problem import LabelledRows, Region, solve

ONLY = {
    "dense": replace(Tuning(), dense_entries=1),
    "sparse": replace(Tuning(), dense_entries=10**12),
}


def instance(seed):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(20, 200)), int(rng.integers(1, 15))
    X = rng.normal(size=(n, p)) * 10 ** rng.uniform(-1, 1, p)
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    rows = LabelledRows(X, y, 10 ** rng.uniform(-3, 3) * rng.uniform(0.5, 2, n))
    regions = []
    for _ in range(rng.integers(0, 5)):
        D = rng.normal(size=(3, p)) * (rng.random((3, p)) < 0.6)
        weight = float(10 ** rng.uniform(-2, 2))
        regions.append(
            Region.of(D, rng.normal(size=3), float(rng.choice([-1, 1])), weight)
        )
    return rows, regions, bool(rng.random() < 0.7)


@pytest.mark.parametrize("seed", range(20))
def test_both_solvers_agree_and_certify(seed):
    rows, regions, fit_intercept = instance(seed)
    values, weights = [], []
    for tuning in ONLY.values():
        solution = solve(rows, regions, fit_intercept=fit_intercept, tuning=tuning)
        assert solution.converged
        assert abs(solution.value - solution.dual_value) <= 1e-7 * (1 + solution.value)
        assert all(np.all(u >= 0) for u in solution.proofs)
        alpha = rows.sign * solution.alpha
        assert np.all(alpha >= -1e-6 * rows.cost)
        assert np.all(alpha <= rows.cost * (1 + 1e-6))
        values.append(solution.value)
        weights.append(solution.w)
    assert values[0] == pytest.approx(values[1], rel=1e-8)
    np.testing.assert_allclose(*weights, atol=1e-3 * (1 + np.abs(weights[1]).max()))


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_columns_of_very_different_scales(C, standardize, dense, monkeypatch):
    X, y = load_breast_cancer(return_X_y=True)
    if dense:
        # Enough rows for the dense solver, which does not need the sparse one.
        X, y = np.tile(X, (2, 1)), np.tile(y, 2)
        monkeypatch.setitem(sys.modules, "clarabel", None)
    rules = ["x0 >= 15 => 0", "x1 <= 15 and x2 <= 80 => 1"]
    model = KnowledgeBasedSVC(C, advice=rules, standardize=standardize).fit(X, y)
    assert model.converged_
    assert model.duality_gap_ <= 1e-7 * (1 + model.objective_)


def test_hundred_rules():
    rng = np.random.default_rng(0)
    n, p = 1500, 120
    X = rng.normal(size=(n, p))
    y = np.where(X[:, :10].sum(axis=1) + rng.normal(size=n) > 0, 1, 0)
    rules = []
    for _ in range(100):
        D = np.zeros((4, p))
        for row in D:
            row[rng.choice(p, 5, replace=False)] = rng.normal(size=5)
        rules.append(Rule(D, rng.normal(size=4) - 1, int(rng.choice([0, 1]))))
    model = KnowledgeBasedSVC(0.1, advice=rules, advice_weight=0.01).fit(X, y)
    assert model.converged_
    assert model.duality_gap_ <= 1e-8 * model.objective_


@pytest.mark.slow
@pytest.mark.parametrize("per_condition", [5, 1000])
def test_hundred_rules_thousand_columns_ten_thousand_rows(per_condition):
    rng = np.random.default_rng(0)
    n, p = 10_000, 1_000
    X = rng.normal(size=(n, p))
    y = np.where(X[:, :300].sum(axis=1) / 10 + rng.normal(size=n) > 0, 1, 0)
    rules = []
    for _ in range(100):
        D = np.zeros((4, p))
        for row in D:
            chosen = rng.choice(p, per_condition, replace=False)
            row[chosen] = rng.normal(size=per_condition)
        rules.append(Rule(D, rng.normal(size=4) - 1, int(rng.choice([0, 1]))))
    model = KnowledgeBasedSVC(0.1, advice=rules, advice_weight=0.01).fit(X, y)
    assert model.converged_
    assert model.duality_gap_ <= 1e-8 * model.objective_


def test_a_missing_solver_is_named_with_the_command_that_brings_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(ImportError, match=r'pip install "lupi\[advice\]"'):
        KnowledgeBasedSVC().fit([[0.0], [1.0], [2.0]], [0, 0, 1])
