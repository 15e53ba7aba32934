"""Two-dimensional data sets for figures: X in one plane, X* in another.

They resemble those of the figures in O. Thomas, "Learning Using Privileged Information:
A Unified Approach", University of Sussex, 2017.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from sklearn.utils import Bunch, check_random_state

from lupi.datasets._generators import Seed, _bunch

_CENTERS = {
    # kind: (distance of the centers from the origin in X, in X*)
    "separable": (3.0, 3.0),
    "overlapping": (1.2, 1.2),
    "separable-privileged": (1.2, 3.0),
}


def make_plane(
    kind: Literal["separable", "overlapping", "separable-privileged"] = "overlapping",
    n_samples: int = 60,
    *,
    as_frame: bool = False,
    random_state: Seed = None,
) -> Bunch:
    """Make two normal distributions in the plane of X, and two in the plane of X*.

    ::

        x  = y · a · (1, 1)/√2 + N(0, I),     x* = y · a* · (1, −1)/√2 + N(0, I)

    with y = ±1. The distances a and a* are 3 and 3 (``"separable"``), 1.2 and 1.2
    (``"overlapping"``), or 1.2 and 3 (``"separable-privileged"``: overlapping in X,
    separable in X*). With distance 3, rows beyond the margin are drawn again, so that a
    line separates the classes.

    Parameters
    ----------
    kind : {"separable", "overlapping", "separable-privileged"}, default="overlapping"
        Whether the classes are separable in X and in X*.
    n_samples : int, default=60
        Number of rows, half of them of each class.
    as_frame : bool, default=False
        Whether to return data frames instead of arrays.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    bunch : Bunch
        ``data`` (n, 2), ``privileged`` (n, 2), ``target`` (−1 or 1), names, ``DESCR``.

    Examples
    --------
    >>> from lupi.datasets import make_plane
    >>> make_plane("separable", 20, random_state=0).data.shape
    (20, 2)
    """
    if kind not in _CENTERS:
        raise ValueError(
            f"kind={kind!r}: choose one of {', '.join(map(repr, _CENTERS))}."
        )
    rng = check_random_state(random_state)
    y = np.where(np.arange(n_samples) < n_samples // 2, -1, 1)
    distance, privileged_distance = _CENTERS[kind]
    X = _clouds(rng, y, distance, np.array([1.0, 1.0]))
    privileged = _clouds(rng, y, privileged_distance, np.array([1.0, -1.0]))
    return _bunch(X, privileged, y, as_frame, make_plane)


def _clouds(
    rng: np.random.RandomState, y: np.ndarray, distance: float, along: np.ndarray
) -> np.ndarray:
    along = along / np.linalg.norm(along)
    rows = rng.normal(size=(len(y), 2)) + distance * np.outer(y, along)
    if distance < 2:
        return rows
    crossing = y * (rows @ along) < 1.0
    while crossing.any():
        fresh = rng.normal(size=(crossing.sum(), 2))
        rows[crossing] = fresh + distance * np.outer(y[crossing], along)
        crossing = y * (rows @ along) < 1.0
    return rows


def make_biased_hiring(
    n_samples: int = 200,
    *,
    bias: float = 0.9,
    as_frame: bool = False,
    random_state: Seed = None,
) -> Bunch:
    """Make data of hiring decisions that depend on the group of the applicants.

    x is experience and education, x* the group of the applicant. The group is
    correlated with x, because one group has more experience and the other more
    education; merit is their sum::

        z ∈ {−1, 1},  experience = 1.2 z + N(0, 1),  education = −1.2 z + N(0, 1)
        hired = z with probability bias, else sign(experience + education)

    A classifier without the group can still discriminate by experience.

    Parameters
    ----------
    n_samples : int, default=200
        Number of applicants, about half of them of each group.
    bias : float, default=0.9
        Share of decisions made by group.
    as_frame : bool, default=False
        Whether to return data frames instead of arrays.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    bunch : Bunch
        ``data`` (n, 2), ``privileged`` (n, 1; the group), ``target`` (1: hired,
        −1: not), ``sensitive_feature_names``, names, ``DESCR``.

    Examples
    --------
    >>> from lupi.datasets import make_biased_hiring
    >>> make_biased_hiring(random_state=0).sensitive_feature_names
    ['group']
    """
    if not 0 <= bias <= 1:
        raise ValueError(f"bias={bias!r}: give a share between 0 and 1.")
    rng = check_random_state(random_state)
    group = np.where(rng.uniform(size=n_samples) < 0.5, -1, 1)
    X = rng.normal(size=(n_samples, 2))
    X += 1.2 * np.column_stack([group, -group])
    merit = np.where(X.sum(axis=1) >= 0, 1, -1)
    hired = np.where(rng.uniform(size=n_samples) < bias, group, merit)
    return _bunch(
        X,
        group[:, None].astype(float),
        hired,
        as_frame,
        make_biased_hiring,
        names=["experience", "education"],
        privileged_names=["group"],
        sensitive_feature_names=["group"],
    )
