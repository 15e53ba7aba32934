"""Choose a solver by measured cost, run it on the right number of threads.

``auto`` knows three. Working sets are the fastest where one function is learned alone,
or where multipliers are small and no function is penalized much less than another. The
proximal method is where they are not, and for small problems. The interior point takes
what these do not solve, explicit features, and what neither can describe. Whoever comes
next gets what the one before left, and the closer of two answers counts: both carry
their certificate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from lupi._convex.biases import settle_biases
from lupi._convex.interior.path import solve_interior
from lupi._convex.linalg import pivoted_factor, threads_for
from lupi._convex.problem import Features, Gram, Problem
from lupi._convex.proximal.layout import unsuited as unsuited_for_faces
from lupi._convex.proximal.outer import POLISHED_SIZE, solve_proximal
from lupi._convex.solution import Solution
from lupi._convex.working_set.flat import unsuited as unsuited_for_working_sets
from lupi._convex.working_set.outer import solve_working_set

__all__ = ["SOLVERS", "in_features", "solve"]

SOLVERS = ("auto", "interior", "proximal", "working_set")

# Measured on SVM+ with RBF kernels: the time of the interior point in working-set
# steps is this times Σn³/Σn over the functions, plus a part that does not grow.
INTERIOR_PRICE, INTERIOR_START = 0.03, 10_000
# Loading the compiled steps takes half a second once: felt where problems are small.
FEW_ROWS = 150
# The largest size of a multiplier times K/ρ with which working sets are the fastest for
# two functions, from this many rows on.
LIGHT, MANY_ROWS = 3.0, 3000
# Faces after which the proximal method would have found the right one.
MOST_FACES = 80
MOST_NEWTON_STEPS, MOST_WORKING_SET_STEPS = 200, 2_000_000
# Decision values of small problems are worth a smaller gap than was asked for.
POLISHED = 1e-4


def solve(
    problem: Problem, *, solver: str = "auto", tol: float = 1e-6, max_iter: int = -1
) -> Solution:
    """Solve a problem to a relative duality gap of tol.

    ``max_iter=-1`` leaves the number of iterations to the solver. The answer carries
    its own certificate; ``converged`` says whether the gap was reached.
    """
    if solver not in SOLVERS:
        raise ValueError(
            f"solver must be one of {', '.join(map(repr, SOLVERS))}, got {solver!r}."
        )
    # Gram matrices are factorized by SciPy, features multiplied by NumPy.
    package = "scipy" if _has_gram(problem) else "numpy"
    with threads_for(_width(problem), package):
        answers = (
            attempt(
                problem,
                tol=tol,
                max_iter=min(limit, max_iter) if max_iter > 0 else limit,
            )
            for attempt, limit in _attempts(problem, solver)
        )
        best = next(answers)
        while not _is_finished(best, tol) and (other := next(answers, None)):
            best = _closer(best, other)
        return settle_biases(best)


def _width(problem: Problem) -> int:
    """How large the systems of a problem may become: multipliers of one function."""
    lengths = [len(f.at_least) for f in problem.families if 0 in f.on]
    return max(problem.n_rows, sum(lengths))


def _attempts(problem: Problem, solver: str) -> Iterator[tuple[Callable, int]]:
    """Solvers to try in turn, and how many iterations each may take."""
    automatic = solver == "auto"
    if solver == "working_set":
        yield solve_working_set, MOST_WORKING_SET_STEPS
    elif automatic and suits_working_sets(problem):
        yield solve_working_set, working_set_budget(problem)
    if solver == "proximal":
        yield solve_proximal, MOST_NEWTON_STEPS
    elif automatic and unsuited_for_faces(problem) is None:
        yield solve_proximal, MOST_FACES
    if automatic or solver == "interior":
        yield solve_interior, MOST_NEWTON_STEPS
        if _has_gram(problem):
            # Rank-deficient kernels with extreme costs leave nothing of the barrier in
            # R + D; the weights of an explicit factor keep it apart.
            yield _solve_in_features, MOST_NEWTON_STEPS


def _is_finished(solution: Solution, tol: float) -> bool:
    """Whether no other solver need be asked; small problems get the closest answer."""
    small = solution.problem.n_rows <= POLISHED_SIZE
    return solution.converged and solution.is_optimal(tol * (POLISHED if small else 1))


def suits_working_sets(problem: Problem) -> bool:
    """Whether ``auto`` tries the working-set method first."""
    if problem.n_rows < FEW_ROWS or unsuited_for_working_sets(problem) is not None:
        return False
    if len(problem.functions) == 1:
        return True
    many = problem.n_rows >= MANY_ROWS and len(problem.functions) == 2
    return many and heaviness(problem) <= LIGHT


def heaviness(problem: Problem) -> float:
    """The mean size of a multiplier, times the largest mean of ``K_k/ρ_k``."""
    costs = [np.abs(f.cost).mean() for f in problem.functions if f.cost is not None]
    costs += [cost.mean() for cost in problem.slack_costs]
    kernels = [
        space.diagonal.mean() / problem.functions[k].weight
        for k, space in problem.spaces.items()
    ]
    return float(max(costs, default=np.inf) * max(kernels))


def working_set_budget(problem: Problem) -> int:
    """As many working-set steps as take the time of the interior point."""
    lengths = np.array([problem.length(k) for k in range(len(problem.functions))])
    growing = INTERIOR_PRICE * (lengths.astype(float) ** 3).sum() / lengths.sum()
    return INTERIOR_START + int(growing)


def _solve_in_features(problem: Problem, *, tol: float, max_iter: int) -> Solution:
    return solve_interior(in_features(problem), tol=tol, max_iter=max_iter)


def _closer(first: Solution, second: Solution) -> Solution:
    return second if second.relative_gap < first.relative_gap else first


def _has_gram(problem: Problem) -> bool:
    return any(isinstance(f.space, Gram) for f in problem.functions)


def in_features(problem: Problem) -> Problem:
    """The same problem with every Gram matrix replaced by the rows of a factor."""
    functions = [
        replace(f, space=Features(pivoted_factor(f.space.matrix)))
        if isinstance(f.space, Gram)
        else f
        for f in problem.functions
    ]
    return Problem(problem.n_rows, functions, problem.families, problem.global_rows)
