"""The functions k ≥ 1 on a face, with the free private multipliers eliminated.

With ``R = K_k/ρ_k``, ``D`` the proximal term of the private multipliers, ``G`` the rows
on which these are free and ``N`` the others, the Schur complement for the shared
multipliers is::

    S = R − R_{·G} (R_GG + D)⁻¹ R_{G·}

It is computed in this form if G is small. If N is small, it is computed from
``P = (R + D)⁻¹``, which is the same for all faces::

    S_NN = P_NN⁻¹ − D,   S_GN = −D P_GN P_NN⁻¹,   S_GG = D − D (P/P_NN) D

with ``P/P_NN = P_GG − P_GN P_NN⁻¹ P_NG``. Several vectors may be given as the rows of a
matrix.
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
    diagonal,
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

__all__ = ["FaceLeaf", "LeafState"]


class LeafState(NamedTuple):
    """A leaf with the shared multipliers of its face at zero.

    It is linear in the forces and the given expansion: values on the shared rows, the
    private expansion, an intermediate result for `private`, and the given expansion.
    """

    value: np.ndarray
    private: np.ndarray
    intermediate: np.ndarray
    base: np.ndarray

    def plus(self, weight: np.ndarray, other: LeafState) -> LeafState:
        """Return the sum with a multiple of another."""
        pairs = zip(self, other, strict=True)
        return LeafState(*(one + weight[..., None] * another for one, another in pairs))


class FaceLeaf:
    """One function: its matrix R and the proximal term D on its rows."""

    def __init__(self, gram: Any, ridge: np.ndarray, tuning: Tuning = DEFAULT):
        self.gram, self.ridge, self.tuning = gram, ridge, tuning
        self._n_faces = 0
        # In single precision the inverse loses more digits than its Schur complements
        # have if R is much larger than D.
        single = diagonal(gram).dtype == np.float32
        stiffness = diagonal(gram).mean() / ridge.mean()
        self._stiff = single and stiffness > tuning.stiffest
        self._inverse: Any = None
        self._factored: tuple[np.ndarray, Any] | None = None

    def face(self, private: np.ndarray, shared: np.ndarray):
        """Return the face on which these private and shared multipliers are free.

        `private` is a mask, `shared` an array of rows, which the face may reorder.
        """
        n, n_free, n_shared = len(private), int(private.sum()), len(shared)
        n_both = int(private[shared].sum())
        n_bound = n - n_free
        direct = n_free**3 / 3 + n_free**2 * n_shared + n_free * n_shared**2
        inverse: float = n_bound**3 + n_bound**2 * n_both + n_bound * n_both**2
        self._n_faces += 1
        if self._inverse is None:
            # As many faces are expected as there have been.
            inverse += n**3 / self._n_faces
        if n < self.tuning.small_leaf:
            inverse *= self.tuning.small_leaf_factor
        if direct <= inverse or self._stiff:
            return _Direct(self, private, shared)
        return _ByInverse(self, private, shared)

    def factor(self, free: np.ndarray) -> Any:
        """Return the factor of ``R + D`` on these rows; the last one is kept."""
        if self._factored is None or not np.array_equal(free, self._factored[0]):
            self._factored = None  # two may not fit into memory
            matrix = block(self.gram, free, free)
            add_diagonal(matrix, self.ridge[free])
            self._factored = free, cholesky(matrix)
        return self._factored[1]

    def inverse(self) -> Any:
        """Return ``(R + D)⁻¹``."""
        if self._inverse is None:
            matrix = copied(transposed(self.gram))
            add_diagonal(matrix, self.ridge)
            self._factored = None
            factor = cholesky(matrix)
            self._inverse = symmetrized(inverse_from_cholesky(factor, keep=False))
        return self._inverse


class _Direct:
    """A face with few free private multipliers, whose block is factorized."""

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

    def without_shared(self, force: np.ndarray, base: np.ndarray) -> LeafState:
        """Return the leaf with these private forces and this given expansion."""
        value, private = np.zeros_like(base), np.zeros_like(base)
        if base.any():
            value = symmetric_product(self.leaf.gram, base.T).T
        force, value = (force - value)[..., self.free], value[..., self.rows]
        if len(self.free):
            half = triangular_solve_vectors(self.factor, force.T)
            moved = transposed_product(self.columns, half)
            value, force = value + moved.T, half.T
            full = triangular_solve_vectors(self.factor, half, transposed=True)
            private[..., self.free] = full.T
        return LeafState(value, private, force, base)

    def zero_states(self, several: int) -> LeafState:
        """Return several zero vectors."""
        lengths = len(self.rows), len(self.leaf.ridge), len(self.free)
        value, private, intermediate = (np.zeros((several, n)) for n in lengths)
        return LeafState(value, private, intermediate, private)

    def private(self, state: LeafState, step: np.ndarray) -> np.ndarray:
        """Return the private expansion after a step of the shared multipliers."""
        out = np.zeros_like(state.base)
        if len(self.free):
            left = state.intermediate.T - product(self.columns, step.T)
            solved = triangular_solve_vectors(self.factor, left, transposed=True)
            out[..., self.free] = solved.T
        return out


class _ByInverse:
    """A face with few private multipliers at bounds, solved by the inverse."""

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

    def without_shared(self, force: np.ndarray, base: np.ndarray) -> LeafState:
        """Return the leaf with these private forces and this given expansion."""
        ridge = self.leaf.ridge
        push = np.where(self.is_free, force + ridge * base, 0.0)
        total = pushed = np.zeros_like(push)
        if push.any():
            total = pushed = symmetric_product(self.inverse, push.T).T
        if len(self.bound):
            held = np.zeros_like(push)
            held[..., self.bound] = self._hold(pushed, base)
            total = total + symmetric_product(self.inverse, held.T).T
            push += held
        value = push - ridge * total
        private = np.where(self.is_free, total - base, 0.0)
        return LeafState(value[..., self.rows], private, pushed, base)

    def zero_states(self, several: int) -> LeafState:
        """Return several zero vectors."""
        value = np.zeros((several, len(self.rows)))
        nothing = np.zeros((several, len(self.is_free)))
        return LeafState(value, nothing, nothing, nothing)

    def _hold(self, pushed: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """Return the forces that keep multipliers at their bounds."""
        missing = wanted[..., self.bound] - pushed[..., self.bound]
        return cholesky_solve(self.factor, missing.T).T

    def private(self, state: LeafState, step: np.ndarray) -> np.ndarray:
        """Return the private expansion after a step of the shared multipliers."""
        wanted = state.base.copy()
        wanted[..., self.rows] += step
        push = np.zeros_like(wanted)
        push[..., self.both] = self.leaf.ridge[self.both] * step[..., len(self.alone) :]
        if len(self.bound):
            near = state.intermediate.copy()
            if len(self.both):
                near[..., self.bound] += product(self.cross, push[..., self.both].T).T
            push[..., self.bound] = self._hold(near, wanted)
        total = state.intermediate + symmetric_product(self.inverse, push.T).T
        return np.where(self.is_free, total - wanted, 0.0)
