"""The matrices that the papers print, typed in as printed, give our predictions."""

import numpy as np
import pytest
from sklearn.svm import SVC, SVR

from lupi.svm import SVCDeltaPlus, SVCPlus, SVRPlus
from tests.oracle import qp
from tests.oracle.problems import kernel_values

GAMMA, GAMMA_STAR, EPSILON = 0.4, 0.6, 0.1
# ½‖w − w₀‖² is at most the gap: decision values are off by less than 1e-5 here.
TIGHT = {"tol": 1e-12}
KERNELS = {"gamma": GAMMA, "privileged_gamma": GAMMA_STAR, **TIGHT}


def rows(seed, n=40):
    rng = np.random.default_rng(seed)
    P = rng.normal(size=(n, 2))
    X = P + 0.7 * rng.normal(size=(n, 2))
    y = np.sign(P[:, 0] + 0.3 * P[:, 1] ** 2 + 0.4 * rng.normal(size=n))
    K = kernel_values("rbf", GAMMA, X, X)
    Ks = kernel_values("rbf", GAMMA_STAR, P, P)
    new = rng.normal(size=(25, 2))
    return X, y, P, K, Ks, new, kernel_values("rbf", GAMMA, new, X)


def close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5)


@pytest.mark.parametrize("C", [0.3, 3.0])
def test_section_1_svm(C):
    X, y, _, K, _, new, between = rows(0)
    alpha, b = qp.svm(K, y, C)
    theirs = between @ (y * alpha) + b
    close(SVCPlus(C, gamma=GAMMA, **TIGHT).fit(X, y).decision_function(new), theirs)
    close(SVC(C=C, gamma=GAMMA, tol=1e-10).fit(X, y).decision_function(new), theirs)


@pytest.mark.parametrize(("C", "reg"), [(1.0, 1.0), (5.0, 0.1), (0.3, 10.0)])
def test_section_2_svm_plus(C, reg):
    X, y, P, K, Ks, new, between = rows(1)
    alpha, beta, b, bs = qp.svm_plus(K, Ks, y, C, reg)
    ours = SVCPlus(C, privileged_reg=reg, **KERNELS).fit(X, y, privileged=P)
    close(ours.decision_function(new), between @ (y * alpha) + b)
    close(ours.correction(P), Ks @ (alpha + beta - C) / reg + bs)


def test_section_3_svr():
    X, _, P, K, _, new, between = rows(2)
    y = P[:, 0] + 0.2 * P[:, 1]
    alpha, alpha_star, b = qp.svr(K, y, 2.0, EPSILON)
    theirs = between @ (alpha_star - alpha) + b
    ours = SVRPlus(2.0, epsilon=EPSILON, gamma=GAMMA, **TIGHT).fit(X, y)
    close(ours.predict(new), theirs)
    close(SVR(C=2.0, gamma=GAMMA, tol=1e-10).fit(X, y).predict(new), theirs)


@pytest.mark.parametrize(("C", "reg"), [(1.0, 1.0), (3.0, 0.3)])
def test_section_4_svr_plus(C, reg):
    X, _, P, K, Ks, new, between = rows(3)
    y = P[:, 0] + 0.2 * P[:, 1]
    coefficients, b, value = qp.svr_plus(K, Ks, y, C, reg, EPSILON)
    ours = SVRPlus(C, epsilon=EPSILON, privileged_reg=reg, **KERNELS)
    ours.fit(X, y, privileged=P)
    close(ours.predict(new), between @ coefficients + b)
    assert ours.objective_ == pytest.approx(value, rel=1e-7)


@pytest.mark.parametrize(("C", "gamma", "kappa"), [(1.0, 1.0, 11.0), (2.0, 4.0, 1.5)])
def test_report_section_3_svm_delta_plus(C, gamma, kappa):
    X, y, P, K, Ks, new, between = rows(4)
    alpha, delta, (first, second) = qp.svm_delta_plus(K, Ks, y, C, gamma, kappa)
    # The multiplier of Σyα is b + b*, that of Σyδ is −b*.
    ours = SVCDeltaPlus(
        C, delta=kappa - 1, privileged_reg=1 / gamma, slack="hinge", **KERNELS
    ).fit(X, y, privileged=P)
    close(ours.decision_function(new), between @ (y * alpha) + first + second)
    close(ours.correction(P), gamma * Ks @ (y * (alpha - delta)) - second)
