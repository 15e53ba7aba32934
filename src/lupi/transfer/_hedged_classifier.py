"""Hedged distillation for classification; `_hedged` has the method and its formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin

from lupi._parts import Parts
from lupi.base import ModelInfo, class_weights
from lupi.base._classes import classes_of
from lupi.transfer._hedge.calibration import Calibration, calibrate
from lupi.transfer._hedge.outputs import ClassOutput
from lupi.transfer._hedge.rows import Rows
from lupi.transfer._hedged import HEDGED, VIEWS, HedgedDistillation


class HedgedDistillationClassifier(ClassifierMixin, HedgedDistillation):
    """Average of students with and without X*, weighted by their out-of-fold errors.

    One student is trained on y, one on the predictions of a teacher that has X*, and
    one on those of a teacher that has X and X*. The last two are also trained on rows
    whose y is not known. All of them predict from X alone.

    Parameters
    ----------
    teacher : estimator, list of estimators or None, default=None
        Predicts y from X*, or from X and X*: a classifier with ``predict_proba``, or a
        regressor, which is fitted to class indicators. None is a clone of the student.
    student : estimator, list of estimators or None, default=None
        Predicts from X. A regressor is fitted to class indicators and to the teacher's
        probabilities. A classifier with ``predict_proba`` is fitted to these by
        weighted copies of each row, one per class; those of XGBoost and LightGBM, with
        two classes, by their own objectives for labels in [0, 1]. None is ridge
        regression on standardized columns whose penalty is chosen by generalized
        cross-validation; missing cells of X and X* are then replaced by the mean and
        indicated by a column. A list gives three candidates for each of its
        estimators, with separate teachers.
    views : {"privileged", "both"} or tuple of these, default=("privileged", "both")
        Features of the teachers: X*, X and X*, or one teacher of each kind.
    cv : int, splitter or iterable, default=5
        Folds for the weights of the candidates; teacher and student are both refitted
        without the fold. An integer assigns the labelled rows to folds by their
        content, stratified, as in :class:`GeneralizedDistillationClassifier`; there
        are fewer folds when a class has fewer rows. A splitter or an iterable of
        splits must partition the labelled rows.
    n_repeats : int, default=2
        Number of repetitions with other folds, over which predictions are averaged.
    prior_strength : float, default=10.0
        Number of rows that the prior weights are equivalent to: one half for the
        labels, the rest evenly over the views; more of both for the labels where there
        are fewer than 60 labelled rows. With 0 there is no prior.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the weights of the rows. A row without y has the expected class
        weight under the teacher's probabilities.
    n_jobs : int or None, default=None
        Number of parallel fits, for estimators given by the user.
    random_state : int, RandomState or None, default=None
        Seed of the folds, and of teachers and students where their ``random_state`` is
        None. With None the folds depend only on the content of the rows.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    weights_ : dict from candidate to float
        Weights of ``"labels"``, ``"privileged"`` and ``"both"``, which sum to 1; with a
        list of students they are preceded by the names of the estimators, as in
        ``"gcvridge__labels"``. Only ``"labels"`` when X* could not be used.
    candidate_scores_ : dict from candidate to (float, float)
        R² of its probabilities out of fold (1 − Brier score / variance), and the
        standard error.
    students_ : dict from candidate to fitted estimator
        The students, which predict from X.
    teachers_ : dict from view to fitted estimator
        The teachers, trained on all rows that have y and X*.
    coef_, intercept_ : ndarray
        The linear model that the average before calibration is, where all students are
        the default; ``coef_`` has the shape (n_features,), or (n_classes, n_features)
        for more than two classes.
    missing_coef_ : ndarray of the shape of ``coef_``
        Summand of a missing cell, in place of value × coefficient.
    calibration_slope_ : float
        The slope a of the calibration, positive.
    calibration_intercept_ : ndarray of shape (n_classes,)
        The intercepts b of the calibration.

    See Also
    --------
    HedgedDistillationRegressor : The same for a continuous target.
    GeneralizedDistillationClassifier : One teacher, with a fixed weight.

    Notes
    -----
    A row with y and X* is used by all candidates, a row with y alone by the first, a
    row with X* alone by the others, and a row with neither changes nothing.

    The weighted average predicts class indicators by squared error. ``predict_proba``
    is the softmax of a·log(average) + b, fitted to the predictions out of fold. The
    slope a is shrunk towards 1 and kept positive, so that probabilities rank rows as
    the average does. ``decision_function`` returns the log-odds of the probabilities.

    References
    ----------
    E. Xia and M. Wainwright, "Prediction aided by surrogate training", 2024.

    Examples
    --------
    The outcome is known for 60 rows of 600; an intermediate state is known for all.

    >>> import numpy as np
    >>> from lupi import HedgedDistillationClassifier
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(600, 10))
    >>> later = X @ rng.normal(size=(10, 1)) + rng.normal(size=(600, 1))
    >>> outcome = later[:, 0] + 3 * rng.normal(size=600) > 0
    >>> y = np.where(np.arange(600) < 60, outcome, None)
    >>> model = HedgedDistillationClassifier().fit(X, y, privileged=later)
    >>> labels_only = HedgedDistillationClassifier().fit(X[:60], outcome[:60])
    >>> unknown = slice(60, None)
    >>> X_unknown, truth = X[unknown], outcome[unknown]
    >>> bool(model.score(X_unknown, truth) > labels_only.score(X_unknown, truth))
    True
    >>> model.classes_
    array([False,  True])
    """

    __lupi_info__ = ModelInfo(**HEDGED, rank=1)

    def __init__(
        self,
        teacher: Any = None,
        student: Any = None,
        *,
        views: Any = VIEWS,
        cv: Any = 5,
        n_repeats: int = 2,
        prior_strength: float = 10.0,
        class_weight: Any = None,
        n_jobs: Any = None,
        random_state: Any = None,
    ) -> None:
        self.teacher = teacher
        self.student = student
        self.views = views
        self.cv = cv
        self.n_repeats = n_repeats
        self.prior_strength = prior_strength
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _read_outputs(self, training: Parts) -> ClassOutput:
        self.classes_ = classes_of(training, self)
        return self._outputs()

    def _class_factor(self, rows: Parts) -> np.ndarray | None:
        if self.class_weight is None:
            return None
        totals = rows.sum(_class_totals, self._outputs())
        codes = np.arange(len(self.classes_))
        factor = class_weights(self.class_weight, self.classes_, codes, totals)
        # As for the weights of the rows, the mean over labelled rows is 1.
        factor = factor * (totals.sum() / (totals @ factor))
        return None if np.allclose(factor, 1.0, rtol=1e-12) else factor

    def _calibrate(
        self, rows: Parts, blend: Parts | None, factor: np.ndarray | None
    ) -> None:
        calibration = Calibration.none(len(self.classes_))
        if blend is not None:
            judged = blend.map(_calibration_rows, rows, self._outputs(), factor)
            calibration = calibrate(judged, len(self.classes_))
        self.calibration_slope_ = calibration.slope
        self.calibration_intercept_ = calibration.intercept

    def _outputs(self) -> ClassOutput:
        return ClassOutput(self.classes_)

    def _scores(self, X: Any) -> np.ndarray:
        """Return calibrated scores, one column per class."""
        X, outputs = self._validate_X(X), self._outputs()
        blend = outputs.full(self._blend(X, outputs))
        calibration = Calibration(self.calibration_slope_, self.calibration_intercept_)
        return calibration.scores(blend)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the log-odds of the calibrated probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Decision features.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            One column per class when there are more than two classes.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return calibrated class probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Decision features.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return softmax(self._scores(X), axis=1)

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted labels.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Decision features.

        Returns
        -------
        ndarray of shape (n_samples,)
            One of ``classes_`` for every row.
        """
        best = self._scores(X).argmax(axis=1)
        return self.classes_[best]


def _class_totals(rows: Rows, outputs: ClassOutput) -> np.ndarray:
    return rows.labelled_weight @ outputs.full(rows.target)


def _calibration_rows(
    blend: np.ndarray, rows: Rows, outputs: ClassOutput, factor: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the averages with the classes and the weights of their rows."""
    codes, weight = outputs.codes(rows.target), rows.labelled_weight
    if factor is not None:
        weight = weight * factor[codes]
    return outputs.full(blend), codes, weight
