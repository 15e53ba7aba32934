"""Quadratic problems with piecewise linear losses, for the advice models."""

from lupi._convex.piecewise.problem import (
    PiecewiseProblem,
    PiecewiseSolution,
    diagonal,
)
from lupi._convex.piecewise.solve import solve_piecewise

__all__ = ["PiecewiseProblem", "PiecewiseSolution", "diagonal", "solve_piecewise"]
