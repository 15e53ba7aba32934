"""Checks of the parameters of trees."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import is_regressor


def check_validation_fraction(value: Any) -> None:
    """Refuse values that are neither None nor strictly between 0 and 1."""
    if value is None:
        return
    if not isinstance(value, Real) or not 0.0 < float(value) < 1.0:
        raise ValueError(
            "validation_fraction must lie strictly between 0 and 1, or be None to stop "
            f"by the training loss, but got {value!r}."
        )


def check_leaf_fraction(value: Any) -> None:
    """Refuse values that are not between 0 and one half."""
    if not isinstance(value, Real) or not 0.0 <= float(value) <= 0.5:
        raise ValueError(
            f"min_weight_fraction_leaf must lie between 0 and 0.5, but got {value!r}."
        )


def check_max_features(value: Any) -> None:
    """Refuse values that are not a number or a share of features."""
    if value is None or (isinstance(value, str) and value in ("sqrt", "log2")):
        return
    number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    if number and isinstance(value, Integral) and int(value) >= 1:
        return
    if number and not isinstance(value, Integral) and 0.0 < float(value) <= 1.0:
        return
    raise ValueError(
        'max_features must be None (all), "sqrt", "log2", an integer of at least 1 or '
        f"a share above 0 and up to 1.0, but got {value!r}."
    )


def check_tree_params(value: Any) -> None:
    """Refuse values that are neither None nor a dict."""
    if value is not None and not isinstance(value, Mapping):
        raise ValueError(
            "tree_params must be None or a dict from the name of a tree's parameter to "
            f"its value, but got {value!r}."
        )


def check_auxiliary(value: Any) -> None:
    """Refuse values that are neither None nor a regressor."""
    if value is None or (not isinstance(value, type) and is_regressor(value)):
        return
    raise ValueError(
        "auxiliary must be None or an instance of a scikit-learn regressor, for "
        f"example RandomForestRegressor(), but got {value!r}."
    )
