"""Quadratic problems with piecewise linear losses, for the advice models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from lupi._convex.tuning import DEFAULT, Tuning
from lupi._optional import optional

Array = NDArray[np.float64]


def diagonal(values: Array) -> Any:
    """Return a sparse diagonal matrix; the oldest supported SciPy has no function."""
    size = len(values)
    return sp.dia_array((values[None, :], [0]), shape=(size, size))


@dataclass(frozen=True)
class PiecewiseProblem:
    """Quadratic problems with piecewise linear losses.

        min  ½ xᵀP x + Σ_r ( up_r [h_r - G_r x]₊ + down_r [G_r x - h_r]₊ )

    An infinite cost is a constraint: G_r x >= h_r for `up`, G_r x <= h_r for `down`,
    equality for both. The dual has one multiplier per row, in a box:

        max  h·λ - ½ xᵀP x    s.t.  P x = Gᵀλ,   -down <= λ <= up.

    G is stored in two parts: `data`, dense or sparse, has the first rows, in which only
    the first variables occur; `rest`, sparse, has all other rows. P is sparse.
    """

    P: Any
    data: Any
    rest: Any
    h: Array
    up: Array
    down: Array

    @property
    def G(self) -> Any:
        """All rows of G as one sparse matrix."""
        data = sp.csr_array(self.data)
        data.resize(data.shape[0], self.P.shape[0])
        return sp.vstack([data, self.rest], format="csr")

    def times(self, x: Array) -> Array:
        """Compute G x."""
        return np.concatenate([self.data @ x[: self.data.shape[1]], self.rest @ x])

    def transposed(self, multipliers: Array) -> Array:
        """Compute Gᵀ λ."""
        n, width = self.data.shape
        result = self.rest.T @ multipliers[n:]
        result[:width] += self.data.T @ multipliers[:n]
        return result

    def weighted_gram(self, theta: Array) -> Array:
        """Compute Gᵀ diag(theta) G, dense."""
        n, width = self.data.shape
        gram = (self.rest.T @ diagonal(theta[n:]) @ self.rest).toarray()
        rows = np.sqrt(theta[:n])[:, None] * self.data
        gram[:width, :width] += rows.T @ rows
        return gram

    def value(self, x: Array) -> float:
        """Compute the objective without the constraints."""
        short = self.h - self.times(x)
        up = np.where(np.isinf(self.up), 0.0, self.up)
        down = np.where(np.isinf(self.down), 0.0, self.down)
        losses = up @ np.maximum(short, 0) + down @ np.maximum(-short, 0)
        return float(0.5 * x @ (self.P @ x) + losses)


@dataclass(frozen=True)
class PiecewiseSolution:
    """The variables x, the multipliers λ and their certificate."""

    x: Array
    multipliers: Array
    dual_value: float
    n_iter: int
    converged: bool


# Steps without progress, because of rounding errors, after which the method stops.
_PATIENCE = 10
_RIDGE = 1e-13
# Θ, and the errors of dx, would be unbounded as slacks and multipliers vanish. This
# lower bound of 1/Θ leaves a residual of that times dλ, which the next step removes.
_FLOOR = 1e-9


class DenseInterior:
    """Interior-point method for many dense rows.

    The problem of `lupi._convex.piecewise`, with slacks for both sides of every row,

        min ½ xᵀP x + up·s + down·t    s.t.  G x + s - t = h,   s, t >= 0,

    has the multipliers λ of the equality, up - λ >= 0 of s and down + λ >= 0 of t.
    Every Newton step reduces to (P + Gᵀ Θ G) dx = … with Θ diagonal, and one Cholesky
    factor of the size of x. For dense rows the products of matrices are much faster
    than a sparse factorization. A row with infinite `up` has no s. The sparse solver
    handles equalities.

    The method of `lupi._convex.interior` does not apply to this problem: it has one
    weight per function where P is a matrix here, one unpenalized variable per function
    where many (the proofs of the rules) are unpenalized here, and no G with a dense and
    a sparse part.
    """

    def __init__(self, problem: Any):
        self.problem = problem
        self.P = np.asarray(problem.P.todense())
        self.up, self.down, self.h = problem.up, problem.down, problem.h
        self.two_sided = np.isfinite(self.up)
        free = np.where(self.two_sided, 0.5 * (self.up - self.down), 1.0)
        self.x = np.zeros(len(self.P))
        self.multipliers = free
        self.s = np.where(self.two_sided, np.maximum(self.h, 0) + 1.0, 0.0)
        self.t = np.where(self.two_sided, self.s - self.h, 1.0)
        # Stored in addition to λ: up - λ would cancel as it vanishes.
        self.z_s = np.where(self.two_sided, self.up - self.multipliers, 1.0)
        self.z_t = self.down + self.multipliers

    def solve(self, tol: float, max_iter: int) -> tuple[Array, Array, float, int, bool]:
        """Return x, λ, the dual value, the iterations, and whether it converged."""
        best, best_gap, waited = None, np.inf, 0
        n_iter = 0
        for n_iter in range(max_iter):  # noqa: B007
            gap, dual_value = self._gap()
            if gap < best_gap:
                best, waited = (self.x.copy(), self.multipliers.copy(), dual_value), 0
                best_gap = gap
            else:
                waited += 1
            if best_gap <= tol or waited > _PATIENCE:
                break
            try:
                self._step()
            except LinAlgError:
                break
        x, multipliers, dual_value = best or (self.x, self.multipliers, -np.inf)
        return x, multipliers, dual_value, n_iter, best_gap <= tol

    def _gap(self) -> tuple[float, float]:
        """Return the largest of relative gap and relative residuals, and the dual."""
        Px = self.P @ self.x
        value = self.problem.value(self.x)
        dual_value = float(self.h @ self.multipliers - 0.5 * self.x @ Px)
        gradient = self.problem.transposed(self.multipliers)
        dual = np.abs(gradient - Px).max() / (1 + np.abs(gradient).max())
        short = (self.h - self.problem.times(self.x))[~self.two_sided]
        primal = np.maximum(short, 0).max(initial=0.0) / (1 + np.abs(self.x).max())
        gap = abs(value - dual_value) / max(1.0, abs(value))
        return max(gap, dual, primal), dual_value

    def _step(self) -> None:
        z_s, z_t = self.z_s, self.z_t
        theta = 1 / (self.s / z_s + self.t / z_t + _FLOOR)
        solve = _scaled_solver(self.P + self.problem.weighted_gram(theta))
        r_p = self.h - self.problem.times(self.x) - self.s + self.t
        r_d = self.problem.transposed(self.multipliers) - self.P @ self.x
        count = len(self.h) + int(self.two_sided.sum())
        mu = (self.s @ z_s + self.t @ z_t) / count

        def direction(c_s: Array, c_t: Array) -> tuple[Array, Array, Array, Array]:
            c_s = np.where(self.two_sided, c_s, 0.0)
            target = r_p - c_s / z_s + c_t / z_t
            right = r_d + self.problem.transposed(theta * target)
            dx = solve(right)
            dl = theta * (target - self.problem.times(dx))
            return dx, dl, (c_s + self.s * dl) / z_s, (c_t - self.t * dl) / z_t

        _, dl, ds, dt = direction(-self.s * z_s, -self.t * z_t)
        reach = self._reach(dl, ds, dt, z_s, z_t)
        s, t = self.s + reach * ds, self.t + reach * dt
        ahead = s @ np.where(self.two_sided, z_s - reach * dl, 1.0)
        ahead = (ahead + t @ (z_t + reach * dl)) / count
        center = (ahead / mu) ** 3 * mu
        c_s = center - self.s * z_s + ds * dl
        c_t = center - self.t * z_t - dt * dl
        dx, dl, ds, dt = direction(c_s, c_t)
        reach = 0.995 * self._reach(dl, ds, dt, z_s, z_t)
        self.x = self.x + reach * dx
        self.multipliers = self.multipliers + reach * dl
        self.s, self.t = self.s + reach * ds, self.t + reach * dt
        self.z_s = np.where(self.two_sided, z_s - reach * dl, 1.0)
        self.z_t = z_t + reach * dl

    def _reach(self, dl: Array, ds: Array, dt: Array, z_s: Array, z_t: Array) -> float:
        """Return the longest step, at most 1, that keeps all variables positive."""
        both = self.two_sided
        values = np.concatenate([self.s[both], self.t, z_s[both], z_t])
        change = np.concatenate([ds[both], dt, -dl[both], dl])
        shrinks = change < 0
        return float(np.min(-values[shrinks] / change[shrinks], initial=1.0))


def _scaled_solver(H: Array) -> Callable[[Array], Array]:
    """Return a solver of H x = right: unit diagonal, ridge, and two refinements.

    Near the solution Θ spans many orders of magnitude, which the scaling to a unit
    diagonal removes. The ridge regularizes nearly singular directions; the refinement
    removes its error.
    """
    scale = 1 / np.sqrt(np.diag(H))
    scaled = scale[:, None] * H * scale
    factor = cho_factor(scaled + _RIDGE * np.eye(len(H)), lower=True)

    def solve(right: Array) -> Array:
        right = scale * right
        x = cho_solve(factor, right)
        for _ in range(2):
            x = x + cho_solve(factor, right - scaled @ x)
        return scale * x

    return solve


if TYPE_CHECKING:
    import clarabel
else:
    clarabel = optional("clarabel", "Learning from rules")


def solve_piecewise(
    problem: PiecewiseProblem, tol: float, max_iter: int, tuning: Tuning = DEFAULT
) -> PiecewiseSolution:
    """Solve by the dense or the sparse solver, depending on the shape.

    Clarabel solves it with a sparse factorization. Problems with many dense rows, for
    which that takes minutes instead of seconds, are solved by `lupi._convex.piecewise`.
    """
    equalities = np.isinf(problem.down).any()
    dense = isinstance(problem.data, np.ndarray)
    many = dense and problem.data.size >= tuning.dense_entries
    if many and problem.P.shape[0] <= tuning.dense_variables and not equalities:
        dense_solution = PiecewiseSolution(*DenseInterior(problem).solve(tol, max_iter))
        # It squares the condition number and may fail for columns of very different
        # scales; the sparse solver is slower and does not.
        if dense_solution.converged or dense_solution.n_iter == max_iter - 1:
            return dense_solution
    return _solve_sparse(problem, tol, max_iter)


def _solve_sparse(
    problem: PiecewiseProblem, tol: float, max_iter: int
) -> PiecewiseSolution:
    """Solve by Clarabel in (x, slack), with one slack for each finite cost."""
    up, down = problem.up, problem.down
    equal = np.flatnonzero(np.isinf(up) & np.isinf(down))
    above = np.setdiff1d(np.flatnonzero(up > 0), equal)
    below = np.setdiff1d(np.flatnonzero(down > 0), equal)
    cost = np.concatenate([up[above], down[below]])
    soft = np.flatnonzero(np.isfinite(cost))
    n_x, n_soft = problem.P.shape[0], len(soft)

    G = problem.G
    sides = sp.vstack([G[equal], -G[above], G[below]], format="csc")
    # Each slack occurs in its side and in the constraint that it is not negative.
    place = np.concatenate(
        [len(equal) + soft, len(equal) + len(cost) + np.arange(n_soft)]
    )
    slack = sp.csc_array(
        (np.full(2 * n_soft, -1.0), (place, np.tile(np.arange(n_soft), 2))),
        shape=(sides.shape[0] + n_soft, n_soft),
    )
    sides.resize(slack.shape[0], n_x)
    right = np.concatenate(
        [problem.h[equal], -problem.h[above], problem.h[below], np.zeros(n_soft)]
    )
    P = sp.triu(problem.P, format="csc")
    P.resize(n_x + n_soft, n_x + n_soft)
    cones = [
        clarabel.ZeroConeT(len(equal)),
        clarabel.NonnegativeConeT(len(right) - len(equal)),
    ]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = max_iter
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
    result = clarabel.DefaultSolver(
        P,
        np.concatenate([np.zeros(n_x), cost[soft]]),
        sp.hstack([sides, slack], format="csc"),
        right,
        cones,
        settings,
    ).solve()
    z = np.array(result.z)
    multipliers = np.zeros(len(up))
    multipliers[equal] = -z[: len(equal)]
    multipliers[above] += z[len(equal) :][: len(above)]
    multipliers[below] -= z[len(equal) + len(above) :][: len(below)]
    return PiecewiseSolution(
        x=np.array(result.x)[:n_x],
        multipliers=multipliers,
        dual_value=float(result.obj_val_dual),
        n_iter=int(result.iterations),
        converged=str(result.status) == "Solved",
    )
