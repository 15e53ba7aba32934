"""The plan for any estimators of scikit-learn's interface."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from lupi._parts import LocalParts
from lupi.base._data_frames import side_by_side
from lupi.base._rows import take_rows
from lupi.transfer._hedge.answers import Numbers, Probabilities
from lupi.transfer._hedge.plan import UNLABELLED, Candidates, Kept, Lesson
from lupi.transfer._hedge.rows import Rows


@dataclass(frozen=True)
class Teacher:
    """A fitted teacher, and the view that it looks at."""

    view: str
    model: Any


@dataclass(frozen=True)
class EstimatorLearner:
    """Any estimators in both roles.

    Attributes
    ----------
    rows : Rows
        The training rows.
    fold : ndarray of int
        Fold of each labelled row.
    answers : Numbers or Probabilities
        What is predicted.
    teacher, student : estimator
        Cloned for every fit.
    factor : ndarray of shape (n_classes,) or None
        Class weights, when there are any.
    weighted : bool
        Whether the caller gave weights.
    """

    rows: Rows
    fold: np.ndarray
    answers: Numbers | Probabilities
    teacher: Any
    student: Any
    factor: np.ndarray | None
    weighted: bool

    def refold(self, fold: LocalParts) -> EstimatorLearner:
        """Return the same learner on other folds."""
        return replace(self, fold=fold.parts[0])

    def teach(self, view: str, kept: Kept) -> Teacher:
        """Return a teacher of the view."""
        rows = self.rows
        chosen = np.flatnonzero(rows.taught & np.isin(self.fold, list(kept)))
        target = rows.target[chosen]
        index = rows.labelled[chosen]
        weighted = self.weighted or self.factor is not None
        weight = self._weight(index, target) if weighted else None
        table = self._view(view, index)
        model = self.answers.fit(clone(self.teacher), table, target, weight)
        return Teacher(view, model)

    def study(self, lessons: list[Lesson]) -> Any:
        """Return a student of X."""
        soft = lessons[0].teacher is not None
        parts = [self._rows_of(lesson) for lesson in lessons]
        index, target, weight = (
            np.concatenate(part) for part in zip(*parts, strict=True)
        )
        table = take_rows(self.rows.X, index)
        weighted = self.weighted or self.factor is not None
        fit = self.answers.fit_soft if soft else self.answers.fit
        return fit(clone(self.student), table, target, weight if weighted else None)

    def _rows_of(self, lesson: Lesson) -> tuple[Any, Any, Any]:
        """Return the rows of a lesson, what is learned of them, and their weights."""
        rows, teacher = self.rows, lesson.teacher
        if lesson.fold == UNLABELLED:
            index, known = rows.unlabelled, None
        else:
            chosen = self.fold == lesson.fold
            if teacher is not None:
                chosen &= rows.taught
            index, known = rows.labelled[chosen], rows.target[chosen]
        opinion = known if teacher is None else self._opinion(teacher, index)
        return index, opinion, self._weight(index, opinion if known is None else known)

    def _opinion(self, teacher: Teacher, index: np.ndarray) -> np.ndarray:
        if len(index) == 0:
            return self.rows.target[:0]
        return self.answers.values(teacher.model, self._view(teacher.view, index))

    def out_of_fold(self, held_out: list[Candidates]) -> LocalParts:
        """Return predictions by the candidates that left a row's fold out."""
        n_candidates = len(held_out[0].students)
        found = np.empty((n_candidates, *self.rows.target.shape))
        for k, left_out in enumerate(held_out):
            table = take_rows(self.rows.X, self.rows.labelled[self.fold == k])
            for place, student in enumerate(left_out.students.values()):
                found[place, self.fold == k] = self.answers.values(student, table)
        return LocalParts([found])

    def export_student(self, student: Any) -> Any:
        """Return a student as an estimator."""
        return student

    def export_teacher(self, teacher: Teacher) -> Any:
        """Return a teacher as an estimator."""
        return teacher.model

    def _view(self, view: str, index: np.ndarray) -> Any:
        known = self.rows.known(self.rows.place[index])
        if view == "privileged":
            return known
        return side_by_side(take_rows(self.rows.X, index), known)

    def _weight(self, index: np.ndarray, shares: Any) -> np.ndarray:
        """Return weights of rows that are of these classes, or may be."""
        weight = self.rows.weight[index]
        if self.factor is None or isinstance(self.answers, Numbers):
            return weight
        return weight * (self.answers.shares(shares) @ self.factor)
