"""The rows of a linear model on the workers, with their part of the iterate.

The multipliers and slacks of the rows stay on the workers: a pass over the rows is one
task per partition, from the state before it to the state behind it and its sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lupi._convex.interior.blocks.layout import Layout
from lupi._convex.interior.blocks.local import LocalRows, restricted, sampled
from lupi._convex.interior.blocks.totals import Totals
from lupi._convex.problem import Problem
from lupi.base import Privileged, Training, binary_problems
from lupi.dask._parts import DaskParts
from lupi.svm._machine import Kernels

# The rows of a partition with their part of the iterate, and the sums of the last pass.
State = tuple[LocalRows, Totals]


class DaskRows:
    """Rows of one problem on the workers, as the solver wants them.

    Parameters
    ----------
    parts : DaskParts of Training
        The rows of a binary or real problem.
    machine : estimator
        The ordinary one, which describes the problem.
    """

    def __init__(self, parts: DaskParts, machine: Any) -> None:
        self.training, self.machine = parts, machine
        self.states = parts.map(_state, machine)

    def total(self, name: str, *arguments: Any) -> Totals:
        """Run a pass on every partition and return what they come to."""
        self.states = self.states.map(_passed, name, arguments)
        return self.states.sum(_totals)

    def sample(self, n_rows: int) -> Problem:
        """Return the problem of about so many rows, each counting for several."""
        client, futures = self.training.client, self.training.futures
        ends = np.cumsum([0, *self.training.gather(count_rows)])
        share = n_rows / ends[-1]
        training = joined(
            client.gather(
                [
                    client.submit(_sampled, future, int(first), share, pure=False)
                    for future, first in zip(futures, ends[:-1], strict=True)
                ]
            )
        )
        problem = _problem(training, self.machine)
        share = max(training.n_rows, 1) / ends[-1]
        return restricted(problem, np.arange(training.n_rows), share=share)


def _problem(training: Training, machine: Any) -> Problem:
    return machine._problem(machine._data(training))


def _state(training: Training, machine: Any) -> State:
    return LocalRows(_problem(training, machine)), Totals()


def _passed(state: State, name: str, arguments: tuple[Any, ...]) -> State:
    """Return the state behind a pass, and its sums; the state before is kept whole."""
    rows = state[0].__copy__()
    return rows, rows.total(name, *arguments)


def _totals(state: State) -> Totals:
    return state[1]


def layout_of(state: State) -> Layout:
    """Return the unknowns of the problem, the same in all partitions."""
    return state[0].layout


def count_rows(training: Training) -> int:
    """Return the number of rows."""
    return training.n_rows


def _sampled(training: Training, first: int, share: float) -> Training:
    rows = sampled(first, first + training.n_rows, share)
    return prepared(training.take(rows), training.settled, _width(training))


def _width(training: Training) -> int:
    return 0 if training.privileged is None else training.privileged.values.shape[1]


def prepared(training: Training, settled: Kernels, width: int) -> Training:
    """Return rows that know the width of X*, even if none of them has it."""
    return replace(with_width(training, width), settled=settled)


def with_width(training: Training, width: int) -> Training:
    """Return rows whose X* is an empty table of some width, if they have none."""
    if width == 0 or training.privileged is not None:
        return training
    nothing = np.empty(0, dtype=int)
    empty = Privileged(np.empty((0, width)), nothing, training.n_rows)
    return replace(training, privileged=empty)


def joined(parts: Sequence[Training]) -> Training:
    """Return the rows of several parts, in their order."""
    starts = np.cumsum([0, *(part.n_rows for part in parts)])
    known = [
        (start, part.privileged)
        for start, part in zip(starts[:-1], parts, strict=True)
        if part.privileged is not None
    ]
    privileged = None
    if known:
        values = np.concatenate([one.values for _, one in known])
        rows = np.concatenate([start + one.rows for start, one in known])
        privileged = Privileged(values, rows, int(starts[-1]))
    return replace(
        parts[0],
        X=np.concatenate([part.X for part in parts]),
        y=np.concatenate([part.y for part in parts]),
        privileged=privileged,
        weight=np.concatenate([part.weight for part in parts]),
        rows=np.arange(starts[-1]),
    )


def binary(
    training: Training,
    classes: np.ndarray,
    factor: np.ndarray,
    multi_class: str,
    number: int,
) -> Training:
    """Return the rows of a binary problem, with labels ±1."""
    codes = np.searchsorted(classes, training.y)
    index, sign = binary_problems(codes, len(classes), multi_class)[number]
    part = replace(training, weight=training.weight * factor[codes]).take(index)
    return prepared(replace(part, y=sign), training.settled, _width(training))


def class_totals(training: Training, classes: np.ndarray) -> np.ndarray:
    """Return the weight of the rows of every class."""
    codes = np.searchsorted(classes, training.y)
    return np.bincount(codes, training.weight, len(classes))
