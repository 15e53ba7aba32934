"""`Data`, from which the model files build their problems, and `Expansion`, a solution.

Checked rows become Gram matrices or features; the coefficients of a solution become
functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import row_norms

from lupi._convex import Features, Function, Gram, Rows, Slack, Solution
from lupi._convex.linalg import diagonal, shifted
from lupi._device import HOST, Place, evaluate
from lupi._stored import must_fit, stored
from lupi.base._rows import dense
from lupi.kernels import Kernel, nearest_positive_semidefinite

__all__ = ["Data", "Expansion", "Space", "learned"]

# Relative change of the objective that is negligible.
NEGLIGIBLE = 1e-8
# Products of three such values do not overflow.
LARGEST = 1e100
# Largest relative rounding error of a constant of 1 that is added to kernel values.
CONSTANT_ERROR = 1e-3


@stored
@dataclass(frozen=True)
class Expansion:
    """A function ``Σ_j coefficient_j k(row_j, ·) + bias`` of one space.

    ``rows`` are the rows j, or their positions for a precomputed kernel. For a linear
    kernel they are None, and the coefficients are the weights of the features.
    """

    kernel: Kernel
    rows: Any
    coefficients: np.ndarray
    bias: float

    def _check_state(self) -> None:
        """Compare the coefficients with the rows."""
        linear, precomputed = (self.kernel.name == n for n in ("linear", "precomputed"))
        must_fit(
            np.shape(self.bias) == ()
            and np.ndim(self.coefficients) == 1
            and (linear or self.rows.shape[0] == len(self.coefficients))
            and not (precomputed and np.any(self.rows < 0)),
            "a function",
        )

    def takes(self, width: int) -> bool:
        """Return whether it is a function of rows of this many columns."""
        if len(self.coefficients) == 0:
            return True
        if self.kernel.name == "precomputed":
            return bool(np.all(self.rows < width))
        weights = self.coefficients if self.rows is None else self.rows
        return weights.shape[-1] == width

    def __call__(self, rows: Any, device: str = "cpu") -> np.ndarray:
        if len(self.coefficients) == 0:
            return np.full(rows.shape[0], self.bias)
        if self.kernel.name == "linear":
            return np.asarray(rows @ self.coefficients).ravel() + self.bias
        if self.kernel.name == "precomputed":
            return rows[:, self.rows] @ self.coefficients + self.bias
        if device != "cpu" and not callable(self.kernel.name):
            values = evaluate(device, self.kernel, rows, self.rows, self.coefficients)
            return values + self.bias
        return self.kernel.between(rows, self.rows) @ self.coefficients + self.bias


class Space:
    """The training rows of one machine in one space."""

    def __init__(
        self, kernel: Kernel, rows: Any, positions: np.ndarray, place: Place = HOST
    ):
        self.kernel, self.positions = kernel, positions
        self.rows, self.place = rows, place

    @cached_property
    def _gram_and_projection(self) -> tuple[Any, np.ndarray | None]:
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
        if "_gram_and_projection" in self.__dict__:
            return float(diagonal(self._gram_and_projection[0]).max(initial=0.0))
        with np.errstate(over="ignore"):
            return float(row_norms(self.rows, squared=True).max(initial=0.0))

    @property
    def gram(self) -> Gram:
        gram = Gram(self._gram_and_projection[0])
        self._check_size()
        return gram

    @property
    def features(self) -> Features:
        self._check_size()
        return Features(self.rows, self.place.device)

    def _check_size(self) -> None:
        """Refuse values whose products overflow in the solvers."""
        if not self.largest <= LARGEST:
            raise ValueError(
                f"The kernel of a row with itself is up to {self.largest:.3g} here; "
                f"the solvers take values up to {LARGEST:g}. Scale the features, for "
                "instance with sklearn.preprocessing.StandardScaler."
            )

    def in_kernel(self, coefficients: np.ndarray) -> np.ndarray:
        """Convert coefficients of a projected Gram matrix into those of the kernel."""
        _, projection = self.__dict__.get("_gram_and_projection", (None, None))
        return coefficients if projection is None else projection @ coefficients

    def expand(self, coefficients: np.ndarray, bias: float) -> Expansion:
        """Return the learned function as an expansion in its support vectors."""
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
    """The rows of one problem, from which ``_problem`` builds the primal.

    ``target`` is ±1 or real, ``weight`` holds the sample weights (times the class
    weights), ``cost`` is C times that. ``privileged_rows`` are the rows that have X*,
    None if all rows have it. ``extra`` holds other arguments of ``fit`` per row.
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
        """Return the features or the Gram matrix of a space."""
        return which.features if self.in_features else which.gram

    def with_constant(self, which: Space) -> Gram | Features:
        """Return the space with a constant feature, penalized like the others."""
        if not self.in_features:
            gram = which.gram.matrix
            if np.finfo(float).eps * which.largest > CONSTANT_ERROR:
                raise ValueError(
                    "The bias is a constant of 1 that is added to the kernel, and is "
                    f"lost to rounding: kernel values reach {which.largest:.3g}. Scale "
                    "the features, for instance with "
                    "sklearn.preprocessing.StandardScaler."
                )
            return Gram(shifted(gram, 1.0))
        ones = np.ones((which.rows.shape[0], 1))
        stack = sp.hstack if sp.issparse(which.rows) else np.hstack
        rows: Any = stack([which.rows, ones])
        rows = rows.tocsr() if sp.issparse(rows) else rows
        return Features(rows, which.place.device)

    def decision_function(self) -> Function:
        """Return ``w·x + b`` with weight 1."""
        return Function(self.space(self.decision), 1.0, np.ones(self.n_rows))

    def correcting_function(
        self, which: int, weight: float, cost: np.ndarray | None = None
    ) -> Function:
        """Return ``w*·x* + b*`` on the rows with X*, with weight and linear cost."""
        space = self.space(self.privileged[which])
        return Function(space, weight, np.ones(space.size), cost, self.privileged_rows)

    def plain_hinge(self) -> list[Rows]:
        """Return ``y f ≥ 1 − ξ`` at cost C for the rows without X*."""
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
    *,
    tol: float,
    in_features: bool,
    constant: bool = False,
) -> tuple[np.ndarray, Expansion, Solution]:
    """Return the coefficients of function k on the rows of a space, and the function.

    The third value is the solution with this function, whose certificate is that of the
    stored model. Its objective differs by at most a relative 1e-8, and a gap of at most
    a relative `tol` remains one, unless rounding errors of the function exceed that. In
    feature space the function is given by the primal weights of the solver, which the
    multipliers reproduce only up to the duality gap. ``constant``: the bias is the
    weight of a constant feature.
    """
    function, bias = solution.problem.functions[k], solution.bias(k)
    value = abs(solution.primal_value)
    allowed = NEGLIGIBLE * value
    if solution.is_optimal(tol):
        allowed = min(allowed, tol * value - solution.duality_gap)
    if in_features:
        weights: Any = solution.weights
        width = space.rows.shape[1]
        if constant:
            bias = float(weights[k][width])
        found = Expansion(space.kernel, None, weights[k][:width], bias)
        return solution.support(k, allowed), found, solution
    coefficients = solution.expansion(k, allowed)
    stored = solution.with_function(k, coefficients)
    coefficients = space.in_kernel(coefficients)
    if constant:
        bias = coefficients.sum() / function.weight
    return coefficients, space.expand(coefficients / function.weight, bias), stored
