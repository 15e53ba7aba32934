"""Fitting other people's estimators: weights, privileged data and seeds.

scikit-learn has several ways to hand ``sample_weight`` to an estimator that is wrapped
in another one. The composed models of this library take any estimator, so the ways
are gathered here, behind one call that works with metadata routing on and off.
"""

from __future__ import annotations

from inspect import Parameter, signature
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import get_config
from sklearn.base import BaseEstimator, clone, is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection._search import BaseSearchCV
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metadata_routing import get_routing_for_object, process_routing

from lupi.base._data_frames import side_by_side
from lupi.base._rows import is_data_frame


def beside(left: Any, right: Any) -> Any:
    """Lay X and X* side by side: a data frame, or sparse, when either is."""
    if is_data_frame(left) or is_data_frame(right):
        return side_by_side(left, right)
    if sp.issparse(left) or sp.issparse(right):
        return sp.hstack([left, right], format="csr")
    return np.hstack([left, right])


def last_step(estimator: Any) -> Any:
    """Return the estimator that does the work: inside a pipeline, or itself."""
    while isinstance(estimator, Pipeline | MultiOutputRegressor):
        pipeline = isinstance(estimator, Pipeline)
        estimator = estimator.steps[-1][1] if pipeline else estimator.estimator
    return estimator


def takes_nan(estimator: Any) -> bool:
    """Tell whether missing values can be left to an estimator, or to a step in it."""
    if isinstance(estimator, Pipeline):
        return any(takes_nan(step) for _, step in estimator.steps)
    if isinstance(estimator, ColumnTransformer | FeatureUnion):
        return True
    if not hasattr(estimator, "fit"):  # None, "passthrough"
        return False
    inner = getattr(estimator, "estimator", None)
    tags = get_tags(estimator)
    return tags.input_tags.allow_nan or tags.no_validation or takes_nan(inner)


def accepts(estimator: Any, name: str) -> bool:
    """Tell whether ``estimator.fit`` makes use of an argument called ``name``."""
    estimator = last_step(estimator)
    if not hasattr(estimator, "fit"):
        return False
    parameters = signature(estimator.fit).parameters
    if name in parameters:
        return True
    # Searches, RFE and their kin hand what they are given to the estimator inside.
    inner = getattr(estimator, "estimator", None)
    passes_on = any(p.kind is Parameter.VAR_KEYWORD for p in parameters.values())
    passes_on = passes_on and inner is not None and accepts(inner, name)
    return passes_on and _hindrance(estimator, name) is None


def _hindrance(estimator: Any, name: str) -> str | None:
    """Return why a wrapper cannot hand an argument on, None if it can."""
    if isinstance(estimator, FrozenEstimator):
        return None
    if not get_config()["enable_metadata_routing"]:
        kind = next(k for k in type(estimator).__mro__ if "fit" in vars(k))
        hands_on = kind is RFE or issubclass(kind, BaseSearchCV | SelectFromModel)
        # The other wrappers of scikit-learn (RFECV, SequentialFeatureSelector,
        # one-vs-rest) refuse every extra argument; no signature shows it.
        if kind.__module__.split(".")[0] == "sklearn" and not hands_on:
            return "Switch metadata routing on for it to hand the argument on."
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


def refuse_regressor(estimator: Any, parameter: str, owner: Any) -> None:
    """Refuse a regressor where classes are predicted, in a sentence."""
    if is_regressor(estimator):
        raise ValueError(
            f"{type(owner).__name__} predicts classes, but {parameter}={estimator!r} "
            "is a regressor. Give a classifier."
        )


def scaled(estimator: Any, *, sparse: bool) -> Any:
    """Return the estimator behind a standardisation of its features."""
    # Centring would fill a sparse matrix; the intercept does that work anyway.
    return make_pipeline(StandardScaler(with_mean=not sparse), estimator)


def precise_ridge() -> Ridge:
    """Return the default regressor.

    Its solver for sparse features is iterative; at the default tolerance it would
    tell a row of weight 2 from the row twice in the fifth digit.
    """
    return Ridge(tol=1e-10)


def precise_logistic(n_coefficients: int) -> LogisticRegression:
    """Return the default teacher of classes."""
    # Newton's method is exact, at a price that grows with the square of the number
    # of coefficients.
    return LogisticRegression(
        solver="newton-cholesky" if n_coefficients <= 300 else "lbfgs",
        tol=1e-8,
        max_iter=10_000,
    )


def seeded(estimator: BaseEstimator, random_state: Any) -> Any:
    """Clone, giving each open ``random_state`` inside a seed drawn from ours."""
    estimator = clone(estimator)
    if random_state is None:
        return estimator
    generator = check_random_state(random_state)
    seeds = {}
    for key, value in sorted(estimator.get_params(deep=True).items()):
        if key.split("__")[-1] == "random_state" and value is None:
            seeds[key] = generator.randint(np.iinfo(np.int32).max)
    return estimator.set_params(**seeds)


def fit_with(estimator: Any, X: Any, y: Any, **metadata: Any) -> Any:
    """Fit with the given metadata; what is None is not passed at all.

    Parameters
    ----------
    estimator : estimator
        Fitted in place and returned.
    X, y : array-like
        Training data.
    **metadata : array-like or None
        ``sample_weight``, ``privileged``. In a pipeline every step that takes the
        argument receives it, so that a scaler is weighted like the model after it.

    Raises
    ------
    ValueError
        When the estimator cannot take what it is given.
    """
    metadata = {name: value for name, value in metadata.items() if value is not None}
    for name in metadata:
        if not accepts(estimator, name):
            last = last_step(estimator)
            why = ""
            if accepts(getattr(last, "estimator", None), name):
                why = f" {_hindrance(last, name)}"
            raise ValueError(
                f"{type(last).__name__}.fit takes no {name!r}, which is needed here. "
                f"Choose an estimator whose fit accepts {name!r}, or fit without it."
                + why
            )
    if get_config()["enable_metadata_routing"]:
        if "sample_weight" in metadata:
            _request_weights(estimator)
        return estimator.fit(X, y, **metadata)
    named: dict[str, Any] = {}
    for name, value in metadata.items():
        named |= _named(estimator, name, value)
    return estimator.fit(X, y, **named)


def _named(estimator: Any, name: str, value: Any) -> dict[str, Any]:
    """Name an argument as ``estimator.fit`` wants it without metadata routing."""
    if isinstance(estimator, Pipeline):
        return {
            f"{step}__{key}": value
            for step, inner in estimator.steps
            if accepts(inner, name)
            for key in _named(inner, name, value)
        }
    takes_it = name in signature(estimator.fit).parameters
    # MultiOutputRegressor takes weights, but has no way to hand them to a pipeline.
    if takes_it and not isinstance(estimator, MultiOutputRegressor):
        return {name: value}
    return _named(estimator.estimator, name, value)


def for_outputs(estimator: Any, target: np.ndarray) -> Any:
    """Return a regressor that can learn a target of this shape."""
    if target.ndim == 1 or get_tags(estimator).target_tags.multi_output:
        return estimator
    return MultiOutputRegressor(estimator)


def _request_weights(estimator: Any) -> None:
    # With routing on, a wrapped estimator that has not said whether it wants the
    # weights makes the wrapper fail; the caller's own answer is left alone.
    for inner in estimator.get_params(deep=True).values():
        if not hasattr(inner, "get_metadata_routing"):
            continue
        requests = get_routing_for_object(inner)
        for method in ("fit", "score"):
            asked = getattr(getattr(requests, method, None), "requests", {})
            # What a pipeline asks for its own score cannot be read off its routing.
            hidden = method == "score" and isinstance(inner, Pipeline)
            hidden = hidden and hasattr(inner, "set_score_request")
            if hidden or asked.get("sample_weight", False) is None:
                getattr(inner, f"set_{method}_request")(sample_weight=True)
