"""Solutions that say nothing about the rows, and the warnings that say so.

A decision function counts as constant when it varies by less than 1e-6 of what it
could: by one, or less where C is so small that Σ C_i k(x_i, x_i) does not reach that
far. A model names the warnings that apply to it in ``_trivial``.
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
    """Tell whether w vanished."""
    unit = min(1.0, np.ptp(data.target))
    reach = min(unit, float(data.cost.sum()) * data.decision.largest)
    return bool(np.ptp(solution.values[0]) <= TRIVIAL * reach)


def constant_decision(estimator: Any, data: Data, solution: Solution) -> None:
    """Say when w vanished: no correcting function could follow the violations."""
    if data.with_privileged and is_constant(data, solution):
        _warn(
            estimator,
            "found the trivial solution, a constant decision function: no correcting "
            "function of this kernel follows the margin violations.",
            "a model that keeps an ordinary slack, such as SVCDeltaPlus",
        )


def unused_correction(estimator: Any, data: Data, solution: Solution) -> None:
    """Say when f* vanished: the model is then the SVM with cost (1+Δ)C."""
    if not data.with_privileged:
        return
    # Beside violations of the margin of one it is nothing, however small C is.
    if np.abs(solution.values[1]).max() <= TRIVIAL:
        _warn(
            estimator,
            "found the trivial solution: the correcting function is zero, and the "
            "model is the SVM with cost C + delta C.",
        )


def _warn(estimator: Any, found: str, *more: str) -> None:
    """Warn, with advice on parameters that the estimator has."""
    ideas = [*more]
    parameters = estimator.get_params(deep=False)
    if "privileged_reg" in parameters:
        ideas.insert(0, "a smaller privileged_reg")
    if "privileged_kernel" in parameters:
        ideas.insert(0, "a non-linear privileged_kernel")
    else:
        ideas.insert(0, "Nystroem on X* in lupi.compose.TransformedPrivileged")
    warnings.warn(
        f"{type(estimator).__name__} {found} Try {listed(ideas, 'or')}.",
        UserWarning,
        stacklevel=4,
    )
