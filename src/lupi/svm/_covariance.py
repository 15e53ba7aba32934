"""Covariances that respect their limits to what can be measured.

A solver stops at a duality gap, which leaves the limits ``G f ≥ h`` missed by a little.
The nearest function that meets them, in the norm of its space, is::

    f + Σ_g μ_g K G_g,    H_AA μ_A = (h − G f)_A,    H = G K Gᵀ

with A the equalities and the limits that f, or what was done for the others, misses: a
change of the multipliers of the limits alone, whose certificate is computed anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lupi._convex import GlobalRow, Solution
from lupi.svm._data import Expansion

__all__ = ["PROMISED", "largest_miss", "limits_met", "linear_limits_met"]

# How far a covariance on the training rows may be beyond its threshold.
PROMISED = 1e-6
# Solutions that keep this much of the promise are left as they are.
GOOD_ENOUGH = 0.1 * PROMISED
# Limits that others determine up to this share of their size.
DEPENDENT = 1e-10


def largest_miss(limits: Sequence[GlobalRow], values: np.ndarray) -> float:
    """By how much the worst limit is missed by a function with these values."""
    return max((_miss(row, values) for row in limits), default=0.0)


def limits_met(solution: Solution, tol: float) -> Solution:
    """Return the solution with its limits met, and whether it is optimal within tol."""
    problem, values = solution.problem, solution.values[0]
    limits = problem.global_rows
    if largest_miss(limits, values) <= GOOD_ENOUGH:
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
    met = replace(
        solution, multipliers=multipliers, coefficients=coefficients, weights=weights
    )
    met.converged = solution.converged and met.is_optimal(tol)
    return met


def linear_limits_met(
    function: Expansion, rows: np.ndarray, limits: Sequence[GlobalRow]
) -> Expansion:
    """Do the same for the weights of a linear function, which round separately.

    With features of large scale, a sum over the rows has too few to hold a promise.
    """
    values = function(rows)
    if largest_miss(limits, values) <= GOOD_ENOUGH:
        return function
    images = np.array([np.asarray(rows.T @ row.on[0]).ravel() for row in limits])
    change = _change(limits, images @ images.T, values)
    return replace(function, coefficients=function.coefficients + change @ images)


def _miss(row: GlobalRow, values: np.ndarray) -> float:
    short = row.at_least - float(row.on[0] @ values)
    return abs(short) if row.equality else max(short, 0.0)


def _change(
    limits: Sequence[GlobalRow], bends: np.ndarray, values: np.ndarray
) -> np.ndarray:
    """Return the multipliers μ above, of every limit that a correction would break."""
    short = np.array([row.at_least - row.on[0] @ values for row in limits])
    equal = np.array([row.equality for row in limits])
    # In units of its own each, so that a small one is not taken for a dependent one.
    unit = np.sqrt(np.diag(bends))
    unit[unit == 0] = 1.0
    scaled = bends / np.outer(unit, unit)
    held, change = equal | (short > 0), np.zeros(len(limits))
    for _ in limits:
        # Columns of categories depend on each other: the least change that does it.
        change[held] = np.linalg.lstsq(
            scaled[np.ix_(held, held)], (short / unit)[held], rcond=DEPENDENT
        )[0]
        broken = ~held & (short - bends @ (change / unit) > GOOD_ENOUGH)
        if not broken.any():
            break
        held |= broken
    return change / unit
