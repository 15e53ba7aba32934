"""Declaration of the classes that model files may contain, and checks of their state.

`lupi.load` constructs declared classes only, and calls ``_check_state`` of every object
of a model that has this method.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

Kind = TypeVar("Kind", bound=type)

STORED: dict[str, type] = {}


def must_fit(condition: Any, what: str) -> None:
    """Raise ValueError for the named part of a model if a condition is false."""
    if not condition:
        raise ValueError(f"{what} does not fit the other parts")


def are_branches(
    left: np.ndarray, right: np.ndarray, feature: np.ndarray, n_features: int, leaf: Any
) -> bool:
    """Return whether all children have larger, valid indices, and features exist."""
    here, count = np.arange(len(left)), len(left)
    return bool(
        count > 0
        and all(len(one) == count for one in (right, feature, leaf))
        and np.all(leaf | ((left > here) & (left < count)))
        and np.all(leaf | ((right > here) & (right < count)))
        and np.all(leaf | ((feature >= 0) & (feature < n_features)))
    )


def stored(kind: Kind) -> Kind:
    """Declare a class whose instances are part of fitted models.

    Its attributes are arrays, numbers, text, declared classes, or containers of these.
    Constructing it from any attributes must be harmless.
    """
    STORED[f"{kind.__module__}.{kind.__name__}"] = kind
    return kind
