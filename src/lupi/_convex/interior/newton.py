"""Newton steps: their interface, the start, and those for explicit features.

In each iteration the interior-point method sets a `Barrier` and solves
``(H + D) x + Eᵀy = p, E x = q`` where ``H = Σ_k A_k K_k A_kᵀ/ρ_k``, ``D`` is the
barrier and ``E`` the matrix of the balance equations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from lupi._convex.linalg import (
    NotPositiveDefinite,
    cholesky,
    cholesky_solve,
    inverse_of_small,
)
from lupi._convex.problem import Problem


def starting_multipliers(
    problem: Problem, *, centered: bool = False, typical: float | None = None
) -> np.ndarray:
    """Return multipliers inside their bounds, with v_k = 0 for the functions k ≥ 1.

    A small weight of a function amplifies v_k; the private multipliers of k are
    therefore chosen such that v_k = 0. Multipliers that act on the first function start
    between the size of a hard-margin solution, 1/mean K_ii, and their bound, because
    half of a large C would be far from any solution. ``typical`` is that size, for rows
    that are some of those of a larger problem.
    """
    root = problem.functions[0]
    if typical is None:
        typical = np.mean(root.space.diagonal) / root.weight if root.space else 0.0
        typical = 1.0 / typical if typical > 0 else 1.0
    multipliers = np.zeros(problem.size)  # λ itself, without the offset
    limits = [np.full(len(f.at_least), np.inf) for f in problem.families]
    for sharing, upper in zip(problem.sharing, problem.slack_costs, strict=True):
        for q in sharing:
            limits[q] = np.minimum(limits[q], upper / len(sharing))
    private = {k: qs[-1] for k, qs in problem.structure.private.items() if qs}
    for q, family in enumerate(problem.families):
        limit = limits[q]
        for k in family.on:
            cost = problem.functions[k].cost
            if k > 0 and cost is not None:
                limit = np.minimum(limit, np.abs(cost[problem.positions(q, k)]))
            if k in private and private[k] != q:
                partner = np.full(problem.length(k), np.inf)
                partner[problem.positions(private[k], k)] = limits[private[k]]
                limit = np.minimum(limit, partner[problem.positions(q, k)])
        start = np.where(np.isfinite(limit), 0.5 * limit, typical)
        if 0 in family.on and not centered:
            start = np.minimum(start, np.sqrt(typical * start))
        multipliers[problem.slices[q]] = 0.0 if family.equality else start
    multipliers -= problem.offset
    for k, q in private.items():
        part, family = problem.slices[q], problem.families[q]
        missing = problem.coefficients(multipliers)[k][problem.positions(q, k)]
        target = multipliers[part] - missing / family.on[k]
        absolute = target + problem.offset[part]
        inside = (absolute > 0) & (absolute < 0.95 * limits[q] * 2)
        inside |= family.equality
        multipliers[part] = np.where(inside, target, multipliers[part])
    first = problem.size - len(problem.global_rows)
    multipliers[first:] = np.where(problem.is_equality[first:], 0.0, typical)
    coefficients = problem.coefficients(multipliers)
    for g, row in enumerate(problem.global_rows, first):
        (k, weight), *others = row.on.items()
        basis = problem.functions[k].basis
        if not (others or row.equality or k == 0 or basis is None):
            # A constraint on a single function starts with the balance of that one.
            missing = -(basis @ coefficients[k]) / (basis @ weight)
            multipliers[g] = max(multipliers[g], multipliers[g] + missing)
    for room, sharing, upper in zip(
        problem.headroom(multipliers), problem.sharing, problem.slack_costs, strict=True
    ):
        # Not <= 0, because d − d may be positive by rounding.
        crowded = room <= 1e-3 * upper
        for q in sharing:
            part = problem.slices[q]
            inside = 0.4 * limits[q] - problem.offset[part]
            multipliers[part] = np.where(crowded, inside, multipliers[part])
    return multipliers


@dataclass(frozen=True, eq=False)
class Barrier:
    """The contribution of the bounds to the Newton matrix.

    ``diagonal`` has one entry per multiplier; ``shared`` has, per linear slack, the
    weight of the sum of the multipliers that share it.
    """

    diagonal: np.ndarray
    shared: list[np.ndarray]


class NewtonStep(Protocol):
    """Interface of the Newton step.

    It stores the functions: their expansion coefficients v, their weights if the space
    has features, and their values f on the rows. All are updated by each step rather
    than recomputed from the multipliers, because v = Σλ − c cancels if a multiplier is
    close to its cost.
    """

    coefficients: list[np.ndarray]
    penalized: list[np.ndarray]
    # One vector per function with features; None if the space has none.
    weights: Any

    def start(self, multipliers: np.ndarray) -> None:
        """Set the functions to those of the multipliers."""

    def factorize(self, barrier: Barrier) -> None:
        """Factorize the Newton matrix with this barrier."""

    def solve(
        self, right: np.ndarray, balance: np.ndarray, *, refine: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the steps of the multipliers and of the biases."""

    def advance(self, length: float, step: np.ndarray) -> None:
        """Update the functions for a step of the multipliers."""

    def hold(self) -> tuple:
        """Return the current functions, for `resume`."""
        return self.coefficients, self.weights, self.penalized

    def resume(self, held: tuple) -> None:
        """Restore functions that `hold` returned."""
        self.coefficients, self.weights, self.penalized = held


BLOCK_VALUES = 2**20
REFINEMENTS = 2


class FeatureNewton(NewtonStep):
    """Newton steps for functions given by features, at a cost linear in the rows.

    The unknowns are the weights. With θ = (w_k, b_k) for every function, Φ̃_k = (Φ_k,
    e_k) and D the barrier of the multipliers of a row (a few, two of which are coupled
    if they share a slack), eliminating the multipliers row by row gives::

        [ diag(ρ_k, 0) + Σ_i Φ̃ᵀ (A_iᵀ D_i⁻¹ A_i) Φ̃ ] dθ = Φ̃ᵀ Aᵀ D⁻¹ p − residual of θ
        dλ = D⁻¹ (p − A Φ̃ dθ)

    The sum over rows is computed in blocks, so that no copy of the size of the data is
    made. The few global multipliers remain unknowns in addition to θ: an equality has
    no barrier, by which they could be eliminated.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self.n_row_multipliers = problem.size - len(problem.global_rows)
        self._spans: list[tuple[slice, int, int]] = []
        start = 0
        for function in problem.functions:
            width = 0 if function.space is None else function.space.matrix.shape[1]
            bias = int(function.basis is not None)
            self._spans.append((slice(start, start + width), start + width, bias))
            start += width + bias
        self.n_weights = start
        self._biased = [(at, k) for k, (_, at, bias) in enumerate(self._spans) if bias]
        self._penalty = np.zeros(start)
        for function, (span, _, _) in zip(problem.functions, self._spans, strict=True):
            self._penalty[span] = function.weight
        self._global = self._project_globals()

    def start(self, multipliers: np.ndarray) -> None:
        """Set the functions to those of the multipliers."""
        self.coefficients = self.problem.coefficients(multipliers)
        self.weights = [
            None if f.space is None else f.space.matrix.T @ v / f.weight
            for f, v in zip(self.problem.functions, self.coefficients, strict=True)
        ]
        self.penalized = self._values(self.weights)

    def _values(self, weights: list[np.ndarray | None]) -> list[np.ndarray]:
        problem = self.problem
        return [
            np.zeros(problem.length(k)) if w is None else problem.spaces[k].matrix @ w
            for k, w in enumerate(weights)
        ]

    def set_weights(self, weights: list[np.ndarray | None]) -> None:
        """Set the functions to these weights, independently of the multipliers."""
        self.weights = [None if w is None else w.copy() for w in weights]
        self.penalized = self._values(self.weights)

    def advance(self, length: float, step: np.ndarray) -> None:
        """Update weights, coefficients and values for a step of the multipliers."""
        for v, dv in zip(self.coefficients, self.problem.spread(step), strict=True):
            v += length * dv
        for w, (span, _, _) in zip(self.weights, self._spans, strict=True):
            if w is not None:
                w += length * self._direction[span]
        self.penalized = self._values(self.weights)

    def _residual(self) -> np.ndarray:
        """Return ``ρ w − Φᵀv``, and zero for the biases."""
        residual = np.zeros(self.n_weights)
        for k, (v, w, (span, _, _)) in enumerate(
            zip(self.coefficients, self.weights, self._spans, strict=True)
        ):
            if w is not None:
                dual = self.problem.spaces[k].matrix.T @ v
                residual[span] = self.problem.functions[k].weight * w - dual
        return residual

    # ------------------------------------------------------------ row blocks
    def _invert_rows(self, right: np.ndarray) -> np.ndarray:
        """Return ``D⁻¹ right`` for the row multipliers, zero for the global ones."""
        out, rows = np.zeros(len(right)), slice(0, self.n_row_multipliers)
        out[rows] = right[rows] / self.diagonal[rows]
        # (D + s·11ᵀ)⁻¹ of a pair in a form without cancellation.
        for one, two, shared, determinant in self._coupled:
            apart = shared * (right[one] - right[two])
            out[one] = (self.diagonal[two] * right[one] + apart) / determinant
            out[two] = (self.diagonal[one] * right[two] - apart) / determinant
        return out

    def factorize(self, barrier: Barrier) -> None:
        """Factorize the Newton matrix with this barrier."""
        problem = self.problem
        self.diagonal = barrier.diagonal.copy()
        self._coupled = []
        for sharing, weight in zip(problem.sharing, barrier.shared, strict=True):
            if len(sharing) == 1:
                self.diagonal[problem.slices[sharing[0]]] += weight
                continue
            one, two = (problem.slices[q] for q in sharing)
            first, second = self.diagonal[one], self.diagonal[two]
            determinant = first * second + weight * (first + second)
            self._coupled.append((one, two, weight, determinant))
        matrix = np.zeros((self.n_weights,) * 2, order="F")
        for k in range(len(problem.functions)):
            for other in range(k + 1):
                self._add_block(matrix, k, other)
        index = np.arange(self.n_weights)
        matrix[index, index] += self._penalty
        diagonal = matrix[index, index].copy()
        for jitter in (1e-16, 1e-14, 1e-12, 1e-10, 1e-8):
            matrix[index, index] = diagonal * (1.0 + jitter)
            try:
                self._factor = cholesky(matrix.copy(order="F"))
                break
            except NotPositiveDefinite:
                continue
        else:
            raise NotPositiveDefinite("the Newton system is singular")
        self._answers = cholesky_solve(self._factor, self._global)
        border = self._global.T @ self._answers
        own = self.diagonal[self.n_row_multipliers :]
        self._border_inverse = inverse_of_small(border + np.diag(own))
        self._held = self._residual()

    def _curvature(self, k: int, other: int):
        """Return ``a_kᵀ D⁻¹ a_other`` on all rows; None if no family has both."""
        problem = self.problem
        weight = None
        pairs = [sharing for sharing in problem.sharing if len(sharing) > 1]
        paired = {q for sharing in pairs for q in sharing}
        for q, family in enumerate(problem.families):
            if k in family.on and other in family.on and q not in paired:
                term = family.on[k] * family.on[other]
                term = term / self.diagonal[problem.slices[q]]
                weight = self._scatter(weight, q, k, term)
        for sharing, (one, two, shared, determinant) in zip(
            pairs, self._coupled, strict=True
        ):
            on = [problem.families[q].on for q in sharing]
            if all(k not in a for a in on) or all(other not in a for a in on):
                continue
            (a_k, a_other), (b_k, b_other) = (
                (a.get(k, 0.0), a.get(other, 0.0)) for a in on
            )
            term = self.diagonal[two] * a_k * a_other
            term = term + self.diagonal[one] * b_k * b_other
            term = term + shared * (a_k - b_k) * (a_other - b_other)
            weight = self._scatter(weight, sharing[0], k, term / determinant)
        return weight

    def _scatter(self, weight, q: int, k: int, term: np.ndarray) -> np.ndarray:
        if weight is None:
            weight = np.zeros(self.problem.n_rows)
        rows = self.problem.families[q].rows
        if rows is None:
            weight += term
        else:
            weight[rows] += term
        return weight

    def _add_block(self, matrix: np.ndarray, k: int, other: int) -> None:
        """Add ``Φ̃_kᵀ diag(curvature) Φ̃_other`` and its transpose."""
        curvature = self._curvature(k, other)
        if curvature is None:
            return
        one, two = self.problem.functions[k], self.problem.functions[other]
        # The curvature is zero outside the smaller set of rows.
        rows = two.rows if one.rows is None else one.rows
        weight = curvature if rows is None else curvature[rows]
        left, at_left, has_left = self._spans[k]
        right, at_right, has_right = self._spans[other]
        n_rows = len(weight)
        first = _Reader(one, rows)
        second = first if k == other else _Reader(two, rows)
        for part in _blocks(n_rows, left.stop - left.start + right.stop - right.start):
            chunk = weight[part]
            b = second.features(part)
            if b is not None:
                scaled = _scale_rows(b, chunk)
                if first.space is not None:
                    a = b if k == other else first.features(part)
                    gram = a.T @ scaled
                    if not isinstance(gram, np.ndarray):
                        gram = gram.toarray()
                    matrix[left, right] += gram
                if has_left:
                    row = np.asarray(first.basis[part] @ scaled).ravel()
                    matrix[at_left, right] += row
                    if k == other:
                        matrix[right, at_left] += row
            if has_right and k != other and first.space is not None:
                scaled = chunk * second.basis[part]
                matrix[left, at_right] += np.asarray(
                    first.features(part).T @ scaled
                ).ravel()
            if has_left and has_right:
                matrix[at_left, at_right] += (first.basis[part] * chunk) @ second.basis[
                    part
                ]
        if k != other:
            block = matrix[
                left.start : left.stop + has_left, right.start : right.stop + has_right
            ]
            matrix[
                right.start : right.stop + has_right, left.start : left.stop + has_left
            ] = block.T

    def _project_globals(self) -> np.ndarray:
        """Return ``Φ̃ᵀ G``, one column for every global constraint."""
        rows = self.problem.global_rows
        projected = np.zeros((self.n_weights, len(rows)), order="F")
        for columns, row in zip(projected.T, rows, strict=True):
            for k, coefficient in row.on.items():
                self._collect(columns, k, coefficient)
        return projected

    def _collect(self, columns: np.ndarray, k: int, vector: np.ndarray) -> None:
        function = self.problem.functions[k]
        span, at, biased = self._spans[k]
        if function.space is not None:
            columns[span] += function.space.matrix.T @ vector
        if biased:
            columns[at] += function.basis @ vector

    # ---------------------------------------------------------------- solve
    def solve(
        self, right: np.ndarray, balance: np.ndarray, *, refine: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the step of the multipliers and of the biases; store that of weights.

        The refinement is on the equations of weights and multipliers together. In those
        of the weights, the multipliers are ``D⁻¹(p − A Φ̃ dθ)``, in which 1/D amplifies
        rounding errors near the end of the path.
        """
        target = self._held.copy()
        for (at, _), residual in zip(self._biased, balance, strict=True):
            target[at] += residual
        direction, step = self._solve_once(right, -target)
        for _ in range(REFINEMENTS if refine else 0):
            dual = right - self._product(step) - self._margins(direction)
            primal = self._project(step) - self._penalty * direction - target
            change, shift = self._solve_once(dual, primal)
            direction, step = direction + change, step + shift
        self._direction = direction
        return step, np.array([direction[at] for at, _ in self._biased])

    def _solve_once(self, right, primal) -> tuple[np.ndarray, np.ndarray]:
        """Solve ``D dλ + A Φ̃ dθ = right``, ``ρ dθ − Φ̃ᵀAᵀ dλ = primal``."""
        rows = self.n_row_multipliers
        target = primal + self._project(self._invert_rows(right), globals_too=False)
        direction = cholesky_solve(self._factor, target)
        missing = direction @ self._global
        forces = self._border_inverse @ (right[rows:] - missing)
        direction = direction + self._answers @ forces
        step = self._invert_rows(right - self._margins(direction))
        step[rows:] = forces
        return direction, step

    def _product(self, step: np.ndarray) -> np.ndarray:
        """Return ``D step``."""
        out = self.diagonal * step
        for one, two, shared, _ in self._coupled:
            both = shared * (step[one] + step[two])
            out[one] += both
            out[two] += both
        return out

    def _margins(self, direction: np.ndarray) -> np.ndarray:
        """Return ``A Φ̃ dθ``."""
        problem = self.problem
        weights = [
            None if f.space is None else direction[span]
            for f, (span, _, _) in zip(problem.functions, self._spans, strict=True)
        ]
        biases = np.array([direction[at] for at, _ in self._biased])
        return problem.margins(problem.values(self._values(weights), biases))

    def _project(self, step: np.ndarray, *, globals_too: bool = True) -> np.ndarray:
        """Return ``Φ̃ᵀAᵀ dλ``."""
        if not globals_too:
            step = step.copy()
            step[self.n_row_multipliers :] = 0.0
        projected = np.zeros(self.n_weights)
        for k, vector in enumerate(self.problem.spread(step)):
            self._collect(projected, k, vector)
        return projected


class _Reader:
    """Rows of the features and the basis of a function, block by block."""

    def __init__(self, function, rows):
        self.space = function.space
        self._local = None
        if rows is not None and function.rows is None:
            self._local = rows
        basis = function.basis
        if basis is not None and self._local is not None:
            basis = basis[self._local]
        self.basis = basis

    def features(self, part: slice):
        if self.space is None:
            return None
        if self._local is None:
            return self.space.matrix[part]
        return self.space.matrix[self._local[part]]


def _blocks(n_rows: int, width: int):
    size = max(1024, BLOCK_VALUES // max(width, 1))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def _scale_rows(block, weight: np.ndarray):
    if isinstance(block, np.ndarray):
        return block * weight[:, None]
    return block.multiply(weight[:, None]).tocsr()
