"""Thomas, University of Sussex, 2017: biases, the dual of SVMu, the fair dual."""

import numpy as np
import pytest

from lupi.svm import FairSVCDeltaPlus, SVCDeltaPlus, SVCPlus, UnifiedSVC
from tests.errata.duals import SETTINGS, fair_dual, rows, unified_dual
from tests.errata.page import page_says
from tests.oracle import qp


def test_one_average_over_both_classes_is_not_the_bias_of_svm_plus():
    """(4.5), (4.6); the averages per class of (4.4) are right."""
    errors, errors_of_b_star, first = [], [], None
    for seed in range(20):
        X, y, P, K, Ks = rows(seed, share=0.25)
        alpha, beta, _, b_star = qp.svm_plus(K, Ks, y, 1.0, 0.1)
        F, g = K @ (y * alpha), Ks @ (alpha + beta - 1) / 0.1
        positive, negative = (alpha > 1e-5) & (y > 0), (alpha > 1e-5) & (y < 0)
        printed, printed_star = np.mean(-F[alpha > 1e-5]), np.mean(1 - g[alpha > 1e-5])
        both = np.mean((1 - F - g)[positive]), np.mean((-1 - F + g)[negative])
        model = SVCPlus(privileged_reg=0.1, **SETTINGS).fit(X, y, privileged=P)
        assert sum(both) / 2 == pytest.approx(model.intercept_[0], abs=1e-4)
        assert (both[0] - both[1]) / 2 == pytest.approx(b_star, abs=1e-4)
        first = first or (model.intercept_[0], printed)
        errors.append(abs(printed - model.intercept_[0]))
        errors_of_b_star.append(abs(printed_star - b_star))
    page_says(
        "thesis_bias",
        np.median(errors),
        *first,
        np.median(errors_of_b_star),
    )


def test_bounded_support_vectors_have_no_say_in_the_bias_of_the_svm():
    """(3.9) and seed 002 §1 average y − F over them too."""
    errors = []
    for seed in range(20):
        X, y, _, K, _ = rows(seed, share=0.25)
        alpha, b = qp.svm(K, y, 0.5)
        F = K @ (y * alpha)
        support, free = alpha > 1e-5, (alpha > 1e-5) & (alpha < 0.5 - 1e-5)
        assert free.any()
        assert np.mean((y - F)[free]) == pytest.approx(b, abs=1e-5)
        errors.append(abs(np.mean((y - F)[support]) - b))
        ours = SVCPlus(0.5, **SETTINGS).fit(X, y).intercept_[0]
        assert ours == pytest.approx(b, abs=1e-4)
    page_says("thesis_bias_delta_c", np.median(errors))


def test_the_bias_of_svm_delta_plus_and_its_b_star():
    """(4.12) is one average again; §4.2.1 knows no b*, which is a multiplier."""
    errors = []
    for seed in range(20):
        X, y, P, K, _ = rows(seed, share=0.25)
        model = SVCDeltaPlus(delta=10.0, **SETTINGS).fit(X, y, privileged=P)
        F = K[:, model.support_] @ model.dual_coef_[0]
        decision, correction = F + model.intercept_[0], model.correction(P)
        # Complementary slackness holds with both biases as they are.
        zeta = np.maximum(-y * correction, 1 - y * (decision + correction))
        zeta = np.maximum(zeta, 0)
        alpha = np.zeros(len(y))
        alpha[model.support_] = np.abs(model.dual_coef_[0])
        excess = y * (decision + correction) + zeta - 1
        assert np.abs(alpha * excess).max() <= model.duality_gap_ + 1e-9
        support = alpha > 1e-5
        errors.append(abs(np.mean(-F[support]) - model.intercept_[0]))
        # The rows of (4.11) have y f = 1: there y − F is b, and −F is b less y.
        free = support & (np.abs(y * decision - 1) < 1e-5)
        assert free.any()
        np.testing.assert_allclose((y - F)[free], model.intercept_[0], atol=1e-4)
        off = np.mean(-F[free]) - model.intercept_[0]
        assert off == pytest.approx(-np.mean(y[free]), abs=1e-4)
    page_says("thesis_bias_delta", np.median(errors))


@pytest.mark.parametrize("seed", range(3))
def test_the_dual_of_svm_u(seed):
    """§5.1 prints Σy(α − η) = 0; with Σy(α + η) = 0 it is the dual of its primal."""
    X, y, P, K, Ks = rows(seed, share=0.25)
    settings = {"C": 1.0, "delta": 10.0, "reg": 1.0, "similarity_reg": 1.0}
    model = UnifiedSVC(
        C=1.0,
        privileged_reg=1.0,
        similarity_gamma=0.6,
        delta=10.0,
        **SETTINGS,
    )
    model.fit(X, y, privileged=P)
    right = unified_dual(K, Ks, y, **settings, sign=1)
    printed = unified_dual(K, Ks, y, **settings, sign=-1)
    assert right == pytest.approx(model.objective_, rel=1e-6)
    page_says(f"thesis_svmu_{seed}", model.objective_, right, printed)


@pytest.mark.parametrize("case", range(3))
def test_the_dual_of_the_fair_model(case):
    """§8.3.2 bounds the covariance in the dual, which bounds nothing in the primal."""
    threshold = (0.0, 0.02, 0.1)[case]
    X, y, P, K, Ks = rows(0)
    noise = np.random.default_rng(5).normal(size=len(y))
    z = (y + noise > 0).astype(float)
    fair = FairSVCDeltaPlus(covariance_threshold=threshold, delta=10.0, **SETTINGS)
    fair.fit(X, y, privileged=P, sensitive_features=z[:, None])
    arguments = (K, Ks, y, z, 1.0, 10.0, 1.0, threshold)
    right = fair_dual(*arguments, printed=False)
    assert right == pytest.approx(fair.objective_, rel=1e-6)
    printed = fair_dual(*arguments, printed=True)
    page_says(f"thesis_fair_{case}", fair.objective_, right, printed)
    free = SVCDeltaPlus(delta=10.0, **SETTINGS).fit(X, y, privileged=P).objective_
    assert printed < free < right
    page_says("thesis_fair_free", free)


def test_svm_u_is_not_bound_to_do_as_well_as_svm_plus():
    """§7.4: with Γ as large as we like, its f is still not that of SVM+."""
    distances = []
    for seed in range(4):
        X, y, P, _, _ = rows(seed)
        plus = (
            SVCPlus(privileged_reg=1.0, **SETTINGS)
            .fit(X, y, privileged=P)
            .decision_function(X)
        )
        for similarity_reg in (1e4, 1e6):
            model = UnifiedSVC(
                C=1.0,
                privileged_reg=1.0,
                similarity_reg=similarity_reg,
                delta=10.0,
                **SETTINGS,
            )
            model.fit(X, y, privileged=P)
            distances.append(np.abs(model.decision_function(X) - plus).max())
    page_says(
        "thesis_unlike",
        *distances[1::2],
    )
    assert np.all(np.greater(distances[1::2], distances[::2]))
