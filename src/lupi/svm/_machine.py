"""What the kernel models share: from checked rows to a fitted function, and back.

A model file describes its primal in ``_problem``; this file makes the Gram matrices it
asks for, has the problem solved, and recovers functions, attributes and certificates.
Function 0 of every problem is the decision function; the others are learned on X*.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lupi._convex import Problem, Solution, one_thread, solve
from lupi.base import Privileged
from lupi.kernels import Kernel, settle_kernel
from lupi.svm._data import Data, Expansion, Space, learned
from lupi.svm._parameters import check_parameters

__all__ = ["KernelMachine", "Model", "n_rows_of"]

# From here on linear kernels are solved in feature space, where a step costs n·p².
LINEAR_ROWS = 2000


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


class KernelMachine:
    """Mixin for estimators with a kernel for X and one or more for X*.

    ``_spaces`` lists the parameter prefixes of the kernels on X*; a model that learns
    two functions there names two.
    """

    if TYPE_CHECKING:
        # What the estimators bring along.
        C: float
        kernel: Any
        solver: str
        tol: float
        max_iter: int
        _models: Any
        _validate_privileged: Any

    _spaces: tuple[str, ...] = ("privileged_",)
    # From how many rows on linear kernels are solved in feature space.
    _feature_rows = LINEAR_ROWS
    # Whether a constant is added to every kernel instead of a free bias.
    _bias_in_kernel = False
    # Which of these spaces each of the functions 1, 2, ... lives in.
    _functions: tuple[int, ...] = (0,)
    # Which trivial solutions are told of: see `_trivial`.
    _trivial: tuple[Callable[[object, Data, Solution], None], ...] = ()

    # --------------------------------------------------------------- checks
    def _check_parameters(self) -> None:
        check_parameters(self)

    def _settle(self, prefix: str, rows: Any, weight: np.ndarray) -> Kernel:
        kernel, gamma, degree, coef0 = (
            getattr(self, prefix + name)
            for name in ("kernel", "gamma", "degree", "coef0")
        )
        return settle_kernel(kernel, gamma, degree, coef0, rows, weight, prefix=prefix)

    def _begin(self, training: Any) -> None:
        X, n_rows = training.X, training.n_rows
        self._kernel = self._settle("", X, training.weight)
        if self._kernel.name == "precomputed" and X.shape[1] != n_rows:
            raise ValueError(
                f"With kernel='precomputed', X must be the square matrix of kernel "
                f"values of the training rows; got shape {X.shape}."
            )
        self._privileged_kernels: list[Kernel] = []
        # Rows of weight zero are as good as absent: no X* may be left with them.
        counted = training.counted()
        privileged = counted.privileged
        if privileged is None:
            return
        weight = counted.weight[privileged.rows]
        for prefix in self._spaces:
            kernel = self._settle(prefix, privileged.values, weight)
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
        has: np.ndarray | None
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
            privileged=[]
            if privileged is None
            else [
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
        # Kernels gain little from threads, whose waiting would take the cores from
        # those of the solver.
        with one_thread():
            problem = self._problem(data)
        return self._recover(data, self._solve(problem))

    def _solve(self, problem: Problem) -> Solution:
        """Solve with the parameters of the estimator; say so if it did not end well."""
        solution = solve(
            problem, solver=self.solver, tol=self.tol, max_iter=self.max_iter
        )
        if not solution.converged:
            self._warn_of_the_gap(solution)
        return solution

    def _warn_of_the_gap(self, solution: Solution) -> None:
        """Say how far from optimal the answer may be."""
        warnings.warn(
            f"{type(self).__name__} stopped after {solution.n_iter} iterations at "
            f"a relative duality gap of {solution.relative_gap:.2g} (tol="
            f"{self.tol:g}); the best iterate is kept. Scale the features, use a "
            "less extreme C, or raise max_iter.",
            ConvergenceWarning,
            stacklevel=3,
        )

    _fit_binary = _fit_machine
    _fit_real = _fit_machine

    def _recover(self, data: Data, solution: Solution) -> Model:
        for check in self._trivial:
            check(self, data, solution)
        spaces = [data.decision]
        if data.with_privileged:
            spaces += [data.privileged[which] for which in self._functions]
        coefficients, functions = zip(
            *(
                learned(
                    solution,
                    k,
                    space,
                    data.cost,
                    in_features=data.in_features,
                    constant=self._bias_in_kernel,
                )
                for k, space in enumerate(spaces)
            ),
            strict=True,
        )
        return Model(
            decision=functions[0],
            corrections=list(functions[1:]),
            positions=data.decision.positions,
            dual_coef=coefficients[0],
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
            self.coef_ = np.array([model.decision.coefficients for model in models])
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
            problem where there is more than one; NaN for a problem none of whose rows
            had privileged features.
        """
        read = self._validate_privileged(privileged)
        n_rows = n_rows_of(privileged)
        width = max(len(self._functions), 1)
        values = np.full((n_rows, width * len(self._models)), np.nan)
        for at, model in enumerate(self._models if read is not None else ()):
            for column, function in enumerate(model.corrections, at * width):
                values[read.rows, column] = function(read.values)
        return values[:, 0] if values.shape[1] == 1 else values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags


def n_rows_of(table: Any) -> int:
    """How many rows a table has; a sparse one has no length."""
    return table.shape[0] if hasattr(table, "shape") else len(table)
