"""`PrivilegedColumns` and `TransformedPrivileged`: tables for another estimator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace
from typing import Annotated, Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_array
from sklearn.utils._indexing import _get_column_indices
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from lupi._parameters import Instance, parameters
from lupi.base import (
    ModelInfo,
    PrivilegedEstimator,
    PrivilegedTags,
    atomic_fit,
    check_weight,
    feature_names,
    missing_rows,
    missing_targets,
    uses_unlabelled,
)
from lupi.base._info import Declared
from lupi.base._metadata import Wrapper, fit_with, stage_has
from lupi.base._rows import n_rows_of, refuse_other_index, take_columns, take_rows

Inner = Annotated[Any, Instance("fit")]
Transformer = Annotated[Any, Instance(["fit", "transform"]), None]


@parameters
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

    estimator: Inner = field(kw_only=False)
    # Any value: `column_positions` reads them.
    columns: Annotated[Any, object] = field(default=(), kw_only=False)

    __lupi_info__ = ModelInfo(
        title="Privileged columns",
        paper="",
        helps="a single table of which some columns are privileged",
        cost="none",
        tune="no parameters",
        needs="an estimator",
        rank=80,
    )

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
    names = feature_names(table)
    key, step = columns, 1
    try:
        if isinstance(key, slice):
            key, step = slice(key.start, key.stop), key.step or 1
        elif isinstance(key, Iterable) and not isinstance(key, str):
            key = list(key)
            masked = {isinstance(one, bool | np.bool_) for one in key}
            if len(masked) > 1:
                raise ValueError("it mixes a mask with positions or names")
            if masked == {True} and len(key) != table.shape[1]:
                raise ValueError(f"the mask has {len(key)} entries")
        elif isinstance(key, bool | np.bool_):
            raise ValueError("it is one boolean")
        chosen = np.array(_get_column_indices(table, key), dtype=int)
        return np.unique(chosen[::step])
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        known = f"{table.shape[1]} unnamed columns"
        if names is not None:
            known = f"the columns {names.tolist()}"
        raise ValueError(
            f"columns={columns!r} does not choose columns of X, which has {known}: "
            f"{error}. Give names, positions, a mask, a slice, or a function that "
            "returns one of these."
        ) from error


def _as_table(X: Any) -> Any:
    """Return a data frame unchanged, anything else as an array or CSR matrix."""
    if hasattr(X, "columns") and hasattr(X, "shape"):
        return X
    return check_array(
        X, accept_sparse="csr", dtype=None, ensure_all_finite=False, input_name="X"
    )


@parameters
class TransformedPrivileged(Wrapper, PrivilegedEstimator):
    """Preprocess the privileged table inside ``fit``.

    A row of which every value is missing in the raw table has no privileged information
    and is not transformed. The transformer is fitted on the other rows, with their y,
    and may impute single missing values in them. Rows in which y is missing are
    included, unless the transformer needs y. In cross-validation, the transformer is
    fitted on the training folds only.

    Parameters
    ----------
    estimator : estimator
        An estimator whose ``fit`` takes ``privileged``.
    transformer : transformer, default=None
        A scaler, an imputer, an encoder of text columns, or a pipeline of them. None
        does not change the table.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    transformer_ : transformer or None
        The fitted transformer; None if there were no rows to fit it on.
    classes_, objective_, duality_gap_, n_iter_, converged_
        Those of the estimator, if it has them.

    See Also
    --------
    PrivilegedColumns : The privileged features are columns of a single table.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.impute import SimpleImputer
    >>> from lupi import SVCPlus, TransformedPrivileged
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> P = np.array([[1.0, 5.0], [np.nan, 7.0], [np.nan, np.nan], [4.0, 9.0]])
    >>> model = TransformedPrivileged(SVCPlus(C=100), SimpleImputer())
    >>> model.fit(X, [0, 0, 1, 1], privileged=P).predict(X)
    array([0, 0, 1, 1])
    >>> model.transformer_.statistics_
    array([2.5, 7. ])
    """

    estimator: Inner = field(kw_only=False)
    transformer: Transformer = field(default=None, kw_only=False)

    __lupi_info__ = ModelInfo(
        title="Transformed privileged features",
        paper="",
        helps="scaling, imputation or encoding of X\\*; kernels nearly always need it",
        cost="that of the transformer",
        tune="the parameters of the transformer",
        needs="an estimator",
        rank=81,
    )

    _privileged_state = ("transformer_",)

    @atomic_fit
    def fit(
        self, X: Any, y: Any, *, privileged: Any = None, sample_weight: Any = None
    ) -> Self:
        """Fit the transformer on the privileged rows, then the estimator.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Decision features, passed to the estimator unchanged.
        y : array-like of shape (n_samples,)
            Labels or targets.
        privileged : table of shape (n_samples, n_privileged_features), default=None
            Any table that the transformer accepts. A row of which every value is
            missing has no privileged information.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, passed to the estimator and to a transformer that
            takes them. The transformer is fitted without the rows of weight 0.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        validate_data(self, X, skip_check_array=True)
        refuse_other_index(X, privileged, type(self).__name__)
        self.transformer_ = None
        self.estimator_ = fit_with(
            clone(self.estimator),
            X,
            y,
            privileged=self._fit_transform(X, y, privileged, sample_weight),
            sample_weight=sample_weight,
        )
        return self

    def _stage_features(self, X: Any) -> Any:
        check_is_fitted(self)
        return X

    @available_if(stage_has("correction"))
    def correction(self, privileged: Any) -> np.ndarray:
        """Return the correcting function on the transformed privileged features.

        Parameters
        ----------
        privileged : table of shape (n_samples, n_privileged_features)
            Raw privileged rows, as in ``fit``.

        Returns
        -------
        ndarray
            The values of ``estimator_.correction``; NaN for rows without X*.
        """
        check_is_fitted(self)
        return self.estimator_.correction(self._transform(privileged))

    def __lupi_tags__(self) -> PrivilegedTags:
        inner = getattr(self.estimator, "__lupi_tags__", PrivilegedTags)()
        inner = replace(inner, uses_unlabelled=uses_unlabelled(self.estimator))
        if self.transformer is None:
            return inner
        off = dict(inner.cannot_hold) | _TRANSFORMER_DECIDES
        if not has_fit_parameter(self.transformer, "sample_weight"):
            off["check_weight_two_is_a_repeated_row"] = (
                "the transformer is fitted without weights"
            )
        return replace(inner, cannot_hold=off)

    def _fit_transform(
        self, X: Any, y: Any, privileged: Any, sample_weight: Any
    ) -> Any:
        """Fit the transformer on the rows of positive weight; transform the table."""
        if privileged is not None:
            missing = missing_rows(privileged, self, n_rows_of(X))
            privileged = None if missing.all() else privileged
        self._remember_privileged(privileged)
        if privileged is None or self.transformer is None:
            return privileged
        check_consistent_length(X, y)
        weight = check_weight(sample_weight, len(missing), self)
        rows = np.flatnonzero(~missing & (weight > 0))
        if len(rows) == 0:
            return None
        weighted = sample_weight is not None and has_fit_parameter(
            self.transformer, "sample_weight"
        )

        def fit(rows: np.ndarray, y: Any) -> Any:
            weights = {"sample_weight": weight[rows]} if weighted else {}
            table = take_rows(privileged, rows)
            targets = None if y is None else take_rows(y, rows)
            return clone(self.transformer).fit(table, targets, **weights)

        absent = missing_targets(y)
        if not absent.any():
            self.transformer_ = fit(rows, y)
        else:
            try:
                self.transformer_ = fit(rows, None)
            except (TypeError, ValueError):  # a transformer that needs y
                self.transformer_ = fit(rows[~absent[rows]], y)
        return self._transform(privileged, missing)

    def _transform(self, privileged: Any, missing: np.ndarray | None = None) -> Any:
        """Return the transformed rows at their positions, and NaN in missing rows."""
        if not hasattr(self, "transformer_"):
            raise ValueError(
                f"This {type(self).__name__} was saved without its transformer of X*, "
                "which may contain privileged rows. Save it with lupi.save(model, "
                "path, keep_privileged=True) to use its correction."
            )
        if self.transformer_ is None:
            return privileged
        if missing is None:
            missing = missing_rows(privileged, self)
        rows = np.flatnonzero(~missing)
        if len(rows) == 0:
            width = self.estimator_.n_privileged_features_in_
            return np.full((len(missing), width), np.nan)
        values = self.transformer_.transform(take_rows(privileged, rows))
        return _in_place(values, rows, len(missing))


_TRANSFORMER_DECIDES = dict.fromkeys(
    (
        "check_refuses_text",
        "check_refuses_partly_missing_rows",
        "check_refuses_infinite_values",
        "check_sparse_privileged_equals_dense",
    ),
    "the transformer decides which values and containers it reads",
)


def _in_place(values: Any, rows: np.ndarray, n_rows: int) -> Any:
    """Return a table with `values` in the positions `rows`, and NaN elsewhere."""
    if len(rows) == n_rows:
        return values
    if hasattr(values, "reindex"):  # a pandas table keeps its names
        return values.set_axis(rows, axis=0).reindex(np.arange(n_rows))
    values = values if sp.issparse(values) else np.asarray(values, dtype=float)
    # The missing rows are copies of one row of NaN, the last.
    none = np.full((1, values.shape[1]), np.nan)
    place = np.full(n_rows, len(rows))
    place[rows] = np.arange(len(rows))
    if sp.issparse(values):
        return sp.vstack([values, sp.csr_matrix(none)], format="csr")[place]
    return np.vstack([values, none])[place]
