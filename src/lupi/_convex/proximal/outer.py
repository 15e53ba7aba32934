"""A proximal method of multipliers with Newton's method inside.

The dual of :mod:`.problem` is a quadratic program over a simple set Λ. Each outer
step adds a proximal term to it::

    λ⁺ = argmin_{λ ∈ Λ}  dual(λ) + ½ Σ σ (λ − λ̄)²

whose own dual, :mod:`.augmented`, is solved by Newton's method on faces of Λ. Compared
with the interior point the systems shrink to what is free, they stay well conditioned,
and a step on a face that was met before costs no factorization.

Bounded multipliers begin with a proximal term of the size of their box, which is made
smaller step by step: with a small one from the start, all would jump from one bound to
the other. Once the face stays the same, the proximal term is dropped and the vertex
solved for.

References
----------
R. T. Rockafellar, "Augmented Lagrangians and applications of the proximal point
algorithm in convex programming", Mathematics of Operations Research 1(2), 1976.
X. Li, D. Sun, K.-C. Toh, "A highly efficient semismooth Newton augmented Lagrangian
method for solving Lasso problems", SIAM J. Optimization 28(1), 2018.
"""

from __future__ import annotations

import numpy as np

from lupi._convex.linalg import NotPositiveDefinite
from lupi._convex.problem import Problem
from lupi._convex.proximal.augmented import Augmented
from lupi._convex.proximal.layout import unsuited
from lupi._convex.solution import Solution
from lupi._convex.tuning import DEFAULT, Tuning

__all__ = ["solve_proximal"]


class _Proximal:
    """How large the proximal term is, and when it becomes smaller."""

    def __init__(self, problem: Problem, tuning: Tuning):
        self.problem, self.tuning = problem, tuning
        self.share, self.wide = tuning.proximal, tuning.wide_proximal

    @property
    def is_wide(self) -> bool:
        """Whether bounded multipliers still have a term of the size of their box."""
        return bool(self.problem.slacks) and self.wide > self.tuning.least_wide

    def tighten(self, *, stuck: bool) -> bool:
        """Make the term smaller where that is due; whether it was."""
        before, tuning = (self.share, self.wide), self.tuning
        if stuck:
            self.share = max(self.share * tuning.sharpening, tuning.least_proximal)
            self.wide *= tuning.sharpening
        elif self.is_wide:
            self.wide *= tuning.narrowing
        return (self.share, self.wide) != before

    def ridge(self) -> np.ndarray:
        """σ + 1/q for every multiplier."""
        problem = self.problem

        def size(k):
            f = problem.functions[k]
            mean = float(np.mean(f.space.diagonal)) / f.weight
            return mean if mean > 0 else np.inf  # a kernel of zeros says nothing

        root = min(size(0), 1e300)
        ridge = np.full(problem.size, self.share * root)
        for part, family in zip(problem.slices, problem.families, strict=True):
            kernels = [k for k in family.on if problem.functions[k].space is not None]
            # Not more than the first function has: where a shared multiplier moves
            # against a private one, that is all there is against it.
            ridge[part] = self.share * min(root, *map(size, kernels))
        for g in range(problem.size - len(problem.global_rows), problem.size):
            if problem.bends[g] > 0:
                ridge[g] = self.share * problem.bends[g]
        for cost, sharing in zip(problem.slack_costs, problem.sharing, strict=True):
            width = cost[cost > 0]
            typical = width.mean() if width.size else 1.0
            for q in sharing:
                part = problem.slices[q]
                ridge[part] = np.maximum(ridge[part], self.wide / typical)
        return ridge + problem.curvature


def _balancing_multipliers(problem: Problem) -> np.ndarray:
    """Zero, but for private multipliers, which balance the cost of their function."""
    multipliers = np.zeros(problem.size)
    for k, private in problem.structure.private.items():
        cost = problem.functions[k].cost
        if cost is not None:
            for q in private:
                at, family = problem.positions(q, k), problem.families[q]
                multipliers[problem.slices[q]] = cost[at] / family.on[k]
    return multipliers


def _better(best: Solution, candidate: Solution) -> Solution:
    return candidate if candidate.relative_gap <= best.relative_gap else best


def solve_proximal(
    problem: Problem, *, tol: float, max_iter: int, tuning: Tuning = DEFAULT
) -> Solution:
    """Solve to a relative duality gap of tol; the best iterate if it cannot."""
    reason = unsuited(problem)
    if reason is not None:
        raise ValueError(
            f"solver='proximal' needs {reason}. Use solver='interior', or 'auto', "
            "which chooses a solver that can take the problem."
        )
    single = problem.n_rows >= tuning.single_size
    proximal = _Proximal(problem, tuning)
    state = Augmented(
        problem,
        _balancing_multipliers(problem),
        proximal.ridge(),
        np.float32 if single else np.float64,
        tuning,
    )
    best, tried = state.solution(state.center, settled=False), False
    small = problem.n_rows <= tuning.polished_size
    # A gap bounds the objective, and decision values only by its square root: small
    # problems go on to the vertex.
    aim = tol * (tuning.polished_gap if small else 1.0)
    to = tuning.vertex_accuracy if small else tuning.vertex_share * tol
    while state.n_newton < max_iter:
        most = tuning.wide_inner_steps if proximal.is_wide else tuning.inner_steps
        most = min(most, max_iter - state.n_newton)
        try:
            multipliers, settled, known = state.minimize(most)
            if settled or not small:  # what is not settled ends in no vertex
                best = _better(best, state.solution(multipliers, settled=settled))
            tried &= known
            if settled and known and not (tried or best.is_optimal(aim)):
                tried = True
                best = _better(best, state.vertex(multipliers, to))
        except (NotPositiveDefinite, np.linalg.LinAlgError):
            if not single:
                break
            single = False
            state.use(np.float64)
            continue
        if best.is_optimal(aim):
            break
        if best.is_optimal(tol):
            max_iter = min(max_iter, state.n_newton + tuning.polishing_steps)
        state.center = multipliers
        stuck = settled and known
        if proximal.tighten(stuck=stuck):
            state.set_ridge(proximal.ridge())
        if stuck and single:
            # Nearly singular equations want the digits of double precision.
            single = False
            state.use(np.float64)
    if not best.is_optimal(tol):
        best = _better(best, state.solution(state.center, settled=False))
    best.n_iter = state.n_newton
    best.converged = best.is_optimal(tol)
    return best
