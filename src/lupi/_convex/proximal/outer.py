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


class _Proximal:
    """The size of the proximal term, and the rules by which it changes."""

    def __init__(self, problem: Problem, tuning: Tuning, *, near: bool = False):
        self.problem, self.tuning = problem, tuning
        self.share, self.wide = tuning.first_proximal, tuning.wide_proximal
        self.narrowing, self.least = tuning.narrowing, tuning.least_proximal
        self.can_widen = False
        if near:
            self.share, self.wide = tuning.proximal, tuning.least_wide
            return
        self.can_widen = len(problem.structure.leaves) == 1 and not problem.slacks
        if self.can_widen:
            self.share = self.narrowing = tuning.first_unbounded

    @property
    def is_wide(self) -> bool:
        """Whether the term is still in its first, large range."""
        if self.share > self.tuning.proximal:
            return True
        return bool(self.problem.slacks) and self.wide > self.tuning.least_wide

    def tighten(self, *, stuck: bool, easy: bool) -> bool:
        """Reduce the term if the rules require it; return whether it changed."""
        before, tuning = (self.share, self.wide), self.tuning
        if stuck or (easy and not self.is_wide):
            self.share = max(self.share * tuning.sharpening, self.least)
            self.wide *= tuning.sharpening
        elif self.is_wide:
            self.wide *= self.narrowing
            if self.share > tuning.proximal:
                self.share = max(self.share * self.narrowing, tuning.proximal)
        return (self.share, self.wide) != before

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
                ridge[g] = self.share * problem.hessian_diagonal[g]
        for cost, sharing in zip(problem.slack_costs, problem.sharing, strict=True):
            box = np.where(cost > 0, cost, 1.0)
            for q in sharing:
                part = problem.slices[q]
                ridge[part] = np.maximum(ridge[part], self.wide / box)
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
) -> Solution:
    """Solve to a relative duality gap of tol; otherwise return the best iterate.

    ``start`` is a point near the solution, with most multipliers at their bounds.
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
    proximal = _Proximal(problem, tuning, near=start is not None)
    state = Augmented(problem, start, proximal.ridge(), precisions.pop(0), tuning)
    best, vertex_tried = state.solution(state.center, settled=False), False
    small = problem.n_rows <= tuning.polished_size
    # The gap bounds the error of the objective, but that of decision values only by its
    # square root: small problems are solved up to the vertex.
    aim = tuning.aim(problem.n_rows, tol)
    to = tuning.vertex_accuracy if small else tuning.vertex_share * tol
    reached, since, failures = np.inf, 0, 0
    unit = np.abs(problem.at_least).max(initial=0.0)
    while state.n_newton < max_iter:
        most = tuning.wide_inner_steps if proximal.is_wide else tuning.inner_steps
        most = min(most, max_iter - state.n_newton)
        before = state.n_newton
        try:
            inexact = tuning.wide_inexact if proximal.is_wide else tuning.inexact
            multipliers, settled, same_face = state.minimize(most, inexact)
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
        if stalled or short:
            if not proximal.widen():
                break
            state.set_ridge(proximal.ridge())
            state.lengths.clear()
            since = state.n_newton
            continue
        if best.is_optimal(tol):
            max_iter = min(max_iter, state.n_newton + tuning.polishing_steps)
        center, state.center = state.center, multipliers
        stuck = settled and same_face
        step = np.abs(state.sigma * (multipliers - center)).max()
        easy = state.n_newton - before <= tuning.easy_steps
        easy = easy and step > tuning.slow * unit
        if proximal.tighten(stuck=stuck, easy=easy):
            state.set_ridge(proximal.ridge())
        if stuck and precisions:
            # Nearly singular equations need double precision.
            state.use(precisions.pop(0))
    if not best.is_optimal(tol):
        best = _better(best, state.solution(state.center, settled=False))
    best.n_iter = state.n_newton
    best.converged = best.is_optimal(tol)
    return best
