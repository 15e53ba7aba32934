"""A start near the end of the central path, for many rows in feature space.

With the functions given, the barrier problem of every row has its own solution::

    λ ∘ z = μ,   w ∘ ζ = μ,    z = Σ_k a_k t_k − r + ζ,   w = d − Σλ

one equation for ζ. What is left is a smooth function of the weights and biases, whose
derivative by ``Σ a_k t_k`` is −λ: Newton's method with a line search moves freely on
it. The steps of the primal–dual method end at the boundary of some row, the sooner the
more rows there are; from where this ends it needs but a few. It begins with the
functions of a sample of the rows.

References
----------
C. Chen, O. Mangasarian, "A class of smoothing functions for nonlinear and mixed
complementarity problems", Computational Optimization and Applications 5, 1996.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lupi._convex.interior.features import FeatureNewton
from lupi._convex.interior.newton import Barrier
from lupi._convex.line_search import first_zero
from lupi._convex.problem import Features, Function, Problem, Rows, Slack
from lupi._convex.tuning import DEFAULT, Tuning

__all__ = ["OnPath", "follow", "sampled", "suits_smoothing"]

# Rows at a time, so that the arrays stay in the cache.
BLOCK, ROUNDING, MOST_ROOTS = 2**15, 1e-12, 40


@dataclass(eq=False)
class OnPath:
    """λ, z for the constraints; w, ζ for the slacks; b; and the Newton steps taken.

    ``multipliers`` are measured from the offset, ``distance`` from their lower bound.
    """

    multipliers: np.ndarray
    distance: np.ndarray
    margin: np.ndarray
    room: list[np.ndarray]
    slack: list[np.ndarray]
    biases: np.ndarray
    n_steps: int = 0


def suits_smoothing(problem: Problem, tuning: Tuning = DEFAULT) -> bool:
    """Whether there are many rows, and all losses are those of linear slacks."""
    lengths = [problem.length(k) for k in range(len(problem.functions))]
    return (
        problem.n_rows >= tuning.smoothed_size
        and not problem.global_rows
        and min(lengths) * tuning.sample_share >= tuning.smallest_sample
        and all(isinstance(f.space, Features) for f in problem.functions)
        and all(
            family.slack is not None
            and family.slack.linear is not None
            and (family.slack.linear > 0).all()
            for family in problem.families
        )
    )


def sampled(problem: Problem, share: float) -> Problem:
    """Return the problem of some of the rows, each of which counts for several."""
    order = np.random.default_rng(0).permutation(problem.n_rows)
    rows = np.sort(order[: int(share * problem.n_rows)])
    place = np.full(problem.n_rows, -1)
    place[rows] = np.arange(len(rows))

    def chosen(own):
        """Which rows of a function or family are in the sample, and where."""
        if own is None:
            return rows, None
        at = np.flatnonzero(place[own] >= 0)
        return at, place[own[at]]

    functions = []
    for k, space in problem.spaces.items():
        f = problem.functions[k]
        at, own = chosen(f.rows)
        functions.append(
            Function(
                Features(space.matrix[at]),
                f.weight,
                None if f.basis is None else f.basis[at],
                None if f.cost is None else f.cost[at] / share,
                own,
            )
        )
    slacks = {
        q: (s, price)
        for s, (price, sharing) in enumerate(
            zip(problem.slack_costs, problem.sharing, strict=True)
        )
        for q in sharing
    }
    cut: dict[int, Slack] = {}
    families = []
    for q, family in enumerate(problem.families):
        at, own = chosen(family.rows)
        s, price = slacks[q]
        slack = cut.setdefault(s, Slack(linear=price[at] / share))
        on = {k: a[at] for k, a in family.on.items()}
        families.append(Rows(on, family.at_least[at], own, slack))
    return Problem(len(rows), functions, families)


def follow(
    problem: Problem,
    newton: FeatureNewton,
    weights: list,
    biases: np.ndarray,
    tuning: Tuning = DEFAULT,
) -> OnPath | None:
    """Go along the path from these functions on; ``newton`` ends with those found.

    None where the path is lost.
    """
    newton.begin(weights)
    unit = float(np.mean(np.concatenate(problem.slack_costs)))
    n_steps = 0
    for mu in tuning.smoothed_path:
        for _ in range(tuning.smoothed_steps):
            here = _centered(problem, newton, biases, mu * unit)
            newton.coefficients = problem.coefficients(here.multipliers)
            shares = zip(here.slack, here.room, strict=True)
            newton.factorize(
                Barrier(here.margin / here.distance, [z / w for z, w in shares])
            )
            balance = problem.balance(newton.coefficients)
            nothing = np.zeros(problem.size)
            _, shift = newton.solve(nothing, -balance, refine=True)
            length, gain = _search(problem, newton, here, shift, mu * unit)
            newton.move(length)
            biases = biases + length * shift
            n_steps += 1
            if (
                length == 1.0
                and gain <= tuning.smoothed_gain * mu * unit * problem.n_rows
            ):
                break
        else:
            return None
    end = _centered(problem, newton, biases, mu * unit)
    newton.coefficients = problem.coefficients(end.multipliers)
    end.n_steps = n_steps
    return end


def _search(problem, newton, here: OnPath, shift, mu: float) -> tuple[float, float]:
    """How far to go in the last direction, and the first slope."""
    moved = problem.values(newton.direction_values(), shift)
    start, bend = newton.slope_and_bend()
    for function, dt in zip(problem.functions, moved, strict=True):
        if function.cost is not None:
            start += function.cost @ dt
    across = problem.margins(moved)
    values = problem.values(newton.penalized, here.biases)
    excess = problem.margins(values) - problem.at_least

    def slope(length: float) -> float:
        distance = _balanced_rows(problem, excess + length * across, mu)[0]
        return start + length * bend - distance @ across

    return first_zero(slope), -float(start - here.distance @ across)


def _centered(problem, newton, biases: np.ndarray, mu: float) -> OnPath:
    values = problem.values(newton.penalized, biases)
    excess = problem.margins(values) - problem.at_least
    distance, margin, room, slack = _balanced_rows(problem, excess, mu)
    multipliers = distance - problem.offset
    return OnPath(multipliers, distance, margin, room, slack, biases)


def _balanced_rows(problem: Problem, excess: np.ndarray, mu: float):
    """λ, z, w and ζ of every row, from ``Σ a_k t_k − r``."""
    margin = np.empty(problem.size)
    rooms, slacks = [], []
    for price, sharing in zip(problem.slack_costs, problem.sharing, strict=True):
        slack = np.empty(len(price))
        parts = [problem.slices[q] for q in sharing]
        for begin in range(0, len(price), BLOCK):
            block = slice(begin, begin + BLOCK)
            over = [excess[part][block] for part in parts]
            low = np.maximum.reduce([np.zeros(len(over[0])), *(-g for g in over)])
            # Apart from what is common to them, so that no digits are lost.
            shifts = [low, *(g + low for g in over)]
            root = _root(shifts, price[block] / mu)
            slack[block] = low + root
            for part, h in zip(parts, shifts[1:], strict=True):
                margin[part][block] = h + root
        slacks.append(slack)
        rooms.append(mu / slack)
    return mu / margin, margin, rooms, slacks


def _root(shifts: list[np.ndarray], total: np.ndarray) -> np.ndarray:
    """X > 0 with ``Σ 1/(h + x) = total``, of h ≥ 0 of which the least is 0.

    The reciprocal of the sum is concave in x, so that Newton's method climbs to its
    root from below.
    """
    root = 1.0 / total
    for _ in range(MOST_ROOTS):
        parts = [1.0 / (h + root) for h in shifts]
        found = np.add.reduce(parts)
        squares = np.add.reduce([p * p for p in parts])
        step = found * (found / total - 1.0) / squares
        root = root + step
        if (np.abs(step) <= ROUNDING * root).all():
            break
    return root
