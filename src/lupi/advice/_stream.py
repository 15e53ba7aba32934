"""The update of the Adviceptron: one pass over a batch of rows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any


@cache
def compiled_stream() -> Callable[..., None]:
    """Return `stream`, compiled if numba is installed; the result is the same."""
    try:
        import numba
    except ModuleNotFoundError:
        return stream
    compiled = numba.njit(stream)
    # No folder may be writable, and NUMBA_DISABLE_JIT returns the function itself.
    with suppress(RuntimeError, AttributeError):
        compiled.enable_caching()
    return compiled


def stream(
    weights: Any,
    estimate: Any,
    nu: float,
    X: Any,
    codes: Any,
    positives: Any,
    learning_rate: float,
    fit_intercept: bool,
    n_mistakes: Any,
    n_advice_updates: Any,
) -> None:
    """Update `weights` and both counters in place, row by row and class by class.

    The last column of `weights` and `estimate` belongs to the constant feature -1.
    The sums run in the order of the columns, so that the result is bitwise equal to
    that of a direct implementation of the algorithm.
    """
    n_rows, n_features = X.shape
    for t in range(n_rows):
        for k in range(len(positives)):
            w, r = weights[k], estimate[k]
            y = 1.0 if codes[t] == positives[k] else -1.0
            value = 0.0
            for j in range(n_features):
                value += w[j] * X[t, j]
            if fit_intercept:
                value -= w[n_features]
            mistake = y * value <= 0.0
            advised = 0.0
            if nu < 1.0:
                for j in range(n_features):
                    advised += r[j] * X[t, j]
                if fit_intercept:
                    advised -= r[n_features]
            step = learning_rate * y if mistake else 0.0
            n_mistakes[k] += mistake
            if nu < 1.0 and nu * y * value + (1.0 - nu) * y * advised <= 0.0:
                n_advice_updates[k] += 1
                for j in range(n_features):
                    w[j] = nu * (w[j] + step * X[t, j]) + (1.0 - nu) * r[j]
                if fit_intercept:
                    w[n_features] = (
                        nu * (w[n_features] - step) + (1.0 - nu) * r[n_features]
                    )
            elif mistake:
                for j in range(n_features):
                    w[j] += step * X[t, j]
                if fit_intercept:
                    w[n_features] -= step
