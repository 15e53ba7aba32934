"""Searches along lines, and preconditioned conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

# Slope at the end, as a share of the first slope, that is accepted for a full step and
# for a shorter step.
FULL_STEP_SLOPE, ZERO_SLOPE = 0.25, 0.02
MOST_SECANTS, MOST_HALVINGS, MOST_UNITS = 30, 40, 1e6


def zero_of(slope: Callable[[float], float], *, unit: float) -> float:
    """Return the zero of an increasing function; 0 if it is very far away."""
    side = -unit if slope(0.0) > 0 else unit
    near, far = 0.0, side
    while slope(far) * side < 0:
        near, far = far, 2.0 * far
        if abs(far) > MOST_UNITS * unit:
            return 0.0
    for _ in range(MOST_HALVINGS):
        middle = 0.5 * (near + far)
        if slope(middle) * side < 0:
            near = middle
        else:
            far = middle
    return 0.5 * (near + far)


def first_zero(slope: Callable[[float], float], *, steep: float = ZERO_SLOPE) -> float:
    """Return the zero of an increasing function on [0, 1]; 1 if there is none.

    1 is also returned if the slope there is a small share of the first. ``steep`` is
    the share of the first slope that counts as zero.
    """
    at_start, at_end = slope(0.0), slope(1.0)
    if at_end <= FULL_STEP_SLOPE * abs(at_start) or at_start >= 0.0:
        return 1.0
    low, high, f_low, f_high = 0.0, 1.0, at_start, at_end
    for _ in range(MOST_SECANTS):
        middle = low - f_low * (high - low) / (f_high - f_low)
        # Safeguarded: secant steps may converge slowly from one end.
        middle = min(max(middle, low + 0.1 * (high - low)), high - 0.1 * (high - low))
        f = slope(middle)
        if f > 0:
            high, f_high = middle, f
        else:
            low, f_low = middle, f
        if abs(f) <= steep * abs(at_start):
            return middle
    return low


BALANCE_ROUNDING, EXACT_RESIDUAL = 1e-14, 1e-13
MAX_REFINEMENTS, LARGEST_RISE = 30, 1e2


def conjugate_gradients(
    product, precondition, spread, balance_matrix, right, balance, *, to
) -> tuple[np.ndarray, np.ndarray]:
    """Return x and y with an error of energy norm ``to`` times that of x.

    ``precondition(p, q)`` solves the nearby system, ``spread(y)`` is ``Eᵀy``.

    Solves ``M x + Eᵀy = p, E x = q`` for a positive semi-definite M that can be applied
    exactly, with the inverse of a nearby system as preconditioner. All iterates satisfy
    the balance equations, so that the method is the ordinary one on their null space.

    References
    ----------
    N. Gould, M. Hribar, J. Nocedal, "On the solution of equality constrained quadratic
    programming problems arising in optimization", SIAM J. Sci. Comput. 23(4), 2001.
    """
    step, biases = precondition(right, balance)
    step, biases = _balanced(step, biases, precondition, balance_matrix, balance)
    nothing = np.zeros_like(balance)
    size = abs(right @ step) ** 0.5
    residual = right - product(step) - spread(biases)
    if np.abs(residual).max(initial=0.0) <= EXACT_RESIDUAL * np.abs(right).max(
        initial=0.0
    ):
        return step, biases
    search, old, least = None, 1.0, np.inf
    for _ in range(MAX_REFINEMENTS):
        change, shift = precondition(residual, nothing)
        # Rounding errors would accumulate in the range of Eᵀ, so it is projected out.
        residual, biases = residual - spread(shift), biases + shift
        energy = residual @ change
        if energy <= (to * size) ** 2 or not energy <= LARGEST_RISE * least:
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
        if not np.any(np.abs(residual) > BALANCE_ROUNDING * (size @ np.abs(step))):
            break
        change, shift = precondition(np.zeros_like(step), residual)
        step, biases = step + change, biases + shift
    return step, biases
