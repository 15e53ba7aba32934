"""`PrivilegedTags`: what an estimator says about the contract it keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class PrivilegedTags:
    """What `lupi.testing.check_privileged_estimator` should know of an estimator.

    An estimator returns one from its method ``__lupi_tags__``; without that method the
    defaults hold.

    Attributes
    ----------
    cannot_hold : dict from name of a check to reason
        Checks that the method rules out by its nature, each with the reason in words.
    tolerance : float, default=1e-6
        How far two fits that should agree may differ, relative to the largest output.
        Methods that stop early, at a duality gap say, need more than the default.

    Examples
    --------
    >>> from lupi.base import PrivilegedTags
    >>> class OutOfFoldTeacher:
    ...     def __lupi_tags__(self):
    ...         return PrivilegedTags(
    ...             cannot_hold={"check_permuted_rows": "folds follow the row order"}
    ...         )
    """

    cannot_hold: Mapping[str, str] = field(default_factory=dict)
    tolerance: float = 1e-6
