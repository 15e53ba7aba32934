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
from dataclasses import field
from numbers import Real
from typing import Annotated, Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax
from scipy.stats import loguniform
from sklearn.base import is_classifier, is_regressor
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Ridge
from sklearn.utils import check_array
from sklearn.utils.metaestimators import available_if

from lupi._parameters import (
    ClassWeight,
    Estimator,
    Folds,
    Number,
    Positive,
    Seed,
    Share,
    parameters,
)
from lupi.base import (
    ModelInfo,
    Privileged,
    PrivilegedEstimator,
    PrivilegedTags,
    Training,
    check_privileged,
)
from lupi.base._arguments import coded_classes
from lupi.base._estimator import ScoreClassifier, TargetRegressor, probabilities_if
from lupi.base._metadata import accepts, fit_with, last_step, seeded
from lupi.base._rows import is_data_frame, side_by_side, take_rows
from lupi.transfer._fitting import (
    accepted_classes,
    fit_weighted_copies,
    for_outputs,
    precise_logistic,
    precise_ridge,
    scaled,
    takes_nan,
    with_inner_tags,
)
from lupi.transfer._folds import fit_out_of_fold

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


@parameters
class Distillation(PrivilegedEstimator):
    """Base class of the classifier and the regressor: fits the teacher out of fold."""

    teacher: Estimator = field(default=None, kw_only=False)
    student: Estimator = field(default=None, kw_only=False)
    teacher_view: Literal["privileged", "both"] = "privileged"
    imitation_weight: Share = 0.5
    cv: Folds = 5
    random_state: Seed = None

    _privileged_state = ("teacher_", "soft_labels_", "soft_targets_")

    def _fit_training(self, training: Training) -> None:
        training = training.learnable()
        known, absent = training.privileged, training.unlabelled
        if absent is not None:
            # A row without y is used with the soft label of a teacher; without a
            # teacher, or without X*, it has none and changes nothing.
            taught = known is not None and self.imitation_weight > 0
            if known is not None and absent[known.rows].all():
                warnings.warn(
                    f"{type(self).__name__} got privileged information for no row that "
                    "has y, so that no teacher can be trained. The student is trained "
                    "on the rows that have y, as without privileged information.",
                    stacklevel=4,
                )
                taught = False
            training = training if taught else training.take(training.labelled)
        student = seeded(self._student(sp.issparse(training.X)), self.random_state)
        self.student_ = self._fit_student(training, student)

    def _fit_student(self, training: Training, student: Any) -> Any:
        """Fit the teacher if there is X*, and return the fitted student."""
        raise TypeError(f"{type(self).__name__} does not define _fit_student.")

    def _student(self, sparse: bool = False) -> Any:
        """Return the parameter ``student``, or the default student."""
        if self.student is not None:
            return self.student
        return scaled(precise_ridge(), sparse=sparse)

    def _reading_options(self) -> dict[str, Any]:
        # A student given by the user may encode categories and impute missing values.
        own = self.student is not None
        return {"keep_data_frame": own, "allow_nan_X": own and takes_nan(self.student)}

    def _read_privileged(self, privileged: Any, n_rows: int) -> Privileged | None:
        return check_privileged(
            privileged,
            n_rows,
            self,
            allow_partial=is_data_frame(privileged) and takes_nan(self.teacher),
            keep_data_frame=self.teacher is not None,
        )

    def _student_weight(
        self,
        training: Training,
        weight: np.ndarray | None,
        class_factor: np.ndarray | None = None,
    ) -> np.ndarray | None:
        """Return the student's weights, where a row without y has the factor λ.

        `class_factor` has the expected class weights of the rows without y.
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

    def _fit_teacher(self, view: Any, y: np.ndarray, weight: np.ndarray | None) -> Any:
        """Return a fitted teacher; subclasses define it."""
        raise TypeError(f"{type(self).__name__} does not define _fit_teacher.")

    def _taught(self, teacher: Any, view: Any) -> np.ndarray:
        """Return what a teacher predicts; subclasses define it."""
        raise TypeError(f"{type(self).__name__} does not define _taught.")

    def _fit_teachers(
        self, training: Training, weight: np.ndarray | None, strata: np.ndarray
    ) -> tuple[Any, np.ndarray]:
        """Return a teacher of the rows with X* and y, and predictions of all with X*.

        A row that has y is predicted by a teacher not trained on it.
        """
        privileged = training.privileged
        assert privileged is not None
        absent = np.zeros(len(privileged.rows), dtype=bool)
        if training.unlabelled is not None:
            absent = training.unlabelled[privileged.rows]
        unlabelled, privileged = privileged.only(absent), privileged.only(~absent)
        rows = privileged.rows
        teacher, known = fit_out_of_fold(
            self,
            self._fit_teacher,
            self._taught,
            self._view(training.X, privileged),
            training.y[rows],
            None if weight is None else weight[rows],
            [take_rows(training.X, rows), privileged.values, strata[rows]],
        )
        if not absent.any():
            return teacher, known
        taught = np.empty((len(absent), *known.shape[1:]))
        taught[~absent] = known
        taught[absent] = self._taught(teacher, self._view(training.X, unlabelled))
        return teacher, taught

    def __lupi_tags__(self) -> PrivilegedTags:
        return PrivilegedTags(uses_unlabelled=True)

    def __sklearn_tags__(self) -> Any:
        student, own = self._student(sparse=True), self.student is not None
        return with_inner_tags(super().__sklearn_tags__(), student, nan=own)


def check_copies(student: Any) -> None:
    """Raise an error for a classifier that cannot use weighted copies of rows."""
    if not accepts(student, "sample_weight"):
        raise ValueError(
            f"The student {type(last_step(student)).__name__} takes no "
            "sample_weight, and a classifier can be fitted to soft labels only by "
            "weights. Give one that does, a regressor (which is fitted to log-odds), "
            "or imitation_weight=0."
        )
    if hasattr(last_step(student), "refit"):
        raise ValueError(
            f"The student is a {type(last_step(student)).__name__}, whose splits would "
            "separate the weighted copies of a row. Search the parameters of the whole "
            "model instead, with those of the student as student__..., or give a "
            "regressor, which is fitted to log-odds."
        )


@parameters
class GeneralizedDistillationClassifier(ScoreClassifier, Distillation):
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

    temperature: Positive = 1.0
    class_weight: ClassWeight = None
    clip: Annotated[float, Number(Real, 0, 0.5, "neither")] = 1e-3

    __lupi_info__ = ModelInfo(
        **DISTILLATION,
        helps="y is predicted better, or from fewer rows, by X\\* than by X, and x "
        "predicts the teacher's outputs; best where X\\* is between X and y",
        cost="a teacher (six fits with `cv=5`) and a student",
        tune="`imitation_weight` (0 included), `teacher_view`, `temperature`, the "
        "student",
        rank=3,
    )

    def _fit_student(self, training: Training, student: Any) -> Any:
        coded = coded_classes(training, self.class_weight, self)
        self.classes_, factor, codes, cost = coded
        weighted = training.weighted or self.class_weight is not None
        weight = cost if weighted else None
        taught = expected = None
        known = training.privileged
        if known is not None and self.imitation_weight > 0:
            fitted, scores = self._fit_teachers(training, weight, codes)
            self.teacher_ = fitted[0]
            # No class is much less probable than `clip`.
            soft = np.maximum(softmax(scores / self.temperature, axis=1), self.clip)
            soft /= soft.sum(axis=1, keepdims=True)
            absent = codes[known.rows] < 0
            # The share of soft labels is 1 where y is missing.
            mixed = np.where(absent, 1.0, self.imitation_weight)[:, None]
            taught = known.rows, soft, mixed
            expected = soft[absent] @ factor if weighted else None
            self.soft_labels_ = soft
        weight = self._student_weight(training, weight, expected)
        share = np.eye(len(self.classes_))[codes]
        if is_regressor(student):
            scores = hard_scores(share)
            if taught is not None:
                rows, soft, mixed = taught
                scores[rows] = (1 - mixed) * scores[rows] + mixed * log_scores(soft)
            target = as_target(scores)
            student = for_outputs(student, target)
            return fit_with(student, training.X, target, sample_weight=weight)
        if not is_classifier(student):
            raise ValueError(
                f"student={student!r} is neither a classifier nor a regressor; give "
                "one of the two."
            )
        if taught is None:
            target = accepted_classes(student, self.classes_)[codes]
            return fit_with(student, training.X, target, sample_weight=weight)
        check_copies(student)
        rows, soft, mixed = taught
        share[rows] = (1 - mixed) * share[rows] + mixed * soft
        if weight is not None:
            share *= weight[:, None]
        return fit_weighted_copies(student, training.X, self.classes_, share)

    def _fit_teacher(
        self, view: Any, y: np.ndarray, weight: np.ndarray | None
    ) -> tuple[Any, np.ndarray]:
        """Return a teacher and the classes of its rows."""
        classes, seen = self.classes_, np.unique(y)
        if len(seen) < 2:
            # Most classifiers cannot be fitted to a single class.
            return DummyClassifier().fit(view, y), seen
        teacher = self.teacher
        if teacher is None:
            logistic = precise_logistic(view.shape[1] * len(classes))
            teacher = scaled(logistic, sparse=sp.issparse(view))
        teacher, codes = seeded(teacher, self.random_state), np.searchsorted(classes, y)
        target = accepted_classes(teacher, classes)[codes]
        if is_regressor(teacher):
            target = as_target(hard_scores(np.eye(len(classes))[codes]))
            teacher = for_outputs(teacher, target)
        return fit_with(teacher, view, target, sample_weight=weight), seen

    def _taught(self, teacher: tuple[Any, np.ndarray], view: Any) -> np.ndarray:
        return class_scores(teacher[0], view, self.classes_, teacher[1])

    def _scores(self, X: Any) -> np.ndarray:
        """Return the scores of a student that is a regressor."""
        return regressor_scores(self.student_, X, len(self.classes_))

    def _student_has(self, *methods: str) -> bool:
        """Return whether the student has a method, or is a regressor of log-odds."""
        student = self._student()
        return is_regressor(student) or any(hasattr(student, one) for one in methods)

    decision_function = available_if(
        lambda self: self._student_has("decision_function", "predict_proba")
    )(ScoreClassifier.decision_function)
    predict_proba = probabilities_if(lambda self: self._student_has("predict_proba"))(
        ScoreClassifier.predict_proba
    )

    def _predicted(self, X: Any) -> np.ndarray:
        X = self._validate_X(X)
        if not is_regressor(self.student_):
            accepted = accepted_classes(self.student_, self.classes_)
            return self.classes_[np.searchsorted(accepted, self.student_.predict(X))]
        return self.classes_[self._scores(X).argmax(axis=1)]

    def _decisions(self, X: Any) -> np.ndarray:
        X = self._validate_X(X)
        if is_regressor(self.student_):
            return as_target(self._scores(X))
        if hasattr(self.student_, "decision_function"):
            return self.student_.decision_function(X)
        return as_target(class_scores(self.student_, X, self.classes_))

    def _probabilities(self, X: Any) -> np.ndarray:
        X = self._validate_X(X)
        if is_regressor(self.student_):
            return softmax(self._scores(X), axis=1)
        return self.student_.predict_proba(X)


class GeneralizedDistillationRegressor(TargetRegressor, Distillation):
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

    def _fit_student(self, training: Training, student: Any) -> Any:
        weight = training.weight if training.weighted else None
        target = training.y.copy()
        known = training.privileged
        if known is not None and self.imitation_weight > 0:
            taught = self._fit_teachers(training, weight, training.y)
            self.teacher_, self.soft_targets_ = taught
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

    def _taught(self, teacher: Any, view: Any) -> np.ndarray:
        # Some regressors of scikit-learn (PLS) return a column.
        return np.asarray(teacher.predict(view), dtype=float).reshape(view.shape[0])

    def _targets(self, X: Any) -> np.ndarray:
        X = self._validate_X(X)
        return self._taught(self.student_, X)


# Conversions between class labels, probabilities and log-odds. Scores have one column
# per class and are centered in each row: ``softmax(scores)`` are the probabilities, and
# with two classes the difference of the columns is the log-odds.


def hard_scores(indicators: np.ndarray) -> np.ndarray:
    """Return the scores of known labels: K − 1 for the row's class, −1 elsewhere.

    The log-odds of a known label are infinite. These scores are the working responses
    of (multinomial) logistic regression at equal probabilities, that is, finite
    targets whose regression has the slope of the log-odds there; with two classes
    the log-odds are ±2.
    """
    return indicators.shape[1] * indicators - 1.0


def log_scores(probabilities: np.ndarray) -> np.ndarray:
    """Return centered log-probabilities."""
    logarithms = np.log(probabilities)
    return logarithms - logarithms.mean(axis=1, keepdims=True)


def as_target(scores: np.ndarray) -> np.ndarray:
    """Return the target of a regressor: log-odds for two classes, scores for more."""
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def as_scores(target: np.ndarray) -> np.ndarray:
    """Return the scores of a regressor's predictions, the inverse of ``as_target``."""
    if target.ndim == 1:
        return np.column_stack([-target / 2, target / 2])
    return target


def regressor_scores(regressor: Any, X: Any, n_classes: int) -> np.ndarray:
    """Return the scores of a regressor that was fitted to ``as_target``."""
    shape = X.shape[:1] if n_classes == 2 else (X.shape[0], n_classes)
    return as_scores(np.asarray(regressor.predict(X), dtype=float).reshape(shape))


def class_scores(
    estimator: Any, X: Any, classes: np.ndarray, seen: np.ndarray | None = None
) -> np.ndarray:
    """Return the scores of any fitted estimator, one column for each of ``classes``.

    They come from ``predict_proba`` if there is one, else from ``decision_function``
    (interpreted as log-odds), else from the predictions of a regressor fitted to
    ``as_target(hard_scores(...))``. A class that was not among the training rows
    (`seen`) gets the score −∞, that is, the probability 0 at every temperature.
    """
    if is_regressor(estimator):
        known = regressor_scores(estimator, X, len(classes))
        seen = classes if seen is None else seen
        return np.where(np.isin(classes, seen), known, -np.inf)
    scores = None
    if hasattr(estimator, "decision_function"):
        scores = as_scores(np.asarray(estimator.decision_function(X), dtype=float))
    if hasattr(estimator, "predict_proba"):
        chance = np.asarray(estimator.predict_proba(X), dtype=float)
        # Decision values that are the log-odds of these probabilities (logistic
        # regression, boosting) keep digits where the probabilities round to 0 or 1.
        same = scores is not None and scores.shape == chance.shape
        if not same or not np.allclose(softmax(scores, axis=1), chance, atol=1e-12):
            scores = log_scores(np.maximum(chance, np.finfo(float).tiny))
    if scores is None:
        raise ValueError(
            f"The teacher {type(estimator).__name__} has neither predict_proba nor "
            "decision_function and is not a regressor, so that it gives no soft "
            "labels. Give one that has one of them, or wrap it in "
            "CalibratedClassifierCV."
        )
    known, seen = scores, estimator.classes_
    if known.shape[1] != len(seen):
        raise ValueError(
            f"The teacher {type(estimator).__name__} gives {known.shape[1]} decision "
            f"values for {len(seen)} classes, and log-odds need one for each class. "
            "Use decision_function_shape='ovr', or wrap it in CalibratedClassifierCV."
        )
    scores = np.full((known.shape[0], len(classes)), -np.inf)
    scores[:, np.searchsorted(accepted_classes(estimator, classes), seen)] = known
    return scores
