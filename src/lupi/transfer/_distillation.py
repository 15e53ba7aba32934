r"""Generalized distillation.

D. Lopez-Paz, L. Bottou, B. Schölkopf and V. Vapnik, "Unifying distillation and
privileged information", International Conference on Learning Representations, 2016.

1. A teacher :math:`f_t` is trained to predict y from X* (or from X and X*).
2. Its soft labels are :math:`s_i = \mathrm{softmax}(f_t(x^*_i) / T)`.
3. The student is trained on x alone, with both kinds of labels:

.. math::
    f_s = \arg\min_f \frac1n \sum_i
          (1 - \lambda)\, \ell(y_i, f(x_i)) + \lambda\, \ell(s_i, f(x_i))

====================================  ======================
symbol                                name
====================================  ======================
:math:`T`, temperature                ``temperature``
:math:`\lambda`, imitation parameter  ``imitation_weight``
====================================  ======================

The loss is that of the student. A classifier as student is given each row once per
class, weighted by :math:`(1-\lambda)[y_i = k] + \lambda s_{ik}`, which gives the sum
above for any loss that is weighted row by row. A regressor as student is fitted to
log-odds by squared error, for which the sum above is, up to a constant, the squared
error to the mixed target :math:`(1-\lambda) h(y_i) + \lambda \log s_i`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from scipy.stats import loguniform
from sklearn.base import is_regressor
from sklearn.linear_model import Ridge
from sklearn.utils import check_array, get_tags

from lupi._parameters import CV, ESTIMATOR, SEED, SHARE, Constraints, choice
from lupi.base import (
    Privileged,
    PrivilegedEstimator,
    PrivilegedTags,
    Training,
    atomic_fit,
)
from lupi.base._data_frames import check_privileged_table, side_by_side
from lupi.base._metadata import accepts, last_step, seeded
from lupi.base._rows import is_data_frame, take_rows
from lupi.transfer._fitting import precise_ridge, scaled, takes_nan
from lupi.transfer._folds import fit_out_of_fold, splits

# Fields of ModelInfo that classifier and regressor share. Weight 0 ignores X*. A
# teacher of X and X* is seldom better than one of X* alone: one candidate in six.
DISTILLATION: dict[str, Any] = {
    "title": "Generalized distillation",
    "paper": "Lopez-Paz et al. 2016, ICLR",
    "cite": "lopezpaz2016unifying",
    "formulas": __name__,
    "fixed": {"student": Ridge()},
    "space": {"student__alpha": loguniform(1.0, 1000.0)},
    "privileged_space": {
        "imitation_weight": [0.0, 0.5, 0.7, 0.85, 1.0],
        "teacher_view": ["privileged"] * 5 + ["both"],
    },
    "default": True,
}


class SoftLabels(NamedTuple):
    """Soft labels of some rows, and their share λ, which is 1 where y is missing."""

    rows: np.ndarray
    soft: np.ndarray
    share: np.ndarray


class Distillation(PrivilegedEstimator):
    """Base class of the classifier and the regressor: fits the teacher out of fold."""

    _privileged_state = ("teacher_", "soft_labels_", "soft_targets_")
    _parameter_constraints: ClassVar[Constraints] = {
        "teacher": ESTIMATOR,
        "student": ESTIMATOR,
        "teacher_view": choice("privileged", "both"),
        "imitation_weight": SHARE,
        "cv": CV,
        "random_state": SEED,
    }

    @atomic_fit
    def fit(
        self, X: Any, y: Any, *, privileged: Any = None, sample_weight: Any = None
    ) -> Self:
        """Fit the teacher on X*, then the student on X.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Decision features.
        y : array-like of shape (n_samples,)
            Labels or targets; missing (NaN, None, NA) where the outcome is not known.
        privileged : {array-like, sparse matrix, data frame} of shape \
(n_samples, n_privileged), default=None
            X*; a row of NaN is a row without it.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, for teacher and student.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        training = self._learnable(
            self._read(X, y, privileged, sample_weight, y_numeric=is_regressor(self))
        )
        student = seeded(self._student(sp.issparse(training.X)), self.random_state)
        weighted = sample_weight is not None
        self.student_ = self._fit_student(training, student, weighted=weighted)
        return self

    def _fit_student(self, training: Training, student: Any, *, weighted: bool) -> Any:
        """Fit the teacher if there is X*, and return the fitted student."""
        raise TypeError(f"{type(self).__name__} does not define _fit_student.")

    def _student(self, sparse: bool = False) -> Any:
        """Return the parameter ``student``, or the default student."""
        if self.student is not None:
            return self.student
        return scaled(precise_ridge(), sparse=sparse)

    def _read(
        self, X: Any, y: Any, privileged: Any, sample_weight: Any, **how: Any
    ) -> Training:
        """Check the arguments of ``fit``.

        A data frame is passed unchanged to a student or a teacher given by the user,
        which may encode categories and impute missing values. For the default ones it
        is converted to numbers, as arrays are.
        """
        own = self.student is not None
        return self._validate_fit(
            X,
            y,
            privileged,
            sample_weight,
            keep_data_frame=own,
            allow_nan_X=own and takes_nan(self.student),
            **how,
        )

    def _read_privileged(self, privileged: Any, n_rows: int) -> Privileged | None:
        if self.teacher is None or not is_data_frame(privileged):
            return super()._read_privileged(privileged, n_rows)
        return check_privileged_table(
            privileged, n_rows, self, allow_partial=takes_nan(self.teacher)
        )

    def _learnable(self, training: Training) -> Training:
        """Leave out the rows that change nothing.

        A row without y is used with the soft label of a teacher; without a teacher, or
        without X*, it has none.
        """
        training = training.learnable()
        if training.unlabelled is None:
            return training
        known = training.privileged
        taught = known is not None and self.imitation_weight > 0
        if known is not None and training.unlabelled[known.rows].all():
            warnings.warn(
                f"{type(self).__name__} got privileged information for no row that has "
                "y, so that no teacher can be trained. The student is trained on the "
                "rows that have y, as without privileged information.",
                stacklevel=4,
            )
            taught = False
        return training if taught else training.take(training.labelled)

    def _student_weight(
        self,
        training: Training,
        weight: np.ndarray | None,
        class_factor: np.ndarray | None = None,
    ) -> np.ndarray | None:
        """Return the student's weights, where a row without y has the factor λ.

        Parameters
        ----------
        training : Training
            The rows.
        weight : ndarray or None
            Their weights; None when the caller gave none.
        class_factor : ndarray or None
            Expected class weights of the rows without y.
        """
        absent = training.unlabelled
        if absent is None or (weight is None and self.imitation_weight == 1):
            return weight
        weight = np.ones(training.n_rows) if weight is None else weight.copy()
        weight[absent] *= self.imitation_weight
        if class_factor is not None:
            weight[absent] *= class_factor
        return weight

    def _view(self, X: Any, privileged: Privileged) -> Any:
        """Return the teacher's features of the rows that have X*."""
        if self.teacher_view == "privileged":
            return privileged.values
        X = take_rows(X, privileged.rows)
        if self.teacher is None and is_data_frame(X):
            try:
                X = check_array(X, dtype=np.float64, input_name="X", estimator=self)
            except ValueError as error:
                raise ValueError(
                    "With teacher_view='both', the default teacher needs X as numbers: "
                    f"{error} Give a teacher that accepts the table, such as a "
                    "pipeline that encodes and imputes it."
                ) from error
        return side_by_side(X, privileged.values)

    def _fit_teachers(
        self,
        training: Training,
        privileged: Privileged,
        weight: np.ndarray | None,
        strata: np.ndarray | None,
        fit: Callable[..., Any],
        predict: Callable[..., np.ndarray],
    ) -> tuple[Any, np.ndarray]:
        """Return a teacher of the rows with X* and y, and soft labels of all with X*.

        The soft label of a row that has y comes from a teacher not trained on it.

        Parameters
        ----------
        training : Training
            Rows of positive weight.
        privileged : Privileged
            Their X*.
        weight : ndarray or None
            Their weights; None when the caller gave none.
        strata : ndarray of int or None
            Class codes, spread evenly over the folds; ignored where y is missing.
        fit : callable
            ``fit(view, y, weight)`` returns a fitted teacher.
        predict : callable
            ``predict(teacher, view)`` returns its soft labels, one row each.
        """
        absent = np.zeros(len(privileged.rows), dtype=bool)
        if training.unlabelled is not None:
            absent = training.unlabelled[privileged.rows]
        unlabelled, privileged = privileged.only(absent), privileged.only(~absent)
        rows = privileged.rows
        y = training.y[rows]
        view = self._view(training.X, privileged)
        weight = None if weight is None else weight[rows]

        folds = splits(
            self.cv,
            [take_rows(training.X, rows), privileged.values],
            y if strata is None else strata[rows],
            stratify=strata is not None,
            random_state=self.random_state,
        )

        def fit_rows(train: np.ndarray) -> Any:
            part = None if weight is None else weight[train]
            return fit(take_rows(view, train), y[train], part)

        def predict_rows(teacher: Any, test: np.ndarray) -> np.ndarray:
            return predict(teacher, take_rows(view, test))

        teacher, known = fit_out_of_fold(fit_rows, predict_rows, folds, len(rows))
        if not absent.any():
            return teacher, known
        soft = np.empty((len(absent), *known.shape[1:]))
        soft[~absent] = known
        soft[absent] = predict(teacher, self._view(training.X, unlabelled))
        return teacher, soft

    def __lupi_tags__(self) -> PrivilegedTags:
        return PrivilegedTags(uses_unlabelled=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        student = get_tags(self._student(sparse=True))
        tags.input_tags.sparse = student.input_tags.sparse
        if self.student is not None:
            tags.input_tags.allow_nan = student.input_tags.allow_nan
        return tags


def check_copies(student: Any, instead: str = "or imitation_weight=0") -> None:
    """Raise an error for a classifier that cannot use weighted copies of rows."""
    if not accepts(student, "sample_weight"):
        raise ValueError(
            f"The student {type(last_step(student)).__name__} takes no "
            "sample_weight, and a classifier can be fitted to soft labels only by "
            "weights. Give one that does, a regressor (which is fitted to log-odds), "
            f"{instead}."
        )
    if hasattr(last_step(student), "refit"):
        raise ValueError(
            f"The student is a {type(last_step(student)).__name__}, whose splits would "
            "separate the weighted copies of a row. Search the parameters of the whole "
            "model instead, with those of the student as student__..., or give a "
            "regressor, which is fitted to log-odds."
        )
