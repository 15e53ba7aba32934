"""Centered Gram matrices, for single precision.

A function with basis e satisfies ``e·v = 0``. For such v the matrices K and::

    ΠKΠ = K − k eᵀ − e kᵀ + κ e eᵀ,     Π = I − e eᵀ/(e·e),  k = K e/(e·e)

differ by a multiple of e only, ``ΠKΠ v = K v − (k·v) e``, which is a shift of the bias.
K has a large eigenvalue near e, which costs accuracy in single precision; ΠKΠ has not.
In double precision K/ρ is used.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from lupi._convex.linalg import in_precision, subtract_outer, symmetric_product
from lupi._convex.problem import Function, Gram

__all__ = ["Centered"]


class Centered:
    """``ΠKΠ/ρ`` of one function in single precision, ``K/ρ`` in double."""

    def __init__(self, function: Function, dtype: type):
        gram, basis = cast(Gram, function.space).matrix, function.basis
        self.mean: np.ndarray | None = None
        self.matrix = in_precision(gram, function.weight, dtype)
        if dtype != np.float64 and basis is not None:
            square = basis @ basis
            mean = symmetric_product(gram, basis) / (square * function.weight)
            self.mean = mean
            half = mean - 0.5 * (mean @ basis) / square * basis
            subtract_outer(self.matrix, half, basis)

    def shift(self, expansion: np.ndarray) -> np.ndarray | float:
        """Return ``k·v``, the difference of the biases with K and with ΠKΠ."""
        return 0.0 if self.mean is None else expansion @ self.mean
