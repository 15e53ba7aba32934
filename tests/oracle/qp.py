"""The QPs of the papers in the form in which they print them, solved by CVXOPT."""

from __future__ import annotations

import cvxopt
import numpy as np

TIGHT = {
    "show_progress": False,
    "abstol": 1e-12,
    "reltol": 1e-11,
    "feastol": 1e-11,
    "maxiters": 300,
}


def solve(Q, p, A, b, G, h):
    """Minimise ½xᵀQx + pᵀx with Ax = b, Gx ≤ h: x and the multipliers of Ax = b."""
    arrays = (Q, np.ravel(p), G, np.ravel(h), np.atleast_2d(A), np.ravel(b))
    matrices = [cvxopt.matrix(np.asarray(array, dtype=float)) for array in arrays]
    found = cvxopt.solvers.qp(*matrices, options=TIGHT)
    return np.ravel(found["x"]), np.ravel(found["y"])


def svm(K, y, C):
    """Seed 002 §1: α and b."""
    n = len(y)
    x, (b,) = solve(
        np.outer(y, y) * K,
        -np.ones(n),
        y,
        0.0,
        np.vstack([-np.eye(n), np.eye(n)]),
        np.concatenate([np.zeros(n), C * np.ones(n)]),
    )
    return x, b


def svm_plus(K, Ks, y, C, gamma):
    """Seed 002 §2: α, β, b and b*."""
    n = len(y)
    Q = np.block([[np.outer(y, y) * K + Ks / gamma, Ks / gamma], [Ks / gamma] * 2])
    p = np.concatenate([-np.ones(n), np.zeros(n)])
    p = p - C / (2 * gamma) * np.tile((Ks + Ks.T).sum(axis=0), 2)
    A = np.vstack([np.concatenate([y, np.zeros(n)]), np.ones(2 * n)])
    x, (b, bs) = solve(Q, p, A, [0.0, n * C], -np.eye(2 * n), np.zeros(2 * n))
    return x[:n], x[n:], b, bs


def svr(K, y, C, epsilon):
    """Seed 002 §3: α, α* and b."""
    n = len(y)
    x, (multiplier,) = solve(
        np.block([[K, -K], [-K, K]]),
        np.concatenate([epsilon + y, epsilon - y]),
        np.concatenate([np.ones(n), -np.ones(n)]),
        0.0,
        np.vstack([-np.eye(2 * n), np.eye(2 * n)]),
        np.concatenate([np.zeros(2 * n), C * np.ones(2 * n)]),
    )
    return x[:n], x[n:], -multiplier


def svr_plus(K, Ks, y, C, gamma, epsilon, *, bounded=False):
    """Seed 002 §4: the coefficients α* − α, b, and the dual value.

    The text bounds α and α* by C, the matrices do not: ``bounded`` does.
    """
    n = len(y)
    R, zero, one = Ks / gamma, np.zeros((n, n)), np.ones(n)
    Q = np.block(
        [
            [K + R, -K, R, zero],
            [-K, K + R, zero, R],
            [R, zero, R, zero],
            [zero, R, zero, R],
        ]
    )
    p = -C / (2 * gamma) * np.tile((Ks + Ks.T).sum(axis=0), 4)
    p = p + np.concatenate([y + epsilon, -y + epsilon, np.zeros(2 * n)])
    none = np.zeros(n)
    A = np.array(
        [
            np.concatenate([one, -one, none, none]),
            np.concatenate([none, one, none, one]),
            np.concatenate([one, none, one, none]),
        ]
    )
    G, h = -np.eye(4 * n), np.zeros(4 * n)
    if bounded:
        G = np.vstack([G, np.eye(4 * n)[: 2 * n]])
        h = np.concatenate([h, C * np.ones(2 * n)])
    x, multipliers = solve(Q, p, A, [0.0, n * C, n * C], G, h)
    # The constant that the matrices leave out: (C²/2γ) ΣΣ K*, once per function.
    constant = C**2 / gamma * Ks.sum()
    value = -(0.5 * x @ Q @ x + p @ x + constant)
    return x[n : 2 * n] - x[:n], -multipliers[0], value


def svm_delta_plus(K, Ks, y, C, gamma, kappa):
    """Seed 000 §III: α, δ, and the multipliers of its two equalities."""
    n = len(y)
    yy = np.outer(y, y)
    H = np.block(
        [[yy * (K + gamma * Ks), -gamma * yy * Ks], [-gamma * yy * Ks, gamma * yy * Ks]]
    )
    f = np.concatenate([-np.ones(n), np.zeros(n)])
    Aeq = np.array([np.concatenate([y, np.zeros(n)]), np.concatenate([np.zeros(n), y])])
    upper = np.concatenate([kappa * C * np.ones(n), C * np.ones(n)])
    x, multipliers = solve(
        H,
        f,
        Aeq,
        np.zeros(2),
        np.vstack([-np.eye(2 * n), np.eye(2 * n)]),
        np.concatenate([np.zeros(2 * n), upper]),
    )
    return x[:n], x[n:], multipliers
