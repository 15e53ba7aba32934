"""KnowledgeBasedSVC against the printed problem, written out for cvxpy."""

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.svm import SVC

from lupi.advice import KnowledgeBasedSVC, Rule
from tests.marks import slow


def printed_problem(X, y, cost, rules, weights, fit_intercept=True):
    """The primal of models.md §11, word for word: value, w, b."""
    p = X.shape[1]
    w, b = cp.Variable(p), cp.Variable()
    value, constraints = cp.sum_squares(w) / 2, []
    if len(y):
        xi = cp.Variable(len(y), nonneg=True)
        value += cost @ xi
        constraints.append(cp.multiply(y, X @ w - b) + xi >= 1)
    for (D, d, z), mu in zip(rules, weights, strict=True):
        u, zeta = cp.Variable(len(d), nonneg=True), cp.Variable(nonneg=True)
        eta = cp.Variable(p)
        constraints += [D.T @ u + z * w + eta == 0, -d @ u - z * b + zeta >= 1]
        if np.isinf(mu):
            constraints += [eta == 0, zeta == 0]
        else:
            value += mu * (cp.norm1(eta) + zeta)
    if not fit_intercept:
        constraints.append(b == 0)
    problem = cp.Problem(cp.Minimize(value), constraints)
    problem.solve(solver="CLARABEL")
    return problem.value, w.value, float(b.value)


def random_rule(rng, p, kind, z):
    if kind == "box":
        center = rng.normal(size=p) + z * np.eye(p)[0]
        D = np.vstack([np.eye(p), -np.eye(p)])
        half = rng.uniform(0.1, 1.0, size=2 * p)
        return D, D @ center + half, z
    if kind == "empty":
        row = rng.normal(size=p)
        return np.array([row, -row]), np.array([-1.0, -rng.uniform(0, 1)]), z
    n_conditions = int(rng.integers(1, 4))
    D = rng.normal(size=(n_conditions, p)) * (rng.random((n_conditions, p)) < 0.5)
    return D, rng.normal(size=n_conditions), z


@pytest.mark.filterwarnings("ignore:No point satisfies")
@pytest.mark.parametrize("kind", ["box", "empty", "unbounded", "mixed", "contrary"])
@pytest.mark.parametrize("seed", [*range(6), *slow(*range(6, 22))])
def test_equals_the_printed_problem(kind, seed):
    rng = np.random.default_rng([seed, len(kind)])
    n, p, m = int(rng.choice([0, 5, 40])), int(rng.integers(2, 6)), 4
    X = rng.normal(size=(n, p))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    kinds = rng.choice(["box", "empty", "unbounded"], m)
    kinds = kinds if kind in ("mixed", "contrary") else [kind] * m
    signs = np.resize([1.0, -1.0], m)
    rules = [random_rule(rng, p, k, z) for k, z in zip(kinds, signs, strict=True)]
    if kind == "contrary":
        rules[1] = (*rules[0][:2], -rules[0][2])
    weights = rng.choice([0.01, 1.0, 30.0], m)
    C = float(rng.choice([0.1, 1.0, 10.0]))
    fit_intercept = bool(seed % 3)
    model = KnowledgeBasedSVC(
        C,
        advice=[Rule(*rule) for rule in rules],
        advice_weight=weights,
        fit_intercept=fit_intercept,
        classes=[-1, 1],
    ).fit(X, y)
    value, w, _ = printed_problem(X, y, np.full(n, C), rules, weights, fit_intercept)
    assert model.converged_
    assert model.objective_ == pytest.approx(value, rel=1e-6, abs=1e-7)
    assert model.duality_gap_ <= 1e-6 * (1 + value)
    # The objective is 1-strongly convex in w: its accuracy bounds that of w.
    np.testing.assert_allclose(model.coef_[0], w, atol=2e-3 * np.sqrt(1 + value))
    if not fit_intercept:
        assert model.intercept_[0] == 0


@pytest.mark.parametrize("seed", range(5))
def test_hard_rules_equal_the_printed_problem(seed):
    rng = np.random.default_rng(seed)
    n, p = 30, 4
    X = rng.normal(size=(n, p))
    y = np.where(X[:, 1] > 0, 1.0, -1.0)
    D = np.vstack([np.eye(p), -np.eye(p)])
    rules = []
    for z in (1.0, -1.0):
        center = 3 * z * np.eye(p)[0] + 0.3 * rng.normal(size=p)
        rules.append((D, D @ center + rng.uniform(0.5, 1.0, 2 * p), z))
    rules.append((rng.normal(size=(2, p)), rng.normal(size=2), 1.0))
    weights = [np.inf, np.inf, 0.5]
    model = KnowledgeBasedSVC(
        advice=[Rule(*rule) for rule in rules], advice_weight=weights
    ).fit(X, y)
    value, w, b = printed_problem(X, y, np.ones(n), rules, weights)
    assert model.objective_ == pytest.approx(value, rel=1e-7)
    np.testing.assert_allclose(model.coef_[0], w, atol=1e-4)
    np.testing.assert_allclose(model.intercept_[0], -b, atol=1e-4)
    assert model.advice_satisfied_[:2].all()


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_without_advice_it_is_the_linear_svm(C):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    y = np.where(X @ rng.normal(size=5) + rng.normal(size=80) > 0, "a", "b")
    weight = rng.integers(1, 4, 80).astype(float)
    ours = KnowledgeBasedSVC(C).fit(X, y, sample_weight=weight)
    theirs = SVC(kernel="linear", C=C, tol=1e-10).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(X), atol=1e-4
    )
    assert len(ours.advice_satisfied_) == 0
    alpha = np.zeros(80)
    alpha[theirs.support_] = theirs.dual_coef_[0]
    found = np.zeros(80)
    found[ours.support_] = ours.dual_coef_[0]
    np.testing.assert_allclose(found @ X, alpha @ X, atol=1e-4 * C)


def sample_region(rng, rule, n):
    """Points of {D x <= d}, by hit and run from a point inside; None if it is empty."""
    D, d = rule.D, rule.d
    if linprog(np.zeros(D.shape[1]), D, d, bounds=(None, None)).status == 2:
        return None
    x, norm = cp.Variable(D.shape[1]), np.linalg.norm(D, axis=1)
    depth = cp.Variable()
    problem = cp.Problem(
        cp.Maximize(depth), [D @ x + norm * depth <= d, depth <= 1, cp.abs(x) <= 10]
    )
    problem.solve(solver="CLARABEL")
    point, points = x.value, []
    for _ in range(n):
        way = rng.normal(size=D.shape[1])
        speed, room = D @ way, np.maximum(d - D @ point, 0)
        ahead = np.min(room[speed > 0] / speed[speed > 0], initial=20.0)
        behind = np.min(room[speed < 0] / -speed[speed < 0], initial=20.0)
        point = point + rng.uniform(-behind, ahead) * way
        points.append(point)
    return np.array(points)


@pytest.mark.filterwarnings("ignore:No point satisfies")
def test_points_of_satisfied_regions_get_the_label():
    rng = np.random.default_rng(1)
    checked = 0
    for seed in range(16):
        p = int(rng.integers(2, 5))
        X = rng.normal(size=(25, p))
        y = rng.choice(["no", "yes", "maybe"][: 2 + seed % 2], 25)
        labels = np.unique(y)
        kinds = rng.choice(["box", "unbounded"], 4)
        signs = rng.choice([1.0, -1.0], 4)
        rules = [
            Rule(*random_rule(rng, p, kind, 4 * z)[:2], rng.choice(labels))
            for kind, z in zip(kinds, signs, strict=True)
        ]
        model = KnowledgeBasedSVC(0.1, advice=rules, advice_weight=10.0).fit(X, y)
        for rule, fine in zip(rules, model.advice_satisfied_, strict=True):
            points = sample_region(rng, rule, 100)
            if points is None:
                assert fine
                continue
            right = model.predict(points) == rule.label
            if fine:
                checked += 1
                assert right.all()
    assert checked > 15
