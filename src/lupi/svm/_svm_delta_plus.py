r"""SVMΔ+: a correcting function and an ordinary slack.

Write f(x) = w·x + b and f*(x*) = w*·x* + b*, and C_i = C · weight of row i.
``slack="signed"`` (Vapnik & Izmailov 2015):

.. math::

    \min_{w, b, w^*, b^*, \zeta}\quad & \tfrac12 \|w\|^2 + \tfrac{\gamma}{2} \|w^*\|^2
        + \sum_i C_i\, [y_i f^*(x^*_i) + \zeta_i] + \Delta \sum_i C_i \zeta_i \\
    \text{s.t.}\quad & y_i f(x_i) \ge 1 - y_i f^*(x^*_i) - \zeta_i, \qquad
        y_i f^*(x^*_i) + \zeta_i \ge 0, \qquad \zeta_i \ge 0

Its dual, with u = α + β − C:

.. math::

    \min_{\alpha, \beta}\quad & \tfrac12 (y \circ \alpha)^\top K (y \circ \alpha)
        + \tfrac{1}{2\gamma} (y \circ u)^\top K^* (y \circ u) - \sum_i \alpha_i \\
    \text{s.t.}\quad & \sum_i y_i \alpha_i = 0, \quad \sum_i y_i u_i = 0, \quad
        \alpha \ge 0, \quad \beta \ge 0, \quad \alpha + \beta \le (1 + \Delta) C

``slack="hinge"`` (Celik, Izmailov & McDaniel 2015, whose γ is 1/γ here and whose κ is
1+Δ):

.. math::

    \min_{w, b, w^*, b^*}\quad \tfrac12 \|w\|^2 + \tfrac{\gamma}{2} \|w^*\|^2
        + \sum_i C_i\, [y_i f^*(x^*_i)]_+
        + (1 + \Delta) \sum_i C_i\, [1 - y_i f(x_i) - y_i f^*(x^*_i)]_+

Its dual, where the second sum is over the rows with X*:

.. math::

    \min_{\alpha, \delta}\quad & \tfrac12 (y \circ \alpha)^\top K (y \circ \alpha)
        + \tfrac{1}{2\gamma} (y \circ (\alpha - \delta))^\top K^*
          (y \circ (\alpha - \delta)) - \sum_i \alpha_i \\
    \text{s.t.}\quad & \sum_i y_i \alpha_i = 0, \quad
        \sum_i y_i (\alpha_i - \delta_i) = 0, \quad
        0 \le \alpha \le (1 + \Delta) C, \quad 0 \le \delta \le C

Both biases are multipliers of the equalities. The two forms coincide if y f* ≥ 0 on all
rows at the optimum of both. A row without X* has an ordinary slack at cost C_i.

======  =====================  ================================================
symbol  name                   meaning
======  =====================  ================================================
C       ``C``                  cost of the correcting function
Δ       ``delta``              extra cost of the ordinary slack, relative to C
γ       ``privileged_reg``     weight of ‖w*‖²
======  =====================  ================================================

References
----------
V. Vapnik, R. Izmailov, "Learning using privileged information: similarity control and
knowledge transfer", JMLR 16, 2015, 2023–2049.

Z. B. Celik, R. Izmailov, P. McDaniel, "Proof and implementation of algorithmic
realization of learning using privileged information (LUPI) paradigm: SVM+", technical
report NAS-TR-0187-2015, Pennsylvania State University, 2015.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from lupi._convex import Family, Problem, Slack
from lupi._parameters import NotNegative, Positive, parameters
from lupi.base import ModelInfo
from lupi.svm._machine import (
    CORRECTING_SPACE,
    DELTA,
    DELTA_C,
    KERNEL_SPACE,
    VAPNIK_IZMAILOV,
    Data,
    KernelClassifier,
    unused_correction,
)


@parameters
class SVCDeltaPlus(KernelClassifier):
    """SVM with a correcting function of privileged features and an ordinary slack.

    Without privileged features it is the C-SVM, as `sklearn.svm.SVC`.

    Parameters
    ----------
    C : float, default=1.0
        Cost of the correcting function, multiplied by sample and class weights.
    delta : float, default=1.0
        Extra cost Δ of the ordinary slack. The paper sets it to the largest C that is
        searched and advises against ΔC < 1; on real tables, 10 was worse than 1.
    privileged_reg : float, default=1.0
        Weight γ of the norm of the correcting function.
    slack : {"signed", "hinge"}, default="signed"
        The published form of the model.
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
        privileged features.
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
        As in `SVCPlus`.
    objective_, duality_gap_, n_iter_, converged_
        Objective, certificate and iterations, as in `SVCPlus`.

    See Also
    --------
    SVCPlus : Has no slack other than the correcting function.
    UnifiedSVC : Combines both models.

    References
    ----------
    V. Vapnik, R. Izmailov, "Learning using privileged information: similarity control
    and knowledge transfer", JMLR 16, 2015, 2023-2049.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi import SVCDeltaPlus
    >>> rng = np.random.default_rng(0)
    >>> hidden = rng.normal(size=(60, 2))
    >>> X = hidden + rng.normal(size=(60, 2))
    >>> y = hidden.sum(axis=1) > 0
    >>> model = SVCDeltaPlus(delta=5.0).fit(X, y, privileged=hidden)
    >>> model.predict([[2.0, 2.0], [-2.0, -2.0]])
    array([ True, False])
    """

    delta: NotNegative = 1.0
    privileged_reg: Positive = 1.0
    slack: Literal["signed", "hinge"] = "signed"

    __lupi_info__ = ModelInfo(
        title="SVMΔ+",
        paper=VAPNIK_IZMAILOV,
        cite="vapnik2015similarity,celik2015svmplus",
        helps="the margin violation of a row is approximately a function of x\\*; an "
        "ordinary slack covers the rest",
        cost="2n multipliers",
        tune="`C`, `privileged_reg`, `delta`, both kernels; `C` downwards, as the cost "
        "is (1+Δ)C if X\\* is uninformative",
        family="svc",
        fixed=DELTA,
        space=KERNEL_SPACE,
        privileged_space=CORRECTING_SPACE | DELTA_C,
        functions=("signed",),
        rank=11,
        default=True,
        many_rows="LinearSVCDeltaPlus",
    )

    _trivial = (unused_correction,)

    def _problem(self, data: Data) -> Problem:
        return delta_problem(data, self.privileged_reg, self.delta, self.slack)


def delta_problem(
    data: Data, privileged_reg: float, delta: float, slack: str = "signed"
) -> Problem:
    """Return the primal with one of the slacks of the module docstring."""
    functions = [data.decision_function()]
    families = data.plain_hinge()
    if data.privileged:
        y, cost = data.on_privileged(data.target), data.on_privileged(data.cost)
        one, zero, rows = np.ones(len(y)), np.zeros(len(y)), data.privileged_rows
        zeta = Slack(linear=(1.0 + delta) * cost)
        families.append(Family({0: y, 1: y}, one, rows, zeta))
        if slack == "signed":
            functions.append(data.correcting_function(0, privileged_reg, y * cost))
            families.append(Family({1: y}, zero, rows, zeta))
        else:
            functions.append(data.correcting_function(0, privileged_reg))
            families.append(Family({1: -y}, zero, rows, Slack(linear=cost)))
    return Problem(data.n_rows, functions, families)
