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
    "pivoted_factor",
    "scaled_block",
    "subtract_gram",
    "threads_for",
    "triangular_solve",
]

# Below this size two threads lose more by waking up than they gain, and on busy
# cores they can be tens of times slower than one.
SINGLE_THREAD_SIZE = 700

RANK_TOLERANCE = 1e-15


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
    """Lower triangle of ``(LLᵀ)⁻¹``; the factor stays."""
    return lapack.dpotri(factor, lower=1, overwrite_c=0)[0]


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


def pivoted_factor(matrix: np.ndarray) -> np.ndarray:
    """Φ with ``ΦΦᵀ = matrix`` up to rounding, and as few columns as that takes.

    Cholesky with complete pivoting, which stops where the rest is rounding.
    """
    largest = float(np.diagonal(matrix).max(initial=0.0))
    factor, pivots, rank, _ = lapack.dpstrf(
        matrix, tol=RANK_TOLERANCE * largest, lower=1
    )
    columns = np.tril(factor[:, :rank])
    out = np.empty_like(columns)
    out[pivots - 1] = columns
    return out


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
