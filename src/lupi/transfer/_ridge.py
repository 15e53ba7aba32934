r"""Ridge regression whose penalty is chosen by generalized cross-validation.

.. math::
    \min_{b_0, b} \sum_i w_i (t_i - b_0 - z_i^\top b)^2 + \alpha \|b\|^2,

with :math:`z` the standardized columns of x, and :math:`\alpha` the minimizer of

.. math::
    \mathrm{GCV}(\alpha)
    = \frac{\mathrm{RSS}(\alpha)}{(1 - (1 + 1.2\, d(\alpha)) / n)^2},
    \qquad d(\alpha) = \sum_j \frac{\lambda_j}{\lambda_j + \alpha},

:math:`\lambda` the eigenvalues of :math:`Z^\top W Z` and
:math:`n = (\sum_i w_i)^2 / \sum_i w_i^2` Kish's effective number of rows.
Nothing but centered sums of products is needed (G. H. Golub, M. Heath and G. Wahba,
"Generalized cross-validation as a method for choosing a good ridge parameter",
Technometrics 21, 1979). The factor 1.2, at the lower end of what Y.-J. Kim and C. Gu
recommend ("Smoothing spline Gaussian regression", J. R. Statist. Soc. B 66, 2004),
avoids that GCV chooses hardly any penalty now and then, with about as many rows as
columns. Several targets share one :math:`\alpha`.

`Columns` impute missing cells and replace cells of rows without y that are far beyond
all others; `Moments` are the sums of products.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from lupi._parts import Parts
from lupi._stored import stored
from lupi.base import check_weight
from lupi.base._rows import dense

ALPHAS = np.logspace(-2, 4, 25)
# Largest penalty, in units of the weight of the rows. A larger one leaves hardly more
# than the mean, so that another candidate would decide in which order rows are ranked.
_LARGEST_PENALTY = 3.0
# Largest matrix whose eigenvalues are computed, which takes a minute.
LARGEST = 5000
# A column whose standard deviation is below this part of its mean is constant.
_ROUNDING = 16 * np.finfo(float).eps
# A sparse column, which is not centered before it is squared, is constant if its
# variance is below this part of its mean square.
_CONSTANT = 1e-12
# Factor of the degrees of freedom of the features in GCV.
_FREEDOM = 1.2
# Smallest share of residual degrees of freedom for which GCV is evaluated.
_LEAST_RESIDUAL_SHARE = 1e-3
_BLOCK = 1 << 16
# How `GCVRidge` reads X.
_READING: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": np.float64,
    "ensure_all_finite": "allow-nan",
}


def blocks(n_rows: int) -> list[slice]:
    """Return slices of 65 536 rows, so that copies stay small."""
    return [slice(start, start + _BLOCK) for start in range(0, n_rows, _BLOCK)]


# -- columns -----------------------------------------------------------------------


# Values, the weights of the rows, and which of them have y.
Table = tuple[Any, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class ColumnSums:
    """Sums by column: missing cells, and moments of labelled rows."""

    missing: np.ndarray
    weight: np.ndarray
    mean: np.ndarray
    squares: np.ndarray

    @classmethod
    def of(cls, table: Table) -> ColumnSums:
        """Return the sums of a table."""
        (X, weight, labelled), width = table, table[0].shape[1]
        if sp.issparse(X):
            cells = sp.coo_array(X)
            if np.isnan(cells.data).any():
                raise ValueError(
                    "X is sparse and has missing cells. Impute them first, or give a "
                    "dense table, in which they are replaced by the mean."
                )
            weight = np.where(labelled, weight, 0.0)
            total = weight.sum()
            mean = np.asarray(X.T @ weight).ravel() / (total or 1.0)
            apart = weight[cells.row] * (cells.data - mean[cells.col]) ** 2
            rest = total - np.bincount(cells.col, weight[cells.row], width)
            squares = np.bincount(cells.col, apart, width) + rest * mean**2
            return cls(np.zeros(width), np.full(width, total), mean, squares)
        sums = cls(*np.zeros((4, width)))
        for rows in blocks(len(X)):
            missing, chosen = np.isnan(X[rows]), labelled[rows]
            known, absent, own = X[rows][chosen], missing[chosen], weight[rows][chosen]
            total = own @ ~absent
            mean = own @ np.where(absent, 0.0, known)
            mean = mean / np.where(total > 0, total, 1.0)
            apart = np.where(absent, 0.0, known - mean)
            sums += cls(missing.sum(axis=0), total, mean, own @ apart**2)
        return sums

    def __add__(self, other: ColumnSums) -> ColumnSums:
        weight, gap = self.weight + other.weight, other.mean - self.mean
        share = np.zeros_like(weight)
        np.divide(other.weight, weight, out=share, where=weight > 0)
        return ColumnSums(
            self.missing + other.missing,
            weight,
            self.mean + share * gap,
            self.squares + other.squares + self.weight * share * gap**2,
        )


# Histograms of distances from the mean have a bin per power of 2. The bins end a little
# above it, as distances of exactly 1 or 2 units are common and rounded.
_BINS, _LOWEST, _ABOVE = 256, -128, 1 + 2.0**-30
# Share of the rows without y, at least one row, that may lie beyond the limits.
_BEYOND = 0.001


@dataclass(frozen=True)
class Columns:
    """Imputation by the mean of labelled rows, and limits of cells of rows without y.

    `marked` columns, which have missing cells, get an indicator. All labelled rows are
    within the limits, and all but one of the rows without y, or one in a thousand: no
    single row can move them. `reach` is the largest distance from the mean, a power of
    2 in units of the standard deviation of labelled rows; None without limits.
    """

    mean: np.ndarray
    marked: np.ndarray
    reach: Any = None

    @classmethod
    def with_limits(cls, tables: Parts) -> Columns:
        """Compute imputation and limits in two passes over the rows."""
        sums: ColumnSums = tables.sum(ColumnSums.of)
        unit = np.sqrt(sums.squares / np.where(sums.weight > 0, sums.weight, 1.0))
        # 1 for a constant column, up to rounding.
        unit = np.where(unit > _ROUNDING * np.abs(sums.mean), unit, 1.0)
        known, unknown = tables.sum(_histograms, sums.mean, unit)
        beyond = np.cumsum(unknown[:, ::-1], axis=1)[:, ::-1] - unknown
        few = np.maximum(1.0, _BEYOND * unknown.sum(axis=1))
        last = np.argmax(beyond <= few[:, None], axis=1)
        largest = np.argmax(np.where(known > 0, np.arange(_BINS), -1), axis=1)
        reach = unit * np.ldexp(_ABOVE, np.maximum(last, largest) + _LOWEST + 1)
        return cls(sums.mean, np.flatnonzero(sums.missing), reach)

    @property
    def width(self) -> int:
        """Number of columns, with the indicators."""
        return len(self.mean) + len(self.marked)

    def filled(self, X: Any) -> Any:
        """Return the imputed columns, followed by the indicators."""
        if len(self.marked) == 0 and (sp.issparse(X) or not np.isnan(X).any()):
            return X
        missing = np.isnan(X)
        return np.hstack([np.where(missing, self.mean, X), missing[:, self.marked]])

    def limited(self, X: Any) -> Any:
        """Return rows in which cells beyond the limits are replaced by the mean."""
        if not sp.issparse(X):
            beyond = np.abs(X - self.mean) > self.reach
            return np.where(beyond, self.mean, X) if beyond.any() else X
        cells = sp.coo_array(X)
        mean = self.mean[cells.col]
        beyond = np.abs(cells.data - mean) > self.reach[cells.col]
        data = np.where(beyond, mean, cells.data)
        X = sp.csr_array((data, (cells.row, cells.col)), X.shape)
        zeros = np.flatnonzero(np.abs(self.mean) > self.reach)
        if len(zeros):  # cells that are not stored are beyond the limits
            some, X = Columns(self.mean[zeros], zeros, self.reach[zeros]), X.tolil()
            X[:, zeros] = some.limited(X[:, zeros].toarray())
        return X.tocsr()

    def split(self, coef: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the coefficient, and the summand of a missing cell, per column."""
        slopes = coef[: len(self.mean)]
        missing = slopes * self.mean[:, None]
        missing[self.marked] += coef[len(self.mean) :]
        return slopes, missing


def _histograms(table: Table, center: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Return numbers of labelled and other rows, by column and bin of the distance."""
    (X, _, labelled), width = table, table[0].shape[1]
    counts = np.zeros((2, width, _BINS))

    def count(cells: np.ndarray, column: np.ndarray, unlabelled: np.ndarray) -> None:
        distance = np.abs(cells - center[column]) / unit[column]
        place = _bin(distance) + _BINS * (column + width * unlabelled)
        counted = np.bincount(place[~np.isnan(distance)], minlength=counts.size)
        counts[:] += counted.reshape(counts.shape)

    with np.errstate(over="ignore"):
        if not sp.issparse(X):
            for rows in blocks(len(X)):
                count(X[rows], np.arange(width), ~labelled[rows][:, None])
            return counts
        stored_cells = sp.coo_array(X)
        row, column = stored_cells.row, stored_cells.col
        count(stored_cells.data, column, ~labelled[row])
        zeros = np.bincount(~labelled, minlength=2)[:, None] - counts.sum(axis=2)
        counts[:, np.arange(width), _bin(np.abs(center) / unit)] += zeros
    return counts


def _bin(distance: np.ndarray) -> np.ndarray:
    """Return the bins of distances, in units."""
    ends = 2.0**_LOWEST, 2.0 ** (_BINS + _LOWEST - 1)
    return np.frexp(np.clip(distance / _ABOVE, *ends))[1] - (_LOWEST + 1)


# -- moments -----------------------------------------------------------------------


@dataclass(frozen=True)
class Moments:
    """Weighted means and centered products of the columns of some rows.

    The moments of two sets of rows are added by the formula of Chan, Golub and LeVeque
    (1983), which loses no digits where means are large. `squared` is the sum of the
    squared weights.
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
        if not any(map(sp.issparse, tables)):
            tables = [np.hstack(tables)]
        parts, means = zip(*(_centered(table, weight) for table in tables), strict=True)
        if len(parts) == 1 and not sp.issparse(parts[0]):
            products = (weight[:, None] * parts[0]).T @ parts[0]
        else:
            # Sparse columns are not centered, so that their mean is subtracted here.
            stacked = sp.hstack(parts, format="csr")
            products = dense(stacked.T @ (sp.diags_array(weight) @ stacked))
            sums, raw = np.asarray(stacked.T @ weight), np.diag(products).copy()
            products -= np.outer(sums, sums) / total
            constant = np.diag(products) <= _CONSTANT * raw
            products[constant] = products[:, constant] = 0.0
        return cls(total, float(weight @ weight), np.concatenate(means), products)

    def __add__(self, other: Moments) -> Moments:
        if not (self.weight > 0 and other.weight > 0):
            return self if self.weight > 0 else other
        total = self.weight + other.weight
        gap, share = other.mean - self.mean, other.weight / total
        return Moments(
            total,
            self.squared + other.squared,
            self.mean + share * gap,
            self.products + other.products + self.weight * share * np.outer(gap, gap),
        )

    @property
    def deviation(self) -> np.ndarray:
        """Standard deviations."""
        variance = np.maximum(np.diag(self.products), 0.0) / (self.weight or 1.0)
        return np.sqrt(variance)


def _centered(table: Any, weight: np.ndarray) -> tuple[Any, np.ndarray]:
    """Return a table less its means, unless it is sparse, and the means."""
    total = weight.sum()
    mean = np.asarray(table.T @ weight).ravel() / total
    if sp.issparse(table):
        return table, mean
    table = table - mean
    rest = weight @ table / total  # the rounding of the mean
    table -= rest
    return table, mean + rest


# -- ridge -------------------------------------------------------------------------


@dataclass(frozen=True)
class RidgeFit:
    """Values level + (x − center)'coef, and the penalty."""

    center: np.ndarray
    level: np.ndarray
    coef: np.ndarray
    alpha: float

    def predict(self, X: Any) -> np.ndarray:
        """Return the values."""
        if sp.issparse(X):
            return np.asarray(X @ self.coef) + (self.level - self.center @ self.coef)
        return self.level + (X - self.center) @ self.coef

    def moments(self, rows: Moments, columns: np.ndarray) -> Moments:
        """Return the moments of some columns, followed by the values."""
        products = rows.products @ self.coef
        cross = products[columns]
        inner = rows.products[np.ix_(columns, columns)]
        level = self.level + (rows.mean - self.center) @ self.coef
        return Moments(
            rows.weight,
            rows.squared,
            np.concatenate([rows.mean[columns], level]),
            np.block([[inner, cross], [cross.T, self.coef.T @ products]]),
        )


def ridge_from_moments(
    moments: Moments, n_targets: int, least: np.ndarray | float = 0.0
) -> RidgeFit:
    """Fit the moments of features followed by targets; `least` bounds the scales."""
    inner = moments.products[:-n_targets, :-n_targets]
    cross = moments.products[:-n_targets, -n_targets:]
    deviation, mean = moments.deviation[:-n_targets], moments.mean[:-n_targets]
    # A constant column, up to rounding, has the coefficient 0.
    scale = np.where(deviation > _ROUNDING * np.abs(mean), deviation, np.inf)
    scale = np.maximum(scale, least)
    values, vectors = np.linalg.eigh(inner / np.outer(scale, scale))
    values = np.maximum(values, 0.0)
    rotated = vectors.T @ (cross / scale[:, None])
    total = float(np.trace(moments.products[-n_targets:, -n_targets:]))
    explained = np.sum(rotated**2, axis=1)
    alpha = _best_alpha(values, explained, total, moments.weight, moments.squared)
    coef = vectors @ (rotated / (values + alpha)[:, None]) / scale[:, None]
    return RidgeFit(mean, moments.mean[-n_targets:], coef, alpha)


def ridge_from_rows(X: Any, target: np.ndarray, weight: np.ndarray) -> RidgeFit:
    """Fit the same model in its dual form, for fewer rows than columns.

    With Z the standardized X, the coefficients are Z'W^½ (W^½ZZ'W^½ + α)⁻¹ W^½t.
    """
    total = weight.sum()
    (apart, mean), (target, level) = _centered(X, weight), _centered(target, weight)
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
        scale = np.sqrt(weight @ apart**2 / total)
        scaled = apart / np.where(scale > _ROUNDING * np.abs(mean), scale, np.inf)
        inner = scaled @ scaled.T
    root = np.sqrt(weight)[:, None]
    values, vectors = np.linalg.eigh(root * inner * root.T)
    values = np.maximum(values, 0.0)
    rotated = vectors.T @ (root * target)
    squares = np.sum(rotated**2, axis=1)
    alpha = _best_alpha(values, values * squares, squares.sum(), total, weight @ weight)
    dual = root * (vectors @ (rotated / (values + alpha)[:, None]))
    coef = np.asarray(scaled.T @ dual)
    if sp.issparse(X):
        coef -= np.outer(mean / scale, dual.sum(axis=0))
    positive = np.where(scale > 0, scale, np.inf)
    return RidgeFit(mean, level, coef / positive[:, None], alpha)


def _best_alpha(
    values: np.ndarray,
    explained: np.ndarray,
    total: float,
    weight: float,
    squared: float,
) -> float:
    """Return the penalty with the smallest GCV; the largest one in case of ties.

    Given are the eigenvalues of Z'WZ, the squares of V'Z'Wt with V its eigenvectors,
    t'Wt, the weight of the rows, and the sum of their squared weights.
    """
    size = weight**2 / squared  # Kish's effective number of rows
    most = np.searchsorted(ALPHAS, _LARGEST_PENALTY * weight, side="right")
    allowed = ALPHAS[: max(most, 1)]
    alphas = allowed[:, None]
    fitted = explained * (values + 2 * alphas) / (values + alphas) ** 2
    residual = np.maximum(total - fitted.sum(axis=1), 0.0)
    freedom = _FREEDOM * np.sum(values / (values + alphas), axis=1)
    share = 1 - (1 + freedom) / size
    criterion = np.full(len(allowed), np.inf)
    np.divide(residual, share**2, out=criterion, where=share > _LEAST_RESIDUAL_SHARE)
    if not np.isfinite(criterion).any():
        return float(allowed[-1])
    close = criterion <= criterion.min() * (1 + 1e-9)
    return float(allowed[np.flatnonzero(close)[-1]])


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
    >>> from lupi.transfer._ridge import GCVRidge
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> bool(np.allclose(GCVRidge().fit(X, 3 * X[:, 0] + 1).coef_, [3, 0], atol=0.01))
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> GCVRidge:
        """Fit the model; y may have several columns."""
        X, y = validate_data(self, X, y, **_READING, multi_output=True, y_numeric=True)
        weight = check_weight(sample_weight, X.shape[0], self)
        sums = ColumnSums.of((X, weight, np.ones(X.shape[0], dtype=bool)))
        columns = Columns(sums.mean, np.flatnonzero(sums.missing))
        if min(X.shape) > LARGEST:
            raise ValueError(
                f"X has {X.shape[0]} rows and {X.shape[1]} columns. The default ridge "
                "regression computes the eigenvalues of a square matrix of the smaller "
                f"size, which must not exceed {LARGEST}. Give another student, such as "
                "make_pipeline(TruncatedSVD(100), Ridge()), or fewer columns."
            )
        filled = columns.filled(X)
        target = y.reshape(len(y), -1).astype(np.float64, copy=False)
        if filled.shape[0] <= filled.shape[1]:
            fit = ridge_from_rows(filled, target, weight)
        else:
            moments = Moments.of([filled, target], weight)
            fit = ridge_from_moments(moments, target.shape[1])
        return self.set_fitted(fit, [(columns, fit.coef)], flat=y.ndim == 1)

    def set_fitted(
        self, fit: RidgeFit, tables: list[tuple[Columns, np.ndarray]], *, flat: bool
    ) -> GCVRidge:
        """Set the fitted state from the coefficients of imputed tables."""
        parts = [columns.split(coef) for columns, coef in tables]
        slopes, missing = (np.vstack(part) for part in zip(*parts, strict=True))
        intercept = fit.level - fit.center @ fit.coef
        self.intercept_ = intercept[0] if flat else intercept
        self.coef_ = slopes[:, 0] if flat else slopes.T
        self.missing_coef_ = missing[:, 0] if flat else missing.T
        self.alpha_ = fit.alpha
        self.n_features_in_ = len(slopes)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return predictions, one column per target."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **_READING)
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
