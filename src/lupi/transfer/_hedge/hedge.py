"""From rows and folds to students and their weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lupi.transfer._hedge.answers import Numbers, Probabilities
from lupi.transfer._hedge.learners import EstimatorLearner
from lupi.transfer._hedge.plan import LABELS, fit_candidates, out_of_fold
from lupi.transfer._hedge.ridge import LARGEST, GCVRidge
from lupi.transfer._hedge.rows import Rows
from lupi.transfer._hedge.sums import SumsLearner
from lupi.transfer._hedge.weights import simplex_weights

# So many columns, or as many as labelled rows, are worked through by sums of products.
_SUMS_COLUMNS = 300


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
    """Candidates and how far each is to be trusted.

    Attributes
    ----------
    students, teachers : dict from name to fitted estimator
        By candidate and by view.
    weights : dict from candidate to float
        Sum to 1.
    scores : dict from candidate to (score, standard error)
        Of the predictions out of fold; empty without folds.
    blend : ndarray of shape (n_labelled, n_targets) or None
        Blend of the predictions out of fold; None without folds.
    """

    students: dict[str, Any]
    teachers: dict[str, Any]
    weights: dict[str, float]
    scores: dict[str, tuple[float, float]]
    blend: np.ndarray | None


def hedge(
    rows: Rows,
    answers: Numbers | Probabilities,
    pairs: Sequence[Pair],
    folds: list[np.ndarray],
    *,
    views: tuple[str, ...],
    prior_strength: float,
    factor: np.ndarray | None = None,
    weighted: bool = False,
    n_jobs: Any = None,
) -> Hedge:
    """Fit all candidates, and weigh them by predictions that are out of fold.

    Parameters
    ----------
    rows : Rows
        The training rows.
    answers : Numbers or Probabilities
        What is predicted.
    pairs : sequence of Pair
        Students with their teachers.
    folds : list of ndarray of int
        Fold of each labelled row, once per repetition; an empty list makes no
        predictions out of fold, and the weights are the prior.
    views : tuple of str
        What the teachers look at.
    prior_strength : float
        How many rows the prior is worth.
    factor : ndarray or None
        Class weights.
    weighted : bool
        Whether the caller gave weights.
    n_jobs : int or None
        Fits at a time.
    """
    students: dict[str, Any] = {}
    teachers: dict[str, Any] = {}
    predicted = []
    for pair in pairs:
        first = folds[0] if folds else np.zeros(len(rows.labelled), dtype=int)
        learner = _learner(rows, first, answers, pair, factor, weighted)
        found = []
        for repeat, fold in enumerate(folds or [first]):
            learner = learner if repeat == 0 else learner.refold(fold)
            everything = frozenset(np.unique(fold).tolist())
            keeps = [everything - {k} for k in sorted(everything)] if folds else []
            if repeat == 0:
                keeps.append(everything)
            fitted = fit_candidates(learner, views, keeps, _jobs(learner, n_jobs))
            if repeat == 0:
                final = fitted.pop()
                for name, student in final.students.items():
                    students[pair.key(name)] = learner.export_student(student)
                for view, teacher in final.teachers.items():
                    teachers[pair.key(view)] = learner.export_teacher(teacher)
            if folds:
                found.append(out_of_fold(learner, fitted, fold, answers.n_targets))
        if folds:
            predicted.append(np.mean(found, axis=0))
    prior = _prior(pairs, views)
    if not folds:
        return Hedge(students, teachers, prior, {}, None)

    candidates = np.concatenate(predicted)
    errors = candidates - rows.target
    cost = rows.labelled_weight
    if factor is not None and isinstance(answers, Probabilities):
        cost = cost * (answers.full(rows.target) @ factor)
    products = np.einsum("ant,bnt,n->ab", errors, errors, cost, optimize=True)
    start = np.array(list(prior.values()))
    weights = simplex_weights(products, cost.sum(), start, prior_strength)
    scores = _scores(errors, rows.target, cost)
    return Hedge(
        students,
        teachers,
        dict(zip(prior, weights.tolist(), strict=True)),
        dict(zip(prior, scores, strict=True)),
        np.einsum("a,ant->nt", weights, candidates),
    )


def _prior(pairs: Sequence[Pair], views: tuple[str, ...]) -> dict[str, float]:
    """Return one half for labels, the other half evenly over the views."""
    prior = {}
    for pair in pairs:
        prior[pair.key(LABELS)] = (0.5 if views else 1.0) / len(pairs)
        for view in views:
            prior[pair.key(view)] = 0.5 / len(views) / len(pairs)
    return prior


def _learner(
    rows: Rows,
    fold: np.ndarray,
    answers: Numbers | Probabilities,
    pair: Pair,
    factor: np.ndarray | None,
    weighted: bool,
) -> SumsLearner | EstimatorLearner:
    known = rows.privileged
    n_columns = rows.X.shape[1] + (0 if known is None else known.values.shape[1])
    few = n_columns <= max(_SUMS_COLUMNS, min(len(rows.labelled), LARGEST))
    # Class weights of rows without y follow their opinions, which sums do not know.
    if pair.teacher is None and pair.student is None and factor is None and few:
        return SumsLearner(rows, fold)
    return EstimatorLearner(
        rows,
        fold,
        answers,
        GCVRidge() if pair.teacher is None else pair.teacher,
        GCVRidge() if pair.student is None else pair.student,
        factor,
        weighted,
    )


def _jobs(learner: SumsLearner | EstimatorLearner, n_jobs: Any) -> Any:
    # A fit from sums takes less time than telling another process of it.
    return 1 if isinstance(learner, SumsLearner) else n_jobs


def _scores(
    errors: np.ndarray, target: np.ndarray, weight: np.ndarray
) -> list[tuple[float, float]]:
    """Return 1 − MSE / variance of each candidate, and its standard error."""
    total = weight.sum()
    variance = weight @ np.sum((target - weight @ target / total) ** 2, axis=1) / total
    if not variance > 0:
        return [(0.0, 0.0)] * len(errors)
    scores = []
    for error in np.sum(errors**2, axis=2):
        mean = weight @ error / total
        spread = np.sqrt(weight @ (error - mean) ** 2) / total
        scores.append((float(1 - mean / variance), float(spread / variance)))
    return scores
