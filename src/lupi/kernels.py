"""Kernels: parameters with numeric values, Gram matrices, and a cache of these."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from numbers import Integral
from typing import Annotated, Any, Literal

import joblib
import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils._param_validation import validate_params
from sklearn.utils.extmath import row_norms

from lupi._parameters import NotNegative, Number, constraints_of
from lupi._stored import stored

__all__ = [
    "KERNELS",
    "Kernel",
    "gram_cache",
    "nearest_positive_semidefinite",
    "settle_kernel",
]

# Relative rounding error of a sum of squares, with a margin.
ROUNDING = 64 * np.finfo(float).eps
# Number of rows of a Gram matrix that are computed together.
ROWS_AT_ONCE = 128
KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")
# Types of parameters. Some kernels are between rows that are not in one matrix.
ComputedKernel = Literal["linear", "poly", "rbf", "sigmoid"] | Callable
AnyKernel = Literal["linear", "poly", "rbf", "sigmoid", "precomputed"] | Callable
Gamma = Literal["scale", "auto"] | NotNegative
Degree = Annotated[int, Number(Integral, 0, None, "left")]


@stored
@dataclass(frozen=True)
class Kernel:
    """A kernel with numeric values of all parameters.

    Attributes
    ----------
    name : str or callable
        One of `KERNELS`, or a function of two matrices of rows.
    gamma, degree, coef0 : float
        As in scikit-learn's `SVC`, with a number for ``gamma``.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.kernels import Kernel
    >>> rows = np.array([[0.0], [1.0]])
    >>> Kernel("poly", gamma=1.0, degree=2, coef0=1.0).gram(rows)
    array([[1., 1.],
           [1., 4.]])
    """

    name: str | Callable[[Any, Any], np.ndarray]
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0

    @property
    def is_positive(self) -> bool:
        """Whether every Gram matrix is known to be positive semi-definite."""
        return self.name in ("linear", "rbf") or (
            self.name == "poly" and self.coef0 >= 0 and self.gamma >= 0
        )

    def between(self, rows: Any, others: Any) -> np.ndarray:
        """Return the kernel values of all pairs of rows.

        Parameters
        ----------
        rows, others : array or sparse matrix
            Rows with the same number of columns.

        Returns
        -------
        ndarray of shape (n_rows, n_others)
            The values.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            values = self._values(rows, others)
        # Minimum and maximum are NaN where any entry is.
        if values.size and not np.isfinite([values.min(), values.max()]).all():
            of = "function" if callable(self.name) else repr(self.name)
            raise ValueError(
                f"The kernel {of} gives NaN or infinity for some pairs of rows. "
                + (
                    "It must return a finite number for every pair."
                    if callable(self.name)
                    else "The values of the features are too large: scale them, for "
                    "instance with sklearn.preprocessing.StandardScaler."
                )
            )
        return values

    def _values(self, rows: Any, others: Any) -> Any:
        if callable(self.name):
            values = np.asarray(self.name(rows, others), dtype=float)
            if values.shape != (rows.shape[0], others.shape[0]):
                raise ValueError(
                    f"The kernel function returned an array of shape {values.shape} "
                    f"for {rows.shape[0]} and {others.shape[0]} rows; expected one "
                    "value for each pair."
                )
            return values
        given = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        return pairwise_kernels(rows, others, self.name, filter_params=True, **given)

    def gram(self, rows: Any) -> np.ndarray:
        """Return the symmetric matrix of kernel values between all rows.

        Parameters
        ----------
        rows : array or sparse matrix
            The rows.

        Returns
        -------
        ndarray of shape (n_rows, n_rows)
            Inside `gram_cache`, a copy of the cached matrix.
        """
        cache = _current.get()
        return self._symmetric(rows) if cache is None else cache.get(self, rows)

    def _symmetric(self, rows: Any) -> np.ndarray:
        """Compute a Gram matrix; that of the RBF kernel by its lower triangle."""
        dense = isinstance(rows, np.ndarray) and rows.dtype == np.float64
        if self.name == "rbf" and dense:
            with np.errstate(over="ignore"):
                squares = self.gamma * row_norms(rows, squared=True)
            if np.isfinite(squares).all():
                return _rbf_gram(rows, self.gamma, squares)
        return np.ascontiguousarray(self.between(rows, rows))


def _rbf_gram(rows: np.ndarray, gamma: float, squares: np.ndarray) -> np.ndarray:
    """Return ``exp(−γ‖x_i − x_j‖²)`` for all pairs; `squares` are ``γ‖x_i‖²``."""
    n = len(rows)
    gram, doubled = np.empty((n, n)), 2.0 * gamma * rows
    for start in range(0, n, ROWS_AT_ONCE):  # parts stay in the cache
        stop = min(start + ROWS_AT_ONCE, n)
        part = gram[start:stop, :stop]
        np.matmul(doubled[start:stop], rows[:stop].T, out=part)
        part -= squares[start:stop, None]
        part -= squares[:stop]
        np.minimum(part, 0.0, out=part)
        np.exp(part, out=part)
        gram[:start, start:stop] = part[:, :start].T
        corner = np.tril(part[:, start:], -1)
        gram[start:stop, start:stop] = corner + corner.T
    np.fill_diagonal(gram, 1.0)
    return gram


@validate_params(
    {
        "kernel": constraints_of(AnyKernel),
        "gamma": constraints_of(Gamma),
        "degree": constraints_of(Degree),
        "coef0": constraints_of(float),
    },
    prefer_skip_nested_validation=True,
)
def settle_kernel(
    kernel: str | Callable,
    gamma: float | str,
    degree: int,
    coef0: float,
    rows: Any,
    weight: np.ndarray,
    *,
    prefix: str = "",
) -> Kernel:
    """Raise ValueError for invalid kernel parameters, and compute ``gamma``.

    ``"scale"`` is 1/(n_features · variance) with the weighted variance of all entries,
    or 1 if they are constant; ``"auto"`` is 1/n_features.

    Parameters
    ----------
    kernel : str or callable
        One of `KERNELS`, or a function of two matrices of rows.
    gamma : float or {"scale", "auto"}
        Coefficient of the kernel.
    degree : int
        Degree of the polynomial kernel.
    coef0 : float
        Constant of the polynomial and sigmoid kernels.
    rows : array or sparse matrix of shape (n_rows, n_features)
        Rows whose variance is used by ``"scale"``.
    weight : ndarray of shape (n_rows,)
        Weights of the rows.
    prefix : str, default=""
        Prefix of the parameter names in messages.

    Returns
    -------
    Kernel
        The kernel with numeric values.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.kernels import settle_kernel
    >>> X = np.array([[0.0], [2.0]])
    >>> settle_kernel("rbf", "scale", 3, 0.0, X, np.ones(2)).gamma
    1.0
    """
    if gamma == "scale":
        gamma = _scale_gamma(rows, weight, prefix)
    elif gamma == "auto":
        gamma = 1 / rows.shape[1]
    return Kernel(kernel, float(gamma), int(degree), float(coef0))


def _scale_gamma(rows: Any, weight: np.ndarray, prefix: str) -> float:
    share = weight / weight.sum() / rows.shape[1]

    def mean(entries: Any) -> float:
        """Return the weighted mean of all entries."""
        return float(share @ np.asarray(entries.sum(axis=1)).ravel())

    with np.errstate(over="ignore", invalid="ignore"):
        if sp.issparse(rows):
            squares = mean(rows.multiply(rows))
            variance = squares - mean(rows) ** 2
        else:
            squares, variance = mean(rows**2), mean((rows - mean(rows)) ** 2)
    if not np.isfinite(variance):
        raise ValueError(
            f"{prefix}gamma='scale' divides by the variance of the features, which is "
            "too large for a number here. Scale the features, for instance with "
            "sklearn.preprocessing.StandardScaler."
        )
    return 1.0 / (rows.shape[1] * variance) if varies(variance, squares) else 1.0


def varies(variance: float, mean_square: float) -> bool:
    """Return whether a variance exceeds the rounding error of the mean square."""
    return bool(variance > ROUNDING * mean_square)


def nearest_positive_semidefinite(
    gram: np.ndarray,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the nearest positive semi-definite matrix and the projection onto it.

    The learning problem is convex only if the Gram matrix is positive semi-definite,
    which a sigmoid kernel does not guarantee. K = UΛUᵀ is replaced by K₊ = UΛ₊Uᵀ = K·P,
    where P projects on the eigenvectors with positive eigenvalues. A function with the
    coefficients v in K₊ has the coefficients P v in K.

    Parameters
    ----------
    gram : ndarray of shape (n_rows, n_rows)
        K, symmetric.

    Returns
    -------
    nearest : ndarray of shape (n_rows, n_rows)
        K₊; K itself if it is positive semi-definite up to rounding.
    projection : ndarray of shape (n_rows, n_rows) or None
        P; None if K is unchanged.

    Warns
    -----
    UserWarning
        If K had to be changed.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.kernels import nearest_positive_semidefinite
    >>> nearest, projection = nearest_positive_semidefinite(np.eye(2))
    >>> projection is None
    True
    """
    jitter = 1e-11 * max(np.trace(gram), np.finfo(float).tiny)
    try:
        np.linalg.cholesky(gram + jitter * np.eye(len(gram)))
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(gram)
    else:
        return gram, None
    largest = max(abs(values[0]), abs(values[-1]))
    if values[0] >= -1e-10 * max(largest, np.finfo(float).tiny):
        return gram, None
    warnings.warn(
        "The kernel matrix is not positive semi-definite (its smallest eigenvalue is "
        f"{values[0]:.3g}, its largest {values[-1]:.3g}); the nearest matrix that is "
        "takes its place. Use a positive semi-definite kernel such as 'rbf' to avoid "
        "this.",
        UserWarning,
        stacklevel=3,
    )
    positive = vectors[:, values > 0]
    return (positive * values[values > 0]) @ positive.T, positive @ positive.T


# The open cache. Candidates of a search often differ in other parameters than those of
# the kernel. Rows are identified by content, since validation copies them.
_current: ContextVar[GramCache | None] = ContextVar("lupi_gram_cache", default=None)


class GramCache:
    """The most recently used Gram matrices, and counts of computed and reused ones."""

    def __init__(self, max_matrices: int) -> None:
        self.max_matrices = max_matrices
        self.computed = 0
        self.reused = 0
        self._matrices: OrderedDict[Hashable, np.ndarray] = OrderedDict()

    def get(self, kernel: Kernel, rows: Any) -> np.ndarray:
        """Return a copy of the Gram matrix of rows; compute it if it is not stored."""
        # joblib tells arrays in C and in Fortran order apart.
        dense = not sp.issparse(rows)
        key = (kernel, joblib.hash(np.ascontiguousarray(rows) if dense else rows))
        if key in self._matrices:
            self.reused += 1
            self._matrices.move_to_end(key)
        else:
            self.computed += 1
            self._matrices[key] = kernel._symmetric(rows)
            if len(self._matrices) > self.max_matrices:
                self._matrices.popitem(last=False)
        # Solvers may change it in place.
        return self._matrices[key].copy()


@contextmanager
def gram_cache(max_matrices: int = 8) -> Iterator[GramCache]:
    """Share Gram matrices between the fits in this block.

    Parameters
    ----------
    max_matrices : int, default=8
        Number of stored matrices.

    Yields
    ------
    GramCache
        With the counts ``computed`` and ``reused``.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.kernels import Kernel, gram_cache
    >>> X = np.array([[0.0], [1.0]])
    >>> with gram_cache() as cache:
    ...     first = Kernel("rbf", 1.0).gram(X)
    ...     second = Kernel("rbf", 1.0).gram(X.copy())
    >>> cache.computed, cache.reused
    (1, 1)
    """
    cache = GramCache(max_matrices)
    token = _current.set(cache)
    try:
        yield cache
    finally:
        _current.reset(token)
