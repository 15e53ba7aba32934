"""Parameters of estimators: types, from which constructors and constraints follow.

A class of `lupi` declares its own parameters as fields, and inherits the others. Their
constraints, in the form of scikit-learn's, follow from their types; numbers are finite,
and True and False are no numbers. `lupi.base.atomic_fit` validates all of them when
``fit`` is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from inspect import get_annotations
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
)

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

    It only assigns its arguments, as scikit-learn demands; they are keyword-only. The
    types of the fields are the constraints of the parameters.
    """
    made: Any = dataclass(eq=False, repr=False, match_args=False, kw_only=True)(kind)
    types = get_annotations(kind, eval_str=True)
    names = [one.name for one in fields(made) if one.init and one.name in types]
    own = {name: constraints_of(types[name]) for name in names}
    made._parameter_constraints = getattr(made, "_parameter_constraints", {}) | own
    return made


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


_PLAIN: dict[Any, Any] = {
    float: Number(Real, None, None, "neither"),
    int: Number(Integral, None, None, "neither"),
    bool: "boolean",
    Callable: callable,
    NoneType: None,
}


def constraints_of(kind: Any) -> list[Any]:
    """Return the constraints of a type; those of `Annotated` are its annotations."""
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return [one for part in get_args(kind) for one in constraints_of(part)]
    if origin is Annotated:
        return list(kind.__metadata__)
    if origin is Literal:
        return [StrOptions(set(get_args(kind)))]
    return [_PLAIN.get(kind, origin or kind)]


_COUNT = Number(Integral, 1, None, "left")
Positive = Annotated[float, Number(Real, 0, None, "neither")]
NotNegative = Annotated[float, Number(Real, 0, None, "left")]
Share = Annotated[float, Number(Real, 0, 1, "both")]
Count = Annotated[int, _COUNT]
# Of a solver: -1 is its own limit.
MaxIter = Annotated[int, _COUNT, Options(Integral, {-1})]
CountOrShare = Annotated[float, _COUNT, Number(RealNotInt, 0, 1, "right")] | None
Seed = Annotated[
    Any, Number(Integral, 0, 2**32 - 1, "both"), np.random.RandomState, None
]
Folds = Annotated[Any, "cv_object"]
ClassWeight = Mapping[Any, float] | Literal["balanced"] | None
MultiClass = Literal["ovo", "ovr"]
Estimator = Annotated[Any, Instance("fit"), None]
