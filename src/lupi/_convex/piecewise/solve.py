"""Solution of a `PiecewiseProblem`.

Clarabel solves it with a sparse factorization. Problems with many dense rows, for which
that takes minutes instead of seconds, are solved by `lupi._convex.piecewise.dense`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from lupi._convex.piecewise.dense import DenseInterior
from lupi._convex.piecewise.problem import PiecewiseProblem, PiecewiseSolution
from lupi._convex.tuning import DEFAULT, Tuning
from lupi._optional import optional

if TYPE_CHECKING:
    import clarabel
else:
    clarabel = optional("clarabel", "Learning from rules")

__all__ = ["solve_piecewise"]


def solve_piecewise(
    problem: PiecewiseProblem, tol: float, max_iter: int, tuning: Tuning = DEFAULT
) -> PiecewiseSolution:
    """Solve by the dense or the sparse solver, depending on the shape."""
    equalities = np.isinf(problem.down).any()
    dense = isinstance(problem.data, np.ndarray)
    many = dense and problem.data.size >= tuning.dense_entries
    if many and problem.P.shape[0] <= tuning.dense_variables and not equalities:
        found = PiecewiseSolution(*DenseInterior(problem).solve(tol, max_iter))
        # It squares the condition number and may fail for columns of very different
        # scales; the sparse solver is slower and does not.
        if found.converged or found.n_iter == max_iter - 1:
            return found
    return _solve_sparse(problem, tol, max_iter)


def _solve_sparse(
    problem: PiecewiseProblem, tol: float, max_iter: int
) -> PiecewiseSolution:
    """Solve by Clarabel in (x, slack), with one slack for each finite cost."""
    up, down = problem.up, problem.down
    equal = np.flatnonzero(np.isinf(up) & np.isinf(down))
    above = np.setdiff1d(np.flatnonzero(up > 0), equal)
    below = np.setdiff1d(np.flatnonzero(down > 0), equal)
    cost = np.concatenate([up[above], down[below]])
    soft = np.flatnonzero(np.isfinite(cost))
    n_x, n_soft = problem.P.shape[0], len(soft)

    G = problem.G
    sides = sp.vstack([G[equal], -G[above], G[below]], format="csc")
    # Each slack occurs in its side and in the constraint that it is not negative.
    place = np.concatenate(
        [len(equal) + soft, len(equal) + len(cost) + np.arange(n_soft)]
    )
    slack = sp.csc_array(
        (np.full(2 * n_soft, -1.0), (place, np.tile(np.arange(n_soft), 2))),
        shape=(sides.shape[0] + n_soft, n_soft),
    )
    sides.resize(slack.shape[0], n_x)
    right = np.concatenate(
        [problem.h[equal], -problem.h[above], problem.h[below], np.zeros(n_soft)]
    )
    P = sp.triu(problem.P, format="csc")
    P.resize(n_x + n_soft, n_x + n_soft)
    cones = [
        clarabel.ZeroConeT(len(equal)),
        clarabel.NonnegativeConeT(len(right) - len(equal)),
    ]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = max_iter
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
    result = clarabel.DefaultSolver(
        P,
        np.concatenate([np.zeros(n_x), cost[soft]]),
        sp.hstack([sides, slack], format="csc"),
        right,
        cones,
        settings,
    ).solve()
    z = np.array(result.z)
    multipliers = np.zeros(len(up))
    multipliers[equal] = -z[: len(equal)]
    multipliers[above] += z[len(equal) :][: len(above)]
    multipliers[below] -= z[len(equal) + len(above) :][: len(below)]
    return PiecewiseSolution(
        x=np.array(result.x)[:n_x],
        multipliers=multipliers,
        dual_value=float(result.obj_val_dual),
        n_iter=int(result.iterations),
        converged=str(result.status) == "Solved",
    )
