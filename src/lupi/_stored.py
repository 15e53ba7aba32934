"""`stored`: which classes a model file may hold.

`lupi.load` builds the classes that were declared here by the modules of the running
process, and no others; what a file asks for never adds to them. A class whose
attributes have to fit each other compares them in a method ``_check_state``, which
`lupi.load` calls after the whole model was built.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

Kind = TypeVar("Kind", bound=type)

STORED: dict[str, type] = {}


def must_fit(condition: Any, what: str) -> None:
    """Raise a ValueError that names a part of a model unless a condition holds."""
    if not condition:
        raise ValueError(f"{what} does not fit the other parts")


def are_branches(
    left: np.ndarray, right: np.ndarray, feature: np.ndarray, n_features: int, leaf: Any
) -> bool:
    """Return whether branches lead forward and inside, and features exist."""
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

    Parameters
    ----------
    kind : type
        Plain data: attributes that are arrays, numbers, text, containers of these, or
        instances of other classes declared so. Building it from the attributes in a
        file must be harmless, whatever they are.

    Returns
    -------
    type
        The class itself.
    """
    STORED[f"{kind.__module__}.{kind.__name__}"] = kind
    return kind
