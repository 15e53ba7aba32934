"""A working-set method for exact kernels: each step changes few multipliers.

Every multiplier λ_m of :mod:`.problem` has a box ``0 ≤ λ_m ≤ d_m`` and a *signature*,
its coefficients in the balance equations ``e_k·v_k = 0``. Multipliers with the same
signature form a class. Two kinds of directions satisfy the balance equations:

- one multiplier of a class increases and another of the same class decreases;
- one multiplier of each class of a *circuit*, a minimal linear dependence
  ``Σ_c w_c s_c = 0`` between signatures, changes (for SVM+ ``α₊ + α₋ − 2β``).

By Farkas' lemma a point is optimal if none of these is a descent direction. Each step
takes the direction with the largest gain ``slope²/curvature``, chooses one of its
members by that gain, and ends at the minimum or at the first bound.

These steps identify the active bounds quickly and converge slowly in the other
multipliers. Once the active set is stable, a Newton step minimizes over the free
multipliers; those that violate a bound are fixed at it and the step is repeated.

References
----------
R.-E. Fan, P.-H. Chen, C.-J. Lin, "Working set selection using second order information
for training support vector machines", JMLR 6, 2005.
D. Pechyony, R. Izmailov, A. Vashist, V. Vapnik, "SMO-style algorithms for learning
using privileged information", DMIN 2010.
J. Moré, G. Toraldo, "On the solution of large quadratic programming problems with bound
constraints", SIAM J. Optimization 1(1), 1991.
"""

from __future__ import annotations

import numpy as np

from lupi._convex.linalg import NotPositiveDefinite, cholesky, cholesky_solve
from lupi._convex.problem import Problem
from lupi._convex.solution import Solution
from lupi._convex.tuning import DEFAULT, Tuning
from lupi._convex.working_set.flat import Flat, feasible, unsuited

__all__ = ["solve_working_set"]

# Relative violation of the size of rounding errors.
TINY = 1e-13
PROJECTIONS = 10
RIDGE_DOWN, RIDGE_UP = 1e-2, 1e2
ROUNDING = 1e-12


class _State:
    """The current iterate: λ, the expansions v and the values K v/ρ."""

    def __init__(self, flat: Flat, tuning: Tuning):
        self.flat, self.tuning = flat, tuning
        self.multipliers = feasible(flat)
        costs = [
            np.zeros(n) if cost is None else cost
            for cost, n in zip(
                flat.problem.rest_costs, np.diff(flat.offsets), strict=True
            )
        ]
        self.expansion = flat.spread(self.multipliers) - np.concatenate(costs)
        self.refresh()
        self.n_steps, self.work = 0, 0.0

    def refresh(self) -> None:
        """Recompute the values, in which rounding errors of the steps accumulate."""
        self.value = self.flat.apply(self.expansion)

    def descend(self, tol: float, most: int) -> float:
        """Take working-set steps; return the largest remaining violation."""
        from lupi._convex.working_set.steps import descend

        flat = self.flat
        steps, worst = descend(
            flat.compiled_grams,
            flat.scale,
            flat.offsets,
            flat.fn,
            flat.pos,
            flat.at,
            flat.a,
            flat.width,
            flat.rhs,
            flat.diagonal,
            flat.lower,
            flat.upper,
            flat.starts,
            flat.circuits,
            self.value,
            self.expansion,
            self.multipliers,
            tol,
            most,
        )
        self.n_steps += steps
        self.work += steps
        return worst

    @property
    def free(self) -> np.ndarray:
        """The multipliers between their bounds."""
        flat = self.flat
        above = self.multipliers > flat.lower
        return np.flatnonzero(above & (self.multipliers < flat.upper))

    def price(self) -> float:
        """Return the cost of a Newton step, in units of one working-set step."""
        return self.tuning.newton_price * len(self.free) ** 3 / self.flat.offsets[-1]

    def _face(self) -> np.ndarray:
        """Return the free multipliers and those at bounds with large violations."""
        flat, free = self.flat, self.free
        gradient = flat.gradient(self.value) + flat.columns @ self._biases()
        violation = np.where(self.multipliers > flat.lower, gradient, -gradient)
        violation[free] = 0.0
        leaving = np.flatnonzero(violation > 0)
        most = int(self.tuning.released_share * len(free))
        if len(leaving) > most:
            leaving = leaving[np.argpartition(violation[leaving], -most)[-most:]]
        return np.union1d(free, leaving)

    def newton(self, ridge: float) -> bool:
        """Minimize over the free multipliers; return whether the point changed.

        Multipliers that violate a bound are fixed at it and the step is repeated. An
        exact line search along the direction follows.
        """
        flat, active = self.flat, self._face()
        target = self.multipliers.copy()
        start = flat.gradient(self.value)
        gradient, missing = start, np.zeros(flat.columns.shape[1])
        for _ in range(PROJECTIONS):
            if not len(active):
                return False
            price = self.tuning.newton_price * len(active) ** 3
            self.work += price / flat.offsets[-1]
            self.n_steps += 1
            try:
                # No reference to the face is kept: its factor is the largest array.
                moved = _Face(flat, active, gradient[active], missing, ridge).minimum(
                    target[active],
                    (flat.lower[active], flat.upper[active]),
                    self.tuning.fixed_share,
                )
            except (NotPositiveDefinite, np.linalg.LinAlgError):
                return False
            inside = np.clip(moved, flat.lower[active], flat.upper[active])
            crossed = inside != moved
            if not crossed.any():
                target[active] = moved
                break
            target[active[crossed]] = inside[crossed]
            active = active[~crossed]
            change = target - self.multipliers
            gradient = start + flat.gradient(flat.apply(flat.spread(change))) + flat.rhs
            missing = -flat.columns.T @ change
        else:
            return False
        change = target - self.multipliers
        spread = flat.spread(change)
        image = flat.apply(spread)
        slope, curvature = start @ change, spread @ image
        if not (np.isfinite(curvature) and slope < 0 and self._balanced(target)):
            return False
        length = min(1.0, -slope / curvature) if curvature > 0 else 1.0
        if length == 1.0:
            self.multipliers = target
        else:
            self.multipliers = self.multipliers + length * change
        self.expansion = self.expansion + length * spread
        self.refresh()
        return True

    def _balanced(self, multipliers: np.ndarray) -> bool:
        size = np.abs(self.flat.columns).T @ np.abs(multipliers)
        change = multipliers - self.multipliers
        return bool((np.abs(self.flat.columns.T @ change) <= ROUNDING * size).all())

    def solution(self) -> Solution:
        """Return the point as a solution, with biases from the class gradients."""
        flat = self.flat
        problem = flat.problem
        multipliers = np.empty(problem.size)
        multipliers[flat.order] = self.multipliers
        solution = Solution(
            problem,
            multipliers,
            [v.copy() for v in flat.split(self.expansion)],
            self._biases(),
            self.n_steps,
            False,
            "working_set",
        )
        solution.penalized = flat.split(self.value.copy())
        return solution

    def _biases(self) -> np.ndarray:
        """Return biases with ``g + s·b ≈ 0`` if free, ≥ 0 at 0 and ≤ 0 at d."""
        flat = self.flat
        gradient = flat.gradient(self.value)
        can_rise = self.multipliers < flat.upper
        can_fall = self.multipliers > flat.lower
        first = flat.starts[:-1]
        low = np.minimum.reduceat(np.where(can_rise, gradient, np.inf), first)
        high = np.maximum.reduceat(np.where(can_fall, gradient, -np.inf), first)
        held = np.logical_or.reduceat(can_rise & can_fall, first)
        signatures = flat.signatures
        n_biases = signatures.shape[1]
        if n_biases == 0:
            return np.empty(0)
        if held.any() and np.linalg.matrix_rank(signatures[held]) == n_biases:
            middle = 0.5 * (low + high)[held]
            return np.linalg.lstsq(signatures[held], -middle, rcond=None)[0]
        return _least_violation(signatures, low, high)


class _Face:
    """Minimization of ``½xᵀHx + g·x`` over some multipliers, with balance equations.

    Multipliers that cross a bound are fixed at it by further equations, with the same
    factor, as long as they are few.
    """

    def __init__(self, flat, members, gradient, missing, ridge):
        from lupi._convex.working_set.steps import hessian

        grams = flat.compiled_grams
        matrix = hessian(grams, flat.scale, flat.fn, flat.pos, flat.a, members).T
        index = np.arange(len(matrix))
        matrix[index, index] += ridge * matrix[index, index].mean()
        self.columns, self.missing = flat.columns[members], missing
        self.factor = cholesky(matrix)
        self.alone = cholesky_solve(self.factor, -gradient)

    def minimum(
        self, start: np.ndarray, box: tuple[np.ndarray, np.ndarray], fixed_share: float
    ) -> np.ndarray:
        """Return the minimizer; some bounds are violated if too many were crossed."""
        columns, targets = self.columns, self.missing
        response = cholesky_solve(self.factor, columns)
        fixed, bounds = np.empty(0, dtype=int), np.empty(0)
        while True:
            residual = columns.T @ self.alone - targets
            dual = np.linalg.lstsq(columns.T @ response, residual, rcond=1e-13)[0]
            moved = start + self.alone - response @ dual
            accurate = np.abs(moved[fixed] - bounds) <= 1e-6 * np.abs(start).max()
            moved[fixed] = bounds
            # A nearly singular H leaves a residual of the balances: correct it evenly.
            free_columns = self.columns.copy()
            free_columns[fixed] = 0.0
            residual = self.missing - self.columns.T @ (moved - start)
            gram = free_columns.T @ free_columns
            moved = (
                moved + free_columns @ np.linalg.lstsq(gram, residual, rcond=1e-13)[0]
            )
            inside = np.clip(moved, *box)
            crossed = np.flatnonzero(inside != moved)
            few = len(crossed) and len(fixed) + len(crossed) <= fixed_share * len(start)
            if not few or not accurate.all():
                return moved
            fixed = np.concatenate([fixed, crossed])
            bounds = np.concatenate([bounds, inside[crossed]])
            units = np.zeros((len(start), len(crossed)), order="F")
            units[crossed, np.arange(len(crossed))] = 1.0
            columns = np.column_stack([columns, units])
            response = np.column_stack([response, cholesky_solve(self.factor, units)])
            targets = np.concatenate([targets, inside[crossed] - start[crossed]])


def _least_violation(signatures, low, high) -> np.ndarray:
    """Return the biases with least violation of ``low + s·b ≥ 0 ≥ high + s·b``."""
    from scipy.optimize import linprog

    rises, falls = np.isfinite(low), np.isfinite(high)
    left = np.vstack([-signatures[rises], signatures[falls]])
    left = np.column_stack([left, -np.ones(len(left))])
    right = np.concatenate([low[rises], -high[falls]])
    unit = np.abs(right).max(initial=1.0)
    n_biases = signatures.shape[1]
    bounds = [(-1e6 * unit, 1e6 * unit)] * n_biases + [(-unit, None)]
    best = linprog(np.eye(n_biases + 1)[-1], left, right, bounds=bounds)
    return best.x[:n_biases] if best.status == 0 else np.zeros(n_biases)


def solve_working_set(
    problem: Problem, *, tol: float, max_iter: int, tuning: Tuning = DEFAULT
) -> Solution:
    """Solve to a relative duality gap of tol; otherwise return the best iterate.

    max_iter bounds the work in units of one working-set step; a Newton step counts as
    the number of working-set steps that take as long.
    """
    reason = unsuited(problem)
    if reason is not None:
        raise ValueError(
            f"solver='working_set' needs {reason}. Use solver='interior', or 'auto', "
            "which chooses a suitable solver."
        )
    state = _State(Flat(problem), tuning)
    unit = np.abs(problem.at_least).max(initial=0.0) or 1.0
    eps, best = tuning.first_violation * unit, None
    markup, ridge = 1.0, tuning.ridge
    while True:
        before = state.work
        batch = markup * max(state.price(), tuning.least_batch * problem.n_rows)
        worst = state.descend(eps, int(max(min(batch, max_iter - state.work), 0)))
        state.refresh()
        best = _better(best, state.solution())
        if best.is_optimal(tol) or state.work >= max_iter or worst < TINY * unit:
            break
        # Estimate: each further factor of next_violation takes as many steps as this.
        rate = -np.log(tuning.next_violation)
        further = max(np.log(best.relative_gap / tol) / rate, 1.0)
        if worst > eps or further * (state.work - before) >= markup * state.price():
            before, good = np.inf, True
            while good and worst <= tuning.sharp_newton * before:
                moved, before = state.newton(ridge), worst
                worst = state.descend(0.0, 0)
                best = _better(best, state.solution())
                good = moved and worst <= 0.5 * before and not best.is_optimal(tol)
                ridge *= RIDGE_DOWN if good else RIDGE_UP
                ridge = min(max(ridge, ROUNDING), tuning.largest_ridge)
            if best.is_optimal(tol):
                break
            markup = 1.0 if good else min(2.0 * markup, 4.0 if moved else np.inf)
        eps = min(tuning.next_violation * worst, tuning.first_violation * unit)
    if best.is_optimal(tol) and not best.is_optimal(tuning.aim(problem.n_rows, tol)):
        state.newton(ROUNDING)
        best = _better(best, state.solution())
    best.n_iter = state.n_steps
    best.converged = best.is_optimal(tol)
    return best


def _better(best: Solution | None, candidate: Solution) -> Solution:
    if best is None or candidate.relative_gap < best.relative_gap:
        return candidate
    return best
