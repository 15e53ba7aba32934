"""Which teachers and students are fitted on which folds, and how.

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

Imputed values and scales of ``labels`` are those of the labelled rows: rows without y
change none of them. The students of the teachers see rows without y within limits that
a single row cannot move.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from lupi._parts import LocalParts, Parts
from lupi.base._rows import side_by_side, take_rows
from lupi.transfer._hedge.ridge import (
    ColumnSums,
    Filling,
    GCVRidge,
    Limits,
    Moments,
    RidgeFit,
    Table,
    TableOf,
    blocks,
    ridge_from_moments,
)
from lupi.transfer._hedge.rows import ClassOutput, HedgedRows, Output

LABELS = "labels"
UNLABELLED = -1
Kept = frozenset[int]
# A column that hardly varies on the training rows of a model but elsewhere does (a rare
# category), would be extrapolated by many standard deviations. It is scaled by at least
# this part of its standard deviation: on all labelled rows for `labels`, on all rows
# for teachers and their students.
_LEAST_SCALE = 0.1


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


class Learner(Protocol):
    """A pair of teacher and student, as `fit_candidates` needs it."""

    def refold(self, fold: Any) -> Self:
        """Return the same learner on other folds."""

    def fit_teacher(self, view: str, kept: Kept) -> Any:
        """Return a teacher of the view, trained on the kept rows that have X*."""

    def fit_student(self, training_sets: list[TrainingSet]) -> Any:
        """Return a student; the target of training sets without a teacher is y."""

    def out_of_fold(self, held_out: list[Candidates]) -> Parts:
        """Return predictions of every labelled row by the candidates that left it out.

        Entry k of `held_out` was fitted without fold k. The predictions of a part are
        of shape (n_candidates, n_labelled, n_targets), in the order of the students.
        """

    def spread(self, students: list[Any], level: np.ndarray) -> np.ndarray:
        """Return mean squares of a ridge's predictions of rows without y, less a level.

        They are 0 for other students, which are not extrapolated.
        """

    def export(self, model: Any) -> Any:
        """Return a teacher or a student as an estimator."""


def fit_candidates(
    learner: Learner, views: tuple[str, ...], keeps: list[Kept], n_jobs: Any = None
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
    """Fit a pair of estimators as teacher and student.

    Attributes
    ----------
    rows : HedgedRows
        The training rows.
    teacher_rows, student_rows : HedgedRows
        The same rows as teachers and students see them.
    fold : ndarray of int
        Fold of each labelled row.
    output : NumericOutput or ClassOutput
        Description of the predicted quantity.
    teacher, student : estimator
        Estimators, cloned for every fit.
    factor : ndarray of shape (n_classes,) or None
        Class weights.
    weighted : bool
        Whether sample weights were given.
    """

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
    def of(cls, rows: Parts, table_of: TableOf) -> Columns:
        """Compute both in two passes over the rows."""
        sums: ColumnSums = rows.sum(ColumnSums.of, table_of)
        return cls(Filling.of(sums), Limits.of(rows, table_of, sums))


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
            table_of = partial(_privileged_table, width=n_privileged)
            privileged = Columns.of(rows, table_of)
        return cls(Columns.of(rows, _decision_table), privileged, n_targets)

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
