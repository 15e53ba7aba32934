import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator

from lupi.advice import KnowledgeBasedSVC, Rule
from tests.marks import slow

RULES = ["bmi >= 30 and glucose >= 126 => 1", "bmi <= 25 and glucose <= 100 => 0"]


def patients(seed=0, n=60):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.uniform(21, 80, n),
            "bmi": rng.normal(31, 6, n),
            "glucose": rng.normal(120, 30, n),
        }
    )
    y = (X["glucose"] + 2 * X["bmi"] + rng.normal(0, 20, n) > 185).astype(int)
    return X, y


@pytest.mark.parametrize("standardize", [True, *slow(False)])
def test_scikit_learn_agrees(standardize):
    check_estimator(KnowledgeBasedSVC(standardize=standardize))


# ½‖w − w₀‖² is at most the gap, and that at most 1e-10 times the objective and one.
CLOSE = 1e-4


def test_two_half_spaces_alone_have_a_closed_form():
    """x0 >= 3 => 1, x0 <= 1 => 0: the widest margin is w = 1, b = 2."""
    model = KnowledgeBasedSVC.from_advice(
        ["x0 >= 3 => 1", "x0 <= 1 => 0"], advice_weight=100.0
    )
    # To the root of the tolerance of 1e-10, since ½‖w − w₀‖² is at most the gap.
    np.testing.assert_allclose(model.coef_, [[1.0]], atol=1e-5)
    np.testing.assert_allclose(model.intercept_, [-2.0], atol=2e-5)
    assert model.objective_ == pytest.approx(0.5)
    assert model.advice_satisfied_.all()
    assert model.advice_violation_.tolist() == [0, 0]
    assert model.predict([[3.0], [1.0]]).tolist() == [1, 0]


def test_one_rule_acts_like_its_closest_point():
    """The dual: a region is the point of it that is hardest to get right."""
    box = Rule.parse("2 <= x0 <= 5 and 2 <= x1 <= 7 => 1")
    row, label = np.array([[0.0, 0.0]]), [0]
    hard = KnowledgeBasedSVC(1e4, advice=box, advice_weight=np.inf, classes=[0, 1]).fit(
        row, label
    )
    points = KnowledgeBasedSVC(1e4).fit([[0.0, 0.0], [2.0, 2.0]], [0, 1])
    np.testing.assert_allclose(hard.coef_, points.coef_, atol=1e-5)
    np.testing.assert_allclose(hard.intercept_, points.intercept_, atol=1e-5)
    np.testing.assert_allclose(hard.coef_, [[0.5, 0.5]], atol=1e-5)


def test_violation_is_that_of_the_worst_corner():
    X = np.array([[-1.0, 0.0], [1.0, 0.0]] * 5)
    y = np.array([0, 1] * 5)
    wrong = Rule.parse("1 <= x0 <= 2 and 0 <= x1 <= 1 => 0")
    model = KnowledgeBasedSVC(10.0, advice=wrong, advice_weight=1e-4).fit(X, y)
    corners = np.array([[1.0, 0], [1, 1], [2, 0], [2, 1]])
    worst = model.decision_function(corners).max()
    assert not model.advice_satisfied_[0]
    assert model.advice_violation_[0] == pytest.approx(worst, rel=1e-6)
    endless = clone(model).set_params(advice="x0 >= 1 => 0").fit(X, y)
    assert endless.advice_violation_[0] == np.inf
    assert not endless.advice_satisfied_[0]


def test_rules_in_original_units_are_standardised_exactly():
    X, y = patients()
    mean, scale = X.mean().to_numpy(), X.std(ddof=0).to_numpy()
    by_hand = []
    for text in RULES:
        rule = Rule.parse(text)
        D, d = rule.region(list(X.columns), 3)
        by_hand.append(Rule(D * scale, d - D @ mean, rule.label))
    for fit_intercept in (True, False):
        inside = KnowledgeBasedSVC(
            advice=RULES, standardize=True, fit_intercept=fit_intercept
        ).fit(X, y)
        outside = KnowledgeBasedSVC(advice=by_hand, fit_intercept=fit_intercept)
        outside.fit((X.to_numpy() - mean) / scale, y)
        assert inside.objective_ == pytest.approx(outside.objective_, rel=1e-9)
        np.testing.assert_allclose(
            inside.decision_function(X),
            outside.decision_function((X.to_numpy() - mean) / scale),
            atol=CLOSE,
        )
        assert (inside.advice_satisfied_ == outside.advice_satisfied_).all()


def test_units_do_not_matter_when_standardised():
    X, y = patients()
    model = KnowledgeBasedSVC(advice=RULES, standardize=True).fit(X, y)
    grams = X.assign(bmi=1000 * X["bmi"])
    rules = [text.replace("bmi", "0.001*bmi") for text in RULES]
    other = KnowledgeBasedSVC(advice=rules, standardize=True).fit(grams, y)
    np.testing.assert_allclose(
        model.decision_function(X), other.decision_function(grams), atol=CLOSE
    )


def test_advice_helps_where_rows_are_silent():
    X, y = patients(n=400)
    X, labels = (X - X.mean()) / X.std(), y.to_numpy()
    rules = ["bmi >= 0 and glucose >= 0.2 => 1", "bmi <= -1 and glucose <= -0.6 => 0"]
    gains = []
    for begin in range(0, 400, 20):
        rows = np.arange(begin, begin + 20)
        few = [*rows[labels[rows] == 0][:2], *rows[labels[rows] == 1][:2]]
        scores = [
            KnowledgeBasedSVC(advice=advice).fit(X.iloc[few], labels[few]).score(X, y)
            for advice in (None, rules)
        ]
        gains.append(scores[1] - scores[0])
    assert np.mean(gains) > 3 * np.std(gains) / np.sqrt(len(gains))


def test_contradictions_between_hard_rules_are_reported_by_name():
    rules = [
        Rule.parse("a >= 1 => 1", name="large"),
        Rule.parse("a >= 3 and b >= 0 => 1"),
        Rule.parse("a >= 2 and b >= 3 => 0", name="both"),
        Rule.parse("a <= -5 => 0", name="small"),
    ]
    with pytest.raises(ValueError, match="hard rules") as caught:
        KnowledgeBasedSVC.from_advice(rules, advice_weight=np.inf)
    message = str(caught.value)
    assert "'both'" in message
    assert ("'large'" in message) != ("'a >= 3 and b >= 0 => 1'" in message)
    assert "'small'" not in message
    # As soon as one of them is soft the others hold.
    weights = [np.inf, 1.0, 1.0, np.inf]
    model = KnowledgeBasedSVC.from_advice(rules, advice_weight=weights)
    assert model.advice_satisfied_[[0, 3]].all()


def test_a_single_hard_rule_can_be_impossible_without_an_intercept():
    with pytest.raises(ValueError, match="through the origin"):
        KnowledgeBasedSVC.from_advice(
            "x0 <= 1 and x0 >= -1 => 1",
            classes=[0, 1],
            advice_weight=np.inf,
            fit_intercept=False,
        )


def test_several_classes():
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    rules = [
        "`petal length (cm)` <= 2 and 0 <= `petal width (cm)` <= 0.5 and "
        "4 <= `sepal length (cm)` <= 6 and 2 <= `sepal width (cm)` <= 5 => setosa",
        "`petal length (cm)` >= 6 => virginica",
    ]
    model = KnowledgeBasedSVC(advice=rules, advice_weight=5.0).fit(X, names[y])
    assert model.coef_.shape == (3, 4)
    assert model.decision_function(X).shape == (150, 3)
    assert model.score(X, names[y]) > 0.7
    assert model.objective_.shape == model.duality_gap_.shape == (3,)
    for k, label in enumerate(names):
        single = KnowledgeBasedSVC(
            advice=[
                Rule(rule.D, rule.d, rule.label == label, names=rule.names)
                for rule in model.advice_
            ],
            advice_weight=5.0,
        ).fit(X, names[y] == label)
        np.testing.assert_allclose(model.coef_[k], single.coef_[0], atol=CLOSE)
    # Satisfied means that the label wins at every corner of the box.
    low, high = [4, 2, 0, 0], [6, 5, 2, 0.5]
    corners = np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(4, -1).T
    values = model.decision_function(pd.DataFrame(corners, columns=X.columns))
    lead = (values[:, [0]] - values[:, 1:]).min()
    box = "0 <= `petal length (cm)`"
    model.set_params(advice=[f"{box} and {rules[0]}", rules[1]]).fit(X, names[y])
    values = model.decision_function(pd.DataFrame(corners, columns=X.columns))
    lead = (values[:, [0]] - values[:, 1:]).min()
    assert model.advice_satisfied_[0] == (lead > 0)
    assert model.advice_violation_[0] == pytest.approx(max(-lead, 0), abs=1e-6)


def test_weights_are_copies():
    X, y = patients(n=30)
    weight = np.random.default_rng(0).integers(0, 4, 30)
    weighted = KnowledgeBasedSVC(advice=RULES).fit(X, y, sample_weight=weight)
    copies = KnowledgeBasedSVC(advice=RULES).fit(
        X.loc[X.index.repeat(weight)], y.repeat(weight)
    )
    assert weighted.objective_ == pytest.approx(copies.objective_, rel=1e-6)
    np.testing.assert_allclose(weighted.coef_, copies.coef_, atol=CLOSE)
    assert not np.isin(weighted.support_, np.flatnonzero(weight == 0)).any()
    balanced = KnowledgeBasedSVC(advice=RULES, class_weight="balanced").fit(X, y)
    share = len(y) / (2 * np.bincount(y))
    by_hand = KnowledgeBasedSVC(advice=RULES).fit(X, y, sample_weight=share[y])
    np.testing.assert_allclose(balanced.coef_, by_hand.coef_, atol=CLOSE)


@pytest.mark.parametrize("standardize", [False, True])
def test_sparse_rows_are_the_same_rows(standardize):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4)) * (rng.random((50, 4)) < 0.5)
    y = (X.sum(axis=1) > 0).astype(int)
    model = KnowledgeBasedSVC(advice="x0 >= 1 => 1", standardize=standardize)
    sparse = clone(model).fit(sp.csr_matrix(X), y)
    dense = model.fit(X, y)
    # The intercept is free, so centring changes nothing but the numbers inside.
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=CLOSE)
    np.testing.assert_allclose(
        dense.decision_function(X),
        sparse.decision_function(sp.csr_array(X)),
        atol=CLOSE,
    )


def test_zero_weight_takes_a_rule_out_but_still_judges_it():
    X, y = patients()
    ignored = KnowledgeBasedSVC(advice=RULES, advice_weight=0.0).fit(X, y)
    np.testing.assert_allclose(ignored.coef_, KnowledgeBasedSVC().fit(X, y).coef_)
    assert len(ignored.advice_satisfied_) == 2


def test_no_rows_at_all():
    table = pd.DataFrame(columns=["age", "bmi", "glucose"], dtype=float)
    model = KnowledgeBasedSVC(advice=RULES).fit(table, [])
    assert model.coef_[0, 0] == 0
    assert model.feature_names_in_.tolist() == ["age", "bmi", "glucose"]
    same = KnowledgeBasedSVC.from_advice(RULES)
    assert same.feature_names_in_.tolist() == ["bmi", "glucose"]
    np.testing.assert_allclose(model.coef_[0, 1:], same.coef_[0], atol=CLOSE)
    arrays = KnowledgeBasedSVC(advice=["x1 >= 1 => a", "x0 <= 0 => b"])
    assert arrays.fit(np.empty((0, 2)), []).classes_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        KnowledgeBasedSVC().fit(np.empty((0, 2)), [])
    with pytest.raises(ValueError, match="X has no rows, but y has 1"):
        arrays.fit(np.empty((0, 2)), [1])
    with pytest.raises(ValueError, match="needs at least two, but there is 0"):
        arrays.set_params(standardize=True).fit(np.empty((0, 2)), [])


def test_warns_of_rules_that_say_nothing():
    with pytest.warns(UserWarning, match="conclude the same class"):
        model = KnowledgeBasedSVC.from_advice("a >= 1 => 1", classes=[0, 1])
    np.testing.assert_allclose(model.coef_, 0, atol=1e-4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KnowledgeBasedSVC.from_advice(
            "a >= 1 => 1", classes=[0, 1], fit_intercept=False
        )
    X, y = patients()
    with pytest.warns(UserWarning, match="No point satisfies .* 'typo'"):
        KnowledgeBasedSVC(
            advice=Rule.parse("bmi >= 30 and bmi <= 25 => 1", name="typo")
        ).fit(X, y)


def test_warns_when_it_did_not_converge():
    X, y = patients()
    with pytest.warns(ConvergenceWarning, match="did not reach tol"):
        model = KnowledgeBasedSVC(advice=RULES, max_iter=2).fit(X, y)
    assert not model.converged_


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"advice_weight": [1.0]}, r"one number per rule \(2\)"),
        ({"advice_weight": [-1.0, 1.0]}, "must not be negative"),
        ({"advice": "bmi >= 1 => sick"}, "concludes 'sick', but the classes are"),
        ({"advice": "weight >= 1 => 1"}, "mentions 'weight'"),
    ],
)
def test_errors_are_sentences(parameters, words):
    X, y = patients()
    with pytest.raises(ValueError, match=words):
        KnowledgeBasedSVC(**{"advice": RULES, **parameters}).fit(X, y)


def test_searches_over_the_weight_of_the_advice():
    X, y = patients()
    search = GridSearchCV(
        KnowledgeBasedSVC(
            advice=[Rule.parse(text) for text in RULES], standardize=True
        ),
        {"advice_weight": [0.0, 1.0], "C": [0.1, 1.0]},
        cv=3,
    ).fit(X, y)
    assert search.best_score_ > 0.6
