"""Gram matrices shared by candidates that differ in everything but the kernel.

A search fits many models on the same rows, and most of its candidates differ in C or
in the weight of X*, not in the kernel. Inside ``with gram_cache():`` a Gram matrix is
computed once per kernel and set of rows. Rows are told apart by content, so that
copies made by validation are recognized and different rows never mixed up.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
import scipy.sparse as sp

_current: ContextVar[GramCache | None] = ContextVar("lupi_gram_cache", default=None)


class GramCache:
    """The most recently used Gram matrices.

    Attributes
    ----------
    computed, reused : int
        How often a matrix had to be computed, and how often it was there already.
    """

    def __init__(self, max_matrices: int) -> None:
        self.max_matrices = max_matrices
        self.computed = 0
        self.reused = 0
        self._matrices: OrderedDict[Hashable, np.ndarray] = OrderedDict()

    def get(self, key: Hashable, compute: Callable[[], np.ndarray]) -> np.ndarray:
        """Return a copy of the matrix under the key, computing it if need be."""
        if key in self._matrices:
            self.reused += 1
            self._matrices.move_to_end(key)
        else:
            self.computed += 1
            self._matrices[key] = compute()
            if len(self._matrices) > self.max_matrices:
                self._matrices.popitem(last=False)
        # A copy, because solvers may work in place.
        return self._matrices[key].copy()


@contextmanager
def gram_cache(max_matrices: int = 8) -> Iterator[GramCache]:
    """Share Gram matrices between the fits in this block.

    Parameters
    ----------
    max_matrices : int, default=8
        How many matrices are kept.

    Yields
    ------
    GramCache
        Counts how many matrices were ``computed`` and how many ``reused``.

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


def shared_gram(
    kernel: Hashable, rows: Any, compute: Callable[[], np.ndarray]
) -> np.ndarray:
    """Return the Gram matrix of the rows, from the cache when one is open."""
    cache = _current.get()
    if cache is None:
        return compute()
    return cache.get((kernel, _content(rows)), compute)


def _content(rows: Any) -> bytes:
    digest = hashlib.blake2b(repr((rows.shape, rows.dtype)).encode(), digest_size=16)
    parts = (rows.data, rows.indices, rows.indptr) if sp.issparse(rows) else (rows,)
    for part in parts:
        digest.update(np.ascontiguousarray(part).data)
    return digest.digest()
