"""`PrivilegedColumns`: some columns of a single table are privileged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from lupi._parameters import Constraints, Instance
from lupi.base import ModelInfo, atomic_fit, feature_names
from lupi.base._info import Declared
from lupi.base._metadata import Wrapper, fit_with
from lupi.base._rows import take_columns


class PrivilegedColumns(Wrapper, Declared, BaseEstimator):
    """Use some columns of a single table as privileged features.

    ``fit`` passes the chosen columns to ``estimator.fit`` as ``privileged`` and the
    others as X. When predicting, the chosen columns are ignored and may be absent. As
    there is only one table, this works inside `GridSearchCV`, `Pipeline` and every
    other tool without metadata routing.

    Parameters
    ----------
    estimator : estimator
        An estimator whose ``fit`` takes ``privileged``, a pipeline that ends in one, or
        a search over one.
    columns : str, int, slice, callable or list of str, of int or of bool, default=()
        The privileged columns: names, positions (negative ones count from the end), a
        mask, a slice of positions or of names (both ends included, as in pandas), or a
        function of the table that returns any of these, such as
        `sklearn.compose.make_column_selector`. Without columns, the estimator is
        trained without privileged information.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    privileged_columns_ : ndarray of int
        Positions of the privileged columns in the table.
    decision_columns_ : ndarray of int
        Positions of all other columns.
    n_features_in_, feature_names_in_
        Those of the whole table in ``fit``.
    classes_, objective_, duality_gap_, n_iter_, converged_
        Those of the estimator, if it has them.

    See Also
    --------
    TransformedPrivileged : Preprocesses the privileged features.

    Examples
    --------
    >>> import pandas as pd
    >>> from lupi import PrivilegedColumns, SVCPlus
    >>> table = pd.DataFrame(
    ...     {
    ...         "age": [25.0, 31.0, 48.0, 52.0],
    ...         "bmi": [21.0, 24.0, 31.0, 33.0],
    ...         "later": [0.1, 0.3, 2.2, 2.9],
    ...     }
    ... )
    >>> model = PrivilegedColumns(SVCPlus(kernel="linear"), columns="later")
    >>> model.fit(table, ["well", "well", "ill", "ill"]).predict(table[["age", "bmi"]])
    array(['well', 'well', 'ill', 'ill'], dtype='<U4')
    """

    __lupi_info__ = ModelInfo(
        title="Privileged columns",
        paper="",
        helps="a single table of which some columns are privileged",
        cost="none",
        tune="no parameters",
        needs="an estimator",
        rank=80,
    )

    _parameter_constraints: ClassVar[Constraints] = {
        "estimator": [Instance("fit")],
        "columns": "no_validation",  # `column_positions` reads them
    }

    def __init__(self, estimator: Any, columns: Any = ()) -> None:
        self.estimator = estimator
        self.columns = columns

    @atomic_fit
    def fit(self, X: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Fit the estimator to the decision and the privileged columns of the table.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Decision and privileged features. Rows whose privileged columns are all NaN
            have no privileged information.
        y : array-like of shape (n_samples,)
            Labels or targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, passed to the estimator.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X = _as_table(X)
        validate_data(self, X, skip_check_array=True)
        n_columns = X.shape[1]
        chosen = self.columns(X) if callable(self.columns) else self.columns
        privileged = column_positions(() if chosen is None else chosen, X)
        decision = np.setdiff1d(np.arange(n_columns), privileged)
        if len(decision) == 0:
            raise ValueError(
                f"PrivilegedColumns got X with {n_columns} feature(s), and columns="
                f"{self.columns!r} makes all of them privileged. Leave at least one "
                "column to predict from."
            )
        self.privileged_columns_ = privileged
        self.decision_columns_ = decision
        self.estimator_ = fit_with(
            clone(self.estimator),
            take_columns(X, decision),
            y,
            privileged=take_columns(X, privileged) if len(privileged) else None,
            sample_weight=sample_weight,
        )
        return self

    def _stage_features(self, X: Any) -> Any:
        check_is_fitted(self)
        X = _as_table(X)
        fitted, names = getattr(self, "feature_names_in_", None), feature_names(X)
        if fitted is not None and names is not None:
            privileged = set(fitted[self.privileged_columns_])
            decision = [i for i, name in enumerate(names) if name not in privileged]
            if set(names[decision]) != set(fitted[self.decision_columns_]):
                validate_data(self, X, reset=False, skip_check_array=True)
            return take_columns(X, np.asarray(decision, dtype=int))
        if X.shape[1] == len(self.decision_columns_):
            return X
        validate_data(self, X, reset=False, skip_check_array=True)
        return take_columns(X, self.decision_columns_)


def column_positions(columns: Any, table: Any) -> np.ndarray:
    """Return the positions of the chosen columns, ascending and without repeats."""
    n_columns, named = table.shape[1], feature_names(table)
    names = [] if named is None else named.tolist()
    key: Any
    try:
        if isinstance(columns, slice):
            start, stop = columns.start, columns.stop
            start = _position(start, names) if isinstance(start, str) else start
            stop = _position(stop, names) + 1 if isinstance(stop, str) else stop
            key = slice(start, stop, columns.step)
        else:
            several = isinstance(columns, Iterable) and not isinstance(columns, str)
            chosen = list(columns) if several else [columns]
            if all(isinstance(one, str) for one in chosen):
                chosen = [_position(name, names) for name in chosen]
            key = np.array(chosen) if chosen else np.empty(0, dtype=int)
        return np.unique(np.arange(n_columns)[key])
    except (IndexError, TypeError, ValueError) as error:
        known = f"the columns {names}" if names else f"{n_columns} unnamed columns"
        raise ValueError(
            f"columns={columns!r} does not choose columns of X, which has {known}: "
            f"{error}. Give names, positions, a mask, a slice, or a function that "
            "returns one of these."
        ) from error


def _position(name: str, names: list[str]) -> int:
    if names.count(name) != 1:
        raise ValueError(f"{names.count(name)} columns have the name {name!r}")
    return names.index(name)


def _as_table(X: Any) -> Any:
    """Return a data frame unchanged, anything else as an array or CSR matrix."""
    if hasattr(X, "columns") and hasattr(X, "shape"):
        return X
    return check_array(
        X, accept_sparse="csr", dtype=None, ensure_all_finite=False, input_name="X"
    )
