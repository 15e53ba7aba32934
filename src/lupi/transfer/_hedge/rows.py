"""The training rows of hedged distillation: what is predicted, and the folds.

Predictions, y and the teachers' predictions all have the shape (n_rows, n_targets):
one column for a number and for two classes (the probability of the second), and one
per class for more than two.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state

from lupi._parts import GOLDEN, Parts, mixed_bits
from lupi.base import Privileged, Training
from lupi.base._metadata import fit_with, last_step
from lupi.base._rows import is_data_frame, take_rows
from lupi.transfer._distillation import check_copies
from lupi.transfer._fitting import fit_weighted_copies, for_outputs
from lupi.transfer._folds import row_digests

# Largest number of units that are assigned to folds in turn.
FEW = 10_000


# -- outputs -----------------------------------------------------------------------


@dataclass(frozen=True)
class NumericOutput:
    """A continuous target."""

    n_targets: int = 1

    def target(self, y: np.ndarray) -> np.ndarray:
        """Return y as a column."""
        return y[:, None]

    def codes(self, target: np.ndarray) -> np.ndarray:
        """Return zeros, because there are no classes to stratify by."""
        return np.zeros(len(target), dtype=int)

    def fit(self, model: Any, table: Any, target: np.ndarray, weight: Any) -> Any:
        """Fit to known values or to a teacher's predictions, which are numbers too."""
        return fit_with(model, table, target[:, 0], sample_weight=weight)

    fit_soft = fit

    def values(self, model: Any, table: Any) -> np.ndarray:
        """Return predictions."""
        return np.asarray(model.predict(table), dtype=float).reshape(-1, 1)

    def check(self, model: Any, role: str) -> None:
        """Raise an error for an estimator that cannot predict numbers."""
        if not is_regressor(model):
            raise ValueError(
                f"The {role} {model!r} is not a regressor, but the target is a number. "
                "Give a regressor."
            )


@dataclass(frozen=True)
class ClassOutput:
    """Classes; regressors are fitted to indicators, classifiers to labels."""

    classes: np.ndarray

    @property
    def n_targets(self) -> int:
        """Number of columns: 1 for two classes, otherwise one per class."""
        return 1 if len(self.classes) == 2 else len(self.classes)

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
            return self._fit_values(model, table, target, weight)
        labels = self.classes[self.full(target).argmax(axis=1)]
        if np.all(labels == labels[0]):
            # Most classifiers cannot be fitted to a single class.
            return DummyClassifier().fit(table, labels)
        return fit_with(model, table, labels, sample_weight=weight)

    def fit_soft(self, model: Any, table: Any, target: np.ndarray, weight: Any) -> Any:
        """Fit to a teacher's predictions."""
        if is_regressor(model):
            return self._fit_values(model, table, target, weight)
        if self.n_targets == 1 and (soft := with_soft_objective(model)) is not None:
            soft_target = self.shares(target)[:, 1]
            return fit_with(soft, table, soft_target, sample_weight=weight)
        share = self.shares(target)
        if weight is not None:
            share = share * weight[:, None]
        return fit_weighted_copies(model, table, self.classes, share)

    def _fit_values(
        self, model: Any, table: Any, target: np.ndarray, weight: Any
    ) -> Any:
        target = target[:, 0] if self.n_targets == 1 else target
        model = for_outputs(model, target)
        return fit_with(model, table, target, sample_weight=weight)

    def values(self, model: Any, table: Any) -> np.ndarray:
        """Return probabilities; 0 for a class without training rows of the model."""
        if is_regressor(model):
            return np.asarray(model.predict(table), float).reshape(-1, self.n_targets)
        known = np.asarray(model.predict_proba(table), dtype=float)
        found = np.zeros((len(known), len(self.classes)))
        found[:, np.searchsorted(self.classes, model.classes_)] = known
        return found[:, 1:] if self.n_targets == 1 else found

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
    name = type(last).__name__
    if (package, name) == ("xgboost", "XGBClassifier"):
        from xgboost import XGBRegressor

        regressor, objective = XGBRegressor, "binary:logistic"
    elif (package, name) == ("lightgbm", "LGBMClassifier"):
        from lightgbm import LGBMRegressor

        regressor, objective = LGBMRegressor, "cross_entropy"
    else:
        return None
    parameters = last.get_params(deep=False) | {"objective": objective}
    if parameters.get("class_weight") is not None:
        return None
    soft = regressor(**parameters)
    if isinstance(classifier, Pipeline):
        return Pipeline([*classifier.steps[:-1], (classifier.steps[-1][0], soft)])
    return soft


Output = NumericOutput | ClassOutput


# -- rows --------------------------------------------------------------------------


@dataclass(frozen=True)
class HedgedRows:
    """Rows that have y, X* or both; rows with neither, or of weight 0, are left out.

    Attributes
    ----------
    X : ndarray, CSR matrix or data frame of n rows
        Decision features.
    privileged : Privileged or None
        X* of the rows that have it.
    labelled : ndarray of int
        Positions of the rows that have y, ascending.
    target : ndarray of shape (n_labelled, n_targets)
        y; with two classes the indicator of the second, with more all indicators.
    weight : ndarray of shape (n,)
        Sample weights.
    """

    X: Any
    privileged: Privileged | None
    labelled: np.ndarray
    target: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, training: Training, output: Output) -> HedgedRows:
        """Return the rows of a `Training` that has rows with y, X* or both."""
        labelled = training.labelled
        target = output.target(training.y[labelled])
        weight = training.weight
        return cls(training.X, training.privileged, labelled, target, weight)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.weight)

    @cached_property
    def place(self) -> np.ndarray:
        """Position of every row among those that have X*; −1 if it has none."""
        place = np.full(self.n_rows, -1)
        if self.privileged is not None:
            place[self.privileged.rows] = np.arange(len(self.privileged.rows))
        return place

    def known(self, place: np.ndarray) -> Any:
        """Return X* at positions among the rows that have it."""
        assert self.privileged is not None
        return take_rows(self.privileged.values, place)

    @property
    def labelled_weight(self) -> np.ndarray:
        """Weights of the labelled rows."""
        return self.weight[self.labelled]

    @cached_property
    def taught(self) -> np.ndarray:
        """Mask of the labelled rows that have X*."""
        return self.place[self.labelled] >= 0

    @cached_property
    def unlabelled(self) -> np.ndarray:
        """Positions of the rows without y; all of them have X*."""
        return np.setdiff1d(np.arange(self.n_rows), self.labelled, assume_unique=True)

    def scaled(self, factor: float) -> HedgedRows:
        """Return the rows with their weights multiplied by a factor."""
        return replace(self, weight=factor * self.weight)

    def strata(self, output: Output) -> np.ndarray:
        """Return twice the class of the labelled rows, plus 1 for those with X*."""
        return 2 * output.codes(self.target) + self.taught

    def in_numbers(self) -> HedgedRows:
        """Convert data frames, which are kept for other students, to arrays."""
        known, X = self.privileged, self.X
        if is_data_frame(X):
            X = np.asarray(X, dtype=float)
        if known is not None and is_data_frame(known.values):
            known = replace(known, values=np.asarray(known.values, dtype=float))
        return replace(self, X=X, privileged=known)

    def n_privileged(self) -> int:
        """Return the number of rows that have X*."""
        return 0 if self.privileged is None else len(self.privileged.rows)

    def labels_only(self) -> HedgedRows:
        """Return the labelled rows, without their X*."""
        return HedgedRows(
            take_rows(self.X, self.labelled),
            None,
            np.arange(len(self.labelled)),
            self.target,
            self.labelled_weight,
        )


# -- folds -------------------------------------------------------------------------


@dataclass(frozen=True)
class Units:
    """Distinct labelled rows, or groups, which must not be split between folds.

    Up to 10 000 units are assigned in the order of their keys, spread evenly over the
    folds within each stratum. With more units, the fold is a function of the key: the
    folds are then even without stratification, and no sorting is needed.

    Attributes
    ----------
    keys : Parts of ndarray
        One per labelled row: a hash of its content, or its group.
    distinct : ndarray or None
        The keys, each once, ascending; None when there are more than 10 000.
    weight : ndarray of shape (n_distinct, n_strata) or None
        Weights of the rows by their stratum: twice the class, plus 1 for rows with X*.
    n_taught : int
        Number of units that have a row with X*, at most 3.
    """

    keys: Parts
    distinct: np.ndarray | None
    weight: np.ndarray | None
    n_taught: int

    @classmethod
    def of(
        cls, rows: Parts, strata: Parts, groups: Parts | None, few: int = FEW
    ) -> Units:
        """Find the units of the rows, given strata and groups of the labelled rows."""
        keys = groups
        if keys is None:
            keys = rows.map(_content_keys)
        taught = keys.gather(_taught_keys, strata)
        n_taught = len(np.unique(np.concatenate(taught)))
        found = keys.gather(_summary, rows, strata, few)
        if all(part is not None for part in found):
            distinct, place = np.unique(
                np.concatenate([part[0] for part in found]), return_inverse=True
            )
            if len(distinct) <= few:
                n_strata = max(part[1].shape[1] for part in found)
                weight, start = np.zeros((len(distinct), n_strata)), 0
                for _, counts in found:
                    at = place[start : start + len(counts)]
                    weight[at, : counts.shape[1]] += counts
                    start += len(counts)
                return cls(keys, distinct, weight, n_taught)
        if groups is not None:
            keys = groups.map(_hashed)
        return cls(keys, None, None, n_taught)

    def most_folds(self, n_folds: int) -> int:
        """Return the number of folds, at most `n_folds`, that have all classes."""
        if self.weight is None:
            return n_folds
        plain, taught = self.weight[:, ::2], self.weight[:, 1::2]
        present = plain > 0
        present[:, : taught.shape[1]] |= taught > 0
        counts = present.sum(axis=0)
        return min(n_folds, int(counts[counts > 0].min()))

    def assign(self, n_folds: int, random_state: Any) -> Parts:
        """Return the fold of each labelled row; None is the order of the keys."""
        if self.distinct is None or self.weight is None:
            salt = 0 if random_state is None else random_state.randint(1, 2**31)
            return self.keys.map(_fold_of_key, n_folds, salt)
        n_units = len(self.distinct)
        rank = np.arange(n_units)
        if random_state is not None:
            rank = random_state.permutation(n_units)
        # Counting on from one stratum to the next balances strata and fold sizes at
        # once. A unit belongs to its heaviest stratum.
        fold = np.empty(n_units, dtype=int)
        order = np.lexsort((rank, self.weight.argmax(axis=1)))
        fold[order] = np.arange(n_units) % n_folds
        return self.keys.map(_fold_of_unit, self.distinct, fold)


def _content_keys(rows: HedgedRows) -> np.ndarray:
    """Return hashes of X, y and X* of the labelled rows."""
    keys = row_digests(take_rows(rows.X, rows.labelled), rows.target)
    if rows.taught.any():
        known = rows.known(rows.place[rows.labelled[rows.taught]])
        keys[rows.taught] = mixed_bits(keys[rows.taught]) + row_digests(known)
    return keys


def _taught_keys(keys: np.ndarray, strata: np.ndarray) -> np.ndarray:
    """Return up to three of the keys of rows with X*."""
    return np.unique(keys[strata % 2 == 1])[:3]


def _summary(
    keys: np.ndarray, rows: HedgedRows, strata: np.ndarray, few: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the distinct keys and their weights by stratum; None if too many."""
    distinct, place = np.unique(keys, return_inverse=True)
    if len(distinct) > few:
        return None
    weight = np.zeros((len(distinct), strata.max(initial=0) + 1))
    np.add.at(weight, (place, strata), rows.labelled_weight)
    return distinct, weight


def _hashed(groups: np.ndarray) -> np.ndarray:
    """Return 64 bits of each group."""
    values, place = np.unique(groups, return_inverse=True)
    return row_digests(values)[place]


def _fold_of_unit(
    keys: np.ndarray, distinct: np.ndarray, fold: np.ndarray
) -> np.ndarray:
    return fold[np.searchsorted(distinct, keys)]


def _fold_of_key(keys: np.ndarray, n_folds: int, salt: int) -> np.ndarray:
    mixed = mixed_bits(keys + np.array([salt], dtype=np.uint64) * GOLDEN)
    return (mixed % np.uint64(n_folds)).astype(int)


def shuffle_generators(
    n_repeats: int, random_state: Any
) -> list[np.random.RandomState | None]:
    """Return a generator per repetition; None is the order of the keys."""
    if random_state is not None:
        return [check_random_state(random_state)] * n_repeats
    return [None, *(np.random.RandomState(r) for r in range(1, n_repeats))]


def folds_of(
    cv: Any, counted: np.ndarray, codes: np.ndarray, groups: np.ndarray | None
) -> np.ndarray:
    """Return the fold of each row by a splitter, or by an iterable of splits.

    `counted` is the mask of the labelled rows of positive weight; `codes` and `groups`
    are their classes and groups.
    """
    n_rows = len(counted)
    y, units, fold = np.zeros((3, n_rows), dtype=int)
    y[counted] = codes
    if groups is not None:
        units[counted] = groups
    found = check_cv(cv).split(
        np.zeros((n_rows, 1)), y, None if groups is None else units
    )
    tests = [test for _, test in found]
    tested = np.concatenate([np.empty(0, dtype=int), *tests])
    if len(tests) > 1 and np.array_equal(np.sort(tested), np.arange(n_rows)):
        for number, test in enumerate(tests):
            fold[test] = number
        numbers, fold = np.unique(fold[counted], return_inverse=True)
        if len(numbers) > 1:
            return fold
    raise ValueError(
        f"cv={cv!r} does not test each of the {n_rows} labelled rows exactly once, in "
        "two folds or more. Use a splitter that partitions them (KFold, GroupKFold), "
        "or an integer."
    )
