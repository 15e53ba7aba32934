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

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from lupi._base import Privileged, PrivilegedEstimator, Training
from lupi.transfer._fitting import beside, precise_ridge, scaled
from lupi.transfer._folds import fit_and_ask, splits


class Distillation(PrivilegedEstimator):
    """What the classifier and the regressor share: the teacher's view and its folds."""

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

    def _view(self, X: Any, privileged: Privileged) -> Any:
        """Return what the teacher looks at, for the rows that have X*."""
        if self.teacher_view == "privileged":
            return privileged.values
        return beside(X[privileged.rows], privileged.values)

    def _teach(
        self,
        training: Training,
        privileged: Privileged,
        weight: np.ndarray | None,
        strata: np.ndarray | None,
        fit: Callable[..., Any],
        opinion: Callable[..., np.ndarray],
    ) -> tuple[Any, np.ndarray]:
        """Return a teacher fitted on all rows with X*, and opinions of those rows.

        Parameters
        ----------
        training : Training
            Rows of positive weight.
        privileged : Privileged
            Their X*.
        weight : ndarray or None
            Their weights; None when the caller gave none.
        strata : ndarray of int or None
            Class codes, spread evenly over the folds.
        fit : callable
            ``fit(view, y, weight)`` returns a fitted teacher.
        opinion : callable
            ``opinion(teacher, view)`` returns its soft labels, one row each.
        """
        rows = privileged.rows
        y = training.y[rows]
        view = self._view(training.X, privileged)
        weight = None if weight is None else weight[rows]

        folds = splits(
            self.cv,
            [training.X[rows], privileged.values],
            y if strata is None else strata[rows],
            stratify=strata is not None,
            random_state=self.random_state,
        )

        def fit_rows(train: np.ndarray) -> Any:
            return fit(view[train], y[train], None if weight is None else weight[train])

        def ask(teacher: Any, test: np.ndarray) -> np.ndarray:
            return opinion(teacher, view[test])

        return fit_and_ask(fit_rows, ask, folds, len(rows))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        student = get_tags(self._student(sparse=True))
        tags.input_tags.sparse = student.input_tags.sparse
        return tags
