r"""Generalized distillation.

D. Lopez-Paz, L. Bottou, B. Schölkopf and V. Vapnik, "Unifying distillation and
privileged information", International Conference on Learning Representations, 2016.

1. A teacher :math:`f_t` learns y from X* (or from X and X*).
2. Its soft labels are :math:`s_i = \mathrm{softmax}(f_t(x^*_i) / T)`.
3. The student learns from x alone, from both kinds of label:

.. math::
    f_s = \arg\min_f \frac1n \sum_i
          (1 - \lambda)\, \ell(y_i, f(x_i)) + \lambda\, \ell(s_i, f(x_i))

====================================  ======================
symbol                                name
====================================  ======================
:math:`T`, temperature                ``temperature``
:math:`\lambda`, imitation parameter  ``imitation_weight``
====================================  ======================

The loss is the student's own. A student that is a classifier is given each row once
per class, weighted by :math:`(1-\lambda)[y_i = k] + \lambda s_{ik}`, which is the sum
above for any loss that is weighted row by row. A student that is a regressor learns
log-odds by squared error, for which the sum above is, up to a constant, the squared
error to the mixed target :math:`(1-\lambda) h(y_i) + \lambda \log s_i`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import loguniform
from sklearn.linear_model import Ridge
from sklearn.utils import check_array, get_tags

from lupi.base import Privileged, PrivilegedEstimator, PrivilegedTags, Training
from lupi.base._data_frames import check_privileged_table, side_by_side
from lupi.base._metadata import accepts, last_step
from lupi.base._rows import is_data_frame, take_rows
from lupi.transfer._fitting import precise_ridge, scaled, takes_nan
from lupi.transfer._folds import fit_and_ask, splits

# What both say of themselves. Weight 0 ignores X*; a teacher that also sees X seldom
# knows more than its student, so that few candidates go that way.
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


class Opinions(NamedTuple):
    """Soft labels of some rows, and λ: 1 where y is missing and they stand alone."""

    rows: np.ndarray
    soft: np.ndarray
    share: np.ndarray


class Distillation(PrivilegedEstimator):
    """What the classifier and the regressor share: the teacher's view and its folds."""

    _privileged_state = ("teacher_", "soft_labels_", "soft_targets_")

    def _check_parameters(self) -> None:
        if self.teacher_view not in ("privileged", "both"):
            raise ValueError(
                f"teacher_view={self.teacher_view!r}: the teacher looks at "
                "'privileged' (X* alone) or at 'both' (X beside X*)."
            )
        weight = self.imitation_weight
        if not isinstance(weight, Real) or not 0 <= float(weight) <= 1:
            raise ValueError(
                f"imitation_weight={weight!r}: give a number from 0 (the labels alone) "
                "to 1 (the teacher alone)."
            )

    def _student(self, sparse: bool = False) -> Any:
        """Return the student as given, or the default one."""
        if self.student is not None:
            return self.student
        return scaled(precise_ridge(), sparse=sparse)

    def _read(
        self, X: Any, y: Any, privileged: Any, sample_weight: Any, **how: Any
    ) -> Training:
        """Check the arguments of ``fit``.

        A data frame is left as it is to a student or a teacher of the user's own,
        who may encode, impute or tolerate what is in it. The default ones, and
        arrays, are read as numbers.
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
        """Leave out the rows from which nothing is learned.

        A row without y is learned by a teacher's opinion; without a teacher, or
        without X*, it says nothing.
        """
        training = training.learnable()
        if training.unlabelled is None:
            return training
        known = training.privileged
        taught = known is not None and self.imitation_weight > 0
        if known is not None and training.unlabelled[known.rows].all():
            warnings.warn(
                f"{type(self).__name__} got privileged information for no row that has "
                "y, so that no teacher can learn. It is trained on the rows that have "
                "y, as without privileged information.",
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
        """Return weights for the student: a row without y has no share 1 − λ.

        Parameters
        ----------
        training : Training
            The rows.
        weight : ndarray or None
            Their weights; None when the caller gave none.
        class_factor : ndarray or None
            Factors of the rows without y: the class weights to be expected of them.
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
        """Return what the teacher looks at, for the rows that have X*."""
        if self.teacher_view == "privileged":
            return privileged.values
        X = take_rows(X, privileged.rows)
        if self.teacher is None and is_data_frame(X):
            try:
                X = check_array(X, dtype=np.float64, input_name="X", estimator=self)
            except ValueError as error:
                raise ValueError(
                    "teacher_view='both' shows X to the default teacher, who reads "
                    f"numbers only: {error} Give a teacher that reads the table (a "
                    "pipeline that encodes and imputes it, say)."
                ) from error
        return side_by_side(X, privileged.values)

    def _teach(
        self,
        training: Training,
        privileged: Privileged,
        weight: np.ndarray | None,
        strata: np.ndarray | None,
        fit: Callable[..., Any],
        opinion: Callable[..., np.ndarray],
    ) -> tuple[Any, np.ndarray]:
        """Return a teacher of the rows with X* and y, and opinions of all with X*.

        The opinion of a row that has y comes from a teacher that has not seen it.

        Parameters
        ----------
        training : Training
            Rows of positive weight.
        privileged : Privileged
            Their X*.
        weight : ndarray or None
            Their weights; None when the caller gave none.
        strata : ndarray of int or None
            Class codes, spread evenly over the folds; without meaning where y is
            missing.
        fit : callable
            ``fit(view, y, weight)`` returns a fitted teacher.
        opinion : callable
            ``opinion(teacher, view)`` returns its soft labels, one row each.
        """
        absent = np.zeros(len(privileged.rows), dtype=bool)
        if training.unlabelled is not None:
            absent = training.unlabelled[privileged.rows]
        unanswered, privileged = privileged.only(absent), privileged.only(~absent)
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

        def ask(teacher: Any, test: np.ndarray) -> np.ndarray:
            return opinion(teacher, take_rows(view, test))

        teacher, known = fit_and_ask(fit_rows, ask, folds, len(rows))
        if not absent.any():
            return teacher, known
        opinions = np.empty((len(absent), *known.shape[1:]))
        opinions[~absent] = known
        opinions[absent] = opinion(teacher, self._view(training.X, unanswered))
        return teacher, opinions

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
    """Refuse a classifier that cannot learn soft labels as weighted copies of rows."""
    if not accepts(student, "sample_weight"):
        raise ValueError(
            f"The student {type(last_step(student)).__name__} takes no "
            "sample_weight, and a classifier can learn soft labels only as "
            "weights. Choose one that does, a regressor (which learns log-odds), "
            f"{instead}."
        )
    if hasattr(last_step(student), "refit"):
        raise ValueError(
            f"The student is a {type(last_step(student)).__name__}, and the copies "
            "that carry a row's soft label would lie on both sides of its splits. "
            "Search around the whole model instead, with the student's parameters "
            "as student__..., or give a regressor, which learns log-odds."
        )
