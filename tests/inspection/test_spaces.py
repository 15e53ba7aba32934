"""What `SpacesDisplay` draws: lines where the functions say, points, rings, numbers."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.svm import SVC

from lupi import (
    DeviationSVCPlus,
    FairSVCDeltaPlus,
    HardMarginSVC,
    LinearSVCDeltaPlus,
    MarginTransferSVC,
    SVCDeltaPlus,
    SVCPlus,
    UnifiedSVC,
)
from lupi.datasets import make_biased_hiring, make_plane
from lupi.inspection import SpacesDisplay

LINEAR = {"kernel": "linear", "privileged_kernel": "linear"}


@pytest.fixture(scope="module")
def plane():
    return make_plane("separable-privileged", 40, random_state=3)


def drawn(model, data, **options):
    model.fit(data.data, data.target, privileged=data.privileged)
    return SpacesDisplay.from_estimator(
        model, data.data, data.target, data.privileged, **options
    )


def vertices(contours, level):
    """Corners of the line drawn at a level."""
    which = list(contours.levels).index(level)
    return contours.get_paths()[which].vertices


def scatters(panel):
    return {c.get_label(): c.get_offsets().data for c in panel.collections[-3:]}


def labels_of(texts):
    return {text.get_text(): tuple(text.xy) for text in texts}


@pytest.mark.parametrize(
    ("model", "function"),
    [
        (SVCPlus(kernel="linear", privileged_reg=0.1), 0),
        (SVCDeltaPlus(delta=10.0, **LINEAR), 0),
        (MarginTransferSVC(**LINEAR), 0),
        (UnifiedSVC(delta=10.0, similarity_kernel="linear", privileged_reg=0.1), 0),
        (UnifiedSVC(delta=10.0, similarity_kernel="linear", privileged_reg=0.1), 1),
    ],
)
def test_lines_lie_where_the_functions_have_those_values(plane, model, function):
    display = drawn(model, plane, function=function, grid_resolution=150)
    f, f_star = display.contours_
    for level in f.levels:
        values = model.decision_function(vertices(f, level))
        np.testing.assert_allclose(values, level, atol=0.02)
    for level in f_star.levels:
        values = model.correction(vertices(f_star, level)).reshape(-1, 1)
        if isinstance(model, UnifiedSVC):
            values = values.reshape(-1, 2)[:, [function]]
        np.testing.assert_allclose(values, level, atol=0.05)
    assert 0.0 in f.levels
    assert set(f.levels) <= {-1.0, 0.0, 1.0}


def test_linear_lines_agree_with_the_weights_of_an_independent_svm(plane):
    # Without use of X* (Δ small), SVMΔ+ is the SVM with cost (1 + Δ) C.
    model = SVCDeltaPlus(delta=0.5, **LINEAR)
    with pytest.warns(UserWarning, match="trivial"):
        display = drawn(model, plane)
    svc = SVC(C=1.5, kernel="linear", tol=1e-10).fit(plane.data, plane.target)
    f, f_star = display.contours_
    for level in (-1.0, 0.0, 1.0):
        line = vertices(f, level)
        np.testing.assert_allclose(svc.decision_function(line), level, atol=1e-3)
    assert f_star is None
    assert display.notes_[1] == "f* is constant, 0"


def test_points_by_class_and_rings_on_the_support(plane):
    model = SVCDeltaPlus(delta=10.0, **LINEAR)
    display = drawn(model, plane)
    for panel, rows in zip(display.axes_, (plane.data, plane.privileged), strict=True):
        points = scatters(panel)
        np.testing.assert_array_equal(points["class 1"], rows[plane.target == 1])
        np.testing.assert_array_equal(points["class -1"], rows[plane.target == -1])
        np.testing.assert_array_equal(points["support vector"], rows[model.support_])


def test_violated_rows_have_the_same_number_in_both_panels(plane):
    model = SVCDeltaPlus(delta=10.0, **LINEAR)
    display = drawn(model, plane, max_numbers=100)
    slack = 1 - plane.target * model.decision_function(plane.data)
    order = [i for i in np.argsort(-slack) if slack[i] > 1e-3]
    left, right = map(labels_of, display.numbers_)
    assert len(left) == len(right) == len(order) > 3
    for number, row in enumerate(order, start=1):
        assert left[str(number)] == tuple(plane.data[row])
        assert right[str(number)] == tuple(plane.privileged[row])
    few = display.from_estimator(
        model, plane.data, plane.target, plane.privileged, max_numbers=2
    )
    assert set(labels_of(few.numbers_[0])) == {"1", "2"}


def test_other_columns_are_held_at_their_mean_and_the_panel_says_so():
    rng = np.random.default_rng(0)
    star = pd.DataFrame(rng.normal(size=(50, 4)), columns=list("pqrs"))
    X = pd.DataFrame(rng.normal(size=(50, 3)), columns=list("abc")) + 1.0
    y = np.where(star.sum(axis=1) + X["a"] > 1, "yes", "no")
    model = SVCDeltaPlus(delta=5.0, **LINEAR).fit(X, y, privileged=star)
    display = SpacesDisplay.from_estimator(
        model, X, y, star, features=("c", 0), privileged_features=(3, 1)
    )
    left, right = display.axes_
    assert (left.get_xlabel(), left.get_ylabel()) == ("c", "a")
    assert (right.get_xlabel(), right.get_ylabel()) == ("s", "q")
    assert display.notes_[0].startswith("b held at its mean")
    assert display.notes_[1].startswith("the other 2 columns held at their means")
    shown = [text.get_text() for text in left.texts]
    assert display.notes_[0].replace("; ", "\n") in shown
    line = vertices(display.contours_[0], 0.0)
    rows = pd.DataFrame({"a": line[:, 1], "b": X["b"].mean(), "c": line[:, 0]})
    np.testing.assert_allclose(model.decision_function(rows), 0.0, atol=1e-8)
    assert set(scatters(left)) == {"class yes", "class no", "support vector"}


def test_fair_model_shows_the_sensitive_features():
    data = make_biased_hiring(60, bias=0.5, random_state=1)
    group = np.where(data.privileged[:, 0] > 0, "blue", "red")
    model = FairSVCDeltaPlus(delta=1.0, covariance_threshold=0.2, **LINEAR)
    model.fit(data.data, data.target, sensitive_features=group)
    display = SpacesDisplay.from_estimator(model, data.data, data.target, group)
    right = display.axes_[1]
    assert right.get_title(loc="left").startswith("Sensitive features")
    assert right.get_xlabel() == "z0=red"
    drawn = scatters(right)
    assert drawn["class 1"][:, 1].min() > drawn["class -1"][:, 1].max()
    points = np.vstack([v for k, v in drawn.items() if k != "support vector"])
    assert set(points[:, 0]) == {0.0, 1.0}
    assert len(np.unique(points[:, 1])) == 60
    expected = model.correction((group == "red").astype(float)[:, None])
    np.testing.assert_allclose(display.corrections, expected)


def test_rows_without_privileged_values_are_in_the_decision_space_alone(plane):
    star = plane.privileged.copy()
    star[:10] = np.nan
    model = SVCDeltaPlus(delta=10.0, **LINEAR).fit(
        plane.data, plane.target, privileged=star
    )
    display = SpacesDisplay.from_estimator(model, plane.data, plane.target, star)
    counts = [
        sum(len(v) for k, v in scatters(panel).items() if k.startswith("class"))
        for panel in display.axes_
    ]
    assert counts == [40, 30]


def test_sparse_rows_and_models_without_support_vectors(plane):
    sparse = SVCDeltaPlus(delta=10.0, **LINEAR)
    sparse.fit(sp.csr_array(plane.data), plane.target, privileged=plane.privileged)
    from_sparse = SpacesDisplay.from_estimator(
        sparse, sp.csr_array(plane.data), plane.target, sp.csr_array(plane.privileged)
    )
    dense = drawn(SVCDeltaPlus(delta=10.0, **LINEAR), plane)
    np.testing.assert_allclose(
        from_sparse.decision.values, dense.decision.values, atol=1e-6
    )
    linear = drawn(LinearSVCDeltaPlus(delta=10.0), plane)
    assert len(scatters(linear.axes_[0])["support vector"]) == 0
    line = vertices(linear.contours_[0], 0.0)
    np.testing.assert_allclose(linear_decision(linear, line), 0.0, atol=1e-6)


def linear_decision(display, rows):
    """The plane through three corners of the grid, at other rows."""
    x, y = display.decision.x[[0, -1]], display.decision.y[[0, -1]]
    corners = display.decision.values[[0, 0, -1], [0, -1, 0]]
    design = np.array([[x[0], y[0], 1], [x[1], y[0], 1], [x[0], y[1], 1]])
    return np.c_[rows, np.ones(len(rows))] @ np.linalg.solve(design, corners)


def test_without_privileged_rows_the_decision_space_stands_alone():
    data = make_plane("separable", 30, random_state=0)
    hard = HardMarginSVC(kernel="linear").fit(data.data, data.target)
    display = SpacesDisplay.from_estimator(hard, data.data, data.target)
    assert len(display.axes_) == 1
    assert display.numbers_ == [[]]
    # Separable: a soft margin with a huge cost is the hard one.
    soft = SVC(C=1e8, kernel="linear", tol=1e-10).fit(data.data, data.target)
    for level in (-1.0, 0.0, 1.0):
        line = vertices(display.contours_[0], level)
        np.testing.assert_allclose(soft.decision_function(line), level, atol=1e-3)
    from_svc = SpacesDisplay.from_estimator(soft, data.data, data.target)
    np.testing.assert_array_equal(
        scatters(from_svc.ax_)["support vector"], data.data[soft.support_]
    )
    (legend,) = display.figure_.legends
    assert "f = 0" in [text.get_text() for text in legend.get_texts()]


def test_draws_on_given_axes_and_again(plane):
    figure, axes = plt.subplots(1, 2)
    display = drawn(SVCDeltaPlus(delta=10.0, **LINEAR), plane, ax=axes)
    assert display.figure_ is figure
    assert display.ax_ is axes[0]
    assert display.plot() is display
    assert display.figure_ is not figure
    with pytest.raises(ValueError, match="2 panels but ax has 1"):
        display.plot(ax=axes[0])


def test_refusals_are_sentences(plane):
    rows = (plane.data, plane.target, plane.privileged)
    model = SVCDeltaPlus(delta=10.0, **LINEAR).fit(*rows[:2], privileged=rows[2])
    with pytest.raises(ValueError, match="Give the rows that it was fitted on"):
        SpacesDisplay.from_estimator(model, rows[0][::-1], *rows[1:])
    with pytest.raises(ValueError, match="no column 7"):
        SpacesDisplay.from_estimator(model, *rows, features=(0, 7))
    with pytest.raises(ValueError, match="two different columns"):
        SpacesDisplay.from_estimator(model, *rows, features=(1, 1))
    with pytest.raises(ValueError, match="has 1 function"):
        SpacesDisplay.from_estimator(model, *rows, function=1)
    with pytest.raises(ValueError, match="two columns or the projection 'pca'"):
        SpacesDisplay.from_estimator(model, *rows, features="umap")
    deviation = DeviationSVCPlus().fit(*rows[:2], privileged=rows[2])
    with pytest.raises(ValueError, match="has 2 function\\(s\\) on X"):
        SpacesDisplay.from_estimator(deviation, *rows, function=2)
    with pytest.raises(ValueError, match="SVC has none"):
        SpacesDisplay.from_estimator(SVC().fit(*rows[:2]), *rows)
    three = SVCPlus().fit(rows[0], np.arange(40) % 3, privileged=rows[2])
    with pytest.raises(ValueError, match="was fitted on 3"):
        SpacesDisplay.from_estimator(three, *rows)
    plain = SVCPlus().fit(*rows[:2])
    with pytest.raises(ValueError, match="without privileged information"):
        SpacesDisplay.from_estimator(plain, *rows)


def test_many_rows_have_small_markers_and_no_numbers():
    sizes, numbers = [], []
    for n in (40, 400):
        plane = make_plane("overlapping", n, random_state=0)
        model = SVCPlus().fit(plane.data, plane.target, privileged=plane.privileged)
        display = SpacesDisplay.from_estimator(
            model, plane.data, plane.target, plane.privileged
        )
        sizes.append([points.get_sizes()[0] for points in display.ax_.collections[-3:]])
        numbers.append(len(display.numbers_[0]))
    assert sizes[1][-1] < sizes[0][-1] / 3
    assert sizes[1][0] == sizes[1][-1]
    assert numbers[0] > 0
    assert numbers[1] == 0
