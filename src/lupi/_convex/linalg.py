"""Dense operations on arrays of any device, searches, and threads of BLAS.

The solvers access Gram matrices, and the rows of blocks, by these operations only, so
that the same method runs on NumPy arrays, by BLAS and LAPACK, and on torch tensors on a
GPU (:mod:`.torch_linalg`). The type of the first argument decides which function is
called; `register` adds a type. Vectors with one entry per row of a Gram matrix, and
matrices of a few such columns, are NumPy arrays on all devices; an operation moves them
to the device and back, which takes little time compared with the work on a matrix.

Of a symmetric matrix only the lower triangle is used, unless stated otherwise. On the
host, symmetric matrices are Fortran-ordered.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, singledispatch
from typing import Any

import numpy as np
from scipy.linalg import blas, lapack

RANK_TOLERANCE, LARGEST_INVERSE = 1e-15, 1e10
SYMMETRISED_AT_ONCE, GATHERED_AT_ONCE, WEIGHTED_AT_ONCE = 256, 128, 2048
# Numbers of rows in the samples from which a rank is estimated.
RANK_SAMPLES = (128, 512)
# Number of columns up to which products of single vectors are faster.
FEW_COLUMNS = 4


class NotPositiveDefinite(ArithmeticError):
    """Error of a Cholesky factorization with a pivot that is not positive."""


@cache
def _routine(name: str, dtype: np.dtype):
    """Return the routine of BLAS or LAPACK for a precision."""
    library = lapack if hasattr(lapack, "d" + name) else blas
    return getattr(library, ("s" if dtype == np.float32 else "d") + name)


@singledispatch
def cholesky(matrix: np.ndarray) -> np.ndarray:
    """Return the lower Cholesky factor; it overwrites the matrix."""
    factor, info = _routine("potrf", matrix.dtype)(
        matrix, lower=1, clean=0, overwrite_a=1
    )
    if info != 0:
        raise NotPositiveDefinite(f"pivot {info} of {len(matrix)} is not positive")
    return factor


@singledispatch
def cholesky_solve(factor: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return ``(LLᵀ)⁻¹ right`` for a vector or a matrix of columns."""
    if right.ndim == 1:
        half = _routine("trsv", factor.dtype)(factor, right, lower=1)
        return _routine("trsv", factor.dtype)(
            factor, half, lower=1, trans=1, overwrite_x=1
        )
    if right.shape[1] <= FEW_COLUMNS:
        out = np.empty(right.shape, factor.dtype, order="F")
        for column, solved in zip(right.T, out.T, strict=True):
            solved[:] = cholesky_solve(factor, column)
        return out
    return _routine("potrs", factor.dtype)(factor, right, lower=1)[0]


@singledispatch
def inverse_from_cholesky(factor: np.ndarray, *, keep: bool = True) -> np.ndarray:
    """Return the lower triangle of ``(LLᵀ)⁻¹``; it overwrites L unless `keep`."""
    return _routine("potri", factor.dtype)(factor, lower=1, overwrite_c=int(not keep))[
        0
    ]


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
    if not np.abs(inverse).max(initial=0.0) < LARGEST_INVERSE:
        inverse = np.linalg.pinv(matrix, rcond=1e-14, hermitian=True)
    return inverse * scale[:, None] * scale


@singledispatch
def triangular_solve(
    factor: np.ndarray, right: np.ndarray, *, transposed: bool = False
) -> np.ndarray:
    """Return ``L⁻¹ right`` (or ``L⁻ᵀ right``); it overwrites the matrix right."""
    trans = int(transposed)
    if right.ndim == 1:
        solve = _routine("trsv", factor.dtype)
        return solve(factor, right, lower=1, trans=trans, overwrite_x=1)
    solve = _routine("trsm", factor.dtype)
    return solve(1.0, factor, right, lower=1, trans_a=trans, overwrite_b=1)


@singledispatch
def triangular_solve_vectors(
    factor: np.ndarray, right: np.ndarray, *, transposed: bool = False
) -> np.ndarray:
    """Return ``L⁻¹ right`` (or ``L⁻ᵀ right``) for a vector or a matrix of columns."""
    right = np.array(right, factor.dtype, order="F")
    return triangular_solve(factor, right, transposed=transposed)


@singledispatch
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


@singledispatch
def symmetrized(matrix: np.ndarray) -> np.ndarray:
    """Fill the upper triangle from the lower, in place."""
    for start in range(0, len(matrix), SYMMETRISED_AT_ONCE):
        stop = start + SYMMETRISED_AT_ONCE
        corner = np.tril(matrix[start:stop, start:stop])
        corner += np.tril(corner, -1).T
        matrix[start:stop, start:stop] = corner
        matrix[start:stop, stop:] = matrix[stop:, start:stop].T
    return matrix


@singledispatch
def subtract_gram(matrix: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return ``matrix − columnsᵀ columns`` in the lower triangle, in place."""
    return _routine("syrk", matrix.dtype)(
        -1.0, columns, beta=1.0, c=matrix, trans=1, lower=1, overwrite_c=1
    )


@singledispatch
def symmetric_product(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return the product of a matrix with both triangles and a vector or columns.

    NumPy and SciPy may each have a BLAS library, whose waiting threads occupy the
    cores: all large products use that of SciPy.
    """
    matrix = matrix if matrix.flags.f_contiguous else matrix.T  # symmetric: no copy
    if vector.ndim == 1:
        return _routine("symv", matrix.dtype)(1.0, matrix, vector, lower=1)
    if vector.shape[1] <= FEW_COLUMNS:
        out = np.empty(vector.shape, order="F")
        for column, product in zip(vector.T, out.T, strict=True):
            product[:] = _routine("symv", matrix.dtype)(1.0, matrix, column, lower=1)
        return out
    return _routine("symm", matrix.dtype)(
        1.0, matrix, np.asfortranarray(vector), lower=1
    )


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
    """Estimate the number of columns of `pivoted_factor` from samples of the rows.

    The pivots of smooth kernels decrease exponentially after the first ones; those of a
    sample are extrapolated to the size of rounding errors. A larger sample follows if
    the rank of the first seems to be low, since factors of high rank take long.
    """
    estimate = 0.0
    for size in RANK_SAMPLES:
        rows = np.linspace(0, len(matrix) - 1, min(len(matrix), size)).astype(int)
        sample = block(matrix, rows, rows)
        largest = float(np.diagonal(sample).max(initial=0.0))
        least = RANK_TOLERANCE * largest
        factor, _, rank, _ = lapack.dpstrf(sample, tol=least, lower=1)
        half, quarter = size // 2, size // 4
        if rank <= half or len(matrix) <= size:
            return rank
        first, last = 2 * np.log(np.diagonal(factor)[[quarter, half]])
        estimate = half + half / 2 * (last - np.log(least)) / max(first - last, 1e-3)
        if estimate >= len(matrix):
            break
    return estimate


@singledispatch
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
    lines = matrix if isinstance(columns, slice) else matrix[columns]
    if not isinstance(rows, slice):
        lines = np.ascontiguousarray(lines[:, rows])
    block = lines * right[:, None]
    block *= left
    return block.T


@singledispatch
def product(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return the product of a matrix and a vector or columns."""
    return matrix @ vector.astype(matrix.dtype, copy=False)


@singledispatch
def transposed_product(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return the product of a transposed matrix and a vector or columns."""
    return matrix.T @ vector.astype(matrix.dtype, copy=False)


@singledispatch
def subtract_outer(matrix: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
    """Subtract ``left rightᵀ + right leftᵀ`` in place, in both triangles."""
    left, right = left.astype(matrix.dtype), right.astype(matrix.dtype)
    for start in range(0, len(matrix), GATHERED_AT_ONCE):  # parts stay in the cache
        part = slice(start, start + GATHERED_AT_ONCE)
        lines = matrix[part]
        lines -= right[part, None] * left
        lines -= left[part, None] * right


@singledispatch
def take_rows(matrix: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return a copy of some rows."""
    return matrix[rows]


@singledispatch
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


@singledispatch
def zeros(like: np.ndarray, n_rows: int, n_columns: int) -> np.ndarray:
    """Return a matrix of zeros with the type and precision of another."""
    return np.zeros((n_rows, n_columns), like.dtype, order="F")


@singledispatch
def add_diagonal(matrix: np.ndarray, values: np.ndarray | float) -> None:
    """Add to the diagonal in place."""
    index = np.arange(len(matrix))
    matrix[index, index] += values


@singledispatch
def add_at(
    matrix: np.ndarray, rows: np.ndarray, columns: np.ndarray, values: np.ndarray
) -> None:
    """Add to single entries, each of which occurs once, in place."""
    matrix[rows, columns] += values


@singledispatch
def diagonal(matrix: np.ndarray) -> np.ndarray:
    """Return the diagonal."""
    return np.diagonal(matrix)


@singledispatch
def scale(matrix: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
    """Replace a matrix by ``diag(left) · matrix · diag(right)``, in place."""
    matrix *= left.astype(matrix.dtype, copy=False)[:, None]
    matrix *= right.astype(matrix.dtype, copy=False)


@singledispatch
def transposed(matrix: np.ndarray) -> np.ndarray:
    """Return the transposed matrix, without a copy."""
    return matrix.T


@singledispatch
def copied(matrix: np.ndarray) -> np.ndarray:
    """Return a copy that may be changed in place, Fortran-ordered."""
    return matrix.copy(order="F")


@singledispatch
def in_precision(matrix: np.ndarray, divisor: float, dtype: type) -> np.ndarray:
    """Return ``matrix / divisor`` in this precision; the matrix itself if equal."""
    if matrix.dtype == dtype and divisor == 1.0:
        return matrix
    return np.divide(matrix, divisor, dtype=dtype, casting="same_kind")


@singledispatch
def factor_precisions(matrix: np.ndarray) -> tuple[type, ...]:
    """Return the precisions in which to factorize parts of a matrix, in order.

    Single precision is faster, double precision is for cases where that fails.
    """
    return np.float32, np.float64


@singledispatch
def free_bytes(matrix: np.ndarray) -> float:
    """Return the free memory of a device; 0 if the matrix itself is not stored there.

    That of the host is checked before matrices are computed.
    """
    return np.inf


# ------------------------------------------------------------------ rows of blocks
# Functions that put an array on a device; other names are devices of torch.
DEVICES: dict[str, Callable[[Any], Any]] = {"cpu": lambda array: array}


def on_device(array: Any, device: str) -> Any:
    """Return a vector, or features, as an array of a device."""
    if device in DEVICES:
        return DEVICES[device](array)
    from lupi._convex import torch_linalg

    return torch_linalg.on_device(array, device)


@singledispatch
def to_host(values: Any) -> np.ndarray:
    """Return a vector or a small matrix as a NumPy array."""
    return values


def numbers(values: list) -> np.ndarray:
    """Return several scalars, of any device, as floats."""
    device = next((v for v in values if not isinstance(v, (float, np.generic))), 0.0)
    return _numbers(device, values)


@singledispatch
def _numbers(like: Any, values: list) -> np.ndarray:
    return np.array(values, dtype=float)


@singledispatch
def maximum(first: Any, second: Any) -> Any:
    """Return the elementwise maximum of two vectors."""
    return np.maximum(first, second)


@singledispatch
def feature_values(features: Any, weights: np.ndarray) -> Any:
    """Return ``Φ w``, on the device; the weights are on the host."""
    return features @ weights


@singledispatch
def projection(features: Any, values: Any) -> np.ndarray:
    """Return ``Φᵀ values`` on the host."""
    if isinstance(features, np.ndarray):
        return values @ features
    return np.asarray(features.T @ values).ravel()


@singledispatch
def weighted_gram(first: Any, weight: Any, second: Any) -> np.ndarray:
    """Return ``Φᵀ diag(weight) Ψ`` on the host."""
    if isinstance(second, np.ndarray):
        gram = np.zeros((first.shape[1], second.shape[1]))
        for start in range(0, len(second), WEIGHTED_AT_ONCE):
            part = slice(start, start + WEIGHTED_AT_ONCE)
            gram += first[part].T @ (second[part] * weight[part, None])
        return gram
    gram = first.T @ second.multiply(weight[:, None]).tocsr()
    return gram if isinstance(gram, np.ndarray) else gram.toarray()


# ------------------------------------------------------------------ types of arrays
OPERATIONS = [
    operation
    for operation in list(globals().values())
    if hasattr(operation, "registry")
]


def register(kind: type, operations: Any) -> None:
    """Register a module, or an object, with the operations on arrays of a type."""
    for operation in OPERATIONS:
        own = getattr(operations, operation.__name__, None)
        if own is not None and own is not operation:
            operation.register(kind, own)


def is_on_host(matrix: Any) -> bool:
    """Return whether a matrix is a NumPy array."""
    return isinstance(matrix, np.ndarray)


# ------------------------------------------------------------------ searches
# Slope at the end, as a share of the first slope, that is accepted for a full step and
# for a shorter step.
FULL_STEP_SLOPE, ZERO_SLOPE = 0.25, 0.02
MOST_SECANTS, MOST_HALVINGS, MOST_UNITS = 30, 40, 1e6


def zero_of(slope: Callable[[float], float], *, unit: float) -> float:
    """Return the zero of an increasing function; 0 if it is very far away."""
    side = -unit if slope(0.0) > 0 else unit
    near, far = 0.0, side
    while slope(far) * side < 0:
        near, far = far, 2.0 * far
        if abs(far) > MOST_UNITS * unit:
            return 0.0
    for _ in range(MOST_HALVINGS):
        middle = 0.5 * (near + far)
        if slope(middle) * side < 0:
            near = middle
        else:
            far = middle
    return 0.5 * (near + far)


def first_zero(slope: Callable[[float], float], *, steep: float = ZERO_SLOPE) -> float:
    """Return the zero of an increasing function on [0, 1]; 1 if there is none.

    1 is also returned if the slope there is a small share of the first. ``steep`` is
    the share of the first slope that counts as zero.
    """
    at_start, at_end = slope(0.0), slope(1.0)
    if at_end <= FULL_STEP_SLOPE * abs(at_start) or at_start >= 0.0:
        return 1.0
    low, high, f_low, f_high = 0.0, 1.0, at_start, at_end
    for _ in range(MOST_SECANTS):
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


# ------------------------------------------------------------------ threads of BLAS
class _Requests:
    """The requests of every thread; the last one of a thread overrides its others."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of_thread: dict[int, list[set[str]]] = {}
        self._original: dict[str, int] = {}

    @contextmanager
    def register(self, threaded: set[str]) -> Iterator[None]:
        """Allow several threads in these libraries, and one thread in all others."""
        own = threading.get_ident()
        try:  # an interrupt may come at any line
            with self._lock:
                if not self._of_thread:
                    self._original = {lib.filepath: lib.num_threads for lib in _blas()}
                self._of_thread.setdefault(own, []).append(threaded)
                self._apply()
            yield
        finally:
            with self._lock:
                requests = self._of_thread.pop(own, [])
                if requests[:-1]:
                    self._of_thread[own] = requests[:-1]
                self._apply()

    def _apply(self) -> None:
        latest = [requests[-1] for requests in self._of_thread.values()]
        for lib in _blas():
            number = self._original[lib.filepath]
            if latest:
                several = all(lib.filepath in threaded for threaded in latest)
                number = max(number // len(latest), 1) if several else 1
            if lib.num_threads != number:
                lib.set_num_threads(number)


_requests = _Requests()


@cache
def _blas() -> list[Any]:
    """Return the BLAS libraries of this process."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas").lib_controllers


def allowed_threads() -> int:
    """Return the current number of BLAS threads."""
    return max((lib.num_threads for lib in _blas()), default=1)


def one_thread():
    """Return a context in which every BLAS library uses one thread."""
    return _requests.register(set())


def limit_threads(size: int, package: str, *, threaded_size: int):
    """Return a context with the number of BLAS threads that suits a problem size.

    Problems below ``threaded_size`` use one. For larger ones only the library of the
    package that computes the large products uses several: NumPy and SciPy may each have
    their own library, and the waiting threads of one would occupy the cores.
    """
    if size < threaded_size:
        return one_thread()
    paths = {lib.filepath for lib in _blas()}
    return _requests.register({p for p in paths if f"{package}.libs" in p} or paths)
