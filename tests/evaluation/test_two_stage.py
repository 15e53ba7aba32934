"""The two-stage protocol: kernels over several data sets, then parameters."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import ParameterGrid

from lupi.datasets import (
    load_breast_cancer_privileged,
    load_digits_lowres,
    load_pima,
    make_mediator,
    make_plane,
)
from lupi.evaluation import count_candidates, two_stage_search
from lupi.evaluation._protocol import CLASSIFIERS, KERNELS
from lupi.evaluation._two_stage import TwoStageResult

SEVEN = (0.001, 0.01, 0.1, 1, 10, 100, 1000)


def test_the_grids_of_the_source_have_the_size_it_prints():
    counted = count_candidates(SEVEN, classifiers=["SVM+", "SVMd+", "SVMu"])
    assert counted == {"SVM+": 441, "SVMd+": 3087, "SVMu": 64827}


def test_two_stages_on_two_data_sets():
    sets = {
        "apart": make_plane("separable", 40, random_state=0),
        "mixed": make_plane("separable-privileged", 40, random_state=1),
    }
    result = two_stage_search(
        sets,
        classifiers=["SVM", "SVM+"],
        coarse=[1.0],
        wide=[0.1, 10],
        outer=2,
        inner=2,
    )
    assert result.kernels["classifier"].tolist() == ["SVM", "SVM+"]
    assert result.kernels.loc[0, "X"] in KERNELS
    assert result.kernels.loc[0, "X*"] == "n/a"
    assert result.kernels.loc[1, "X*"] in KERNELS
    assert (result.kernels["X**"] == "n/a").all()
    assert len(result.table) == 2 * 2 * 2
    apart = result.table[result.table["dataset"] == "apart"]
    assert (apart["accuracy"] == 1.0).all()
    assert result.counts["stage_1"].tolist() == [3, 9]
    assert result.counts["stage_2"].tolist() == [2, 4]


def test_stage_one_picks_the_kernels_best_on_average():
    sets = [make_plane("overlapping", 40, random_state=seed) for seed in (0, 1)]
    result = two_stage_search(
        sets, classifiers=["SVM"], coarse=[0.1, 1], wide=[1.0], outer=2, inner=2
    )
    means = []
    for choice in CLASSIFIERS[0].kernel_choices():
        kernel = KERNELS[choice[0]]["kernel"]
        best = [
            fold[[each["kernel"] == kernel for each in run.candidates], 0].max()
            for run in result.coarse.values()
            for fold in run.inner_scores
        ]
        means.append(np.mean(best))
    expected = CLASSIFIERS[0].kernel_choices()[int(np.argmax(means))][0]
    assert result.kernels.loc[0, "X"] == expected
    for run in result.wide.values():
        assert {each["kernel"] for each in run.candidates} == {
            KERNELS[expected]["kernel"]
        }


def test_all_six_classifiers_take_their_grids():
    for classifier in CLASSIFIERS:
        model = classifier.build()
        for params in ParameterGrid(classifier.grid([1.0], 10.0)):
            model.set_params(**params)


def test_the_tables_have_the_form_of_the_source(tmp_path):
    lines = [
        ("A <b>", "SVM", "accuracy", 0.91, 0.90),
        ("A <b>", "SVM", "f1", 0.90, 0.92),
        ("A <b>", "SVM+", "accuracy", 0.95, 0.94),
        ("A <b>", "SVM+", "f1", 0.95, 0.94),
        ("B", "SVM", "accuracy", 0.8, 0.7),
        ("B", "SVM", "f1", 0.8, 0.7),
        ("B", "SVM+", "accuracy", 0.7, 0.6),
        ("B", "SVM+", "f1", 0.7, 0.6),
    ]
    columns = ["dataset", "classifier", "select_by", "accuracy", "f1"]
    kernels = pd.DataFrame(
        {
            "classifier": ["SVM", "SVM+"],
            "X": ["linear", "linear"],
            "X*": ["n/a", "quadratic"],
            "X**": ["n/a", "n/a"],
        }
    )
    table = pd.DataFrame(lines, columns=columns)
    result = TwoStageResult(kernels, table, pd.DataFrame(), {}, {})
    form = result.scores()
    assert list(form.index) == ["SVM", "SVM+"]
    assert list(form.columns) == [
        ("A <b>", "Accuracy (%)"),
        ("A <b>", "F-Score"),
        ("B", "Accuracy (%)"),
        ("B", "F-Score"),
    ]
    assert form.loc["SVM", ("A <b>", "Accuracy (%)")] == pytest.approx(91.0)
    assert result.scores("f1").loc["SVM", ("A <b>", "F-Score")] == 0.92
    with pytest.raises(ValueError, match="Nothing was selected by 'auc'"):
        result.scores("auc")
    page = result.to_html(tmp_path / "tables.html").read_text()
    assert "A <b>:" not in page
    assert "A &lt;b&gt;: scores" in page
    assert "<b>95.000</b>" in page
    assert "<b>91.000</b>" not in page
    assert "<td>quadratic</td>" in page


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
def test_the_protocol_of_the_source_on_shipped_data(tmp_path):
    sets = {
        "Pima": load_pima(),
        "breast cancer": load_breast_cancer_privileged(),
        "digits 5 and 8": load_digits_lowres(digits=(5, 8)),
    }
    result = two_stage_search(
        {name: some_rows(data, 120) for name, data in sets.items()},
        coarse=[1.0],
        wide=[0.1, 10.0],
        outer=2,
        inner=2,
    )
    names = ["SVM", "SVM+", "MT", "SVMd+", "SVMu", "KT"]
    assert result.kernels["classifier"].tolist() == names
    spaces = (result.kernels[["X", "X*", "X**"]] != "n/a").sum(axis=1)
    assert spaces.tolist() == [1, 2, 2, 2, 3, 2]
    assert result.counts["kernel_combinations"].tolist() == [3, 9, 9, 9, 27, 9]
    form = result.scores()
    assert form.shape == (6, 6)
    accuracy = form.xs("Accuracy (%)", axis=1, level="score")
    # Nuclei and digits are easy; half of the rows are of each class.
    assert (accuracy.loc["SVM", ["breast cancer", "digits 5 and 8"]] > 80).all()
    assert (accuracy >= 45).all(axis=None)
    assert result.to_html(tmp_path / "tables.html").exists()


def test_a_search_too_large_is_refused_before_it_starts():
    with pytest.raises(ValueError, match="more than max_fits=100"):
        two_stage_search([make_plane(random_state=0)], max_fits=100)
    with pytest.raises(ValueError, match="no classifier 'SVM-'"):
        two_stage_search([make_plane(random_state=0)], classifiers=["SVM-"])
    with pytest.raises(ValueError, match="no data set"):
        two_stage_search([])


def test_two_stage_checkpoints_resume(tmp_path):
    sets = [make_plane("separable", 30, random_state=0)]
    options = {"classifiers": ["SVM"], "coarse": [1.0], "wide": [1.0]}
    options |= {"outer": 2, "inner": 2, "checkpoint": tmp_path / "run"}
    first = two_stage_search(sets, **options)
    assert (tmp_path / "run.stage2").exists()
    again = two_stage_search(sets, **options)
    assert first.table.equals(again.table)


def test_tables_with_words_are_prepared_inside_the_folds():
    data = make_mediator(60, n_features=3, random_state=0)
    X = pd.DataFrame(data.data, columns=list("abc"))
    X["word"] = np.where(X["a"] > 0, "high", "low")
    later = pd.DataFrame(1000 * data.privileged).add_prefix("later")
    later.iloc[:5] = np.nan
    options = {"coarse": [1.0], "wide": [1.0], "outer": 2, "inner": 2}
    options |= {"classifiers": ["SVM", "SVM+"]}
    result = two_stage_search([(X, data.target, later)], **options)
    assert (result.table["accuracy"] > 0.5).all()
    # Standardised, the unit of X* cannot matter.
    again = two_stage_search([(X, data.target, later / 1000)], **options)
    pd.testing.assert_frame_equal(result.table, again.table)
    with pytest.raises(ValueError, match="could not convert"):
        two_stage_search([(X, data.target, later)], prepare=False, **options)
