"""The convex problem of rows and rules, as data, and its solution by Clarabel.

Rule i says ``D_i x <= d_i => z_i (w·x - b) >= 1``. By linear-programming duality that
holds on a region that is not empty exactly when some u_i >= 0 proves it:

    D_iᵀ u_i + z_i w = 0,    -d_i·u_i - z_i b >= 1.

With slacks η_i and ζ_i for the two lines the problem is

    min  ½‖w‖² [+ ½ b²] + Σ_t c_t ξ_t + Σ_i μ_i (N(η_i) + ζ_i)
    s.t. y_t (w·x_t - b) + ξ_t >= 1,         ξ >= 0
         D_iᵀ u_i + z_i w + η_i = 0,         u_i >= 0
         -d_i·u_i - z_i b + ζ_i >= 1,        ζ >= 0

where N is ‖·‖₁ for `KnowledgeBasedSVC` and ½‖·‖² for the `Adviceptron`. A rule with
μ_i = ∞ is hard: η_i = 0, ζ_i = 0.

A column that rule i does not mention has η_ij = -z_i w_j whatever u_i is. Such columns
need no variables of their own: together they are a penalty on w_j, of weight
Σ μ_i over the rules that do not mention j (w_j = 0 if one of these is hard). So a
hundred rules on a few columns each cost little, however many columns there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Array = NDArray[np.float64]
# A weight this much smaller than the largest is what an interior point leaves of 0.
NEGLIGIBLE = 1e-6


@dataclass(frozen=True)
class Region:
    """A rule of one binary problem: D x <= d => sign, at cost `weight`."""

    D: Array
    d: Array
    sign: float
    weight: float

    @property
    def hard(self) -> bool:
        return bool(np.isinf(self.weight))

    @property
    def mentioned(self) -> NDArray[np.intp]:
        """The columns that the rule speaks of."""
        return np.flatnonzero(self.D.any(axis=0))

    def scaled(self, mean: Array, scale: Array) -> Region:
        """Give the same region in the columns (x - mean) / scale."""
        return Region(self.D * scale, self.d - self.D @ mean, self.sign, self.weight)


@dataclass(frozen=True)
class Rows:
    """Labelled rows of one binary problem: signs ±1 and the cost of each slack."""

    X: Any
    sign: Array
    cost: Array

    @classmethod
    def none(cls, n_features: int) -> Rows:
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
        y α, the signed multipliers of the margins of the rows.
    dual_value : float
        The value of the dual problem: no hyperplane can do better.
    n_iter : int
        Steps of the interior point.
    status : str
        The solver's word.
    value : float
        The primal value.
    """

    w: Array
    b: float
    proofs: list[Array]
    alpha: Array
    dual_value: float
    n_iter: int
    status: str
    value: float = float("nan")

    def with_value(self, value: float) -> AdviceSolution:
        """Add the primal value, known once the slacks are."""
        return replace(self, value=value)


def objective(
    rows: Rows, regions: Sequence[Region], w: Array, b: float, proofs: Sequence[Array]
) -> float:
    """The problem's value with the ℓ1 norm: all slacks follow from w, b and u."""
    value = 0.5 * float(w @ w)
    if len(rows.sign):
        value += float(rows.cost @ np.maximum(1 - rows.sign * (rows.X @ w - b), 0))
    for region, u in zip(regions, proofs, strict=True):
        if not region.hard:
            value += region.weight * sum(advice_slack(region, w, b, u))
    return value


def advice_slack(region: Region, w: Array, b: float, u: Array) -> tuple[float, float]:
    """‖η‖₁ and ζ of one rule."""
    eta = region.D.T @ u + region.sign * w
    zeta = max(1 + region.d @ u + region.sign * b, 0.0)
    return float(np.abs(eta).sum()), float(zeta)


def solve(
    rows: Rows,
    regions: Sequence[Region],
    *,
    squared: bool = False,
    fit_intercept: bool = True,
    penalize_intercept: bool = False,
    tol: float = 1e-8,
    max_iter: int = 200,
) -> AdviceSolution:
    """Minimise the problem on top of this file."""
    n, p = rows.X.shape
    parts = _Parts(rows, regions, squared, fit_intercept)
    quadratic, linear = parts.cost(penalize_intercept)
    A, right, n_equal = parts.constraints()
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = max_iter
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
    cones = [
        clarabel.ZeroConeT(n_equal),
        clarabel.NonnegativeConeT(len(right) - n_equal),
    ]
    solver = clarabel.DefaultSolver(
        sp.diags_array(quadratic).tocsc(), linear, A, right, cones, settings
    )
    result = solver.solve()
    x, multipliers = np.array(result.x), np.array(result.z)
    w = x[:p].copy()
    if not squared and (parts.penalty.any() or parts.forbidden.any()):
        w[np.abs(w) <= NEGLIGIBLE * np.abs(w).max(initial=0.0)] = 0.0
    u = np.maximum(x[parts.span("u")], 0.0)
    ends = np.cumsum([len(region.d) for region in regions])
    return AdviceSolution(
        w=w,
        b=float(x[p]) if fit_intercept else 0.0,
        proofs=np.split(u, ends[:-1]) if len(regions) else [],
        alpha=rows.sign * multipliers[n_equal : n_equal + n],
        dual_value=float(result.obj_val_dual),
        n_iter=int(result.iterations),
        status=str(result.status),
    )


class _Parts:
    """Builds the matrices; x = (w, b, ξ, u, η or its bound, ζ, bound of |w|)."""

    def __init__(
        self,
        rows: Rows,
        regions: Sequence[Region],
        squared: bool,
        fit_intercept: bool,
    ):
        self.rows, self.regions = rows, regions
        self.squared, self.fit_intercept = squared, fit_intercept
        self.n, self.p = rows.X.shape
        mentioned = [region.mentioned for region in regions]
        hard = np.array([region.hard for region in regions], dtype=bool)
        soft = np.array([0.0 if r.hard else r.weight for r in regions])
        # Per column: the cost of |w_j| from soft rules that leave it out, and
        # whether a hard rule leaves it out.
        self.penalty = np.full(self.p, soft.sum())
        self.forbidden = np.zeros(self.p, dtype=bool)
        for columns, weight, is_hard in zip(mentioned, soft, hard, strict=True):
            self.penalty[columns] -= weight
            if is_hard:
                self.forbidden[np.setdiff1d(np.arange(self.p), columns)] = True
        self.penalty[self.penalty <= 1e-12 * soft.sum()] = 0.0
        self.penalized = np.empty(0, int) if squared else np.flatnonzero(self.penalty)
        sizes = [len(columns) for columns in mentioned]
        rule_of_eta = np.repeat(np.arange(len(regions)), sizes)
        self.eta_hard = hard[rule_of_eta]
        self.eta_cost = soft[rule_of_eta][~self.eta_hard]
        self.hard, self.zeta_cost = hard, soft[~hard]
        self.sign = np.array([region.sign for region in regions])
        self._proof_matrices(mentioned, sizes, rule_of_eta)
        self.sizes = {
            "w": self.p,
            "b": 1,
            "xi": self.n,
            "u": self.d_u.shape[1],
            "eta": len(self.eta_cost),
            "zeta": len(self.zeta_cost),
            "bound": len(self.penalized),
        }

    def _proof_matrices(
        self, mentioned: list[Any], sizes: list[int], rule_of_eta: Any
    ) -> None:
        """D_iᵀu_i + z_i w on the mentioned columns, and d_i·u_i, for all rules."""
        regions = self.regions
        total = int(sum(sizes))
        columns = np.concatenate([np.empty(0, int), *mentioned])
        shape = (total, self.p)
        values = self.sign[rule_of_eta]
        self.e_w = sp.csr_array((values, (np.arange(total), columns)), shape=shape)
        if not regions:
            self.e_u, self.d_u = sp.csr_array((0, 0)), sp.csr_array((0, 0))
            return
        blocks = [r.D[:, c].T for r, c in zip(regions, mentioned, strict=True)]
        self.e_u = sp.block_diag(blocks, format="csr")
        self.d_u = sp.block_diag([r.d[None, :] for r in regions], format="csr")

    def span(self, name: str) -> slice:
        names = list(self.sizes)
        start = sum(self.sizes[other] for other in names[: names.index(name)])
        return slice(start, start + self.sizes[name])

    def _block(self, height: int, **blocks: Any) -> Any:
        """One row of blocks; the variables that are not named get zeros."""
        parts = [
            blocks.get(k, sp.csr_array((height, s))) for k, s in self.sizes.items()
        ]
        return sp.hstack(parts, format="csc")

    def cost(self, penalize_intercept: bool) -> tuple[Array, Array]:
        quadratic = np.zeros(sum(self.sizes.values()))
        linear = np.zeros_like(quadratic)
        quadratic[self.span("w")] = 1.0 + (self.penalty if self.squared else 0.0)
        quadratic[self.span("b")] = float(penalize_intercept)
        (quadratic if self.squared else linear)[self.span("eta")] = self.eta_cost
        linear[self.span("xi")] = self.rows.cost
        linear[self.span("zeta")] = self.zeta_cost
        linear[self.span("bound")] = self.penalty[self.penalized]
        return quadratic, linear

    def constraints(self) -> tuple[Any, Array, int]:
        """All constraints as A x + s = right, the equalities (s = 0) first."""
        equal, less = self._equalities(), self._inequalities()
        blocks = [block for block, _ in equal + less]
        right = np.concatenate([value for _, value in equal + less])
        n_equal = sum(block.shape[0] for block, _ in equal)
        return sp.vstack(blocks, format="csc"), right, n_equal

    def _equalities(self) -> list[tuple[Any, Array]]:
        soft = np.flatnonzero(~self.eta_hard)
        hard = np.flatnonzero(self.eta_hard)
        zero = np.flatnonzero(self.forbidden)
        one = sp.csr_array(np.ones((1, 1)))
        equal = [
            (self._block(len(hard), w=self.e_w[hard], u=self.e_u[hard]), len(hard)),
            (self._block(len(zero), w=sp.eye_array(self.p).tocsr()[zero]), len(zero)),
        ]
        if self.squared:
            eta = sp.eye_array(len(soft))
            block = self._block(len(soft), w=self.e_w[soft], u=self.e_u[soft], eta=eta)
            equal.append((block, len(soft)))
        if not self.fit_intercept:
            equal.append((self._block(1, b=one), 1))
        return [(block, np.zeros(height)) for block, height in equal]

    def _inequalities(self) -> list[tuple[Any, Array]]:
        n, m, k = self.n, len(self.regions), self.sizes["u"]
        sign = self.rows.sign
        xi, zeta = (
            sp.eye_array(n),
            sp.eye_array(m).tocsr()[:, np.flatnonzero(~self.hard)],
        )
        data = sp.diags_array(-sign) @ sp.csc_array(self.rows.X)
        less = [
            (self._block(n, w=data, b=_column(sign), xi=-xi), -np.ones(n)),
            (self._block(m, u=self.d_u, b=_column(self.sign), zeta=-zeta), -np.ones(m)),
            (self._block(n, xi=-xi), np.zeros(n)),
            (self._block(k, u=-sp.eye_array(k)), np.zeros(k)),
            (self._block(z := len(self.zeta_cost), zeta=-sp.eye_array(z)), np.zeros(z)),
        ]
        if not self.squared:
            soft = np.flatnonzero(~self.eta_hard)
            unit = sp.eye_array(self.p).tocsr()[self.penalized]
            bound, eta = sp.eye_array(len(self.penalized)), sp.eye_array(len(soft))
            for way in (1.0, -1.0):
                w, u = way * self.e_w[soft], way * self.e_u[soft]
                block = self._block(len(soft), w=w, u=u, eta=-eta)
                less.append((block, np.zeros(len(soft))))
                block = self._block(len(self.penalized), w=way * unit, bound=-bound)
                less.append((block, np.zeros(len(self.penalized))))
        return less


def _column(values: Array) -> Any:
    return sp.csr_array(values.reshape(-1, 1))
