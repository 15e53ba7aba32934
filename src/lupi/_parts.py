"""Rows in parts: map and reduce, and hashes that do not depend on the parts.

An algorithm that reads its rows through `Parts` runs on one machine, with one part, and
on a cluster (:mod:`lupi.dask`), with the partitions on the workers. Only arguments and
sums are transferred; their sizes do not depend on the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any, Protocol, Self

import numpy as np


class Parts(Protocol):
    """A sequence of parts, each with the data of some rows.

    Functions are called with a part and with the further arguments; of an argument that
    is `Parts`, with the corresponding part.
    """

    def map(self, function: Callable, *given: Any) -> Self:
        """Return the results of a function as parts, in the same places."""

    def gather(self, function: Callable, *given: Any) -> list[Any]:
        """Return the results of a function, which should be small, as a list."""

    def sum(self, function: Callable, *given: Any) -> Any:
        """Return the sum of the results: numbers, arrays, or tuples of these."""


class LocalParts:
    """Parts in the memory of this process.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi._parts import LocalParts
    >>> rows = LocalParts([np.eye(2), np.ones((3, 2))])
    >>> rows.sum(lambda part: (len(part), part.sum(axis=0)))
    (5, array([4., 4.]))
    >>> rows.map(len).parts
    [2, 3]
    """

    def __init__(self, parts: Iterable[Any]) -> None:
        self.parts = list(parts)

    def gather(self, function: Callable, *given: Any) -> list[Any]:
        """Return the results of a function."""
        beside = (
            one.parts if isinstance(one, LocalParts) else [one] * len(self.parts)
            for one in given
        )
        calls = zip(self.parts, *beside, strict=True)
        return [function(*arguments) for arguments in calls]

    def map(self, function: Callable, *given: Any) -> LocalParts:
        """Return the results of a function as parts."""
        return LocalParts(self.gather(function, *given))

    def sum(self, function: Callable, *given: Any) -> Any:
        """Return the sum of the results."""
        return reduce(add, self.gather(function, *given))


def add(one: Any, other: Any) -> Any:
    """Return the sum of two numbers or arrays, or of tuples of these."""
    if isinstance(one, tuple):
        return tuple(map(add, one, other))
    return one + other


# The multiples of it are spread over all 64-bit integers.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mixed_bits(bits: np.ndarray) -> np.ndarray:
    """Return the finalizer of splitmix64: every bit depends on all bits."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return bits ^ (bits >> np.uint64(31))
