"""What a fitted model shows and says: attributes, kernels, warnings, containers."""

import re
from inspect import getdoc, signature

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel, sigmoid_kernel
from sklearn.model_selection import GridSearchCV

import lupi.svm
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

N = 40
RNG = np.random.default_rng(0)
P = RNG.normal(size=(N, 2))
X = P + 0.7 * RNG.normal(size=(N, 2))
Y = np.where(P[:, 0] + 0.4 * RNG.normal(size=N) > 0, 1, -1)
THREE = np.digitize(P[:, 0], [-0.5, 0.5])
NEW = RNG.normal(size=(15, 2))
# ½‖w − w₀‖² is at most the gap, which is at most TIGHT times the objective, up to 40:
# decision values of two fits differ by less than 2e-4. The gap itself is rounded to
# about 1e-11 times the objective where stored coefficients are large.
TIGHT, CLOSE = 1e-10, 2e-4


def same(one, other, atol=CLOSE):
    np.testing.assert_allclose(
        one.decision_function(NEW), other.decision_function(NEW), rtol=0, atol=atol
    )


# ---------------------------------------------------------------------- kernels
@pytest.mark.parametrize("estimator", [SVCPlus, SVCDeltaPlus, L2SVCPlus])
def test_kernel_functions_are_the_named_kernels(estimator):
    named = estimator(kernel="poly", degree=2, coef0=1.0, gamma=0.5, tol=TIGHT)
    named.set_params(privileged_gamma=0.3)
    given = estimator(
        tol=TIGHT,
        kernel=lambda A, B: polynomial_kernel(A, B, degree=2, gamma=0.5, coef0=1.0),
        privileged_kernel=lambda A, B: rbf_kernel(A, B, gamma=0.3),
    )
    named.fit(X, Y, privileged=P)
    given.fit(X, Y, privileged=P)
    same(named, given)
    np.testing.assert_allclose(named.correction(P), given.correction(P), atol=CLOSE)


@pytest.mark.parametrize("estimator", [SVCPlus, SVCDeltaPlus, L2SVCPlus])
def test_precomputed_kernels_are_the_named_kernels(estimator):
    missing = P.copy()
    missing[[2, 11]] = np.nan
    gram = rbf_kernel(np.nan_to_num(missing), gamma=0.3)
    gram[[2, 11]] = np.nan
    named = estimator(gamma=0.5, privileged_gamma=0.3, tol=TIGHT)
    named.fit(X, Y, privileged=missing)
    precomputed = dict.fromkeys(("kernel", "privileged_kernel"), "precomputed")
    given = estimator(**precomputed, tol=TIGHT)
    given.fit(rbf_kernel(X, gamma=0.5), Y, privileged=gram)
    np.testing.assert_allclose(
        named.decision_function(NEW),
        given.decision_function(rbf_kernel(NEW, X, gamma=0.5)),
        rtol=0,
        atol=CLOSE,
    )
    assert given.support_vectors_.shape == (0, 0)
    assert not hasattr(given, "coef_")


def test_precomputed_kernel_with_three_classes():
    named = SVCPlus(gamma=0.5, privileged_gamma=0.3, tol=TIGHT)
    named.fit(X, THREE, privileged=P)
    precomputed = dict.fromkeys(("kernel", "privileged_kernel"), "precomputed")
    given = SVCPlus(**precomputed, tol=TIGHT)
    given.fit(rbf_kernel(X, gamma=0.5), THREE, privileged=rbf_kernel(P, gamma=0.3))
    np.testing.assert_allclose(
        named.decision_function(NEW),
        given.decision_function(rbf_kernel(NEW, X, gamma=0.5)),
        rtol=0,
        atol=CLOSE,
    )


@pytest.mark.parametrize("which", ["scale", "auto"])
def test_gamma_in_words_is_per_space(which):
    number = {
        "scale": lambda A: 1 / (A.shape[1] * A.var()),
        "auto": lambda A: 1 / A.shape[1],
    }[which]
    words = SVCPlus(gamma=which, privileged_gamma=which, tol=TIGHT)
    numbers = SVCPlus(gamma=number(X), privileged_gamma=number(P), tol=TIGHT)
    same(words.fit(X, Y, privileged=P), numbers.fit(X, Y, privileged=P))


def test_indefinite_kernel_warns_and_works():
    """The nearest positive semi-definite matrix takes the place of a sigmoid one."""
    settings = {"gamma": 2.0, "coef0": -2.0}
    model = SVCPlus(kernel="sigmoid", **settings, tol=TIGHT)
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        model.fit(X, Y)
    values, vectors = np.linalg.eigh(sigmoid_kernel(X, **settings))
    nearest = (vectors * np.maximum(values, 0)) @ vectors.T
    clipped = SVCPlus(kernel="precomputed", tol=TIGHT).fit(nearest, Y)
    np.testing.assert_allclose(
        model.decision_function(X), clipped.decision_function(nearest), atol=CLOSE
    )
    assert model.objective_ == pytest.approx(clipped.objective_, rel=1e-9)


# ------------------------------------------------------------------- containers
@pytest.mark.parametrize("container", [sp.csr_array, sp.csc_matrix, sp.coo_array])
@pytest.mark.parametrize(
    "estimator",
    [
        SVCPlus(gamma=0.5),
        SVCPlus(kernel="linear"),
        SVCDeltaPlus(kernel="poly"),
        LinearSVCDeltaPlus(),
        MarginTransferSVC(),
    ],
    ids=repr,
)
def test_sparse_is_dense(estimator, container):
    sparse_X, sparse_P = X * (np.abs(X) > 0.5), P * (np.abs(P) > 0.3)
    estimator = clone(estimator).set_params(tol=TIGHT)
    dense = estimator.fit(sparse_X, Y, privileged=sparse_P).decision_function(NEW)
    estimator.fit(container(sparse_X), Y, privileged=container(sparse_P))
    sparse = estimator.decision_function(container(NEW))
    np.testing.assert_allclose(sparse, dense, rtol=0, atol=CLOSE)


# ------------------------------------------------------------------- attributes
def test_attributes_of_a_binary_model():
    model = SVCPlus(gamma=0.5).fit(X, Y, privileged=P)
    n_support = len(model.support_)
    assert model.dual_coef_.shape == (1, n_support)
    assert model.support_vectors_.shape == (n_support, 2)
    assert model.intercept_.shape == (1,)
    for name in ("objective_", "duality_gap_", "n_iter_", "converged_"):
        assert getattr(model, name).shape == (1,)
    assert model.converged_.dtype == bool
    assert model.n_iter_.dtype.kind == "i"
    assert not hasattr(model, "coef_")
    # Σyα = 0 and the sign of y.
    assert model.dual_coef_.sum() == pytest.approx(0, abs=1e-8)
    assert (model.dual_coef_[0] * Y[model.support_] > 0).all()


def test_attributes_with_three_classes():
    model = SVCPlus(kernel="linear").fit(X, THREE, privileged=P)
    assert model.coef_.shape == (3, 2)
    assert model.intercept_.shape == model.objective_.shape == (3,)
    assert model.duality_gap_.shape == model.n_iter_.shape == (3,)
    assert model.converged_.all()
    assert model.decision_function(NEW).shape == (15, 3)
    assert model.correction(P).shape == (N, 3)
    assert set(model.predict(NEW)) <= {0, 1, 2}


@pytest.mark.parametrize(
    "estimator",
    [SVCPlus, SVCDeltaPlus, UnifiedSVC, L2SVCPlus, MarginTransferSVC, HardMarginSVC],
)
def test_coef_is_the_decision_function(estimator):
    model = estimator(kernel="linear")
    if estimator is HardMarginSVC:
        model.fit(X, np.sign(X[:, 0]))
    else:
        model.fit(X, Y, privileged=P)
    expected = NEW @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(NEW), expected, atol=1e-8)


def test_linear_classes_are_the_kernel_classes_with_linear_kernels():
    linear = {"kernel": "linear", "privileged_kernel": "linear"}
    better = np.column_stack([P, np.maximum(1 - Y * X[:, 0], 0)])
    for one, other in (
        (LinearSVCPlus(0.5, privileged_reg=0.01), SVCPlus(0.5, privileged_reg=0.01)),
        (LinearSVCDeltaPlus(slack="signed"), SVCDeltaPlus(delta=3.0, slack="signed")),
        (LinearSVCDeltaPlus(slack="hinge"), SVCDeltaPlus(delta=3.0, slack="hinge")),
    ):
        one.set_params(tol=TIGHT).fit(X, Y, privileged=better)
        other.set_params(**linear, tol=TIGHT).fit(X, Y, privileged=better)
        same(one, other)
        # γ/2 ‖w* − w*₀‖² is at most the gap, and γ may be 0.01.
        np.testing.assert_allclose(
            one.correction(better), other.correction(better), atol=10 * CLOSE
        )
    one = LinearSVRPlus(0.5, tol=TIGHT).fit(X, P[:, 0], privileged=better)
    other = SVRPlus(0.5, **linear, tol=TIGHT).fit(X, P[:, 0], privileged=better)
    np.testing.assert_allclose(one.predict(NEW), other.predict(NEW), atol=CLOSE)


def test_linear_svm_plus_depends_on_which_row_has_which_privileged_values():
    useful = np.maximum(1 - Y * X[:, 0], 0)[:, None]
    model = LinearSVCPlus(privileged_reg=0.01).fit(X, Y, privileged=useful)
    crossed = LinearSVCPlus(privileged_reg=0.01)
    with pytest.warns(UserWarning, match="trivial solution"):
        crossed.fit(X, Y, privileged=useful[::-1])
    assert np.ptp(model.decision_function(X)) > 0.5


# ------------------------------------------------------------------- correction
def test_correction_has_a_row_for_each_row_and_nan_where_there_is_none():
    missing = P.copy()
    missing[[3, 8]] = np.nan
    for estimator, shape in (
        (SVCPlus(), (N,)),
        (SVCDeltaPlus(), (N,)),
        (UnifiedSVC(), (N, 2)),
        (SVRPlus(), (N, 2)),
        (MarginTransferSVC(), (N,)),
    ):
        values = estimator.fit(X, Y, privileged=missing).correction(missing)
        assert values.shape == shape
        assert np.isnan(values[[3, 8]]).all()
        assert np.isfinite(np.delete(values, [3, 8], axis=0)).all()


def test_correction_of_svm_plus_covers_the_margin_violations():
    model = SVCPlus(gamma=0.5).fit(X, Y, privileged=P)
    slack = model.correction(P)
    assert slack.min() >= -1e-6
    assert (Y * model.decision_function(X) >= 1 - slack - 1e-6).all()


def test_correction_of_the_regressor_covers_both_sides_of_the_tube():
    target = P[:, 0]
    model = SVRPlus(epsilon=0.1).fit(X, target, privileged=P)
    above, below = model.correction(P).T
    error = model.predict(X) - target
    assert min(above.min(), below.min()) >= -1e-6
    assert (error <= 0.1 + above + 1e-6).all()
    assert (-error <= 0.1 + below + 1e-6).all()


def test_the_slack_of_a_deviation_is_that_of_its_class():
    model = DeviationSVCPlus().fit(X, Y, privileged=P)
    slacks = model.correction(P)
    slack = np.where(Y > 0, slacks[:, 1], slacks[:, 0])
    assert slack.min() >= -1e-6
    assert (Y * model.decision_function(X) >= 1 - slack - 1e-6).all()
    # Where the SVM on X* is undecided, the class makes no difference.
    assert np.ptp(slacks, axis=1).max() > 1e-3
    model = DeviationSVCPlus().fit(X, THREE, privileged=P)
    assert model.correction(P).shape == (N, 6)


def test_correction_of_a_pair_of_classes_without_privileged_rows():
    """Columns stay where they belong: the pair (0, 2) has learned nothing."""
    only = np.where((THREE == 1)[:, None], P, np.nan)
    with_one = THREE == 1
    for model in (SVCPlus(), MarginTransferSVC()):
        values = model.fit(X, THREE, privileged=only).correction(only)
        assert values.shape == (N, 3)
        np.testing.assert_array_equal(
            np.isfinite(values[with_one]).all(axis=0), [True, False, True]
        )
        assert np.isnan(values[~with_one]).all()
    values = UnifiedSVC().fit(X, THREE, privileged=only).correction(only)
    assert values.shape == (N, 6)
    assert np.isnan(values[:, 2:4]).all()
    values = DeviationSVCPlus().fit(X, THREE, privileged=only)
    assert np.isnan(values.correction(only)[:, 2:4]).all()
    assert np.isfinite(values.correction(only)[with_one][:, [0, 1, 4, 5]]).all()


def test_privileged_rows_of_weight_zero_are_absent():
    """Without a warning, and as if they had not been there."""
    only = np.where(np.arange(N)[:, None] < 10, P, np.nan)
    weight = np.where(np.arange(N) < 10, 0.0, 1.0)
    for kind in (SVCPlus, SVCDeltaPlus, UnifiedSVC, SVRPlus, L2SVCPlus):
        model = kind(tol=TIGHT).fit(X, Y, privileged=only, sample_weight=weight)
        values = model.correction(P)
        assert values.shape[0] == N
        assert values.size > 0
        assert np.isnan(values).all()
        predicted = model.predict(NEW)
        alone = model.fit(X[10:], Y[10:]).predict(NEW)
        np.testing.assert_allclose(predicted, alone, rtol=0, atol=CLOSE)


# ---------------------------------------------------------------------- solvers
SOLVERS = [
    model
    for model in map(lupi.svm.__dict__.get, lupi.svm.__all__)
    if "solver" in signature(model).parameters and model is not HardMarginSVC
]


@pytest.mark.parametrize("estimator", SOLVERS)
@pytest.mark.parametrize("solver", ["auto", "interior", "proximal"])
def test_the_docstring_names_the_solvers_that_take_the_model(estimator, solver):
    entry = re.search(r"solver : {(.*?)}.*?\n(.*?)\ntol", getdoc(estimator), re.DOTALL)
    names, text = entry.groups()
    model = estimator(solver=solver)
    extra = {"sensitive_features": P} if estimator is FairSVCDeltaPlus else {}
    if f'"{solver}"' in names and f'"{solver}" only' not in text:
        model.fit(X, Y, privileged=P, **extra)
    else:
        with pytest.raises(ValueError, match=f"solver='{solver}' needs"):
            model.fit(X, Y, privileged=P, **extra)


# --------------------------------------------------------------------- warnings
def test_trivial_solution_of_svm_plus_warns():
    """One slack for all rows, and classes that no line separates: w = 0, b* = 1."""
    model = SVCPlus(2.0, kernel="linear", privileged_kernel="linear")
    with pytest.warns(UserWarning, match=r"trivial solution.*non-linear privileged"):
        model.fit(X, Y, privileged=np.zeros((N, 1)))
    assert model.objective_ == pytest.approx(2.0 * N, rel=1e-6)
    np.testing.assert_allclose(model.correction(np.zeros((3, 1))), 1.0, atol=1e-6)


def test_trivial_solution_of_svm_delta_plus_warns():
    constant = np.ones((N, 1))
    balanced = np.where(np.arange(N) % 2, 1, -1)
    model = SVCDeltaPlus(delta=2.0, gamma=0.5, privileged_kernel="linear", tol=TIGHT)
    with pytest.warns(UserWarning, match="correcting function is zero"):
        model.fit(X, balanced, privileged=0 * constant)
    plain = SVCPlus(C=3.0, gamma=0.5, tol=TIGHT).fit(X, balanced)
    same(model, plain)


def test_trivial_solution_of_the_unified_model_warns():
    """Its SVM+ half can be satisfied by a constant alone, as that of SVM+ itself."""
    linear = {name: "linear" for name in ("kernel", "privileged_kernel")}
    model = UnifiedSVC(**linear, similarity_kernel="linear")
    with pytest.warns(UserWarning, match="UnifiedSVC found the trivial .* constant"):
        model.fit(X, Y, privileged=Y[:, None])
    assert np.ptp(model.decision_function(NEW)) < 1e-5
    assert np.isfinite(model.correction(Y[:, None])).all()


@pytest.mark.parametrize("estimator", [SVCPlus, SVCDeltaPlus, SVRPlus])
def test_too_few_iterations_warn_and_keep_the_best_iterate(estimator):
    model = estimator(max_iter=1)
    with pytest.warns(ConvergenceWarning, match="relative duality gap"):
        model.fit(X, Y, privileged=P)
    assert model.converged_.tolist() == [False]
    assert model.n_iter_ <= 1
    finished = estimator().fit(X, Y, privileged=P)
    assert model.objective_ - model.duality_gap_ <= finished.objective_
    assert np.isfinite(model.predict(NEW)).all()


# ------------------------------------------------------------------ hard margin
def test_hard_margin_requests_slacks_and_nothing_privileged():
    known = np.maximum(1 - Y * X[:, 0], 0)
    search = GridSearchCV(HardMarginSVC(kernel="linear"), {"tol": [1e-6]}, cv=2)
    with config_context(enable_metadata_routing=True):
        requests = HardMarginSVC().get_metadata_routing().fit.requests
        assert requests == {"slacks": True}
        found = search.fit(X, Y, slacks=known).best_estimator_
        with pytest.raises(TypeError, match="privileged"):
            search.fit(X, Y, privileged=P)
    plain = search.fit(X, Y, slacks=known).best_estimator_
    np.testing.assert_allclose(found.coef_, plain.coef_, rtol=1e-9)
    assert (Y * found.decision_function(X) >= 1 - known - 1e-6).all()


def test_hard_margin_in_closed_form():
    model = HardMarginSVC(kernel="linear", tol=TIGHT)
    model.fit([[0.0, 0.0], [2.0, 0.0]], ["no", "yes"])
    np.testing.assert_allclose(model.coef_, [[1.0, 0.0]], atol=CLOSE)
    np.testing.assert_allclose(model.intercept_, [-1.0], atol=CLOSE)
    assert model.objective_ == pytest.approx(0.5, rel=1e-9)


def test_hard_margin_is_the_limit_of_svc():
    from sklearn.svm import SVC

    y = np.sign(X[:, 0] + X[:, 1])
    model = HardMarginSVC(gamma=0.5).fit(X, y)
    reference = SVC(C=1e10, gamma=0.5, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(NEW), reference.decision_function(NEW), atol=1e-3
    )
    assert (y * model.decision_function(X)).min() >= 1 - 1e-6
