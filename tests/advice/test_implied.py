"""Linear programs about regions, against enumeration and closed forms."""

from itertools import combinations

import numpy as np
import pytest

from lupi.advice._implied import conflict, is_empty, least_value
from lupi.advice._problem import Region


def box(low, high, sign=1.0, weight=np.inf):
    p = len(low)
    D = np.vstack([np.eye(p), -np.eye(p)])
    return Region.of(D, np.concatenate([high, -np.asarray(low)]), sign, weight)


@pytest.mark.parametrize("seed", range(20))
def test_least_value_on_a_box_is_at_its_corner(seed):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(1, 6))
    low = rng.normal(size=p) * 10
    high = low + rng.uniform(0, 5, p)
    w, b = rng.normal(size=p), rng.normal()
    expected = np.where(w > 0, low, high) @ w - b
    assert least_value(box(low, high), w, b) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("seed", range(30))
def test_least_value_on_a_cone(seed):
    """{x : D (x - v) <= 0}, D square: least at v iff -w is in the cone of the rows."""
    rng = np.random.default_rng(seed)
    p = int(rng.integers(2, 5))
    D, v, b = rng.normal(size=(p, p)), rng.normal(size=p), rng.normal()
    u = rng.uniform(0.1, 1, p)
    region = Region.of(D, D @ v, 1.0, 1.0)
    w = -D.T @ u
    assert least_value(region, w, b) == pytest.approx(w @ v - b, abs=1e-5)
    u[0] = -0.1
    assert least_value(region, -D.T @ u, b) == -np.inf


def test_weights_of_columns_that_are_not_mentioned():
    region = Region.of(np.array([[-1.0, 0.0]]), np.array([-2.0]), 1.0, 1.0)
    assert least_value(region, np.array([1.0, 0.0]), 0.5) == pytest.approx(1.5)
    assert least_value(region, np.array([1.0, 0.1]), 0.5) == -np.inf
    # What an interior point leaves of a zero is a zero.
    assert least_value(region, np.array([1.0, 1e-9]), 0.5) == pytest.approx(1.5)
    assert least_value(region, np.zeros(2), 0.5) == -0.5


def test_empty_regions():
    low, high = np.array([0.0, 1.0]), np.array([1.0, 0.5])
    assert is_empty(box(low, high))
    assert least_value(box(low, high), np.ones(2), 0.0) == np.inf
    assert not is_empty(box(low, low))
    assert is_empty(Region.of(np.zeros((1, 2)), np.array([-1.0]), 1.0, 1.0))
    assert not is_empty(Region.of(np.zeros((1, 2)), np.array([1.0]), 1.0, 1.0))


def separable(regions, fit_intercept):
    """Corners of boxes: is there a plane with margin 1? By perceptron-free LP duality.

    Two sets of points are separable iff their hulls do not meet; here by brute force
    over the hard-margin problem of the corners.
    """
    from lupi.advice._bound import separator

    points = []
    for region in regions:
        p = region.D.shape[1]
        high, low = region.d[:p], -region.d[p:]
        grid = np.meshgrid(*zip(low, high, strict=True))
        corners = np.column_stack([axis.ravel() for axis in grid])
        bias = np.full((len(corners), 1), -1.0 if fit_intercept else 0.0)
        points.append(region.sign * np.hstack([corners, bias]))
    return separator(np.vstack(points)) is not None if points else True


@pytest.mark.parametrize("seed", range(30))
def test_conflicts_are_irreducible(seed):
    rng = np.random.default_rng(seed)
    fit_intercept = bool(seed % 2)
    regions = []
    for _ in range(6):
        sign = float(rng.choice([-1, 1]))
        low = rng.normal(size=2) * 2 + [sign, 0]
        regions.append(box(low, low + rng.uniform(0.1, 1, 2), sign))
    found = conflict(regions, fit_intercept)
    assert separable(regions, fit_intercept) == (not found)
    if found:
        members = [regions[i] for i in found]
        assert not separable(members, fit_intercept)
        for fewer in combinations(members, len(members) - 1):
            assert separable(fewer, fit_intercept)
