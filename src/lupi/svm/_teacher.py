"""An SVM on the privileged features, the first stage of the models built on one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lupi._convex import Function, Problem, Rows, Slack
from lupi.svm._data import Data, Expansion, learned

__all__ = ["Teacher", "train_teacher"]


@dataclass(frozen=True)
class Teacher:
    """``f*(x*) = w*·x* + b*`` and its values on the rows that have X*."""

    function: Expansion
    values: np.ndarray


def train_teacher(estimator: Any, data: Data, C: float) -> Teacher:
    """Solve ``min ½‖w*‖² + C Σ weight_i [1 − y_i f*(x*_i)]₊`` on the rows with X*."""
    space, y = data.privileged[0], data.on_privileged(data.target)
    if abs(y.sum()) == len(y):
        # One class only: the SVM is the constant that satisfies every row.
        constant = space.expand(np.zeros(len(y)), float(y[0]))
        return Teacher(constant, y.copy())
    one = np.ones(len(y))
    cost = C * data.on_privileged(data.weight)
    solver_space = data.space(space)
    problem = Problem(
        len(y),
        [Function(solver_space, 1.0, one)],
        [Rows({0: y}, one, slack=Slack(linear=cost))],
    )
    solution = estimator._solve(problem)
    _, function = learned(solution, 0, space, cost, in_features=data.in_features)
    return Teacher(function, solution.values[0])
