"""The passes of the interior-point method over one block of rows.

In the notation of :mod:`lupi._convex.interior.path`, a block stores λ and z of its
constraints, w and ζ of its slacks. The argument of a pass is a step of the weights θ or
a step length, and the result are sums over the rows. With D the barrier and A the
coefficients of the constraints, eliminating the multipliers gives, for the weights::

    [ρ + Φ̃ᵀ Aᵀ D⁻¹ A Φ̃] dθ = Φ̃ᵀ Aᵀ D⁻¹ p − (ρ θ − Φ̃ᵀ v),    dλ = D⁻¹ (p − A Φ̃ dθ)

With g the gradient of the dual by λ, the right-hand side p is −g in the predictor step,
and ``−g + s + τ/λ`` in the corrector step, where s is of second order. A Mehrotra step
is three passes:

- `factorize` takes the last step and returns the matrix, the right-hand side of the
  predictor and the certificate of the new point;
- `predict` returns the longest predictor step and the right-hand sides of the corrector
  with and without τ;
- `correct` returns the longest corrector step and a part of the residual of the weights
  equations; it is repeated if the residual is too large.

Arrays are never changed in place, so that a shallow copy of a block keeps its state.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lupi._convex.interior.blocks.block import Block, Family, minus, times
from lupi._convex.interior.blocks.totals import Totals

__all__ = ["Passes"]


class Passes(Block):
    """A block with its part of the iterate.

    ``multipliers`` are relative to the offset, ``distance`` to their lower bound. Lists
    have an entry per family, or per linear slack.
    """

    multipliers: list
    distance: list
    margin: list
    room: list
    slack: list
    _best: tuple | None = None

    def measure(self, unit: float, least: float) -> Totals:
        """Set the largest right-hand side and the least curvature."""
        self.unit, self.least = unit, least
        return Totals()

    # ---------------------------------------------------------------- start
    def begin(self, multipliers: list) -> Totals:
        """Set multipliers inside their bounds; return their functions."""
        self.multipliers = [self.arrays.vector(own) for own in multipliers]
        self.distance = self._from_bounds(self.multipliers)
        self.room = self._headroom()
        return Totals({"pull": self.project(self.coefficients(self.multipliers))})

    def _from_bounds(self, multipliers: list) -> list:
        return [
            own if f.offset is None else own + f.offset
            for own, f in zip(multipliers, self.families, strict=True)
        ]

    def _headroom(self) -> list:
        return [
            slack.limit - sum(self.multipliers[q] for q in slack.members)
            for slack in self.slacks
        ]

    def slope(self, theta: np.ndarray) -> Totals:
        """Return the sum of the absolute derivatives of the dual."""
        sums = [self.arrays.total(self.arrays.absolute(g)) for g in self._by(theta)]
        return Totals({"slope": float(self.arrays.numbers(sums).sum())})

    def open(self, theta: np.ndarray, floor: float) -> Totals:
        """Set slacks and margins such that, where possible, stationarity holds."""
        gradient, arrays = self._by(theta), self.arrays
        self.slack = []
        for slack in self.slacks:
            most = self._most([-g for g in gradient], slack.members)
            self.slack.append(arrays.floored(most, 0.0) + floor)
        self.margin = [
            0.0 if f.equality else arrays.floored(self._with_slack(g, f), floor)
            for g, f in zip(gradient, self.families, strict=True)
        ]
        return Totals()

    def _most(self, values: list, members: tuple[int, ...]) -> Any:
        """Return the elementwise maximum over some families."""
        most = values[members[0]]
        for q in members[1:]:
            most = self.arrays.maximum(most, values[q])
        return most

    def _with_slack(self, values: Any, family: Family) -> Any:
        return values if family.slack is None else values + self.slack[family.slack]

    def _by(self, theta: np.ndarray) -> list:
        """Return ``Σ_k a_qk t_k − r_q + λ_q/q``, the negative gradient of the dual."""
        margins = self.margins(self.values(theta))
        return self._gradient(margins)

    def _gradient(self, margins: list) -> list:
        out = []
        for margin, family, own in zip(
            margins, self.families, self.multipliers, strict=True
        ):
            g = minus(margin, family.at_least)
            out.append(g if family.squared is None else g + own / family.squared)
        return out

    # ------------------------------------------------------------------ steps
    def factorize(self, theta: np.ndarray, length: float, keep: bool) -> Totals:
        """Take the last step, which ends at functions θ; prepare the next one.

        ``keep`` stores the multipliers of the previous point for `recall`.
        """
        if keep:
            self._best = self.multipliers, self.distance
        if length > 0.0:
            self._move(length)
        values = self.values(theta)
        self.gradient = self._gradient(self.margins(values))
        self._set_barrier()
        totals = self._certificate(values) + self._newton()
        right = self._invert([-g for g in self.gradient])
        totals.sums["right"] = self.project(self.spread(right))
        return totals

    def recall(self) -> Totals:
        """Restore the multipliers of the best point."""
        if self._best is not None:
            self.multipliers, self.distance = self._best
        return Totals()

    def _move(self, length: float) -> None:
        step, target, share = self._step
        margin, room, slack = self._changes(step, *self._centers(target, share))

        def moved(values, changes):
            return [
                value + length * change
                for value, change in zip(values, changes, strict=True)
            ]

        distance = moved(self.distance, step)
        self.multipliers = [
            far if f.offset is None else own + length * change
            for own, change, far, f in zip(
                self.multipliers, step, distance, self.families, strict=True
            )
        ]
        self.distance, self.margin = distance, moved(self.margin, margin)
        self.room, self.slack = moved(self.room, room), moved(self.slack, slack)

    def _set_barrier(self) -> None:
        """Set D: a diagonal, and 2 × 2 blocks for constraints that share a slack."""
        self.diagonal = []
        for family, far, z in zip(
            self.families, self.distance, self.margin, strict=True
        ):
            entry = 0.0 if family.equality else z / far
            if family.squared is not None:
                entry = entry + 1.0 / family.squared + 0.0 * far
            self.diagonal.append(entry)
        self.coupled = []
        for linear, w, zeta in zip(self.slacks, self.room, self.slack, strict=True):
            weight = zeta / w
            if len(linear.members) == 1:
                (q,) = linear.members
                self.diagonal[q] = self.diagonal[q] + weight
                continue
            one, two = linear.members
            first, second = self.diagonal[one], self.diagonal[two]
            determinant = first * second + weight * (first + second)
            self.coupled.append((one, two, weight, determinant))

    def _invert(self, right: list) -> list:
        """Return ``D⁻¹ right``."""
        out = [None] * len(right)
        # (D + s·11ᵀ)⁻¹ of a pair in a form without cancellation.
        for one, two, weight, determinant in self.coupled:
            apart = weight * (right[one] - right[two])
            out[one] = (self.diagonal[two] * right[one] + apart) / determinant
            out[two] = (self.diagonal[one] * right[two] - apart) / determinant
        return [
            p / d if found is None else found
            for p, d, found in zip(right, self.diagonal, out, strict=True)
        ]

    def _newton(self) -> Totals:
        """Return the matrix of the weights, and ``Φ̃ᵀ v``."""
        curvature: dict[tuple[int, int], Any] = {}
        weights: dict[tuple[int, ...], list] = {
            (one, two): rest for one, two, *rest in self.coupled
        }
        for members, coupling in self.coupling.items():
            if len(members) == 1:
                inverse = 1.0 / self.diagonal[members[0]]
                terms = {at: times(a, inverse) for at, a in coupling.items()}
            else:
                weight, determinant = weights[members]
                terms = {
                    at: _combined(
                        (of_first, self.diagonal[members[1]]),
                        (of_second, self.diagonal[members[0]]),
                        (of_both, weight),
                    )
                    / determinant
                    for at, (of_first, of_second, of_both) in coupling.items()
                }
            for at, term in terms.items():
                before = curvature.get(at)
                curvature[at] = term if before is None else before + term
        pull = self.project(self.coefficients(self.multipliers))
        return Totals({"matrix": self.gram(curvature), "pull": pull})

    def predict(self, direction: np.ndarray, at_best: bool = False) -> Totals:
        """Compute the predictor step and its products.

        ``at_best`` frees the multipliers that are stored for `recall`.
        """
        if at_best:
            self._best = None
        arrays = self.arrays
        across = self.margins(self.values(direction))
        step = self._invert(
            [-(g + m) for g, m in zip(self.gradient, across, strict=True)]
        )
        right, unit, products, fastest = [], [], [], []
        for q, family in enumerate(self.families):
            if family.equality:
                right.append(0.0)
                unit.append(0.0)
                continue
            ratio = step[q] / self.distance[q]
            right.append(ratio * (1.0 + ratio) * self.margin[q])
            unit.append(1.0 / self.distance[q])
            fastest += [arrays.largest(-ratio), 1.0 + arrays.largest(ratio)]
            products.append(-arrays.dot(self.distance[q], right[q]))
        self.second, self.second_of_slack = list(right), []
        for linear, w, zeta in zip(self.slacks, self.room, self.slack, strict=True):
            ratio = -sum(step[q] for q in linear.members) / w
            bend = ratio * (1.0 + ratio) * zeta
            fastest += [arrays.largest(-ratio), 1.0 + arrays.largest(ratio)]
            products.append(-arrays.dot(w, bend))
            self.second_of_slack.append(bend)
            for q in linear.members:
                right[q] = right[q] - bend
                unit[q] = unit[q] - 1.0 / w
        return Totals(
            {
                "second": self.project(self.spread(self._invert(right))),
                "unit": self.project(self.spread(self._invert(unit))),
                "products": float(arrays.numbers(products).sum()),
            },
            {"fastest": float(arrays.numbers(fastest).max(initial=0.0))},
        )

    def correct(self, direction: np.ndarray, target: float, share: float) -> Totals:
        """Compute the corrector step, with a share of the second-order term.

        `factorize` takes it.
        """
        arrays = self.arrays
        across = self.margins(self.values(direction))
        centers, centers_of_slack = self._centers(target, share)
        right = [
            center - g - m
            for center, g, m in zip(centers, self.gradient, across, strict=True)
        ]
        for linear, center in zip(self.slacks, centers_of_slack, strict=True):
            for q in linear.members:
                right[q] = right[q] - center
        step = self._invert(right)
        margin, room, slack = self._changes(step, centers, centers_of_slack)
        bounded = [q for q, family in enumerate(self.families) if not family.equality]
        pairs = [(step[q], self.distance[q]) for q in bounded]
        pairs += [(margin[q], self.margin[q]) for q in bounded]
        pairs += [
            *zip(room, self.room, strict=True),
            *zip(slack, self.slack, strict=True),
        ]
        fastest = [arrays.largest(-(change / value)) for change, value in pairs]
        self._step = step, target, share
        return Totals(
            {"pull": self.project(self.spread(step))},
            {"fastest": float(arrays.numbers(fastest).max(initial=0.0))},
        )

    def _centers(self, target: float, share: float) -> tuple[list, list]:
        """Return ``τ/λ`` and ``τ/w`` with a share of the second-order terms."""
        centers = [
            0.0 if family.equality else share * second + target / far
            for family, second, far in zip(
                self.families, self.second, self.distance, strict=True
            )
        ]
        centers_of_slack = [
            share * second + target / w
            for second, w in zip(self.second_of_slack, self.room, strict=True)
        ]
        return centers, centers_of_slack

    def _changes(self, step: list, centers: list, centers_of_slack: list) -> tuple:
        """Return the changes of z, w and ζ along a step of the multipliers."""
        margin = [
            0.0 if family.equality else center - z * (1.0 + change / far)
            for family, center, z, change, far in zip(
                self.families, centers, self.margin, step, self.distance, strict=True
            )
        ]
        room = [-sum(step[q] for q in linear.members) for linear in self.slacks]
        slack = [
            center - zeta * (1.0 + change / w)
            for center, zeta, change, w in zip(
                centers_of_slack, self.slack, room, self.room, strict=True
            )
        ]
        return margin, room, slack

    # ------------------------------------------------------------ certificate
    def _certificate(self, values: dict[int, Any]) -> Totals:
        """Return sums and peaks of :class:`lupi._convex.solution.Solution`."""
        arrays = self.arrays
        primal, dual, products, stationarity = [], [], [], []
        hard, violation, gain, lost = [], [], [], []
        short = []
        for family, g, own, far, z in zip(
            self.families,
            self.gradient,
            self.multipliers,
            self.distance,
            self.margin,
            strict=True,
        ):
            missing = -g if family.squared is None else own / family.squared - g
            short.append(missing)
            dual.append(self.dot(family.at_least, own))
            if family.squared is not None:
                dual.append(-0.5 * arrays.dot(own, own / family.squared))
                needed = missing if family.equality else arrays.floored(missing, 0.0)
                primal.append(0.5 * arrays.dot(needed, family.squared * needed))
            if family.bend is not None:
                off = arrays.absolute(missing) if family.equality else missing
                hard.append(arrays.total(arrays.absolute(far)))
                violation.append(arrays.largest(off))
                over = arrays.floored(off, 0.0)
                over = 0.5 * over * over / arrays.floored(family.bend, self.least)
                gain.append(arrays.largest(over))
            off = arrays.absolute(self._with_slack(g, family) - z)
            stationarity.append(arrays.largest(off))
            if not family.equality:
                products.append(arrays.dot(far, z))
        for linear, w, zeta, left in zip(
            self.slacks, self.room, self.slack, self._headroom(), strict=True
        ):
            needed = self._most(short, linear.members)
            primal.append(self.dot(linear.cost, arrays.floored(needed, 0.0)))
            products.append(arrays.dot(w, zeta))
            worth = arrays.absolute(needed) + self.unit
            lost.append(arrays.dot(arrays.floored(-left, 0.0), worth))
        for k, cost in self.cost.items():
            primal.append(self.dot(cost, values[k]))
        largest = [
            arrays.largest(arrays.absolute(values[k])) if k in values else 0.0
            for k in range(len(self.layout.spans))
        ]

        def sum_of(terms):
            return float(arrays.numbers(terms).sum())

        def peak_of(terms):
            return float(arrays.numbers(terms).max(initial=0.0))

        return Totals(
            {
                "primal": sum_of(primal),
                "dual": sum_of(dual),
                "products": sum_of(products),
                "hard": sum_of(hard),
                "lost": sum_of(lost),
            },
            {
                "stationarity": peak_of(stationarity),
                "violation": peak_of(violation),
                "gain": peak_of(gain),
                "values": arrays.numbers(largest),
            },
        )


def _combined(*terms: tuple[Any, Any]) -> Any:
    """Return ``Σ c x`` without the terms whose coefficient is zero."""
    kept = [
        times(coefficient, values)
        for coefficient, values in terms
        if not (isinstance(coefficient, float) and coefficient == 0.0)
    ]
    return sum(kept[1:], start=kept[0]) if kept else 0.0 * terms[0][1]
