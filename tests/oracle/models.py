"""Every convex model of the library beside the primal that it claims to minimise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lupi.svm import L2SVCPlus, SVCDeltaPlus, SVCPlus, SVRPlus, UnifiedSVC

from . import conic


@dataclass(frozen=True)
class Case:
    """A model: how to make its estimator, its primal, and what is special of it."""

    make: Callable[[Any], Any]
    primal: Callable[..., conic.Primal]
    regression: bool = False
    # b² belongs to ‖w‖².
    penalised_bias: bool = False


def _classifier(estimator, *spaces, **more):
    def make(drawn):
        return estimator(
            C=drawn.C,
            class_weight=drawn.class_weight,
            **{name: read(drawn) for name, read in more.items()},
            **drawn.parameters(*spaces),
        )

    return make


def _reg(drawn):
    return drawn.reg


def _similarity(drawn):
    return drawn.similarity_reg


def _delta(drawn):
    return drawn.delta


def _always(value):
    return lambda drawn: value


CASES = {
    "SVCPlus": Case(_classifier(SVCPlus, privileged_reg=_reg), conic.svm_plus),
    "SVCDeltaPlus-signed": Case(
        _classifier(SVCDeltaPlus, privileged_reg=_reg, delta=_delta),
        conic.svm_delta_plus_signed,
    ),
    "SVCDeltaPlus-hinge": Case(
        _classifier(
            SVCDeltaPlus, privileged_reg=_reg, delta=_delta, slack=_always("hinge")
        ),
        conic.svm_delta_plus_hinge,
    ),
    "UnifiedSVC": Case(
        _classifier(
            UnifiedSVC,
            "privileged_",
            "similarity_",
            privileged_reg=_reg,
            similarity_reg=_similarity,
            delta=_delta,
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
        _classifier(L2SVCPlus, privileged_reg=_reg),
        conic.l2_svm_plus,
        penalised_bias=True,
    ),
}
