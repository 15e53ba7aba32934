"""A primal–dual interior-point method for every `lupi._convex.problem.Problem`.

It is Mehrotra's predictor–corrector method on the dual. With ``z`` the slack of a row
constraint (the multiplier of λ ≥ 0), ``w = d − Σλ`` the distance to the bound of a
linear slack and ``ζ`` that slack (the multiplier of w ≥ 0), the central path is::

    Σ_k a_qk ∘ t_k − r_q + λ_q/q + ζ − z = 0        (stationarity)
    e_k·v_k = 0                                     (balance)
    λ ∘ z = μ,   w ∘ ζ = μ                          (complementarity)

This module follows the path for functions given by Gram matrices, with the Newton
steps of :mod:`.kernel`, up to a vertex, which the proximal method computes. If they are
given by features, the unknowns are the weights, and the rows are processed in blocks:
see :mod:`.blocks`.

References
----------
S. Mehrotra, "On the implementation of a primal-dual interior point method", SIAM J.
Optimization 2(4), 1992.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from lupi._convex.interior.blocks import Progress, longest_step, solve_blocks
from lupi._convex.interior.blocks.local import LocalRows, solve_sifted
from lupi._convex.interior.kernel import KernelNewton
from lupi._convex.interior.start import starting_multipliers
from lupi._convex.linalg import (
    NotPositiveDefinite,
    allowed_threads,
    free_bytes,
    one_thread,
)
from lupi._convex.problem import Features, Gram, Problem
from lupi._convex.proximal import solve_proximal
from lupi._convex.proximal.faces import unsuited
from lupi._convex.solution import Solution
from lupi._convex.tuning import DEFAULT, Tuning

# Limit on the Newton steps of the proximal method to a vertex.
MOST_VERTEX_STEPS = 10
# Matrices of n² entries at the peak, beside the Gram matrices, by the number of these.
EXTRA_MATRICES = {0: 0, 1: 8, 2: 8, 3: 20}


def has_room(problem: Problem) -> bool:
    """Return whether the Gram matrices are stored, and those of the method fit too."""
    grams = [s.matrix for s in problem.spaces.values() if isinstance(s, Gram)]
    needed = 8.0 * problem.n_rows**2 * EXTRA_MATRICES[min(len(grams), 3)]
    return all(free_bytes(gram) >= max(needed, 1.0) for gram in grams)


def vertex_near(
    solution: Solution, pairs: np.ndarray, *, tol: float, tuning: Tuning
) -> Solution:
    """Return the vertex near a solution on the path, if its gap is small enough.

    At the end of the path one factor of every pair vanishes: a multiplier λ or the
    margin z of its constraint, the distance w to the bound of a slack or the slack ζ
    itself. Once the gap is small, the smaller factor can be identified. These factors
    are set to zero, and the proximal method starts there: it corrects wrong choices and
    has exact zeros where the path has small numbers.
    """
    problem = solution.problem
    if unsuited(problem) is not None:
        return solution
    (distance, *rooms), (margin, *slacks) = (_apart(problem, part) for part in pairs)
    unit = np.abs(problem.at_least).max(initial=0.0) or 1.0
    multipliers = solution.multipliers.copy()
    for part in problem.slices:
        largest = np.abs(distance[part]).max(initial=0.0) or 1.0
        zero = distance[part] / largest < margin[part] / unit
        zero &= ~problem.is_equality[part]
        multipliers[part] = np.where(zero, problem.lower[part], multipliers[part])
    missing = problem.headroom(multipliers)
    for s, (cost, sharing) in enumerate(
        zip(problem.slack_costs, problem.sharing, strict=True)
    ):
        full = rooms[s] / cost.max() < slacks[s] / unit
        parts = [problem.slices[q] for q in sharing]
        first = np.argmax([distance[part] for part in parts], axis=0)
        for number, part in enumerate(parts):
            multipliers[part] += np.where(full & (first == number), missing[s], 0.0)
    start = replace(
        solution,
        multipliers=multipliers,
        coefficients=problem.coefficients(multipliers),
    )
    vertex = solve_proximal(
        problem,
        tol=tol,
        max_iter=MOST_VERTEX_STEPS,
        tuning=tuning,
        start=start,
        share=tuning.near_proximal,
    )
    vertex.solver = solution.solver
    largest = max(solution.relative_gap, tuning.aim(problem.n_rows, tol))
    return vertex if vertex.is_optimal(largest) else solution


# Threads that process blocks of rows. More threads wait for the interpreter: with 16
# cores 1, 2, 4 and 8 threads took 7.0, 7.1, 8.0 and 9.6 s for the same fit.
MOST_THREADS = 2


def _apart(problem: Problem, pairs: np.ndarray) -> list[np.ndarray]:
    """Return the part of the constraints, and those of every linear slack."""
    sizes = [problem.size, *map(len, problem.limits)]
    return np.split(pairs, np.cumsum(sizes)[:-1])


class _Path:
    """Multipliers relative to the offset, biases, and the pairs of complementarity.

    The rows of ``pairs`` are the two factors: λ above its bound and w, then z and ζ.
    They are updated by each step: recomputing d − Σλ would cancel close to the bound.
    So are the functions, their expansion coefficients v and their values f on the rows,
    because v = Σλ − c cancels if a multiplier is close to its cost. The multipliers of
    equalities are not ``bounded``.
    """

    def __init__(self, problem: Problem, tuning: Tuning):
        self.problem, self.tuning = problem, tuning
        self.newton = KernelNewton(problem, tuning)
        self.multipliers = starting_multipliers(problem)
        self.biases = np.zeros(len(problem.biased))
        self.coefficients = problem.coefficients(self.multipliers)
        self.penalized = problem.penalized(self.coefficients)
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
            problem.margins(problem.values(self.penalized, self.biases))
            - problem.at_least
            + problem.curvature * self.multipliers
        )

    def _stationarity(self) -> np.ndarray:
        margin, *slacks = _apart(self.problem, self.pairs[1])
        return self.problem.with_slacks(self._gradient(), slacks) - margin

    def _products(self) -> float:
        """Return the sum of the products of multipliers and slacks."""
        return float(self.pairs[0] @ self.pairs[1])

    def _solution(self, n_iter: int) -> Solution:
        solution = Solution(
            self.problem,
            self.multipliers.copy(),
            [v.copy() for v in self.coefficients],
            self.biases.copy(),
            n_iter,
            False,
            "interior",
        )
        solution.penalized = self.penalized
        return solution

    def follow(self, *, tol: float, max_iter: int) -> Solution:
        """Take Mehrotra steps to the end of the path, and to the vertex there."""
        problem, tuning = self.problem, self.tuning
        best = self._solution(0)
        small = problem.n_rows <= tuning.polished_size
        shares = tuning.vertex_tried_at if small else tuning.large_vertex_tried_at
        # With a multiplier of all rows at once, every row is a support vector.
        dense = any(0 in row.on for row in problem.global_rows)
        if problem.n_rows >= tuning.many_rows or (dense and not small):
            shares = (1.0,)
        aims = [tol * share for share in shares]
        enough = tuning.aim(problem.n_rows, tol)
        n_iter, progress = 0, Progress(tol, tuning)
        pairs = None  # those of the best point, until the vertex near it is tried
        while n_iter < max_iter and aims:
            n_iter += 1
            try:
                # Beyond the accuracy of double precision, the barrier overflows.
                with np.errstate(over="raise"):
                    length = self._step()
            except (NotPositiveDefinite, FloatingPointError, np.linalg.LinAlgError):
                break
            candidate = self._solution(n_iter)
            if not np.isfinite(candidate.duality_gap):
                break
            if candidate.relative_gap < best.relative_gap:
                best, pairs = candidate, self.pairs.copy()
            if best.is_optimal(aims[0]):
                aims.pop(0)
                if len(shares) > 1 and pairs is not None:
                    vertex = vertex_near(best, pairs, tol=tol, tuning=tuning)
                    pairs = None
                    if vertex is not best and vertex.is_optimal(enough):
                        best = vertex
                        break
            products = self._products()
            merit = products / self.bounded.sum() + np.abs(self._stationarity()).max()
            if progress.ends(best, length=length, products=products, merit=merit):
                break
        if small and pairs is not None and n_iter < max_iter:
            best = vertex_near(best, pairs, tol=tol, tuning=tuning)
        best.n_iter = n_iter
        best.converged = best.is_optimal(tol)
        return best

    def _step(self) -> float:
        """Take one Mehrotra step in place; return its length."""
        problem, newton, bounded = self.problem, self.newton, self.bounded
        first, second = np.where(bounded, self.pairs, [[1.0], [0.0]])
        weight, *shared = _apart(problem, second / first)
        newton.factorize(problem.curvature + weight, shared)
        stationarity = self._stationarity()
        balance = problem.balance(self.coefficients)
        mu = self._products() / int(bounded.sum())

        def direction(missed: np.ndarray, *, refine: bool):
            """Return the changes of both factors, with products − missed, and biases.

            The longest step that keeps both positive is also returned.
            """
            on_rows, *on_slacks = _apart(
                problem, np.where(bounded, missed / first, 0.0)
            )
            right = problem.with_slacks(-stationarity - on_rows, on_slacks)
            step, biases = newton.solve(right, -balance, refine=refine)
            change = np.concatenate(
                [step, *(-total for total in problem.by_slack(step))]
            )
            other = np.where(bounded, (-missed - second * change) / first, 0.0)
            changes = np.array([change, other])
            fastest = -changes[:, bounded] / self.pairs[:, bounded]
            return changes, biases, longest_step(float(fastest.max(initial=0.0)))

        products = first * second
        changes, _, length = direction(products, refine=False)
        ahead = self.pairs + length * changes
        after = float((ahead[0] * ahead[1])[bounded].mean())
        target = mu * min(max(after / mu, 0.0), 1.0) ** 3
        missed = products + changes[0] * changes[1] - target
        changes, biases, length = direction(missed, refine=True)
        length = min(1.0, self.tuning.step_to_boundary * length)
        if not np.isfinite(length):
            raise FloatingPointError("the Newton step is not finite")
        step = changes[0, : problem.size]
        self.multipliers += length * step
        self.pairs += length * changes
        self.biases += length * biases
        for v, dv in zip(self.coefficients, problem.spread(step), strict=True):
            v += length * dv
        self.penalized = problem.penalized(self.coefficients)
        return length


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
    if not has_room(problem):
        raise ValueError(
            "solver='interior' needs more memory for its matrices than is free on the "
            "device. Use fewer rows or solver='auto'."
        )
    return _Path(problem, tuning).follow(tol=tol, max_iter=max_iter)


def _solve_in_blocks(
    problem: Problem, *, tol: float, max_iter: int, tuning: Tuning
) -> Solution:
    spaces = problem.spaces.values()
    device = next((s.device for s in spaces if isinstance(s, Features)), "cpu")
    n_threads = min(allowed_threads(), MOST_THREADS) if device == "cpu" else 1
    # A block is too small for the threads of BLAS.
    with one_thread(), ThreadPoolExecutor(n_threads) as threads:
        pool = threads if n_threads > 1 else None

        def solve_rows(
            problem: Problem, *, tol: float, aim: float, max_iter: int
        ) -> Solution:
            rows = LocalRows(problem, pool, device, tuning)
            end = solve_blocks(rows, tol=tol, aim=aim, max_iter=max_iter, tuning=tuning)
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
