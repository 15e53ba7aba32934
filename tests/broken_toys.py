"""Estimators that break the contract, each in a single way, and what sees it."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from tests.toys import (
    LearnsFromAllRows,
    Line,
    TaughtClassifier,
    TaughtRegressor,
    ridge,
    taught,
)

BROKEN: dict[str, type] = {}


def breaks(*checks):
    """Register a toy as breaking these checks, at least."""

    def register(toy):
        for check in checks:
            assert check not in BROKEN
            BROKEN[check] = toy
        return toy

    return register


class Changed(TaughtClassifier):
    """A correct toy with a place to change what it is given."""

    def change(self, X, y, privileged, sample_weight):
        return X, y, privileged, sample_weight

    def fit(self, X, y, *, privileged=None, sample_weight=None):
        X, y, P, weight = self.change(X, y, privileged, sample_weight)
        return super().fit(X, y, privileged=P, sample_weight=weight)


@breaks("check_fit_signature")
class PrivilegedByPosition(TaughtClassifier):
    def fit(self, X, y, privileged=None, sample_weight=None):
        return super().fit(X, y, privileged=privileged, sample_weight=sample_weight)


@breaks("check_predicting_takes_no_privileged")
class PeeksWhenPredicting(TaughtClassifier):
    def predict(self, X, privileged=None):
        return super().predict(X)


@breaks("check_trains_without_privileged")
class NeedsPrivileged(Changed):
    def change(self, X, y, privileged, sample_weight):
        if privileged is None:
            raise ValueError("privileged is required.")
        return X, y, privileged, sample_weight


@breaks("check_privileged_has_an_effect")
class IgnoresPrivileged(TaughtClassifier):
    def _fit_binary(self, part):
        return taught(replace(part, privileged=None), self.alpha)


@breaks("check_fit_changes_nothing_it_is_given")
class WritesIntoPrivileged(Changed):
    def change(self, X, y, privileged, sample_weight):
        if isinstance(privileged, np.ndarray) and privileged.flags.writeable:
            privileged[np.isnan(privileged)] = 0.0
        return X, y, privileged, sample_weight


@breaks("check_fit_is_repeatable")
class RemembersTheLastFit(Changed):
    def change(self, X, y, privileged, sample_weight):
        self._times = getattr(self, "_times", 0) + 1
        return X, y, privileged, sample_weight

    def _fit_binary(self, part):
        return taught(part, self.alpha * self._times)


@breaks("check_failed_refit_keeps_the_model")
class ChangesBeforeTheEnd(Changed):
    def change(self, X, y, privileged, sample_weight):
        self.n_features_in_ = np.shape(X)[1]
        return X, y, privileged, sample_weight


@breaks("check_clone_and_pickle")
class LosesItselfInPickles(TaughtClassifier):
    def __getstate__(self):
        state = super().__getstate__()
        if "_models" in state:
            coef = [Line(0 * model.coef, 1.0) for model in state["_models"]]
            state = state | {"_models": coef}
        return state


@breaks("check_all_rows_missing_equals_none")
class FillsWithZero(Changed):
    def change(self, X, y, privileged, sample_weight):
        if isinstance(privileged, np.ndarray) and np.isnan(privileged).all():
            privileged = np.zeros_like(privileged)
        return X, y, privileged, sample_weight


@breaks("check_missing_rows_are_legal")
class NeedsEveryRow(TaughtClassifier):
    def _fit_binary(self, part):
        if part.privileged is not None and not part.privileged.complete:
            part = replace(part, privileged=None)
        return super()._fit_binary(part)


@breaks("check_missing_rows_in_any_order")
class ExpectsMissingRowsLast(TaughtClassifier):
    def _fit_binary(self, part):
        X, y, privileged, weight = part.X, part.y, part.privileged, part.weight
        if privileged is None:
            return ridge(X, y, weight)
        first = np.arange(len(privileged.rows))
        teacher = ridge(privileged.values, y[first], weight[first])
        y = y.copy()
        y[first] = (y[first] + teacher.decision(privileged.values)) / 2
        return ridge(X, y, weight)


@breaks("check_permuted_rows")
class TrustsTheFirstRows(TaughtClassifier):
    def _fit_binary(self, part):
        trust = part.weight * np.linspace(1, 2, part.n_rows)
        return super()._fit_binary(replace(part, weight=trust))


@breaks("check_privileged_rows_follow_their_rows")
class SortsPrivileged(Changed):
    def change(self, X, y, privileged, sample_weight):
        if isinstance(privileged, np.ndarray):
            privileged = np.sort(privileged, axis=0)
        return X, y, privileged, sample_weight


@breaks("check_weights_of_one_change_nothing")
class NormalisesWeights(Changed):
    def change(self, X, y, privileged, sample_weight):
        if sample_weight is not None:
            sample_weight = np.asarray(sample_weight) / np.sum(sample_weight)
        return X, y, privileged, sample_weight


@breaks("check_weight_two_is_a_repeated_row")
class ForgetsWeightsInTheTeacher(TaughtClassifier):
    def _fit_binary(self, part):
        X, y, privileged, weight = part.X, part.y, part.privileged, part.weight
        if privileged is None:
            return ridge(X, y, weight)
        where = privileged.rows
        teacher = ridge(privileged.values, y[where], np.ones(len(where)))
        y = y.copy()
        y[where] = (y[where] + teacher.decision(privileged.values)) / 2
        return ridge(X, y, weight)


@breaks("check_weight_zero_is_an_absent_row")
class LiftsZeroWeights(Changed):
    def change(self, X, y, privileged, sample_weight):
        if sample_weight is not None:
            sample_weight = np.maximum(sample_weight, 0.1)
        return X, y, privileged, sample_weight


@breaks("check_free_width")
class ValidatesPrivilegedLikeX(TaughtClassifier):
    def fit(self, X, y, *, privileged=None, sample_weight=None):
        super().fit(X, y, privileged=privileged, sample_weight=sample_weight)
        if privileged is not None:
            self.n_features_in_ = privileged.shape[1]
        return self


@breaks("check_sparse_privileged_equals_dense")
class DropsStoredNaN(Changed):
    def change(self, X, y, privileged, sample_weight):
        if sp.issparse(privileged):
            privileged = np.nan_to_num(privileged.toarray())
        return X, y, privileged, sample_weight


@breaks("check_sparse_X_equals_dense")
class CentresDenseX(Changed):
    def change(self, X, y, privileged, sample_weight):
        if not sp.issparse(X):
            X = np.asarray(X) - 1.0
        return X, y, privileged, sample_weight


@breaks("check_lists_and_data_frames")
class SortsByIndex(Changed):
    def change(self, X, y, privileged, sample_weight):
        if hasattr(privileged, "sort_index"):
            privileged = privileged.sort_index()
        return X, y, privileged, sample_weight


@breaks("check_float32_input")
class RoundsIntegers(Changed):
    def change(self, X, y, privileged, sample_weight):
        if isinstance(privileged, np.ndarray) and privileged.dtype.kind == "i":
            privileged = privileged.astype(np.int8) // 2
        return X, y, privileged, sample_weight


@breaks("check_readonly_input")
class ScalesInPlace(Changed):
    def change(self, X, y, privileged, sample_weight):
        if isinstance(privileged, np.ndarray) and privileged.dtype == float:
            privileged *= 1.0
        return X, y, privileged, sample_weight


@breaks("check_feature_names")
class ForgetsPrivilegedNames(TaughtClassifier):
    def fit(self, X, y, *, privileged=None, sample_weight=None):
        super().fit(X, y, privileged=privileged, sample_weight=sample_weight)
        if hasattr(self, "privileged_feature_names_in_"):
            del self.privileged_feature_names_in_
        return self


@breaks("check_refuses_wrong_length")
class CutsToLength(Changed):
    def change(self, X, y, privileged, sample_weight):
        if isinstance(privileged, np.ndarray) and len(privileged) > len(y):
            privileged = privileged[: len(y)]
        return X, y, privileged, sample_weight


@breaks("check_refuses_one_dimension")
class ReshapesVectors(Changed):
    def change(self, X, y, privileged, sample_weight):
        if isinstance(privileged, np.ndarray) and privileged.ndim == 1:
            privileged = privileged[:, None]
        return X, y, privileged, sample_weight


@breaks("check_refuses_partly_missing_rows")
class ImputesSilently(Changed):
    def change(self, X, y, privileged, sample_weight):
        if isinstance(privileged, np.ndarray) and privileged.dtype == float:
            part = np.isnan(privileged).any(axis=-1) & ~np.isnan(privileged).all(-1)
            privileged = np.where(
                part.reshape(-1, *[1] * (privileged.ndim - 1)),
                np.nan_to_num(privileged),
                privileged,
            )
        return X, y, privileged, sample_weight


@breaks("check_refuses_infinite_values")
class TreatsInfinityAsMissing(Changed):
    def change(self, X, y, privileged, sample_weight):
        if isinstance(privileged, np.ndarray) and privileged.dtype == float:
            bad = np.isinf(privileged).reshape(len(privileged), -1).any(axis=1)
            if bad.any():
                privileged = privileged.copy()
                privileged[bad] = np.nan
        return X, y, privileged, sample_weight


@breaks("check_refuses_text")
class ReadsNumbersInText(Changed):
    def change(self, X, y, privileged, sample_weight):
        if isinstance(privileged, np.ndarray) and privileged.dtype.kind == "U":
            privileged = privileged.astype(float)
        return X, y, privileged, sample_weight


@breaks("check_refuses_bad_weights")
class TakesNegativeWeights(Changed):
    def change(self, X, y, privileged, sample_weight):
        if sample_weight is not None and np.isfinite(sample_weight).all():
            sample_weight = np.abs(sample_weight)
        return X, y, privileged, sample_weight


@breaks("check_refuses_empty_data")
class TakesNoColumnsAsNone(Changed):
    def change(self, X, y, privileged, sample_weight):
        if isinstance(privileged, np.ndarray) and privileged.shape[1:] == (0,):
            privileged = None
        return X, y, privileged, sample_weight


@breaks("check_requested_by_default")
class MustBeAsked(TaughtClassifier):
    __metadata_request__fit = {"privileged": None}  # noqa: RUF012


@breaks(
    "check_grid_search",
    "check_pipeline",
    "check_calibration",
)
class LosesPrivilegedInTools(TaughtClassifier):
    """Trains without X* when scikit-learn's tools call it, and says nothing."""

    def fit(self, X, y, *, privileged=None, sample_weight=None):
        if "sklearn" in sys._getframe(1).f_code.co_filename:
            privileged = None
        return super().fit(X, y, privileged=privileged, sample_weight=sample_weight)


@breaks("check_labels_of_any_type")
class ReturnsCodes(TaughtClassifier):
    def predict(self, X):
        return np.searchsorted(self.classes_, super().predict(X))


@breaks("check_many_classes")
class ConfusesTheClasses(TaughtClassifier):
    def predict(self, X):
        labels = super().predict(X)
        return self.classes_[::-1][np.searchsorted(self.classes_, labels)]


@breaks("check_refuses_one_class")
class LearnsFromOneClass(Changed):
    def change(self, X, y, privileged, sample_weight):
        if len(y) and len(set(y)) == 1:
            y = np.r_[1 - y[:1], y[1:]]
        return X, y, privileged, sample_weight


@breaks("check_unlabelled_rows_are_refused_or_used")
class DropsUnlabelledRows(LearnsFromAllRows):
    def rows(self, training):
        training = training.learnable()
        return training.take(training.labelled)


@breaks("check_unlabelled_rows_in_any_order")
class TrustsLateUnlabelledRows(LearnsFromAllRows):
    def rows(self, training):
        training = training.learnable()
        if training.unlabelled is None:
            return training
        trust = np.where(training.unlabelled, np.linspace(1, 2, training.n_rows), 1.0)
        return replace(training, weight=training.weight * trust)


@breaks("check_unlabelled_rows_have_weights")
class ForgetsWeightsOfUnlabelledRows(LearnsFromAllRows):
    def rows(self, training):
        training = training.learnable()
        if training.unlabelled is None:
            return training
        return replace(
            training, weight=np.where(training.unlabelled, 1.0, training.weight)
        )


@breaks("check_unlabelled_rows_without_privileged_change_nothing")
class KeepsSilentRows(LearnsFromAllRows):
    def rows(self, training):
        return training.counted()


class ChangedTarget(LearnsFromAllRows):
    """A correct toy with a place to change y."""

    def change(self, y):
        return y

    def fit(self, X, y, *, privileged=None, sample_weight=None):
        return super().fit(
            X, self.change(y), privileged=privileged, sample_weight=sample_weight
        )


@breaks("check_missing_y_in_any_container")
class MakesAWordOfNaN(ChangedTarget):
    def change(self, y):
        return np.asarray(y) if isinstance(y, list) else y


@breaks("check_complete_y_in_any_container")
class LosesABitInSeries(ChangedTarget):
    def fit(self, X, y, *, privileged=None, sample_weight=None):
        self.alpha = 1.0 + 1e-12 if hasattr(y, "isna") else 1.0
        return super().fit(X, y, privileged=privileged, sample_weight=sample_weight)


@breaks("check_unlabelled_rows_with_sparse_X")
class DropsUnlabelledRowsOfSparseX(LearnsFromAllRows):
    def rows(self, training):
        training = training.learnable()
        return training.take(training.labelled) if sp.issparse(training.X) else training


@breaks("check_refuses_y_without_any_value")
class InventsLabels(ChangedTarget):
    def change(self, y):
        if isinstance(y, np.ndarray) and y.dtype == float and np.isnan(y).all():
            return np.arange(len(y)) % 2
        return y


@breaks("check_refuses_infinite_y")
class ClipsInfiniteTargets(TaughtRegressor):
    def fit(self, X, y, *, privileged=None, sample_weight=None):
        y = np.clip(y, -1e6, 1e6)
        return super().fit(X, y, privileged=privileged, sample_weight=sample_weight)


@breaks("check_unlabelled_rows_of_many_classes")
class MakesAClassOfUnlabelledRows(ChangedTarget):
    def change(self, y):
        known = np.asarray(y)
        if known.dtype == float and len(np.unique(known[~np.isnan(known)])) > 2:
            return np.nan_to_num(known, nan=9.0)
        return y
