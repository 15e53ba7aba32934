r"""Ridge regression whose penalty is chosen by generalized cross-validation.

.. math::
    \min_{b_0, b} \sum_i w_i (t_i - b_0 - z_i^\top b)^2 + \alpha \|b\|^2,

with :math:`z` the standardized columns of x, and :math:`\alpha` the minimizer of

.. math::
    \mathrm{GCV}(\alpha) = \frac{\mathrm{RSS}(\alpha)}{(1 - (1 + d(\alpha)) / n)^2},
    \qquad d(\alpha) = \sum_j \frac{\lambda_j}{\lambda_j + \alpha},

:math:`\lambda` the eigenvalues of :math:`Z^\top W Z` and
:math:`n = (\sum_i w_i)^2 / \sum_i w_i^2` Kish's effective number of rows.
Nothing but centered sums of products is needed (G. H. Golub, M. Heath and G. Wahba,
"Generalized cross-validation as a method for choosing a good ridge parameter",
Technometrics 21, 1979). Several targets share one :math:`\alpha`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from lupi._stored import stored
from lupi.base import check_weight
from lupi.base._rows import dense
from lupi.transfer._hedge.filling import ROUNDING, Filling, Table, column_sums

ALPHAS = np.logspace(-2, 4, 25)
# Largest penalty, in units of the weight of the rows. A larger one leaves hardly more
# than the mean, so that another candidate would decide in which order rows are ranked.
_LARGEST_PENALTY = 3.0
# Largest matrix whose eigenvalues are computed, which takes a minute.
LARGEST = 5000
# A sparse column, which is not centered before it is squared, is constant if its
# variance is below this part of its mean square.
_CONSTANT = 1e-12
# Smallest share of residual degrees of freedom for which GCV is evaluated.
_LEAST_RESIDUAL_SHARE = 1e-3


@dataclass(frozen=True)
class Moments:
    """Means and centered products of the columns of some rows.

    The moments of two sets of rows are added by the formula of Chan, Golub and LeVeque
    (1983), which loses no digits where means are large.

    Attributes
    ----------
    weight, squared : float
        Sum of the weights and of their squares.
    mean : ndarray of shape (n_columns,)
        Weighted means.
    products : ndarray of shape (n_columns, n_columns)
        Weighted products of the deviations from the means.
    """

    weight: float
    squared: float
    mean: np.ndarray
    products: np.ndarray

    @classmethod
    def none(cls, n_columns: int) -> Moments:
        """Return the moments of no rows."""
        return cls(0.0, 0.0, np.zeros(n_columns), np.zeros((n_columns, n_columns)))

    @classmethod
    def of(cls, tables: list[Any], weight: np.ndarray) -> Moments:
        """Return the moments of tables side by side, some of which may be sparse."""
        total = float(weight.sum())
        if not total > 0:
            return cls.none(sum(table.shape[1] for table in tables))
        means, parts = [], []
        for table in tables:
            mean = np.asarray(table.T @ weight).ravel() / total
            if not sp.issparse(table):
                table = table - mean
                rest = weight @ table / total
                table -= rest
                mean = mean + rest
            means.append(mean)
            parts.append(table)
        rows = []
        for left, mean in zip(parts, means, strict=True):
            heavy = (
                left.multiply(weight[:, None]).tocsr()
                if sp.issparse(left)
                else (left * weight[:, None])
            )
            row = []
            for right, other in zip(parts, means, strict=True):
                product = dense(heavy.T @ right)
                if sp.issparse(left) and sp.issparse(right):
                    raw = np.diag(product).copy() if left is right else None
                    product = product - total * np.outer(mean, other)
                    if raw is not None:
                        constant = np.diag(product) <= _CONSTANT * raw
                        product[constant] = product[:, constant] = 0.0
                row.append(product)
            rows.append(row)
        squared = float(weight @ weight)
        return cls(total, squared, np.concatenate(means), np.block(rows))

    def __add__(self, other: Moments) -> Moments:
        if not (self.weight > 0 and other.weight > 0):
            return self if self.weight > 0 else other
        total = self.weight + other.weight
        gap, share = other.mean - self.mean, other.weight / total
        between = self.weight * share * np.outer(gap, gap)
        return Moments(
            total,
            self.squared + other.squared,
            self.mean + share * gap,
            self.products + other.products + between,
        )

    @property
    def size(self) -> float:
        """Kish's effective number of rows."""
        return self.weight**2 / self.squared

    @property
    def scale(self) -> np.ndarray:
        """Standard deviations; infinity for a constant column, up to rounding."""
        scale = np.sqrt(np.maximum(np.diag(self.products), 0.0) / self.weight)
        return np.where(scale > ROUNDING * np.abs(self.mean), scale, np.inf)


@dataclass(frozen=True)
class RidgeFit:
    """Values level + (x − center)'coef, and the penalty."""

    center: np.ndarray
    level: np.ndarray
    coef: np.ndarray
    alpha: float

    @property
    def intercept(self) -> np.ndarray:
        """Values at x = 0."""
        return self.level - self.center @ self.coef


def ridge_from_moments(
    moments: Moments, n_targets: int, least: np.ndarray | float = 0.0
) -> RidgeFit:
    """Fit ridge regression to the moments of features, followed by targets.

    Parameters
    ----------
    moments : Moments
        Those of n_features + n_targets columns.
    n_targets : int
        Number of targets.
    least : ndarray of shape (n_features,), default=0.0
        The smallest scale of each feature.
    """
    inner, cross = (
        moments.products[:-n_targets, :-n_targets],
        moments.products[:, -n_targets:],
    )
    scale = np.maximum(moments.scale[:-n_targets], least)
    values, vectors = np.linalg.eigh(inner / np.outer(scale, scale))
    values = np.maximum(values, 0.0)
    rotated = vectors.T @ (cross[:-n_targets] / scale[:, None])
    total = float(np.trace(cross[-n_targets:]))
    explained = np.sum(rotated**2, axis=1)
    alpha = best_alpha(values, explained, total, moments.weight, moments.size)
    coef = vectors @ (rotated / (values + alpha)[:, None]) / scale[:, None]
    center, level = moments.mean[:-n_targets], moments.mean[-n_targets:]
    return RidgeFit(center, level, coef, alpha)


def best_alpha(
    values: np.ndarray, explained: np.ndarray, total: float, weight: float, size: float
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
    weight, size : float
        Sum of the weights of the rows, and their effective number.
    """
    most = np.searchsorted(ALPHAS, _LARGEST_PENALTY * weight, side="right")
    allowed = ALPHAS[: max(most, 1)]
    alphas = allowed[:, None]
    fitted = explained * (values + 2 * alphas) / (values + alphas) ** 2
    residual = np.maximum(total - fitted.sum(axis=1), 0.0)
    share = 1 - (1 + np.sum(values / (values + alphas), axis=1)) / size
    criterion = np.full(len(allowed), np.inf)
    np.divide(residual, share**2, out=criterion, where=share > _LEAST_RESIDUAL_SHARE)
    if not np.isfinite(criterion).any():
        return float(allowed[-1])
    close = criterion <= criterion.min() * (1 + 1e-9)
    return float(allowed[np.flatnonzero(close)[-1]])


def ridge_from_rows(X: Any, target: np.ndarray, weight: np.ndarray) -> RidgeFit:
    """Fit the same model in its dual form, for fewer rows than columns.

    With Z the standardized X, the coefficients are Z'W^½ (W^½ZZ'W^½ + α)⁻¹ W^½t.
    """
    total = weight.sum()
    mean = np.asarray(X.T @ weight).ravel() / total
    level = weight @ target / total
    target = target - level
    if sp.issparse(X):
        # The Gram matrix is centered instead of X, so that X stays sparse.
        raw = np.asarray(X.multiply(X).T @ weight).ravel() / total
        variance = raw - mean**2
        scale = np.sqrt(np.where(variance > _CONSTANT * raw, variance, np.inf))
        scaled = X @ sp.diags_array(1 / scale)
        shift = scaled @ (mean / scale)
        inner = dense(scaled @ scaled.T)
        inner = inner - shift[:, None] - shift[None, :] + np.sum((mean / scale) ** 2)
    else:
        apart = X - mean
        rest = weight @ apart / total
        apart, mean = apart - rest, mean + rest
        scale = np.sqrt(weight @ apart**2 / total)
        scale = np.where(scale > ROUNDING * np.abs(mean), scale, np.inf)
        scaled = apart / scale
        inner = scaled @ scaled.T
    root = np.sqrt(weight)[:, None]
    values, vectors = np.linalg.eigh(root * inner * root.T)
    values = np.maximum(values, 0.0)
    rotated = vectors.T @ (root * target)
    explained = values * np.sum(rotated**2, axis=1)
    size = total**2 / (weight @ weight)
    alpha = best_alpha(values, explained, float(np.sum(rotated**2)), total, size)
    dual = root * (vectors @ (rotated / (values + alpha)[:, None]))
    coef = np.asarray(scaled.T @ dual)
    if sp.issparse(X):
        coef -= np.outer(mean / scale, dual.sum(axis=0))
    return RidgeFit(mean, level, coef / scale[:, None], alpha)


@stored
class GCVRidge(RegressorMixin, BaseEstimator):
    """Ridge regression on standardized columns, with the penalty chosen by GCV.

    It is the default teacher and student of hedged distillation. Missing cells are
    replaced by the mean of the column and indicated by an additional column.

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
        table = Table(X, weight, np.ones(X.shape[0], dtype=bool))
        filling = Filling.of(column_sums(table, Table.itself))
        if min(X.shape) > LARGEST:
            raise ValueError(
                f"X has {X.shape[0]} rows and {X.shape[1]} columns. The default ridge "
                "regression computes the eigenvalues of a square matrix of the smaller "
                f"size, which must not exceed {LARGEST}. Give another student, such as "
                "make_pipeline(TruncatedSVD(100), Ridge()), or fewer columns."
            )
        filled = filling.apply(X)
        target = y.reshape(len(y), -1).astype(np.float64, copy=False)
        if filled.shape[0] <= filled.shape[1]:
            fit = ridge_from_rows(filled, target, weight)
        else:
            moments = Moments.of([filled, target], weight)
            fit = ridge_from_moments(moments, target.shape[1])
        slopes, missing = filling.split(fit.coef)
        flat = y.ndim == 1
        return self.set_fitted(fit.intercept, slopes, missing, fit.alpha, flat=flat)

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
