"""Parameters of estimators, and their constraints in the form of scikit-learn's.

A class of `lupi` declares its own parameters and constraints, and inherits the others.
`lupi.base.atomic_fit` validates all of them when ``fit`` is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, TypeVar, dataclass_transform

import numpy as np
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    Options,
    RealNotInt,
    StrOptions,
)

Constraints = dict[str, Any]
Kind = TypeVar("Kind", bound=type)


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def parameters(kind: Kind) -> Kind:
    """Make the constructor of an estimator from its fields, and those of its bases.

    It only assigns its arguments, as scikit-learn demands; they are keyword-only.
    """
    make: Any = dataclass(eq=False, repr=False, match_args=False, kw_only=True)
    return make(kind)


class Number(Interval):
    """An interval of finite numbers; True and False are not numbers."""

    def __init__(self, type: Any, left: Any, right: Any, closed: str):
        super().__init__(type, left, right, closed=closed)

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether a value is a number in the interval."""
        return not isinstance(val, bool) and super().is_satisfied_by(val)


class Instance(HasMethods):
    """An object, not a class, that has some methods."""

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether a value is such an object."""
        return not isinstance(val, type) and super().is_satisfied_by(val)


POSITIVE = [Number(Real, 0, None, "neither")]
NOT_NEGATIVE = [Number(Real, 0, None, "left")]
FINITE = [Number(Real, None, None, "neither")]
SHARE = [Number(Real, 0, 1, "both")]
COUNT = [Number(Integral, 1, None, "left")]
# Of a solver: -1 is its own limit.
MAX_ITER = [*COUNT, Options(Integral, {-1})]
COUNT_OR_SHARE = [*COUNT, Number(RealNotInt, 0, 1, "right"), None]
FLAG = ["boolean"]
SEED = [Number(Integral, 0, 2**32 - 1, "both"), np.random.RandomState, None]
N_JOBS = [Number(Integral, None, None, "neither"), None]
CV = ["cv_object"]
CLASS_WEIGHT = [Mapping, StrOptions({"balanced"}), None]
ESTIMATOR = [Instance("fit"), None]


def choice(*options: str) -> list[Any]:
    """Return the constraint of a parameter that is one of some strings."""
    return [StrOptions(set(options))]
