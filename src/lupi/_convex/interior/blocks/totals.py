"""What a pass over rows returns: sums and peaks, which add up over blocks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Protocol

import numpy as np

from lupi._convex.problem import Problem

__all__ = ["RowBlocks", "Totals", "merged"]


@dataclass(eq=False)
class Totals:
    """Named sums and named peaks of some rows; ``+`` merges those of others.

    ``sums`` are scalars, vectors in the space of the weights or matrices there;
    ``peaks`` are scalars, or one per function, of which the largest counts.
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
    """Return what several totals come to, in their order."""
    return reduce(Totals.__add__, totals, Totals())


class RowBlocks(Protocol):
    """Rows in blocks, wherever they are, with the part of the iterate that is theirs.

    The passes are the methods of :class:`.passes.Passes`. A pass changes the state of
    the rows and returns totals; arguments and totals are small.
    """

    def total(self, name: str, *arguments: Any) -> Totals:
        """Run a pass on every block and return what they come to."""

    def sample(self, n_rows: int) -> Problem:
        """Return the problem of about so many rows, each counting for several."""
