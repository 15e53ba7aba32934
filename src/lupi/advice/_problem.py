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
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lupi._convex.piecewise import PiecewiseProblem, diagonal, solve_piecewise
from lupi._convex.tuning import DEFAULT, Tuning

Array = NDArray[np.float64]
# Weights below this share of the largest are zero up to the accuracy of the solver.
NEGLIGIBLE = 1e-6


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
class Rows:
    """Labelled rows of one binary problem: signs ±1 and the cost of each slack."""

    X: Any
    sign: Array
    cost: Array

    @classmethod
    def none(cls, n_features: int) -> Rows:
        """Return an empty set of rows."""
        return cls(np.empty((0, n_features)), np.empty(0), np.empty(0))


@dataclass(frozen=True)
class AdviceSolution:
    """Hyperplane, proofs and certificate.

    Attributes
    ----------
    w, b : ndarray, float
        The hyperplane w·x - b.
    proofs : list of ndarray
        u_i of each rule.
    alpha : ndarray
        y α: the multipliers of the margins of the rows, with their signs.
    value, dual_value : float
        The value of the problem, and that of its dual.
    n_iter : int
        Iterations of the solver.
    converged : bool
        Whether the solver reached its tolerance.
    """

    w: Array
    b: float
    proofs: list[Array]
    alpha: Array
    value: float
    dual_value: float
    n_iter: int
    converged: bool


def solve(
    rows: Rows,
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
    unmentioned = np.zeros(p)
    for region in regions:
        unmentioned[~region.D.any(axis=0)] += region.weight
    n_u = sum(len(region.d) for region in regions)
    losses = _Losses(p, n_u, fit_intercept, penalize_intercept)
    losses.add_rows(rows)
    if regions:
        losses.add_rules(regions, squared)
    losses.add_unmentioned(unmentioned, squared)
    problem = losses.problem()
    found = solve_piecewise(problem, tol, max_iter, tuning)
    x = found.x
    if unmentioned.any() and not squared:
        x[:p][np.abs(x[:p]) <= NEGLIGIBLE * np.abs(x[:p]).max(initial=0.0)] = 0.0
    u = x[p + 1 :] = np.maximum(x[p + 1 :], 0.0)
    ends = np.cumsum([len(region.d) for region in regions])
    return AdviceSolution(
        w=x[:p],
        b=float(x[p]),
        proofs=np.split(u, ends[:-1]) if len(regions) else [],
        alpha=rows.sign * found.multipliers[:n],
        value=problem.value(x),
        dual_value=found.dual_value,
        n_iter=found.n_iter,
        converged=found.converged,
    )


class _Losses:
    """Builder of the problem in x = (w, b, u_1, …, u_m), block by block."""

    def __init__(self, p: int, n_u: int, fit_intercept: bool, penalized: bool):
        self.p, self.n_u = p, n_u
        # Without an intercept, b only occurs in its square and is therefore 0.
        self.bias = -1.0 if fit_intercept else 0.0
        self.square = np.zeros(p + 1 + n_u)
        self.square[:p] = 1.0
        self.square[p] = float(penalized or not fit_intercept)
        self.curvature: Any = None
        self.data: Any = None
        self.blocks: list[list[Any]] = []
        self.targets: list[tuple[float, Array, Array]] = []

    def add_rows(self, rows: Rows) -> None:
        """Add the margins, y (w·x - b) + ξ >= 1."""
        sign, bias = rows.sign[:, None], self.bias * rows.sign[:, None]
        if isinstance(rows.X, np.ndarray):
            self.data = np.hstack([sign * rows.X, bias])
        else:
            margins = diagonal(rows.sign) @ sp.csr_array(rows.X)
            self.data = sp.hstack([margins, sp.csr_array(bias)], format="csr")
        self.targets.append((1.0, rows.cost, np.zeros(len(sign))))

    def add_rules(self, regions: Sequence[Region], squared: bool) -> None:
        """Add -d·u - z b + ζ >= 1, u >= 0, and η of the mentioned columns."""
        m = len(regions)
        sign = np.array([region.sign for region in regions])
        weight = np.array([region.weight for region in regions])
        mentioned = [region.mentioned for region in regions]
        rule_of_eta = np.repeat(np.arange(m), [len(columns) for columns in mentioned])
        cut = sp.block_diag([sp.csr_array(-region.d[None, :]) for region in regions])
        bias = sp.csr_array(self.bias * sign[:, None])
        self._add(1.0, weight, None, b=bias, u=cut)
        self._add(0.0, np.full(self.n_u, np.inf), None, u=diagonal(np.ones(self.n_u)))
        eta_w = _unit_rows(np.concatenate(mentioned), self.p, sign[rule_of_eta])
        parts = zip(regions, mentioned, strict=True)
        eta_u = sp.block_diag([sp.csr_array(r.D[:, columns].T) for r, columns in parts])
        cost = weight[rule_of_eta]
        if squared:
            eta = sp.hstack([eta_w, sp.csr_array((len(cost), 1)), eta_u], format="csr")
            self.curvature = eta.T @ diagonal(cost) @ eta
        else:
            self._add(0.0, cost, cost, w=eta_w, u=eta_u)

    def add_unmentioned(self, cost: Array, squared: bool) -> None:
        """Add the slacks η of the columns that a rule does not mention, at a cost."""
        if squared:
            self.square[: self.p] += cost
        elif cost.any():
            columns = np.flatnonzero(cost)
            unit = _unit_rows(columns, self.p, np.ones(len(columns)))
            self._add(0.0, cost[columns], cost[columns], w=unit)

    def _add(
        self,
        target: float,
        up: Array,
        down: Array | None,
        w: Any = None,
        b: Any = None,
        u: Any = None,
    ) -> None:
        if len(up):
            height = len(up)
            w = sp.csr_array((height, self.p)) if w is None else w
            b = sp.csr_array((height, 1)) if b is None else b
            u = sp.csr_array((height, self.n_u)) if u is None else u
            self.blocks.append([w, b, u] if self.n_u else [w, b])
            down = np.zeros(height) if down is None else down
            self.targets.append((target, up, down))

    def problem(self) -> PiecewiseProblem:
        P = diagonal(self.square)
        rest = sp.csr_array((0, len(self.square)))
        if self.blocks:
            rest = sp.csr_array(sp.bmat(self.blocks, format="csr"))
        return PiecewiseProblem(
            P=P if self.curvature is None else P + self.curvature,
            data=self.data,
            rest=rest,
            h=np.concatenate([np.full(len(up), t) for t, up, _ in self.targets]),
            up=np.concatenate([up for _, up, _ in self.targets]),
            down=np.concatenate([down for _, _, down in self.targets]),
        )


def _unit_rows(columns: NDArray[np.intp], p: int, values: Array) -> Any:
    """Return a matrix with one row per entry of `columns` and a single value there."""
    place = (np.arange(len(columns)), columns)
    return sp.csr_array((values, place), shape=(len(columns), p))
