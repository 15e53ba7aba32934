"""Teachers and students that are ridge regressions, fitted from sums of products.

Let A = [X, X*, y]. A linear model is a vector b in these coordinates: its values are
Ab, plus a constant. Every target is of this form too: y (b selects the last columns),
or the predictions of a teacher. Ridge regression on a set of rows needs the moments of
A on these rows and the b of the target, as the products of X and t are those of X and
A, times b. Hence one matrix of moments per fold, and one for the rows without y, are
computed from the rows, and nothing is stored per row. Where the rows are in parts, the
moments of the parts are added.

Imputed values and scales of the models of y are those of the labelled rows: rows
without y change none of them. The students of the teachers see rows without y within
limits that a single row cannot move.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from lupi._parts import Parts
from lupi.base._rows import is_data_frame
from lupi.transfer._hedge.filling import (
    ColumnSums,
    Filling,
    Limits,
    Table,
    blocks,
    column_sums,
)
from lupi.transfer._hedge.plan import UNLABELLED, Candidates, Kept, TrainingSet
from lupi.transfer._hedge.ridge import GCVRidge, Moments, ridge_from_moments
from lupi.transfer._hedge.rows import Rows

# A column that hardly varies on the training rows of a model but elsewhere does (a rare
# category), would be extrapolated by many standard deviations. It is scaled by at least
# this part of its standard deviation: on all labelled rows for `labels`, on all rows
# for teachers and their students.
_LEAST_SCALE = 0.1


@dataclass(frozen=True)
class LinearModel:
    """Values level + (a − center)'coef of a = [x, x*, y], the view and the penalty."""

    center: np.ndarray
    level: np.ndarray
    coef: np.ndarray
    view: str
    alpha: float

    def moments(self, rows: Moments, columns: np.ndarray) -> Moments:
        """Return the moments of some columns, followed by the values of the model."""
        products = rows.products @ self.coef
        cross = products[columns]
        inner = rows.products[np.ix_(columns, columns)]
        level = self.level + (rows.mean - self.center) @ self.coef
        return Moments(
            rows.weight,
            rows.squared,
            np.concatenate([rows.mean[columns], level]),
            np.block([[inner, cross], [cross.T, self.coef.T @ products]]),
        )


def in_numbers(rows: Rows) -> Rows:
    """Convert data frames, which are kept for other students, to arrays."""
    known = rows.privileged
    if is_data_frame(rows.X):
        rows = replace(rows, X=np.asarray(rows.X, dtype=float))
    if known is not None and is_data_frame(known.values):
        numbers = replace(known, values=np.asarray(known.values, dtype=float))
        rows = replace(rows, privileged=numbers)
    return rows


@dataclass(frozen=True)
class Columns:
    """Imputation of a table, and its limits in rows without y."""

    filling: Filling
    limits: Limits

    @classmethod
    def of(cls, rows: Parts, table_of: Any) -> Columns:
        """Compute both in two passes over the rows."""
        sums: ColumnSums = rows.sum(column_sums, table_of)
        return cls(Filling.of(sums), Limits.of(rows, table_of, sums))


@dataclass(frozen=True)
class Layout:
    """Conversion of rows to rows of A; `privileged` is None without X*."""

    decision: Columns
    privileged: Columns | None
    n_targets: int

    @classmethod
    def of(cls, rows: Parts, n_targets: int, n_privileged: int) -> Layout:
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

    def moments(self, rows: Rows, labelled: np.ndarray | None) -> Moments:
        """Return the moments of some labelled rows, or (None) of all without y."""
        index = rows.unlabelled if labelled is None else rows.labelled[labelled]
        total = Moments.none(sum(self.widths))
        for part in blocks(len(index)):
            chosen = index[part]
            place, weight = rows.place[chosen], rows.weight[chosen]
            tables: list[Any] = []
            for columns, values in (
                (self.decision, rows.X[chosen]),
                # Either all rows of a call have X* or none.
                (self.privileged, rows.known(place) if place[0] >= 0 else None),
            ):
                if columns is None:
                    continue
                if values is None:
                    tables.append(np.zeros((len(chosen), columns.filling.width)))
                    continue
                if labelled is None:
                    values = columns.limits.apply(values)
                tables.append(columns.filling.apply(values))
            shape = (len(chosen), self.n_targets)
            tables.append(
                np.zeros(shape) if labelled is None else rows.target[labelled[part]]
            )
            total += Moments.of(_joined(tables), weight)
        return total

    def limited(self, rows: Rows) -> Rows:
        """Return rows whose cells are within the limits, as labelled rows' all are."""
        known = rows.privileged
        if known is not None and self.privileged is not None:
            values = self.privileged.limits.apply(known.values)
            known = replace(known, values=values)
        return replace(rows, X=self.decision.limits.apply(rows.X), privileged=known)


def _joined(tables: list[Any]) -> list[Any]:
    """Join the tables if all are dense."""
    is_dense = all(isinstance(table, np.ndarray) for table in tables)
    return [np.hstack(tables)] if is_dense else tables


def _decision_table(rows: Rows) -> Table:
    labelled = np.zeros(rows.n_rows, dtype=bool)
    labelled[rows.labelled] = True
    return Table(rows.X, rows.weight, labelled)


def _privileged_table(rows: Rows, width: int) -> Table:
    if rows.privileged is None:
        return Table(np.empty((0, width)), np.empty(0), np.empty(0, dtype=bool))
    at = rows.privileged.rows
    return Table(rows.privileged.values, rows.weight[at], np.isin(at, rows.labelled))


def _unlabelled_moments(rows: Rows, layout: Layout) -> Moments:
    return layout.moments(rows, None)


def _fold_moments(
    rows: Rows, fold: np.ndarray, layout: Layout, n_folds: int
) -> tuple[tuple[Moments, ...], tuple[Moments, ...]]:
    """Return the moments of every fold: of its rows with X*, and of the others."""
    taught, plain = (
        tuple(
            layout.moments(rows, np.flatnonzero((fold == k) & chosen))
            for k in range(n_folds)
        )
        for chosen in (rows.taught, ~rows.taught)
    )
    return taught, plain


def _out_of_fold(
    rows: Rows,
    fold: np.ndarray,
    filling: Filling,
    held_out: list[list[tuple[np.ndarray, np.ndarray, np.ndarray]]],
) -> np.ndarray:
    """Return predictions of the labelled rows by the candidates that left them out."""
    n_targets = rows.target.shape[1]
    found = np.empty((len(held_out[0]), len(fold), n_targets))
    for k, models in enumerate(held_out):
        chosen = np.flatnonzero(fold == k)
        for part in blocks(len(chosen)):
            at = chosen[part]
            X = filling.apply(rows.X[rows.labelled[at]])
            for place, (center, level, coef) in enumerate(models):
                if isinstance(X, np.ndarray):
                    found[place, at] = level + (X - center) @ coef
                else:
                    found[place, at] = np.asarray(X @ coef) + (level - center @ coef)
    return found


class SumsLearner:
    """Fit ridge regression by GCV as teacher and student, from sums of products.

    Parameters
    ----------
    rows : Parts of Rows
        The training rows.
    fold : Parts of ndarray of int
        Fold of each labelled row.
    n_folds : int
        Number of folds.
    n_targets, n_privileged : int
        Numbers of columns of y and of X*.
    """

    def __init__(
        self, rows: Parts, fold: Parts, n_folds: int, n_targets: int, n_privileged: int
    ) -> None:
        self.rows, self.n_folds = rows.map(in_numbers), n_folds
        self.layout = Layout.of(self.rows, n_targets, n_privileged)
        ends = np.cumsum(self.layout.widths)
        decision, privileged, target = np.split(np.arange(ends[-1]), ends[:-1])
        self.columns = {
            "decision": decision,
            "privileged": privileged,
            "both": np.concatenate([decision, privileged]),
        }
        coef = np.zeros((ends[-1], n_targets))
        coef[target] = np.eye(n_targets)
        zeros = np.zeros(ends[-1])
        self.known = LinearModel(zeros, zeros[:n_targets], coef, "y", 0.0)
        self._unlabelled = self.rows.sum(_unlabelled_moments, self.layout)
        self._set_folds(fold)

    def refold(self, fold: Parts) -> SumsLearner:
        """Return the same learner on other folds."""
        other = copy(self)
        other._set_folds(fold)
        return other

    def _set_folds(self, fold: Parts) -> None:
        self.fold = fold
        taught, plain = self.rows.sum(_fold_moments, fold, self.layout, self.n_folds)
        self._taught = {UNLABELLED: self._unlabelled, **dict(enumerate(taught))}
        self._plain = dict(enumerate(plain))
        none = Moments.none(len(self.known.coef))
        with_x_star = sum(taught, none)
        self._least_of_labels = _least(sum(plain, with_x_star))
        self._least = _least(with_x_star + self._unlabelled)

    def _fit(
        self,
        parts: list[tuple[Moments, LinearModel]],
        view: str,
        least: np.ndarray,
    ) -> LinearModel:
        """Fit on sets of rows, each given by its moments and its target."""
        columns, (size, n_targets) = self.columns[view], self.known.coef.shape
        total = Moments.none(len(columns) + n_targets)
        for rows, target in parts:
            total += target.moments(rows, columns)
        fit = ridge_from_moments(total, n_targets, least[columns])
        center, coef = np.zeros(size), np.zeros((size, n_targets))
        center[columns], coef[columns] = fit.center, fit.coef
        return LinearModel(center, fit.level, coef, view, fit.alpha)

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
        models = [
            [
                (s.center[columns], s.level, s.coef[columns])
                for s in one.students.values()
            ]
            for one in held_out
        ]
        filling = self.layout.decision.filling
        return self.rows.map(_out_of_fold, self.fold, filling, models)

    def spread(self, students: list[LinearModel], level: np.ndarray) -> np.ndarray:
        """Return mean squares of predictions of rows without y, less a level."""
        found = np.zeros(len(students))
        for place, student in enumerate(students):
            values = student.moments(self._unlabelled, self.columns["decision"][:0])
            if values.weight > 0:
                found[place] = np.trace(values.products) / values.weight
                found[place] += np.sum((values.mean - level) ** 2)
        return found

    def export_student(self, model: LinearModel) -> GCVRidge:
        """Return a model as an estimator of the features of its view."""
        tables = []
        if model.view != "privileged":
            tables.append(("decision", self.layout.decision))
        if model.view != "decision" and self.layout.privileged is not None:
            tables.append(("privileged", self.layout.privileged))
        parts = [
            table.filling.split(model.coef[self.columns[name]])
            for name, table in tables
        ]
        slopes, missing = (np.vstack(part) for part in zip(*parts, strict=True))
        intercept = model.level - model.center @ model.coef
        flat = len(intercept) == 1
        return GCVRidge().set_fitted(intercept, slopes, missing, model.alpha, flat=flat)

    export_teacher = export_student


def _least(rows: Moments) -> np.ndarray:
    """Return the smallest scales of the columns of models of these rows."""
    variance = np.maximum(np.diag(rows.products), 0.0) / (rows.weight or 1.0)
    return _LEAST_SCALE * np.sqrt(variance)
