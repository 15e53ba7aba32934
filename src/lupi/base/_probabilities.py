"""``predict_proba`` of classifiers that have no probabilities.

The attribute is absent, as scikit-learn's tools expect, but the message of the
AttributeError names the remedy.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import MethodType
from typing import Any

from sklearn.base import is_classifier


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


class _ProbabilitiesIf:
    """A method that is absent, with the same message, if a condition fails."""

    def __init__(self, method: Callable[..., Any], check: Callable[[Any], bool]):
        self.method = method
        self.check = check
        self.__doc__ = method.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self.method
        if not self.check(instance):
            _refuse(instance)
        return MethodType(self.method, instance)


def probabilities_if(check: Callable[[Any], bool]) -> Callable[..., Any]:
    """Make ``predict_proba`` available if ``check(self)``.

    This is `sklearn.utils.metaestimators.available_if` with another error message.
    """
    return lambda method: _ProbabilitiesIf(method, check)
