"""`Totals`: the result of a pass over rows, sums and peaks that merge over blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Protocol

import numpy as np

from lupi._convex.problem import Problem

__all__ = ["RowBlocks", "Totals", "merged"]


@dataclass(eq=False)
class Totals:
    """Named sums and named peaks of some rows; ``+`` merges those of others.

    ``sums`` are scalars, vectors or matrices in the space of the weights; ``peaks`` are
    scalars, or one per function, of which the maximum is taken.
    """

    sums: dict[str, Any] = field(default_factory=dict)
    peaks: dict[str, Any] = field(default_factory=dict)

    def __add__(self, other: Totals) -> Totals:
        sums = dict(self.sums)
        for name, value in other.sums.items():
            sums[name] = sums[name] + value if name in sums else value
        peaks = dict(self.peaks)
        for name, value in other.peaks.items():
            peaks[name] = np.maximum(peaks[name], value) if name in peaks else value
        return Totals(sums, peaks)


def merged(totals: Iterable[Totals]) -> Totals:
    """Merge several totals, in their order."""
    return reduce(Totals.__add__, totals, Totals())


class RowBlocks(Protocol):
    """Rows in blocks, on one or several machines, with their part of the iterate.

    The passes are methods of :class:`.smoothed.RowState`. A pass changes the state of
    the rows and returns totals; arguments and totals are small.
    """

    def describe(self) -> Totals:
        """Return the totals of the rows for the start and the certificate."""

    def begin(self, typical: float, centered: bool) -> Totals:
        """Set multipliers inside their bounds; return their functions."""

    def total(self, one_pass: Callable[..., Totals], *arguments: Any) -> Totals:
        """Run a pass, a method of `RowState`, on every block; return the totals."""

    def sample(self, n_rows: int) -> Problem:
        """Return the problem of about this many rows, with costs scaled up."""
