"""The primals of the papers, typed as printed and given to an independent solver.

``Primal(drawn)`` leaves everything free; ``Primal(drawn, fixed)`` prices a decision
function that is given, or given up to its bias, and minimises the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from .problems import feature_map

ACCURATE = {
    "tol_gap_abs": 1e-12,
    "tol_gap_rel": 1e-11,
    "tol_feas": 1e-11,
    "max_iter": 500,
}
ORDINARY = {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}


@dataclass
class Fixed:
    """``w·x`` on the training rows, ``‖w‖²``, and b (None: left free)."""

    values: np.ndarray
    squared_norm: float
    bias: float | None = None


class Primal:
    """Objective and constraints of one model on one problem, in the making."""

    def __init__(self, drawn, fixed=None):
        self.drawn = drawn
        self.terms, self.constraints = [], []
        self.b = cp.Variable()
        if fixed is None:
            features = feature_map(drawn.K)
            self.w = cp.Variable(features.shape[1])
            self.shape = features @ self.w
            self.terms.append(0.5 * cp.sum_squares(self.w))
        else:
            self.shape = fixed.values
            self.terms.append(0.5 * fixed.squared_norm)
            if fixed.bias is not None:
                self.constraints.append(self.b == fixed.bias)
        self.f = self.shape + self.b

    def function(self, gram, reg):
        """``w*·x* + b*`` on the rows of gram, penalised by reg/2 ‖w*‖²."""
        features = feature_map(gram)
        w, b = cp.Variable(features.shape[1]), cp.Variable()
        # A small weight beside large ones costs digits: scale the variable instead.
        self.terms.append(0.5 * cp.sum_squares(w))
        return features @ w / np.sqrt(reg) + b

    def slack(self, size):
        zeta = cp.Variable(size)
        self.constraints.append(zeta >= 0)
        return zeta

    def add(self, cost):
        self.terms.append(cost)

    def require(self, *constraints):
        self.constraints += constraints

    def solve(self):
        """The minimum."""
        self.total = sum(self.terms)
        return self._run(cp.Minimize(self.total), self.constraints)

    def bias_interval(self, best, slack=1e-9):
        """The biases whose cost is within slack of the best, relatively."""
        total = sum(self.terms)
        unit = max(abs(best), 1e-300)
        limit = [*self.constraints, total / unit <= 1 + slack]
        low = self._run(cp.Minimize(self.b), limit)
        return low, -self._run(cp.Minimize(-self.b), limit)

    @staticmethod
    def _run(objective, constraints):
        problem = cp.Problem(objective, constraints)
        # Where the finest tolerances break down, the ordinary ones do.
        for settings in (ACCURATE, ORDINARY, {}):
            try:
                problem.solve(solver=cp.CLARABEL, **settings)
            except cp.error.SolverError:
                continue
            if problem.status in ("optimal", "optimal_inaccurate"):
                return float(problem.value)
        raise AssertionError(f"the oracle failed: {problem.status}")


def hinge_of_the_rest(primal):
    """Rows without X*: y f ≥ 1 − ξ at cost C_i."""
    drawn = primal.drawn
    rows = drawn.lacks
    if len(rows):
        xi = primal.slack(len(rows))
        primal.require(cp.multiply(drawn.y[rows], primal.f[rows]) >= 1 - xi)
        primal.add(drawn.cost[rows] @ xi)


def svm_plus(drawn, fixed=None):
    primal = Primal(drawn, fixed)
    hinge_of_the_rest(primal)
    rows = drawn.has
    if len(rows):
        t = primal.function(drawn.Ks, drawn.reg)
        primal.require(cp.multiply(drawn.y[rows], primal.f[rows]) >= 1 - t, t >= 0)
        primal.add(drawn.cost[rows] @ t)
    return primal


def svm_delta_plus_signed(drawn, fixed=None):
    primal = Primal(drawn, fixed)
    hinge_of_the_rest(primal)
    rows = drawn.has
    if len(rows):
        y, cost = drawn.y[rows], drawn.cost[rows]
        t = primal.function(drawn.Ks, drawn.reg)
        zeta = primal.slack(len(rows))
        yf, yt = cp.multiply(y, primal.f[rows]), cp.multiply(y, t)
        primal.require(yf >= 1 - yt - zeta, yt + zeta >= 0)
        primal.add(cost @ (yt + zeta) + drawn.delta * cost @ zeta)
    return primal


def svm_delta_plus_hinge(drawn, fixed=None):
    primal = Primal(drawn, fixed)
    hinge_of_the_rest(primal)
    rows = drawn.has
    if len(rows):
        y, cost = drawn.y[rows], drawn.cost[rows]
        yf = cp.multiply(y, primal.f[rows])
        yt = cp.multiply(y, primal.function(drawn.Ks, drawn.reg))
        primal.add(cost @ cp.pos(yt))
        primal.add((1 + drawn.delta) * cost @ cp.pos(1 - yf - yt))
    return primal


def unified(drawn, fixed=None):
    primal = Primal(drawn, fixed)
    hinge_of_the_rest(primal)
    rows = drawn.has
    if len(rows):
        y, cost = drawn.y[rows], drawn.cost[rows]
        t = primal.function(drawn.Ks, drawn.reg)
        s = primal.function(drawn.Ks, drawn.similarity_reg)
        zeta = primal.slack(len(rows))
        yf, ys = cp.multiply(y, primal.f[rows]), cp.multiply(y, s)
        primal.require(yf >= 1 - t, t >= 0, yf >= 1 - ys - zeta, ys + zeta >= 0)
        primal.add(cost @ t + cost @ (ys + zeta) + drawn.delta * cost @ zeta)
    return primal


def svr_plus(drawn, fixed=None, epsilon=0.1):
    primal = Primal(drawn, fixed)
    y, cost = drawn.y, drawn.cost
    for rows, has in ((drawn.lacks, False), (drawn.has, True)):
        if len(rows):
            error = primal.f[rows] - y[rows]
            for sign in (1, -1):
                if has:
                    xi = primal.function(drawn.Ks, drawn.reg)
                    primal.require(xi >= 0)
                else:
                    xi = primal.slack(len(rows))
                primal.require(sign * error <= epsilon + xi)
                primal.add(cost[rows] @ xi)
    return primal


def l2_svm_plus(drawn, fixed=None):
    """Biases are weights of a constant feature: b² is part of ‖w‖²."""
    primal = Primal(drawn, fixed)
    if fixed is None:
        primal.add(0.5 * cp.square(primal.b))
    y, cost = drawn.y, drawn.cost
    rows = drawn.lacks
    if len(rows):
        xi = primal.slack(len(rows))
        primal.require(cp.multiply(y[rows], primal.f[rows]) >= 1 - xi)
        primal.add(0.5 * cp.sum_squares(cp.multiply(np.sqrt(cost[rows]), xi)))
    rows = drawn.has
    if len(rows):
        features = feature_map(drawn.Ks + 1.0)
        w = cp.Variable(features.shape[1])
        t = features @ w / np.sqrt(drawn.reg)
        primal.add(0.5 * cp.sum_squares(w))
        primal.require(cp.multiply(y[rows], primal.f[rows]) >= 1 - t)
        primal.add(0.5 * cp.sum_squares(cp.multiply(np.sqrt(cost[rows]), t)))
    return primal
