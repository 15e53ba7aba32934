"""Nested cross-validation against a plain reading."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import ParameterSampler, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from lupi.datasets import make_mediator, make_plane
from lupi.evaluation import nested_cross_validate
from lupi.evaluation._nested import best_candidate
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


def test_ties_go_to_the_other_metric_and_then_to_the_first():
    scores = np.array([[0.5, 0.2], [0.9, 0.1], [0.9, 0.3], [0.9, 0.3]])
    assert best_candidate(scores, 0) == 2
    assert best_candidate(scores, 1) == 2
    rounding = np.array([[0.3, 0.1], [0.1 + 0.2, 0.0]])
    assert best_candidate(rounding, 0) == 0


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


def test_candidates_of_one_kernel_share_its_gram_matrix(monkeypatch):
    computed = []
    from lupi import _gram_cache

    original = _gram_cache.GramCache.get

    def counted(self, key, compute):
        before = self.computed
        value = original(self, key, compute)
        computed.append(self.computed > before)
        return value

    monkeypatch.setattr(_gram_cache.GramCache, "get", counted)
    data = make_plane("overlapping", 40, random_state=0)
    nested_cross_validate(
        SVCPlus(),
        data.data,
        data.target,
        data.privileged,
        param_grid={"C": [0.1, 1.0], "privileged_reg": [0.1, 1.0]},
        cv=2,
        inner_cv=2,
    )
    # Four candidates and two kernels on each of four inner folds.
    assert sum(computed) == 2 * 4
    assert len(computed) == 2 * 4 * 4
