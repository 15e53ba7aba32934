r"""Probabilities from a blend that was made by squared error.

.. math::
    p_k \propto \exp(a\, z_k + b_k), \qquad
    \min_{a \ge a_0,\, b} \; -\sum_i w_i \log p_{y_i} + \tfrac{c}{2} (a - 1)^2,

with :math:`z_k` the logarithm of the blend of class k, clipped to [0.02, 0.98], and
c = 10. With two classes :math:`z_1 - z_0` is the logit of the blend. The slope is held
near 1, and above 0: a free one, fitted on 60 rows, is negative every other time and
would turn the ranking around.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

LOW, HIGH = 0.02, 0.98
SLOPE_STRENGTH = 10.0
SMALLEST_SLOPE = 1e-3


@dataclass(frozen=True)
class Calibration:
    """One slope for all classes and an intercept for each."""

    slope: float
    intercept: np.ndarray

    @classmethod
    def none(cls, n_classes: int) -> Calibration:
        """Leave the blend as it is."""
        return cls(1.0, np.zeros(n_classes))

    def scores(self, blend: np.ndarray) -> np.ndarray:
        """Return a·z + b, one column per class; their softmax are probabilities."""
        return self.slope * clipped_log(blend) + self.intercept


def clipped_log(blend: np.ndarray) -> np.ndarray:
    """Return log(blend), clipped; beyond the clip the ranking goes on with slope 1."""
    inside = np.clip(blend, LOW, HIGH)
    return np.log(inside) + (blend - inside)


def calibrate(blend: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> Calibration:
    """Fit slope and intercepts to blends of rows that no candidate was trained on.

    Parameters
    ----------
    blend : ndarray of shape (n_rows, n_classes)
        Out-of-fold blends.
    codes : ndarray of int
        Class of each row; every class occurs.
    weight : ndarray
        Weights of the rows.
    """
    logs = clipped_log(blend)
    n_classes = logs.shape[1]
    total = weight.sum()
    start = np.zeros(n_classes)
    start[0] = 1.0

    def mean_objective(theta: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = objective(theta, logs, codes, weight)
        return value / total, gradient / total

    theta = minimize(
        mean_objective,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(SMALLEST_SLOPE, None)] + [(None, None)] * (n_classes - 1),
        options={"gtol": 1e-10, "ftol": 1e-15, "maxiter": 1000},
    ).x
    intercept = np.concatenate([[0.0], theta[1:]])
    return Calibration(float(theta[0]), intercept - intercept.mean())


def objective(
    theta: np.ndarray, logs: np.ndarray, codes: np.ndarray, weight: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return value and gradient at θ = (a, b_1, …); b_0 is 0."""
    slope, intercept = theta[0], np.concatenate([[0.0], theta[1:]])
    logarithms = log_softmax(slope * logs + intercept, axis=1)
    rows = np.arange(len(codes))
    value = -weight @ logarithms[rows, codes] + SLOPE_STRENGTH / 2 * (slope - 1) ** 2
    off = np.exp(logarithms)
    off[rows, codes] -= 1.0
    in_slope = weight @ np.sum(off * logs, axis=1) + SLOPE_STRENGTH * (slope - 1)
    return float(value), np.concatenate([[in_slope], weight @ off[:, 1:]])
