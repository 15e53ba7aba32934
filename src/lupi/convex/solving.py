"""Choose a solver by measured cost, run it on the right number of threads."""

from __future__ import annotations

from dataclasses import replace

from .biases import settle_biases
from .interior import solve_interior
from .linalg import pivoted_factor, threads_for
from .problem import Features, Gram, Problem
from .solution import Solution

__all__ = ["SOLVERS", "in_features", "solve"]

SOLVERS = ("auto", "interior", "smo")


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
    limit = max_iter if max_iter > 0 else 200
    with threads_for(problem.n_rows):
        solution = solve_interior(problem, tol=tol, max_iter=limit)
        if not solution.converged and max_iter < 0 and _has_gram(problem):
            # Rank-deficient kernels with extreme costs leave nothing of the barrier in
            # R + D; the weights of an explicit factor keep it apart.
            again = solve_interior(in_features(problem), tol=tol, max_iter=limit)
            if again.relative_gap < solution.relative_gap:
                solution = again
        return settle_biases(solution)


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
