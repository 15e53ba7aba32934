"""Linear kernels and many rows: one function, whichever attribute it is read from."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from lupi.svm import (
    DeviationSVCPlus,
    FairSVCDeltaPlus,
    L2SVCPlus,
    LinearSVRPlus,
    MarginTransferSVC,
    SVCDeltaPlus,
    SVCPlus,
    SVRPlus,
    UnifiedSVC,
)

N = 2100
RNG = np.random.default_rng(0)
HIDDEN = RNG.normal(size=(N, 3))
# Columns of different scales: what the multipliers leave open is felt in the second.
X = (HIDDEN + RNG.normal(size=(N, 3))) * [1.0, 30.0, 1.0]
Y = HIDDEN.sum(axis=1) > 0
LINEAR = {"kernel": "linear", "privileged_kernel": "linear", "C": 10.0, "tol": 1e-4}
MODELS = [
    SVCPlus(**LINEAR),
    SVCDeltaPlus(**LINEAR),
    UnifiedSVC(**LINEAR, similarity_kernel="linear"),
    L2SVCPlus(**LINEAR),
    MarginTransferSVC(**LINEAR),
    DeviationSVCPlus(**LINEAR, deviation_kernel="linear"),
    FairSVCDeltaPlus(**LINEAR, covariance_threshold=0.1),
]


def read_from_coef(model, rows):
    """To rounding: the two sums differ in nothing but their order."""
    return np.asarray(rows @ model.coef_.T) + model.intercept_


@pytest.mark.filterwarnings("ignore:.*trivial solution:UserWarning")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_coef_is_the_decision_function(model):
    fair = isinstance(model, FairSVCDeltaPlus)
    extra = {"sensitive_features": HIDDEN[:, 0] > 1} if fair else {}
    model.fit(X, Y, privileged=HIDDEN, **extra)
    np.testing.assert_allclose(
        model.decision_function(X), read_from_coef(model, X)[:, 0], rtol=0, atol=1e-10
    )


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_coef_is_the_prediction_of_the_regressor(container):
    model = SVRPlus(**LINEAR)
    rows = container(X)
    model.fit(rows, HIDDEN.sum(axis=1), privileged=container(HIDDEN))
    assert model.coef_.shape == (1, 3)
    np.testing.assert_allclose(
        model.predict(rows), read_from_coef(model, rows)[:, 0], rtol=0, atol=1e-10
    )


@pytest.mark.filterwarnings("ignore:.*trivial solution:UserWarning")
@pytest.mark.parametrize(("multi_class", "n_problems"), [("ovo", 3), ("ovr", 3)])
def test_signs_and_shapes_with_three_classes(multi_class, n_problems):
    """A line per pair (i, j), positive for j; or one per class, positive for it.

    One pair is small enough to be solved with Gram matrices.
    """
    three = np.digitize(HIDDEN.sum(axis=1), [-3.0, 3.0])
    model = SVCDeltaPlus(**LINEAR, multi_class=multi_class)
    model.fit(X, three, privileged=HIDDEN)
    assert model.coef_.shape == (n_problems, 3)
    values = read_from_coef(model, X)
    if multi_class == "ovr":
        np.testing.assert_allclose(values, model.decision_function(X), atol=1e-10)
        return
    votes = np.zeros((N, 3))
    for value, (i, j) in zip(values.T, [(0, 1), (0, 2), (1, 2)], strict=True):
        votes[:, i] += value <= 0
        votes[:, j] += value > 0
    np.testing.assert_array_equal(model.decision_function(X).round(), votes)


@pytest.mark.parametrize("n", [2000, N])
def test_dual_coef_are_the_multipliers(n):
    """Of the sign of y and balanced, at whatever number of rows."""
    model = SVCDeltaPlus(**LINEAR, delta=10.0)
    model.fit(X[:n], Y[:n], privileged=HIDDEN[:n])
    sign = np.where(Y[:n], 1, -1)[model.support_]
    assert (model.dual_coef_[0] * sign > 0).all()
    largest = np.abs(model.dual_coef_).sum()
    assert abs(model.dual_coef_.sum()) <= 1e-8 * largest
    # What they leave open is what the gap leaves open: ½‖w − Σ v x‖² is part of it.
    open_part = model.coef_[0] - model.dual_coef_[0] @ X[model.support_]
    assert 0.5 * open_part @ open_part <= model.duality_gap_ + 1e-9


def test_the_first_stage_keeps_the_function_of_its_certificate():
    """Its primal, computed from the values of the function, is the one reported."""
    model = MarginTransferSVC(**LINEAR).fit(X, Y, privileged=HIDDEN)
    values = model.correction(HIDDEN)
    with_bias = np.column_stack([HIDDEN, np.ones(N)])
    w = np.linalg.lstsq(with_bias, values, rcond=None)[0][:-1]
    slack = np.maximum(1 - np.where(Y, 1, -1) * values, 0)
    primal = 0.5 * w @ w + model.privileged_C * slack.sum()
    np.testing.assert_allclose(model.privileged_objective_, primal, rtol=1e-7)


def test_a_fit_takes_no_more_than_twice_the_data_and_a_half():
    """Beside the data; of the linear models, SVR+ has the most multipliers."""
    rng = np.random.default_rng(0)
    X, P = rng.normal(size=(2, 20_000, 20))
    y = X[:, 0] + P[:, 0]
    tracemalloc.start()
    LinearSVRPlus(tol=1e-3).fit(X, y, privileged=P)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.5 * (X.nbytes + P.nbytes)
