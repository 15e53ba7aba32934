"""The candidates of hedged distillation: folds, teachers and students.

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
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from operator import itemgetter
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline

from lupi._parts import GOLDEN, LocalParts, Parts, mixed_bits
from lupi.base import Privileged, Training
from lupi.base._metadata import fit_with, last_step
from lupi.base._rows import is_data_frame, side_by_side, take_rows
from lupi.transfer._distillation import check_copies
from lupi.transfer._fitting import accepted_classes, fit_weighted_copies, for_outputs
from lupi.transfer._folds import fold_keys, in_turn, row_digests, units_of
from lupi.transfer._ridge import (
    LARGEST,
    Columns,
    GCVRidge,
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
# Regressors, and their objectives, that are classifiers with labels in [0, 1].
_SOFT_OBJECTIVES = {
    ("xgboost", "XGBClassifier"): ("XGBRegressor", "binary:logistic"),
    ("lightgbm", "LGBMClassifier"): ("LGBMRegressor", "cross_entropy"),
}


# -- outputs -----------------------------------------------------------------------


class Output:
    """A continuous target."""

    def __init__(self, n_targets: int = 1) -> None:
        self.n_targets = n_targets

    def target(self, y: np.ndarray) -> np.ndarray:
        """Return y as a column."""
        return y[:, None]

    def codes(self, target: np.ndarray) -> np.ndarray:
        """Return zeros, because there are no classes to stratify by."""
        return np.zeros(len(target), dtype=int)

    def fit(self, model: Any, table: Any, target: np.ndarray, weight: Any) -> Any:
        """Fit to known values or to a teacher's predictions, which are numbers too."""
        target = target[:, 0] if self.n_targets == 1 else target
        model = for_outputs(model, target)
        return fit_with(model, table, target, sample_weight=weight)

    fit_soft = fit

    def values(self, model: Any, table: Any) -> np.ndarray:
        """Return predictions."""
        return np.asarray(model.predict(table), float).reshape(-1, self.n_targets)

    def check(self, model: Any, role: str) -> None:
        """Raise an error for an estimator that cannot predict numbers."""
        if not is_regressor(model):
            raise ValueError(
                f"The {role} {model!r} is not a regressor, but the target is a number. "
                "Give a regressor."
            )


class ClassOutput(Output):
    """Classes; regressors are fitted to indicators, classifiers to labels."""

    def __init__(self, classes: np.ndarray) -> None:
        super().__init__(1 if len(classes) == 2 else len(classes))
        self.classes = classes

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
            return super().fit(model, table, target, weight)
        codes = self.codes(target)
        if np.all(codes == codes[0]):
            # Most classifiers cannot be fitted to a single class.
            return DummyClassifier().fit(table, self.classes[codes])
        labels = accepted_classes(model, self.classes)[codes]
        return fit_with(model, table, labels, sample_weight=weight)

    def fit_soft(self, model: Any, table: Any, target: np.ndarray, weight: Any) -> Any:
        """Fit to a teacher's predictions."""
        if is_regressor(model):
            return super().fit(model, table, target, weight)
        if self.n_targets == 1 and (soft := with_soft_objective(model)) is not None:
            soft_target = self.shares(target)[:, 1]
            return fit_with(soft, table, soft_target, sample_weight=weight)
        share = self.shares(target)
        if weight is not None:
            share = share * weight[:, None]
        return fit_weighted_copies(model, table, self.classes, share)

    def values(self, model: Any, table: Any) -> np.ndarray:
        """Return probabilities; 0 for a class without training rows of the model."""
        if is_regressor(model):
            return super().values(model, table)
        known = np.asarray(model.predict_proba(table), dtype=float)
        shares = np.zeros((len(known), len(self.classes)))
        classes = accepted_classes(model, self.classes)
        shares[:, np.searchsorted(classes, model.classes_)] = known
        return shares[:, 1:] if self.n_targets == 1 else shares

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
    if (package, type(last).__name__) not in _SOFT_OBJECTIVES:
        return None
    regressor, objective = _SOFT_OBJECTIVES[package, type(last).__name__]
    parameters = last.get_params(deep=False) | {"objective": objective}
    if parameters.get("class_weight") is not None:
        return None
    soft = getattr(import_module(package), regressor)(**parameters)
    if isinstance(classifier, Pipeline):
        return Pipeline([*classifier.steps[:-1], (classifier.steps[-1][0], soft)])
    return soft


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
    def of(cls, training: Training, output: Output, factor: float) -> HedgedRows:
        """Return the rows of a `Training` with y, X* or both, and weights × factor."""
        labelled = training.labelled
        target = output.target(training.y[labelled])
        weight = factor * training.weight
        return cls(training.X, training.privileged, labelled, target, weight)

    def known(self, index: np.ndarray) -> Any:
        """Return X* of rows that have it."""
        assert self.privileged is not None
        position = np.searchsorted(self.privileged.rows, index)
        return take_rows(self.privileged.values, position)

    @property
    def labelled_weight(self) -> np.ndarray:
        """Weights of the labelled rows."""
        return self.weight[self.labelled]

    @cached_property
    def taught(self) -> np.ndarray:
        """Mask of the labelled rows that have X*."""
        if self.privileged is None:
            return np.zeros(len(self.labelled), dtype=bool)
        return self.privileged.available[self.labelled]

    @cached_property
    def is_labelled(self) -> np.ndarray:
        """Mask of the rows that have y."""
        return np.isin(np.arange(len(self.weight)), self.labelled, assume_unique=True)

    @property
    def unlabelled(self) -> np.ndarray:
        """Positions of the rows without y; all of them have X*."""
        return np.flatnonzero(~self.is_labelled)

    def in_numbers(self) -> HedgedRows:
        """Convert data frames, which are kept for other students, to arrays."""
        known, X = self.privileged, self.X
        if is_data_frame(X):
            X = np.asarray(X, dtype=float)
        if known is not None and is_data_frame(known.values):
            known = replace(known, values=np.asarray(known.values, dtype=float))
        return replace(self, X=X, privileged=known)


# -- folds -------------------------------------------------------------------------


@dataclass(frozen=True)
class Units:
    """Distinct labelled rows, or groups, which must not be split between folds.

    Rows that differ in y alone are one unit (see :mod:`lupi.transfer._folds`). Up to
    10 000 units are assigned in turn, evenly to the folds within each stratum. With
    more units, the fold is a function of the key: the folds are then even without
    stratification, and no sorting is needed. `keys` are hashes or groups of the
    labelled rows, `distinct` each of them once, or None, and `weight` their weights by
    stratum: twice the class, plus 1 for rows with X*.
    `n_taught` is the number of units that have a row with X*, at most 3.
    """

    keys: Parts
    distinct: np.ndarray | None
    weight: np.ndarray | None
    n_taught: int

    @classmethod
    def of(
        cls, rows: Parts, strata: Parts, n_strata: int, groups: Parts | None
    ) -> Units:
        """Find the units of the rows, given strata and groups of the labelled rows."""
        pairs = rows.map(_content_keys) if groups is None else groups.map(_twice)
        keys, turns = pairs.map(itemgetter(0)), pairs.map(itemgetter(1))
        summaries = keys.gather(_summary, turns, rows, strata, n_strata)
        each, turn, weight, taught = map(np.concatenate, zip(*summaries, strict=True))
        n_taught, most = len(np.unique(taught)), max(len(part[0]) for part in summaries)
        first, place = units_of(each, turn)
        if max(most, len(first)) <= _FEW:
            total = np.zeros((len(first), n_strata))
            np.add.at(total, place, weight)
            return cls(keys, each[first], total, n_taught)
        keys = keys if groups is None else groups.map(_hashed)
        return cls(keys, None, None, n_taught)

    def most_folds(self, n_folds: int) -> int:
        """Return the number of folds, at most `n_folds`, that have all classes."""
        if self.weight is None:
            return n_folds
        counts = np.sum(self.weight[:, ::2] + self.weight[:, 1::2] > 0, axis=0)
        return min(n_folds, int(counts[counts > 0].min()))

    def assign(self, n_folds: int, random_state: Any) -> Parts:
        """Return the fold of each labelled row; None is the order of the keys."""
        if self.distinct is None or self.weight is None:
            salt = 0 if random_state is None else random_state.randint(1, 2**31)
            return self.keys.map(_fold_of_key, n_folds, salt)
        # A unit belongs to its heaviest stratum.
        fold = in_turn(self.weight.argmax(axis=1), n_folds, random_state)
        order = np.argsort(self.distinct)
        distinct, fold = self.distinct[order], fold[order]
        return self.keys.map(lambda keys: fold[np.searchsorted(distinct, keys)])


def _twice(groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return groups, groups


def _content_keys(rows: HedgedRows) -> tuple[np.ndarray, np.ndarray]:
    """Return the keys of the labelled rows, and their turns."""
    X = take_rows(rows.X, rows.labelled)
    digests = np.array([row_digests(X), row_digests(X, rows.target)])
    if rows.taught.any():
        known = row_digests(rows.known(rows.labelled[rows.taught]))
        digests[:, rows.taught] = mixed_bits(digests[:, rows.taught]) + known
    return fold_keys(*digests)


def _summary(
    keys: np.ndarray,
    turns: np.ndarray,
    rows: HedgedRows,
    strata: np.ndarray,
    n_strata: int,
) -> tuple[np.ndarray, ...]:
    """Return distinct keys, their turns and weights by stratum, and three with X*.

    Of too many keys one more than `_FEW` are returned.
    """
    first, place = units_of(keys, turns)
    weight = np.zeros((len(first), n_strata))
    np.add.at(weight, (place, strata), rows.labelled_weight)
    taught = np.unique(keys[strata % 2 == 1])[:3]
    first, weight = first[: _FEW + 1], weight[: _FEW + 1]
    return keys[first], turns[first], weight, taught


def _hashed(groups: np.ndarray) -> np.ndarray:
    """Return 64 bits of each group."""
    values, place = np.unique(groups, return_inverse=True)
    return row_digests(values)[place]


def _fold_of_key(keys: np.ndarray, n_folds: int, salt: int) -> np.ndarray:
    mixed = mixed_bits(keys + np.array([salt], dtype=np.uint64) * GOLDEN)
    return (mixed % np.uint64(n_folds)).astype(int)


# -- which teacher and student is fitted on which folds ----------------------------


def fit_candidates(
    learner: SumsLearner | EstimatorLearner,
    views: tuple[str, ...],
    keeps: list[Kept],
    parallel: Parallel,
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return students by candidate and teachers by view, for each set in `keeps`."""
    # The teacher of each fold. With two folds of which one is held out, no other fold
    # is left.
    needed = {
        kept: {fold: kept - {fold} or kept for fold in sorted(kept)}
        | {UNLABELLED: kept}
        for kept in keeps
    }
    sets = dict.fromkeys(kept for folds in needed.values() for kept in folds.values())
    keys = [(view, kept) for view in views for kept in sets]
    fitted = parallel(delayed(learner.fit_teacher)(view, kept) for view, kept in keys)
    teachers = dict(zip(keys, fitted, strict=True))
    names, calls = (LABELS, *views), []
    for kept in keeps:
        calls.append(delayed(learner.fit_student)(kept, LABELS, {}))
        for view in views:
            taught = {fold: teachers[view, one] for fold, one in needed[kept].items()}
            calls.append(delayed(learner.fit_student)(kept, view, taught))
    students = iter(parallel(calls))
    return [
        (
            {name: next(students) for name in names},
            {view: teachers[view, kept] for view in views},
        )
        for kept in keeps
    ]


# -- any estimators ----------------------------------------------------------------


@dataclass(frozen=True)
class EstimatorLearner:
    """Fit clones of a teacher and a student: `rows` for teachers, X for students."""

    rows: HedgedRows
    X: Any
    fold: np.ndarray
    output: Output
    teacher: Any
    student: Any
    factor: np.ndarray | None
    weighted: bool

    @property
    def is_ridge(self) -> bool:
        """Whether the students are the default."""
        return isinstance(self.student, GCVRidge)

    def refold(self, fold: Any) -> EstimatorLearner:
        """Return the same learner on other folds."""
        return replace(self, fold=fold.parts[0])

    def fit_teacher(self, view: str, kept: Kept) -> Any:
        """Return a teacher of the view."""
        rows = self.rows
        chosen = np.flatnonzero(rows.taught & np.isin(self.fold, list(kept)))
        target, index = rows.target[chosen], rows.labelled[chosen]
        table, weight = self._view(view, index), self._weight(index, target)
        return self.output.fit(clone(self.teacher), table, target, weight)

    def fit_student(self, kept: Kept, view: str, teachers: Mapping[int, Any]) -> Any:
        """Return a student of y, or of the teachers of each fold."""
        rows, parts = self.rows, []
        for fold, teacher in (teachers or dict.fromkeys(sorted(kept))).items():
            chosen = (self.fold == fold) & (rows.taught if teachers else True)
            index, known = rows.labelled[chosen], rows.target[chosen]
            if fold == UNLABELLED:
                index = rows.unlabelled
            target = known
            if teachers and len(index):
                target = self.output.values(teacher, self._view(view, index))
            parts.append((index, target, target if fold == UNLABELLED else known))
        index, target, classes = map(np.concatenate, zip(*parts, strict=True))
        table, weight = take_rows(self.X, index), self._weight(index, classes)
        fit = self.output.fit_soft if teachers else self.output.fit
        return fit(clone(self.student), table, target, weight)

    def out_of_fold(self, held_out: list[list[Any]]) -> LocalParts:
        """Return predictions by the students that left a row's fold out."""
        predicted = np.empty((len(held_out[0]), *self.rows.target.shape))
        for k, students in enumerate(held_out):
            table = take_rows(self.X, self.rows.labelled[self.fold == k])
            for place, student in enumerate(students):
                predicted[place, self.fold == k] = self.output.values(student, table)
        return LocalParts([predicted])

    def spread(self, students: list[Any], level: np.ndarray) -> np.ndarray:
        """Return mean squares of a ridge's predictions of rows without y."""
        index, means = self.rows.unlabelled, np.zeros(len(students))
        if self.is_ridge and len(index):
            table = take_rows(self.X, index)
            for place, student in enumerate(students):
                apart = self.output.values(student, table) - level
                squares = np.sum(apart**2, axis=1)
                means[place] = np.average(squares, weights=self.rows.weight[index])
        return means

    def export(self, model: Any, view: str = "decision") -> Any:
        """Return a teacher or a student as an estimator."""
        return model

    def _view(self, view: str, index: np.ndarray) -> Any:
        known = self.rows.known(index)
        if view == "privileged":
            return known
        return side_by_side(take_rows(self.rows.X, index), known)

    def _weight(self, index: np.ndarray, classes: np.ndarray) -> np.ndarray | None:
        """Return the weights of rows with these (soft) labels; None if all are 1."""
        if self.factor is None:
            return self.rows.weight[index] if self.weighted else None
        assert isinstance(self.output, ClassOutput)
        return self.rows.weight[index] * (self.output.shares(classes) @ self.factor)


# -- ridge from sums ---------------------------------------------------------------


def _columns_of(rows: Parts, n_privileged: int) -> tuple[Columns, Columns]:
    """Return imputation and limits of X and of X*, which has no columns if absent."""
    tables = rows.map(lambda part: (part.X, part.weight, part.is_labelled))
    known = rows.map(_privileged_table, n_privileged)
    return Columns.with_limits(tables), Columns.with_limits(known)


def _privileged_table(rows: HedgedRows, width: int) -> Table:
    if rows.privileged is None:
        return np.empty((0, width)), np.empty(0), np.empty(0, dtype=bool)
    at = rows.privileged.rows
    return rows.privileged.values, rows.weight[at], rows.is_labelled[at]


def _moments(
    rows: HedgedRows, columns: tuple[Columns, Columns], labelled: Any = None
) -> Moments:
    """Return the moments of some labelled rows, or (None) of all without y.

    Either all of the rows have X* or none.
    """
    index = rows.unlabelled if labelled is None else rows.labelled[labelled]
    has_x_star = labelled is None or bool(rows.taught[labelled].any())
    n_known, n_targets = columns[1].width, rows.target.shape[1]
    total = Moments.none(columns[0].width + n_known + n_targets)
    for part in blocks(len(index)):
        chosen = index[part]
        tables = [rows.X[chosen]] + ([rows.known(chosen)] if has_x_star else [])
        if labelled is None:
            tables = [c.limited(one) for c, one in zip(columns, tables, strict=True)]
        tables = [c.filled(one) for c, one in zip(columns, tables, strict=False)]
        if not has_x_star:
            tables.append(np.zeros((len(chosen), n_known)))
        target = np.zeros((len(chosen), n_targets))
        if labelled is not None:
            target = rows.target[labelled[part]]
        total += Moments.of([*tables, target], rows.weight[chosen])
    return total


def _fold_moments(
    rows: HedgedRows, fold: np.ndarray, columns: tuple[Columns, Columns], n_folds: int
) -> tuple[tuple[Moments, ...], ...]:
    """Return the moments of every fold: of its rows with X*, and of the others."""
    return tuple(
        tuple(
            _moments(rows, columns, np.flatnonzero((fold == k) & chosen))
            for k in range(n_folds)
        )
        for chosen in (rows.taught, ~rows.taught)
    )


def _out_of_fold(
    rows: HedgedRows, fold: np.ndarray, columns: Columns, held_out: list[list[RidgeFit]]
) -> np.ndarray:
    """Return predictions of the labelled rows by the students that left them out."""
    predicted = np.empty((len(held_out[0]), *rows.target.shape))
    for k, fits in enumerate(held_out):
        chosen = np.flatnonzero(fold == k)
        for part in blocks(len(chosen)):
            at = chosen[part]
            X = columns.filled(rows.X[rows.labelled[at]])
            for place, fit in enumerate(fits):
                predicted[place, at] = fit.predict(X)
    return predicted


class SumsLearner:
    """Fit ridge regression by GCV as teacher and student, from sums of products."""

    is_ridge = True

    def __init__(
        self, rows: Parts, fold: Parts, n_folds: int, n_targets: int, n_privileged: int
    ) -> None:
        self.rows, self.n_folds = rows.map(HedgedRows.in_numbers), n_folds
        self.tables = _columns_of(self.rows, n_privileged)
        ends = np.cumsum([*(table.width for table in self.tables), n_targets])
        decision, privileged, target = np.split(np.arange(ends[-1]), ends[:-1])
        self.columns = {
            "decision": decision,
            "privileged": privileged,
            "both": np.concatenate([decision, privileged]),
        }
        self.shape = (ends[-1], n_targets)
        coef = np.zeros(self.shape)
        coef[target] = np.eye(n_targets)
        self.known = RidgeFit(np.zeros(ends[-1]), np.zeros(n_targets), coef, 0.0)
        self._unlabelled = self.rows.sum(_moments, self.tables)
        self._set_folds(fold)

    def refold(self, fold: Parts) -> SumsLearner:
        """Return the same learner on other folds."""
        other = copy(self)
        other._set_folds(fold)
        return other

    def _set_folds(self, fold: Parts) -> None:
        self.fold = fold
        taught, plain = self.rows.sum(_fold_moments, fold, self.tables, self.n_folds)
        self._taught = {UNLABELLED: self._unlabelled, **dict(enumerate(taught))}
        self._plain = dict(enumerate(plain))
        with_x_star = sum(taught, Moments.none(self.shape[0]))
        self._least_of_labels = _LEAST_SCALE * sum(plain, with_x_star).deviation
        self._least = _LEAST_SCALE * (with_x_star + self._unlabelled).deviation

    def _fit(
        self, parts: list[tuple[Moments, RidgeFit]], view: str, least: np.ndarray
    ) -> RidgeFit:
        """Fit on sets of rows, each given by its moments and its target."""
        columns, n_targets = self.columns[view], self.shape[1]
        total = Moments.none(len(columns) + n_targets)
        for rows, target in parts:
            total += target.moments(rows, columns)
        fit = ridge_from_moments(total, n_targets, least[columns])
        center, coef = np.zeros(self.shape[0]), np.zeros(self.shape)
        center[columns], coef[columns] = fit.center, fit.coef
        return replace(fit, center=center, coef=coef)

    def fit_teacher(self, view: str, kept: Kept) -> RidgeFit:
        """Return a teacher of the view."""
        parts = [(self._taught[fold], self.known) for fold in sorted(kept)]
        return self._fit(parts, view, self._least)

    def fit_student(
        self, kept: Kept, view: str, teachers: Mapping[int, Any]
    ) -> RidgeFit:
        """Return a student of y, or of the teachers of each fold."""
        if teachers:
            parts = [(self._taught[fold], one) for fold, one in teachers.items()]
            return self._fit(parts, "decision", self._least)
        both, folds = (self._plain, self._taught), sorted(kept)
        parts = [(rows[fold], self.known) for fold in folds for rows in both]
        return self._fit(parts, "decision", self._least_of_labels)

    def out_of_fold(self, held_out: list[list[RidgeFit]]) -> Parts:
        """Return predictions by the students that left a row's fold out."""
        own = self.columns["decision"]
        fits = [
            [replace(fit, center=fit.center[own], coef=fit.coef[own]) for fit in one]
            for one in held_out
        ]
        return self.rows.map(_out_of_fold, self.fold, self.tables[0], fits)

    def spread(self, students: list[RidgeFit], level: np.ndarray) -> np.ndarray:
        """Return mean squares of predictions of rows without y, less a level."""
        means = np.zeros(len(students))
        for place, student in enumerate(students):
            values = student.moments(self._unlabelled, self.columns["decision"][:0])
            if values.weight > 0:
                means[place] = np.trace(values.products) / values.weight
                means[place] += np.sum((values.mean - level) ** 2)
        return means

    def export(self, model: RidgeFit, view: str = "decision") -> GCVRidge:
        """Return a model as an estimator of the features of its view."""
        pairs = zip(("decision", "privileged"), self.tables, strict=True)
        tables = [
            (table, model.coef[self.columns[name]])
            for name, table in pairs
            if view in (name, "both")
        ]
        return GCVRidge().set_fitted(model, tables, flat=self.shape[1] == 1)


def learner_of(
    teacher: Any,
    student: Any,
    rows: Parts,
    fold: Any,
    n_folds: int,
    output: Output,
    n_columns: tuple[int, int],
    factor: np.ndarray | None,
    weighted: bool,
) -> SumsLearner | EstimatorLearner:
    """Return the learner of a student; `n_columns` are those of X and of X*."""
    ridges = [isinstance(one, GCVRidge) for one in (teacher, student)]
    # Class weights of rows without y depend on predictions, row by row.
    if not isinstance(rows, LocalParts) or (
        all(ridges)
        and factor is None
        and sum(n_columns)
        <= max(_SUMS_COLUMNS, min(len(rows.parts[0].labelled), LARGEST))
    ):
        return SumsLearner(rows, fold, n_folds, output.n_targets, n_columns[1])
    given = limited = rows.parts[0]
    if any(ridges):
        # As in `_moments`; all cells of labelled rows are within the limits.
        numbers = rows.map(HedgedRows.in_numbers)
        columns, limited = _columns_of(numbers, n_columns[1]), numbers.parts[0]
        if (known := limited.privileged) is not None:
            known = replace(known, values=columns[1].limited(known.values))
        X = columns[0].limited(limited.X)
        limited = replace(limited, X=X, privileged=known)
    teacher_rows, student_rows = (limited if ridge else given for ridge in ridges)
    return EstimatorLearner(
        teacher_rows,
        student_rows.X,
        fold.parts[0],
        output,
        teacher,
        student,
        factor,
        weighted,
    )
