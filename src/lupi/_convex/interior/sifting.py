"""Problems of many rows with hard constraints, of which few are needed.

A constraint without slack that holds with a margin has no multiplier, and its row
contributes to the linear costs only. The rows of a sample are solved first, with the
costs of all rows; then rows whose constraints are violated are added, until the
solution has a small duality gap for all rows.

The costs of the sampled rows are scaled up to those of all rows, and one further row
without constraints has the rest, so that the multipliers are of the size of the costs.

References
----------
R. Bixby, J. Gregory, I. Lustig, R. Marsten, D. Shanno, "Very large-scale linear
programming: a case study in combining interior point and simplex methods", Operations
Research 40(5), 1992.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import sparse

from lupi._convex.interior.blocks.local import restricted, sampled
from lupi._convex.problem import Function, Problem
from lupi._convex.solution import Solution
from lupi._convex.tuning import Tuning

# Gap for some of the rows; the rest is for violations of the others.
SHARE_OF_TOL = 0.5


def solve_sifted(
    problem: Problem,
    solve_rows: Callable[..., Solution],
    *,
    tol: float,
    max_iter: int,
    tuning: Tuning,
) -> Solution | None:
    """Return the solution from some of the rows; None if that needs too many.

    ``solve_rows(some, tol=..., aim=..., max_iter=...)`` solves their problem.
    """
    n_rows = problem.n_rows
    if n_rows < tuning.many_rows or problem.global_rows:
        return None
    share = min(tuning.sample_share, tuning.largest_sample / n_rows)
    sample = np.zeros(n_rows, dtype=bool)
    sample[sampled(0, n_rows, share)] = True
    n_sampled = int(sample.sum())
    own = [
        n_sampled if f.rows is None else sample[f.rows].sum() for f in problem.functions
    ]
    if min(own) < tuning.smallest_sample:
        return None
    kept, n_iter = sample.copy(), 0
    for family in problem.families:
        if family.slack is not None or family.equality:
            kept[slice(None) if family.rows is None else family.rows] = True
    while kept.sum() <= tuning.sifted_share * n_rows:
        some = _with_costs_of_all(problem, kept, sample)
        aim = SHARE_OF_TOL * tol
        found = solve_rows(some, tol=aim, aim=aim, max_iter=max_iter - n_iter)
        n_iter += found.n_iter
        if not found.converged or n_iter >= max_iter:
            return None
        multipliers = -problem.offset
        for family, part, here in zip(
            problem.families, problem.slices, some.slices, strict=True
        ):
            at = kept if family.rows is None else kept[family.rows]
            change = some.offset[here] - problem.offset[part][at]
            multipliers[part][at] = found.multipliers[here] + change
        solution = replace(
            found,
            problem=problem,
            multipliers=multipliers,
            coefficients=problem.coefficients(multipliers),
            n_iter=n_iter,
        )
        del some, found, multipliers  # frees memory for the certificate
        if solution.is_optimal(tol):
            return solution
        short = np.full(n_rows, -np.inf)
        for family, part in zip(problem.families, problem.slices, strict=True):
            at = slice(None) if family.rows is None else family.rows
            short[at] = np.maximum(short[at], solution.shortfall[part])
        short[kept] = -np.inf
        del solution
        kept[np.argpartition(short, -n_sampled)[-n_sampled:]] = True
    return None


def _with_costs_of_all(
    problem: Problem, kept: np.ndarray, sample: np.ndarray
) -> Problem:
    """Return the problem of some rows, with one more row for the rest of the costs."""
    rows = np.flatnonzero(kept)
    n_rows, some = len(rows), restricted(problem, rows)
    functions: list[Function] = []
    for f, own in zip(problem.functions, some.functions, strict=True):
        at = rows if f.rows is None else np.flatnonzero(kept[f.rows])
        cost, rest, size = own.cost, np.zeros(problem.length(len(functions))), 0.0
        if f.cost is not None and cost is not None:
            in_sample = sample[at if f.rows is None else f.rows[at]]
            scale = np.abs(f.cost).sum() / (np.abs(cost[in_sample]).sum() or 1.0)
            cost = np.where(in_sample, max(scale, 1.0), 1.0) * cost
            rest += f.cost
            rest[at] -= cost
            size = np.abs(rest).sum()
            rest /= size or 1.0
            cost = np.append(cost, size)
        space, basis = own.space, own.basis
        if f.space is not None and space is not None:
            total = (rest @ f.space.matrix)[None]
            if isinstance(space.matrix, np.ndarray):
                matrix = np.concatenate([space.matrix, total])
            else:
                matrix = sparse.vstack([space.matrix, sparse.csr_array(total)], "csr")
            space = replace(f.space, matrix=matrix)
        if f.basis is not None and basis is not None:
            basis = np.append(basis, rest @ f.basis)
        everywhere = None if own.rows is None else np.append(own.rows, n_rows)
        functions.append(
            replace(f, space=space, basis=basis, cost=cost, rows=everywhere)
        )
    families = [
        replace(family, rows=np.arange(n_rows)) if family.rows is None else family
        for family in some.families
    ]
    return Problem(n_rows + 1, functions, families)
