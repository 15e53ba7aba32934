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


def with_middle_bias(
    rows: DaskRows, layout: Layout, found: BlockSolution
) -> BlockSolution:
    """Return the solution with the first bias in the middle of its optimal interval."""
    largest = float(rows.states.largest(_largest_multiplier))
    scales, products = zip(*rows.states.gather(_strict, largest), strict=True)
    if determined(np.max(scales, axis=0), np.sum(products, axis=0)):
        return found
    bias_rows = rows.states.map(_bias_rows, found.weights)
    size = np.asarray(bias_rows.largest(_size))

    def pieces(center: np.ndarray, reach: np.ndarray) -> list[Piece]:
        return bias_rows.gather(_piece, center, reach)

    biases = middle_of(found.biases, size, pieces)
    if biases is None:
        return found
    middle = certified(rows, layout, layout.joined(found.weights, biases))
    middle = replace(middle, n_iter=found.n_iter, converged=found.converged)
    least = max(found.duality_gap, FLAT * abs(found.primal_value))
    return middle if middle.duality_gap <= 2 * least else found


def _largest_multiplier(state: State) -> float:
    rows = state[0]
    return np.abs(rows.multipliers() + rows.problem.offset).max(initial=0.0)


def _strict(state: State, largest: float) -> tuple[np.ndarray, np.ndarray]:
    return strict_products(state[0].problem, state[0].multipliers(), largest)


def _bias_rows(state: State, weights: list[np.ndarray]) -> BiasRows:
    problem = state[0].problem
    values: list[Any] = [
        problem.spaces[k].matrix @ own for k, own in enumerate(weights)
    ]
    return BiasRows.of(problem, problem.margins(values), DEFAULT.bias_kinds)


def _size(rows: BiasRows) -> np.ndarray:
    return rows.size


def _piece(rows: BiasRows, center: np.ndarray, reach: np.ndarray) -> Piece:
    return rows.piece(center, reach)
