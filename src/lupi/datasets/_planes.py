"""Two-dimensional sets to look at: X in one plane, X* in another.

They have the shapes of the figures in O. Thomas, "Learning Using Privileged
Information: A Unified Approach", University of Sussex, 2017, drawn anew.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from sklearn.utils import Bunch, check_random_state

from lupi.datasets._generators import Seed, _bunch

_CENTRES = {
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
    """Make two clouds in the plane, with two more in the plane of X*.

    ::

        x  = y · a · (1, 1)/√2 + N(0, I),     x* = y · a* · (1, −1)/√2 + N(0, I)

    with y = ±1 and, for a and a*, 3 and 3 (``"separable"``; rows that would cross
    the middle are drawn again, so that a line separates the classes), 1.2 and 1.2
    (``"overlapping"``), or 1.2 and 3 (``"separable-privileged"``: overlapping in X,
    separable in X*).

    Parameters
    ----------
    kind : {"separable", "overlapping", "separable-privileged"}
        Which shape; ``"overlapping"`` by default.
    n_samples : int, default=60
        Number of rows, half of them of each class.
    as_frame : bool, default=False
        Return data frames instead of arrays.
    random_state : int, RandomState or None
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
    if kind not in _CENTRES:
        raise ValueError(
            f"kind={kind!r}: choose one of {', '.join(map(repr, _CENTRES))}."
        )
    rng = check_random_state(random_state)
    y = np.where(np.arange(n_samples) < n_samples // 2, -1, 1)
    distance, privileged_distance = _CENTRES[kind]
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
    """Make the records of an employer who hired by group instead of by merit.

    x is experience and education, x* the group of the applicant. The group shows
    in x because one group was steered towards experience, the other towards
    education; merit is their sum::

        z ∈ {−1, 1},  experience = 1.2 z + N(0, 1),  education = −1.2 z + N(0, 1)
        hired = z with probability bias, else sign(experience + education)

    A classifier that never sees the group learns it from experience all the same.

    Parameters
    ----------
    n_samples : int, default=200
        Number of applicants, about half of them of each group.
    bias : float, default=0.9
        Share of decisions made by group.
    as_frame : bool, default=False
        Return data frames instead of arrays.
    random_state : int, RandomState or None
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
        raise ValueError(f"bias={bias!r}: a share lies between 0 and 1.")
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
