"""The convex problem of rows and rules.

Rule i requires ``D_i x <= d_i => z_i (w·x - b) >= 1``. By linear-programming duality
this holds on a nonempty region if and only if there is a proof u_i >= 0:

    D_iᵀ u_i + z_i w = 0,    -d_i·u_i - z_i b >= 1.

With slacks η_i and ζ_i for the two lines the problem is

    min  ½‖w‖² [+ ½ b²] + Σ_t c_t ξ_t + Σ_i μ_i (N(η_i) + ζ_i)
    s.t. y_t (w·x_t - b) + ξ_t >= 1,         ξ >= 0
         D_iᵀ u_i + z_i w + η_i = 0,         u_i >= 0
         -d_i·u_i - z_i b + ζ_i >= 1,        ζ >= 0

where N is ‖·‖₁ for `KnowledgeBasedSVC` and ½‖·‖² for the `Adviceptron`. A rule with
μ_i = ∞ is hard: η_i = 0, ζ_i = 0.

A column that rule i does not mention has η_ij = -z_i w_j for every u_i. Such columns
need no slacks: together they are a penalty on w_j, of weight Σ μ_i over the rules that
do not mention j (w_j = 0 if one of these is hard). The size of the problem therefore
depends on the columns that the rules mention, not on the number of all columns.

Linear programs on the regions decide whether one is empty, which hard rules contradict
each other, and find the least value of w·x - b on a region and the tightest proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog

from lupi._convex.piecewise import PiecewiseProblem, diagonal, solve_piecewise
from lupi._convex.tuning import DEFAULT, Tuning

Array = NDArray[np.float64]
# Weights below this share of the largest are zero up to the accuracy of the solver.
NEGLIGIBLE = 1e-6
_INFEASIBLE, _UNBOUNDED = 2, 3
_FREE = (None, None)


@dataclass(frozen=True)
class Region:
    """A rule of one binary problem: D x <= d => sign, at cost `weight`.

    `unit` holds the factors by which the conditions of the rule were multiplied; a
    proof of the rule is `unit` times the proof of the region.
    """

    D: Array
    d: Array
    sign: float
    weight: float
    unit: Array

    @classmethod
    def of(cls, D: Array, d: Array, sign: float, weight: float) -> Region:
        """Return the region with conditions whose largest coefficient is about 1.

        The factors are powers of two, so that the half-spaces do not change by
        rounding. Without them a solver could take 1e300 x >= 1e-300 for empty.
        """
        exponent = -np.frexp(np.abs(D).max(axis=1, initial=0.0))[1]
        # No row reaches bounds beyond this.
        d = np.clip(np.ldexp(d, exponent), -1e100, 1e100)
        D = np.ldexp(D, exponent[:, None])
        return cls(D, d, sign, weight, np.ldexp(np.ones(len(d)), exponent))

    @property
    def hard(self) -> bool:
        """Whether the rule must hold exactly."""
        return bool(np.isinf(self.weight))

    @property
    def mentioned(self) -> NDArray[np.intp]:
        """The columns that the rule mentions."""
        return np.flatnonzero(self.D.any(axis=0))

    def scaled(self, mean: Array, scale: Array) -> Region:
        """Return the same region in the columns (x - mean) / scale."""
        D, d = self.D * scale, self.d - self.D @ mean
        return Region(D, d, self.sign, self.weight, self.unit)


@dataclass(frozen=True)
class LabelledRows:
    """Rows of one binary problem: signs ±1 and the cost of each slack."""

    X: Any
    sign: Array
    cost: Array


@dataclass(frozen=True)
class AdviceSolution:
    """Hyperplane w·x - b, proofs u_i, multipliers y α of the rows, and certificate."""

    w: Array
    b: float
    proofs: list[Array]
    alpha: Array
    value: float
    dual_value: float
    n_iter: int
    converged: bool


def solve(
    rows: LabelledRows,
    regions: Sequence[Region],
    *,
    squared: bool = False,
    fit_intercept: bool = True,
    penalize_intercept: bool = False,
    tol: float = 1e-10,
    max_iter: int = 200,
    tuning: Tuning = DEFAULT,
) -> AdviceSolution:
    """Solve the problem of the module docstring."""
    n, p = rows.X.shape
    n_u = sum(len(region.d) for region in regions)
    bias, size = -1.0 if fit_intercept else 0.0, p + 1 + n_u
    sides = rows.sign[:, None]
    if isinstance(rows.X, np.ndarray):
        margins = np.hstack([sides * rows.X, bias * sides])
    else:
        margins = diagonal(rows.sign) @ sp.csr_array(rows.X)
        margins = sp.hstack([margins, sp.csr_array(bias * sides)], format="csr")
    unmentioned = np.zeros(p)
    for region in regions:
        unmentioned[~region.D.any(axis=0)] += region.weight
    square = np.concatenate([np.ones(p), [0.0], np.zeros(n_u)])
    # Without an intercept, b only occurs in its square and is therefore 0.
    square[p] = float(penalize_intercept or not fit_intercept)
    if squared:
        square[:p] += unmentioned
    P = diagonal(square)
    # Rows of a matrix G, a target of G x with x = (w, b, u_1, …, u_m), and the costs of
    # values below and above it.
    losses = [(sp.csr_array((0, size)), 0.0, np.empty(0), np.empty(0))]
    if regions:
        sign = np.array([region.sign for region in regions])
        weight = np.array([region.weight for region in regions])
        mentioned = [region.mentioned for region in regions]
        rule_of_eta = np.repeat(np.arange(len(regions)), list(map(len, mentioned)))
        cost = weight[rule_of_eta]
        # -d·u - z b + ζ >= 1, u >= 0, and η of the mentioned columns.
        zeta_b = _unit_rows(np.full(len(sign), p), p + 1, bias * sign)
        zeta_u = sp.block_diag([sp.csr_array(-region.d[None, :]) for region in regions])
        losses.append((sp.hstack([zeta_b, zeta_u]), 1.0, weight, np.zeros(len(sign))))
        positive = _unit_rows(np.arange(p + 1, size), size, np.ones(n_u))
        losses.append((positive, 0.0, np.full(n_u, np.inf), np.zeros(n_u)))
        eta_w = _unit_rows(np.concatenate(mentioned), p + 1, sign[rule_of_eta])
        parts = zip(regions, mentioned, strict=True)
        eta_u = sp.block_diag([sp.csr_array(r.D[:, columns].T) for r, columns in parts])
        eta = sp.hstack([eta_w, eta_u], format="csr")
        if squared:
            P = P + eta.T @ diagonal(cost) @ eta
        else:
            losses.append((eta, 0.0, cost, cost))
    if not squared:
        columns = np.flatnonzero(unmentioned)
        cost = unmentioned[columns]
        losses.append((_unit_rows(columns, size, np.ones(len(cost))), 0.0, cost, cost))
    matrices, targets, up, down = zip(*losses, strict=True)
    rest = sp.csr_array(sp.vstack(matrices, format="csr"))
    rest.eliminate_zeros()
    problem = PiecewiseProblem(
        P=P,
        data=margins,
        rest=rest,
        h=np.concatenate([np.ones(n), np.repeat(targets, list(map(len, up)))]),
        up=np.concatenate([rows.cost, *up]),
        down=np.concatenate([np.zeros(n), *down]),
    )
    solution = solve_piecewise(problem, tol, max_iter, tuning)
    x = solution.x
    if unmentioned.any() and not squared:
        x[:p][np.abs(x[:p]) <= NEGLIGIBLE * np.abs(x[:p]).max(initial=0.0)] = 0.0
    u = x[p + 1 :] = np.maximum(x[p + 1 :], 0.0)
    ends = np.cumsum([len(region.d) for region in regions])
    return AdviceSolution(
        w=x[:p],
        b=float(x[p]),
        proofs=np.split(u, ends[:-1]) if len(regions) else [],
        alpha=rows.sign * solution.multipliers[:n],
        value=problem.value(x),
        dual_value=solution.dual_value,
        n_iter=solution.n_iter,
        converged=solution.converged,
    )


def _unit_rows(columns: NDArray[np.intp], p: int, values: Array) -> Any:
    """Return a matrix with one row per entry of `columns` and a single value there."""
    positions = (np.arange(len(columns)), columns)
    return sp.csr_array((values, positions), shape=(len(columns), p))


def is_empty(region: Region) -> bool:
    """Return whether no point satisfies D x <= d."""
    columns = region.mentioned
    if len(columns) == 0:
        return bool(np.any(region.d < 0))
    D = region.D[:, columns]
    return _program(np.zeros(len(columns)), A_ub=D, b_ub=region.d) is None


def least_value(region: Region, w: Array, b: float) -> float:
    """Return min w·x - b over the region: ∞ if it is empty, -∞ if it is unbounded.

    The weights have the accuracy of the solver, and on an unbounded region an error of
    1e-12 decides between a finite minimum and -∞. Therefore ‖x‖₁ has a cost of
    `NEGLIGIBLE` times the largest weight: the result is -∞ if it is so for all weights
    within that distance.
    """
    if is_empty(region):
        return np.inf
    cost = NEGLIGIBLE * np.abs(w).max(initial=0.0)
    columns = region.mentioned
    if np.any(np.abs(np.delete(w, columns)) > cost):
        return -np.inf
    D, w = region.D[:, columns], w[columns]
    if not w.any():
        return -float(b)
    # x = plus - minus, so that ‖x‖₁ is linear.
    answer = _program(
        np.concatenate([w + cost, cost - w]),
        A_ub=np.hstack([D, -D]),
        b_ub=region.d,
        bounds=(0, None),
    )
    if answer is None:
        return -np.inf
    plus, minus = np.split(answer, 2)
    return float(w @ (plus - minus) - b)


def tightest_proof(region: Region, u: Array) -> Array:
    """Return the proof with the same Dᵀu and the least d·u.

    -d·u is then the least value of -Dᵀu·x on the region, if that is not empty.
    """
    D = region.D[:, region.mentioned]
    answer = _program(region.d, A_eq=D.T, b_eq=D.T @ u, bounds=(0, None))
    return u if answer is None else answer


def conflict(regions: Sequence[Region], fit_intercept: bool) -> list[int]:
    """Return rules that no hyperplane satisfies together; none if there is one.

    The set is irreducible: without any one of its members the others are feasible. A
    deletion filter finds it: each rule is removed if the others remain infeasible.
    """
    kept = list(range(len(regions)))
    if _compatible([regions[i] for i in kept], fit_intercept):
        return []
    for i in list(kept):
        others = [j for j in kept if j != i]
        if not _compatible([regions[j] for j in others], fit_intercept):
            kept = others
    return kept


def _compatible(regions: Sequence[Region], fit_intercept: bool) -> bool:
    """Return whether D_iᵀu_i + z_i w = 0, d_i·u_i + z_i b <= -1, u >= 0 is feasible."""
    if not regions:
        return True
    p = regions[0].D.shape[1]
    sign = np.array([region.sign for region in regions])
    equal = sp.hstack(
        [
            sp.kron(sign[:, None], diagonal(np.ones(p))),
            sp.csr_array((p * len(regions), 1)),
            sp.block_diag([sp.csr_array(region.D.T) for region in regions]),
        ]
    )
    less = sp.hstack(
        [
            sp.csr_array((len(regions), p)),
            sp.csr_array(sign[:, None]),
            sp.block_diag([sp.csr_array(region.d[None, :]) for region in regions]),
        ]
    )
    n_u = equal.shape[1] - p - 1
    intercept = _FREE if fit_intercept else (0, 0)
    answer = _program(
        np.zeros(equal.shape[1]),
        A_eq=equal.tocsr(),
        b_eq=np.zeros(equal.shape[0]),
        A_ub=less.tocsr(),
        b_ub=-np.ones(len(regions)),
        bounds=[_FREE] * p + [intercept] + [(0, None)] * n_u,
    )
    return answer is not None


def _program(cost: Array, bounds: Any = _FREE, **constraints: Any) -> Array | None:
    """Return the solution of a linear program; None if infeasible or unbounded."""
    # Presolve may end with "infeasible or unbounded"; the simplex method decides.
    for method, options in (("highs", {}), ("highs-ds", {"presolve": False})):
        result = linprog(
            cost, bounds=bounds, method=method, options=options, **constraints
        )
        if result.status in (0, _INFEASIBLE, _UNBOUNDED):
            return result.x if result.status == 0 else None
    raise RuntimeError(
        f"The linear program of a rule could not be solved: {result.message} Rescale "
        "the columns, for instance with standardize=True."
    )
