r"""Margin transfer: the margins of an SVM on X* determine those of the SVM on X.

First an SVM f* is trained on (X*, y). With ``method="simplified"`` (SVMΔ+ simplified)
the slacks in X are a multiple t of its slacks ξ*_i = [1 − y_i f*(x*_i)]₊, up to an
ordinary slack ζ, with C_i = C · weight:

.. math::

    \min_{w, b, t, \zeta}\quad & \tfrac12 \|w\|^2 + t \sum_i C_i \xi^*_i
        + (1 + \Delta) \sum_i C_i \zeta_i \\
    \text{s.t.}\quad & y_i f(x_i) \ge 1 - t\, \xi^*_i - \zeta_i, \qquad
        t \ge 0, \qquad \zeta \ge 0

Its dual:

.. math::

    \min_\alpha\quad & \tfrac12 (y \circ \alpha)^\top K (y \circ \alpha)
        - \sum_i \alpha_i \\
    \text{s.t.}\quad & \sum_i y_i \alpha_i = 0, \quad
        0 \le \alpha_i \le (1 + \Delta) C_i, \quad
        \sum_i \alpha_i \xi^*_i \le \sum_i C_i \xi^*_i

``method="sharmanska"`` is the original margin transfer, an SVM with margins
ρ_i = max(y_i f*(x*_i), ε):

.. math::

    \min_{w, b, \xi}\quad \tfrac12 \|w\|^2 + \sum_i C_i \xi_i
        \quad\text{s.t.}\quad y_i f(x_i) \ge \rho_i - \xi_i, \quad \xi \ge 0

A row without X* is left out of the first SVM and has an ordinary slack at cost C_i in
the second.

======  ==================  ======================================================
symbol  name                meaning
======  ==================  ======================================================
C, Δ    ``C``, ``delta``    costs in X
C*      ``privileged_C``    cost of the SVM on X*
ε       ``margin_floor``    smallest margin ("sharmanska")
======  ==================  ======================================================

References
----------
V. Vapnik, R. Izmailov, "Learning using privileged information: similarity control and
knowledge transfer", JMLR 16, 2015, 2023–2049.

V. Sharmanska, N. Quadrianto, C. H. Lampert, "Learning to rank using privileged
information", ICCV 2013.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from lupi._convex import Family, Function, GlobalRow, Problem, Slack
from lupi._parameters import NotNegative, Positive, parameters
from lupi.base import ModelInfo, Training
from lupi.svm._machine import (
    DELTA,
    DELTA_C,
    FIRST_STAGE_SPACE,
    KERNEL_SPACE,
    VAPNIK_IZMAILOV,
    Data,
    KernelClassifier,
    Kernels,
    Model,
    train_first_stage,
)


@parameters
class MarginTransferSVC(KernelClassifier):
    """SVM whose slacks or margins follow those of an SVM on privileged features.

    Without privileged features it is the C-SVM, as `sklearn.svm.SVC`.

    Parameters
    ----------
    C : float, default=1.0
        Cost of the slacks in X, multiplied by sample and class weights.
    method : {"simplified", "sharmanska"}, default="simplified"
        Transfer the slacks of the SVM on X*, or its margins.
    delta : float, default=0.3
        Extra cost Δ of slack beyond the transferred one ("simplified").
    margin_floor : float, default=0.1
        Smallest margin ε of a row ("sharmanska").
    privileged_C : float, default=1.0
        Cost of the SVM on X*.
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
        As `kernel`, `gamma`, `degree` and `coef0`, with the same defaults, for the SVM
        on X*.
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
        Of the SVM on X, as in `SVCPlus`; `converged_` requires that of the SVM on X*.
    privileged_objective_, privileged_duality_gap_, privileged_n_iter_, \
privileged_converged_
        The same of the SVM on X*; only with privileged features.

    See Also
    --------
    SVCDeltaPlus : Learns the correcting function together with the classifier.

    References
    ----------
    V. Sharmanska, N. Quadrianto, C. H. Lampert, "Learning to rank using privileged
    information", ICCV 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi import MarginTransferSVC
    >>> rng = np.random.default_rng(0)
    >>> hidden = rng.normal(size=(60, 2))
    >>> X = hidden + rng.normal(size=(60, 2))
    >>> model = MarginTransferSVC().fit(X, hidden.sum(axis=1) > 0, privileged=hidden)
    >>> model.predict([[2.0, 2.0], [-2.0, -2.0]])
    array([ True, False])
    """

    method: Literal["simplified", "sharmanska"] = "simplified"
    delta: NotNegative = 0.3
    margin_floor: Positive = 0.1
    privileged_C: Positive = 1.0

    __lupi_info__ = ModelInfo(
        title="Margin transfer",
        paper=VAPNIK_IZMAILOV,
        cite="vapnik2015similarity,sharmanska2013rank",
        helps="rows that are easy for an SVM on X\\* are also easy in X",
        cost="n multipliers, twice",
        tune="`C`, `privileged_C`, `delta`",
        family="svc",
        fixed=DELTA,
        space=KERNEL_SPACE,
        privileged_space=FIRST_STAGE_SPACE | DELTA_C,
        functions=("signed",),
        rank=13,
    )

    _functions = ()

    def _fit_binary(self, part: Training[Kernels]) -> Model:
        data = self._data(part)
        if not data.privileged:
            return self._recover(data, self._solve(simplified_problem(data, None, 0.0)))
        teacher, missed, certificate = train_first_stage(self, data, self.privileged_C)
        if self.method == "simplified":
            # t may be large, so that slacks of the size of rounding errors must be 0;
            # `train_first_stage` has done that.
            problem = simplified_problem(data, np.maximum(missed, 0.0), self.delta)
        else:
            problem = margin_problem(data, np.maximum(1.0 - missed, self.margin_floor))
        model = self._recover(data, self._solve(problem))
        model.first, model.corrections = certificate, [teacher]
        return model


def simplified_problem(data: Data, slacks: np.ndarray | None, delta: float) -> Problem:
    """Return the primal with ``method="simplified"``; without slacks the C-SVM."""
    functions = [data.decision_function()]
    families = data.plain_hinge()
    bounds = []
    if slacks is not None:
        y, cost = data.on_privileged(data.target), data.on_privileged(data.cost)
        on = {0: y}
        if slacks.any():
            # t·ξ* is a function without a kernel whose basis is ξ*, with t ≥ 0.
            functions.append(Function(None, 1.0, slacks, cost, data.privileged_rows))
            on[1] = np.ones(len(y))
            bounds.append(GlobalRow({1: slacks / (slacks @ slacks)}, 0.0))
        zeta = Slack(linear=(1.0 + delta) * cost)
        families.append(Family(on, np.ones(len(y)), data.privileged_rows, zeta))
    return Problem(data.n_rows, functions, families, bounds)


def margin_problem(data: Data, margins: np.ndarray) -> Problem:
    """Return the primal with ``method="sharmanska"``."""
    families = data.plain_hinge()
    y, cost = data.on_privileged(data.target), data.on_privileged(data.cost)
    families.append(Family({0: y}, margins, data.privileged_rows, Slack(linear=cost)))
    return Problem(data.n_rows, [data.decision_function()], families)
