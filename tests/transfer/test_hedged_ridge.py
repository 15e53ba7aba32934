"""Ridge by GCV, the default student, against scikit-learn and the criterion by hand."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from lupi import HedgedDistillationClassifier, HedgedDistillationRegressor

ALPHAS = np.logspace(-2, 4, 25)
# More columns than rows and than 300 are fitted in the dual form.
SHAPES = [(40, 6), (15, 30), (15, 310)]


def _data(n=40, p=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * np.geomspace(0.1, 50, p) + np.arange(p) * 100
    y = X[:, 0] + rng.normal(size=n)
    weight = rng.integers(1, 4, size=n).astype(float)
    return X, y, weight / weight.mean()


def _in_classes(y):
    return np.searchsorted(np.quantile(y, [0.3, 0.7]), y)


def _fit(X, y, weight=None):
    """Return the student of the labels, without X*."""
    classes = y.dtype.kind == "i"
    kind = HedgedDistillationClassifier if classes else HedgedDistillationRegressor
    model = kind(cv=2, n_repeats=1).fit(X, y, sample_weight=weight)
    return model.students_["labels"]


def _criterion(X, target, alpha, weight):
    """GCV with its hat matrix, which nobody needs but everybody understands."""
    n = weight.sum() ** 2 / np.sum(weight**2)
    Z = StandardScaler().fit_transform(X, sample_weight=weight)
    W = np.diag(weight)
    H = Z @ np.linalg.solve(Z.T @ W @ Z + alpha * np.eye(Z.shape[1]), Z.T @ W)
    mean = weight @ target / weight.sum()
    residual = target - mean - H @ (target - mean)
    share = 1 - (1 + 1.2 * np.trace(H)) / n
    # With fewer rows than degrees of freedom GCV is not defined.
    return np.sum(weight @ residual**2) / share**2 if share > 1e-3 else np.inf


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_coefficients_are_those_of_scikit_learns_ridge(shape, classes):
    X, y, weight = _data(*shape)
    target = np.eye(3)[_in_classes(y)] if classes else y
    ours = _fit(X, _in_classes(y) if classes else y, weight)
    scaler = StandardScaler().fit(X, sample_weight=weight)
    theirs = Ridge(alpha=ours.alpha_)
    theirs.fit(scaler.transform(X), target, sample_weight=weight)
    expected = theirs.predict(scaler.transform(X))
    np.testing.assert_allclose(ours.predict(X), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        ours.coef_, theirs.coef_ / scaler.scale_, rtol=1e-7, atol=1e-12
    )


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(3))
def test_alpha_minimizes_the_criterion(shape, classes, seed):
    X, y, weight = _data(*shape, seed=seed)
    target = np.eye(3)[_in_classes(y)] if classes else y
    model = _fit(X, _in_classes(y) if classes else y, weight)
    allowed = ALPHAS[: np.searchsorted(ALPHAS, 3 * len(y), side="right")]
    values = [_criterion(X, target, alpha, weight) for alpha in allowed]
    if np.isfinite(values).any():
        assert model.alpha_ == allowed[np.argmin(values)]
    else:
        assert model.alpha_ == allowed[-1]


def test_the_penalty_is_not_lost_with_few_rows():
    """Leave-one-out chooses hardly any penalty in some draws; y has a variance of 2."""
    ours, theirs = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1040, 30))
        y = X[:, 0] + rng.normal(size=1040)
        model = make_pipeline(StandardScaler(), RidgeCV(ALPHAS)).fit(X[:40], y[:40])
        for errors, one in ((ours, _fit(X[:40], y[:40])), (theirs, model)):
            errors.append(np.mean((one.predict(X[40:]) - y[40:]) ** 2))
    assert np.mean(ours) < np.mean(theirs)
    assert np.max(ours) < 2.5 < np.max(theirs)


def test_rows_and_columns_give_the_same_model():
    X, y, weight = _data(20, 12)
    tall = _fit(X, y, weight)
    constant = np.full((20, 300), 3.0)
    wide = _fit(np.hstack([X, constant]), y, weight)
    assert wide.alpha_ == tall.alpha_
    np.testing.assert_allclose(wide.coef_[:12], tall.coef_, rtol=1e-7)
    assert np.all(wide.coef_[12:] == 0)
    np.testing.assert_allclose(wide.intercept_, tall.intercept_, rtol=1e-7)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_large_means_lose_no_digits_but_those_of_the_data(shape, offset):
    """Columns and targets are multiples of 2⁻⁸, which the offset does not round."""
    X, y, weight = _data(*shape)
    X, y = np.round(X * 256) / 256, np.round(y * 256) / 256
    expected = _fit(X, y, weight)
    for model in (_fit(X + offset, y, weight), _fit(X, y + offset, weight)):
        assert model.alpha_ == expected.alpha_
        # The mean of a column is rounded to a few units of its last place.
        close = 1e-9 + 100 * offset * np.finfo(float).eps
        scale = np.abs(expected.coef_).max()
        np.testing.assert_allclose(model.coef_, expected.coef_, atol=close * scale)


@pytest.mark.parametrize("shape", SHAPES)
def test_sparse_is_dense(shape):
    X, y, weight = _data(*shape)
    X[np.random.default_rng(1).random(X.shape) < 0.6] = 0.0
    X[:, 1] = 0.0
    dense = _fit(X, y, weight)
    sparse = _fit(sp.csr_array(X), y, weight)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-6, atol=1e-10)
    expected = dense.predict(X)
    np.testing.assert_allclose(sparse.predict(sp.csr_array(X)), expected, rtol=1e-7)


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e6])
def test_a_constant_column_has_no_coefficient(constant):
    X, y, _ = _data()
    X[:, 2] = constant
    model = _fit(X, y)
    assert model.coef_[2] == 0.0
    others = [0, 1, 3, 4, 5]
    expected = _fit(X[:, others], y).predict(X[:, others])
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-9)


def test_missing_cells_are_imputed_by_the_mean_and_marked():
    X, y, _ = _data(60, 5)
    X[::7, 1] = np.nan
    X[3::11, 4] = np.nan
    imputer = SimpleImputer(strategy="mean", add_indicator=True).fit(X)
    plain = _fit(imputer.transform(X), y)
    model = _fit(X, y)
    np.testing.assert_allclose(
        model.predict(X), plain.predict(imputer.transform(X)), rtol=1e-8
    )
    assert model.coef_.shape == model.missing_coef_.shape == (5,)
    assert np.isfinite(model.predict(np.full((1, 5), np.nan))).all()


def test_a_cell_that_is_missing_only_when_predicting_says_nothing():
    """It leaves the prediction where it is on average."""
    X, y, _ = _data(60, 5)
    X[::7, 1] = np.nan
    model = _fit(X, y)
    row = X[3:4].copy()
    row[0, 3] = np.nan
    known = np.repeat(X[3:4], 60, axis=0)
    known[:, 3] = X[:, 3]
    np.testing.assert_allclose(model.predict(row), model.predict(known).mean())


def test_missing_cells_of_a_sparse_table_are_refused():
    X, y, _ = _data()
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="sparse and has missing cells"):
        _fit(sp.csr_array(X), y)


def test_a_table_that_is_large_both_ways_is_refused_in_a_sentence():
    X, y = sp.eye_array(5001, format="csr"), np.arange(5001.0)
    ridge = type(_fit(*_data()[:2]))()
    with pytest.raises(ValueError, match=r"5001 rows and 5001 columns.*student"):
        ridge.fit(X, y)
    ridge.fit(X[:, :10], y)
    ridge.fit(X[:10], y[:10])


def test_a_target_without_variation_is_predicted_as_it_is():
    X, _, _ = _data()
    model = _fit(X, np.full(40, 3.0))
    np.testing.assert_allclose(model.predict(X), 3.0)
    assert model.alpha_ == 100.0  # the largest penalty up to 3 times the rows


def test_scikit_learns_checks():
    """A weight of 2 is no second row to the number of rows of GCV."""
    kinds = ("dense", "sparse")
    excused = {
        f"check_sample_weight_equivalence_on_{kind}_data": "Kish's number of rows"
        for kind in kinds
    }
    X, y, _ = _data()
    ridge = type(_fit(X, y))()
    check_estimator(ridge, expected_failed_checks=excused, on_skip=None)
