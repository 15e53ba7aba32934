"""The operations on the rows of a block, beside ``+ − * /``, on arrays of the host.

What has one entry per row is a vector; features are an array or a sparse matrix.
Scalars stay what they are until `numbers` reads several of them at once.
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
    """Return a vector of the host as one of this kind."""
    return values


def features(matrix: Any) -> Any:
    """Return features of the host as ones of this kind."""
    return matrix


def to_host(values: Any) -> np.ndarray:
    """Return a vector or a small matrix as an array of the host."""
    return values


def numbers(values: list) -> np.ndarray:
    """Return several scalars as floats."""
    return np.array(values, dtype=float)


absolute, maximum = np.abs, np.maximum


def floored(values: Any, floor: float) -> Any:
    """Return the entries of a vector, at least a number."""
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
