r"""Calibrated probabilities from a weighted average chosen by squared error.

.. math::
    p_k \propto \exp(a\, z_k + b_k), \qquad
    \min_{a \ge a_0,\, b} \; -\sum_i w_i \log p_{y_i} + \tfrac{c}{2} (a - 1)^2,

with :math:`z_k` the logarithm of the average for class k, clipped to [0.02, 0.98], and
c = 10. With two classes :math:`z_1 - z_0` is the logit of the average. The slope is
shrunk towards 1 and kept positive: an unrestricted slope, fitted on 60 rows, is
negative in half of the cases, which reverses the ranking.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax

from lupi._parts import Parts

LOW, HIGH = 0.02, 0.98
SLOPE_STRENGTH = 10.0
SMALLEST_SLOPE = 1e-3
_MOST_STEPS = 100
# Relative decrease at which Newton's method stops.
_ENOUGH = 1e-14


@dataclass(frozen=True)
class Calibration:
    """One slope for all classes and an intercept for each."""

    slope: float
    intercept: np.ndarray

    @classmethod
    def none(cls, n_classes: int) -> Calibration:
        """Return the calibration that changes nothing inside the clip."""
        return cls(1.0, np.zeros(n_classes))

    def scores(self, blend: np.ndarray) -> np.ndarray:
        """Return a·z + b, one column per class; the softmax gives probabilities."""
        return self.slope * clipped_log(blend) + self.intercept


def clipped_log(blend: np.ndarray) -> np.ndarray:
    """Return log(blend), clipped; beyond the clip it continues with slope 1."""
    inside = np.clip(blend, LOW, HIGH)
    return np.log(inside) + (blend - inside)


def calibrate(parts: Parts, n_classes: int) -> Calibration:
    """Fit slope and intercepts to predictions out of fold, by Newton's method.

    Parameters
    ----------
    parts : Parts of (blend, codes, weight)
        Weighted averages out of fold, one column per class; class and weight of each
        row. Every class occurs.
    n_classes : int
        Number of classes.
    """
    theta = np.zeros(n_classes)
    theta[0] = 1.0
    value, gradient, hessian = _penalized(parts, theta)
    for _ in range(_MOST_STEPS):
        # The slope stays at its bound if the gradient points beyond it.
        held = theta[0] <= SMALLEST_SLOPE and gradient[0] > 0
        free = np.arange(int(held), n_classes)
        step = np.zeros(n_classes)
        part = hessian[np.ix_(free, free)]
        part = part + 1e-14 * np.trace(part) * np.eye(len(free))
        step[free] = -np.linalg.solve(part, gradient[free])
        decrease = -gradient @ step
        if decrease <= _ENOUGH * abs(value):
            break
        length, found = 1.0, None
        while length > 1e-10:
            moved = theta + length * step
            moved[0] = max(moved[0], SMALLEST_SLOPE)
            found = _penalized(parts, moved)
            # Armijo's condition along the projected step.
            if found[0] <= value + 1e-4 * gradient @ (moved - theta):
                break
            length /= 2
        else:
            break
        theta, (value, gradient, hessian) = moved, found
    intercept = np.concatenate([[0.0], theta[1:]])
    return Calibration(float(theta[0]), intercept - intercept.mean())


def _penalized(parts: Parts, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the objective, its gradient and its second derivatives."""
    value, gradient, hessian = parts.sum(log_loss, theta)
    gradient[0] += SLOPE_STRENGTH * (theta[0] - 1)
    hessian[0, 0] += SLOPE_STRENGTH
    return value + SLOPE_STRENGTH / 2 * (theta[0] - 1) ** 2, gradient, hessian


def log_loss(
    part: tuple[np.ndarray, np.ndarray, np.ndarray], theta: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return −Σ w log p and its derivatives at θ = (a, b_1, …); b_0 is 0."""
    blend, codes, weight = part
    logs = clipped_log(blend)
    logarithms = log_softmax(
        theta[0] * logs + np.concatenate([[0.0], theta[1:]]), axis=1
    )
    rows = np.arange(len(codes))
    value = float(-weight @ logarithms[rows, codes])
    chance = np.exp(logarithms)
    off = chance.copy()
    off[rows, codes] -= 1.0
    gradient = np.concatenate(
        [[weight @ np.sum(off * logs, axis=1)], weight @ off[:, 1:]]
    )
    # Variance, under the probabilities, of the factors of θ in the scores.
    mean = np.sum(chance * logs, axis=1)
    apart = chance * (logs - mean[:, None])
    hessian = np.empty((len(theta), len(theta)))
    hessian[0, 0] = weight @ np.sum(apart * logs, axis=1)
    hessian[0, 1:] = hessian[1:, 0] = weight @ apart[:, 1:]
    others = chance[:, 1:]
    hessian[1:, 1:] = np.diag(weight @ others) - others.T @ (weight[:, None] * others)
    return value, gradient, hessian
