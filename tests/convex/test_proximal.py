"""The proximal method against the interior point, and where it ends exactly."""

from dataclasses import replace

import numpy as np
import pytest

from lupi._convex import Features, Solution, Tuning, solve
from lupi._convex.linalg import NotPositiveDefinite
from lupi._convex.proximal import augmented, outer
from lupi._convex.proximal.augmented import Augmented
from lupi._convex.proximal.bounds import Bounds
from lupi._convex.proximal.outer import solve_proximal
from tests.convex.dense import lagrangian
from tests.convex.made import NAMES, problems

SINGLE = replace(Tuning(), single_size=1)


@pytest.mark.parametrize("n", [30, 80])
@pytest.mark.parametrize("name", NAMES)
def test_ends_in_the_vertex(name, n):
    problem = problems(n=n)[name]
    solution = solve_proximal(problem, tol=1e-6, max_iter=100)
    assert solution.converged
    assert solution.relative_gap < 1e-11
    primal, dual, *_ = lagrangian(problem, solution.multipliers, solution.biases)
    assert primal == pytest.approx(dual, rel=1e-9)
    reference = solve(problem, solver="interior", tol=1e-9)
    assert solution.primal_value == pytest.approx(reference.primal_value, rel=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_single_precision_reaches_the_same_vertex(name):
    problem = problems(n=60)[name]
    double = solve_proximal(problem, tol=1e-6, max_iter=100)
    single = solve_proximal(problem, tol=1e-6, max_iter=100, tuning=SINGLE)
    assert single.converged
    assert single.primal_value == pytest.approx(double.primal_value, rel=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_faces_solved_from_their_neighbors_lead_to_the_same_vertex(name, monkeypatch):
    problem = problems(n=60)[name]
    reference = solve_proximal(problem, tol=1e-6, max_iter=100)
    made = []
    monkeypatch.setattr(augmented, "Face", counted(augmented.Face, made))
    near = replace(Tuning(), rows_per_change=6)
    solution = solve_proximal(problem, tol=1e-6, max_iter=100, tuning=near)
    assert solution.converged
    assert solution.primal_value == pytest.approx(reference.primal_value, rel=1e-10)
    assert len(made) < solution.n_iter


def test_a_term_too_small_to_start_with_is_made_larger(monkeypatch):
    problem = problems()["hard"]
    reference = solve_proximal(problem, tol=1e-6, max_iter=100)
    widened = []
    monkeypatch.setattr(
        outer._Proximal, "widen", counted(outer._Proximal.widen, widened)
    )
    small = replace(Tuning(), first_unbounded=1e-9, stalled_steps=3)
    solution = solve_proximal(problem, tol=1e-6, max_iter=100, tuning=small)
    assert len(widened) == 1
    assert solution.converged
    assert solution.primal_value == pytest.approx(reference.primal_value, rel=1e-6)


def counted(make, made):
    def count(*arguments):
        made.append(arguments)
        return make(*arguments)

    return count


def test_factors_that_fail_in_single_precision_are_made_in_double(monkeypatch):
    used = []
    minimize = Augmented.minimize

    def refuse_single(self, most, inexact):
        dtype = self.layout.gram.dtype
        used.append(dtype)
        if dtype == np.float32:
            raise NotPositiveDefinite("not accurate enough")
        return minimize(self, most, inexact)

    monkeypatch.setattr(Augmented, "minimize", refuse_single)
    solution = solve_proximal(problems()["hard"], tol=1e-6, max_iter=100, tuning=SINGLE)
    assert solution.converged
    assert used[0] == np.float32
    assert set(used[1:]) == {np.dtype(np.float64)}


def test_bounds_are_met_exactly():
    problem = problems(n=60)["hinge"]
    solution = solve_proximal(problem, tol=1e-6, max_iter=100)
    cost = problem.slacks[0].linear
    at_zero, at_cost = solution.multipliers == 0.0, solution.multipliers == cost
    assert at_zero.any()
    assert at_cost.any()
    margin = problem.margins(solution.values)
    inside = ~at_zero & ~at_cost
    np.testing.assert_allclose(margin[inside], 1.0, atol=1e-9)


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
    solution = solve_proximal(problem, tol=1e-6, max_iter=100)
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
