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
from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from lupi._convex import GlobalRow, Problem, Solution
from lupi._parameters import FLAG, Constraints, Number
from lupi.base import ModelInfo, PrivilegedClassifierBase, atomic_fit
from lupi.svm._covariance import (
    TOLERANCE,
    largest_violation,
    project_linear_function,
    project_solution,
)
from lupi.svm._data import Data
from lupi.svm._machine import KernelMachine, Model
from lupi.svm._search import THOMAS
from lupi.svm._sensitive import SensitiveColumns
from lupi.svm._svm_delta_plus import signed_problem
from lupi.svm._trivial import unused_correction

__all__ = ["FairSVCDeltaPlus"]


class FairSVCDeltaPlus(KernelMachine, PrivilegedClassifierBase):
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
    _parameter_constraints: ClassVar[Constraints] = {
        "covariance_threshold": [Number(Real, 0, None, "both")],
        "sensitive_as_privileged": FLAG,
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        covariance_threshold: float = 0.0,
        sensitive_as_privileged: bool = True,
        delta: float = 1.0,
        privileged_reg: float = 1.0,
        kernel: str | Callable = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        privileged_kernel: str | Callable = "rbf",
        privileged_gamma: float | str = "scale",
        privileged_degree: int = 3,
        privileged_coef0: float = 0.0,
        multi_class: str = "ovo",
        class_weight: dict | str | None = None,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = -1,
        device: str = "cpu",
    ):
        self.C = C
        self.covariance_threshold = covariance_threshold
        self.sensitive_as_privileged = sensitive_as_privileged
        self.delta = delta
        self.privileged_reg = privileged_reg
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.privileged_kernel = privileged_kernel
        self.privileged_gamma = privileged_gamma
        self.privileged_degree = privileged_degree
        self.privileged_coef0 = privileged_coef0
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.device = device

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
        return self._fit_training(replace(training, extra=extra))

    def _problem(self, data: Data) -> Problem:
        problem = signed_problem(data, self.privileged_reg, self.delta)
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
            for sign in (1.0, -1.0):
                limits.append(
                    GlobalRow({0: sign * centered}, -self.covariance_threshold)
                )
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
        violation = largest_violation(limits, model.decision(rows)) if limits else 0.0
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
