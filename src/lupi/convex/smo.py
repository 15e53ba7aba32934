"""A working-set method for exact kernels: few multipliers move at a time.

Every multiplier λ_m of :mod:`.problem` has a box ``0 ≤ λ_m ≤ d_m`` and a *signature*,
its coefficients in the balance equations ``e_k·v_k = 0``. Multipliers with the same
signature form a class. Two kinds of directions keep every balance:

- one multiplier of a class up and another of the same class down;
- one multiplier of each class of a *circuit*, a minimal linear dependence
  ``Σ_c w_c s_c = 0`` between signatures (for SVM+ ``α₊ + α₋ − 2β``).

By Farkas' lemma a point from which none of these descends is optimal, so no other is
needed. Each step takes the kind with the largest gain ``slope²/curvature``, seeks one of
its members by that gain, and goes to the minimum or to the first bound.

Such steps find out quickly which multipliers stand on their bounds and slowly what the
others are. When the first has settled, a Newton step on the free multipliers alone gives
the second; bounds that it crosses are kept and the step is taken again without them.

References
----------
R.-E. Fan, P.-H. Chen, C.-J. Lin, "Working set selection using second order information
for training support vector machines", JMLR 6, 2005.
D. Pechyony, R. Izmailov, A. Vashist, V. Vapnik, "SMO-style algorithms for learning using
privileged information", DMIN 2010.
J. Moré, G. Toraldo, "On the solution of large quadratic programming problems with bound
constraints", SIAM J. Optimization 1(1), 1991.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from .linalg import NotPositiveDefinite, cholesky, cholesky_solve
from .problem import Gram, Problem
from .solution import Solution

__all__ = ["circuits", "solve_smo", "unsuited"]

MOST_CLASSES = 16
# Violations, in units of the largest right-hand side: the first aim, the factor to the
# next one, and where rounding makes a smaller one pointless.
FIRST, NEXT, TINY = 0.05, 0.2, 1e-13
# Measured: the time of n³ operations of a Newton step over n of a working-set step.
NEWTON_PRICE = 0.002
PATIENCE, LEAST_BATCH = 1.0, 3
PROJECTIONS = 6
JITTER = 1e-13
POLISHED_SIZE, POLISHING = 1000, 1e-5


def unsuited(problem: Problem) -> str | None:
    """Why the working-set method cannot take a problem; None if it can."""
    if not all(isinstance(f.space, Gram) for f in problem.functions):
        return "a Gram matrix for every function"
    if problem.global_rows:
        return "constraints on single rows only, and this problem has global ones"
    if problem.free.any():
        return "inequalities only, and this problem has equality constraints"
    if problem.curvature.any():
        return "linear slacks only, and this problem has squared ones"
    if any(len(sharing) > 1 for sharing in problem.sharing):
        return "a slack of its own for each family, and here two families share one"
    if len(np.unique(problem.balance_columns(), axis=1).T) > MOST_CLASSES:
        return (
            f"at most {MOST_CLASSES} different columns in the balance equations, and "
            "this problem has more"
        )
    return None


def circuits(signatures: np.ndarray) -> np.ndarray:
    """Minimal dependences between the rows of signatures, each with both signs.

    The smallest coefficient of each is 1 in absolute value. A row of zeros depends on
    nothing else: its multipliers may move alone.

    Examples
    --------
    >>> import numpy as np
    >>> circuits(np.array([[1.0, 1.0], [-1.0, 1.0], [0.0, 1.0]]))
    array([[ 1.,  1., -2.],
           [-1., -1.,  2.]])
    """
    n_classes, n_balances = signatures.shape
    found = []
    for size in range(1, n_balances + 2):
        for support in combinations(range(n_classes), size):
            rows = signatures[list(support)]
            _, values, right = np.linalg.svd(rows.T, full_matrices=True)
            rank = int((values > 1e-10 * max(np.abs(rows).max(initial=0), 1)).sum())
            if rank != size - 1:
                continue
            weights = right[-1]
            if np.abs(weights).min() < 1e-10:
                continue  # a smaller support already has it
            weights = weights / np.abs(weights).min() * np.sign(weights[0])
            whole = np.zeros(n_classes)
            near = np.round(weights)
            whole[list(support)] = np.where(
                np.abs(weights - near) < 1e-9, near, weights
            )
            found += [whole, -whole]
    return np.array(found).reshape(-1, n_classes)


class _Flat:
    """The multipliers of a problem in order of their classes, as plain arrays."""

    def __init__(self, problem: Problem):
        self.problem = problem
        columns = problem.balance_columns().T
        signatures, members = np.unique(columns, axis=0, return_inverse=True)
        members = members.ravel()
        self.order = np.argsort(members, kind="stable")
        self.signatures = signatures
        counts = np.bincount(members, minlength=len(signatures))
        self.starts = np.concatenate([[0], np.cumsum(counts)])
        self.circuits = circuits(signatures)
        self.columns = columns[self.order]
        lengths = [problem.length(k) for k in range(len(problem.functions))]
        self.offsets = np.concatenate([[0], np.cumsum(lengths)])
        self.grams = tuple(_by_rows(f.space.matrix) for f in problem.functions)
        self.scale = np.array([1.0 / f.weight for f in problem.functions])
        most = max(len(family.on) for family in problem.families)
        size = problem.size
        fn, pos = np.zeros((2, most, size), dtype=np.int64)
        a = np.zeros((most, size))
        upper = np.full(size, np.inf)
        for q, (part, family) in enumerate(
            zip(problem.slices, problem.families, strict=True)
        ):
            for j, (k, coefficient) in enumerate(sorted(family.on.items())):
                fn[j, part] = k
                pos[j, part] = np.arange(lengths[k])[problem.positions(q, k)]
                a[j, part] = coefficient
            if family.slack is not None:
                upper[part] = family.slack.linear
        self.fn, self.pos = fn[:, self.order].copy(), pos[:, self.order].copy()
        self.a, self.upper = a[:, self.order].copy(), upper[self.order]
        self.at = self.offsets[self.fn] + self.pos
        self.rhs = problem.at_least[self.order]
        used = (self.a != 0).sum(axis=0)
        self.width = np.array(
            [
                used[start:stop].max(initial=1)
                for start, stop in zip(self.starts, self.starts[1:], strict=False)
            ]
        )
        diagonals = np.concatenate(
            [f.space.diagonal / f.weight for f in problem.functions]
        )
        self.diagonal = (self.a**2 * diagonals[self.at]).sum(axis=0)

    def gradient(self, value: np.ndarray) -> np.ndarray:
        return (self.a * value[self.at]).sum(axis=0) - self.rhs

    def spread(self, multipliers: np.ndarray) -> np.ndarray:
        """``Σ a∘λ`` on the rows of all functions, flat."""
        return np.bincount(
            self.at.ravel(),
            (self.a * multipliers).ravel(),
            minlength=self.offsets[-1],
        )

    def apply(self, expansion: np.ndarray) -> np.ndarray:
        """``K_k v_k/ρ_k``, flat."""
        return np.concatenate(
            [
                gram @ v * scale
                for gram, v, scale in zip(
                    self.grams, self.split(expansion), self.scale, strict=True
                )
            ]
        )

    def split(self, flat: np.ndarray) -> list[np.ndarray]:
        return np.split(flat, self.offsets[1:-1])


def _by_rows(gram: np.ndarray) -> np.ndarray:
    """A symmetric matrix with contiguous rows, without a copy where there is one."""
    if gram.dtype == np.float64:
        if gram.flags.c_contiguous:
            return gram
        if gram.flags.f_contiguous:
            return gram.T
    return np.ascontiguousarray(gram, dtype=np.float64)


class _State:
    """The point that the steps move: λ, the expansions v and the values K v/ρ."""

    def __init__(self, flat: _Flat):
        self.flat = flat
        self.multipliers = _feasible(flat)
        costs = [
            np.zeros(n) if f.cost is None else f.cost
            for f, n in zip(flat.problem.functions, np.diff(flat.offsets), strict=True)
        ]
        self.expansion = flat.spread(self.multipliers) - np.concatenate(costs)
        self.refresh()
        self.n_steps, self.work = 0, 0.0

    def refresh(self) -> None:
        """Compute the values anew: what the steps added up carries their rounding."""
        self.value = self.flat.apply(self.expansion)

    def descend(self, tol: float, most: int) -> float:
        """Working-set steps; the largest violation that is left."""
        from .smo_steps import descend

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
        inside = (self.multipliers > 0) & (self.multipliers < self.flat.upper)
        return np.flatnonzero(inside)

    def price(self) -> float:
        """What a Newton step on the free multipliers costs, in working-set steps."""
        return NEWTON_PRICE * len(self.free) ** 3 / self.flat.offsets[-1]

    def newton(self) -> bool:
        """Minimise over the free multipliers; whether that moved the point.

        Multipliers that would leave their box are set on its bound and the step is
        taken again without them. The line to the point found is searched exactly.
        """
        from .smo_steps import hessian

        flat, active = self.flat, self.free
        target = self.multipliers.copy()
        gradient = start = flat.gradient(self.value)
        missing = np.zeros(flat.columns.shape[1])
        for _ in range(PROJECTIONS):
            if not len(active):
                return False
            self.work += NEWTON_PRICE * len(active) ** 3 / flat.offsets[-1]
            self.n_steps += 1
            matrix = hessian(flat.grams, flat.scale, flat.fn, flat.pos, flat.a, active)
            try:
                step = _balanced_step(
                    matrix.T, flat.columns[active], gradient[active], missing
                )
            except (NotPositiveDefinite, np.linalg.LinAlgError):
                return False
            moved = target[active] + step
            inside = np.clip(moved, 0.0, flat.upper[active])
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
        if not (np.isfinite(bend) and slope < 0):
            return False
        length = min(1.0, -slope / bend) if bend > 0 else 1.0
        if length == 1.0:
            self.multipliers = target
        else:
            self.multipliers = self.multipliers + length * change
        self.expansion = self.expansion + length * spread
        self.refresh()
        return True

    def solution(self) -> Solution:
        """The certificate of the point, with biases from the class gradients."""
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
            "smo",
        )
        solution.penalised = flat.split(self.value.copy())
        return solution

    def _biases(self) -> np.ndarray:
        """b with ``g + s·b ≈ 0`` for the free multipliers, ≥ 0 at 0, ≤ 0 at d."""
        flat = self.flat
        gradient = flat.gradient(self.value)
        can_rise = self.multipliers < flat.upper
        can_fall = self.multipliers > 0
        first = flat.starts[:-1]
        low = np.minimum.reduceat(np.where(can_rise, gradient, np.inf), first)
        high = np.maximum.reduceat(np.where(can_fall, gradient, -np.inf), first)
        held = np.logical_or.reduceat(can_rise & can_fall, first)
        signatures = flat.signatures
        n_biases = signatures.shape[1]
        if n_biases == 0:
            return np.empty(0)
        if np.linalg.matrix_rank(signatures[held]) == n_biases:
            middle = 0.5 * (low + high)[held]
            return np.linalg.lstsq(signatures[held], -middle, rcond=None)[0]
        return _least_violation(signatures, low, high)


def _balanced_step(
    matrix: np.ndarray, columns: np.ndarray, gradient: np.ndarray, missing: np.ndarray
) -> np.ndarray:
    """The minimum of ``½xᵀHx + g·x`` with ``columnsᵀ x = missing``; H is overwritten."""
    index = np.arange(len(matrix))
    # Rank-deficient kernels: a little more than the rounding of the factorisation.
    matrix[index, index] += JITTER * matrix[index, index].mean()
    factor = cholesky(matrix)
    both = cholesky_solve(factor, np.column_stack([-gradient, columns]))
    free, response = both[:, 0], both[:, 1:]
    schur = columns.T @ response
    biases = np.linalg.lstsq(schur, columns.T @ free - missing, rcond=1e-13)[0]
    return free - response @ biases


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


def _feasible(flat: _Flat) -> np.ndarray:
    """A point that keeps every bound and every balance.

    If possible with ``v_k = 0`` for the functions that have a cost, by the multipliers
    that act on them alone (α = 0, β = C for SVM+); else by class totals.
    """
    problem = flat.problem
    multipliers = np.zeros(problem.size)
    for k, function in enumerate(problem.functions):
        alone = [
            q for q, family in enumerate(problem.families) if set(family.on) == {k}
        ]
        if function.cost is None or not alone:
            continue
        wanted = function.cost[problem.positions(alone[0], k)]
        wanted = wanted / problem.families[alone[0]].on[k]
        multipliers[problem.slices[alone[0]]] = wanted
    multipliers = np.clip(multipliers[flat.order], 0.0, flat.upper)
    costs = [
        0.0
        if problem.functions[k].cost is None
        else problem.functions[k].basis @ problem.functions[k].cost
        for k in problem.biased
    ]
    missed = flat.columns.T @ multipliers - costs
    size = np.abs(costs) + np.abs(flat.columns).T @ multipliers
    if (np.abs(missed) <= 1e-12 * size).all():
        return multipliers
    return _by_totals(flat, np.array(costs))


def _by_totals(flat: _Flat, costs: np.ndarray) -> np.ndarray:
    from scipy.optimize import linprog

    spans = [slice(a, b) for a, b in zip(flat.starts, flat.starts[1:], strict=False)]
    most = [flat.upper[span].sum() for span in spans]
    bounds = [(0.0, None if np.isinf(total) else total) for total in most]
    found = linprog(
        np.ones(len(spans)), A_eq=flat.signatures.T, b_eq=costs, bounds=bounds
    )
    if found.status != 0:
        raise ValueError(
            "No multipliers keep the bounds and the balance equations of this problem: "
            "its primal has no minimum. Check the costs of the functions."
        )
    multipliers = np.empty(len(flat.rhs))
    for span, total, limit in zip(spans, found.x, most, strict=True):
        bound = flat.upper[span]
        open_ended = np.isinf(bound)
        share = (
            open_ended / max(open_ended.sum(), 1) if np.isinf(limit) else bound / limit
        )
        multipliers[span] = total * share
    return multipliers


def solve_smo(problem: Problem, *, tol: float, max_iter: int) -> Solution:
    """Solve to a relative duality gap of tol; the best iterate if it cannot.

    max_iter bounds the work in units of one working-set step; a Newton step counts as
    many as take its time.
    """
    reason = unsuited(problem)
    if reason is not None:
        raise ValueError(
            f"solver='smo' needs {reason}. Use solver='interior', or 'auto', which "
            "chooses a solver that can take the problem."
        )
    state = _State(_Flat(problem))
    unit = np.abs(problem.at_least).max(initial=0.0) or 1.0
    eps, markup, best = FIRST * unit, 1.0, None
    while True:
        before = state.work
        batch = max(PATIENCE * markup * state.price(), LEAST_BATCH * problem.n_rows)
        worst = state.descend(eps, int(max(min(batch, max_iter - state.work), 0)))
        state.refresh()
        best = _better(best, state.solution())
        if best.is_optimal(tol) or state.work >= max_iter or eps < TINY * unit:
            break
        # Each further factor of NEXT takes about as many steps as this one did.
        further = max(np.log(best.relative_gap / tol) / -np.log(NEXT), 1.0)
        if worst > eps or further * (state.work - before) >= markup * state.price():
            moved = state.newton()
            after = state.descend(0.0, 0)
            best = _better(best, state.solution())
            if best.is_optimal(tol):
                break
            markup = 2.0 * markup if not moved or after > 0.5 * worst else 1.0
            worst = after
        eps = NEXT * min(eps, worst) if worst > 0 else NEXT * eps
    wanted = tol * (POLISHING if problem.n_rows <= POLISHED_SIZE else 1.0)
    if best.is_optimal(tol) and not best.is_optimal(wanted):
        state.newton()
        best = _better(best, state.solution())
    best.n_iter = state.n_steps
    best.converged = best.is_optimal(tol)
    return best


def _better(best: Solution | None, candidate: Solution) -> Solution:
    if best is None or candidate.relative_gap < best.relative_gap:
        return candidate
    return best
