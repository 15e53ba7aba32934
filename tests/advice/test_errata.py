"""Numbers of the errata page."""

import cvxpy as cp
import numpy as np
import pytest

from lupi.advice import KnowledgeBasedSVC


def advice_only(right_side):
    """x0 >= 1 => 1, x0 <= -1 => -1, with the right side of the second line."""
    w, b, value, constraints = cp.Variable(2), cp.Variable(), 0, []
    for D, z in ((-1.0, 1), (1.0, -1)):
        u, zeta = cp.Variable(nonneg=True), cp.Variable(nonneg=True)
        eta = np.array([D, 0.0]) * u + z * w
        value += cp.sum_squares(eta) / 2 + zeta
        constraints.append(u - z * b + zeta >= right_side)
    problem = cp.Problem(cp.Minimize(value + cp.sum_squares(w) / 2), constraints)
    return problem.solve(solver="CLARABEL"), w.value


def test_advice_only_problem_as_printed_says_nothing():
    value, w = advice_only(0.0)
    assert value == pytest.approx(0, abs=1e-7)
    np.testing.assert_allclose(w, 0, atol=1e-4)
    value, w = advice_only(1.0)
    assert value > 0.1
    assert w[0] > 0.1


def test_one_sided_slacks_would_make_advice_hard():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = np.sign(X[:, 1] + 0.3 * X[:, 0])
    w, b = cp.Variable(2), cp.Variable()
    value = cp.sum_squares(w) / 2 + cp.sum(cp.pos(1 - cp.multiply(y, X @ w - b)))
    constraints = []
    for D, z in ((-1.0, 1), (1.0, -1)):
        u, zeta = cp.Variable(nonneg=True), cp.Variable(nonneg=True)
        eta = -(np.array([D, 0.0]) * u + z * w)
        value += 0.01 * (cp.norm1(eta) + zeta)
        constraints += [eta >= 0, u - z * b + zeta >= 1]
    printed = cp.Problem(cp.Minimize(value), constraints).solve(solver="CLARABEL")
    right = np.mean(np.sign(X @ w.value - b.value) == y)
    assert printed == pytest.approx(80.99, abs=0.01)
    assert abs(w.value[1]) < 1e-6
    assert right == pytest.approx(0.62)
    rules = ["x0 >= 1 => 1", "x0 <= -1 => -1"]
    model = KnowledgeBasedSVC(advice=rules, advice_weight=0.01).fit(X, y)
    assert model.objective_ == pytest.approx(18.05, abs=0.01)
    assert model.score(X, y) == pytest.approx(0.98)
