"""The few dense operations the solvers use.

Symmetric matrices are Fortran-ordered and only their lower triangle counts. Keeping the
operations behind these names lets the same methods run on other arrays later.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache

import numpy as np
from scipy.linalg import blas, lapack

__all__ = [
    "NotPositiveDefinite",
    "cholesky",
    "cholesky_solve",
    "inverse_from_cholesky",
    "scaled_block",
    "subtract_gram",
    "symmetric_product",
    "threads_for",
    "triangular_solve",
]

# Below this size two threads lose more by waking up than they gain, and on busy
# cores they can be tens of times slower than one.
SINGLE_THREAD_SIZE = 700


class NotPositiveDefinite(ArithmeticError):
    """A Cholesky factorisation met a pivot that is not positive."""


def cholesky(matrix: np.ndarray) -> np.ndarray:
    """Lower Cholesky factor, in place of the matrix."""
    factor, info = lapack.dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
    if info != 0:
        raise NotPositiveDefinite(f"pivot {info} of {len(matrix)} is not positive")
    return factor


def cholesky_solve(factor: np.ndarray, right: np.ndarray) -> np.ndarray:
    """``(LLᵀ)⁻¹ right`` for a vector or a matrix of columns."""
    return lapack.dpotrs(factor, right, lower=1)[0]


def inverse_from_cholesky(factor: np.ndarray) -> np.ndarray:
    """Lower triangle of ``(LLᵀ)⁻¹``, in place of the factor."""
    return lapack.dpotri(factor, lower=1, overwrite_c=1)[0]


def triangular_solve(
    factor: np.ndarray, right: np.ndarray, *, transposed: bool = False
) -> np.ndarray:
    """``L⁻¹ right`` (or ``L⁻ᵀ right``), in place of right."""
    return blas.dtrsm(
        1.0, factor, right, lower=1, trans_a=int(transposed), overwrite_b=1
    )


def subtract_gram(matrix: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """``matrix − columnsᵀ columns`` on the lower triangle, in place."""
    return blas.dsyrk(
        -1.0, columns, beta=1.0, c=matrix, trans=1, lower=1, overwrite_c=1
    )


def symmetric_product(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Product of a symmetric matrix (lower triangle) and a vector or columns."""
    if vector.ndim == 1:
        return blas.dsymv(1.0, matrix, vector, lower=1)
    return blas.dsymm(1.0, matrix, np.asfortranarray(vector), lower=1)


def scaled_block(
    matrix: np.ndarray,
    rows: np.ndarray | slice,
    columns: np.ndarray | slice,
    left: np.ndarray,
    right: np.ndarray,
) -> np.ndarray:
    """``diag(left) · matrix[rows, columns] · diag(right)``, Fortran-ordered.

    The matrix is symmetric, so that its rows are read as columns: a copy in
    Fortran order then costs one pass.
    """
    if isinstance(rows, slice) and isinstance(columns, slice):
        block = matrix * right[:, None]
    elif isinstance(rows, slice):
        block = matrix[columns] * right[:, None]
    else:
        block = (
            matrix[columns][:, rows]
            if not isinstance(columns, slice)
            else (matrix[:, rows])
        )
        block = np.ascontiguousarray(block)
        block *= right[:, None]
    block *= left
    return block.T


@cache
def _thread_controller():
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def threads_for(size: int):
    """Keep BLAS on one thread for problems too small to share out."""
    if size >= SINGLE_THREAD_SIZE:
        yield
        return
    with _thread_controller().limit(limits=1, user_api="blas"):
        yield
