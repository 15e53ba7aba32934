r"""The numerical part of hedged distillation; `_hedged` has the estimators.

Predictions, y and the teachers' predictions all have the shape (n_rows, n_targets):
one column for a number and for two classes (the probability of the second), and one
per class for more than two.

Every labelled row is in one fold. ``kept`` is the set of folds that may be used:

- the student ``labels`` is fitted to y on the kept rows;
- a teacher of a view is fitted to y on the kept rows that have X*;
- the student of that view is fitted to the teacher's predictions, on the kept rows that
  have X* and on all rows without y that have it. A row in fold j is predicted by the
  teacher trained on ``kept - {j}``, and a row without y by that trained on ``kept``.

Keeping all folds gives the final models. Keeping all but one gives models
that do not depend on a label of that fold. The teacher without folds j and k is used
twice: to predict fold j while k is held out, and to predict k while j is held out.

`EstimatorLearner` fits any estimators. `SumsLearner` fits the default ridge from sums
of products. Let A = [X, X*, y]. A linear model is a vector b in these coordinates: its
values are Ab, plus a constant. Every target is of this form too: y (b selects the last
columns), or the predictions of a teacher. Ridge regression on a set of rows needs the
moments of A on these rows and the b of the target, as the products of X and t are those
of X and A, times b. Hence one matrix of moments per fold, and one for the rows without
y, are computed from the rows, and nothing is stored per row. Where the rows are in
parts, the moments of the parts are added.

The weights of the candidates are on the simplex and shrunk towards a prior:

.. math::
    \min_{w \ge 0,\, 1^\top w = 1}\; \|F w - y\|^2
        + \kappa\, \|w - \pi\|^2, \qquad
    \kappa = \frac{k}{n \sqrt r} \min_c \|F_c - y\|^2, \quad r = \min(1, n / 64),

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
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import minimize, nnls
from scipy.special import log_softmax
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline

from lupi._parts import GOLDEN, LocalParts, Parts, mixed_bits
from lupi.base import Privileged, Training
from lupi.base._metadata import fit_with, last_step
from lupi.base._rows import is_data_frame, side_by_side, take_rows
from lupi.transfer._distillation import check_copies
from lupi.transfer._fitting import accepted_classes, fit_weighted_copies, for_outputs
from lupi.transfer._folds import in_turn, row_digests
from lupi.transfer._ridge import (
    LARGEST,
    ColumnSums,
    Filling,
    GCVRidge,
    Limits,
    Moments,
    RidgeFit,
    Table,
    blocks,
    ridge_from_moments,
)

LABELS = "labels"
UNLABELLED = -1
Kept = frozenset[int]
# Largest number of units that are assigned to folds in turn.
_FEW = 10_000
# A column that hardly varies on the training rows of a model but elsewhere does (a rare
# category), would be extrapolated by many standard deviations. It is scaled by at least
# this part of its standard deviation: on all labelled rows for `labels`, on all rows
# for teachers and their students.
_LEAST_SCALE = 0.1
# Largest number of columns, if there are fewer labelled rows, for fits from sums.
_SUMS_COLUMNS = 300
# Deviation of predictions of rows without y, in units of that of y, that is plausible.
_LARGEST_SPREAD = 3.0
# Number of labelled rows from which on the prior gives one half to the teachers.
_ENOUGH_ROWS = 64
# Bounds of the average before its logarithm, and the prior of the calibration.
LOW, HIGH = 0.02, 0.98
SLOPE_STRENGTH = 10.0
SMALLEST_SLOPE = 1e-3


# -- outputs -----------------------------------------------------------------------


@dataclass(frozen=True)
class NumericOutput:
    """A continuous target."""

    n_targets: int = 1

    def target(self, y: np.ndarray) -> np.ndarray:
        """Return y as a column."""
        return y[:, None]

    def codes(self, target: np.ndarray) -> np.ndarray:
        """Return zeros, because there are no classes to stratify by."""
        return np.zeros(len(target), dtype=int)

    def fit(self, model: Any, table: Any, target: np.ndarray, weight: Any) -> Any:
        """Fit to known values or to a teacher's predictions, which are numbers too."""
        return fit_with(model, table, target[:, 0], sample_weight=weight)

    fit_soft = fit

    def values(self, model: Any, table: Any) -> np.ndarray:
        """Return predictions."""
        return np.asarray(model.predict(table), dtype=float).reshape(-1, 1)

    def check(self, model: Any, role: str) -> None:
        """Raise an error for an estimator that cannot predict numbers."""
        if not is_regressor(model):
            raise ValueError(
                f"The {role} {model!r} is not a regressor, but the target is a number. "
                "Give a regressor."
            )


@dataclass(frozen=True)
class ClassOutput:
    """Classes; regressors are fitted to indicators, classifiers to labels."""

    classes: np.ndarray

    @property
    def n_targets(self) -> int:
        """Number of columns: 1 for two classes, otherwise one per class."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    def target(self, y: np.ndarray) -> np.ndarray:
        """Return the indicators of labels."""
        return self.indicators(np.searchsorted(self.classes, y))

    def codes(self, target: np.ndarray) -> np.ndarray:
        """Return the positions of the labels among the classes."""
        return self.full(target).argmax(axis=1)

    def indicators(self, codes: np.ndarray) -> np.ndarray:
        """Return the indicators of class positions, probabilities of 0 and 1."""
        known = np.eye(len(self.classes))[codes]
        return known[:, 1:] if self.n_targets == 1 else known

    def full(self, values: np.ndarray) -> np.ndarray:
        """Return one column per class, also for two classes."""
        return np.hstack([1 - values, values]) if self.n_targets == 1 else values

    def shares(self, values: np.ndarray) -> np.ndarray:
        """Return a teacher's predictions as probabilities, clipped and normalized."""
        shares = np.clip(self.full(values), 0.0, 1.0)
        total = shares.sum(axis=1, keepdims=True)
        even = np.full_like(shares, 1 / shares.shape[1])
        return np.divide(shares, total, out=even, where=total > 0)

    def fit(self, model: Any, table: Any, target: np.ndarray, weight: Any) -> Any:
        """Fit to known labels."""
        if is_regressor(model):
            return self._fit_values(model, table, target, weight)
        codes = self.full(target).argmax(axis=1)
        if np.all(codes == codes[0]):
            # Most classifiers cannot be fitted to a single class.
            return DummyClassifier().fit(table, self.classes[codes])
        labels = accepted_classes(model, self.classes)[codes]
        return fit_with(model, table, labels, sample_weight=weight)

    def fit_soft(self, model: Any, table: Any, target: np.ndarray, weight: Any) -> Any:
        """Fit to a teacher's predictions."""
        if is_regressor(model):
            return self._fit_values(model, table, target, weight)
        if self.n_targets == 1 and (soft := with_soft_objective(model)) is not None:
            soft_target = self.shares(target)[:, 1]
            return fit_with(soft, table, soft_target, sample_weight=weight)
        share = self.shares(target)
        if weight is not None:
            share = share * weight[:, None]
        return fit_weighted_copies(model, table, self.classes, share)

    def _fit_values(
        self, model: Any, table: Any, target: np.ndarray, weight: Any
    ) -> Any:
        target = target[:, 0] if self.n_targets == 1 else target
        model = for_outputs(model, target)
        return fit_with(model, table, target, sample_weight=weight)

    def values(self, model: Any, table: Any) -> np.ndarray:
        """Return probabilities; 0 for a class without training rows of the model."""
        if is_regressor(model):
            return np.asarray(model.predict(table), float).reshape(-1, self.n_targets)
        known = np.asarray(model.predict_proba(table), dtype=float)
        found = np.zeros((len(known), len(self.classes)))
        classes = accepted_classes(model, self.classes)
        found[:, np.searchsorted(classes, model.classes_)] = known
        return found[:, 1:] if self.n_targets == 1 else found

    def check(self, model: Any, role: str) -> None:
        """Raise an error for an estimator that gives no probabilities."""
        if is_regressor(model):
            return
        if not is_classifier(model) or not hasattr(model, "predict_proba"):
            raise ValueError(
                f"The {role} {model!r} is neither a regressor nor a classifier with "
                "predict_proba, so that it gives no probabilities. Give one of these, "
                "or wrap it in CalibratedClassifierCV."
            )
        if role == "student" and not (
            self.n_targets == 1 and with_soft_objective(model) is not None
        ):
            check_copies(model)


def with_soft_objective(classifier: Any) -> Any:
    """Return a booster whose own objective takes labels in [0, 1], or None.

    The regressors of XGBoost and LightGBM with the objectives ``binary:logistic`` and
    ``cross_entropy`` are equivalent to their classifiers for two classes: they predict
    probabilities, but their labels may lie between 0 and 1.
    """
    last = last_step(classifier)
    package = type(last).__module__.split(".")[0]
    name = type(last).__name__
    if (package, name) == ("xgboost", "XGBClassifier"):
        from xgboost import XGBRegressor

        regressor, objective = XGBRegressor, "binary:logistic"
    elif (package, name) == ("lightgbm", "LGBMClassifier"):
        from lightgbm import LGBMRegressor

        regressor, objective = LGBMRegressor, "cross_entropy"
    else:
        return None
    parameters = last.get_params(deep=False) | {"objective": objective}
    if parameters.get("class_weight") is not None:
        return None
    soft = regressor(**parameters)
    if isinstance(classifier, Pipeline):
        return Pipeline([*classifier.steps[:-1], (classifier.steps[-1][0], soft)])
    return soft


Output = NumericOutput | ClassOutput


# -- rows --------------------------------------------------------------------------


@dataclass(frozen=True)
class HedgedRows:
    """Rows that have y, X* or both; rows with neither, or of weight 0, are left out.

    `labelled` are the positions of rows that have y, `target` is their y: with two
    classes the indicator of the second, with more all indicators.
    """

    X: Any
    privileged: Privileged | None
    labelled: np.ndarray
    target: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, training: Training, output: Output) -> HedgedRows:
        """Return the rows of a `Training` that has rows with y, X* or both."""
        labelled = training.labelled
        target = output.target(training.y[labelled])
        weight = training.weight
        return cls(training.X, training.privileged, labelled, target, weight)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.weight)

    @cached_property
    def place(self) -> np.ndarray:
        """Position of every row among those that have X*; −1 if it has none."""
        place = np.full(self.n_rows, -1)
        if self.privileged is not None:
            place[self.privileged.rows] = np.arange(len(self.privileged.rows))
        return place

    def known(self, place: np.ndarray) -> Any:
        """Return X* at positions among the rows that have it."""
        assert self.privileged is not None
        return take_rows(self.privileged.values, place)

    @property
    def labelled_weight(self) -> np.ndarray:
        """Weights of the labelled rows."""
        return self.weight[self.labelled]

    @cached_property
    def taught(self) -> np.ndarray:
        """Mask of the labelled rows that have X*."""
        return self.place[self.labelled] >= 0

    @cached_property
    def unlabelled(self) -> np.ndarray:
        """Positions of the rows without y; all of them have X*."""
        return np.setdiff1d(np.arange(self.n_rows), self.labelled, assume_unique=True)

    def scaled(self, factor: float) -> HedgedRows:
        """Return the rows with their weights multiplied by a factor."""
        return replace(self, weight=factor * self.weight)

    def strata(self, output: Output) -> np.ndarray:
        """Return twice the class of the labelled rows, plus 1 for those with X*."""
        return 2 * output.codes(self.target) + self.taught

    def in_numbers(self) -> HedgedRows:
        """Convert data frames, which are kept for other students, to arrays."""
        known, X = self.privileged, self.X
        if is_data_frame(X):
            X = np.asarray(X, dtype=float)
        if known is not None and is_data_frame(known.values):
            known = replace(known, values=np.asarray(known.values, dtype=float))
        return replace(self, X=X, privileged=known)

    def n_privileged(self) -> int:
        """Return the number of rows that have X*."""
        return 0 if self.privileged is None else len(self.privileged.rows)

    def labels_only(self) -> HedgedRows:
        """Return the labelled rows, without their X*."""
        return HedgedRows(
            take_rows(self.X, self.labelled),
            None,
            np.arange(len(self.labelled)),
            self.target,
            self.labelled_weight,
        )


# -- folds -------------------------------------------------------------------------


@dataclass(frozen=True)
class Units:
    """Distinct labelled rows, or groups, which must not be split between folds.

    Up to 10 000 units are assigned in the order of their keys, spread evenly over the
    folds within each stratum. With more units, the fold is a function of the key: the
    folds are then even without stratification, and no sorting is needed. `keys` are
    hashes or groups of the labelled rows, `distinct` each of them once, or None, and
    `weight` their weights by stratum: twice the class, plus 1 for rows with X*.
    `n_taught` is the number of units that have a row with X*, at most 3.
    """

    keys: Parts
    distinct: np.ndarray | None
    weight: np.ndarray | None
    n_taught: int

    @classmethod
    def of(cls, rows: Parts, strata: Parts, groups: Parts | None) -> Units:
        """Find the units of the rows, given strata and groups of the labelled rows."""
        keys = groups
        if keys is None:
            keys = rows.map(_content_keys)
        taught = keys.gather(_taught_keys, strata)
        n_taught = len(np.unique(np.concatenate(taught)))
        found = keys.gather(_summary, rows, strata)
        if all(part is not None for part in found):
            distinct, place = np.unique(
                np.concatenate([part[0] for part in found]), return_inverse=True
            )
            if len(distinct) <= _FEW:
                n_strata = max(part[1].shape[1] for part in found)
                weight, start = np.zeros((len(distinct), n_strata)), 0
                for _, counts in found:
                    at = place[start : start + len(counts)]
                    weight[at, : counts.shape[1]] += counts
                    start += len(counts)
                return cls(keys, distinct, weight, n_taught)
        if groups is not None:
            keys = groups.map(_hashed)
        return cls(keys, None, None, n_taught)

    def most_folds(self, n_folds: int) -> int:
        """Return the number of folds, at most `n_folds`, that have all classes."""
        if self.weight is None:
            return n_folds
        plain, taught = self.weight[:, ::2], self.weight[:, 1::2]
        present = plain > 0
        present[:, : taught.shape[1]] |= taught > 0
        counts = present.sum(axis=0)
        return min(n_folds, int(counts[counts > 0].min()))

    def assign(self, n_folds: int, random_state: Any) -> Parts:
        """Return the fold of each labelled row; None is the order of the keys."""
        if self.distinct is None or self.weight is None:
            salt = 0 if random_state is None else random_state.randint(1, 2**31)
            return self.keys.map(_fold_of_key, n_folds, salt)
        # A unit belongs to its heaviest stratum.
        fold = in_turn(self.weight.argmax(axis=1), n_folds, random_state)
        return self.keys.map(_fold_of_unit, self.distinct, fold)


def _content_keys(rows: HedgedRows) -> np.ndarray:
    """Return hashes of X, y and X* of the labelled rows."""
    keys = row_digests(take_rows(rows.X, rows.labelled), rows.target)
    if rows.taught.any():
        known = rows.known(rows.place[rows.labelled[rows.taught]])
        keys[rows.taught] = mixed_bits(keys[rows.taught]) + row_digests(known)
    return keys


def _taught_keys(keys: np.ndarray, strata: np.ndarray) -> np.ndarray:
    """Return up to three of the keys of rows with X*."""
    return np.unique(keys[strata % 2 == 1])[:3]


def _summary(
    keys: np.ndarray, rows: HedgedRows, strata: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the distinct keys and their weights by stratum; None if too many."""
    distinct, place = np.unique(keys, return_inverse=True)
    if len(distinct) > _FEW:
        return None
    weight = np.zeros((len(distinct), strata.max(initial=0) + 1))
    np.add.at(weight, (place, strata), rows.labelled_weight)
    return distinct, weight


def _hashed(groups: np.ndarray) -> np.ndarray:
    """Return 64 bits of each group."""
    values, place = np.unique(groups, return_inverse=True)
    return row_digests(values)[place]


def _fold_of_unit(
    keys: np.ndarray, distinct: np.ndarray, fold: np.ndarray
) -> np.ndarray:
    return fold[np.searchsorted(distinct, keys)]


def _fold_of_key(keys: np.ndarray, n_folds: int, salt: int) -> np.ndarray:
    mixed = mixed_bits(keys + np.array([salt], dtype=np.uint64) * GOLDEN)
    return (mixed % np.uint64(n_folds)).astype(int)


# -- which teacher and student is fitted on which folds ----------------------------


@dataclass(frozen=True)
class TrainingSet:
    """Training rows: a fold, and the teacher whose predictions are the target."""

    fold: int
    teacher: Any = None


@dataclass(frozen=True)
class Candidates:
    """Students, by candidate, and their teachers, by view."""

    students: dict[str, Any]
    teachers: dict[str, Any]


def fit_candidates(
    learner: SumsLearner | EstimatorLearner,
    views: tuple[str, ...],
    keeps: list[Kept],
    n_jobs: Any = None,
) -> list[Candidates]:
    """Fit all candidates once for each set of folds in `keeps`."""
    needed = {}
    for kept in keeps:
        for fold in sorted(kept):
            # With two folds of which one is held out, no other fold is left.
            needed[kept, fold] = kept - {fold} or kept
        needed[kept, UNLABELLED] = kept
    keys = list(dict.fromkeys((v, kept) for v in views for kept in needed.values()))
    parallel = Parallel(n_jobs=n_jobs)
    fitted = parallel(delayed(learner.fit_teacher)(view, kept) for view, kept in keys)
    teachers = dict(zip(keys, fitted, strict=True))

    student_sets = []
    for kept in keeps:
        folds = sorted(kept)
        student_sets.append([TrainingSet(fold) for fold in folds])
        for view in views:
            student_sets.append(
                [
                    TrainingSet(fold, teachers[view, needed[kept, fold]])
                    for fold in [*folds, UNLABELLED]
                ]
            )
    students = iter(parallel(delayed(learner.fit_student)(one) for one in student_sets))
    return [
        Candidates(
            {name: next(students) for name in (LABELS, *views)},
            {view: teachers[view, kept] for view in views},
        )
        for kept in keeps
    ]


# -- any estimators ----------------------------------------------------------------


@dataclass(frozen=True)
class ViewTeacher:
    """A fitted teacher and its view, which says what its features are."""

    view: str
    model: Any


@dataclass(frozen=True)
class EstimatorLearner:
    """Fit clones of a teacher and a student, each to the rows as it sees them."""

    rows: HedgedRows
    teacher_rows: HedgedRows
    student_rows: HedgedRows
    fold: np.ndarray
    output: Output
    teacher: Any
    student: Any
    factor: np.ndarray | None
    weighted: bool

    def refold(self, fold: Any) -> EstimatorLearner:
        """Return the same learner on other folds."""
        return replace(self, fold=fold.parts[0])

    def fit_teacher(self, view: str, kept: Kept) -> ViewTeacher:
        """Return a teacher of the view."""
        rows = self.rows
        chosen = np.flatnonzero(rows.taught & np.isin(self.fold, list(kept)))
        target, index = rows.target[chosen], rows.labelled[chosen]
        table, weight = self._view(view, index), self._weight(index, target)
        model = self.output.fit(clone(self.teacher), table, target, weight)
        return ViewTeacher(view, model)

    def fit_student(self, training_sets: list[TrainingSet]) -> Any:
        """Return a student of X."""
        soft = training_sets[0].teacher is not None
        parts = [self._rows_of(training_set) for training_set in training_sets]
        index, target, classes = (
            np.concatenate(part) for part in zip(*parts, strict=True)
        )
        table = take_rows(self.student_rows.X, index)
        fit = self.output.fit_soft if soft else self.output.fit
        return fit(clone(self.student), table, target, self._weight(index, classes))

    def _rows_of(self, training_set: TrainingSet) -> tuple[Any, Any, Any]:
        """Return the row numbers and targets of a training set, and its classes."""
        rows, teacher = self.rows, training_set.teacher
        if training_set.fold == UNLABELLED:
            index, known = rows.unlabelled, None
        else:
            chosen = self.fold == training_set.fold
            if teacher is not None:
                chosen &= rows.taught
            index, known = rows.labelled[chosen], rows.target[chosen]
        target = known if teacher is None else self._predictions(teacher, index)
        return index, target, target if known is None else known

    def _predictions(self, teacher: ViewTeacher, index: np.ndarray) -> np.ndarray:
        if len(index) == 0:
            return self.rows.target[:0]
        return self.output.values(teacher.model, self._view(teacher.view, index))

    def out_of_fold(self, held_out: list[Candidates]) -> LocalParts:
        """Return predictions by the candidates that left a row's fold out."""
        n_candidates = len(held_out[0].students)
        found = np.empty((n_candidates, *self.rows.target.shape))
        for k, left_out in enumerate(held_out):
            index = self.rows.labelled[self.fold == k]
            table = take_rows(self.student_rows.X, index)
            for place, student in enumerate(left_out.students.values()):
                found[place, self.fold == k] = self.output.values(student, table)
        return LocalParts([found])

    def spread(self, students: list[Any], level: np.ndarray) -> np.ndarray:
        """Return mean squares of a ridge's predictions of rows without y."""
        index, found = self.rows.unlabelled, np.zeros(len(students))
        if isinstance(self.student, GCVRidge) and len(index):
            table = take_rows(self.student_rows.X, index)
            for place, student in enumerate(students):
                apart = self.output.values(student, table) - level
                squares = np.sum(apart**2, axis=1)
                found[place] = np.average(squares, weights=self.rows.weight[index])
        return found

    def export(self, model: Any) -> Any:
        """Return a teacher or a student as an estimator."""
        return model.model if isinstance(model, ViewTeacher) else model

    def _view(self, view: str, index: np.ndarray) -> Any:
        rows = self.teacher_rows
        known = rows.known(rows.place[index])
        if view == "privileged":
            return known
        return side_by_side(take_rows(rows.X, index), known)

    def _weight(self, index: np.ndarray, classes: np.ndarray) -> np.ndarray | None:
        """Return the weights of rows with these (soft) labels; None if all are 1."""
        if self.factor is None:
            return self.rows.weight[index] if self.weighted else None
        assert isinstance(self.output, ClassOutput)
        return self.rows.weight[index] * (self.output.shares(classes) @ self.factor)


# -- ridge from sums ---------------------------------------------------------------


@dataclass(frozen=True)
class LinearModel:
    """A linear model in the coordinates a = [x, x*, y], and its view."""

    fit: RidgeFit
    view: str

    def moments(self, rows: Moments, columns: np.ndarray) -> Moments:
        """Return the moments of some columns, followed by the values of the model."""
        products = rows.products @ self.fit.coef
        cross = products[columns]
        inner = rows.products[np.ix_(columns, columns)]
        level = self.fit.level + (rows.mean - self.fit.center) @ self.fit.coef
        return Moments(
            rows.weight,
            rows.squared,
            np.concatenate([rows.mean[columns], level]),
            np.block([[inner, cross], [cross.T, self.fit.coef.T @ products]]),
        )


@dataclass(frozen=True)
class Columns:
    """Imputation of a table, and its limits in rows without y."""

    filling: Filling
    limits: Limits

    @classmethod
    def of(cls, tables: Parts) -> Columns:
        """Compute both in two passes over the rows."""
        sums: ColumnSums = tables.sum(ColumnSums.of)
        return cls(Filling.of(sums), Limits.of(tables, sums))


@dataclass(frozen=True)
class Design:
    """Conversion of rows to rows of A; `privileged` is None without X*."""

    decision: Columns
    privileged: Columns | None
    n_targets: int

    @classmethod
    def of(cls, rows: Parts, n_targets: int, n_privileged: int) -> Design:
        """Compute imputation and limits of X and of X*."""
        privileged = None
        if n_privileged:
            privileged = Columns.of(rows.map(_privileged_table, n_privileged))
        return cls(Columns.of(rows.map(_decision_table)), privileged, n_targets)

    @property
    def widths(self) -> tuple[int, int, int]:
        """Numbers of columns of X, X* and y."""
        known = self.privileged
        n_privileged = 0 if known is None else known.filling.width
        return self.decision.filling.width, n_privileged, self.n_targets

    def limited(self, rows: HedgedRows) -> HedgedRows:
        """Return rows whose cells are within the limits, as labelled rows' all are."""
        known = rows.privileged
        if known is not None and self.privileged is not None:
            values = self.privileged.limits.apply(known.values)
            known = replace(known, values=values)
        return replace(rows, X=self.decision.limits.apply(rows.X), privileged=known)

    def moments(self, rows: HedgedRows, labelled: np.ndarray | None) -> Moments:
        """Return the moments of some labelled rows, or (None) of all without y.

        Either all of the rows have X* or none.
        """
        index = rows.unlabelled if labelled is None else rows.labelled[labelled]
        total = Moments.none(sum(self.widths))
        for part in blocks(len(index)):
            chosen = index[part]
            place = rows.place[chosen]
            given = [(self.decision, rows.X[chosen])]
            if self.privileged is not None and place[0] >= 0:
                given.append((self.privileged, rows.known(place)))
            tables = []
            for columns, values in given:
                if labelled is None:
                    values = columns.limits.apply(values)
                tables.append(columns.filling.apply(values))
            if self.privileged is not None and place[0] < 0:
                tables.append(np.zeros((len(chosen), self.widths[1])))
            tables.append(
                np.zeros((len(chosen), self.n_targets))
                if labelled is None
                else rows.target[labelled[part]]
            )
            total += Moments.of(tables, rows.weight[chosen])
        return total


def _decision_table(rows: HedgedRows) -> Table:
    labelled = np.zeros(rows.n_rows, dtype=bool)
    labelled[rows.labelled] = True
    return Table(rows.X, rows.weight, labelled)


def _privileged_table(rows: HedgedRows, width: int) -> Table:
    if rows.privileged is None:
        return Table(np.empty((0, width)), np.empty(0), np.empty(0, dtype=bool))
    at = rows.privileged.rows
    return Table(rows.privileged.values, rows.weight[at], np.isin(at, rows.labelled))


def _unlabelled_moments(rows: HedgedRows, design: Design) -> Moments:
    return design.moments(rows, None)


def _fold_moments(
    rows: HedgedRows, fold: np.ndarray, design: Design, n_folds: int
) -> tuple[tuple[Moments, ...], ...]:
    """Return the moments of every fold: of its rows with X*, and of the others."""
    return tuple(
        tuple(
            design.moments(rows, np.flatnonzero((fold == k) & chosen))
            for k in range(n_folds)
        )
        for chosen in (rows.taught, ~rows.taught)
    )


def _out_of_fold(
    rows: HedgedRows,
    fold: np.ndarray,
    filling: Filling,
    held_out: list[list[RidgeFit]],
) -> np.ndarray:
    """Return predictions of the labelled rows by the candidates that left them out."""
    found = np.empty((len(held_out[0]), *rows.target.shape))
    for k, fits in enumerate(held_out):
        chosen = np.flatnonzero(fold == k)
        for part in blocks(len(chosen)):
            at = chosen[part]
            X = filling.apply(rows.X[rows.labelled[at]])
            for place, fit in enumerate(fits):
                found[place, at] = fit.predict(X)
    return found


class SumsLearner:
    """Fit ridge regression by GCV as teacher and student, from sums of products."""

    def __init__(
        self, rows: Parts, fold: Parts, n_folds: int, n_targets: int, n_privileged: int
    ) -> None:
        self.rows, self.n_folds = rows.map(HedgedRows.in_numbers), n_folds
        self.design = Design.of(self.rows, n_targets, n_privileged)
        ends = np.cumsum(self.design.widths)
        decision, privileged, target = np.split(np.arange(ends[-1]), ends[:-1])
        self.columns = {
            "decision": decision,
            "privileged": privileged,
            "both": np.concatenate([decision, privileged]),
        }
        self.shape = (ends[-1], n_targets)
        coef = np.zeros(self.shape)
        coef[target] = np.eye(n_targets)
        known = RidgeFit(np.zeros(ends[-1]), np.zeros(n_targets), coef, 0.0)
        self.known = LinearModel(known, "y")
        self._unlabelled = self.rows.sum(_unlabelled_moments, self.design)
        self._set_folds(fold)

    def refold(self, fold: Parts) -> SumsLearner:
        """Return the same learner on other folds."""
        other = copy(self)
        other._set_folds(fold)
        return other

    def _set_folds(self, fold: Parts) -> None:
        self.fold = fold
        taught, plain = self.rows.sum(_fold_moments, fold, self.design, self.n_folds)
        self._taught = {UNLABELLED: self._unlabelled, **dict(enumerate(taught))}
        self._plain = dict(enumerate(plain))
        with_x_star = sum(taught, Moments.none(self.shape[0]))
        self._least_of_labels = _LEAST_SCALE * sum(plain, with_x_star).deviation
        self._least = _LEAST_SCALE * (with_x_star + self._unlabelled).deviation

    def _fit(
        self, parts: list[tuple[Moments, LinearModel]], view: str, least: np.ndarray
    ) -> LinearModel:
        """Fit on sets of rows, each given by its moments and its target."""
        columns, n_targets = self.columns[view], self.shape[1]
        total = Moments.none(len(columns) + n_targets)
        for rows, target in parts:
            total += target.moments(rows, columns)
        fit = ridge_from_moments(total, n_targets, least[columns])
        center, coef = np.zeros(self.shape[0]), np.zeros(self.shape)
        center[columns], coef[columns] = fit.center, fit.coef
        return LinearModel(replace(fit, center=center, coef=coef), view)

    def fit_teacher(self, view: str, kept: Kept) -> LinearModel:
        """Return a teacher of the view."""
        parts = [(self._taught[fold], self.known) for fold in sorted(kept)]
        return self._fit(parts, view, self._least)

    def fit_student(self, training_sets: list[TrainingSet]) -> LinearModel:
        """Return a student of X."""
        parts = []
        for training_set in training_sets:
            fold, teacher = training_set.fold, training_set.teacher
            if teacher is None:
                parts.append((self._plain[fold], self.known))
            parts.append((self._taught[fold], teacher or self.known))
        of_labels = training_sets[0].teacher is None
        least = self._least_of_labels if of_labels else self._least
        return self._fit(parts, "decision", least)

    def out_of_fold(self, held_out: list[Candidates]) -> Parts:
        """Return predictions by the candidates that left a row's fold out."""
        columns = self.columns["decision"]
        fits = [
            [student.fit.take(columns) for student in one.students.values()]
            for one in held_out
        ]
        filling = self.design.decision.filling
        return self.rows.map(_out_of_fold, self.fold, filling, fits)

    def spread(self, students: list[LinearModel], level: np.ndarray) -> np.ndarray:
        """Return mean squares of predictions of rows without y, less a level."""
        found = np.zeros(len(students))
        for place, student in enumerate(students):
            values = student.moments(self._unlabelled, self.columns["decision"][:0])
            if values.weight > 0:
                found[place] = np.trace(values.products) / values.weight
                found[place] += np.sum((values.mean - level) ** 2)
        return found

    def export(self, model: LinearModel) -> GCVRidge:
        """Return a model as an estimator of the features of its view."""
        tables = []
        if model.view != "privileged":
            coef = model.fit.coef[self.columns["decision"]]
            tables.append((self.design.decision.filling, coef))
        if model.view != "decision" and self.design.privileged is not None:
            coef = model.fit.coef[self.columns["privileged"]]
            tables.append((self.design.privileged.filling, coef))
        return GCVRidge().set_fitted(model.fit, tables, flat=self.shape[1] == 1)


# -- all candidates and their weights ----------------------------------------------


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
    """Students by candidate, teachers by view, weights, R² with standard errors.

    `blend` is the weighted average of the predictions out of fold. Without folds it is
    None, and there are no scores.
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

    The mean weight of labelled rows is 1. `folds` has the fold of each labelled row,
    once per repetition; without folds the weights are the prior. `n_columns` are those
    of X and of X*, and `factor` the class weights.
    """
    students: dict[str, Any] = {}
    teachers: dict[str, Any] = {}
    predicted, spread = [], []
    everything = frozenset(range(n_folds)) if folds else frozenset({0})
    keeps = [everything - {k} for k in sorted(everything)] if folds else []
    n_labelled, total, squared, level = rows.sum(_label_sums, output, factor)
    # Kish's effective number of rows, and the mean of y.
    size, level = total**2 / squared, level / total
    for pair in pairs:
        first = folds[0] if folds else rows.map(_one_fold)
        few = sum(n_columns) <= max(_SUMS_COLUMNS, min(n_labelled, LARGEST))
        by_default = pair.teacher is None and pair.student is None
        learner: SumsLearner | EstimatorLearner
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
                spread.append(learner.spread(models, level))
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
    prior = prior_weights(is_label, size)
    if not folds:
        start = dict(zip(names, prior.tolist(), strict=True))
        return Hedge(students, teachers, start, {}, None)

    candidates = predicted[0].map(_all_candidates, *predicted[1:])
    errors = candidates.sum(_error_sums, rows, output, factor, level)
    # A candidate that varies on rows without y by more than y does errs there at least
    # by the difference, which no labelled row shows.
    deviation = np.sqrt(errors[3] / total)
    excess = np.sqrt(np.concatenate(spread)) - _LARGEST_SPREAD * deviation
    errors[0][np.diag_indices(len(excess))] += total * np.maximum(excess, 0) ** 2
    weights = simplex_weights(errors[0], size, prior, prior_strength)
    scores = _scores(total, size, *errors[1:])
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


def _label_sums(
    rows: HedgedRows, output: Output, factor: np.ndarray | None
) -> tuple[int, float, float, np.ndarray]:
    """Return the number of labelled rows, sums of their costs, cost² and cost × y."""
    cost = _cost(rows, output, factor)
    return len(cost), float(cost.sum()), float(cost @ cost), cost @ rows.target


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
    total: float,
    size: float,
    squares: np.ndarray,
    fourths: np.ndarray,
    variation: float,
) -> list[tuple[float, float]]:
    """Return 1 − MSE / variance of each candidate, and its standard error."""
    if not variation > 0:
        return [(0.0, 0.0)] * len(squares)
    spread = np.maximum(fourths - squares**2 / total, 0.0)
    errors = np.sqrt(total / size * spread) / variation
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
    """Return the weights for products E'E of the errors E = F − y of n rows."""
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
    """Fit slope and intercepts to predictions out of fold.

    A part has weighted averages, one column per class, and the class and weight of each
    row. Every class occurs.
    """

    def objective(theta: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = parts.sum(_log_loss, theta)
        away = theta[0] - 1
        gradient[0] += SLOPE_STRENGTH * away
        return value + SLOPE_STRENGTH / 2 * away**2, gradient

    found = minimize(
        objective,
        np.eye(1, n_classes)[0],
        jac=True,
        method="L-BFGS-B",
        bounds=[(SMALLEST_SLOPE, None)] + [(None, None)] * (n_classes - 1),
        options={"ftol": 1e-15, "gtol": 1e-10},
    )
    intercept = np.append(0.0, found.x[1:])
    return Calibration(float(found.x[0]), intercept - intercept.mean())


def _log_loss(
    part: tuple[np.ndarray, np.ndarray, np.ndarray], theta: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return −Σ w log p and its gradient at θ = (a, b_1, …); b_0 is 0."""
    blend, codes, weight = part
    logs = clipped_log(blend)
    chance = log_softmax(theta[0] * logs + np.append(0.0, theta[1:]), axis=1)
    rows = np.arange(len(codes))
    value = float(-weight @ chance[rows, codes])
    off = np.exp(chance)
    off[rows, codes] -= 1.0
    along = weight @ np.sum(off * logs, axis=1)
    return value, np.append(along, weight @ off[:, 1:])
