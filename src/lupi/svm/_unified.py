r"""SVMu: SVM+ and SVMΔ+ in one problem, on two copies of the privileged features.

Primal, with C_i = C · weight of row i, f*(x*) = w*·x* + b* and
f**(x*) = w**·x* + b**:

.. math::

    \min\quad & \tfrac12 \|w\|^2 + \tfrac{\gamma}{2} \|w^*\|^2
        + \tfrac{\Gamma}{2} \|w^{**}\|^2 + \sum_i C_i f^*(x^*_i)
        + \sum_i C_i\, [y_i f^{**}(x^*_i) + \zeta_i] + \Delta \sum_i C_i \zeta_i \\
    \text{s.t.}\quad & y_i f(x_i) \ge 1 - f^*(x^*_i), \qquad f^*(x^*_i) \ge 0, \\
        & y_i f(x_i) \ge 1 - y_i f^{**}(x^*_i) - \zeta_i, \qquad
        y_i f^{**}(x^*_i) + \zeta_i \ge 0, \qquad \zeta_i \ge 0

Dual, with u = α + β − C and v = η + μ − C:

.. math::

    \min_{\alpha, \beta, \eta, \mu \ge 0}\quad &
        \tfrac12 (y \circ (\alpha + \eta))^\top K (y \circ (\alpha + \eta))
        + \tfrac{1}{2\gamma} u^\top K^* u
        + \tfrac{1}{2\Gamma} (y \circ v)^\top K^{**} (y \circ v)
        - \sum_i (\alpha_i + \eta_i) \\
    \text{s.t.}\quad & \sum_i y_i (\alpha_i + \eta_i) = 0, \quad \sum_i u_i = 0, \quad
        \sum_i y_i v_i = 0, \quad \eta + \mu \le (1 + \Delta) C

A row without X* has one ordinary hinge at cost C_i. As Γ → ∞ the model does not become
SVM+: its second function becomes a constant whose constraints remain.

======  =====================  =================================================
symbol  name                   meaning
======  =====================  =================================================
C, Δ    ``C``, ``delta``       costs, as in `SVCDeltaPlus`
γ       ``privileged_reg``     weight of ‖w*‖², the function of SVM+
Γ       ``similarity_reg``     weight of ‖w**‖², the function of SVMΔ+
K*      ``privileged_kernel``  kernel of w*
K**     ``similarity_kernel``  kernel of w**
======  =====================  =================================================

References
----------
O. Thomas, "Learning using privileged information: a unified approach", thesis,
University of Sussex, 2017, chapter 5.
"""

from __future__ import annotations

from dataclasses import field

import numpy as np

from lupi._convex import Family, Problem, Slack
from lupi._parameters import NotNegative, Positive, parameters
from lupi.base import ModelInfo, SharedOver
from lupi.kernels import AnyKernel, Degree, Gamma
from lupi.svm._machine import (
    CORRECTING_SPACE,
    DELTA,
    KERNEL_SPACE,
    LARGEST_C,
    PRIVILEGED_SCALES,
    REG,
    THOMAS,
    Data,
    KernelClassifier,
    constant_decision,
)


@parameters
class UnifiedSVC(KernelClassifier):
    """SVM+ and SVMΔ+ in one problem, each with its own kernel on X*.

    The part of SVM+ has no slack but its correcting function. As `SVCPlus`, it loses
    accuracy if X* carries little information about the margins: with its defaults and
    60 rows it lost 0.010 AUC on average over 28 real tables and a generated one, and
    0.050 on the worst. Tune its parameters, or use :class:`SVCDeltaPlus` or
    :class:`~lupi.transfer.HedgedDistillationClassifier`.

    Without privileged features it is the C-SVM, as `sklearn.svm.SVC`.

    Parameters
    ----------
    C : float, default=0.5
        Cost of both correcting functions. A row with X* pays it once for each, so that
        0.5 corresponds to ``C=1`` of the other models.
    delta : float, default=0.3
        Extra cost Δ of the ordinary slack.
    privileged_reg : float, default=0.001
        Weight γ of the function of SVM+.
    similarity_reg : float, default=1.0
        Weight Γ of the function of SVMΔ+.
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
        As `kernel`, `gamma`, `degree` and `coef0`, with the same defaults, for X* in
        the function of SVM+.
    similarity_kernel, similarity_gamma, similarity_degree, similarity_coef0
        As `kernel`, `gamma`, `degree` and `coef0`, with the same defaults, for X* in
        the function of SVMΔ+.
    multi_class : {"ovo", "ovr"}, default="ovo"
        How more than two classes are split into binary problems.
    class_weight : dict or "balanced", default=None
        Weights of the classes.
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
        As in `SVCPlus`; `dual_coef_` holds y∘(α+η).
    objective_, duality_gap_, n_iter_, converged_
        Objective, certificate and iterations, as in `SVCPlus`.

    See Also
    --------
    SVCPlus, SVCDeltaPlus : The two models that it combines.

    References
    ----------
    O. Thomas, "Learning using privileged information: a unified approach", thesis,
    University of Sussex, 2017, chapter 5.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi import UnifiedSVC
    >>> rng = np.random.default_rng(0)
    >>> hidden = rng.normal(size=(40, 2))
    >>> X = hidden + rng.normal(size=(40, 2))
    >>> y = hidden.sum(axis=1) > 0
    >>> model = UnifiedSVC(privileged_kernel="linear").fit(X, y, privileged=hidden)
    >>> model.correction(hidden).shape
    (40, 2)
    """

    C: Positive = field(default=0.5, kw_only=False)
    delta: NotNegative = 0.3
    privileged_reg: Positive = 0.001
    similarity_reg: Positive = 1.0
    similarity_kernel: AnyKernel = "rbf"
    similarity_gamma: Gamma = "scale"
    similarity_degree: Degree = 3
    similarity_coef0: float = 0.0

    __lupi_info__ = ModelInfo(
        title="SVMu",
        paper=THOMAS,
        cite="thomas2017unified",
        helps="the assumption of `SVCPlus` or of `SVCDeltaPlus` holds, unknown which; "
        "it may be worse than the better of the two",
        cost="4n multipliers",
        tune="as `SVCDeltaPlus`, and `similarity_reg`",
        family="svc",
        fixed=DELTA,
        space=KERNEL_SPACE,
        privileged_space=CORRECTING_SPACE
        | {
            "similarity_kernel": ["rbf", "linear"],
            "similarity_gamma": PRIVILEGED_SCALES,
            "similarity_reg": REG,
            # Geometric mean of the divisors of SVM+, 1, and of SVMΔ+.
            "C": SharedOver((1 + LARGEST_C) ** 0.5),
        },
        functions=("slack", "signed"),
        rank=12,
    )

    _spaces = ("privileged_", "similarity_")
    _functions = (0, 1)
    _trivial = (constant_decision,)

    def _problem(self, data: Data) -> Problem:
        functions = [data.decision_function()]
        families = data.plain_hinge()
        if data.privileged:
            y, cost = data.on_privileged(data.target), data.on_privileged(data.cost)
            one, zero, rows = np.ones(len(y)), np.zeros(len(y)), data.privileged_rows
            zeta = Slack(linear=(1.0 + self.delta) * cost)
            functions += [
                data.correcting_function(0, self.privileged_reg, cost),
                data.correcting_function(1, self.similarity_reg, y * cost),
            ]
            families += [
                Family({0: y, 1: one}, one, rows),
                Family({1: one}, zero, rows),
                Family({0: y, 2: y}, one, rows, zeta),
                Family({2: y}, zero, rows, zeta),
            ]
        return Problem(data.n_rows, functions, families)
