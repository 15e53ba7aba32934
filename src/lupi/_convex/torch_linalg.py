"""Dense operations of the solvers on torch tensors, usually on a GPU.

Importing this module registers them. Factors are in double precision, which is as fast
as single precision on data-center GPUs. If a Gram matrix does not fit into memory, it
is given by its rows (`KernelRows`): products with it are computed in double precision,
tile by tile, and factors are in single precision, corrected by such products.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from lupi._convex.linalg import NotPositiveDefinite, register

# Sizes up to which a matrix is factorized, a triangle inverted and a product formed in
# one call.
FACTORIZED_AT_ONCE, INVERTED_AT_ONCE, SQUARED_AT_ONCE = 2**16, 2048, 4096
# Rows of a block that are taken, or solved for, in one call: the additional memory (two
# indices for every entry, or a copy) may not be available for all rows.
TAKEN_AT_ONCE = 4096
# Number of columns up to which they are solved for one by one.
FEW_COLUMNS = 3
# Bytes up to which an array is copied to the device asynchronously.
SENT_AT_ONCE = 2**20
# Number of entries of a tile.
TILE = 2**28
TYPES: dict[Any, Any] = {np.float32: torch.float32, np.float64: torch.float64}

# An alias, because torch may not be installed.
Tensor = Any


def on_device(array: Any, device: str) -> Tensor:
    """Return an array or a sparse matrix on a device, dense, in double precision."""
    dense = array if isinstance(array, np.ndarray) else array.toarray()
    return torch.as_tensor(np.ascontiguousarray(dense, dtype=float), device=device)


def _sent(array: np.ndarray, device: Any) -> Tensor:
    """Return a contiguous array on a device; small ones are copied asynchronously."""
    tensor = torch.from_numpy(array)
    if torch.device(device).type == "cuda" and array.nbytes <= SENT_AT_ONCE:
        # From page-locked memory, the copy is queued after the previous operations.
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


def _index(matrix: Tensor, rows: np.ndarray) -> Tensor:
    return _sent(np.ascontiguousarray(rows, dtype=np.int64), matrix.device)


def _columns(matrix: Tensor, vector: np.ndarray) -> Tensor:
    """Return a vector or columns as a matrix on the device of another matrix."""
    array = np.ascontiguousarray(vector, dtype=float)
    out = _sent(array, matrix.device).to(matrix.dtype)
    return out[:, None] if array.ndim == 1 else out


def _back(columns: Tensor, vector: np.ndarray) -> np.ndarray:
    """Return a result as a NumPy array of the shape of the given vector."""
    out = columns.double().cpu().numpy()
    return out[:, 0] if vector.ndim == 1 else out


# --------------------------------------------------------------- factors
def cholesky(matrix: Tensor) -> Tensor:
    n = len(matrix)
    if n <= FACTORIZED_AT_ONCE:
        factor, info = torch.linalg.cholesky_ex(matrix)
        if int(info) != 0:
            raise NotPositiveDefinite(f"pivot {int(info)} of {n} is not positive")
        return factor
    # By halves and in place, because a second matrix may not fit into memory.
    half = n // 2
    first, last = matrix[:half, :half], matrix[half:, half:]
    corner = matrix[half:, :half]
    first.copy_(cholesky(first))
    for start in range(0, len(corner), TAKEN_AT_ONCE):
        part = corner[start : start + TAKEN_AT_ONCE]
        part.copy_(torch.linalg.solve_triangular(first, part.mT, upper=False).mT)
    matrix[:half, half:] = 0.0
    _add_gram(last, corner.mT, -1.0)
    last.copy_(cholesky(last))
    return matrix


def cholesky_solve(factor: Tensor, right: np.ndarray) -> np.ndarray:
    half = _solved_columns(factor, _columns(factor, right))
    return _back(_solved_columns(factor, half, transposed=True), right)


def inverse_from_cholesky(factor: Tensor, *, keep: bool = True) -> Tensor:
    inverse = factor.clone() if keep else factor
    _invert(inverse)
    _square(inverse)
    return inverse


def _invert(lower: Tensor) -> None:
    """Replace L by ``L⁻¹``, by halves."""
    n = len(lower)
    if n <= INVERTED_AT_ONCE:
        unit = torch.eye(n, dtype=lower.dtype, device=lower.device)
        lower.copy_(torch.linalg.solve_triangular(lower, unit, upper=False))
        return
    half = n // 2
    first, corner, last = lower[:half, :half], lower[half:, :half], lower[half:, half:]
    _invert(first)
    _invert(last)
    corner.copy_(-(last @ (corner @ first)))


def _square(lower: Tensor) -> None:
    """Replace L by the lower triangle of ``LᵀL``, by halves."""
    n = len(lower)
    if n <= INVERTED_AT_ONCE:
        lower.tril_()
        lower.copy_(lower.mT @ lower)
        return
    half = n // 2
    first, corner, last = lower[:half, :half], lower[half:, :half], lower[half:, half:]
    _square(first)
    _add_gram(first, corner, 1.0)
    corner.copy_(torch.tril(last).mT @ corner)
    _square(last)


def triangular_solve(
    factor: Tensor, right: Tensor, *, transposed: bool = False
) -> Tensor:
    matrix = factor.mT if transposed else factor
    return torch.linalg.solve_triangular(matrix, right, upper=transposed)


def triangular_solve_vectors(
    factor: Tensor, right: np.ndarray, *, transposed: bool = False
) -> np.ndarray:
    right_hand_side = _columns(factor, right)
    return _back(_solved_columns(factor, right_hand_side, transposed=transposed), right)


def _solved_columns(
    factor: Tensor, right: Tensor, *, transposed: bool = False
) -> Tensor:
    """Solve for columns; few are solved one by one, which is faster."""
    few = right.shape[1] <= FEW_COLUMNS
    parts = right.split(1, dim=1) if few else [right]
    solved = [triangular_solve(factor, part, transposed=transposed) for part in parts]
    return torch.cat(solved, dim=1)


# -------------------------------------------------------------- products
def product(matrix: Tensor, vector: np.ndarray) -> np.ndarray:
    return _back(matrix @ _columns(matrix, vector), vector)


symmetric_product = product


def transposed_product(matrix: Tensor, vector: np.ndarray) -> np.ndarray:
    return _back(matrix.mT @ _columns(matrix, vector), vector)


def subtract_gram(matrix: Tensor, columns: Tensor) -> Tensor:
    _add_gram(matrix, columns, -1.0)
    return matrix


def _add_gram(matrix: Tensor, columns: Tensor, sign: float) -> None:
    """Add ``± columnsᵀ columns`` to the lower triangle, block by block."""
    for start in range(0, len(matrix), SQUARED_AT_ONCE):
        part = slice(start, start + SQUARED_AT_ONCE)
        matrix[start:, part].addmm_(columns[:, start:].mT, columns[:, part], alpha=sign)


def subtract_outer(matrix: Tensor, left: np.ndarray, right: np.ndarray) -> None:
    both = _columns(matrix, np.column_stack([left, right]))
    matrix.addmm_(both, both.flip(1).mT, alpha=-1.0)


# ---------------------------------------------------------------- blocks
def block(matrix: Tensor, rows: np.ndarray, columns: np.ndarray) -> Tensor:
    rows, columns = _index(matrix, rows)[:, None], _index(matrix, columns)
    out = matrix.new_empty(len(rows), len(columns))
    for start in range(0, len(rows), TAKEN_AT_ONCE):
        part = slice(start, start + TAKEN_AT_ONCE)
        out[part] = matrix[rows[part], columns]
    return out


def scaled_block(
    matrix: Tensor,
    rows: np.ndarray | slice,
    columns: np.ndarray | slice,
    left: np.ndarray,
    right: np.ndarray,
) -> Tensor:
    out = matrix
    if not isinstance(rows, slice):
        out = out.index_select(0, _index(matrix, rows))
    if not isinstance(columns, slice):
        out = out.index_select(1, _index(matrix, columns))
    out = out * _columns(matrix, right).mT
    return out.mul_(_columns(matrix, left))


def take_rows(matrix: Tensor, rows: np.ndarray) -> Tensor:
    return matrix.index_select(0, _index(matrix, rows))


def put(
    matrix: Tensor, rows: slice, columns: slice, part: Tensor, *, add: bool = False
) -> None:
    if add:
        matrix[rows, columns] += part
    else:
        matrix[rows, columns] = part


def zeros(like: Tensor, n_rows: int, n_columns: int) -> Tensor:
    return torch.zeros(n_rows, n_columns, dtype=like.dtype, device=like.device)


# ----------------------------------------------------- the whole of a matrix
def add_diagonal(matrix: Tensor, values: np.ndarray | float) -> None:
    if np.ndim(values) == 0:
        matrix.diagonal().add_(float(values))
    else:
        matrix.diagonal().add_(_columns(matrix, np.asarray(values))[:, 0])


def add_at(
    matrix: Tensor, rows: np.ndarray, columns: np.ndarray, values: np.ndarray
) -> None:
    at = _index(matrix, rows), _index(matrix, columns)
    matrix[at] += _columns(matrix, values)[:, 0]


def diagonal(matrix: Tensor) -> np.ndarray:
    return matrix.diagonal().double().cpu().numpy()


def scale(matrix: Tensor, left: np.ndarray, right: np.ndarray) -> None:
    matrix.mul_(_columns(matrix, left)).mul_(_columns(matrix, right).mT)


def symmetrized(matrix: Tensor) -> Tensor:
    for start in range(0, len(matrix), SQUARED_AT_ONCE):
        stop = start + SQUARED_AT_ONCE
        corner = torch.tril(matrix[start:stop, start:stop])
        matrix[start:stop, start:stop] = corner + torch.tril(corner, -1).mT
        matrix[start:stop, stop:] = matrix[stop:, start:stop].mT
    return matrix


def transposed(matrix: Tensor) -> Tensor:
    return matrix.mT


def copied(matrix: Tensor) -> Tensor:
    return matrix.clone(memory_format=torch.contiguous_format)


def in_precision(matrix: Tensor, divisor: float, dtype: type) -> Tensor:
    if matrix.dtype == TYPES[dtype] and divisor == 1.0:
        return matrix
    return (matrix / divisor).to(TYPES[dtype])


def factor_precisions(matrix: Tensor) -> tuple[type, ...]:
    return (np.float64,)


# -------------------------------------------------------------- rows of blocks
def to_host(values: Tensor) -> np.ndarray:
    return values.cpu().numpy()


def _numbers(like: Tensor, values: list) -> np.ndarray:
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    moved = iter(torch.stack(tensors).cpu().tolist())
    return np.array(
        [next(moved) if isinstance(v, torch.Tensor) else float(v) for v in values],
        dtype=float,
    )


def maximum(first: Tensor, second: Tensor) -> Tensor:
    return torch.maximum(first, second)


def feature_values(features: Tensor, weights: np.ndarray) -> Tensor:
    return features @ on_device(weights, features.device)


def projection(features: Tensor, values: Tensor) -> np.ndarray:
    return to_host(values @ features)


def weighted_gram(first: Tensor, weight: Tensor, second: Tensor) -> np.ndarray:
    return to_host(first.mT @ (second * weight[:, None]))


def free_bytes(matrix: Tensor) -> float:
    device = matrix.device
    if device.type == "cpu":
        return np.inf
    held = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return torch.cuda.mem_get_info(device)[0] + held


# ------------------------------------------------------- too large to be stored
class KernelRows:
    """A Gram matrix given by its rows, for sizes at which it cannot be stored.

    ``kernel.between(rows, others)`` returns the kernel values of rows with others,
    ``kernel.diagonal(rows)`` those of rows with themselves; ``constant`` is added.
    """

    def __init__(self, rows: Tensor, kernel: Any, constant: float = 0.0):
        self.rows, self.kernel, self.constant = rows, kernel, constant
        self.shape = len(rows), len(rows)

    def __add__(self, constant: float) -> KernelRows:
        return KernelRows(self.rows, self.kernel, self.constant + constant)

    def tiles(self) -> Iterator[tuple[slice, Tensor]]:
        """Yield the matrix in blocks of rows, with their positions."""
        n = len(self.rows)
        step = max(TILE // n, 1)
        for start in range(0, n, step):
            part = slice(start, min(start + step, n))
            yield part, self.kernel.between(self.rows[part], self.rows) + self.constant


class _KernelRowsOperations:
    """The operations of the proximal method on a matrix that is not stored."""

    @staticmethod
    def symmetric_product(matrix: KernelRows, vector: np.ndarray) -> np.ndarray:
        right = _columns(matrix.rows, vector)
        out = torch.empty_like(right)
        for part, tile in matrix.tiles():
            out[part] = tile @ right
        return _back(out, vector)

    @staticmethod
    def diagonal(matrix: KernelRows) -> np.ndarray:
        values = matrix.kernel.diagonal(matrix.rows) + matrix.constant
        return values.cpu().numpy()

    @staticmethod
    def take_rows(matrix: KernelRows, rows: np.ndarray) -> Tensor:
        chosen = take_rows(matrix.rows, rows)
        return matrix.kernel.between(chosen, matrix.rows) + matrix.constant

    @staticmethod
    def in_precision(matrix: KernelRows, divisor: float, dtype: type) -> Tensor:
        n, device = len(matrix.rows), matrix.rows.device
        out = torch.empty(n, n, dtype=TYPES[dtype], device=device)
        for part, tile in matrix.tiles():
            out[part] = tile / divisor
        return out

    @staticmethod
    def factor_precisions(matrix: KernelRows) -> tuple[type, ...]:
        return (np.float32,)

    @staticmethod
    def free_bytes(matrix: KernelRows) -> float:
        return 0.0


register(torch.Tensor, sys.modules[__name__])
register(KernelRows, _KernelRowsOperations)
