"""`Problem`: the convex problem of a kernel model.

Every kernel model of this library has K functions and one polyhedral loss per row::

    min   Σ_k [ ρ_k/2 ‖f_k‖² + c_k·t_k ]  +  Σ_s [ d_s·ζ_s  or  ½ q_s·ζ_s² ]
    s.t.  Σ_k a_qk ∘ t_k + ζ_s(q) ≥ r_q          for every family q of row constraints
          Σ_k G_gk · t_k           ≥ h_g         for every global constraint g
          ζ ≥ 0                                  (a squared slack needs no sign)

    t_k = f_k(rows of k) + b_k·e_k

``f_k`` is in the space of a Gram matrix or of explicit features, ``e_k`` is the basis
of its unpenalized part (ones for a bias). A family may have no slack (hard
constraints), a slack of its own, or share one with another family of the same rows.

With one multiplier per constraint, λ ≥ 0 (any sign for equalities), the dual is::

    max   r·λ − Σ_k v_kᵀK_k v_k/(2ρ_k) − ½ Σ λ²/q
    s.t.  v_k = Σ_q a_qk ∘ λ_q + Σ_g G_gk λ_g − c_k,    e_k·v_k = 0,
          Σ_{q sharing s} λ_q ≤ d_s

and ``f_k = Σ_i v_ki K_k(x_i, ·)/ρ_k``; ``b_k`` is the multiplier of ``e_k·v_k = 0``.
A model describes its primal in these terms; the solvers do not depend on the model.

The solvers work with multipliers relative to an offset o: ``λ = o + μ``. If a family
acts on function k only, ``o = c_k/a_qk`` and ``μ ≥ −o``, otherwise o = 0. Then
``v_k = Σ_q a_qk ∘ μ_q`` has no cancellation: with C = 1e6, the digits of ``α + β − C``
would be lost if the correcting function vanishes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils.extmath import row_norms

from lupi._convex.linalg import (
    diagonal,
    estimated_rank,
    is_on_host,
    pivoted_factor,
    symmetric_product,
)

# Size from which a factor of low rank is used, and its columns as a share of the rows.
FACTORED_SIZE, LOW_RANK = 500, 0.1


@dataclass(frozen=True, eq=False)
class Gram:
    """A space given by the Gram matrix of its rows."""

    matrix: Any

    @property
    def diagonal(self) -> np.ndarray:
        """``K_ii`` of every row."""
        return diagonal(self.matrix)

    @cached_property
    def estimated_rank(self) -> float:
        """The estimated rank of a matrix on the host."""
        return estimated_rank(self.matrix)

    @cached_property
    def factor(self) -> np.ndarray | None:
        """Φ with ``K = ΦΦᵀ`` up to rounding if the rank is low, otherwise None."""
        size = self.matrix.shape[0]
        most = LOW_RANK * size
        if (
            not is_on_host(self.matrix)
            or size < FACTORED_SIZE
            or self.estimated_rank > most
        ):
            return None
        factor = pivoted_factor(self.matrix)
        return factor if factor.shape[1] <= most else None

    def apply(self, coefficients: np.ndarray) -> np.ndarray:
        """Return ``K v``."""
        if self.factor is not None:
            return self.factor @ (self.factor.T @ coefficients)
        return symmetric_product(self.matrix, coefficients)


@dataclass(frozen=True, eq=False)
class Features:
    """A space given by explicit features, dense or sparse: ``K = ΦΦᵀ``.

    ``device`` is the device on which sums over the rows are computed.
    """

    matrix: Any
    device: str = "cpu"

    @property
    def diagonal(self) -> np.ndarray:
        """``K_ii`` of every row."""
        return row_norms(self.matrix, squared=True)

    def apply(self, coefficients: np.ndarray) -> np.ndarray:
        """Return ``Φ Φᵀ v``."""
        return self.matrix @ (self.matrix.T @ coefficients)


@dataclass(frozen=True, eq=False)
class Function:
    """One learned function ``t = f(rows) + b·basis``, with weight ρ and linear cost c.

    With ``space=None`` there is no penalized part, with ``basis=None`` no unpenalized
    one. ``rows=None`` means that the function is defined on every row.
    """

    space: Gram | Features | None
    weight: float = 1.0
    basis: np.ndarray | None = None
    cost: np.ndarray | None = None
    rows: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Slack:
    """Slack variables ζ, one per row: cost ``linear·ζ`` (ζ ≥ 0) or ``½ squared·ζ²``."""

    linear: np.ndarray | None = None
    squared: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Family:
    """A family of constraints ``Σ_k on[k] ∘ t_k + ζ ≥ at_least``, one per row.

    ``equality=True`` replaces ≥ by =; the multiplier may then have any sign.
    """

    on: Mapping[int, np.ndarray]
    at_least: np.ndarray
    rows: np.ndarray | None = None
    slack: Slack | None = None
    equality: bool = False


@dataclass(frozen=True, eq=False)
class GlobalRow:
    """One constraint over all rows: ``Σ_k on[k]·t_k ≥ at_least`` (or =)."""

    on: Mapping[int, np.ndarray]
    at_least: float
    equality: bool = False


@dataclass(eq=False)
class Problem:
    """Functions, families of row constraints and global constraints.

    See the module docstring. The multipliers are one flat vector, relative to
    ``offset``: the families in order, then the global constraints. They are at least
    ``lower``, and the sum of those that share a linear slack is at most its ``limits``.
    """

    n_rows: int
    functions: Sequence[Function]
    families: Sequence[Family]
    global_rows: Sequence[GlobalRow] = ()

    def __post_init__(self) -> None:
        lengths = [len(family.at_least) for family in self.families]
        ends = np.cumsum([0, *lengths, len(self.global_rows)]).tolist()
        *self.slices, self._globals = (slice(*both) for both in pairwise(ends))
        self.size: int = self._globals.stop
        self._positions = {
            (q, k): self._local(family.rows, self.functions[k].rows)
            for q, family in enumerate(self.families)
            for k in family.on
        }
        # A linear slack bounds the sum of the multipliers that share it.
        given = [family.slack for family in self.families if family.slack is not None]
        linear = {id(slack): slack for slack in given if slack.linear is not None}
        self.slacks = list(linear.values())
        self.sharing = [
            [q for q, family in enumerate(self.families) if family.slack is slack]
            for slack in self.slacks
        ]
        self.slack_costs = [s.linear for s in self.slacks if s.linear is not None]
        self.at_least = np.concatenate(
            [np.asarray(family.at_least, dtype=float) for family in self.families]
            + [np.array([row.at_least for row in self.global_rows], dtype=float)]
        )
        # The dual curvature of the squared slacks, 1/q.
        self.curvature = np.zeros(self.size)
        self.is_equality = np.zeros(self.size, dtype=bool)
        self.is_hard = np.ones(self.size, dtype=bool)
        for part, family in zip(self.slices, self.families, strict=True):
            if family.slack is not None and family.slack.squared is not None:
                self.curvature[part] = 1.0 / family.slack.squared
            self.is_equality[part] = family.equality
            self.is_hard[part] = family.slack is None
        self.is_equality[self._globals] = [row.equality for row in self.global_rows]
        # Spaces and bases by the number of the function.
        functions = dict(enumerate(self.functions))
        self.spaces = {k: f.space for k, f in functions.items() if f.space is not None}
        self.bases = {k: f.basis for k, f in functions.items() if f.basis is not None}
        self.biased = list(self.bases)
        self._set_offset()

    def _set_offset(self) -> None:
        """Set the offset of the multipliers, and their bounds relative to it."""
        self.offset = np.zeros(self.size)
        # The costs that are not in an offset.
        self.rest_costs = [f.cost for f in self.functions]
        for k, private in self.structure.private.items():
            cost = self.functions[k].cost
            if cost is None:
                continue
            for q in private:
                family, part = self.families[q], self.slices[q]
                at = self.positions(q, k)
                if family.equality or self.curvature[part].any():
                    continue
                offset = cost[at] / family.on[k]
                positive = offset > 0
                self.offset[part] = np.where(positive, offset, 0.0)
                rest = cost.copy()
                rest[at] = np.where(positive, 0.0, rest[at])
                self.rest_costs[k] = rest if rest.any() else None
                break
        self.lower = np.where(self.is_equality, -np.inf, -self.offset)
        both = zip(self.slack_costs, self.by_slack(self.offset), strict=True)
        self.limits = [cost - total for cost, total in both]

    @staticmethod
    def _local(rows: np.ndarray | None, among: np.ndarray | None):
        """Return the positions of the rows of a family in the vectors of a function."""
        if among is None:
            return slice(None) if rows is None else rows
        if rows is among or (
            rows is not None and len(rows) == len(among) and np.array_equal(rows, among)
        ):
            return slice(None)
        return np.searchsorted(among, among if rows is None else rows)

    def positions(self, q: int, k: int):
        """Return the positions of the rows of family q in the vectors of function k."""
        return self._positions[q, k]

    def _terms(self) -> Iterator[tuple[slice, int, np.ndarray, Any]]:
        """Yield, for every family and function it acts on, the slice of the family.

        The function, the coefficients and the positions of the rows follow.
        """
        for (q, k), at in self._positions.items():
            yield self.slices[q], k, self.families[q].on[k], at

    def length(self, k: int) -> int:
        """Return the number of rows on which function k is defined."""
        rows = self.functions[k].rows
        return self.n_rows if rows is None else len(rows)

    # ------------------------------------------------------------- dual side
    def spread(self, multipliers: np.ndarray) -> list[np.ndarray]:
        """Return ``v_k + c_k = Σ_q a_qk ∘ λ_q + Σ_g G_gk λ_g`` for every function.

        The multipliers may be several vectors, the rows of a matrix.
        """
        several = multipliers.shape[:-1]
        spread = [
            np.zeros((*several, self.length(k))) for k in range(len(self.functions))
        ]
        for part, k, coefficient, at in self._terms():
            spread[k][..., at] += coefficient * multipliers[..., part]
        for g, row in enumerate(self.global_rows, self._globals.start):
            for k, coefficient in row.on.items():
                spread[k] += coefficient * multipliers[..., g, None]
        return spread

    def coefficients(self, multipliers: np.ndarray) -> list[np.ndarray]:
        """Return the expansion coefficients ``v_k`` of every function."""
        spread = self.spread(multipliers)
        return [
            v if c is None else v - c
            for v, c in zip(spread, self.rest_costs, strict=True)
        ]

    def by_slack(self, multipliers: np.ndarray) -> list[np.ndarray]:
        """Return ``Σ λ_q`` over the families of every linear slack."""
        return [
            np.sum([multipliers[self.slices[q]] for q in sharing], axis=0)
            for sharing in self.sharing
        ]

    def headroom(self, multipliers: np.ndarray) -> list[np.ndarray]:
        """Return ``d_s − Σ λ_q ≥ 0`` for every linear slack."""
        both = zip(self.limits, self.by_slack(multipliers), strict=True)
        return [limit - total for limit, total in both]

    def with_slacks(
        self, vector: np.ndarray, slacks: Sequence[np.ndarray]
    ) -> np.ndarray:
        """Return a vector of the multipliers plus the linear slacks that they share."""
        out = vector.copy()
        for slack, sharing in zip(slacks, self.sharing, strict=True):
            for q in sharing:
                out[self.slices[q]] += slack
        return out

    def is_crowded(self, multipliers: np.ndarray, share: float) -> np.ndarray:
        """Return which multipliers leave at most a share of the cost of their slack."""
        rooms = zip(self.headroom(multipliers), self.slack_costs, strict=True)
        full = [room <= share * cost for room, cost in rooms]
        return self.with_slacks(np.zeros(self.size), full) > 0.0

    def balance(self, coefficients: Sequence[np.ndarray]) -> np.ndarray:
        """Return ``e_k·v_k`` for every function with a basis; 0 if dual feasible."""
        out = np.empty((*coefficients[0].shape[:-1], len(self.biased)))
        for j, k in enumerate(self.biased):
            out[..., j] = coefficients[k] @ self.bases[k]
        return out

    @cached_property
    def structure(self) -> Structure:
        """The families by the functions that they act on."""
        return Structure.of(self)

    @cached_property
    def hessian_diagonal(self) -> np.ndarray:
        """``H_ii``, the curvature of the dual along each multiplier."""
        entries, weights = self.curvature.copy(), [f.weight for f in self.functions]
        diagonals = {k: s.diagonal / weights[k] for k, s in self.spaces.items()}
        for part, k, coefficient, at in self._terms():
            if k in diagonals:
                entries[part] += coefficient**2 * diagonals[k][at]
        for g, row in enumerate(self.global_rows, self._globals.start):
            for k, coefficient in row.on.items():
                if k in self.spaces:
                    image = self.spaces[k].apply(coefficient)
                    entries[g] += coefficient @ image / weights[k]
        return entries

    def balance_columns(self) -> np.ndarray:
        """Return the matrix of the balance equations, one row per biased function."""
        nothing = [np.zeros(self.length(k)) for k in range(len(self.functions))]
        units = np.eye(len(self.biased))
        columns = [self.margins(self.values(nothing, unit)) for unit in units]
        return np.array(columns).reshape(len(units), self.size)

    @cached_property
    def bias_costs(self) -> np.ndarray:
        """``c_k·e_k``, the cost of a unit of bias, for every function with a basis."""
        both = [(self.functions[k].cost, basis) for k, basis in self.bases.items()]
        return np.array([0.0 if c is None else c @ e for c, e in both])

    @cached_property
    def balance_targets(self) -> np.ndarray:
        """Right-hand sides of the balance equations."""
        both = [(self.rest_costs[k], basis) for k, basis in self.bases.items()]
        return np.array([0.0 if c is None else c @ e for c, e in both])

    @cached_property
    def relative_cost(self) -> float:
        """The median cost of a row times the largest mean of ``K_k/ρ_k``."""
        costs = [np.abs(f.cost) for f in self.functions if f.cost is not None]
        costs += self.slack_costs
        costs += [1.0 / c[c > 0] for c in (self.curvature,) if c.any()]
        kernels = [
            space.diagonal.mean() / self.functions[k].weight
            for k, space in self.spaces.items()
        ]
        return (
            float(np.median(np.concatenate(costs)) * max(kernels)) if costs else np.inf
        )

    # ----------------------------------------------------------- primal side
    def penalized(self, coefficients: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return ``f_k(rows) = K_k v_k/ρ_k``, without the unpenalized part."""
        return [
            np.zeros_like(v) if f.space is None else f.space.apply(v) / f.weight
            for v, f in zip(coefficients, self.functions, strict=True)
        ]

    def values(
        self, penalized: Sequence[np.ndarray], biases: np.ndarray
    ) -> list[np.ndarray]:
        """Return ``t_k = f_k(rows) + b_k·e_k``."""
        values = list(penalized)
        for k, bias in zip(self.biased, biases, strict=True):
            values[k] = values[k] + bias * self.bases[k]
        return values

    def margins(self, values: Sequence[np.ndarray]) -> np.ndarray:
        """Return the left-hand sides of all constraints, ``Σ_k a_qk ∘ t_k``.

        The values may be several vectors, the rows of matrices.
        """
        margins = np.zeros((*values[0].shape[:-1], self.size))
        for part, k, coefficient, at in self._terms():
            margins[..., part] += coefficient * values[k][..., at]
        for g, row in enumerate(self.global_rows):
            for k, coefficient in row.on.items():
                margins[..., self._globals.start + g] += values[k] @ coefficient
        return margins


@dataclass(frozen=True)
class Structure:
    """Classification of the families of constraints by the functions that they act on.

    All models of this library have the structure of a star: the first function is the
    center, and every other function, a *leaf*, shares constraints with the center only.
    A family of constraints is then one of

    - a *root* family, on the first function only;
    - a *private* family, on one leaf only;
    - a *shared* family, on one leaf and the first function.

    Two families that share a linear slack form a *pair* if one is shared, the other
    private to the same leaf, and both act on that leaf with the same coefficients. A
    function without a space (only a bias) is not a leaf and is ignored here.

    All other families are *irregular*, and linear slacks that several families share
    without being a pair are *crowded*. ``pairs`` has the shared and the private family,
    by the number of their slack.
    """

    root: list[int]
    leaves: list[int]
    private: dict[int, list[int]]
    shared: dict[int, list[int]]
    irregular: list[int]
    pairs: dict[int, tuple[int, int]]
    crowded: list[int]

    @classmethod
    def of(cls, problem: Problem) -> Structure:
        """Classify the families of a problem."""
        leaves = [k for k in problem.spaces if k > 0]
        root, irregular = [], []
        private: dict[int, list[int]] = {k: [] for k in leaves}
        shared: dict[int, list[int]] = {k: [] for k in leaves}
        for q, family in enumerate(problem.families):
            match sorted(k for k in family.on if k in problem.spaces):
                case [0]:
                    root.append(q)
                case [k]:
                    private[k].append(q)
                case [0, k]:
                    shared[k].append(q)
                case _:
                    irregular.append(q)
        pairs, crowded = {}, []
        for s, sharing in enumerate(problem.sharing):
            pair = _pair(problem, sharing)
            if pair is not None:
                pairs[s] = pair
            elif len(sharing) > 1:
                crowded.append(s)
        return cls(root, leaves, private, shared, irregular, pairs, crowded)


def _pair(problem: Problem, sharing: Sequence[int]) -> tuple[int, int] | None:
    if len(sharing) != 2:
        return None
    outer, inner = sorted(sharing, key=lambda q: 0 not in problem.families[q].on)
    first, second = problem.families[outer].on, problem.families[inner].on
    if 0 not in first or set(first) - {0} != set(second) or len(second) != 1:
        return None
    (k,) = second
    same = k in problem.spaces and np.array_equal(first[k], second[k])
    return (outer, inner) if same else None
