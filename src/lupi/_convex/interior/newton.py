"""The interface of a Newton step, and its choice for a problem.

In each iteration the interior-point method sets a `Barrier` and solves
``(H + D) x + Eᵀy = p, E x = q`` where ``H = Σ_k A_k K_k A_kᵀ/ρ_k``, ``D`` is the
barrier and ``E`` the matrix of the balance equations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from lupi._convex.linalg import is_stored
from lupi._convex.problem import Features, Problem
from lupi._convex.tuning import DEFAULT, Tuning

__all__ = ["Barrier", "NewtonStep", "newton_for"]


@dataclass(frozen=True, eq=False)
class Barrier:
    """The contribution of the bounds to the Newton matrix.

    ``diagonal`` has one entry per multiplier; ``shared`` has, per linear slack, the
    weight of the sum of the multipliers that share it.
    """

    diagonal: np.ndarray
    shared: list[np.ndarray]


class NewtonStep(Protocol):
    """Interface of the Newton step.

    It stores the functions: their expansion coefficients v, their weights if the space
    has features, and their values f on the rows. All are updated by each step rather
    than recomputed from the multipliers, because v = Σλ − c cancels if a multiplier is
    close to its cost.
    """

    coefficients: list[np.ndarray]
    penalized: list[np.ndarray]
    # One vector per function with features; None if the space has none.
    weights: Any

    def start(self, multipliers: np.ndarray) -> None:
        """Set the functions to those of the multipliers."""

    def factorize(self, barrier: Barrier) -> None:
        """Factorize the Newton matrix with this barrier."""

    def solve(
        self, right: np.ndarray, balance: np.ndarray, *, refine: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the steps of the multipliers and of the biases."""

    def advance(self, length: float, step: np.ndarray) -> None:
        """Update the functions for a step of the multipliers."""

    def hold(self) -> tuple:
        """Return the current functions, for `resume`."""
        return self.coefficients, self.weights, self.penalized

    def resume(self, held: tuple) -> None:
        """Restore functions that `hold` returned."""
        self.coefficients, self.weights, self.penalized = held


def newton_for(problem: Problem, tuning: Tuning = DEFAULT) -> NewtonStep:
    """Return the Newton step of the space in which the functions are given."""
    spaces = [f.space for f in problem.functions if f.space is not None]
    if all(isinstance(space, Features) for space in spaces):
        from lupi._convex.interior.features import FeatureNewton

        return FeatureNewton(problem)
    if any(isinstance(space, Features) for space in spaces):
        raise ValueError(
            "The functions of a problem must be given either all by Gram matrices or "
            "all by features; here both occur. Give Gram matrices for all."
        )
    if not all(is_stored(space.matrix) for space in spaces):
        raise ValueError(
            "solver='interior' needs Gram matrices that are stored, and these are too "
            "large for the memory of the device. Use solver='auto'."
        )
    from lupi._convex.interior.kernel import KernelNewton

    return KernelNewton(problem, tuning)
