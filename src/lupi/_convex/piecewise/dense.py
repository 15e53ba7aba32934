"""Interior-point method for many dense rows.

The problem of `lupi._convex.piecewise`, with slacks for both sides of every row,

    min ½ xᵀP x + up·s + down·t    s.t.  G x + s - t = h,   s, t >= 0,

has the multipliers λ of the equality, up - λ >= 0 of s and down + λ >= 0 of t. Every
Newton step reduces to (P + Gᵀ Θ G) dx = … with Θ diagonal, and one Cholesky factor of
the size of x. For dense rows the products of matrices are much faster than a sparse
factorization. A row with infinite `up` has no s. The sparse solver handles equalities.

The method of `lupi._convex.interior` does not apply to this problem: it has one weight
per function where P is a matrix here, one unpenalized variable per function where many
(the proofs of the rules) are unpenalized here, and no G with a dense and a sparse part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

Array = NDArray[np.float64]
# Steps without progress, because of rounding errors, after which the method stops.
_PATIENCE = 10
_RIDGE = 1e-13
# Θ, and the errors of dx, would be unbounded as slacks and multipliers vanish. This
# lower bound of 1/Θ leaves a residual of that times dλ, which the next step removes.
_FLOOR = 1e-9


class DenseInterior:
    """Mehrotra's predictor-corrector method for a `PiecewiseProblem`."""

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
