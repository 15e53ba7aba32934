"""How rows with and without y differ in X and X*, by a classifier of them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import check_random_state

from lupi.base import missing_targets
from lupi.base._rows import is_data_frame, side_by_side, take_rows

WARN_ABOVE = 0.65
# Smallest propensity, so that no row has a weight above that of 50 rows.
_SMALLEST = 0.02


@dataclass(frozen=True)
class LabelPropensity:
    """Difference between rows that have y and rows that have none.

    Attributes
    ----------
    auc : float
        Cross-validated area under the ROC curve of a classifier that separates them
        by X and X*; 0.5 when they do not differ, NaN when there are too few rows with
        or without y.
    n_labelled, n_unlabelled : int
        Numbers of rows.
    sample_weight : ndarray of shape (n_samples,)
        Inverse propensities of the rows that have y, with mean 1; ones elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.transfer import label_propensity
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> y = np.where(np.arange(300) < 100, X[:, 0], np.nan)
    >>> label_propensity(X, y).n_unlabelled
    200
    """

    auc: float
    n_labelled: int
    n_unlabelled: int
    sample_weight: np.ndarray


def label_propensity(
    X: Any,
    y: Any,
    *,
    privileged: Any = None,
    estimator: Any = None,
    cv: int = 5,
    max_samples: int = 20_000,
    random_state: Any = 0,
) -> LabelPropensity:
    """Separate rows with y from rows without y, and warn if they differ clearly.

    A model trained on labelled rows is valid for other rows only as far as these are
    similar. Loans that have ended, for instance, are older than loans that still run,
    and patients who stayed under observation differ from those who left.

    Parameters
    ----------
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Decision features.
    y : array-like of shape (n_samples,)
        Labels or targets, missing in some rows.
    privileged : {array-like, sparse matrix, data frame} of shape \
(n_samples, n_privileged), default=None
        X*.
    estimator : classifier, default=None
        A classifier with ``predict_proba``. None is logistic regression, with missing
        cells replaced by the median and indicated, and categories one-hot encoded.
    cv : int, default=5
        Number of folds.
    max_samples : int, default=20_000
        Maximum number of rows, drawn at random, that the classifier is trained on.
    random_state : int, RandomState or None, default=0
        Seed of the choice of rows and of the folds.

    Returns
    -------
    LabelPropensity
        The area under the curve, and weights for ``fit(..., sample_weight=)``.

    Warns
    -----
    UserWarning
        If the area is above 0.65.

    Examples
    --------
    Recent rows have no outcome yet, and their features have drifted.

    >>> import numpy as np
    >>> import warnings
    >>> from lupi.transfer import label_propensity
    >>> rng = np.random.default_rng(0)
    >>> time = np.linspace(0, 1, 400)
    >>> X = rng.normal(size=(400, 2)) + 2 * time[:, None]
    >>> y = np.where(time < 0.5, X.sum(axis=1), np.nan)
    >>> with warnings.catch_warnings(record=True) as messages:
    ...     warnings.simplefilter("always")
    ...     found = label_propensity(X, y)
    >>> len(messages), found.auc > 0.8
    (1, True)
    >>> bool(found.sample_weight[150:200].mean() > found.sample_weight[:50].mean())
    True
    """
    labelled = ~missing_targets(y)
    n_labelled, n_unlabelled = int(labelled.sum()), int((~labelled).sum())
    weight = np.ones(len(labelled))
    if min(n_labelled, n_unlabelled) < 2 * cv:
        return LabelPropensity(np.nan, n_labelled, n_unlabelled, weight)
    table = _as_table(X)
    if privileged is not None:
        table = side_by_side(table, _as_table(privileged))
    rng = check_random_state(random_state)
    rows = np.arange(len(labelled))
    if len(rows) > max_samples:
        rows = np.sort(rng.permutation(rows)[:max_samples])
    part = take_rows(table, rows)
    model = _default(table) if estimator is None else clone(estimator)
    folds = StratifiedKFold(cv, shuffle=True, random_state=rng)
    chance = cross_val_predict(
        model, part, labelled[rows], cv=folds, method="predict_proba"
    )[:, 1]
    auc = float(roc_auc_score(labelled[rows], chance))
    if len(rows) < len(labelled):
        chance = model.fit(part, labelled[rows]).predict_proba(table)[:, 1]
    inverse = 1 / np.maximum(chance[labelled], _SMALLEST)
    weight[labelled] = inverse / inverse.mean()
    if auc > WARN_ABOVE:
        warnings.warn(
            f"Rows with y ({n_labelled}) and without ({n_unlabelled}) are not alike: "
            f"a classifier separates them by their features with an AUC of {auc:.2f}. "
            "The rows without y may be more recent, or may have been selected. Models "
            "and scores based on rows with y need not be valid for the others. "
            "Examine the columns in which they differ, and consider "
            "sample_weight=label_propensity(...).sample_weight.",
            stacklevel=2,
        )
    return LabelPropensity(auc, n_labelled, n_unlabelled, weight)


def _as_table(values: Any) -> Any:
    """Return data frames and sparse matrices unchanged, anything else as an array."""
    if is_data_frame(values) or sp.issparse(values):
        return values
    return np.asarray(values)


def _default(table: Any) -> Any:
    """Return logistic regression behind an encoding of the table."""
    numbers = make_pipeline(
        SimpleImputer(strategy="median", add_indicator=True), StandardScaler()
    )
    logistic = LogisticRegression(max_iter=1000)
    if sp.issparse(table):
        return make_pipeline(StandardScaler(with_mean=False), logistic)
    if not is_data_frame(table):
        return make_pipeline(numbers, logistic)
    words = OneHotEncoder(handle_unknown="ignore", max_categories=20)
    encoded = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (words, make_column_selector(dtype_exclude="number")),
    )
    return make_pipeline(encoded, logistic)
