"""Zeros of the slope of a convex function along a line."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["first_zero", "zero_of"]

# Slope at the end, as a share of the first slope, that is accepted for a full step and
# for a shorter step.
FULL, STEEP = 0.25, 0.02
SECANTS, HALVINGS, FAR = 30, 40, 1e6


def zero_of(slope: Callable[[float], float], *, unit: float) -> float:
    """Return the zero of an increasing function; 0 if it is farther than FAR units."""
    side = -unit if slope(0.0) > 0 else unit
    near, far = 0.0, side
    while slope(far) * side < 0:
        near, far = far, 2.0 * far
        if abs(far) > FAR * unit:
            return 0.0
    for _ in range(HALVINGS):
        middle = 0.5 * (near + far)
        if slope(middle) * side < 0:
            near = middle
        else:
            far = middle
    return 0.5 * (near + far)


def first_zero(slope: Callable[[float], float], *, steep: float = STEEP) -> float:
    """Return the zero of an increasing function on [0, 1]; 1 if there is none.

    1 is also returned if the slope there is a small share of the first. ``steep`` is
    the share of the first slope that counts as zero.
    """
    at_start, at_end = slope(0.0), slope(1.0)
    if at_end <= FULL * abs(at_start) or at_start >= 0.0:
        return 1.0
    low, high, f_low, f_high = 0.0, 1.0, at_start, at_end
    for _ in range(SECANTS):
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
