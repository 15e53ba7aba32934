import subprocess
import sys

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import Perceptron
from sklearn.utils.estimator_checks import check_estimator

from lupi.advice import Adviceptron, Rule
from tests.marks import slow


def plain_reading(X, y, w, r, nu, learning_rate):
    """Lines 6-15 of the algorithm, in plain Python."""
    mistakes = advice_updates = 0
    for x, label in zip(X.tolist(), y.tolist(), strict=True):
        wx = rx = 0.0
        for j in range(len(x)):
            wx += w[j] * x[j]
            rx += r[j] * x[j]
        step = learning_rate * label if label * wx <= 0 else 0.0
        mistakes += label * wx <= 0
        if nu * label * wx + (1 - nu) * label * rx <= 0:
            advice_updates += 1
            w = [nu * (a + step * b) + (1 - nu) * c for a, b, c in zip(w, x, r)]  # noqa: B905
        else:
            w = [a + step * b for a, b in zip(w, x, strict=True)]
    return w, mistakes, advice_updates


def random_stream(seed, separable=False):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(20, 200)), int(rng.integers(2, 8))
    X = rng.normal(size=(n, p))
    y = np.where(
        X @ rng.normal(size=p) + (not separable) * rng.normal(size=n) > 0, 1, -1
    )
    y[:2] = [1, -1]
    rules = [
        Rule(
            rng.normal(size=(2, p)), rng.normal(size=2) - 0.5, int(rng.choice([-1, 1]))
        )
        for _ in range(rng.integers(1, 4))
    ]
    return rng, X, y, rules


@pytest.mark.parametrize("seed", range(20))
def test_equals_the_plain_reading(seed):
    rng, X, y, rules = random_stream(seed)
    model = Adviceptron(
        advice=rules,
        advice_weight=float(10 ** rng.uniform(-4, 1)),
        learning_rate=float(10 ** rng.uniform(-2, 1)),
        fit_intercept=bool(seed % 2),
    )
    # The start: no rows yet.
    model.partial_fit(X[:0], y[:0], classes=[-1, 1])
    w = [*model.coef_[0], -model.intercept_[0]]
    r = model.advice_estimate_[0]
    rows = np.column_stack([X, np.full(len(X), -1.0 if model.fit_intercept else 0.0)])
    nu = 1 / (1 + len(rules) * model.advice_weight)
    w, mistakes, updates = plain_reading(rows, y, w, r, nu, model.learning_rate)
    whole = clone(model).fit(X, y)
    for begin in range(0, len(X), 7):
        model.partial_fit(X[begin : begin + 7], y[begin : begin + 7])
    for fitted in (whole, model):
        found = [*fitted.coef_[0], -fitted.intercept_[0]]
        np.testing.assert_allclose(found, w, rtol=1e-9, atol=1e-12)
        assert (fitted.n_mistakes_, fitted.n_advice_updates_) == (mistakes, updates)
        assert fitted.n_rows_seen_ == len(X)


@pytest.mark.parametrize("advice", [None, [], "weightless"])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_without_advice_it_is_the_perceptron(seed, advice, fit_intercept):
    _, X, y, rules = random_stream(seed)
    model = Adviceptron(
        advice=rules if advice else advice,
        advice_weight=0.0 if advice else 1.0,
        fit_intercept=fit_intercept,
        n_epochs=3,
    ).fit(X, y)
    rows = np.column_stack([X, np.full(len(X), -1.0 if fit_intercept else 0.0)])
    w, mistakes = np.zeros(rows.shape[1]), 0
    for _ in range(3):
        for x, label in zip(rows, y, strict=True):
            value = 0.0
            for a, b in zip(w, x, strict=True):
                value += a * b
            if label * value <= 0:
                w, mistakes = w + label * x, mistakes + 1
    found = [*model.coef_[0], -model.intercept_[0]]
    np.testing.assert_allclose(found, w, rtol=1e-9, atol=1e-12)
    assert model.n_mistakes_ == mistakes
    assert model.n_advice_updates_ == 0
    theirs = Perceptron(
        shuffle=False, fit_intercept=fit_intercept, tol=None, max_iter=3
    )
    theirs.fit(X, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.intercept_, theirs.intercept_, atol=1e-9)


def test_without_advice_it_is_one_perceptron_per_class():
    X, y = load_iris(return_X_y=True)
    X, y = X[::7], y[::7]
    model = Adviceptron(n_epochs=5).fit(X, y)
    theirs = Perceptron(shuffle=False, tol=None, max_iter=5).fit(X, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.intercept_, theirs.intercept_, atol=1e-9)
    assert model.predict(X).tolist() == theirs.predict(X).tolist()


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_start_is_the_solution_of_the_advice_only_problem(seed, fit_intercept):
    _, X, y, rules = random_stream(100 + seed)
    mu, p = 0.3, X.shape[1]
    for i, rule in enumerate(rules):
        rule.D[:, i % p] = 0.0  # a column that it does not mention
    model = Adviceptron(advice=rules, advice_weight=mu, fit_intercept=fit_intercept)
    model.partial_fit(X[:0], y[:0], classes=[-1, 1])
    w, b, proofs, value = cp.Variable(p), cp.Variable(), [], 0
    for rule in rules:
        u = cp.Variable(len(rule.d), nonneg=True)
        eta = rule.D.T @ u + rule.label * w
        zeta = cp.pos(1 + rule.d @ u + rule.label * b)
        value += mu * (cp.sum_squares(eta) / 2 + zeta)
        proofs.append(u)
    value += cp.sum_squares(w) / 2 + cp.square(b) / 2
    constraints = [] if fit_intercept else [b == 0]
    cp.Problem(cp.Minimize(value), constraints).solve(solver="CLARABEL")
    np.testing.assert_allclose(model.coef_[0], w.value, atol=1e-5)
    np.testing.assert_allclose(model.intercept_[0], -b.value, atol=1e-5)
    parts = zip(rules, proofs, strict=True)
    r = np.mean([-rule.label * rule.D.T @ u.value for rule, u in parts], axis=0)
    np.testing.assert_allclose(model.advice_estimate_[0, :p], r, atol=1e-5)
    nu = 1 / (1 + len(rules) * mu)
    np.testing.assert_allclose(model.coef_[0], (1 - nu) * r, atol=1e-5)
    parts = zip(rules, model.advice_proofs_[0], strict=True)
    b_mean = np.mean([-rule.label * rule.d @ u for rule, u in parts])
    expected = b_mean if fit_intercept else 0.0
    assert model.advice_estimate_[0, p] == pytest.approx(expected)


def test_advice_alone_already_predicts():
    table = pd.DataFrame(columns=["bmi", "glucose"], dtype=float)
    rules = [
        "bmi >= 5 and glucose >= 6 => sick",
        "bmi <= -5 and glucose <= -6 => well",
    ]
    model = Adviceptron(advice=rules, advice_weight=0.1).fit(table, [])
    rows = pd.DataFrame({"bmi": [6.0, -6.0], "glucose": [7.0, -7.0]})
    assert model.predict(rows).tolist() == ["sick", "well"]
    assert model.n_rows_seen_ == model.n_mistakes_ == 0


def test_rules_in_original_units_are_standardised_exactly():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 3)) * [30, 5, 0.1] + [120, 30, 1]
    y = np.where(X[:, 0] + 4 * X[:, 1] > 245, "yes", "no")
    names = ["glucose", "bmi", "other"]
    rules = ["glucose >= 126 and bmi >= 30 => yes", "glucose + bmi <= 130 => no"]
    mean, scale = X.mean(axis=0), X.std(axis=0)
    by_hand = []
    for text in rules:
        rule = Rule.parse(text)
        D, d = rule.region(names, 3)
        by_hand.append(Rule(D * scale, d - D @ mean, rule.label))
    inside = Adviceptron(advice=rules, advice_weight=0.1, standardize=True)
    inside.fit(pd.DataFrame(X, columns=names), y)
    outside = Adviceptron(advice=by_hand, advice_weight=0.1)
    outside.fit((X - mean) / scale, y)
    assert inside.n_mistakes_ == outside.n_mistakes_
    assert inside.n_advice_updates_ == outside.n_advice_updates_
    np.testing.assert_allclose(
        inside.decision_function(pd.DataFrame(X, columns=names)),
        outside.decision_function((X - mean) / scale),
        rtol=1e-9,
        atol=1e-9,
    )


def test_several_classes_read_a_rule_as_one_against_the_rest():
    X, y = load_iris(return_X_y=True)
    rules = ["x2 <= 2 => 0", "3 <= x2 <= 4.5 => 1", "x2 >= 5.5 => 2"]
    model = Adviceptron(advice=rules, advice_weight=0.05).fit(X, y)
    for k in range(3):
        signs = [1 if rule.label == k else -1 for rule in model.advice_]
        own = [Rule(r.D, r.d, s, names=r.names) for r, s in zip(model.advice_, signs)]  # noqa: B905
        single = Adviceptron(advice=own, advice_weight=0.05)
        single.fit(X, np.where(y == k, 1, -1))
        np.testing.assert_allclose(model.coef_[k], single.coef_[0], rtol=1e-9)
        assert model.n_mistakes_[k] == single.n_mistakes_
        assert model.n_advice_updates_[k] == single.n_advice_updates_


def test_sparse_rows_are_the_same_rows():
    _, X, y, rules = random_stream(3)
    X = np.where(np.abs(X) < 0.7, 0.0, np.vstack([X] * 1)[: len(X)])
    X, y = np.vstack([X] * 20), np.tile(y, 20)
    dense = Adviceptron(advice=rules).fit(X, y)
    sparse = Adviceptron(advice=rules).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(dense.coef_, sparse.coef_, rtol=1e-9, atol=1e-12)
    scaled = Adviceptron(advice=rules, standardize=True).fit(sp.csr_array(X), y)
    by_hand = Adviceptron(
        advice=[Rule(r.D * X.std(axis=0), r.d, r.label) for r in rules]
    ).fit(X / X.std(axis=0), y)
    np.testing.assert_allclose(scaled.coef_, by_hand.coef_ / X.std(axis=0), rtol=1e-9)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"advice": "x0 >= 1 => 7"}, "concludes 7, but the classes are"),
        ({"advice": "age >= 1 => 1"}, "mentions 'age'"),
    ],
)
def test_errors_are_sentences(parameters, words):
    X, y = np.ones((2, 1)), [1, -1]
    parameters = {"advice": "x0 >= 1 => 1", **parameters}
    with pytest.raises(ValueError, match=words):
        Adviceptron(**parameters).fit(X, y)


def test_labels_that_were_not_announced():
    model = Adviceptron().partial_fit([[1.0]], [1], classes=[1, -1])
    with pytest.raises(ValueError, match=r"labels \[3\], but the classes are"):
        model.partial_fit([[1.0]], [3])
    with pytest.raises(ValueError, match="in the first call"):
        model.partial_fit([[1.0]], [1], classes=[1, 2])
    with pytest.raises(ValueError, match="needs at least two classes"):
        Adviceptron().partial_fit([[1.0]], [1])
    with pytest.raises(ValueError, match="larger first batch"):
        Adviceptron(standardize=True).partial_fit([[1.0]], [1], classes=[1, 2])


def test_a_given_mean_and_deviation_are_those_of_the_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)) * [3.0, 0.2] + [10.0, -1.0]
    y, rules = X[:, 0] > 10, ["x0 >= 14 => True", "x0 <= 6 => False"]
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    given = Adviceptron(advice=rules, standardize=(X.mean(axis=0), X.std(axis=0)))
    own = Adviceptron(advice=rules, standardize=True)
    np.testing.assert_allclose(given.fit(X, y).coef_, own.fit(X, y).coef_)
    plain = Adviceptron().fit(scaled, y)
    same = Adviceptron(standardize=(X.mean(axis=0), X.std(axis=0))).fit(X, y)
    values = plain.decision_function(scaled)
    np.testing.assert_allclose(same.decision_function(X), values, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("pair", "sentence"),
    [
        ((1.0, 2.0, 3.0), r"a pair \(mean, deviation\) of 2 numbers each"),
        (([0.0] * 3, 1.0), r"a pair \(mean, deviation\) of 2 numbers each"),
        ((0.0, 0.0), "positive deviations"),
        ((np.nan, 1.0), "finite means"),
    ],
    ids=["three", "three columns", "no deviation", "no mean"],
)
def test_impossible_means_and_deviations(pair, sentence):
    with pytest.raises(ValueError, match=sentence):
        Adviceptron(standardize=pair).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])


@pytest.mark.parametrize("standardize", [False, *slow(True)])
def test_scikit_learn_agrees(standardize):
    check_estimator(Adviceptron(standardize=standardize))


def test_empty_regions_are_left_out():
    _, X, y, rules = random_stream(7)
    void = Rule([[1.0] + [0.0] * (X.shape[1] - 1)] * 2, [0, 0], 1)
    void.D[1] *= -1
    void.d[:] = -1
    with pytest.warns(UserWarning, match="No point satisfies"):
        model = Adviceptron(advice=[*rules, void]).fit(X, y)
    assert model.advice_ == rules
    assert model.coef_.tolist() == Adviceptron(advice=rules).fit(X, y).coef_.tolist()


def test_bias_of_a_rule_is_the_edge_of_its_region():
    """For a box b_i is the least w·x over it, also if the rule leaves room."""
    rules = ["2 <= x0 <= 5 => 1", "x0 <= -1 => 0", "7 <= x0 <= 9 => 1"]
    model = Adviceptron(advice=rules, advice_weight=5.0)
    model.partial_fit(np.empty((0, 1)), [], classes=[0, 1])
    edges, signs = [2, -1, 7], [1, -1, 1]
    estimates = []
    for rule, sign, u in zip(
        model.advice_, signs, model.advice_proofs_[0], strict=True
    ):
        estimates.append(float((-sign * rule.D.T @ u)[0]))
    expected = np.mean(np.multiply(edges, estimates))
    assert model.advice_estimate_[0, 1] == pytest.approx(expected, abs=1e-6)


def test_weights_that_do_not_fit_are_refused():
    model = Adviceptron().fit([[1.0, 2.0], [3.0, 4.0]], [0, 1])
    model._weights = model._weights[:, :1]
    with pytest.raises(ValueError, match="Fit it anew"):
        model.partial_fit([[1.0, 2.0]], [0])


# The plain reading is compared with what numba compiles; what is not compiled is used
# by `tests/packaging/test_core.py`.
@pytest.mark.slow
def test_without_numba_the_result_is_the_same():
    script = (
        "import sys; sys.modules['numba'] = None\n"
        "import numpy as np; from lupi import Adviceptron\n"
        "X = np.random.default_rng(0).normal(size=(30, 2))\n"
        "model = Adviceptron().fit(X, X[:, 0] > 0.1)\n"
        "print(*[*model.coef_[0], *model.intercept_])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = Adviceptron().fit(X, X[:, 0] > 0.1)
    expected = [*model.coef_[0], *model.intercept_]
    np.testing.assert_allclose([*map(float, done.stdout.split())], expected, rtol=1e-9)
