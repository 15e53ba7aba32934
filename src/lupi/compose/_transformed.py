"""`TransformedPrivileged`: preprocessing of the privileged table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from lupi._parameters import Constraints, Instance
from lupi.base import (
    ModelInfo,
    PrivilegedEstimator,
    PrivilegedTags,
    atomic_fit,
    check_weight,
    missing_rows,
    missing_targets,
    uses_unlabelled,
)
from lupi.base._metadata import Wrapper, fit_with, stage_has
from lupi.base._rows import refuse_other_index, take_rows


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
    _parameter_constraints: ClassVar[Constraints] = {
        "estimator": [Instance("fit")],
        "transformer": [Instance(["fit", "transform"]), None],
    }

    def __init__(self, estimator: Any, transformer: Any = None) -> None:
        self.estimator = estimator
        self.transformer = transformer

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
            privileged=self._fit_transform(y, privileged, sample_weight),
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

    def _fit_transform(self, y: Any, privileged: Any, sample_weight: Any) -> Any:
        """Fit the transformer on the rows of positive weight; transform the table."""
        if privileged is None:
            self._remember_privileged(None)
            return None
        missing = missing_rows(privileged, self)
        self._remember_privileged(None if missing.all() else privileged)
        if missing.all():
            return None
        if self.transformer is None:
            return privileged
        _check_rows(len(missing), y, self)
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
    if sp.issparse(values):
        absent = np.setdiff1d(np.arange(n_rows), rows)
        missing = sp.csr_matrix(np.full((len(absent), values.shape[1]), np.nan))
        order = np.argsort(np.concatenate([rows, absent]))
        return sp.vstack([values.tocsr(), missing], format="csr")[order]
    values = np.asarray(values)
    full = np.full((n_rows, *values.shape[1:]), np.nan)
    full[rows] = values
    return full


def _check_rows(n_rows: int, y: Any, estimator: Any) -> None:
    n_targets = 0 if y is None else len(y)
    if n_rows != n_targets:
        raise ValueError(
            f"{type(estimator).__name__} got privileged with {n_rows} rows for "
            f"{n_targets} values of y. Give one row for each, in the same order; a row "
            "without privileged information is a row of NaN."
        )
