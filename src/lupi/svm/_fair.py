r"""Fair SVMΔ+: a bound on the covariance of the decisions with sensitive features.

SVMΔ+ (see `lupi.svm.SVCDeltaPlus`, ``slack="signed"``) with, for every sensitive column
z (one column per category for categorical ones) and weights s_i, the constraint

.. math::

    \left| \frac{\sum_i s_i (z_i - \bar z) f(x_i)}{\sum_i s_i} \right| \le c, \qquad
    \bar z = \frac{\sum_i s_i z_i}{\sum_i s_i}

where f is the decision function. The dual has additional multipliers λ⁺, λ⁻ ≥ 0 per
column, the decision function becomes

.. math::

    w = \sum_i \alpha_i y_i x_i - \sum_k (\lambda^+_k - \lambda^-_k)
        \frac{\sum_i s_i (z_{ik} - \bar z_k) x_i}{\sum_i s_i}

and the objective has the additional term c Σ(λ⁺+λ⁻). If no privileged features are
given, the sensitive ones are also the privileged information; neither is needed to
predict. ``sensitive_as_privileged=False`` without privileged features is the fair SVM.

======  ==========================  =========================================
symbol  name                        meaning
======  ==========================  =========================================
c       ``covariance_threshold``    largest covariance allowed
C, Δ    ``C``, ``delta``            costs, as in `SVCDeltaPlus`
γ       ``privileged_reg``          weight of ‖w*‖²
======  ==========================  =========================================

References
----------
O. Thomas, "Learning using privileged information: a unified approach", thesis,
University of Sussex, 2017, chapter 8.

M. B. Zafar, I. Valera, M. Gomez Rodriguez, K. P. Gummadi, "Fairness constraints:
mechanisms for fair classification", AISTATS 2017.

N. Quadrianto, V. Sharmanska, "Recycling privileged learning and distribution matching
for fairness", NIPS 2017.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from numbers import Real
from typing import Annotated, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from lupi._convex import GlobalRow, Problem, Solution
from lupi._parameters import NotNegative, Number, Positive, parameters
from lupi._stored import stored
from lupi._words import listed
from lupi.base import ModelInfo, atomic_fit
from lupi.base._rows import missing_values
from lupi.svm._machine import (
    THOMAS,
    Data,
    Expansion,
    KernelClassifier,
    Model,
    unused_correction,
)
from lupi.svm._svm_delta_plus import delta_problem

# How far a covariance on the training rows may be beyond its threshold.
TOLERANCE = 1e-6
# Violations up to this size are not corrected.
NEGLIGIBLE = 0.1 * TOLERANCE
# Relative singular value below which constraints are linearly dependent.
DEPENDENT = 1e-10


@parameters
class FairSVCDeltaPlus(KernelClassifier):
    """SVMΔ+ with bounded covariance of the decisions with sensitive features.

    Parameters
    ----------
    C : float, default=1.0
        Cost of the correcting function, multiplied by sample and class weights.
    covariance_threshold : float, default=0.0
        Largest covariance of the decision values with a sensitive column on the
        training rows, up to a tolerance of 1e-6; ``np.inf`` for no constraint.
    sensitive_as_privileged : bool, default=True
        Whether the sensitive features are used as privileged features if none are
        given. If False, the model is then the fair SVM.
    delta : float, default=1.0
        Extra cost Δ of the ordinary slack.
    privileged_reg : float, default=1.0
        Weight γ of the norm of the correcting function.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, \
default="rbf"
        Kernel of X.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the kernel of X, as in `sklearn.svm.SVC`.
    degree : int, default=3
        Degree of the polynomial kernel of X.
    coef0 : float, default=0.0
        Constant of the polynomial and sigmoid kernels of X.
    privileged_kernel, privileged_gamma, privileged_degree, privileged_coef0
        As `kernel`, `gamma`, `degree` and `coef0`, with the same defaults, for the
        privileged (or sensitive) features.
    multi_class : {"ovo", "ovr"}, default="ovo"
        How more than two classes are split into binary problems, each of which is
        constrained.
    class_weight : dict or "balanced", default=None
        Weights of the classes; they do not enter the covariance.
    solver : {"auto", "interior", "proximal"}, default="auto"
        The solver; "auto" chooses by size and parameters.
    tol : float, default=1e-6
        Relative duality gap at which to stop.
    max_iter : int, default=-1
        Limit on the iterations; -1 for the limit of the solver.
    device : {"cpu", "cuda"}, default="cpu"
        Where kernels are computed, the problem is solved and the decision function is
        evaluated; ``"cuda"`` needs PyTorch (``lupi[gpu]``) and a GPU.

    Attributes
    ----------
    classes_, support_, support_vectors_, dual_coef_, intercept_, coef_
        As in `SVCPlus`; `dual_coef_` holds y∘α − Z(λ⁺ − λ⁻).
    sensitive_columns_ : list of str
        The constrained columns: one per number, and one per category.
    objective_, duality_gap_, n_iter_, converged_
        Objective, certificate and iterations, as in `SVCPlus`. A problem with a
        covariance more than 1e-6 beyond the threshold has not converged.

    See Also
    --------
    SVCDeltaPlus : The same model without the constraint.

    References
    ----------
    M. B. Zafar, I. Valera, M. Gomez Rodriguez, K. P. Gummadi, "Fairness constraints:
    mechanisms for fair classification", AISTATS 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi import FairSVCDeltaPlus
    >>> rng = np.random.default_rng(0)
    >>> group = np.array(["a", "b"])[rng.integers(0, 2, size=80)]
    >>> X = rng.normal(size=(80, 2)) + (group == "a")[:, None]
    >>> y = X[:, 0] + rng.normal(size=80) > 0.5
    >>> model = FairSVCDeltaPlus().fit(X, y, sensitive_features=group)
    >>> covariance = np.cov(model.decision_function(X), group == "a")[0, 1]
    >>> bool(abs(covariance) < 1e-6)
    True
    """

    covariance_threshold: Annotated[float, Number(Real, 0, None, "both")] = 0.0
    sensitive_as_privileged: bool = True
    delta: NotNegative = 1.0
    privileged_reg: Positive = 1.0

    __lupi_info__ = ModelInfo(
        title="Fair SVMΔ+",
        paper=THOMAS,
        cite="thomas2017unified,zafar2017fairness,quadrianto2017recycling",
        helps="decisions must not covary with sensitive columns; scores do not improve",
        cost="2n multipliers",
        tune="`covariance_threshold`, then as `SVCDeltaPlus`",
        needs="sensitive features",
        functions=("signed",),
        rank=16,
    )

    __metadata_request__fit: ClassVar[dict[str, bool]] = {
        "privileged": True,
        "sensitive_features": True,
    }

    _trivial = (unused_correction,)

    @atomic_fit
    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        *,
        privileged: Any = None,
        sensitive_features: Any = None,
        sample_weight: Any = None,
    ) -> FairSVCDeltaPlus:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Decision features, known also when predicting.
        y : array-like of shape (n_samples,)
            Class labels of any type.
        privileged : array-like, sparse matrix or DataFrame, default=None
            Privileged features; if None, the sensitive features are used (see
            ``sensitive_as_privileged``).
        sensitive_features : array-like or DataFrame, default=None
            One or several sensitive columns. Numbers, also in a column of objects, are
            used unchanged; text, categories and booleans are encoded as one column per
            category. Dates are refused. None means no constraint.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, in the costs and in the covariance.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        training = self._validate_fit(X, y, privileged, sample_weight)
        self.sensitive_columns_: list[str] = []
        # Set if the sensitive features are used as X*.
        self._encoding: SensitiveColumns | None = None
        sensitive = np.empty((training.n_rows, 0))
        if sensitive_features is None:
            warnings.warn(
                f"{type(self).__name__} was given no sensitive_features, so that "
                "nothing is constrained and the model is SVCDeltaPlus. Give the "
                "columns to constrain: fit(..., sensitive_features=Z).",
                UserWarning,
                stacklevel=3,
            )
        else:
            name = type(self).__name__
            encoding = SensitiveColumns(sensitive_features, training.n_rows, name)
            sensitive = encoding.encode(sensitive_features)
            self.sensitive_columns_ = encoding.names
            if training.privileged is None and self.sensitive_as_privileged:
                self._encoding = encoding
                read = self._read_privileged(sensitive, training.n_rows)
                self._remember_privileged(None if read is None else sensitive)
                training = replace(training, privileged=read)
        # The covariance has sample weights, but no class weights.
        extra = {"sensitive": sensitive, "share": training.weight}
        self._fit_training(replace(training, extra=extra))
        return self

    def _problem(self, data: Data) -> Problem:
        problem = delta_problem(data, self.privileged_reg, self.delta)
        if self.covariance_threshold == np.inf:
            return problem
        share = data.extra["share"] / data.extra["share"].sum()
        limits = []
        for column in data.extra["sensitive"].T:
            centered = share * (column - share @ column)
            if not np.abs(centered).max() > 0:
                continue  # constant among these rows: the covariance is zero
            if self.covariance_threshold == 0:
                limits.append(GlobalRow({0: centered}, 0.0, equality=True))
                continue
            both = ({0: centered}, {0: -centered})
            limits += [GlobalRow(on, -self.covariance_threshold) for on in both]
        return Problem(data.n_rows, problem.functions, problem.families, limits)

    def _recover(self, data: Data, solution: Solution) -> Model:
        limits = solution.problem.global_rows
        projected = project_solution(solution, self.tol)
        if solution.converged and not projected.converged:
            self._warn_not_converged(projected)
        model = super()._recover(data, projected)
        rows = data.decision.rows
        if data.decision.kernel.name == "linear":
            model.decision = project_linear_function(model.decision, rows, limits)
        violation = largest_violation(limits, model.decision(rows))
        if violation > TOLERANCE:
            model.certificate = replace(model.certificate, converged=False)
            warnings.warn(
                f"{type(self).__name__} could not keep the covariance with the "
                f"sensitive features within {TOLERANCE:g} of covariance_threshold="
                f"{self.covariance_threshold:g}: on the training rows it is "
                f"{violation:.2g} beyond. Scale the features or the sensitive columns.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return model

    def correction(self, privileged: Any) -> np.ndarray:
        """Return the correcting function ``w*·x* + b*`` on privileged rows.

        Parameters
        ----------
        privileged : array-like, sparse matrix or DataFrame
            Rows as in ``fit``: privileged features, or sensitive ones if these were
            used as privileged features (then also as numbers, one column for each of
            ``sensitive_columns_``).

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_problems)
            NaN for rows that are missing.
        """
        check_is_fitted(self)
        if self._encoding is not None:
            privileged = self._encoding.encode(privileged)
        return super().correction(privileged)


def project_solution(solution: Solution, tol: float) -> Solution:
    """Return the solution projected onto its constraints ``G f ≥ h``.

    A solver stops at a duality gap, where these may be violated by a small amount. The
    nearest function that satisfies them, in the norm of its space, is::

        f + Σ_g μ_g K G_g,    H_AA μ_A = (h − G f)_A,    H = G K Gᵀ

    where the active set A holds the equalities and the constraints that are violated by
    f, or after the projection onto the others. Only the multipliers of these
    constraints change. The result has converged if it is optimal within `tol`.
    """
    problem, values = solution.problem, solution.values[0]
    limits = problem.global_rows
    if largest_violation(limits, values) <= NEGLIGIBLE:
        return solution
    space, rho = problem.spaces[0], problem.functions[0].weight
    rows = np.array([row.on[0] for row in limits])
    images = np.array([space.apply(row) for row in rows]) / rho
    change = _change(limits, rows @ images.T, values)
    multipliers = solution.multipliers.copy()
    multipliers[problem.size - len(limits) :] += change
    added = change @ rows
    coefficients, weights = list(solution.coefficients), solution.weights
    coefficients[0] = coefficients[0] + added
    if weights is not None and weights[0] is not None:
        weights = [weights[0] + space.matrix.T @ added / rho, *weights[1:]]
    projected = replace(
        solution, multipliers=multipliers, coefficients=coefficients, weights=weights
    )
    projected.converged = solution.converged and projected.is_optimal(tol)
    return projected


def project_linear_function(
    function: Expansion, rows: np.ndarray, limits: Sequence[GlobalRow]
) -> Expansion:
    """Return a linear function projected onto the constraints.

    With features of large scale, the rounding errors of its weights, which are sums
    over the rows, can exceed the tolerance after `project_solution`.
    """
    values = function(rows)
    if largest_violation(limits, values) <= NEGLIGIBLE:
        return function
    images = np.array([np.asarray(rows.T @ row.on[0]).ravel() for row in limits])
    change = _change(limits, images @ images.T, values)
    return replace(function, coefficients=function.coefficients + change @ images)


def largest_violation(limits: Sequence[GlobalRow], values: np.ndarray) -> float:
    """Return the largest violation by a function with these values on the rows."""
    residuals = [(row.at_least - float(row.on[0] @ values), row) for row in limits]
    violations = [abs(one) if row.equality else one for one, row in residuals]
    return max(violations, default=0.0)


def _change(
    limits: Sequence[GlobalRow], hessian: np.ndarray, values: np.ndarray
) -> np.ndarray:
    """Return the multipliers μ of `project_solution`, zero outside the active set."""
    residual = np.array([row.at_least - row.on[0] @ values for row in limits])
    equal = np.array([row.equality for row in limits])
    # Scaled to a unit diagonal, so that small constraints do not count as dependent.
    unit = np.sqrt(np.diag(hessian))
    unit[unit == 0] = 1.0
    scaled = hessian / np.outer(unit, unit)
    active, change = equal | (residual > 0), np.zeros(len(limits))
    for _ in limits:
        # Columns of categories are linearly dependent: the change of least norm.
        change[active] = np.linalg.lstsq(
            scaled[np.ix_(active, active)], (residual / unit)[active], rcond=DEPENDENT
        )[0]
        violated = ~active & (residual - hessian @ (change / unit) > NEGLIGIBLE)
        if not violated.any():
            break
        active |= violated
    return change / unit


@stored
class SensitiveColumns:
    """Encoder of the sensitive columns, fitted to the argument of ``fit``.

    One of `encoders` per column of `labels`, None for numbers; `names` are the results.
    """

    def __init__(self, sensitive: Any, n_rows: int, owner: str):
        self.owner = owner
        self.labels, columns = self._columns(sensitive)
        if not columns or len(columns[0]) != n_rows:
            raise ValueError(
                f"{owner} got sensitive_features with {len(columns)} columns of "
                f"{len(columns[0]) if columns else 0} rows for {n_rows} rows of X. "
                "Give one or several columns, one row for each row of X."
            )
        self.encoders: list[OneHotEncoder | None] = []
        self.names: list[str] = []
        for label, column in zip(self.labels, columns, strict=True):
            missing = missing_values(column).sum()
            if missing:
                raise ValueError(
                    f"{owner} found missing values in the sensitive column {label!r}, "
                    f"in {missing} rows. Fairness cannot be checked for a row without "
                    "a value: remove these rows, or make missing values a category."
                )
            if column.dtype.kind == "f":
                self.encoders.append(None)
                self.names.append(label)
                continue
            encoder = OneHotEncoder(drop="if_binary", sparse_output=False)
            self.encoders.append(encoder.fit(column[:, None]))
            shown = encoder.get_feature_names_out([label])
            self.names += [f"{label}={one[len(label) + 1 :]}" for one in shown]

    def encode(self, sensitive: Any) -> np.ndarray:
        """Return a table encoded as in ``fit``, with NaN for missing values.

        A table of floats with the columns of `names` counts as encoded already.
        """
        labels, columns = self._columns(sensitive)
        encoders = self.encoders
        floats = isinstance(sensitive, np.ndarray) and sensitive.dtype.kind == "f"
        if floats and len(columns) == len(self.names):
            encoders = [None] * len(columns)
        elif labels != self.labels:
            raise ValueError(
                f"{self.owner} was fitted with the sensitive columns {self.labels}, "
                f"but got {labels}. Give the columns used in fit, in that order."
            )
        parts = []
        for label, column, encoder in zip(labels, columns, encoders, strict=True):
            missing = missing_values(column)
            numbers = column.dtype.kind == "f"
            if numbers != (encoder is None) and not missing.all():
                kinds = ("numbers", "categories")
                was, now = kinds if encoder is None else kinds[::-1]
                raise ValueError(
                    f"{self.owner} was fitted with {was} in the sensitive column "
                    f"{label!r}, but got {now}."
                )
            if encoder is None:
                parts.append(column.astype(float)[:, None])
                continue
            # Missing values are replaced by any category, then set to NaN.
            filled = np.where(missing, encoder.categories_[0][0], column)[:, None]
            try:
                part = encoder.transform(filled.astype(str))
            except ValueError as error:
                raise ValueError(
                    f"{self.owner}, sensitive column {label!r}: {error}."
                ) from error
            part[missing] = np.nan
            parts.append(part)
        return np.hstack(parts)

    def _columns(self, sensitive: Any) -> tuple[list[str], list[np.ndarray]]:
        """Return the names and the columns of a table: floats, or text."""
        if sp.issparse(sensitive):
            raise ValueError(
                f"{self.owner} expected sensitive_features as an array or DataFrame, "
                "but got a sparse matrix. Use its toarray()."
            )
        if hasattr(sensitive, "to_frame"):  # a series
            sensitive = sensitive.to_frame()
        if hasattr(sensitive, "columns"):
            names = list(sensitive.columns)
            table = {str(name): sensitive[name] for name in names}
        else:
            # Without dtype=object, numbers beside text would be converted into text.
            is_array = isinstance(sensitive, np.ndarray)
            values = sensitive if is_array else np.array(sensitive, dtype=object)
            if values.ndim not in (1, 2):
                raise ValueError(
                    f"{self.owner} expected sensitive_features to be one or several "
                    "columns with one row per row of X, but got an array of "
                    f"{values.ndim} dimensions: {sensitive!r}."
                )
            columns = values[:, None].T if values.ndim == 1 else values.T
            table = {f"z{j}": column for j, column in enumerate(columns)}
        read = [self._read(label, column) for label, column in table.items()]
        return list(table), read

    def _read(self, label: str, column: Any) -> np.ndarray:
        """Return a column as floats if it holds numbers, otherwise as text."""
        values = np.asarray(column)
        missing = missing_values(values)
        there, dated = values[~missing], values.dtype.kind in "mM"
        # Nanoseconds would be read as integers.
        there = list(there) if dated else there.tolist()
        is_text = [isinstance(value, str | bool) for value in there]
        if all(is_text) or str(column.dtype) == "category":
            text = np.full(len(values), None, dtype=object)
            text[~missing] = [str(value) for value in there]
            return text if missing.any() else text.astype(str)
        numeric = not dated and all(isinstance(v, Real | Decimal) for v in there)
        if any(is_text) or not numeric:
            kinds = sorted({type(value).__name__ for value in there})
            raise ValueError(
                f"{self.owner} cannot read the sensitive column {label!r}, which holds "
                f"values of type {listed(kinds)}. Give a column of numbers (such as an "
                "age in years), of text, of categories or of booleans."
            )
        numbers = np.full(len(values), np.nan)
        numbers[~missing] = there
        if np.isinf(numbers).any():
            raise ValueError(
                f"{self.owner} found infinite values in the sensitive column {label!r}."
            )
        return numbers
