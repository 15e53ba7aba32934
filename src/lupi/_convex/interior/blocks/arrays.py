"""Operations on the rows of a block, in addition to ``+ − * /``, for NumPy arrays.

A vector has one entry per row; features are an array or a sparse matrix. Scalars are
of the type of the vectors until `numbers` converts several of them at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "absolute",
    "dot",
    "features",
    "floored",
    "largest",
    "maximum",
    "numbers",
    "product",
    "projection",
    "to_host",
    "total",
    "vector",
    "weighted_gram",
]


def vector(values: np.ndarray) -> Any:
    """Convert a NumPy vector into one of this type."""
    return values


def features(matrix: Any) -> Any:
    """Convert features on the host into ones of this type."""
    return matrix


def to_host(values: Any) -> np.ndarray:
    """Convert a vector or a small matrix into a NumPy array."""
    return values


def numbers(values: list) -> np.ndarray:
    """Return several scalars as floats."""
    return np.array(values, dtype=float)


absolute, maximum = np.abs, np.maximum


def floored(values: Any, floor: float) -> Any:
    """Return the elementwise maximum of a vector and a number."""
    return np.maximum(values, floor)


def dot(first: Any, second: Any) -> Any:
    """Return ``Σ_i first_i second_i`` of two vectors."""
    return first @ second


def total(values: Any) -> Any:
    """Return the sum of a vector."""
    return values.sum()


def largest(values: Any) -> Any:
    """Return the largest entry of a vector."""
    return values.max()


def product(matrix: Any, weights: np.ndarray) -> Any:
    """Return ``Φ w``; the weights are on the host."""
    return matrix @ weights


def projection(matrix: Any, values: Any) -> np.ndarray:
    """Return ``Φᵀ values`` on the host."""
    if isinstance(matrix, np.ndarray):
        return values @ matrix
    return np.asarray(matrix.T @ values).ravel()


def weighted_gram(first: Any, weight: Any, second: Any) -> np.ndarray:
    """Return ``Φᵀ diag(weight) Ψ`` on the host."""
    if isinstance(second, np.ndarray):
        return np.asarray(first.T @ (second * weight[:, None]))
    found = first.T @ second.multiply(weight[:, None]).tocsr()
    return found if isinstance(found, np.ndarray) else found.toarray()
