"""A primal–dual interior-point method for every `lupi._convex.problem.Problem`.

It is Mehrotra's predictor–corrector method on the dual. With ``z`` the slack of a row
constraint (the multiplier of λ ≥ 0), ``w = d − Σλ`` the distance to the bound of a
linear slack and ``ζ`` that slack (the multiplier of w ≥ 0), the central path is::

    Σ_k a_qk ∘ t_k − r_q + λ_q/q + ζ − z = 0        (stationarity)
    e_k·v_k = 0                                     (balance)
    λ ∘ z = μ,   w ∘ ζ = μ                          (complementarity)

This module follows the path for functions given by Gram matrices, with the Newton
steps of :mod:`.kernel`, up to a vertex. If they are given by features, the unknowns are
the weights, and the rows are processed in blocks: see :mod:`.blocks`.

References
----------
S. Mehrotra, "On the implementation of a primal-dual interior point method", SIAM J.
Optimization 2(4), 1992.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from lupi._convex.interior.blocks import SHORTEST_STEP, longest_step, solve_blocks
from lupi._convex.interior.blocks.local import LocalRows, solve_sifted
from lupi._convex.interior.kernel import Barrier, KernelNewton
from lupi._convex.interior.start import starting_multipliers
from lupi._convex.linalg import (
    NotPositiveDefinite,
    allowed_threads,
    is_stored,
    one_thread,
)
from lupi._convex.problem import Features, Problem
from lupi._convex.solution import Solution
from lupi._convex.tuning import DEFAULT, Tuning

MOST_VERTEX_GUESSES = 6
MOST_VERTEX_STEPS = 3
VERTEX_RESIDUAL = 1e-13
FREE_BARRIER, FIXED_BARRIER = 1e-9, 1e9
VERTEX_ROUNDING = 1e-10
# Least curvature along a multiplier, relative to the mean.
SMALL_CURVATURE = 1e-6


def polish(
    solution: Solution, end: np.ndarray, newton: KernelNewton, enough: float
) -> Solution:
    """Return the vertex near the solution if its gap is smaller or at most `enough`.

    ``end`` are the factors of the pairs at the last point of the path.

    At the end of the path one factor of every pair vanishes: a multiplier λ or the
    margin z of its constraint, the distance w to the bound of a slack or the slack ζ
    itself. Once the gap is small, the smaller factor can be identified. With these
    factors set to zero, the others solve a linear system; the solution has exact zeros
    where the path has small numbers. A wrong choice leads to a negative multiplier or a
    violated constraint, and is corrected a few times; a result is kept only if it has a
    smaller gap. Kernels of low rank do not determine the multipliers.
    """
    problem = solution.problem
    (distance, *rooms), (margin, *slacks) = (_apart(problem, part) for part in end)
    largest = np.ones(problem.size)
    for part in problem.slices:
        largest[part] = np.abs(distance[part]).max(initial=0.0) or 1.0
    unit = np.abs(problem.at_least).max(initial=0.0) or 1.0
    zero = ~problem.is_equality & (distance / largest < margin / unit)
    full = [
        w / cost.max() < z / unit
        for w, z, cost in zip(rooms, slacks, problem.slack_costs, strict=True)
    ]
    best = solution
    for _ in range(MOST_VERTEX_GUESSES):
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
    negative = ~zero & (
        candidate.multipliers < problem.lower - VERTEX_ROUNDING * largest
    )
    short = problem.at_least - problem.margins(candidate.values)
    violated = zero & (short > VERTEX_ROUNDING * unit)
    changed = bool(negative.any())
    for q_set, is_full, room, cost in zip(
        problem.sharing,
        full,
        problem.headroom(candidate.multipliers),
        problem.slack_costs,
        strict=True,
    ):
        over = ~is_full & (room < -VERTEX_ROUNDING * cost)
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
            violated[problem.slices[q]] &= one > enough + VERTEX_ROUNDING * unit
        idle = is_full & (slack < -VERTEX_ROUNDING * unit)
        is_full[over], is_full[idle] = True, False
        changed |= bool(over.any() or idle.any())
    zero[negative] = True
    zero[violated] = False
    return changed or bool(violated.any())


def _vertex(solution, zero, full, newton) -> Solution:
    """Return the point with the given zeros and full slacks that satisfies the rest."""
    problem = solution.problem
    scale = problem.hessian_diagonal - problem.curvature
    scale = np.maximum(scale, SMALL_CURVATURE * (scale.mean() or 1.0))
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
        tied.append(np.where(is_full & ~alone, FIXED_BARRIER * scale[parts[0]], 0.0))
    diagonal = problem.curvature + np.where(fixed, FIXED_BARRIER, FREE_BARRIER) * scale
    diagonal[problem.is_equality] = problem.curvature[problem.is_equality]
    newton.start(multipliers)
    newton.factorize(Barrier(diagonal, tied))
    biases = solution.biases.copy()
    unit = np.abs(problem.at_least).max(initial=0.0) or 1.0
    slacks = [np.zeros(len(f)) for f in full]
    for _ in range(MOST_VERTEX_STEPS):
        gradient = (
            problem.margins(problem.values(newton.penalized, biases))
            - problem.at_least
            + problem.curvature * multipliers
        )
        # A slack that ties multipliers is the multiplier of Σλ = d.
        rooms = zip(slacks, tied, problem.headroom(multipliers), strict=True)
        slacks = [slack - tie * room for slack, tie, room in rooms]
        right = np.where(fixed, 0.0, -problem.with_slacks(gradient, slacks))
        balance = problem.balance(newton.coefficients)
        if np.abs(right).max() <= VERTEX_RESIDUAL * unit:
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
    )


# Threads that process blocks of rows. More threads wait for the interpreter: with 16
# cores 1, 2, 4 and 8 threads took 7.0, 7.1, 8.0 and 9.6 s for the same fit.
MOST_THREADS = 2


def _apart(problem: Problem, pairs: np.ndarray) -> list[np.ndarray]:
    """Return the part of the constraints, and those of every linear slack."""
    sizes = [problem.size, *map(len, problem.limits)]
    return np.split(pairs, np.cumsum(sizes)[:-1])


class _Iterate:
    """Multipliers relative to the offset, biases, and the pairs of complementarity.

    The rows of ``pairs`` are the two factors: λ above its bound and w, then z and ζ.
    They are updated by each step: recomputing d − Σλ would cancel close to the bound.
    The multipliers of equalities are not ``bounded``.
    """

    def __init__(self, problem: Problem, newton: KernelNewton):
        self.problem, self.newton = problem, newton
        self.multipliers = starting_multipliers(problem)
        self.biases = np.zeros(len(problem.biased))
        newton.start(self.multipliers)
        # Any positive values are allowed; stationarity holds where possible.
        gradient = self._gradient()
        floor = max(np.abs(gradient).mean(), 1e-3 * np.abs(problem.at_least).max())
        slacks = [
            np.maximum.reduce([-gradient[problem.slices[q]] for q in sharing]).clip(0.0)
            + floor
            for sharing in problem.sharing
        ]
        margin = np.maximum(problem.with_slacks(gradient, slacks), floor)
        margin[problem.is_equality] = 0.0
        distance = self.multipliers + problem.offset
        self.pairs = np.array(
            [
                np.concatenate([distance, *problem.headroom(self.multipliers)]),
                np.concatenate([margin, *slacks]),
            ]
        )
        self.bounded = np.ones(self.pairs.shape[1], dtype=bool)
        self.bounded[: problem.size] = ~problem.is_equality

    def _gradient(self) -> np.ndarray:
        problem = self.problem
        return (
            problem.margins(problem.values(self.newton.penalized, self.biases))
            - problem.at_least
            + problem.curvature * self.multipliers
        )

    def stationarity(self) -> np.ndarray:
        margin, *slacks = _apart(self.problem, self.pairs[1])
        return self.problem.with_slacks(self._gradient(), slacks) - margin

    def products(self) -> float:
        """Return the sum of the products of multipliers and slacks."""
        return float(self.pairs[0] @ self.pairs[1])

    def complementarity(self) -> float:
        """Return μ: the mean product of a multiplier and its slack."""
        return self.products() / int(self.bounded.sum())

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
        )
        solution.penalized = newton.penalized
        return solution


def solve_interior(
    problem: Problem, *, tol: float, max_iter: int, tuning: Tuning = DEFAULT
) -> Solution:
    """Solve to a relative duality gap of tol; otherwise return the best iterate.

    Small problems are solved up to the vertex at the end of the path, or to a gap of
    1e-5 tol: the gap bounds the error of the objective, but that of decision values
    only by its square root.
    """
    spaces = problem.spaces.values()
    in_features = [isinstance(space, Features) for space in spaces]
    if all(in_features):
        return _solve_in_blocks(problem, tol=tol, max_iter=max_iter, tuning=tuning)
    if any(in_features):
        raise ValueError(
            "The functions of a problem must be given either all by Gram matrices or "
            "all by features; here both occur. Give Gram matrices for all."
        )
    if not all(is_stored(space.matrix) for space in spaces):
        raise ValueError(
            "solver='interior' needs Gram matrices that are stored, and these are too "
            "large for the memory of the device. Use solver='auto'."
        )
    state = _Iterate(problem, KernelNewton(problem, tuning))
    return _along_path(state, tol=tol, max_iter=max_iter, tuning=tuning)


def _solve_in_blocks(
    problem: Problem, *, tol: float, max_iter: int, tuning: Tuning
) -> Solution:
    spaces = problem.spaces.values()
    devices = {space.device for space in spaces if isinstance(space, Features)}
    device = devices.pop() if len(devices) == 1 else "cpu"
    n_threads = min(allowed_threads(), MOST_THREADS) if device == "cpu" else 1
    # A block is too small for the threads of BLAS.
    with one_thread(), ThreadPoolExecutor(n_threads) as threads:
        pool = threads if n_threads > 1 else None

        def solve_rows(
            problem: Problem, *, tol: float, aim: float, max_iter: int
        ) -> Solution:
            rows = LocalRows(problem, pool, device, tuning)
            end = solve_blocks(
                rows, rows.layout, tol=tol, aim=aim, max_iter=max_iter, tuning=tuning
            )
            multipliers = rows.multipliers()
            del rows  # frees memory of the size of the data for the certificate
            solution = Solution(
                problem,
                multipliers,
                problem.coefficients(multipliers),
                end.biases,
                end.n_iter,
                end.converged,
                "interior",
                end.weights,
            )
            solution.converged = solution.is_optimal(tol)
            return solution

        solution = solve_sifted(
            problem, solve_rows, tol=tol, max_iter=max_iter, tuning=tuning
        )
        if solution is None:
            aim = tuning.block_aim(problem.n_rows, tol)
            solution = solve_rows(problem, tol=tol, aim=aim, max_iter=max_iter)
    return solution


def _along_path(
    state: _Iterate, *, tol: float, max_iter: int, tuning: Tuning
) -> Solution:
    problem, newton = state.problem, state.newton
    best = state.solution(0, False)
    small = problem.n_rows <= tuning.polished_size
    shares = tuning.vertex_tried_at if small else tuning.large_vertex_tried_at
    # With a multiplier of all rows at once, every row is a support vector.
    dense = any(0 in row.on for row in problem.global_rows)
    if problem.n_rows >= tuning.many_rows or (dense and not small):
        shares = (1.0,)
    aims = [tol * share for share in shares]
    enough = tuning.aim(problem.n_rows, tol)
    n_iter, stalled, lowest, end = 0, 0, np.inf, None
    exhausted, polished = 0, None
    while n_iter < max_iter and aims:
        n_iter += 1
        try:
            # Beyond the accuracy of double precision, the barrier overflows.
            with np.errstate(over="raise"):
                step = _predictor_corrector(state, newton, tuning.step_to_boundary)
        except (NotPositiveDefinite, FloatingPointError, np.linalg.LinAlgError):
            break
        candidate = state.solution(n_iter, False)
        if not np.isfinite(candidate.duality_gap):
            break
        merit = state.complementarity() + np.abs(state.stationarity()).max()
        stalled = 0 if merit < 0.9 * lowest else stalled + 1
        lowest = min(lowest, merit)
        if candidate.relative_gap < best.relative_gap:
            best, end = candidate, state.pairs.copy()
        if best.is_optimal(aims[0]):
            aims.pop(0)
            if len(shares) > 1 and end is not None:
                held, polished = (newton.coefficients, newton.penalized), best
                vertex = polish(best, end, newton, enough)
                newton.coefficients, newton.penalized = held
                if vertex is not best and vertex.is_optimal(enough):
                    best, end = vertex, None
                    break
        done = best.is_optimal(tol)
        patience = tuning.polishing_patience if done else tuning.patience
        # The products are below tol: the rest of the gap is rounding.
        exhausted += not done and state.products() <= tol * abs(best.primal_value)
        if step < SHORTEST_STEP or stalled > patience or exhausted > tuning.last_steps:
            break
    if small and end is not None and polished is not best:
        best = polish(best, end, newton, enough)
    best.n_iter = n_iter
    best.converged = best.is_optimal(tol)
    return best


def _predictor_corrector(state: _Iterate, newton, to_boundary: float) -> float:
    """Take one Mehrotra step in place; return its length."""
    problem, bounded = state.problem, state.bounded
    first, second = np.where(bounded, state.pairs, [[1.0], [0.0]])
    weight, *shared = _apart(problem, second / first)
    newton.factorize(Barrier(problem.curvature + weight, shared))
    stationarity = state.stationarity()
    balance = problem.balance(newton.coefficients)
    mu = state.complementarity()

    def direction(missed: np.ndarray, *, refine: bool):
        """Return the changes of both factors, with products − missed, and biases."""
        on_rows, *on_slacks = _apart(problem, np.where(bounded, missed / first, 0.0))
        right = problem.with_slacks(-stationarity - on_rows, on_slacks)
        step, biases = newton.solve(right, -balance, refine=refine)
        change = np.concatenate([step, *(-total for total in problem.by_slack(step))])
        other = np.where(bounded, (-missed - second * change) / first, 0.0)
        return np.array([change, other]), biases

    products = first * second
    changes, _ = direction(products, refine=False)
    ahead = state.pairs + _step_length(state, changes) * changes
    after = float((ahead[0] * ahead[1])[bounded].mean())
    target = mu * min(max(after / mu, 0.0), 1.0) ** 3
    changes, biases = direction(
        products + changes[0] * changes[1] - target, refine=True
    )
    length = min(1.0, to_boundary * _step_length(state, changes))
    if not np.isfinite(length):
        raise FloatingPointError("the Newton step is not finite")
    step = changes[0, : problem.size]
    state.multipliers += length * step
    state.pairs += length * changes
    state.biases += length * biases
    newton.advance(length, step)
    return length


def _step_length(state: _Iterate, changes: np.ndarray) -> float:
    """Return the longest step that keeps all slacks positive; it may exceed one."""
    bounded = state.bounded
    fastest = (-changes[:, bounded] / state.pairs[:, bounded]).max(initial=0.0)
    return longest_step(float(fastest))
