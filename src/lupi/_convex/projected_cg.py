"""Projected preconditioned conjugate gradients for a system with balance equations.

Solves ``M x + Eᵀy = p, E x = q`` for a positive semi-definite M that can be applied
exactly, with the inverse of a nearby system as preconditioner. All iterates satisfy the
balance equations, so that the method is the ordinary one on their null space.

References
----------
N. Gould, M. Hribar, J. Nocedal, "On the solution of equality constrained quadratic
programming problems arising in optimization", SIAM J. Sci. Comput. 23(4), 2001.
"""

from __future__ import annotations

import numpy as np

__all__ = ["conjugate_gradients"]

BALANCED, EXACT = 1e-14, 1e-13
MAX_REFINEMENTS, RISEN = 30, 1e2


def conjugate_gradients(
    product, precondition, spread, balance_matrix, right, balance, *, to
) -> tuple[np.ndarray, np.ndarray]:
    """Return x and y with an error of energy norm ``to`` times that of x.

    ``precondition(p, q)`` solves the nearby system, ``spread(y)`` is ``Eᵀy``.
    """
    step, biases = precondition(right, balance)
    step, biases = _balanced(step, biases, precondition, balance_matrix, balance)
    nothing = np.zeros_like(balance)
    size = abs(right @ step) ** 0.5
    residual = right - product(step) - spread(biases)
    if np.abs(residual).max(initial=0.0) <= EXACT * np.abs(right).max(initial=0.0):
        return step, biases
    search, old, least = None, 1.0, np.inf
    for _ in range(MAX_REFINEMENTS):
        change, shift = precondition(residual, nothing)
        # Rounding errors would accumulate in the range of Eᵀ, so it is projected out.
        residual, biases = residual - spread(shift), biases + shift
        energy = residual @ change
        if energy <= (to * size) ** 2 or not energy <= RISEN * least:
            if energy <= least:
                step = step + change
            break
        least = min(least, energy)
        search = change if search is None else change + energy / old * search
        old = energy
        image = product(search)
        curvature = search @ image
        if not curvature > 0:
            break  # the system is singular
        length = energy / curvature
        step = step + length * search
        residual = residual - length * image
    return _balanced(step, biases, precondition, balance_matrix, balance)


def _balanced(step, biases, precondition, balance_matrix, balance):
    """Return x and y after refinement of the balance equations."""
    size = np.abs(balance_matrix)
    for _ in range(3):
        residual = balance - balance_matrix @ step
        if not np.any(np.abs(residual) > BALANCED * (size @ np.abs(step))):
            break
        change, shift = precondition(np.zeros_like(step), residual)
        step, biases = step + change, biases + shift
    return step, biases
