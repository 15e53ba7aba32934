"""Data for the checks, and the assertions that they share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone, is_classifier

from lupi._words import listed
from lupi.base import PrivilegedTags


@dataclass(frozen=True)
class Task:
    """A small task in which X* has more information about y than X.

    All numbers are exact in float32, so that conversion to float32 has no error.
    """

    X: np.ndarray
    y: np.ndarray
    P: np.ndarray
    X_new: np.ndarray

    def take(self, rows: np.ndarray) -> Task:
        """Keep some training rows, in this order, repeats allowed."""
        return replace(self, X=self.X[rows], y=self.y[rows], P=self.P[rows])

    def without_P_in(self, rows: np.ndarray) -> Task:
        """Make X* missing in some rows."""
        P = self.P.copy()
        P[rows] = np.nan
        return replace(self, P=P)


def task(estimator: Any, *, n_classes: int = 2, n_rows: int = 60) -> Task:
    """Return the task for a classifier or a regressor, from a fixed seed."""
    rng = np.random.default_rng(0)
    cause = rng.normal(size=n_rows + 20)
    P = np.column_stack(
        [cause, cause**2, rng.normal(size=cause.size)]
    ) + 0.1 * rng.normal(size=(cause.size, 3))
    X = cause[:, None] * [1.0, -0.5, 0.0, 0.3] + rng.normal(size=(cause.size, 4))
    y: np.ndarray = cause + 0.3 * X[:, 0]
    if is_classifier(estimator):
        cuts = np.quantile(y, np.arange(1, n_classes) / n_classes)
        y = np.searchsorted(cuts, y)
    X, P = X.astype(np.float32).astype(float), P.astype(np.float32).astype(float)
    return Task(X[:n_rows], y[:n_rows], P[:n_rows], X[n_rows:])


CLASSIFIER_CHECKS: set[str] = set()
Check = TypeVar("Check", bound=Callable[[Any], None])


def classifiers_only(check: Check) -> Check:
    """Decorate a check that does not apply to regressors."""
    CLASSIFIER_CHECKS.add(check.__name__)
    return check


def lupi_tags(estimator: Any) -> PrivilegedTags:
    """Return the tags of the estimator, or the defaults."""
    return getattr(estimator, "__lupi_tags__", PrivilegedTags)()


def ready(estimator: Any) -> Any:
    """Return an unfitted copy with every ``random_state`` fixed."""
    copy = clone(estimator)
    seeds = [
        name for name in copy.get_params(deep=True) if name.endswith("random_state")
    ]
    return copy.set_params(**dict.fromkeys(seeds, 0))


def fitted(estimator: Any, data: Task, **arguments: Any) -> Any:
    """Fit a copy to X, y and X*, unless `arguments` has another ``privileged``."""
    return ready(estimator).fit(data.X, data.y, **({"privileged": data.P} | arguments))


def outputs(estimator: Any, X: Any) -> np.ndarray:
    """Return decision values, probabilities or predictions, the first available."""
    for method in ("decision_function", "predict_proba"):
        if hasattr(estimator, method):
            return np.asarray(getattr(estimator, method)(X), dtype=float)
    values = estimator.predict(X)
    if is_classifier(estimator):
        return np.searchsorted(estimator.classes_, values).astype(float)
    return np.asarray(values, dtype=float)


def assert_same(
    ours: np.ndarray, theirs: np.ndarray, estimator: Any, what: str
) -> None:
    """Assert that outputs agree up to the tolerance, relative to the largest one."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape, (
        f"{what}: outputs of shapes {ours.shape} and {theirs.shape}."
    )
    allowed = lupi_tags(estimator).tolerance * max(1.0, np.abs(theirs).max())
    distance = np.abs(ours - theirs).max()
    assert distance <= allowed, (
        f"{what}: outputs differ by {distance:.3g}, allowed are {allowed:.3g}."
    )


def assert_refuses(
    estimator: Any, what: str, words: tuple[str, ...], *arguments: Any, **more: Any
) -> None:
    """Assert that `fit` raises a ValueError with one of `words` in its message."""
    try:
        ready(estimator).fit(*arguments, **more)
    except ValueError as error:
        message = str(error)
        assert any(word.lower() in message.lower() for word in words), (
            f"The error for {what} should contain {listed(map(repr, words), 'or')}, "
            f"but is: {message}"
        )
    except Exception as error:
        raise AssertionError(
            f"fit should raise a ValueError for {what}, but raised "
            f"{type(error).__name__}: {error}"
        ) from error
    else:
        raise AssertionError(f"fit should raise a ValueError for {what}, but did not.")
