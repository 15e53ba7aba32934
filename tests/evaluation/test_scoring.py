"""Scores that suit the target, and sentences for those that do not."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    get_scorer,
    get_scorer_names,
    make_scorer,
    roc_auc_score,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from lupi.evaluation._plain_scores import plain_score
from lupi.evaluation._scoring import check_scorer, choose_scorer, score_on

WORDS = np.array(["no", "yes", "no", "yes", "yes"] * 4)
X = np.zeros((20, 1))


@pytest.mark.parametrize(
    "name", ["f1", "precision", "recall", "jaccard", "average_precision"]
)
def test_scores_of_one_class_take_the_last_of_two_whatever_it_is_called(name):
    model = DummyClassifier(strategy="constant", constant="yes").fit(X, WORDS)
    numbers = (WORDS == "yes").astype(int)
    other = DummyClassifier(strategy="constant", constant=1).fit(X, numbers)
    _, of_words = choose_scorer(name, "classification", WORDS)
    _, of_numbers = choose_scorer(name, "classification", numbers)
    assert of_words(model, X, WORDS) == of_numbers(other, X, numbers)
    if name == "f1":
        assert of_words(model, X, WORDS) == f1_score(numbers, np.ones(20))


class Constant(DummyClassifier):
    """Decision values that differ in their last digits only."""

    def decision_function(self, X):
        return 0.3 + self.size * np.linspace(0, 1, len(X))


@pytest.mark.parametrize(("size", "score"), [(1e-12, 0.5), (1e-7, 1.0)])
def test_the_last_digits_of_a_constant_do_not_rank_rows(size, score):
    target = np.repeat([0, 1], 10)
    model = Constant().fit(X, target)
    model.size = size
    assert score_on(get_scorer("roc_auc"), model, X, target) == (score, None)
    # Probabilities and predictions are the model's own.
    assert score_on(get_scorer("accuracy"), model, X, target) == (0.5, None)


class Asked(DummyClassifier):
    times = 0

    def predict_proba(self, X):
        self.times += 1
        return super().predict_proba(X)


def test_pseudo_values_are_those_of_the_jackknife_and_ask_once():
    rng = np.random.default_rng(0)
    table, target = rng.normal(size=(60, 2)), np.resize([0, 1], 60)
    group, weight = np.arange(60) % 4, rng.uniform(0.5, 2, 60)
    model = LogisticRegression().fit(table, target)
    for name in ("roc_auc", "accuracy", "neg_log_loss"):
        scorer = get_scorer(name)
        total, values = score_on(scorer, model, table, target, weight, group, 4)
        expected = scorer(model, table, target, sample_weight=weight)
        assert total == pytest.approx(expected)
        for number, value in enumerate(values):
            left = group != number
            without = scorer(
                model, table[left], target[left], sample_weight=weight[left]
            )
            assert value == pytest.approx(4 * expected - 3 * without)
    asked = Asked(strategy="prior").fit(table, target)
    score_on(get_scorer("neg_log_loss"), asked, table, target, None, group, 4)
    assert asked.times == 1


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("roc_auc", LogisticRegression()),
        ("roc_auc", DecisionTreeClassifier(max_depth=2)),  # probabilities, with ties
        ("accuracy", LogisticRegression()),
        ("r2", DecisionTreeRegressor(max_depth=2)),
    ],
)
def test_default_scores_are_those_of_scikit_learn_on_any_rows(name, model, weighted):
    rng = np.random.default_rng(1)
    table = rng.normal(size=(60, 2))
    target = table[:, 0] + rng.normal(size=60)
    if name != "r2":
        target = np.where(target > 0, "yes", "no")
    weight = rng.integers(0, 3, 60).astype(float) if weighted else None
    model.fit(table[:30], target[:30])
    scorer = get_scorer(name)
    found = plain_score(scorer, model, table, target, weight)
    for _ in range(20):
        rows = rng.choice(60, rng.integers(8, 60), replace=False)
        more = {"sample_weight": weight[rows]} if weighted else {}
        expected = scorer(model, table[rows], target[rows], **more)
        assert found(rows) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "scorer",
    [
        make_scorer(accuracy_score, greater_is_better=False),
        make_scorer(accuracy_score, normalize=False),
        make_scorer(roc_auc_score, response_method="predict"),
        make_scorer(roc_auc_score, response_method="predict_proba"),
        get_scorer("roc_auc"),
    ],
    ids=["sign", "option", "labels", "probabilities", "default"],
)
def test_pseudo_values_are_those_of_the_scorer_itself(scorer):
    rng = np.random.default_rng(2)
    table = rng.normal(size=(60, 2))
    target = (table[:, 0] + rng.normal(size=60) > 0).astype(int)
    model, group = LogisticRegression().fit(table, target), np.arange(60) % 5
    total, values = score_on(scorer, model, table, target, None, group, 5)
    assert total == pytest.approx(scorer(model, table, target))
    for name, value in enumerate(values):
        rest = group != name
        left = scorer(model, table[rest], target[rest])
        assert value == pytest.approx(5 * total - 4 * left)


@pytest.mark.parametrize("name", ["accuracy", "roc_auc", "r2"])
def test_rows_of_weight_zero_have_no_score(name):
    table, target = np.arange(20.0)[:, None], np.resize([0, 1, 1], 20)
    fitted = DummyRegressor if name == "r2" else DummyClassifier
    model, group = fitted().fit(table, target), np.arange(20) % 5
    weight = (group == 0).astype(float)
    _, values = score_on(get_scorer(name), model, table, target, weight, group, 5)
    assert np.isnan(values[0])
    assert np.isfinite(values[1:]).all()


def test_default_scores_of_rows_that_have_none():
    model = DummyRegressor().fit(X, np.ones(20))
    target = np.r_[np.ones(10), np.arange(10.0)]
    score = plain_score(get_scorer("r2"), model, X, target, None)
    assert np.isnan(score(np.array([3])))
    assert score(np.arange(10)) == 1.0
    model = DummyRegressor().fit(X, np.arange(20.0))
    score = plain_score(get_scorer("r2"), model, X, target, None)
    assert score(np.arange(10)) == 0.0
    for name in ("f1", "roc_auc_ovr"):
        assert plain_score(get_scorer(name), model, X, target, None) is None


def test_a_function_as_score_sees_the_model_and_the_rows():
    table, target = np.arange(20.0)[:, None], np.resize([0, 1], 20)
    model = DummyClassifier(strategy="constant", constant=1).fit(table, target)

    def share(model, X, y):
        assert X.shape == (len(y), 1)
        return model.score(X, y)

    total, values = score_on(share, model, table, target, None, np.arange(20) % 5, 5)
    assert total == 0.5
    assert values == pytest.approx([0.5] * 5)


def test_a_group_without_rows_or_whose_rows_hold_a_class_has_no_value():
    table, target = np.arange(10.0)[:, None], np.array([1, 1] + 8 * [0])
    model = LogisticRegression().fit(table, target)
    group = np.array([0, 0, 1, 1, 1, 3, 3, 3, 3, 3])
    total, values = score_on(
        get_scorer("roc_auc"), model, table, target, None, group, 5
    )
    assert total == 1.0
    assert np.isnan(values).tolist() == [True, False, True, False, True]


def test_variance_of_pseudo_values_is_that_of_another_draw_of_rows():
    rng = np.random.default_rng(0)
    scorer = get_scorer("roc_auc")
    model = LogisticRegression().fit([[-1.0], [1.0]], [0, 1])
    scores, variances = [], []
    for _ in range(150):
        target = np.resize([0, 1], 200)
        table = target[:, None] + rng.normal(scale=1.5, size=(200, 1))
        total, values = score_on(
            scorer, model, table, target, None, np.arange(200) // 2 % 10, 10
        )
        scores.append(total)
        variances.append(np.var(values, ddof=1) / 10)
    assert np.mean(variances) == pytest.approx(np.var(scores), rel=0.2)


def test_defaults_by_target():
    assert choose_scorer(None, "regression", np.arange(9.0))[0] == "r2"
    assert choose_scorer(None, "classification", WORDS)[0] == "roc_auc"
    three = np.resize(["a", "b", "c"], 20)
    assert choose_scorer(None, "classification", three)[0] == "accuracy"


@pytest.mark.parametrize(
    ("name", "task", "target", "words"),
    [
        ("r2", "classification", np.resize([0, 1], 20), "is for numbers"),
        ("neg_mean_squared_error", "classification", WORDS, "is for numbers"),
        ("roc_auc", "classification", np.resize(["a", "b", "c"], 20), "roc_auc_ovr"),
        ("accuracy", "regression", np.arange(20.0), "is for classes"),
        ("roc_auc", "regression", np.arange(20.0), "is for classes"),
    ],
)
def test_a_score_that_cannot_be_taken_is_refused_in_words(name, task, target, words):
    chosen, scorer = choose_scorer(name, task, target)
    with pytest.raises(ValueError, match=words):
        check_scorer(chosen, scorer, task, target)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_every_score_of_scikit_learn_is_taken_or_refused_in_words(task):
    target = np.resize([0, 1], 20) if task == "classification" else np.arange(1.0, 21.0)
    said = {}
    for name in get_scorer_names():
        said[name] = ""
        try:
            check_scorer(*choose_scorer(name, task, target), task, target)
        except ValueError as error:
            said[name] = str(error)
    assert all(not words or words.startswith("The score ") for words in said.values())
    taken = {name for name, words in said.items() if not words}
    usual = {
        "classification": {"accuracy", "balanced_accuracy", "roc_auc", "f1"}
        | {"neg_log_loss", "neg_brier_score", "matthews_corrcoef"},
        "regression": {"r2", "neg_mean_squared_error", "neg_mean_absolute_error"},
    }
    assert usual[task] <= taken
    (other,) = set(usual) - {task}
    assert not usual[other] & taken
