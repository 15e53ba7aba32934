"""Checks of parameters, each a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["not_negative", "one_of", "positive"]


def positive(estimator: Any, *names: str) -> None:
    """Refuse parameters that are not positive numbers, by name."""
    for name in names:
        value = getattr(estimator, name)
        try:
            good = np.isfinite(value) and value > 0
        except TypeError:
            good = False
        if not good:
            raise ValueError(
                f"{name} must be a positive number, got {value!r} in "
                f"{type(estimator).__name__}."
            )


def not_negative(estimator: Any, name: str) -> None:
    """Refuse a parameter that is not a number from zero upwards."""
    value = getattr(estimator, name)
    try:
        good = np.isfinite(value) and value >= 0
    except TypeError:
        good = False
    if not good:
        raise ValueError(
            f"{name} must be a number that is not negative, got {value!r} in "
            f"{type(estimator).__name__}."
        )


def one_of(estimator: Any, name: str, choices: tuple[str, ...]) -> None:
    """Refuse a parameter that is none of the choices."""
    value = getattr(estimator, name)
    if value not in choices:
        raise ValueError(
            f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r} in "
            f"{type(estimator).__name__}."
        )
