r"""Ridge regression whose penalty is chosen by generalized cross-validation.

.. math::
    \min_{b_0, b} \sum_i w_i (t_i - b_0 - z_i^\top b)^2 + \alpha \|b\|^2,

with :math:`z` the standardized columns of x, and :math:`\alpha` the minimizer of

.. math::
    \mathrm{GCV}(\alpha) = \frac{\mathrm{RSS}(\alpha)}{(1 - (1 + d(\alpha)) / n)^2},
    \qquad d(\alpha) = \sum_j \frac{\lambda_j}{\lambda_j + \alpha},

:math:`\lambda` the eigenvalues of :math:`Z^\top W Z` and :math:`n = \sum_i w_i`.
Nothing but X'WX, X'Wt and t'Wt is needed (G. H. Golub, M. Heath and G. Wahba,
"Generalized cross-validation as a method for choosing a good ridge parameter",
Technometrics 21, 1979). Several targets share one :math:`\alpha`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from lupi._device import gram_on
from lupi._parts import LocalParts
from lupi._stored import stored
from lupi.base import check_weight
from lupi.base._rows import dense
from lupi.transfer._hedge.filling import Filling, table_and_weight

ALPHAS = np.logspace(-2, 4, 25)
# Largest matrix whose eigenvalues are computed, which takes a minute.
LARGEST = 5000
# A column is constant if its variance is below this part of its mean square.
_CONSTANT = 1e-12
# Smallest share of residual degrees of freedom for which GCV is evaluated.
_LEAST_RESIDUAL_SHARE = 1e-3


def ridge_from_sums(
    gram: np.ndarray,
    cross: np.ndarray,
    square: np.ndarray,
    least: np.ndarray | float = 0.0,
) -> tuple[np.ndarray, float]:
    """Fit ridge regression from sums of products.

    Parameters
    ----------
    gram : ndarray of shape (1 + n_features, 1 + n_features)
        A'WA with A = [1, X].
    cross : ndarray of shape (1 + n_features, n_targets)
        A'WT.
    square : ndarray of shape (n_targets,)
        Diagonal of T'WT.
    least : ndarray of shape (n_features,), default=0.0
        The smallest scale of each column.

    Returns
    -------
    coef : ndarray of shape (1 + n_features, n_targets)
        Intercepts first.
    alpha : float
        The penalty.
    """
    n = gram[0, 0]
    mean, level = gram[0, 1:] / n, cross[0] / n
    moments = gram[1:, 1:] - n * np.outer(mean, mean)
    scale = np.maximum(_scale(np.diag(moments), np.diag(gram)[1:], n), least)
    values, vectors = np.linalg.eigh(moments / np.outer(scale, scale))
    values = np.maximum(values, 0.0)
    rotated = vectors.T @ ((cross[1:] - n * np.outer(mean, level)) / scale[:, None])
    total = np.sum(square - n * level**2)
    alpha = best_alpha(values, np.sum(rotated**2, axis=1), total, n)
    coef = vectors @ (rotated / (values + alpha)[:, None]) / scale[:, None]
    return np.vstack([level - mean @ coef, coef]), alpha


def best_alpha(
    values: np.ndarray, explained: np.ndarray, total: float, n: float
) -> float:
    """Return the penalty with the smallest GCV; the largest one in case of ties.

    Parameters
    ----------
    values : ndarray
        Eigenvalues of Z'WZ.
    explained : ndarray
        Squares of V'Z'Wt, V the eigenvectors, summed over the targets.
    total : float
        t'Wt of the centered targets, summed over the targets.
    n : float
        Sum of the weights.
    """
    alphas = ALPHAS[:, None]
    fitted = explained * (values + 2 * alphas) / (values + alphas) ** 2
    residual = np.maximum(total - fitted.sum(axis=1), 0.0)
    share = 1 - (1 + np.sum(values / (values + alphas), axis=1)) / n
    criterion = np.full(len(ALPHAS), np.inf)
    np.divide(residual, share**2, out=criterion, where=share > _LEAST_RESIDUAL_SHARE)
    if not np.isfinite(criterion).any():
        return float(ALPHAS[-1])
    close = criterion <= criterion.min() * (1 + 1e-9)
    return float(ALPHAS[np.flatnonzero(close)[-1]])


def ridge_from_rows(
    X: Any, target: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, float]:
    """Fit the same model in its dual form, for fewer rows than columns.

    With Z the standardized X, the coefficients are Z'W^½ (W^½ZZ'W^½ + α)⁻¹ W^½t.
    """
    n = weight.sum()
    mean = np.asarray(X.T @ weight).ravel() / n
    squares = X.multiply(X) if sp.issparse(X) else X**2
    mean_square = np.asarray(squares.T @ weight).ravel() / n
    scale = _scale(n * (mean_square - mean**2), n * mean_square, n)
    root = np.sqrt(weight)[:, None]
    level = weight @ target / n
    rhs = root * (target - level)
    # The Gram matrix is centered instead of X, so that a sparse X stays sparse.
    scaled = X @ sp.diags_array(1 / scale) if sp.issparse(X) else X / scale
    shift = scaled @ (mean / scale)
    inner = dense(scaled @ scaled.T)
    inner = inner - shift[:, None] - shift[None, :] + np.sum((mean / scale) ** 2)
    values, vectors = np.linalg.eigh(root * inner * root.T)
    values = np.maximum(values, 0.0)
    rotated = vectors.T @ rhs
    explained = values * np.sum(rotated**2, axis=1)
    alpha = best_alpha(values, explained, np.sum(rhs**2), n)
    dual = root * (vectors @ (rotated / (values + alpha)[:, None]))
    coef = np.asarray(scaled.T @ dual) - np.outer(mean / scale, dual.sum(axis=0))
    coef /= scale[:, None]
    return np.vstack([level - mean @ coef, coef]), alpha


def _scale(centered: np.ndarray, raw: np.ndarray, n: float) -> np.ndarray:
    """Return weighted standard deviations; infinity for a constant column."""
    scale = np.sqrt(np.maximum(centered, 0.0) / n)
    return np.where(centered > _CONSTANT * raw, scale, np.inf)


@stored
class GCVRidge(RegressorMixin, BaseEstimator):
    """Ridge regression on standardized columns, with the penalty chosen by GCV.

    It is the default teacher and student of hedged distillation. Missing cells are
    replaced by the median of the column and indicated by an additional column.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients, in the units of X.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept.
    missing_coef_ : ndarray of the shape of ``coef_``
        Summand of a missing cell, in place of value × coefficient.
    alpha_ : float
        The penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.transfer._hedge.ridge import GCVRidge
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> bool(np.allclose(GCVRidge().fit(X, 3 * X[:, 0] + 1).coef_, [3, 0], atol=0.01))
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> GCVRidge:
        """Fit the model; y may have several columns."""
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=np.float64,
            ensure_all_finite="allow-nan",
            multi_output=True,
            y_numeric=True,
        )
        weight = check_weight(sample_weight, X.shape[0], self)
        filling = Filling.of(LocalParts([(X, weight)]), table_and_weight)
        if min(X.shape) > LARGEST:
            raise ValueError(
                f"X has {X.shape[0]} rows and {X.shape[1]} columns. The default ridge "
                "regression computes the eigenvalues of a square matrix of the smaller "
                f"size, which must not exceed {LARGEST}. Give another student, such as "
                "make_pipeline(TruncatedSVD(100), Ridge()), or fewer columns."
            )
        A = filling.with_ones(filling.apply(X))
        target = y.reshape(len(y), -1).astype(np.float64, copy=False)
        if A.shape[0] < A.shape[1]:
            coef, alpha = ridge_from_rows(A[:, 1:], target, weight)
        else:
            cross = A.T @ (weight[:, None] * target)
            coef, alpha = ridge_from_sums(
                weighted_gram(A, weight), np.asarray(cross), weight @ target**2
            )
        coef[0] -= filling.shift @ coef[1:]
        slopes, missing = filling.split(coef[1:])
        return self.set_fitted(coef[0], slopes, missing, alpha, flat=y.ndim == 1)

    def set_fitted(
        self,
        intercept: np.ndarray,
        slopes: np.ndarray,
        missing: np.ndarray,
        alpha: float,
        *,
        flat: bool,
    ) -> GCVRidge:
        """Set the fitted state from coefficients, one column per target."""
        self.intercept_ = intercept[0] if flat else intercept
        self.coef_ = slopes[:, 0] if flat else slopes.T
        self.missing_coef_ = missing[:, 0] if flat else missing.T
        self.alpha_ = alpha
        self.n_features_in_ = len(slopes)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return predictions, one column per target."""
        check_is_fitted(self)
        X = validate_data(
            self,
            X,
            reset=False,
            accept_sparse="csr",
            dtype=np.float64,
            ensure_all_finite="allow-nan",
        )
        return linear_values(X, self.coef_, self.missing_coef_, self.intercept_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        return tags


def linear_values(X: Any, coef: Any, missing_coef: Any, intercept: Any) -> np.ndarray:
    """Return X @ coef + intercept, with separate summands for missing cells."""
    if not sp.issparse(X):
        missing = np.isnan(X)
        if missing.any():
            filled = np.where(missing, 0.0, X)
            return filled @ coef.T + missing @ missing_coef.T + intercept
    return np.asarray(X @ coef.T) + intercept


def weighted_gram(A: Any, weight: np.ndarray, device: str = "cpu") -> np.ndarray:
    """Return A'WA as a dense array, computed on a device."""
    if device != "cpu":
        return gram_on(device, A, weight)
    if sp.issparse(A):
        return (A.T @ (sp.diags_array(weight) @ A)).toarray()
    return A.T @ (weight[:, None] * A)
