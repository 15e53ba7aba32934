"""The interior point on problems with known answers, in both kinds of space."""

import numpy as np
import pytest

from lupi._convex import Features, Function, Gram, Problem, Rows, Slack, solve
from tests.convex.made import NAMES, problems


def two_points(C, space=Gram):
    """Rows 0 and 2 on a line, labels −1 and +1: w = 1, b = −1 for C ≥ ½."""
    x = np.array([[0.0], [2.0]])
    y, one = np.array([-1.0, 1.0]), np.ones(2)
    given = Gram(x @ x.T) if space is Gram else Features(x)
    return Problem(
        2,
        [Function(given, 1.0, one)],
        [Rows({0: y}, one, slack=Slack(linear=C * one))],
    )


TOL = 1e-10


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
        [Rows({0: y}, np.ones(len(y)), slack=Slack(linear=C * np.ones(len(y))))],
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
    problem = Problem(3, functions, [Rows({0: one, 1: one}, one)])
    with pytest.raises(ValueError, match="either all by Gram matrices or all by feat"):
        solve(problem)


def test_families_beyond_two_functions_are_refused():
    one = np.ones(3)
    functions = [Function(Gram(np.eye(3))) for _ in range(3)]
    problem = Problem(3, functions, [Rows({0: one, 1: one, 2: one}, one)])
    with pytest.raises(ValueError, match="acts on the functions"):
        solve(problem)
