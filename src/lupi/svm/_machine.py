"""`KernelMachine`: fitting and attributes of all kernel models.

A model file describes its primal in ``_problem``. The mixin computes the Gram matrices,
calls the solver, and converts the solution into functions, attributes and certificates.
Function 0 of every problem is the decision function; the others are learned on X*.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import is_regressor
from sklearn.exceptions import ConvergenceWarning

from lupi._convex import SOLVERS, Problem, Solution, one_thread, solve
from lupi._convex.interior.blocks.outer import BlockSolution
from lupi._device import DEVICES, HOST, Place
from lupi._parameters import MAX_ITER, NOT_NEGATIVE, POSITIVE, Constraints, choice
from lupi._stored import must_fit, stored
from lupi.base import Fitted, Training, binary_problems
from lupi.base._rows import n_rows_of
from lupi.kernels import Kernel, kernel_constraints, settle_kernel
from lupi.svm._data import Data, Expansion, Space, learned
from lupi.svm._memory import check_memory
from lupi.svm._trivial import TRIVIAL, is_constant

__all__ = ["Certificate", "KernelMachine", "Kernels", "Model", "certificates"]

# Number of rows from which linear kernels are solved in feature space, at n·p² a step.
LINEAR_ROWS = 2000


@stored
@dataclass(frozen=True)
class Certificate:
    """Objective, duality gap and iterations of a solution."""

    objective: float
    duality_gap: float
    n_iter: int
    converged: bool

    @classmethod
    def of(cls, solution: Solution | BlockSolution) -> Certificate:
        """Return the certificate of a solution."""
        return cls(
            float(solution.primal_value),
            float(solution.duality_gap),
            int(solution.n_iter),
            bool(solution.converged),
        )


@stored
@dataclass
class Model:
    """One fitted machine: its decision function, its corrections, its certificate.

    ``first`` is the certificate of the SVM on X*, in the models that train one first.
    """

    _privileged_state: ClassVar[tuple[str, ...]] = ("corrections",)

    decision: Expansion
    corrections: list[Expansion] | None
    dual_coef: np.ndarray
    certificate: Certificate
    first: Certificate | None = None


@dataclass(frozen=True)
class Kernels:
    """The kernel of X and those of X*, with parameters that depend on all rows."""

    decision: Kernel
    privileged: list[Kernel]


class KernelMachine:
    """Mixin for estimators with a kernel for X and one or more for X*.

    ``_spaces`` lists the parameter prefixes of the kernels on X*.
    """

    if TYPE_CHECKING:
        # Attributes of the estimators.
        C: float
        kernel: Any
        solver: str
        tol: float
        max_iter: int
        _models: Any
        n_features_in_: int
        multi_class: str
        intercept_: np.ndarray
        dual_coef_: np.ndarray
        support_: np.ndarray
        support_vectors_: Any
        _validate_privileged: Any

    # The device of models without such a parameter.
    device = "cpu"
    _spaces: tuple[str, ...] = ("privileged_",)
    # Number of rows from which linear kernels are solved in feature space.
    _feature_rows = LINEAR_ROWS
    # Whether a constant is added to every kernel instead of a free bias.
    _bias_in_kernel = False
    # The position in `_spaces` of the kernel of each of the functions 1, 2, ...
    _functions: tuple[int, ...] = (0,)
    # Checks for trivial solutions: see the module `_trivial`.
    _trivial: tuple[Callable[[object, Data, Solution], None], ...] = ()

    _parameter_constraints: ClassVar[Constraints] = {
        **dict.fromkeys(("C", "privileged_C", "privileged_reg", "tol"), POSITIVE),
        **dict.fromkeys(("delta", "epsilon"), NOT_NEGATIVE),
        **kernel_constraints("", "privileged_"),
        "slack": choice("signed", "hinge"),
        "solver": choice(*SOLVERS),
        "max_iter": MAX_ITER,
        "device": choice(*DEVICES),
    }

    # -------------------------------------------------------------- kernels
    def _settle(self, prefix: str, rows: Any, weight: np.ndarray) -> Kernel:
        kernel, gamma, degree, coef0 = (
            getattr(self, prefix + name)
            for name in ("kernel", "gamma", "degree", "coef0")
        )
        return settle_kernel(kernel, gamma, degree, coef0, rows, weight, prefix=prefix)

    def _begin(self, training: Training) -> Kernels:
        X, n_rows = training.X, training.n_rows
        decision = self._settle("", X, training.weight)
        if decision.name == "precomputed" and X.shape[1] != n_rows:
            raise ValueError(
                f"With kernel='precomputed', X must be the square matrix of kernel "
                f"values of the training rows; got shape {X.shape}."
            )
        # If only rows of weight zero have X*, there is none.
        counted = training.counted()
        privileged = counted.privileged
        if privileged is None:
            return Kernels(decision, [])
        weight = counted.weight[privileged.rows]
        kernels = []
        for prefix in self._spaces:
            kernel = self._settle(prefix, privileged.values, weight)
            if kernel.name == "precomputed" and privileged.values.shape[1] != n_rows:
                raise ValueError(
                    f"With {prefix}kernel='precomputed', privileged must be the square "
                    f"matrix of kernel values of all {n_rows} training rows; got "
                    f"{privileged.n_rows} rows of {privileged.values.shape[1]} values. "
                    "Cross-validation only slices the rows of privileged: use the "
                    "privileged features and a kernel name there."
                )
            kernels.append(kernel)
        return Kernels(decision, kernels)

    # ------------------------------------------------------------------ fit
    def _problem(self, data: Data) -> Problem:
        """Return the primal of the model, as data."""
        raise TypeError(f"{type(self).__name__} does not define _problem.")

    def _cost(self, part: Training) -> np.ndarray:
        """Return the cost of a unit of slack of each row."""
        return self.C * part.weight

    def _data(self, part: Training) -> Data:
        """Return the rows of a part as the `Data` of `_problem`."""
        kernels, privileged = part.settled, part.privileged
        linear = all(
            kernel.name == "linear"
            for kernel in (kernels.decision, *kernels.privileged)
        )
        in_features = (
            linear and self.solver == "auto" and part.n_rows >= self._feature_rows
        )
        name, n_functions = type(self).__name__, 1
        if privileged is not None:
            n_functions += len(self._functions)
        if in_features:
            width = part.X.shape[1]
            if privileged is not None:
                width += len(self._functions) * privileged.values.shape[1]
            place = Place.of_features(
                self.device, part.n_rows, width, n_functions, name
            )
        else:
            place = Place.of(self.device, part.n_rows, n_functions, name)
            if place is HOST:
                linear_form = "LinearSVRPlus" if is_regressor(self) else "LinearSVCPlus"
                check_memory(name, linear_form, part.n_rows, n_functions)
        spaces: list[Space] = []
        rows: np.ndarray | None = np.arange(0)
        if privileged is not None:
            rows = None if privileged.complete else privileged.rows
            spaces = [
                Space(kernel, privileged.values, part.rows[privileged.rows], place)
                for kernel in kernels.privileged
            ]
        return Data(
            target=part.y,
            weight=part.weight,
            cost=self._cost(part),
            decision=Space(kernels.decision, part.X, part.rows, place),
            privileged=spaces,
            privileged_rows=rows,
            in_features=in_features,
            extra=part.extra,
        )

    def _fit_machine(self, part: Training) -> Model:
        data = self._data(part)
        # Kernels gain little from threads, and threads that wait actively would slow
        # down those of the solver.
        with one_thread():
            problem = self._problem(data)
        return self._recover(data, self._solve(problem))

    def _solve(self, problem: Problem) -> Solution:
        """Solve with the parameters of the estimator, and check the solution."""
        solution = solve(
            problem, solver=self.solver, tol=self.tol, max_iter=self.max_iter
        )
        self._check_solved(solution)
        return solution

    def _check_solved(self, solution: Any) -> None:
        """Refuse an objective that overflows; warn if it is not optimal."""
        if not np.isfinite(solution.primal_value):
            raise ValueError(
                f"The objective of {type(self).__name__} overflows: the values of the "
                "features, C or the weights are too large. Scale the features, for "
                "instance with sklearn.preprocessing.StandardScaler."
            )
        if not solution.converged:
            self._warn_not_converged(solution)

    def _warn_not_converged(self, solution: Any) -> None:
        """Warn, with the relative duality gap."""
        warnings.warn(
            f"{type(self).__name__} stopped after {solution.n_iter} iterations at "
            f"a relative duality gap of {solution.relative_gap:.2g} (tol="
            f"{self.tol:g}); the best iterate is kept. Scale the features"
            f"{', use a less extreme C' if hasattr(self, 'C') else ''} or raise "
            "max_iter.",
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
        coefficients, functions, stored = [], [], solution
        for k, space in enumerate(spaces):
            found, function, stored = learned(
                stored,
                k,
                space,
                tol=self.tol,
                in_features=data.in_features,
                constant=self._bias_in_kernel,
            )
            coefficients.append(found)
            functions.append(function)
        if is_constant(data, solution):
            # Exactly constant, because predictions are signs, here of rounding errors.
            value = float(np.mean(solution.values[0]))
            value = 0.0 if abs(value) <= TRIVIAL else value
            nothing = np.zeros(data.n_rows)
            constant = stored.with_function(0, nothing, value)
            if constant.is_optimal(self.tol) or not solution.converged:
                coefficients[0], stored = nothing, constant
                functions[0] = data.decision.expand(nothing, value)
        if solution.converged and not stored.is_optimal(self.tol):
            # With costs over ten decades, the rounding errors of a sum cost more.
            stored.converged = False
            self._warn_not_converged(stored)
        return Model(
            decision=functions[0],
            corrections=functions[1:],
            dual_coef=coefficients[0],
            certificate=Certificate.of(stored),
        )

    # ----------------------------------------------------------- attributes
    def _attributes(self, fitted: Fitted) -> dict[str, Any]:
        models, X = fitted.models, fitted.training.X
        kernel = fitted.parts[0].settled.decision
        dual = np.zeros((len(models), fitted.training.n_rows))
        for line, part, model in zip(dual, fitted.parts, models, strict=True):
            line[part.rows] = model.dual_coef
        support = np.flatnonzero((dual != 0).any(axis=0))
        precomputed = kernel.name == "precomputed"
        found = {
            "support_": support,
            "dual_coef_": dual[:, support],
            "support_vectors_": np.empty((0, 0)) if precomputed else X[support],
        }
        if kernel.name == "linear":
            found["coef_"] = np.array([model.decision.coefficients for model in models])
        return found | certificates(models)

    def correction(self, privileged: Any) -> np.ndarray:
        """Return the correcting function ``w*·x* + b*`` on privileged rows.

        Parameters
        ----------
        privileged : array-like, sparse matrix or DataFrame
            Privileged rows of the width used in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_functions)
            NaN for rows that are NaN. One column per learned function and per binary
            problem where there is more than one; NaN for a problem none of whose rows
            had privileged features.
        """
        read = self._validate_privileged(privileged)
        n_rows = n_rows_of(privileged)
        width = max(len(self._functions), 1)
        values = np.full((n_rows, width * len(self._models)), np.nan)
        machines = self._corrections() if read is not None else ()
        for at, corrections in enumerate(machines):
            for column, function in enumerate(corrections, at * width):
                values[read.rows, column] = function(read.values, self.device)
        return values[:, 0] if values.shape[1] == 1 else values

    def _check_state(self) -> None:
        """Compare the functions of the machines with the width of X."""
        if not hasattr(self, "_models"):
            return  # it was not fitted
        width, n_models = self.n_features_in_, len(self._models)
        for function in (model.decision for model in self._models):
            must_fit(function.takes(width), "a decision function")
        if hasattr(self, "classes_"):
            codes = np.arange(len(self.classes_))
            problems = binary_problems(codes, len(codes), self.multi_class)
            must_fit(len(problems) == n_models, "the number of binary problems")
        must_fit(self.intercept_.shape == (n_models,), "intercept_")
        if hasattr(self, "dual_coef_"):
            n_support = len(self.support_)
            must_fit(self.dual_coef_.shape == (n_models, n_support), "dual_coef_")
            shape = self.support_vectors_.shape
            must_fit(shape in ((0, 0), (n_support, width)), "support_vectors_")

    def _decide(self, model: Model, rows: Any) -> np.ndarray:
        return model.decision(rows, self.device)

    def _corrections(self) -> list[list[Expansion]]:
        """Return the functions on X* of every machine."""
        found = [model.corrections for model in self._models]
        if None in found:
            raise ValueError(
                f"This {type(self).__name__} was saved without its functions on X*, "
                "which contain privileged rows. Save it with lupi.save(model, path, "
                "keep_privileged=True) to use its correction."
            )
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags


def certificates(models: Sequence[Model]) -> dict[str, Any]:
    """Return biases and certificates, one entry per binary problem."""
    found = {"intercept_": np.array([model.decision.bias for model in models])}
    for name in ("objective", "duality_gap", "n_iter", "converged"):
        found[f"{name}_"] = np.array([getattr(m.certificate, name) for m in models])
    if all(model.first is None for model in models):
        return found
    # The second stage has only converged if the SVM on X* has.
    empty = Certificate(np.nan, np.nan, 0, True)
    first = [model.first or empty for model in models]
    for name in ("objective", "duality_gap", "n_iter", "converged"):
        values = np.array([getattr(certificate, name) for certificate in first])
        found[f"privileged_{name}_"] = values
    found["converged_"] &= found["privileged_converged_"]
    return found
