"""The base classes of estimators: checked arguments, and templates of ``fit``.

`PrivilegedEstimator` checks all arguments of ``fit`` at once, and calls `_fit_training`
with them. In the templates `PrivilegedClassifierBase` and `PrivilegedRegressorBase`, a
model file supplies one method: `_fit_binary` (labels ±1) or `_fit_real` (targets),
which returns a `Machine`. There are two hooks: `_begin` is called with all training
rows before it, `_attributes` returns the public attributes of the machines after it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar, cast

import numpy as np
from scipy.special import softmax
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    RegressorMixin,
    is_classifier,
    is_regressor,
)
from sklearn.utils import check_array
from sklearn.utils._available_if import _AvailableIfDescriptor
from sklearn.utils.validation import check_is_fitted, validate_data

from lupi._parameters import ClassWeight, Constraints, MultiClass, constraints_of
from lupi.base._arguments import (
    Privileged,
    Settled,
    Training,
    binary_problems,
    check_privileged,
    check_weight,
    counted_classes,
    decisions_of_classes,
    missing_targets,
    read_target,
    refuse_huge,
)
from lupi.base._info import Declared, PrivilegedTags
from lupi.base._rows import (
    as_data_frame,
    as_numpy,
    feature_names,
    is_data_frame,
    n_rows_of,
    refuse_other_index,
    refuse_text_columns,
)
from lupi.base._state import atomic_fit


class PrivilegedEstimator(Declared, BaseEstimator):
    """Base of every estimator whose ``fit`` takes ``privileged``.

    `privileged` is requested by default, so that scikit-learn's tools pass it on and
    split it into folds, with metadata routing enabled or disabled.

    Attributes
    ----------
    n_features_in_, feature_names_in_
        Of X, as in scikit-learn.
    n_privileged_features_in_ : int
        Width of the privileged table, 0 when none was given.
    privileged_feature_names_in_ : ndarray of str
        Its column names; only when it had names that are all strings.

    Examples
    --------
    An estimator that counts the rows with X*:

    >>> import numpy as np
    >>> from lupi.base import PrivilegedEstimator
    >>> class Counter(PrivilegedEstimator):
    ...     def _fit_training(self, training):
    ...         available = training.counted().privileged
    ...         self.n_available_ = 0 if available is None else len(available.rows)
    >>> X, P = [[0.0], [1.0], [2.0]], [[5.0], [np.nan], [6.0]]
    >>> Counter().fit(X, [0, 1, 1], privileged=P).n_available_
    2
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"privileged": True}

    @atomic_fit
    def fit(
        self, X: Any, y: Any, *, privileged: Any = None, sample_weight: Any = None
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Decision features, known also when predicting.
        y : array-like of shape (n_samples,)
            Class labels of any type, or targets. Models that learn from rows without y
            take NaN, None or NA there.
        privileged : array-like, sparse matrix or data frame, default=None
            Privileged features, one row per row of X, of any width. A row that is NaN
            throughout has none. None trains the counterpart without privileged
            information. Through a ``Pipeline`` of scikit-learn the argument is called
            ``STEP__privileged``, with the name of the step, unless metadata routing is
            enabled.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 2 counts as two rows, a row of weight 0 as none.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._fit_training(self._read(X, y, privileged, sample_weight))
        return self

    def _read(
        self, X: Any, y: Any, privileged: Any = None, sample_weight: Any = None
    ) -> Training:
        """Check the arguments of ``fit``."""
        how = self._reading_options()
        return self._validate_fit(X, y, privileged, sample_weight, **how)

    def _reading_options(self) -> dict[str, Any]:
        """Return the options of `_validate_fit`."""
        return {}

    def _fit_training(self, training: Training) -> None:
        """Fit to checked arguments; subclasses define this method or ``fit``."""
        raise TypeError(f"{type(self).__name__} does not define _fit_training.")

    def _validate_fit(
        self,
        X: Any,
        y: Any,
        privileged: Any = None,
        sample_weight: Any = None,
        *,
        accept_sparse: bool | str = "csr",
        dtype: Any = np.float64,
        allow_nan_X: bool = False,
        keep_data_frame: bool = False,
    ) -> Training:
        """Check every argument of ``fit``; store how X was read, for `_validate_X`.

        With ``keep_data_frame`` a data frame is not converted: its names and its shape
        are checked, its values are not.
        """
        self._reading = {
            "accept_sparse": "csr" if accept_sparse is True else accept_sparse,
            "dtype": dtype,
            "ensure_all_finite": "allow-nan" if allow_nan_X else True,
        }
        refuse_other_index(X, privileged, type(self).__name__)
        self._reads_data_frame = keep_data_frame and is_data_frame(X)
        if self._reads_data_frame:
            validate_data(self, X, skip_check_array=True)
            check_array(np.broadcast_to(0.0, X.shape), estimator=self)  # not empty
        else:
            X = self._read_numbers(X)
        n_rows = X.shape[0]
        privileged = as_numpy(privileged)
        target = read_target(
            as_numpy(y),
            n_rows,
            self,
            numeric=is_regressor(self),
            missing=self.__lupi_tags__().uses_unlabelled,
        )
        weight = check_weight(as_numpy(sample_weight), n_rows, self)
        read = self._read_privileged(privileged, n_rows)
        refuse_huge(X, "X", self)
        refuse_huge(target.values, "y", self)
        if read is not None:
            refuse_huge(read.values, "privileged", self)
        self._remember_privileged(None if read is None else privileged)
        return Training(
            X,
            target.values,
            read,
            weight,
            np.arange(n_rows),
            unlabelled=target.unlabelled,
            weighted=sample_weight is not None,
        )

    def _read_numbers(self, X: Any, *, reset: bool = True) -> Any:
        """Read X as numbers; the error names a column that does not hold numbers."""
        try:
            return validate_data(
                self, as_numpy(X), reset=reset, order="C", **self._reading
            )
        except (TypeError, ValueError) as error:
            refuse_text_columns(X, type(self).__name__, error, fitted=not reset)
            raise

    def _remember_privileged(self, table: Any) -> None:
        """Set the width and the names of the privileged table; None if all missing."""
        self.n_privileged_features_in_ = 0 if table is None else np.shape(table)[1]
        # Those of an earlier fit are there if warm_start keeps its state.
        self.__dict__.pop("privileged_feature_names_in_", None)
        if (names := feature_names(table)) is not None:
            self.privileged_feature_names_in_ = names

    def _read_privileged(self, privileged: Any, n_rows: int) -> Privileged | None:
        """Read `privileged` as numbers; a subclass may accept other values."""
        return check_privileged(privileged, n_rows, self)

    def _validate_privileged(self, privileged: Any) -> Privileged | None:
        """Read privileged rows after ``fit``; width and names must be as in ``fit``."""
        check_is_fitted(self)
        name = type(self).__name__
        if self.n_privileged_features_in_ == 0:
            raise ValueError(
                f"This {name} was fitted without privileged information, so there is "
                "nothing to apply to privileged rows. Fit it with privileged=... first."
            )
        privileged = as_numpy(privileged)
        read = check_privileged(privileged, n_rows_of(privileged), self)
        if read is None:
            return None
        expected = self.n_privileged_features_in_
        if read.values.shape[1] != expected:
            raise ValueError(
                f"{name} was fitted with {expected} privileged features, but got "
                f"{read.values.shape[1]}. Give the columns used in fit, in that order."
            )
        names = feature_names(privileged)
        fitted = getattr(self, "privileged_feature_names_in_", None)
        if names is not None and fitted is not None and list(names) != list(fitted):
            raise ValueError(
                f"{name} was fitted with the privileged columns {list(fitted)}, but "
                f"got {list(names)}. Give the columns used in fit, in that order."
            )
        return read

    def _validate_X(self, X: Any) -> Any:
        """Check X when predicting, read as in ``fit``."""
        check_is_fitted(self)
        if not self._reads_data_frame:
            return self._read_numbers(X, reset=False)
        if is_data_frame(X):
            return validate_data(self, X, reset=False, skip_check_array=True)
        X = validate_data(
            self,
            X,
            reset=False,
            accept_sparse="csr",
            dtype=None,
            ensure_all_finite=False,
        )
        # The line above warns if names are missing; the estimator inside gets them.
        return as_data_frame(X, getattr(self, "feature_names_in_", None))

    def __lupi_tags__(self) -> PrivilegedTags:
        return PrivilegedTags()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _refuse(self: Any) -> Any:
    name = type(self).__name__
    if not is_classifier(self) or not hasattr(self, "decision_function"):
        raise AttributeError(f"This {name!r} has no attribute 'predict_proba'")
    takes = inspect.signature(self.fit).parameters
    more = ", privileged=P" if "privileged" in takes else ""
    raise AttributeError(
        f"{name} has decision values and no probabilities. Calibrate them: "
        f"sklearn.calibration.CalibratedClassifierCV({name}(...)).fit(X, y{more})"
    )


no_probabilities = property(
    _refuse, doc="Absent: wrap the estimator in CalibratedClassifierCV."
)


class _ProbabilitiesIf(_AvailableIfDescriptor):
    """A method that is absent, with the same message, if a condition fails."""

    def _check(self, obj: Any, owner: type) -> None:
        if not self.check(obj):
            _refuse(obj)


def probabilities_if(check: Callable[[Any], bool]) -> Callable[..., Any]:
    """Make ``predict_proba`` available if ``check(self)``.

    This is `sklearn.utils.metaestimators.available_if` with another error message.
    """
    return lambda method: _ProbabilitiesIf(method, check, method.__name__)


class LabelledScore:
    """The score of scikit-learn, which needs y in every row."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of predicted labels, or the R² of predicted targets.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Decision features.
        y : array-like of shape (n_samples,)
            True labels or targets. They are needed in every row, also by models that
            learn from rows without y: `lupi.evaluation.LabelledSplits` tests on rows
            with y.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        float
            The score; 1 is the best.
        """
        missing, inherited = missing_targets(y), cast("Any", super())
        if missing.any():
            raise ValueError(
                f"{type(self).__name__}.score got y without a value in "
                f"{missing.sum()} of {len(missing)} rows, which cannot be scored. "
                "Leave these rows out; in cross-validation, use "
                "cv=lupi.evaluation.LabelledSplits(), whose test rows all have y."
            )
        return inherited.score(X, y, sample_weight)


class DecisionClassifier(LabelledScore, ClassifierMixin):
    """Labels by decision values: of two classes by their sign, else by the largest."""

    classes_: np.ndarray
    _decisions: Callable[[Any], np.ndarray]  # the decision values, by subclasses

    def decision_function(self, X: Any) -> np.ndarray:
        """Return decision values; privileged features are not needed.

        Where probabilities are the softmax of scores, they are log-odds.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Decision features.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes, a positive value means the second of ``classes_``. With
            more classes, the largest column is predicted.
        """
        return self._decisions(X)

    def predict(self, X: Any) -> np.ndarray:
        """Predict class labels; privileged features are not needed.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Decision features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels as they were in ``fit``.
        """
        return self._predicted(X)

    def _predicted(self, X: Any) -> np.ndarray:
        return self._labels(self.decision_function(X))

    def _labels(self, values: np.ndarray) -> np.ndarray:
        one = values.ndim == 1
        return self.classes_[(values > 0).astype(int) if one else values.argmax(axis=1)]


class TargetRegressor(LabelledScore, RegressorMixin):
    """Predictions of a regressor."""

    _targets: Callable[[Any], np.ndarray]  # the predicted targets, by subclasses

    def predict(self, X: Any) -> np.ndarray:
        """Predict targets; privileged features are not needed.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Decision features.

        Returns
        -------
        ndarray of shape (n_samples,)
            One number for every row.
        """
        return self._targets(X)


class ScoreClassifier(DecisionClassifier):
    """Predictions of a classifier whose probabilities are the softmax of scores."""

    _scores: Callable[[Any], np.ndarray]  # one column per class, by subclasses

    def _decisions(self, X: Any) -> np.ndarray:
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

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
        return self._probabilities(X)

    def _probabilities(self, X: Any) -> np.ndarray:
        return softmax(self._scores(X), axis=1)


class Machine(Protocol):
    """What `_fit_binary` and `_fit_real` return."""

    def decision(self, X: Any) -> np.ndarray:
        """Return one value per row."""


Fit = TypeVar("Fit", bound=Machine)


@dataclass(frozen=True)
class Fitted(Generic[Settled, Fit]):
    """The fitted machines and their training rows, for `_attributes`.

    Attributes
    ----------
    training : Training
        All rows given to ``fit``.
    parts : sequence of Training
        The rows of each binary problem; of a regressor, the rows of positive weight.
    models : sequence of objects with ``decision(X)``
        The machine fitted to each of the parts.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.base import Fitted, Training
    >>> training = Training(np.eye(2), np.ones(2), None, np.ones(2), np.arange(2))
    >>> fitted = Fitted(training, [training], ["a model"])
    >>> [part.n_rows for part in fitted.parts]
    [2]
    """

    training: Training
    parts: Sequence[Training[Settled]]
    models: Sequence[Fit]


class _Template(PrivilegedEstimator):
    """The hooks that both templates call."""

    def _begin(self, training: Training) -> Any:
        """Return values that depend on all rows, such as that of ``gamma="scale"``.

        Every part that is fitted has them as ``part.settled``.
        """

    def _decide(self, model: Any, X: Any) -> np.ndarray:
        """Return the decision values of a fitted machine."""
        return model.decision(X)

    def _attributes(self, fitted: Fitted) -> dict[str, Any]:
        """Return the public attributes of the fitted machines, by name."""
        return {}

    def _keep(self, fitted: Fitted) -> None:
        self._models = list(fitted.models)
        for name, value in self._attributes(fitted).items():
            setattr(self, name, value)


class PrivilegedClassifierBase(DecisionClassifier, _Template):
    """Classifier made of binary machines, one per pair of classes or per class.

    The subclass has the parameter ``multi_class``, ``class_weight`` as well where
    classes can be weighted, and implements `_fit_binary`.

    Attributes
    ----------
    classes_ : ndarray
        The labels seen in ``fit`` on rows of positive weight, sorted.

    Examples
    --------
    A classifier by the nearest centroid. Each centroid is the midpoint between the mean
    of the rows of its class and the mean of those of them that have X*:

    >>> import numpy as np
    >>> from lupi.base import PrivilegedClassifierBase
    >>> class Centroids:
    ...     def __init__(self, low, high):
    ...         self.low, self.high = low, high
    ...     def decision(self, X):
    ...         low, high = (((X - c) ** 2).sum(axis=1) for c in (self.low, self.high))
    ...         return low - high
    >>> class CentroidClassifier(PrivilegedClassifierBase):
    ...     def __init__(self, multi_class="ovr"):
    ...         self.multi_class = multi_class
    ...     def _fit_binary(self, part):
    ...         sides = (part.y < 0, part.y > 0)
    ...         means = [np.average(part.X[s], axis=0) for s in sides]
    ...         if part.privileged is not None:
    ...             rows = part.privileged.available
    ...             means = [
    ...                 (m + part.X[s & rows].mean(axis=0)) / 2
    ...                 for m, s in zip(means, sides)
    ...             ]
    ...         return Centroids(*means)
    >>> model = CentroidClassifier().fit([[0.0], [1.0], [4.0], [5.0]], list("aabb"))
    >>> model.predict([[0.9], [3.5]])
    array(['a', 'b'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "multi_class": constraints_of(MultiClass),
        "class_weight": constraints_of(ClassWeight),
    }

    def _fit_binary(self, part: Training) -> Machine:
        """Fit one binary machine.

        Parameters
        ----------
        part : Training
            The rows of the problem. ``part.y`` is ±1, where +1 is the second of the
            two classes (``"ovr"``: the class, not the rest). ``part.weight`` is the
            sample weight times the class weight, positive: what multiplies C per row.
        """
        raise TypeError(f"{type(self).__name__} does not define _fit_binary.")

    def _fit_training(self, training: Training) -> None:
        class_weight = getattr(self, "class_weight", None)
        counted, labels = counted_classes(training, class_weight, self)
        counted = replace(counted, settled=self._begin(training))
        parts = [
            replace(counted.take(index), y=sign)
            for index, sign in binary_problems(
                labels.codes, len(labels.classes), self.multi_class
            )
        ]
        self.classes_ = labels.classes
        models = [self._fit_binary(part) for part in parts]
        self._keep(Fitted(training, parts, models))

    def _decisions(self, X: Any) -> np.ndarray:
        X = self._validate_X(X)
        values = np.column_stack([self._decide(model, X) for model in self._models])
        return decisions_of_classes(values, len(self.classes_), self.multi_class)

    predict_proba = no_probabilities


class PrivilegedRegressorBase(TargetRegressor, _Template):
    """Regressor made of one machine; the subclass implements `_fit_real`.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.base import PrivilegedRegressorBase
    >>> class Constant:
    ...     def __init__(self, value):
    ...         self.value = value
    ...     def decision(self, X):
    ...         return np.full(len(X), self.value)
    >>> class MeanRegressor(PrivilegedRegressorBase):
    ...     def _fit_real(self, part):
    ...         return Constant(np.average(part.y, weights=part.weight))
    >>> model = MeanRegressor().fit([[0.0], [1.0]], [1.0, 4.0], sample_weight=[2, 1])
    >>> model.predict([[7.0]])
    array([2.])
    """

    def _fit_training(self, training: Training) -> None:
        part = replace(training.counted(), settled=self._begin(training))
        self._keep(Fitted(training, [part], [self._fit_real(part)]))

    def _fit_real(self, part: Training) -> Machine:
        """Fit the machine to the rows of positive weight."""
        raise TypeError(f"{type(self).__name__} does not define _fit_real.")

    def _targets(self, X: Any) -> np.ndarray:
        X = self._validate_X(X)
        return self._decide(self._models[0], X)
