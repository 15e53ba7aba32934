"""The optimisation room: problems, solvers, certificates. It knows no estimator."""

from lupi.convex.linalg import one_thread
from lupi.convex.problem import (
    Features,
    Function,
    GlobalRow,
    Gram,
    Problem,
    Rows,
    Slack,
)
from lupi.convex.solution import Solution
from lupi.convex.solving import SOLVERS, solve

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
