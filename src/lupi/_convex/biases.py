"""The midpoint of the optimal interval of a bias that is not unique.

With the functions f_k fixed, the biases solve a small linear program::

    min  Σ_k (c_k·e_k) b_k + Σ d ζ    s.t.  Σ_k a_qk e_k b_k + ζ ≥ r_q − Σ_k a_qk f_k

If the rows of the constraints that hold with equality and a positive multiplier have
full rank, they determine the biases. Otherwise the program is solved for the two ends
of the optimal interval of the first bias. The multipliers do not change: every bias in
the interval is optimal with them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lupi._convex.problem import Problem
from lupi._convex.solution import Solution
from lupi._convex.tuning import DEFAULT, Tuning

__all__ = ["settle_biases"]

# Relative size of multipliers and slacks that are strictly positive.
STRICT = 1e-4
# Relative change of the objective that is negligible.
FLAT = 1e-9
# First and largest half width of the box of biases, and the factor by which it grows
# while a solution lies within the last share of its edge.
NEAR, FAR, WIDER, EDGE = 1e-4, 1e8, 10.0, 1e-6
INFEASIBLE = 2  # the status of linprog


def settle_biases(solution: Solution, tuning: Tuning = DEFAULT) -> Solution:
    """Return the solution with the first bias in the middle of its optimal interval."""
    problem = solution.problem
    if not problem.biased or _is_unique(solution):
        return solution
    if any(
        family.slack is not None and family.slack.squared is not None
        for family in problem.families
    ):
        return solution  # a squared slack is strictly convex in the bias
    biases = _midpoint(solution, tuning.bias_kinds)
    if biases is None:
        return solution
    settled = replace(solution, biases=biases)
    better = settled.duality_gap <= 2 * max(
        solution.duality_gap, FLAT * abs(solution.primal_value)
    )
    return settled if better else solution


def _is_unique(solution: Solution) -> bool:
    """Return whether the strictly active constraints determine every bias."""
    problem, multipliers = solution.problem, solution.multipliers
    largest = np.abs(multipliers + problem.offset).max(initial=0.0)
    scale, products = strict_products(problem, multipliers, largest)
    return determined(scale, products)


def strict_products(
    problem: Problem, multipliers: np.ndarray, largest: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the products of the bias coefficients of strictly active constraints.

    Parameters
    ----------
    problem : Problem
        All rows, or some.
    multipliers : ndarray
        The multipliers, relative to their offset.
    largest : float
        The largest multiplier of all rows.

    Returns
    -------
    scale : ndarray of shape (n_biases,)
        Largest coefficient of each bias.
    products : ndarray of shape (n_biases, n_biases)
        Sum of the products of their coefficients.
    """
    open_slack = np.ones(problem.size, dtype=bool)
    for room, cost, sharing in zip(
        problem.headroom(multipliers),
        problem.slack_costs,
        problem.sharing,
        strict=True,
    ):
        for q in sharing:
            open_slack[problem.slices[q]] = room > STRICT * cost
    active = np.abs(multipliers + problem.offset) > STRICT * largest
    columns = problem.balance_columns()[:, active & open_slack]
    return np.abs(columns).max(axis=1, initial=0.0), columns @ columns.T


def determined(scale: np.ndarray, products: np.ndarray) -> bool:
    """Return whether constraints with these products determine every bias."""
    if not (scale > 0).all():
        return False
    scaled = products / np.outer(scale, scale)
    return bool(np.linalg.matrix_rank(scaled) == len(scale))


def _midpoint(solution: Solution, kinds: int) -> np.ndarray | None:
    """Return the biases of `middle_of` for a solution."""
    problem = solution.problem
    rows = BiasRows.of(problem, problem.margins(solution.penalized), kinds)

    def pieces(center: np.ndarray, reach: np.ndarray) -> list[Piece]:
        return [rows.piece(center, reach)]

    return middle_of(solution.biases, rows.size, pieces)


def middle_of(
    biases: np.ndarray,
    size: np.ndarray,
    pieces: Callable[[np.ndarray, np.ndarray], list[Piece]],
) -> np.ndarray | None:
    """Return biases with the first at the midpoint of its interval; None if not found.

    Parameters
    ----------
    biases : ndarray
        Optimal biases, the center of the search.
    size : ndarray
        Largest coefficient of each in any constraint.
    pieces : callable
        ``pieces(center, reach)`` returns the parts of the linear program in the box of
        half widths ``reach`` around ``center``.
    """
    reach = NEAR / np.where(size > 0, size, 1.0)
    while reach.max() < FAR:
        program = _Program(pieces(biases, reach), biases, reach)
        middle = program.middle()
        if not program.at_edge:
            return middle
        reach = reach * WIDER
    return None


@dataclass(frozen=True, eq=False)
class Piece:
    """The part of some rows in the linear program for the biases in a box.

    ``cost`` and ``constant`` are those of slacks that are linear in the whole box.
    ``left`` and ``right`` are the other constraints, ``owners`` the numbers of their
    slacks (−1: none), ``prices`` the costs of the slacks; ``equal`` marks equalities.
    """

    cost: np.ndarray
    constant: float
    left: np.ndarray
    right: np.ndarray
    owners: np.ndarray
    prices: np.ndarray
    equal: np.ndarray
    dearest: float
    bias_costs: np.ndarray


@dataclass(frozen=True, eq=False)
class BiasRows:
    """Coefficients of the biases, right-hand sides and hard constraints of rows."""

    problem: Problem
    columns: np.ndarray
    right: np.ndarray
    hard: np.ndarray

    @classmethod
    def of(cls, problem: Problem, margins: np.ndarray, kinds: int) -> BiasRows:
        """Return the rows of a problem; `margins` are those without the biases."""
        columns, right = problem.balance_columns(), problem.at_least - margins
        hard = ~problem.is_equality
        for q in itertools.chain(*problem.sharing):
            hard[problem.slices[q]] = False
        tightest = _tightest(columns, right, np.flatnonzero(hard), kinds)
        return cls(problem, columns, right, tightest)

    @property
    def size(self) -> np.ndarray:
        """Largest coefficient of each bias."""
        return np.abs(self.columns).max(axis=1, initial=0.0)

    def piece(self, center: np.ndarray, reach: np.ndarray) -> Piece:
        """Return the part of the linear program in a box.

        Slacks that are zero in the whole box are left out, and slacks that one
        constraint determines in the whole box are linear. The others remain as
        variables, together with the hard constraints that may be violated in the box.
        """
        problem, columns, right = self.problem, self.columns, self.right
        cost, constant = np.zeros(len(columns)), 0.0
        missing, spread = right - center @ columns, reach @ np.abs(columns)
        least, most = missing - spread, missing + spread
        rows, owners, prices, n_slacks = [], [], [], 0
        for price, sharing in zip(problem.slack_costs, problem.sharing, strict=True):
            members = [np.arange(problem.size)[problem.slices[q]] for q in sharing]
            turning = np.any([most[at] > 0.0 for at in members], axis=0)
            for j, at in enumerate(members):
                others = [most[other] for i, other in enumerate(members) if i != j]
                rival = np.max([np.zeros(len(at)), *others], axis=0)
                leads = turning & (least[at] >= rival)
                turning &= ~leads
                cost -= columns[:, at[leads]] @ price[leads]
                constant += float(right[at[leads]] @ price[leads])
            n_kept = int(turning.sum())
            rows += [at[turning] for at in members]
            owners += [n_slacks + np.arange(n_kept)] * len(members)
            prices.append(price[turning])
            n_slacks += n_kept
        hard = self.hard[most[self.hard] > 0.0]
        equal = np.flatnonzero(problem.is_equality)
        no_slack = np.full(len(hard) + len(equal), -1)
        flat = np.concatenate([*rows, hard, equal]).astype(int)
        whole = np.concatenate([*problem.slack_costs, np.zeros(1)])
        return Piece(
            cost,
            constant,
            columns[:, flat].T,
            right[flat],
            np.concatenate([*owners, no_slack]).astype(int),
            np.concatenate([*prices, np.empty(0)]),
            problem.is_equality[flat],
            float(np.abs(whole).max()),
            problem.bias_costs,
        )


def _tightest(columns, right, rows, kinds: int) -> np.ndarray:
    """Return the tightest of the hard constraints with the same bias coefficients.

    If every basis is constant, there are few different coefficients; after `kinds` of
    them, all other constraints are kept.
    """
    kept: list[int] = []
    while len(rows) and len(kept) < kinds:
        same = (columns[:, rows] == columns[:, rows[:1]]).all(axis=0)
        kept.append(rows[same][right[rows[same]].argmax()])
        rows = rows[~same]
    return np.concatenate([np.array(kept, dtype=int), rows])


class _Program:
    """The linear program for the biases in a box."""

    def __init__(self, pieces: list[Piece], center, reach):
        from scipy.sparse import csr_array, hstack

        self._n_biases = len(center)
        self._low, self._high = center - reach, center + reach
        bias_costs = sum(piece.bias_costs for piece in pieces)
        cost = bias_costs + sum(piece.cost for piece in pieces)
        self._constant = sum(piece.constant for piece in pieces)
        owners, n_slacks = [], 0
        for piece in pieces:
            own = piece.owners
            owners.append(np.where(own >= 0, own + n_slacks, -1))
            n_slacks += len(piece.prices)
        own = np.concatenate(owners)
        soft = np.flatnonzero(own >= 0)
        slacks = csr_array(
            (np.ones(len(soft)), (soft, own[soft])), shape=(len(own), n_slacks)
        )
        left = np.concatenate([piece.left for piece in pieces])
        self._left = hstack([csr_array(left), slacks], format="csr")
        self._right = np.concatenate([piece.right for piece in pieces])
        self._equal = np.concatenate([piece.equal for piece in pieces])
        dearest = max(piece.dearest for piece in pieces)
        self._unit = max(np.abs(bias_costs).max(), dearest) or 1.0
        prices = [piece.prices for piece in pieces]
        self._cost = np.concatenate([cost, *prices]) / self._unit
        self.at_edge = False

    def _solve(self, objective, ceiling=None, first=None):
        from scipy.optimize import linprog
        from scipy.sparse import csr_array, vstack

        equal = self._equal
        upper, limit = -self._left[~equal], -self._right[~equal]
        if ceiling is not None:
            upper = vstack([upper, csr_array(self._cost[None])])
            limit = np.append(limit, ceiling)
        equalities = {}
        if equal.any():
            equalities = {"A_eq": self._left[equal], "b_eq": self._right[equal]}
        bounds = list(zip(self._low, self._high, strict=True))
        bounds += [(0, None)] * (len(self._cost) - self._n_biases)
        if first is not None:
            bounds[0] = (first, first)
        found = linprog(objective, upper, limit, **equalities, bounds=bounds)
        if found.status != 0:
            # A larger box may be feasible.
            self.at_edge |= found.status == INFEASIBLE
            return None
        biases, margin = found.x[: self._n_biases], EDGE * (self._high - self._low)
        inside = (biases > self._low + margin) & (biases < self._high - margin)
        self.at_edge |= not inside.all()
        return found

    def middle(self) -> np.ndarray | None:
        """Return optimal biases with the first at the midpoint of its interval."""
        best = self._solve(self._cost)
        if best is None:
            return None
        whole = best.fun + self._constant / self._unit
        ceiling = best.fun + FLAT * max(abs(whole), 1.0)
        first = np.zeros(len(self._cost))
        first[0] = 1.0
        low, high = self._solve(first, ceiling), self._solve(-first, ceiling)
        if low is None or high is None:
            return None
        middle = self._solve(self._cost, first=0.5 * (low.x[0] + high.x[0]))
        return None if middle is None else middle.x[: self._n_biases]
