"""Scores that suit the target, and sentences for those that do not."""

import pickle

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import f1_score, get_scorer, get_scorer_names

from lupi.datasets import make_mediator
from lupi.evaluation._plan import plan
from lupi.evaluation._scoring import SteadyScorer, check_scorer, choose_scorer

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
    scorer = SteadyScorer(get_scorer("roc_auc"))
    assert scorer(model, X, target) == score
    # Probabilities and predictions are the model's own.
    assert SteadyScorer(get_scorer("accuracy"))(model, X, target) == 0.5
    assert pickle.loads(pickle.dumps(scorer))(model, X, target) == score


def test_a_comparison_by_name_uses_it():
    data = make_mediator(60, random_state=0)
    study = plan(data.data, data.target, data.privileged, scoring="roc_auc")
    assert isinstance(study.scorer, SteadyScorer)
    assert study.settings["optimum"] == 1.0


def test_defaults_by_target():
    assert choose_scorer(None, "regression", np.arange(9.0))[0] == "r2"
    assert choose_scorer(None, "classification", WORDS)[0] == "roc_auc"
    three = np.resize(["a", "b", "c"], 20)
    assert choose_scorer(None, "classification", three)[0] == "accuracy"


@pytest.mark.parametrize(
    ("name", "task", "target", "words"),
    [
        ("r2", "classification", np.resize([0, 1], 20), "measures numbers"),
        ("neg_mean_squared_error", "classification", WORDS, "measures numbers"),
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
