"""The biases that are best for given functions, against the whole linear program."""

import numpy as np
import pytest
from scipy.optimize import linprog

from lupi._convex import Family, Function, Gram, Problem, Slack, Solution
from lupi._convex.solution import settle_biases
from tests.convex.made import matrices, problems

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


@pytest.mark.parametrize(("seed", "distance"), [(0, 0.5), (1, 30.0)])
@pytest.mark.parametrize("name", LINEAR)
def test_midpoint_is_that_of_the_whole_programme(name, seed, distance):
    problem = problems()[name]
    rng = np.random.default_rng(seed)
    values = [rng.normal(size=problem.length(k)) for k in range(len(problem.functions))]
    if name == "global":
        values[0] *= 0.1  # else no bias meets the constraints
    optimum, ends, value = whole_programme(problem, values)
    start = distance * rng.normal(size=len(problem.biased))
    solution = made_solution(problem, values, start)
    found = settle_biases(solution).biases
    assert found[0] == pytest.approx(np.mean(ends), abs=1e-5)
    assert value(found) == pytest.approx(optimum, rel=1e-6, abs=1e-6)


def test_an_interval_far_wider_than_the_first_look():
    """y f = 0 with as much cost on either side: every b from −1 to 1 is optimal."""
    y = np.repeat([1.0, -1.0], 200)
    function = Function(Gram(np.eye(400)), 1.0, np.ones(400))
    family = Family({0: y}, np.ones(400), slack=Slack(linear=np.ones(400)))
    problem = Problem(400, [function], [family])
    start = np.array([0.9])
    found = settle_biases(made_solution(problem, [np.zeros(400)], start)).biases
    np.testing.assert_allclose(found, 0.0, atol=1e-6)
