"""Functions given by features: rows in blocks, and a start from a sample of them."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from lupi._convex import (
    Family,
    Features,
    Function,
    Problem,
    Slack,
    Tuning,
    linalg,
    solve,
)
from tests.convex.made import NAMES, problems
from tests.convex.strict import StrictVector


def made(name, n=600, *, seed=0, scale=1.0, form=np.asarray, device="cpu"):
    """Problems with linear slacks alone, on all rows or on some."""
    rng = np.random.default_rng(seed)
    X, P = rng.normal(size=(2, n, 4))
    y = np.where(X[:, 0] + P[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    one, zero, cost = np.ones(n), np.zeros(n), rng.uniform(0.5, 2.0, n)

    def space(matrix):
        return Features(form(scale * matrix), device)

    first = Function(space(X), 1.0, one)
    if name == "hinge":
        return Problem(n, [first], [Family({0: y}, one, slack=Slack(linear=cost))])
    if name == "shared":
        zeta = Slack(linear=3 * cost)
        second = Function(space(P), 0.5, one, y * cost)
        families = [
            Family({0: y, 1: y}, one, slack=zeta),
            Family({1: y}, zero, slack=zeta),
        ]
        return Problem(n, [first, second], families)
    has, lacks = np.arange(0, n, 2), np.arange(1, n, 2)
    zeta, half = Slack(linear=3 * cost[has]), np.ones(len(has))
    second = Function(space(P[has]), 0.5, half, y[has] * cost[has], has)
    families = [
        Family({0: y[lacks]}, np.ones(len(lacks)), lacks, Slack(linear=cost[lacks])),
        Family({0: y[has], 1: y[has]}, half, has, zeta),
        Family({1: y[has]}, 0 * half, has, zeta),
    ]
    return Problem(n, [first, second], families)


MADE = ["hinge", "shared", "partial"]
# The usual start is for few rows, that from a sample for many. Its Newton steps are
# those of all rows, or of some rows if these are enough for the number of weights.
ALL = replace(Tuning(), many_rows=300, smallest_sample=20, sample_share=0.3)
FEW = replace(ALL, rows_per_weight=5)


def in_blocks(tuning, n_values):
    return replace(
        tuning,
        block_values=n_values,
        device_block_values=n_values,
        fewest_block_rows=7,
    )


@pytest.fixture
def elsewhere(monkeypatch):
    """A device whose vectors are touched by the operations alone."""
    monkeypatch.setitem(linalg.DEVICES, "elsewhere", StrictVector)


def assert_same(one, other):
    """Two solutions of one problem: ρ/2 ‖w − w₀‖² is at most the gap of each."""
    assert one.converged
    assert other.converged
    rounding = 1e-12 * abs(other.primal_value)
    gaps = one.duality_gap + rounding, other.duality_gap + rounding
    assert abs(one.primal_value - other.primal_value) <= sum(gaps)
    for function, w, v in zip(
        one.problem.functions, one.weights, other.weights, strict=True
    ):
        if function.space is not None:
            reach = sum(np.sqrt(2 * gap / function.weight) for gap in gaps)
            assert np.linalg.norm(w - v) <= reach


@pytest.mark.parametrize(("n_values", "threads"), [(200, 1), (700, 2)])
@pytest.mark.parametrize("tuning", [FEW, ALL, Tuning()], ids=["some", "all", "usual"])
@pytest.mark.parametrize("name", MADE)
def test_the_answer_does_not_depend_on_the_blocks(name, tuning, n_values, threads):
    problem = made(name)
    whole = solve(problem, tol=1e-8, tuning=tuning)
    with threadpool_limits(threads):
        parts = solve(problem, tol=1e-8, tuning=in_blocks(tuning, n_values))
    assert_same(parts, whole)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("tuning", [FEW, ALL], ids=["some", "all"])
def test_the_answer_does_not_depend_on_the_start(tuning, name, scale, form):
    problem = made(name, scale=scale, form=form)
    assert_same(solve(problem, tol=1e-7, tuning=tuning), solve(problem, tol=1e-9))


@pytest.mark.parametrize("name", MADE)
def test_where_the_start_fails_the_usual_one_is_taken(name):
    """One step for every μ is not enough to come near the path."""
    problem = made(name)
    hasty = replace(FEW, smoothed_steps=1)
    assert_same(solve(problem, tuning=hasty), solve(problem, tol=1e-9))


@pytest.mark.parametrize("name", NAMES)
def test_other_losses_and_constraints_over_all_rows(name):
    """Also where a sample would be taken: its start is for linear slacks alone."""
    problem = problems(features=True)[name]
    sample = replace(Tuning(), many_rows=1, smallest_sample=1)
    solution = solve(problem, tol=1e-8, tuning=in_blocks(sample, 60))
    assert solution.converged
    kernels = solve(problems()[name], solver="interior", tol=1e-9)
    assert solution.primal_value == pytest.approx(kernels.primal_value, rel=2e-8)


@pytest.mark.parametrize("name", MADE)
@pytest.mark.usefixtures("elsewhere")
def test_arrays_of_another_kind_are_touched_by_the_operations_alone(name):
    tuning = in_blocks(FEW, 700)
    there = solve(made(name, device="elsewhere"), tol=1e-8, tuning=tuning)
    assert_same(there, solve(made(name), tol=1e-8, tuning=tuning))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("elsewhere")
def test_other_losses_are_touched_by_the_operations_alone(name):
    problem = problems(features=True)[name]
    functions = [
        replace(f, space=f.space and replace(f.space, device="elsewhere"))
        for f in problem.functions
    ]
    there = Problem(problem.n_rows, functions, problem.families, problem.global_rows)
    assert_same(solve(there, tol=1e-7), solve(problem, tol=1e-9))


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
    found = solve(problem, tol=1e-9, tuning=FEW)
    assert found.primal_value == pytest.approx(expected, rel=1e-6)
    # ½‖w − w₀‖² + ¼‖v − v₀‖² is at most the gap, here 1e-6 with that of the reference.
    np.testing.assert_allclose(found.weights[0], w.value, atol=2e-3)
    np.testing.assert_allclose(found.weights[1], v.value, atol=2e-3)


def test_a_limit_on_the_iterations_holds():
    problem = made("shared")
    assert solve(problem, max_iter=5, tuning=FEW).n_iter <= 5
    full = solve(problem, tuning=FEW)
    assert full.converged
    assert full.n_iter <= 200


def hard(name, n=2000, *, seed=0, form=np.asarray, device="cpu"):
    """SVM+, a tube with two corrections, and SVM+ where some rows have a slack."""
    rng = np.random.default_rng(seed)
    X, P = rng.normal(size=(2, n, 4))
    noise, one = rng.normal(size=n), np.ones(n)
    target = 2 * X[:, 0] + noise
    y = np.where(target > 0, 1.0, -1.0)
    # What X* says about the errors, not exactly.
    error = noise if name == "tube" else np.maximum(1 - 2 * y * X[:, 0], 0)
    P[:, 1] = np.abs(error) + 0.1 * rng.random(n)
    cost = rng.uniform(0.5, 2.0, n)
    rows = np.sort(rng.choice(n, n - n // 20, replace=False))
    if name != "partial":
        rows = np.arange(n)
    few, size = np.setdiff1d(np.arange(n), rows), np.ones(len(rows))
    own = None if name != "partial" else rows

    def correction():
        space = Features(form(P[rows]), device)
        return Function(space, 0.1, size, cost[rows], own)

    functions, families = [Function(Features(form(X), device), 1.0, one)], []
    if name == "tube":
        for k, sign in ((1, -1.0), (2, 1.0)):
            functions.append(correction())
            families.append(Family({0: sign * one, k: one}, sign * target - 0.1))
            families.append(Family({k: one}, 0 * one))
        return Problem(n, functions, families)
    functions.append(correction())
    families = [
        Family({0: y[rows], 1: size}, size, own),
        Family({1: size}, 0 * size, own),
    ]
    if len(few):
        zeta = Slack(linear=cost[few])
        families.append(Family({0: y[few]}, np.ones(len(few)), few, zeta))
    return Problem(n, functions, families)


HARD = ["all", "tube", "partial"]
SIFTED = replace(Tuning(), many_rows=1000, smallest_sample=20, sample_share=0.05)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", HARD)
def test_rows_whose_hard_constraints_hold_are_left_out(name, form):
    problem = hard(name, form=form)
    some, every = solve(problem, tuning=SIFTED), solve(problem, tol=1e-9)
    assert_same(some, every)
    # Those of an interior point are all positive.
    first = problem.slices[0]
    assert (some.multipliers[first] > 0).mean() < 0.5
    assert (every.multipliers[first] > 0).all()
    assert np.linalg.norm(every.weights[0]) > 0.1


@pytest.mark.parametrize("name", HARD)
def test_with_too_many_violated_constraints_all_rows_are_solved(name):
    problem = hard(name)
    none = replace(SIFTED, sifted_share=SIFTED.sample_share / 2)
    solution = solve(problem, tuning=none)
    assert_same(solution, solve(problem, tol=1e-9))
    assert (solution.multipliers[problem.slices[0]] > 0).all()


@pytest.mark.parametrize("name", HARD)
@pytest.mark.usefixtures("elsewhere")
def test_rows_that_are_left_out_are_touched_by_the_operations_alone(name):
    there = solve(hard(name, device="elsewhere"), tuning=SIFTED)
    assert_same(there, solve(hard(name), tuning=SIFTED))


def test_a_row_that_is_unlike_all_others_is_not_left_out():
    """Its value of X* is the only one of its column, and needs a constraint."""
    problem = hard("all")
    matrix = problem.functions[1].space.matrix
    matrix[:, 3] = 0.0
    matrix[7, 3] = -1e3
    some, every = solve(problem, tuning=SIFTED), solve(problem, tol=1e-9)
    assert_same(some, every)
    assert some.primal_residual <= 1e-6


def test_the_answer_of_some_rows_is_that_of_a_conic_solver():
    problem = hard("all", n=1200)
    X, P = (f.space.matrix for f in problem.functions)
    y, cost = problem.families[0].on[0], problem.functions[1].cost
    w, v, b, c = cp.Variable(4), cp.Variable(4), cp.Variable(), cp.Variable()
    f, g = X @ w + b, P @ v + c
    value = cp.sum_squares(w) / 2 + 0.1 * cp.sum_squares(v) / 2 + cost @ g
    constraints = [cp.multiply(y, f) + g >= 1, g >= 0]
    expected = cp.Problem(cp.Minimize(value), constraints).solve(solver="CLARABEL")
    found = solve(problem, tol=1e-9, tuning=SIFTED)
    assert (found.multipliers[problem.slices[0]] > 0).mean() < 0.5
    assert found.primal_value == pytest.approx(expected, rel=1e-6)
