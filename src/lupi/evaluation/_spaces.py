"""Search spaces, and the candidates drawn from them.

A space maps a parameter to a list of values or to a distribution of `scipy.stats`.
`PerFeature` and `TargetUnits` values are resolved for each training set. Candidates are
a Latin hypercube: with B candidates the range of every parameter is divided into B
equally likely slices, and each slice is used once, so that a dozen candidates cover the
range of every parameter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lupi.base import PerFeature, SharedOver, TargetUnits

Space = Mapping[str, Any]


def draw(
    space: Space, n_candidates: int, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Draw candidates as a Latin hypercube over the space.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.evaluation._spaces import draw
    >>> values = draw({"C": [1, 10]}, 4, np.random.default_rng(0))
    >>> sorted(value["C"] for value in values)
    [1, 1, 10, 10]
    """
    columns = {}
    for name in sorted(space):
        if isinstance(space[name], SharedOver):
            columns[name] = [space[name]] * n_candidates
            continue
        slices = (rng.permutation(n_candidates) + rng.random(n_candidates)) / (
            n_candidates
        )
        columns[name] = [_value(space[name], share) for share in slices]
    return [
        {name: values[i] for name, values in columns.items()}
        for i in range(n_candidates)
    ]


def join(shared: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return a candidate joined with its parameters for X*.

    Examples
    --------
    >>> from lupi.base import SharedOver
    >>> from lupi.evaluation._spaces import join
    >>> join({"C": 50.0, "gamma": 1.0}, {"C": SharedOver(10.0), "delta": 9.0})
    {'C': 5.0, 'gamma': 1.0, 'delta': 9.0}
    """
    joined = dict(shared)
    for name, value in own.items():
        tied = isinstance(value, SharedOver)
        joined[name] = shared[name] / value.divisor if tied else value
    return joined


def _value(axis: Any, share: float) -> Any:
    if isinstance(axis, TargetUnits):
        return TargetUnits(_value(axis.value, share))
    if isinstance(axis, Sequence) and not isinstance(axis, str):
        return axis[int(share * len(axis))]
    if hasattr(axis, "ppf"):
        return axis.ppf(share).item()
    raise TypeError(
        "A search space consists of lists of values and distributions of scipy.stats, "
        f"not {axis!r}; write [{axis!r}] for a fixed value."
    )


def resolve(
    params: Mapping[str, Any],
    n_features: int,
    n_privileged: int,
    target_scale: float = 1.0,
) -> dict[str, Any]:
    """Replace values that are relative to the data by numbers."""
    resolved = dict(params)
    for name, value in params.items():
        if isinstance(value, PerFeature):
            width = n_privileged if value.privileged else n_features
            resolved[name] = value.value / max(1, width)
        elif isinstance(value, TargetUnits):
            resolved[name] = value.value * target_scale
    return resolved
