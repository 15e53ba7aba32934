"""Scores of a comparison: their choice, their pseudo-values, and refused ones."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    f1_score,
    get_scorer,
    get_scorer_names,
    make_scorer,
    roc_auc_score,
)
from sklearn.preprocessing import StandardScaler

from lupi.evaluation import Comparison, column_scores, compare
from lupi.report import render_html
from tests.comparisons import FirstColumn, FirstNumber
from tests.toys import TaughtClassifier

pytestmark = pytest.mark.usefixtures("undrawn")

N = 80
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 2))
P = rng.normal(size=(N, 1))
Y = (X[:, 0] + rng.normal(size=N) > 0).astype(int)
HALVES = [(np.arange(40), np.arange(40, N)), (np.arange(40, N), np.arange(40))]


class Rounded(FirstColumn):
    """Has probabilities with ties instead of decision values."""

    decision_function = property()

    def predict_proba(self, X):
        up = (np.round(np.clip(X[:, 0], -1, 1)) + 2) / 4
        return np.column_stack([1 - up, up])

    def predict(self, X):
        return self.classes_[(X[:, 0] > 0.5).astype(int)]


def scored(y=Y, model=None, **options):
    model = FirstColumn() if model is None else model
    return compare(X, y, P, methods=model, cv=HALVES, n_candidates=1, **options)


def held_out(result, split):
    """Return a fitted model and the test rows of a split, as the arm *without*."""
    train, test = HALVES[split]
    scaler = StandardScaler().fit(X[train])
    model = result.study.methods[0].build().fit(scaler.transform(X[train]), Y[train])
    return model, scaler.transform(X[test]), test


def lines(result):
    """Return score and pseudo-values of the arm *without*, by split."""
    folds = result.folds[result.folds["arm"] == "without"].sort_values("split")
    return list(zip(folds["score"], folds["group_scores"], strict=True))


@pytest.mark.parametrize(
    "name", ["f1", "precision", "recall", "jaccard", "average_precision"]
)
def test_scores_of_one_class_take_the_last_of_two_whatever_it_is_called(name):
    words = np.array(["no", "yes"])[Y]
    of_numbers, of_words = (lines(scored(y, scoring=name)) for y in (Y, words))
    assert of_numbers == of_words
    if name == "f1":
        model, table, test = held_out(scored(scoring="f1"), 0)
        assert of_words[0][0] == f1_score(Y[test], model.predict(table))


class NearlyConstant(FirstColumn):
    """Decision values that differ in their last digits only."""

    def decision_function(self, X):
        return 0.3 + self.strength * np.linspace(0, 1, len(X))


@pytest.mark.parametrize(("size", "chance"), [(1e-12, True), (1e-7, False)])
def test_the_last_digits_of_a_constant_do_not_rank_rows(size, chance):
    (score, _), _ = lines(scored(model=NearlyConstant(strength=size)))
    expected = 0.5 if chance else roc_auc_score(Y[40:], np.arange(40))
    assert score == pytest.approx(expected)


def share(model, X, y, sample_weight=None):
    """A function as score, which is given the model and the rows."""
    assert X.shape[0] == len(y)
    return np.average(model.predict(X) == y, weights=sample_weight)


@pytest.mark.parametrize(
    ("scoring", "model", "weighted"),
    [
        ("roc_auc", FirstColumn(), False),
        ("roc_auc", FirstColumn(), True),
        ("roc_auc", Rounded(), True),
        ("accuracy", FirstColumn(), False),
        ("accuracy", FirstColumn(), True),
        ("neg_log_loss", Rounded(), True),
        (make_scorer(accuracy_score, greater_is_better=False), FirstColumn(), True),
        (make_scorer(accuracy_score, normalize=False), FirstColumn(), True),
        (make_scorer(roc_auc_score, response_method="predict"), FirstColumn(), True),
        (make_scorer(roc_auc_score, response_method="predict_proba"), Rounded(), True),
        pytest.param(share, FirstColumn(), False, id="a function"),
        pytest.param(share, FirstColumn(), True, id="a function of weights"),
    ],
    ids=str,
)
def test_pseudo_values_are_those_of_the_jackknife(scoring, model, weighted):
    weight = rng.integers(1, 4, N).astype(float) if weighted else None
    result = scored(model=model, scoring=scoring, sample_weight=weight)
    scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
    group = result.study.group_of_row
    for split, (total, values) in enumerate(lines(result)):
        fitted, table, test = held_out(result, split)

        def score(rows, fitted=fitted, table=table, test=test):
            more = {"sample_weight": weight[test][rows]} if weighted else {}
            return scorer(fitted, table[rows], Y[test][rows], **more)

        assert total == pytest.approx(score(np.arange(40)))
        count = len(np.unique(group[test]))
        assert count == len(values) > 2
        for number, value in enumerate(values):
            left = score(np.flatnonzero(group[test] != number))
            assert value == pytest.approx(count * total - (count - 1) * left)


def test_pseudo_values_of_regression():
    target = X[:, 0] + rng.normal(size=N)
    result = scored(target, FirstNumber(), scoring="r2")
    group, scorer = result.study.group_of_row, get_scorer("r2")
    (total, values), _ = lines(result)
    train, test = HALVES[0]
    table = StandardScaler().fit(X[train]).transform(X[test])
    model = FirstNumber().fit(table, target[test])
    assert total == pytest.approx(scorer(model, table, target[test]))
    for number, value in enumerate(values):
        rest = group[test] != number
        left = scorer(model, table[rest], target[test][rest])
        assert value == pytest.approx(len(values) * total - (len(values) - 1) * left)


class Counting(FirstColumn):
    times = 0

    def decision_function(self, X):
        Counting.times += 1
        return super().decision_function(X)


def test_a_model_predicts_once_for_all_its_pseudo_values():
    Counting.times = 0
    scored(model=Counting())
    # Five arms on two splits, once for the score and once for the classes.
    assert Counting.times == 20


@pytest.mark.parametrize("name", ["accuracy", "roc_auc", "r2"])
def test_rows_of_weight_zero_have_no_score(name):
    y, model = (Y, FirstColumn()) if name != "r2" else (X[:, 0].copy(), FirstNumber())
    group = scored(y, model).study.group_of_row
    weight = (group == 0).astype(float)
    (_, values), _ = lines(scored(y, model, scoring=name, sample_weight=weight))
    assert np.isnan(np.array(values, dtype=float)).tolist() == [True] + [False] * (
        len(values) - 1
    )


def test_a_group_that_has_all_rows_of_a_class_has_no_pseudo_value():
    # The class 1 occurs in one group of each half.
    groups = np.arange(N) // 4
    y = np.isin(groups, (0, 10)).astype(int)
    result = scored(y, groups=groups, scoring="roc_auc")
    for split, (_, values) in enumerate(lines(result)):
        test = HALVES[split][1]
        of_class = result.study.group_of_row[test][y[test] == 1][0]
        there = np.unique(result.study.group_of_row[test])
        assert np.isnan(np.array(values, dtype=float)[of_class])
        assert np.isfinite(np.array(values, dtype=float)[there]).sum() > 0


# The pseudo-values themselves are those of the jackknife, above.
@pytest.mark.slow
def test_variance_of_pseudo_values_is_that_of_another_draw_of_rows():
    # One training set, and many test sets of 60 rows from the same population.
    n_sets = 60
    y = np.resize([0, 1], 20 + 60 * n_sets)
    table = y[:, None] + rng.normal(scale=1.5, size=(len(y), 1))
    splits = [
        (np.arange(20), np.arange(20 + 60 * k, 80 + 60 * k)) for k in range(n_sets)
    ]
    result = compare(table, y, table, methods=FirstColumn(), cv=splits, n_candidates=1)
    scores, pseudo = zip(*lines(result), strict=True)
    # A test set may have no row of a group.
    pseudo = np.array(pseudo, dtype=float)
    counts = np.isfinite(pseudo).sum(axis=1)
    expected = np.mean(np.nanvar(pseudo, axis=1, ddof=1) / counts)
    # The variance of 60 scores has a relative standard error of 18 %.
    assert np.var(scores) == pytest.approx(expected, rel=0.4)


def test_probabilities_are_compared_with_the_shares_of_the_class():
    result = scored(model=Rounded())
    folds = result.folds.set_index(["arm", "split"])
    for split, (_, test) in enumerate(HALVES):
        model, rows, _ = held_out(result, split)
        chance = model.predict_proba(rows)[:, 1]
        bins = np.array(folds.at[("with", split), "reliability"])
        assert bins[:, 0].sum() == len(test)
        # The probabilities of this model are a quarter, a half and three quarters.
        for value, line in ((0.25, bins[2]), (0.5, bins[5]), (0.75, bins[7])):
            own = chance == value
            assert line.tolist() == [own.sum(), value * own.sum(), Y[test][own].sum()]
    page = render_html(result)
    assert 'aria-label="Reliability of the probabilities. ' in page
    assert folds.at[("oracle", 0), "reliability"] is None
    # Decision values are no probabilities.
    plain = scored()
    assert plain.folds["reliability"].isna().all()
    assert "Reliability" not in render_html(plain)


def test_defaults_by_target():
    assert scored().settings["scoring"] == "roc_auc"
    assert scored(X[:, 0], FirstNumber()).settings["scoring"] == "r2"
    three = np.resize(["a", "b", "c"], N)
    assert scored(three).settings["scoring"] == "roc_auc_ovr"


def test_several_classes_have_the_mean_auc_against_the_others():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], [40, 40, 10])
    X = rng.normal(size=(90, 2)) + np.column_stack([y == "b", y == "c"])
    weight = rng.uniform(0.5, 2.0, size=90)
    result = compare(
        X,
        y,
        X,
        methods=TaughtClassifier(multi_class="ovr"),
        cv=[(np.arange(0, 90, 2), np.arange(1, 90, 2)), (np.arange(1, 90, 2), [0, 88])],
        sample_weight=weight,
        n_candidates=1,
    )
    first = result.folds[result.folds["arm"] == "without"].iloc[0]
    train, test, _ = result.study.splits[0]
    scaler = StandardScaler().fit(X[train])
    model = TaughtClassifier(multi_class="ovr").fit(
        scaler.transform(X[train]), y[train], sample_weight=weight[train]
    )
    values = model.decision_function(scaler.transform(X[test]))
    expected = [
        roc_auc_score(y[test] == label, column, sample_weight=weight[test])
        for label, column in zip("abc", values.T, strict=True)
    ]
    assert first["score"] == pytest.approx(np.mean(expected))
    # No class has fewer than 10 % of the rows.
    assert result.settings["second"] is None
    assert result.settings["constant"] == pytest.approx(0.5)
    # The second split tests one row of two classes, and none of the third.
    scores = result.folds.loc[result.folds["arm"] == "without", "score"]
    assert scores.iloc[1] in (0.0, 0.5, 1.0)


class Softmax(FirstColumn):
    """Has probabilities, and decision values with an offset of each row."""

    def decision_function(self, X):
        return self.strength * np.outer(X[:, 0], [-1.0, 0.0, 1.0]) + 3.0 * X[:, [1]]

    def predict_proba(self, X):
        return softmax(self.decision_function(X), axis=1)

    def predict(self, X):
        return self.classes_[self.decision_function(X).argmax(axis=1)]


def test_several_classes_have_the_scores_of_scikit_learn():
    """Decision values say which class a row has, not which row is more of a class."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(["a", "b", "c"], [140, 80, 20]))
    X = rng.normal(size=(240, 2)) + np.column_stack([y == "c", y == "b"])
    weight = rng.uniform(0.5, 2.0, size=240)
    result = compare(X, y, X, methods=Softmax(), cv=2, sample_weight=weight)
    assert result.settings["second"]["class"] == "c"
    outside = result.outside_baseline()
    scorer = get_scorer("roc_auc_ovr")
    folds = result.folds[result.folds["arm"] == "without"].set_index("split")
    for number, (train, test, _) in enumerate(result.study.splits):
        scaler = StandardScaler().fit(X[train])
        tables = scaler.transform(X[train]), scaler.transform(X[test])
        for model, score in (
            (Softmax(), folds.at[number, "score"]),
            (HistGradientBoostingClassifier(random_state=0), outside["scores"][number]),
        ):
            model.fit(tables[0], y[train], sample_weight=weight[train])
            expected = scorer(model, tables[1], y[test], sample_weight=weight[test])
            assert score == pytest.approx(expected)
        chance = Softmax().fit(X, y).predict_proba(tables[1])[:, 2]
        expected = average_precision_score(
            y[test] == "c", chance, sample_weight=weight[test]
        )
        assert folds.at[number, "second_score"] == pytest.approx(expected)


@pytest.mark.parametrize(("strength", "chance"), [(1e-13, True), (1e-7, False)])
def test_the_last_digits_of_a_probability_do_not_rank_rows(strength, chance):
    y = np.resize(["a", "b", "c"], N)
    (score, _), _ = lines(scored(y, model=Softmax(strength=strength)))
    assert (score == 0.5) == chance


def test_a_rare_class_has_its_average_precision_and_the_majority_its_rate():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(200) % 20 == 0, "late", "paid")
    X = (y == "late")[:, None] + rng.normal(size=(200, 2))
    result = compare(X, y, X, methods=FirstColumn(), cv=2)
    second = {"class": "late", "share": 0.05, "others": []}
    assert result.settings["second"] == second
    assert max(result.settings["shares"]) == 0.95
    line = result.folds.iloc[0]
    _, test, _ = result.study.splits[0]
    # The first column ranks "paid", the second class, last.
    expected = average_precision_score(y[test] == "late", -X[test, 0])
    assert line["second_score"] == pytest.approx(expected)
    mean = result.folds.groupby("arm")["second_score"].mean()["with"]
    table = result.table.set_index("arm")
    assert table.at["with", "average_precision"] == pytest.approx(mean)
    page = render_html(result)
    low, high = (
        table.at["with", f"average_precision_{end}"] for end in ("low", "high")
    )
    assert 0 <= low < mean < high
    shown = page.partition("– average precision of class late (random")[2]
    assert f">{mean:.3f}<" in shown.partition("</tr>")[0]
    # Rankings of 5 among 100 rows, drawn here.
    ranked = [np.eye(100)[rng.choice(100, 5, replace=False)].sum(axis=0) for _ in y]
    drawn = [average_precision_score(rows, -np.arange(100)) for rows in ranked]
    random = result.settings["random"]["average_precision"]
    assert abs(random - np.mean(drawn)) < 4 * np.std(drawn) / np.sqrt(len(drawn))
    right = result.folds["also"].map(lambda scores: scores["accuracy"][0]).mean()
    assert table.at["with", "accuracy"] == pytest.approx(right)
    # Beside the model, those of the majority and of a random ranking.
    for name, number in (("accuracy", right), ("constant prediction", 0.5)):
        shown = page.partition(f"{name}<")[2].partition("</tr>")[0]
        assert f">{number:.3f}<" in shown
    assert f"class late (random ranking: {random:.3f})<" in page
    majority = page.partition(">constant prediction<")[2].partition("accuracy<")[2]
    assert ">0.950<" in majority.partition("</tr>")[0]


def test_every_rare_class_has_its_average_precision(tmp_path):
    rng = np.random.default_rng(0)
    y = np.full(400, "negative")
    y[:30], y[30:50] = "positive", "invalid"
    X = (y == "positive")[:, None] + rng.normal(size=(400, 2))
    model = TaughtClassifier(multi_class="ovr")
    result = compare(X, y, X, methods=model, cv=2)
    second = {"class": "invalid", "share": 0.05, "others": []}
    assert result.settings["second"] == second
    page = render_html(result)
    table = Comparison.from_json(result.to_json(tmp_path / "result.json")).table
    table = table.set_index("arm")
    columns = {"invalid": 0, "positive": 2}
    for label, share in (("positive", 0.075), ("invalid", 0.05)):
        expected = []
        for train, test, _ in result.study.splits:
            scaler = StandardScaler().fit(X[train])
            model.fit(scaler.transform(X[train]), y[train])
            values = model.decision_function(scaler.transform(X[test]))
            own = values[:, columns[label]]
            expected.append(average_precision_score(y[test] == label, own))
        name = f"average_precision of {label}"
        score, low, high = (
            table.at["without", name + end] for end in ("", "_low", "_high")
        )
        assert score == pytest.approx(np.mean(expected))
        # These are shares; with two splits the intervals are wide.
        assert 0 <= low <= high <= 1
        assert result.settings["also"][name] == pytest.approx(share)
        shown = page.partition(f"– average precision of class {label} (random")[2]
        assert f">{score:.3f}<" in shown.partition("</tr>")[0]


def test_a_class_needs_three_test_rows_in_a_split_for_an_average_precision():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "rare", "rarest"], [120, 78, 15, 6])
    X = (y == "rare")[:, None] + rng.normal(size=(219, 2))
    model = TaughtClassifier(multi_class="ovr")
    result = compare(X, y, X, methods=model, cv=5, n_candidates=1)
    second = {
        "class": "rare",
        "share": pytest.approx(0.07, abs=0.01),
        "others": ["rarest"],
    }
    assert result.settings["second"] == second
    assert set(result.settings["random"]) == {"average_precision"}
    page = render_html(result)
    assert "– average precision of class rare (random ranking: 0." in page
    assert "precision of class rarest" not in page
    assert "No average precision is shown for rarest" in page


def test_the_score_of_a_constant_is_the_share_of_the_test_rows():
    rng = np.random.default_rng(0)
    late = rng.random(300) < np.linspace(0.15, 0.02, 300)
    X = late[:, None] + rng.normal(size=(300, 2))
    time = np.arange(300)
    result = compare(X, late, X, methods=FirstColumn(), time=time, cv=2)
    tests = [late[split.test].mean() for split in result.study.splits]
    assert result.settings["second"]["share"] == pytest.approx(np.mean(tests))
    assert np.mean(tests) < 0.8 * late.mean()


@pytest.mark.parametrize(
    ("name", "y", "words"),
    [
        ("r2", Y, "is for numbers"),
        ("neg_mean_squared_error", Y.astype(str), "is for numbers"),
        ("roc_auc", np.resize(["a", "b", "c"], N), "roc_auc_ovr"),
        ("f1", np.resize(["a", "b", "c"], N), "f1_macro"),
        ("accuracy", X[:, 0], "is for classes"),
        ("roc_auc", X[:, 0], "is for classes"),
    ],
)
def test_a_score_that_cannot_be_computed_is_refused_in_words(name, y, words):
    model = FirstNumber() if y.dtype == float else FirstColumn()
    with pytest.raises(ValueError, match=words):
        scored(y, model, scoring=name)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_every_score_of_scikit_learn_is_taken_or_refused_in_words(task):
    # `column_scores` takes the scores of `compare`, and fits small trees only.
    y = Y if task == "classification" else np.exp(X[:, 0])
    said = {}
    for name in get_scorer_names():
        said[name] = ""
        try:
            column_scores(X[:, :1], y, scoring=name, cv=2)
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


def test_an_estimator_of_scikit_learn_has_its_arms_without_privileged_rows():
    result = scored(model=LogisticRegression())
    assert "takes no 'privileged'" in result.failures["LogisticRegression"]
    assert all(np.isfinite(score) for score, _ in lines(result))
