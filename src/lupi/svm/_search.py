"""Search spaces of the kernel machines, and the papers that they share."""

from __future__ import annotations

from typing import Any

from scipy.stats import loguniform

from lupi.base import PerFeature, SharedOver, TargetUnits

VAPNIK_VASHIST = "Vapnik & Vashist 2009, Neural Networks 22"
VAPNIK_IZMAILOV = "Vapnik & Izmailov 2015, JMLR 16"
THOMAS = "Thomas 2017, University of Sussex"

LARGEST_C = 100.0
# Few values, so that candidates with the same kernel share its Gram matrix.
_SCALES = (0.1, 0.3, 1.0, 3.0)
SCALES = [PerFeature(value) for value in _SCALES]
PRIVILEGED_SCALES = [PerFeature(value, privileged=True) for value in _SCALES]

KERNEL_SPACE = {
    "kernel": ["rbf", "linear"],
    "C": loguniform(0.01, LARGEST_C),
    "gamma": SCALES,
}
REG = loguniform(0.01, 100.0)
LINEAR_SPACE = {"C": loguniform(0.001, LARGEST_C)}
REGRESSION_SPACE = {
    "C": TargetUnits(loguniform(0.01, LARGEST_C)),
    "epsilon": TargetUnits([0.05, 0.2]),
}
# A kernel of X*: twice as many candidates are RBF as are linear.
_PRIVILEGED_KERNEL = {
    "privileged_kernel": ["rbf", "rbf", "linear"],
    "privileged_gamma": PRIVILEGED_SCALES,
}
# A model with a correcting function has the weight of its norm, a model with an SVM on
# X* has the cost of that SVM.
CORRECTING_SPACE: dict[str, Any] = _PRIVILEGED_KERNEL | {"privileged_reg": REG}
TEACHER_SPACE: dict[str, Any] = _PRIVILEGED_KERNEL | {
    "privileged_C": loguniform(0.01, LARGEST_C)
}

# If X* is uninformative, a model with Δ is the SVM with cost (1 + Δ)C. With C divided
# by that factor, every candidate can reproduce the SVM that it is compared with.
DELTA = {"delta": LARGEST_C}
DELTA_C = {"C": SharedOver(1 + LARGEST_C)}
