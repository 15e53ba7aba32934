"""Quadratic plus piecewise linear losses: the problem as data, and its solvers.

    min  ½ xᵀP x + Σ_r ( up_r [h_r - G_r x]₊ + down_r [G_r x - h_r]₊ )

An infinite cost is a constraint: G_r x >= h_r for `up`, G_r x <= h_r for `down`,
equality for both. The dual has one multiplier per row, in a box:

    max  h·λ - ½ xᵀP x    s.t.  P x = Gᵀλ,   -down <= λ <= up.

Clarabel solves it, with a sparse factorization; unless there are many dense rows, on
which that would take minutes instead of seconds: see `lupi._convex.piecewise.dense`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lupi._convex.piecewise.dense import DenseInterior
from lupi._optional import optional

if TYPE_CHECKING:
    import clarabel
else:
    clarabel = optional("clarabel", "Learning from rules")

Array = NDArray[np.float64]


def diagonal(values: Array) -> Any:
    """A sparse diagonal matrix (scipy's own constructor is newer than our oldest)."""
    size = len(values)
    return sp.dia_array((values[None, :], [0]), shape=(size, size))


# Entries of a dense block from which on its products are worth a solver of their own,
# and the size of x up to which a dense factor is.
_MANY_ENTRIES, _MANY_VARIABLES = 20_000, 6_000


@dataclass(frozen=True)
class PiecewiseProblem:
    """The problem on top of this file.

    G is stored in two parts: `data`, dense or sparse, the first rows, which use the
    first variables only, and `rest`, sparse, all other rows. P is sparse.
    """

    P: Any
    data: Any
    rest: Any
    h: Array
    up: Array
    down: Array

    @property
    def G(self) -> Any:
        """All rows, as one sparse matrix."""
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
        """Compute the objective, constraints left out."""
        short = self.h - self.times(x)
        up = np.where(np.isinf(self.up), 0.0, self.up)
        down = np.where(np.isinf(self.down), 0.0, self.down)
        losses = up @ np.maximum(short, 0) + down @ np.maximum(-short, 0)
        return float(0.5 * x @ (self.P @ x) + losses)


@dataclass(frozen=True)
class PiecewiseSolution:
    """x, the multipliers λ, and what the solver says of them."""

    x: Array
    multipliers: Array
    dual_value: float
    n_iter: int
    converged: bool


def solve_piecewise(
    problem: PiecewiseProblem, tol: float, max_iter: int
) -> PiecewiseSolution:
    """Solve with what suits the shape of the problem."""
    equalities = np.isinf(problem.down).any()
    dense = isinstance(problem.data, np.ndarray) and problem.data.size >= _MANY_ENTRIES
    if dense and problem.P.shape[0] <= _MANY_VARIABLES and not equalities:
        found = PiecewiseSolution(*DenseInterior(problem).solve(tol, max_iter))
        # Squared condition numbers can be too much for it, on columns of very
        # different scales; the sparse solver is slower and forms no squares.
        if found.converged or found.n_iter == max_iter - 1:
            return found
    return _solve_sparse(problem, tol, max_iter)


def _solve_sparse(
    problem: PiecewiseProblem, tol: float, max_iter: int
) -> PiecewiseSolution:
    """Clarabel, in (x, slack): each finite cost gets a slack of its own."""
    up, down = problem.up, problem.down
    equal = np.flatnonzero(np.isinf(up) & np.isinf(down))
    above = np.setdiff1d(np.flatnonzero(up > 0), equal)
    below = np.setdiff1d(np.flatnonzero(down > 0), equal)
    cost = np.concatenate([up[above], down[below]])
    soft = np.flatnonzero(np.isfinite(cost))
    n_x, n_soft = problem.P.shape[0], len(soft)

    G = problem.G
    sides = sp.vstack([G[equal], -G[above], G[below]], format="csc")
    # A slack enters its side and must not be negative.
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
