"""Ridge by GCV against scikit-learn and against the criterion written out."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from lupi._parts import LocalParts
from lupi.transfer._hedge.filling import table_and_weight, weighted_medians
from lupi.transfer._hedge.ridge import ALPHAS, LARGEST, GCVRidge, ridge_from_rows


def _data(n=40, p=6, m=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * np.geomspace(0.1, 50, p) + np.arange(p) * 100
    size = (n,) if m is None else (n, m)
    noise = rng.normal(size=size)
    signal = X[:, 0] if m is None else X[:, :m]
    return X, signal + noise, rng.integers(1, 4, size=n).astype(float)


def _criterion(X, y, alpha, weight):
    """GCV with its hat matrix, which nobody needs but everybody understands."""
    n = weight.sum()
    Z = StandardScaler().fit_transform(X, sample_weight=weight)
    W = np.diag(weight)
    H = Z @ np.linalg.solve(Z.T @ W @ Z + alpha * np.eye(Z.shape[1]), Z.T @ W)
    mean = weight @ y / n
    residual = y - mean - H @ (y - mean)
    return np.sum(weight @ residual**2) / (1 - (1 + np.trace(H)) / n) ** 2


@pytest.mark.parametrize("m", [None, 3])
@pytest.mark.parametrize("shape", [(40, 6), (15, 30)])
def test_coefficients_are_those_of_scikit_learns_ridge(shape, m):
    X, y, weight = _data(*shape, m=m)
    ours = GCVRidge().fit(X, y, sample_weight=weight)
    scaler = StandardScaler().fit(X, sample_weight=weight)
    theirs = Ridge(alpha=ours.alpha_).fit(scaler.transform(X), y, sample_weight=weight)
    expected = theirs.predict(scaler.transform(X))
    np.testing.assert_allclose(ours.predict(X), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ours.coef_, theirs.coef_ / scaler.scale_, rtol=1e-7)


@pytest.mark.parametrize("m", [None, 2])
@pytest.mark.parametrize("shape", [(40, 6), (15, 30)])
@pytest.mark.parametrize("seed", range(4))
def test_alpha_minimizes_the_criterion(shape, m, seed):
    X, y, weight = _data(*shape, m=m, seed=seed)
    model = GCVRidge().fit(X, y, sample_weight=weight)
    values = [_criterion(X, y, alpha, weight) for alpha in ALPHAS]
    assert model.alpha_ == ALPHAS[np.argmin(values)]


def test_gcv_predicts_nearly_as_leave_one_out_does():
    X, y, _ = _data(200, 10)
    Z = StandardScaler().fit_transform(X)
    exact = RidgeCV(ALPHAS).fit(Z, y).predict(Z)
    ours = GCVRidge().fit(X, y).predict(X)
    assert np.std(ours - exact) < 0.05 * np.std(exact)


def test_rows_and_columns_give_the_same_model():
    X, y, weight = _data(20, 12)
    tall = GCVRidge().fit(X, y, sample_weight=weight)
    center = X.mean(axis=0)
    coef, alpha = ridge_from_rows(X - center, y[:, None], weight)
    assert alpha == tall.alpha_
    np.testing.assert_allclose(coef[1:, 0], tall.coef_, rtol=1e-7)
    expected = tall.intercept_ + center @ tall.coef_
    np.testing.assert_allclose(coef[0, 0], expected, rtol=1e-7)


@pytest.mark.parametrize("shape", [(40, 6), (15, 40)])
def test_a_weight_is_a_number_of_rows(shape):
    X, y, weight = _data(*shape)
    rows = np.repeat(np.arange(len(y)), weight.astype(int))
    once = GCVRidge().fit(X, y, sample_weight=weight)
    often = GCVRidge().fit(X[rows], y[rows])
    np.testing.assert_allclose(once.predict(X), often.predict(X), rtol=1e-8)


@pytest.mark.parametrize("shape", [(40, 6), (15, 30)])
def test_sparse_is_dense(shape):
    X, y, weight = _data(*shape)
    X[np.random.default_rng(1).random(X.shape) < 0.6] = 0.0
    X[:, 1] = 0.0
    dense = GCVRidge().fit(X, y, sample_weight=weight)
    sparse = GCVRidge().fit(sp.csr_array(X), y, sample_weight=weight)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-6, atol=1e-10)
    expected = dense.predict(X)
    np.testing.assert_allclose(sparse.predict(sp.csr_array(X)), expected, rtol=1e-7)


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e6])
def test_a_constant_column_has_no_coefficient(constant):
    X, y, _ = _data()
    X[:, 2] = constant
    model = GCVRidge().fit(X, y)
    assert model.coef_[2] == 0.0
    others = [0, 1, 3, 4, 5]
    expected = GCVRidge().fit(X[:, others], y).predict(X[:, others])
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-9)


def test_missing_cells_are_imputed_by_the_median_and_marked():
    X, y, _ = _data(60, 5)
    X[::7, 1] = np.nan
    X[3::11, 4] = np.nan
    imputer = SimpleImputer(strategy="median", add_indicator=True).fit(X)
    plain = GCVRidge().fit(imputer.transform(X), y)
    model = GCVRidge().fit(X, y)
    np.testing.assert_allclose(
        model.predict(X), plain.predict(imputer.transform(X)), rtol=1e-8
    )
    assert model.coef_.shape == model.missing_coef_.shape == (5,)
    assert np.isfinite(model.predict(np.full((1, 5), np.nan))).all()


def test_a_cell_that_is_missing_only_when_predicting_says_nothing():
    """It leaves the prediction where it is on average."""
    X, y, _ = _data(60, 5)
    X[::7, 1] = np.nan
    model = GCVRidge().fit(X, y)
    row = X[3:4].copy()
    row[0, 3] = np.nan
    known = np.repeat(X[3:4], 60, axis=0)
    known[:, 3] = X[:, 3]
    np.testing.assert_allclose(model.predict(row), model.predict(known).mean())


def test_missing_cells_of_a_sparse_table_are_refused():
    X, y, _ = _data()
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="sparse and has missing cells"):
        GCVRidge().fit(sp.csr_array(X), y)


def test_a_table_that_is_large_both_ways_is_refused_in_a_sentence():
    X, y = sp.eye_array(LARGEST + 1, format="csr"), np.arange(LARGEST + 1.0)
    with pytest.raises(ValueError, match=r"5001 rows and 5001 columns.*student"):
        GCVRidge().fit(X, y)
    GCVRidge().fit(X[:, :10], y)
    GCVRidge().fit(X[:10], y[:10])


def test_a_target_without_variation_is_predicted_as_it_is():
    X, _, _ = _data()
    model = GCVRidge().fit(X, np.full(40, 3.0))
    np.testing.assert_allclose(model.predict(X), 3.0)
    assert model.alpha_ == ALPHAS[-1]


@pytest.mark.parametrize("n_parts", [1, 3])
@pytest.mark.parametrize("seed", range(5))
def test_weighted_medians_are_the_medians_of_repeated_values(seed, n_parts):
    rng = np.random.default_rng(seed)
    table = np.column_stack(
        [
            rng.integers(-4, 5, 12),
            rng.normal(size=12) * 10.0 ** rng.integers(-300, 300, 12),
            np.where(rng.random(12) < 0.5, -0.0, 0.0),
        ]
    )
    table[rng.random(12) < 0.2, 1] = np.nan
    times = rng.integers(0, 4, 12)
    repeated = np.repeat(table, times, axis=0)
    for unit in (1.0, 0.1):
        weight = unit * times
        rows = np.array_split(np.arange(12), n_parts)
        parts = LocalParts([(table[part], weight[part]) for part in rows])
        known = weight @ ~np.isnan(table)
        found = weighted_medians(parts, table_and_weight, np.arange(3), known)
        np.testing.assert_array_equal(found, np.nanmedian(repeated, axis=0))


def test_the_median_of_cells_that_do_not_count_is_zero():
    parts = LocalParts([(np.array([[3.0], [np.nan]]), np.array([0.0, 1.0]))])
    assert (
        weighted_medians(parts, table_and_weight, np.array([0]), np.array([0.0])) == 0
    )


def test_scikit_learns_checks():
    check_estimator(GCVRidge(), on_skip=None)
