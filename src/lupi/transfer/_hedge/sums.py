"""The plan for ridge regression, from sums of products alone.

Write A = [1, X, X*, y]. A linear model is a vector b in these coordinates: its values
are Ab, and so is any target, y (b picks the last columns) or a teacher's opinions.
Ridge regression on a set of rows needs A'WA of these rows and the b of the target on
each of them: X'Wt = X'WA b and t'Wt = b'A'WA b. So one matrix A'WA per fold, and one
for the rows without y, are all that is ever computed from the rows; nothing is stored
per row.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from lupi.base._rows import is_data_frame
from lupi.transfer._hedge.filling import Filling, blocks
from lupi.transfer._hedge.plan import UNLABELLED, Kept, Lesson
from lupi.transfer._hedge.ridge import GCVRidge, ridge_from_sums, weighted_gram
from lupi.transfer._hedge.rows import Rows


@dataclass(frozen=True)
class Vector:
    """A linear model in the coordinates [1, X, X*, y], its view and its penalty."""

    coef: np.ndarray
    view: str
    alpha: float


def _in_numbers(rows: Rows) -> Rows:
    """Read data frames, which students beside the ridge may want, as numbers."""
    known = rows.privileged
    if is_data_frame(rows.X):
        rows = replace(rows, X=np.asarray(rows.X, dtype=float))
    if known is not None and is_data_frame(known.values):
        numbers = replace(known, values=np.asarray(known.values, dtype=float))
        rows = replace(rows, privileged=numbers)
    return rows


class SumsLearner:
    """Ridge regression by GCV in both roles.

    Parameters
    ----------
    rows : Rows
        The training rows, read as numbers.
    fold : ndarray of int
        Fold of each labelled row.
    """

    def __init__(self, rows: Rows, fold: np.ndarray) -> None:
        self.rows = rows = _in_numbers(rows)
        n_targets = rows.target.shape[1]
        self.fill_X = Filling.of(rows.X, rows.weight)
        n_decision, n_privileged = self.fill_X.width, 0
        if rows.privileged is not None:
            known = rows.privileged
            self.fill_P = Filling.of(known.values, rows.weight[known.rows])
            n_privileged = self.fill_P.width
        decision = 1 + np.arange(n_decision)
        privileged = 1 + n_decision + np.arange(n_privileged)
        self.columns = {
            "decision": np.concatenate([[0], decision]),
            "privileged": np.concatenate([[0], privileged]),
            "both": np.concatenate([[0], decision, privileged]),
        }
        self.answers = np.zeros((1 + n_decision + n_privileged + n_targets, n_targets))
        self.answers[-n_targets:] = np.eye(n_targets)
        self._unlabelled = self._products(None)
        self._set_folds(fold)

    def refold(self, fold: np.ndarray) -> SumsLearner:
        """Return the same learner on other folds."""
        other = copy(self)
        other._set_folds(fold)
        return other

    def _set_folds(self, fold: np.ndarray) -> None:
        self.fold = fold
        self._taught, self._plain = {UNLABELLED: self._unlabelled}, {}
        taught = self.rows.taught
        for k in np.unique(fold).tolist():
            self._taught[k] = self._products(np.flatnonzero((fold == k) & taught))
            self._plain[k] = self._products(np.flatnonzero((fold == k) & ~taught))

    def _products(self, labelled: np.ndarray | None) -> np.ndarray:
        """Return A'WA of some labelled rows, or (None) of all rows without y."""
        rows = self.rows
        index = rows.unlabelled if labelled is None else rows.labelled[labelled]
        total = np.zeros((len(self.answers), len(self.answers)))
        for part in blocks(len(index)):
            chosen = index[part]
            pieces = [self._decision(chosen)]
            place = rows.place[chosen]
            if len(chosen) and place[0] >= 0:  # a row has X* if its part has it
                pieces.append(self._privileged(place))
            elif rows.privileged is not None:
                pieces.append(np.zeros((len(chosen), self.fill_P.width)))
            shape = (len(chosen), rows.target.shape[1])
            pieces.append(
                np.zeros(shape) if labelled is None else rows.target[labelled[part]]
            )
            total += weighted_gram(_beside(pieces), rows.weight[chosen])
        return total

    def _decision(self, index: np.ndarray) -> Any:
        return self.fill_X.with_ones(self.fill_X.apply(self.rows.X[index]))

    def _privileged(self, place: np.ndarray) -> Any:
        filled = self.fill_P.apply(self.rows.known(place))
        return filled if sp.issparse(filled) else filled - self.fill_P.shift

    def _fit(self, parts: list[tuple[np.ndarray, np.ndarray]], view: str) -> Vector:
        """Fit on rows given by their A'WA, each with the vector of its target."""
        columns = self.columns[view]
        gram = np.zeros((len(self.answers), len(self.answers)))
        coef, cross = np.zeros_like(self.answers), np.zeros_like(self.answers)
        square = np.zeros(cross.shape[1])
        for products, target in parts:
            values = products @ target
            gram += products
            cross += values
            square += np.sum(target * values, axis=0)
        coef[columns], alpha = ridge_from_sums(
            gram[np.ix_(columns, columns)], cross[columns], square
        )
        return Vector(coef, view, alpha)

    def teach(self, view: str, kept: Kept) -> Vector:
        """Return a teacher of the view."""
        parts = [(self._taught[fold], self.answers) for fold in sorted(kept)]
        return self._fit(parts, view)

    def study(self, lessons: list[Lesson]) -> Vector:
        """Return a student of X."""
        parts = []
        for lesson in lessons:
            if lesson.teacher is None:
                parts.append((self._plain[lesson.fold], self.answers))
                parts.append((self._taught[lesson.fold], self.answers))
            else:
                parts.append((self._taught[lesson.fold], lesson.teacher.coef))
        return self._fit(parts, "decision")

    def predict(self, student: Vector, fold: int) -> np.ndarray:
        """Return predictions for the labelled rows of a fold."""
        index = self.rows.labelled[self.fold == fold]
        coef = student.coef[self.columns["decision"]]
        parts = [self._decision(index[part]) @ coef for part in blocks(len(index))]
        return np.concatenate(parts) if parts else np.empty((0, coef.shape[1]))

    def export_student(self, vector: Vector) -> GCVRidge:
        """Return a model as an estimator that looks at its view."""
        tables = [] if vector.view == "privileged" else [("decision", self.fill_X)]
        if vector.view != "decision":
            tables.append(("privileged", self.fill_P))
        intercept, parts = vector.coef[0], []
        for name, filling in tables:
            coef = vector.coef[self.columns[name][1:]]
            intercept = intercept - filling.shift @ coef
            parts.append(filling.split(coef))
        slopes, missing = (np.vstack(part) for part in zip(*parts, strict=True))
        flat = len(intercept) == 1
        return GCVRidge().set_fitted(
            intercept, slopes, missing, vector.alpha, flat=flat
        )

    export_teacher = export_student


def _beside(pieces: list[Any]) -> Any:
    if any(sp.issparse(piece) for piece in pieces):
        return sp.hstack([sp.csr_array(piece) for piece in pieces], format="csr")
    return np.hstack(pieces)
