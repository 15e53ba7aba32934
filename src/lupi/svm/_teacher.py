"""The SVM on the privileged features that some models train as their first stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lupi._convex import Function, Problem, Rows, Slack
from lupi.svm._data import Data, Expansion, learned
from lupi.svm._machine import Certificate

__all__ = ["Teacher", "train_teacher"]


# Deviations below this accuracy of the solver are set to zero.
MARGIN = 1e-6


@dataclass(frozen=True)
class Teacher:
    """The function ``f*(x*) = w*·x* + b*``, its deviations and its certificate.

    The deviation of a row with X* is ``1 − y f*(x*)``: zero on the margin, positive
    inside.
    """

    function: Expansion
    deviations: np.ndarray
    certificate: Certificate | None


def train_teacher(estimator: Any, data: Data, C: float) -> Teacher:
    """Solve ``min ½‖w*‖² + C Σ weight_i [1 − y_i f*(x*_i)]₊`` on the rows with X*."""
    space, y = data.privileged[0], data.on_privileged(data.target)
    if abs(y.sum()) == len(y):
        # With one class, the SVM is the constant that satisfies every constraint.
        constant = space.expand(np.zeros(len(y)), float(y[0]))
        return Teacher(constant, np.zeros(len(y)), None)
    one = np.ones(len(y))
    cost = C * data.on_privileged(data.weight)
    solver_space = data.space(space)
    problem = Problem(
        len(y),
        [Function(solver_space, 1.0, one)],
        [Rows({0: y}, one, slack=Slack(linear=cost))],
    )
    solution = estimator._solve(problem)
    _, function, stored = learned(
        solution, 0, space, tol=estimator.tol, in_features=data.in_features
    )
    deviations = 1.0 - y * stored.values[0]
    deviations[np.abs(deviations) < MARGIN] = 0.0
    return Teacher(function, deviations, Certificate.of(stored))
