"""Every solver on problems with known answers, and against the others."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from sklearn.svm import SVC, SVR

from lupi._convex import (
    SOLVERS,
    Family,
    Features,
    Function,
    GlobalRow,
    Gram,
    Problem,
    Slack,
    Tuning,
    solve,
)
from tests.convex.made import NAMES, lagrangian, problems
from tests.convex.strict import Strict, strictly

# Two optimal values, each within TOL of the minimum, differ by at most 2 TOL.
TOL = 1e-10


def svm(n, C=1.0, space=Gram, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    one = np.ones(n)
    matrix = X @ X.T + np.eye(n) if space is Gram else X
    return Problem(
        n,
        [Function(space(matrix), 1.0, one)],
        [Family({0: y}, one, None, Slack(linear=C * one))],
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
        Family(
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
    "margins": [Family({0: SIGNS}, 0.5 * ONE, None, Slack(linear=ONE))],
    "no slack": [Family({0: SIGNS}, ONE)],
    "scaled": [Family({0: 2.0 * SIGNS}, ONE, None, Slack(linear=ONE))],
    "some rows": [
        Family({0: SIGNS[:30]}, ONE[:30], np.arange(30), Slack(linear=ONE[:30]))
    ],
    "two widths": [
        Family({0: -ONE}, -SIGNS - 0.1 * ONE, None, Slack(linear=ONE)),
        Family({0: ONE}, SIGNS - np.linspace(0.1, 0.2, 40), None, Slack(linear=ONE)),
    ],
    "two costs": [
        Family({0: -ONE}, -SIGNS - 0.1 * ONE, None, Slack(linear=ONE)),
        Family({0: ONE}, SIGNS - 0.1, None, Slack(linear=2.0 * ONE)),
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


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_gives_the_same_answer(solver):
    problem = svm(180, C=2.0)
    reference = solve(problem, solver="interior", tol=1e-9)
    solution = solve(problem, solver=solver, tol=1e-7)
    assert solution.converged
    assert solution.primal_value == pytest.approx(reference.primal_value, rel=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_max_iter_is_kept(solver):
    solution = solve(svm(200, C=100.0), solver=solver, tol=1e-10, max_iter=2)
    assert not solution.converged
    assert solution.n_iter <= 3


def test_unknown_solver():
    with pytest.raises(ValueError, match="solver must be 'auto', 'interior'"):
        solve(svm(10), solver="newton")


def two_points(C, space=Gram):
    """Rows 0 and 2 on a line, labels −1 and +1: w = 1, b = −1 for C ≥ ½."""
    x = np.array([[0.0], [2.0]])
    y, one = np.array([-1.0, 1.0]), np.ones(2)
    given = Gram(x @ x.T) if space is Gram else Features(x)
    return Problem(
        2,
        [Function(given, 1.0, one)],
        [Family({0: y}, one, slack=Slack(linear=C * one))],
    )


@pytest.mark.parametrize("space", [Gram, Features])
@pytest.mark.parametrize("C", [0.5001, 1.0, 1e4])
def test_two_points_with_a_margin(space, C):
    solution = solve(two_points(C, space), tol=TOL)
    # The gap is at least 2(α − ½)² and, with the bias, a row's share of it.
    np.testing.assert_allclose(solution.multipliers, 0.5, atol=np.sqrt(TOL))
    np.testing.assert_allclose(solution.biases, -1.0, atol=2 * np.sqrt(TOL))
    assert solution.primal_value == pytest.approx(0.5, rel=TOL)


@pytest.mark.parametrize("space", [Gram, Features])
def test_two_points_at_their_bounds(space):
    """α = C: w = 2C, and every b from 1 − 4C to −1 is optimal; ours is the middle."""
    C = 0.2
    solution = solve(two_points(C, space), tol=TOL)
    # A multiplier below its bound leaves (C − α)(1 − 2C) of the gap.
    np.testing.assert_allclose(solution.multipliers, C, atol=TOL)
    assert solution.primal_value == pytest.approx(2 * C - 2 * C**2, rel=TOL)
    # The ends are where the cost has risen by a relative 1e-9.
    assert solution.biases[0] == pytest.approx(-2 * C, abs=1e-6)


def test_midpoint_of_an_interval_of_biases():
    """One label in the majority pins nothing down; the ends cost the same."""
    solution = solve(two_points(0.1), solver="interior")
    low, high = -1.0, 1 - 4 * 0.1
    assert solution.biases[0] == pytest.approx((low + high) / 2, abs=1e-6)


@pytest.mark.parametrize("solver", ["auto", "interior"])
@pytest.mark.parametrize("name", NAMES)
def test_features_and_kernels_agree(name, solver):
    """`auto` factorizes kernels of low rank, and `interior` does not."""
    gram, features = (
        solve(problems(features=given)[name], tol=TOL, solver=solver)
        for given in (False, True)
    )
    assert gram.primal_value == pytest.approx(features.primal_value, rel=2 * TOL)
    # Without the biases: ρ/2 ‖f − f₀‖² is at most the gap of each.
    gaps = np.sqrt(2 * gram.duality_gap) + np.sqrt(2 * features.duality_gap)
    for k, space in features.problem.spaces.items():
        rho = gram.problem.functions[k].weight
        reach = np.sqrt(space.diagonal / rho) * (gaps + np.sqrt(TOL))
        assert (np.abs(gram.penalized[k] - features.penalized[k]) <= reach).all()


@pytest.mark.parametrize("name", NAMES)
def test_idle_constraints_have_no_multiplier(name):
    problem = problems()[name]
    solution = solve(problem)
    margins = problem.margins(solution.values) - problem.at_least
    idle = ~problem.is_equality & (margins > 1e-3)
    # The products of multipliers and margins are parts of the gap.
    products = (solution.multipliers + problem.offset)[idle] * margins[idle]
    rounding = 1e-12 * solution.primal_value
    assert products.max(initial=0.0) <= solution.duality_gap + rounding
    assert products.min(initial=0.0) >= -rounding


def test_polishing_leaves_exact_zeros_and_exact_bounds():
    """A vertex, where the path alone would leave small numbers."""
    problem = problems()["hinge"]
    solution = solve(problem, solver="interior")
    (slack,) = problem.slacks
    margins = problem.margins(solution.values) - problem.at_least
    idle, short = margins > 1e-3, margins < -1e-3
    assert (solution.multipliers[idle] == 0).all()
    np.testing.assert_array_equal(solution.multipliers[short], slack.linear[short])
    assert short.any()
    assert idle.any()


@pytest.mark.parametrize("C", [1e-4, 1e-2, 1.0, 1e2, 1e4])
def test_costs_over_eight_decades(C):
    problem = problems()["hinge"]
    y = problem.families[0].on[0]
    scaled = Problem(
        problem.n_rows,
        problem.functions,
        [Family({0: y}, np.ones(len(y)), slack=Slack(linear=C * np.ones(len(y))))],
    )
    tol = 1e-8 if 1e-2 <= C <= 1e2 else 1e-6
    solution = solve(scaled, tol=tol)
    assert solution.converged
    assert solution.relative_gap <= tol


@pytest.mark.parametrize("features", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_a_gap_below_rounding_is_not_reached_and_said_not_to_be(name, features):
    problem = problems(features=features)[name]
    solution = solve(problem, solver="interior", tol=1e-18)
    assert not solution.converged or solution.duality_gap == 0.0
    # Best iterates are kept, and none is lost to an overflow.
    assert solution.relative_gap <= 1e-9


def test_mixed_spaces_are_refused():
    one = np.ones(3)
    functions = [Function(Gram(np.eye(3))), Function(Features(np.eye(3)))]
    problem = Problem(3, functions, [Family({0: one, 1: one}, one)])
    with pytest.raises(ValueError, match="either all by Gram matrices or all by feat"):
        solve(problem)


def test_families_beyond_two_functions_are_refused():
    one = np.ones(3)
    functions = [Function(Gram(np.eye(3))) for _ in range(3)]
    problem = Problem(3, functions, [Family({0: one, 1: one, 2: one}, one)])
    with pytest.raises(ValueError, match="acts on the functions"):
        solve(problem)


@pytest.mark.parametrize("n", [30, 80])
@pytest.mark.parametrize("name", NAMES)
def test_answers_are_those_of_the_interior_point(name, n):
    problem = problems(n=n)[name]
    solution = solve(problem, solver="proximal", tol=TOL)
    assert solution.converged
    assert solution.relative_gap <= TOL
    primal, dual, *_ = lagrangian(problem, solution.multipliers, solution.biases)
    assert primal == pytest.approx(dual, rel=2 * TOL)
    reference = solve(problem, solver="interior", tol=TOL)
    assert reference.converged
    assert solution.primal_value == pytest.approx(reference.primal_value, rel=2 * TOL)


TUNINGS = {
    "single precision": {"single_size": 1},
    "double precision": {"single_size": 10**9},
    "neighbors": {"rows_per_change": 6},
    "no neighbors": {"rows_per_change": 10**6},
    "by the inverse": {"small_leaf_factor": 1e-9},
    "never by the inverse": {"small_leaf_factor": 1e9},
    "one by the inverse": {"small_leaf_factor": 1e-9, "single_size": 1},
}


@cache
def least(name, n):
    """Return the minimum of a problem, found by the interior point."""
    return solve(problems(n=n)[name], solver="interior", tol=TOL).primal_value


@pytest.mark.parametrize("changed", TUNINGS)
@pytest.mark.parametrize("name", NAMES)
def test_equations_of_faces_solved_in_other_ways_lead_to_the_same_minimum(
    name, changed
):
    tuning = replace(Tuning(), **TUNINGS[changed])
    problem = problems(n=60)[name]
    solution = solve(problem, solver="proximal", tol=TOL, tuning=tuning)
    assert solution.converged
    assert solution.primal_value == pytest.approx(least(name, 60), rel=2 * TOL)


@pytest.mark.parametrize("single_size", [1, 10**9])
@pytest.mark.parametrize("name", NAMES)
def test_factors_of_low_rank_lead_to_the_same_minimum(name, single_size, monkeypatch):
    expected = least(name, 120)
    monkeypatch.setattr("lupi._convex.problem.FACTORED_SIZE", 1)
    problem = problems(n=120)[name]
    assert all(space.factor.shape[1] <= 6 for space in problem.spaces.values())
    tuning = replace(Tuning(), single_size=single_size)
    solution = solve(problem, solver="proximal", tol=TOL, tuning=tuning)
    assert solution.converged
    assert solution.primal_value == pytest.approx(expected, rel=2 * TOL)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("name", ["hard", "shared slack", "hinge"])
def test_kernels_beyond_single_precision_are_solved_all_the_same(name, scale):
    """Rows that are nearly the same: their kernels differ in the last digits."""
    problem, rng = problems()[name], np.random.default_rng(0)
    center = 10.0 * rng.normal(size=4)

    def near(function):
        Phi = center + rng.normal(size=(problem.n_rows, 4)) * 1e-2
        return replace(function, space=Gram(scale * Phi @ Phi.T))

    near_problem = Problem(
        problem.n_rows, [near(f) for f in problem.functions], problem.families
    )
    single = replace(Tuning(), single_size=1)
    solution = solve(near_problem, solver="proximal", tuning=single)
    reference = solve(near_problem, tol=1e-8)
    assert solution.converged
    assert solution.primal_value == pytest.approx(reference.primal_value, rel=2e-6)


def test_a_term_too_small_to_start_with_is_made_larger():
    """With the first term alone the method stops above this tolerance."""
    problem = problems()["hard"]
    small = replace(Tuning(), first_unbounded=1e-9, stalled_steps=3)
    solution = solve(problem, solver="proximal", tol=TOL, tuning=small)
    assert solution.converged
    reference = solve(problem, solver="interior", tol=TOL)
    assert solution.primal_value == pytest.approx(reference.primal_value, rel=2 * TOL)


def test_bounds_are_met_exactly():
    problem = problems(n=60)["hinge"]
    solution = solve(problem, solver="proximal")
    cost = problem.slacks[0].linear
    at_zero, at_cost = solution.multipliers == 0.0, solution.multipliers == cost
    assert at_zero.any()
    assert at_cost.any()
    # The gap is Σ λ[m − 1]₊ + (C − λ)[1 − m]₊, up to rounding.
    inside = ~at_zero & ~at_cost
    multipliers = solution.multipliers[inside]
    missed = np.abs(problem.margins(solution.values)[inside] - 1.0)
    room = np.minimum(multipliers, cost[inside] - multipliers)
    assert (missed * room <= solution.duality_gap + 1e-12).all()


def test_features_are_refused_with_a_sentence():
    problem = problems(features=True)["hinge"]
    assert isinstance(problem.functions[0].space, Features)
    with pytest.raises(ValueError, match="needs a Gram matrix for every penalized"):
        solve(problem, solver="proximal")


def test_what_the_proximal_method_cannot_take_is_named():
    one, K = np.ones(3), np.eye(3)
    three = [Function(Gram(K)) for _ in range(3)]
    zeta = Slack(linear=one)
    refused = {
        "act on one function, or on the first and one other": [
            Family({1: one, 2: one}, one)
        ],
        "at most one family": [Family({1: one}, one), Family({1: one}, one)],
        "one sign in both": [
            Family({0: one, 1: one}, one, slack=zeta),
            Family({1: -one}, one, slack=zeta),
        ],
        "needs global constraints on the first function only": [Family({0: one}, one)],
    }
    for message, families in refused.items():
        together = [GlobalRow({1: one}, 0.0)] if "global" in message else []
        problem = Problem(3, three, families, together)
        with pytest.raises(ValueError, match=message):
            solve(problem, solver="proximal")


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("solver", SOLVERS)
def test_two_families_share_a_slack_in_any_order(solver, swapped):
    """Of two equal problems, one has the families of the pair the other way round."""
    problem = problems()["shared slack"]
    families = list(problem.families)
    if swapped:
        families.reverse()
    solution = solve(
        Problem(problem.n_rows, problem.functions, families), solver=solver, tol=TOL
    )
    assert solution.converged
    reference = solve(problems(features=True)["shared slack"], tol=TOL)
    assert solution.primal_value == pytest.approx(reference.primal_value, rel=2 * TOL)


@pytest.mark.parametrize(
    "second", [{1: -1.0}, {2: 1.0}, {0: 1.0}], ids=["sign", "leaf", "root"]
)
def test_a_slack_that_is_shared_otherwise_is_refused_for_kernels(second):
    one, zeta = np.ones(3), Slack(linear=np.ones(3))
    functions = [Function(Gram(np.eye(3)), 1.0, one) for _ in range(3)]
    families = [
        Family({0: one, 1: one}, one, slack=zeta),
        Family({k: a * one for k, a in second.items()}, one, slack=zeta),
    ]
    with pytest.raises(ValueError, match="slack"):
        solve(Problem(3, functions, families), solver="interior")


SIZES = {
    "small": Tuning(),
    "large": replace(
        Tuning(), single_size=1, polished_size=0, small_leaf=0, rows_per_change=10**6
    ),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("solver", ["interior", "proximal", "auto"])
def test_same_answer_on_matrices_of_another_kind(name, solver, size):
    problem = problems(n=40)[name]
    tuning = SIZES[size]
    expected = solve(problem, solver="interior", tol=1e-8)
    found = solve(strictly(problem), solver=solver, tol=1e-8, tuning=tuning)
    assert found.converged
    assert found.relative_gap <= 1e-8
    np.testing.assert_allclose(found.primal_value, expected.primal_value, rtol=1e-6)


def test_the_stand_in_refuses_what_is_not_an_operation():
    matrix = Strict(np.eye(3))
    with pytest.raises(TypeError):
        matrix @ np.ones(3)
    with pytest.raises(TypeError):
        matrix[0]
    with pytest.raises(TypeError, match="taken for a NumPy array"):
        np.asarray(matrix)


def test_a_method_whose_matrices_do_not_fit_is_left_out(monkeypatch):
    problem = strictly(svm(30))
    monkeypatch.setattr(Strict, "free", 8 * 30**2)
    with pytest.raises(ValueError, match="more memory for its matrices than is free"):
        solve(problem, solver="interior")
    # One step does not reach tol, and the interior-point method would be next.
    assert solve(problem, max_iter=1).solver == "proximal"
    assert solve(problem).is_optimal(1e-6)
