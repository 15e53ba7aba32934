"""Dense operations of the solvers, for Gram matrices of several array types.

The solvers access matrices by these operations only, so that the same method runs on
NumPy arrays (:mod:`.host`) and on torch tensors on a GPU (:mod:`.torch_device`).
Vectors with one entry per row, and matrices of a few such columns, are NumPy arrays in
both cases; an operation moves them to the device and back, which takes little time
compared with the work on a matrix.

Of a symmetric matrix only the lower triangle is used, unless stated otherwise. The type
of the first argument decides which functions are called; `register` adds a type. The
docstrings of the operations are in :mod:`.host`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from lupi._convex.linalg import host
from lupi._convex.linalg.host import (
    NotPositiveDefinite,
    estimated_rank,
    inverse_of_small,
    pivoted_factor,
)

__all__ = [
    "NotPositiveDefinite",
    "add_at",
    "add_diagonal",
    "block",
    "cholesky",
    "cholesky_solve",
    "copied",
    "diagonal",
    "estimated_rank",
    "factor_precisions",
    "in_precision",
    "inverse_from_cholesky",
    "inverse_of_small",
    "is_on_host",
    "is_stored",
    "pivoted_factor",
    "product",
    "put",
    "register",
    "scale",
    "scaled_block",
    "shifted",
    "subtract_gram",
    "subtract_outer",
    "symmetric_product",
    "symmetrized",
    "take_rows",
    "transposed",
    "transposed_product",
    "triangular_solve",
    "triangular_solve_vectors",
    "zeros",
]

_OPERATIONS: dict[type, Any] = {np.ndarray: host}
Operation = TypeVar("Operation", bound=Callable[..., Any])


def register(kind: type, operations: Any) -> None:
    """Register the operations for matrices of a type.

    Parameters
    ----------
    kind : type
        The type of a matrix.
    operations : module or object
        With a function for every operation that is used on this type.
    """
    _OPERATIONS[kind] = operations


def _operations_of(matrix: Any) -> Any:
    """Return the operations for the type of a matrix."""
    for kind in type(matrix).__mro__:
        if kind in _OPERATIONS:
            return _OPERATIONS[kind]
    raise TypeError(f"There are no operations for matrices of type {type(matrix)}.")


def _dispatched(operation: Operation) -> Operation:
    """Return an operation that calls the function for the type of its matrix."""
    name = operation.__name__

    @wraps(operation)
    def dispatch(matrix: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(_operations_of(matrix), name)(matrix, *args, **kwargs)

    return dispatch  # type: ignore[return-value]


cholesky = _dispatched(host.cholesky)
cholesky_solve = _dispatched(host.cholesky_solve)
inverse_from_cholesky = _dispatched(host.inverse_from_cholesky)
triangular_solve = _dispatched(host.triangular_solve)
triangular_solve_vectors = _dispatched(host.triangular_solve_vectors)
symmetric_product = _dispatched(host.symmetric_product)
product = _dispatched(host.product)
transposed_product = _dispatched(host.transposed_product)
subtract_gram = _dispatched(host.subtract_gram)
subtract_outer = _dispatched(host.subtract_outer)
block = _dispatched(host.block)
scaled_block = _dispatched(host.scaled_block)
take_rows = _dispatched(host.take_rows)
put = _dispatched(host.put)
zeros = _dispatched(host.zeros)
add_diagonal = _dispatched(host.add_diagonal)
add_at = _dispatched(host.add_at)
diagonal = _dispatched(host.diagonal)
scale = _dispatched(host.scale)
shifted = _dispatched(host.shifted)
symmetrized = _dispatched(host.symmetrized)
transposed = _dispatched(host.transposed)
copied = _dispatched(host.copied)
in_precision = _dispatched(host.in_precision)
factor_precisions = _dispatched(host.factor_precisions)


def is_on_host(matrix: Any) -> bool:
    """Return whether a matrix is a NumPy array."""
    return _operations_of(matrix) is host


def is_stored(matrix: Any) -> bool:
    """Return whether the entries are stored, not computed for every product."""
    return np.float64 in factor_precisions(matrix)
