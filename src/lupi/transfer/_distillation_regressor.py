"""Generalized distillation for regression; `_distillation` has the formulas."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.base import RegressorMixin

from lupi.base import ModelInfo, Training
from lupi.base._metadata import fit_with, seeded
from lupi.transfer._distillation import DISTILLATION, Distillation
from lupi.transfer._fitting import precise_ridge, scaled


class GeneralizedDistillationRegressor(RegressorMixin, Distillation):
    """Regressor trained on the predictions of a teacher that has X*.

    The student is fitted to ``(1 - imitation_weight) * y + imitation_weight * t``,
    where t is the teacher's prediction of y from X*. For a squared error, this is the
    minimum of the weighted sum of the errors to y and to t.

    Parameters
    ----------
    teacher : estimator, default=None
        Any regressor. None is ridge regression on standardized features.
    student : estimator, default=None
        Any regressor. None is ridge regression on standardized features.
    teacher_view : {"privileged", "both"}, default="privileged"
        Features of the teacher: X*, or X and X*.
    imitation_weight : float, default=0.5
        λ: weight of the teacher's predictions against the targets, from 0 (the
        student alone) to 1.
    cv : int, splitter, iterable or None, default=5
        How the teacher's predictions are made: out of fold, where an integer assigns
        rows to folds by their content; None predicts in-sample.
    random_state : int, RandomState or None, default=None
        Seed of the folds, and of teacher and student where their ``random_state`` is
        None. With None the folds depend only on the content of the rows.

    Attributes
    ----------
    student_ : estimator
        The fitted student.
    teacher_ : estimator
        The teacher fitted on all rows that have X*. Absent when no teacher was
        needed.
    soft_targets_ : ndarray of shape (n_taught,)
        The teacher's predictions used to train the student, for the rows that have X*
        and a positive weight. Absent without a teacher.
    n_features_in_, n_privileged_features_in_ : int
        Number of columns of X and of X*.

    See Also
    --------
    GeneralizedDistillationClassifier : The same for classes.

    Notes
    -----
    Rows without X* keep their target. Without any X*, or with
    ``imitation_weight=0``, the model is the student trained on y.

    Data frames are passed to a given teacher and a given student unchanged, as in
    :class:`GeneralizedDistillationClassifier`.

    References
    ----------
    D. Lopez-Paz, L. Bottou, B. Schölkopf and V. Vapnik, "Unifying distillation and
    privileged information", ICLR 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.transfer import GeneralizedDistillationRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(30, 8))
    >>> later = X[:, :1] + 0.2 * rng.normal(size=(30, 1))
    >>> y = later[:, 0] + 2 * rng.normal(size=30)
    >>> model = GeneralizedDistillationRegressor(imitation_weight=1)
    >>> alone = GeneralizedDistillationRegressor().fit(X, y)
    >>> test = rng.normal(size=(500, 8))
    >>> better = model.fit(X, y, privileged=later).score(test, test[:, 0])
    >>> bool(better > alone.score(test, test[:, 0]))
    True
    """

    __lupi_info__ = ModelInfo(
        **DISTILLATION,
        helps="as for the classifier; tune the student first, because shrinkage alone "
        "may look like a gain by X\\*",
        cost="as for the classifier",
        tune="`imitation_weight`, `teacher_view`, the student",
        rank=4,
    )

    def __init__(
        self,
        teacher: Any = None,
        student: Any = None,
        *,
        teacher_view: Literal["privileged", "both"] = "privileged",
        imitation_weight: float = 0.5,
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.teacher = teacher
        self.student = student
        self.teacher_view = teacher_view
        self.imitation_weight = imitation_weight
        self.cv = cv
        self.random_state = random_state

    def _fit_student(self, training: Training, student: Any, *, weighted: bool) -> Any:
        weight = training.weight if weighted else None
        target = training.y.copy()
        known = training.privileged
        if known is not None and self.imitation_weight > 0:
            self.teacher_, self.soft_targets_ = self._fit_teachers(
                training, known, weight, None, self._fit_teacher, _prediction
            )
            rows, share = known.rows, self.imitation_weight
            mixed = (1 - share) * target[rows] + share * self.soft_targets_
            # Where y is missing, the target is the teacher's prediction.
            target[rows] = np.where(np.isnan(mixed), self.soft_targets_, mixed)
        weight = self._student_weight(training, weight)
        return fit_with(student, training.X, target, sample_weight=weight)

    def _fit_teacher(self, view: Any, y: np.ndarray, weight: np.ndarray | None) -> Any:
        teacher = self.teacher
        if teacher is None:
            teacher = scaled(precise_ridge(), sparse=sp.issparse(view))
        teacher = seeded(teacher, self.random_state)
        return fit_with(teacher, view, y, sample_weight=weight)

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted targets.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Decision features.

        Returns
        -------
        ndarray of shape (n_samples,)
            One number for every row.
        """
        X = self._validate_X(X)
        return _prediction(self.student_, X)


def _prediction(estimator: Any, X: Any) -> np.ndarray:
    # Some regressors of scikit-learn (PLS) return a column.
    return np.asarray(estimator.predict(X), dtype=float).reshape(X.shape[0])
