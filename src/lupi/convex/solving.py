"""Choose a solver by measured cost, run it on the right number of threads.

``auto`` starts with the working-set method, which needs a fifth to the whole of the
time of the interior point, and gives it as many steps as take that time. What is not
solved by then the interior point does, at no more than twice its own cost. It also
takes what the other cannot, problems in which a function is penalised so little that
working sets crawl (a small γ), and problems so small that loading the compiled steps,
half a second once, would be felt.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .biases import settle_biases
from .interior import solve_interior
from .linalg import pivoted_factor, threads_for
from .problem import Features, Gram, Problem
from .smo import solve_smo
from .smo_layout import unsuited
from .solution import Solution

__all__ = ["SOLVERS", "in_features", "solve"]

SOLVERS = ("auto", "interior", "smo")

# Measured on SVM+ with RBF kernels: the time of the interior point in working-set
# steps is this times Σn³/Σn over the functions, plus a part that does not grow.
INTERIOR_PRICE, INTERIOR_START = 0.03, 10_000
FEW_ROWS = 150
# Stiffness times rows from which on working sets crawl longer than a factorisation.
STIFF = 50_000.0
MOST_NEWTON_STEPS, MOST_WORKING_SET_STEPS = 200, 2_000_000


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
    # Gram matrices are factorised by SciPy, features multiplied by NumPy.
    package = "scipy" if _has_gram(problem) else "numpy"
    with threads_for(problem.n_rows, package):
        if solver == "smo":
            limit = max_iter if max_iter > 0 else MOST_WORKING_SET_STEPS
            solution = solve_smo(problem, tol=tol, max_iter=limit)
        elif solver == "auto" and starts_with_working_sets(problem):
            limit = working_set_budget(problem)
            limit = min(limit, max_iter) if max_iter > 0 else limit
            solution = solve_smo(problem, tol=tol, max_iter=limit)
            if not solution.converged:
                solution = _closer(solution, _interior(problem, tol, max_iter))
        else:
            solution = _interior(problem, tol, max_iter)
        return settle_biases(solution)


def starts_with_working_sets(problem: Problem) -> bool:
    """Whether ``auto`` tries the working-set method first."""
    return (
        problem.n_rows >= FEW_ROWS
        and unsuited(problem) is None
        and stiffness(problem) * problem.n_rows <= STIFF
    )


def stiffness(problem: Problem) -> float:
    """The largest mean of ``K_k/ρ_k`` over the functions, in units of the first."""
    means = [
        float(np.mean(f.space.diagonal)) / f.weight
        for f in problem.functions
        if f.space is not None
    ]
    return max(means) / means[0] if means[0] > 0 else np.inf


def working_set_budget(problem: Problem) -> int:
    """As many working-set steps as take the time of the interior point."""
    lengths = np.array([problem.length(k) for k in range(len(problem.functions))])
    growing = INTERIOR_PRICE * (lengths.astype(float) ** 3).sum() / lengths.sum()
    return INTERIOR_START + int(growing)


def _interior(problem: Problem, tol: float, max_iter: int) -> Solution:
    limit = max_iter if max_iter > 0 else MOST_NEWTON_STEPS
    solution = solve_interior(problem, tol=tol, max_iter=limit)
    if solution.converged or max_iter > 0 or not _has_gram(problem):
        return solution
    # Rank-deficient kernels with extreme costs leave nothing of the barrier in R + D;
    # the weights of an explicit factor keep it apart.
    return _closer(
        solution, solve_interior(in_features(problem), tol=tol, max_iter=limit)
    )


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
