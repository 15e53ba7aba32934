"""Newton steps for functions given by Gram matrices.

The system ``(H + D) x = p`` has one unknown per multiplier, but its blocks consist of
the same few Gram matrices: a *private* multiplier acts on one function k ≥ 1 only, a
*shared* one on that function and the first, a *root* one on the first only. Eliminating
the private multipliers of function k, with ``R = K_k/ρ_k`` and ``D`` their barrier,
gives the parallel sum for the shared ones::

    P = R − R (R + D)⁻¹ R = D − D (R + D)⁻¹ D

and then one system with the Gram matrix of the first function, ``a₀K₀a₀/ρ₀ + a P a +
D_shared``. The second form of P needs only an inverse, half the work of the first, and
is accurate unless D is large. Multipliers whose barrier exceeds their kernel by the
factor ``Tuning.decoupled`` are almost independent of the others. They are left out of
the factorization (in the elimination and in the final system, which therefore becomes
smaller along the path), and the factors are the preconditioner of projected conjugate
gradients on the exact system with the balance equations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lupi._convex.linalg import (
    NotPositiveDefinite,
    add_at,
    add_diagonal,
    block,
    cholesky,
    cholesky_solve,
    conjugate_gradients,
    copied,
    diagonal,
    inverse_from_cholesky,
    inverse_of_small,
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
from lupi._convex.tuning import Tuning


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
    """The functions k ≥ 1 of a problem, with their private multipliers eliminated.

    With ``R = K_k/ρ_k`` (plus the diagonal of a shared slack) and ``D`` the barrier of
    the private multipliers, a leaf computes the parallel sum of both on the rows of the
    shared multipliers, and solves with ``R + D``.
    """

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


@dataclass(frozen=True, eq=False)
class _FinalPart:
    """The root multipliers, or those of a shared family, in the final system.

    ``inside`` are the positions of those that are in it, at ``span``, with their rows
    of K₀, coefficients, barrier and P; ``weak`` are the positions of those that are
    decoupled, and ``weak_diagonal`` their diagonal.
    """

    span: slice
    inside: np.ndarray
    rows: np.ndarray | slice
    sign: np.ndarray
    diagonal: np.ndarray
    parallel: Any
    weak: np.ndarray
    weak_diagonal: np.ndarray

    def step(self, final: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the step of the multipliers, from that of the final system."""
        out = np.zeros_like(right)
        out[self.inside] = final[self.span]
        return out

    def add_weak(self, step: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Set the steps of decoupled multipliers, in place."""
        step[self.weak] = times(1.0 / self.weak_diagonal, right[self.weak])
        return step


class KernelNewton:
    """Newton step with a factorization of ``H + D`` in blocks.

    It stores the functions: their expansion coefficients v and their values f on the
    rows. Both are updated by each step rather than recomputed from the multipliers,
    because v = Σλ − c cancels if a multiplier is close to its cost.
    """

    def __init__(self, problem: Problem, tuning: Tuning):
        self.problem, self.tuning = problem, tuning
        structure = problem.structure
        if 0 not in problem.spaces:
            raise ValueError("The first function of a problem needs a Gram matrix.")
        if structure.irregular:
            q = structure.irregular[0]
            raise ValueError(
                f"Family {q} of constraints acts on the functions "
                f"{sorted(problem.families[q].on)}; the interior-point method for Gram "
                "matrices takes families that act on one function, or on the first "
                "and one other."
            )
        self.n_row_multipliers = problem.size - len(problem.global_rows)
        root = problem.functions[0]
        self.gram, self.weight = problem.spaces[0].matrix, root.weight
        self.gram_diagonal = problem.spaces[0].diagonal / root.weight
        self.root = Merged(problem, 0, structure.root)
        self.leaves = [Leaf(problem, k, tuning.decoupled) for k in structure.leaves]
        if structure.crowded or any(
            len(structure.private[k]) > 1
            for outer, _ in structure.pairs.values()
            for k in problem.families[outer].on
            if k in structure.leaves
        ):
            raise ValueError(
                "A slack may be shared by two families that act with the same sign on "
                "one function, one of them on this function only; this problem shares "
                "it otherwise."
            )
        self.balance = problem.balance_columns()

    def start(self, multipliers: np.ndarray) -> None:
        """Set the functions to those of the multipliers."""
        self.coefficients = self.problem.coefficients(multipliers)
        self.penalized = self.problem.penalized(self.coefficients)

    def advance(self, length: float, step: np.ndarray) -> None:
        """Update the functions for a step of the multipliers."""
        for v, dv in zip(self.coefficients, self.problem.spread(step), strict=True):
            v += length * dv
        self.penalized = self.problem.penalized(self.coefficients)

    def factorize(self, barrier: np.ndarray, shared: list[np.ndarray]) -> None:
        """Factorize the Newton matrix with a barrier.

        It has one entry per multiplier; ``shared`` has, per linear slack, the weight of
        the sum of the multipliers that share it.
        """
        problem = self.problem
        self.barrier, self.shared = barrier, shared
        self.diagonal = barrier.copy()
        pairs = problem.structure.pairs
        for s, (sharing, weight) in enumerate(
            zip(problem.sharing, shared, strict=True)
        ):
            if s not in pairs:
                self.diagonal[problem.slices[sharing[0]]] += weight
        for leaf in self.leaves:
            for s, (_, inner) in pairs.items():
                a = problem.families[inner].on.get(leaf.k)
                if a is not None:
                    at = problem.positions(inner, leaf.k)
                    leaf.coupling[at] = shared[s] / a**2
        self.root.update(self.diagonal)
        for leaf in self.leaves:
            leaf.private.update(self.diagonal)
        for jitter in (0.0, 0.0, 1e-15, 1e-14, 1e-13, 1e-12, 1e-10, 1e-8):
            for leaf in self.leaves:
                leaf.jitter = jitter
            try:
                self._build_final(jitter)
                break
            except NotPositiveDefinite:
                # The fast form of P was not accurate enough. From now on the stable
                # form is used where D exceeds R, and the system is regularized if it is
                # still singular to working precision.
                for leaf in self.leaves:
                    leaf.inverse_limit = 1.0
        else:
            raise NotPositiveDefinite("the Newton system is singular")
        self._factorize_border()

    def _build_final(self, jitter: float) -> None:
        """Set the factor of the system of root and shared multipliers."""
        problem, limit = self.problem, self.tuning.decoupled
        self._parts: list[_FinalPart] = []
        rows = self.root.rows
        if len(rows):
            barrier, own = self.root.barrier[rows], self.gram_diagonal[rows]
            keep = barrier <= limit * own
            kept, one = rows[keep], np.ones(int(keep.sum()))
            weak = rows[~keep], (barrier + own)[~keep]
            self._add(kept, kept, one, barrier[keep], None, weak)
        for leaf in self.leaves:
            q = leaf.shared
            if q is None:
                leaf.factorize(np.empty(0, dtype=int))
                continue
            family, part = problem.families[q], problem.slices[q]
            in_root = _indices(problem.positions(q, 0), problem.length(0))
            in_leaf = _indices(problem.positions(q, leaf.k), problem.length(leaf.k))
            a_root, a_leaf = family.on[0], family.on[leaf.k]
            own = (
                a_root**2 * self.gram_diagonal[in_root]
                + a_leaf**2 * (leaf.gram_diagonal + leaf.coupling)[in_leaf]
            )
            barrier = self.diagonal[part]
            keep = barrier <= limit * own
            # Positions within the family, in the order of P.
            order, parallel = leaf.factorize(in_leaf[keep])
            place = np.empty(problem.length(leaf.k), dtype=int)
            place[in_leaf] = np.arange(len(in_leaf))
            kept = place[order]
            scale(parallel, a_leaf[kept], a_leaf[kept])
            weak = np.flatnonzero(~keep), (barrier + own)[~keep]
            at, sign = in_root[kept], a_root[kept]
            self._add(kept, at, sign, barrier[kept], parallel, weak)
        self._final = self._assembled(jitter)

    def _add(self, inside, rows, sign, diagonal, parallel, weak) -> None:
        """Add a part after the others."""
        start = self._parts[-1].span.stop if self._parts else 0
        span = slice(start, start + len(inside))
        if len(rows) == len(self.gram) and (np.diff(rows) == 1).all():
            rows = slice(None)  # all rows in order, which need no copy
        self._parts.append(
            _FinalPart(span, inside, rows, sign, diagonal, parallel, *weak)
        )

    def _assembled(self, jitter: float) -> Any:
        """Return the factor of ``a₀K₀a₀/ρ₀ + a P a + D`` over all parts."""

        def block_of(one: _FinalPart, two: _FinalPart) -> Any:
            left = one.sign / self.weight
            return scaled_block(self.gram, one.rows, two.rows, left, two.sign)

        if len(self._parts) == 1:
            final = block_of(*self._parts, *self._parts)
        else:
            size = self._parts[-1].span.stop if self._parts else 0
            final = zeros(self.gram, size, size)
            for number, one in enumerate(self._parts):
                for two in self._parts[: number + 1]:
                    put(final, one.span, two.span, block_of(one, two))
        if not len(final):
            return final
        for part in self._parts:
            if part.parallel is not None:
                put(final, part.span, part.span, part.parallel, add=True)
        add_diagonal(final, np.concatenate([part.diagonal for part in self._parts]))
        if jitter:
            add_diagonal(final, jitter * diagonal(final))
        return cholesky(final)

    def _solve_rows(self, right: np.ndarray) -> np.ndarray:
        """Apply the preconditioner to the row multipliers, without border."""
        problem = self.problem
        out = np.zeros_like(right)
        parts, wanted, alone = iter(self._parts), [], []
        root = self.root.gather(right) if len(self.root.rows) else None
        if root is not None:
            wanted.append(root[next(parts).inside])
        for leaf in self.leaves:
            gathered = leaf.private.gather(right)
            alone.append(leaf.solve_pivot(gathered))
            if leaf.shared is not None:
                force = leaf.apply(leaf.without_weak(alone[-1]))
                at = problem.positions(leaf.shared, leaf.k)
                reduced = right[problem.slices[leaf.shared]] - times(
                    problem.families[leaf.shared].on[leaf.k], force[at]
                )
                wanted.append(reduced[next(parts).inside])
        final = np.concatenate(wanted)
        if len(final):
            final = cholesky_solve(self._final, final)
        parts = iter(self._parts)
        if root is not None:
            part = next(parts)
            merged = part.add_weak(part.step(final, root), root)
            self.root.scatter(merged, root, right, out)
        for leaf, merged in zip(self.leaves, alone, strict=True):
            gathered = leaf.private.gather(right)
            if leaf.shared is not None:
                part, own = next(parts), right[problem.slices[leaf.shared]]
                step, shared = part.step(final, own), np.zeros_like(gathered)
                a = problem.families[leaf.shared].on[leaf.k]
                shared[problem.positions(leaf.shared, leaf.k)] = times(a, step)
                merged = merged - leaf.solve_pivot(
                    leaf.without_weak(leaf.apply(shared))
                )
                out[problem.slices[leaf.shared]] = part.add_weak(step, own)
            leaf.private.scatter(merged, gathered, right, out)
        return out

    def _factorize_border(self) -> None:
        """Factorize the Schur complement of the balances and global multipliers."""
        m, size = self.n_row_multipliers, self.problem.size
        units = np.zeros((size, size - m))
        units[m:] = np.eye(size - m)
        interaction = (
            np.column_stack([self._product(unit) for unit in units.T])
            if size > m
            else np.zeros((size, 0))
        )
        self._border = np.hstack([interaction[:m], self.balance[:, :m].T])
        n_balance = len(self.balance)
        corner = np.zeros((size - m + n_balance,) * 2)
        corner[: size - m, : size - m] = interaction[m:]
        corner[size - m :, : size - m] = self.balance[:, m:]
        corner[: size - m, size - m :] = self.balance[:, m:].T
        self._solved_border = self._solve_rows(self._border)
        schur = corner - self._border.T @ self._solved_border
        self._schur_inverse = inverse_of_small(schur)

    def _precondition(self, right, balance):
        m = self.n_row_multipliers
        rows = self._solve_rows(right[:m])
        border = np.concatenate([right[m:], balance]) - self._border.T @ rows
        border = self._schur_inverse @ border
        n_global = self.problem.size - m
        return (
            np.concatenate([rows - self._solved_border @ border, border[:n_global]]),
            border[n_global:],
        )

    def _product(self, step: np.ndarray) -> np.ndarray:
        """Return the exact ``(H + D) step``."""
        problem = self.problem
        out = problem.margins(problem.penalized(problem.spread(step)))
        out += self.barrier * step
        both = zip(self.shared, problem.by_slack(step), strict=True)
        return problem.with_slacks(out, [weight * total for weight, total in both])

    def solve(
        self, right: np.ndarray, balance: np.ndarray, *, refine: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the steps of multipliers and biases, refined on the exact system."""
        if not refine:
            return self._precondition(right, balance)
        return conjugate_gradients(
            self._product,
            self._precondition,
            lambda biases: self.balance.T @ biases,
            self.balance,
            right,
            balance,
            to=self.tuning.newton_accuracy,
        )


def _indices(at, length: int) -> np.ndarray:
    return np.arange(length) if isinstance(at, slice) else at
