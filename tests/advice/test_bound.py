"""The mistake bound that holds, and the printed one, which does not."""

import numpy as np
import pytest
from sklearn.svm import SVC

from lupi.advice import Adviceptron, Rule
from tests.marks import slow


def separable_rows(rng, n, p, margin):
    """Rows z = y x with w·z >= margin for some w of norm 1."""
    w = rng.normal(size=p)
    w /= np.linalg.norm(w)
    rows = rng.normal(size=(n, p)) * rng.uniform(0.2, 2)
    rows *= np.where(rows @ w >= 0, 1, -1)[:, None]
    return rows + margin * w


def test_holds_on_random_separable_streams():
    rng = np.random.default_rng(0)
    printed_fails = prior_says_something = 0
    for _ in range(60):
        p, n = int(rng.integers(1, 6)), int(rng.integers(5, 80))
        rows = separable_rows(rng, n, p, float(rng.choice([0.02, 0.1, 0.5])))
        y = np.resize([1, 0], n)
        # A rule for either side of the hyperplane w·x = 0.
        w = rng.normal(size=p) * 10 ** rng.uniform(-1, 1) + rows.mean(axis=0)
        model = Adviceptron(
            advice=[Rule([-w], [-1.0], 1), Rule([w], [-1.0], 0)],
            advice_weight=float(10 ** rng.uniform(-4, 1)),
            learning_rate=float(10 ** rng.uniform(-2, 1)),
            fit_intercept=False,
        )
        bound = model.mistake_bound(rows * np.where(y, 1, -1)[:, None], y)
        assert bound.holds
        assert bound.margin > 0
        printed_fails += bound.mistakes > bound.printed_bound
        prior_says_something += np.isfinite(bound.prior_bound)
    assert printed_fails > 0
    assert prior_says_something > 5


@pytest.mark.parametrize("seed", [*range(15), *slow(*range(15, 200))])
def test_holds_for_any_separator_and_through_the_estimator(seed):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(2, 5))
    w = rng.normal(size=p)
    X = rng.normal(size=(80, p))
    X = X[np.abs(X @ w) > 0.1]
    y = np.where(X @ w > 0, "a", "b")
    rules = [
        Rule(
            rng.normal(size=(2, p)), rng.normal(size=2) - 1, str(rng.choice(["a", "b"]))
        )
        for _ in range(2)
    ]
    model = Adviceptron(
        advice=rules,
        advice_weight=float(10 ** rng.uniform(-4, 0)),
        learning_rate=float(10 ** rng.uniform(-1, 1)),
        fit_intercept=bool(seed % 2),
        standardize=seed % 5 == 0,
    )
    given = -w if seed % 5 else None
    bound = model.mistake_bound(X, y, separator=given)
    assert bound.holds
    fitted = model.fit(X, y)
    assert bound.mistakes == fitted.n_mistakes_
    assert bound.advice_updates == fitted.n_advice_updates_


def test_without_advice_it_is_novikoffs():
    rng = np.random.default_rng(2)
    X = separable_rows(rng, 60, 3, 0.3)
    y = rng.choice([-1, 1], 60)
    model = Adviceptron(fit_intercept=False, learning_rate=0.7)
    bound = model.mistake_bound(X * y[:, None], y)
    radius = np.linalg.norm(X, axis=1).max()
    # The hard-margin machine through the origin, by another solver.
    both = np.vstack([X, -X])
    machine = SVC(kernel="linear", C=1e10, tol=1e-10)
    machine.fit(both, np.repeat([1, -1], 60))
    margin = 1 / np.linalg.norm(machine.coef_)
    assert bound.margin == pytest.approx(margin, rel=1e-5)
    assert bound.bound == pytest.approx((radius / margin) ** 2, rel=1e-5)
    assert bound.prior_bound == pytest.approx(bound.bound)
    assert bound.mistakes <= bound.bound


def test_without_a_separator_the_bound_is_infinite():
    rows = np.array([[1.0, 0.0], [-1.0, 0.0]])
    bound = Adviceptron(fit_intercept=False).mistake_bound(rows, [1, 0])
    assert np.isfinite(bound.bound)
    contrary = Adviceptron(fit_intercept=False).mistake_bound(rows[[0, 0]], [1, 0])
    assert contrary.bound == np.inf
    assert contrary.holds


def counter_example(n_rounds):
    """Rows that the errata page shows: an endless cycle of mistakes."""
    rules = ["x1 >= 1 => 1", "x1 <= -1 => 0"]
    model = Adviceptron(
        advice=rules, advice_weight=0.5, learning_rate=10.0, fit_intercept=False
    )
    rows = np.tile([[-1.0, 0.2], [1.0, 0.2]], (n_rounds, 1))[: n_rounds - 1]
    z = np.vstack([[1.0, 0.0], rows])
    y = np.arange(n_rounds) % 3 % 2
    return model, z * np.where(y == 1, 1.0, -1.0)[:, None], y


@pytest.mark.parametrize("n_rounds", [10, 100, 1000])
def test_printed_bound_fails_without_limit(n_rounds):
    model, X, y = counter_example(n_rounds)
    bound = model.mistake_bound(X, y)
    assert bound.mistakes == bound.advice_updates == n_rounds
    assert bound.advice_mistakes == 1
    # By hand, for w° = (0.1, ρ), the rules giving r = (0, ρ): ‖w° - r‖ = 0.1.
    nu, (_, rho, _) = 0.5, model.fit(X, y).advice_estimate_[0]
    w = np.array([0.1 * rho, rho])
    z = X * np.where(y == 1, 1.0, -1.0)[:, None]
    assert rho > 0
    margin, radius = (z @ w).min(), np.linalg.norm(z, axis=1).max()
    distance = np.linalg.norm(w - [0, rho])
    assert margin == pytest.approx(0.1 * rho)
    printed = (radius * distance / margin) ** 2
    assert printed * (1 + (1 - nu) * bound.advice_mistakes) < 2
    assert printed * (1 + (1 - nu) * bound.advice_updates) < 0.53 * n_rounds + 1.1
    assert bound.mistakes > bound.printed_bound
    assert bound.holds
    assert bound.prior_bound == np.inf


def test_one_bound_per_class():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2)) + np.repeat([[9, 0], [-9, 9], [-9, -9]], 30, axis=0)
    order = rng.permutation(90)
    y = np.repeat(["a", "b", "c"], 30)[order]
    rules = ["x0 >= 5 => a", "x1 >= 12 => b"]
    bounds = Adviceptron(advice=rules).mistake_bound(X[order], y)
    assert len(bounds) == 3
    assert all(bound.holds and np.isfinite(bound.bound) for bound in bounds)
