"""Which rules a model satisfies, and which contradict: enumeration, closed forms."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy.optimize import linprog

from lupi.advice import KnowledgeBasedSVC, Rule


def box(low, high, label, name=None):
    p = len(low)
    D = np.vstack([np.eye(p), -np.eye(p)])
    return Rule(D, np.concatenate([high, -np.asarray(low)]), label, name=name)


def corners(rule):
    p = rule.D.shape[1]
    return np.array(list(product(*zip(-rule.d[p:], rule.d[:p], strict=True))))


def judged(rule, X, y):
    """A model that the rule does not influence, for it has no weight."""
    return KnowledgeBasedSVC(advice=rule, advice_weight=0.0).fit(X, y)


def table(seed, p):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, p))
    y = (X @ rng.normal(size=p) + rng.normal(size=30) > 0).astype(int)
    y[:2] = 0, 1
    return rng, X, y


@pytest.mark.parametrize("seed", range(12))
def test_violation_on_a_box_is_that_of_a_corner(seed):
    rng, X, y = table(seed, 1 + seed % 4)
    low = rng.normal(size=X.shape[1])
    rule = box(low, low + rng.uniform(0, 1, len(low)), seed % 2)
    model = judged(rule, X, y)
    worst = np.min((2 * rule.label - 1) * model.decision_function(corners(rule)))
    assert model.advice_violation_[0] == pytest.approx(max(-worst, 0), rel=1e-5)
    assert model.advice_satisfied_[0] == (worst > 0)


@pytest.mark.parametrize("seed", range(12))
def test_violation_on_a_cone_is_that_of_its_apex_or_unbounded(seed):
    """{x : D (x - v) <= 0}, D square: least at v iff -w is in the cone of the rows."""
    rng, X, y = table(seed, 2 + seed % 3)
    D, v = rng.normal(size=(X.shape[1], X.shape[1])), rng.normal(size=X.shape[1])
    w = KnowledgeBasedSVC().fit(X, y).coef_[0]
    D *= np.sign(np.linalg.solve(D.T, -w))[:, None]
    model = judged(Rule(D, D @ v, 1), X, y)
    worst = model.decision_function([v])[0]
    assert model.advice_violation_[0] == pytest.approx(max(-worst, 0), abs=1e-5)
    D[0] *= -1
    assert judged(Rule(D, D @ v, 1), X, y).advice_violation_[0] == np.inf


def test_weights_of_columns_that_are_not_mentioned():
    _, X, y = table(0, 2)
    assert judged("x0 >= 2 => 1", X, y).advice_violation_[0] == np.inf
    X[:, 1] = 0.0  # has no weight, up to the rounding of the solver
    model = judged("-1 <= x0 <= 2 => 0", X, y)
    worst = max(model.decision_function([[-1.0, 5.0], [2.0, 5.0]]))
    assert model.advice_violation_[0] == pytest.approx(worst, rel=1e-5)


def test_empty_regions_are_satisfied():
    _, X, y = table(0, 2)
    inside_out = Rule([[1.0, 0.0], [-1.0, 0.0]], [0.0, -1.0], 1)
    never = Rule([[0.0, 0.0]], [-1.0], 1)
    for rule in (inside_out, never):
        with pytest.warns(UserWarning, match="No point satisfies"):
            model = judged(rule, X, y)
        assert model.advice_satisfied_.all()
        assert model.advice_violation_[0] == 0
    everything = Rule([[0.0, 0.0]], [1.0], 1)
    assert judged(everything, X, y).advice_violation_[0] == np.inf
    point = box(X[0], X[0], 1)
    value = judged(point, X, y).decision_function(X[:1])[0]
    assert judged(point, X, y).advice_satisfied_[0] == (value > 0)


def separable(rules, fit_intercept):
    """Whether a hyperplane has the corners of all boxes on their sides."""
    if not rules:
        return True
    rows = []
    for rule in rules:
        sign = 2 * rule.label - 1
        points = corners(rule)
        bias = np.full((len(points), 1), -1.0 if fit_intercept else 0.0)
        rows.append(sign * np.hstack([points, bias]))
    rows = np.vstack(rows)
    found = linprog(
        np.zeros(3), A_ub=-rows, b_ub=-np.ones(len(rows)), bounds=(None, None)
    )
    return found.status == 0


@pytest.mark.parametrize("seed", range(20))
def test_conflicts_are_irreducible(seed):
    rng = np.random.default_rng(seed)
    fit_intercept = bool(seed % 2)
    rules = []
    for i in range(6):
        label = int(rng.choice([0, 1]))
        low = rng.normal(size=2) * 2 + [2 * label - 1, 0]
        rules.append(box(low, low + rng.uniform(0.1, 1, 2), label, name=f"r{i}"))
    model = KnowledgeBasedSVC(
        advice=rules, advice_weight=np.inf, fit_intercept=fit_intercept
    )
    if separable(rules, fit_intercept):
        assert model.fit(np.empty((0, 2)), []).advice_satisfied_.all()
        return
    with pytest.raises(ValueError, match="hard rule") as refusal:
        model.set_params(classes=[0, 1]).fit(np.empty((0, 2)), [])
    named = [rule for rule in rules if repr(rule.name) in str(refusal.value)]
    assert not separable(named, fit_intercept)
    for fewer in combinations(named, len(named) - 1):
        assert separable(fewer, fit_intercept)
