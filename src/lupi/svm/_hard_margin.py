r"""The hard-margin SVM, and the oracle SVM with known slacks.

Primal:

.. math::

    \min_{w, b}\quad \tfrac12 \|w\|^2 \quad\text{s.t.}\quad
        y_i (w^\top x_i + b) \ge 1 - \xi_i

with ξ = 0, or with known slacks ξ_i ≥ 0: the *oracle SVM*, the ideal teacher in the
theory of learning rates. Dual:

.. math::

    \max_\alpha\quad \sum_i (1 - \xi_i) \alpha_i
        - \tfrac12 (y \circ \alpha)^\top K (y \circ \alpha)
        \quad\text{s.t.}\quad \sum_i y_i \alpha_i = 0, \quad \alpha \ge 0

References
----------
V. Vapnik, A. Vashist, "A new learning paradigm: learning using privileged
information", Neural Networks 22(5–6), 2009, 544–557, section 2.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metadata_routing import UNUSED

from lupi._convex import Family, Problem
from lupi._parameters import MaxIter, MultiClass, Positive, parameters
from lupi.base import ModelInfo, PrivilegedClassifierBase, Training, atomic_fit
from lupi.base._arguments import one_per_row
from lupi.kernels import AnyKernel, Degree, Gamma
from lupi.svm._machine import Data, KernelMachine, Kernels, Solver

# Largest violation of a margin of one at which the rows count as separated.
SEPARATED = 1e-3


@parameters
class HardMarginSVC(KernelMachine, PrivilegedClassifierBase):
    """SVM without slacks, or with known slacks.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, \
default="rbf"
        Kernel of X.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the kernel of X, as in `sklearn.svm.SVC`.
    degree : int, default=3
        Degree of the polynomial kernel of X.
    coef0 : float, default=0.0
        Constant of the polynomial and sigmoid kernels of X.
    multi_class : {"ovo", "ovr"}, default="ovo"
        How more than two classes are split into binary problems.
    solver : {"auto", "interior", "proximal"}, default="auto"
        The solver; "auto" chooses by size and parameters.
    tol : float, default=1e-6
        Relative duality gap at which to stop.
    max_iter : int, default=-1
        Limit on the iterations; -1 for the limit of the solver.

    Attributes
    ----------
    classes_, support_, support_vectors_, dual_coef_, intercept_, coef_
        As in `SVCPlus`.
    objective_, duality_gap_, n_iter_, converged_
        The primal value ½‖w‖² and its certificate, as in `SVCPlus`.

    Examples
    --------
    >>> from lupi import HardMarginSVC
    >>> model = HardMarginSVC(kernel="linear").fit([[0.0], [1.0]], ["no", "yes"])
    >>> model.coef_.round(2), model.intercept_.round(2)
    (array([[2.]]), array([-1.]))
    """

    kernel: AnyKernel = "rbf"
    gamma: Gamma = "scale"
    degree: Degree = 3
    coef0: float = 0.0
    multi_class: MultiClass = "ovo"
    solver: Solver = "auto"
    tol: Positive = 1e-6
    max_iter: MaxIter = -1

    __lupi_info__ = ModelInfo(
        title="Hard-margin and oracle SVM",
        paper="Vapnik 1998, Statistical Learning Theory",
        cite="vapnik2009lupi",
        helps="the slacks are known: it is the ideal teacher of the theory; no X\\*",
        cost="n multipliers",
        tune="the kernel",
        needs="separable data",
        rank=30,
    )

    # fit has no argument privileged: the request of the base class is removed.
    __metadata_request__fit: ClassVar[dict[str, bool | str]] = {
        "privileged": UNUSED,
        "slacks": True,
    }
    _spaces = _functions = ()

    @atomic_fit
    def fit(  # type: ignore[override]
        self, X: Any, y: Any, *, slacks: Any = None
    ) -> HardMarginSVC:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Class labels.
        slacks : array-like of shape (n_samples,), default=None
            Known slacks ξ ≥ 0; the margin of row i is 1 − ξ_i.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        training = self._validate_fit(X, y)
        margin = np.ones(training.n_rows)
        if slacks is not None:
            margin -= one_per_row(slacks, training.n_rows, "slacks", self)
        self._fit_training(replace(training, extra={"margin": margin}))
        return self

    def _cost(self, part: Training[Kernels]) -> np.ndarray:
        return part.weight  # there is no slack; only the scale of rounding errors

    def _problem(self, data: Data) -> Problem:
        return Problem(
            data.n_rows,
            [data.decision_function()],
            [Family({0: data.target}, data.extra["margin"])],
        )

    def _check_solved(self, solution: Any) -> None:
        # Rows separated by a very small margin only miss the duality gap.
        if not solution.converged and solution.primal_residual > SEPARATED:
            raise ValueError(
                "HardMarginSVC found no hyperplane that separates the classes: they "
                "are not separable in the space of this kernel, or the margin is too "
                "small to be computed. Use a more flexible kernel, an SVM with slack "
                "(SVCPlus, sklearn.svm.SVC), or give the slacks."
            )
        super()._check_solved(solution)
