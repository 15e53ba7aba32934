"""The proximal method against the interior point, and at its bounds."""

from dataclasses import replace

import numpy as np
import pytest

from lupi._convex import Features, Solution, Tuning, solve
from lupi._convex.linalg import NotPositiveDefinite
from lupi._convex.proximal import Augmented, Bounds
from tests.convex.dense import lagrangian
from tests.convex.made import NAMES, problems

SINGLE = replace(Tuning(), single_size=1)


# Two optimal values, each within TOL of the minimum, differ by at most 2 TOL.
TOL = 1e-10


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


@pytest.mark.parametrize("name", NAMES)
def test_factors_in_single_precision_reach_the_same_minimum(name):
    problem = problems(n=60)[name]
    double = solve(problem, solver="proximal", tol=TOL)
    single = solve(problem, solver="proximal", tol=TOL, tuning=SINGLE)
    assert single.converged
    assert single.primal_value == pytest.approx(double.primal_value, rel=2 * TOL)


@pytest.mark.parametrize("name", NAMES)
def test_faces_solved_from_their_neighbors_lead_to_the_same_minimum(name):
    problem = problems(n=60)[name]
    reference = solve(problem, solver="proximal", tol=TOL)
    near = replace(Tuning(), rows_per_change=6)
    solution = solve(problem, solver="proximal", tol=TOL, tuning=near)
    assert solution.converged
    assert solution.primal_value == pytest.approx(reference.primal_value, rel=2 * TOL)


def test_a_term_too_small_to_start_with_is_made_larger():
    """With the first term alone the method stops above this tolerance."""
    problem = problems()["hard"]
    small = replace(Tuning(), first_unbounded=1e-9, stalled_steps=3)
    solution = solve(problem, solver="proximal", tol=TOL, tuning=small)
    assert solution.converged
    reference = solve(problem, solver="interior", tol=TOL)
    assert solution.primal_value == pytest.approx(reference.primal_value, rel=2 * TOL)


def test_factors_that_fail_in_single_precision_are_made_in_double(monkeypatch):
    used = []
    minimize = Augmented.minimize

    def refuse_single(self, most):
        dtype = self.layout.gram.dtype
        used.append(dtype)
        if dtype == np.float32:
            raise NotPositiveDefinite("not accurate enough")
        return minimize(self, most)

    monkeypatch.setattr(Augmented, "minimize", refuse_single)
    solution = solve(problems()["hard"], solver="proximal", tuning=SINGLE)
    assert solution.converged
    assert used[0] == np.float32
    assert set(used[1:]) == {np.dtype(np.float64)}


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


def test_projection_is_the_nearest_point():
    problem = problems()["shared slack"]
    rng = np.random.default_rng(0)
    ridge = rng.uniform(0.5, 2.0, problem.size)
    bounds = Bounds(problem, ridge)
    point = rng.normal(scale=4.0, size=problem.size)
    nearest = bounds.project(point)
    assert (nearest >= problem.lower).all()
    assert min(room.min() for room in problem.headroom(nearest)) >= -1e-12
    # Obtuse angles: (x − p)·D(z − p) ≤ 0 for every z of the set.
    for seed in range(200):
        other = np.random.default_rng(seed).uniform(0.0, 1.0, (2, problem.n_rows))
        other = other * (problem.slacks[0].linear / 2) - problem.offset.reshape(2, -1)
        gap = (ridge * (point - nearest)).reshape(2, -1)
        angle = (gap * (other - nearest.reshape(2, -1))).sum(axis=0)
        assert (angle <= 1e-9).all()


def test_no_answer_is_called_optimal_before_its_violation_has_a_price():
    """At λ = 0 a violated constraint costs nothing by its multiplier."""
    problem = problems()["squared"]
    zero = np.zeros(problem.size)
    coefficients = problem.coefficients(zero)
    solution = Solution(problem, zero, coefficients, np.zeros(1), 0, False, "by hand")
    assert solution.primal_value == solution.dual_value == 0.0
    assert solution.primal_residual == 1.0
    assert not solution.is_optimal(1e-3)


def test_an_expansion_of_other_multipliers_is_no_certificate():
    problem = problems()["hard"]
    solution = solve(problem, solver="proximal")
    other = [v + 0.1 for v in solution.coefficients]
    wrong = Solution(
        problem, solution.multipliers, other, solution.biases, 0, True, "by hand"
    )
    wrong.penalized = solution.penalized
    assert wrong.duality_gap > 1e3 * solution.duality_gap


def test_features_are_refused_with_a_sentence():
    problem = problems(features=True)["hinge"]
    assert isinstance(problem.functions[0].space, Features)
    with pytest.raises(ValueError, match="needs a Gram matrix for every penalized"):
        solve(problem, solver="proximal")
