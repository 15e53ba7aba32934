"""Which solver `auto` takes, what it does when that fails, and on how many threads."""

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
    linalg,
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
    few = solving.FEW_ROWS
    assert solve(svm(few - 10)).solver == "proximal"
    assert solve(svm(few)).solver == "working_set"


@pytest.mark.parametrize(
    ("C", "reg", "expected"),
    [(1.0, 1.0, "working_set"), (1.0, 0.01, "proximal"), (100.0, 1.0, "proximal")],
)
def test_auto_takes_faces_where_working_sets_crawl(C, reg, expected, monkeypatch):
    monkeypatch.setattr(solving, "MANY_ROWS", 200)
    assert solve(svm_plus(200, C, reg)).solver == expected


def test_auto_leaves_features_to_the_interior_point():
    assert solve(svm(solving.FEW_ROWS + 50, space=Features)).solver == "interior"


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


def test_auto_hands_over_what_does_not_converge(monkeypatch):
    problem = svm(200)
    again = solve(problem, solver="interior", tol=1e-8)
    monkeypatch.setattr(solving, "working_set_budget", lambda problem: 3)
    for most, expected in [(solving.MOST_FACES, "proximal"), (1, "interior")]:
        monkeypatch.setattr(solving, "MOST_FACES", most)
        solution = solve(problem, tol=1e-8)
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
    start = solving.INTERIOR_START
    assert large - start == pytest.approx(4 * (small - start), rel=1e-3)


def test_unknown_solver():
    with pytest.raises(ValueError, match="solver must be one of 'auto', 'interior'"):
        solve(svm(10), solver="newton")


def test_smo_on_features_is_refused():
    with pytest.raises(ValueError, match="needs a Gram matrix for every function"):
        solve(svm(10, space=Features), solver="working_set")


# --------------------------------------------------------------------- threads
@pytest.mark.parametrize(
    ("size", "available", "alone", "shared", "expected"),
    [
        (100, 8, 1.0, 0.1, 1),  # small: not even tried
        (5000, 1, 1.0, 1.0, 1),  # nothing to choose from
        (5000, 8, 1.0, 0.3, 8),  # idle cores
        (5000, 8, 1.0, 0.95, 1),  # hardly a gain
        (5000, 8, 1.0, 6.0, 1),  # busy cores
    ],
)
def test_threads_are_used_where_they_help(
    monkeypatch, size, available, alone, shared, expected
):
    tried = []

    def seconds(threads):
        tried.append(threads)
        return alone if threads == 1 else shared

    monkeypatch.setattr(linalg, "_available_threads", lambda: available)
    monkeypatch.setattr(linalg, "_cores_are_idle", lambda cores: False)
    monkeypatch.setattr(linalg, "_seconds", seconds)
    assert linalg.threads_worth_using(size) == expected
    assert bool(tried) == (size >= linalg.SINGLE_THREAD_SIZE and available > 1)


def test_idle_cores_need_no_trial(monkeypatch):
    monkeypatch.setattr(linalg, "_available_threads", lambda: 4)
    monkeypatch.setattr(linalg, "_cores_are_idle", lambda cores: cores == 4)
    monkeypatch.setattr(linalg, "_seconds", lambda threads: pytest.fail("a trial"))
    assert linalg.threads_worth_using(5000) == 4


def test_threads_are_limited_inside_and_given_back():
    before = linalg._available_threads()
    with linalg.threads_for(10):
        assert linalg._available_threads() == 1
    assert linalg._available_threads() == before


def test_the_trial_measures_something():
    assert linalg._seconds(1) > 0
