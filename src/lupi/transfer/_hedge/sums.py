"""Teachers and students that are ridge regressions, fitted from sums of products.

Let A = [1, X, X*, y]. A linear model is a vector b in these coordinates: its values are
Ab. Every target is of this form too: y (b selects the last columns), or the predictions
of a teacher. Ridge regression on a set of rows needs A'WA of these rows and the b of
the target: X'Wt = X'WA b and t'Wt = b'A'WA b. Hence one matrix A'WA per fold, and one
for the rows without y, are computed from the rows, and nothing is stored per row. Where
the rows are in parts, the sums of the parts are added.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from lupi._parts import Parts
from lupi.base._rows import is_data_frame
from lupi.transfer._hedge.filling import Filling, blocks
from lupi.transfer._hedge.plan import UNLABELLED, Candidates, Kept, TrainingSet
from lupi.transfer._hedge.ridge import GCVRidge, ridge_from_sums, weighted_gram
from lupi.transfer._hedge.rows import Rows

# A column that hardly varies on the training rows of a model but elsewhere does (a rare
# category among rows without y), would be extrapolated by many standard deviations. It
# is scaled by at least this part of its standard deviation on all rows.
_LEAST_SCALE = 0.1


@dataclass(frozen=True)
class LinearModel:
    """A linear model in the coordinates [1, X, X*, y], its view and its penalty."""

    coef: np.ndarray
    view: str
    alpha: float


def _in_numbers(rows: Rows) -> Rows:
    """Convert data frames, which are kept for other students, to arrays."""
    known = rows.privileged
    if is_data_frame(rows.X):
        rows = replace(rows, X=np.asarray(rows.X, dtype=float))
    if known is not None and is_data_frame(known.values):
        numbers = replace(known, values=np.asarray(known.values, dtype=float))
        rows = replace(rows, privileged=numbers)
    return rows


@dataclass(frozen=True)
class Layout:
    """Conversion of rows to rows of A.

    Attributes
    ----------
    fill_X, fill_P : Filling, Filling or None
        Imputation of X and of X*; None without X*.
    n_targets : int
        Number of columns of y.
    device : str
        Where products are computed.
    """

    fill_X: Filling
    fill_P: Filling | None
    n_targets: int
    device: str = "cpu"

    @classmethod
    def of(
        cls, rows: Parts, n_targets: int, n_privileged: int, device: str = "cpu"
    ) -> Layout:
        """Compute the means and medians of the rows."""
        fill_P = None
        if n_privileged:
            fill_P = Filling.of(rows, partial(_privileged_table, width=n_privileged))
        return cls(Filling.of(rows, _decision_table), fill_P, n_targets, device)

    @property
    def widths(self) -> tuple[int, int, int, int]:
        """Numbers of columns of 1, X, X* and y."""
        n_privileged = 0 if self.fill_P is None else self.fill_P.width
        return 1, self.fill_X.width, n_privileged, self.n_targets

    def decision(self, rows: Rows, index: np.ndarray) -> Any:
        """Return [1, X] of some rows."""
        return self.fill_X.with_ones(self.fill_X.apply(rows.X[index]))

    def products(self, rows: Rows, labelled: np.ndarray | None) -> np.ndarray:
        """Return A'WA of some labelled rows, or (None) of all rows without y."""
        index = rows.unlabelled if labelled is None else rows.labelled[labelled]
        size = sum(self.widths)
        total = np.zeros((size, size))
        for part in blocks(len(index)):
            chosen = index[part]
            pieces = [self.decision(rows, chosen)]
            place = rows.place[chosen]
            if self.fill_P is not None and place[0] >= 0:
                # Either all rows of a call have X* or none.
                filled = self.fill_P.apply(rows.known(place))
                sparse = sp.issparse(filled)
                pieces.append(filled if sparse else filled - self.fill_P.shift)
            elif self.fill_P is not None:
                pieces.append(np.zeros((len(chosen), self.fill_P.width)))
            shape = (len(chosen), self.n_targets)
            pieces.append(
                np.zeros(shape) if labelled is None else rows.target[labelled[part]]
            )
            A, weight = _hstack(pieces), rows.weight[chosen]
            total += weighted_gram(A, weight, self.device)
        return total


def _decision_table(rows: Rows) -> tuple[Any, np.ndarray]:
    return rows.X, rows.weight


def _privileged_table(rows: Rows, width: int) -> tuple[Any, np.ndarray]:
    if rows.privileged is None:
        return np.empty((0, width)), np.empty(0)
    return rows.privileged.values, rows.weight[rows.privileged.rows]


def _unlabelled_products(rows: Rows, layout: Layout) -> np.ndarray:
    return layout.products(rows, None)


def _fold_products(
    rows: Rows, fold: np.ndarray, layout: Layout, n_folds: int
) -> tuple[tuple[Any, ...], ...]:
    """Return A'WA of every fold: of its rows with X*, and of the others or 0."""
    taught, plain = [], []
    for k in range(n_folds):
        taught.append(layout.products(rows, np.flatnonzero((fold == k) & rows.taught)))
        others = np.flatnonzero((fold == k) & ~rows.taught)
        plain.append(layout.products(rows, others) if len(others) else 0.0)
    return tuple(taught), tuple(plain)


def _out_of_fold(
    rows: Rows, fold: np.ndarray, layout: Layout, coef: np.ndarray
) -> np.ndarray:
    """Return predictions of the labelled rows by the candidates that left them out."""
    n_candidates = coef.shape[1]
    found = np.empty((n_candidates, len(fold), layout.n_targets))
    for k, held_out in enumerate(coef):
        chosen = np.flatnonzero(fold == k)
        for part in blocks(len(chosen)):
            at = chosen[part]
            A = layout.decision(rows, rows.labelled[at])
            for place, one in enumerate(held_out):
                found[place, at] = A @ one
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
    device : str, default="cpu"
        Where products are computed.
    """

    def __init__(
        self,
        rows: Parts,
        fold: Parts,
        n_folds: int,
        n_targets: int,
        n_privileged: int,
        device: str = "cpu",
    ) -> None:
        self.rows, self.n_folds = rows.map(_in_numbers), n_folds
        self.layout = Layout.of(self.rows, n_targets, n_privileged, device)
        ends = np.cumsum(self.layout.widths)
        one, decision, privileged, _ = np.split(np.arange(ends[-1]), ends[:-1])
        self.columns = {
            "decision": np.concatenate([one, decision]),
            "privileged": np.concatenate([one, privileged]),
            "both": np.concatenate([one, decision, privileged]),
        }
        self.y_columns = np.zeros((ends[-1], n_targets))
        self.y_columns[-n_targets:] = np.eye(n_targets)
        self._unlabelled = self.rows.sum(_unlabelled_products, self.layout)
        self._set_folds(fold)

    def refold(self, fold: Parts) -> SumsLearner:
        """Return the same learner on other folds."""
        other = copy(self)
        other._set_folds(fold)
        return other

    def _set_folds(self, fold: Parts) -> None:
        self.fold = fold
        taught, plain = self.rows.sum(_fold_products, fold, self.layout, self.n_folds)
        self._taught = {UNLABELLED: self._unlabelled, **dict(enumerate(taught))}
        self._plain = dict(enumerate(plain))
        everything = self._unlabelled + sum(taught) + sum(plain)
        mean, n = everything[0] / everything[0, 0], everything[0, 0]
        variance = np.maximum(np.diag(everything) / n - mean**2, 0.0)
        self._least = _LEAST_SCALE * np.sqrt(variance)

    def _fit(
        self, parts: list[tuple[np.ndarray, np.ndarray]], view: str
    ) -> LinearModel:
        """Fit on sets of rows, each given by A'WA and the vector of its target."""
        columns = self.columns[view]
        gram = np.zeros((len(self.y_columns), len(self.y_columns)))
        coef, cross = np.zeros_like(self.y_columns), np.zeros_like(self.y_columns)
        square = np.zeros(cross.shape[1])
        for products, target in parts:
            if np.ndim(products) == 0:  # no rows
                continue
            values = products @ target
            gram += products
            cross += values
            square += np.sum(target * values, axis=0)
        coef[columns], alpha = ridge_from_sums(
            gram[np.ix_(columns, columns)],
            cross[columns],
            square,
            self._least[columns[1:]],
        )
        return LinearModel(coef, view, alpha)

    def fit_teacher(self, view: str, kept: Kept) -> LinearModel:
        """Return a teacher of the view."""
        parts = [(self._taught[fold], self.y_columns) for fold in sorted(kept)]
        return self._fit(parts, view)

    def fit_student(self, training_sets: list[TrainingSet]) -> LinearModel:
        """Return a student of X."""
        parts = []
        for training_set in training_sets:
            if training_set.teacher is None:
                parts.append((self._plain[training_set.fold], self.y_columns))
                parts.append((self._taught[training_set.fold], self.y_columns))
            else:
                parts.append(
                    (self._taught[training_set.fold], training_set.teacher.coef)
                )
        return self._fit(parts, "decision")

    def out_of_fold(self, held_out: list[Candidates]) -> Parts:
        """Return predictions by the candidates that left a row's fold out."""
        columns = self.columns["decision"]
        coef = np.array(
            [[s.coef[columns] for s in one.students.values()] for one in held_out]
        )
        return self.rows.map(_out_of_fold, self.fold, self.layout, coef)

    def export_student(self, vector: LinearModel) -> GCVRidge:
        """Return a model as an estimator of the features of its view."""
        tables: list[tuple[str, Any]] = []
        if vector.view != "privileged":
            tables.append(("decision", self.layout.fill_X))
        if vector.view != "decision":
            tables.append(("privileged", self.layout.fill_P))
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


def _hstack(pieces: list[Any]) -> Any:
    if any(sp.issparse(piece) for piece in pieces):
        return sp.hstack([sp.csr_array(piece) for piece in pieces], format="csr")
    return np.hstack(pieces)
