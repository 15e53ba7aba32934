"""Generalized distillation for classification; `_distillation` has the formulas."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.base import ClassifierMixin, is_classifier, is_regressor
from sklearn.dummy import DummyClassifier
from sklearn.utils.metaestimators import available_if

from lupi._parameters import CLASS_WEIGHT, POSITIVE, Constraints, Number
from lupi.base import (
    ModelInfo,
    Privileged,
    Training,
    check_classes,
    class_weights,
)
from lupi.base._metadata import fit_with, seeded
from lupi.base._probabilities import probabilities_if
from lupi.transfer._distillation import (
    DISTILLATION,
    Distillation,
    SoftLabels,
    check_copies,
)
from lupi.transfer._fitting import (
    fit_weighted_copies,
    for_outputs,
    precise_logistic,
    scaled,
)
from lupi.transfer._targets import (
    as_scores,
    as_target,
    class_scores,
    hard_scores,
    log_scores,
    predicted_target,
    soft_probabilities,
)


def _student_can(name: str):
    """Return a condition: the student has the method, or is a regressor of log-odds."""

    def check(self: GeneralizedDistillationClassifier) -> bool:
        student = self._student()
        names = (name, "predict_proba") if name == "decision_function" else (name,)
        return is_regressor(student) or any(hasattr(student, n) for n in names)

    return check


class GeneralizedDistillationClassifier(ClassifierMixin, Distillation):
    """Classifier trained on the soft labels of a teacher that has X*.

    The teacher is trained to predict y from X*. The student is trained to predict, from
    x, a mixture of the labels and of the teacher's probabilities. This helps when X* is
    *between* X and y (a later state of the same process) and there are few rows. Where
    y depends on x beyond X*, the soft labels are biased: choose ``imitation_weight``
    (0 included) and ``teacher_view`` by cross-validation.

    Parameters
    ----------
    teacher : estimator, default=None
        Any classifier with ``predict_proba`` or ``decision_function``, or a
        regressor, which is fitted to log-odds. None is logistic regression on
        standardized features.
    student : estimator, default=None
        A regressor is fitted to log-odds; a classifier is fitted to weighted copies of
        each row, one per class, so that its ``fit`` must take ``sample_weight``.
        None is ridge regression on standardized features.
    teacher_view : {"privileged", "both"}, default="privileged"
        Features of the teacher: X*, or X and X*.
    imitation_weight : float, default=0.5
        λ: weight of the soft labels, from 0 (the labels only) to 1 (the soft labels
        only).
    temperature : float, default=1.0
        T: the teacher's log-odds (its decision values, where it has no
        probabilities) are divided by it. A temperature above 1 makes the soft labels
        more uniform.
    cv : int, splitter, iterable or None, default=5
        How the soft labels are made. With an integer, out of fold, where rows are
        assigned to folds by their content: a row of weight 2 equals the row given
        twice, and the order of the rows does not matter. A splitter or an iterable of
        splits (of the rows that have X*) is used unchanged. None predicts in-sample.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the weights of the rows, for teacher and student.
    clip : float, default=0.001
        Smallest soft probability of a class, after the temperature, which bounds the
        log-odds. Classes without training rows of the teacher get this probability.
    random_state : int, RandomState or None, default=None
        Seed of the folds, and of teacher and student where their ``random_state`` is
        None. With None the folds depend only on the content of the rows.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    student_ : estimator
        The fitted student; with a regressor and more than two classes, a
        :class:`~sklearn.multioutput.MultiOutputRegressor` of students.
    teacher_ : estimator
        The teacher fitted on all rows that have X*. Absent when no teacher was
        needed.
    soft_labels_ : ndarray of shape (n_taught, n_classes)
        The soft labels used to train the student, for the rows that have X* and a
        positive weight, in their order. Absent without a teacher.
    n_features_in_, n_privileged_features_in_ : int
        Number of columns of X and of X*.

    See Also
    --------
    KnowledgeTransferClassifier : Predicts functions of X* instead of soft labels.
    GeneralizedDistillationRegressor : The same for a continuous target.

    Notes
    -----
    Rows without X* keep their label at full weight. Without any X*, or with
    ``imitation_weight=0``, the model is the student trained on the labels (a regressor
    on their working log-odds, ±2 with two classes).

    A data frame X is passed unchanged to a student given by the user, and a data frame
    X* to a given teacher, so that these may be pipelines that encode and impute; with
    ``teacher_view="both"`` the two are joined, and no column name may occur in both.
    A row of X* in which every value is missing is a row without X*. Other missing
    values are accepted in X if the student accepts them, and in a data frame X* if the
    teacher does; in arrays X* they are an error.

    If the student is a regressor, ``decision_function`` returns the predicted log-odds
    (one column per class for more than two classes) and ``predict_proba`` their
    softmax. If it is a classifier, they are those of the student; if that has
    probabilities only, ``decision_function`` returns their log-odds. All of them refer
    to the mixture of labels: with a temperature above 1 the predicted probabilities
    are less extreme.

    References
    ----------
    D. Lopez-Paz, L. Bottou, B. Schölkopf and V. Vapnik, "Unifying distillation and
    privileged information", ICLR 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.transfer import GeneralizedDistillationClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 8))
    >>> later = X[:, :1] + 0.3 * rng.normal(size=(40, 1))
    >>> y = (later[:, 0] + rng.normal(size=40) > 0).astype(int)
    >>> model = GeneralizedDistillationClassifier().fit(X, y, privileged=later)
    >>> alone = GeneralizedDistillationClassifier().fit(X, y)
    >>> test = rng.normal(size=(500, 8))
    >>> truth = test[:, 0] > 0
    >>> bool(model.score(test, truth) > alone.score(test, truth))
    True
    """

    __lupi_info__ = ModelInfo(
        **DISTILLATION,
        helps="y is predicted better, or from fewer rows, by X\\* than by X, and x "
        "predicts the teacher's outputs; best where X\\* is between X and y",
        cost="a teacher (six fits with `cv=5`) and a student",
        tune="`imitation_weight` (0 included), `teacher_view`, `temperature`, the "
        "student",
        rank=3,
    )

    _parameter_constraints: ClassVar[Constraints] = {
        "temperature": POSITIVE,
        "class_weight": CLASS_WEIGHT,
        "clip": [Number(Real, 0, 0.5, "neither")],
    }

    def __init__(
        self,
        teacher: Any = None,
        student: Any = None,
        *,
        teacher_view: Literal["privileged", "both"] = "privileged",
        imitation_weight: float = 0.5,
        temperature: float = 1.0,
        cv: Any = 5,
        class_weight: Any = None,
        clip: float = 1e-3,
        random_state: Any = None,
    ) -> None:
        self.teacher = teacher
        self.student = student
        self.teacher_view = teacher_view
        self.imitation_weight = imitation_weight
        self.temperature = temperature
        self.cv = cv
        self.class_weight = class_weight
        self.clip = clip
        self.random_state = random_state

    def _fit_student(self, training: Training, student: Any, *, weighted: bool) -> Any:
        known_y = training.labelled
        labels = check_classes(training.y[known_y], training.weight[known_y], self)
        self.classes_, factor = labels.classes, None
        codes = np.full(training.n_rows, -1)
        codes[known_y] = labels.codes
        weight = None
        if weighted or self.class_weight is not None:
            factor = class_weights(
                self.class_weight, self.classes_, labels.codes, training.weight[known_y]
            )
            weight = training.weight.copy()
            weight[known_y] *= factor[labels.codes]
        taught = expected = None
        known = training.privileged
        if known is not None and self.imitation_weight > 0:
            soft = self._teacher_probabilities(training, known, codes, weight)
            absent = codes[known.rows] < 0
            imitated = np.where(absent, 1.0, self.imitation_weight)[:, None]
            taught = SoftLabels(known.rows, soft, imitated)
            expected = None if factor is None else soft[absent] @ factor
            self.soft_labels_ = soft
        weight = self._student_weight(training, weight, expected)
        fit_student = self._fit_log_odds if is_regressor(student) else self._fit_copies
        return fit_student(student, training, codes, taught, weight)

    def _teacher_probabilities(
        self,
        training: Training,
        privileged: Privileged,
        codes: np.ndarray,
        weight: np.ndarray | None,
    ) -> np.ndarray:
        """Return the teacher's tempered probabilities of the rows that have X*."""
        classes = self.classes_

        def fit(view: Any, labels: np.ndarray, weight: np.ndarray | None) -> Any:
            seen = np.unique(labels)
            if len(seen) < 2:
                # Most classifiers cannot be fitted to a single class.
                return DummyClassifier().fit(view, labels), seen
            teacher = self.teacher
            if teacher is None:
                logistic = precise_logistic(view.shape[1] * len(classes))
                teacher = scaled(logistic, sparse=sp.issparse(view))
            teacher = seeded(teacher, self.random_state)
            if is_regressor(teacher):
                code = np.searchsorted(classes, labels)
                labels = as_target(hard_scores(code, len(classes)))
                teacher = for_outputs(teacher, labels)
            return fit_with(teacher, view, labels, sample_weight=weight), seen

        def predict(fitted: tuple[Any, np.ndarray], view: Any) -> np.ndarray:
            teacher, seen = fitted
            return class_scores(teacher, view, classes, seen)

        (self.teacher_, _), scores = self._fit_teachers(
            training, privileged, weight, codes, fit, predict
        )
        return soft_probabilities(scores, self.temperature, self.clip)

    def _fit_log_odds(
        self,
        student: Any,
        training: Training,
        codes: np.ndarray,
        taught: SoftLabels | None,
        weight: np.ndarray | None,
    ) -> Any:
        scores = hard_scores(codes, len(self.classes_))
        if taught is not None:
            rows, soft, share = taught
            scores[rows] = (1 - share) * scores[rows] + share * log_scores(soft)
        target = as_target(scores)
        student = for_outputs(student, target)
        return fit_with(student, training.X, target, sample_weight=weight)

    def _fit_copies(
        self,
        student: Any,
        training: Training,
        codes: np.ndarray,
        taught: SoftLabels | None,
        weight: np.ndarray | None,
    ) -> Any:
        if not is_classifier(student):
            raise ValueError(
                f"student={student!r} is neither a classifier nor a regressor; give "
                "one of the two."
            )
        if taught is None:
            return fit_with(student, training.X, training.y, sample_weight=weight)
        check_copies(student)
        share = np.eye(len(self.classes_))[codes]
        rows, soft, imitated = taught
        share[rows] = (1 - imitated) * share[rows] + imitated * soft
        if weight is not None:
            share *= weight[:, None]
        return fit_weighted_copies(student, training.X, self.classes_, share)

    def _scores(self, X: Any) -> np.ndarray:
        """Return the scores of a student that is a regressor."""
        return as_scores(predicted_target(self.student_, X, len(self.classes_)))

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
        X = self._validate_X(X)
        if not is_regressor(self.student_):
            return self.student_.predict(X)
        return self.classes_[self._scores(X).argmax(axis=1)]

    @available_if(_student_can("decision_function"))
    def decision_function(self, X: Any) -> np.ndarray:
        """Return predicted log-odds, or the student's own decision values.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Decision features.

        Returns
        -------
        decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
            One column per class when there are more than two classes.
        """
        X = self._validate_X(X)
        if is_regressor(self.student_):
            return as_target(self._scores(X))
        if hasattr(self.student_, "decision_function"):
            return self.student_.decision_function(X)
        return as_target(class_scores(self.student_, X, self.classes_))

    @probabilities_if(_student_can("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return class probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Decision features.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        X = self._validate_X(X)
        if is_regressor(self.student_):
            return softmax(self._scores(X), axis=1)
        return self.student_.predict_proba(X)
