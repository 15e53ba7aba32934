"""Every convex model of the library beside the primal that it claims to minimise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lupi.svm import (
    DeviationSVCPlus,
    FairSVCDeltaPlus,
    HardMarginSVC,
    L2SVCPlus,
    LinearSVCDeltaPlus,
    LinearSVCPlus,
    LinearSVRPlus,
    MarginTransferSVC,
    SVCDeltaPlus,
    SVCPlus,
    SVRPlus,
    UnifiedSVC,
)
from tests.oracle import conic
from tests.oracle.problems import (
    Drawn,
    draw,
    with_linear_kernels,
    with_sensitive,
    with_slacks,
)


def _plain_fit(estimator, drawn):
    return estimator.fit(
        drawn.X, drawn.y, privileged=drawn.P, sample_weight=drawn.weight
    )


def _fair_fit(estimator, drawn):
    return estimator.fit(
        drawn.X,
        drawn.y,
        privileged=drawn.P,
        sensitive_features=drawn.Z,
        sample_weight=drawn.weight,
    )


def _slack_fit(estimator, drawn):
    return estimator.fit(drawn.X, drawn.y, slacks=drawn.slacks)


@dataclass(frozen=True)
class Case:
    """A model: how to make and fit its estimator, its primal, and its particulars."""

    make: Callable[[Drawn], Any]
    primal: Callable[..., conic.Primal]
    adapt: Callable[[Drawn], Drawn] = lambda drawn: drawn
    fit: Callable[[Any, Drawn], Any] = _plain_fit
    regression: bool = False
    # b² belongs to ‖w‖².
    penalised_bias: bool = False
    # The cost of a first SVM on X*, where there is one.
    teacher_C: Callable[[Drawn], float] | None = None

    def draw(self, seed: int) -> Drawn:
        return self.adapt(draw(seed, regression=self.regression))

    def after_first_stage(self, drawn: Drawn, model: Any) -> Drawn:
        """The problem of the second stage, given the first one's function."""
        if self.teacher_C is None:
            return drawn
        function = model._models[0].corrections[-1]
        return replace(drawn, teacher=function(drawn.P[drawn.has]))


def _classifier(estimator, *spaces, **more):
    """An estimator with the drawn kernels, costs and class weights."""

    def make(drawn):
        values = {
            name: getattr(drawn, value[1:]) if value[:1] == "." else value
            for name, value in more.items()
        }
        return estimator(
            C=drawn.C,
            class_weight=drawn.class_weight,
            **values,
            **(drawn.parameters(*spaces) if spaces else {}),
        )

    return make


PRIVILEGED = "privileged_"
DELTA = {"privileged_reg": ".reg", "delta": ".delta"}

CASES = {
    "SVCPlus": Case(
        _classifier(SVCPlus, PRIVILEGED, privileged_reg=".reg"), conic.svm_plus
    ),
    "SVCDeltaPlus-signed": Case(
        _classifier(SVCDeltaPlus, PRIVILEGED, **DELTA), conic.svm_delta_plus_signed
    ),
    "SVCDeltaPlus-hinge": Case(
        _classifier(SVCDeltaPlus, PRIVILEGED, slack="hinge", **DELTA),
        conic.svm_delta_plus_hinge,
    ),
    "UnifiedSVC": Case(
        _classifier(
            UnifiedSVC,
            PRIVILEGED,
            "similarity_",
            similarity_reg=".similarity_reg",
            **DELTA,
        ),
        conic.unified,
    ),
    "SVRPlus": Case(
        lambda drawn: SVRPlus(
            C=drawn.C, privileged_reg=drawn.reg, **drawn.parameters()
        ),
        conic.svr_plus,
        regression=True,
    ),
    "L2SVCPlus": Case(
        _classifier(L2SVCPlus, PRIVILEGED, privileged_reg=".reg"),
        conic.l2_svm_plus,
        penalised_bias=True,
    ),
    "FairSVCDeltaPlus": Case(
        _classifier(
            FairSVCDeltaPlus, PRIVILEGED, covariance_threshold=".threshold", **DELTA
        ),
        conic.fair,
        adapt=with_sensitive,
        fit=_fair_fit,
    ),
    "MarginTransferSVC-simplified": Case(
        _classifier(MarginTransferSVC, PRIVILEGED, privileged_C=".reg", delta=".delta"),
        conic.margin_transfer_simplified,
        teacher_C=lambda drawn: drawn.reg,
    ),
    "MarginTransferSVC-sharmanska": Case(
        _classifier(
            MarginTransferSVC, PRIVILEGED, privileged_C=".reg", method="sharmanska"
        ),
        conic.margin_transfer_sharmanska,
        teacher_C=lambda drawn: drawn.reg,
    ),
    "DeviationSVCPlus": Case(
        _classifier(
            DeviationSVCPlus,
            PRIVILEGED,
            "deviation_",
            privileged_C=".similarity_reg",
            privileged_reg=".reg",
        ),
        conic.deviation,
        teacher_C=lambda drawn: drawn.similarity_reg,
    ),
    "HardMarginSVC": Case(
        lambda drawn: HardMarginSVC(
            **{
                name: value
                for name, value in drawn.parameters().items()
                if not name.startswith(PRIVILEGED)
            }
        ),
        conic.hard_margin,
        adapt=with_slacks,
        fit=_slack_fit,
    ),
    "LinearSVCPlus": Case(
        _classifier(LinearSVCPlus, privileged_reg=".reg"),
        conic.svm_plus,
        adapt=with_linear_kernels,
    ),
    "LinearSVCDeltaPlus-signed": Case(
        _classifier(LinearSVCDeltaPlus, **DELTA),
        conic.svm_delta_plus_signed,
        adapt=with_linear_kernels,
    ),
    "LinearSVCDeltaPlus-hinge": Case(
        _classifier(LinearSVCDeltaPlus, slack="hinge", **DELTA),
        conic.svm_delta_plus_hinge,
        adapt=with_linear_kernels,
    ),
    "LinearSVRPlus": Case(
        lambda drawn: LinearSVRPlus(C=drawn.C, privileged_reg=drawn.reg),
        conic.svr_plus,
        adapt=with_linear_kernels,
        regression=True,
    ),
}


def teacher_problem(case: Case, drawn: Drawn) -> Drawn:
    """The SVM of a first stage as a problem of its own: X* in the place of X."""
    rows = drawn.has
    P = drawn.P[rows]
    return replace(
        drawn,
        X=P,
        y=drawn.y[rows],
        P=np.full_like(P, np.nan),
        # C_i of this stage: the class weights count over all rows.
        weight=drawn.cost[rows] / drawn.C,
        class_weight=None,
        C=case.teacher_C(drawn),
        kernel=drawn.privileged_kernel,
        gamma=drawn.privileged_gamma,
    )
