"""`SpacesDisplay` where a plane is not two columns: projections, and dSVM+."""

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC

from lupi import DeviationSVCPlus, SVCDeltaPlus
from lupi.datasets import make_plane
from lupi.inspection import SpacesDisplay

LINEAR = {"kernel": "linear", "privileged_kernel": "linear"}


@pytest.fixture(scope="module")
def wide():
    """Five columns in X and four in X*, of different spread, as data frames."""
    rng = np.random.default_rng(0)
    star = rng.normal(size=(50, 4)) * [3.0, 2.0, 1.0, 0.5]
    X = rng.normal(size=(50, 5)) * [3.0, 1.0, 2.0, 0.5, 0.1] + 4.0
    X[:, 0] += star[:, 0]
    y = np.where(star[:, 0] + star[:, 1] > 0, "yes", "no")
    X = pd.DataFrame(X, columns=list("abcde"))
    return X, y, pd.DataFrame(star, columns=list("pqrs"))


def main_plane(table):
    """Mean and first two directions by a plain decomposition, up to their signs."""
    mean = table.mean(axis=0)
    _, values, directions = np.linalg.svd(table - mean, full_matrices=False)
    return mean, directions[:2], (values**2 / (values**2).sum())[:2]


def vertices(contours, level):
    return contours.get_paths()[list(contours.levels).index(level)].vertices


def points_by_class(panel):
    return {c.get_label(): c.get_offsets().data for c in panel.collections[-3:]}


def test_projected_rows_and_the_function_in_their_plane(wide):
    X, y, star = wide
    model = SVCDeltaPlus(delta=5.0, **LINEAR).fit(X, y, privileged=star)
    display = SpacesDisplay.from_estimator(
        model, X, y, star, features="pca", privileged_features="pca"
    )
    functions = (
        lambda rows: model.decision_function(pd.DataFrame(rows, columns=X.columns)),
        lambda rows: model.correction(pd.DataFrame(rows, columns=star.columns)),
    )
    for k, (table, function) in enumerate(zip((X, star), functions, strict=True)):
        rows = table.to_numpy()
        mean, directions, shares = main_plane(rows)
        panel, contours = display.axes_[k], display.contours_[k]
        drawn = points_by_class(panel)["class yes"]
        mine = (rows[y == "yes"] - mean) @ directions.T
        signs = np.sign((drawn * mine).sum(axis=0))
        np.testing.assert_allclose(drawn, mine * signs, atol=1e-10)
        assert 0.0 in contours.levels
        for level in contours.levels:
            on_the_line = vertices(contours, level) * signs
            values = function(mean + on_the_line @ directions)
            np.testing.assert_allclose(values, level, atol=1e-6)
        assert panel.get_title(loc="left").endswith("X, projected" if k == 0 else "")
        assert panel.get_xlabel() == f"principal component 1 ({shares[0]:.0%})"
        assert panel.get_ylabel() == f"principal component 2 ({shares[1]:.0%})"
        assert "rows projected onto it" in display.notes_[k]
    assert display.axes_[1].get_title(loc="left") == "Privileged space X*, projected"


def test_rows_without_privileged_values_take_no_part_in_the_projection(wide):
    X, y, star = wide
    some = star.to_numpy(copy=True)
    some[:15] = np.nan
    model = SVCDeltaPlus(delta=5.0, **LINEAR).fit(X, y, privileged=some)
    display = SpacesDisplay.from_estimator(model, X, y, some, privileged_features="pca")
    points = display.privileged.points
    assert np.isnan(points[:15]).all()
    mean, directions, _ = main_plane(some[15:])
    np.testing.assert_allclose(
        np.abs(points[15:]), np.abs((some[15:] - mean) @ directions.T), atol=1e-10
    )
    assert not display.decision.projected


def test_two_columns_are_only_turned():
    data = make_plane("separable", 40, random_state=0)
    model = SVC(kernel="linear").fit(data.data, data.target)
    display = SpacesDisplay.from_estimator(
        model, data.data, data.target, features="pca"
    )
    assert display.notes_ == [""]
    assert display.ax_.get_title(loc="left") == "Decision space X"
    # A turn keeps all distances.
    turned = np.linalg.norm(np.diff(display.decision.points, axis=0), axis=1)
    plain = np.linalg.norm(np.diff(data.data, axis=0), axis=1)
    np.testing.assert_allclose(turned, plain)


@pytest.mark.parametrize("function", [0, 1])
def test_deviations_have_one_function_for_each_class(function):
    # The same disturbance in both spaces, so that a deviation in X* tells of one in X.
    rng = np.random.default_rng(0)
    y = np.repeat([-1, 1], 30)
    disturbance = y * rng.normal(size=60)
    X = np.column_stack([y + disturbance, rng.normal(size=60)])
    star = np.column_stack([2 * y + disturbance, rng.normal(size=60)])
    model = DeviationSVCPlus(
        kernel="linear",
        privileged_kernel="linear",
        deviation_kernel="linear",
        privileged_reg=0.01,
    ).fit(X, y, privileged=star)
    display = SpacesDisplay.from_estimator(model, X, y, star, function=function)
    label = model.classes_[function]
    title = display.axes_[1].get_title(loc="left")
    assert title == f"Privileged space X*, slack of class {label}"
    assert not display.signed
    # With a linear kernel of deviations every line is one of equal deviation, and so
    # a line of equal decision value of an independent SVM on X*.
    teacher = SVC(kernel="linear", tol=1e-10).fit(star, y)
    assert len(display.contours_[1].levels) > 0
    for level in display.contours_[1].levels:
        line = vertices(display.contours_[1], level)
        np.testing.assert_allclose(
            np.ptp(teacher.decision_function(line)), 0, atol=1e-3
        )
        np.testing.assert_allclose(
            model.correction(line)[:, function], level, atol=1e-6
        )
    own = model.correction(star)[np.arange(len(y)), (y == model.classes_[1]) * 1]
    np.testing.assert_allclose(display.corrections, own)
