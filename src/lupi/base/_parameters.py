"""Checks of parameters that several families of estimators share."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np

from lupi._words import listed


def check_integer(name: str, value: Any, least: int, *, optional: bool = False) -> None:
    """Refuse values that are not integers of at least `least`."""
    if optional and value is None:
        return
    whole = isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
    if not whole or value < least:
        choice = " or None" if optional else ""
        raise ValueError(
            f"{name} must be an integer of at least {least}{choice}, but got {value!r}."
        )


def check_number(
    name: str, value: Any, *, least: float = 0.0, above: bool = False
) -> None:
    """Refuse values that are not finite numbers of at least (or `above`) `least`."""
    number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    valid = number and np.isfinite(value) and (value > least or not above)
    if not valid or value < least:
        bound = "above" if above else "of at least"
        raise ValueError(
            f"{name} must be a finite number {bound} {least:g}, but got {value!r}."
        )


def check_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """Refuse values that are not one of the choices."""
    if not isinstance(value, str) or value not in choices:
        expected = listed([f'"{choice}"' for choice in choices], "or")
        raise ValueError(f"{name} must be {expected}, but got {value!r}.")
