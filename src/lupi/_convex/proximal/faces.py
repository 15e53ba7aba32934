"""Newton's equations on a face, for functions given by Gram matrices.

On a face some multipliers are at a bound, some are free, and two that share a slack may
be *tied* by ``λ + λ' = d``. The Newton step of the proximal method solves, for the free
ones::

    Σ_k a_k t_k + D λ = h,     t_k = K_k v_k/ρ_k + b_k e_k,     e_k·v_k = 0

A *private* multiplier acts on one function k ≥ 1 only and is eliminated by
`FaceLeaf`. The remaining unknowns are the *shared* multipliers, which act on that
function and the first, those that act on the first function only, tied pairs (whose
contribution to function k is fixed), and a border of biases and global multipliers.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np

from lupi._convex.linalg import (
    add_diagonal,
    block,
    cholesky,
    cholesky_solve,
    copied,
    diagonal,
    in_precision,
    inverse_from_cholesky,
    inverse_of_small,
    product,
    put,
    scale,
    subtract_gram,
    subtract_outer,
    symmetric_product,
    symmetrized,
    take_rows,
    transposed,
    transposed_product,
    triangular_solve,
    triangular_solve_vectors,
    zeros,
)
from lupi._convex.problem import Function, Gram, Problem
from lupi._convex.tuning import DEFAULT, Tuning


class Centered:
    """Centered Gram matrices, for single precision.

    A function with basis e satisfies ``e·v = 0``. For such v the matrices K and::

        ΠKΠ = K − k eᵀ − e kᵀ + κ e eᵀ,     Π = I − e eᵀ/(e·e),  k = K e/(e·e)

    differ by a multiple of e only, ``ΠKΠ v = K v − (k·v) e``, which is a shift of the
    bias. K has a large eigenvalue near e, which costs accuracy in single precision; ΠKΠ
    has not. In double precision K/ρ is used.
    """

    def __init__(self, function: Function, dtype: type):
        gram, basis = cast(Gram, function.space).matrix, function.basis
        self.mean: np.ndarray | None = None
        self.matrix = in_precision(gram, function.weight, dtype)
        self.factor = cast(Gram, function.space).factor
        if self.factor is not None:
            self.factor = self.factor / np.sqrt(function.weight)
        if dtype != np.float64 and basis is not None:
            square = basis @ basis
            if self.factor is not None:
                self.factor -= np.outer(basis / square, basis @ self.factor)
            mean = symmetric_product(gram, basis) / (square * function.weight)
            self.mean = mean
            half = mean - 0.5 * (mean @ basis) / square * basis
            subtract_outer(self.matrix, half, basis)

    def shift(self, expansion: np.ndarray) -> np.ndarray | float:
        """Return ``k·v``, the difference of the biases with K and with ΠKΠ."""
        return 0.0 if self.mean is None else expansion @ self.mean


class LeafState(NamedTuple):
    """A leaf with the shared multipliers of its face at zero, linear in the forces.

    Values on the shared rows, the private expansion and an intermediate result for
    `private`.
    """

    value: np.ndarray
    private: np.ndarray
    intermediate: np.ndarray

    def plus(self, weight: np.ndarray, other: LeafState) -> LeafState:
        """Return the sum with a multiple of another."""
        pairs = zip(self, other, strict=True)
        return LeafState(*(one + weight[..., None] * another for one, another in pairs))


class FaceLeaf:
    """The functions k ≥ 1 on a face, with the free private multipliers eliminated.

    With ``R = K_k/ρ_k``, ``D`` the proximal term of the private multipliers, ``G`` the
    rows on which these are free and ``N`` the others, the Schur complement for the
    shared multipliers is::

        S = R − R_{·G} (R_GG + D)⁻¹ R_{G·}

    It is computed in this form if G is small. If N is small, it is computed from ``P =
    (R + D)⁻¹``, which is the same for all faces::

        S_NN = P_NN⁻¹ − D,   S_GN = −D P_GN P_NN⁻¹,   S_GG = D − D (P/P_NN) D

    with ``P/P_NN = P_GG − P_GN P_NN⁻¹ P_NG``. If ``R = ΦΦᵀ`` has a low rank::

        S = Φ M⁻¹ Φᵀ,   M = I + Φ_Gᵀ D⁻¹ Φ_G

    Several vectors may be given as the rows of a matrix.
    """

    def __init__(
        self,
        gram: Any,
        ridge: np.ndarray,
        tuning: Tuning = DEFAULT,
        factor: np.ndarray | None = None,
    ):
        self.gram, self.ridge, self.tuning = gram, ridge, tuning
        self.low_rank = factor
        self._n_faces = 0
        # In single precision P_NN⁻¹ loses more digits than P_NN⁻¹ − D has if R is much
        # larger than D.
        single = diagonal(gram).dtype == np.float32
        stiffness = diagonal(gram).mean() / ridge.mean()
        self._stiff = single and stiffness > tuning.stiffest
        self.kept: Any = None  # (R + D)⁻¹

    def face(self, private: np.ndarray, shared: np.ndarray):
        """Return the face on which these private and shared multipliers are free.

        `private` is a mask, `shared` an array of rows, which the face may reorder.
        """
        if self.low_rank is not None:
            return _LowRank(self, self.low_rank, private, shared)
        n, n_free, n_shared = len(private), int(private.sum()), len(shared)
        n_both = int(private[shared].sum())
        n_bound, n_alone = n - n_free, n_shared - n_both
        direct = n_free**3 / 3 + n_free**2 * n_alone + n_free * n_alone**2
        direct += 2 * n_both**3 / 3 + n_both**2 * n_alone
        inverse: float = n_bound**3 + n_bound**2 * n_both + n_bound * n_both**2
        self._n_faces += 1
        if self.kept is None:
            # As many faces are expected as there have been.
            inverse += n**3 / self._n_faces
        if n < self.tuning.small_leaf:
            inverse *= self.tuning.small_leaf_factor
        if direct < inverse or (self._stiff and n_bound):
            return _Direct(self, private, shared)
        return _ByInverse(self, private, shared)

    def inverse(self) -> Any:
        """Return ``(R + D)⁻¹``."""
        if self.kept is None:
            matrix = copied(transposed(self.gram))
            add_diagonal(matrix, self.ridge)
            factor = cholesky(matrix)
            self.kept = symmetrized(inverse_from_cholesky(factor, keep=False))
        return self.kept


class _Direct:
    """A face whose free private multipliers are factorized.

    For the rows B of shared multipliers whose private ones are free as well, and for A,
    those of the others, ``R_GB = (R_GG + D) E_B − E_B D_B`` gives::

        S_BB = D_B − D_B P_BB D_B,   S_BA = D_B E_Bᵀ P R_GA,   P = (R_GG + D)⁻¹

    With B as the last rows of G, ``P_BB = (L_B L_Bᵀ)⁻¹`` for the last block of the
    factor, so that only the rows of A are columns of a large system.
    """

    def __init__(self, leaf: FaceLeaf, private: np.ndarray, shared: np.ndarray):
        alone, both, self.rows = _split(private, shared)
        only = private.copy()
        only[both] = False
        self.free = np.concatenate([np.flatnonzero(only), both])
        self._both, self._ridge = slice(len(alone), None), leaf.ridge[both]
        self.schur = block(leaf.gram, alone, alone)
        if not len(self.free):
            return
        matrix = block(leaf.gram, self.free, self.free)
        add_diagonal(matrix, leaf.ridge[self.free])
        self.factor = cholesky(matrix)
        columns = block(leaf.gram, self.free, alone)
        self.columns = triangular_solve(self.factor, columns)
        if len(alone):
            self.schur = subtract_gram(self.schur, self.columns)
        if len(both):
            last = np.arange(len(self.free) - len(both), len(self.free))
            self.last_factor, mixed = block(self.factor, last, last), None
            if len(alone):
                mixed = take_rows(self.columns, last)
                mixed = triangular_solve(self.last_factor, mixed, transposed=True)
                scale(mixed, self._ridge, np.ones(len(alone)))
            inverse = inverse_from_cholesky(self.last_factor)
            self.schur = _joined(self.schur, mixed, inverse, self._ridge)

    def without_shared(self, force: np.ndarray) -> LeafState:
        """Return the leaf with these private forces."""
        private, force = np.zeros_like(force), force[..., self.free]
        value = np.zeros((*force.shape[:-1], len(self.rows)))
        half = force
        if len(self.free):
            half = triangular_solve_vectors(self.factor, force.T)
            value[..., : self._both.start] = transposed_product(self.columns, half).T
            full = triangular_solve_vectors(self.factor, half, transposed=True).T
            private[..., self.free] = full
            if n_both := len(self._ridge):
                moved = self._ridge * full[..., -n_both:]
                value[..., self._both] = force[..., -n_both:] - moved
            half = half.T
        return LeafState(value, private, half)

    def private(self, state: LeafState, step: np.ndarray) -> np.ndarray:
        """Return the private expansion after a step of the shared multipliers."""
        out = np.zeros_like(state.private)
        if len(self.free):
            left = state.intermediate.T - product(
                self.columns, step[..., : self._both.start].T
            )
            both, n_both = step[..., self._both], len(self._ridge)
            if n_both:
                push = (self._ridge * both).T
                left[-n_both:] += triangular_solve_vectors(self.last_factor, push)
            solved = triangular_solve_vectors(self.factor, left, transposed=True).T
            if n_both:
                solved[..., -n_both:] -= both
            out[..., self.free] = solved
        return out


def _split(private: np.ndarray, shared: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the rows with a shared multiplier alone, with both, and all of them."""
    both = private[shared]
    alone, both = shared[~both], shared[both]
    return alone, both, np.concatenate([alone, both])


def _joined(first: Any, mixed: Any, inverse: Any, ridge: np.ndarray) -> Any:
    """Return the lower triangle of ``[[first, ·], [mixed, D − D inverse D]]``.

    `mixed` is None if the first block is empty.
    """
    scale(inverse, -ridge, ridge)
    add_diagonal(inverse, ridge)
    if mixed is None:
        return inverse
    n, m = len(first), len(inverse)
    whole = zeros(inverse, n + m, n + m)
    start, end = slice(0, n), slice(n, n + m)
    put(whole, start, start, first)
    put(whole, end, start, mixed)
    put(whole, end, end, inverse)
    return whole


class _ByInverse:
    """A face with few private multipliers at bounds, solved by the inverse."""

    def __init__(self, leaf: FaceLeaf, private: np.ndarray, shared: np.ndarray):
        self.leaf = leaf
        self.inverse = inverse = leaf.inverse()
        self.is_free = private
        self.bound = bound = np.flatnonzero(~private)
        self.alone, self.both, self.rows = _split(private, shared)
        corner = block(inverse, self.both, self.both)
        outer = mixed = None
        if len(bound):
            at = np.searchsorted(bound, self.alone)
            self.factor = cholesky(block(inverse, bound, bound))
            if len(at):
                outer = inverse_from_cholesky(self.factor)
                if len(at) < len(bound):
                    outer = block(outer, at, at)
                add_diagonal(outer, -leaf.ridge[self.alone])
            if len(self.both):
                self.cross = block(inverse, bound, self.both)
                half = triangular_solve(self.factor, copied(self.cross))
                corner = subtract_gram(corner, half)
            if len(at):
                mixed = zeros(inverse, len(self.both), len(at))
                if len(self.both):
                    full = triangular_solve(self.factor, half, transposed=True)
                    mixed = transposed(take_rows(full, at))
                    scale(mixed, -leaf.ridge[self.both], np.ones(len(at)))
        self.schur = _joined(outer, mixed, corner, leaf.ridge[self.both])

    def without_shared(self, force: np.ndarray) -> LeafState:
        """Return the leaf with these private forces."""
        push = np.where(self.is_free, force, 0.0)
        total = pushed = symmetric_product(self.inverse, push.T).T
        if len(self.bound):
            held = np.zeros_like(push)
            held[..., self.bound] = self._hold(-pushed[..., self.bound])
            total = total + symmetric_product(self.inverse, held.T).T
            push += held
        value = push - self.leaf.ridge * total
        private = np.where(self.is_free, total, 0.0)
        return LeafState(value[..., self.rows], private, pushed)

    def _hold(self, missing: np.ndarray) -> np.ndarray:
        """Return the forces that move multipliers at bounds by what is missing."""
        return cholesky_solve(self.factor, missing.T).T

    def private(self, state: LeafState, step: np.ndarray) -> np.ndarray:
        """Return the private expansion after a step of the shared multipliers."""
        wanted, push = np.zeros_like(state.private), np.zeros_like(state.private)
        wanted[..., self.rows] = step
        push[..., self.both] = self.leaf.ridge[self.both] * step[..., len(self.alone) :]
        if len(self.bound):
            near = state.intermediate[..., self.bound]
            if len(self.both):
                near = near + product(self.cross, push[..., self.both].T).T
            push[..., self.bound] = self._hold(wanted[..., self.bound] - near)
        total = state.intermediate + symmetric_product(self.inverse, push.T).T
        return np.where(self.is_free, total - wanted, 0.0)


class _LowRank:
    """A face of a leaf with a factor of low rank, which is computed in its columns."""

    def __init__(
        self,
        leaf: FaceLeaf,
        factor: np.ndarray,
        private: np.ndarray,
        shared: np.ndarray,
    ):
        self.rows, self.free = shared, np.flatnonzero(private)
        self._ridge = leaf.ridge[self.free]
        self._free, self._shared = factor[self.free], factor[shared]
        scaled = self._free / self._ridge[:, None]
        middle = np.asfortranarray(self._free.T @ scaled)
        add_diagonal(middle, 1.0)
        self._middle = cholesky(middle)
        columns = triangular_solve_vectors(self._middle, self._shared.T)
        columns = columns.astype(leaf.gram.dtype)
        self.schur = transposed_product(columns, columns)

    def without_shared(self, force: np.ndarray) -> LeafState:
        """Return the leaf with these private forces."""
        private, push = np.zeros_like(force), force[..., self.free] / self._ridge
        inner = cholesky_solve(self._middle, (push @ self._free).T).T
        private[..., self.free] = push - inner @ self._free.T / self._ridge
        return LeafState(inner @ self._shared.T, private, private)

    def private(self, state: LeafState, step: np.ndarray) -> np.ndarray:
        """Return the private expansion after a step of the shared multipliers."""
        out = state.private.copy()
        inner = cholesky_solve(self._middle, (step @ self._shared).T).T
        out[..., self.free] -= inner @ self._free.T / self._ridge
        return out


def unsuited(problem: Problem) -> str | None:
    """Return what the proximal method needs and a problem lacks; None if nothing."""
    structure, spaces = problem.structure, problem.spaces
    if 0 not in spaces or not all(isinstance(s, Gram) for s in spaces.values()):
        return "a Gram matrix for every penalized function, the first among them"
    if structure.irregular:
        return (
            "families of constraints that act on one function, or on the first "
            "and one other"
        )
    groups = (*structure.private.values(), *structure.shared.values())
    if any(len(families) > 1 for families in groups):
        return "at most one family that acts on a function only, and one that shares it"
    if any(k in structure.leaves for row in problem.global_rows for k in row.on):
        return "global constraints on the first function only"
    if structure.crowded:
        return "a slack that two families share to have one sign in both"
    return None


# e_i + sign · e_j, as (i, j, sign).
Direction = tuple[int, int, int]


class Equations:
    """The families by the functions they act on, the spaces and the proximal term."""

    def __init__(
        self,
        problem: Problem,
        ridge: np.ndarray,
        dtype: type,
        tuning: Tuning = DEFAULT,
    ):
        self.problem, self.tuning, self.dtype = problem, tuning, dtype
        structure = problem.structure
        self.spaces = {k: Centered(problem.functions[k], dtype) for k in problem.spaces}
        self.gram = self.spaces[0].matrix
        self.leaves: dict[int, FaceLeaf] = {}
        self.rooted, self.pairs = structure.root, structure.pairs
        self.private = {k: qs[0] for k, qs in structure.private.items() if qs}
        self.shared = {k: qs[0] for k, qs in structure.shared.items() if qs}
        self.set_ridge(ridge)
        self.start = problem.size - len(problem.global_rows)
        self.columns = problem.balance_columns()
        # a_k and e_k of every multiplier, zero if it does not act on function k.
        shape = len(problem.functions), problem.size
        self.acting, self.bases = np.zeros(shape), np.zeros(shape)
        for q, (part, family) in enumerate(
            zip(problem.slices, problem.families, strict=True)
        ):
            for k, a in family.on.items():
                self.acting[k, part] = a
                basis = problem.functions[k].basis
                if basis is not None:
                    self.bases[k, part] = basis[problem.positions(q, k)]
        # Coefficients of the first function in global constraints, and K times them.
        self.weights = [row.on.get(0) for row in problem.global_rows]
        self.images = [
            None if g is None else symmetric_product(self.gram, g) for g in self.weights
        ]

    def set_ridge(self, ridge: np.ndarray) -> None:
        """Set the proximal term; inverses that do not depend on it are kept."""
        problem, self.ridge = self.problem, ridge
        for k in self.spaces:
            if k == 0:
                continue
            own = np.full(problem.length(k), ridge.min())
            if k in self.private:
                q = self.private[k]
                family, part = problem.families[q], problem.slices[q]
                own[problem.positions(q, k)] = ridge[part] / family.on[k] ** 2
            leaf = self.leaves.get(k)
            if leaf is None or not np.array_equal(own, leaf.ridge):
                space = self.spaces[k]
                leaf = FaceLeaf(space.matrix, own, self.tuning, space.factor)
                self.leaves[k] = leaf

    @property
    def is_inverted(self) -> bool:
        """Whether the inverse of a leaf, which depends on the term, is used."""
        return any(leaf.kept is not None for leaf in self.leaves.values())

    def at(self, q: int, k: int) -> np.ndarray:
        """Return the positions of the rows of family q among those of function k."""
        at = self.problem.positions(q, k)
        return np.arange(self.problem.length(k)) if isinstance(at, slice) else at

    def product(self, directions: np.ndarray) -> np.ndarray:
        """Return ``Σ_k a_k t_k`` of sparse multipliers, the rows of a matrix."""
        values = self.problem.spread(directions)
        for k, expansion in enumerate(values):
            if k in self.spaces:
                at = np.flatnonzero(expansion.any(axis=0))
                lines = take_rows(self.spaces[k].matrix, at)
                values[k] = transposed_product(lines, expansion[:, at].T).T
            else:
                values[k] = np.zeros_like(expansion)
        return self.problem.margins(values)

    def solve(
        self, face: Face | Neighbor, right: np.ndarray, balance: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the solution of the equations of a face with K in place of ΠKΠ.

        For ``e·v = q``, ``K v = ΠKΠ v + q k + (k·v − q k·e/(e·e)) e``.
        """
        problem = self.problem
        means = {
            k: space.mean for k, space in self.spaces.items() if k in problem.bases
        }
        values = [np.zeros(problem.length(k)) for k in range(len(problem.functions))]
        for j, k in enumerate(problem.biased):
            if (mean := means.get(k)) is not None:
                basis = problem.bases[k]
                inner = (mean @ basis) / (basis @ basis)
                values[k] = balance[j] * (mean - inner * basis)
        found, biases = face.solve(right - problem.margins(values), balance)
        expansions = problem.spread(found)
        for j, k in enumerate(problem.biased):
            if k in means:
                biases[j] -= self.spaces[k].shift(expansions[k])
        return found, biases

    def reduce(
        self, vector: np.ndarray, free: np.ndarray, tied: dict[int, np.ndarray]
    ) -> np.ndarray:
        """Return a residual on a face: zero at bounds, differences for tied pairs."""
        out = np.where(free, vector, 0.0)
        for s, rows in tied.items():
            outer, inner = (self.problem.slices[q].start + rows for q in self.pairs[s])
            out[outer] = vector[outer] - vector[inner]
        return out


class Face:
    """The free multipliers and the tied pairs, and the factor of their equations.

    ``free`` marks free multipliers; ``tied[s]`` are the rows of a shared slack s for
    which the sum of the two multipliers is constant.
    """

    def __init__(
        self, layout: Equations, free: np.ndarray, tied: dict[int, np.ndarray]
    ):
        self.layout, self.free, self.tied = layout, free, tied
        self.ridge = layout.ridge
        self._responses: dict[tuple[str, Direction], Any] = {}
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
            state = self._leaf_faces[k].without_shared(-basis)
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
        none = np.zeros((n_biases, problem.size))
        states = {
            k: face.without_shared(self._force(k, none))
            for k, face in self._leaf_faces.items()
        }
        self._answers = self._complete(-self._solved[:, :n_biases].T, units, states)
        effect = problem.balance(problem.spread(self._answers))
        self._rebalance = np.linalg.pinv(effect, rcond=1e-10)

    def solve(
        self, right: np.ndarray, balance: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the multipliers and biases that solve the equations.

        ``right`` is h and ``balance`` the right-hand sides of ``e_k·v_k``; multipliers
        that are not free are zero. Biases are those of the matrices of `Centered`.
        Several right-hand sides may be the rows of matrices.
        """
        layout, problem = self.layout, self.layout.problem
        reduced = right[..., self.members]
        for s, rows in self.tied.items():
            other = problem.slices[layout.pairs[s][1]].start + rows
            reduced[..., self._tied_spans[s]] -= right[..., other]
        wanted = np.concatenate(
            [balance, right[..., layout.start + self.globals]], axis=-1
        )
        states = {}
        for k, face in self._leaf_faces.items():
            span = self._spans[k]
            state = states[k] = face.without_shared(self._force(k, right))
            reduced[..., span] -= self._along[k][span] * state.value
            if k in self._bias_states:
                owed = state.private @ problem.bases[k]
                wanted[..., problem.biased.index(k)] -= owed
        step = self._solve_final(reduced.T).T
        border = (wanted - step @ self._columns) @ self._border_inverse
        step = step - border @ self._solved.T
        multipliers = self._complete(step, border, states)
        biases = border[..., : self.n_biases].copy()
        if self._answers is not None:
            missing = balance - problem.balance(problem.spread(multipliers))
            shift = missing @ self._rebalance
            multipliers, biases = multipliers + shift @ self._answers, biases + shift
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

    def _complete(self, step, border, states) -> np.ndarray:
        """Return all multipliers from those of the final system."""
        layout, problem = self.layout, self.layout.problem
        out = np.zeros((*step.shape[:-1], problem.size))
        out[..., self.members] = step
        for s, rows in self.tied.items():
            outer, inner = (problem.slices[q].start + rows for q in layout.pairs[s])
            out[..., inner] = -out[..., outer]
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

    def responses(self, directions: list[Direction], kind: str) -> _Responses:
        """Return the responses to directions that enter or to forces along others.

        They are kept, because faces that follow differ in the same multipliers.
        """
        new = [d for d in directions if (kind, d) not in self._responses]
        if new:
            layout, units = self.layout, _rows(new, len(self.free))
            if kind == "entering":
                images = layout.product(units) + self.ridge * units
                totals = units @ layout.columns.T
                found, biases = self.solve(-images, -totals)
                lines = _Responses(units + found, biases, images, totals)
            else:
                none = np.zeros((len(new), self.n_biases))
                lines = _Responses(*self.solve(units, none), units, none)
            for direction, *line in zip(new, *lines, strict=True):
                self._responses[kind, direction] = line
        if not directions:
            none = np.zeros((0, self.n_biases))
            nothing = np.zeros((0, len(self.free)))
            return _Responses(nothing, none, nothing, none)
        kept = [self._responses[kind, d] for d in directions]
        return _Responses(*map(np.array, zip(*kept, strict=True)))

    def reduce(self, vector: np.ndarray) -> np.ndarray:
        """Return a residual on the face, as `Equations.reduce`."""
        return self.layout.reduce(vector, self.free, self.tied)


def _signed(matrix: Any, signs: np.ndarray) -> Any:
    """Return ``diag(signs) · matrix · diag(signs)``, in place."""
    if (signs != 1.0).any():
        scale(matrix, signs, signs)
    return matrix


class _Responses(NamedTuple):
    """Multipliers and biases, and the equations along the directions, as rows."""

    multipliers: np.ndarray
    biases: np.ndarray
    images: np.ndarray
    totals: np.ndarray


class Neighbor:
    """A face that differs from a factorized one in a few multipliers.

    With ``x₀`` the solution on the old face, directions ``u_e`` that *enter*, and
    forces along ``c_l`` that keep ``c_l·x`` at zero for the directions that *leave*,
    the new solution is::

        x = x₀ + Σ θ_e X_e + Σ μ_l X_l

    ``X_e`` is the response of the old face to ``u_e``, ``X_l`` that to the force
    ``c_l``; each is one solution with the old factor. As this is symmetric, what the
    equation along ``u_e`` lacks is the product of the right-hand side and ``X_e``. A
    direction is a multiplier, or the difference of two that become tied; a leaving pair
    keeps its sum.
    """

    def __init__(self, base: Face, free: np.ndarray, tied: dict[int, np.ndarray]):
        self.base, self.layout = base, base.layout
        self.tied, self.free = tied, free
        entering, leaving = _changes(base, free, tied)
        enter = base.responses(entering, "entering")
        leave = base.responses(leaving, "leaving")
        self._answers = np.concatenate([enter.multipliers, leave.multipliers])
        self._shifts = np.concatenate([enter.biases, leave.biases])
        images = np.concatenate([enter.images, leave.images])
        totals = np.concatenate([enter.totals, leave.totals])
        system = images @ self._answers.T + totals @ self._shifts.T
        self._n_entering, self._forces = len(entering), leave.images
        if entering and leaving:
            one, two, signs = np.array(entering).T
            along = self._forces[:, one] + signs * self._forces[:, two]
            system[: len(entering), len(entering) :] -= along.T
        self._inverse = np.linalg.inv(system)

    @staticmethod
    def distance(base: Face, free: np.ndarray, tied: dict[int, np.ndarray]) -> float:
        """Return how many multipliers differ; infinite if global ones do."""
        start = base.layout.start
        if not np.array_equal(base.free[start:], free[start:]):
            return np.inf
        other = sum(len(np.setxor1d(r, base.tied[s])) for s, r in tied.items())
        return int((base.free != free).sum()) + other

    def solve(
        self, right: np.ndarray, balance: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the solution of the equations, as `Face.solve`."""
        found, biases = self.base.solve(right, balance)
        n = self._n_entering
        owed = self._answers[:n] @ right + self._shifts[:n] @ balance
        weights = self._inverse @ np.concatenate([owed, -self._forces @ found])
        found = found + weights @ self._answers
        exact = np.where(self.free, found, 0.0)
        for s, rows in self.tied.items():
            slices = self.layout.problem.slices
            outer, inner = (slices[q].start + rows for q in self.layout.pairs[s])
            exact[outer], exact[inner] = found[outer], -found[outer]
        return exact, biases + weights @ self._shifts

    def reduce(self, vector: np.ndarray) -> np.ndarray:
        """Return a residual on the face, as `Equations.reduce`."""
        return self.layout.reduce(vector, self.free, self.tied)


def _changes(
    base: Face, free: np.ndarray, tied: dict[int, np.ndarray]
) -> tuple[list[Direction], list[Direction]]:
    """Return the entering directions and the leaving ones."""
    problem, alone = base.layout.problem, np.ones(len(free), dtype=bool)
    entering: list[Direction] = []
    leaving: list[Direction] = []

    def add(directions, one, two=None, sign=0):
        two = one if two is None else two
        directions += [
            (i, j, sign) for i, j in zip(one.tolist(), two.tolist(), strict=True)
        ]

    for s, rows in tied.items():
        outer, inner = (problem.slices[q].start for q in base.layout.pairs[s])
        begun = np.setdiff1d(rows, base.tied[s])
        ended = np.setdiff1d(base.tied[s], rows)
        for changed in (begun, ended):
            alone[outer + changed] = alone[inner + changed] = False
        one, two = outer + begun, inner + begun
        first, second = base.free[one], base.free[two]
        bound, some = ~first & ~second, first | second
        add(entering, two[first & ~second])
        add(entering, one[second & ~first])
        add(entering, one[bound], two[bound], -1)
        add(leaving, one[some], two[some], 1)
        one, two = outer + ended, inner + ended
        first, second = free[one], free[two]
        add(entering, two[first | second])
        add(leaving, one[~first])
        add(leaving, two[first & ~second])
    add(entering, np.flatnonzero(alone & free & ~base.free))
    add(leaving, np.flatnonzero(alone & base.free & ~free))
    return entering, leaving


def _rows(directions: list[Direction], size: int) -> np.ndarray:
    """Return ``e_i + sign · e_j`` for all directions (i, j, sign), as rows."""
    one, two, signs = np.array(directions).T
    out, every = np.zeros((len(one), size)), np.arange(len(one))
    out[every, one] = 1.0
    out[every, two] += signs
    return out
