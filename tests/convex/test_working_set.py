"""The working-set solver against the interior point and an independent conic solver."""

import numpy as np
import pytest
from sklearn.svm import SVC

from lupi._convex import (
    Features,
    Function,
    GlobalRow,
    Gram,
    Problem,
    Rows,
    Slack,
    solve,
)
from lupi._convex.interior.path import solve_interior
from lupi._convex.working_set.flat import Flat, circuits, feasible, unsuited
from lupi._convex.working_set.outer import solve_working_set
from tests.oracle import conic
from tests.oracle.problems import draw

STEPS = 300_000


def svm_plus(drawn):
    y, n = drawn.y, len(drawn.y)
    has, lacks, cost = drawn.has, drawn.lacks, drawn.cost
    functions = [Function(Gram(drawn.K), 1.0, np.ones(n))]
    families = []
    if len(lacks):
        one = np.ones(len(lacks))
        families.append(Rows({0: y[lacks]}, one, lacks, Slack(linear=cost[lacks])))
    if len(has):
        one = np.ones(len(has))
        star = Function(Gram(drawn.Ks), drawn.reg, one, cost[has], has)
        functions.append(star)
        families.append(Rows({0: y[has], 1: one}, one, has))
        families.append(Rows({1: one}, 0 * one, has))
    return Problem(n, functions, families)


def delta_plus_hinge(drawn):
    y, n = drawn.y, len(drawn.y)
    has, lacks, cost = drawn.has, drawn.lacks, drawn.cost
    functions = [Function(Gram(drawn.K), 1.0, np.ones(n))]
    families = []
    if len(lacks):
        one = np.ones(len(lacks))
        families.append(Rows({0: y[lacks]}, one, lacks, Slack(linear=cost[lacks])))
    one, z = np.ones(len(has)), y[has]
    functions.append(Function(Gram(drawn.Ks), drawn.reg, one, None, has))
    above = Slack(linear=(1 + drawn.delta) * cost[has])
    families.append(Rows({0: z, 1: z}, one, has, above))
    families.append(Rows({1: -z}, 0 * one, has, Slack(linear=cost[has])))
    return Problem(n, functions, families)


def svr_plus(drawn, epsilon=0.1):
    y, n = drawn.y, len(drawn.y)
    has, lacks, cost = drawn.has, drawn.lacks, drawn.cost
    functions = [Function(Gram(drawn.K), 1.0, np.ones(n))]
    families = []
    for sign in (-1.0, 1.0):
        bound = sign * y - epsilon
        if len(lacks):
            slack = Slack(linear=cost[lacks])
            on = {0: np.full(len(lacks), sign)}
            families.append(Rows(on, bound[lacks], lacks, slack))
        one, k = np.ones(len(has)), len(functions)
        functions.append(Function(Gram(drawn.Ks), drawn.reg, one, cost[has], has))
        families.append(Rows({0: sign * one, k: one}, bound[has], has))
        families.append(Rows({k: one}, 0 * one, has))
    return Problem(n, functions, families)


MODELS = {
    "svm_plus": (svm_plus, conic.svm_plus, {}),
    "svm": (svm_plus, conic.svm_plus, {"privileged": False}),
    "svm_delta_plus": (delta_plus_hinge, conic.svm_delta_plus_hinge, {}),
    "svr_plus": (svr_plus, conic.svr_plus, {"regression": True}),
}
SEEDS = [
    pytest.param(seed, marks=[] if seed % 10 == 0 else pytest.mark.slow)
    for seed in range(60)
]


def moderate(seed, **settings):
    """The first problem from this seed on whose C and γ lie within 1e±2."""
    return next(
        drawn
        for drawn in (draw(1000 * seed + s, **settings) for s in range(1000))
        if drawn.moderate
    )


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", SEEDS)
def test_objective_is_that_of_the_conic_solver(model, seed):
    build, primal, settings = MODELS[model]
    drawn = moderate(seed, **settings)
    solution = solve_working_set(build(drawn), tol=1e-7, max_iter=STEPS)
    best = primal(drawn).solve()
    assert solution.converged
    assert solution.is_optimal(1e-7)
    assert solution.primal_value == pytest.approx(best, rel=1e-6, abs=1e-6)
    assert solution.dual_value <= best + 1e-6 * max(abs(best), 1.0)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", SEEDS)
def test_extremes_are_solved_or_said_not_to_be(model, seed):
    build, _, settings = MODELS[model]
    problem = build(draw(seed, **settings))
    solution = solve_working_set(problem, tol=1e-6, max_iter=20_000)
    assert solution.converged == solution.is_optimal(1e-6)
    if solution.converged:
        # Each dual value is a lower bound, each primal value an upper one.
        exact = solve(problem, solver="interior", tol=1e-6)
        room = 1e-6 * max(abs(solution.primal_value), abs(exact.primal_value))
        assert solution.dual_value <= exact.primal_value + room
        assert exact.dual_value <= solution.primal_value + room


def rbf_problem(n, C, reg, seed=0):
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, 4))
    X = hidden + 0.5 * rng.normal(size=hidden.shape)
    y = np.where(hidden.sum(axis=1) + rng.normal(size=n) > 0, 1.0, -1.0)
    K, Ks = (
        np.exp(-0.2 * ((A[:, None] - A[None]) ** 2).sum(axis=2)) for A in (X, hidden)
    )
    one = np.ones(n)
    return Problem(
        n,
        [Function(Gram(K), 1.0, one), Function(Gram(Ks), reg, one, C * one)],
        [Rows({0: y, 1: one}, one), Rows({1: one}, 0 * one)],
    )


@pytest.mark.parametrize(("C", "reg"), [(1, 1), (10, 0.1), (1, 0.01), (100, 1)])
def test_values_and_biases_are_those_of_the_interior_point(C, reg):
    problem = rbf_problem(300, C, reg)
    ours = solve_working_set(problem, tol=1e-8, max_iter=STEPS)
    theirs = solve_interior(problem, tol=1e-8, max_iter=200)
    assert ours.converged
    for mine, other in zip(ours.values, theirs.values, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-4)
    np.testing.assert_allclose(ours.biases, theirs.biases, atol=1e-4)


def test_svm_is_that_of_scikit_learn():
    problem = rbf_problem(200, 1.0, 1.0)
    gram, y = problem.functions[0].space.matrix, problem.families[0].on[0]
    C = np.linspace(0.5, 2.0, 200)
    svm = Problem(
        200, problem.functions[:1], [Rows({0: y}, np.ones(200), None, Slack(C))]
    )
    ours = solve_working_set(svm, tol=1e-8, max_iter=STEPS)
    theirs = SVC(kernel="precomputed", tol=1e-10).fit(gram, y, sample_weight=C)
    np.testing.assert_allclose(
        ours.values[0], theirs.decision_function(gram), atol=1e-5
    )


def test_no_bias_no_balance():
    """A function without basis: single multipliers move, each to its λ = r."""
    n = 5
    problem = Problem(
        n, [Function(Gram(np.eye(n)))], [Rows({0: np.ones(n)}, np.full(n, 0.7))]
    )
    solution = solve_working_set(problem, tol=1e-10, max_iter=1000)
    np.testing.assert_allclose(solution.multipliers, 0.7, rtol=1e-9)
    assert solution.converged


def test_multipliers_carry_the_expansion():
    problem = rbf_problem(150, 3.0, 0.5)
    solution = solve_working_set(problem, tol=1e-6, max_iter=STEPS)
    for v, again in zip(
        solution.coefficients, problem.coefficients(solution.multipliers), strict=True
    ):
        np.testing.assert_allclose(v, again, atol=1e-12)
    assert np.abs(problem.balance(solution.coefficients)).max() < 1e-10
    assert (solution.multipliers >= problem.lower).all()


def test_few_steps_are_said_not_to_suffice():
    solution = solve_working_set(rbf_problem(150, 10.0, 0.1), tol=1e-8, max_iter=20)
    assert not solution.converged
    assert solution.n_iter <= 21


def test_rounding_in_duplicated_rows_does_not_stop_it():
    problem = rbf_problem(60, 10.0, 0.1)
    twice = np.tile(np.arange(60), 2)
    y = problem.families[0].on[0][twice]
    one = np.ones(120)
    grams = [f.space.matrix[np.ix_(twice, twice)] for f in problem.functions]
    doubled = Problem(
        120,
        [
            Function(Gram(grams[0]), 1.0, one),
            Function(Gram(grams[1]), 0.1, one, 10.0 * one),
        ],
        [Rows({0: y, 1: one}, one), Rows({1: one}, 0 * one)],
    )
    half = rbf_problem(60, 20.0, 0.1)
    ours = solve_working_set(doubled, tol=1e-8, max_iter=STEPS)
    theirs = solve_interior(half, tol=1e-8, max_iter=200)
    assert ours.converged
    assert ours.primal_value == pytest.approx(theirs.primal_value, rel=1e-7)


# ------------------------------------------------------------------ directions
@pytest.mark.parametrize(
    ("signatures", "expected"),
    [
        ([[1.0], [-1.0]], {(1, 1)}),  # SVM: α₊ + α₋
        ([[1.0, 1.0], [-1.0, 1.0], [0.0, 1.0]], {(1, 1, -2)}),  # SVM+
        (
            [[1.0, 1.0, 0.0], [-1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            {(1, 1, -1, -1)},  # SVR+
        ),
        (
            [[1.0, 1.0], [-1.0, 1.0], [0.0, 1.0], [1.0, 0.0], [-1.0, 0.0]],
            {  # SVM+ with rows that lack X*
                (1, 1, -2, 0, 0),
                (0, 0, 0, 1, 1),
                (1, 0, -1, -1, 0),
                (1, 0, -1, 0, 1),
                (0, 1, -1, 1, 0),
                (0, 1, -1, 0, -1),
                (1, -1, 0, -2, 0),
                (1, -1, 0, 0, 2),
            },
        ),
        ([[0.0], [1.0]], {(1, 0)}),
    ],
)
def test_circuits_by_hand(signatures, expected):
    found = circuits(np.array(signatures))
    assert {tuple(w) for w in found} == expected | {
        tuple(-v for v in w) for w in expected
    }
    assert len(found) == 2 * len(expected)


@pytest.mark.parametrize("model", MODELS)
def test_start_is_feasible(model):
    build, _, settings = MODELS[model]
    for seed in range(20):
        problem = build(draw(seed, **settings))
        flat = Flat(problem)
        multipliers = np.empty(problem.size)
        multipliers[flat.order] = feasible(flat)
        balance = problem.balance(problem.coefficients(multipliers))
        assert np.abs(balance).max() <= 1e-9 * max(np.abs(multipliers).max(), 1.0)
        assert (multipliers >= problem.lower).all()
        for room in problem.headroom(multipliers):
            assert room.min() >= 0


def test_start_by_class_totals():
    """A cost that no single multiplier can take up: Σλ over the others does."""
    one, half = np.ones(4), np.array([2.0, 0.0, 0.0, 0.0])
    problem = Problem(
        4,
        [Function(Gram(np.eye(4)), 1.0, one, half)],
        [Rows({0: one}, one, None, Slack(linear=one))],
    )
    assert feasible(Flat(problem)).sum() == pytest.approx(2.0)
    ours = solve_working_set(problem, tol=1e-9, max_iter=1000)
    theirs = solve_interior(problem, tol=1e-9, max_iter=100)
    assert ours.primal_value == pytest.approx(theirs.primal_value, rel=1e-7)


def test_a_cost_without_counterweight_has_no_start():
    one = np.ones(3)
    problem = Problem(
        3,
        [Function(Gram(np.eye(3)), 1.0, one, -one)],
        [Rows({0: one}, one, None, Slack(linear=one))],
    )
    with pytest.raises(ValueError, match="its primal is unbounded"):
        solve_working_set(problem, tol=1e-6, max_iter=100)


# -------------------------------------------------------------------- refusals
def _with(**changes):
    one = np.ones(4)
    slack = Slack(linear=one)
    parts = {
        "functions": [Function(Gram(np.eye(4)), 1.0, one)],
        "families": [Rows({0: one}, one, None, slack)],
        "global_rows": (),
    }
    parts.update(changes)
    return Problem(4, **parts)


ONE, SHARED = np.ones(4), Slack(linear=np.ones(4))
REFUSED = {
    "a Gram matrix": _with(functions=[Function(Features(np.eye(4)), 1.0, ONE)]),
    "global": _with(global_rows=(GlobalRow({0: ONE}, 0.0),)),
    "equality": _with(families=[Rows({0: ONE}, ONE, equality=True)]),
    "squared": _with(families=[Rows({0: ONE}, ONE, None, Slack(squared=ONE))]),
    "share": _with(
        families=[Rows({0: ONE}, ONE, None, SHARED), Rows({0: -ONE}, ONE, None, SHARED)]
    ),
}


@pytest.mark.parametrize("word", REFUSED)
def test_refusals_name_what_is_missing(word):
    with pytest.raises(
        ValueError, match=rf"solver='working_set' needs .*{word}.*'interior'"
    ):
        solve_working_set(REFUSED[word], tol=1e-6, max_iter=10)


def test_too_many_signatures_are_refused():
    basis = np.linspace(1.0, 2.0, 20)
    problem = Problem(
        20,
        [Function(Gram(np.eye(20)), 1.0, basis)],
        [Rows({0: np.ones(20)}, np.ones(20), None, Slack(linear=np.ones(20)))],
    )
    assert "different columns" in unsuited(problem)
    assert unsuited(_with()) is None
