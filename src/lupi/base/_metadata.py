"""Fitting an estimator inside another one: weights, privileged data and seeds.

scikit-learn has several ways to pass ``sample_weight`` and ``privileged`` to an
estimator that is wrapped in another one, with metadata routing enabled and disabled.
They are gathered here; all code that fits an estimator of the user's choice calls
`fit_with`.
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
    """Fit an estimator with metadata; arguments that are None are not passed.

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
        If the estimator does not accept one of the arguments.
    """
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
    """Return metadata under the names that ``fit`` expects without metadata routing.

    Parameters
    ----------
    estimator : estimator
        If it is a pipeline, its steps take the arguments as ``step__argument``.
    **metadata : array-like or None
        ``sample_weight``, ``privileged``; arguments that are None are left out.

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
