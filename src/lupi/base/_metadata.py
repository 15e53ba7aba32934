"""Fitting an estimator inside another one: weights, privileged data and seeds.

scikit-learn has several ways to hand ``sample_weight`` and ``privileged`` to an
estimator that is wrapped in another one, with metadata routing on and off. They are
gathered here; everything that fits an estimator of the user's choice calls `fit_with`.
"""

from __future__ import annotations

from inspect import Parameter, signature
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import get_routing_for_object, process_routing

from lupi._compat import BaseSearchCV

# The wrappers of scikit-learn that hand further arguments on without routing.
_HANDING_ON = (
    BaseSearchCV,
    SelectFromModel,
    CalibratedClassifierCV,
    TransformedTargetRegressor,
)


def last_step(estimator: Any) -> Any:
    """Return the estimator that does the work: inside a pipeline, or itself."""
    while isinstance(estimator, Pipeline | MultiOutputRegressor):
        pipeline = isinstance(estimator, Pipeline)
        estimator = estimator.steps[-1][1] if pipeline else estimator.estimator
    return estimator


def inner_estimator(estimator: Any) -> Any:
    """Return the estimator that a wrapper hands its arguments to, or None."""
    if isinstance(estimator, TransformedTargetRegressor):
        return estimator.regressor
    return getattr(estimator, "estimator", None)


def accepts(estimator: Any, name: str) -> bool:
    """Tell whether ``estimator.fit`` makes use of an argument called ``name``."""
    estimator = last_step(estimator)
    if not hasattr(estimator, "fit"):
        return False
    parameters = signature(estimator.fit).parameters
    if name in parameters:
        return True
    if not any(p.kind is Parameter.VAR_KEYWORD for p in parameters.values()):
        return False
    # Searches, RFE and their kin hand what they are given to the estimator inside.
    inner = inner_estimator(estimator)
    inside = inner is None or accepts(inner, name)
    return inside and _hindrance(estimator, name) is None


def _hindrance(estimator: Any, name: str) -> str | None:
    """Return why a wrapper cannot hand an argument on, None if it can."""
    if isinstance(estimator, FrozenEstimator):
        return None
    if not get_config()["enable_metadata_routing"]:
        kind = next(k for k in type(estimator).__mro__ if "fit" in vars(k))
        hands_on = kind is RFE or issubclass(kind, _HANDING_ON)
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
            if accepts(inner_estimator(last), name):
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
    return estimator.fit(X, y, **fit_arguments(estimator, **metadata))


def fit_arguments(estimator: Any, **metadata: Any) -> dict[str, Any]:
    """Name metadata as ``estimator.fit`` wants it without metadata routing.

    Parameters
    ----------
    estimator : estimator
        Whose steps take the arguments under the name ``step__argument``, if it is a
        pipeline.
    **metadata : array-like or None
        ``sample_weight``, ``privileged``; what is None is left out.

    Returns
    -------
    dict from str to array-like
        Arguments of ``fit``.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lupi import SVCPlus
    >>> from lupi.base._metadata import fit_arguments
    >>> pipeline = make_pipeline(StandardScaler(), SVCPlus())
    >>> fit_arguments(pipeline, privileged=[[1.0]], sample_weight=None)
    {'svcplus__privileged': [[1.0]]}
    """
    named: dict[str, Any] = {}
    for name, value in metadata.items():
        if value is not None:
            named |= _named(estimator, name, value)
    return named


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
    inner = inner_estimator(estimator)
    return {name: value} if inner is None else _named(inner, name, value)


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


def seeded(estimator: Any, random_state: Any) -> Any:
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
