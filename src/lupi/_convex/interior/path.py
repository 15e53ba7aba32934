"""A primal–dual interior-point method for every problem of this room.

Mehrotra's predictor–corrector on the dual of :mod:`.problem`. With ``z`` the slack of a
row constraint (the multiplier of λ ≥ 0), ``w = d − Σλ`` the room under a linear slack
and ``ζ`` that slack (the multiplier of w ≥ 0), the central path is::

    Σ_k a_qk ∘ t_k − r_q + λ_q/q + ζ − z = 0        (stationarity)
    e_k·v_k = 0                                     (balance)
    λ ∘ z = μ,   w ∘ ζ = μ                          (complementarity)

The Newton step is the business of the space: :mod:`.kernel_newton` for Gram matrices,
:mod:`.linear` for explicit features. Nothing here depends on which it is, but for the
start: with very many rows, :mod:`.smoothing` finds one near the end of the path.

References
----------
S. Mehrotra, "On the implementation of a primal-dual interior point method", SIAM J.
Optimization 2(4), 1992.
"""

from __future__ import annotations

import numpy as np

from lupi._convex.interior.features import FeatureNewton
from lupi._convex.interior.newton import Barrier, NewtonStep, newton_for
from lupi._convex.interior.smoothed_start import (
    MOST_FOLLOWED,
    OnPath,
    follow,
    sampled,
    suits_smoothing,
)
from lupi._convex.interior.vertex import PathEnd, copied, polish
from lupi._convex.linalg import NotPositiveDefinite
from lupi._convex.problem import Problem
from lupi._convex.solution import Solution

__all__ = ["solve_interior"]

STEP_TO_BOUNDARY = 0.995
SHORTEST_STEP = 1e-10
PATIENCE, PATIENCE_POLISHING = 30, 6
POLISHED_SIZE = 500
POLISH_AT, ONCE = (1e-2, 1e-5), (1.0,)
ROUGH = 1e-4  # for a sample, whose functions are only a start


class _Iterate:
    """λ, z for the constraints; w, ζ for the linear slacks; b for the balances."""

    def __init__(
        self, problem: Problem, newton: NewtonStep, start: OnPath | None = None
    ):
        self.problem, self.newton = problem, newton
        if start is not None:
            self.multipliers, self.margin = start.multipliers, start.margin
            self.room, self.slack = start.room, start.slack
            self.biases = start.biases
            return
        self.multipliers = _starting_multipliers(problem)
        self.biases = np.zeros(len(problem.biased))
        newton.start(self.multipliers)
        # Carried along rather than recomputed as d − Σλ, which loses its digits as a
        # multiplier comes close to its bound.
        self.room = problem.room(self.multipliers)
        # Any positive start is allowed; one whose stationarity holds is the best.
        gradient = self._gradient()
        floor = max(np.abs(gradient).mean(), 1e-3 * np.abs(problem.at_least).max())
        self.slack = [
            np.maximum(-_worst(problem, gradient, sharing, np.minimum), 0.0) + floor
            for sharing in problem.sharing
        ]
        self.margin = np.where(
            problem.is_equality, 0.0, np.maximum(self._with_slack(gradient), floor)
        )

    @property
    def values(self) -> list[np.ndarray]:
        return self.problem.values(self.newton.penalized, self.biases)

    def _gradient(self) -> np.ndarray:
        problem = self.problem
        return (
            problem.margins(self.values)
            - problem.at_least
            + problem.curvature * self.multipliers
        )

    def _with_slack(self, vector: np.ndarray) -> np.ndarray:
        """``vector + ζ`` where a family has a linear slack."""
        out = vector.copy()
        for slack, sharing in zip(self.slack, self.problem.sharing, strict=True):
            for q in sharing:
                out[self.problem.slices[q]] += slack
        return out

    def stationarity(self) -> np.ndarray:
        return self._with_slack(self._gradient()) - self.margin

    def complementarity(self) -> float:
        """μ: the mean product of a multiplier and its slack."""
        total = self.multipliers @ self.margin
        count = int((~self.problem.is_equality).sum())
        for room, slack in zip(self.room, self.slack, strict=True):
            total += room @ slack
            count += room.size
        return float(total / count)

    def end(self) -> PathEnd:
        """The slacks as they are now."""
        return PathEnd(
            self.margin.copy(),
            [w.copy() for w in self.room],
            [z.copy() for z in self.slack],
        )

    def solution(self, n_iter: int, converged: bool) -> Solution:
        newton = self.newton
        solution = Solution(
            self.problem,
            self.multipliers.copy(),
            [v.copy() for v in newton.coefficients],
            self.biases.copy(),
            n_iter,
            converged,
            "interior",
            copied(newton.weights),
        )
        solution.penalized = newton.penalized
        return solution


def _worst(problem, vector, sharing, reduce):
    return reduce.reduce([vector[problem.slices[q]] for q in sharing])


def _starting_multipliers(problem: Problem) -> np.ndarray:
    """Half-way inside every bound, and with v_k = 0 for the functions k ≥ 1.

    A function whose weight is small multiplies whatever v_k it starts with; the private
    multipliers of k are therefore chosen to balance the shared ones. Multipliers that
    act on the first function start between the size of a hard-margin solution,
    1/mean K_ii, and their bound: a large C would otherwise start far from any solution.
    """
    root = problem.functions[0]
    typical = np.mean(root.space.diagonal) / root.weight if root.space else 0.0
    typical = 1.0 / typical if typical > 0 else 1.0
    multipliers = np.zeros(problem.size)
    limits = [np.full(len(f.at_least), np.inf) for f in problem.families]
    for sharing, upper in zip(problem.sharing, problem.slack_costs, strict=True):
        for q in sharing:
            limits[q] = np.minimum(limits[q], upper / len(sharing))
    private: dict[int, int] = {}
    for q, family in enumerate(problem.families):
        alone = [k for k in family.on if k > 0]
        if alone and 0 not in family.on:
            private[alone[0]] = q
    for q, family in enumerate(problem.families):
        limit = limits[q]
        for k in family.on:
            cost = problem.functions[k].cost
            if k > 0 and cost is not None:
                limit = np.minimum(limit, np.abs(cost[problem.positions(q, k)]))
            if k in private and private[k] != q:
                partner = np.full(problem.length(k), np.inf)
                partner[problem.positions(private[k], k)] = limits[private[k]]
                limit = np.minimum(limit, partner[problem.positions(q, k)])
        start = np.where(np.isfinite(limit), 0.5 * limit, typical)
        if 0 in family.on:
            start = np.minimum(start, np.sqrt(typical * start))
        multipliers[problem.slices[q]] = 0.0 if family.equality else start
    for k, q in private.items():
        part, family = problem.slices[q], problem.families[q]
        missing = problem.coefficients(multipliers)[k][problem.positions(q, k)]
        wanted = multipliers[part] - missing / family.on[k]
        good = family.equality | ((wanted > 0) & (wanted < 0.95 * limits[q] * 2))
        multipliers[part] = np.where(good, wanted, multipliers[part])
    first = problem.size - len(problem.global_rows)
    multipliers[first:] = np.where(problem.is_equality[first:], 0.0, typical)
    coefficients = problem.coefficients(multipliers)
    for g, row in enumerate(problem.global_rows, first):
        (k, weight), *others = row.on.items()
        basis = problem.functions[k].basis
        if not (others or row.equality or k == 0 or basis is None):
            # The one constraint on a function of its own begins by balancing it.
            missing = -(basis @ coefficients[k]) / (basis @ weight)
            multipliers[g] = max(multipliers[g], multipliers[g] + missing)
    for room, sharing, upper in zip(
        problem.room(multipliers), problem.sharing, problem.slack_costs, strict=True
    ):
        # Not <= 0: what is left of d − d by rounding would be no room either.
        crowded = room <= 1e-3 * upper
        for q in sharing:
            part = problem.slices[q]
            multipliers[part] = np.where(crowded, 0.4 * limits[q], multipliers[part])
    return multipliers


def solve_interior(problem: Problem, *, tol: float, max_iter: int) -> Solution:
    """Solve to a relative duality gap of tol; the best iterate if it cannot.

    Small problems go on to the vertex at the end of the path, or as close to it as
    1e-5 tol: a gap bounds the objective, and decision values only by its square root.
    """
    if max_iter > MOST_FOLLOWED and suits_smoothing(problem):
        found = _from_sample(problem, tol=tol, max_iter=max_iter)
        if found is not None and found.converged:
            return found
    newton = newton_for(problem)
    return _along_path(_Iterate(problem, newton), tol=tol, max_iter=max_iter)


def _from_sample(problem: Problem, *, tol: float, max_iter: int) -> Solution | None:
    """Solve with a start near the end of the path; None where there is none."""
    rough = solve_interior(sampled(problem), tol=ROUGH, max_iter=max_iter)
    newton = FeatureNewton(problem)
    try:
        start = follow(problem, newton, rough.weights or [], rough.biases)
    except (NotPositiveDefinite, FloatingPointError, np.linalg.LinAlgError):
        return None
    if start is None:
        return None
    state = _Iterate(problem, newton, start)
    found = _along_path(state, tol=tol, max_iter=max_iter - start.n_steps)
    found.n_iter += start.n_steps
    return found


def _along_path(state: _Iterate, *, tol: float, max_iter: int) -> Solution:
    problem, newton = state.problem, state.newton
    best = state.solution(0, False)
    small = problem.n_rows <= POLISHED_SIZE
    aims = [tol * share for share in (POLISH_AT if small else ONCE)]
    n_iter, stalled, lowest, end = 0, 0, np.inf, None
    while n_iter < max_iter and aims:
        n_iter += 1
        try:
            step = _predictor_corrector(state, newton)
        except (NotPositiveDefinite, FloatingPointError, np.linalg.LinAlgError):
            break
        candidate = state.solution(n_iter, False)
        if not np.isfinite(candidate.duality_gap):
            break
        merit = state.complementarity() + np.abs(state.stationarity()).max()
        stalled = 0 if merit < 0.9 * lowest else stalled + 1
        lowest = min(lowest, merit)
        if candidate.relative_gap < best.relative_gap:
            best, end = candidate, state.end()
        if best.is_optimal(aims[0]):
            aims.pop(0)
            if small and end is not None:
                held = newton.hold()
                vertex = polish(best, end, newton)
                newton.resume(held)
                if vertex.is_optimal(tol * POLISH_AT[-1]):
                    best, end = vertex, None
                    break
        patience = PATIENCE_POLISHING if best.is_optimal(tol) else PATIENCE
        if step < SHORTEST_STEP or stalled > patience:
            break
    if small and end is not None:
        best = polish(best, end, newton)
    best.n_iter = n_iter
    best.converged = best.is_optimal(tol)
    return best


def _predictor_corrector(state: _Iterate, newton) -> float:
    """One Mehrotra step, taken in place; returns its length."""
    problem = state.problem
    free = problem.is_equality
    safe = np.where(free, 1.0, state.multipliers)
    barrier = Barrier(
        diagonal=problem.curvature + np.where(free, 0.0, state.margin / safe),
        shared=[z / w for z, w in zip(state.slack, state.room, strict=True)],
    )
    newton.factorize(barrier)
    stationarity = state.stationarity()
    balance = problem.balance(newton.coefficients)
    mu = state.complementarity()

    def direction(on_multipliers, on_room, *, refine):
        right = -stationarity - np.where(free, 0.0, on_multipliers / safe)
        for missed, room, sharing in zip(
            on_room, state.room, problem.sharing, strict=True
        ):
            for q in sharing:
                right[problem.slices[q]] += missed / room
        step, biases = newton.solve(right, -balance, refine=refine)
        margin = np.where(free, 0.0, (-on_multipliers - state.margin * step) / safe)
        room = [
            -sum(step[problem.slices[q]] for q in sharing)
            for sharing in problem.sharing
        ]
        slack = [
            (-missed - z * dw) / w
            for missed, z, dw, w in zip(
                on_room, state.slack, room, state.room, strict=True
            )
        ]
        return step, margin, room, slack, biases

    products = state.multipliers * state.margin
    room_products = [w * z for w, z in zip(state.room, state.slack, strict=True)]
    step, margin, room, slack, _ = direction(products, room_products, refine=False)
    length = _step_length(state, step, margin, room, slack)
    after = (state.multipliers + length * step)[~free] @ (
        state.margin + length * margin
    )[~free]
    count = int((~free).sum())
    for w, z, dw, dz in zip(state.room, state.slack, room, slack, strict=True):
        after += (w + length * dw) @ (z + length * dz)
        count += w.size
    target = mu * min(max(after / count / mu, 0.0), 1.0) ** 3
    step, margin, room, slack, biases = direction(
        products + step * margin - target,
        [
            p + dw * dz - target
            for p, dw, dz in zip(room_products, room, slack, strict=True)
        ],
        refine=True,
    )
    length = min(1.0, STEP_TO_BOUNDARY * _step_length(state, step, margin, room, slack))
    if not np.isfinite(length):
        raise FloatingPointError("the Newton step is not finite")
    state.multipliers += length * step
    state.margin += length * margin
    state.biases += length * biases
    newton.advance(length, step)
    for w, dw, z, dz in zip(state.room, room, state.slack, slack, strict=True):
        w += length * dw
        z += length * dz
    return length


def _step_length(state, step, margin, room, slack) -> float:
    """The longest step that keeps everything positive; may exceed one."""
    bounded = ~state.problem.is_equality
    pairs = [
        (state.multipliers[bounded], step[bounded]),
        (state.margin[bounded], margin[bounded]),
        *zip(state.room, room, strict=True),
        *zip(state.slack, slack, strict=True),
    ]
    fastest = max(
        (float((-change / value).max()) for value, change in pairs if value.size),
        default=0.0,
    )
    return 1.0 / fastest if fastest > 1.0 / 1e3 else 1e3
