"""The set Λ of multipliers, its projection and its faces.

Λ is a box, except that the multipliers λ and λ' of two families that share a slack have
lower bounds and ``λ + λ' ≤ d``.
"""

from __future__ import annotations

import numpy as np

from lupi._convex.problem import Problem

__all__ = ["Bounds"]

ROUNDING = 4 * np.finfo(float).eps


class Bounds:
    """The set Λ, its projection and its faces."""

    def __init__(self, problem: Problem, ridge: np.ndarray):
        self.problem, self.ridge = problem, ridge
        self.low = problem.lower
        self.high = np.full(problem.size, np.inf)
        for s, sharing in enumerate(problem.sharing):
            for q in sharing:
                part = problem.slices[q]
                others = sum(
                    problem.lower[problem.slices[o]] for o in sharing if o != q
                )
                self.high[part] = problem.limits[s] - others

    def project(self, point: np.ndarray) -> np.ndarray:
        """Return the nearest point of Λ in the norm weighted by the ridge."""
        out = np.clip(point, self.low, self.high)
        for _, limit, first, second in self._pairs():
            crowded = out[first] + out[second] > limit
            if crowded.any():
                d = limit[crowded]
                one, two = self.ridge[first][crowded], self.ridge[second][crowded]
                even = one * point[first][crowded] + two * (d - point[second][crowded])
                even /= one + two
                low, high = self.low[first][crowded], self.high[first][crowded]
                out[first][crowded] = even = np.clip(even, low, high)
                out[second][crowded] = d - even
        return out

    def _pairs(self):
        problem = self.problem
        for s, (outer, inner) in problem.structure.pairs.items():
            limit = problem.limits[s]
            yield s, limit, problem.slices[outer], problem.slices[inner]

    def face(self, point: np.ndarray) -> tuple[np.ndarray, dict[int, np.ndarray]]:
        """Return the free multipliers and the tied rows at a projected point."""
        free = (point > self.low) & (point < self.high)
        tied = {}
        for s, limit, first, second in self._pairs():
            size = np.abs(limit) + np.abs(point[first])  # x + (d − x) may round below d
            full = point[first] + point[second] >= limit - ROUNDING * size
            tied[s] = np.flatnonzero(full & free[first] & free[second])
            free[first] &= ~full
            free[second] &= ~full
        return free, tied

    def fixed(self, point, free, tied) -> np.ndarray:
        """Return the fixed multipliers of a face; a tied pair counts as 0 and d."""
        out = np.where(free, 0.0, point)
        for s, limit, first, second in self._pairs():
            rows = tied[s]
            out[first][rows], out[second][rows] = 0.0, limit[rows]
        return out
