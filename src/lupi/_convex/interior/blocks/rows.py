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

import itertools
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, NamedTuple, Protocol

import numpy as np

from lupi._convex import linalg
from lupi._convex.interior.start import starting_multipliers
from lupi._convex.problem import Family, Function, Problem, Slack

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

    layout: Layout

    def total(self, one_pass: Callable[..., Totals], *arguments: Any) -> Totals:
        """Run a pass, a method of `RowState`, on every block; return the totals."""

    def sample(self, n_rows: int, directions: np.ndarray | None = None) -> Problem:
        """Return the problem of about this many rows, with costs scaled up.

        See `RowState.chances` for the directions.
        """


class ProblemParts(NamedTuple):
    """The parts of a problem, without the vectors that are derived from them.

    These have the length of the multipliers and are only used at the start.
    """

    n_rows: int
    functions: Sequence[Function]
    families: Sequence[Family]

    @classmethod
    def of(cls, problem: Problem) -> ProblemParts:
        """Return the parts; a vector of equal entries is a view of one number."""
        slacks = {
            id(slack): Slack(_thin(slack.linear), _thin(slack.squared))
            for slack in (family.slack for family in problem.families)
            if slack is not None
        }
        functions = [
            replace(f, basis=_thin(f.basis), cost=_thin(f.cost))
            for f in problem.functions
        ]
        families = [
            replace(
                family,
                on={k: _thin(a) for k, a in family.on.items()},
                at_least=_thin(family.at_least),
                slack=slacks.get(id(family.slack)),
            )
            for family in problem.families
        ]
        return cls(problem.n_rows, functions, families)


def _thin(values: Any) -> Any:
    """Return a view of one number if all entries are equal."""
    if values is None or len(values) == 0 or (values != values[0]).any():
        return values
    return np.broadcast_to(values[0].copy(), values.shape)


@dataclass(eq=False)
class Pair:
    """Two factors per row, whose product vanishes at the end of the path.

    ``distance`` is that of a multiplier to its bound, ``margin`` that of a constraint,
    which an equality has not. They have a second-order term in each step.
    """

    distance: Any = None
    margin: Any = None
    second: Any = None
    equality: bool = False


@dataclass(eq=False)
class FamilyRows(Pair):
    """One constraint per row of a block; see :mod:`lupi._convex.problem`.

    ``offset`` is the offset of its multipliers, None for zero. ``squared`` is the cost
    of a squared slack, ``slack`` the number of the linear one; ``bend`` is the diagonal
    of the dual if there is no slack. The other fields are its part of the iterate:
    multipliers relative to the offset, and their change in a step.
    """

    on: dict[int, Any] = field(default_factory=dict)
    at_least: Any = None
    offset: Any = None
    squared: Any = None
    bend: Any = None
    slack: int | None = None
    multipliers: Any = None
    gradient: Any = None
    step: Any = None


@dataclass(eq=False)
class SlackRows(Pair):
    """One linear slack per row of a block, with the numbers of its families.

    ``limit`` is the bound of the multipliers, and the slack is the margin.
    """

    cost: Any = None
    limit: Any = None
    members: tuple[int, ...] = ()


class Barrier(NamedTuple):
    """D: a diagonal, and 2 × 2 blocks for two families that share a slack.

    Such a pair has the barrier of the slack, and the determinant of its block.
    """

    diagonals: list
    pairs: dict[tuple[int, ...], tuple[Any, Any]]

    def solve(self, right: list) -> list:
        """Return ``D⁻¹ right``."""
        out, diagonals = [None] * len(right), self.diagonals
        # (D + s·11ᵀ)⁻¹ of a pair in a form without cancellation.
        for (one, two), (weight, determinant) in self.pairs.items():
            apart = weight * (right[one] - right[two])
            out[one] = (diagonals[two] * right[one] + apart) / determinant
            out[two] = (diagonals[one] * right[two] - apart) / determinant
        return [
            p / diagonal if paired is None else paired
            for p, diagonal, paired in zip(right, diagonals, out, strict=True)
        ]


def times(coefficient: Any, values: Any) -> Any:
    """Return the product; the values themselves if the coefficient is one."""
    if isinstance(coefficient, float) and coefficient == 1.0:
        return values
    return coefficient * values


class RowState:
    """One block of rows: its data, its part of the iterate, and the passes over it.

    All rows of a block have the same functions and families, so that the vectors of all
    families and functions have the same rows. A constant vector is stored as a number.
    ``rows`` are the numbers of the rows, None for a global constraint, and ``places``
    the slice of the multipliers of every family, with the positions of the rows in it.
    """

    _best: list | None = None
    _aim: tuple[float, float]

    def __init__(
        self, problem: Problem, rows: Any, places: list, layout: Layout, device: str
    ):
        self.parts, self.rows, self.places = ProblemParts.of(problem), rows, places
        self.n_rows, self.layout, self.device = problem.n_rows, layout, device
        compact, functions = self._compact, problem.functions
        self.features = {
            k: linalg.on_device(space.matrix, device)
            for k, space in problem.spaces.items()
        }
        self.basis = {k: compact(basis) for k, basis in problem.bases.items()}
        self.cost, self.rest = (
            {k: compact(cost) for k, cost in enumerate(costs) if cost is not None}
            for costs in ([f.cost for f in functions], problem.rest_costs)
        )
        self.slacks = [
            SlackRows(cost=compact(cost), limit=compact(limit), members=tuple(members))
            for cost, limit, members in zip(
                problem.slack_costs, problem.limits, problem.sharing, strict=True
            )
        ]
        owner = {q: s for s, slack in enumerate(self.slacks) for q in slack.members}
        # K_ii of every function and row, for the gain of hard constraints.
        sizes = {k: s.diagonal / functions[k].weight for k, s in problem.spaces.items()}
        self.families, self.steepest = [], 0.0
        bends: dict[bytes, Any] = {}  # equal ones are stored once
        for q, (flat, family) in enumerate(
            zip(problem.slices, problem.families, strict=True)
        ):
            squared = None if family.slack is None else family.slack.squared
            bend = None
            if family.slack is None:
                own = [a**2 * sizes[k] for k, a in family.on.items() if k in sizes]
                bend = sum(own, np.zeros(self.n_rows))
                self.steepest = max(self.steepest, float(bend.max()))
                bend = bends.setdefault(bend.tobytes(), linalg.on_device(bend, device))
            offset = problem.offset[flat]
            self.families.append(
                FamilyRows(
                    equality=family.equality,
                    on={k: compact(a) for k, a in family.on.items()},
                    at_least=compact(family.at_least),
                    offset=compact(offset.copy()) if offset.any() else None,
                    squared=None if squared is None else compact(squared),
                    bend=bend,
                    slack=owner.get(q),
                )
            )
        self._set_couplings(problem)

    def _set_couplings(self, problem: Problem) -> None:
        """Set the products of the coefficients of every two functions.

        Two families that share a slack have three: their own, and that of differences.
        """
        pairs = [s.members for s in self.slacks if len(s.members) == 2]
        alone = {*range(len(self.families))}.difference(*pairs)
        zero = np.zeros(self.n_rows)
        self.coupling: dict[tuple[int, ...], dict] = {}
        for members in [*pairs, *((q,) for q in sorted(alone))]:
            on = [problem.families[q].on for q in members]
            acting = sorted({*itertools.chain(*on)})
            own = {k: [a.get(k, zero) for a in on] for k in acting}
            for values in own.values() if len(on) == 2 else ():
                values.append(values[0] - values[1])
            self.coupling[members] = {
                (k, other): [
                    self._compact(a * b)
                    for a, b in zip(own[k], own[other], strict=True)
                ]
                for k in acting
                for other in acting
                if other <= k
            }

    def _compact(self, own: np.ndarray) -> Any:
        """Return a vector, or a number if all entries are equal."""
        if own[0] == own[-1] and (own == own[0]).all():
            return float(own[0])
        return linalg.on_device(np.asarray(own, dtype=float), self.device)

    @property
    def _all_pairs(self) -> list[Pair]:
        """The factors of every family, then those of every slack."""
        return [*self.families, *self.slacks]

    def _of(self, slack: SlackRows) -> list[FamilyRows]:
        """Return the families that share a slack."""
        return [self.families[q] for q in slack.members]

    def _less(self, values: list, of_slacks: list) -> list:
        """Return values of the families, less those of their linear slacks."""
        return [
            value if f.slack is None else value - of_slacks[f.slack]
            for value, f in zip(values, self.families, strict=True)
        ]

    # --------------------------------------------------------- rows and weights
    def values(self, theta: np.ndarray) -> dict[int, Any]:
        """Return ``t_k = Φ_k w_k + b_k e_k``."""
        out = {}
        for k in sorted({*self.features, *self.basis}):
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
        spans, biases = self.layout.spans, self.layout.biases
        matrix = np.zeros((self.layout.size,) * 2)
        for (k, other), weight in curvature.items():
            left, right, at, to = spans[k], spans[other], biases[k], biases[other]
            if left is not None and right is not None:
                matrix[left, right] = linalg.weighted_gram(
                    self.features[k], weight, self.features[other]
                )
            if at is not None:
                matrix[at] += self.project({other: times(self.basis[k], weight)})
            if to is not None and left is not None and k != other:
                own = times(self.basis[other], weight)
                matrix[left, to] = linalg.projection(self.features[k], own)
        return matrix

    # ---------------------------------------------------------------- start
    def describe(self) -> Totals:
        """Return the totals of the rows for the start and the certificate."""
        problem, counted = Problem(*self.parts), self.rows is not None
        first, size = problem.functions[0], 0.0
        if counted and first.space is not None:
            size = float(first.space.diagonal.sum()) / first.weight
        costs = np.concatenate([*problem.slack_costs, np.empty(0)])
        paid = costs[costs > 0]
        basis = np.zeros(len(problem.functions))
        for k, e in problem.bases.items() if counted else ():
            basis[k] = np.abs(e).max(initial=0.0)
        soft = sum(f.slack is not None for f in self.families) * self.n_rows
        return Totals(
            {
                "rows": problem.n_rows if counted else 0,
                "multipliers": problem.size,
                "pairs": int((~problem.is_equality).sum()) + len(costs),
                "size": size,
                "cost": float(costs.sum()),
                "offset": float(problem.at_least @ problem.offset),
            },
            {
                "right": np.abs(problem.at_least).max(initial=0.0),
                "basis": basis,
                "bend": self.steepest,
                "dearest": paid.max(initial=0.0),
                "cheapest": (-paid).max(initial=-np.inf),
                # Whether some constraint has no linear slack that costs something.
                "unsuited": float(soft < problem.size or len(paid) < len(costs)),
            },
        )

    def measure(self, unit: float, least: float) -> Totals:
        """Set the largest right-hand side and the least curvature."""
        self.unit, self.least = unit, least
        return Totals()

    def begin(self, typical: float, centered: bool) -> Totals:
        """Set multipliers inside their bounds; return their functions."""
        problem = Problem(*self.parts)
        start = starting_multipliers(problem, centered=centered, typical=typical)
        for f, part in zip(self.families, problem.slices, strict=True):
            f.multipliers = f.distance = linalg.on_device(start[part], self.device)
            if f.offset is not None:
                f.distance = f.multipliers + f.offset
        for slack in self.slacks:
            slack.distance = self._headroom(slack)
        return Totals({"pull": self._pull()})

    def _headroom(self, slack: SlackRows) -> Any:
        return slack.limit - sum(f.multipliers for f in self._of(slack))

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
            slack.margin = most.clip(min=0.0) + floor
        for f in self.families:
            f.margin = 0.0 if f.equality else self._with_slack(f).clip(min=floor)
        return Totals()

    def _with_slack(self, family: FamilyRows) -> Any:
        """Return the gradient plus the linear slack."""
        if family.slack is None:
            return family.gradient
        return family.gradient + self.slacks[family.slack].margin

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
        return [margin - family.at_least for margin, family in margins]

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
        barrier = self._barrier()
        totals = self._certificate(values) + self._newton(barrier)
        right = barrier.solve([-f.gradient for f in self.families])
        totals.sums["right"] = self.project(self.spread(right))
        return totals

    def recall(self) -> Totals:
        """Restore the multipliers of the best point."""
        if self._best is not None:
            for f, best in zip(self.families, self._best, strict=True):
                f.multipliers = best
                f.distance = best if f.offset is None else best + f.offset
        return Totals()

    def _move(self, length: float) -> None:
        steps = self._with_rooms([f.step for f in self.families])
        changes = self._changes(steps, self._centers(*self._aim))
        for one, step, change in zip(self._all_pairs, steps, changes, strict=True):
            one.distance = one.distance + length * step
            one.margin = one.margin + length * change
            one.second = None
        for f in self.families:
            f.multipliers = (
                f.distance if f.offset is None else f.multipliers + length * f.step
            )
            f.step = None

    def _barrier(self) -> Barrier:
        """Return D; every pass computes it, because it takes memory between passes."""
        diagonals, pairs = [], {}
        for f in self.families:
            if not f.equality:
                diagonal = f.margin.clip(min=LEAST_MARGIN * self.unit) / f.distance
            elif f.squared is not None:
                diagonal = 0.0 * f.distance
            else:
                # A share of the curvature in place of the barrier: the residual that
                # it leaves is removed by the next step.
                diagonal = EQUALITY_SHARE * f.bend.clip(min=self.least)
            if f.squared is not None:
                diagonal = diagonal + 1.0 / f.squared
            diagonals.append(diagonal)
        for slack in self.slacks:
            weight = slack.margin / slack.distance
            first, *others = slack.members
            if not others:
                diagonals[first] = diagonals[first] + weight
                continue
            one, two = (diagonals[q] for q in slack.members)
            pairs[slack.members] = weight, one * two + weight * (one + two)
        return Barrier(diagonals, pairs)

    def _newton(self, barrier: Barrier) -> Totals:
        """Return the matrix of the weights, and ``Φ̃ᵀ v``."""
        matrix = self.gram(self._curvature(barrier))
        return Totals({"matrix": matrix, "pull": self._pull()})

    def _curvature(self, barrier: Barrier) -> dict[tuple[int, int], Any]:
        """Return ``Aᵀ D⁻¹ A`` of every two functions."""
        curvature: dict[tuple[int, int], Any] = {}
        for members, coupling in self.coupling.items():
            first, *others = (barrier.diagonals[q] for q in members)
            weight, determinant = barrier.pairs.get(members, (None, None))
            inverse = [*others, first, weight] if others else [1.0 / first]
            for at, products in coupling.items():
                term = _combined(zip(products, inverse, strict=True), first)
                term = term / determinant if others else term
                curvature[at] = curvature[at] + term if at in curvature else term
        return curvature

    def predict(self, direction: np.ndarray, at_best: bool = False) -> Totals:
        """Compute the predictor step and its products.

        ``at_best`` frees the multipliers that are stored for `recall`.
        """
        if at_best:
            self._best = None
        barrier = self._barrier()
        across = self.margins(self.values(direction))
        step = barrier.solve(
            [-(f.gradient + m) for f, m in zip(self.families, across, strict=True)]
        )
        products, fastest = [], []
        for one, change in zip(self._all_pairs, self._with_rooms(step), strict=True):
            one.second = 0.0
            if not one.equality:
                ratio = change / one.distance
                one.second = ratio * (1.0 + ratio) * one.margin
                fastest += [(-ratio).max(), 1.0 + ratio.max()]
                products.append(-(one.distance @ one.second))
        right = self._less(
            [f.second for f in self.families], [slack.second for slack in self.slacks]
        )
        sums = {
            "second": self.project(self.spread(barrier.solve(right))),
            "unit": self._unit_pull(barrier, [1.0] * len(self.slacks)),
            "products": _sum(products),
        }
        return Totals(sums, {"fastest": _peak(fastest)})

    def _with_rooms(self, step: list) -> list:
        """Return a step of the families, and the changes of ``w = d − Σλ``."""
        return [*step, *(-sum(step[q] for q in slack.members) for slack in self.slacks)]

    def _unit_pull(self, barrier: Barrier, costs: list) -> np.ndarray:
        """Return the derivative of ``Φ̃ᵀ v`` by τ, in units of a cost of each slack."""
        unit = [0.0 if f.equality else 1.0 / f.distance for f in self.families]
        unit = self._less(unit, [1.0 / slack.distance for slack in self.slacks])
        for slack, cost in zip(self.slacks, costs, strict=True):
            for q in slack.members:
                unit[q] = times(cost, unit[q])
        return self.project(self.spread(barrier.solve(unit)))

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
        barrier = self._barrier()
        across = self.margins(self.values(direction))
        centers, n = self._centers(target, share), len(self.families)
        right = [
            center - f.gradient - m
            for center, f, m in zip(centers[:n], self.families, across, strict=True)
        ]
        right = self._less(right, centers[n:])
        if change is not None:
            missed = self._missed(barrier, right)
            more = self.margins(self.values(change))
            right = [p - m for p, m in zip(missed, more, strict=True)]
        for f, own in zip(self.families, barrier.solve(right), strict=True):
            f.step = own if change is None else f.step + own
        self._aim = target, share
        steps = self._with_rooms([f.step for f in self.families])
        ratios = []
        for one, step, dz in zip(
            self._all_pairs, steps, self._changes(steps, centers), strict=True
        ):
            if not one.equality:
                ratios += [step / one.distance, dz / one.margin]
        return Totals(
            {"pull": self.project(self.spread(steps[:n]))},
            {"fastest": _peak([(-ratio).max() for ratio in ratios])},
        )

    def _missed(self, barrier: Barrier, right: list) -> list:
        """Return the residual of the last step: ``right − D step``."""
        step = [f.step for f in self.families]
        products = [d * x for d, x in zip(barrier.diagonals, step, strict=True)]
        for (one, two), (weight, _) in barrier.pairs.items():
            both = weight * (step[one] + step[two])
            products[one], products[two] = products[one] + both, products[two] + both
        return [p - product for p, product in zip(right, products, strict=True)]

    def _centers(self, target: float, share: float) -> list:
        """Return ``τ/λ`` and ``τ/w`` with a share of the second-order terms."""
        return [
            0.0 if one.equality else share * one.second + target / one.distance
            for one in self._all_pairs
        ]

    def _changes(self, steps: list, centers: list) -> list:
        """Return the changes of z and ζ along the steps of λ and w."""
        return [
            0.0 if one.equality else center - one.margin * (1.0 + step / one.distance)
            for one, step, center in zip(self._all_pairs, steps, centers, strict=True)
        ]

    # ------------------------------------------------------------ certificate
    def _certificate(self, values: dict[int, Any]) -> Totals:
        """Return sums and peaks of :class:`lupi._convex.solution.Solution`."""
        primal, dual, stationarity, short = [], [], [], []
        hard, violation, gain, lost = [], [], [], []
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
        for slack in self.slacks:
            needed = _most([short[q] for q in slack.members])
            primal.append(self.dot(slack.cost, needed.clip(min=0.0)))
            worth = abs(needed) + self.unit
            lost.append((-self._headroom(slack)).clip(min=0.0) @ worth)
        for k, cost in self.cost.items():
            primal.append(self.dot(cost, values[k]))
        products = [p.distance @ p.margin for p in self._all_pairs if not p.equality]
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
        margins, slacks = self._balanced(self._excess(self.values(theta)), mu)
        for slack, value in zip(self.slacks, slacks, strict=True):
            slack.margin, slack.distance = value, mu * slack.cost / value
            for q, f in zip(slack.members, self._of(slack), strict=True):
                f.margin, f.distance = margins[q], mu * slack.cost / margins[q]
                f.multipliers = f.distance
                if f.offset is not None:
                    f.multipliers = f.distance - f.offset
        if not matrix:
            return Totals({"pull": self._pull()})
        barrier, costs = self._barrier(), [slack.cost for slack in self.slacks]
        totals = self._newton(barrier)
        totals.sums["unit"] = self._unit_pull(barrier, costs)
        return totals

    def chances(self, directions: np.ndarray, n_sampled: int, n_all: int) -> np.ndarray:
        """Return the probability of every row in a sample.

        It grows with the part of the row in the Newton matrix H, its leverage. The
        directions are random with covariance H⁻¹: their mean product with the part of
        a row is its leverage. These sum up to the number of weights.
        """
        curvature = self._curvature(self._barrier())
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
            reached = reduce(operator.add, parts)
            squares = reduce(operator.add, (p * p for p in parts))
            step = reached * (reached / total - 1.0) / squares
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


def _combined(terms: Iterable[tuple[Any, Any]], like: Any) -> Any:
    """Return ``Σ c x``, like another vector, without the terms in which c is zero."""
    kept = [
        times(coefficient, values)
        for coefficient, values in terms
        if not (isinstance(coefficient, float) and coefficient == 0.0)
    ]
    return reduce(operator.add, kept) if kept else 0.0 * like
