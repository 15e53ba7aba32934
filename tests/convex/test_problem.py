"""Problem and Solution do the arithmetic of their formulas."""

import numpy as np
import pytest

from lupi._convex import Solution, solve
from tests.convex.made import NAMES, lagrangian, matrices, problems

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("features", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_products_with_the_matrices(name, features):
    problem = problems(features=features)[name]
    functions, blocks, right = matrices(problem)
    multipliers = RNG.random(problem.size)
    biases = RNG.normal(size=len(problem.biased))
    np.testing.assert_array_equal(problem.at_least, right)
    coefficients = problem.coefficients(multipliers)
    values = problem.values(problem.penalized(coefficients), biases)
    left = np.zeros(problem.size)
    of = dict(zip(problem.biased, biases, strict=True))
    for k, (K, e, c, weight, rows) in enumerate(functions):
        v = blocks[k].T @ (multipliers + problem.offset) - c
        np.testing.assert_allclose(coefficients[k], v[rows], atol=1e-12)
        t = K @ v / weight + of.get(k, 0.0) * e
        np.testing.assert_allclose(values[k], t[rows], atol=1e-10)
        left += blocks[k] @ t
    np.testing.assert_allclose(problem.margins(values), left, atol=1e-9)
    columns = [blocks[k] @ functions[k][1] for k in problem.biased]
    np.testing.assert_allclose(
        problem.balance_columns(), np.reshape(columns, (-1, problem.size)), atol=1e-12
    )


@pytest.mark.parametrize("features", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_values_and_residuals_at_any_point(name, features):
    """Also far from the optimum, and outside the feasible set."""
    problem = problems(features=features)[name]
    for scale in (0.1, 1.0, 10.0):
        multipliers = scale * RNG.normal(size=problem.size)
        biases = RNG.normal(size=len(problem.biased))
        solution = Solution(
            problem,
            multipliers,
            problem.coefficients(multipliers),
            biases,
            n_iter=0,
            converged=False,
            solver="by hand",
        )
        primal, dual, violated, _ = lagrangian(problem, multipliers, biases)
        assert solution.primal_value == pytest.approx(primal, rel=1e-10)
        assert solution.dual_value == pytest.approx(dual, rel=1e-10)
        assert solution.primal_residual == pytest.approx(violated, rel=1e-10)
        assert solution.duality_gap >= abs(primal - dual)
        assert not solution.is_optimal(1e-3)


@pytest.mark.parametrize("features", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_certificate_of_a_solution(name, features):
    """Residuals and gap of the answer, from the matrices and not from the solver."""
    problem = problems(features=features)[name]
    solution = solve(problem, tol=1e-9)
    assert solution.converged
    primal, dual, violated, outside = lagrangian(
        problem, solution.multipliers, solution.biases
    )
    assert primal - dual == pytest.approx(0, abs=1e-7 * primal)
    assert violated < 1e-7
    assert outside < 1e-7
    assert solution.relative_gap <= 1e-9


def test_a_missed_balance_is_no_optimum_even_where_the_bias_is_zero():
    """b = 0 would make a gap that only weighs e·v by b blind to it."""
    problem = problems()["hinge"]
    best = solve(problem)
    crooked = best.multipliers.copy()
    crooked[np.argmax(crooked)] += 1.0
    solution = Solution(
        problem,
        crooked,
        problem.coefficients(crooked),
        np.zeros(1),
        n_iter=0,
        converged=False,
        solver="by hand",
    )
    assert solution.duality_gap >= 1.0


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
