"""The functions k ≥ 1 of a problem, with their private multipliers eliminated.

With ``R = K_k/ρ_k`` (plus the diagonal of a shared slack) and ``D`` the barrier of the
private multipliers, a leaf computes the parallel sum of both on the rows of the shared
multipliers, and solves with ``R + D``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lupi._convex.linalg import (
    add_at,
    add_diagonal,
    block,
    cholesky,
    cholesky_solve,
    copied,
    diagonal,
    inverse_from_cholesky,
    put,
    scale,
    scaled_block,
    subtract_gram,
    symmetric_product,
    take_rows,
    transposed,
    triangular_solve,
    zeros,
)
from lupi._convex.problem import Problem

__all__ = ["Leaf", "Merged", "times"]


class Merged:
    """Families that act on one function only, merged into one multiplier per row.

    If several families have a row, their conductances a²/D add up, as in
    ``D_j x_j + a_j τ = p_j`` with ``u = Σ a_j x_j``.
    """

    def __init__(self, problem: Problem, k: int, members: list[int]):
        self.members = [
            (problem.slices[q], problem.families[q].on[k], problem.positions(q, k))
            for q in members
        ]
        self.length = problem.length(k)
        covered = np.zeros(self.length, dtype=bool)
        for _, _, at in self.members:
            covered[at] = True
        self.rows = np.flatnonzero(covered)

    def update(self, diagonal: np.ndarray) -> None:
        """Set the barrier."""
        self.conductance = np.zeros(self.length)
        best = np.zeros(self.length)
        self._weights, self._leads = [], []
        for part, a, at in self.members:
            weight = a * a / diagonal[part]
            self.conductance[at] += weight
            self._weights.append(a / diagonal[part])
            best[at] = np.maximum(best[at], weight)
        taken = np.zeros(self.length, dtype=bool)
        for (_, a, at), scaled in zip(self.members, self._weights, strict=True):
            lead = (a * scaled >= best[at]) & ~taken[at]
            taken[at] |= lead
            self._leads.append(lead)
        self.barrier = np.full(self.length, np.inf)
        covered = self.conductance > 0
        np.divide(1.0, self.conductance, out=self.barrier, where=covered)

    def gather(self, right: np.ndarray) -> np.ndarray:
        """Return the right-hand side of the merged multiplier."""
        merged = np.zeros((self.length, *right.shape[1:]))
        for (part, _, at), weight in zip(self.members, self._weights, strict=True):
            merged[at] += times(weight, right[part])
        return times(np.where(self.conductance > 0, self.barrier, 0.0), merged)

    def scatter(self, merged, gathered, right, out) -> None:
        """Set the multiplier of each member; the leading one is the remainder."""
        if len(self.members) == 1:
            part, a, at = self.members[0]
            out[part] = times(1.0 / a, merged[at])
            return
        barrier = np.where(self.conductance > 0, self.barrier, 0.0)
        potential = gathered - times(barrier, merged)
        remainder = merged.copy()
        for (part, a, at), weight, lead in zip(
            self.members, self._weights, self._leads, strict=True
        ):
            follow = times(weight / a, right[part] - times(a, potential[at]))
            follow[lead] = 0.0
            out[part] = follow
            remainder[at] -= times(a, follow)
        for (part, a, at), lead in zip(self.members, self._leads, strict=True):
            out[part][lead] = times(1.0 / a, remainder[at])[lead]


class Leaf:
    """A function k ≥ 1: its eliminated private multipliers, and its shared ones."""

    def __init__(self, problem: Problem, k: int, decoupled: float):
        function, structure = problem.functions[k], problem.structure
        private, shared = structure.private[k], structure.shared[k]
        self.k, self.decoupled = k, decoupled
        self.weight = function.weight
        self.gram = problem.spaces[k].matrix
        self.gram_diagonal = problem.spaces[k].diagonal / function.weight
        self.private = Merged(problem, k, private)
        if len(shared) > 1:
            raise ValueError(
                f"Function {k} shares {len(shared)} families of constraints with the "
                "first function; the interior-point method for Gram matrices takes "
                "at most one."
            )
        self.shared = shared[0] if shared else None
        self.coupling = np.zeros(problem.length(k))
        self.inverse_limit, self.jitter = decoupled, 0.0
        # The barrier of equalities does not change: they are eliminated once.
        self._constant = all(problem.families[q].equality for q in private)
        self._once: tuple[np.ndarray, Any] | None = None

    def apply(self, vector: np.ndarray) -> np.ndarray:
        """Return ``(R + diag(coupling)) vector``."""
        product = symmetric_product(self.gram, vector) / self.weight
        return product + times(self.coupling, vector)

    def factorize(self, needed: np.ndarray) -> tuple[np.ndarray, Any]:
        """Factorize the pivot; return an order of the needed rows, and P on them."""
        own = self.gram_diagonal + self.coupling
        conductance = self.private.conductance
        strong = conductance * own > 1.0 / self.decoupled
        pivots = np.flatnonzero(strong)
        root = np.sqrt(conductance[pivots])
        self.pivots, self.root = pivots, root
        self.weak = np.flatnonzero(~strong & (conductance > 0))
        self.weak_diagonal = self.private.barrier[self.weak] + own[self.weak]
        by_inverse = conductance * own > 1.0 / self.inverse_limit
        inner = needed[by_inverse[needed]]
        outer = needed[~by_inverse[needed]]
        order = np.concatenate([inner, outer])
        if self._once is not None and np.array_equal(order, self._once[0]):
            return order, copied(self._once[1])

        parallel = self._parallel_sum(inner, outer)
        if self._constant:
            self._once = order, copied(parallel)
        return order, parallel

    def _parallel_sum(self, inner: np.ndarray, outer: np.ndarray) -> Any:
        """Return P, by its second form on the inner rows and by its first elsewhere."""
        pivots, root = self.pivots, self.root
        n_in, n_out = len(inner), len(outer)
        at = slice(None) if len(pivots) == len(self.gram) else pivots
        if len(pivots):
            matrix = scaled_block(self.gram, at, at, root / self.weight, root)
            add_diagonal(matrix, 1.0 + root**2 * self.coupling[pivots])
            if self.jitter:
                add_diagonal(matrix, self.jitter * diagonal(matrix))
            self.factor = cholesky(matrix)
        where = np.searchsorted(pivots, inner)
        corner = zeros(self.gram, 0, 0)
        if n_in:
            # D − D(R + D)⁻¹D, scaled by the square roots of D.
            corner = inverse_from_cholesky(self.factor)
            if n_in < len(pivots):
                corner = block(corner, where, where)
            size = 1.0 / root[where]
            scale(corner, -size, size)
            add_diagonal(corner, size**2)
        if not n_out:
            return corner
        first, last = slice(0, n_in), slice(n_in, n_in + n_out)
        parallel = zeros(self.gram, n_in + n_out, n_in + n_out)
        put(parallel, first, first, corner)
        ones = np.ones(n_out)
        corner = scaled_block(self.gram, outer, outer, ones / self.weight, ones)
        add_diagonal(corner, self.coupling[outer])
        if len(pivots):
            columns = scaled_block(self.gram, at, outer, root / self.weight, ones)
            both = np.flatnonzero(np.isin(outer, pivots))
            own = np.searchsorted(pivots, outer[both])
            add_at(columns, own, both, root[own] * self.coupling[outer[both]])
            columns = triangular_solve(self.factor, columns)
            corner = subtract_gram(corner, columns)
            columns = triangular_solve(self.factor, columns, transposed=True)
            mixed = take_rows(columns, where)
            scale(mixed, 1.0 / root[where], ones)
            put(parallel, last, first, transposed(mixed))
        put(parallel, last, last, corner)
        return parallel

    def solve_pivot(self, right: np.ndarray) -> np.ndarray:
        """Return the private multipliers with the shared ones at zero."""
        out = np.zeros_like(right)
        if len(self.pivots):
            scaled = times(self.root, right[self.pivots])
            solved = cholesky_solve(self.factor, scaled)
            out[self.pivots] = times(self.root, solved)
        out[self.weak] = times(1.0 / self.weak_diagonal, right[self.weak])
        return out

    def without_weak(self, vector: np.ndarray) -> np.ndarray:
        """Return a vector without decoupled multipliers, for the preconditioner."""
        out = np.zeros_like(vector)
        out[self.pivots] = vector[self.pivots]
        return out


def times(weight: np.ndarray, array: np.ndarray) -> np.ndarray:
    """Return the row-wise product for a vector or a matrix of columns."""
    return weight * array if array.ndim == 1 else weight[:, None] * array
