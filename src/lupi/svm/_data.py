"""The rows of a binary or real problem as the model files see them.

From checked rows to Gram matrices or features on the way in, from coefficients to
functions on the way out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from lupi._convex import Features, Function, Gram, Rows, Slack, Solution
from lupi._convex.linalg import diagonal, shifted
from lupi._device import HOST, Place, evaluate
from lupi._stored import stored
from lupi.base._rows import dense
from lupi.kernels import Kernel, nearest_positive_semidefinite

__all__ = ["Data", "Expansion", "Space", "learned"]

SUPPORT = UNFELT = 1e-8
# Products of three such values are still numbers.
LARGEST = 1e100
# How exact a constant of 1 must be beside the values of a kernel.
LOST = 1e-3


@stored
@dataclass(frozen=True)
class Expansion:
    """A function ``Σ_j coefficient_j k(row_j, ·) + bias`` of one space.

    ``rows`` are the rows j, or their positions for a precomputed kernel. A linear
    kernel needs none: the coefficients are then the weights of the features.
    """

    kernel: Kernel
    rows: Any
    coefficients: np.ndarray
    bias: float

    def __call__(self, rows: Any, device: str = "cpu") -> np.ndarray:
        if len(self.coefficients) == 0:
            return np.full(rows.shape[0], self.bias)
        if self.kernel.name == "linear":
            return np.asarray(rows @ self.coefficients).ravel() + self.bias
        if self.kernel.name == "precomputed":
            return rows[:, self.rows] @ self.coefficients + self.bias
        if device != "cpu" and not callable(self.kernel.name):
            given = device, self.kernel, rows, self.rows, self.coefficients
            return evaluate(*given) + self.bias
        return self.kernel.between(rows, self.rows) @ self.coefficients + self.bias


class Space:
    """The rows of one space that a machine trains on."""

    def __init__(
        self, kernel: Kernel, rows: Any, positions: np.ndarray, place: Place = HOST
    ):
        self.kernel, self.positions = kernel, positions
        self.rows, self.place = rows, place

    @cached_property
    def _checked(self) -> tuple[Any, np.ndarray | None]:
        place = self.place
        if place.device != "cpu" and self.kernel.is_positive:
            return place.gram(self.kernel, self.rows), None
        gram, projection = self._on_host()
        return place.moved(gram), projection

    def _on_host(self) -> tuple[np.ndarray, np.ndarray | None]:
        if self.kernel.name == "precomputed":
            gram = np.ascontiguousarray(dense(self.rows)[:, self.positions])
        else:
            gram = self.kernel.gram(self.rows)
        if self.kernel.is_positive:
            return gram, None
        return nearest_positive_semidefinite(0.5 * (gram + gram.T))

    @cached_property
    def largest(self) -> float:
        """The largest k(x, x) of the rows."""
        if "_checked" in self.__dict__:
            return float(diagonal(self._checked[0]).max(initial=0.0))
        with np.errstate(over="ignore"):
            squares = (
                self.rows.multiply(self.rows)
                if sp.issparse(self.rows)
                else (self.rows**2)
            )
            return float(np.asarray(squares.sum(axis=1)).max(initial=0.0))

    @property
    def gram(self) -> Gram:
        gram = Gram(self._checked[0])
        self._check_size()
        return gram

    @property
    def features(self) -> Features:
        self._check_size()
        return Features(self.rows, self.place.device)

    def _check_size(self) -> None:
        """Refuse values whose products the solvers could not represent."""
        if not self.largest <= LARGEST:
            raise ValueError(
                f"The kernel of a row with itself is up to {self.largest:.3g} here; "
                f"the solvers take values up to {LARGEST:g}. Scale the features, for "
                "instance with sklearn.preprocessing.StandardScaler."
            )

    def in_kernel(self, coefficients: np.ndarray) -> np.ndarray:
        """Coefficients in the kernel itself, where the Gram matrix was projected."""
        if "_checked" in self.__dict__ and self._checked[1] is not None:
            return self._checked[1] @ coefficients
        return coefficients

    def expand(self, coefficients: np.ndarray, bias: float) -> Expansion:
        """Return the learned function, kept on its support vectors."""
        if self.kernel.name == "linear":
            weights = np.asarray(self.rows.T @ coefficients).ravel()
            return Expansion(self.kernel, None, weights, bias)
        kept = np.flatnonzero(coefficients)
        if self.kernel.name == "precomputed":
            rows = self.positions[kept]
        else:
            rows = self.rows[kept]
        return Expansion(self.kernel, rows, coefficients[kept], bias)


@dataclass
class Data:
    """One problem's rows as a model file sees them.

    ``target`` is ±1 or real, ``weight`` multiplies a cost per row, ``cost`` is C times
    that. ``privileged_rows`` are the rows that have X*, None when every row has it.
    ``extra`` is what else the model was given for each row.
    """

    target: np.ndarray
    weight: np.ndarray
    cost: np.ndarray
    decision: Space
    privileged: list[Space]
    privileged_rows: np.ndarray | None
    in_features: bool
    extra: Mapping[str, np.ndarray] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        return len(self.target)

    @property
    def with_privileged(self) -> bool:
        return bool(self.privileged)

    @cached_property
    def other_rows(self) -> np.ndarray:
        """The rows without X*."""
        if self.privileged_rows is None:
            return np.arange(0)
        return np.setdiff1d(np.arange(self.n_rows), self.privileged_rows)

    def on_privileged(self, vector: np.ndarray) -> np.ndarray:
        """Return the entries of the rows that have X*."""
        rows = self.privileged_rows
        return vector if rows is None else vector[rows]

    def space(self, which: Space) -> Gram | Features:
        """Return the rows of a space as the solver takes them."""
        return which.features if self.in_features else which.gram

    def with_constant(self, which: Space) -> Gram | Features:
        """Return the space with a constant feature added, penalized as the others."""
        if not self.in_features:
            gram = which.gram.matrix
            if np.finfo(float).eps * which.largest > LOST:
                raise ValueError(
                    "The bias is a constant of 1 in the kernel here, and kernel values "
                    f"of up to {which.largest:.3g} leave nothing of it. Scale the "
                    "features, for instance with sklearn.preprocessing.StandardScaler."
                )
            return Gram(shifted(gram, 1.0))
        ones = np.ones((which.rows.shape[0], 1))
        stack = sp.hstack if sp.issparse(which.rows) else np.hstack
        rows: Any = stack([which.rows, ones])
        rows = rows.tocsr() if sp.issparse(rows) else rows
        return Features(rows, which.place.device)

    def decision_function(self) -> Function:
        """``w·x + b`` with weight 1."""
        return Function(self.space(self.decision), 1.0, np.ones(self.n_rows))

    def correcting_function(
        self, which: int, weight: float, cost: np.ndarray | None = None
    ) -> Function:
        """``w*·x* + b*`` on the rows that have X*, with its weight and linear cost."""
        space = self.space(self.privileged[which])
        return Function(space, weight, np.ones(space.size), cost, self.privileged_rows)

    def plain_hinge(self) -> list[Rows]:
        """``y f ≥ 1 − ξ`` at cost C for the rows that lack X*."""
        rows, y = self.other_rows, self.target[self.other_rows]
        if not len(rows):
            return []
        return [
            Rows(
                {0: y},
                np.ones(len(rows)),
                rows if self.with_privileged else None,
                Slack(linear=self.cost[rows]),
            )
        ]


def learned(
    solution: Solution,
    k: int,
    space: Space,
    cost: np.ndarray,
    *,
    in_features: bool,
    constant: bool = False,
) -> tuple[np.ndarray, Expansion]:
    """Return the coefficients of function k on the rows of a space, and the function.

    In feature space the function is the weights that the solver found, which the
    multipliers reproduce only up to the duality gap. ``constant``: the bias is the
    weight of a constant feature.
    """
    function, bias = solution.problem.functions[k], solution.bias(k)
    if in_features:
        every: Any = solution.weights
        width = space.rows.shape[1]
        if constant:
            bias = float(every[k][width])
        multiplied = carried(solution, k, solution.coefficients[k], cost)
        return multiplied, Expansion(space.kernel, None, every[k][:width], bias)
    expanded = carried(solution, k, solution.expansion(k), cost)
    expanded = space.in_kernel(expanded)
    if constant:
        bias = expanded.sum() / function.weight
    return expanded, space.expand(expanded / function.weight, bias)


def carried(
    solution: Solution, k: int, coefficients: np.ndarray, cost: np.ndarray
) -> np.ndarray:
    """Coefficients of function k, with those that carry nothing set to zero.

    That is below 1e-8 of the largest. Where large coefficients nearly cancel, even such
    small ones can be felt: they stay if the objective would change by a relative 1e-8.
    """
    space: Any = solution.problem.functions[k].space
    size = np.abs(coefficients)
    for threshold in (SUPPORT, 1e-3 * SUPPORT, 1e-6 * SUPPORT):
        small = size <= threshold * size.max(initial=0.0)
        if not coefficients[small].any():
            return np.where(small, 0.0, coefficients)
        change = space.apply(np.where(small, coefficients, 0.0))
        if np.abs(change).max() * cost.sum() <= UNFELT * abs(solution.primal_value):
            return np.where(small, 0.0, coefficients)
    return coefficients
