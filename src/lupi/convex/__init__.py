"""The optimisation room: problems, solvers, certificates. It knows no estimator."""

from .linalg import one_thread
from .problem import Features, Function, GlobalRow, Gram, Problem, Rows, Slack
from .solution import Solution
from .solving import SOLVERS, solve

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
