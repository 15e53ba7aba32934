"""Solutions that say nothing about the rows, and the warnings that say so.

A model names the checks that apply to it in ``_trivial``; they see every solution.
"""

from __future__ import annotations

import warnings

import numpy as np

from lupi._convex import Solution
from lupi.svm._data import Data

__all__ = ["constant_decision", "unused_correction"]

TRIVIAL = 1e-6


def constant_decision(estimator: object, data: Data, solution: Solution) -> None:
    """Say when w vanished: no correcting function could follow the violations."""
    if data.with_privileged and np.ptp(solution.values[0]) < TRIVIAL:
        warnings.warn(
            f"{type(estimator).__name__} found the trivial solution, a constant "
            "decision function: no correcting function of the privileged kernel "
            "follows the margin violations. Try a non-linear privileged_kernel, a "
            "smaller privileged_reg, or SVCDeltaPlus, which keeps an ordinary slack.",
            UserWarning,
            stacklevel=3,
        )


def unused_correction(estimator: object, data: Data, solution: Solution) -> None:
    """Say when f* vanished: the model is then the SVM with cost (1+Δ)C."""
    if data.with_privileged and np.abs(solution.values[1]).max() < TRIVIAL:
        warnings.warn(
            f"{type(estimator).__name__} found the trivial solution: the correcting "
            "function is zero, and the model is the SVM with cost C + delta C. Try a "
            "non-linear privileged_kernel or a smaller privileged_reg.",
            UserWarning,
            stacklevel=3,
        )
