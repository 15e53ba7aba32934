"""Celik, Izmailov & McDaniel, NAS-TR-0187-2015: equations (5) and (10)."""

import itertools

import numpy as np

from lupi.svm import SVCDeltaPlus
from tests.errata.duals import SETTINGS, rows
from tests.errata.page import page_says
from tests.oracle import qp

KAPPA = 3.0


def solved(seed, C=1.0, kappa=KAPPA):
    """α, δ, F, γf and the multipliers of the QP as printed, with γ = 1."""
    _X, y, _P, K, Ks = rows(seed)
    alpha, delta, _multipliers = qp.svm_delta_plus(K, Ks, y, C, 1.0, kappa)
    return y, K, Ks, alpha, delta, K @ (y * alpha), Ks @ (y * (alpha - delta))


def test_complementary_slackness_with_kappa():
    """(5) prints μ(C − α) = 0; it is μ(κC − α) that vanishes."""
    y, _, _, alpha, _, F, f = solved(0)
    bounded = alpha > KAPPA - 1e-6
    free = (alpha > 1e-6) & ~bounded
    assert bounded.any()
    assert free.any()
    # φ₁ from the free rows, then μ from ∂L/∂α = 0 on the bounded ones.
    phi = np.mean((y * (F + f) - 1)[free] * y[free])
    mu = (1 - y * (F + f) + phi * y)[bounded]
    assert mu.max() > 0.1
    page_says("report_complementary", np.abs(mu * (1.0 - alpha[bounded])).max())
    assert np.abs(mu * (KAPPA - alpha[bounded])).max() < 1e-5


def test_derivative_by_delta_has_the_privileged_kernel():
    """(5) prints K in the sum of ∂L/∂δ; with K* it vanishes on the free rows."""
    y, K, Ks, alpha, delta, _, f = solved(0)
    free = (delta > 1e-6) & (delta < 1 - 1e-6)
    assert free.sum() >= 2
    own = np.diag(Ks) * (alpha - delta)
    others = K @ (y * (alpha - delta)) - np.diag(K) * y * (alpha - delta)
    printed = y * (own + y * others)
    # ∂L/∂δ = 0 says that this is −φ₂, one number for all of them.
    page_says("report_derivative", np.ptp(printed[free]))
    assert np.ptp(f[free]) < 1e-6


def test_the_printed_bias_is_the_sum_of_both():
    """(10) is b + b*; b is y − F there."""
    for seed in range(3):
        y, _, _, alpha, delta, F, f = solved(seed, kappa=11.0)
        inside = (alpha > 1e-5) & (alpha < 11 - 1e-5)
        inside &= (delta > 1e-5) & (delta < 1 - 1e-5)
        X, _, P, _, _Ks = rows(seed)
        model = SVCDeltaPlus(delta=10.0, slack="hinge", **SETTINGS)
        model.fit(X, y, privileged=P)
        b = model.intercept_[0]
        both = b + (model.correction(P) - f).mean()
        assert inside.any()
        printed = (y * (1 - y * F - y * f))[inside]
        np.testing.assert_allclose(printed, both, atol=1e-4)
        np.testing.assert_allclose((y - F)[inside], b, atol=1e-4)
        page_says(f"report_bias_{seed}", printed.mean(), b)


def test_the_row_that_the_printed_bias_needs_may_not_exist():
    without = {1.0: 0, 0.1: 0}
    for C, seed in itertools.product(without, range(40)):
        _y, _, _, alpha, delta, _, _ = solved(seed, C=C)
        inside = (alpha > 1e-5) & (alpha < C * KAPPA - 1e-5)
        inside &= (delta > 1e-5) & (delta < C - 1e-5)
        without[C] += not inside.any()
    page_says(
        "report_missing",
        *without.values(),
    )
