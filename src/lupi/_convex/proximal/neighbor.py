"""A face that differs from a factorized one in a few multipliers.

With ``x₀`` the solution on the old face, an *entering* multiplier θ that was bound
before, and a force μ that keeps a *leaving* one at its bound, the new solution is::

    x = x₀ + Σ θ_e X_e + Σ μ_l X_l

``X_e`` is the response of the old face to one unit of e, ``X_l`` that to a unit force
on l; each is one solution with the old factor. θ and μ are determined by the equations
of the entering multipliers and the bounds of the leaving ones.
"""

from __future__ import annotations

import numpy as np

from lupi._convex.linalg import product, take_rows
from lupi._convex.proximal.face import Face

__all__ = ["Neighbor"]

# Relative singular value below which the small system is singular.
SINGULAR = 1e-15


class Neighbor:
    """The equations of a face, solved with the factors of a neighboring face."""

    def __init__(self, base: Face, free: np.ndarray):
        self.base, self.layout = base, base.layout
        self.tied, self.free = base.tied, free
        self.entering = np.flatnonzero(free & ~base.free)
        self.leaving = np.flatnonzero(base.free & ~free)
        problem = self.layout.problem
        n_entering, n_leaving = len(self.entering), len(self.leaving)
        # A unit of every entering multiplier, a unit force on every leaving one.
        units, forces = np.zeros((2, n_entering + n_leaving, problem.size))
        units[np.arange(n_entering), self.entering] = 1.0
        forces[n_entering + np.arange(n_leaving), self.leaving] = 1.0
        none = np.zeros((len(units), len(problem.biased)))
        self._places = self._find()
        self._answers, self._shifts = base.solve(
            forces, units, problem.spread(units), none
        )
        system = np.concatenate(
            [
                self._left(problem.spread(self._answers), self._shifts, self._answers),
                self._answers[:, self.leaving],
            ],
            axis=1,
        )
        self._inverse = np.linalg.pinv(system, rcond=SINGULAR)

    @staticmethod
    def distance(base: Face, free: np.ndarray, tied: dict[int, np.ndarray]) -> float:
        """Return how many multipliers differ; infinite if tied or global ones do."""
        start = base.layout.start
        same = np.array_equal(base.free[start:], free[start:]) and all(
            np.array_equal(rows, base.tied[s]) for s, rows in tied.items()
        )
        return int((base.free != free).sum()) if same else np.inf

    def _find(self) -> list[tuple[slice, int, np.ndarray, np.ndarray]]:
        """Return functions, rows and coefficients of the entering multipliers."""
        problem, places = self.layout.problem, []
        for q, (part, family) in enumerate(
            zip(problem.slices, problem.families, strict=True)
        ):
            first, last = np.searchsorted(self.entering, (part.start, part.stop))
            if first < last:
                at = self.entering[first:last] - part.start
                places += [
                    (slice(first, last), k, self.layout.at(q, k)[at], a[at])
                    for k, a in family.on.items()
                ]
        return places

    def _left(self, coefficients, biases, multipliers) -> np.ndarray:
        """Return ``Σ_k a_k t_k + D λ`` of the entering multipliers."""
        problem = self.layout.problem
        out = self.layout.ridge[self.entering] * multipliers[..., self.entering]
        for span, k, rows, signs in self._places:
            function = problem.functions[k]
            if function.space is not None:
                lines = take_rows(function.space.matrix, rows)
                value = product(lines, coefficients[k].T).T / function.weight
                out[..., span] += signs * value
            if k in problem.biased:
                bias = biases[..., problem.biased.index(k), None]
                out[..., span] += signs * bias * problem.bases[k][rows]
        return out

    def solve(self, right, fixed, given, balance) -> tuple[np.ndarray, np.ndarray]:
        """Return the solution of the equations, as `Face.solve`."""
        problem, leaving = self.layout.problem, self.leaving
        held = np.zeros(problem.size)
        held[leaving] = fixed[leaving]
        without = [v - w for v, w in zip(given, problem.spread(held), strict=True)]
        found, biases = self.base.solve(right, fixed - held, without, balance)
        made = problem.spread(found - fixed + held)
        made = [v + w for v, w in zip(without, made, strict=True)]
        residual = np.concatenate(
            [
                right[self.entering] - self._left(made, biases, found),
                fixed[leaving] - found[leaving],
            ]
        )
        weights = residual @ self._inverse
        found = found + weights @ self._answers
        found[leaving] = fixed[leaving]
        return found, biases + weights @ self._shifts

    def reduce(self, vector: np.ndarray) -> np.ndarray:
        """Return a residual on the face, as `Layout.reduce`."""
        return self.layout.reduce(vector, self.free, self.tied)
