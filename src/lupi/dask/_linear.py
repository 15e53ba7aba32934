"""Linear models on Dask collections, by the interior-point method of one machine.

:func:`~lupi._convex.interior.blocks.solve_blocks` needs only sums over rows. On
every worker a partition is a `State`: its rows with their multipliers and slacks. A
pass is one task per partition, from the state before it to the state after it with the
totals of its rows; the client gets the sum of the totals and computes the Newton step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from dask.sizeof import sizeof
from sklearn.base import is_classifier

from lupi._convex.interior.blocks import BlockSolution, certified, solve_blocks
from lupi._convex.interior.blocks.local import LocalRows, restricted, sampled
from lupi._convex.interior.blocks.rows import Totals
from lupi._convex.problem import Problem
from lupi._convex.solution import (
    NEGLIGIBLE_CHANGE,
    Tangent,
    determined,
    middle_of,
    strict_products,
)
from lupi._convex.tuning import DEFAULT
from lupi.base import Fitted, Training, binary_problems
from lupi.dask._cluster import (
    DaskParts,
    joined,
    read_classes,
    require_values,
    with_width,
)
from lupi.kernels import Kernel
from lupi.svm._machine import Certificate, Data, Expansion, Model, Ranges

# Rows per chunk when the bias is computed; temporaries have its size.
CHUNK = 1 << 13
# Vectors of the length of the multipliers that a state holds, for `sizeof`.
VECTORS_HELD = 8
N_ROWS = attrgetter("n_rows")


def fit_linear(machine: Any, read: Any) -> None:
    """Fit a linear model to Dask collections."""
    require_values(machine, "computes on the processors of the workers", device="cpu")
    training = read(_check_dense)
    if is_classifier(machine):
        factor = read_classes(machine, training)
        n_classes = len(factor)
        problems = binary_problems(np.arange(n_classes), n_classes, machine.multi_class)
        models = [
            # The rows of a binary problem are only held while it is solved.
            _solved(machine, training.map(_binary, machine, factor, number))
            for number in range(len(problems))
        ]
    else:
        models = [_solved(machine, training)]
    nothing = np.empty(0)
    no_rows: Training = Training(np.empty((0, 0)), nothing, None, nothing, np.arange(0))
    machine._keep(Fitted(no_rows, [], models))


def _check_dense(estimator: Any, training: Training) -> None:
    """Refuse sparse partitions."""
    tables = (training.X, getattr(training.privileged, "values", None))
    if any(map(sp.issparse, tables)):
        raise TypeError(
            f"lupi.dask.{type(estimator).__name__} takes dense partitions, but got "
            "sparse ones. Use map_blocks(lambda block: block.toarray())."
        )


def _binary(
    training: Training, machine: Any, factor: np.ndarray, number: int
) -> Training:
    """Return the rows of a binary problem, with labels ±1 and class weights."""
    codes = np.searchsorted(machine.classes_, training.y)
    index, sign = binary_problems(codes, len(factor), machine.multi_class)[number]
    weighted = replace(training, weight=training.weight * factor[codes])
    return replace(weighted.take(index), y=sign)


def _data(training: Training, machine: Any) -> Data:
    """Return the rows as data; X* has its width even if none of them has X*."""
    width, linear = machine.n_privileged_features_in_, Kernel("linear")
    kernels = [linear] * (1 + (len(machine._spaces) if width else 0))
    return machine._data(replace(with_width(training, width), settled=kernels))


# ------------------------------------------------------------------------- solving
class State(NamedTuple):
    """Rows of a partition with their part of the iterate, and totals of a pass."""

    rows: LocalRows
    totals: Totals


@sizeof.register(LocalRows)
def _size_of_rows(rows: LocalRows) -> int:
    spaces = [f.space for f in rows.parts.functions if f.space is not None]
    return sum(sizeof(s.matrix) for s in spaces) + 8 * VECTORS_HELD * rows.n_multipliers


class DaskRows:
    """The rows of one problem on the workers; see `RowBlocks` of the solver."""

    def __init__(self, training: DaskParts, machine: Any) -> None:
        self.training, self.machine = training, machine
        self.states = training.map(_initial, machine)
        first = self.states.futures[0]
        self.layout = training.client.submit(attrgetter("rows.layout"), first).result()

    def total(self, one_pass: Callable[..., Totals], *arguments: Any) -> Totals:
        """Run a pass over all rows and return the summed totals."""
        self.states = self.states.map(_passed, one_pass, arguments)
        return self.states.sum(attrgetter("totals"))

    def sample(self, n_rows: int, directions: np.ndarray | None = None) -> Problem:
        """Return the problem of about this many rows, with costs scaled up."""
        sizes = self.training.gather(N_ROWS)
        firsts = DaskParts(self.training.client, np.cumsum([0, *sizes[:-1]]).tolist())
        samples = self.training.gather(
            _sampled, self.states, firsts, n_rows, sum(sizes), directions
        )
        some, chances = zip(*samples, strict=True)
        together = joined(some, self.machine.n_privileged_features_in_)
        problem = self.machine._problem(_data(together, self.machine))
        everything = np.arange(problem.n_rows)
        return restricted(problem, everything, share=np.concatenate(chances))


def _initial(training: Training, machine: Any) -> State:
    return State(LocalRows(machine._problem(_data(training, machine))), Totals())


def _passed(
    state: State, one_pass: Callable[..., Totals], arguments: tuple[Any, ...]
) -> State:
    """Return the state after a pass; the state before it is unchanged."""
    rows = state.rows.copied()
    return State(rows, rows.total(one_pass, *arguments))


def _sampled(
    training: Training,
    state: State,
    first: int,
    n_sampled: int,
    n_all: int,
    directions: np.ndarray | None,
) -> tuple[Training, np.ndarray]:
    """Return a sample of the rows, and their probabilities."""
    chances = state.rows.chances(n_sampled, n_all, directions)
    rows = sampled(first, chances)
    return training.take(rows), chances[rows]


def _solved(machine: Any, training: DaskParts) -> Model:
    """Solve one problem and return its functions."""
    sizes = training.gather(N_ROWS)
    training = training.where(sizes)
    rows = DaskRows(training, machine)
    limit = DEFAULT.max_newton_steps
    solution = solve_blocks(
        rows,
        tol=machine.tol,
        aim=DEFAULT.block_aim(sum(sizes), machine.tol),
        max_iter=min(limit, machine.max_iter) if machine.max_iter > 0 else limit,
    )
    solution = _with_middle_bias(rows, solution)
    solution.converged = solution.relative_gap <= machine.tol
    machine._check_solved(solution)
    functions = [
        Expansion(Kernel("linear"), None, np.asarray(weights), float(bias))
        for weights, bias in zip(solution.weights, solution.biases, strict=True)
    ]
    ranges = Ranges.merged(training.gather(_ranges, machine, functions))
    for check in machine._trivial:
        check(machine, ranges)
    if ranges.constant is not None:
        nothing = np.zeros_like(functions[0].coefficients)
        functions[0] = replace(functions[0], coefficients=nothing, bias=ranges.constant)
    return Model(functions[0], functions[1:], np.empty(0), Certificate.of(solution))


def _ranges(training: Training, machine: Any, functions: list[Expansion]) -> Ranges:
    data = _data(training, machine)
    pairs = zip(functions, machine._function_spaces(data), strict=True)
    return Ranges.of(data, [function(space.rows) for function, space in pairs])


# ---------------------------------------------------------------------------- bias
def _with_middle_bias(rows: DaskRows, solution: BlockSolution) -> BlockSolution:
    """Return the solution with the first bias in the middle of its optimal interval.

    As :mod:`lupi._convex.solution` on one machine: the partitions contribute whether
    their constraints determine the biases and, if they do not, tangents of the cost.
    """

    def of_chunks(function: Callable, *given: Any) -> list[Any]:
        parts = rows.states.gather(_of_chunks, function, *given)
        return [chunk for part in parts for chunk in part]

    largest = max(rows.states.gather(_largest_multiplier))
    columns = of_chunks(_bias_columns, largest)
    sizes, scales, products = zip(*columns, strict=True)
    if determined(np.max(scales, axis=0), np.sum(products, axis=0)):
        return solution

    def tangent(shift: np.ndarray) -> Tangent:
        biases = solution.biases
        return Tangent.merged(of_chunks(_tangent, solution.weights, biases, shift))

    biases = middle_of(solution.biases, np.max(sizes, axis=0), tangent)
    if biases is None:
        return solution
    middle = certified(rows, rows.layout.joined(solution.weights, biases))
    middle = replace(middle, n_iter=solution.n_iter, converged=solution.converged)
    least = max(solution.duality_gap, NEGLIGIBLE_CHANGE * abs(solution.primal_value))
    return middle if middle.duality_gap <= 2 * least else solution


def _largest_multiplier(state: State) -> float:
    blocks = state.rows.blocks
    families = [family for block in blocks for family in block.families]
    return max(float(np.abs(family.distance).max()) for family in families)


def _of_chunks(state: State, function: Callable, *given: Any) -> list[Any]:
    return [function(*chunk, *given) for chunk in state.rows.in_chunks(CHUNK)]


def _bias_columns(
    problem: Problem, multipliers: np.ndarray, largest: float
) -> tuple[np.ndarray, ...]:
    """Return the largest coefficients of the biases, and their strict products."""
    sizes = np.abs(problem.balance_columns()).max(axis=1, initial=0.0)
    return sizes, *strict_products(problem, multipliers, largest)


def _tangent(
    problem: Problem,
    _: np.ndarray,
    weights: list[Any],
    biases: np.ndarray,
    shift: np.ndarray,
) -> Tangent:
    """Return the tangent of the cost of some rows."""
    values = [problem.spaces[k].matrix @ own for k, own in enumerate(weights)]
    columns = problem.balance_columns()
    short = problem.at_least - problem.margins(values) - biases @ columns
    return Tangent.of(problem, columns, short, shift)
