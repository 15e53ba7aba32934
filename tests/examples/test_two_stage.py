"""The two-stage protocol of the thesis: kernels over data sets, then parameters."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.model_selection import ParameterGrid

from lupi.datasets import (
    load_breast_cancer_privileged,
    load_digits_lowres,
    load_pima,
    make_plane,
)

SCRIPT = Path(__file__).parents[2] / "examples" / "svm" / "two_stage.py"
SEVEN = (0.001, 0.01, 0.1, 1, 10, 100, 1000)


@pytest.fixture(scope="module")
def protocol():
    return SimpleNamespace(**runpy.run_path(str(SCRIPT)))


def test_the_grids_of_the_source_have_the_size_it_prints(protocol):
    counted = protocol.count_candidates(SEVEN, ["SVM+", "SVMd+", "SVMu"])
    assert counted == {"SVM+": 441, "SVMd+": 3087, "SVMu": 64827}


def test_all_six_classifiers_take_their_grids(protocol):
    for classifier in protocol.CLASSIFIERS.values():
        for params in ParameterGrid(classifier.grid([7.0], 10.0)):
            model = classifier.estimator.set_params(**params)
            assert {name: model.get_params()[name] for name in params} == params


@pytest.mark.slow
def test_two_stages_on_two_data_sets(protocol, tmp_path):
    sets = {
        "apart": make_plane("separable", 40, random_state=0),
        "mixed": make_plane("separable-privileged", 40, random_state=1),
    }
    options = {"classifiers": ["SVM", "SVM+"], "coarse": [1.0], "wide": [0.1, 10]}
    options |= {"cv": 2, "inner_cv": 2, "checkpoints": tmp_path}
    result = protocol.two_stage_search(sets, **options)
    assert result.kernels["classifier"].tolist() == ["SVM", "SVM+"]
    assert result.kernels["X*"][0] == "n/a"
    assert result.kernels["X*"][1] in protocol.KERNELS
    assert (result.kernels["X**"] == "n/a").all()
    assert len(result.table) == 2 * 2 * 2
    apart = result.table[result.table["dataset"] == "apart"]
    assert (apart["accuracy"] == 1.0).all()
    assert result.counts["stage_1"].tolist() == [3, 9]
    assert result.counts["stage_2"].tolist() == [2, 4]
    form = result.scores("f1")
    assert list(form.index) == ["SVM", "SVM+"]
    assert list(form.columns) == [
        ("apart", "Accuracy (%)"),
        ("apart", "F-Score"),
        ("mixed", "Accuracy (%)"),
        ("mixed", "F-Score"),
    ]
    assert form.loc["SVM", ("apart", "Accuracy (%)")] == pytest.approx(100.0)
    again = protocol.two_stage_search(sets, **options)
    assert again.table.equals(result.table)


def test_stage_one_picks_the_kernels_best_on_average(protocol):
    sets = {str(s): make_plane("overlapping", 40, random_state=s) for s in (0, 1)}
    result = protocol.two_stage_search(
        sets, classifiers=["SVM"], coarse=[0.1, 1], wide=[1.0], cv=2, inner_cv=2
    )
    means = {}
    for name, kernel in protocol.KERNELS.items():
        means[name] = np.mean(
            [
                fold[
                    [c["model__kernel"] == kernel["kernel"] for c in run.candidates], 0
                ].max()
                for run in result.coarse.values()
                for fold in run.inner_scores
            ]
        )
    expected = max(means, key=means.get)
    assert result.kernels["X"][0] == expected
    for run in result.wide.values():
        kernels = {each["model__kernel"] for each in run.candidates}
        assert kernels == {protocol.KERNELS[expected]["kernel"]}


def test_a_search_too_large_is_refused_before_it_starts(protocol):
    with pytest.raises(ValueError, match="more than max_fits=100"):
        protocol.two_stage_search({"a": make_plane(random_state=0)}, max_fits=100)


def some_rows(data, n):
    """The first rows of each class, as few as a test can afford."""
    rows = np.sort(
        np.concatenate(
            [np.flatnonzero(data.target == k)[: n // 2] for k in np.unique(data.target)]
        )
    )
    return data.data[rows], data.target[rows], data.privileged[rows]


# With one value per parameter a linear correction may have no way out of it.
@pytest.mark.filterwarnings("ignore:.*found the trivial solution")
@pytest.mark.slow
def test_the_protocol_of_the_source_on_shipped_data(protocol):
    sets = {
        "Pima": load_pima(),
        "breast cancer": load_breast_cancer_privileged(),
        "digits 5 and 8": load_digits_lowres(digits=(5, 8)),
    }
    result = protocol.two_stage_search(
        {name: some_rows(data, 120) for name, data in sets.items()},
        coarse=[1.0],
        wide=[0.1, 10.0],
        cv=2,
        inner_cv=2,
    )
    names = ["SVM", "SVM+", "MT", "SVMd+", "SVMu", "KT"]
    assert result.kernels["classifier"].tolist() == names
    spaces = (result.kernels[["X", "X*", "X**"]] != "n/a").sum(axis=1)
    assert spaces.tolist() == [1, 2, 2, 2, 3, 2]
    assert result.counts["kernel_combinations"].tolist() == [3, 9, 9, 9, 27, 9]
    form = result.scores()
    assert form.shape == (6, 6)
    accuracy = form.xs("Accuracy (%)", axis=1, level=1)
    # Nuclei and digits are easy; half of the rows are of each class.
    assert (accuracy.loc["SVM", ["breast cancer", "digits 5 and 8"]] > 80).all()
    assert (accuracy >= 45).all(axis=None)
