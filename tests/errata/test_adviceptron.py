"""Kunapuli et al., slides on the Adviceptron, 2010: advice, and the mistake bound."""

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

from lupi.advice import Adviceptron, KnowledgeBasedSVC
from tests.errata.page import page_says

TWO_RULES = ((-1.0, 1), (1.0, -1))  # D, z of x0 >= 1 => 1 and x0 <= -1 => -1


def least(direction, D, d):
    """Least value of direction·x where D x <= d."""
    found = linprog(direction, A_ub=D, b_ub=d, bounds=(None, None))
    assert found.status == 0
    return found.fun


def has_proof(D, d, z, w, b):
    """Whether some u >= 0 has Dᵀu + z w = 0 and -d·u - z b >= 0."""
    found = linprog(d, A_eq=D.T, b_eq=-z * w, bounds=(0, None))
    return found.status == 0 and -found.fun - z * b >= 0


def test_the_label_turns_the_whole_half_space():
    """z(w·x) - b >= 0 is printed; the constraints below it prove z(w·x - b) >= 0."""
    rng = np.random.default_rng(0)
    differ = {1: 0, -1: 0}
    wrong_class = 0
    for _ in range(200):
        # A box and one more side through its middle: bounded and not empty.
        centre, slope = rng.normal(size=2), rng.normal(size=2)
        D = np.vstack([np.eye(2), -np.eye(2), slope])
        d = np.concatenate([centre + 1, 1 - centre, [slope @ centre]])
        w, b, z = rng.normal(size=2), rng.normal(), int(rng.choice([-1, 1]))
        lowest = least(z * w, D, d)
        right, printed = lowest - z * b >= 0, lowest - b >= 0
        assert has_proof(D, d, z, w, b) == right
        differ[z] += printed != right
        wrong_class += printed and not right
    assert differ[1] == 0
    assert differ[-1] >= 20
    page_says(
        "advice_condition",
        differ[-1],
        wrong_class,
    )


def test_the_library_obeys_a_rule_of_the_negative_class():
    """x0 <= 2 => -1 and x0 >= 4 => 1: the boundary is at 3, so that b is large."""
    rules = ["x0 <= 2 => -1", "x0 >= 4 => 1"]
    X, y = np.array([[1.0], [5.0]]), np.array([-1, 1])
    model = KnowledgeBasedSVC(advice=rules, advice_weight=100.0).fit(X, y)
    w, b = model.coef_[0, 0], -model.intercept_[0]
    assert b / w == pytest.approx(3, abs=1e-4)
    region = np.linspace(-5, 2, 50)
    assert np.all(-(w * region - b) > 0)
    assert np.all(model.predict(region[:, None]) == -1)
    # By the printed condition this plane would break the rule that it obeys.
    assert -(w * 2.0) - b < -1


def advice_only(right_side):
    """Value and w of the advice-only problem with that right side of its last line."""
    w, b, value, constraints = cp.Variable(2), cp.Variable(), 0, []
    for D, z in TWO_RULES:
        u, zeta = cp.Variable(nonneg=True), cp.Variable(nonneg=True)
        eta = np.array([D, 0.0]) * u + z * w
        value += cp.sum_squares(eta) / 2 + zeta
        constraints.append(u - z * b + zeta >= right_side)
    problem = cp.Problem(cp.Minimize(value + cp.sum_squares(w) / 2), constraints)
    return problem.solve(solver="CLARABEL"), w.value


def test_the_advice_only_problem():
    """With 0 on the right, nothing at all is optimal."""
    value, w = advice_only(0.0)
    assert value == pytest.approx(0, abs=1e-7)
    np.testing.assert_allclose(w, 0, atol=1e-4)
    value, w = advice_only(1.0)
    page_says("advice_optimum", value, w[0])
    # w₁ = (1 − ν) r, with ν = 1/(1 + mμ) = 1/3.
    model = Adviceptron(
        advice=["x0 >= 1 => 1", "x0 <= -1 => -1"],
        advice_weight=1.0,
        fit_intercept=False,
    )
    model.partial_fit(np.array([[1.0, 0.0]]), [1], classes=[-1, 1])
    np.testing.assert_allclose(model.coef_[0], w, atol=1e-4)
    np.testing.assert_allclose(2 / 3 * model.advice_estimate_[0, :2], w, atol=1e-4)


def test_the_sign_of_eta():
    """η >= 0 makes hard what is meant to be soft."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = np.sign(X[:, 1] + 0.3 * X[:, 0])
    numbers = []
    for signed in (True, False):
        w, b, constraints = cp.Variable(2), cp.Variable(), []
        value = cp.sum_squares(w) / 2 + cp.sum(cp.pos(1 - cp.multiply(y, X @ w - b)))
        for D, z in TWO_RULES:
            u, zeta = cp.Variable(nonneg=True), cp.Variable(nonneg=True)
            eta = -(np.array([D, 0.0]) * u + z * w)
            value += 0.01 * (cp.norm1(eta) + zeta)
            constraints.append(u - z * b + zeta >= 1)
            if signed:
                constraints.append(eta >= 0)
        numbers.append(cp.Problem(cp.Minimize(value), constraints).solve("CLARABEL"))
        numbers.append(100 * np.mean(np.sign(X @ w.value - b.value) == y))
        if signed:
            assert abs(w.value[1]) < 1e-6
    page_says(
        "advice_slack",
        *numbers,
    )
    rules = ["x0 >= 1 => 1", "x0 <= -1 => -1"]
    model = KnowledgeBasedSVC(advice=rules, advice_weight=0.01).fit(X, y)
    assert model.objective_ == pytest.approx(numbers[2], rel=1e-6)


def streams(Z, r, nu, rate):
    """Mistakes and advice updates on streams of rows z = y x, all at once."""
    nu = np.broadcast_to(nu, len(Z))[:, None]
    w = (1 - nu) * r
    mistakes, updates = np.zeros((2, len(Z)), dtype=int)
    for x in np.moveaxis(Z, 1, 0):
        advised = nu * w + (1 - nu) * r
        mistake, update = np.sum(w * x, axis=1) <= 0, np.sum(advised * x, axis=1) <= 0
        step = (rate * mistake)[:, None] * x
        w = np.where(update[:, None], advised + nu * step, w + step)
        mistakes, updates = mistakes + mistake, updates + update
    return mistakes, updates


@pytest.mark.parametrize("case", range(3))
def test_the_mistake_bound_on_one_stream(case):
    n_rows = 10 ** (case + 1)
    Z = np.tile([[1.0, 0.2], [-1.0, 0.2]], (n_rows, 1))[:n_rows]
    Z[0, 1] = 0.0
    r, w = np.array([0.0, 1.0]), np.array([0.1, 1.0])
    (mistakes,), (updates,) = streams(Z[None], r, 0.5, 10.0)
    assert mistakes == updates == n_rows
    assert np.sum(Z @ r <= 0) == 1
    factor = ((Z**2).sum(axis=1).max()) * np.sum((w - r) ** 2) / (Z @ w).min() ** 2
    printed = [factor * (1 + 0.5 * M_a) for M_a in (1, updates)]
    model = Adviceptron(
        advice=["x1 >= 1 => 1", "x1 <= -1 => 0"],
        advice_weight=0.5,
        learning_rate=10.0,
        fit_intercept=False,
    )
    y = np.arange(n_rows) % 3 % 2
    ours = model.mistake_bound(Z * np.where(y == 1, 1, -1)[:, None], y)
    assert ours.mistakes == mistakes
    assert max(printed) < mistakes <= ours.bound
    page_says(f"bound_stream_{case}", mistakes, *printed, ours.bound)


def test_the_mistake_bound_on_random_streams():
    """A w° of our choice is enough to break it."""
    rng = np.random.default_rng(0)
    n_streams, n_rows, p = 10_000, 100, 3
    plane = rng.normal(size=(n_streams, p))
    plane /= np.linalg.norm(plane, axis=1)[:, None]
    Z = rng.normal(size=(n_streams, n_rows, p))
    Z *= np.where(np.einsum("snp,sp->sn", Z, plane) >= 0, 1, -1)[:, :, None]
    Z += 0.1 * plane[:, None]
    spread = 10 ** rng.uniform(-2, 1, size=(n_streams, 1))
    r = plane + spread * rng.normal(size=(n_streams, p))
    nu = 1 / (1 + 10 ** rng.uniform(-4, 1, size=n_streams))
    rate = 10 ** rng.uniform(-2, 1, size=n_streams)
    mistakes, updates = streams(Z, r, nu, rate)
    # w° = c · plane with the c that makes the printed bound least.
    margin = np.einsum("snp,sp->sn", Z, plane).min(axis=1)
    along = np.maximum(np.sum(plane * r, axis=1), 0) ** 2 / np.sum(r**2, axis=1)
    advice_mistakes = (np.einsum("snp,sp->sn", Z, r) <= 0).sum(axis=1)
    M_a = np.maximum(updates, advice_mistakes)
    radius = np.linalg.norm(Z, axis=2).max(axis=1)
    printed = (radius / margin) ** 2 * (1 - along) * (1 + (1 - nu) * M_a)
    worst = np.argmax(mistakes / printed)
    page_says(
        "bound_random",
        np.sum(mistakes > printed),
        mistakes[worst],
        printed[worst],
    )
