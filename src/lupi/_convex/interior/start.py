"""Multipliers from which the interior-point method starts."""

from __future__ import annotations

import numpy as np

from lupi._convex.problem import Problem


def starting_multipliers(
    problem: Problem, *, centered: bool = False, typical: float | None = None
) -> np.ndarray:
    """Return multipliers inside their bounds, with v_k = 0 for the functions k ≥ 1.

    A small weight of a function amplifies v_k; the private multipliers of k are
    therefore chosen such that v_k = 0. Multipliers that act on the first function start
    between the size of a hard-margin solution, 1/mean K_ii, and their bound, because
    half of a large C would be far from any solution. ``typical`` is that size, for rows
    that are some of those of a larger problem.
    """
    root = problem.functions[0]
    if typical is None:
        typical = np.mean(root.space.diagonal) / root.weight if root.space else 0.0
        typical = 1.0 / typical if typical > 0 else 1.0
    multipliers = np.zeros(problem.size)  # λ itself, without the offset
    limits = np.full(problem.size, np.inf)
    for sharing, upper in zip(problem.sharing, problem.slack_costs, strict=True):
        for q in sharing:
            limits[problem.slices[q]] = upper / len(sharing)
    private = {k: qs[-1] for k, qs in problem.structure.private.items() if qs}
    for q, family in enumerate(problem.families):
        limit = limits[problem.slices[q]]
        for k in family.on:
            cost = problem.functions[k].cost
            if k > 0 and cost is not None:
                limit = np.minimum(limit, np.abs(cost[problem.positions(q, k)]))
            if k in private and private[k] != q:
                partner = np.full(problem.length(k), np.inf)
                own = limits[problem.slices[private[k]]]
                partner[problem.positions(private[k], k)] = own
                limit = np.minimum(limit, partner[problem.positions(q, k)])
        start = np.where(np.isfinite(limit), 0.5 * limit, typical)
        if 0 in family.on and not centered:
            start = np.minimum(start, np.sqrt(typical * start))
        multipliers[problem.slices[q]] = 0.0 if family.equality else start
    multipliers -= problem.offset
    for k, q in private.items():
        part, family = problem.slices[q], problem.families[q]
        missing = problem.coefficients(multipliers)[k][problem.positions(q, k)]
        target = multipliers[part] - missing / family.on[k]
        absolute = target + problem.offset[part]
        inside = (absolute > 0) & (absolute < 0.95 * limits[part] * 2)
        inside |= family.equality
        multipliers[part] = np.where(inside, target, multipliers[part])
    first = problem.size - len(problem.global_rows)
    multipliers[first:] = np.where(problem.is_equality[first:], 0.0, typical)
    coefficients = problem.coefficients(multipliers)
    for g, row in enumerate(problem.global_rows, first):
        (k, weight), *others = row.on.items()
        basis = problem.functions[k].basis
        if not (others or row.equality or k == 0 or basis is None):
            # A constraint on a single function starts with the balance of that one.
            missing = -(basis @ coefficients[k]) / (basis @ weight)
            multipliers[g] = max(multipliers[g], multipliers[g] + missing)
    # Not those with no room only, because d − d may be positive by rounding.
    crowded = problem.is_crowded(multipliers, 1e-3)
    return np.where(crowded, 0.4 * limits - problem.offset, multipliers)
