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

# Conjugate gradients: relative rounding errors of the balance equations and of the
# residual, and the energy of the residual, relative to the least before, at which they
# diverge.
BALANCE_ROUNDING, EXACT_RESIDUAL, LARGEST_RISE = 1e-14, 1e-13, 1e2
MAX_REFINEMENTS = 30
# Relative terms by which a system that is singular to working precision is regularized.
JITTERS = (0.0, 0.0, 1e-15, 1e-14, 1e-13, 1e-12, 1e-10, 1e-8)


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
        self.conductance, best = np.zeros((2, self.length))
        self._weights = [a / diagonal[part] for part, a, _ in self.members]
        for (_, a, at), weight in zip(self.members, self._weights, strict=True):
            self.conductance[at] += a * weight
            best[at] = np.maximum(best[at], a * weight)
        self._leads, taken = [], np.zeros(self.length, dtype=bool)
        for (_, a, at), weight in zip(self.members, self._weights, strict=True):
            self._leads.append((a * weight >= best[at]) & ~taken[at])
            taken[at] |= self._leads[-1]
        with np.errstate(divide="ignore"):
            self.barrier = 1.0 / self.conductance
        self._finite = np.where(self.conductance > 0, self.barrier, 0.0)

    def gather(self, right: np.ndarray) -> np.ndarray:
        """Return the right-hand side of the merged multiplier."""
        merged = np.zeros((self.length, *right.shape[1:]))
        for (part, _, at), weight in zip(self.members, self._weights, strict=True):
            merged[at] += times(weight, right[part])
        return times(self._finite, merged)

    def scatter(self, merged, gathered, right, out) -> None:
        """Set the multiplier of each member; the leading one is the remainder."""
        potential = gathered - times(self._finite, merged)
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
        # The shared multipliers: their place among all, coefficients of both functions
        # and positions in both.
        self.shared, self.on, self.on_root = slice(0, 0), np.empty(0), np.empty(0)
        self.at = self.at_root = np.empty(0, dtype=int)
        for q in shared:
            self.shared, on = problem.slices[q], problem.families[q].on
            self.on, self.on_root = on[k], on[0]
            self.at = np.arange(problem.length(k))[problem.positions(q, k)]
            self.at_root = np.arange(problem.length(0))[problem.positions(q, 0)]
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
        out[self.weak] = times(1.0 / self.weak_diagonal, right[self.weak])
        return out


class KernelNewton:
    """Newton step with a factorization of ``H + D`` in blocks."""

    def __init__(self, problem: Problem, tuning: Tuning):
        self.problem, self.tuning = problem, tuning
        structure = problem.structure
        pairs = (problem.families[inner].on for _, inner in structure.pairs.values())
        alone = all(len(structure.private[k]) == 1 for on in pairs for k in on)
        acting = next((sorted(problem.families[q].on) for q in structure.irregular), [])
        needs = {
            "a Gram matrix for the first function": 0 in problem.spaces,
            "families of constraints that act on one function, or on the first and one "
            f"other; here one acts on the functions {acting}": not structure.irregular,
            "at most one family that acts on the first function and a given other": all(
                len(shared) <= 1 for shared in structure.shared.values()
            ),
            "a slack that two families share to have one sign in both, and one of them "
            "to act alone on one function": alone and not structure.crowded,
        }
        for reason, is_met in needs.items():
            if not is_met:
                raise ValueError(
                    f"The interior-point method for Gram matrices needs {reason}."
                )
        self.n_row_multipliers = problem.size - len(problem.global_rows)
        root = problem.functions[0]
        self.gram, self.weight = problem.spaces[0].matrix, root.weight
        self.gram_diagonal = problem.spaces[0].diagonal / root.weight
        self.root = Merged(problem, 0, structure.root)
        self.leaves = [Leaf(problem, k, tuning.decoupled) for k in structure.leaves]
        self.balance = problem.balance_columns()

    def factorize(self, barrier: np.ndarray, shared: list[np.ndarray]) -> None:
        """Factorize the Newton matrix with a barrier.

        It has one entry per multiplier; ``shared`` has, per linear slack, the weight of
        the sum of the multipliers that share it.
        """
        problem = self.problem
        self.barrier, self.shared = barrier, shared
        self.diagonal = barrier.copy()
        pairs, leaves = problem.structure.pairs, {one.k: one for one in self.leaves}
        for s, weight in enumerate(shared):
            if s not in pairs:
                self.diagonal[problem.slices[problem.sharing[s][0]]] += weight
                continue
            _, inner = pairs[s]
            ((k, a),) = problem.families[inner].on.items()
            leaves[k].coupling[problem.positions(inner, k)] = weight / a**2
        self.root.update(self.diagonal)
        for leaf in self.leaves:
            leaf.private.update(self.diagonal)
        for jitter in JITTERS:
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
        limit, rows = self.tuning.decoupled, self.root.rows
        self._parts: list[_FinalPart] = []
        barrier, own = self.root.barrier[rows], self.gram_diagonal[rows]
        keep = barrier <= limit * own
        kept, one = rows[keep], np.ones(int(keep.sum()))
        weak = rows[~keep], (barrier + own)[~keep]
        self._add(kept, kept, one, barrier[keep], None, weak)
        for leaf in self.leaves:
            own = (
                leaf.on_root**2 * self.gram_diagonal[leaf.at_root]
                + leaf.on**2 * (leaf.gram_diagonal + leaf.coupling)[leaf.at]
            )
            barrier = self.diagonal[leaf.shared]
            keep = barrier <= limit * own
            order, parallel = leaf.factorize(leaf.at[keep])
            # Positions within the family, in the order of P.
            kept = np.searchsorted(leaf.at, order)
            scale(parallel, leaf.on[kept], leaf.on[kept])
            weak = np.flatnonzero(~keep), (barrier + own)[~keep]
            at, sign = leaf.at_root[kept], leaf.on_root[kept]
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

        parts = [part for part in self._parts if len(part.inside)]
        if len(parts) == 1:
            final = block_of(*parts, *parts)
        else:
            size = self._parts[-1].span.stop
            final = zeros(self.gram, size, size)
            for number, one in enumerate(parts):
                for two in parts[: number + 1]:
                    put(final, one.span, two.span, block_of(one, two))
        if not parts:
            return final
        for part in parts:
            if part.parallel is not None:
                put(final, part.span, part.span, part.parallel, add=True)
        add_diagonal(final, np.concatenate([part.diagonal for part in parts]))
        if jitter:
            add_diagonal(final, jitter * diagonal(final))
        return cholesky(final)

    def _solve_rows(self, right: np.ndarray) -> np.ndarray:
        """Apply the preconditioner to the row multipliers, without border."""
        out = np.zeros_like(right)
        first, *parts = self._parts
        root = self.root.gather(right)
        gathered = [leaf.private.gather(right) for leaf in self.leaves]
        alone, wanted = [], [root[first.inside]]
        for leaf, own, part in zip(self.leaves, gathered, parts, strict=True):
            alone.append(leaf.solve_pivot(own))
            force = leaf.apply(leaf.without_weak(alone[-1]))[leaf.at]
            reduced = right[leaf.shared] - times(leaf.on, force)
            wanted.append(reduced[part.inside])
        final = np.concatenate(wanted)
        if len(final):
            final = cholesky_solve(self._final, final)
        self.root.scatter(first.step(final, root), root, right, out)
        for leaf, own, part, merged in zip(
            self.leaves, gathered, parts, alone, strict=True
        ):
            shared = np.zeros_like(own)
            shared[leaf.at[part.inside]] = times(leaf.on[part.inside], final[part.span])
            moved = leaf.without_weak(leaf.apply(shared))
            leaf.private.scatter(merged - leaf.solve_pivot(moved), own, right, out)
            out[leaf.shared] = part.step(final, right[leaf.shared])
        return out

    def _factorize_border(self) -> None:
        """Factorize the Schur complement of the balances and global multipliers."""
        m, size, n_balance = (
            self.n_row_multipliers,
            self.problem.size,
            len(self.balance),
        )
        interaction = np.zeros((size, size - m))
        for column, unit in zip(interaction.T, np.eye(size - m, size, m), strict=True):
            column[:] = self._product(unit)
        self._border = np.hstack([interaction[:m], self.balance[:, :m].T])
        mixed = self.balance[:, m:]
        corner = np.block(
            [[interaction[m:], mixed.T], [mixed, np.zeros((n_balance,) * 2)]]
        )
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
        """Return the steps x of multipliers and y of biases, refined if asked.

        Conjugate gradients solve the exact system ``(H + D) x + Eᵀy = p, E x = q`` up
        to an energy norm relative to that of x, with the factors as preconditioner. All
        iterates satisfy the balance equations, so that the method is the ordinary one
        on their null space.

        References
        ----------
        N. Gould, M. Hribar, J. Nocedal, "On the solution of equality constrained
        quadratic programming problems arising in optimization", SIAM J. Sci. Comput.
        23(4), 2001.
        """
        step, biases = self._precondition(right, balance)
        if not refine:
            return step, biases
        step, biases = self._balanced(step, biases, balance)
        nothing, largest = np.zeros_like(balance), np.abs(right).max(initial=0.0)
        enough = (self.tuning.newton_accuracy * abs(right @ step) ** 0.5) ** 2
        residual = right - self._product(step) - self.balance.T @ biases
        if np.abs(residual).max(initial=0.0) <= EXACT_RESIDUAL * largest:
            return step, biases
        search, old, least = np.zeros_like(step), np.inf, np.inf
        for _ in range(MAX_REFINEMENTS):
            change, shift = self._precondition(residual, nothing)
            # Rounding errors would accumulate in the range of Eᵀ: it is projected out.
            residual, biases = residual - self.balance.T @ shift, biases + shift
            energy = residual @ change
            if energy <= enough or not energy <= LARGEST_RISE * least:
                if energy <= least:
                    step = step + change
                break
            least = min(least, energy)
            search, old = change + energy / old * search, energy
            image = self._product(search)
            curvature = search @ image
            if not curvature > 0:
                break  # the system is singular
            length = energy / curvature
            step = step + length * search
            residual = residual - length * image
        return self._balanced(step, biases, balance)

    def _balanced(self, step, biases, balance) -> tuple[np.ndarray, np.ndarray]:
        """Return x and y after refinement of the balance equations."""
        size = np.abs(self.balance)
        for _ in range(3):
            residual = balance - self.balance @ step
            if not np.any(np.abs(residual) > BALANCE_ROUNDING * (size @ np.abs(step))):
                break
            change, shift = self._precondition(np.zeros_like(step), residual)
            step, biases = step + change, biases + shift
        return step, biases
