"""Hedged distillation for regression; `_hedged` has the method and its formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from lupi._parts import Parts
from lupi.base import ModelInfo
from lupi.transfer._hedge.outputs import NumericOutput
from lupi.transfer._hedged import HEDGED, VIEWS, HedgedDistillation


class HedgedDistillationRegressor(RegressorMixin, HedgedDistillation):
    """Average of students with and without X*, weighted by their out-of-fold errors.

    One student is trained on y, one on the predictions of a teacher that has X*, and
    one on those of a teacher that has X and X*. The last two are also trained on rows
    whose y is not known. All of them predict from X alone.

    Parameters
    ----------
    teacher : regressor, list of regressors or None, default=None
        Predicts y from X*, or from X and X*. None is a clone of the student.
    student : regressor, list of regressors or None, default=None
        Predicts from X. None is ridge regression on standardized columns whose penalty
        is chosen by generalized cross-validation; missing cells of X and X* are then
        replaced by the mean and indicated by a column. A list gives three candidates
        for each of its estimators, with separate teachers.
    views : {"privileged", "both"} or tuple of these, default=("privileged", "both")
        Features of the teachers: X*, X and X*, or one teacher of each kind.
    cv : int, splitter or iterable, default=5
        Folds for the weights of the candidates; teacher and student are both refitted
        without the fold. An integer assigns the labelled rows to folds by their
        content, as in :class:`GeneralizedDistillationRegressor`. A splitter or an
        iterable of splits must partition the labelled rows.
    n_repeats : int, default=2
        Number of repetitions with other folds, over which predictions are averaged.
    prior_strength : float, default=10.0
        Number of rows that the prior weights are equivalent to: one half for the
        labels, the rest evenly over the views; more of both for the labels where there
        are fewer than 60 labelled rows. With 0 there is no prior.
    n_jobs : int or None, default=None
        Number of parallel fits, for estimators given by the user.
    random_state : int, RandomState or None, default=None
        Seed of the folds, and of teachers and students where their ``random_state`` is
        None. With None the folds depend only on the content of the rows.

    Attributes
    ----------
    weights_ : dict from candidate to float
        Weights of ``"labels"``, ``"privileged"`` and ``"both"``, which sum to 1; with a
        list of students they are preceded by the names of the estimators, as in
        ``"gcvridge__labels"``. Only ``"labels"`` when X* could not be used.
    candidate_scores_ : dict from candidate to (float, float)
        R² of its predictions out of fold, and the standard error.
    students_ : dict from candidate to fitted estimator
        The students, which predict from X.
    teachers_ : dict from view to fitted estimator
        The teachers, trained on all rows that have y and X*.
    coef_, intercept_ : ndarray of shape (n_features,), float
        The linear model that the average is, where all students are the default.
    missing_coef_ : ndarray of shape (n_features,)
        Summand of a missing cell, in place of value × coefficient.

    See Also
    --------
    HedgedDistillationClassifier : The same for classes.
    GeneralizedDistillationRegressor : One teacher, with a fixed weight.

    Notes
    -----
    A row with y and X* is used by all candidates, a row with y alone by the first, a
    row with X* alone by the others, and a row with neither changes nothing.

    References
    ----------
    E. Xia and M. Wainwright, "Prediction aided by surrogate training", 2024.

    Examples
    --------
    The outcome is known for 60 rows of 600; an intermediate state is known for all.

    >>> import numpy as np
    >>> from lupi import HedgedDistillationRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 10))
    >>> later = X @ rng.normal(size=(10, 1)) + rng.normal(size=(600, 1))
    >>> outcome = later[:, 0] + 2 * rng.normal(size=600)
    >>> y = np.where(np.arange(600) < 60, outcome, np.nan)
    >>> model = HedgedDistillationRegressor().fit(X, y, privileged=later)
    >>> labels_only = HedgedDistillationRegressor().fit(X[:60], y[:60])
    >>> unknown = slice(60, None)
    >>> X_unknown, truth = X[unknown], outcome[unknown]
    >>> bool(model.score(X_unknown, truth) > labels_only.score(X_unknown, truth))
    True
    >>> model.weights_["labels"] < 0.5
    True
    """

    __lupi_info__ = ModelInfo(**HEDGED, rank=2)

    def __init__(
        self,
        teacher: Any = None,
        student: Any = None,
        *,
        views: Any = VIEWS,
        cv: Any = 5,
        n_repeats: int = 2,
        prior_strength: float = 10.0,
        n_jobs: Any = None,
        random_state: Any = None,
    ) -> None:
        self.teacher = teacher
        self.student = student
        self.views = views
        self.cv = cv
        self.n_repeats = n_repeats
        self.prior_strength = prior_strength
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _read_outputs(self, training: Parts) -> NumericOutput:
        return NumericOutput()

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
        return self._blend(self._validate_X(X), NumericOutput())[:, 0]
