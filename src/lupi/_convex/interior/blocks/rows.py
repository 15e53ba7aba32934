"""The passes of the interior-point method over one block of rows.

In the notation of :mod:`lupi._convex.interior`, a block stores λ and z of its
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

In the smoothed problem every row is on the central path. For given functions, the
barrier problem then separates into one problem per row::

    λ ∘ z = μ,   w ∘ ζ = μ,    z = Σ_k a_k t_k − r + ζ,   w = d − Σλ

This is one equation for ζ. The objective is a smooth function of the weights and
biases, whose derivative by ``Σ a_k t_k`` is −λ. Every family needs a linear slack.

References
----------
C. Chen, O. Mangasarian, "A class of smoothing functions for nonlinear and mixed
complementarity problems", Computational Optimization and Applications 5, 1996.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Protocol

import numpy as np

from lupi._convex import linalg
from lupi._convex.problem import Problem

# Least margin in the barrier, in units of the right-hand sides: 1/D and the condition
# of the Newton matrix would be unbounded at the end of the path. The residual that the
# difference leaves is removed by the next step.
LEAST_MARGIN = 1e-10
ROOT_ROUNDING, MOST_ROOTS = 1e-12, 40
# Share of the curvature by which the multipliers of hard equalities are eliminated.
EQUALITY_SHARE = 1e-14


@dataclass(frozen=True, eq=False)
class Layout:
    """The positions of the weights and the bias of every function in θ.

    ``spans`` and ``biases`` have an entry per function, None if it has no features or
    no bias; ``penalty`` is the ρ of every entry of θ, zero for the biases.
    """

    spans: tuple[slice | None, ...]
    biases: tuple[int | None, ...]
    penalty: np.ndarray

    @classmethod
    def of(cls, problem: Problem) -> Layout:
        """Return the layout of a problem whose functions are given by features."""
        spans: list[slice | None] = []
        biases: list[int | None] = []
        penalty: list[float] = []
        for function in problem.functions:
            span = None
            if function.space is not None:
                width = function.space.matrix.shape[1]
                span = slice(len(penalty), len(penalty) + width)
                penalty += [function.weight] * width
            spans.append(span)
            biases.append(None if function.basis is None else len(penalty))
            penalty += [0.0] * (function.basis is not None)
        return cls(tuple(spans), tuple(biases), np.array(penalty))

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return len(self.penalty)

    @property
    def biased(self) -> list[int]:
        """Positions of the biases."""
        return [at for at in self.biases if at is not None]

    def weights(self, theta: np.ndarray) -> list[np.ndarray | None]:
        """Return the weights of every function."""
        return [None if span is None else theta[span].copy() for span in self.spans]

    def joined(self, weights: list, biases: np.ndarray) -> np.ndarray:
        """Return θ."""
        theta = np.zeros(self.size)
        for span, w in zip(self.spans, weights, strict=True):
            if span is not None:
                theta[span] = w
        theta[self.biased] = biases
        return theta


@dataclass(eq=False)
class Totals:
    """Named sums and named peaks of some rows; ``+`` merges those of others.

    ``sums`` are scalars, vectors or matrices in the space of the weights; ``peaks`` are
    scalars, or one per function, of which the maximum is taken.
    """

    sums: dict[str, Any] = field(default_factory=dict)
    peaks: dict[str, Any] = field(default_factory=dict)

    def __add__(self, other: Totals) -> Totals:
        sums = dict(self.sums)
        for name, value in other.sums.items():
            sums[name] = sums[name] + value if name in sums else value
        peaks = dict(self.peaks)
        for name, value in other.peaks.items():
            peaks[name] = np.maximum(peaks[name], value) if name in peaks else value
        return Totals(sums, peaks)


def merged(totals: Iterable[Totals]) -> Totals:
    """Merge several totals, in their order."""
    return reduce(Totals.__add__, totals, Totals())


class RowBlocks(Protocol):
    """Rows in blocks, on one or several machines, with their part of the iterate.

    The passes are methods of `RowState`. A pass changes the state of
    the rows and returns totals; arguments and totals are small.
    """

    def describe(self) -> Totals:
        """Return the totals of the rows for the start and the certificate."""

    def begin(self, typical: float, centered: bool) -> Totals:
        """Set multipliers inside their bounds; return their functions."""

    def total(self, one_pass: Callable[..., Totals], *arguments: Any) -> Totals:
        """Run a pass, a method of `RowState`, on every block; return the totals."""

    def sample(self, n_rows: int) -> Problem:
        """Return the problem of about this many rows, with costs scaled up."""


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
    bend: Any
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
    """One block of rows: its data, and sums over its rows in the space of the weights.

    All rows of a block have the same functions and families, so that the vectors of all
    families and functions have the same rows. A constant vector is stored as a number.
    """

    def __init__(
        self,
        problem: Problem,
        names: list[int],
        layout: Layout,
        part: slice,
        device: str,
    ):
        self.layout, self.part, self.device = layout, part, device
        self.n_rows = part.stop - part.start
        self.names = names
        self.features = {
            names[k]: linalg.on_device(space.matrix[part], device)
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
                bend = linalg.on_device(bend, device)
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
        return linalg.on_device(np.asarray(own, dtype=float), self.device)

    # --------------------------------------------------------- rows and weights
    def values(self, theta: np.ndarray) -> dict[int, Any]:
        """Return ``t_k = Φ_k w_k + b_k e_k``."""
        out = {}
        for k in self.names:
            span, at = self.layout.spans[k], self.layout.biases[k]
            if span is None:
                value = linalg.on_device(np.zeros(self.n_rows), self.device)
            else:
                value = linalg.feature_values(self.features[k], theta[span])
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
            if k not in out:
                out[k] = linalg.on_device(np.zeros(self.n_rows), self.device)
            out[k] = out[k] - cost
        return out

    def project(self, vectors: dict[int, Any]) -> np.ndarray:
        """Return ``Φ̃_kᵀ x_k`` of every function, as a vector like θ."""
        out = np.zeros(self.layout.size)
        for k, values in vectors.items():
            span, at = self.layout.spans[k], self.layout.biases[k]
            if span is not None:
                out[span] = linalg.projection(self.features[k], values)
            if at is not None:
                out[at] = linalg.numbers([self.dot(self.basis[k], values)])[0]
        return out

    def dot(self, coefficient: Any, values: Any) -> Any:
        """Return ``Σ_i a_i x_i``, where a may be a number."""
        if isinstance(coefficient, float):
            return coefficient * values.sum()
        return coefficient @ values

    def gram(self, curvature: dict[tuple[int, int], Any]) -> np.ndarray:
        """Return the lower triangle of ``Σ Φ̃_kᵀ c_kl Φ̃_l``, from c_kl for k ≥ l."""
        layout = self.layout
        matrix = np.zeros((layout.size,) * 2)
        for (k, other), weight in curvature.items():
            left, right = layout.spans[k], layout.spans[other]
            at, to = layout.biases[k], layout.biases[other]
            if left is not None and right is not None:
                matrix[left, right] = linalg.weighted_gram(
                    self.features[k], weight, self.features[other]
                )
            if at is not None:
                own = times(self.basis[k], weight)
                if right is not None:
                    matrix[at, right] = linalg.projection(self.features[other], own)
                if to is not None:
                    corner = self.dot(self.basis[other], own)
                    matrix[at, to] = linalg.numbers([corner])[0]
            if to is not None and left is not None and k != other:
                own = times(self.basis[other], weight)
                matrix[left, to] = linalg.projection(self.features[k], own)
        return matrix


def _squares(matrix: Any) -> np.ndarray:
    if isinstance(matrix, np.ndarray):
        return np.einsum("ij,ij->i", matrix, matrix)
    return np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel()


class RowState(Block):
    """A block with its part of the iterate, and the passes over it.

    ``multipliers`` are relative to the offset, ``distance`` to their lower bound. Lists
    have an entry per family, or per linear slack.
    """

    multipliers: list
    distance: list
    margin: list
    room: list
    slack: list
    _best: tuple | None = None
    _step: tuple

    def measure(self, unit: float, least: float) -> Totals:
        """Set the largest right-hand side and the least curvature."""
        self.unit, self.least = unit, least
        return Totals()

    # ---------------------------------------------------------------- start
    def begin(self, multipliers: list) -> Totals:
        """Set multipliers inside their bounds; return their functions."""
        self.multipliers = [linalg.on_device(own, self.device) for own in multipliers]
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
        sums = [abs(g).sum() for g in self._by(theta)]
        return Totals({"slope": float(linalg.numbers(sums).sum())})

    def open(self, theta: np.ndarray, floor: float) -> Totals:
        """Set slacks and margins such that, where possible, stationarity holds."""
        gradient = self._by(theta)
        self.slack = []
        for slack in self.slacks:
            most = self._most([-g for g in gradient], slack.members)
            self.slack.append(most.clip(min=0.0) + floor)
        self.margin = [
            0.0 if f.equality else self._with_slack(g, f).clip(min=floor)
            for g, f in zip(gradient, self.families, strict=True)
        ]
        return Totals()

    def _most(self, values: list, members: tuple[int, ...]) -> Any:
        """Return the elementwise maximum over some families."""
        most = values[members[0]]
        for q in members[1:]:
            most = linalg.maximum(most, values[q])
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
            if not family.equality:
                entry = z.clip(min=LEAST_MARGIN * self.unit) / far
            elif family.squared is not None:
                entry = 0.0 * far
            else:
                # A share of the curvature in place of the barrier: the residual that
                # it leaves is removed by the next step.
                entry = EQUALITY_SHARE * family.bend.clip(min=self.least)
            if family.squared is not None:
                entry = entry + 1.0 / family.squared
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
            p / d if paired is None else paired
            for p, d, paired in zip(right, self.diagonal, out, strict=True)
        ]

    def _product(self, step: list) -> list:
        """Return ``D step``."""
        out = [d * own for d, own in zip(self.diagonal, step, strict=True)]
        for one, two, weight, _ in self.coupled:
            both = weight * (step[one] + step[two])
            out[one], out[two] = out[one] + both, out[two] + both
        return out

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
            fastest += [(-ratio).max(), 1.0 + ratio.max()]
            products.append(-(self.distance[q] @ right[q]))
        self.second, self.second_of_slack = list(right), []
        for linear, w, zeta in zip(self.slacks, self.room, self.slack, strict=True):
            ratio = -sum(step[q] for q in linear.members) / w
            bend = ratio * (1.0 + ratio) * zeta
            fastest += [(-ratio).max(), 1.0 + ratio.max()]
            products.append(-(w @ bend))
            self.second_of_slack.append(bend)
            for q in linear.members:
                right[q] = right[q] - bend
                unit[q] = unit[q] - 1.0 / w
        return Totals(
            {
                "second": self.project(self.spread(self._invert(right))),
                "unit": self.project(self.spread(self._invert(unit))),
                "products": float(linalg.numbers(products).sum()),
            },
            {"fastest": float(linalg.numbers(fastest).max(initial=0.0))},
        )

    def correct(
        self,
        direction: np.ndarray,
        target: float,
        share: float,
        change: np.ndarray | None = None,
    ) -> Totals:
        """Compute the corrector step, with a share of the second-order term.

        `factorize` takes it. With ``change``, the step of this direction is refined to
        that of ``direction + change``: near the end of the path 1/D amplifies the
        rounding errors of a new one.
        """
        across = self.margins(self.values(direction))
        centers, centers_of_slack = self._centers(target, share)
        right = [
            center - g - m
            for center, g, m in zip(centers, self.gradient, across, strict=True)
        ]
        for linear, center in zip(self.slacks, centers_of_slack, strict=True):
            for q in linear.members:
                right[q] = right[q] - center
        if change is None:
            step = self._invert(right)
        else:
            held = self._step[0]
            missed = [
                p - product - m
                for p, product, m in zip(
                    right,
                    self._product(held),
                    self.margins(self.values(change)),
                    strict=True,
                )
            ]
            step = [
                own + refined
                for own, refined in zip(held, self._invert(missed), strict=True)
            ]
        margin, room, slack = self._changes(step, centers, centers_of_slack)
        bounded = [q for q, family in enumerate(self.families) if not family.equality]
        pairs = [(step[q], self.distance[q]) for q in bounded]
        pairs += [(margin[q], self.margin[q]) for q in bounded]
        pairs += [
            *zip(room, self.room, strict=True),
            *zip(slack, self.slack, strict=True),
        ]
        fastest = [(-(change / value)).max() for change, value in pairs]
        self._step = step, target, share
        return Totals(
            {"pull": self.project(self.spread(step))},
            {"fastest": float(linalg.numbers(fastest).max(initial=0.0))},
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
                dual.append(-0.5 * (own @ (own / family.squared)))
                needed = missing if family.equality else missing.clip(min=0.0)
                primal.append(0.5 * (needed @ (family.squared * needed)))
            if family.bend is not None:
                off = abs(missing) if family.equality else missing
                hard.append(abs(far).sum())
                violation.append(off.max())
                over = off.clip(min=0.0)
                over = 0.5 * over * over / family.bend.clip(min=self.least)
                gain.append(over.max())
            off = abs(self._with_slack(g, family) - z)
            stationarity.append(off.max())
            if not family.equality:
                products.append(far @ z)
        for linear, w, zeta, left in zip(
            self.slacks, self.room, self.slack, self._headroom(), strict=True
        ):
            needed = self._most(short, linear.members)
            primal.append(self.dot(linear.cost, needed.clip(min=0.0)))
            products.append(w @ zeta)
            worth = abs(needed) + self.unit
            lost.append((-left).clip(min=0.0) @ worth)
        for k, cost in self.cost.items():
            primal.append(self.dot(cost, values[k]))
        largest = [
            abs(values[k]).max() if k in values else 0.0
            for k in range(len(self.layout.spans))
        ]

        def sum_of(terms):
            return float(linalg.numbers(terms).sum())

        def peak_of(terms):
            return float(linalg.numbers(terms).max(initial=0.0))

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
                "values": linalg.numbers(largest),
            },
        )

    # --------------------------------------------------------- smoothed problem
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

    def slope_at(
        self, theta: np.ndarray, direction: np.ndarray, length: float, mu: float
    ) -> Totals:
        """Return the slope at a length along a direction, without the norms."""
        excess, moved = self._excess(theta), self.values(direction)
        across = self.margins(moved)
        ahead = [x + length * dx for x, dx in zip(excess, across, strict=True)]
        terms = [self.dot(cost, moved[k]) for k, cost in self.cost.items()]
        for far, dx in zip(self._balanced(ahead, mu)[0], across, strict=True):
            terms.append(-(far @ dx))
        return Totals({"slope": float(linalg.numbers(terms).sum())})

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
            low = self._most([-x for x in excess], linear.members).clip(min=0.0)
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
            reached = sum(parts[1:], start=parts[0])
            squares = [p * p for p in parts]
            step = reached * (reached / total - 1.0)
            step = step / sum(squares[1:], start=squares[0])
            root = root + step
            moved = abs(step) - ROOT_ROUNDING * root
            if linalg.numbers([moved.max()])[0] <= 0.0:
                break
        return root


def _combined(*terms: tuple[Any, Any]) -> Any:
    """Return ``Σ c x`` without the terms whose coefficient is zero."""
    kept = [
        times(coefficient, values)
        for coefficient, values in terms
        if not (isinstance(coefficient, float) and coefficient == 0.0)
    ]
    return sum(kept[1:], start=kept[0]) if kept else 0.0 * terms[0][1]
