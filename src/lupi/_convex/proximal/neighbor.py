"""A face that differs from a factorized one in a few multipliers.

With ``x₀`` the solution on the old face, directions ``u_e`` that *enter*, and forces
along ``c_l`` that keep ``c_l·x`` at the value that it has on the new face, where those
directions *leave*, the new solution is::

    x = x₀ + Σ θ_e X_e + Σ μ_l X_l

``X_e`` is the response of the old face to ``u_e``, ``X_l`` that to the force ``c_l``;
each is one solution with the old factor. θ and μ are determined by the equations of the
entering directions and the values of the leaving ones. A direction is a multiplier, or
the difference of two that become tied; a leaving pair keeps its sum.
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
        """Return a residual on the face, as `Layout.reduce`."""
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
