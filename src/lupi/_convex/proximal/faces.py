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
        if dtype != np.float64 and basis is not None:
            square = basis @ basis
            mean = symmetric_product(gram, basis) / (square * function.weight)
            self.mean = mean
            half = mean - 0.5 * (mean @ basis) / square * basis
            subtract_outer(self.matrix, half, basis)

    def shift(self, expansion: np.ndarray) -> np.ndarray | float:
        """Return ``k·v``, the difference of the biases with K and with ΠKΠ."""
        return 0.0 if self.mean is None else expansion @ self.mean


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
    """The functions k ≥ 1 on a face, with the free private multipliers eliminated.

    With ``R = K_k/ρ_k``, ``D`` the proximal term of the private multipliers, ``G`` the
    rows on which these are free and ``N`` the others, the Schur complement for the
    shared multipliers is::

        S = R − R_{·G} (R_GG + D)⁻¹ R_{G·}

    It is computed in this form if G is small. If N is small, it is computed from ``P =
    (R + D)⁻¹``, which is the same for all faces::

        S_NN = P_NN⁻¹ − D,   S_GN = −D P_GN P_NN⁻¹,   S_GG = D − D (P/P_NN) D

    with ``P/P_NN = P_GG − P_GN P_NN⁻¹ P_NG``. Several vectors may be given as the rows
    of a matrix.
    """

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
                self.leaves[k] = FaceLeaf(self.spaces[k].matrix, own, self.tuning)

    def at(self, q: int, k: int) -> np.ndarray:
        """Return the positions of the rows of family q among those of function k."""
        at = self.problem.positions(q, k)
        return np.arange(self.problem.length(k)) if isinstance(at, slice) else at

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
        """Return a residual on the face, as `Equations.reduce`."""
        return self.layout.reduce(vector, self.free, self.tied)


def _signed(matrix: Any, signs: np.ndarray) -> Any:
    """Return ``diag(signs) · matrix · diag(signs)``, in place."""
    if (signs != 1.0).any():
        scale(matrix, signs, signs)
    return matrix


# Relative singular value below which the small system is singular.
SINGULAR = 1e-15


class Neighbor:
    """A face that differs from a factorized one in a few multipliers.

    With ``x₀`` the solution on the old face, directions ``u_e`` that *enter*, and
    forces along ``c_l`` that keep ``c_l·x`` at the value that it has on the new face,
    where those directions *leave*, the new solution is::

        x = x₀ + Σ θ_e X_e + Σ μ_l X_l

    ``X_e`` is the response of the old face to ``u_e``, ``X_l`` that to the force
    ``c_l``; each is one solution with the old factor. θ and μ are determined by the
    equations of the entering directions and the values of the leaving ones. A direction
    is a multiplier, or the difference of two that become tied; a leaving pair keeps its
    sum.
    """

    def __init__(self, base: Face, free: np.ndarray, tied: dict[int, np.ndarray]):
        self.base, self.layout = base, base.layout
        self.tied, self.free = tied, free
        problem = self.layout.problem
        self._entering, self._leaving = _changes(base, free, tied)
        self._touched = np.flatnonzero(self._entering.any(axis=0))
        self._places = self._find()
        n_entering, n_leaving = len(self._entering), len(self._leaving)
        nothing = np.zeros((n_entering + n_leaving, problem.size))
        units, forces = nothing.copy(), nothing
        units[:n_entering], forces[n_entering:] = self._entering, self._leaving
        none = np.zeros((len(units), len(problem.biased)))
        self._answers, self._shifts = base.solve(
            forces, units, problem.spread(units), none
        )
        left = self._left(problem.spread(self._answers), self._shifts, self._answers)
        system = np.concatenate(
            [left - forces @ self._entering.T, self._answers @ self._leaving.T], axis=1
        )
        self._inverse = np.linalg.pinv(system, rcond=SINGULAR)

    @staticmethod
    def distance(base: Face, free: np.ndarray, tied: dict[int, np.ndarray]) -> float:
        """Return how many multipliers differ; infinite if global ones do."""
        start = base.layout.start
        if not np.array_equal(base.free[start:], free[start:]):
            return np.inf
        other = sum(len(np.setxor1d(r, base.tied[s])) for s, r in tied.items())
        return int((base.free != free).sum()) + other

    def _find(self) -> list[tuple[slice, int, np.ndarray, np.ndarray]]:
        """Return functions, rows and coefficients of the entering multipliers."""
        problem, places = self.layout.problem, []
        for q, (part, family) in enumerate(
            zip(problem.slices, problem.families, strict=True)
        ):
            first, last = np.searchsorted(self._touched, (part.start, part.stop))
            if first < last:
                at = self._touched[first:last] - part.start
                places += [
                    (slice(first, last), k, self.layout.at(q, k)[at], a[at])
                    for k, a in family.on.items()
                ]
        return places

    def _left(self, coefficients, biases, multipliers) -> np.ndarray:
        """Return ``Σ_k a_k t_k + D λ`` along the entering directions."""
        problem = self.layout.problem
        out = self.layout.ridge[self._touched] * multipliers[..., self._touched]
        for span, k, rows, signs in self._places:
            function = problem.functions[k]
            if function.space is not None:
                lines = take_rows(function.space.matrix, rows)
                value = product(lines, coefficients[k].T).T / function.weight
                out[..., span] += signs * value
            if k in problem.biased:
                bias = biases[..., problem.biased.index(k), None]
                out[..., span] += signs * bias * problem.bases[k][rows]
        return out @ self._entering[:, self._touched].T

    def solve(self, right, fixed, given, balance) -> tuple[np.ndarray, np.ndarray]:
        """Return the solution of the equations, as `Face.solve`."""
        problem, base = self.layout.problem, self.base
        held = np.where(base.free, 0.0, fixed)
        for outer, inner in self._pairs(base.tied):
            held[outer], held[inner] = 0.0, fixed[outer] + fixed[inner]
        moved = problem.spread(fixed - held)
        without = [v - w for v, w in zip(given, moved, strict=True)]
        found, biases = base.solve(right, held, without, balance)
        made = problem.spread(found - held)
        made = [v + w for v, w in zip(without, made, strict=True)]
        residual = np.concatenate(
            [
                self._entering @ right - self._left(made, biases, found),
                self._leaving @ (fixed - found),
            ]
        )
        weights = residual @ self._inverse
        found = found + weights @ self._answers
        exact = np.where(self.free, found, fixed)
        for outer, inner in self._pairs(self.tied):
            exact[outer] = found[outer]
            exact[inner] = fixed[outer] + fixed[inner] - found[outer]
        exact[self.layout.start :] = found[self.layout.start :]
        return exact, biases + weights @ self._shifts

    def _pairs(self, tied: dict[int, np.ndarray]):
        """Yield the multipliers of tied pairs, the outer and the inner ones."""
        for s, rows in tied.items():
            first, second = self.layout.pairs[s]
            slices = self.layout.problem.slices
            yield slices[first].start + rows, slices[second].start + rows

    def reduce(self, vector: np.ndarray) -> np.ndarray:
        """Return a residual on the face, as `Equations.reduce`."""
        return self.layout.reduce(vector, self.free, self.tied)


def _changes(
    base: Face, free: np.ndarray, tied: dict[int, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the entering directions and the leaving ones, as rows."""
    problem, alone = base.layout.problem, np.ones(len(free), dtype=bool)
    entering, leaving = [], []

    def single(members):
        return members, members, 0.0

    for s, rows in tied.items():
        outer, inner = (problem.slices[q].start for q in base.layout.pairs[s])
        begun = np.setdiff1d(rows, base.tied[s])
        ended = np.setdiff1d(base.tied[s], rows)
        for changed in (begun, ended):
            alone[outer + changed] = alone[inner + changed] = False
        one, two = outer + begun, inner + begun
        first, second = base.free[one], base.free[two]
        bound, some = ~first & ~second, first | second
        entering += [single(two[first & ~second]), single(one[second & ~first])]
        entering.append((one[bound], two[bound], -1.0))
        leaving.append((one[some], two[some], 1.0))
        one, two = outer + ended, inner + ended
        first, second = free[one], free[two]
        entering.append(single(two[first | second]))
        leaving += [single(one[~first]), single(two[first & ~second])]
    entering.append(single(np.flatnonzero(alone & free & ~base.free)))
    leaving.append(single(np.flatnonzero(alone & base.free & ~free)))
    return _rows(entering, len(free)), _rows(leaving, len(free))


def _rows(parts: list[tuple[np.ndarray, np.ndarray, float]], size: int) -> np.ndarray:
    """Return ``e_i + sign · e_j`` for all pairs (i, j) of all parts, as rows."""
    one = np.concatenate([first for first, _, _ in parts])
    two = np.concatenate([second for _, second, _ in parts])
    signs = np.concatenate([np.full(len(first), sign) for first, _, sign in parts])
    out, every = np.zeros((len(one), size)), np.arange(len(one))
    out[every, one] = 1.0
    out[every, two] += signs
    return out
