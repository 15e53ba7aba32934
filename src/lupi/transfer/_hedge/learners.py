"""Teachers and students that are any estimators of scikit-learn's interface."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from lupi._parts import LocalParts
from lupi.base._data_frames import side_by_side
from lupi.base._rows import take_rows
from lupi.transfer._hedge.outputs import ClassOutput, NumericOutput
from lupi.transfer._hedge.plan import UNLABELLED, Candidates, Kept, TrainingSet
from lupi.transfer._hedge.ridge import GCVRidge
from lupi.transfer._hedge.rows import Rows


@dataclass(frozen=True)
class Teacher:
    """A fitted teacher and its view, which says what its features are."""

    view: str
    model: Any


@dataclass(frozen=True)
class EstimatorLearner:
    """Fit a pair of estimators as teacher and student.

    Attributes
    ----------
    rows : Rows
        The training rows.
    teacher_rows, student_rows : Rows
        The same rows as teachers and students see them.
    fold : ndarray of int
        Fold of each labelled row.
    outputs : NumericOutput or ClassOutput
        Description of the predicted quantity.
    teacher, student : estimator
        Estimators, cloned for every fit.
    factor : ndarray of shape (n_classes,) or None
        Class weights.
    weighted : bool
        Whether sample weights were given.
    """

    rows: Rows
    teacher_rows: Rows
    student_rows: Rows
    fold: np.ndarray
    outputs: NumericOutput | ClassOutput
    teacher: Any
    student: Any
    factor: np.ndarray | None
    weighted: bool

    def refold(self, fold: LocalParts) -> EstimatorLearner:
        """Return the same learner on other folds."""
        return replace(self, fold=fold.parts[0])

    def fit_teacher(self, view: str, kept: Kept) -> Teacher:
        """Return a teacher of the view."""
        rows = self.rows
        chosen = np.flatnonzero(rows.taught & np.isin(self.fold, list(kept)))
        target = rows.target[chosen]
        index = rows.labelled[chosen]
        weighted = self.weighted or self.factor is not None
        weight = self._weight(index, target) if weighted else None
        table = self._view(view, index)
        model = self.outputs.fit(clone(self.teacher), table, target, weight)
        return Teacher(view, model)

    def fit_student(self, training_sets: list[TrainingSet]) -> Any:
        """Return a student of X."""
        soft = training_sets[0].teacher is not None
        parts = [self._rows_of(training_set) for training_set in training_sets]
        index, target, weight = (
            np.concatenate(part) for part in zip(*parts, strict=True)
        )
        table = take_rows(self.student_rows.X, index)
        weighted = self.weighted or self.factor is not None
        fit = self.outputs.fit_soft if soft else self.outputs.fit
        return fit(clone(self.student), table, target, weight if weighted else None)

    def _rows_of(self, training_set: TrainingSet) -> tuple[Any, Any, Any]:
        """Return the row numbers, targets and weights of a training set."""
        rows, teacher = self.rows, training_set.teacher
        if training_set.fold == UNLABELLED:
            index, known = rows.unlabelled, None
        else:
            chosen = self.fold == training_set.fold
            if teacher is not None:
                chosen &= rows.taught
            index, known = rows.labelled[chosen], rows.target[chosen]
        target = known if teacher is None else self._teacher_predictions(teacher, index)
        return index, target, self._weight(index, target if known is None else known)

    def _teacher_predictions(self, teacher: Teacher, index: np.ndarray) -> np.ndarray:
        if len(index) == 0:
            return self.rows.target[:0]
        return self.outputs.values(teacher.model, self._view(teacher.view, index))

    def out_of_fold(self, held_out: list[Candidates]) -> LocalParts:
        """Return predictions by the candidates that left a row's fold out."""
        n_candidates = len(held_out[0].students)
        found = np.empty((n_candidates, *self.rows.target.shape))
        for k, left_out in enumerate(held_out):
            table = take_rows(self.student_rows.X, self.rows.labelled[self.fold == k])
            for place, student in enumerate(left_out.students.values()):
                found[place, self.fold == k] = self.outputs.values(student, table)
        return LocalParts([found])

    def spread(self, students: list[Any], level: np.ndarray) -> np.ndarray:
        """Return mean squares of predictions of rows without y, less a level."""
        index, found = self.rows.unlabelled, np.zeros(len(students))
        if isinstance(self.student, GCVRidge) and len(index):
            table, weight = take_rows(self.student_rows.X, index), self.rows.weight
            for place, student in enumerate(students):
                apart = self.outputs.values(student, table) - level
                found[place] = np.average(
                    np.sum(apart**2, axis=1), weights=weight[index]
                )
        return found

    def export_student(self, student: Any) -> Any:
        """Return a student as an estimator."""
        return student

    def export_teacher(self, teacher: Teacher) -> Any:
        """Return a teacher as an estimator."""
        return teacher.model

    def _view(self, view: str, index: np.ndarray) -> Any:
        rows = self.teacher_rows
        known = rows.known(rows.place[index])
        if view == "privileged":
            return known
        return side_by_side(take_rows(rows.X, index), known)

    def _weight(self, index: np.ndarray, shares: Any) -> np.ndarray:
        """Return the weights of rows with these (soft) labels."""
        weight = self.rows.weight[index]
        if self.factor is None or isinstance(self.outputs, NumericOutput):
            return weight
        return weight * (self.outputs.shares(shares) @ self.factor)
