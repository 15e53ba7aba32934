"""Where the optimal bias of a linear model is an interval, its midpoint.

As :mod:`lupi._convex.biases` finds it, of which this gathers what the partitions say:
whether their constraints determine the biases and, if not, the few constraints that
turn within reach of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lupi._convex.biases import (
    FLAT,
    BiasRows,
    Piece,
    determined,
    middle_of,
    strict_products,
)
from lupi._convex.interior.blocks.layout import Layout
from lupi._convex.interior.blocks.outer import BlockSolution, certified
from lupi._convex.tuning import DEFAULT
from lupi.dask._rows import DaskRows, State

# The rows whose constraints are looked at at a time: what that takes is as large as
# the rows.
_CHUNK = 1 << 13


def with_middle_bias(
    rows: DaskRows, layout: Layout, found: BlockSolution
) -> BlockSolution:
    """Return the solution with the first bias in the middle of its optimal interval."""
    largest = float(rows.states.largest(_largest_multiplier))
    scales, products = zip(*rows.states.gather(_strict, largest), strict=True)
    if determined(np.max(scales, axis=0), np.sum(products, axis=0)):
        return found
    size = np.asarray(rows.states.largest(_size))

    def pieces(center: np.ndarray, reach: np.ndarray) -> list[Piece]:
        found_in_parts = rows.states.gather(_pieces, found.weights, center, reach)
        return [piece for part in found_in_parts for piece in part]

    biases = middle_of(found.biases, size, pieces)
    if biases is None:
        return found
    middle = certified(rows, layout, layout.joined(found.weights, biases))
    middle = replace(middle, n_iter=found.n_iter, converged=found.converged)
    least = max(found.duality_gap, FLAT * abs(found.primal_value))
    return middle if middle.duality_gap <= 2 * least else found


def _largest_multiplier(state: State) -> float:
    return max(np.abs(own).max() for block in state[0].blocks for own in block.distance)


def _strict(state: State, largest: float) -> tuple[np.ndarray, np.ndarray]:
    scales, products = zip(
        *(
            strict_products(problem, multipliers, largest)
            for problem, multipliers in state[0].in_chunks(_CHUNK)
        ),
        strict=True,
    )
    return np.max(scales, axis=0), np.sum(products, axis=0)


def _size(state: State) -> np.ndarray:
    columns = (problem.balance_columns() for problem, _ in state[0].in_chunks(_CHUNK))
    return np.max([np.abs(c).max(axis=1, initial=0.0) for c in columns], axis=0)


def _pieces(
    state: State, weights: list[np.ndarray], center: np.ndarray, reach: np.ndarray
) -> list[Piece]:
    out = []
    for problem, _ in state[0].in_chunks(_CHUNK):
        values: list[Any] = [
            problem.spaces[k].matrix @ own for k, own in enumerate(weights)
        ]
        rows = BiasRows.of(problem, problem.margins(values), DEFAULT.bias_kinds)
        out.append(rows.piece(center, reach))
    return out
