"""`PrivilegedEstimator`: reads and checks all arguments of ``fit`` at once."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from lupi.base._data_frames import as_data_frame
from lupi.base._index import refuse_other_index
from lupi.base._info import Declared
from lupi.base._privileged import (
    Privileged,
    check_privileged,
    feature_names,
    list_rows,
    name_of,
)
from lupi.base._rows import as_numpy, is_data_frame, n_rows_of
from lupi.base._tags import PrivilegedTags
from lupi.base._target import read_target
from lupi.base._text import refuse_text_columns
from lupi.base._training import Training

# Largest absolute value of X, X* and y.
LARGEST = 1e50


class PrivilegedEstimator(Declared, BaseEstimator):
    """Base of every estimator whose ``fit`` takes ``privileged``.

    `privileged` is requested by default, so that scikit-learn's tools pass it on and
    split it into folds, with metadata routing enabled or disabled.

    Attributes
    ----------
    n_features_in_, feature_names_in_
        Of X, as in scikit-learn.
    n_privileged_features_in_ : int
        Width of the privileged table, 0 when none was given.
    privileged_feature_names_in_ : ndarray of str
        Its column names; only when it had names that are all strings.

    Examples
    --------
    An estimator that counts the rows with X*:

    >>> import numpy as np
    >>> from lupi.base import PrivilegedEstimator, atomic_fit
    >>> class Counter(PrivilegedEstimator):
    ...     @atomic_fit
    ...     def fit(self, X, y, *, privileged=None, sample_weight=None):
    ...         training = self._validate_fit(X, y, privileged, sample_weight)
    ...         available = training.counted().privileged
    ...         self.n_available_ = 0 if available is None else len(available.rows)
    ...         return self
    >>> X, P = [[0.0], [1.0], [2.0]], [[5.0], [np.nan], [6.0]]
    >>> Counter().fit(X, [0, 1, 1], privileged=P).n_available_
    2
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"privileged": True}

    def _validate_fit(
        self,
        X: Any,
        y: Any,
        privileged: Any = None,
        sample_weight: Any = None,
        *,
        accept_sparse: bool | str = "csr",
        y_numeric: bool = False,
        dtype: Any = np.float64,
        allow_nan_X: bool = False,
        keep_data_frame: bool = False,
    ) -> Training:
        """Check every argument of ``fit``; store how X was read, for `_validate_X`.

        With ``keep_data_frame`` a data frame is not converted: its names and its shape
        are checked, its values are not.
        """
        self._reading = {
            "accept_sparse": "csr" if accept_sparse is True else accept_sparse,
            "dtype": dtype,
            "ensure_all_finite": "allow-nan" if allow_nan_X else True,
        }
        refuse_other_index(X, privileged, type(self).__name__)
        self._reads_data_frame = keep_data_frame and is_data_frame(X)
        if self._reads_data_frame:
            validate_data(self, X, skip_check_array=True)
            check_array(np.broadcast_to(0.0, X.shape), estimator=self)  # not empty
        else:
            X = self._read_numbers(X)
        n_rows = X.shape[0]
        privileged = as_numpy(privileged)
        target = read_target(
            as_numpy(y),
            n_rows,
            self,
            numeric=y_numeric,
            missing=self.__lupi_tags__().uses_unlabelled,
        )
        weight = check_weight(as_numpy(sample_weight), n_rows, self)
        read = self._read_privileged(privileged, n_rows)
        refuse_huge(X, "X", self)
        refuse_huge(target.values, "y", self)
        if read is not None:
            refuse_huge(read.values, "privileged", self)
        self._remember_privileged(None if read is None else privileged)
        return Training(
            X,
            target.values,
            read,
            weight,
            np.arange(n_rows),
            unlabelled=target.unlabelled,
        )

    def _read_numbers(self, X: Any, *, reset: bool = True) -> Any:
        """Read X as numbers; the error names a column that does not hold numbers."""
        try:
            return validate_data(
                self, as_numpy(X), reset=reset, order="C", **self._reading
            )
        except (TypeError, ValueError) as error:
            refuse_text_columns(X, type(self).__name__, error, fitted=not reset)
            raise

    def _remember_privileged(self, table: Any) -> None:
        """Set the width and the names of the privileged table; None if all missing."""
        self.n_privileged_features_in_ = 0 if table is None else np.shape(table)[1]
        names = None if table is None else feature_names(table)
        if names is not None:
            self.privileged_feature_names_in_ = names
        else:  # of an earlier fit, if warm_start keeps its state
            self.__dict__.pop("privileged_feature_names_in_", None)

    def _read_privileged(self, privileged: Any, n_rows: int) -> Privileged | None:
        """Read `privileged` as numbers; a subclass may accept other values."""
        return check_privileged(privileged, n_rows, self)

    def _validate_privileged(self, privileged: Any) -> Privileged | None:
        """Read privileged rows after ``fit``; width and names must be as in ``fit``."""
        check_is_fitted(self)
        name = type(self).__name__
        if self.n_privileged_features_in_ == 0:
            raise ValueError(
                f"This {name} was fitted without privileged information, so there is "
                "nothing to apply to privileged rows. Fit it with privileged=... first."
            )
        privileged = as_numpy(privileged)
        read = check_privileged(privileged, n_rows_of(privileged), self)
        if read is None:
            return None
        expected = self.n_privileged_features_in_
        if read.values.shape[1] != expected:
            raise ValueError(
                f"{name} was fitted with {expected} privileged features, but got "
                f"{read.values.shape[1]}. Give the columns used in fit, in that order."
            )
        names = feature_names(privileged)
        fitted = getattr(self, "privileged_feature_names_in_", None)
        if names is not None and fitted is not None and list(names) != list(fitted):
            raise ValueError(
                f"{name} was fitted with the privileged columns {list(fitted)}, but "
                f"got {list(names)}. Give the columns used in fit, in that order."
            )
        return read

    def _validate_X(self, X: Any) -> Any:
        """Check X when predicting, read as in ``fit``."""
        check_is_fitted(self)
        if not self._reads_data_frame:
            return self._read_numbers(X, reset=False)
        if is_data_frame(X):
            return validate_data(self, X, reset=False, skip_check_array=True)
        X = validate_data(
            self,
            X,
            reset=False,
            accept_sparse="csr",
            dtype=None,
            ensure_all_finite=False,
        )
        # The line above warns if names are missing; the estimator inside gets them.
        return as_data_frame(X, getattr(self, "feature_names_in_", None))

    def __lupi_tags__(self) -> PrivilegedTags:
        return PrivilegedTags()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def refuse_huge(values: Any, name: str, estimator: Any) -> None:
    """Raise a ValueError for numbers whose fourth powers, summed, would overflow."""
    values = values.data if sp.issparse(values) else values
    if not isinstance(values, np.ndarray) or values.dtype.kind != "f":
        return
    ends = (end.reduce(values, axis=None, initial=0.0) for end in (np.fmin, np.fmax))
    largest = max(map(float, ends), key=abs)
    if abs(largest) > LARGEST:
        raise ValueError(
            f"{name_of(estimator)} got {name} with the value {largest:.3g}, where "
            f"numbers up to {LARGEST:g} are expected. Correct it, or scale the column."
        )


def check_weight(sample_weight: Any, n_rows: int, estimator: Any) -> np.ndarray:
    """Return sample weights as float64; refuse values that cannot be weights.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,), float or None
        The argument of ``fit``.
    n_rows : int
        Number of rows of X.
    estimator : estimator or str
        Named in error messages.

    Returns
    -------
    ndarray of shape (n_samples,)
        The weights; ones for None.

    Examples
    --------
    >>> from lupi.base import check_weight
    >>> check_weight([0, 2.5], 2, "Toy")
    array([0. , 2.5])
    """
    if sample_weight is None:
        return np.ones(n_rows)
    name = name_of(estimator)
    if sp.issparse(sample_weight):
        raise ValueError(f"{name} expected sample_weight as an array, not sparse.")
    try:
        weight = np.array(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} could not read sample_weight as numbers: {error}."
        ) from error
    if weight.ndim == 0:
        weight = np.full(n_rows, weight)
    if weight.shape != (n_rows,):
        raise ValueError(
            f"{name} got sample_weight of shape {weight.shape} for {n_rows} rows of X. "
            "Give one weight per row, as a 1-D array."
        )
    if not np.all(np.isfinite(weight)):
        bad = np.flatnonzero(~np.isfinite(weight))
        raise ValueError(
            f"{name} found NaN or infinite sample_weight: {list_rows(bad)}. Use 0 to "
            "leave a row out."
        )
    if np.any(weight < 0):
        bad = np.flatnonzero(weight < 0)
        raise ValueError(
            f"{name} found negative sample_weight: {list_rows(bad)}. A weight is the "
            "number of times a row counts; use 0 to leave a row out."
        )
    if not np.any(weight > 0):
        raise ValueError(
            f"{name} got a sample_weight of zero for every row, so that there is no "
            "row to learn from. Give at least one row of each class a positive weight."
        )
    return weight
