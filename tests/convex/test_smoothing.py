"""The start for many rows: rows solved by themselves, samples, and where it leads."""

from dataclasses import replace
from functools import partial

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

from lupi import LinearSVCDeltaPlus
from lupi._convex import (
    Features,
    Function,
    Problem,
    Rows,
    Slack,
    Tuning,
    solve,
)
from lupi._convex.interior import path as interior
from lupi._convex.interior import smoothed_start as smoothing
from lupi._convex.interior.features import FeatureNewton
from lupi._convex.interior.smoothed_start import sampled, suits_smoothing
from lupi._convex.linalg import NotPositiveDefinite
from tests.convex.made import problems


def made(name, n=600, *, seed=0):
    """Problems in features with linear slacks alone, on all rows or on some."""
    rng = np.random.default_rng(seed)
    X, P = rng.normal(size=(2, n, 4))
    y = np.where(X[:, 0] + P[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    one, zero, cost = np.ones(n), np.zeros(n), rng.uniform(0.5, 2.0, n)
    first = Function(Features(X), 1.0, one)
    if name == "hinge":
        return Problem(n, [first], [Rows({0: y}, one, slack=Slack(linear=cost))])
    if name == "shared":
        zeta = Slack(linear=3 * cost)
        second = Function(Features(P), 0.5, one, y * cost)
        families = [Rows({0: y, 1: y}, one, slack=zeta), Rows({1: y}, zero, slack=zeta)]
        return Problem(n, [first, second], families)
    has, lacks = np.arange(0, n, 2), np.arange(1, n, 2)
    zeta, half = Slack(linear=3 * cost[has]), np.ones(len(has))
    second = Function(Features(P[has]), 0.5, half, y[has] * cost[has], has)
    families = [
        Rows({0: y[lacks]}, np.ones(len(lacks)), lacks, Slack(linear=cost[lacks])),
        Rows({0: y[has], 1: y[has]}, half, has, zeta),
        Rows({1: y[has]}, 0 * half, has, zeta),
    ]
    return Problem(n, [first, second], families)


NAMES = ["hinge", "shared", "partial"]


# Few rows count as many, and none do.
FEW = replace(Tuning(), smoothed_size=300, smallest_sample=20)
NEVER = replace(Tuning(), smoothed_size=10**9)


@pytest.mark.parametrize("size", [1e-9, 1e-3, 1.0, 1e6])
def test_root_of_a_sum_of_reciprocals(size):
    rng = np.random.default_rng(0)
    shifts = [np.zeros(200), *(rng.exponential(size=(2, 200)) * size)]
    total = rng.exponential(size=200) + 1e-3
    root = smoothing._root(shifts, total)
    assert (root > 0).all()
    found = sum(1.0 / (h + root) for h in shifts)
    np.testing.assert_allclose(found, total, rtol=1e-10)


@pytest.mark.parametrize("mu", [1e-8, 1e-2, 10.0])
@pytest.mark.parametrize("name", NAMES)
def test_rows_stand_on_the_central_path(name, mu):
    problem = made(name)
    excess = np.random.default_rng(1).normal(size=problem.size) * 3
    multipliers, margin, room, slack = smoothing._balanced_rows(problem, excess, mu)
    np.testing.assert_allclose(multipliers * margin, mu, rtol=1e-12)
    for cost, sharing, w, z in zip(
        problem.slack_costs, problem.sharing, room, slack, strict=True
    ):
        np.testing.assert_allclose(w * z, mu, rtol=1e-12)
        total = w + sum(multipliers[problem.slices[q]] for q in sharing)
        np.testing.assert_allclose(total, cost, rtol=1e-9)
        for q in sharing:
            part = problem.slices[q]
            expected = excess[part] + z
            np.testing.assert_allclose(margin[part], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_of_all_rows_is_the_problem(name):
    problem = made(name, 80)
    whole, again = solve(problem, tol=1e-9), solve(sampled(problem, 1.0), tol=1e-9)
    assert again.primal_value == pytest.approx(whole.primal_value, rel=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_rows_of_a_sample_count_for_several(name):
    problem = made(name, 5000)
    part = sampled(problem, 0.1)
    assert part.n_rows == 500
    for whole, some in zip(problem.slack_costs, part.slack_costs, strict=True):
        assert some.sum() == pytest.approx(whole.sum(), rel=0.2)
    assert solve(part).primal_value == pytest.approx(
        solve(problem).primal_value, rel=0.2
    )


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", NAMES)
def test_the_answer_is_that_of_an_ordinary_start(name, seed, scale):
    problem = made(name, seed=seed)
    for function in problem.functions:
        function.space.matrix[:] *= scale
    assert suits_smoothing(problem, FEW)
    found = solve(problem, tol=1e-7, tuning=FEW)
    assert found.converged
    if scale == 1.0:  # elsewhere the path may be lost, and the usual one taken
        found = interior._from_sample(problem, tol=1e-7, max_iter=200, tuning=FEW)
        assert found.converged
    plain = solve(problem, tol=1e-9, tuning=NEVER)
    assert found.primal_value == pytest.approx(plain.primal_value, rel=2e-7)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_answer_is_that_of_a_conic_solver(seed):
    """SVMΔ+ written out: C Σ y f* + (1 + Δ) C Σ ζ, with weights C of the rows."""
    problem = made("shared", seed=seed)
    X, P = (f.space.matrix for f in problem.functions)
    y, cost = problem.families[0].on[0], problem.slack_costs[0] / 3
    w, v, b, c = cp.Variable(4), cp.Variable(4), cp.Variable(), cp.Variable()
    f, g, zeta = X @ w + b, P @ v + c, cp.Variable(len(y), nonneg=True)
    value = cp.sum_squares(w) / 2 + 0.5 * cp.sum_squares(v) / 2
    value += (y * cost) @ g + 3 * cost @ zeta
    constraints = [cp.multiply(y, f + g) >= 1 - zeta, cp.multiply(y, g) >= -zeta]
    expected = cp.Problem(cp.Minimize(value), constraints).solve(solver="CLARABEL")
    found = interior._from_sample(problem, tol=1e-7, max_iter=200, tuning=FEW)
    assert found.primal_value == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(found.weights[0], w.value, atol=1e-3)
    np.testing.assert_allclose(found.weights[1], v.value, atol=1e-3)


def test_a_limit_on_the_iterations_holds():
    problem = made("shared")
    assert solve(problem, max_iter=5, tuning=FEW).n_iter <= 5
    full = solve(problem, tuning=FEW)
    assert full.converged
    assert full.n_iter <= 200


def singular(*_):
    raise NotPositiveDefinite("made so")


def lost(*_):
    return None


@pytest.mark.parametrize("follow", [singular, lost])
def test_where_the_start_fails_the_ordinary_one_is_taken(follow, monkeypatch):
    problem = made("shared")
    expected = solve(problem, tuning=FEW).primal_value
    monkeypatch.setattr(interior, "follow", follow)
    found = solve(problem, tuning=FEW)
    assert found.converged
    assert found.primal_value == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", ["hard", "global", "squared", "partial"])
def test_problems_with_other_losses_begin_as_usual(name):
    every = replace(Tuning(), smoothed_size=1, smallest_sample=1)
    assert not suits_smoothing(problems(features=True)[name], every)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("slack", ["signed", "hinge"])
def test_the_estimator_with_missing_rows_and_weights(slack, form, monkeypatch):
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(900, 4))
    X = hidden + rng.normal(size=(900, 4))
    X[rng.random(X.shape) < 0.3] = 0.0
    y = hidden.sum(axis=1) + rng.normal(size=900) > 0
    hidden[rng.random(900) < 0.3] = np.nan
    weight = rng.uniform(0.0, 2.0, 900) * (rng.random(900) < 0.9)
    models = []
    for tuning in (FEW, NEVER):
        monkeypatch.setattr("lupi.svm._machine.solve", partial(solve, tuning=tuning))
        model = LinearSVCDeltaPlus(delta=1.0, slack=slack, tol=1e-8)
        models.append(model.fit(form(X), y, privileged=hidden, sample_weight=weight))
    one, other = models
    assert one.converged_
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-7)
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-3)


def test_a_path_that_is_not_reached_is_lost():
    once = replace(Tuning(), smoothed_steps=1)
    problem = made("shared")
    newton = FeatureNewton(problem)
    start = [np.zeros(4)] * 2
    assert smoothing.follow(problem, newton, start, np.zeros(2), once) is None
