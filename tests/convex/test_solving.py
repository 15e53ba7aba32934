"""Which solver `auto` takes, what it does when that fails, and what it returns."""

import importlib
from dataclasses import replace

import numpy as np
import pytest

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


def svm_plus(n, C, reg, seed=0):
    rng = np.random.default_rng(seed)
    X, P = rng.normal(size=(2, n, 3))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    one = np.ones(n)
    functions = [
        Function(Gram(np.exp(-0.3 * _squares(X))), 1.0, one),
        Function(Gram(np.exp(-0.3 * _squares(P))), reg, one, C * one),
    ]
    return Problem(n, functions, [Rows({0: y, 1: one}, one), Rows({1: one}, 0 * one)])


def _squares(X):
    return ((X[:, None] - X[None]) ** 2).sum(axis=2)


def test_auto_takes_working_sets_from_some_size_on():
    few = Tuning().working_set_size
    assert solve(svm(few - 10)).solver == "proximal"
    assert solve(svm(few)).solver == "working_set"


@pytest.mark.parametrize(
    ("C", "reg", "expected"),
    [(1.0, 1.0, "working_set"), (1.0, 0.01, "proximal"), (100.0, 1.0, "proximal")],
)
def test_auto_takes_faces_where_working_sets_crawl(C, reg, expected):
    tuning = replace(Tuning(), working_set_size_two_functions=200)
    assert solve(svm_plus(200, C, reg), tuning=tuning).solver == expected


def test_auto_leaves_features_to_the_interior_point():
    assert (
        solve(svm(Tuning().working_set_size + 50, space=Features)).solver == "interior"
    )


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


def test_budget_grows_with_the_square_of_the_rows():
    small, large = (solving.working_set_budget(svm(n)) for n in (1000, 2000))
    start = Tuning().interior_overhead
    assert large - start == pytest.approx(4 * (small - start), rel=1e-3)


def test_unknown_solver():
    with pytest.raises(ValueError, match="solver must be 'auto', 'interior'"):
        solve(svm(10), solver="newton")


def test_working_sets_on_features_are_refused():
    with pytest.raises(ValueError, match="needs a Gram matrix for every function"):
        solve(svm(10, space=Features), solver="working_set")
