"""Which solver `auto` takes, what it does when that fails, and what it returns."""

import importlib
from dataclasses import replace

import numpy as np
import pytest
from sklearn.svm import SVC, SVR

from lupi._convex import (
    Features,
    Function,
    GlobalRow,
    Gram,
    Problem,
    Rows,
    Slack,
    Tuning,
    solve,
)

solving = importlib.import_module("lupi._convex.solve")


def svm(n, C=1.0, space=Gram, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    one = np.ones(n)
    matrix = X @ X.T + np.eye(n) if space is Gram else X
    return Problem(
        n,
        [Function(space(matrix), 1.0, one)],
        [Rows({0: y}, one, None, Slack(linear=C * one))],
    )


def _squares(X):
    return ((X[:, None] - X[None]) ** 2).sum(axis=2)


def svr(n, C, epsilon=0.1, seed=0):
    """The SVR of rows of different costs, in two families for each side."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y, cost = X[:, 0] ** 2 + rng.normal(size=n), C * rng.uniform(0.5, 2.0, n)
    parts = np.split(rng.permutation(n), [n // 3])
    families = [
        Rows(
            {0: np.full(len(rows), sign)},
            sign * y[rows] - epsilon,
            rows,
            Slack(linear=cost[rows]),
        )
        for rows in map(np.sort, parts)
        for sign in (-1.0, 1.0)
    ]
    gram = np.exp(-0.3 * _squares(X))
    return Problem(n, [Function(Gram(gram), 1.0, np.ones(n))], families), y, cost


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("n", [20, 600])
def test_a_plain_svm_is_that_of_scikit_learn(n, C):
    problem = svm(n, C)
    gram, y = problem.spaces[0].matrix, problem.families[0].on[0]
    ours = solve(problem)
    theirs = SVC(C=C, kernel="precomputed", tol=1e-8).fit(gram, y)
    values = theirs.decision_function(gram)
    v = np.zeros(n)
    v[theirs.support_] = theirs.dual_coef_[0]
    best = 0.5 * v @ gram @ v + C * np.maximum(1.0 - y * values, 0.0).sum()
    assert ours.is_optimal(1e-6)
    # LIBSVM rounds kernel values to single precision.
    assert ours.primal_value == pytest.approx(best, rel=1e-3)
    assert ours.primal_value <= best * (1.0 + 1e-6)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("n", [20, 600])
def test_a_plain_svr_is_that_of_scikit_learn(n, C):
    problem, y, cost = svr(n, C)
    gram = problem.spaces[0].matrix
    ours = solve(problem)
    theirs = SVR(kernel="precomputed", C=1.0, epsilon=0.1, tol=1e-8)
    theirs.fit(gram, y, sample_weight=cost)
    v = np.zeros(n)
    v[theirs.support_] = theirs.dual_coef_[0]
    slacks = np.maximum(np.abs(theirs.predict(gram) - y) - 0.1, 0.0)
    best = 0.5 * v @ gram @ v + cost @ slacks
    assert ours.is_optimal(1e-6)
    assert ours.primal_value == pytest.approx(best, rel=1e-3)
    assert ours.primal_value <= best * (1.0 + 1e-6)


ONE = np.ones(40)
SIGNS = np.where(np.arange(40) % 2, 1.0, -1.0)
NOT_PLAIN = {
    "margins": [Rows({0: SIGNS}, 0.5 * ONE, None, Slack(linear=ONE))],
    "no slack": [Rows({0: SIGNS}, ONE)],
    "scaled": [Rows({0: 2.0 * SIGNS}, ONE, None, Slack(linear=ONE))],
    "some rows": [
        Rows({0: SIGNS[:30]}, ONE[:30], np.arange(30), Slack(linear=ONE[:30]))
    ],
    "two widths": [
        Rows({0: -ONE}, -SIGNS - 0.1 * ONE, None, Slack(linear=ONE)),
        Rows({0: ONE}, SIGNS - np.linspace(0.1, 0.2, 40), None, Slack(linear=ONE)),
    ],
    "two costs": [
        Rows({0: -ONE}, -SIGNS - 0.1 * ONE, None, Slack(linear=ONE)),
        Rows({0: ONE}, SIGNS - 0.1, None, Slack(linear=2.0 * ONE)),
    ],
}


@pytest.mark.parametrize("name", NOT_PLAIN)
def test_what_resembles_a_plain_svm_has_its_own_optimum(name):
    rng = np.random.default_rng(0)
    gram = np.exp(-0.3 * _squares(rng.normal(size=(40, 3))))
    problem = Problem(40, [Function(Gram(gram), 1.0, ONE)], NOT_PLAIN[name])
    reference = solve(problem, solver="interior", tol=1e-9)
    solution = solve(problem)
    assert solution.converged
    assert solution.primal_value == pytest.approx(
        reference.primal_value, rel=1e-6, abs=1e-9
    )


def test_features_are_left_to_the_interior_point():
    assert solve(svm(200, space=Features)).solver == "interior"


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("bound", [0.0, 0.3])
def test_equalities_over_all_rows_in_features_and_in_kernels(bound, copies):
    """An equality has no barrier to divide by, and may be given twice."""
    plain = svm(40, space=Features)
    weights = np.linspace(-1.0, 1.0, 40) / 40
    rows = [GlobalRow({0: weights}, bound, equality=True)] * copies
    features = Problem(40, plain.functions, plain.families, rows)
    gram = Gram(plain.functions[0].space.matrix @ plain.functions[0].space.matrix.T)
    functions = [replace(plain.functions[0], space=gram)]
    kernels = Problem(40, functions, plain.families, rows)
    found, reference = (solve(p, tol=1e-9) for p in (features, kernels))
    assert found.converged
    assert weights @ found.values[0] == pytest.approx(bound, abs=1e-9)
    assert found.primal_value == pytest.approx(reference.primal_value, rel=1e-8)
    assert found.primal_value > solve(plain).primal_value + 1e-3


def test_auto_goes_on_with_another_solver_where_one_does_not_converge():
    problem = svm(200)
    again = solve(problem, solver="interior", tol=1e-8)
    hasty = replace(Tuning(), interior_price=0.0, interior_overhead=3)
    for most, expected in [(hasty.max_faces, "proximal"), (1, "interior")]:
        solution = solve(problem, tol=1e-8, tuning=replace(hasty, max_faces=most))
        assert solution.solver == expected
        assert solution.converged
        assert solution.primal_value == pytest.approx(again.primal_value, rel=1e-8)


@pytest.mark.parametrize("solver", solving.SOLVERS)
def test_every_solver_gives_the_same_answer(solver):
    problem = svm(180, C=2.0)
    reference = solve(problem, solver="interior", tol=1e-9)
    solution = solve(problem, solver=solver, tol=1e-7)
    assert solution.converged
    assert solution.primal_value == pytest.approx(reference.primal_value, rel=1e-6)


@pytest.mark.parametrize("solver", solving.SOLVERS)
def test_max_iter_is_kept(solver):
    solution = solve(svm(200, C=100.0), solver=solver, tol=1e-10, max_iter=2)
    assert not solution.converged
    assert solution.n_iter <= 3


def test_unknown_solver():
    with pytest.raises(ValueError, match="solver must be 'auto', 'interior'"):
        solve(svm(10), solver="newton")
