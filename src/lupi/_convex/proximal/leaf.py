"""The functions k ≥ 1 on a face, with the private multipliers that are free eliminated.

With ``R = K_k/ρ_k``, ``D`` the proximal term of the private multipliers, ``G`` the rows
on which these are free and ``N`` the others, the shared multipliers see::

    S = R − R_{·G} (R_GG + D)⁻¹ R_{G·}

Where G is small that is computed as it stands. Where N is, everything follows from
``P = (R + D)⁻¹``, which is computed once for all faces::

    S_NN = P_NN⁻¹ − D,   S_GN = −D P_GN P_NN⁻¹,   S_GG = D − D (P/P_NN) D

with ``P/P_NN = P_GG − P_GN P_NN⁻¹ P_NG``. Vectors may come as rows of a matrix, for
which all is then done at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lupi._convex.linalg import (
    add_diagonal,
    block,
    cholesky,
    cholesky_solve,
    copied,
    inverse_from_cholesky,
    product,
    put,
    scale,
    subtract_gram,
    symmetric_product,
    symmetrized,
    take_rows,
    transposed,
    transposed_product,
    triangular_solve,
    triangular_solve_vectors,
    zeros,
)
from lupi._convex.tuning import DEFAULT, Tuning

__all__ = ["FaceLeaf", "Rest"]


class Rest(NamedTuple):
    """A leaf while the shared multipliers of its face are zero: linear in its causes.

    Values on the shared rows, the private expansion, what the face needs to go on from
    there, and the expansion that was given.
    """

    value: np.ndarray
    private: np.ndarray
    memory: np.ndarray
    base: np.ndarray

    def plus(self, weight: np.ndarray, other: Rest) -> Rest:
        """With so much of another."""
        pairs = zip(self, other, strict=True)
        return Rest(*(mine + weight[..., None] * theirs for mine, theirs in pairs))


class FaceLeaf:
    """One function: its matrix R and the proximal term D on its rows."""

    def __init__(
        self,
        gram: Any,
        ridge: np.ndarray,
        tuning: Tuning = DEFAULT,
        *,
        again: bool = False,
    ):
        self.gram, self.ridge, self.tuning = gram, ridge, tuning
        self._faces = (
            tuning.faces_per_later_inverse if again else tuning.faces_per_inverse
        )
        self._inverse: Any = None
        self._factored: tuple[np.ndarray, Any] | None = None

    def face(self, private: np.ndarray, shared: np.ndarray):
        """Return the face on which these private and shared multipliers are free.

        The first are a mask, the second a list of rows, which the face may reorder.
        """
        n, n_free, n_shared = len(private), int(private.sum()), len(shared)
        n_both = int(private[shared].sum())
        n_bound = n - n_free
        direct = n_free**3 / 3 + n_free**2 * n_shared + n_free * n_shared**2
        inverse: float = n_bound**3 + n_bound**2 * n_both + n_bound * n_both**2
        if n < self.tuning.small_leaf:
            inverse *= self.tuning.small_leaf_factor
        if self._inverse is None:
            inverse += n**3 / self._faces
        if direct <= inverse:
            return _Direct(self, private, shared)
        return _ByInverse(self, private, shared)

    def factor(self, free: np.ndarray) -> Any:
        """Return the factor of ``R + D`` on these rows, kept for the next time."""
        if self._factored is None or not np.array_equal(free, self._factored[0]):
            self._factored = None  # two would not always fit
            matrix = block(self.gram, free, free)
            add_diagonal(matrix, self.ridge[free])
            self._factored = free, cholesky(matrix)
        return self._factored[1]

    def inverse(self) -> Any:
        """``(R + D)⁻¹``."""
        if self._inverse is None:
            matrix = copied(transposed(self.gram))
            add_diagonal(matrix, self.ridge)
            self._factored = None
            factor = cholesky(matrix)
            self._inverse = symmetrized(inverse_from_cholesky(factor, keep=False))
        return self._inverse


class _Direct:
    """Few free private multipliers: their block is factorized."""

    def __init__(self, leaf: FaceLeaf, private: np.ndarray, shared: np.ndarray):
        self.leaf, self.rows = leaf, shared
        self.free = np.flatnonzero(private)
        self.schur = block(leaf.gram, shared, shared)
        if len(self.free):
            self.factor = leaf.factor(self.free)
            columns = block(leaf.gram, self.free, shared)
            self.columns = triangular_solve(self.factor, columns)
            if len(shared):
                self.schur = subtract_gram(self.schur, self.columns)

    def at_rest(self, force: np.ndarray, base: np.ndarray) -> Rest:
        """With these forces on the private multipliers and this expansion given."""
        value = symmetric_product(self.leaf.gram, base.T).T
        force = (force - value)[..., self.free]
        value, private = value[..., self.rows], np.zeros_like(base)
        if len(self.free):
            half = triangular_solve_vectors(self.factor, force.T)
            moved = transposed_product(self.columns, half)
            value, force = value + moved.T, half.T
            full = triangular_solve_vectors(self.factor, half, transposed=True)
            private[..., self.free] = full.T
        return Rest(value, private, force, base)

    def unmoved(self, several: int) -> Rest:
        """So many rests that nothing causes."""
        lengths = len(self.rows), len(self.leaf.ridge), len(self.free)
        value, private, memory = (np.zeros((several, n)) for n in lengths)
        return Rest(value, private, memory, private)

    def private(self, rest: Rest, step: np.ndarray) -> np.ndarray:
        """Return the private expansion once the shared multipliers add theirs."""
        out = np.zeros_like(rest.base)
        if len(self.free):
            left = rest.memory.T - product(self.columns, step.T)
            solved = triangular_solve_vectors(self.factor, left, transposed=True)
            out[..., self.free] = solved.T
        return out


class _ByInverse:
    """Few bound private multipliers: a block of the inverse is factorized."""

    def __init__(self, leaf: FaceLeaf, private: np.ndarray, shared: np.ndarray):
        self.leaf = leaf
        self.inverse = inverse = leaf.inverse()
        self.is_free = private
        self.bound = bound = np.flatnonzero(~private)
        both = private[shared]
        self.alone, self.both = shared[~both], shared[both]
        self.rows = np.concatenate([self.alone, self.both])
        n_alone, n_both = len(self.alone), len(self.both)
        ridge = leaf.ridge[self.both]
        first, last = slice(0, n_alone), slice(n_alone, n_alone + n_both)
        corner = block(inverse, self.both, self.both)
        if n_alone:
            self.schur = zeros(inverse, n_alone + n_both, n_alone + n_both)
        if len(bound):
            self.factor = cholesky(block(inverse, bound, bound))
            if n_alone:
                at = np.searchsorted(bound, self.alone)
                outer = inverse_from_cholesky(self.factor)
                if n_alone < len(bound):
                    outer = block(outer, at, at)
                add_diagonal(outer, -leaf.ridge[self.alone])
                put(self.schur, first, first, outer)
            if n_both:
                self.cross = block(inverse, bound, self.both)
                half = triangular_solve(self.factor, copied(self.cross))
                corner = subtract_gram(corner, half)
                if n_alone:
                    full = triangular_solve(self.factor, half, transposed=True)
                    mixed = take_rows(full, at)
                    scale(mixed, -np.ones(n_alone), ridge)
                    put(self.schur, last, first, transposed(mixed))
        scale(corner, -ridge, ridge)
        add_diagonal(corner, ridge)
        if n_alone:
            put(self.schur, last, last, corner)
        else:
            self.schur = corner

    def at_rest(self, force: np.ndarray, base: np.ndarray) -> Rest:
        """With these forces on the private multipliers and this expansion given."""
        ridge = self.leaf.ridge
        push = np.where(self.is_free, force + ridge * base, 0.0)
        total = pushed = symmetric_product(self.inverse, push.T).T
        if len(self.bound):
            held = np.zeros_like(push)
            held[..., self.bound] = self._hold(pushed, base)
            total = total + symmetric_product(self.inverse, held.T).T
            push += held
        value = push - ridge * total
        private = np.where(self.is_free, total - base, 0.0)
        return Rest(value[..., self.rows], private, pushed, base)

    def unmoved(self, several: int) -> Rest:
        """So many rests that nothing causes."""
        value = np.zeros((several, len(self.rows)))
        nothing = np.zeros((several, len(self.is_free)))
        return Rest(value, nothing, nothing, nothing)

    def _hold(self, pushed: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """Return the forces that keep the bound rows at their bounds."""
        missing = wanted[..., self.bound] - pushed[..., self.bound]
        return cholesky_solve(self.factor, missing.T).T

    def private(self, rest: Rest, step: np.ndarray) -> np.ndarray:
        """Return the private expansion once the shared multipliers add theirs."""
        wanted = rest.base.copy()
        wanted[..., self.rows] += step
        push = np.zeros_like(wanted)
        push[..., self.both] = self.leaf.ridge[self.both] * step[..., len(self.alone) :]
        if len(self.bound):
            near = rest.memory.copy()
            if len(self.both):
                near[..., self.bound] += product(self.cross, push[..., self.both].T).T
            push[..., self.bound] = self._hold(near, wanted)
        total = rest.memory + symmetric_product(self.inverse, push.T).T
        return np.where(self.is_free, total - wanted, 0.0)
