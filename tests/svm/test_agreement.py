"""Without privileged rows the models are scikit-learn's SVC and SVR.

LIBSVM keeps kernel values in single precision, so that even at tol=1e-10 it is off by
1e-5 and more for large C and unbounded kernels: the last tests show by how much, and
that we are not.
"""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC, SVR

from lupi.svm import (
    DeviationSVCPlus,
    FairSVCDeltaPlus,
    HardMarginSVC,
    L2SVCPlus,
    LinearSVCDeltaPlus,
    LinearSVCPlus,
    LinearSVRPlus,
    MarginTransferSVC,
    SVCDeltaPlus,
    SVCPlus,
    SVRPlus,
    UnifiedSVC,
)

TIGHT = {"tol": 1e-10}
# ½‖w − w₀‖² is at most the gap: decision values are off by 1e-5 and less here.
OURS = {"tol": 1e-12}
CLASSIFIERS = [
    SVCPlus,
    SVCDeltaPlus,
    UnifiedSVC,
    MarginTransferSVC,
    DeviationSVCPlus,
    FairSVCDeltaPlus,
]
KERNELS = [
    {"kernel": "linear"},
    {"kernel": "rbf", "gamma": 0.3},
    {"kernel": "rbf", "gamma": "scale"},
    {"kernel": "rbf", "gamma": "auto"},
    {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": "scale"},
]


def rows(seed, n=50, n_classes=2):
    X, y = make_classification(
        n,
        5,
        n_informative=4,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        flip_y=0.15,
        random_state=seed,
    )
    return X / 2, y


def new_rows(seed):
    return np.random.default_rng(seed).normal(size=(30, 5))


def assert_same(ours, theirs, X):
    expected = theirs.decision_function(X)
    np.testing.assert_allclose(ours.decision_function(X), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("C", [0.03, 0.3, 3.0])
def test_svc(kernel, C):
    X, y = rows(0)
    ours = SVCPlus(C=C, **kernel, **OURS).fit(X, y)
    assert_same(ours, SVC(C=C, **kernel, **TIGHT).fit(X, y), new_rows(1))


@pytest.mark.filterwarnings("ignore:.*no sensitive_features")
@pytest.mark.parametrize("estimator", CLASSIFIERS)
def test_every_classifier_is_svc(estimator):
    X, y = rows(2)
    ours = estimator(C=0.7, gamma=0.2, **OURS).fit(X, y)
    assert_same(ours, SVC(C=0.7, gamma=0.2, **TIGHT).fit(X, y), new_rows(3))
    nothing = estimator(C=0.7, gamma=0.2, **OURS)
    nothing.fit(X, y, privileged=np.full((50, 2), np.nan))
    assert_same(nothing, ours, new_rows(3))


@pytest.mark.parametrize("class_weight", [None, {0: 0.4, 1: 2.0}, "balanced"], ids=str)
def test_weights(class_weight):
    X, y = rows(4)
    weight = np.random.default_rng(5).uniform(0.2, 3.0, size=len(y))
    weight[7] = 0.0
    # SVC counts "balanced" without weights; ours counts a row of weight 2 twice.
    given = class_weight
    if class_weight == "balanced":
        totals = np.array([weight[y == k].sum() for k in (0, 1)])
        given = dict(enumerate(weight.sum() / (2 * totals)))
    settings = {"C": 2.0, "gamma": 0.2}
    ours = SVCPlus(class_weight=class_weight, **settings, **OURS)
    theirs = SVC(class_weight=given, **settings, **TIGHT)
    assert_same(
        ours.fit(X, y, sample_weight=weight),
        theirs.fit(X, y, sample_weight=weight),
        new_rows(6),
    )


def test_one_against_one():
    X, y = rows(7, n=90, n_classes=3)
    labels = np.array(["lynx", "owl", "bee"])[y]
    settings = {"C": 1.0, "gamma": 0.2, "class_weight": {"owl": 2.0}}
    ours = SVCPlus(**settings, **OURS).fit(X, labels)
    theirs = SVC(decision_function_shape="ovr", **settings, **TIGHT).fit(X, labels)
    assert_same(ours, theirs, new_rows(8))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.objective_.shape == ours.intercept_.shape == (3,)
    # SVC orients a pair (i, j) by its first class, we by its second.
    np.testing.assert_allclose(ours.intercept_, -theirs.intercept_, atol=1e-5)


def test_one_against_the_rest():
    X, y = rows(9, n=90, n_classes=3)
    ours = SVCPlus(C=1.0, gamma=0.2, multi_class="ovr", **OURS).fit(X, y)
    theirs = OneVsRestClassifier(SVC(C=1.0, gamma=0.2, **TIGHT)).fit(X, y)
    assert_same(ours, theirs, new_rows(10))


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_svr(kernel):
    X, y = make_regression(60, 4, noise=5.0, random_state=0)
    X, y = X / 2, y / y.std()
    weight = np.random.default_rng(1).uniform(0.2, 2.0, size=len(y))
    new = np.random.default_rng(2).normal(size=(20, 4)) / 2
    for C, epsilon in ((0.3, 0.1), (0.1, 0.5), (1.0, 0.0)):
        settings = {"C": C, "epsilon": epsilon, **kernel}
        # gamma="scale" of SVR does not know of weights.
        given = None if kernel.get("gamma") == "scale" else weight
        ours = SVRPlus(**settings, **OURS).fit(X, y, sample_weight=given)
        theirs = SVR(**settings, **TIGHT).fit(X, y, sample_weight=given)
        np.testing.assert_allclose(ours.predict(new), theirs.predict(new), atol=1e-5)


@pytest.mark.parametrize("estimator", [LinearSVCPlus, LinearSVCDeltaPlus])
def test_linear_classifiers(estimator):
    X, y = rows(11)
    ours = estimator(C=0.5, **OURS).fit(X, y)
    theirs = SVC(C=0.5, kernel="linear", **TIGHT).fit(X, y)
    assert_same(ours, theirs, new_rows(12))
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)


def test_linear_regressor():
    X, y = make_regression(60, 4, noise=5.0, random_state=3)
    y = y / y.std()
    ours = LinearSVRPlus(C=0.5, **OURS).fit(X, y)
    theirs = SVR(C=0.5, kernel="linear", **TIGHT).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-5)


def test_support_and_dual_coefficients_are_those_of_svc():
    X, y = rows(13)
    ours = SVCPlus(C=1.0, gamma=0.2, **OURS).fit(X, y)
    theirs = SVC(C=1.0, gamma=0.2, **TIGHT).fit(X, y)
    coefficients = np.zeros((2, len(y)))
    coefficients[0, ours.support_] = ours.dual_coef_
    coefficients[1, theirs.support_] = theirs.dual_coef_
    np.testing.assert_allclose(*coefficients, rtol=0, atol=1e-5)
    # Rows beyond the margin have no coefficient, rows short of it have C.
    sign = np.where(y == ours.classes_[1], 1.0, -1.0)
    margin = sign * ours.decision_function(X)
    assert not np.isin(np.flatnonzero(margin > 1 + 1e-3), ours.support_).any()
    short = margin < 1 - 1e-3
    np.testing.assert_allclose(coefficients[0, short], sign[short], rtol=1e-6)
    np.testing.assert_array_equal(ours.support_vectors_, X[ours.support_])


@pytest.mark.parametrize("C", [1.0, 30.0])
def test_more_accurate_than_svc(C):
    X, y = rows(0)
    X, sign = 2 * X, 2.0 * y - 1
    w, b, xi = cp.Variable(5), cp.Variable(), cp.Variable(50, nonneg=True)
    objective = 0.5 * cp.sum_squares(w) + C * cp.sum(xi)
    problem = cp.Problem(
        cp.Minimize(objective), [cp.multiply(sign, X @ w + b) >= 1 - xi]
    )
    fine = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-12)
    problem.solve(solver=cp.CLARABEL, **fine)
    ours = SVCPlus(C=C, kernel="linear", **OURS).fit(X, y)
    theirs = SVC(C=C, kernel="linear", **TIGHT).fit(X, y)

    def value(model):
        coef, margin = model.coef_[0], sign * model.decision_function(X)
        return 0.5 * coef @ coef + C * np.maximum(1 - margin, 0).sum()

    # Sums of fifty terms, each of which is rounded.
    rounding = 50 * np.finfo(float).eps * problem.value
    assert value(ours) <= (1 + OURS["tol"]) * problem.value + rounding
    assert value(ours) <= value(theirs) + OURS["tol"] * problem.value + rounding
    np.testing.assert_allclose(ours.coef_[0], w.value, rtol=0, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_[0], b.value, rtol=0, atol=1e-4)
    np.testing.assert_allclose(theirs.coef_[0], w.value, rtol=0, atol=1e-3)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (SVCDeltaPlus, {"delta": 10.0}),
        (SVCDeltaPlus, {"delta": 10.0, "slack": "hinge"}),
        (SVRPlus, {}),
        (L2SVCPlus, {"privileged_reg": 1.0}),
    ],
)
def test_interior_answers_of_many_rows_have_few_support_vectors(kind, options):
    """Fewer than half of the rows, and no weight on those that others leave out."""
    rng = np.random.default_rng(501)
    P = rng.normal(size=(501, 3))
    X = P + rng.normal(size=P.shape)
    y = np.where(P.sum(axis=1) + 0.3 * rng.normal(size=501) > 0, 1.0, -1.0)
    target = X[:, 0] + P[:, 0] if kind is SVRPlus else y
    interior, proximal = (
        kind(solver=solver, **options).fit(X, target, privileged=P)
        for solver in ("interior", "proximal")
    )
    for one, other in ((interior, proximal), (proximal, interior)):
        assert len(one.support_) < 250
        assert one.duality_gap_ <= 1e-6 * one.objective_
        share = np.abs(one.dual_coef_[0])[~np.isin(one.support_, other.support_)].sum()
        assert share <= 1e-3 * np.abs(one.dual_coef_).sum()


@pytest.mark.filterwarnings("ignore:.*trivial solution:UserWarning")
@pytest.mark.parametrize("kind", [SVCPlus, SVCDeltaPlus, UnifiedSVC])
def test_separable_classes_have_few_support_vectors(kind):
    """C = 1e5: the hard margin, with an objective known from its own problem."""
    n = 600
    rng = np.random.default_rng(n)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = 0.5 * rng.normal(size=(n, 2)) + 1.5 * y[:, None]
    P = rng.normal(size=(n, 2))
    model = kind(C=1e5, kernel="linear").fit(X, y, privileged=P)
    hard = HardMarginSVC(kernel="linear").fit(X, y, slacks=np.zeros(n))
    np.testing.assert_allclose(model.objective_, hard.objective_, rtol=2e-6)
    assert model.converged_.all()
    assert len(model.support_) < n / 10
