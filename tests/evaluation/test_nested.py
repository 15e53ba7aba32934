"""Nested cross-validation against a plain reading."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import ParameterSampler, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from lupi.datasets import make_mediator, make_plane
from lupi.evaluation import nested_cross_validate
from lupi.svm import SVCPlus
from tests.toys import TaughtClassifier, TaughtRegressor


@pytest.fixture(scope="module")
def data():
    return make_mediator(90, n_features=5, random_state=0)


def nested(data, **options):
    options = {"param_grid": {"alpha": [0.1, 10.0, 1000.0]}, "cv": 3, "inner_cv": 2} | (
        options
    )
    return nested_cross_validate(
        TaughtClassifier(), data.data, data.target, data.privileged, **options
    )


def plain_scores(data, alpha, train, test):
    model = TaughtClassifier(alpha=alpha)
    model.fit(data.data[train], data.target[train], privileged=data.privileged[train])
    predicted = model.predict(data.data[test])
    truth = data.target[test]
    return accuracy_score(truth, predicted), f1_score(truth, predicted)


def test_a_plain_reading_gives_the_same(data):
    alphas = [0.1, 10.0, 1000.0]
    result = nested(data, random_state=3)
    outer = StratifiedKFold(3, shuffle=True, random_state=3)
    folds = result.folds.set_index(["select_by", "split"])
    for split, (train, test) in enumerate(outer.split(data.data, data.target)):
        inner = StratifiedKFold(2, shuffle=True, random_state=3 + split)
        means = [
            np.mean(
                [
                    plain_scores(data, alpha, train[one], train[two])
                    for one, two in inner.split(train, data.target[train])
                ],
                axis=0,
            )
            for alpha in alphas
        ]
        by_accuracy = max(range(3), key=lambda i: (means[i][0], means[i][1]))
        by_f = max(range(3), key=lambda i: (means[i][1], means[i][0]))
        for metric, best in (("accuracy", by_accuracy), ("f1", by_f)):
            line = folds.loc[(metric, split)]
            assert line["params"] == {"alpha": alphas[best]}
            expected = plain_scores(data, alphas[best], train, test)
            assert (line["accuracy"], line["f1"]) == pytest.approx(expected)
            assert line["inner_accuracy"] == pytest.approx(means[best][0])


def test_the_table_reports_both_selections(data):
    result = nested(data)
    assert result.table["select_by"].tolist() == ["accuracy", "f1"]
    part = result.folds[result.folds["select_by"] == "f1"]
    assert result.table.loc[1, "accuracy"] == pytest.approx(part["accuracy"].mean())
    assert result.table.loc[1, "f1_std"] == pytest.approx(part["f1"].std())


class Always(ClassifierMixin, BaseEstimator):
    """Predicts one class, whatever the rows."""

    def __init__(self, label=0, copy=0):
        self.label = label
        self.copy = copy

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.label)


def test_ties_go_to_the_other_metric_and_then_to_the_first(data):
    y = np.resize([0, 1], 88)
    options = {"cv": 2, "inner_cv": 2}
    # Both labels are right for half of the rows; F is that of class 1.
    grid = [{"label": 0, "copy": 0}, {"label": 1, "copy": 1}, {"label": 1, "copy": 2}]
    grid = [{name: [value] for name, value in each.items()} for each in grid]
    result = nested_cross_validate(
        Always(), data.data[:88], y, param_grid=grid, **options
    )
    assert (result.inner_scores[:, :, 0] == 0.5).all()
    assert [each["copy"] for each in result.folds["params"]] == [1] * 4


def test_any_iterable_of_candidates_is_a_grid(data):
    space = {"alpha": [0.1, 1.0, 10.0, 100.0], "multi_class": ["ovo", "ovr"]}
    sampler = ParameterSampler(space, 3, random_state=0)
    result = nested(data, param_grid=sampler)
    assert result.candidates == list(sampler)


def test_pipelines_groups_weights_and_words_for_labels(data):
    words = np.array(["no", "yes"])[data.target]
    groups = np.arange(90) // 3
    result = nested_cross_validate(
        make_pipeline(StandardScaler(), TaughtClassifier()),
        data.data,
        words,
        data.privileged,
        param_grid={"taughtclassifier__alpha": [1.0]},
        cv=2,
        inner_cv=2,
        groups=groups,
        sample_weight=np.ones(90),
    )
    assert result.table["f1"].between(0.3, 1.0).all()


def test_three_classes(data):
    labels = np.digitize(data.data[:, 0], [-0.5, 0.5])
    options = {"param_grid": {"C": [1.0]}, "cv": 2, "inner_cv": 2}
    scoring = ("accuracy", "f1_macro")
    result = nested_cross_validate(SVC(), data.data, labels, scoring=scoring, **options)
    assert result.table["f1_macro"].between(0.3, 1.0).all()
    with pytest.raises(ValueError, match="use 'f1_macro'"):
        nested_cross_validate(SVC(), data.data, labels, **options)


def test_regressors_have_folds_without_strata(data):
    result = nested_cross_validate(
        TaughtRegressor(),
        data.data,
        data.data[:, 0] ** 2,
        data.privileged,
        param_grid={"alpha": [1.0, 10.0]},
        scoring="r2",
        cv=3,
        inner_cv=2,
    )
    assert result.folds["split"].tolist() == [0, 1, 2]
    assert result.table["r2"].notna().all()


def test_checkpoints_keep_outer_folds(data, tmp_path):
    path = tmp_path / "nested.checkpoint"
    first = nested(data, checkpoint=path)
    content = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(content[:2]))
    again = nested(data, checkpoint=path)
    np.testing.assert_array_equal(first.inner_scores, again.inner_scores)
    assert len(path.read_bytes().splitlines()) == 4


def test_bad_input_is_refused_in_words(data):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        nested_cross_validate(
            TaughtClassifier(), data.data, data.target, np.ones((3, 1)), param_grid={}
        )
    with pytest.raises(ValueError, match="fewer than the 60 folds"):
        nested(data, cv=60)


def test_candidates_of_one_kernel_share_its_gram_matrix():
    grams = []

    def kernel(one, other):
        if one is other:
            grams.append(len(one))
        return one @ other.T

    data = make_plane("overlapping", 40, random_state=0)
    nested_cross_validate(
        SVCPlus(kernel=kernel),
        data.data,
        data.target,
        data.privileged,
        param_grid={"C": [0.1, 1.0], "privileged_reg": [0.1, 1.0]},
        cv=2,
        inner_cv=2,
    )
    # Four candidates share one matrix on each of the four inner folds, of 10 rows.
    assert grams.count(10) == 4
