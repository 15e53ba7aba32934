r"""Hedged distillation: students with and without X*, weighted out of fold.

There are three candidates, each a student that predicts from x alone:

1. ``labels`` is trained on y, on the labelled rows;
2. ``privileged`` is trained on the predictions of a teacher that has X*;
3. ``both`` is trained on the predictions of a teacher that has X and X*.

The last two are trained on all rows that have X*, whether or not y is known. The
prediction is a weighted average :math:`\sum_c w_c f_c(x)`. Its weights are chosen by
predictions of rows that neither the student nor its teacher was trained on:

.. math::
    \min_{w \ge 0,\, 1^\top w = 1} \; \sum_i s_i \Big(\sum_c w_c f_c^{(-i)}(x_i) - y_i
    \Big)^2 + \kappa\, e \, \|w - \pi\|^2,

with :math:`e` the mean squared error of the best candidate. From n = 64 labelled rows
on, :math:`\pi = (\tfrac12, \tfrac14, \tfrac14)` and :math:`\kappa = k`. Fewer rows do
not show whether a teacher is right: with :math:`r = n / 64` the teachers have the share
:math:`r^2 / 2`, and :math:`\kappa = k / \sqrt r`. The candidate ``privileged`` is best
where X* is between x and y, ``both`` where x also acts on y directly, and ``labels``
where X* says nothing about y; the weighted average is close to the best of them.

Only ratios of sample weights count: their mean over labelled rows is set to 1, and n is
Kish's effective number of rows, :math:`(\sum s_i)^2 / \sum s_i^2`. The candidate
``labels`` is the same as without rows that have no y. For the default ridge, cells of
rows without y that are far beyond all others are replaced by the mean, so that no
single one of them has an effect.

The teachers must be refitted inside the folds. If their predictions were made once, and
the weights chosen by cross-validation of the students alone, these predictions would
contain the held-out labels, and a teacher of pure noise would get most of the weight.

The scores of a classifier rank rows, and in a ranking a student counts by its weight
times its spread. A ridge student of a teacher is penalized twice: with X* alone it has
half of the spread of the student of the labels, in the median of real tables, so that
it would count half. Therefore the weights of a classifier's ridge students are chosen
for :math:`m + g_c (f_c - m)`, with m the mean of y and :math:`g_c \ge 1` the factor
that raises the spread about m out of fold to that of the student of the labels, at most
3; with fewer than 64 rows it is :math:`g_c^r`. At one spread, errors differ by
correlations alone. In the average the candidates then have the weights
:math:`g_c w_c / g`, with :math:`g = \sum_c g_c w_c`. For other students g is 1.

This average predicts class indicators; probabilities are calibrated from it:

.. math::
    p_k \propto \exp(a\, z_k + b_k), \qquad
    \min_{a \ge a_0,\, b} \; -\sum_i s_i \log p_{y_i} + \tfrac{c}{2} (a - g)^2,

with :math:`z_k` the logarithm of the average for class k, clipped to [0.02, 0.98], and
c = 10. With two classes :math:`z_1 - z_0` is the logit of the average. The slope is
shrunk towards g, which restores the spread, and kept positive: an unrestricted slope,
fitted on 60 rows, is negative in half of the cases, which reverses the ranking.

=====================================  ======================
symbol                                 name
=====================================  ======================
:math:`w`                              ``weights_``
:math:`f_c`                            ``students_``
:math:`k`, rows of the prior           ``prior_strength``
:math:`s`                              ``sample_weight``
=====================================  ======================

Related: E. Xia and M. Wainwright, "Prediction aided by surrogate training", 2024 (arXiv
2412.09364), one teacher of X and X* on all rows; D. Lopez-Paz, L. Bottou, B. Schölkopf
and V. Vapnik, "Unifying distillation and privileged information", ICLR 2016.
"""

from __future__ import annotations

import warnings
from dataclasses import field, replace
from math import ceil
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from joblib import Parallel
from scipy.optimize import minimize, nnls
from scipy.special import log_softmax
from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import make_pipeline

from lupi._parameters import (
    ClassWeight,
    Count,
    Folds,
    Instance,
    NotNegative,
    Seed,
    parameters,
)
from lupi._parts import LocalParts, Parts
from lupi.base import (
    ModelInfo,
    Privileged,
    PrivilegedTags,
    Training,
    check_privileged,
    class_weights,
)
from lupi.base._arguments import classes_of
from lupi.base._estimator import ScoreClassifier, TargetRegressor
from lupi.base._metadata import seeded
from lupi.base._rows import is_data_frame, refuse_text_columns
from lupi.transfer._fitting import GroupedEstimator, takes_nan, with_inner_tags
from lupi.transfer._folds import folds_of, shuffle_generators
from lupi.transfer._hedge import (
    ClassOutput,
    EstimatorLearner,
    HedgedRows,
    Output,
    SumsLearner,
    Units,
    fit_candidates,
    learner_of,
)
from lupi.transfer._ridge import GCVRidge, linear_values

VIEWS = ("privileged", "both")
Estimators = Annotated[Any, Instance("fit"), None, list, tuple]
# Predictions may lie beyond the known y by this part of their range.
_MARGIN = 0.2
# Deviation of predictions of rows without y, in units of that of y, that is plausible.
_LARGEST_SPREAD = 3.0
# Largest factor of the spread of a classifier's student: one of which hardly more than
# the mean is left has learned nothing.
_LARGEST_FACTOR = 3.0
# A spread below this part of the deviation of y may be rounding.
_ROUNDING = 1e-6
# Number of labelled rows from which on the prior gives one half to the teachers.
_ENOUGH_ROWS = 64
# Bounds of the average before its logarithm, and the prior of the calibration.
_LOW, _HIGH = 0.02, 0.98
_SLOPE_STRENGTH = 10.0
_SMALLEST_SLOPE = 1e-3
# Number of errors out of fold that are kept, in each part and in the model.
_MOST_ERRORS = 10_000

# Fields of ModelInfo that classifier and regressor share.
HEDGED: dict[str, Any] = {
    "default": True,
    "title": "Hedged distillation",
    "paper": "Xia & Wainwright 2024, arXiv 2412.09364; the weights are of this library",
    "cite": "xia2024surrogate",
    "formulas": __name__,
    "helps": "X\\* is between X and y, or acts on y besides X; rows without y increase "
    "the gain. Where X\\* says nothing about y, the loss is small",
    "cost": "with the default ridge a few regressions on all rows; else about 95 fits",
    "tune": "nothing; `student`",
}


@parameters
class HedgedDistillation(GroupedEstimator):
    """Base class of the classifier and the regressor."""

    teacher: Estimators = field(default=None, kw_only=False)
    student: Estimators = field(default=None, kw_only=False)
    views: Literal["privileged", "both"] | list | tuple = VIEWS
    cv: Folds = 5
    n_repeats: Count = 2
    prior_strength: NotNegative = 10.0
    n_jobs: int | None = None
    random_state: Seed = None

    # Teachers may hold rows of X* (neighbors, support vectors); predicting needs none.
    _privileged_state: ClassVar = ("teachers_",)

    def _outputs(self) -> Output:
        """Return the description of the output."""
        return ClassOutput(self.classes_) if is_classifier(self) else Output()

    def _class_factor(self, rows: Parts) -> np.ndarray | None:
        """Return the class weights, or None."""
        if getattr(self, "class_weight", None) is None:
            return None
        outputs = ClassOutput(self.classes_)
        totals = rows.sum(lambda part: part.labelled_weight @ outputs.full(part.target))
        codes = np.arange(len(self.classes_))
        factor = class_weights(self.class_weight, self.classes_, codes, totals)
        # As for the weights of the rows, the mean over labelled rows is 1.
        factor = factor * (totals.sum() / (totals @ factor))
        return None if np.allclose(factor, 1.0, rtol=1e-12) else factor

    def _reading_options(self) -> dict[str, Any]:
        students = [student for _, student in self._pairs().values()]
        return {
            "keep_data_frame": not all(map(_is_ridge, students)),
            "allow_nan_X": all(map(takes_nan, students)),
        }

    def _fit_training(self, training: Training) -> None:
        ridge = any(_is_ridge(student) for _, student in self._pairs().values())
        if ridge and is_data_frame(training.X):  # the default student needs numbers
            try:
                np.asarray(training.X, dtype=float)
            except (TypeError, ValueError) as error:
                refuse_text_columns(training.X, type(self).__name__, error)
                raise
        counted = training.weight[training.labelled] > 0
        self._fit_parts(LocalParts([training.learnable()]), counted)

    def _fit_parts(self, training: Parts, counted: Any = None) -> None:
        """Fit to parts of `Training` whose rows have y, X* or both.

        `counted` is the mask of the labelled rows of positive weight, for a `cv` that
        splits the rows given.
        """
        pairs = self._pairs()
        if is_classifier(self):
            self.classes_ = classes_of(training, self)
        outputs = self._outputs()
        for teacher, student in pairs.values():
            outputs.check(teacher, "teacher")
            outputs.check(student, "student")
        # Penalties and the prior are absolute: the mean weight of labelled rows is 1.
        n_labelled, weight, grouped, weighted = training.sum(_summary)
        scale = n_labelled / weight
        rows = training.map(HedgedRows.of, outputs, scale)
        factor = self._class_factor(rows)
        # Twice the class of the labelled rows, plus 1 for those with X*.
        strata: Any = rows.map(
            lambda part: 2 * outputs.codes(part.target) + part.taught
        )
        groups: Any = None
        if grouped:
            groups = training.map(lambda part: part.extra["groups"][part.labelled])
        units = Units.of(rows, strata, 2 * max(2, outputs.n_targets), groups)
        whole = isinstance(self.cv, Integral)
        n_folds = units.most_folds(int(self.cv)) if whole else 3
        views = self._usable_views(rows, units.n_taught, n_folds)
        if not views:
            rows = training.map(
                lambda part: replace(part.take(part.labelled), privileged=None)
            ).map(HedgedRows.of, outputs, scale)
        if whole:
            generators = shuffle_generators(self.n_repeats, self.random_state)
            folds = [units.assign(n_folds, generator) for generator in generators]
        else:
            named = None
            if groups is not None:
                named = np.unique(groups.parts[0], return_inverse=True)[1]
            split = folds_of(self.cv, counted, strata.parts[0] // 2, named)
            folds, n_folds = [LocalParts([split])] * self.n_repeats, split.max() + 1
        n_columns = self.n_features_in_, self.n_privileged_features_in_ if views else 0
        given: Any = rows, folds[0], n_folds, outputs, n_columns, factor, weighted
        learners = {name: learner_of(*pair, *given) for name, pair in pairs.items()}
        cost = rows.map(_costs, outputs, factor)
        blend, stretch = self._fit_candidates(
            learners, rows, cost, folds, n_folds, views
        )
        students = self.students_.values()
        if hasattr(self, "feature_names_in_"):
            for student in filter(_is_ridge, students):
                student.feature_names_in_ = self.feature_names_in_
        if all(map(_is_ridge, students)):
            weights = np.array(list(self.weights_.values()))
            for name in ("coef_", "intercept_", "missing_coef_"):
                parts = np.array([getattr(student, name) for student in students])
                setattr(self, name, np.tensordot(weights, parts, axes=1))
        self._finish(rows, cost, blend, stretch)

    def _fit_candidates(
        self,
        learners: dict[str, SumsLearner | EstimatorLearner],
        rows: Parts,
        cost: Parts,
        folds: list[Parts],
        n_folds: int,
        views: tuple[str, ...],
    ) -> tuple[Parts | None, float]:
        """Set students, teachers and weights; return the average out of fold.

        The number beside it is the factor that gives the average the spread at which
        the weights were chosen. `folds` has the fold of each labelled row, once per
        repetition, and `cost` its weight, 1 in the mean. With a single fold there are
        no predictions out of fold, and the weights are the prior.
        """
        self.students_, self.teachers_ = {}, {}
        predicted, spread = [], []
        everything = frozenset(range(n_folds))
        keeps = [everything - {k} for k in range(n_folds)] if n_folds > 1 else []
        total, squared, level = cost.sum(
            lambda cost, part: (cost.sum(), cost @ cost, cost @ part.target), rows
        )
        # Kish's effective number of rows, and the mean of y.
        size, level = total**2 / squared, level / total
        for prefix, learner in learners.items():
            # A fit from sums takes less time than sending it to another process.
            by_sums = isinstance(learner, SumsLearner)
            parallel = Parallel(self.n_jobs, backend="sequential" if by_sums else None)
            for repeat, fold in enumerate(folds):
                learner = learner.refold(fold) if repeat else learner
                wanted = keeps if repeat else [*keeps, everything]
                fitted = fit_candidates(learner, views, wanted, parallel)
                if repeat == 0:
                    students, teachers = fitted.pop()
                    spread.append(learner.spread(list(students.values()), level))
                    for name, student in students.items():
                        self.students_[prefix + name] = learner.export(student)
                    for view, teacher in teachers.items():
                        self.teachers_[prefix + view] = learner.export(teacher, view)
                if keeps:
                    held_out = [list(students.values()) for students, _ in fitted]
                    predicted.append(learner.out_of_fold(held_out))
        is_label = np.tile([True, *[False] * len(views)], len(learners))
        weights, self.candidate_scores_ = _prior(is_label, size), {}
        blend, stretch = None, 1.0
        if keeps:
            candidates = predicted[0].map(_mean_of_repeats, *predicted[1:], len(folds))
            products, with_y, squares, fourths, variation = candidates.sum(
                _error_sums, rows, cost, level
            )
            factor = np.ones(len(weights))
            if is_classifier(self):
                power = min(1.0, size / _ENOUGH_ROWS)
                powers = [power * one.is_ridge for one in learners.values()]
                factor, products = _at_one_spread(products, with_y, variation, powers)
            # A candidate that varies on rows without y by more than y does errs there
            # at least by the difference, which no labelled row shows.
            deviation = np.sqrt(variation / total)
            excess = factor * np.sqrt(np.concatenate(spread))
            excess = np.maximum(excess - _LARGEST_SPREAD * deviation, 0)
            products = products + np.diag(total * excess**2)
            weights = _simplex_weights(products, size, weights, self.prior_strength)
            if is_classifier(self):
                stretch = float(factor @ weights)
                weights = factor * weights / stretch
            # 1 − MSE / variance, and its standard error.
            scores, errors = np.zeros((2, len(weights)))
            if variation > 0:
                scores = 1 - squares / variation
                apart = np.maximum(fourths - squares**2 / total, 0.0)
                errors = np.sqrt(total / size * apart) / variation
            pairs = zip(scores.tolist(), errors.tolist(), strict=True)
            self.candidate_scores_ = dict(zip(self.students_, pairs, strict=True))
            blend = candidates.map(
                lambda part, weights: np.einsum("a,ant->nt", weights, part), weights
            )
        self.weights_ = dict(zip(self.students_, weights.tolist(), strict=True))
        return blend, stretch

    def _finish(
        self, rows: Parts, cost: Parts, blend: Parts | None, stretch: float
    ) -> None:
        """Set what follows from the predictions out of fold; subclasses define it."""

    def _validate_params(self) -> None:
        super()._validate_params()
        views = (self.views,) if isinstance(self.views, str) else tuple(self.views)
        if not views or len(set(views)) < len(views) or not set(views) <= set(VIEWS):
            raise ValueError(
                f"views={self.views!r}: give 'privileged' (a teacher that has X*), "
                "'both' (one that has X and X*), or a tuple of the two."
            )

    def _pairs(self) -> dict[str, tuple[Any, Any]]:
        """Return teacher and student by the prefix of their candidates' names.

        They are seeded; None is the ridge.
        """
        several = isinstance(self.student, list | tuple)
        students = list(self.student) if several else [self.student]
        students = [GCVRidge() if one is None else one for one in students]
        teachers = [self.teacher] * len(students)
        if isinstance(self.teacher, list | tuple):
            teachers = list(self.teacher)
        if not students or len(teachers) != len(students):
            raise ValueError(
                f"student has {len(students)} estimators and teacher {len(teachers)}. "
                "Give one teacher for each student, or teacher=None, which clones the "
                "students."
            )
        prefixes = [""]
        if several:  # their classes, numbered where a class occurs twice
            prefixes = [f"{name}__" for name, _ in make_pipeline(*students).steps]
        pairs = {}
        for prefix, teacher, student in zip(prefixes, teachers, students, strict=True):
            both = student if teacher is None else teacher, student
            pairs[prefix] = tuple(seeded(one, self.random_state) for one in both)
        return pairs

    def _read_privileged(self, privileged: Any, n_rows: int) -> Privileged | None:
        teachers = [teacher for teacher, _ in self._pairs().values()]
        return check_privileged(
            privileged,
            n_rows,
            self,
            allow_partial=all(map(takes_nan, teachers)),
            keep_data_frame=not all(map(_is_ridge, teachers)),
        )

    def _usable_views(
        self, rows: Parts, n_taught: int, n_folds: int
    ) -> tuple[str, ...]:
        """Return the views that can be used; warn if X* cannot be used."""
        known = rows.gather(lambda part: part.privileged and len(part.privileged.rows))
        if not any(known):
            return ()
        why = None
        if n_taught == 0:
            why = "No row that has y has X*, so that no teacher can be trained"
        elif n_folds < 2:
            few = "There are" if is_regressor(self) else "A class has"
            why = (
                f"{few} fewer than two distinct labelled rows (or groups), so that no "
                "prediction is out of fold"
            )
        elif n_taught < min(3, n_folds):
            why = f"Only {n_taught} distinct rows (or groups) that have y also have X*"
        if why is None:
            return (self.views,) if isinstance(self.views, str) else tuple(self.views)
        warnings.warn(
            f"{type(self).__name__} is trained without X*. {why}.", stacklevel=6
        )
        return ()

    def _blend(self, X: Any) -> np.ndarray:
        """Return the weighted sum of the students, (n_rows, n_targets)."""
        X, outputs = self._validate_X(X), self._outputs()
        if hasattr(self, "coef_"):
            values = linear_values(X, self.coef_, self.missing_coef_, self.intercept_)
            return values.reshape(X.shape[0], outputs.n_targets)
        total = np.zeros((X.shape[0], outputs.n_targets))
        for name, weight in self.weights_.items():
            if weight > 0:
                total += weight * outputs.values(self.students_[name], X)
        return total

    def __lupi_tags__(self) -> PrivilegedTags:
        partial = all(takes_nan(teacher) for teacher, _ in self._pairs().values())
        reason = (
            "the mean weight of labelled rows is set to 1, so that only ratios of "
            "weights count, and not to penalty, prior and limits; rows given twice are "
            "twice as many rows"
        )
        repeated = (
            "check_weight_two_is_a_repeated_row",
            "check_unlabelled_rows_have_weights",
        )
        return PrivilegedTags(
            cannot_hold=dict.fromkeys(repeated, reason),
            uses_unlabelled=True,
            takes_missing_cells=partial,
        )

    def __sklearn_tags__(self) -> Any:
        students = (student for _, student in self._pairs().values())
        return with_inner_tags(super().__sklearn_tags__(), *students)


@parameters
class HedgedDistillationClassifier(ScoreClassifier, HedgedDistillation):
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
        are fewer than 64 labelled rows. With 0 there is no prior.
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
        They include factors of up to 3 for students that vary little (see Notes).
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
    slope a is kept positive, so that probabilities rank rows as the average does.
    ``decision_function`` returns the log-odds of the probabilities.

    Ridge students of teachers, which are penalized twice, vary less than the student
    of the labels. Their weights include the factor, at most 3, that makes up for it.

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

    class_weight: ClassWeight = None

    __lupi_info__ = ModelInfo(**HEDGED, rank=1)

    def _finish(
        self, rows: Parts, cost: Parts, blend: Parts | None, stretch: float
    ) -> None:
        n_classes, outputs = len(self.classes_), ClassOutput(self.classes_)
        self.calibration_slope_, self.calibration_intercept_ = 1.0, np.zeros(n_classes)
        if blend is None:
            return

        def log_loss(blend: Any, rows: Any, cost: Any, theta: np.ndarray) -> Any:
            """Return −Σ w log p and its gradient at θ = (a, b_1, …); b_0 is 0."""
            logs, known = _log(outputs.full(blend)), outputs.full(rows.target)
            chance = log_softmax(theta[0] * logs + np.append(0.0, theta[1:]), axis=1)
            off = np.exp(chance) - known
            along = cost @ np.sum(off * logs, axis=1)
            value = -float(cost @ np.sum(known * chance, axis=1))
            return value, np.append(along, cost @ off[:, 1:])

        def objective(theta: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = blend.sum(log_loss, rows, cost, theta)
            away = theta[0] - stretch
            gradient[0] += _SLOPE_STRENGTH * away
            return value + _SLOPE_STRENGTH / 2 * away**2, gradient

        optimum = minimize(
            objective,
            stretch * np.eye(1, n_classes)[0],
            jac=True,
            method="L-BFGS-B",
            bounds=[(_SMALLEST_SLOPE, None)] + [(None, None)] * (n_classes - 1),
            options={"ftol": 1e-12, "gtol": 1e-10},
        )
        self.calibration_slope_ = float(optimum.x[0])
        self.calibration_intercept_ = np.append(0.0, optimum.x[1:])
        self.calibration_intercept_ -= self.calibration_intercept_.mean()

    def _scores(self, X: Any) -> np.ndarray:
        """Return calibrated scores, one column per class."""
        blend = self._blend(X)
        logs = _log(ClassOutput(self.classes_).full(blend))
        return self.calibration_slope_ * logs + self.calibration_intercept_


class HedgedDistillationRegressor(TargetRegressor, HedgedDistillation):
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
        are fewer than 64 labelled rows. With 0 there is no prior.
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
        The linear model that the average is before it is clipped, where all students
        are the default.
    missing_coef_ : ndarray of shape (n_features,)
        Summand of a missing cell, in place of value × coefficient.
    prediction_range_ : ndarray of shape (2,)
        Predictions are clipped to this range: that of y on the labelled rows, extended
        by a fifth of its length on both sides.
    errors_ : ndarray of shape (2, n_errors)
        Absolute errors of the average out of fold, ascending, and the weights of their
        rows; at most about 10 000 of them. They are the errors before clipping. Absent
        where there are no predictions out of fold.

    See Also
    --------
    HedgedDistillationClassifier : The same for classes.
    GeneralizedDistillationRegressor : One teacher, with a fixed weight.

    Notes
    -----
    A row with y and X* is used by all candidates, a row with y alone by the first, a
    row with X* alone by the others, and a row with neither changes nothing.

    The average is clipped, so that a row far from all labelled ones is not given a
    value far from all known ones. Candidates are weighted by their errors unclipped.

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

    def _finish(
        self, rows: Parts, cost: Parts, blend: Parts | None, stretch: float
    ) -> None:
        ends = np.max(rows.gather(_ends), axis=0)
        margin = _MARGIN * (ends[1] + ends[0])
        self.prediction_range_ = np.array([-ends[0] - margin, ends[1] + margin])
        if blend is not None:
            self.errors_ = _thinned(np.hstack(blend.gather(_errors, rows, cost)))

    def _targets(self, X: Any) -> np.ndarray:
        values = self._blend(X)[:, 0]
        # Models saved by version 0.1 have no range.
        ends = getattr(self, "prediction_range_", None)
        return values if ends is None else np.clip(values, *ends)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Return intervals that contain the target with a given probability.

        The interval is the prediction ± the quantile of the absolute errors out of
        fold whose rank is ``coverage`` × (number of labelled rows + 1), rounded up: the
        interval of cross-validation with the correction of conformal prediction. It
        has the stated coverage in the mean over rows and over training samples, if the
        labelled rows are a random sample of all rows. The coverage of one fitted model
        differs from it: with 60 labelled rows and ``coverage=0.9`` by a standard
        deviation of about 0.04. The interval is as wide where y is hard to predict as
        elsewhere. A pipeline has it as
        ``model[-1].predict_interval(model[:-1].transform(X))``.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Decision features.
        coverage : float, default=0.9
            Probability, between 0 and 1, that the interval contains the target.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Lower and upper end for every row.

        Examples
        --------
        >>> import numpy as np
        >>> from lupi import HedgedDistillationRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(600, 10))
        >>> later = X @ rng.normal(size=(10, 1)) + rng.normal(size=(600, 1))
        >>> outcome = later[:, 0] + 2 * rng.normal(size=600)
        >>> y = np.where(np.arange(600) < 100, outcome, np.nan)
        >>> model = HedgedDistillationRegressor().fit(X, y, privileged=later)
        >>> low, high = model.predict_interval(X[100:], coverage=0.8).T
        >>> inside = (low <= outcome[100:]) & (outcome[100:] <= high)
        >>> bool(inside.mean() > 0.75)
        True
        """
        is_number = isinstance(coverage, Real) and not isinstance(coverage, bool)
        if not is_number or not 0 < coverage < 1:
            raise ValueError(
                f"coverage={coverage!r}: give a number above 0 and below 1, such as "
                "0.9."
            )
        values = self.predict(X)
        if not hasattr(self, "errors_"):
            raise ValueError(
                "This model has no errors out of fold, from which intervals are made: "
                "it was fitted to a single labelled row (or group), or saved by a "
                "version of lupi without intervals. Fit it again, with more labelled "
                "rows."
            )
        errors, weight = self.errors_
        # The new row has the mean weight, 1.
        enough = np.cumsum(weight) >= coverage * (weight.sum() + 1) * (1 - 1e-12)
        if not enough.any():
            least = ceil(coverage / (1 - coverage) - 1e-9)
            raise ValueError(
                f"coverage={coverage} takes at least {least} labelled rows, but the "
                f"model was fitted to {round(weight.sum())}. Give a smaller coverage, "
                "or fit it to more labelled rows."
            )
        reach = errors[np.argmax(enough)]
        return values[:, None] + np.array([-reach, reach])


def _summary(training: Training) -> tuple[int, float, int, int]:
    """Return number and weight of labelled rows, and whether groups, weights exist."""
    labelled, grouped = training.labelled, "groups" in training.extra
    weight = float(training.weight[labelled].sum())
    return len(labelled), weight, int(grouped), int(training.weighted)


def _is_ridge(estimator: Any) -> bool:
    """Return whether an estimator is the default, which needs numbers."""
    return isinstance(estimator, GCVRidge)


def _ends(rows: HedgedRows) -> np.ndarray:
    """Return −min y and max y."""
    if not len(rows.target):
        return np.full(2, -np.inf)
    return np.array([-rows.target.min(), rows.target.max()])


def _errors(blend: np.ndarray, rows: HedgedRows, cost: np.ndarray) -> np.ndarray:
    """Return absolute errors and weights, thinned if they are many."""
    return _thinned(np.array([np.abs(blend - rows.target)[:, 0], cost]))


def _thinned(errors: np.ndarray) -> np.ndarray:
    """Return errors and weights by size; of a run of errors the largest is kept."""
    errors = errors[:, np.argsort(errors[0], kind="stable")]
    n = errors.shape[1]
    starts = np.arange(0, n, -(-n // _MOST_ERRORS) or 1)
    if len(starts) == n:
        return errors
    last = np.append(starts[1:], n) - 1
    return np.array([errors[0, last], np.add.reduceat(errors[1], starts)])


def _costs(rows: HedgedRows, outputs: Output, factor: np.ndarray | None) -> np.ndarray:
    """Return the weights of the labelled rows times those of their classes."""
    cost = rows.labelled_weight
    if factor is not None and isinstance(outputs, ClassOutput):
        cost = cost * (outputs.full(rows.target) @ factor)
    return cost


def _mean_of_repeats(*given: Any) -> np.ndarray:
    """Return the mean predictions of all candidates, given pair by pair."""
    *predicted, n_repeats = given
    starts = range(0, len(predicted), n_repeats)
    return np.concatenate(
        [np.mean(predicted[k : k + n_repeats], axis=0) for k in starts]
    )


def _error_sums(
    candidates: np.ndarray, rows: HedgedRows, cost: np.ndarray, level: np.ndarray
) -> tuple[Any, ...]:
    """Return products of the candidates' errors, sums of their squares, and of y."""
    errors, apart = candidates - rows.target, rows.target - level
    products = np.einsum("ant,bnt,n->ab", errors, errors, cost, optimize=True)
    with_y = np.einsum("ant,nt,n->a", errors, apart, cost)
    squares = np.sum(errors**2, axis=2)
    variation = float(cost @ np.sum(apart**2, axis=1))
    return products, with_y, squares @ cost, squares**2 @ cost, variation


def _at_one_spread(
    products: np.ndarray, with_y: np.ndarray, variation: float, powers: list[float]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the factors g of the candidates, and the products of their errors then.

    The candidates are given pair by pair, the student of the labels first, and the
    factors of a pair have a power. With m the mean of y, the error g(f − m) − (y − m)
    is g(f − y) + (g − 1)(y − m).
    """
    squares = np.diag(products) + 2 * with_y + variation
    spread = np.sqrt(np.maximum(squares, 0.0)).reshape(len(powers), -1)
    labels, rounding = spread[:, :1], _ROUNDING * np.sqrt(variation)
    least = np.maximum(np.maximum(spread, labels / _LARGEST_FACTOR), rounding)
    factor = np.ones_like(spread)
    np.divide(labels, least, out=factor, where=least < labels)
    factor = (factor ** np.reshape(powers, (-1, 1))).ravel()
    cross = np.outer(factor * with_y, factor - 1)
    products = products * np.outer(factor, factor) + cross + cross.T
    return factor, products + variation * np.outer(factor - 1, factor - 1)


def _prior(is_label: np.ndarray, n: float) -> np.ndarray:
    """Return the prior weights of candidates, some of them of the labels."""
    if is_label.all():
        return is_label / is_label.sum()
    share = 0.5 * min(1.0, n / _ENOUGH_ROWS) ** 2
    return np.where(is_label, (1 - share) / is_label.sum(), share / (~is_label).sum())


def _simplex_weights(
    products: np.ndarray, n: float, prior: np.ndarray, prior_strength: float
) -> np.ndarray:
    """Return the weights for products E'E of the errors E = F − y of n rows."""
    size, least = len(prior), np.diag(products).min()
    if not np.trace(products) > 0:
        return prior.copy()
    # As 1'w = 1, Fw − y = Ew and w − π = (I − π1')w: the problem is to minimize w'Mw
    # on the simplex. For v = sw, min_s s²q + (1 − s)² = q / (1 + q) grows with
    # q = w'Mw: w is proportional to the v ≥ 0 that minimizes v'Mv + (1 − 1'v)².
    away = np.eye(size) - np.outer(prior, np.ones(size))
    strength = prior_strength / np.sqrt(min(1.0, n / _ENOUGH_ROWS))
    M = products + strength * least / n * (away.T @ away)
    # Errors of very different size lose no digits where M has the diagonal 1.
    unit = np.sqrt(np.diag(M))
    unit = np.where(unit > 0, unit, 1.0)
    values, vectors = np.linalg.eigh(M / np.outer(unit, unit))
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    A = np.vstack([root, unit.min() / unit])
    v, _ = nnls(A, np.concatenate([np.zeros(size), [1.0]]))
    weights = v / unit
    return weights / weights.sum()


def _log(blend: np.ndarray) -> np.ndarray:
    """Return log(blend), clipped; beyond the clip it continues with slope 1."""
    inside = np.clip(blend, _LOW, _HIGH)
    return np.log(inside) + (blend - inside)
