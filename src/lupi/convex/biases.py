"""Where the optimal bias is an interval, its midpoint.

With the functions f_k fixed, the biases solve a small linear programme::

    min  Σ_k (c_k·e_k) b_k + Σ d ζ    s.t.  Σ_k a_qk e_k b_k + ζ ≥ r_q − Σ_k a_qk f_k

Constraints that hold with equality and a positive multiplier pin the biases down when
their rows have full rank. Only otherwise is the programme solved, for the two ends of
the optimal interval of the first bias, and the multipliers stay as they are: every bias
of the interval is optimal with them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .problem import Problem
from .solution import Solution

__all__ = ["settle_biases"]

STRICT = 1e-4
FLAT = 1e-9


def settle_biases(solution: Solution) -> Solution:
    """The same solution with the first bias in the middle of its optimal interval."""
    problem = solution.problem
    if not problem.biased or _pinned(solution):
        return solution
    if any(
        family.slack is not None and family.slack.squared is not None
        for family in problem.families
    ):
        return solution  # a squared slack is strictly convex in the bias
    biases = _midpoint(solution)
    if biases is None:
        return solution
    settled = replace(solution, biases=biases)
    better = settled.duality_gap <= 2 * max(solution.duality_gap, FLAT * solution.scale)
    return settled if better else solution


def _pinned(solution: Solution) -> bool:
    """Whether the strictly active constraints determine every bias."""
    problem, multipliers = solution.problem, solution.multipliers
    open_slack = np.ones(problem.size, dtype=bool)
    for room, cost, sharing in zip(
        problem.room(multipliers), problem.slack_costs, problem.sharing, strict=True
    ):
        for q in sharing:
            open_slack[problem.slices[q]] = room > STRICT * cost
    active = np.abs(multipliers) > STRICT * np.abs(multipliers).max(initial=0.0)
    columns = problem.balance_columns()[:, active & open_slack]
    scale = np.abs(columns).max(axis=1, initial=0.0)
    if not (scale > 0).all():
        return False
    columns = columns / scale[:, None]
    return np.linalg.matrix_rank(columns @ columns.T) == len(columns)


def _midpoint(solution: Solution) -> np.ndarray | None:
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack, vstack

    problem: Problem = solution.problem
    n_biases, size = len(problem.biased), problem.size
    blocks = [csr_array(problem.balance_columns().T)]
    for slack, sharing in zip(problem.slack_costs, problem.sharing, strict=True):
        block = csr_array((size, len(slack)))
        for q in sharing:
            part = problem.slices[q]
            lift = csr_array((part.start, len(slack)))
            sink = csr_array((size - part.stop, len(slack)))
            block = block + vstack([lift, eye_array(len(slack)), sink])
        blocks.append(block)
    left = hstack(blocks, format="csr")
    right = problem.at_least - problem.margins(solution.penalised)
    cost = np.concatenate([problem.bias_costs, *problem.slack_costs])
    bounds = [(None, None)] * n_biases + [(0, None)] * (len(cost) - n_biases)
    free = problem.free
    equalities = {"A_eq": left[free], "b_eq": right[free]} if free.any() else {}
    unit = cost / max(np.abs(cost).max(), np.finfo(float).tiny)

    def solve(objective, extra=None, ceiling=None, fixed=None):
        upper, limit = -left[~free], -right[~free]
        if extra is not None:
            upper = vstack([upper, csr_array(extra[None])])
            limit = np.append(limit, ceiling)
        limits = list(bounds)
        if fixed is not None:
            limits[0] = (fixed, fixed)
        return linprog(objective, upper, limit, **equalities, bounds=limits)

    best = solve(unit)
    if best.status != 0:
        return None
    ceiling = best.fun + FLAT * max(abs(best.fun), 1.0)
    first = np.zeros(len(cost))
    first[0] = 1.0
    low, high = solve(first, unit, ceiling), solve(-first, unit, ceiling)
    if low.status != 0 or high.status != 0:
        return None
    middle = solve(unit, fixed=0.5 * (low.x[0] + high.x[0]))
    return middle.x[:n_biases] if middle.status == 0 else None
