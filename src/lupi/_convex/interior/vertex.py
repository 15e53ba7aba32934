"""From a point near the end of the central path to the vertex it leads to.

At the end of the path one factor of every pair vanishes: a multiplier λ or the margin z
of its constraint, the room w under a slack or the slack ζ itself. Which one is plain to
see once the gap is small. Setting the vanishing ones to zero leaves a linear system for
the rest, whose solution is exact and has exact zeros where the path has only small
numbers. A wrong guess shows itself by a multiplier that turns negative or a constraint
that turns out violated, and is put right a few times; what does not improve the gap is
not kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lupi._convex.interior.newton import Barrier, NewtonStep
from lupi._convex.linalg import NotPositiveDefinite
from lupi._convex.solution import Solution

__all__ = ["PathEnd", "copied", "polish"]

GUESSES = 6
REPEATS = 3
ENOUGH = 1e-13
SOFT, HARD = 1e-9, 1e9
ROUNDING = 1e-10


@dataclass(eq=False)
class PathEnd:
    """The slacks of the last point of the path: λ from its bound, z, w and ζ."""

    distance: np.ndarray
    margin: np.ndarray
    room: list[np.ndarray]
    slack: list[np.ndarray]


def polish(
    solution: Solution, end: PathEnd, newton: NewtonStep, enough: float
) -> Solution:
    """Return the vertex near the solution, if there is one with a smaller gap.

    A vertex with a relative gap of ``enough`` is returned, smaller or not.
    """
    problem = solution.problem
    largest = np.ones(problem.size)
    for part in problem.slices:
        largest[part] = np.abs(end.distance[part]).max(initial=0.0) or 1.0
    unit = np.abs(problem.at_least).max(initial=0.0) or 1.0
    zero = ~problem.is_equality & (end.distance / largest < end.margin / unit)
    full = [
        w / cost.max() < z / unit
        for w, z, cost in zip(end.room, end.slack, problem.slack_costs, strict=True)
    ]
    best = solution
    for _ in range(GUESSES):
        try:
            candidate = _vertex(solution, zero, full, newton)
        except (NotPositiveDefinite, np.linalg.LinAlgError):
            return best
        if not np.isfinite(candidate.duality_gap):
            return best
        cleaned = _clean(candidate)
        if cleaned.is_optimal(enough):
            return cleaned
        if cleaned.duality_gap < best.duality_gap:
            best = cleaned
        changed = _correct(candidate, zero, full, largest, unit)
        if not changed:
            break
    return best


def _clean(solution: Solution) -> Solution:
    """Round multipliers of the wrong sign, which are rounding themselves, to zero."""
    problem = solution.problem
    wrong = solution.multipliers < problem.lower
    if not wrong.any():
        return solution
    multipliers = np.maximum(solution.multipliers, problem.lower)
    change = multipliers - solution.multipliers
    coefficients = [
        v + dv
        for v, dv in zip(solution.coefficients, problem.spread(change), strict=True)
    ]
    return replace(solution, multipliers=multipliers, coefficients=coefficients)


def _correct(candidate, zero, full, largest, unit) -> bool:
    """Move what the candidate shows to be on the wrong side; whether any did."""
    problem = candidate.problem
    negative = ~zero & (candidate.multipliers < problem.lower - ROUNDING * largest)
    short = problem.at_least - problem.margins(candidate.values)
    violated = zero & (short > ROUNDING * unit)
    changed = bool(negative.any())
    for q_set, is_full, room, cost in zip(
        problem.sharing,
        full,
        problem.headroom(candidate.multipliers),
        problem.slack_costs,
        strict=True,
    ):
        over = ~is_full & (room < -ROUNDING * cost)
        # A slack in use is that of the constraints with a multiplier; a constraint
        # without one is violated where it would need more.
        shorts = [short[problem.slices[q]] for q in q_set]
        used = [
            np.where(zero[problem.slices[q]], -np.inf, one)
            for q, one in zip(q_set, shorts, strict=True)
        ]
        slack = np.maximum.reduce(shorts if len(q_set) == 1 else used)
        for q, one in zip(q_set, shorts, strict=True):
            enough = np.where(is_full, slack, 0.0)
            violated[problem.slices[q]] &= one > enough + ROUNDING * unit
        idle = is_full & (slack < -ROUNDING * unit)
        is_full[over], is_full[idle] = True, False
        changed |= bool(over.any() or idle.any())
    zero[negative] = True
    zero[violated] = False
    return changed or bool(violated.any())


def _vertex(solution, zero, full, newton) -> Solution:
    """Return the point with the given zeros and full slacks that satisfies the rest."""
    problem = solution.problem
    scale = _curvature_scale(problem)
    multipliers = np.where(zero, problem.lower, solution.multipliers)
    fixed = zero.copy()
    tied = []
    for sharing, is_full, limit in zip(
        problem.sharing, full, problem.limits, strict=True
    ):
        parts = [problem.slices[q] for q in sharing]
        n_free = np.sum([~zero[part] for part in parts], axis=0)
        # A slack in use leaves nothing open for the only multiplier that has it.
        alone = is_full & (n_free == 1) if len(sharing) > 1 else is_full
        others = sum(np.where(zero[part], multipliers[part], 0.0) for part in parts)
        for part in parts:
            last = alone & ~zero[part] if len(sharing) > 1 else alone
            multipliers[part] = np.where(last, limit - others, multipliers[part])
            fixed[part] |= alone
        tied.append(np.where(is_full & ~alone, HARD * scale[parts[0]], 0.0))
    diagonal = problem.curvature + np.where(fixed, HARD, SOFT) * scale
    diagonal[problem.is_equality] = problem.curvature[problem.is_equality]
    newton.start(multipliers)
    newton.factorize(Barrier(diagonal, tied))
    biases = solution.biases.copy()
    unit = np.abs(problem.at_least).max(initial=0.0) or 1.0
    slack_pull = [np.zeros(len(f)) for f in full]
    for _ in range(REPEATS):
        gradient = (
            problem.margins(problem.values(newton.penalized, biases))
            - problem.at_least
            + problem.curvature * multipliers
        )
        for sharing, pull, room, tie in zip(
            problem.sharing,
            slack_pull,
            problem.headroom(multipliers),
            tied,
            strict=True,
        ):
            if len(sharing) > 1:
                # The slack in use is the multiplier of Σλ = d.
                pull -= np.where(tie > 0, tie * room, 0.0)
                for q in sharing:
                    gradient[problem.slices[q]] += pull
        right = np.where(fixed, 0.0, -gradient)
        balance = problem.balance(newton.coefficients)
        if np.abs(right).max() <= ENOUGH * unit:
            break
        step, shift = newton.solve(right, -balance, refine=True)
        step = np.where(fixed, 0.0, step)
        multipliers = multipliers + step
        biases = biases + shift
        newton.advance(1.0, step)
    return replace(
        solution,
        multipliers=multipliers,
        coefficients=[v.copy() for v in newton.coefficients],
        biases=biases,
        weights=copied(newton.weights),
    )


def copied(
    weights: list[np.ndarray | None] | None,
) -> list[np.ndarray | None] | None:
    """Weights that stay as they are; a function without features has none."""
    if weights is None:
        return None
    return [None if w is None else w.copy() for w in weights]


def _curvature_scale(problem) -> np.ndarray:
    """Return the diagonal of H, at least a millionth of its mean: the unit of SOFT."""
    scale = np.zeros(problem.size)
    for q, (part, family) in enumerate(
        zip(problem.slices, problem.families, strict=True)
    ):
        for k, a in family.on.items():
            function = problem.functions[k]
            if function.space is not None:
                at = problem.positions(q, k)
                scale[part] += a**2 * function.space.diagonal[at] / function.weight
    for g in range(problem.size - len(problem.global_rows), problem.size):
        scale[g] = 1.0
    floor = scale.mean() if scale.size else 1.0
    return np.maximum(scale, 1e-6 * floor if floor > 0 else 1.0)
