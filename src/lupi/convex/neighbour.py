"""A face that differs from one already factorised by a few multipliers.

With ``x₀`` the solution on the old face, an *entering* multiplier θ that was bound
before, and a force μ that keeps a *leaving* one at its bound, the new solution is::

    x = x₀ + Σ θ_e X_e + Σ μ_l X_l

``X_e`` is how the old face answers one unit of e, ``X_l`` how it answers a unit force
on l: one solution with the old factor each. θ and μ follow from as many equations:
those of the entering multipliers, and the bounds of the leaving ones.
"""

from __future__ import annotations

import numpy as np

from .faces import Face

__all__ = ["Neighbour"]


class Neighbour:
    """The equations of a face, solved with the factors of another beside it."""

    def __init__(self, base: Face, free: np.ndarray):
        self.base, self.layout, self.tied, self.free = (
            base,
            base.layout,
            base.tied,
            free,
        )
        self.entering = np.flatnonzero(free & ~base.free)
        self.leaving = np.flatnonzero(base.free & ~free)
        problem = self.layout.problem
        self._none = np.zeros(len(problem.biased))
        nothing = np.zeros(problem.size)
        zero = [np.zeros(problem.length(k)) for k in range(len(problem.functions))]
        answers, shifts = [], []
        for e in self.entering:
            unit = _unit(problem.size, e)
            answer = base.solve(nothing, unit, problem.spread(unit), self._none)
            answers.append(answer[0])
            shifts.append(answer[1])
        for m in self.leaving:
            answer = base.solve(_unit(problem.size, m), nothing, zero, self._none)
            answers.append(answer[0])
            shifts.append(answer[1])
        self._answers, self._shifts = np.array(answers).T, np.array(shifts).T
        n_entering = len(self.entering)
        system = np.empty((len(answers),) * 2)
        for j, (answer, shift) in enumerate(zip(answers, shifts, strict=True)):
            system[:n_entering, j] = self._left(problem.spread(answer), shift, answer)
            system[n_entering:, j] = answer[self.leaving]
        self._system = system

    @staticmethod
    def distance(base: Face, free: np.ndarray, tied: dict[int, np.ndarray]) -> float:
        """How many multipliers differ; infinite where it is not they alone."""
        start = base.layout.start
        same = np.array_equal(base.free[start:], free[start:]) and all(
            np.array_equal(rows, base.tied[s]) for s, rows in tied.items()
        )
        return int((base.free != free).sum()) if same else np.inf

    def _left(self, coefficients, biases, multipliers) -> np.ndarray:
        """``Σ_k a_k t_k + D λ`` of the entering multipliers, by their rows of K."""
        problem, out = self.layout.problem, []
        for m in self.entering:
            q = next(
                i
                for i, part in enumerate(problem.slices)
                if part.start <= m < part.stop
            )
            at, value = (
                m - problem.slices[q].start,
                self.layout.ridge[m] * multipliers[m],
            )
            for k, a in problem.families[q].on.items():
                function, row = problem.functions[k], self.layout.at(q, k)[at]
                t = 0.0
                if function.space is not None:
                    t = function.space.matrix[row] @ coefficients[k] / function.weight
                if k in problem.biased:
                    t += biases[problem.biased.index(k)] * function.basis[row]
                value += a[at] * t
            out.append(value)
        return np.array(out)

    def solve(self, right, fixed, given, balance) -> tuple[np.ndarray, np.ndarray]:
        """Multipliers and biases that meet the equations, as `Face.solve`."""
        problem, leaving = self.layout.problem, self.leaving
        held = np.zeros(problem.size)
        held[leaving] = fixed[leaving]
        without = [v - w for v, w in zip(given, problem.spread(held), strict=True)]
        found, biases = self.base.solve(right, fixed - held, without, balance)
        made = problem.spread(found - fixed + held)
        made = [v + w for v, w in zip(without, made, strict=True)]
        rest = np.concatenate(
            [
                right[self.entering] - self._left(made, biases, found),
                fixed[leaving] - found[leaving],
            ]
        )
        weights = np.linalg.lstsq(self._system, rest, rcond=None)[0]
        found = found + self._answers @ weights
        found[leaving] = fixed[leaving]
        return found, biases + self._shifts @ weights

    def reduce(self, vector: np.ndarray) -> np.ndarray:
        """A vector of forces as seen by what is free: zero at bounds, tied as one."""
        return self.layout.reduce(vector, self.free, self.tied)


def _unit(size: int, at: int) -> np.ndarray:
    unit = np.zeros(size)
    unit[at] = 1.0
    return unit
