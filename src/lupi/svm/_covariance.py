"""Projection of a solution onto its covariance constraints.

A solver stops at a duality gap, where the constraints ``G f ≥ h`` may be violated by a
small amount. The nearest function that satisfies them, in the norm of its space, is::

    f + Σ_g μ_g K G_g,    H_AA μ_A = (h − G f)_A,    H = G K Gᵀ

where the active set A holds the equalities and the constraints that are violated by f,
or after the projection onto the others. Only the multipliers of these constraints
change, and the certificate is computed from the new ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lupi._convex import GlobalRow, Solution
from lupi.svm._data import Expansion

__all__ = [
    "TOLERANCE",
    "largest_violation",
    "project_linear_function",
    "project_solution",
]

# How far a covariance on the training rows may be beyond its threshold.
TOLERANCE = 1e-6
# Violations up to this size are not corrected.
NEGLIGIBLE = 0.1 * TOLERANCE
# Relative singular value below which constraints are linearly dependent.
DEPENDENT = 1e-10


def largest_violation(limits: Sequence[GlobalRow], values: np.ndarray) -> float:
    """Return the largest violation by a function with these values on the rows."""
    return max((_violation(row, values) for row in limits), default=0.0)


def project_solution(solution: Solution, tol: float) -> Solution:
    """Return the solution projected onto its constraints.

    It has converged if it is still optimal within `tol`.
    """
    problem, values = solution.problem, solution.values[0]
    limits = problem.global_rows
    if largest_violation(limits, values) <= NEGLIGIBLE:
        return solution
    space, rho = problem.spaces[0], problem.functions[0].weight
    rows = np.array([row.on[0] for row in limits])
    images = np.array([space.apply(row) for row in rows]) / rho
    change = _change(limits, rows @ images.T, values)
    multipliers = solution.multipliers.copy()
    multipliers[problem.size - len(limits) :] += change
    added = change @ rows
    coefficients, weights = list(solution.coefficients), solution.weights
    coefficients[0] = coefficients[0] + added
    if weights is not None and weights[0] is not None:
        weights = [weights[0] + space.matrix.T @ added / rho, *weights[1:]]
    projected = replace(
        solution, multipliers=multipliers, coefficients=coefficients, weights=weights
    )
    projected.converged = solution.converged and projected.is_optimal(tol)
    return projected


def project_linear_function(
    function: Expansion, rows: np.ndarray, limits: Sequence[GlobalRow]
) -> Expansion:
    """Return a linear function projected onto the constraints.

    With features of large scale, the rounding errors of its weights, which are sums
    over the rows, can exceed the tolerance after `project_solution`.
    """
    values = function(rows)
    if largest_violation(limits, values) <= NEGLIGIBLE:
        return function
    images = np.array([np.asarray(rows.T @ row.on[0]).ravel() for row in limits])
    change = _change(limits, images @ images.T, values)
    return replace(function, coefficients=function.coefficients + change @ images)


def _violation(row: GlobalRow, values: np.ndarray) -> float:
    residual = row.at_least - float(row.on[0] @ values)
    return abs(residual) if row.equality else max(residual, 0.0)


def _change(
    limits: Sequence[GlobalRow], hessian: np.ndarray, values: np.ndarray
) -> np.ndarray:
    """Return the multipliers μ of the module docstring, zero outside the active set."""
    residual = np.array([row.at_least - row.on[0] @ values for row in limits])
    equal = np.array([row.equality for row in limits])
    # Scaled to a unit diagonal, so that small constraints do not count as dependent.
    unit = np.sqrt(np.diag(hessian))
    unit[unit == 0] = 1.0
    scaled = hessian / np.outer(unit, unit)
    active, change = equal | (residual > 0), np.zeros(len(limits))
    for _ in limits:
        # Columns of categories are linearly dependent: the change of least norm.
        change[active] = np.linalg.lstsq(
            scaled[np.ix_(active, active)], (residual / unit)[active], rcond=DEPENDENT
        )[0]
        violated = ~active & (residual - hessian @ (change / unit) > NEGLIGIBLE)
        if not violated.any():
            break
        active |= violated
    return change / unit
