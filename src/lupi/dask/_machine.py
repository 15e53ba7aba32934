"""What the linear models on Dask collections share: reading, solving, recovering.

The solver, :func:`lupi._convex.interior.blocks.outer.solve_blocks`, is that of one
machine: it sees sums over rows alone.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from lupi._convex.interior.blocks.outer import BlockSolution, solve_blocks
from lupi._convex.tuning import DEFAULT
from lupi.base import Fitted, Privileged, Training, binary_problems
from lupi.base import class_weights as weights_of_classes
from lupi.base._classes import classes_of
from lupi.dask._biases import with_middle_bias
from lupi.dask._model import DaskModel
from lupi.dask._parts import DaskParts
from lupi.dask._reading import read_parts
from lupi.dask._rows import (
    DaskRows,
    State,
    binary,
    class_totals,
    count_rows,
    layout_of,
    prepared,
)
from lupi.kernels import Kernel
from lupi.svm._machine import (
    TRIVIAL,
    Certificate,
    Expansion,
    Kernels,
    Model,
    is_constant,
)


class DaskLinearMachine(DaskModel):
    """What the linear models share: reading the partitions, solving, recovering."""

    def _fit(self, X: Any, y: Any, privileged: Any, sample_weight: Any) -> None:
        if self.device != "cpu":  # type: ignore[attr-defined]
            raise ValueError(
                f"device={self.device!r}: lupi.dask.{type(self).__name__} computes on "  # type: ignore[attr-defined]
                'the processors of the workers. Leave device="cpu".'
            )
        machine = self._unfitted()
        classifier = hasattr(machine, "multi_class")
        training = read_parts(
            machine,
            self._client(),
            partial(_read, y_numeric=not classifier),
            X=X,
            y=y,
            privileged=privileged,
            sample_weight=sample_weight,
        )
        width = machine.n_privileged_features_in_
        linear = Kernel("linear")
        kernels = Kernels(linear, [linear] * len(machine._spaces) if width else [])
        training = training.map(prepared, kernels, width)
        problems: list[tuple] = [()]
        if classifier:
            problems = self._binary_problems(machine, training)
        models = [self._solved(machine, training, *problem) for problem in problems]
        machine._keep(Fitted(None, [], models))  # type: ignore[arg-type]
        self._take(vars(machine))

    def _binary_problems(self, machine: Any, training: DaskParts) -> list[tuple]:
        """Return the arguments of `binary` for every binary problem."""
        classes = machine.classes_ = classes_of(training, machine)
        totals = training.sum(class_totals, classes)
        factor = weights_of_classes(
            machine.class_weight, classes, np.arange(len(classes)), totals
        )
        how = machine.multi_class
        n_problems = len(binary_problems(np.arange(len(classes)), len(classes), how))
        return [(classes, factor, how, number) for number in range(n_problems)]

    def _solved(self, machine: Any, parts: DaskParts, *problem: Any) -> Model:
        """Solve one problem, and recover its functions.

        The rows of a binary problem are on the workers only as long as it is solved.
        """
        if problem:
            parts = _not_empty(parts.map(binary, *problem))
        rows = DaskRows(parts, machine)
        first = DaskParts(parts.client, rows.states.futures[:1])
        (layout,) = first.gather(layout_of)
        few = sum(parts.gather(count_rows)) < DEFAULT.many_rows
        limit = DEFAULT.max_newton_steps
        found = solve_blocks(
            rows,
            layout,
            # Few rows are solved to a vertex on one machine, here as near as can be.
            tol=machine.tol * (DEFAULT.polished_gap if few else 1.0),
            max_iter=min(limit, machine.max_iter) if machine.max_iter > 0 else limit,
        )
        found = with_middle_bias(rows, layout, found)
        found.converged = found.relative_gap <= machine.tol
        machine._check_solved(found)
        theta = layout.joined(found.weights, found.biases)
        return _recovered(machine, rows, found, theta)


def _not_empty(parts: DaskParts) -> DaskParts:
    sizes = parts.gather(count_rows)
    kept = [f for f, size in zip(parts.futures, sizes, strict=True) if size]
    return DaskParts(parts.client, kept)


def _recovered(
    machine: Any, rows: DaskRows, found: BlockSolution, theta: np.ndarray
) -> Model:
    """Return the functions, and say if they are trivial."""
    ends = rows.states.largest(_extent, rows.training, theta)
    *values, highest, lowest, largest = (float(end) for end in ends)
    # The checks look at the ends of what they are given.
    data: Any = SimpleNamespace(
        target=np.array([highest, -lowest]),
        cost=np.array([rows.training.sum(_total_cost, machine)]),
        decision=SimpleNamespace(largest=largest),
        with_privileged=len(found.weights) > 1,
    )
    solution: Any = SimpleNamespace(
        values=[
            np.array([top, -bottom])
            for top, bottom in zip(values[::2], values[1::2], strict=True)
        ]
    )
    for check in machine._trivial:
        check(machine, data, solution)
    linear = Kernel("linear")
    functions = [
        Expansion(linear, None, np.asarray(weights), float(bias))
        for weights, bias in zip(found.weights, found.biases, strict=True)
    ]
    if is_constant(data, solution):
        value = float(np.mean(solution.values[0]))
        value = 0.0 if abs(value) <= TRIVIAL else value
        nothing = np.zeros_like(functions[0].coefficients)
        functions[0] = Expansion(linear, None, nothing, value)
    return Model(
        decision=functions[0],
        corrections=functions[1:],
        dual_coef=np.empty(0),
        certificate=Certificate.of(found),
    )


def _read(estimator: Any, X: Any, y: Any, **given: Any) -> Training:
    """Read one partition, which has to be dense."""
    training = estimator._validate_fit(X, y, **given)
    known = training.privileged
    tables = [training.X] + ([] if known is None else [known.values])
    if not all(isinstance(table, np.ndarray) for table in tables):
        raise TypeError(
            f"lupi.dask.{type(estimator).__name__} takes dense partitions, but got "
            "sparse ones. Use map_blocks(lambda block: block.toarray())."
        )
    return training


def _extent(state: State, training: Training, theta: np.ndarray) -> tuple[Any, ...]:
    """Return upper and lower ends of the functions, y and the norms of the rows."""
    layout = state[0].layout
    values = []
    for rows, span, at in zip(
        [training.X, training.privileged],
        layout.spans[:2],
        layout.biases[:2],
        strict=False,
    ):
        table = rows.values if isinstance(rows, Privileged) else rows
        value = np.asarray(table @ theta[span]).ravel() + theta[at]
        values += [value.max(initial=-np.inf), (-value).max(initial=-np.inf)]
    squares = np.einsum("ij,ij->i", training.X, training.X)
    ends = training.y.max(), (-training.y).max(), squares.max(initial=0.0)
    return (*values, *ends)


def _total_cost(training: Training, machine: Any) -> float:
    return float(machine._cost(training).sum())
