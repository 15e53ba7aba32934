"""Which teachers and students are fitted on which folds.

Every labelled row is in one fold. ``kept`` is the set of folds that may be used:

- the student ``labels`` is fitted to y on the kept rows;
- a teacher of a view is fitted to y on the kept rows that have X*;
- the student of that view is fitted to the teacher's predictions, on the kept rows that
  have X* and on all rows without y that have it. A row in fold j is predicted by the
  teacher trained on ``kept - {j}``, and a row without y by that trained on ``kept``.

Keeping all folds gives the final models. Keeping all but one gives models
that do not depend on a label of that fold. The teacher without folds j and k is used
twice: to predict fold j while k is held out, and to predict k while j is held out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from joblib import Parallel, delayed

from lupi._parts import Parts

LABELS = "labels"
UNLABELLED = -1
Kept = frozenset[int]


@dataclass(frozen=True)
class TrainingSet:
    """Training rows: a fold, and the teacher whose predictions are the target."""

    fold: int
    teacher: Any = None


class Learner(Protocol):
    """A pair of teacher and student, as `fit_candidates` needs it."""

    def fit_teacher(self, view: str, kept: Kept) -> Any:
        """Return a teacher of the view, trained on the kept rows that have X*."""

    def fit_student(self, training_sets: list[TrainingSet]) -> Any:
        """Return a student; the target of training sets without a teacher is y."""

    def spread(self, students: list[Any], level: np.ndarray) -> np.ndarray:
        """Return mean squares of a ridge's predictions of rows without y, less a level.

        They are 0 for other students, which are not extrapolated.
        """

    def out_of_fold(self, held_out: list[Candidates]) -> Parts:
        """Return predictions of every labelled row by the candidates that left it out.

        Entry k of `held_out` was fitted without fold k. The predictions of a part are
        of shape (n_candidates, n_labelled, n_targets), in the order of the students.
        """


@dataclass(frozen=True)
class Candidates:
    """Students, by candidate, and their teachers, by view."""

    students: dict[str, Any]
    teachers: dict[str, Any]


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
