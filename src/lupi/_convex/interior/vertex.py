"""The vertex at the end of the central path.

At the end of the path one factor of every pair vanishes: a multiplier λ or the margin z
of its constraint, the distance w to the bound of a slack or the slack ζ itself. Once
the gap is small, the smaller factor can be identified. With these factors set to zero,
the others solve a linear system; the solution has exact zeros where the path has small
numbers. A wrong choice leads to a negative multiplier or a violated constraint, and is
corrected a few times; a result is kept only if it has a smaller gap. Kernels of low
rank do not determine the multipliers. If no vertex is found, small multipliers are set
to zero as far as the certificate allows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lupi._convex.interior.newton import Barrier, NewtonStep
from lupi._convex.linalg import NotPositiveDefinite
from lupi._convex.solution import Solution

__all__ = ["PathEnd", "copied", "polish", "without_small_multipliers"]

GUESSES = 6
REPEATS = 3
ENOUGH = 1e-13
SOFT, HARD = 1e-9, 1e9
ROUNDING = 1e-10
# Shares of the largest multiplier of a family that count as small, tried in this order.
SMALL = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10)


@dataclass(eq=False)
class PathEnd:
    """The slacks of the last point of the path: λ above its bound, z, w and ζ."""

    distance: np.ndarray
    margin: np.ndarray
    room: list[np.ndarray]
    slack: list[np.ndarray]


def polish(
    solution: Solution, end: PathEnd, newton: NewtonStep, enough: float
) -> Solution:
    """Return the vertex near the solution if its gap is smaller or at most `enough`."""
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
        if not _correct(candidate, zero, full, largest, unit):
            break
    return best


def without_small_multipliers(solution: Solution, end: PathEnd, tol: float) -> Solution:
    """Return the solution with as few rows in the first function as tol allows.

    If a multiplier acts on the first function and on another one, its value is added to
    the private multiplier of the other function, which therefore does not change.
    """
    problem = solution.problem
    partners = _private_partners(problem)
    movable, columns = np.zeros(problem.size), problem.balance_columns()
    parts = [
        part
        for part, family in zip(problem.slices, problem.families, strict=True)
        if 0 in family.on and not family.equality
    ]
    for part in parts:
        movable[part] = end.distance[part]
    for from_, to, factor in partners:
        columns[:, from_] -= factor * columns[:, to]
        movable[from_] = np.minimum(movable[from_], end.distance[to])
    for sharing, room in zip(problem.sharing, end.room, strict=True):
        for part in (problem.slices[q] for q in sharing):
            movable[part] = np.minimum(movable[part], room)

    def without(share: float) -> Solution:
        change, free = np.zeros(problem.size), movable.copy()
        for part in parts:
            distance = end.distance[part]
            small = distance <= share * distance.max(initial=0.0)
            change[part] = np.where(small, -distance, 0.0)
            free[part][small] = 0.0
        across = np.linalg.pinv((columns * free) @ columns.T, hermitian=True)
        change -= free * (columns.T @ (across @ (columns @ change)))
        for from_, to, factor in partners:
            change[to] -= factor * change[from_]
        multipliers = solution.multipliers + change
        small = (change == -end.distance) & (change < 0)
        multipliers[small] = problem.lower[small]
        return _moved(solution, np.maximum(multipliers, problem.lower))

    for share in SMALL:
        candidate = without(share)
        if candidate.is_optimal(tol):
            return candidate
    return solution


def _private_partners(problem) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return, for families on two functions, the private multipliers of the same rows.

    Of each family: the multipliers, the private ones, the ratio of their coefficients.
    """
    partners = []
    for k, private in problem.structure.private.items():
        for q in problem.structure.shared.get(k, ()) if private else ():
            partner, family = private[0], problem.families[q]
            place = np.full(problem.length(k), -1)
            place[problem.positions(partner, k)] = np.arange(
                len(problem.families[partner].at_least)
            )
            at = place[problem.positions(q, k)]
            rows = np.flatnonzero(at >= 0)
            at = at[rows]
            ratio = family.on[k][rows] / problem.families[partner].on[k][at]
            starts = problem.slices[q].start, problem.slices[partner].start
            partners.append((rows + starts[0], at + starts[1], ratio))
    return partners


def _moved(solution: Solution, multipliers: np.ndarray) -> Solution:
    """Return the solution with other multipliers and their expansions."""
    change = solution.problem.spread(multipliers - solution.multipliers)
    coefficients = [v + dv for v, dv in zip(solution.coefficients, change, strict=True)]
    return replace(solution, multipliers=multipliers, coefficients=coefficients)


def _clean(solution: Solution) -> Solution:
    """Set multipliers beyond their lower bound, by rounding errors, to the bound."""
    problem = solution.problem
    wrong = solution.multipliers < problem.lower
    if not wrong.any():
        return solution
    return _moved(solution, np.maximum(solution.multipliers, problem.lower))


def _correct(candidate, zero, full, largest, unit) -> bool:
    """Correct the choices that the candidate violates; return whether there are any."""
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
        # The value of a slack follows from the constraints with a multiplier; another
        # constraint is violated if it needs a larger slack.
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
        # A positive slack determines the only free multiplier that has it.
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
    slacks = [np.zeros(len(f)) for f in full]
    for _ in range(REPEATS):
        gradient = (
            problem.margins(problem.values(newton.penalized, biases))
            - problem.at_least
            + problem.curvature * multipliers
        )
        for sharing, slack, room, tie in zip(
            problem.sharing,
            slacks,
            problem.headroom(multipliers),
            tied,
            strict=True,
        ):
            if len(sharing) > 1:
                # The slack is the multiplier of Σλ = d.
                slack -= np.where(tie > 0, tie * room, 0.0)
                for q in sharing:
                    gradient[problem.slices[q]] += slack
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
    """Return a copy of the weights; a function without features has none."""
    if weights is None:
        return None
    return [None if w is None else w.copy() for w in weights]


def _curvature_scale(problem) -> np.ndarray:
    """Return the diagonal of H, bounded below by a millionth of its mean."""
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
