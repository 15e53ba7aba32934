r"""Fit all candidates, their weights, and the calibration of probabilities.

The weights are on the simplex and shrunk towards a prior:

.. math::
    \min_{w \ge 0,\, 1^\top w = 1}\; \|F w - y\|^2
        + \kappa\, \|w - \pi\|^2, \qquad
    \kappa = \frac{k}{n \sqrt r} \min_c \|F_c - y\|^2, \quad r = \min(1, n / 60),

with one column of F per candidate. The prior :math:`\pi` is equivalent to
:math:`k / \sqrt r` rows on which every candidate has the error of the best one,
independently of the others. It gives the share :math:`r^2 / 2` to the teachers: few
rows cannot tell whether they are right, and their errors out of fold are those of
models of still fewer rows.

The weighted average predicts class indicators; probabilities are calibrated from it:

.. math::
    p_k \propto \exp(a\, z_k + b_k), \qquad
    \min_{a \ge a_0,\, b} \; -\sum_i w_i \log p_{y_i} + \tfrac{c}{2} (a - 1)^2,

with :math:`z_k` the logarithm of the average for class k, clipped to [0.02, 0.98], and
c = 10. With two classes :math:`z_1 - z_0` is the logit of the average. The slope is
shrunk towards 1 and kept positive: an unrestricted slope, fitted on 60 rows, is
negative in half of the cases, which reverses the ranking.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import nnls
from scipy.special import log_softmax

from lupi._parts import LocalParts, Parts
from lupi.transfer._hedge.learners import (
    LABELS,
    Design,
    EstimatorLearner,
    Learner,
    SumsLearner,
    fit_candidates,
)
from lupi.transfer._hedge.ridge import LARGEST, GCVRidge
from lupi.transfer._hedge.rows import ClassOutput, HedgedRows, Output

# Largest number of columns, if there are fewer labelled rows, for fits from sums.
_SUMS_COLUMNS = 300
# Deviation of predictions of rows without y, in units of that of y, that is plausible.
_LARGEST_SPREAD = 3.0
# Number of labelled rows from which on the prior gives one half to the teachers.
_ENOUGH_ROWS = 60
# Bounds of the average before its logarithm, and the prior of the calibration.
LOW, HIGH = 0.02, 0.98
SLOPE_STRENGTH = 10.0
SMALLEST_SLOPE = 1e-3
_MOST_STEPS = 100
# Relative decrease at which Newton's method stops.
_ENOUGH = 1e-14


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
    output: Output,
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
    rows : Parts of HedgedRows
        The training rows; the mean weight of labelled rows is 1.
    output : NumericOutput or ClassOutput
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
    summary = rows.sum(_label_sums, output, factor)
    for pair in pairs:
        first = folds[0] if folds else rows.map(_one_fold)
        few = sum(n_columns) <= max(_SUMS_COLUMNS, min(summary.n_labelled, LARGEST))
        by_default = pair.teacher is None and pair.student is None
        learner: Learner
        # Class weights of rows without y depend on predictions, row by row.
        if not isinstance(rows, LocalParts) or (by_default and few and factor is None):
            n_folds = len(everything)
            learner = SumsLearner(rows, first, n_folds, output.n_targets, n_columns[1])
            n_processes = 1  # a fit takes less time than starting another process
        else:
            learner = _estimators(
                rows, first, output, pair, n_columns, factor, weighted
            )
            n_processes = n_jobs
        found = []
        for repeat, fold in enumerate(folds or [first]):
            learner = learner if repeat == 0 else learner.refold(fold)
            wanted = [*keeps, everything] if repeat == 0 else keeps
            fitted = fit_candidates(learner, views, wanted, n_processes)
            if repeat == 0:
                final = fitted.pop()
                models = list(final.students.values())
                spread.append(learner.spread(models, summary.level))
                for name, student in final.students.items():
                    students[pair.key(name)] = learner.export(student)
                for view, teacher in final.teachers.items():
                    teachers[pair.key(view)] = learner.export(teacher)
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
    errors = candidates.sum(_error_sums, rows, output, factor, summary.level)
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


def _estimators(
    rows: LocalParts,
    fold: Any,
    output: Output,
    pair: Pair,
    n_columns: tuple[int, int],
    factor: np.ndarray | None,
    weighted: bool,
) -> EstimatorLearner:
    """Return the learner of a pair; the default ridge sees rows within limits."""
    given: HedgedRows = rows.parts[0]
    limited = given
    if pair.teacher is None or pair.student is None:
        numbers = rows.map(HedgedRows.in_numbers)
        design = Design.of(numbers, output.n_targets, n_columns[1])
        limited = design.limited(numbers.parts[0])
    return EstimatorLearner(
        given,
        limited if pair.teacher is None else given,
        limited if pair.student is None else given,
        fold.parts[0],
        output,
        GCVRidge() if pair.teacher is None else pair.teacher,
        GCVRidge() if pair.student is None else pair.student,
        factor,
        weighted,
    )


# Functions of the labelled rows of one part.


def _one_fold(rows: HedgedRows) -> np.ndarray:
    return np.zeros(len(rows.labelled), dtype=int)


def _mean(*predicted: np.ndarray) -> np.ndarray:
    return np.mean(predicted, axis=0)


def _all_candidates(*predicted: np.ndarray) -> np.ndarray:
    return predicted[0] if len(predicted) == 1 else np.concatenate(predicted)


def _blend(candidates: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return np.einsum("a,ant->nt", weights, candidates)


def _cost(rows: HedgedRows, output: Output, factor: np.ndarray | None) -> np.ndarray:
    """Return the weights of the rows times those of their classes."""
    cost = rows.labelled_weight
    if factor is not None and isinstance(output, ClassOutput):
        cost = cost * (output.full(rows.target) @ factor)
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
    rows: HedgedRows, output: Output, factor: np.ndarray | None
) -> _LabelSums:
    cost = _cost(rows, output, factor)
    return _LabelSums(
        len(cost), float(cost.sum()), float(cost @ cost), cost @ rows.target
    )


def _error_sums(
    candidates: np.ndarray,
    rows: HedgedRows,
    output: Output,
    factor: np.ndarray | None,
    level: np.ndarray,
) -> tuple[Any, ...]:
    """Return products of the candidates' errors, sums of their squares, and of y."""
    cost = _cost(rows, output, factor)
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


# -- weights -----------------------------------------------------------------------


def prior_weights(is_label: np.ndarray, n: float) -> np.ndarray:
    """Return the prior weights of candidates, some of them of the labels."""
    taught = ~is_label
    if not taught.any():
        return is_label / is_label.sum()
    share = 0.5 * min(1.0, n / _ENOUGH_ROWS) ** 2
    return np.where(taught, share / taught.sum(), (1 - share) / is_label.sum())


def simplex_weights(
    products: np.ndarray, n: float, prior: np.ndarray, prior_strength: float
) -> np.ndarray:
    """Return the weights that solve the problem of this module.

    Parameters
    ----------
    products : ndarray of shape (n_candidates, n_candidates)
        E'E of the errors E = F − y, weighted and summed over classes.
    n : float
        Effective number of rows.
    prior : ndarray of shape (n_candidates,)
        Prior weights, positive, with sum 1.
    prior_strength : float
        The number k of rows.

    Returns
    -------
    ndarray of shape (n_candidates,)
        The weights.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.transfer._hedge.hedge import simplex_weights
    >>> errors = np.array([[3.0, 0.0], [0.0, 1.0]])
    >>> simplex_weights(errors.T @ errors, 2, np.array([0.5, 0.5]), 0.0)
    array([0.1, 0.9])
    """
    size, least = len(prior), np.diag(products).min()
    if not np.trace(products) > 0:
        return prior.copy()
    # As 1'w = 1, Fw − y = Ew and w − π = (I − π1')w: the problem is to minimize w'Mw
    # on the simplex. For v = sw, min_s s²q + (1 − s)² = q / (1 + q) grows with
    # q = w'Mw: w is proportional to the v ≥ 0 that minimizes v'Mv + (1 − 1'v)².
    away = np.eye(size) - np.outer(prior, np.ones(size))
    strength = prior_strength / np.sqrt(min(1.0, n / _ENOUGH_ROWS))
    M = products + strength * least / n * (away.T @ away)
    # Errors of very different size lose no digits where M has the diagonal 1.
    unit = np.sqrt(np.diag(M))
    unit = np.where(unit > 0, unit, 1.0)
    values, vectors = np.linalg.eigh(M / np.outer(unit, unit))
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    A = np.vstack([root, unit.min() / unit])
    v, _ = nnls(A, np.concatenate([np.zeros(size), [1.0]]))
    weights = v / unit
    return weights / weights.sum()


# -- calibration -------------------------------------------------------------------


@dataclass(frozen=True)
class Calibration:
    """One slope for all classes and an intercept for each."""

    slope: float
    intercept: np.ndarray

    @classmethod
    def none(cls, n_classes: int) -> Calibration:
        """Return the calibration that changes nothing inside the clip."""
        return cls(1.0, np.zeros(n_classes))

    def scores(self, blend: np.ndarray) -> np.ndarray:
        """Return a·z + b, one column per class; the softmax gives probabilities."""
        return self.slope * clipped_log(blend) + self.intercept


def clipped_log(blend: np.ndarray) -> np.ndarray:
    """Return log(blend), clipped; beyond the clip it continues with slope 1."""
    inside = np.clip(blend, LOW, HIGH)
    return np.log(inside) + (blend - inside)


def calibrate(parts: Parts, n_classes: int) -> Calibration:
    """Fit slope and intercepts to predictions out of fold, by Newton's method.

    A part has weighted averages, one column per class, and the class and weight of each
    row. Every class occurs.
    """
    theta = np.zeros(n_classes)
    theta[0] = 1.0
    value, gradient, hessian = _penalized(parts, theta)
    for _ in range(_MOST_STEPS):
        # The slope stays at its bound if the gradient points beyond it.
        held = theta[0] <= SMALLEST_SLOPE and gradient[0] > 0
        free = np.arange(int(held), n_classes)
        step = np.zeros(n_classes)
        part = hessian[np.ix_(free, free)]
        part = part + 1e-14 * np.trace(part) * np.eye(len(free))
        step[free] = -np.linalg.solve(part, gradient[free])
        decrease = -gradient @ step
        if decrease <= _ENOUGH * abs(value):
            break
        length, found = 1.0, None
        while length > 1e-10:
            moved = theta + length * step
            moved[0] = max(moved[0], SMALLEST_SLOPE)
            found = _penalized(parts, moved)
            # Armijo's condition along the projected step.
            if found[0] <= value + 1e-4 * gradient @ (moved - theta):
                break
            length /= 2
        else:
            break
        theta, (value, gradient, hessian) = moved, found
    intercept = np.concatenate([[0.0], theta[1:]])
    return Calibration(float(theta[0]), intercept - intercept.mean())


def _penalized(parts: Parts, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the objective, its gradient and its second derivatives."""
    value, gradient, hessian = parts.sum(log_loss, theta)
    gradient[0] += SLOPE_STRENGTH * (theta[0] - 1)
    hessian[0, 0] += SLOPE_STRENGTH
    return value + SLOPE_STRENGTH / 2 * (theta[0] - 1) ** 2, gradient, hessian


def log_loss(
    part: tuple[np.ndarray, np.ndarray, np.ndarray], theta: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return −Σ w log p and its derivatives at θ = (a, b_1, …); b_0 is 0."""
    blend, codes, weight = part
    logs = clipped_log(blend)
    logarithms = log_softmax(
        theta[0] * logs + np.concatenate([[0.0], theta[1:]]), axis=1
    )
    rows = np.arange(len(codes))
    value = float(-weight @ logarithms[rows, codes])
    chance = np.exp(logarithms)
    off = chance.copy()
    off[rows, codes] -= 1.0
    gradient = np.concatenate(
        [[weight @ np.sum(off * logs, axis=1)], weight @ off[:, 1:]]
    )
    # Variance, under the probabilities, of the factors of θ in the scores.
    mean = np.sum(chance * logs, axis=1)
    apart = chance * (logs - mean[:, None])
    hessian = np.empty((len(theta), len(theta)))
    hessian[0, 0] = weight @ np.sum(apart * logs, axis=1)
    hessian[0, 1:] = hessian[1:, 0] = weight @ apart[:, 1:]
    others = chance[:, 1:]
    hessian[1:, 1:] = np.diag(weight @ others) - others.T @ (weight[:, None] * others)
    return value, gradient, hessian
