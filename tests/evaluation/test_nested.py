"""Nested cross-validation against a plain reading."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import ParameterGrid, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from lupi.datasets import make_mediator, make_plane
from lupi.evaluation import nested_cross_validate
from lupi.evaluation._nested_work import best_candidate
from lupi.evaluation._protocol import (
    coarse_grid,
)
from lupi.svm import SVCPlus
from tests.toys import TaughtClassifier

SEVEN = (0.001, 0.01, 0.1, 1, 10, 100, 1000)


@pytest.fixture(scope="module")
def data():
    return make_mediator(90, n_features=5, random_state=0)


def nested(data, **options):
    options = {"param_grid": {"alpha": [0.1, 10.0, 1000.0]}, "outer": 3, "inner": 2} | (
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


def test_random_search_draws_from_the_grid(data):
    grid = {"alpha": [0.1, 1.0, 10.0, 100.0], "multi_class": ["ovo", "ovr"]}
    result = nested(data, param_grid=grid, search="random", n_candidates=3)
    assert len(result.candidates) == 3
    assert all(each in list(ParameterGrid(grid)) for each in result.candidates)
    everything = nested(data, param_grid=grid, search="random", n_candidates=99)
    assert len(everything.candidates) == 8
    with pytest.raises(ValueError, match="needs n_candidates"):
        nested(data, search="random")
    with pytest.raises(ValueError, match="'grid', 'random' or 'halving'"):
        nested(data, search="annealing")


class Counting(TaughtClassifier):
    fits: list = []  # noqa: RUF012

    def fit(self, X, y, *, privileged=None, sample_weight=None):
        Counting.fits.append((self.alpha, len(y)))
        return super().fit(X, y, privileged=privileged, sample_weight=sample_weight)


def test_successive_halving_spends_full_rows_on_few_candidates():
    data = make_mediator(270, n_features=5, random_state=0)
    alphas = np.logspace(-2, 6, 9).tolist()
    Counting.fits = []
    result = nested_cross_validate(
        Counting(),
        data.data,
        data.target,
        data.privileged,
        param_grid={"alpha": alphas},
        outer=2,
        inner=2,
        search="halving",
        scoring=["accuracy"],
    )
    # 135 training rows: 9 candidates on 45 of them, the best 3 on all.
    sizes = sorted({size for _, size in Counting.fits if size < 100})
    assert all(22 <= size <= 23 or 67 <= size <= 68 for size in sizes)
    few = [alpha for alpha, size in Counting.fits if size <= 23]
    many = [alpha for alpha, size in Counting.fits if 67 <= size <= 68]
    assert len(few) == 2 * 2 * 9
    assert len(many) == 2 * 2 * 3
    grid = nested_cross_validate(
        TaughtClassifier(),
        data.data,
        data.target,
        data.privileged,
        param_grid={"alpha": alphas},
        outer=2,
        inner=2,
        scoring="accuracy",
    )
    assert result.table["accuracy"][0] == pytest.approx(
        grid.table["accuracy"][0], abs=0.05
    )


def test_pipelines_groups_weights_and_words_for_labels(data):
    words = np.array(["no", "yes"])[data.target]
    groups = np.arange(90) // 3
    result = nested_cross_validate(
        make_pipeline(StandardScaler(), TaughtClassifier()),
        data.data,
        words,
        data.privileged,
        param_grid={"taughtclassifier__alpha": [1.0]},
        outer=2,
        inner=2,
        groups=groups,
        sample_weight=np.ones(90),
    )
    assert result.table["f1"].between(0.3, 1.0).all()


def test_three_classes_use_the_mean_f_score(data):
    labels = np.digitize(data.data[:, 0], [-0.5, 0.5])
    result = nested_cross_validate(
        SVC(), data.data, labels, param_grid={"C": [1.0]}, outer=2, inner=2
    )
    assert result.table["f1"].between(0.3, 1.0).all()


def test_checkpoints_keep_outer_folds(data, tmp_path):
    path = tmp_path / "nested.checkpoint"
    first = nested(data, checkpoint=path)
    content = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(content[:2]))
    again = nested(data, checkpoint=path)
    np.testing.assert_array_equal(first.inner_scores, again.inner_scores)
    assert len(path.read_bytes().splitlines()) == 4


def test_bad_input_is_refused_in_words(data):
    with pytest.raises(ValueError, match="privileged has 3 rows"):
        nested_cross_validate(
            TaughtClassifier(), data.data, data.target, np.ones((3, 1)), param_grid={}
        )
    with pytest.raises(ValueError, match="fewer than the 60 folds"):
        nested(data, outer=60)


def test_the_default_grid_is_that_of_the_source():
    data = make_plane("separable", 20, random_state=0)
    result = nested_cross_validate(SVC(), data.data, data.target, outer=2, inner=2)
    assert len(result.candidates) == 3 * 3
    assert {each["C"] for each in result.candidates} == {0.1, 1.0, 10.0}
    assert len(ParameterGrid(coarse_grid(SVCPlus()))) == 9 * 9
    with pytest.raises(ValueError, match="no grid for TaughtClassifier"):
        coarse_grid(TaughtClassifier())


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
        outer=2,
        inner=2,
    )
    # Four candidates and two kernels on each of four inner folds.
    assert sum(computed) == 2 * 4
    assert len(computed) == 2 * 4 * 4
