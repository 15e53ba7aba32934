"""Models without the rows of X* that they hold.

Privileged data is what may not leave: predicting needs none of it. A class names the
attributes that hold rows of X*, or models that may, in ``_privileged_state``; a class
whose attributes cannot be left out whole has a method ``_without_privileged``.
"""

from __future__ import annotations

import copy
from typing import Any

from sklearn.base import BaseEstimator

from lupi._stored import STORED


def without_privileged(thing: Any) -> Any:
    """Return a fitted model that predicts the same and holds no row of X*.

    Parameters
    ----------
    thing : object
        An estimator, or a container of estimators. It is not changed.

    Returns
    -------
    object
        A copy as far as something had to be left out; otherwise the same object.
        Estimators lack the attributes that were left out, and other parts of models
        have None in their place.

    Examples
    --------
    >>> from lupi import GeneralizedDistillationClassifier
    >>> from lupi._privacy import without_privileged
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> model = GeneralizedDistillationClassifier(cv=2).fit(X, y, privileged=X)
    >>> hasattr(model, "teacher_"), hasattr(without_privileged(model), "teacher_")
    (True, False)
    """
    return _strip(thing, {})


def _strip(thing: Any, done: dict[int, tuple[Any, Any]]) -> Any:
    if id(thing) in done:
        return done[id(thing)][1]
    done[id(thing)] = (thing, thing)  # also keeps the object, and with it its id
    kept = _stripped(thing, done)
    done[id(thing)] = (thing, kept)
    return kept


def _stripped(thing: Any, done: dict[int, tuple[Any, Any]]) -> Any:
    if isinstance(thing, dict):
        values = {key: _strip(value, done) for key, value in thing.items()}
        same = all(values[key] is thing[key] for key in thing)
        return thing if same else type(thing)(values)
    if isinstance(thing, list | tuple):
        items = [_strip(item, done) for item in thing]
        same = all(one is other for one, other in zip(items, thing, strict=True))
        return thing if same else type(thing)(items)
    if not _is_model(thing):
        return thing
    if hasattr(thing, "_without_privileged"):
        thing = thing._without_privileged()
    left_out = getattr(type(thing), "_privileged_state", ())
    state = {
        name: _strip(value, done)
        for name, value in vars(thing).items()
        if name not in left_out
    }
    if not isinstance(thing, BaseEstimator):
        state |= dict.fromkeys(left_out)
    before = vars(thing)
    if state.keys() == before.keys() and all(v is before[n] for n, v in state.items()):
        return thing
    kept = copy.copy(thing)
    kept.__dict__ = state
    return kept


def _is_model(thing: Any) -> bool:
    """Tell whether a part of a model may hold others: estimators and their parts."""
    kind = type(thing)
    ours = f"{kind.__module__}.{kind.__name__}" in STORED
    theirs = kind.__module__.split(".")[0] in ("sklearn", "skrub")
    return hasattr(thing, "__dict__") and (
        isinstance(thing, BaseEstimator) or ours or theirs
    )
