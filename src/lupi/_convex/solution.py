"""`Solution`: the result of a solver, with a certificate that is independent of it.

All values are computed from the problem, the multipliers λ and the biases b:

- primal value  ``Σ ρ_k/2 ‖f_k‖² + c_k·t_k + slack costs`` with the optimal slacks,
- dual value    ``r·λ − Σ v_kᵀK_k v_k/(2ρ_k) − ½ Σ λ²/q``,
- primal residual: the largest violation of a constraint without slack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from lupi._convex.problem import Problem

# Smallest curvature, relative to the largest, in the estimate of the gap.
FLATTEST = 1e-12
# Functions whose values, relative to the largest right-hand side, are at most this may
# vanish at the optimum: they are set to zero if the gap becomes smaller.
IDLE_VALUES = 1e-2
# Shares of the largest coefficient above which rows are used in an expansion: of the
# weights of the primal, and of the multipliers.
SUPPORTING, NEGLIGIBLE = (1e-5, 1e-8), (1e-8, 1e-11, 1e-14)
EVERY_ROW = -1.0
# Relative error of an expansion of weights.
EXPANSION_ERROR = 1e-12
ROUNDING = np.finfo(float).eps


class Certified:
    """A point with the value of its primal and its duality gap."""

    primal_value: Any
    duality_gap: Any

    @property
    def relative_gap(self) -> float:
        """The duality gap relative to the objective; infinite if that is zero."""
        if self.duality_gap == 0.0:
            return 0.0
        size = abs(self.primal_value)
        return self.duality_gap / size if size > 0 else np.inf

    def is_optimal(self, eps: float) -> bool:
        """Return whether the relative duality gap is at most eps."""
        return bool(self.relative_gap <= eps)


@dataclass(eq=False)
class Solution(Certified):
    """Multipliers, biases and the certificate of a solved :class:`Problem`.

    ``multipliers`` are relative to the offset of the problem. ``coefficients`` are the
    expansions v_k: ``f_k = Σ_i v_ki K_k(x_i, ·)/ρ_k``; they equal those of the
    multipliers up to rounding. ``weights`` are the primal functions of a solver in
    feature space; None if the functions are given by the expansions.
    """

    problem: Problem
    multipliers: np.ndarray
    coefficients: list[np.ndarray]
    biases: np.ndarray
    n_iter: int
    converged: bool
    solver: str
    weights: list[np.ndarray | None] | None = None

    @cached_property
    def penalized(self) -> list[np.ndarray]:
        """``f_k`` on the training rows, without bias."""
        if self.weights is None:
            return self.problem.penalized(self.coefficients)
        problem = self.problem
        return [
            np.zeros(problem.length(k)) if w is None else problem.spaces[k].matrix @ w
            for k, w in enumerate(self.weights)
        ]

    def expansion(self, k: int, allowed: float) -> np.ndarray:
        """Return coefficients of function k, with which new rows are predicted.

        They are as few as reproduce the function on the training rows so well that the
        objective changes by at most `allowed`: those v_k of the dual that are not
        small. A function that vanishes up to rounding errors has none. If the primal
        has weights, the v_k are corrected where they do not reproduce them; if they are
        so large that their rounding errors are not negligible, the smallest
        coefficients that do take their place.
        """
        v, values = self.coefficients[k], self.penalized[k]
        space, rho = self.problem.spaces[k], self.problem.functions[k].weight
        price = self._price(k)
        allowed = allowed / price if price > 0 else np.inf
        best, least = v, np.inf
        for candidate in self._expansions(k):
            if self.weights is None and np.array_equal(candidate, v):
                return v
            error = np.abs(space.apply(candidate) / rho - values).max()
            if error <= allowed:
                return candidate
            if error < least:
                best, least = candidate, error
        return best

    def support(self, k: int, allowed: float) -> np.ndarray:
        """Return the v_k of the dual, without small ones as in `expansion`."""
        return replace(self, weights=None).expansion(k, allowed)

    def _price(self, k: int) -> float:
        """Return how much objective and gap can change with a unit of function k.

        This is a bound for slacks; the gap counts the largest violation of a constraint
        without one at the multipliers of all of them.
        """
        problem, function = self.problem, self.problem.functions[k]
        multipliers = np.abs(self.multipliers + problem.offset)
        total = np.abs(self.coefficients[k]).sum()
        if function.cost is not None:
            total += np.abs(function.cost).sum()
        violated = [np.abs(row.on.get(k, 0.0)).sum() for row in problem.global_rows]
        for part, family in zip(problem.slices, problem.families, strict=True):
            if k not in family.on:
                continue
            if family.slack is None:
                violated.append(np.abs(family.on[k]).max(initial=0.0))
            else:
                linear = family.slack.linear
                price = multipliers[part] if linear is None else linear
                total += np.abs(family.on[k]) @ price
        total += max(violated, default=0.0) * multipliers[problem.is_hard].sum()
        return float(total)

    def _expansions(self, k: int) -> Iterator[np.ndarray]:
        """Yield coefficients of function k, the first with the fewest rows."""
        v, size = self.coefficients[k], np.abs(self.coefficients[k])
        # |K_ij| ≤ r_i r_j, and every v_j has the rounding errors of the multipliers.
        root = np.sqrt(self.problem.spaces[k].diagonal)
        largest = np.abs(self.multipliers + self.problem.offset).max()
        sums = root.max() * root.sum() * max(largest, size.max())
        rounding = len(v) * ROUNDING * sums / self.problem.functions[k].weight
        if np.abs(self.penalized[k]).max() <= rounding:
            yield np.zeros_like(v)
        weighted = self.weights is not None and self.weights[k] is not None
        for share in (*(SUPPORTING if weighted else NEGLIGIBLE), EVERY_ROW):
            used = size > share * size.max()
            kept = np.where(used, v, 0.0)
            yield kept
            if weighted:
                yield self._corrected(k, kept, used)
        if weighted:
            yield self._corrected(k, np.zeros_like(v), used)

    def _corrected(self, k: int, given: np.ndarray, used: np.ndarray) -> np.ndarray:
        """Return coefficients of the used rows that reproduce the weights.

        They are ``a + δ`` for given a, where δ reproduces ``ρ w − Φᵀa`` along the
        singular vectors of Φ with the largest singular values s, as few as suffice.
        Along the other ones δ could exceed the v_k, which the costs bound, by any
        factor, and would cancel in every sum: it is never larger than they are. The
        function on the rows then lacks s times the part that is not reproduced.
        """
        weights: Any = self.weights
        features = self.problem.spaces[k].matrix
        wanted = self.problem.functions[k].weight * weights[k]
        missing = wanted - features.T @ given
        largest = np.linalg.norm(self.coefficients[k])
        left, singular, right = np.linalg.svd(features[used].T, full_matrices=False)
        parts = left.T @ missing
        steps = parts / np.maximum(singular, np.finfo(float).tiny)
        rest = np.sqrt(np.cumsum(parts[::-1] ** 2))[::-1]
        needed = rest > EXPANSION_ERROR * np.linalg.norm(wanted)
        n_parts = int((needed & (np.sqrt(np.cumsum(steps**2)) <= largest)).sum())
        corrected = given.copy()
        corrected[used] += steps[:n_parts] @ right[:n_parts]
        return corrected

    def with_function(
        self, k: int, expansion: np.ndarray, bias: float | None = None
    ) -> Solution:
        """Return the solution whose primal has ``f_k = Σ_i a_i K_k(x_i, ·)/ρ_k``.

        The multipliers, and with them the dual value, are those of this solution: the
        gap is that of a primal with the given function. A bias of a function without
        an unpenalized part is penalized as the weight of a constant feature.
        """
        weight, space = self.problem.functions[k].weight, self.problem.spaces[k]
        values, biases = self.penalized[k], self.biases
        if not expansion.any():
            values = np.zeros_like(values)
        elif expansion is not self.coefficients[k] or self.weights is not None:
            values = space.apply(expansion) / weight
        norm = expansion @ values
        if bias is not None and k in self.problem.biased:
            biases = biases.copy()
            biases[self.problem.biased.index(k)] = bias
        elif bias is not None:
            values, norm = values + bias, norm + weight * bias**2
        other = replace(self, biases=biases)
        other.penalized = [*self.penalized[:k], values, *self.penalized[k + 1 :]]
        other._norms = self._norms.copy()
        other._norms[0, k] = norm
        return other

    @cached_property
    def values(self) -> list[np.ndarray]:
        """``t_k = f_k + b_k e_k`` on the training rows."""
        return self.problem.values(self.penalized, self.biases)

    def bias(self, k: int) -> float:
        """Return the coefficient of the unpenalized part of function k, or 0."""
        biased = self.problem.biased
        return float(self.biases[biased.index(k)]) if k in biased else 0.0

    @cached_property
    def shortfall(self) -> np.ndarray:
        """``r − Σ a∘t``, the slack or violation of a constraint if positive."""
        return self.problem.at_least - self.problem.margins(self.values)

    @cached_property
    def _norms(self) -> np.ndarray:
        """``ρ_k ‖f_k‖²`` of the primal functions and of the dual expansions."""
        norms = np.zeros((2, len(self.coefficients)))
        weights = self.weights or [None] * len(self.coefficients)
        for k, space in self.problem.spaces.items():
            v, w = self.coefficients[k], weights[k]
            rho = self.problem.functions[k].weight
            if w is None:
                norms[:, k] = v @ self.penalized[k]
            else:
                norms[:, k] = rho * (w @ w), ((space.matrix.T @ v) ** 2).sum() / rho
        return norms

    @cached_property
    def primal_value(self) -> float:
        """The objective with the optimal slacks for the functions."""
        problem, short = self.problem, self.shortfall
        value = 0.5 * self._norms[0].sum()
        for function, t in zip(problem.functions, self.values, strict=True):
            if function.cost is not None:
                value += function.cost @ t
        for cost, sharing in zip(problem.slack_costs, problem.sharing, strict=True):
            needed = np.maximum.reduce([short[problem.slices[q]] for q in sharing])
            value += cost @ np.maximum(needed, 0.0)
        for part, family in zip(problem.slices, problem.families, strict=True):
            if family.slack is not None and family.slack.squared is not None:
                needed = short[part]
                needed = needed if family.equality else np.maximum(needed, 0.0)
                value += 0.5 * family.slack.squared @ needed**2
        return float(value)

    @cached_property
    def dual_value(self) -> float:
        """``r·λ − Σ v_kᵀK_k v_k/(2ρ_k) − ½ Σ λ²/q``."""
        problem, multipliers = self.problem, self.multipliers
        return float(
            problem.at_least @ multipliers
            + problem.at_least @ problem.offset
            - 0.5 * self._norms[1].sum()
            - 0.5 * problem.curvature @ multipliers**2
        )

    @cached_property
    def primal_residual(self) -> float:
        """Largest violation of a hard constraint."""
        problem, short = self.problem, self.shortfall
        violation = np.where(problem.is_equality, np.abs(short), short)
        return float(violation[problem.is_hard].max(initial=0.0))

    @cached_property
    def duality_gap(self) -> float:
        """Primal minus dual value, plus estimates of the effect of the residuals.

        The estimates are added so that an infeasible iterate does not have too small a
        gap. With a violation or residual of ε, they are

        - for a hard constraint, ``ε Σλ``, and the gain ``ε²/2H`` from its multiplier,
          which matters if every λ is still zero;
        - for a balance equation, ε times the largest value of the function or
          right-hand side, in place of the optimal bias;
        - for the bound of a multiplier, ε times its margin;
        - for an expansion that differs from that of the multipliers, the difference
          times the values of the function.
        """
        problem = self.problem
        gap = abs(self.primal_value - self.dual_value)
        hard = problem.is_hard
        gap += (
            self.primal_residual * np.abs(self.multipliers + problem.offset)[hard].sum()
        )
        if self.primal_residual > 0:
            violation = np.maximum(self.shortfall, 0.0)
            # Only the biases change the value of a row whose kernel is zero.
            least = max(FLATTEST * problem.hessian_diagonal.max(), np.finfo(float).tiny)
            curvature = np.maximum(problem.hessian_diagonal[hard], least)
            with np.errstate(over="ignore"):  # for iterates far from the optimum
                gain = 0.5 * violation[hard] ** 2 / curvature
            gap += gain.max(initial=0.0)
        unit = np.abs(problem.at_least).max(initial=0.0)
        for k, missed in zip(
            problem.biased, problem.balance(self.coefficients), strict=True
        ):
            largest = max(unit, np.abs(self.values[k]).max(initial=0.0))
            gap += abs(missed) * largest / np.abs(problem.bases[k]).max()
        worth = np.abs(self.shortfall) + unit
        below = np.maximum(problem.lower - self.multipliers, 0.0)
        gap += below @ worth
        for room, sharing in zip(
            problem.headroom(self.multipliers), problem.sharing, strict=True
        ):
            gap += np.maximum(-room, 0.0) @ worth[problem.slices[sharing[0]]]
        for v, w, t in zip(
            self.coefficients,
            problem.coefficients(self.multipliers),
            self.penalized,
            strict=True,
        ):
            gap += np.abs(v - w) @ np.abs(t)
        return float(gap)

    def without_idle_functions(self) -> Solution:
        """Return the solution with functions that are rounding errors set to zero.

        If a correcting function vanishes at the optimum, its rounding errors cost C for
        every row. Other private multipliers make it exactly zero; the better of the two
        solutions is returned.
        """
        problem = self.problem
        unit = np.abs(problem.at_least).max(initial=0.0)
        multipliers, biases = self.multipliers.copy(), self.biases.copy()
        coefficients, penalized = list(self.coefficients), list(self.penalized)
        idle = []
        for k, private in problem.structure.private.items():
            small = np.abs(self.values[k]).max(initial=0.0) <= IDLE_VALUES * unit
            if small and len(private) == 1 and self.weights is None:
                (q,) = private
                part, at = problem.slices[q], problem.positions(q, k)
                v = problem.coefficients(multipliers)[k]
                multipliers[part] -= v[at] / problem.families[q].on[k]
                coefficients[k] = penalized[k] = np.zeros_like(v)
                if k in problem.biased:
                    biases[problem.biased.index(k)] = 0.0
                idle.append(k)
        if not idle:
            return self
        # Without the other functions, the first one violates its constraints by a small
        # amount, which a factor close to one removes.
        values = problem.values(penalized, biases)
        short = problem.at_least - problem.margins(values)
        missed = float(
            short[(short > 0) & (short <= IDLE_VALUES * unit)].max(initial=0.0)
        )
        factor = 1.0 + missed / unit
        coefficients[0], penalized[0] = factor * coefficients[0], factor * penalized[0]
        if 0 in problem.biased:
            biases[problem.biased.index(0)] *= factor
        solution = replace(
            self, multipliers=multipliers, coefficients=coefficients, biases=biases
        )
        solution.penalized = penalized
        return solution if solution.duality_gap < self.duality_gap else self


# Relative size of multipliers and slacks that are strictly positive.
STRICTLY_POSITIVE = 1e-4
# Relative change of the objective that is negligible.
NEGLIGIBLE_CHANGE = 1e-9
# Largest distance of a bias from its start, largest number of tangents, and the
# precision of linear programs, a share of a negligible change.
LARGEST_REACH, MOST_TANGENTS, PRECISION = 1e8, 400, 0.1


def settle_biases(solution: Solution) -> Solution:
    """Return the solution with the first bias in the middle of its optimal interval.

    With the functions f_k fixed, the biases solve a small linear program::

        min  Σ_k (c_k·e_k) b_k + Σ d ζ   s.t.  Σ_k a_qk e_k b_k + ζ ≥ r_q − Σ_k a_qk f_k

    If the rows of the constraints that hold with equality and a positive multiplier
    have full rank, they determine the biases. Otherwise the program is solved for the
    two ends of the optimal interval of the first bias. The multipliers do not change:
    every bias in the interval is optimal with them.
    """
    problem, multipliers = solution.problem, solution.multipliers
    largest = np.abs(multipliers + problem.offset).max(initial=0.0)
    # A squared slack is strictly convex in the bias.
    if (
        not problem.biased
        or determined(*strict_products(problem, multipliers, largest))
        or problem.curvature.any()
    ):
        return solution
    columns = problem.balance_columns()
    short = problem.at_least - problem.margins(solution.penalized)
    short -= solution.biases @ columns
    biases = middle_of(
        solution.biases,
        np.abs(columns).max(axis=1, initial=0.0),
        lambda shift: Tangent.of(problem, columns, short, shift),
    )
    if biases is None:
        return solution
    settled = replace(solution, biases=biases)
    better = settled.duality_gap <= 2 * max(
        solution.duality_gap, NEGLIGIBLE_CHANGE * abs(solution.primal_value)
    )
    return settled if better else solution


def strict_products(
    problem: Problem, multipliers: np.ndarray, largest: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest bias coefficients of strictly active constraints, and sums.

    The sums are those of the products of two coefficients each. The problem may have
    some of the rows; ``largest`` is the largest multiplier of all.
    """
    active = np.abs(multipliers + problem.offset) > STRICTLY_POSITIVE * largest
    active &= ~problem.is_crowded(multipliers, STRICTLY_POSITIVE)
    columns = problem.balance_columns()[:, active]
    return np.abs(columns).max(axis=1, initial=0.0), columns @ columns.T


def determined(scale: np.ndarray, products: np.ndarray) -> bool:
    """Return whether constraints with these products determine every bias."""
    if not (scale > 0).all():
        return False
    scaled = products / np.outer(scale, scale)
    return bool(np.linalg.matrix_rank(scaled) == len(scale))


@dataclass(frozen=True, eq=False)
class Tangent:
    """A tangent of the cost of some rows as a function of a shift of the biases.

    ``value`` is the cost at this shift, ``constant`` and ``slope`` are those of the
    tangent, and ``left @ shift >= right`` is the hard constraint that is violated most,
    by ``violation``; ``dearest`` is the largest price of a slack.
    """

    value: float
    constant: float
    slope: np.ndarray
    left: np.ndarray
    right: float
    violation: float
    dearest: float

    @classmethod
    def of(
        cls, problem: Problem, columns: np.ndarray, short: np.ndarray, shift: np.ndarray
    ) -> Tangent:
        """Return the tangent of a problem; ``short`` is what margins lack at first."""
        missing, paid = short - shift @ columns, np.zeros(problem.size)
        for price, sharing in zip(problem.slack_costs, problem.sharing, strict=True):
            rows = [np.arange(problem.size)[problem.slices[q]] for q in sharing]
            first = np.argmax([missing[own] for own in rows], axis=0)
            largest = np.choose(first, rows)
            paid[largest] = np.where(missing[largest] > 0.0, price, 0.0)
        sign = np.where(problem.is_equality, np.sign(missing), 1.0)
        violations = np.where(problem.is_hard, sign * missing, -np.inf)
        worst = int(violations.argmax())
        return cls(
            float(problem.bias_costs @ shift + paid @ missing),
            float(paid @ short),
            problem.bias_costs - columns @ paid,
            sign[worst] * columns[:, worst],
            float(sign[worst] * short[worst]),
            float(violations[worst]),
            # Some of the rows may have none of the slacks.
            max(
                (float(np.max(c, initial=0.0)) for c in problem.slack_costs),
                default=0.0,
            ),
        )

    @classmethod
    def merged(cls, parts: Sequence[Tangent]) -> Tangent:
        """Return the tangent of the rows of all parts."""
        worst = max(parts, key=lambda part: part.violation)
        return replace(
            worst,
            value=sum(part.value for part in parts),
            constant=sum(part.constant for part in parts),
            slope=np.sum([part.slope for part in parts], axis=0),
            dearest=max(part.dearest for part in parts),
        )


def middle_of(
    biases: np.ndarray, size: np.ndarray, tangent: Callable[[np.ndarray], Tangent]
) -> np.ndarray | None:
    """Return biases with the first at the midpoint of its interval; None if not found.

    The search begins at these biases; ``size`` is the largest coefficient of each, and
    ``tangent`` takes a shift of them. The cost is convex and piecewise linear, so that
    the tangents at the solutions of linear programs with the tangents before them
    describe it where it matters (Kelley's method).
    """
    from scipy.optimize import linprog

    n_biases, size = len(biases), np.where(size > 0, size, 1.0)
    first = tangent(np.zeros(n_biases))
    unit = max(abs(first.value), first.dearest) or 1.0
    limits = {f"{kind}_feasibility_tolerance": 1e-10 for kind in ("primal", "dual")}
    rows, right = [], []

    def add(shift: np.ndarray) -> Tangent:
        """Add the tangent and the constraint at a shift to the linear programs."""
        at = tangent(shift / size)
        rows.append([*(at.slope / size / unit), -1.0])
        right.append(-at.constant / unit)
        if at.violation > 0:
            rows.append([*(-at.left / size), 0.0])
            right.append(-at.right)
        return at

    add(np.zeros(n_biases))

    def solved(objective: np.ndarray, bounds: list) -> tuple[np.ndarray, float] | None:
        """Return the optimal shift and its cost; None if it is not found."""
        before = None
        for _ in range(MOST_TANGENTS):
            found = linprog(objective, rows, right, bounds=bounds, options=limits)
            if found.status != 0:
                return None
            shift, below = found.x[:-1], found.x[-1]
            at = add(shift)
            close = at.value / unit - below <= PRECISION * NEGLIGIBLE_CHANGE
            if (close and at.violation <= NEGLIGIBLE_CHANGE) or (
                before is not None and (shift == before).all()
            ):
                inside = (np.abs(shift) < 0.99 * LARGEST_REACH).all()
                return (shift, at.value / unit) if inside else None
            before = shift
        return None

    reach = [(-LARGEST_REACH, LARGEST_REACH)] * n_biases
    cost = np.eye(n_biases + 1)[-1]
    best = solved(cost, [*reach, (None, None)])
    if best is None:
        return None
    ceiling = best[1] + NEGLIGIBLE_CHANGE * max(abs(best[1]), 1.0)
    along, under = np.eye(n_biases + 1)[0], [*reach, (None, ceiling)]
    low, high = (solved(sign * along, under) for sign in (1.0, -1.0))
    if low is None or high is None:
        return None
    middle = 0.5 * (low[0][0] + high[0][0])
    found = solved(cost, [(middle, middle), *reach[1:], (None, None)])
    return None if found is None else biases + found[0] / size
