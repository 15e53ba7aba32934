"""The losses of boosting: Newton step and curvature of each row.

Boosting approximates the loss at the current prediction G by its second-order expansion
per row, ½ κ_i (h − r_i)² up to a constant, with r_i the Newton step and κ_i the
curvature. For the squared error r = y − G and κ = 1.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

# Keeps the Newton step finite for probabilities of 0 or 1; XGBoost uses the same value.
_SMALLEST_CURVATURE = 1e-16


class SquaredError:
    """Squared error (y − G)², on real targets or on labels ±1."""

    second_order = False

    def residual(self, y: np.ndarray, raw: np.ndarray) -> np.ndarray:
        """Return the residual r = y − G."""
        return y - raw

    def curvature(self, y: np.ndarray, raw: np.ndarray) -> np.ndarray:
        """Return κ = 1 for every row."""
        return np.ones_like(raw)

    def mean(self, y: np.ndarray, raw: np.ndarray, weight: np.ndarray) -> float:
        """Return the weighted mean of (y − G)²."""
        return float(np.average(np.square(y - raw, dtype=np.float64), weights=weight))

    def probabilities(self, raw: np.ndarray) -> np.ndarray:
        """Return the projection of (1 + G_k) / 2 onto the probability simplex.

        Squared error estimates the mean of a label ±1 given x, which is 2 P(k | x) − 1.
        The estimates need not be in [0, 1] nor sum to one. The projection keeps the
        order of the classes; with two classes it is (1 + G) / 2, clipped.
        """
        means = (1.0 + raw) / 2.0
        ordered = -np.sort(-means, axis=1)
        excess = np.cumsum(ordered, axis=1) - 1.0
        count = np.arange(1, means.shape[1] + 1)
        # The condition always holds in the first column, so that last is at least 1.
        last = np.sum(ordered - excess / count > 0, axis=1)
        shift = excess[np.arange(len(means)), last - 1] / last
        return np.maximum(means - shift[:, None], 0.0)


class LogLoss:
    """Logistic loss log(1 + exp(−y G)) on labels ±1, to second order."""

    second_order = True

    def residual(self, y: np.ndarray, raw: np.ndarray) -> np.ndarray:
        """Return (t − p) / (p (1 − p)) with t = (y + 1) / 2 and p = σ(G)."""
        probability = expit(raw)
        gradient = (y > 0).astype(raw.dtype) - probability
        return gradient / self._curvature(probability)

    def curvature(self, y: np.ndarray, raw: np.ndarray) -> np.ndarray:
        """Return κ = p (1 − p)."""
        return self._curvature(expit(raw))

    @staticmethod
    def _curvature(probability: np.ndarray) -> np.ndarray:
        return np.maximum(probability * (1 - probability), _SMALLEST_CURVATURE)

    def mean(self, y: np.ndarray, raw: np.ndarray, weight: np.ndarray) -> float:
        """Return the weighted mean of log(1 + exp(−y G))."""
        return float(np.average(np.logaddexp(0.0, -y * raw), weights=weight))

    def probabilities(self, raw: np.ndarray) -> np.ndarray:
        """Return σ(G_k), divided by their sum over the classes."""
        each = expit(raw)
        return each / each.sum(axis=1, keepdims=True)


LOSSES = {"squared_error": SquaredError, "log_loss": LogLoss}
