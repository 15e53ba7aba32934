"""A proximal method of multipliers with Newton's method for the inner problems.

The dual of :mod:`lupi._convex.problem` is a quadratic program over a simple set Λ. Each
outer step adds a proximal term to it::

    λ⁺ = argmin_{λ ∈ Λ}  dual(λ) + ½ Σ σ (λ − λ̄)²

The dual of this step, `Augmented`, is solved by Newton's method on faces of Λ.
Compared with the interior-point method, the systems only have the free multipliers,
they are well conditioned, and a step on the same face needs no factorization.

The first proximal term of bounded multipliers is of the size of their box: with a small
one, all multipliers would change from one bound to the other. It is reduced as long as
Newton's method takes full steps and few multipliers become free or bound. Once the face
no longer changes, the problem on it is solved without the proximal term, which gives
the vertex.

References
----------
R. T. Rockafellar, "Augmented Lagrangians and applications of the proximal point
algorithm in convex programming", Mathematics of Operations Research 1(2), 1976.
X. Li, D. Sun, K.-C. Toh, "A highly efficient semismooth Newton augmented Lagrangian
method for solving Lasso problems", SIAM J. Optimization 28(1), 2018.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from lupi._convex.linalg import (
    NotPositiveDefinite,
    factor_precisions,
    first_zero,
    is_on_host,
    zero_of,
)
from lupi._convex.problem import Gram, Problem
from lupi._convex.proximal.faces import Equations, Face, Neighbor, unsuited
from lupi._convex.solution import Solution
from lupi._convex.tuning import DEFAULT, Tuning

# Relative rounding error of the sum of two multipliers.
SUM_ROUNDING = 4 * np.finfo(float).eps


class Bounds:
    """The set Λ of multipliers, its projection and its faces.

    Λ is a box, except that the multipliers λ and λ' of two families that share a slack
    have lower bounds and ``λ + λ' ≤ d``.
    """

    def __init__(self, problem: Problem, ridge: np.ndarray):
        self.problem, self.ridge = problem, ridge
        self.low = problem.lower
        self.high = np.full(problem.size, np.inf)
        for s, sharing in enumerate(problem.sharing):
            for q in sharing:
                part = problem.slices[q]
                others = sum(
                    problem.lower[problem.slices[o]] for o in sharing if o != q
                )
                self.high[part] = problem.limits[s] - others

    def project(self, point: np.ndarray) -> np.ndarray:
        """Return the nearest point of Λ in the norm weighted by the ridge."""
        out = np.clip(point, self.low, self.high)
        for _, limit, first, second in self._pairs():
            crowded = out[first] + out[second] > limit
            if crowded.any():
                d = limit[crowded]
                one, two = self.ridge[first][crowded], self.ridge[second][crowded]
                even = one * point[first][crowded] + two * (d - point[second][crowded])
                even /= one + two
                low, high = self.low[first][crowded], self.high[first][crowded]
                out[first][crowded] = even = np.clip(even, low, high)
                out[second][crowded] = d - even
        return out

    def _pairs(self):
        problem = self.problem
        for s, (outer, inner) in problem.structure.pairs.items():
            limit = problem.limits[s]
            yield s, limit, problem.slices[outer], problem.slices[inner]

    def face(self, point: np.ndarray) -> tuple[np.ndarray, dict[int, np.ndarray]]:
        """Return the free multipliers and the tied rows at a projected point."""
        free = (point > self.low) & (point < self.high)
        tied = {}
        for s, limit, first, second in self._pairs():
            size = np.abs(limit) + np.abs(point[first])  # x + (d − x) may round below d
            full = point[first] + point[second] >= limit - SUM_ROUNDING * size
            tied[s] = np.flatnonzero(full & free[first] & free[second])
            free[first] &= ~full
            free[second] &= ~full
        return free, tied


# Relative rounding errors of values, and of balance equations that count as satisfied
# by multipliers of a face and within conjugate gradients.
VALUE_ROUNDING, BALANCE_ERROR, BALANCE_ROUNDING = 1e-13, 1e-7, 1e-11
# Energy of the residual, relative to the least before, at which gradients diverge.
LARGEST_RISE = 1e2
# Length of a Newton step that leads nowhere.
NO_STEP = 1e-3
MOST_VERTEX_STEPS = 30
MOST_BIAS_STEPS, LEAST_BIAS_CURVATURE = 20, 1e-6


class _Target(NamedTuple):
    """Multipliers that solve the equations of a face, and their functions.

    ``residual`` is that of the equations, ``energy`` the square of their error in the
    norm of the equations, before the last correction.
    """

    multipliers: np.ndarray
    coefficients: list[np.ndarray]
    penalized: list[np.ndarray]
    biases: np.ndarray
    residual: np.ndarray
    energy: float


class Augmented:
    """The inner problem of the proximal method, and Newton's method for it.

    With ``t`` the values of the functions and ``m`` the left-hand sides of the
    constraints, the dual of one proximal step is smooth and unconstrained::

        min_{f, b}  Σ_k [ρ_k/2 ‖f_k‖² + c_k·t_k] + φ(m(t)),     −∂φ/∂m = λ(t)

        λ(t) = projection on Λ of  (σ λ̄ + r − m(t)) / D,        D = σ + 1/q

    This function is piecewise quadratic, and Newton's method with a line search
    converges in few steps. Each step solves the equations of a face (:mod:`.faces`) for
    the multipliers that are free in λ(t).
    """

    def __init__(
        self,
        problem: Problem,
        start: Solution | None,
        ridge: np.ndarray,
        dtype: type,
        tuning: Tuning,
    ):
        self.problem, self.tuning, self._begun = problem, tuning, start is not None
        self.layout = Equations(problem, ridge, dtype, tuning)
        self._face: Face | Neighbor | None = None
        self._worn = False
        # The last point whose functions have been computed.
        self._known: Solution | None = None
        # On a GPU a new factorization is faster than the vectors of many changes and
        # than many conjugate gradients.
        self._takes_neighbors = is_on_host(problem.spaces[0].matrix)
        self.set_ridge(ridge)
        self.biases = np.zeros(len(problem.biased))
        self.center = np.zeros(problem.size)
        if start is not None:
            self.biases, self.center = start.biases.copy(), start.multipliers
        self.center = self.bounds.project(self.center)
        self.coefficients = problem.coefficients(self.center)
        self.penalized = problem.penalized(self.coefficients)
        self.n_newton = 0
        self.lengths: list[float] = []
        self._columns = self.layout.columns

    def use(self, dtype: type) -> None:
        """Factorize in this precision from now on."""
        self._face = None
        del self.layout  # frees its copies before the new ones are made
        self.layout = Equations(self.problem, self.ridge, dtype, self.tuning)

    def set_ridge(self, ridge: np.ndarray) -> None:
        """Set the proximal term; on the host factors with another one are kept."""
        if not self._takes_neighbors:
            self._face, self._worn = None, True
        self.ridge = ridge
        self.bounds = Bounds(self.problem, ridge)
        self.sigma = ridge - self.problem.curvature

    def _margins(self, penalized, biases) -> np.ndarray:
        return self.problem.margins(self.problem.values(penalized, biases))

    def _unprojected(self, margins: np.ndarray) -> np.ndarray:
        right = self.sigma * self.center + self.problem.at_least
        return (right - margins) / self.ridge

    def on_last_face(self, point: np.ndarray) -> bool:
        """Return whether a projected point is on the face that was factorized last."""
        last = self._face
        if last is None:
            return False
        free, tied = self.bounds.face(point)
        return np.array_equal(free, last.free) and all(
            np.array_equal(rows, last.tied[s]) for s, rows in tied.items()
        )

    def n_changes(self, point: np.ndarray) -> int:
        """Return how many multipliers have become free or bound since the last face."""
        if self._face is None:
            return len(point)
        return int((self.bounds.face(point)[0] != self._face.free).sum())

    def _confirms(self, point: np.ndarray, other: np.ndarray) -> bool:
        """Return whether a point is on the last face, at the bounds of another."""
        low = self.bounds.low
        return self.on_last_face(point) and np.array_equal(point <= low, other <= low)

    def _use_face(self, point: np.ndarray) -> None:
        """Set the face of a projected point: that of the last factors if near."""
        free, tied = self.bounds.face(point)
        base = None if self._face is None or self._worn else self._face.base
        if base is not None:
            if self.on_last_face(point):
                return
            changes = Neighbor.distance(base, free, tied)
            if changes == 0:
                self._face = base
                return
            most = self.problem.n_rows // self.tuning.rows_per_change
            if self._takes_neighbors and changes <= most:
                try:
                    self._face = Neighbor(base, free, tied)
                    return
                except np.linalg.LinAlgError:
                    pass  # the changes are not independent
        base = self._face = None  # frees the old factors
        self._factorize(free, tied)

    def _factorize(self, free: np.ndarray, tied: dict[int, np.ndarray]) -> None:
        """Set and factorize a face, with the old term if that saves an inverse."""
        if self._worn or not self.layout.is_inverted:
            self.layout.set_ridge(self.ridge)
        self._face, self._worn = None, False
        self._face = Face(self.layout, free, tied)

    def minimize(self, most: int) -> tuple[np.ndarray, bool, bool]:
        """Minimize by Newton's method, for one outer step.

        Returns the multipliers, whether they solve the equations of their face, and
        whether all steps were on the face factorized before.
        """
        margins = self._margins(self.penalized, self.biases)
        multipliers = self.bounds.project(self._unprojected(margins))
        same_face = True
        if self._begun:
            # λ(t) repeats the last outer step; its end is a better starting point.
            multipliers = self.center
        else:
            self._begun = True
            self._hold_private(multipliers)
        balanced, guessed, tuning = True, True, self.tuning
        for _ in range(most):
            if not balanced or self._undetermined(multipliers):
                margins = self._settle_biases(margins)
                multipliers = self.bounds.project(self._unprojected(margins))
            same_face &= self.on_last_face(multipliers)
            self.n_newton, before = self.n_newton + 1, multipliers
            target = self._target(multipliers)
            length = self._move(target, margins)
            self.lengths.append(length)
            margins = self._margins(self.penalized, self.biases)
            multipliers = self.bounds.project(self._unprojected(margins))
            balanced = self._is_balanced(target)
            confirmed = balanced and self._confirms(multipliers, before)
            if length == 1.0 and confirmed and self.on_last_face(target.multipliers):
                # Near `multipliers`, and exact for the functions.
                return target.multipliers, True, same_face
            moved = np.abs(multipliers - self.center).max()
            error = np.abs(multipliers - target.multipliers).max()
            close = length >= tuning.inexact_length and error <= tuning.inexact * moved
            close = close and balanced
            if close or (length <= NO_STEP and not guessed):
                break
            guessed = False
        return multipliers, False, same_face

    def _is_balanced(self, target: _Target) -> bool:
        """Return whether the target satisfies the balance equations."""
        residual = np.abs(self.problem.balance(target.coefficients))
        size = np.abs(self._columns) @ np.abs(target.multipliers)
        return bool((residual <= BALANCE_ERROR * size).all())

    def _undetermined(self, multipliers: np.ndarray) -> bool:
        """Return whether the free multipliers do not determine all biases."""
        free, tied = self.bounds.face(multipliers)
        gram = (self._columns * free) @ self._columns.T
        for s, rows in tied.items():
            outer, inner = (self.problem.slices[q] for q in self.layout.pairs[s])
            both = self._columns[:, outer][:, rows] - self._columns[:, inner][:, rows]
            gram += both @ both.T
        lengths = np.sqrt(np.diagonal(gram))
        if not lengths.all():
            return True
        gram /= np.outer(lengths, lengths)
        return len(gram) > 0 and np.linalg.matrix_rank(gram) < len(gram)

    def _settle_biases(self, margins: np.ndarray) -> np.ndarray:
        """Minimize over the biases with fixed functions; return the new margins.

        The function is convex and piecewise quadratic in the biases; Newton's method
        with a line search minimizes it.
        """
        columns, costs = self._columns, self.problem.balance_targets
        for _ in range(MOST_BIAS_STEPS):
            point = self.bounds.project(self._unprojected(margins))
            slope = costs - columns @ point
            size = np.abs(costs) + np.abs(columns) @ np.abs(point)
            if (np.abs(slope) <= VALUE_ROUNDING * size).all():
                break
            free = self.bounds.face(point)[0]
            hessian = (columns[:, free] / self.ridge[free]) @ columns[:, free].T
            whole = (columns / self.ridge) @ columns.T
            index = np.arange(len(hessian))
            hessian[index, index] += LEAST_BIAS_CURVATURE * np.diagonal(whole)
            direction = -np.linalg.solve(hessian, slope)
            across = direction @ columns
            start = costs @ direction

            def along(length, start=start, across=across, margins=margins):
                moved = self._unprojected(margins + length * across)
                return start - across @ self.bounds.project(moved)

            length = zero_of(along, unit=1.0)
            self.biases = self.biases + length * direction
            margins = margins + length * across
        return margins

    def _hold_private(self, multipliers: np.ndarray) -> None:
        """Fix the private multipliers, so that the first face has small equations."""
        for q in self.layout.private.values():
            if not self.problem.families[q].equality:
                part = self.problem.slices[q]
                multipliers[part] = self.problem.lower[part]

    def _target(self, multipliers: np.ndarray) -> _Target:
        """Return the solution of the equations of the face of these multipliers."""
        tuning, ridge = self.tuning, self.ridge
        right = self.sigma * self.center + self.problem.at_least
        self._use_face(multipliers)
        while True:
            is_new = isinstance(self._face, Face) and self._face.ridge is ridge
            most = tuning.most_corrections
            corrections, first = self._corrections(multipliers, ridge, right), np.inf
            for n, target in enumerate(itertools.islice(corrections, most)):
                error = np.abs(target.residual / ridge).max()
                step = np.abs(target.multipliers - multipliers).max()
                values = right - self._margins(target.penalized, target.biases)
                rounding = VALUE_ROUNDING * np.abs(values / ridge).max()
                enough = max(tuning.face_accuracy * step, rounding)
                if error <= enough:
                    self._worn = n > most // 2 and not is_new
                    return target
                first = error if n == 0 else first
                if n >= most // 2 and not is_new and error**2 > first * enough:
                    break  # not half of the way
            if is_new:
                raise NotPositiveDefinite("the factors of a face are not accurate")
            corrections.close()  # frees its reference to the old factors
            self._worn = True
            self._factorize(*self.bounds.face(multipliers))

    def _corrections(
        self, multipliers: np.ndarray, ridge: np.ndarray, right: np.ndarray
    ) -> Generator[_Target, None, None]:
        """Yield better and better solutions of the equations of the last face.

        Conjugate gradients with factors for another proximal term, of another face or
        in single precision as preconditioner. All directions satisfy the balance
        equations, so that the method is the ordinary one on their null space.

        References
        ----------
        N. Gould, M. Hribar, J. Nocedal, "On the solution of equality constrained
        quadratic programming problems arising in optimization", SIAM J. Sci. Comput.
        23(4), 2001.
        """
        problem, face, biases = self.problem, self._face, self.biases
        assert face is not None
        known = self._known
        if known is None or known.multipliers is not multipliers:
            known = self.solution(multipliers, settled=False)
        coefficients, penalized = known.coefficients, known.penalized
        residual = right - self._margins(penalized, biases) - ridge * multipliers
        before = residual = face.reduce(residual)
        search, energy, least = np.zeros_like(residual), np.inf, np.inf
        while True:
            balance = -problem.balance(coefficients)
            size = np.abs(self._columns) @ np.abs(multipliers)
            unbalanced = bool((np.abs(balance) > BALANCE_ROUNDING * size).any())
            change, shift = self.layout.solve(face, residual, balance)
            biases = biases + shift
            residual = residual - face.reduce(self._columns.T @ shift)
            last, energy = energy, np.inf if unbalanced else float(residual @ change)
            if not (unbalanced or 0.0 <= energy <= LARGEST_RISE * least):
                return
            least, turn = min(least, energy), 0.0
            if not unbalanced and 0.0 < last < np.inf:
                turn = float((residual - before) @ change) / last
            search = change + turn * search
            spread = problem.spread(search)
            images = problem.penalized(spread)
            image = face.reduce(problem.margins(images) + ridge * search)
            curvature = float(search @ image)
            if unbalanced:
                length = 1.0  # satisfies the balance equations
            elif curvature > 0.0 or energy == 0.0:
                length = energy / curvature if energy > 0.0 else 0.0
            else:
                return
            multipliers = multipliers + length * search
            pairs = zip(coefficients, spread, strict=True)
            coefficients = [v + length * w for v, w in pairs]
            pairs = zip(penalized, images, strict=True)
            penalized = [t + length * f for t, f in pairs]
            before, residual = residual, residual - length * image
            yield _Target(
                multipliers, coefficients, penalized, biases, residual, energy
            )

    def _move(self, target: _Target, margins: np.ndarray) -> float:
        """Take a step towards the target; return its length (0 to 1)."""
        problem = self.problem
        wanted, new, biases = target.coefficients, target.penalized, target.biases
        shift = biases - self.biases
        change = [a - b for a, b in zip(new, self.penalized, strict=True)]
        moved = problem.values(change, shift)
        across = problem.margins(moved)
        start = curvature = 0.0
        for cost, v, w, df, dt in zip(
            problem.rest_costs, self.coefficients, wanted, change, moved, strict=True
        ):
            start += v @ df
            curvature += (w - v) @ df
            if cost is not None:
                start += cost @ dt
        scaled = across / self.ridge
        here = self._unprojected(margins)

        def slope(length: float) -> float:
            multipliers = self.bounds.project(here - length * scaled)
            return start + length * curvature - multipliers @ across

        length = first_zero(slope)
        if length == 1.0:
            self.coefficients, self.penalized, self.biases = wanted, new, biases
        else:
            for v, w in zip(self.coefficients, wanted, strict=True):
                v += length * (w - v)
            for t, dt in zip(self.penalized, change, strict=True):
                t += length * dt
            self.biases = self.biases + length * shift
        return length

    def solution(self, multipliers: np.ndarray, *, settled: bool) -> Solution:
        """Return multipliers as a solution; `settled` if they match the functions."""
        problem = self.problem
        solution = Solution(
            problem,
            multipliers,
            problem.coefficients(multipliers),
            self.biases.copy(),
            self.n_newton,
            False,
            "proximal",
        )
        if settled:
            solution.penalized = [t.copy() for t in self.penalized]
        self._known = solution
        return solution

    def vertex(self, multipliers: np.ndarray, to: float) -> Solution:
        """Solve for the free multipliers of a face without the proximal term."""
        problem, target, size = self.problem, None, 0.0
        self._use_face(multipliers)
        corrections = self._corrections(
            multipliers, problem.curvature, problem.at_least
        )
        for target in itertools.islice(corrections, MOST_VERTEX_STEPS):
            size = max(size, target.energy)
            if target.energy <= to**2 * size:
                break
        if target is None or not np.isfinite(target.multipliers).all():
            return self.solution(multipliers, settled=True)
        multipliers = self.bounds.project(target.multipliers)
        return Solution(
            problem,
            multipliers,
            problem.coefficients(multipliers),
            target.biases,
            self.n_newton,
            False,
            "proximal",
        )


# Proximal term of a bounded multiplier in units of its bound, and that of a global one
# in units of its curvature.
BOUNDED_TERM, GLOBAL_TERM = 2.0, 1e-3


class _Proximal:
    """The size of the proximal term, and the rules by which it changes."""

    def __init__(self, problem: Problem, tuning: Tuning, share: float | None):
        self.problem, self.tuning = problem, tuning
        self.least = tuning.least_proximal
        spaces = problem.spaces.items()
        sizes = [
            self._size(k)
            for k, space in spaces
            if isinstance(space, Gram) and space.factor is None
        ]
        stiffest = max((size for size in sizes if size < np.inf), default=0.0)
        stiff = min(
            tuning.narrowest_stiff * stiffest / self._size(0), tuning.flexible_proximal
        )
        self.narrowest = max(tuning.narrowest, stiff)
        # Without bounds, a small term may be large enough from the start.
        unbounded = bool(problem.structure.leaves) and not problem.slacks
        self.can_widen = share is None and unbounded
        self.usual, self.narrowing = tuning.proximal, tuning.narrowing
        if share is None:
            share = tuning.first_proximal
        if unbounded:
            self.usual = tuning.unbounded_proximal
            self.narrowing = tuning.first_unbounded
            share = min(share, tuning.first_unbounded)
            if problem.curvature.any():  # squared slacks need little more
                share = min(share, self.usual)
        self.share, self._n_easy = share, 0

    def follow(self, lengths: list[float], *, stuck: bool, easy: bool) -> bool:
        """Change the term after an outer step; return whether it changed."""
        before, tuning = self.share, self.tuning
        if stuck:
            self.share = max(self.share * tuning.sharpening, self.least)
        elif self.share > self.usual:
            self.share = max(self.share * self.narrowing, self.usual)
        elif min(lengths) < tuning.short_step:
            # From now on the term decreases in smaller steps.
            lost = max(lengths) < tuning.short_step
            self.share *= tuning.escaping if lost else tuning.widening
            self.usual = max(self.share, self.usual)
            self.narrowing = min(self.narrowing**0.5, tuning.mildest)
        elif easy:
            self._n_easy += self.share <= self.narrowest
            if self._n_easy == tuning.easy_steps:
                self._n_easy, self.narrowest = 0, self.share * self.narrowing
            narrow = max(self.share * self.narrowing, self.narrowest, self.least)
            self.share = min(self.share, narrow)
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

    def _size(self, k: int) -> float:
        """Return the mean of ``K_ii/ρ`` of a function; infinite if it is zero."""
        diagonal = self.problem.spaces[k].diagonal
        mean = float(np.mean(diagonal)) / self.problem.functions[k].weight
        return mean if mean > 0 else np.inf

    def ridge(self) -> np.ndarray:
        """Return σ + 1/q for every multiplier."""
        problem = self.problem
        root = min(self._size(0), 1e300)
        ridge = np.full(problem.size, self.share * root)
        first = problem.spaces[0]
        low_rank = isinstance(first, Gram) and first.factor is not None
        for part, family in zip(problem.slices, problem.families, strict=True):
            kernels = [k for k in family.on if problem.functions[k].space is not None]
            if family.slack is None and 0 in family.on and not low_rank:
                # The curvature of this multiplier is at least that of the first
                # function, however stiff the other one is.
                kernels = [0]
            # At most that of the first function, which is the only curvature if a
            # shared multiplier and a private one change by opposite amounts.
            ridge[part] = self.share * min(root, *map(self._size, kernels))
        for g in range(problem.size - len(problem.global_rows), problem.size):
            if problem.hessian_diagonal[g] > 0:
                # All others follow such a multiplier, whose curvature is then small.
                ridge[g] = GLOBAL_TERM * self.share * problem.hessian_diagonal[g]
        for cost, sharing in zip(problem.slack_costs, problem.sharing, strict=True):
            box = np.where(cost > 0, cost, 1.0)
            for q in sharing:
                part = problem.slices[q]
                ridge[part] = np.maximum(ridge[part], BOUNDED_TERM * self.share / box)
        curved = problem.curvature >= self.tuning.curved * root
        ridge[curved & problem.is_equality] = 0.0
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
    bounded = share and problem.slacks
    inner_steps = tuning.inner_steps if bounded else tuning.first_inner_steps
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
        waited = state.n_newton - since
        stalled = reached < 0.1 and waited > tuning.stalled_steps
        # Near the end, steps in single precision may be rounding errors.
        near = bool(precisions) and reached <= tuning.single_gap
        stalled |= near and waited > tuning.single_patience
        short = len(state.lengths) >= 12 and sum(state.lengths[-8:]) < tuning.short
        taken = state.lengths[before - state.n_newton :]
        # Directions in single precision that do not descend are rounding errors.
        lost = bool(precisions) and max(taken) < tuning.short_step
        if stalled or short or lost:
            if precisions:
                state.use(precisions.pop(0))
            elif proximal.widen():
                state.set_ridge(proximal.ridge())
            elif (
                failures < tuning.max_failures
                and proximal.share < tuning.first_proximal
            ):
                # The faces alternate, because the term was reduced too far.
                failures += 1
                proximal.loosen()
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
        few = state.n_changes(multipliers) * tuning.rows_per_narrowing <= problem.n_rows
        slow, moved = step > tuning.slow * moved, step
        easy = min(taken) == 1.0 and few and slow
        if proximal.follow(taken, stuck=stuck, easy=easy):
            state.set_ridge(proximal.ridge())
        if stuck and precisions:
            # Nearly singular equations need double precision.
            state.use(precisions.pop(0))
    if not best.is_optimal(tol):
        best = _better(best, state.solution(state.center, settled=False))
    best.n_iter = state.n_newton
    best.converged = best.is_optimal(tol)
    return best
