"""A primal–dual interior-point method for every problem of this room.

Mehrotra's predictor–corrector on the dual of :mod:`.problem`. With ``z`` the slack of a
row constraint (the multiplier of λ ≥ 0), ``w = d − Σλ`` the room under a linear slack
and ``ζ`` that slack (the multiplier of w ≥ 0), the central path is::

    Σ_k a_qk ∘ t_k − r_q + λ_q/q + ζ − z = 0        (stationarity)
    e_k·v_k = 0                                     (balance)
    λ ∘ z = μ,   w ∘ ζ = μ                          (complementarity)

The Newton step is the business of the space: :mod:`.kernel_newton` for Gram matrices,
:mod:`.linear` for explicit features. Nothing here depends on which it is.

References
----------
S. Mehrotra, "On the implementation of a primal-dual interior point method", SIAM J.
Optimization 2(4), 1992.
"""

from __future__ import annotations

import numpy as np

from .linalg import NotPositiveDefinite
from .newton import Barrier, NewtonStep, newton_for
from .polish import PathEnd, polish
from .problem import Problem
from .solution import Solution

__all__ = ["solve_interior"]

STEP_TO_BOUNDARY = 0.995
SHORTEST_STEP = 1e-10
PATIENCE, PATIENCE_POLISHING = 12, 2
POLISHED_SIZE, POLISHING = 1000, 1e-5


class _Iterate:
    """λ, z for the constraints; w, ζ for the linear slacks; b for the balances."""

    def __init__(self, problem: Problem, newton: NewtonStep):
        self.problem, self.newton = problem, newton
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
            problem.free, 0.0, np.maximum(self._with_slack(gradient), floor)
        )

    @property
    def values(self) -> list[np.ndarray]:
        return self.problem.values(self.newton.penalised, self.biases)

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
        count = int((~self.problem.free).sum())
        for room, slack in zip(self.room, self.slack, strict=True):
            total += room @ slack
            count += room.size
        return total / count

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
            None if newton.weights is None else [np.copy(w) for w in newton.weights],
        )
        solution.penalised = newton.penalised
        return solution


def _worst(problem, vector, sharing, reduce):
    return reduce.reduce([vector[problem.slices[q]] for q in sharing])


def _starting_multipliers(problem: Problem) -> np.ndarray:
    """Inside every bound, and with v_k = 0 for the functions that carry a cost.

    Multipliers that act on the first function start at the size of a hard-margin
    solution, 1/mean K_ii, unless their cost is smaller: a large C would otherwise
    start far from any solution.
    """
    multipliers = np.zeros(problem.size)
    root = problem.functions[0]
    typical = np.mean(root.space.diagonal) / root.weight if root.space else 0.0
    typical = 1.0 / typical if typical > 0 else 1.0
    for sharers, slack in zip(problem.sharing, problem.slacks, strict=True):
        for q in sharers:
            multipliers[problem.slices[q]] = slack.linear / (2.0 * len(sharers))
    touching = [
        [q for q, family in enumerate(problem.families) if k in family.on]
        for k in range(len(problem.functions))
    ]
    for q, (part, family) in enumerate(
        zip(problem.slices, problem.families, strict=True)
    ):
        start = multipliers[part]
        for k in family.on:
            cost = problem.functions[k].cost
            if k > 0 and cost is not None:
                share = np.abs(cost[problem.positions(q, k)]) / len(touching[k])
                start = np.where(start > 0, np.minimum(start, share), share)
        start = np.where(start > 0, start, typical)
        if 0 in family.on:
            start = np.minimum(start, typical)
        multipliers[part] = 0.0 if family.equality else start
    for k in range(1, len(problem.functions)):
        cost = problem.functions[k].cost
        private = [q for q in touching[k] if len(problem.families[q].on) == 1]
        if cost is None or len(private) != 1 or problem.families[private[0]].equality:
            continue
        q = private[0]
        missing = -problem.coefficients(multipliers)[k][problem.positions(q, k)]
        family = problem.families[q]
        wanted = multipliers[problem.slices[q]] + missing / family.on[k]
        room = wanted
        for sharers, slack in zip(problem.sharing, problem.slacks, strict=True):
            if q in sharers:
                others = sum(multipliers[problem.slices[o]] for o in sharers if o != q)
                room = 0.9 * (slack.linear - others)
        good = (wanted > 0) & (wanted <= room)
        multipliers[problem.slices[q]] = np.where(
            good, wanted, multipliers[problem.slices[q]]
        )
    multipliers[problem.size - len(problem.global_rows) :] = typical
    return multipliers


def solve_interior(problem: Problem, *, tol: float, max_iter: int) -> Solution:
    """Solve to a relative duality gap of tol; the best iterate if it cannot.

    Small problems go on to 1e-5 tol, which takes two to four cheap steps more: a gap
    bounds the objective, and decision values only by its square root.
    """
    newton = newton_for(problem)
    state = _Iterate(problem, newton)
    best = state.solution(0, False)
    aim = tol * (POLISHING if problem.n_rows <= POLISHED_SIZE else 1.0)
    n_iter, stalled, end = 0, 0, None
    while n_iter < max_iter and not best.is_optimal(aim):
        n_iter += 1
        try:
            step = _predictor_corrector(state, newton)
        except (NotPositiveDefinite, FloatingPointError, np.linalg.LinAlgError):
            break
        candidate = state.solution(n_iter, False)
        if not np.isfinite(candidate.duality_gap):
            break
        stalled += 1
        if candidate.relative_gap < best.relative_gap:
            if candidate.relative_gap < 0.9 * best.relative_gap:
                stalled = 0
            best, end = candidate, state.end()
        patience = PATIENCE_POLISHING if best.is_optimal(tol) else PATIENCE
        if step < SHORTEST_STEP or stalled > patience:
            break
    if end is not None and problem.n_rows <= POLISHED_SIZE:
        best = polish(best, end, newton)
    best.n_iter = n_iter
    best.converged = best.is_optimal(tol)
    return best


def _predictor_corrector(state: _Iterate, newton) -> float:
    """One Mehrotra step, taken in place; returns its length."""
    problem = state.problem
    free = problem.free
    safe = np.where(free, 1.0, state.multipliers)
    barrier = Barrier(
        diagonal=problem.curvature + np.where(free, 0.0, state.margin / safe),
        shared=[z / w for z, w in zip(state.slack, state.room, strict=True)],
    )
    newton.factorise(barrier)
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
    bounded = ~state.problem.free
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
