"""`atomic_fit`: the fitted state changes in one step, at the end of ``fit``."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])

# Attribute with the names of the attributes that the last fit has set.
_NAMES = "_fitted_names"


def atomic_fit(method: Method) -> Method:
    """Decorate ``fit``: the estimator changes at its end, in one step, or not at all.

    The method runs on a copy of the estimator that has its parameters and no attribute
    of an earlier fit, so that no attribute survives a refit that does not set it. When
    the method returns, the attributes of the copy replace those of the estimator. When
    it raises, or is interrupted, the estimator is unchanged.

    The parameters are validated first, if the class has ``_parameter_constraints``.

    With ``warm_start=True``, and in ``partial_fit``, the copy keeps the earlier fit;
    the method must then copy what it changes in place.

    Parameters
    ----------
    method : callable
        ``fit`` or ``partial_fit`` of an estimator.

    Returns
    -------
    callable
        The method with the same signature; it returns the estimator.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> from lupi.base import atomic_fit
    >>> class Mean(BaseEstimator):
    ...     @atomic_fit
    ...     def fit(self, X, y=None):
    ...         self.n_samples_ = len(X)
    ...         self.mean_ = sum(X) / len(X)
    >>> model = Mean().fit([1.0, 3.0])
    >>> model.fit([])
    Traceback (most recent call last):
    ZeroDivisionError: division by zero
    >>> model.n_samples_, model.mean_
    (2, 2.0)
    """

    @wraps(method)
    def fit(self: Any, *args: Any, **kwargs: Any) -> Any:
        if hasattr(self, "_parameter_constraints"):
            self._validate_params()
        keep = method.__name__ == "partial_fit" or getattr(self, "warm_start", False)
        earlier = vars(self).get(_NAMES, ())
        before = dict(vars(self))
        for name in (*(() if keep else earlier), _NAMES):
            before.pop(name, None)
        copy = object.__new__(type(self))
        vars(copy).update(before)
        method(copy, *args, **kwargs)
        state = vars(copy)
        changed = [
            name
            for name, value in state.items()
            if (keep and name in earlier)
            or name not in before
            or value is not before[name]
        ]
        state[_NAMES] = sorted({*changed} - {_NAMES})
        self.__dict__ = state
        return self

    return fit  # type: ignore[return-value]
