"""Newton's equations on a face, for functions given by Gram matrices.

On a face some multipliers are at a bound, some are free, and two that share a slack may
be *tied* by ``λ + λ' = d``. The Newton step of the proximal method solves, for the free
ones::

    Σ_k a_k t_k + D λ = h,     t_k = K_k v_k/ρ_k + b_k e_k,     e_k·v_k = 0

A *private* multiplier acts on one function k ≥ 1 only and is eliminated by
:mod:`.leaf`. The remaining unknowns are the *shared* multipliers, which act on that
function and the first, those that act on the first function only, tied pairs (whose
contribution to function k is fixed), and a border of biases and global multipliers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lupi._convex.linalg import (
    add_diagonal,
    block,
    cholesky,
    cholesky_solve,
    inverse_of_small,
    put,
    scale,
    symmetric_product,
)
from lupi._convex.proximal.layout import Layout

__all__ = ["Face"]


class Face:
    """The free multipliers and the tied pairs, and the factor of their equations.

    ``free`` marks free multipliers; ``tied[s]`` are the rows of a shared slack s for
    which the sum of the two multipliers is constant.
    """

    def __init__(self, layout: Layout, free: np.ndarray, tied: dict[int, np.ndarray]):
        self.layout, self.free, self.tied = layout, free, tied
        problem = layout.problem
        self.n_biases = len(problem.biased)
        self.globals = np.flatnonzero(free[layout.start :])
        members, roots, signs, ridges, self._spans = [], [], [], [], {}

        def gather(q, chosen, extra=0.0):
            part, family = problem.slices[q], problem.families[q]
            flat = part.start + chosen
            members.append(flat)
            roots.append(layout.at(q, 0)[chosen])
            signs.append(family.on[0][chosen])
            ridges.append(layout.ridge[flat] + extra)

        for q in layout.rooted:
            gather(q, np.flatnonzero(free[problem.slices[q]]))
        start = sum(map(len, members))
        self._tied_spans = {}
        for s, rows in tied.items():
            outer, inner = layout.pairs[s]
            gather(outer, rows, layout.ridge[problem.slices[inner].start + rows])
            self._tied_spans[s] = slice(start, start + len(rows))
            start += len(rows)
        self._leaf_faces = {}
        for k, leaf in layout.leaves.items():
            is_free = np.zeros(problem.length(k), dtype=bool)
            if k in layout.private:
                q = layout.private[k]
                is_free[layout.at(q, k)] = free[problem.slices[q]]
            chosen = np.empty(0, dtype=int)
            if k in layout.shared:
                chosen = np.flatnonzero(free[problem.slices[layout.shared[k]]])
                at = layout.at(layout.shared[k], k)
                place = np.zeros(problem.length(k), dtype=int)
                place[at] = np.arange(len(at))
                face = leaf.face(is_free, at[chosen])
                gather(layout.shared[k], place[face.rows])
            else:
                face = leaf.face(is_free, chosen)
            self._leaf_faces[k] = face
            self._spans[k] = slice(start, start + len(chosen))
            start += len(chosen)
        self.members = np.concatenate(members) if members else np.empty(0, dtype=int)
        self.size = len(self.members)
        self._roots, self._signs = np.concatenate(roots), np.concatenate(signs)
        self._along = {
            k: self._coefficients(k) for k in range(len(problem.functions)) if k > 0
        }
        self._factorize(np.concatenate(ridges))
        self._prepare_border()

    @property
    def base(self) -> Face:
        """The face whose factors are used, which is this one."""
        return self

    def _coefficients(self, k: int) -> np.ndarray:
        """Return ``a_k`` of every member, zero for tied pairs."""
        out = self.layout.acting[k][self.members]
        for span in self._tied_spans.values():
            out[span] = 0.0
        return out

    def _basis(self, k: int) -> np.ndarray:
        """Return ``a_k e_k`` of every member."""
        signs = self._signs if k == 0 else self._along[k]
        return self.layout.bases[k][self.members] * signs

    def _factorize(self, ridges: np.ndarray) -> None:
        layout = self.layout
        matrix = _signed(block(layout.gram, self._roots, self._roots), self._signs)
        for k, face in self._leaf_faces.items():
            span = self._spans[k]
            if span.stop > span.start:
                schur = _signed(face.schur, self._along[k][span])
                put(matrix, span, span, schur, add=True)
            face.schur = None  # frees the largest array of a face
        add_diagonal(matrix, ridges)
        self._factor = cholesky(matrix) if self.size else matrix

    def _solve_final(self, right: np.ndarray) -> np.ndarray:
        return cholesky_solve(self._factor, right) if self.size else right

    def _prepare_border(self) -> None:
        """Set the border: the biases, then the free global multipliers."""
        problem, layout = self.layout.problem, self.layout
        n_biases, size = self.n_biases, self.n_biases + len(self.globals)
        columns = np.zeros((self.size, size), order="F")
        corner = np.zeros((size, size))
        self._bias_states = {}
        for j, k in enumerate(problem.biased):
            columns[:, j] = self._basis(k)
            if k not in self._leaf_faces:
                continue
            basis = problem.bases[k]
            state = self._leaf_faces[k].without_shared(-basis, np.zeros_like(basis))
            self._bias_states[k] = state
            columns[self._spans[k], j] += self._along[k][self._spans[k]] * state.value
            corner[j, j] = basis @ state.private
        for j, g in enumerate(self.globals, n_biases):
            corner[j, j] = layout.ridge[layout.start + g]
            row, image = problem.global_rows[int(g)], layout.images[g]
            for i, k in enumerate(problem.biased):
                if k in row.on:
                    corner[i, j] = corner[j, i] = row.on[k] @ problem.bases[k]
            if image is None:
                continue
            columns[:, j] = self._signs * image[self._roots]
            for i, other in enumerate(self.globals, n_biases):
                weight = layout.weights[other]
                if weight is not None:
                    corner[i, j] += weight @ image
        self._columns, self._solved = columns, self._solve_final(columns)
        self._border_inverse = inverse_of_small(corner - columns.T @ self._solved)
        self._prepare_rebalancing()

    def _prepare_rebalancing(self) -> None:
        """Set the response of the multipliers to each bias, and of the balances.

        With factors in single precision, a solution is corrected by these responses to
        satisfy the balance equations.
        """
        problem, n_biases = self.layout.problem, self.n_biases
        self._answers = None
        if self.layout.dtype == np.float64 or not n_biases:
            return
        units = np.eye(n_biases, len(self._border_inverse))
        states = {k: face.zero_states(n_biases) for k, face in self._leaf_faces.items()}
        nothing = np.zeros((n_biases, problem.size))
        solved = -self._solved[:, :n_biases].T
        self._answers = self._complete(solved, units, states, nothing)
        effect = problem.balance(problem.spread(self._answers))
        self._rebalance = np.linalg.pinv(effect, rcond=1e-10)

    def solve(
        self,
        right: np.ndarray,
        fixed: np.ndarray,
        given: list[np.ndarray],
        balance: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the multipliers and biases that solve the equations.

        ``right`` is h, ``fixed`` the fixed multipliers of the face (0 and d for a tied
        pair), ``given`` the expansions of these, and ``balance`` the right-hand sides
        of ``e_k·v_k``. Several right-hand sides may be the rows of matrices.
        """
        layout, problem = self.layout, self.layout.problem
        several = right.shape[:-1]
        wanted = np.zeros((*several, self.n_biases + len(self.globals)))
        reduced = right[..., self.members]
        value = None
        if given[0].any():
            value = symmetric_product(layout.gram, given[0].T).T
            reduced = reduced - self._signs * value[..., self._roots]
        for s, rows in self.tied.items():
            other = problem.slices[layout.pairs[s][1]].start + rows
            pull = right[..., other] - layout.ridge[other] * fixed[..., other]
            reduced[..., self._tied_spans[s]] -= pull
        for j, k in enumerate(problem.biased):
            wanted[..., j] = balance[..., j] - given[k] @ problem.bases[k]
        for j, g in enumerate(self.globals, self.n_biases):
            wanted[..., j] = right[..., layout.start + g]
            if value is not None and layout.weights[g] is not None:
                wanted[..., j] -= value @ layout.weights[g]
        states = {}
        for k, face in self._leaf_faces.items():
            span = self._spans[k]
            state = states[k] = face.without_shared(self._force(k, right), given[k])
            reduced[..., span] -= self._along[k][span] * state.value
            if k in self._bias_states:
                owed = state.private @ problem.bases[k]
                wanted[..., problem.biased.index(k)] -= owed
        step = self._solve_final(reduced.T).T
        border = (wanted - step @ self._columns) @ self._border_inverse
        step = step - border @ self._solved.T
        multipliers = self._complete(step, border, states, fixed)
        biases = border[..., : self.n_biases].copy()
        made = problem.spread(multipliers - fixed)
        made = [v + w for v, w in zip(given, made, strict=True)]
        if self._answers is not None:
            shift = (balance - problem.balance(made)) @ self._rebalance
            change = shift @ self._answers
            multipliers, biases = multipliers + change, biases + shift
            made = [v + w for v, w in zip(made, problem.spread(change), strict=True)]
        for j, k in enumerate(problem.biased):
            if k in layout.spaces:
                biases[..., j] -= layout.spaces[k].shift(made[k])
        return multipliers, biases

    def _force(self, k: int, right: np.ndarray) -> np.ndarray:
        """Return the right-hand side of the private multipliers, in expansion units."""
        layout, problem = self.layout, self.layout.problem
        force = np.zeros((*right.shape[:-1], problem.length(k)))
        if k in layout.private:
            q = layout.private[k]
            force[..., layout.at(q, k)] = (
                right[..., problem.slices[q]] / problem.families[q].on[k]
            )
        return force

    def _complete(self, step, border, states, fixed) -> np.ndarray:
        """Return all multipliers from those of the final system."""
        layout, problem = self.layout, self.layout.problem
        out = fixed.copy()
        out[..., self.members] += step
        for s, rows in self.tied.items():
            outer, inner = (problem.slices[q].start + rows for q in layout.pairs[s])
            out[..., inner] = fixed[..., inner] - out[..., outer]
        out[..., layout.start + self.globals] = border[..., self.n_biases :]
        for k, q in layout.private.items():
            state, span = states[k], self._spans[k]
            if k in self._bias_states:
                bias = border[..., problem.biased.index(k)]
                state = state.plus(bias, self._bias_states[k])
            face, part = self._leaf_faces[k], problem.slices[q]
            private = face.private(state, self._along[k][span] * step[..., span])
            moved = private[..., layout.at(q, k)] / problem.families[q].on[k]
            out[..., part] = np.where(self.free[part], moved, out[..., part])
        return out

    def reduce(self, vector: np.ndarray) -> np.ndarray:
        """Return a residual on the face, as `Layout.reduce`."""
        return self.layout.reduce(vector, self.free, self.tied)


def _signed(matrix: Any, signs: np.ndarray) -> Any:
    """Return ``diag(signs) · matrix · diag(signs)``, in place."""
    if (signs != 1.0).any():
        scale(matrix, signs, signs)
    return matrix
