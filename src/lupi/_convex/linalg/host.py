"""Dense operations of the solvers on NumPy arrays, by BLAS and LAPACK.

Symmetric matrices are Fortran-ordered.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.linalg import blas, lapack

RANK_TOLERANCE, REGULAR = 1e-15, 1e10
SYMMETRISED_AT_ONCE, GATHERED_AT_ONCE = 256, 128
# Number of rows in the sample from which a rank is estimated.
SAMPLED = 128
# Number of columns up to which products of single vectors are faster.
FEW_COLUMNS = 4


class NotPositiveDefinite(ArithmeticError):
    """Error of a Cholesky factorization with a pivot that is not positive."""


def _routine(name: str, matrix: np.ndarray):
    """Return the routine of BLAS or LAPACK for the precision of a matrix."""
    return _routines(name)[matrix.dtype == np.float32]


@cache
def _routines(name: str) -> tuple:
    """Return the routines for double and for single precision."""
    library = lapack if hasattr(lapack, "d" + name) else blas
    return getattr(library, "d" + name), getattr(library, "s" + name)


def cholesky(matrix: np.ndarray) -> np.ndarray:
    """Return the lower Cholesky factor; it overwrites the matrix."""
    factor, info = _routine("potrf", matrix)(matrix, lower=1, clean=0, overwrite_a=1)
    if info != 0:
        raise NotPositiveDefinite(f"pivot {info} of {len(matrix)} is not positive")
    return factor


def cholesky_solve(factor: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return ``(LLᵀ)⁻¹ right`` for a vector or a matrix of columns."""
    if right.ndim == 1:
        half = _routine("trsv", factor)(factor, right, lower=1)
        return _routine("trsv", factor)(factor, half, lower=1, trans=1, overwrite_x=1)
    if right.shape[1] <= FEW_COLUMNS:
        out = np.empty(right.shape, factor.dtype, order="F")
        for column, solved in zip(right.T, out.T, strict=True):
            solved[:] = cholesky_solve(factor, column)
        return out
    return _routine("potrs", factor)(factor, right, lower=1)[0]


def inverse_from_cholesky(factor: np.ndarray, *, keep: bool = True) -> np.ndarray:
    """Return the lower triangle of ``(LLᵀ)⁻¹``; it overwrites L unless `keep`."""
    return _routine("potri", factor)(factor, lower=1, overwrite_c=int(not keep))[0]


def inverse_of_small(matrix: np.ndarray) -> np.ndarray:
    """Return the inverse of a small symmetric matrix, or its pseudoinverse.

    The matrix is singular if constraints are linearly dependent on the rows.
    """
    size = np.sqrt(np.abs(np.diagonal(matrix)))
    scale = 1.0 / np.where(size > 0, size, 1.0)
    matrix = matrix * scale[:, None] * scale
    try:
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        inverse = np.full_like(matrix, np.inf)
    if not np.abs(inverse).max(initial=0.0) < REGULAR:
        inverse = np.linalg.pinv(matrix, rcond=1e-14, hermitian=True)
    return inverse * scale[:, None] * scale


def triangular_solve(
    factor: np.ndarray, right: np.ndarray, *, transposed: bool = False
) -> np.ndarray:
    """Return ``L⁻¹ right`` (or ``L⁻ᵀ right``); it overwrites the matrix right."""
    trans = int(transposed)
    if right.ndim == 1:
        solve = _routine("trsv", factor)
        return solve(factor, right, lower=1, trans=trans, overwrite_x=1)
    solve = _routine("trsm", factor)
    return solve(1.0, factor, right, lower=1, trans_a=trans, overwrite_b=1)


def triangular_solve_vectors(
    factor: np.ndarray, right: np.ndarray, *, transposed: bool = False
) -> np.ndarray:
    """Return ``L⁻¹ right`` (or ``L⁻ᵀ right``) for a vector or a matrix of columns."""
    right = np.array(right, factor.dtype, order="F")
    return triangular_solve(factor, right, transposed=transposed)


def block(matrix: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return a copy of ``matrix[rows, columns]`` of a matrix with both triangles."""
    if matrix.flags.f_contiguous:
        matrix = matrix.T
    out = np.empty((len(columns), len(rows)), matrix.dtype)
    for start in range(0, len(columns), GATHERED_AT_ONCE):
        part = slice(start, start + GATHERED_AT_ONCE)
        lines = matrix.take(columns[part], axis=0)
        lines.take(rows, axis=1, out=out[part], mode="clip")  # "raise" needs a buffer
    return out.T


def symmetrized(matrix: np.ndarray) -> np.ndarray:
    """Fill the upper triangle from the lower, in place."""
    for start in range(0, len(matrix), SYMMETRISED_AT_ONCE):
        stop = start + SYMMETRISED_AT_ONCE
        corner = np.tril(matrix[start:stop, start:stop])
        corner += np.tril(corner, -1).T
        matrix[start:stop, start:stop] = corner
        matrix[start:stop, stop:] = matrix[stop:, start:stop].T
    return matrix


def subtract_gram(matrix: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return ``matrix − columnsᵀ columns`` in the lower triangle, in place."""
    return _routine("syrk", matrix)(
        -1.0, columns, beta=1.0, c=matrix, trans=1, lower=1, overwrite_c=1
    )


def symmetric_product(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return the product of a matrix with both triangles and a vector or columns.

    NumPy and SciPy may each have a BLAS library, whose waiting threads occupy the
    cores: all large products use that of SciPy.
    """
    matrix = matrix if matrix.flags.f_contiguous else matrix.T  # symmetric: no copy
    if vector.ndim == 1:
        return _routine("symv", matrix)(1.0, matrix, vector, lower=1)
    if vector.shape[1] <= FEW_COLUMNS:
        out = np.empty(vector.shape, order="F")
        for column, product in zip(vector.T, out.T, strict=True):
            product[:] = _routine("symv", matrix)(1.0, matrix, column, lower=1)
        return out
    return _routine("symm", matrix)(1.0, matrix, np.asfortranarray(vector), lower=1)


def pivoted_factor(matrix: np.ndarray) -> np.ndarray:
    """Return Φ with ``ΦΦᵀ = matrix`` up to rounding; its columns are the rank.

    This is a Cholesky factorization with complete pivoting.
    """
    largest = float(np.diagonal(matrix).max(initial=0.0))
    factor, pivots, rank, _ = lapack.dpstrf(
        matrix, tol=RANK_TOLERANCE * largest, lower=1
    )
    columns = np.tril(factor[:, :rank])
    out = np.empty_like(columns)
    out[pivots - 1] = columns
    return out


def estimated_rank(matrix: np.ndarray) -> float:
    """Estimate the number of columns of `pivoted_factor` from a sample of the rows.

    The pivots of smooth kernels decrease exponentially; those of the sample are
    extrapolated to the size of rounding errors.
    """
    rows = np.linspace(0, len(matrix) - 1, min(len(matrix), SAMPLED)).astype(int)
    sample = block(matrix, rows, rows)
    largest = float(np.diagonal(sample).max(initial=0.0))
    factor, _, rank, _ = lapack.dpstrf(sample, tol=RANK_TOLERANCE * largest, lower=1)
    half = SAMPLED // 2
    if rank <= half or len(matrix) <= SAMPLED:
        return rank
    decrease = np.log(largest) - 2 * np.log(factor[half, half])
    return half * -np.log(RANK_TOLERANCE) / max(decrease, 1e-3)


def scaled_block(
    matrix: np.ndarray,
    rows: np.ndarray | slice,
    columns: np.ndarray | slice,
    left: np.ndarray,
    right: np.ndarray,
) -> np.ndarray:
    """Return ``diag(left) · matrix[rows, columns] · diag(right)``, Fortran-ordered.

    The matrix has both triangles, so that its rows can be copied as columns.
    """
    if isinstance(rows, slice) and isinstance(columns, slice):
        block = matrix * right[:, None]
    elif isinstance(rows, slice):
        block = matrix[columns] * right[:, None]
    else:
        block = np.ascontiguousarray(matrix[columns][:, rows])
        block *= right[:, None]
    block *= left
    return block.T


def product(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return the product of a matrix and a vector or columns."""
    return matrix @ vector.astype(matrix.dtype, copy=False)


def transposed_product(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return the product of a transposed matrix and a vector or columns."""
    return matrix.T @ vector.astype(matrix.dtype, copy=False)


def subtract_outer(matrix: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
    """Subtract ``left rightᵀ + right leftᵀ`` in place, in both triangles."""
    left, right = left.astype(matrix.dtype), right.astype(matrix.dtype)
    constant = (right == right[0]).all()
    for start in range(0, len(matrix), GATHERED_AT_ONCE):  # parts stay in the cache
        part = slice(start, start + GATHERED_AT_ONCE)
        lines = matrix[part]
        if constant:
            lines -= right[0] * left
            lines -= right[0] * left[part, None]
        else:
            lines -= left[part, None] * right
            lines -= right[part, None] * left


def take_rows(matrix: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return a copy of some rows."""
    return matrix[rows]


def put(
    matrix: np.ndarray,
    rows: slice,
    columns: slice,
    part: np.ndarray,
    *,
    add: bool = False,
) -> None:
    """Assign a part of a matrix, or add to it."""
    if add:
        matrix[rows, columns] += part
    else:
        matrix[rows, columns] = part


def zeros(like: np.ndarray, n_rows: int, n_columns: int) -> np.ndarray:
    """Return a matrix of zeros with the type and precision of another."""
    return np.zeros((n_rows, n_columns), like.dtype, order="F")


def add_diagonal(matrix: np.ndarray, values: np.ndarray | float) -> None:
    """Add to the diagonal in place."""
    index = np.arange(len(matrix))
    matrix[index, index] += values


def add_at(
    matrix: np.ndarray, rows: np.ndarray, columns: np.ndarray, values: np.ndarray
) -> None:
    """Add to single entries, each of which occurs once, in place."""
    matrix[rows, columns] += values


def diagonal(matrix: np.ndarray) -> np.ndarray:
    """Return the diagonal."""
    return np.diagonal(matrix)


def scale(matrix: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
    """Replace a matrix by ``diag(left) · matrix · diag(right)``, in place."""
    matrix *= left.astype(matrix.dtype, copy=False)[:, None]
    matrix *= right.astype(matrix.dtype, copy=False)


def shifted(matrix: np.ndarray, constant: float) -> np.ndarray:
    """Return a copy with a constant added to every entry."""
    return matrix + constant


def transposed(matrix: np.ndarray) -> np.ndarray:
    """Return the transposed matrix, without a copy."""
    return matrix.T


def copied(matrix: np.ndarray) -> np.ndarray:
    """Return a copy that may be changed in place, Fortran-ordered."""
    return matrix.copy(order="F")


def in_precision(matrix: np.ndarray, divisor: float, dtype: type) -> np.ndarray:
    """Return ``matrix / divisor`` in this precision; the matrix itself if equal."""
    if matrix.dtype == dtype and divisor == 1.0:
        return matrix
    return np.divide(matrix, divisor, dtype=dtype, casting="same_kind")


def factor_precisions(matrix: np.ndarray) -> tuple[type, ...]:
    """Return the precisions in which to factorize parts of a matrix, in order.

    Single precision is faster, double precision is for cases where that fails.
    """
    return np.float32, np.float64
