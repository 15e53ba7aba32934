"""The primals of the papers, typed as printed and given to an independent solver.

``Primal(drawn)`` leaves everything free; ``Primal(drawn, fixed)`` prices a decision
function that is given, or given up to its bias, and minimises the rest. A primal is
built by a function of this module, such as ``svm_plus(drawn, fixed)``.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import cvxpy as cp
import numpy as np

from tests.oracle.problems import feature_map


def _within(tolerance, reduced):
    """Settings of the solver: what to aim at, and what to accept at the least."""
    return {
        "tol_gap_abs": tolerance,
        "tol_gap_rel": tolerance,
        "tol_feas": tolerance,
        "reduced_tol_gap_abs": reduced,
        "reduced_tol_gap_rel": reduced,
        "reduced_tol_feas": reduced,
        "max_iter": 500,
    }


# Where the finest tolerances break down, coarser ones do.
HUGE = 1e4
LADDER = ((1e-12, 1e-10), (1e-10, 1e-9), (1e-9, 3e-9), (3e-9, 1e-8), (1e-8, 2e-8))


@dataclass
class Fixed:
    """``w·x`` on the training rows, ``‖w‖²``, and b (None: left free).

    ``corrections``: the values ``w*·x*`` as well, in the order of the primal.
    """

    values: np.ndarray
    squared_norm: float
    bias: float | None = None
    corrections: list[np.ndarray] | None = None


class Primal:
    """Objective and constraints of one model on one problem, in the making."""

    def __init__(self, drawn, fixed=None):
        self.drawn = drawn
        self.norms, self.terms, self.constraints, self.units = [], [], [], []
        self.shapes, self.corrections = [], []
        self.held = None if fixed is None else fixed.corrections
        self.b = cp.Variable()
        if fixed is None:
            self.shape = self.linear(drawn.K)
        else:
            self.shape = fixed.values
            self.norms.append(0.5 * fixed.squared_norm)
            if fixed.bias is not None:
                self.constraints.append(self.b == fixed.bias)
        self.f = self.shape + self.b

    def linear(self, gram, reg=1.0):
        """``w·x`` on the rows of gram, penalised by reg/2 ‖w‖²."""
        if self.held is not None:
            return self.held[len(self.corrections)]
        features = feature_map(gram)
        w = cp.Variable(features.shape[1])
        # A small weight beside large ones costs digits: scale the variable instead.
        # So do huge features.
        size = float(np.sqrt(np.diagonal(gram).mean()))
        size = size if size > HUGE else 1.0
        self.units.append(size**-2)
        self.norms.append(0.5 * cp.sum_squares(w) * size**-2)
        self.shapes.append((features / size) @ w / np.sqrt(reg))
        return self.shapes[-1]

    def function(self, gram, reg):
        """``w*·x* + b*``, a correcting function on the rows of gram."""
        self.corrections.append(self.linear(gram, reg) + cp.Variable())
        return self.corrections[-1]

    def slack(self, size):
        zeta = cp.Variable(size)
        self.constraints.append(zeta >= 0)
        return zeta

    def add(self, cost):
        self.terms.append(cost)

    def require(self, *constraints):
        self.constraints += constraints

    def solve(self):
        """The minimum, in units of one, of the cost of a row, or of all rows."""
        total, cost = cp.Constant(0.0) + sum(self.norms + self.terms), self.drawn.cost
        for steps in LADDER:
            for unit in (1.0, float(cost.mean()), float(cost.sum()), 1e-2, *self.units):
                problem = cp.Problem(cp.Minimize(total / unit), self.constraints)
                with warnings.catch_warnings():
                    # "May be inaccurate" is then still within the reduced tolerance.
                    warnings.simplefilter("ignore", UserWarning)
                    try:
                        problem.solve(solver=cp.CLARABEL, **_within(*steps))
                    except cp.error.SolverError:
                        continue
                if problem.status in ("optimal", "optimal_inaccurate"):
                    self.accuracy = steps[problem.status == "optimal_inaccurate"]
                    return float(total.value)
        raise AssertionError(f"the oracle failed: {problem.status}")


def bias_interval(build, solved):
    """The optimal biases of a solved primal, whose functions themselves are unique.

    With these held, a linear programme in the biases and slacks remains.
    """
    shape, *others = [np.asarray(one.value) for one in solved.shapes]
    primal = build(solved.drawn, Fixed(shape, 0.0, corrections=others))
    costs = sum(primal.terms)
    total = float(sum(solved.norms + solved.terms).value)
    unit = max(abs(total), 1e-9 * solved.drawn.cost.sum())

    def run(objective, *more):
        problem = cp.Problem(objective, [*primal.constraints, *more])
        problem.solve(solver=cp.SCIPY, scipy_options={"method": "highs"})
        assert problem.status == "optimal", problem.status
        return float(problem.value)

    cheapest = run(cp.Minimize(costs / unit))
    within = costs / unit <= cheapest + 1e-9
    return run(cp.Minimize(primal.b), within), run(cp.Maximize(primal.b), within)


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
        # [·]₊ at a positive cost is a slack that is at least its argument.
        own, both = primal.slack(len(rows)), primal.slack(len(rows))
        primal.require(own >= yt, both >= 1 - yf - yt)
        primal.add(cost @ own + (1 + drawn.delta) * cost @ both)
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
        primal.norms.append(0.5 * cp.square(primal.b))
    y, cost = drawn.y, drawn.cost
    rows = drawn.lacks
    if len(rows):
        xi = primal.slack(len(rows))
        primal.require(cp.multiply(y[rows], primal.f[rows]) >= 1 - xi)
        primal.add(0.5 * cp.sum_squares(cp.multiply(np.sqrt(cost[rows]), xi)))
    rows = drawn.has
    if len(rows):
        t = primal.linear(drawn.Ks + 1.0, drawn.reg)
        primal.corrections.append(t)
        primal.require(cp.multiply(y[rows], primal.f[rows]) >= 1 - t)
        primal.add(0.5 * cp.sum_squares(cp.multiply(np.sqrt(cost[rows]), t)))
    return primal


def fair(drawn, fixed=None):
    """SVMΔ+ whose decisions hardly covary with z; given ones are checked by hand."""
    primal = svm_delta_plus_signed(drawn, fixed)
    if fixed is None:
        covariance = covariances(drawn) @ primal.f
        primal.require(covariance <= drawn.threshold, covariance >= -drawn.threshold)
    return primal


def covariances(drawn):
    """The rows that give the weighted covariances of z with a function of the rows."""
    share = drawn.weight / drawn.weight.sum()
    return (share[:, None] * (drawn.Z - share @ drawn.Z)).T


def svm(drawn, fixed=None):
    """The C-SVM on every row."""
    primal = Primal(drawn, fixed)
    xi = primal.slack(len(drawn.y))
    primal.require(cp.multiply(drawn.y, primal.f) >= 1 - xi)
    primal.add(drawn.cost @ xi)
    return primal


def margin_transfer_simplified(drawn, fixed=None):
    primal = Primal(drawn, fixed)
    hinge_of_the_rest(primal)
    rows = drawn.has
    y, cost = drawn.y[rows], drawn.cost[rows]
    known = np.maximum(1 - y * drawn.teacher, 0)
    # The problem does not depend on the size of ξ*, so rounding must not pass for it.
    known[known < 1e-6] = 0.0
    t, zeta = cp.Variable(), primal.slack(len(rows))
    primal.require(t >= 0, cp.multiply(y, primal.f[rows]) >= 1 - t * known - zeta)
    primal.add(t * (cost @ known) + (1 + drawn.delta) * cost @ zeta)
    return primal


def margin_transfer_sharmanska(drawn, fixed=None, floor=0.1):
    primal = Primal(drawn, fixed)
    hinge_of_the_rest(primal)
    rows = drawn.has
    y, cost = drawn.y[rows], drawn.cost[rows]
    xi = primal.slack(len(rows))
    margins = np.maximum(y * drawn.teacher, floor)
    primal.require(cp.multiply(y, primal.f[rows]) >= margins - xi)
    primal.add(cost @ xi)
    return primal


def deviation(drawn, fixed=None):
    """SVM+ on the deviations from the first stage."""
    rows = drawn.has
    P = np.full((len(drawn.y), 1), np.nan)
    P[rows, 0] = 1 - drawn.y[rows] * drawn.teacher
    return svm_plus(replace(drawn, P=P), fixed)


def hard_margin(drawn, fixed=None):
    """y f ≥ 1 − ξ with known ξ; a given f is checked by hand."""
    primal = Primal(drawn, fixed)
    if fixed is None:
        primal.require(cp.multiply(drawn.y, primal.f) >= 1 - drawn.slacks)
    return primal
