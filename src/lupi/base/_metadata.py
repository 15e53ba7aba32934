"""An estimator inside another one: metadata, seeds, predictions and certificates.

scikit-learn has several ways to pass ``sample_weight`` and ``privileged`` to an
estimator that is wrapped in another one, with metadata routing enabled and disabled.
All code that fits an estimator of the user's choice calls `fit_with`.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection._search import BaseSearchCV
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metadata_routing import get_routing_for_object, process_routing
from sklearn.utils.metaestimators import available_if

from lupi.base._estimator import probabilities_if
from lupi.base._info import PrivilegedTags, uses_unlabelled

# The wrappers of scikit-learn that pass extra arguments on without metadata routing.
_PASSING_WRAPPERS = (
    BaseSearchCV,
    SelectFromModel,
    CalibratedClassifierCV,
    TransformedTargetRegressor,
)


def last_step(estimator: Any) -> Any:
    """Return the last step of a pipeline, or the estimator itself."""
    while isinstance(estimator, Pipeline | MultiOutputRegressor):
        pipeline = isinstance(estimator, Pipeline)
        estimator = estimator.steps[-1][1] if pipeline else estimator.estimator
    return estimator


def inner_estimator(estimator: Any) -> Any:
    """Return the estimator that a wrapper passes its arguments to, or None."""
    if isinstance(estimator, TransformedTargetRegressor):
        return estimator.regressor
    return getattr(estimator, "estimator", None)


def accepts(estimator: Any, name: str) -> bool:
    """Return whether ``estimator.fit`` uses an argument called ``name``."""
    estimator = last_step(estimator)
    if not hasattr(estimator, "fit"):
        return False
    parameters = signature(estimator.fit).parameters
    if name in parameters:
        return True
    if not any(p.kind is Parameter.VAR_KEYWORD for p in parameters.values()):
        return False
    # Searches, RFE and similar wrappers pass keywords on to the estimator inside.
    inner = inner_estimator(estimator)
    inside = inner is None or accepts(inner, name)
    return inside and _routing_obstacle(estimator, name) is None


def _routing_obstacle(estimator: Any, name: str) -> str | None:
    """Return why a wrapper cannot pass an argument on, None if it can."""
    if isinstance(estimator, FrozenEstimator):
        return None
    if not get_config()["enable_metadata_routing"]:
        kind = next(k for k in type(estimator).__mro__ if "fit" in vars(k))
        passes = kind is RFE or issubclass(kind, _PASSING_WRAPPERS)
        # The other wrappers of scikit-learn (RFECV, SequentialFeatureSelector,
        # one-vs-rest) refuse every extra argument; their signatures do not show it.
        if kind.__module__.split(".")[0] == "sklearn" and not passes:
            return (
                "Call sklearn.set_config(enable_metadata_routing=True) to let it pass "
                "the argument on."
            )
        return None
    if not hasattr(estimator, "get_metadata_routing"):
        return None
    trial = clone(estimator)
    if name == "sample_weight":
        _request_weights(trial)
    try:
        process_routing(trial, "fit", **{name: np.ones(1)})
    except (TypeError, ValueError) as error:
        return str(error)
    return None


def fit_with(estimator: Any, X: Any, y: Any, **metadata: Any) -> Any:
    """Fit an estimator with metadata; arguments that are None are not passed."""
    metadata = {name: value for name, value in metadata.items() if value is not None}
    for name in metadata:
        if not accepts(estimator, name):
            last = last_step(estimator)
            reason = ""
            if accepts(inner_estimator(last), name):
                reason = f" {_routing_obstacle(last, name)}"
            raise ValueError(
                f"{type(last).__name__}.fit takes no {name!r}, which is needed here. "
                f"Choose an estimator whose fit accepts {name!r}, or fit without it."
                + reason
            )
    if get_config()["enable_metadata_routing"]:
        if "sample_weight" in metadata:
            _request_weights(estimator)
        return estimator.fit(X, y, **metadata)
    return estimator.fit(X, y, **fit_arguments(estimator, **metadata))


def fit_arguments(estimator: Any, **metadata: Any) -> dict[str, Any]:
    """Return metadata under the names that ``fit`` expects without metadata routing."""
    named: dict[str, Any] = {}
    for name, value in metadata.items():
        if value is not None:
            named |= _named(estimator, name, value)
    return named


def _named(estimator: Any, name: str, value: Any) -> dict[str, Any]:
    """Return one argument under the names that ``fit`` expects."""
    if isinstance(estimator, Pipeline):
        return {
            f"{step}__{key}": value
            for step, inner in estimator.steps
            if accepts(inner, name)
            for key in _named(inner, name, value)
        }
    takes_it = name in signature(estimator.fit).parameters
    # MultiOutputRegressor takes weights, but cannot pass them on to a pipeline.
    if takes_it and not isinstance(estimator, MultiOutputRegressor):
        return {name: value}
    inner = inner_estimator(estimator)
    return {name: value} if inner is None else _named(inner, name, value)


def _request_weights(estimator: Any) -> None:
    # With metadata routing, a wrapper fails if the estimator inside has neither
    # requested nor declined the weights; a request of the caller's is not changed.
    for inner in estimator.get_params(deep=True).values():
        if not hasattr(inner, "get_metadata_routing"):
            continue
        requests = get_routing_for_object(inner)
        for method in ("fit", "score"):
            requested = getattr(getattr(requests, method, None), "requests", {})
            # The routing of a pipeline does not show the request of its own score.
            hidden = method == "score" and isinstance(inner, Pipeline)
            hidden = hidden and hasattr(inner, "set_score_request")
            if hidden or requested.get("sample_weight", False) is None:
                getattr(inner, f"set_{method}_request")(sample_weight=True)


def seeded(estimator: Any, random_state: Any) -> Any:
    """Clone an estimator and seed each ``random_state`` inside that is None."""
    estimator = clone(estimator)
    if random_state is None:
        return estimator
    generator = check_random_state(random_state)
    seeds = {}
    for key, value in sorted(estimator.get_params(deep=True).items()):
        if key.split("__")[-1] == "random_state" and value is None:
            seeds[key] = generator.randint(np.iinfo(np.int32).max)
    return estimator.set_params(**seeds)


def stage_has(name: str) -> Callable[[Any], bool]:
    """Return a condition for `available_if`: whether the stage has an attribute."""

    def check(self: Delegate) -> bool:
        getattr(self._stage(), name)  # its error is more informative than False
        return True

    return check


def _of_stage(name: str, doc: str) -> property:
    """Return a property that forwards a certificate of the stage, if it has one."""

    def find(self: Delegate) -> Any:
        stage = last_step(self._stage())
        while not hasattr(stage, name):
            # A search or another wrapper keeps the fitted model in an attribute.
            inner = getattr(
                stage, "best_estimator_", getattr(stage, "estimator_", None)
            )
            if inner is None:
                break
            stage = last_step(inner)
        return getattr(stage, name)

    return property(find, doc=doc)


class Delegate:
    """Mixin of estimators whose predictions are those of another estimator, the stage.

    The subclass defines the stage (`_stage`: the fitted one after ``fit``) and its
    features (`_stage_features`). It has the prediction methods that the stage has.
    """

    def _stage(self) -> Any:
        """Return the stage."""
        return getattr(self, "estimator_", self.estimator)  # type: ignore[attr-defined]

    _stage_features: Callable[[Any], Any]

    @available_if(stage_has("predict"))
    def predict(self, X: Any) -> np.ndarray:
        """Predict labels or targets.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Decision features, with all columns as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            One label or target for every row.
        """
        return self._stage().predict(self._stage_features(X))

    @available_if(stage_has("decision_function"))
    def decision_function(self, X: Any) -> np.ndarray:
        """Return decision values.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Decision features, with all columns as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            One column per class when there are more than two classes.
        """
        return self._stage().decision_function(self._stage_features(X))

    @probabilities_if(lambda self: hasattr(self._stage(), "predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return class probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Decision features, with all columns as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return self._stage().predict_proba(self._stage_features(X))

    @available_if(stage_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of the class probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Decision features, with all columns as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return self._stage().predict_log_proba(self._stage_features(X))

    @available_if(stage_has("predict_interval"))
    def predict_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Return intervals that contain the target with a given probability.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Decision features, with all columns as in ``fit``.
        coverage : float, default=0.9
            Probability, between 0 and 1, that the interval contains the target.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Lower and upper end for every row.
        """
        return self._stage().predict_interval(self._stage_features(X), coverage)

    objective_ = _of_stage("objective_", "Primal value of the last stage.")
    duality_gap_ = _of_stage("duality_gap_", "Duality gap of the last stage.")
    n_iter_ = _of_stage("n_iter_", "Iterations of the last stage.")
    converged_ = _of_stage("converged_", "Whether the last stage converged.")


class Wrapper(Delegate):
    """A delegate around one classifier or regressor; it has the tags of that one."""

    @property
    def classes_(self) -> np.ndarray:
        """The class labels; only if the estimator is a classifier."""
        return self._stage().classes_

    @available_if(stage_has("score"))
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score of the fitted estimator, by default accuracy or R².

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Decision features.
        y : array-like of shape (n_samples,)
            True labels or targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        float
            The score.
        """
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self._stage().score(self._stage_features(X), y, **weights)

    def __lupi_tags__(self) -> PrivilegedTags:
        return PrivilegedTags(uses_unlabelled=uses_unlabelled(self._stage()))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        inner = get_tags(self.estimator)  # type: ignore[attr-defined]
        for name in ("sparse", "allow_nan"):
            setattr(tags.input_tags, name, getattr(inner.input_tags, name))
        own = ("estimator_type", "classifier_tags", "regressor_tags", "target_tags")
        for name in (*own, "non_deterministic"):
            setattr(tags, name, getattr(inner, name))
        return tags
