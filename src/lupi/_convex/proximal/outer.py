"""A proximal method of multipliers with Newton's method for the inner problems.

The dual of :mod:`lupi._convex.problem` is a quadratic program over a simple set Λ. Each
outer step adds a proximal term to it::

    λ⁺ = argmin_{λ ∈ Λ}  dual(λ) + ½ Σ σ (λ − λ̄)²

The dual of this step, :mod:`.augmented`, is solved by Newton's method on faces of Λ.
Compared with the interior-point method, the systems only have the free multipliers,
they are well conditioned, and a step on the same face needs no factorization.

The first proximal term of bounded multipliers is of the size of their box and is
reduced in every step: with a small one from the start, all multipliers would change
from one bound to the other. Once the face no longer changes, the problem on it is
solved without the proximal term, which gives the vertex.

References
----------
R. T. Rockafellar, "Augmented Lagrangians and applications of the proximal point
algorithm in convex programming", Mathematics of Operations Research 1(2), 1976.
X. Li, D. Sun, K.-C. Toh, "A highly efficient semismooth Newton augmented Lagrangian
method for solving Lasso problems", SIAM J. Optimization 28(1), 2018.
"""

from __future__ import annotations

import numpy as np

from lupi._convex.linalg import NotPositiveDefinite, factor_precisions
from lupi._convex.problem import Problem
from lupi._convex.proximal.augmented import Augmented
from lupi._convex.proximal.layout import unsuited
from lupi._convex.solution import Solution
from lupi._convex.tuning import DEFAULT, Tuning

__all__ = ["solve_proximal"]

# Proximal term of a bounded multiplier in units of its bound, and that of a global one
# in units of its curvature.
BOUNDED, GLOBAL = 2.0, 1e-3


class _Proximal:
    """The size of the proximal term, and the rules by which it changes."""

    def __init__(self, problem: Problem, tuning: Tuning, share: float | None):
        self.problem, self.tuning = problem, tuning
        self.least = tuning.least_proximal
        # Without bounds, a small term may be large enough from the start.
        unbounded = len(problem.structure.leaves) == 1 and not problem.slacks
        self.can_widen = share is None and unbounded
        self.usual, self.narrowing = tuning.proximal, tuning.narrowing
        if share is None:
            share = tuning.first_proximal
        if unbounded:
            self.usual = tuning.unbounded_proximal
            self.narrowing = tuning.first_unbounded
            share = min(share, tuning.first_unbounded)
        self.share = share

    def follow(self, *, stuck: bool, easy: bool, short: bool) -> bool:
        """Change the term after an outer step; return whether it changed."""
        before, tuning = self.share, self.tuning
        if stuck:
            self.share = max(self.share * tuning.sharpening, self.least)
        elif self.share > self.usual:
            self.share = max(self.share * self.narrowing, self.usual)
        elif short:
            self.share = min(self.share * tuning.widening, self.usual)
        elif easy:
            self.share = max(self.share * self.narrowing, self.least)
        return self.share != before

    def widen(self) -> bool:
        """Restart with a large term, at most once; return whether it was possible."""
        possible, self.can_widen = self.can_widen, False
        if possible:
            self.share = self.tuning.first_proximal
        return possible

    def loosen(self) -> None:
        """Increase the term, permanently, after equations were inaccurate."""
        self.share *= self.tuning.loosening
        self.least = self.share

    def ridge(self) -> np.ndarray:
        """Return σ + 1/q for every multiplier."""
        problem = self.problem

        def size(k):
            f = problem.functions[k]
            mean = float(np.mean(f.space.diagonal)) / f.weight
            return mean if mean > 0 else np.inf  # a zero kernel has no scale

        root = min(size(0), 1e300)
        ridge = np.full(problem.size, self.share * root)
        for part, family in zip(problem.slices, problem.families, strict=True):
            kernels = [k for k in family.on if problem.functions[k].space is not None]
            # At most that of the first function, which is the only curvature if a
            # shared multiplier and a private one change by opposite amounts.
            ridge[part] = self.share * min(root, *map(size, kernels))
        for g in range(problem.size - len(problem.global_rows), problem.size):
            if problem.hessian_diagonal[g] > 0:
                # All others follow such a multiplier, whose curvature is then small.
                ridge[g] = GLOBAL * self.share * problem.hessian_diagonal[g]
        for cost, sharing in zip(problem.slack_costs, problem.sharing, strict=True):
            box = np.where(cost > 0, cost, 1.0)
            for q in sharing:
                part = problem.slices[q]
                ridge[part] = np.maximum(ridge[part], BOUNDED * self.share / box)
        return ridge + problem.curvature


def _better(best: Solution, candidate: Solution) -> Solution:
    candidate = candidate.without_idle_functions()
    return candidate if candidate.relative_gap <= best.relative_gap else best


def solve_proximal(
    problem: Problem,
    *,
    tol: float,
    max_iter: int,
    tuning: Tuning = DEFAULT,
    start: Solution | None = None,
    share: float | None = None,
) -> Solution:
    """Solve to a relative duality gap of tol; otherwise return the best iterate.

    ``start`` is a point with many multipliers at the right bounds, and ``share`` the
    proximal term with which to start there.
    """
    reason = unsuited(problem)
    if reason is not None:
        raise ValueError(
            f"solver='proximal' needs {reason}. Use solver='interior', or 'auto', "
            "which chooses a suitable solver."
        )
    precisions = list(factor_precisions(problem.spaces[0].matrix))
    if problem.n_rows < tuning.single_size:
        del precisions[:-1]
    proximal = _Proximal(problem, tuning, share)
    state = Augmented(problem, start, proximal.ridge(), precisions.pop(0), tuning)
    best, vertex_tried = state.solution(state.center, settled=False), False
    small = problem.n_rows <= tuning.polished_size
    # The gap bounds the error of the objective, but that of decision values only by its
    # square root: small problems are solved up to the vertex.
    aim = tuning.aim(problem.n_rows, tol)
    to = tuning.vertex_accuracy if small else tuning.vertex_share * tol
    reached, since, failures = np.inf, 0, 0
    moved = 0.0
    inner_steps = tuning.inner_steps if share else tuning.first_inner_steps
    while state.n_newton < max_iter:
        before = state.n_newton
        try:
            most = min(inner_steps, max_iter - before)
            multipliers, settled, same_face = state.minimize(most)
            best = _better(best, state.solution(multipliers, settled=settled))
            vertex_tried &= same_face
            try_vertex = small if best.is_optimal(aim) else same_face
            if settled and try_vertex and not vertex_tried:
                vertex_tried = True
                best = _better(best, state.vertex(multipliers, to))
        except (NotPositiveDefinite, np.linalg.LinAlgError):
            if precisions:
                state.use(precisions.pop(0))
            elif failures < tuning.max_failures:
                failures += 1
                proximal.loosen()
                state.set_ridge(proximal.ridge())
            else:
                break
            continue
        if best.is_optimal(aim):
            break
        if best.relative_gap <= 0.5 * reached:
            reached, since = best.relative_gap, state.n_newton
        stalled = reached < 0.1 and state.n_newton - since > tuning.stalled_steps
        short = len(state.lengths) >= 12 and sum(state.lengths[-8:]) < tuning.short
        taken = state.lengths[before - state.n_newton :]
        # Directions in single precision that do not descend are rounding errors.
        lost = bool(precisions) and max(taken) < tuning.short_step
        if stalled or short or lost:
            if precisions:
                state.use(precisions.pop(0))
            elif proximal.widen():
                state.set_ridge(proximal.ridge())
            else:
                break
            state.lengths.clear()
            since = state.n_newton
            continue
        if best.is_optimal(tol):
            max_iter = min(max_iter, state.n_newton + tuning.polishing_steps)
        center, state.center = state.center, multipliers
        stuck = settled and same_face
        step = np.abs(multipliers - center).max()
        shortest = min(taken)
        few = state.n_changes(multipliers) * tuning.rows_per_narrowing <= problem.n_rows
        slow, moved = step > tuning.slow * moved, step
        easy = shortest == 1.0 and few and slow
        if proximal.follow(stuck=stuck, easy=easy, short=shortest < tuning.short_step):
            state.set_ridge(proximal.ridge())
        if stuck and precisions:
            # Nearly singular equations need double precision.
            state.use(precisions.pop(0))
    if not best.is_optimal(tol):
        best = _better(best, state.solution(state.center, settled=False))
    best.n_iter = state.n_newton
    best.converged = best.is_optimal(tol)
    return best
