"""`KernelMachine`: fitting and attributes of all kernel models.

A model file describes its primal in ``_problem``, as a function of the `Data` of one
binary problem: its rows in their spaces, with costs. The mixin computes the Gram
matrices, calls the solver, and converts the solution into functions (`Expansion`),
attributes and certificates. Function 0 of every problem is the decision function; the
others are learned on X*. The search spaces that models share come first, then kernels
on a GPU, for which PyTorch (``pip install "lupi[gpu]"``) is imported.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from scipy.stats import loguniform
from sklearn.base import is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.extmath import row_norms

from lupi._convex import (
    SOLVERS,
    Family,
    Features,
    Function,
    Gram,
    Problem,
    Slack,
    Solution,
    one_thread,
    solve,
)
from lupi._convex.interior.blocks import BlockSolution
from lupi._convex.linalg import diagonal, on_device
from lupi._optional import require
from lupi._parameters import ClassWeight, MaxIter, MultiClass, Positive, parameters
from lupi._stored import must_fit, stored
from lupi._words import listed
from lupi.base import (
    Fitted,
    PerFeature,
    Privileged,
    PrivilegedClassifierBase,
    SharedOver,
    TargetUnits,
    Training,
    binary_problems,
)
from lupi.base._rows import dense, n_rows_of
from lupi.kernels import (
    AnyKernel,
    Degree,
    Gamma,
    Kernel,
    nearest_positive_semidefinite,
    settle_kernel,
)

# Number of rows from which linear kernels are solved in feature space, at n·p² a step.
LINEAR_ROWS = 2000
# Relative change of the objective that is negligible.
NEGLIGIBLE = 1e-8
# Products of three such values do not overflow.
LARGEST = 1e100
# Largest relative rounding error of a constant of 1 that is added to kernel values.
CONSTANT_ERROR = 1e-3
# A decision function is constant if its range on the rows is less than this part of the
# largest possible one: of one, or of Σ C_i k(x_i, x_i) where C makes this less.
TRIVIAL = 1e-6
Device = Literal["cpu", "cuda"]
Solver = Annotated[str, StrOptions(set(SOLVERS))]
# Matrices of n² entries at the peak of the proximal method, by the number of functions,
# as measured; the second for single precision. A kernel with a constant is a copy.
DOUBLE_MATRICES, SINGLE_MATRICES = {1: 5, 2: 7, 3: 10}, {1: 6, 2: 8, 3: 14}
# Copies of the features of a linear model, and vectors of n entries per function.
FEATURE_COPIES, VECTORS_PER_FUNCTION = 3, 40
# Kernel values per chunk of predictions.
CHUNK_ENTRIES = 2**28
GIB = 2**30
# Estimates below this many bytes cause no warning.
WARNED_BYTES = 2**31
# Deviations below this accuracy of the solver are set to zero.
ZERO_DEVIATION = 1e-6

# Papers and search spaces that models share.
VAPNIK_VASHIST = "Vapnik & Vashist 2009, Neural Networks 22"
VAPNIK_IZMAILOV = "Vapnik & Izmailov 2015, JMLR 16"
THOMAS = "Thomas 2017, University of Sussex"
LARGEST_C = 100.0
# Few values, so that candidates with the same kernel share its Gram matrix.
_SCALES = (0.1, 0.3, 1.0, 3.0)
SCALES = [PerFeature(value) for value in _SCALES]
PRIVILEGED_SCALES = [PerFeature(value, privileged=True) for value in _SCALES]
KERNEL_SPACE = {
    "kernel": ["rbf", "linear"],
    "C": loguniform(0.01, LARGEST_C),
    "gamma": SCALES,
}
REG = loguniform(0.01, 100.0)
LINEAR_SPACE = {"C": loguniform(0.001, LARGEST_C)}
REGRESSION_SPACE = {
    "C": TargetUnits(loguniform(0.01, LARGEST_C)),
    "epsilon": TargetUnits([0.05, 0.2]),
}
# A kernel of X*: twice as many candidates are RBF as are linear.
_PRIVILEGED_KERNEL = {
    "privileged_kernel": ["rbf", "rbf", "linear"],
    "privileged_gamma": PRIVILEGED_SCALES,
}
# A model with a correcting function has the weight of its norm, a model with an SVM on
# X* has the cost of that SVM.
CORRECTING_SPACE: dict[str, Any] = _PRIVILEGED_KERNEL | {"privileged_reg": REG}
FIRST_STAGE_SPACE: dict[str, Any] = _PRIVILEGED_KERNEL | {
    "privileged_C": loguniform(0.01, LARGEST_C)
}
# If X* is uninformative, a model with Δ is the SVM with cost (1 + Δ)C. With C divided
# by that factor, every candidate can reproduce the SVM that it is compared with.
DELTA = {"delta": LARGEST_C}
DELTA_C = {"C": SharedOver(1 + LARGEST_C)}


def check_device(device: str, who: str) -> Any:
    """Return torch for a GPU, None for the CPU; raise RuntimeError without a GPU."""
    if device == "cpu":
        return None
    torch = require("torch", f"{who}(device={device!r})")
    if not torch.cuda.is_available():
        raise RuntimeError(
            f"{who} was given device={device!r}, and PyTorch finds no GPU that it can "
            "use on this machine. Use device='cpu'."
        )
    return torch


@dataclass(frozen=True)
class Place:
    """The device of the Gram matrices of a fit, and their form.

    If ``stored``, matrices are kept in double precision. If they do not fit, they are
    computed from their rows: see :mod:`lupi._convex.torch_linalg`.
    """

    device: str = "cpu"
    stored: bool = True

    @classmethod
    def of(
        cls, device: str, who: str, n_rows: int, n_functions: int, width: int | None
    ) -> Place:
        """Choose the form by the free memory; raise MemoryError if none fits.

        `width` is that of the features of all functions, None for Gram matrices.
        """
        torch = check_device(device, who)
        if torch is None:
            return HOST
        held = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        free = torch.cuda.mem_get_info(device)[0] + held
        kind, of_features = min(n_functions, 3), ""
        bytes_needed = {
            True: 8 * n_rows**2 * DOUBLE_MATRICES[kind],
            False: 4 * n_rows**2 * SINGLE_MATRICES[kind],
        }
        if width is not None:
            entries = FEATURE_COPIES * width + VECTORS_PER_FUNCTION * n_functions
            bytes_needed = {True: 8 * n_rows * entries}
            of_features = f" of {width} features"
        for in_memory, needed in bytes_needed.items():
            if needed <= free:
                return cls(device, in_memory)
        raise MemoryError(
            f"{who}(device={device!r}) on {n_rows} rows{of_features} needs about "
            f"{needed / GIB:.1f} GiB on the device, and {free / GIB:.1f} GiB are free. "
            "Use fewer rows, device='cpu', or LinearSVCPlus behind "
            "sklearn.kernel_approximation.Nystroem."
        )

    def gram(self, kernel: Kernel, rows: Any) -> Any:
        """Compute the Gram matrix of a named kernel on the device."""
        on = _OnDevice(kernel)
        tensor = on_device(dense(rows), self.device)
        if not self.stored:
            from lupi._convex.torch_linalg import KernelRows

            return KernelRows(tensor, on)
        gram = on.between(tensor, tensor)
        if kernel.name == "rbf":
            gram.fill_diagonal_(1.0)
        return gram


HOST = Place()


def evaluate(
    device: str, kernel: Kernel, rows: Any, others: Any, coefficients: np.ndarray
) -> np.ndarray:
    """Return ``Σ_j coefficients_j k(others_j, ·)`` at the rows, in chunks."""
    check_device(device, "decision_function")
    on = _OnDevice(kernel)
    others = on_device(dense(others), device)
    weights = on_device(coefficients, device)
    out = np.empty(rows.shape[0])
    step = max(CHUNK_ENTRIES // max(len(others), 1), 1)
    for start in range(0, rows.shape[0], step):
        part = on_device(dense(rows[start : start + step]), device)
        out[start : start + step] = (on.between(part, others) @ weights).cpu().numpy()
    return out


@dataclass(frozen=True)
class _OnDevice:
    """Named kernels of tensors."""

    kernel: Kernel

    def between(self, rows: Any, others: Any) -> Any:
        """Return the kernel values of all pairs of rows."""
        products = rows @ others.mT
        if self.kernel.name != "rbf":
            return self._of_products(products)
        products.mul_(-2.0).add_((rows**2).sum(1)[:, None])
        products.add_((others**2).sum(1)).clamp_min_(0.0)
        return products.mul_(-self.kernel.gamma).exp_()

    def diagonal(self, rows: Any) -> Any:
        """Return the kernel values of rows with themselves."""
        if self.kernel.name == "rbf":
            return rows.new_ones(len(rows))
        return self._of_products((rows**2).sum(1))

    def _of_products(self, values: Any) -> Any:
        """Replace inner products by kernel values."""
        kernel = self.kernel
        if kernel.name == "linear":
            return values
        values.mul_(kernel.gamma).add_(kernel.coef0)
        return values.pow_(kernel.degree) if kernel.name == "poly" else values.tanh_()


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
        device, positive = self.place.device, self.kernel.is_positive
        if device != "cpu" and positive:
            return self.place.gram(self.kernel, self.rows), None
        projection = None
        if self.kernel.name == "precomputed":
            gram = np.ascontiguousarray(dense(self.rows)[:, self.positions])
        else:
            gram = self.kernel.gram(self.rows)
        if not positive:
            gram, projection = nearest_positive_semidefinite(0.5 * (gram + gram.T))
        return on_device(gram, device), projection

    @cached_property
    def largest(self) -> float:
        """The largest k(x, x) of the rows."""
        if "_gram_and_projection" in self.__dict__:
            return float(diagonal(self._gram_and_projection[0]).max(initial=0.0))
        with np.errstate(over="ignore"):
            return float(row_norms(self.rows, squared=True).max(initial=0.0))

    @cached_property
    def _gram(self) -> Gram:
        return Gram(self._gram_and_projection[0])

    def for_solver(self, in_features: bool) -> Gram | Features:
        """Return the features or the Gram matrix.

        Values whose products overflow in the solvers are refused.
        """
        if in_features:
            space: Gram | Features = Features(self.rows, self.place.device)
        else:
            space = self._gram
        if not self.largest <= LARGEST:
            raise ValueError(
                f"The kernel of a row with itself is up to {self.largest:.3g} here; "
                f"the solvers take values up to {LARGEST:g}. Scale the features, for "
                "instance with sklearn.preprocessing.StandardScaler."
            )
        return space

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

    def constant(self, value: float) -> Expansion:
        """Return a constant function."""
        return self.expand(np.zeros(len(self.positions)), value)


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

    def on_privileged(self, vector: np.ndarray) -> np.ndarray:
        """Return the entries of the rows that have X*."""
        rows = self.privileged_rows
        return vector if rows is None else vector[rows]

    def with_constant(self, which: Space) -> Gram | Features:
        """Return the space with a constant feature, penalized like the others."""
        if not self.in_features:
            gram = which.for_solver(False).matrix
            if np.finfo(float).eps * which.largest > CONSTANT_ERROR:
                raise ValueError(
                    "The bias is a constant of 1 that is added to the kernel, and is "
                    f"lost to rounding: kernel values reach {which.largest:.3g}. Scale "
                    "the features, for instance with "
                    "sklearn.preprocessing.StandardScaler."
                )
            return Gram(gram + 1.0)
        both: Any = [which.rows, np.ones((which.rows.shape[0], 1))]
        is_sparse = sp.issparse(which.rows)
        rows = sp.hstack(both, format="csr") if is_sparse else np.hstack(both)
        return Features(rows, which.place.device)

    def decision_function(self) -> Function:
        """Return ``w·x + b`` with weight 1."""
        return Function(
            self.decision.for_solver(self.in_features), 1.0, np.ones(self.n_rows)
        )

    def correcting_function(
        self, which: int, weight: float, cost: np.ndarray | None = None
    ) -> Function:
        """Return ``w*·x* + b*`` on the rows with X*, with weight and linear cost."""
        space = self.privileged[which].for_solver(self.in_features)
        basis = self.on_privileged(np.ones(self.n_rows))
        return Function(space, weight, basis, cost, self.privileged_rows)

    def plain(
        self, sign: np.ndarray, at_least: np.ndarray, *, squared: bool = False
    ) -> list[Family]:
        """Return ``sign f ≥ at_least − ξ`` at cost C for the rows without X*."""
        if self.privileged_rows is None:
            return []
        rows = np.setdiff1d(np.arange(self.n_rows), self.privileged_rows)
        slack = Slack(**{"squared" if squared else "linear": self.cost[rows]})
        known = rows if self.privileged else None
        return [Family({0: sign[rows]}, at_least[rows], known, slack)]

    def plain_hinge(self) -> list[Family]:
        """Return ``y f ≥ 1 − ξ`` at cost C for the rows without X*."""
        return self.plain(self.target, np.ones(self.n_rows))


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


# The kernel of X and those of X*, with parameters that depend on all rows.
Kernels = list[Kernel]


class KernelMachine:
    """Mixin for estimators with a kernel for X and one or more for X*.

    ``_spaces`` lists the parameter prefixes of the kernels on X*.
    """

    if TYPE_CHECKING:
        # Attributes of the estimators.
        C: float
        epsilon: float
        kernel: str | Callable
        solver: str
        tol: float
        max_iter: int
        multi_class: str
        _models: list[Model]
        n_features_in_: int
        intercept_: np.ndarray
        dual_coef_: np.ndarray
        support_: np.ndarray
        support_vectors_: Any
        get_params: Callable[..., dict[str, Any]]
        _validate_privileged: Callable[[Any], Privileged | None]

    # The device of models without such a parameter.
    device = "cpu"
    _spaces: tuple[str, ...] = ("privileged_",)
    # Number of rows from which linear kernels are solved in feature space.
    _feature_rows = LINEAR_ROWS
    # Whether a constant is added to every kernel instead of a free bias.
    _bias_in_kernel = False
    # The position in `_spaces` of the kernel of each of the functions 1, 2, ...
    _functions: tuple[int, ...] = (0,)
    # Warnings of trivial solutions: `constant_decision`, `unused_correction`.
    _trivial: tuple[Callable[[KernelMachine, Ranges], None], ...] = ()

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
            return [decision]
        weight, kernels = counted.weight[privileged.rows], [decision]
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
        return kernels

    # ------------------------------------------------------------------ fit
    def _problem(self, data: Data) -> Problem:
        """Return the primal of the model, as data."""
        raise TypeError(f"{type(self).__name__} does not define _problem.")

    def _cost(self, part: Training[Kernels]) -> np.ndarray:
        """Return the cost of a unit of slack of each row."""
        return self.C * part.weight

    def _data(self, part: Training[Kernels]) -> Data:
        """Return the rows of a part as the `Data` of `_problem`."""
        (decision, *others), privileged = part.settled, part.privileged
        in_features = (
            all(kernel.name == "linear" for kernel in part.settled)
            and self.solver == "auto"
            and part.n_rows >= self._feature_rows
        )
        name, widths = type(self).__name__, [part.X.shape[1]]
        if privileged is not None:
            widths += [privileged.values.shape[1]] * len(self._functions)
        width = sum(widths) if in_features else None
        n_kept = len(widths) + self._bias_in_kernel
        place = Place.of(self.device, name, part.n_rows, n_kept, width)
        if place is HOST and not in_features:
            linear_form = "LinearSVRPlus" if is_regressor(self) else "LinearSVCPlus"
            check_memory(name, linear_form, part.n_rows, len(widths))
        spaces: list[Space] = []
        rows: np.ndarray | None = np.arange(0)
        if privileged is not None:
            rows = None if privileged.complete else privileged.rows
            known = part.rows[privileged.rows]
            made = [Space(one, privileged.values, known, place) for one in others]
            # Equal kernels share their Gram matrix.
            spaces = [made[others.index(one)] for one in others]
        return Data(
            target=part.y,
            weight=part.weight,
            cost=self._cost(part),
            decision=Space(decision, part.X, part.rows, place),
            privileged=spaces,
            privileged_rows=rows,
            in_features=in_features,
            extra=part.extra,
        )

    def _fit_binary(self, part: Training[Kernels]) -> Model:
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

    def _check_solved(self, solution: Solution | BlockSolution) -> None:
        """Refuse an objective that overflows; warn if it is not optimal."""
        if not np.isfinite(solution.primal_value):
            raise ValueError(
                f"The objective of {type(self).__name__} overflows: the values of the "
                "features, C or the weights are too large. Scale the features, for "
                "instance with sklearn.preprocessing.StandardScaler."
            )
        if not solution.converged:
            self._warn_not_converged(solution)

    def _warn_not_converged(self, solution: Solution | BlockSolution) -> None:
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

    def _fit_real(self, part: Training[Kernels]) -> Model:
        low, high = float(part.y.min()), float(part.y.max())
        if high - low > 2 * self.epsilon:
            return self._fit_binary(part)
        # A constant has every target inside its tube: all functions are zero, and so
        # is the objective, to which no duality gap is relative.
        data, middle = self._data(part), 0.5 * (low + high)
        first, *others = self._function_spaces(data)
        return Model(
            decision=first.constant(middle),
            corrections=[space.constant(0.0) for space in others],
            dual_coef=np.zeros(data.n_rows),
            certificate=Certificate(0.0, 0.0, 0, True),
        )

    def _function_spaces(self, data: Data) -> list[Space]:
        """Return the space of every function."""
        chosen = self._functions if data.privileged else ()
        return [data.decision, *(data.privileged[which] for which in chosen)]

    def _recover(self, data: Data, solution: Solution) -> Model:
        ranges = Ranges.of(data, solution.values)
        for check in self._trivial:
            check(self, ranges)
        coefficients, functions, stored = [], [], solution
        for k, space in enumerate(self._function_spaces(data)):
            coefficient, function, stored = learned(
                stored,
                k,
                space,
                tol=self.tol,
                in_features=data.in_features,
                constant=self._bias_in_kernel,
            )
            coefficients.append(coefficient)
            functions.append(function)
        if ranges.constant is not None:
            # Exactly constant, because predictions are signs, here of rounding errors.
            nothing, value = np.zeros(data.n_rows), ranges.constant
            constant = stored.with_function(0, nothing, value)
            if constant.is_optimal(self.tol) or not solution.converged:
                coefficients[0], stored = nothing, constant
                functions[0] = data.decision.constant(value)
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
    def _attributes(self, fitted: Fitted[Kernels, Model]) -> dict[str, Any]:
        models, X = fitted.models, fitted.training.X
        kernel = fitted.parts[0].settled[0]
        dual = np.zeros((len(models), fitted.training.n_rows))
        for line, part, model in zip(dual, fitted.parts, models, strict=True):
            line[part.rows] = model.dual_coef
        support = np.flatnonzero((dual != 0).any(axis=0))
        precomputed = kernel.name == "precomputed"
        attributes = {
            "support_": support,
            "dual_coef_": dual[:, support],
            "support_vectors_": np.empty((0, 0)) if precomputed else X[support],
        }
        if kernel.name == "linear":
            attributes["coef_"] = np.array([m.decision.coefficients for m in models])
        return attributes | certificates(models)

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
        if read is not None:
            for at, corrections in enumerate(self._corrections()):
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
        stored = [m.corrections for m in self._models if m.corrections is not None]
        if len(stored) < len(self._models):
            raise ValueError(
                f"This {type(self).__name__} was saved without its functions on X*, "
                "which contain privileged rows. Save it with lupi.save(model, path, "
                "keep_privileged=True) to use its correction."
            )
        return stored

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags


@parameters
class PrivilegedKernels(KernelMachine):
    """Kernel machine with a kernel of X and one of X*: their parameters."""

    C: Positive = field(default=1.0, kw_only=False)
    kernel: AnyKernel = "rbf"
    gamma: Gamma = "scale"
    degree: Degree = 3
    coef0: float = 0.0
    privileged_kernel: AnyKernel = "rbf"
    privileged_gamma: Gamma = "scale"
    privileged_degree: Degree = 3
    privileged_coef0: float = 0.0
    solver: Solver = "auto"
    tol: Positive = 1e-6
    max_iter: MaxIter = -1
    device: Device = "cpu"


@parameters
class KernelClassifier(PrivilegedKernels, PrivilegedClassifierBase):
    """Classifier by such machines."""

    multi_class: MultiClass = "ovo"
    class_weight: ClassWeight = None


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
    weight, bias = solution.problem.functions[k].weight, solution.bias(k)
    value = abs(solution.primal_value)
    allowed = NEGLIGIBLE * value
    if solution.is_optimal(tol):
        allowed = min(allowed, tol * value - solution.duality_gap)
    if in_features:
        weights: Any = solution.weights
        width = space.rows.shape[1]
        if constant:
            bias = float(weights[k][width])
        function = Expansion(space.kernel, None, weights[k][:width], bias)
        return solution.support(k, allowed), function, solution
    coefficients = solution.expansion(k, allowed)
    stored = solution.with_function(k, coefficients)
    coefficients = space.in_kernel(coefficients)
    if constant:
        bias = coefficients.sum() / weight
    return coefficients, space.expand(coefficients / weight, bias), stored


def certificates(models: Sequence[Model]) -> dict[str, Any]:
    """Return biases and certificates, one entry per binary problem."""
    empty = Certificate(np.nan, np.nan, 0, True)
    stages = {"": [model.certificate for model in models]}
    if any(model.first is not None for model in models):
        stages["privileged_"] = [model.first or empty for model in models]
    attributes = {"intercept_": np.array([model.decision.bias for model in models])}
    for prefix, stage in stages.items():
        for name in ("objective", "duality_gap", "n_iter", "converged"):
            values = np.array([getattr(one, name) for one in stage])
            attributes[f"{prefix}{name}_"] = values
    # The second stage has only converged if the SVM on X* has.
    attributes["converged_"] &= attributes.get("privileged_converged_", True)
    return attributes


def train_first_stage(
    machine: KernelMachine, data: Data, C: float
) -> tuple[Expansion, np.ndarray, Certificate | None]:
    """Solve ``min ½‖w*‖² + C Σ weight_i [1 − y_i f*(x*_i)]₊`` on the rows with X*.

    Returns the function ``f*(x*) = w*·x* + b*``, its deviations and its certificate.
    The deviation of a row is ``1 − y f*(x*)``: zero on the margin, positive inside.
    """
    space, y = data.privileged[0], data.on_privileged(data.target)
    if abs(y.sum()) == len(y):
        # With one class, the SVM is the constant that satisfies every constraint.
        return space.constant(float(y[0])), np.zeros(len(y)), None
    weight = data.on_privileged(data.weight)
    own = Data(y, weight, C * weight, space, [], np.arange(0), data.in_features)
    problem = Problem(len(y), [own.decision_function()], own.plain_hinge())
    _, function, stored = learned(
        machine._solve(problem), 0, space, tol=machine.tol, in_features=data.in_features
    )
    deviations = 1.0 - y * stored.values[0]
    deviations[np.abs(deviations) < ZERO_DEVIATION] = 0.0
    return function, deviations, Certificate.of(stored)


@dataclass(frozen=True, eq=False)
class Ranges:
    """Ranges over rows, from which a trivial solution is recognized.

    ``low`` and ``high`` are the ends of the target, followed by those of every
    function; ``cost`` is Σ C_i, ``largest`` the largest k(x, x).
    """

    low: np.ndarray
    high: np.ndarray
    cost: float
    largest: float

    @classmethod
    def of(cls, data: Data, values: Sequence[Any]) -> Ranges:
        """Return the ranges of some rows; `values` are those of the functions."""
        columns = [data.target, *(values if data.privileged else values[:1])]
        low = np.array([one.min(initial=np.inf) for one in columns])
        high = np.array([one.max(initial=-np.inf) for one in columns])
        return cls(low, high, float(data.cost.sum()), data.decision.largest)

    @classmethod
    def merged(cls, parts: Sequence[Ranges]) -> Ranges:
        """Return the ranges of all rows from those of parts."""
        return cls(
            np.min([part.low for part in parts], axis=0),
            np.max([part.high for part in parts], axis=0),
            sum(part.cost for part in parts),
            max(part.largest for part in parts),
        )

    @property
    def with_privileged(self) -> bool:
        """Whether there are functions on X*."""
        return len(self.low) > 2

    @property
    def constant(self) -> float | None:
        """The value of a constant decision function, that is, w = 0; or None."""
        target, decision = (self.high - self.low)[:2]
        largest = min(1.0, target, self.cost * self.largest)
        if not decision <= TRIVIAL * largest:
            return None
        value = 0.5 * float(self.low[1] + self.high[1])
        return 0.0 if abs(value) <= TRIVIAL else value


def constant_decision(machine: KernelMachine, ranges: Ranges) -> None:
    """Warn if w = 0: no correcting function could represent the margin violations."""
    if ranges.with_privileged and ranges.constant is not None:
        _warn(
            machine,
            "found the trivial solution, a constant decision function: no correcting "
            "function of this kernel follows the margin violations.",
            "a model with an ordinary slack, such as SVCDeltaPlus",
        )


def unused_correction(machine: KernelMachine, ranges: Ranges) -> None:
    """Warn if f* = 0: the model is then the SVM with cost (1+Δ)C."""
    # Relative to the margin, which is one for every C.
    if ranges.with_privileged and max(-ranges.low[2], ranges.high[2]) <= TRIVIAL:
        _warn(
            machine,
            "found the trivial solution: the correcting function is zero, and the "
            "model is the SVM with cost C + delta C.",
        )


def _warn(machine: KernelMachine, what: str, *other_remedies: str) -> None:
    """Warn, with remedies that apply to the parameters of the estimator."""
    parameters = machine.get_params(deep=False)
    remedies = ["Nystroem on X* in lupi.compose.TransformedPrivileged"]
    if "privileged_kernel" in parameters:
        remedies = ["a non-linear privileged_kernel"]
    if "privileged_reg" in parameters:
        remedies.append("a smaller privileged_reg")
    remedies += other_remedies
    warnings.warn(
        f"{type(machine).__name__} {what} Try {listed(remedies, 'or')}.",
        UserWarning,
        stacklevel=4,
    )


def check_memory(name: str, alternative: str, n_rows: int, n_functions: int) -> None:
    """Warn of a fit that needs gigabytes; refuse one beyond the memory available."""
    # Peak memory, measured in n × n doubles: 5 for two functions, 10 to 12 for three.
    needed = 8 * n_rows**2 * (n_functions**2 + 1)
    if needed < WARNED_BYTES:
        return
    message = (
        f"{name} computes a kernel matrix of {n_rows} × {n_rows} numbers for each of "
        f"its functions ({n_functions}) and needs about {needed / 1e9:.1f} GB of "
        f"memory for these and for intermediate results. The memory of {alternative} "
        "on the features of sklearn.kernel_approximation.Nystroem is proportional to "
        "the number of rows."
    )
    available = memory_of_machine()
    if available is not None and needed > available:
        raise MemoryError(f"{message} This machine has {available / 1e9:.1f} GB.")
    warnings.warn(message, UserWarning, stacklevel=4)


def memory_of_machine() -> int | None:
    """Return the bytes that this process may use; None if they cannot be read."""
    limits = []
    with suppress(AttributeError, ValueError, OSError):
        limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with suppress(ValueError, OSError):  # a container may have less than the machine
        limits.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(limits, default=None)
