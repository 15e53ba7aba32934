"""Convex optimization: problems, solvers and certificates."""

from lupi._convex.linalg import one_thread
from lupi._convex.problem import (
    Features,
    Function,
    GlobalRow,
    Gram,
    Problem,
    Rows,
    Slack,
)
from lupi._convex.solution import Solution
from lupi._convex.solve import SOLVERS, solve
from lupi._convex.tuning import Tuning

__all__ = [
    "SOLVERS",
    "Features",
    "Function",
    "GlobalRow",
    "Gram",
    "Problem",
    "Rows",
    "Slack",
    "Solution",
    "Tuning",
    "one_thread",
    "solve",
]
