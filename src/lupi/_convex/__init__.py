"""Convex optimization: problems, solvers and certificates."""

from lupi._convex.linalg import one_thread
from lupi._convex.problem import (
    Family,
    Features,
    Function,
    GlobalRow,
    Gram,
    Problem,
    Slack,
)
from lupi._convex.solution import Solution
from lupi._convex.solve import SOLVERS, solve
from lupi._convex.tuning import Tuning

__all__ = [
    "SOLVERS",
    "Family",
    "Features",
    "Function",
    "GlobalRow",
    "Gram",
    "Problem",
    "Slack",
    "Solution",
    "Tuning",
    "one_thread",
    "solve",
]
