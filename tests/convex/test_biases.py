"""The biases that are best for given functions, against the whole linear program."""

import numpy as np
import pytest
from scipy.optimize import linprog

from lupi._convex import Function, Gram, Problem, Rows, Slack
from lupi._convex import solution as biases
from lupi._convex.solution import Solution
from tests.convex.dense import matrices
from tests.convex.made import problems

# Without squared slacks, whose program is not linear.
LINEAR = ["hinge", "hard", "partial", "shared slack", "global", "no space"]


def made_solution(problem, values, start):
    solution = Solution(
        problem,
        np.zeros(problem.size),
        problem.coefficients(np.zeros(problem.size)),
        start,
        0,
        False,
        "none",
    )
    solution.penalized = values
    return solution


def whole_programme(problem, values):
    """Its optimal value, and the ends of the interval of the first bias."""
    functions, blocks, right = matrices(problem)
    columns, cost = [], []
    for k in problem.biased:
        _, e, c, _, _ = functions[k]
        columns.append(blocks[k] @ e)
        cost.append(c @ e)
    short = right.copy()
    for k, (_, _, _, _, rows) in enumerate(functions):
        short -= blocks[k][:, rows] @ values[k]
    slacks = []
    for slack, sharing in zip(problem.slacks, problem.sharing, strict=True):
        block = np.zeros((problem.size, len(slack.linear)))
        for q in sharing:
            block[problem.slices[q]] += np.eye(len(slack.linear))
        slacks.append(block)
        cost += list(slack.linear)
    A = np.hstack([np.column_stack(columns), *slacks])
    cost, n_biases = np.array(cost), len(problem.biased)
    bounds = [(None, None)] * n_biases + [(0, None)] * (len(cost) - n_biases)
    best = linprog(cost, -A, -short, bounds=bounds)
    assert best.status == 0
    upper = np.vstack([-A, cost])
    limit = np.append(-short, best.fun + 1e-8 * max(1.0, abs(best.fun)))
    unit = np.eye(len(cost))[0]
    ends = [linprog(s * unit, upper, limit, bounds=bounds).x[0] for s in (1, -1)]

    def value(given):
        limits = [(b, b) for b in given] + bounds[n_biases:]
        return linprog(cost, -A, -short, bounds=limits).fun

    return best.fun, ends, value


@pytest.mark.parametrize("distance", [0.0, 0.5, 30.0])
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", LINEAR)
def test_midpoint_is_that_of_the_whole_programme(name, seed, distance):
    problem = problems()[name]
    rng = np.random.default_rng(seed)
    values = [rng.normal(size=problem.length(k)) for k in range(len(problem.functions))]
    if name == "global":
        values[0] *= 0.1  # else no bias meets the constraints
    optimum, ends, value = whole_programme(problem, values)
    start = distance * rng.normal(size=len(problem.biased))
    found = biases._midpoint(made_solution(problem, values, start), kinds=64)
    assert found[0] == pytest.approx(np.mean(ends), abs=1e-5)
    assert value(found) == pytest.approx(optimum, rel=1e-6, abs=1e-6)


def test_an_interval_far_wider_than_the_first_look():
    """y f = 0 with as much cost on either side: every b from −1 to 1 is optimal."""
    y = np.repeat([1.0, -1.0], 200)
    function = Function(Gram(np.eye(400)), 1.0, np.ones(400))
    family = Rows({0: y}, np.ones(400), slack=Slack(linear=np.ones(400)))
    problem = Problem(400, [function], [family])
    start = np.array([0.9])
    found = biases._midpoint(made_solution(problem, [np.zeros(400)], start), kinds=64)
    np.testing.assert_allclose(found, 0.0, atol=1e-6)


def test_only_slacks_that_turn_nearby_are_looked_at():
    rng = np.random.default_rng(0)
    n = 5000
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    zeta = Slack(linear=np.full(n, 2.0))
    functions = [Function(Gram(np.eye(1)), 1.0, np.ones(n)) for _ in range(2)]
    families = [
        Rows({0: y, 1: y}, np.ones(n), slack=zeta),
        Rows({1: y}, np.zeros(n), slack=zeta),
    ]
    problem = Problem(n, functions, families)
    right = rng.normal(size=problem.size)
    reach = np.full(2, 1e-3)
    columns, none = problem.balance_columns(), np.empty(0, int)
    rows = biases.BiasRows(problem, columns, right, none)
    piece = rows.piece(np.zeros(2), reach)
    assert len(piece.prices) < 0.01 * n
    assert len(piece.left) == 2 * len(piece.prices)


def test_of_hard_constraints_that_say_the_same_the_tightest_is_kept():
    columns = np.array([[1.0, 1.0, -1.0, 1.0, -1.0], [1.0, 1.0, 0.0, 0.0, 0.0]])
    right = np.array([0.2, 0.3, 0.1, -4.0, 0.5])
    kept = biases._tightest(columns, right, np.arange(5), kinds=64)
    assert sorted(kept) == [1, 3, 4]
    kept = biases._tightest(columns, right, np.arange(5), kinds=1)
    assert sorted(kept) == [1, 2, 3, 4]
