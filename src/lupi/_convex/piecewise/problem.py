"""Quadratic problems with piecewise linear losses.

    min  ½ xᵀP x + Σ_r ( up_r [h_r - G_r x]₊ + down_r [G_r x - h_r]₊ )

An infinite cost is a constraint: G_r x >= h_r for `up`, G_r x <= h_r for `down`,
equality for both. The dual has one multiplier per row, in a box:

    max  h·λ - ½ xᵀP x    s.t.  P x = Gᵀλ,   -down <= λ <= up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Array = NDArray[np.float64]


def diagonal(values: Array) -> Any:
    """Return a sparse diagonal matrix; the oldest supported SciPy has no function."""
    size = len(values)
    return sp.dia_array((values[None, :], [0]), shape=(size, size))


@dataclass(frozen=True)
class PiecewiseProblem:
    """The problem of the module docstring.

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
