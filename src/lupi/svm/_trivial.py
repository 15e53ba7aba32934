"""Warnings of trivial solutions.

A decision function counts as constant if its range on the rows is less than 1e-6 of
the largest possible one: of one, or of Σ C_i k(x_i, x_i) if C is so small that this is
less. A model lists the checks that apply to it in ``_trivial``.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from lupi._convex import Solution
from lupi._words import listed
from lupi.svm._data import Data

__all__ = ["constant_decision", "is_constant", "unused_correction"]

TRIVIAL = 1e-6


def is_constant(data: Data, solution: Solution) -> bool:
    """Return whether the decision function is constant, that is, w = 0."""
    unit = min(1.0, np.ptp(data.target))
    largest = min(unit, float(data.cost.sum()) * data.decision.largest)
    return bool(np.ptp(solution.values[0]) <= TRIVIAL * largest)


def constant_decision(estimator: Any, data: Data, solution: Solution) -> None:
    """Warn if w = 0: no correcting function could represent the margin violations."""
    if data.with_privileged and is_constant(data, solution):
        _warn(
            estimator,
            "found the trivial solution, a constant decision function: no correcting "
            "function of this kernel follows the margin violations.",
            "a model with an ordinary slack, such as SVCDeltaPlus",
        )


def unused_correction(estimator: Any, data: Data, solution: Solution) -> None:
    """Warn if f* = 0: the model is then the SVM with cost (1+Δ)C."""
    # Relative to the margin, which is one for every C.
    if data.with_privileged and np.abs(solution.values[1]).max() <= TRIVIAL:
        _warn(
            estimator,
            "found the trivial solution: the correcting function is zero, and the "
            "model is the SVM with cost C + delta C.",
        )


def _warn(estimator: Any, found: str, *other_remedies: str) -> None:
    """Warn, with remedies that apply to the parameters of the estimator."""
    parameters = estimator.get_params(deep=False)
    remedies = ["Nystroem on X* in lupi.compose.TransformedPrivileged"]
    if "privileged_kernel" in parameters:
        remedies = ["a non-linear privileged_kernel"]
    if "privileged_reg" in parameters:
        remedies.append("a smaller privileged_reg")
    remedies += other_remedies
    warnings.warn(
        f"{type(estimator).__name__} {found} Try {listed(remedies, 'or')}.",
        UserWarning,
        stacklevel=4,
    )
