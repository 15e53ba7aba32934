"""The duals and bias formulas of the sources as they print them, for comparison."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from tests.oracle.problems import feature_map, kernel_values

FINE = {
    "solver": cp.CLARABEL,
    "tol_gap_abs": 1e-10,
    "tol_gap_rel": 1e-10,
    "tol_feas": 1e-10,
}


def rows(seed, n=40, share=0.5):
    """Rows, their Gram matrices and labels of which ``share`` are positive."""
    rng = np.random.default_rng(seed)
    P = rng.normal(size=(n, 2))
    X = P + 0.8 * rng.normal(size=(n, 2))
    signal = P[:, 0] + 0.4 * rng.normal(size=n)
    y = np.where(signal > np.quantile(signal, 1 - share), 1.0, -1.0)
    K = kernel_values("rbf", 0.4, X, X)
    Ks = kernel_values("rbf", 0.6, P, P)
    return X, y, P, K, Ks


# ½‖w − w₀‖² is at most the gap: decision values are off by 1e-4 at most.
SETTINGS = {"gamma": 0.4, "privileged_gamma": 0.6, "tol": 1e-10}


def quadratic(gram, vector):
    """``vᵀKv`` as a sum of squares."""
    return cp.sum_squares(feature_map(gram).T @ vector)


def maximise(value, constraints):
    problem = cp.Problem(cp.Maximize(value), constraints)
    return float(problem.solve(**FINE))


def unified_dual(K, Ks, y, C, delta, reg, similarity_reg, *, sign):
    """Seed 001 §5.1; ``sign`` is that of η in the first equality: −1 as printed."""
    n = len(y)
    alpha, beta, eta, mu = (cp.Variable(n, nonneg=True) for _ in range(4))
    value = (
        -quadratic(K, cp.multiply(y, alpha + eta)) / 2
        - quadratic(Ks, alpha + beta - C) / (2 * reg)
        - quadratic(Ks, cp.multiply(y, eta + mu - C)) / (2 * similarity_reg)
        + cp.sum(alpha + eta)
    )
    return maximise(
        value,
        [
            y @ (alpha + sign * eta) == 0,
            cp.sum(alpha + beta - C) == 0,
            y @ (eta + mu - C) == 0,
            eta + mu <= C + delta * C,
        ],
    )


def fair_dual(K, Ks, y, z, C, delta, reg, threshold, *, printed):
    """Seed 001 §8.3.2 as printed, or with the multipliers of the fair constraints."""
    n = len(y)
    alpha, beta = cp.Variable(n, nonneg=True), cp.Variable(n, nonneg=True)
    centred = (z - z.mean()) / n
    constraints = [
        y @ alpha == 0,
        y @ (alpha + beta - C) == 0,
        alpha + beta <= C + delta * C,
    ]
    value = cp.sum(alpha) - quadratic(Ks, cp.multiply(y, alpha + beta - C)) / (2 * reg)
    if printed:
        covariance = centred @ K @ cp.multiply(y, alpha)
        constraints += [covariance <= threshold, covariance >= -threshold]
        value -= quadratic(K, cp.multiply(y, alpha)) / 2
    else:
        more, less = cp.Variable(nonneg=True), cp.Variable(nonneg=True)
        w = cp.multiply(y, alpha) - (more - less) * centred
        value -= quadratic(K, w) / 2 + threshold * (more + less)
    return maximise(value, constraints)
