"""Rows in parts: what an algorithm does with them, wherever they are.

An algorithm that reads its rows through `Parts` alone runs on one machine, where there
is one part, and on a cluster (:mod:`lupi.dask`), where the parts are partitions that
stay on their workers. What travels are the arguments and the sums, neither of which
grows with the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any, Protocol, Self

import numpy as np


class Parts(Protocol):
    """A sequence of parts, each a piece of data about some rows.

    Functions are called with a part and with what else is given: the same value for
    all parts, or the corresponding parts of other `Parts`.
    """

    def map(self, function: Callable, *given: Any) -> Self:
        """Return the results of a function, which stay where the parts are."""

    def gather(self, function: Callable, *given: Any) -> list[Any]:
        """Return the results of a function, which are small, here."""

    def sum(self, function: Callable, *given: Any) -> Any:
        """Return the sum of the results: numbers, arrays, or tuples of these."""

    def largest(self, function: Callable, *given: Any) -> Any:
        """Return the elementwise maximum of the results."""


class LocalParts:
    """Parts in the memory of this process.

    Parameters
    ----------
    parts : iterable
        One entry per part.

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

    def largest(self, function: Callable, *given: Any) -> Any:
        """Return the elementwise maximum of the results."""
        return reduce(maximum, self.gather(function, *given))


def add(one: Any, other: Any) -> Any:
    """Return the sum of two numbers or arrays, or of tuples of these."""
    if isinstance(one, tuple):
        return tuple(map(add, one, other))
    return one + other


def maximum(one: Any, other: Any) -> Any:
    """Return the larger of two numbers, elementwise for arrays and tuples."""
    if isinstance(one, tuple):
        return tuple(map(maximum, one, other))
    return np.maximum(one, other)
