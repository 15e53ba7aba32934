"""The passes of the smoothed problem, in which every row is on the central path.

For given functions, the barrier problem separates into one problem per row::

    λ ∘ z = μ,   w ∘ ζ = μ,    z = Σ_k a_k t_k − r + ζ,   w = d − Σλ

This is one equation for ζ. The objective is then a smooth function of the weights and
biases, whose derivative by ``Σ a_k t_k`` is −λ.

References
----------
C. Chen, O. Mangasarian, "A class of smoothing functions for nonlinear and mixed
complementarity problems", Computational Optimization and Applications 5, 1996.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lupi._convex.interior.blocks.block import minus, times
from lupi._convex.interior.blocks.passes import Passes
from lupi._convex.interior.blocks.totals import Totals

__all__ = ["RowState"]

ROUNDING, MOST_ROOTS = 1e-12, 40


class RowState(Passes):
    """A block of rows with the passes of both problems.

    The passes of the smoothed problem need a linear slack in every family.
    """

    def center(self, theta: np.ndarray, mu: float) -> Totals:
        """Set the rows to the path; return the Newton matrix and ``Φ̃ᵀ v``.

        ``unit`` is the derivative of ``Φ̃ᵀ v`` by μ.
        """
        excess = self._excess(theta)
        self.distance, self.margin, self.room, self.slack = self._balanced(excess, mu)
        self.multipliers = [
            far if f.offset is None else far - f.offset
            for far, f in zip(self.distance, self.families, strict=True)
        ]
        self._set_barrier()
        totals = self._newton()
        unit = [1.0 / far for far in self.distance]
        for linear, w in zip(self.slacks, self.room, strict=True):
            for q in linear.members:
                unit[q] = unit[q] - 1.0 / w
        totals.sums["unit"] = self.project(self.spread(self._invert(unit)))
        return totals

    def slopes(
        self, theta: np.ndarray, direction: np.ndarray, lengths: list[float], mu: float
    ) -> Totals:
        """Return the slopes along a direction at some lengths, without the norms."""
        excess, moved = self._excess(theta), self.values(direction)
        across = self.margins(moved)
        costs = [self.dot(cost, moved[k]) for k, cost in self.cost.items()]
        found = []
        for length in lengths:
            ahead = [x + length * dx for x, dx in zip(excess, across, strict=True)]
            far = self._balanced(ahead, mu)[0]
            pulls = map(self.arrays.dot, far, across)
            found.append(sum(costs) - sum(pulls))
        return Totals({"slopes": self.arrays.numbers(found)})

    def _excess(self, theta: np.ndarray) -> list:
        margins = self.margins(self.values(theta))
        return [
            minus(margin, family.at_least)
            for margin, family in zip(margins, self.families, strict=True)
        ]

    def _balanced(self, excess: list, mu: float) -> tuple[list, list, list, list]:
        """Return λ, z, w and ζ of every row, from ``Σ a_k t_k − r``."""
        margin: list[Any] = [None] * len(excess)
        slacks = []
        for linear in self.slacks:
            over = [excess[q] for q in linear.members]
            low = self.arrays.floored(
                self._most([-x for x in excess], linear.members), 0.0
            )
            # Relative to the largest, to avoid cancellation.
            shifts = [low, *(g + low for g in over)]
            root = self._root(shifts, times(linear.cost, 1.0 / mu))
            slacks.append(low + root)
            for q, h in zip(linear.members, shifts[1:], strict=True):
                margin[q] = h + root
        rooms = [mu / slack for slack in slacks]
        return [mu / z for z in margin], margin, rooms, slacks

    def _root(self, shifts: list, total: Any) -> Any:
        """Return x > 0 with ``Σ 1/(h + x) = total``, for h ≥ 0 with minimum 0.

        The reciprocal of the sum is concave in x, so that Newton's method converges
        monotonically from below.
        """
        root = 1.0 / total + 0.0 * shifts[0]
        for _ in range(MOST_ROOTS):
            parts = [1.0 / (h + root) for h in shifts]
            found = sum(parts[1:], start=parts[0])
            squares = [p * p for p in parts]
            step = found * (found / total - 1.0) / sum(squares[1:], start=squares[0])
            root = root + step
            moved = self.arrays.absolute(step) - ROUNDING * root
            if self.arrays.numbers([self.arrays.largest(moved)])[0] <= 0.0:
                break
        return root
