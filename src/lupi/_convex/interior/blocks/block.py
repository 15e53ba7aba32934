"""One block of rows: its data, and sums over its rows in the space of the weights.

All rows of a block have the same functions and families, so that the vectors of all
families and functions have the same rows. A constant vector is stored as a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lupi._convex.interior.blocks.layout import Layout
from lupi._convex.problem import Problem

__all__ = ["Block", "Family", "Linear", "minus", "times"]


@dataclass(frozen=True, eq=False)
class Family:
    """One constraint per row; see :mod:`lupi._convex.problem` for the notation.

    ``offset`` is the offset of its multipliers, None for zero. ``squared`` is the cost
    of a squared slack, ``slack`` the number of the linear one; ``bend`` is the diagonal
    of the dual if there is no slack.
    """

    on: dict[int, Any]
    at_least: Any
    offset: Any | None
    squared: Any | None
    equality: bool
    bend: Any | None
    slack: int | None


@dataclass(frozen=True, eq=False)
class Linear:
    """Linear slacks: their cost, the bound of the multipliers, and the families."""

    cost: Any
    limit: Any
    members: tuple[int, ...]


def times(coefficient: Any, values: Any) -> Any:
    """Return the product; the values themselves if the coefficient is one."""
    if isinstance(coefficient, float) and coefficient == 1.0:
        return values
    return coefficient * values


def minus(values: Any, constant: Any) -> Any:
    """Return the difference; the values themselves if the constant is zero."""
    if isinstance(constant, float) and constant == 0.0:
        return values
    return values - constant


class Block:
    """Some rows of a problem whose functions and families all have the same rows.

    Parameters
    ----------
    problem : Problem
        The problem, with ``rows=None`` in every function and family.
    names : list of int
        The numbers of its functions in the layout.
    layout : Layout
        The unknowns.
    part : slice
        The rows.
    arrays : module or object
        The operations on vectors, see :mod:`.arrays`.
    """

    def __init__(
        self,
        problem: Problem,
        names: list[int],
        layout: Layout,
        part: slice,
        arrays: Any,
    ):
        self.layout, self.part, self.arrays = layout, part, arrays
        self.n_rows = part.stop - part.start
        self.names = names
        self.features = {
            names[k]: arrays.features(space.matrix[part])
            for k, space in problem.spaces.items()
        }
        cut = self._cut
        self.basis = {names[k]: cut(basis) for k, basis in problem.bases.items()}
        self.cost, self.rest = {}, {}
        for k, function in enumerate(problem.functions):
            if function.cost is not None:
                self.cost[names[k]] = cut(function.cost)
            rest = problem.rest_costs[k]
            if rest is not None:
                self.rest[names[k]] = cut(rest)
        # K_ii of every function and row, for the gain of hard constraints.
        sizes = {
            k: _squares(space.matrix[part]) / problem.functions[k].weight
            for k, space in problem.spaces.items()
        }
        self.slacks = [
            Linear(cut(cost), cut(limit), tuple(members))
            for cost, limit, members in zip(
                problem.slack_costs, problem.limits, problem.sharing, strict=True
            )
        ]
        owner = {q: s for s, slack in enumerate(self.slacks) for q in slack.members}
        self.families, self.steepest = [], 0.0
        for q, (flat, family) in enumerate(
            zip(problem.slices, problem.families, strict=True)
        ):
            squared = None if family.slack is None else family.slack.squared
            bend = None
            if family.slack is None:
                bend = np.zeros(self.n_rows)
                for k, a in family.on.items():
                    if k in sizes:
                        bend += a[part] ** 2 * sizes[k]
                self.steepest = max(self.steepest, float(bend.max()))
                bend = arrays.vector(bend)
            offset = problem.offset[flat][part].copy()
            self.families.append(
                Family(
                    {names[k]: cut(a) for k, a in family.on.items()},
                    cut(np.asarray(family.at_least, dtype=float)),
                    self._compact(offset) if offset.any() else None,
                    None if squared is None else cut(squared),
                    family.equality,
                    bend,
                    owner.get(q),
                )
            )
        self._set_couplings(problem)

    def _set_couplings(self, problem: Problem) -> None:
        """Set the products of the coefficients of every two functions."""
        names, paired = self.names, set()
        self.coupling: dict[tuple[int, ...], dict] = {}
        for sharing in problem.sharing:
            if len(sharing) == 1:
                continue
            paired.update(sharing)
            first, second = (self._own(problem.families[q].on) for q in sharing)
            zero, both = np.zeros(self.n_rows), sorted({*first, *second})
            for k in both:
                for other in both[: both.index(k) + 1]:
                    a, b = first.get(k, zero), first.get(other, zero)
                    c, d = second.get(k, zero), second.get(other, zero)
                    terms = a * b, c * d, (a - c) * (b - d)
                    at = names[k], names[other]
                    coupling = self.coupling.setdefault(tuple(sharing), {})
                    coupling[at] = tuple(map(self._compact, terms))
        for q, family in enumerate(problem.families):
            if q not in paired:
                own = self._own(family.on)
                self.coupling[q,] = {
                    (names[k], names[other]): self._compact(a * b)
                    for k, a in own.items()
                    for other, b in own.items()
                    if other <= k
                }

    def _own(self, on: Mapping[int, np.ndarray]) -> dict[int, np.ndarray]:
        return {k: a[self.part] for k, a in on.items()}

    def _cut(self, values: np.ndarray) -> Any:
        """Return the entries of these rows."""
        return self._compact(values[self.part])

    def _compact(self, own: np.ndarray) -> Any:
        """Return a vector, or a number if all entries are equal."""
        if own[0] == own[-1] and (own == own[0]).all():
            return float(own[0])
        return self.arrays.vector(np.asarray(own, dtype=float))

    # --------------------------------------------------------- rows and weights
    def values(self, theta: np.ndarray) -> dict[int, Any]:
        """Return ``t_k = Φ_k w_k + b_k e_k``."""
        out = {}
        for k in self.names:
            span, at = self.layout.spans[k], self.layout.biases[k]
            value = 0.0
            if span is not None:
                value = self.arrays.product(self.features[k], theta[span])
            if at is not None:
                value = value + times(self.basis[k], float(theta[at]))
            out[k] = value
        return out

    def margins(self, values: dict[int, Any]) -> list:
        """Return ``Σ_k a_qk ∘ t_k`` for every family."""
        return [
            sum(times(a, values[k]) for k, a in family.on.items())
            for family in self.families
        ]

    def spread(self, multipliers: list) -> dict[int, Any]:
        """Return ``Σ_q a_qk ∘ λ_q`` for every function."""
        out: dict[int, Any] = {}
        for family, own in zip(self.families, multipliers, strict=True):
            for k, a in family.on.items():
                term = times(a, own)
                out[k] = out[k] + term if k in out else term
        return out

    def coefficients(self, multipliers: list) -> dict[int, Any]:
        """Return ``v_k`` for multipliers relative to their offset."""
        out = self.spread(multipliers)
        for k, cost in self.rest.items():
            out[k] = out.get(k, 0.0) - cost
        return out

    def project(self, vectors: dict[int, Any]) -> np.ndarray:
        """Return ``Φ̃_kᵀ x_k`` of every function, as a vector like θ."""
        out = np.zeros(self.layout.size)
        for k, values in vectors.items():
            span, at = self.layout.spans[k], self.layout.biases[k]
            if span is not None:
                out[span] = self.arrays.projection(self.features[k], values)
            if at is not None:
                out[at] = self.arrays.numbers([self.dot(self.basis[k], values)])[0]
        return out

    def dot(self, coefficient: Any, values: Any) -> Any:
        """Return ``Σ_i a_i x_i``, where a may be a number."""
        if isinstance(coefficient, float):
            return coefficient * self.arrays.total(values)
        return self.arrays.dot(coefficient, values)

    def gram(self, curvature: dict[tuple[int, int], Any]) -> np.ndarray:
        """Return the lower triangle of ``Σ Φ̃_kᵀ c_kl Φ̃_l``, from c_kl for k ≥ l."""
        arrays, layout = self.arrays, self.layout
        matrix = np.zeros((layout.size,) * 2)
        for (k, other), weight in curvature.items():
            left, right = layout.spans[k], layout.spans[other]
            at, to = layout.biases[k], layout.biases[other]
            if left is not None and right is not None:
                matrix[left, right] = arrays.weighted_gram(
                    self.features[k], weight, self.features[other]
                )
            if at is not None:
                own = times(self.basis[k], weight)
                if right is not None:
                    matrix[at, right] = arrays.projection(self.features[other], own)
                if to is not None:
                    found = self.dot(self.basis[other], own)
                    matrix[at, to] = arrays.numbers([found])[0]
            if to is not None and left is not None and k != other:
                own = times(self.basis[other], weight)
                matrix[left, to] = arrays.projection(self.features[k], own)
        return matrix


def _squares(matrix: Any) -> np.ndarray:
    if isinstance(matrix, np.ndarray):
        return np.einsum("ij,ij->i", matrix, matrix)
    return np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel()
