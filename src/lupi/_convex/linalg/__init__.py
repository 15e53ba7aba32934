"""The dense operations of the solvers for Gram matrices, on arrays of several kinds.

Matrices are opaque: a solver makes and changes them by these operations alone, so that
the same method runs on NumPy arrays (:mod:`.host`) and on the tensors of a GPU
(:mod:`.torch_device`). What has one entry per row, vectors and a few of them side by
side, is a NumPy array everywhere; it moves to the device and back where an operation
needs it, which costs little beside the work on a matrix.

Of a symmetric matrix only the lower triangle counts, unless said otherwise. Which kind
of array an operation belongs to is decided by its first argument; `register` adds one.
"""

from __future__ import annotations

from typing import Any

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

_KINDS: dict[type, Any] = {np.ndarray: host}


def register(kind: type, operations: Any) -> None:
    """Let these operations take the matrices of a type.

    Parameters
    ----------
    kind : type
        The type of a matrix.
    operations : module or object
        With a function for every operation of this module.
    """
    _KINDS[kind] = operations


def _of(matrix: Any) -> Any:
    """Return the operations for the type of a matrix."""
    for kind in type(matrix).__mro__:
        if kind in _KINDS:
            return _KINDS[kind]
    raise TypeError(f"There are no operations for matrices of type {type(matrix)}.")


# --------------------------------------------------------------- factors
def cholesky(matrix: Any) -> Any:
    """Lower Cholesky factor, in place of the matrix."""
    return _of(matrix).cholesky(matrix)


def cholesky_solve(factor: Any, right: np.ndarray) -> np.ndarray:
    """``(LLᵀ)⁻¹ right`` for a vector or a matrix of columns."""
    return _of(factor).cholesky_solve(factor, right)


def inverse_from_cholesky(factor: Any, *, keep: bool = True) -> Any:
    """Lower triangle of ``(LLᵀ)⁻¹``; the factor stays, if it is to be kept."""
    return _of(factor).inverse_from_cholesky(factor, keep=keep)


def triangular_solve(factor: Any, right: Any, *, transposed: bool = False) -> Any:
    """``L⁻¹ right`` (or ``L⁻ᵀ right``) in place of right, a matrix."""
    return _of(factor).triangular_solve(factor, right, transposed=transposed)


def triangular_solve_vectors(
    factor: Any, right: np.ndarray, *, transposed: bool = False
) -> np.ndarray:
    """``L⁻¹ right`` (or ``L⁻ᵀ right``) for a vector or a matrix of columns."""
    return _of(factor).triangular_solve_vectors(factor, right, transposed=transposed)


# -------------------------------------------------------------- products
def symmetric_product(matrix: Any, vector: np.ndarray) -> np.ndarray:
    """Product of a symmetric matrix, both triangles given, and a vector or columns."""
    return _of(matrix).symmetric_product(matrix, vector)


def product(matrix: Any, vector: np.ndarray) -> np.ndarray:
    """Product of a matrix and a vector or columns."""
    return _of(matrix).product(matrix, vector)


def transposed_product(matrix: Any, vector: np.ndarray) -> np.ndarray:
    """Product of a transposed matrix and a vector or columns."""
    return _of(matrix).transposed_product(matrix, vector)


def subtract_gram(matrix: Any, columns: Any) -> Any:
    """``matrix − columnsᵀ columns``, in place."""
    return _of(matrix).subtract_gram(matrix, columns)


def subtract_outer(matrix: Any, left: np.ndarray, right: np.ndarray) -> None:
    """Subtract ``left rightᵀ + right leftᵀ`` in place, both triangles."""
    _of(matrix).subtract_outer(matrix, left, right)


# ---------------------------------------------------------------- blocks
def block(matrix: Any, rows: np.ndarray, columns: np.ndarray) -> Any:
    """Return a copy of ``matrix[rows, columns]``, symmetric, both triangles."""
    return _of(matrix).block(matrix, rows, columns)


def scaled_block(
    matrix: Any,
    rows: np.ndarray | slice,
    columns: np.ndarray | slice,
    left: np.ndarray,
    right: np.ndarray,
) -> Any:
    """``diag(left) · matrix[rows, columns] · diag(right)`` of a symmetric matrix."""
    return _of(matrix).scaled_block(matrix, rows, columns, left, right)


def take_rows(matrix: Any, rows: np.ndarray) -> Any:
    """Return a copy of some rows."""
    return _of(matrix).take_rows(matrix, rows)


def put(matrix: Any, rows: slice, columns: slice, part: Any, *, add: bool = False):
    """Write a part into a matrix, or add it to what is there."""
    _of(matrix).put(matrix, rows, columns, part, add=add)


def zeros(like: Any, n_rows: int, n_columns: int) -> Any:
    """Return a matrix of zeros of the kind and precision of another."""
    return _of(like).zeros(like, n_rows, n_columns)


# ----------------------------------------------------- the whole of a matrix
def add_diagonal(matrix: Any, values: np.ndarray | float) -> None:
    """Add to the diagonal in place."""
    _of(matrix).add_diagonal(matrix, values)


def add_at(
    matrix: Any, rows: np.ndarray, columns: np.ndarray, values: np.ndarray
) -> None:
    """Add to single entries, each named once, in place."""
    _of(matrix).add_at(matrix, rows, columns, values)


def diagonal(matrix: Any) -> np.ndarray:
    """Return the diagonal."""
    return _of(matrix).diagonal(matrix)


def scale(matrix: Any, left: np.ndarray, right: np.ndarray) -> None:
    """``diag(left) · matrix · diag(right)`` in place."""
    _of(matrix).scale(matrix, left, right)


def shifted(matrix: Any, constant: float) -> Any:
    """Return a copy with a constant added to every entry."""
    return _of(matrix).shifted(matrix, constant)


def is_on_host(matrix: Any) -> bool:
    """Whether a matrix is a NumPy array."""
    return _of(matrix) is host


def is_stored(matrix: Any) -> bool:
    """Whether the entries are in memory, rather than computed for every product."""
    return np.float64 in factor_precisions(matrix)


def symmetrized(matrix: Any) -> Any:
    """Fill the upper triangle from the lower, in place."""
    return _of(matrix).symmetrized(matrix)


def transposed(matrix: Any) -> Any:
    """Return the transposed matrix, no copy."""
    return _of(matrix).transposed(matrix)


def copied(matrix: Any) -> Any:
    """Return a copy that may be changed in place."""
    return _of(matrix).copied(matrix)


def in_precision(matrix: Any, divisor: float, dtype: type) -> Any:
    """``matrix / divisor`` with entries of this type; the matrix itself if it is so."""
    return _of(matrix).in_precision(matrix, divisor, dtype)


def factor_precisions(matrix: Any) -> tuple[type, ...]:
    """Return the types in which to factorize parts of a matrix, in order."""
    return _of(matrix).factor_precisions(matrix)
