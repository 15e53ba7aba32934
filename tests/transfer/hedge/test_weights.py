"""Weights on the simplex against a conic solver."""

import cvxpy as cp
import numpy as np
import pytest

from lupi.transfer._hedge.hedge import simplex_weights

PRIOR = np.array([0.5, 0.25, 0.25])


def _errors(seed, size=3, n=60):
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n, 1))
    own = rng.normal(size=(n, size)) * rng.uniform(0.01, 1.0, size)
    return common * rng.uniform(0, 2) + own


def _solve(errors, prior, strength):
    n, size = errors.shape
    strength = strength / np.sqrt(min(1, n / 60))
    pull = strength * np.min(np.sum(errors**2, axis=0)) / n
    w = cp.Variable(size)
    value = cp.sum_squares(errors @ w) + pull * cp.sum_squares(w - prior)
    cp.Problem(cp.Minimize(value), [w >= 0, cp.sum(w) == 1]).solve(
        solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12
    )
    return w.value


@pytest.mark.parametrize("strength", [0.0, 1.0, 10.0, 1e4])
@pytest.mark.parametrize("n", [15, 60, 200])
@pytest.mark.parametrize("seed", range(3))
def test_weights_are_the_optimum(seed, n, strength):
    errors = _errors(seed, n=n)
    found = simplex_weights(errors.T @ errors, n, PRIOR, strength)
    np.testing.assert_allclose(found, _solve(errors, PRIOR, strength), atol=2e-6)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1.0, abs=1e-14)


def test_many_candidates():
    prior = np.tile(PRIOR, 4) / 4
    errors = _errors(3, size=12)
    found = simplex_weights(errors.T @ errors, 60, prior, 10.0)
    np.testing.assert_allclose(found, _solve(errors, prior, 10.0), atol=2e-6)
    assert np.sum(found == 0) > 0


def test_the_scale_of_the_errors_does_not_matter():
    errors = _errors(1)
    products = errors.T @ errors
    once = simplex_weights(products, 60, PRIOR, 10.0)
    for factor in (1e-12, 1e12):
        again = simplex_weights(factor * products, 60, PRIOR, 10.0)
        np.testing.assert_allclose(again, once, atol=1e-10)


def test_candidates_without_errors_or_without_difference_get_the_prior():
    assert np.array_equal(simplex_weights(np.zeros((3, 3)), 9, PRIOR, 10.0), PRIOR)
    same = np.ones((3, 3))
    np.testing.assert_allclose(simplex_weights(same, 9, PRIOR, 10.0), PRIOR, atol=1e-9)


def test_two_candidates_by_hand():
    # min a w² + b (1 − w)² + κ (w − ½)² + κ (½ − w)², errors orthogonal
    a, b, k, n = 3.0, 1.0, 10.0, 80
    pull = k * b / n
    expected = (b + pull) / (a + b + 2 * pull)
    found = simplex_weights(np.diag([a, b]), n, np.array([0.5, 0.5]), k)
    assert found[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("size", [1e4, 1e12, 1e24])
def test_a_candidate_with_a_huge_error_has_no_weight(size):
    """And does not change the weights of the others."""
    errors = _errors(0, size=2)
    products = np.zeros((3, 3))
    products[:2, :2] = errors.T @ errors
    products[2, 2] = size * products[0, 0]
    found = simplex_weights(products, 60, PRIOR, 10.0)
    assert found[2] < 10 / size
    for larger in (2.0, 1e6):
        products[2, 2] *= larger
        again = simplex_weights(products, 60, PRIOR, 10.0)
        np.testing.assert_allclose(again[:2], found[:2], atol=10 / size)
