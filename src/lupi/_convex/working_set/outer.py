"""A working-set method for exact kernels: few multipliers move at a time.

Every multiplier λ_m of :mod:`.problem` has a box ``0 ≤ λ_m ≤ d_m`` and a *signature*,
its coefficients in the balance equations ``e_k·v_k = 0``. Multipliers with the same
signature form a class. Two kinds of directions keep every balance:

- one multiplier of a class up and another of the same class down;
- one multiplier of each class of a *circuit*, a minimal linear dependence
  ``Σ_c w_c s_c = 0`` between signatures (for SVM+ ``α₊ + α₋ − 2β``).

By Farkas' lemma a point from which none of these descends is optimal, so no other is
needed. Each step takes the kind with the largest gain ``slope²/curvature``, seeks one
of its members by that gain, and goes to the minimum or to the first bound.

Such steps find out quickly which multipliers stand on their bounds and slowly what the
others are. When the first has settled, a Newton step on the free multipliers alone
gives the second; bounds that it crosses are kept and the step is taken again without
them.

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

# Where rounding makes a smaller violation pointless.
TINY = 1e-13
PROJECTIONS = 10
RIDGE_DOWN, RIDGE_UP = 1e-2, 1e2
ROUNDING = 1e-12


class _State:
    """The point that the steps move: λ, the expansions v and the values K v/ρ."""

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
        """Compute the values anew: what the steps added up carries their rounding."""
        self.value = self.flat.apply(self.expansion)

    def descend(self, tol: float, most: int) -> float:
        """Working-set steps; the largest violation that is left."""
        from lupi._convex.working_set.steps import descend

        flat = self.flat
        steps, worst = descend(
            flat.grams,
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
        """Return the cost of a Newton step on the free multipliers, in small steps."""
        return self.tuning.newton_price * len(self.free) ** 3 / self.flat.offsets[-1]

    def _face(self) -> np.ndarray:
        """Return the free multipliers and the bound ones that violate most."""
        flat, free = self.flat, self.free
        pull = flat.gradient(self.value) + flat.columns @ self._biases()
        pull = np.where(self.multipliers > flat.lower, pull, -pull)
        pull[free] = 0.0
        leaving = np.flatnonzero(pull > 0)
        most = int(self.tuning.released_share * len(free))
        if len(leaving) > most:
            leaving = leaving[np.argpartition(pull[leaving], -most)[-most:]]
        return np.union1d(free, leaving)

    def newton(self, ridge: float) -> bool:
        """Minimize over the free multipliers; whether that moved the point.

        Multipliers that would leave their box are set on its bound and the step is
        taken again without them. The line to the point found is searched exactly.
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
                # Nothing keeps the face: its factor is the largest array there is.
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
        slope, bend = start @ change, spread @ image
        if not (np.isfinite(bend) and slope < 0 and self._balanced(target)):
            return False
        length = min(1.0, -slope / bend) if bend > 0 else 1.0
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
        """Return the certificate of the point, with biases from the class gradients."""
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
        """Biases with ``g + s·b ≈ 0`` for the free multipliers, ≥ 0 at 0, ≤ 0 at d."""
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
    """Minimize ``½xᵀHx + g·x`` over some multipliers, given their part in the balances.

    Multipliers that cross a bound are tied to it as further equations, with the same
    factor, as long as they are few.
    """

    def __init__(self, flat, members, gradient, missing, ridge):
        from lupi._convex.working_set.steps import hessian

        matrix = hessian(flat.grams, flat.scale, flat.fn, flat.pos, flat.a, members).T
        index = np.arange(len(matrix))
        matrix[index, index] += ridge * matrix[index, index].mean()
        self.columns, self.missing = flat.columns[members], missing
        self.factor = cholesky(matrix)
        self.alone = cholesky_solve(self.factor, -gradient)

    def minimum(
        self, start: np.ndarray, box: tuple[np.ndarray, np.ndarray], fixed_share: float
    ) -> np.ndarray:
        """Where the multipliers end; not all within their boxes if too many left."""
        columns, wanted = self.columns, self.missing
        response = cholesky_solve(self.factor, columns)
        tied, bounds = np.empty(0, dtype=int), np.empty(0)
        while True:
            rest = columns.T @ self.alone - wanted
            pull = np.linalg.lstsq(columns.T @ response, rest, rcond=1e-13)[0]
            moved = start + self.alone - response @ pull
            accurate = np.abs(moved[tied] - bounds) <= 1e-6 * np.abs(start).max()
            moved[tied] = bounds
            # What a nearly singular H has cost the balances, put back evenly.
            loose = self.columns.copy()
            loose[tied] = 0.0
            rest = self.missing - self.columns.T @ (moved - start)
            even = np.linalg.lstsq(loose.T @ loose, rest, rcond=1e-13)[0]
            moved = moved + loose @ even
            inside = np.clip(moved, *box)
            crossed = np.flatnonzero(inside != moved)
            few = len(crossed) and len(tied) + len(crossed) <= fixed_share * len(start)
            if not few or not accurate.all():
                return moved
            tied = np.concatenate([tied, crossed])
            bounds = np.concatenate([bounds, inside[crossed]])
            units = np.zeros((len(start), len(crossed)), order="F")
            units[crossed, np.arange(len(crossed))] = 1.0
            columns = np.column_stack([columns, units])
            response = np.column_stack([response, cholesky_solve(self.factor, units)])
            wanted = np.concatenate([wanted, inside[crossed] - start[crossed]])


def _least_violation(signatures, low, high) -> np.ndarray:
    """Biases whose largest violation of ``low + s·b ≥ 0 ≥ high + s·b`` is least."""
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
    """Solve to a relative duality gap of tol; the best iterate if it cannot.

    max_iter bounds the work in units of one working-set step; a Newton step counts as
    many as take its time.
    """
    reason = unsuited(problem)
    if reason is not None:
        raise ValueError(
            f"solver='working_set' needs {reason}. Use solver='interior', or 'auto', "
            "which chooses a solver that can take the problem."
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
        # Each further factor of next_violation takes about as many steps as this one.
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
