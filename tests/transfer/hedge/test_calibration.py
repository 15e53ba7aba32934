"""Calibration against a conic solver and finite differences."""

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import softmax

from lupi._parts import LocalParts
from lupi.transfer._hedge.hedge import (
    HIGH,
    LOW,
    SMALLEST_SLOPE,
    calibrate,
    clipped_log,
    log_loss,
)


def _blend(seed, n=80, n_classes=2, informed=1.0):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, n_classes))
    blend = softmax(scores, axis=1) * 1.4 - 0.2 / n_classes  # outside [0, 1] at times
    chances = softmax(informed * scores + np.arange(n_classes), axis=1)
    codes = np.array([rng.choice(n_classes, p=row) for row in chances])
    codes[:n_classes] = np.arange(n_classes)
    return blend, codes, rng.integers(1, 4, n).astype(float)


def _calibrated(blend, codes, weight):
    return calibrate(LocalParts([(blend, codes, weight)]), blend.shape[1])


@pytest.mark.parametrize("informed", [2.0, 0.3, -1.0])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_slope_and_intercepts_are_the_optimum(n_classes, informed):
    blend, codes, weight = _blend(0, n_classes=n_classes, informed=informed)
    found = _calibrated(blend, codes, weight)
    logs = clipped_log(blend)
    slope, intercept = cp.Variable(), cp.Variable((1, n_classes))
    scores = slope * logs + np.ones((len(codes), 1)) @ intercept
    own = cp.sum(cp.multiply(np.eye(n_classes)[codes], scores), axis=1)
    loss = weight @ (cp.log_sum_exp(scores, axis=1) - own)
    value = loss + 5.0 * cp.square(slope - 1)
    constraints = [slope >= SMALLEST_SLOPE, cp.sum(intercept) == 0]
    cp.Problem(cp.Minimize(value), constraints).solve(solver="CLARABEL")
    assert found.slope == pytest.approx(float(slope.value), abs=1e-4)
    np.testing.assert_allclose(found.intercept, intercept.value[0], atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_derivatives(n_classes):
    part = _blend(1, n_classes=n_classes)
    theta = np.linspace(0.4, -0.5, n_classes)
    _, gradient, hessian = log_loss(part, theta)
    numeric = approx_fprime(theta, lambda t: log_loss(part, t)[0], 1e-6)
    np.testing.assert_allclose(gradient, numeric, atol=1e-3, rtol=1e-4)
    numeric = approx_fprime(theta, lambda t: log_loss(part, t)[1], 1e-6)
    np.testing.assert_allclose(hessian, numeric, atol=1e-3, rtol=1e-4)


def test_rows_in_parts_are_calibrated_as_rows_in_one():
    blend, codes, weight = _blend(2, n_classes=3)
    one = _calibrated(blend, codes, weight)
    cuts = [slice(0, 5), slice(5, 5), slice(5, 80)]
    parts = LocalParts([(blend[c], codes[c], weight[c]) for c in cuts])
    several = calibrate(parts, 3)
    assert several.slope == pytest.approx(one.slope, abs=1e-9)
    np.testing.assert_allclose(several.intercept, one.intercept, atol=1e-9)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("informed", [1.0, 0.0, -3.0])
def test_probabilities_rank_as_the_blend_does(seed, informed):
    """Also where the blend is clipped, and where it points the wrong way."""
    blend, codes, weight = _blend(seed, informed=informed)
    calibration = _calibrated(blend, codes, weight)
    many = np.sort(np.random.default_rng(seed).uniform(-1, 2, 300))
    two = np.column_stack([1 - many, many])
    chances = softmax(calibration.scores(two), axis=1)[:, 1]
    assert np.all(np.diff(chances) > 0)
    assert calibration.slope >= SMALLEST_SLOPE


def test_a_calibrated_blend_stays_as_it_is():
    rng = np.random.default_rng(0)
    chance = rng.uniform(LOW, HIGH, 200_000)
    codes = (rng.random(len(chance)) < chance).astype(int)
    blend = np.column_stack([1 - chance, chance])
    found = _calibrated(blend, codes, np.ones(len(codes)))
    assert found.slope == pytest.approx(1.0, abs=0.02)
    np.testing.assert_allclose(found.intercept, 0.0, atol=0.02)


def test_sixty_rows_cannot_turn_the_slope_negative():
    """What a free slope does every other time with little information."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        chance = np.clip(0.3 + 0.1 * rng.normal(size=60), 0, 1)
        codes = (rng.random(60) < 0.3).astype(int)
        codes[:2] = 0, 1
        found = _calibrated(np.column_stack([1 - chance, chance]), codes, np.ones(60))
        assert 0.3 < found.slope < 1.7
