"""Which model learns what from whom, with which folds left out.

Every labelled row is in one fold. ``kept`` is the set of folds that may be used:

- the student ``labels`` learns y on the kept rows;
- a teacher of a view learns y on the kept rows that have X*;
- the student of that view learns the teacher's opinions, on the kept rows that have X*
  and on all rows without y that have it. The opinion of a row in fold j is that of the
  teacher trained on ``kept - {j}``; of a row without y, of the one trained on ``kept``.

Keeping all folds gives the final models. Keeping all but one gives models of which
nothing, teacher or student, has been touched by a label of that fold. The teacher
without folds j and k serves twice: for the opinions of fold j while k is held out, and
the other way round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from joblib import Parallel, delayed

from lupi._parts import Parts

LABELS = "labels"
UNLABELLED = -1
Kept = frozenset[int]


@dataclass(frozen=True)
class Lesson:
    """Rows to learn from: a fold, and the teacher whose opinions are learned."""

    fold: int
    teacher: Any = None


class Learner(Protocol):
    """What the plan needs of a pair of teacher and student."""

    def teach(self, view: str, kept: Kept) -> Any:
        """Return a teacher of the view, trained on the kept rows that have X*."""

    def study(self, lessons: list[Lesson]) -> Any:
        """Return a student; lessons without a teacher are about y itself."""

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
            # With two folds and one held out, no other fold is left to learn from.
            needed[kept, fold] = kept - {fold} or kept
        needed[kept, UNLABELLED] = kept
    courses = list(dict.fromkeys((v, kept) for v in views for kept in needed.values()))
    work = Parallel(n_jobs=n_jobs)
    taught = work(delayed(learner.teach)(view, kept) for view, kept in courses)
    teachers = dict(zip(courses, taught, strict=True))

    curricula = []
    for kept in keeps:
        folds = sorted(kept)
        curricula.append([Lesson(fold) for fold in folds])
        for view in views:
            curricula.append(
                [
                    Lesson(fold, teachers[view, needed[kept, fold]])
                    for fold in [*folds, UNLABELLED]
                ]
            )
    studied = iter(work(delayed(learner.study)(lessons) for lessons in curricula))
    return [
        Candidates(
            {name: next(studied) for name in (LABELS, *views)},
            {view: teachers[view, kept] for view in views},
        )
        for kept in keeps
    ]
