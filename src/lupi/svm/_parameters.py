"""Checks of the parameters of the SVM+ family, by their names."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from lupi._convex import SOLVERS
from lupi._device import DEVICES
from lupi._words import listed
from lupi.kernels import check_kernel

__all__ = ["check_parameters"]

POSITIVE = (
    *("C", "privileged_C", "privileged_reg", "similarity_reg"),
    *("margin_floor", "tol"),
)
NOT_NEGATIVE = ("delta", "epsilon")
CHOICES = {
    "method": ("simplified", "sharmanska"),
    "slack": ("signed", "hinge"),
    "solver": SOLVERS,
    "device": DEVICES,
}
FLAG = (bool, np.bool_)
KERNEL_PARAMETERS = ("gamma", "degree", "coef0")


def check_parameters(estimator: Any) -> None:
    """Refuse invalid parameters."""
    parameters = estimator.get_params(deep=False)
    for name, value in parameters.items():
        expected = None
        if name in POSITIVE and not (_is_finite(value) and value > 0):
            expected = "a positive number"
        elif name in NOT_NEGATIVE and not (_is_finite(value) and value >= 0):
            expected = "a number that is not negative"
        elif name == "covariance_threshold" and not (
            isinstance(value, Real) and float(value) >= 0
        ):
            expected = "a number that is not negative, or infinite for no constraint"
        elif name == "max_iter" and not _is_limit(value):
            expected = "a positive integer, or -1 for the limit of the solver"
        elif name == "sensitive_as_privileged" and not isinstance(value, FLAG):
            expected = "True or False"
        elif name in CHOICES and not (
            isinstance(value, str) and value in CHOICES[name]
        ):
            expected = listed(map(repr, CHOICES[name]), "or")
        elif name.endswith("kernel"):
            prefix = name.removesuffix("kernel")
            others = (parameters[prefix + part] for part in KERNEL_PARAMETERS)
            check_kernel(value, *others, prefix=prefix)
        if expected is not None:
            raise ValueError(
                f"{name} must be {expected}, got {value!r} in "
                f"{type(estimator).__name__}."
            )


def _is_finite(value: Any) -> bool:
    return isinstance(value, Real) and math.isfinite(value)


def _is_limit(value: Any) -> bool:
    return isinstance(value, Integral) and (int(value) >= 1 or value == -1)
