"""What the kernel models share: from checked rows to a fitted function, and back.

A model file describes its primal in ``_problem``; this file makes the Gram matrices it
asks for, has the problem solved, and recovers functions, attributes and certificates.
Function 0 of every problem is the decision function; the others are learned on X*.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from .._base import Privileged
from ..convex import (
    SOLVERS,
    Features,
    Function,
    Gram,
    Problem,
    Rows,
    Slack,
    Solution,
    solve,
)
from ..kernels import Kernel, nearest_positive_semidefinite, settle_kernel

__all__ = [
    "Data",
    "KernelMachine",
    "Model",
    "Space",
    "not_negative",
    "one_of",
    "positive",
]

# From here on linear kernels are solved in feature space, where a step costs n·p².
LINEAR_ROWS = 2000
SUPPORT = UNFELT = 1e-8


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

    def __call__(self, rows: Any) -> np.ndarray:
        if len(self.coefficients) == 0:
            return np.full(rows.shape[0], self.bias)
        if self.kernel.name == "linear":
            return np.asarray(rows @ self.coefficients).ravel() + self.bias
        if self.kernel.name == "precomputed":
            return rows[:, self.rows] @ self.coefficients + self.bias
        return self.kernel.between(rows, self.rows) @ self.coefficients + self.bias


@dataclass
class Model:
    """One fitted machine: its decision function, its corrections, its certificate."""

    decision: Expansion
    corrections: list[Expansion]
    positions: np.ndarray
    dual_coef: np.ndarray
    objective: float
    duality_gap: float
    n_iter: int
    converged: bool


class Space:
    """The rows of one space that a machine trains on."""

    def __init__(self, kernel: Kernel, rows: Any, positions: np.ndarray):
        self.kernel, self.positions = kernel, positions
        self.rows = rows

    @cached_property
    def _checked(self) -> tuple[np.ndarray, np.ndarray | None]:
        if self.kernel.name == "precomputed":
            gram = np.ascontiguousarray(_dense(self.rows)[:, self.positions])
        else:
            gram = self.kernel.gram(self.rows)
        if self.kernel.is_positive:
            return gram, None
        return nearest_positive_semidefinite(0.5 * (gram + gram.T))

    @property
    def gram(self) -> Gram:
        return Gram(self._checked[0])

    @property
    def features(self) -> Features:
        return Features(self.rows)

    def in_kernel(self, coefficients: np.ndarray) -> np.ndarray:
        """Coefficients in the kernel itself, where the Gram matrix was projected."""
        if "_checked" in self.__dict__ and self._checked[1] is not None:
            return self._checked[1] @ coefficients
        return coefficients

    def expand(self, coefficients: np.ndarray, bias: float) -> Expansion:
        """The learned function, kept on the rows that carry it."""
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

    ``target`` is ±1 or real, ``cost`` is C per row, ``has`` and ``lacks`` are the rows
    with and without X* (``has`` is None when every row has it).
    """

    target: np.ndarray
    cost: np.ndarray
    decision: Space
    privileged: list[Space]
    has: np.ndarray | None
    lacks: np.ndarray
    in_features: bool

    @property
    def n_rows(self) -> int:
        return len(self.target)

    @property
    def with_privileged(self) -> bool:
        return bool(self.privileged)

    def of_has(self, vector: np.ndarray) -> np.ndarray:
        """The entries of the rows that have X*."""
        return vector if self.has is None else vector[self.has]

    def space(self, which: Space) -> Gram | Features:
        """The rows of a space as the solver takes them."""
        return which.features if self.in_features else which.gram

    def with_constant(self, which: Space) -> Gram | Features:
        """The space with a constant feature added, as penalised as the others."""
        if not self.in_features:
            return Gram(which.gram.matrix + 1.0)
        ones = np.ones((which.rows.shape[0], 1))
        stack = sp.hstack if sp.issparse(which.rows) else np.hstack
        rows = stack([which.rows, ones])
        return Features(rows.tocsr() if sp.issparse(rows) else rows)

    def decision_function(self) -> Function:
        """``w·x + b`` with weight 1."""
        return Function(self.space(self.decision), 1.0, np.ones(self.n_rows))

    def correcting_function(
        self, which: int, weight: float, cost: np.ndarray | None = None
    ) -> Function:
        """``w*·x* + b*`` on the rows that have X*, with its weight and linear cost."""
        space = self.space(self.privileged[which])
        return Function(space, weight, np.ones(space.size), cost, self.has)

    def hinge_without_privileged(self) -> list[Rows]:
        """``y f ≥ 1 − ξ`` at cost C for the rows that lack X*."""
        rows, y = self.lacks, self.target[self.lacks]
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


class KernelMachine:
    """Mixin for estimators with a kernel for X and one or more for X*.

    ``_spaces`` lists the parameter prefixes of the kernels on X*; a model that learns
    two functions there names two.
    """

    _spaces: tuple[str, ...] = ("privileged_",)
    # From how many rows on linear kernels are solved in feature space.
    _feature_rows = LINEAR_ROWS
    # Whether a constant is added to every kernel instead of a free bias.
    _bias_in_kernel = False
    # Which of these spaces each of the functions 1, 2, ... lives in.
    _functions: tuple[int, ...] = (0,)

    # --------------------------------------------------------------- checks
    _positive: tuple[str, ...] = ("C", "tol", "privileged_reg")

    def _check_parameters(self) -> None:
        positive(self, *self._positive)
        if hasattr(self, "delta"):
            not_negative(self, "delta")
        if self.solver not in SOLVERS:
            raise ValueError(
                f"solver must be one of {', '.join(map(repr, SOLVERS))}, got "
                f"{self.solver!r}."
            )

    def _settle(self, prefix: str, rows: Any, weight: np.ndarray) -> Kernel:
        values = [
            getattr(self, prefix + name)
            for name in ("kernel", "gamma", "degree", "coef0")
        ]
        return settle_kernel(*values, rows, weight, prefix=prefix)

    def _begin(self, training: Any) -> None:
        X, n_rows = training.X, training.n_rows
        self._kernel = self._settle("", X, training.weight)
        if self._kernel.name == "precomputed" and X.shape[1] != n_rows:
            raise ValueError(
                f"With kernel='precomputed', X must be the square matrix of kernel "
                f"values of the training rows; got shape {X.shape}."
            )
        self._privileged_kernels: list[Kernel] = []
        privileged = training.privileged
        if privileged is None:
            return
        for prefix in self._spaces:
            kernel = self._settle(
                prefix, privileged.values, training.weight[privileged.rows]
            )
            if kernel.name == "precomputed" and privileged.values.shape[1] != n_rows:
                raise ValueError(
                    f"With {prefix}kernel='precomputed', privileged must be the square "
                    f"matrix of kernel values of all {n_rows} training rows; got "
                    f"{privileged.n_rows} rows of {privileged.values.shape[1]} values. "
                    "Cross-validation slices rows only: give it the privileged "
                    "features and a kernel name instead."
                )
            self._privileged_kernels.append(kernel)

    # ------------------------------------------------------------------ fit
    def _problem(self, data: Data) -> Problem:
        """The primal of the model, as data."""
        raise TypeError(f"{type(self).__name__} does not define _problem.")

    def _data(
        self,
        X: Any,
        target: np.ndarray,
        privileged: Privileged | None,
        weight: np.ndarray,
        rows: np.ndarray,
    ) -> Data:
        kernels = self._privileged_kernels if privileged is not None else []
        if privileged is None:
            has, lacks = np.arange(0), np.arange(len(target))
        elif privileged.complete:
            has, lacks = None, np.arange(0)
        else:
            has, lacks = privileged.rows, np.flatnonzero(~privileged.available)
        linear = all(k.name == "linear" for k in (self._kernel, *kernels))
        return Data(
            target=target,
            cost=self.C * weight,
            decision=Space(self._kernel, X, rows),
            privileged=[
                Space(kernel, privileged.values, rows[privileged.rows])
                for kernel in kernels
            ],
            has=has,
            lacks=lacks,
            in_features=linear
            and self.solver == "auto"
            and len(target) >= self._feature_rows,
        )

    def _fit_machine(self, X, target, privileged, weight, *, rows) -> Model:
        data = self._data(X, target, privileged, weight, rows)
        return self._recover(data, self._solve(self._problem(data)))

    def _solve(self, problem: Problem) -> Solution:
        """Solve with the parameters of the estimator; say so if it did not end well."""
        solution = solve(
            problem, solver=self.solver, tol=self.tol, max_iter=self.max_iter
        )
        if not solution.converged:
            warnings.warn(
                f"{type(self).__name__} stopped after {solution.n_iter} iterations at "
                f"a relative duality gap of {solution.relative_gap:.2g} (tol="
                f"{self.tol:g}); the best iterate is kept. Scale the features, use a "
                "less extreme C, or raise max_iter.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return solution

    _fit_binary = _fit_machine
    _fit_real = _fit_machine

    def _recover(self, data: Data, solution: Solution) -> Model:
        functions = solution.problem.functions
        expansions, dual = [], None
        spaces = [data.decision]
        if data.with_privileged:
            spaces += [data.privileged[which] for which in self._functions]
        for k, space in enumerate(spaces):
            coefficients = carried(solution, k, data.cost)
            coefficients = space.in_kernel(coefficients)
            dual = coefficients if dual is None else dual
            bias = solution.bias(k)
            if self._bias_in_kernel:
                bias = coefficients.sum() / functions[k].weight
            if data.in_features:
                weights = solution.weights[k][: space.rows.shape[1]]
                expansions.append(Expansion(space.kernel, None, weights, bias))
            else:
                expansions.append(
                    space.expand(coefficients / functions[k].weight, bias)
                )
        return Model(
            decision=expansions[0],
            corrections=expansions[1:],
            positions=data.decision.positions,
            dual_coef=dual,
            objective=solution.primal_value,
            duality_gap=solution.duality_gap,
            n_iter=solution.n_iter,
            converged=solution.converged,
        )

    # ----------------------------------------------------------- attributes
    def _collect(self, models: list[Model], problems: Any, training: Any) -> None:
        n_rows = training.n_rows
        dual = np.zeros((len(models), n_rows))
        for line, model in zip(dual, models, strict=True):
            line[model.positions] = model.dual_coef
        self.support_ = np.flatnonzero((dual != 0).any(axis=0))
        self.dual_coef_ = dual[:, self.support_]
        precomputed = self._kernel.name == "precomputed"
        self.support_vectors_ = (
            np.empty((0, 0)) if precomputed else training.X[self.support_]
        )
        self.intercept_ = np.array([model.decision.bias for model in models])
        if self._kernel.name == "linear":
            self.coef_ = np.asarray(self.dual_coef_ @ training.X[self.support_])
        elif hasattr(self, "coef_"):
            del self.coef_
        for name in ("objective", "duality_gap", "n_iter", "converged"):
            values = np.array([getattr(model, name) for model in models])
            setattr(self, f"{name}_", values[0].item() if len(models) == 1 else values)

    def correction(self, privileged: Any) -> np.ndarray:
        """The learned function on privileged rows, ``w*·x* + b*``.

        Parameters
        ----------
        privileged : array-like, sparse matrix or DataFrame
            Privileged rows of the width used in ``fit``.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_functions)
            NaN for rows that are NaN. One column per learned function and per binary
            problem where there is more than one.
        """
        read = self._validate_privileged(privileged)
        n_rows = (
            len(privileged)
            if not hasattr(privileged, "shape")
            else (privileged.shape[0])
        )
        functions = [c for model in self._models for c in model.corrections]
        values = np.full((n_rows, len(functions)), np.nan)
        if read is not None:
            for column, function in enumerate(functions):
                values[read.rows, column] = function(read.values)
        return values[:, 0] if len(functions) == 1 else values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags


def carried(solution: Solution, k: int, cost: np.ndarray) -> np.ndarray:
    """The coefficients of function k, with those that carry nothing set to zero.

    That is below 1e-8 of the largest. Where large coefficients nearly cancel, even such
    small ones can be felt: they stay if the objective would change by a relative 1e-8.
    """
    coefficients = solution.expansion(k)
    space = solution.problem.functions[k].space
    size = np.abs(coefficients)
    for threshold in (SUPPORT, 1e-3 * SUPPORT, 1e-6 * SUPPORT):
        small = size <= threshold * size.max(initial=0.0)
        if not coefficients[small].any():
            return np.where(small, 0.0, coefficients)
        change = space.apply(np.where(small, coefficients, 0.0))
        if np.abs(change).max() * cost.sum() <= UNFELT * solution.scale:
            return np.where(small, 0.0, coefficients)
    return coefficients


def positive(estimator: Any, *names: str) -> None:
    """Refuse parameters that are not positive numbers, by name."""
    for name in names:
        value = getattr(estimator, name)
        try:
            good = np.isfinite(value) and value > 0
        except TypeError:
            good = False
        if not good:
            raise ValueError(
                f"{name} must be a positive number, got {value!r} in "
                f"{type(estimator).__name__}."
            )


def not_negative(estimator: Any, name: str) -> None:
    """Refuse a parameter that is not a number from zero upwards."""
    value = getattr(estimator, name)
    try:
        good = np.isfinite(value) and value >= 0
    except TypeError:
        good = False
    if not good:
        raise ValueError(
            f"{name} must be a number that is not negative, got {value!r} in "
            f"{type(estimator).__name__}."
        )


def one_of(estimator: Any, name: str, choices: tuple[str, ...]) -> None:
    """Refuse a parameter that is none of the choices."""
    value = getattr(estimator, name)
    if value not in choices:
        raise ValueError(
            f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r} in "
            f"{type(estimator).__name__}."
        )


def _dense(rows: Any) -> np.ndarray:
    return rows.toarray() if sp.issparse(rows) else rows
