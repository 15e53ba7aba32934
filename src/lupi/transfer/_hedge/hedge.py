"""Fit all candidates and their weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lupi._parts import LocalParts, Parts
from lupi.transfer._hedge.learners import EstimatorLearner
from lupi.transfer._hedge.outputs import ClassOutput, NumericOutput
from lupi.transfer._hedge.plan import LABELS, fit_candidates
from lupi.transfer._hedge.ridge import LARGEST, GCVRidge
from lupi.transfer._hedge.rows import Rows
from lupi.transfer._hedge.sums import Layout, SumsLearner, in_numbers
from lupi.transfer._hedge.weights import prior_weights, simplex_weights

# Largest number of columns, if there are fewer labelled rows, for fits from sums.
_SUMS_COLUMNS = 300
# Deviation of predictions of rows without y, in units of that of y, that is plausible.
_LARGEST_SPREAD = 3.0


@dataclass(frozen=True)
class Pair:
    """A student and its teacher; None is ridge regression by GCV, in both roles."""

    name: str
    teacher: Any
    student: Any

    def key(self, candidate: str) -> str:
        """Return the name of one of its candidates."""
        return f"{self.name}__{candidate}" if self.name else candidate


@dataclass(frozen=True)
class Hedge:
    """Fitted candidates and their weights.

    Attributes
    ----------
    students, teachers : dict from name to fitted estimator
        The students by candidate, and the teachers by view.
    weights : dict from candidate to float
        Weights, with sum 1.
    scores : dict from candidate to (score, standard error)
        R² of the predictions out of fold; empty without folds.
    blend : Parts of ndarray of shape (n_labelled, n_targets), or None
        Weighted average of the predictions out of fold; None without folds.
    """

    students: dict[str, Any]
    teachers: dict[str, Any]
    weights: dict[str, float]
    scores: dict[str, tuple[float, float]]
    blend: Parts | None


def hedge(
    rows: Parts,
    outputs: NumericOutput | ClassOutput,
    pairs: Sequence[Pair],
    folds: list[Parts],
    *,
    n_folds: int,
    views: tuple[str, ...],
    prior_strength: float,
    n_columns: tuple[int, int],
    factor: np.ndarray | None = None,
    weighted: bool = False,
    n_jobs: Any = None,
) -> Hedge:
    """Fit all candidates, and their weights by predictions out of fold.

    Parameters
    ----------
    rows : Parts of Rows
        The training rows.
    outputs : NumericOutput or ClassOutput
        Description of the predicted quantity.
    pairs : sequence of Pair
        Students with their teachers; on a cluster all of them are the default.
    folds : list of Parts of ndarray of int
        Fold of each labelled row, once per repetition. With an empty list there are no
        predictions out of fold, and the weights are the prior.
    n_folds : int
        Number of folds.
    views : tuple of str
        Views of the teachers.
    prior_strength : float
        Number of rows that the prior is equivalent to.
    n_columns : tuple of int
        Number of columns of X and of X*.
    factor : ndarray or None
        Class weights.
    weighted : bool
        Whether sample weights were given.
    n_jobs : int or None
        Number of parallel fits.
    """
    students: dict[str, Any] = {}
    teachers: dict[str, Any] = {}
    predicted, spread = [], []
    everything = frozenset(range(n_folds)) if folds else frozenset({0})
    keeps = [everything - {k} for k in sorted(everything)] if folds else []
    summary = rows.sum(_label_sums, outputs, factor)
    for pair in pairs:
        first: Any = folds[0] if folds else rows.map(_one_fold)
        learner: Any
        if not isinstance(rows, LocalParts) or _fits_from_sums(
            pair, summary.n_labelled, sum(n_columns), factor
        ):
            learner = SumsLearner(
                rows, first, len(everything), outputs.n_targets, n_columns[1]
            )
        else:
            mine = rows.parts[0]
            limited = mine
            if pair.teacher is None or pair.student is None:
                numbers = rows.map(in_numbers)
                layout = Layout.of(numbers, outputs.n_targets, n_columns[1])
                limited = layout.limited(numbers.parts[0])
            learner = EstimatorLearner(
                mine,
                limited if pair.teacher is None else mine,
                limited if pair.student is None else mine,
                first.parts[0],
                outputs,
                GCVRidge() if pair.teacher is None else pair.teacher,
                GCVRidge() if pair.student is None else pair.student,
                factor,
                weighted,
            )
        found = []
        for repeat, fold in enumerate(folds or [first]):
            learner = learner if repeat == 0 else learner.refold(fold)
            wanted = [*keeps, everything] if repeat == 0 else keeps
            # A fit from sums takes less time than starting another process.
            n_processes = 1 if isinstance(learner, SumsLearner) else n_jobs
            fitted = fit_candidates(learner, views, wanted, n_processes)
            if repeat == 0:
                final = fitted.pop()
                spread.append(
                    learner.spread(list(final.students.values()), summary.level)
                )
                for name, student in final.students.items():
                    students[pair.key(name)] = learner.export_student(student)
                for view, teacher in final.teachers.items():
                    teachers[pair.key(view)] = learner.export_teacher(teacher)
            if folds:
                found.append(learner.out_of_fold(fitted))
        if folds:
            predicted.append(found[0].map(_mean, *found[1:]))
    names = [pair.key(name) for pair in pairs for name in (LABELS, *views)]
    is_label = np.array([name == LABELS for _ in pairs for name in (LABELS, *views)])
    prior = prior_weights(is_label, summary.size)
    if not folds:
        start = dict(zip(names, prior.tolist(), strict=True))
        return Hedge(students, teachers, start, {}, None)

    candidates = predicted[0].map(_all_candidates, *predicted[1:])
    errors = candidates.sum(_error_sums, rows, outputs, factor, summary.level)
    # A candidate that varies on rows without y by more than y does errs there at least
    # by the difference, which no labelled row shows.
    deviation = np.sqrt(errors[3] / summary.total)
    excess = np.sqrt(np.concatenate(spread)) - _LARGEST_SPREAD * deviation
    errors[0][np.diag_indices(len(excess))] += (
        summary.total * np.maximum(excess, 0) ** 2
    )
    weights = simplex_weights(errors[0], summary.size, prior, prior_strength)
    scores = _scores(summary, *errors[1:])
    return Hedge(
        students,
        teachers,
        dict(zip(names, weights.tolist(), strict=True)),
        dict(zip(names, scores, strict=True)),
        candidates.map(_blend, weights),
    )


def _fits_from_sums(
    pair: Pair, n_labelled: int, n_columns: int, factor: np.ndarray | None
) -> bool:
    """Return whether the models can be fitted from sums of products."""
    few = n_columns <= max(_SUMS_COLUMNS, min(n_labelled, LARGEST))
    # Class weights of rows without y depend on predictions, row by row.
    return pair.teacher is None and pair.student is None and factor is None and few


# Functions of the labelled rows of one part.


def _one_fold(rows: Rows) -> np.ndarray:
    return np.zeros(len(rows.labelled), dtype=int)


def _mean(*predicted: np.ndarray) -> np.ndarray:
    return np.mean(predicted, axis=0)


def _all_candidates(*predicted: np.ndarray) -> np.ndarray:
    return predicted[0] if len(predicted) == 1 else np.concatenate(predicted)


def _blend(candidates: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return np.einsum("a,ant->nt", weights, candidates)


def _cost(
    rows: Rows, outputs: NumericOutput | ClassOutput, factor: np.ndarray | None
) -> np.ndarray:
    """Return the weights of the rows times those of their classes."""
    cost = rows.labelled_weight
    if factor is not None and isinstance(outputs, ClassOutput):
        cost = cost * (outputs.full(rows.target) @ factor)
    return cost


@dataclass(frozen=True)
class _LabelSums:
    """Number of labelled rows, sums of their costs, of cost² and of cost × y."""

    n_labelled: int
    total: float
    squared: float
    target: np.ndarray

    def __add__(self, other: _LabelSums) -> _LabelSums:
        return _LabelSums(
            self.n_labelled + other.n_labelled,
            self.total + other.total,
            self.squared + other.squared,
            self.target + other.target,
        )

    @property
    def size(self) -> float:
        """Kish's effective number of rows."""
        return self.total**2 / self.squared

    @property
    def level(self) -> np.ndarray:
        """Mean of y."""
        return self.target / self.total


def _label_sums(
    rows: Rows, outputs: NumericOutput | ClassOutput, factor: np.ndarray | None
) -> _LabelSums:
    cost = _cost(rows, outputs, factor)
    return _LabelSums(
        len(cost), float(cost.sum()), float(cost @ cost), cost @ rows.target
    )


def _error_sums(
    candidates: np.ndarray,
    rows: Rows,
    outputs: NumericOutput | ClassOutput,
    factor: np.ndarray | None,
    level: np.ndarray,
) -> tuple[Any, ...]:
    """Return products of the candidates' errors, sums of their squares, and of y."""
    cost = _cost(rows, outputs, factor)
    errors = candidates - rows.target
    products = np.einsum("ant,bnt,n->ab", errors, errors, cost, optimize=True)
    squares = np.sum(errors**2, axis=2)
    variation = float(cost @ np.sum((rows.target - level) ** 2, axis=1))
    return products, squares @ cost, squares**2 @ cost, variation


def _scores(
    rows: _LabelSums, squares: np.ndarray, fourths: np.ndarray, variation: float
) -> list[tuple[float, float]]:
    """Return 1 − MSE / variance of each candidate, and its standard error."""
    if not variation > 0:
        return [(0.0, 0.0)] * len(squares)
    spread = np.maximum(fourths - squares**2 / rows.total, 0.0)
    errors = np.sqrt(rows.total / rows.size * spread) / variation
    scores = 1 - squares / variation
    return list(zip(scores.tolist(), errors.tolist(), strict=True))
