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

Arrays are never changed in place: a copy of a block shares them and keeps its state.

In the smoothed problem every row is on the central path. For given functions, the
barrier problem then separates into one problem per row::

    λ ∘ z = μ d,   w ∘ ζ = μ d,    z = Σ_k a_k t_k − r + ζ,   w = d − Σλ

This is one equation for ζ. As μ is relative to the cost d, a row with weight two is the
row given twice. The objective is a smooth function of the weights and biases, whose
derivative by ``Σ a_k t_k`` is −λ. Every family needs a linear slack.

References
----------
C. Chen, O. Mangasarian, "A class of smoothing functions for nonlinear and mixed
complementarity problems", Computational Optimization and Applications 5, 1996.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
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
# Least probability of a row, relative to a sample with equal ones: a row that does not
# matter for these functions may do so for those that follow.
LEAST_CHANCE = 0.2
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

    def sample(self, n_rows: int, directions: np.ndarray | None = None) -> Problem:
        """Return the problem of about this many rows, with costs scaled up.

        See `RowState.chances` for the directions.
        """


@dataclass(eq=False)
class FamilyRows:
    """One constraint per row of a block; see :mod:`lupi._convex.problem`.

    ``offset`` is the offset of its multipliers, None for zero. ``squared`` is the cost
    of a squared slack, ``slack`` the number of the linear one; ``bend`` is the diagonal
    of the dual if there is no slack. The other fields are its part of the iterate:
    multipliers relative to the offset, their distance to the lower bound, and the
    second-order term and the change of the multipliers of a step.
    """

    on: dict[int, Any]
    at_least: Any
    offset: Any | None
    squared: Any | None
    equality: bool
    bend: Any
    slack: int | None
    multipliers: Any = None
    distance: Any = None
    margin: Any = None
    gradient: Any = None
    diagonal: Any = None
    second: Any = None
    step: Any = None


@dataclass(eq=False)
class SlackRows:
    """One linear slack per row of a block, with the numbers of its families.

    ``limit`` is the bound of the multipliers, ``room`` their distance to it, ``value``
    the slack. A pair of families has the barrier ``weight`` and the determinant of D.
    """

    cost: Any
    limit: Any
    members: tuple[int, ...]
    room: Any = None
    value: Any = None
    second: Any = None
    weight: Any = None
    determinant: Any = None


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
            SlackRows(cut(cost), cut(limit), tuple(members))
            for cost, limit, members in zip(
                problem.slack_costs, problem.limits, problem.sharing, strict=True
            )
        ]
        owner = {q: s for s, slack in enumerate(self.slacks) for q in slack.members}
        self.families, self.steepest = [], 0.0
        bends: dict[bytes, Any] = {}  # equal ones are stored once
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
                bend = bends.setdefault(bend.tobytes(), linalg.on_device(bend, device))
            offset = problem.offset[flat][part].copy()
            self.families.append(
                FamilyRows(
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
    """A block with its part of the iterate, and the passes over it."""

    _best: list | None = None
    _aim: tuple[float, float]

    def __copy__(self) -> RowState:
        new = object.__new__(RowState)
        new.__dict__.update(self.__dict__)
        new.families = [copy(family) for family in self.families]
        new.slacks = [copy(slack) for slack in self.slacks]
        return new

    def measure(self, unit: float, least: float) -> Totals:
        """Set the largest right-hand side and the least curvature."""
        self.unit, self.least = unit, least
        return Totals()

    # ---------------------------------------------------------------- start
    def begin(self, multipliers: list) -> Totals:
        """Set multipliers inside their bounds; return their functions."""
        for f, own in zip(self.families, multipliers, strict=True):
            f.multipliers = f.distance = linalg.on_device(own, self.device)
            if f.offset is not None:
                f.distance = f.multipliers + f.offset
        for slack in self.slacks:
            slack.room = self._headroom(slack)
        return Totals({"pull": self._pull()})

    def _headroom(self, slack: SlackRows) -> Any:
        return slack.limit - sum(f.multipliers for f in self._of(slack))

    def _of(self, slack: SlackRows) -> list[FamilyRows]:
        """Return the families that share a slack."""
        return [self.families[q] for q in slack.members]

    def _pull(self) -> np.ndarray:
        """Return ``Φ̃ᵀ v``."""
        return self.project(self.coefficients([f.multipliers for f in self.families]))

    def slope(self, theta: np.ndarray) -> Totals:
        """Set the gradient; return the sum of its absolute values."""
        self._set_gradient(theta)
        sums = [abs(f.gradient).sum() for f in self.families]
        return Totals({"slope": _sum(sums)})

    def open(self, floor: float) -> Totals:
        """Set slacks and margins such that, where possible, stationarity holds."""
        for slack in self.slacks:
            most = _most([-f.gradient for f in self._of(slack)])
            slack.value = most.clip(min=0.0) + floor
        for f in self.families:
            f.margin = 0.0 if f.equality else self._with_slack(f).clip(min=floor)
        return Totals()

    def _with_slack(self, family: FamilyRows) -> Any:
        """Return the gradient plus the linear slack."""
        if family.slack is None:
            return family.gradient
        return family.gradient + self.slacks[family.slack].value

    def _set_gradient(self, theta: np.ndarray) -> dict[int, Any]:
        """Set ``Σ_k a_qk t_k − r_q + λ_q/q``, the negative gradient of the dual.

        The values ``t_k`` are returned.
        """
        values = self.values(theta)
        for f, excess in zip(self.families, self._excess(values), strict=True):
            f.gradient = excess
            if f.squared is not None:
                f.gradient = excess + f.multipliers / f.squared
        return values

    def _excess(self, values: dict[int, Any]) -> list:
        """Return ``Σ_k a_qk t_k − r_q`` for every family."""
        margins = zip(self.margins(values), self.families, strict=True)
        return [minus(margin, family.at_least) for margin, family in margins]

    # ------------------------------------------------------------------ steps
    def factorize(self, theta: np.ndarray, length: float, keep: bool) -> Totals:
        """Take the last step, which ends at functions θ; prepare the next one.

        ``keep`` stores the multipliers of the previous point for `recall`.
        """
        if keep:
            self._best = [f.multipliers for f in self.families]
        if length > 0.0:
            self._move(length)
        values = self._set_gradient(theta)
        self._set_barrier()
        totals = self._certificate(values) + self._newton()
        right = self._invert([-f.gradient for f in self.families])
        totals.sums["right"] = self.project(self.spread(right))
        self._free_barrier()
        return totals

    def recall(self) -> Totals:
        """Restore the multipliers of the best point."""
        if self._best is not None:
            for f, best in zip(self.families, self._best, strict=True):
                f.multipliers = best
                f.distance = best if f.offset is None else best + f.offset
        return Totals()

    def _move(self, length: float) -> None:
        margin, room, slack = self._changes(*self._centers(*self._aim))
        for f, change in zip(self.families, margin, strict=True):
            f.distance = f.distance + length * f.step
            f.multipliers = (
                f.distance if f.offset is None else f.multipliers + length * f.step
            )
            f.margin = f.margin + length * change
            f.step = f.second = None
        for one, change, gained in zip(self.slacks, room, slack, strict=True):
            one.room = one.room + length * change
            one.value = one.value + length * gained
            one.second = None

    def _set_barrier(self) -> None:
        """Set D: a diagonal, and 2 × 2 blocks for constraints that share a slack.

        Every pass sets it anew, because it takes memory between the passes.
        """
        for f in self.families:
            if not f.equality:
                f.diagonal = f.margin.clip(min=LEAST_MARGIN * self.unit) / f.distance
            elif f.squared is not None:
                f.diagonal = 0.0 * f.distance
            else:
                # A share of the curvature in place of the barrier: the residual that
                # it leaves is removed by the next step.
                f.diagonal = EQUALITY_SHARE * f.bend.clip(min=self.least)
            if f.squared is not None:
                f.diagonal = f.diagonal + 1.0 / f.squared
        for slack in self.slacks:
            weight = slack.value / slack.room
            if len(slack.members) == 1:
                (f,) = self._of(slack)
                f.diagonal = f.diagonal + weight
                continue
            first, second = (f.diagonal for f in self._of(slack))
            slack.weight = weight
            slack.determinant = first * second + weight * (first + second)

    def _free_barrier(self) -> None:
        for f in self.families:
            f.diagonal = None
        for slack in self.slacks:
            slack.weight = slack.determinant = None

    def _invert(self, right: list) -> list:
        """Return ``D⁻¹ right``."""
        out = [None] * len(right)
        # (D + s·11ᵀ)⁻¹ of a pair in a form without cancellation.
        for slack in self._pairs:
            (one, two), (first, second) = slack.members, self._of(slack)
            apart = slack.weight * (right[one] - right[two])
            out[one] = (second.diagonal * right[one] + apart) / slack.determinant
            out[two] = (first.diagonal * right[two] - apart) / slack.determinant
        return [
            p / f.diagonal if paired is None else paired
            for p, f, paired in zip(right, self.families, out, strict=True)
        ]

    @property
    def _pairs(self) -> list[SlackRows]:
        """The slacks that two families share."""
        return [slack for slack in self.slacks if len(slack.members) == 2]

    def _newton(self) -> Totals:
        """Return the matrix of the weights, and ``Φ̃ᵀ v``."""
        matrix = self.gram(self._curvature())
        return Totals({"matrix": matrix, "pull": self._pull()})

    def _curvature(self) -> dict[tuple[int, int], Any]:
        """Return ``Aᵀ D⁻¹ A`` of every two functions."""
        curvature: dict[tuple[int, int], Any] = {}
        pairs = {slack.members: slack for slack in self._pairs}
        for members, coupling in self.coupling.items():
            first, *others = (self.families[q].diagonal for q in members)
            if not others:
                inverse = 1.0 / first
                terms = {at: times(a, inverse) for at, a in coupling.items()}
            else:
                pair, (second,) = pairs[members], others
                terms = {
                    at: _combined(
                        (of_first, second), (of_second, first), (of_both, pair.weight)
                    )
                    / pair.determinant
                    for at, (of_first, of_second, of_both) in coupling.items()
                }
            for at, term in terms.items():
                before = curvature.get(at)
                curvature[at] = term if before is None else before + term
        return curvature

    def predict(self, direction: np.ndarray, at_best: bool = False) -> Totals:
        """Compute the predictor step and its products.

        ``at_best`` frees the multipliers that are stored for `recall`.
        """
        if at_best:
            self._best = None
        self._set_barrier()
        across = self.margins(self.values(direction))
        step = self._invert(
            [-(f.gradient + m) for f, m in zip(self.families, across, strict=True)]
        )
        products, fastest = [], []
        for f, change in zip(self.families, step, strict=True):
            f.second = 0.0
            if not f.equality:
                ratio = change / f.distance
                f.second = ratio * (1.0 + ratio) * f.margin
                fastest += [(-ratio).max(), 1.0 + ratio.max()]
                products.append(-(f.distance @ f.second))
        right = [f.second for f in self.families]
        for slack in self.slacks:
            ratio = -sum(step[q] for q in slack.members) / slack.room
            slack.second = ratio * (1.0 + ratio) * slack.value
            fastest += [(-ratio).max(), 1.0 + ratio.max()]
            products.append(-(slack.room @ slack.second))
            for q in slack.members:
                right[q] = right[q] - slack.second
        sums = {
            "second": self.project(self.spread(self._invert(right))),
            "unit": self._unit_pull([1.0] * len(self.slacks)),
            "products": _sum(products),
        }
        self._free_barrier()
        return Totals(sums, {"fastest": _peak(fastest)})

    def _unit_pull(self, costs: list) -> np.ndarray:
        """Return the derivative of ``Φ̃ᵀ v`` by τ, in units of a cost of each slack."""
        unit = [0.0 if f.equality else 1.0 / f.distance for f in self.families]
        for slack, cost in zip(self.slacks, costs, strict=True):
            for q in slack.members:
                unit[q] = times(cost, unit[q] - 1.0 / slack.room)
        return self.project(self.spread(self._invert(unit)))

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
        self._set_barrier()
        across = self.margins(self.values(direction))
        centers, centers_of_slack = self._centers(target, share)
        right = [
            center - f.gradient - m
            for center, f, m in zip(centers, self.families, across, strict=True)
        ]
        for slack, center in zip(self.slacks, centers_of_slack, strict=True):
            for q in slack.members:
                right[q] = right[q] - center
        if change is not None:
            right = self._missed(right, self.margins(self.values(change)))
        for f, own in zip(self.families, self._invert(right), strict=True):
            f.step = own if change is None else f.step + own
        self._free_barrier()
        self._aim = target, share
        margin, room, slack = self._changes(centers, centers_of_slack)
        pairs = []
        for f, dz in zip(self.families, margin, strict=True):
            if not f.equality:
                pairs += [(f.step, f.distance), (dz, f.margin)]
        for one, dw, dz in zip(self.slacks, room, slack, strict=True):
            pairs += [(dw, one.room), (dz, one.value)]
        return Totals(
            {"pull": self.project(self.spread([f.step for f in self.families]))},
            {"fastest": _peak([(-(change / value)).max() for change, value in pairs])},
        )

    def _missed(self, right: list, across: list) -> list:
        """Return the residual of the last step: ``right − D step − across``."""
        products = [f.diagonal * f.step for f in self.families]
        for slack in self._pairs:
            first, second = self._of(slack)
            both = slack.weight * (first.step + second.step)
            for q in slack.members:
                products[q] = products[q] + both
        return [
            p - product - m
            for p, product, m in zip(right, products, across, strict=True)
        ]

    def _centers(self, target: float, share: float) -> tuple[list, list]:
        """Return ``τ/λ`` and ``τ/w`` with a share of the second-order terms."""
        centers = [
            0.0 if f.equality else share * f.second + target / f.distance
            for f in self.families
        ]
        return centers, [share * s.second + target / s.room for s in self.slacks]

    def _changes(self, centers: list, centers_of_slack: list) -> tuple:
        """Return the changes of z, w and ζ along the step of the multipliers."""
        margin = [
            0.0 if f.equality else center - f.margin * (1.0 + f.step / f.distance)
            for f, center in zip(self.families, centers, strict=True)
        ]
        room = [-sum(f.step for f in self._of(slack)) for slack in self.slacks]
        slack = [
            center - one.value * (1.0 + change / one.room)
            for one, center, change in zip(
                self.slacks, centers_of_slack, room, strict=True
            )
        ]
        return margin, room, slack

    # ------------------------------------------------------------ certificate
    def _certificate(self, values: dict[int, Any]) -> Totals:
        """Return sums and peaks of :class:`lupi._convex.solution.Solution`."""
        primal, dual, products, stationarity = [], [], [], []
        hard, violation, gain, lost = [], [], [], []
        short = []
        for f in self.families:
            own, missing = f.multipliers, -f.gradient
            dual.append(self.dot(f.at_least, own))
            if f.squared is not None:
                missing = own / f.squared - f.gradient
                dual.append(-0.5 * (own @ (own / f.squared)))
                needed = missing if f.equality else missing.clip(min=0.0)
                primal.append(0.5 * (needed @ (f.squared * needed)))
            short.append(missing)
            if f.bend is not None:
                off = abs(missing) if f.equality else missing
                hard.append(abs(f.distance).sum())
                violation.append(off.max())
                over = off.clip(min=0.0)
                over = 0.5 * over * over / f.bend.clip(min=self.least)
                gain.append(over.max())
            stationarity.append(abs(self._with_slack(f) - f.margin).max())
            if not f.equality:
                products.append(f.distance @ f.margin)
        for slack in self.slacks:
            needed = _most([short[q] for q in slack.members])
            primal.append(self.dot(slack.cost, needed.clip(min=0.0)))
            products.append(slack.room @ slack.value)
            worth = abs(needed) + self.unit
            lost.append((-self._headroom(slack)).clip(min=0.0) @ worth)
        for k, cost in self.cost.items():
            primal.append(self.dot(cost, values[k]))
        largest = [
            abs(values[k]).max() if k in values else 0.0
            for k in range(len(self.layout.spans))
        ]
        return Totals(
            {
                "primal": _sum(primal),
                "dual": _sum(dual),
                "products": _sum(products),
                "hard": _sum(hard),
                "lost": _sum(lost),
            },
            {
                "stationarity": _peak(stationarity),
                "violation": _peak(violation),
                "gain": _peak(gain),
                "values": linalg.numbers(largest),
            },
        )

    # --------------------------------------------------------- smoothed problem
    def center(self, theta: np.ndarray, mu: float, matrix: bool = True) -> Totals:
        """Set the rows to the path; return ``Φ̃ᵀ v`` and, if asked, the Newton matrix.

        ``unit`` is the derivative of ``Φ̃ᵀ v`` by μ.
        """
        excess = self._excess(self.values(theta))
        margins, slacks = self._balanced(excess, mu)
        for slack, value in zip(self.slacks, slacks, strict=True):
            slack.value, slack.room = value, mu * slack.cost / value
            for q, f in zip(slack.members, self._of(slack), strict=True):
                f.margin, f.distance = margins[q], mu * slack.cost / margins[q]
                f.multipliers = f.distance
                if f.offset is not None:
                    f.multipliers = f.distance - f.offset
        if not matrix:
            return Totals({"pull": self._pull()})
        self._set_barrier()
        totals = self._newton()
        totals.sums["unit"] = self._unit_pull([slack.cost for slack in self.slacks])
        self._free_barrier()
        return totals

    def chances(self, directions: np.ndarray, n_sampled: int, n_all: int) -> np.ndarray:
        """Return the probability of every row in a sample.

        It grows with the part of the row in the Newton matrix H, its leverage. The
        directions are random with covariance H⁻¹: their mean product with the part of
        a row is its leverage. These sum up to the number of weights.
        """
        self._set_barrier()
        curvature = self._curvature()
        self._free_barrier()
        leverage: Any = 0.0
        for direction in directions:
            values = self.values(direction)
            for (k, other), weight in curvature.items():
                term = weight * values[k] * values[other]
                leverage = leverage + (term if k == other else 2.0 * term)
        scale = n_sampled / (len(directions) * self.layout.size)
        chances = scale * leverage + LEAST_CHANCE * n_sampled / n_all
        return np.minimum(linalg.to_host(chances), 1.0)

    def slope_at(
        self, theta: np.ndarray, direction: np.ndarray, length: float, mu: float
    ) -> Totals:
        """Return the slope at a length along a direction, without the norms."""
        excess, moved = self._excess(self.values(theta)), self.values(direction)
        across = self.margins(moved)
        ahead = [x + length * dx for x, dx in zip(excess, across, strict=True)]
        terms = [self.dot(cost, moved[k]) for k, cost in self.cost.items()]
        margins = self._balanced(ahead, mu)[0]
        for slack in self.slacks:
            for q in slack.members:
                terms.append(-((mu * slack.cost / margins[q]) @ across[q]))
        return Totals({"slope": _sum(terms)})

    def _balanced(self, excess: list, mu: float) -> tuple[list, list]:
        """Return z and ζ of every row on the path, from ``Σ a_k t_k − r``."""
        margin: list[Any] = [None] * len(excess)
        slacks = []
        for slack in self.slacks:
            over = [excess[q] for q in slack.members]
            low = _most([-x for x in over]).clip(min=0.0)
            # Relative to the largest, to avoid cancellation.
            shifts = [low, *(g + low for g in over)]
            root = self._root(shifts, 1.0 / mu)
            slacks.append(low + root)
            for q, h in zip(slack.members, shifts[1:], strict=True):
                margin[q] = h + root
        return margin, slacks

    def _root(self, shifts: list, total: float) -> Any:
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


def _most(values: list) -> Any:
    """Return the elementwise maximum of some vectors."""
    return reduce(linalg.maximum, values)


def _sum(terms: list) -> float:
    return float(linalg.numbers(terms).sum())


def _peak(terms: list) -> float:
    return float(linalg.numbers(terms).max(initial=0.0))


def _combined(*terms: tuple[Any, Any]) -> Any:
    """Return ``Σ c x`` without the terms whose coefficient is zero."""
    kept = [
        times(coefficient, values)
        for coefficient, values in terms
        if not (isinstance(coefficient, float) and coefficient == 0.0)
    ]
    return sum(kept[1:], start=kept[0]) if kept else 0.0 * terms[0][1]
