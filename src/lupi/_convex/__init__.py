"""The optimisation room: problems, solvers, certificates. It knows no estimator."""

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
    "one_thread",
    "solve",
]
