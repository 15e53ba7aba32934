"""SVM+, SVMΔ+ and ε-SVR+ in feature space, for many rows.

The primals are those of `lupi.svm.SVCPlus`, `SVCDeltaPlus` and `SVRPlus` with linear
kernels in both spaces. The interior-point method computes its Newton steps in the
weights, at a cost of n(p+q)² a step, which is linear in n; no Gram matrix is formed.
With `sklearn.kernel_approximation.Nystroem` in a pipeline for X, and in
`TransformedPrivileged` for X*, these are large-scale kernel machines.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal

import numpy as np

from lupi._convex import Problem
from lupi._parameters import (
    ClassWeight,
    MaxIter,
    MultiClass,
    NotNegative,
    Positive,
    parameters,
)
from lupi.base import (
    Fitted,
    ModelInfo,
    PrivilegedClassifierBase,
    PrivilegedRegressorBase,
    PrivilegedTags,
)
from lupi.kernels import Kernel
from lupi.svm._machine import (
    DELTA,
    DELTA_C,
    LINEAR_SPACE,
    REG,
    REGRESSION_SPACE,
    VAPNIK_IZMAILOV,
    VAPNIK_VASHIST,
    Data,
    Device,
    KernelMachine,
    Kernels,
    Model,
    certificates,
    constant_decision,
    unused_correction,
)
from lupi.svm._svm_delta_plus import delta_problem
from lupi.svm._svm_plus import svm_plus_problem
from lupi.svm._svr_plus import svr_plus_problem


@parameters
class _LinearMachine(KernelMachine):
    """Kernel machine with linear kernels, always solved in feature space."""

    C: Positive = field(default=1.0, kw_only=False)
    tol: Positive = 1e-6
    max_iter: MaxIter = -1
    device: Device = "cpu"

    kernel = privileged_kernel = "linear"
    solver = "auto"
    _feature_rows = 0

    def _settle(self, prefix: str, rows: Any, weight: np.ndarray) -> Kernel:
        return Kernel("linear")

    def _attributes(self, fitted: Fitted[Kernels, Model]) -> dict[str, Any]:
        coef = np.array([model.decision.coefficients for model in fitted.models])
        return {"coef_": coef} | certificates(fitted.models)


@parameters
class LinearSVCPlus(_LinearMachine, PrivilegedClassifierBase):
    """SVM+ with linear functions of X and of X*, for many rows.

    The model suits privileged features that measure how difficult a row is. It loses
    accuracy if they predict the label instead, as a later measurement does: no row has
    a slack of its own, so that violations which X* cannot explain distort the decision
    function. With its defaults and 60 rows it lost 0.109 AUC on average over 28 real
    tables and a generated one. Tune ``C`` and ``privileged_reg``, or use
    :class:`LinearSVCDeltaPlus` or :class:`~lupi.transfer.HedgedDistillationClassifier`.

    Parameters
    ----------
    C : float, default=1.0
        Cost of the slacks, multiplied by sample and class weights.
    privileged_reg : float, default=0.001
        Weight γ of the norm of the correcting function.
    multi_class : {"ovo", "ovr"}, default="ovo"
        How more than two classes are split into binary problems.
    class_weight : dict or "balanced", default=None
        Weights of the classes.
    tol : float, default=1e-6
        Relative duality gap at which to stop.
    max_iter : int, default=-1
        Limit on the iterations; -1 for the limit of the solver.
    device : {"cpu", "cuda"}, default="cpu"
        Where the problem is solved; ``"cuda"`` needs PyTorch (``lupi[gpu]``) and a GPU.

    Attributes
    ----------
    classes_ : ndarray
        The class labels.
    coef_ : ndarray of shape (n_problems, n_features)
        The weights w.
    intercept_ : ndarray of shape (n_problems,)
        The biases b.
    objective_, duality_gap_, n_iter_, converged_
        Objective, certificate and iterations, as in `SVCPlus`.

    See Also
    --------
    SVCPlus : The same model with kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi import LinearSVCPlus
    >>> rng = np.random.default_rng(0)
    >>> hidden = rng.normal(size=(500, 2))
    >>> X = hidden + rng.normal(size=(500, 2))
    >>> y = np.where(hidden.sum(axis=1) > 0, 1, -1)
    >>> violation = np.maximum(1 - y * X.sum(axis=1), 0)[:, None]
    >>> model = LinearSVCPlus().fit(X, y, privileged=violation)
    >>> model.predict([[2.0, 2.0], [-2.0, -2.0]])
    array([ 1, -1])
    """

    privileged_reg: Positive = 0.001
    multi_class: MultiClass = "ovo"
    class_weight: ClassWeight = None

    __lupi_info__ = ModelInfo(
        title="Linear forms",
        paper=VAPNIK_VASHIST,
        helps="as `SVCPlus`, with linear functions; a linear correction often cannot "
        "represent the margin violations: use `Nystroem` on X\\*",
        cost="n(p+q)² a step, no n × n matrix",
        tune="`C`, `privileged_reg`",
        family="svc-linear",
        space=LINEAR_SPACE,
        privileged_space={"privileged_reg": REG},
        functions=("slack",),
        rank=20,
    )

    _trivial = (constant_decision,)

    def __lupi_tags__(self) -> PrivilegedTags:
        return PrivilegedTags(
            cannot_hold={
                "check_privileged_rows_follow_their_rows": (
                    "no linear function that is positive on all rows of the task "
                    "follows the margin violations: the solution is trivial, whatever "
                    "the order of X*"
                )
            }
        )

    def _problem(self, data: Data) -> Problem:
        return svm_plus_problem(data, self.privileged_reg)


@parameters
class LinearSVCDeltaPlus(_LinearMachine, PrivilegedClassifierBase):
    """SVMΔ+ with linear functions of X and of X*, for many rows.

    Parameters
    ----------
    C : float, default=1.0
        Cost of the correcting function, multiplied by sample and class weights.
    delta : float, default=3.0
        Extra cost Δ of the ordinary slack.
    privileged_reg : float, default=1.0
        Weight γ of the norm of the correcting function.
    slack : {"signed", "hinge"}, default="signed"
        Which of the two published forms, as in `SVCDeltaPlus`.
    multi_class : {"ovo", "ovr"}, default="ovo"
        How more than two classes are split into binary problems.
    class_weight : dict or "balanced", default=None
        Weights of the classes.
    tol : float, default=1e-6
        Relative duality gap at which to stop.
    max_iter : int, default=-1
        Limit on the iterations; -1 for the limit of the solver.
    device : {"cpu", "cuda"}, default="cpu"
        Where the problem is solved; ``"cuda"`` needs PyTorch (``lupi[gpu]``) and a GPU.

    Attributes
    ----------
    classes_, coef_, intercept_, objective_, duality_gap_, n_iter_, converged_
        As in `LinearSVCPlus`.

    See Also
    --------
    SVCDeltaPlus : The same model with kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi import LinearSVCDeltaPlus
    >>> rng = np.random.default_rng(0)
    >>> hidden = rng.normal(size=(200, 2))
    >>> X = hidden + rng.normal(size=(200, 2))
    >>> y = np.where(hidden.sum(axis=1) > 0, 1, -1)
    >>> violation = y * np.maximum(1 - y * X.sum(axis=1), 0)
    >>> model = LinearSVCDeltaPlus().fit(X, y, privileged=violation[:, None])
    >>> model.predict([[2.0, 2.0], [-2.0, -2.0]])
    array([ 1, -1])
    """

    delta: NotNegative = 3.0
    privileged_reg: Positive = 1.0
    slack: Literal["signed", "hinge"] = "signed"
    multi_class: MultiClass = "ovo"
    class_weight: ClassWeight = None

    __lupi_info__ = ModelInfo(
        title="Linear forms",
        paper=VAPNIK_IZMAILOV,
        helps="as `SVCDeltaPlus`, with linear functions",
        cost="n(p+q)² a step, no n × n matrix",
        tune="`C`, `privileged_reg`, `delta`",
        family="svc-linear",
        fixed=DELTA,
        space=LINEAR_SPACE,
        privileged_space={"privileged_reg": REG} | DELTA_C,
        functions=("signed",),
        rank=21,
    )

    _trivial = (unused_correction,)

    def _problem(self, data: Data) -> Problem:
        return delta_problem(data, self.privileged_reg, self.delta, self.slack)


@parameters
class LinearSVRPlus(_LinearMachine, PrivilegedRegressorBase):
    """ε-SVR+ with linear functions of X and of X*, for many rows.

    Parameters
    ----------
    C : float, default=1.0
        Cost of the slacks, multiplied by sample weights.
    epsilon : float, default=0.1
        Half the width of the tube inside which errors cost nothing.
    privileged_reg : float, default=1.0
        Weight γ of the norms of the two correcting functions.
    tol : float, default=1e-6
        Relative duality gap at which to stop.
    max_iter : int, default=-1
        Limit on the iterations; -1 for the limit of the solver.
    device : {"cpu", "cuda"}, default="cpu"
        Where the problem is solved; ``"cuda"`` needs PyTorch (``lupi[gpu]``) and a GPU.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The weights w.
    intercept_ : ndarray of shape (1,)
        The bias b.
    objective_, duality_gap_, n_iter_, converged_
        Objective, certificate and iterations, as in `SVRPlus`.

    See Also
    --------
    SVRPlus : The same model with kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi import LinearSVRPlus
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 1))
    >>> noise = rng.normal(size=200)
    >>> y = 2 * X[:, 0] + noise
    >>> model = LinearSVRPlus().fit(X, y, privileged=np.abs(noise)[:, None])
    >>> model.coef_.shape
    (1,)
    """

    epsilon: NotNegative = 0.1
    privileged_reg: Positive = 1.0

    __lupi_info__ = ModelInfo(
        title="Linear forms",
        paper=VAPNIK_VASHIST,
        helps="as `SVRPlus`, with linear functions",
        cost="n(p+2q)² a step, no n × n matrix",
        tune="`C`, `epsilon`, `privileged_reg`",
        family="svr-linear",
        space=REGRESSION_SPACE,
        privileged_space={"privileged_reg": REG},
        functions=("slack", "slack"),
        rank=22,
    )

    _functions = (0, 0)

    def _problem(self, data: Data) -> Problem:
        return svr_plus_problem(data, self.privileged_reg, self.epsilon)

    def _attributes(self, fitted: Fitted[Kernels, Model]) -> dict[str, Any]:
        attributes = super()._attributes(fitted)
        return attributes | {"coef_": attributes["coef_"][0]}
