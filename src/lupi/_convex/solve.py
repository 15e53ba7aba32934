"""Choice of a solver.

``auto`` chooses by measured times. Kernels of low rank are solved by the interior-point
method in the features of their factors. LIBSVM is the fastest for plain SVMs, which
have one function and an ordinary slack, and the proximal method otherwise. The
interior-point method also solves problems with explicit features, with constraints on
all rows at once, and those that the others do not solve. The solution with the smallest
duality gap is returned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from lupi._convex.interior import has_room, solve_interior
from lupi._convex.libsvm import SVM, solve_libsvm
from lupi._convex.linalg import is_on_host, limit_threads, pivoted_factor
from lupi._convex.problem import Features, Gram, Problem
from lupi._convex.proximal import solve_proximal
from lupi._convex.proximal.faces import unsuited as unsuited_for_faces
from lupi._convex.solution import Solution, settle_biases
from lupi._convex.tuning import DEFAULT, Tuning
from lupi._words import listed

__all__ = ["SOLVERS", "in_features", "solve"]

SOLVERS = ("auto", "interior", "proximal")


def solve(
    problem: Problem,
    *,
    solver: str = "auto",
    tol: float = 1e-6,
    max_iter: int = -1,
    tuning: Tuning = DEFAULT,
) -> Solution:
    """Solve a problem to a relative duality gap of tol.

    ``max_iter=-1`` means the limit of the solver. ``converged`` of the solution is True
    if the gap was reached.
    """
    if solver not in SOLVERS:
        raise ValueError(
            f"solver must be {listed(map(repr, SOLVERS), 'or')}, but got {solver!r}."
        )
    # Gram matrices are factorized by SciPy, features multiplied by NumPy.
    has_gram = any(isinstance(space, Gram) for space in problem.spaces.values())
    package = "scipy" if has_gram else "numpy"
    threads = limit_threads(
        _width(problem), package, threaded_size=tuning.threaded_size
    )
    with threads:
        solutions = (
            attempt(
                problem,
                tol=tol,
                max_iter=min(limit, max_iter) if max_iter > 0 else limit,
                tuning=tuning,
            )
            for attempt, limit in _attempts(problem, solver, tuning)
        )
        best, aim = next(solutions), tol
        if problem.n_rows <= tuning.polished_size:
            interior = best.solver == "interior"
            aim *= tuning.recovered if interior else tuning.near_vertex
        while not best.is_optimal(aim) and (other := next(solutions, None)):
            best, aim = min(best, other, key=lambda one: one.relative_gap), tol
        return settle_biases(best)


def _width(problem: Problem) -> int:
    """Return the size of the linear systems: the multipliers of one function."""
    lengths = [len(f.at_least) for f in problem.families if 0 in f.on]
    return max(problem.n_rows, sum(lengths))


def _attempts(
    problem: Problem, solver: str, tuning: Tuning
) -> Iterator[tuple[Callable, int]]:
    """Yield the solvers to try in this order, and their limits on iterations."""
    most = tuning.max_newton_steps
    if solver == "proximal":
        yield solve_proximal, most
        return
    automatic = solver == "auto"
    grams = [s.matrix for s in problem.spaces.values() if isinstance(s, Gram)]
    on_host = bool(grams) and all(map(is_on_host, grams))
    features, suited, first, last = None, False, False, False
    if automatic:
        if on_host and len(grams) == len(problem.spaces):
            features = in_low_rank(problem, tuning)
        if features is not None:
            yield partial(_solve_other, features), most
        suited = unsuited_for_faces(problem) is None
        svm = SVM.of(problem, tuning) if suited else None
        if svm is not None and svm.is_exact and not svm.is_on_host:
            svm = None  # solved by the proximal method
        if svm is not None:
            limit = tuning.max_libsvm_steps if svm.is_exact else tuning.max_faces
            yield partial(solve_libsvm, svm), limit
        # With constraints on all rows at once, the inner problems need many steps.
        last = suited and any(0 in row.on for row in problem.global_rows)
        first = suited and svm is None and not last
    if first:
        yield solve_proximal, tuning.max_faces
    if not suited or has_room(problem):
        yield solve_interior, most
        if features is None and on_host:
            # For rank-deficient kernels with extreme costs, the barrier is lost to
            # rounding in R + D; with the weights of an explicit factor it is not.
            yield _solve_in_features, most
    if last:
        yield solve_proximal, most


def _solve_in_features(problem: Problem, **options) -> Solution:
    return solve_interior(in_features(problem), **options)


def _solve_other(other: Problem, problem: Problem, **options) -> Solution:
    return solve_interior(other, **options)


def in_low_rank(problem: Problem, tuning: Tuning) -> Problem | None:
    """Return the problem in features if its kernels have a low rank, otherwise None.

    With large costs, higher ranks count as low: small eigenvalues of the kernels then
    matter, and the other methods converge slowly.
    """
    n, together = problem.n_rows, tuning.low_rank
    if problem.relative_cost >= tuning.costly:
        together = tuning.low_rank_if_costly

    def is_low(ranks: list[float]) -> bool:
        return sum(ranks) <= together * n and max(ranks) <= tuning.low_rank_each * n

    grams = [space for space in problem.spaces.values() if isinstance(space, Gram)]
    if not is_low([gram.estimated_rank for gram in grams]):
        return None
    low = in_features(problem)
    ranks = [space.matrix.shape[1] for space in low.spaces.values()]
    return low if is_low(ranks) else None


def in_features(problem: Problem) -> Problem:
    """Return the problem with every Gram matrix replaced by the rows of a factor."""
    functions = [
        replace(f, space=Features(pivoted_factor(f.space.matrix)))
        if isinstance(f.space, Gram)
        else f
        for f in problem.functions
    ]
    return Problem(problem.n_rows, functions, problem.families, problem.global_rows)
