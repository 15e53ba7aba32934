"""Reading of the argument ``y``, which may be missing in some rows.

The missing values are those of the caller's container: NaN in numbers; None, NaN, NA
and NaT among objects; the missing value of pandas' nullable, string and categorical
types; null in Polars; masked entries. A number such as −1, the string "nan" and the
empty string are labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_X_y

from lupi.base._missing import missing_values
from lupi.base._privileged import list_rows, name_of


@dataclass(frozen=True)
class Target:
    """The argument ``y``, checked.

    Attributes
    ----------
    values : ndarray of shape (n_samples,)
        Labels or float64 targets, of the type that they have without missing values.
        Where y is missing, a target is NaN and a label is arbitrary.
    unlabelled : ndarray of bool or None
        The rows in which y is missing; None if there are none.

    Examples
    --------
    >>> from lupi.base import read_target
    >>> read_target([2.5, None], 2, "Toy", numeric=True, missing=True).values
    array([2.5, nan])
    """

    values: np.ndarray
    unlabelled: np.ndarray | None = None


def read_target(
    y: Any, n_rows: int, estimator: Any, *, numeric: bool, missing: bool = False
) -> Target:
    """Read y; refuse what cannot be labels or targets.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels of any type, or numbers.
    n_rows : int
        Number of rows of X.
    estimator : estimator or str
        Named in error messages.
    numeric : bool
        Whether y holds numbers; they are returned as float64.
    missing : bool, default=False
        Whether y may be missing in some rows.

    Returns
    -------
    Target
        The labels or targets.

    Examples
    --------
    >>> from lupi.base import read_target
    >>> read_target(["b", "a"], 2, "Toy", numeric=False).values
    array(['b', 'a'], dtype='<U1')
    >>> target = read_target([1, None, 0], 3, "Toy", numeric=False, missing=True)
    >>> target.values.dtype.kind, target.unlabelled
    ('i', array([False,  True, False]))
    """
    absent = missing_targets(y)
    if not absent.any() or len(absent) != n_rows:
        return Target(_check_target(y, n_rows, estimator, numeric))
    name = name_of(estimator)
    if absent.all():
        raise ValueError(
            f"{name} got y without a value for any of the {n_rows} rows, so that there "
            "is no outcome to learn from. Give y for some of the rows."
        )
    if not missing:
        kind = "Regressor" if numeric else "Classifier"
        raise ValueError(
            f"{name} learns from rows with y alone, but y is missing in "
            f"{absent.sum()} of {n_rows} rows "
            f"({list_rows(np.flatnonzero(absent)).lower()}). Leave these rows out, "
            "or use an estimator that learns from them, such as "
            f"lupi.HedgedDistillation{kind}."
        )
    present = _check_target(
        _nonmissing(y, ~absent), n_rows - absent.sum(), estimator, numeric
    )
    values = np.full(n_rows, np.nan if numeric else present[0], dtype=present.dtype)
    values[~absent] = present
    return Target(values, absent)


def missing_targets(y: Any) -> np.ndarray:
    """Return the rows in which y is missing, as a boolean mask.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        A list, an array, a masked array, a series of pandas or Polars.

    Returns
    -------
    ndarray of bool of shape (n_samples,)
        True where y is missing. Empty if y is not a sequence of labels.

    Examples
    --------
    >>> from lupi.base import missing_targets
    >>> missing_targets(["ill", None, "nan", "", float("nan")])
    array([False,  True, False, False,  True])
    """
    if hasattr(y, "isna"):  # pandas
        return _column_mask(y.isna())
    try:
        return _column_mask(missing_values(y))
    except ValueError:  # ragged
        return np.zeros(0, dtype=bool)


def _column_mask(mask: Any) -> np.ndarray:
    """Return a mask with one entry per row; empty if it is not a single column."""
    mask = np.asarray(mask, dtype=bool)
    column = mask.ndim == 1 or (mask.ndim == 2 and mask.shape[1] == 1)
    return mask.ravel() if column else np.zeros(0, dtype=bool)


def _nonmissing(y: Any, present: np.ndarray) -> Any:
    """Return the rows of y that are not missing, in a container of the same type."""
    if isinstance(y, np.ma.MaskedArray):
        return y.data[present]
    if hasattr(y, "filter") and hasattr(y, "is_null"):  # Polars
        return y.filter(present)
    if hasattr(y, "dtype") or hasattr(y, "dtypes"):
        return y[present]
    return [value for value, keep in zip(y, present, strict=True) if keep]


def _plain_numbers(y: Any) -> Any:
    """Return numbers in a masked, nullable or object array as plain numbers."""
    if isinstance(y, np.ma.MaskedArray):
        return y.data
    dtype = getattr(y, "dtype", None)
    inner = getattr(dtype, "numpy_dtype", None)
    if inner is not None and getattr(inner, "kind", "O") in "biuf":  # Int64 etc.
        return np.asarray(y.astype(inner))
    if getattr(dtype, "kind", None) == "O" and all(_is_number(one) for one in y):
        return np.asarray(list(y))
    return y


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float | np.bool_ | np.number)


def _check_target(y: Any, n_rows: int, estimator: Any, numeric: bool) -> np.ndarray:
    # scikit-learn checks y together with X, which is replaced by zeros here.
    zeros = np.zeros((n_rows, 1))
    y = check_X_y(zeros, _plain_numbers(y), y_numeric=numeric, estimator=estimator)[1]
    return y.astype(np.float64, copy=False) if numeric else y
