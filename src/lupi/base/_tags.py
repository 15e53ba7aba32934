"""`PrivilegedTags`: the exceptions of an estimator from the contract checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class PrivilegedTags:
    """Properties that `lupi.testing.check_privileged_estimator` reads.

    An estimator returns them from its method ``__lupi_tags__``; without that method
    the defaults apply.

    Attributes
    ----------
    cannot_hold : dict from name of a check to reason
        Checks that cannot hold for the method, each with the reason in words.
    tolerance : float, default=1e-6
        How far two fits that should agree may differ, relative to the largest output.
        Methods that stop early, for example at a duality gap, need a larger value.
    uses_unlabelled : bool, default=False
        Whether ``fit`` accepts rows in which y is missing and learns from those that
        have X*. Other estimators refuse such rows.
    takes_missing_cells : bool, default=False
        Whether ``fit`` accepts rows of X* in which single values are missing. Other
        estimators refuse such rows. A row without any value has no X* in either case.

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
    uses_unlabelled: bool = False
    takes_missing_cells: bool = False


def uses_unlabelled(estimator: Any) -> bool:
    """Return whether an estimator learns from rows in which y is missing.

    Parameters
    ----------
    estimator : estimator
        One of this library, one that has the method ``__lupi_tags__``, or a pipeline
        or a search around such an estimator.

    Returns
    -------
    bool
        Its tag `uses_unlabelled`, or that of the estimator inside.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lupi import GeneralizedDistillationClassifier, SVCPlus
    >>> from lupi.base import uses_unlabelled
    >>> uses_unlabelled(SVCPlus())
    False
    >>> uses_unlabelled(
    ...     make_pipeline(StandardScaler(), GeneralizedDistillationClassifier())
    ... )
    True
    """
    tags = getattr(estimator, "__lupi_tags__", None)
    if tags is not None:
        return tags().uses_unlabelled
    steps = getattr(estimator, "steps", None)
    inner = steps[-1][1] if steps else getattr(estimator, "estimator", None)
    return inner is not None and uses_unlabelled(inner)
